//! Garbage collection: the choice of the next block to reclaim, and of the source that needs it.

use super::crew::Lead;
use super::pace::Need;
use super::{JobId, Leaving, Next, Task, Then};
use crate::{
    Config, Dest, Ftl, FtlView, PlaneView, PolicyTypes, ReadDisturb, Role, Separation, StreamId,
    Victim,
};
use kernel::{BitSet, Idx, Rng, Time};
use nand::{BlockId, PlaneId, Source, Tag};

/// Reclaiming blocks of a plane until enough are free.
// A tag of its own: to find it among the fields' unused values costs every page that moves.
#[repr(u8)]
pub(super) enum Collect {
    /// The next block is to be chosen.
    Choose,
    /// A block has been reclaimed: others go first.
    Yield,
    /// A block is being emptied.
    Empty(Leaving),
    /// A crew empties a superblock.
    Lead,
}

/// The state between two choices of victims.
pub(crate) struct Victims {
    rng: Rng,
    /// The blocks of a plane that cannot be victims, in memory that is reused.
    pub(super) excluded: BitSet,
    /// Victims without gain since the last one that gained.
    fruitless: u32,
    pub(crate) overridden: u64,
}

impl Victims {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            rng: Rng::named(config.seed, "ftl/victim"),
            excluded: BitSet::new(config.geometry.blocks_per_plane()),
            fruitless: 0,
            overridden: 0,
        }
    }

    /// Leaves out the blocks of a plane for which `out` is true. Returns whether there are any.
    pub(super) fn exclude(
        &mut self,
        ftl: &FtlView<'_>,
        plane: PlaneId,
        out: impl Fn(BlockId) -> bool,
    ) -> bool {
        for (at, b) in ftl.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
            self.excluded.put(at, out(b));
        }
        self.excluded.next_from(0).is_some()
    }
}

/// Whether a block has a use of the read-disturb policy's own.
pub(super) fn has_role(ftl: &FtlView<'_>, block: BlockId) -> bool {
    ftl.blocks.role(block) != Role::REGULAR
}

impl<K: PolicyTypes> Ftl<K> {
    /// Chooses the next block that a collector empties, or ends it. `None`: it has one.
    pub(super) fn next_victim(&mut self, id: JobId, now: Time) -> Option<Next> {
        let job = self.jobs.get(id);
        let (plane, tag) = (job.plane, job.tag);
        let mut chosen = None;
        if self.wants_more(id) {
            if let Task::Collect(Collect::Yield) = job.task {
                self.jobs.get_mut(id).task = Task::Collect(Collect::Choose);
                if self.answers.caches && self.goes_on_in_turns(id) {
                    return Some(Next::Turn);
                }
                return Some(self.give_way(id));
            }
            if self.answers.caches
                && let Some(fold) = self.choose_fold(id, now)
            {
                return self.fold(id, fold, now);
            }
        }
        if self.wants_victim(id) {
            if tag.source == Source::Fold {
                if self.jobs.get(id).buffer.has_unfinished() {
                    return self.pad_buffered(id, now);
                }
                self.jobs.set_tag(id, Tag { prio: tag.prio, ..Tag::gc_for(Source::Host) });
            }
            let tag = self.jobs.get(id).tag;
            let protects = self.reads.are_counted() || self.answers.separation.protects;
            let unprotected = protects.then(|| self.choose_unprotected(plane, tag, now)).flatten();
            let at = plane.as_u32() as usize;
            let due = self.answers.garbage > 0.0 && self.jobs.garbage_due.get(at);
            chosen = unprotected;
            if due {
                self.jobs.garbage_due.put(at, false);
                chosen = chosen.or_else(|| self.choose_garbage(plane, tag, now));
            }
            if !due || self.is_short_of_blocks(id) {
                chosen = chosen.or_else(|| self.choose_victim(plane, tag, now));
                if chosen.is_none() {
                    self.space.note_no_victim(plane);
                }
            }
        }
        let Some(victim) = chosen else {
            if self.jobs.get(id).buffer.has_unfinished() {
                return self.pad_buffered(id, now);
            }
            self.jobs.collectors[plane] = None;
            if self.jobs.pace.is_kept() {
                self.jobs.pace.relax(plane);
                self.plan_pace(plane);
            }
            return Some(Next::Done);
        };
        let dest = if self.space.blocks.role(victim) == Role::REGULAR {
            Dest::MOVES
        } else {
            let view = FtlView::of(&self.space, &self.map, &self.reads);
            self.policies.read_disturb.on_reclaim(&view, victim, tag)
        };
        let tag = self.jobs.get(id).tag;
        let needed_by = self.space.needed_by(tag.demand, victim);
        if self.answers.separation.follows {
            self.note_block(victim, false);
        }
        self.empty(id, victim, dest, needed_by);
        None
    }

    /// A collector folds a block of the cache. Pages of a victim before, or of a block that takes
    /// other space, are programmed first. `None`: it has the block.
    #[cold]
    fn fold(&mut self, id: JobId, block: BlockId, now: Time) -> Option<Next> {
        let job = self.jobs.get(id);
        let tag = Tag { prio: job.tag.prio, ..Tag::of(Source::Fold) };
        let other = job.tag.source != Source::Fold
            || self.space.folds_own(job.plane) != self.space.is_own(block);
        if other && job.buffer.has_unfinished() {
            return self.pad_buffered(id, now);
        }
        self.jobs.set_tag(id, tag);
        self.count_fold();
        self.space.begin_fold(block);
        self.begin_folding(id, block);
        self.empty(id, block, Dest::MOVES, Source::Fold);
        None
    }

    /// A collector begins to empty a block.
    fn empty(&mut self, id: JobId, victim: BlockId, dest: Dest, needed_by: Source) {
        let plane = self.jobs.get(id).plane;
        let (valid, gain) = (self.space.blocks.valid(victim), self.space.blocks.gain(victim));
        let pages = self.begin_reclaim(victim, dest, needed_by);
        let job = self.jobs.get(id);
        // Pages of the victim before wait for some of this one: it may be given back after them.
        if job.crew.leads && !job.buffer.has_unfinished() {
            let lead = Lead { superblock: victim, dest, needed_by };
            self.jobs.get_mut(id).task = Task::Collect(Collect::Lead);
            self.send_crew(id, lead, victim, 0);
        } else {
            self.jobs.get_mut(id).task = Task::Collect(Collect::Empty(pages));
        }
        if self.jobs.pace.is_kept() {
            self.jobs.pace.begin(plane, valid, gain);
            self.plan_pace(plane);
        }
    }

    /// Whether a collector takes a victim: its plane is short of blocks, or has too much garbage.
    fn wants_victim(&self, id: JobId) -> bool {
        let plane = self.jobs.get(id).plane.as_u32() as usize;
        self.is_short_of_blocks(id)
            || (self.answers.garbage > 0.0 && self.jobs.garbage_due.get(plane))
    }

    /// Whether a collector goes on with another victim.
    pub(super) fn wants_more(&self, id: JobId) -> bool {
        self.wants_victim(id) || self.answers.caches && self.wants_fold(id)
    }

    /// Whether a collector goes on with the victim that it has begun. Folding always does: the rest of
    /// a block would be folded later anyway.
    pub(super) fn goes_on_with_victim(&self, id: JobId) -> bool {
        self.jobs.get(id).tag.source == Source::Fold || self.wants_more(id)
    }

    /// Whether its plane has too few free blocks.
    pub(crate) fn is_short_of_blocks(&self, id: JobId) -> bool {
        let (job, gc) = (self.jobs.get(id), self.config.gc);
        let target = if job.background { gc.background_stop.max(gc.stop) } else { gc.stop };
        // Folding in idle time does not begin collection that would not begin by itself.
        let idle_fold = job.background && job.tag.source == Source::Fold;
        let target = if idle_fold { gc.background_stop.max(gc.start) } else { target };
        self.space.is_short(job.plane, target)
    }

    /// A collector lets others go first before it goes on with a victim.
    pub(super) fn give_way(&mut self, id: JobId) -> Next {
        let (job, gc) = (self.jobs.get(id), self.config.gc);
        let spare = gc.one_by_one && !self.space.is_short(job.plane, gc.start);
        if spare {
            self.jobs.set_background(id, true);
        }
        Next::Yield
    }

    // ── The pace ────────────────────────────────────────────────────────────────────────────────

    /// The free blocks of a plane have changed, or its victim has: its collector gets a new
    /// schedule.
    pub(crate) fn plan_pace(&mut self, plane: PlaneId) {
        if self.jobs.pace.is_kept() {
            let fits = self.victim_fits(plane);
            self.space.lend_last(plane, fits);
            let need = self.need(plane);
            if self.jobs.pace.plan(plane, need) {
                self.jobs.put_first(plane);
            }
        }
    }

    /// Whether the remaining pages of the victim fit the open block of collection, together with
    /// pages that wait to be programmed.
    fn victim_fits(&self, plane: PlaneId) -> bool {
        let Some(id) = self.jobs.collectors[plane] else { return false };
        let job = self.jobs.get(id);
        let Task::Collect(collect) = &job.task else { return false };
        let (block, dest) = match collect {
            Collect::Empty(Leaving { block, dest, then: Then::Erase(_), .. }) => (*block, *dest),
            Collect::Lead => match job.crew.lead() {
                Some(lead) => (lead.superblock, lead.dest),
                None => return false,
            },
            _ => return false,
        };
        let slots = self.space.blocks.valid(block) + 2 * (self.space.unit() - 1);
        let rest = self.space.rest(plane, StreamId::GC);
        // Moves that are sorted may need another block.
        dest == Dest::MOVES && !self.answers.separation.asks_moves && slots <= rest
    }

    /// The work of a plane's collector until the host can open another block there. `None`: it can
    /// now.
    ///
    /// Collection takes the free slots of its open block, `rest`, and then blocks. Suppose that
    /// `free` blocks are free and that victims of `v` pages give back `g` each. Then `k` victims
    /// leave a block for the host and one for collection as soon as `k g >= (2 - free) n - rest`.
    /// The victim that is being emptied gives a whole block for its remaining pages.
    #[cold]
    fn need(&self, plane: PlaneId) -> Option<Need> {
        let (space, unit) = (&self.space, u64::from(self.space.unit()));
        if space.lends_to_host(plane) {
            return None;
        }
        let pages = u64::from(space.blocks.slots());
        let room = u64::from(space.host_rest(plane));
        let (valid, gain) = self.jobs.pace.victim(plane);
        let Some(id) = self.jobs.collectors[plane].filter(|_| gain > 0) else {
            // No job collects, or a collector is about to take its first victim.
            return Some(Need { work: 0, room });
        };
        let job = self.jobs.get(id);
        let mut free = (space.free_blocks(plane) + job.buffer.unfinished()) as u64;
        let mut rest = u64::from(space.rest(plane, StreamId::GC));
        if job.buffer.has_unfinished() && rest == 0 {
            // The last pages of the block that is owed take a block first.
            (free, rest) = (free - 1, pages);
        }
        if free > space.demands.reserve as u64 {
            return Some(Need { work: 2 * unit, room });
        }
        let left = match &job.task {
            Task::Collect(Collect::Empty(leaving)) => Some(space.blocks.valid(leaving.block)),
            Task::Collect(Collect::Lead) => {
                job.crew.lead().map(|lead| space.blocks.valid(lead.superblock))
            }
            _ => None,
        };
        let given = left.map_or(free, |_| free + 1).min(2);
        let taken = (2 - given) * pages + left.map_or(0, u64::from);
        let lacks = taken.saturating_sub(rest);
        let victims = lacks.div_ceil(gain.into());
        // A block is erased in the time of a few programs.
        let begun = left.map_or(0, |left| u64::from(left) + unit);
        Some(Need { work: begun + victims * (u64::from(valid) + unit), room })
    }

    /// Whether a job has a pace to keep: it is a collector, and collection has a pace.
    #[inline]
    pub(super) fn has_pace(&self, id: JobId) -> bool {
        if !self.jobs.pace.is_kept() {
            return false;
        }
        let job = self.jobs.get(id);
        let member = job.crew.of.is_some();
        (matches!(job.task, Task::Collect(_)) || member)
            && job.tag.source != Source::Fold
            && (!member || job.tag.source == Source::Gc)
    }

    /// Whether a collector that is about to move pages gives way to everything else first. It does
    /// if it is not late; it then goes on when its die has nothing else to do.
    #[cold]
    pub(super) fn is_ahead(&mut self, id: JobId, pages: u32) -> bool {
        let was = self.jobs.get(id).background;
        let ahead = self.keep_pace(id);
        if !ahead || was {
            let plane = self.jobs.get(id).plane;
            self.jobs.pace.spend(plane, pages);
        }
        ahead && !was
    }

    /// From now on a collector that is late goes before the host, and one that is not gives way.
    /// Returns whether it goes first.
    pub(super) fn keep_pace(&mut self, id: JobId) -> bool {
        let job = self.jobs.get(id);
        let ahead = job.tag.demand == Source::Host && !self.jobs.pace.goes_first(job.plane);
        self.jobs.set_background(id, ahead);
        ahead
    }

    fn choose_victim(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let (blocks, victims) = (&self.space.blocks, &mut self.victims);
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let view = PlaneView { ftl, plane, now, from: 0, excluded: None };
        let chosen = self.policies.victim.choose(&view, tag, &mut victims.rng)?;
        let chosen = self.space.geometry.superblock_of(chosen);
        assert!(
            blocks.is_candidate(chosen) && self.space.geometry.plane_of(chosen) == plane,
            "the victim policy chose block {chosen} ({:?}), no candidate of plane {plane}",
            blocks.state(chosen),
        );
        if self.space.gains(chosen) {
            victims.fruitless = 0;
            return Some(chosen);
        }
        // A policy may choose a block that frees nothing (random does, now and then), as long as
        // the plane has something to gain and chance gets round to it.
        let best = view.most_gain()?;
        if !self.space.gains(best) {
            return None;
        }
        victims.fruitless += 1;
        if victims.fruitless > 4 * self.space.geometry.blocks_per_plane() as u32 {
            victims.fruitless = 0;
            victims.overridden += 1;
            return Some(best);
        }
        Some(chosen)
    }

    /// A victim among the blocks with at least the share of garbage above which a plane collects.
    #[cold]
    fn choose_garbage(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let least = self.answers.garbage * f64::from(ftl.blocks.slots());
        for (at, b) in ftl.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
            self.victims.excluded.put(at, f64::from(ftl.blocks.gain(b)) < least);
        }
        let excluded = Some(&self.victims.excluded);
        let view = PlaneView { ftl, plane, now, from: 0, excluded };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.victims.rng);
        chosen.filter(|b| self.space.gains(*b))
    }

    /// A victim that gains, among the blocks that neither the read-disturb policy nor the separation
    /// policy protects, if one of them protects any.
    #[cold]
    fn choose_unprotected(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let (policies, separation) = (&self.policies, &self.answers.separation);
        let protected = |b| {
            has_role(&ftl, b) && policies.read_disturb.protects(&ftl, b)
                || separation.protects
                    && ftl.blocks.valid(b) > 0
                    && separation
                        .place_of(ftl.blocks.stream(b))
                        .is_some_and(|place| policies.separation.protects(place))
        };
        if !self.victims.exclude(&ftl, plane, protected) {
            return None;
        }
        let excluded = Some(&self.victims.excluded);
        let view = PlaneView { ftl, plane, now, from: 0, excluded };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.victims.rng);
        chosen.filter(|b| self.space.gains(*b))
    }
}

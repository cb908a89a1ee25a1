//! Garbage collection: which block is reclaimed next, and for whom.

use super::{Action, JobId, Leaving, Task};
use crate::{Config, Dest, Ftl, FtlView, Kit, PlaneView, ReadDisturb, Role, StreamId, Victim};
use kernel::{BitSet, Idx, Rng, Time};
use nand::{BlockId, PlaneId, Source, Tag};

/// Reclaiming blocks of a plane until enough are free.
pub(super) enum Collect {
    /// The next block is to be chosen.
    Choose,
    /// A block has been reclaimed: others go first.
    Yield,
    /// A block is being emptied.
    Empty(Leaving),
}

/// What choosing victims goes on with.
pub(crate) struct Victims {
    rng: Rng,
    /// The blocks of a plane that are no victims: memory that is used again and again.
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

    /// Leaves out the blocks of a plane with a role of their own that `out` says; whether there are
    /// any.
    pub(super) fn exclude(
        &mut self,
        ftl: &FtlView<'_>,
        plane: PlaneId,
        out: impl Fn(BlockId) -> bool,
    ) -> bool {
        for (at, b) in ftl.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
            self.excluded.put(at, ftl.blocks.role(b) != Role::REGULAR && out(b));
        }
        self.excluded.next_from(0).is_some()
    }
}

impl<K: Kit> Ftl<K> {
    /// Chooses the next block that a collector empties, or ends it. `None`: it has one.
    pub(super) fn next_victim(&mut self, id: JobId, now: Time) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        let (plane, tag) = (job.plane, job.tag);
        let gc = self.config.gc;
        let target = if job.background { gc.background_stop.max(gc.stop) } else { gc.stop };
        let mut chosen = None;
        if self.space.is_short(plane, target) {
            if let Task::Collect(Collect::Yield) = job.task {
                job.task = Task::Collect(Collect::Choose);
                job.background |= gc.one_by_one && !self.space.is_short(plane, gc.start);
                return Some(Action::Yield);
            }
            let counted = self.reads.are_counted();
            let unprotected = counted.then(|| self.choose_unprotected(plane, tag, now)).flatten();
            chosen = unprotected.or_else(|| self.choose_victim(plane, tag, now));
            if chosen.is_none() {
                self.space.starve(plane);
            }
        }
        let Some(victim) = chosen else {
            if self.jobs.get(id).load.owes() {
                return self.pad_load(id, now);
            }
            self.jobs.collectors[plane] = None;
            if self.jobs.pace.is_kept() {
                self.jobs.pace.end(plane);
            }
            return Some(Action::Done);
        };
        let dest = if self.space.blocks.role(victim) == Role::REGULAR {
            Dest::Stream(StreamId::GC)
        } else {
            let view = FtlView::of(&self.space, &self.map, &self.reads);
            self.policies.read_disturb.on_reclaim(&view, victim, tag)
        };
        if self.jobs.pace.is_kept() {
            let blocks = &self.space.blocks;
            self.jobs.pace.begin(plane, blocks.valid(victim), blocks.gain(victim));
        }
        let needed_by = self.space.needed_by(tag.demand, victim);
        let pages = self.begin_reclaim(victim, dest, needed_by);
        self.jobs.get_mut(id).task = Task::Collect(Collect::Empty(pages));
        None
    }

    /// Whether a job that is about to move pages gives way to everything else, because the host has
    /// not written enough to need that: a collector in the foreground, for the host.
    #[cold]
    pub(super) fn is_ahead(&mut self, id: JobId, pages: u32) -> bool {
        let job = self.jobs.get(id);
        let (plane, for_host) = (job.plane, job.tag.demand == Source::Host);
        if job.background || !for_host || !matches!(job.task, Task::Collect(_)) {
            return false;
        }
        let ahead = !self.jobs.pace.spend(plane, id, pages);
        self.jobs.get_mut(id).background = ahead;
        ahead
    }

    fn choose_victim(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let (blocks, victims) = (&self.space.blocks, &mut self.victims);
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let view = PlaneView { ftl, plane, now, from: 0, excluded: None };
        let chosen = self.policies.victim.choose(&view, tag, &mut victims.rng)?;
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

    /// A victim that gains, among the blocks that the read-disturb policy does not protect, if it
    /// protects any.
    #[cold]
    fn choose_unprotected(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let protected = |b| self.policies.read_disturb.protects(&ftl, b);
        if !self.victims.exclude(&ftl, plane, protected) {
            return None;
        }
        let excluded = Some(&self.victims.excluded);
        let view = PlaneView { ftl, plane, now, from: 0, excluded };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.victims.rng);
        chosen.filter(|b| self.space.gains(*b))
    }
}

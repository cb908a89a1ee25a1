//! Jobs: work of the FTL's own that takes several flash operations.
//!
//! A job is a state machine. The driver carries out the [`Action`] it asks for and calls
//! [`Ftl::advance`] again when that is done; between two actions anything may happen (the host may
//! overwrite the page being moved, another job may take the space), so each step looks anew.

use crate::ftl::{Ftl, ftl_view};
use crate::map::Lpn;
use crate::policy::{
    Balance, Coding, Cost, Dest, Interests, Kit, NextLife, Pages, Placement, Plan, PlanFamily,
    ReadDisturb, Role, Step, StreamId, Victim, Wear, plan_source,
};
use crate::{PlaneView, State};
use kernel::{Time, newtype_index};
use nand::{BlockId, DieId, Mode, PlaneId, Ppn, Source, Store, Tag};

newtype_index! {
    /// A running job.
    JobId;
}

/// What a job wants done next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Read this slot.
    Read(Ppn),
    /// Program this slot with the copy of a logical page.
    Program {
        /// The slot.
        ppn: Ppn,
        /// The page.
        lpn: Lpn,
    },
    /// Erase this block.
    Erase(BlockId),
    /// Reprogram this block in place.
    Reprogram(BlockId),
    /// A block is reclaimed and another is needed: whoever waits goes first, then ask again.
    Yield,
    /// Nothing now: the job comes back through [`Ftl::take_ready`].
    Wait,
    /// The job is over and its id free.
    Done,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Phase {
    /// Look for the next victim or step.
    Next,
    /// Look for the next page to move.
    Scan,
    /// The page at `from` is being read.
    Reading,
    /// The page read from `from` needs a slot.
    Placing,
    /// The block was given back while there was no space; it is to be taken again.
    Retaking,
    /// The slot `to` is being programmed.
    Programming,
    /// Everything has moved.
    Emptied,
    /// The victim is being erased.
    Erasing,
    /// The block is to be reprogrammed when nobody reads the pages that it loses.
    Squeezing,
    /// The block is being reprogrammed.
    Reprogramming,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Reclaim blocks of the plane until enough are free.
    Collect,
    /// Run the steps of a plan.
    Plan,
    /// Write one page anew.
    Rewrite,
}

/// Why a job waits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum WaitFor {
    /// For a free block in this plane, or in any where pages may go to any.
    Space(PlaneId),
    /// For the last read on its way to this block.
    Pins(BlockId),
    /// For a program into this block.
    Program(BlockId),
}

/// A running job.
pub struct Job<D> {
    pub(crate) kind: Kind,
    pub(crate) tag: Tag,
    pub(crate) plane: PlaneId,
    pub(crate) home: DieId,
    pub(crate) background: bool,
    phase: Phase,
    steps: Vec<Step>,
    step: usize,
    /// The block that pages leave.
    block: Option<BlockId>,
    /// Erase it in the end.
    reclaim: bool,
    /// The pages to move, when not all.
    list: Option<Vec<u16>>,
    cursor: u32,
    dest: Dest,
    /// The page being moved.
    lpn: Option<Lpn>,
    from: Option<Ppn>,
    to: Option<Ppn>,
    data: Option<D>,
    /// The mode in which the block starts its next life.
    next_mode: Mode,
    /// Others had their turn since the last block was reclaimed.
    yielded: bool,
}

impl<D> Job<D> {
    fn new(kind: Kind, tag: Tag, plane: PlaneId, home: DieId) -> Self {
        Self {
            kind,
            tag,
            plane,
            home,
            background: false,
            phase: Phase::Next,
            steps: Vec::new(),
            step: 0,
            block: None,
            reclaim: false,
            list: None,
            cursor: 0,
            dest: Dest::Stream(StreamId::GC),
            lpn: None,
            from: None,
            to: None,
            data: None,
            next_mode: Mode::Full,
            yielded: true,
        }
    }

    /// Who works, and for whom.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// The die that it starts on.
    pub fn home(&self) -> DieId {
        self.home
    }

    /// The slot that the page being moved came from.
    pub fn copied_from(&self) -> Option<Ppn> {
        self.from
    }

    /// Whether it gives way to everything else.
    pub fn is_background(&self) -> bool {
        self.background
    }
}

/// The next page index of a job's list or of the block's valid pages.
enum Found {
    Slot(u32),
    None,
}

impl<K: Kit> Ftl<K> {
    /// Reclaims blocks of `plane` because `demand` needs space there.
    pub(crate) fn request_gc(&mut self, plane: PlaneId, demand: Source) {
        if let Some(id) = self.planes.get(plane).collector {
            if self.jobs.get(id).background {
                // Idle-time work has become urgent: it goes on as a foreground job.
                self.jobs.get_mut(id).background = false;
                if !self.waiting.iter().any(|(job, _)| *job == id) {
                    self.promoted.push(id);
                }
            }
            return;
        }
        let id = self.spawn_collector(plane, demand);
        self.ready.push_back(id);
    }

    fn spawn_collector(&mut self, plane: PlaneId, demand: Source) -> JobId {
        let home = self.geometry.die_of_plane(plane);
        let id = self.jobs.add(Job::new(Kind::Collect, Tag::gc_for(demand), plane, home));
        self.planes.get_mut(plane).collector = Some(id);
        id
    }

    /// Turns a plan into a job.
    pub(crate) fn spawn_plan(&mut self, family: PlanFamily, plan: &mut Plan) {
        let Some(block) = plan.steps.first().map(step_block) else {
            plan.steps.clear();
            return;
        };
        let plane = self.geometry.plane_of(block);
        let home = self.geometry.die_of_plane(plane);
        let mut job = Job::new(Kind::Plan, Tag::of(plan_source(family)), plane, home);
        job.background = plan.background;
        job.steps = std::mem::take(&mut plan.steps);
        plan.background = false;
        let background = job.background;
        let id = self.jobs.add(job);
        if background {
            self.idle_jobs[home].push_back(id);
            self.idle_jobs_total += 1;
        } else {
            self.ready.push_back(id);
        }
    }

    /// The next job to start or to go on with; the driver asks until there is none.
    #[inline]
    pub fn take_ready(&mut self) -> Option<JobId> {
        self.ready.pop_front()
    }

    /// Whether a job wants to start.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Background jobs that turned urgent since the last call.
    #[inline]
    pub fn take_promoted(&mut self) -> Option<JobId> {
        self.promoted.pop()
    }

    /// A running job.
    #[inline]
    pub fn job(&self, id: JobId) -> &Job<<K::Store as Store>::Page> {
        self.jobs.get(id)
    }

    /// Whether an idle die might find work at all.
    #[inline]
    pub fn offers_idle_work(&self) -> bool {
        K::IDLE && (self.idle_interest || self.idle_jobs_total > 0)
    }

    /// Work for a die that has nothing else to do: re-writes that the cost policy wants, then
    /// background jobs of policies, then garbage collection ahead of need.
    pub fn idle_job(&mut self, die: DieId) -> Option<JobId> {
        if !self.offers_idle_work() {
            return None;
        }
        if self.interests.cost.has(Interests::IDLE) {
            let view = ftl_view!(self);
            if let Some(lpn) = self.policies.cost.rewrite(die, &view)
                && let Some(from) = self.map.lookup(lpn)
            {
                let plane = self.geometry.plane_of(self.geometry.block_of(from));
                let mut job = Job::new(Kind::Rewrite, Tag::of(Source::Rewrite), plane, die);
                job.home = self.geometry.die_of_plane(plane);
                job.background = true;
                job.lpn = Some(lpn);
                job.dest = Dest::Stream(StreamId::HOST);
                return Some(self.jobs.add(job));
            }
        }
        if let Some(id) = self.idle_jobs[die].pop_front() {
            self.idle_jobs_total -= 1;
            return Some(id);
        }
        if self.config.gc.background_stop > 0 {
            for index in 0..self.geometry.planes_per_die() as u32 {
                let plane = self.geometry.plane_in(die, index);
                let state = self.planes.get(plane);
                if state.collector.is_none()
                    && !state.starved
                    && self.is_short(plane, self.config.gc.background_stop)
                {
                    let id = self.spawn_collector(plane, Source::Host);
                    self.jobs.get_mut(id).background = true;
                    return Some(id);
                }
            }
        }
        None
    }

    /// Takes note that the last action of job `id` is done (or that the job starts, or was woken),
    /// and says what it does next.
    pub fn advance(&mut self, id: JobId, now: Time) -> Action {
        loop {
            match self.jobs.get(id).phase {
                Phase::Next => {
                    let found = match self.jobs.get(id).kind {
                        Kind::Collect => match self.next_victim(id) {
                            Some(found) => found,
                            None => return Action::Yield,
                        },
                        Kind::Plan => match self.next_step(id, now) {
                            Some(action) => return action,
                            None => self.jobs.get(id).phase != Phase::Next,
                        },
                        Kind::Rewrite => self.next_rewrite(id),
                    };
                    if !found {
                        self.jobs.remove(id);
                        return Action::Done;
                    }
                }
                Phase::Scan => {
                    let job = self.jobs.get_mut(id);
                    let block = job.block.expect("a job that scans has a block");
                    let Found::Slot(slot) = find(&self.map, job, block) else {
                        job.phase = Phase::Emptied;
                        continue;
                    };
                    job.cursor = slot + 1;
                    let from = self.geometry.ppn(block, slot);
                    if !self.array.is_written(from) {
                        // Still on its way to the cells: only blocks that are not closed have such.
                        job.cursor = slot;
                        self.waiting.push((id, WaitFor::Program(block)));
                        return Action::Wait;
                    }
                    job.from = Some(from);
                    job.phase = Phase::Reading;
                    self.blocks.pin(block);
                    return Action::Read(from);
                }
                Phase::Reading => {
                    let job = self.jobs.get_mut(id);
                    let from = job.from.expect("a job that reads has a page");
                    job.data = Some(self.array.read(from));
                    job.phase = Phase::Placing;
                    self.counts.read[job.tag.source] += 1;
                    self.unpin(from);
                }
                Phase::Placing => {
                    let job = self.jobs.get(id);
                    let (tag, dest, from) = (job.tag, job.dest, job.from.expect("a page"));
                    let (plane, kind) = (job.plane, job.kind);
                    let (block, slot) = self.geometry.split(from);
                    if !self.map.is_valid(block, slot) {
                        // The host was faster: the copy is stale.
                        self.counts.dropped += 1;
                        self.jobs.get_mut(id).phase = after_page(kind);
                        continue;
                    }
                    let lpn = self.map.owner(from).expect("a valid slot has an owner");
                    let Some(to) = self.place_move(id, lpn, dest, tag, now) else {
                        if kind == Kind::Rewrite {
                            self.counts.dropped += 1;
                            self.jobs.remove(id);
                            return Action::Done;
                        }
                        self.await_space(id, block, slot, plane);
                        return Action::Wait;
                    };
                    self.commit_move(lpn, from, to, tag, now);
                    let job = self.jobs.get_mut(id);
                    job.lpn = Some(lpn);
                    job.to = Some(to);
                    job.phase = Phase::Programming;
                    return Action::Program { ppn: to, lpn };
                }
                Phase::Programming => {
                    let job = self.jobs.get_mut(id);
                    let to = job.to.expect("a job that programs has a slot");
                    let lpn = job.lpn.expect("and a page");
                    let data = job.data.take().expect("and data");
                    let (tag, kind) = (job.tag, job.kind);
                    self.jobs.get_mut(id).phase = after_page(kind);
                    self.program_done(lpn, to, data, tag, now);
                }
                Phase::Retaking => {
                    let block = self.jobs.get(id).block.expect("a job that reclaims has a block");
                    let still_there = self.blocks.state(block) == State::Closed;
                    if still_there {
                        self.blocks.begin_move(block);
                    }
                    let job = self.jobs.get_mut(id);
                    job.cursor = 0;
                    job.phase = if still_there { Phase::Scan } else { Phase::Next };
                }
                Phase::Emptied => match self.emptied(id, now) {
                    Some(action) => return action,
                    None => self.jobs.get_mut(id).phase = Phase::Next,
                },
                Phase::Erasing => {
                    let job = self.jobs.get_mut(id);
                    job.phase = Phase::Next;
                    let (block, tag) = (job.block.expect("a block"), job.tag);
                    self.array.erase(block, job.next_mode);
                    self.counts.erase[tag.source] += 1;
                    if tag.source == Source::Gc {
                        self.counts.gc_erase_by_demand[tag.demand] += 1;
                    }
                    self.set_free(block, now);
                    self.balance(block, tag);
                }
                Phase::Squeezing => {
                    let block = self.jobs.get(id).block.expect("a job that squeezes has a block");
                    if self.blocks.pins(block) > 0 {
                        self.waiting.push((id, WaitFor::Pins(block)));
                        return Action::Wait;
                    }
                    if self.may_squeeze(block) {
                        self.jobs.get_mut(id).phase = Phase::Reprogramming;
                        return Action::Reprogram(block);
                    }
                    // Since the plan was made the block was reclaimed and written anew.
                    self.counts.dropped += 1;
                    self.give_back(block);
                    self.jobs.get_mut(id).phase = Phase::Next;
                }
                Phase::Reprogramming => {
                    let job = self.jobs.get_mut(id);
                    job.phase = Phase::Next;
                    let Some(&Step::Reprogram { block, surcharge }) = job.steps.get(job.step - 1)
                    else {
                        unreachable!("only a Reprogram step enters this phase");
                    };
                    self.finish_reprogram(block, surcharge, now);
                }
            }
        }
    }

    /// Chooses the next block that a collector empties; whether there is one to empty. `None`:
    /// there may be, but others go first.
    fn next_victim(&mut self, id: JobId) -> Option<bool> {
        let job = self.jobs.get(id);
        let (plane, tag) = (job.plane, job.tag);
        let gc = self.config.gc;
        let target = if job.background { gc.background_stop.max(gc.stop) } else { gc.stop };
        let chosen = if !self.is_short(plane, target) {
            None
        } else if !std::mem::replace(&mut self.jobs.get_mut(id).yielded, true) {
            return None;
        } else {
            let chosen = self.choose_victim(plane, tag);
            if chosen.is_none() {
                self.counts.starved += 1;
                let known = std::mem::replace(&mut self.planes.get_mut(plane).starved, true);
                self.starved_planes += u32::from(!known);
            }
            chosen
        };
        let Some(victim) = chosen else {
            self.planes.get_mut(plane).collector = None;
            return Some(false);
        };
        let dest = if K::READS && self.blocks.role(victim) != Role::REGULAR {
            let view = ftl_view!(self);
            self.policies.read_disturb.on_reclaim(&view, victim, tag)
        } else {
            Dest::Stream(StreamId::GC)
        };
        self.begin_reclaim(id, victim, dest);
        self.jobs.get_mut(id).yielded = false;
        Some(true)
    }

    fn choose_victim(&mut self, plane: PlaneId, tag: Tag) -> Option<BlockId> {
        let view = PlaneView { ftl: ftl_view!(self), plane, from: 0, excluded: None };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.rng)?;
        assert!(
            self.blocks.is_candidate(chosen) && self.geometry.plane_of(chosen) == plane,
            "the victim policy chose block {chosen} ({:?}), no candidate of plane {plane}",
            self.blocks.state(chosen),
        );
        if self.blocks.gain(chosen) > 0 {
            self.fruitless = 0;
            return Some(chosen);
        }
        // A policy may choose a block that frees nothing (random does, now and then), as long as
        // the plane has something to gain and chance gets round to it.
        let view = PlaneView { ftl: ftl_view!(self), plane, from: 0, excluded: None };
        let best = view.most_gain()?;
        if self.blocks.gain(best) == 0 {
            return None;
        }
        self.fruitless += 1;
        if self.fruitless > 4 * self.geometry.blocks_per_plane() as u32 {
            self.fruitless = 0;
            self.counts.overridden += 1;
            return Some(best);
        }
        Some(chosen)
    }

    fn begin_reclaim(&mut self, id: JobId, block: BlockId, dest: Dest) {
        self.blocks.begin_move(block);
        self.map.prefetch_owners(block);
        let job = self.jobs.get_mut(id);
        job.block = Some(block);
        job.reclaim = true;
        job.list = None;
        job.cursor = 0;
        job.dest = dest;
        job.phase = Phase::Scan;
    }

    /// Starts the next step of a plan that needs flash operations; `Some` when it starts with one.
    /// Leaves the job in `Next` when the plan is over.
    fn next_step(&mut self, id: JobId, now: Time) -> Option<Action> {
        loop {
            let job = self.jobs.get_mut(id);
            let step = job.steps.get(job.step)?.clone();
            job.step += 1;
            match step {
                Step::Copy { from, pages, to } => {
                    if matches!(self.blocks.state(from), State::Free | State::Bad) {
                        continue;
                    }
                    job.block = Some(from);
                    job.reclaim = false;
                    job.list = match pages {
                        Pages::All => None,
                        Pages::Some(list) => Some(list),
                    };
                    job.cursor = 0;
                    job.phase = Phase::Scan;
                    job.dest = to;
                    if let Dest::Fresh(stream) = to {
                        let plane = self.geometry.plane_of(from);
                        let tag = self.jobs.get(id).tag;
                        let fresh = self.open_detached(plane, stream, tag);
                        let job = self.jobs.get_mut(id);
                        job.dest = fresh.map_or(Dest::Stream(stream), Dest::Block);
                    }
                    return None;
                }
                Step::Reclaim { block, to } => {
                    // Another job may have taken it since; an open frontier is left alone.
                    self.seal(block, now);
                    if self.blocks.state(block) == State::Closed {
                        self.begin_reclaim(id, block, to);
                        return None;
                    }
                }
                Step::Reprogram { block, .. } => {
                    if self.blocks.state(block) == State::Closed
                        && self.array.mode(block) == Mode::Full
                    {
                        job.block = Some(block);
                        job.phase = Phase::Squeezing;
                        self.blocks.begin_move(block);
                        return None;
                    }
                }
                Step::SetRole(block, role) => self.blocks.set_role(block, role),
                Step::ResetReads(block) => {
                    if let Some(reads) = self.reads.get_mut(block.as_u32() as usize) {
                        *reads = 0;
                    }
                }
                Step::Seal(block) => self.seal(block, now),
            }
        }
    }

    fn next_rewrite(&mut self, id: JobId) -> bool {
        let job = self.jobs.get_mut(id);
        if job.from.is_some() {
            return false; // written, or dropped
        }
        let lpn = job.lpn.expect("a re-write has a page");
        let Some(from) = self.map.lookup(lpn) else { return false };
        let (block, slot) = self.geometry.split(from);
        // One page: the scan begins at it and `after_page` ends the job.
        job.block = Some(block);
        job.list = Some(vec![slot as u16]);
        job.cursor = 0;
        job.phase = Phase::Scan;
        true
    }

    /// The last page has moved. `Some`: what happens to the block; `None`: on to the next.
    fn emptied(&mut self, id: JobId, now: Time) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        if !job.reclaim {
            return None;
        }
        let block = job.block.expect("a job that reclaims has a block");
        if self.blocks.pins(block) > 0 {
            self.waiting.push((id, WaitFor::Pins(block)));
            return Some(Action::Wait);
        }
        job.reclaim = false;
        let NextLife::Erase(mode) = self.next_life(block) else {
            self.array.begin_second_generation(block);
            self.counts.second_lives += 1;
            self.set_free(block, now);
            return None;
        };
        let job = self.jobs.get_mut(id);
        job.next_mode = mode;
        job.phase = Phase::Erasing;
        if K::SLOTS && !self.plain {
            self.widest = self.widest.max(self.layouts.slots(mode));
        }
        Some(Action::Erase(block))
    }

    /// A slot for a page that a job moves.
    fn place_move(&mut self, id: JobId, lpn: Lpn, dest: Dest, tag: Tag, now: Time) -> Option<Ppn> {
        let plane = self.jobs.get(id).plane;
        let stream = match dest {
            Dest::Block(block) => match self.append(block) {
                Some(ppn) => return Some(ppn),
                None => self.blocks.stream(block),
            },
            Dest::Stream(stream) | Dest::Fresh(stream) => stream,
        };
        if let Some((ppn, ..)) = self.allocate(plane, stream, lpn, tag, now) {
            return Some(ppn);
        }
        if tag.source == Source::Gc && stream != StreamId::GC {
            // A policy's stream has no room, and garbage collection must go on: it has its reserve.
            return self.allocate(plane, StreamId::GC, lpn, tag, now).map(|(ppn, ..)| ppn);
        }
        // The plane is full. Reclaiming always has its reserve; anything else may go elsewhere,
        // unless every plane needs its spare blocks for the pages that must come back to it.
        if !self.policies.placement.is_free() {
            return None;
        }
        let planes = self.geometry.planes() as u32;
        (1..planes).find_map(|d| {
            let other = PlaneId::from_u32((plane.as_u32() + d) % planes);
            self.allocate(other, stream, lpn, tag, now).map(|(ppn, ..)| ppn)
        })
    }

    /// There is no slot for the page that a job has read. While it waits, the block that it empties
    /// must not be out of garbage collection's reach: the space that it waits for may lie there.
    fn await_space(&mut self, id: JobId, block: BlockId, slot: u32, plane: PlaneId) {
        self.waiting.push((id, WaitFor::Space(plane)));
        let job = self.jobs.get_mut(id);
        if job.kind == Kind::Collect {
            return;
        }
        // The block may be erased meanwhile, so what was read is no longer worth anything.
        job.data = None;
        job.cursor = slot;
        job.phase = Phase::Scan;
        if job.reclaim {
            job.phase = Phase::Retaking;
            self.give_back(block);
        }
    }

    /// A block that a job had taken is a candidate again.
    fn give_back(&mut self, block: BlockId) {
        self.blocks.end_move(block);
        if self.starved_planes > 0 {
            self.feed(block);
        }
    }

    /// Whether nothing valid lies in the pages that low density loses.
    fn may_squeeze(&self, block: BlockId) -> bool {
        let lost = |slot: &u32| !self.layouts.is_slot(Mode::Low, *slot);
        let mut lost = (0..self.geometry.pages_per_block()).filter(lost);
        !lost.any(|slot| self.map.is_valid(block, slot))
    }

    /// The next slot of a partly written block that is nobody's frontier.
    fn append(&mut self, block: BlockId) -> Option<Ppn> {
        let plane = self.geometry.plane_of(block);
        if self.blocks.state(block) != State::Open
            || self.planes.frontier(plane, self.blocks.stream(block)) == Some(block)
        {
            return None; // a frontier is written through its stream
        }
        let (slot, last) = self.next_slot(block)?;
        self.blocks.set_written(block, slot + 1);
        if last {
            self.blocks.set_full(block);
        }
        Some(self.geometry.ppn(block, slot))
    }

    /// Makes a partly written block complete; it closes when its programs are done.
    fn seal(&mut self, block: BlockId, now: Time) {
        if self.blocks.state(block) != State::Open || self.planes.frontiers().contains(&Some(block))
        {
            return;
        }
        self.blocks.set_full(block);
        if self.array.next_page(block) >= self.blocks.written(block) {
            self.close(block, now);
        }
    }

    fn finish_reprogram(&mut self, block: BlockId, surcharge: u16, now: Time) {
        assert!(self.may_squeeze(block), "block {block} was to lose pages that were not copied");
        self.array.reprogram_to_low(block, surcharge);
        self.counts.reprogram += 1;
        self.plain = false;
        self.close(block, now);
    }

    /// An emptied block joins its plane's free blocks.
    pub(crate) fn set_free(&mut self, block: BlockId, now: Time) {
        let plane = self.geometry.plane_of(block);
        let retired = self.retire(block);
        if !retired {
            self.blocks.set_free(block);
        }
        if let Some(reads) = self.reads.get_mut(block.as_u32() as usize) {
            *reads = 0;
        }
        if !retired {
            self.planes.get_mut(plane).free.push_back(block);
        }
        self.update_writable(plane);
        self.freed = true;
        if !self.waiting.is_empty() {
            let anywhere = self.policies.placement.is_free();
            self.wake(|w| matches!(w, WaitFor::Space(p) if anywhere || p == plane));
        }
        if K::WATCH && self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_erase(block, now));
        }
    }

    fn balance(&mut self, erased: BlockId, tag: Tag) {
        if !self.wear_active || !matches!(tag.source, Source::Gc | Source::Refresh) {
            return;
        }
        let plane = self.geometry.plane_of(erased);
        // One at a time: the spread that the last answer was about may be gone when it is done.
        let at_work = |j: &Job<_>| j.tag.source == Source::Wear && j.plane == plane;
        if self.jobs.iter().any(at_work) {
            return;
        }
        let mut plan = std::mem::take(&mut self.plan);
        let plane = PlaneView { ftl: ftl_view!(self), plane, from: 0, excluded: None };
        self.policies.wear.balance(&Balance { plane, erased }, &mut plan);
        self.spawn_plan(PlanFamily::Wear, &mut plan);
        self.plan = plan;
    }

    pub(crate) fn next_life(&mut self, block: BlockId) -> NextLife {
        if !K::SLOTS || self.coding_plain {
            return NextLife::Erase(Mode::Full);
        }
        let view = ftl_view!(self);
        self.policies.coding.next_life(&view, block)
    }

    /// Moves jobs whose wait is over to the ready list, in the order in which they waited.
    #[cold]
    pub(crate) fn wake(&mut self, over: impl Fn(WaitFor) -> bool) {
        let ready = &mut self.ready;
        self.waiting.retain(|(id, wait)| {
            let woken = over(*wait);
            if woken {
                ready.push_back(*id);
            }
            !woken
        });
    }

    /// Carries out every ready job at once, without time: for tests and preconditioning.
    pub fn settle(&mut self, now: Time) {
        while let Some(id) = self.take_ready() {
            self.run_job(id, now);
        }
        self.promoted.clear();
    }

    /// Carries out one job until it ends or waits.
    pub fn run_job(&mut self, id: JobId, now: Time) {
        while !matches!(self.advance(id, now), Action::Done | Action::Wait) {}
    }
}

/// What a job does when a page has moved or was dropped.
fn after_page(kind: Kind) -> Phase {
    if kind == Kind::Rewrite { Phase::Next } else { Phase::Scan }
}

/// The block that a step is about.
fn step_block(step: &Step) -> BlockId {
    match step {
        Step::Copy { from: block, .. }
        | Step::Reclaim { block, .. }
        | Step::Reprogram { block, .. }
        | Step::SetRole(block, _)
        | Step::ResetReads(block)
        | Step::Seal(block) => *block,
    }
}

#[inline]
fn find<D>(map: &crate::Map, job: &Job<D>, block: BlockId) -> Found {
    let Some(list) = &job.list else {
        return map.next_valid(block, job.cursor).map_or(Found::None, Found::Slot);
    };
    let from = list.partition_point(|&slot| u32::from(slot) < job.cursor);
    let valid = list[from..].iter().find(|&&slot| map.is_valid(block, slot.into()));
    valid.map_or(Found::None, |&slot| Found::Slot(slot.into()))
}

/// Running jobs in a slab.
pub(crate) struct Jobs<D> {
    slots: Vec<Option<Job<D>>>,
    free: Vec<JobId>,
}

impl<D> Jobs<D> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    fn add(&mut self, job: Job<D>) -> JobId {
        if let Some(id) = self.free.pop() {
            self.slots[id.as_u32() as usize] = Some(job);
            return id;
        }
        self.slots.push(Some(job));
        JobId::from_u32(self.slots.len() as u32 - 1)
    }

    fn remove(&mut self, id: JobId) {
        self.slots[id.as_u32() as usize] = None;
        self.free.push(id);
    }

    #[inline]
    pub(crate) fn get(&self, id: JobId) -> &Job<D> {
        self.slots[id.as_u32() as usize].as_ref().expect("a running job")
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: JobId) -> &mut Job<D> {
        self.slots[id.as_u32() as usize].as_mut().expect("a running job")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Job<D>> {
        self.slots.iter().flatten()
    }

    pub(crate) fn running(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

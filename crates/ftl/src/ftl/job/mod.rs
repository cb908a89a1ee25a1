//! Jobs: work of the FTL's own that takes several flash operations.
//!
//! A job is a state machine. [`Ftl::next`] returns the operation that it needs, and the driver
//! carries it out. [`Ftl::job_concluded`] takes the operation back with its outcome and returns the
//! next one. Between two operations the host may overwrite the page that moves, or another job may
//! take the space. So each step checks again. The task holds the subject and the progress of a job.
//! A second value holds the continuation after the current operation, as far as the operation does
//! not determine it.

mod buffer;
mod collect;
mod copyback;
mod crew;
mod list;
mod pace;
mod plan;

use buffer::{AHEAD, JobBuffer};
pub(crate) use collect::Victims;
pub(crate) use copyback::Copyback;
pub(crate) use list::{JobCondition, Jobs};
pub(crate) use pace::GcPace;

use crate::{Coding, Dest, Ftl, FtlView, Hold, Lpn, Map, NextLife, Pages, PolicyTypes, StreamId};
use collect::Collect;
use crew::Crew;
use kernel::{Time, newtype_index};
use nand::{
    BlockId, DieId, Geometry, Level, Mode, Operation, Outcome, PlaneId, Ppn, Route, Slots, Source,
    Store, Tag, Verb,
};
use plan::{PlanStage, ReprogramInPlace, RunningPlan};

type Page<K> = <<K as PolicyTypes>::Store as Store>::Page;

newtype_index! {
    /// A running job.
    JobId;
}

/// The next request of a job.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// [`Job::operation`] is carried out, and comes back through [`Ftl::job_concluded`].
    Start,
    /// A block is reclaimed and another is needed. Waiting operations go first; then the driver
    /// asks again.
    Yield,
    /// The job gives way to everything else from now on, and keeps its place: when it does not any
    /// more, it goes before what came after it.
    Turn,
    /// Nothing now: the job comes back through [`Ftl::take_ready`](crate::Ftl::take_ready).
    Wait,
    /// The job is over and its id free.
    Done,
}

/// The subject of a job, and its progress.
// A tag of its own: to find it among the fields' unused values costs every page that moves.
#[repr(u8)]
enum Task {
    /// Reclaim blocks of the plane until enough are free.
    Collect(Collect),
    /// Run the steps of a plan.
    Plan(RunningPlan),
    /// Write one page anew; `None`: that is under way.
    Rewrite(Option<Lpn>),
    /// Program pages that a member has read.
    Program,
    /// Erase a block of a superblock.
    Erase,
    /// Program the parity of a stripe.
    Parity,
}

impl Task {
    /// The pages that it moves.
    #[inline]
    fn pages(&mut self) -> Option<&mut Leaving> {
        match self {
            Self::Collect(Collect::Empty(pages)) => Some(pages),
            Self::Plan(RunningPlan { at: PlanStage::Pages(pages), .. }) => Some(pages),
            Self::Collect(_)
            | Self::Plan(_)
            | Self::Rewrite(_)
            | Self::Program
            | Self::Erase
            | Self::Parity => None,
        }
    }
}

/// Pages that leave a block.
struct Leaving {
    block: BlockId,
    /// Those to move.
    pages: Pages,
    /// No page before this slot is left.
    cursor: u32,
    dest: Dest,
    then: Then,
}

/// The next state of a block when its pages have left.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Then {
    /// It stays as it is: the pages were copied for another reason.
    Stay,
    /// It is erased, for the source that needs the space.
    Erase(Source),
    /// It begins its second generation.
    Again,
}

impl Leaving {
    /// The slot of the next of them.
    #[inline(always)] // every page that moves comes by
    fn next(&self, map: &Map) -> Option<u32> {
        let Pages::Some(list) = &self.pages else {
            return map.next_valid(self.block, self.cursor);
        };
        let from = list.partition_point(|&slot| slot < self.cursor);
        list[from..].iter().copied().find(|&slot| map.is_valid(self.block, slot))
    }
}

/// The continuation after the operation of a job or, without an operation, the next step.
#[derive(Copy, Clone)]
#[repr(u8)]
enum After<D> {
    /// The task decides the next step.
    Nothing,
    /// The slots being read, of a page in all planes of its block, are to be written elsewhere.
    Read { to: Dest },
    /// The pages that were read, and wait in the buffer, need slots.
    Place { to: Dest },
    /// The pages of one command are programmed.
    Written,
    /// The same for a page that did not wait in the buffer, because a command programs one.
    Moved { lpn: Lpn, from: Ppn, data: D },
    /// The erased block is free, for the source that needs the space.
    Free { needed_by: Source },
    /// The block that is being reprogrammed has lost its pages.
    Reprogrammed(ReprogramInPlace),
    /// The parity of a stripe is programmed.
    Parity,
}

/// A running job.
pub struct Job<D> {
    /// The source that works, and the source that it works for.
    pub tag: Tag,
    plane: PlaneId,
    /// The die that it starts on.
    pub home: DieId,
    /// Whether it gives way to everything else.
    pub background: bool,
    /// Whether it waits for a condition.
    waits: bool,
    /// How it shares its die.
    pub hold: Hold,
    /// The data that it reads or programs stay in the die.
    copyback: bool,
    /// A register holds a page that must leave over the channel before the job's next program.
    data_out: bool,
    /// The operation that it has wanted last.
    operation: Operation,
    after: After<D>,
    task: Task,
    /// Its part in emptying a superblock of several blocks.
    crew: Crew,
    /// Pages that were read, if one command programs several.
    buffer: JobBuffer<D>,
}

impl<D> Job<D> {
    /// The slot that the page being programmed came from. If one command programs several: the slot
    /// of the `nth`.
    pub fn copied_from(&self, nth: u32) -> Option<Ppn> {
        match self.after {
            After::Moved { from, .. } => Some(from),
            After::Written => self.buffer.came_from(nth),
            _ => None,
        }
    }

    /// The operation that it has wanted last.
    #[inline(always)] // every operation of a job comes by
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The superblock that it empties, or leads a crew to empty.
    fn victim(&mut self, geometry: &Geometry) -> Option<BlockId> {
        let lead = self.crew.lead().map(|lead| lead.superblock);
        self.task.pages().map(|pages| geometry.superblock_of(pages.block)).or(lead)
    }

    /// The plane that it works for, or the set of planes.
    pub(crate) fn plane(&self) -> PlaneId {
        self.plane
    }

    /// Whether its first operation is known before its turn comes. It then stands among the
    /// operations of its die, which keep the order of the pages of a block.
    pub fn is_decided(&self) -> bool {
        matches!(self.task, Task::Parity)
    }

    /// It requests an operation on slots of a block. Mode and level are the usual ones until it
    /// begins. An erase is the exception: its mode is the one that follows.
    #[inline(always)] // every operation of a job comes by
    fn want(&mut self, verb: Verb, slots: Slots, mode: Mode, level: Level) -> Next {
        let route = match verb {
            Verb::Read | Verb::Program if self.copyback => Route::Copyback,
            Verb::Program if std::mem::take(&mut self.data_out) => Route::DataOut,
            _ => Route::Channel,
        };
        let (tag, slots) = (self.tag, Some(slots));
        self.operation = Operation { verb, slots, known: 0, route, tag, mode, level };
        Next::Start
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Takes back a finished operation of a job. Returns the job's next request.
    ///
    /// # Panics
    ///
    /// The operation has failed: the FTL has no reaction to failed operations yet.
    pub fn job_concluded(
        &mut self,
        id: JobId,
        operation: &Operation,
        outcome: Outcome,
        now: Time,
    ) -> Next {
        if outcome == Outcome::Failed {
            self.failed(operation);
        }
        let next = self.conclude(id, operation, now);
        next.unwrap_or_else(|| self.go_on(id, now))
    }

    /// The next request of a job that starts, continues after it gave way, or no longer has to
    /// wait.
    pub fn next(&mut self, id: JobId, now: Time) -> Next {
        let next = match self.jobs.get(id).after {
            After::Nothing if self.jobs.get(id).crew.leads => self.lead_on(id, now),
            After::Nothing => None,
            After::Place { to } if self.jobs.get(id).crew.of.is_some() => {
                self.as_member(id, |ftl| ftl.program_buffered(id, to, false, now))
            }
            After::Place { to } => self.program_buffered(id, to, false, now),
            After::Parity => Some(Next::Start),
            After::Read { .. }
            | After::Written
            | After::Moved { .. }
            | After::Free { .. }
            | After::Reprogrammed(_) => unreachable!("the operation of this job is under way"),
        };
        next.unwrap_or_else(|| self.go_on(id, now))
    }

    /// The next request of a job by its task.
    #[inline(always)] // every page that moves comes by
    fn go_on(&mut self, id: JobId, now: Time) -> Next {
        loop {
            let job = self.jobs.get_mut(id);
            job.after = After::Nothing;
            let job = if job.buffer.has_unfinished() {
                if let Some(next) = self.free_owed(id) {
                    return next;
                }
                self.jobs.get_mut(id)
            } else {
                job
            };
            let next = match job.task.pages() {
                None => self.go_on_without_pages(id, now),
                Some(pages) => {
                    let &mut Leaving { block, then, dest, .. } = pages;
                    match pages.next(&self.map) {
                        None if job.crew.leads => self.left_block(id, block, dest, then, now),
                        None if !job.buffer.is_empty() => self.leave(id, block, dest, then, now),
                        None => self.emptied(id, block, then, now),
                        Some(slot) => {
                            pages.cursor = slot;
                            return self.read_page(id, block, slot, dest);
                        }
                    }
                }
            };
            if let Some(next) = next {
                if next == Next::Done {
                    self.jobs.remove(id);
                }
                return next;
            }
        }
    }

    /// The step of a task that has no pages to move. `None`: the task has pages now.
    #[inline(never)]
    fn go_on_without_pages(&mut self, id: JobId, now: Time) -> Option<Next> {
        if self.jobs.get(id).crew.leads
            && let Some(next) = self.lead_on(id, now)
        {
            return Some(next);
        }
        if self.jobs.get_mut(id).task.pages().is_some() {
            return None;
        }
        match self.jobs.get_mut(id).task {
            Task::Collect(_) => self.next_victim(id, now),
            Task::Plan(ref mut run) => {
                let mut run = std::mem::take(run);
                let next = self.follow(id, &mut run, now);
                self.jobs.get_mut(id).task = Task::Plan(run);
                next
            }
            Task::Program => Some(self.leave_crew(id)),
            Task::Erase => Some(self.erase_member(id)),
            Task::Parity => Some(Next::Done),
            Task::Rewrite(lpn) => self.rewrite(id, lpn, now),
        }
    }

    /// The consequence of the operation that is done. `None`: the task continues.
    #[inline(always)] // from one place; every page that moves comes by twice
    fn conclude(&mut self, id: JobId, operation: &Operation, now: Time) -> Option<Next> {
        let job = self.jobs.get_mut(id);
        let tag = job.tag;
        let first = operation.slot().expect("an operation of a job has a place");
        match job.after {
            After::Read { to } => {
                let slots = || operation.slots.expect("it has the first");
                if job.crew.of.is_some() {
                    return self.member_read(id, slots(), to, now);
                }
                if let Task::Plan(run) = &mut job.task {
                    run.copied += 1;
                }
                let (plane, copyback) = (job.plane, job.copyback);
                if self.space.unit() > 1 {
                    return self.page_read(id, slots(), to, now);
                }
                let data = self.space.read(first, tag.source);
                self.unpin(first);
                self.place_page(id, (tag, plane, copyback), first, to, data, now)
            }
            After::Moved { lpn, from, data } => {
                self.jobs.counts.moved[tag.source] += 1;
                if self.answers.separation.counts {
                    self.count_moved(from, first);
                }
                self.program_done(lpn, first, data, tag, now);
                None
            }
            After::Written => {
                self.written(id, first, now);
                None
            }
            After::Free { needed_by } => {
                let block = self.space.geometry.block_of(first);
                self.space.erase(block, operation.mode, tag.source);
                if self.jobs.copyback.is_some() {
                    self.forget_copies(block);
                }
                if tag.source == Source::Gc {
                    self.jobs.counts.gc_erase_by_demand[needed_by] +=
                        self.space.geometry.flash_blocks_per_block();
                }
                if self.jobs.get(id).crew.of.is_some() {
                    return None;
                }
                self.free(block, tag, now);
                self.balance(block, tag, now);
                let job = self.jobs.get_mut(id);
                let begun = matches!(job.task, Task::Collect(Collect::Empty(_)));
                if begun && !job.buffer.has_unfinished() { self.goes_on(id, now) } else { None }
            }
            After::Parity => {
                self.parity_written(first, now);
                None
            }
            After::Reprogrammed(reprogram_in_place) => {
                self.reprogrammed(reprogram_in_place, operation.known, tag.source, now);
                None
            }
            After::Nothing | After::Place { .. } => {
                unreachable!("no operation of this job is under way")
            }
        }
    }

    /// Gives a page that was read its slot at once, because a command programs one: as
    /// [`Ftl::program_buffered`], which costs more. `None`: it is dropped.
    #[inline(always)] // as `conclude`
    fn place_page(
        &mut self,
        id: JobId,
        (tag, plane, copyback): (Tag, PlaneId, bool),
        from: Ppn,
        to: Dest,
        data: Page<K>,
        now: Time,
    ) -> Option<Next> {
        let (block, slot) = self.space.geometry.split(from);
        if !self.map.is_valid(block, slot) {
            // The host was faster: the copy is stale.
            self.jobs.counts.dropped += 1;
            if copyback {
                self.note_data_out(id);
            }
            return None;
        }
        let lpn = self.map.owner(from).expect("a valid slot has an owner");
        let sorted =
            if self.answers.separation.asks_moves { self.sorted(lpn, to, tag, now) } else { to };
        let Some(ppn) = self.place_move(plane, lpn, sorted, tag, now) else {
            self.jobs.get_mut(id).buffer.keep(from, sorted.stream(), data);
            if copyback {
                self.note_data_out(id);
            }
            return self.without_slots(id, to);
        };
        if copyback {
            self.note_copyback(id, from, ppn);
        }
        self.commit_move(lpn, from, ppn, tag, now);
        let level = self.levels.usual;
        let job = self.jobs.get_mut(id);
        job.after = After::Moved { lpn, from, data };
        Some(job.want(Verb::Program, Slots::one(ppn), Mode::Full, level))
    }

    /// The program that a job wants.
    #[inline(always)] // as `conclude`
    fn program(&mut self, id: JobId, slots: Slots) -> Next {
        self.jobs.get_mut(id).want(Verb::Program, slots, Mode::Full, self.levels.usual)
    }

    /// Begins to read slots of a page that will be written elsewhere, or waits. The slots may still
    /// be on their way to the cells, in a block that is not closed.
    #[inline(always)] // every page that moves comes by
    fn read_slots(&mut self, id: JobId, slots: Slots, after: After<Page<K>>) -> Next {
        let from = slots.first;
        let block = self.space.geometry.block_of(from);
        if !self.space.array().is_written(from) {
            let superblock = self.space.geometry.superblock_of(block);
            return self.jobs.park(id, JobCondition::Program(superblock));
        }
        self.space.blocks.pin(block);
        let job = self.jobs.get_mut(id);
        job.after = after;
        job.want(Verb::Read, slots, Mode::Full, self.levels.usual)
    }

    /// Removes a block from the candidates: its pages are to leave, so that it can be erased.
    fn begin_reclaim(&mut self, block: BlockId, dest: Dest, needed_by: Source) -> Leaving {
        let block = self.space.geometry.superblock_of(block);
        self.space.blocks.begin_move(block);
        let ahead = if self.space.unit() > 1 { AHEAD } else { u32::MAX };
        self.map.prefetch_owners(block, 0..ahead);
        let then = Then::Erase(needed_by);
        let mut leaving = Leaving { block, pages: Pages::All, cursor: 0, dest, then };
        if !self.space.demands.plain {
            self.choose_life(&mut leaving);
        }
        leaving
    }

    /// Decides the next state of a block that is being emptied. For a second generation, only pages
    /// in slots that it needs must move.
    #[cold]
    fn choose_life(&mut self, leaving: &mut Leaving) {
        let block = leaving.block;
        if self.next_life(block) != NextLife::SecondGeneration
            || self.space.marked_bad.contains(&block)
        {
            return;
        }
        let moves = |slot: &u32| {
            self.map.is_valid(block, *slot) && self.space.layouts.is_slot(Mode::Wom2, *slot)
        };
        let slots = (0..self.space.geometry.pages_per_block()).filter(moves);
        leaving.pages = Pages::Some(slots.collect());
        leaving.then = Then::Again;
    }

    pub(crate) fn next_life(&mut self, block: BlockId) -> NextLife {
        if self.space.demands.plain {
            return NextLife::Erase(Mode::Full);
        }
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        self.policies.coding.next_life(&view, block)
    }

    /// A slot for a page that a job moves. If one command programs several pages: the first slot
    /// for them.
    #[inline(always)] // every page that moves comes by
    fn place_move(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        dest: Dest,
        tag: Tag,
        now: Time,
    ) -> Option<Ppn> {
        let stream = match dest {
            Dest::Block(block) => match self.space.append(block) {
                Some(ppn) => return Some(ppn),
                None => self.space.blocks.stream(block),
            },
            Dest::Stream(stream) | Dest::Fresh(stream) => stream,
        };
        if let Some((ppn, ..)) = self.allocate(plane, stream, lpn, tag, now) {
            return Some(ppn);
        }
        if tag.reclaims() && (stream != StreamId::GC || self.answers.separation.asks_moves) {
            return self.place_elsewhere(plane, lpn, stream, tag, now);
        }
        // The plane is full. Reclaiming always has its reserve; anything else may go elsewhere,
        // unless every plane needs its spare blocks for the pages that must come back to it.
        let mut others = self.planes_from(plane).skip(1);
        others.find_map(|other| self.allocate(other, stream, lpn, tag, now)).map(|(ppn, ..)| ppn)
    }

    /// A slot for a page that collection moves and that has no room in its stream: collection must go on,
    /// and has its reserve.
    #[cold]
    fn place_elsewhere(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        stream: StreamId,
        tag: Tag,
        now: Time,
    ) -> Option<Ppn> {
        if !self.space.class_of(stream).takes_moves() {
            // It is a stream of another family.
            let Dest::Stream(own) = self.sorted(lpn, Dest::MOVES, tag, now) else { return None };
            let given = self.allocate(plane, own, lpn, tag, now);
            if given.is_some() {
                return given.map(|(ppn, ..)| ppn);
            }
        }
        if self.answers.separation.isolates {
            return None;
        }
        let other = self.space.blocks.stream(self.space.any_for_moves(plane, tag)?);
        self.space.counts.diverted += 1;
        self.allocate(plane, other, lpn, tag, now).map(|(ppn, ..)| ppn)
    }

    /// A block that a job had taken is a candidate again.
    fn give_back(&mut self, block: BlockId) {
        let block = self.space.geometry.superblock_of(block);
        self.space.blocks.end_move(block);
        self.note_victim(block);
    }

    /// The last page has left a block. `None`: the task goes on at once.
    fn emptied(&mut self, id: JobId, block: BlockId, then: Then, now: Time) -> Option<Next> {
        let crew = self.jobs.get(id).crew;
        if crew.of.is_some() {
            return Some(self.leave_crew(id));
        }
        if let Then::Erase(needed_by) = then
            && crew.leads
        {
            if let Task::Collect(collect) = &mut self.jobs.get_mut(id).task {
                *collect = Collect::Yield;
            }
            let superblock = self.space.geometry.superblock_of(block);
            return Some(self.erase_superblock(id, superblock, needed_by));
        }
        if then != Then::Stay && self.space.blocks.pins(block) > 0 {
            return Some(self.jobs.park(id, JobCondition::Pins(block)));
        }
        let job = self.jobs.get_mut(id);
        match &mut job.task {
            Task::Collect(collect) => *collect = Collect::Yield,
            Task::Plan(run) => run.at = PlanStage::Next,
            _ => {}
        }
        match then {
            Then::Stay => None,
            Then::Again => {
                let tag = job.tag;
                self.next_generation(block, tag, now);
                None
            }
            Then::Erase(needed_by) => Some(self.erase(id, block, needed_by)),
        }
    }

    /// Begins to erase a block that is empty.
    fn erase(&mut self, id: JobId, block: BlockId, needed_by: Source) -> Next {
        let mode = match self.next_life(block) {
            NextLife::Erase(mode) => mode,
            NextLife::SecondGeneration => Mode::Wom1, // it could have had one, and was not to
        };
        self.space.widen_for(mode);
        if self.has_pace(id) {
            self.keep_pace(id);
            let (plane, unit) = (self.jobs.get(id).plane, self.space.unit());
            self.jobs.pace.spend(plane, unit);
        }
        let slots = Slots::one(self.space.geometry.ppn(block, 0));
        let job = self.jobs.get_mut(id);
        job.after = After::Free { needed_by };
        job.want(Verb::Erase, slots, mode, Level::default())
    }

    /// A free block in the plane, or in any plane if pages may go to any.
    pub(crate) fn space_in(&self, plane: PlaneId) -> JobCondition {
        JobCondition::Space((!self.answers.anywhere).then_some(plane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::SMALL;
    use nand::Geometry;

    /// The register gives its page to one program. Those that follow bring their own data alone.
    #[test]
    fn data_leave_a_register_once() {
        let jobs = Jobs::<()>::new(&Geometry::new(SMALL).expect("a drive"));
        let plane = PlaneId::from_u32(0);
        let mut job = jobs.job(Task::Collect(Collect::Choose), Tag::gc_for(Source::Host), plane);
        job.data_out = true;
        let slots = Slots::one(Ppn::from_u32(0));
        let routes = [Verb::Read, Verb::Program, Verb::Read, Verb::Program].map(|verb| {
            job.want(verb, slots, Mode::Full, Level::MediumCost);
            job.operation.route
        });
        assert_eq!(routes, [Route::Channel, Route::DataOut, Route::Channel, Route::Channel]);
    }
}

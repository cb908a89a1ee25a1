//! Jobs: work of the FTL's own that takes several flash operations.
//!
//! A job is a state machine. The driver carries out the [`Action`] it asks for and calls
//! [`Ftl::advance`] again when that is done; between two actions anything may happen (the host may
//! overwrite the page being moved, another job may take the space), so each step looks anew. Its
//! task says what it is about and how far it has come; beside it stands the operation that the
//! driver carries out for it, with all that is needed when that is done.

mod collect;
mod copyback;
mod list;
mod load;
mod pace;
mod plan;

pub(crate) use collect::Victims;
pub(crate) use copyback::Copyback;
pub(crate) use list::{Condition, Jobs};
use load::{AHEAD, Load};
pub(crate) use pace::Pace;

use crate::{Coding, Dest, Ftl, FtlView, Hold, Kit, Lpn, Map, NextLife, Pages, StreamId};
use collect::Collect;
use kernel::{Time, newtype_index};
use nand::{BlockId, DieId, Geometry, Mode, PlaneId, Ppn, Source, Store, Tag};
use plan::{At, Run, Squeeze};

type Page<K> = <<K as Kit>::Store as Store>::Page;

newtype_index! {
    /// A running job.
    JobId;
}

/// What a job wants done next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Read this slot; with it [`Job::asks`] says how many of its page.
    Read(Ppn),
    /// Program this slot with the copy of a logical page; with it those that one command programs,
    /// which follow it.
    Program {
        /// The slot.
        ppn: Ppn,
        /// The page.
        lpn: Lpn,
    },
    /// Erase this block.
    Erase(BlockId),
    /// Reprogram this block in place: read its wordlines, but for the top pages that are known
    /// because they were just copied, and program the top page of each.
    Reprogram {
        /// The block.
        block: BlockId,
        /// Its programmed wordlines.
        wordlines: u32,
        /// Top pages that need not be read.
        known: u32,
    },
    /// A block is reclaimed and another is needed: whoever waits goes first, then ask again.
    Yield,
    /// Nothing now: the job comes back through [`Ftl::take_ready`](crate::Ftl::take_ready).
    Wait,
    /// The job is over and its id free.
    Done,
}

/// What a job is about, and how far it has come.
enum Task {
    /// Reclaim blocks of the plane until enough are free.
    Collect(Collect),
    /// Run the steps of a plan.
    Plan(Run),
    /// Write one page anew; `None`: that is under way.
    Rewrite(Option<Lpn>),
}

impl Task {
    /// The pages that it moves.
    #[inline]
    fn pages(&mut self) -> Option<&mut Leaving> {
        match self {
            Self::Collect(Collect::Empty(pages)) => Some(pages),
            Self::Plan(Run { at: At::Pages(pages), .. }) => Some(pages),
            Self::Collect(_) | Self::Plan(_) | Self::Rewrite(_) => None,
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

/// What becomes of a block when its pages have left.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Then {
    /// It stays as it is: the pages were copied for another reason.
    Stay,
    /// It is erased, for whoever needs the space.
    Erase(Source),
    /// It begins its second generation.
    Again,
}

impl Leaving {
    /// The slot of the next of them.
    #[inline]
    fn next(&self, map: &Map) -> Option<u32> {
        let Pages::Some(list) = &self.pages else {
            return map.next_valid(self.block, self.cursor);
        };
        let from = list.partition_point(|&slot| slot < self.cursor);
        list[from..].iter().copied().find(|&slot| map.is_valid(self.block, slot))
    }
}

/// The operation that is carried out for a job.
#[derive(Copy, Clone)]
enum Doing<D> {
    /// None: the task says what comes next.
    Nothing,
    /// A page is being read, to be written elsewhere.
    Reading { from: Ppn, to: Dest },
    /// None: the page that was read needs a slot.
    Placing { from: Ppn, to: Dest, data: D },
    /// A page is being programmed.
    Programming { lpn: Lpn, from: Ppn, to: Ppn, data: D },
    /// Slots of a page, in all planes of its block, are being read, to be written elsewhere: from one on
    /// those that the load says.
    Loading { from: Ppn, to: Dest },
    /// None: the pages that were read need slots.
    Sealing { to: Dest },
    /// Pages are being programmed by one command.
    Writing { to: Ppn },
    /// A block is being erased, for whoever needs the space.
    Erasing { block: BlockId, mode: Mode, needed_by: Source },
    /// A block is being reprogrammed; some of its pages were known.
    Reprogramming { squeeze: Squeeze, known: u32 },
}

/// A running job.
pub struct Job<D> {
    /// Who works, and for whom.
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
    /// What it reads, or programs, stays in the die on the way.
    pub stays: bool,
    /// Slots in a register that the channel has to take out before what it programs.
    pub comes_out: u32,
    doing: Doing<D>,
    task: Task,
    /// Pages that were read, where one command programs several.
    load: Load<D>,
}

impl<D> Job<D> {
    /// The slot that the page being programmed came from; where one command programs several, that of
    /// the `nth`.
    pub fn copied_from(&self, nth: u32) -> Option<Ppn> {
        match self.doing {
            Doing::Programming { from, .. } => Some(from),
            Doing::Writing { .. } => self.load.came_from(nth),
            _ => None,
        }
    }

    /// How many pages a command programs for it, where that may be several.
    pub fn copies(&self) -> u32 {
        self.load.copies()
    }

    /// How many slots it reads.
    pub fn asks(&self) -> u32 {
        if let Doing::Loading { .. } = self.doing { self.load.asked.count_ones() } else { 1 }
    }

    /// How many slots it reads of the page of one of the planes, which are read together. Asked where
    /// a command works in several planes, of a job that reads.
    pub fn asks_of(&self, geometry: &Geometry, plane: u32) -> u32 {
        let per_page = geometry.units().per_page;
        let Doing::Loading { from, .. } = self.doing else {
            unreachable!("a job that reads in several planes fills its load")
        };
        // Bit 0 is the first slot of the page in the first plane.
        let slots =
            u128::from(self.load.asked) << (geometry.split(from).1 % geometry.slots_per_page());
        let page = (1 << per_page) - 1;
        (slots >> (plane * per_page) & page).count_ones()
    }
}

impl<K: Kit> Ftl<K> {
    /// Takes note that the last action of job `id` is done (or that the job starts, or was woken),
    /// and says what it does next.
    pub fn advance(&mut self, id: JobId, now: Time) -> Action {
        if let Some(action) = self.conclude(id, now) {
            return action;
        }
        loop {
            let job = self.jobs.get_mut(id);
            job.doing = Doing::Nothing;
            let job = if job.load.owes() {
                if let Some(action) = self.free_owed(id) {
                    return action;
                }
                self.jobs.get_mut(id)
            } else {
                job
            };
            let action = match job.task.pages() {
                None => self.go_on(id, now),
                Some(pages) => {
                    let &mut Leaving { block, then, dest, .. } = pages;
                    match pages.next(&self.map) {
                        None if !job.load.is_empty() => self.leave(id, block, dest, then, now),
                        None => self.emptied(id, block, then, now),
                        Some(slot) if self.space.unit() > 1 => {
                            pages.cursor = slot;
                            return self.load_page(id, block, slot, dest);
                        }
                        Some(slot) => {
                            pages.cursor = slot;
                            let from = self.space.geometry.ppn(block, slot);
                            if self.has_pace(id) && self.is_ahead(id, 1) {
                                return Action::Yield;
                            }
                            if self.jobs.copyback.is_some() {
                                self.stays(id, from, 1);
                            }
                            return self.read_page(id, from, dest);
                        }
                    }
                }
            };
            if let Some(action) = action {
                if action == Action::Done {
                    self.jobs.remove(id);
                }
                return action;
            }
        }
    }

    /// What a task does that has no pages to move. `None`: it has now.
    #[inline(never)]
    fn go_on(&mut self, id: JobId, now: Time) -> Option<Action> {
        match self.jobs.get_mut(id).task {
            Task::Collect(_) => self.next_victim(id, now),
            Task::Plan(ref mut run) => {
                let mut run = std::mem::take(run);
                let action = self.follow(id, &mut run, now);
                self.jobs.get_mut(id).task = Task::Plan(run);
                action
            }
            Task::Rewrite(lpn) if self.space.unit() > 1 => self.rewrite_several(id, lpn, now),
            Task::Rewrite(lpn) => Some(self.rewrite(id, lpn)),
        }
    }

    /// What follows from the operation that is done. `None`: the task goes on.
    #[inline(always)] // from one place; every page that moves comes by twice
    fn conclude(&mut self, id: JobId, now: Time) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        let (tag, plane) = (job.tag, job.plane);
        let (from, to, data) = match job.doing {
            Doing::Nothing => return None,
            Doing::Reading { from, to } => {
                if let Task::Plan(run) = &mut job.task {
                    run.copied += 1;
                }
                let data = self.space.read(from, tag.source);
                self.unpin(from);
                (from, to, data)
            }
            Doing::Placing { from, to, data } => (from, to, data),
            Doing::Programming { lpn, to, data, .. } => {
                self.jobs.counts.moved[tag.source] += 1;
                self.program_done(lpn, to, data, tag, now);
                return None;
            }
            Doing::Loading { from, to } => return self.loaded(id, from, to, now),
            Doing::Sealing { to } => return self.program_load(id, to, false, now),
            Doing::Writing { to } => {
                self.written(id, to, now);
                return None;
            }
            Doing::Erasing { block, mode, needed_by } => {
                self.space.erase(block, mode, tag.source);
                if self.jobs.copyback.is_some() {
                    self.forget_copies(block);
                }
                if tag.source == Source::Gc {
                    self.jobs.counts.gc_erase_by_demand[needed_by] += self.space.flash_blocks();
                }
                self.free(block, tag, now);
                self.balance(block, tag, now);
                let job = self.jobs.get_mut(id);
                let begun = matches!(job.task, Task::Collect(Collect::Empty(_)));
                return if begun && !job.load.owes() { self.goes_on(id) } else { None };
            }
            Doing::Reprogramming { squeeze, known } => {
                self.reprogrammed(squeeze, known, tag.source, now);
                return None;
            }
        };
        let (block, slot) = self.space.geometry.split(from);
        let stays = self.jobs.copyback.is_some() && self.jobs.get(id).stays;
        if !self.map.is_valid(block, slot) {
            // The host was faster: the copy is stale.
            self.jobs.counts.dropped += 1;
            if stays {
                self.leaves_the_register(id);
            }
            return None;
        }
        let lpn = self.map.owner(from).expect("a valid slot has an owner");
        let Some(ppn) = self.place_move(plane, lpn, to, tag, now) else {
            return self.without_slot(id, from, to, data);
        };
        if stays {
            self.copies_back(id, from, ppn);
        }
        self.commit_move(lpn, from, ppn, tag, now);
        self.jobs.get_mut(id).doing = Doing::Programming { lpn, from, to: ppn, data };
        Some(Action::Program { ppn, lpn })
    }

    /// Begins to write a page anew, unless nothing maps it; `None`: it was written, or dropped.
    fn rewrite(&mut self, id: JobId, lpn: Option<Lpn>) -> Action {
        let Some(from) = lpn.and_then(|lpn| self.find(lpn)) else { return Action::Done };
        let action = self.read_page(id, from, Dest::Stream(StreamId::HOST));
        if action != Action::Wait {
            self.jobs.get_mut(id).task = Task::Rewrite(None);
        }
        action
    }

    /// Begins to read a page that is to be written elsewhere, or waits: it may still be on its way to
    /// the cells, in a block that is not closed.
    #[inline(always)] // every page that moves comes by
    fn read_page(&mut self, id: JobId, from: Ppn, to: Dest) -> Action {
        let block = self.space.geometry.block_of(from);
        if !self.space.array().is_written(from) {
            return self.jobs.park(id, Condition::Program(block));
        }
        self.jobs.get_mut(id).doing = Doing::Reading { from, to };
        self.space.blocks.pin(block);
        Action::Read(from)
    }

    /// Takes a block whose pages are to leave, so that it can be erased, out of the candidates.
    fn begin_reclaim(&mut self, block: BlockId, dest: Dest, needed_by: Source) -> Leaving {
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

    /// Decides what a block that is being emptied becomes. For a second generation only those pages
    /// move that it needs the place of.
    #[cold]
    fn choose_life(&mut self, leaving: &mut Leaving) {
        let block = leaving.block;
        if self.next_life(block) != NextLife::SecondGeneration
            || self.space.condemned.contains(&block)
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

    /// There is no slot for a page that was read. `None`: it is dropped.
    #[cold]
    fn without_slot(&mut self, id: JobId, from: Ppn, to: Dest, data: Page<K>) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        let plane = job.plane;
        job.doing = Doing::Nothing;
        match &mut job.task {
            Task::Collect(_) => job.doing = Doing::Placing { from, to, data },
            // The block may be erased meanwhile, so what was read is no longer worth anything.
            Task::Plan(run) => {
                if let At::Pages(Leaving {
                    block, dest, then: Then::Erase(_) | Then::Again, ..
                }) = run.at
                {
                    run.at = At::Retake(block, dest);
                    // The space that it waits for may lie in the block that it empties: that must not
                    // be out of garbage collection's reach.
                    self.give_back(block);
                }
            }
            Task::Rewrite(_) => {
                self.jobs.counts.dropped += 1;
                return None;
            }
        }
        Some(self.jobs.park(id, self.space_in(plane)))
    }

    /// A slot for a page that a job moves; where one command programs several, the first for them.
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
        if tag.source == Source::Gc && stream != StreamId::GC {
            // A policy's stream has no room, and garbage collection must go on: it has its reserve.
            return self.allocate(plane, StreamId::GC, lpn, tag, now).map(|(ppn, ..)| ppn);
        }
        // The plane is full. Reclaiming always has its reserve; anything else may go elsewhere,
        // unless every plane needs its spare blocks for the pages that must come back to it.
        let mut others = self.planes_from(plane).skip(1);
        others.find_map(|other| self.allocate(other, stream, lpn, tag, now)).map(|(ppn, ..)| ppn)
    }

    /// A block that a job had taken is a candidate again.
    fn give_back(&mut self, block: BlockId) {
        self.space.blocks.end_move(block);
        self.feed(block);
    }

    /// The last page has left a block. `None`: the task goes on at once.
    fn emptied(&mut self, id: JobId, block: BlockId, then: Then, now: Time) -> Option<Action> {
        if then != Then::Stay && self.space.blocks.pins(block) > 0 {
            return Some(self.jobs.park(id, Condition::Pins(block)));
        }
        let job = self.jobs.get_mut(id);
        match &mut job.task {
            Task::Collect(collect) => *collect = Collect::Yield,
            Task::Plan(run) => run.at = At::Next,
            Task::Rewrite(_) => {}
        }
        match then {
            Then::Stay => None,
            Then::Again => {
                let tag = job.tag;
                self.begin_again(block, tag, now);
                None
            }
            Then::Erase(needed_by) => Some(self.erase(id, block, needed_by)),
        }
    }

    /// Begins to erase a block that is empty.
    fn erase(&mut self, id: JobId, block: BlockId, needed_by: Source) -> Action {
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
        self.jobs.get_mut(id).doing = Doing::Erasing { block, mode, needed_by };
        Action::Erase(block)
    }

    /// A free block in the plane, or in any where pages may go to any.
    pub(crate) fn space_in(&self, plane: PlaneId) -> Condition {
        Condition::Space((!self.answers.anywhere).then_some(plane))
    }
}

//! Jobs: work of the FTL's own that takes several flash operations.
//!
//! A job is a state machine. The driver carries out the [`Action`] it asks for and calls
//! [`Ftl::advance`] again when that is done; between two actions anything may happen (the host may
//! overwrite the page being moved, another job may take the space), so each step looks anew. Its
//! task says what it is about and how far it has come; beside it stands the operation that the
//! driver carries out for it, with all that is needed when that is done.

mod collect;
mod list;
mod pages;
mod plan;
mod start;

pub(crate) use collect::Victims;
pub(crate) use list::{Condition, Jobs};

use crate::{Dest, Ftl, Hold, Kit, Lpn, StreamId};
use collect::Collect;
use kernel::{Time, newtype_index};
use nand::{BlockId, DieId, Mode, PlaneId, Ppn, Source, Store, Tag};
use pages::{Leaving, Next};
use plan::{At, Run, Squeeze};

type Page<K> = <<K as Kit>::Store as Store>::Page;

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

    /// They have moved.
    fn end_pages(&mut self) {
        match self {
            Self::Collect(collect) => *collect = Collect::Yield,
            Self::Plan(run) => run.at = At::Next,
            Self::Rewrite(_) => {}
        }
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
    /// How it shares its die.
    pub hold: Hold,
    doing: Doing<D>,
    task: Task,
}

impl<D> Job<D> {
    /// The slot that the page being programmed came from.
    pub fn copied_from(&self) -> Option<Ppn> {
        if let Doing::Programming { from, .. } = self.doing { Some(from) } else { None }
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
            let action = match job.task.pages() {
                Some(pages) => match pages.next(&self.map, &self.space) {
                    Next::Page { block, from, to } => {
                        job.doing = Doing::Reading { from, to };
                        self.space.blocks.pin(block);
                        return Action::Read(from);
                    }
                    Next::Unwritten(block) => Some(self.wait(id, Condition::Program(block))),
                    Next::None { block, then } => self.emptied(id, block, then, now),
                },
                None => self.go_on(id, now),
            };
            match action {
                None => {}
                Some(Action::Done) => {
                    self.jobs.remove(id);
                    return Action::Done;
                }
                Some(action) => return action,
            }
        }
    }

    /// What a task does that has no pages to move. `None`: it has now.
    #[inline(never)]
    fn go_on(&mut self, id: JobId, now: Time) -> Option<Action> {
        match &mut self.jobs.get_mut(id).task {
            Task::Collect(Collect::Yield) => self.next_victim(id, true, now),
            Task::Collect(_) => self.next_victim(id, false, now),
            Task::Plan(run) => {
                let run = std::mem::take(run);
                self.follow(id, run, now)
            }
            Task::Rewrite(lpn) => {
                let lpn = *lpn;
                Some(self.rewrite(id, lpn))
            }
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
                self.program_done(lpn, to, data, tag, now);
                return None;
            }
            Doing::Erasing { block, mode, needed_by } => {
                self.space.erase(block, mode, tag.source);
                if tag.source == Source::Gc {
                    self.jobs.counts.gc_erase_by_demand[needed_by] += 1;
                }
                self.free(block, tag, now);
                self.balance(block, tag, now);
                return None;
            }
            Doing::Reprogramming { squeeze, known } => {
                self.reprogrammed(squeeze, known, tag.source, now);
                return None;
            }
        };
        let (block, slot) = self.space.geometry.split(from);
        if !self.map.is_valid(block, slot) {
            // The host was faster: the copy is stale.
            self.jobs.counts.dropped += 1;
            return None;
        }
        let lpn = self.map.owner(from).expect("a valid slot has an owner");
        let Some(ppn) = self.place_move(plane, lpn, to, tag, now) else {
            return self.without_slot(id, from, to, data);
        };
        self.commit_move(lpn, from, ppn, tag, now);
        self.jobs.get_mut(id).doing = Doing::Programming { lpn, from, to: ppn, data };
        Some(Action::Program { ppn, lpn })
    }

    /// Begins to write a page anew, unless nothing maps it; `None`: it was written, or dropped.
    pub(super) fn rewrite(&mut self, id: JobId, lpn: Option<Lpn>) -> Action {
        let Some(from) = lpn.and_then(|lpn| self.find(lpn)) else { return Action::Done };
        let block = self.space.geometry.block_of(from);
        if !self.space.array().is_written(from) {
            return self.wait(id, Condition::Program(block));
        }
        let job = self.jobs.get_mut(id);
        job.task = Task::Rewrite(None);
        job.doing = Doing::Reading { from, to: Dest::Stream(StreamId::HOST) };
        self.space.blocks.pin(block);
        Action::Read(from)
    }

    /// A job waits.
    #[cold]
    fn wait(&mut self, id: JobId, until: Condition) -> Action {
        self.jobs.park(id, until);
        Action::Wait
    }

    /// A free block in the plane, or in any where pages may go to any.
    pub(crate) fn space_in(&self, plane: PlaneId) -> Condition {
        Condition::Space((!self.answers.anywhere).then_some(plane))
    }
}

//! Jobs: work of the FTL's own that takes several flash operations.
//!
//! A job is a state machine. The driver carries out the [`Action`] it asks for and calls
//! [`Ftl::advance`] again when that is done; between two actions anything may happen (the host may
//! overwrite the page being moved, another job may take the space), so each step looks anew.

mod advance;
mod reclaim;
mod space;
mod start;

use crate::map::Lpn;
use crate::plan::{Dest, Hold, Step};
use crate::stream::StreamId;
use kernel::newtype_index;
use nand::{BlockId, DieId, Mode, PlaneId, Ppn, Source, Tag};
use slab::Slab;

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
    hold: Hold,
    phase: Phase,
    steps: Vec<Step>,
    /// How often the block of each step was erased when the plan was made.
    lives: Vec<u32>,
    step: usize,
    /// Pages that the last copying step has read.
    copied: u32,
    /// The block that pages leave.
    block: Option<BlockId>,
    /// Erase it in the end.
    reclaim: bool,
    /// Instead of an erase it begins its second generation.
    again: bool,
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
    /// Who needs the space of the victim.
    needed_by: Source,
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
            hold: Hold::Place,
            phase: Phase::Next,
            steps: Vec::new(),
            lives: Vec::new(),
            step: 0,
            copied: 0,
            block: None,
            reclaim: false,
            again: false,
            list: None,
            cursor: 0,
            dest: Dest::Stream(StreamId::GC),
            lpn: None,
            from: None,
            to: None,
            data: None,
            next_mode: Mode::Full,
            needed_by: tag.demand,
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

    /// How it shares its die.
    pub fn hold(&self) -> Hold {
        self.hold
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

/// Running jobs.
pub(crate) struct Jobs<D>(Slab<Job<D>>);

impl<D> Jobs<D> {
    pub(crate) fn new() -> Self {
        Self(Slab::new())
    }

    fn add(&mut self, job: Job<D>) -> JobId {
        JobId::from_u32(self.0.insert(job) as u32)
    }

    fn remove(&mut self, id: JobId) {
        self.0.remove(id.as_u32() as usize);
    }

    #[inline]
    pub(crate) fn get(&self, id: JobId) -> &Job<D> {
        &self.0[id.as_u32() as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: JobId) -> &mut Job<D> {
        &mut self.0[id.as_u32() as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Job<D>> {
        self.0.iter().map(|(_, job)| job)
    }

    pub(crate) fn running(&self) -> usize {
        self.0.len()
    }
}

//! Plans: the steps with which a policy answers. The FTL runs them as resumable jobs.

use crate::stream::{Role, StreamId};
use nand::{BlockId, Source};

/// Where moved pages go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dest {
    /// The frontier of a stream, in the plane of the block that they leave.
    Stream(StreamId),
    /// Behind what a partly written block already holds.
    Block(BlockId),
    /// A block opened for this step from the stream's pool, which stays partly written and is
    /// reported by [`Watch::on_open`]; the pages that do not fit go to the stream's frontier, and
    /// so do all of them when the stream has no block to lend.
    Fresh(StreamId),
}

/// Pages of a block, by slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pages {
    /// Every valid one.
    All,
    /// These, in ascending order; those no longer valid when their turn comes are skipped.
    Some(Vec<u16>),
}

/// One thing that a policy wants done. The FTL runs plans as resumable jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Moves pages of a block.
    Copy {
        /// The block they leave.
        from: BlockId,
        /// Which of them.
        pages: Pages,
        /// Where they go.
        to: Dest,
    },
    /// Moves what is valid, then erases (or re-uses) the block.
    Reclaim {
        /// The block.
        block: BlockId,
        /// Where its valid pages go.
        to: Dest,
    },
    /// In-place reprogramming to low density. The pages that it loses must have been copied by the
    /// step before. The step is dropped if some are valid when its turn comes, or if
    /// [`ReadDisturb::may_reprogram`] says no.
    Reprogram {
        /// The block.
        block: BlockId,
        /// Extra wear of this life, in thousandths of a cycle.
        surcharge: u16,
        /// The role that it has afterwards.
        role: Role,
        /// Whether its read counter goes on, instead of beginning anew.
        keep_reads: bool,
    },
    /// [`Step::Reclaim`], if the block is at its read limit still: what a plan ends with whose
    /// steps may be dropped, so that the reads which wait for it are served.
    ReclaimAtLimit {
        /// The block.
        block: BlockId,
        /// Where its valid pages go.
        to: Dest,
    },
    /// Gives the block another role.
    SetRole(BlockId, Role),
    /// Sets the block's read counter to zero.
    ResetReads(BlockId),
    /// Makes a partly written block complete: its remaining slots are given up, and the plan waits
    /// until what was given away before is programmed.
    Seal(BlockId),
}

/// How a job in the foreground shares its die.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub enum Hold {
    /// It keeps the place in the line at which it came; the order policy chooses between two of
    /// its operations.
    #[default]
    Place,
    /// It keeps the die from one operation to the next, until it needs another or has to wait.
    Die,
    /// After each operation it goes to the end of the line.
    Nothing,
}

/// The steps that a policy returns, and how they are to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What its flash operations count as: that of the family that is asked.
    pub(crate) source: Source,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Only in idle time, giving way to everything else between two flash operations.
    pub background: bool,
    /// How it shares its die, if it is not for idle time only.
    pub hold: Hold,
}

impl Plan {
    /// A plan without steps; its operations count as `source`.
    pub fn of(source: Source) -> Self {
        Self { source, steps: Vec::new(), background: false, hold: Hold::Place }
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

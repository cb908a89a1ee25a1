//! The vocabulary of flash operations.

use crate::{Source, keys};
use kernel::{Dur, Prio};

/// Why an operation happens: who does it, who made it necessary, and how urgent it is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Tag {
    /// The source that carries the operation out.
    pub source: Source,
    /// The source that made it necessary. For GC, it is the source whose write needed the space;
    /// otherwise it is the source itself.
    pub demand: Source,
    /// How urgent it is.
    pub prio: Prio,
}

impl Tag {
    /// An operation that `source` does for itself.
    pub const fn of(source: Source) -> Self {
        Self { source, demand: source, prio: Prio::Normal }
    }

    /// Whether the operation gives space back: collection and folding go on when nothing else may
    /// write.
    #[inline]
    pub fn reclaims(self) -> bool {
        matches!(self.source, Source::Gc | Source::Fold)
    }

    /// Garbage collection that a write of `demand` made necessary.
    pub const fn gc_for(demand: Source) -> Self {
        Self { source: Source::Gc, demand, prio: Prio::Normal }
    }
}

keys! {
    /// The cost of programming a page. High cost means a fine step: slow to write, fast to read.
    pub enum Level {
        /// Fine steps.
        HighCost = "high";
        /// The traditional step.
        MediumCost = "medium";
        /// Coarse steps.
        LowCost = "low";
    }
    default MediumCost;
}

keys! {
    /// The layout of bits on the cells of a block. It decides how many slots the block has and
    /// which commands the array allows.
    pub enum Mode {
        /// Every page holds a logical page.
        Full = "full";
        /// Guard levels: the most significant pages hold no data.
        LowDensity = "low";
        /// First generation of a write-once-memory code.
        Wom1 = "wom1";
        /// Second generation, programmed over the first without an erase.
        Wom2 = "wom2";
        /// One bit in each cell, in a block whose cells can hold several.
        Slc = "slc";
    }
    default Full;
}

/// The kind of work of a die.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Verb {
    /// Sense pages and send them out.
    Read,
    /// Take pages in and program them.
    Program,
    /// Erase a block.
    Erase,
    /// Reprogram a block in place, which raises levels only: read its wordlines, but for the top pages
    /// that are known, and program the top page of each.
    Reprogram,
}

/// One command to a die: its operations, their source, and its times. Its planes work together, so
/// the array works as long as the longest operation takes. Pages cross the channel one after the
/// other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The kind of work.
    pub verb: Verb,
    /// The reason for it.
    pub source: Source,
    /// Time in the array.
    pub array: Dur,
    /// The part of `array` that a plain read takes. The rest corrects errors.
    pub plain: Dur,
    /// Mapping units that cross the channel before the work of the array.
    pub pages_in: u32,
    /// Mapping units that cross the channel after the work of the array.
    pub pages_out: u32,
    /// The part of `pages_out` that a plain read would not send.
    pub extra_out: u32,
}

impl Command {
    /// A command that is in the array for a time and sends nothing.
    #[inline]
    pub const fn new(verb: Verb, source: Source, array: Dur) -> Self {
        Self { verb, source, array, plain: array, pages_in: 0, pages_out: 0, extra_out: 0 }
    }
}

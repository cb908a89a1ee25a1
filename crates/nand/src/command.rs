//! The vocabulary of flash operations.

use kernel::{Dur, Prio};
use std::ops::{Index, IndexMut};

/// Who asked for a flash operation. Every operation has one; sums over them are exact.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Source {
    /// The host: its reads and writes, and the reads of read-modify-write.
    Host,
    /// Garbage collection.
    Gc,
    /// Wear levelling.
    Wear,
    /// Read refresh.
    Refresh,
    /// Re-writes that a cost policy asked for.
    Rewrite,
    /// The map's own pages.
    Map,
}

impl Source {
    /// All sources, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Host, Self::Gc, Self::Wear, Self::Refresh, Self::Rewrite, Self::Map];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gc => "gc",
            Self::Wear => "wear",
            Self::Refresh => "refresh",
            Self::Rewrite => "rewrite",
            Self::Map => "map",
        }
    }
}

/// One value for each source.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct BySource<T>(pub [T; 6]);

impl<T> Index<Source> for BySource<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, s: Source) -> &T {
        &self.0[s as usize]
    }
}

impl<T> IndexMut<Source> for BySource<T> {
    #[inline(always)]
    fn index_mut(&mut self, s: Source) -> &mut T {
        &mut self.0[s as usize]
    }
}

impl BySource<u64> {
    /// The sum over all sources.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Why an operation happens: who does it, who made it necessary, and how urgent it is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Tag {
    /// Who does it.
    pub source: Source,
    /// Who made it necessary: for GC, whose write needed the space. Otherwise the source itself.
    pub demand: Source,
    /// How urgent it is.
    pub prio: Prio,
}

impl Tag {
    /// An operation that `source` does for itself.
    pub const fn of(source: Source) -> Self {
        Self { source, demand: source, prio: Prio::Normal }
    }

    /// Garbage collection that a write of `demand` made necessary.
    pub const fn gc_for(demand: Source) -> Self {
        Self { source: Source::Gc, demand, prio: Prio::Normal }
    }
}

/// What a page costs to program. High cost means a fine step: slow to write, quick to read.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Level {
    /// Fine steps.
    High,
    /// The traditional step.
    #[default]
    Medium,
    /// Coarse steps.
    Low,
}

impl Level {
    /// All levels, in the order of reports.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// The name in drive files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// How bits lie on the cells of a block; decides how many slots it has and what the referee allows.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Every page holds a logical page.
    #[default]
    Full,
    /// Guard levels: the most significant pages hold no data.
    Low,
    /// First generation of a write-once-memory code.
    Wom1,
    /// Second generation, programmed over the first without an erase.
    Wom2,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Full, Self::Low, Self::Wom1, Self::Wom2];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Low => "low",
            Self::Wom1 => "wom1",
            Self::Wom2 => "wom2",
        }
    }
}

/// What a die does.
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

/// One command to a die: what it does, for whom, and what that takes. Its planes work together, so
/// the array is as long at work as the longest of them; pages cross the channel one after the other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// What is done.
    pub verb: Verb,
    /// Who asked for it.
    pub source: Source,
    /// Time in the array.
    pub array: Dur,
    /// What of it plain reads take; the rest goes into correcting errors.
    pub plain: Dur,
    /// Mapping units that cross the channel before the array is at work.
    pub pages_in: u32,
    /// Mapping units that cross the channel after it.
    pub pages_out: u32,
    /// Of these, what plain reads do not send.
    pub extra_out: u32,
}

impl Command {
    /// A command that is in the array for a time and sends nothing.
    #[inline]
    pub const fn new(verb: Verb, source: Source, array: Dur) -> Self {
        Self { verb, source, array, plain: array, pages_in: 0, pages_out: 0, extra_out: 0 }
    }
}

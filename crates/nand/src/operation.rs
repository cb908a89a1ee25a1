//! A flash operation as a value. Its author builds it, a device carries it out and returns it with
//! its outcome.

use crate::{Level, Mode, Ppn, Source, Tag, Verb};
use kernel::{Prio, Time};

/// The slots of one operation: those from `first` on that lie in its page or its program unit.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Slots {
    /// The first slot.
    pub first: Ppn,
    /// Slots from the first to the last, both included.
    span: u16,
    /// Slots between them that are left out; bit `n` stands for the `n`th after the first.
    holes: u64,
}

impl Slots {
    /// A single slot.
    #[inline]
    pub const fn one(first: Ppn) -> Self {
        Self { first, span: 1, holes: 0 }
    }

    /// `count` slots that follow one another.
    #[inline]
    pub const fn run(first: Ppn, count: u32) -> Self {
        Self { first, span: count as u16, holes: 0 }
    }

    /// The first slot and others of its page: bit `n` stands for the `n`th after the first.
    ///
    /// # Panics
    ///
    /// Bit 0 is not set.
    #[inline]
    pub const fn of_page(first: Ppn, bits: u64) -> Self {
        assert!(bits & 1 == 1, "the first slot is one of them");
        let span = u64::BITS - bits.leading_zeros();
        Self { first, span: span as u16, holes: !bits & u64::MAX >> (u64::BITS - span) }
    }

    /// How many there are.
    #[inline]
    pub const fn count(self) -> u32 {
        self.span as u32 - self.holes.count_ones()
    }

    /// The slots of one page, as [`Slots::of_page`] takes them.
    #[inline]
    pub const fn bits(self) -> u64 {
        debug_assert!(self.span as u32 <= u64::BITS);
        u64::MAX >> (u64::BITS - self.span as u32) & !self.holes
    }

    /// One after the other.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Ppn> {
        let is_in = move |n: &u32| *n >= u64::BITS || self.holes >> n & 1 == 0;
        let first = self.first.as_u32();
        (0..u32::from(self.span)).filter(is_in).map(move |n| Ppn::from_u32(first + n))
    }
}

/// The route of an operation's data.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// Over the channel.
    Channel,
    /// The data stay in the die: a read leaves them in the page register, a program takes them from there.
    Copyback,
    /// A read left data in the page register, and this program does not take them from there. They
    /// leave over the channel before the data of the program enter.
    DataOut,
}

/// A flash operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The kind of work.
    pub verb: Verb,
    /// The place. For an erase it is the first slot of the block. For a reprogramming it is one
    /// slot for each programmed wordline, from the first on. `None` is a read of a page without a
    /// place, which takes the time of a page.
    pub slots: Option<Slots>,
    /// For a reprogramming, the top pages that need not be read because they have just been copied.
    pub known: u16,
    /// The way of the data.
    pub route: Route,
    /// The source, who made it necessary, and how urgent it is.
    pub tag: Tag,
    /// The mode of the block, known when the operation begins. For an erase, it is the mode that
    /// the block has next.
    pub mode: Mode,
    /// The level at which the page was programmed or is being programmed. It is known when the
    /// operation begins.
    pub level: Level,
}

impl Operation {
    /// An operation over the channel on pages of a plain block.
    #[inline]
    pub const fn new(verb: Verb, slots: Option<Slots>, tag: Tag, level: Level) -> Self {
        Self { verb, slots, known: 0, route: Route::Channel, tag, mode: Mode::Full, level }
    }

    /// The first of its slots.
    #[inline]
    pub fn slot(&self) -> Option<Ppn> {
        self.slots.map(|slots| slots.first)
    }

    /// The source.
    #[inline]
    pub fn source(&self) -> Source {
        self.tag.source
    }
}

/// The outcome of an operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// The die reports that it could not be carried out.
    Failed,
}

/// One kind of waiting operation on a die: the first of its lane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OpView {
    /// The work.
    pub op: OpKind,
    /// How urgent it is.
    pub prio: Prio,
    /// The order in which operations (or the jobs they belong to) came to the die.
    pub seq: u64,
}

/// How long an operation has waited.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Waited {
    /// The time at which it began to wait, for the die or for an earlier need: a block, say. An
    /// operation of a job: when the job asked for it.
    pub since: Time,
    /// Host reads that the die has begun since this operation became the first one that is not a
    /// read. It is 0 for reads, and for operations behind another one that is not a read.
    pub passed: u32,
}

/// The lanes of a die, by the kind of waiting operations.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// A host read.
    Read,
    /// A host write.
    Write,
    /// A foreground job: garbage collection, wear levelling, refresh.
    Job,
}

//! The accounts: who flash operations are done for, and where the time of requests goes.
//!
//! A mechanism that needs an account of its own declares it here and nowhere else. Counters, results,
//! tables, pages and documentation take their lists from here.

use crate::{Each, Key, keys};
use std::iter::Sum;
use std::ops::AddAssign;

keys! {
    /// The source of a flash operation. Every operation has one; sums over them are exact.
    pub enum Source {
        /// The host: its reads and writes, and the reads of read-modify-write.
        Host = "host";
        /// Garbage collection.
        Gc = "gc";
        /// Wear levelling.
        Wear = "wear";
        /// Read refresh.
        Refresh = "refresh";
        /// Re-writes that a cost policy asked for.
        Rewrite = "rewrite";
        /// The map's own pages.
        Map = "map";
        /// Parity of the units of a stripe.
        Parity = "parity";
        /// Folding: data of the SLC cache moves to blocks at full density.
        Fold = "fold";
    }
}

keys! {
    /// The parts of a request's time, besides waiting behind flash operations of each [`Source`].
    pub enum Cause {
        /// Held back by the throttle.
        Throttle = "throttle", "throttled";
        /// On the channel, or waiting for it.
        Bus = "bus", "on the channel";
        /// In the flash array, as long as a plain read, a program or an erase takes.
        Array = "array", "in the flash array";
        /// Sensing and sending beyond a plain read, to correct errors; 0 without the model of the cells.
        Ecc = "ecc", "in error correction";
        /// Into the write buffer or out of it, or waiting for that; 0 where it takes no time.
        Buffer = "buffer", "at the write buffer";
        /// On the link to the host, or waiting for it; 0 where it takes no time.
        Link = "link", "on the link";
        /// In the controller, or waiting for one of its cores; 0 where it takes no time.
        Controller = "controller", "in the controller";
        /// While the die suspended an operation or resumed it; 0 where dies do not.
        Suspend = "suspend", "suspended";
    }
    reserved "map";
}

/// One part of the time of a request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Waiting behind flash operations of a source.
    Queue(Source),
    /// Any other cause.
    Cause(Cause),
}

impl Part {
    /// The cause that the waits behind each source follow in results.
    pub const BEFORE_QUEUE: Cause = Cause::Throttle;

    /// All of them, in the order of results.
    pub fn all() -> impl Iterator<Item = Self> {
        Cause::ALL.into_iter().flat_map(|cause| {
            let waits = if cause == Self::BEFORE_QUEUE { &Source::ALL[..] } else { &[] };
            std::iter::once(Self::Cause(cause)).chain(waits.iter().copied().map(Self::Queue))
        })
    }

    /// The column of tables, in ns.
    pub fn column(self) -> String {
        match self {
            Self::Queue(source) => format!("queue_{}_ns", source.name()),
            Self::Cause(cause) => format!("{}_ns", cause.name()),
        }
    }

    /// The keys of results that lead to it: `queue.gc`.
    pub fn path(self) -> String {
        match self {
            Self::Queue(source) => format!("queue.{}", source.name()),
            Self::Cause(cause) => cause.name().to_owned(),
        }
    }

    /// Words for people.
    pub fn label(self) -> String {
        match self {
            Self::Queue(source) => format!("waiting behind {}", source.label()),
            Self::Cause(cause) => cause.label().to_owned(),
        }
    }

    /// One sentence on which time this is.
    pub fn about(self) -> String {
        match self {
            Self::Queue(source) => {
                format!("Waiting behind flash operations of the source `{}`.", source.name())
            }
            Self::Cause(cause) => cause.about().to_owned(),
        }
    }
}

/// A value for each part of the time of requests; mostly time.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Parts<T> {
    /// Waiting behind flash operations of each source.
    pub queue: Each<Source, T>,
    /// Every other cause.
    pub causes: Each<Cause, T>,
}

impl<T> Parts<T> {
    /// The value of a part.
    #[inline]
    pub fn of(&self, part: Part) -> &T {
        match part {
            Part::Queue(source) => &self.queue[source],
            Part::Cause(cause) => &self.causes[cause],
        }
    }

    /// The values, in no order.
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.queue.values().chain(self.causes.values())
    }

    /// Something of each value.
    pub fn map<U>(&self, mut of: impl FnMut(&T) -> U) -> Parts<U> {
        Parts { queue: self.queue.map(&mut of), causes: self.causes.map(of) }
    }

    /// The sum of all parts.
    pub fn sum<S: Sum<T>>(&self) -> S
    where
        T: Copy,
    {
        self.values().copied().sum()
    }
}

impl<T: AddAssign + Copy> AddAssign<&Self> for Parts<T> {
    #[inline]
    fn add_assign(&mut self, other: &Self) {
        self.queue += &other.queue;
        self.causes += &other.causes;
    }
}

/// Reserved names: results have a place for them, but the list has no key yet.
pub fn reserved<K: Key>() -> impl Iterator<Item = &'static str> {
    let known = |name: &str| K::ALL.iter().any(|key| key.name() == name);
    K::RESERVED.iter().copied().filter(move |name| !known(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_one_place_and_one_column() {
        let mut columns: Vec<_> = Part::all().map(Part::column).collect();
        assert_eq!(columns.len(), Source::COUNT + Cause::COUNT);
        assert_eq!(columns[..2], ["throttle_ns", "queue_host_ns"]);
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), Source::COUNT + Cause::COUNT);
        let mut parts = Parts::<u64>::default();
        parts.queue[Source::Gc] = 5;
        parts.causes[Cause::Bus] = 7;
        let other = parts;
        parts += &other;
        let of: Vec<_> = Part::all().filter(|part| *parts.of(*part) > 0).collect();
        assert_eq!(of, [Part::Queue(Source::Gc), Part::Cause(Cause::Bus)]);
        assert_eq!((parts.sum::<u64>(), parts.map(|n| n / 2).sum::<u64>()), (24, 12));
    }

    #[test]
    fn a_name_is_reserved_until_a_key_has_it() {
        keys! {
            /// A list in which a reserved name has become a key.
            enum Come {
                /// Has come.
                Fold = "fold";
            }
            reserved "fold", "parity";
        }
        assert_eq!(reserved::<Come>().collect::<Vec<_>>(), ["parity"]);
    }
}

//! The lists of names in a result: a value stands beside each of them.

use super::shape::{Each, Entry, Name, NameList, Names, Since};
use crate::sim::Class;
use nand::{BySource, Level, Source};
use policies::Family;

/// Sources that `floatgate.run/2` has a place for and that no drive has yet: moves out of an SLC
/// cache, and parity.
const TO_COME: [(&str, &str); 2] = [
    ("fold", "Moves out of an SLC cache. No drive has one yet."),
    ("parity", "Parity over dies. No drive has it yet."),
];

/// The sources of `floatgate.run/1`.
const OF_THE_FIRST: [&str; 6] = ["host", "gc", "wear", "refresh", "rewrite", "map"];

/// The sources of flash operations.
pub(crate) struct Sources;

impl Names for Sources {
    fn list() -> NameList {
        let known = Source::ALL.into_iter().map(|source| (source.name(), meaning(source)));
        let names = known.chain(TO_COME).map(|(name, about)| {
            let first = OF_THE_FIRST.contains(&name);
            Name { key: name, about, since: if first { Since::Start } else { Since::LaterZero } }
        });
        NameList { of: "source", names: names.collect() }
    }
}

fn meaning(source: Source) -> &'static str {
    match source {
        Source::Host => "The host: its reads and writes, and the reads of read-modify-write.",
        Source::Gc => "Garbage collection.",
        Source::Wear => "Wear levelling.",
        Source::Refresh => "Refresh of blocks that were read too often.",
        Source::Rewrite => "Re-writes that a cost policy asks for.",
        Source::Map => "The pages of the map.",
    }
}

/// The sources, and all of them together.
pub(crate) struct SourcesAndTotal;

impl Names for SourcesAndTotal {
    fn list() -> NameList {
        let mut names = Sources::list().names;
        names.push(total());
        NameList { of: "source or total", names }
    }
}

fn total() -> Name {
    Name { key: "total", about: "The sum of all others.", since: Since::Start }
}

/// A value for each source.
pub(crate) fn of_sources<T: Entry + Default>(value: impl Fn(Source) -> T) -> Each<Sources, T> {
    let to_come = TO_COME.iter().map(|_| T::default());
    Each::new(Source::ALL.into_iter().map(value).chain(to_come))
}

/// Counts by source, with their sum.
pub(crate) fn by_source(counts: &BySource<u64>) -> Each<SourcesAndTotal, u64> {
    let to_come = TO_COME.iter().map(|_| 0);
    let known = Source::ALL.into_iter().map(|source| counts[source]);
    Each::new(known.chain(to_come).chain([counts.total()]))
}

/// The sources whose writes can force garbage collection.
pub(crate) struct Demands;

const DEMANDS: [Source; 5] =
    [Source::Host, Source::Wear, Source::Refresh, Source::Rewrite, Source::Map];

impl Names for Demands {
    fn list() -> NameList {
        let name = |source: Source| Name {
            key: source.name(),
            about: meaning(source),
            since: Since::Start,
        };
        let names = DEMANDS.into_iter().map(name).chain([total()]);
        NameList { of: "demand or total", names: names.collect() }
    }
}

/// Counts by the source that made an operation necessary.
pub(crate) fn by_demand(counts: &BySource<u64>) -> Each<Demands, u64> {
    Each::new(DEMANDS.into_iter().map(|source| counts[source]).chain([counts.total()]))
}

/// The cost levels.
pub(crate) struct Levels;

impl Names for Levels {
    fn list() -> NameList {
        let name = |level: Level| Name {
            key: level.name(),
            about: match level {
                Level::High => "Programmed in fine steps: slow to write, quick to read.",
                Level::Medium => "The usual steps.",
                Level::Low => "Programmed in coarse steps: quick to write, slow to read.",
            },
            since: Since::Start,
        };
        NameList { of: "level", names: Level::ALL.into_iter().map(name).collect() }
    }
}

/// Counts by cost level.
pub(crate) fn by_level(counts: &[u64; 3]) -> Each<Levels, u64> {
    Each::new(Level::ALL.into_iter().map(|level| counts[level as usize]))
}

/// The operations of the host, and all of them together.
pub(crate) struct Operations;

impl Names for Operations {
    fn list() -> NameList {
        let operation = |class: Class| Name {
            key: class.name(),
            about: match class {
                Class::Read => "Reads.",
                Class::Write => "Writes.",
                Class::Trim => "Trims, by which the host discards data.",
                Class::Flush => "Flushes, after which all earlier writes survive a loss of power.",
            },
            since: Since::Start,
        };
        let all = Name { name: "all", about: "All operations together.", since: Since::Start };
        let names = Class::ALL.into_iter().map(operation).chain([all]);
        NameList { of: "operation", names: names.collect() }
    }
}

/// The families of policies.
pub(crate) struct Families;

impl Names for Families {
    fn list() -> NameList {
        let name = |family: Family| Name {
            key: family.name(),
            about: family.question(),
            since: match family {
                Family::Arbitration => Since::LaterZero,
                _ => Since::Start,
            },
        };
        NameList { of: "family", names: Family::ALL.into_iter().map(name).collect() }
    }
}

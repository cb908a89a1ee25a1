//! The lists of names in a result: each name has a value.
//!
//! Most come from the lists of keys in `nand`, so every result has a place for a new key.

use super::shape::{Declared, EachName, ListOfNames, NameDecl, NameList, Since};
use crate::sim::Class;
use nand::{Each, FlashBlocks, Key, Level, Source, reserved};
use policies::Family;

/// The sources of `floatgate.run/1`. Earlier results lack all others.
const OF_THE_FIRST: [&str; 6] = ["host", "gc", "wear", "refresh", "rewrite", "map"];

/// A name without a key: results have a place for it.
const RESERVED: &str = "No drive has this yet.";

/// The keys of a list and the names that it reserves.
pub(crate) fn names<K: Key>() -> impl Iterator<Item = NameDecl> {
    let known = K::ALL.iter().map(|key| NameDecl::new(key.name(), key.about()));
    known.chain(reserved::<K>().map(|name| NameDecl::new(name, RESERVED)))
}

/// A value for each of these names.
pub(crate) fn listed<N: ListOfNames, K: Key, T: Declared + Default>(
    value: impl FnMut(K) -> T,
) -> EachName<N, T> {
    let known = K::ALL.iter().copied().map(value);
    EachName::new(known.chain(reserved::<K>().map(|_| T::default())))
}

fn total() -> NameDecl {
    NameDecl::new("total", "The sum of all others.")
}

/// The sources of flash operations.
pub(crate) struct SourceNames;

impl ListOfNames for SourceNames {
    fn list() -> NameList {
        let names = names::<Source>().map(|name| NameDecl {
            since: Since::unless(OF_THE_FIRST.contains(&name.key)),
            ..name
        });
        NameList { of: "source", names: names.collect() }
    }
}

/// The sources, and all of them together.
pub(crate) struct SourceNamesAndTotal;

impl ListOfNames for SourceNamesAndTotal {
    fn list() -> NameList {
        let names = SourceNames::list().names.into_iter().chain([total()]);
        NameList { of: "source or total", names: names.collect() }
    }
}

/// Counts by source, with their sum.
pub(crate) fn by_source<N: Copy + Into<u64>>(
    counts: &Each<Source, N>,
) -> EachName<SourceNamesAndTotal, u64> {
    let counts = counts.map(|n| (*n).into());
    let to_come = reserved::<Source>().map(|_| 0);
    EachName::new(counts.values().copied().chain(to_come).chain([counts.total()]))
}

/// The sources whose writes can make garbage collection necessary: all but collection itself.
pub(crate) struct DemandNames;

fn demands() -> impl Iterator<Item = Source> {
    Source::ALL.into_iter().filter(|source| *source != Source::Gc)
}

impl ListOfNames for DemandNames {
    fn list() -> NameList {
        let name = |source: Source| NameDecl {
            since: Since::unless(OF_THE_FIRST.contains(&source.name())),
            ..NameDecl::new(source.name(), source.about())
        };
        NameList { of: "demand or total", names: demands().map(name).chain([total()]).collect() }
    }
}

/// Counts by the source that made an operation necessary.
pub(crate) fn by_demand(counts: &Each<Source, FlashBlocks>) -> EachName<DemandNames, u64> {
    EachName::new(demands().map(|source| counts[source].get()).chain([counts.total().get()]))
}

/// The cost levels.
pub(crate) struct LevelNames;

impl ListOfNames for LevelNames {
    fn list() -> NameList {
        NameList { of: "level", names: names::<Level>().collect() }
    }
}

/// The operations of the host, and all of them together.
pub(crate) struct OperationNames;

impl ListOfNames for OperationNames {
    fn list() -> NameList {
        let all =
            NameDecl::new("all", "All operations. Their bytes are those of reads and writes.");
        let operation =
            |name: NameDecl| NameDecl { since: Since::unless(name.key != "flush"), ..name };
        NameList { of: "operation", names: names::<Class>().map(operation).chain([all]).collect() }
    }
}

/// The families of policies.
pub(crate) struct FamilyNames;

impl ListOfNames for FamilyNames {
    fn list() -> NameList {
        let name = |family: Family| NameDecl {
            since: Since::unless(!matches!(family, Family::Arbitration | Family::SlcCache)),
            ..NameDecl::new(family.name(), family.question())
        };
        NameList { of: "family", names: Family::ALL.into_iter().map(name).collect() }
    }
}

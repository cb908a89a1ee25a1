//! Energy by source and by page type.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::names::{SourceNames, listed};
use crate::result::shape::{EachName, table};
use crate::sim::Class;
use ftl::PolicyTypes;
use nand::Source;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The same energy in other ways: by source, by page type, and for each byte of the host. Null \
     for a drive without `[energy]`.",
);

pub(crate) type Section = Option<EnergySplit>;

table! {
    /// Energy in other ways than by operation.
    struct EnergySplit {
        /// Operations and transfers, by source.
        source: EachName<SourceNames, f64>, "J";
        /// Sensing and programming, by page type.
        page_type: PageTypes, "J";
        /// All energy for each byte that the host read or wrote. Null without such bytes.
        per_host_byte: Option<f64>, "J";
    }
}

table! {
    /// Energy by page type, the least significant first.
    struct PageTypes {
        /// Sensing.
        read: Vec<f64>;
        /// Programming.
        program: Vec<f64>;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let types = e.drive.geometry.shape().bits_per_cell as usize;
    let [read, write] = [Class::Read, Class::Write].map(|class| e.stats.classes[class].bytes);
    let host_bytes = read + write;
    e.energy.map(|energy| EnergySplit {
        source: listed(|source: Source| energy.by_source[source]),
        page_type: PageTypes {
            read: energy.read_by_type[..types].to_vec(),
            program: energy.program_by_type[..types].to_vec(),
        },
        per_host_byte: (host_bytes > 0).then(|| energy.total() / host_bytes as f64),
    })
}

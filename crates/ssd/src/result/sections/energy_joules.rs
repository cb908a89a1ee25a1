//! Energy by operation.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout =
    SectionAbout::section("Energy by operation. Null for a drive without `[energy]`.");

pub(crate) type Section = Option<Joules>;

table! {
    /// Energy by operation.
    struct Joules {
        /// Reading pages.
        read: f64, "J";
        /// Programming pages.
        program: f64, "J";
        /// Erasing blocks.
        erase: f64, "J";
        /// Reprogramming pages in place.
        reprogram: f64, "J";
        /// Sending pages over the channel. Null if the drive does not give it.
        transfer: Option<f64>, "J";
        /// Chips that are idle. Null if the drive does not give it.
        idle: Option<f64>, "J";
        /// The sum. A null part does not count.
        total: f64, "J";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    e.energy.map(|energy| Joules {
        read: energy.read,
        program: energy.program,
        erase: energy.erase,
        reprogram: energy.reprogram,
        transfer: energy.transfer,
        idle: energy.idle,
        total: energy.total(),
    })
}

//! How much time the drive saw.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::number(
    "s",
    "The time of the drive until the end of the run. Rates are divided by it.",
);

pub(crate) type Section = f64;

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    e.end_ns() as f64 * 1e-9
}

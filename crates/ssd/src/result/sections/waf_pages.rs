//! Write amplification in pages.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::number(
    "x",
    "Write amplification in pages: programmed pages without padding, divided by pages programmed \
     for writes of the host. A page that is overwritten in the buffer does not count. Null if \
     there was none.",
);

pub(crate) type Section = Option<f64>;

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let counts = e.counts;
    let programmed = counts.program.total() - counts.padding.total();
    (counts.host_pages > 0).then(|| programmed as f64 / counts.host_pages as f64)
}

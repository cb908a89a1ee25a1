//! Write amplification in bytes.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::sim::Class;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::number(
    "x",
    "Write amplification: programmed bytes of all sources divided by bytes that the host wrote. \
     It includes padding, and leaves out preconditioning and reprogramming in place. Null if the \
     host wrote nothing.",
);

pub(crate) type Section = Option<f64>;

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let written = e.stats.classes[Class::Write].bytes;
    let programmed = e.counts.program.total() * e.drive.geometry.page_size().get();
    (written > 0).then(|| programmed as f64 / written as f64)
}

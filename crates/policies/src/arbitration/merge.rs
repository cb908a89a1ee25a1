//! `merge`: one queue for all, in the order of arrival.

use super::{Arbitration, HeadView};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::Watch;
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "merge",
    summary: "All flows in one queue: requests go into the drive as they arrive.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Arbitration)
};

/// In the order of arrival.
#[derive(Copy, Clone, Default, Debug)]
pub struct Merge;

pub(crate) fn new(_: &Params) -> Merge {
    Merge
}

impl Watch for Merge {}

impl Arbitration for Merge {
    fn pick(&mut self, heads: &[HeadView], _: Time) -> usize {
        let first = heads.iter().enumerate().min_by_key(|(_, h)| (h.arrived, h.flow));
        first.expect("asked only when something waits").0
    }

    fn merges(&self) -> bool {
        true
    }
}

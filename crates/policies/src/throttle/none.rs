//! `none`: nothing waits.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Throttle, Watch};
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Writes enter as they arrive.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Throttle)
};

/// Throttle: nothing waits.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoThrottle;

impl Watch for NoThrottle {}

impl Throttle for NoThrottle {
    fn admit(&mut self, now: Time, _: u64) -> Time {
        now
    }

    fn active(&self) -> bool {
        false
    }
}

pub(crate) fn new(_: &Params) -> NoThrottle {
    NoThrottle
}

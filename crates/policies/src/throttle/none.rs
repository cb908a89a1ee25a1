//! `none`: nothing waits.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::NoThrottle;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Writes enter as they arrive.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Throttle)
};

pub(crate) fn new(_: &Params) -> NoThrottle {
    NoThrottle
}

//! `none`: nothing is moved.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::NoWear;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Nothing is moved to even out wear.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Wear)
};

pub(crate) fn new(_: &Params) -> NoWear {
    NoWear
}

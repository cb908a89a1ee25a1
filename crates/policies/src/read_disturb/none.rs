//! `none`: reads are not counted.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::NoRefresh;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Reads are not counted and nothing is refreshed.",
    paper: "folklore",
    ..PolicyInfo::of(Family::ReadDisturb)
};

pub(crate) fn new(_: &Params) -> NoRefresh {
    NoRefresh
}

//! `none`: every write goes to blocks at full density.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{SlcCache, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "There is no SLC cache.",
    paper: "folklore",
    ..PolicyInfo::of(Family::SlcCache)
};

/// SLC cache: there is none.
#[derive(Copy, Clone, Default, Debug)]
pub struct None;

impl Watch for None {}

impl SlcCache for None {}

pub(crate) fn new(_: &Params) -> None {
    None
}

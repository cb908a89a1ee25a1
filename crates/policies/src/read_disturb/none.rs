//! `none`: reads are not counted.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{ReadDisturb, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Reads are not counted and nothing is refreshed.",
    paper: "folklore",
    ..PolicyInfo::of(Family::ReadDisturb)
};

/// Read-disturb: reads are not counted.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoRefresh;

impl Watch for NoRefresh {}
impl ReadDisturb for NoRefresh {}

pub(crate) fn new(_: &Params) -> NoRefresh {
    NoRefresh
}

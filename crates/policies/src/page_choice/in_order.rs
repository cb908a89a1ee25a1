//! `in-order`: the next page.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::InOrder;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "in-order",
    summary: "The next page of the block.",
    paper: "folklore",
    ..PolicyInfo::of(Family::PageChoice)
};

pub(crate) fn new(_: &Params) -> InOrder {
    InOrder
}

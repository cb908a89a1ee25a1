//! `in-order`: the next page.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{FtlView, PageChoice, Pick, Watch, WriteCtx, WritePoint};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "in-order",
    summary: "The next page of the block.",
    paper: "folklore",
    ..PolicyInfo::of(Family::PageChoice)
};

/// Page-choice: the next page.
#[derive(Copy, Clone, Default, Debug)]
pub struct InOrder;

impl Watch for InOrder {}

impl PageChoice for InOrder {
    fn in_order(&self) -> bool {
        true
    }

    fn pick(&mut self, _: &FtlView<'_>, at: &WritePoint, _: &WriteCtx) -> Pick {
        Pick::Slot(at.next)
    }
}

pub(crate) fn new(_: &Params) -> InOrder {
    InOrder
}

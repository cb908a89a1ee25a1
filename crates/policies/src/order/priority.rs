//! `priority`: requests of high priority before everything else, reads before writes among them.
//!
//! High-priority writes have a stream of their own: pages of a block are programmed in order, so a
//! write could not overtake another in the same block.

use crate::info::{Family, PolicyInfo, Wanted};
use crate::order::first;
use crate::params::Params;
use ftl::{OpKind, OpView, Order, Waited, Watch};
use kernel::{Prio, Time};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "priority",
    summary: "Requests marked as high priority go first, reads before writes; the rest as in fifo.",
    paper: "folklore; request priorities as in Grupp et al., MICRO 2009, section 4.1",
    wants: |_| Some(Wanted::Urgent),
    ..PolicyInfo::of(Family::Order)
};

/// High priority first.
#[derive(Copy, Clone, Default, Debug)]
pub struct Priority;

pub(crate) fn new(_: &Params) -> Priority {
    Priority
}

impl Watch for Priority {}

impl Order for Priority {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |h| h.prio == Prio::High && h.op == OpKind::Read)
            .or_else(|| first(heads, |h| h.prio == Prio::High))
            .or_else(|| first(heads, |_| true))
            .expect("asked only when something waits")
    }

    fn may_suspend(&mut self, running: &OpView, _: Waited, read: &OpView, _: Time) -> bool {
        read.prio == Prio::High && running.prio != Prio::High
    }

    fn uses_priority(&self) -> bool {
        true
    }
}

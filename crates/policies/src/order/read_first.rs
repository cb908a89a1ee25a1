//! `read-first`: host reads before everything else.
//!
//! Reads are short and somebody waits for them; writes and garbage collection give way between two
//! flash operations. A flood of reads stops all writes, which is the point of comparing it.

use crate::info::{Family, PolicyInfo};
use crate::order::first;
use crate::params::Params;
use ftl::{OpKind, OpView, Order, Waited, Watch};
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "read-first",
    summary: "Host reads go before writes and garbage collection.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Order)
};

/// Host reads before everything else.
#[derive(Copy, Clone, Default, Debug)]
pub struct ReadFirst;

pub(crate) fn new(_: &Params) -> ReadFirst {
    ReadFirst
}

impl Watch for ReadFirst {}

impl Order for ReadFirst {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |h| h.op == OpKind::Read)
            .or_else(|| first(heads, |_| true))
            .expect("asked only when something waits")
    }

    fn may_suspend(&mut self, _: &OpView, _: Waited, _: &OpView, _: Time) -> bool {
        true
    }
}

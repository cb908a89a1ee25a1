//! `read-first`: host reads before everything else.
//!
//! Reads are short and somebody waits for them; writes and garbage collection give way between two
//! flash operations. Under a flood of reads writes starve, which is the point of comparing it.

use crate::list::{Family, PolicyInfo};
use crate::order::first;
use ftl::{Op, OpView, Order, Watch};
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    family: Family::Order,
    name: "read-first",
    aliases: &[],
    summary: "Host reads go before writes and garbage collection.",
    paper: "folklore",
    params: &[],
    needs: &[],
    forbids: &[],
};

/// Host reads before everything else.
#[derive(Copy, Clone, Default, Debug)]
pub struct ReadFirst;

impl Watch for ReadFirst {}

impl Order for ReadFirst {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |h| h.op == Op::Read)
            .or_else(|| first(heads, |_| true))
            .expect("asked only when something waits")
    }
}

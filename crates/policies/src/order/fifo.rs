//! `fifo`: first come, first served.
//!
//! A job keeps the place at which it came, so garbage collection that has begun goes on before host
//! operations that arrived after it.

use crate::list::{Family, PolicyInfo};
use crate::order::first;
use ftl::{OpView, Order, Watch};
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    family: Family::Order,
    name: "fifo",
    aliases: &[],
    summary: "Operations are served in the order in which they came to the die.",
    paper: "folklore",
    params: &[],
    needs: &[],
    forbids: &[],
};

/// First come, first served.
#[derive(Copy, Clone, Default, Debug)]
pub struct Fifo;

impl Watch for Fifo {}

impl Order for Fifo {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |_| true).expect("asked only when something waits")
    }
}

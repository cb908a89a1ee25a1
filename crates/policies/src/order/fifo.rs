//! `fifo`: first come, first served.
//!
//! A job keeps the place at which it came, so garbage collection that has begun goes on before host
//! operations that arrived after it.

use crate::info::{Family, PolicyInfo};
use crate::order::first;
use crate::params::Params;
use ftl::{OpView, Order, Watch};
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    summary: "Operations are served in the order in which they came to the die.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Order)
};

/// First come, first served.
#[derive(Copy, Clone, Default, Debug)]
pub struct Fifo;

pub(crate) fn new(_: &Params) -> Fifo {
    Fifo
}

impl Watch for Fifo {}

impl Order for Fifo {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |_| true).expect("asked only when something waits")
    }

    fn is_first_come(&self) -> bool {
        true
    }
}

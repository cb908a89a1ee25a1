//! Family **order**: which flash operation goes next on a free die?

use super::watch::Watch;
use kernel::{Prio, Time};

/// One kind of waiting operation on a die: the first of its lane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OpView {
    /// What it does.
    pub op: Op,
    /// How urgent it is.
    pub prio: Prio,
    /// The order in which operations (or the jobs they belong to) came to the die.
    pub seq: u64,
}

/// The lanes of a die, by what waits in them.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Op {
    /// A host read.
    Read,
    /// A host write.
    Write,
    /// A foreground job: garbage collection, wear levelling, refresh.
    Job,
}

/// Family **order**: which flash operation goes next on a free die?
pub trait Order: Watch {
    /// The position in `heads` of the lane to serve. `heads` holds the first operation of each
    /// lane that is not empty; never empty itself. Hazards stay with the scheduler.
    fn pick(&mut self, heads: &[OpView], now: Time) -> usize;
    /// Whether high-priority requests have lanes and a write stream of their own.
    fn uses_priority(&self) -> bool {
        false
    }
}

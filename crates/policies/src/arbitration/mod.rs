//! Family arbitration: whose request goes into the drive next?
//!
//! The drive has a limited number of places for requests. Those that find none wait outside, each
//! flow's in a queue of their own, and when a place is free an arbiter says from which queue the
//! next one comes. The FTL never asks it: the host's side does.

use ftl::Watch;
use kernel::{Prio, Time};

/// The request that has waited longest of a flow.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeadView {
    /// The flow, counted from 0.
    pub flow: u8,
    /// The flow's weight, from 1.
    pub weight: u32,
    /// How urgent the request is.
    pub prio: Prio,
    /// When it arrived.
    pub arrived: Time,
    /// How many bytes it is about.
    pub bytes: u32,
    /// Requests of the flow inside the drive.
    pub inside: u32,
}

/// Family **arbitration**: whose request goes into the drive next?
pub trait Arbitration: Watch {
    /// The position in `heads` of the request that goes next. `heads` has one of each flow that
    /// waits, in the order of flows; never empty itself.
    fn pick(&mut self, heads: &[HeadView], now: Time) -> usize;
    /// Whether there are no queues: requests go in as they arrive, whosever they are.
    fn merges(&self) -> bool {
        false
    }
}

crate::family::family! { $
    /// Family arbitration.
    ArbitrationPolicy: Arbitration {
        merge: merge::Merge,
        round_robin: round_robin::RoundRobin,
        weighted: weighted::Weighted,
        fair: fair::Fair,
    }
    fn pick(&mut self, heads: &[HeadView], now: Time) -> usize;
    fn merges(&self) -> bool;
}

/// The first of the heads behind `last` in the order of flows, round and round, among those that
/// `requested` accepts.
fn after(heads: &[HeadView], last: u8, requested: impl Fn(&HeadView) -> bool) -> Option<usize> {
    let eligible = heads.iter().enumerate().filter(|(_, h)| requested(h));
    eligible.min_by_key(|(_, h)| h.flow.wrapping_sub(last).wrapping_sub(1)).map(|(i, _)| i)
}

#[cfg(test)]
mod tests;

//! Family arbitration: whose request goes into the drive next?
//!
//! The drive has a limited number of places for requests. Requests that find none wait outside, in
//! one queue for each flow. When a place becomes free, an arbiter chooses the queue of the next
//! request. The host's side asks it; the FTL never does.

use ftl::Watch;
use kernel::{Prio, Time};

/// The request of a flow that has waited longest.
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
    /// Its number of bytes.
    pub bytes: u32,
    /// Requests of the flow inside the drive.
    pub inside: u32,
}

/// Family **arbitration**: whose request goes into the drive next?
pub trait Arbitration: Watch {
    /// Returns the position in `heads` of the request that goes next. `heads` has one request for
    /// each flow that waits, in the order of flows. It is never empty.
    fn pick(&mut self, heads: &[HeadView], now: Time) -> usize;
    /// Whether there are no queues: requests go in as they arrive, from any flow.
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

/// Returns the first head after flow `last` that `requested` accepts, in the cyclic order of flows.
fn after(heads: &[HeadView], last: u8, requested: impl Fn(&HeadView) -> bool) -> Option<usize> {
    let eligible = heads.iter().enumerate().filter(|(_, h)| requested(h));
    eligible.min_by_key(|(_, h)| h.flow.wrapping_sub(last).wrapping_sub(1)).map(|(i, _)| i)
}

#[cfg(test)]
mod tests;

//! `weighted`: urgent requests first, then each flow in proportion to its weight in a round. This
//! is weighted round robin with an urgent class as in NVM Express. It has a weight for each flow
//! instead of three for all.

use super::round_robin::BURST;
use super::{Arbitration, HeadView, after};
use crate::info::{Family, PolicyInfo, Wanted};
use crate::params::Params;
use ftl::Watch;
use kernel::{Prio, Time};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "weighted",
    summary: "Requests of high priority first; then each flow sends, round by round, as many \
              requests as its weight.",
    paper: "NVM Express Base Specification, weighted round robin with urgent priority class \
            arbitration",
    params: &[BURST],
    wants: |_| Some(Wanted::Flows),
    ..PolicyInfo::of(Family::Arbitration)
};

/// Flows take turns, in proportion to their weights.
#[derive(Clone, Debug)]
pub struct Weighted {
    burst: u64,
    /// The flow whose turn it is, and the number of requests that it may still send.
    turn: u8,
    left: u64,
    /// The last flow that sent something urgent.
    urgent: u8,
    /// Requests that each flow may still send in this round.
    credit: Vec<u32>,
}

pub(crate) fn new(params: &Params) -> Weighted {
    let last = u8::MAX;
    Weighted { burst: params.int("burst"), turn: last, left: 0, urgent: last, credit: vec![0; 256] }
}

impl Watch for Weighted {}

impl Arbitration for Weighted {
    fn pick(&mut self, heads: &[HeadView], _: Time) -> usize {
        if let Some(next) = after(heads, self.urgent, |h| h.prio == Prio::High) {
            self.urgent = heads[next].flow;
            return next;
        }
        let may = |credit: &[u32], h: &HeadView| credit[usize::from(h.flow)] > 0;
        let same = |h: &HeadView| h.flow == self.turn && may(&self.credit, h);
        let next = heads.iter().position(same).filter(|_| self.left > 0).unwrap_or_else(|| {
            self.left = self.burst;
            after(heads, self.turn, |h| may(&self.credit, h)).unwrap_or_else(|| {
                // A round is over: the unused part of a flow is lost.
                for h in heads {
                    self.credit[usize::from(h.flow)] = h.weight;
                }
                after(heads, self.turn, |_| true).expect("asked only when something waits")
            })
        });
        self.turn = heads[next].flow;
        self.left -= 1;
        self.credit[usize::from(self.turn)] -= 1;
        next
    }
}

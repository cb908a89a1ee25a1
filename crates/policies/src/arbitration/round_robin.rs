//! `round-robin`: flows take turns, regardless of their requests. Drives of NVM Express must have
//! it.

use super::{Arbitration, HeadView, after};
use crate::info::{Family, PolicyInfo, Wanted};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::Watch;
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "round-robin",
    summary: "Each flow in its turn sends `burst` requests; weights and urgency do not count.",
    paper: "NVM Express Base Specification, round robin arbitration",
    params: &[BURST],
    wants: |_| Some(Wanted::Flows),
    ..PolicyInfo::of(Family::Arbitration)
};

/// Requests in one turn.
pub(super) const BURST: ParamInfo = ParamInfo {
    name: "burst",
    kind: ParamKind::Int { min: 1, max: 128 },
    default: "1",
    doc: "Requests that a flow may send in one turn, 1 to 128.",
};

/// By turns.
#[derive(Copy, Clone, Debug)]
pub struct RoundRobin {
    burst: u64,
    /// The flow whose turn it is, and the number of requests that it may still send.
    turn: u8,
    left: u64,
}

pub(crate) fn new(params: &Params) -> RoundRobin {
    RoundRobin { burst: params.int("burst"), turn: u8::MAX, left: 0 }
}

impl Watch for RoundRobin {}

impl Arbitration for RoundRobin {
    fn pick(&mut self, heads: &[HeadView], _: Time) -> usize {
        let same = heads.iter().position(|h| h.flow == self.turn).filter(|_| self.left > 0);
        let next = same.unwrap_or_else(|| {
            self.left = self.burst;
            after(heads, self.turn, |_| true).expect("asked only when something waits")
        });
        self.turn = heads[next].flow;
        self.left -= 1;
        next
    }
}

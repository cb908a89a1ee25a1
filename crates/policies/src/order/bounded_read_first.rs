//! `bounded-read-first`: host reads before everything else, but not for ever.
//!
//! As in `read-first`, but an operation that is not a read goes as soon as it has waited for
//! `wait`, or `reads` reads went before it. So every write is served, however many reads come.
//! Overdue operations run first-in, first-out. A die with more work than it can do serves all
//! operations like that.

use crate::info::{Family, PolicyInfo};
use crate::order::first;
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{OpKind, OpView, Order, Waited, Watch};
use kernel::{Dur, Time};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "bounded-read-first",
    summary: "Host reads go first, until something else has waited long enough.",
    paper: "folklore; the bound in reads is that of the Linux deadline scheduler",
    params: &[
        ParamInfo {
            name: "reads",
            kind: ParamKind::Int { min: 1, max: u32::MAX as u64 },
            default: "16",
            doc: "the reads that may go before the oldest other operation",
        },
        ParamInfo {
            name: "wait",
            kind: ParamKind::Dur { min: Dur::ZERO },
            default: "5ms",
            doc: "the longest time for which another operation lets reads pass",
        },
    ],
    ..PolicyInfo::of(Family::Order)
};

/// Host reads before operations that have not waited long.
#[derive(Copy, Clone, Debug)]
pub struct BoundedReadFirst {
    reads: u32,
    wait: Dur,
}

pub(crate) fn new(params: &Params) -> BoundedReadFirst {
    BoundedReadFirst { reads: params.int("reads") as u32, wait: params.dur("wait") }
}

impl BoundedReadFirst {
    /// Whether reads have gone before it for long enough.
    fn is_late(self, waited: Waited, now: Time) -> bool {
        waited.passed >= self.reads || now - waited.since >= self.wait
    }
}

impl Watch for BoundedReadFirst {}

impl Order for BoundedReadFirst {
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        first(heads, |h| h.op == OpKind::Read)
            .or_else(|| first(heads, |_| true))
            .expect("asked only when something waits")
    }

    fn pick_by_waits(&mut self, heads: &[OpView], waits: &[Waited], now: Time) -> usize {
        let late = heads.iter().zip(waits).enumerate();
        let late = late.filter(|(_, (h, w))| h.op != OpKind::Read && self.is_late(**w, now));
        let late = late.min_by_key(|(_, (h, _))| h.seq).map(|(at, _)| at);
        late.unwrap_or_else(|| self.pick(heads, now))
    }

    fn watches_waits(&self) -> bool {
        true
    }

    /// An operation that was overdue when it began goes on.
    fn may_suspend(&mut self, _: &OpView, waited: Waited, _: &OpView, now: Time) -> bool {
        !self.is_late(waited, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Prio;

    #[test]
    fn what_is_late_goes_first_and_in_its_order() {
        let mut order = BoundedReadFirst { reads: 4, wait: Dur::us(10) };
        let of = |op, seq, since, passed| {
            let since = Time::from_ns(since);
            (OpView { op, prio: Prio::Normal, seq }, Waited { since, passed })
        };
        let now = Time::from_ns(20_000);
        let mut picks = |others: [(OpView, Waited); 2]| {
            let all = [of(OpKind::Read, 9, 19_000, 0), others[0], others[1]];
            order.pick_by_waits(&all.map(|(head, _)| head), &all.map(|(_, waited)| waited), now)
        };
        // A nanosecond before its time, and a read before its count.
        assert_eq!(picks([of(OpKind::Write, 1, 10_001, 3), of(OpKind::Job, 2, 10_001, 0)]), 0);
        assert_eq!(picks([of(OpKind::Write, 1, 10_001, 4), of(OpKind::Job, 2, 10_001, 0)]), 1);
        assert_eq!(picks([of(OpKind::Write, 1, 10_001, 3), of(OpKind::Job, 2, 10_000, 0)]), 2);
        assert_eq!(picks([of(OpKind::Write, 3, 10_000, 0), of(OpKind::Job, 2, 10_000, 0)]), 2);
    }
}

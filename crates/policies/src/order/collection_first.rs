//! `collection-first`: the drive's own work goes before the host's.
//!
//! Garbage collection that has begun goes first: host requests of any priority do not hold it up.
//! Then come reads, then writes, urgent ones first in each group. So a fast host never makes space
//! run short, but its requests wait until whole blocks are collected.

use crate::info::{Family, PolicyInfo};
use crate::order::first;
use crate::params::Params;
use ftl::{OpKind, OpView, Order, Waited, Watch};
use kernel::{Prio, Time};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "collection-first",
    summary: "Garbage collection goes before the host; then reads, then writes, urgent ones first.",
    paper: "Tavakkol et al., FAST 2018: MQSim with collection that cannot be preempted",
    ..PolicyInfo::of(Family::Order)
};

/// Jobs before the host.
#[derive(Copy, Clone, Default, Debug)]
pub struct CollectionFirst;

pub(crate) fn new(_: &Params) -> CollectionFirst {
    CollectionFirst
}

impl Watch for CollectionFirst {}

impl Order for CollectionFirst {
    #[inline]
    fn pick(&mut self, heads: &[OpView], _: Time) -> usize {
        let urgent = |op| move |h: &OpView| h.op == op && h.prio == Prio::High;
        first(heads, |h| h.op == OpKind::Job)
            .or_else(|| first(heads, urgent(OpKind::Read)))
            .or_else(|| first(heads, |h| h.op == OpKind::Read))
            .or_else(|| first(heads, urgent(OpKind::Write)))
            .or_else(|| first(heads, |_| true))
            .expect("asked only when something waits")
    }

    fn may_suspend(&mut self, running: &OpView, _: Waited, read: &OpView, _: Time) -> bool {
        running.op == OpKind::Write && read.prio >= running.prio
    }

    fn uses_priority(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_then_reads_then_writes_and_urgent_ones_first_among_each() {
        // In the order of service; the latest arrival is first here.
        let ranks = [
            (OpKind::Job, Prio::Normal),
            (OpKind::Read, Prio::High),
            (OpKind::Read, Prio::Normal),
            (OpKind::Write, Prio::High),
            (OpKind::Write, Prio::Normal),
        ];
        for left in 1..=ranks.len() {
            let waiting = &ranks[ranks.len() - left..];
            let heads: Vec<OpView> = (0_u64..)
                .zip(waiting.iter().rev())
                .map(|(seq, &(op, prio))| OpView { op, prio, seq })
                .collect();
            let picked = CollectionFirst.pick(&heads, Time::ZERO);
            assert_eq!((heads[picked].op, heads[picked].prio), waiting[0]);
        }
    }

    /// A program makes way for a read unless it is the more urgent of them; nothing else does,
    /// since collection goes first.
    #[test]
    fn programs_of_the_host_make_way() {
        use Prio::{High, Normal};
        let at = Time::ZERO;
        for running in [OpKind::Read, OpKind::Write, OpKind::Job] {
            for (theirs, ours) in [(Normal, Normal), (Normal, High), (High, Normal), (High, High)] {
                let [running, read] = [(running, theirs, 0), (OpKind::Read, ours, 1)]
                    .map(|(op, prio, seq)| OpView { op, prio, seq });
                let may = CollectionFirst.may_suspend(&running, Waited::default(), &read, at);
                let expected = running.op == OpKind::Write && (theirs, ours) != (High, Normal);
                assert_eq!(may, expected, "{running:?} for {read:?}");
            }
        }
    }
}

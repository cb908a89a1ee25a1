//! Jobs that wait.

use super::JobId;
use nand::{BlockId, PlaneId};
use std::collections::VecDeque;

/// What a job waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// A free block in this plane; `None`: in any, where pages may go to any.
    Space(Option<PlaneId>),
    /// The last read on its way to this block.
    Pins(BlockId),
    /// A program into this block.
    Program(BlockId),
}

/// Jobs that wait, in the order in which they came.
#[derive(Default)]
pub(super) struct Waits {
    parked: Vec<(JobId, Condition)>,
    /// How often a job has waited.
    pub(super) parkings: u64,
}

impl Waits {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parked.is_empty()
    }

    pub(super) fn holds(&self, job: JobId) -> bool {
        self.parked.iter().any(|(parked, _)| *parked == job)
    }

    #[cold]
    pub(super) fn park(&mut self, job: JobId, until: Condition) {
        self.parkings += 1;
        self.parked.push((job, until));
    }

    /// The condition holds: those who wait for it are ready.
    #[cold]
    pub(super) fn release(&mut self, now: Condition, ready: &mut VecDeque<JobId>) {
        self.parked.retain(|(job, until)| {
            if *until == now {
                ready.push_back(*job);
            }
            *until != now
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_for_one_thing_go_on_in_the_order_in_which_they_came() {
        let [plane, other] = [0, 1].map(PlaneId::from_u32);
        let block = BlockId::from_u32(0);
        let (mut waits, mut ready) = (Waits::default(), VecDeque::new());
        let until = [
            Condition::Space(Some(plane)),
            Condition::Pins(block),
            Condition::Space(Some(other)),
            Condition::Program(block),
            Condition::Space(Some(plane)),
        ];
        for (n, until) in until.into_iter().enumerate() {
            waits.park(JobId::from_u32(n as u32), until);
        }
        waits.release(Condition::Space(Some(plane)), &mut ready);
        waits.release(Condition::Pins(block), &mut ready);
        assert_eq!(ready, [0, 4, 1].map(JobId::from_u32));
        assert!(waits.holds(JobId::from_u32(2)) && !waits.holds(JobId::from_u32(4)));
        assert_eq!((waits.parked.len(), waits.parkings), (2, 5));
    }
}

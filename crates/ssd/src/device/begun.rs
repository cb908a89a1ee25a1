//! Operations that have begun and are not done when a run ends. Their time is not counted, so the
//! operations are not counted either.
//!
//! Operations are counted when their command begins, because all its parts are known then. At the
//! end of a run, operations under way are counted once more, and subtracted.

use super::die::Phase;
use super::{Device, DeviceStats, PageCounts};
use crate::ops::NONE;
use kernel::{Idx, Time};
use nand::{BlockStates, DieId, Each};
use std::ops::SubAssign;

impl Device {
    /// Subtracts the work under way from the counts: on dies, in their second registers, or
    /// interrupted.
    pub(crate) fn forget_begun(&mut self, states: &BlockStates, now: Time) {
        let begun: Vec<(DieId, u32)> = (0..self.dies.len())
            .map(DieId::new)
            .flat_map(|die| self.under_way(die).map(move |op| (die, op)))
            .collect();
        let all = std::mem::take(&mut self.stats);
        // The cells are not asked again, because asking changes them.
        let mut cells = self.cells.take();
        for (die, op) in begun {
            match &mut cells {
                Some(cells) if self.asks_cells(op) => {
                    let attempts = cells.forget(die, op);
                    self.count_attempts(op, &attempts);
                }
                _ => drop(self.command(states, op, now)),
            }
        }
        self.cells = cells;
        let under_way = std::mem::replace(&mut self.stats, all);
        self.stats.take_off(&under_way);
    }

    /// The first operation of each command that a die has begun.
    fn under_way(&self, die: DieId) -> impl Iterator<Item = u32> + use<> {
        let d = &self.dies[die];
        let (in_register, loading) = self.in_register(die);
        let on_die = match d.phase {
            Phase::Idle
            | Phase::Gathering
            | Phase::Choosing
            | Phase::Suspending
            | Phase::Resuming => NONE,
            Phase::Asking if loading => NONE,
            Phase::Asking
            | Phase::Beginning
            | Phase::Sensing
            | Phase::SensingBeside
            | Phase::Sensed
            | Phase::Finishing
            | Phase::Pausing => d.running,
        };
        [on_die, in_register, self.paused(die)].into_iter().filter(|op| *op != NONE)
    }
}

impl DeviceStats {
    fn take_off(&mut self, other: &Self) {
        take_off(self.read_by_level.values_mut(), other.read_by_level.values());
        take_off(self.program_by_level.values_mut(), other.program_by_level.values());
        take_off(self.unsent.values_mut(), other.unsent.values());
        take_off(self.stayed.values_mut(), other.stayed.values());
        take_off(
            self.attempts.values_mut().flatten().flatten(),
            other.attempts.values().flatten().flatten(),
        );
        let (single, of) = (&mut self.single, &other.single);
        take_off(single.sensed.values_mut(), of.sensed.values());
        take_off(single.programmed.values_mut(), of.programmed.values());
        take_off(pages_mut(&mut self.sensed), pages(&other.sensed));
        take_off(pages_mut(&mut self.programmed), pages(&other.programmed));
    }
}

fn pages(counts: &PageCounts) -> impl Iterator<Item = &u64> {
    counts.values().flat_map(Each::values).flatten()
}

fn pages_mut(counts: &mut PageCounts) -> impl Iterator<Item = &mut u64> {
    counts.values_mut().flat_map(Each::values_mut).flatten()
}

fn take_off<'a, N: SubAssign + Copy + 'a>(
    sums: impl Iterator<Item = &'a mut N>,
    of: impl Iterator<Item = &'a N>,
) {
    sums.zip(of).for_each(|(sum, n)| *sum -= *n);
}

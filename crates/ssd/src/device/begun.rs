//! What has begun when a run ends and is not done. Its time is not booked, so it is not counted either.
//!
//! Operations are counted as their command begins, where all that a command takes is known. At the end
//! of a run those that are under way are counted once more, and taken off.

use super::die::Phase;
use super::{Device, DeviceStats, PageCounts};
use crate::ops::NONE;
use kernel::{Idx, Time};
use nand::{BlockStates, DieId};

impl Device {
    /// Takes what is under way off the counts: on dies, in their second registers, or interrupted.
    pub(crate) fn forget_begun(&mut self, states: &BlockStates, now: Time) {
        let begun: Vec<(DieId, u32)> = (0..self.dies.len())
            .map(DieId::new)
            .flat_map(|die| self.under_way(die).map(move |op| (die, op)))
            .collect();
        let all = std::mem::take(&mut self.stats);
        // They have been asked, and asking has consequences.
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
        let pages = |sum: &mut PageCounts, of: &PageCounts| {
            let (sum, of) =
                (sum.as_flattened_mut().as_flattened_mut(), of.as_flattened().as_flattened());
            take_off(sum, of);
        };
        take_off(&mut self.read_by_level, &other.read_by_level);
        take_off(&mut self.program_by_level, &other.program_by_level);
        take_off(&mut self.unsent, &other.unsent);
        take_off(&mut self.stayed, &other.stayed);
        pages(&mut self.sensed, &other.sensed);
        pages(&mut self.programmed, &other.programmed);
    }
}

fn take_off(sums: &mut [u64], of: &[u64]) {
    for (sum, n) in sums.iter_mut().zip(of) {
        *sum -= n;
    }
}

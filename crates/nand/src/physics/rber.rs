//! All raw bit errors of a page together: the formula, and a table of it for runs.

use super::disturb::read_slope;
use super::{Cell, Ldpc};
use crate::{Each, Level};

/// The history of a page.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Stress {
    /// Effective program/erase cycles of its block when it was programmed.
    pub cycles: f64,
    /// Hours since then.
    pub hours: f64,
    /// Reads of its block since then; a tenth of them in a block with guard levels.
    pub reads: f64,
    /// Errors by programs over neighbouring pages, as a rate
    /// ([`reprogrammed_partner`](super::reprogrammed_partner)).
    pub program_disturb: f64,
}

/// The raw bit error rate of a page programmed with steps of `step_volts`, at most ½.
///
/// Wear, retention and the step make one part ([`Cell::rber`]). Disturbs add to it, as rare errors
/// do.
pub fn rber(cell: &Cell, page_type: usize, step_volts: f64, stress: &Stress) -> f64 {
    let kept = cell.rber(page_type, step_volts, stress.cycles, stress.hours);
    let read = read_slope(cell, page_type, stress.cycles) * stress.reads;
    (kept + read + stress.program_disturb).min(0.5)
}

/// Points of the table along the root of the cycles, which it covers up to four times the rating.
const WEARS: usize = 33;
/// Points along time: 0, 1, 3, 7 … 2^18 − 1 hours (30 years).
const TIMES: usize = 19;

/// Raw bit error rates of one kind of cell at three program steps, for looking up while a drive
/// runs: a few dozen instructions, 33 KB at most.
///
/// Between its points it is linear, so that it rises with every argument as the formula does.
/// Against the formula it errs by less than 4 % if the rate is above 1e-4, a fortieth of the errors
/// that a plain read corrects. Beyond its range it stays at the edge.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorTable {
    /// The place along the wear axis is the root of the cycles times this.
    per_root_cycle: f32,
    /// By page type.
    kept: Each<Level, Vec<[[f32; TIMES]; WEARS]>>,
    slopes: Vec<[f32; WEARS]>,
    limits: [f32; 3],
}

impl ErrorTable {
    /// The table of a kind of cell, for the step of each level in volts, and the code that reads
    /// it.
    pub fn new(cell: &Cell, steps_volts: &Each<Level, f64>, ldpc: &Ldpc) -> Self {
        let types = cell.bits() as usize;
        let roots = (WEARS - 1) as f64 / (4.0 * cell.rated_cycles()).sqrt();
        let cycles = |i: usize| (i as f64 / roots).powi(2);
        let page_kept = |step: f64, page: usize| {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    cell.rber(page, step, cycles(i), f64::from((1_u32 << j) - 1)) as f32
                })
            })
        };
        let kept = |step: &f64| (0..types).map(|page| page_kept(*step, page)).collect();
        let slopes = (0..types)
            .map(|page| std::array::from_fn(|i| read_slope(cell, page, cycles(i)) as f32));
        Self {
            per_root_cycle: roots as f32,
            kept: steps_volts.map(kept),
            slopes: slopes.collect(),
            limits: [0, 1, 2].map(|step| ldpc.correctable(step) as f32),
        }
    }

    /// The raw bit error rate of a page of this type, written at this level, without program
    /// disturb; see [`Stress`] for the other arguments.
    #[inline]
    pub fn rber(&self, level: Level, page_type: usize, cycles: f32, hours: f32, reads: f32) -> f32 {
        let place = ((cycles * self.per_root_cycle * self.per_root_cycle).sqrt())
            .min((WEARS - 1) as f32 - 1e-3);
        let (i, along) = (place as usize, place.fract());
        // 1 + t is 2^j·(1 + f): exponent and fraction of the number as it is stored.
        let time = (1.0 + hours).clamp(1.0, ((1_u32 << (TIMES - 1)) - 1) as f32).to_bits();
        let (j, fraction) = ((time >> 23) as usize - 127, time & 0x7f_ffff);
        let since = fraction as f32 / (1 << 23) as f32;
        let mix = |low: f32, high: f32, share: f32| low + (high - low) * share;
        let table = &self.kept[level][page_type];
        let at = |i: usize| mix(table[i][j], table[i][j + 1], since);
        let slope = &self.slopes[page_type];
        mix(at(i), at(i + 1), along) + mix(slope[i], slope[i + 1], along) * reads
    }

    /// The first step of sensing that corrects a rate: 0 is a plain read; `None`, the page is lost.
    #[inline]
    pub fn step_for(&self, rber: f32) -> Option<usize> {
        self.limits.iter().position(|limit| rber <= *limit)
    }
}

/// The error rate of a bit that two causes turn independently of each other. A bit that both turn
/// is right.
pub fn either_wrong(one: f32, other: f32) -> f32 {
    one + other - 2.0 * one * other
}

#[cfg(test)]
mod tests {
    use super::super::{STEP_VOLTS, read_limit};
    use super::*;
    use kernel::Rng;

    fn steps() -> Each<Level, f64> {
        Each::from_fn(|level| match level {
            Level::HighCost => STEP_VOLTS * 0.75,
            Level::MediumCost => STEP_VOLTS,
            Level::LowCost => STEP_VOLTS * 4.0 / 3.0,
        })
    }

    #[test]
    fn every_cause_raises_the_rate_and_none_beyond_a_half() {
        let mut rng = Rng::named(1, "physics/rber");
        for _ in 0..3_000 {
            let cell = Cell::new(1 + rng.below(4), 1000.0 + rng.unit() * 1e4);
            let page = rng.below(cell.bits()) as usize;
            let base = Stress {
                cycles: rng.unit() * 2.0 * cell.rated_cycles(),
                hours: rng.unit() * 1e4,
                reads: rng.unit() * 1e6,
                program_disturb: rng.unit() * 1e-3,
            };
            let rate = |step: f64, stress: Stress| rber(&cell, page, step, &stress);
            let least = rate(STEP_VOLTS, base) * (1.0 - 1e-7);
            let more = 1.0 + rng.unit();
            assert!(rate(STEP_VOLTS * more, base) >= least);
            assert!(rate(STEP_VOLTS, Stress { cycles: base.cycles * more, ..base }) >= least);
            assert!(rate(STEP_VOLTS, Stress { hours: base.hours * more, ..base }) >= least);
            assert!(rate(STEP_VOLTS, Stress { reads: base.reads * more, ..base }) >= least);
            let disturbed = base.program_disturb * more;
            assert!(rate(STEP_VOLTS, Stress { program_disturb: disturbed, ..base }) >= least);
            assert!(rate(STEP_VOLTS * more, base) <= 0.5);
        }
    }

    #[test]
    fn a_read_limit_is_reached_before_data_are_lost() {
        // At the rated cycles a month after writing, a block may be read up to its limit.
        for bits in 1..=4 {
            let cell = Cell::new(bits, 3000.0);
            let reads = f64::from(read_limit(bits));
            let stress = Stress { cycles: 3000.0, hours: 720.0, reads, ..Stress::default() };
            let worst = (0..bits as usize).map(|page| rber(&cell, page, STEP_VOLTS, &stress));
            assert!(Ldpc::DEFAULT.step_for(worst.fold(0.0, f64::max)).is_some(), "{bits} bits");
        }
    }

    /// Reads at the rated cycles until the worst page cannot be corrected with the finest sensing,
    /// `hours` after writing, by level.
    fn reads_to_the_limit(bits: u32, hours: f64, sensing: usize) -> Each<Level, f64> {
        let cell = Cell::new(bits, 3000.0);
        let correctable = Ldpc::DEFAULT.correctable(sensing);
        steps().map(|step| {
            let fresh = Stress { cycles: 3000.0, hours, ..Stress::default() };
            let of = |page: usize| {
                // Two points of the line that the errors of reads are.
                let at = |reads: f64| rber(&cell, page, *step, &Stress { reads, ..fresh });
                (correctable - at(0.0)) / (at(1e3) - at(0.0)) * 1e3
            };
            (0..bits as usize).map(of).fold(f64::INFINITY, f64::min)
        })
    }

    #[test]
    fn fine_steps_leave_room_for_more_reads_and_coarse_ones_for_fewer() {
        // Data of a year, corrected with all that the drive has: the case for which MLC has AGCR's
        // three pairs. The values were computed apart from this code.
        for (bits, fine, coarse) in [(2, 1.344, 0.224), (3, 1.320, 0.258), (4, 1.316, 0.259)] {
            let reads = reads_to_the_limit(bits, 8760.0, 2);
            let [high, medium, low] = Level::ALL.map(|level| reads[level]);
            assert!((high / medium - fine).abs() < 1e-3, "{bits} bits: {}", high / medium);
            assert!((low / medium - coarse).abs() < 1e-3, "{bits} bits: {}", low / medium);
        }
        // The margin depends on the age of the data: after a month levels differ less.
        let month = reads_to_the_limit(2, 720.0, 2);
        let [high, medium, low] = Level::ALL.map(|level| month[level]);
        assert!((high / medium - 1.132).abs() < 1e-3 && (low / medium - 0.668).abs() < 1e-3);
        // With three sensings coarse data of a year cannot be read at all, however seldom they are.
        assert!(reads_to_the_limit(2, 8760.0, 1)[Level::LowCost] < 0.0);
    }

    #[test]
    fn the_table_is_the_formula() {
        let mut rng = Rng::named(2, "physics/rber");
        let mut compared = 0;
        for (bits, rated) in [(1, 1e5), (2, 3e3), (3, 3e3), (4, 1e3)] {
            let cell = Cell::new(bits, rated);
            let table = ErrorTable::new(&cell, &steps(), &Ldpc::DEFAULT);
            for _ in 0..4_000 {
                let page = rng.below(bits) as usize;
                let level = Level::ALL[rng.below(3) as usize];
                let stress = Stress {
                    cycles: rng.unit().powi(2) * 3.9 * rated,
                    hours: (rng.unit() * 12.0).exp_m1(),
                    reads: rng.unit() * 2.0 * f64::from(read_limit(bits)),
                    program_disturb: 0.0,
                };
                let exact = rber(&cell, page, steps()[level], &stress);
                let (n, t, reads) =
                    (stress.cycles as f32, stress.hours as f32, stress.reads as f32);
                let found = f64::from(table.rber(level, page, n, t, reads));
                if exact > 1e-4 && exact < 0.5 {
                    compared += 1;
                    assert!(
                        (found / exact - 1.0).abs() < 0.04,
                        "{cell:?} {stress:?}: {found} {exact}"
                    );
                }
                let more = table.rber(level, page, n * 1.1, t * 1.1 + 0.1, reads * 1.1);
                assert!(more >= found as f32 * (1.0 - 1e-5));
            }
        }
        assert!(compared > 6_000, "{compared}");
    }

    #[test]
    fn the_table_stays_at_its_edge() {
        let table = ErrorTable::new(&Cell::new(2, 3000.0), &steps(), &Ldpc::DEFAULT);
        let at = |n: f32, t: f32| table.rber(Level::MediumCost, 1, n, t, 0.0);
        assert!(at(1e9, 1e9) >= at(1.2e4, 2.6e5) && at(1e9, 1e9) < 0.5);
        assert!(
            (at(0.0, 0.0) - Cell::new(2, 3000.0).rber(1, STEP_VOLTS, 0.0, 0.0) as f32).abs() < 1e-9
        );
        assert_eq!(table.step_for(at(3000.0, 8760.0)), Some(1));
        assert_eq!(table.step_for(at(1e9, 1e9)), None);
        assert_eq!(table.step_for(0.0), Some(0));
    }
}

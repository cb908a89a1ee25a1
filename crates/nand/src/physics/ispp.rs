//! Programming in steps, and the raw bit errors that the width of a step, wear and time leave.
//!
//! Incremental-step pulse programming raises a cell by one step after the other (`ΔVpp`) until it
//! passes a verify voltage. So a programmed level is spread evenly over a step, and noise blurs it.
//! A read compares with fixed references midway between levels. The error rate of a boundary is the
//! exact convolution of the even spread with Gaussian noise.

use super::math::{mean_upper_tail, upper_tail, where_reaches};

/// The traditional program step of the reference cell, in volts: published simulations of this
/// model use 0.2 to 0.3.
pub const STEP_VOLTS: f64 = 0.25;

/// AGCR's Eq. 1: WC(ΔVpp) = γ/ΔVpp, in microseconds.
///
/// Table 1 fixes ratios of steps only. With the traditional step at [`STEP_VOLTS`] and its 600 µs,
/// γ is 150 µs·V, and 800 and 450 µs are steps of 0.1875 and 0.3333 V: 1 : 4/3 : 16/9.
pub fn program_us(gamma_us_volts: f64, step_volts: f64) -> f64 {
    gamma_us_volts / step_volts
}

/// The step that makes programming take `time` where the traditional step takes `traditional`
/// (Eq. 1 the other way round), in volts.
pub fn step_of_time(traditional: f64, time: f64) -> f64 {
    STEP_VOLTS * traditional / time
}

// The reference cell: an MLC rated 3000 cycles, in volts. Form and constants are those of Pan, Dong
// and Zhang (FAST 2011, HPCA 2012), as recalled and as found in a public re-implementation. Assumed
// and fitted constants are marked.

/// Mean and deviation of erased cells (as published).
const ERASED: (f64, f64) = (1.4, 0.35);
/// The middle of the lowest programmed level (assumed; published verify voltages: 2.6 to 2.9).
const FIRST_LEVEL: f64 = 3.0;
/// From one level to the next (assumed; published spacings are 0.6 to 0.75).
const SPACING: f64 = 0.75;
/// From the lowest to the highest programmed level.
const SPAN: f64 = 2.0 * SPACING;
/// Deviation of everything that neither wear nor time changes: programming and coupling noise.
///
/// Fitted. With this value and [`super::Ldpc::DEFAULT`], data written at 3000 cycles and kept for a
/// year need 1, 3 and 7 sensings for AGCR's three steps. That holds from 0.068 to 0.078; this is
/// the middle.
const WRITE_NOISE: f64 = 0.073;
/// Random telegraph noise: λ = `TELEGRAPH`·N^0.62, taken as Gaussian of the same variance, 2λ²
/// (as recalled).
const TELEGRAPH: f64 = 2.7e-4;
/// Retention (as published): a level at x moves by `K_S`·(x − x0)·`K_D`·N^0.4·ln(1 + t/1 h) in the
/// mean. The variance is `K_S`·(x − x0)·`K_M`·N^0.5·ln(1 + t/1 h). Here x0 is the mean of erased
/// cells.
const K_S: f64 = 0.38;
const K_D: f64 = 4e-4;
const K_M: f64 = 4e-6;
/// The rating of the reference cell, in cycles.
const REFERENCE_CYCLES: f64 = 3000.0;

/// Cells of one kind: their bits, and their rated cycles.
///
/// A rating is a promise about errors: at the end of its rated cycles a part still keeps data for
/// its retention time (JESD218). So a cell of any kind is assumed to be like the reference cell at
/// the same share of its rating. All voltages scale with the distance between levels. (Assumed:
/// per-part constants are not published.) A cell of one bit keeps the reference cell's highest
/// level and senses a whole spacing below it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Cell {
    bits: u32,
    rated_cycles: f64,
}

/// The distribution of the cells of one level, in volts. A programmed level is an even spread over
/// a program step around its middle, blurred by Gaussian noise. Erased cells have only the noise.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Volts {
    /// From the middle of the erased cells up to the middle of the level as it was programmed.
    pub above: f64,
    /// How far it has sunk since.
    pub loss: f64,
    /// The deviation of the noise.
    pub sigma: f64,
}

impl Cell {
    /// Cells of 1 to 4 bits, rated for `rated_cycles` (above 0).
    pub fn new(bits: u32, rated_cycles: f64) -> Self {
        assert!((1..=4).contains(&bits) && rated_cycles > 0.0, "no such cell");
        Self { bits, rated_cycles }
    }

    /// Bits in a cell.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Cycles that the part is rated for.
    pub fn rated_cycles(&self) -> f64 {
        self.rated_cycles
    }

    /// Cycles of the reference cell that are the same share of the rating.
    pub fn reference_cycles(&self, cycles: f64) -> f64 {
        cycles * REFERENCE_CYCLES / self.rated_cycles
    }

    /// The boundaries at which bits of a page type change, numbered from 1 upward: those of a
    /// reflected Gray code, 1, 2, 4 and 8 of them from the least significant bit (0) upward.
    pub fn boundaries(&self, page_type: usize) -> impl Iterator<Item = u32> {
        let zeros = self.bits - 1 - page_type as u32;
        (1..1_u32 << self.bits).filter(move |boundary| boundary.trailing_zeros() == zeros)
    }

    /// The distribution of cells of level `k` (0: erased) at `cycles` program/erase cycles after
    /// `hours`.
    pub fn level(&self, k: u32, cycles: f64, hours: f64) -> Volts {
        let n = self.reference_cycles(cycles);
        let lambda = TELEGRAPH * n.powf(0.62);
        let telegraph = 2.0 * lambda * lambda;
        if k == 0 {
            let sigma = (ERASED.1 * ERASED.1 + telegraph).sqrt();
            return Volts { above: 0.0, loss: 0.0, sigma };
        }
        let levels = (1_u32 << self.bits) - 1;
        let place = if levels == 1 { 1.0 } else { f64::from(k - 1) / f64::from(levels - 1) };
        let above = FIRST_LEVEL + SPAN * place - ERASED.0;
        let logarithm = hours.ln_1p();
        let loss = K_S * above * K_D * n.powf(0.4) * logarithm;
        let spread = K_S * above * K_M * n.sqrt() * logarithm;
        Volts { above, loss, sigma: (WRITE_NOISE * WRITE_NOISE + telegraph + spread).sqrt() }
    }

    /// From the middle of a programmed level down to the reference below it, in volts.
    pub fn half_spacing(&self) -> f64 {
        if self.bits == 1 { SPACING } else { SPACING / 2.0 }
    }

    /// The raw bit error rate of a page at `cycles` program/erase cycles after `hours`. It was
    /// programmed with steps of `step_volts`, on the scale of the reference cell, whose traditional
    /// step is [`STEP_VOLTS`].
    ///
    /// No credit is given where one mechanism undoes another: charge that is lost does not excuse
    /// cells that were programmed too far. A level that has sunk by half a spacing is read at
    /// random.
    pub fn rber(&self, page_type: usize, step_volts: f64, cycles: f64, hours: f64) -> f64 {
        let level = |k: u32| self.level(k, cycles, hours);
        let half = self.half_spacing();
        // How often a level lies beyond a reference at this distance from its middle.
        let beyond = |distance: f64, sigma: f64| {
            mean_upper_tail((distance - step_volts / 2.0) / sigma, step_volts / sigma)
        };
        let wrong = self.boundaries(page_type).map(|boundary| {
            let Volts { above, loss, sigma } = level(boundary);
            let sunk = beyond((half - loss).max(0.0), sigma);
            let risen = if boundary == 1 {
                upper_tail((above - half) / level(0).sigma)
            } else {
                beyond(half, level(boundary - 1).sigma)
            };
            sunk + risen
        });
        // Each level holds its share of the cells.
        wrong.sum::<f64>() / f64::from(1_u32 << self.bits)
    }

    /// The reference at a boundary (from 1 upward), in volts of a cell whose levels are as far apart
    /// as those of the reference cell.
    pub fn reference_volts(&self, boundary: u32) -> f64 {
        self.middle_volts(boundary) - self.half_spacing()
    }

    /// The middle of a programmed level (from 1 upward) when it is fresh, on the same scale.
    fn middle_volts(&self, level: u32) -> f64 {
        let top = if self.bits == 1 { SPAN } else { 0.0 };
        FIRST_LEVEL + top + f64::from(level - 1) * SPACING
    }

    /// How likely a cell of this level lies above `volts`, on the scale of
    /// [`Self::reference_volts`]; arguments otherwise as of [`Self::rber`].
    ///
    /// This is one density for each level. [`Self::rber`] is more severe: it gives no credit where
    /// one mechanism undoes another, so a level is lower for the reference below it than for the
    /// one above.
    pub fn above(&self, level: u32, volts: f64, step_volts: f64, cycles: f64, hours: f64) -> f64 {
        let Volts { loss, sigma, .. } = self.level(level, cycles, hours);
        if level == 0 {
            return upper_tail((volts - ERASED.0) / sigma);
        }
        let lowest = volts - (self.middle_volts(level) - loss - step_volts / 2.0);
        mean_upper_tail((lowest - step_volts) / sigma, step_volts / sigma)
    }

    /// The raw bit error rate of the worst page type.
    pub fn worst_rber(&self, step_volts: f64, cycles: f64, hours: f64) -> f64 {
        let types = 0..self.bits as usize;
        types.map(|t| self.rber(t, step_volts, cycles, hours)).fold(0.0, f64::max)
    }

    /// Hours for which a code that corrects `correctable` can read data programmed with this step
    /// at `cycles`. This is the limit in AGCR's Eq. 1 and 2, RBER(ΔVpp) < CBER(N), solved for time.
    /// It is 0 if the code never can, and infinite if it always can.
    pub fn retention_limit_hours(&self, step_volts: f64, cycles: f64, correctable: f64) -> f64 {
        // Errors rise with the logarithm of time.
        let limit = where_reaches(correctable, 0.0, |logarithm| {
            self.worst_rber(step_volts, cycles, logarithm.min(600.0).exp_m1())
        });
        limit.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ldpc, ReadCost};
    use super::*;
    use kernel::Rng;

    const YEAR: f64 = 8760.0;
    const MLC: fn() -> Cell = || Cell::new(2, 3000.0);
    const STEPS: [f64; 3] = [STEP_VOLTS * 0.75, STEP_VOLTS, STEP_VOLTS * 4.0 / 3.0];

    #[test]
    fn agcrs_three_levels_follow_from_one_set_of_constants() {
        // Eq. 1, with the steps in the ratio 1 : 4/3 : 16/9.
        let writes = STEPS.map(|step| program_us(600.0 * STEP_VOLTS, step));
        for (found, expected) in writes.into_iter().zip([800.0, 600.0, 450.0]) {
            assert!((found - expected).abs() < 1e-9, "{writes:?}");
        }
        assert!((step_of_time(600.0, 450.0) - STEPS[2]).abs() < 1e-12);
        // Eq. 2, with as much sensing as data of a year need at the end of the rated life.
        for (step, expected) in STEPS.into_iter().zip([70.0, 170.0, 310.0]) {
            let needed = Ldpc::DEFAULT.step_for(MLC().worst_rber(step, 3000.0, YEAR));
            let read = ReadCost::AGCR.read_us(Ldpc::DEFAULT.sensings(needed.unwrap()));
            assert!((read - expected).abs() < 1e-12, "{step} V: {read}");
        }
    }

    #[test]
    fn the_pairs_keep_data_for_their_time() {
        let limit = |step: usize, sensing: usize, cycles| {
            let correctable = Ldpc::DEFAULT.correctable(sensing);
            MLC().retention_limit_hours(STEPS[step], cycles, correctable)
        };
        for (step, volts) in STEPS.into_iter().enumerate() {
            // The pairs of the paper last a year, and no less sensing would do.
            assert!(limit(step, step, 3000.0) > YEAR, "{step}");
            assert!(step == 0 || limit(step, step - 1, 3000.0) < YEAR);
            // The limit is where the error rate meets the code.
            let hours = limit(step, step, 3000.0);
            let rber = MLC().worst_rber(volts, 3000.0, hours);
            assert!((rber / Ldpc::DEFAULT.correctable(step) - 1.0).abs() < 1e-9);
            for finer in step..2 {
                assert!(limit(step, finer + 1, 3000.0) > limit(step, finer, 3000.0));
            }
            assert!(limit(step, 2, 1500.0) > limit(step, 2, 3000.0));
            assert!(step == 0 || limit(step, 2, 3000.0) < limit(step - 1, 2, 3000.0));
        }
        assert!(limit(2, 0, 20_000.0).abs() < 1e-9, "a worn-out cell keeps nothing");
    }

    /// The same error rate by brute force: the density of each level integrated numerically.
    fn by_quadrature(step: f64, n: f64, hours: f64) -> f64 {
        let gauss = |x: f64, sigma: f64| {
            (-x * x / (2.0 * sigma * sigma)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
        };
        let (telegraph, log) = (2.0 * (2.7e-4 * n.powf(0.62)).powi(2), (1.0 + hours).ln());
        let lost = |from: f64, to: f64, density: &dyn Fn(f64) -> f64| {
            let h = (to - from) / 8000.0;
            (0..8000).map(|i| density(from + (f64::from(i) + 0.5) * h) * h).sum::<f64>()
        };
        let (mut total, means) = (0.0, [3.0, 3.75, 4.5]);
        for boundary in [0, 2] {
            let density = |k: usize, shifted: bool, x: f64| {
                let above = means[k] - 1.4;
                let variance = 0.073 * 0.073 + telegraph + 0.38 * above * 4e-6 * n.sqrt() * log;
                let shift = if shifted { 0.38 * above * 4e-4 * n.powf(0.4) * log } else { 0.0 };
                let slices = 400;
                let sum = (0..slices).map(|i| {
                    let at = means[k] - shift + step * ((f64::from(i) + 0.5) / 400.0 - 0.5);
                    gauss(x - at, variance.sqrt())
                });
                sum.sum::<f64>() / f64::from(slices)
            };
            let reference = means[boundary] - 0.375;
            total += lost(reference - 1.5, reference, &|x| density(boundary, true, x));
            total += if boundary == 0 {
                let sigma = (0.35 * 0.35 + telegraph).sqrt();
                lost(reference, reference + 3.0, &|x| gauss(x - 1.4, sigma))
            } else {
                lost(reference, reference + 1.5, &|x| density(boundary - 1, false, x))
            };
        }
        total / 4.0
    }

    #[test]
    fn the_closed_form_is_the_convolution() {
        for (step, n, hours) in
            [(0.25, 3000.0, YEAR), (0.3333, 1000.0, 24.0), (0.1875, 5000.0, 0.0)]
        {
            let expected = by_quadrature(step, n, hours);
            let found = MLC().rber(1, step, n, hours);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn errors_rise_with_step_wear_and_time() {
        let mut rng = Rng::named(1, "physics/ispp");
        for _ in 0..5_000 {
            let bits = 1 + rng.below(4);
            let cell = Cell::new(bits, 300.0 + rng.unit() * 1e5);
            let page = rng.below(bits) as usize;
            let (step, n) = (0.1 + rng.unit() * 0.5, rng.unit() * 6.0 * cell.rated_cycles());
            let hours = (rng.unit() * 13.0).exp_m1();
            let rber = cell.rber(page, step, n, hours);
            // Closed forms of small tails carry rounding of this size.
            let least = rber * (1.0 - 1e-7) - 1e-18;
            assert!((0.0..=0.5).contains(&rber));
            assert!(cell.rber(page, step + rng.unit() * 0.1, n, hours) >= least);
            assert!(cell.rber(page, step, n + rng.unit() * 1e4, hours) >= least);
            assert!(cell.rber(page, step, n, hours + rng.unit() * 1e4) >= least);
        }
    }

    #[test]
    fn page_types_share_the_boundaries() {
        let of = |bits: u32, page: usize| Cell::new(bits, 1e3).boundaries(page).collect::<Vec<_>>();
        assert_eq!(of(1, 0), [1]);
        assert_eq!((of(2, 0), of(2, 1)), (vec![2], vec![1, 3]));
        // Vr1 to Vr7 of the read-disturb paper flip MSB, CSB, MSB, LSB, MSB, CSB, MSB.
        assert_eq!((of(3, 0), of(3, 1), of(3, 2)), (vec![4], vec![2, 6], vec![1, 3, 5, 7]));
        assert_eq!(of(4, 3).len(), 8);
    }

    #[test]
    fn single_bit_cells_outlive_their_rating_and_double_bit_cells_err_from_the_start() {
        // The statements about Grupp's Figures 6 and 7.
        let slc = Cell::new(1, 1e5);
        let (rated, beyond) =
            (slc.rber(0, STEP_VOLTS, 1e5, 0.0), slc.rber(0, STEP_VOLTS, 6e5, 0.0));
        assert!(rated < 1e-9 && beyond < 1e-4, "{rated} {beyond}");
        let mlc = Cell::new(2, 1e4);
        let (fresh, rated) =
            (mlc.worst_rber(STEP_VOLTS, 0.0, 0.0), mlc.worst_rber(STEP_VOLTS, 1e4, 0.0));
        assert!(fresh > 1e-6 && rated > 3.0 * fresh, "{fresh} {rated}");
    }
}

//! Soft reading: an LDPC code corrects more if its cells are sensed more finely, and the read takes
//! longer. The source is Li et al., "Access Characteristic Guided Read and Write Cost Regulation
//! for Performance Improvement on Flash Memory", FAST 2016, called AGCR here, section 2.2.

/// How many ways of sensing a drive has, from quick to fine.
const STEPS: usize = 3;

/// An LDPC code and how finely its drive senses.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Ldpc {
    /// Sensings at each boundary between two levels: 2^k − 1, so that they sort a cell into one of
    /// 2^k ranges.
    sensings: [u32; STEPS],
    /// The raw bit error rate that each corrects: `CBER(N)` of Eq. 1 and 2.
    correctable: [f64; STEPS],
}

impl Ldpc {
    /// 1, 3 or 7 sensings at each boundary, which correct 4e-3, 7e-3 and 1e-2.
    ///
    /// The sensings follow from AGCR's Table 1 (see [`ReadCost::AGCR`]). The rates are assumed,
    /// because the paper gives none. They are 27, 28 and 35 % of the channel's limit for any code
    /// of rate 8/9, and a test computes these shares. As far as is recalled, codes of 4 KB reach 30
    /// to 45 % of it when sensed once, at the error rates that drives promise.
    pub const DEFAULT: Self = Self { sensings: [1, 3, 7], correctable: [4e-3, 7e-3, 1e-2] };

    /// A code that corrects other rates. They must rise, lie between 0 and ½, and the sensings must
    /// rise from 1; `None` if they do not.
    pub fn new(sensings: [u32; STEPS], correctable: [f64; STEPS]) -> Option<Self> {
        let rise = sensings.is_sorted_by(|a, b| a < b) && correctable.is_sorted_by(|a, b| a < b);
        let within = sensings[0] == 1 && correctable.iter().all(|r| *r > 0.0 && *r < 0.5);
        (rise && within).then_some(Self { sensings, correctable })
    }

    /// The first step that corrects this raw bit error rate: 0 is a plain read. `None`: no sensing
    /// helps, the page is lost.
    #[inline]
    pub fn step_for(&self, rber: f64) -> Option<usize> {
        self.correctable.iter().position(|limit| rber <= *limit)
    }

    /// The raw bit error rate that a step corrects.
    pub fn correctable(&self, step: usize) -> f64 {
        self.correctable[step]
    }

    /// Sensings at each boundary in every step.
    pub fn all_sensings(&self) -> [u32; STEPS] {
        self.sensings
    }

    /// Sensings at each boundary in a step.
    pub fn sensings(&self, step: usize) -> u32 {
        self.sensings[step]
    }
}

/// Bit planes that must cross the bus to say which of N + 1 ranges a cell lies in: ⌈log2(N + 1)⌉.
pub fn planes(references: u32) -> u32 {
    (references + 1).next_power_of_two().ilog2()
}

/// AGCR's Eq. 2: RC(N) = α·N + β·⌈log2(N + 1)⌉, with N reference voltages.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct ReadCost {
    /// α: sensing against one reference voltage, in microseconds.
    pub sense_us: f64,
    /// β: the transfer of one bit plane, in microseconds.
    pub transfer_us: f64,
    /// Boundaries between levels that a read senses at.
    pub boundaries: u32,
}

impl ReadCost {
    /// The constants behind AGCR's Table 1.
    ///
    /// Table 1 prints 70, 170 and 310 µs and neither N nor α nor β. Of all whole N1 < N2 < N3 that
    /// reproduce it exactly, only 3, 9, 21 is three boundaries of an MLC times 1, 3, 7 sensings; α
    /// is then 10 µs and β 20 µs.
    pub const AGCR: Self = Self { sense_us: 10.0, transfer_us: 20.0, boundaries: 3 };

    /// Eq. 2 for a page type that is read in `read_us` with one sensing at each of its
    /// `boundaries`, and crosses the bus in `transfer_us`.
    pub fn of_page(read_us: f64, transfer_us: f64, boundaries: u32) -> Self {
        Self { sense_us: read_us / f64::from(boundaries), transfer_us, boundaries }
    }

    /// N: reference voltages in all, with `sensings` at each boundary.
    pub fn references(&self, sensings: u32) -> u32 {
        self.boundaries * sensings
    }

    /// Time of a read with `sensings` at each boundary, in microseconds.
    pub fn read_us(&self, sensings: u32) -> f64 {
        let n = self.references(sensings);
        self.sense_us * f64::from(n) + self.transfer_us * f64::from(planes(n))
    }

    /// The extra time of a read beyond one sensing at each boundary, in microseconds: in the array,
    /// and on the bus.
    pub fn extra_us(&self, sensings: u32) -> (f64, f64) {
        let (plain, n) = (self.references(1), self.references(sensings));
        let array = self.sense_us * f64::from(n - plain);
        (array, self.transfer_us * f64::from(planes(n) - planes(plain)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::math::{upper_tail, where_reaches};
    use super::*;
    use kernel::Rng;

    #[test]
    fn agcr_table_1_is_exact() {
        let cost = ReadCost::AGCR;
        for (step, expected) in [70.0, 170.0, 310.0].into_iter().enumerate() {
            let found = cost.read_us(Ldpc::DEFAULT.sensings(step));
            assert!((found - expected).abs() < 1e-12, "{step}: {found}");
        }
        assert_eq!([1, 3, 7].map(|m| cost.references(m)), [3, 9, 21]);
        // The shares of the array and of the bus.
        assert_eq!(cost.extra_us(1), (0.0, 0.0));
        assert_eq!(cost.extra_us(3), (60.0, 40.0));
        assert_eq!(cost.extra_us(7), (180.0, 60.0));
    }

    #[test]
    fn no_other_natural_series_gives_agcr_table_1() {
        let mut found = Vec::new();
        for n1 in 1..=8_u32 {
            for n2 in n1 + 1..40 {
                for n3 in n2 + 1..64 {
                    // Two equations give α and β, the third decides.
                    let (p1, p2, p3) = (planes(n1), planes(n2), planes(n3));
                    let (f1, f2) = (f64::from(n1), f64::from(n2));
                    let det = f1 * f64::from(p2) - f2 * f64::from(p1);
                    if det.abs() < 1e-9 {
                        continue;
                    }
                    let alpha = (70.0 * f64::from(p2) - 170.0 * f64::from(p1)) / det;
                    let beta = (f1 * 170.0 - f2 * 70.0) / det;
                    let third = alpha * f64::from(n3) + beta * f64::from(p3);
                    // One sensing at each of an MLC's boundaries, then 2^k − 1 of them.
                    let natural = n1 == 3
                        && [n2, n3].map(|n| (n / 3 + 1).is_power_of_two() && n % 3 == 0)
                            == [true; 2];
                    if (third - 310.0).abs() < 1e-9 && alpha > 0.0 && beta > 0.0 && natural {
                        found.push((n1, n2, n3, alpha, beta));
                    }
                }
            }
        }
        assert_eq!(found.len(), 1, "{found:?}");
        let (n1, n2, n3, alpha, beta) = found[0];
        assert_eq!((n1, n2, n3), (3, 9, 21));
        assert!((alpha - 10.0).abs() < 1e-9 && (beta - 20.0).abs() < 1e-9);
    }

    #[test]
    fn planes_name_ranges() {
        assert_eq!([1, 2, 3, 4, 7, 8, 9, 21].map(planes), [1, 2, 2, 3, 3, 4, 4, 5]);
    }

    #[test]
    fn finer_sensing_corrects_no_less_and_takes_no_less() {
        let mut rng = Rng::named(1, "physics/sensing");
        let mut seen = 0;
        for _ in 0..2_000 {
            let mut limits = [0; 3].map(|_| rng.unit() * 0.5);
            limits.sort_by(f64::total_cmp);
            let Some(ldpc) = Ldpc::new([1, 3, 7], limits) else { continue };
            seen += 1;
            let rber = rng.unit() * 0.6;
            let step = ldpc.step_for(rber);
            for finer in step.unwrap_or(3)..3 {
                assert!(rber <= ldpc.correctable(finer));
            }
            for coarser in 0..step.unwrap_or(3) {
                assert!(rber > ldpc.correctable(coarser));
            }
            let cost = ReadCost::of_page(rng.unit() * 100.0, rng.unit() * 50.0, 1 + rng.below(8));
            let (array, bus) = cost.extra_us(3);
            let sum = cost.read_us(1) + array + bus;
            assert!((cost.read_us(3) - sum).abs() < 1e-9);
            assert!(cost.read_us(7) >= cost.read_us(3) && cost.read_us(3) >= cost.read_us(1));
        }
        assert!(seen > 1_900);
        assert_eq!(Ldpc::new([1, 3, 7], [4e-3, 4e-3, 1e-2]), None);
        assert_eq!(Ldpc::new([2, 3, 7], [4e-3, 7e-3, 1e-2]), None);
    }

    /// The highest raw bit error rate at which some code of this rate corrects everything. The
    /// boundary is a channel of two inputs with Gaussian noise, sensed at `m` evenly spaced
    /// references with the best spacing. By Shannon's theorem no code does better.
    fn limit(rate: f64, m: u32) -> f64 {
        let information = |sigma: f64, spacing: f64| {
            let edge = |i: u32| (f64::from(i) - f64::from(m - 1) / 2.0) * spacing;
            let above = |t: f64, x: f64| upper_tail((t - x) / sigma);
            let mut sum = 0.0;
            for range in 0..=m {
                let within = |x: f64| {
                    let over = if range == 0 { 1.0 } else { above(edge(range - 1), x) };
                    over - if range == m { 0.0 } else { above(edge(range), x) }
                };
                let (plus, minus) = (within(1.0), within(-1.0));
                for p in [plus, minus] {
                    if p > 0.0 {
                        sum += 0.5 * p * (p / (0.5 * (plus + minus))).log2();
                    }
                }
            }
            sum
        };
        let best = |sigma: f64| {
            let spacings = (1..=60).map(|i| information(sigma, f64::from(i) * 0.02));
            spacings.fold(0.0, f64::max)
        };
        let sigma = where_reaches(-rate, 0.2, |sigma| -best(sigma));
        upper_tail(1.0 / sigma)
    }

    #[test]
    fn the_assumed_rates_are_within_what_the_channel_allows() {
        // Values computed apart from this code, to the digits given.
        for (rate, m, expected) in
            [(0.889, 1, 1.48e-2), (0.889, 3, 2.51e-2), (0.9, 7, 2.52e-2), (0.94, 3, 1.29e-2)]
        {
            let found = limit(rate, m);
            assert!((found / expected - 1.0).abs() < 0.01, "{rate} {m}: {found}");
        }
        let shares = [0, 1, 2].map(|step| {
            let ldpc = Ldpc::DEFAULT;
            ldpc.correctable(step) / limit(8.0 / 9.0, ldpc.sensings(step))
        });
        for (share, expected) in shares.into_iter().zip([0.27, 0.28, 0.35]) {
            assert!((share - expected).abs() < 0.01, "{shares:?}");
        }
    }
}

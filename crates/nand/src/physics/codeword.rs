//! How likely a codeword cannot be corrected: the tail of the binomial distribution.

use super::math::where_reaches;

/// A codeword of an error-correcting code.
///
/// The limits of [`Ldpc`](super::Ldpc) are raw bit error rates at which a drive still keeps its
/// promise of uncorrectable errors. A code that keeps a promise of `uber` up to a rate is usually
/// modelled as one that corrects a fixed number of errors. That number is the least for which the
/// binomial tail at that rate keeps the promise. The failures beyond the limit follow from it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Codeword {
    data_bits: u32,
    bits: u32,
}

impl Codeword {
    /// A codeword of `data_bits` (at least 1) at a code rate: the share of data, above 0 and at
    /// most 1.
    pub fn new(data_bits: u32, code_rate: f64) -> Self {
        assert!(data_bits > 0 && code_rate > 0.0 && code_rate <= 1.0, "no such code");
        Self { data_bits, bits: (f64::from(data_bits) / code_rate).round() as u32 }
    }

    /// Bits of data.
    pub fn data_bits(&self) -> u32 {
        self.data_bits
    }

    /// Bits in all, parity included.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The probability that more than `errors` of its bits are wrong at a raw bit error rate.
    ///
    /// A sum of one side of the binomial distribution, from its greatest term on, in units of that
    /// term. The logarithm of the term is taken, so 1e-300 is as exact as 0.5.
    pub fn failure(&self, errors: u32, rber: f64) -> f64 {
        if errors >= self.bits || rber <= 0.0 {
            return 0.0;
        }
        let (n, p) = (f64::from(self.bits), rber.min(0.5));
        let odds = p / (1.0 - p);
        let term = |j: f64| {
            let choose = ln_factorial(n) - ln_factorial(j) - ln_factorial(n - j);
            (choose + j * p.ln() + (n - j) * (-p).ln_1p()).exp()
        };
        let side = |mut j: f64, step: f64, ratio: &dyn Fn(f64) -> f64| {
            let (first, mut part, mut sum) = (term(j), 1.0, 1.0);
            while part > sum * 1e-16 && j > 0.0 && j < n {
                part *= ratio(j);
                sum += part;
                j += step;
            }
            first * sum
        };
        if f64::from(errors) + 1.0 > n * p {
            side(f64::from(errors) + 1.0, 1.0, &|j| (n - j) / (j + 1.0) * odds)
        } else {
            1.0 - side(f64::from(errors), -1.0, &|j| j / (n - j + 1.0) / odds)
        }
    }

    /// The errors that a code corrects which keeps the promise of `uber` uncorrectable errors for
    /// each bit read up to a raw bit error rate.
    pub fn errors_corrected(&self, rber: f64, uber: f64) -> u32 {
        let promised = uber * f64::from(self.data_bits);
        let errors = where_reaches(-promised, 0.0, |t| -self.failure(t.floor() as u32, rber));
        (errors.floor() as u32).min(self.bits)
    }

    /// Uncorrectable errors for each bit read, where one codeword that fails is one error
    /// (JESD218's UBER).
    pub fn uber(&self, errors: u32, rber: f64) -> f64 {
        self.failure(errors, rber) / f64::from(self.data_bits)
    }
}

/// ln x! for whole x: Stirling's series, whose first term left out is below 1e-12 from 15 on, and
/// below it the product.
fn ln_factorial(x: f64) -> f64 {
    if x < 15.0 {
        return (2..=x as u32).map(|i| f64::from(i).ln()).sum();
    }
    let x2 = x * x;
    x * x.ln() - x
        + 0.5 * (2.0 * std::f64::consts::PI * x).ln()
        + (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * x2)) / x2) / x2) / x
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    /// The tail term by term, from the recursion of the probabilities themselves.
    fn by_recursion(n: u32, errors: u32, p: f64) -> f64 {
        let mut mass = vec![0.0_f64; n as usize + 1];
        mass[0] = 1.0;
        for bits in 1..=n as usize {
            for j in (1..=bits).rev() {
                mass[j] = mass[j] * (1.0 - p) + mass[j - 1] * p;
            }
            mass[0] *= 1.0 - p;
        }
        mass[errors as usize + 1..].iter().rev().sum()
    }

    #[test]
    fn the_tail_is_that_of_bits_thrown_one_by_one() {
        let code = Codeword::new(400, 0.8);
        assert_eq!(code.bits(), 500);
        for (errors, p) in [(0, 1e-3), (3, 0.01), (12, 0.01), (30, 0.01), (5, 0.02), (240, 0.5)] {
            let expected = by_recursion(500, errors, p);
            let found = code.failure(errors, p);
            assert!((found / expected - 1.0).abs() < 1e-9, "{errors} {p}: {found} {expected}");
        }
        assert!(code.failure(500, 0.3).abs() < 1e-300 && code.failure(3, 0.0).abs() < 1e-300);
    }

    #[test]
    fn the_promise_is_kept_up_to_the_limit_and_no_further() {
        let code = Codeword::new(32_768, 8.0 / 9.0);
        assert_eq!(code.bits(), 36_864);
        for limit in [4e-3, 7e-3, 1e-2] {
            let t = code.errors_corrected(limit, 1e-15);
            assert!(code.uber(t, limit) <= 1e-15 && code.uber(t - 1, limit) > 1e-15, "{limit}");
            // A normal tail of 3e-11 lies some six and a half deviations above the mean.
            let mean = 36_864.0 * limit;
            let away = (f64::from(t) - mean) / (mean * (1.0 - limit)).sqrt();
            assert!((6.3..7.2).contains(&away), "{limit}: {away}");
        }
    }

    #[test]
    fn more_errors_fail_more_and_more_correction_less() {
        let mut rng = Rng::named(1, "physics/codeword");
        for _ in 0..500 {
            let code = Codeword::new(1 + rng.below(5_000), 0.5 + rng.unit() * 0.5);
            let (t, p) = (rng.below(code.bits()), rng.unit() * 0.2);
            let fails = code.failure(t, p);
            assert!((0.0..=1.0).contains(&fails));
            assert!(code.failure(t, p * 1.1) >= fails * (1.0 - 1e-9));
            assert!(code.failure(t + 1, p) <= fails * (1.0 + 1e-9) + 1e-15);
        }
    }

    #[test]
    fn factorials_agree_with_their_product() {
        let mut sum = 0.0;
        for x in 1..200_u32 {
            sum += f64::from(x).ln();
            assert!((ln_factorial(f64::from(x)) - sum).abs() < 1e-10 * sum.max(1.0), "{x}");
        }
    }
}

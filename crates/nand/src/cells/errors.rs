//! Bit errors at a rate.

use kernel::Rng;

/// Returns the distance to the next error if each bit errs with probability `rate`. It is
/// geometric, from one uniform number.
fn gap(rng: &mut Rng, ln_right: f64) -> f64 {
    ((1.0 - rng.unit()).ln() / ln_right).floor()
}

/// Flips each bit of `words` with probability `rate` (0 to 1); returns how many it flipped. Costs in
/// proportion to the errors, not to the bits.
pub fn flip(words: &mut [u64], rate: f64, rng: &mut Rng) -> u32 {
    if rate <= 0.0 {
        return 0;
    }
    let bits = (words.len() * 64) as f64;
    let ln_right = (-rate.min(1.0 - 1e-16)).ln_1p();
    let (mut at, mut flipped) = (gap(rng, ln_right), 0);
    while at < bits {
        let bit = at as usize;
        words[bit / 64] ^= 1 << (bit % 64);
        flipped += 1;
        at += 1.0 + gap(rng, ln_right);
    }
    flipped
}

/// How many of `bits` err, each with probability `rate`: binomial.
///
/// Few expected errors are counted from gap to gap. Above 200 the normal approximation is used,
/// whose relative error is below the spread by then.
pub fn errors(bits: u64, rate: f64, rng: &mut Rng) -> u64 {
    if rate <= 0.0 {
        return 0;
    }
    let (n, p) = (bits as f64, rate.min(1.0 - 1e-16));
    if n * p > 200.0 {
        let deviation = (n * p * (1.0 - p)).sqrt();
        return (n * p + deviation * rng.normal()).round().clamp(0.0, n) as u64;
    }
    let ln_right = (-p).ln_1p();
    let (mut at, mut found) = (gap(rng, ln_right), 0);
    while at < n {
        found += 1;
        at += 1.0 + gap(rng, ln_right);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bits_flip_as_the_rate_says_and_anywhere() {
        let mut rng = Rng::named(1, "cells/flip");
        for rate in [1e-4, 3e-3, 0.2] {
            let mut total = 0.0;
            let mut halves = [0_u32; 2];
            for _ in 0..200 {
                let mut words = vec![0_u64; 512];
                total += f64::from(flip(&mut words, rate, &mut rng));
                for (half, part) in halves.iter_mut().zip(words.chunks(256)) {
                    *half += part.iter().map(|w| w.count_ones()).sum::<u32>();
                }
            }
            assert!((f64::from(halves[0] + halves[1]) - total).abs() < 0.5, "each flips a bit");
            let expected = 200.0 * 32_768.0 * rate;
            assert!((total - expected).abs() < 4.5 * expected.sqrt(), "{rate}: {total}");
            let apart = f64::from(halves[0]) - f64::from(halves[1]);
            assert!(apart.abs() < 4.5 * expected.sqrt(), "{rate}: {halves:?}");
        }
        assert_eq!(flip(&mut [0; 4], 0.0, &mut rng), 0);
        let mut all = [0; 4];
        assert_eq!(flip(&mut all, 1.0, &mut rng), 256);
    }

    #[test]
    fn counts_have_the_mean_and_the_spread_of_a_binomial() {
        let mut rng = Rng::named(2, "cells/errors");
        for (bits, rate) in [(65_536, 1e-3), (65_536, 1e-5), (65_536, 0.01), (100, 0.5)] {
            let draws = 4_000;
            let counts: Vec<f64> =
                (0..draws).map(|_| errors(bits, rate, &mut rng) as f64).collect();
            let mean = counts.iter().sum::<f64>() / f64::from(draws);
            let variance =
                counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / f64::from(draws);
            let (n, np) = (bits as f64, bits as f64 * rate);
            let expected = np * (1.0 - rate);
            let error = (expected / f64::from(draws)).sqrt();
            assert!((mean - np).abs() < 4.5 * error, "{bits} {rate}: {mean}");
            // The variance of a sample variance: (kurtosis − 1)/draws of it squared, with 3 + 1/np.
            let doubt = ((2.0 + 1.0 / np) / f64::from(draws)).sqrt();
            assert!((variance / expected - 1.0).abs() < 4.5 * doubt, "{n} {rate}: {variance}");
        }
    }
}

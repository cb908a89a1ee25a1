//! Named random streams.
//!
//! One generator per purpose, split from the seed by name: a draw added in one place moves
//! nothing elsewhere. The algorithm is named and frozen (xoshiro256++), so that a seed means the
//! same numbers in every release.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use std::f64::consts::TAU;

/// A stream of random numbers with a name.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream `name` of `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a: the name only has to separate streams.
        let mut tag = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            tag = (tag ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut mix = SplitMix64::seed_from_u64(seed ^ tag.rotate_left(17));
        Self(Xoshiro256PlusPlus::seed_from_u64(mix.next_u64() ^ tag))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n`; `n` must not be zero. The bias is below 2^-32 (multiply and shift).
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        debug_assert!(n > 0);
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u32
    }

    /// A number in `0..n`; `n` must not be zero.
    #[inline]
    pub fn below_u64(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An exponentially distributed number with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normally distributed number with mean 0 and variance 1, by Box and Muller: an exponential
    /// variable is half the square of the radius.
    pub fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (TAU * self.unit()).cos()
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below_u64(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_seed_and_repeat() {
        let first = |seed, name| Rng::named(seed, name).bits();
        assert_eq!(first(1, "gc"), first(1, "gc"));
        assert_ne!(first(1, "gc"), first(1, "victim"));
        assert_ne!(first(1, "gc"), first(2, "gc"));
    }

    #[test]
    fn below_is_uniform_by_chi_square() {
        let (n, draws) = (10, 100_000);
        let mut rng = Rng::named(3, "chi");
        let mut seen = vec![0_u32; n as usize];
        for _ in 0..draws {
            seen[rng.below(n) as usize] += 1;
        }
        let expected = f64::from(draws) / f64::from(n);
        let chi: f64 = seen.iter().map(|&s| (f64::from(s) - expected).powi(2) / expected).sum();
        assert!(chi < 27.9, "chi-square {chi} over 9 degrees of freedom (p = 0.001)");
    }

    /// The quartiles of the normal distribution are 0.6745 away from its mean.
    #[test]
    fn normal_has_the_quartiles_of_its_distribution() {
        let mut rng = Rng::named(3, "normal");
        let draws: Vec<f64> = (0..200_000).map(|_| rng.normal()).collect();
        let below = |z: f64| draws.iter().filter(|&&d| d < z).count() as f64 / draws.len() as f64;
        for (z, share) in [(-0.6745, 0.25), (0.0, 0.5), (0.6745, 0.75), (2.326_348, 0.99)] {
            assert!((below(z) - share).abs() < 0.004, "{} below {z}", below(z));
        }
    }

    #[test]
    fn exponential_has_mean_one() {
        let mut rng = Rng::named(3, "exp");
        let mean = (0..200_000).map(|_| rng.exponential()).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }
}

//! How samples of a chip differ, and the pages of their blocks.

use kernel::Rng;

/// The standard deviation of the logarithm of the raw bit error rate, between samples of a chip and
/// between equal pages of its blocks.
///
/// Grupp 3.5 has both kinds of difference in figures that are lost ("very different error rates",
/// "large variation"), and no number: these are assumed. Gerardin et al. found the log-normal best
/// for the errors of samples of flash ("Sample-to-Sample Variability of Floating Gate Errors", IEEE
/// TNS 2015).
pub const SPREAD: f64 = 0.5;

/// Error rates of a sample's pages, as a share of the model's rate for their kind. They depend on
/// the place in a block, and are the same for all blocks of the sample.
#[derive(Clone, Debug)]
pub struct Variation {
    of_pages: Vec<f64>,
}

impl Variation {
    /// Draws a sample with blocks of `pages` pages. The mean over all samples is 1.
    pub fn draw(rng: &mut Rng, pages: u32) -> Self {
        let sample = factor(rng);
        Self { of_pages: (0..pages).map(|_| sample * factor(rng)).collect() }
    }

    /// The factors of all pages of a block.
    pub fn of_pages(&self) -> &[f64] {
        &self.of_pages
    }
}

fn factor(rng: &mut Rng) -> f64 {
    (SPREAD * rng.normal() - SPREAD * SPREAD / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_log_normal_with_a_mean_of_one() {
        let mut rng = Rng::named(7, "physics/variation");
        let draws: Vec<f64> = (0..200_000).map(|_| factor(&mut rng)).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        // 84.1 % of a normal variable lie below one standard deviation, 2.3 % below minus two.
        for (z, share) in [(1.0, 0.8413), (0.0, 0.5), (-2.0, 0.0228)] {
            let limit = (SPREAD * z - SPREAD * SPREAD / 2.0).exp();
            let below = draws.iter().filter(|x| **x < limit).count() as f64 / n;
            assert!((below - share).abs() < 0.005, "{z}: {below}");
        }
    }

    #[test]
    fn pages_of_a_sample_share_its_own_factor() {
        // Between samples the variance of a page's logarithm has both parts, within a sample only
        // one.
        let mut rng = Rng::named(8, "physics/variation");
        let logs: Vec<Vec<f64>> = (0..2_000)
            .map(|_| {
                let of_pages = Variation::draw(&mut rng, 64).of_pages;
                of_pages.iter().map(|f| f.ln()).collect()
            })
            .collect();
        let variance = |xs: &[f64]| {
            let mean = xs.iter().sum::<f64>() / xs.len() as f64;
            xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (xs.len() - 1) as f64
        };
        let within = logs.iter().map(|x| variance(x)).sum::<f64>() / logs.len() as f64;
        let firsts: Vec<f64> = logs.iter().map(|x| x[0]).collect();
        assert!((within - 0.25).abs() < 0.01, "{within}");
        assert!((variance(&firsts) - 0.5).abs() < 0.05, "{}", variance(&firsts));
    }
}

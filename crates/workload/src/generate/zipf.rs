//! Zipf's law over any number of places, without a table.
//!
//! Rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
//! from monotone discrete distributions", ACM TOMACS 6(3), 1996. Exact for every exponent above 0,
//! about 1.1 tries a draw, for any number of places.

use kernel::Rng;

/// On a drive scaled down, one place in this number has a rank of its own.
const ALONE: u64 = 1024;

/// Ranks 1, 2, … n with weights k^-theta, the ranks spread evenly over the places.
///
/// On a drive scaled down a place stands for several neighbours in rank. So a share of the places
/// has the share of the accesses that it has on the whole drive. The most popular ranks are too few
/// to matter there, and keep a place each: caches know them one by one.
#[derive(Debug)]
pub(super) struct Zipf {
    /// The ranks.
    n: u64,
    places: u64,
    /// Ranks with a place of their own.
    alone: u64,
    theta: f64,
    /// H(n + 1/2) and H(3/2) - 1: the range that is inverted.
    top: f64,
    bottom: f64,
    /// Draws this close below their rank are accepted without a second test.
    shortcut: f64,
    /// Rank k is at place k * step mod n.
    step: u64,
}

impl Zipf {
    /// `n` at least 1, `theta` above 0.
    #[cfg(test)]
    pub(super) fn new(n: u64, theta: f64) -> Self {
        Self::scaled(n, 1, theta)
    }

    /// The places of a drive scaled down, each for `scale` of the whole drive.
    pub(super) fn scaled(places: u64, scale: u64, theta: f64) -> Self {
        let n = places.saturating_mul(scale).min(1 << 52);
        let alone = if scale == 1 { n } else { places / ALONE };
        let step = golden_step(places);
        let [top, bottom, shortcut] = [0.0; 3];
        let bare = Self { n, places, alone, theta, top, bottom, shortcut, step };
        Self {
            top: bare.integral(n as f64 + 0.5),
            bottom: bare.integral(1.5) - 1.0,
            shortcut: 2.0 - bare.inverse(bare.integral(2.5) - bare.weight(2.0)),
            ..bare
        }
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// H(x), the integral of the weight from 1 to x.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let a = (1.0 - self.theta) * log;
        // (e^a - 1) / a by its series where the quotient loses its digits.
        let quotient = if a.abs() > 1e-8 { a.exp_m1() / a } else { 1.0 + a / 2.0 };
        quotient * log
    }

    fn inverse(&self, y: f64) -> f64 {
        let a = (y * (1.0 - self.theta)).max(-1.0);
        let quotient = if a.abs() > 1e-8 { a.ln_1p() / a } else { 1.0 - a / 2.0 };
        (quotient * y).exp()
    }

    /// A rank, from 1.
    #[inline]
    pub(super) fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.top + rng.unit() * (self.bottom - self.top);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n as f64);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.weight(k) {
                return (k as u64).min(self.n);
            }
        }
    }

    /// A place in 0..n.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        self.place(self.rank(rng))
    }

    /// The place of the rank. Neighbours in rank lie about n/phi apart, so popular places are not
    /// neighbours, and not on one stride of a power of two.
    #[inline]
    pub(super) fn place(&self, rank: u64) -> u64 {
        let (places, mut rank) = (self.places, rank);
        if rank > self.alone {
            let (shared, left) = (self.n - self.alone, places - self.alone);
            let after = u128::from(rank - self.alone - 1) * u128::from(left) / u128::from(shared);
            rank = self.alone + 1 + after as u64;
        }
        if places <= 1 << 32 {
            (rank % places) * self.step % places
        } else {
            (u128::from(rank) * u128::from(self.step) % u128::from(places)) as u64
        }
    }
}

/// The number next above n/phi that shares no factor with n, so that the places are a
/// permutation of the ranks.
fn golden_step(n: u64) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let start = (n as f64 * 0.618_033_988_749_894_9) as u64;
    (start.max(1)..=n).find(|&step| gcd(step, n) == 1).unwrap_or(1)
}

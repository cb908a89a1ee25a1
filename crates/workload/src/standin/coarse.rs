//! How uneven the demand of a trace is over half hours and longer, fitted to the published values.
//!
//! READY's Figure 4 says which share of half hours writes about as much as the one before. The bias
//! of the levels whose intervals are longer than a quarter of an hour decides that share: an interval
//! which two half hours share counts as well.

use kernel::Rng;

use super::cascade::{Bursts, rounded};

/// Seconds of an epoch.
const EPOCH: f64 = 1800.0;
/// The levels of intervals as long as this are fitted.
const COARSE: f64 = EPOCH / 2.0;
/// Two epochs are alike if they differ by less than this share of the first.
const ALIKE: f64 = 0.3;
/// Draws whose mean is taken.
const DRAWS: u64 = 256;
/// The finest intervals that are distinguished, at most this part of an epoch.
const FINEST: f64 = EPOCH / 16.0;

/// Sets the bias of the writes at coarse levels so that a share of the half hours is like the one
/// before. A share beyond the range of a bias is met as far as possible.
pub(crate) fn fit(bursts: &mut Bursts, seconds: f64, share: f64) {
    let (mut low, mut high) = (0.0, 0.95);
    for _ in 0..16 {
        let middle = f64::midpoint(low, high);
        set(bursts, seconds, middle);
        if alike(bursts, seconds) > share { low = middle } else { high = middle }
    }
    set(bursts, seconds, rounded(f64::midpoint(low, high)));
}

fn set(bursts: &mut Bursts, seconds: f64, bias: f64) {
    for levels in [&mut bursts.quiet, &mut bursts.busy] {
        for (level, m) in levels.writes.iter_mut().enumerate() {
            if seconds * (-(level as f64)).exp2() >= COARSE {
                *m = bias;
            }
        }
    }
}

/// The share of the half hours that differ by less than [`ALIKE`] from the one before, in the mean
/// of some draws. Each level is halved as in the cascade, with shares instead of requests.
pub(super) fn alike(bursts: &Bursts, seconds: f64) -> f64 {
    let epochs = (seconds / EPOCH) as usize;
    let mut like = 0;
    for draw in 0..DRAWS {
        let mut rng = Rng::named(draw, "stand-in/coarse");
        let shares = halved(bursts, seconds, &mut rng);
        let demand = by_epoch(&shares, seconds, epochs);
        let pairs = demand.windows(2);
        like += pairs.filter(|w| (w[1] - w[0]).abs() < ALIKE * w[0]).count();
    }
    like as f64 / (epochs.saturating_sub(1).max(1) as f64 * DRAWS as f64)
}

fn halved(bursts: &Bursts, seconds: f64, rng: &mut Rng) -> Vec<f64> {
    let mut shares = vec![1.0];
    let mut width = seconds;
    for (level, m) in bursts.quiet.writes.iter().enumerate() {
        if width <= FINEST {
            break;
        }
        let half = |(index, share): (usize, f64)| {
            let even = bursts.first_half(level, index as u64, seconds / 3600.0);
            let sign = if rng.bits() >> 63 == 0 { 1.0 } else { -1.0 };
            let first = super::cascade::favoured(even, sign * m);
            [share * first, share * (1.0 - first)]
        };
        shares = shares.into_iter().enumerate().flat_map(half).collect();
        width /= 2.0;
    }
    shares
}

fn by_epoch(shares: &[f64], seconds: f64, epochs: usize) -> Vec<f64> {
    let width = seconds / shares.len() as f64;
    let mut demand = vec![0.0; epochs + 1];
    for (i, share) in shares.iter().enumerate() {
        let (begin, end) = (i as f64 * width, (i + 1) as f64 * width);
        let epoch = (begin / EPOCH) as usize;
        let border = (epoch + 1) as f64 * EPOCH;
        let beyond = ((end - border) / width).clamp(0.0, 1.0);
        for (at, part) in [(epoch, 1.0 - beyond), (epoch + 1, beyond)] {
            if let Some(sum) = demand.get_mut(at) {
                *sum += share * part;
            }
        }
    }
    demand.truncate(epochs);
    demand
}

//! Write demand of consecutive epochs: how well the last one foretells the next.
//!
//! READY (Lee et al., FAST 2012) cuts time into epochs of equal length and predicts that each
//! writes as much as the one before. Its Figure 4 shows the *difference* between prediction and
//! outcome in percent of the prediction (100 MB predicted, 95 MB written: 5 %). It is a cumulative
//! distribution over epochs, for epochs from one minute to two hours. Here the bytes are the
//! host's, and an epoch that the span cuts short is left out.

use kernel::Dur;
use serde::Serialize;

use super::share;
use crate::{Op, Request};

/// Differences above this many percent are only counted.
const PERCENT: usize = 200;

/// Epochs of one length.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Epochs {
    /// Length of an epoch.
    pub length_ns: u64,
    /// Whole epochs in the span.
    pub epochs: u64,
    /// Pairs of consecutive epochs. `w[i-1]` is predicted, `w[i]` is written; the difference is
    /// `|w[i] - w[i-1]| / w[i-1]`, 0 where nothing is predicted and nothing is written.
    pub pairs: u64,
    /// Pairs where nothing was predicted and something written: the difference is without bound,
    /// and larger than every percentage.
    pub unpredicted: u64,
    /// Mean of the bounded differences, in percent: READY chooses the length where it is least
    /// (its Section 3.5).
    pub mean_percent: Option<f64>,
    /// The distribution: at index `p`, the share of pairs that differ by at most `p` %, for `p`
    /// from 0 to 200. Empty without pairs.
    pub within_percent: Vec<f64>,
}

pub(super) struct EpochDemand {
    length: u64,
    current: u64,
    /// When the current epoch ends.
    end_ns: u64,
    written: u64,
    /// The demand of the epoch before; `None` in the first.
    before: Option<u64>,
    /// Pairs by their difference in percent, rounded up.
    by_percent: [u64; PERCENT + 1],
    unpredicted: u64,
    sum_percent: f64,
}

impl EpochDemand {
    pub(super) fn new(length: Dur) -> Self {
        Self {
            length: length.as_ns(),
            current: 0,
            end_ns: length.as_ns(),
            written: 0,
            before: None,
            by_percent: [0; PERCENT + 1],
            unpredicted: 0,
            sum_percent: 0.0,
        }
    }

    pub(super) fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            self.reach(r.at.as_ns());
            if r.op == Op::Write {
                self.written += u64::from(r.len);
            }
        }
    }

    /// Begins the epoch of a time.
    #[inline]
    fn reach(&mut self, at: u64) {
        if at >= self.end_ns {
            self.advance(at / self.length);
        }
    }

    /// Ends the current epoch and the idle ones before `epoch`.
    fn advance(&mut self, epoch: u64) {
        let idle = epoch - self.current - 1;
        self.end();
        if idle > 0 {
            self.end();
            // Nothing differs from one idle epoch to the next.
            self.by_percent[0] += idle - 1;
        }
        self.current = epoch;
        self.end_ns = (epoch + 1).saturating_mul(self.length);
    }

    fn end(&mut self) {
        let written = std::mem::take(&mut self.written);
        match self.before.replace(written) {
            None => {}
            Some(0) if written > 0 => self.unpredicted += 1,
            Some(before) => {
                let hundredfold = 100 * u128::from(written.abs_diff(before));
                let percent = hundredfold.div_ceil(u128::from(before.max(1)));
                let place = usize::try_from(percent).unwrap_or(usize::MAX);
                if let Some(pairs) = self.by_percent.get_mut(place) {
                    *pairs += 1;
                }
                self.sum_percent += hundredfold as f64 / before.max(1) as f64;
            }
        }
    }

    pub(super) fn finish(mut self, span: u64) -> Epochs {
        // The span cuts the last epoch short: it did not end.
        self.reach(span);
        let epochs = span / self.length;
        let pairs = epochs.saturating_sub(1);
        let bounded = pairs - self.unpredicted;
        let mut within = 0;
        let cumulative = self.by_percent.iter().filter_map(|more| {
            within += more;
            share(within, pairs)
        });
        Epochs {
            length_ns: self.length,
            epochs,
            pairs,
            unpredicted: self.unpredicted,
            within_percent: cumulative.collect(),
            mean_percent: (bounded > 0).then(|| self.sum_percent / bounded as f64),
        }
    }
}

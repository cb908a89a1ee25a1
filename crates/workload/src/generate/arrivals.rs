//! When requests arrive.

use kernel::{Rng, Time};
use serde::{Deserialize, Serialize};

/// When the requests of a generator arrive.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrivals {
    /// All at time zero: the drive's queue depth sets the pace.
    #[default]
    AsFastAsPossible,
    /// At equal distances.
    Constant {
        /// Requests per second, above 0 and at most 10^9.
        iops: f64,
    },
    /// At exponentially distributed distances.
    Poisson {
        /// Mean requests per second, above 0 and at most 10^9.
        iops: f64,
    },
}

impl Arrivals {
    /// Whether a rate of requests is allowed: above 0 and at most 10^9 a second.
    pub fn is_rate(iops: f64) -> bool {
        iops > 0.0 && iops <= 1e9
    }

    /// The mistake in the rate, if there is one.
    pub(super) fn check(self) -> Result<(), String> {
        match self {
            Self::Constant { iops } | Self::Poisson { iops } if !Self::is_rate(iops) => {
                Err(format!("{iops} requests per second"))
            }
            _ => Ok(()),
        }
    }
}

/// Gives each request its arrival; the first arrives at zero.
#[derive(Debug)]
pub(super) enum ArrivalClock {
    Still,
    Constant {
        gap_ns: f64,
        made: u64,
    },
    /// The whole nanoseconds and the fraction kept apart, so that a long run loses nothing.
    Poisson {
        gap_ns: f64,
        now: u64,
        fraction: f64,
        rng: Rng,
    },
}

impl ArrivalClock {
    pub(super) fn new(arrivals: Arrivals, rng: Rng) -> Self {
        match arrivals {
            Arrivals::AsFastAsPossible => Self::Still,
            Arrivals::Constant { iops } => Self::Constant { gap_ns: 1e9 / iops, made: 0 },
            Arrivals::Poisson { iops } => {
                Self::Poisson { gap_ns: 1e9 / iops, now: 0, fraction: 0.0, rng }
            }
        }
    }

    #[inline(always)]
    pub(super) fn tick(&mut self) -> Time {
        match self {
            Self::Still => Time::ZERO,
            Self::Constant { gap_ns, made } => {
                let at = *made as f64 * *gap_ns;
                *made += 1;
                Time::from_ns(at.round() as u64)
            }
            Self::Poisson { gap_ns, now, fraction, rng } => {
                let at = Time::from_ns(*now);
                let gap = rng.exponential() * *gap_ns + *fraction;
                *now = now.saturating_add(gap as u64);
                *fraction = gap.fract();
                at
            }
        }
    }
}

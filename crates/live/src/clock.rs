//! How wall time and simulated time go together.

use ssd::kernel::{Dur, Time};
use std::time::{Duration, Instant};

/// How simulated time passes.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum TimePace {
    /// As long as requests are inside and none waits to come in.
    Fast,
    /// With the wall clock, slower by this factor.
    Real {
        /// Wall time for each unit of simulated time.
        slowdown: f64,
    },
}

/// The wall clock as simulated time, from the first request on.
pub(crate) struct WallClock {
    pace: TimePace,
    /// An instant, and the simulated time at it.
    since: Option<(Instant, Time)>,
}

impl WallClock {
    pub(crate) fn new(pace: TimePace) -> Self {
        Self { pace, since: None }
    }

    /// Whether simulated time passes with the wall clock.
    pub(crate) fn is_real(&self) -> bool {
        self.pace != TimePace::Fast
    }

    fn slowdown(&self) -> f64 {
        match self.pace {
            TimePace::Fast => 1.0,
            TimePace::Real { slowdown } => slowdown,
        }
    }

    /// Sets the simulated time at an instant.
    pub(crate) fn set(&mut self, wall: Instant, now: Time) {
        self.since = Some((wall, now));
    }

    /// The simulated time, if it passes with the wall clock and has begun to.
    pub(crate) fn now(&self, wall: Instant) -> Option<Time> {
        let (then, at) = self.since.filter(|_| self.is_real())?;
        let passed = wall.saturating_duration_since(then).as_nanos() as f64 / self.slowdown();
        Some(at + Dur::ns(passed as u64))
    }

    /// The instant of a simulated time.
    pub(crate) fn wall_of(&self, at: Time) -> Option<Instant> {
        let (then, since) = self.since.filter(|_| self.is_real())?;
        if at <= since {
            return Some(then);
        }
        Some(then + Duration::from_nanos(((at - since).as_ns() as f64 * self.slowdown()) as u64))
    }

    /// The wall time of a simulated time.
    pub(crate) fn wall(&self, simulated: Dur) -> Duration {
        Duration::from_nanos((simulated.as_ns() as f64 * self.slowdown()) as u64)
    }
}

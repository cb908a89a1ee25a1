//! The time of a piece of work, by the clock on the wall and of the processor.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Runs from the moment that it is made, for the thread that makes it.
#[derive(Copy, Clone)]
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: of_this_thread() }
    }

    /// Seconds by the clock on the wall.
    pub(crate) fn wall(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Seconds that the processor has worked for this thread. On a thread other than the one that
    /// started it they mean nothing.
    pub(crate) fn cpu(&self) -> f64 {
        of_this_thread().saturating_sub(self.cpu).as_secs_f64()
    }

    /// Both, as results have them.
    pub(crate) fn timing(&self) -> Value {
        json!({ "wall_seconds": self.wall(), "cpu_seconds": self.cpu() })
    }
}

/// The processor time of this thread since it began.
fn of_this_thread() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

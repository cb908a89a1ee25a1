//! The time that a session took, for its result.

use rustix::time::{ClockId, clock_gettime};
use ssd::WallTimes;
use std::time::{Duration, Instant};

/// A clock that runs since a drive was requested.
pub(crate) struct SessionClock {
    start: Instant,
    ready: Instant,
    cpu: Duration,
}

impl SessionClock {
    pub(crate) fn start() -> Self {
        let now = Instant::now();
        Self { start: now, ready: now, cpu: of_this_process() }
    }

    /// Notes that the drive is filled and aged.
    pub(crate) fn ready(self) -> Self {
        Self { ready: Instant::now(), ..self }
    }

    /// The times until now. The processor time is that of the whole program.
    pub(crate) fn times(&self) -> WallTimes {
        WallTimes {
            wall: self.start.elapsed().as_secs_f64(),
            cpu: of_this_process().saturating_sub(self.cpu).as_secs_f64(),
            running: self.ready.elapsed().as_secs_f64(),
        }
    }
}

fn of_this_process() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

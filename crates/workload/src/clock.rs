//! The range of the times of requests, and the times at another speed.

use crate::error::detail;
use crate::{Request, Spot, TraceError};
use kernel::{Dur, Time};

/// No time has more bits: 146 years in nanoseconds.
const BITS: u32 = 62;

/// Whether a time lies within the clock.
pub(crate) fn fits(ns: u64) -> bool {
    ns >> BITS == 0
}

/// Checks that requests, which are in order, come within the range of the clock. `hint` is a way
/// out.
pub(crate) fn in_time(batch: &[Request], name: &str, hint: &str) -> Result<(), TraceError> {
    match batch.last() {
        Some(last) if !fits(last.at.as_ns()) => {
            let found = "a request comes 146 years after the first, or later";
            let expected = "times below 146 years";
            Err(TraceError::Clock(detail(&name.into(), Spot::Whole, found, expected, hint)))
        }
        _ => Ok(()),
    }
}

/// Speeds up requests, which are in order: each comes at its time divided by `speed`.
///
/// # Errors
/// One comes later than the clock goes; the error has `name`.
pub fn at_speed(batch: &mut [Request], speed: f64, name: &str) -> Result<(), TraceError> {
    if (speed - 1.0).abs() < f64::EPSILON {
        return Ok(());
    }
    for r in &mut *batch {
        r.at = Time::ZERO + Dur::from_secs_f64(r.at.as_secs_f64() / speed);
    }
    in_time(batch, name, "choose a greater speed, or take fewer requests")
}

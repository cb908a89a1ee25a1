//! A fixed number of bytes for each period, as a state machine over periods.

use super::regulator::Grant;

/// A fixed rate. The unused rest of a period is lost; an excess is charged to the next ones.
#[derive(Copy, Clone, Debug)]
pub struct FixedRate {
    per_period: f64,
    debt: f64,
    used: f64,
}

impl FixedRate {
    /// The bytes that may be programmed in each period.
    pub fn new(per_period: f64) -> Self {
        Self { per_period, debt: 0.0, used: 0.0 }
    }

    /// The bytes that may be programmed in the rest of the current period.
    #[inline]
    pub fn grant(&self) -> Grant {
        Grant { bytes: self.per_period - self.debt - self.used, delay: 0.0 }
    }

    /// Counts the programs of the current period.
    #[inline]
    pub fn spend(&mut self, bytes: f64) {
        self.used += bytes;
    }

    /// Ends the current period and `more` after it, in which nothing was programmed.
    #[inline]
    pub fn next(&mut self, more: u64) {
        let paid = self.per_period * (1.0 + more as f64);
        self.debt = (self.debt + self.used - paid).max(0.0);
        self.used = 0.0;
    }

    /// Periods, after the current one, until something may be programmed again; `left` is the rest
    /// of the current one, zero or negative.
    pub fn periods_until_more(&self, left: f64) -> u64 {
        (-left / self.per_period).floor() as u64 + 1
    }

    /// Bytes for each period.
    pub fn per_period(&self) -> f64 {
        self.per_period
    }
}

//! Whether requests arrive faster than they are served, in a run whose arrivals do not wait.
//!
//! A drive that cannot keep up shows three signs. Each alone may have another cause:
//!
//! * More requests are outstanding as the last one arrives than chance leaves there. A burst does
//!   that, too.
//! * Their number has grown over the run. A drive that becomes slower and still keeps up does that,
//!   too.
//! * Serving them takes long, compared with the time in which they arrived. So it does in a short
//!   run.
//!
//! All three together show an overloaded queue. At `r > 1` times its rate of service it has
//! `(1 - 1/r) n` requests outstanding after `n`. It then continues for `r - 1` times the time of
//! the arrivals.

use kernel::{Dur, Time};

/// The most rows; with more, every two become one.
const ROWS: usize = 64;

/// The fewest arrivals from which a rate can be estimated.
const ENOUGH: u64 = 1000;

/// Random arrivals at exactly the rate of service leave about `sqrt(n)` requests outstanding after
/// `n`. Three times that is beyond chance.
const BEYOND_CHANCE: f64 = 3.0;

/// The least number outstanding over the last quarter must be this many times the average over the
/// first. In a queue that grows evenly from zero it is 6 times as large.
const GROWN: f64 = 2.0;

/// The drive must go on for this share of the time in which requests arrived.
const BEHIND: f64 = 0.01;

/// The requests outstanding at some consecutive arrivals.
#[derive(Copy, Clone, Debug)]
struct Row {
    arrivals: u64,
    sum: u64,
    least: u32,
}

impl Row {
    const NONE: Self = Self { arrivals: 0, sum: 0, least: u32::MAX };

    fn with(self, other: Self) -> Self {
        Self {
            arrivals: self.arrivals + other.arrivals,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
        }
    }
}

/// The number of requests that each arrival found.
pub(crate) struct Backlog {
    rows: Vec<Row>,
    row: Row,
    /// Arrivals of a complete row.
    each: u64,
    /// When the first request and the last one arrived.
    first: Time,
    last: Time,
    /// Requests outstanding as the last one arrived.
    outstanding: u32,
}

/// The mark of an arrival that has to wait outside. The drive is full then, and the number of other
/// requests outside is not known.
const UNTOLD: u32 = u32::MAX;

/// A drive that could not keep up.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Overload {
    /// Requests that arrived.
    pub arrivals: u64,
    /// From the first of them to the last.
    pub arriving: Dur,
    /// From the last arrival to the completion of all.
    pub behind: Dur,
    /// Requests outstanding as the last one arrived. They are counted, unless that one had to wait
    /// outside. Then the number is that of the requests served from then on, at the rate of the
    /// run.
    pub outstanding: u64,
    /// The mean number of requests outstanding at the arrivals of the first quarter.
    pub at_first: f64,
}

impl Backlog {
    pub(crate) fn new() -> Self {
        Self {
            rows: Vec::with_capacity(ROWS),
            row: Row::NONE,
            each: 1,
            first: Time::ZERO,
            last: Time::ZERO,
            outstanding: 0,
        }
    }

    /// The drive takes in a request that arrived at `at` and found a number of others inside.
    /// `waited` is true if it had to wait outside until one of them was done.
    #[inline]
    pub(crate) fn arrival(&mut self, at: Time, inside: u32, waited: bool) {
        self.last = at;
        self.outstanding = if waited { UNTOLD } else { inside + 1 };
        self.row.arrivals += 1;
        self.row.sum += u64::from(inside);
        self.row.least = self.row.least.min(if waited { UNTOLD } else { inside });
        if self.row.arrivals == self.each {
            self.end_row();
        }
    }

    #[cold]
    fn end_row(&mut self) {
        if self.rows.is_empty() {
            self.first = self.last;
        }
        self.rows.push(std::mem::replace(&mut self.row, Row::NONE));
        if self.rows.len() == ROWS {
            for i in 0..ROWS / 2 {
                self.rows[i] = self.rows[2 * i].with(self.rows[2 * i + 1]);
            }
            self.rows.truncate(ROWS / 2);
            self.each *= 2;
        }
    }

    /// The conclusion when all is served, the last at `end`.
    pub(crate) fn overload(&self, end: Time) -> Option<Overload> {
        let sum = |rows: &[Row], start| rows.iter().fold(start, |sum: Row, &row| sum.with(row));
        let arrivals = sum(&self.rows, self.row).arrivals;
        if arrivals < ENOUGH {
            return None;
        }
        let quarter = self.rows.len() / 4;
        let first = sum(&self.rows[..quarter], Row::NONE);
        let last = sum(&self.rows[self.rows.len() - quarter..], self.row);
        let at_first = first.sum as f64 / first.arrivals as f64;
        let (n, arriving, behind) = (arrivals as f64, self.last - self.first, end - self.last);
        let outstanding = if self.outstanding == UNTOLD {
            n * behind.as_secs_f64() / (arriving + behind).as_secs_f64()
        } else {
            f64::from(self.outstanding)
        };
        let overloaded = outstanding >= BEYOND_CHANCE * n.sqrt()
            && f64::from(last.least) >= GROWN * at_first
            && behind.as_secs_f64() >= BEHIND * arriving.as_secs_f64();
        let outstanding = outstanding as u64;
        overloaded.then_some(Overload { arrivals, arriving, behind, outstanding, at_first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1024 arrivals, a millisecond apart. Each finds a little more outstanding than the one
    /// before, up to `most`. Chance leaves 32 at the end.
    fn growing_to(most: u32) -> Option<Overload> {
        let mut backlog = Backlog::new();
        for i in 0..1024 {
            let at = Time::from_ns(u64::from(i) * 1_000_000);
            backlog.arrival(at, most * i / 1023, false);
        }
        backlog.overload(Time::from_ns(1_100_000_000))
    }

    #[test]
    fn three_times_what_chance_leaves_is_too_much() {
        // The last arrival is outstanding too.
        assert_eq!(growing_to(94), None);
        let over = growing_to(95).expect("96 are three times 32");
        assert_eq!((over.arrivals, over.outstanding), (1024, 96));
        assert_eq!((over.arriving, over.behind), (Dur::ns(1_023_000_000), Dur::ns(77_000_000)));
    }

    /// Serving all takes twice as long as they arrived. So half of them were left when the last one
    /// came, which had to wait outside.
    #[test]
    fn what_waits_outside_is_told_by_the_rate_of_service() {
        let mut backlog = Backlog::new();
        for i in 0..1024 {
            let at = Time::from_ns(u64::from(i) * 1_000_000);
            backlog.arrival(at, (i / 2).min(64), i > 128);
        }
        let over = backlog.overload(Time::from_ns(2 * 1_023_000_000)).expect("it is one");
        assert_eq!((over.arrivals, over.outstanding), (1024, 512));
        assert_eq!((over.arriving, over.behind), (Dur::ns(1_023_000_000), Dur::ns(1_023_000_000)));
    }
}

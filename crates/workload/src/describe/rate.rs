//! Requests over time: mean, peaks, bursts, the day, and a series to draw.

use kernel::{Dur, Histogram, Time};
use serde::Serialize;

use super::mix::Mix;
use crate::{Op, Request};

/// Requests over time. Windows, rows and hours are counted from the first request.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RequestRate {
    /// Requests divided by the span.
    pub requests_per_second: f64,
    /// Bytes read divided by the span.
    pub read_bytes_per_second: f64,
    /// Bytes written divided by the span.
    pub written_bytes_per_second: f64,
    /// The busiest second and the busiest minute.
    pub peaks: Vec<Peak>,
    /// Times between consecutive requests.
    pub gaps: Gaps,
    /// The hours of the day, 24 of them; `None` below a day. Hour 0 begins with the first request:
    /// workloads carry no time of day.
    pub hours: Option<Vec<Hour>>,
    /// At most 2048 rows over the whole span.
    pub series: RateSeries,
}

/// Requests in windows of one length.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct Peak {
    /// Length of a window.
    pub window_ns: u64,
    /// Most requests in a window.
    pub most_requests: u64,
    /// Most bytes, read and written, in a window.
    pub most_bytes: u64,
    /// The busiest window's rate divided by the mean rate.
    pub peak_to_mean: f64,
    /// Index of dispersion: variance over mean of the requests in a window, of whole windows and
    /// with n - 1 in the variance. 1 for arrivals at random (Poisson), 0 for even ones, more for
    /// bursts. `None` below two whole windows.
    pub dispersion: Option<f64>,
}

/// Times between consecutive arrivals, in nanoseconds, percentiles to three digits.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct Gaps {
    /// Exact mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Exact greatest gap.
    pub max_ns: u64,
    /// Coefficient of variation: standard deviation over mean. 1 for arrivals at random, 0 for
    /// even ones.
    pub variation: f64,
}

/// One hour of the day, over all days.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct Hour {
    /// 0 to 23, from the first request on.
    pub hour: u32,
    /// The part of the span that lies in this hour.
    pub covered_ns: u64,
    /// Reads per second.
    pub reads_per_second: f64,
    /// Writes per second.
    pub writes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub written_bytes_per_second: f64,
}

/// Counts in rows of equal length, one column for each; row `i` begins at `i * width_ns`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RateSeries {
    /// Length of a row: 2^k milliseconds, so that there are at most 2048.
    pub width_ns: u64,
    /// Reads.
    pub reads: Vec<u64>,
    /// Writes.
    pub writes: Vec<u64>,
    /// Trims.
    pub trims: Vec<u64>,
    /// Bytes read.
    pub read_bytes: Vec<u64>,
    /// Bytes written.
    pub written_bytes: Vec<u64>,
}

const ROWS: usize = 2048;
const FINEST: Dur = Dur::ms(1);
const HOUR: u64 = Dur::secs(3600).as_ns();
const DAY: u64 = 24 * HOUR;

/// Counts by operation, and bytes.
#[derive(Copy, Clone, Default)]
struct Row {
    requests: [u64; 3],
    bytes: [u64; 3],
}

impl Row {
    fn add(&mut self, other: &Self) {
        for op in 0..3 {
            self.requests[op] += other.requests[op];
            self.bytes[op] += other.bytes[op];
        }
    }
}

pub(super) struct RateClock {
    windows: [Windows; 2],
    first: Option<Time>,
    last: Option<Time>,
    gaps: Histogram,
    squares: f64,
    hours: [Row; 24],
    width: u64,
    rows: Vec<Row>,
}

impl RateClock {
    pub(super) fn new() -> Self {
        Self {
            windows: [Windows::new(Dur::secs(1)), Windows::new(Dur::secs(60))],
            first: None,
            last: None,
            gaps: Histogram::new(),
            squares: 0.0,
            hours: [Row::default(); 24],
            width: FINEST.as_ns(),
            rows: Vec::new(),
        }
    }

    pub(super) fn observe(&mut self, batch: &[Request]) {
        for windows in &mut self.windows {
            windows.observe(batch);
        }
        for r in batch {
            let at = r.at.as_ns();
            self.first.get_or_insert(r.at);
            if let Some(last) = self.last.replace(r.at) {
                let gap = r.at.since(last);
                self.gaps.record(gap);
                self.squares += (gap.as_ns() as f64).powi(2);
            }
            let row = self.row(at);
            for row in [&mut self.rows[row], &mut self.hours[(at % DAY / HOUR) as usize]] {
                row.requests[r.op as usize] += 1;
                row.bytes[r.op as usize] += u64::from(r.len);
            }
        }
    }

    /// Two rows become one.
    fn widen(&mut self) {
        self.width *= 2;
        for i in 0..self.rows.len().div_ceil(2) {
            let mut both = self.rows[2 * i];
            if let Some(second) = self.rows.get(2 * i + 1) {
                both.add(second);
            }
            self.rows[i] = both;
        }
        self.rows.truncate(self.rows.len().div_ceil(2));
    }

    /// The number of the row for a time; the row is created if it is missing.
    fn row(&mut self, at: u64) -> usize {
        while at / self.width >= ROWS as u64 {
            self.widen();
        }
        let row = (at / self.width) as usize;
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Row::default());
        }
        row
    }

    pub(super) fn finish(mut self, mix: &Mix, span: u64) -> Option<RequestRate> {
        if self.first == self.last {
            return None;
        }
        // A flush may come after the last of the others.
        self.row(span);
        for windows in &mut self.windows {
            windows.reach(span);
        }
        let seconds = span as f64 * 1e-9;
        let requests = mix.requests.iter().sum();
        let gaps = self.gaps.percentiles();
        let mean_square = self.squares / self.gaps.count() as f64;
        let columns = |of: &dyn Fn(&Row) -> u64| self.rows.iter().map(of).collect();
        Some(RequestRate {
            requests_per_second: requests as f64 / seconds,
            read_bytes_per_second: mix.bytes[Op::Read as usize] as f64 / seconds,
            written_bytes_per_second: mix.bytes[Op::Write as usize] as f64 / seconds,
            peaks: self.windows.iter().map(|w| w.finish(requests, span)).collect(),
            gaps: Gaps {
                mean_ns: gaps.mean,
                p50_ns: gaps.p50,
                p90_ns: gaps.p90,
                p99_ns: gaps.p99,
                max_ns: gaps.max,
                variation: (mean_square / gaps.mean.powi(2) - 1.0).max(0.0).sqrt(),
            },
            hours: (span >= DAY).then(|| self.hours(span)),
            series: RateSeries {
                width_ns: self.width,
                reads: columns(&|row| row.requests[Op::Read as usize]),
                writes: columns(&|row| row.requests[Op::Write as usize]),
                trims: columns(&|row| row.requests[Op::Trim as usize]),
                read_bytes: columns(&|row| row.bytes[Op::Read as usize]),
                written_bytes: columns(&|row| row.bytes[Op::Write as usize]),
            },
        })
    }

    fn hours(&self, span: u64) -> Vec<Hour> {
        let hours = (0..24).zip(&self.hours);
        hours
            .map(|(hour, row)| {
                let begin = u64::from(hour) * HOUR;
                let covered_ns = span / DAY * HOUR + (span % DAY).saturating_sub(begin).min(HOUR);
                let per_second = |count: u64| count as f64 / (covered_ns as f64 * 1e-9);
                Hour {
                    hour,
                    covered_ns,
                    reads_per_second: per_second(row.requests[Op::Read as usize]),
                    writes_per_second: per_second(row.requests[Op::Write as usize]),
                    read_bytes_per_second: per_second(row.bytes[Op::Read as usize]),
                    written_bytes_per_second: per_second(row.bytes[Op::Write as usize]),
                }
            })
            .collect()
    }
}

/// Windows of one length, the current one open.
struct Windows {
    length: u64,
    /// When the current window ends.
    end_ns: u64,
    requests: u64,
    bytes: u64,
    most_requests: u64,
    most_bytes: u64,
    /// Sums over the windows before the current one.
    sum: u64,
    squares: u128,
}

impl Windows {
    fn new(length: Dur) -> Self {
        Self {
            length: length.as_ns(),
            end_ns: length.as_ns(),
            requests: 0,
            bytes: 0,
            most_requests: 0,
            most_bytes: 0,
            sum: 0,
            squares: 0,
        }
    }

    fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            self.reach(r.at.as_ns());
            self.requests += 1;
            if r.op != Op::Trim {
                self.bytes += u64::from(r.len);
            }
            self.most_requests = self.most_requests.max(self.requests);
            self.most_bytes = self.most_bytes.max(self.bytes);
        }
    }

    /// Opens the window of a time.
    #[inline]
    fn reach(&mut self, at: u64) {
        if at >= self.end_ns {
            // Empty windows in between add nothing to either sum.
            self.sum += self.requests;
            self.squares += u128::from(self.requests).pow(2);
            (self.requests, self.bytes) = (0, 0);
            self.end_ns = (at / self.length + 1).saturating_mul(self.length);
        }
    }

    /// Called once the end of the span is reached: the current window is the one that is not whole.
    fn finish(&self, requests: u64, span: u64) -> Peak {
        let whole = span / self.length;
        let dispersion = (whole >= 2 && self.sum > 0).then(|| {
            let (n, sum) = (whole as f64, self.sum as f64);
            let variance = (self.squares as f64 - sum * sum / n) / (n - 1.0);
            variance / (sum / n)
        });
        let mean = requests as f64 * self.length as f64 / span as f64;
        Peak {
            window_ns: self.length,
            most_requests: self.most_requests,
            most_bytes: self.most_bytes,
            peak_to_mean: self.most_requests as f64 / mean,
            dispersion,
        }
    }
}

//! Latency histograms: exact count, sum, least and greatest; percentiles to three digits.

use crate::{Dur, TimeSum};

const GROWS: &str = "there is room for cells up to 2^64 ns";

/// A histogram of times of any length with a relative error below 0.1 %.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    cells: hdrhistogram::Histogram<u64>,
    count: u64,
    sum: TimeSum,
    least: u64,
    greatest: u64,
}

/// The percentiles that every report prints, in nanoseconds.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Percentiles {
    /// Exact mean.
    pub mean: f64,
    /// Exact least value.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// 99.99th percentile.
    pub p99_99: u64,
    /// Exact greatest value.
    pub max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram. It has cells up to the greatest value seen. A run has dozens of
    /// histograms, most of which see little or nothing, and half a megabyte takes time to clear and
    /// to copy.
    pub fn new() -> Self {
        let cells = hdrhistogram::Histogram::new(3).expect("three digits are few enough");
        Self { cells, count: 0, sum: TimeSum::ZERO, least: u64::MAX, greatest: 0 }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Dur) {
        let ns = value.as_ns();
        self.count += 1;
        self.sum += value;
        self.least = self.least.min(ns);
        self.greatest = self.greatest.max(ns);
        self.cells.record(ns).expect(GROWS);
    }

    /// Counts one value `n` times.
    pub fn record_many(&mut self, value: Dur, n: u64) {
        if n == 0 {
            return;
        }
        let ns = value.as_ns();
        self.count += n;
        self.sum += TimeSum::from(value) * n;
        self.least = self.least.min(ns);
        self.greatest = self.greatest.max(ns);
        self.cells.record_n(ns, n).expect(GROWS);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.cells.add(&other.cells).expect(GROWS);
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum.
    pub fn sum(&self) -> TimeSum {
        self.sum
    }

    /// The mean in nanoseconds, zero when empty: that of the exact sum, rounded to a number between the least
    /// and the greatest value.
    pub fn mean_ns(&self) -> f64 {
        self.between(self.sum.mean_ns(self.count))
    }

    /// The number between the least and the greatest value that is next to a mean of theirs: rounding may
    /// have put that beyond them.
    pub fn between(&self, mean: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (mut least, mut greatest) = (self.least as f64, self.greatest as f64);
        if (least as u128) < self.least.into() {
            least = least.next_up();
        }
        if greatest as u128 > self.greatest.into() {
            greatest = greatest.next_down();
        }
        // If all values are equal, no float may lie between `least` and `greatest`.
        if least > greatest { self.least as f64 } else { mean.clamp(least, greatest) }
    }

    /// The value below which a fraction `q` of the values lie, in nanoseconds; the top of its
    /// cell, but never above the greatest value seen.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        self.cells.value_at_quantile(q).clamp(self.least, self.greatest)
    }

    /// All reported percentiles; zeros when empty.
    ///
    /// # Panics
    ///
    /// A percentile is less than a lower one, or the mean is not among the values: a bug of ours.
    pub fn percentiles(&self) -> Percentiles {
        self.percentiles_with(self.mean_ns())
    }

    /// The same around a mean in nanoseconds that is known apart from the values (see
    /// [`Histogram::between`]).
    pub fn percentiles_with(&self, mean: f64) -> Percentiles {
        if self.count == 0 {
            return Percentiles::default();
        }
        let p = Percentiles {
            mean,
            min: self.least,
            p50: self.quantile_ns(0.5),
            p90: self.quantile_ns(0.9),
            p99: self.quantile_ns(0.99),
            p99_9: self.quantile_ns(0.999),
            p99_99: self.quantile_ns(0.9999),
            max: self.greatest,
        };
        p.check();
        p
    }
}

impl Percentiles {
    /// # Panics
    ///
    /// They are not in order.
    fn check(&self) {
        let order = [self.min, self.p50, self.p90, self.p99, self.p99_9, self.p99_99, self.max];
        assert!(order.is_sorted(), "percentiles are out of order: {self:?}");
        let among = self.min as f64 <= self.mean && self.mean <= self.max as f64;
        assert!(among, "the mean is not among the values: {self:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_known_set() {
        let mut h = Histogram::new();
        for ns in 1..=100_000 {
            h.record(Dur::ns(ns));
        }
        let p = h.percentiles();
        assert_eq!((p.min, p.max), (1, 100_000));
        assert!((p.mean - 50_000.5).abs() < 1e-9);
        for (got, want) in [(p.p50, 50_000.0), (p.p90, 90_000.0), (p.p99, 99_000.0)] {
            assert!((got as f64 / want - 1.0).abs() < 1e-3, "{got} against {want}");
        }
    }

    #[test]
    fn empty_is_all_zero_and_one_value_is_itself() {
        let mut h = Histogram::new();
        assert_eq!(h.percentiles(), Percentiles::default());
        h.record(Dur::ns(123_457));
        let p = h.percentiles();
        assert_eq!((p.min, p.p50, p.p99_99, p.max), (123_457, 123_457, 123_457, 123_457));
    }

    /// A histogram of small values grows as large ones come or are merged in, up to the last value there
    /// is, and none is cut off.
    #[test]
    fn cells_come_as_they_are_needed_up_to_the_last_value() {
        const DAY: u64 = 86_400_000_000_000;
        let (mut small, mut large) = (Histogram::new(), Histogram::new());
        small.record_many(Dur::ns(50), 10);
        large.record_many(Dur::ns(6 * DAY), 70);
        large.record_many(Dur::ns(1 << 63), 18);
        large.record(Dur::ns(u64::MAX));
        large.record_many(Dur::ns(u64::MAX), 1);
        let mut grown = small.clone();
        grown.merge(&large);
        large.merge(&small);
        for h in [grown, large] {
            let near = |q: f64, ns: u64| {
                let got = h.quantile_ns(q);
                assert!((got as f64 / ns as f64 - 1.0).abs() < 1e-3, "{got} against {ns}");
            };
            near(0.05, 50);
            near(0.5, 6 * DAY);
            near(0.95, 1 << 63);
            near(1.0, u64::MAX);
            assert_eq!((h.count(), h.percentiles().max), (100, u64::MAX));
            let sum = 500 + 70 * u128::from(6 * DAY) + (18 << 63) + 2 * u128::from(u64::MAX);
            assert_eq!(h.sum(), TimeSum::ns(sum));
        }
    }

    /// Any number of equal values has that value for its mean, however its sum is rounded, and any two
    /// values have theirs between them.
    #[test]
    fn rounding_puts_no_mean_beyond_its_values() {
        for n in [1, 3, 7, 49, 1_000_003, 10_000_019] {
            for ns in [1, 4_461, 123_457, 8_640_000_000_000_001, (1 << 53) + 1, u64::MAX - 1] {
                let mut h = Histogram::new();
                h.record_many(Dur::ns(ns), n);
                let p = h.percentiles();
                assert!((p.mean / ns as f64 - 1.0).abs() < 1e-15, "{n} times {ns}: {p:?}");
                h.record(Dur::ns(ns + 1));
                let _ = h.percentiles();
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn percentiles_out_of_order_are_no_result() {
        let p = Percentiles { p50: 5, p90: 4, max: 9, ..Percentiles::default() };
        p.check();
    }

    #[test]
    #[should_panic(expected = "not among the values")]
    fn a_mean_above_the_longest_is_no_result() {
        let mut h = Histogram::new();
        h.record(Dur::ns(5));
        let _ = h.percentiles_with(5.5);
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut a, mut b, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
        for ns in [5, 70, 900, 12_000, 250_000] {
            a.record(Dur::ns(ns));
            b.record(Dur::ns(ns * 3));
            both.record(Dur::ns(ns));
            both.record(Dur::ns(ns * 3));
        }
        a.merge(&b);
        assert_eq!(a.percentiles(), both.percentiles());
    }
}

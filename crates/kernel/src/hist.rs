//! Latency histograms: exact count, sum, least and greatest; percentiles to three digits.

use crate::Dur;

/// Values above this are counted as saturated: 10^13 ns, almost three hours.
const CEILING: u64 = 10_000_000_000_000;

/// The greatest value that the cells tell from others: they double, and the last of them begin below the ceiling.
const LAST: u64 = (1 << 44) - 1;

const GROWS: &str = "there is room for cells up to the last";

/// A histogram of times from 1 ns to 10^13 ns with a relative error below 0.1 %.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    cells: hdrhistogram::Histogram<u64>,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
    saturated: u64,
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
    /// An empty histogram. It has cells up to the greatest value seen: a run has dozens of them, most
    /// of which see little or nothing, and a quarter of a megabyte takes time to clear and to copy.
    pub fn new() -> Self {
        let cells = hdrhistogram::Histogram::new(3).expect("three digits are few enough");
        Self { cells, count: 0, sum: 0, least: u64::MAX, greatest: 0, saturated: 0 }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Dur) {
        let ns = value.as_ns();
        self.count += 1;
        self.sum += u128::from(ns);
        self.least = self.least.min(ns);
        self.greatest = self.greatest.max(ns);
        self.saturated += u64::from(ns > CEILING);
        self.cells.record(ns.min(LAST)).expect(GROWS);
    }

    /// Counts one value `n` times.
    pub fn record_many(&mut self, value: Dur, n: u64) {
        if n == 0 {
            return;
        }
        let ns = value.as_ns();
        self.count += n;
        self.sum += u128::from(ns) * u128::from(n);
        self.least = self.least.min(ns);
        self.greatest = self.greatest.max(ns);
        self.saturated += n * u64::from(ns > CEILING);
        self.cells.record_n(ns.min(LAST), n).expect(GROWS);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.cells.add(&other.cells).expect(GROWS);
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.saturated += other.saturated;
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// How many values lay above 10^13 ns. Percentiles tell them apart up to 1.76 * 10^13 ns, and show
    /// what is greater there.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The exact mean in nanoseconds, zero when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
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
    pub fn percentiles(&self) -> Percentiles {
        if self.count == 0 {
            return Percentiles::default();
        }
        Percentiles {
            mean: self.mean_ns(),
            min: self.least,
            p50: self.quantile_ns(0.5),
            p90: self.quantile_ns(0.9),
            p99: self.quantile_ns(0.99),
            p99_9: self.quantile_ns(0.999),
            p99_99: self.quantile_ns(0.9999),
            max: self.greatest,
        }
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

    #[test]
    fn beyond_the_ceiling_is_counted_as_saturated() {
        let mut h = Histogram::new();
        h.record(Dur::ns(CEILING));
        h.record(Dur::ns(CEILING + 1));
        assert_eq!(h.saturated(), 1);
        assert_eq!(h.percentiles().max, CEILING + 1);
    }

    /// A histogram of small values grows as large ones come or are merged in, and past the last cell it
    /// does not.
    #[test]
    fn cells_come_as_they_are_needed_and_end() {
        let (mut small, mut large) = (Histogram::new(), Histogram::new());
        small.record_many(Dur::ns(50), 10);
        large.record_many(Dur::ns(CEILING + CEILING / 5), 70);
        large.record_many(Dur::ns(CEILING + CEILING / 2), 18);
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
            near(0.5, CEILING + CEILING / 5);
            near(0.95, CEILING + CEILING / 2);
            near(1.0, LAST);
            assert_eq!((h.count(), h.saturated(), h.percentiles().max), (100, 90, u64::MAX));
        }
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

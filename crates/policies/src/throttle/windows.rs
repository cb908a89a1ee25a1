//! The demand of the last days in windows of equal length, and the length of an epoch that is
//! chosen from it (READY 3.5).

use std::collections::VecDeque;

/// What a difference between two epochs is divided by.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// The first of the two, as Eq. 6 prints it.
    First,
    /// The lesser of the two, which gives the mean that Fig. 9 has for its example.
    Least,
}

impl Difference {
    /// READY Eq. 6: how far the second of two demands is from the first, relative to it. Zero if
    /// both are; one if there is nothing to relate to.
    pub fn of(self, first: f64, second: f64) -> f64 {
        let base = match self {
            Self::First => first,
            Self::Least => first.min(second),
        };
        let apart = (second - first).abs();
        if base > 0.0 {
            apart / base
        } else if apart > 0.0 {
            1.0
        } else {
            0.0
        }
    }
}

/// Demand as it would have been without delays, by windows of equal length.
#[derive(Clone, Debug)]
pub struct Windows {
    length: f64,
    most: usize,
    complete: VecDeque<f64>,
    /// Sums over the windows up to each, for the search.
    sums: Vec<f64>,
    current: f64,
    current_end: f64,
}

impl Windows {
    /// Windows of `length` seconds, of which the last `most` are remembered.
    pub fn new(length: f64, most: usize) -> Self {
        Self {
            length,
            most,
            complete: VecDeque::with_capacity(most + 1),
            sums: Vec::with_capacity(most + 1),
            current: 0.0,
            current_end: length,
        }
    }

    /// Demand of so many bytes at an instant, in seconds; instants never decrease.
    #[inline]
    pub fn add(&mut self, at: f64, bytes: f64) {
        if at >= self.current_end {
            self.close_until(at);
        }
        self.current += bytes;
    }

    fn close_until(&mut self, at: f64) {
        while at >= self.current_end {
            if self.complete.len() == self.most {
                self.complete.pop_front();
            }
            self.complete.push_back(self.current);
            self.current = 0.0;
            self.current_end += self.length;
        }
    }

    /// Complete windows that are remembered.
    pub fn len(&self) -> usize {
        self.complete.len()
    }

    /// Whether no window is complete.
    pub fn is_empty(&self) -> bool {
        self.complete.is_empty()
    }

    /// The number of windows in an epoch that makes consecutive epochs most alike, the least such
    /// number, and the demand of the last epoch of that length. `None` with fewer than two windows.
    pub fn select(&mut self, difference: Difference) -> Option<(usize, f64)> {
        let n = self.complete.len();
        self.sums.clear();
        self.sums.push(0.0);
        let mut sum = 0.0;
        for bytes in &self.complete {
            sum += bytes;
            self.sums.push(sum);
        }
        let mut best: Option<(usize, f64)> = None;
        for k in 1..=n / 2 {
            let mean = self.mean_difference(k, difference);
            // Sums are rounded: epochs that are alike must not lose to longer ones by a last digit.
            if best.is_none_or(|(_, least)| mean < least - 1e-9) {
                best = Some((k, mean));
            }
        }
        let (k, _) = best?;
        Some((k, self.epoch(n / k - 1, k)))
    }

    /// The mean over all pairs of consecutive epochs of `k` windows.
    fn mean_difference(&self, k: usize, difference: Difference) -> f64 {
        let pairs = self.complete.len() / k - 1;
        let of = |i: usize| difference.of(self.epoch(i, k), self.epoch(i + 1, k));
        (0..pairs).map(of).sum::<f64>() / pairs as f64
    }

    /// The demand of the `i`-th epoch of `k` windows.
    fn epoch(&self, i: usize, k: usize) -> f64 {
        self.sums[(i + 1) * k] - self.sums[i * k]
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]
mod tests {
    use super::*;

    fn windows(demand: &[f64]) -> Windows {
        let mut w = Windows::new(600.0, 1008);
        for (i, d) in demand.iter().enumerate() {
            w.add(600.0 * i as f64, *d);
        }
        w.add(600.0 * demand.len() as f64, 0.0);
        w
    }

    /// READY Fig. 9: 3 MB and 6 MB in turn. Epochs of two windows are all alike.
    #[test]
    fn figure_9_chooses_two_windows() {
        for difference in [Difference::First, Difference::Least] {
            let mut w = windows(&[3.0, 6.0, 3.0, 6.0]);
            assert_eq!(w.select(difference), Some((2, 9.0)));
        }
        let mut w = windows(&[3.0, 6.0, 3.0, 6.0]);
        let _ = w.select(Difference::First);
        // r(0,1) is 1.0 as printed; the mean of 1.0 takes the other divisor.
        assert!((Difference::First.of(3.0, 6.0) - 1.0).abs() < 1e-12);
        assert!((w.mean_difference(1, Difference::First) - 2.5 / 3.0).abs() < 1e-12);
        assert!((w.mean_difference(1, Difference::Least) - 1.0).abs() < 1e-12);
        assert_eq!(w.mean_difference(2, Difference::First), 0.0);
    }

    /// Each window by itself, then as well when others have come: the last one's demand.
    #[test]
    fn a_selection_starts_anew() {
        let mut w = windows(&[1.0, 1.0]);
        assert_eq!(
            (w.select(Difference::First), w.len(), w.is_empty()),
            (Some((1, 1.0)), 2, false)
        );
        w.add(1200.0, 5.0);
        w.add(1800.0, 7.0);
        w.add(2400.0, 0.0);
        // Relative to the one before 0, 4 and 2/5; of pairs 5.
        assert_eq!(w.select(Difference::First), Some((1, 7.0)));
        assert_eq!(w.complete, [1.0, 1.0, 5.0, 7.0]);
        assert!(Windows::new(600.0, 4).is_empty());
    }

    #[test]
    fn a_cycle_is_found_whatever_its_length() {
        for cycle in 2..12 {
            let within = |i: usize| (1 + i % cycle) as f64;
            let demand: Vec<f64> = (0..cycle * 5).map(|i| within(i).powi(2)).collect();
            let mut w = windows(&demand);
            assert_eq!(w.select(Difference::First).map(|s| s.0), Some(cycle));
        }
    }

    #[test]
    fn too_little_is_known_of_one_window_and_silence_is_even() {
        assert_eq!(windows(&[4.0]).select(Difference::First), None);
        assert_eq!(windows(&[0.0, 0.0]).select(Difference::First), Some((1, 0.0)));
        assert_eq!(Difference::First.of(0.0, 5.0), 1.0);
        assert_eq!(Difference::First.of(5.0, 0.0), 1.0);
    }

    #[test]
    fn old_windows_are_forgotten_and_gaps_are_windows_without_demand() {
        let mut w = Windows::new(10.0, 4);
        w.add(0.0, 8.0);
        w.add(35.0, 2.0);
        assert_eq!(w.complete, [8.0, 0.0, 0.0]);
        w.add(61.0, 0.0);
        assert_eq!(w.complete, [0.0, 2.0, 0.0, 0.0]);
    }
}

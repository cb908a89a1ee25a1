//! The demand of the last days in windows of equal length, and the length of an epoch that is
//! chosen from it (READY 3.5).

use std::collections::VecDeque;

/// The divisor of a difference between two epochs.
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
    /// Those in which something came.
    busy: Vec<usize>,
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
            busy: Vec::new(),
            current: 0.0,
            current_end: length,
        }
    }

    /// Demand of a number of bytes at an instant, in seconds; instants never decrease.
    #[inline]
    pub fn add(&mut self, at: f64, bytes: f64) {
        if at >= self.current_end {
            self.close_until(at);
        }
        self.current += bytes;
    }

    fn close_until(&mut self, at: f64) {
        let closed;
        (self.current_end, closed) = steps_beyond(self.current_end, self.length, at);
        let nothing = std::iter::repeat_n(0.0, closed.min(self.most as u64) as usize);
        for bytes in std::iter::once(self.current).chain(nothing.skip(1)) {
            if self.complete.len() == self.most {
                self.complete.pop_front();
            }
            self.complete.push_back(bytes);
        }
        if closed > self.most as u64
            && let Some(first) = self.complete.front_mut()
        {
            *first = 0.0;
        }
        self.current = 0.0;
    }

    /// The instant at which two windows are complete, in seconds. It has passed if they are.
    pub fn completes_two(&self) -> f64 {
        match self.complete.len() {
            0 => self.current_end + self.length,
            1 => self.current_end,
            _ => f64::NEG_INFINITY,
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
        self.busy.clear();
        let mut sum = 0.0;
        for (at, bytes) in self.complete.iter().enumerate() {
            sum += bytes;
            self.sums.push(sum);
            if *bytes > 0.0 {
                self.busy.push(at);
            }
        }
        let mut best: Option<(usize, f64)> = None;
        for k in 1..=n / 2 {
            // Sums are rounded: epochs that are alike must not lose to longer ones by a last digit.
            let below = best.map_or(f64::INFINITY, |(_, least)| least - 1e-9);
            if below <= 0.0 {
                break;
            }
            if let Some(mean) = self.mean_difference(k, difference, below) {
                best = Some((k, mean));
            }
        }
        let (k, _) = best?;
        Some((k, self.epoch(n / k - 1, k)))
    }

    /// The mean over all pairs of consecutive epochs of `k` windows, if it is below a limit. Pairs
    /// in which nothing comes add nothing, and are passed over where that is less work.
    fn mean_difference(&self, k: usize, difference: Difference, below: f64) -> Option<f64> {
        let pairs = self.complete.len() / k - 1;
        let sparse = self.busy.len() < pairs;
        let (mut sum, mut next) = (0.0, 0);
        for part in 0..if sparse { self.busy.len() } else { pairs } {
            // An epoch is the second of one pair and the first of another.
            let epoch = if sparse { self.busy[part] / k } else { part };
            let first = if sparse { epoch.saturating_sub(1) } else { part };
            for i in first.max(next)..(epoch + 1).min(pairs) {
                sum += difference.of(self.epoch(i, k), self.epoch(i + 1, k));
            }
            next = epoch + 1;
            if sum >= below * pairs as f64 && sum / pairs as f64 >= below && below < f64::INFINITY {
                return None;
            }
        }
        Some(sum / pairs as f64).filter(|mean| *mean < below || below == f64::INFINITY)
    }

    /// The demand of the `i`-th epoch of `k` windows.
    fn epoch(&self, i: usize, k: usize) -> f64 {
        self.sums[(i + 1) * k] - self.sums[i * k]
    }
}

/// Adds `step` to `from` until the sum is beyond `at`, and returns the number of additions. The sum
/// equals that of adding step by step, last digit included. The time does not grow with the number
/// of steps: as long as sums have one exponent, each step adds the same.
fn steps_beyond(from: f64, step: f64, at: f64) -> (f64, u64) {
    let (mut sum, mut steps) = (from, 0);
    while at >= sum {
        let next = sum + step;
        let adds = next - sum;
        let again = next + step;
        // Up to here sums have this exponent; a step that is rounded to an even digit is not like
        // the next.
        let end = f64::from_bits((sum.to_bits() >> 52 << 52) + (1 << 52));
        let room = ((end.min(at) - sum) / adds) as u64;
        if room > 4 && again < end && (again - next).to_bits() == adds.to_bits() {
            let many = (room - 2) as f64;
            sum += many * adds;
            steps += room - 2;
        } else {
            sum = next;
            steps += 1;
        }
    }
    (sum, steps)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]
mod tests {
    use super::*;
    use kernel::Rng;

    /// Against adding step by step.
    #[test]
    fn many_steps_are_what_the_single_ones_are() {
        let mut rng = Rng::named(1, "test/windows");
        for i in 0..2000 {
            let step = [1e-3, 600.0, 1.0, 0.5, 0.1, 1.0 / 3.0, 1e-2, 7.77][i % 8];
            let from = step * f64::from(1 + rng.below(100_000) * u32::from(i.is_multiple_of(3)));
            let at = from + step * f64::from(rng.below(200_000)) - step / 2.0;
            let (mut sum, mut steps) = (from, 0);
            while at >= sum {
                sum += step;
                steps += 1;
            }
            assert_eq!(steps_beyond(from, step, at), (sum, steps), "{step} from {from} to {at}");
        }
    }

    /// A hundred years of milliseconds, at once.
    #[test]
    fn a_gap_takes_no_time() {
        let mut w = Windows::new(1e-3, 4);
        w.add(0.0, 8.0);
        w.add(3e9, 2.0);
        assert_eq!(w.complete, [0.0; 4]);
        w.add(3e9 + 2e-3, 0.0);
        assert_eq!((w.complete.len(), w.complete.iter().sum::<f64>()), (4, 2.0));
    }

    /// The mean of every pair, and the least of all.
    fn slow_select(w: &Windows, difference: Difference) -> Option<(usize, f64)> {
        let demand: Vec<f64> = w.complete.iter().copied().collect();
        let mut sums = vec![0.0];
        for bytes in &demand {
            sums.push(sums[sums.len() - 1] + bytes);
        }
        let mut best: Option<(usize, f64)> = None;
        for k in 1..=demand.len() / 2 {
            let epochs: Vec<f64> =
                (0..demand.len() / k).map(|i| sums[(i + 1) * k] - sums[i * k]).collect();
            let of = |pair: &[f64]| difference.of(pair[0], pair[1]);
            let mean = epochs.windows(2).map(of).sum::<f64>() / (epochs.len() - 1) as f64;
            if best.is_none_or(|(_, least)| mean < least - 1e-9) {
                best = Some((k, mean));
            }
        }
        let (k, _) = best?;
        let last = demand.len() / k;
        Some((k, sums[last * k] - sums[(last - 1) * k]))
    }

    #[test]
    fn what_is_passed_over_changes_no_selection() {
        let mut rng = Rng::named(2, "test/windows");
        for i in 0..400 {
            let (n, busy) = (2 + rng.below(200), 1 + rng.below(1 + i % 20));
            let one = |_| if rng.below(busy) == 0 { f64::from(rng.below(9)) * 0.7 } else { 0.0 };
            let demand: Vec<f64> = (0..n).map(one).collect();
            for difference in [Difference::First, Difference::Least] {
                let mut w = windows(&demand);
                let slow = slow_select(&w, difference);
                assert_eq!(w.select(difference), slow, "{demand:?}");
            }
        }
    }

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
        let mean = |k, difference| w.mean_difference(k, difference, f64::INFINITY).unwrap();
        assert!((mean(1, Difference::First) - 2.5 / 3.0).abs() < 1e-12);
        assert!((mean(1, Difference::Least) - 1.0).abs() < 1e-12);
        assert_eq!(mean(2, Difference::First), 0.0);
        assert_eq!(w.mean_difference(1, Difference::Least, 0.9), None);
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

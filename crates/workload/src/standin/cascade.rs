//! When requests arrive: a multiplicative cascade.
//!
//! The span is halved again and again, and the requests of an interval are divided between its
//! halves. Each of the `n` goes to one half with probability `(1 + m) / 2`, to the other with `(1 -
//! m) / 2`. The favoured half is drawn anew. With one `m` for all levels this is the b-model (Wang
//! et al., "Data mining meets performance evaluation: fast algorithms for modeling bursty traffic",
//! ICDE 2002).
//!
//! Here each level has an `m` of its own, reads and writes apart. A third number is the share of
//! intervals in which both favour the same half. So the variances of reads and of writes, and their
//! covariance, are right over intervals of every length `span / 2^k`. Busy intervals have more than
//! three times the mean number of requests for their length. They have numbers of their own,
//! because requests within a burst gather otherwise than between bursts.

use kernel::Rng;
use serde::{Deserialize, Serialize};

/// Intervals below `span / 2^DEEPEST` are not told apart.
pub(super) const DEEPEST: usize = 44;
/// Hours of a day.
pub(crate) const HOURS: usize = 24;

/// How requests gather in time.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bursts {
    /// Requests by hour of the day, as a multiple of the mean; hour 0 begins with the span. Empty:
    /// no daily cycle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub daily: Vec<f64>,
    /// The levels of intervals that are not busy.
    pub quiet: CascadeLevels,
    /// Of the busy ones.
    pub busy: CascadeLevels,
}

/// How uneven the halves of intervals are: of the span, of its halves, quarters, …
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CascadeLevels {
    /// `m` of the reads, 0 (even) to 1 (all in one half).
    pub reads: Vec<f64>,
    /// The same of the writes.
    pub writes: Vec<f64>,
    /// −1 to 1: how reads and writes favour the same half; 0: independently.
    pub together: Vec<f64>,
}

impl CascadeLevels {
    fn push(&mut self, [reads, writes, together]: [f64; 3]) {
        self.reads.push(rounded(reads));
        self.writes.push(rounded(writes));
        self.together.push(rounded(together));
    }
}

/// An interval with more than this multiple of the mean of its level is busy.
const BUSY: f64 = 3.0;

impl Bursts {
    /// The share of the requests between two points of the span (parts of 1), from the daily cycle
    /// alone.
    fn weight(&self, from: f64, to: f64, span_hours: f64) -> f64 {
        if self.daily.is_empty() {
            return to - from;
        }
        let up_to = |x: f64| {
            let hours = x * span_hours;
            let (days, rest) = ((hours / HOURS as f64).floor(), hours % HOURS as f64);
            let whole = rest as usize;
            let of_day: f64 = self.daily.iter().sum();
            let before: f64 = self.daily[..whole.min(HOURS)].iter().sum();
            days * of_day + before + self.daily.get(whole).map_or(0.0, |w| w * rest.fract())
        };
        up_to(to) - up_to(from)
    }

    /// The part of an interval's requests that its first half has by the daily cycle.
    pub(super) fn first_half(&self, level: usize, index: u64, span_hours: f64) -> f64 {
        if self.daily.is_empty() {
            return 0.5;
        }
        let width = (-(level as f64)).exp2();
        let from = index as f64 * width;
        let first = self.weight(from, from + width / 2.0, span_hours);
        let all = self.weight(from, from + width, span_hours);
        if all > 0.0 { first / all } else { 0.5 }
    }
}

/// An interval whose requests are still to be divided.
#[derive(Copy, Clone, Debug)]
struct Node {
    level: usize,
    index: u64,
    counts: [u64; 2],
}

/// Arrivals of one span in the order of time: nanoseconds, and whether it is a read.
#[derive(Debug)]
pub(super) struct Cascade {
    rng: Rng,
    span_ns: u64,
    requests: f64,
    /// Intervals still to come, the next on top: at most one for each level.
    stack: Vec<Node>,
    /// The rest of an interval that is not divided further.
    leaf: [u64; 2],
    at_ns: u64,
}

impl Cascade {
    pub(super) fn new(rng: Rng) -> Self {
        Self {
            rng,
            span_ns: 0,
            requests: 0.0,
            stack: Vec::with_capacity(DEEPEST + 2),
            leaf: [0; 2],
            at_ns: 0,
        }
    }

    /// Begins a span with these numbers of reads and writes.
    pub(super) fn start(&mut self, span_ns: u64, counts: [u64; 2]) {
        self.span_ns = span_ns;
        self.requests = (counts[0] + counts[1]) as f64;
        self.leaf = [0; 2];
        self.stack.clear();
        self.stack.push(Node { level: 0, index: 0, counts });
    }

    /// The next arrival, or `None` at the end of the span.
    #[inline]
    pub(super) fn next(&mut self, bursts: &Bursts) -> Option<(u64, bool)> {
        loop {
            let left = self.leaf[0] + self.leaf[1];
            if left > 0 {
                let read = match self.leaf {
                    [_, 0] => true,
                    [0, _] => false,
                    [reads, _] => self.rng.below_u64(left) < reads,
                };
                self.leaf[usize::from(!read)] -= 1;
                return Some((self.at_ns, read));
            }
            let node = self.stack.pop()?;
            let total = node.counts[0] + node.counts[1];
            if total == 0 {
                continue;
            }
            if total == 1 || node.level == bursts.quiet.reads.len() {
                self.leaf = node.counts;
                let place = (node.index as f64 + self.rng.unit()) * (-(node.level as f64)).exp2();
                // Later leaves begin later, and rounding must not undo it.
                self.at_ns = self.at_ns.max((place * self.span_ns as f64) as u64);
                continue;
            }
            self.divide(bursts, node);
        }
    }

    /// Starts the clock of the next span.
    pub(super) fn rewind(&mut self) {
        self.at_ns = 0;
    }

    fn divide(&mut self, bursts: &Bursts, node: Node) {
        let level = node.level;
        let even = if bursts.daily.is_empty() {
            0.5
        } else {
            bursts.first_half(level, node.index, self.span_ns as f64 / 3.6e12)
        };
        let here = (node.counts[0] + node.counts[1]) as f64;
        let busy = here > BUSY * self.requests * (-(level as f64)).exp2();
        let levels = if busy { &bursts.busy } else { &bursts.quiet };
        let sign = if self.rng.bits() >> 63 == 0 { 1.0 } else { -1.0 };
        let same = self.rng.unit() < f64::midpoint(1.0, levels.together[level]);
        let mut first = [0; 2];
        for (op, m) in [levels.reads[level], levels.writes[level]].into_iter().enumerate() {
            let n = node.counts[op];
            if n == 0 {
                continue;
            }
            let sign = if op == 1 && !same { -sign } else { sign };
            first[op] = binomial(&mut self.rng, n, favoured(even, sign * m));
        }
        let rest = [node.counts[0] - first[0], node.counts[1] - first[1]];
        let index = 2 * node.index;
        self.stack.push(Node { level: level + 1, index: index + 1, counts: rest });
        self.stack.push(Node { level: level + 1, index, counts: first });
    }
}

/// A share `p` favoured by `m`: (1 + m) / 2 if `p` is a half, while 0 and 1 do not change.
pub(super) fn favoured(p: f64, m: f64) -> f64 {
    let (one, other) = (p * (1.0 + m), (1.0 - p) * (1.0 - m));
    one / (one + other)
}

/// The number, out of `n`, that fall to a side of probability `p`: drawn one by one, or for large
/// `n` from the normal distribution, which is then indistinguishable.
fn binomial(rng: &mut Rng, n: u64, p: f64) -> u64 {
    if p >= 1.0 {
        return n;
    }
    let below = (p * 2.0_f64.powi(64)) as u64;
    if n <= 64 {
        return (0..n).map(|_| u64::from(rng.bits() < below)).sum();
    }
    let (mean, deviation) = (n as f64 * p, (n as f64 * p * (1.0 - p)).sqrt());
    // Box and Muller.
    let radius = (2.0 * rng.exponential()).sqrt();
    let normal = radius * (std::f64::consts::TAU * rng.unit()).cos();
    (mean + deviation * normal).round().clamp(0.0, n as f64) as u64
}

/// Measures the levels of a trace whose span is known.
#[derive(Debug)]
pub(super) struct Measure {
    span_ns: u64,
    requests: f64,
    daily: Bursts,
    /// The place of the latest request, in parts of `span / 2^DEEPEST`.
    at: Option<u64>,
    /// The current interval of each level: reads and writes of its halves.
    open: Vec<[[u64; 2]; 2]>,
    /// Quiet, and busy.
    sums: Vec<[Sums; 2]>,
}

/// Sums over the intervals of a level, for the estimators.
#[derive(Copy, Clone, Default, Debug)]
struct Sums {
    /// Squared differences of the halves beyond those of chance alone.
    excess: [f64; 2],
    /// Their value if all were in one half.
    most: [f64; 2],
    /// Products of the differences of reads and writes.
    cross: f64,
    /// Products of their numbers.
    both: f64,
}

impl Measure {
    /// `daily`: the requests by hour of the day, or none.
    pub(super) fn new(span_ns: u64, requests: u64, daily: Vec<f64>) -> Self {
        Self {
            span_ns: span_ns.max(1),
            requests: requests as f64,
            daily: Bursts { daily, ..Bursts::default() },
            at: None,
            open: vec![[[0; 2]; 2]; DEEPEST],
            sums: vec![[Sums::default(); 2]; DEEPEST],
        }
    }

    pub(super) fn observe(&mut self, at_ns: u64, read: bool) {
        let scaled = (u128::from(at_ns) << DEEPEST) / (u128::from(self.span_ns) + 1);
        let at = scaled as u64;
        if let Some(before) = self.at.replace(at) {
            let changed = 64 - (before ^ at).leading_zeros() as usize;
            // Halves of level k are told apart by bit DEEPEST - 1 - k; the bits above name them.
            for level in DEEPEST.saturating_sub(changed) + 1..DEEPEST {
                self.close(level, before >> (DEEPEST - level));
            }
        }
        for (level, halves) in self.open.iter_mut().enumerate() {
            let half = (at >> (DEEPEST - 1 - level)) & 1;
            halves[half as usize][usize::from(!read)] += 1;
        }
    }

    fn close(&mut self, level: usize, index: u64) {
        let [first, second] = std::mem::take(&mut self.open[level]);
        let even = self.daily.first_half(level, index, self.span_ns as f64 / 3.6e12);
        let here: u64 = first.iter().chain(&second).sum();
        let busy = here as f64 > BUSY * self.requests * (-(level as f64)).exp2();
        let sums = &mut self.sums[level][usize::from(busy)];
        let mut difference = [0.0; 2];
        let mut n = [0.0; 2];
        for op in 0..2 {
            n[op] = (first[op] + second[op]) as f64;
            difference[op] = first[op] as f64 - second[op] as f64 - n[op] * (2.0 * even - 1.0);
            sums.excess[op] += difference[op] * difference[op] - n[op];
            sums.most[op] += n[op] * n[op] - n[op];
        }
        sums.cross += difference[0] * difference[1];
        sums.both += n[0] * n[1];
    }

    /// Let `d` be the difference of the halves of an interval of `n` requests. Then E[d²] = n + (n²
    /// − n) m², and for reads and writes E[d d'] = n n' m m' t.
    pub(super) fn finish(mut self) -> Bursts {
        if let Some(at) = self.at {
            for level in 0..DEEPEST {
                self.close(level, at >> (DEEPEST - level));
            }
        }
        let told = |s: &Sums| s.most[0] + s.most[1] > 0.0;
        // Halves of less than a microsecond are at once.
        let levels = self.sums.iter().take_while(|s| s.iter().any(told)).count();
        let fine = (self.span_ns as f64 / 500.0).log2().ceil().max(1.0) as usize;
        let mut bursts = self.daily;
        for [quiet, busy] in &self.sums[..levels.min(fine)] {
            bursts.quiet.push(quiet.estimate());
            bursts.busy.push(busy.estimate());
        }
        bursts
    }
}

impl Sums {
    /// `m` of reads, of writes, and how they go together.
    fn estimate(&self) -> [f64; 3] {
        let m = |op: usize| {
            let ratio = self.excess[op] / self.most[op].max(1.0);
            ratio.clamp(0.0, 1.0).sqrt()
        };
        let (reads, writes) = (m(0), m(1));
        let product = reads * writes * self.both;
        let together = if product > 0.0 { (self.cross / product).clamp(-1.0, 1.0) } else { 0.0 };
        [reads, writes, together]
    }
}

/// Rounds to four digits: the stored value is the intended one.
pub(super) fn rounded(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(bursts: &Bursts, span_ns: u64, counts: [u64; 2], seed: u64) -> Vec<(u64, bool)> {
        let mut cascade = Cascade::new(Rng::named(seed, "cascade"));
        cascade.start(span_ns, counts);
        std::iter::from_fn(|| cascade.next(bursts)).collect()
    }

    fn same(levels: usize, [reads, writes, together]: [f64; 3]) -> Bursts {
        let levels = CascadeLevels {
            reads: vec![reads; levels],
            writes: vec![writes; levels],
            together: vec![together; levels],
        };
        Bursts { daily: Vec::new(), quiet: levels.clone(), busy: levels }
    }

    #[test]
    fn all_requests_arrive_in_order_within_the_span() {
        let bursts = same(30, [0.3, 0.7, 0.5]);
        let all = arrivals(&bursts, 1_000_000_000, [700, 2300], 1);
        assert_eq!(all.len(), 3000);
        assert_eq!(all.iter().filter(|a| a.1).count(), 700);
        assert!(all.windows(2).all(|w| w[0].0 <= w[1].0) && all[2999].0 < 1_000_000_000);
    }

    /// The measured levels are those that made it: over many spans the estimates scatter by
    /// chance, so the mean of twenty lies within four of its standard errors.
    #[test]
    fn what_is_measured_is_what_was_asked_for() {
        let bursts = same(16, [0.5, 0.25, 0.6]);
        let span = 60_000_000_000;
        let found: Vec<Bursts> = (0..20)
            .map(|seed| {
                let mut measure = Measure::new(span, 100_000, Vec::new());
                for (at, read) in arrivals(&bursts, span, [40_000, 60_000], seed) {
                    measure.observe(at, read);
                }
                measure.finish()
            })
            .collect();
        for level in 0..6 {
            let near = |of: fn(&Bursts) -> &Vec<f64>, expected: f64| {
                let x: Vec<f64> = found.iter().map(|b| of(b)[level]).collect();
                let mean = x.iter().sum::<f64>() / 20.0;
                let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 19.0;
                let error = (variance / 20.0).sqrt() + 2e-3;
                assert!((mean - expected).abs() < 4.0 * error, "{level}: {mean} ± {error}");
            };
            near(|b| &b.quiet.reads, 0.5);
            near(|b| &b.quiet.writes, 0.25);
            near(|b| &b.quiet.together, 0.6);
        }
    }

    #[test]
    fn the_daily_cycle_shapes_the_mean() {
        let mut daily = vec![0.5; 24];
        daily[12..].fill(1.5);
        let bursts = Bursts { daily, ..same(12, [0.0; 3]) };
        let day = 86_400_000_000_000;
        let all = arrivals(&bursts, 2 * day, [100_000, 0], 3);
        let late = all.iter().filter(|a| a.0 % day >= day / 2).count() as f64;
        // A binomial count: three quarters of 100,000, four standard deviations.
        assert!((late - 75_000.0).abs() < 4.0 * (1e5_f64 * 0.75 * 0.25).sqrt(), "{late}");
    }
}

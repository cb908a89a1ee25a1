//! The rests of cells before each of their cycles, and the part of their life that each cycle used
//! up.
//!
//! READY's equations take the mean rest of a life, in any order. Here each part of a cycle counts
//! by the rest before it, as 1 ÷ N of the life. N is the number of cycles that are achievable with
//! that rest between any two. A life is over when the sum is one. With even rest both agree. A
//! drive that idles first and is busy later lives shorter than its mean rest suggests.

use super::cells::RatedCells;

/// Parts of the flash that are cycled in turn, each with a rest of its own.
const PARTS: usize = 128;

/// Rests, evenly apart in their logarithms, for which the equations are solved beforehand: a life
/// has a million parts of cycles. Values between are off by less than 10^-5, to the safe side.
const SOLVED: usize = 256;

/// The flash, which is cycled evenly, part after part.
#[derive(Clone, Debug)]
pub struct Rests {
    cells: RatedCells,
    /// The share of their life that cells lose by a cycle, by the rest before it.
    prices: Box<[f64; SOLVED]>,
    /// The shortest of these rests, in hours, and their distance as a logarithm.
    shortest: f64,
    apart: f64,
    /// When each part was begun last, in hours; new cells have rested for ever.
    begun: Box<[f64; PARTS]>,
    /// The part that is cycled now, and the remainder of it, in cycles of all flash.
    part: usize,
    left: f64,
    /// Whether a rest lasts from the end of a part to its beginning, rather than from beginning to
    /// beginning. The former is the least rest of the part's cells, the latter their mean.
    least: bool,
    /// The share that the cells of this part lose, and their loss so far.
    price: f64,
    used: f64,
    /// Parts that were cycled before, and those whose rest the constants support.
    again: u64,
    supported: u64,
    range: (f64, f64),
}

impl Rests {
    /// Memory that this takes in a drive.
    pub(super) const DRAM_BYTES: u64 = 8 * (PARTS + SOLVED + 16) as u64;

    /// New cells, whose rests are judged as they were.
    pub fn new(cells: RatedCells) -> Self {
        let (shortest, longest) = cells.rests();
        let apart = (longest / shortest).ln() / (SOLVED - 1) as f64;
        let price = |i: usize| 1.0 / cells.achievable(shortest * (apart * i as f64).exp());
        let mut rests = Self {
            cells,
            prices: Box::new(std::array::from_fn(price)),
            shortest,
            apart,
            begun: Box::new([f64::NEG_INFINITY; PARTS]),
            part: PARTS - 1,
            left: 0.0,
            least: false,
            price: 0.0,
            used: 0.0,
            again: 0,
            supported: 0,
            range: (f64::INFINITY, 0.0),
        };
        rests.begin(0.0);
        rests
    }

    /// New cells, whose rests are taken to be as short as those of any cell were.
    pub fn at_least(cells: RatedCells) -> Self {
        Self { least: true, ..Self::new(cells) }
    }

    /// Counts cycles of all flash, evenly over `from` to `to`, in hours. Returns the share of their
    /// life that the cells lost by it.
    #[inline]
    pub fn add(&mut self, cycles: f64, from: f64, to: f64) -> f64 {
        let before = self.used;
        if cycles < self.left {
            self.left -= cycles;
            self.used += cycles * self.price;
        } else {
            self.around(cycles, from, to);
        }
        self.used - before
    }

    #[cold]
    fn around(&mut self, cycles: f64, from: f64, to: f64) {
        let mut rest = cycles;
        while rest >= self.left {
            rest -= self.left;
            self.used += self.left * self.price;
            self.begin(to - (to - from) * (rest / cycles));
        }
        self.left -= rest;
        self.used += rest * self.price;
    }

    /// The next part is begun.
    fn begin(&mut self, hour: f64) {
        self.part = (self.part + 1) % PARTS;
        let since = if self.least { (self.part + 1) % PARTS } else { self.part };
        let rested = hour - self.begun[since];
        self.begun[self.part] = hour;
        self.left = 1.0 / PARTS as f64;
        self.price = self.price_after(rested);
        if rested.is_finite() {
            self.again += 1;
            self.supported += u64::from(self.cells.supports(rested));
            self.range = (self.range.0.min(rested), self.range.1.max(rested));
        }
    }

    fn price_after(&self, hours: f64) -> f64 {
        let place = ((hours / self.shortest).ln() / self.apart).clamp(0.0, (SOLVED - 1) as f64);
        let (i, beyond) = (place as usize, place.fract());
        let next = self.prices[(i + 1).min(SOLVED - 1)];
        self.prices[i] + beyond * (next - self.prices[i])
    }

    /// The share of their life that the cells have lost: at one they are worn out.
    #[inline]
    pub fn used(&self) -> f64 {
        self.used
    }

    /// The share of their life that a cycle takes now.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Cycles that surely take at most this share of their life from the cells, even if they come
    /// at once. Behind the part that is cycled now, they may have no rest at all.
    pub fn affordable(&self, share: f64) -> f64 {
        let here = self.left * self.price;
        if share <= here { share / self.price } else { self.left + (share - here) / self.prices[0] }
    }

    /// The share of the cycles, but for the first of each cell, that came after a rest for which
    /// the constants have support; one if there was none.
    pub fn supported(&self) -> f64 {
        if self.again == 0 { 1.0 } else { self.supported as f64 / self.again as f64 }
    }

    /// The shortest and the longest rest between two cycles, in hours, if any cell had two.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.again > 0).then_some(self.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::physics::Recovery;

    fn fitted() -> RatedCells {
        RatedCells::new(3000.0, Some(Recovery::FITTED))
    }

    #[track_caller]
    fn near(found: f64, expected: f64, within: f64) {
        assert!((found / expected - 1.0).abs() < within, "{found}, not {expected}");
    }

    /// A thousand cycles, five hours apart: the first of them by cells that are new.
    #[test]
    fn even_rest_is_the_mean_rest() {
        let (new, then) = (1.0 / fitted().achievable(25.3), 999.0 / fitted().achievable(5.0));
        for (mut rests, hours) in
            [(Rests::new(fitted()), 5.0), (Rests::at_least(fitted()), 5.0 * 128.0 / 127.0)]
        {
            let lost: f64 = (0..10_000)
                .map(|i| {
                    rests.add(0.1, f64::from(i) * hours / 10.0, f64::from(i + 1) * hours / 10.0)
                })
                .sum();
            near(lost, rests.used(), 1e-9);
            near(lost, new + then, 1e-4);
            assert!((rests.supported() - 1.0).abs() < 1e-12);
            let (least, most) = rests.range().expect("there was more than one");
            near(least, 5.0, 1e-6);
            near(most, 5.0, 2e-2);
        }
    }

    #[test]
    fn prices_are_those_of_the_equations_or_above() {
        for recovery in [Some(Recovery::FITTED), Some(Recovery::PRINTED), None] {
            let cells = RatedCells::new(3000.0, recovery);
            let rests = Rests::new(cells);
            // At both ends of the equation the logarithms are zero.
            let (shortest, longest) = cells.rests();
            let ends = [0.0, 1.0, shortest, 2.0, longest, f64::INFINITY];
            for hours in (0..2000).map(|i| 1e-3 * 1.01_f64.powi(i)).chain(ends) {
                let above = rests.price_after(hours) * cells.achievable(hours) - 1.0;
                assert!((-1e-10..1e-5).contains(&above), "{recovery:?}, {hours} h: {above}");
            }
        }
    }

    /// All flash is cycled in ten hours. When the first part comes round again it has rested for
    /// ten hours, and when the last one begins no cell had less.
    #[test]
    fn the_first_rest_is_that_of_the_first_part() {
        for (mut rests, parts) in
            [(Rests::new(fitted()), 128.0), (Rests::at_least(fitted()), 127.0)]
        {
            let hours = |parts: f64| 10.0 * parts / 128.0;
            let _ = rests.add((parts - 1.0) / 128.0, 0.0, hours(parts - 1.0));
            assert_eq!(rests.range(), None);
            let _ = rests.add(1.0 / 128.0, hours(parts - 1.0), hours(parts));
            assert_eq!(rests.range(), Some((hours(parts), hours(parts))));
        }
    }

    /// Bytes at once, and the same bit by bit.
    #[test]
    fn an_hour_is_what_its_seconds_are() {
        let (mut whole, mut parts) = (Rests::new(fitted()), Rests::new(fitted()));
        for hour in 0..100 {
            let (from, cycles) = (f64::from(hour), f64::from(hour % 7));
            let _ = whole.add(cycles, from, from + 1.0);
            for second in 0..3600 {
                let at = from + f64::from(second) / 3600.0;
                let _ = parts.add(cycles / 3600.0, at, at + 1.0 / 3600.0);
            }
        }
        near(whole.used(), parts.used(), 1e-4);
    }

    /// A cycle a day for ten days, then ten within minutes; cells without rest are worth the least.
    #[test]
    fn each_cycle_counts_by_its_own_rest() {
        let mut rests = Rests::new(fitted());
        assert!(rests.range().is_none() && rests.supported() >= 1.0);
        let _ = rests.add(10.0, 0.0, 240.0);
        let before = rests.used();
        let _ = rests.add(11.0, 240.0, 241.1);
        // In the first round of the eleven rest falls from a day to a tenth of an hour.
        let mixed = (0..1000).map(|i| 24.0 - 23.9 * (f64::from(i) + 0.5) / 1000.0);
        let first = mixed.map(|hours| 1e-3 / fitted().achievable(hours)).sum::<f64>();
        near(rests.used() - before, first + 10.0 / fitted().achievable(0.1), 1e-3);
        let (least, most) = rests.range().expect("there was more than one");
        near(least, 0.1, 1e-6);
        near(most, 24.0, 1e-6);
        // Nine rounds had days, and the next 2.8 hours or more for a while.
        near(rests.supported(), (9.0 + 21.2 / 23.9) / 20.0, 0.01);
        assert!(rests.affordable(-1.0) < 0.0 && rests.affordable(0.0) >= 0.0);
        near(rests.affordable(1.0), 3036.0, 1e-3);
    }
}

//! The information of a sensed cell about a bit: the channel between a page as written and as read.
//!
//! The threshold voltage itself is never seen. References sort a cell into one of a few ranges. The
//! value of a range is the ratio of the probabilities with which a 0 and a 1 fall into it.

use kernel::Rng;
use nand::physics::{Cell, mean_upper_tail, upper_tail};

/// A channel of one bit: how likely a 0 and a 1 are read as each range of voltages.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    ranges: Vec<[f64; 2]>,
}

/// The places of the references of a boundary.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// One distance between neighbours, the one that keeps most information.
    Even,
    /// Mirrored about the middle, each where most information is kept.
    Free,
}

impl Channel {
    /// A channel by its probabilities of a 0 and of a 1, range by range.
    pub fn new(ranges: Vec<[f64; 2]>) -> Self {
        for bit in 0..2 {
            let sum: f64 = ranges.iter().map(|p| p[bit]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "the ranges of a {bit} have {sum} in all");
        }
        Self { ranges }
    }

    /// A boundary between two levels with equal Gaussian noise, at −1 (bit 1) and 1 (bit 0), with
    /// references at these places. It errs at a rate of `rber` if it is sensed once in the middle.
    pub fn boundary_at(rber: f64, references: &[f64]) -> Self {
        let sigma = 1.0 / inverse_tail(rber);
        let above = |edge: f64, level: f64| upper_tail((edge - level) / sigma);
        Self::by_edges(references, |edge| [above(edge, 1.0), above(edge, -1.0)])
    }

    /// The same with `sensings` references where they are best.
    pub fn boundary(rber: f64, sensings: u32, spacing: Spacing) -> Self {
        Self::boundary_at(rber, &references(sensings, spacing, |r| Self::boundary_at(rber, r)))
    }

    /// A boundary that errs at a rate of `rber`, with references that are best for one that errs at
    /// a rate of `design`. A controller does not know the state of its cells.
    pub fn boundary_designed(rber: f64, design: f64, sensings: u32, spacing: Spacing) -> Self {
        let from = |edges: &[f64]| Self::boundary_at(design, edges);
        Self::boundary_at(rber, &references(sensings, spacing, from))
    }

    /// A page of a cell, each of its boundaries sensed `sensings` times, with data as good as
    /// random on the other pages. `shift` moves all references down from the middle between levels
    /// as programmed, in volts.
    pub fn page(worn: &Worn, sensings: u32, spacing: Spacing, shift: f64) -> Self {
        let at = |offsets: &[f64]| worn.channel(offsets, shift);
        // Distances are in units of half a spacing, as in `boundary`.
        at(&references(sensings, spacing, at))
    }

    /// [`page`](Self::page) with the shift that keeps most information, and that shift.
    pub fn page_tracked(worn: &Worn, sensings: u32, spacing: Spacing) -> (Self, f64) {
        let quality = |shift: f64| Self::page(worn, sensings, spacing, shift).information();
        let shift = highest(-0.05, worn.cell.half_spacing(), 0.002, quality);
        (Self::page(worn, sensings, spacing, shift), shift)
    }

    /// Ranges between edges, from how likely a 0 and a 1 lie above an edge.
    fn by_edges(edges: &[f64], above: impl Fn(f64) -> [f64; 2]) -> Self {
        let mut ranges = Vec::with_capacity(edges.len() + 1);
        let mut before = [1.0, 1.0];
        for after in edges.iter().map(|edge| above(*edge)).chain([[0.0, 0.0]]) {
            ranges.push([before[0] - after[0], before[1] - after[1]]);
            before = after;
        }
        Self { ranges }
    }

    /// How many ranges there are.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// How often a bit read as the likelier one of its range is wrong, 0 and 1 being as frequent.
    pub fn error_rate(&self) -> f64 {
        self.ranges.iter().map(|p| p[0].min(p[1]) / 2.0).sum()
    }

    /// Bits of information about a bit, 0 and 1 being as frequent: by Shannon's theorem no code
    /// of a higher rate can be read.
    pub fn information(&self) -> f64 {
        let part = |p: f64, sum: f64| if p > 0.0 { p * (2.0 * p / sum).log2() } else { 0.0 };
        self.ranges.iter().map(|[a, b]| 0.5 * (part(*a, a + b) + part(*b, a + b))).sum()
    }

    /// ln of the ratio of a 0 to a 1 in each range, at most 40 either way.
    pub fn ratios(&self) -> Vec<f64> {
        let ratio = |[zero, one]: &[f64; 2]| match (*zero > 0.0, *one > 0.0) {
            (true, true) => (zero / one).ln().clamp(-40.0, 40.0),
            (true, false) => 40.0,
            (false, true) => -40.0,
            (false, false) => 0.0,
        };
        self.ranges.iter().map(ratio).collect()
    }

    /// The ratios as whole numbers of `unit`, at most `largest` either way, as in a table of a
    /// controller.
    pub fn table(&self, unit: f64, largest: i8) -> Vec<i8> {
        let limit = f64::from(largest);
        self.ratios().iter().map(|r| (r / unit).round().clamp(-limit, limit) as i8).collect()
    }

    /// For both values of a bit, how many of 2^32 lie below the upper end of each range but the
    /// last.
    fn edges(&self) -> [Vec<u32>; 2] {
        [0, 1].map(|bit| {
            let mut sum = 0.0;
            let inner = &self.ranges[..self.ranges.len() - 1];
            let edge = |p: &[f64; 2]| {
                sum += p[bit];
                (sum * 4_294_967_296.0).round().min(4_294_967_295.0) as u32
            };
            inner.iter().map(edge).collect()
        })
    }
}

/// Reads words over a channel.
#[derive(Clone, Debug)]
pub struct Reader {
    edges: [Vec<u32>; 2],
    draws: Vec<u32>,
}

impl Reader {
    /// A reader of one channel.
    pub fn new(channel: &Channel) -> Self {
        Self { edges: channel.edges(), draws: Vec::new() }
    }

    /// Reads every bit of `word` as the number of a range.
    pub fn read(&mut self, word: &[u8], rng: &mut Rng, ranges: &mut [u8]) {
        self.draws.resize(word.len().next_multiple_of(2), 0);
        for pair in self.draws.chunks_exact_mut(2) {
            let bits = rng.bits();
            (pair[0], pair[1]) = (bits as u32, (bits >> 32) as u32);
        }
        ranges.fill(0);
        for (zero, one) in self.edges[0].iter().zip(&self.edges[1]) {
            let apart = zero ^ one;
            for ((range, bit), draw) in ranges.iter_mut().zip(word).zip(&self.draws) {
                let edge = zero ^ (apart & (*bit as u32).wrapping_neg());
                *range = range.wrapping_add(u8::from(*draw >= edge));
            }
        }
    }
}

/// A page in the state that wear and time have left it in.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Worn {
    /// The cell, of 2 bits or more.
    pub cell: Cell,
    /// The type of its page, from the least significant bit (0) upward.
    pub page_type: usize,
    /// The program step, in volts.
    pub step_volts: f64,
    /// Program/erase cycles.
    pub cycles: f64,
    /// Hours since it was programmed.
    pub hours: f64,
}

impl Worn {
    /// The bit that a level holds: it changes at every boundary of the page.
    fn bit(&self, level: u32) -> usize {
        1 - self.cell.boundaries(self.page_type).filter(|b| *b <= level).count() % 2
    }

    /// The channel with references at these distances from the middle of each boundary, in units
    /// of half a spacing.
    fn channel(&self, offsets: &[f64], shift: f64) -> Channel {
        let half = self.cell.half_spacing();
        let mut edges = Vec::new();
        for boundary in self.cell.boundaries(self.page_type) {
            let middle = self.cell.level(boundary, 0.0, 0.0).above - half - shift;
            edges.extend(offsets.iter().map(|offset| middle + offset * half));
        }
        // Ranges of different boundaries may not overlap.
        assert!(edges.is_sorted(), "references of one boundary reach the next: {edges:?}");
        let levels = 1_u32 << self.cell.bits();
        Channel::by_edges(&edges, |edge| {
            let mut above = [0.0; 2];
            for k in 0..levels {
                above[self.bit(k)] += self.above(k, edge) / f64::from(levels / 2);
            }
            above
        })
    }

    /// How likely a cell of a level lies above a voltage, counted from the middle of erased cells.
    fn above(&self, k: u32, edge: f64) -> f64 {
        let volts = self.cell.level(k, self.cycles, self.hours);
        let from = (edge - (volts.above - volts.loss)) / volts.sigma;
        if k == 0 {
            return upper_tail(from);
        }
        let width = self.step_volts / volts.sigma;
        mean_upper_tail(from - width / 2.0, width)
    }
}

/// `sensings` places about 0 that keep most information.
fn references(sensings: u32, spacing: Spacing, channel: impl Fn(&[f64]) -> Channel) -> Vec<f64> {
    let even = |distance: f64| -> Vec<f64> {
        (0..sensings).map(|i| (f64::from(i) - f64::from(sensings - 1) / 2.0) * distance).collect()
    };
    if sensings == 1 {
        return vec![0.0];
    }
    // No reference lies farther out than nine tenths of half a spacing.
    let widest = 1.8 / f64::from(sensings - 1);
    let distance = highest(1e-3, widest, 1e-4, |d| channel(&even(d)).information());
    let mut places = even(distance);
    if spacing == Spacing::Free {
        for _ in 0..6 {
            for i in 0..places.len() / 2 {
                let last = places.len() - 1;
                let low = if i == 0 { -0.9 } else { places[i - 1] };
                let high = if 2 * i + 1 < last { places[i + 1] } else { 0.0 };
                let with = |x: f64| {
                    let mut moved = places.clone();
                    (moved[i], moved[last - i]) = (x, -x);
                    moved
                };
                let best = highest(low, high, 1e-4, |x| channel(&with(x)).information());
                places = with(best);
            }
        }
    }
    places
}

/// The place of the maximum of a function with one peak, by golden section.
fn highest(mut low: f64, mut high: f64, precision: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let inner = |low: f64, high: f64| (high - ratio * (high - low), low + ratio * (high - low));
    let (mut a, mut b) = inner(low, high);
    let (mut at_a, mut at_b) = (f(a), f(b));
    while high - low > precision {
        if at_a < at_b {
            low = a;
            (a, at_a) = (b, at_b);
            b = inner(low, high).1;
            at_b = f(b);
        } else {
            high = b;
            (b, at_b) = (a, at_a);
            a = inner(low, high).0;
            at_a = f(a);
        }
    }
    f64::midpoint(low, high)
}

/// z with Q(z) = p, for p below ½.
fn inverse_tail(p: f64) -> f64 {
    assert!(p > 0.0 && p < 0.5, "no boundary errs at a rate of {p}");
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::physics::STEP_VOLTS;

    fn worn(page_type: usize, hours: f64) -> Worn {
        let cell = Cell::new(2, 3000.0);
        Worn { cell, page_type, step_volts: STEP_VOLTS, cycles: 3000.0, hours }
    }

    #[test]
    fn one_sensing_is_a_symmetric_channel_of_its_error_rate() {
        for rber in [1e-4, 4e-3, 0.1] {
            let channel = Channel::boundary(rber, 1, Spacing::Even);
            assert!((channel.error_rate() / rber - 1.0).abs() < 1e-9);
            let entropy = -rber * rber.log2() - (1.0 - rber) * (1.0 - rber).log2();
            assert!((channel.information() - (1.0 - entropy)).abs() < 1e-9);
            let expected = ((1.0 - rber) / rber).ln();
            let ratios = channel.ratios();
            assert!((ratios[0] + expected).abs() < 1e-9 && (ratios[1] - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn more_and_freer_references_tell_more() {
        for rber in [2e-3, 1e-2, 3e-2] {
            let tells = |m, s| Channel::boundary(rber, m, s).information();
            let even = [1, 3, 7, 15].map(|m| tells(m, Spacing::Even));
            assert!(even.is_sorted_by(|a, b| a < b), "{even:?}");
            assert!((tells(3, Spacing::Free) / even[1] - 1.0).abs() < 1e-6, "one distance only");
            assert!(tells(7, Spacing::Free) > even[2]);
            assert!(even[3] > tells(7, Spacing::Free));
        }
    }

    #[test]
    fn ranges_are_those_of_voltages_drawn_and_compared() {
        // Gaussian voltages by Box and Muller, compared with the references.
        let references = [-0.3, 0.0, 0.3];
        let rber = 0.02;
        let channel = Channel::boundary_at(rber, &references);
        let sigma = 1.0 / inverse_tail(rber);
        let mut rng = Rng::named(1, "ldpc/channel");
        let draws = 200_000;
        let mut seen = [[0.0; 2]; 4];
        for i in 0..draws {
            let (u, v) = (1.0 - rng.unit(), rng.unit());
            let noise = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            let bit = i % 2;
            let voltage = if bit == 0 { 1.0 } else { -1.0 } + sigma * noise;
            seen[references.iter().filter(|r| voltage > **r).count()][bit] += 1.0;
        }
        let half = draws as f64 / 2.0;
        let mut word: Vec<u8> = (0..draws as u32).map(|_| rng.below(2) as u8).collect();
        word[0] = 1;
        let mut ranges = vec![0; word.len()];
        Reader::new(&channel).read(&word, &mut rng, &mut ranges);
        for (range, seen) in seen.iter().enumerate() {
            for (bit, seen) in seen.iter().enumerate() {
                let p = channel.ranges[range][bit];
                let close = |count: f64, of: f64| {
                    let deviation = (of * p * (1.0 - p)).sqrt();
                    assert!((count - of * p).abs() < 4.5 * deviation + 1.0, "{range} {bit}");
                };
                close(*seen, half);
                let of = word.iter().filter(|b| **b as usize == bit).count() as f64;
                let pairs = word.iter().zip(&ranges);
                let count = pairs.filter(|(b, r)| (**b as usize, **r as usize) == (bit, range));
                close(count.count() as f64, of);
            }
        }
    }

    #[test]
    fn a_page_sensed_once_errs_as_the_formula_says() {
        for page_type in [0, 1] {
            for hours in [0.0, 100.0, 8760.0] {
                let worn = worn(page_type, hours);
                let found = Channel::page(&worn, 1, Spacing::Even, 0.0).error_rate();
                let formula = worn.cell.rber(page_type, STEP_VOLTS, 3000.0, hours);
                // The formula gives no credit where charge that is lost brings back cells that
                // were programmed too far; here they come back.
                let least = if hours > 0.0 { 0.8 } else { 0.999 };
                let share = found / formula;
                assert!(share > least && share < 1.001, "{page_type} {hours}: {share}");
            }
        }
    }

    #[test]
    fn references_that_follow_the_levels_tell_more() {
        let fixed = Channel::page(&worn(1, 8760.0), 3, Spacing::Even, 0.0).information();
        let (tracked, shift) = Channel::page_tracked(&worn(1, 8760.0), 3, Spacing::Even);
        assert!(shift > 0.0 && tracked.information() > fixed, "{shift}");
        let finer = Channel::page_tracked(&worn(1, 8760.0), 7, Spacing::Even).0.information();
        assert!(finer > tracked.information());
    }

    #[test]
    fn tables_are_rounded_and_clipped() {
        let channel = Channel::new(vec![[0.0, 0.9], [0.25, 0.1], [0.75, 0.0]]);
        assert_eq!(channel.table(0.5, 20), [-20, 2, 20]);
        assert_eq!(channel.ranges(), 3);
    }
}

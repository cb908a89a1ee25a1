//! Threshold voltages of a whole block.

use super::GrayMap;
use crate::physics::Cell;
use kernel::Rng;
use std::ops::Range;

const WORD: usize = 64;
const UNITS: usize = 256;

/// Threshold voltages as a byte each, drawn from the densities of [`Cell::above`].
///
/// A unit is such that every reference lies between two of them, so that sensing a page loses
/// nothing to rounding. Voltages are drawn by Walker's alias method: half a random word, one
/// look-up and one comparison for each cell, at any density.
///
/// Programming only raises: a cell whose erased voltage is above the drawn one keeps it.
#[derive(Clone, Debug)]
pub struct Voltages {
    cell: Cell,
    map: GrayMap,
    words: usize,
    unit: f64,
    volts: Vec<u8>,
}

/// The steps with which a block is programmed, and its history until it is sensed.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct History {
    /// The program step in volts.
    pub step_volts: f64,
    /// Program/erase cycles of the block.
    pub cycles: f64,
    /// Hours since the program.
    pub hours: f64,
}

/// Draws a byte with given weights.
struct Alias {
    /// For each column: the odds of keeping it, of 2^24, and its replacement.
    columns: Box<[(u32, u8); UNITS]>,
}

impl Alias {
    /// Vose's form of Walker's table. The weights add up to 1.
    fn new(weights: &[f64; UNITS]) -> Self {
        let mut scaled: Vec<f64> = weights.iter().map(|w| w * UNITS as f64).collect();
        let mut columns = Box::new([(1 << 24, 0); UNITS]);
        let mut poor: Vec<usize> = (0..UNITS).filter(|i| scaled[*i] < 1.0).collect();
        let mut rich: Vec<usize> = (0..UNITS).filter(|i| scaled[*i] >= 1.0).collect();
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            columns[taker] = ((scaled[taker] * f64::from(1 << 24)).round() as u32, giver as u8);
            scaled[giver] -= 1.0 - scaled[taker];
            if scaled[giver] < 1.0 {
                poor.push(giver);
                rich.pop();
            }
        }
        Self { columns }
    }

    /// A byte from 32 random bits.
    #[inline]
    fn draw(&self, random: u32) -> u8 {
        let column = (random >> 24) as usize;
        let (keep, other) = self.columns[column];
        if random & 0xff_ffff < keep { column as u8 } else { other }
    }
}

impl Voltages {
    /// A block of `wordlines` with `64 * words` cells each.
    pub fn new(cell: Cell, wordlines: usize, words: usize) -> Self {
        // Half the distance of two levels, in units. The highest level then lies well inside the
        // range.
        let parts = [16.0, 16.0, 10.0, 6.0][cell.bits() as usize - 1];
        let unit = 0.375 / parts;
        let map = GrayMap::new(cell.bits());
        Self { cell, map, words, unit, volts: vec![0; wordlines * words * WORD] }
    }

    fn cells(&self, wordline: usize) -> Range<usize> {
        let size = self.words * WORD;
        wordline * size..(wordline + 1) * size
    }

    /// The unit in volts.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The units at or above which a cell lies above a reference.
    fn first_above(&self, boundary: u32) -> i32 {
        (self.cell.reference_volts(boundary) / self.unit).round() as i32
    }

    /// The density of a level, in units.
    fn density(&self, level: u32, history: &History) -> [f64; UNITS] {
        let History { step_volts, cycles, hours } = *history;
        let above =
            |i: usize| self.cell.above(level, i as f64 * self.unit, step_volts, cycles, hours);
        // An index beyond an end counts as the end.
        let edge = |i: usize| match i {
            0 => 1.0,
            UNITS => 0.0,
            _ => above(i),
        };
        std::array::from_fn(|i| (edge(i) - edge(i + 1)).max(0.0))
    }

    /// Erases and programs the whole block: `pages` yields the pages of a wordline by type, into the
    /// words that it is given.
    pub fn write(
        &mut self,
        history: &History,
        rng: &mut Rng,
        mut pages: impl FnMut(usize, u32, &mut [u64]),
    ) {
        let levels = self.map.levels();
        let draws: Vec<Alias> =
            (0..levels).map(|v| Alias::new(&self.density(v.into(), history))).collect();
        let mut level_of = [0_u8; 16];
        (0..levels).for_each(|v| level_of[self.map.means(v) as usize] = v);
        let bits = self.map.bits();
        let mut data = vec![0_u64; bits as usize * self.words];
        for wordline in 0..self.volts.len() / (self.words * WORD) {
            for t in 0..bits {
                let words = t as usize * self.words..(t as usize + 1) * self.words;
                pages(wordline, t, &mut data[words]);
            }
            let cells = self.cells(wordline);
            for (w, chunk) in self.volts[cells].chunks_exact_mut(WORD).enumerate() {
                let mut words = [0_u64; 4];
                for (t, word) in words.iter_mut().take(bits as usize).enumerate() {
                    *word = data[t * self.words + w];
                }
                for (pair, two) in chunk.chunks_exact_mut(2).enumerate() {
                    let random = rng.bits();
                    for (k, volts) in two.iter_mut().enumerate() {
                        let i = 2 * pair + k;
                        // Types that the cells lack are 0 in every word.
                        let bit = |t: usize| words[t] >> i & 1;
                        let means = bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3;
                        let level = level_of[means as usize];
                        *volts = draws[level as usize].draw((random >> (32 * k)) as u32);
                    }
                }
            }
        }
    }

    /// Moves every cell of a wordline by `units`, up or down, and not beyond the last unit.
    pub fn shift(&mut self, wordline: usize, units: i8) {
        let cells = self.cells(wordline);
        for volts in &mut self.volts[cells] {
            *volts = volts.saturating_add_signed(units);
        }
    }

    /// Senses a page with every reference moved by `moved` units.
    pub fn sense(&self, wordline: usize, page_type: u32, moved: i32, out: &mut [u64]) {
        let boundaries = self.map.boundaries(page_type);
        let references: Vec<i32> = boundaries.map(|b| self.first_above(b.into()) + moved).collect();
        let means: [u8; UNITS] = std::array::from_fn(|volts| {
            let below = references
                .iter()
                .filter(|r| usize::try_from(**r).map_or(true, |r| r <= volts))
                .count();
            u8::from(below % 2 == 0)
        });
        let cells = &self.volts[self.cells(wordline)];
        for (word, chunk) in out.iter_mut().zip(cells.chunks_exact(WORD)) {
            *word = chunk.iter().rev().fold(0, |w, v| w << 1 | u64::from(means[*v as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::STEP_VOLTS;

    /// A block with random pages; errors of each page type, with every cell moved by `shift` and
    /// every reference by `moved`.
    fn errors(cell: Cell, history: &History, shift: i8, moved: i32, seed: u64) -> Vec<f64> {
        let (wordlines, words) = (64, 512);
        let mut rng = Rng::named(seed, "cells/voltages");
        let mut block = Voltages::new(cell, wordlines, words);
        let mut data = Rng::named(seed, "cells/voltages data");
        let mut written = vec![Vec::new(); cell.bits() as usize];
        block.write(history, &mut rng, |_, t, page| {
            for word in page.iter_mut() {
                *word = data.bits();
            }
            written[t as usize].extend_from_slice(page);
        });
        (0..cell.bits())
            .map(|t| {
                let mut wrong = 0;
                for wordline in 0..wordlines {
                    if t == 0 {
                        block.shift(wordline, shift);
                    }
                    let mut page = vec![0; words];
                    block.sense(wordline, t, moved, &mut page);
                    let was = &written[t as usize][wordline * words..];
                    wrong += page.iter().zip(was).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
                }
                f64::from(wrong)
            })
            .collect()
    }

    const BITS: f64 = 64.0 * 512.0 * 64.0;

    #[test]
    fn error_rates_of_cells_are_those_of_the_closed_form() {
        for (bits, rated, cycles) in [
            (2, 1e4, 1e4),
            (2, 1e4, 0.0),
            (2, 3e3, 6e3),
            (3, 3e3, 3e3),
            (4, 1e3, 1.5e3),
            (1, 1e5, 9e5),
        ] {
            let cell = Cell::new(bits, rated);
            let history = History { step_volts: STEP_VOLTS, cycles, hours: 0.0 };
            for (t, found) in errors(cell, &history, 0, 0, 1).into_iter().enumerate() {
                let expected = cell.rber(t, STEP_VOLTS, cycles, 0.0) * BITS;
                let doubt = 5.0 * (expected + 1.0).sqrt();
                assert!(
                    (found - expected).abs() < doubt,
                    "{bits} {cycles} {t}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn retention_lowers_cells_and_costs_no_more_than_the_closed_form() {
        // The closed form gives no credit for cells that were too high; it bounds the sensed
        // errors.
        let cell = Cell::new(2, 3e3);
        let history = History { step_volts: STEP_VOLTS, cycles: 3e3, hours: 8760.0 };
        let lost: f64 = errors(cell, &history, 0, 0, 2).iter().sum();
        let bound: f64 = (0..2).map(|t| cell.rber(t, STEP_VOLTS, 3e3, 8760.0) * BITS).sum();
        assert!(lost < bound && lost > 0.5 * bound, "{lost} of at most {bound}");
        let fresh: f64 = errors(cell, &History { hours: 0.0, ..history }, 0, 0, 2).iter().sum();
        assert!(lost > 5.0 * fresh, "{lost} after a year, {fresh} at once");
    }

    #[test]
    fn a_shift_is_undone_by_references_that_follow_it() {
        let cell = Cell::new(3, 3e3);
        let history = History { step_volts: STEP_VOLTS, cycles: 3e3, hours: 0.0 };
        let plain = errors(cell, &history, 0, 0, 3);
        let shifted = errors(cell, &history, -4, 0, 3);
        assert_eq!(errors(cell, &history, -4, -4, 3), plain);
        for (shifted, plain) in shifted.iter().zip(&plain) {
            assert!(*shifted > 3.0 * plain, "{shifted} {plain}");
        }
    }
}

//! Cells in wordlines, as a column of levels.

use super::GrayMap;
use super::gray::LEVELS;
use kernel::Rng;
use std::ops::Range;

/// Cells in a word of a page.
const WORD: usize = 64;

/// A cell would have to be lowered, which only an erase can do.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TooLow {
    /// The cell in its wordline.
    pub cell: usize,
    /// Its level.
    pub level: u8,
}

/// Wordlines of cells of one kind. A page is a type of a wordline, as words of 64 bits.
///
/// Levels are a byte each. An operation looks up the next level of each cell in a table of its own,
/// so a page costs about a nanosecond for each of its bits.
#[derive(Clone, Debug)]
pub struct Wordlines {
    map: GrayMap,
    /// Words of a page.
    words: usize,
    level: Vec<u8>,
    /// For each wordline, the types that have been programmed since the erase.
    programmed: Vec<u8>,
}

/// The next level of a cell by its bit and its level.
type Table = [u8; 2 * LEVELS];

/// There is no next level.
const NOWHERE: u8 = u8::MAX;

fn table(map: &GrayMap, to: impl Fn(u8, u8) -> Option<u8>) -> Table {
    let mut table = [NOWHERE; 2 * LEVELS];
    for level in 0..map.levels() {
        for bit in 0..2 {
            let entry = &mut table[bit as usize * LEVELS + level as usize];
            *entry = to(level, bit).unwrap_or(NOWHERE);
        }
    }
    table
}

impl Wordlines {
    /// Erased wordlines with `64 * words` cells of `bits` bits each.
    pub fn new(bits: u32, wordlines: usize, words: usize) -> Self {
        Self {
            map: GrayMap::new(bits),
            words,
            level: vec![0; wordlines * words * WORD],
            programmed: vec![0; wordlines],
        }
    }

    /// The bits that levels stand for.
    pub fn map(&self) -> &GrayMap {
        &self.map
    }

    /// The levels of a wordline.
    pub fn levels(&self, wordline: usize) -> &[u8] {
        &self.level[self.cells(wordline)]
    }

    /// The page types of a wordline that have been programmed since the erase, type 0 in bit 0.
    pub fn programmed(&self, wordline: usize) -> u8 {
        self.programmed[wordline]
    }

    fn cells(&self, wordline: usize) -> Range<usize> {
        let size = self.words * WORD;
        wordline * size..(wordline + 1) * size
    }

    /// Erases wordlines.
    pub fn erase(&mut self, wordlines: Range<usize>) {
        let size = self.words * WORD;
        self.level[wordlines.start * size..wordlines.end * size].fill(0);
        self.programmed[wordlines].fill(0);
    }

    /// Programs a page: every cell rises to the lowest level that means its bit and keeps its bits
    /// of earlier types. On a page that holds data, 1 leaves a cell as it is.
    ///
    /// Errs, with the wordline unchanged, if a cell would have to be lowered.
    pub fn program(&mut self, wordline: usize, page_type: u32, data: &[u64]) -> Result<(), TooLow> {
        let map = &self.map;
        let again = self.programmed[wordline] >> page_type & 1 == 1;
        let keep = self.programmed[wordline] | 1 << page_type;
        let to = |level: u8, bit: u8| {
            if again && bit == 1 {
                return Some(level);
            }
            let wanted = map.means(level) & !(1 << page_type) | bit << page_type;
            map.raise(level, |to| (map.means(to) ^ wanted) & keep == 0)
        };
        let table = table(map, to);
        self.apply(wordline, data, &table)?;
        self.programmed[wordline] = keep;
        Ok(())
    }

    /// Programs a page as a chip does. A chip assumes that neither this type nor a later type of
    /// the wordline has been programmed yet. It senses the earlier types with references just above
    /// the levels that such cells can have. (Chips do not publish these references; this is the
    /// lowest place.) After the page has been programmed, its cells are higher than that. They are
    /// taken for others and rise to the levels of those.
    pub fn program_unaware(&mut self, wordline: usize, page_type: u32, data: &[u64]) {
        let map = &self.map;
        // Levels that are possible before this type: multiples of this.
        let apart = 1_u8 << (map.bits() - page_type);
        let earlier = (1_u8 << page_type) - 1;
        let to = |level: u8, bit: u8| {
            let taken_for = (level.div_ceil(apart) * apart).min(map.levels() - apart);
            let wanted = map.means(taken_for) & earlier | bit << page_type;
            let both = earlier | 1 << page_type;
            let fits = |to: u8| map.means(to) & both == wanted;
            // If no level is left, verifying succeeds at once and the cell stays.
            Some(map.raise(level, fits).unwrap_or(level))
        };
        let table = table(map, to);
        self.apply(wordline, data, &table).expect("cells that cannot rise stay");
        self.programmed[wordline] |= 1 << page_type;
    }

    /// Programs a page of a type below the last at low density: to guarded levels only.
    pub fn program_guarded(
        &mut self,
        wordline: usize,
        page_type: u32,
        data: &[u64],
    ) -> Result<(), TooLow> {
        let map = &self.map;
        let keep = self.programmed[wordline] | 1 << page_type;
        let to = |level: u8, bit: u8| {
            let wanted = map.means_guarded(level) & !(1 << page_type) | bit << page_type;
            let allows =
                |to: u8| map.is_guarded(to) && (map.means_guarded(to) ^ wanted) & keep == 0;
            map.raise(level, allows)
        };
        let table = table(map, to);
        self.apply(wordline, data, &table)?;
        self.programmed[wordline] = keep;
        Ok(())
    }

    /// Raises each cell of a wordline to the level that the table gives for its bit and level.
    fn apply(&mut self, wordline: usize, data: &[u64], table: &Table) -> Result<(), TooLow> {
        assert_eq!(data.len(), self.words, "a page has as many words as its wordline");
        let cells = self.cells(wordline);
        let levels = &mut self.level[cells];
        let next = |level: u8, word: u64, i: usize| {
            table[(word >> i & 1) as usize * LEVELS + usize::from(level & 15)]
        };
        for (w, (chunk, word)) in levels.chunks_exact(WORD).zip(data).enumerate() {
            let stuck = chunk.iter().enumerate().find(|(i, v)| next(**v, *word, *i) == NOWHERE);
            if let Some((i, level)) = stuck {
                return Err(TooLow { cell: w * WORD + i, level: *level });
            }
        }
        for (chunk, word) in levels.chunks_exact_mut(WORD).zip(data) {
            for (i, level) in chunk.iter_mut().enumerate() {
                *level = next(*level, *word, i);
            }
        }
        Ok(())
    }

    /// Senses a page.
    pub fn sense(&self, wordline: usize, page_type: u32, out: &mut [u64]) {
        self.look_up(wordline, page_type, GrayMap::means, out);
    }

    /// Senses a page where guard levels are.
    pub fn sense_guarded(&self, wordline: usize, page_type: u32, out: &mut [u64]) {
        self.look_up(wordline, page_type, GrayMap::means_guarded, out);
    }

    fn look_up(
        &self,
        wordline: usize,
        page_type: u32,
        means: impl Fn(&GrayMap, u8) -> u8,
        out: &mut [u64],
    ) {
        // One bit for each level.
        let ones = (0..self.map.levels())
            .fold(0_u64, |all, v| all | u64::from(means(&self.map, v) >> page_type & 1) << v);
        for (word, chunk) in out.iter_mut().zip(self.levels(wordline).chunks_exact(WORD)) {
            *word = chunk.iter().rev().fold(0, |w, level| w << 1 | ones >> level & 1);
        }
    }

    /// Reprograms a wordline in place: its lower bits stay, and guard levels come between them.
    pub fn reprogram(&mut self, wordline: usize) {
        let cells = self.cells(wordline);
        for level in &mut self.level[cells] {
            *level = self.map.reprogrammed(*level);
        }
    }

    /// Marks all types of a wordline as programmed.
    pub fn complete(&mut self, wordline: usize) {
        self.programmed[wordline] = (1 << self.map.bits()) - 1;
    }

    /// Raises each cell below the highest level by one with probability `chance`, as disturbs do.
    /// Returns how many rose.
    pub fn drift(&mut self, wordline: usize, chance: f64, rng: &mut Rng) -> u32 {
        let top = self.map.levels() - 1;
        let cells = self.cells(wordline);
        let mut risen = vec![0_u64; self.words];
        super::flip(&mut risen, chance, rng);
        let mut count = 0;
        for (i, level) in self.level[cells].iter_mut().enumerate() {
            if risen[i / WORD] >> (i % WORD) & 1 == 1 && *level < top {
                *level += 1;
                count += 1;
            }
        }
        count
    }

    /// Power failed while a wordline rose from the levels in `before` to its present ones. Each
    /// cell takes each step of the way with probability `share`, and stays where that brings it.
    pub fn stop_short(&mut self, wordline: usize, before: &[u8], share: f64, rng: &mut Rng) {
        let cells = self.cells(wordline);
        for (level, from) in self.level[cells].iter_mut().zip(before) {
            let steps = level.checked_sub(*from).expect("programming only raises");
            *level = from + (0..steps).filter(|_| rng.unit() < share).count() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rng: &mut Rng, words: usize) -> Vec<u64> {
        (0..words).map(|_| rng.bits()).collect()
    }

    fn sensed(w: &Wordlines, wordline: usize, page_type: u32) -> Vec<u64> {
        let mut out = vec![0; w.words];
        w.sense(wordline, page_type, &mut out);
        out
    }

    fn sensed_guarded(w: &Wordlines, wordline: usize, page_type: u32) -> Vec<u64> {
        let mut out = vec![0; w.words];
        w.sense_guarded(wordline, page_type, &mut out);
        out
    }

    #[test]
    fn every_page_reads_back_after_each_program_of_its_wordline() {
        let mut rng = Rng::named(1, "cells/wordlines");
        for bits in 1..=4 {
            let mut w = Wordlines::new(bits, 8, 16);
            for wordline in 0..8 {
                let mut pages = Vec::new();
                for page_type in 0..bits {
                    let before = w.levels(wordline).to_vec();
                    pages.push(page(&mut rng, 16));
                    w.program(wordline, page_type, &pages[page_type as usize]).unwrap();
                    for (t, data) in pages.iter().enumerate() {
                        assert_eq!(sensed(&w, wordline, t as u32), *data, "{bits} bits, type {t}");
                    }
                    assert!(before.iter().zip(w.levels(wordline)).all(|(a, b)| a <= b));
                }
            }
            // All levels are used equally often.
            let mut used = [0_u32; LEVELS];
            w.level.iter().for_each(|v| used[*v as usize] += 1);
            let expected = 8.0 * 1024.0 / f64::from(1_u32 << bits);
            for count in &used[..1 << bits] {
                assert!((f64::from(*count) - expected).abs() < 6.0 * expected.sqrt(), "{used:?}");
            }
            w.erase(2..3);
            assert!(w.levels(2).iter().all(|v| *v == 0) && w.levels(3).iter().any(|v| *v != 0));
            assert_eq!(sensed(&w, 2, 0), vec![u64::MAX; 16]);
        }
    }

    #[test]
    fn lower_pages_survive_in_place_reprogramming_bit_for_bit_and_drift_after_it() {
        let mut rng = Rng::named(2, "cells/wordlines");
        for bits in 2..=4 {
            let mut w = Wordlines::new(bits, 64, 8);
            for wordline in 0..64 {
                let pages: Vec<_> = (0..bits).map(|_| page(&mut rng, 8)).collect();
                for (t, data) in pages.iter().enumerate() {
                    w.program(wordline, t as u32, data).unwrap();
                }
                let mut unguarded = w.clone();
                w.reprogram(wordline);
                for t in 0..bits - 1 {
                    assert_eq!(sensed_guarded(&w, wordline, t), pages[t as usize]);
                }
                // Every cell rises by a level: unnoticed with guard levels, ruin without.
                w.drift(wordline, 1.0, &mut rng);
                for t in 0..bits - 1 {
                    assert_eq!(sensed_guarded(&w, wordline, t), pages[t as usize]);
                }
                unguarded.drift(wordline, 1.0, &mut rng);
                assert_ne!(sensed(&unguarded, wordline, 0), pages[0]);
            }
        }
    }

    #[test]
    fn a_low_density_page_is_written_to_guarded_levels() {
        let mut rng = Rng::named(3, "cells/wordlines");
        let mut w = Wordlines::new(3, 1, 4);
        let (lsb, csb) = (page(&mut rng, 4), page(&mut rng, 4));
        w.program_guarded(0, 0, &lsb).unwrap();
        assert_eq!(sensed_guarded(&w, 0, 0), lsb);
        w.program_guarded(0, 1, &csb).unwrap();
        assert_eq!((sensed_guarded(&w, 0, 0), sensed_guarded(&w, 0, 1)), (lsb, csb));
        let mut met: Vec<u8> = w.levels(0).to_vec();
        met.sort_unstable();
        met.dedup();
        assert_eq!(met, [0, 3, 5, 7], "11 at ER, 01 at P3, 00 at P5, 10 at P7");
    }

    #[test]
    fn a_page_of_second_bits_cannot_be_programmed_again_and_of_first_bits_can() {
        let mut rng = Rng::named(4, "cells/wordlines");
        for bits in 2..=4 {
            let mut w = Wordlines::new(bits, 1, 4);
            let pages: Vec<_> = (0..bits).map(|_| page(&mut rng, 4)).collect();
            for (t, data) in pages.iter().enumerate() {
                w.program(0, t as u32, data).unwrap();
            }
            let before = w.level.clone();
            for t in 1..bits {
                let stuck = w.program(0, t, &[0; 4]).expect_err("cells cannot be lowered");
                assert_eq!(w.level[stuck.cell], stuck.level);
                assert_eq!(w.level, before, "nothing has changed");
            }
            let again = page(&mut rng, 4);
            w.program(0, 0, &again).unwrap();
            let and: Vec<u64> = pages[0].iter().zip(&again).map(|(a, b)| a & b).collect();
            assert_eq!(sensed(&w, 0, 0), and, "programming only clears bits");
            for t in 1..bits {
                assert_eq!(sensed(&w, 0, t), pages[t as usize]);
            }
        }
    }

    #[test]
    fn an_unaware_chip_programs_right_once_and_spoils_first_bits_the_second_time() {
        let mut rng = Rng::named(6, "cells/wordlines");
        for bits in 1..=4 {
            let (mut aware, mut unaware) = (Wordlines::new(bits, 1, 8), Wordlines::new(bits, 1, 8));
            let pages: Vec<_> = (0..bits).map(|_| page(&mut rng, 8)).collect();
            for (t, data) in pages.iter().enumerate() {
                aware.program(0, t as u32, data).unwrap();
                unaware.program_unaware(0, t as u32, data);
                for (t, data) in pages[..=t].iter().enumerate() {
                    assert_eq!(sensed(&unaware, 0, t as u32), *data, "{bits} bits, type {t}");
                }
            }
            // The last page again, with its own data.
            let last = bits - 1;
            unaware.program_unaware(0, last, &pages[last as usize]);
            let spoiled = (0..last).any(|t| sensed(&unaware, 0, t) != pages[t as usize]);
            assert_eq!(spoiled, bits > 1, "{bits} bits");
        }
    }

    #[test]
    fn drift_flips_one_bit_of_a_cell_at_most() {
        let mut rng = Rng::named(5, "cells/wordlines");
        let mut w = Wordlines::new(3, 1, 512);
        let pages: Vec<_> = (0..3).map(|_| page(&mut rng, 512)).collect();
        for (t, data) in pages.iter().enumerate() {
            w.program(0, t as u32, data).unwrap();
        }
        let risen = w.drift(0, 0.01, &mut rng);
        let wrong: u32 = (0..3)
            .map(|t| {
                let now = sensed(&w, 0, t);
                now.iter().zip(&pages[t as usize]).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
            })
            .sum();
        assert_eq!(wrong, risen);
        let expected = 32_768.0 * 0.01 * 7.0 / 8.0;
        assert!((f64::from(risen) - expected).abs() < 5.0 * expected.sqrt(), "{risen}");
    }
}

//! The bits of a drive in a run.

use super::wom::BitPlanes;
use super::wordlines::Wordlines;
use crate::{BlockId, Geometry, Layouts, Mode, PageRange, Ppn, Store};
use kernel::{Idx, IndexVec, Rng};

/// Cells that hold the bits of every page: a store for runs that check data on bits.
///
/// A page is 64 bits: a scrambled form of the version that [`Versions`](crate::Versions) would
/// keep. Every bit goes through cells: it is programmed upward, and sensed at the references of the
/// block's mode. The run stops if a program would have to lower a cell, or if a read returns
/// another version.
///
/// * *Full*: a page is a type of its wordline.
/// * *Low*: pages below the last type, on guarded levels.
/// * *Wom1, Wom2*: a slot whose reading senses two pages is 96 cells of the write-once code: one
///   page and half of the next. The half of the first slot waits in the controller until the second
///   slot completes the shared page, and is read from there. A slot of one page is plain.
///   A second generation reads its cells before it programs them.
#[derive(Clone, Debug)]
pub struct Bits {
    geometry: Geometry,
    layouts: Layouts,
    cells: Wordlines,
    /// Wordline and type of each page of a block.
    places: Vec<(u32, u32)>,
    wordlines: u32,
    mode: IndexVec<BlockId, Mode>,
    /// The half of a shared page that waits: the page, and the half.
    half: IndexVec<BlockId, Option<(u32, u32)>>,
}

/// The versions' bits are mostly 0. Multiplication by an odd number has an inverse and spreads them,
/// as a controller's scrambler does.
const SCRAMBLE: u64 = 0x9e37_79b9_7f4a_7c15;
const UNSCRAMBLE: u64 = inverse(SCRAMBLE);

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut i = 0;
    while i < 6 {
        x = x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
        i += 1;
    }
    x
}

fn scrambled(page: u64) -> u64 {
    page.wrapping_mul(SCRAMBLE).swap_bytes()
}

fn unscrambled(word: u64) -> u64 {
    word.swap_bytes().wrapping_mul(UNSCRAMBLE)
}

/// One of the two slots of a group of three pages.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Part {
    /// A whole page and the first half of the next.
    First,
    /// The second half of a page and the next one.
    Second,
}

impl Bits {
    /// How a slot lies in a block of its mode: plain, or the pages of a part of a coded group.
    fn coded(&self, block: BlockId, slot: u32) -> Option<(Part, PageRange)> {
        let mode = self.mode[block];
        if !matches!(mode, Mode::Wom1 | Mode::Wom2) {
            return None;
        }
        let pages = self.layouts.read(mode, slot);
        if pages.count != 2 {
            return None;
        }
        // The first shares its last page with the next coded slot.
        let mut next = self.layouts.slot_from(mode, slot + 1);
        let shares = loop {
            let Some(slot) = next else { break false };
            let other = self.layouts.read(mode, slot);
            if other.count == 2 {
                break other.first + 1 == pages.end();
            }
            next = self.layouts.slot_from(mode, slot + 1);
        };
        Some((if shares { Part::First } else { Part::Second }, pages))
    }

    fn place(&self, block: BlockId, page: u32) -> (usize, u32) {
        let (wordline, page_type) = self.places[page as usize];
        ((block.as_u32() * self.wordlines + wordline) as usize, page_type)
    }

    fn program(&mut self, block: BlockId, page: u32, word: u64) {
        let (wordline, page_type) = self.place(block, page);
        let done = if self.mode[block] == Mode::LowDensity {
            self.cells.program_guarded(wordline, page_type, &[word])
        } else {
            self.cells.program(wordline, page_type, &[word])
        };
        if let Err(stuck) = done {
            panic!(
                "cells cannot be lowered: page {page} of block {block}, {:?}, cell {} at level {}",
                self.mode[block], stuck.cell, stuck.level
            );
        }
    }

    fn sense(&self, block: BlockId, page: u32) -> u64 {
        let (wordline, page_type) = self.place(block, page);
        let mut word = [0];
        if self.mode[block] == Mode::LowDensity {
            self.cells.sense_guarded(wordline, page_type, &mut word);
        } else {
            self.cells.sense(wordline, page_type, &mut word);
        }
        word[0]
    }

    /// The cells of one slot of a coded group.
    fn planes(&self, block: BlockId, part: Part, pages: PageRange) -> BitPlanes {
        let [a, b] = [pages.first, pages.end() - 1];
        let cells = match part {
            Part::First => {
                let waiting = self.half[block].filter(|(page, _)| *page == b);
                let low = waiting.map_or_else(|| self.sense(block, b) as u32, |(_, half)| half);
                let whole = self.sense(block, a);
                [whole as u32, (whole >> 32) as u32, low]
            }
            Part::Second => {
                let (shared, whole) = (self.sense(block, a), self.sense(block, b));
                [(shared >> 32) as u32, whole as u32, (whole >> 32) as u32]
            }
        };
        BitPlanes { cells }
    }

    fn write_coded(&mut self, block: BlockId, part: Part, pages: PageRange, word: u64) {
        let planes = if self.mode[block] == Mode::Wom1 {
            BitPlanes::first(word)
        } else {
            // Read before write: values that do not change keep their cells.
            self.planes(block, part, pages).over(word)
        };
        let [high, middle, low] = planes.cells;
        let two = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let [page, other] = [pages.first, pages.end() - 1];
        match part {
            Part::First => {
                self.flush(block);
                self.program(block, page, two(high, middle));
                self.half[block] = Some((other, low));
            }
            Part::Second => {
                let first = self.half[block].take().filter(|(shared, _)| *shared == page);
                self.program(block, page, two(first.map_or(u32::MAX, |(_, half)| half), high));
                self.program(block, other, two(middle, low));
            }
        }
    }

    /// These cells if power fails while one command writes slots of a block. In each wordline, the
    /// cells have risen by any share of the way, from nothing to all of it. Data that waits in the
    /// controller survives.
    #[must_use]
    pub fn cut_short(&self, block: BlockId, pages: &[(Ppn, u64)], rng: &mut Rng) -> Self {
        let mut after = self.clone();
        for &(ppn, page) in pages {
            after.write(ppn, page);
        }
        for w in 0..self.wordlines {
            let wordline = (block.as_u32() * self.wordlines + w) as usize;
            let share = (1.5 * rng.unit() - 0.25).clamp(0.0, 1.0);
            after.cells.stop_short(wordline, self.cells.levels(wordline), share, rng);
        }
        after.half[block] = self.half[block];
        after
    }

    /// A half whose partner was skipped is programmed alone.
    fn flush(&mut self, block: BlockId) {
        if let Some((page, half)) = self.half[block].take() {
            self.program(block, page, u64::from(half) | u64::from(u32::MAX) << 32);
        }
    }
}

impl Store for Bits {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        crate::Versions::stamp(owner, order)
    }

    fn is_of(page: u64, owner: u32) -> bool {
        crate::Versions::is_of(page, owner)
    }

    fn new(geometry: &Geometry, layouts: &Layouts) -> Self {
        let pages = 0..geometry.pages_per_block();
        let places: Vec<(u32, u32)> =
            pages.map(|p| (geometry.wordline(p), geometry.page_type(p) as u32)).collect();
        let wordlines = places.iter().map(|(w, _)| w + 1).max().unwrap_or(0);
        let blocks = geometry.blocks();
        let bits = geometry.shape().bits_per_cell;
        Self {
            geometry: *geometry,
            layouts: layouts.clone(),
            cells: Wordlines::new(bits, blocks * wordlines as usize, 1),
            places,
            wordlines,
            mode: IndexVec::filled(Mode::Full, blocks),
            half: IndexVec::filled(None, blocks),
        }
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        let (block, slot) = self.geometry.split(ppn);
        let word = scrambled(page);
        match self.coded(block, slot) {
            Some((part, pages)) => self.write_coded(block, part, pages, word),
            None => self.program(block, slot, word),
        }
    }

    fn read(&self, ppn: Ppn) -> u64 {
        let (block, slot) = self.geometry.split(ppn);
        unscrambled(match self.coded(block, slot) {
            Some((part, pages)) => self.planes(block, part, pages).data(),
            None => self.sense(block, slot),
        })
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        let first = block.index() * self.wordlines as usize;
        self.cells.erase(first..first + self.wordlines as usize);
        self.mode[block] = mode;
        self.half[block] = None;
    }

    fn set_mode(&mut self, block: BlockId, mode: Mode) {
        self.mode[block] = mode;
    }

    fn begin_second_generation(&mut self, block: BlockId) {
        self.flush(block);
        self.mode[block] = Mode::Wom2;
    }

    fn reprogram_to_low(&mut self, block: BlockId) {
        self.mode[block] = Mode::LowDensity;
        let top = self.geometry.shape().bits_per_cell - 1;
        for w in 0..self.wordlines {
            let wordline = (block.as_u32() * self.wordlines + w) as usize;
            let programmed = self.cells.programmed(wordline);
            if programmed == 0 {
                continue;
            }
            self.cells.reprogram(wordline);
            // A wordline that lacks only its top page has it now.
            if programmed >> (top - 1) & 1 == 1 {
                self.cells.complete(wordline);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, PageOrder, Shape};
    use kernel::Bytes;

    fn geometry(bits: u32, pages: u32, order: PageOrder) -> Geometry {
        let shape = Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 3,
            pages_per_block: pages,
            page_size: Bytes::kib(4),
            bits_per_cell: bits,
        };
        Geometry::new(shape).unwrap().with_order(order).unwrap()
    }

    fn array(bits: u32, pages: u32, order: PageOrder) -> Array<Bits> {
        Array::new(geometry(bits, pages, order), Layouts::new(pages))
    }

    fn at(a: &Array<Bits>, block: u32, slot: u32) -> Ppn {
        a.geometry().ppn(BlockId::from_u32(block), slot)
    }

    /// The slots of a block, in order.
    fn slots(a: &Array<Bits>, mode: Mode) -> Vec<u32> {
        (0..a.geometry().pages_per_block()).filter(|s| a.layouts().is_slot(mode, *s)).collect()
    }

    fn value(rng: &mut Rng) -> u64 {
        Bits::stamp(rng.below(1 << 30), rng.bits())
    }

    #[test]
    fn scrambling_has_an_inverse() {
        let mut rng = Rng::named(1, "cells/bits");
        for _ in 0..1_000 {
            let x = rng.bits();
            assert_eq!(unscrambled(scrambled(x)), x);
        }
        assert_eq!(SCRAMBLE.wrapping_mul(UNSCRAMBLE), 1);
    }

    #[test]
    fn every_page_of_every_kind_of_cell_reads_back_after_each_program() {
        let mut rng = Rng::named(2, "cells/bits");
        for (bits, order) in [
            (1, PageOrder::Cyclic),
            (2, PageOrder::Cyclic),
            (2, PageOrder::Shadow),
            (2, PageOrder::ShadowPairs),
            (3, PageOrder::Cyclic),
            (4, PageOrder::Cyclic),
        ] {
            let mut a = array(bits, 24, order);
            for life in 0..3 {
                let mut written = Vec::new();
                for slot in 0..24 {
                    let (ppn, data) = (at(&a, 1, slot), value(&mut rng));
                    a.program(ppn, data);
                    written.push((ppn, data));
                    assert!(
                        written.iter().all(|(p, d)| a.read(*p) == *d),
                        "{bits} {order:?} {life}"
                    );
                }
                a.erase(BlockId::from_u32(1), Mode::Full);
            }
        }
    }

    #[test]
    fn lower_pages_survive_reprogramming_of_a_block_written_to_any_page() {
        let mut rng = Rng::named(3, "cells/bits");
        for written in 1..=24 {
            for _ in 0..20 {
                let mut a = array(3, 24, PageOrder::Cyclic);
                let block = BlockId::from_u32(2);
                let mut kept: Vec<(Ppn, u64)> = (0..written)
                    .map(|slot| {
                        let (ppn, data) = (at(&a, 2, slot), value(&mut rng));
                        a.program(ppn, data);
                        (ppn, data)
                    })
                    .collect();
                a.reprogram_to_low(block, 200);
                kept.retain(|(ppn, _)| {
                    a.layouts().is_slot(Mode::LowDensity, a.geometry().split(*ppn).1)
                });
                assert!(kept.iter().all(|(p, d)| a.read(*p) == *d), "after {written} pages");
                // The rest of the block is written at low density.
                while let Some(slot) = a.next_slot(block) {
                    let (ppn, data) = (at(&a, 2, slot), value(&mut rng));
                    a.program_slot(ppn, data);
                    kept.push((ppn, data));
                    assert!(kept.iter().all(|(p, d)| a.read(*p) == *d), "after {written}, {slot}");
                }
                assert_eq!(kept.len(), 16);
            }
        }
    }

    #[test]
    fn two_generations_read_back() {
        let mut rng = Rng::named(4, "cells/bits");
        for _ in 0..200 {
            let mut a = array(1, 12, PageOrder::Cyclic);
            let block = BlockId::from_u32(0);
            a.set_mode(block, Mode::Wom1);
            for generation in [Mode::Wom1, Mode::Wom2] {
                if generation == Mode::Wom2 {
                    a.begin_second_generation(block);
                }
                let mut written = Vec::new();
                for slot in slots(&a, generation) {
                    let (ppn, data) = (at(&a, 0, slot), value(&mut rng));
                    a.program_slot(ppn, data);
                    written.push((ppn, data));
                    assert!(written.iter().all(|(p, d)| a.read(*p) == *d), "{generation:?} {slot}");
                }
                assert_eq!(written.len(), 8);
            }
            a.erase(block, Mode::Full);
            let (ppn, data) = (at(&a, 0, 0), value(&mut rng));
            a.program(ppn, data);
            assert_eq!(a.read(ppn), data);
        }
    }

    #[test]
    #[should_panic(expected = "cells cannot be lowered")]
    fn a_second_generation_does_not_fit_over_pages_of_second_bits() {
        let mut a = array(2, 12, PageOrder::Cyclic);
        let mut rng = Rng::named(5, "cells/bits");
        let block = BlockId::from_u32(0);
        a.set_mode(block, Mode::Wom1);
        for generation in [Mode::Wom1, Mode::Wom2] {
            if generation == Mode::Wom2 {
                a.begin_second_generation(block);
            }
            for slot in slots(&a, generation) {
                let (ppn, data) = (at(&a, 0, slot), value(&mut rng));
                a.program_slot(ppn, data);
            }
        }
    }
}

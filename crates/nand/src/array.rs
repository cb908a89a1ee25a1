//! The rules of NAND flash. Only the array changes cells, and only as these rules allow.
//!
//! * Pages of a block are programmed in ascending order (gaps allowed, never back), each once
//!   between two erases, and all that one command programs together.
//! * Only programmed pages are read.
//! * A second generation is programmed only over a complete first one, once. Slots that it does not
//!   touch are read as before.
//! * In-place reprogramming turns a full-density block into a low-density one, once. A wordline
//!   that lacks its top page gets it in the same step; later wordlines stay erased.
//! * One command works on one die, with at most one operation for each of its planes.
//!
//! Breaking a rule is a bug of the layer above: the run stops and shows the block. These checks
//! are plain code and run in every build.

use crate::{BlockId, CYCLE, Each, Geometry, Layouts, Mode, PageRange, Ppn, Store};
use kernel::{Idx, IndexVec};
use std::ops::Deref;

/// The state of all blocks of a drive, for any store of data.
#[derive(Clone, Debug)]
pub struct BlockStates {
    geometry: Geometry,
    layouts: Layouts,
    /// The next slot that may be programmed; below it, slots are written (or skipped).
    next: IndexVec<BlockId, u32>,
    mode: IndexVec<BlockId, Mode>,
    erases: IndexVec<BlockId, u32>,
    /// Effective wear in thousandths of a cycle.
    wear: IndexVec<BlockId, u32>,
    /// The wear of this life beyond a plain cycle, in thousandths of a cycle.
    surcharge: IndexVec<BlockId, u16>,
    /// The wear of a cycle in each mode, in thousandths of a cycle at full density.
    cycle: Each<Mode, u32>,
}

/// All blocks of a drive: their state and their data.
#[derive(Clone, Debug)]
pub struct Array<S> {
    state: BlockStates,
    store: S,
}

/// All queries about blocks go to their state.
impl<S> Deref for Array<S> {
    type Target = BlockStates;
    #[inline(always)]
    fn deref(&self) -> &BlockStates {
        &self.state
    }
}

impl BlockStates {
    /// The drive's geometry.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The place of the slots in each mode.
    pub fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Checks a command that works on several slots at once.
    pub fn check_command(&self, slots: impl IntoIterator<Item = Ppn>) {
        let mut die = None;
        // A die has 16 planes at most.
        let mut planes = 0_u64;
        for ppn in slots {
            let block = self.geometry.block_of(ppn);
            if *die.get_or_insert(self.geometry.die_of(block)) != self.geometry.die_of(block) {
                self.foul(block, "one command was given to two dies");
            }
            let bit = 1 << self.geometry.flash_plane_of(ppn);
            if planes & bit != 0 {
                self.foul(block, "one command has two operations for one plane");
            }
            planes |= bit;
        }
    }

    /// Whether the slot has been programmed (a slot skipped on the way counts as written).
    #[inline]
    pub fn is_written(&self, ppn: Ppn) -> bool {
        let (block, slot) = self.geometry.split(ppn);
        self.has_written(block, slot)
    }

    /// The same for a slot of a block.
    #[inline]
    pub fn has_written(&self, block: BlockId, slot: u32) -> bool {
        slot < self.next[block] || self.is_kept(block, slot)
    }

    /// Whether a slot keeps its data when its block begins a second generation.
    #[cold]
    fn is_kept(&self, block: BlockId, slot: u32) -> bool {
        self.layouts.is_kept(self.mode[block], slot)
    }

    /// The next slot that can be programmed, `None` when the block is complete.
    #[inline]
    pub fn next_slot(&self, block: BlockId) -> Option<u32> {
        self.layouts.slot_from(self.mode[block], self.next[block])
    }

    /// The next page that may be programmed.
    #[inline]
    pub fn next_page(&self, block: BlockId) -> u32 {
        self.next[block]
    }

    /// How bits lie on this block's cells.
    #[inline]
    pub fn mode(&self, block: BlockId) -> Mode {
        self.mode[block]
    }

    /// How bits lie on the cells of every block.
    pub fn modes(&self) -> &IndexVec<BlockId, Mode> {
        &self.mode
    }

    /// Erases of a block so far.
    pub fn erases(&self) -> &IndexVec<BlockId, u32> {
        &self.erases
    }

    /// Effective wear of each block, in thousandths of a cycle.
    pub fn wear(&self) -> &IndexVec<BlockId, u32> {
        &self.wear
    }

    /// The wear of a block once it is erased, in thousandths of a cycle.
    pub fn wear_after_erase(&self, block: BlockId) -> u32 {
        self.wear[block] + self.cycle[self.mode[block]] + u32::from(self.surcharge[block])
    }

    #[cold]
    #[inline(never)]
    fn foul(&self, block: BlockId, what: &str) -> ! {
        panic!(
            "flash rule broken: {what}; block {block} of plane {}: mode {:?}, next page {} of {}, \
             erased {} times",
            self.geometry.plane_of(block).index(),
            self.mode[block],
            self.next[block],
            self.geometry.pages_per_block(),
            self.erases[block],
        );
    }
}

impl<S: Store> Array<S> {
    /// A fresh array: every block erased, nothing worn.
    pub fn new(geometry: Geometry, layouts: Layouts) -> Self {
        let blocks = geometry.blocks();
        let store = S::new(&geometry, &layouts);
        let state = BlockStates {
            geometry,
            layouts,
            next: IndexVec::filled(0, blocks),
            mode: IndexVec::filled(Mode::Full, blocks),
            erases: IndexVec::filled(0, blocks),
            wear: IndexVec::filled(0, blocks),
            surcharge: IndexVec::filled(0, blocks),
            cycle: Each::filled(CYCLE),
        };
        Self { state, store }
    }

    /// Sets the wear of a cycle in each mode, in thousandths of a cycle at full density. By default
    /// it is 1000 in all.
    pub fn set_cycle_wear(&mut self, wear: Each<Mode, u32>) {
        self.state.cycle = wear;
    }

    /// The state of the blocks.
    #[inline]
    pub fn state(&self) -> &BlockStates {
        &self.state
    }

    /// Programs one slot of a plain block: the common case, apart from [`Self::program_slot`]. If a
    /// command programs several slots, the first represents them. The others are programmed with
    /// it, and get their data, if there are any, before anything else happens.
    #[inline]
    pub fn program(&mut self, ppn: Ppn, data: S::Page) {
        self.program_without_data(ppn);
        self.store.write(ppn, data);
    }

    /// The same for a unit without a page.
    #[inline]
    pub fn program_without_data(&mut self, ppn: Ppn) {
        let (block, slot) = self.geometry.split(ppn);
        let unit = self.geometry.slots_per_program();
        let next = &mut self.state.next[block];
        if unit == 1 {
            if slot < *next {
                self.foul(block, "a page was programmed again, or out of order");
            }
            *next = slot + 1;
        } else {
            let rest = slot % unit;
            let begins = rest == 0 && slot >= *next;
            if begins {
                *next = slot + unit;
            } else if rest == 0 || slot - rest + unit != *next {
                self.foul(block, "a page was programmed again, out of order, or in part");
            }
        }
    }

    /// Programs consecutive slots of a plain block, from `slot` on.
    pub fn program_next(
        &mut self,
        block: BlockId,
        slot: u32,
        pages: impl ExactSizeIterator<Item = S::Page>,
    ) {
        let end = slot + pages.len() as u32;
        if slot < self.state.next[block] || end > self.geometry.pages_per_block() {
            self.foul(block, "a page was programmed again, or out of order");
        }
        self.state.next[block] = end;
        for (slot, data) in (slot..).zip(pages) {
            self.store.write(self.geometry.ppn(block, slot), data);
        }
    }

    /// Gives a slot of a plain block its data. The command of an earlier slot has programmed it
    /// already.
    #[inline]
    pub fn program_along(&mut self, ppn: Ppn, data: S::Page) {
        debug_assert!(self.is_written(ppn));
        self.store.write(ppn, data);
    }

    /// Programs one slot, in any mode of the block. Returns the pages that this programs: none, if
    /// they are programmed already with another slot of the same command.
    pub fn program_slot(&mut self, ppn: Ppn, data: S::Page) -> PageRange {
        let (block, slot) = self.geometry.split(ppn);
        let mode = self.state.mode[block];
        if !self.layouts.is_slot(mode, slot) {
            self.foul(block, "a page outside the slots of this mode was programmed");
        }
        let pages = self.layouts.program(mode, slot);
        if matches!(mode, Mode::Full | Mode::Slc) && self.geometry.units().pages > 1 {
            // A command programs several pages, each with its slots, and some may hold nothing.
            let before = self.state.next[block];
            self.program(ppn, data);
            let begins = self.state.next[block] > before;
            return if begins { pages } else { PageRange::new(pages.first, 0) };
        }
        let row = self.geometry.slots_per_page();
        let (rest, end) = (slot % row, pages.end() * row);
        let begins = rest == 0 && pages.first * row >= self.state.next[block];
        if !begins && (rest == 0 || self.state.next[block] != end) {
            self.foul(block, "a page was programmed again, or out of order");
        }
        self.state.next[block] = end;
        self.store.write(ppn, data);
        if begins { pages } else { PageRange::new(pages.first, 0) }
    }

    /// Reads one slot.
    #[inline]
    pub fn read(&self, ppn: Ppn) -> S::Page {
        if !self.is_written(ppn) {
            self.foul(self.geometry.block_of(ppn), "an unwritten page was read");
        }
        self.store.read(ppn)
    }

    /// Erases a block into `mode`, which starts its next life.
    pub fn erase(&mut self, block: BlockId, mode: Mode) {
        if mode == Mode::Wom2 {
            self.foul(block, "an erased block was to begin with a second generation");
        }
        self.state.wear[block] = self.state.wear_after_erase(block);
        self.state.next[block] = 0;
        self.state.mode[block] = mode;
        self.state.erases[block] += 1;
        self.state.surcharge[block] = 0;
        self.store.erase(block, mode);
    }

    /// Sets the mode of a block that is erased and not yet written.
    pub fn set_mode(&mut self, block: BlockId, mode: Mode) {
        if self.state.next[block] != 0 || mode == Mode::Wom2 {
            self.foul(block, "the mode of a block in use was changed");
        }
        self.state.mode[block] = mode;
        self.store.set_mode(block, mode);
    }

    /// Begins the second generation on a block whose first generation is complete.
    pub fn begin_second_generation(&mut self, block: BlockId) {
        if self.state.mode[block] != Mode::Wom1 || self.next_slot(block).is_some() {
            self.foul(block, "a second generation needs a complete first one");
        }
        self.state.mode[block] = Mode::Wom2;
        self.state.next[block] = 0;
        self.store.begin_second_generation(block);
    }

    /// In-place reprogramming of a written full-density block into a low-density one.
    /// `surcharge`: extra wear of this life, in thousandths of a cycle.
    pub fn reprogram_to_low(&mut self, block: BlockId, surcharge: u16) {
        let next = self.state.next[block];
        if self.state.mode[block] != Mode::Full || next == 0 {
            self.foul(block, "in-place reprogramming needs a written full-density block");
        }
        let row = self.geometry.slots_per_page();
        if next / row % 3 == 2 && next < self.geometry.pages_per_block() {
            self.state.next[block] = next + row;
        }
        self.state.mode[block] = Mode::LowDensity;
        self.state.surcharge[block] += surcharge;
        self.store.reprogram_to_low(block);
    }

    /// Puts a block into the state in which a fast path (filling, a saved state) left it: its
    /// first `pages` pages programmed, in plain mode.
    pub fn adopt(&mut self, block: BlockId, pages: u32) {
        assert!(pages <= self.geometry.pages_per_block());
        self.state.next[block] = pages;
        self.state.mode[block] = Mode::Full;
        self.store.erase(block, Mode::Full);
    }

    /// Puts data into a slot of an adopted block.
    #[inline]
    pub fn adopt_data(&mut self, ppn: Ppn, data: S::Page) {
        self.store.write(ppn, data);
    }

    /// Forgets all wear: preconditioning does not count.
    pub fn reset_wear(&mut self) {
        self.state.erases.as_mut_slice().fill(0);
        self.state.wear.as_mut_slice().fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, Versions};
    use kernel::Bytes;

    fn array() -> Array<Versions> {
        let g = Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 2,
            pages_per_block: 6,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        })
        .unwrap();
        Array::new(g, Layouts::new(6))
    }

    fn p(n: u32) -> Ppn {
        Ppn::from_u32(n)
    }

    fn b(n: u32) -> BlockId {
        BlockId::from_u32(n)
    }

    #[test]
    fn what_is_written_reads_back_until_erased() {
        let mut a = array();
        a.program(p(6), 41);
        a.program(p(8), 42); // a gap is allowed
        assert_eq!((a.read(p(6)), a.read(p(8))), (41, 42));
        assert!(!a.is_written(p(9)));
        a.erase(b(1), Mode::Full);
        assert!(!a.is_written(p(6)));
        assert_eq!((a.erases()[b(1)], a.wear()[b(1)]), (1, 1_000));
    }

    #[test]
    #[should_panic(expected = "programmed again, or out of order")]
    fn a_page_is_programmed_once() {
        let mut a = array();
        a.program(p(0), 1);
        a.program(p(0), 2);
    }

    #[test]
    #[should_panic(expected = "programmed again, or out of order")]
    fn programming_never_goes_back() {
        let mut a = array();
        a.program(p(3), 1);
        a.program(p(2), 2);
    }

    /// Two units to a page, three pages to a command: a block of two program units.
    fn units() -> Array<Versions> {
        let g = *array().geometry();
        let units = crate::UnitSizes { per_page: 2, pages: 3, ..crate::UnitSizes::PAGE };
        let g = g.with_units(units).unwrap();
        Array::new(g, Layouts::of(&g))
    }

    #[test]
    fn what_one_command_programs_is_programmed_together() {
        let mut a = units();
        a.program(p(0), 41);
        a.program(p(2), 42); // no data for the one between
        assert_eq!((a.read(p(0)), a.read(p(2)), a.is_written(p(5))), (41, 42, true));
        assert_eq!((a.is_written(p(6)), a.next_page(b(0))), (false, 6));
        a.program(p(6), 43);
        assert_eq!(a.next_slot(b(0)), None);
    }

    #[test]
    #[should_panic(expected = "or in part")]
    fn a_command_programs_from_its_first_page_on() {
        units().program(p(1), 1);
    }

    #[test]
    #[should_panic(expected = "or in part")]
    fn no_command_adds_to_another() {
        let mut a = units();
        a.program(p(0), 1);
        a.program(p(6), 1);
        a.program(p(3), 1);
    }

    #[test]
    #[should_panic(expected = "an unwritten page was read")]
    fn an_unwritten_page_is_not_read() {
        array().read(p(0));
    }

    /// Two dies of two planes, two blocks of six pages in each: plane p has pages 12 p to 12 p + 11.
    fn two_dies() -> Array<Versions> {
        let g = Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 2,
            pages_per_block: 6,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        })
        .unwrap();
        Array::new(g, Layouts::new(6))
    }

    #[test]
    fn a_command_has_one_operation_for_each_plane() {
        let a = two_dies();
        a.check_command([p(0)]);
        a.check_command([p(0), p(12)]);
        // Other pages, other blocks, another order: all the same.
        a.check_command([p(23), p(7)]);
        a.check_command([p(24), p(36)]);
    }

    #[test]
    #[should_panic(expected = "one command has two operations for one plane")]
    fn a_command_has_not_two_operations_for_one_plane() {
        two_dies().check_command([p(0), p(12), p(6)]);
    }

    #[test]
    #[should_panic(expected = "one command was given to two dies")]
    fn a_command_is_for_one_die() {
        two_dies().check_command([p(0), p(36)]);
    }

    #[test]
    fn two_generations_then_an_erase() {
        let mut a = array();
        a.set_mode(b(0), Mode::Wom1);
        for slot in [0, 1, 3, 4] {
            a.program_slot(p(slot), u64::from(slot) + 1);
        }
        assert_eq!(a.next_slot(b(0)), None);
        a.begin_second_generation(b(0));
        for slot in [0, 1, 3, 4] {
            a.program_slot(p(slot), u64::from(slot) + 11);
        }
        assert_eq!(a.read(p(4)), 15);
        a.erase(b(0), Mode::Full);
    }

    #[test]
    #[should_panic(expected = "needs a complete first one")]
    fn no_second_generation_over_a_plain_block() {
        array().begin_second_generation(b(0));
    }

    #[test]
    #[should_panic(expected = "needs a complete first one")]
    fn no_third_generation() {
        let mut a = array();
        a.set_mode(b(0), Mode::Wom1);
        for _ in 0..2 {
            for slot in [0, 1, 3, 4] {
                a.program_slot(p(slot), 1);
            }
            a.begin_second_generation(b(0));
        }
    }

    #[test]
    fn in_place_reprogramming_costs_extra_wear_at_the_erase() {
        let mut a = array();
        for slot in 0..6 {
            a.program(p(slot), 7);
        }
        a.reprogram_to_low(b(0), 200);
        assert_eq!(a.read(p(1)), 7);
        a.erase(b(0), Mode::Full);
        assert_eq!(a.wear()[b(0)], 1_200);
    }

    #[test]
    #[should_panic(expected = "written full-density block")]
    fn an_erased_block_is_not_reprogrammed() {
        array().reprogram_to_low(b(0), 200);
    }

    #[test]
    #[should_panic(expected = "written full-density block")]
    fn a_block_is_reprogrammed_once() {
        let mut a = array();
        (0..6).for_each(|n| a.program(p(n), 7));
        a.reprogram_to_low(b(0), 200);
        a.reprogram_to_low(b(0), 200);
    }

    #[test]
    fn a_partly_written_block_goes_on_at_low_density() {
        for (written, next) in [(1, Some(1)), (2, Some(3)), (3, Some(3)), (5, None)] {
            let mut a = array();
            (0..written).for_each(|n| a.program(p(n), 7));
            a.reprogram_to_low(b(0), 200);
            assert_eq!(a.next_slot(b(0)), next, "after {written} pages");
        }
    }

    #[test]
    #[should_panic(expected = "outside the slots of this mode")]
    fn the_top_pages_of_a_reprogrammed_block_are_not_written() {
        let mut a = array();
        (0..2).for_each(|n| a.program(p(n), 7));
        a.reprogram_to_low(b(0), 200);
        a.program_slot(p(5), 7);
    }
}

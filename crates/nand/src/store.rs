//! The memory of cells.
//!
//! A run for speed stores nothing; a run that checks the data stores a version in every slot, or puts
//! its bits into cells ([`crate::cells::Bits`]). The choice is a type, so that storing nothing costs
//! nothing.

use crate::{BlockId, Geometry, Layouts, Mode, Ppn};
use kernel::IndexVec;

/// The contents of the array.
pub trait Store: Send {
    /// The content of one slot.
    type Page: Copy;
    /// The data that the host writes: a mark of the logical page and of the order of writes.
    fn stamp(owner: u32, order: u64) -> Self::Page;
    /// Whether the data that was read can be that of logical page `owner`.
    fn is_of(page: Self::Page, owner: u32) -> bool;
    /// The contents of an erased array whose blocks are in [`Mode::Full`].
    fn new(geometry: &Geometry, layouts: &Layouts) -> Self;
    /// Writes a slot.
    fn write(&mut self, ppn: Ppn, page: Self::Page);
    /// Reads a slot.
    fn read(&self, ppn: Ppn) -> Self::Page;
    /// Forgets a block, which begins its next life in `mode`.
    fn erase(&mut self, block: BlockId, mode: Mode);
    /// An erased block that holds nothing yet is to be written in `mode`.
    #[inline(always)]
    fn set_mode(&mut self, _block: BlockId, _mode: Mode) {}
    /// Begins the second generation of a block: its slots are written over the complete first one.
    #[inline(always)]
    fn begin_second_generation(&mut self, _block: BlockId) {}
    /// A block in [`Mode::Full`] is reprogrammed in place to [`Mode::LowDensity`].
    #[inline(always)]
    fn reprogram_to_low(&mut self, _block: BlockId) {}
}

/// Cells that remember nothing.
#[derive(Copy, Clone, Debug)]
pub struct Nothing;

impl Store for Nothing {
    type Page = ();

    #[inline(always)]
    fn stamp(_: u32, _: u64) {}

    #[inline(always)]
    fn is_of((): (), _: u32) -> bool {
        true
    }

    fn new(_: &Geometry, _: &Layouts) -> Self {
        Self
    }

    #[inline(always)]
    fn write(&mut self, _: Ppn, (): ()) {}

    #[inline(always)]
    fn read(&self, _: Ppn) {}

    #[inline(always)]
    fn erase(&mut self, _: BlockId, _: Mode) {}
}

/// Cells that remember a version number; zero is erased.
#[derive(Clone, Debug)]
pub struct Versions {
    slots: IndexVec<Ppn, u64>,
    pages_per_block: usize,
}

impl Store for Versions {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        u64::from(owner + 1) << 32 | order & 0xffff_ffff
    }

    fn is_of(page: u64, owner: u32) -> bool {
        page >> 32 == u64::from(owner + 1)
    }

    fn new(geometry: &Geometry, _: &Layouts) -> Self {
        let pages_per_block = geometry.pages_per_block() as usize;
        Self { slots: IndexVec::filled(0, geometry.pages()), pages_per_block }
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        self.slots[ppn] = page;
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.slots[ppn]
    }

    fn erase(&mut self, block: BlockId, _: Mode) {
        let first = block.as_u32() as usize * self.pages_per_block;
        self.slots.as_mut_slice()[first..first + self.pages_per_block].fill(0);
    }
}

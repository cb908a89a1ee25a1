//! What cells remember.
//!
//! A run for speed stores nothing; a run that checks the data stores a version in every slot. The
//! choice is a type, so that storing nothing costs nothing.

use crate::Ppn;
use kernel::IndexVec;

/// The contents of the array.
pub trait Store: Send {
    /// What one slot holds.
    type Page: Copy;
    /// What the host writes: some mark of the logical page and of the order of writes.
    fn stamp(owner: u32, order: u64) -> Self::Page;
    /// Whether what was read can be the data of logical page `owner`.
    fn is_of(page: Self::Page, owner: u32) -> bool;
    /// An empty array of `slots` slots.
    fn new(slots: usize) -> Self;
    /// Writes a slot.
    fn write(&mut self, ppn: Ppn, page: Self::Page);
    /// Reads a slot.
    fn read(&self, ppn: Ppn) -> Self::Page;
    /// Forgets `count` slots from `first` on.
    fn erase(&mut self, first: Ppn, count: u32);
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

    fn new(_: usize) -> Self {
        Self
    }

    #[inline(always)]
    fn write(&mut self, _: Ppn, (): ()) {}

    #[inline(always)]
    fn read(&self, _: Ppn) {}

    #[inline(always)]
    fn erase(&mut self, _: Ppn, _: u32) {}
}

/// Cells that remember a version number; zero is erased.
#[derive(Clone, Debug)]
pub struct Versions(IndexVec<Ppn, u64>);

impl Store for Versions {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        u64::from(owner + 1) << 32 | order & 0xffff_ffff
    }

    fn is_of(page: u64, owner: u32) -> bool {
        page >> 32 == u64::from(owner + 1)
    }

    fn new(slots: usize) -> Self {
        Self(IndexVec::filled(0, slots))
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        self.0[ppn] = page;
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.0[ppn]
    }

    fn erase(&mut self, first: Ppn, count: u32) {
        let first = first.as_u32() as usize;
        self.0.as_mut_slice()[first..first + count as usize].fill(0);
    }
}

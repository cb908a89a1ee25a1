//! The map between logical and physical pages, and which physical ones are valid.

use kernel::{Idx, OptionVec, ask_for_large_pages, newtype_index, prefetch};
use nand::{BlockId, Geometry, Ppn};
use std::ops::Range;

newtype_index! {
    /// A logical page.
    Lpn;
}

/// L2P, its inverse P2L, and one bit of validity for each slot.
///
/// P2L keeps the page that was last written to a slot, as spare bytes would; the bit says whether
/// the map still points there. Each block's bits start at a word of their own, so that a victim's
/// valid pages are found word by word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    l2p: OptionVec<Lpn, Ppn>,
    p2l: OptionVec<Ppn, Lpn>,
    valid: Vec<u64>,
    words_per_block: u32,
    pages_per_block: u32,
    mapped: u32,
}

impl Map {
    /// An empty map.
    pub fn new(geometry: &Geometry, logical_pages: u32) -> Self {
        let words_per_block = geometry.pages_per_block().div_ceil(64);
        Self {
            l2p: OptionVec::none(logical_pages as usize),
            p2l: OptionVec::none(geometry.pages()),
            valid: vec![0; words_per_block as usize * geometry.blocks()],
            words_per_block,
            pages_per_block: geometry.pages_per_block(),
            mapped: 0,
        }
    }

    /// Asks the system for large pages behind the columns, because most of them will be written.
    pub(crate) fn ask_for_large_pages(&self) {
        self.l2p.ask_for_large_pages();
        self.p2l.ask_for_large_pages();
        ask_for_large_pages(&self.valid);
    }

    /// Number of logical pages.
    pub fn logical_pages(&self) -> u32 {
        self.l2p.len() as u32
    }

    /// Number of logical pages that are mapped.
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    /// The slot of a logical page.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.l2p.get(lpn)
    }

    /// The last data written to a slot, valid or not.
    #[inline]
    pub fn owner(&self, ppn: Ppn) -> Option<Lpn> {
        self.p2l.get(ppn)
    }

    /// Prefetches the map entry of a page that will be looked up soon.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.l2p.prefetch(lpn);
    }

    /// Points `lpn` to slot `slot` of `block`. Returns the slot that it pointed to before. That
    /// slot's bit stays set: [`Map::invalidate`] clears it with the block's count.
    #[inline]
    pub(crate) fn bind(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, slot: u32) -> Option<Ppn> {
        self.own(lpn, ppn, block, slot);
        self.point(lpn, ppn)
    }

    /// The half of [`Map::bind`] that changes the slot's entry.
    #[inline(always)] // every page that is written or moves comes by
    pub(crate) fn own(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, slot: u32) {
        let (word, bit) = self.bit(block, slot);
        self.valid[word] |= bit;
        self.p2l.replace(ppn, Some(lpn));
    }

    /// The half of [`Map::bind`] that changes the page's entry.
    #[inline]
    pub(crate) fn point(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let old = self.l2p.replace(lpn, Some(ppn));
        self.mapped += u32::from(old.is_none());
        old
    }

    /// Forgets `lpn`. Returns the slot that it pointed to.
    pub(crate) fn unbind(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.l2p.replace(lpn, None);
        self.mapped -= u32::from(old.is_some());
        old
    }

    #[inline]
    pub(crate) fn invalidate(&mut self, block: BlockId, slot: u32) {
        let (word, bit) = self.bit(block, slot);
        debug_assert!(self.valid[word] & bit != 0);
        self.valid[word] &= !bit;
    }

    /// Whether the map points to this slot.
    #[inline]
    pub fn is_valid(&self, block: BlockId, slot: u32) -> bool {
        let (word, bit) = self.bit(block, slot);
        self.valid[word] & bit != 0
    }

    /// The first valid slot of a block at or after `from`.
    #[inline]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<u32> {
        if from >= self.pages_per_block {
            return None;
        }
        let first = block.index() * self.words_per_block as usize;
        let mut at = from / 64;
        let mut word = self.valid[first + at as usize] & (u64::MAX << (from % 64));
        loop {
            if word != 0 {
                return Some(at * 64 + word.trailing_zeros());
            }
            at += 1;
            if at == self.words_per_block {
                return None;
            }
            word = self.valid[first + at as usize];
        }
    }

    /// Number of valid slots of a block, counted.
    pub fn count_valid(&self, block: BlockId) -> u32 {
        let words = self.words_per_block as usize;
        let first = block.index() * words;
        self.valid[first..first + words].iter().map(|w| w.count_ones()).sum()
    }

    /// Number of valid slots of a block that lie, at least in part, in the given plane, out of the
    /// planes that a program takes together.
    pub fn count_valid_in(&self, geometry: &Geometry, block: BlockId, plane: u32) -> u32 {
        let units = geometry.units();
        if units.planes == 1 {
            return self.count_valid(block);
        }
        let in_plane = |slot: &u32| units.plane_of(*slot) == plane / units.across * units.across;
        let mut next = self.next_valid(block, 0);
        let valid = std::iter::from_fn(|| {
            let slot = next?;
            next = self.next_valid(block, slot + 1);
            Some(slot)
        });
        valid.filter(in_plane).count() as u32
    }

    /// Prefetches the map entries of the valid pages among some slots of a block, which are about
    /// to move. Their owners lie anywhere, so each would miss the caches one after the other.
    pub(crate) fn prefetch_owners(&self, block: BlockId, slots: Range<u32>) {
        let slots = slots.start..slots.end.min(self.pages_per_block);
        let first = block.index() * self.words_per_block as usize;
        let base = block.as_u32() * self.pages_per_block;
        // A line has sixteen owners.
        for slot in slots.clone().step_by(16) {
            self.p2l.prefetch(Ppn::from_u32(base + slot));
        }
        for at in slots.start / 64..slots.end.div_ceil(64) {
            let mut word = self.valid[first + at as usize];
            while word != 0 {
                let slot = at * 64 + word.trailing_zeros();
                word &= word - 1;
                if slots.contains(&slot)
                    && let Some(lpn) = self.p2l.get(Ppn::from_u32(base + slot))
                {
                    self.prefetch(lpn);
                }
            }
        }
    }

    /// Loads the bit of a page's slot into the processor's cache, because the bit is about to
    /// change.
    #[inline]
    pub(crate) fn prefetch_slot(&self, lpn: Lpn, geometry: &Geometry) {
        if let Some(ppn) = self.lookup(lpn) {
            let (block, slot) = geometry.split(ppn);
            prefetch(&self.valid[self.bit(block, slot).0]);
        }
    }

    /// Prefetches the owner of a page's slot.
    #[inline]
    pub(crate) fn prefetch_owner(&self, lpn: Lpn) {
        if let Some(ppn) = self.lookup(lpn) {
            self.p2l.prefetch(ppn);
        }
    }

    #[inline(always)]
    fn bit(&self, block: BlockId, slot: u32) -> (usize, u64) {
        let word = block.as_u32() * self.words_per_block + slot / 64;
        (word as usize, 1 << (slot % 64))
    }
}

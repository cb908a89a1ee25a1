//! Look-up, binding and removal of a host page. Nothing else changes the map for the host. With a
//! map on flash, the wait for its entries would be here.

use super::Ftl;
use crate::{Interests, Lpn, Map, PolicyTypes};
use kernel::Time;
use nand::{BlockId, Ppn, Tag};

impl<K: PolicyTypes> Ftl<K> {
    /// The map.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Much of the drive will be written, so its memory may as well come in large pages. Changes no
    /// result.
    pub fn expect_many_writes(&self) {
        self.map.ask_for_large_pages();
    }

    /// The slot of a host page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.lookup(lpn)
    }

    /// Loads the bit of a page's slot into the processor's cache: the page is to be written over.
    #[inline]
    pub fn prefetch_copy(&self, lpn: Lpn) {
        if let Some(ppn) = self.map.lookup(lpn) {
            let geometry = &self.space.geometry;
            self.map.prefetch_slot(lpn, geometry);
            self.space.blocks.prefetch_valid(geometry.block_of(ppn));
        }
    }

    /// Points a page that the host writes to its new slot.
    #[inline]
    pub(crate) fn bind_host(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, slot: u32, now: Time) {
        self.host_pages += 1;
        let old = self.map.bind(lpn, ppn, block, slot);
        self.space.blocks.add_valid(block);
        if let Some(old) = old {
            self.drop_copy(old, now);
        }
    }

    /// Deallocates a logical page. Returns whether it was mapped.
    pub fn trim(&mut self, lpn: Lpn, now: Time) -> bool {
        let buffered = self.space.unit() > 1 && self.forget_buffered(lpn);
        let Some(old) = self.map.unbind(lpn) else { return buffered };
        self.drop_copy(old, now);
        true
    }

    /// Points a moved page to its new slot.
    #[inline(always)] // every page that moves comes by
    pub(crate) fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag, now: Time) {
        let (block, slot) = self.space.geometry.split(to);
        let old = self.map.bind(lpn, to, block, slot);
        debug_assert_eq!(old, Some(from));
        self.space.blocks.add_valid(block);
        self.drop_copy(from, now);
        if self.answers.interests.has(Interests::MOVE.with(Interests::HANDLES)) {
            if let Some(handles) = &mut self.handles {
                handles.moved(from, to, &self.space.geometry);
            }
            self.notify(&mut |w| w.on_move(lpn, from, to, tag));
        }
    }

    /// A slot holds a stale copy from now on.
    #[inline]
    fn drop_copy(&mut self, ppn: Ppn, now: Time) {
        let (block, slot) = self.space.geometry.split(ppn);
        self.map.invalidate(block, slot);
        self.space.blocks.drop_valid(block);
        if self.reads.awaited {
            self.note_left(ppn, block);
        }
        self.note_victim(block);
        if self.answers.interests.has(Interests::INVALIDATE) {
            self.space.note_garbage(block);
            let block = self.space.geometry.superblock_of(block);
            let gain = self.space.blocks.gain(block);
            self.notify(&mut |w| w.on_invalidate(block, gain, now));
        }
    }
}

//! The map's door: where a page of the host is looked up, bound and forgotten. A map that has to be
//! fetched first would wait here.

use crate::ask::{Interests, Kit};
use crate::ftl::Ftl;
use crate::map::{Lpn, Map};
use kernel::Time;
use nand::{BlockId, Ppn, Tag};

impl<K: Kit> Ftl<K> {
    /// The map.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Where a page of the host lies.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.lookup(lpn)
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

    /// Deallocates a logical page; whether it was mapped.
    pub fn trim(&mut self, lpn: Lpn, now: Time) -> bool {
        let Some(old) = self.map.unbind(lpn) else { return false };
        self.drop_copy(old, now);
        true
    }

    /// Points a moved page to its new slot.
    pub(crate) fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag, now: Time) {
        let (block, slot) = self.space.geometry.split(to);
        let old = self.map.bind(lpn, to, block, slot);
        debug_assert_eq!(old, Some(from));
        self.space.blocks.add_valid(block);
        self.drop_copy(from, now);
        self.jobs.counts.moved[tag.source] += 1;
        if self.answers.interests.has(Interests::MOVE) {
            self.tell(&mut |w| w.on_move(lpn, from, to, tag));
        }
    }

    /// A slot holds a stale copy from now on.
    #[inline]
    fn drop_copy(&mut self, ppn: Ppn, now: Time) {
        let (block, slot) = self.space.geometry.split(ppn);
        self.map.invalidate(block, slot);
        self.space.blocks.drop_valid(block);
        if self.space.any_starves() {
            self.feed(block);
        }
        if self.answers.interests.has(Interests::INVALIDATE) {
            let gain = self.space.blocks.gain(block);
            self.tell(&mut |w| w.on_invalidate(block, gain, now));
        }
    }
}

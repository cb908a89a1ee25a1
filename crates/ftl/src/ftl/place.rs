//! Slots for pages: streams and frontiers as policies choose them, blocks that open and close.

use crate::{
    Ftl, FtlView, Interests, Lpn, NextLife, PageChoice, Pick, PolicyTypes, ReadDisturb, StreamId,
    WriteCtx, WritePoint,
};
use kernel::{Prio, Time};
use nand::{BlockId, Mode, PlaneId, Ppn, Source, Tag};

impl<K: PolicyTypes> Ftl<K> {
    /// Takes the next slots of a stream's frontier in a plane, as many as one command programs, and
    /// opens a block if necessary. Returns the first slot.
    #[inline]
    pub(crate) fn allocate(
        &mut self,
        plane: PlaneId,
        stream: StreamId,
        lpn: Lpn,
        tag: Tag,
        now: Time,
    ) -> Option<(Ppn, BlockId, u32)> {
        let in_order = self.answers.in_order;
        let stream = if in_order { stream } else { self.policies.page_choice.stream(stream, tag) };
        let block = match self.space.frontier(plane, stream, tag) {
            Some(block) => block,
            None => self.open_frontier(plane, stream, tag)?,
        };
        let next = self.space.next_slot(block);
        let (mut slot, mut last) =
            next.expect("a frontier has a slot left, or it would not be one");
        if !in_order && !self.choose_page(block, &mut slot, &mut last, lpn, tag, now) {
            return self.allocate(plane, self.space.blocks.stream(block), lpn, tag, now);
        }
        let given = self.space.give(block, slot, last);
        if self.space.striped {
            self.send_parity(tag.prio);
        }
        Some((given, block, slot))
    }

    /// The planes that a page may go to, from one on.
    #[inline]
    pub(crate) fn planes_from(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<K> {
        let (first, planes) = (plane.as_u32(), self.space.geometry.planes() as u32);
        let most = if self.answers.anywhere { self.space.geometry.sets() } else { 1 };
        let each = self.space.geometry.superblocks().planes() as usize;
        let planes = (first..planes).step_by(each).chain((0..first).step_by(each));
        planes.take(most).map(PlaneId::from_u32)
    }

    /// Asks the page-choice policy, beginning at `slot`. `false`: the block was given up, and the
    /// write needs another.
    #[cold]
    fn choose_page(
        &mut self,
        block: BlockId,
        slot: &mut u32,
        last: &mut bool,
        lpn: Lpn,
        tag: Tag,
        now: Time,
    ) -> bool {
        let space = &self.space;
        let plane = space.set_of(block);
        let w = WriteCtx {
            now,
            lpn,
            die: space.geometry.die_of(block),
            tag,
            stored: self.find(lpn).map(|ppn| self.level_of(ppn)),
            waiting_die: 0,
            waiting_channel: 0,
            waiting_device: 0,
            requests_inside: 0,
        };
        let may_open = space.can_lend(plane);
        let at = WritePoint { block, next: *slot, may_open, reserved: space.reserves(plane) };
        let view = FtlView::of(space, &self.map, &self.reads);
        let picked = match self.policies.page_choice.pick(&view, &at, &w) {
            Pick::Slot(picked) => picked,
            Pick::NextBlock => {
                assert!(may_open, "the page-choice policy gave up block {block}, its plane's last");
                self.space.counts.skipped += self.space.complete(block);
                if self.space.is_programmed(block) {
                    self.close(block, now);
                }
                return false;
            }
        };
        let (layouts, mode) = (&self.space.layouts, self.space.array().mode(block));
        let unit = self.space.unit();
        assert!(
            picked >= *slot && layouts.is_slot(mode, picked) && picked.is_multiple_of(unit),
            "the page-choice policy took page {picked} of block {block}, whose pointer is at {slot}",
        );
        let skipped = layouts.slots_before(mode, picked) - layouts.slots_before(mode, *slot);
        *slot = picked;
        *last = layouts.slot_from(mode, picked + unit).is_none();
        self.space.counts.skipped += u64::from(skipped);
        true
    }

    fn open_frontier(&mut self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        if let Some(block) = self.open(plane, stream, tag) {
            self.space.set_frontier(block);
            self.plan_pace(plane);
            return Some(block);
        }
        let fallback = self.space.demands.streams[stream.index()].fallback?;
        let open = self.space.frontier(plane, fallback, tag);
        open.or_else(|| self.open_frontier(plane, fallback, tag))
    }

    /// Opens a block for a stream without making it the frontier.
    pub(crate) fn open(&mut self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        let block = self.space.open(plane, stream, tag)?;
        self.collect_if_short(plane, tag.demand, tag.prio);
        if self.answers.caches {
            self.fold_if_full(plane, tag.prio);
        }
        if self.answers.separation.follows {
            self.note_block(block, true);
        }
        if self.answers.interests.has(Interests::BLOCK) {
            let role = self.space.blocks.role(block);
            self.notify(&mut |w| w.on_open(block, stream, role));
        }
        Some(block)
    }

    /// A block's last program is done, or its superblock's: it may be reclaimed from now on.
    pub(crate) fn close(&mut self, block: BlockId, now: Time) {
        let block = self.space.geometry.superblock_of(block);
        let next = match self.next_life(block) {
            NextLife::Erase(mode) => mode,
            // An erase provides all slots that a second generation adds, and more. So a block ranks
            // by that in either case.
            NextLife::SecondGeneration => Mode::Wom1,
        };
        self.space.close(block, next);
        if self.answers.caches && self.space.is_cached(block) {
            self.note_cached(block);
        } else {
            self.note_victim(block);
        }
        if self.answers.interests.has(Interests::BLOCK) {
            self.notify(&mut |w| w.on_close(block, now));
        }
    }

    /// A block that is complete in its first generation begins its second: it joins its plane's
    /// free blocks with its data.
    #[cold]
    pub(crate) fn next_generation(&mut self, block: BlockId, why: Tag, now: Time) {
        if self.space.next_generation(block) {
            self.freed(block, now);
        } else {
            self.free(block, why, now);
        }
    }

    /// An emptied block joins its plane's free blocks.
    pub(crate) fn free(&mut self, block: BlockId, why: Tag, now: Time) {
        let role = self.space.blocks.role(block);
        for block in self.space.geometry.superblocks().blocks_of(block) {
            if let Some(reads) = self.reads.restart(block) {
                self.policies.read_disturb.on_erased(block, role, reads, why, now);
                self.reads.limits.set_coarsest(block, None);
            }
        }
        if let Some(handles) = &mut self.handles {
            handles.erased(block);
        }
        if self.answers.caches {
            self.note_free(block);
        }
        self.space.free(block, why.source);
        self.freed(block, now);
    }

    /// Wakes operations that wait for space.
    fn freed(&mut self, block: BlockId, now: Time) {
        let plane = self.space.set_of(block);
        if self.jobs.pace.is_kept() && self.space.takes_any(plane) {
            self.jobs.pace.relax(plane);
        }
        self.plan_pace(plane);
        self.jobs.release(self.space_in(plane));
        if self.handles.is_some() {
            self.close_late(plane, now);
        }
        if self.answers.interests.has(Interests::BLOCK) {
            self.notify(&mut |w| w.on_erase(block, now));
        }
    }

    /// A block has something to gain. If its plane searched in vain before, it searches again.
    #[inline(always)] // one test, as long as no plane has no victim
    pub(crate) fn note_victim(&mut self, block: BlockId) {
        if self.space.any_has_no_victim()
            && let Some(plane) = self.space.note_victim(block)
        {
            self.collect_if_short(plane, Source::Host, Prio::Normal);
        }
    }

    /// Reclaims blocks of a plane that is short of free ones, because `demand` needs them.
    pub(crate) fn collect_if_short(&mut self, plane: PlaneId, demand: Source, prio: Prio) {
        if self.space.is_short(plane, self.config.gc.start) {
            self.jobs.collect(plane, demand, prio);
        }
    }
}

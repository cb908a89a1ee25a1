//! Slots: where they lie, who gets the next one, what becomes of those that die.

use crate::ask::{Interests, Kit, NextLife, PageChoice, Pick, WriteCtx, WritePoint};
use crate::ftl::{Ftl, ftl_view};
use crate::job::WaitFor;
use crate::map::Lpn;
use crate::plane::RESERVE;
use crate::stream::StreamId;
use kernel::{Prio, Time};
use nand::{BlockId, Mode, PageRange, PlaneId, Ppn, Source, Tag};

impl<K: Kit> Ftl<K> {
    /// The pages that programming a slot writes.
    #[inline]
    pub fn program_pages(&self, ppn: Ppn) -> PageRange {
        let (block, slot) = self.geometry.split(ppn);
        if self.plain {
            return PageRange::new(slot, 1);
        }
        self.layouts.program(self.array.mode(block), slot)
    }

    /// The page that a slot is; `None` where slots may be more than that.
    #[inline]
    pub fn page_of(&self, ppn: Ppn) -> Option<u32> {
        self.slots_are_pages().then(|| self.geometry.split(ppn).1)
    }

    /// The pages that reading a slot senses.
    #[inline]
    pub fn read_pages(&self, ppn: Ppn) -> PageRange {
        let (block, slot) = self.geometry.split(ppn);
        if self.plain {
            return PageRange::new(slot, 1);
        }
        self.layouts.read(self.array.mode(block), slot)
    }

    /// Whether a slot's program is done.
    #[inline]
    pub fn is_written(&self, ppn: Ppn) -> bool {
        self.array.is_written(ppn)
    }

    /// The next slot of an open block, and whether it is the last.
    #[inline]
    pub(crate) fn next_slot(&self, block: BlockId) -> Option<(u32, bool)> {
        let next = self.blocks.written(block);
        if self.plain {
            let pages = self.geometry.pages_per_block();
            return (next < pages).then_some((next, next + 1 == pages));
        }
        self.next_slot_of_mode(block, next)
    }

    #[inline(never)]
    fn next_slot_of_mode(&self, block: BlockId, next: u32) -> Option<(u32, bool)> {
        let mode = self.array.mode(block);
        let slot = self.layouts.slot_from(mode, next)?;
        Some((slot, self.layouts.slot_from(mode, slot + 1).is_none()))
    }

    /// Takes the next slot of a stream's frontier in a plane, opening a block if need be.
    #[inline]
    pub(crate) fn allocate(
        &mut self,
        plane: PlaneId,
        stream: StreamId,
        lpn: Lpn,
        tag: Tag,
        now: Time,
    ) -> Option<(Ppn, BlockId, u32)> {
        let stream =
            if self.in_order { stream } else { self.policies.page_choice.stream(stream, tag) };
        let block = match self.frontier(plane, stream, tag) {
            Some(block) => block,
            None => self.open_frontier(plane, stream, tag)?,
        };
        let (mut slot, mut last) =
            self.next_slot(block).expect("a frontier has a slot left, or it would not be one");
        if !self.in_order && !self.choose_page(block, &mut slot, &mut last, lpn, tag, now) {
            return self.allocate(plane, self.blocks.stream(block), lpn, tag, now);
        }
        self.blocks.set_written(block, slot + 1);
        if last {
            // Opening may have fallen back to another stream.
            let stream = self.blocks.stream(block);
            self.blocks.set_full(block);
            self.planes.set_frontier(plane, stream, None);
            if stream == StreamId::HOST {
                self.update_writable(plane);
            }
        }
        Some((self.geometry.ppn(block, slot), block, slot))
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
        let plane = self.geometry.plane_of(block);
        let w = WriteCtx {
            now,
            lpn,
            die: self.geometry.die_of(block),
            tag,
            stored: self.map.lookup(lpn).map(|ppn| self.level_of(ppn)),
            waiting_die: 0,
            waiting_channel: 0,
            waiting_device: 0,
        };
        let may_open = self.can_lend(plane);
        let at = WritePoint { block, next: *slot, may_open, reserved: self.reserves(plane) };
        let view = ftl_view!(self);
        let mode = self.array.mode(block);
        let picked = match self.policies.page_choice.pick(&view, &at, &w) {
            Pick::Slot(picked) => picked,
            Pick::NextBlock => {
                assert!(may_open, "the page-choice policy gave up block {block}, its plane's last");
                let given = self.layouts.slots_before(mode, *slot);
                self.counts.skipped += u64::from(self.layouts.slots(mode) - given);
                self.give_up(block, now);
                return false;
            }
        };
        assert!(
            picked >= *slot && self.layouts.is_slot(mode, picked),
            "the page-choice policy took page {picked} of block {block}, whose pointer is at {slot}",
        );
        let mut at = *slot;
        while at != picked {
            self.counts.skipped += 1;
            at = self.layouts.slot_from(mode, at + 1).expect("the picked slot lies ahead");
        }
        *slot = picked;
        *last = self.layouts.slot_from(mode, picked + 1).is_none();
        true
    }

    /// A frontier is complete as far as it was written.
    fn give_up(&mut self, block: BlockId, now: Time) {
        let (plane, stream) = (self.geometry.plane_of(block), self.blocks.stream(block));
        self.planes.set_frontier(plane, stream, None);
        self.update_writable(plane);
        self.blocks.set_full(block);
        if self.array.next_page(block) >= self.blocks.written(block) {
            self.close(block, now);
        }
    }

    /// Opens a block as the frontier of a stream.
    fn open_frontier(&mut self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        let spec = self.streams[stream.index()];
        let block = self.open_detached(plane, stream, tag);
        if let Some(block) = block {
            self.planes.set_frontier(plane, stream, Some(block));
            self.update_writable(plane);
            return Some(block);
        }
        let fallback = spec.fallback?;
        self.frontier(plane, fallback, tag).or_else(|| self.open_frontier(plane, fallback, tag))
    }

    /// The open block of a stream, if `tag` may write there: when a plane has its reserve left,
    /// the frontier of garbage collection is part of it.
    #[inline]
    fn frontier(&self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        let open = self.planes.frontier(plane, stream);
        let kept = stream == StreamId::GC && tag.source != Source::Gc && !self.can_lend(plane);
        open.filter(|_| !kept)
    }

    /// Opens a block for a stream without making it the frontier.
    pub(crate) fn open_detached(
        &mut self,
        plane: PlaneId,
        stream: StreamId,
        tag: Tag,
    ) -> Option<BlockId> {
        let spec = self.streams[stream.index()];
        if spec.cap.is_some_and(|cap| self.held[self.held_at(plane, stream)] >= cap) {
            return None;
        }
        // The reserve is for what garbage collection moves to its own frontier.
        let reserve = stream == StreamId::GC && tag.source == Source::Gc;
        if !reserve && !self.can_lend(plane) {
            return None;
        }
        let at = self.planes.find_free(
            &self.geometry,
            self.array.wear(),
            plane,
            spec.pool,
            spec.pick,
            |at| reserve || self.can_lend_at(plane, at),
        )?;
        let block = self.planes.take_free(plane, at);
        self.blocks.open(block, stream, spec.role);
        if tag.source == Source::Refresh {
            self.owe(plane, i64::from(self.geometry.pages_per_block()));
        }
        let held = self.held_at(plane, stream);
        self.held[held] += 1;
        if spec.mode != Mode::Full && self.array.mode(block) == Mode::Full {
            self.array.set_mode(block, spec.mode);
        }
        if self.is_short(plane, self.config.gc.start) {
            self.request_gc(plane, tag.demand, tag.prio);
        }
        self.update_writable(plane);
        if self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_open(block, stream, spec.role));
        }
        Some(block)
    }

    /// Where [`Ftl::held`] counts the blocks of a stream in a plane.
    #[inline]
    pub(crate) fn held_at(&self, plane: PlaneId, stream: StreamId) -> usize {
        plane.as_u32() as usize * self.streams.len() + stream.index()
    }

    /// A block's last program is done: it may be reclaimed from now on.
    pub(crate) fn close(&mut self, block: BlockId, now: Time) {
        let lost = if self.plain && self.coding_plain {
            0
        } else {
            // What a second generation adds is there after an erase as well, and more: a block
            // ranks by that, whichever comes.
            let next = match self.next_life(block) {
                NextLife::Erase(mode) => mode,
                NextLife::SecondGeneration => Mode::Wom1,
            };
            self.geometry.pages_per_block() - self.layouts.slots(next)
        };
        self.blocks.close(block, lost);
        if self.starved_planes > 0 {
            self.feed(block);
        }
        if self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_close(block, now));
        }
    }

    // ── The map ─────────────────────────────────────────────────────────────────────────────────

    #[inline]
    pub(crate) fn bind_host(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, slot: u32, now: Time) {
        let old = self.map.bind(lpn, ppn, block, slot);
        self.blocks.add_valid(block);
        if let Some(old) = old {
            self.drop_copy(old, now);
        }
    }

    /// Points a moved page to its new slot.
    pub(crate) fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn, tag: Tag, now: Time) {
        let (block, slot) = self.geometry.split(to);
        let old = self.map.bind(lpn, to, block, slot);
        debug_assert_eq!(old, Some(from));
        self.blocks.add_valid(block);
        self.drop_copy(from, now);
        self.counts.moved[tag.source] += 1;
        if self.interests.all.has(Interests::MOVE) {
            self.tell(&mut |w| w.on_move(lpn, from, to, tag));
        }
    }

    /// A slot holds a stale copy from now on.
    #[inline]
    pub(crate) fn drop_copy(&mut self, ppn: Ppn, now: Time) {
        let (block, slot) = self.geometry.split(ppn);
        self.map.invalidate(block, slot);
        self.blocks.drop_valid(block);
        if self.starved_planes > 0 {
            self.feed(block);
        }
        if self.interests.all.has(Interests::INVALIDATE) {
            let gain = self.blocks.gain(block);
            self.tell(&mut |w| w.on_invalidate(block, gain, now));
        }
    }

    /// A block has something to gain: if its plane looked for that in vain, it looks again.
    #[cold]
    pub(crate) fn feed(&mut self, block: BlockId) {
        if !self.blocks.is_candidate(block) || self.blocks.gain(block) == 0 {
            return;
        }
        let plane = self.geometry.plane_of(block);
        if !self.planes.get(plane).starved {
            return;
        }
        self.planes.get_mut(plane).starved = false;
        self.starved_planes -= 1;
        if self.is_short(plane, self.config.gc.start) {
            self.request_gc(plane, Source::Host, Prio::Normal);
        }
    }

    #[inline]
    pub(crate) fn unpin(&mut self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        if self.blocks.unpin(block) && !self.waiting.is_empty() {
            self.wake(|w| w == WaitFor::Pins(block));
        }
    }

    pub(crate) fn update_writable(&mut self, plane: PlaneId) {
        let room = self.has_room(plane);
        self.writable.put(plane.as_u32() as usize, room);
    }

    /// Whether the plane can take a host write.
    pub(crate) fn has_room(&self, plane: PlaneId) -> bool {
        self.planes.frontier(plane, StreamId::HOST).is_some() || self.can_lend(plane)
    }

    /// Whether the plane may lend a free block to someone who is not garbage collection: the others
    /// have slots for the valid pages of any victim.
    #[inline]
    pub(crate) fn can_lend(&self, plane: PlaneId) -> bool {
        let free = &self.planes.get(plane).free;
        if self.plain {
            return free.len() > RESERVE;
        }
        (0..free.len()).any(|at| self.can_lend_at(plane, at))
    }

    /// Whether it may be the block at `at`.
    fn can_lend_at(&self, plane: PlaneId, at: usize) -> bool {
        let free = &self.planes.get(plane).free;
        if self.plain {
            return free.len() > RESERVE;
        }
        self.holds_victim(free.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, b)| *b))
    }

    /// Whether the plane's free blocks have slots for the valid pages of any victim.
    pub(crate) fn reserves(&self, plane: PlaneId) -> bool {
        let free = &self.planes.get(plane).free;
        if self.plain {
            return free.len() >= RESERVE;
        }
        self.holds_victim(free.iter().copied())
    }

    /// Whether erased blocks have slots for the valid pages of any victim. Those of modes with fewer
    /// slots count for what they have.
    fn holds_victim(&self, erased: impl Iterator<Item = BlockId>) -> bool {
        let mut slots = 0;
        erased.map(|b| self.layouts.slots(self.array.mode(b))).any(|n| {
            slots += n;
            slots >= self.widest
        })
    }

    /// Whether garbage collection has to bring the plane to `mark` free blocks, or to as many as
    /// it takes to lend one.
    #[inline]
    pub(crate) fn is_short(&self, plane: PlaneId, mark: u32) -> bool {
        let free = self.planes.get(plane).free.len();
        let kept = self.kept(plane);
        free < mark as usize + kept || (!self.plain && !self.can_lend(plane))
    }

    /// Free blocks of a plane that are kept for the read-disturb policy.
    #[inline]
    fn kept(&self, plane: PlaneId) -> usize {
        let Some((pool, most)) = self.keeps else { return 0 };
        let first = pool.first_index(&self.geometry);
        let free = self.planes.get(plane).free.iter();
        free.filter(|b| self.geometry.index_in_plane(**b) >= first).count().min(most as usize)
    }

    /// Whether a block became free since the last call: waiting writes may try again.
    #[inline]
    pub fn take_freed(&mut self) -> bool {
        std::mem::take(&mut self.freed)
    }
}

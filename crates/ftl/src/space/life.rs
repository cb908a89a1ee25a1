//! The life of a block: opened, written slot by slot, completed, emptied, free again or retired.

use super::plane::StreamShare;
use super::{Space, State};
use crate::{FreePick, Pool, Role, StreamClass, StreamId, StreamSpec};
use nand::{Array, BlockId, Mode, PlaneId, Ppn, Source, Store, Tag};

impl<S: Store> Space<S> {
    /// Opens a block for a stream; it is not the frontier yet.
    pub(crate) fn open(&mut self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        if self.is_cache_stream(stream) {
            return self.open_cached(plane, stream);
        }
        let spec = self.demands.streams[stream.index()];
        if spec.cap.is_some_and(|cap| self.planes.held(plane, stream) >= cap) {
            return None;
        }
        // The reserve is for what garbage collection moves to its own frontier, and for the host where
        // that does without it.
        let reserve = match (spec.class, tag.source) {
            (StreamClass::Moves | StreamClass::Both, Source::Gc) => true,
            (StreamClass::Moves | StreamClass::Both, Source::Fold) => {
                if !self.lends_to_fold(plane) {
                    return None;
                }
                true
            }
            (StreamClass::Host, Source::Host) => self.planes.each[plane].lends_last,
            _ => false,
        };
        if !reserve && !self.can_lend(plane) {
            return None;
        }
        // Wear levelling looks for the most worn block, although its data has no stream of its own.
        let worn = self.demands.isolates && tag.source == Source::Wear;
        let pick = if worn { FreePick::MostWorn } else { spec.pick };
        let at = self.find_free(plane, &spec, pick, reserve)?;
        let block = self.planes.each[plane].free.remove(at).expect("it was found there");
        self.blocks.open(block, stream, spec.role);
        if tag.source == Source::Refresh {
            self.charge(plane, i64::from(self.blocks.slots()));
        }
        *self.planes.held_mut(plane, stream) += 1;
        if spec.mode != Mode::Full && self.array.mode(block) == Mode::Full {
            self.array.set_mode(block, spec.mode);
        }
        self.update_writable(plane);
        Some(block)
    }

    /// Whether pages of a stream go to the cache.
    fn is_cache_stream(&self, stream: StreamId) -> bool {
        self.demands.cache.is_some_and(|cache| cache.stream == stream)
    }

    /// Opens a block of the cache, with one bit in a cell.
    #[cold]
    fn open_cached(&mut self, plane: PlaneId, stream: StreamId) -> Option<BlockId> {
        let block = self.take_for_cache(plane)?;
        self.blocks.open(block, stream, Role::REGULAR);
        self.begin_filling(plane);
        *self.planes.held_mut(plane, stream) += 1;
        for member in self.geometry.superblocks().blocks_of(block) {
            self.array.set_mode(member, Mode::Slc);
        }
        self.update_writable(plane);
        Some(block)
    }

    /// The index in its plane's list of a free block that a stream may open, picked as the stream
    /// specifies. `reserve`: any block that is left.
    pub(super) fn find_free(
        &self,
        plane: PlaneId,
        stream: &StreamSpec,
        pick: FreePick,
        reserve: bool,
    ) -> Option<usize> {
        let (geometry, wear) = (&self.geometry, self.array.wear());
        let free = &self.planes.each[plane].free;
        let may = |at| reserve || self.can_lend_at(plane, at);
        let outside = |b: &BlockId, pool: Pool| {
            pool != Pool::All && geometry.index_in_plane(*b) < pool.first_index(geometry)
        };
        let mut eligible =
            free.iter().enumerate().filter(|(i, b)| !outside(b, stream.pool) && may(*i));
        let chosen = match pick {
            FreePick::Oldest => eligible.next(),
            FreePick::LeastWorn => eligible.min_by_key(|(i, b)| (wear[**b], *i)),
            FreePick::MostWorn => eligible.max_by_key(|(i, b)| (wear[**b], usize::MAX - i)),
            FreePick::OutsideFirst(kept) => eligible.min_by_key(|(i, b)| (!outside(b, kept), *i)),
        };
        chosen.map(|(i, _)| i)
    }

    /// A block has become the frontier of its stream.
    pub(crate) fn set_frontier(&mut self, block: BlockId) {
        let (plane, stream) = (self.set_of(block), self.blocks.stream(block));
        self.planes.share_mut(plane, stream).frontier = Some(block);
        self.update_writable(plane);
    }

    /// The open block of a stream, if `tag` may write there. The frontier of garbage collection
    /// counts if a plane has its reserve left, or may lend it.
    #[inline(always)] // every page written comes by
    pub(crate) fn frontier(&self, plane: PlaneId, stream: StreamId, tag: Tag) -> Option<BlockId> {
        let StreamShare { frontier, class } = self.planes.share(plane, stream);
        let kept = class.takes_moves() && !tag.reclaims() && self.keeps(plane, class);
        frontier.filter(|_| !kept)
    }

    /// Whether the open blocks of a class belong to the reserve of collection now.
    #[inline(never)] // asked of few pages; inside `frontier` it would cost all of them registers
    fn keeps(&self, plane: PlaneId, class: StreamClass) -> bool {
        if class == StreamClass::Both {
            return !self.reserves(plane);
        }
        !self.can_lend(plane) || self.planes.each[plane].lends_last
    }

    /// Slots left in the open block of a stream.
    pub(crate) fn rest(&self, plane: PlaneId, stream: StreamId) -> u32 {
        self.planes.share(plane, stream).frontier.map_or(0, |block| self.slots_left(block))
    }

    /// Slots for data that an open block has left. Of a superblock: any of its blocks whose turn it
    /// is, or was last.
    fn slots_left(&self, block: BlockId) -> u32 {
        if self.striped {
            let given = self.geometry.superblocks().data_units(self.units_given(block));
            let slots = match self.array.mode(block) {
                Mode::Slc => self.geometry.single_slots_per_superblock(),
                _ => self.blocks.slots(),
            };
            return slots - given * self.unit();
        }
        let mode = self.array.mode(block);
        let given = self.layouts.slots_before(mode, self.blocks.written(block));
        self.layouts.slots(mode) - given
    }

    /// Program units of a superblock that were given away.
    fn units_given(&self, block: BlockId) -> u32 {
        let blocks = self.geometry.superblocks().blocks_of(self.geometry.superblock_of(block));
        blocks.map(|b| self.blocks.written(b)).sum::<u32>() / self.unit()
    }

    /// Whether a stream goes on writing the block.
    pub(crate) fn is_frontier(&self, block: BlockId) -> bool {
        let plane = self.set_of(block);
        let open = self.planes.share(plane, self.blocks.stream(block)).frontier;
        open.is_some_and(|open| {
            self.geometry.superblock_of(open) == self.geometry.superblock_of(block)
        })
    }

    /// No slot of an open block is to be given away any more.
    #[inline(never)]
    pub(super) fn set_full(&mut self, block: BlockId) {
        if self.is_frontier(block) {
            let plane = self.set_of(block);
            self.planes.share_mut(plane, self.blocks.stream(block)).frontier = None;
            self.update_writable(plane);
        }
        self.blocks.set_state(self.geometry.superblock_of(block), State::Full);
    }

    /// An open block is complete as far as it was written. Returns the number of slots that it
    /// gives up.
    pub(crate) fn complete(&mut self, block: BlockId) -> u64 {
        let left = self.slots_left(block);
        self.set_full(block);
        u64::from(left)
    }

    /// A block may be reclaimed from now on; erased, it begins its next life in mode `next`.
    pub(crate) fn close(&mut self, block: BlockId, next: Mode) {
        if self.is_cached(block) {
            return self.close_cached(block);
        }
        // Modes with fewer slots are for blocks that are not in a superblock.
        let lost = self.geometry.pages_per_block() - self.layouts.slots(next);
        self.blocks.close(block, lost);
        self.move_garbage(block, true);
    }

    /// A block begins its second generation. If it keeps pages, it joins its plane's free blocks
    /// with them. Returns whether it does.
    pub(crate) fn next_generation(&mut self, block: BlockId) -> bool {
        self.array.begin_second_generation(block);
        self.counts.second_lives += 1;
        let kept = self.blocks.valid(block);
        if kept > 0 {
            self.counts.kept += u64::from(kept);
            self.vacate(block);
            self.join_free(block);
        }
        kept > 0
    }

    /// An emptied block joins its plane's free blocks, or is retired.
    pub(crate) fn free(&mut self, block: BlockId, source: Source) {
        if source == Source::Refresh {
            let pages = i64::from(self.blocks.slots());
            self.charge(self.set_of(block), -pages);
        }
        debug_assert_eq!(self.blocks.valid(block), 0);
        self.vacate(block);
        if !self.retire(block) {
            self.join_free(block);
        } else if self.cache.is_some() {
            // A block that the cache had counts no more.
            self.update_writable(self.set_of(block));
        }
    }

    /// The data of a block has gone. Operations that wait for space may try again.
    fn vacate(&mut self, block: BlockId) {
        self.freed = true;
        self.move_garbage(block, false);
        let plane = self.set_of(block);
        if self.is_cached(block) {
            self.leave_cache(block);
        }
        *self.planes.held_mut(plane, self.blocks.stream(block)) -= 1;
    }

    fn join_free(&mut self, block: BlockId) {
        self.blocks.set_free(block);
        let plane = self.set_of(block);
        if self.cache.is_none() || !self.joins_own(block) {
            self.planes.each[plane].free.push_back(block);
        }
        self.update_writable(plane);
    }

    /// Whether any block of an erased superblock has had the cycles that it endures.
    fn take_worn(&mut self, superblock: BlockId) -> bool {
        let before = self.worn.len();
        self.worn.retain(|b| *b != superblock);
        self.worn.len() < before
    }

    /// Whether the block has reached the end of its life; if so it is retired.
    fn retire(&mut self, block: BlockId) -> bool {
        let worn = if self.geometry.superblocks().are_blocks() {
            let healed = std::mem::take(&mut self.healed);
            self.array.wear()[block] >= self.endurance && !healed
        } else {
            self.take_worn(block)
        };
        let marked_bad = self.marked_bad.iter().position(|b| *b == block);
        let ends = self.ages && (worn || marked_bad.is_some());
        // Garbage collection may just have used the plane's reserve to empty this block. Then the
        // block takes its place for one more life, or the next victim would have nowhere to go.
        if !ends || !self.reserves(self.set_of(block)) {
            return false;
        }
        self.blocks.set_bad(block);
        let members = self.geometry.superblocks().members();
        let retired = self.geometry.flash_blocks_per_block() * members.into();
        self.counts.retired += retired;
        if let Some(at) = marked_bad {
            self.marked_bad.swap_remove(at);
            self.counts.marked_bad += retired;
        }
        let good = self.geometry.flash_blocks() - self.counts.retired;
        let blocks = good.get() / self.geometry.flash_blocks_per_block().get();
        let superblocks = blocks / u64::from(members);
        self.worn_out = superblocks * u64::from(self.widest) < self.demands.pages;
        true
    }

    /// The block is retired when it is empty. Returns `false` if it is out of service already, or
    /// if blocks never retire.
    pub(crate) fn mark_bad(&mut self, block: BlockId) -> bool {
        if !self.ages || matches!(self.blocks.state(block), State::Free | State::Bad) {
            return false;
        }
        let block = self.geometry.superblock_of(block);
        if !self.marked_bad.contains(&block) {
            self.marked_bad.push(block);
        }
        true
    }

    // ── Slots ───────────────────────────────────────────────────────────────────────────────────

    /// The first of the next slots of an open block that one command programs, and whether they are
    /// the last.
    #[inline]
    pub(crate) fn next_slot(&self, block: BlockId) -> Option<(u32, bool)> {
        let next = self.blocks.written(block);
        if self.plain {
            let (pages, unit) = (self.geometry.pages_per_block(), self.unit());
            return (next < pages).then_some((next, next + unit == pages));
        }
        self.next_slot_of_mode(block, next)
    }

    #[inline(never)]
    fn next_slot_of_mode(&self, block: BlockId, next: u32) -> Option<(u32, bool)> {
        let mode = self.array.mode(block);
        let slot = self.layouts.slot_from(mode, next)?;
        Some((slot, self.layouts.slot_from(mode, slot + self.unit()).is_none()))
    }

    /// Slots that one command programs. They are given away together.
    #[inline]
    pub(crate) fn unit(&self) -> u32 {
        self.geometry.slots_per_program()
    }

    /// Gives away the slots of an open block that one command programs, from `slot` on, which is at or
    /// after its next.
    #[inline(always)] // a call costs more than it does
    pub(crate) fn give(&mut self, block: BlockId, slot: u32, last: bool) -> Ppn {
        self.blocks.written[block] = slot + self.unit();
        if self.striped {
            self.pass_turn(block);
        } else if last {
            self.set_full(block);
        }
        self.geometry.ppn(block, slot)
    }

    /// A unit of an open superblock was given away: the block of the next one has its turn. The unit
    /// after the data of a stripe is that stripe's parity.
    #[inline(never)]
    fn pass_turn(&mut self, block: BlockId) {
        let (plane, stream) = (self.set_of(block), self.blocks.stream(block));
        let superblocks = *self.geometry.superblocks();
        let superblock = superblocks.first_of(block);
        let rows = self.rows(block);
        let row = self.blocks.written(block) / self.unit() - 1;
        let mut unit = superblocks.unit(superblocks.position(block), row, rows);
        loop {
            unit += 1;
            if unit == rows * superblocks.members() {
                return self.set_full(block);
            }
            let next = superblocks.member(superblock, superblocks.position_of(unit, rows));
            if !superblocks.is_parity(unit) {
                self.planes.share_mut(plane, stream).frontier = Some(next);
                return;
            }
            let slot = self.blocks.written(next);
            self.blocks.written[next] = slot + self.unit();
            self.parity_due.push(self.geometry.ppn(next, slot));
        }
    }

    /// Program units of a block in its mode.
    pub(super) fn rows(&self, block: BlockId) -> u32 {
        let slots = match self.array.mode(block) {
            Mode::Slc => self.geometry.single_slots_per_block(),
            _ => self.geometry.pages_per_block(),
        };
        slots / self.unit()
    }

    /// A parity unit was programmed. Returns whether its superblock is complete now.
    pub(crate) fn program_parity(&mut self, ppn: Ppn) -> bool {
        let (block, unit) = (self.geometry.block_of(ppn), self.unit());
        self.program_any(block, Source::Parity, unit, |array| array.program_without_data(ppn));
        self.counts.program[Source::Parity] += u64::from(unit);
        self.blocks.state(block) == State::Full && self.is_programmed(block)
    }

    /// One command programs `pages` pages of a block; missing ones are padding.
    pub(crate) fn pad(&mut self, block: BlockId, pages: u32, source: Source) {
        let missing = self.unit() - pages;
        let padding = u64::from(missing);
        self.counts.padding[source] += padding;
        self.counts.program[source] += padding;
        if missing > 0 && self.cache.is_some() {
            self.count_single(block, source, missing);
            if self.array.mode(block) == Mode::Slc
                && let Some(cache) = &mut self.cache
            {
                cache.counts.padding[source] += padding;
            }
        }
    }

    /// Slots were programmed in a block: they are counted if its cells hold one bit.
    fn count_single(&mut self, block: BlockId, source: Source, slots: u32) {
        if let Some(cache) = &mut self.cache
            && self.array.mode(block) == Mode::Slc
        {
            cache.counts.program[source] += u64::from(slots);
        }
    }

    /// Programs a block that may have any mode, and counts the slots.
    fn program_any(
        &mut self,
        block: BlockId,
        source: Source,
        slots: u32,
        program: impl FnOnce(&mut Array<S>),
    ) {
        let before = self.array.next_page(block);
        program(&mut self.array);
        self.count_single(block, source, slots);
        if self.cache.is_some() && self.array.mode(block) == Mode::Slc {
            self.fill_cached(block, self.array.next_page(block) - before);
        }
    }

    /// The next slots of a partly written block that is not a frontier.
    pub(crate) fn append(&mut self, block: BlockId) -> Option<Ppn> {
        if self.blocks.state(block) != State::Open || self.is_frontier(block) {
            return None; // a frontier is written through its stream
        }
        let (slot, last) = self.next_slot(block)?;
        Some(self.give(block, slot, last))
    }

    /// A slot of a block was programmed. Returns whether the block is complete now.
    #[inline]
    pub(crate) fn program(
        &mut self,
        block: BlockId,
        ppn: Ppn,
        data: S::Page,
        source: Source,
    ) -> bool {
        if self.plain {
            self.array.program(ppn, data);
        } else {
            self.program_any(block, source, 1, |array| {
                array.program_slot(ppn, data);
            });
        }
        self.counts.program[source] += 1;
        self.blocks.state(block) == State::Full && self.is_programmed(block)
    }

    /// Programs valid pages in the next slots of an open block, which does not become full.
    pub(crate) fn program_next(
        &mut self,
        block: BlockId,
        pages: impl ExactSizeIterator<Item = S::Page>,
        source: Source,
    ) {
        let (slot, n) = (self.blocks.written(block), pages.len() as u32);
        self.blocks.written[block] = slot + n;
        self.blocks.add_valid_pages(block, n);
        self.counts.program[source] += u64::from(n);
        self.array.program_next(block, slot, pages);
    }

    /// A slot was programmed by the same command as one before it.
    #[inline]
    pub(crate) fn program_along(&mut self, ppn: Ppn, data: S::Page, source: Source) {
        if self.plain {
            self.array.program_along(ppn, data);
        } else {
            self.program_any(self.geometry.block_of(ppn), source, 1, |array| {
                array.program_slot(ppn, data);
            });
        }
        self.counts.program[source] += 1;
    }

    /// Whether no program of a block is on its way.
    #[inline]
    pub(crate) fn is_programmed(&self, block: BlockId) -> bool {
        let done = |b| self.array.next_page(b) >= self.blocks.written(b);
        if self.geometry.superblocks().are_blocks() {
            return done(block);
        }
        let superblock = self.geometry.superblock_of(block);
        self.geometry.superblocks().blocks_of(superblock).all(done)
    }

    /// The content of a slot, read for `source`.
    #[inline]
    pub(crate) fn read(&mut self, ppn: Ppn, source: Source) -> S::Page {
        self.counts.read[source] += 1;
        if !self.plain
            && let Some(cache) = &mut self.cache
            && self.array.mode(self.geometry.block_of(ppn)) == Mode::Slc
        {
            cache.counts.read[source] += 1;
        }
        self.array.read(ppn)
    }

    /// A block is going to be erased and begin its next life in `mode`.
    #[inline]
    pub(crate) fn widen_for(&mut self, mode: Mode) {
        if !self.plain {
            self.widest = self.widest.max(self.layouts.slots(mode));
        }
    }

    /// One block is erased.
    pub(crate) fn erase(&mut self, block: BlockId, mode: Mode, source: Source) {
        if let Some(cache) = &mut self.cache
            && self.array.mode(block) == Mode::Slc
        {
            cache.counts.erase[source] += self.geometry.flash_blocks_per_block();
        }
        self.array.erase(block, mode);
        if self.ages && !self.geometry.superblocks().are_blocks() {
            let healed = std::mem::take(&mut self.healed);
            if self.array.wear()[block] >= self.endurance && !healed {
                self.worn.push(self.geometry.superblock_of(block));
            }
        }
        self.counts.erase[source] += self.geometry.flash_blocks_per_block();
    }

    /// A block loses pages in place; it is to be closed again.
    pub(crate) fn reprogram(
        &mut self,
        block: BlockId,
        surcharge: u16,
        role: Role,
        pages: u32,
        source: Source,
    ) {
        self.array.reprogram_to_low(block, surcharge);
        self.counts.reprogram += 1;
        self.counts.reprogrammed_pages[source] +=
            self.geometry.flash_pages_per_page() * u64::from(pages);
        (self.plain, self.alike) = (false, false);
        self.blocks.role[block] = role;
    }
}

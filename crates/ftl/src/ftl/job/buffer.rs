//! If one command programs several pages, the pages that a job has read wait in a program buffer of
//! its own. A page moves when the buffer is flushed, if the map still points at its old slot.
//!
//! Collection adds no padding. When the other pages of a block have moved, the rest waits for pages
//! of the next victim. The block is *owed* until then. If the plane then has enough free blocks,
//! the next victim is given back with its remaining pages.

use super::plan::PlanStage;
use super::{After, Collect, JobCondition, JobId, Leaving, Next, Task, Then};
use crate::{Cost, Dest, Ftl, FtlView, Lpn, Pages, PolicyTypes, ProgramBuffer, StreamId};
use kernel::Time;
use nand::{BlockId, PlaneId, Ppn, Slots, Source};
use std::ops::ControlFlow;

/// The map entries of pages are prefetched this number of slots before they are read. A block of
/// many pages has more entries than a cache holds.
pub(super) const AHEAD: u32 = 256;

/// Pages that wait to be programmed, with their streams and data.
type Waiting<D> = ProgramBuffer<Ppn, (StreamId, D)>;

/// The program buffer of a job, and its slots that are being programmed.
pub(super) struct JobBuffer<D> {
    /// Pages that were read, in order of reading, by the slots that they leave. Each has the stream
    /// that it goes to, if the separation policy sorts them.
    read: Waiting<D>,
    /// The same pages, set apart while a whole page is programmed from the register that it was
    /// read into.
    apart: Waiting<D>,
    /// Pages that a command programs now, in the order of their slots.
    flushed: Vec<(Lpn, Ppn, D)>,
    /// Blocks whose last pages wait in the buffer, and the sources that need their space.
    unfinished: Vec<(BlockId, Source)>,
}

impl<D> Default for JobBuffer<D> {
    fn default() -> Self {
        let [read, apart] = Default::default();
        Self { read, apart, flushed: Vec::new(), unfinished: Vec::new() }
    }
}

impl<D> JobBuffer<D> {
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// Whether the last pages of a block wait for those of the next.
    #[inline]
    pub(super) fn has_unfinished(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// How many blocks do.
    pub(super) fn unfinished(&self) -> usize {
        self.unfinished.len()
    }

    /// Pages that wait for one stream: of several, the most.
    pub(super) fn waiting(&self) -> usize {
        let mut streams = [0; 256];
        for (_, (stream, _)) in self.read.entries() {
            streams[stream.index()] += 1;
        }
        streams.into_iter().max().unwrap_or(0)
    }

    /// Takes the pages that wait.
    pub(super) fn take_waiting(&mut self) -> Waiting<D> {
        std::mem::take(&mut self.read)
    }

    /// Puts pages before those that wait.
    pub(super) fn put_first(&mut self, pages: &mut Waiting<D>) {
        pages.append(&mut self.read);
        std::mem::swap(&mut self.read, pages);
    }

    /// Forgets the pages that wait.
    pub(super) fn forget(&mut self) {
        self.read.retain(|_| false);
    }

    /// The last pages of a block wait for those of the next.
    pub(super) fn leave_unfinished(&mut self, block: BlockId, needed_by: Source) {
        self.unfinished.push((block, needed_by));
    }

    /// A page was read, and waits in the buffer.
    pub(super) fn keep(&mut self, from: Ppn, to: StreamId, data: D) {
        self.read.push(from, (to, data));
    }

    /// Brings pages of one stream to the front, as many as a command programs. The stream is
    /// the first with that number. Without one, it is that of a page that `first` accepts, or of any.
    /// Returns it with their number.
    fn bring_forward(&mut self, unit: u32, first: impl Fn(Ppn) -> bool) -> Option<(StreamId, u32)> {
        let mut streams = [0; 256];
        let mut full = None;
        for (_, (stream, _)) in self.read.entries() {
            streams[stream.index()] += 1;
            if streams[stream.index()] == unit {
                full = Some(*stream);
                break;
            }
        }
        let of = |(_, (stream, _)): &(Ppn, (StreamId, D))| *stream;
        let stream = full
            .or_else(|| self.read.entries().find(|(from, _)| first(*from)).map(of))
            .or_else(|| self.read.entries().next().map(of))?;
        let pages = streams[stream.index()];
        self.read.bring_forward(pages, |(to, _)| *to == stream);
        Some((stream, pages))
    }

    /// Waiting pages make way for a page that is programmed by itself.
    fn set_apart(&mut self) {
        std::mem::swap(&mut self.read, &mut self.apart);
    }

    /// The waiting pages return, ahead of the pages that were not programmed.
    fn put_back(&mut self) {
        std::mem::swap(&mut self.read, &mut self.apart);
        self.read.append(&mut self.apart);
    }

    /// The slot that the `nth` page being programmed came from.
    pub(super) fn came_from(&self, nth: u32) -> Option<Ppn> {
        self.flushed.get(nth as usize).map(|(_, from, _)| *from)
    }
}

impl Leaving {
    /// Whether a slot is among those to move.
    fn has(&self, slot: u32) -> bool {
        match &self.pages {
            Pages::All => true,
            Pages::Some(list) => list.binary_search(&slot).is_ok(),
        }
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Begins to read the slots of a page that leave, from the first of them on: one sensing in
    /// each plane of the block.
    #[inline(always)] // every page that moves comes by
    pub(super) fn read_page(&mut self, id: JobId, block: BlockId, slot: u32, to: Dest) -> Next {
        let several = self.space.unit() > 1;
        let first = self.space.geometry.ppn(block, slot);
        let slots = if several { self.leaving_slots(id, block, slot) } else { Slots::one(first) };
        if self.has_pace(id) && self.is_ahead(id, slots.count()) {
            return Next::Yield;
        }
        if self.answers.caches && self.gives_turn(id) {
            return Next::Turn;
        }
        if self.jobs.copyback.is_some() {
            self.decide_copyback(id, first, slots.count());
        }
        let next = self.read_slots(id, slots, After::Read { to });
        if several && next == Next::Start {
            self.go_past_page(id, block, slot);
        }
        next
    }

    /// The slots of a page that leave; `slot` is the first of them.
    #[inline(never)]
    fn leaving_slots(&mut self, id: JobId, block: BlockId, slot: u32) -> Slots {
        let end = self.end_of_page(slot);
        let Some(pages) = self.jobs.get_mut(id).task.pages() else {
            unreachable!("a job that empties a block has pages")
        };
        let leaves = |s: &u32| self.map.is_valid(block, *s) && pages.has(*s);
        let slots = (slot..end).filter(leaves).fold(0_u64, |all, s| all | 1 << (s - slot));
        Slots::of_page(self.space.geometry.ppn(block, slot), slots)
    }

    /// The page of a slot is being read: the cursor moves past it.
    #[inline(never)]
    fn go_past_page(&mut self, id: JobId, block: BlockId, slot: u32) {
        let end = self.end_of_page(slot);
        self.map.prefetch_owners(block, slot + AHEAD..end + AHEAD);
        if let Some(pages) = self.jobs.get_mut(id).task.pages() {
            pages.cursor = end;
        }
    }

    /// The first slot behind the page in which a slot lies.
    fn end_of_page(&self, slot: u32) -> u32 {
        let row = self.space.geometry.slots_per_page();
        slot - slot % row + row
    }

    /// Slots of a page have been read. They are programmed, if that is enough for a command. `None`: the task
    /// goes on.
    pub(super) fn page_read(
        &mut self,
        id: JobId,
        slots: Slots,
        to: Dest,
        now: Time,
    ) -> Option<Next> {
        let from = slots.first;
        let copyback = self.jobs.copyback.is_some() && self.jobs.get(id).copyback;
        let sorts = self.answers.separation.asks_moves;
        if copyback {
            self.jobs.get_mut(id).buffer.set_apart();
        }
        for ppn in slots.iter() {
            let stream = if sorts { self.sorted_slot(id, ppn, to, now) } else { StreamId::GC };
            let job = self.jobs.get_mut(id);
            let data = self.space.read(ppn, job.tag.source);
            job.buffer.keep(ppn, stream, data);
        }
        self.unpin(from);
        let next = self.program_buffered(id, to, false, now);
        if !copyback {
            return next;
        }
        self.jobs.get_mut(id).buffer.put_back();
        if next != Some(Next::Start) {
            self.note_data_out(id);
            return next;
        }
        let slots = self.jobs.get(id).operation.slots.expect("a program has its slots");
        self.note_copyback(id, from, slots.first);
        Some(self.program(id, slots))
    }

    /// The stream of a page that was read. One that the host has written meanwhile goes nowhere.
    #[cold]
    fn sorted_slot(&mut self, id: JobId, ppn: Ppn, to: Dest, now: Time) -> StreamId {
        let tag = self.jobs.get(id).tag;
        let (block, slot) = self.space.geometry.split(ppn);
        let lpn = self.map.owner(ppn).filter(|_| self.map.is_valid(block, slot));
        lpn.map_or(to, |lpn| self.sorted(lpn, to, tag, now)).stream()
    }

    /// Programs the waiting pages, if they are enough for a command or the `last`. Pages that the
    /// host wrote meanwhile are dropped. `None`: the task continues.
    pub(super) fn program_buffered(
        &mut self,
        id: JobId,
        to: Dest,
        last: bool,
        now: Time,
    ) -> Option<Next> {
        let (job, unit) = (self.jobs.get_mut(id), self.space.unit());
        if !job.buffer.read.fills(unit) && !last {
            return None;
        }
        let (tag, plane) = (job.tag, job.plane);
        self.drop_stale(id);
        let (mut sorted, mut pages) = (to, unit);
        if self.answers.separation.sorts(to) {
            let geometry = self.space.geometry;
            let victim = self.jobs.get_mut(id).victim(&geometry);
            let first = |from| victim == Some(geometry.superblock_of(geometry.block_of(from)));
            let (stream, found) = self.jobs.get_mut(id).buffer.bring_forward(unit, first)?;
            if found < unit && !last {
                return None;
            }
            (sorted, pages) = (Dest::Stream(stream), found);
        }
        let read = &self.jobs.get(id).buffer.read;
        let first = read.pages().next().filter(|_| last || read.fills(unit))?;
        let first = self.map.owner(first).expect("a valid slot has an owner");
        let Some(to_ppn) = self.place_move(plane, first, sorted, tag, now) else {
            return self.without_slots(id, to);
        };
        let buffer = &mut self.jobs.get_mut(id).buffer;
        let (mut read, mut flushed) =
            (std::mem::take(&mut buffer.read), std::mem::take(&mut buffer.flushed));
        for (i, (from, (_, data))) in (0..).zip(read.take(pages)) {
            let lpn = self.map.owner(from).expect("a valid slot has an owner");
            self.commit_move(lpn, from, Ppn::from_u32(to_ppn.as_u32() + i), tag, now);
            flushed.push((lpn, from, data));
        }
        let slots = Slots::run(to_ppn, flushed.len() as u32);
        let job = self.jobs.get_mut(id);
        (job.buffer.read, job.buffer.flushed) = (read, flushed);
        job.after = After::Written;
        Some(self.program(id, slots))
    }

    /// All leaving pages of a block have been read. `None`: the task goes on.
    pub(super) fn leave(
        &mut self,
        id: JobId,
        block: BlockId,
        to: Dest,
        then: Then,
        now: Time,
    ) -> Option<Next> {
        self.drop_stale(id);
        let job = self.jobs.get_mut(id);
        if job.buffer.is_empty() {
            return self.emptied(id, block, then, now);
        }
        if self.answers.separation.sorts(to)
            && let ControlFlow::Break(next) = self.leave_sorted(id, block, to, then, now)
        {
            return next;
        }
        let job = self.jobs.get_mut(id);
        let (Task::Collect(collect), Then::Erase(needed_by)) = (&mut job.task, then) else {
            return self.program_buffered(id, to, true, now);
        };
        *collect = Collect::Choose;
        job.buffer.leave_unfinished(self.space.geometry.superblock_of(block), needed_by);
        None
    }

    /// All pages of a block have been read that leave it, and go to several streams. Whole program units
    /// are programmed first. The rest waits for pages of the next victim, unless this block is needed to
    /// have enough free ones. `Continue`: it waits.
    #[cold]
    fn leave_sorted(
        &mut self,
        id: JobId,
        block: BlockId,
        to: Dest,
        then: Then,
        now: Time,
    ) -> ControlFlow<Option<Next>> {
        let job = self.jobs.get(id);
        if job.buffer.waiting() >= self.space.unit() as usize {
            return ControlFlow::Break(self.program_buffered(id, to, false, now));
        }
        let plane = job.plane;
        if !self.has_waiting(id, self.space.geometry.superblock_of(block)) {
            return ControlFlow::Break(self.emptied(id, block, then, now));
        }
        if self.needs_victim_back(plane) {
            return ControlFlow::Break(self.program_buffered(id, to, true, now));
        }
        ControlFlow::Continue(())
    }

    /// Whether pages of a victim wait in the buffer. If all go to one stream, any do.
    pub(super) fn has_waiting(&self, id: JobId, superblock: BlockId) -> bool {
        let (geometry, read) = (&self.space.geometry, &self.jobs.get(id).buffer.read);
        if !self.answers.separation.asks_moves {
            return !read.is_empty();
        }
        read.pages().any(|from| geometry.superblock_of(geometry.block_of(from)) == superblock)
    }

    /// Whether collection has so few free blocks left that the last pages of a victim cannot wait for those
    /// of the next: they could need a block each.
    pub(super) fn needs_victim_back(&self, plane: PlaneId) -> bool {
        self.answers.separation.asks_moves
            && self.space.free_blocks(plane) < self.space.demands.reserve
    }

    /// Drops the pages that the host has written meanwhile.
    pub(super) fn drop_stale(&mut self, id: JobId) {
        let (geometry, map) = (self.space.geometry, &self.map);
        let dropped = self.jobs.get_mut(id).buffer.read.retain(|from| {
            let (block, slot) = geometry.split(from);
            map.is_valid(block, slot)
        });
        self.jobs.counts.dropped += dropped;
    }

    /// Erases a block that is owed and whose pages have all left. `None`: there is none.
    #[cold]
    pub(super) fn free_owed(&mut self, id: JobId) -> Option<Next> {
        self.drop_stale(id);
        let geometry = self.space.geometry;
        let buffer = &mut self.jobs.get_mut(id).buffer;
        let of = |from| geometry.superblock_of(geometry.block_of(from));
        let waits = |block| buffer.read.pages().any(|from| of(from) == block);
        let at = buffer.unfinished.iter().position(|(block, _)| !waits(*block))?;
        let (block, needed_by) = buffer.unfinished[at];
        if !geometry.superblocks().are_blocks() {
            buffer.unfinished.remove(at);
            return Some(self.erase_superblock(id, block, needed_by));
        }
        if self.space.blocks.pins(block) > 0 {
            return Some(self.jobs.park(id, JobCondition::Pins(block)));
        }
        buffer.unfinished.remove(at);
        Some(self.erase(id, block, needed_by))
    }

    /// No block is owed any more, and the next victim has begun to leave. Returns whether that goes
    /// on: it does not if enough blocks are free without it.
    #[cold]
    pub(super) fn goes_on(&mut self, id: JobId, now: Time) -> Option<Next> {
        self.jobs.get_mut(id).after = After::Nothing;
        if self.goes_on_with_victim(id) {
            return Some(self.give_way(id));
        }
        let job = self.jobs.get_mut(id);
        let plane = job.plane;
        if let Task::Collect(collect) = &mut job.task
            && let Collect::Empty(Leaving { block, .. }) =
                std::mem::replace(collect, Collect::Choose)
        {
            self.give_back(block);
            self.plan_pace(plane);
            self.ask_at_limit(block, now);
        }
        None
    }

    /// There is no next victim for the last pages of a block: they are programmed as they are.
    pub(super) fn pad_buffered(&mut self, id: JobId, now: Time) -> Option<Next> {
        self.program_buffered(id, Dest::MOVES, true, now)
    }

    /// A command of the job has been programmed.
    pub(super) fn written(&mut self, id: JobId, to: Ppn, now: Time) {
        let job = self.jobs.get_mut(id);
        job.after = After::Nothing;
        let (tag, mut flushed) = (job.tag, std::mem::take(&mut job.buffer.flushed));
        self.jobs.counts.moved[tag.source] += flushed.len() as u64;
        if self.answers.separation.counts {
            for (_, from, _) in &flushed {
                self.count_moved(*from, to);
            }
        }
        self.space.pad(self.space.geometry.block_of(to), flushed.len() as u32, tag.source);
        self.unit_done(to, flushed.drain(..).map(|(lpn, _, data)| (lpn, data)), tag, now);
        self.jobs.get_mut(id).buffer.flushed = flushed;
    }

    /// There are no slots for the waiting pages. `None`: they are dropped.
    #[cold]
    pub(super) fn without_slots(&mut self, id: JobId, to: Dest) -> Option<Next> {
        if self.is_short(id) {
            return None;
        }
        let geometry = self.space.geometry;
        let job = self.jobs.get_mut(id);
        let plane = job.plane;
        job.after = After::Nothing;
        let mut given_back = None;
        match &mut job.task {
            Task::Collect(_) => job.after = After::Place { to },
            // The block may be erased meanwhile, so the pages read from it are dropped.
            Task::Plan(run) => {
                let first = job.buffer.read.pages().map(|from| geometry.split(from).1).min();
                job.buffer.read.retain(|_| false);
                match &mut run.at {
                    PlanStage::Pages(Leaving { then: Then::Stay, cursor, .. }) => {
                        *cursor = first.unwrap_or(*cursor);
                    }
                    PlanStage::Pages(Leaving { block, dest, .. }) => {
                        given_back = Some(*block);
                        run.at = PlanStage::Retake(*block, *dest);
                    }
                    PlanStage::Lead => {
                        let lead = job.crew.lead().expect("it leads a crew");
                        given_back = Some(lead.superblock);
                        run.at = PlanStage::Retake(lead.superblock, lead.dest);
                    }
                    _ => {}
                }
            }
            Task::Rewrite(_) => {
                self.jobs.counts.dropped += job.buffer.read.retain(|_| false);
                return None;
            }
            Task::Program | Task::Erase | Task::Parity => unreachable!("it reads no pages"),
        }
        // The space that it waits for may lie in the block that it empties, so garbage collection
        // must be able to reach that block.
        if let Some(block) = given_back {
            self.give_back(block);
        }
        Some(self.jobs.park(id, self.space_in(plane)))
    }

    /// Writes pages anew, as many as a command programs, if the policy wants that many.
    pub(super) fn rewrite(&mut self, id: JobId, next: Option<Lpn>, now: Time) -> Option<Next> {
        let job = self.jobs.get(id);
        let (home, begun) = (job.home, !job.buffer.is_empty());
        let mut next = next;
        while begun && next.is_none_or(|lpn| self.is_loaded(id, lpn)) {
            let view = FtlView::of(&self.space, &self.map, &self.reads);
            next = self.policies.cost.rewrite(home, &view);
            if next.is_none() {
                break;
            }
        }
        self.jobs.get_mut(id).task = Task::Rewrite(next);
        let to = Dest::Stream(StreamId::HOST);
        let Some(from) = next.and_then(|lpn| self.find(lpn)) else {
            return if begun { self.program_buffered(id, to, true, now) } else { Some(Next::Done) };
        };
        let next = self.read_slots(id, Slots::one(from), After::Read { to });
        if next != Next::Wait {
            self.jobs.get_mut(id).task = Task::Rewrite(None);
        }
        Some(next)
    }

    /// Whether a page waits in the job's buffer. A policy may request a page again before it is
    /// written.
    fn is_loaded(&self, id: JobId, lpn: Lpn) -> bool {
        let read = &self.jobs.get(id).buffer.read;
        self.map.lookup(lpn).is_some_and(|at| read.has(at))
    }
}

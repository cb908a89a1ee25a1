//! The FTL: host reads, writes and trims, and the state that jobs work on.

use crate::job::{Jobs, WaitFor};
use crate::map::{Lpn, Map};
use crate::plane::{Planes, RESERVE};
use crate::policy::{
    Access, AccessKind, Coding, Cost, Follow, FreePick, Interests, Kit, NextLife, Order,
    PageChoice, Pick, Placement, Plan, PlanFamily, Policies, Pool, ReadDisturb, Role, StreamId,
    StreamSpec, Watch, Wear, WriteCtx,
};
use crate::view::Load;
use crate::{Blocks, JobId, Levels, State};
use kernel::{BitSet, Idx, IndexVec, Prio, Rng, Time};
use nand::{
    Array, BlockId, BySource, DieId, Geometry, Layouts, Level, Mode, PageRange, PlaneId, Ppn,
    Source, Store, Tag,
};
use std::collections::VecDeque;

/// The read-only view of the whole FTL, borrowed field by field so that a policy beside it can be
/// borrowed mutably.
macro_rules! ftl_view {
    ($ftl:expr) => {
        $crate::view::FtlView {
            geometry: &$ftl.geometry,
            layouts: &$ftl.layouts,
            map: &$ftl.map,
            blocks: &$ftl.blocks,
            modes: $ftl.array.modes(),
            erases: $ftl.array.erases(),
            wear: $ftl.array.wear(),
            reads: &$ftl.reads,
        }
    };
}
pub(crate) use ftl_view;

/// When garbage collection starts and stops, in free blocks of a plane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GcMarks {
    /// Starts when fewer are free.
    pub start: u32,
    /// Stops when this many are free.
    pub stop: u32,
    /// Goes on in idle time until this many are free; 0: never works in idle time.
    pub background_stop: u32,
}

/// What a drive's FTL is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The array.
    pub geometry: Geometry,
    /// Where slots lie in each mode.
    pub layouts: Layouts,
    /// Exported pages.
    pub logical_pages: u32,
    /// When garbage collection starts and stops.
    pub gc: GcMarks,
    /// Effective P/E cycles after which a block is retired; 0: never.
    pub endurance: u32,
    /// The seed of the run.
    pub seed: u64,
}

impl Config {
    /// Physical pages that a drive needs beside its data: in each plane the free blocks at which
    /// garbage collection stops, and an open block each for the host and for moved data. With
    /// fewer, reclaiming may find nothing to gain anywhere.
    pub fn spare_needed(&self) -> u64 {
        let blocks = u64::from(self.gc.stop + 2) * self.geometry.planes() as u64;
        blocks * u64::from(self.geometry.pages_per_block())
    }
}

/// No plane that may take the page has room; it must wait until [`Ftl::take_freed`] says so.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NoSpace;

/// What the FTL has done so far. Pages, except erases: blocks.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Slots read, by source.
    pub read: BySource<u64>,
    /// Slots programmed, by source.
    pub program: BySource<u64>,
    /// Blocks erased, by source.
    pub erase: BySource<u64>,
    /// Erases by garbage collection, by who needed the space.
    pub gc_erase_by_demand: BySource<u64>,
    /// Pages moved (map changes that were no host write), by source.
    pub moved: BySource<u64>,
    /// Host pages given a slot.
    pub host_pages: u64,
    /// Blocks reprogrammed in place.
    pub reprogram: u64,
    /// Blocks that began a second generation instead of being erased.
    pub second_lives: u64,
    /// Slots passed over by the page-choice policy.
    pub skipped: u64,
    /// Copies dropped because the page had changed meanwhile.
    pub dropped: u64,
    /// Times a plane had to be reclaimed and had nothing to gain.
    pub starved: u64,
    /// Blocks retired at the end of their life.
    pub retired: u64,
    /// Victims chosen in the policy's place, after it found nothing but full blocks.
    pub overridden: u64,
}

/// The interests of each family that is asked apart, and of all together.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Interest {
    pub(crate) all: Interests,
    pub(crate) cost: Interests,
    pub(crate) read_disturb: Interests,
}

/// A flash translation layer with its flash array.
pub struct Ftl<K: Kit> {
    pub(crate) config: Config,
    pub(crate) geometry: Geometry,
    pub(crate) layouts: Layouts,
    pub(crate) map: Map,
    pub(crate) blocks: Blocks,
    pub(crate) planes: Planes,
    pub(crate) streams: Vec<StreamSpec>,
    pub(crate) array: Array<K::Store>,
    /// The policies in charge.
    pub policies: Policies<K>,
    pub(crate) interests: Interest,
    pub(crate) jobs: Jobs<<K::Store as Store>::Page>,
    pub(crate) ready: VecDeque<JobId>,
    pub(crate) promoted: Vec<JobId>,
    pub(crate) waiting: Vec<(JobId, WaitFor)>,
    pub(crate) idle_jobs: IndexVec<DieId, VecDeque<JobId>>,
    pub(crate) idle_jobs_total: usize,
    pub(crate) idle_interest: bool,
    pub(crate) wear_active: bool,
    /// Every block is in full mode and pages are taken in order: slots are pages.
    pub(crate) plain: bool,
    pub(crate) coding_plain: bool,
    in_order: bool,
    /// High-priority writes have a stream of their own.
    priority: bool,
    constant: Option<Level>,
    levels: Option<Levels>,
    /// Reads of each block since its last erase; empty when nobody counts.
    pub(crate) reads: Vec<u32>,
    writable: BitSet,
    /// The most slots that a block has or had: what the valid pages of a victim may need.
    pub(crate) widest: u32,
    pub(crate) freed: bool,
    pub(crate) starved_planes: u32,
    pub(crate) fruitless: u32,
    /// The run has begun: wear counts, and blocks retire.
    pub(crate) ages: bool,
    worn_out: bool,
    pub(crate) rng: Rng,
    /// A plan's memory, used again and again.
    pub(crate) plan: Plan,
    pub(crate) counts: Counts,
}

impl<K: Kit> Ftl<K> {
    /// An empty drive.
    pub fn new(config: Config, mut policies: Policies<K>) -> Self {
        let geometry = config.geometry;
        policies.each(|w| w.attach(&geometry, config.logical_pages));
        let mut streams = vec![StreamSpec::REGULAR; StreamId::BUILT_IN];
        streams[StreamId::WEAR.index()].pick = FreePick::MostWorn;
        streams[StreamId::HOST_HIGH.index()].fallback = Some(StreamId::HOST);
        streams.extend(policies.read_disturb.streams());
        let interests = Interest {
            all: policies.interests(),
            cost: policies.cost.interests(),
            read_disturb: policies.read_disturb.interests(),
        };
        let mut array = Array::new(geometry, config.layouts.clone());
        let coding_plain = policies.coding.plain();
        if !coding_plain {
            for b in (0..geometry.blocks() as u32).map(BlockId::from_u32) {
                array.set_mode(b, policies.coding.first_life(b));
            }
        }
        let plain = coding_plain && streams.iter().all(|s| s.mode == Mode::Full);
        assert!(K::SLOTS || plain, "this kit has plain blocks only");
        let constant = policies.cost.constant();
        let levels =
            constant.is_none().then(|| Levels::new(geometry.pages(), policies.cost.initial()));
        assert!(K::LEVELS || levels.is_none(), "this kit has one cost level only");
        let counting = interests.read_disturb.has(Interests::READ);
        assert!(K::READS || !counting, "this kit does not count reads");
        let widest = array.modes().as_slice().iter().map(|m| config.layouts.slots(*m)).max();
        let mut ftl = Self {
            geometry,
            layouts: config.layouts.clone(),
            map: Map::new(&geometry, config.logical_pages),
            blocks: Blocks::new(&geometry),
            planes: Planes::new(&geometry, streams.len()),
            streams,
            array,
            interests,
            jobs: Jobs::new(),
            ready: VecDeque::new(),
            promoted: Vec::new(),
            waiting: Vec::new(),
            idle_jobs: IndexVec::filled(VecDeque::new(), geometry.dies()),
            idle_jobs_total: 0,
            idle_interest: interests.cost.has(Interests::IDLE) || config.gc.background_stop > 0,
            wear_active: policies.wear.active(),
            plain,
            coding_plain,
            in_order: policies.page_choice.in_order(),
            priority: policies.order.uses_priority(),
            constant,
            levels,
            reads: if counting { vec![0; geometry.blocks()] } else { Vec::new() },
            writable: BitSet::new(geometry.planes()),
            widest: widest.expect("a drive has blocks"),
            freed: false,
            starved_planes: 0,
            fruitless: 0,
            ages: false,
            worn_out: false,
            rng: Rng::named(config.seed, "ftl/victim"),
            plan: Plan::default(),
            counts: Counts::default(),
            policies,
            config,
        };
        (0..geometry.planes()).for_each(|p| ftl.update_writable(PlaneId::new(p)));
        ftl
    }

    // ── The host's side ─────────────────────────────────────────────────────────────────────────

    /// Gives a host write its slot and points the map there. The caller programs the slot and then
    /// calls [`Ftl::program_done`].
    #[inline]
    pub fn write(
        &mut self,
        lpn: Lpn,
        prio: Prio,
        waiting: &IndexVec<DieId, u32>,
        idle: &BitSet,
        now: Time,
    ) -> Result<Ppn, NoSpace> {
        let load = Load { geometry: &self.geometry, writable: &self.writable, waiting, idle };
        let dest = self.policies.placement.place(&load, lpn, prio).ok_or(NoSpace)?;
        let tag = Tag { source: Source::Host, demand: Source::Host, prio };
        let urgent = self.priority && prio == Prio::High && dest.stream == StreamId::HOST;
        let stream = if urgent { StreamId::HOST_HIGH } else { dest.stream };
        let (ppn, block, slot) = self.allocate(dest.plane, stream, lpn, tag, now).ok_or(NoSpace)?;
        self.counts.host_pages += 1;
        self.bind_host(lpn, ppn, block, slot, now);
        Ok(ppn)
    }

    /// Gives a page its slot in a plane of the placement's choosing, regardless of load, and
    /// programs it at once: filling and ageing.
    #[inline]
    pub fn write_now(&mut self, lpn: Lpn, data: <K::Store as Store>::Page, now: Time) -> bool {
        debug_assert!(K::Store::is_of(data, lpn.as_u32()), "data of another page");
        let home = self.policies.placement.spread(lpn);
        let free = self.policies.placement.is_free();
        let planes = self.geometry.planes() as u32;
        let tag = Tag::of(Source::Host);
        for d in 0..if free { planes } else { 1 } {
            let mut plane = home.as_u32() + d;
            if plane >= planes {
                plane -= planes;
            }
            let plane = PlaneId::from_u32(plane);
            if let Some((ppn, block, slot)) = self.allocate(plane, StreamId::HOST, lpn, tag, now) {
                self.counts.host_pages += 1;
                self.bind_host(lpn, ppn, block, slot, now);
                self.program_done(lpn, ppn, data, tag, now);
                if self.has_ready() {
                    self.settle(now);
                }
                return true;
            }
        }
        false
    }

    /// Where a logical page lies; its block is not erased before [`Ftl::read_done`].
    #[inline]
    pub fn read(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.map.lookup(lpn)?;
        self.blocks.pin(self.geometry.block_of(ppn));
        Some(ppn)
    }

    /// The read of a host page is done; returns what the cells hold.
    #[inline]
    pub fn read_done(&mut self, ppn: Ppn, now: Time) -> <K::Store as Store>::Page {
        let data = self.array.read(ppn);
        self.counts.read[Source::Host] += 1;
        self.unpin(ppn);
        if K::READS && !self.reads.is_empty() {
            self.count_read(ppn, now);
        }
        data
    }

    /// A flash read of a page that the map does not know (`unmapped-read = "flash"`).
    pub fn unmapped_read_done(&mut self) {
        self.counts.read[Source::Host] += 1;
    }

    /// Deallocates a logical page; whether it was mapped.
    pub fn trim(&mut self, lpn: Lpn, now: Time) -> bool {
        let Some(old) = self.map.unbind(lpn) else { return false };
        self.drop_copy(old, now);
        true
    }

    /// A slot has been programmed.
    #[inline]
    pub fn program_done(
        &mut self,
        lpn: Lpn,
        ppn: Ppn,
        data: <K::Store as Store>::Page,
        tag: Tag,
        now: Time,
    ) {
        if K::SLOTS && !self.plain {
            self.array.program_slot(ppn, data);
        } else {
            self.array.program(ppn, data);
        }
        self.counts.program[tag.source] += 1;
        let block = self.geometry.block_of(ppn);
        if self.blocks.state(block) == State::Full
            && self.array.next_page(block) >= self.blocks.written(block)
        {
            self.close(block, now);
        }
        if !self.waiting.is_empty() {
            self.wake(|w| w == WaitFor::Program(block));
        }
        if K::WATCH && self.interests.all.has(Interests::PROGRAM) {
            self.watch_program(lpn, ppn, tag, now);
        }
    }

    /// A host access, in order of arrival: for policies that watch.
    #[inline]
    pub fn host_access(&mut self, access: &Access) {
        if K::WATCH && self.interests.all.has(Interests::ACCESS) {
            self.watch_access(access);
        }
    }

    /// Tells the policies what happened. Cold, so that a drive on which nobody watches has one
    /// test here and no code.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&mut self, what: &mut dyn FnMut(&mut dyn Watch)) {
        self.policies.each(what);
    }

    #[cold]
    #[inline(never)]
    fn watch_program(&mut self, lpn: Lpn, ppn: Ppn, tag: Tag, now: Time) {
        let level = self.level_of(ppn);
        self.policies.each(|w| w.on_program(lpn, ppn, level, tag, now));
    }

    #[cold]
    #[inline(never)]
    fn watch_access(&mut self, access: &Access) {
        self.policies.each(|w| w.on_access(access));
        let stored = self.map.lookup(access.lpn).map(|ppn| self.level_of(ppn));
        let follow = self.policies.cost.follow(access, stored);
        // A re-write waits in the policy's own queue until a die is idle.
        debug_assert!(follow == Follow::Nothing || access.kind == AccessKind::Read);
    }

    // ── Levels ──────────────────────────────────────────────────────────────────────────────────

    /// The level at which a slot was programmed.
    #[inline]
    pub fn level_of(&self, ppn: Ppn) -> Level {
        if let Some(level) = self.constant {
            return level;
        }
        self.levels.as_ref().expect("levels vary, so there is a column").get(ppn)
    }

    /// The level of data that was there before the run.
    pub fn initial_level(&self) -> Level {
        self.policies.cost.initial()
    }

    /// Decides the level of a program when it is dispatched, and remembers it. `circumstances` is
    /// only evaluated if levels vary.
    #[inline]
    pub fn decide_level(&mut self, ppn: Ppn, circumstances: impl FnOnce() -> WriteCtx) -> Level {
        if let Some(level) = self.constant {
            return level;
        }
        let level = self.policies.cost.level(&circumstances());
        if let Some(levels) = &mut self.levels {
            levels.set(ppn, level);
        }
        level
    }

    // ── Slots ───────────────────────────────────────────────────────────────────────────────────

    /// The pages that programming a slot writes.
    #[inline]
    pub fn program_pages(&self, ppn: Ppn) -> PageRange {
        let (block, slot) = self.geometry.split(ppn);
        if !K::SLOTS || self.plain {
            return PageRange { first: slot, count: 1 };
        }
        self.layouts.program(self.array.mode(block), slot)
    }

    /// The pages that reading a slot senses.
    #[inline]
    pub fn read_pages(&self, ppn: Ppn) -> PageRange {
        let (block, slot) = self.geometry.split(ppn);
        if !K::SLOTS || self.plain {
            return PageRange { first: slot, count: 1 };
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
        if !K::SLOTS || self.plain {
            let pages = self.geometry.pages_per_block();
            return (next < pages).then_some((next, next + 1 == pages));
        }
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
        let block = match self.frontier(plane, stream, tag) {
            Some(block) => block,
            None => self.open_frontier(plane, stream, tag)?,
        };
        // Opening may have fallen back to another stream.
        let stream = if K::SLOTS { self.blocks.stream(block) } else { stream };
        let (mut slot, mut last) =
            self.next_slot(block).expect("a frontier has a slot left, or it would not be one");
        if K::SLOTS
            && !self.in_order
            && let Some(elsewhere) = self.choose_page(block, &mut slot, &mut last, lpn, tag, now)
        {
            return self.allocate(plane, elsewhere, lpn, tag, now);
        }
        self.blocks.set_written(block, slot + 1);
        if last {
            self.blocks.set_full(block);
            self.planes.set_frontier(plane, stream, None);
            if stream == StreamId::HOST {
                self.update_writable(plane);
            }
        }
        Some((self.geometry.ppn(block, slot), block, slot))
    }

    #[cold]
    fn choose_page(
        &mut self,
        block: BlockId,
        slot: &mut u32,
        last: &mut bool,
        lpn: Lpn,
        tag: Tag,
        now: Time,
    ) -> Option<StreamId> {
        let w = WriteCtx {
            now,
            lpn,
            tag,
            stored: self.map.lookup(lpn).map(|ppn| self.level_of(ppn)),
            waiting_die: 0,
            waiting_channel: 0,
            waiting_device: 0,
        };
        let view = ftl_view!(self);
        let picked = match self.policies.page_choice.pick(&view, block, *slot, &w) {
            Pick::Elsewhere(stream) => return Some(stream),
            Pick::Slot(picked) => picked,
        };
        let mode = self.array.mode(block);
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
        None
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
        if K::SLOTS && spec.mode != Mode::Full && self.array.mode(block) == Mode::Full {
            self.array.set_mode(block, spec.mode);
        }
        if self.is_short(plane, self.config.gc.start) {
            self.request_gc(plane, tag.demand);
        }
        self.update_writable(plane);
        if K::WATCH && self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_open(block, stream, spec.role));
        }
        Some(block)
    }

    /// A block's last program is done: it may be reclaimed from now on.
    pub(crate) fn close(&mut self, block: BlockId, now: Time) {
        let lost = if !K::SLOTS || (self.plain && self.coding_plain) {
            0
        } else {
            let next = match self.next_life(block) {
                NextLife::Erase(mode) => mode,
                NextLife::SecondGeneration => Mode::Wom2,
            };
            self.geometry.pages_per_block() - self.layouts.slots(next)
        };
        self.blocks.close(block, lost);
        if self.starved_planes > 0 {
            self.feed(block);
        }
        if K::WATCH && self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_close(block, now));
        }
    }

    // ── The map ─────────────────────────────────────────────────────────────────────────────────

    #[inline]
    fn bind_host(&mut self, lpn: Lpn, ppn: Ppn, block: BlockId, slot: u32, now: Time) {
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
        if K::WATCH && self.interests.all.has(Interests::MOVE) {
            self.tell(&mut |w| w.on_move(lpn, from, to, tag));
        }
    }

    /// A slot holds a stale copy from now on.
    #[inline]
    fn drop_copy(&mut self, ppn: Ppn, now: Time) {
        let (block, slot) = self.geometry.split(ppn);
        self.map.invalidate(block, slot);
        self.blocks.drop_valid(block);
        if self.starved_planes > 0 {
            self.feed(block);
        }
        if K::WATCH && self.interests.all.has(Interests::INVALIDATE) {
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
            self.request_gc(plane, Source::Host);
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
        if !K::SLOTS || self.plain {
            return free.len() > RESERVE;
        }
        (0..free.len()).any(|at| self.can_lend_at(plane, at))
    }

    /// Whether it may be the block at `at`.
    fn can_lend_at(&self, plane: PlaneId, at: usize) -> bool {
        let free = &self.planes.get(plane).free;
        if !K::SLOTS || self.plain {
            return free.len() > RESERVE;
        }
        self.holds_victim(free.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, b)| *b))
    }

    /// Whether the plane's free blocks have slots for the valid pages of any victim.
    fn reserves(&self, plane: PlaneId) -> bool {
        let free = &self.planes.get(plane).free;
        if !K::SLOTS || self.plain {
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
        self.planes.get(plane).free.len() < mark as usize
            || (K::SLOTS && !self.plain && !self.can_lend(plane))
    }

    /// Whether a block became free since the last call: waiting writes may try again.
    #[inline]
    pub fn take_freed(&mut self) -> bool {
        std::mem::take(&mut self.freed)
    }

    // ── Reads, timers ───────────────────────────────────────────────────────────────────────────

    #[cold]
    fn count_read(&mut self, ppn: Ppn, now: Time) {
        let block = self.geometry.block_of(ppn);
        let count = &mut self.reads[block.as_u32() as usize];
        *count += 1;
        let count = *count;
        let mut plan = std::mem::take(&mut self.plan);
        let view = ftl_view!(self);
        let policy = &mut self.policies.read_disturb;
        if self.blocks.role(block) != Role::REGULAR {
            policy.on_read(&view, ppn, now, &mut plan);
        }
        if policy.limit(self.array.mode(block)) == Some(count) {
            policy.on_limit(&view, block, now, &mut plan);
        }
        self.spawn_plan(PlanFamily::ReadDisturb, &mut plan);
        self.plan = plan;
    }

    /// The earliest time that a policy wants to be woken at.
    pub fn next_timer(&mut self) -> Option<Time> {
        if !K::WATCH || !self.interests.all.has(Interests::TIMER) {
            return None;
        }
        let mut earliest: Option<Time> = None;
        self.policies.each(|w| {
            if let Some(at) = w.next_timer() {
                earliest = Some(earliest.map_or(at, |e| e.min(at)));
            }
        });
        earliest
    }

    /// Wakes the policies whose time has come.
    pub fn on_timer(&mut self, now: Time) {
        let mut plan = std::mem::take(&mut self.plan);
        let view = ftl_view!(self);
        self.policies.each(|w| {
            if w.next_timer().is_some_and(|at| at <= now) {
                w.on_timer(&view, now, &mut plan);
            }
        });
        self.spawn_plan(PlanFamily::ReadDisturb, &mut plan);
        self.plan = plan;
    }

    // ── Looking inside ──────────────────────────────────────────────────────────────────────────

    /// The drive's geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What it was built from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The map.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The block columns.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The flash array.
    pub fn array(&self) -> &Array<K::Store> {
        &self.array
    }

    /// What has been done so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Free blocks of a plane.
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.planes.get(plane).free.len()
    }

    /// Planes with room for a host write.
    pub fn writable(&self) -> &BitSet {
        &self.writable
    }

    /// Jobs that are running or waiting.
    pub fn running_jobs(&self) -> usize {
        self.jobs.running()
    }

    /// Ends preconditioning: its counts and wear are forgotten, and policies start afresh, so that
    /// a run does not depend on whether its first state was computed or loaded.
    pub fn begin_run(&mut self, mut policies: Policies<K>) {
        assert!(self.jobs.running() == 0, "preconditioning left jobs behind");
        policies.each(|w| w.attach(&self.geometry, self.config.logical_pages));
        self.policies = policies;
        self.rng = Rng::named(self.config.seed, "ftl/victim");
        self.counts = Counts::default();
        self.array.reset_wear();
        self.freed = false;
        self.fruitless = 0;
        self.ages = self.config.endurance > 0;
        if let Some(levels) = &mut self.levels {
            *levels = Levels::new(self.geometry.pages(), self.policies.cost.initial());
        }
    }

    /// Whether the block has reached the end of its life; if so it is retired.
    pub(crate) fn retire(&mut self, block: BlockId) -> bool {
        if !self.ages || self.array.wear()[block] < self.config.endurance.saturating_mul(1_000) {
            return false;
        }
        // Garbage collection may just have used the plane's reserve to empty this block. Then the
        // block takes its place for one more life, or the next victim would have nowhere to go.
        if !self.reserves(self.geometry.plane_of(block)) {
            return false;
        }
        self.blocks.set_bad(block);
        self.counts.retired += 1;
        // What a legal drive needs beside its data: see `Config::spare_needed`.
        let good = self.geometry.blocks() as u64 - self.counts.retired;
        let spare = good * u64::from(self.geometry.pages_per_block());
        let needed = u64::from(self.config.logical_pages) + self.config.spare_needed();
        self.worn_out = spare < needed;
        true
    }

    /// So many blocks are retired that the drive cannot hold its data and go on.
    #[inline]
    pub fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    /// The pool that a stream's blocks come from.
    pub fn pool(&self, stream: StreamId) -> Pool {
        self.streams[stream.index()].pool
    }
}

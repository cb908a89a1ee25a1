//! The SLC cache: which writes of the host go there, and when a collector folds its blocks.
//!
//! A write goes to a plane whose cache has room, as long as there is one. Otherwise the policy
//! decides ([`WhenFull`]). The collector of a plane also folds. It moves the pages of a complete
//! block to blocks at full density, as those of a victim, and erases it. One job
//! does both, so the two never share the reserve of collection. It folds
//!
//! * when the plane is short of free blocks and folding a block of the shared pool gains as much as
//!   any victim does,
//! * when the cache cannot open another block, if it folds under pressure,
//! * when a die has nothing else to do, if it folds in idle time.
//!
//! **Turns.** Folding under pressure takes turns with the writes that need its space. When it begins a
//! block, a number of pages is to be moved, and a number of slots is left in the cache. From then on
//! the share of the pages that are still to be moved is at most the share of the slots that are left.
//! If it is larger, folding is *late* and goes first; otherwise the host does. So the rate of writes is
//! even, and the block is free when the last slot is programmed. It takes no turns while anything waits
//! for a block at full density.
//!
//! Before the run nothing is cached: a drive begins as if it had rested until its cache was folded.

use super::job::JobId;
use crate::space::CacheDemand;
use crate::{
    Ftl, FtlView, HostTag, Interests, Load, Lpn, Placement, PlaneView, PolicyTypes, SingleCounts,
    SlcCache, StreamId, StreamSpec, Waiting, WhenFull,
};
use kernel::{BitSet, IndexVec, Prio, Time, TimeSum};
use nand::{BlockId, FlashBlocks, Geometry, Mode, PlaneId, Ppn, Source, Tag};

/// The use of a cache since the run began.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct CacheCounts {
    /// Host pages that were written to the cache.
    pub cached: u64,
    /// Host pages that were not, for want of room.
    pub direct: u64,
    /// How often a write found no room, after one had found some.
    pub filled: u64,
    /// How long the cache had no room, from the first write that found none to the next that found
    /// some.
    pub full: TimeSum,
    /// Superblocks of the cache that were folded, or blocks where each is alone.
    pub folds: u64,
}

/// The block that is being folded in a plane.
#[derive(Copy, Clone)]
struct Folding {
    block: BlockId,
    /// When it began to take turns with the host: the pages to be moved, and the slots left in the
    /// cache. The erase counts as the pages of one program. `None`: it takes no turns.
    turns: Option<(u32, u32)>,
}

/// The SLC cache of a drive.
pub(crate) struct CacheState {
    demand: CacheDemand,
    folding: IndexVec<PlaneId, Option<Folding>>,
    /// Writes go around it until it is empty.
    around: bool,
    /// A write waits for a block at full density.
    awaits: bool,
    /// Since when it has had no room.
    full_since: Option<Time>,
    counts: CacheCounts,
}

/// The place of a write on a drive with a cache.
pub(crate) enum Cached {
    /// Its slots are in the cache.
    Given(Option<(Ppn, BlockId, u32)>),
    /// It is programmed at full density.
    Direct,
}

impl CacheState {
    pub(super) fn new(demand: CacheDemand, planes: usize) -> Self {
        Self {
            demand,
            folding: IndexVec::filled(None, planes),
            around: false,
            awaits: false,
            full_since: None,
            counts: CacheCounts::default(),
        }
    }

    /// Adds the stream of a cache to those of a drive.
    pub(super) fn add_stream(
        policy: &impl SlcCache,
        streams: &mut Vec<StreamSpec>,
        geometry: &Geometry,
        mark: u32,
    ) -> Option<CacheDemand> {
        let spec = policy.cache(geometry)?;
        let pick = streams[StreamId::HOST.index()].pick;
        let stream = StreamId(streams.len() as u8);
        streams.push(StreamSpec { mode: Mode::Slc, pick, ..StreamSpec::REGULAR });
        Some(CacheDemand { spec, stream, mark: mark as usize })
    }

    pub(super) fn begin_run(&mut self) {
        *self = Self::new(self.demand, self.folding.len());
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Whether the drive has a cache.
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// From now on writes go to the cache. A run begins with it ([`Ftl::begin_run`]).
    pub fn use_cache(&mut self) {
        self.answers.caches = self.cache.is_some();
        let Some(cache) = &self.cache else { return };
        self.answers.idle |= cache.demand.spec.fold.idle;
        if cache.demand.spec.fold.pressure {
            self.answers.interests = self.answers.interests.with(Interests::TURNS);
        }
    }

    /// The use of the cache until `now`, and the work on its blocks; `None`: there is none.
    pub fn cache_counts(&self, now: Time) -> Option<(CacheCounts, SingleCounts)> {
        let cache = self.cache.as_ref()?;
        let mut counts = cache.counts;
        if let Some(since) = cache.full_since {
            counts.full += TimeSum::from(now - since);
        }
        Some((counts, *self.space.single_counts()?))
    }

    /// Slots of the cache that data were written to, and all slots for which it has blocks now;
    /// `None`: there is none.
    pub fn cache_fill(&self) -> Option<(u64, u64)> {
        self.space.cache_fill()
    }

    /// Slots of the cache that hold valid pages. Looks at every block.
    pub fn cached_pages(&self) -> u64 {
        self.space.cached_valid()
    }

    /// The source whose work makes space for writes that wait for some.
    pub fn makes_space(&self) -> Source {
        let waits = |cache: &CacheState| cache.demand.spec.full == WhenFull::Wait;
        if self.cache.as_deref().is_some_and(waits) { Source::Fold } else { Source::Gc }
    }

    /// A write of the host asks for slots on a drive with a cache.
    #[cold]
    #[inline(never)]
    pub(super) fn place_cached(
        &mut self,
        (lpn, pages): (Lpn, u32),
        host: HostTag,
        waiting: &Waiting,
        idle: &BitSet,
        now: Time,
    ) -> Cached {
        let Some(cache) = &mut self.cache else { return Cached::Direct };
        let CacheDemand { stream, spec, .. } = cache.demand;
        if cache.around && self.space.cache_is_empty() {
            cache.around = false;
        }
        let prio = host.prio;
        if !cache.around
            && let Some(writable) = self.space.cache_writable()
        {
            let geometry = &self.space.geometry;
            let load = Load { geometry, writable, waiting, idle };
            if let Some(plane) = self.policies.placement.place(&load, lpn, prio) {
                let plane = self.space.geometry.superblocks().set_of(plane);
                let tag = Tag { prio, ..Tag::of(Source::Host) };
                let given = self.allocate(plane, stream, lpn, tag, now);
                assert!(given.is_some(), "plane {plane} was noted to have room in its cache");
                if let Some(cache) = &mut self.cache {
                    cache.counts.cached += u64::from(pages);
                    if let Some(since) = cache.full_since.take() {
                        cache.counts.full += TimeSum::from(now - since);
                    }
                }
                return Cached::Given(given);
            }
        }
        let Some(cache) = &mut self.cache else { return Cached::Direct };
        if cache.full_since.is_none() {
            cache.full_since = Some(now);
            cache.counts.filled += 1;
        }
        match spec.full {
            WhenFull::Direct => Cached::Direct,
            WhenFull::Around => {
                cache.around = true;
                Cached::Direct
            }
            WhenFull::Wait if self.is_lost_to((lpn, prio), waiting, idle) => Cached::Direct,
            WhenFull::Wait => {
                self.jobs.await_space(None);
                Cached::Given(None)
            }
        }
    }

    /// Whether no plane that may take a page will ever have room in the cache: its blocks there are
    /// retired.
    fn is_lost_to(&mut self, (lpn, prio): (Lpn, Prio), waiting: &Waiting, idle: &BitSet) -> bool {
        if self.space.counts.retired == FlashBlocks::ZERO {
            return false;
        }
        let writable = &self.space.planes_with_cache();
        let geometry = &self.space.geometry;
        let load = Load { geometry, writable, waiting, idle };
        self.policies.placement.place(&load, lpn, prio).is_none()
    }

    /// Pages of the host were programmed at full density on a drive with a cache.
    #[cold]
    pub(super) fn note_direct(&mut self, pages: u32) {
        if let Some(cache) = &mut self.cache {
            cache.counts.direct += u64::from(pages);
        }
    }

    /// A block of the cache has been opened or is complete: the plane folds, if the cache cannot open
    /// another one.
    #[cold]
    pub(crate) fn fold_if_full(&mut self, plane: PlaneId, prio: Prio) {
        if !self.presses() || self.space.can_cache_more(plane) {
            return;
        }
        if self.folding(plane).is_some() {
            self.take_turns(plane);
        } else if self.space.has_to_fold(plane) {
            self.jobs.collect(plane, Source::Fold, prio);
        }
    }

    /// A block of the cache is complete. A plane that searched for a victim in vain may have one.
    #[cold]
    pub(crate) fn note_cached(&mut self, block: BlockId) {
        let plane = self.space.set_of(block);
        if !self.space.is_own(block) && self.space.forget_no_victim(plane) {
            self.collect_if_short(plane, Source::Host, Prio::Normal);
        }
        self.fold_if_full(plane, Prio::Normal);
    }

    /// Whether the cache folds for want of a free block.
    fn presses(&self) -> bool {
        let presses = |cache: &CacheState| cache.demand.spec.fold.pressure;
        self.answers.caches && self.cache.as_deref().is_some_and(presses)
    }

    /// Whether the cache lacks a free block, and a collector folds for that reason. One that folds
    /// goes on until the cache has two: writes that wait take the first at once.
    fn is_pressed(&self, id: JobId) -> bool {
        let (plane, folds) = (self.job(id).plane(), self.job(id).tag.source == Source::Fold);
        self.presses()
            && self.space.has_to_fold(plane)
            && self.space.cache_left(plane) <= u32::from(folds)
    }

    /// Whether a collector is to fold although its plane has enough free blocks.
    #[cold]
    pub(super) fn wants_fold(&self, id: JobId) -> bool {
        let job = self.job(id);
        let rests = |cache: &CacheState| cache.demand.spec.fold.idle && job.background;
        self.is_pressed(id)
            || self.cache.as_deref().is_some_and(rests) && self.space.has_to_fold(job.plane())
    }

    // ── Turns ───────────────────────────────────────────────────────────────────────────────────

    fn folding(&self, plane: PlaneId) -> Option<Folding> {
        self.cache.as_ref().and_then(|cache| cache.folding[plane])
    }

    fn set_folding(&mut self, plane: PlaneId, folding: Option<Folding>) {
        if let Some(cache) = &mut self.cache {
            cache.folding[plane] = folding;
        }
    }

    /// A collector begins to fold a block, which is taken out of the list of complete ones.
    pub(super) fn begin_folding(&mut self, id: JobId, block: BlockId) {
        let plane = self.job(id).plane();
        self.set_folding(plane, Some(Folding { block, turns: None }));
        if self.presses() && self.space.cache_left(plane) <= 1 {
            self.take_turns(plane);
        }
    }

    /// Folding takes turns with the host from now on. If the cache has no slot left, it goes first.
    fn take_turns(&mut self, plane: PlaneId) {
        let Some(Folding { block, turns: None }) = self.folding(plane) else { return };
        let work = self.to_fold(block);
        let room = self.space.cache_room(plane);
        if room == 0 {
            self.jobs.put_first(plane);
        } else {
            self.set_folding(plane, Some(Folding { block, turns: Some((work, room)) }));
        }
    }

    /// The pages to be moved until a block is folded, its erase counted as those of one program.
    fn to_fold(&self, block: BlockId) -> u32 {
        self.space.blocks.valid(block) + self.space.unit()
    }

    /// Whether folding is late in a plane; `None`: it takes no turns there.
    fn is_fold_late(&self, plane: PlaneId) -> Option<bool> {
        let Folding { block, turns } = self.folding(plane)?;
        let (work, room) = turns?;
        let [left, slots] = [self.to_fold(block), self.space.cache_room(plane)];
        Some(u64::from(left) * u64::from(room) > u64::from(slots) * u64::from(work))
    }

    /// Whether a collector that is about to move pages gives way, because it is the host's turn.
    #[cold]
    pub(super) fn gives_turn(&mut self, id: JobId) -> bool {
        let job = self.job(id);
        let (plane, was) = (job.plane(), job.background);
        if job.tag.source != Source::Fold {
            return false;
        }
        let Some(late) = self.is_fold_late(plane) else { return false };
        let awaits = self.cache.as_ref().is_some_and(|cache| cache.awaits)
            || self.jobs.any_waits() && self.space.is_short(plane, self.config.gc.start);
        let ahead = !late && !awaits;
        self.jobs.set_background(id, ahead);
        ahead && !was
    }

    /// A slot was programmed. If that was in the cache, it may be the turn of folding.
    pub(super) fn take_turn(&mut self, ppn: Ppn) {
        let block = self.space.geometry.block_of(ppn);
        if self.space.is_cached(block) {
            let plane = self.space.set_of(block);
            if self.is_fold_late(plane) == Some(true) {
                self.jobs.put_first(plane);
            }
        }
    }

    /// A collector has emptied a block, and goes on. If it only gave way for a turn, that is over.
    /// Returns whether it keeps its place, because folding takes turns: else the writes that its block
    /// has made room for would all go first.
    #[cold]
    pub(super) fn goes_on_in_turns(&mut self, id: JobId) -> bool {
        let pressed = self.is_pressed(id);
        let rests = |cache: &CacheState| cache.demand.spec.fold.idle;
        let rests = self.cache.as_deref().is_some_and(rests) && !pressed;
        let job = self.job(id);
        if job.background && job.tag.source == Source::Fold && !rests {
            self.jobs.set_background(id, false);
        }
        pressed
    }

    /// A write finds no block at full density: folding goes first until there is one.
    #[cold]
    pub(super) fn await_full_density(&mut self) {
        if let Some(cache) = &mut self.cache
            && !std::mem::replace(&mut cache.awaits, true)
        {
            for plane in self.space.geometry.set_ids() {
                if cache.folding[plane].is_some_and(|folding| folding.turns.is_some()) {
                    self.jobs.put_first(plane);
                }
            }
        }
    }

    /// A block is free: it is not being folded any more, and a write that waits may try again.
    #[cold]
    pub(crate) fn note_free(&mut self, block: BlockId) {
        let plane = self.space.set_of(block);
        if let Some(cache) = &mut self.cache {
            cache.awaits = false;
        }
        if self.folding(plane).is_some_and(|folding| folding.block == block) {
            self.set_folding(plane, None);
        }
    }

    /// The block of the cache that a collector folds next, if it is to fold.
    #[cold]
    pub(super) fn choose_fold(&self, id: JobId, now: Time) -> Option<BlockId> {
        let plane = self.job(id).plane();
        if self.is_short_of_blocks(id) {
            return self.fold_for_space(plane, now);
        }
        let fold = self.space.next_to_fold(plane, false).filter(|_| self.wants_fold(id))?;
        (!self.space.is_own(fold) || self.space.free_blocks(plane) > crate::RESERVE).then_some(fold)
    }

    /// The block of the shared pool that is to be folded in a plane that is short of free blocks:
    /// none, if a victim gains more.
    fn fold_for_space(&self, plane: PlaneId, now: Time) -> Option<BlockId> {
        let fold = self.space.next_to_fold(plane, true)?;
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let view = PlaneView { ftl, plane, now, from: 0, excluded: None };
        let most = view.most_gain().map_or(0, |victim| self.space.blocks.gain(victim));
        (self.space.blocks.gain(fold) >= most).then_some(fold)
    }

    /// A plane of the die whose cache is to be folded in idle time.
    #[cold]
    pub(super) fn plane_to_fold(
        &self,
        mut planes: impl Iterator<Item = PlaneId>,
    ) -> Option<PlaneId> {
        let rests = |cache: &CacheState| cache.demand.spec.fold.idle;
        if !self.answers.caches || !self.cache.as_deref().is_some_and(rests) {
            return None;
        }
        planes.find(|plane| {
            self.jobs.collector_of(*plane).is_none()
                && !self.space.has_no_victim(*plane)
                && self.space.has_to_fold(*plane)
                && self.space.free_blocks(*plane) > crate::RESERVE
        })
    }

    /// Counts a superblock that is about to be folded.
    pub(super) fn count_fold(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.counts.folds += 1;
        }
    }
}

//! The blocks of an SLC cache: those that are always its own, and those of the shared pool that it
//! has at a time.
//!
//! Blocks of its own are the last ones of each plane. They are never in the list of free blocks that
//! others open. Blocks of the shared pool are opened at one bit in a cell as long as more are free
//! than collection wants. Folded, they are erased to full density. No block of the cache is
//! a candidate of collection: the collector of the plane folds them.

use super::Space;
use crate::{CacheSpec, StreamId};
use kernel::{BitSet, IndexVec};
use nand::{BlockId, Each, FlashBlocks, Geometry, PlaneId, Source, Store};
use std::collections::VecDeque;

/// Work on blocks whose cells hold one bit. Plain numbers are slots.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct SingleCounts {
    /// Slots read there, by source.
    pub read: Each<Source, u64>,
    /// Slots programmed there, by source, including those that hold no data.
    pub program: Each<Source, u64>,
    /// Of these, the slots without data.
    pub padding: Each<Source, u64>,
    /// Blocks erased that held one bit in a cell, by source.
    pub erase: Each<Source, FlashBlocks>,
}

/// The cache in one plane.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct InPlane {
    /// Free blocks of its own, oldest first.
    free: VecDeque<BlockId>,
    /// Complete blocks, oldest first: they can be folded.
    complete: VecDeque<BlockId>,
    /// Slots of its open blocks that are not programmed. Kept, because each program asks for them, and
    /// a superblock may have hundreds of blocks.
    left: u32,
    /// Blocks of the shared pool that it has.
    shared: u32,
    /// The block that is being folded is one of its own, and gives the shared pool nothing back.
    folds_own: bool,
}

/// The demands of a cache on the space of its drive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct CacheDemand {
    pub(crate) spec: CacheSpec,
    /// The stream of pages that go to the cache.
    pub(crate) stream: StreamId,
    /// The cache takes blocks of the shared pool while more than this many are free.
    pub(crate) mark: usize,
}

/// The blocks of a drive's cache.
#[derive(Clone, Debug)]
pub(crate) struct CacheBlocks {
    demand: CacheDemand,
    /// Blocks of a plane, or superblocks of a set, that are not its own.
    shared: u32,
    planes: IndexVec<PlaneId, InPlane>,
    /// Planes with room in the cache.
    pub(crate) writable: BitSet,
    pub(crate) counts: SingleCounts,
}

impl CacheBlocks {
    pub(crate) fn new(demand: CacheDemand, geometry: &Geometry) -> Self {
        let all = geometry.superblocks_per_set() as u32;
        let shared = all - demand.spec.own.min(all);
        let mut planes = IndexVec::filled(InPlane::default(), geometry.planes());
        for plane in geometry.set_ids() {
            let own = geometry.superblocks_of(plane).skip(shared as usize);
            planes[plane].free = own.collect();
        }
        Self {
            demand,
            shared,
            planes,
            writable: BitSet::new(geometry.planes()),
            counts: SingleCounts::default(),
        }
    }

    /// Whether a superblock is one of the cache's own.
    fn owns(&self, superblock: BlockId, geometry: &Geometry) -> bool {
        geometry.index_in_plane(superblock) >= self.shared
    }
}

impl<S: Store> Space<S> {
    /// Whether a block holds data of the cache.
    #[inline]
    pub(crate) fn is_cached(&self, block: BlockId) -> bool {
        self.cache.as_ref().is_some_and(|c| self.blocks.stream(block) == c.demand.stream)
    }

    /// Whether a superblock is one of the cache's own.
    pub(crate) fn is_own(&self, superblock: BlockId) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.owns(superblock, &self.geometry))
    }

    /// Free blocks of the cache's own in a plane.
    pub(super) fn own_free(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> {
        let free = self.cache.as_ref().map(|cache| &cache.planes[plane].free);
        free.into_iter().flatten().copied()
    }

    /// Takes the blocks of the cache's own out of the free blocks that others open.
    pub(super) fn set_own_apart(&mut self) {
        let Some(cache) = &self.cache else { return };
        for plane in self.geometry.set_ids() {
            self.planes.each[plane].free.retain(|b| !cache.owns(*b, &self.geometry));
        }
    }

    /// Whether the cache can open a block in a plane.
    pub(crate) fn can_cache_more(&self, plane: PlaneId) -> bool {
        let Some(cache) = &self.cache else { return false };
        !cache.planes[plane].free.is_empty() || self.shares_with_cache(plane)
    }

    /// Whether the cache can take another block of the shared pool.
    fn shares_with_cache(&self, plane: PlaneId) -> bool {
        let Some(cache) = &self.cache else { return false };
        let CacheDemand { spec, mark, .. } = cache.demand;
        let has = cache.planes[plane].shared;
        has < spec.most
            && (self.planes.each[plane].free.len() > mark
                || has < spec.least && self.can_lend(plane))
    }

    /// Blocks that the cache can open in a plane as things are.
    pub(crate) fn cache_left(&self, plane: PlaneId) -> u32 {
        let Some(cache) = &self.cache else { return 0 };
        let CacheDemand { spec, mark, .. } = cache.demand;
        let here = &cache.planes[plane];
        let beyond = self.planes.each[plane].free.len().saturating_sub(mark) as u32;
        let shared = beyond.min(spec.most - here.shared);
        here.free.len() as u32 + shared.max(u32::from(self.shares_with_cache(plane)))
    }

    /// Slots that can be programmed in the cache of a plane before folding gives a block back. They lie
    /// in its open blocks, programs on their way included, and in blocks that it can open.
    pub(crate) fn cache_room(&self, plane: PlaneId) -> u32 {
        let Some(cache) = &self.cache else { return 0 };
        cache.planes[plane].left + self.cache_left(plane) * self.cached_slots()
    }

    /// Slots of a block of the cache, or of a superblock.
    fn cached_slots(&self) -> u32 {
        self.geometry.single_slots_per_block() * self.geometry.superblocks().members()
    }

    /// The cache has opened a block in a plane.
    pub(super) fn begin_filling(&mut self, plane: PlaneId) {
        let slots = self.cached_slots();
        if let Some(cache) = &mut self.cache {
            cache.planes[plane].left += slots;
        }
    }

    /// The next slots of a block of the cache were programmed, padding included.
    pub(super) fn fill_cached(&mut self, block: BlockId, slots: u32) {
        let plane = self.set_of(block);
        if let Some(cache) = &mut self.cache {
            cache.planes[plane].left -= slots;
        }
    }

    /// Whether the cache has room in a plane.
    pub(super) fn has_cache_room(&self, plane: PlaneId) -> bool {
        let Some(cache) = &self.cache else { return false };
        let open = self.planes.share(plane, cache.demand.stream).frontier;
        open.is_some() || self.can_cache_more(plane)
    }

    /// Planes in which the cache has blocks, or may have some.
    pub(crate) fn planes_with_cache(&self) -> BitSet {
        let mut planes = BitSet::new(self.geometry.planes());
        let Some(cache) = &self.cache else { return planes };
        for set in self.geometry.set_ids() {
            let holds = self.planes.held(set, cache.demand.stream) > 0;
            let may = cache.planes[set].shared < cache.demand.spec.least;
            if holds || may || self.can_cache_more(set) {
                for plane in self.geometry.superblocks().planes_of(set) {
                    planes.put(plane.as_u32() as usize, true);
                }
            }
        }
        planes
    }

    /// Planes with room in the cache.
    pub(crate) fn cache_writable(&self) -> Option<&BitSet> {
        self.cache.as_ref().map(|cache| &cache.writable)
    }

    pub(super) fn update_cache_writable(&mut self, plane: PlaneId) {
        let room = self.has_cache_room(plane);
        let Some(cache) = &mut self.cache else { return };
        for plane in self.geometry.superblocks().planes_of(plane) {
            cache.writable.put(plane.as_u32() as usize, room);
        }
    }

    /// Takes a free block for the cache.
    pub(super) fn take_for_cache(&mut self, plane: PlaneId) -> Option<BlockId> {
        let shares = self.shares_with_cache(plane);
        let cache = self.cache.as_mut()?;
        if let Some(own) = cache.planes[plane].free.pop_front() {
            return Some(own);
        }
        if !shares {
            return None;
        }
        let spec = self.demands.streams[cache.demand.stream.index()];
        let at = self.find_free(plane, &spec, spec.pick, true)?;
        let block = self.planes.each[plane].free.remove(at).expect("it was found there");
        if let Some(cache) = &mut self.cache {
            cache.planes[plane].shared += 1;
        }
        Some(block)
    }

    /// A block of the cache is complete.
    pub(super) fn close_cached(&mut self, superblock: BlockId) {
        self.blocks.close_apart(superblock);
        let plane = self.set_of(superblock);
        if let Some(cache) = &mut self.cache {
            cache.planes[plane].complete.push_back(superblock);
        }
    }

    /// A block of the cache is empty, and free from now on or retired.
    pub(super) fn leave_cache(&mut self, superblock: BlockId) {
        let plane = self.set_of(superblock);
        if !self.is_own(superblock)
            && let Some(cache) = &mut self.cache
        {
            cache.planes[plane].shared -= 1;
        }
    }

    /// A free block joins those of the cache's own. Returns whether it is one.
    pub(super) fn joins_own(&mut self, superblock: BlockId) -> bool {
        let plane = self.set_of(superblock);
        let own = self.is_own(superblock);
        if own && let Some(cache) = &mut self.cache {
            cache.planes[plane].free.push_back(superblock);
        }
        own
    }

    /// The complete block of the cache with the fewest valid pages, the oldest of several.
    /// `shared`: only of the shared pool, to which folding gives it back.
    pub(crate) fn next_to_fold(&self, plane: PlaneId, shared: bool) -> Option<BlockId> {
        let cache = self.cache.as_ref()?;
        let complete = cache.planes[plane].complete.iter().copied();
        complete
            .filter(|b| !shared || !cache.owns(*b, &self.geometry))
            .min_by_key(|b| self.blocks.valid(*b))
    }

    /// Whether a plane has a complete block of the cache.
    pub(crate) fn has_to_fold(&self, plane: PlaneId) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.planes[plane].complete.is_empty())
    }

    /// Whether no block of the cache holds anything, and none is being folded.
    pub(crate) fn cache_is_empty(&self) -> bool {
        let Some(cache) = &self.cache else { return true };
        let stream = cache.demand.stream;
        self.geometry.set_ids().all(|plane| {
            let open = self.planes.share(plane, stream).frontier;
            self.planes.held(plane, stream) == u32::from(open.is_some())
        })
    }

    /// A complete block of the cache is about to be folded.
    pub(crate) fn begin_fold(&mut self, superblock: BlockId) {
        let (plane, own) = (self.set_of(superblock), self.is_own(superblock));
        if let Some(cache) = &mut self.cache {
            let here = &mut cache.planes[plane];
            here.complete.retain(|b| *b != superblock);
            here.folds_own = own;
        }
    }

    /// Whether the block of the cache that was folded last in a plane is one of the cache's own.
    pub(crate) fn folds_own(&self, plane: PlaneId) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.planes[plane].folds_own)
    }

    /// Whether folding may open a block of the shared pool. A block of the pool gives more back than
    /// its data take, so it may have the reserve of collection. A block of the cache's own gives
    /// nothing back: it leaves the reserve.
    pub(super) fn lends_to_fold(&self, plane: PlaneId) -> bool {
        let own = self.cache.as_ref().is_some_and(|cache| cache.planes[plane].folds_own);
        let free = self.planes.each[plane].free.len();
        if own { free > super::RESERVE } else { free > 0 }
    }

    /// Slots of the cache that hold data or were given to it, and all that it has blocks for now.
    pub(crate) fn cache_fill(&self) -> Option<(u64, u64)> {
        let cache = self.cache.as_ref()?;
        let stream = cache.demand.stream;
        let slots = u64::from(self.geometry.single_slots_per_superblock());
        let (mut used, mut room) = (0, 0);
        for plane in self.geometry.set_ids() {
            let here = &cache.planes[plane];
            let held = u64::from(self.planes.held(plane, stream));
            used += held * slots - u64::from(self.rest(plane, stream));
            let free = self.planes.each[plane].free.len().saturating_sub(cache.demand.mark);
            let more = (free as u64).min(u64::from(cache.demand.spec.most - here.shared));
            room += (held + here.free.len() as u64 + more) * slots;
        }
        Some((used, room))
    }

    /// Valid slots in blocks of the cache.
    pub(crate) fn cached_valid(&self) -> u64 {
        let blocks = self.geometry.superblock_ids();
        let in_use =
            |b: &BlockId| !matches!(self.blocks.state(*b), super::State::Free | super::State::Bad);
        let cached = blocks.filter(in_use).filter(|b| self.is_cached(*b));
        cached.map(|b| u64::from(self.blocks.valid(b))).sum()
    }

    /// Checks the lists of the cache: every complete block of it is listed once, and the blocks of
    /// the shared pool that it has are counted.
    pub(super) fn check_cache(&self, plane: PlaneId) -> Result<(), String> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let here = &cache.planes[plane];
        let in_state = |state| {
            self.geometry.superblocks_of(plane).filter(move |b| self.blocks.state(*b) == state)
        };
        let mut complete: Vec<BlockId> =
            in_state(super::State::Closed).filter(|b| self.is_cached(*b)).collect();
        let mut listed: Vec<BlockId> = here.complete.iter().copied().collect();
        complete.sort_unstable();
        listed.sort_unstable();
        if complete != listed {
            return Err(format!("plane {plane}: {complete:?} can be folded, listed {listed:?}"));
        }
        let open = |b: &BlockId| {
            matches!(self.blocks.state(*b), super::State::Open | super::State::Full)
                && self.is_cached(*b)
        };
        let each = self.geometry.single_slots_per_block();
        let filling = self.geometry.superblocks_of(plane).filter(open);
        let blocks = filling.flat_map(|b| self.geometry.superblocks().blocks_of(b));
        let left: u32 = blocks.map(|b| each - self.array.next_page(b)).sum();
        if left != here.left {
            let counted = here.left;
            return Err(format!(
                "plane {plane}: the cache has {left} slots left, counted {counted}"
            ));
        }
        if self.can_cache_more(plane) != (self.cache_left(plane) > 0) {
            return Err(format!(
                "plane {plane}: the cache can open {} more",
                self.cache_left(plane)
            ));
        }
        let mut free: Vec<BlockId> =
            in_state(super::State::Free).filter(|b| self.is_own(*b)).collect();
        let mut listed: Vec<BlockId> = here.free.iter().copied().collect();
        free.sort_unstable();
        listed.sort_unstable();
        if free != listed {
            return Err(format!("plane {plane}: {free:?} are the cache's own, listed {listed:?}"));
        }
        let out =
            |b: &BlockId| matches!(self.blocks.state(*b), super::State::Free | super::State::Bad);
        let shared = self
            .geometry
            .superblocks_of(plane)
            .filter(|b| !out(b) && self.is_cached(*b) && !self.is_own(*b))
            .count();
        if shared != here.shared as usize {
            return Err(format!("plane {plane}: {shared} blocks lent, counted {}", here.shared));
        }
        if cache.writable.get(plane.as_u32() as usize) != self.has_cache_room(plane) {
            return Err(format!("plane {plane}: room in the cache is noted wrongly"));
        }
        Ok(())
    }
}

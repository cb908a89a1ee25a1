//! Planes: free blocks and frontiers; the reserve, and the writers that may take free blocks.
//!
//! If several planes make superblocks, "plane" is such a set, by its first plane, and "block" a
//! superblock, by its first block. The other planes of a set have no entries here.

use super::Space;
use crate::{StreamClass, StreamId, StreamSpec};
use kernel::IndexVec;
use nand::{BlockId, Geometry, PlaneId, Source, Store, Tag};
use std::collections::VecDeque;

/// Free blocks of each plane that only garbage collection may open. They hold the valid pages of
/// any victim, so reclaiming never lacks space.
pub const RESERVE: usize = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plane {
    /// Oldest first, so that blocks take turns.
    pub(super) free: VecDeque<BlockId>,
    /// Reclaiming was necessary and found nothing to gain. It is tried again when a page becomes
    /// invalid.
    pub(super) no_victim: bool,
    /// The victim fits the open block of collection, so collection does not need the last free
    /// block.
    pub(super) lends_last: bool,
}

/// The blocks that a stream has in a plane.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct StreamShare {
    /// Its open block. Of an open superblock: the block whose turn it is.
    pub(super) frontier: Option<BlockId>,
    /// The writes that it is for, beside what is looked at with it.
    pub(super) class: StreamClass,
}

/// All planes, and the streams that write them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PlaneColumns {
    pub(super) each: IndexVec<PlaneId, Plane>,
    /// Of each stream in each plane: `plane * streams + stream`.
    shares: Vec<StreamShare>,
    /// In the same order the number of blocks that hold its data. Apart, because every write looks at
    /// the rest.
    held: Vec<u32>,
    streams: usize,
    pub(super) without_victim: u32,
}

impl PlaneColumns {
    pub(super) fn new(geometry: &Geometry, streams: &[StreamSpec]) -> Self {
        let share = |s: &StreamSpec| StreamShare { frontier: None, class: s.class };
        let shares: Vec<StreamShare> = streams.iter().map(share).collect();
        let plane = |p: u32| {
            let plane = PlaneId::from_u32(p);
            let first = geometry.superblocks().set_of(plane) == plane;
            let blocks = geometry.superblocks_of(plane).filter(|_| first);
            Plane { free: blocks.collect(), no_victim: false, lends_last: false }
        };
        Self {
            each: IndexVec::from_raw((0..geometry.planes() as u32).map(plane).collect()),
            held: vec![0; shares.len() * geometry.planes()],
            shares: shares.repeat(geometry.planes()),
            streams: shares.len(),
            without_victim: 0,
        }
    }

    #[inline]
    pub(super) fn share(&self, plane: PlaneId, stream: StreamId) -> StreamShare {
        self.shares[plane.as_u32() as usize * self.streams + stream.index()]
    }

    #[inline]
    pub(super) fn share_mut(&mut self, plane: PlaneId, stream: StreamId) -> &mut StreamShare {
        &mut self.shares[plane.as_u32() as usize * self.streams + stream.index()]
    }

    /// The number of blocks in a plane that hold the data of a stream.
    pub(super) fn held(&self, plane: PlaneId, stream: StreamId) -> u32 {
        self.held[plane.as_u32() as usize * self.streams + stream.index()]
    }

    pub(super) fn held_mut(&mut self, plane: PlaneId, stream: StreamId) -> &mut u32 {
        &mut self.held[plane.as_u32() as usize * self.streams + stream.index()]
    }

    /// Marks whether the plane has no victim from now on.
    pub(super) fn set_no_victim(&mut self, plane: PlaneId, no_victim: bool) {
        let known = std::mem::replace(&mut self.each[plane].no_victim, no_victim);
        self.without_victim = self.without_victim + u32::from(no_victim) - u32::from(known);
    }
}

impl<S: Store> Space<S> {
    /// The plane of a block; of a block of a superblock, its set.
    #[inline]
    pub(crate) fn set_of(&self, block: BlockId) -> PlaneId {
        self.geometry.superblocks().set_of(self.geometry.plane_of(block))
    }

    pub(super) fn update_writable(&mut self, plane: PlaneId) {
        for at in 0..self.demands.hosts.len() {
            let room = self.has_room(plane, self.demands.hosts[at]);
            let writable = &mut self.writable[at];
            if self.geometry.superblocks().are_blocks() {
                writable.put(plane.as_u32() as usize, room);
                continue;
            }
            // Placement policies know planes: each has the space of its set.
            for plane in self.geometry.superblocks().planes_of(plane) {
                writable.put(plane.as_u32() as usize, room);
            }
        }
        if self.cache.is_some() {
            self.update_cache_writable(plane);
        }
    }

    /// Whether the plane can take a host write for a stream.
    pub(super) fn has_room(&self, plane: PlaneId, stream: StreamId) -> bool {
        let StreamShare { frontier, class } = self.planes.share(plane, stream);
        let open = frontier.is_some() && (class != StreamClass::Both || self.reserves(plane));
        open || self.lends_to_host(plane)
    }

    /// Whether the plane can take a host write for any stream.
    pub(crate) fn takes_any(&self, plane: PlaneId) -> bool {
        self.writable.iter().all(|writable| writable.get(plane.as_u32() as usize))
    }

    /// Slots that the open blocks of the host's streams in a plane have left: of the one that has least.
    pub(crate) fn host_rest(&self, plane: PlaneId) -> u32 {
        let rests = self.demands.hosts.iter().map(|stream| self.rest(plane, *stream));
        rests.min().unwrap_or(0)
    }

    /// The open block of another stream that collection may use, for want of room in its own.
    #[cold]
    pub(crate) fn any_for_moves(&self, plane: PlaneId, tag: Tag) -> Option<BlockId> {
        let streams = self.stream_ids().filter(|s| self.class_of(*s).takes_moves());
        streams.into_iter().find_map(|stream| self.frontier(plane, stream, tag))
    }

    /// From now on the garbage of each plane is counted.
    pub(crate) fn count_garbage(&mut self) {
        self.garbage =
            self.geometry.plane_ids().map(|plane| self.garbage_by_block(plane)).collect();
    }

    /// The slots without valid data in closed blocks of a plane, counted block by block.
    pub(super) fn garbage_by_block(&self, plane: PlaneId) -> u32 {
        if self.geometry.superblocks().set_of(plane) != plane {
            return 0;
        }
        let blocks = self.geometry.superblocks_of(plane);
        let closed = blocks.filter(|b| self.blocks.is_closed(*b));
        closed.map(|b| self.blocks.slots() - self.blocks.valid(b)).sum()
    }

    /// A slot of a block has become invalid.
    pub(crate) fn note_garbage(&mut self, block: BlockId) {
        if !self.garbage.is_empty() && self.blocks.is_closed(block) {
            let plane = self.set_of(block);
            self.garbage[plane.as_u32() as usize] += 1;
        }
    }

    /// A block joins the closed ones of its plane, or leaves them.
    pub(super) fn move_garbage(&mut self, block: BlockId, joins: bool) {
        if self.garbage.is_empty() {
            return;
        }
        let invalid = self.blocks.slots() - self.blocks.valid(block);
        let of = self.set_of(block).as_u32() as usize;
        let garbage = &mut self.garbage[of];
        *garbage = if joins { *garbage + invalid } else { *garbage - invalid };
    }

    /// Of the written slots of a plane, the share that holds nothing valid and lies in a closed block.
    pub(crate) fn garbage(&self, plane: PlaneId) -> f64 {
        let slots = u64::from(self.blocks.slots());
        let written = |stream| {
            let held = self.planes.held(plane, stream);
            u64::from(held) * slots - u64::from(self.rest(plane, stream))
        };
        let written: u64 = self.stream_ids().map(written).sum();
        let garbage = self.garbage[plane.as_u32() as usize];
        if written == 0 { 0.0 } else { f64::from(garbage) / written as f64 }
    }

    /// The writes that a stream is for.
    pub(crate) fn class_of(&self, stream: StreamId) -> StreamClass {
        self.demands.streams[stream.index()].class
    }

    /// Whether the host may open a block in the plane.
    pub(crate) fn lends_to_host(&self, plane: PlaneId) -> bool {
        let Plane { free, lends_last, .. } = &self.planes.each[plane];
        self.can_lend(plane) || (*lends_last && !free.is_empty())
    }

    /// Whether the plane may lend the host its last free block, because the victim under collection
    /// needs none and gives one back.
    pub(crate) fn lend_last(&mut self, plane: PlaneId, lends: bool) {
        let known = &mut self.planes.each[plane].lends_last;
        if std::mem::replace(known, lends && self.alike) != *known {
            self.update_writable(plane);
        }
    }

    /// Whether the plane may lend a free block for writes other than garbage collection: the other
    /// free blocks have slots for the valid pages of any victim.
    #[inline]
    pub(crate) fn can_lend(&self, plane: PlaneId) -> bool {
        let free = &self.planes.each[plane].free;
        if self.alike {
            return free.len() > self.demands.reserve;
        }
        (0..free.len()).any(|at| self.can_lend_at(plane, at))
    }

    /// The same for the free block at index `at` of the plane's list.
    pub(super) fn can_lend_at(&self, plane: PlaneId, at: usize) -> bool {
        let free = &self.planes.each[plane].free;
        if self.alike {
            return free.len() > self.demands.reserve;
        }
        self.holds_victim(free.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, b)| *b))
    }

    /// Whether the plane's free blocks have slots for the valid pages of any victim.
    pub(crate) fn reserves(&self, plane: PlaneId) -> bool {
        let free = &self.planes.each[plane].free;
        if self.alike {
            return free.len() >= RESERVE;
        }
        self.holds_victim(free.iter().copied())
    }

    /// Whether erased blocks have slots for the valid pages of any victim. Blocks of modes with
    /// fewer slots count with the slots they have.
    fn holds_victim(&self, erased: impl Iterator<Item = BlockId>) -> bool {
        let mut slots = 0;
        erased.map(|b| self.layouts.slots(self.array.mode(b))).any(|n| {
            slots += n;
            slots >= self.widest
        })
    }

    /// Whether garbage collection has to bring the plane to `mark` free blocks, or to the number at
    /// which it can lend one.
    #[inline]
    pub(crate) fn is_short(&self, plane: PlaneId, mark: u32) -> bool {
        let free = self.planes.each[plane].free.len();
        free < (mark as usize).max(self.demands.least) + self.kept(plane)
            || (!self.alike && !self.can_lend(plane))
    }

    /// Free blocks of a plane that are kept for the read-disturb policy.
    #[inline]
    fn kept(&self, plane: PlaneId) -> usize {
        let Some((pool, most)) = self.demands.keeps else { return 0 };
        let first = pool.first_index(&self.geometry);
        let free = self.planes.each[plane].free.iter();
        free.filter(|b| self.geometry.index_in_plane(**b) >= first).count().min(most as usize)
    }

    /// Whether a plane has no victim: reclaiming was needed and found nothing to gain.
    pub(crate) fn has_no_victim(&self, plane: PlaneId) -> bool {
        self.planes.each[plane].no_victim
    }

    #[inline]
    pub(crate) fn any_has_no_victim(&self) -> bool {
        self.planes.without_victim > 0
    }

    /// Whether reclaiming a block frees space. Moved pages take whole program units, so the gain is
    /// smaller by up to one unit.
    #[inline]
    pub(crate) fn gains(&self, block: BlockId) -> bool {
        self.blocks.gain(block) >= self.unit()
    }

    /// A plane must be reclaimed and has nothing to gain.
    pub(crate) fn note_no_victim(&mut self, plane: PlaneId) {
        self.counts.no_victim += 1;
        self.planes.set_no_victim(plane, true);
    }

    /// A plane may have a victim. Returns whether it had none until now.
    pub(crate) fn forget_no_victim(&mut self, plane: PlaneId) -> bool {
        let had_none = self.has_no_victim(plane);
        self.planes.set_no_victim(plane, false);
        had_none
    }

    /// The plane that had no victim until now, if this block has something to gain.
    #[cold]
    pub(crate) fn note_victim(&mut self, block: BlockId) -> Option<PlaneId> {
        let plane = self.set_of(block);
        let gains = self.blocks.is_candidate(block) && self.gains(block);
        if !gains || !self.has_no_victim(plane) {
            return None;
        }
        self.planes.set_no_victim(plane, false);
        Some(plane)
    }

    /// Refreshes take space of a plane, or give it back.
    pub(crate) fn charge(&mut self, plane: PlaneId, pages: i64) {
        if let Some(charged) = self.charged.get_mut(plane.as_u32() as usize) {
            *charged += pages;
        }
    }

    /// The source for which a victim is collected. A refresh that gives back the block it took
    /// needs no space, even if the plane was short for a moment. Space that a refresh keeps (blocks
    /// that hold less, or are partly written) is collected for it, at the next collection of any
    /// source.
    pub(crate) fn needed_by(&mut self, asked: Source, victim: BlockId) -> Source {
        let plane = self.set_of(victim);
        let Some(charged) = self.charged.get_mut(plane.as_u32() as usize) else { return asked };
        if *charged > 0 {
            *charged -= i64::from(self.blocks.gain(victim));
            return Source::Refresh;
        }
        if asked == Source::Refresh { Source::Host } else { asked }
    }
}

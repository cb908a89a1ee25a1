//! Planes: free blocks and frontiers.

use crate::stream::{FreePick, Pool, StreamId};
use kernel::IndexVec;
use nand::{BlockId, Geometry, PlaneId};
use std::collections::VecDeque;

/// Free blocks of each plane that only garbage collection may open: enough for the valid pages of
/// any victim, so that reclaiming never needs space that it does not have.
pub const RESERVE: usize = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plane {
    /// Oldest first, so that blocks take turns.
    pub(super) free: VecDeque<BlockId>,
    /// Reclaiming was needed and found nothing to gain; to be tried again when a page dies.
    pub(super) starved: bool,
}

/// All planes and their frontiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Planes {
    each: IndexVec<PlaneId, Plane>,
    /// The open block of each stream in each plane: `plane * streams + stream`.
    frontiers: Vec<Option<BlockId>>,
    /// Blocks that hold data of each stream in each plane, likewise.
    held: Vec<u32>,
    streams: usize,
    starving: u32,
}

impl Planes {
    pub(super) fn new(geometry: &Geometry, streams: usize) -> Self {
        let planes = (0..geometry.planes() as u32)
            .map(|p| Plane {
                free: (0..geometry.blocks_per_plane() as u32)
                    .map(|i| geometry.block_in(PlaneId::from_u32(p), i))
                    .collect(),
                starved: false,
            })
            .collect();
        Self {
            each: IndexVec::from_raw(planes),
            frontiers: vec![None; geometry.planes() * streams],
            held: vec![0; geometry.planes() * streams],
            streams,
            starving: 0,
        }
    }

    #[inline]
    pub(super) fn get(&self, plane: PlaneId) -> &Plane {
        &self.each[plane]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, plane: PlaneId) -> &mut Plane {
        &mut self.each[plane]
    }

    #[inline]
    pub(super) fn frontier(&self, plane: PlaneId, stream: StreamId) -> Option<BlockId> {
        self.frontiers[self.at(plane, stream)]
    }

    #[inline]
    pub(super) fn set_frontier(&mut self, plane: PlaneId, stream: StreamId, b: Option<BlockId>) {
        let at = self.at(plane, stream);
        self.frontiers[at] = b;
    }

    /// Blocks of the plane that hold data of the stream.
    pub(super) fn held(&self, plane: PlaneId, stream: StreamId) -> u32 {
        self.held[self.at(plane, stream)]
    }

    pub(super) fn held_mut(&mut self, plane: PlaneId, stream: StreamId) -> &mut u32 {
        let at = self.at(plane, stream);
        &mut self.held[at]
    }

    /// Planes that starve.
    pub(super) fn starving(&self) -> u32 {
        self.starving
    }

    /// Whether the plane starves from now on.
    pub(super) fn set_starved(&mut self, plane: PlaneId, starved: bool) {
        let known = std::mem::replace(&mut self.each[plane].starved, starved);
        self.starving = self.starving + u32::from(starved) - u32::from(known);
    }

    /// Where in its plane's list a free block lies that is in `pool` and that may be taken, chosen
    /// as `pick` says; `wear` in thousandths.
    pub(super) fn find_free(
        &self,
        geometry: &Geometry,
        wear: &IndexVec<BlockId, u32>,
        plane: PlaneId,
        pool: Pool,
        pick: FreePick,
        may: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let free = &self.each[plane].free;
        if pool == Pool::All && pick == FreePick::Oldest && !free.is_empty() && may(0) {
            return Some(0);
        }
        let from = pool.first_index(geometry);
        let mut eligible = free
            .iter()
            .enumerate()
            .filter(|(i, b)| geometry.index_in_plane(**b) >= from && may(*i));
        let chosen = match pick {
            FreePick::Oldest => eligible.next(),
            FreePick::LeastWorn => eligible.min_by_key(|(i, b)| (wear[**b], *i)),
            FreePick::MostWorn => eligible.max_by_key(|(i, b)| (wear[**b], usize::MAX - i)),
            FreePick::OutsideFirst(kept) => {
                let first = kept.first_index(geometry);
                eligible.min_by_key(|(i, b)| (geometry.index_in_plane(**b) >= first, *i))
            }
        };
        chosen.map(|(i, _)| i)
    }

    /// Takes the free block at `at`.
    pub(super) fn take_free(&mut self, plane: PlaneId, at: usize) -> BlockId {
        self.each[plane].free.remove(at).expect("a free block was found there")
    }

    #[inline(always)]
    fn at(&self, plane: PlaneId, stream: StreamId) -> usize {
        plane.as_u32() as usize * self.streams + stream.index()
    }
}

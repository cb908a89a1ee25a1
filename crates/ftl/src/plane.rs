//! Planes: free blocks and frontiers.

use crate::JobId;
use crate::stream::{FreePick, Pool, StreamId};
use kernel::IndexVec;
use nand::{BlockId, Geometry, PlaneId};
use std::collections::VecDeque;

/// Free blocks of each plane that only garbage collection may open: enough for the valid pages of
/// any victim, so that reclaiming never needs space that it does not have.
pub const RESERVE: usize = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plane {
    /// Oldest first, so that blocks take turns.
    pub(crate) free: VecDeque<BlockId>,
    /// The job that reclaims its blocks, if one runs.
    pub(crate) collector: Option<JobId>,
    /// Reclaiming was needed and found nothing to gain; to be tried again when a page dies.
    pub(crate) starved: bool,
}

/// All planes and their frontiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Planes {
    each: IndexVec<PlaneId, Plane>,
    /// The open block of each stream in each plane: `plane * streams + stream`.
    frontiers: Vec<Option<BlockId>>,
    streams: usize,
}

impl Planes {
    pub(crate) fn new(geometry: &Geometry, streams: usize) -> Self {
        let planes = (0..geometry.planes() as u32)
            .map(|p| Plane {
                free: (0..geometry.blocks_per_plane() as u32)
                    .map(|i| geometry.block_in(PlaneId::from_u32(p), i))
                    .collect(),
                collector: None,
                starved: false,
            })
            .collect();
        Self {
            each: IndexVec::from_raw(planes),
            frontiers: vec![None; geometry.planes() * streams],
            streams,
        }
    }

    #[inline]
    pub(crate) fn get(&self, plane: PlaneId) -> &Plane {
        &self.each[plane]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, plane: PlaneId) -> &mut Plane {
        &mut self.each[plane]
    }

    #[inline]
    pub(crate) fn frontier(&self, plane: PlaneId, stream: StreamId) -> Option<BlockId> {
        self.frontiers[self.at(plane, stream)]
    }

    #[inline]
    pub(crate) fn set_frontier(&mut self, plane: PlaneId, stream: StreamId, b: Option<BlockId>) {
        let at = self.at(plane, stream);
        self.frontiers[at] = b;
    }

    /// Where in its plane's list a free block lies that is in `pool` and that may be taken, chosen
    /// as `pick` says; `wear` in thousandths.
    pub(crate) fn find_free(
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
    pub(crate) fn take_free(&mut self, plane: PlaneId, at: usize) -> BlockId {
        self.each[plane].free.remove(at).expect("a free block was found there")
    }

    #[inline(always)]
    fn at(&self, plane: PlaneId, stream: StreamId) -> usize {
        plane.as_u32() as usize * self.streams + stream.index()
    }
}

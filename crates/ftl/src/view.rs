//! The views of policies: read-only, and limited to their question.

use crate::columns::{ReadLimits, Reads};
use crate::space::Space;
use crate::{Blocks, Map, Waiting};
use kernel::{BitSet, Idx, IndexVec, Rng, Time};
use nand::{BlockId, Geometry, Layouts, Mode, PlaneId, Store};

/// The whole of the FTL's state.
#[derive(Copy, Clone)]
pub struct FtlView<'a> {
    /// The drive's geometry.
    pub geometry: &'a Geometry,
    /// Slots of each mode.
    pub layouts: &'a Layouts,
    /// The map.
    pub map: &'a Map,
    /// The block columns.
    pub blocks: &'a Blocks,
    /// How bits lie on the cells of each block: its entry of `layouts`.
    pub modes: &'a IndexVec<BlockId, Mode>,
    /// Erases of each block.
    pub erases: &'a IndexVec<BlockId, u32>,
    /// Effective wear of each block, in thousandths of a cycle.
    pub wear: &'a IndexVec<BlockId, u32>,
    /// Reads of each block since its last erase; empty if no policy counts reads.
    pub reads: &'a [u32],
    /// Host reads that blocks endure.
    pub limits: &'a ReadLimits,
}

impl<'a> FtlView<'a> {
    /// Borrowed part by part, so that a policy next to these parts can be borrowed mutably.
    #[inline]
    pub(crate) fn of<S: Store>(space: &'a Space<S>, map: &'a Map, reads: &'a Reads) -> Self {
        let array = space.array();
        Self {
            geometry: &space.geometry,
            layouts: &space.layouts,
            map,
            blocks: &space.blocks,
            modes: array.modes(),
            erases: array.erases(),
            wear: array.wear(),
            reads: &reads.each,
            limits: &reads.limits,
        }
    }

    /// Whether a block has had all host reads that it endures.
    pub fn is_at_limit(&self, block: BlockId) -> bool {
        let reads = self.reads.get(block.index());
        reads.is_some_and(|n| self.limits.are_reached(block, self.modes[block], *n))
    }
}

/// The blocks of one plane, as candidates for reclaiming. A policy that wants fewer narrows a copy.
#[derive(Copy, Clone)]
pub struct PlaneView<'a> {
    /// The rest of the state, for policies that need it.
    pub ftl: FtlView<'a>,
    /// The plane.
    pub plane: PlaneId,
    /// The simulated time.
    pub now: Time,
    /// The candidates are those of the plane whose index is at least this (a pool by address).
    pub from: u32,
    /// Blocks that may not be chosen although they are candidates, one bit for each of the plane;
    /// `None`: no exclusions.
    pub excluded: Option<&'a BitSet>,
}

impl PlaneView<'_> {
    fn range(&self) -> std::ops::Range<usize> {
        let all = self.ftl.geometry.blocks_of(self.plane);
        all.start + self.from as usize..all.end
    }

    /// Number of blocks that the set covers, candidates or not.
    pub fn len(&self) -> u32 {
        self.range().len() as u32
    }

    /// Whether the set covers no block.
    pub fn is_empty(&self) -> bool {
        self.range().is_empty()
    }

    /// The `i`-th block of the set, if it is a candidate.
    pub fn candidate(&self, i: u32) -> Option<BlockId> {
        assert!(i < self.len(), "the set has no block {i}");
        let at = self.from + i;
        let block = self.ftl.geometry.block_in(self.plane, at);
        let excluded = self.excluded.is_some_and(|set| set.get(at as usize));
        (self.ftl.blocks.is_listed(block) && !excluded).then_some(block)
    }

    /// All candidates in order of address.
    pub fn candidates(&self) -> impl Iterator<Item = BlockId> + '_ {
        (0..self.len()).filter_map(|i| self.candidate(i))
    }

    /// The candidate that gains most, the first among equals. The one scan that vectorises: 512
    /// blocks cost less than one cache miss.
    pub fn most_gain(&self) -> Option<BlockId> {
        if self.excluded.is_none() {
            return self.ftl.blocks.most_gain(self.range());
        }
        self.candidates().min_by_key(|b| std::cmp::Reverse(self.ftl.blocks.gain(*b)))
    }

    /// A candidate drawn at random, each with the same chance.
    pub fn random(&self, rng: &mut Rng) -> Option<BlockId> {
        if self.is_empty() {
            return None;
        }
        // Nearly every block is a candidate, so a few draws suffice. A plane with hardly any is
        // listed.
        for _ in 0..16 {
            let found = self.candidate(rng.below(self.len()));
            if found.is_some() {
                return found;
            }
        }
        let all: Vec<BlockId> = self.candidates().collect();
        (!all.is_empty()).then(|| all[rng.below(all.len() as u32) as usize])
    }
}

/// The view of a placement policy.
pub struct Load<'a> {
    /// The drive's geometry.
    pub geometry: &'a Geometry,
    /// Planes with room for a host write.
    pub writable: &'a BitSet,
    /// Page operations waiting for or running on each die.
    pub waiting: &'a Waiting,
    /// Dies with nothing to do.
    pub idle: &'a BitSet,
}

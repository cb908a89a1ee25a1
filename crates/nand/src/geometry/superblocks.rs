//! Superblocks: blocks of several dies that are opened, written, collected and erased as one.
//!
//! All of it is arithmetic on numbers of blocks and planes. A *set* is the planes of the dies whose
//! blocks belong together, and its number is that of its first plane. A superblock has the block of
//! one index in each of these planes, and its number is that of its first block. If each block is
//! alone, a set is a plane and a superblock a block, and their numbers are equal.
//!
//! The program units of a superblock are filled in the order of *stripes*: the first of each of its
//! blocks in turn, then the second of each, and so on. One unit in N may hold parity.
//!
//! A superblock may have *layers*: blocks of several indices that follow one another in each plane.
//! They are filled one layer after the other.

use crate::{BlockId, PlaneId, Shape};
use kernel::Divisor;

/// How the blocks of a drive make superblocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Superblocks {
    /// Blocks of a superblock.
    members: u32,
    /// Dies of a set.
    dies: u32,
    /// Planes of a die.
    planes: u32,
    /// Blocks of a plane.
    blocks: u32,
    /// Blocks of a superblock in each plane.
    layers: u32,
    by_blocks: Divisor,
    /// Planes of a set.
    by_set: Divisor,
    /// One program unit in this number holds parity; 0: none does.
    parity: u32,
}

impl Superblocks {
    /// Each block alone.
    pub(crate) fn alone(shape: &Shape) -> Self {
        Self {
            members: 1,
            dies: 1,
            planes: shape.planes_per_die,
            blocks: shape.blocks_per_plane,
            layers: 1,
            by_blocks: Divisor::new(shape.blocks_per_plane),
            by_set: Divisor::new(1),
            parity: 0,
        }
    }

    /// The same with parity in the last of every `one_in` program units.
    pub(crate) fn with_parity(self, one_in: u32) -> Self {
        Self { parity: one_in, ..self }
    }

    /// Blocks of all planes of this number of dies, which divides that of the drive.
    pub(crate) fn across(shape: &Shape, dies: u32) -> Self {
        let members = dies * shape.planes_per_die;
        Self { members, dies, by_set: Divisor::new(members), ..Self::alone(shape) }
    }

    /// The same with this number of layers, which divides the blocks of a plane.
    pub(crate) fn with_layers(self, layers: u32) -> Self {
        let members = self.members / self.layers * layers;
        Self { members, layers, ..self }
    }

    /// Blocks of a superblock.
    #[inline(always)]
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Blocks of a superblock in each plane.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// Planes of a set.
    pub fn planes(&self) -> u32 {
        self.by_set.get()
    }

    /// Whether each block is alone.
    #[inline(always)]
    pub fn are_blocks(&self) -> bool {
        self.members == 1
    }

    /// Whether the order of stripes matters: several blocks make a superblock, or some units hold
    /// parity.
    #[inline]
    pub fn are_striped(&self) -> bool {
        self.members > 1 || self.parity > 0
    }

    /// One program unit in this number holds parity; 0: none does.
    pub fn parity(&self) -> u32 {
        self.parity
    }

    /// Whether a program unit of a superblock, counted in the order of stripes, holds parity.
    #[inline]
    pub fn is_parity(&self, unit: u32) -> bool {
        self.parity > 0 && unit % self.parity == self.parity - 1
    }

    /// How many of the first `units` units hold data.
    pub fn data_units(&self, units: u32) -> u32 {
        units - units.checked_div(self.parity).unwrap_or(0)
    }

    /// Dies that a superblock lies on.
    pub fn dies(&self) -> u32 {
        self.dies
    }

    /// The set of a plane: its first plane.
    #[inline]
    pub fn set_of(&self, plane: PlaneId) -> PlaneId {
        if self.members == 1 {
            return plane;
        }
        PlaneId::from_u32(plane.as_u32() - self.by_set.rem(plane.as_u32()))
    }

    /// The superblock of a block: its first block.
    #[inline]
    pub fn first_of(&self, block: BlockId) -> BlockId {
        if self.members == 1 { block } else { self.first_of_several(block) }
    }

    #[inline(never)]
    fn first_of_several(&self, block: BlockId) -> BlockId {
        let plane = self.by_blocks.div(block.as_u32());
        let first = block.as_u32() - self.by_set.rem(plane) * self.blocks;
        BlockId::from_u32(first - self.layer_of(block))
    }

    /// The layer that a block lies in.
    fn layer_of(&self, block: BlockId) -> u32 {
        if self.layers == 1 {
            return 0;
        }
        self.by_blocks.rem(block.as_u32()) % self.layers
    }

    /// The position of a block in the stripes of its superblock: one plane of each die, then the
    /// next plane of each; then the next layer.
    pub fn position(&self, block: BlockId) -> u32 {
        let place = self.by_set.rem(self.by_blocks.div(block.as_u32()));
        let place = place % self.planes * self.dies + place / self.planes;
        self.layer_of(block) * self.planes() + place
    }

    /// The block at a position of the stripes of a superblock.
    pub fn member(&self, superblock: BlockId, position: u32) -> BlockId {
        let (layer, place) = (position / self.planes(), position % self.planes());
        let plane = place % self.dies * self.planes + place / self.dies;
        BlockId::from_u32(superblock.as_u32() + plane * self.blocks + layer)
    }

    /// The place of a program unit in the order of stripes: `row` of the block at `position`, where
    /// blocks have `rows` units.
    pub fn unit(&self, position: u32, row: u32, rows: u32) -> u32 {
        let (layer, place) = (position / self.planes(), position % self.planes());
        (layer * rows + row) * self.planes() + place
    }

    /// The position of the block that has a program unit, counted in the order of stripes.
    pub fn position_of(&self, unit: u32, rows: u32) -> u32 {
        let layer = unit / (rows * self.planes());
        layer * self.planes() + unit % self.planes()
    }

    /// The blocks of a superblock, in the order of stripes.
    pub fn blocks_of(&self, superblock: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let all = *self;
        (0..self.members).map(move |position| all.member(superblock, position))
    }

    /// The planes of a set.
    pub fn planes_of(&self, set: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        (set.as_u32()..set.as_u32() + self.planes()).map(PlaneId::from_u32)
    }
}

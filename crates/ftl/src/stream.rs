//! Streams: what is written together, where its blocks come from, and what they are used for.

use nand::{Geometry, Mode};

/// A sequence of blocks that one kind of data is written to; each plane has its own frontier.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Host writes.
    pub const HOST: Self = Self(0);
    /// Data moved by garbage collection.
    pub const GC: Self = Self(1);
    /// Cold data moved by wear levelling, onto the most worn free blocks.
    pub const WEAR: Self = Self(2);
    /// Host writes of high priority, where an order policy serves them first.
    pub const HOST_HIGH: Self = Self(3);
    /// Streams that always exist; those of a policy follow.
    pub const BUILT_IN: usize = 4;

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// What a block is used for; the numbers above `REGULAR` belong to the read-disturb policy.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Role(pub u8);

impl Role {
    /// An ordinary block.
    pub const REGULAR: Self = Self(0);
}

/// A set of blocks by address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pool {
    /// Every block.
    All,
    /// The highest thousandths of the block indices of each plane.
    Highest(u16),
}

impl Pool {
    /// The first block index (in each plane) that belongs to the pool.
    pub fn first_index(self, geometry: &Geometry) -> u32 {
        let blocks = geometry.blocks_per_plane() as u32;
        match self {
            Self::All => 0,
            Self::Highest(thousandths) => {
                blocks - (u64::from(blocks) * u64::from(thousandths) / 1_000) as u32
            }
        }
    }
}

/// Which free block a stream opens.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FreePick {
    /// The one that has been free longest.
    Oldest,
    /// The one with the least effective wear.
    LeastWorn,
    /// The one with the most effective wear.
    MostWorn,
    /// The one outside this pool that has been free longest; if there is none, the one in it.
    OutsideFirst(Pool),
}

/// How a stream's blocks are chosen and used.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StreamSpec {
    /// The role its blocks take on.
    pub role: Role,
    /// The mode they are opened in, if they are erased blocks of another.
    pub mode: Mode,
    /// Where they come from.
    pub pool: Pool,
    /// Which free block is opened.
    pub pick: FreePick,
    /// Where its data goes when the pool has no block to lend; `None`: it waits, and so may jobs
    /// for as long as nobody frees a block of the pool.
    pub fallback: Option<StreamId>,
    /// How many blocks of a plane may hold its data at a time; `None`: any number. A stream that
    /// has as many has no block to lend.
    pub cap: Option<u32>,
}

impl StreamSpec {
    /// Regular blocks from everywhere.
    pub const REGULAR: Self = Self {
        role: Role::REGULAR,
        mode: Mode::Full,
        pool: Pool::All,
        pick: FreePick::Oldest,
        fallback: None,
        cap: None,
    };
}

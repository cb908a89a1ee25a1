//! The answers of policies: streams and destinations, and plans, whose steps the FTL runs as
//! resumable jobs.

use nand::{BlockId, Geometry, Mode, Source};

/// A sequence of blocks that one kind of data is written to; each plane has its own frontier.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Host writes: the first stream of the separation policy that takes them.
    pub const HOST: Self = Self(0);
    /// Data moved by garbage collection: the first stream of the separation policy for moves alone. As a
    /// destination it means that the separation policy chooses.
    pub const GC: Self = Self(1);
    /// Cold data moved by wear levelling, onto the most worn free blocks.
    pub const WEAR: Self = Self(2);
    /// Host writes of high priority, if an order policy serves them first.
    pub const HOST_HIGH: Self = Self(3);
    /// Streams that always exist. Those of the read-disturb policy follow, then those of the page-choice
    /// policy, then the further streams of the separation policy.
    pub const BUILT_IN: usize = 4;

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// The use of a block. Numbers above `REGULAR` belong to the read-disturb policy.
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

/// The free block that a stream opens.
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

/// The writes that a stream is for, and so its part in what collection needs.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum StreamClass {
    /// Pages that a policy of another family sends there. It never has the reserve of collection.
    #[default]
    Own,
    /// Writes of the host.
    Host,
    /// Moved pages. Collection may open its reserve for them.
    Moves,
    /// Writes of the host and moved pages, in the same blocks. Collection may open its reserve for them,
    /// and the host waits until that is there again.
    Both,
}

impl StreamClass {
    /// Whether the host may write there.
    pub const fn takes_host(self) -> bool {
        matches!(self, Self::Host | Self::Both)
    }

    /// Whether collection may move pages there.
    pub const fn takes_moves(self) -> bool {
        matches!(self, Self::Moves | Self::Both)
    }
}

/// The choice and use of a stream's blocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StreamSpec {
    /// The name in results, if it is a stream of the separation policy.
    pub name: &'static str,
    /// The writes that it is for.
    pub class: StreamClass,
    /// The role its blocks take on.
    pub role: Role,
    /// The mode in which they are opened, if they are erased blocks of another.
    pub mode: Mode,
    /// The pool of its blocks.
    pub pool: Pool,
    /// The free block that it opens.
    pub pick: FreePick,
    /// The destination of its data when the pool has no block to lend. `None`: the data waits, and
    /// so may jobs until a block of the pool is freed.
    pub fallback: Option<StreamId>,
    /// How many blocks of a plane may hold its data at a time; `None`: any number. A stream that
    /// has as many has no block to lend.
    pub cap: Option<u32>,
}

impl StreamSpec {
    /// Regular blocks from everywhere.
    pub const REGULAR: Self = Self {
        name: "",
        class: StreamClass::Own,
        role: Role::REGULAR,
        mode: Mode::Full,
        pool: Pool::All,
        pick: FreePick::Oldest,
        fallback: None,
        cap: None,
    };

    /// The same, as a stream of a separation policy.
    pub const fn of(class: StreamClass, name: &'static str) -> Self {
        Self { name, class, ..Self::REGULAR }
    }
}

/// When data of the SLC cache moves to blocks at full density.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct FoldWhen {
    /// When a die has nothing else to do.
    pub idle: bool,
    /// When the cache has no free block left.
    pub pressure: bool,
}

/// What becomes of a write when the SLC cache has no room.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// It is programmed at full density; later writes go to the cache as soon as it has room.
    Direct,
    /// It waits until folding has made room.
    Wait,
    /// It and later writes are programmed at full density, until the cache is empty.
    Around,
}

/// The SLC cache of a drive: blocks whose cells hold one bit. Numbers are blocks of each plane, or
/// superblocks of each set of dies.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CacheSpec {
    /// Blocks that are always its own, and hold no other data.
    pub own: u32,
    /// Blocks of the shared pool that it has at most.
    pub most: u32,
    /// Of these, the blocks that it can always have.
    pub least: u32,
    /// When its data moves to blocks at full density.
    pub fold: FoldWhen,
    /// What becomes of a write when it has no room.
    pub full: WhenFull,
}

impl CacheSpec {
    /// Slots of each plane, or set of planes, that the cache keeps from data: its own blocks, those
    /// that it can always have, and an open one. Folding blocks of its own takes space before it
    /// gives any back, so collection keeps another block free and works on more of them.
    pub fn spare_slots(&self, geometry: &Geometry) -> u64 {
        let fold = if self.own > 0 { 3 } else { 0 };
        let blocks = self.own + self.least + u32::from(self.most > 0) + fold;
        u64::from(blocks) * u64::from(geometry.data_slots_per_superblock())
    }
}

/// The destination of moved pages.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dest {
    /// The frontier of a stream, in the plane of the block that they leave.
    Stream(StreamId),
    /// After the pages that a partly written block already holds.
    Block(BlockId),
    /// A block opened for this step from the stream's pool. It stays partly written, and
    /// [`Watch::on_open`] reports it. Pages that do not fit go to the stream's frontier. All of
    /// them go there when the stream has no block to lend.
    Fresh(StreamId),
}

impl Dest {
    /// The stream that the separation policy chooses.
    pub const MOVES: Self = Self::Stream(StreamId::GC);

    /// The stream of pages that go there, as far as the destination says it.
    pub(crate) fn stream(self) -> StreamId {
        match self {
            Self::Stream(stream) | Self::Fresh(stream) => stream,
            Self::Block(_) => StreamId::GC,
        }
    }
}

/// Pages of a block, by slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pages {
    /// Every valid one.
    All,
    /// These, in ascending order; those no longer valid when their turn comes are skipped.
    Some(Vec<u32>),
}

/// One thing that a policy wants done. The FTL runs plans as resumable jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Moves pages of a block.
    Copy {
        /// The block they leave.
        from: BlockId,
        /// The pages to move.
        pages: Pages,
        /// Their destination.
        to: Dest,
    },
    /// Moves the valid pages, then erases (or re-uses) the block.
    Reclaim {
        /// The block.
        block: BlockId,
        /// The destination of its valid pages.
        to: Dest,
    },
    /// In-place reprogramming to low density. The pages that it loses must have been copied by the
    /// step before. The step is dropped if some are valid when its turn comes, or if
    /// [`ReadDisturb::may_reprogram`] returns false.
    Reprogram {
        /// The block.
        block: BlockId,
        /// Extra wear of this life, in thousandths of a cycle.
        surcharge: u16,
        /// The role that it has afterwards.
        role: Role,
        /// Whether its read counter goes on, instead of starting again at zero.
        keep_reads: bool,
    },
    /// [`Step::Reclaim`], if the block is still at its read limit. A plan whose steps may be
    /// dropped ends with it, so that reads waiting for the block are served.
    ReclaimAtLimit {
        /// The block.
        block: BlockId,
        /// The destination of its valid pages.
        to: Dest,
    },
    /// Gives the block another role.
    SetRole(BlockId, Role),
    /// Sets the block's read counter to zero.
    ResetReads(BlockId),
    /// Makes a partly written block complete: its remaining slots are given up, and the plan waits
    /// until the slots given away before are programmed.
    Seal(BlockId),
}

/// How a job in the foreground shares its die.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub enum Hold {
    /// It keeps the place in the line at which it came; the order policy chooses between two of
    /// its operations.
    #[default]
    Place,
    /// It keeps the die from one operation to the next, until it needs another or has to wait.
    Die,
    /// After each operation it goes to the end of the line.
    Nothing,
}

/// The steps that a policy returns, and how they are to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The source of its flash operations: the source of the family that is asked.
    pub(crate) source: Source,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Only in idle time, giving way to everything else between two flash operations.
    pub background: bool,
    /// How it shares its die, if it is not for idle time only.
    pub hold: Hold,
}

impl Plan {
    /// A plan without steps; its operations count as `source`.
    pub fn of(source: Source) -> Self {
        Self { source, steps: Vec::new(), background: false, hold: Hold::Place }
    }

    /// Appends a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

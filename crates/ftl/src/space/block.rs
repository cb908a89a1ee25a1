//! Blocks: one column for each property, sized once from the geometry.
//!
//! Blocks of a superblock are opened, collected and erased together. So state, role, stream, age
//! and valid pages are those of the superblock. Its first block holds them, and any of its blocks
//! may be asked. Only the state is stored for every block, because it is read most. Slots given
//! away and reads on their way are those of the block alone.

use crate::{Role, StreamId};
use kernel::{Idx, IndexVec, prefetch};
use nand::{BlockId, Geometry, Superblocks};

/// The life-cycle state of a block.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Erased (or ready for a second generation), in its plane's free list.
    Free,
    /// Has slots left to write.
    Open,
    /// Every slot is given away; some programs are still on their way.
    Full,
    /// Complete: may be reclaimed.
    Closed,
    /// A job is moving its data away.
    Moving,
    /// Out of service.
    Bad,
}

impl State {
    /// All states, in the order of a block's life.
    pub const ALL: [Self; 6] =
        [Self::Free, Self::Open, Self::Full, Self::Closed, Self::Moving, Self::Bad];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Open => "open",
            Self::Full => "full",
            Self::Closed => "closed",
            Self::Moving => "moving",
            Self::Bad => "bad",
        }
    }
}

/// The flag in `rank` of a block that may not be reclaimed; above every count, so that the least
/// rank of a plane is a candidate whenever there is one. Both fit a positive `i32`, whose minimum
/// processors have in vector form.
const OUT: u32 = 1 << 30;

/// The columns of all blocks. "Block" is a superblock where several blocks make one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// Valid slots plus `lost`, with the flag `OUT`. The gain of reclaiming a block is
    /// `pages_per_block - rank`, in any mode and before any next generation.
    rank: IndexVec<BlockId, u32>,
    /// Slots that the block's next life will lack against a full block.
    lost: IndexVec<BlockId, u32>,
    /// Slots given away: the next slot to write is the first at or after this page.
    pub(super) written: IndexVec<BlockId, u32>,
    /// Reads on their way to this block: it is not erased before they are served.
    pins: IndexVec<BlockId, u32>,
    pub(super) state: IndexVec<BlockId, State>,
    pub(crate) role: IndexVec<BlockId, Role>,
    /// The stream that writes it.
    stream: IndexVec<BlockId, StreamId>,
    /// The count of closings when it closed. It gives the order of age.
    pub(super) closed_at: IndexVec<BlockId, u32>,
    pub(super) closings: u32,
    /// Slots for data in a superblock.
    slots: u32,
    superblocks: Superblocks,
}

impl Blocks {
    /// `slots`: those for data in a superblock.
    pub(super) fn new(geometry: &Geometry, slots: u32) -> Self {
        let n = geometry.blocks();
        Self {
            rank: IndexVec::filled(OUT, n),
            lost: IndexVec::filled(0, n),
            written: IndexVec::filled(0, n),
            pins: IndexVec::filled(0, n),
            state: IndexVec::filled(State::Free, n),
            role: IndexVec::filled(Role::REGULAR, n),
            stream: IndexVec::filled(StreamId::HOST, n),
            closed_at: IndexVec::filled(0, n),
            closings: 0,
            slots,
            superblocks: *geometry.superblocks(),
        }
    }

    /// Slots for data in a superblock at full density.
    #[inline]
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The block that holds the state shared by all of its superblock.
    #[inline(always)]
    fn first(&self, b: BlockId) -> BlockId {
        self.superblocks.first_of(b)
    }

    /// Valid slots of a block.
    #[inline]
    pub fn valid(&self, b: BlockId) -> u32 {
        let b = self.first(b);
        (self.rank[b] & !OUT) - self.lost[b]
    }

    /// Slots won by reclaiming the block now.
    #[inline]
    pub fn gain(&self, b: BlockId) -> u32 {
        self.slots - (self.rank[self.first(b)] & !OUT)
    }

    /// Whether the block may be reclaimed.
    #[inline]
    pub fn is_candidate(&self, b: BlockId) -> bool {
        self.rank[self.first(b)] & OUT == 0
    }

    /// Whether it is the first block of a superblock that may be reclaimed.
    #[inline]
    pub(crate) fn is_listed(&self, b: BlockId) -> bool {
        self.rank[b] & OUT == 0
    }

    /// The life-cycle state of the block.
    #[inline]
    pub fn state(&self, b: BlockId) -> State {
        self.state[b]
    }

    /// Whether all pages of the block are programmed, and it is not free again.
    #[inline]
    pub(crate) fn is_closed(&self, b: BlockId) -> bool {
        matches!(self.state[b], State::Closed | State::Moving)
    }

    /// The use of the block.
    pub fn role(&self, b: BlockId) -> Role {
        self.role[self.first(b)]
    }

    /// The stream that wrote it.
    pub fn stream(&self, b: BlockId) -> StreamId {
        self.stream[self.first(b)]
    }

    /// Page index from which on no slot of this block was given away.
    #[inline]
    pub fn written(&self, b: BlockId) -> u32 {
        self.written[b]
    }

    /// Reads on their way to this block.
    pub fn pins(&self, b: BlockId) -> u32 {
        self.pins[b]
    }

    /// When it closed, in closings since the start: smaller is older.
    pub fn closed_at(&self, b: BlockId) -> u32 {
        self.closed_at[self.first(b)]
    }

    /// Closings since the start: the clock of [`Blocks::closed_at`], which wraps at 2^32.
    pub fn closings(&self) -> u32 {
        self.closings
    }

    /// The candidate among some blocks that gains most, the first among equals. `i32` on purpose:
    /// see `OUT`.
    pub(crate) fn most_gain(&self, among: std::ops::Range<usize>) -> Option<BlockId> {
        let (first, ranks) = (among.start, &self.rank.as_slice()[among]);
        let least = ranks.iter().fold(i32::MAX, |a, &r| a.min(r.cast_signed())).cast_unsigned();
        let at = if least < OUT { ranks.iter().position(|&r| r == least) } else { None };
        at.map(|at| BlockId::new(first + at))
    }

    #[inline(always)] // every page that is written or moves comes by
    pub(crate) fn add_valid(&mut self, b: BlockId) {
        let b = self.first(b);
        self.rank[b] += 1;
    }

    pub(super) fn add_valid_pages(&mut self, b: BlockId, pages: u32) {
        let b = self.first(b);
        self.rank[b] += pages;
    }

    #[inline]
    pub(crate) fn drop_valid(&mut self, b: BlockId) {
        let b = self.first(b);
        self.rank[b] -= 1;
    }

    /// Loads into the processor's cache the counts that change when a slot of the block becomes
    /// invalid.
    #[inline]
    pub(crate) fn prefetch_valid(&self, b: BlockId) {
        prefetch(&self.rank[self.first(b)]);
    }

    #[inline]
    pub(crate) fn pin(&mut self, b: BlockId) {
        self.pins[b] += 1;
    }

    /// Whether that was the last one.
    #[inline]
    pub(crate) fn unpin(&mut self, b: BlockId) -> bool {
        self.pins[b] -= 1;
        self.pins[b] == 0
    }

    /// A superblock, or a block that is alone, has another state.
    pub(super) fn set_state(&mut self, b: BlockId, state: State) {
        if self.superblocks.are_blocks() {
            self.state[b] = state;
            return;
        }
        for b in self.superblocks.blocks_of(b) {
            self.state[b] = state;
        }
    }

    pub(super) fn open(&mut self, b: BlockId, stream: StreamId, role: Role) {
        debug_assert_eq!(self.state[b], State::Free);
        self.set_state(b, State::Open);
        self.stream[b] = stream;
        self.role[b] = role;
        debug_assert_eq!((self.written[b], self.first(b)), (0, b));
        debug_assert_eq!((self.rank[b] & OUT, self.lost[b]), (OUT, 0));
    }

    /// Makes the block a candidate whose next life lacks `lost` slots.
    pub(super) fn close(&mut self, b: BlockId, lost: u32) {
        let valid = self.valid(b);
        self.lost[b] = lost;
        self.rank[b] = valid + lost;
        self.set_state(b, State::Closed);
        self.closings = self.closings.wrapping_add(1);
        self.closed_at[b] = self.closings;
    }

    /// Closes a block that is not a candidate.
    pub(super) fn close_apart(&mut self, b: BlockId) {
        self.set_state(b, State::Closed);
        self.closings = self.closings.wrapping_add(1);
        self.closed_at[b] = self.closings;
    }

    /// Takes the block out of the candidates: a job empties it.
    pub(crate) fn begin_move(&mut self, b: BlockId) {
        self.rank[b] |= OUT;
        self.set_state(b, State::Moving);
    }

    /// Gives the block back to the candidates, with its former age.
    pub(crate) fn end_move(&mut self, b: BlockId) {
        debug_assert_eq!(self.state[b], State::Moving);
        self.rank[b] &= !OUT;
        self.set_state(b, State::Closed);
    }

    pub(super) fn set_bad(&mut self, b: BlockId) {
        debug_assert_eq!(self.valid(b), 0);
        self.set_state(b, State::Bad);
        self.rank[b] = OUT;
        self.lost[b] = 0;
    }

    /// The block is free, with the valid slots that it keeps: none, if it was erased.
    pub(super) fn set_free(&mut self, b: BlockId) {
        self.rank[b] = OUT | self.valid(b);
        self.set_state(b, State::Free);
        self.role[b] = Role::REGULAR;
        self.lost[b] = 0;
        if self.superblocks.are_blocks() {
            self.written[b] = 0;
            return;
        }
        for b in self.superblocks.blocks_of(b) {
            self.written[b] = 0;
        }
    }
}

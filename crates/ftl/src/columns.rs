//! Columns that only some drives keep: the level at which each page was programmed, and the host's
//! reads of each block.

use crate::Lpn;
use kernel::{Idx, IndexVec};
use nand::{BlockId, Each, Level, Mode, Packed, Ppn};

/// The cost level at which each page was programmed, kept only when levels vary.
pub(crate) struct PageLevels {
    /// The level of all pages, if levels do not vary.
    pub(crate) constant: Option<Level>,
    /// The level of an operation until it begins.
    pub(crate) usual: Level,
    packed: Packed<Level>,
}

impl PageLevels {
    /// `pages` pages, all at the level `initial`; `constant`: they stay there.
    pub(crate) fn new(pages: usize, constant: Option<Level>, initial: Level) -> Self {
        let pages = if constant.is_some() { 0 } else { pages };
        Self {
            constant,
            usual: constant.unwrap_or(initial),
            packed: Packed::filled(initial, pages),
        }
    }

    #[inline]
    pub(crate) fn get(&self, ppn: Ppn) -> Level {
        if let Some(level) = self.constant {
            return level;
        }
        self.packed.get(ppn.index())
    }

    /// Sets the level of a page; levels vary.
    #[inline]
    pub(crate) fn set(&mut self, ppn: Ppn, level: Level) {
        self.packed.set(ppn.index(), level);
    }
}

/// When the host wrote each page last, kept only for a separation policy that follows it.
pub(crate) struct Ages {
    /// Pages that the host has written.
    clock: u32,
    /// The count at each page's last write; 0: it was not written since counting began.
    last: IndexVec<Lpn, u32>,
}

impl Ages {
    pub(crate) fn new(kept: bool, logical_pages: u32) -> Self {
        let pages = if kept { logical_pages as usize } else { 0 };
        Self { clock: 0, last: IndexVec::filled(0, pages) }
    }

    /// Everything that a saved state does not contain is forgotten.
    pub(crate) fn begin_run(&mut self) {
        self.clock = 0;
        self.last.as_mut_slice().fill(0);
    }

    pub(crate) fn clock(&self) -> u32 {
        self.clock
    }

    /// Pages that the host wrote since it wrote this one; with the one that it writes now, if it does not
    /// move.
    pub(crate) fn of(&self, lpn: Lpn, moves: bool) -> Option<u32> {
        let last = *self.last.as_slice().get(lpn.index())?;
        let since = self.clock.wrapping_sub(last).wrapping_add(u32::from(!moves));
        (last > 0).then_some(since)
    }

    /// The host writes a page.
    pub(crate) fn note(&mut self, lpn: Lpn) {
        self.clock = self.clock.wrapping_add(1).max(1);
        self.last[lpn] = self.clock;
    }
}

/// Reads let in to each block since its last erase, as far as they are counted.
pub(crate) struct Reads {
    /// Empty when nobody counts.
    pub(crate) each: Vec<u32>,
    limits: Each<Mode, u32>,
    /// A block that was at its limit no longer is.
    pub(crate) unblocked: bool,
    /// Operations wait for pages of blocks at their limits.
    pub(crate) awaited: bool,
    /// Pages of such blocks that may be read again, kept while operations wait for them.
    pub(crate) left: Vec<Lpn>,
}

impl Reads {
    /// Columns of `blocks` blocks, with the host reads that they endure in each mode. They are
    /// empty if no policy counts reads.
    pub(crate) fn new(blocks: usize, limits: Each<Mode, u32>) -> Self {
        let each = vec![0; blocks];
        Self { each, limits, unblocked: false, awaited: false, left: Vec::new() }
    }

    #[inline]
    pub(crate) fn are_counted(&self) -> bool {
        !self.each.is_empty()
    }

    pub(crate) fn begin_run(&mut self) {
        self.each.fill(0);
        self.unblocked = false;
    }

    pub(crate) fn is_at_limit(&self, block: BlockId, mode: Mode) -> bool {
        self.each.get(block.index()).is_some_and(|n| *n >= self.limits[mode])
    }

    /// Lets one more read in. Returns whether it was the last.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, mode: Mode) -> bool {
        let limit = self.limits[mode];
        let count = &mut self.each[block.index()];
        assert!(
            *count < limit,
            "block {block} is read although it is at its limit of {limit} reads"
        );
        *count += 1;
        *count == limit
    }

    /// A block's reads count from zero again. Returns their number so far, if they count.
    pub(crate) fn restart(&mut self, block: BlockId) -> Option<u32> {
        let reads = self.each.get_mut(block.index())?;
        self.unblocked = true;
        Some(std::mem::take(reads))
    }
}

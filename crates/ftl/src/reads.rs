//! Host reads of blocks, and how many a block endures.

use kernel::Idx;
use nand::{BlockId, Mode};

/// Reads let in to each block since its last erase, as far as they are counted.
pub(crate) struct Reads {
    /// Empty when nobody counts.
    each: Vec<u32>,
    limits: [u32; Mode::ALL.len()],
    /// A block that was at its limit is not any more.
    pub(crate) relieved: bool,
}

impl Reads {
    /// Of so many blocks, which endure so many reads in each mode; of none, when nobody counts.
    pub(crate) fn new(blocks: usize, limits: [u32; Mode::ALL.len()]) -> Self {
        Self { each: vec![0; blocks], limits, relieved: false }
    }

    #[inline]
    pub(crate) fn are_counted(&self) -> bool {
        !self.each.is_empty()
    }

    pub(crate) fn each(&self) -> &[u32] {
        &self.each
    }

    /// Every block begins anew.
    pub(crate) fn begin_run(&mut self) {
        self.each.fill(0);
        self.relieved = false;
    }

    pub(crate) fn is_at_limit(&self, block: BlockId, mode: Mode) -> bool {
        self.each.get(block.index()).is_some_and(|n| *n >= self.limits[mode as usize])
    }

    /// Lets one more in; whether that was the last.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, mode: Mode) -> bool {
        let limit = self.limits[mode as usize];
        let count = &mut self.each[block.index()];
        assert!(
            *count < limit,
            "block {block} is read although it is at its limit of {limit} reads"
        );
        *count += 1;
        *count == limit
    }

    /// A block's reads count from zero again, if they count; how many there were.
    pub(crate) fn restart(&mut self, block: BlockId) -> Option<u32> {
        let reads = self.each.get_mut(block.index())?;
        self.relieved = true;
        Some(std::mem::take(reads))
    }
}

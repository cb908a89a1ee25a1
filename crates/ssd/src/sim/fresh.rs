//! Which pages a run has programmed.

use ftl::{Ftl, Kit};
use kernel::{BitSet, Idx};
use nand::{BlockId, Ppn};

/// Where the drive stood when the run began.
pub(crate) struct Fresh {
    /// Blocks that were erased.
    erased: BitSet,
    /// Those that were partly written, in order, and how far.
    open: Vec<(BlockId, u32)>,
}

impl Fresh {
    pub(crate) fn since<K: Kit>(ftl: &Ftl<K>) -> Self {
        let mut fresh = Self { erased: BitSet::new(ftl.geometry().blocks()), open: Vec::new() };
        for block in (0..ftl.geometry().blocks()).map(BlockId::new) {
            match ftl.array().next_page(block) {
                0 => fresh.erased.set(block.index()),
                next if next < ftl.geometry().pages_per_block() => fresh.open.push((block, next)),
                _ => {}
            }
        }
        fresh
    }

    /// Whether a slot was programmed since.
    pub(crate) fn has<K: Kit>(&self, ftl: &Ftl<K>, ppn: Ppn) -> bool {
        let (block, slot) = ftl.geometry().split(ppn);
        ftl.array().erases()[block] > 0
            || self.erased.get(block.index())
            || (self.open.binary_search_by_key(&block, |(b, _)| *b))
                .is_ok_and(|at| slot >= self.open[at].1)
    }
}

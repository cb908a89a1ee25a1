//! Which slots were programmed since the run began.

use kernel::{Idx, IndexVec};
use nand::{Array, BlockId, Store};

/// How far every block was written, and how often erased, when the run began.
pub(crate) struct Fresh(IndexVec<BlockId, (u32, u32)>);

impl Fresh {
    pub(crate) fn since<S: Store>(array: &Array<S>) -> Self {
        let mut blocks = IndexVec::filled((0, 0), array.geometry().blocks());
        for (at, state) in blocks.as_mut_slice().iter_mut().enumerate() {
            let block = BlockId::new(at);
            *state = (array.erases()[block], array.next_page(block));
        }
        Self(blocks)
    }

    /// Whether the page of a block that is named by its slot is younger than the run.
    pub(crate) fn has<S: Store>(&self, array: &Array<S>, block: BlockId, slot: u32) -> bool {
        let (erases, next) = self.0[block];
        array.erases()[block] != erases || slot >= next
    }
}

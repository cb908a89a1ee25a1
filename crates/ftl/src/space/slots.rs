//! Slots of blocks: which comes next, what the array is told of them.

use super::{Space, State};
use crate::stream::Role;
use nand::{BlockId, Mode, Ppn, Source, Store};

impl<S: Store> Space<S> {
    /// The next slot of an open block, and whether it is the last.
    #[inline]
    pub(crate) fn next_slot(&self, block: BlockId) -> Option<(u32, bool)> {
        let next = self.blocks.written(block);
        if self.plain {
            let pages = self.geometry.pages_per_block();
            return (next < pages).then_some((next, next + 1 == pages));
        }
        self.next_slot_of_mode(block, next)
    }

    #[inline(never)]
    fn next_slot_of_mode(&self, block: BlockId, next: u32) -> Option<(u32, bool)> {
        let mode = self.array.mode(block);
        let slot = self.layouts.slot_from(mode, next)?;
        Some((slot, self.layouts.slot_from(mode, slot + 1).is_none()))
    }

    /// Gives away a slot of an open block, at or after its next.
    #[inline(always)] // a call costs more than it does
    pub(crate) fn give(&mut self, block: BlockId, slot: u32, last: bool) -> Ppn {
        self.blocks.set_written(block, slot + 1);
        if last {
            self.set_full(block);
        }
        self.geometry.ppn(block, slot)
    }

    /// The next slot of a partly written block that is nobody's frontier.
    pub(crate) fn append(&mut self, block: BlockId) -> Option<Ppn> {
        if self.blocks.state(block) != State::Open || self.is_frontier(block) {
            return None; // a frontier is written through its stream
        }
        let (slot, last) = self.next_slot(block)?;
        Some(self.give(block, slot, last))
    }

    /// A slot of a block was programmed; whether the block is complete now.
    #[inline]
    pub(crate) fn program(
        &mut self,
        block: BlockId,
        ppn: Ppn,
        data: S::Page,
        source: Source,
    ) -> bool {
        if self.plain {
            self.array.program(ppn, data);
        } else {
            self.array.program_slot(ppn, data);
        }
        self.counts.program[source] += 1;
        self.blocks.state(block) == State::Full && self.is_programmed(block)
    }

    /// Whether no program of a block is on its way.
    #[inline]
    pub(crate) fn is_programmed(&self, block: BlockId) -> bool {
        self.array.next_page(block) >= self.blocks.written(block)
    }

    /// What a slot holds, read for `source`.
    #[inline]
    pub(crate) fn read(&mut self, ppn: Ppn, source: Source) -> S::Page {
        self.counts.read[source] += 1;
        self.array.read(ppn)
    }

    /// A block is going to be erased and begin its next life in `mode`.
    #[inline]
    pub(crate) fn widen_for(&mut self, mode: Mode) {
        if !self.plain {
            self.widest = self.widest.max(self.layouts.slots(mode));
        }
    }

    pub(crate) fn erase(&mut self, block: BlockId, mode: Mode, source: Source) {
        self.array.erase(block, mode);
        self.counts.erase[source] += 1;
    }

    /// A block loses pages in place; it is to be closed again.
    pub(crate) fn reprogram(&mut self, block: BlockId, surcharge: u16, role: Role, pages: u32) {
        self.array.reprogram_to_low(block, surcharge);
        self.counts.reprogram += 1;
        self.counts.reprogrammed_pages += u64::from(pages);
        self.plain = false;
        self.blocks.set_role(block, role);
    }
}

//! Halves the slots of every k-th block: low-density blocks among plain ones.
//!
//! Stands for every technique whose blocks hold less: guard levels, in-place reprogramming, pools of
//! single-level blocks. Each slot of a halved block takes two pages, programmed together.

use ftl::{Coding, FtlView, Interests, NextLife, Role, StreamId, Watch};
use nand::{BlockId, Layout, Layouts, Mode, SlotSpan};

/// Every `every`-th block has half its slots.
#[derive(Clone, Debug)]
pub(crate) struct Halved {
    every: u32,
    opened: u64,
}

impl Halved {
    pub(crate) fn every(every: u32) -> Self {
        Self { every, opened: 0 }
    }

    /// Two pages for each slot of a low-density block.
    pub(crate) fn layouts(pages: u32) -> Layouts {
        let span = SlotSpan::new(0, (0, 1), (0, 2));
        Layouts::new(pages).with(Mode::LowDensity, Layout::new(2, vec![span]))
    }

    fn mode(&self, block: BlockId) -> Mode {
        if block.as_u32().is_multiple_of(self.every) { Mode::LowDensity } else { Mode::Full }
    }
}

impl Watch for Halved {
    fn interests(&self) -> Interests {
        Interests::BLOCK
    }

    fn on_open(&mut self, block: BlockId, _: StreamId, _: Role) {
        self.opened += u64::from(self.mode(block) == Mode::LowDensity);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("halved blocks opened", self.opened as f64)]
    }
}

impl Coding for Halved {
    fn first_life(&self, block: BlockId) -> Mode {
        self.mode(block)
    }

    fn next_life(&mut self, _: &FtlView<'_>, block: BlockId) -> NextLife {
        NextLife::Erase(self.mode(block))
    }
}

//! Gives every block a second life before it is erased, as a write-once-memory code does.

use ftl::{Coding, FtlView, Interests, NextLife, Watch};
use kernel::Time;
use nand::{BlockId, Layout, Layouts, Mode};

/// Every block is written twice between two erases.
#[derive(Clone, Default, Debug)]
pub(crate) struct Twice {
    lives: u64,
}

impl Twice {
    /// Two slots on three pages in both generations: a code of rate two thirds.
    pub(crate) fn two_thirds(pages: u32) -> Layouts {
        Layouts::new(pages)
    }

    /// A slot on each page in both generations: a code within the page.
    pub(crate) fn plain(pages: u32) -> Layouts {
        Layouts::new(pages).with(Mode::Wom1, Layout::plain()).with(Mode::Wom2, Layout::plain())
    }
}

impl Watch for Twice {
    fn interests(&self) -> Interests {
        Interests::BLOCK
    }

    fn on_erase(&mut self, _: BlockId, _: Time) {
        self.lives += 1;
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("lives ended", self.lives as f64)]
    }
}

impl Coding for Twice {
    fn first_life(&self, _: BlockId) -> Mode {
        Mode::Wom1
    }

    fn next_life(&mut self, view: &FtlView<'_>, block: BlockId) -> NextLife {
        let mode = view.modes[block];
        // A block that was sealed half written cannot be written over.
        let complete = view.layouts.slot_from(mode, view.blocks.written(block)).is_none();
        if mode == Mode::Wom1 && complete {
            NextLife::SecondGeneration
        } else {
            NextLife::Erase(Mode::Wom1)
        }
    }
}

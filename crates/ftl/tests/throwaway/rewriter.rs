//! Writes pages that are read often anew when their die is idle, at a level that reads quickly.
//!
//! A model of the cost policies. Host writes are cheap (low), a page read twice since it was
//! written is worth a fine re-write (high), and moves keep the level that they find.

use ftl::{Access, AccessKind, Cost, FtlView, Interests, Lpn, Watch, WriteCtx};
use kernel::IndexVec;
use nand::{DieId, Geometry, Level, Source};
use std::collections::VecDeque;

/// Re-writes in idle time.
#[derive(Clone, Debug)]
pub(crate) struct Rewriter {
    /// Reads of each logical page since it was written.
    reads: IndexVec<Lpn, u8>,
    worth: VecDeque<Lpn>,
    asked: u64,
    written: u64,
}

impl Rewriter {
    pub(crate) fn new() -> Self {
        Self { reads: IndexVec::filled(0, 0), worth: VecDeque::new(), asked: 0, written: 0 }
    }
}

impl Watch for Rewriter {
    fn interests(&self) -> Interests {
        Interests::ACCESS.with(Interests::IDLE)
    }

    fn attach(&mut self, _: &Geometry, logical_pages: u32) {
        self.reads = IndexVec::filled(0, logical_pages as usize);
    }

    fn on_access(&mut self, access: &Access) {
        let reads = &mut self.reads[access.lpn];
        *reads = if access.kind == AccessKind::Read { reads.saturating_add(1) } else { 0 };
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("re-writes asked for", self.asked as f64), ("levels raised", self.written as f64)]
    }
}

impl Cost for Rewriter {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        match w.tag.source {
            Source::Host => Level::LowCost,
            Source::Rewrite => {
                self.written += 1;
                Level::HighCost
            }
            _ => w.stored.expect("a move knows the level of what it copies"),
        }
    }

    fn follow(&mut self, access: &Access, stored: Option<Level>) {
        let worth = access.kind == AccessKind::Read
            && self.reads[access.lpn] == 2
            && stored.is_some_and(|level| level != Level::HighCost);
        if worth {
            self.worth.push_back(access.lpn);
        }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        let is_here = |lpn: &Lpn| {
            let at = view.map.lookup(*lpn);
            at.is_some_and(|ppn| view.geometry.die_of(view.geometry.block_of(ppn)) == die)
        };
        let at = self.worth.iter().position(is_here)?;
        self.asked += 1;
        self.worth.remove(at)
    }

    fn dram_bits_per_page(&self) -> u32 {
        8
    }
}

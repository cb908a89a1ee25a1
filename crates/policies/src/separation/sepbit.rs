//! `sepbit`: separation by the inferred time at which a page will be overwritten.
//!
//! A page that is overwritten soon was often overwritten soon before. So a write of the host whose
//! predecessor lived less than a threshold goes to class 0, and any other to class 1. A page
//! that collection moves from class 0 has outlived its guess and goes to class 2. Other moves go to classes
//! 3, 4 and 5 by their age. The threshold `l` is the mean lifetime of the last 16 blocks of class 0 that
//! were collected; before the first 16 it is infinite.
//!
//! The paper keeps the recent writes in a queue whose length follows `l`, and a page that is not
//! there counts as long-lived. Here each page has the time of its last write, and the length of the
//! queue alone is simulated: the answers are equal. Times count pages that the host writes. The paper
//! takes them for each volume and here they are those of the drive.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PageCtx, Separation, StreamClass, StreamSpec, Watch};
use kernel::IndexVec;
use nand::{BlockId, Geometry};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "sepbit",
    summary: "Six classes by how long the page's last copy lived, and by age where it moves.",
    paper: "Wang et al., Separating data via block invalidation time inference for write \
            amplification reduction in log-structured storage (SepBIT), FAST 2022",
    ..PolicyInfo::of(Family::Separation)
};

/// Collected blocks of class 0 whose lifetimes make a mean.
const BLOCKS: u32 = 16;

/// Classes by the inferred end of pages.
#[derive(Clone, Debug)]
pub struct SepBit {
    /// The mean lifetime; `u32::MAX`: infinite.
    threshold: u32,
    /// Entries of the queue of recent writes.
    queue: u32,
    /// When each block was opened for class 0.
    opened: IndexVec<BlockId, u32>,
    collected: u32,
    lifetimes: u64,
    pages: u64,
    by_class: [u64; 2],
}

pub(crate) fn new(_: &Params) -> SepBit {
    SepBit::over(0)
}

impl SepBit {
    /// For an array of this number of blocks.
    fn over(blocks: usize) -> Self {
        Self {
            threshold: u32::MAX,
            queue: 0,
            opened: IndexVec::filled(0, blocks),
            collected: 0,
            lifetimes: 0,
            pages: 0,
            by_class: [0; 2],
        }
    }
}

impl Watch for SepBit {
    fn attach(&mut self, geometry: &Geometry, logical_pages: u32) {
        self.opened = IndexVec::filled(0, geometry.blocks());
        self.pages = logical_pages.into();
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        let known = if self.threshold == u32::MAX { 0 } else { self.threshold };
        vec![
            ("short_lived_writes", self.by_class[0] as f64),
            ("other_writes", self.by_class[1] as f64),
            ("threshold_pages", known.into()),
        ]
    }
}

impl Separation for SepBit {
    fn streams(&self) -> Vec<StreamSpec> {
        let host = ["short-lived", "other"].map(|name| StreamSpec::of(StreamClass::Host, name));
        let moved = ["from-short-lived", "young", "middle", "old"];
        let moved = moved.map(|name| StreamSpec::of(StreamClass::Moves, name));
        host.into_iter().chain(moved).collect()
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        if !page.moves {
            // The queue has the last writes, so the oldest of them is as many writes ago as it is long.
            let short = |lifetime| lifetime < self.threshold && lifetime <= self.queue;
            return u8::from(!page.age.is_some_and(short));
        }
        if page.from == Some(0) {
            return 2;
        }
        let age = u64::from(page.age.unwrap_or(u32::MAX));
        match u64::from(self.threshold) {
            l if age < 4 * l => 3,
            l if age < 16 * l => 4,
            _ => 5,
        }
    }

    fn follows(&self) -> bool {
        true
    }

    fn on_placed(&mut self, _: &PageCtx, stream: u8) {
        self.by_class[usize::from(stream.min(1))] += 1;
        // A write joins the queue. It may have as many entries as the threshold; while it has more, two leave
        // it with each.
        if self.queue < self.threshold {
            self.queue += 1;
        } else if self.queue > self.threshold {
            self.queue -= 1;
        }
    }

    fn on_opened(&mut self, block: BlockId, _: u8, clock: u32) {
        self.opened[block] = clock;
    }

    fn on_collected(&mut self, block: BlockId, stream: u8, clock: u32) {
        if stream != 0 {
            return;
        }
        self.lifetimes += u64::from(clock.wrapping_sub(self.opened[block]));
        self.collected += 1;
        if self.collected == BLOCKS {
            self.threshold = (self.lifetimes / u64::from(BLOCKS)) as u32;
            (self.collected, self.lifetimes) = (0, 0);
        }
    }

    /// The time of the last write of each page, and the time at which each block was opened.
    fn dram_bytes(&self) -> u64 {
        4 * (self.pages + self.opened.as_slice().len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block was opened at a time and collected at another, 16 times.
    fn learned(lifetime: u32) -> SepBit {
        let mut sepbit = SepBit::over(4);
        let block = BlockId::from_u32(2);
        for n in 0..BLOCKS {
            assert_eq!(sepbit.threshold, u32::MAX, "after {n} blocks");
            sepbit.on_opened(block, 0, 1_000 * n);
            sepbit.on_collected(block, 1, 5_000 * n);
            sepbit.on_collected(block, 0, 1_000 * n + lifetime);
        }
        sepbit
    }

    #[test]
    fn the_threshold_is_the_mean_of_sixteen_blocks() {
        let mut sepbit = learned(50);
        assert_eq!(sepbit.threshold, 50);
        sepbit.queue = 50;
        let of = |sepbit: &mut SepBit, moves, from, age| {
            sepbit.stream(&PageCtx { from, age, ..super::super::page(moves) })
        };
        for (age, class) in [(Some(1), 0), (Some(49), 0), (Some(50), 1), (None, 1)] {
            assert_eq!(of(&mut sepbit, false, Some(5), age), class, "{age:?}");
        }
        // Only the last twenty writes are known.
        sepbit.queue = 20;
        for (age, class) in [(20, 0), (21, 1)] {
            assert_eq!(of(&mut sepbit, false, Some(5), Some(age)), class, "{age}");
        }
        sepbit.queue = 50;
        let ages = [(0, 3), (199, 3), (200, 4), (799, 4), (800, 5), (u32::MAX, 5)];
        for (age, class) in ages {
            assert_eq!(of(&mut sepbit, true, Some(1), Some(age)), class, "{age}");
            assert_eq!(of(&mut sepbit, true, Some(0), Some(age)), 2);
        }
        assert_eq!(of(&mut sepbit, true, None, None), 5, "its age is not known");
    }

    /// The queue holds as many writes as the threshold, and one that has more shrinks by one with each.
    #[test]
    fn the_queue_follows_the_threshold() {
        let mut sepbit = SepBit::over(1);
        let page = super::super::page(false);
        (0..300).for_each(|_| sepbit.on_placed(&page, 1));
        assert_eq!(sepbit.queue, 300, "without a threshold it keeps everything");
        sepbit.threshold = 100;
        (0..150).for_each(|_| sepbit.on_placed(&page, 1));
        assert_eq!(sepbit.queue, 150);
        (0..150).for_each(|_| sepbit.on_placed(&page, 1));
        assert_eq!(sepbit.queue, 100);
    }
}

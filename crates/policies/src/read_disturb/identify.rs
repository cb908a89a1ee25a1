//! How read-hot pages are found, at two levels (IPR III.B).
//!
//! Blocks reach their limit again after an interval. A refreshed block whose interval is shorter
//! than the mean holds read-hot pages. Its data moves to a *monitor* block, in which each page has
//! a counter. When the monitor block reaches its limit, pages with more reads than its average page
//! are read-hot.

use super::{MONITOR, MONITORED, REFRESHED, share};
use ftl::{FtlView, Role, StreamId, StreamSpec};
use kernel::{IndexVec, Time, TimeSum};
use nand::{BlockId, Geometry, Ppn};

/// A block without counters of its pages.
const NO_ROW: u32 = u32::MAX;

/// Finds read-hot pages.
#[derive(Default)]
pub(super) struct Identifier {
    /// Percent of a plane's blocks that may be monitored.
    percent: u64,
    pages: usize,
    /// The time of the refresh that opened a block. It is `None` for data of the host or garbage
    /// collection, which has no interval.
    refreshed: IndexVec<BlockId, Option<Time>>,
    /// The last known time, for blocks that are opened.
    now: Time,
    /// Intervals between two refreshes so far.
    intervals: u64,
    together: TimeSum,
    row: IndexVec<BlockId, u32>,
    free_rows: Vec<u32>,
    /// Reads of each page of each monitor block.
    reads: Vec<u16>,
    monitored: u64,
    most: usize,
    rows: usize,
    shorter: u64,
    hot_pages: u64,
}

impl Identifier {
    pub(super) fn new(percent: u64) -> Self {
        Self { percent, ..Self::default() }
    }

    pub(super) fn attach(&mut self, geometry: &Geometry) {
        let blocks = geometry.blocks();
        self.pages = geometry.pages_per_block() as usize;
        self.rows = share(geometry, self.percent) as usize * geometry.planes();
        self.refreshed = IndexVec::filled(None, blocks);
        self.row = IndexVec::filled(NO_ROW, blocks);
        self.free_rows = (0..self.rows as u32).rev().collect();
        self.reads = vec![0; self.rows * self.pages];
    }

    /// The stream of monitor blocks.
    pub(super) fn spec(&self, geometry: &Geometry) -> StreamSpec {
        StreamSpec {
            role: MONITOR,
            fallback: Some(REFRESHED),
            cap: Some(share(geometry, self.percent)),
            ..StreamSpec::REGULAR
        }
    }

    /// Takes note of the time.
    pub(super) fn tick(&mut self, now: Time) {
        self.now = now;
    }

    /// The last known time.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    pub(super) fn on_open(&mut self, block: BlockId, stream: StreamId, role: Role) {
        let by_refresh = usize::from(stream.0) >= StreamId::BUILT_IN;
        self.refreshed[block] = by_refresh.then_some(self.now);
        if role == MONITOR {
            let row = self.free_rows.pop().expect("there are no more monitor blocks than rows");
            self.row[block] = row;
            self.reads[row as usize * self.pages..][..self.pages].fill(0);
            self.monitored += 1;
            self.most = self.most.max(self.rows - self.free_rows.len());
        }
    }

    pub(super) fn on_erased(&mut self, block: BlockId) {
        let row = std::mem::replace(&mut self.row[block], NO_ROW);
        if row != NO_ROW {
            self.free_rows.push(row);
        }
    }

    /// Counts a read of a page of a monitor block.
    pub(super) fn on_read(&mut self, geometry: &Geometry, ppn: Ppn) {
        let (block, slot) = geometry.split(ppn);
        let row = self.row[block];
        if row != NO_ROW {
            let reads = &mut self.reads[row as usize * self.pages + slot as usize];
            *reads = reads.saturating_add(1);
        }
    }

    /// Whether a block reached its limit sooner after its last refresh than blocks do on average.
    /// Its interval counts in that average from now on.
    fn is_early(&mut self, block: BlockId) -> bool {
        let Some(since) = self.refreshed[block] else { return false };
        let interval = self.now - since;
        let early = TimeSum::from(interval) * self.intervals < self.together;
        self.together += interval;
        self.intervals += 1;
        self.shorter += u64::from(early);
        early
    }

    /// The stream for the data of a regular block at its limit.
    pub(super) fn stream_of(&mut self, block: BlockId) -> StreamId {
        if self.is_early(block) { MONITORED } else { REFRESHED }
    }

    /// Counts the interval of a block of another role too.
    pub(super) fn note(&mut self, block: BlockId) {
        self.is_early(block);
    }

    /// The valid pages of a monitor block that were read more than the average one.
    pub(super) fn hot(&mut self, view: &FtlView<'_>, block: BlockId) -> Vec<u32> {
        let row = self.row[block];
        if row == NO_ROW {
            return Vec::new();
        }
        let reads = &self.reads[row as usize * self.pages..][..self.pages];
        let valid = || (0..self.pages as u32).filter(|slot| view.map.is_valid(block, *slot));
        let of = |slot: &u32| u64::from(reads[*slot as usize]);
        let (count, sum) = (valid().count() as u64, valid().map(|slot| of(&slot)).sum::<u64>());
        let hot: Vec<u32> = valid().filter(|slot| of(slot) * count > sum).collect();
        self.hot_pages += hot.len() as u64;
        hot
    }

    /// A timestamp of the last refresh for each block, and two bytes for each page of the blocks
    /// that may be monitored.
    pub(super) fn dram_bytes(&self) -> u64 {
        self.row.len() as u64 * super::WORD + (self.rows * self.pages * 2) as u64
    }

    pub(super) fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("intervals", self.intervals as f64),
            ("short_intervals", self.shorter as f64),
            ("monitor_blocks_opened", self.monitored as f64),
            ("monitor_blocks_most", self.most as f64),
            ("monitor_blocks_allowed", self.rows as f64),
            ("hot_pages_found", self.hot_pages as f64),
        ]
    }
}

//! The configuration of a drive's FTL.

use nand::{Geometry, Layouts};

/// When garbage collection starts and stops, in free blocks of a plane. If several blocks make a
/// superblock: in free superblocks of their dies.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GcMarks {
    /// Starts when fewer are free.
    pub start: u32,
    /// Stops when this many are free.
    pub stop: u32,
    /// Goes on in idle time until this many are free; 0: never works in idle time.
    pub background_stop: u32,
    /// One block at a time; the rest in idle time, unless fewer than `start` are free.
    pub one_by_one: bool,
    /// As fast as the host writes, unless operations wait for space; otherwise as fast as it can.
    pub paced: bool,
}

/// The configuration of a drive's FTL.
#[derive(Clone, Debug)]
pub struct Config {
    /// The array.
    pub geometry: Geometry,
    /// The layout of slots in each mode.
    pub layouts: Layouts,
    /// Exported pages.
    pub logical_pages: u32,
    /// When garbage collection starts and stops.
    pub gc: GcMarks,
    /// Effective P/E cycles after which a block is retired; 0: never.
    pub endurance: u32,
    /// The seed of the run.
    pub seed: u64,
}

impl Config {
    /// Physical pages that a drive needs beside its data. In each plane these are the free blocks
    /// at which garbage collection stops, and an open block each for the host and for moved data.
    /// With fewer, there may be no block whose reclaiming gains anything. Moved data takes whole
    /// program units. So each block may keep up to one unit less one page that reclaiming it does
    /// not gain. Slots of parity hold no data, so they do not count. On a drive with superblocks,
    /// planes are sets of dies and blocks are superblocks.
    pub fn spare_needed(&self) -> u64 {
        let sets = self.geometry.sets() as u64;
        let blocks = u64::from(self.gc.stop + 2) * sets;
        let all = sets * self.geometry.superblocks_per_set() as u64;
        let kept = u64::from(self.geometry.slots_per_program() - 1) * all;
        blocks * u64::from(self.geometry.data_slots_per_superblock()) + kept
    }
}

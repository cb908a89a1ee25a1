//! Space: blocks and planes, their writers, and the free blocks, over the flash array. It decides
//! which writes are possible, and keeps the space that collection needs. Policies choose among the
//! possible writes. Space never asks a policy: its callers do.

mod block;
mod cache;
mod check;
mod life;
mod plane;
mod saved;

pub use block::{Blocks, State};
pub use cache::SingleCounts;
pub(crate) use cache::{CacheBlocks, CacheDemand};
pub use plane::RESERVE;
pub use saved::{Damaged, seal};

use crate::{Config, Counts, Pool, StreamId, StreamSpec};
use kernel::BitSet;
use nand::{Array, BlockId, Each, Geometry, Layouts, Mode, PlaneId, Ppn, Store};
use plane::PlaneColumns;

/// The demands of a drive's policies on its space, asked once.
pub(crate) struct Demands {
    /// How blocks are opened for each stream.
    pub(crate) streams: Vec<StreamSpec>,
    /// Those that take writes of the host, in the order of `writable`.
    pub(crate) hosts: Vec<StreamId>,
    /// Free blocks of each plane that only collection may open ([`RESERVE`], or more).
    pub(crate) reserve: usize,
    /// Free blocks of each plane below which it is short, whatever the marks say.
    pub(crate) least: usize,
    /// No block holds pages of two streams of the host.
    pub(crate) isolates: bool,
    /// A pool, and how many free blocks of it each plane keeps.
    pub(crate) keeps: Option<(Pool, u32)>,
    /// Every block is always in full mode, unless a stream wants another.
    pub(crate) plain: bool,
    /// The space that refreshes take and give back is counted.
    pub(crate) charged: bool,
    /// Pages without which the drive cannot hold its data and go on.
    pub(crate) pages: u64,
    /// The SLC cache, if there is one.
    pub(crate) cache: Option<CacheDemand>,
}

/// Blocks, planes and the array. Between two calls [`Space::check`] holds.
pub(crate) struct Space<S: Store> {
    pub(crate) geometry: Geometry,
    pub(crate) layouts: Layouts,
    pub(crate) blocks: Blocks,
    planes: PlaneColumns,
    array: Array<S>,
    pub(crate) demands: Demands,
    /// Units are given away in the order of stripes: several blocks make a superblock, or some
    /// units hold parity.
    pub(crate) striped: bool,
    /// The first slots of parity units whose stripes have their data, and whose program has not
    /// begun.
    pub(crate) parity_due: Vec<Ppn>,
    /// Superblocks under erase, of which a block has had the cycles that it endures.
    worn: Vec<BlockId>,
    /// Every block is in full mode and always was: slots are pages.
    pub(crate) plain: bool,
    /// Every free block has as many slots as any other.
    alike: bool,
    /// The blocks of the SLC cache, if there is one.
    cache: Option<Box<CacheBlocks>>,
    /// The most slots that a block has or had. The valid pages of a victim may need as many.
    widest: u32,
    /// Planes with room for a host write, for each stream of those.
    pub(crate) writable: Vec<BitSet>,
    /// A block became free: waiting writes may try again.
    pub(crate) freed: bool,
    /// Pages of space of each plane that refreshes took and have not given back; empty if no policy
    /// counts.
    charged: Vec<i64>,
    /// The slots without valid data in closed blocks of each plane; empty if nothing needs them.
    garbage: Vec<u32>,
    /// Effective wear at which a block is retired, in thousandths of a cycle.
    endurance: u32,
    /// The run has begun, and blocks retire.
    ages: bool,
    /// The block that is erased next stays in use beyond its rated cycles.
    pub(crate) healed: bool,
    /// Blocks to be retired when they are empty, at any wear.
    pub(crate) marked_bad: Vec<BlockId>,
    /// So many blocks are retired that the drive has less space than it needs.
    pub(crate) worn_out: bool,
    /// Its share of them.
    pub(crate) counts: Counts,
}

impl<S: Store> Space<S> {
    /// Every block is free.
    pub(crate) fn new(config: &Config, array: Array<S>, demands: Demands) -> Self {
        let geometry = config.geometry;
        let striped = geometry.superblocks().are_striped();
        let slots = geometry.data_slots_per_superblock();
        let widest = array.modes().as_slice().iter().map(|m| config.layouts.slots(*m)).max();
        let widest = if striped { Some(slots) } else { widest };
        let mut space = Self {
            geometry,
            layouts: config.layouts.clone(),
            blocks: Blocks::new(&geometry, slots),
            planes: PlaneColumns::new(&geometry, &demands.streams),
            plain: demands.plain && demands.streams.iter().all(|s| s.mode == Mode::Full),
            // Blocks of the cache are erased to full density.
            alike: demands.plain
                && demands.streams.iter().all(|s| matches!(s.mode, Mode::Full | Mode::Slc)),
            cache: demands.cache.map(|demand| Box::new(CacheBlocks::new(demand, &geometry))),
            striped,
            parity_due: Vec::new(),
            worn: Vec::new(),
            array,
            widest: widest.expect("a drive has blocks"),
            writable: vec![BitSet::new(geometry.planes()); demands.hosts.len()],
            freed: false,
            charged: vec![0; if demands.charged { geometry.planes() } else { 0 }],
            garbage: Vec::new(),
            demands,
            endurance: config.endurance.saturating_mul(1_000),
            ages: false,
            healed: false,
            marked_bad: Vec::new(),
            worn_out: false,
            counts: Counts::default(),
        };
        space.set_own_apart();
        geometry.set_ids().for_each(|p| space.update_writable(p));
        space
    }

    /// Counts, debts and wear are forgotten. Blocks age from now on, if they are to.
    pub(crate) fn restart(&mut self, ages: bool) {
        self.counts = Counts::default();
        if let Some(cache) = &mut self.cache {
            cache.counts = SingleCounts::default();
        }
        self.array.reset_wear();
        self.freed = false;
        self.charged.fill(0);
        self.marked_bad.clear();
        self.ages = ages && self.endurance > 0;
    }

    /// The wear of a cycle in each mode.
    pub(crate) fn set_cycle_wear(&mut self, wear: Each<Mode, u32>) {
        self.array.set_cycle_wear(wear);
    }

    #[inline]
    pub(crate) fn array(&self) -> &Array<S> {
        &self.array
    }

    /// Free blocks of a plane: a free superblock has one in each plane of its set.
    #[inline]
    pub(crate) fn free_blocks(&self, plane: PlaneId) -> usize {
        self.planes.each[self.geometry.superblocks().set_of(plane)].free.len()
    }

    /// The work on blocks with one bit in a cell, if there are any.
    pub(crate) fn single_counts(&self) -> Option<&SingleCounts> {
        self.cache.as_ref().map(|cache| &cache.counts)
    }

    fn stream_ids(&self) -> impl Iterator<Item = StreamId> + use<S> {
        (0..self.demands.streams.len() as u8).map(StreamId)
    }
}

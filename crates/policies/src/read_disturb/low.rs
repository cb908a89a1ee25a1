//! Blocks with guard levels: their number, the first to give up, and how well they were used.

use super::{LOW, share};
use ftl::{FtlView, State};
use kernel::{Idx, IndexVec, Time};
use nand::{BlockId, Geometry, Layouts, Mode, PlaneId};

/// Names of the counts of blocks with guard levels by the share of their reads that was used when
/// they were erased, in tenths; the last used them all.
const USED: [&str; 11] = [
    "low_used_0",
    "low_used_10",
    "low_used_20",
    "low_used_30",
    "low_used_40",
    "low_used_50",
    "low_used_60",
    "low_used_70",
    "low_used_80",
    "low_used_90",
    "low_used_100",
];

/// The blocks with guard levels.
#[derive(Default)]
pub(super) struct Lows {
    percent: u64,
    limit: u32,
    cap: u32,
    /// Since when a block has had guard levels.
    since: IndexVec<BlockId, Option<Time>>,
    /// Whether a plan is about to give the block up.
    leaving: IndexVec<BlockId, bool>,
    /// By plane: those there are.
    now: Vec<u32>,
    most: u32,
    given_up: u64,
    used: [u64; 11],
}

impl Lows {
    pub(super) fn new(percent: u64, limit: u32) -> Self {
        Self { percent, limit, ..Self::default() }
    }

    pub(super) fn attach(&mut self, geometry: &Geometry) {
        self.cap = share(geometry, self.percent);
        self.since = IndexVec::filled(None, geometry.blocks());
        self.leaving = IndexVec::filled(false, geometry.blocks());
        self.now = vec![0; geometry.planes()];
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    /// The greatest number of such blocks in a plane.
    pub(super) fn cap_of(&self, geometry: &Geometry) -> u32 {
        share(geometry, self.percent)
    }

    /// Whether `more` such blocks would be too many for a plane.
    pub(super) fn is_full(&self, plane: PlaneId, more: u32) -> bool {
        self.now[plane.index()] + more > self.cap
    }

    /// Notes that a block of a plane is about to get guard levels.
    pub(super) fn reserve(&mut self, plane: PlaneId) {
        self.now[plane.index()] += 1;
        self.most = self.most.max(self.now.iter().sum());
    }

    /// Notes that a block has guard levels from now on.
    pub(super) fn begin(&mut self, block: BlockId, now: Time) {
        self.since[block] = Some(now);
    }

    /// Notes that a block with guard levels is erased after this number of reads.
    pub(super) fn end(&mut self, geometry: &Geometry, block: BlockId, reads: u32) {
        self.leaving[block] = false;
        self.now[geometry.plane_of(block).index()] -= 1;
        // A block of fine steps may have had more reads than the limit of others.
        let tenths = (u64::from(reads) * 10 / u64::from(self.limit)).min(10);
        self.used[tenths as usize] += 1;
    }

    /// Takes the block of a plane that is to be given up: the one with the fewest reads for its
    /// time, of equals the first.
    pub(super) fn take_idlest(
        &mut self,
        view: &FtlView<'_>,
        plane: PlaneId,
        now: Time,
    ) -> Option<BlockId> {
        let reads = |b: BlockId| view.reads[b.index()];
        let candidates = view.geometry.blocks_of(plane).map(BlockId::new).filter(|b| {
            view.blocks.role(*b) == LOW
                && view.blocks.state(*b) == State::Closed
                && !self.leaving[*b]
                && !view.is_at_limit(*b)
        });
        let mut idlest: Option<(BlockId, u128, u128)> = None;
        for b in candidates {
            let Some(since) = self.since[b] else { continue };
            let (n, time) = (u128::from(reads(b)), u128::from((now - since).as_ns().max(1)));
            if idlest.is_none_or(|(_, least, over)| n * over < least * time) {
                idlest = Some((b, n, time));
            }
        }
        let (block, ..) = idlest?;
        self.leaving[block] = true;
        self.given_up += 1;
        Some(block)
    }

    /// Whether a block has guard levels and is worth keeping: three quarters of the pages that it
    /// was given are valid. Below that it is dead space, for which other blocks would have to make
    /// up.
    pub(super) fn protects(view: &FtlView<'_>, block: BlockId) -> bool {
        view.blocks.role(block) == LOW
            && view.blocks.valid(block) * 4
                >= view.layouts.slots_before(Mode::LowDensity, view.blocks.written(block)) * 3
    }

    /// The greatest number of slots that the blocks of a plane lack.
    pub(super) fn lost_slots(&self, geometry: &Geometry) -> u64 {
        let lost = geometry.pages_per_block() - Layouts::of(geometry).slots(Mode::LowDensity);
        u64::from(self.cap_of(geometry)) * u64::from(lost)
    }

    pub(super) fn counters(&self) -> Vec<(&'static str, f64)> {
        let planes = self.now.len() as f64;
        let mut all = vec![
            ("low_blocks", f64::from(self.now.iter().sum::<u32>())),
            ("low_blocks_most", f64::from(self.most)),
            ("low_blocks_allowed", f64::from(self.cap) * planes),
            ("low_blocks_given_up", self.given_up as f64),
        ];
        all.extend(USED.into_iter().zip(self.used).map(|(name, n)| (name, n as f64)));
        all
    }
}

//! `stable-greedy`: the block that gains most, among those that have stopped losing pages.
//!
//! A block whose pages are being overwritten will be emptier if it is left alone. Greedy reclaims
//! it too early if writes are skewed. This policy prefers blocks that lost no page for a while,
//! counted in pages that the drive lost meanwhile. Together with `wear=static`, which works on
//! effective cycles, it represents the scheme of the read-disturb evaluation, of which only the
//! idea is known.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Interests, PlaneView, Victim, Watch};
use kernel::{IndexVec, Rng, Time};
use nand::{BlockId, Geometry, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "stable-greedy",
    summary: "Reclaims the block with the fewest valid pages among those that lost none lately.",
    paper: "Chang, Liu and Lin, Stable greedy: adaptive garbage collection for durable page-mapping \
            multichannel SSDs, ACM TECS 2016 (the idea; details are ours)",
    params: &[ParamInfo {
        name: "window",
        kind: ParamKind::Int { min: 1, max: 10_000 },
        default: "100",
        doc: "how long ago a stable block lost its last page, in pages lost by the whole drive, \
              percent of its number of blocks",
    }],
    ..PolicyInfo::of(Family::Victim)
};

/// The block that gains most among the stable ones.
#[derive(Clone, Debug)]
pub struct StableGreedy {
    percent: u64,
    window: u64,
    /// Pages lost by the drive so far.
    clock: u64,
    /// The clock at the last page that a block lost.
    last: IndexVec<BlockId, u64>,
    stable: u64,
    unstable: u64,
}

pub(crate) fn new(params: &Params) -> StableGreedy {
    StableGreedy {
        percent: params.int("window"),
        window: 0,
        clock: 0,
        last: IndexVec::filled(0, 0),
        stable: 0,
        unstable: 0,
    }
}

impl Watch for StableGreedy {
    fn interests(&self) -> Interests {
        Interests::INVALIDATE
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.window = geometry.blocks() as u64 * self.percent / 100;
        self.clock = self.window;
        self.last = IndexVec::filled(0, geometry.blocks());
    }

    fn on_invalidate(&mut self, block: BlockId, _: u32, _: Time) {
        self.clock += 1;
        self.last[block] = self.clock;
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("stable_victims", self.stable as f64), ("other_victims", self.unstable as f64)]
    }
}

impl Victim for StableGreedy {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        let gain = |b: &BlockId| plane.ftl.blocks.gain(*b);
        let stable = |b: &BlockId| self.clock - self.last[*b] >= self.window && gain(b) > 0;
        let best = plane.candidates().filter(stable);
        let best = best.max_by_key(|b| (gain(b), std::cmp::Reverse(b.as_u32())));
        if best.is_some() {
            self.stable += 1;
            return best;
        }
        self.unstable += 1;
        plane.most_gain()
    }
}

//! `refresh`: the data of a block moves when the block reaches its read limit.
//!
//! The baseline of every other scheme. Simple and safe; under reads that are highly concentrated
//! the same data moves again and again, and each move ends in an erase.

use super::{
    COARSE_LESS, Common, FINE_MORE, LIMIT, PREEMPTIBLE, REFRESHED, REFRESHED_SPEC, WORD,
    needs_levels, reclaim,
};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{FtlView, Interests, Plan, ReadDisturb, Role, State, StreamSpec, Watch};
use kernel::Time;
use nand::{BlockId, Geometry, Level, Mode, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "refresh",
    aliases: &["baseline"],
    summary: "Moves the data of a block that has reached its read limit to another.",
    paper: "folklore; the baseline of Wu, Ma and Chang, Flash read disturb management using \
            adaptive cell bit-density with in-place reprogramming, DATE 2018",
    params: &[LIMIT, FINE_MORE, COARSE_LESS, PREEMPTIBLE],
    idle: needs_levels,
    ..PolicyInfo::of(Family::ReadDisturb)
};

/// Moves pages that are read too often.
pub struct Refresh {
    common: Common,
}

pub(crate) fn new(params: &Params) -> Refresh {
    Refresh { common: Common::new(params) }
}

impl Watch for Refresh {
    fn interests(&self) -> Interests {
        Interests::READ
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.common.attach(geometry);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        self.common.counters()
    }
}

impl ReadDisturb for Refresh {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(self.common.limit)
    }

    fn limit_share(&self, level: Level) -> u32 {
        self.common.limit_share(level)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![REFRESHED_SPEC]
    }

    fn spare_slots(&self, geometry: &Geometry) -> u64 {
        geometry.pages_per_block().into()
    }

    fn on_limit(&mut self, view: &FtlView<'_>, block: BlockId, now: Time, plan: &mut Plan) {
        self.common.begin(block, now, plan);
        if view.blocks.state(block) != State::Moving {
            reclaim(plan, block, REFRESHED);
        }
    }

    fn on_erased(&mut self, block: BlockId, _: Role, _: u32, _: Tag, now: Time) {
        self.common.end(block, now);
    }

    /// A read counter for each block.
    fn dram_bytes(&self) -> u64 {
        self.common.geometry().blocks() as u64 * WORD
    }
}

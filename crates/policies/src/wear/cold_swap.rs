//! `static`: cold data moves onto worn blocks.
//!
//! Data that is never overwritten keeps its block from being erased, so the other blocks wear out
//! alone. When the spread of effective cycles in a plane exceeds a threshold, the data of the least
//! worn complete block moves onto the most worn free one. The block that it leaves is then used.
//! The policy bounds the spread, and moves cold data about once in `threshold` cycles.

use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Balance, Dest, Plan, PlaneView, Step, StreamId, Watch, Wear};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "static",
    summary: "Moves the data of the least worn block onto the most worn free one when wear spreads.",
    paper: "folklore; Chang, SAC 2007, names the idea",
    params: &[
        ParamInfo {
            name: "threshold",
            kind: ParamKind::Int { min: 1, max: 1_000_000 },
            default: "20",
            doc: "spread of effective P/E cycles in a plane that is tolerated",
        },
        ParamInfo {
            name: "roles",
            kind: ParamKind::Word(&["spared", "moved"]),
            default: "spared",
            doc: "blocks to which the read-disturb policy gave a role (of low density, shadows, \
                  monitored), which are erased seldom because they endure many reads: spared, or \
                  moved like cold data",
        },
    ],
    idle: |drive, params| {
        let (threshold, endurance) = (params.int("threshold"), drive.endurance);
        if threshold >= u64::from(endurance) {
            let why = format!(
                "it tolerates a spread of {threshold} cycles, and a block endures {endurance} in the run"
            );
            Idle::All(why)
        } else if params.word("roles") == "moved" && !drive.roles {
            Idle::Part(
                "`roles` is about blocks with a role, and the read-disturb policy gives none"
                    .into(),
            )
        } else {
            Idle::Nothing
        }
    },
    ..PolicyInfo::of(Family::Wear)
};

/// Cold data moves onto worn blocks.
#[derive(Copy, Clone, Debug)]
pub struct StaticWear {
    /// In thousandths of a cycle.
    threshold: u32,
    moves_roles: bool,
    moves: u64,
}

pub(crate) fn new(params: &Params) -> StaticWear {
    let policy = StaticWear::with_threshold(params.int("threshold") as u32);
    StaticWear { moves_roles: params.word("roles") == "moved", ..policy }
}

impl StaticWear {
    /// Tolerates a spread of `cycles`.
    pub fn with_threshold(cycles: u32) -> Self {
        Self { threshold: cycles.saturating_mul(1_000), moves_roles: false, moves: 0 }
    }
}

impl Watch for StaticWear {
    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("moves", self.moves as f64)]
    }
}

impl Wear for StaticWear {
    fn active(&self) -> bool {
        true
    }

    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan) {
        let view = &balance.plane.ftl;
        let wear = &view.wear.as_slice()[view.geometry.blocks_of(balance.plane.plane)];
        let worn = view.wear[balance.erased];
        let least = wear.iter().min().expect("a plane has blocks");
        if worn - least <= self.threshold {
            return;
        }
        let excluded = balance.plane.excluded.filter(|_| !self.moves_roles);
        let plane = PlaneView { excluded, ..balance.plane };
        let coldest = plane.candidates().min_by_key(|b| (view.wear[*b], b.as_u32()));
        let Some(coldest) = coldest else { return };
        // The least worn block may not be a candidate; the candidates may all be worn more.
        if worn.saturating_sub(view.wear[coldest]) > self.threshold {
            self.moves += 1;
            plan.push(Step::Reclaim { block: coldest, to: Dest::Stream(StreamId::WEAR) });
        }
    }
}

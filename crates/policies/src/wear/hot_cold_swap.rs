//! `hot-cold-swap`: a block that ages faster than the others is given cold data.
//!
//! When the remaining life of an erased block is below a share of the plane's mean, the oldest data
//! moves onto the most worn free block. The block that it leaves is then used. The tolerance
//! shrinks with age: wear may spread while the drive is young, and is even at the end. This is the
//! swap of the scheme of Agrawal et al. Their second rule, to pass over worn victims now and then,
//! belongs to the choice of victims.

use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Balance, Dest, Life, Plan, Step, StreamId, Watch, Wear};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "hot-cold-swap",
    summary: "Moves the oldest data onto blocks whose remaining life falls below a share of the \
              mean.",
    paper: "Agrawal et al., Design Tradeoffs for SSD Performance, USENIX ATC 2008, section 3.6",
    params: &[
        ParamInfo {
            name: "remaining",
            kind: ParamKind::Real { min: 0.0, max: 1.0 },
            default: "0.85",
            doc: "the share of the mean remaining life below which a block is given cold data",
        },
        ParamInfo {
            name: "slack",
            kind: ParamKind::Int { min: 1, max: 1_000_000 },
            default: "8",
            doc: "P/E cycles above the mean that are tolerated however old the drive is",
        },
    ],
    idle: |drive, params| {
        let (slack, endurance) = (params.int("slack"), drive.endurance);
        if slack >= u64::from(endurance) {
            let why = format!(
                "it tolerates {slack} cycles above the mean, and a block endures {endurance} in the run"
            );
            Idle::All(why)
        } else if params.real("remaining") == 0.0 {
            Idle::All("no block falls below a share of 0 of the mean remaining life".into())
        } else {
            Idle::Nothing
        }
    },
    ..PolicyInfo::of(Family::Wear)
};

/// Cold data moves onto blocks that age too fast.
#[derive(Copy, Clone, Debug)]
pub struct HotColdSwap {
    remaining: f64,
    /// In thousandths of a cycle, like all wear here.
    slack: f64,
    rated: f64,
    moves: u64,
}

pub(crate) fn new(params: &Params) -> HotColdSwap {
    HotColdSwap {
        remaining: params.real("remaining"),
        slack: params.int("slack") as f64 * 1e3,
        rated: 0.0,
        moves: 0,
    }
}

impl Watch for HotColdSwap {
    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("moves", self.moves as f64)]
    }
}

impl Wear for HotColdSwap {
    fn learn_life(&mut self, life: &Life) {
        self.rated = f64::from(life.cycles) * 1e3;
    }

    fn active(&self) -> bool {
        true
    }

    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan) {
        let view = &balance.plane.ftl;
        let wear = &view.wear.as_slice()[view.geometry.blocks_of(balance.plane.plane)];
        let worn = f64::from(view.wear[balance.erased]);
        let mean = wear.iter().map(|&w| f64::from(w)).sum::<f64>() / wear.len() as f64;
        let tolerated = (1.0 - self.remaining) * (self.rated - mean);
        if worn - mean <= tolerated.max(self.slack) {
            return;
        }
        // Blocks above the mean have been in use of late: their data is not idle.
        let unused = balance.plane.candidates().filter(|b| f64::from(view.wear[*b]) < mean);
        if let Some(coldest) = unused.min_by_key(|b| view.blocks.closed_at(*b)) {
            self.moves += 1;
            plan.push(Step::Reclaim { block: coldest, to: Dest::Stream(StreamId::WEAR) });
        }
    }
}

//! `wu`: high-cost writes where they are expected to delay nothing.
//!
//! A page is written at high cost if nothing waits for its die and the next access to the die is
//! expected after the program's end. Otherwise it is written at medium cost. The source gives no
//! expectation, so ours is simple. Host accesses arrive with the exponentially weighted mean gap so
//! far (weight 1/8), and each goes to any die with the same chance.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Access, Cost, Interests, LevelTimes, Queues, Watch, WriteCtx};
use kernel::{Dur, Time};
use nand::{Geometry, Level};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "wu",
    summary: "High-cost writes where the next access to the die is not expected before their end, \
              medium otherwise.",
    paper: "Wu et al., as described by Li et al., AGCR, FAST 2016, section 2.2 (its reference 12)",
    params: &[ParamInfo {
        name: "initial-level",
        kind: ParamKind::Word(&["high", "medium", "low"]),
        default: "medium",
        doc: "the level of data that was there before the run",
    }],
    idle: super::needs_levels,
    ..PolicyInfo::of(Family::Cost)
};

/// Levels by the expected next access.
#[derive(Copy, Clone, Debug)]
pub struct Wu {
    initial: Level,
    program: Dur,
    dies: u64,
    /// The mean gap between host accesses, in ns; none yet: nothing is expected.
    gap: Option<u64>,
    latest: Option<Time>,
    high: u64,
    medium: u64,
}

pub(crate) fn new(params: &Params) -> Wu {
    Wu {
        initial: super::level_of(params.word("initial-level")),
        program: Dur::ZERO,
        dies: 1,
        gap: None,
        latest: None,
        high: 0,
        medium: 0,
    }
}

impl Watch for Wu {
    fn interests(&self) -> Interests {
        Interests::ACCESS
    }

    fn attach(&mut self, geometry: &Geometry, _: u32) {
        self.dies = geometry.dies() as u64;
    }

    fn on_access(&mut self, access: &Access) {
        if let Some(latest) = self.latest {
            let gap = (access.now - latest).as_ns();
            self.gap = Some(self.gap.map_or(gap, |mean| mean - mean / 8 + gap / 8));
        }
        self.latest = Some(access.now);
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("high_writes", self.high as f64), ("medium_writes", self.medium as f64)]
    }
}

impl Cost for Wu {
    fn initial(&self) -> Level {
        self.initial
    }

    fn queues(&self) -> Queues {
        Queues::Die
    }

    fn learn_times(&mut self, times: &LevelTimes) {
        self.program = times.program[Level::HighCost];
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        let expected = self.gap.map(|gap| gap.saturating_mul(self.dies));
        let free = w.waiting_die == 0 && expected.is_none_or(|gap| gap >= self.program.as_ns());
        if free {
            self.high += 1;
            Level::HighCost
        } else {
            self.medium += 1;
            Level::MediumCost
        }
    }
}

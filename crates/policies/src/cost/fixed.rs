//! `fixed`: every program at one level.
//!
//! The medium level is the traditional drive of AGCR's comparison; the two others are the extremes
//! of its preliminary study (section 2.3). No state, no re-writes.

use crate::info::{Family, Idle, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{Cost, Watch, WriteCtx};
use nand::Level;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fixed",
    summary: "Every page is programmed at one cost level.",
    paper: "Li et al., AGCR, FAST 2016, section 2.3",
    params: &[ParamInfo {
        name: "level",
        kind: ParamKind::Word(&["high", "medium", "low"]),
        default: "medium",
        doc: "the write cost: high is slow to write and quick to read",
    }],
    idle: |drive, params| match params.word("level") {
        "medium" => Idle::Nothing,
        _ => super::needs_levels(drive, params),
    },
    ..PolicyInfo::of(Family::Cost)
};

/// Every program at one level.
#[derive(Copy, Clone, Debug)]
pub struct Fixed(Level);

pub(crate) fn new(params: &Params) -> Fixed {
    Fixed(super::level_of(params.word("level")))
}

impl Fixed {
    /// Every program at `level`.
    pub fn at(level: Level) -> Self {
        Self(level)
    }
}

impl Watch for Fixed {}

impl Cost for Fixed {
    fn constant(&self) -> Option<Level> {
        Some(self.0)
    }

    fn initial(&self) -> Level {
        self.0
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        self.0
    }
}

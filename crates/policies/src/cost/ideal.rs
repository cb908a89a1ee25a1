//! `ideal`: every read and every write takes the time of its cheapest level.
//!
//! The Ideal Case of AGCR's slides: pages that are written quickly are read quickly too. No device
//! can do it; it is the floor of service times under any regulation.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Cost, Watch, WriteCtx};
use nand::Level;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "ideal",
    summary: "Quick writes and quick reads together: a bound that no device can reach.",
    paper: "Li et al., AGCR, FAST 2016, slides",
    idle: super::needs_levels,
    ..PolicyInfo::of(Family::Cost)
};

/// Best times for everything.
#[derive(Copy, Clone, Debug)]
pub struct Ideal;

pub(crate) fn new(_: &Params) -> Ideal {
    Ideal
}

impl Watch for Ideal {}

impl Cost for Ideal {
    fn constant(&self) -> Option<Level> {
        Some(Level::MediumCost)
    }

    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn is_ideal(&self) -> bool {
        true
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::MediumCost
    }
}

//! `static`: writes never exceed the rate that the flash endures for the whole target.
//!
//! Each second may program the share of the rated cycles of a second of the target; the unused part
//! is lost. Safe for any demand, and blind: a workload that rests at night is held to the same rate
//! by day, and most of the endurance is left at the end.

use super::{Gate, PERIOD, Settings, TARGET};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "static",
    summary: "Never programs faster than the rated cycles allow over the whole target.",
    paper: "vendors' practice, as in Lee et al., READY, FAST 2012, section 3.1",
    params: &[TARGET, PERIOD],
    ..PolicyInfo::of(Family::Throttle)
};

pub(crate) fn new(params: &Params) -> Gate {
    Gate::new(Settings::fixed(params))
}

//! `dynamic`: throttles by the demand that is expected and the rated cycles that are left.
//!
//! As `ready`, but without the cells' recovery: it spends the rated cycles of the flash, and no
//! more. A drive that rests between cycles could do several times as much.

use super::{
    AVERAGE, Capacity, CountedRecovery, DIFFERENCE, ENFORCEMENT, EPOCH, Gate, HISTORY, MISS,
    MISSES, PAGES, PERIOD, SPARE, Settings, TARGET, WINDOW,
};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "dynamic",
    summary: "Spreads the rated cycles over the target by the demand that it expects.",
    paper: "Lee et al., READY, FAST 2012, section 4.1 (DT)",
    params: &[
        TARGET,
        ENFORCEMENT,
        SPARE,
        PERIOD,
        EPOCH,
        WINDOW,
        HISTORY,
        AVERAGE,
        DIFFERENCE,
        MISS,
        MISSES,
        PAGES,
    ],
    ..PolicyInfo::of(Family::Throttle)
};

pub(super) fn settings(params: &Params) -> Settings {
    // Rated cycles do not grow, so there is nothing to guard but the loans.
    Settings::dynamic(params, CountedRecovery::Rated, Capacity::Guarded)
}

pub(crate) fn new(params: &Params) -> Gate {
    Gate::new(settings(params))
}

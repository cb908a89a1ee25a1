//! `read-leveling`: read-hot pages wander through a block that is otherwise unused.
//!
//! Unwritten pages are not disturbed. When a shadow block reaches its limit, its read-hot pages are
//! copied to unused pages of the same block, which then endures as many reads again. It is erased
//! when it has no unused pages left. With 32 pages of 192 that is five times.

use super::{COARSE_LESS, FINE_MORE, LIMIT, MONITORS, PREEMPTIBLE, SHADOWS, Shadows, needs_levels};
use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "read-leveling",
    aliases: &["rl"],
    summary: "Copies the read-hot pages of a shadow block to its unused pages, again and again.",
    paper: "Liu, Chang and Chang, Read leveling for flash storage systems, SYSTOR 2015, as Wu, Ma \
            and Chang, DATE 2018, describe it",
    params: &[
        LIMIT,
        FINE_MORE,
        COARSE_LESS,
        ParamInfo {
            name: "pages",
            kind: ParamKind::Int { min: 1, max: 65_535 },
            default: "32",
            doc: "read-hot pages of a shadow block",
        },
        MONITORS,
        SHADOWS,
        PREEMPTIBLE,
    ],
    idle: needs_levels,
    ..PolicyInfo::of(Family::ReadDisturb)
};

pub(crate) fn new(params: &Params) -> Shadows {
    Shadows::new(params, true)
}

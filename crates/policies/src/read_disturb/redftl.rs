//! `redftl`: a few read-hot pages have a block to themselves.
//!
//! A shadow block holds thirty read-hot pages and nothing else, so that its refresh moves thirty
//! pages instead of a whole block: reads wait less for it. It endures no more reads than others, so
//! there are as many refreshes and erases.

use super::{COARSE_LESS, FINE_MORE, LIMIT, MONITORS, PREEMPTIBLE, SHADOWS, Shadows, needs_levels};
use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "redftl",
    summary: "Keeps read-hot pages in shadow blocks of few pages, whose refresh is short.",
    paper: "Ha, Jeong and Kim, A read-disturb management technique for high-density NAND flash \
            memory, APSys 2013, as Wu, Ma and Chang, DATE 2018, describe it",
    params: &[
        LIMIT,
        FINE_MORE,
        COARSE_LESS,
        ParamInfo {
            name: "pages",
            kind: ParamKind::Int { min: 1, max: 65_535 },
            default: "30",
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
    Shadows::new(params, false)
}

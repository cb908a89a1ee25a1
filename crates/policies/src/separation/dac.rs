//! `dac`: dynamic data clustering. Pages wander between regions of different temperature.
//!
//! A page that the host writes again goes one region up, because it was updated while it lay there. A page
//! that collection moves goes one region down, because it outlived its block. A page that is written
//! for the first time begins in the coldest region. Each region has one open block, which takes both. The
//! region of a page is that of the block where it lies, so nothing is kept for a page.
//!
//! The paper also asks that a page was long enough in its region before it goes down, and not too long
//! before it goes up. Those thresholds are left out.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{PageCtx, Separation, StreamClass, StreamSpec, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "dac",
    summary: "Pages go one region up when they are written again, and one down when they are moved.",
    paper: "Chiang, Lee and Chang, Using data clustering to improve cleaning performance for flash \
            memory, Software: Practice and Experience 29(3), 1999 (without its thresholds of age)",
    params: &[ParamInfo {
        name: "regions",
        kind: ParamKind::Int { min: 2, max: 8 },
        default: "4",
        doc: "regions, each with an open block",
    }],
    ..PolicyInfo::of(Family::Separation)
};

const NAMES: [&str; 8] = [
    "region-0", "region-1", "region-2", "region-3", "region-4", "region-5", "region-6", "region-7",
];

/// Regions from cold to hot.
#[derive(Copy, Clone, Debug)]
pub struct Dac {
    regions: u8,
}

pub(crate) fn new(params: &Params) -> Dac {
    Dac { regions: params.int("regions") as u8 }
}

impl Watch for Dac {}

impl Separation for Dac {
    fn streams(&self) -> Vec<StreamSpec> {
        let names = NAMES.into_iter().take(self.regions.into());
        names.map(|name| StreamSpec::of(StreamClass::Both, name)).collect()
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        match page.from {
            None => 0,
            Some(region) if page.moves => region.saturating_sub(1),
            Some(region) => (region + 1).min(self.regions - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_up_when_it_is_written_and_down_when_it_moves() {
        let mut dac = Dac { regions: 3 };
        let mut page = super::super::page(false);
        let mut visited = Vec::new();
        for moves in [false, false, false, false, true, true, true, false] {
            page.moves = moves;
            let region = dac.stream(&page);
            visited.push(region);
            page.from = Some(region);
        }
        assert_eq!(visited, [0, 1, 2, 2, 1, 0, 0, 1]);
    }
}

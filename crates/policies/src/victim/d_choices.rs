//! `d-choices`: the best of a few blocks drawn at random.
//!
//! Ten choices come close to greedy without keeping any order of blocks; one choice is `random`.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "d-choices",
    summary: "Reclaims the block with the fewest valid pages among d drawn at random.",
    paper: "Van Houdt, A mean field model for a class of garbage collection algorithms, \
            SIGMETRICS 2013",
    params: &[ParamInfo {
        name: "d",
        kind: ParamKind::Int { min: 1, max: 1_000 },
        default: "10",
        doc: "blocks drawn for each victim",
    }],
    ..PolicyInfo::of(Family::Victim)
};

/// The best of `d` blocks drawn at random.
#[derive(Copy, Clone, Debug)]
pub struct DChoices {
    d: u32,
}

pub(crate) fn new(params: &Params) -> DChoices {
    DChoices { d: params.int("d") as u32 }
}

impl DChoices {
    /// The best of `d`.
    pub fn of(d: u32) -> Self {
        Self { d }
    }
}

impl Watch for DChoices {}

impl Victim for DChoices {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, rng: &mut Rng) -> Option<BlockId> {
        let draws = (0..self.d).filter_map(|_| plane.random(rng));
        draws.max_by_key(|b| plane.ftl.blocks.gain(*b))
    }
}

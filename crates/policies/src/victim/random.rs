//! `random`: any block.
//!
//! The yardstick below which no policy should fall: its write amplification under uniform writes is
//! the inverse of the spare factor.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "random",
    summary: "Reclaims a block drawn at random.",
    paper: "folklore; analysed by Van Houdt, SIGMETRICS 2013",
    ..PolicyInfo::of(Family::Victim)
};

/// Any block.
#[derive(Copy, Clone, Default, Debug)]
pub struct Random;

pub(crate) fn new(_: &Params) -> Random {
    Random
}

impl Watch for Random {}

impl Victim for Random {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, rng: &mut Rng) -> Option<BlockId> {
        plane.random(rng)
    }
}

//! `greedy`: the block that gains most.
//!
//! The least write amplification under uniform writes among policies that see only valid counts;
//! under skewed writes it reclaims hot blocks too early. Ties go to the lowest address.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "greedy",
    summary: "Reclaims the block with the fewest valid pages.",
    paper: "folklore; analysed by Desnoyers, SYSTOR 2012, and Van Houdt, SIGMETRICS 2013",
    ..PolicyInfo::of(Family::Victim)
};

/// The block that gains most.
#[derive(Copy, Clone, Default, Debug)]
pub struct Greedy;

pub(crate) fn new(_: &Params) -> Greedy {
    Greedy
}

impl Watch for Greedy {}

impl Victim for Greedy {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        plane.most_gain()
    }
}

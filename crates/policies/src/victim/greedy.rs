//! `greedy`: the block that gains most.
//!
//! The least write amplification under uniform writes among policies that see only valid counts;
//! under skewed writes it reclaims hot blocks too early. Ties go to the lowest address.

use crate::list::{Family, PolicyInfo};
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    family: Family::Victim,
    name: "greedy",
    aliases: &[],
    summary: "Reclaims the block with the fewest valid pages.",
    paper: "folklore; analysed by Desnoyers, SYSTOR 2012, and Van Houdt, SIGMETRICS 2013",
    params: &[],
    needs: &[],
    forbids: &[],
};

/// The block that gains most.
#[derive(Copy, Clone, Default, Debug)]
pub struct Greedy;

impl Watch for Greedy {}

impl Victim for Greedy {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        plane.most_gain()
    }
}

//! `fifo`: the block that closed first.
//!
//! Simple and even on wear, because blocks take turns. Its write amplification under uniform
//! writes is that of greedy on very large blocks.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    aliases: &["lru"],
    summary: "Reclaims the block that was completed first.",
    paper: "folklore; analysed by Desnoyers, SYSTOR 2012",
    ..PolicyInfo::of(Family::Victim)
};

/// The block that closed first.
#[derive(Copy, Clone, Default, Debug)]
pub struct Fifo;

pub(crate) fn new(_: &Params) -> Fifo {
    Fifo
}

impl Watch for Fifo {}

impl Victim for Fifo {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        plane.candidates().min_by_key(|b| plane.ftl.blocks.closed_at(*b))
    }
}

//! `random-plus`: a block drawn at random that has no more valid pages than the mean.
//!
//! It needs no order of blocks: a few draws find a block that is as good as half of them.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "random-plus",
    summary: "Reclaims a block drawn at random among those with no more valid pages than the mean.",
    paper: "after Van Houdt, A mean field model for a class of garbage collection algorithms, \
            SIGMETRICS 2013, whose Random+ draws until a block has an invalid page",
    ..PolicyInfo::of(Family::Victim)
};

/// A block that is not above the mean.
#[derive(Copy, Clone, Default, Debug)]
pub struct RandomPlus;

pub(crate) fn new(_: &Params) -> RandomPlus {
    RandomPlus
}

impl Watch for RandomPlus {}

impl Victim for RandomPlus {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, rng: &mut Rng) -> Option<BlockId> {
        let gain = |b: BlockId| u64::from(plane.ftl.blocks.gain(b));
        let (count, sum) =
            plane.candidates().fold((0_u64, 0), |(count, sum), b| (count + 1, sum + gain(b)));
        // One of them is not below the mean, so this ends.
        loop {
            let drawn = plane.random(rng)?;
            if gain(drawn) * count >= sum {
                return Some(drawn);
            }
        }
    }
}

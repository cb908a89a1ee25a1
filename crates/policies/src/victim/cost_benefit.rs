//! `cost-benefit`: the block whose gain is greatest for its age and the cost of its move.
//!
//! A block has the valid share `u`. Reading it and writing the valid part again costs `2u` and
//! gains `1 - u`. Data that has stayed long will stay on, and its space is gained for longer. So
//! the block with the greatest `age (1 - u) / 2u` is taken, and cold blocks are reclaimed with more
//! valid pages than hot ones.
//!
//! The policy is good for skewed writes. For even ones age means nothing, and it moves more than
//! `greedy`. Age is counted in blocks of the drive that were completed since.

use crate::info::{Family, PolicyInfo};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "cost-benefit",
    summary: "Reclaims the block with the greatest age (1 - u) / 2u, of which the share u is valid.",
    paper: "Rosenblum and Ousterhout, The design and implementation of a log-structured file system, \
            ACM TOCS 1992; for flash: Kawaguchi, Nishioka and Motoda, USENIX Technical Conference 1995",
    params: &[ParamInfo {
        name: "age",
        kind: ParamKind::Word(&["time", "sqrt-time"]),
        default: "time",
        doc: "the weight of age: itself, or its square root as in the simulator of SepBIT",
    }],
    ..PolicyInfo::of(Family::Victim)
};

/// Takes the block whose gain is greatest for its age and cost.
#[derive(Copy, Clone, Default, Debug)]
pub struct CostBenefit {
    root: bool,
}

pub(crate) fn new(params: &Params) -> CostBenefit {
    CostBenefit { root: params.word("age") == "sqrt-time" }
}

impl CostBenefit {
    /// The value of a block: the greater, the sooner it is reclaimed.
    fn worth(self, age: u32, gain: u32, valid: u32) -> f64 {
        if valid == 0 {
            return f64::INFINITY;
        }
        let age = if self.root { f64::from(age).sqrt() } else { f64::from(age) };
        age * f64::from(gain) / (2.0 * f64::from(valid))
    }
}

impl Watch for CostBenefit {}

impl Victim for CostBenefit {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        let blocks = plane.ftl.blocks;
        let worth = |b: &BlockId| {
            // A block is as old as its last page: one that was completed just now counts as one.
            let age = blocks.closings().wrapping_sub(blocks.closed_at(*b)) + 1;
            self.worth(age, blocks.gain(*b), blocks.valid(*b))
        };
        // Among equals, the one with the lowest address.
        plane.candidates().max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.cmp(a)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 64 pages a cold block has 48 valid, u = 3/4: age / 6. A hot one has 16, u = 1/4: 3/2 age.
    #[test]
    fn a_cold_block_is_taken_when_it_is_nine_times_as_old() {
        let worth = |age, gain, valid| CostBenefit::default().worth(age, gain, valid);
        let (cold, hot) = (|age| worth(age, 16, 48), |age| worth(age, 48, 16));
        assert!((cold(60) - 10.0).abs() < 1e-12 && (hot(60) - 90.0).abs() < 1e-12);
        assert!(cold(89) < hot(10) && cold(91) > hot(10));
        assert!(worth(1, 64, 0) > cold(u32::MAX), "an empty block costs nothing");
        assert!(worth(1, 1, 63) > worth(u32::MAX, 0, 64), "a full one wins nothing");
    }

    /// With its square root, eighty-one times as old.
    #[test]
    fn the_root_of_age_weighs_less() {
        let root = CostBenefit { root: true };
        assert!((root.worth(36, 16, 48) - 1.0).abs() < 1e-12);
        assert!(root.worth(809, 16, 48) < root.worth(10, 48, 16));
        assert!(root.worth(811, 16, 48) > root.worth(10, 48, 16));
    }
}

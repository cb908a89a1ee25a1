//! `cat`: cost, age and times. `cost-benefit` that spares worn blocks.
//!
//! A block has the valid share `u`, and was erased `times` times. The block with the least
//! `u / (1 - u) * times / age` is taken: cheap to empty, long stable, and erased less often than others.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{PlaneView, Victim, Watch};
use kernel::Rng;
use nand::{BlockId, Tag};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "cat",
    summary: "Reclaims the block with the least u / (1 - u) * erases / age, of which the share u is \
              valid.",
    paper: "Chiang and Chang, Cleaning policies in mobile computers using flash memory, Journal of \
            Systems and Software 48(3), 1999 (cost-age-times)",
    ..PolicyInfo::of(Family::Victim)
};

/// The block that is cheap to empty, old and little worn.
#[derive(Copy, Clone, Default, Debug)]
pub struct CostAgeTimes;

pub(crate) fn new(_: &Params) -> CostAgeTimes {
    CostAgeTimes
}

/// The price of a block: the smaller, the sooner it is reclaimed.
fn price(valid: u32, gain: u32, erases: u32, age: u32) -> f64 {
    if gain == 0 {
        return f64::INFINITY;
    }
    f64::from(valid) / f64::from(gain) * f64::from(erases) / f64::from(age)
}

impl Watch for CostAgeTimes {}

impl Victim for CostAgeTimes {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        let blocks = plane.ftl.blocks;
        let price = |b: &BlockId| {
            // A block that was completed just now, or was never erased, counts as one.
            let age = blocks.closings().wrapping_sub(blocks.closed_at(*b)) + 1;
            price(blocks.valid(*b), blocks.gain(*b), plane.ftl.erases[*b] + 1, age)
        };
        // Of equals the one of the lowest address.
        plane.candidates().min_by(|a, b| price(a).total_cmp(&price(b)).then(a.cmp(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 64 pages 48 valid cost 3 per page gained, and 16 cost a third.
    #[test]
    fn cost_age_and_times_weigh_alike() {
        assert!((price(48, 16, 10, 60) - 0.5).abs() < 1e-12);
        assert!((price(16, 48, 10, 60) - 1.0 / 18.0).abs() < 1e-12);
        assert!(price(48, 16, 10, 541) < price(16, 48, 10, 60), "nine times as old");
        assert!(price(16, 48, 91, 60) > price(48, 16, 10, 60), "nine times as worn");
        assert!(price(0, 64, 9, 1) < price(1, 63, 1, 9_999), "an empty block costs nothing");
        assert!(price(64, 0, 1, 9).is_infinite());
    }
}

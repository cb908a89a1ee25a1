//! `none`: nothing is moved.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Balance, Plan, Watch, Wear};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "Nothing is moved to even out wear.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Wear)
};

/// Wear: nothing is moved.
#[derive(Copy, Clone, Default, Debug)]
pub struct NoWear;

impl Watch for NoWear {}

impl Wear for NoWear {
    fn active(&self) -> bool {
        false
    }

    fn balance(&mut self, _: &Balance<'_>, _: &mut Plan) {}
}

pub(crate) fn new(_: &Params) -> NoWear {
    NoWear
}

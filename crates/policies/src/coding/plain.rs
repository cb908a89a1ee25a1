//! `plain`: bits as they came.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::Plain;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "plain",
    summary: "Bits as the host gave them.",
    paper: "folklore",
    ..PolicyInfo::of(Family::Coding)
};

pub(crate) fn new(_: &Params) -> Plain {
    Plain
}

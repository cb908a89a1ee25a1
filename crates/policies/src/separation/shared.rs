//! `shared`: what moves goes into the host's open block.
//!
//! The baseline that papers call "no separation": cold data that was moved lies among new data again,
//! and is moved once more with the next block. One open block in each plane is enough.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Separation, StreamClass, StreamSpec, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "shared",
    summary: "Moved pages go into the host's open block.",
    paper: "folklore; \"NoSep\" in Wang et al., Separating data via block invalidation time inference \
            for write amplification reduction in log-structured storage (SepBIT), FAST 2022",
    ..PolicyInfo::of(Family::Separation)
};

/// One stream for all pages.
#[derive(Copy, Clone, Default, Debug)]
pub struct Shared;

pub(crate) fn new(_: &Params) -> Shared {
    Shared
}

impl Watch for Shared {}

impl Separation for Shared {
    fn streams(&self) -> Vec<StreamSpec> {
        vec![StreamSpec::of(StreamClass::Both, "all")]
    }
}

//! `sepgc`: writes of the host in one stream, what moves in another.
//!
//! Data that collection moves has outlived its block, so it is colder than what the host writes. Two open
//! blocks in each plane separate them, and nothing has to be known of a page.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Separation, StreamClass, StreamSpec, Watch};

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "sepgc",
    summary: "Host writes and moved pages go to different blocks.",
    paper: "folklore; analysed by Van Houdt, On the necessity of hot and cold data identification to \
            reduce the write amplification in flash-based SSDs (Performance Evaluation 2014). Named by \
            Wang et al., SepBIT, FAST 2022",
    ..PolicyInfo::of(Family::Separation)
};

/// Writes of the host apart from moved pages.
#[derive(Copy, Clone, Default, Debug)]
pub struct SepGc;

pub(crate) fn new(_: &Params) -> SepGc {
    SepGc
}

impl Watch for SepGc {}

impl Separation for SepGc {
    fn streams(&self) -> Vec<StreamSpec> {
        vec![StreamSpec::of(StreamClass::Host, "host"), StreamSpec::of(StreamClass::Moves, "moved")]
    }
}

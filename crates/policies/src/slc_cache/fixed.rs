//! `static`: some blocks are always the cache's own.
//!
//! They hold one bit in a cell for as long as the drive lives, and no other data. The drive exports
//! none of their space.

use super::{Choices, FOLD, FULL, misfit, size};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{CacheSpec, SlcCache, Watch};
use kernel::Bytes;
use nand::Geometry;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "static",
    summary: "Writes go to blocks with one bit in a cell, which are always the cache's own.",
    paper: "Chang, A hybrid approach to NAND-flash-based solid-state disks, IEEE Trans. Computers \
            59(10), 2010; the write cache of Samsung's 840 EVO (TurboWrite), 2013",
    params: &[
        size(
            "size",
            "64KiB",
            "the data that the cache holds, at one bit in a cell, rounded up to whole blocks of each plane; above 0B",
        ),
        FOLD,
        FULL,
    ],
    misfit,
    ..PolicyInfo::of(Family::SlcCache)
};

/// SLC cache: blocks of its own.
#[derive(Copy, Clone, Debug)]
pub struct StaticCache {
    size: Bytes,
    choices: Choices,
}

pub(crate) fn new(params: &Params) -> StaticCache {
    StaticCache { size: params.bytes("size"), choices: Choices::new(params) }
}

impl Watch for StaticCache {}

impl SlcCache for StaticCache {
    fn learn_scale(&mut self, of: u32) {
        self.choices.scale = of;
    }

    fn cache(&self, geometry: &Geometry) -> Option<CacheSpec> {
        Some(self.choices.spec(self.choices.blocks(self.size, geometry), 0, 0))
    }
}

//! `dynamic`: blocks of the shared pool hold one bit in a cell as long as enough are free.
//!
//! Such a block takes the space of as many pages as its cells could hold bits times what it holds.
//! The cache shrinks as the drive fills with data, to `minimum`, and a drive that is empty may be
//! all cache.

use super::{Choices, FOLD, FULL, misfit, size};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{CacheSpec, SlcCache, Watch};
use kernel::Bytes;
use nand::Geometry;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "dynamic",
    summary: "Writes go to blocks with one bit in a cell, as long as enough blocks are free.",
    paper: "Micron, Optimized client computing with dynamic write acceleration, 2014",
    params: &[
        size("size", "1024TiB", "the most data that the cache holds, at one bit in a cell"),
        size(
            "minimum",
            "0B",
            "the data that it can hold however full the drive is; the drive keeps \
             the space of these blocks from data",
        ),
        FOLD,
        FULL,
    ],
    misfit,
    ..PolicyInfo::of(Family::SlcCache)
};

/// SLC cache: blocks of the shared pool.
#[derive(Copy, Clone, Debug)]
pub struct DynamicCache {
    size: Bytes,
    minimum: Bytes,
    choices: Choices,
}

pub(crate) fn new(params: &Params) -> DynamicCache {
    let [size, minimum] = ["size", "minimum"].map(|name| params.bytes(name));
    DynamicCache { size, minimum, choices: Choices::new(params) }
}

impl Watch for DynamicCache {}

impl SlcCache for DynamicCache {
    fn learn_scale(&mut self, of: u32) {
        self.choices.scale = of;
    }

    fn cache(&self, geometry: &Geometry) -> Option<CacheSpec> {
        let [most, least] =
            [self.size, self.minimum].map(|size| self.choices.blocks(size, geometry));
        Some(self.choices.spec(0, most, least))
    }
}

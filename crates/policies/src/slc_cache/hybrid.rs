//! `hybrid`: blocks of its own first, and blocks of the shared pool beside them, as Samsung's
//! 960 EVO has them.

use super::{Choices, FOLD, FULL, misfit, size};
use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{CacheSpec, SlcCache, Watch};
use kernel::Bytes;
use nand::Geometry;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "hybrid",
    summary: "Writes go to blocks of the cache's own, and when these are full to free blocks of the \
              shared pool.",
    paper: "Samsung, 960 EVO (Intelligent TurboWrite: a default and an intelligent part), 2016",
    params: &[
        size(
            "static",
            "64KiB",
            "the data that blocks of its own hold, at one bit in a cell, rounded up to whole blocks of each plane",
        ),
        size("size", "1024TiB", "the most data that blocks of the shared pool hold beside them"),
        size(
            "minimum",
            "0B",
            "the data that blocks of the shared pool can hold however full the \
             drive is; the drive keeps the space of these blocks from data",
        ),
        FOLD,
        FULL,
    ],
    misfit,
    ..PolicyInfo::of(Family::SlcCache)
};

/// SLC cache: blocks of its own, and blocks of the shared pool.
#[derive(Copy, Clone, Debug)]
pub struct HybridCache {
    own: Bytes,
    size: Bytes,
    minimum: Bytes,
    choices: Choices,
}

pub(crate) fn new(params: &Params) -> HybridCache {
    let [own, size, minimum] = ["static", "size", "minimum"].map(|name| params.bytes(name));
    HybridCache { own, size, minimum, choices: Choices::new(params) }
}

impl Watch for HybridCache {}

impl SlcCache for HybridCache {
    fn learn_scale(&mut self, of: u32) {
        self.choices.scale = of;
    }

    fn cache(&self, geometry: &Geometry) -> Option<CacheSpec> {
        let [own, most, least] =
            [self.own, self.size, self.minimum].map(|size| self.choices.blocks(size, geometry));
        Some(self.choices.spec(own, most, least))
    }
}

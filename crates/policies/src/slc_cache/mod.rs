//! Family SLC cache: which blocks take writes at one bit in a cell, and when are they folded?

use crate::params::{ParamInfo, ParamKind, Params};
use ftl::{CacheSpec, FoldWhen, SlcCache, WhenFull};
use kernel::Bytes;
use nand::Geometry;

crate::family::family! { $
    /// Family SLC cache.
    SlcCachePolicy: SlcCache {
        none: none::None,
        fixed: fixed::StaticCache,
        dynamic: dynamic::DynamicCache,
        hybrid: hybrid::HybridCache,
    }
    fn learn_scale(&mut self, of: u32);
    fn cache(&self, geometry: &Geometry) -> Option<CacheSpec>;
}

/// When the cache is folded.
const FOLD: ParamInfo = ParamInfo {
    name: "fold",
    kind: ParamKind::Word(&["idle", "pressure", "both"]),
    default: "idle",
    doc: "when its data moves to blocks at full density. `idle`: while a die has nothing else to do. \
          `pressure`: when the cache has no free block left, until it has two, in turns with the \
          writes that need them. `both`: either",
};

/// The place of a write to a cache without room.
const FULL: ParamInfo = ParamInfo {
    name: "full",
    kind: ParamKind::Word(&["direct", "wait", "around"]),
    default: "direct",
    doc: "a write that finds no room. `direct`: it is programmed at full density. `wait`: it \
          waits until folding has made room. `around`: this and all writes are programmed at full \
          density until the cache is empty",
};

/// A size of the cache, as data at one bit in a cell.
const fn size(name: &'static str, default: &'static str, doc: &'static str) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Bytes, default, doc }
}

/// The choices that every cache has.
#[derive(Copy, Clone, Debug)]
struct Choices {
    fold: FoldWhen,
    full: WhenFull,
    /// The drive has one of this number of its blocks.
    scale: u32,
}

impl Choices {
    fn new(params: &Params) -> Self {
        let fold = params.word("fold");
        let full = match params.word("full") {
            "wait" => WhenFull::Wait,
            "around" => WhenFull::Around,
            _ => WhenFull::Direct,
        };
        let fold = FoldWhen {
            idle: fold != "pressure",
            // Folding that a write waits for does not wait for idle time.
            pressure: fold != "idle" || full == WhenFull::Wait,
        };
        Self { fold, full, scale: 1 }
    }

    /// The blocks of each plane, or superblocks of each set of dies, that hold this much data: whole
    /// ones, rounded up.
    fn blocks(self, size: Bytes, geometry: &Geometry) -> u32 {
        let slots = u64::from(geometry.single_slots_per_superblock());
        let each = slots * geometry.page_size().get() * geometry.sets() as u64;
        let blocks = size.get().div_ceil(self.scale.into()).div_ceil(each.max(1));
        // No cache has more blocks than the drive.
        blocks.min(geometry.superblocks_per_set() as u64) as u32
    }

    fn spec(self, own: u32, most: u32, least: u32) -> CacheSpec {
        CacheSpec { own, most, least: least.min(most), fold: self.fold, full: self.full }
    }
}

/// Why an array cannot have a cache.
fn misfit(geometry: &Geometry) -> Option<String> {
    if geometry.shape().bits_per_cell == 1 {
        return Some("its cells hold one bit anyway".into());
    }
    (geometry.single_slots_per_block() == 0).then(|| {
        "a block has fewer wordlines than a command programs pages, or than a stripe of parity has \
         program units"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::Shape;
    use serde_json::Map;

    /// Two dies of three bits, blocks of 12 pages of 4 KiB: a block holds four pages at one bit.
    fn geometry() -> Geometry {
        let shape = Shape {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 50,
            pages_per_block: 12,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        };
        Geometry::new(shape).expect("a drive")
    }

    fn cache(name: &str, given: &[(&str, &str)]) -> Option<CacheSpec> {
        let info = LIST.iter().find(|info| info.name == name).expect("it is on the list");
        let given: Map<_, _> =
            given.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        let mut errors = Vec::new();
        let params = Params::check("slc-cache", name, info.params, &given, &mut errors);
        assert!(errors.is_empty(), "{errors:?}");
        SlcCachePolicy::listed(name, &params).cache(&geometry())
    }

    /// One block of each of two planes holds 32 KiB.
    #[test]
    fn sizes_are_whole_blocks_of_each_plane() {
        let fixed = |size| cache("static", &[("size", size)]).expect("a cache");
        assert_eq!(fixed("32KiB").own, 1);
        assert_eq!(fixed("33KiB").own, 2);
        assert_eq!((fixed("320KiB").own, fixed("320KiB").most), (10, 0));
        let dynamic = cache("dynamic", &[("size", "640KiB"), ("minimum", "64KiB")]);
        let dynamic = dynamic.expect("a cache");
        assert_eq!((dynamic.own, dynamic.most, dynamic.least), (0, 20, 2));
        let hybrid = [("static", "64KiB"), ("size", "320KiB"), ("minimum", "1MiB")];
        let hybrid = cache("hybrid", &hybrid).expect("a cache");
        assert_eq!((hybrid.own, hybrid.most, hybrid.least), (2, 10, 10));
        assert_eq!(cache("none", &[]), None);
    }

    #[test]
    fn who_waits_for_folding_does_not_wait_for_idle_time() {
        let both = |fold, full| {
            let spec = cache("static", &[("size", "1MiB"), ("fold", fold), ("full", full)]);
            let fold = spec.expect("a cache").fold;
            (fold.idle, fold.pressure)
        };
        assert_eq!(both("idle", "direct"), (true, false));
        assert_eq!(both("pressure", "direct"), (false, true));
        assert_eq!(both("both", "around"), (true, true));
        assert_eq!(both("idle", "wait"), (true, true));
    }

    /// A drive with a quarter of its blocks has a quarter of the cache.
    #[test]
    fn a_scaled_drive_has_its_share_of_the_cache() {
        let mut named = Map::new();
        named.insert("size".into(), "1280KiB".into());
        let info = &LIST[1];
        let params = Params::check("", info.name, info.params, &named, &mut Vec::new());
        let mut policy = SlcCachePolicy::listed(info.name, &params);
        assert_eq!(policy.cache(&geometry()).expect("a cache").own, 40);
        policy.learn_scale(4);
        assert_eq!(policy.cache(&geometry()).expect("a cache").own, 10);
    }
}

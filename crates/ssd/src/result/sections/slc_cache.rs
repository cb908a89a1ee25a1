//! The SLC cache, and its part in write amplification.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::names::{SourceNamesAndTotal, by_source};
use crate::result::shape::{EachName, table};
use ftl::PolicyTypes;
use nand::Source;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The SLC cache: blocks whose cells hold one bit. Null for a drive without one \
     (`slc-cache=none`).",
)
.later();

pub(crate) type Section = Option<SlcCacheUse>;

type BySources = EachName<SourceNamesAndTotal, u64>;

table! {
    /// The use of the SLC cache. A page is a mapping unit.
    struct SlcCacheUse {
        /// The data that blocks of its own hold, which hold no other data.
        static_bytes: u64, "bytes";
        /// At the end of the run, the data for which it has blocks, free ones that it may take included.
        room_bytes: u64, "bytes";
        /// Of these, the ones that were written since the erase of their block.
        used_bytes: u64, "bytes";
        /// Of these, the ones that hold valid data.
        valid_bytes: u64, "bytes";
        /// Written by the host to the cache.
        cached_bytes: u64, "bytes";
        /// Written by the host to blocks at full density, for want of room in the cache.
        direct_bytes: u64, "bytes";
        /// Moved from the cache to blocks at full density.
        folded_bytes: u64, "bytes";
        /// Blocks folded, or superblocks where several blocks are erased as one.
        folds: u64;
        /// How often a write found no room, after one had found some.
        filled: u64;
        /// How long the cache had no room: from a write that found none to the next that found some.
        full_ns: u64, "ns";
        /// Pages read with one bit in a cell, by source.
        read: BySources, "pages";
        /// Pages programmed with one bit in a cell, by source, padding included.
        program: BySources, "pages";
        /// Blocks erased that held one bit in a cell, by source.
        erase: BySources, "blocks";
        /// Parts of `waf`, which are its sum. Null if the host wrote nothing.
        waf: Option<CacheWaf>, "x";
    }
}

table! {
    /// Write amplification in parts: programmed bytes divided by bytes that the host wrote.
    struct CacheWaf {
        /// Programs for the host at full density.
        host: f64;
        /// Programs with one bit in a cell.
        cache: f64;
        /// Programs of folding.
        fold: f64;
        /// All other programs, such as those of collection.
        other: f64;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let ftl = e.sim.ftl();
    let (cache, single) = ftl.cache_counts(e.sim.now())?;
    let spec = e.drive.policies.cache(&e.drive.geometry)?;
    let (used, room) = ftl.cache_fill()?;
    let (geometry, counts) = (&e.drive.geometry, e.counts);
    let page = geometry.page_size().get();
    let ended = e.sim.cut_at().is_some();
    let law = |holds: bool, what: &str| {
        assert!(
            holds,
            "conservation broken: {what} (seed {}, config {})\n{counts:?}\n{cache:?}\n{single:?}",
            e.drive.seed,
            e.drive.hash()
        );
    };
    law(cache.cached + cache.direct == counts.host_pages, "host pages = cached + direct");
    law(used <= room, "the cache has blocks for what it holds");
    for source in Source::ALL {
        let only = matches!(source, Source::Host | Source::Parity);
        law(only || single.program[source] == 0, "only the host programs the cache");
    }
    if !ended {
        let data = single.program[Source::Host] - single.padding[Source::Host];
        law(data == cache.cached, "programs of the cache = cached pages + padding");
        let fold = Source::Fold;
        let programs = counts.moved[fold] + counts.padding[fold];
        law(counts.program[fold] == programs, "programs of folding = folded pages + padding");
        law(single.read[fold] == counts.read[fold], "folding reads the cache alone");
        law(single.erase[fold] == counts.erase[fold], "folding erases the cache alone");
    }
    let host_pages = e.stats.classes[crate::sim::Class::Write].bytes as f64 / page as f64;
    let waf = (host_pages > 0.0).then(|| {
        let [host, cached, fold] = [
            counts.program[Source::Host] - single.program[Source::Host],
            single.program.total(),
            counts.program[Source::Fold],
        ];
        let other = counts.program.total() - host - cached - fold;
        let [host, cache, fold, other] =
            [host, cached, fold, other].map(|pages| pages as f64 / host_pages);
        CacheWaf { host, cache, fold, other }
    });
    let slots = u64::from(geometry.single_slots_per_superblock());
    Some(SlcCacheUse {
        static_bytes: u64::from(spec.own) * geometry.sets() as u64 * slots * page,
        room_bytes: room * page,
        used_bytes: used * page,
        valid_bytes: ftl.cached_pages() * page,
        cached_bytes: cache.cached * page,
        direct_bytes: cache.direct * page,
        folded_bytes: counts.moved[Source::Fold] * page,
        folds: cache.folds,
        filled: cache.filled,
        full_ns: u64::try_from(cache.full.as_ns()).unwrap_or(u64::MAX),
        read: by_source(&single.read),
        program: by_source(&single.program),
        erase: by_source(&single.erase),
        waf,
    })
}

//! Operations of the flash.

use super::SectionAbout;
use crate::config::GcPacing;
use crate::result::evidence::Evidence;
use crate::result::names::{
    DemandNames, LevelNames, SourceNamesAndTotal, by_demand, by_source, listed,
};
use crate::result::shape::{EachName, table};
use crate::sim::Class;
use ftl::PolicyTypes;
use nand::Level;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "Operations of the flash until the end of the run, by source. A page is a mapping unit.",
);

pub(crate) type Section = FlashOperations;

type BySources = EachName<SourceNamesAndTotal, u64>;

table! {
    /// Operations of the flash.
    struct FlashOperations {
        /// Pages read.
        read: BySources, "pages";
        /// Pages programmed, padding included.
        program: BySources, "pages";
        /// Programmed pages that hold no data, because a program writes more than there was.
        padding: BySources, "pages", later 0;
        /// Blocks erased.
        erase: BySources, "blocks";
        /// Pages reprogrammed in place.
        reprogram: BySources, "pages";
        /// Blocks that garbage collection erased, by the source whose writes needed the space.
        gc_erase_by_demand: EachName<DemandNames, u64>, "blocks";
        /// The time of a page operation in flash.
        page_latency_ns: PageLatency, "ns";
        /// Pages read by the host that hold nothing.
        unmapped_reads: u64, "pages";
        /// Pages read by the host while they were on their way to flash.
        pending_reads: u64, "pages", later 0;
        /// Page operations by cost level.
        by_level: ByLevel, "pages";
        /// Pages read because the host wrote a part of them.
        rmw_reads: u64, "pages";
        /// Pages that a page-choice policy passed over.
        skipped_pages: u64, "pages";
        /// The longest wait for a free block. Null with `gc.pace = "burst"`.
        space_wait_max_ns: Option<u64>, "ns", later null;
        /// The longest wait of a page written by the host behind garbage collection. Null in
        /// results of earlier versions.
        gc_wait_max_ns: u64, "ns", later null;
        /// How often dies suspended an operation. Null for a drive whose dies never do.
        suspends: Option<SuspendCounts>, "operations", later null;
        /// Pages moved inside their planes. Null for a drive without copyback.
        copybacks: Option<BySources>, "pages", later null;
        /// Pages read whose errors could not be corrected.
        uncorrectable: u64, "pages";
    }
}

table! {
    /// The mean time of page operations.
    struct PageLatency {
        /// Of reads.
        read: MeanOf;
        /// Of writes.
        write: MeanOf;
    }
}

table! {
    /// A mean.
    struct MeanOf {
        /// The mean; 0 without operations.
        mean: f64;
    }
}

table! {
    /// Page operations by cost level.
    struct ByLevel {
        /// Pages read, by the level at which they were programmed.
        read: EachName<LevelNames, u64>;
        /// Pages programmed.
        program: EachName<LevelNames, u64>;
    }
}

table! {
    /// Suspended operations.
    struct SuspendCounts {
        /// Suspended programs.
        program: BySources;
        /// Suspended erases.
        erase: BySources;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (drive, counts, stats) = (e.drive, e.counts, e.stats);
    let (device, waits) = (e.sim.device_stats(), e.sim.wait_stats());
    let paced = drive.ftl.gc.pace == GcPacing::PerWrite;
    let page = |class: Class| {
        let p = stats.pages[class];
        MeanOf { mean: p.latency.mean_ns(p.count) }
    };
    FlashOperations {
        read: by_source(&counts.read),
        program: by_source(&counts.program),
        padding: by_source(&counts.padding),
        erase: by_source(&counts.erase),
        reprogram: by_source(&counts.reprogrammed_pages),
        gc_erase_by_demand: by_demand(&counts.gc_erase_by_demand),
        page_latency_ns: PageLatency { read: page(Class::Read), write: page(Class::Write) },
        unmapped_reads: stats.unmapped_reads,
        pending_reads: stats.pending_reads,
        by_level: ByLevel {
            read: listed(|level: Level| device.read_by_level[level]),
            program: listed(|level: Level| device.program_by_level[level]),
        },
        rmw_reads: stats.rmw_reads,
        skipped_pages: counts.skipped,
        space_wait_max_ns: paced.then_some(waits.space_longest),
        gc_wait_max_ns: waits.gc_longest,
        suspends: drive.suspend.map(|_| SuspendCounts {
            program: by_source(&device.suspends.program),
            erase: by_source(&device.suspends.erase),
        }),
        copybacks: drive
            .ftl
            .copyback
            .map(|_| by_source(&device.stayed.map(|pages| drive.geometry.units_in_pages(*pages)))),
        uncorrectable: e.sim.cells().map_or(0, |c| c.counts().uncorrectable.total()),
    }
}

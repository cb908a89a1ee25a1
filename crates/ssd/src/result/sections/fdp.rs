//! The work for placement handles, and their log.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use crate::sim::Class;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "Flexible data placement. Null for a drive without placement handles (`ftl.fdp`).",
)
.later();

pub(crate) type Section = Option<DataPlacement>;

table! {
    /// Placement handles and their reclaim units.
    struct DataPlacement {
        /// How far data of different handles stay apart: "initial" or "persistent".
        isolation: &'static str;
        /// The size of a reclaim unit, parity included.
        reclaim_unit_bytes: u64, "bytes";
        /// The reclaim units of the drive.
        reclaim_units: usize, "units";
        /// Counts of the endurance group, as NVMe names them.
        log: PlacementLog;
        /// The work for each handle.
        handles: Vec<HandleWork>;
        /// Programmed bytes of no handle: parity, and padding of moved data.
        unattributed_bytes: u64, "bytes";
        /// Units that hold valid data of several handles at the end of the run.
        mixed_units: u64, "units";
    }
}

table! {
    /// The statistics log of an endurance group.
    struct PlacementLog {
        /// Host bytes with metadata written: bytes that the host wrote.
        hbmw: u64, "bytes";
        /// Media bytes with metadata written: programmed bytes of all sources.
        mbmw: u64, "bytes";
        /// Media bytes erased.
        mbe: u64, "bytes";
        /// How often something happened to a unit or a handle.
        events: PlacementEvents, "events";
    }
}

table! {
    /// Events of an endurance group. The model has no time limit of units and no resets, so there are
    /// none of NVMe's other types.
    struct PlacementEvents {
        /// The host updated a handle, and left a unit that was written in part.
        unit_not_fully_written: u64;
        /// Writes with the number of a handle that is not there. They go to handle 0.
        invalid_placement_identifier: u64;
        /// Units that were erased after valid data had been moved out of them.
        media_reallocated: u64;
        /// The drive closed the open unit of a handle before it was full.
        implicitly_modified_handle: u64;
    }
}

table! {
    /// The work for a placement handle. Moved data count for the handle that the host wrote them through,
    /// in whatever unit they lie.
    struct HandleWork {
        /// The number of the handle.
        handle: usize;
        /// Bytes that the host wrote through it.
        host_bytes: u64, "bytes";
        /// Programmed bytes of its data, and padding of its writes.
        media_bytes: u64, "bytes";
        /// Of these, the bytes that were moved.
        moved_bytes: u64, "bytes";
        /// Write amplification: `media_bytes` divided by `host_bytes`. Null if the host wrote nothing.
        waf: Option<f64>, "x";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let ftl = e.sim.ftl();
    let (handles, written) = (ftl.handles()?, e.stats.handles.as_ref()?);
    let geometry = &e.drive.geometry;
    let flash = geometry.flash();
    let page = geometry.page_size().get();
    let mbmw = e.counts.program.total() * page;
    let erased = u64::from(flash.pages_per_block) * flash.page_size.get();
    let hbmw = e.stats.classes[Class::Write].bytes;
    let works: Vec<HandleWork> = handles
        .counts()
        .iter()
        .zip(&written.bytes)
        .enumerate()
        .map(|(handle, (counts, &host_bytes))| {
            let media_bytes = counts.programmed * page;
            let waf = (host_bytes > 0).then(|| media_bytes as f64 / host_bytes as f64);
            let moved_bytes = counts.moved * page;
            HandleWork { handle, host_bytes, media_bytes, moved_bytes, waf }
        })
        .collect();
    let sum = |of: fn(&HandleWork) -> u64| works.iter().map(of).sum::<u64>();
    let mixed_units = ftl.mixed_units();
    let law = |holds: bool, what: &str| {
        assert!(holds, "{what} (seed {}, config {})", e.drive.seed, e.drive.hash());
    };
    law(sum(|work| work.host_bytes) == hbmw, "handles make up what the host wrote");
    law(sum(|work| work.moved_bytes) == e.counts.moved.total() * page, "handles make up all moves");
    law(sum(|work| work.media_bytes) <= mbmw, "handles have no more programs than there were");
    law(!handles.spec().persistent || mixed_units == 0, "persistent isolation holds");
    let events = handles.events();
    Some(DataPlacement {
        isolation: e.drive.ftl.fdp?.isolation.name(),
        reclaim_unit_bytes: u64::from(geometry.slots_per_superblock()) * page,
        reclaim_units: geometry.superblock_ids().count(),
        log: PlacementLog {
            hbmw,
            mbmw,
            mbe: e.counts.erase.total().get() * erased,
            events: PlacementEvents {
                unit_not_fully_written: events.not_fully_written,
                invalid_placement_identifier: written.invalid,
                media_reallocated: events.reallocated,
                implicitly_modified_handle: events.modified,
            },
        },
        unattributed_bytes: mbmw - sum(|work| work.media_bytes),
        handles: works,
        mixed_units,
    })
}

//! How much a drive holds.

use super::SectionAbout;
use crate::config::capacity;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::{PolicyTypes, State};
use nand::{BlockId, Mode};

pub(crate) const ABOUT: SectionAbout =
    SectionAbout::section("The size of the drive, and its blocks by kind at the end of the run.");

pub(crate) type Section = DriveSizes;

table! {
    /// Sizes of a drive.
    struct DriveSizes {
        /// The flash, at full density.
        physical_bytes: u64, "bytes";
        /// The size of the drive for the host.
        logical_bytes: u64, "bytes";
        /// The part of the flash that holds parity. Null without parity.
        parity_bytes: Option<u64>, "bytes", later null;
        /// Program units in a superblock. Null where blocks are opened and collected alone.
        superblock_units: Option<u32>, "program units", later null;
        /// Superblocks that are open. Null where blocks are opened and collected alone.
        open_superblocks: Option<usize>, "superblocks", later null;
        /// (P - L) / L, with P the pages of good blocks without parity, and L the pages of the host.
        over_provisioning: f64, "share";
        /// (P - L) / P.
        spare_factor: f64, "share";
        /// Blocks that are free.
        free_blocks: usize, "blocks";
        /// Blocks in the mode of low density.
        low_density_blocks: usize, "blocks";
        /// Blocks out of service.
        bad_blocks: usize, "blocks";
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (drive, ftl) = (e.drive, e.sim.ftl());
    let blocks = || drive.geometry.block_ids();
    // A drive that was simulated in part: each of its parts has as many.
    let years = drive.years.as_ref();
    let parts = years.map_or(1, |years| years.of.get() as usize);
    let each = drive.geometry.flash_blocks_per_block().get() as usize * parts;
    let drive = years.map_or(drive, |years| &years.whole);
    let in_state = |s: State| blocks().filter(|&b| ftl.blocks().state(b) == s).count() * each;
    let is_open = |b: &BlockId| ftl.blocks().state(*b) == State::Open;
    let open = ftl.geometry().superblock_ids().filter(is_open).count();
    let (geometry, superblocks) = (&drive.geometry, drive.geometry.superblocks());
    let several = !superblocks.are_blocks();
    let low = blocks().filter(|&b| ftl.array().mode(b) == Mode::LowDensity).count() * each;
    DriveSizes {
        physical_bytes: drive.geometry.pages() as u64 * drive.geometry.page_size().get(),
        logical_bytes: capacity(drive).get(),
        over_provisioning: drive.over_provisioning,
        spare_factor: drive.spare_factor,
        parity_bytes: (superblocks.parity() > 0).then(|| {
            (geometry.pages() as u64 - geometry.data_slots()) * geometry.page_size().get()
        }),
        superblock_units: several
            .then(|| geometry.slots_per_superblock() / geometry.slots_per_program()),
        open_superblocks: several.then(|| open * parts),
        free_blocks: in_state(State::Free),
        low_density_blocks: low,
        bad_blocks: in_state(State::Bad),
    }
}

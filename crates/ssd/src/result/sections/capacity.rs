//! How much a drive holds.

use super::SectionAbout;
use crate::config::capacity;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::{PolicyTypes, State};
use nand::Mode;

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
        /// (P - L) / L, with P the pages of good blocks and L the pages of the host.
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
    // Of a drive that was simulated in part, each of its parts has as many.
    let years = drive.years.as_ref();
    let parts = years.map_or(1, |years| years.of.get() as usize);
    let each = drive.geometry.flash_blocks_per_block().get() as usize * parts;
    let drive = years.map_or(drive, |years| &years.whole);
    let in_state = |s: State| blocks().filter(|&b| ftl.blocks().state(b) == s).count() * each;
    let low = blocks().filter(|&b| ftl.array().mode(b) == Mode::LowDensity).count() * each;
    DriveSizes {
        physical_bytes: drive.geometry.pages() as u64 * drive.geometry.page_size().get(),
        logical_bytes: capacity(drive).get(),
        over_provisioning: drive.over_provisioning,
        spare_factor: drive.spare_factor,
        free_blocks: in_state(State::Free),
        low_density_blocks: low,
        bad_blocks: in_state(State::Bad),
    }
}

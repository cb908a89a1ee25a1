//! The counts of an FTL.

use nand::{Each, FlashBlocks, FlashPages, Source};

/// The work of the FTL so far. Plain numbers are slots.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Slots read, by source.
    pub read: Each<Source, u64>,
    /// Slots programmed, by source, including those that hold no data.
    pub program: Each<Source, u64>,
    /// Of these, the slots without data, because a command programs more than there was to write.
    pub padding: Each<Source, u64>,
    /// Blocks erased, by source.
    pub erase: Each<Source, FlashBlocks>,
    /// Erases by garbage collection, by the source that needed the space. If refreshes take and
    /// give back space, this may differ from the source that found the plane short: see
    /// `Space::needed_by`.
    pub gc_erase_by_demand: Each<Source, FlashBlocks>,
    /// Pages moved, by source: copies that are programmed.
    pub moved: Each<Source, u64>,
    /// Host pages given a slot.
    pub host_pages: u64,
    /// Blocks reprogrammed in place.
    pub reprogram: u64,
    /// Pages programmed by in-place reprogramming, one for each wordline, by source.
    pub reprogrammed_pages: Each<Source, FlashPages>,
    /// Slots given up in blocks that were completed before they were full.
    pub sealed: u64,
    /// Blocks that began a second generation instead of being erased.
    pub second_lives: u64,
    /// Valid pages that stayed in place when their block began a second generation.
    pub kept: u64,
    /// Slots passed over by the page-choice policy.
    pub skipped: u64,
    /// Program units of moved pages that went to another stream than their own, for want of room.
    pub diverted: u64,
    /// Copies dropped because the page had changed meanwhile.
    pub dropped: u64,
    /// Times a plane had to be reclaimed and had nothing to gain.
    pub no_victim: u64,
    /// Blocks retired at the end of their life.
    pub retired: FlashBlocks,
    /// Of these, the ones retired because a page of theirs could not be read.
    pub marked_bad: FlashBlocks,
    /// Victims chosen in place of the policy, after it chose nothing but full blocks.
    pub overridden: u64,
}

/// The pages of one stream of a separation policy.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct StreamPages {
    /// Pages of the host that were written to it.
    pub host: u64,
    /// Pages that moved into its blocks, from any stream.
    pub moved_in: u64,
    /// Pages that moved out of its blocks, to any stream.
    pub moved_out: u64,
}

//! The work of the write buffer.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout =
    SectionAbout::section("The work of the write buffer. Null for a drive without one.");

pub(crate) type Section = Option<BufferWork>;

table! {
    /// The work of a write buffer.
    struct BufferWork {
        /// The size of the buffer.
        pages: u32, "pages";
        /// Writes to a page that was still in the buffer.
        absorbed: u64, "pages";
        /// Reads that the buffer answered.
        read_hits: u64, "pages";
        /// Pages sent to flash.
        flushed: u64, "pages";
        /// Writes that found the buffer full and waited.
        waited: u64, "pages";
        /// The most pages in the buffer at one time.
        most: u32, "pages";
        /// Pages in the buffer when the life of the drive ended; otherwise 0.
        left: u32, "pages";
        /// The time from the last request until the buffer was empty. Null in results of earlier
        /// versions.
        drain_ns: u64, "ns", later null;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    e.sim.buffer().map(|b| BufferWork {
        pages: b.places,
        absorbed: b.absorbed,
        read_hits: b.read_hits,
        flushed: b.flushed,
        waited: e.sim.wait_stats().buffer,
        most: b.most,
        left: b.left,
        drain_ns: e.sim.drain().as_ns(),
    })
}

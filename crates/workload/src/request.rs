//! One block request.

use kernel::{Prio, Time};

/// The number of requests that a batch aims at: large enough that dispatch costs nothing, small
/// enough that a batch (96 KiB) stays in the second-level cache.
pub const BATCH: usize = 4096;

/// What a request does.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    /// Data travels to the host.
    Read,
    /// Data travels to the drive.
    Write,
    /// The host no longer needs the data.
    Trim,
}

/// One block request as the host issued it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Arrival, since the first request of the workload; the first arrives at zero.
    pub at: Time,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, never zero.
    pub len: u32,
    /// What it does.
    pub op: Op,
    /// How urgent it is; readers of traces say `Normal`.
    pub prio: Prio,
}

impl Request {
    /// The first byte after the request.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }
}

const _: () = assert!(size_of::<Request>() == 24);

//! One block request.

use kernel::{Hint, Prio, Time};

/// The number of requests that a batch aims at: large enough that dispatch costs nothing, small
/// enough that a batch (96 KiB) stays in the second-level cache.
pub const BATCH: usize = 4096;

/// The operation of a request.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    /// Data travels to the host.
    Read,
    /// Data travels to the drive.
    Write,
    /// The host no longer needs the data.
    Trim,
    /// Everything written before is to survive a loss of power. It has no address and no length.
    Flush,
    /// A write that is done when its data survive a loss of power (force unit access).
    WriteFua,
}

impl Op {
    /// Whether data travel to the drive.
    #[inline]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteFua)
    }
}

/// One block request as the host issued it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Arrival, since the first request of the workload; the first arrives at zero.
    pub at: Time,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; zero for a flush alone.
    pub len: u32,
    /// The operation.
    pub op: Op,
    /// How urgent it is; readers of traces say `Normal`.
    pub prio: Prio,
    /// The flow that it belongs to: a place in [`About::flows`](crate::About::flows), 0 where there are
    /// none.
    pub flow: u8,
    /// A hint about the data of a write; 0: none.
    pub hint: Hint,
}

impl Request {
    /// A flush at time zero, without flow and hint.
    pub const FLUSH: Self = Self {
        at: Time::ZERO,
        offset: 0,
        len: 0,
        op: Op::Flush,
        prio: Prio::Normal,
        flow: 0,
        hint: 0,
    };

    /// Whether it is about some bytes of the address space: a flush is about none.
    #[inline]
    pub const fn has_extent(&self) -> bool {
        !matches!(self.op, Op::Flush)
    }

    /// The first byte after the request.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.offset + self.len as u64
    }
}

const _: () = assert!(size_of::<Request>() == 24);

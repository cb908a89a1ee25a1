//! The host's side: requests that wait to be pushed into the drive, requests inside it, and the
//! write buffer that answers some of them.

mod arrival;
mod backlog;
mod buffer;
mod queue;

pub(crate) use arrival::{ClosedLoop, Feeder};
pub use backlog::Overload;
pub use buffer::BufferCounts;
pub(crate) use buffer::{Buffer, Parts};
pub use queue::{Class, ClassStats, Completion, Stats};
pub(crate) use queue::{Inside, Requests};

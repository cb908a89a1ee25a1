//! The host's side: requests that wait outside the drive and requests inside it, the controller and
//! the link that they pass, and the write buffer that answers some of them.

mod arrival;
mod backlog;
mod barrier;
mod buffer;
mod delays;
mod flows;
mod host_interface;
mod interface;
mod port;
mod program_buffer;
mod queue;
mod run_flows;

use arrival::Inbox;
pub(crate) use arrival::{Feeder, RunningLoop};
pub use backlog::Overload;
pub(crate) use barrier::Barrier;
pub use buffer::BufferCounts;
pub(crate) use buffer::{Arrived, Buffer, Data, Flush, PageParts, Write};
pub(crate) use delays::begin_of_cell;
pub use delays::{ByLatency, Delays};
pub(crate) use host_interface::{COMMAND, HostInterface, Passed};
pub(crate) use interface::DriveInterface;
pub(crate) use port::Transfer;
pub(crate) use program_buffer::ProgramBuffers;
pub use queue::{ByHandle, Class, ClassStats, Completion, Safe, Stats};
pub(crate) use queue::{Inside, Requests};
pub(crate) use run_flows::RunFlows;

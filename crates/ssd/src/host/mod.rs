//! The host's side: requests that wait outside the drive and requests inside it, the controller and
//! the link that they pass, and the write buffer that answers some of them.

mod arrival;
mod backlog;
mod barrier;
mod buffer;
mod delays;
mod flows;
mod front;
mod interface;
mod port;
mod queue;
mod tenants;
mod tray;

use arrival::Inbox;
pub(crate) use arrival::{Feeder, RunningLoop};
pub use backlog::Overload;
pub(crate) use barrier::Barrier;
pub use buffer::BufferCounts;
pub(crate) use buffer::{Arrived, Buffer, Data, Flush, PageParts, Write};
pub(crate) use delays::begin_of_cell;
pub use delays::{ByLatency, Delays};
pub(crate) use front::{COMMAND, Front, Passed};
pub(crate) use interface::Interface;
pub(crate) use port::Transfer;
pub use queue::{Class, ClassStats, Completion, Safe, Stats};
pub(crate) use queue::{Inside, Requests};
pub(crate) use tenants::RunFlows;
pub(crate) use tray::Trays;

//! Flash translation: mapping, blocks, frontiers, garbage collection, wear levelling, background
//! jobs — the mechanisms, and the traits in which they ask their questions.
//!
//! This crate knows no clock, queue or host. A driver carries out the flash operations that jobs
//! request, and reports each when it is done. The driver is the event loop of `ssd`, or
//! [`Ftl::settle`] for tests and preconditioning. Between two calls everything is consistent, and
//! [`Ftl::check`] proves it.

mod ask;
mod columns;
mod config;
mod counts;
mod ftl;
mod map;
mod plan;
mod program_buffer;
mod space;
mod view;
mod waiting;

#[cfg(test)]
#[path = "../tests/support/small.rs"]
mod small;

pub use crate::ftl::{
    CacheCounts, Ftl, HandleCounts, HandleEvents, Handles, Job, JobId, Next, stream_slots,
};
pub use ask::*;
pub use columns::ReadLimits;
pub use config::{Config, GcMarks};
pub use counts::{Counts, StreamPages};
pub use map::{Lpn, Map};
pub use nand::{OpKind, OpView, Waited};
pub use plan::*;
pub use program_buffer::ProgramBuffer;
pub use space::{Blocks, Damaged, RESERVE, SingleCounts, State, seal};
pub use view::{FtlView, Load, PlaneView};
pub use waiting::Waiting;

//! The sources of block I/O: traces read from files, generators, and changes of their addresses.
//! Knows nothing of flash and reads no clock.
//!
//! A [`Workload`] can be opened several times; each opening is a [`RequestSource`], a stream of
//! [`Request`]s in time order, read in batches.
//!
//! ```
//! # use floatgate_workload as workload;
//! use workload::{Workload, ReadOptions, open_bytes};
//!
//! let text = b"0 0 16 8 0\n2500 0 64 8 1\n".to_vec();      // SSDSim: ns, device, sectors, 1 = read
//! let trace = open_bytes("two.trace", text.into(), &ReadOptions::default())?;
//! let mut batch = Vec::new();
//! trace.open()?.fill(&mut batch)?;
//! assert_eq!((batch[1].at.as_ns(), batch[1].offset, batch[1].len), (2500, 64 * 512, 4096));
//! # Ok::<(), workload::TraceError>(())
//! ```

#![allow(
    clippy::unnecessary_box_returns,
    clippy::boxed_local,
    reason = "errors are made in a box, so that results of the hot loops stay small"
)]

pub mod catalogue;
pub mod describe;
pub mod standin;

mod arrange;
mod clock;
mod error;
mod generate;
mod request;
mod source;
mod trace;

pub use arrange::{
    AddressWrap, Alignment, ClosedLoop, ColumnTable, Composition, Facts, List, Merge, MergedPart,
    OutOfRange, PartText, Pieces, Portion, SampleFacts, See, Slice, Steps, TableRows, open_table,
};
pub use clock::at_speed;
pub use error::{Detail, Spot, TraceError, TracePlace};
pub use generate::{
    Arrivals, Eviction, Generator, HARDLY_WRITES, MixShare, PassOrder, Pattern, Size, Synthetic,
};
pub use request::{BATCH, Op, Request};
pub use source::{
    About, Draws, Flow, Flows, Loop, Named, RequestSource, StandIn, Workload, digest,
};
pub use trace::{
    ColumnPlace, ColumnRole, ColumnUnit, Columns, Event, FlowBy, Format, ReadOptions, ReadTally,
    Spelling, TimeUnit, file_hint, glance, open_bytes, open_slices, open_trace, suggest_columns,
};

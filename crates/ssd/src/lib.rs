//! The assembly: from a drive file to the results of a run.
//!
//! Everything is a value: a drive comes in as text, a workload as a reader, and a result goes out
//! as JSON. Files, terminals and clocks belong to the binding.

mod accounts;
pub mod bench;
pub mod config;
pub mod embedded;
pub mod fast_forward;
pub mod presets;
pub mod record;
pub mod sim;

mod clock;
mod device;
mod host;
mod ops;
mod precondition;
mod progress;
mod result;
mod run;
mod server;
mod session;
mod years;

/// The digest of the sources that this engine is built from (`build.rs`): its crates without their
/// tests, the presets, `Cargo.lock`. Data stored under a name with this digest is never used by
/// other code.
pub const BUILD: &str = concat!("sha256:", env!("FLOATGATE_SOURCES"));

/// The parts of the crates below that the binding may use.
pub use {kernel, nand::physics, policies, workload};

pub use accounts::accounts;
pub use config::{ConfigError, Drive, Layers, Years, capacity};
pub use embedded::{Answered, Embedded, Refusal, Submission};
pub use precondition::{Preconditioned, precondition};
pub use presets::presets;
pub use progress::{Progress, Stage};
pub use result::{Report, WallTimes, result_shape};
pub use run::{
    Client, NoCache, Planned, RunError, StateCache, ftl_of, generator, generator_alone, memory,
    open_session, planned, run, run_recorded,
};
pub use session::{Session, SessionState, WornOut};
pub use sim::WaitStats;

//! The configuration of a drive, in two stages: as written (TOML, layered, every key optional)
//! and resolved ([`Drive`]: multiplied out, checked, nothing left open).
//!
//! All of it is values: texts come in, a drive or a list of errors comes out. Every error has its
//! place, and all errors are reported at once.
//!
//! ```
//! use floatgate_ssd::config::{Layers, load, render};
//!
//! let set = ["ftl.gc.stop=4".to_owned()];
//! let layers = Layers {
//!     file: ("mine.toml", "base = \"agcr\"\n[geometry]\nchannels = 4\n"),
//!     library: &|_| None,
//!     set: &set,
//!     policy: &[],
//!     seed: None,
//! };
//! let drive = load(&layers).map_err(|errors| render(&errors, false))?;
//! assert_eq!((drive.geometry.channels(), drive.ftl.gc.stop), (4, 4));
//! # Ok::<(), String>(())
//! ```

mod chips;
mod drive;
mod error;
mod field;
mod inherited;
mod keys;
mod layers;
mod node;
mod render;
mod resolve;
mod scale;
mod schema;
mod text;
mod times;
mod warnings;

pub(crate) use chips::drive_of as chip_drive;
pub use chips::{chip, chips};
pub(crate) use drive::WorkloadDemand;
pub use drive::{
    Age, BufferKind, Cache, ChannelFirst, Drive, DriveWorkload, Duplex, Fill, Foreground,
    FreeBlock, GcPacing, GcTrigger, HostMode, Interruptible, Mapping, Model, MultiPlane,
    OffloadEviction, PendingRead, PermutationOrder, Program, ProgramSpeed, ReadStart, Recording,
    RecoveryConstants, SHORTEST, Uncorrectable, UnmappedRead, Years, capacity,
};
pub use error::{ConfigError, ConfigErrorKind, Mark};
pub(crate) use field::Word;
pub use inherited::inherited;
pub(crate) use keys::OPERATION_LIMIT;
pub use keys::{
    BufferSettings, Controller, FlowSettings, FtlSettings, GcSettings, Host, Jitter, LinkSettings,
    Precondition, Reliability, Suspend,
};
pub use layers::Layers;
pub use node::{KeyEntry, Node, TomlTable, Value, located};
pub use render::render;
pub(crate) use resolve::{MOST_UNITS, before_run};
pub use scale::Scale;
pub use schema::schema;
pub use text::TextPlace;
pub use workload::OutOfRange;

use policies::external::Supplier;

/// Loads a drive: reads all layers, puts them together, checks everything.
pub fn load(layers: &Layers<'_>) -> Result<Drive, Vec<ConfigError>> {
    load_with(layers, None)
}

/// Loads a drive whose policies may come from outside.
pub fn load_with(
    layers: &Layers<'_>,
    supplier: Option<&dyn Supplier>,
) -> Result<Drive, Vec<ConfigError>> {
    let log = error::Log::default();
    let drive = layers::merge(layers, supplier, &log)
        .and_then(|merged| resolve::resolve(merged, supplier, &log));
    let errors = log.errors();
    drive.filter(|_| errors.is_empty()).ok_or(errors)
}

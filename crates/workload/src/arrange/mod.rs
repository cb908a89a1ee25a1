//! Changes of workloads before a drive sees them. [`Steps`] takes parts of one. [`Merge`],
//! [`Chain`] and [`Composition`] (files of parts) combine several. [`AddressWrap`] folds addresses
//! into a drive, and [`Portion`] into a part of it. [`List`] and [`ColumnTable`] are
//! workloads given row by row.

mod chain;
mod compose;
mod extents;
mod hints;
mod list;
mod merge;
mod portion;
mod steps;
mod table;
mod transform;

pub(crate) use chain::{Chain, ChainLink};
pub use compose::{Composition, PartText};
pub use list::List;
pub(crate) use merge::digest_of_digests;
pub use merge::{ClosedLoop, Merge, MergedPart};
pub use portion::{Portion, SampleFacts};
pub use steps::{Slice, Steps};
pub use table::{ColumnTable, Facts, Pieces, See, TableRows, open_table};
pub use transform::{AddressWrap, Alignment, OutOfRange};

//! Changes of workloads before a drive sees them: parts of one ([`Steps`]), several put
//! together ([`Merge`], [`Chain`], files of parts in [`Composition`]), addresses folded into a drive
//! ([`AddressWrap`]), or into one of its equal parts ([`Portion`]); and workloads that are given row by row
//! ([`List`], [`ColumnTable`]).

mod chain;
mod compose;
mod extents;
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
pub use portion::Portion;
pub use steps::{Slice, Steps};
pub use table::{ColumnTable, Facts, Pieces, See, TableRows, open_table};
pub use transform::{AddressWrap, Alignment, OutOfRange};

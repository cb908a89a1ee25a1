//! Tables: columns of plain numbers, and the Parquet files that they become while their rows come in.
//!
//! It writes only the tables of a run: whole numbers, fractions, and words of a short list, some of
//! them absent. Nothing is read. [`Writer`] needs a third of the processor time for a row that
//! polars' writer does, and none of the memory of its code (`docs/design/speed.md`). Files are for
//! every reader of Parquet; they carry Arrow's schema as well, so that polars has words as `Enum`
//! and pyarrow as dictionaries.

mod arrow;
mod column;
mod delta;
mod levels;
mod thrift;
mod writer;

pub use column::{Column, Values};
pub use writer::{GROUP, Writer};

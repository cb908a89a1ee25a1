//! Errors with the place, the value found, the expected one, and the advice.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The place of a mistake in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracePlace {
    /// The file as the user named it, or the generator's name.
    pub file: Arc<str>,
    /// The spot within it.
    pub spot: Spot,
}

/// A spot within a file.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Spot {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1, and a column in bytes, counted from 1 (0: the line as a whole).
    Line {
        /// Line number.
        line: u64,
        /// Column.
        column: u32,
    },
    /// A binary record, counted from 1, and the byte of the decompressed data where it begins.
    Record {
        /// Record number.
        record: u64,
        /// Byte offset.
        byte: u64,
    },
    /// A request, counted from 1 in the order of arrival.
    Request(u64),
    /// A row of a table, counted from 1.
    Row(u64),
    /// The number of decompressed bytes read so far.
    After(u64),
}

impl fmt::Display for TracePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.spot {
            Spot::Whole => Ok(()),
            Spot::Line { line, column: 0 } => write!(f, ":{line}"),
            Spot::Line { line, column } => write!(f, ":{line}:{column}"),
            Spot::Record { record, byte } => write!(f, ": record {record} (byte {byte})"),
            Spot::Request(n) => write!(f, ": request {n}"),
            Spot::Row(n) => write!(f, ": row {n}"),
            Spot::After(bytes) => write!(f, ": after {bytes} decompressed bytes"),
        }
    }
}

/// A mistake in four parts; the parts of every error of this crate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detail {
    /// The place.
    pub place: TracePlace,
    /// The value that was found.
    pub found: String,
    /// The expected value.
    pub expected: String,
    /// A way out; empty if there is none.
    pub hint: String,
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; expected {}", self.place, self.found, self.expected)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, ". Hint: {}", self.hint) }
    }
}

/// Why a workload cannot be read or made. Every message names the place, the value found, the
/// expected one, and a way out.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened or read, or holds no request.
    #[error("{0}")]
    File(Box<Detail>),
    /// The compressed data is cut or damaged.
    #[error("{0}")]
    Compression(Box<Detail>),
    /// No known format fits.
    #[error("{0}")]
    Format(Box<Detail>),
    /// One record is wrong.
    #[error("{0}")]
    Record(Box<Detail>),
    /// The times, taken together, are not plausible.
    #[error("{0}")]
    Clock(Box<Detail>),
    /// An address lies outside the drive, or does not fit it.
    #[error("{0}")]
    Range(Box<Detail>),
    /// A parameter of a generator, a transformation or a reader is wrong.
    #[error("{0}")]
    Parameter(Box<Detail>),
}

impl TraceError {
    /// The parts of the message.
    pub fn detail(&self) -> &Detail {
        match self {
            Self::File(d)
            | Self::Compression(d)
            | Self::Format(d)
            | Self::Record(d)
            | Self::Clock(d)
            | Self::Range(d)
            | Self::Parameter(d) => d,
        }
    }

    /// A stable name of the kind of error, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(_) => "trace::file",
            Self::Compression(_) => "trace::compression",
            Self::Format(_) => "trace::format",
            Self::Record(_) => "trace::record",
            Self::Clock(_) => "trace::clock",
            Self::Range(_) => "trace::range",
            Self::Parameter(_) => "workload::parameter",
        }
    }
}

/// Builds the detail of an error; kept out of the readers' hot loops.
#[cold]
pub(crate) fn detail(
    file: &Arc<str>,
    spot: Spot,
    found: impl Into<String>,
    expected: impl Into<String>,
    hint: impl Into<String>,
) -> Box<Detail> {
    let place = TracePlace { file: Arc::clone(file), spot };
    Box::new(Detail { place, found: found.into(), expected: expected.into(), hint: hint.into() })
}

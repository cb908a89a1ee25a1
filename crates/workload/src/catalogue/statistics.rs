//! Facts of a trace: figures, each with its source.

use std::fmt;
use std::str::FromStr;

use kernel::{Bytes, Dur};

/// The quantity of a figure.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Quantity {
    /// Requests in all.
    Requests,
    /// Reads among them.
    Reads,
    /// Writes among them.
    Writes,
    /// Reads of all requests, 0 to 1.
    ReadShare,
    /// Bytes read of all bytes moved, 0 to 1.
    ReadShareOfBytes,
    /// Mean size of a request, bytes.
    MeanSize,
    /// Mean size of a read, bytes.
    MeanRead,
    /// Mean size of a write, bytes.
    MeanWrite,
    /// Bytes moved.
    Bytes,
    /// Bytes of the whole pages of 32 KiB that reads touch.
    PageTrafficRead,
    /// Bytes of the whole pages of 32 KiB that writes touch.
    PageTrafficWritten,
    /// Bytes written in an hour, on average.
    WrittenPerHour,
    /// From the first to the last request, seconds.
    Duration,
    /// Distinct pages of 4 KiB that requests touch.
    Pages,
    /// Distinct pages of 4 KiB that writes touch.
    PagesWritten,
    /// Distinct first addresses of requests.
    Addresses,
    /// Size of the volume or highest address, bytes.
    Span,
    /// Devices or application storage units.
    Devices,
    /// Write amplification on the drive of the paper that gives it.
    Waf,
    /// Half hours whose writes differ by less than 30 % from those of the one before, 0 to 1.
    AlikeHalfHours,
}

/// How a figure is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Form {
    Count,
    Share,
    Factor,
    Size,
    Time,
}

impl Quantity {
    /// Every quantity, in the order in which it is shown.
    pub const ALL: [Self; 20] = [
        Self::Requests,
        Self::Reads,
        Self::Writes,
        Self::ReadShare,
        Self::ReadShareOfBytes,
        Self::MeanSize,
        Self::MeanRead,
        Self::MeanWrite,
        Self::Bytes,
        Self::PageTrafficRead,
        Self::PageTrafficWritten,
        Self::WrittenPerHour,
        Self::Duration,
        Self::Pages,
        Self::PagesWritten,
        Self::Addresses,
        Self::Span,
        Self::Devices,
        Self::Waf,
        Self::AlikeHalfHours,
    ];

    /// The key in the catalogue's files.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::ReadShare => "read-share",
            Self::ReadShareOfBytes => "read-share-of-bytes",
            Self::MeanSize => "mean-size",
            Self::MeanRead => "mean-read",
            Self::MeanWrite => "mean-write",
            Self::Bytes => "bytes",
            Self::PageTrafficRead => "page-traffic-read",
            Self::PageTrafficWritten => "page-traffic-written",
            Self::WrittenPerHour => "written-per-hour",
            Self::Duration => "duration",
            Self::Pages => "pages",
            Self::PagesWritten => "pages-written",
            Self::Addresses => "addresses",
            Self::Span => "span",
            Self::Devices => "devices",
            Self::Waf => "waf",
            Self::AlikeHalfHours => "alike-half-hours",
        }
    }

    /// The key in results: with its unit where it has one.
    pub fn result_key(self) -> String {
        let key = self.key().replace('-', "_");
        match self.form() {
            Form::Size if self != Self::Bytes => key + "_bytes",
            Form::Time => key + "_seconds",
            _ => key,
        }
    }

    const fn form(self) -> Form {
        match self {
            Self::Requests
            | Self::Reads
            | Self::Writes
            | Self::Pages
            | Self::PagesWritten
            | Self::Addresses
            | Self::Devices => Form::Count,
            Self::ReadShare | Self::ReadShareOfBytes | Self::AlikeHalfHours => Form::Share,
            Self::Waf => Form::Factor,
            Self::Duration => Form::Time,
            Self::MeanSize
            | Self::MeanRead
            | Self::MeanWrite
            | Self::Bytes
            | Self::PageTrafficRead
            | Self::PageTrafficWritten
            | Self::WrittenPerHour
            | Self::Span => Form::Size,
        }
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        matches!(self.form(), Form::Count | Form::Size)
    }

    /// Whether it grows with the length of a trace: a part of the trace then does not show the
    /// value of the whole.
    const fn adds_up(self) -> bool {
        !matches!(
            self,
            Self::ReadShare
                | Self::ReadShareOfBytes
                | Self::MeanSize
                | Self::MeanRead
                | Self::MeanWrite
                | Self::WrittenPerHour
                | Self::AlikeHalfHours
        )
    }

    /// Reads a figure; `None` if it is not of the form that it must have.
    pub(super) fn read(self, value: &toml::Value) -> Option<f64> {
        match (self.form(), value) {
            (Form::Count, toml::Value::Integer(n)) if *n > 0 => Some(*n as f64),
            (Form::Share, toml::Value::Float(x)) if (0.0..=1.0).contains(x) => Some(*x),
            (Form::Factor, toml::Value::Float(x)) if *x >= 1.0 => Some(*x),
            (Form::Size, toml::Value::String(text)) => size(text),
            (Form::Time, toml::Value::String(text)) => {
                text.parse::<Dur>().ok().map(|d| d.as_ns() as f64 * 1e-9)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// Bytes, to the nearest: published sizes are rounded, so `2.08GiB` need not be a whole number.
pub(super) fn size(text: &str) -> Option<f64> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let one = Bytes::from_str(&format!("1{}", &text[unit..])).ok()?;
    let number: f64 = text[..unit].parse().ok()?;
    (number > 0.0).then(|| (number * one.get() as f64).round())
}

/// How a source is known.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CitationKind {
    /// One of the papers whose techniques floatgate has.
    Paper,
    /// Read in public material.
    Found,
    /// Computed from figures of this source.
    Derived,
    /// Remembered, and not read again: a starting point, no evidence.
    Recalled,
}

impl CitationKind {
    /// Its name in the catalogue's files and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Found => "found",
            Self::Derived => "derived",
            Self::Recalled => "recalled",
        }
    }
}

/// The source of figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Citation {
    /// How they are known.
    pub kind: CitationKind,
    /// The place, in words.
    pub text: String,
}

/// The statement of one source about one trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Its source.
    pub source: Citation,
    /// The part of the trace that it is about; `None`: all of it.
    pub of: Option<String>,
    /// The figures.
    pub figures: Vec<(Quantity, f64)>,
}

impl Statement {
    /// Its value of a quantity, for the trace as a whole.
    pub fn figure(&self, quantity: Quantity) -> Option<f64> {
        if self.of.is_some() && quantity.adds_up() {
            return None;
        }
        self.figures.iter().find(|(q, _)| *q == quantity).map(|(_, x)| *x)
    }
}

/// A figure and its source.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// The figure, in requests, bytes, seconds or as a fraction.
    pub value: f64,
    /// Its source, or the source of the figures that it is computed from.
    pub source: Citation,
    /// Values of other sources, if they differ by more than 1 %.
    pub otherwise: Vec<(f64, Citation)>,
}

/// Sources rarely agree to the last digit; they contradict each other beyond this.
const AGREEMENT: f64 = 0.01;

/// The value of a quantity by the statements: the first that gives it is believed. Values that no
/// source gives are computed if they follow from one that does.
pub(super) fn known(statements: &[Statement], quantity: Quantity) -> Option<Known> {
    let mut said = statements.iter().filter_map(|s| {
        let stated = s.figure(quantity).map(|x| (x, s.source.clone()));
        stated.or_else(|| derived(s, quantity))
    });
    let (value, source) = said.next()?;
    let differs = |(x, _): &(f64, Citation)| (x - value).abs() > AGREEMENT * value.abs();
    Some(Known { value, source, otherwise: said.filter(differs).collect() })
}

/// Figures that follow from the others of a statement.
fn derived(s: &Statement, quantity: Quantity) -> Option<(f64, Citation)> {
    use Quantity as Q;
    let get = |q| s.figure(q);
    let value = match quantity {
        Q::Reads => get(Q::Requests)? - get(Q::Writes)?,
        Q::ReadShare => {
            let from_counts = || Some((get(Q::Requests)? - get(Q::Writes)?) / get(Q::Requests)?);
            let from_bytes = || {
                let reads = get(Q::ReadShareOfBytes)? / get(Q::MeanRead)?;
                let writes = (1.0 - get(Q::ReadShareOfBytes)?) / get(Q::MeanWrite)?;
                Some(reads / (reads + writes))
            };
            from_counts().or_else(from_bytes)?
        }
        Q::MeanSize => (get(Q::Bytes)? / get(Q::Requests)?).round(),
        _ => return None,
    };
    Some((value, Citation { kind: CitationKind::Derived, ..s.source.clone() }))
}

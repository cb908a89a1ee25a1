//! Traces: files of recorded requests.
//!
//! Opening a trace reads it once from end to end: its hash, its number of requests, its devices
//! and its faults are known before a run begins. Every format is one file here, and reduces its
//! records to the same few fields; `reader.rs` makes requests of them.

mod disksim;
mod feed;
mod fields;
mod input;
mod msr;
mod reader;
mod record;
mod sniff;
mod spc;
mod ssdsim;
mod vscsi;

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use self::disksim::Disksim;
use self::feed::Feed;
use self::input::{Compression, Stored};
use self::msr::Msr;
use self::reader::{Reader, Reading, Regions, Survey};
use self::record::Parser;
use self::spc::Spc;
use self::ssdsim::Ssdsim;
use self::vscsi::Vscsi;
use crate::error::{Spot, detail};
use crate::{About, Source, TraceError, Workload};

/// A format of trace.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// Five columns, whole nanoseconds, 1 = read.
    SsdsimAscii,
    /// Five columns, decimal milliseconds, flags.
    DisksimAscii,
    /// Seven columns of CSV from Microsoft Research Cambridge.
    Msr,
    /// Five columns of CSV from the Storage Performance Council (`UMass`).
    Spc,
    /// Binary records of 32 bytes from `CloudPhysics`.
    Vscsi,
}

impl Format {
    /// Every format, in the order in which they are tried.
    pub const ALL: [Self; 5] =
        [Self::SsdsimAscii, Self::DisksimAscii, Self::Msr, Self::Spc, Self::Vscsi];

    /// The name used on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SsdsimAscii => "ssdsim-ascii",
            Self::DisksimAscii => "disksim-ascii",
            Self::Msr => "msr",
            Self::Spc => "spc",
            Self::Vscsi => "vscsi",
        }
    }

    /// What the format holds, in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::SsdsimAscii => {
                "whole nanoseconds, device, first sector, sectors, 1 = read (SSDSim, MQSim)"
            }
            Self::DisksimAscii => {
                "decimal milliseconds, device, first sector, sectors, flags with bit 0 = read (DiskSim)"
            }
            Self::Msr => {
                "file time in 100 ns, host, disk, type, offset, size, response (MSR Cambridge)"
            }
            Self::Spc => "storage unit, first block, bytes, r or w, decimal seconds (UMass, SPC)",
            Self::Vscsi => "binary records with microseconds and blocks of 512 B (CloudPhysics)",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|f| f.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|f| f.name()).collect();
            format!("`{text}` is not a trace format; known are {}", names.join(", "))
        })
    }
}

/// The unit of a trace's time column, where the format leaves doubt.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// The power of ten that makes it nanoseconds.
    const fn power(self) -> u32 {
        match self {
            Self::S => 9,
            Self::Ms => 6,
            Self::Us => 3,
            Self::Ns => 0,
        }
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "s" => Ok(Self::S),
            "ms" => Ok(Self::Ms),
            "us" | "µs" => Ok(Self::Us),
            "ns" => Ok(Self::Ns),
            _ => Err(format!("`{text}` is not a unit of time; known are s, ms, us, ns")),
        }
    }
}

/// What the user says about a trace; by default nothing.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// The format; `None`: told from the first 64 KiB.
    pub format: Option<Format>,
    /// The unit of the time column; `None`: the format's own. Given, no clock is called absurd.
    pub time_unit: Option<TimeUnit>,
    /// Count records that do not read and go on, instead of stopping at the first.
    pub skip_bad: bool,
}

/// Opens the trace at `path`, plain or compressed (gzip, zstd, xz), and reads it through once.
pub fn open_trace(path: &Path, options: &ReadOptions) -> Result<Box<dyn Workload>, TraceError> {
    open(Stored::file(path)?, *options)
}

/// As [`open_trace`], for a trace held in memory; `name` stands in messages and results.
pub fn open_bytes(
    name: &str,
    bytes: Arc<[u8]>,
    options: &ReadOptions,
) -> Result<Box<dyn Workload>, TraceError> {
    open(Stored::memory(name, bytes)?, *options)
}

/// A trace whose format is settled and which was read once.
struct Trace {
    stored: Stored,
    format: Format,
    options: ReadOptions,
    regions: Arc<Regions>,
    about: About,
}

impl Workload for Trace {
    fn about(&self) -> &About {
        &self.about
    }

    fn open(&self) -> Result<Box<dyn Source>, TraceError> {
        let feed = Feed::new(&self.stored)?;
        Ok(reading(feed, self.format, self.options, &self.regions))
    }
}

/// The one place that knows every format's reader.
fn reading(
    feed: Feed,
    format: Format,
    options: ReadOptions,
    regions: &Arc<Regions>,
) -> Box<dyn Reading> {
    fn boxed<P: Parser>(
        feed: Feed,
        parser: P,
        regions: &Arc<Regions>,
        skip_bad: bool,
    ) -> Box<dyn Reading> {
        Box::new(Reader::new(feed, parser, Arc::clone(regions), skip_bad))
    }
    let (unit, skip) = (options.time_unit, options.skip_bad);
    match format {
        Format::SsdsimAscii => boxed(feed, Ssdsim::new(unit), regions, skip),
        Format::DisksimAscii => boxed(feed, Disksim::new(unit), regions, skip),
        Format::Msr => boxed(feed, Msr::new(unit), regions, skip),
        Format::Spc => boxed(feed, Spc::new(unit), regions, skip),
        Format::Vscsi => boxed(feed, Vscsi::new(unit), regions, skip),
    }
}

fn open(stored: Stored, options: ReadOptions) -> Result<Box<dyn Workload>, TraceError> {
    let sha256 = stored.sha256()?;
    let mut feed = Feed::new(&stored)?;
    let compression = feed.compression();
    let mut notes = Vec::new();
    let format = match options.format {
        Some(format) => format,
        None => sniff::format(&stored, &mut feed, options, &mut notes)?,
    };
    let survey = reading(feed, format, options, &Arc::default()).survey()?;
    check(&stored, format, options, &survey)?;
    if compression != Compression::None {
        notes.push(format!("decompressed from {}", compression.name()));
    }
    describe(format, &survey, &mut notes);
    let about = About {
        name: stored.name.to_string(),
        format: format.name().into(),
        sha256: Some(sha256),
        requests: Some(survey.requests),
        span: Some(survey.regions.span()),
        timed: true,
        stand_in: None,
        notes,
    };
    let regions = Arc::new(survey.regions);
    Ok(Box::new(Trace { stored, format, options, regions, about }))
}

/// The longest trace that is believed without `--time-unit`: ten years.
const LONGEST_TRACE: u64 = 10 * 365 * 86_400 * 1_000_000_000;
/// The highest mean rate that is believed: no recorded drive has served 4 million requests or
/// 128 GB in a second. Milliseconds taken for nanoseconds give a million times the true rate.
const HIGHEST_RATE: f64 = 4e6;
const HIGHEST_BYTE_RATE: f64 = 128e9;
/// Fewer requests may come in one burst; no mean is taken over them.
const FEW: u64 = 1000;

/// Refuses a trace without requests, or one whose clock cannot be meant.
fn check(
    stored: &Stored,
    format: Format,
    options: ReadOptions,
    survey: &Survey,
) -> Result<(), TraceError> {
    let whole = |found: String, expected: &str, hint: String| {
        detail(&stored.name, Spot::Whole, found, expected, hint)
    };
    if survey.requests == 0 {
        let found = match survey.reasons.first() {
            None => "no request at all".into(),
            Some(first) => format!("all {} records were skipped; first: {first}", survey.skipped),
        };
        let hint = format!("it was read as {format}; `--format` names another");
        return Err(TraceError::File(whole(found, "at least one request", hint)));
    }
    if options.time_unit.is_some() {
        return Ok(());
    }
    let hint = |units: &str| {
        format!(
            "it was read as {format} ({}); if the times are in other units say so, such as \
             `--time-unit {units}`; the same option with the right unit accepts the times as they are",
            format.summary()
        )
    };
    if survey.length > LONGEST_TRACE {
        let found = format!("the trace spans {:.1} years", survey.length as f64 / 3.1536e16);
        return Err(TraceError::Clock(whole(found, "at most ten years", hint("us"))));
    }
    // All times equal is a closed-loop trace without a clock, and no rate.
    if survey.requests >= FEW && survey.length > 0 {
        let seconds = survey.length as f64 * 1e-9;
        let rate = survey.requests as f64 / seconds;
        let byte_rate = survey.bytes as f64 / seconds;
        if rate > HIGHEST_RATE || byte_rate > HIGHEST_BYTE_RATE {
            let found = format!(
                "{} requests in {seconds:.6} s: {:.1} million requests and {:.1} GB per second",
                survey.requests,
                rate * 1e-6,
                byte_rate * 1e-9
            );
            let expected = "at most 4 million requests and 128 GB per second on average";
            return Err(TraceError::Clock(whole(found, expected, hint("ms"))));
        }
    }
    Ok(())
}

/// Says what the pass over the trace found.
fn describe(format: Format, survey: &Survey, notes: &mut Vec<String>) {
    if survey.regions.count() > 1 {
        notes.push(format!(
            "{} devices, each moved to a region of its own (in order of their numbers, starting \
             at multiples of 1 MiB); together they span {}",
            survey.regions.count(),
            kernel::Bytes::new(survey.regions.span())
        ));
    }
    if survey.late > 0 {
        notes.push(format!(
            "{} records stand later in the file than in time, as {format} files do; they were put in order",
            survey.late
        ));
    }
    if survey.idle > 0 {
        notes.push(format!("{} records carry no data and were passed over", survey.idle));
    }
    if survey.length == 0 && survey.requests > 1 {
        notes.push("all requests bear the same time; replay them in `queue-depth` mode".into());
    }
    if survey.skipped > 0 {
        notes.push(format!(
            "{} bad records skipped; the first: {}",
            survey.skipped,
            survey.reasons.join(" | ")
        ));
    }
}

/// Everything that is left of a source.
#[cfg(test)]
pub(crate) fn drain(source: &mut dyn Source) -> Result<Vec<crate::Request>, TraceError> {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&batch);
    }
}

#[cfg(test)]
mod tests;

//! Traces: files of recorded requests.
//!
//! Opening a trace reads it once from end to end: its hash, its number of requests, its devices and
//! its faults are known before a run begins. A short one is not read again. Every format is one
//! file here, and reduces its records to the same few fields; `reader.rs` makes requests of them.

mod clock;
mod columns;
mod feed;
mod fields;
mod format;
mod guess;
mod input;
mod letters;
mod looks;
mod names;
mod numbers;
mod options;
mod packed;
mod quotes;
mod reader;
mod record;
mod select;
mod sniff;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use kernel::Bytes;

use self::clock::TraceClock;
pub use self::columns::{ColumnPlace, ColumnRole, Columns, Spelling, Unit as ColumnUnit};
use self::feed::{Cut, Feed};
use self::format::Visit;
pub use self::guess::suggest_columns;
use self::input::Compression;
pub(crate) use self::input::Stored;
pub use self::input::file_hint;
pub use self::options::{Event, FlowBy, ReadOptions, ReadTally, TimeUnit};
use self::packed::{PackedRequests, Unpacking};
pub(crate) use self::reader::{FlowOfOwner, Regions, TraceOwners};
use self::reader::{Reader, Survey, TraceSource};
use self::record::Parser;
pub(crate) use self::record::{FARTHEST, LONGEST, most, piece};
use self::sniff::KnownBy;
use crate::error::{Spot, detail};
use crate::{About, Flow, RequestSource, TraceError, Workload};

format::formats! {
    ssdsim::Ssdsim,
    disksim::Disksim,
    msr::Msr,
    msps::Msps,
    spc::Spc,
    vscsi::Vscsi,
    vscsi2::Vscsi2,
    alibaba::Alibaba,
    tencent::Tencent,
    systor::Systor,
    blkparse::Blkparse,
    fiu::Fiu,
    wiscsee::Wiscsee,
    fio::Fio,
    csv::Csv,
}

impl Format {
    /// The name used on the command line and in results.
    pub fn name(self) -> &'static str {
        self.visit(format::Name)
    }

    /// The content of the format, in a few words.
    pub fn summary(self) -> &'static str {
        self.visit(format::Summary)
    }

    /// The names of those that `requested` accepts, for messages.
    fn names(requested: impl Fn(Self) -> bool) -> String {
        let names: Vec<_> = Self::ALL.iter().filter(|f| requested(**f)).map(|f| f.name()).collect();
        names.join(", ")
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
        let known = Self::ALL.iter().copied().find(|f| f.name() == text);
        known.ok_or_else(|| {
            let hint = kernel::hint(text, Self::ALL.iter().map(|f| f.name()));
            format!("`{text}` is not a trace format; {hint}")
        })
    }
}

/// Opens the trace at `path`, plain or compressed (gzip, zstd, xz), and reads it through once.
pub fn open_trace(path: &Path, options: &ReadOptions) -> Result<Box<dyn Workload>, TraceError> {
    Ok(Box::new(open(Stored::file(path)?, options)?))
}

/// Opens files each of which goes on where the one before ends, of a format that numbers its
/// devices. The same device has the same addresses in all of them.
pub fn open_slices(
    paths: &[PathBuf],
    options: &ReadOptions,
) -> Result<Vec<Box<dyn Workload>>, TraceError> {
    let open = |path: &PathBuf| open(Stored::file(path)?, options);
    let slices = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let Some(regions) = Regions::of_all(slices.iter().map(|slice| &*slice.regions)) else {
        let first: Arc<str> = slices.first().map_or("", |s| &*s.stored.name).into();
        let found = "this and the files after it have too many devices, or too large ones";
        let what = detail(&first, Spot::Whole, found, "devices that together fit 62 bits", "");
        return Err(TraceError::Record(what));
    };
    let regions = Arc::new(regions);
    let mut slices = slices;
    if let Some(by) = options.flow_by {
        let owners = slices.iter().map(|slice| &slice.owners);
        let (flows, flow_of_owner) = TraceOwners::flows(by, owners, &regions);
        let first = Arc::clone(&slices.first().expect("a trace has a file").stored.name);
        few_enough(&first, by, &flows)?;
        for (slice, flow_of_owner) in slices.iter_mut().zip(flow_of_owner) {
            (slice.flow_of_owner, slice.about.flows) = (flow_of_owner, flows.clone());
        }
    }
    let shared = |mut slice: Trace| {
        slice.kept.take_if(|_| regions.count() > 1);
        slice.about.span = Some(regions.span());
        slice.regions = Arc::clone(&regions);
        Box::new(slice) as Box<dyn Workload>
    };
    Ok(slices.into_iter().map(shared).collect())
}

/// Finds mistakes of the trace at `path` as far as its beginning shows them: whether there is a
/// file to read, and in which format.
pub fn glance(path: &Path, options: &ReadOptions) -> Result<(), TraceError> {
    let stored = Stored::file(path)?;
    format_of(&stored, &mut Feed::new(&stored)?, options, &mut Vec::new()).map(|_| ())
}

/// The format that the user gave, or that the content shows; any other kind of file is refused.
fn format_of(
    stored: &Stored,
    feed: &mut Feed,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<(Format, KnownBy), TraceError> {
    let cut = options.format.map_or(Cut::Lines, |format| format.visit(format::Cuts));
    let told = looks::check(stored, feed, cut).and_then(|()| match options.format {
        Some(format) => Ok((format, KnownBy::Said)),
        None if options.columns.is_some() => Ok((Format::Csv, KnownBy::Columns)),
        None => sniff::format(stored, feed, options, notes),
    });
    told.map_err(|e| stored.if_misnamed(e))
}

/// As [`open_trace`], for a trace held in memory; `name` is used in messages and results.
pub fn open_bytes(
    name: &str,
    bytes: Arc<[u8]>,
    options: &ReadOptions,
) -> Result<Box<dyn Workload>, TraceError> {
    Ok(Box::new(open(Stored::memory(name, bytes)?, options)?))
}

/// A trace whose format is settled and that was read once.
struct Trace {
    stored: Stored,
    format: Format,
    known: KnownBy,
    options: ReadOptions,
    regions: Arc<Regions>,
    owners: TraceOwners,
    flow_of_owner: FlowOfOwner,
    origin: u64,
    /// All requests, if opening it kept them ([`Survey::kept`]).
    kept: Option<Arc<PackedRequests>>,
    /// The unit of its writes ([`Survey::grain`]).
    grain: Option<u64>,
    about: About,
}

impl Workload for Trace {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        if let Some(kept) = &self.kept {
            return Ok(Box::new(Unpacking::new(kept)));
        }
        let format = (self.format, self.known);
        Ok(reading(&self.stored, format, &self.options, &self.regions, self.flow_of_owner.clone())?)
    }

    fn writes_whole_pages(&self, page: Bytes) -> bool {
        self.grain.is_some_and(|grain| grain.is_multiple_of(page.get()))
    }

    fn origin(&self) -> Option<u64> {
        Some(self.origin)
    }
}

/// The stored bytes from the start, read as `format`.
fn reading(
    stored: &Stored,
    (format, known): (Format, KnownBy),
    options: &ReadOptions,
    regions: &Arc<Regions>,
    flow_of_owner: FlowOfOwner,
) -> Result<Box<dyn TraceSource>, TraceError> {
    struct Boxed<'a>(Feed, KnownBy, bool, &'a ReadOptions, Arc<Regions>, FlowOfOwner);

    impl Visit for Boxed<'_> {
        type Answer = Box<dyn TraceSource>;

        fn visit<P: Parser>(self) -> Self::Answer {
            Box::new(Reader::<P>::new(self.0, self.1, self.2, self.3, self.4, self.5))
        }
    }

    let mut feed = Feed::new(stored)?;
    let quoted = feed.head()?.0.contains(&b'"');
    Ok(format.visit(Boxed(feed, known, quoted, options, Arc::clone(regions), flow_of_owner)))
}

fn open(mut stored: Stored, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut options = options.clone();
    stored.tally = options.tally.clone();
    let said = options.said();
    let sha256 = stored.sha256()?;
    let mut feed = Feed::new(&stored)?;
    let compression = feed.compression();
    let mut notes = Vec::new();
    let (format, known) = format_of(&stored, &mut feed, &options, &mut notes)?;
    if let Some((found, expected, hint)) = options.unsuited(format) {
        let what = detail(&stored.name, Spot::Whole, found, expected, hint);
        return Err(TraceError::Parameter(what));
    }
    let survey = |options: &ReadOptions| {
        reading(
            &stored,
            (format, known),
            options,
            &Arc::default(),
            FlowOfOwner::unknown(options.flow_by),
        )?
        .survey()
        .map_err(|e| stored.if_misnamed(e))
    };
    let mut seen = survey(&options)?;
    if let Some(event) = seen.instead.filter(|_| seen.requests == 0) {
        options.event = Some(event);
        seen = survey(&options)?;
    }
    check(&stored, format, known, &options, &seen)?;
    if compression != Compression::None {
        notes.push(format!("decompressed from {}", compression.name()));
    }
    if seen.trailing > 0 {
        notes.push(format!(
            "{} bytes after the end of the {} data were passed over",
            seen.trailing,
            compression.name()
        ));
    }
    let (flows, flow_of_owner) = match options.flow_by {
        None => (Vec::new(), FlowOfOwner::one()),
        Some(by) => {
            if let (FlowBy::Process, Some(Event::Completed)) = (by, options.event) {
                let found = "`--flow-by process` with requests that arrive with C (completed)";
                let hint = "requests are completed in the name of the process that was running";
                let what = detail(&stored.name, Spot::Whole, found, "the event Q or D", hint);
                return Err(TraceError::Parameter(what));
            }
            let owners = std::iter::once(&seen.owners);
            let (flows, mut flow_of_owner) = TraceOwners::flows(by, owners, &seen.regions);
            few_enough(&stored.name, by, &flows)?;
            (flows, flow_of_owner.remove(0))
        }
    };
    describe(format, &options, &mut seen, &mut notes);
    let about = About {
        name: stored.name.to_string(),
        format: format.name().into(),
        sha256: Some(sha256),
        reading: said,
        requests: Some(seen.requests),
        span: Some(seen.regions.span()),
        timed: seen.timed,
        closed: Vec::new(),
        flows,
        stand_in: None,
        notes,
    };
    let regions = Arc::new(seen.regions);
    let (owners, origin) = (seen.owners, seen.origin);
    let (kept, grain) = (seen.kept.map(Arc::new), seen.grain);
    Ok(Trace {
        stored,
        format,
        known,
        options,
        regions,
        owners,
        flow_of_owner,
        origin,
        kept,
        grain,
        about,
    })
}

/// Refuses more flows than a run can tell apart.
pub(crate) fn few_enough(name: &Arc<str>, by: FlowBy, flows: &[Flow]) -> Result<(), TraceError> {
    if flows.len() <= Flow::MOST {
        return Ok(());
    }
    let (found, hint) = match by {
        FlowBy::Device => (format!("{} devices", flows.len()), "`--device` names those wanted"),
        FlowBy::Process => (format!("{} processes", flows.len()), "`--device` leaves some out"),
    };
    let what = detail(name, Spot::Whole, found, "at most 256 flows", hint);
    Err(TraceError::Parameter(what))
}

/// The longest trace that is plausible without `--time-unit`: ten years.
const LONGEST_TRACE: u64 = 10 * 365 * 86_400 * 1_000_000_000;
/// The highest plausible mean rate: no recorded drive has served 4 million requests or 128 GB in a
/// second. Milliseconds taken for nanoseconds give a million times the true rate.
const HIGHEST_RATE: f64 = 4e6;
const HIGHEST_BYTE_RATE: f64 = 128e9;
/// Fewer requests may come in one burst; no mean is taken over them.
const FEW: u64 = 1000;

/// Refuses a trace without requests, or one with an implausible clock.
fn check(
    stored: &Stored,
    format: Format,
    known: KnownBy,
    options: &ReadOptions,
    survey: &Survey,
) -> Result<(), TraceError> {
    let whole = |found: String, expected: &str, hint: String| {
        detail(&stored.name, Spot::Whole, found, expected, hint)
    };
    if let Some((missing, some)) = &survey.missing {
        let known = format!("devices that it has, such as {}", some.join(", "));
        let hint = "a device is named as the trace names it".into();
        let found = format!("no request to the device `{missing}`");
        return Err(TraceError::Parameter(whole(found, &known, hint)));
    }
    if let Some(process) = options.process.as_ref().filter(|_| survey.requests == 0) {
        let found = format!("no request of the process `{process}`");
        let hint = "a process is its name or its number, as the trace has it".into();
        return Err(TraceError::Parameter(whole(found, "a process that it has", hint)));
    }
    if survey.requests == 0 {
        let found = match survey.reasons.first() {
            None => "no request at all".into(),
            Some(first) => format!("all {} records were skipped; first: {first}", survey.skipped),
        };
        let hint = match known {
            KnownBy::Said => format!("`--format` said {format}; without it the content tells"),
            KnownBy::Columns => known.hint().into(),
            KnownBy::FirstLine => {
                format!("its first line is that of {format}: was it copied whole?")
            }
            KnownBy::Records => format!("it was read as {format}; `--format` names another"),
        };
        return Err(TraceError::File(whole(found, "at least one request", hint)));
    }
    if let Some(doubt) = &survey.doubt {
        let what = whole(doubt.found.clone(), doubt.expected, doubt.hint.clone());
        return Err(TraceError::Parameter(what));
    }
    if let Some(records) = survey.clock.as_ref().and_then(TraceClock::cut_fractions) {
        let found = format!(
            "no time has a fraction, and {records} records have one further column, of digits, \
             behind the time"
        );
        let hint = "are these fractions, behind a decimal comma? Write the times with a point, or the \
                    columns between semicolons; if they are not, say `--time-unit s`";
        let what = whole(found, "times with a decimal point", hint.into());
        return Err(TraceError::Clock(what));
    }
    if options.time_unit.is_some() {
        return Ok(());
    }
    let seen = Believed { requests: survey.requests, bytes: survey.bytes, length: survey.length };
    let read_as = format!("it was read as {format} ({})", format.summary());
    let units = if survey.length > LONGEST_TRACE { "us" } else { "ms" };
    believe(&stored.name, &seen, &read_as, units)
}

/// Evidence about the unit of the times.
pub(crate) struct Believed {
    pub(crate) requests: u64,
    /// Bytes of reads and writes: trims name addresses, and carry no data.
    pub(crate) bytes: u128,
    /// From the first to the last request, in nanoseconds.
    pub(crate) length: u64,
}

/// Refuses an implausible clock; `units` is another one that is plausible.
pub(crate) fn believe(
    name: &Arc<str>,
    seen: &Believed,
    read_as: &str,
    units: &str,
) -> Result<(), TraceError> {
    let clock = |found: String, expected: &str| {
        let hint = format!(
            "{read_as}; if the times are in other units say so, such as `--time-unit {units}`; the \
             same option with the right unit accepts the times as they are"
        );
        TraceError::Clock(detail(name, Spot::Whole, found, expected, hint))
    };
    if seen.length > LONGEST_TRACE {
        let found = format!("the trace spans {:.1} years", seen.length as f64 / 3.1536e16);
        return Err(clock(found, "at most ten years"));
    }
    // All times equal is a closed-loop trace without a clock, and no rate.
    if seen.requests >= FEW && seen.length > 0 {
        let seconds = seen.length as f64 * 1e-9;
        let rate = seen.requests as f64 / seconds;
        let byte_rate = seen.bytes as f64 / seconds;
        if rate > HIGHEST_RATE || byte_rate > HIGHEST_BYTE_RATE {
            let found = format!(
                "{} requests in {seconds:.6} s: {:.1} million requests and {:.1} GB per second",
                seen.requests,
                rate * 1e-6,
                byte_rate * 1e-9
            );
            let expected = "at most 4 million requests and 128 GB per second on average";
            return Err(clock(found, expected));
        }
    }
    Ok(())
}

/// Reports the findings of the pass over the trace.
fn describe(format: Format, options: &ReadOptions, survey: &mut Survey, notes: &mut Vec<String>) {
    if let Some(process) = &options.process {
        notes.push(format!("only the requests of the process `{process}`"));
    }
    if !options.devices.is_empty() {
        notes.push(format!(
            "only the requests to {}; {} to other devices were passed over",
            options.devices.join(", "),
            survey.others
        ));
    }
    notes.append(&mut survey.notes);
    if let Some(clock) = &survey.clock {
        notes.append(&mut clock.notes(survey.origin, survey.origin + survey.length));
    }
    if survey.split > 0 {
        notes.push(format!("{} requests larger than 1 GiB were split", survey.split));
    }
    if survey.regions.count() > 1 {
        notes.push(format!(
            "{} devices, each moved to a region of its own (in order of their numbers, starting \
             at multiples of 1 MiB); together they span {}",
            survey.regions.count(),
            kernel::Bytes::new(survey.regions.span()).rounded()
        ));
    }
    if survey.late > 0 {
        notes.push(format!(
            "{} records stand later in the file than in time, as {format} files do; they were put in order",
            survey.late
        ));
    }
    if survey.idle > 0 {
        notes.push(format!("{} records hold no request and were passed over", survey.idle));
    }
    if survey.timed && survey.length == 0 && survey.requests > 1 {
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
pub(crate) fn drain(source: &mut dyn RequestSource) -> Result<Vec<crate::Request>, TraceError> {
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
mod samples;
#[cfg(test)]
mod tests;

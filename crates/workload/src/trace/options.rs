//! The reading options of a trace.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Format;
use super::columns::Columns;
use super::format::{Held, Holds};

/// The unit of a trace's time column, if the format does not fix it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Units of 100 nanoseconds, as Windows file times have.
    Ticks,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// Every unit, from the longest on.
    pub(crate) const ALL: [Self; 5] = [Self::S, Self::Ms, Self::Us, Self::Ticks, Self::Ns];

    /// The power of ten that makes it nanoseconds.
    pub(crate) const fn power(self) -> u32 {
        match self {
            Self::S => 9,
            Self::Ms => 6,
            Self::Us => 3,
            Self::Ticks => 2,
            Self::Ns => 0,
        }
    }

    /// How many nanoseconds it has.
    pub const fn nanoseconds(self) -> u64 {
        10_u64.pow(self.power())
    }

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ticks => "100ns",
            Self::Ns => "ns",
        }
    }

    /// In words, for messages.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::S => "seconds",
            Self::Ms => "milliseconds",
            Self::Us => "microseconds",
            Self::Ticks => "units of 100 ns",
            Self::Ns => "nanoseconds",
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
            "100ns" => Ok(Self::Ticks),
            "ns" => Ok(Self::Ns),
            _ => Err(format!("`{text}` is not a unit of time; known are s, ms, us, 100ns, ns")),
        }
    }
}

/// A step in the life of a request, in traces that record several; a request arrives with one of
/// them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// `Q`: it came to the block layer.
    Queued,
    /// `D`: it was issued to the driver, after merging.
    Issued,
    /// `C`: it was done.
    Completed,
}

impl Event {
    /// The letter of `blkparse`.
    pub const fn letter(self) -> char {
        match self {
            Self::Queued => 'Q',
            Self::Issued => 'D',
            Self::Completed => 'C',
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Issued => "issued",
            Self::Completed => "completed",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.letter(), self.name())
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "Q" => Ok(Self::Queued),
            "D" => Ok(Self::Issued),
            "C" => Ok(Self::Completed),
            _ => Err(format!(
                "`{text}` is not an event; known are Q (queued), D (issued) and C (completed)"
            )),
        }
    }
}

/// The division of a trace into flows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FlowBy {
    /// Each device is a flow.
    Device,
    /// Each process is a flow: by its name, or its number where the format has no names.
    Process,
}

impl FlowBy {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Process => "process",
        }
    }
}

impl FromStr for FlowBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "device" => Ok(Self::Device),
            "process" => Ok(Self::Process),
            _ => Err(format!("`{text}` tells no flows apart; expected device or process")),
        }
    }
}

/// The user's options for a trace; by default none.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// The format; `None`: told from the first 64 KiB.
    pub format: Option<Format>,
    /// The unit of the time column; `None`: the format's own. If it is given, no clock is called
    /// absurd.
    pub time_unit: Option<TimeUnit>,
    /// The content of each column; says that the format is [`Format::Csv`].
    pub columns: Option<Columns>,
    /// The event with which a request arrives, in `blkparse` and `wiscsee`; `None`: the first of
    /// those that the format prefers and the trace has.
    pub event: Option<Event>,
    /// Only the requests to these devices, named as the trace names them; empty: all.
    pub devices: Vec<String>,
    /// Only the requests of this process (name or number), in formats that name processes.
    pub process: Option<String>,
    /// The key of its flows; `None`: it is one flow.
    pub flow_by: Option<FlowBy>,
    /// Count records that do not read and go on, instead of stopping at the first.
    pub skip_bad: bool,
    /// Counts the records that were read; it tells nothing about the trace.
    pub tally: ReadTally,
}

/// The number of records that were read, for other threads: a small file may hold very many. All
/// tallies are equal, as none of them decides how to read.
#[derive(Clone, Default)]
pub struct ReadTally(Option<Arc<AtomicU64>>);

impl ReadTally {
    /// One that nobody looks at.
    pub const NONE: Self = Self(None);

    /// One that counts.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Adds to the number of records that were read.
    pub fn add(&self, records: u64) {
        if let Some(count) = &self.0 {
            count.fetch_add(records, Ordering::Relaxed);
        }
    }

    /// All of them.
    pub fn records(&self) -> u64 {
        self.0.as_ref().map_or(0, |count| count.load(Ordering::Relaxed))
    }
}

impl PartialEq for ReadTally {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ReadTally {}

impl fmt::Debug for ReadTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tally")
    }
}

impl ReadOptions {
    /// The options that were given, as text: together with the bytes of the file they determine the
    /// requests of a trace. `None` if there are none.
    pub fn said(&self) -> Option<String> {
        let devices = (!self.devices.is_empty()).then(|| self.devices.join(","));
        let parts = [
            self.format.map(|f| format!("format={f}")),
            self.time_unit.map(|u| format!("time-unit={}", u.name())),
            self.columns.as_ref().map(|c| format!("columns={c}")),
            self.event.map(|e| format!("event={}", e.letter())),
            devices.map(|d| format!("device={d}")),
            self.process.as_ref().map(|p| format!("process={p}")),
            self.flow_by.map(|by| format!("flow-by={}", by.name())),
            self.skip_bad.then(|| "skip-bad".into()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// An option that means nothing in this format: the option, its requirement, a hint.
    pub(crate) fn unsuited(&self, format: Format) -> Option<(String, String, &'static str)> {
        let Held { events, devices, processes } = format.visit(Holds(self.columns.as_ref()));
        let others = |wanted: fn(Held) -> bool| {
            format!("a trace in one of {}", Format::names(|f| wanted(f.visit(Holds(None)))))
        };
        if self.columns.is_some() && format != Format::Csv {
            let found = format!("`--columns` with the format {format}");
            return Some((
                found,
                "`--columns` with the format csv only".into(),
                "leave `--format` out",
            ));
        }
        if self.columns.is_none() && format == Format::Csv {
            let hint = "such as `--columns time=1:us,op=2,offset=3,size=4`";
            return Some((
                "the format csv without `--columns`".into(),
                "what the columns hold".into(),
                hint,
            ));
        }
        if let Some(fault) = self.columns.as_ref().and_then(|c| c.time_fault(self.time_unit)) {
            let hint =
                "such as `time=1:us`, `time=1:iso` for dates, or `time=1` and `--time-unit us`";
            return Some((fault.into(), "the unit of the time column, once".into(), hint));
        }
        if self.columns.as_ref().is_some_and(Columns::has_prio) {
            let found = "`prio` in the columns of a table in text".into();
            let hint = "leave it out, or write the table as Parquet";
            return Some((found, "time, op, offset, size, device, process and hint".into(), hint));
        }
        if self.event.is_some() && !events {
            let found = format!("`--event` with the format {format}");
            return Some((found, others(|held| held.events), "leave `--event` out"));
        }
        let column = self.columns.is_some();
        let lacks = |several: &str| {
            if column {
                format!("`--columns` that name no {several}")
            } else {
                format!("the format {format}, which names no {several}")
            }
        };
        if self.process.is_some() && !processes {
            let found = format!("`--process` with {}", lacks("processes"));
            return Some((found, others(|held| held.processes), "leave `--process` out"));
        }
        match self.flow_by {
            Some(FlowBy::Device) if !devices => {
                let hint = match processes {
                    true => "it names processes: `--flow-by process`",
                    false if column => "`--columns` says which column has it: `device=5`",
                    false => "leave `--flow-by` out",
                };
                let found = format!("`--flow-by device` with {}", lacks("devices"));
                Some((found, others(|held| held.devices), hint))
            }
            Some(FlowBy::Process) if !processes => {
                let hint = match devices {
                    true => "it names devices: `--flow-by device`",
                    false if column => "`--columns` says which column has it: `process=5`",
                    false => "leave `--flow-by` out",
                };
                let found = format!("`--flow-by process` with {}", lacks("processes"));
                Some((found, others(|held| held.processes), hint))
            }
            _ => None,
        }
    }
}

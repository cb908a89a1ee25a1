//! Records become requests: devices side by side, times from zero, faults with their place.

use std::collections::VecDeque;
use std::sync::Arc;

use kernel::{Prio, Time};

use super::feed::{Cut, Feed};
use super::fields::Fault;
use super::record::{Parser, Raw};
use crate::error::{Spot, detail};
use crate::{BATCH, Request, Source, TraceError};

/// So many reasons are remembered for the user; further ones are only counted.
const REASONS: usize = 3;
/// A trace with more devices has a misread column.
const MOST_DEVICES: usize = 4096;
/// Regions of devices start at multiples of this.
const REGION_ALIGN: u64 = 1 << 20;

/// Where each device's addresses begin on the one drive that they share.
///
/// With one device nothing moves. With several, in the order of their numbers, each begins where
/// the highest address of the one before ends, rounded up to 1 MiB; so requests to different
/// devices never meet, and every address is known only after the whole trace was seen once.
#[derive(Clone, Default, Debug)]
pub(crate) struct Regions {
    /// `(device, end of its addresses, start of its region)`, ascending by device.
    list: Vec<(u32, u64, u64)>,
}

impl Regions {
    /// Notes that `device` has addresses up to `end`; `false` when there are too many devices.
    #[inline]
    fn see(&mut self, device: u32, end: u64) -> bool {
        match self.list.binary_search_by_key(&device, |r| r.0) {
            Ok(i) => self.list[i].1 = self.list[i].1.max(end),
            Err(_) if self.list.len() == MOST_DEVICES => return false,
            Err(i) => self.list.insert(i, (device, end, 0)),
        }
        true
    }

    fn place(&mut self) {
        let mut next = 0;
        for (_, end, start) in &mut self.list {
            *start = next;
            next = (next + *end).next_multiple_of(REGION_ALIGN);
        }
    }

    #[inline]
    fn start(&self, device: u32) -> u64 {
        if self.list.len() <= 1 {
            return 0;
        }
        self.list.binary_search_by_key(&device, |r| r.0).map_or(0, |i| self.list[i].2)
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// The end of the last address of all.
    pub(crate) fn span(&self) -> u64 {
        self.list.last().map_or(0, |&(_, end, start)| start + end)
    }
}

/// What one pass over the whole trace found.
#[derive(Clone, Default, Debug)]
pub(crate) struct Survey {
    pub(crate) requests: u64,
    pub(crate) bytes: u128,
    /// From the first to the last request, in nanoseconds.
    pub(crate) length: u64,
    pub(crate) regions: Regions,
    /// Records that were later in the file than in time, and were put in order.
    pub(crate) late: u64,
    /// Records that carry no data: comments, flushes.
    pub(crate) idle: u64,
    pub(crate) skipped: u64,
    /// The first few reasons for skipping.
    pub(crate) reasons: Vec<String>,
}

/// A reader that can also go over the whole trace once, to learn what must be known before.
pub(crate) trait Reading: Source {
    fn survey(&mut self) -> Result<Survey, TraceError>;
}

/// The requests of one opening of a trace.
pub(crate) struct Reader<P> {
    feed: Feed,
    parser: P,
    regions: Arc<Regions>,
    skip_bad: bool,
    /// The recorded time of the first request.
    origin: Option<u64>,
    /// The recorded time of the last one given out.
    latest: u64,
    /// Records waiting to be put in order; empty for formats that are in order.
    waiting: VecDeque<(Raw, u64)>,
    late: u64,
    idle: u64,
    skipped: u64,
    reasons: Vec<String>,
}

impl<P: Parser> Reader<P> {
    pub(crate) fn new(feed: Feed, parser: P, regions: Arc<Regions>, skip_bad: bool) -> Self {
        Self {
            feed,
            parser,
            regions,
            skip_bad,
            origin: None,
            latest: 0,
            waiting: VecDeque::new(),
            late: 0,
            idle: 0,
            skipped: 0,
            reasons: Vec::new(),
        }
    }

    /// The next record that carries data, in order of time.
    #[inline]
    fn next(&mut self) -> Result<Option<Raw>, TraceError> {
        loop {
            let Some((raw, number)) = self.next_in_window()? else { return Ok(None) };
            if raw.time >= self.latest {
                self.latest = raw.time;
                return Ok(Some(raw));
            }
            let fault = self.backwards(&raw);
            self.refuse(number, fault)?;
        }
    }

    /// The next record of the file, or the earliest of the window if the format has one.
    #[inline]
    fn next_in_window(&mut self) -> Result<Option<(Raw, u64)>, TraceError> {
        if P::WINDOW == 0 {
            return self.next_in_file();
        }
        while self.waiting.len() <= P::WINDOW {
            let Some((raw, number)) = self.next_in_file()? else { break };
            match self.waiting.back() {
                Some((last, _)) if last.time > raw.time => {
                    self.late += 1;
                    let at = self.waiting.partition_point(|(r, _)| r.time <= raw.time);
                    self.waiting.insert(at, (raw, number));
                }
                _ => self.waiting.push_back((raw, number)),
            }
        }
        Ok(self.waiting.pop_front())
    }

    #[inline]
    fn next_in_file(&mut self) -> Result<Option<(Raw, u64)>, TraceError> {
        loop {
            let Some(record) = self.feed.next(P::CUT)? else { return Ok(None) };
            let number = record.number;
            match self.parser.parse(record.bytes) {
                Ok(Some(raw)) => return Ok(Some((raw, number))),
                Ok(None) => self.idle += 1,
                Err(fault) => self.refuse(number, fault)?,
            }
        }
    }

    /// Stops at a bad record, or counts it.
    #[cold]
    fn refuse(&mut self, number: u64, fault: Box<Fault>) -> Result<(), TraceError> {
        let spot = match P::CUT {
            Cut::Lines => {
                Spot::Line { line: number, column: fault.at.map_or(0, |at| at as u32 + 1) }
            }
            Cut::Every(size) => Spot::Record { record: number, byte: (number - 1) * size as u64 },
        };
        let what = detail(self.feed.name(), spot, fault.found, fault.expected, fault.hint);
        if !self.skip_bad {
            return Err(TraceError::Record(what));
        }
        self.skipped += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push(what.to_string());
        }
        Ok(())
    }

    #[cold]
    fn backwards(&self, raw: &Raw) -> Box<Fault> {
        let by = kernel::Dur::ns(self.latest - raw.time);
        let found = format!("time runs backwards by {by}");
        let hint = "sort the file by time first; `--skip-bad` passes such records over";
        Fault::whole(found, "requests in order of time", hint)
    }
}

impl<P: Parser> Source for Reader<P> {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < BATCH {
            let Some(raw) = self.next()? else { break };
            let origin = *self.origin.get_or_insert(raw.time);
            batch.push(Request {
                at: Time::from_ns(raw.time - origin),
                offset: self.regions.start(raw.device) + raw.offset,
                len: raw.len,
                op: raw.op,
                prio: Prio::Normal,
            });
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl<P: Parser> Reading for Reader<P> {
    fn survey(&mut self) -> Result<Survey, TraceError> {
        let mut seen = Survey::default();
        let mut first = None;
        while let Some(raw) = self.next()? {
            first.get_or_insert(raw.time);
            seen.requests += 1;
            seen.bytes += u128::from(raw.len);
            if !seen.regions.see(raw.device, raw.offset + u64::from(raw.len)) {
                return Err(TraceError::Record(detail(
                    self.feed.name(),
                    Spot::Request(seen.requests),
                    format!("more than {MOST_DEVICES} devices"),
                    "a device number in its column",
                    "are the columns those of another format? `--format` names one",
                )));
            }
        }
        seen.length = self.latest - first.unwrap_or(self.latest);
        seen.regions.place();
        seen.late = self.late;
        seen.idle = self.idle;
        seen.skipped = self.skipped;
        seen.reasons = std::mem::take(&mut self.reasons);
        Ok(seen)
    }
}

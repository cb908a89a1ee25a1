//! Records become requests: devices side by side, times from zero, faults with their place.

use std::collections::VecDeque;
use std::sync::Arc;

use kernel::{Hint, Prio, Time};

use super::clock::TraceClock;
use super::feed::{BYTE_ORDER_MARK, Cut, Feed};
use super::fields::Fault;
use super::options::{Event, FlowBy, ReadOptions};
use super::packed::PackedRequests;
use super::quotes;
use super::record::{COLUMNS_HINT, Doubt, LONGEST, Parser, Raw, piece};
use super::select::{Processes, Selection};
use super::sniff::KnownBy;
use crate::error::{Spot, detail};
use crate::{BATCH, Flow, Op, Request, RequestSource, TraceError};

/// The most reasons that are remembered for the user; further ones are only counted.
const REASONS: usize = 3;
/// A trace with more devices has a misread column: Tencent's volumes are 5584.
pub(crate) const MOST_DEVICES: usize = 1 << 16;
/// All devices side by side must end here, so that addresses can be moved and added.
const FARTHEST_END: u64 = 1 << 62;
/// Regions of devices start at multiples of this.
const REGION_ALIGN: u64 = 1 << 20;

/// The beginning of each device's addresses on the one drive that they share.
///
/// With one device nothing moves. Several are placed in the order of their numbers. Each begins at
/// the highest address of the one before, rounded up to 1 MiB. So requests to different devices
/// never meet, and addresses are known only after one pass over the whole trace.
#[derive(Clone, Default, Debug)]
pub(crate) struct Regions {
    /// `(device, end of its addresses, start of its region)`, ascending by device.
    list: Vec<(u32, u64, u64)>,
}

impl Regions {
    /// Notes that `device` has addresses up to `end`; `false` when there are too many devices.
    #[inline]
    pub(crate) fn see(&mut self, device: u32, end: u64) -> bool {
        match self.list.binary_search_by_key(&device, |r| r.0) {
            Ok(i) => self.list[i].1 = self.list[i].1.max(end),
            Err(_) if self.list.len() == MOST_DEVICES => return false,
            Err(i) => self.list.insert(i, (device, end, 0)),
        }
        true
    }

    /// Space for the devices of several traces, of which each has its own number in all of them.
    /// `None` if they do not fit.
    pub(crate) fn of_all<'a>(several: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let mut all = Self::default();
        let mut devices = several.flat_map(|regions| &regions.list);
        let seen = devices.all(|(device, end, _)| all.see(*device, *end));
        (seen && all.place()).then_some(all)
    }

    /// `false` when all of them together do not fit an address.
    pub(crate) fn place(&mut self) -> bool {
        let mut next = 0;
        for (_, end, start) in &mut self.list {
            *start = next;
            next = (next + *end).next_multiple_of(REGION_ALIGN);
            if next > FARTHEST_END {
                return false;
            }
        }
        true
    }

    #[inline]
    pub(crate) fn start(&self, device: u32) -> u64 {
        if self.list.len() <= 1 {
            return 0;
        }
        self.list.binary_search_by_key(&device, |r| r.0).map_or(0, |i| self.list[i].2)
    }

    /// The end of a device's addresses, from its first on.
    fn length(&self, device: u32) -> u64 {
        self.list.binary_search_by_key(&device, |r| r.0).map_or(0, |i| self.list[i].1)
    }

    /// Their numbers, ascending.
    pub(crate) fn devices(&self) -> impl Iterator<Item = u32> {
        self.list.iter().map(|r| r.0)
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// The end of the last address of all.
    pub(crate) fn span(&self) -> u64 {
        self.list.last().map_or(0, |&(_, end, start)| start + end)
    }
}

/// The owner: a process, or the device if flows are by device, and its addresses on each device.
#[derive(Clone, Default, Debug)]
pub(crate) struct TraceOwners {
    /// `((who, device), first byte, end)`, ascending.
    list: Vec<((u32, u32), u64, u64)>,
    /// `(who, what the user calls them)`, ascending.
    labels: Vec<(u32, String)>,
}

impl TraceOwners {
    /// Notes a request of an owner to a device, and its extent if it has one. Returns `false` if
    /// there are too many.
    pub(crate) fn see(&mut self, who: (u32, u32), extent: Option<(u64, u64)>) -> bool {
        let (from, to) = extent.unwrap_or((u64::MAX, 0));
        match self.list.binary_search_by_key(&who, |t| t.0) {
            Ok(i) => {
                let (_, first, end) = &mut self.list[i];
                (*first, *end) = ((*first).min(from), (*end).max(to));
            }
            Err(_) if self.list.len() == MOST_DEVICES => return false,
            Err(i) => self.list.insert(i, (who, from, to)),
        }
        true
    }

    pub(crate) fn name(&mut self, label: impl Fn(u32) -> String) {
        self.labels = self.list.iter().map(|((who, _), ..)| (*who, String::new())).collect();
        self.labels.dedup();
        for (who, name) in &mut self.labels {
            *name = label(*who);
        }
    }

    /// The flows of a trace in several files, where each file has its own numbers, and for each
    /// file which of them its numbers mean. A flow by device has the whole region of the device.
    pub(crate) fn flows<'a>(
        by: FlowBy,
        files: impl Iterator<Item = &'a Self>,
        regions: &Regions,
    ) -> (Vec<Flow>, Vec<FlowOfOwner>) {
        let mut flows: Vec<Flow> = Vec::new();
        let mut of_file = |owners: &Self| {
            let mut numbers = Vec::with_capacity(owners.labels.len());
            for (who, name) in &owners.labels {
                let known = flows.iter().position(|flow| flow.name == *name);
                let at = known.unwrap_or_else(|| {
                    let region = (u64::MAX, 0);
                    flows.push(Flow { name: name.clone(), weight: 1, depth: None, region });
                    flows.len() - 1
                });
                numbers.push((*who, at as u32));
                let own = owners.list.iter().filter(|((other, _), ..)| other == who);
                for ((_, device), from, to) in own {
                    let start = regions.start(*device);
                    let (first, end) = match by {
                        FlowBy::Device => (start, start + regions.length(*device)),
                        FlowBy::Process => (start.saturating_add(*from), start + *to),
                    };
                    let region = &mut flows[at].region;
                    *region = (region.0.min(first), region.1.max(end));
                }
            }
            FlowOfOwner { by: Some(by), numbers: numbers.into() }
        };
        let flow_of_owner = files.map(&mut of_file).collect();
        for flow in &mut flows {
            flow.region.0 = flow.region.0.min(flow.region.1);
        }
        (flows, flow_of_owner)
    }
}

/// The flow of each request of a trace.
#[derive(Clone, Debug)]
pub(crate) struct FlowOfOwner {
    by: Option<FlowBy>,
    /// `(who, flow)`, ascending.
    numbers: Arc<[(u32, u32)]>,
}

impl FlowOfOwner {
    /// All requests belong to one flow.
    pub(crate) fn one() -> Self {
        Self { by: None, numbers: Arc::default() }
    }

    /// The owners are not known yet; each owner of a request is noted.
    pub(crate) fn unknown(by: Option<FlowBy>) -> Self {
        Self { by, ..Self::one() }
    }

    fn who(&self, met: &Met) -> u32 {
        match self.by {
            Some(FlowBy::Process) => met.process,
            _ => met.raw.device,
        }
    }

    #[inline]
    fn flow_of(&self, met: &Met) -> u8 {
        if self.by.is_none() { 0 } else { self.flow(self.who(met)) }
    }

    /// The flow of somebody.
    #[inline]
    pub(crate) fn flow(&self, who: u32) -> u8 {
        let at = self.numbers.binary_search_by_key(&who, |n| n.0);
        at.map_or(0, |at| self.numbers[at].1 as u8)
    }
}

/// The findings of one pass over the whole trace.
#[derive(Clone, Default, Debug)]
pub(crate) struct Survey {
    pub(crate) requests: u64,
    /// Of reads and writes.
    pub(crate) bytes: u128,
    /// The recorded time of the first request.
    pub(crate) origin: u64,
    /// From the first to the last request, in nanoseconds.
    pub(crate) length: u64,
    pub(crate) regions: Regions,
    /// The process, if flows go by that.
    pub(crate) owners: TraceOwners,
    /// Records that were later in the file than in time, and were put in order.
    pub(crate) late: u64,
    /// Records that hold no request: comments, events of other kinds.
    pub(crate) idle: u64,
    /// Records that were split because they were larger than the greatest request.
    pub(crate) split: u64,
    /// Requests to devices that the user did not request.
    pub(crate) others: u64,
    /// A requested device that did not occur, and some that did.
    pub(crate) missing: Option<(String, Vec<String>)>,
    /// The question to answer before the records are believed.
    pub(crate) doubt: Option<Doubt>,
    /// The reader of the times, if they are text.
    pub(crate) clock: Option<TraceClock>,
    /// Whether the requests bear times.
    pub(crate) timed: bool,
    /// The event to read if the default one does not occur.
    pub(crate) instead: Option<Event>,
    /// Stored bytes after the end of the compressed ones, which were passed over.
    pub(crate) trailing: u64,
    /// The remarks of the parser.
    pub(crate) notes: Vec<String>,
    pub(crate) skipped: u64,
    /// The first few reasons for skipping.
    pub(crate) reasons: Vec<String>,
    /// The requests themselves, if there are not too many, of a trace of one device and one flow
    /// without skipped records. A second reading would then give nothing new.
    pub(crate) kept: Option<PackedRequests>,
    /// For a trace without reads, a power of two of which all addresses and lengths of writes are
    /// multiples, at any place of its devices.
    pub(crate) grain: Option<u64>,
}

/// A reader that can also make a pass over the whole trace, to find the facts that must be known
/// before.
pub(crate) trait TraceSource: RequestSource {
    fn survey(&mut self) -> Result<Survey, TraceError>;
}

/// A record that was met.
#[derive(Copy, Clone)]
struct Met {
    raw: Raw,
    /// Its number in the file.
    number: u64,
    /// A flush goes before it.
    flush_first: bool,
    /// The process of the request, if flows go by processes.
    process: u32,
    hint: Hint,
    /// Whether it is part of a record of which another part came first.
    rest: bool,
}

/// The requests of one opening of a trace.
pub(crate) struct Reader<P> {
    feed: Feed,
    parser: P,
    known: KnownBy,
    /// Whether lines of the file have quotes, which are removed in a copy.
    quoted: bool,
    copy: Vec<u8>,
    regions: Arc<Regions>,
    flow_of_owner: FlowOfOwner,
    /// The requested devices; `None`: all.
    selection: Option<Selection>,
    skip_bad: bool,
    /// The recorded time of the first request.
    origin: Option<u64>,
    /// The recorded time of the last one given out.
    latest: u64,
    /// Records waiting to be put in order; empty for formats that are in order.
    waiting: VecDeque<Met>,
    /// The rest of a record after its flush.
    held: Option<Met>,
    late: u64,
    idle: u64,
    split: u64,
    others: u64,
    skipped: u64,
    reasons: Vec<String>,
}

impl<P: Parser> Reader<P> {
    /// `quoted`: the beginning of the file has quotes.
    pub(crate) fn new(
        feed: Feed,
        known: KnownBy,
        quoted: bool,
        options: &ReadOptions,
        regions: Arc<Regions>,
        flow_of_owner: FlowOfOwner,
    ) -> Self {
        Self {
            feed,
            parser: P::new(options),
            known,
            quoted: quoted && P::QUOTES && P::CUT == Cut::Lines,
            copy: Vec::new(),
            regions,
            flow_of_owner,
            selection: Selection::new(&options.devices),
            skip_bad: options.skip_bad,
            origin: None,
            latest: 0,
            waiting: VecDeque::new(),
            held: None,
            late: 0,
            idle: 0,
            split: 0,
            others: 0,
            skipped: 0,
            reasons: Vec::new(),
        }
    }

    /// The next request, in order of time.
    #[inline]
    fn next(&mut self) -> Result<Option<Met>, TraceError> {
        if let Some(met) = self.held.take() {
            return Ok(Some(if met.raw.len > LONGEST { self.first_part(met) } else { met }));
        }
        loop {
            let Some(met) = self.next_in_window()? else { return Ok(None) };
            let Met { raw, number, flush_first, .. } = met;
            if raw.time >= self.latest {
                self.latest = raw.time;
                if flush_first {
                    self.held = Some(met);
                    let raw = Raw::flush(raw.time, raw.device);
                    return Ok(Some(Met { raw, ..met }));
                }
                if raw.len > LONGEST {
                    return Ok(Some(self.first_part(met)));
                }
                return Ok(Some(met));
            }
            let fault = self.backwards(&raw);
            self.refuse(number, fault)?;
        }
    }

    /// The first part of a record that is larger than a request; the rest is held.
    #[cold]
    #[inline(never)]
    fn first_part(&mut self, mut met: Met) -> Met {
        let len = piece(met.raw.op, met.raw.len);
        if len == met.raw.len {
            return met;
        }
        self.split += u64::from(!met.rest);
        met.rest = true;
        let raw = Raw { offset: met.raw.offset + len, len: met.raw.len - len, ..met.raw };
        self.held = Some(Met { raw, ..met });
        met.raw.len = len;
        met
    }

    #[inline]
    fn request(&mut self, met: &Met) -> Request {
        let raw = met.raw;
        let origin = *self.origin.get_or_insert(raw.time);
        let region = if raw.op == Op::Flush { 0 } else { self.regions.start(raw.device) };
        Request {
            at: Time::from_ns(raw.time - origin),
            offset: region + raw.offset,
            len: raw.len as u32,
            op: raw.op,
            prio: Prio::Normal,
            flow: self.flow_of_owner.flow_of(met),
            hint: if raw.op == Op::Flush { 0 } else { met.hint },
        }
    }

    /// The next record of the file, or the earliest of the window if the format has one.
    #[inline]
    fn next_in_window(&mut self) -> Result<Option<Met>, TraceError> {
        if P::WINDOW == 0 {
            return self.next_in_file();
        }
        while self.waiting.len() <= P::WINDOW {
            let Some(met) = self.next_in_file()? else { break };
            match self.waiting.back() {
                Some(last) if last.raw.time > met.raw.time => {
                    self.late += 1;
                    let at = self.waiting.partition_point(|m| m.raw.time <= met.raw.time);
                    self.waiting.insert(at, met);
                }
                _ => self.waiting.push_back(met),
            }
        }
        Ok(self.waiting.pop_front())
    }

    #[inline]
    fn next_in_file(&mut self) -> Result<Option<Met>, TraceError> {
        loop {
            let Some(record) = self.feed.next(P::CUT)? else { return Ok(None) };
            let number = record.number;
            let parsed = if self.quoted {
                unquoted(&mut self.parser, record.bytes, &mut self.copy)
            } else {
                self.parser.parse(record.bytes)
            };
            let fault = match parsed {
                Ok(Some(raw)) => match self.met(raw, number) {
                    None => continue,
                    met => return Ok(met),
                },
                Ok(None) => {
                    self.idle += 1;
                    continue;
                }
                Err(fault) => fault,
            };
            let (again, quoted) = if P::CUT == Cut::Lines {
                // Nothing was read so far.
                let first = self.origin.is_none()
                    && self.waiting.is_empty()
                    && self.skipped + self.others == 0;
                look_again(&mut self.parser, record.bytes, first, fault, &mut self.copy)
            } else {
                (Err(fault), false)
            };
            self.quoted |= quoted;
            match again {
                Ok(None) => self.idle += 1,
                Ok(Some(raw)) => {
                    if let Some(met) = self.met(raw, number) {
                        return Ok(Some(met));
                    }
                }
                Err(fault) => self.refuse(number, fault)?,
            }
        }
    }

    /// A request that was read, if its device is requested.
    #[inline(always)]
    fn met(&mut self, raw: Raw, number: u64) -> Option<Met> {
        let wanted = &mut self.selection;
        if wanted.as_mut().is_none_or(|w| w.takes(&self.parser, raw.device)) {
            let flush_first = self.parser.flush_first();
            let process = self.parser.processes().map_or(0, Processes::last);
            let hint = self.parser.hint();
            return Some(Met { raw, number, flush_first, process, hint, rest: false });
        }
        self.others += 1;
        None
    }

    /// Stops at a bad record, or counts it.
    #[cold]
    fn refuse(&mut self, number: u64, mut fault: Box<Fault>) -> Result<(), TraceError> {
        if fault.hint == COLUMNS_HINT {
            fault.hint = self.known.hint().into();
        }
        if P::CUT == Cut::Lines && self.feed.unterminated() {
            fault.hint =
                "the file ends amid this line: was it copied whole? `--skip-bad` passes the \
                          line over"
                    .into();
        }
        let spot = match P::CUT {
            Cut::Lines => {
                Spot::Line { line: number, column: fault.at.map_or(0, |at| at as u32 + 1) }
            }
            Cut::Every { size, after } => {
                Spot::Record { record: number, byte: after as u64 + (number - 1) * size as u64 }
            }
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
    fn too_much(&self, spot: Spot, found: String, expected: &str) -> TraceError {
        TraceError::Record(detail(self.feed.name(), spot, found, expected, self.known.hint()))
    }

    #[cold]
    fn backwards(&self, raw: &Raw) -> Box<Fault> {
        let by = kernel::Dur::ns(self.latest - raw.time);
        let found = format!("time runs backwards by {by}");
        let hint = "sort the file by time first; `--skip-bad` passes such records over";
        Fault::whole(found, "requests in order of time", hint)
    }
}

/// Reads a line without its quotes.
#[cold]
#[inline(never)]
fn unquoted<P: Parser>(
    parser: &mut P,
    line: &[u8],
    copy: &mut Vec<u8>,
) -> Result<Option<Raw>, Box<Fault>> {
    if memchr::memchr(b'"', line).is_none() {
        return parser.parse(line);
    }
    quotes::unquote(line, parser.separator(), copy)?;
    parser.parse(copy)
}

/// Tries a line again that could not be read: programs write marks, comments, quotes and names of
/// columns where a format has none. `first`: nothing was read before. Also returns whether the line
/// has quotes.
#[cold]
#[inline(never)]
fn look_again<P: Parser>(
    parser: &mut P,
    line: &[u8],
    first: bool,
    fault: Box<Fault>,
    copy: &mut Vec<u8>,
) -> (Result<Option<Raw>, Box<Fault>>, bool) {
    if let Some(rest) = line.strip_prefix(BYTE_ORDER_MARK).filter(|rest| !rest.is_empty()) {
        return match parser.parse(rest) {
            Err(fault) => look_again(parser, rest, first, fault, copy),
            read => (read, false),
        };
    }
    let text = line.trim_ascii();
    if text.starts_with(b"#") || text.iter().all(|b| matches!(b, 0 | 0x1a)) {
        // A comment after blanks; old editors, or a full disk, leave such bytes at the end.
        return (Ok(None), false);
    }
    if P::QUOTES && line.contains(&b'"') {
        let read = unquoted(parser, line, copy);
        if read.is_ok() {
            return (read, true);
        }
    }
    if first && parser.may_have_names() && are_names(text) {
        return (Ok(None), false);
    }
    (Err(fault), false)
}

/// Whether a line has names in at least three columns, and nothing else.
fn are_names(line: &[u8]) -> bool {
    let separates = |byte: &u8| matches!(byte, b',' | b';' | b'\t' | b' ' | b'|');
    let fields = || line.split(separates).filter(|field| !field.is_empty());
    let is_name = |field: &[u8]| {
        let first = field.iter().find(|b| !matches!(b, b'"' | b'(' | b'['));
        first.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
            && !field.iter().any(u8::is_ascii_control)
    };
    fields().count() >= 3 && fields().all(is_name)
}

impl<P: Parser> RequestSource for Reader<P> {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < BATCH {
            let Some(met) = self.next()? else { break };
            batch.push(self.request(&met));
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl<P: Parser> TraceSource for Reader<P> {
    fn survey(&mut self) -> Result<Survey, TraceError> {
        let mut seen = Survey::default();
        let mut kept = self.flow_of_owner.by.is_none().then(PackedRequests::default);
        // The bits that are set in any of them.
        let mut writes = Some(0);
        while let Some(met) = self.next()? {
            let (raw, request) = (met.raw, self.request(&met));
            kept.take_if(|kept| !kept.push(&request));
            seen.requests += 1;
            if raw.op != Op::Trim {
                seen.bytes += u128::from(raw.len);
            }
            let extent = (raw.op != Op::Flush).then(|| (raw.offset, raw.offset + raw.len));
            let by = self.flow_of_owner.by.is_some();
            if by && !seen.owners.see((self.flow_of_owner.who(&met), raw.device), extent) {
                let found = format!("more than {MOST_DEVICES} devices or processes");
                let spot = Spot::Request(seen.requests);
                return Err(self.too_much(spot, found, "as many as can be told apart"));
            }
            match (raw.op, &mut writes) {
                (Op::Read, writes) => *writes = None,
                (Op::Write | Op::WriteFua, Some(bits)) => *bits |= raw.offset | raw.len,
                _ => {}
            }
            let Some((_, end)) = extent else { continue };
            kept.take_if(|_| seen.regions.count() > 1);
            if !seen.regions.see(raw.device, end) {
                return Err(self.too_much(
                    Spot::Request(seen.requests),
                    format!("more than {MOST_DEVICES} devices"),
                    "a device number in its column",
                ));
            }
        }
        if !seen.regions.place() {
            let found = format!("{} devices that together pass 4 EiB", seen.regions.count());
            return Err(self.too_much(Spot::Whole, found, "devices that fit 62 bits"));
        }
        seen.owners.name(|who| match (self.flow_of_owner.by, self.parser.processes()) {
            (Some(FlowBy::Process), Some(processes)) => processes.label(who),
            _ => self.parser.label(who),
        });
        seen.origin = self.origin.unwrap_or(self.latest);
        seen.length = self.latest - seen.origin;
        seen.late = self.late;
        seen.idle = self.idle;
        seen.split = self.split;
        seen.clock = self.parser.clock().cloned();
        seen.doubt = self.parser.doubt();
        seen.others = self.others;
        seen.missing = self.selection.as_ref().and_then(|s| s.missing(&self.parser));
        seen.timed = self.parser.timed();
        seen.instead = self.parser.instead();
        seen.trailing = self.feed.trailing();
        seen.notes = self.parser.notes(&seen.regions);
        seen.skipped = self.skipped;
        seen.reasons = std::mem::take(&mut self.reasons);
        seen.kept = kept.filter(|_| seen.regions.count() <= 1 && seen.skipped == 0);
        let lowest = REGION_ALIGN.trailing_zeros();
        seen.grain = writes.map(|bits| 1 << bits.trailing_zeros().min(lowest));
        Ok(seen)
    }
}

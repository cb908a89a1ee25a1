//! Tables: requests that come as columns of plain numbers, a piece of some thousand rows at a time.
//! The reader of the file is outside; here rows are checked and become requests.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use kernel::{Bytes, Dur, Hint, Prio, Time};

use crate::clock::fits;
use crate::error::{Spot, detail};
use crate::trace::{
    Believed, FARTHEST, FlowBy, FlowOfOwner, LONGEST, Regions, Stored, TraceOwners, believe,
    few_enough, most, piece,
};
use crate::{About, BATCH, Flow, Op, Request, RequestSource, StandIn, TraceError, Workload};

/// A table that can be read through more than once.
pub trait ColumnTable: Send + Sync {
    /// From the first row on.
    fn open(&self) -> Result<Box<dyn Pieces>, TraceError>;

    /// The name of a device in messages.
    fn device(&self, number: u32) -> String {
        number.to_string()
    }

    /// The name of a process.
    fn process(&self, number: u32) -> String {
        number.to_string()
    }
}

/// The rows of a table in their order.
pub trait Pieces: Send {
    /// Shows the next rows to `see`, and returns its answer; `None` at the end.
    fn next(&mut self, see: &mut See<'_>) -> Result<Option<()>, TraceError>;
}

/// Takes some rows.
pub type See<'a> = dyn FnMut(&TableRows<'_>) -> Result<(), TraceError> + 'a;

/// Columns of equal length.
#[derive(Copy, Clone, Debug)]
pub struct TableRows<'a> {
    /// Nanoseconds since the table's own origin; `None`: requests have no times.
    pub time: Option<&'a [u64]>,
    /// 0 read, 1 write, 2 trim, 3 flush, 4 write that bypasses volatile memory (FUA).
    pub op: &'a [u8],
    /// Bytes; without meaning for a flush.
    pub offset: &'a [u64],
    /// Bytes; 0 for a flush alone.
    pub size: &'a [u64],
    /// 0 normal, 1 high; `None`: all normal.
    pub prio: Option<&'a [u8]>,
    /// The hint about the data; `None`: no request has one.
    pub hint: Option<&'a [Hint]>,
    /// The number of the device; `None`: there is only one.
    pub device: Option<&'a [u32]>,
    /// The owner of the request: a place in [`Facts::flows`] if the table states them, otherwise
    /// the number of a process; `None`: unknown.
    pub flow: Option<&'a [u32]>,
}

/// The metadata of a table written by floatgate, so that no first pass is needed.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// Rows.
    pub requests: u64,
    /// The end of the last address.
    pub span: u64,
    /// Whether the requests bear times.
    pub timed: bool,
    /// The recorded time of the first request.
    pub origin: Option<u64>,
    /// Present if the requests were generated to stand for a trace.
    pub stand_in: Option<StandIn>,
    /// Its flows, if it has several.
    pub flows: Vec<Flow>,
    /// Notes about it.
    pub notes: Vec<String>,
}

/// Opens a table that is stored in the file at `path`. Without `facts` it is read through once.
/// `said` has the user's options of reading it; `any_clock` believes every clock; `flow_by` tells
/// flows apart if the table states none.
pub fn open_table(
    path: &Path,
    format: &str,
    table: Box<dyn ColumnTable>,
    facts: Option<Facts>,
    spec: Option<String>,
    any_clock: bool,
    flow_by: Option<FlowBy>,
) -> Result<Box<dyn Workload>, TraceError> {
    let stored = Stored::file(path)?;
    let sha256 = Some(stored.sha256()?);
    let name = Arc::clone(&stored.name);
    let (facts, regions, flow_of_owner, known) = if let Some(facts) = facts {
        (facts, Regions::default(), FlowOfOwner::one(), true)
    } else {
        let (facts, regions, flow_of_owner) = survey(&name, &*table, any_clock, flow_by)?;
        (facts, regions, flow_of_owner, false)
    };
    let Facts { requests, span, timed, origin, stand_in, flows, notes } = facts;
    if requests == 0 {
        let found = "no row at all";
        let what = detail(&name, Spot::Whole, found, "at least one request", "");
        return Err(TraceError::File(what));
    }
    let about = About {
        name: name.to_string(),
        format: format.into(),
        sha256,
        reading: spec,
        requests: Some(requests),
        span: Some(span),
        timed,
        closed: Vec::new(),
        flows,
        stand_in,
        notes,
    };
    let promised = known.then_some((requests, span));
    Ok(Box::new(Tabled {
        table,
        name,
        about,
        origin,
        regions: Arc::new(regions),
        flow_by,
        flow_of_owner,
        promised,
    }))
}

/// A table as a workload.
struct Tabled {
    table: Box<dyn ColumnTable>,
    name: Arc<str>,
    about: About,
    origin: Option<u64>,
    regions: Arc<Regions>,
    flow_by: Option<FlowBy>,
    flow_of_owner: FlowOfOwner,
    /// Rows and span that the file itself states, if it does.
    promised: Option<(u64, u64)>,
}

impl Workload for Tabled {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(TableSource {
            pieces: self.table.open()?,
            check: Check::new(&self.name),
            regions: Arc::clone(&self.regions),
            flow_by: self.flow_by,
            flow_of_owner: self.flow_of_owner.clone(),
            flows: self.about.flows.len(),
            promised: self.promised,
            base: if self.promised.is_some() { Some(0) } else { None },
            ready: Vec::new(),
            given: 0,
        }))
    }

    fn origin(&self) -> Option<u64> {
        self.origin
    }
}

/// Reads through a table that has no metadata.
fn survey(
    name: &Arc<str>,
    table: &dyn ColumnTable,
    any_clock: bool,
    flow_by: Option<FlowBy>,
) -> Result<(Facts, Regions, FlowOfOwner), TraceError> {
    let mut pieces = table.open()?;
    let mut check = Check::new(name);
    let (mut regions, mut bytes, mut origin, mut timed) = (Regions::default(), 0_u128, None, true);
    let mut owners = TraceOwners::default();
    let mut see = |rows: &TableRows<'_>| {
        check.rows(rows)?;
        let who = match flow_by {
            None => None,
            Some(FlowBy::Device) => rows.device,
            Some(FlowBy::Process) => rows.flow,
        };
        let mut noted = who.into_iter().flatten().enumerate().map(|(i, who)| {
            let extent =
                (rows.op[i] != FLUSH).then(|| (rows.offset[i], rows.offset[i] + rows.size[i]));
            owners.see((*who, rows.device.map_or(0, |devices| devices[i])), extent)
        });
        let all_noted = noted.all(|noted| noted);
        timed = rows.time.is_some();
        origin = origin.or(rows.time.and_then(|t| t.first().copied()));
        let data = rows.size.iter().zip(rows.op).filter(|&(_, &op)| op != TRIM);
        bytes += data.map(|(&size, _)| u128::from(size)).sum::<u128>();
        let ends = rows.op.iter().zip(rows.offset).zip(rows.size);
        let ends = ends.map(|((&op, offset), size)| (op != FLUSH).then(|| offset + size));
        let all_seen = match rows.device {
            None => ends.flatten().max().is_none_or(|end| regions.see(0, end)),
            Some(devices) => {
                let mut ends = devices.iter().zip(ends).filter_map(|(&d, end)| Some((d, end?)));
                ends.all(|(d, end)| regions.see(d, end))
            }
        };
        if all_seen && all_noted {
            return Ok(());
        }
        let (found, expected) = if all_seen {
            ("too many processes", "a process in its column")
        } else {
            ("too many devices", "a device in its column")
        };
        let what = detail(name, Spot::Row(check.done), found, expected, "");
        Err(TraceError::Record(what))
    };
    while pieces.next(&mut see)?.is_some() {}
    if !regions.place() {
        let found = format!("{} devices that together pass 4 EiB", regions.count());
        let what = detail(name, Spot::Whole, found, "devices that fit 62 bits", "");
        return Err(TraceError::Record(what));
    }
    let mut notes = Vec::new();
    if regions.count() > 1 {
        notes.push(format!(
            "{} devices, each moved to a region of its own (in order of their numbers, starting \
             at multiples of 1 MiB): {}{}; together they span {}",
            regions.count(),
            regions.devices().take(8).map(|d| table.device(d)).collect::<Vec<_>>().join(", "),
            if regions.count() > 8 { ", …" } else { "" },
            Bytes::new(regions.span()).rounded()
        ));
    }
    let origin = origin.unwrap_or(0);
    let length = check.latest - origin.min(check.latest);
    if timed && length == 0 && check.done > 1 {
        notes.push("all requests bear the same time; replay them in `queue-depth` mode".into());
    }
    let seen = Believed { requests: check.done, bytes, length };
    if timed && !any_clock {
        believe(name, &seen, "it was read as a table", "us")?;
    }
    let (mut flows, mut flow_of_owner) = (Vec::new(), FlowOfOwner::one());
    if let Some(by) = flow_by {
        owners.name(|who| match by {
            FlowBy::Device => table.device(who),
            FlowBy::Process => table.process(who),
        });
        let of_all = TraceOwners::flows(by, std::iter::once(&owners), &regions);
        (flows, flow_of_owner) = (of_all.0, of_all.1.into_iter().next().expect("one table"));
        few_enough(name, by, &flows)?;
    }
    if check.split > 0 {
        notes.push(format!("{} requests larger than 1 GiB were split", check.split));
    }
    let facts = Facts {
        requests: check.done + check.parts,
        span: regions.span(),
        timed,
        origin: Some(origin),
        stand_in: None,
        flows,
        notes,
    };
    Ok((facts, regions, flow_of_owner))
}

/// The rules for every row.
struct Check {
    name: Arc<str>,
    done: u64,
    /// The number of further requests that rows larger than a request may become.
    parts: u64,
    /// Such rows.
    split: u64,
    /// The time of the last row.
    latest: u64,
}

impl Check {
    fn new(name: &Arc<str>) -> Self {
        Self { name: Arc::clone(name), done: 0, parts: 0, split: 0, latest: 0 }
    }

    fn rows(&mut self, rows: &TableRows<'_>) -> Result<(), TraceError> {
        let n = rows.op.len();
        let equal = rows.offset.len() == n
            && rows.size.len() == n
            && rows.time.is_none_or(|c| c.len() == n)
            && rows.prio.is_none_or(|c| c.len() == n)
            && rows.hint.is_none_or(|c| c.len() == n)
            && rows.device.is_none_or(|c| c.len() == n)
            && rows.flow.is_none_or(|c| c.len() == n);
        assert!(equal, "columns of a piece have equal lengths");
        // Whole columns at a time: a mistake is only located if a column has one.
        let ops = rows.op.iter().all(|&op| usize::from(op) < OPS.len());
        let prios = rows.prio.is_none_or(|prios| prios.iter().all(|&prio| prio < 2));
        let mut extents = rows.op.iter().zip(rows.offset).zip(rows.size);
        let extents = ops
            && extents.all(|((&op, &offset), &size)| {
                if op == FLUSH {
                    return size == 0;
                }
                size.wrapping_sub(1) < most(OPS[usize::from(op)]) && offset <= FARTHEST - LONGEST
            });
        let times = rows.time.is_none_or(|times| {
            let mut latest = self.latest;
            let in_order = |&time: &u64| {
                let in_order = time >= latest;
                latest = time;
                in_order
            };
            times.iter().all(in_order) && latest >> 62 == 0
        });
        if !(ops && prios && extents && times) {
            return Err(self.fault(rows));
        }
        if rows.size.iter().any(|&size| size > LONGEST) {
            for (&op, &size) in rows.op.iter().zip(rows.size) {
                let parts = parts(OPS[usize::from(op)], 0, size).count() as u64;
                self.parts += parts.saturating_sub(1);
                self.split += u64::from(parts > 1);
            }
        }
        self.done += n as u64;
        self.latest = rows.time.and_then(|t| t.last().copied()).unwrap_or(self.latest);
        Ok(())
    }

    /// The mistake in the first wrong row.
    #[cold]
    fn fault(&self, rows: &TableRows<'_>) -> TraceError {
        let mut latest = self.latest;
        let looked = (0..rows.op.len()).try_for_each(|i| {
            let (op, offset, size) = (rows.op[i], rows.offset[i], rows.size[i]);
            let time = rows.time.map_or(latest, |times| times[i]);
            let said = if usize::from(op) >= OPS.len() {
                let known = "0 (read), 1 (write), 2 (trim), 3 (flush) or 4 (write with FUA)";
                Some((format!("the operation {op}"), known, ""))
            } else if rows.prio.is_some_and(|prios| prios[i] > 1) {
                Some(("the priority is unknown".into(), "0 (normal) or 1 (high)", ""))
            } else if op == FLUSH && size > 0 {
                Some((format!("a flush of {size} bytes"), "a flush of size 0", ""))
            } else if op != FLUSH && size == 0 {
                Some(("a request of size 0".into(), "a size above zero", "only a flush has none"))
            } else if size > most(OPS[usize::from(op)]) {
                let expected = "at most 4 GiB in one read or write, 1 PiB in one trim";
                Some((format!("a request of {size} bytes"), expected, UNIT))
            } else if op != FLUSH && offset > FARTHEST - LONGEST {
                Some((
                    format!("an address of {offset} bytes"),
                    "an address below 1 PiB less 4 GiB",
                    UNIT,
                ))
            } else if time < latest {
                let by = Dur::ns(latest - time);
                let found = format!("time runs backwards by {by}");
                Some((found, "requests in order of time", "sort the table by time first"))
            } else if !fits(time) {
                Some((format!("a time of {time} ns"), "a time below 146 years", UNIT))
            } else {
                None
            };
            latest = time;
            match said {
                None => ControlFlow::Continue(()),
                Some(said) => ControlFlow::Break((i as u64, said)),
            }
        });
        let ControlFlow::Break((i, (found, expected, hint))) = looked else {
            unreachable!("something is wrong in one of the rows")
        };
        let spot = Spot::Row(self.done + i + 1);
        TraceError::Record(detail(&self.name, spot, found, expected, hint))
    }
}

const UNIT: &str = "is the column in another unit? `--columns` says which it is";

const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];
const TRIM: u8 = 2;
const FLUSH: u8 = 3;
const PRIOS: [Prio; 2] = [Prio::Normal, Prio::High];

/// Offset and length of each request that a row of this size becomes.
fn parts(op: Op, mut offset: u64, mut size: u64) -> impl Iterator<Item = (u64, u32)> {
    std::iter::from_fn(move || {
        let len = if size > LONGEST { piece(op, size) } else { size };
        let part = (len > 0).then_some((offset, len as u32));
        (offset, size) = (offset + len, size - len);
        part
    })
}

/// Replaces larger rows by their parts.
#[cold]
fn split(ready: &mut Vec<Request>, sizes: &[u64]) {
    let whole = std::mem::take(ready);
    for (request, &size) in whole.iter().zip(sizes) {
        if size == 0 {
            ready.push(*request);
        }
        let parts = parts(request.op, request.offset, size);
        ready.extend(parts.map(|(offset, len)| Request { offset, len, ..*request }));
    }
}

/// One way through a table.
struct TableSource {
    pieces: Box<dyn Pieces>,
    check: Check,
    regions: Arc<Regions>,
    flow_by: Option<FlowBy>,
    flow_of_owner: FlowOfOwner,
    /// How many flows there are.
    flows: usize,
    promised: Option<(u64, u64)>,
    /// The time of the first row, which becomes zero.
    base: Option<u64>,
    /// The requests of one piece, of which a number were given out.
    ready: Vec<Request>,
    given: usize,
}

impl TableSource {
    /// Makes the next piece ready; `false` at the end.
    fn refill(&mut self) -> Result<bool, TraceError> {
        self.ready.clear();
        self.given = 0;
        let Self {
            pieces,
            check,
            regions,
            base,
            ready,
            flow_by,
            flow_of_owner,
            flows,
            promised,
            ..
        } = self;
        let several = regions.count() > 1;
        let mut see = |rows: &TableRows<'_>| {
            check.rows(rows)?;
            let first = rows.time.and_then(|t| t.first().copied()).unwrap_or(0);
            let base = *base.get_or_insert(first);
            let columns = rows.op.iter().zip(rows.offset).zip(rows.size);
            ready.extend(columns.map(|((&op, &offset), &size)| Request {
                at: Time::ZERO,
                offset: if op == FLUSH { 0 } else { offset },
                len: size as u32,
                op: OPS[op as usize],
                prio: Prio::Normal,
                flow: 0,
                hint: 0,
            }));
            for (r, time) in ready.iter_mut().zip(rows.time.unwrap_or_default()) {
                r.at = Time::from_ns(time - base);
            }
            for (r, prio) in ready.iter_mut().zip(rows.prio.unwrap_or_default()) {
                r.prio = PRIOS[*prio as usize];
            }
            let hints = ready.iter_mut().zip(rows.hint.unwrap_or_default());
            for (r, hint) in hints.filter(|(r, _)| r.has_extent()) {
                r.hint = *hint;
            }
            let who = match flow_by {
                Some(FlowBy::Device) => rows.device,
                _ => rows.flow.filter(|_| *flows > 0),
            };
            for (r, who) in ready.iter_mut().zip(who.unwrap_or_default()) {
                // A table that states its flows has their places.
                r.flow = if promised.is_some() { *who as u8 } else { flow_of_owner.flow(*who) };
            }
            if several {
                let devices = ready.iter_mut().zip(rows.device.unwrap_or_default());
                for (r, device) in devices.filter(|(r, _)| r.has_extent()) {
                    r.offset += regions.start(*device);
                }
            }
            if rows.size.iter().any(|&size| size > LONGEST) {
                split(ready, rows.size);
            }
            Ok(())
        };
        let more = pieces.next(&mut see)?.is_some();
        self.hold_to_facts(more)?;
        Ok(more)
    }

    /// The metadata of a file that was changed after it was written no longer hold.
    fn hold_to_facts(&self, more: bool) -> Result<(), TraceError> {
        let Some((requests, span)) = self.promised else { return Ok(()) };
        let done = self.check.done;
        let (spot, found, expected) = if done > requests || !more && done < requests {
            (Spot::Whole, format!("{done} rows so far"), format!("the {requests} that it states"))
        } else if let Some(i) = self.ready.iter().position(|r| r.end() > span) {
            let row = done - (self.ready.len() - i) as u64 + 1;
            let found = format!("an address up to {}", self.ready[i].end());
            (Spot::Row(row), found, format!("addresses within the {span} bytes that it states"))
        } else {
            return Ok(());
        };
        let hint = "the file was changed after floatgate wrote it; write it with another program \
                    whole, without the metadata `floatgate`";
        let what = detail(&self.check.name, spot, found, expected, hint);
        Err(TraceError::Record(what))
    }
}

impl RequestSource for TableSource {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while self.given == self.ready.len() {
            if !self.refill()? {
                return Ok(());
            }
        }
        let end = self.ready.len().min(self.given + BATCH);
        batch.extend_from_slice(&self.ready[self.given..end]);
        self.given = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

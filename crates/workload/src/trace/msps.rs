//! `msps`, the events of Microsoft's production servers (Kavalanekar et al., IISWC 2008), and any
//! other trace that `xperf` wrote as text. A header names the columns of every kind of event, and
//! one event a line follows.
//!
//! ```text
//! BeginHeader
//!   DiskRead,  TimeStamp,  Process Name ( PID),  ThreadID,  IrpPtr,  ByteOffset,  IOSize, ElapsedTime,  DiskNum, IrpFlags, …
//! EndHeader
//!   DiskRead,     104743,        System (   4),       480,  0xfffffa80, 0x018f0b8000, 0x00001000,      283,        0, 0x060043, …
//! ```
//!
//! The columns are those of the READMEs of SNIA IOTTA trace sets 149 and 158. Later systems have a
//! column more, so the header decides. Times are in microseconds, offset and size hexadecimal.
//!
//! Windows writes the event when the request is done. It has `ElapsedTime`, from initiation to
//! completion, so the request arrived that much earlier. Records in order of completion are sorted
//! by arrival here. `DiskFlush` is a flush, and has neither offset nor size. Events of all other
//! kinds are counted and skipped.

use std::collections::BTreeMap;

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields, shown};
use super::options::{ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{Parser, Raw, extent};
use super::select::Processes;
use crate::Op;

const COLUMNS: &str = "`BeginHeader` … `EndHeader` names the columns";

const TIME: FieldName =
    FieldName { name: "the time", expected: "a number of microseconds", hint: COLUMNS };
const PROCESS: FieldName = FieldName {
    name: "the process",
    expected: "a name with a number in parentheses",
    hint: COLUMNS,
};
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "bytes, hexadecimal with 0x", hint: COLUMNS };
const SIZE: FieldName =
    FieldName { name: "the size", expected: "bytes, hexadecimal with 0x", hint: COLUMNS };
const ELAPSED: FieldName = FieldName {
    name: "the elapsed time",
    expected: "a number of microseconds, less than an hour",
    hint: COLUMNS,
};
const DISK: FieldName =
    FieldName { name: "the disk", expected: "a disk number below 2^32", hint: COLUMNS };
const REST: FieldName = FieldName {
    name: "the rest of the line",
    expected: "further columns",
    hint: "the line may be cut",
};
const KIND: FieldName =
    FieldName { name: "the kind of event", expected: "a word such as `DiskRead`", hint: COLUMNS };

/// Longer requests are misread; and arrivals may lie that much before the first event.
const HOUR: u64 = 3_600_000_000_000;
/// The most kinds of other events that are distinguished.
const MOST_KINDS: usize = 256;
/// The greatest number of kinds that are named to the user.
const KINDS_SHOWN: usize = 3;

/// The content of an event's columns, from the one after its kind to the last needed one.
type Layout = Vec<Role>;

#[derive(Copy, Clone, PartialEq, Debug)]
enum Role {
    Other,
    Time,
    Process,
    Offset,
    Size,
    Elapsed,
    Disk,
}

impl Role {
    /// The columns that are needed.
    const NAMED: [(&'static [u8], Self); 6] = [
        (b"TimeStamp", Self::Time),
        (b"Process Name ( PID)", Self::Process),
        (b"ByteOffset", Self::Offset),
        (b"IOSize", Self::Size),
        (b"ElapsedTime", Self::Elapsed),
        (b"DiskNum", Self::Disk),
    ];

    /// Whether events of this operation have it.
    fn is_of(self, op: Op) -> bool {
        op != Op::Flush || !matches!(self, Self::Offset | Self::Size)
    }
}

/// The columns of the published traces, for files whose header was cut off.
fn published(op: Op) -> Layout {
    let (other, elapsed) = (Role::Other, Role::Elapsed);
    let mut all = vec![
        Role::Time,
        Role::Process,
        other,
        other,
        Role::Offset,
        Role::Size,
        elapsed,
        Role::Disk,
    ];
    all.retain(|role| role.is_of(op));
    all
}

/// The statement of a header line about the columns of its operation.
fn layout(fields: &mut Fields<'_, COMMA>, op: Op) -> Result<Layout, Box<Fault>> {
    let mut layout = Layout::new();
    loop {
        let name = fields.word();
        if name.is_empty() {
            break;
        }
        let role = Role::NAMED.iter().find(|(known, _)| *known == name);
        layout.push(role.map_or(Role::Other, |r| r.1));
    }
    let lacks = |(_, role): &&(_, Role)| role.is_of(op) && !layout.contains(role);
    if let Some((name, _)) = Role::NAMED.iter().find(lacks) {
        let found = format!("the header has no column {}", shown(name));
        return Err(Fault::whole(found, "the columns of xperf", "the header may be cut"));
    }
    let last = layout.iter().rposition(|role| *role != Role::Other).expect("all are there");
    layout.truncate(last + 1);
    Ok(layout)
}

pub(crate) struct Msps {
    clock: TraceClock,
    processes: Processes,
    in_header: bool,
    /// Of reads and writes.
    layout: Layout,
    flush_layout: Layout,
    /// Events of other kinds.
    others: BTreeMap<Box<[u8]>, u64>,
}

impl Msps {
    /// An event that is not a request, or a line of the header.
    fn other(&mut self, line: &[u8], kind: &[u8], mut fields: Fields<'_, COMMA>) -> Parsed {
        match line.trim_ascii() {
            b"BeginHeader" => self.in_header = true,
            b"EndHeader" => self.in_header = false,
            _ if self.in_header || line.starts_with(b"OS Version:") || line[0] == b'#' => {}
            _ if !kind.first().is_some_and(u8::is_ascii_alphabetic) => {
                return Err(fields.fault(&KIND));
            }
            _ => {
                self.clock.read(&mut fields, &TIME)?;
                self.count(kind);
            }
        }
        Ok(None)
    }

    fn count(&mut self, kind: &[u8]) {
        if let Some(count) = self.others.get_mut(kind) {
            *count += 1;
        } else {
            let kind = if self.others.len() < MOST_KINDS { kind } else { b"others" };
            *self.others.entry(kind.into()).or_default() += 1;
        }
    }
}

type Parsed = Result<Option<Raw>, Box<Fault>>;

impl Parser for Msps {
    const NAME: &str = "msps";
    const SUMMARY: &str =
        "DiskRead, DiskWrite and DiskFlush events in microseconds (Microsoft servers, xperf)";
    const QUOTES: bool = false;
    const DEVICES: bool = true;
    const PROCESSES: bool = true;
    /// Requests done at once may have been begun long before.
    const WINDOW: usize = 1 << 15;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::whole(options, TimeUnit::Us),
            processes: Processes::new(options),
            in_header: false,
            layout: published(Op::Read),
            flush_layout: published(Op::Flush),
            others: BTreeMap::new(),
        }
    }

    fn begins(line: &[u8]) -> bool {
        line.trim_ascii() == b"BeginHeader"
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Parsed {
        let mut fields = Fields::<COMMA>::new(line);
        let kind = fields.word();
        let op = match kind {
            b"DiskRead" => Op::Read,
            b"DiskWrite" => Op::Write,
            b"DiskFlush" => Op::Flush,
            _ => return self.other(line, kind, fields),
        };
        let columns = if op == Op::Flush { &mut self.flush_layout } else { &mut self.layout };
        if self.in_header {
            *columns = layout(&mut fields, op)?;
            return Ok(None);
        }
        let (mut time, mut offset, mut size, mut elapsed, mut disk) = (0, 0, 0, 0, 0);
        let mut process: &[u8] = b"";
        for role in &*columns {
            match role {
                Role::Time => time = self.clock.read(&mut fields, &TIME)?,
                Role::Process => process = fields.word(),
                Role::Offset => offset = fields.hexadecimal(&OFFSET)?,
                Role::Size => size = fields.hexadecimal(&SIZE)?,
                Role::Elapsed => {
                    elapsed = self.clock.read(&mut fields, &ELAPSED)?;
                    if elapsed > HOUR {
                        return Err(fields.fault(&ELAPSED));
                    }
                }
                Role::Disk => {
                    disk = fields.integer(&DISK)?;
                    if disk > u64::from(u32::MAX) {
                        return Err(fields.fault(&DISK));
                    }
                }
                Role::Other => drop(fields.word()),
            }
        }
        if fields.word().is_empty() {
            return Err(fields.fault(&REST));
        }
        if self.processes.matter() {
            let Some((name, number)) = name_and_number(process) else {
                let found = format!("{} in {} is not understood", shown(process), PROCESS.name);
                return Err(Fault::whole(found, PROCESS.expected, PROCESS.hint));
            };
            if !self.processes.takes(name, Some(number), true) {
                return Ok(None);
            }
            self.processes.note(name, number)?;
        }
        let Some(time) = time.checked_add(HOUR - elapsed) else { return Err(fields.fault(&TIME)) };
        if op == Op::Flush {
            return Ok(Some(Raw::flush(time, disk as u32)));
        }
        let (offset, len) = extent(&fields, op, Some(offset), Some(size))?;
        Ok(Some(Raw { time, offset, len, device: disk as u32, op }))
    }

    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        Some(&self.processes)
    }

    fn may_have_names(&self) -> bool {
        false
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        if self.others.is_empty() {
            return Vec::new();
        }
        let total: u64 = self.others.values().sum();
        let mut kinds: Vec<_> = self.others.iter().collect();
        kinds.sort_by_key(|(_, count)| u64::MAX - **count);
        let shown = kinds.iter().take(KINDS_SHOWN);
        let shown = shown.map(|(kind, count)| format!("{count} {}", kind.escape_ascii()));
        vec![format!(
            "{total} events of {} other kinds: {}{}",
            kinds.len(),
            shown.collect::<Vec<_>>().join(", "),
            if kinds.len() > KINDS_SHOWN { ", …" } else { "" }
        )]
    }
}

/// `svchost.exe (1234)` in its parts.
fn name_and_number(process: &[u8]) -> Option<(&[u8], u64)> {
    let at = process.iter().rposition(|&b| b == b'(')?;
    let number = process[at + 1..].strip_suffix(b")")?.trim_ascii();
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some((process[..at].trim_ascii_end(), number))
}

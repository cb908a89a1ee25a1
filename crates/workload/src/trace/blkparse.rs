//! `blkparse`, the text that `blkparse` prints of the events that `blktrace` recorded in the Linux
//! block layer. The columns are device (major, minor), CPU, sequence number, decimal seconds,
//! process, action, kind (in the letters of `letters.rs`), first sector, number of sectors (512
//! bytes), and name of the process.
//!
//! ```text
//!   8,16   8        1     0.000000000 13213  Q   W 766877144 + 8 [kworker/u81:0]
//!   8,16   8        8     0.000033469 13213  D   W 766877144 + 88 [kworker/u81:0]
//!   8,16   8        9     0.001879051     0  C   W 766877144 + 88 [0]
//!   8,16  23     1280    15.671103520 16279  Q FWS [jbd2/sdb1-8]
//!   8,16  23     1281    15.671120334 16279  Q FWFSM 488441326 + 8 [jbd2/sdb1-8]
//! ```
//!
//! The layout is the default one of blkparse(1), as `process_default` in `blkparse_fmt.c` prints
//! it; the letters are those of `fill_rwbs` there and of `blk_fill_rwbs` in the kernel. A request
//! arrives with its `Q` line: queued, before the kernel merges. If there is none it arrives with
//! its `D` line (issued), or its `C` line (completed). All other actions, commands of other kinds
//! and the summary at the end are passed over.
//!
//! An `F` in front requests that the drive first writes its cached data. Without sectors that is a
//! flush. With sectors the line means a flush and the rest of the letters, at one time. (The kernel
//! does the same: such a write is queued as one and issued as two.)
//!
//! A write without sectors is a flush of a kernel that had barriers for them, unless it is
//! completed. A completed one ends a flush that has a line of its own, or data without a rest. An
//! `F` behind the `W` is a write that bypasses the cache. For reads and trims it has no effect.
//!
//! The recording of a served drive has hints about data after the size: `+ 8 hint 3 [connection-1]`.

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields, leading_number, number, shown};
use super::letters::{self, LetterKind};
use super::options::{Event, ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{Parser, Raw, SECTOR, extent};
use super::select::{Events, Processes};
use crate::Op;
use kernel::Hint;

const COLUMNS: &str =
    "the layout is `8,16 3 11 0.009507758 697 Q W 223490 + 8 [kjournald]`, blkparse's own";

const DEVICE: FieldName = FieldName {
    name: "the device",
    expected: "major and minor number, such as `8,16`",
    hint: COLUMNS,
};
const CPU: FieldName = FieldName { name: "the CPU", expected: "a number", hint: COLUMNS };
const SEQUENCE: FieldName =
    FieldName { name: "the sequence number", expected: "a number", hint: COLUMNS };
const TIME: FieldName = FieldName { name: "the time", expected: "decimal seconds", hint: COLUMNS };
const PID: FieldName =
    FieldName { name: "the process", expected: "a process number", hint: COLUMNS };
const ACTION: FieldName =
    FieldName { name: "the action", expected: "one or two letters, such as `Q`", hint: COLUMNS };
const TYPE: FieldName = FieldName {
    name: "the type",
    expected: "`R`, `W`, `D`, `N`, `F` or `ZA` with letters such as `S` (or `F` first)",
    hint: "it may stand for data; `--skip-bad` counts such lines and passes them over",
};
const START: FieldName = FieldName {
    name: "the first sector",
    expected: "a sector number (512 bytes each)",
    hint: COLUMNS,
};
const PLUS: FieldName = FieldName {
    name: "what follows the sector",
    expected: "`+` and a number of sectors, or the process in brackets",
    hint: COLUMNS,
};
const SECTORS: FieldName =
    FieldName { name: "the size", expected: "a number of sectors (512 bytes each)", hint: COLUMNS };
const HINT: FieldName = FieldName {
    name: "the hint",
    expected: "a whole number from 0 to 255",
    hint: "the layout is `8,16 3 11 0.009507758 697 Q W 223490 + 8 hint 3 [kjournald]`",
};

/// The kernel's own packing of a device number: 12 bits of major, 20 of minor.
const MINOR_BITS: u32 = 20;

pub(crate) struct Blkparse {
    clock: TraceClock,
    events: Events,
    processes: Processes,
    /// Whether the summary at the end has begun.
    summary: bool,
    /// Whether the line read last begins with a flush.
    flush_first: bool,
    /// The hint of the line read last.
    hint: Hint,
    /// Writes that the drive places, and commands for whole zones.
    appends: u64,
    zones: u64,
    /// Pairs of devices between which requests were passed on, and their number.
    remaps: Vec<((u32, u32), u64)>,
}

impl Blkparse {
    /// A line that does not begin with a device: a remark of blkparse beside the events.
    #[cold]
    fn other(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let text = line.trim_ascii();
        let begins = begins_summary(text);
        self.summary |= begins;
        let known = text.starts_with(b"#") || text.starts_with(b"Input file ");
        if known || begins || self.summary && text.contains(&b':') {
            return Ok(None);
        }
        let mut fields = Fields::<BLANK>::new(line);
        fields.word();
        Err(fields.fault(&DEVICE))
    }
}

impl Blkparse {
    /// `A W 2099200 + 8 <- (253,0) 2048`: a request to one device is passed on to another.
    fn remapped(&mut self, to: u32, line: &[u8]) {
        let Some(at) = memchr::memchr(b'(', line) else { return };
        let rest = &line[at + 1..];
        let end = memchr::memchr(b')', rest).unwrap_or(0);
        let Some(from) = device(&rest[..end]) else { return };
        if let Some((_, count)) = self.remaps.iter_mut().find(|(pair, _)| *pair == (from, to)) {
            *count += 1;
        } else if self.remaps.len() < MOST_REMAPS {
            self.remaps.push(((from, to), 1));
        }
    }

    /// Requests that the trace has twice, since both devices were recorded.
    fn stacked(&self, regions: &Regions) -> Vec<String> {
        let read = |device: u32| regions.devices().any(|known| known == device);
        let both =
            self.remaps.iter().filter(|((from, to), _)| from != to && read(*from) && read(*to));
        let note = |((from, to), count): &((u32, u32), u64)| {
            let (from, to) = (self.label(*from), self.label(*to));
            format!(
                "{count} requests to {from} went on to {to} (action A), and the trace has both: they \
                 are read twice; `--device {from}` or `--device {to}` reads them once"
            )
        };
        both.map(note).collect()
    }
}

/// Further pairs of devices are not distinguished.
const MOST_REMAPS: usize = 256;

/// `CPU3 (sdb):`, `Total (8,16):` or, per process, `jbd2/sdb1-8 (697)`.
fn begins_summary(text: &[u8]) -> bool {
    let Some(at) = text.windows(2).rposition(|w| w == b" (") else { return false };
    let (name, rest) = (&text[..at], &text[at + 2..]);
    let cpu = name.strip_prefix(b"CPU").is_some_and(|n| n.iter().all(u8::is_ascii_digit));
    if cpu || name == b"Total" {
        return rest.ends_with(b"):");
    }
    let number = rest.strip_suffix(b")").map(|r| r.strip_suffix(b", ...").unwrap_or(r));
    number.is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit))
}

/// `8,16` as one number.
fn device(text: &[u8]) -> Option<u32> {
    let comma = leading_number(text).1;
    let (major, minor) = (number(&text[..comma])?, text.get(comma..)?.strip_prefix(b",")?);
    let minor = number(minor)?;
    (major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS)
        .then_some((major << MINOR_BITS | minor) as u32)
}

impl Parser for Blkparse {
    const NAME: &str = "blkparse";
    const SUMMARY: &str = "events of the Linux block layer as text (blktrace, blkparse)";
    const SEPARATOR: u8 = BLANK;
    const QUOTES: bool = false;
    const DEVICES: bool = true;
    const EVENTS: bool = true;
    const PROCESSES: bool = true;
    /// The streams of several processors are merged, more or less.
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::decimal(options, TimeUnit::S),
            events: Events::new(options.event, [Event::Queued, Event::Issued, Event::Completed]),
            processes: Processes::new(options),
            summary: false,
            flush_first: false,
            hint: 0,
            appends: 0,
            zones: 0,
            remaps: Vec::new(),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<BLANK>::new(line);
        let Some(device) = device(fields.word()) else { return self.other(line) };
        fields.integer(&CPU)?;
        fields.integer(&SEQUENCE)?;
        let time = self.clock.read(&mut fields, &TIME)?;
        let pid = fields.integer(&PID)?;
        let action = fields.word();
        let event = match action {
            b"Q" => Some(Event::Queued),
            b"D" => Some(Event::Issued),
            b"C" => Some(Event::Completed),
            // Inserted, got, slept, merged, split, plugged, remapped, a message, and so on.
            [b'A'..=b'Z' | b'm' | b'd'] | b"UT" | [b'Z', _] => None,
            _ => return Err(fields.fault(&ACTION)),
        };
        let word = fields.word();
        let kind = letters::kind(word);
        let Some(event) = event else {
            // Unknown letters do no harm where no request arrives.
            if kind.is_none() && !word.iter().all(u8::is_ascii_alphabetic) || word.is_empty() {
                return Err(fields.fault(&TYPE));
            }
            if action == b"A" {
                self.remapped(device, line);
            }
            return Ok(None);
        };
        let (flush_first, op) = match kind {
            Some(LetterKind::Request(Op::Flush)) => (true, Op::Flush),
            Some(LetterKind::Request(op)) => (false, op),
            Some(LetterKind::FlushAnd(op)) => (true, op),
            Some(LetterKind::Append(op)) => {
                self.appends += u64::from(self.events.reads(event));
                (false, op)
            }
            Some(kind @ (LetterKind::Zone | LetterKind::Other)) => {
                let zone = kind == LetterKind::Zone && self.events.reads(event);
                self.zones += u64::from(zone);
                return Ok(None);
            }
            None => return Err(fields.fault(&TYPE)),
        };
        // A cut line would have other numbers than the whole one.
        if !line.trim_ascii_end().ends_with(b"]") {
            return Err(cut(line));
        }
        let begin = fields.word();
        let extent = if matches!(begin, [b'[' | b'(', ..]) {
            None
        } else {
            let Some(start) = number(begin) else { return Err(fields.fault(&START)) };
            match fields.word() {
                b"+" => Some((start, fields.integer(&SECTORS)?)).filter(|e| e.1 > 0),
                [b'[' | b'(', ..] if flush_first => None,
                // Commands of other kinds show bytes here, not sectors.
                [b'[' | b'(', ..] => return Ok(None),
                _ => return Err(fields.fault(&PLUS)),
            }
        };
        let flushes = flush_first || op.writes() && event != Event::Completed;
        if extent.is_none() && !flushes {
            return Ok(None);
        }
        let rest = &line[fields.from()..];
        self.hint = if rest_has_hint(fields.rest()) { hint(&mut fields)? } else { 0 };
        // The completion of a request is recorded under the process that was running.
        let name = if self.processes.matter() { name(rest) } else { b"" };
        if !self.processes.takes(name, Some(pid), event != Event::Completed)
            || !self.events.take(event)
        {
            return Ok(None);
        }
        self.processes.note(name, pid)?;
        self.flush_first = flush_first && extent.is_some() && op != Op::Flush;
        let Some((start, sectors)) = extent.filter(|_| op != Op::Flush) else {
            return Ok(Some(Raw::flush(time, device)));
        };
        let (offset, len) =
            self::extent(&fields, op, start.checked_mul(SECTOR), sectors.checked_mul(SECTOR))?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    #[inline(always)]
    fn flush_first(&self) -> bool {
        self.flush_first
    }

    #[inline(always)]
    fn hint(&self) -> Hint {
        self.hint
    }

    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        Some(&self.processes)
    }

    fn fits(&mut self, line: &[u8]) -> Option<bool> {
        Some(self.parse(line).is_ok())
    }

    /// `8:16`, as `lsblk` shows it, with a comma between devices.
    fn label(&self, device: u32) -> String {
        format!("{}:{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    fn instead(&self) -> Option<Event> {
        self.events.instead()
    }

    fn may_have_names(&self) -> bool {
        false
    }

    fn notes(&self, regions: &Regions) -> Vec<String> {
        let mut notes = vec![self.events.note()];
        if self.appends > 0 {
            notes.push(format!(
                "{} zone appends (ZA) are writes at the address of their line; with the events Q and D \
                 that is where the zone begins",
                self.appends
            ));
        }
        if self.zones > 0 {
            let count = self.zones;
            notes.push(format!("{count} commands for zones (ZR, ZO, ZC, ZF) were passed over"));
        }
        notes.append(&mut self.stacked(regions));
        notes
    }
}

/// Whether the text after the size begins with a hint.
#[inline]
fn rest_has_hint(rest: &[u8]) -> bool {
    rest.starts_with(b" hint ")
}

/// The hint after the size. The recording of a served drive has it; `blkparse` prints nothing there.
#[cold]
fn hint(fields: &mut Fields<'_, BLANK>) -> Result<Hint, Box<Fault>> {
    fields.word();
    let hint = Hint::try_from(fields.integer(&HINT)?);
    hint.map_err(|_| fields.fault(&HINT))
}

/// The name of the process in `[...]`, from the text after the size.
fn name(rest: &[u8]) -> &[u8] {
    let from = rest.iter().position(|&b| b == b'[').map_or(rest.len(), |at| at + 1);
    let name = rest[from..].trim_ascii_end();
    name.strip_suffix(b"]").unwrap_or(name)
}

#[cold]
fn cut(line: &[u8]) -> Box<Fault> {
    let tail = &line[line.len().saturating_sub(20)..];
    let found = format!("the line ends in {}", shown(tail));
    let expected = "the process or an error number in brackets";
    let hint = "the line may be cut".into();
    Box::new(Fault { at: Some(line.len()), found, expected: expected.into(), hint })
}

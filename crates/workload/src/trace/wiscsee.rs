//! `wiscsee`, the event text of the simulator `WiscSee` (He et al., `EuroSys` 2017), which it makes
//! from the output of `blkparse`. The columns are process, event (`D` issued, `C` completed, `Q`
//! queued), operation, offset and size in bytes, decimal seconds, seconds since the line before,
//! and whether the request is synchronous.
//!
//! ```text
//! 39949 D read 299008 4096 0.000000000 0 False
//! 0 C read 299008 4096 0.000122793 0.000122793 False
//! 1386 D discard 136314880 4096 0.439239477 4.43e-06 False
//! ```
//!
//! The columns are `event_file_columns` of `github.com/junhe/wiscsee`; `discard` is TRIM. A request
//! arrives with its `D` line; where there is none, with its `Q` or `C` line. Flushes are lost in
//! the making: `BlktraceResult` there keeps lines with sectors alone. Of the letters of the type it
//! keeps whether they read, write or discard.

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields};
use super::options::{Event, ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{Parser, Raw, extent};
use super::select::{Events, Processes};
use crate::Op;

const COLUMNS: &str = "8 columns: process, event, operation, offset, size, time, gap, synchronous";

const PROCESS: FieldName =
    FieldName { name: "the process", expected: "a process number", hint: COLUMNS };
const EVENT: FieldName =
    FieldName { name: "the event", expected: "one capital letter, such as `D`", hint: COLUMNS };
const OPERATION: FieldName =
    FieldName { name: "the operation", expected: "`read`, `write` or `discard`", hint: COLUMNS };
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "a number of bytes", hint: COLUMNS };
const SIZE: FieldName =
    FieldName { name: "the size", expected: "a number of bytes", hint: COLUMNS };
const TIME: FieldName = FieldName { name: "the time", expected: "decimal seconds", hint: COLUMNS };
const GAP: FieldName = FieldName { name: "the gap", expected: "decimal seconds", hint: COLUMNS };
const SYNC: FieldName =
    FieldName { name: "the last column", expected: "`True` or `False`", hint: COLUMNS };

pub(crate) struct Wiscsee {
    clock: TraceClock,
    events: Events,
    processes: Processes,
}

impl Parser for Wiscsee {
    const NAME: &str = "wiscsee";
    const SUMMARY: &str =
        "pid, event, operation, offset, size, decimal seconds, gap, sync (WiscSee)";
    const SEPARATOR: u8 = BLANK;
    const EVENTS: bool = true;
    const PROCESSES: bool = true;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::decimal(options, TimeUnit::S),
            events: Events::new(options.event, [Event::Issued, Event::Queued, Event::Completed]),
            processes: Processes::new(options),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        let mut fields = Fields::<BLANK>::new(line);
        let pid = fields.integer(&PROCESS)?;
        let event = match fields.word() {
            b"D" => Some(Event::Issued),
            b"C" => Some(Event::Completed),
            b"Q" => Some(Event::Queued),
            [b'A'..=b'Z'] => None,
            _ => return Err(fields.fault(&EVENT)),
        };
        let op = match fields.word() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"discard" => Op::Trim,
            _ => return Err(fields.fault(&OPERATION)),
        };
        let offset = fields.integer(&OFFSET)?;
        let size = fields.integer(&SIZE)?;
        let time = self.clock.read(&mut fields, &TIME)?;
        // Of no use here, and written as Python writes any number.
        if !fields.word().first().is_some_and(u8::is_ascii_digit) {
            return Err(fields.fault(&GAP));
        }
        if !matches!(fields.word(), b"True" | b"False") {
            return Err(fields.fault(&SYNC));
        }
        fields.end(COLUMNS)?;
        let Some(event) = event.filter(|_| size > 0) else { return Ok(None) };
        // The completion of a request is recorded under the process that was running.
        if !self.processes.takes(b"", Some(pid), event != Event::Completed)
            || !self.events.take(event)
        {
            return Ok(None);
        }
        self.processes.note(b"", pid)?;
        let (offset, len) = extent(&fields, op, Some(offset), Some(size))?;
        Ok(Some(Raw { time, offset, len, device: 0, op }))
    }

    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        Some(&self.processes)
    }

    fn fits(&mut self, line: &[u8]) -> Option<bool> {
        Some(self.parse(line).is_ok())
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    fn instead(&self) -> Option<Event> {
        self.events.instead()
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        vec![self.events.note()]
    }
}

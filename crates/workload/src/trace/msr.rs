//! `msr`, the week of block traces from Microsoft Research Cambridge. The columns are arrival in
//! Windows file time (100 ns), host, disk number, `Read` or `Write`, offset and size in bytes, and
//! response time (100 ns). The response time was measured on their disks, so it is not used. Some
//! copies lack it.
//!
//! ```text
//! 128166372003061629,hm,0,Read,9056014336,24576,101842
//! 128166372016382155,hm,0,Write,2822144,4096,91250
//! ```
//!
//! The published files are out of order here and there, so a bounded window is sorted.

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::names::Names;
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, extent};
use crate::Op;

const COLUMNS: &str = "7 columns: time, host, disk, type, offset, size, response time";

const TIME: FieldName =
    FieldName { name: "the time", expected: "Windows file time (100 ns ticks)", hint: COLUMNS };
const HOST: FieldName = FieldName { name: "the host", expected: "a host name", hint: COLUMNS };
const DISK: FieldName =
    FieldName { name: "the disk", expected: "a disk number below 2^32", hint: COLUMNS };
const TYPE: FieldName =
    FieldName { name: "the type", expected: "`Read` or `Write`", hint: COLUMNS };
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "a number of bytes", hint: COLUMNS };
const SIZE: FieldName =
    FieldName { name: "the size", expected: "a number of bytes", hint: COLUMNS };
const RESPONSE: FieldName =
    FieldName { name: "the response time", expected: "a number of 100 ns ticks", hint: COLUMNS };

/// Longer names are not host names.
const LONGEST_HOST: usize = 255;

pub(crate) struct Msr {
    clock: TraceClock,
    /// Whether records have the response time; the first one decides.
    response: bool,
    begun: bool,
    /// `host,disk`, as in the line.
    volumes: Names,
}

impl Parser for Msr {
    const NAME: &str = "msr";
    const SUMMARY: &str =
        "file time in 100 ns, host, disk, type, offset, size, response (MSR Cambridge)";
    const DEVICES: bool = true;
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::whole(options, TimeUnit::Ticks),
            response: true,
            begun: false,
            volumes: Names::default(),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<COMMA>::new(line);
        if matches!(line[0], b'#' | b'T') && fields.is_heading(b"timestamp") {
            return Ok(None);
        }
        let time = self.clock.read(&mut fields, &TIME)?;
        let host = fields.word();
        let from = fields.from();
        if host.is_empty() || host.len() > LONGEST_HOST {
            return Err(fields.fault(&HOST));
        }
        let disk = fields.integer(&DISK)?;
        if u32::try_from(disk).is_err() {
            return Err(fields.fault(&DISK));
        }
        let device = self.volumes.number(fields.since(from))?;
        let op = match fields.word() {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            word if word.eq_ignore_ascii_case(b"read") => Op::Read,
            word if word.eq_ignore_ascii_case(b"write") => Op::Write,
            _ => return Err(fields.fault(&TYPE)),
        };
        let offset = fields.integer(&OFFSET)?;
        let size = fields.integer(&SIZE)?;
        let (offset, len) = extent(&fields, op, Some(offset), Some(size))?;
        if self.response
            && let Err(fault) = fields.decimal(0, &RESPONSE)
        {
            if self.begun || !fields.rest().is_empty() {
                return Err(fault);
            }
            self.response = false;
        }
        self.begun = true;
        fields.end(COLUMNS)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    /// `hm_0`, as the published files are called.
    fn label(&self, device: u32) -> String {
        self.volumes.name(device).replace(',', "_")
    }
}

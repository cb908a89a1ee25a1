//! `systor`, four weeks of virtual desktops at Fujitsu (Lee et al., SYSTOR 2017). The columns are
//! arrival in decimal seconds since 1970, response time, `R` or `W`, LUN, offset and size in bytes.
//! The response time was measured on their disks, so it is not used.
//!
//! ```text
//! Timestamp,Response,IOType,LUN,Offset,Size
//! 1456135200.013118000,0.000806000,R,4,899056122368,131072
//! 1456135200.014020000,,,4,20480,4096
//! ```
//!
//! The columns are those of the README of SNIA IOTTA trace set 4964. A blank type means that the
//! answer was lost in recording. It is then unknown whether data was read or written, so such lines
//! are skipped and counted. The files are out of order here and there; a bounded window is sorted.

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{Parser, Raw, extent};
use crate::Op;

const COLUMNS: &str = "6 columns: time, response time, type, LUN, offset, size";

const TIME: FieldName =
    FieldName { name: "the time", expected: "decimal seconds since 1970", hint: COLUMNS };
const TYPE: FieldName =
    FieldName { name: "the type", expected: "`R`, `W` or nothing", hint: COLUMNS };
const LUN: FieldName =
    FieldName { name: "the LUN", expected: "a number below 2^32", hint: COLUMNS };
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "a number of bytes", hint: COLUMNS };
const SIZE: FieldName =
    FieldName { name: "the size", expected: "a number of bytes", hint: COLUMNS };

pub(crate) struct Systor {
    clock: TraceClock,
    /// Lines without a type.
    untyped: u64,
}

impl Parser for Systor {
    const NAME: &str = "systor";
    const SUMMARY: &str =
        "decimal seconds, response, R or W, LUN, offset, size (Fujitsu, SYSTOR '17)";
    const DEVICES: bool = true;
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::decimal(options, TimeUnit::S), untyped: 0 }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<COMMA>::new(line);
        if matches!(line[0], b'#' | b't' | b'T') && fields.is_heading(b"timestamp") {
            return Ok(None);
        }
        let time = self.clock.read(&mut fields, &TIME)?;
        fields.word();
        let op = match fields.word() {
            b"R" => Some(Op::Read),
            b"W" => Some(Op::Write),
            b"" => None,
            _ => return Err(fields.fault(&TYPE)),
        };
        let lun = fields.integer(&LUN)?;
        let Ok(device) = u32::try_from(lun) else { return Err(fields.fault(&LUN)) };
        let offset = fields.integer(&OFFSET)?;
        let size = fields.integer(&SIZE)?;
        fields.end(COLUMNS)?;
        let Some(op) = op else {
            self.untyped += 1;
            return Ok(None);
        };
        let (offset, len) = extent(&fields, op, Some(offset), Some(size))?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        let note =
            format!("{} requests neither read nor write: their answer was lost", self.untyped);
        (self.untyped > 0).then_some(note).into_iter().collect()
    }
}

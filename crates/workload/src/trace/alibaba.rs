//! `alibaba`, a month of 1000 virtual disks of Alibaba's cloud (January 2020): device, `R` or `W`,
//! offset and length in bytes, arrival at the server in microseconds.
//!
//! ```text
//! 3,R,126703661056,4096,1577808000000046
//! 141,W,19496058880,77824,1577808000000426
//! ```
//!
//! The columns are those of the README of `github.com/alibaba/block-traces` (`io_traces.csv`).
//! It does not say that the times ascend, so a bounded window is sorted.

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, extent};
use crate::Op;

const COLUMNS: &str = "5 columns: device, R or W, offset, length, time";

const DEVICE: FieldName =
    FieldName { name: "the device", expected: "a device number below 2^32", hint: COLUMNS };
const OPERATION: FieldName =
    FieldName { name: "the operation", expected: "`R` or `W`", hint: COLUMNS };
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "a number of bytes", hint: COLUMNS };
const LENGTH: FieldName =
    FieldName { name: "the length", expected: "a number of bytes", hint: COLUMNS };
const TIME: FieldName =
    FieldName { name: "the time", expected: "a number of microseconds", hint: COLUMNS };

pub(crate) struct Alibaba {
    clock: TraceClock,
}

impl Parser for Alibaba {
    const NAME: &str = "alibaba";
    const SUMMARY: &str = "device, R or W, offset, length, microseconds (Alibaba block traces)";
    const DEVICES: bool = true;
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::whole(options, TimeUnit::Us) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<COMMA>::new(line);
        if matches!(line[0], b'#' | b'd' | b'D') && fields.is_heading(b"device") {
            return Ok(None);
        }
        let device = fields.integer(&DEVICE)?;
        let Ok(device) = u32::try_from(device) else { return Err(fields.fault(&DEVICE)) };
        let op = match fields.word() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(fields.fault(&OPERATION)),
        };
        let offset = fields.integer(&OFFSET)?;
        let length = fields.integer(&LENGTH)?;
        let (offset, len) = extent(&fields, op, Some(offset), Some(length))?;
        let time = self.clock.read(&mut fields, &TIME)?;
        fields.end(COLUMNS)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }
}

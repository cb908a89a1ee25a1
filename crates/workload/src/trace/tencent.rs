//! `tencent`, ten days of the volumes of Tencent's block storage (Zhang et al., "OSCA", ATC 2020).
//! The columns are arrival in whole seconds since 1970, first sector and number of sectors (512
//! bytes), 0 = read and 1 = write, and volume.
//!
//! ```text
//! 1538323200,12910952,128,0,1063
//! 1538323200,6338688,8,1,1627
//! ```
//!
//! The columns are those of the README of SNIA IOTTA trace set 27917. Requests of one second bear
//! the same time: they arrive at once. Within a window, late records are put in order.

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, SECTOR, extent};
use crate::Op;

const COLUMNS: &str = "5 columns: time, first sector, sectors, 0 or 1, volume";

const TIME: FieldName =
    FieldName { name: "the time", expected: "seconds since 1970", hint: COLUMNS };
const START: FieldName = FieldName {
    name: "the first sector",
    expected: "a sector number (512 bytes each)",
    hint: COLUMNS,
};
const SECTORS: FieldName =
    FieldName { name: "the size", expected: "a number of sectors (512 bytes each)", hint: COLUMNS };
const TYPE: FieldName =
    FieldName { name: "the type", expected: "0 (read) or 1 (write)", hint: COLUMNS };
const VOLUME: FieldName =
    FieldName { name: "the volume", expected: "a volume number below 2^32", hint: COLUMNS };

pub(crate) struct Tencent {
    clock: TraceClock,
}

impl Parser for Tencent {
    const NAME: &str = "tencent";
    const SUMMARY: &str =
        "whole seconds, first sector, sectors, 0 = read, volume (Tencent block storage)";
    const DEVICES: bool = true;
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::whole(options, TimeUnit::S) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<COMMA>::new(line);
        if matches!(line[0], b'#' | b't' | b'T') && fields.is_heading(b"timestamp") {
            return Ok(None);
        }
        let time = self.clock.read(&mut fields, &TIME)?;
        let start = fields.integer(&START)?;
        let sectors = fields.integer(&SECTORS)?;
        let op = match fields.word() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(fields.fault(&TYPE)),
        };
        let (offset, len) =
            extent(&fields, op, start.checked_mul(SECTOR), sectors.checked_mul(SECTOR))?;
        let device = fields.integer(&VOLUME)?;
        let Ok(device) = u32::try_from(device) else { return Err(fields.fault(&VOLUME)) };
        fields.end(COLUMNS)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }
}

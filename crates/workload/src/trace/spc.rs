//! `spc`, the Storage Performance Council's format of the `UMass` traces. The columns are
//! application storage unit, first block (512 bytes), size in bytes, `r` or `w`, and arrival in
//! decimal seconds. Further columns are allowed and ignored.
//!
//! ```text
//! 0,20941264,8192,W,0.551706
//! 1,3436288,15872,r,1.250720
//! ```

use super::clock::TraceClock;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, SECTOR, extent};
use crate::Op;

const COLUMNS: &str = "5 columns: storage unit, first block, size, operation, time";

const UNIT: FieldName =
    FieldName { name: "the storage unit", expected: "a number below 2^32", hint: COLUMNS };
const BLOCK: FieldName = FieldName {
    name: "the first block",
    expected: "a block number (512 bytes each)",
    hint: COLUMNS,
};
const SIZE: FieldName =
    FieldName { name: "the size", expected: "a number of bytes", hint: COLUMNS };
const OPERATION: FieldName =
    FieldName { name: "the operation", expected: "`r` or `w`", hint: COLUMNS };
const TIME: FieldName = FieldName { name: "the time", expected: "decimal seconds", hint: COLUMNS };

pub(crate) struct Spc {
    clock: TraceClock,
}

impl Parser for Spc {
    const NAME: &str = "spc";
    const SUMMARY: &str = "storage unit, first block, bytes, r or w, decimal seconds (UMass, SPC)";
    const DEVICES: bool = true;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::decimal(options, TimeUnit::S) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        let mut fields = Fields::<COMMA>::new(line);
        let device = fields.integer(&UNIT)?;
        let Ok(device) = u32::try_from(device) else { return Err(fields.fault(&UNIT)) };
        let block = fields.integer(&BLOCK)?;
        let size = fields.integer(&SIZE)?;
        let (offset, len) = extent(&fields, Op::Read, block.checked_mul(SECTOR), Some(size))?;
        let op = match fields.word() {
            b"r" | b"R" => Op::Read,
            b"w" | b"W" => Op::Write,
            _ => return Err(fields.fault(&OPERATION)),
        };
        let time = self.clock.read_last(&mut fields, &TIME)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }
}

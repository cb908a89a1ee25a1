//! `ssdsim-ascii`, read by `SSDSim` and `MQSim`: arrival in whole nanoseconds, device, first sector,
//! number of sectors (512 bytes), 1 = read and 0 = write.
//!
//! ```text
//! 0 0 280605840 2 1
//! 97900000 0 287641400 128 1
//! ```

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, SECTOR, extent};
use crate::Op;

pub(crate) const COLUMNS: &str = "5 columns: time, device, first sector, sectors, operation";

const TIME: FieldName =
    FieldName { name: "the time", expected: "whole nanoseconds", hint: COLUMNS };
const DECIMAL_TIME: FieldName = FieldName {
    hint: "times with a decimal point are milliseconds in `disksim-ascii`; `--time-unit` says otherwise",
    ..TIME
};
const SCALED_TIME: FieldName = FieldName {
    name: "the time",
    expected: "a number in the unit given by `--time-unit`",
    hint: "",
};
pub(crate) const DEVICE: FieldName =
    FieldName { name: "the device", expected: "a device number below 2^32", hint: COLUMNS };
pub(crate) const START: FieldName = FieldName {
    name: "the first sector",
    expected: "a sector number (512 bytes each)",
    hint: COLUMNS,
};
pub(crate) const SECTORS: FieldName =
    FieldName { name: "the size", expected: "a number of sectors (512 bytes each)", hint: COLUMNS };
const OPERATION: FieldName =
    FieldName { name: "the operation", expected: "0 (write) or 1 (read)", hint: COLUMNS };

pub(crate) struct Ssdsim {
    clock: TraceClock,
    /// The user said the unit; else times are whole nanoseconds, and a decimal point is an error.
    specified: bool,
}

impl Parser for Ssdsim {
    const NAME: &str = "ssdsim-ascii";
    const SUMMARY: &str =
        "whole nanoseconds, device, first sector, sectors, 1 = read (SSDSim, MQSim)";
    const SEPARATOR: u8 = BLANK;
    const DEVICES: bool = true;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::whole(options, TimeUnit::Ns),
            specified: options.time_unit.is_some(),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        let mut fields = Fields::<BLANK>::new(line);
        let time = if self.specified {
            self.clock.read(&mut fields, &SCALED_TIME)?
        } else {
            match fields.plain_integer(&TIME) {
                Ok(time) => time,
                Err(_) if fields.is_number() => return Err(fields.fault(&DECIMAL_TIME)),
                Err(fault) => return Err(fault),
            }
        };
        let (device, offset, len) = address(&mut fields)?;
        let op = match fields.integer(&OPERATION)? {
            0 => Op::Write,
            1 => Op::Read,
            _ => return Err(fields.fault(&OPERATION)),
        };
        fields.end(COLUMNS)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }
}

/// The three columns that both ASCII formats share.
#[inline(always)]
pub(crate) fn address(fields: &mut Fields<'_, BLANK>) -> Result<(u32, u64, u64), Box<Fault>> {
    let device = fields.integer(&DEVICE)?;
    let Ok(device) = u32::try_from(device) else { return Err(fields.fault(&DEVICE)) };
    let start = fields.integer(&START)?;
    let sectors = fields.integer(&SECTORS)?;
    let (offset, len) =
        extent(fields, Op::Read, start.checked_mul(SECTOR), sectors.checked_mul(SECTOR))?;
    Ok((device, offset, len))
}

//! `disksim-ascii`, the default of `DiskSim`: arrival in decimal milliseconds, device, first sector,
//! number of sectors (512 bytes), hexadecimal flags whose lowest bit means read.
//!
//! ```text
//! 0.000000 0 303567 7 0
//! 26.214000 1 240840 6 1
//! ```

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw};
use super::ssdsim::address;
use crate::Op;

const COLUMNS: &str = "5 columns: time, device, first sector, sectors, flags";

const TIME: FieldName =
    FieldName { name: "the time", expected: "decimal milliseconds", hint: COLUMNS };
const FLAGS: FieldName = FieldName {
    name: "the flags",
    expected: "hexadecimal flags, bit 0 set for a read",
    hint: COLUMNS,
};

pub(crate) struct Disksim {
    clock: TraceClock,
}

impl Parser for Disksim {
    const NAME: &str = "disksim-ascii";
    const SUMMARY: &str =
        "decimal milliseconds, device, first sector, sectors, flags with bit 0 = read (DiskSim)";
    const SEPARATOR: u8 = BLANK;
    const DEVICES: bool = true;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::decimal(options, TimeUnit::Ms) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        let mut fields = Fields::<BLANK>::new(line);
        let time = self.clock.read(&mut fields, &TIME)?;
        let (device, offset, len) = address(&mut fields)?;
        let op = match fields.word() {
            [] => return Err(fields.fault(&FLAGS)),
            // A digit is odd in base ten and sixteen alike, so decimal flags read the same.
            flags if flags.len() <= 10 && is_hex(flags) => {
                let last = flags[flags.len() - 1];
                let digit = if last.is_ascii_digit() { last - b'0' } else { (last | 32) - b'a' };
                if digit & 1 == 1 { Op::Read } else { Op::Write }
            }
            _ => return Err(fields.fault(&FLAGS)),
        };
        fields.end(COLUMNS)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }
}

fn is_hex(flags: &[u8]) -> bool {
    let digits = flags.strip_prefix(b"0x").unwrap_or(flags);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
}

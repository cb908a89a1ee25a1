//! `fiu`, the traces of Florida International University (Koller and Rangaswami, "I/O
//! Deduplication", FAST 2010). The columns are arrival in nanoseconds, process number and name,
//! first sector and number of sectors (512 bytes), `R` or `W`, and major and minor number of the
//! device. The MD5 of each block follows. Its block size depends on the trace; it is not used, and
//! may be absent.
//!
//! ```text
//! 89968195792462 20782 gzip 283193184 8 R 6 0 56f11b711d91a065a2b6458eca924523
//! 89968195811312 2136 kjournald 139335768 8 W 6 0 3fbb6e9ea2b0cc4a6b0a2b5d6d32d3c1
//! ```
//!
//! The columns are those of the README of the SNIA IOTTA trace set 391, whose files are called
//! `.blkparse` but are not output of blkparse. The README does not promise ascending times, so a
//! bounded window is sorted.

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields};
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, SECTOR, extent};
use super::select::Processes;
use crate::Op;

const COLUMNS: &str = "8 columns or more: time, process number, process, first sector, sectors, R or W, \
                       major, minor, digests";

const TIME: FieldName =
    FieldName { name: "the time", expected: "a number of nanoseconds", hint: COLUMNS };
const PID: FieldName =
    FieldName { name: "the process number", expected: "a number", hint: COLUMNS };
const PROCESS: FieldName = FieldName { name: "the process", expected: "a name", hint: COLUMNS };
const START: FieldName = FieldName {
    name: "the first sector",
    expected: "a sector number (512 bytes each)",
    hint: COLUMNS,
};
const SECTORS: FieldName =
    FieldName { name: "the size", expected: "a number of sectors (512 bytes each)", hint: COLUMNS };
const OPERATION: FieldName =
    FieldName { name: "the operation", expected: "`R` or `W`", hint: COLUMNS };
const MAJOR: FieldName =
    FieldName { name: "the major number", expected: "a number below 4096", hint: COLUMNS };
const MINOR: FieldName =
    FieldName { name: "the minor number", expected: "a number below 2^20", hint: COLUMNS };

const MINOR_BITS: u32 = 20;

pub(crate) struct Fiu {
    clock: TraceClock,
    processes: Processes,
}

impl Parser for Fiu {
    const NAME: &str = "fiu";
    const SUMMARY: &str =
        "nanoseconds, process, its name, first sector, sectors, R or W, device, digests (FIU)";
    const DEVICES: bool = true;
    const PROCESSES: bool = true;
    const SEPARATOR: u8 = BLANK;
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self { clock: TraceClock::whole(options, TimeUnit::Ns), processes: Processes::new(options) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        let mut fields = Fields::<BLANK>::new(line);
        let time = self.clock.read(&mut fields, &TIME)?;
        let pid = fields.integer(&PID)?;
        let process = fields.word();
        if process.is_empty() {
            return Err(fields.fault(&PROCESS));
        }
        let start = fields.integer(&START)?;
        let sectors = fields.integer(&SECTORS)?;
        let op = match fields.word() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            _ => return Err(fields.fault(&OPERATION)),
        };
        let (offset, len) =
            extent(&fields, op, start.checked_mul(SECTOR), sectors.checked_mul(SECTOR))?;
        let major = fields.integer(&MAJOR)?;
        if major >> (32 - MINOR_BITS) > 0 {
            return Err(fields.fault(&MAJOR));
        }
        let minor = fields.integer(&MINOR)?;
        if minor >> MINOR_BITS > 0 {
            return Err(fields.fault(&MINOR));
        }
        if !self.processes.takes(process, Some(pid), true) {
            return Ok(None);
        }
        self.processes.note(process, pid)?;
        let device = (major << MINOR_BITS | minor) as u32;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        Some(&self.processes)
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    /// `6:0`, as devices are called in `blkparse`.
    fn label(&self, device: u32) -> String {
        format!("{}:{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
    }
}

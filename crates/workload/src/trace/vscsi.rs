//! `vscsi`, the virtual-machine traces of `CloudPhysics` (Waldspurger et al., FAST 2015), first
//! version: binary records of 32 bytes, numbers little-endian.
//!
//! ```text
//! byte  0  u32  serial number
//!       4  u32  length in bytes
//!       8  u32  scatter-gather entries
//!      12  u16  SCSI operation in the low byte (0x28 read, 0x2a write, …)
//!      14  u16  version in the high byte: 1
//!      16  u64  first block (512 bytes)
//!      24  u64  arrival in microseconds
//! ```
//!
//! SYNCHRONIZE CACHE is a flush, of the whole device whatever blocks it names. Other commands that move
//! no data (an inquiry) are passed over. Whether a write bypasses the cache (FUA) is in a byte of the
//! command that the trace does not keep.

use super::feed::Cut;
use super::fields::Fault;
use super::options::{ReadOptions, TimeUnit};
use super::record::{FARTHEST, LONGEST, Parser, Raw, SECTOR};
use crate::Op;

const SIZE: usize = 32;

pub(crate) struct Vscsi {
    /// Nanoseconds per tick of the time field.
    tick: u64,
}

/// The little-endian number of `N` bytes at `at`.
#[inline(always)]
fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record[at..at + N].try_into().expect("the slice has N bytes")
}

impl Parser for Vscsi {
    const NAME: &str = "vscsi";
    const SUMMARY: &str = "binary records with microseconds and blocks of 512 B (CloudPhysics)";
    const CUT: Cut = Cut::Every { size: SIZE, after: 0 };

    fn new(options: &ReadOptions) -> Self {
        Self { tick: 10_u64.pow(options.time_unit.unwrap_or(TimeUnit::Us).power()) }
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let len = u32::from_le_bytes(bytes(record, 4));
        let [code, _] = bytes(record, 12);
        let version = u16::from_le_bytes(bytes(record, 14));
        let block = u64::from_le_bytes(bytes(record, 16));
        let ticks = u64::from_le_bytes(bytes(record, 24));
        if version >> 8 != 1 {
            return Err(not_version_one(record));
        }
        let op = match code {
            // READ and WRITE with 10, 6, 12 and 16 bytes of command; writes with verification.
            0x28 | 0x08 | 0xa8 | 0x88 => Op::Read,
            0x2a | 0x0a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Op::Write,
            // TEST UNIT READY, REQUEST SENSE, INQUIRY, MODE SENSE, START STOP, READ CAPACITY,
            // VERIFY, LOG SENSE, SERVICE ACTION IN, REPORT LUNS.
            0x00 | 0x03 | 0x12 | 0x1a | 0x5a | 0x1b | 0x25 | 0x2f | 0x4d | 0x9e | 0xa0 => {
                return Ok(None);
            }
            // SYNCHRONIZE CACHE with 10 and 16 bytes of command.
            0x35 | 0x91 => Op::Flush,
            _ => return Err(unknown(code)),
        };
        let time = ticks.checked_mul(self.tick);
        if let (Op::Flush, Some(time)) = (op, time) {
            return Ok(Some(Raw::flush(time, 0)));
        }
        let offset = block.checked_mul(SECTOR);
        match (time, offset) {
            (Some(time), Some(offset))
                if (1..=LONGEST).contains(&u64::from(len)) && offset <= FARTHEST - LONGEST =>
            {
                Ok(Some(Raw { time, offset, len, device: 0, op }))
            }
            _ => Err(impossible(time, block, len)),
        }
    }
}

#[cold]
fn not_version_one(record: &[u8]) -> Box<Fault> {
    // The second version begins with the operation and its own version.
    let [_, _, _, second] = bytes(record, 0);
    let hint = if second == 2 {
        "this looks like the second version of the format (40 bytes), which is not read"
    } else {
        "is this a vscsi trace? `--format` names another format"
    };
    let found = format!("version field {:#06x}", u16::from_le_bytes(bytes(record, 14)));
    Fault::whole(found, "version 1 (0x01 in the high byte) in every record", hint)
}

#[cold]
fn unknown(code: u8) -> Box<Fault> {
    let expected = "a SCSI read (0x28, 0x88, …), a write (0x2a, 0x8a, …), a flush (0x35, 0x91) or a command without data";
    Fault::whole(format!("SCSI operation {code:#04x}"), expected, "`--skip-bad` passes it over")
}

#[cold]
fn impossible(time: Option<u64>, block: u64, len: u32) -> Box<Fault> {
    let (found, expected) = if time.is_none() {
        ("a time of more than 584 years".to_owned(), "microseconds")
    } else if len == 0 {
        ("a request of size 0".to_owned(), "a size above zero")
    } else if u64::from(len) > LONGEST {
        (format!("a request of {len} bytes"), "at most 1 GiB in one request")
    } else {
        (format!("block {block}"), "a block of 512 bytes below 1 PiB")
    };
    Fault::whole(found, expected, "the file may be damaged or of another format")
}

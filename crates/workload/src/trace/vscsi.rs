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
//! SYNCHRONIZE CACHE is a flush of the whole device, for any blocks that it names. Other commands
//! that move no data (an inquiry) are skipped. So is UNMAP, because the trace does not keep its
//! blocks. Whether a write bypasses the cache (FUA) is in a byte of the command that the trace does
//! not keep.

use super::feed::Cut;
use super::fields::Fault;
use super::options::{ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{COLUMNS_HINT, FARTHEST, LONGEST, Parser, Raw, SECTOR};
use crate::Op;

const SIZE: usize = 32;

/// The content of a record of either version.
pub(super) struct VscsiCommand {
    pub(super) code: u8,
    pub(super) len: u32,
    pub(super) block: u64,
    pub(super) ticks: u64,
}

/// The common part of the parsers of both versions.
pub(super) struct Commands {
    /// Nanoseconds per tick of the time field.
    tick: u64,
    unmaps: u64,
}

/// The little-endian number of `N` bytes at `at`.
#[inline(always)]
pub(super) fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record[at..at + N].try_into().expect("the slice has N bytes")
}

impl Commands {
    pub(super) fn new(options: &ReadOptions) -> Self {
        let tick = 10_u64.pow(options.time_unit.unwrap_or(TimeUnit::Us).power());
        Self { tick, unmaps: 0 }
    }

    #[inline]
    pub(super) fn request(&mut self, command: &VscsiCommand) -> Result<Option<Raw>, Box<Fault>> {
        let VscsiCommand { code, len, block, ticks } = *command;
        let op = match code {
            // READ and WRITE with 10, 6, 12 and 16 bytes of command; writes with verification,
            // writes after a comparison, and writes of one block many times.
            0x28 | 0x08 | 0xa8 | 0x88 => Op::Read,
            0x2a | 0x0a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e | 0x89 | 0x41 | 0x93 => Op::Write,
            // SYNCHRONIZE CACHE with 10 and 16 bytes of command.
            0x35 | 0x91 => Op::Flush,
            _ if is_without_data(code) => return Ok(None),
            UNMAP => {
                self.unmaps += 1;
                return Ok(None);
            }
            _ => return Err(unknown(code)),
        };
        let time = ticks.checked_mul(self.tick);
        if let (Op::Flush, Some(time)) = (op, time) {
            return Ok(Some(Raw::flush(time, 0)));
        }
        let (offset, len) = (block.checked_mul(SECTOR), u64::from(len));
        match (time, offset) {
            (Some(time), Some(offset)) if len > 0 && offset <= FARTHEST - LONGEST => {
                Ok(Some(Raw { time, offset, len, device: 0, op }))
            }
            _ => Err(impossible(time, block, len)),
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let note = format!(
            "{} trims (UNMAP) were passed over: the format does not keep their blocks",
            self.unmaps
        );
        (self.unmaps > 0).then_some(note).into_iter().collect()
    }
}

/// The command names its blocks in its parameters, which the format does not keep.
const UNMAP: u8 = 0x42;

/// Commands that move no data of users: they ask for the state of the device, set it up, reserve
/// it, move its heads or have it verify its data.
fn is_without_data(code: u8) -> bool {
    matches!(
        code,
        // TEST UNIT READY, REZERO, REQUEST SENSE, SEEK, INQUIRY, MODE SELECT, RESERVE, RELEASE,
        // MODE SENSE, START STOP, RECEIVE and SEND DIAGNOSTIC, PREVENT REMOVAL
        0x00 | 0x01 | 0x03 | 0x0b | 0x12 | 0x15..=0x17 | 0x1a..=0x1e
            // READ CAPACITY, SEEK, VERIFY, PRE-FETCH, READ DEFECT DATA, WRITE and READ BUFFER
            | 0x25 | 0x2b | 0x2f | 0x34 | 0x37 | 0x3b | 0x3c
            // READ TOC, GET CONFIGURATION, GET EVENT, LOG SELECT, LOG SENSE, MODE SELECT, RESERVE,
            // RELEASE, MODE SENSE, PERSISTENT RESERVE
            | 0x43 | 0x46 | 0x4a | 0x4c | 0x4d | 0x55..=0x57 | 0x5a | 0x5e | 0x5f
            // VERIFY, PRE-FETCH, SERVICE ACTION, REPORT LUNS, MAINTENANCE, VERIFY, READ DEFECT DATA
            | 0x8f | 0x90 | 0x9e | 0x9f | 0xa0 | 0xa3 | 0xa4 | 0xaf | 0xb7
    )
}

pub(crate) struct Vscsi {
    commands: Commands,
    /// Whether records of the version were read.
    begun: bool,
}

impl Parser for Vscsi {
    const NAME: &str = "vscsi";
    const SUMMARY: &str = "binary records with microseconds and blocks of 512 B (CloudPhysics)";
    const CUT: Cut = Cut::Every { size: SIZE, after: 0 };

    fn new(options: &ReadOptions) -> Self {
        Self { commands: Commands::new(options), begun: false }
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let version = u16::from_le_bytes(bytes(record, 14));
        if version >> 8 != 1 {
            return Err(not_version_one(record, self.begun));
        }
        self.begun = true;
        let [code, _] = bytes(record, 12);
        self.commands.request(&VscsiCommand {
            code,
            len: u32::from_le_bytes(bytes(record, 4)),
            block: u64::from_le_bytes(bytes(record, 16)),
            ticks: u64::from_le_bytes(bytes(record, 24)),
        })
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        self.commands.notes()
    }
}

#[cold]
fn not_version_one(record: &[u8], begun: bool) -> Box<Fault> {
    // The second version begins with the operation and its own version.
    let [_, _, _, second] = bytes(record, 0);
    let hint = match (begun, second) {
        (true, _) => "the file is damaged here, or was cut and joined",
        (false, 2) => "this looks like the second version of the format: `--format vscsi-2`",
        (false, _) => COLUMNS_HINT,
    };
    let found = format!("version field {:#06x}", u16::from_le_bytes(bytes(record, 14)));
    Fault::whole(found, "version 1 (0x01 in the high byte) in every record", hint)
}

#[cold]
fn unknown(code: u8) -> Box<Fault> {
    let expected = "a SCSI read (0x28, 0x88, …), a write (0x2a, 0x8a, …), a flush (0x35, 0x91) or a command without data";
    let hint = "it may move data; `--skip-bad` counts such records and passes them over";
    Fault::whole(format!("SCSI operation {code:#04x}"), expected, hint)
}

#[cold]
fn impossible(time: Option<u64>, block: u64, len: u64) -> Box<Fault> {
    let (found, expected) = if time.is_none() {
        ("a time of more than 584 years".to_owned(), "microseconds")
    } else if len == 0 {
        ("a request of size 0".to_owned(), "a size above zero")
    } else {
        (format!("block {block}"), "a block of 512 bytes below 1 PiB")
    };
    Fault::whole(found, expected, "the file may be damaged or of another format")
}

//! `vscsi-2`, the second version of the virtual-machine traces that `vscsi` has: binary records of 40
//! bytes, numbers little-endian.
//!
//! ```text
//! byte  0  u16  SCSI operation in the low byte
//!       2  u16  version in the high byte: 2
//!       4  u32  serial number
//!       8  u32  length in bytes
//!      12  u32  scatter-gather entries
//!      16  u64  first block (512 bytes)
//!      24  u64  arrival in microseconds
//!      32  u64  response time (measured on their disks, so not used)
//! ```
//!
//! The record is `trace_v2_record_t` of `vscsi.h` in `github.com/1a1a11a/libCacheSim`. Commands
//! mean the same as in the first version.

use super::feed::Cut;
use super::fields::Fault;
use super::options::ReadOptions;
use super::reader::Regions;
use super::record::{COLUMNS_HINT, Parser, Raw};
use super::vscsi::{Commands, VscsiCommand, bytes};

pub(crate) struct Vscsi2(Commands);

impl Parser for Vscsi2 {
    const NAME: &str = "vscsi-2";
    const SUMMARY: &str = "the same in records of 40 bytes, with a response time (version 2)";
    const CUT: Cut = Cut::Every { size: 40, after: 0 };

    fn new(options: &ReadOptions) -> Self {
        Self(Commands::new(options))
    }

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let [code, _, _, version] = bytes(record, 0);
        if version != 2 {
            return Err(not_version_two(version));
        }
        self.0.request(&VscsiCommand {
            code,
            len: u32::from_le_bytes(bytes(record, 8)),
            block: u64::from_le_bytes(bytes(record, 16)),
            ticks: u64::from_le_bytes(bytes(record, 24)),
        })
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        self.0.notes()
    }
}

#[cold]
fn not_version_two(version: u8) -> Box<Fault> {
    let found = format!("version {version}");
    Fault::whole(found, "version 2 (0x02 in the fourth byte) in every record", COLUMNS_HINT)
}

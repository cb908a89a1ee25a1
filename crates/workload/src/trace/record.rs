//! What every format is reduced to, and the bounds that all records keep.

use super::feed::Cut;
use super::fields::{Column, Fault, Fields};
use super::options::{Event, ReadOptions};
use super::select::Processes;
use crate::Op;

/// Sectors are 512 bytes in every format read here, whatever the device's were.
pub(crate) const SECTOR: u64 = 512;
/// No published trace has a larger request; a larger number is a misread column.
pub(crate) const LONGEST: u64 = 1 << 30;
/// One device's addresses end here (1 PiB), so that thousands of devices fit 64 bits.
pub(crate) const FARTHEST: u64 = 1 << 50;

/// One record, its time still as recorded and its address still on its own device.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Raw {
    /// Nanoseconds since whatever the format counts from.
    pub(crate) time: u64,
    /// Bytes on the device.
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// The format's own number of the device.
    pub(crate) device: u32,
    pub(crate) op: Op,
}

impl Raw {
    /// A flush, which has no address; the device is what `--device` goes by.
    #[inline]
    pub(crate) fn flush(time: u64, device: u32) -> Self {
        Self { time, offset: 0, len: 0, device, op: Op::Flush }
    }
}

/// One format: how it is cut, and what one record means.
pub(crate) trait Parser: Sized + Send + 'static {
    /// The name of the format on the command line and in results.
    const NAME: &str;
    /// What the format holds, in a few words.
    const SUMMARY: &str;
    /// Whether its records are events, of which one stands for the request (`--event`).
    const EVENTS: bool = false;
    /// Whether its records name devices (`--flow-by device`).
    const DEVICES: bool = false;
    /// Whether its records name processes (`--process`, `--flow-by process`).
    const PROCESSES: bool = false;
    /// How the bytes are cut into records.
    const CUT: Cut = Cut::Lines;
    /// Files of this format as published are out of order within this many records.
    const WINDOW: usize = 0;

    /// A parser at the start of a file.
    fn new(options: &ReadOptions) -> Self;

    /// Reads one record; `None` if it holds no request (a comment, another event).
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>>;

    /// Whether the record read last stands for two requests: a flush, and then what was read.
    #[inline(always)]
    fn flush_first(&self) -> bool {
        false
    }

    /// Whether a file whose first line this is can be of no other format.
    fn begins(_line: &[u8]) -> bool {
        false
    }

    /// Whether a record speaks for this format, or against it, where the format is not known. One
    /// without a request says nothing, unless it is as telling as the others.
    fn fits(&mut self, record: &[u8]) -> Option<bool> {
        self.parse(record).map_or(Some(false), |raw| raw.map(|_| true))
    }

    /// What the user calls a device.
    fn label(&self, device: u32) -> String {
        device.to_string()
    }

    /// The processes read so far, in a format that names some.
    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        None
    }

    /// Whether the requests read so far bear times.
    fn timed(&self) -> bool {
        true
    }

    /// The event to read instead, where the one that is read by default does not occur.
    fn instead(&self) -> Option<Event> {
        None
    }

    /// What only this format has to say of the records read so far, in words for the user.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

const TOO_LONG: &str = "at most 1 GiB in one read or write, 4 GiB in one trim";
const TOO_FAR: &str = "an address below 1 PiB less 4 GiB";
pub(crate) const COLUMNS_HINT: &str =
    "are the columns those of another format? `--format` names one";

/// Turns an address and a length in bytes into the fields of a record, refusing what cannot be.
#[inline(always)]
pub(crate) fn extent<const SEPARATOR: u8>(
    fields: &Fields<'_, SEPARATOR>,
    op: Op,
    offset: Option<u64>,
    len: Option<u64>,
) -> Result<(u64, u32), Box<Fault>> {
    match (offset, len) {
        (Some(offset), Some(len))
            if len.wrapping_sub(1) < longest(op) && offset <= FARTHEST - LONGEST =>
        {
            Ok((offset, len as u32))
        }
        _ => Err(bad_extent(fields, op, offset, len)),
    }
}

/// Systems pass on a trim in one piece that they would cut as a write.
#[inline(always)]
fn longest(op: Op) -> u64 {
    if op == Op::Trim { u64::from(u32::MAX) } else { LONGEST }
}

#[cold]
fn bad_extent<const SEPARATOR: u8>(
    fields: &Fields<'_, SEPARATOR>,
    op: Op,
    offset: Option<u64>,
    len: Option<u64>,
) -> Box<Fault> {
    let mut fault =
        fields.fault(&Column { name: "the size", expected: TOO_LONG, hint: COLUMNS_HINT });
    match (offset, len) {
        (_, Some(0)) => {
            fault.found = "a request of size 0".into();
            fault.expected = "a size above zero";
            fault.hint = "only a flush has none, where the format has a word for it; `--skip-bad` \
                          passes this over";
        }
        (Some(offset), Some(len)) if len <= longest(op) => {
            fault.found = format!("an address of {offset} bytes");
            fault.expected = TOO_FAR;
        }
        (None, _) => {
            fault.found = "an address beyond 64 bits".into();
            fault.expected = TOO_FAR;
        }
        (_, Some(len)) => fault.found = format!("a request of {len} bytes"),
        (_, None) => fault.found = "a size beyond 64 bits".into(),
    }
    fault.at = None;
    fault
}

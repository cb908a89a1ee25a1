//! The common form of all formats, and the bounds that all records keep.

use super::clock::TraceClock;
use super::feed::Cut;
use super::fields::{COMMA, Fault, FieldName, Fields};
use super::options::{Event, ReadOptions};
use super::reader::Regions;
use super::select::Processes;
use crate::Op;
use kernel::Hint;

/// Sectors are 512 bytes in every format read here, regardless of the sectors of the device.
pub(crate) const SECTOR: u64 = 512;
/// A larger read or write is split, as systems and drives do.
pub(crate) const LONGEST: u64 = 1 << 30;
/// A larger read or write is a misread column: an operating system passes on at most 32 bits of
/// bytes.
pub(crate) const MOST: u64 = 4 << 30;
/// One device's addresses end here (1 PiB), so that thousands of devices fit 64 bits.
pub(crate) const FARTHEST: u64 = 1 << 50;

/// One record, its time still as recorded and its address still on its own device.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Raw {
    /// Nanoseconds since the origin of the format.
    pub(crate) time: u64,
    /// Bytes on the device.
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// The format's own number of the device.
    pub(crate) device: u32,
    pub(crate) op: Op,
}

impl Raw {
    /// A flush, which has no address; `--device` uses its device.
    #[inline]
    pub(crate) fn flush(time: u64, device: u32) -> Self {
        Self { time, offset: 0, len: 0, device, op: Op::Flush }
    }
}

/// One format: its separators, and the meaning of a record.
pub(crate) trait Parser: Sized + Send + 'static {
    /// The name of the format on the command line and in results.
    const NAME: &str;
    /// The content of the format, in a few words.
    const SUMMARY: &str;
    /// Whether its records are events, of which one stands for the request (`--event`).
    const EVENTS: bool = false;
    /// Whether its records name devices (`--flow-by device`).
    const DEVICES: bool = false;
    /// Whether its records name processes (`--process`, `--flow-by process`).
    const PROCESSES: bool = false;
    /// How the bytes are cut into records.
    const CUT: Cut = Cut::Lines;
    /// The separator of columns.
    const SEPARATOR: u8 = COMMA;
    /// Whether quotes around a column do not belong to it.
    const QUOTES: bool = true;
    /// The number of records within which published files of this format are out of order.
    const WINDOW: usize = 0;

    /// A parser at the start of a file.
    fn new(options: &ReadOptions) -> Self;

    /// Reads one record; `None` if it holds no request (a comment, another event).
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>>;

    /// Whether the record read last stands for two requests: a flush, and then the request itself.
    #[inline(always)]
    fn flush_first(&self) -> bool {
        false
    }

    /// The hint of the record read last about its data.
    #[inline(always)]
    fn hint(&self) -> Hint {
        0
    }

    /// Whether a file whose first line this is can be of no other format.
    fn begins(_line: &[u8]) -> bool {
        false
    }

    /// Whether a record is evidence for this format, or against it, if the format is not known. A
    /// record without a request is evidence only if it is as telling as the others.
    fn fits(&mut self, record: &[u8]) -> Option<bool> {
        self.parse(record).map_or(Some(false), |raw| raw.map(|_| true))
    }

    /// The user's name of a device.
    fn label(&self, device: u32) -> String {
        device.to_string()
    }

    /// The processes read so far, in a format that names processes.
    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        None
    }

    /// Whether a first line of nothing but names may be passed over.
    fn may_have_names(&self) -> bool {
        true
    }

    /// The reader of the times, if they are text.
    fn clock(&self) -> Option<&TraceClock> {
        None
    }

    /// The separator of the columns of a line, if it is known.
    fn separator(&self) -> Option<u8> {
        Some(Self::SEPARATOR)
    }

    /// Whether the requests read so far have times.
    fn timed(&self) -> bool {
        true
    }

    /// The event to read instead, if the default one does not occur.
    fn instead(&self) -> Option<Event> {
        None
    }

    /// The question to the user before the records are believed.
    fn doubt(&self) -> Option<Doubt> {
        None
    }

    /// The remarks of only this format about the records read so far, in words for the user;
    /// `regions` has the devices of the requests.
    fn notes(&self, _regions: &Regions) -> Vec<String> {
        Vec::new()
    }
}

/// The question that all records together raise for the user.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    pub(crate) found: String,
    pub(crate) expected: &'static str,
    pub(crate) hint: String,
}

const TOO_LONG: &str = "at most 4 GiB in one read or write, 1 PiB in one trim";
const TOO_FAR: &str = "an address below 1 PiB less 4 GiB";
/// Stands for the text about another format; the reader knows how this one was found.
pub(crate) const COLUMNS_HINT: &str = "another format?";

/// Turns an address and a length in bytes into the fields of a record, refusing impossible ones.
#[inline(always)]
pub(crate) fn extent<const SEPARATOR: u8>(
    fields: &Fields<'_, SEPARATOR>,
    op: Op,
    offset: Option<u64>,
    len: Option<u64>,
) -> Result<(u64, u64), Box<Fault>> {
    match (offset, len) {
        (Some(offset), Some(len))
            if len.wrapping_sub(1) < most(op) && offset <= FARTHEST - LONGEST =>
        {
            Ok((offset, len))
        }
        _ => {
            let column = FieldName { name: "the size", expected: TOO_LONG, hint: COLUMNS_HINT };
            Err(bad_extent(fields.fault(&column), op, offset, len))
        }
    }
}

/// The bound of the size of one record. A trim may name a whole device.
#[inline(always)]
pub(crate) fn most(op: Op) -> u64 {
    if op == Op::Trim { FARTHEST } else { MOST }
}

/// The share of one request in the size of a record that is larger than [`LONGEST`]. Systems pass
/// on a trim in one piece that they would cut as a write.
#[cold]
pub(crate) fn piece(op: Op, len: u64) -> u64 {
    match op {
        Op::Trim if u32::try_from(len).is_ok() => len,
        Op::Trim => 2 * LONGEST,
        _ => len.min(LONGEST),
    }
}

#[cold]
#[inline(never)]
fn bad_extent(mut fault: Box<Fault>, op: Op, offset: Option<u64>, len: Option<u64>) -> Box<Fault> {
    match (offset, len) {
        (_, Some(0)) => {
            fault.found = "a request of size 0".into();
            fault.expected = "a size above zero".into();
            fault.hint = "only a flush has none, where the format has a word for it; `--skip-bad` \
                          passes this over"
                .into();
        }
        (Some(offset), Some(len)) if len <= most(op) => {
            fault.found = format!("an address of {offset} bytes");
            fault.expected = TOO_FAR.into();
        }
        (None, _) => {
            fault.found = "an address beyond 64 bits".into();
            fault.expected = TOO_FAR.into();
        }
        (_, Some(len)) => fault.found = format!("a request of {len} bytes"),
        (_, None) => fault.found = "a size beyond 64 bits".into(),
    }
    fault.at = None;
    fault
}

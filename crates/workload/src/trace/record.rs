//! What every format is reduced to, and the bounds that all records keep.

use super::feed::Cut;
use super::fields::{Column, Fault, Fields};
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

/// One format: how it is cut, and what one record means.
pub(crate) trait Parser: Send + 'static {
    /// How the bytes are cut into records.
    const CUT: Cut;
    /// Files of this format as published are out of order within this many records.
    const WINDOW: usize = 0;

    /// Reads one record; `None` if it carries no data (a comment, a flush).
    fn parse(&mut self, record: &[u8]) -> Result<Option<Raw>, Box<Fault>>;
}

const TOO_LONG: &str = "at most 1 GiB in one request";
const TOO_FAR: &str = "an address below 1 PiB";
const COLUMNS_HINT: &str = "are the columns those of another format? `--format` names one";

/// Turns an address and a length in bytes into the fields of a record, refusing what cannot be.
#[inline(always)]
pub(crate) fn extent<const COMMA: bool>(
    fields: &Fields<'_, COMMA>,
    offset: Option<u64>,
    len: Option<u64>,
) -> Result<(u64, u32), Box<Fault>> {
    match (offset, len) {
        (Some(offset), Some(len @ 1..=LONGEST)) if offset <= FARTHEST - LONGEST => {
            Ok((offset, len as u32))
        }
        _ => Err(bad_extent(fields, offset, len)),
    }
}

#[cold]
fn bad_extent<const COMMA: bool>(
    fields: &Fields<'_, COMMA>,
    offset: Option<u64>,
    len: Option<u64>,
) -> Box<Fault> {
    let mut fault =
        fields.fault(&Column { name: "the size", expected: TOO_LONG, hint: COLUMNS_HINT });
    match (offset, len) {
        (_, Some(0)) => {
            fault.found = "a request of size 0".into();
            fault.expected = "a size above zero";
            fault.hint =
                "a flush carries no data and is no request here; `--skip-bad` passes it over";
        }
        (Some(offset), Some(len)) if len <= LONGEST => {
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

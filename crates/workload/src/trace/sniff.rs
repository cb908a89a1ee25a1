//! Tells a format from the first bytes.

use super::disksim::Disksim;
use super::feed::{Cut, Feed};
use super::fields::shown;
use super::input::Stored;
use super::msr::Msr;
use super::record::Parser;
use super::spc::Spc;
use super::ssdsim::Ssdsim;
use super::vscsi::Vscsi;
use super::{Format, ReadOptions};
use crate::TraceError;
use crate::error::{Spot, detail};

/// Records looked at; more would not change the answer.
const RECORDS: usize = 256;

/// Whether a first line looks like that of some format.
type Looks = fn(&[u8]) -> bool;

/// Formats that are known by sight but not read, and how their first line begins.
const NAMED: [(&str, Looks); 3] = [
    ("blkparse text", |line| {
        let first = line.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or(b"");
        let mut parts = first.split(|&b| b == b',');
        let number =
            |p: Option<&[u8]>| p.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
        number(parts.next()) && number(parts.next()) && parts.next().is_none() && first != line
    }),
    ("a fio I/O log", |line| line.starts_with(b"fio version")),
    ("text in UTF-16", |line| line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff")),
];

/// The format whose reader understands the most of the first records. At least half must read:
/// then a bad one among them is met again, with its place, by the reader.
pub(crate) fn format(
    stored: &Stored,
    feed: &mut Feed,
    options: ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Format, TraceError> {
    let (head, whole) = feed.head()?;
    if head.is_empty() {
        return Err(stored.empty());
    }
    if whole && head.is_ascii() && records(head, whole, Cut::Lines).is_empty() {
        return Err(stored.without_request());
    }
    let unit = options.time_unit;
    // A decimal point in the time column of any good line decides between the two five-column
    // forms; one in a line of garbage does not.
    let mut disksim = Disksim::new(unit);
    let decimal = records(head, whole, Cut::Lines).iter().any(|line| {
        let first = line.split(u8::is_ascii_whitespace).find(|w| !w.is_empty());
        first.is_some_and(|w| w.contains(&b'.')) && matches!(disksim.parse(line), Ok(Some(_)))
    });
    let fits = Format::ALL.map(|format| {
        let fit = match format {
            Format::SsdsimAscii | Format::DisksimAscii
                if decimal != (format == Format::DisksimAscii) =>
            {
                (0, 0)
            }
            Format::SsdsimAscii => fit(Ssdsim::new(unit), head, whole),
            Format::DisksimAscii => fit(Disksim::new(unit), head, whole),
            Format::Msr => fit(Msr::new(unit), head, whole),
            Format::Spc => fit(Spc::new(unit), head, whole),
            Format::Vscsi => fit(Vscsi::new(unit), head, whole),
        };
        (format, fit)
    });
    let (format, (fit, of)) =
        fits.into_iter().max_by_key(|f| f.1.0).expect("the list is not empty");
    if fit > 0 && 2 * fit >= of {
        let kind = format.summary();
        notes.push(format!("read as {format}: {kind}; {fit} of the first {of} records fit"));
        return Ok(format);
    }
    let first = records(head, whole, Cut::Lines).first().copied().unwrap_or(head);
    let known: Vec<_> = Format::ALL.iter().map(|f| f.name()).collect();
    let hint = match NAMED.iter().find(|(_, looks)| looks(first)) {
        Some((name, _)) => format!("this looks like {name}, which is not read yet; convert it"),
        None => {
            "`--format` names the format; then the first record that does not read is shown".into()
        }
    };
    Err(TraceError::Format(detail(
        &stored.name,
        Spot::Line { line: 1, column: 0 },
        format!("no known format begins like {}", shown(first)),
        format!("one of {}", known.join(", ")),
        hint,
    )))
}

/// How many of the first records this reader understands, and how many there are.
fn fit<P: Parser>(mut parser: P, head: &[u8], whole: bool) -> (usize, usize) {
    let records = records(head, whole, P::CUT);
    let fit = records.iter().filter(|record| matches!(parser.parse(record), Ok(Some(_)))).count();
    (fit, records.len())
}

/// The first records, without comments and whatever is cut in the middle.
fn records(head: &[u8], whole: bool, cut: Cut) -> Vec<&[u8]> {
    match cut {
        Cut::Every(size) => head.chunks_exact(size).take(RECORDS).collect(),
        Cut::Lines => {
            let mut lines: Vec<_> = head.split(|&b| b == b'\n').collect();
            if !whole && lines.len() > 1 {
                lines.pop();
            }
            lines
                .into_iter()
                .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
                .filter(|line| !line.trim_ascii().is_empty() && line[0] != b'#')
                .take(RECORDS)
                .collect()
        }
    }
}

//! Finds a format from the first bytes.

use super::Format;
use super::disksim::Disksim;
use super::feed::{BYTE_ORDER_MARK, Cut, Feed};
use super::fields::shown;
use super::format::Visit;
use super::guess;
use super::input::Stored;
use super::options::ReadOptions;
use super::quotes;
use super::record::Parser;
use crate::TraceError;
use crate::error::{Spot, detail};

/// The number of records that are tried; more would not change the answer.
const RECORDS: usize = 256;

/// Evidence for the format of a trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum KnownBy {
    /// The user named it.
    Said,
    /// The user named the columns of a table.
    Columns,
    /// The first line can be of no other format.
    FirstLine,
    /// Most of the first records are in this format.
    Records,
}

impl KnownBy {
    /// The hint about other formats, for a record that is implausible.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Said => "without `--format` the content of the file tells the format",
            Self::Columns => "`--columns` says which column holds what",
            Self::FirstLine => "",
            Self::Records => "are the columns those of another format? `--format` names one",
        }
    }
}

/// The format that the first line names, or else the one whose reader understands the most of the
/// first records. At least half must be readable: the reader then finds a bad one among them again,
/// with its place. If two formats understand as many, the user decides.
pub(crate) fn format(
    stored: &Stored,
    feed: &mut Feed,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<(Format, KnownBy), TraceError> {
    let (head, whole) = feed.head()?;
    if head.is_empty() {
        return Err(stored.empty());
    }
    let lines = records(head, whole, Cut::Lines);
    let unmarked = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    if whole && unmarked.is_ascii() && lines.is_empty() {
        return Err(stored.without_request());
    }
    if let Some(format) = Format::ALL.iter().copied().find(|f| f.visit(Begins(&lines))) {
        notes.push(format!("read as {format}: {}; the first line says so", format.summary()));
        return Ok((format, KnownBy::FirstLine));
    }
    // The user's request does not fit the content of the file.
    let options = ReadOptions { time_unit: options.time_unit, ..ReadOptions::default() };
    let (most, of, best) = best(head, whole, &lines, &options);
    if most == 0 || 2 * most < of {
        return Err(unknown(stored, head, whole, &lines, &options));
    }
    if best.len() > 1 {
        let names: Vec<_> = best.iter().map(|format| format.name()).collect();
        let found = format!("{most} of the first {of} records fit each of {}", names.join(", "));
        let hint = "`--format` names the format";
        return Err(TraceError::Format(detail(
            &stored.name,
            Spot::Whole,
            found,
            "records of one format",
            hint,
        )));
    }
    let format = best[0];
    let kind = format.summary();
    notes.push(format!("read as {format}: {kind}; {most} of the first {of} records fit"));
    Ok((format, KnownBy::Records))
}

/// Returns the greatest number of the first records that a format reads, their total, and the
/// formats that read that many.
fn best(
    head: &[u8],
    whole: bool,
    lines: &[&[u8]],
    options: &ReadOptions,
) -> (usize, usize, Vec<Format>) {
    // A decimal point in the time column of any good line decides between the two five-column
    // forms; one in a line of garbage does not.
    let mut disksim = Disksim::new(options);
    let decimal = lines.iter().any(|line| {
        let first = line.split(u8::is_ascii_whitespace).find(|w| !w.is_empty());
        first.is_some_and(|w| w.contains(&b'.') || w.contains(&b','))
            && matches!(disksim.parse(line), Ok(Some(_)))
    });
    let fit = |format: &Format| match format {
        // A table is any text; only its user can tell.
        Format::Csv => (0, 0),
        Format::Ssdsim if decimal => (0, 0),
        Format::Disksim if !decimal => (0, 0),
        _ => format.visit(Fit { head, whole, options }),
    };
    let fits: Vec<_> = Format::ALL.iter().map(fit).collect();
    let most = fits.iter().map(|f| f.0).max().expect("the list is not empty");
    let best: Vec<usize> = (0..fits.len()).filter(|&i| fits[i].0 == most).collect();
    (most, fits[best[0]].1, best.into_iter().map(|i| Format::ALL[i]).collect())
}

/// The hint for a file that would read with other bytes between its columns; `None`: it would
/// not.
fn with_other_separators(head: &[u8], whole: bool, options: &ReadOptions) -> Option<String> {
    const OTHERS: [(u8, u8, &str, &str); 3] = [
        (b';', b',', "commas", "';' ','"),
        (b'\t', b',', "commas", "'\\t' ','"),
        (b',', b' ', "blanks", "',' ' '"),
    ];
    OTHERS.into_iter().find_map(|(from, to, named, words)| {
        let head: Vec<u8> = head.iter().map(|b| if *b == from { to } else { *b }).collect();
        let (most, of, best) = best(&head, whole, &records(&head, whole, Cut::Lines), options);
        let [format] = best[..] else { return None };
        (most > 0 && 2 * most >= of).then(|| {
            format!(
                "with {named} between its columns it reads as {format}: `tr {words} < FILE > NEW`; \
                 `--columns` describes another table"
            )
        })
    })
}

fn unknown(
    stored: &Stored,
    head: &[u8],
    whole: bool,
    lines: &[&[u8]],
    options: &ReadOptions,
) -> TraceError {
    let mut comments = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let comment = comments.by_ref().take_while(|l| l.is_empty() || l.starts_with(b"#")).last();
    let other = with_other_separators(head, whole, options);
    let hint = other.or_else(|| guess::columns(comment, lines)).unwrap_or_else(|| {
        "`--format` names the format, and the first record that does not read is shown; `--columns` \
         describes a table"
            .into()
    });
    let first = lines.first().copied();
    TraceError::Format(detail(
        &stored.name,
        Spot::Line { line: 1, column: 0 },
        format!("no known format begins like {}", shown(first.unwrap_or(head))),
        format!("one of {}", Format::names(|_| true)),
        hint,
    ))
}

/// Whether the first line can be of no other format.
struct Begins<'a>(&'a [&'a [u8]]);

impl Visit for Begins<'_> {
    type Answer = bool;

    fn visit<P: Parser>(self) -> bool {
        self.0.first().is_some_and(|line| P::begins(line))
    }
}

/// The number of the first records that fit a format, and the number that are evidence at all.
struct Fit<'a> {
    head: &'a [u8],
    whole: bool,
    options: &'a ReadOptions,
}

impl Visit for Fit<'_> {
    type Answer = (usize, usize);

    fn visit<P: Parser>(self) -> (usize, usize) {
        let mut parser = P::new(self.options);
        let records = records(self.head, self.whole, P::CUT);
        let mut copy = Vec::new();
        let said = records.iter().filter_map(|record| {
            if P::QUOTES && P::CUT == Cut::Lines && record.contains(&b'"') {
                match quotes::unquote(record, parser.separator(), &mut copy) {
                    Ok(()) => parser.fits(&copy),
                    Err(_) => Some(false),
                }
            } else {
                parser.fits(record)
            }
        });
        let said: Vec<bool> = said.collect();
        (said.iter().filter(|fits| **fits).count(), said.len())
    }
}

/// The first records, without comments and without a part that is cut in the middle.
fn records(head: &[u8], whole: bool, cut: Cut) -> Vec<&[u8]> {
    match cut {
        Cut::Every { size, after } => {
            head.get(after..).unwrap_or_default().chunks_exact(size).take(RECORDS).collect()
        }
        Cut::Lines => {
            let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
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

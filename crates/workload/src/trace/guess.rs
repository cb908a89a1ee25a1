//! A `--columns` line for a table that has no known format, as far as names and values suggest one.

use super::clock::since_1970;
use super::csv::is_operation;
use super::fields::{BLANK, COMMA, number};
use super::numbers;

/// Rows that are looked at.
const ROWS: usize = 64;
/// A column with more different words has no operations.
const MOST_CODES: usize = 8;

/// The possible contents of a column, with words that name it: alone, or as part of a name.
const NAMES: [(&str, &[&str], &[&str]); 7] = [
    (
        "op",
        &[
            "op",
            "rw",
            "rwbs",
            "opcode",
            "operation",
            "cmd",
            "command",
            "action",
            "iotype",
            "optype",
            "reqtype",
            "type",
            "io",
        ],
        &["op", "opcode", "operation", "type", "rw"],
    ),
    (
        "size",
        &[
            "size",
            "length",
            "len",
            "iosize",
            "reqsize",
            "nbytes",
            "bytes",
            "nblocks",
            "nlb",
            "nsectors",
            "sectors",
            "blocks",
            "blockcount",
            "count",
        ],
        &["size", "length", "len", "sectors"],
    ),
    (
        "offset",
        &[
            "offset",
            "lba",
            "lbn",
            "lsn",
            "slba",
            "sector",
            "address",
            "addr",
            "block",
            "blkno",
            "blockno",
            "byteoffset",
            "start",
            "startlba",
            "pos",
            "position",
        ],
        &["offset", "lba", "lbn", "sector", "address", "addr"],
    ),
    (
        "time",
        &[
            "time",
            "timestamp",
            "ts",
            "arrival",
            "arrivaltime",
            "issuetime",
            "starttime",
            "date",
            "datetime",
            "when",
        ],
        &["time", "timestamp", "ts", "arrival", "datetime"],
    ),
    (
        "device",
        &[
            "device",
            "dev",
            "disk",
            "disknum",
            "disknumber",
            "volume",
            "vol",
            "lun",
            "drive",
            "asu",
            "nsid",
            "deviceid",
            "volumeid",
        ],
        &["device", "dev", "disk", "volume", "lun"],
    ),
    ("process", &["process", "pid", "proc", "comm", "processname"], &["process", "pid"]),
    ("hint", &["hint", "streamid", "dspec", "placementid"], &["hint", "dspec"]),
];
/// Names of times that are not arrivals.
const NOT_ARRIVALS: [&str; 5] = ["response", "latency", "elapsed", "duration", "service"];
const SECTORS: [&str; 11] = [
    "lba", "lbn", "lsn", "slba", "sector", "sectors", "block", "blkno", "blocks", "nblocks", "nlb",
];
const UNITS: [(&str, &[&str]); 4] = [
    ("s", &["s", "sec", "secs", "second", "seconds"]),
    ("ms", &["ms", "msec", "millisecond", "milliseconds"]),
    ("us", &["us", "usec", "microsecond", "microseconds"]),
    ("ns", &["ns", "nsec", "nanosecond", "nanoseconds"]),
];

/// The hint for lines without a known format, and for the comment before them; `None`: they are not
/// a table.
pub(super) fn columns(comment: Option<&[u8]>, lines: &[&[u8]]) -> Option<String> {
    let first = lines.first()?;
    let cells = |line: &[u8], separator: u8| -> Vec<String> {
        let blank = separator == BLANK;
        let cells = line.split(move |&b| b == separator || blank && b == b'\t');
        cells
            .map(|cell| String::from_utf8_lossy(cell).trim().trim_matches('"').to_owned())
            .filter(|cell| !blank || !cell.is_empty())
            .collect()
    };
    let rows_by = |separator: u8| -> Vec<Vec<String>> {
        lines.iter().take(ROWS).map(|line| cells(line, separator)).collect()
    };
    let separator = [COMMA, b';', b'\t', BLANK].into_iter().find(|separator| {
        let rows = rows_by(*separator);
        rows[0].len() >= 3 && rows.iter().all(|row| row.len() >= rows[0].len())
    })?;
    let is_name = |name: &String| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut rows = rows_by(separator);
    let mut names = cells(first, separator);
    if names.iter().all(is_name) {
        rows.remove(0);
    } else if let Some(comment) = comment {
        names = cells(comment.trim_ascii_start().strip_prefix(b"#").unwrap_or(comment), separator);
    }
    if names.len() >= 3 && names.iter().all(is_name) {
        let text = suggest_columns(&names, &|i| {
            rows.iter().filter_map(|row| row.get(i).cloned()).collect()
        });
        return text;
    }
    Some(said(&of_values(&rows)?, "what its columns hold"))
}

/// The hint for a table whose columns have these names, of which `values` gives some of one's
/// values; `None`: they suggest nothing.
pub fn suggest_columns(names: &[String], values: &dyn Fn(usize) -> Vec<String>) -> Option<String> {
    of_names(names, values).map(|columns| said(&columns, "the names of its columns"))
}

fn said(columns: &str, from: &str) -> String {
    let mut text = format!("by {from} this may be a table for `--columns {columns}`");
    if columns.contains("UNIT") {
        text += " (UNIT: s, ms, us, 100ns or ns)";
    }
    if columns.contains("READ") {
        text += " (READ and WRITE: its words for them)";
    }
    if columns.contains(":0/1") {
        text += " (if 0 reads)";
    }
    text
}

/// The columns of a table with names; `values` gives those of a column, as far as they are known.
fn of_names(names: &[String], values: &dyn Fn(usize) -> Vec<String>) -> Option<String> {
    let tokens: Vec<Vec<String>> = names.iter().map(|name| tokens(name)).collect();
    let mut taken = vec![false; names.len()];
    let mut found: Vec<(&str, usize)> = Vec::new();
    for alone in [true, false] {
        for (role, whole, part) in NAMES {
            if found.iter().any(|(known, _)| *known == role) {
                continue;
            }
            let fits = |i: &usize| {
                let words = &tokens[*i];
                let other = NOT_ARRIVALS.iter().any(|no| words.iter().any(|w| w == no));
                if taken[*i] || names[*i].contains([',', '=']) || role == "time" && other {
                    return false;
                }
                let rest: Vec<&String> = words.iter().filter(|w| unit_of(w).is_none()).collect();
                if alone {
                    whole.contains(&words.concat().as_str())
                        || rest.len() == 1 && whole.contains(&rest[0].as_str())
                } else {
                    rest.iter().any(|w| part.contains(&w.as_str()))
                }
            };
            if let Some(i) = (0..names.len()).find(fits) {
                taken[i] = true;
                found.push((role, i));
            }
        }
    }
    let place = |role: &str| found.iter().find(|(known, _)| *known == role).map(|(_, i)| *i);
    let (op, offset, size) = (place("op")?, place("offset")?, place("size")?);
    let mut parts = Vec::new();
    if let Some(i) = place("time") {
        let unit = tokens[i].iter().find_map(|word| unit_of(word)).map(str::to_owned);
        let unit = unit.unwrap_or_else(|| unit_of_times(&values(i)));
        parts.push(format!("time={}:{unit}", names[i]));
    }
    parts.push(format!("op={}{}", names[op], codes(&values(op))));
    let sectors = |i: usize| {
        let counts = tokens[i].iter().any(|word| SECTORS.contains(&word.as_str()));
        if counts { ":sectors" } else { "" }
    };
    parts.push(format!("offset={}{}", names[offset], sectors(offset)));
    // No request is smaller than a sector.
    let small = |word: &String| number(word.as_bytes()).is_some_and(|n| n < 512);
    let sizes = values(size);
    let counted = !sizes.is_empty() && sizes.iter().all(small);
    let unit = if counted { ":sectors" } else { sectors(size) };
    parts.push(format!("size={}{unit}", names[size]));
    for role in ["device", "hint"] {
        parts.extend(place(role).map(|i| format!("{role}={}", names[i])));
    }
    Some(parts.join(","))
}

/// The columns of a table without names: one has operations, one has times that ascend, and of two
/// more the greater is the offset.
fn of_values(rows: &[Vec<String>]) -> Option<String> {
    let count = rows.iter().map(Vec::len).min()?;
    let column = |i: usize| rows.iter().map(move |row| row[i].as_str());
    let mut ops = (0..count).filter(|i| {
        column(*i).all(|word| is_operation(word.as_bytes()) && number(word.as_bytes()).is_none())
    });
    let op = ops.next().filter(|_| ops.next().is_none())?;
    let value = |word: &str| numbers::scaled(word.as_bytes(), 0).map(|n| n.value);
    let date = |word: &str| numbers::iso(word.as_bytes()).is_some();
    let numbers: Vec<usize> = (0..count)
        .filter(|i| *i != op && column(*i).all(|word| value(word).is_some() || date(word)))
        .collect();
    let [_, _, ..] = numbers[..] else { return None };
    let times: Vec<usize> = numbers
        .iter()
        .copied()
        .filter(|i| {
            let ascend =
                column(*i).zip(column(*i).skip(1)).all(|(a, b)| match (value(a), value(b)) {
                    (Some(a), Some(b)) => a <= b,
                    _ => a <= b,
                });
            ascend && rows.len() > 1 && column(*i).any(|word| word != rows[0][*i])
        })
        .collect();
    let time = (numbers.len() > 2).then(|| times.first().copied()).flatten();
    let most = |i: usize| column(i).filter_map(value).max().unwrap_or(0);
    let mut rest: Vec<usize> = numbers.into_iter().filter(|i| Some(*i) != time).collect();
    if rest.len() != 2 {
        return None;
    }
    rest.sort_by_key(|i| std::cmp::Reverse(most(*i)));
    let mut parts = Vec::new();
    if let Some(i) = time {
        let all: Vec<String> = column(i).map(str::to_owned).collect();
        parts.push(format!("time={}:{}", i + 1, unit_of_times(&all)));
    }
    parts.push(format!("op={},offset={},size={}", op + 1, rest[0] + 1, rest[1] + 1));
    Some(parts.join(","))
}

/// The words of a name in lower case: `IOSize (bytes)`, `issue_time`.
fn tokens(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn unit_of(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(_, words)| words.contains(&word)).map(|(unit, _)| *unit)
}

/// Determined by dates, by numbers that are dates since 1970, or by fractions.
fn unit_of_times(values: &[String]) -> String {
    let Some(first) = values.first() else { return "UNIT".into() };
    if numbers::iso(first.as_bytes()).is_some() {
        return "iso".into();
    }
    let Some(number) = numbers::scaled(first.as_bytes(), 0) else { return "UNIT".into() };
    let fractions = values.iter().filter_map(|v| numbers::scaled(v.as_bytes(), 0));
    let places = fractions.map(|n| n.places).max().unwrap_or(0);
    match since_1970(number.value) {
        Some(unit) => unit.name().into(),
        None if places >= 6 => "s".into(),
        None => "UNIT".into(),
    }
}

/// How the values of a column spell reads and writes, as `--columns` says it.
fn codes(values: &[String]) -> String {
    let mut words: Vec<&str> = values.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() || words.len() > MOST_CODES {
        return ":READ/WRITE".into();
    }
    if words.iter().all(|word| is_operation(word.as_bytes())) {
        return String::new();
    }
    // READ and WRITE of SCSI with 10, 16, 6 and 12 bytes of command.
    let bare = |word: &str| word.trim_start_matches("0x").to_lowercase();
    let of = |known: &[&str]| -> Vec<&str> {
        words.iter().copied().filter(|word| known.contains(&bare(word).as_str())).collect()
    };
    let (reads, writes) = (of(&["28", "88", "8", "08", "a8"]), of(&["2a", "8a", "a", "0a", "aa"]));
    if !reads.is_empty() && !writes.is_empty() && reads.len() + writes.len() == words.len() {
        return format!(":{}/{}", reads.join("+"), writes.join("+"));
    }
    if words == ["0", "1"] { ":0/1".into() } else { ":READ/WRITE".into() }
}

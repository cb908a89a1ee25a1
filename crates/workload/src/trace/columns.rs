//! The content of each column of a table, as `--columns` gives it: a table in text, or a Parquet
//! file.

use std::fmt;
use std::str::FromStr;

use kernel::Bytes;

use super::options::TimeUnit;
use super::record::SECTOR;
use crate::Op;

/// A file with more columns is not a trace.
pub(crate) const MOST_COLUMNS: usize = 256;
const SYNTAX: &str = "expected such as `time=1:us,op=2,offset=3,size=4:sectors,device=5`, with \
                      numbers or names of columns";

/// The content of each column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    list: Vec<(ColumnPlace, ColumnRole)>,
    /// As it was written.
    text: Box<str>,
}

/// The place of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ColumnPlace {
    /// Its number, from 1 to 256.
    Number(usize),
    /// Its name.
    Name(Box<str>),
}

/// The content of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ColumnRole {
    /// Arrival, in a unit; `None`: the unit is not given.
    Time(Option<Unit>),
    /// The operation of a request, in the table's own words if they are given.
    Op(Option<Spelling>),
    /// The first byte, in units of this number of bytes; `None`: the unit is not given.
    Offset(Option<u64>),
    /// The length, in units of this number of bytes; `None`: the unit is not given.
    Size(Option<u64>),
    /// The device.
    Device,
    /// The process.
    Process,
    /// The hint about the data.
    Hint,
    /// `normal` or `high`; of Parquet files only.
    Prio,
}

/// The unit of a column of times.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Numbers in a unit.
    Of(TimeUnit),
    /// Dates with a time of day, as ISO 8601 has them.
    Iso,
}

impl ColumnRole {
    /// As it is written.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Time(_) => "time",
            Self::Op(_) => "op",
            Self::Offset(_) => "offset",
            Self::Size(_) => "size",
            Self::Device => "device",
            Self::Process => "process",
            Self::Hint => "hint",
            Self::Prio => "prio",
        }
    }
}

impl fmt::Display for ColumnPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Operations in the order in which they are spelled.
const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];

/// How a table spells its operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spelling {
    words: Vec<(Box<[u8]>, Op)>,
    text: Box<str>,
}

impl Spelling {
    /// The operation of a word.
    #[inline]
    pub(crate) fn op(&self, word: &[u8]) -> Option<Op> {
        self.words.iter().find(|(known, _)| **known == *word).map(|(_, op)| *op)
    }

    /// Its words, each with the number of its operation: read, write, trim, flush, write with FUA.
    pub fn words(&self) -> impl Iterator<Item = (String, usize)> {
        let code = |op: Op| OPS.iter().position(|known| *known == op).expect("one of five");
        self.words.iter().map(move |(word, op)| (String::from_utf8_lossy(word).into(), code(*op)))
    }
}

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `0/1`, `r/w/t` or `1+2/3`: the words for read, write and, if there are any, trim, flush and
/// write with FUA. Several words for one operation have a `+` between them.
impl FromStr for Spelling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kinds: Vec<&str> = text.split('/').collect();
        if !(2..=OPS.len()).contains(&kinds.len()) {
            return Err("expected such as `op=2:0/1`".into());
        }
        let mut words: Vec<(Box<[u8]>, Op)> = Vec::new();
        for (i, (kind, op)) in kinds.into_iter().zip(OPS).enumerate() {
            // A table may lack some operations, but not reads and writes.
            if kind.is_empty() && i > 1 {
                continue;
            }
            for word in kind.split('+') {
                let word = word.as_bytes();
                if word.is_empty() || words.iter().any(|(known, _)| **known == *word) {
                    return Err("the words must differ, and reads and writes have one".into());
                }
                words.push((word.into(), op));
            }
        }
        Ok(Self { words, text: text.into() })
    }
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut list: Vec<(ColumnPlace, ColumnRole)> = Vec::new();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| format!("`{part}` in the columns has no `=`; {SYNTAX}"))?;
            let (place, role) = one(key, value)
                .map_err(|what| format!("`{part}` in the columns: {what}; {SYNTAX}"))?;
            if list.iter().any(|(_, other)| other.key() == key) {
                return Err(format!("`{key}` stands in the columns twice; {SYNTAX}"));
            }
            if list.iter().any(|(other, _)| *other == place) {
                let what = "this column is taken already";
                return Err(format!("`{part}` in the columns: {what}; {SYNTAX}"));
            }
            list.push((place, role));
        }
        for key in ["op", "offset", "size"] {
            if !list.iter().any(|(_, role)| role.key() == key) {
                return Err(format!("the columns have no `{key}`; {SYNTAX}"));
            }
        }
        Ok(Self { list, text: text.into() })
    }
}

/// One part, such as `size=5:sectors`. The text after the last colon of a name belongs to the
/// name, if it is nothing else.
fn one(key: &str, value: &str) -> Result<(ColumnPlace, ColumnRole), String> {
    let (name, detail) = match value.rsplit_once(':') {
        Some((name, detail)) if !name.is_empty() => (name, Some(detail)),
        _ => (value, None),
    };
    let role = role(key, detail);
    match (place(name), role, detail) {
        (Err(what), ..) => Err(what),
        (Ok(place), Ok(role), _) => Ok((place, role)),
        (Ok(ColumnPlace::Name(_)), Err(_), Some(detail)) if !detail.contains('/') => {
            Ok((place(value)?, self::role(key, None)?))
        }
        (_, Err(what), _) => Err(what),
    }
}

fn place(text: &str) -> Result<ColumnPlace, String> {
    if text.is_empty() {
        return Err("no column is named".into());
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(ColumnPlace::Name(text.into()));
    }
    match text.parse() {
        Ok(number @ 1..=MOST_COLUMNS) => Ok(ColumnPlace::Number(number)),
        _ => Err("the number of a column is from 1 to 256".into()),
    }
}

fn role(key: &str, detail: Option<&str>) -> Result<ColumnRole, String> {
    Ok(match (key, detail) {
        ("time", unit) => ColumnRole::Time(unit.map(unit_of_times).transpose()?),
        ("op", words) => ColumnRole::Op(words.map(str::parse).transpose()?),
        ("offset", unit) => ColumnRole::Offset(unit.map(bytes).transpose()?),
        ("size", unit) => ColumnRole::Size(unit.map(bytes).transpose()?),
        ("device" | "process" | "hint" | "prio", Some(_)) => {
            return Err("a device, a process, a hint or a priority has no unit".into());
        }
        ("device", None) => ColumnRole::Device,
        ("process", None) => ColumnRole::Process,
        ("hint", None) => ColumnRole::Hint,
        ("prio", None) => ColumnRole::Prio,
        _ => {
            let known = "time, op, offset, size, device, process, hint and prio";
            return Err(format!("`{key}` is not one of {known}"));
        }
    })
}

fn unit_of_times(text: &str) -> Result<Unit, String> {
    if text == "iso" { Ok(Unit::Iso) } else { text.parse().map(Unit::Of) }
}

/// `bytes`, `sectors` or a size such as `4KiB`.
fn bytes(text: &str) -> Result<u64, String> {
    match text {
        "bytes" => Ok(1),
        "sectors" => Ok(SECTOR),
        _ => match text.parse::<Bytes>() {
            Ok(size) if size.get() > 0 => Ok(size.get()),
            Ok(_) => Err("a unit is at least a byte".into()),
            Err(what) => Err(format!("known are bytes, sectors and sizes such as 4KiB ({what})")),
        },
    }
}

impl Columns {
    /// Every column that is named, with its content.
    pub fn list(&self) -> &[(ColumnPlace, ColumnRole)] {
        &self.list
    }

    fn has(&self, key: &str) -> bool {
        self.list.iter().any(|(_, role)| role.key() == key)
    }

    pub(crate) fn has_device(&self) -> bool {
        self.has("device")
    }

    pub(crate) fn has_process(&self) -> bool {
        self.has("process")
    }

    pub(crate) fn has_time(&self) -> bool {
        self.has("time")
    }

    pub(crate) fn has_prio(&self) -> bool {
        self.has("prio")
    }

    /// The unit of the times that is given here.
    pub(crate) fn unit(&self) -> Option<Unit> {
        self.list.iter().find_map(|(_, role)| match role {
            ColumnRole::Time(unit) => *unit,
            _ => None,
        })
    }

    /// A mistake in the unit of the time column, which is given once: here or on its own.
    pub(crate) fn time_fault(&self, unit: Option<TimeUnit>) -> Option<&'static str> {
        match (self.has_time(), self.unit(), unit) {
            (true, None, None) => Some("the time has no unit"),
            (true, Some(a), Some(b)) if a != Unit::Of(b) => Some("the time has two units"),
            (false, _, Some(_)) => Some("a unit is given and no column has the time"),
            _ => None,
        }
    }
}

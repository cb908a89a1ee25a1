//! `csv`, any table of requests: which column holds what is said with `--columns`.
//!
//! ```text
//! --columns time=1:us,op=2,offset=3:bytes,size=4:sectors,device=5
//!
//! when;what;where;sectors;disk
//! 1000;R;4096;8;sda
//! ```
//!
//! Columns are counted from 1; commas, semicolons, tabs or blanks stand between them, whichever
//! cuts the first line into enough of them. A first line of names is passed over. Operations are
//! words (`r`, `read`, `w`, `write`, `t`, `trim`, `d`, `discard`, `unmap`, `f`, `flush`, `wf`,
//! `write-fua`, in any case), unless `op=2:0/1` says how read, write and, if there are such, trim,
//! flush and write with FUA are spelled. A flush has a size of 0 or none, and what stands in its column
//! of offsets means nothing. Without `time` the requests have no times.

use std::fmt;
use std::str::FromStr;

use super::fields::{BLANK, COMMA, Column, Fault, Fields};
use super::names::Names;
use super::options::{ReadOptions, TimeUnit};
use super::record::{Parser, Raw, SECTOR, extent};
use super::select::Processes;
use crate::Op;

const HINT: &str = "`--columns` says which column holds what";

const TIME: Column = Column { name: "the time", expected: "a number", hint: HINT };
const OPERATION: Column = Column {
    name: "the operation",
    expected: "a word for read, write, trim, flush or write-fua",
    hint: "`--columns op=2:0/1` says that 0 reads and 1 writes",
};
const OFFSET: Column = Column { name: "the offset", expected: "a whole number", hint: HINT };
const SIZE: Column = Column { name: "the size", expected: "a whole number", hint: HINT };
const PROCESS: Column = Column { name: "the process", expected: "a number or a name", hint: HINT };
const DEVICE: Column = Column { name: "the device", expected: "a number or a name", hint: HINT };

/// A file with more columns is no trace.
const MOST_COLUMNS: usize = 256;
/// Devices with names are numbered from here on, behind those with numbers.
const NAMED: u32 = 1 << 31;
const SEPARATORS: [u8; 4] = [COMMA, b';', b'\t', BLANK];
const SYNTAX: &str = "expected such as `time=1:us,op=2,offset=3,size=4:sectors,device=5`";

/// Which column of a table holds what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    /// What each column holds, up to the last that is needed.
    roles: Vec<Role>,
    unit: Option<TimeUnit>,
    /// The words for [`OPS`], where they are not the usual ones; empty: there is none.
    spelling: Option<[Box<[u8]>; 5]>,
    /// As it was written.
    text: Box<str>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Role {
    Other,
    Time,
    Op,
    /// Times so many bytes.
    Offset(u64),
    /// Times so many bytes.
    Size(u64),
    Device,
    Process,
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut columns = Self { roles: Vec::new(), unit: None, spelling: None, text: text.into() };
        let mut keys = Vec::new();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` in the columns has no `=`; {SYNTAX}"))?;
            if keys.contains(&key) {
                return Err(format!("`{key}` stands in the columns twice; {SYNTAX}"));
            }
            keys.push(key);
            columns.add(part, key, value)?;
        }
        for key in ["op", "offset", "size"] {
            if !keys.contains(&key) {
                return Err(format!("the columns have no `{key}`; {SYNTAX}"));
            }
        }
        Ok(columns)
    }
}

impl Columns {
    /// One part, such as `size=5:sectors`.
    fn add(&mut self, part: &str, key: &str, value: &str) -> Result<(), String> {
        let (number, detail) = match value.split_once(':') {
            Some((number, detail)) => (number, Some(detail)),
            None => (value, None),
        };
        let wrong = |what: &str| Err(format!("`{part}` in the columns: {what}; {SYNTAX}"));
        let Ok(number @ 1..=MOST_COLUMNS) = number.parse() else {
            return wrong("a column is a number from 1 to 256");
        };
        let scale = || match detail {
            None | Some("bytes") => Ok(1),
            Some("sectors") => Ok(SECTOR),
            Some(_) => wrong("known are bytes and sectors").map(|()| 0),
        };
        let role = match (key, detail) {
            ("time", unit) => {
                self.unit = unit.map(str::parse).transpose()?;
                Role::Time
            }
            ("op", words) => {
                self.spelling = words.map(spelling).transpose()?;
                Role::Op
            }
            ("offset", _) => Role::Offset(scale()?),
            ("size", _) => Role::Size(scale()?),
            ("device", None) => Role::Device,
            ("process", None) => Role::Process,
            ("device" | "process", Some(_)) => return wrong("a device or a process has no unit"),
            _ => return wrong("known are time, op, offset, size, device and process"),
        };
        if self.roles.len() < number {
            self.roles.resize(number, Role::Other);
        }
        if self.roles[number - 1] != Role::Other {
            return wrong("this column is taken already");
        }
        self.roles[number - 1] = role;
        Ok(())
    }

    pub(crate) fn has_device(&self) -> bool {
        self.roles.contains(&Role::Device)
    }

    pub(crate) fn has_process(&self) -> bool {
        self.roles.contains(&Role::Process)
    }

    fn has_time(&self) -> bool {
        self.roles.contains(&Role::Time)
    }

    /// What is wrong with the unit of the time column, which is said once: here or on its own.
    pub(crate) fn time_fault(&self, unit: Option<TimeUnit>) -> Option<&'static str> {
        match (self.has_time(), self.unit, unit) {
            (true, None, None) => Some("the time has no unit"),
            (true, Some(a), Some(b)) if a != b => Some("the time has two units"),
            (false, _, Some(_)) => Some("a unit is given and no column has the time"),
            _ => None,
        }
    }
}

/// The operations in the order in which they are spelled.
const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];

/// `0/1` or `r/w/t`: how read, write, trim, flush and write with FUA are spelled.
fn spelling(text: &str) -> Result<[Box<[u8]>; 5], String> {
    let words: Vec<&str> = text.split('/').collect();
    if !(2..=OPS.len()).contains(&words.len()) {
        return Err(format!("`op:{text}` in the columns; expected such as `op=2:0/1`"));
    }
    let twice = |(i, word): (usize, &&str)| {
        // A table may be without some operation, but reads and writes.
        if word.is_empty() { i < 2 } else { words[..i].contains(word) }
    };
    if words.iter().enumerate().any(twice) {
        return Err(format!("`op:{text}` in the columns: the words must differ"));
    }
    let word = |i: usize| words.get(i).map_or("", |word| *word).as_bytes().into();
    Ok([0, 1, 2, 3, 4].map(word))
}

pub(crate) struct Csv {
    columns: Columns,
    power: u32,
    /// `None` until the first line was read.
    separator: Option<u8>,
    names: Names,
    processes: Processes,
}

impl Csv {
    fn read<const SEPARATOR: u8>(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<SEPARATOR>::new(line);
        let (mut time, mut offset, mut size, mut device, mut op) = (0, None, None, 0, Op::Read);
        let mut process: &[u8] = b"";
        for role in &self.columns.roles {
            match *role {
                Role::Other => drop(fields.word()),
                Role::Time => time = fields.decimal(self.power, &TIME)?,
                Role::Offset(unit) => {
                    offset = fields.integer_if_any(&OFFSET)?.map(|n| n.checked_mul(unit));
                }
                Role::Size(unit) => {
                    size = fields.integer_if_any(&SIZE)?.map(|n| n.checked_mul(unit));
                }
                Role::Op => {
                    let known = operation(fields.word(), self.columns.spelling.as_ref());
                    op = known.ok_or_else(|| fields.fault(&OPERATION))?;
                }
                Role::Device => match fields.word() {
                    b"" => return Err(fields.fault(&DEVICE)),
                    word => device = number(word, &mut self.names)?,
                },
                Role::Process => match fields.word() {
                    b"" => return Err(fields.fault(&PROCESS)),
                    word => process = word,
                },
            }
        }
        if self.processes.matter() {
            if !self.processes.takes(process, None, true) {
                return Ok(None);
            }
            self.processes.note(process, 0)?;
        }
        if op == Op::Flush {
            return match size {
                None | Some(Some(0)) => Ok(Some(Raw::flush(time, device))),
                Some(_) => Err(large_flush()),
            };
        }
        let (Some(offset), Some(size)) = (offset, size) else {
            return Err(self.missing::<SEPARATOR>(line));
        };
        let (offset, len) = extent(&fields, op, offset, size)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    /// Where a row without an offset or a size lacks it.
    #[cold]
    fn missing<const SEPARATOR: u8>(&self, line: &[u8]) -> Box<Fault> {
        let mut fields = Fields::<SEPARATOR>::new(line);
        let mut look = |role: &Role| match role {
            Role::Offset(_) => fields.integer(&OFFSET).err(),
            Role::Size(_) => fields.integer(&SIZE).err(),
            _ => {
                fields.word();
                None
            }
        };
        self.columns.roles.iter().find_map(&mut look).expect("a column is empty")
    }

    fn split(&mut self, separator: u8, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        match separator {
            COMMA => self.read::<COMMA>(line),
            b';' => self.read::<b';'>(line),
            b'\t' => self.read::<b'\t'>(line),
            _ => self.read::<BLANK>(line),
        }
    }

    /// The first line tells the separator; names in it are a heading.
    #[cold]
    fn first(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let wanted = self.columns.roles.len();
        let cut = |separator| pieces(line, separator).count() >= wanted;
        let Some(separator) = SEPARATORS.into_iter().find(|s| cut(*s)) else {
            let found = format!("fewer than {wanted} columns");
            let expected = "columns between commas, semicolons, tabs or blanks";
            return Err(Fault::whole(found, expected, HINT));
        };
        self.separator = Some(separator);
        let is_name =
            |piece: &[u8]| piece.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'"');
        let mut numbers = pieces(line, separator)
            .zip(&self.columns.roles)
            .filter(|(_, role)| matches!(role, Role::Time | Role::Offset(_) | Role::Size(_)));
        if numbers.all(|(piece, _)| is_name(piece)) {
            return Ok(None);
        }
        self.split(separator, line)
    }
}

/// The fields of the first line.
fn pieces(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let blank = separator == BLANK;
    line.split(move |&b| b == separator || blank && b == b'\t')
        .map(<[u8]>::trim_ascii)
        .filter(move |piece| !blank || !piece.is_empty())
}

#[inline]
fn operation(word: &[u8], spelling: Option<&[Box<[u8]>; 5]>) -> Option<Op> {
    const WORDS: [(&[u8], Op); 13] = [
        (b"r", Op::Read),
        (b"w", Op::Write),
        (b"read", Op::Read),
        (b"write", Op::Write),
        (b"t", Op::Trim),
        (b"d", Op::Trim),
        (b"trim", Op::Trim),
        (b"discard", Op::Trim),
        (b"unmap", Op::Trim),
        (b"f", Op::Flush),
        (b"flush", Op::Flush),
        (b"wf", Op::WriteFua),
        (b"write-fua", Op::WriteFua),
    ];
    match spelling {
        _ if word.is_empty() => None,
        Some(words) => words.iter().position(|w| **w == *word).map(|i| OPS[i]),
        None => WORDS.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|w| w.1),
    }
}

#[cold]
fn large_flush() -> Box<Fault> {
    let expected = "a flush of size 0, or without a size";
    Fault::whole("a flush with a size".into(), expected, HINT)
}

/// A device that is a number keeps it; names are numbered.
#[inline]
fn number(word: &[u8], names: &mut Names) -> Result<u32, Box<Fault>> {
    if word.len() <= 9 && word.iter().all(u8::is_ascii_digit) {
        return Ok(word.iter().fold(0, |n, b| n * 10 + u32::from(b - b'0')));
    }
    names.number(word).map(|number| NAMED | number)
}

impl Parser for Csv {
    const NAME: &str = "csv";
    const SUMMARY: &str = "columns of your own, named with --columns";
    const DEVICES: bool = true;
    const PROCESSES: bool = true;

    fn new(options: &ReadOptions) -> Self {
        let columns = options.columns.clone().expect("the format csv comes with columns");
        let unit = options.time_unit.or(columns.unit);
        let power = unit.map_or(0, TimeUnit::power);
        let processes = Processes::new(options);
        Self { columns, power, separator: None, names: Names::default(), processes }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        if line[0] == b'#' {
            return Ok(None);
        }
        match self.separator {
            Some(separator) => self.split(separator, line),
            None => self.first(line),
        }
    }

    fn label(&self, device: u32) -> String {
        if device < NAMED { device.to_string() } else { self.names.name(device & !NAMED) }
    }

    #[inline(always)]
    fn processes(&self) -> Option<&Processes> {
        Some(&self.processes)
    }

    fn timed(&self) -> bool {
        self.columns.has_time()
    }
}

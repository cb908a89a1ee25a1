//! `csv`, any table of requests, with the columns that `--columns` names.
//!
//! ```text
//! --columns time=1:us,op=2,offset=3:bytes,size=4:sectors,device=5,hint=6
//!
//! when;what;where;sectors;disk;hint
//! 1000;W;4096;8;sda;3
//! ```
//!
//! Columns are counted from 1, or named as in the first line. They are separated by commas,
//! semicolons, tabs or blanks, of which the one that cuts the first line into enough columns is
//! used. A first line of names is skipped.
//!
//! Operations are words (`r`, `read`, `w`, `write`, `t`, `trim`, `d`, `discard`, `unmap`, `f`,
//! `flush`, `wf`, `write-fua`, in any case) or the letters of the Linux kernel (`RA`, `WS`).
//! `op=2:0/1` gives other words for read, write and, if there are such, trim, flush and write with
//! FUA. A flush has a size of 0 or none, and its offset and hint are ignored. Without `time` the
//! requests have no times. Without a hint a row has 0.

use super::clock::TraceClock;
use super::columns::{ColumnPlace, ColumnRole as Said, Columns, MOST_COLUMNS, Spelling, Unit};
use super::fields::{BLANK, COMMA, Fault, FieldName, Fields};
use super::letters::{self, LetterKind};
use super::names::Names;
use super::options::{ReadOptions, TimeUnit};
use super::quotes;
use super::record::{Doubt, Parser, Raw, SECTOR, extent};
use super::select::Processes;
use crate::Op;
use kernel::Hint;

const HINT: &str = "`--columns` says which column holds what";

const TIME: FieldName =
    FieldName { name: "the time", expected: "a number, or a date with a time of day", hint: HINT };
const OPERATION: FieldName = FieldName {
    name: "the operation",
    expected: "a word for read, write, trim, flush or write-fua, or the letters of the Linux kernel",
    hint: HINT,
};
const OFFSET: FieldName = FieldName { name: "the offset", expected: "a whole number", hint: HINT };
const SIZE: FieldName = FieldName { name: "the size", expected: "a whole number", hint: HINT };
const PROCESS: FieldName =
    FieldName { name: "the process", expected: "a number or a name", hint: HINT };
const DEVICE: FieldName =
    FieldName { name: "the device", expected: "a number or a name", hint: HINT };
const DATA_HINT: FieldName = FieldName {
    name: "the hint",
    expected: "a whole number from 0 to 255, or nothing: 0 means without a hint",
    hint: HINT,
};

/// Devices with names are numbered from here on, behind those with numbers.
const NAMED: u32 = 1 << 31;
const SEPARATORS: [u8; 4] = [COMMA, b';', b'\t', BLANK];
/// The most names of columns that are shown.
const NAMES_SHOWN: usize = 20;

/// The content of each column, in order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum ColumnRole {
    Other,
    Time,
    /// The same, and no needed column follows.
    LastTime,
    Op,
    /// Times this number of bytes.
    Offset(u64),
    /// Times this number of bytes.
    Size(u64),
    Device,
    Process,
    Hint,
}

impl ColumnRole {
    fn of(said: &Said) -> Self {
        match said {
            Said::Time(_) => Self::Time,
            Said::Op(_) => Self::Op,
            Said::Offset(unit) => Self::Offset(unit.unwrap_or(1)),
            Said::Size(unit) => Self::Size(unit.unwrap_or(1)),
            Said::Device => Self::Device,
            Said::Process => Self::Process,
            Said::Hint => Self::Hint,
            Said::Prio => Self::Other,
        }
    }
}

pub(crate) struct Csv {
    columns: Columns,
    /// The content of each column, up to the last that is needed; empty until names were found.
    roles: Vec<ColumnRole>,
    spelling: Option<Spelling>,
    clock: TraceClock,
    /// Whether the row read last is a flush, followed by its own operation.
    flush_first: bool,
    /// The hint of the row read last.
    hint: Hint,
    /// Whether the user gave no unit for offsets or sizes.
    unsaid: bool,
    /// The bits that are set in any size.
    sizes: u64,
    largest: u64,
    /// The first offset that is not a multiple of a sector.
    odd_offset: Option<u64>,
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
        (self.flush_first, self.hint) = (false, 0);
        for role in &self.roles {
            match *role {
                ColumnRole::Other => drop(fields.word()),
                ColumnRole::Time => time = self.clock.read(&mut fields, &TIME)?,
                ColumnRole::LastTime => time = self.clock.read_last(&mut fields, &TIME)?,
                ColumnRole::Offset(unit) => {
                    offset = fields.integer_if_any(&OFFSET)?.map(|n| n.checked_mul(unit));
                }
                ColumnRole::Size(unit) => {
                    size = fields.integer_if_any(&SIZE)?.map(|n| n.checked_mul(unit));
                }
                ColumnRole::Op => match operation(fields.word(), self.spelling.as_ref()) {
                    Some(LetterKind::Request(known) | LetterKind::Append(known)) => op = known,
                    Some(LetterKind::FlushAnd(known)) => (self.flush_first, op) = (true, known),
                    Some(LetterKind::Zone | LetterKind::Other) => return Ok(None),
                    None => {
                        let fault = fields.fault(&OPERATION);
                        return Err(self.known_words(fault));
                    }
                },
                ColumnRole::Device => match fields.word() {
                    b"" => return Err(fields.fault(&DEVICE)),
                    word => device = number(word, &mut self.names)?,
                },
                ColumnRole::Process => match fields.word() {
                    b"" => return Err(fields.fault(&PROCESS)),
                    word => process = word,
                },
                ColumnRole::Hint => {
                    let hint = Hint::try_from(fields.integer_if_any(&DATA_HINT)?.unwrap_or(0));
                    self.hint = hint.map_err(|_| fields.fault(&DATA_HINT))?;
                }
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
        if self.unsaid {
            self.sizes |= len;
            self.largest = self.largest.max(len);
            if self.odd_offset.is_none() && !offset.is_multiple_of(SECTOR) {
                self.odd_offset = Some(offset);
            }
        }
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    /// The rule for a word of the operations.
    #[cold]
    fn known_words(&self, mut fault: Box<Fault>) -> Box<Fault> {
        let place = self.place("op");
        match &self.spelling {
            Some(spelling) => {
                fault.expected = format!("one of the words of `op={place}:{spelling}`").into();
                fault.hint =
                    "several words of one operation stand around a `+`: `op=2:0+1/2`".into();
            }
            None => {
                fault.hint =
                    format!("`--columns op={place}:0/1` says that 0 reads and 1 writes").into();
            }
        }
        fault
    }

    /// The place of a column that the user gave.
    fn place(&self, key: &str) -> String {
        let found = self.columns.list().iter().find(|(_, role)| role.key() == key);
        found.map_or_else(String::new, |(place, _)| place.to_string())
    }

    /// The place of a missing offset or size in a row.
    #[cold]
    fn missing<const SEPARATOR: u8>(&self, line: &[u8]) -> Box<Fault> {
        let mut fields = Fields::<SEPARATOR>::new(line);
        let mut look = |role: &ColumnRole| match role {
            ColumnRole::Offset(_) => fields.integer(&OFFSET).err(),
            ColumnRole::Size(_) => fields.integer(&SIZE).err(),
            _ => {
                fields.word();
                None
            }
        };
        self.roles.iter().find_map(&mut look).expect("a column is empty")
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
        let comment = line[0] == b'#';
        if self.roles.is_empty() {
            let heading = line.strip_prefix(b"#").unwrap_or(line);
            return match self.find_names(heading) {
                Err(_) if comment => Ok(None),
                found => found.map(|()| None),
            };
        }
        if comment {
            return Ok(None);
        }
        let wanted = self.roles.len();
        let cut = |separator| pieces(line, separator).count() >= wanted;
        let mut separators = SEPARATORS.into_iter().filter(|separator| cut(*separator));
        let Some(mut separator) = separators.next() else {
            let found = format!("fewer than {wanted} columns");
            let expected = "columns between commas, semicolons, tabs or blanks";
            return Err(Fault::whole(found, expected, HINT));
        };
        // Among several, the one by which the line can be read.
        for other in separators {
            if self.split(separator, line).is_err() && self.split(other, line).is_ok() {
                separator = other;
            }
            self.names = Names::default();
        }
        self.separator = Some(separator);
        let is_name = |piece: &[u8]| {
            piece.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'"' | b'_'))
        };
        let mut numbers = pieces(line, separator).zip(&self.roles).filter(|(_, role)| {
            matches!(
                role,
                ColumnRole::Time
                    | ColumnRole::LastTime
                    | ColumnRole::Offset(_)
                    | ColumnRole::Size(_)
            )
        });
        if numbers.all(|(piece, _)| is_name(piece)) {
            if pieces(line, separator).count() > wanted {
                self.time_is_not_cut();
            }
            return Ok(None);
        }
        self.split(separator, line)
    }

    /// Finds the columns that are named in the line of names.
    fn find_names(&mut self, line: &[u8]) -> Result<(), Box<Fault>> {
        let list = self.columns.list().to_vec();
        let named = |separator: u8| -> Vec<String> {
            let names = pieces(line, separator).map(quotes::restored);
            names.map(|name| String::from_utf8_lossy(&name).trim().to_owned()).collect()
        };
        let missing = |names: &[String]| -> Vec<String> {
            let absent = |place: &&ColumnPlace| match place {
                ColumnPlace::Name(name) => !names.iter().any(|n| **n == **name),
                ColumnPlace::Number(number) => *number > names.len(),
            };
            list.iter().map(|(place, _)| place).filter(absent).map(ToString::to_string).collect()
        };
        let best = SEPARATORS.into_iter().min_by_key(|s| missing(&named(*s)).len());
        let separator = best.expect("there are four");
        let names = named(separator);
        if let [first, ..] = &missing(&names)[..] {
            let known: Vec<_> = names.iter().take(NAMES_SHOWN).map(|n| format!("`{n}`")).collect();
            let hint = kernel::nearest(first, names.iter().map(String::as_str));
            let hint = hint.map_or_else(|| HINT.into(), |near| format!("did you mean `{near}`?"));
            let found = format!("there is no column `{first}` in the first line");
            return Err(Fault::whole(found, format!("one of {}", known.join(", ")), hint));
        }
        let number = |place: &ColumnPlace| match place {
            ColumnPlace::Number(number) => *number,
            ColumnPlace::Name(name) => {
                1 + names.iter().position(|n| **n == **name).expect("none is missing")
            }
        };
        let places: Vec<(usize, ColumnRole)> =
            list.iter().map(|(place, role)| (number(place), ColumnRole::of(role))).collect();
        for (i, (number, _)) in places.iter().enumerate() {
            if places[..i].iter().any(|(other, _)| other == number) {
                let found = format!("column {number} is named twice in `--columns`");
                return Err(Fault::whole(found, "a column for each", HINT));
            }
        }
        if places.iter().any(|(number, _)| *number > MOST_COLUMNS) {
            let found = format!("{} columns", names.len());
            return Err(Fault::whole(found, "at most 256 columns", HINT));
        }
        self.roles = in_order(&places);
        self.separator = Some(separator);
        if names.len() > self.roles.len() {
            self.time_is_not_cut();
        }
        Ok(())
    }

    /// Notes that the columns after the last needed one have names, so they are not fractions of
    /// times.
    fn time_is_not_cut(&mut self) {
        let last = self.roles.last_mut().expect("there are columns");
        if *last == ColumnRole::LastTime {
            *last = ColumnRole::Time;
        }
    }
}

/// The content of each column, up to the last that is needed.
fn in_order(places: &[(usize, ColumnRole)]) -> Vec<ColumnRole> {
    let count = places.iter().map(|(number, _)| *number).max().unwrap_or(0);
    let mut roles = vec![ColumnRole::Other; count];
    for (number, role) in places {
        roles[number - 1] = *role;
    }
    if let Some(last) = roles.last_mut().filter(|role| **role == ColumnRole::Time) {
        *last = ColumnRole::LastTime;
    }
    roles
}

/// The fields of the first line.
fn pieces(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let blank = separator == BLANK;
    line.split(move |&b| b == separator || blank && b == b'\t')
        .map(<[u8]>::trim_ascii)
        .filter(move |piece| !blank || !piece.is_empty())
}

#[inline]
fn operation(word: &[u8], spelling: Option<&Spelling>) -> Option<LetterKind> {
    match spelling {
        Some(spelling) => spelling.op(word).map(LetterKind::Request),
        None => match word {
            b"R" => Some(LetterKind::Request(Op::Read)),
            b"W" => Some(LetterKind::Request(Op::Write)),
            _ => usual(word),
        },
    }
}

fn usual(word: &[u8]) -> Option<LetterKind> {
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
    let known = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
    known.map(|(_, op)| LetterKind::Request(*op)).or_else(|| letters::word(word))
}

/// Whether a word is one of the operations that every table may have.
pub(super) fn is_operation(word: &[u8]) -> bool {
    usual(word).is_some()
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
        let unit = match columns.unit() {
            Some(Unit::Of(unit)) => unit,
            _ => options.time_unit.unwrap_or(TimeUnit::Ns),
        };
        let (mut places, mut spelling, mut unsaid) = (Some(Vec::new()), None, false);
        for (place, role) in columns.list() {
            match place {
                ColumnPlace::Number(number) => {
                    if let Some(all) = &mut places {
                        all.push((*number, ColumnRole::of(role)));
                    }
                }
                ColumnPlace::Name(_) => places = None,
            }
            match role {
                Said::Op(words) => spelling.clone_from(words),
                Said::Offset(None) | Said::Size(None) => unsaid = true,
                _ => {}
            }
        }
        Self {
            roles: places.map_or_else(Vec::new, |places| in_order(&places)),
            spelling,
            clock: TraceClock::whole(options, unit),
            flush_first: false,
            hint: 0,
            unsaid,
            sizes: 0,
            largest: 0,
            odd_offset: None,
            columns,
            separator: None,
            names: Names::default(),
            processes: Processes::new(options),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        match self.separator {
            Some(_) if line[0] == b'#' => Ok(None),
            Some(separator) => self.split(separator, line),
            None => self.first(line),
        }
    }

    #[inline(always)]
    fn flush_first(&self) -> bool {
        self.flush_first
    }

    #[inline(always)]
    fn hint(&self) -> Hint {
        self.hint
    }

    fn separator(&self) -> Option<u8> {
        self.separator
    }

    /// If columns are named, the first line is read instead of skipped.
    fn may_have_names(&self) -> bool {
        !self.roles.is_empty()
    }

    fn clock(&self) -> Option<&TraceClock> {
        self.columns.has_time().then_some(&self.clock)
    }

    fn doubt(&self) -> Option<Doubt> {
        let unsaid = |key: &'static str| {
            let role = self.columns.list().iter().find(|(_, role)| role.key() == key);
            matches!(role, Some((_, Said::Offset(None) | Said::Size(None)))).then_some(key)
        };
        let ask = |key: &str, found: String, expected: &'static str| {
            let place = self.place(key);
            let hint = format!(
                "`{key}={place}:sectors` if they count blocks of 512 bytes, `{key}={place}:4KiB` of \
                 that size, `{key}={place}:bytes` if they count bytes"
            );
            Some(Doubt { found, expected, hint })
        };
        if let Some(key) = unsaid("size").filter(|_| self.largest > 0 && self.largest < SECTOR) {
            let found = format!("no size is above {}, and the unit is not said", self.largest);
            return ask(key, found, "the unit of the sizes");
        }
        let odd = self.odd_offset.filter(|_| self.sizes.is_multiple_of(SECTOR));
        if let (Some(key), Some(offset)) = (unsaid("offset"), odd) {
            let found = format!(
                "offsets such as {offset} are not multiples of 512, every size is one, and the unit \
                 is not said"
            );
            return ask(key, found, "the unit of the offsets");
        }
        None
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

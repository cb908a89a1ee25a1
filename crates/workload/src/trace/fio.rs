//! `fio`, the log that fio writes with `write_iolog` and replays with `read_iolog`: file, action,
//! offset and length in bytes; in version 3 behind a time in microseconds.
//!
//! ```text
//! fio version 3 iolog
//! 2 /dev/nvme0n1 add
//! 872 /dev/nvme0n1 open
//! 878 /dev/nvme0n1 write 16384 4096
//! 10001677 /dev/nvme0n1 close
//! ```
//!
//! The format is that of "Trace file format" in fio's HOWTO, and of `log_io_u` in its `iolog.c`.
//! Files are devices, and a file must be added before it is used. Version 2 has times only from its
//! `wait` lines, each a number of microseconds after the one before. (fio drops waits below 100 us;
//! here each counts.)
//!
//! `sync`, `datasync` and `syncfs` end with a flush of the drive's cache, and count as one here.
//! Their offset and length are ignored. `sync_file_range` only sends the system's data, as writes.
//! Its manual page says that it flushes no disk's cache, so it is not a request.

use super::clock::TraceClock;
use super::fields::{BLANK, Fault, FieldName, Fields, number, shown};
use super::names::Names;
use super::options::{ReadOptions, TimeUnit};
use super::reader::Regions;
use super::record::{Parser, Raw, extent};
use crate::Op;

const HEADING: &[u8] = b"fio version ";
const LINES: &str = "lines are `FILE ACTION OFFSET LENGTH`, with a time in front in version 3";

const TIME: FieldName =
    FieldName { name: "the time", expected: "a number of microseconds", hint: LINES };
const FILE: FieldName = FieldName {
    name: "the file",
    expected: "a file that was added",
    hint: "a line `FILE add` comes before the first use",
};
const ACTION: FieldName = FieldName {
    name: "the action",
    expected: "`read`, `write`, `trim`, `sync`, `datasync`, `syncfs`, `wait`, `add`, `open` or `close`",
    hint: LINES,
};
const OFFSET: FieldName =
    FieldName { name: "the offset", expected: "a number of bytes", hint: LINES };
const LENGTH: FieldName =
    FieldName { name: "the length", expected: "a number of bytes", hint: LINES };
const WAIT: FieldName =
    FieldName { name: "the wait", expected: "a number of microseconds", hint: LINES };

pub(crate) struct Fio {
    clock: TraceClock,
    /// `None` until the first line was read.
    version: Option<Version>,
    /// A version that came after the known ones.
    newer: Option<u64>,
    files: Names,
    /// Version 2: the sum of all waits so far, in nanoseconds.
    now: u64,
}

#[derive(Copy, Clone, PartialEq)]
enum Version {
    Two,
    Three,
}

impl Fio {
    /// The first line.
    #[cold]
    fn heading(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let text = line.trim_ascii();
        let version = text.strip_prefix(HEADING).and_then(|rest| rest.strip_suffix(b" iolog"));
        self.version = match version.and_then(number) {
            Some(2) => Some(Version::Two),
            Some(3) => Some(Version::Three),
            // Further parts of it are not read.
            Some(newer @ 4..) => {
                self.newer = Some(newer);
                Some(Version::Three)
            }
            one => {
                let expected = "`fio version 2 iolog` or `fio version 3 iolog` in the first line";
                let hint = if one == Some(1) {
                    "version 1 is not read; replay it with an old fio and log that"
                } else {
                    LINES
                };
                return Err(Fault::whole(shown(line), expected, hint));
            }
        };
        Ok(None)
    }
}

impl Parser for Fio {
    const NAME: &str = "fio";
    const SUMMARY: &str = "the log that fio writes with write_iolog, version 2 or 3";
    const SEPARATOR: u8 = BLANK;
    const QUOTES: bool = false;
    const DEVICES: bool = true;
    /// The times of several jobs are merged, more or less.
    const WINDOW: usize = 4096;

    fn new(options: &ReadOptions) -> Self {
        Self {
            clock: TraceClock::whole(options, TimeUnit::Us),
            version: None,
            newer: None,
            files: Names::default(),
            now: 0,
        }
    }

    fn begins(line: &[u8]) -> bool {
        line.trim_ascii_start().starts_with(HEADING)
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Box<Fault>> {
        let mut fields = Fields::<BLANK>::new(line);
        let time = match self.version {
            None => return self.heading(line),
            Some(_) if Self::begins(line) => return Err(second_log()),
            Some(Version::Two) => self.now,
            Some(Version::Three) => self.clock.read(&mut fields, &TIME)?,
        };
        let name = fields.word();
        if name.is_empty() {
            return Err(fields.fault(&FILE));
        }
        let file = self.files.find(name).ok_or_else(|| unknown(fields.from(), name));
        let op = match fields.word() {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"syncfs" => return Ok(Some(Raw::flush(time, file?))),
            b"open" | b"close" | b"sync_file_range" => return file.map(|_| None),
            b"add" => {
                fields.end("a file and `add`")?;
                return self.files.number(name).map(|_| None);
            }
            b"wait" if self.version == Some(Version::Two) => {
                let wait = self.clock.read(&mut fields, &WAIT)?;
                self.now = self.now.checked_add(wait).ok_or_else(|| fields.fault(&WAIT))?;
                return Ok(None);
            }
            b"wait" => {
                let no_wait = FieldName { expected: "no `wait` in version 3", ..ACTION };
                return Err(fields.fault(&no_wait));
            }
            _ => return Err(fields.fault(&ACTION)),
        };
        let device = file?;
        let offset = fields.integer(&OFFSET)?;
        let length = fields.integer(&LENGTH)?;
        let (offset, len) = extent(&fields, op, Some(offset), Some(length))?;
        fields.end(LINES)?;
        Ok(Some(Raw { time, offset, len, device, op }))
    }

    fn label(&self, device: u32) -> String {
        self.files.name(device)
    }

    fn clock(&self) -> Option<&TraceClock> {
        Some(&self.clock)
    }

    fn may_have_names(&self) -> bool {
        false
    }

    fn notes(&self, _: &Regions) -> Vec<String> {
        let note = |version| {
            format!("version {version} of the log was read as version 3: all of its lines read so")
        };
        self.newer.map(note).into_iter().collect()
    }

    fn timed(&self) -> bool {
        self.version == Some(Version::Three) || self.now > 0
    }
}

#[cold]
fn unknown(at: usize, name: &[u8]) -> Box<Fault> {
    let found = format!("{} was not added", shown(name));
    let (expected, hint) = (FILE.expected.into(), FILE.hint.into());
    Box::new(Fault { at: Some(at), found, expected, hint })
}

#[cold]
fn second_log() -> Box<Fault> {
    let hint = "fio adds to a log that is there already; cut the file here";
    Fault::whole("a second log begins".into(), "one log", hint)
}

//! Cuts decompressed bytes into records: lines, or pieces of fixed size.

use std::io::{self, Read};
use std::sync::Arc;

use super::input::{Compression, Stored, Unpacked};
use super::options::ReadTally;
use crate::TraceError;
use crate::error::{Spot, detail};

/// A longer line is not a trace: this bounds the memory that bad input can take.
const LONGEST_LINE: usize = 64 << 10;
/// Large enough that moving a half line to the front costs nothing.
const BUFFER: usize = 256 << 10;

/// The mark that some programs put before text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a format is cut into records.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// At line ends; blank lines are passed over, a carriage return before the end and a byte
    /// order mark before the first are dropped.
    Lines,
    /// Every `size` bytes, after a heading of `after` bytes.
    Every { size: usize, after: usize },
}

/// One record and its number, from 1.
pub(crate) struct Record<'a> {
    pub(crate) number: u64,
    pub(crate) bytes: &'a [u8],
}

/// A stream of records. Holds one buffer, for any input.
pub(crate) struct Feed {
    name: Arc<str>,
    input: Unpacked,
    compression: Compression,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Decompressed bytes that have left the buffer.
    gone: u64,
    number: u64,
    at_end: bool,
    tally: ReadTally,
    /// The number of records that it was told of.
    told: u64,
}

impl Feed {
    pub(crate) fn new(stored: &Stored) -> Result<Self, TraceError> {
        let (input, compression) = stored.decompressed()?;
        Ok(Self {
            name: Arc::clone(&stored.name),
            input,
            compression,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            start: 0,
            end: 0,
            gone: 0,
            number: 0,
            at_end: false,
            tally: stored.tally.clone(),
            told: 0,
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// The stored bytes after the end of the compressed ones, once everything is read.
    pub(crate) fn trailing(&self) -> u64 {
        self.input.trailing()
    }

    /// Whether the record given last ends with the file, amid a line.
    #[cold]
    pub(crate) fn unterminated(&self) -> bool {
        self.at_end && self.start == self.end && self.end > 0 && self.buffer[self.end - 1] != b'\n'
    }

    /// The first bytes (up to 64 KiB) and whether they are all; only before the first record.
    pub(crate) fn head(&mut self) -> Result<(&[u8], bool), TraceError> {
        while !self.at_end && self.end < LONGEST_LINE {
            self.refill()?;
        }
        let n = self.end.min(LONGEST_LINE);
        Ok((&self.buffer[..n], self.at_end && n == self.end))
    }

    /// The next record, `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self, cut: Cut) -> Result<Option<Record<'_>>, TraceError> {
        match cut {
            Cut::Lines => self.next_line(),
            Cut::Every { size, after } => {
                if self.gone == 0 && self.start == 0 && after > 0 {
                    self.pass_over(after)?;
                }
                self.next_piece(size)
            }
        }
    }

    #[inline]
    fn next_line(&mut self) -> Result<Option<Record<'_>>, TraceError> {
        loop {
            let rest = &self.buffer[self.start..self.end];
            let (len, after) = match memchr::memchr(b'\n', rest) {
                Some(n) => (n, n + 1),
                None if self.at_end && rest.is_empty() => return Ok(None),
                None if self.at_end => (rest.len(), rest.len()),
                None if rest.len() >= LONGEST_LINE => return Err(self.endless_line()),
                None => {
                    self.refill()?;
                    continue;
                }
            };
            self.number += 1;
            let from = self.start;
            self.start += after;
            let mark =
                self.number == 1 && self.buffer[from..from + len].starts_with(BYTE_ORDER_MARK);
            let from = if mark { from + BYTE_ORDER_MARK.len() } else { from };
            let line = &self.buffer[from..self.start - (after - len)];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            // Borrowed anew: the loop above must not hold the line.
            let bytes = &self.buffer[from..from + line.len()];
            return Ok(Some(Record { number: self.number, bytes }));
        }
    }

    #[inline]
    fn next_piece(&mut self, size: usize) -> Result<Option<Record<'_>>, TraceError> {
        while self.end - self.start < size {
            if self.at_end {
                let left = self.end - self.start;
                return if left == 0 { Ok(None) } else { Err(self.cut_record(left, size)) };
            }
            self.refill()?;
        }
        let from = self.start;
        self.start += size;
        self.number += 1;
        Ok(Some(Record { number: self.number, bytes: &self.buffer[from..from + size] }))
    }

    /// Leaves out the heading.
    #[cold]
    fn pass_over(&mut self, heading: usize) -> Result<(), TraceError> {
        while self.end < heading {
            if self.at_end {
                let found = format!("the file ends after {} bytes of its heading", self.end);
                let expected = format!("a heading of {heading} bytes, and records");
                let hint = "the file was cut, or has another format";
                let spot = Spot::After(self.end as u64);
                return Err(TraceError::Record(detail(&self.name, spot, found, expected, hint)));
            }
            self.refill()?;
        }
        self.start = heading;
        Ok(())
    }

    #[cold]
    fn refill(&mut self) -> Result<(), TraceError> {
        self.tally.add(self.number - self.told);
        self.told = self.number;
        self.buffer.copy_within(self.start..self.end, 0);
        self.gone += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.broken(&e)),
            }
            return Ok(());
        }
    }

    #[cold]
    fn broken(&self, e: &io::Error) -> TraceError {
        let after = Spot::After(self.gone + self.end as u64);
        if self.compression == Compression::None {
            let found = format!("reading stopped ({e})");
            return TraceError::File(detail(&self.name, after, found, "more of the file", ""));
        }
        let what = self.compression.name();
        let (found, hint) = if e.kind() == io::ErrorKind::UnexpectedEof {
            (format!("the {what} stream ends in the middle"), "the file was cut; copy it again")
        } else {
            (
                format!("the {what} stream is damaged ({e})"),
                "copy the file again and compare its sum",
            )
        };
        TraceError::Compression(detail(
            &self.name,
            after,
            found,
            format!("a whole {what} file"),
            hint,
        ))
    }

    #[cold]
    fn endless_line(&self) -> TraceError {
        TraceError::Record(detail(
            &self.name,
            Spot::Line { line: self.number + 1, column: 0 },
            format!("no line end within {} KiB", LONGEST_LINE >> 10),
            "lines of text",
            "is this a binary file? `--format` names its format",
        ))
    }

    #[cold]
    fn cut_record(&self, left: usize, size: usize) -> TraceError {
        TraceError::Record(detail(
            &self.name,
            Spot::Record { record: self.number + 1, byte: self.gone + self.start as u64 },
            format!("the file ends after {left} bytes of the record"),
            format!("records of {size} bytes"),
            "the file was cut, or has another format",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(bytes: &[u8], after: usize) -> Result<Vec<(u64, Vec<u8>)>, TraceError> {
        let mut feed = Feed::new(&Stored::memory("t", bytes.into())?)?;
        let mut all = Vec::new();
        while let Some(record) = feed.next(Cut::Every { size: 3, after })? {
            all.push((record.number, record.bytes.to_vec()));
        }
        Ok(all)
    }

    #[test]
    fn a_heading_is_left_out_once() {
        let both = vec![(1, b"abc".to_vec()), (2, b"def".to_vec())];
        assert_eq!(records(b"abcdef", 0).unwrap(), both);
        assert_eq!(records(b"heading: abcdef", 9).unwrap(), both);
        // Beyond the part that is read at once.
        let mut long = vec![b'h'; 7];
        long.extend(std::iter::repeat_n(b"abc", 200_000).flatten());
        assert_eq!(records(&long, 7).unwrap().len(), 200_000);
        assert!(records(b"heading: ", 9).unwrap().is_empty());
        let cut = records(b"head", 9).unwrap_err().to_string();
        assert!(cut.contains("ends after 4 bytes of its heading"), "{cut}");
    }
}

//! Stored bytes: a file or memory, hashed and decompressed.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kernel::hexadecimal;
use sha2::{Digest, Sha256};

use super::fields::shown;
use super::looks;
use super::options::ReadTally;
use crate::TraceError;
use crate::error::{Spot, detail};

/// The greatest memory that a compressed stream may need to be read.
const XZ_MEMORY_KIB: u32 = 1 << 20;

/// The bytes that a trace is stored in.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The name shown in messages and results.
    pub(crate) name: Arc<str>,
    place: Bytes,
    len: u64,
    /// Told of every record that is read.
    pub(crate) tally: ReadTally,
}

#[derive(Clone, Debug)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
}

/// The compression of stored bytes, found from their first bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
}

/// The number of first bytes that reveal the compression.
const MAGIC: usize = 13;
const GZIP: [u8; 2] = [0x1f, 0x8b];

impl Compression {
    fn of(head: &[u8]) -> Self {
        match head {
            [a, b, ..] if [*a, *b] == GZIP => Self::Gzip,
            // A frame, or a skippable frame before one.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }

    /// The compression that the ending of a file's name promises.
    pub(crate) fn promised(name: &str) -> Self {
        let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            "xz" => Self::Xz,
            _ => Self::None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }
}

/// The hint for a missing file: the file of a similar name next to it.
pub fn file_hint(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match kernel::nearest(&name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", folder.join(near).display()),
        None => "check the path".into(),
    }
}

impl Stored {
    /// The file at `path`, which must be one and must not be empty.
    pub(crate) fn file(path: &Path) -> Result<Self, TraceError> {
        let shown: Arc<str> = path.to_string_lossy().into();
        let fail = |found: String, hint: &str| {
            TraceError::File(detail(&shown, Spot::Whole, found, "a trace file", hint))
        };
        let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => fail("there is no such file".into(), &file_hint(path)),
            _ => fail(format!("it cannot be opened ({e})"), "check the path and its permissions"),
        })?;
        if meta.is_dir() {
            return Err(fail("this is a directory".into(), "name a file inside it"));
        }
        if !meta.is_file() {
            let hint = "a trace is read more than once: save it to a file first";
            return Err(fail("this is a pipe or a device".into(), hint));
        }
        let name =
            path.file_name().map_or_else(|| Arc::clone(&shown), |n| n.to_string_lossy().into());
        Self { name, place: Bytes::File(path.to_owned()), len: meta.len(), tally: ReadTally::NONE }
            .not_empty()
    }

    /// Bytes in memory under a name of the caller's choice.
    pub(crate) fn memory(name: &str, bytes: Arc<[u8]>) -> Result<Self, TraceError> {
        let len = bytes.len() as u64;
        Self { name: name.into(), place: Bytes::Memory(bytes), len, tally: ReadTally::NONE }
            .not_empty()
    }

    fn not_empty(self) -> Result<Self, TraceError> {
        if self.len > 0 { Ok(self) } else { Err(self.empty()) }
    }

    /// The error for a trace of no bytes at all.
    pub(crate) fn empty(&self) -> TraceError {
        self.nothing("the file is empty")
    }

    /// The error for a trace of blank lines and comments.
    pub(crate) fn without_request(&self) -> TraceError {
        self.nothing("there is no request at all")
    }

    fn nothing(&self, found: &str) -> TraceError {
        let hint = "was the file copied whole?";
        TraceError::File(detail(&self.name, Spot::Whole, found, "at least one request", hint))
    }

    fn raw(&self) -> Result<Box<dyn Read + Send>, TraceError> {
        match &self.place {
            Bytes::Memory(bytes) => Ok(Box::new(io::Cursor::new(Arc::clone(bytes)))),
            Bytes::File(path) => {
                let file = File::open(path).map_err(|e| self.unreadable(&e))?;
                let now = file.metadata().map_err(|e| self.unreadable(&e))?.len();
                if now != self.len {
                    return Err(TraceError::File(detail(
                        &self.name,
                        Spot::Whole,
                        format!("the file has changed from {} to {now} bytes", self.len),
                        "the same bytes each time it is opened",
                        "let its writer finish first",
                    )));
                }
                Ok(Box::new(file))
            }
        }
    }

    fn unreadable(&self, e: &io::Error) -> TraceError {
        TraceError::File(detail(
            &self.name,
            Spot::Whole,
            format!("it cannot be read ({e})"),
            "a readable file",
            "check its permissions",
        ))
    }

    /// SHA-256 of the bytes as stored, in hexadecimal.
    pub(crate) fn sha256(&self) -> Result<String, TraceError> {
        let mut hash = Sha256::new();
        if let Bytes::Memory(bytes) = &self.place {
            hash.update(bytes);
        } else {
            let mut input = self.raw()?;
            let mut buffer = vec![0; 1 << 18];
            loop {
                match input.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(n) => hash.update(&buffer[..n]),
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(self.unreadable(&e)),
                }
            }
        }
        Ok(hexadecimal(&hash.finalize()))
    }

    /// The error, or its explanation if it is at the beginning: a file that is named `.zst` is not
    /// compressed at all.
    #[cold]
    pub(crate) fn if_misnamed(&self, error: TraceError) -> TraceError {
        let at_the_start = match &error {
            TraceError::Format(_) => true,
            TraceError::Record(what) => matches!(
                what.place.spot,
                Spot::Line { line: 1, .. } | Spot::Record { record: 1, .. }
            ),
            _ => false,
        };
        let promised = Compression::promised(&self.name);
        if !at_the_start || promised == Compression::None {
            return error;
        }
        let mut head = Vec::new();
        let begun = self.raw().and_then(|raw| {
            raw.take(MAGIC as u64).read_to_end(&mut head).map_err(|e| self.unreadable(&e))
        });
        if begun.is_err() || Compression::of(&head) != Compression::None {
            return error;
        }
        let what = promised.name();
        TraceError::Compression(detail(
            &self.name,
            Spot::Whole,
            format!("it is named like a {what} file and begins like {}", shown(&head)),
            format!("the beginning of a {what} file"),
            "if it is damaged, copy it again and compare its sum; if its name is wrong, rename it",
        ))
    }

    /// The error for compression that is not read.
    pub(crate) fn packed(&self, name: &str, advice: &str) -> TraceError {
        TraceError::Compression(detail(
            &self.name,
            Spot::Whole,
            format!("this is compressed with {name}"),
            "a plain file, or one that gzip, zstd or xz has compressed",
            advice,
        ))
    }

    /// The decompressed bytes from the start, and how they were compressed.
    pub(crate) fn decompressed(&self) -> Result<(Unpacked, Compression), TraceError> {
        let mut raw = self.raw()?;
        let mut head = Vec::with_capacity(MAGIC);
        raw.by_ref().take(MAGIC as u64).read_to_end(&mut head).map_err(|e| self.unreadable(&e))?;
        if let Some((name, advice)) = looks::packed(&head) {
            return Err(self.packed(name, advice));
        }
        let compression = Compression::of(&head);
        let whole = io::Cursor::new(head).chain(raw);
        let buffered = |whole| io::BufReader::with_capacity(1 << 16, whole);
        let input = match compression {
            Compression::None => Unpacked::Whole(Box::new(whole)),
            Compression::Gzip => {
                Unpacked::Members(Box::new(Members::new(Box::new(buffered(whole)))))
            }
            Compression::Zstd => Unpacked::Whole(Box::new(
                zstd::Decoder::new(whole).map_err(|e| self.unreadable(&e))?,
            )),
            Compression::Xz => Unpacked::Whole(Box::new(lzma_rust2::XzReader::new_mem_limit(
                buffered(whole),
                true,
                XZ_MEMORY_KIB,
            ))),
        };
        Ok((input, compression))
    }
}

/// Bytes as they come out of their compression.
pub(crate) enum Unpacked {
    Whole(Box<dyn Read + Send>),
    Members(Box<Members>),
}

impl Unpacked {
    /// The stored bytes after the end of the compressed ones, known once everything is read.
    pub(crate) fn trailing(&self) -> u64 {
        match self {
            Self::Whole(_) => 0,
            Self::Members(members) => members.trailing,
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Whole(input) => input.read(buffer),
            Self::Members(members) => members.read(buffer),
        }
    }
}

/// A gzip file: members one after another, as is common in published sets, and any rest of the file
/// after the last one. The rest is skipped and counted, as `gzip` itself does.
pub(crate) struct Members {
    /// The one that is being read; `None` after the last.
    member: Option<flate2::bufread::GzDecoder<Ahead>>,
    trailing: u64,
}

impl Members {
    fn new(stored: Box<dyn BufRead + Send>) -> Self {
        let stored = Ahead { bytes: [0; GZIP.len()], from: 0, to: 0, rest: stored };
        let member = Some(flate2::bufread::GzDecoder::new(stored));
        Self { member, trailing: 0 }
    }

    /// Goes on to the next member, or past all that follows if there is none.
    fn advance(&mut self) -> io::Result<()> {
        let Some(last) = self.member.take() else { return Ok(()) };
        let mut stored = last.into_inner();
        if stored.look_ahead()? == GZIP {
            self.member = Some(flate2::bufread::GzDecoder::new(stored));
        } else {
            self.trailing = io::copy(&mut stored, &mut io::sink())?;
        }
        Ok(())
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            match member.read(buffer)? {
                0 => self.advance()?,
                n => return Ok(n),
            }
        }
        Ok(0)
    }
}

/// Stored bytes whose next few can be inspected before they are read.
struct Ahead {
    /// The inspected bytes, from `from` to `to`.
    bytes: [u8; GZIP.len()],
    from: usize,
    to: usize,
    rest: Box<dyn BufRead + Send>,
}

impl Ahead {
    /// The next bytes, fewer at the end of the file.
    fn look_ahead(&mut self) -> io::Result<&[u8]> {
        self.bytes.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        while self.to < self.bytes.len() {
            match self.rest.read(&mut self.bytes[self.to..]) {
                Ok(0) => break,
                Ok(n) => self.to += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(&self.bytes[..self.to])
    }
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.from < self.to { Ok(&self.bytes[self.from..self.to]) } else { self.rest.fill_buf() }
    }

    fn consume(&mut self, n: usize) {
        if self.from < self.to { self.from += n } else { self.rest.consume(n) }
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

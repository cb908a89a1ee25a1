//! Stored bytes: a file or memory, hashed and decompressed.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::TraceError;
use crate::error::{Spot, detail};

/// A compressed stream may ask for this much memory to be read back, and no more.
const XZ_MEMORY_KIB: u32 = 1 << 20;

/// The bytes that a trace is stored in.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The name shown in messages and results.
    pub(crate) name: Arc<str>,
    place: Bytes,
    len: u64,
}

#[derive(Clone, Debug)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
}

/// How stored bytes are compressed, told from their first bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
}

impl Compression {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or a skippable frame before one.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
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

impl Stored {
    /// The file at `path`, which must be one and must not be empty.
    pub(crate) fn file(path: &Path) -> Result<Self, TraceError> {
        let shown: Arc<str> = path.to_string_lossy().into();
        let fail = |found: String, hint: &str| {
            TraceError::File(detail(&shown, Spot::Whole, found, "a trace file", hint))
        };
        let meta = std::fs::metadata(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => fail("there is no such file".into(), "check the path"),
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
        Self { name, place: Bytes::File(path.to_owned()), len: meta.len() }.not_empty()
    }

    /// Bytes in memory under a name of the caller's choice.
    pub(crate) fn memory(name: &str, bytes: Arc<[u8]>) -> Result<Self, TraceError> {
        let len = bytes.len() as u64;
        Self { name: name.into(), place: Bytes::Memory(bytes), len }.not_empty()
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
                        "let whoever writes it finish first",
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
        let mut hex = String::with_capacity(64);
        for byte in hash.finalize() {
            write!(hex, "{byte:02x}").expect("a string takes every text");
        }
        Ok(hex)
    }

    /// The decompressed bytes from the start, and how they were compressed.
    pub(crate) fn decompressed(&self) -> Result<(Box<dyn Read + Send>, Compression), TraceError> {
        let mut raw = self.raw()?;
        let mut head = Vec::with_capacity(6);
        raw.by_ref().take(6).read_to_end(&mut head).map_err(|e| self.unreadable(&e))?;
        let compression = Compression::of(&head);
        let whole = io::Cursor::new(head).chain(raw);
        let input: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            // Members one after another are common in published sets.
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(
                io::BufReader::with_capacity(1 << 16, whole),
            )),
            Compression::Zstd => {
                Box::new(zstd::Decoder::new(whole).map_err(|e| self.unreadable(&e))?)
            }
            Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(
                io::BufReader::with_capacity(1 << 16, whole),
                true,
                XZ_MEMORY_KIB,
            )),
        };
        Ok((input, compression))
    }
}

//! A store in a sparse file: a page with its format, then the bytes of the drive.

use super::ByteStore;
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use serde_json::{Value, json};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The beginning of the drive's bytes.
const HEAD: u64 = 4096;
const SCHEMA: &str = "floatgate.store/1";

/// Bytes in a file.
pub struct FileStore {
    file: File,
}

/// The recording that a store's data come from.
#[derive(Clone, Debug)]
pub(crate) struct KnownPages {
    /// The name of the recording, which its `.events` have too; nothing was recorded without.
    pub(crate) name: Option<String>,
    /// The digest of its text, if the server had an orderly end.
    pub(crate) sha256: Option<String>,
}

/// The page at the beginning of a store, which says which recording its data come from.
pub struct Tie {
    file: File,
    size: u64,
    known: Option<KnownPages>,
}

impl Tie {
    /// The content that was found; nothing in stores that were made before recordings had names.
    pub(crate) fn known(&self) -> Option<KnownPages> {
        self.known.clone()
    }

    /// Writes which recording the data come from from now on.
    pub(crate) fn put(&self, name: Option<&str>, sha256: Option<&str>) -> io::Result<()> {
        self.file.write_all_at(&head(self.size, &json!({ "name": name, "sha256": sha256 })), 0)?;
        self.file.sync_data()
    }
}

/// The first page of a store.
fn head(size: u64, recording: &Value) -> Vec<u8> {
    let value = json!({ "schema": SCHEMA, "bytes": size, "recording": recording });
    let mut head = value.to_string().into_bytes();
    head.resize(HEAD as usize, b'\n');
    head
}

fn bad(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl FileStore {
    /// Opens the store at `path` for a drive of `size` bytes, or creates it if nothing is there.
    /// Returns its bytes, its tie to a recording, and whether it was there. A file that is not a
    /// store, or one of another size, is left as it is, and so is the target of a symbolic link. No
    /// other process can open it meanwhile.
    pub fn open(path: &Path, size: u64) -> io::Result<(Self, Tie, bool)> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR;
        match rustix::fs::open(path, flags, mode) {
            Ok(file) => Self::known(file.into(), size).map(|(store, tie)| (store, tie, true)),
            Err(Errno::NOENT) => {
                let file = rustix::fs::open(path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
                Self::made(file.into(), size)
                    .map(|(store, tie)| (store, tie, false))
                    .inspect_err(|_| drop(std::fs::remove_file(path)))
            }
            Err(Errno::NXIO) => Err(bad("this is not a regular file".into())),
            Err(Errno::LOOP) => {
                Err(bad("this is a symbolic link, and a store is never opened through one".into()))
            }
            Err(e) => Err(e.into()),
        }
    }

    fn lock(file: &File) -> io::Result<()> {
        rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|e| match e {
            Errno::WOULDBLOCK => bad("another server has this store open".into()),
            e => e.into(),
        })
    }

    fn made(file: File, size: u64) -> io::Result<(Self, Tie)> {
        Self::lock(&file)?;
        file.set_len(HEAD + size)?;
        file.write_all_at(&head(size, &Value::Null), 0)?;
        file.sync_all()?;
        let tie = Tie { file: file.try_clone()?, size, known: None };
        Ok((Self { file }, tie))
    }

    fn known(file: File, size: u64) -> io::Result<(Self, Tie)> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(bad("this is not a regular file".into()));
        }
        let foreign =
            || bad(format!("this is not a store of floatgate ({SCHEMA}), and is left as it is"));
        let mut head = [0; HEAD as usize];
        file.read_exact_at(&mut head, 0).map_err(|_| foreign())?;
        let head: Value = serde_json::from_slice(head.trim_ascii_end()).map_err(|_| foreign())?;
        if head["schema"] != SCHEMA {
            return Err(foreign());
        }
        let stored = head["bytes"].as_u64().unwrap_or_default();
        if stored != size || meta.len() != HEAD + size {
            return Err(bad(format!(
                "this is the store of a drive of {stored} bytes, and the drive has {size}"
            )));
        }
        Self::lock(&file)?;
        let word = |of: &Value| of.as_str().map(str::to_owned);
        let recording = &head["recording"];
        let known = recording.is_object().then(|| KnownPages {
            name: word(&recording["name"]),
            sha256: word(&recording["sha256"]),
        });
        let tie = Tie { file: file.try_clone()?, size, known };
        Ok((Self { file }, tie))
    }
}

impl ByteStore for FileStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, HEAD + offset)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, HEAD + offset)
    }

    fn zero(&mut self, offset: u64, len: u64) -> io::Result<()> {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, punch, HEAD + offset, len) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            other => return Ok(other?),
        }
        // A file system without holes.
        let zeroes = vec![0; len.min(1 << 20) as usize];
        let mut at = 0;
        while at < len {
            let n = (len - at).min(zeroes.len() as u64);
            self.write(offset + at, &zeroes[..n as usize])?;
            at += n;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn extent(&self, offset: u64, end: u64) -> (u64, bool) {
        let (from, stop) = (HEAD + offset, HEAD + end);
        let all_data = (end - offset, true);
        let data = match rustix::fs::seek(&self.file, SeekFrom::Data(from)) {
            Ok(data) => data.min(stop),
            Err(Errno::NXIO) => stop,
            Err(_) => return all_data,
        };
        if data > from {
            return (data - from, false);
        }
        match rustix::fs::seek(&self.file, SeekFrom::Hole(from)) {
            Ok(hole) if hole > from => (hole.min(stop) - from, true),
            _ => all_data,
        }
    }
}

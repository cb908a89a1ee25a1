//! Preconditioned drives, and facts of traces, kept in a folder between runs. A cache may lose its
//! content: an entry that cannot be written or read is made anew, and never fails a run.
//!
//! The folder is floatgate's alone (`python/floatgate/cache.py` makes it and marks it). Still
//! nothing is deleted there but files with the names given here.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use pyo3::PyResult;
use ssd::StateCache;
use ssd::kernel::Bytes;

use crate::error::InputError;

/// The folder, and the greatest size of the states in it, as the user wrote it.
pub(crate) type CacheOptions = (PathBuf, String);

/// The mark of a folder that is floatgate's.
const TAG: &str = "CACHEDIR.TAG";
/// The ending of unfinished files.
const NEW: &str = ".new";

/// A folder of states, or none.
pub(crate) struct StateFolder(Option<Folder>);

struct Folder {
    path: PathBuf,
    limit: u64,
}

impl StateFolder {
    /// The cache in a folder, without the remains of a crash.
    pub(crate) fn open(options: Option<CacheOptions>) -> PyResult<Self> {
        let Some((path, limit)) = options else { return Ok(Self(None)) };
        let limit = Bytes::from_str(&limit).map_err(|e| {
            let text = format!(
                "FLOATGATE_CACHE_LIMIT is `{limit}`: {e}; it says how much preconditioned drives may \
                 take in all, such as 8GiB"
            );
            InputError::new_err(text)
        })?;
        let folder = Folder { path, limit: limit.get() };
        if folder.is_ours() {
            let _ = tidy(&folder.states(), is_state);
            let _ = tidy(&folder.traces(), is_trace);
        }
        Ok(Self(Some(folder)))
    }

    /// The folder of files with facts of traces.
    pub(crate) fn traces(&self) -> Option<PathBuf> {
        self.0.as_ref().map(Folder::traces)
    }
}

impl Folder {
    fn states(&self) -> PathBuf {
        self.path.join("states")
    }

    fn traces(&self) -> PathBuf {
        self.path.join("traces")
    }

    fn is_ours(&self) -> bool {
        self.path.join(TAG).is_file()
    }
}

impl StateCache for StateFolder {
    fn load(&mut self, key: &str) -> Option<Box<dyn Read + '_>> {
        let file = open(&self.0.as_ref()?.states().join(key))?;
        // A read counts as a use: the oldest states are those that were unused for longest.
        let _ = file.set_modified(SystemTime::now());
        Some(Box::new(file))
    }

    fn store(&mut self, key: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        if let Some(folder) = self.0.as_ref().filter(|folder| folder.is_ours()) {
            let states = folder.states();
            let _ = keep(&states, key, write).and_then(|()| prune(&states, folder.limit));
        }
    }

    fn forget(&mut self, key: &str) {
        if let Some(folder) = self.0.as_ref().filter(|folder| folder.is_ours()) {
            let _ = fs::remove_file(folder.states().join(key));
        }
    }
}

/// A file, if it is one. Opening a pipe would wait, and a device may have no end.
fn open(path: &Path) -> Option<File> {
    if fs::metadata(path).is_ok_and(|meta| meta.is_file()) { File::open(path).ok() } else { None }
}

/// The content of a file, if it is one.
pub(crate) fn content(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The name of a state: a digest.
fn is_state(name: &str) -> bool {
    is_hex(name, 64)
}

/// The name of the facts of a trace.
fn is_trace(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|digest| is_hex(digest, 16))
}

fn is_hex(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Keeps data under a name: the file appears whole or not at all. Until then it is locked, so that
/// others see that its writer lives.
pub(crate) fn keep(
    folder: &Path,
    name: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if !folder.is_dir() {
        // Never the folder that it lies in: that is made with its mark.
        fs::create_dir(folder).or_else(|e| if folder.is_dir() { Ok(()) } else { Err(e) })?;
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let new = folder.join(format!("{name}.{}-{count}{NEW}", process::id()));
    let mut file = File::create_new(&new)?;
    let _ = file.lock(); // Where files cannot be locked, one may be lost to somebody who tidies up.
    let done = write(&mut file).and_then(|()| fs::rename(&new, folder.join(name)));
    if done.is_err() {
        let _ = fs::remove_file(&new);
    }
    done
}

/// Whether a name is that of a file on its way to a name that is ours.
fn is_new(name: &str, is_ours: fn(&str) -> bool) -> bool {
    let parts = name.strip_suffix(NEW).and_then(|name| name.rsplit_once('.'));
    parts.is_some_and(|(name, writer)| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let numbers = writer.split_once('-');
        is_ours(name) && numbers.is_some_and(|(pid, count)| digits(pid) && digits(count))
    })
}

/// Removes files whose writers ended before they were whole.
fn tidy(folder: &Path, is_ours: fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_str().is_some_and(|name| is_new(name, is_ours)) {
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let dead = is_file && File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
            if dead {
                let _ = fs::remove_file(path);
            }
        }
    }
    Ok(())
}

/// Removes the states that were unused for longest, until the others fit.
fn prune(folder: &Path, limit: u64) -> io::Result<()> {
    let mut states = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        // Others prune too: a file that is gone meanwhile takes no space.
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_file() && entry.file_name().to_str().is_some_and(is_state) {
            states.push((meta.modified()?, meta.len(), entry.path()));
        }
    }
    states.sort();
    let mut total: u64 = states.iter().map(|(_, len, _)| len).sum();
    for (_, len, path) in states {
        if total <= limit {
            break;
        }
        if fs::remove_file(&path).is_ok() || !path.exists() {
            total -= len;
        }
    }
    Ok(())
}

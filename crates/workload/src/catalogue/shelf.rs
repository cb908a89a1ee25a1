//! The content of the folders of traces.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::names::Start;
use super::{Catalogue, Entry};
use crate::TraceError;
use crate::error::{Spot, detail};

/// Publishers' archives have up to three folders inside each other.
const DEEPEST: u32 = 6;
/// More than every published set together; beyond, the folder is not one of traces.
const MOST: usize = 100_000;

/// A file in one of the folders.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FoundFile {
    /// Its path.
    pub path: PathBuf,
    /// Its size as stored.
    pub bytes: u64,
}

impl FoundFile {
    /// The file's name in lower case: folders come from systems that do not tell case apart.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
    }
}

/// The files in the folders where traces are kept, and below them.
#[derive(Clone, Default, Debug)]
pub struct Shelf {
    /// Each with its name in lower case.
    found: Vec<(String, FoundFile)>,
}

/// Whether a trace is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Presence {
    /// All of its files; of a trace with parts, in the order of the parts.
    There(Vec<FoundFile>),
    /// Some of its files or parts, and the missing ones in words.
    Partly(Vec<FoundFile>, Vec<String>),
    /// Only as an archive, or compressed in a way that is not read: to be unpacked.
    Packed(FoundFile),
    /// No file of it.
    Missing,
    /// Nobody has published it.
    Unpublished,
}

impl Shelf {
    /// Looks through folders and their subfolders, in this order.
    pub fn look(folders: &[PathBuf]) -> Result<Self, TraceError> {
        let mut found = Vec::new();
        for folder in folders {
            let from = found.len();
            let fail = |found: String, expected: &str, hint: &str| {
                let shown: Arc<str> = folder.to_string_lossy().into();
                TraceError::File(detail(&shown, Spot::Whole, found, expected, hint))
            };
            let hint = "`--traces` and FLOATGATE_TRACES name folders with traces in or below them";
            walk(folder, 1, &mut found).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => {
                    fail("there is no such folder".into(), "a folder of traces", hint)
                }
                io::ErrorKind::NotADirectory => {
                    fail("this is not a folder".into(), "a folder of traces", hint)
                }
                io::ErrorKind::FileTooLarge => fail(
                    format!("more than {MOST} files in and below this folder"),
                    "a folder of traces",
                    "name a folder nearer to them",
                ),
                _ => fail(format!("it cannot be searched ({e})"), "a readable folder", hint),
            })?;
            // The order of a folder's entries is arbitrary; higher folders go first.
            found[from..].sort_by_cached_key(|f| (f.path.components().count(), f.clone()));
        }
        Ok(Self { found: found.into_iter().map(|f| (f.name(), f)).collect() })
    }

    /// Whether the trace `entry` is there.
    pub fn presence(&self, catalogue: &Catalogue, entry: &Entry) -> Presence {
        if entry.parts.is_empty() {
            return self.files(entry);
        }
        let (mut have, mut missing, mut packed) = (Vec::new(), Vec::new(), None);
        for part in entry.parts.iter().filter_map(|name| catalogue.get(name)) {
            match self.files(part) {
                Presence::There(files) => have.extend(files),
                other => {
                    missing.push(part.name.clone());
                    if let Presence::Packed(found) = other {
                        packed = Some(found);
                    }
                }
            }
        }
        match (have.is_empty(), missing.is_empty(), packed) {
            (_, true, _) => Presence::There(have),
            (true, _, Some(found)) => Presence::Packed(found),
            (true, ..) => Presence::Missing,
            _ => Presence::Partly(have, missing),
        }
    }

    /// The files of one trace without parts.
    fn files(&self, entry: &Entry) -> Presence {
        if entry.patterns.is_empty() {
            return Presence::Unpublished;
        }
        let mut have: Vec<(Option<Start>, &FoundFile)> = Vec::new();
        let mut packed = None;
        for (name, found) in &self.found {
            if entry.archive.as_ref().is_some_and(|a| a.name.eq_ignore_ascii_case(name)) {
                packed.get_or_insert(found);
            }
            let Some(read) = entry.patterns.iter().find_map(|p| p.read(name)) else { continue };
            if !read.readable {
                packed.get_or_insert(found);
            } else if have.iter().all(|(start, _)| *start != read.start) {
                // A second copy, plain beside compressed or in another folder, is not another file.
                have.push((read.start, found));
            }
        }
        match (have.len(), packed) {
            (0, Some(found)) => Presence::Packed(found.clone()),
            (0, None) => Presence::Missing,
            (n, _) if n >= entry.files as usize => {
                Presence::There(have.into_iter().map(|(_, f)| f.clone()).collect())
            }
            (n, _) => {
                let missing = format!("{} of {} files", entry.files as usize - n, entry.files);
                let have = have.into_iter().map(|(_, f)| f.clone()).collect();
                Presence::Partly(have, vec![missing])
            }
        }
    }

    /// Files that look like traces and are not in the catalogue: excerpts, other formats, traces of
    /// others.
    pub fn others(&self, catalogue: &Catalogue) -> Vec<FoundFile> {
        let known = |name: &str| {
            catalogue.traces.iter().any(|entry| {
                entry.patterns.iter().any(|p| p.read(name).is_some())
                    || entry.archive.as_ref().is_some_and(|a| a.name.eq_ignore_ascii_case(name))
            })
        };
        let others = self.found.iter().filter(|(name, _)| looks_like_a_trace(name) && !known(name));
        others.map(|(_, found)| found.clone()).collect()
    }
}

/// By its name: compressed, or with an ending that traces have. Other files are not.
fn looks_like_a_trace(name: &str) -> bool {
    const BESIDE: [&str; 5] = ["readme", "license", "licence", "disclaimer", "md5"];
    const ENDINGS: [&str; 14] = [
        "gz", "zst", "xz", "bz2", "csv", "trace", "spc", "vscsi", "ascii", "blkparse", "iolog",
        "log", "trc", "txt",
    ];
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ENDINGS.contains(&ending) && !BESIDE.iter().any(|word| name.starts_with(word))
}

fn walk(folder: &Path, depth: u32, found: &mut Vec<FoundFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Links are followed; entries that cannot be looked at, or are gone again, count as
        // missing.
        let Ok(meta) = fs::metadata(&path) else { continue };
        if meta.is_file() {
            if found.len() == MOST {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            found.push(FoundFile { path, bytes: meta.len() });
        } else if meta.is_dir() && depth < DEEPEST {
            match walk(&path, depth + 1, found) {
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {}
                other => other?,
            }
        }
    }
    Ok(())
}

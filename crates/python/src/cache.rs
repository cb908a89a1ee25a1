//! Preconditioned drives, kept in a folder between runs. A cache may lose what it was given: what
//! cannot be written or read is made anew, and never fails a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ssd::StateCache;

/// The oldest states go when all take more than this.
const LARGEST: u64 = 4 << 30;

/// A folder of states, or none.
pub(crate) struct Cache(pub(crate) Option<PathBuf>);

impl StateCache for Cache {
    fn load(&mut self, key: &str) -> Option<Vec<u8>> {
        let path = self.0.as_ref()?.join(key);
        let bytes = fs::read(&path).ok()?;
        // Read is used: the oldest are those that nobody has asked for.
        let _ = fs::File::open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(bytes)
    }

    fn store(&mut self, key: &str, bytes: &[u8]) {
        if let Some(folder) = &self.0 {
            let _ = write(folder, key, bytes).and_then(|()| prune(folder));
        }
    }
}

/// The file appears whole or not at all.
fn write(folder: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("{key}.{}", std::process::id()));
    let done = fs::write(&new, bytes).and_then(|()| fs::rename(&new, folder.join(key)));
    if done.is_err() {
        let _ = fs::remove_file(&new);
    }
    done
}

fn prune(folder: &Path) -> io::Result<()> {
    let mut states = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        if meta.is_file() {
            states.push((meta.modified()?, meta.len(), entry.path()));
        }
    }
    states.sort();
    let mut total: u64 = states.iter().map(|(_, len, _)| len).sum();
    for (_, len, path) in states {
        if total <= LARGEST {
            break;
        }
        fs::remove_file(path)?;
        total -= len;
    }
    Ok(())
}

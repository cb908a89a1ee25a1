//! Facts of a trace before its run: its digest, whether it has times, and its number of requests.
//! They need a pass over the whole trace, so they are kept beside the preconditioned drives. Their
//! key is the places of the files, their sizes and when they last changed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use ssd::workload::About;
use ssd::workload::catalogue::{Catalogue, Presence, Shelf};

use crate::cache::{content, keep};
use crate::open::{OpenSpec, is_trace};

/// The place of such facts in the folder; none if the workload is not a file.
pub(crate) struct KnownPlace {
    folder: PathBuf,
    name: String,
    /// The key behind the path's digest, which distinguishes two keys with one digest.
    key: String,
}

impl KnownPlace {
    pub(crate) fn of(folder: PathBuf, build: &str, name: &str, spec: &OpenSpec) -> Option<Self> {
        let mut key = format!("{build} {}", spec.key());
        for file in files(name, spec)? {
            let meta = fs::metadata(&file).ok()?;
            let changed = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let place = fs::canonicalize(&file).ok()?;
            key += &format!("\n{} {} {}", place.display(), meta.len(), changed.as_nanos());
        }
        key += &format!("\n{name}");
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Some(Self { folder, name: format!("{:016x}.json", hasher.finish()), key })
    }

    pub(crate) fn load(&self) -> Option<About> {
        let value: Value = serde_json::from_slice(&content(&self.folder.join(&self.name))?).ok()?;
        if value["key"] != self.key {
            return None;
        }
        let text = |key: &str| value[key].as_str().map(ToOwned::to_owned);
        Some(About {
            name: text("name")?,
            format: text("format")?,
            sha256: Some(text("sha256")?),
            reading: text("reading"),
            requests: value["requests"].as_u64(),
            span: value["span"].as_u64(),
            timed: value["timed"].as_bool()?,
            closed: Vec::new(),
            flows: Vec::new(),
            stand_in: None,
            notes: Vec::new(),
        })
    }

    /// Keeps it if possible; without it, the trace is read again.
    pub(crate) fn store(&self, about: &About) {
        if about.sha256.is_none() || about.stand_in.is_some() {
            return;
        }
        let mut value = described(about);
        value["key"] = json!(self.key);
        let _ = keep(&self.folder, &self.name, &mut |to| write!(to, "{value}"));
    }
}

/// Facts of a workload in a result, and those that only its opening gives.
pub(crate) fn described(about: &About) -> Value {
    json!({
        "name": about.name,
        "format": about.format,
        "sha256": about.sha256,
        "reading": about.reading,
        "stand_in": about.stand_in.as_ref().map(|s| json!({
            "model": s.model, "version": s.version, "fitted_to": s.fitted_to,
        })),
        "requests": about.requests,
        "span": about.span,
        "timed": about.timed,
    })
}

/// The files that a trace is read from, if they are there.
fn files(name: &str, spec: &OpenSpec) -> Option<Vec<PathBuf>> {
    if is_trace(name) {
        return Some(vec![name.into()]);
    }
    let catalogue = Catalogue::built_in();
    let entry = catalogue.get(name)?;
    let found = match Shelf::look(&spec.traces).ok()?.presence(&catalogue, entry) {
        Presence::There(files) => files,
        Presence::Partly(files, _) if entry.parts.is_empty() => files,
        _ => return None,
    };
    Some(found.into_iter().map(|file| file.path).collect())
}

//! From a name of the catalogue to the requests of its files.

use std::path::PathBuf;
use std::sync::Arc;

use kernel::Dur;

use super::names::in_order;
use super::{Catalogue, Entry, FoundFile, Presence, Quantity, Shelf};
use crate::arrange::{Chain, ChainLink, Merge, MergedPart, digest_of_digests};
use crate::error::{Detail, Spot, detail};
use crate::source::Named;
use crate::trace::{open_slices, open_trace};
use crate::{About, ReadOptions, TraceError, Workload};

impl Catalogue {
    /// Opens the trace called `name` from its files in `folders` or below them.
    ///
    /// Fails if there is no such trace, and if its files are missing: then the message names the
    /// downloads.
    pub fn open(
        &self,
        name: &str,
        folders: &[PathBuf],
        options: &ReadOptions,
    ) -> Result<Box<dyn Workload>, TraceError> {
        let Some(entry) = self.get(name) else { return Err(self.unknown(name)) };
        let shelf = Shelf::look(folders)?;
        let files = match shelf.presence(self, entry) {
            Presence::There(files) => files,
            Presence::Partly(files, _) if entry.parts.is_empty() => files,
            other => return Err(absent(self, entry, folders, &other)),
        };
        let opening = Opening { options };
        if entry.parts.is_empty() {
            return opening.trace(entry, &files);
        }
        let mut parts = Vec::with_capacity(files.len());
        for (name, file) in entry.parts.iter().zip(&files) {
            let part = self.get(name).expect("a test looks parts up");
            let workload = opening.file(part, file)?;
            let origin = workload.origin().unwrap_or(0);
            parts.push(MergedPart { begins: Dur::ns(origin), ..MergedPart::new(workload) });
        }
        Ok(Box::new(Merge::new(&entry.name, parts)?))
    }

    pub(super) fn unknown(&self, name: &str) -> TraceError {
        let hint = match self.meant(name) {
            Some(near) => format!("did you mean `{near}`? `floatgate trace list` names all"),
            None => "`floatgate trace list` names all".into(),
        };
        let found = "no trace of the catalogue is called so".to_owned();
        fail(name, found, "publisher and trace, such as `msr:hm_0`", hint)
    }
}

pub(super) fn fail(name: &str, found: String, expected: &str, hint: String) -> TraceError {
    TraceError::File(whole(name, found, expected, hint))
}

fn whole(name: &str, found: String, expected: &str, hint: String) -> Box<Detail> {
    let name: Arc<str> = name.into();
    detail(&name, Spot::Whole, found, expected, hint)
}

/// The reason why a trace cannot be opened, and the advice.
pub(super) fn absent(
    catalogue: &Catalogue,
    entry: &Entry,
    folders: &[PathBuf],
    presence: &Presence,
) -> TraceError {
    let shown: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let place = match shown.join(", ") {
        none if none.is_empty() => "no folder of traces is named".to_owned(),
        folders => format!("not in or below {folders}"),
    };
    let Some(page) = &entry.page else {
        let found = "nobody has published this workload".to_owned();
        return fail(&entry.name, found, "a trace with files", String::new());
    };
    if let Presence::Packed(found) = presence {
        let what = format!("only {} is there, which is not read", found.path.display());
        return fail(&entry.name, what, &named(catalogue, entry), "unpack it beside itself".into());
    }
    let what = match presence {
        Presence::Partly(_, missing) => {
            format!("volumes of it are missing: {} ({place})", missing.join(", "))
        }
        _ => format!("its files are not there ({place})"),
    };
    let archive = catalogue.archive_of(entry).map(|archive| match archive.bytes {
        Some(bytes) => format!("{}, {:.1} GB", archive.name, bytes as f64 * 1e-9),
        None => archive.name.clone(),
    });
    let from: Vec<String> = entry.set.clone().into_iter().chain(archive).collect();
    let from = if from.is_empty() { String::new() } else { format!(" ({})", from.join(", ")) };
    let hint = format!(
        "download it from {page}{from} and name the folder with `--traces DIR` or FLOATGATE_TRACES; \
         `floatgate trace list {}` says more",
        entry.name
    );
    fail(&entry.name, what, &named(catalogue, entry), hint)
}

/// The files of a trace as a person knows them.
fn named(catalogue: &Catalogue, entry: &Entry) -> String {
    let parts = entry.parts.iter().filter_map(|name| catalogue.get(name));
    let own = std::iter::once(entry).filter(|e| !e.patterns.is_empty());
    let names: Vec<String> = parts
        .chain(own)
        .filter_map(|e| {
            let pattern = e.patterns.first()?.shown();
            Some(if e.files > 1 { format!("{} files {pattern}", e.files) } else { pattern })
        })
        .collect();
    format!("{}, plain or with .gz, .zst or .xz", names.join(", "))
}

/// Opens the files of traces without parts, as the user says that they are to be read.
pub(super) struct Opening<'a> {
    pub(super) options: &'a ReadOptions,
}

impl Opening<'_> {
    pub(super) fn trace(
        &self,
        entry: &Entry,
        files: &[FoundFile],
    ) -> Result<Box<dyn Workload>, TraceError> {
        if entry.files == 1 { self.file(entry, &files[0]) } else { self.files(entry, files) }
    }

    /// A trace of one file.
    fn file(&self, entry: &Entry, file: &FoundFile) -> Result<Box<dyn Workload>, TraceError> {
        let inner = open_trace(&file.path, self.options)?;
        let mut about = inner.about().clone();
        about.notes.insert(0, format!("{} is {}", entry.name, about.name));
        about.name.clone_from(&entry.name);
        about.notes.extend(excerpt(entry, about.requests));
        Ok(Box::new(Named::new(inner, about)))
    }

    /// A trace of many files: one after the other.
    fn files(&self, entry: &Entry, files: &[FoundFile]) -> Result<Box<dyn Workload>, TraceError> {
        let start = |file: &FoundFile| {
            let name = file.name();
            let read = entry.patterns.iter().find_map(|p| p.read(&name));
            read.and_then(|name| name.start).expect("found by a pattern with a start")
        };
        let starts: Vec<_> = files.iter().map(start).collect();
        let Some(order) = in_order(&starts) else {
            let found = "the names of its files give hours without AM and PM: their order is open";
            let hint = "rename them with hours from 00 to 23".to_owned();
            return Err(fail(&entry.name, found.into(), "files in the order of time", hint));
        };
        let paths: Vec<PathBuf> = order.iter().map(|(i, _)| files[*i].path.clone()).collect();
        let slices = open_slices(&paths, self.options)?;
        let abouts: Vec<&About> = slices.iter().map(|slice| slice.about()).collect();
        let (first, last) = (abouts[0], abouts[abouts.len() - 1]);
        let requests = abouts.iter().map(|a| a.requests).sum();
        let mut notes = vec![format!(
            "{} is {} of {} files, one after the other by the minutes in their names: {} to {}",
            entry.name,
            files.len(),
            entry.files,
            first.name,
            last.name
        )];
        notes.extend(first.notes.iter().map(|note| format!("{}: {note}", first.name)));
        notes.extend(excerpt(entry, requests));
        let about = About {
            name: entry.name.clone(),
            sha256: digest_of_digests(&abouts),
            requests,
            notes,
            ..first.clone()
        };
        let begins = order.iter().map(|(_, minutes)| Dur::secs(u64::from(*minutes) * 60));
        let links = slices.into_iter().zip(begins);
        let links = links.map(|(workload, begins)| ChainLink { workload, begins }).collect();
        Ok(Box::new(Chain::new(links, about)))
    }
}

/// Reports if a file has another number of requests than its publisher states.
fn excerpt(entry: &Entry, requests: Option<u64>) -> Option<String> {
    let published = entry.known(Quantity::Requests)?;
    let (requests, whole) = (requests?, published.value as u64);
    let (n, of) = (grouped(requests), grouped(whole));
    match requests.cmp(&whole) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some(format!("excerpt: {n} of {of} requests")),
        std::cmp::Ordering::Greater => Some(format!(
            "{n} requests, more than the {of} that are published: {}",
            published.source.text
        )),
    }
}

/// `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

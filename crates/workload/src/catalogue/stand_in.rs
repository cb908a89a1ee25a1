//! From a name of the catalogue to the requests of its files or, if these are missing, to those of
//! its stand-in.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::source::digest;
use kernel::Dur;

use super::open::{Opening, absent, fail};
use super::{Catalogue, Entry, Given, Missing, Presence, Quantity, Shelf, published};
use crate::arrange::{Merge, MergedPart};
use crate::standin::{Length, Profile};
use crate::{About, Draws, ReadOptions, Request, RequestSource, TraceError, Workload};

impl Catalogue {
    /// As [`Catalogue::open`], but a trace without files is represented by its stand-in: `length`
    /// of it, from `seed`. If some volumes of a server have files, the others have stand-ins.
    ///
    /// # Errors
    /// Those of [`Catalogue::open`]; too little is published to make a stand-in; `options` say
    /// how a trace is to be read, and there is none.
    pub fn open_or_stand_in(
        &self,
        name: &str,
        folders: &[PathBuf],
        options: &ReadOptions,
        length: Length,
        seed: u64,
    ) -> Result<Box<dyn Workload>, TraceError> {
        let Some(entry) = self.get(name) else { return Err(self.unknown(name)) };
        let shelf = Shelf::look(folders)?;
        let presence = shelf.presence(self, entry);
        match presence {
            Presence::Missing | Presence::Unpublished => {}
            Presence::Partly(..) if !entry.parts.is_empty() => {}
            _ => return self.open(name, folders, options),
        }
        if let Some(said) = options.said() {
            let found = format!("its files are not there, and `{said}` says how to read them");
            return Err(fail(name, found, "no such option for a stand-in", String::new()));
        }
        if entry.parts.is_empty() {
            let profile = self.profile(entry, length, None, (folders, &presence))?;
            return profile.workload(length, seed);
        }
        let mean_size = self.size_of_parts(entry);
        let mut parts = Vec::with_capacity(entry.parts.len());
        for (i, name) in entry.parts.iter().enumerate() {
            let part = self.get(name).expect("a test looks parts up");
            let (workload, origin) = if let Presence::There(files) = shelf.presence(self, part) {
                let workload = Opening { options }.trace(part, &files)?;
                let origin = workload.origin();
                (workload, origin)
            } else {
                let whole = Length { requests: None, ..length };
                let profile = self.profile(part, whole, mean_size, (folders, &presence))?;
                // Each volume its own.
                let seed = seed.wrapping_add((i as u64) << 32);
                (profile.workload(whole, seed)?, None)
            };
            parts.push((workload, origin));
        }
        // A stand-in begins with the earliest of the volumes that are there.
        let earliest = parts.iter().filter_map(|part| part.1).min().unwrap_or(0);
        let parts = parts.into_iter().map(|(workload, origin)| MergedPart {
            begins: Dur::ns(origin.unwrap_or(earliest)),
            ..MergedPart::new(workload)
        });
        let merged = Box::new(Merge::new(&entry.name, parts.collect())?);
        Ok(match length.requests {
            Some(requests) => Box::new(First::new(merged, requests)),
            None => merged,
        })
    }

    /// Whether the files of a trace are there, or some of many.
    ///
    /// # Errors
    /// There is no such trace, or a folder cannot be searched.
    pub fn is_there(&self, name: &str, folders: &[PathBuf]) -> Result<bool, TraceError> {
        let Some(entry) = self.get(name) else { return Err(self.unknown(name)) };
        let presence = Shelf::look(folders)?.presence(self, entry);
        Ok(!matches!(presence, Presence::Missing | Presence::Unpublished))
    }

    /// The profile of a trace by its published facts, for a trace with files of its own.
    ///
    /// # Errors
    /// Too little is published: the message names the missing facts, and the source of the
    /// trace.
    pub fn published_profile(&self, name: &str) -> Result<Profile, TraceError> {
        let Some(entry) = self.get(name) else { return Err(self.unknown(name)) };
        if !entry.parts.is_empty() {
            let found = format!("it consists of {}", entry.parts.join(", "));
            return Err(fail(&entry.name, found, "one of these", String::new()));
        }
        let presence = if entry.page.is_some() { Presence::Missing } else { Presence::Unpublished };
        self.profile(entry, Length::default(), None, (&[], &presence))
    }

    /// The missing facts of a trace for a stand-in; `None`: nothing more.
    pub fn stand_in_lacks(&self, entry: &Entry) -> Option<Missing> {
        if entry.parts.is_empty() {
            return published(entry, Given::default()).err();
        }
        entry.parts.iter().filter_map(|name| self.get(name)).find_map(|e| self.stand_in_lacks(e))
    }

    fn profile(
        &self,
        entry: &Entry,
        length: Length,
        mean_size: Option<f64>,
        (folders, presence): (&[PathBuf], &Presence),
    ) -> Result<Profile, TraceError> {
        let given = Given { requests: length.requests, duration: length.duration, mean_size };
        published(entry, given).map_err(|missing| {
            let says =
                if missing.settings.is_empty() || missing.figures.len() > missing.settings.len() {
                    String::new()
                } else {
                    format!("; {} say it instead", missing.settings.join(" and "))
                };
            let mut error = absent(self, entry, folders, presence);
            let (TraceError::File(detail), figures) = (&mut error, &missing) else {
                return error;
            };
            let _ = write!(detail.found, ", and {figures}, as a stand-in would need{says}");
            error
        })
    }

    /// The mean size of requests for those volumes of a server for which no source gives it. With
    /// it they write together as much in an hour as is published for the server.
    pub(super) fn size_of_parts(&self, server: &Entry) -> Option<f64> {
        let hourly = server.known(Quantity::WrittenPerHour)?.value;
        let (mut known, mut writes) = (0.0, 0.0);
        for part in server.parts.iter().filter_map(|name| self.get(name)) {
            let marked = Given { mean_size: Some(4096.0), ..Given::default() };
            let (by_figures, by_mark) =
                (published(part, Given::default()).ok()?, published(part, marked).ok()?);
            let hours = by_figures.duration.as_secs_f64() / 3600.0;
            let written = by_figures.mean_write() * by_figures.writes as f64 / hours;
            if (by_figures.mean_write() - by_mark.mean_write()).abs() < 1.0 {
                known += written;
            } else {
                writes += by_figures.writes as f64 / hours;
            }
        }
        (writes > 0.0).then(|| ((hourly - known) / writes).clamp(4096.0, 262_144.0))
    }
}

/// The first requests of a workload.
struct First {
    inner: Box<dyn Workload>,
    requests: u64,
    about: About,
}

impl First {
    fn new(inner: Box<dyn Workload>, requests: u64) -> Self {
        let mut about = inner.about().clone();
        about.notes.push(format!("cut to the first {requests} requests"));
        about.requests = about.requests.map(|all| all.min(requests));
        about.sha256 = about.sha256.map(|whole| digest(&format!("{whole} first {requests}")));
        Self { inner, requests, about }
    }
}

impl Workload for First {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(Firsts { inner: self.inner.open_pass(pass)?, left: self.requests }))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }

    fn origin(&self) -> Option<u64> {
        self.inner.origin()
    }
}

struct Firsts {
    inner: Box<dyn RequestSource>,
    left: u64,
}

impl RequestSource for Firsts {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if self.left == 0 {
            batch.clear();
            return Ok(());
        }
        self.inner.fill(batch)?;
        batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= batch.len() as u64;
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

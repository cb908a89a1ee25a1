//! Stand-ins: workloads with the statistics of a trace whose files are missing.
//!
//! A [`Profile`] holds the statistics, fitted to a trace ([`fit`]) or to published facts of one
//! ([`published()`](crate::catalogue::published())). [`Profile::workload`] makes requests with
//! these statistics:
//!
//! * *When*: a multiplicative cascade gives the counts of reads and of writes the variance, and
//!   the covariance, that they have over intervals of every length (`cascade.rs`).
//! * *Addresses*: pages are read-only, write-only or interleaved, and each class has requests of
//!   its own. A request follows the successor of an earlier request, continues a sequential run,
//!   goes back to an earlier address, or goes to untouched pages (`stream.rs`).
//! * *Created*: a share of the reads goes to pages that the stand-in itself writes (`created.rs`).
//! * *How large*: sizes come from the distributions of begun and of continued requests.
//!
//! `docs/measured/stand-ins.md` reports how far a simulator can distinguish a stand-in from its
//! trace.

mod cascade;
pub(crate) mod coarse;
mod created;
mod draw;
mod fit;
mod place;
mod profile;
mod ring;
mod stream;

use std::sync::Arc;

use kernel::{Dur, Prio, Rng, Time, hexadecimal};
use sha2::{Digest, Sha256};

use self::cascade::Cascade;
use self::created::Created;
use self::draw::Draw;
use self::place::{PAGE_SECTORS, SECTOR, StandInSpace};
use self::stream::{ClassPages, READ, WRITE};
use crate::error::{Spot, detail};
use crate::{About, BATCH, Op, Request, RequestSource, StandIn, TraceError, Workload};

pub use cascade::Bursts;
pub(crate) use cascade::{CascadeLevels, HOURS};
pub use fit::{Fitter, fit};
pub(crate) use profile::LARGEST_SPAN;
pub use profile::{Profile, ProfileClass, SCHEMA, SizeShare, Stream};

/// The name of the model.
pub const MODEL: &str = "classes-and-copies";
/// Its version: numbers move between versions.
pub const VERSION: &str = "1";
/// No stand-in is longer: two centuries keep nanoseconds in 63 bits.
const LONGEST_NS: u64 = 200 * 365 * 86_400 * 1_000_000_000;

/// The options of a stand-in. Without a value it is as the profile has it. A shorter one is the
/// beginning of the whole. A longer one repeats the profile's span, on the same pages.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Length {
    /// The most requests.
    pub requests: Option<u64>,
    /// Only requests before this.
    pub duration: Option<Dur>,
    /// The share of the reads that go to read-only pages which the stand-in itself writes before.
    pub created_reads: Option<f64>,
}

/// A stand-in with all values settled.
struct Made {
    about: About,
    profile: Arc<Profile>,
    requests: u64,
    until_ns: u64,
    seed: u64,
}

impl Profile {
    /// The stand-in of this profile, of a length, from a seed.
    pub fn workload(&self, length: Length, seed: u64) -> Result<Box<dyn Workload>, TraceError> {
        let fail = |found: String, expected: &str, hint: &str| {
            let name: Arc<str> = self.stands_for.as_str().into();
            TraceError::Parameter(detail(&name, Spot::Whole, found, expected, hint))
        };
        if let Some(created_reads) = length.created_reads {
            let most = self.read_only.reads.as_ref().map_or(0.0, |reads| reads.share);
            if !(0.0..=most).contains(&created_reads) {
                let found = format!("`created-reads = {created_reads}`");
                let expected =
                    format!("0 to {most:.4}, the share of its reads that go to read-only pages");
                return Err(fail(found, &expected, "set `workload.created-reads`"));
            }
            let whole = Self { created_reads, ..self.clone() };
            return whole.workload(Length { created_reads: None, ..length }, seed);
        }
        self.check()
            .map_err(|found| fail(found, "a profile as `floatgate trace fit` makes it", ""))?;
        if length.requests == Some(0) {
            return Err(fail("no requests".into(), "at least one", "set `workload.requests`"));
        }
        if length.duration.is_some_and(|d| d == Dur::ZERO || d.as_ns() > LONGEST_NS) {
            let found = "a duration of nothing, or of centuries".into();
            return Err(fail(found, "a time above zero", "set `workload.duration`"));
        }
        let (whole, span) = (self.reads + self.writes, self.duration.as_ns());
        let mut notes = Vec::new();
        let until_ns = length.duration.map_or(u64::MAX, Dur::as_ns);
        let requests = match (length.requests, length.duration) {
            (None, None) => whole,
            (requests, _) => {
                let most = (LONGEST_NS / span).max(1).saturating_mul(whole);
                requests.unwrap_or(u64::MAX).min(most)
            }
        };
        if requests < whole {
            notes.push(format!("cut to the first {requests} of {whole} requests"));
        } else if requests > whole && length.requests.is_some() {
            notes.push(format!(
                "{requests} requests: the {whole} of the profile, and more of the same kind"
            ));
        }
        if let Some(duration) = length.duration {
            notes.push(format!(
                "requests of the first {duration}; the profile has {}",
                self.duration
            ));
        }
        if self.created_reads > 0.0 {
            notes.push(format!(
                "assumed: {} % of the reads on read-only pages created in the run",
                100.0 * self.created_reads
            ));
        }
        if !self.assumed.is_empty() {
            notes.push(format!("assumed, not published: {}", self.assumed.join(", ")));
        }
        let mut digest = Sha256::new();
        digest.update(format!("{MODEL} {VERSION} {requests} {until_ns} {seed}\n"));
        digest.update(self.text());
        let about = About {
            name: self.stands_for.clone(),
            format: "stand-in".into(),
            sha256: Some(hexadecimal(&digest.finalize())),
            reading: None,
            requests: length.duration.is_none().then_some(requests),
            span: Some(self.space().end()),
            timed: true,
            closed: Vec::new(),
            flows: Vec::new(),
            stand_in: Some(StandIn {
                model: MODEL.into(),
                version: VERSION.into(),
                fitted_to: self.fitted_to.clone(),
            }),
            notes,
        };
        let profile = Arc::new(self.clone());
        Ok(Box::new(Made { about, profile, requests, until_ns, seed }))
    }

    /// The pages that are created in the run, if reads go to some. Its share is of the reads that
    /// go to read-only pages.
    fn created(&self, rng: Rng) -> Option<Created> {
        let reads = self.read_only.reads.as_ref().filter(|_| self.created_reads > 0.0)?;
        let pages = |size: &SizeShare| (size.0.div_ceil(4096) as u32 * PAGE_SECTORS as u32, size.1);
        let sizes: Vec<(u32, f64)> = reads.sizes.iter().map(pages).collect();
        Some(Created::new(self.created_reads / reads.share, Draw::new(&sizes), rng))
    }

    fn space(&self) -> StandInSpace {
        let streams = self.classes().into_iter().flat_map(|(_, c)| [&c.reads, &c.writes]);
        let largest = streams.flatten().map(Stream::largest).max().unwrap_or(4096);
        StandInSpace::new(self.span.get(), largest)
    }
}

impl Workload for Made {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let profile = Arc::clone(&self.profile);
        let stream = |name| Rng::named(self.seed, name);
        let classes = [&profile.read_only, &profile.write_only, &profile.interleaved];
        Ok(Box::new(Making {
            left: self.requests,
            until_ns: self.until_ns,
            begun: 0,
            cascade: Cascade::new(stream("stand-in/arrivals")),
            first_ns: None,
            choices: [
                Choose::new(classes.map(|c| c.reads.as_ref())),
                Choose::new(classes.map(|c| c.writes.as_ref())),
            ],
            classes: classes.map(|class| ClassPages::new(class, &profile)),
            created: profile.created(stream("stand-in/created")),
            space: profile.space(),
            kinds: stream("stand-in/classes"),
            places: stream("stand-in/places"),
            profile,
        }))
    }
}

/// Draws the class of the next read, or write.
#[derive(Debug)]
struct Choose {
    /// Cumulative shares.
    up_to: [f64; 3],
    stay: [f64; 3],
    now: Option<usize>,
}

impl Choose {
    fn new(streams: [Option<&Stream>; 3]) -> Self {
        let mut sum = 0.0;
        let mut up_to = streams.map(|s| {
            sum += s.map_or(0.0, |s| s.share);
            sum
        });
        // Nothing may fall to a class without a stream.
        if let Some(last) = streams.iter().rposition(|s| s.is_some_and(|s| s.share > 0.0)) {
            up_to[last..].fill(f64::INFINITY);
        }
        Self { up_to, stay: streams.map(|s| s.map_or(0.0, |s| s.stay)), now: None }
    }

    #[inline]
    fn next(&mut self, rng: &mut Rng) -> usize {
        if let Some(now) = self.now
            && rng.unit() < self.stay[now]
        {
            return now;
        }
        let draw = rng.unit();
        let class = self.up_to.iter().position(|&up_to| draw < up_to).unwrap_or(0);
        self.now = Some(class);
        class
    }
}

/// A stand-in in the making.
struct Making {
    profile: Arc<Profile>,
    left: u64,
    until_ns: u64,
    /// Spans begun.
    begun: u64,
    cascade: Cascade,
    first_ns: Option<u64>,
    choices: [Choose; 2],
    created: Option<Created>,
    classes: [ClassPages; 3],
    space: StandInSpace,
    kinds: Rng,
    places: Rng,
}

impl Making {
    /// The next arrival, in nanoseconds since the first, and whether it is a read.
    #[inline]
    fn arrival(&mut self) -> (u64, bool) {
        loop {
            if let Some((at, read)) = self.cascade.next(&self.profile.bursts) {
                let at = (self.begun - 1) * self.profile.duration.as_ns() + at;
                return (at - *self.first_ns.get_or_insert(at), read);
            }
            self.begun += 1;
            self.cascade.rewind();
            let counts = [self.profile.reads, self.profile.writes];
            self.cascade.start(self.profile.duration.as_ns(), counts);
        }
    }
}

impl RequestSource for Making {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while self.left > 0 && batch.len() < BATCH {
            let (at_ns, read) = self.arrival();
            if at_ns >= self.until_ns {
                self.left = 0;
                break;
            }
            self.left -= 1;
            let op = if read { READ } else { WRITE };
            let class = self.choices[op].next(&mut self.kinds);
            let may = !read || class == READ;
            let created = self.created.as_mut().filter(|_| may);
            let (at, len) = created
                .and_then(|created| created.next(read, &mut self.space))
                .unwrap_or_else(|| self.classes[class].next(op, &mut self.places, &mut self.space));
            batch.push(Request {
                at: Time::from_ns(at_ns),
                offset: at * SECTOR,
                len: (len * SECTOR) as u32,
                op: if read { Op::Read } else { Op::Write },
                prio: Prio::Normal,
                flow: 0,
                hint: 0,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

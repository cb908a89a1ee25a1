//! Transformations of a workload, in a fixed order for any order of the options: slice of time,
//! first requests, footprint, speed, repetition.
//!
//! They work on batches, and each costs something only where it is used. A slice of time and a
//! footprint are read through once when they are made, so that the rest is known.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kernel::{Bytes, Dur, Time};

use crate::clock::{at_speed, fits};
use crate::error::{Spot, detail};
use crate::{About, BATCH, Draws, Request, RequestSource, TraceError, Workload};

/// Addresses move in units of this; within a unit nothing changes.
const EXTENT_SHIFT: u32 = 20;
/// Addresses end here, so that they can be moved and added.
const FARTHEST: u64 = 1 << 62;
/// A greater factor is a mistake.
const LARGEST_FACTOR: f64 = 1e6;

/// The requests of some stretch of a workload's time: `10min..2h`, `10min..`, `..2h`. A request at
/// its beginning is in it, and one at its end is not.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    from: Dur,
    to: Option<Dur>,
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "`{text}` is not a slice of time: {what}; expected such as 10min..2h, 10min.. or ..2h"
            )
        };
        let (from, to) = text.split_once("..").ok_or_else(|| wrong("it has no `..`"))?;
        let time = |text: &str| {
            let text = text.trim();
            let time = (!text.is_empty()).then(|| text.parse::<Dur>()).transpose();
            time.map_err(|e| wrong(&e.to_string()))
        };
        let slice = Self { from: time(from)?.unwrap_or_default(), to: time(to)? };
        if slice.to.is_some_and(|to| to <= slice.from) {
            return Err(wrong("it ends before it begins"));
        }
        Ok(slice)
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from > Dur::ZERO {
            write!(f, "{}", self.from)?;
        }
        f.write_str("..")?;
        self.to.map_or(Ok(()), |to| write!(f, "{to}"))
    }
}

/// The changes to a workload; by default none.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Steps {
    /// Only the requests of this stretch of time, counted from the first request. The first one
    /// left arrives at zero.
    pub slice: Option<Slice>,
    /// Only this number of requests.
    pub first: Option<u64>,
    /// The extent of 1 MiB with the number `e` goes to the number `e` times this, rounded down.
    pub footprint: Option<f64>,
    /// Times are divided by this.
    pub speed: Option<f64>,
    /// The number of times that all of it comes, one after the other at the same addresses. Between
    /// two rounds lies the mean distance of two requests.
    pub repeat: Option<u64>,
}

impl Steps {
    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The changes, in the order in which they apply; `None` if there are none.
    pub fn said(&self) -> Option<String> {
        let parts = [
            self.slice.map(|slice| format!("slice={slice}")),
            self.first.map(|n| format!("first={n}")),
            self.footprint.map(|factor| format!("footprint={factor}")),
            self.speed.map(|factor| format!("speed={factor}")),
            self.repeat.map(|n| format!("repeat={n}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// A contradiction, with its key.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, factor) in [("footprint", self.footprint), ("speed", self.speed)] {
            if let Some(x) = factor.filter(|x| !(*x > 0.0 && *x <= LARGEST_FACTOR)) {
                return Err((key, format!("{x} is not a factor; expected 0 < {key} <= 1000000")));
            }
        }
        for (key, number) in [("first", self.first), ("repeat", self.repeat)] {
            if number == Some(0) {
                return Err((key, format!("nothing is left; expected {key} of at least 1")));
            }
        }
        Ok(())
    }

    /// The workload with all changes applied.
    pub fn apply(&self, inner: Box<dyn Workload>) -> Result<Box<dyn Workload>, TraceError> {
        if self.is_empty() {
            return Ok(inner);
        }
        let name: Arc<str> = inner.about().name.as_str().into();
        let wrong = |found: String, expected: &str, hint: &str| {
            TraceError::Parameter(detail(&name, Spot::Whole, found, expected, hint))
        };
        self.check().map_err(|(key, what)| wrong(format!("`{key}`"), &what, ""))?;
        if !inner.about().closed.is_empty() {
            let found = format!("`{}` of parts with queue depths", self.said().unwrap_or_default());
            return Err(wrong(found, "it in the file, at the part that it is meant for", ""));
        }
        let by_time = self.slice.is_some() || self.speed.is_some();
        if by_time && !inner.about().timed {
            let key = if self.slice.is_some() { "slice" } else { "speed" };
            let found = format!("`{key}` of a workload whose requests have no times");
            return Err(wrong(found, "a workload with times", "`first` takes its first requests"));
        }
        let mut about = inner.about().clone();
        let origin = inner.origin();
        let spec = Spec { steps: self.clone(), name, base: Dur::ZERO };
        let mut changed = Changed { inner: inner.into(), spec, origin, about: about.clone() };
        if let Some(first) = self.first {
            about.requests = about.requests.map(|all| all.min(first));
        }
        if self.slice.is_some() || self.footprint.is_some() {
            let seen = changed.survey()?;
            changed.spec.base = seen.base;
            changed.origin = origin.and_then(|origin| origin.checked_add(seen.base.as_ns()));
            about.requests = Some(seen.requests);
            if self.footprint.is_some() {
                about.span = Some(seen.end);
            }
            about.notes.push(format!(
                "{} requests within {} are left by {}",
                seen.requests,
                Bytes::new(seen.end).rounded(),
                Self { repeat: None, speed: None, ..self.clone() }.said().unwrap_or_default(),
            ));
        }
        if let Some(repeat) = self.repeat {
            about.requests = about.requests.and_then(|n| n.checked_mul(repeat));
        }
        about.reading = joined(about.reading.as_deref(), self.said().as_deref());
        changed.about = about;
        Ok(Box::new(changed))
    }
}

/// Two descriptions of a workload, joined.
pub(crate) fn joined(one: Option<&str>, other: Option<&str>) -> Option<String> {
    let both: Vec<&str> = [one, other].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// A workload with changes.
struct Changed {
    inner: Arc<dyn Workload>,
    spec: Spec,
    origin: Option<u64>,
    about: About,
}

/// The settled changes.
#[derive(Clone)]
struct Spec {
    steps: Steps,
    name: Arc<str>,
    /// The arrival of the first request of the slice.
    base: Dur,
}

/// The content of one round of a changed workload.
struct Seen {
    base: Dur,
    requests: u64,
    /// The greatest end of a request, moved.
    end: u64,
}

impl Changed {
    fn round(&self, pass: u64) -> Result<Round, TraceError> {
        let spec = self.spec.clone();
        let left = spec.steps.first.unwrap_or(u64::MAX);
        Ok(Round { source: self.inner.open_pass(pass)?, spec, left, ended: false })
    }

    /// Reads through one round before its base is known.
    fn survey(&self) -> Result<Seen, TraceError> {
        let (mut round, mut batch) = (self.round(0)?, Vec::with_capacity(BATCH));
        let mut seen = Seen { base: Dur::ZERO, requests: 0, end: 0 };
        loop {
            round.cut(&mut batch)?;
            let Some(first) = batch.first() else { break };
            if seen.requests == 0 {
                seen.base = first.at - Time::ZERO;
            }
            round.spec.place(&mut batch)?;
            seen.requests += batch.len() as u64;
            seen.end = batch.iter().map(Request::end).max().unwrap_or(0).max(seen.end);
        }
        if seen.requests > 0 {
            if self.spec.steps.slice.is_none() {
                seen.base = Dur::ZERO;
            }
            return Ok(seen);
        }
        let found = format!("no request in {}", self.spec.steps.said().unwrap_or_default());
        let expected = "a slice with requests";
        let hint = "`floatgate trace describe` shows how long a workload is";
        let what = detail(&self.spec.name, Spot::Whole, found, expected, hint);
        Err(TraceError::Parameter(what))
    }
}

impl Workload for Changed {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let round = self.round(pass)?;
        let Some(rounds) = self.spec.steps.repeat.filter(|n| *n > 1) else {
            return Ok(Box::new(round));
        };
        Ok(Box::new(Repeated {
            inner: Arc::clone(&self.inner),
            pass,
            round,
            left: rounds - 1,
            begins: Dur::ZERO,
            period: None,
            requests: 0,
            latest: Time::ZERO,
            skipped: 0,
        }))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }

    fn origin(&self) -> Option<u64> {
        self.origin
    }
}

/// One pass over a workload, with everything done but its repetition.
struct Round {
    source: Box<dyn RequestSource>,
    spec: Spec,
    /// Requests that may still come.
    left: u64,
    ended: bool,
}

impl Round {
    /// The next requests of those that are left, at their original times and addresses.
    fn cut(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        loop {
            if self.ended || self.left == 0 {
                batch.clear();
                return Ok(());
            }
            self.source.fill(batch)?;
            if batch.is_empty() {
                self.ended = true;
                return Ok(());
            }
            if let Some(Slice { from, to }) = self.spec.steps.slice {
                if let Some(to) = to.map(|to| Time::ZERO + to)
                    && batch.last().is_some_and(|r| r.at >= to)
                {
                    self.ended = true;
                    batch.truncate(batch.partition_point(|r| r.at < to));
                }
                let from = Time::ZERO + from;
                if batch.first().is_some_and(|r| r.at < from) {
                    batch.drain(..batch.partition_point(|r| r.at < from));
                }
            }
            if self.left < batch.len() as u64 {
                batch.truncate(self.left as usize);
            }
            self.left -= batch.len() as u64;
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }
}

impl Spec {
    fn place(&self, batch: &mut [Request]) -> Result<(), TraceError> {
        let Some(factor) = self.steps.footprint else { return Ok(()) };
        let inside = (1 << EXTENT_SHIFT) - 1;
        for r in batch {
            // A product beyond 2^62 saturates, and is found below.
            let extent = ((r.offset >> EXTENT_SHIFT) as f64 * factor) as u64;
            let offset = extent.saturating_mul(1 << EXTENT_SHIFT) | r.offset & inside;
            if offset > FARTHEST - u64::from(u32::MAX) {
                let found = format!("`footprint={factor}` moves address {} too far", r.offset);
                let what = detail(&self.name, Spot::Whole, found, "addresses below 4 EiB", "");
                return Err(TraceError::Parameter(what));
            }
            r.offset = offset;
        }
        Ok(())
    }

    fn pace(&self, batch: &mut [Request]) -> Result<(), TraceError> {
        if self.base > Dur::ZERO {
            for r in &mut *batch {
                r.at = Time::ZERO + (r.at - Time::ZERO - self.base);
            }
        }
        at_speed(batch, self.steps.speed.unwrap_or(1.0), &self.name)
    }
}

impl RequestSource for Round {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.cut(batch)?;
        self.spec.place(batch)?;
        self.spec.pace(batch)
    }

    fn skipped(&self) -> u64 {
        self.source.skipped()
    }
}

/// Rounds one after the other.
struct Repeated {
    inner: Arc<dyn Workload>,
    pass: u64,
    round: Round,
    /// Rounds to come.
    left: u64,
    /// When the present round began.
    begins: Dur,
    /// From the beginning of a round to that of the next; known when one has ended.
    period: Option<Dur>,
    /// Of the first round.
    requests: u64,
    latest: Time,
    /// In the rounds before.
    skipped: u64,
}

impl Repeated {
    /// Begins the next round; `false` if there is none.
    fn again(&mut self) -> Result<bool, TraceError> {
        if self.left == 0 || self.requests == 0 {
            return Ok(false);
        }
        let length = self.latest.as_ns();
        let gap = length.checked_div(self.requests - 1).unwrap_or(0);
        let period = *self.period.get_or_insert(Dur::ns(length + gap));
        let rest = period.as_ns().checked_mul(self.left);
        let last = rest.and_then(|rest| (self.begins.as_ns() + length).checked_add(rest));
        if !last.is_some_and(fits) {
            let name = &self.round.spec.name;
            let found = "the repetitions take more than 146 years";
            let what = detail(name, Spot::Whole, found, "times below 146 years", "repeat it less");
            return Err(TraceError::Clock(what));
        }
        self.begins += period;
        self.left -= 1;
        self.skipped += self.round.source.skipped();
        self.round.source = self.inner.open_pass(self.pass)?;
        self.round.left = self.round.spec.steps.first.unwrap_or(u64::MAX);
        self.round.ended = false;
        Ok(true)
    }
}

impl RequestSource for Repeated {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        loop {
            self.round.fill(batch)?;
            if !batch.is_empty() {
                break;
            }
            if !self.again()? {
                return Ok(());
            }
        }
        if self.period.is_none() {
            self.requests += batch.len() as u64;
            self.latest = batch.last().map_or(self.latest, |r| r.at);
        } else {
            for r in batch {
                r.at += self.begins;
            }
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.skipped + self.round.skipped()
    }
}

#[cfg(test)]
mod tests;

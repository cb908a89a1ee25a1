//! Changes to a workload's addresses so that it fits a drive.

use std::sync::Arc;

use kernel::Bytes;
use serde::{Deserialize, Serialize};

use super::extents::{self, Extents};
use crate::error::{Spot, detail};
use crate::{About, BATCH, Draws, Flows, Loop, Op, Request, RequestSource, TraceError, Workload};

/// The rule for a request that reaches beyond the drive.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutOfRange {
    /// The run stops before it begins.
    #[default]
    Refuse,
    /// Addresses are taken modulo the capacity. Distant data may meet on one address.
    Wrap,
    /// Every touched extent of 1 MiB gets a place in the order of first touch, so the drive holds
    /// the used extents and nothing in between. Applies to all requests, in range or not.
    Compact,
}

/// A workload moved by a number of bytes and folded into a drive.
///
/// Requests are never split or cut, so their number is that of the trace.
pub struct AddressWrap {
    inner: Box<dyn Workload>,
    about: About,
    spec: Spec,
}

/// The resolved rule, cheap to copy into every opening.
#[derive(Clone)]
struct Spec {
    name: Arc<str>,
    rule: OutOfRange,
    shift: i64,
    capacity: u64,
    /// Of `Compact` only.
    extents: Option<Arc<Extents>>,
}

impl AddressWrap {
    /// Moves every address by `shift` bytes, then applies `rule` for a drive of `capacity`.
    ///
    /// Reads the workload through once if the answer depends on all of it: for `Compact`, and for
    /// `Refuse` when the workload may reach out of range.
    pub fn new(
        inner: Box<dyn Workload>,
        rule: OutOfRange,
        shift: i64,
        capacity: Bytes,
    ) -> Result<Self, TraceError> {
        let mut about = inner.about().clone();
        let name = Arc::from(about.name.as_str());
        let mut spec = Spec { name, rule, shift, capacity: capacity.get(), extents: None };
        let span = about.span.and_then(|span| span.checked_add_signed(shift.max(0)));
        let fits = span.is_some_and(|span| span <= spec.capacity);
        if shift != 0 {
            about.notes.push(format!("all addresses moved by {shift} bytes"));
        }
        match rule {
            OutOfRange::Refuse => {
                if (!fits || shift < 0)
                    && let Some((number, request)) = spec.first_beyond(&*inner)?
                {
                    return Err(spec.beyond(number, &request, spec.ways_out(&*inner)));
                }
                about.span = span.filter(|_| fits);
            }
            OutOfRange::Wrap => {
                if !fits {
                    about.notes.push(format!("addresses are taken modulo {}", capacity.rounded()));
                }
                // A negative shift moves the lowest addresses to the end.
                about.span = span.filter(|_| fits && shift >= 0).or(Some(spec.capacity));
            }
            OutOfRange::Compact => {
                let mut extents = Extents::new();
                spec.pass(&*inner, |_, r| {
                    extents.touch(r.offset, r.end());
                    true
                })?;
                let used = extents.settle();
                if used > spec.largest_packed() {
                    return Err(spec.too_much(used));
                }
                about.notes.push(format!(
                    "packed into {} by the order of first touch of 1 MiB extents",
                    Bytes::new(used).rounded()
                ));
                about.span = Some(used);
                spec.extents = Some(Arc::new(extents));
            }
        }
        Ok(Self { inner, about, spec })
    }
}

impl Workload for AddressWrap {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let pass = if self.draws() == Draws::Nothing { 0 } else { pass };
        Ok(self.folded(self.inner.open_pass(pass)?))
    }

    fn draws(&self) -> Draws {
        // A packing by first touch has places for the requests that were seen.
        let packed = self.spec.rule == OutOfRange::Compact;
        if packed { Draws::Nothing } else { self.inner.draws() }
    }

    fn flows(&self) -> Result<Flows, TraceError> {
        let Flows { open, closed } = self.inner.flows()?;
        let closed = closed.into_iter().map(|l| Loop { source: self.folded(l.source), ..l });
        Ok(Flows { open: self.folded(open), closed: closed.collect() })
    }

    fn writes_whole_pages(&self, page: Bytes) -> bool {
        let Spec { rule, shift, capacity, .. } = self.spec;
        let whole = |bytes: u64| bytes.is_multiple_of(page.get());
        let keeps = match rule {
            OutOfRange::Refuse => true,
            OutOfRange::Wrap => whole(capacity),
            OutOfRange::Compact => whole(1 << extents::EXTENT_SHIFT),
        };
        keeps && whole(shift.unsigned_abs()) && self.inner.writes_whole_pages(page)
    }

    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        let draws = self.draws() != Draws::Nothing;
        let endless = draws.then(|| self.inner.endless()).flatten();
        endless.map(|inner| self.folded(inner))
    }
}

impl AddressWrap {
    fn folded(&self, inner: Box<dyn RequestSource>) -> Box<dyn RequestSource> {
        Box::new(Folded { inner, spec: self.spec.clone(), done: 0 })
    }
}

/// One opening of a folded workload.
struct Folded {
    inner: Box<dyn RequestSource>,
    spec: Spec,
    /// Requests given out, to name the one that does not fit.
    done: u64,
}

impl RequestSource for Folded {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        self.inner.fill(batch)?;
        self.spec.shift(batch, self.done)?;
        self.spec.fold(batch, self.done)?;
        self.done += batch.len() as u64;
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

impl Spec {
    /// Reads through the workload, moved but not yet folded, as long as `see` answers `true`. `see`
    /// gets each request that has an address, with its number among all, from 1.
    fn pass(
        &self,
        inner: &dyn Workload,
        mut see: impl FnMut(u64, &Request) -> bool,
    ) -> Result<(), TraceError> {
        let mut source = inner.open()?;
        let mut batch = Vec::with_capacity(BATCH);
        let mut done = 0;
        loop {
            source.fill(&mut batch)?;
            if batch.is_empty() {
                return Ok(());
            }
            self.shift(&mut batch, done)?;
            for request in &batch {
                done += 1;
                if request.has_extent() && !see(done, request) {
                    return Ok(());
                }
            }
        }
    }

    /// The first request that reaches beyond the drive, with its number.
    fn first_beyond(&self, inner: &dyn Workload) -> Result<Option<(u64, Request)>, TraceError> {
        let mut found = None;
        self.pass(inner, |number, r| {
            let out = self.is_beyond(r);
            if out {
                found = Some((number, *r));
            }
            !out
        })?;
        Ok(found)
    }

    fn is_beyond(&self, r: &Request) -> bool {
        r.offset.saturating_add(u64::from(r.len)) > self.capacity
    }

    /// The remedy for requests beyond the drive. `compact` is tried before it is offered.
    #[cold]
    fn ways_out(&self, inner: &dyn Workload) -> String {
        const WRAP: &str = "`host.out-of-range = \"wrap\"` takes addresses modulo the capacity";
        let (mut extents, mut end) = (Extents::new(), 0);
        let all = self.pass(inner, |_, r| {
            extents.touch(r.offset, r.end());
            end = end.max(r.end());
            true
        });
        if let Err(e) = all {
            let d = e.detail();
            return format!(
                "{WRAP}; whether `\"compact\"` can pack them is not known, as not all of them can be \
                 read ({}: {})",
                d.place, d.found
            );
        }
        let (used, end) = (extents.settle(), mib(end));
        if used <= self.largest_packed() {
            format!(
                "`host.out-of-range = \"compact\"` packs the {} that the requests touch (in extents \
                 of 1 MiB) into the drive, `\"wrap\"` takes addresses modulo the capacity; or take a \
                 drive of at least {end}",
                mib(used)
            )
        } else {
            format!(
                "the requests touch {} (in extents of 1 MiB), so that `host.out-of-range = \
                 \"compact\"` needs a drive of at least that size, and `\"refuse\"` one of {end}; \
                 {WRAP}",
                mib(used)
            )
        }
    }

    /// The most bytes that can be packed into the drive.
    fn largest_packed(&self) -> u64 {
        self.capacity.min(extents::MOST << 20)
    }

    fn shift(&self, batch: &mut [Request], done: u64) -> Result<(), TraceError> {
        if self.shift == 0 {
            return Ok(());
        }
        for (i, r) in batch.iter_mut().enumerate().filter(|(_, r)| r.has_extent()) {
            r.offset = match r.offset.checked_add_signed(self.shift) {
                Some(offset) => offset,
                None if self.rule == OutOfRange::Wrap => {
                    let capacity = i128::from(self.capacity.max(1));
                    (i128::from(r.offset) + i128::from(self.shift)).rem_euclid(capacity) as u64
                }
                None => return Err(self.below_zero(done + i as u64 + 1, r)),
            };
        }
        Ok(())
    }

    fn fold(&self, batch: &mut [Request], done: u64) -> Result<(), TraceError> {
        match (self.rule, &self.extents) {
            (OutOfRange::Compact, Some(extents)) => {
                let mut lookup = extents.lookup();
                for r in batch.iter_mut().filter(|r| r.has_extent()) {
                    r.offset = lookup.place(r.offset);
                }
            }
            (OutOfRange::Wrap, _) => {
                for (i, r) in batch.iter_mut().enumerate() {
                    if self.is_beyond(r) {
                        r.offset =
                            self.wrapped(r).ok_or_else(|| self.longer(done + i as u64 + 1, r))?;
                    }
                }
            }
            _ => {
                if let Some(i) = batch.iter().position(|r| self.is_beyond(r)) {
                    let way_out = "the workload said that it ends before".to_owned();
                    return Err(self.beyond(done + i as u64 + 1, &batch[i], way_out));
                }
            }
        }
        Ok(())
    }

    /// The address modulo the capacity. A request that would still cross the end starts over at
    /// the front, as far off a 4 KiB page as before; `None` if it is larger than the drive.
    fn wrapped(&self, r: &Request) -> Option<u64> {
        let len = u64::from(r.len);
        let room = self.capacity.checked_sub(len)?;
        let at = r.offset % self.capacity;
        if at <= room {
            return Some(at);
        }
        let in_page = r.offset % 4096;
        Some(if in_page <= room { in_page } else { 0 })
    }

    #[cold]
    fn beyond(&self, number: u64, r: &Request, way_out: String) -> TraceError {
        TraceError::Range(detail(
            &self.name,
            Spot::Request(number),
            format!("{} beyond the drive", said(r)),
            format!(
                "addresses below its capacity of {} bytes ({})",
                self.capacity,
                gib(self.capacity)
            ),
            way_out,
        ))
    }

    #[cold]
    fn longer(&self, number: u64, r: &Request) -> TraceError {
        TraceError::Range(detail(
            &self.name,
            Spot::Request(number),
            format!("{} that is longer than the drive", said(r)),
            format!("at most its capacity of {} bytes ({})", self.capacity, gib(self.capacity)),
            "take a larger drive",
        ))
    }

    #[cold]
    fn below_zero(&self, number: u64, r: &Request) -> TraceError {
        TraceError::Range(detail(
            &self.name,
            Spot::Request(number),
            format!("{} comes to lie before the start of the drive", said(r)),
            format!("addresses of at least {} bytes for this shift", self.shift.unsigned_abs()),
            "a positive `workload.shift` moves addresses up; one of 4096 bytes more aligns the same",
        ))
    }

    #[cold]
    fn too_much(&self, used: u64) -> TraceError {
        TraceError::Range(detail(
            &self.name,
            Spot::Whole,
            format!(
                "the requests touch {} extents of 1 MiB ({}) and cannot be packed into the drive",
                used >> 20,
                gib(used)
            ),
            format!("at most its capacity of {} bytes ({})", self.capacity, gib(self.capacity)),
            format!("take a drive of at least {}, or `host.out-of-range = \"wrap\"`", mib(used)),
        ))
    }
}

fn said(r: &Request) -> String {
    let what = match r.op {
        Op::Read => "a read",
        Op::Write | Op::WriteFua => "a write",
        Op::Trim => "a trim",
        Op::Flush => "a flush",
    };
    format!("{what} of {} bytes at address {} ({})", r.len, r.offset, gib(r.offset))
}

/// Rounded up: a drive of this size is large enough.
fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

fn gib(bytes: u64) -> String {
    format!("{:.3} GiB", bytes as f64 / (1_u64 << 30) as f64)
}

/// Counts how requests start relative to 4 KiB, and which shift would align most.
///
/// Virtual disks of old partition tables start 63 sectors in; a drive then reads and writes two
/// pages for every aligned one, which no result should hide.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Alignment {
    /// Requests by the 512-byte sector of a 4 KiB page on which they start.
    by_sector: [u64; 8],
    /// Requests that do not start on a sector.
    off_sector: u64,
}

impl Alignment {
    /// No requests yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.by_sector.iter_mut().zip(other.by_sector) {
            *sum += more;
        }
        self.off_sector += other.off_sector;
    }

    /// Counts a batch.
    #[inline]
    pub fn observe(&mut self, batch: &[Request]) {
        for r in batch.iter().filter(|r| r.has_extent()) {
            if r.offset % 512 == 0 {
                self.by_sector[(r.offset / 512 % 8) as usize] += 1;
            } else {
                self.off_sector += 1;
            }
        }
    }

    /// All requests seen.
    pub fn total(&self) -> u64 {
        self.by_sector.iter().sum::<u64>() + self.off_sector
    }

    /// Those that start on a multiple of 4 KiB.
    pub fn aligned(&self) -> u64 {
        self.by_sector[0]
    }

    /// The shift (bytes, a multiple of 512 below 4096) that puts most requests on a multiple of 4
    /// KiB, and their number. The shift is 0 if none gains anything.
    pub fn best_shift(&self) -> (u64, u64) {
        let counts = self.by_sector.iter().enumerate();
        let (sector, count) =
            counts.fold(
                (0, 0),
                |best, (sector, &count)| {
                    if count > best.1 { (sector, count) } else { best }
                },
            );
        ((8 - sector as u64) % 8 * 512, count)
    }
}

#[cfg(test)]
mod tests;

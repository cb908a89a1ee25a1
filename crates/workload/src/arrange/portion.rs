//! A workload as a part of a drive sees it: one of several equal parts, or a drive scaled down.
//!
//! A drive spreads consecutive pages over its dies, so each part of `of` gets one page of every `of`
//! consecutive ones. The page of each group is drawn: a workload that writes at multiples
//! of some size would otherwise meet one part only. Each page keeps all its reads, writes and trims,
//! so the share of the pages that is written and the skew among them are those of the whole.
//!
//! A drive that is scaled down gets one extent of every few instead, so requests stay whole. It has all the
//! dies, so the sample comes as many times faster as it has fewer requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use kernel::{Bytes, Dur, Time};

use super::steps::joined;
use crate::{About, BATCH, Draws, Flows, Loop, Request, RequestSource, TraceError, Workload};

/// One page of every `of` consecutive ones, drawn by a seed, at the place that its group has among
/// all groups; and one flush of every `of`. Or one extent of every few.
pub struct Portion {
    inner: Arc<dyn Workload>,
    about: About,
    spec: Spec,
    /// Of the whole workload.
    requests: u64,
    written: u64,
    sample: SampleFacts,
}

/// The numbers of a workload and of a sample of it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct SampleFacts {
    /// Requests of the workload.
    pub requests: u64,
    /// Those that touch the sample.
    pub kept: u64,
    /// The share of the bytes written that the sample has; 0 if nothing is written.
    pub written_share: f64,
    /// How much the bytes written by a sample vary between draws: their standard deviation, as a share
    /// of their mean. It is that of drawing one extent of each group. 0 without times of its own.
    pub written_varies: f64,
    /// The share of the requests that arrive at most 1 ms after the one before, in the workload and
    /// in the sample.
    pub soon: [f64; 2],
}

impl SampleFacts {
    /// How many times faster the requests of the sample arrive.
    pub fn faster(&self) -> f64 {
        self.requests as f64 / self.kept.max(1) as f64
    }
}

/// A request that follows within this time may still meet the earlier one in the drive.
const SOON: Dur = Dur::ms(1);

/// The greatest extent of a sample: most requests lie within one.
const EXTENT: u64 = 1 << 20;
/// A sample has at least as many extents, if it has as many pages.
const LEAST_EXTENTS: u64 = 1024;

#[derive(Copy, Clone)]
struct Spec {
    /// Bytes of a page, or of an extent.
    page: u64,
    seed: u64,
    /// The pages of the whole that count, and those of the part: one from each group.
    from: u64,
    to: u64,
    /// One flush in this number is kept.
    flushes: u64,
    /// Requests of the part for each of the whole, if its times are as many times shorter.
    paced: Option<(u64, u64)>,
}

impl Portion {
    /// The part of a drive of `pages` pages of `page` bytes each. Goes through the workload once.
    ///
    /// # Errors
    /// The workload cannot be read.
    ///
    /// # Panics
    /// Panics if `of` is 0.
    pub fn new(
        inner: Box<dyn Workload>,
        of: u32,
        seed: u64,
        page: Bytes,
        pages: u32,
    ) -> Result<Self, TraceError> {
        let of = u64::from(of);
        let groups = u64::from(pages) / of;
        let spec = Spec {
            page: page.get(),
            seed,
            from: groups * of,
            to: groups,
            flushes: of,
            paced: None,
        };
        let mut part = Self::of(inner, spec, false)?;
        let about = &mut part.about;
        about.reading = joined(about.reading.as_deref(), Some(&format!("part=1/{of}:{seed}")));
        about.notes.push(format!(
            "one page of every {of} consecutive ones is simulated, drawn by the seed: {} of {} \
             requests touch one",
            part.sample.kept, part.requests,
        ));
        for flow in &mut about.flows {
            flow.region = (flow.region.0 / of, flow.region.1 / of);
        }
        Ok(part)
    }

    /// The sample of a drive that exports `to` bytes where the whole one exports `from`. It consists of
    /// extents, drawn by the seed, each a multiple of `page`. Goes through the workload once.
    ///
    /// # Errors
    /// The workload cannot be read.
    pub fn scaled(
        inner: Box<dyn Workload>,
        seed: u64,
        page: Bytes,
        [from, to]: [Bytes; 2],
    ) -> Result<Self, TraceError> {
        let mut extent = page.get();
        while extent * 2 <= EXTENT && to.get() / (extent * 2) >= LEAST_EXTENTS {
            extent *= 2;
        }
        let [from, to] = [from, to].map(|bytes| (bytes.get() / extent).max(1));
        let flushes = from.div_ceil(to);
        let spec = Spec { page: extent, seed, from, to, flushes, paced: None };
        let mut part = Self::of(inner, spec, true)?;
        part.spec.paced = Some((part.sample.kept.max(1), part.sample.requests.max(1)));
        let about = &mut part.about;
        let size = Bytes::new(extent);
        let reading = format!("sample={to}/{from}:{size}:{seed}");
        about.reading = joined(about.reading.as_deref(), Some(&reading));
        about.notes.push(format!(
            "{to} of {from} extents of {size} are simulated, one of each group of neighbours, drawn by the \
             seed. {} of {} requests touch one, and they arrive as many times faster",
            part.sample.kept, part.requests,
        ));
        for flow in &mut about.flows {
            let scaled = |at: u64| (u128::from(at) * u128::from(to) / u128::from(from)) as u64;
            flow.region = (scaled(flow.region.0), scaled(flow.region.1));
        }
        Ok(part)
    }

    fn of(inner: Box<dyn Workload>, spec: Spec, timed: bool) -> Result<Self, TraceError> {
        let (mut all, mut written, mut kept, mut kept_written) = (0, 0, 0, 0);
        let mut flushes = 0;
        // The part's times are as many times shorter as it has fewer pages, nearly.
        let mut by_extent = WrittenByExtent::default();
        let mut gaps = [SOON, SOON * (spec.from / spec.to.max(1))].map(ArrivalGaps::new);
        inner.each_batch(|batch| -> Result<(), TraceError> {
            for request in batch {
                let bytes = |r: &Request| if r.op.writes() { u64::from(r.len) } else { 0 };
                all += 1;
                written += bytes(request);
                let piece = spec.part(request, &mut flushes);
                kept += u64::from(piece.is_some());
                kept_written += piece.as_ref().map_or(0, bytes);
                if timed {
                    by_extent.add(request, spec);
                    gaps[0].see(request.at);
                    if let Some(piece) = piece {
                        gaps[1].see(piece.at);
                    }
                }
            }
            Ok(())
        })?;
        let mut about = inner.about().clone();
        about.requests = Some(kept);
        about.span = Some(spec.to * spec.page);
        let share = |of: u64, all: u64| if all == 0 { 0.0 } else { of as f64 / all as f64 };
        let sample = SampleFacts {
            requests: all,
            kept,
            written_share: share(kept_written, written),
            written_varies: by_extent.variation(spec),
            soon: [share(gaps[0].soon, all), share(gaps[1].soon, kept)],
        };
        Ok(Self { inner: inner.into(), about, spec, requests: all, written, sample })
    }

    /// The requests of the whole workload.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The bytes that all requests of the whole workload write.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The numbers of the workload and of the part.
    pub fn sample(&self) -> SampleFacts {
        self.sample
    }

    fn parted(&self, inner: Box<dyn RequestSource>) -> Box<dyn RequestSource> {
        Box::new(Parted { inner, spec: self.spec, flushes: 0, read: Vec::with_capacity(BATCH) })
    }
}

impl Spec {
    /// The group of a page: groups are as equal as they can be.
    #[inline]
    fn group(self, page: u64) -> u64 {
        page * self.to / self.from
    }

    /// The first page of a group.
    #[inline]
    fn first(self, group: u64) -> u64 {
        (group * self.from).div_ceil(self.to)
    }

    /// The page of a group that is in the part.
    #[inline]
    fn drawn(self, group: u64) -> u64 {
        // The finalizer of splitmix64.
        let mut x = group ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let first = self.first(group);
        first + (x ^ (x >> 31)) % (self.first(group + 1) - first)
    }

    /// The piece of a request in the part; `None`: nothing.
    #[inline]
    fn part(self, request: &Request, flushes: &mut u64) -> Option<Request> {
        if !request.has_extent() {
            *flushes += 1;
            return (*flushes).is_multiple_of(self.flushes).then_some(*request);
        }
        let (start, end) = (request.offset, request.end());
        if start == end {
            return None;
        }
        let (first, last) = (start / self.page, (end - 1) / self.page);
        if first >= self.from {
            return None;
        }
        let (mut low, mut high) = (self.group(first), self.group(last.min(self.from)) + 1);
        low += u64::from(self.drawn(low) < first);
        high -= u64::from(high > low && self.drawn(high - 1) > last);
        high = high.min(self.to);
        if low >= high {
            return None;
        }
        // The first and the last page may be touched in part.
        let before = if self.drawn(low) == first { start % self.page } else { 0 };
        let behind = if self.drawn(high - 1) == last { (last + 1) * self.page - end } else { 0 };
        let offset = low * self.page + before;
        let len = (high * self.page - behind - offset) as u32;
        Some(Request { offset, len, ..*request })
    }
}

impl Workload for Portion {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(self.parted(self.inner.open_pass(pass)?))
    }

    fn draws(&self) -> Draws {
        self.inner.draws()
    }

    fn flows(&self) -> Result<Flows, TraceError> {
        let Flows { open, closed } = self.inner.flows()?;
        let depth = |depth: u32| match self.spec.paced {
            Some(_) => depth,
            None => (depth / self.spec.flushes as u32).max(1),
        };
        let until = |at: Time| self.spec.paced.map_or(at, |faster| paced(at, faster));
        let part = |l: Loop| Loop {
            source: self.parted(l.source),
            depth: depth(l.depth),
            until: until(l.until),
            ..l
        };
        let closed = closed.into_iter().map(part).collect();
        Ok(Flows { open: self.parted(open), closed })
    }

    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        self.inner.endless().map(|inner| self.parted(inner))
    }

    fn writes_whole_pages(&self, page: Bytes) -> bool {
        page.get() == self.spec.page && self.inner.writes_whole_pages(page)
    }

    fn origin(&self) -> Option<u64> {
        self.inner.origin()
    }
}

/// The bytes written to each extent that is written at all.
#[derive(Default)]
struct WrittenByExtent {
    bytes: BTreeMap<u64, u64>,
}

impl WrittenByExtent {
    fn add(&mut self, request: &Request, spec: Spec) {
        if !request.op.writes() {
            return;
        }
        let (mut start, end) = (request.offset, request.end().min(spec.from * spec.page));
        while start < end {
            let extent = start / spec.page;
            let next = end.min((extent + 1) * spec.page);
            *self.bytes.entry(extent).or_default() += next - start;
            start = next;
        }
    }

    /// The standard deviation of the bytes of one extent of each group, as a share of their mean.
    ///
    /// An extent of a group of g stands for g of them. So a group with the bytes w of its extents adds
    /// `g Σ w² - (Σ w)²` to the variance of the estimated sum.
    fn variation(&self, spec: Spec) -> f64 {
        let (mut total, mut variance) = (0.0, 0.0);
        let mut group = (0, 0.0, 0.0);
        let mut end = |(at, sum, squares): (u64, f64, f64)| {
            total += sum;
            let size = (spec.first(at + 1) - spec.first(at)) as f64;
            variance += (size * squares - sum * sum).max(0.0);
        };
        for (extent, bytes) in &self.bytes {
            let at = spec.group(*extent);
            if at != group.0 {
                end(group);
                group = (at, 0.0, 0.0);
            }
            let bytes = *bytes as f64;
            group = (at, group.1 + bytes, group.2 + bytes * bytes);
        }
        end(group);
        if total > 0.0 { variance.sqrt() / total } else { 0.0 }
    }
}

/// The times between arrivals.
struct ArrivalGaps {
    last: Option<Time>,
    most: Dur,
    /// The number of gaps that were at most `most`.
    soon: u64,
}

impl ArrivalGaps {
    fn new(most: Dur) -> Self {
        Self { last: None, most, soon: 0 }
    }

    fn see(&mut self, at: Time) {
        let before = self.last.replace(at);
        self.soon += u64::from(before.is_some_and(|before| at <= before + self.most));
    }
}

/// A time that is as many times earlier as the part has fewer requests.
#[inline]
fn paced(at: Time, (kept, all): (u64, u64)) -> Time {
    Time::from_ns((u128::from(at.as_ns()) * u128::from(kept) / u128::from(all)) as u64)
}

/// One opening.
struct Parted {
    inner: Box<dyn RequestSource>,
    spec: Spec,
    flushes: u64,
    read: Vec<Request>,
}

impl RequestSource for Parted {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.is_empty() {
            self.inner.fill(&mut self.read)?;
            if self.read.is_empty() {
                return Ok(());
            }
            let (spec, flushes) = (self.spec, &mut self.flushes);
            batch.extend(self.read.iter().filter_map(|r| spec.part(r, flushes)));
            if let Some(faster) = spec.paced {
                for request in batch.iter_mut() {
                    request.at = paced(request.at, faster);
                }
            }
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

#[cfg(test)]
mod tests;

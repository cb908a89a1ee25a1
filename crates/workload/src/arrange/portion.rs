//! A workload as one of several equal parts of a drive sees it.
//!
//! A drive spreads consecutive pages over its dies, so each part of `of` gets one page of every `of`
//! consecutive ones. The page of each group is drawn: a workload that writes at multiples
//! of some size would otherwise meet one part only. Each page keeps all its reads, writes and trims,
//! so the share of the pages that is written and the skew among them are those of the whole.

use std::sync::Arc;

use kernel::Bytes;

use super::steps::joined;
use crate::{About, BATCH, Flows, Loop, Request, RequestSource, TraceError, Workload};

/// One page of every `of` consecutive ones, drawn by a seed, at the place that its group has among
/// all groups; and one flush of every `of`.
pub struct Portion {
    inner: Arc<dyn Workload>,
    about: About,
    spec: Spec,
    /// Of the whole workload.
    requests: u64,
    written: u64,
}

#[derive(Copy, Clone)]
struct Spec {
    page: u64,
    of: u64,
    seed: u64,
    /// Groups that count: those after them are not of full length.
    groups: u64,
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
        let spec = Spec { page: page.get(), of, seed, groups: u64::from(pages) / of };
        let (mut all, mut written, mut kept) = (0, 0, 0);
        let mut flushes = 0;
        inner.each_batch(|batch| -> Result<(), TraceError> {
            for request in batch {
                all += 1;
                written += if request.op.writes() { u64::from(request.len) } else { 0 };
                kept += u64::from(spec.part(request, &mut flushes).is_some());
            }
            Ok(())
        })?;
        let mut about = inner.about().clone();
        about.requests = Some(kept);
        about.span = Some(spec.groups * spec.page);
        about.reading = joined(about.reading.as_deref(), Some(&format!("part=1/{of}:{seed}")));
        about.notes.push(format!(
            "one page of every {of} consecutive ones is simulated, drawn by the seed: {kept} of {all} \
             requests touch one"
        ));
        for flow in &mut about.flows {
            flow.region = (flow.region.0 / of, flow.region.1 / of);
        }
        Ok(Self { inner: inner.into(), about, spec, requests: all, written })
    }

    /// The requests of the whole workload.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The bytes that all requests of the whole workload write.
    pub fn written(&self) -> u64 {
        self.written
    }

    fn parted(&self, inner: Box<dyn RequestSource>) -> Box<dyn RequestSource> {
        Box::new(Parted { inner, spec: self.spec, flushes: 0, read: Vec::with_capacity(BATCH) })
    }
}

impl Spec {
    /// The page of a group that is in the part.
    #[inline]
    fn drawn(self, group: u64) -> u64 {
        // The finalizer of splitmix64.
        let mut x = group ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        group * self.of + (x ^ (x >> 31)) % self.of
    }

    /// The piece of a request in the part; `None`: nothing.
    #[inline]
    fn part(self, request: &Request, flushes: &mut u64) -> Option<Request> {
        if !request.has_extent() {
            *flushes += 1;
            return (*flushes).is_multiple_of(self.of).then_some(*request);
        }
        let (start, end) = (request.offset, request.end());
        if start == end {
            return None;
        }
        let (first, last) = (start / self.page, (end - 1) / self.page);
        let (mut low, mut high) = (first / self.of, last / self.of + 1);
        low += u64::from(self.drawn(low) < first);
        high -= u64::from(high > low && self.drawn(high - 1) > last);
        high = high.min(self.groups);
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

    fn open(&self) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(self.parted(self.inner.open()?))
    }

    fn flows(&self) -> Result<Flows, TraceError> {
        let Flows { open, closed } = self.inner.flows()?;
        let depth = |depth: u32| (depth / self.spec.of as u32).max(1);
        let part = |l: Loop| Loop { source: self.parted(l.source), depth: depth(l.depth), ..l };
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
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

#[cfg(test)]
mod tests;

//! Measures of a workload: its mix, sizes, rate and order, and the accesses to its pages.
//!
//! One pass over the requests, in memory that does not grow with their number. A *page* is only a
//! unit of address space of the requested size. A *touch* is one request's access to one page. So a
//! request for four pages touches four times, and one for a part of a page touches it once.
//!
//! Trims are counted as requests and touch nothing. Flushes are counted apart. Everything but the
//! span describes the other requests.
//!
//! Page measures are exact as long as a record of every page fits the memory that is allowed
//! ([`Options::new`]). Beyond that they are based on a sample of the address space ([`Sampling`]),
//! and everything else stays exact.

mod characters;
mod concentration;
mod epochs;
mod mix;
mod page;
mod pages;
mod rate;
mod recency;
mod reuse;
mod sequence;
mod sizes;
mod touches;

use std::fmt;

use kernel::{Bytes, Dur};
use serde::Serialize;

use self::mix::Mix;
use self::touches::Touches;
use crate::{Alignment, BATCH, Op, Request, RequestSource, TraceError};

pub use characters::{Characters, Footprint, Identification, OfClasses, Window};
pub use concentration::{Concentration, Curve, TopPage};
pub use epochs::Epochs;
pub use mix::{OfOp, RequestCounts};
pub use rate::{Gaps, Hour, Peak, RateSeries, RequestRate};
pub use reuse::Reuse;
pub use sequence::{RunLengths, Sequence};
pub use sizes::{FrequentSize, RequestSizes, SizeClass};

/// The options of a description.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    page_size: Bytes,
    memory: Bytes,
    epochs: Vec<Dur>,
}

impl Options {
    /// `page_size`: a power of two from 512 B to 16 MiB. `memory`: the limit of the records of
    /// pages, at least 64 KiB. `epochs`: the lengths for which write demand is compared, each above
    /// zero.
    pub fn new(page_size: Bytes, memory: Bytes, epochs: Vec<Dur>) -> Result<Self, BadOption> {
        if !page_size.get().is_power_of_two() || !(512..=1 << 24).contains(&page_size.get()) {
            return Err(BadOption::PageSize(page_size));
        }
        if memory < Bytes::kib(64) {
            return Err(BadOption::Memory(memory));
        }
        if epochs.contains(&Dur::ZERO) {
            return Err(BadOption::Epoch);
        }
        Ok(Self { page_size, memory, epochs })
    }

    /// 768 MiB: ten million pages however scattered, or 85 GiB of dense ones of 4 KiB.
    pub const MEMORY: Bytes = Bytes::mib(768);

    /// One minute to two hours, the range of READY's Figure 4.
    pub fn epochs() -> Vec<Dur> {
        [1, 2, 5, 10, 20, 30, 60, 120].map(|minutes| Dur::secs(60 * minutes)).to_vec()
    }
}

impl Default for Options {
    /// Pages of 4 KiB, [`Options::MEMORY`], [`Options::epochs`].
    fn default() -> Self {
        Self { page_size: Bytes::kib(4), memory: Self::MEMORY, epochs: Self::epochs() }
    }
}

/// Why options cannot be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BadOption {
    /// Not a power of two, or out of bounds.
    PageSize(Bytes),
    /// Too little.
    Memory(Bytes),
    /// An epoch without length.
    Epoch,
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PageSize(size) => {
                write!(f, "a page size of {size}; expected a power of two from 512B to 16MiB")
            }
            Self::Memory(size) => {
                write!(f, "{size} for the records of pages; expected at least 64KiB")
            }
            Self::Epoch => f.write_str("an epoch of length 0; expected a time above zero"),
        }
    }
}

impl std::error::Error for BadOption {}

/// Measures of a workload. Shares are parts of 1, and `None` if the whole is 0.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Description {
    /// From the first request to the last, in nanoseconds.
    pub span_ns: u64,
    /// Requests and bytes by operation.
    pub requests: RequestCounts,
    /// How large requests are.
    pub sizes: RequestSizes,
    /// The start and end of requests relative to pages.
    pub alignment: Aligned,
    /// How often requests begin where others ended.
    pub sequence: Sequence,
    /// Requests but flushes over time; `None` if all arrive at once.
    pub rate: Option<RequestRate>,
    /// Write demand of consecutive epochs, by length of epoch (READY, Figure 4).
    pub epochs: Vec<Epochs>,
    /// All page measures are for this size.
    pub page_bytes: u64,
    /// The part of the pages that the page measures are based on.
    pub sampling: Sampling,
    /// The pages that are touched.
    pub footprint: Footprint,
    /// Read-only, write-only and interleaved pages (AGCR, Figure 2).
    pub characters: Characters,
    /// How well a page's next accesses are foretold by its last ones (AGCR, Figure 6).
    pub identification: Identification,
    /// How many other pages are touched before a page is touched again.
    pub reuse: Reuse,
    /// How reads gather on few pages.
    pub reads: Concentration,
    /// How writes gather on few pages.
    pub writes: Concentration,
}

/// The start and end of requests.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct Aligned {
    /// Share of requests that start on a multiple of 4 KiB.
    pub at_4k: Option<f64>,
    /// Share of requests that start and end at a page's edge.
    pub whole_pages: Option<f64>,
    /// The shift of all addresses, in bytes, that puts most requests on a multiple of 4 KiB.
    pub best_shift_bytes: u64,
    /// The share that would then start there.
    pub at_4k_shifted: Option<f64>,
}

/// Pages are sampled in groups of 16 neighbours, by a hash of their address. A group is in the
/// sample with all its touches, or not at all (spatial sampling, as in SHARDS: Waldspurger et al.,
/// FAST 2015). When the records fill their memory, half of the groups are dropped. Counts of pages
/// and touches are scaled up by the inverse of the rate.
#[derive(Copy, Clone, PartialEq, Debug, Serialize)]
pub struct Sampling {
    /// The part of the address space in the sample, a power of one half; 1 is everything.
    pub rate: f64,
    /// Touched pages in the sample.
    pub pages: u64,
    /// Touched groups in the sample. A share of pages has a standard error of at most half the
    /// inverse root of this number; a share of touches a larger one, if few pages have most.
    pub groups: u64,
}

/// A description in the making.
pub struct Describer {
    options: Options,
    span_ns: u64,
    mix: Mix,
    sizes: sizes::Counter,
    alignment: Alignment,
    whole_pages: u64,
    sequence: sequence::Streams,
    rate: rate::RateClock,
    epochs: Vec<epochs::EpochDemand>,
    touches: Touches,
}

impl Describer {
    /// Nothing seen yet.
    pub fn new(options: &Options) -> Self {
        Self {
            span_ns: 0,
            mix: Mix::default(),
            sizes: sizes::Counter::new(),
            alignment: Alignment::new(),
            whole_pages: 0,
            sequence: sequence::Streams::new(),
            rate: rate::RateClock::new(),
            epochs: options.epochs.iter().map(|&length| epochs::EpochDemand::new(length)).collect(),
            touches: Touches::new(options.page_size, options.memory),
            options: options.clone(),
        }
    }

    /// Counts the next requests, in order of time.
    pub fn observe(&mut self, batch: &[Request]) {
        let Some(last) = batch.last() else { return };
        self.span_ns = last.at.as_ns();
        if batch.iter().any(|r| r.op > Op::Trim) {
            let plain = self.mix.plain(batch);
            self.observe_plain(&plain);
        } else {
            self.observe_plain(batch);
        }
    }

    /// The same for requests that read, write or trim.
    fn observe_plain(&mut self, batch: &[Request]) {
        if batch.is_empty() {
            return;
        }
        self.mix.observe(batch);
        self.sizes.observe(batch);
        self.alignment.observe(batch);
        let inside = self.options.page_size.get() - 1;
        let whole = |r: &&Request| (r.offset | r.end()) & inside == 0;
        self.whole_pages += batch.iter().filter(whole).count() as u64;
        self.sequence.observe(batch);
        self.rate.observe(batch);
        for demand in &mut self.epochs {
            demand.observe(batch);
        }
        self.touches.observe(batch);
    }

    /// The description of all that was seen.
    pub fn finish(self) -> Description {
        let all = self.alignment.total();
        let (best_shift_bytes, shifted) = self.alignment.best_shift();
        let pages = self.touches.finish();
        Description {
            span_ns: self.span_ns,
            requests: self.mix.requests(),
            sizes: self.sizes.finish(),
            alignment: Aligned {
                at_4k: share(self.alignment.aligned(), all),
                whole_pages: share(self.whole_pages, all),
                best_shift_bytes,
                at_4k_shifted: share(shifted, all),
            },
            sequence: self.sequence.finish(),
            rate: self.rate.finish(&self.mix, self.span_ns),
            epochs: self.epochs.into_iter().map(|demand| demand.finish(self.span_ns)).collect(),
            page_bytes: self.options.page_size.get(),
            sampling: pages.sampling,
            footprint: pages.footprint,
            characters: pages.characters,
            identification: pages.identification,
            reuse: pages.reuse,
            reads: pages.reads,
            writes: pages.writes,
        }
    }
}

/// Describes everything that is left of a source.
pub fn describe(
    source: &mut dyn RequestSource,
    options: &Options,
) -> Result<Description, TraceError> {
    let mut describer = Describer::new(options);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(describer.finish());
        }
        describer.observe(&batch);
    }
}

/// A part of a whole, if there is a whole.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests;

//! The profile of a trace of the catalogue: its published facts, and for the rest typical values of
//! other traces.

use std::fmt;

use kernel::{Bytes, Dur};

use super::{CitationKind, Entry, Quantity as Q};
use crate::standin::{
    Bursts, CascadeLevels, HOURS, LARGEST_SPAN, MODEL, Profile, ProfileClass, SCHEMA, SizeShare,
    Stream, VERSION, coarse,
};

const PAGE: f64 = 4096.0;
/// Table II of the read-disturb paper counts whole pages of this size.
const TRAFFIC_PAGE: f64 = 32768.0;

// Assumptions if nothing is published. Shares of the classes: the means of AGCR (FAST 2016,
// Figure 2). Touches per page and mean size: medians of the catalogue (a test compares). The rest:
// medians, rounded, of the traces that the model is judged on (docs/measured/stand-ins.md).

/// Reads on read-only pages.
pub(crate) const READS_ON_READ_ONLY: f64 = 0.85;
/// Writes on write-only pages.
pub(crate) const WRITES_ON_WRITE_ONLY: f64 = 0.91;
/// Bytes of a request.
pub(crate) const MEAN_SIZE: f64 = 15e3;
/// Touches of a page that is written, in all of a trace.
pub(crate) const WRITES_PER_PAGE: f64 = 28.0;
/// Touches of a page that is only read.
const READS_PER_PAGE: f64 = 2.0;
/// The touched share of the span.
const DENSITY: f64 = 0.3;
const GROWTH: f64 = 0.65;
/// Noon has this share more than the mean, and midnight this share less.
const DAILY: f64 = 0.5;

/// The user's values in place of a publisher's.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Given {
    /// Requests in all.
    pub requests: Option<u64>,
    /// From the first to the last.
    pub duration: Option<Dur>,
    /// Mean size of a request in bytes, where no source gives it.
    pub mean_size: Option<f64>,
}

/// The missing facts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// Figures, in words.
    pub figures: Vec<&'static str>,
    /// The settings that can say some of them instead.
    pub settings: Vec<&'static str>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no source gives {}", self.figures.join(", or "))
    }
}

/// The figures of an entry, with a note of their sources.
struct Figures<'a> {
    entry: &'a Entry,
    recalled: bool,
    assumed: Vec<String>,
}

impl Figures<'_> {
    fn get(&mut self, quantity: Q) -> Option<f64> {
        let known = self.entry.known(quantity)?;
        self.recalled |= known.source.kind == CitationKind::Recalled;
        Some(known.value)
    }

    fn assume(&mut self, what: impl Into<String>) {
        self.assumed.push(what.into());
    }

    /// Bytes ÷ requests of a part of the trace: a part shows the sizes of the whole, but not its
    /// length.
    fn size_of_part(&self) -> Option<f64> {
        self.entry.statements.iter().find_map(|s| {
            let of = |q| s.figures.iter().find(|f| f.0 == q).map(|f| f.1);
            Some(of(Q::Bytes)? / of(Q::Requests)?)
        })
    }
}

/// The number of requests, and their sizes.
struct PublishedLoad {
    seconds: f64,
    counts: [f64; 2],
    sizes: [f64; 2],
}

/// The profile of an entry, or the missing facts.
///
/// # Errors
/// No source, nor `given`, has the length of the trace, its number of requests (or bytes moved, or
/// written in an hour), or its share of reads.
pub fn published(entry: &Entry, given: Given) -> Result<Profile, Missing> {
    let mut figures = Figures { entry, recalled: false, assumed: Vec::new() };
    let mut load = load(&mut figures, given)?;
    load.reach(&mut figures);
    let [reads, writes] = load.counts;
    // Pages that a request touches, beginning at the edge of one.
    let touches = [0, 1].map(|op| load.counts[op] * (load.sizes[op] / PAGE).max(1.0));
    let pages = Footprint::of(&mut figures, &load, touches);

    figures.assume(format!(
        "{:.0} % of reads on read-only pages and {:.0} % of writes on write-only pages (means of \
         AGCR)",
        100.0 * (1.0 - pages.interleaved_reads),
        100.0 * (1.0 - pages.interleaved_writes)
    ));
    let daily = load.seconds >= 86_400.0;
    if daily {
        figures.assume("a daily cycle");
    }
    let alike = figures.get(Q::AlikeHalfHours);
    figures.assume(match alike {
        Some(_) => "finer bursts, sequential runs and re-use",
        None => "bursts (not fitted), sequential runs and re-use",
    });
    figures.assume("no reads of read-only pages created in the run");
    let stream = |op: usize, share: f64, new: f64, interleaved: bool| {
        let requests = load.counts[op] * share;
        (requests >= 1.0).then(|| {
            let fresh = new / (touches[op] * share).max(1.0);
            make_stream(op, share, new, fresh, load.sizes[op], requests, interleaved)
        })
    };
    let class = |reads: Option<Stream>, writes: Option<Stream>| ProfileClass {
        growth: GROWTH,
        reads,
        writes,
    };
    let (ir, iw) = (pages.interleaved_reads, pages.interleaved_writes);
    // An interleaved page is first touched by its more frequent operation.
    let (tr, tw) = (touches[0] * ir, touches[1] * iw);
    let by_reads = if tr + tw > 0.0 { tr / (tr + tw) } else { 0.0 };
    let whole = pages.all();
    let begun = (reads + writes) * 0.02 + whole * 0.1;
    let sources: Vec<String> = {
        let mut texts: Vec<String> = Vec::new();
        for statement in &entry.statements {
            if !texts.contains(&statement.source.text) {
                texts.push(statement.source.text.clone());
            }
        }
        texts
    };
    let recalled = if figures.recalled { " (some figures quoted from memory)" } else { "" };
    Ok(Profile {
        schema: SCHEMA.into(),
        stands_for: entry.name.clone(),
        fitted_to: format!("published statistics{recalled}: {}", sources.join("; ")),
        model: MODEL.into(),
        version: VERSION.into(),
        assumed: figures.assumed,
        duration: Dur::from_secs_f64(load.seconds),
        reads: reads.round() as u64,
        writes: writes.round() as u64,
        span: Bytes::new(pages.span as u64),
        gap_pages: ((pages.span / PAGE - whole).max(0.0) / begun).min(1e3).round(),
        created_reads: 0.0,
        bursts: bursts(load.seconds, daily, alike),
        read_only: class(stream(0, 1.0 - ir, pages.read_only, false), None),
        write_only: class(None, stream(1, 1.0 - iw, pages.write_only, false)),
        interleaved: class(
            stream(0, ir, pages.interleaved * by_reads, true),
            stream(1, iw, pages.interleaved * (1.0 - by_reads), true),
        ),
    })
}

fn load(figures: &mut Figures<'_>, given: Given) -> Result<PublishedLoad, Missing> {
    let traffic = [Q::PageTrafficRead, Q::PageTrafficWritten].map(|q| figures.get(q));
    let seconds = figures.get(Q::Duration).or(given.duration.map(Dur::as_secs_f64));
    let mut read_share = figures.get(Q::ReadShare);
    if let ([Some(read), written], None) = (traffic, read_share) {
        read_share = Some(read / (read + written.unwrap_or(0.0)));
        figures.assume("reads of requests as of the bytes of the touched pages");
    }
    // The traffic of a request: its size, and on average the rest of a page of 32 KiB.
    let around = TRAFFIC_PAGE - PAGE;
    let all_traffic = traffic[0].map(|read| read + traffic[1].unwrap_or(0.0));
    let stated = figures.get(Q::Requests);
    let mean = figures.get(Q::MeanSize).or_else(|| figures.size_of_part()).or_else(|| {
        let size = all_traffic? / stated? - around;
        Some(size.max(PAGE))
    });
    let sizes = [figures.get(Q::MeanRead), figures.get(Q::MeanWrite)];
    let mean = mean.or(given.mean_size);
    if mean.is_none() && sizes.iter().any(Option::is_none) {
        figures.assume(format!("a mean size of {:.1} kB", MEAN_SIZE / 1e3));
    }
    let mean = mean.unwrap_or(MEAN_SIZE);
    let sizes = sizes.map(|size| size.unwrap_or(mean));
    let requests = stated.or(given.requests.map(|n| n as f64)).or_else(|| {
        let mut from_rate = || {
            let written = figures.get(Q::WrittenPerHour)? * seconds? / 3600.0;
            Some(written / sizes[1] / (1.0 - read_share?))
        };
        from_rate().or_else(|| Some(all_traffic? / (mean + around)))
    });
    let (Some(seconds), Some(requests), Some(read_share)) = (seconds, requests, read_share) else {
        let mut missing = Missing { figures: Vec::new(), settings: Vec::new() };
        if requests.is_none() {
            missing.figures.push("how many requests it has");
            missing.settings.push("workload.requests=N");
        }
        if seconds.is_none() {
            missing.figures.push("how long it is");
            missing.settings.push("workload.duration=TIME");
        }
        if read_share.is_none() {
            missing.figures.push("which share of them are reads");
        }
        return Err(missing);
    };
    let reads = (requests * read_share).round();
    Ok(PublishedLoad { seconds, counts: [reads, requests - reads], sizes })
}

impl PublishedLoad {
    /// Reads that touch more pages than their mean size lets them are larger than the mean of
    /// all requests, and writes smaller.
    fn reach(&mut self, figures: &mut Figures<'_>) {
        let (Some(all), Some(written)) = (figures.get(Q::Pages), figures.get(Q::PagesWritten))
        else {
            return;
        };
        let [reads, writes] = self.counts;
        let least = 1.1 * (all - written) * PAGE / (reads * READS_ON_READ_ONLY);
        let [read, write] = self.sizes;
        if read < least && reads > 0.0 && writes > 0.0 {
            let bytes = read * reads + write * writes;
            self.sizes = [least, ((bytes - least * reads) / writes).max(512.0)];
            figures.assume("reads as large as the pages that are only read require");
        }
    }
}

/// Pages by class, and the span that they lie in.
struct Footprint {
    read_only: f64,
    write_only: f64,
    interleaved: f64,
    span: f64,
    /// Shares of the reads, and of the writes.
    interleaved_reads: f64,
    interleaved_writes: f64,
}

impl Footprint {
    fn of(figures: &mut Figures<'_>, load: &PublishedLoad, touches: [f64; 2]) -> Self {
        let [reads, writes] = touches;
        // Both must come often enough that pages are neither read-only nor write-only: at least
        // one in nine of the touches there.
        let (mut ir, mut iw) = (1.0 - READS_ON_READ_ONLY, 1.0 - WRITES_ON_WRITE_ONLY);
        ir = f64::min(ir, 8.0 * writes * iw / reads.max(1.0));
        iw = f64::min(iw, 8.0 * reads * ir / writes.max(1.0));
        let mut all = figures.get(Q::Pages);
        if all.is_none()
            && let Some(addresses) = figures.get(Q::Addresses)
        {
            let mean = (reads + writes) / (load.counts[0] + load.counts[1]);
            all = Some(addresses * mean);
            figures.assume("as many pages as distinct addresses have");
        }
        let written = figures.get(Q::PagesWritten).unwrap_or_else(|| {
            figures.assume(format!("{WRITES_PER_PAGE:.0} touches per written page"));
            let usual = (writes / WRITES_PER_PAGE).max(writes.min(1.0));
            all.map_or(usual, |all| usual.min(all * writes / (reads + writes)))
        });
        let read_only = if let Some(all) = all {
            (all - written).max(0.0)
        } else {
            figures.assume(format!("{READS_PER_PAGE:.0} touches per page that is only read"));
            reads * (1.0 - ir) / READS_PER_PAGE
        };
        let stated = figures.get(Q::Span);
        let largest = stated.unwrap_or(LARGEST_SPAN as f64).min(LARGEST_SPAN as f64);
        // No more pages than three quarters of the span has.
        let shrink = (0.75 * largest / PAGE / (read_only + written).max(1.0)).min(1.0);
        let (read_only, written) = (read_only * shrink, written * shrink);
        let span = stated.unwrap_or_else(|| {
            figures.assume(format!("{:.0} % of the address space touched", 100.0 * DENSITY));
            (read_only + written) * PAGE / DENSITY
        });
        // Interleaved pages are written as often as others.
        let interleaved = written * iw;
        Self {
            read_only,
            write_only: written - interleaved,
            interleaved,
            span: span.clamp((1 << 20) as f64, LARGEST_SPAN as f64),
            interleaved_reads: ir,
            interleaved_writes: iw,
        }
    }

    fn all(&self) -> f64 {
        self.read_only + self.write_only + self.interleaved
    }
}

fn make_stream(
    op: usize,
    share: f64,
    pages: f64,
    fresh: f64,
    mean_size: f64,
    requests: f64,
    interleaved: bool,
) -> Stream {
    let sizes = sizes(mean_size);
    // As many re-uses in every octave of age.
    let octaves = (requests.log2().ceil() as usize).clamp(1, 22);
    let ages = || vec![1.0 / octaves as f64; octaves];
    let (follow, proceed, after_read) = match (op, interleaved) {
        (0, false) => (0.1, 0.8, 1.0),
        (0, true) => (0.3, 0.65, 0.15),
        (_, false) => (0.35, 0.45, 0.0),
        (_, true) => (0.25, 0.6, 0.7),
    };
    let begins = if mean_size < PAGE { vec![0.125; 8] } else { vec![1.0] };
    Stream {
        share,
        pages: pages.round() as u64,
        stay: 0.4,
        follow,
        proceed,
        runs: vec![0.4, 0.25, 0.15, 0.1, 0.1],
        fresh: fresh.clamp(0.001, 0.999),
        inside: 0.1,
        same_size: 0.8,
        follow_same_size: 0.9,
        again_sizes: sizes.clone(),
        follow_sizes: sizes.clone(),
        run_sizes: sizes.clone(),
        sizes,
        begins,
        after_read,
        ages_after_read: if op == 0 || interleaved { ages() } else { Vec::new() },
        ages_after_write: if op == 1 || interleaved { ages() } else { Vec::new() },
    }
}

/// Sizes with a given mean. They are multiples of a sector up to 4 KiB for means below it.
/// Otherwise they are powers of two from 4 KiB to 64 KiB (512 KiB for means above 32 KiB). Shares
/// fall (or rise) by one factor from each to the next.
pub(crate) fn sizes(mean: f64) -> Vec<SizeShare> {
    let of: Vec<u64> = if mean < PAGE {
        (1..=8).map(|i| 512 * i).collect()
    } else {
        let most = if mean > 32768.0 { 7 } else { 4 };
        (0..=most).map(|i| 4096 << i).collect()
    };
    let (least, most) = (of[0] as f64, of[of.len() - 1] as f64);
    let mean = mean.clamp(least, most);
    let shares = |factor: f64| {
        let weights: Vec<f64> = (0..of.len()).map(|i| factor.powf(i as f64)).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / sum).collect::<Vec<f64>>()
    };
    let mean_of = |factor: f64| -> f64 {
        shares(factor).iter().zip(&of).map(|(share, &size)| share * size as f64).sum()
    };
    let (mut low, mut high) = (1e-9_f64, 1e9_f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if mean_of(middle) < mean { low = middle } else { high = middle }
    }
    let shares = shares((low * high).sqrt());
    of.iter()
        .zip(shares)
        .filter(|s| s.1 > 1e-9)
        .map(|(&size, share)| SizeShare(size, share))
        .collect()
}

/// By the length of the halves: rounded means of the traces that the model is judged on. `alike`:
/// the share of half hours that are like the one before, to which coarse levels are fitted.
fn bursts(seconds: f64, daily: bool, alike: Option<f64>) -> Bursts {
    let mut bursts = Bursts::default();
    if daily {
        // Hour 0 begins with the trace; its time of day is unknown.
        let turn = std::f64::consts::TAU / HOURS as f64;
        bursts.daily = (0..HOURS)
            .map(|hour| ((1.0 - DAILY * (turn * (hour as f64 + 0.5)).cos()) * 1e4).round() / 1e4)
            .collect();
    }
    let levels = (seconds / 1e-6).log2().ceil().clamp(1.0, 40.0) as i32;
    for level in 0..levels {
        let half = seconds / 2.0_f64.powi(level + 1);
        let mut add = |to: fn(&mut Bursts) -> &mut CascadeLevels,
                       [reads, writes, together]: [f64; 3]| {
            let to = to(&mut bursts);
            to.reads.push(reads);
            to.writes.push(writes);
            to.together.push(together);
        };
        add(|b| &mut b.quiet, [0.2, 0.35, 0.3]);
        let busy = if half > 0.02 {
            [0.3, 0.45, 0.3]
        } else if half > 5e-5 {
            [0.6, 0.65, 0.6]
        } else {
            [0.3, 0.3, 0.6]
        };
        add(|b| &mut b.busy, busy);
    }
    if let Some(share) = alike {
        coarse::fit(&mut bursts, seconds, share);
    }
    bursts
}

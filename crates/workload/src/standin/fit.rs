//! A trace's profile, measured in two passes.
//!
//! The first pass counts the reads and the writes of every page, which gives the pages their
//! classes. The second reads the requests class by class and finds the decision of the model for
//! each. Does it follow an earlier request's successor, continue a run, go back, or begin something
//! new? So every parameter is the frequency of the decision that it governs.

use std::collections::{BTreeMap, HashMap, HashSet};

use kernel::{Bytes, Dur};

use super::cascade::{HOURS, Measure, rounded};
use super::place::{PAGE_SECTORS, SECTOR};
use super::profile::{LARGEST_SPAN, Profile, ProfileClass, RUNS, SCHEMA, SizeShare, Stream};
use super::ring::{Ring, class_of};
use super::stream::{READ, SequentialRuns, WRITE};
use super::{MODEL, VERSION};
use crate::{Op, Request, TraceError, Workload};

/// The number of sizes that are kept one by one; the others are represented by a few sizes between
/// them.
const SIZES: usize = 48;
const DAY_NS: u64 = 86_400 * 1_000_000_000;

/// Fits the model to a workload, which is opened twice. Trims are left out.
///
/// # Errors
/// The workload cannot be read, or holds neither reads nor writes.
pub fn fit(workload: &dyn Workload) -> Result<Profile, TraceError> {
    let mut fitter = Fitter::new();
    for pass in 0..2 {
        workload.each_batch(|batch| -> Result<(), TraceError> {
            if pass == 0 {
                fitter.look(batch);
            } else {
                fitter.observe(batch);
            }
            Ok(())
        })?;
        if pass == 0 {
            fitter.turn();
        }
    }
    Ok(fitter.finish(&workload.about().name))
}

/// 16 neighbouring pages.
#[derive(Default)]
struct Group {
    /// Reads and writes of each.
    touches: [[u16; 2]; 16],
    /// Set for pages that requests of their own class have touched.
    seen: u16,
}

/// A profile in the making: [`Fitter::look`] at all requests, [`Fitter::turn`], then
/// [`Fitter::observe`] all of them again.
pub struct Fitter {
    pages: HashMap<u64, Box<Group>>,
    extents: HashSet<u64>,
    hours: [u64; HOURS],
    end_ns: u64,
    counts: [u64; 2],
    measure: Measure,
    classes: [Seen; 3],
    /// The class of the latest read and of the latest write.
    latest: [Option<usize>; 2],
    stays: [[Ratio; 3]; 2],
    /// Requests that began something new.
    begun: u64,
}

/// The number of times that an event happened, out of those at which it could.
#[derive(Copy, Clone, Default)]
struct Ratio {
    hits: u64,
    of: u64,
}

impl Ratio {
    fn note(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.of += 1;
    }

    fn value(self) -> f64 {
        if self.of == 0 { 0.0 } else { rounded(self.hits as f64 / self.of as f64) }
    }
}

/// The observations of a class.
#[derive(Default)]
struct Seen {
    streams: [Ops; 2],
    /// The place of the latest request that began at a sector: its stream and number.
    starts: HashMap<u64, (usize, u64)>,
    /// Pages of the class, by the operation that touches them first.
    touched: [u64; 2],
    requests: u64,
    /// Pages touched after each number of requests that is a power of two.
    growth: Vec<(u64, u64)>,
}

/// The observations of the reads or the writes of a class.
#[derive(Default)]
struct Ops {
    requests: u64,
    runs: SequentialRuns,
    ring: Ring,
    from: Option<(usize, u64)>,
    follow: Ratio,
    proceed: Ratio,
    ranks: [u64; RUNS],
    inside: Ratio,
    same_size: Ratio,
    follow_same_size: Ratio,
    follow_sizes: BTreeMap<u32, u64>,
    fresh: Ratio,
    sizes: BTreeMap<u32, u64>,
    again_sizes: BTreeMap<u32, u64>,
    run_sizes: BTreeMap<u32, u64>,
    begins: [u64; 8],
    after_read: Ratio,
    ages: [Vec<u64>; 2],
}

impl Group {
    /// The class of one of its pages: more than 95 % reads, more than 95 % writes, or neither.
    fn class(&self, page: u64) -> usize {
        let [reads, writes] = self.touches[(page % 16) as usize].map(u32::from);
        let bar = 19 * (reads + writes);
        if 20 * reads > bar {
            READ
        } else if 20 * writes > bar {
            WRITE
        } else {
            2
        }
    }
}

impl Default for Fitter {
    fn default() -> Self {
        Self::new()
    }
}

impl Fitter {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self {
            pages: HashMap::new(),
            extents: HashSet::new(),
            hours: [0; HOURS],
            end_ns: 0,
            counts: [0; 2],
            measure: Measure::new(1, 0, Vec::new()),
            classes: Default::default(),
            latest: [None; 2],
            stays: Default::default(),
            begun: 0,
        }
    }

    /// The first pass: takes the next requests.
    pub fn look(&mut self, batch: &[Request]) {
        for r in batch {
            let Some(op) = stream_of(r.op) else { continue };
            self.end_ns = r.at.as_ns();
            self.hours[(r.at.as_ns() % DAY_NS * HOURS as u64 / DAY_NS) as usize] += 1;
            let (first, last) = pages_of(r);
            for page in first..=last {
                let group = self.pages.entry(page / 16).or_default();
                let count = &mut group.touches[(page % 16) as usize][op];
                *count = count.saturating_add(1);
            }
            self.extents.extend(r.offset >> 20..=(r.end() - 1) >> 20);
        }
    }

    /// Between the passes.
    pub fn turn(&mut self) {
        let all: u64 = self.hours.iter().sum();
        let daily = if self.end_ns >= 2 * DAY_NS && all > 0 {
            let mean = all as f64 / HOURS as f64;
            self.hours.iter().map(|&n| rounded(n as f64 / mean)).collect()
        } else {
            Vec::new()
        };
        self.measure = Measure::new(self.end_ns, all, daily);
    }

    /// The second pass: takes the next requests.
    pub fn observe(&mut self, batch: &[Request]) {
        for r in batch {
            let Some(op) = stream_of(r.op) else { continue };
            self.measure.observe(r.at.as_ns(), op == READ);
            self.counts[op] += 1;
            let class = self.class_of(r, op);
            if let Some(before) = self.latest[op].replace(class) {
                self.stays[op][before].note(before == class);
            }
            let touched = self.touch(r);
            for (seen, new) in self.classes.iter_mut().zip(touched) {
                seen.touched[op] += new;
            }
            let new = touched.iter().sum::<u64>() > 0;
            self.begun += u64::from(self.classes[class].note(r, op, new));
        }
    }

    /// The class of most of the pages that a request touches. If most are of the other operation's
    /// class, it is the class of its own.
    fn class_of(&self, r: &Request, op: usize) -> usize {
        let (first, last) = pages_of(r);
        let mut of = [0_u64; 3];
        for page in first..=last {
            of[self.pages[&(page / 16)].class(page)] += 1;
        }
        if of[2] > of[0].max(of[1]) { 2 } else { op }
    }

    /// Marks the pages of a request. Returns for each class the number of pages touched for the
    /// first time.
    fn touch(&mut self, r: &Request) -> [u64; 3] {
        let (first, last) = pages_of(r);
        let mut new = [0; 3];
        for page in first..=last {
            let group = self.pages.get_mut(&(page / 16)).expect("the first pass saw it");
            let bit = 1 << (page % 16);
            if group.seen & bit == 0 {
                group.seen |= bit;
                new[group.class(page)] += 1;
            }
        }
        new
    }

    /// The profile, under the name of its source.
    pub fn finish(self, name: &str) -> Profile {
        let pages: u64 = self.classes.iter().flat_map(|c| c.touched).sum();
        let room = self.extents.len() as u64 * 256;
        let gap = room.saturating_sub(pages) as f64 / self.begun.max(1) as f64;
        let end = self.extents.iter().max().map_or(1, |last| last + 1) << 20;
        let span = end.min(LARGEST_SPAN);
        let mut assumed = Vec::new();
        if span < end {
            assumed.push(format!(
                "addresses end at {} instead of {}",
                Bytes::new(span),
                Bytes::new(end)
            ));
        }
        let (counts, stays) = (self.counts, self.stays);
        let mut class = 0;
        let [read_only, write_only, interleaved] = self.classes.map(|seen| {
            let stay = [stays[READ][class], stays[WRITE][class]];
            class += 1;
            seen.finish(counts, stay)
        });
        Profile {
            schema: SCHEMA.into(),
            stands_for: name.into(),
            fitted_to: "measured from the trace".into(),
            model: MODEL.into(),
            version: VERSION.into(),
            assumed,
            duration: Dur::ns(self.end_ns + 1),
            reads: counts[READ],
            writes: counts[WRITE],
            span: Bytes::new(span),
            gap_pages: (gap * 10.0).round() / 10.0,
            created_reads: 0.0,
            bursts: self.measure.finish(),
            read_only,
            write_only,
            interleaved,
        }
    }
}

/// Trims and flushes have none: a stand-in reads and writes, and none of its writes is FUA.
fn stream_of(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(READ),
        Op::Write | Op::WriteFua => Some(WRITE),
        Op::Trim | Op::Flush => None,
    }
}

fn pages_of(r: &Request) -> (u64, u64) {
    (r.offset >> 12, (r.end() - 1) >> 12)
}

impl Seen {
    /// Takes a request of the class. Returns whether it began something new.
    fn note(&mut self, r: &Request, op: usize, new: bool) -> bool {
        // In 32 bits, as in the model.
        let at = r.offset / SECTOR % (LARGEST_SPAN / SECTOR);
        let len = u64::from(r.len).div_ceil(SECTOR);
        self.requests += 1;
        if self.requests.is_power_of_two() {
            self.growth.push((self.requests, self.touched.iter().sum()));
        }
        let earlier = self.starts.get(&at).copied();
        let successor = self.streams[op]
            .from
            .map(|(source, number)| self.streams[source].ring.get(number + 1).map(|(at, _)| at));
        let before = earlier
            .and_then(|(source, number)| self.streams[source].ring.get(number).map(|(_, len)| len));
        let age = earlier.map(|(source, n)| (source, self.streams[source].requests - n));
        let ops = &mut self.streams[op];
        let followed = successor.flatten() == Some(at);
        if successor.is_some() {
            ops.follow.note(followed);
        }
        let rank = ops.runs.find(at);
        let mut began = false;
        if !followed {
            ops.proceed.note(rank.is_some());
            if let Some(rank) = rank {
                ops.ranks[rank] += 1;
                *ops.run_sizes.entry(r.len).or_default() += 1;
            } else if new {
                ops.fresh.note(true);
                *ops.sizes.entry(r.len).or_default() += 1;
                ops.begins[(at % PAGE_SECTORS) as usize] += 1;
                began = true;
            } else {
                ops.fresh.note(false);
                ops.inside.note(age.is_none());
                *ops.again_sizes.entry(r.len).or_default() += 1;
                if let Some((source, age)) = age {
                    ops.after_read.note(source == READ);
                    let ages = &mut ops.ages[source];
                    let class = class_of(age);
                    ages.resize(ages.len().max(class + 1), 0);
                    ages[class] += 1;
                }
                if let Some(before) = before {
                    ops.same_size.note(before == len);
                }
            }
        } else if let Some(before) = before {
            ops.follow_same_size.note(before == len);
            if before != len {
                *ops.follow_sizes.entry(r.len).or_default() += 1;
            }
        }
        ops.from = earlier.filter(|_| followed || rank.is_none());
        ops.runs.note(rank, at + len);
        ops.requests += 1;
        self.starts.insert(at, (op, ops.ring.push(at, len)));
        began
    }

    fn finish(self, counts: [u64; 2], stays: [Ratio; 2]) -> ProfileClass {
        let pages: u64 = self.touched.iter().sum();
        // From half of the requests on, or a quarter: as the touched pages grow at the end.
        let halves = self.growth.iter().rev().find(|g| 2 * g.0 <= self.requests);
        let growth = halves.map_or(1.0, |&(requests, touched)| {
            let more = (pages as f64 / touched.max(1) as f64).ln();
            more / (self.requests as f64 / requests as f64).ln()
        });
        let mut op = 0;
        let [reads, writes] = self.streams.map(|ops| {
            let stream = ops.finish(counts[op], self.touched[op], stays[op]);
            op += 1;
            stream
        });
        ProfileClass { growth: rounded(growth.clamp(0.05, 1.0)), reads, writes }
    }
}

impl Ops {
    fn finish(self, all: u64, pages: u64, stay: Ratio) -> Option<Stream> {
        if self.requests == 0 {
            return None;
        }
        let share = self.requests as f64 / all as f64;
        // Staying by chance is not staying.
        let beyond = if share < 1.0 { (stay.value() - share) / (1.0 - share) } else { 0.0 };
        Some(Stream {
            share: (share * 1e8).round() / 1e8,
            pages,
            stay: rounded(beyond.clamp(0.0, 1.0)),
            follow: self.follow.value(),
            proceed: self.proceed.value(),
            runs: shares(&self.ranks),
            fresh: self.fresh.value(),
            inside: self.inside.value(),
            same_size: self.same_size.value(),
            follow_same_size: self.follow_same_size.value(),
            follow_sizes: mix(&self.follow_sizes),
            again_sizes: mix(&self.again_sizes),
            sizes: mix(&self.sizes),
            run_sizes: mix(&self.run_sizes),
            begins: shares(&self.begins),
            after_read: self.after_read.value(),
            ages_after_read: shares(&self.ages[READ]),
            ages_after_write: shares(&self.ages[WRITE]),
        })
    }
}

fn shares(counts: &[u64]) -> Vec<f64> {
    let sum: u64 = counts.iter().sum();
    let used = counts.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
    counts[..used].iter().map(|&n| rounded(n as f64 / sum as f64)).collect()
}

/// The most frequent sizes one by one; the others by powers of two, with the mean of each.
fn mix(counts: &BTreeMap<u32, u64>) -> Vec<SizeShare> {
    let sum: u64 = counts.values().sum();
    if sum == 0 {
        return vec![SizeShare(4096, 1.0)];
    }
    let mut by_count: Vec<(u32, u64)> = counts.iter().map(|(&size, &n)| (size, n)).collect();
    by_count.sort_by_key(|&(size, n)| (u64::MAX - n, size));
    let rest = by_count.split_off(by_count.len().min(SIZES));
    let mut powers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (size, n) in rest {
        let (bytes, count) = powers.entry(size.ilog2()).or_default();
        *bytes += u64::from(size) * n;
        *count += n;
    }
    let means =
        powers.values().map(|&(bytes, n)| (((bytes / n).div_ceil(SECTOR) * SECTOR) as u32, n));
    let mut all: BTreeMap<u64, u64> = BTreeMap::new();
    for (size, n) in by_count.into_iter().chain(means) {
        *all.entry(u64::from(size)).or_default() += n;
    }
    all.into_iter()
        .map(|(size, n)| SizeShare(size, (n as f64 / sum as f64 * 1e6).round() / 1e6))
        .collect()
}

//! The state before the run: filled, then aged until write amplification is flat.
//!
//! Both work on the FTL without time, through the same mechanisms that the run uses, so nothing
//! here can disagree with them.

use crate::config::{Age, Drive, Fill};
use crate::sim::{Interrupted, Progress, Stage};
use ftl::{Ftl, Kit, Lpn};
use kernel::{BitSet, Rng, Time};
use nand::Store;
use workload::{Op, Workload};

/// What preconditioning came to.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Preconditioned {
    /// Logical pages filled.
    pub filled: u64,
    /// Pages written while ageing.
    pub aged: u64,
    /// Write amplification over the last stretch of ageing; 0 without ageing.
    pub waf: f64,
    /// Whether it had become flat.
    pub steady: bool,
}

impl Preconditioned {
    /// The summary and the state behind it, as bytes to keep; in front, a sum over all of them.
    pub(crate) fn to_bytes(self, state: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(state.len() + HEAD);
        for n in [0, self.filled, self.aged, self.waf.to_bits(), self.steady.into()] {
            out.extend_from_slice(&n.to_le_bytes());
        }
        out.extend_from_slice(state);
        let sum = sum(&out[8..]);
        out[..8].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// What [`Preconditioned::to_bytes`] kept; `None` if it is damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, state) = bytes.split_at_checked(HEAD)?;
        let word = |i: usize| u64::from_le_bytes(head[i * 8..][..8].try_into().expect("eight"));
        if word(0) != sum(&bytes[8..]) {
            return None;
        }
        let waf = f64::from_bits(word(3));
        let summary = Self { filled: word(1), aged: word(2), waf, steady: word(4) == 1 };
        Some((summary, state))
    }
}

/// Bytes before the state.
const HEAD: usize = 40;

/// A sum that any damage changes: a state read back wrong may still be one that a drive can be in,
/// and the run would be of another drive. Each step can be undone, so no single word is lost.
fn sum(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    sum
}

/// How closely write amplification must agree to be flat.
const FLAT: f64 = 0.005;
/// Stretches after which ageing gives up, and says so.
const STRETCHES: u32 = 64;
/// The shortest stretch, in page writes: shorter ones are noise.
const SHORTEST: u64 = 1 << 17;
/// Page writes between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 18;

/// Fills and ages an empty drive as its configuration says.
pub fn precondition<K: Kit>(
    drive: &Drive,
    input: &dyn Workload,
    ftl: &mut Ftl<K>,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Preconditioned, Interrupted> {
    let mut work = Work { ftl, progress, done: 0, total: None };
    let mut result = Preconditioned::default();
    let pages = drive.logical_pages;
    match drive.precondition.fill {
        Fill::None => {}
        Fill::Touched => {
            let touched = read_before_written(drive, input, work.progress)?;
            for lpn in touched.iter() {
                work.write(Lpn::from_u32(lpn as u32))?;
            }
        }
        Fill::Share(share) => work.fill((f64::from(pages) * share).round().max(1.0) as u32)?,
        Fill::Full => work.fill(pages)?,
    }
    result.filled = work.done;
    match drive.precondition.age {
        Age::None => {}
        Age::Random => age_random(drive, &mut work, &mut result)?,
        Age::Workload => age_by_workload(drive, input, &mut work, &mut result)?,
    }
    Ok(result)
}

struct Work<'a, K: Kit> {
    ftl: &'a mut Ftl<K>,
    progress: &'a mut dyn FnMut(Progress) -> bool,
    done: u64,
    total: Option<u64>,
}

impl<K: Kit> Work<'_, K> {
    /// Writes so many pages, from the first one on.
    fn fill(&mut self, pages: u32) -> Result<(), Interrupted> {
        self.total = Some(pages.into());
        (0..pages).try_for_each(|lpn| self.write(Lpn::from_u32(lpn)))
    }

    #[inline]
    fn write(&mut self, lpn: Lpn) -> Result<(), Interrupted> {
        let data = K::Store::stamp(lpn.as_u32(), 0);
        let written = self.ftl.write_now(lpn, data, Time::ZERO);
        assert!(written, "a legal drive has room for page {lpn} while it is preconditioned");
        self.done += 1;
        if self.done.is_multiple_of(PROGRESS_EVERY) {
            let (done, total) = (self.done, self.total);
            let stage = Stage::Preconditioning;
            if !(self.progress)(Progress { stage, done, total, now: Time::ZERO }) {
                return Err(Interrupted::Stopped);
            }
        }
        Ok(())
    }

    /// Slots reclaimed so far, and pages moved out of them.
    fn reclaimed(&self) -> (u64, u64) {
        let counts = self.ftl.counts();
        let blocks = counts.erase.total() + counts.second_lives;
        let slots = blocks * u64::from(self.ftl.geometry().pages_per_block());
        (slots, counts.moved.total())
    }

    /// Write amplification since `before`, as the blocks reclaimed tell it: of each block's slots
    /// those not needed for moved pages take host writes. Programs by host writes would say the
    /// same in the long run; over a stretch they depend on where each plane stands between two
    /// bouts of garbage collection, and planes that are written in turn stand at the same point.
    fn waf_since(&self, before: (u64, u64)) -> f64 {
        let (slots, moved) = self.reclaimed();
        let (slots, moved) = (slots - before.0, moved - before.1);
        if slots == 0 { 1.0 } else { slots as f64 / (slots - moved) as f64 }
    }
}

/// Decides from the write amplification of one stretch after the other whether it is flat: the
/// last third of all stretches agrees with the third before, twice in a row. The first third is
/// the way there. Thirds grow, so that on a small drive, whose planes gain and lose data by chance
/// over many stretches, the chance averages out.
#[derive(Default)]
struct Flatness {
    stretches: Vec<f64>,
    agreed: u32,
}

impl Flatness {
    fn is_reached(&mut self, waf: f64) -> bool {
        self.stretches.push(waf);
        let third = self.stretches.len() / 3;
        if third == 0 {
            return false;
        }
        let sum = |part: &[f64]| part.iter().sum::<f64>();
        let (before, last) = self.stretches.split_at(self.stretches.len() - third);
        let ratio = sum(last) / sum(&before[before.len() - third..]);
        self.agreed = if (ratio - 1.0).abs() <= FLAT { self.agreed + 1 } else { 0 };
        self.agreed >= 2
    }
}

/// Uniformly random overwrites of the pages that hold data.
fn age_random<K: Kit>(
    drive: &Drive,
    work: &mut Work<'_, K>,
    result: &mut Preconditioned,
) -> Result<(), Interrupted> {
    // Those of a full drive, or of a share of one, are the first ones.
    let mapped: Option<Vec<u32>> = (drive.precondition.fill == Fill::Touched).then(|| {
        let all = 0..drive.logical_pages;
        all.filter(|&n| work.ftl.map().lookup(Lpn::from_u32(n)).is_some()).collect()
    });
    let count = mapped.as_ref().map_or(result.filled as u32, |m| m.len() as u32);
    if count == 0 {
        return Ok(());
    }
    let page = |n: u32| Lpn::from_u32(mapped.as_ref().map_or(n, |m| m[n as usize]));
    let mut rng = Rng::named(drive.seed, "precondition/age");
    // Of the drive, not of its data: where there is little of them, most of the way to the first
    // collection leads through blocks that have never been written.
    let stretch = (u64::from(drive.logical_pages) / 2).max(SHORTEST);
    let mut flatness = Flatness::default();
    work.total = None;
    for _ in 0..STRETCHES {
        let before = work.reclaimed();
        let mut next = page(rng.below(count));
        for _ in 0..stretch {
            // The entry after this one is fetched while this one is written.
            let lpn = next;
            next = page(rng.below(count));
            work.ftl.map().prefetch(next);
            work.write(lpn)?;
        }
        result.aged += stretch;
        result.waf = work.waf_since(before);
        // The first pass over a freshly filled drive collects nothing, and is no steady state.
        let collected = work.reclaimed().0 > before.0;
        if collected && flatness.is_reached(result.waf) {
            result.steady = true;
            break;
        }
    }
    Ok(())
}

/// The workload's own writes and trims, again and again.
fn age_by_workload<K: Kit>(
    drive: &Drive,
    input: &dyn Workload,
    work: &mut Work<'_, K>,
    result: &mut Preconditioned,
) -> Result<(), Interrupted> {
    let size = drive.geometry.page_size().get();
    let shortest = (u64::from(drive.logical_pages) / 2).max(SHORTEST);
    let mut flatness = Flatness::default();
    work.total = None;
    for _ in 0..STRETCHES {
        let (before, start) = (work.reclaimed(), work.done);
        while work.done - start < shortest {
            let at = work.done;
            replay(input, size, work)?;
            if work.done == at {
                return Ok(()); // no writes, nothing to age by
            }
        }
        result.aged += work.done - start;
        result.waf = work.waf_since(before);
        if flatness.is_reached(result.waf) {
            result.steady = true;
            break;
        }
    }
    Ok(())
}

/// One pass over the workload, reads left out.
fn replay<K: Kit>(
    input: &dyn Workload,
    size: u64,
    work: &mut Work<'_, K>,
) -> Result<(), Interrupted> {
    let mut source = input.open()?;
    let mut batch = Vec::new();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        for request in &batch {
            match request.op {
                Op::Read => {}
                Op::Write => {
                    for lpn in request.offset / size..=(request.end() - 1) / size {
                        work.write(Lpn::from_u32(lpn as u32))?;
                    }
                }
                Op::Trim => {
                    for lpn in request.offset.div_ceil(size)..request.end() / size {
                        work.ftl.trim(Lpn::from_u32(lpn as u32), Time::ZERO);
                    }
                }
            }
        }
    }
}

/// The pages that the workload reads before it has written them whole: they must have been there.
/// A partial write reads the rest of its page.
fn read_before_written(
    drive: &Drive,
    input: &dyn Workload,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<BitSet, Interrupted> {
    let size = drive.geometry.page_size().get();
    let pages = drive.logical_pages as usize;
    let (mut touched, mut written) = (BitSet::new(pages), BitSet::new(pages));
    let mut source = input.open()?;
    let mut done = 0;
    let mut batch = Vec::new();
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok(touched);
        }
        done += batch.len() as u64;
        let (stage, total, now) = (Stage::Preconditioning, input.about().requests, Time::ZERO);
        if !progress(Progress { stage, done, total, now }) {
            return Err(Interrupted::Stopped);
        }
        for request in &batch {
            let pages = (request.offset / size) as usize..=((request.end() - 1) / size) as usize;
            match request.op {
                Op::Read => {
                    for page in pages.filter(|&p| !written.get(p)) {
                        touched.set(page);
                    }
                }
                Op::Write => {
                    for page in pages {
                        let start = page as u64 * size;
                        let whole = request.offset <= start && request.end() >= start + size;
                        if !whole && !written.get(page) {
                            touched.set(page);
                        }
                        written.set(page);
                    }
                }
                Op::Trim => {}
            }
        }
    }
}

//! The state before the run: filled, then aged until write amplification is flat.
//!
//! Both work on the FTL without time, through the same mechanisms as the run, so they cannot differ
//! from it.

use crate::config::{Age, Drive, Fill};
use crate::progress::{Interrupted, Progress, Stage};
use ftl::{Ftl, HostTag, Lpn, PolicyTypes};
use kernel::{BitSet, Hint, Prio, Rng, Time};
use nand::Store;
use std::io::Read;
use std::ops::Range;
use workload::{Draws, HARDLY_WRITES, Op, Request, RequestSource, Workload};

/// The result of preconditioning.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct Preconditioned {
    /// Logical pages filled.
    pub filled: u64,
    /// Pages written while ageing.
    pub aged: u64,
    /// Write amplification over the last stretch of ageing; 0 without ageing, or if no block was
    /// reclaimed.
    pub waf: f64,
    /// Whether it had become flat.
    pub steady: bool,
    /// Ageing by repeating a workload: pages written in one pass, and how many of them are
    /// different. Zeros if nothing was repeated.
    pub pass: (u64, u64),
    /// The course of write amplification while ageing.
    pub course: AgeingCourse,
}

/// The course of write amplification while a drive was aged; zeros without ageing, or if there were
/// too few values.
#[derive(Copy, Clone, Default, PartialEq, Debug)]
pub struct AgeingCourse {
    /// Its means over each third of the stretches.
    pub thirds: [f64; 3],
    /// The least and the greatest of a stretch in the last third.
    pub last: [f64; 2],
}

impl AgeingCourse {
    fn values(&self) -> [f64; 5] {
        let ([a, b, c], [low, high]) = (self.thirds, self.last);
        [a, b, c, low, high]
    }

    /// Whether anything was seen.
    pub(crate) fn is_known(&self) -> bool {
        self.last[0] > 0.0
    }
}

impl Preconditioned {
    /// The summary as bytes, which precede those of the state. A checksum comes first.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let (waf, steady) = (self.waf.to_bits(), self.steady.into());
        let mut words = [0; Self::BYTES / 8];
        words[1..7].copy_from_slice(&[
            self.filled,
            self.aged,
            waf,
            steady,
            self.pass.0,
            self.pass.1,
        ]);
        for (word, value) in words[7..].iter_mut().zip(self.course.values()) {
            *word = value.to_bits();
        }
        words[0] = sum(&words[1..]);
        let mut bytes = [0; Self::BYTES];
        for (to, word) in bytes.chunks_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads the bytes of [`Preconditioned::to_bytes`]; `None` if they are damaged.
    /// [`Ftl::restore`] checks whether a drive can be in the state.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let words: [u64; Self::BYTES / 8] = std::array::from_fn(|i| {
            u64::from_le_bytes(bytes[i * 8..][..8].try_into().expect("eight"))
        });
        let [kept, filled, aged, waf, steady, ..] = words;
        let waf = f64::from_bits(waf);
        let [a, b, c, low, high] = std::array::from_fn(|i| f64::from_bits(words[7 + i]));
        let sound = kept == sum(&words[1..]) && steady <= 1;
        let is_waf = |waf: f64| waf == 0.0 || (1.0..1e9).contains(&waf);
        (sound && [waf, a, b, c, low, high].into_iter().all(is_waf)).then(|| Self {
            filled,
            aged,
            waf,
            steady: steady == 1,
            pass: (words[5], words[6]),
            course: AgeingCourse { thirds: [a, b, c], last: [low, high] },
        })
    }

    /// Bytes of the summary.
    pub const BYTES: usize = 96;

    /// Whether the data of a drive are those that its preconditioning writes.
    pub(crate) fn is_of<K: PolicyTypes>(&self, drive: &Drive, ftl: &Ftl<K>) -> bool {
        let as_told = match to_fill(drive) {
            Some(pages) => self.filled == u64::from(pages),
            None => self.filled <= u64::from(drive.logical_pages),
        };
        // A workload may trim filled pages, and write elsewhere.
        let (map, moves) = (ftl.map(), drive.precondition.age == Age::Workload);
        let all = to_fill(drive).unwrap_or(0);
        as_told
            && (moves
                || u64::from(map.mapped()) == self.filled
                    && (all == map.logical_pages()
                        || (0..all).all(|lpn| map.lookup(Lpn::from_u32(lpn)).is_some())))
    }
}

/// How many pages are filled, from the first one on; `None`: the pages that the workload reads
/// before it has written them.
fn to_fill(drive: &Drive) -> Option<u32> {
    let pages = drive.logical_pages;
    match drive.precondition.fill {
        Fill::None => Some(0),
        Fill::Touched => None,
        Fill::Share(share) => Some((f64::from(pages) * share).round().max(1.0) as u32),
        Fill::Full => Some(pages),
    }
}

/// Whether preconditioning, which fills `filled` pages, and the run write so much of a drive that
/// large pages of memory are better. Filling in order writes all of it. Each request may touch its
/// own page of memory. So large pages save time only if there are at least a sixteenth as many
/// requests as the drive has pages.
fn writes_much(drive: &Drive, input: &dyn Workload, filled: u64) -> bool {
    let requests = input.about().requests.unwrap_or(u64::MAX);
    drive.precondition.age != Age::None
        || filled.saturating_add(requests) >= u64::from(drive.logical_pages) / 16
}

/// A checksum that changes with any damage: a damaged summary may still be a valid one. Each step
/// can be undone, so no single word is lost.
fn sum(words: &[u64]) -> u64 {
    let step =
        |sum: u64, word: &u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    words.iter().fold(words.len() as u64, step)
}

/// The agreement of write amplification that counts as flat.
const FLAT: f64 = 0.005;
/// The most stretches; then ageing gives up, with a warning.
const STRETCHES: u32 = 64;
/// The shortest stretch, in page writes: shorter ones are noise.
const SHORTEST: u64 = 1 << 17;
/// Page writes between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 18;

/// The progress of ageing, without the state of the drive.
#[derive(Clone, Default, Debug)]
pub(crate) struct AgeingState {
    filled: u64,
    aged: u64,
    /// Pages programmed, for any reason.
    programmed: u64,
    /// Batches taken from an endless workload, or passes.
    batches: u64,
    /// Stretches, with and without a write amplification.
    done: u64,
    flatness: Flatness,
}

/// A state that we write has at most this number of stretches.
const MOST_WORDS: u64 = 64;

impl AgeingState {
    /// The progress as bytes, which precede those of the state. A checksum comes first.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Flatness { stretches, agreed } = &self.flatness;
        let agreed = u64::from(*agreed);
        let mut words = vec![
            0,
            stretches.len() as u64,
            self.filled,
            self.aged,
            self.programmed,
            self.batches,
            self.done,
            agreed,
        ];
        words.extend(stretches.iter().map(|waf| waf.to_bits()));
        words[0] = sum(&words[1..]);
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Reads the bytes of [`AgeingState::to_bytes`]; `None` if they are damaged.
    pub(crate) fn read(from: &mut dyn Read) -> Option<Self> {
        let mut word = || {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes).ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let mut words = vec![word()?, word()?];
        if words[1] > MOST_WORDS {
            return None;
        }
        for _ in 0..6 + words[1] {
            words.push(word()?);
        }
        let [kept, _, filled, aged, programmed, batches, done, agreed, ..] = words[..] else {
            return None;
        };
        let stretches = words[8..].iter().map(|bits| f64::from_bits(*bits)).collect();
        let flatness = Flatness { stretches, agreed: u32::try_from(agreed).ok()? };
        let sound = kept == sum(&words[1..]) && done <= u64::from(STRETCHES);
        sound.then_some(Self { filled, aged, programmed, batches, done, flatness })
    }
}

/// Keeps the state that ageing has reached, so that it can be resumed.
pub(crate) trait Checkpoints<K: PolicyTypes> {
    /// Puts an empty drive into the state that was kept, if there is one.
    fn resume(&mut self, ftl: &mut Ftl<K>) -> Option<AgeingState>;
    /// Keeps a state. The drive then continues as if it had been loaded from that state.
    fn keep(&mut self, ftl: &mut Ftl<K>, standing: &AgeingState);
}

/// Fills and ages an empty drive as its configuration says.
pub fn precondition<K: PolicyTypes>(
    drive: &Drive,
    input: &dyn Workload,
    ftl: &mut Ftl<K>,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Preconditioned, Interrupted> {
    resumably(drive, input, ftl, progress, None)
}

/// The same; a long ageing leaves checkpoints, and is resumed from one.
pub(crate) fn resumably<'c, K: PolicyTypes>(
    drive: &Drive,
    input: &dyn Workload,
    ftl: &mut Ftl<K>,
    progress: &mut dyn FnMut(Progress) -> bool,
    mut checkpoints: Option<&mut (dyn Checkpoints<K> + 'c)>,
) -> Result<Preconditioned, Interrupted> {
    let kept = checkpoints.as_mut().and_then(|kept| kept.resume(ftl));
    let first = to_fill(drive);
    let touched = match first {
        Some(_) => BitSet::new(0),
        None if kept.is_some() => BitSet::new(0),
        None => read_before_written(drive, input, progress)?,
    };
    let pages = first.map_or_else(|| touched.count() as u64, u64::from);
    if writes_much(drive, input, pages) {
        ftl.expect_many_writes();
    }
    let standing = kept.clone().unwrap_or_default();
    let (done, total) = (standing.filled + standing.aged, Some(pages));
    let stage = if kept.is_some() { Stage::Ageing } else { Stage::Filling };
    let mut work = Work { ftl, progress, stage, done, total, standing, checkpoints };
    let mut result = Preconditioned::default();
    match first {
        _ if kept.is_some() => {}
        Some(pages) => work.write_all((0..pages).map(Lpn::from_u32))?,
        None => work.write_all(touched.iter().map(|lpn| Lpn::from_u32(lpn as u32)))?,
    }
    if kept.is_none() {
        work.ftl.flush_buffered_pages(Time::ZERO);
        work.standing.filled = work.done;
    }
    result.filled = work.standing.filled;
    result.aged = work.standing.aged;
    (work.stage, work.total) = (Stage::Ageing, None);
    match drive.precondition.age {
        Age::None => {}
        Age::Random => age_random(drive, &mut work, &mut result)?,
        Age::Workload => age_by_workload(drive, input, &mut work, &mut result)?,
    }
    work.ftl.flush_buffered_pages(Time::ZERO);
    Ok(result)
}

struct Work<'a, 'c, K: PolicyTypes> {
    ftl: &'a mut Ftl<K>,
    progress: &'a mut dyn FnMut(Progress) -> bool,
    stage: Stage,
    done: u64,
    total: Option<u64>,
    standing: AgeingState,
    checkpoints: Option<&'a mut (dyn Checkpoints<K> + 'c)>,
}

impl<K: PolicyTypes> Work<'_, '_, K> {
    /// Pages programmed, also before an interruption.
    fn programmed(&self) -> u64 {
        self.standing.programmed + self.ftl.counts().program.total()
    }

    /// Keeps the state, if that is worth while and possible.
    fn checkpoint(&mut self, every: u64) {
        let programmed = self.programmed();
        if programmed - self.standing.programmed < every {
            return;
        }
        let Some(checkpoints) = &mut self.checkpoints else { return };
        self.ftl.flush_buffered_pages(Time::ZERO);
        if self.ftl.can_be_saved() {
            self.standing.programmed = programmed;
            checkpoints.keep(self.ftl, &self.standing);
        }
    }

    /// Writes different pages that hold nothing yet.
    fn write_all(&mut self, mut pages: impl Iterator<Item = Lpn>) -> Result<(), Interrupted> {
        loop {
            let before = self.done;
            let next = pages.by_ref().take(PROGRESS_EVERY as usize).inspect(|_| self.done += 1);
            let data = |lpn: Lpn| K::Store::stamp(lpn.as_u32(), 0);
            if let Err(lpn) = self.ftl.write_all_now(next, data, Time::ZERO) {
                panic!("a legal drive has room for page {lpn} while it is preconditioned");
            }
            if self.done - before < PROGRESS_EVERY {
                return Ok(());
            }
            self.report()?;
        }
    }

    #[inline]
    fn write(&mut self, lpn: Lpn) -> Result<(), Interrupted> {
        self.write_tagged(lpn, HostTag::default())
    }

    #[inline]
    fn write_tagged(&mut self, lpn: Lpn, host: HostTag) -> Result<(), Interrupted> {
        let data = K::Store::stamp(lpn.as_u32(), 0);
        let written = self.ftl.write_tagged_now(lpn, host, data, Time::ZERO);
        assert!(written, "a legal drive has room for page {lpn} while it is preconditioned");
        self.done += 1;
        if self.done.is_multiple_of(PROGRESS_EVERY) { self.report() } else { Ok(()) }
    }

    #[cold]
    fn report(&mut self) -> Result<(), Interrupted> {
        let (done, total) = (self.done, self.total);
        let stage = self.stage;
        let goes_on = (self.progress)(Progress { stage, done, total, now: Time::ZERO });
        if goes_on { Ok(()) } else { Err(Interrupted::Stopped) }
    }

    /// Slots reclaimed so far, and the slots that their moved pages took, including padding and
    /// parity.
    fn reclaimed(&self) -> (u64, u64) {
        let counts = self.ftl.counts();
        let geometry = self.ftl.geometry();
        let second = geometry.flash_blocks_per_block() * counts.second_lives;
        let slots = geometry.units_in_blocks(counts.erase.total() + second).get();
        let parity = slots.checked_div(geometry.superblocks().parity().into()).unwrap_or(0);
        (slots, counts.moved.total() + counts.padding.total() + parity)
    }

    /// Write amplification since `before`, from the blocks reclaimed: host writes take the slots of
    /// each block that moved pages do not need. Programs by host writes would give the same in the
    /// long run. Over a stretch they depend on the position of each plane between two phases of
    /// garbage collection, and planes that are written in turn have the same position. `None`: no
    /// block was reclaimed, so there is no value yet.
    fn waf_since(&self, before: (u64, u64)) -> Option<f64> {
        let (slots, moved) = self.reclaimed();
        let (slots, moved) = (slots - before.0, moved - before.1);
        (slots > 0).then(|| slots as f64 / (slots - moved) as f64)
    }
}

/// Decides from the write amplification of one stretch after the other whether it is flat: the last
/// third of all stretches agrees with the third before, twice in a row. The first third leads to
/// that state. Thirds grow, so that chance averages out on a small drive, whose planes gain and
/// lose data over many stretches.
#[derive(Clone, Default, Debug)]
struct Flatness {
    stretches: Vec<f64>,
    agreed: u32,
}

impl Flatness {
    /// A stretch without a write amplification does not count.
    fn is_reached(&mut self, waf: Option<f64>) -> bool {
        let Some(waf) = waf else { return false };
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

    /// Write amplification over the last stretch that had a value; 0 if none had.
    fn last(&self) -> f64 {
        self.stretches.last().copied().unwrap_or(0.0)
    }

    /// The course. With fewer than three values there is none.
    fn course(&self) -> AgeingCourse {
        let third = self.stretches.len() / 3;
        if third == 0 {
            return AgeingCourse::default();
        }
        let (before, last) = self.stretches.split_at(self.stretches.len() - third);
        let (first, middle) = before.split_at(before.len() - third);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let extreme = |of: fn(f64, f64) -> f64| last.iter().copied().reduce(of).unwrap_or(0.0);
        AgeingCourse {
            thirds: [mean(first), mean(middle), mean(last)],
            last: [extreme(f64::min), extreme(f64::max)],
        }
    }
}

/// Pages programmed while ageing. After these, a run for years accepts its state, and gives a
/// range.
const PROGRAMS_FOR_YEARS: u64 = 100 << 20;
/// The fewest stretches in such a run.
const STRETCHES_FOR_YEARS: usize = 6;

/// Ages by one stretch after the other until write amplification is flat.
fn age<K: PolicyTypes>(
    drive: &Drive,
    work: &mut Work<'_, '_, K>,
    result: &mut Preconditioned,
    mut stretch: impl FnMut(&mut Work<'_, '_, K>) -> Result<(), Interrupted>,
) -> Result<(), Interrupted> {
    while work.standing.done < u64::from(STRETCHES) {
        work.standing.aged = result.aged;
        work.checkpoint(drive.checkpoint);
        let (before, start) = (work.reclaimed(), work.done);
        stretch(work)?;
        result.aged += work.done - start;
        work.standing.done += 1;
        let waf = work.waf_since(before);
        let flatness = &mut work.standing.flatness;
        if flatness.is_reached(waf) {
            result.steady = true;
            break;
        }
        if drive.years.is_some()
            && flatness.stretches.len() >= STRETCHES_FOR_YEARS
            && work.programmed() >= PROGRAMS_FOR_YEARS
        {
            break;
        }
    }
    result.waf = work.standing.flatness.last();
    result.course = work.standing.flatness.course();
    Ok(())
}

/// Uniformly random overwrites of the pages that hold data.
fn age_random<K: PolicyTypes>(
    drive: &Drive,
    work: &mut Work<'_, '_, K>,
    result: &mut Preconditioned,
) -> Result<(), Interrupted> {
    // On a full drive, or one filled to a share, these are the first pages.
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
    // The stretch follows the size of the drive, not of its data. With little data, most of the way
    // to the first collection leads through blocks that have never been written.
    let stretch = (u64::from(drive.logical_pages) / 2).max(SHORTEST);
    for _ in 0..work.standing.done * (stretch + 1) {
        rng.below(count); // drawn before the interruption
    }
    age(drive, work, result, |work| {
        // The memory that a write changes is fetched while earlier ones are written: its entry in
        // the map, and then the memory that the entry leads to.
        let mut next = [Lpn::from_u32(0); AHEAD];
        for n in 0..stretch + AHEAD as u64 {
            let at = n as usize % AHEAD;
            if let Some(lpn) = (n >= AHEAD as u64).then_some(next[at]) {
                work.write(lpn)?;
            }
            if n < stretch {
                next[at] = page(rng.below(count));
                work.ftl.map().prefetch(next[at]);
            }
            work.ftl.prefetch_copy(next[(at + AHEAD / 2) % AHEAD]);
        }
        rng.below(count); // one after the last, so that states are what they were
        Ok(())
    })
}

/// A page is drawn this number of writes before its own.
const AHEAD: usize = 16;

/// Writes and trims of a workload for each page write of a stretch, at most. Few writes among many trims
/// would take for ever.
const CHANGES_A_WRITE: u64 = 64;

/// The workload's own writes and trims: those of a generator with other draws, or a trace again and
/// again.
fn age_by_workload<K: PolicyTypes>(
    drive: &Drive,
    input: &dyn Workload,
    work: &mut Work<'_, '_, K>,
    result: &mut Preconditioned,
) -> Result<(), Interrupted> {
    let size = drive.geometry.page_size().get();
    let shortest = (u64::from(drive.logical_pages) / 2).max(SHORTEST);
    let (mut changes, pass) = Changes::of(drive, input)?;
    if matches!(&changes, Changes::Kept(_)) && pass.0 == 0 {
        return Ok(()); // no writes, nothing to age by
    }
    result.pass = pass;
    if work.standing.aged == 0 && drive.precondition.fill.is_in_order() {
        // On a drive that was filled in order, unchanged data stays in full blocks for ever.
        // Collection never chooses these blocks and has very little work. In a used drive such
        // blocks have had invalid pages, and unchanged data is moved among changing data.
        let mut rng = Rng::named(drive.seed, "precondition/age");
        for _ in 0..result.filled {
            work.write(Lpn::from_u32(rng.below(result.filled as u32)))?;
        }
        result.aged += result.filled;
    }
    changes.skip(work.standing.batches)?;
    age(drive, work, result, |work| {
        let (start, mut made) = (work.done, 0);
        while work.done - start < shortest && made < CHANGES_A_WRITE * shortest {
            made += changes.go_on(size, work)?;
        }
        Ok(())
    })
}

/// The most writes and trims of a workload that are kept in memory instead of read again.
const KEPT: usize = 1 << 22;

/// The source of writes and trims for ageing by the workload.
enum Changes<'a> {
    /// A generator with other draws, batch by batch.
    Endless { source: Box<dyn RequestSource>, batch: Vec<Request> },
    /// All of them, for each pass.
    Kept(Vec<Change>),
    /// Others in each pass, all or partly, or too many to keep: each pass reads the workload.
    Drawn(&'a dyn Workload, Vec<Hint>),
}

/// A write or a trim.
#[derive(Copy, Clone)]
struct Change {
    offset: u64,
    len: u32,
    trim: bool,
    flow: u8,
    hint: Hint,
}

impl Change {
    /// `hints`: those of requests without one, by flow.
    fn of(request: &Request, hints: &[Hint]) -> Option<Self> {
        let trim = match request.op {
            Op::Read | Op::Flush => return None,
            Op::Write | Op::WriteFua => false,
            Op::Trim => true,
        };
        let &Request { offset, len, flow, hint, .. } = request;
        let usual = hints.get(usize::from(flow)).copied().unwrap_or(0);
        let hint = if hint == 0 { usual } else { hint };
        Some(Self { offset, len, trim, flow, hint })
    }

    /// The pages that change: a write changes all that it touches; a trim discards only whole ones.
    fn pages(self, size: u64) -> Range<u64> {
        let end = self.offset + u64::from(self.len);
        if self.trim {
            self.offset.div_ceil(size)..end / size
        } else {
            self.offset / size..(end - 1) / size + 1
        }
    }

    fn make<K: PolicyTypes>(
        self,
        size: u64,
        work: &mut Work<'_, '_, K>,
    ) -> Result<(), Interrupted> {
        // Nothing is urgent while no time passes.
        let host = HostTag { prio: Prio::Normal, flow: self.flow, hint: self.hint };
        for page in self.pages(size) {
            let lpn = Lpn::from_u32(page as u32);
            if self.trim {
                work.ftl.trim(lpn, Time::ZERO);
            } else {
                work.write_tagged(lpn, host)?;
            }
        }
        Ok(())
    }
}

impl<'a> Changes<'a> {
    /// With them, if a workload is repeated: the pages written in one pass, and how many of them
    /// are different.
    fn of(drive: &Drive, input: &'a dyn Workload) -> Result<(Self, (u64, u64)), Interrupted> {
        if let Some(source) = input.endless() {
            return Ok((Self::Endless { source, batch: Vec::new() }, (0, 0)));
        }
        let hints = drive.host.hints_of(&input.about().flows);
        let size = drive.geometry.page_size().get();
        let mut seen = BitSet::new(drive.logical_pages as usize);
        let (mut written, mut different) = (0, 0);
        let (mut kept, mut all, mut writes) = (Vec::new(), 0, 0);
        each_change(input, 0, &hints, |change| {
            writes += u64::from(!change.trim);
            for page in change.pages(size).filter(|_| !change.trim) {
                written += 1;
                different += u64::from(!seen.get(page as usize));
                seen.set(page as usize);
            }
            all += 1;
            if all <= KEPT {
                kept.push(change);
            }
            Ok(())
        })?;
        // Passes of a generator that hardly ever writes would take for ever.
        let few = |n: u64| (writes as f64) < n as f64 * HARDLY_WRITES;
        let draws =
            if input.about().requests.is_some_and(few) { Draws::Nothing } else { input.draws() };
        Ok(match draws {
            _ if written == 0 => (Self::Kept(Vec::new()), (0, 0)),
            Draws::All => (Self::Drawn(input, hints), (0, 0)),
            Draws::Nothing if all <= KEPT => (Self::Kept(kept), (written, different)),
            Draws::Nothing | Draws::Partly => (Self::Drawn(input, hints), (written, different)),
        })
    }

    /// Passes over the batches taken from an endless stream before.
    fn skip(&mut self, batches: u64) -> Result<(), Interrupted> {
        if let Self::Endless { source, batch } = self {
            for _ in 0..batches {
                source.fill(batch)?;
            }
        }
        Ok(())
    }

    /// The next requests of an endless stream, or one pass. Returns how many changes they were.
    fn go_on<K: PolicyTypes>(
        &mut self,
        size: u64,
        work: &mut Work<'_, '_, K>,
    ) -> Result<u64, Interrupted> {
        work.standing.batches += 1;
        let pass = work.standing.batches; // 0 is the run's
        let mut made = 0;
        let mut make = |change: Change| {
            made += 1;
            change.make(size, work)
        };
        match self {
            Self::Endless { source, batch } => {
                source.fill(batch)?;
                batch.iter().filter_map(|r| Change::of(r, &[])).try_for_each(make)?;
            }
            Self::Kept(all) => all.iter().try_for_each(|c| make(*c))?,
            Self::Drawn(input, hints) => each_change(*input, pass, hints, make)?,
        }
        Ok(made)
    }
}

/// Goes through the writes and trims of a pass of a workload.
fn each_change(
    input: &dyn Workload,
    pass: u64,
    hints: &[Hint],
    mut see: impl FnMut(Change) -> Result<(), Interrupted>,
) -> Result<(), Interrupted> {
    input.each_batch_of(pass, |batch| {
        let mut changes = batch.iter().filter_map(|request| Change::of(request, hints));
        changes.try_for_each(&mut see)
    })
}

/// The pages that the workload reads before it has written them whole. They must hold data before
/// the run. A partial write reads the rest of its page.
fn read_before_written(
    drive: &Drive,
    input: &dyn Workload,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<BitSet, Interrupted> {
    let size = drive.geometry.page_size().get();
    let pages = drive.logical_pages as usize;
    let (mut touched, mut written) = (BitSet::new(pages), BitSet::new(pages));
    if input.writes_whole_pages(drive.geometry.page_size()) {
        return Ok(touched);
    }
    let mut done = 0;
    input.each_batch(|batch| {
        done += batch.len() as u64;
        let (stage, total, now) = (Stage::Reading, input.about().requests, Time::ZERO);
        if !progress(Progress { stage, done, total, now }) {
            return Err(Interrupted::Stopped);
        }
        for request in batch.iter().filter(|r| r.has_extent()) {
            let (start, end) = (request.offset, request.end());
            let pages = (start / size) as usize..end.div_ceil(size) as usize;
            match request.op {
                Op::Read => touched.set_missing(pages, &written),
                Op::Write | Op::WriteFua => {
                    for edge in [start, end].into_iter().filter(|at| !at.is_multiple_of(size)) {
                        let page = (edge / size) as usize;
                        touched.set_missing(page..page + 1, &written);
                    }
                    written.set_all(pages);
                }
                Op::Trim | Op::Flush => {}
            }
        }
        Ok(())
    })?;
    Ok(touched)
}

//! The history of a drive's pages, and its effect on reads: the cells of `nand::physics` over time.
//! Only a drive with `reliability.model = "on"` has this.
//!
//! A page's raw bit error rate comes from the level at which it was written, its type, the cycles
//! of its block, its age and the reads of its block. It decides how many sensings the page needs.
//! The number of sensings is not drawn. An attempt succeeds if that sensing corrects the rate, so
//! equal pages take equal times. A failure of the finest sensing is drawn, because it concerns one
//! codeword in very many. It follows the binomial tail, with a random stream of its own, and the
//! expected number is summed separately.

use crate::config::{Drive, ReadStart, Uncorrectable};
use kernel::{Dur, Idx, IndexVec, Rng, Time};
use nand::physics::{Cell, Codeword, ErrorTable, Recovery, STEP_VOLTS, either_wrong, step_of_time};
use nand::{BlockId, DieId, Each, Level, Ppn, SoftReads, Source};

/// Ways of sensing.
const STEPS: usize = 3;
const HOUR_NS: f64 = 3.6e12;
/// Codewords below this chance of failure are not counted: one failure would take 10^18 TB of
/// reads.
const NEVER: f64 = 1e-30;

/// The counts of reads. Nothing here divides.
#[derive(Clone, Default, Debug)]
pub(crate) struct CellCounts {
    /// Pages read, by the sensing that read them.
    pub(crate) read_by_step: [u64; STEPS],
    /// Attempts that failed and were followed by a finer one.
    pub(crate) failed_attempts: u64,
    /// Bit planes that attempts sent beyond one page each, by source. Each has the size of a
    /// mapping unit.
    pub(crate) extra_planes: Each<Source, u64>,
    /// Pages that no sensing could read, by source.
    pub(crate) uncorrectable: Each<Source, u64>,
    /// Codewords that were expected to fail.
    pub(crate) expected_failures: f64,
    /// The greatest raw bit error rate of a page that was read.
    pub(crate) worst_rber: f32,
}

/// The way in which one page of one plane is read, so that the read can be subtracted from the
/// counts.
#[derive(Copy, Clone, Debug)]
pub(super) struct Attempts {
    pub(super) source: Source,
    /// The ways of sensing, from the first to the last.
    pub(super) steps: (u8, u8),
    pub(super) page_type: u8,
    /// Mapping units that are requested.
    pub(super) units: u32,
    /// Codewords that are expected to fail, and whether the page was found unreadable.
    failing: (f64, bool),
}

/// The reads of one command.
#[derive(Clone, Default, Debug)]
struct Begun {
    /// Its first operation.
    op: u32,
    attempts: Vec<Attempts>,
}

/// The cost of one read.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Sensed {
    /// Time of a plain read in the array.
    pub(crate) plain: Dur,
    /// Time in the array, all attempts together.
    pub(crate) array: Dur,
    /// Bit planes beyond those of a plain read.
    pub(crate) planes: u32,
    /// How often it was sensed.
    pub(crate) attempts: u32,
}

impl Sensed {
    /// Two planes at once.
    pub(crate) fn beside(self, other: Self) -> Self {
        Self {
            plain: self.plain.max(other.plain),
            array: self.array.max(other.array),
            planes: self.planes + other.planes,
            attempts: self.attempts + other.attempts,
        }
    }

    /// One page after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            plain: self.plain + next.plain,
            array: self.array + next.array,
            planes: self.planes + next.planes,
            attempts: self.attempts + next.attempts,
        }
    }
}

/// The page that is read, and where.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Target {
    pub(crate) slot: Ppn,
    pub(crate) block: BlockId,
    pub(crate) page_type: usize,
    pub(crate) level: Level,
    /// Its block has guard levels, which read disturb reaches a tenth as fast.
    pub(crate) guarded: bool,
    /// Mapping units that are requested.
    pub(crate) units: u32,
}

/// The cells of a drive.
pub(crate) struct Cells {
    table: ErrorTable,
    reads: SoftReads,
    read_start: ReadStart,
    retire: bool,
    code: Codeword,
    corrected: u32,
    /// Codewords, by the number of mapping units.
    codewords: Vec<u32>,
    /// Whether a bus carries the data: an attempt that is repeated sends its page again.
    resends: u32,
    /// Raw bit error rates up to this one fail too seldom to count.
    harmless: f32,
    cell: Cell,
    recovery: Recovery,
    endurance: f64,
    initial_cycles: f64,
    initial_rest_hours: f64,
    initial_hours: f32,
    /// When each slot was programmed, in seconds of the run from 1 on; 0: before the run.
    programmed: IndexVec<Ppn, u32>,
    /// The error rate of the data with which each slot was programmed, if the data was moved
    /// without correction. Empty if the drive does not move data so.
    inherited: Vec<f32>,
    /// Attempts to read pages of each block since its last erase.
    disturbs: IndexVec<BlockId, u32>,
    /// Cycles of each block, less those that rest has healed.
    cycles: IndexVec<BlockId, f32>,
    /// The way of sensing that the last read of each page type took, two bits each.
    last: IndexVec<BlockId, u8>,
    /// Blocks with a page that could not be read, until they are taken out of service.
    failed: Vec<BlockId>,
    rng: Rng,
    counts: CellCounts,
    /// The last two reading commands of each die: no more are under way at once.
    begun: IndexVec<DieId, [Begun; 2]>,
    /// The die that reads now.
    reads_on: DieId,
}

impl Cells {
    /// The cells of a drive at the beginning of a run; `None` if their model is off. `ideal`: every
    /// read takes the time of the quickest sensing.
    pub(super) fn of(drive: &Drive, ideal: bool) -> Option<Box<Self>> {
        let r = &drive.reliability;
        if !r.model_on() {
            return None;
        }
        let geometry = &drive.geometry;
        let cell = r.cell(geometry);
        let (code, corrected) = r.code();
        let recovery = r.equations();
        let hours = |time: Dur| time.as_ns() as f64 / HOUR_NS;
        let (initial, rest) = (f64::from(r.initial_cycles), hours(r.initial_rest));
        let cycles = effective(&recovery, &cell, initial, rest);
        let blocks = geometry.blocks();
        Some(Box::new(Self {
            table: ErrorTable::new(&cell, &steps(drive), &r.ldpc()),
            reads: if ideal { drive.soft_reads.ideal() } else { drive.soft_reads.clone() },
            read_start: r.read_start,
            retire: r.uncorrectable == Uncorrectable::Retire,
            code,
            corrected,
            codewords: (0..=geometry.units().per_page)
                .map(|n| {
                    (u64::from(n) * geometry.page_size().get()).div_ceil(r.codeword.get()) as u32
                })
                .collect(),
            resends: u32::from(drive.timing.bus != nand::Bus::Included),
            harmless: harmless(code, corrected, r.ldpc().correctable(2)) as f32,
            cell,
            recovery,
            endurance: f64::from(r.endurance),
            initial_cycles: initial,
            initial_rest_hours: rest,
            initial_hours: hours(r.initial_retention) as f32,
            programmed: IndexVec::filled(0, geometry.pages()),
            inherited: vec![0.0; if drive.ftl.copyback.is_some() { geometry.pages() } else { 0 }],
            disturbs: IndexVec::filled(0, blocks),
            cycles: IndexVec::filled(cycles as f32, blocks),
            last: IndexVec::filled(0, blocks),
            failed: Vec::new(),
            rng: Rng::named(drive.seed, "cells/uncorrectable"),
            counts: CellCounts::default(),
            begun: IndexVec::filled(Default::default(), geometry.dies()),
            reads_on: DieId::new(0),
        }))
    }

    /// A command begins to read on a die.
    pub(super) fn begin(&mut self, die: DieId, op: u32) {
        let [last, before] = &mut self.begun[die];
        std::mem::swap(last, before);
        last.op = op;
        last.attempts.clear();
        self.reads_on = die;
    }

    /// Subtracts the reads of a command under way from the counts, and returns them; an empty list
    /// if it reads nothing.
    pub(super) fn forget(&mut self, die: DieId, op: u32) -> Vec<Attempts> {
        let begun = self.begun[die].iter_mut().find(|begun| begun.op == op);
        let attempts = begun.map_or_else(Vec::new, |begun| std::mem::take(&mut begun.attempts));
        let counts = &mut self.counts;
        for &Attempts { source, steps, page_type, units, failing } in &attempts {
            let (first, last) = (usize::from(steps.0), usize::from(steps.1));
            for step in first..=last {
                let planes = self.reads.planes[step][usize::from(page_type)];
                counts.extra_planes[source] -= u64::from(planes * units);
            }
            counts.failed_attempts -= (last - first) as u64;
            counts.read_by_step[last] -= 1;
            counts.expected_failures = (counts.expected_failures - failing.0).max(0.0);
            counts.uncorrectable[source] -= u64::from(failing.1);
        }
        attempts
    }

    /// Reads a page. Returns how often and how finely it is sensed. `attempts` counts by way of
    /// sensing and page type.
    #[inline(always)] // from one place
    pub(crate) fn read(
        &mut self,
        target: &Target,
        source: Source,
        now: Time,
        attempts: &mut [[u64; 4]; STEPS],
    ) -> Sensed {
        let Target { block, page_type, units, .. } = *target;
        let rber = self.rber(target, now);
        let needed = self.table.step_for(rber).unwrap_or(STEPS - 1);
        let shift = page_type * 2;
        let remembered = usize::from(self.last[block] >> shift & 3);
        let first = match self.read_start {
            ReadStart::Lowest => 0,
            ReadStart::Last => remembered,
            ReadStart::Needed => needed,
        };
        let last = needed.max(first);
        if last != remembered {
            self.last[block] = self.last[block] & !(3 << shift) | (last as u8) << shift;
        }
        let mut total = Sensed { plain: self.reads.array[0][page_type], ..Sensed::default() };
        for (step, counts) in attempts.iter_mut().enumerate().take(last + 1).skip(first) {
            total.array += self.reads.array[step][page_type];
            let planes = self.reads.planes[step][page_type];
            self.counts.extra_planes[source] += u64::from(planes * units);
            total.planes += (planes + if step == first { 0 } else { self.resends }) * units;
            total.attempts += 1;
            counts[page_type] += 1;
        }
        self.disturbs[block] += (last - first + 1) as u32;
        self.counts.failed_attempts += (last - first) as u64;
        self.counts.read_by_step[last] += 1;
        self.counts.worst_rber = self.counts.worst_rber.max(rber);
        let failing = if rber > self.harmless {
            self.may_fail(block, source, rber, units)
        } else {
            (0.0, false)
        };
        let (steps, page_type) = ((first as u8, last as u8), page_type as u8);
        let attempts = Attempts { source, steps, page_type, units, failing };
        self.begun[self.reads_on][0].attempts.push(attempts);
        total
    }

    /// The raw bit error rate of a page.
    #[inline(always)]
    fn rber(&self, target: &Target, now: Time) -> f32 {
        let Target { slot, block, page_type, level, guarded, .. } = *target;
        let now_s = now.as_ns() / 1_000_000_000;
        let hours = match self.programmed[slot] {
            0 => self.initial_hours + now_s as f32 / 3600.0,
            at => (now_s + 1).saturating_sub(at.into()) as f32 / 3600.0,
        };
        let disturbs = self.disturbs[block] as f32 * if guarded { 0.1 } else { 1.0 };
        let own = self.table.rber(level, page_type, self.cycles[block], hours, disturbs).min(0.5);
        self.inherited.get(slot.index()).map_or(own, |before| either_wrong(*before, own))
    }

    /// Senses a page once, for a move inside its plane. Returns the bit error rate of the data that
    /// is written elsewhere.
    pub(crate) fn sense(&mut self, target: &Target, now: Time) -> f32 {
        let rber = self.rber(target, now);
        self.disturbs[target.block] += 1;
        rber
    }

    /// Slots from one on are programmed with data that are wrong at this rate.
    pub(crate) fn inherit(&mut self, first: Ppn, slots: u32, rber: f32) {
        self.inherited[first.index()..first.index() + slots as usize].fill(rber);
    }

    /// Reading a page that holds nothing.
    pub(crate) fn nothing(&self) -> Sensed {
        let plain = self.reads.array[0][0];
        Sensed { plain, array: plain, planes: 0, attempts: 1 }
    }

    /// Draws whether a page cannot be read. Returns the expected number of failing codewords, and
    /// whether it cannot.
    #[cold]
    fn may_fail(&mut self, block: BlockId, source: Source, rber: f32, units: u32) -> (f64, bool) {
        let one = self.code.failure(self.corrected, rber.into());
        let codewords = f64::from(self.codewords[units as usize]);
        let expected = one * codewords;
        self.counts.expected_failures += expected;
        let page = -(codewords * (-one).ln_1p()).exp_m1();
        if self.rng.unit() >= page {
            return (expected, false);
        }
        self.counts.uncorrectable[source] += 1;
        if self.retire && !self.failed.contains(&block) {
            self.failed.push(block);
        }
        (expected, true)
    }

    /// A block with a page that could not be read, which is to be taken out of service.
    pub(crate) fn take_failed(&mut self) -> Option<BlockId> {
        self.failed.pop()
    }

    /// The slots from one on were programmed.
    #[inline]
    pub(crate) fn programmed(&mut self, first: Ppn, slots: u32, now: Time) {
        let at = 1 + (now.as_ns() / 1_000_000_000) as u32;
        for slot in first.as_u32()..first.as_u32() + slots {
            self.programmed[Ppn::from_u32(slot)] = at;
        }
    }

    /// A block was erased for the `erases`th time in this run, with `wear` in thousandths of a
    /// cycle. Returns whether it would be worn out but for the healing of rest.
    pub(crate) fn erased(&mut self, block: BlockId, erases: u32, wear: u32, now: Time) -> bool {
        self.disturbs[block] = 0;
        self.last[block] = 0;
        if !self.inherited.is_empty() {
            let slots = self.slots_of(block);
            self.inherited[slots].fill(0.0);
        }
        let cycles = self.initial_cycles + f64::from(wear) * 1e-3;
        let rest = self.rest_hours(erases.into(), now);
        let effective = effective(&self.recovery, &self.cell, cycles, rest);
        self.cycles[block] = effective as f32;
        cycles >= self.endurance && effective < self.endurance
    }

    fn slots_of(&self, block: BlockId) -> std::ops::Range<usize> {
        let slots = self.programmed.len() / self.disturbs.len();
        block.index() * slots..(block.index() + 1) * slots
    }

    /// Mean time between the cycles of a block that was erased this often in this run, in hours.
    pub(crate) fn rest_hours(&self, erases: f64, now: Time) -> f64 {
        let all = self.initial_cycles + erases;
        if all <= 0.0 {
            return 0.0;
        }
        let hours = self.initial_cycles * self.initial_rest_hours + now.as_ns() as f64 / HOUR_NS;
        hours / all
    }

    /// Cycles of each block, less those that rest has healed.
    pub(crate) fn effective_cycles(&self) -> &[f32] {
        self.cycles.as_slice()
    }

    /// The counts.
    pub(crate) fn counts(&self) -> &CellCounts {
        &self.counts
    }
}

/// The steps of a drive's levels, in volts of the reference cell: those of AGCR's Eq. 1 for the
/// times that it programs in.
pub(crate) fn steps(drive: &Drive) -> Each<Level, f64> {
    let types = drive.geometry.shape().bits_per_cell as usize;
    let time = |level: Level| {
        let times = &drive.timing.program[level][..types];
        times.iter().copied().sum::<Dur>().as_ns() as f64
    };
    let medium = time(Level::MediumCost);
    Each::from_fn(|level| match time(level) {
        at if at > 0.0 && medium > 0.0 => step_of_time(medium, at),
        _ => STEP_VOLTS,
    })
}

/// The cycles that count for errors after this much rest between them. READY's equations are for a
/// cell rated 3000 cycles; others are scaled by their rating.
pub(crate) fn effective(recovery: &Recovery, cell: &Cell, cycles: f64, rest_hours: f64) -> f64 {
    let reference = cell.reference_cycles(cycles);
    if reference <= 0.0 {
        return 0.0;
    }
    cycles * recovery.effective_cycles(reference, rest_hours) / reference
}

/// The raw bit error rate up to which a codeword fails too seldom to count, found by halving.
fn harmless(code: Codeword, corrected: u32, limit: f64) -> f64 {
    let (mut low, mut high) = (0.0, limit);
    if code.failure(corrected, limit) <= NEVER {
        return limit;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if code.failure(corrected, middle) <= NEVER { low = middle } else { high = middle }
    }
    low
}

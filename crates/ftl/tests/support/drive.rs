//! The driver and its oracle.
//!
//! The driver does the work of the event loop, without its order. Any operation under way may
//! finish next, if the programs of one block finish in the order of their allocation, and a page is
//! read after it was programmed. Beside the FTL it keeps a plain map of the host's last writes.
//! Every read is compared with the map as it was when the read was asked for.

use super::{Checks, Scenario};
use ftl::{
    Access, AccessKind, Cost, Ftl, HostTag, JobId, Lpn, Next, Placement, Policies, PolicyTypes,
    State, Waiting, WriteCtx,
};
use kernel::{BitSet, Idx, Prio, Rng, Time};
use nand::{
    BlockId, DieId, Each, Level, Mode, Operation, Outcome, PlaneId, Ppn, Slots, Source, Store, Tag,
    Verb,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A structural check looks at every page of a drive. A drive of fewer pages is checked after each step, a
/// larger one after one step in several: damage to the structure stays, so a later check finds it.
const PAGES_OF_EACH_STEP: u32 = 48;
/// The largest drive is checked after one step in this number.
const MOST_STEPS: u32 = 12;

/// The fault, in words.
pub(crate) type Fault = String;

macro_rules! ensure {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}

/// The operations that the scheduler likes to finish first.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Taste {
    /// Any.
    Any,
    /// The one that came first.
    Oldest,
    /// The one that came last.
    Newest,
    /// Host operations: jobs crawl.
    Host,
    /// Jobs: the host crawls.
    Jobs,
    /// Anything but reads, which stay outstanding while blocks are collected under them.
    ReadsLast,
}

impl Taste {
    pub(crate) const ALL: [Self; 6] =
        [Self::Any, Self::Oldest, Self::Newest, Self::Host, Self::Jobs, Self::ReadsLast];
}

/// An operation under way.
#[derive(Copy, Clone, Debug)]
enum Work {
    Program {
        lpn: Lpn,
        data: u64,
        operation: Operation,
    },
    /// Pages that one command programs: which of `Drive::units`.
    Unit(usize, Operation),
    /// `held`: its block is pinned until then.
    Read {
        lpn: Lpn,
        operation: Operation,
        expected: u64,
        held: bool,
    },
    /// A job that may start or go on.
    Start(JobId),
    /// An operation of a job.
    Job(JobId, Operation),
}

#[derive(Copy, Clone, Debug)]
struct Pending {
    seq: u64,
    ppn: Option<Ppn>,
    die: DieId,
    work: Work,
}

/// Events of a run: a test asserts that those it is about occurred.
#[derive(Clone, Default, Debug)]
pub(crate) struct Seen {
    pub(crate) runs: u64,
    pub(crate) reads: u64,
    pub(crate) unmapped_reads: u64,
    pub(crate) writes: u64,
    pub(crate) trims: u64,
    /// Writes that had to wait for space.
    pub(crate) stalls: u64,
    /// Writes that never reached flash: written over, or given up, before they were programmed.
    pub(crate) absorbed: u64,
    /// Slots without data.
    pub(crate) padding: u64,
    /// Pages that a job read together with another of their physical page.
    pub(crate) along: u64,
    pub(crate) read: Each<Source, u64>,
    pub(crate) program: Each<Source, u64>,
    pub(crate) erase: Each<Source, u64>,
    pub(crate) dropped: u64,
    pub(crate) no_victim: u64,
    pub(crate) overridden: u64,
    pub(crate) reprogrammed: u64,
    pub(crate) second_lives: u64,
    pub(crate) retired: u64,
    /// Runs that ended because the drive was worn out.
    pub(crate) worn_out: u64,
    /// Reads that had to wait for the refresh of a block.
    pub(crate) blocked: u64,
    /// Jobs started in idle time.
    pub(crate) idle_jobs: u64,
    /// Background jobs that became urgent.
    pub(crate) promoted: u64,
    /// Jobs that had to wait.
    pub(crate) waits: u64,
    /// Reads that were still outstanding when their block had no other reason to exist.
    pub(crate) pinned: u64,
    /// Structural checks made.
    pub(crate) checks: u64,
    /// Data pages compared with the plain map while checking.
    pub(crate) compared: u64,
}

impl Seen {
    /// Reads, writes and trims of the host.
    pub(crate) fn host_operations(&self) -> u64 {
        self.reads + self.unmapped_reads + self.writes + self.trims
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sum = |a: &mut Each<Source, u64>, b: &Each<Source, u64>| *a += b;
        self.runs += other.runs;
        self.reads += other.reads;
        self.unmapped_reads += other.unmapped_reads;
        self.writes += other.writes;
        self.trims += other.trims;
        self.stalls += other.stalls;
        self.absorbed += other.absorbed;
        self.padding += other.padding;
        self.along += other.along;
        sum(&mut self.read, &other.read);
        sum(&mut self.program, &other.program);
        sum(&mut self.erase, &other.erase);
        self.dropped += other.dropped;
        self.no_victim += other.no_victim;
        self.overridden += other.overridden;
        self.reprogrammed += other.reprogrammed;
        self.second_lives += other.second_lives;
        self.retired += other.retired;
        self.worn_out += other.worn_out;
        self.blocked += other.blocked;
        self.idle_jobs += other.idle_jobs;
        self.promoted += other.promoted;
        self.waits += other.waits;
        self.pinned += other.pinned;
        self.checks += other.checks;
        self.compared += other.compared;
    }
}

/// A faulty driver: a canary switches on one of its faults, to see the oracle find it.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Sabotage {
    /// One trim in this many is not passed to the FTL.
    pub(crate) lost_trim: Option<u64>,
    /// Reads do not hold their block while they are outstanding.
    pub(crate) unpinned_reads: bool,
    /// Programs of a block may finish in any order.
    pub(crate) unordered_programs: bool,
}

/// The hints that the host gives: any page gets another now and then.
#[derive(Default)]
pub(crate) struct HintsOf {
    /// Their number.
    pub(crate) most: u8,
    /// That of the copy which each page has in flash.
    pub(crate) placed: Vec<u8>,
}

/// An FTL, the plain map beside it, and the operations on their way.
pub(crate) struct Drive<K: PolicyTypes> {
    pub(crate) ftl: Ftl<K>,
    /// The host's last write to each page; zero: nothing, or trimmed.
    truth: Vec<u64>,
    /// The level that was decided for each slot.
    levels: Vec<Option<Level>>,
    pending: Vec<Pending>,
    /// Reads of pages in blocks at their read limit, in order.
    blocked: Vec<Lpn>,
    /// Writes that wait for space, in order: those that one command programs together.
    stalled: VecDeque<(Vec<Lpn>, HostTag)>,
    /// Writes that wait for others to be programmed with, urgent ones apart.
    program_buffers: Vec<Vec<Lpn>>,
    /// The pages of commands that program several.
    units: Vec<Vec<(Lpn, u64)>>,
    /// Pages were written at once that are not in flash yet.
    staged: bool,
    host_pending: usize,
    waiting: Waiting,
    rng: Rng,
    taste: Taste,
    now: u64,
    seq: u64,
    order: u64,
    /// Operations since one of the host's.
    alone: u64,
    /// Steps since a stalled write found its place.
    fruitless: u64,
    /// One step in this number is followed by a structural check, whichever the dice choose.
    check_every: u32,
    /// Chooses the steps that are followed by one. The schedule draws from another stream, so it is
    /// the same for any number of checks.
    check_dice: Rng,
    /// The data of every page is compared each time this many structural checks are made.
    deep_every: u64,
    dead: bool,
    /// Pages may go to any plane.
    free_placement: bool,
    pub(crate) sabotage: Sabotage,
    /// Host reads that a block of full density endures, and one with guard levels: counted here
    /// beside the FTL.
    pub(crate) endures: Option<(u32, u32)>,
    /// Percent of that which a block endures whose coarsest page has this level.
    pub(crate) shares: Each<Level, u32>,
    /// Of each block: its erases and mode when it was last read, and the host reads since.
    served: Vec<(u32, Mode, u32)>,
    /// The hints of writes, if there are any.
    pub(crate) hints: Option<Rc<RefCell<HintsOf>>>,
    /// The check of a test besides that of the structure.
    pub(crate) look: Option<Box<dyn Fn(&Ftl<K>) -> Result<(), Fault>>>,
    /// A policy's stream has no fallback: its jobs wait for a pool that may have no block to lend.
    pub(crate) jobs_may_wait: bool,
    /// The most jobs that there were at a time.
    pub(crate) most_jobs: usize,
    pub(crate) seen: Seen,
}

impl<K: PolicyTypes> Drive<K>
where
    K::Store: Store<Page = u64>,
{
    pub(crate) fn new(ftl: Ftl<K>, s: &Scenario) -> Self {
        let geometry = *ftl.geometry();
        let check_every = match s.checks {
            Checks::BySize => (1 + geometry.pages() as u32 / PAGES_OF_EACH_STEP).min(MOST_STEPS),
            Checks::EachStep => 1,
            Checks::Seldom => (geometry.pages() as u32 / 16).max(1),
        };
        Self {
            truth: vec![0; ftl.map().logical_pages() as usize],
            levels: vec![None; geometry.pages()],
            pending: Vec::new(),
            blocked: Vec::new(),
            stalled: VecDeque::new(),
            program_buffers: vec![Vec::new(); ftl.kinds_of_writes() * ftl.program_buffers()],
            units: Vec::new(),
            staged: false,
            alone: 0,
            host_pending: 0,
            waiting: Waiting::nothing(geometry.dies()),
            rng: Rng::named(s.seed, "test/schedule"),
            taste: s.taste,
            now: 0,
            seq: 0,
            order: 0,
            fruitless: 0,
            check_every,
            check_dice: Rng::named(s.seed, "test/checks"),
            deep_every: 1 + geometry.pages() as u64 / 256,
            dead: false,
            free_placement: ftl.policies.placement.is_free(),
            sabotage: Sabotage::default(),
            endures: None,
            shares: Each::filled(100),
            served: vec![(0, Mode::Full, 0); geometry.blocks()],
            hints: None,
            look: None,
            jobs_may_wait: false,
            most_jobs: 0,
            seen: Seen { runs: 1, ..Seen::default() },
            ftl,
        }
    }

    /// A drive whose state came from elsewhere: its cells hold the data written last.
    pub(crate) fn adopted(ftl: Ftl<K>, s: &Scenario) -> Self {
        let mut drive = Self::new(ftl, s);
        for i in 0..drive.truth.len() {
            let found = drive.ftl.map().lookup(Lpn::new(i));
            drive.truth[i] = found.map_or(0, |ppn| drive.ftl.array().read(ppn));
        }
        drive
    }

    fn now(&self) -> Time {
        Time::from_ns(self.now)
    }

    /// The data that a host write of the page would store.
    fn next_data(&mut self, lpn: Lpn) -> u64 {
        self.order += 1;
        K::Store::stamp(lpn.as_u32(), self.order)
    }

    /// Host operations inside, waiting ones included.
    pub(crate) fn inside(&self) -> usize {
        let loaded: usize = self.program_buffers.iter().map(Vec::len).sum();
        self.host_pending + self.stalled.len() + self.blocked.len() + loaded
    }

    /// Pages that one command programs.
    fn unit(&self) -> usize {
        self.ftl.slots_per_program() as usize
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pending.is_empty()
            && self.stalled.is_empty()
            && self.blocked.is_empty()
            && self.program_buffers.iter().all(Vec::is_empty)
    }

    // ── The host ────────────────────────────────────────────────────────────────────────────────

    fn observe(&mut self, lpn: Lpn, kind: AccessKind, prio: Prio) {
        let waiting_device = self.host_pending as u32;
        let now = self.now();
        let host = HostTag::of(prio);
        self.ftl.host_access(|| Access { now, kind, lpn, host, waiting_device });
    }

    pub(crate) fn write(&mut self, lpn: Lpn, prio: Prio) {
        self.observe(lpn, AccessKind::Write, prio);
        self.seen.writes += 1;
        let hint = self.hints.as_ref().map_or(0, |hints| {
            let mixed = self.seen.writes / 7 * 31 + u64::from(lpn.as_u32()) * 5;
            (mixed % u64::from(hints.borrow().most)) as u8
        });
        let host = HostTag { hint, ..HostTag::of(prio) };
        if self.unit() == 1 {
            return self.place_or_wait(vec![lpn], host);
        }
        let (home, apart) = (self.ftl.program_buffer_of(lpn), self.ftl.program_buffers());
        let mut kinds = (home..self.program_buffers.len()).step_by(apart);
        let waits = kinds.find(|at| self.program_buffers[*at].contains(&lpn));
        let own = home + self.ftl.kind_of_write(lpn, host, self.now()) * apart;
        if let Some(at) = waits {
            self.seen.absorbed += 1;
            if at == own || !self.ftl.sorts_writes() {
                return;
            }
            self.program_buffers[at].retain(|page| *page != lpn);
        }
        let at = own;
        self.program_buffers[at].push(lpn);
        // Now and then the missing pages are padding, as after a while without writes.
        if self.program_buffers[at].len() == self.unit()
            || self.rng.below(4 * self.unit() as u32) == 0
        {
            self.seal(at);
        }
    }

    /// The pages of a program buffer are programmed, or wait for space.
    fn seal(&mut self, at: usize) {
        let pages = std::mem::take(&mut self.program_buffers[at]);
        let urgent = self.ftl.kinds_of_writes() - usize::from(self.ftl.separates_urgent());
        let urgent = at >= urgent * self.ftl.program_buffers();
        let prio = if urgent { Prio::High } else { Prio::Normal };
        // As `hints` numbers the streams of the host.
        let kind = at / self.ftl.program_buffers();
        let hint = if self.hints.is_some() && !urgent { kind as u8 } else { 0 };
        self.place_or_wait(pages, HostTag { hint, ..HostTag::of(prio) });
    }

    /// Whether there was anything in program buffers: it is programmed now, or waits for space.
    fn seal_all(&mut self) -> bool {
        let full: Vec<usize> = (0..self.program_buffers.len())
            .filter(|at| !self.program_buffers[*at].is_empty())
            .collect();
        for at in &full {
            self.seal(*at);
        }
        !full.is_empty()
    }

    fn place_or_wait(&mut self, lpns: Vec<Lpn>, host: HostTag) {
        if !(self.stalled.is_empty() && self.place(&lpns, host)) {
            self.seen.stalls += 1;
            self.stalled.push_back((lpns, host));
        }
    }

    fn place(&mut self, lpns: &[Lpn], host: HostTag) -> bool {
        let mut idle = BitSet::new(self.waiting.len());
        (0..self.waiting.len()).for_each(|d| idle.set(d));
        self.pending.iter().for_each(|p| idle.clear(p.die.index()));
        let now = self.now();
        let waiting = &self.waiting;
        let given = if let [lpn] = *lpns
            && self.unit() == 1
        {
            self.ftl.write(lpn, host, waiting, &idle, now)
        } else {
            let pages: Vec<_> = lpns.iter().map(|lpn| (*lpn, host)).collect();
            self.ftl.write_unit(&pages, waiting, &idle, now)
        };
        let Some(operation) = given else { return false };
        let ppn = operation.slot();
        let mut unit = Vec::new();
        for &lpn in lpns {
            let data = self.next_data(lpn);
            self.truth[lpn.index()] = data;
            if let Some(hints) = &self.hints {
                hints.borrow_mut().placed[lpn.index()] = host.hint;
            }
            unit.push((lpn, data));
        }
        if self.unit() == 1 {
            let (lpn, data) = unit[0];
            self.push(ppn, Work::Program { lpn, data, operation });
        } else {
            self.units.push(unit);
            self.push(ppn, Work::Unit(self.units.len() - 1, operation));
        }
        self.fruitless = 0;
        true
    }

    pub(crate) fn read(&mut self, lpn: Lpn) -> Result<(), Fault> {
        self.observe(lpn, AccessKind::Read, Prio::Normal);
        if self.ftl.blocked(lpn).is_some() {
            self.seen.blocked += 1;
            self.blocked.push(lpn);
            return Ok(());
        }
        self.let_in(lpn)
    }

    /// A read comes to a block that may be read.
    fn let_in(&mut self, lpn: Lpn) -> Result<(), Fault> {
        let expected = self.truth[lpn.index()];
        let now = self.now();
        let found = self.ftl.read(lpn, Prio::Normal, now);
        ensure!(
            found.is_some() == (expected != 0),
            "the plain map has version {expected:#x} of page {lpn}, the FTL has it at {found:?}"
        );
        let Some(operation) = found else {
            self.seen.unmapped_reads += 1;
            return Ok(());
        };
        let ppn = operation.slot().expect("a mapped page has a place");
        self.serve(ppn)?;
        let held = !self.sabotage.unpinned_reads || !self.ftl.array().is_written(ppn);
        self.push(Some(ppn), Work::Read { lpn, operation, expected, held });
        if !held {
            self.conclude_host(lpn, 0, &operation);
        }
        Ok(())
    }

    /// A block is read for the host and must endure it. From outside this is only visible as reads
    /// since its erase or a change of its mode.
    fn serve(&mut self, ppn: Ppn) -> Result<(), Fault> {
        let Some((full, low)) = self.endures else { return Ok(()) };
        let block = self.ftl.geometry().block_of(ppn);
        let (erases, mode) = (self.ftl.array().erases()[block], self.ftl.array().mode(block));
        let share = self.shares[self.coarsest(block)];
        let served = &mut self.served[block.index()];
        if (served.0, served.1) != (erases, mode) {
            *served = (erases, mode, 0);
        }
        served.2 += 1;
        let limit = if mode == Mode::LowDensity { low } else { full };
        let limit = (limit * share / 100).max(1);
        ensure!(served.2 <= limit, "block {block} serves read {} of {limit}", served.2);
        Ok(())
    }

    /// The coarsest level of what a block holds, valid or not; the finest if its first program is on its
    /// way.
    fn coarsest(&self, block: BlockId) -> Level {
        let geometry = self.ftl.geometry();
        let (array, mode) = (self.ftl.array(), self.ftl.array().mode(block));
        // A block with guard levels passes over slots, which have the level of an earlier page.
        let slots =
            (0..geometry.pages_per_block()).filter(|slot| array.layouts().is_slot(mode, *slot));
        let pages = slots.map(|slot| geometry.ppn(block, slot));
        let written = pages.filter(|ppn| array.is_written(*ppn));
        let usual = self.ftl.policies.cost.initial();
        written
            .map(|ppn| self.levels[ppn.index()].unwrap_or(usual))
            .max()
            .unwrap_or(Level::HighCost)
    }

    pub(crate) fn trim(&mut self, lpn: Lpn) -> Result<(), Fault> {
        self.observe(lpn, AccessKind::Trim, Prio::Normal);
        self.seen.trims += 1;
        for program_buffer in &mut self.program_buffers {
            // For the FTL a page that was never programmed never existed.
            if let Some(place) = program_buffer.iter().position(|page| *page == lpn) {
                program_buffer.remove(place);
                self.seen.absorbed += 1;
            }
        }
        let expected = std::mem::take(&mut self.truth[lpn.index()]);
        if self.sabotage.lost_trim.is_some_and(|n| self.seen.trims % n == 0) {
            return Ok(());
        }
        let now = self.now();
        let was = self.ftl.trim(lpn, now);
        ensure!(
            was == (expected != 0),
            "page {lpn} was trimmed, and that it was mapped is {was}; the plain map had {expected:#x}"
        );
        Ok(())
    }

    /// Writes a page at once, with all that follows.
    pub(crate) fn write_now(&mut self, lpn: Lpn) -> Result<(), Fault> {
        self.seen.writes += 1;
        let data = self.next_data(lpn);
        let now = self.now();
        if !self.ftl.write_now(lpn, data, now) {
            self.seen.writes -= 1;
            let spent = self.is_spent();
            ensure!(spent, "no space for page {lpn}, with nothing running\n{}", self.drawing());
            self.dead = true;
            return self.check();
        }
        self.truth[lpn.index()] = data;
        if let Some(hints) = &self.hints {
            hints.borrow_mut().placed[lpn.index()] = 0;
        }
        self.staged = self.unit() > 1;
        if self.staged && self.rng.below(2 * self.unit() as u32) == 0 {
            self.seal_staged();
        }
        self.check_step()
    }

    /// Programs the pages that were written at once and wait for others.
    fn seal_staged(&mut self) {
        if std::mem::take(&mut self.staged) {
            let now = self.now();
            self.ftl.flush_buffered_pages(now);
        }
    }

    /// Reads a page at once.
    pub(crate) fn read_now(&mut self, lpn: Lpn) -> Result<(), Fault> {
        self.seal_staged();
        let expected = self.truth[lpn.index()];
        let now = self.now();
        let dies = self.ftl.geometry().dies() as u32;
        let mut die = 0;
        while self.ftl.blocked(lpn).is_some() && die < dies {
            self.ftl.settle(now);
            if !self.idle_now(DieId::from_u32(die))? {
                die += 1;
            }
        }
        if self.ftl.blocked(lpn).is_some() {
            ensure!(self.jobs_may_wait, "the read of page {lpn} waits in vain\n{}", self.drawing());
            return Ok(());
        }
        let read = self.ftl.read(lpn, Prio::Normal, now);
        if let Some(ppn) = read.and_then(|read| read.slot()) {
            self.serve(ppn)?;
        }
        let found = read.and_then(|read| self.conclude_host(lpn, 0, &read)).unwrap_or(0);
        self.seen.reads += 1;
        ensure!(found == expected, "page {lpn} reads {found:#x}, and {expected:#x} was written");
        Ok(())
    }

    /// The run begins: counts start afresh.
    pub(crate) fn begin_run(&mut self, policies: Policies<K>) {
        assert!(self.is_quiet(), "a run begins quietly");
        self.seal_staged();
        self.ftl.begin_run(policies);
        self.levels.fill(None);
        self.seen = Seen {
            checks: self.seen.checks,
            compared: self.seen.compared,
            runs: 1,
            ..Seen::default()
        };
    }

    // ── The schedule ────────────────────────────────────────────────────────────────────────────

    fn push(&mut self, ppn: Option<Ppn>, work: Work) {
        self.seq += 1;
        let geometry = self.ftl.geometry();
        let die = match (ppn, work) {
            (Some(ppn), _) => geometry.die_of(geometry.block_of(ppn)),
            (None, Work::Start(id)) => self.ftl.job(id).home,
            (None, _) => unreachable!("operations have places"),
        };
        if matches!(work, Work::Program { .. } | Work::Unit(..) | Work::Read { .. }) {
            self.host_pending += 1;
            self.waiting.add(die);
        }
        self.pending.push(Pending { seq: self.seq, ppn, die, work });
        if self.ftl.geometry().superblocks().are_striped() {
            // Parity of this stripe comes before later pages of the same block.
            self.take_jobs();
        }
    }

    fn program_block(&self, p: &Pending) -> Option<BlockId> {
        let programs = match p.work {
            Work::Program { .. } | Work::Unit(..) => true,
            Work::Job(_, operation) => operation.verb == Verb::Program,
            Work::Read { .. } | Work::Start(_) => false,
        };
        p.ppn.filter(|_| programs).map(|ppn| self.ftl.geometry().block_of(ppn))
    }

    /// Whether the flash could finish this operation now.
    fn is_legal(&self, p: &Pending) -> bool {
        if let Work::Read { held, .. } = p.work {
            return !held || self.ftl.array().is_written(p.ppn.expect("a read has a slot"));
        }
        let Some(block) = self.program_block(p) else { return true };
        self.sabotage.unordered_programs
            || !self
                .pending
                .iter()
                .any(|other| other.seq < p.seq && self.program_block(other) == Some(block))
    }

    /// The position of the operation that finishes next; `None` when nothing is on its way.
    fn choose(&mut self) -> Result<Option<usize>, Fault> {
        let legal: Vec<usize> =
            (0..self.pending.len()).filter(|&i| self.is_legal(&self.pending[i])).collect();
        ensure!(
            !legal.is_empty() || self.pending.is_empty(),
            "{} operations wait for each other: {:?}",
            self.pending.len(),
            self.pending
        );
        if legal.is_empty() {
            return Ok(None);
        }
        let host =
            |w: &Work| matches!(w, Work::Program { .. } | Work::Unit(..) | Work::Read { .. });
        let liked: Vec<usize> = legal
            .iter()
            .copied()
            .filter(|&i| match (self.taste, &self.pending[i].work) {
                (Taste::Host, w) => host(w),
                (Taste::Jobs, w) => !host(w),
                (Taste::ReadsLast, w) => !matches!(w, Work::Read { .. }),
                _ => true,
            })
            .collect();
        // A taste that were a law would leave whole orders untried.
        let among = if liked.is_empty() || self.rng.below(8) == 0 { &legal } else { &liked };
        let seq = |&i: &usize| self.pending[i].seq;
        Ok(match self.taste {
            Taste::Oldest if self.rng.below(8) > 0 => among.iter().copied().min_by_key(seq),
            Taste::Newest if self.rng.below(8) > 0 => among.iter().copied().max_by_key(seq),
            _ => Some(among[self.rng.below(among.len() as u32) as usize]),
        })
    }

    /// Finishes one operation, and checks everything. `false`: nothing was on its way.
    pub(crate) fn step(&mut self) -> Result<bool, Fault> {
        self.now += 1;
        let chosen = self.choose()?;
        if let Some(chosen) = chosen {
            let done = self.pending.swap_remove(chosen);
            self.alone += 1;
            let limit = 40 * self.ftl.geometry().pages() as u64;
            ensure!(
                self.alone < limit,
                "{limit} operations, none of the host's, and there is no end"
            );
            if matches!(done.work, Work::Program { .. } | Work::Unit(..) | Work::Read { .. }) {
                self.alone = 0;
                self.host_pending -= 1;
                self.waiting.remove(done.die);
            }
            self.finish(&done)?;
        }
        self.settle_down()?;
        if !self.stalled.is_empty() {
            self.fruitless += 1;
            let limit = 40 * self.ftl.geometry().pages() as u64;
            ensure!(self.fruitless < limit, "a write has waited for {limit} operations");
        }
        Ok(chosen.is_some())
    }

    /// The steps of the event loop after each event.
    pub(crate) fn settle_down(&mut self) -> Result<(), Fault> {
        if let Some(at) = self.ftl.next_timer()
            && at <= self.now()
        {
            let now = self.now();
            self.ftl.on_timer(now);
        }
        self.take_jobs();
        if self.ftl.take_freed() {
            while let Some((lpns, prio)) = self.stalled.pop_front() {
                if !self.place(&lpns, prio) {
                    self.stalled.push_front((lpns, prio));
                    break;
                }
            }
            self.take_jobs();
        }
        if !self.blocked.is_empty() {
            let ftl = &self.ftl;
            let (wait, go) = self.blocked.drain(..).partition(|lpn| ftl.blocked(*lpn).is_some());
            self.blocked = wait;
            let go: Vec<Lpn> = go;
            for lpn in go {
                // The one before may have been the last that its block endured.
                if self.ftl.blocked(lpn).is_some() {
                    self.blocked.push(lpn);
                } else {
                    self.let_in(lpn)?;
                }
            }
            self.take_jobs();
        }
        self.check_step()
    }

    fn take_jobs(&mut self) {
        while let Some(id) = self.ftl.take_ready() {
            if self.ftl.job(id).is_decided() {
                let operation = *self.ftl.job(id).operation();
                self.push(operation.slot(), Work::Job(id, operation));
            } else {
                self.push(None, Work::Start(id));
            }
        }
        while let Some(id) = self.ftl.take_promoted() {
            assert!(!self.ftl.job(id).background, "an urgent job gives way to nobody");
            self.seen.promoted += 1;
        }
    }

    /// Carries out all that wants to be done, at once.
    pub(crate) fn settle_now(&mut self) -> Result<(), Fault> {
        self.now += 1;
        let now = self.now();
        self.ftl.settle(now);
        self.check_step()
    }

    /// Offers an idle moment of a die; whether it found work.
    pub(crate) fn offer_idle(&mut self, die: DieId) -> Result<bool, Fault> {
        let Some(id) = self.ftl.idle_job(die) else { return Ok(false) };
        self.seen.idle_jobs += 1;
        self.push(None, Work::Start(id));
        self.settle_down()?;
        Ok(true)
    }

    /// Offers an idle moment of a die and carries out the job, if there is one, at once. Whether it
    /// found anything.
    pub(crate) fn idle_now(&mut self, die: DieId) -> Result<bool, Fault> {
        let now = self.now();
        let Some(id) = self.ftl.idle_job(die) else { return Ok(false) };
        self.seen.idle_jobs += 1;
        self.ftl.run_job(id, now);
        self.ftl.settle(now);
        self.check_step()?;
        Ok(true)
    }

    fn decide_level(&mut self, lpn: Lpn, ppn: Ppn, tag: Tag, stored: Option<Level>) {
        let now = self.now();
        let (device, die) = (self.host_pending as u32, self.host_pending as u32 / 2);
        let home = self.ftl.geometry().die_of(self.ftl.geometry().block_of(ppn));
        let level = self.ftl.decide_level(ppn, || WriteCtx {
            now,
            lpn,
            die: home,
            tag,
            stored,
            waiting_die: die,
            waiting_channel: die,
            waiting_device: device,
            requests_inside: device,
        });
        // The finest holds for all that one command programs.
        let unit = self.ftl.slots_per_program();
        let begun = ppn.as_u32().is_multiple_of(unit);
        let first = (ppn.as_u32() - ppn.as_u32() % unit) as usize;
        let finest = self.levels[first].filter(|_| !begun).map_or(level, |known| known.min(level));
        self.levels[first..first + unit as usize].fill(Some(finest));
    }

    fn finish(&mut self, done: &Pending) -> Result<(), Fault> {
        let now = self.now();
        match done.work {
            Work::Program { lpn, data, operation } => {
                let ppn = done.ppn.expect("a program has a slot");
                self.decide_level(lpn, ppn, operation.tag, None);
                self.program_pages(ppn)?;
                self.conclude_host(lpn, data, &operation);
                self.seen.program[Source::Host] += 1;
            }
            Work::Unit(at, operation) => {
                let first = done.ppn.expect("a program has a slot");
                let unit = std::mem::take(&mut self.units[at]);
                let place = |i: usize| Ppn::from_u32(first.as_u32() + i as u32);
                for (i, (lpn, _)) in unit.iter().enumerate() {
                    self.decide_level(*lpn, place(i), operation.tag, None);
                }
                self.program_pages(first)?;
                for (i, (lpn, data)) in unit.iter().enumerate() {
                    let slots = Some(Slots::one(place(i)));
                    self.conclude_host(*lpn, *data, &Operation { slots, ..operation });
                }
                self.seen.padding += (self.unit() - unit.len()) as u64;
                self.seen.program[Source::Host] += self.unit() as u64;
            }
            Work::Read { lpn, operation, expected, held } => {
                let ppn = done.ppn.expect("a read has a slot");
                ensure!(self.reads_pages(ppn), "reading slot {ppn} senses no page");
                self.seen.reads += 1;
                self.seen.read[Source::Host] += 1;
                if self.ftl.map().lookup(lpn) != Some(ppn) {
                    self.seen.pinned += 1;
                }
                let found = if held {
                    self.conclude_host(lpn, 0, &operation).expect("a read finds something")
                } else {
                    self.ftl.array().read(ppn)
                };
                ensure!(
                    found == expected,
                    "page {lpn} reads {found:#x} from slot {ppn}, and {expected:#x} was written"
                );
            }
            Work::Start(id) => self.advance(id),
            Work::Job(id, operation) => {
                let tag = self.ftl.job(id).tag;
                ensure!(operation.tag.source == tag.source, "{operation:?} of a job for {tag:?}");
                let slots = operation.slots.expect("an operation of a job has a place");
                let count = slots.iter().count() as u64;
                match operation.verb {
                    Verb::Read => {
                        ensure!(self.reads_pages(slots.first), "{slots:?} have no page");
                        self.seen.read[tag.source] += count;
                        self.seen.along += count - 1;
                    }
                    Verb::Program => {
                        let unit = self.unit() as u64;
                        let parity = tag.source == Source::Parity;
                        for (slot, nth) in slots.iter().zip(0..).filter(|_| !parity) {
                            let from = self.ftl.job(id).copied_from(nth);
                            let stored = from.map(|p| self.ftl.level_of(p));
                            let page = self.ftl.map().owner(slot).expect("a copy has a page");
                            self.decide_level(page, slot, tag, stored);
                        }
                        self.program_pages(slots.first)?;
                        self.seen.padding += unit - count;
                        self.seen.program[tag.source] += unit;
                    }
                    Verb::Erase => {
                        let planes = self.ftl.geometry().units().planes;
                        self.seen.erase[tag.source] += u64::from(planes);
                    }
                    Verb::Reprogram => {
                        ensure!(count > 0, "{slots:?} have nothing to reprogram");
                        let slots = u64::from(self.ftl.geometry().slots_per_page());
                        let read = 3 * count - u64::from(operation.known);
                        self.seen.read[tag.source] += read * slots;
                    }
                }
                let next = self.ftl.job_concluded(id, &operation, Outcome::Done, now);
                self.follow(id, next);
            }
        }
        Ok(())
    }

    fn conclude_host(&mut self, lpn: Lpn, data: u64, operation: &Operation) -> Option<u64> {
        let now = self.now();
        self.ftl.concluded(lpn, || data, operation, Outcome::Done, now)
    }

    fn advance(&mut self, id: JobId) {
        let now = self.now();
        let next = self.ftl.next(id, now);
        self.follow(id, next);
    }

    fn follow(&mut self, id: JobId, next: Next) {
        match next {
            Next::Done => {}
            Next::Yield | Next::Turn => self.push(None, Work::Start(id)),
            Next::Wait => self.seen.waits += 1,
            Next::Start => {
                let operation = *self.ftl.job(id).operation();
                self.push(operation.slot(), Work::Job(id, operation));
            }
        }
    }

    /// Whether reading a slot senses pages.
    fn reads_pages(&self, ppn: Ppn) -> bool {
        let (block, slot) = self.ftl.geometry().split(ppn);
        let array = self.ftl.array();
        array.layouts().read(array.mode(block), slot).count > 0
    }

    fn program_pages(&self, ppn: Ppn) -> Result<(), Fault> {
        let (block, slot) = self.ftl.geometry().split(ppn);
        let array = self.ftl.array();
        let pages = array.layouts().program(array.mode(block), slot);
        let all = self.ftl.geometry().pages_per_block();
        ensure!(pages.count > 0 && pages.end() <= all, "slot {ppn} programs pages {pages:?}");
        Ok(())
    }

    /// Finishes everything that is on its way or waits for idle time.
    pub(crate) fn drain(&mut self) -> Result<(), Fault> {
        let dies = self.ftl.geometry().dies() as u32;
        let mut turns = 0;
        loop {
            while self.step()? {}
            let mut worked = self.seal_all();
            for die in (0..dies).map(DieId::from_u32) {
                worked |= self.offer_idle(die)?;
            }
            if !worked && self.pending.is_empty() {
                break;
            }
            turns += 1;
            let limit = 100 * self.ftl.geometry().pages();
            ensure!(turns < limit, "idle time has had work {limit} times, and there is no end");
        }
        if !self.stalled.is_empty() && self.is_spent() {
            self.dead = true;
            return Ok(());
        }
        if !self.blocked.is_empty() {
            ensure!(
                self.jobs_may_wait,
                "{} reads wait in vain\n{}",
                self.blocked.len(),
                self.drawing()
            );
            self.blocked.clear();
        }
        if let Some((lpns, prio)) = self.stalled.front().cloned() {
            let (lpn, late) = (lpns[0], self.place(&lpns, prio));
            return Err(format!(
                "{} writes are stuck, the first of page {lpn}: nothing is running, and trying again \
                 {}; {} jobs\n{}",
                self.stalled.len(),
                if late { "would have worked (nobody said so)" } else { "does not help" },
                self.ftl.running_jobs(),
                self.drawing(),
            ));
        }
        Ok(())
    }

    /// Every block as `state stream:valid/written`, a line for each plane.
    pub(crate) fn drawing(&self) -> String {
        let (geometry, blocks) = (self.ftl.geometry(), self.ftl.blocks());
        let mut lines = String::new();
        for plane in (0..geometry.planes()).map(PlaneId::new) {
            lines += &format!("  plane {plane}, {} free:", self.ftl.free_blocks(plane));
            for b in geometry.blocks_of(plane).map(BlockId::new) {
                let (state, stream) = (blocks.state(b), blocks.stream(b).0);
                let (valid, written) = (blocks.valid(b), blocks.written(b));
                let mode = self.ftl.array().mode(b);
                lines += &match state {
                    State::Free => format!(" Free {mode:?}"),
                    _ => format!(" {state:?} {mode:?} s{stream}:{valid}/{written}"),
                };
                lines.push(',');
            }
            lines.push('\n');
        }
        lines
    }

    /// Whether the drive has reached the end of its life. The drive reports it, or one plane, which
    /// must hold a share of the pages, has lost the blocks that it needs besides them.
    fn is_spent(&self) -> bool {
        if self.ftl.is_worn_out() {
            return true;
        }
        let (geometry, blocks) = (self.ftl.geometry(), self.ftl.blocks());
        let share = self.truth.len().div_ceil(geometry.planes());
        let needed = self.ftl.spare_needed() as usize / geometry.planes();
        (0..geometry.planes()).map(PlaneId::new).any(|plane| {
            let all = geometry.blocks_of(plane).map(BlockId::new);
            let good = all.filter(|b| blocks.state(*b) != State::Bad).count();
            !self.free_placement && good * (geometry.pages_per_block() as usize) < share + needed
        })
    }

    /// Whether the run is over, for no write will find a place any more.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead || self.ftl.is_worn_out()
    }

    // ── The oracle ──────────────────────────────────────────────────────────────────────────────

    /// After a step: the structure of the FTL, and now and then every page's data.
    fn check_step(&mut self) -> Result<(), Fault> {
        self.most_jobs = self.most_jobs.max(self.ftl.running_jobs());
        if self.check_every > 1 && self.check_dice.below(self.check_every) > 0 {
            return Ok(());
        }
        self.check()
    }

    pub(crate) fn check(&mut self) -> Result<(), Fault> {
        self.seen.checks += 1;
        self.ftl.check()?;
        if let Some(look) = &self.look {
            look(&self.ftl)?;
        }
        if self.seen.checks % self.deep_every == 0 {
            self.compare()?;
        }
        Ok(())
    }

    /// Compares every page whose program is done with the plain map, without reading through the
    /// FTL.
    pub(crate) fn compare(&mut self) -> Result<(), Fault> {
        self.seal_staged();
        let mut pins = 0;
        for b in (0..self.ftl.geometry().blocks()).map(BlockId::new) {
            pins += self.ftl.blocks().pins(b) as usize;
        }
        let holds = |p: &&Pending| match p.work {
            Work::Read { held, .. } => held,
            Work::Job(_, operation) => operation.verb == Verb::Read,
            _ => false,
        };
        let reads = self.pending.iter().filter(holds).count();
        ensure!(pins == reads, "{reads} reads are on their way, blocks are pinned by {pins}");
        for (i, &expected) in self.truth.iter().enumerate() {
            let lpn = Lpn::new(i);
            let found = self.ftl.map().lookup(lpn);
            ensure!(
                found.is_some() == (expected != 0),
                "the plain map has version {expected:#x} of page {lpn}, the FTL has {found:?}"
            );
            let Some(ppn) = found.filter(|ppn| self.ftl.array().is_written(*ppn)) else { continue };
            let data = self.ftl.array().read(ppn);
            self.seen.compared += 1;
            ensure!(
                data == expected,
                "slot {ppn} of page {lpn} holds {data:#x}, and {expected:#x} was written"
            );
            if let Some(level) = self.levels[ppn.index()] {
                let kept = self.ftl.level_of(ppn);
                ensure!(kept == level, "slot {ppn} was programmed at {level:?}, known as {kept:?}");
            }
        }
        Ok(())
    }

    /// The end of a run: everything quiet, every page compared, every operation accounted for.
    pub(crate) fn finish_run(&mut self) -> Result<(), Fault> {
        self.drain()?;
        self.compare()?;
        let pages = self.ftl.map().logical_pages();
        for lpn in (0..pages).map(Lpn::from_u32) {
            self.read(lpn)?;
            while self.step()? {}
            if !self.blocked.is_empty() {
                self.drain()?;
            }
        }
        // Those reads may have set a policy going.
        self.settle_down()?;
        self.drain()?;
        let running = self.ftl.running_jobs();
        ensure!(
            running == 0 || self.jobs_may_wait,
            "{running} jobs wait in vain\n{}",
            self.drawing()
        );
        let c = self.ftl.counts();
        let (moves, host) = (c.moved.total(), c.host_pages);
        let padding = c.padding.total();
        ensure!(
            c.program.total() == host + moves + padding + c.program[Source::Parity],
            "{} programs are not {host} host pages, {moves} moves and {padding} without data",
            c.program.total()
        );
        ensure!(padding == self.seen.padding, "{} padded, {padding} counted", self.seen.padding);
        let written = self.seen.writes - self.seen.absorbed;
        ensure!(host == written, "{written} writes, {host} host pages");
        ensure!(c.read == self.seen.read, "reads {:?}, counted {:?}", self.seen.read, c.read);
        ensure!(
            c.program == self.seen.program,
            "programs {:?}, counted {:?}",
            self.seen.program,
            c.program
        );
        let erases = c.erase.map(|blocks| blocks.get());
        ensure!(erases == self.seen.erase, "erases {:?}, counted {:?}", self.seen.erase, c.erase);
        self.account()
    }

    /// The end of a run that worked at once.
    pub(crate) fn finish_at_once(&mut self) -> Result<(), Fault> {
        for die in (0..self.ftl.geometry().dies()).map(DieId::new) {
            let mut turns = 0;
            while self.idle_now(die)? {
                turns += 1;
                ensure!(
                    turns < 10_000,
                    "idle time has had work {turns} times, and there is no end"
                );
            }
        }
        self.compare()?;
        let running = self.ftl.running_jobs();
        ensure!(
            running == 0 || self.jobs_may_wait,
            "{running} jobs are left over after everything was done at once"
        );
        for lpn in (0..self.ftl.map().logical_pages()).map(Lpn::from_u32) {
            self.read_now(lpn)?;
        }
        let c = self.ftl.counts();
        let (moves, host) = (c.moved.total(), c.host_pages);
        let padding = c.padding.total();
        let beside = padding + c.program[Source::Parity];
        ensure!(c.program.total() == host + moves + beside, "{:?}: host, moves, padding", c);
        self.account()
    }

    /// The end of a run at the end of the drive's life: its data can still be read.
    pub(crate) fn finish_worn_out(&mut self) -> Result<(), Fault> {
        self.stalled.clear();
        self.program_buffers.iter_mut().for_each(Vec::clear);
        while self.step()? {}
        self.compare()?;
        self.seen.worn_out += 1;
        self.seen.retired += self.ftl.counts().retired.get();
        self.account()
    }

    /// Checks that hold for the counts in every mode.
    pub(crate) fn account(&mut self) -> Result<(), Fault> {
        self.check()?;
        let c = self.ftl.counts();
        let erases: u64 = self.ftl.array().erases().as_slice().iter().map(|e| u64::from(*e)).sum();
        let erases = erases * u64::from(self.ftl.geometry().units().planes);
        ensure!(c.erase.total() == erases, "{erases} erases in blocks, {:?} counted", c.erase);
        ensure!(
            c.gc_erase_by_demand.total() == c.erase[Source::Gc],
            "erases by demand {:?}, by GC {}",
            c.gc_erase_by_demand,
            c.erase[Source::Gc]
        );
        self.seen.read = c.read;
        self.seen.program = c.program;
        self.seen.erase = c.erase.map(|blocks| blocks.get());
        self.seen.dropped += c.dropped;
        self.seen.no_victim += c.no_victim;
        self.seen.overridden += c.overridden;
        self.seen.reprogrammed += c.reprogram;
        self.seen.second_lives += c.second_lives;
        Ok(())
    }
}

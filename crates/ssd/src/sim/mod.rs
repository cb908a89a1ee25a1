//! The event loop: a host, queues, dies and channels in simulated time.
//!
//! The cast is fixed: every die, the host, the gate of the throttle, the timer of the policies.
//! Each waits for at most one thing, so the agenda has one place for each ([`kernel::Agenda`]). A
//! page operation costs one event; a read over a modelled bus two, because its transfer can only be
//! scheduled when the data is there. Commands and programs have their turn on the channel fixed when
//! they start: nothing can come between.

mod backlog;
mod buffer;
mod cells;
mod channel;
mod closed;
mod course;
mod die;
mod fresh;
mod host;
mod op;
mod schedule;
mod stats;

pub use backlog::Overload;
pub use buffer::BufferCounts;
pub(crate) use cells::{CellCounts, Cells, effective, steps};
pub use course::Stretch;
pub(crate) use op::Spent;
pub use stats::{Class, ClassStats, PageCounts, PageStats, Stats};

use crate::config::{Drive, HostMode, MultiPlane, ProgramSpeed, Recording, UnmappedRead};
use crate::record::{Look, Recorder, Sink};
use backlog::Backlog;
use buffer::{Buffer, Parts};
pub(crate) use channel::Channel;
use closed::ClosedLoop;
use course::Course;
pub(crate) use die::Die;
use die::Phase;
use fresh::Fresh;
use ftl::{Cost, Ftl, Kit, Lpn, Queues};
use host::{Held, Inbox, Requests};
use kernel::{Agenda, BitSet, Bytes, Divisor, Dur, Idx, IndexVec, Time};
use nand::physics::program_time_factor;
use nand::{ChannelId, DieId, Timing};
use op::Ops;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use workload::{Source as Requester, TraceError};

/// What the loop needs to know of a drive, apart from its FTL.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Times of the operations.
    pub timing: Timing,
    /// Which operations share their array time.
    pub multi_plane: MultiPlane,
    /// What a read of a page that holds nothing costs.
    pub unmapped_read: UnmappedRead,
    /// When requests arrive.
    pub mode: HostMode,
    /// Recorded times are divided by this.
    pub speed: f64,
    /// Requests outstanding in a closed loop.
    pub queue_depth: u32,
    /// Requests inside the drive at once in an open loop.
    pub queue_limit: u32,
    /// The write buffer; less than a page: none.
    pub buffer: Bytes,
    /// The share of it that may stay unsent.
    pub flush_above: f64,
    /// Program time of a block after so many cycles, as a share of the fresh one; beyond the last
    /// it stays. `None`: it does not change.
    pub program_by_wear: Option<Vec<f64>>,
}

impl Settings {
    /// The settings of a resolved drive.
    pub fn of(drive: &Drive) -> Self {
        Self {
            timing: drive.timing.clone(),
            multi_plane: drive.ftl.multi_plane,
            unmapped_read: drive.ftl.unmapped_read,
            mode: drive.host.mode,
            speed: drive.host.speed,
            queue_depth: drive.host.queue_depth,
            queue_limit: drive.host.queue_limit,
            buffer: drive.buffer.size,
            flush_above: drive.buffer.flush_above,
            program_by_wear: program_by_wear(drive),
        }
    }
}

/// Program times by the cycles of a block, those before the run included.
fn program_by_wear(drive: &Drive) -> Option<Vec<f64>> {
    if drive.reliability.program_speed == ProgramSpeed::Fresh {
        return None;
    }
    let (rated, before) = (drive.reliability.endurance, drive.reliability.initial_cycles);
    let bits = drive.geometry.shape().bits_per_cell;
    let factor = |n: u32| program_time_factor(bits, f64::from(before + n) / f64::from(rated));
    Some((0..=rated - before).map(factor).collect())
}

/// How far a run has come.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Requests (or, when preconditioning, page writes) done.
    pub done: u64,
    /// Out of how many, where that is known.
    pub total: Option<u64>,
    /// The simulated time.
    pub now: Time,
}

/// The stages of a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The drive is filled and aged.
    Preconditioning,
    /// Requests are served.
    Running,
}

/// Why the loop stopped before its end.
#[derive(Debug)]
pub enum Interrupted {
    /// The caller asked for it.
    Stopped,
    /// The workload could not be read.
    Workload(TraceError),
}

impl From<TraceError> for Interrupted {
    fn from(e: TraceError) -> Self {
        Self::Workload(e)
    }
}

/// Requests between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 14;

/// A drive in simulated time.
pub struct Sim<K: Kit> {
    settings: Settings,
    ftl: Ftl<K>,
    now: Time,
    agenda: Agenda,
    dies: IndexVec<DieId, Die>,
    channels: IndexVec<ChannelId, Channel>,
    ops: Ops,
    /// The order of arrival at the dies.
    seq: u64,
    /// The place of each running job in that order.
    job_seq: Vec<u64>,
    requests: Requests,
    inbox: Inbox,
    /// What arrivals found, where they do not wait for completions.
    backlog: Option<Box<Backlog>>,
    closed: Vec<ClosedLoop>,
    /// Some closed loop may ask.
    closed_due: bool,
    /// Host page operations waiting or running, by die.
    waiting: IndexVec<DieId, u32>,
    waiting_total: u32,
    idle: BitSet,
    /// Host writes that found no free block, in order.
    stalled: VecDeque<u32>,
    /// Host reads of pages in blocks at their read limit, in order.
    barred: Vec<u32>,
    buffer: Option<Buffer>,
    /// Host writes that found the buffer full, in order.
    roomless: VecDeque<(u32, Parts)>,
    /// Pages being read for a modification, each with the operations that wait for it.
    locks: BTreeMap<Lpn, VecDeque<u32>>,
    /// Writes that the throttle holds back.
    held: BinaryHeap<Held>,
    /// When so many blocks were retired that the drive ended.
    worn_out_at: Option<Time>,
    page_bytes: u64,
    by_dies: Divisor,
    /// The waiting operations that the cost policy looks at.
    queues: Queues,
    /// What the FTL had counted, every so many requests.
    course: Course,
    /// Present until a read meets a page that was programmed in this run.
    unmet: Option<Fresh>,
    recorder: Option<Box<Recorder>>,
    /// Program time by wear, where it changes.
    by_wear: Option<Vec<f64>>,
    /// Present where the cells are modelled.
    cells: Option<Box<Cells>>,
    /// The last instant of the recorder's current row; never, if there is no recorder.
    row_end: Time,
    stats: Stats,
}

impl<K: Kit> Sim<K> {
    /// A drive at time zero around a preconditioned FTL.
    pub fn new(mut settings: Settings, ftl: Ftl<K>) -> Self {
        if ftl.policies.cost.is_ideal() {
            settings.timing = settings.timing.ideal();
        }
        let geometry = *ftl.geometry();
        let dies = geometry.dies();
        let mut idle = BitSet::new(dies);
        (0..dies).for_each(|d| idle.set(d));
        Self {
            now: Time::ZERO,
            agenda: Agenda::new(dies + 3),
            dies: IndexVec::filled(Die::new(), dies),
            channels: IndexVec::filled(Channel::default(), geometry.channels()),
            ops: Ops::new(),
            seq: 0,
            job_seq: Vec::new(),
            requests: Requests::new(),
            inbox: Inbox::new(),
            backlog: matches!(settings.mode, HostMode::Timestamps | HostMode::Shifted)
                .then(|| Box::new(Backlog::new())),
            closed: Vec::new(),
            closed_due: false,
            waiting: IndexVec::filled(0, dies),
            waiting_total: 0,
            idle,
            stalled: VecDeque::new(),
            barred: Vec::new(),
            buffer: Buffer::new(settings.buffer, settings.flush_above, geometry.page_size().get()),
            roomless: VecDeque::new(),
            locks: BTreeMap::new(),
            held: BinaryHeap::new(),
            worn_out_at: None,
            page_bytes: geometry.page_size().get(),
            by_dies: Divisor::new(dies as u32),
            queues: ftl.policies.cost.queues(),
            course: Course::new(),
            unmet: Some(Fresh::since(ftl.array())),
            recorder: None,
            cells: None,
            by_wear: settings.program_by_wear.clone(),
            row_end: Time::MAX,
            stats: Stats::default(),
            settings,
            ftl,
        }
    }

    /// Models the cells of the drive in the run that follows, if the drive says so.
    pub fn model_cells(&mut self, drive: &Drive) {
        self.cells = Cells::of(drive);
        if let Some(cells) = &mut self.cells
            && self.ftl.policies.cost.is_ideal()
        {
            cells.make_ideal();
        }
    }

    /// The cells, where they are modelled.
    pub(crate) fn cells(&self) -> Option<&Cells> {
        self.cells.as_deref()
    }

    /// Records the run that follows.
    pub fn record(&mut self, recording: Recording, sink: Sink) {
        let mut recorder = Recorder::new(recording, sink);
        recorder.begin(&self.look(self.now), &self.ftl);
        self.row_end = recorder.row_end();
        self.recorder = Some(Box::new(recorder));
    }

    /// What the recorder sees at an instant after which nothing has happened.
    fn look(&self, at: Time) -> Look<'_> {
        Look {
            at,
            stats: &self.stats,
            inside_ns: self.inside_ns(at),
            dies: self.dies.as_slice(),
            channels: self.channels.as_slice(),
        }
    }

    fn host_actor(&self) -> usize {
        self.dies.len()
    }

    fn gate_actor(&self) -> usize {
        self.dies.len() + 1
    }

    fn timer_actor(&self) -> usize {
        self.dies.len() + 2
    }

    /// Serves all requests of a source, and then what they set off.
    pub fn run(
        &mut self,
        source: &mut dyn Requester,
        total: Option<u64>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), Interrupted> {
        self.start(source)?;
        let (mut mark_at, mut report_at) = (1, PROGRESS_EVERY);
        while let Some((now, actor)) = self.agenda.peek() {
            debug_assert!(now >= self.now, "time runs backwards");
            if now > self.row_end {
                self.end_rows(now);
            }
            self.now = now;
            self.stats.events += 1;
            if actor < self.dies.len() {
                self.die_event(DieId::new(actor));
            } else if actor == self.host_actor() {
                self.host_event();
            } else if actor == self.gate_actor() {
                self.gate_event();
            } else {
                self.timer_event();
            }
            self.admit(source)?;
            if self.ftl.is_worn_out() || self.has_no_way_on() {
                self.worn_out_at = Some(now);
                break;
            }
            if self.stats.served < mark_at {
                continue;
            }
            mark_at = self.stats.served + self.course.mark(self.ftl.counts());
            if self.stats.served >= report_at {
                report_at = self.stats.served + PROGRESS_EVERY;
                let done = self.stats.served;
                let wanted = progress(Progress { stage: Stage::Running, done, total, now });
                if !wanted || self.recorder.as_ref().is_some_and(|r| r.is_stopped()) {
                    return Err(Interrupted::Stopped);
                }
            }
        }
        self.finish();
        self.end_record()
    }

    /// Ends the rows of the series that are over before `now`.
    #[cold]
    fn end_rows(&mut self, now: Time) {
        while now > self.row_end {
            let Some(mut recorder) = self.recorder.take() else { return };
            recorder.end_row(&self.look(self.row_end), &self.ftl);
            self.row_end = recorder.row_end();
            self.recorder = Some(recorder);
        }
    }

    /// Hands over the end of the record.
    fn end_record(&mut self) -> Result<(), Interrupted> {
        let Some(recorder) = self.recorder.take() else { return Ok(()) };
        self.row_end = Time::MAX;
        if recorder.finish(&self.look(self.now), &self.ftl) {
            return Ok(());
        }
        Err(Interrupted::Stopped)
    }

    /// Writes wait for space, and nothing under way will make any. Where blocks were retired that
    /// is the end of life: a plane has lost what garbage collection needs there before the drive
    /// as a whole has. Otherwise it is a bug of ours, and [`Sim::finish`] says so.
    #[inline]
    fn has_no_way_on(&self) -> bool {
        !self.stalled.is_empty() && self.ftl.counts().retired > 0 && self.is_at_rest()
    }

    /// No operation waits for a die or runs on one.
    #[cold]
    fn is_at_rest(&self) -> bool {
        let locked: usize = self.locks.values().map(VecDeque::len).sum();
        let apart = self.stalled.len() + self.barred.len() + self.roomless.len() + locked;
        self.waiting_total == 0 && self.ops.live() as usize == apart && !self.ftl.has_ready()
    }

    fn timer_event(&mut self) {
        self.ftl.on_timer(self.now);
        self.start_jobs();
        self.offer_idle();
        self.post_timer();
    }

    /// Posts the next time that a policy asked for; none once nothing else can happen.
    fn post_timer(&mut self) {
        let timer = self.timer_actor();
        match self.ftl.next_timer() {
            Some(at) if !self.host_is_done() => self.agenda.set(timer, at.max(self.now)),
            _ => self.agenda.clear(timer),
        }
    }

    /// Offers idle dies the work that a timer may have left for them.
    fn offer_idle(&mut self) {
        if !self.ftl.offers_idle_work() {
            return;
        }
        for die in 0..self.dies.len() {
            let die = DieId::new(die);
            if self.dies[die].phase == Phase::Idle && self.dies[die].mask == 0 {
                self.look_for_work(die);
            }
        }
    }

    fn finish(&mut self) {
        self.stats.busy_ns = [0; 6];
        for die in self.dies.as_slice() {
            for (sum, ns) in self.stats.busy_ns.iter_mut().zip(die.busy()) {
                *sum += u128::from(*ns);
            }
        }
        let channels = self.channels.as_slice().iter();
        self.stats.channel_ns = channels.map(|channel| u128::from(channel.busy_ns())).sum();
        let unserved = self.ops.live() > 0 || self.requests.inside() > 0;
        assert!(
            !unserved || self.worn_out_at.is_some(),
            "the run ended with {} requests and {} operations unserved at {} ns: {}",
            self.requests.inside(),
            self.ops.live(),
            self.now.as_ns(),
            self.describe_stall(),
        );
    }

    fn describe_stall(&self) -> String {
        let free: Vec<usize> = (0..self.ftl.geometry().planes())
            .map(|p| self.ftl.free_blocks(nand::PlaneId::new(p)))
            .take(16)
            .collect();
        format!(
            "{} writes wait for space, {} reads for a refresh, {} pages are locked, {} jobs run; free \
             blocks of the first planes: {free:?}",
            self.stalled.len(),
            self.barred.len(),
            self.locks.len(),
            self.ftl.running_jobs(),
        )
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the drive's life ended, if it did.
    pub fn worn_out_at(&self) -> Option<Time> {
        self.worn_out_at
    }

    /// Requests still inside: none, unless the drive's life ended.
    pub fn inside(&self) -> u32 {
        self.requests.inside()
    }

    /// Whether some host read met a page that was programmed in this run.
    pub fn read_what_it_wrote(&self) -> bool {
        self.unmet.is_none()
    }

    /// The run in two halves, by the pages that the host wrote; `None` if it wrote none in one.
    pub fn halves(&self) -> Option<[Stretch; 2]> {
        self.course.halves(Stretch::of(self.ftl.counts()))
    }

    /// When the run was over: the last request was done, and so was the last program of what the
    /// buffer held; or the drive's life ended.
    pub fn end(&self) -> Time {
        let done = self.stats.end_ns.max(self.stats.emptied_ns);
        self.worn_out_at.unwrap_or(Time::from_ns(done))
    }

    /// How long it took to empty the write buffer after the last request was done; nothing, where
    /// the drive's life ended first.
    pub fn drain(&self) -> Dur {
        let ns = self.stats.emptied_ns.saturating_sub(self.stats.end_ns);
        if self.worn_out_at.is_some() { Dur::ZERO } else { Dur::ns(ns) }
    }

    /// What shows that the drive could not keep up with the arrivals, if it could not.
    pub fn overload(&self) -> Option<Overload> {
        let backlog = self.backlog.as_ref().filter(|_| self.worn_out_at.is_none())?;
        backlog.overload(Time::from_ns(self.stats.end_ns))
    }

    /// What the write buffer did, if there is one.
    pub fn buffer(&self) -> Option<BufferCounts> {
        self.buffer.as_ref().map(Buffer::counts)
    }

    /// What was counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The FTL inside.
    pub fn ftl(&self) -> &Ftl<K> {
        &self.ftl
    }

    /// The FTL inside, for policies' counters.
    pub fn ftl_mut(&mut self) -> &mut Ftl<K> {
        &mut self.ftl
    }

    /// Events posted on the agenda so far.
    pub fn events_posted(&self) -> u64 {
        self.agenda.posted()
    }

    /// The recorded time of a request, at the speed of the run.
    fn scaled(&self, at: Time) -> Time {
        if (self.settings.speed - 1.0).abs() < f64::EPSILON {
            return at;
        }
        Time::ZERO + Dur::from_secs_f64(at.as_secs_f64() / self.settings.speed)
    }
}

//! A drive in simulated time: its parts, its interface, and the loop between them.
//!
//! The parts have no references to one another. `host` has the requests inside and the write
//! buffer, [`ftl`] the map and the jobs, `device` the dies and channels. [`wait`](self) has the
//! operations that wait for a condition, and `clock` the time.
//! The steps from one part to the next are here. `take_in` brings a request through the controller
//! and the link, and `enter` splits it. `read`, `write`, `write_buffer` and `program_buffer` bring its
//! pages to a die, and `answer` answers it. `jobs` does the same for the FTL's own work. `dispatch`
//! lets a die choose and start, and `conclude` has the steps after a finished command.

mod answer;
mod blocked;
mod conclude;
mod dispatch;
mod enter;
mod jobs;
mod left;
mod program_buffer;
mod read;
mod take_in;
mod wait;
mod watch;
mod write;
mod write_buffer;

pub use left::WorkLeft;
pub use wait::WaitStats;
pub use watch::Stretch;

pub use crate::device::{DeviceStats, PageCounts};
pub use crate::host::{
    BufferCounts, ByHandle, ByLatency, Class, ClassStats, Completion, Delays, Overload, Safe, Stats,
};

use crate::clock::{Actor, Clock};
use crate::config::{Drive, Host, PendingRead, Recording, UnmappedRead};
use crate::device::{Cells, Device, Manner};
use crate::host::{
    Buffer, DriveInterface, Feeder, HostInterface, Inside, ProgramBuffers, Requests, RunningLoop,
};
use crate::progress::{Interrupted, Progress, Stage};
use crate::record::Sink;
use crate::server::assert_within;
use ftl::{Cost, Ftl, HostTag, Lpn, Order, PolicyTypes, Queues, Throttle, Waiting};
use kernel::{Dur, Idx, Time, TimeSum};
use nand::{Operation, PlaneId};
use policies::ArbitrationPolicy;
use read::JoinedRead;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use wait::Waits;
use watch::RunWatch;
use workload::{Loop, Request, RequestSource};

/// Why [`Sim::advance`] came back.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The time that it was given has come.
    Reached,
    /// An operation is done: see [`Sim::take_done`].
    Done,
    /// Nothing more will happen unless requests come, or no more can come and all requests of the
    /// host are done.
    Idle,
    /// The drive's life has ended.
    WornOut,
}

/// Requests between two calls of the progress function.
pub(crate) const PROGRESS_EVERY: u64 = 1 << 14;

/// A drive in simulated time.
///
/// A client submits requests with [`Sim::submit`] and lets time pass with [`Sim::advance`].
/// [`Sim::run`] does so for a workload.
pub struct Sim<K: PolicyTypes> {
    /// The cost of a read of a page that holds no data.
    unmapped_read: UnmappedRead,
    /// The cost of a read of a page on its way to flash.
    pending_read: PendingRead,
    clock: Clock,
    requests: Requests,
    /// The client has no more requests.
    closed: bool,
    /// The host interface that a request passes first, if that takes time.
    host_interface: Option<Box<HostInterface>>,
    buffer: Option<Buffer>,
    /// The program buffers in which writes wait for others, if one command programs several pages.
    program_buffers: ProgramBuffers,
    /// How long a write waits, if the host is not answered before.
    program_wait: Dur,
    /// The pages of a program buffer, in memory that is reused.
    unit: Vec<(Lpn, HostTag)>,
    /// Reads of the request that is being split, if pages have several units.
    joined_reads: Vec<JoinedRead>,
    /// Whether they have.
    parts_of_pages: bool,
    /// A request with several units of a page is being split.
    splits: bool,
    waits: Waits,
    ftl: Ftl<K>,
    device: Device,
    /// Page operations of the host on their way to dies, waiting or running, by die and all together.
    waiting: Waiting,
    waiting_total: u32,
    /// The waiting operations that the cost policy looks at.
    queues: Queues,
    /// Pushes the requests of [`Sim::run`], which holds it during the run.
    feeder: Option<Feeder>,
    watch: RunWatch,
}

impl<K: PolicyTypes> Sim<K> {
    /// A drive at time zero around a preconditioned FTL.
    pub fn new(drive: &Drive, mut ftl: Ftl<K>) -> Self {
        if let Some(limit) = drive.ftl.copyback {
            ftl.copy_back(limit as u8);
        }
        let geometry = *ftl.geometry();
        let (cost, order) = (&ftl.policies.cost, &ftl.policies.order);
        let program_buffers = ftl.program_buffers() * ftl.kinds_of_writes();
        let program_buffers = ProgramBuffers::new(program_buffers, ftl.slots_per_program());
        let buffer = Buffer::new(&drive.buffer, geometry.page_size());
        let by_page = program_buffers.are_used() || buffer.is_some();
        let host_interface =
            HostInterface::new(drive.link, drive.controller, drive.seed).map(Box::new);
        let mut requests = Requests::new(drive.host.queue_limit);
        if host_interface.is_some() {
            requests.set_apart();
        }
        if let Some(handles) = ftl.handles() {
            requests.count_by_handle(*handles.spec());
        }
        Self {
            program_buffers,
            program_wait: drive.ftl.program_wait.unwrap_or(Dur::ZERO),
            unit: Vec::new(),
            joined_reads: Vec::new(),
            parts_of_pages: geometry.units().per_page > 1,
            splits: false,
            unmapped_read: drive.ftl.unmapped_read,
            pending_read: drive.ftl.pending_read,
            clock: Clock::new(geometry.dies(), drive.cache.is_some()),
            requests,
            closed: false,
            host_interface,
            buffer,
            waits: Waits::new(geometry.dies(), by_page),
            device: Device::new(
                drive,
                ftl.array().layouts(),
                Manner {
                    ideal: cost.is_ideal(),
                    first_come: order.is_first_come(),
                    watches_waits: order.watches_waits(),
                    mixes: ftl.mixes(),
                },
            ),
            waiting: Waiting::nothing(geometry.dies()),
            waiting_total: 0,
            queues: cost.queues(),
            feeder: Some(Feeder::new(&drive.host)),
            watch: RunWatch::new(&ftl),
            ftl,
        }
    }

    /// Records the run that follows.
    pub fn record(&mut self, recording: Recording, sink: Sink) {
        self.record_by(recording, sink, Vec::new());
    }

    /// The same with the names of flows.
    pub(crate) fn record_by(&mut self, recording: Recording, sink: Sink, flows: Vec<String>) {
        let drive_view =
            watch::drive_view(&self.requests, &self.waits, &self.device, self.clock.now);
        self.watch.record(recording, sink, flows, &drive_view, &self.ftl);
    }

    /// Counts by flow, for `flows` flows.
    pub(crate) fn count_flows(&mut self, flows: usize) {
        if flows > 0 {
            self.requests.set_apart();
        }
        self.requests.stats.flows = (0..flows).map(|_| nand::Each::default()).collect();
    }

    /// Lets an arbiter choose between flows of these weights, with a limit of requests inside, in
    /// the next run. `loops` are the closed ones.
    pub fn arbitrate(
        &mut self,
        settings: &Host,
        policy: ArbitrationPolicy,
        shares: &[(u32, u32)],
        loops: Vec<Loop>,
    ) {
        let feeder = self.feeder.as_mut().expect("the run has not begun");
        feeder.arbitrate(settings, policy, shares, loops);
    }

    /// Adds closed loops to the next run.
    pub fn close_loops(&mut self, loops: Vec<Loop>) {
        self.feeder.as_mut().expect("the run has not begun").close_loops(loops);
    }

    // ── The interface ───────────────────────────────────────────────────────────────────────────

    /// Gives the drive a request that arrives now. `token` comes back when it is done. Returns how
    /// long the throttle holds it back.
    pub fn submit(&mut self, request: &Request, token: u32) -> Dur {
        self.submit_arrived(request, self.clock.now, token)
    }

    /// The same for a request that arrived before and had to wait outside.
    #[inline]
    pub fn submit_arrived(&mut self, request: &Request, arrived: Time, token: u32) -> Dur {
        let now = self.clock.now;
        let inside = Inside::new(request, arrived, now, token);
        if inside.class == Class::Write && self.ftl.policies.throttle.active() {
            let until = self.ftl.policies.throttle.admit(now, request.len.into());
            if until > now {
                return self.hold_back(inside, until);
            }
        }
        let id = self.requests.add(inside, now);
        self.take_in(id);
        Dur::ZERO
    }

    /// The host wants later writes of a placement handle in a new reclaim unit. The drive has that handle.
    pub fn update_handle(&mut self, handle: u8) {
        self.ftl.update_handle(handle, self.clock.now);
        self.start_jobs();
    }

    /// For tests: a die reports that the operations for which this holds have failed, when they are
    /// over. It is asked about the operations that wait or run now.
    #[doc(hidden)]
    pub fn fail(&mut self, which: impl Fn(&Operation) -> bool) {
        self.device.ops.fail(which);
    }

    /// When the next event in the drive happens, if nothing is pushed before.
    pub fn next_at(&self) -> Option<Time> {
        self.clock.next().map(|(at, _)| at)
    }

    /// Lets time pass until `until`, or until something is done, if that is earlier. Events at
    /// `until` itself come before or after, in the order in which they were planned.
    pub fn advance(&mut self, until: Option<Time>) -> Turn {
        if until != self.wakes_at() {
            self.wake_at(until);
        }
        loop {
            if !self.requests.done.is_empty() {
                return Turn::Done;
            }
            if self.ftl.has_retired() && self.is_at_its_end() {
                self.watch.worn_out_at = Some(self.clock.now);
                return Turn::WornOut;
            }
            if self.closed && self.host_is_done() {
                self.watch.over_at = Some(self.clock.now);
                return Turn::Idle;
            }
            let Some((now, actor)) = self.clock.next() else { return Turn::Idle };
            debug_assert!(now >= self.clock.now, "time runs backwards");
            if now > self.watch.row_end() && self.end_rows(now) {
                return Turn::Idle;
            }
            self.clock.now = now;
            self.requests.stats.events += 1;
            if self.act(actor) == Actor::Alarm {
                return Turn::Reached;
            }
        }
    }

    /// Somebody's time has come.
    #[inline(always)] // from two places, of which one is never hot
    fn act(&mut self, actor: Actor) -> Actor {
        // Nearly always, and twice: a jump by a table costs more than a comparison.
        if let Actor::Die(die) = actor {
            self.die_event(die);
            return actor;
        }
        match actor {
            Actor::Die(_) => unreachable!("it had its event"),
            Actor::Alarm => self.clock.clear(Actor::Alarm),
            Actor::Gate => self.gate_event(),
            Actor::Timer => self.timer_event(),
            Actor::Port => self.port_event(),
            Actor::ProgramBuffers => self.program_buffer_event(),
            Actor::Register(die) => self.register_event(die),
        }
        actor
    }

    /// The next request that is done and was not reported yet.
    #[inline]
    pub fn take_done(&mut self) -> Option<Completion> {
        self.requests.done.pop_front()
    }

    /// From now on [`Sim::take_safe`] returns pages whose data survive a loss of power, and a
    /// [`Completion`] has whether its read failed.
    pub fn report_safe(&mut self) {
        self.device.unread = Some(FxHashSet::default());
        self.requests.safe = Some(VecDeque::new());
    }

    /// The next page whose data became safe, in that order.
    #[inline]
    pub fn take_safe(&mut self) -> Option<Safe> {
        self.requests.safe.as_mut()?.pop_front()
    }

    /// The client has no more requests. The content of the buffer is sent to flash. Once all is
    /// served, neither idle time nor policies continue.
    pub fn close(&mut self) {
        self.closed = true;
        self.empty_buffer();
    }

    /// The page that holds an address of a request, if the drive has it.
    #[inline]
    fn page_at(&self, offset: u64) -> Option<Lpn> {
        let lpn = offset / self.ftl.geometry().page_size().get();
        let there = lpn < u64::from(self.ftl.map().logical_pages());
        there.then(|| Lpn::from_u32(lpn as u32))
    }

    /// Serves all requests of a source, and then the jobs that follow from them.
    pub fn run(
        &mut self,
        source: &mut dyn RequestSource,
        total: Option<u64>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), Interrupted> {
        let mut feeder = self.take_feeder();
        let result = self.feed(&mut feeder, source, total, progress);
        self.feeder = Some(feeder);
        result?;
        self.finish();
        self.end_record()
    }

    /// Marks the progress of the run, if the number of served requests has reached `due`. Returns
    /// the number at which the next mark is due.
    #[inline]
    pub(crate) fn mark(&mut self, due: u64) -> u64 {
        let served = self.requests.stats.served;
        if served < due {
            return due;
        }
        served + self.watch.course.mark(&self.ftl.counts())
    }

    /// The feeder, for a session that pushes requests one by one. [`Sim::give_back`] returns it.
    pub(crate) fn take_feeder(&mut self) -> Feeder {
        self.feeder.take().expect("nothing else runs")
    }

    /// Returns the feeder, with the facts for the report.
    pub(crate) fn give_back(&mut self, feeder: Feeder) {
        self.feeder = Some(feeder);
    }

    fn feed(
        &mut self,
        feeder: &mut Feeder,
        source: &mut dyn RequestSource,
        total: Option<u64>,
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), Interrupted> {
        self.post_timer();
        feeder.start(self, source)?;
        let (mut mark_at, mut report_at) = (1, PROGRESS_EVERY);
        loop {
            let done = self.requests.stats.served;
            mark_at = self.mark(mark_at);
            if done >= report_at {
                report_at = done + PROGRESS_EVERY;
                let now = self.clock.now;
                let wanted = progress(Progress { stage: Stage::Running, done, total, now });
                if !wanted || self.watch.is_stopped() {
                    return Err(Interrupted::Stopped);
                }
            }
            match self.advance(self.wakes_at()) {
                Turn::Reached => feeder.wake(self.clock.now),
                Turn::Done => feeder.collect(self),
                Turn::Idle | Turn::WornOut => return Ok(()),
            }
            feeder.push(self, source)?;
        }
    }

    // ── The end ─────────────────────────────────────────────────────────────────────────────────

    /// Whether the host has no more requests, all are answered, and all written data is in flash.
    fn host_is_done(&self) -> bool {
        let empty = self.buffer.as_ref().is_none_or(Buffer::is_empty);
        self.closed && self.requests.inside() == 0 && empty
    }

    /// Whether events may happen while no request is inside.
    pub(crate) fn acts_when_idle(&mut self) -> bool {
        self.buffer.is_some() || self.ftl.offers_idle_work() || self.ftl.next_timer().is_some()
    }

    /// Blocks were retired. Whether that is the end of life: too few are left, or writes wait for space
    /// and nothing under way will make any. Then one plane has lost the blocks that garbage collection
    /// needs, before the drive as a whole has. A wait without a retired block is a bug of ours, and
    /// [`Sim::finish`] reports it.
    #[cold]
    fn is_at_its_end(&self) -> bool {
        self.ftl.is_worn_out() || self.waits.for_space() > 0 && self.is_at_rest()
    }

    /// No operation waits for a die or runs on one.
    #[cold]
    fn is_at_rest(&self) -> bool {
        self.waiting_total == 0
            && self.device.ops.live() as usize
                == self.waits.apart() + self.program_buffers.held() + self.unanswered()
            && !self.ftl.has_ready()
    }

    /// Writes whose only wait is for their data to be in flash.
    fn unanswered(&self) -> usize {
        self.buffer.as_ref().map_or(0, Buffer::unanswered)
    }

    /// Closes the accounts: work under way is not counted.
    ///
    /// # Panics
    /// The run is not over.
    pub(crate) fn finish(&mut self) {
        self.device.sum_up(self.clock.now);
        self.device.forget_begun(self.ftl.array().state(), self.clock.now);
        if let Some(host_interface) = &self.host_interface {
            host_interface.check_busy(self.clock.now);
        }
        if let Some(buffer) = &self.buffer {
            assert_within(buffer.port.busy_until(self.clock.now), self.clock.now, "port", 0);
        }
        let over = self.watch.worn_out_at.or(self.watch.over_at).is_some();
        if !over && self.clock.next().is_some_and(|(at, _)| at > Time::LAST) {
            self.watch.out_of_time_at = Some(self.clock.now);
            return;
        }
        assert!(over || self.is_empty(), "the run {}", self.describe_stall());
    }

    /// No request is inside, and no operation waits or runs.
    fn is_empty(&self) -> bool {
        self.device.ops.live() == 0 && self.requests.inside() == 0
    }

    fn describe_stall(&self) -> String {
        let free: Vec<usize> = (0..self.ftl.geometry().planes())
            .map(|p| self.ftl.free_blocks(PlaneId::new(p)))
            .take(16)
            .collect();
        format!(
            "ended with {} requests and {} operations unserved at {} ns. {} writes wait for space, {} reads for a refresh, {} pages are locked, {} jobs run; free \
             blocks of the first planes: {free:?}",
            self.requests.inside(),
            self.device.ops.live(),
            self.clock.now.as_ns(),
            self.waits.for_space(),
            self.waits.for_refresh(),
            self.waits.locked_pages(),
            self.ftl.running_jobs(),
        )
    }

    // ── Results ─────────────────────────────────────────────────────────────────────────────────

    /// The simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.clock.now
    }

    /// When the drive's life ended, if it did.
    pub fn worn_out_at(&self) -> Option<Time> {
        self.watch.worn_out_at
    }

    /// When the run ended although requests were inside, if it did: the drive's life ended, or the
    /// next event would come after the last instant of simulated time.
    pub fn cut_at(&self) -> Option<Time> {
        self.watch.worn_out_at.or(self.watch.out_of_time_at)
    }

    /// Writes that the throttle holds back.
    pub(crate) fn held_back(&self) -> usize {
        self.waits.held_back()
    }

    /// Time that all dies together were busy until now.
    pub(crate) fn die_time(&self) -> TimeSum {
        self.device.busy_until(self.clock.now)
    }

    /// Requests inside, integrated over the time until now.
    pub(crate) fn occupancy(&self) -> TimeSum {
        self.requests.occupancy_until(self.clock.now)
    }

    /// Requests still inside: at the end of a run none, unless it was cut ([`Sim::cut_at`]).
    #[inline]
    pub fn inside(&self) -> u32 {
        self.requests.inside()
    }

    /// Whether some host read accessed a page that was programmed in this run.
    pub fn read_what_it_wrote(&self) -> bool {
        self.watch.unmet.is_none()
    }

    /// The run in two halves, by the pages that the host wrote; `None` if it wrote none in one.
    pub fn halves(&self) -> Option<[Stretch; 2]> {
        self.watch.course.halves(Stretch::of(&self.ftl.counts()))
    }

    /// When the run was over: the last request was done, and so was the last program of the
    /// buffer's data; or the run was cut. Everything is counted up to then.
    pub fn end(&self) -> Time {
        self.cut_at().or(self.watch.over_at).unwrap_or(self.clock.now)
    }

    /// How long it took to empty the write buffer after the last request was done; zero if the
    /// run was cut first.
    pub fn drain(&self) -> Dur {
        let ns = self.stats().emptied_ns.saturating_sub(self.stats().end_ns);
        if self.cut_at().is_some() { Dur::ZERO } else { Dur::ns(ns) }
    }

    /// The evidence that the drive could not keep up with the arrivals, if it could not.
    pub fn overload(&self) -> Option<Overload> {
        let whole = self.cut_at().is_none();
        let feeder = self.feeder.as_ref().filter(|_| whole)?;
        feeder.overload(Time::from_ns(self.stats().end_ns))
    }

    /// The counts of the write buffer, if there is one.
    pub fn buffer(&self) -> Option<BufferCounts> {
        self.buffer.as_ref().map(Buffer::counts)
    }

    /// The totals of the host's requests.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.requests.stats
    }

    /// The work of dies and channels.
    pub fn device_stats(&self) -> &DeviceStats {
        &self.device.stats
    }

    /// How often something waited outside the lanes of the dies.
    pub fn wait_stats(&self) -> WaitStats {
        WaitStats { job: self.ftl.job_waits(), ..self.waits.stats }
    }

    /// The FTL inside.
    pub fn ftl(&self) -> &Ftl<K> {
        &self.ftl
    }

    /// The FTL inside, for policies' counters.
    pub fn ftl_mut(&mut self) -> &mut Ftl<K> {
        &mut self.ftl
    }

    /// The cells, if they are modelled.
    pub(crate) fn cells(&self) -> Option<&Cells> {
        self.device.cells.as_deref()
    }

    /// Pages that a read found with more errors than the code corrects; none if the cells are not
    /// modelled.
    pub fn uncorrectable_reads(&self) -> u64 {
        self.cells().map_or(0, |cells| cells.counts().uncorrectable.total())
    }

    /// The counts of an arbiter between flows.
    pub(crate) fn arbiter_counters(&self) -> Vec<(&'static str, f64)> {
        self.feeder.as_ref().map_or_else(Vec::new, Feeder::arbiter_counters)
    }

    /// The closed loops.
    pub(crate) fn closed_loops(&self) -> impl Iterator<Item = &RunningLoop> {
        self.feeder.iter().flat_map(Feeder::closed_loops)
    }
}

impl<K: PolicyTypes> DriveInterface for Sim<K> {
    #[inline]
    fn now(&self) -> Time {
        self.clock.now
    }

    #[inline]
    fn inside(&self) -> u32 {
        self.requests.inside()
    }

    #[inline]
    fn submit_arrived(&mut self, request: &Request, arrived: Time, token: u32) -> Dur {
        Self::submit_arrived(self, request, arrived, token)
    }

    #[inline]
    fn take_done(&mut self) -> Option<Completion> {
        Self::take_done(self)
    }

    #[inline]
    fn wake_at(&mut self, at: Option<Time>) {
        self.clock.plan_or_clear(Actor::Alarm, at);
    }

    #[inline]
    fn wakes_at(&self) -> Option<Time> {
        self.clock.planned(Actor::Alarm)
    }

    fn close(&mut self) {
        Self::close(self);
    }

    #[inline]
    fn prefetch(&self, offset: u64) {
        if let Some(lpn) = self.page_at(offset) {
            self.ftl.map().prefetch(lpn);
        }
    }

    #[inline]
    fn prefetch_copy(&self, offset: u64) {
        if let Some(lpn) = self.page_at(offset) {
            self.ftl.prefetch_copy(lpn);
        }
    }
}

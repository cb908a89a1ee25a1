//! A run whose requests come one by one from outside: those of a live drive, or of another simulator.
//!
//! The result equals that of [`Sim::run`] over the same requests, to the bit. Two rules make it so:
//!
//! * A request never arrives at an instant at which something else happens. Its order there would
//!   depend on when its arrival was planned, and a session plans no arrivals.
//! * The last request must be the last event from the client, because a run continues differently
//!   once no more can come.
//!
//! Requests wait outside, and an arbiter chooses among flows, by the same code as in a run: the
//! [`Feeder`] reads from a source that never ends until [`Session::close`].

use crate::config::Drive;
use crate::host::{DriveInterface, Feeder, RunFlows};
use crate::precondition::Preconditioned;
use crate::progress::{Interrupted, Progress, Stage};
use crate::record::Sink;
use crate::result::{Report, report};
use crate::sim::{Completion, PROGRESS_EVERY, Safe, Sim, Turn};
use ftl::Watch;
use kernel::{Dur, Time, TimeSum};
use nand::Source;
use policies::{Arbitration, Builtin};
use std::collections::VecDeque;
use workload::{About, Alignment, Flow, Request, RequestSource, TraceError};

/// The drive's life has ended: it takes no more requests.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WornOut;

/// The state of a drive, counted from the start of the session.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct SessionState {
    /// Pages programmed for the host, and for any reason.
    pub programs: (u64, u64),
    /// Bytes of a page.
    pub page_bytes: u64,
    /// P/E cycles of blocks in this session: least, mean, most.
    pub erases: (u32, f64, u32),
    /// Mean wear of a block, in cycles.
    pub wear: f64,
    /// Time that all dies together were busy.
    pub die_busy: TimeSum,
    /// Dies.
    pub dies: usize,
    /// Blocks that may be written.
    pub free_blocks: usize,
    /// The share of the spare space that retired blocks have taken.
    pub spare_lost: f64,
    /// Requests inside, integrated over time.
    pub inside: TimeSum,
}

/// A drive whose requests come one by one.
pub struct Session {
    drive: Drive,
    sim: Sim<Builtin>,
    feeder: Feeder,
    came: Came,
    /// The tokens of requests that are not inside yet, by flow.
    tokens: Vec<VecDeque<u32>>,
    tenants: RunFlows,
    /// There are no queues of flows.
    merges: bool,
    /// No event follows when requests are done, so it does not matter when the drive learns that no
    /// more come.
    quiet: bool,
    state: Preconditioned,
    used_before: u64,
    alignment: Alignment,
    done: VecDeque<(Time, Completion)>,
    /// When the last request arrived.
    arrived: Option<Time>,
    /// Whether anything has happened since.
    moved: bool,
    mark_at: u64,
}

/// Turns between two calls of `look` in [`Session::pass`].
const PASS_LOOKS: u64 = 1 << 12;

/// Requests that came and that the feeder has not read: it reads one when there is a place.
#[derive(Default)]
struct Came(Vec<Request>);

impl RequestSource for Came {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        batch.append(&mut self.0);
        Ok(())
    }
}

/// The drive as the feeder sees it: every request has a token of its own, and completed requests
/// are kept.
struct Tokened<'a> {
    sim: &'a mut Sim<Builtin>,
    tokens: &'a mut [VecDeque<u32>],
    done: &'a mut VecDeque<(Time, Completion)>,
    merges: bool,
}

impl DriveInterface for Tokened<'_> {
    #[inline]
    fn now(&self) -> Time {
        self.sim.now()
    }

    #[inline]
    fn inside(&self) -> u32 {
        self.sim.inside()
    }

    #[inline]
    fn submit_arrived(&mut self, request: &Request, arrived: Time, _: u32) -> Dur {
        let token = self.tokens[usize::from(request.flow)].pop_front().expect("it came with one");
        self.sim.submit_arrived(request, arrived, token)
    }

    #[inline]
    fn take_done(&mut self) -> Option<Completion> {
        let done = self.sim.take_done()?;
        self.done.push_back((self.sim.now(), done));
        let token = if self.merges { Feeder::OPEN } else { done.flow.into() };
        Some(Completion { token, ..done })
    }

    // The next request is not known in advance.
    fn wake_at(&mut self, _: Option<Time>) {}

    fn wakes_at(&self) -> Option<Time> {
        None
    }

    fn close(&mut self) {
        self.sim.close();
    }

    fn prefetch(&self, _: u64) {}

    fn prefetch_copy(&self, _: u64) {}
}

/// The source of a session has no errors, and is never interrupted.
fn surely(pushed: Result<(), Interrupted>) {
    pushed.expect("requests come from memory");
}

impl Session {
    pub(crate) fn new(
        drive: Drive,
        mut sim: Sim<Builtin>,
        tenants: RunFlows,
        state: Preconditioned,
        used_before: u64,
    ) -> Self {
        let mut arbiter = drive.policies.arbiter();
        arbiter.attach(&drive.geometry, drive.logical_pages);
        let merges = arbiter.merges();
        sim.count_flows(tenants.flows.len());
        let shares = tenants.shares();
        if !merges {
            sim.arbitrate(&drive.host, arbiter, &shares, Vec::new());
        }
        let mut feeder = sim.take_feeder();
        feeder.expect_more();
        sim.post_timer();
        let quiet = drive.is_quiet() && !sim.acts_when_idle();
        Self {
            drive,
            sim,
            feeder,
            came: Came::default(),
            tokens: vec![VecDeque::new(); shares.len()],
            tenants,
            merges,
            quiet,
            state,
            used_before,
            alignment: Alignment::new(),
            done: VecDeque::new(),
            arrived: None,
            moved: false,
            mark_at: 1,
        }
    }

    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive in simulated time.
    pub fn sim(&self) -> &Sim<Builtin> {
        &self.sim
    }

    /// How it stands now.
    pub fn standing(&self) -> SessionState {
        let (sim, geometry) = (&self.sim, &self.drive.geometry);
        let (ftl, counts) = (sim.ftl(), sim.ftl().counts());
        let erases = ftl.array().erases().as_slice();
        let wear = ftl.array().wear().as_slice();
        let mean = |column: &[u32]| {
            column.iter().map(|&n| f64::from(n)).sum::<f64>() / column.len() as f64
        };
        let ends = erases.iter().copied().min().zip(erases.iter().copied().max());
        let (least, most) = ends.expect("a drive has blocks");
        let spare = geometry.data_slots() - u64::from(self.drive.logical_pages);
        let lost = geometry.units_in_blocks(counts.retired).as_f64()
            * (geometry.data_slots() as f64 / geometry.pages() as f64);
        SessionState {
            programs: (counts.program[Source::Host], counts.program.total()),
            page_bytes: geometry.page_size().get(),
            erases: (least, mean(erases), most),
            wear: mean(wear) * 1e-3,
            die_busy: sim.die_time(),
            dies: geometry.dies(),
            free_blocks: geometry.plane_ids().map(|plane| ftl.free_blocks(plane)).sum(),
            spare_lost: (lost / spare as f64).min(1.0),
            inside: sim.occupancy(),
        }
    }

    /// Records the following requests, as the drive's settings specify.
    pub fn record(&mut self, sink: Sink) {
        self.sim.record_by(self.drive.recording, sink, self.tenants.names());
    }

    /// From now on [`Session::take_safe`] returns pages whose data survive a loss of power.
    pub fn report_safe(&mut self) {
        self.sim.report_safe();
    }

    /// The next page whose data became safe.
    #[inline]
    pub fn take_safe(&mut self) -> Option<Safe> {
        self.sim.take_safe()
    }

    /// The next request that is done.
    #[inline]
    pub fn take_done(&mut self) -> Option<Completion> {
        self.take_done_at().map(|(_, done)| done)
    }

    /// The same with the time of its completion.
    #[inline]
    pub fn take_done_at(&mut self) -> Option<(Time, Completion)> {
        self.done.pop_front()
    }

    /// When the next event in the drive happens, if no request comes before.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        self.sim.next_at()
    }

    /// Lets time pass until `until`, including the events at that time; without `until`, until
    /// every request is done. `look` is called now and then; if it returns `false`, this ends.
    pub fn pass(&mut self, until: Option<Time>, look: &mut dyn FnMut() -> bool) -> Turn {
        let mut turns = 0;
        loop {
            turns += 1;
            let over = match until {
                None => self.outstanding() == 0,
                Some(until) => {
                    self.sim.now() >= until && self.sim.next_at().is_none_or(|next| next > until)
                }
            };
            if over || turns % PASS_LOOKS == 0 && !look() {
                return Turn::Reached;
            }
            match self.turn(until) {
                Turn::WornOut => return Turn::WornOut,
                Turn::Idle => assert!(until.is_some(), "requests are inside, and nothing happens"),
                Turn::Reached | Turn::Done => {}
            }
        }
    }

    /// The flows; empty if all requests are of one flow without a name.
    pub fn flows(&self) -> &[Flow] {
        &self.tenants.flows
    }

    /// Whether there is space for another request. Without space, a request waits outside.
    pub fn has_room(&self) -> bool {
        self.sim.inside() < self.drive.host.queue_limit
    }

    /// Requests that are not done: inside, or waiting outside.
    pub fn outstanding(&self) -> usize {
        self.sim.inside() as usize + self.tokens.iter().map(VecDeque::len).sum::<usize>()
    }

    /// A request arrives as soon as an arrival has an instant of its own; its `at` is ignored. The
    /// first arrives at zero. Requests that come before any event arrive together, unless an
    /// arbiter chooses among flows. Returns when it arrived.
    ///
    /// # Errors
    /// The drive's life has ended.
    pub fn arrive(&mut self, request: &Request, token: u32) -> Result<Time, WornOut> {
        self.arrive_from(self.sim.now(), request, token)
    }

    /// The same, at `from`, or as soon after it as an arrival has an instant of its own.
    ///
    /// # Errors
    /// The drive's life has ended.
    ///
    /// # Panics
    /// `from` has passed.
    pub fn arrive_from(
        &mut self,
        from: Time,
        request: &Request,
        token: u32,
    ) -> Result<Time, WornOut> {
        assert!(from >= self.sim.now(), "a request arrives in the past");
        let at = self.place(from)?;
        self.take_in(&Request { at, ..*request }, token);
        Ok(at)
    }

    /// A request arrives that came at its `at` in an earlier session. All requests before it must
    /// have been repeated.
    ///
    /// # Errors
    /// The drive's life has ended.
    pub fn repeat(&mut self, request: &Request, token: u32) -> Result<(), WornOut> {
        while self.sim.now() < request.at {
            match self.turn(Some(request.at)) {
                Turn::WornOut => return Err(WornOut),
                Turn::Reached | Turn::Done | Turn::Idle => {}
            }
        }
        self.take_in(request, token);
        Ok(())
    }

    fn take_in(&mut self, request: &Request, token: u32) {
        let of_all = [*request];
        self.alignment.observe(&of_all);
        let mut request = *request;
        self.tenants.apply(&mut request);
        self.tokens[usize::from(request.flow)].push_back(token);
        self.came.0.push(request);
        (self.arrived, self.moved) = (Some(request.at), false);
        let (feeder, mut drive, came) = self.parts();
        surely(feeder.come(&mut drive, came));
    }

    fn parts(&mut self) -> (&mut Feeder, Tokened<'_>, &mut Came) {
        let Self { sim, feeder, came, tokens, done, merges, .. } = self;
        (feeder, Tokened { sim, tokens, done, merges: *merges }, came)
    }

    /// Lets time pass until an arrival has an instant of its own, at `from` or later, and returns that.
    fn place(&mut self, from: Time) -> Result<Time, WornOut> {
        let now = self.sim.now();
        // An arbiter would choose among all requests of one instant, and here it gets one.
        let alone = self.merges || self.arrived.is_none();
        if from == now && alone && !self.moved && self.arrived.is_none_or(|at| at == now) {
            return Ok(now);
        }
        loop {
            let at = from.max(self.sim.now() + Dur::ns(1));
            let next = self.sim.next_at().filter(|next| *next <= at);
            // Events before that instant come first, then those at the instant itself.
            let until = match next {
                Some(next) if next < at => Time::from_ns(at.as_ns() - 1),
                _ => at,
            };
            match self.turn(Some(until)) {
                Turn::WornOut => return Err(WornOut),
                Turn::Reached if next.is_none() => return Ok(at),
                Turn::Reached | Turn::Done | Turn::Idle => {}
            }
        }
    }

    /// The host updates a placement handle of the drive: writes that come from now on go to a new reclaim
    /// unit.
    ///
    /// # Panics
    /// The drive has no such handle.
    pub fn update_handle(&mut self, handle: u8) {
        self.sim.update_handle(handle);
        self.moved = true;
    }

    /// Lets time pass until `until`, or until something is done.
    pub fn advance(&mut self, until: Option<Time>) -> Turn {
        if !self.done.is_empty() {
            return Turn::Done;
        }
        self.turn(until)
    }

    fn turn(&mut self, until: Option<Time>) -> Turn {
        self.mark_at = self.sim.mark(self.mark_at);
        self.moved = true;
        let turn = self.sim.advance(until);
        if turn == Turn::Done {
            let (feeder, mut drive, came) = self.parts();
            feeder.collect(&mut drive);
            surely(feeder.push(&mut drive, came));
        }
        turn
    }

    /// Ends as a run does over the same requests, and then closes the session ([`Session::close`]).
    /// Some drives would have acted differently, had they known earlier that no more come. For
    /// these a flush arrives last, and `flush` is called with it.
    pub fn end(&mut self, flush: &mut dyn FnMut(&Request), progress: &mut dyn FnMut(Progress)) {
        let served = self.sim.stats().end_ns == self.sim.now().as_ns();
        let as_planned = !self.moved || self.quiet && (self.outstanding() > 0 || served);
        if !as_planned && self.arrived.is_some() {
            let request = Request::FLUSH;
            if let Ok(at) = self.arrive(&request, u32::MAX) {
                flush(&Request { at, ..request });
            }
        }
        self.close(progress);
    }

    /// No more requests come: serves those inside and empties the buffer. Reports its progress now
    /// and then; it ends as the run does, for any answer of `progress`.
    pub fn close(&mut self, progress: &mut dyn FnMut(Progress)) {
        if self.sim.worn_out_at().is_some() {
            return;
        }
        let (feeder, mut drive, came) = self.parts();
        surely(feeder.end(&mut drive, came));
        let mut report_at = 0;
        loop {
            let (done, now) = (self.sim.stats().served, self.sim.now());
            if done >= report_at {
                report_at = done + PROGRESS_EVERY;
                progress(Progress { stage: Stage::Running, done, total: None, now });
            }
            if matches!(self.turn(None), Turn::Idle | Turn::WornOut) {
                return;
            }
        }
    }

    /// The result, after [`Session::close`]. `about` describes the source of the requests.
    pub fn report(mut self, about: &About) -> Report {
        self.sim.finish();
        // The receiver may have stopped taking the record. The result is complete all the same.
        let _ = self.sim.end_record();
        let Self { drive, mut sim, feeder, tenants, state, used_before, alignment, .. } = self;
        sim.give_back(feeder);
        let about = About { flows: tenants.flows, ..about.clone() };
        report(&drive, &about, 0, &alignment, &state, used_before, &mut sim)
    }
}

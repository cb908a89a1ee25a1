//! The times of arrivals: the recorded times of an open loop, the free places of a closed one,
//! think times, and closed loops beside all that. It submits requests through the same interface as
//! any other client.

use super::backlog::Backlog;
use super::flows::Arbiter;
use super::{Completion, DriveInterface, Overload};
use crate::config::{Host, HostMode};
use crate::progress::Interrupted;
use kernel::{Dur, Time};
use policies::ArbitrationPolicy;
use workload::{Alignment, BATCH, Loop, Request, RequestSource, TraceError, at_speed};

/// Requests read from the workload but not yet arrived: one batch.
pub(super) struct Inbox {
    batch: Vec<Request>,
    at: usize,
    exhausted: bool,
    /// An empty batch is not the end: requests come one by one.
    one_by_one: bool,
    speed: f64,
}

impl Inbox {
    /// Requests come at the speed of the run, if they have times.
    pub(super) fn new(settings: &Host) -> Self {
        let timeless = settings.mode == HostMode::QueueDepth;
        let speed = if timeless { 1.0 } else { settings.speed };
        let batch = Vec::with_capacity(BATCH);
        Self { batch, at: 0, exhausted: false, one_by_one: false, speed }
    }

    /// Requests come one by one. `more` is false: no longer.
    pub(super) fn expect_more(&mut self, more: bool) {
        self.one_by_one = more;
    }

    /// Whether there is no next request, as far as the source was read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// The next one is taken.
    #[inline]
    pub(super) fn take(&mut self) {
        self.at += 1;
    }

    /// The next one.
    #[inline]
    pub(super) fn peek(
        &mut self,
        source: &mut dyn RequestSource,
    ) -> Result<Option<Request>, TraceError> {
        if self.at == self.batch.len() {
            if self.exhausted {
                return Ok(None);
            }
            source.fill(&mut self.batch)?;
            at_speed(&mut self.batch, self.speed, "host.speed")?;
            self.at = 0;
            if self.batch.is_empty() {
                self.exhausted = !self.one_by_one;
                return Ok(None);
            }
        }
        Ok(Some(self.batch[self.at]))
    }
}

/// One closed loop of the workload in a run: its next request comes when one of its own is
/// answered.
pub(crate) struct RunningLoop {
    inner: Loop,
    batch: Vec<Request>,
    next: usize,
    /// Requests that may come at once.
    places: u32,
    alignment: Alignment,
}

impl RunningLoop {
    fn new(inner: Loop) -> Self {
        let places = inner.depth;
        let batch = Vec::with_capacity(BATCH);
        Self { inner, batch, next: 0, places, alignment: Alignment::new() }
    }

    /// The next request, if there is a place for it and it comes before the end.
    fn take(&mut self, now: Time) -> Result<Option<Request>, TraceError> {
        if self.places == 0 {
            return Ok(None);
        }
        let request = self.ask(now, now)?;
        self.places -= u32::from(request.is_some());
        Ok(request)
    }

    /// Its places, which are all free from the beginning of the run.
    pub(super) fn free_from_the_start(&self) -> impl Iterator<Item = Time> + use<> {
        std::iter::repeat_n(Time::ZERO, self.places as usize)
    }

    /// Whether it has no more requests.
    pub(super) fn is_over(&self, now: Time) -> bool {
        now >= self.inner.until
    }

    /// The next request, which comes at `at`, if that is before the end.
    pub(super) fn ask(&mut self, at: Time, now: Time) -> Result<Option<Request>, TraceError> {
        if at >= self.inner.until {
            return Ok(None);
        }
        if self.next == self.batch.len() {
            self.inner.source.fill(&mut self.batch)?;
            self.alignment.observe(&self.batch);
            self.next = 0;
            if self.batch.is_empty() {
                self.inner.until = now;
                return Ok(None);
            }
        }
        self.next += 1;
        Ok(Some(self.batch[self.next - 1]))
    }

    /// One of its requests is answered.
    fn answered(&mut self) {
        self.places += 1;
    }

    /// How its requests lie.
    pub(crate) fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// Records that it passed over.
    pub(crate) fn skipped(&self) -> u64 {
        self.inner.source.skipped()
    }
}

/// Pushes the requests of a workload.
pub(crate) struct Feeder {
    mode: HostMode,
    inbox: Inbox,
    /// Closed loop: free places in the queue. Open loop: places below the limit.
    places: u32,
    /// The next request's time has come (open loop), or its think time is over.
    due: bool,
    /// Throttle delay injected so far.
    shift: Dur,
    /// The recorded time of the previous request, for think times.
    previous: Time,
    /// The backlog that arrivals found, if they do not wait for completions.
    backlog: Option<Box<Backlog>>,
    closed: Vec<RunningLoop>,
    /// Some closed loop may ask.
    closed_due: bool,
    /// The workload has no more requests than those of closed loops.
    ended: bool,
    /// The closed loops go on, although all other requests were pushed.
    closing: bool,
    /// Queues of flows, in place of the fields above.
    arbiter: Option<Box<Arbiter>>,
}

impl Feeder {
    /// Marks a request that belongs to no closed loop. The others have the number of theirs. With
    /// an arbiter a request outside loops has the number of its flow.
    pub(crate) const OPEN: u32 = u32::MAX;

    pub(crate) fn new(settings: &Host) -> Self {
        let open = matches!(settings.mode, HostMode::Timestamps | HostMode::Shifted);
        Self {
            mode: settings.mode,
            places: match settings.mode {
                HostMode::QueueDepth => settings.queue_depth,
                HostMode::ThinkTime => 1,
                HostMode::Timestamps | HostMode::Shifted => settings.queue_limit,
            },
            inbox: Inbox::new(settings),
            due: false,
            shift: Dur::ZERO,
            previous: Time::ZERO,
            backlog: open.then(|| Box::new(Backlog::new())),
            closed: Vec::new(),
            closed_due: false,
            ended: false,
            closing: false,
            arbiter: None,
        }
    }

    /// Lets an arbiter choose between flows of these weights, with at most `inside` requests in the
    /// drive. Each closed loop names its flow.
    pub(crate) fn arbitrate(
        &mut self,
        settings: &Host,
        policy: ArbitrationPolicy,
        shares: &[(u32, u32)],
        loops: Vec<Loop>,
    ) {
        let loops = loops.into_iter().map(|l| (l.flow, RunningLoop::new(l))).collect();
        self.arbiter = Some(Box::new(Arbiter::new(settings, policy, shares, loops)));
    }

    /// Adds closed loops.
    pub(crate) fn close_loops(&mut self, loops: Vec<Loop>) {
        self.closed = loops.into_iter().map(RunningLoop::new).collect();
        self.closed_due = !self.closed.is_empty();
    }

    /// The closed loops.
    pub(crate) fn closed_loops(&self) -> impl Iterator<Item = &RunningLoop> {
        self.closed.iter().chain(self.arbiter.iter().flat_map(|arbiter| arbiter.loops()))
    }

    /// The counts of the arbiter, if there is one.
    pub(crate) fn arbiter_counters(&self) -> Vec<(&'static str, f64)> {
        self.arbiter.as_ref().map_or_else(Vec::new, |arbiter| arbiter.counters())
    }

    /// The evidence that the drive could not keep up with the arrivals by `end`, if it could not.
    pub(crate) fn overload(&self, end: Time) -> Option<Overload> {
        let outside = self.arbiter.as_ref().map(|arbiter| arbiter.backlog());
        outside.unwrap_or(self.backlog.as_deref())?.overload(end)
    }

    /// A request is answered.
    #[inline]
    fn answered(&mut self, done: Completion) {
        if done.token == Self::OPEN {
            self.places += 1;
        } else {
            self.closed[done.token as usize].answered();
            self.closed_due = true;
        }
    }

    /// Plans the arrival of the next request.
    fn post_arrival<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        self.due = false;
        drive.wake_at(None);
        let Some(next) = self.inbox.peek(source)? else {
            if self.inbox.is_exhausted() && !std::mem::replace(&mut self.ended, true) {
                if self.closed.is_empty() {
                    drive.close();
                } else {
                    (self.closing, self.closed_due) = (true, true);
                }
            }
            return Ok(());
        };
        let at = match self.mode {
            HostMode::QueueDepth => {
                self.due = true;
                return Ok(());
            }
            HostMode::Timestamps => next.at,
            HostMode::Shifted => next.at + self.shift,
            HostMode::ThinkTime => {
                let gap = next.at - self.previous;
                self.previous = next.at;
                drive.now() + gap
            }
        };
        if at <= drive.now() {
            self.due = true;
        } else {
            drive.wake_at(Some(at));
        }
        Ok(())
    }

    #[inline]
    fn push_open<D: DriveInterface>(&mut self, drive: &mut D, request: &Request) {
        // While this one is served, the cache loads the data that the next request overwrites. The
        // map entry gives its place, and was loaded while the request before was served.
        if let Some([next, others @ ..]) = self.inbox.batch.get(self.inbox.at..) {
            drive.prefetch_copy(next.offset);
            if let Some(after) = others.first() {
                drive.prefetch(after.offset);
            }
        }
        self.places -= 1;
        let arrived = match self.mode {
            HostMode::QueueDepth | HostMode::ThinkTime => drive.now(),
            HostMode::Timestamps => request.at,
            // A due request cannot have arrived later than now.
            HostMode::Shifted => (request.at + self.shift).min(drive.now()),
        };
        if let Some(backlog) = &mut self.backlog {
            backlog.arrival(arrived, drive.inside(), arrived < drive.now());
        }
        let delay = drive.submit_arrived(request, arrived, Self::OPEN);
        if self.mode == HostMode::Shifted {
            self.shift += delay;
        }
        self.note_done(drive);
    }

    /// Pushes the next requests of the closed loops, one request of each by turns.
    #[cold]
    #[inline(never)]
    fn push_closed<D: DriveInterface>(&mut self, drive: &mut D) -> Result<(), Interrupted> {
        // An immediate answer of the buffer frees a place immediately.
        while std::mem::take(&mut self.closed_due) {
            for of in 0..self.closed.len() {
                if let Some(request) = self.closed[of].take(drive.now())? {
                    self.closed_due = true;
                    if let Some(backlog) = &mut self.backlog {
                        backlog.arrival(drive.now(), drive.inside(), false);
                    }
                    drive.submit(&request, of as u32);
                    self.note_done(drive);
                }
            }
        }
        if self.closing && self.closed.iter().all(|l| l.is_over(drive.now())) {
            self.closing = false;
            drive.close();
        }
        Ok(())
    }
}

/// The calls of a session: requests come one by one, each at the instant at which it arrives.
impl Feeder {
    /// From now on the end of the source is not the end of the requests.
    pub(crate) fn expect_more(&mut self) {
        self.inbox(true);
    }

    /// A request has come into the source.
    pub(crate) fn come<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        match &mut self.arbiter {
            Some(arbiter) => arbiter.come(drive.now()),
            None if !self.due => self.post_arrival(drive, source)?,
            None => {}
        }
        self.push(drive, source)
    }

    /// No more requests come.
    pub(crate) fn end<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        self.inbox(false);
        if self.arbiter.is_none() && !self.due {
            self.post_arrival(drive, source)?;
        }
        self.push(drive, source)
    }

    fn inbox(&mut self, more: bool) {
        match &mut self.arbiter {
            Some(arbiter) => arbiter.expect_more(more),
            None => self.inbox.expect_more(more),
        }
    }
}

/// The calls of a run, in the order of a turn. With an arbiter, the arbiter does all this.
impl Feeder {
    /// Plans the first arrival and pushes the requests that arrive at once.
    pub(crate) fn start<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        if self.arbiter.is_none() {
            self.post_arrival(drive, source)?;
        }
        self.push(drive, source)
    }

    /// The next request's time has come, as set with [`DriveInterface::wake_at`].
    #[inline]
    pub(crate) fn wake(&mut self, now: Time) {
        self.due = true;
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.wake(now);
        }
    }

    /// Takes note of the requests completed since the last call.
    #[inline]
    pub(crate) fn collect<D: DriveInterface>(&mut self, drive: &mut D) {
        if let Some(arbiter) = &mut self.arbiter {
            return arbiter.collect(drive);
        }
        self.note_done(drive);
    }

    #[inline]
    fn note_done<D: DriveInterface>(&mut self, drive: &mut D) {
        while let Some(done) = drive.take_done() {
            self.answered(done);
        }
    }

    /// Pushes every request that is due and has a place.
    #[inline]
    pub(crate) fn push<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        if let Some(arbiter) = &mut self.arbiter {
            return arbiter.push(drive, source);
        }
        loop {
            if self.closed_due {
                self.push_closed(drive)?;
            }
            while self.due && self.places > 0 {
                let Some(request) = self.inbox.peek(source)? else {
                    self.due = false;
                    break;
                };
                self.inbox.take();
                self.push_open(drive, &request);
                if self.mode == HostMode::ThinkTime {
                    // The gap runs from the completion, which may have come already.
                    self.due = false;
                    if self.places == 0 {
                        break;
                    }
                }
                self.post_arrival(drive, source)?;
            }
            if self.closed_due {
                // The drive answered at once, or only the closed loops are left.
                continue;
            }
            let waits = self.mode == HostMode::ThinkTime && self.places > 0 && !self.due;
            if !waits || drive.wakes_at().is_some() {
                return Ok(());
            }
            self.post_arrival(drive, source)?;
            if !self.due && !self.closed_due {
                return Ok(());
            }
        }
    }
}

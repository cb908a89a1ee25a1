//! Several flows before the interface of the drive, and an arbiter between them.
//!
//! Each flow has a queue outside the drive. Its requests come there at their times, or as its
//! earlier ones are answered. When the drive has a place, the arbiter chooses the flow whose first
//! request goes in. With one flow the order is that of [`Feeder`](super::Feeder), event by event.

use super::backlog::Backlog;
use super::{Completion, DriveInterface, Inbox};
use crate::config::{Host, HostMode};
use crate::host::arrival::RunningLoop;
use crate::progress::Interrupted;
use ftl::Watch;
use kernel::{Dur, Time};
use policies::{Arbitration, ArbitrationPolicy, HeadView};
use std::collections::VecDeque;
use workload::{Request, RequestSource};

/// If arrival times do not decide which requests are read, at most this number is read to find the
/// next one of each flow.
const AHEAD: usize = 1 << 20;

/// The requests of one flow from one source: from the stream of all, or from a closed loop.
struct Lane {
    flow: u8,
    /// Requests that were read and have not gone in. A closed loop has at most one.
    waiting: VecDeque<Request>,
    /// Of a closed loop: when each of its places became free, in order.
    free: VecDeque<Time>,
    closed: Option<RunningLoop>,
    /// With think times: when the next request comes, once the one before is answered.
    ready: Option<Time>,
    previous: Time,
    thinks: bool,
}

/// The arbiter's knowledge of a flow.
#[derive(Copy, Clone)]
struct FlowState {
    weight: u32,
    /// Its requests inside the drive, and their limit.
    inside: u32,
    most: u32,
}

/// Queues of flows and their arbiter.
pub(crate) struct Arbiter {
    policy: ArbitrationPolicy,
    mode: HostMode,
    inbox: Inbox,
    lanes: Vec<Lane>,
    flows: Vec<FlowState>,
    /// Free places in the drive.
    places: u32,
    /// Arrivals up to this time have been noted.
    horizon: Time,
    /// All places were taken, and since then no arrivals were noted.
    blocked: bool,
    /// Throttle delay injected so far.
    shift: Dur,
    backlog: Option<Box<Backlog>>,
    closed: bool,
    /// The first request of each flow that may go in, in the order of flows, and the lane of each.
    heads: Vec<HeadView>,
    of: Vec<u32>,
}

impl FlowState {
    /// Whether one more of its requests may go in.
    fn may(&self) -> bool {
        self.inside < self.most
    }
}

impl Arbiter {
    /// `shares` has the weight of each flow and the most of its requests inside; there is at least
    /// one flow. Loops name their flows.
    pub(crate) fn new(
        settings: &Host,
        policy: ArbitrationPolicy,
        shares: &[(u32, u32)],
        loops: Vec<(u8, RunningLoop)>,
    ) -> Self {
        let lane = |flow, closed: Option<RunningLoop>| Lane {
            flow,
            waiting: VecDeque::new(),
            free: closed.iter().flat_map(RunningLoop::free_from_the_start).collect(),
            closed,
            ready: None,
            previous: Time::ZERO,
            thinks: true,
        };
        let open = (0..shares.len()).map(|flow| lane(flow as u8, None));
        let closed = loops.into_iter().map(|(flow, inner)| lane(flow, Some(inner)));
        let has_times = matches!(settings.mode, HostMode::Timestamps | HostMode::Shifted);
        Self {
            policy,
            mode: settings.mode,
            inbox: Inbox::new(settings),
            lanes: open.chain(closed).collect(),
            flows: shares
                .iter()
                .map(|&(weight, most)| FlowState { weight, inside: 0, most })
                .collect(),
            places: match settings.mode {
                HostMode::QueueDepth => settings.queue_depth,
                _ => settings.queue_limit,
            },
            horizon: Time::ZERO,
            blocked: false,
            shift: Dur::ZERO,
            backlog: has_times.then(|| Box::new(Backlog::new())),
            closed: false,
            heads: Vec::with_capacity(shares.len()),
            of: Vec::with_capacity(shares.len()),
        }
    }

    /// The closed loops.
    pub(crate) fn loops(&self) -> impl Iterator<Item = &RunningLoop> {
        self.lanes.iter().filter_map(|lane| lane.closed.as_ref())
    }

    pub(crate) fn counters(&self) -> Vec<(&'static str, f64)> {
        self.policy.counters()
    }

    pub(crate) fn backlog(&self) -> Option<&Backlog> {
        self.backlog.as_deref()
    }

    /// A request is answered.
    fn answered(&mut self, done: Completion, now: Time) {
        let lane = &mut self.lanes[done.token as usize];
        self.places += 1;
        self.flows[usize::from(lane.flow)].inside -= 1;
        lane.thinks = true;
        if lane.closed.is_some() {
            lane.free.push_back(now);
        }
    }

    /// Reads the requests that have arrived, and the next request of each flow if times do not
    /// decide.
    fn read(&mut self, source: &mut dyn RequestSource, now: Time) -> Result<(), Interrupted> {
        let by_time = matches!(self.mode, HostMode::Timestamps | HostMode::Shifted);
        while let Some(next) = self.inbox.peek(source)? {
            let wanted = if by_time {
                self.arrival(&next) <= self.horizon
            } else {
                let open = &self.lanes[..self.flows.len()];
                open.iter().any(|lane| lane.waiting.is_empty())
                    && open.iter().map(|lane| lane.waiting.len()).sum::<usize>() < AHEAD
            };
            if !wanted {
                break;
            }
            self.inbox.take();
            self.lanes[usize::from(next.flow)].waiting.push_back(next);
        }
        for at in 0..self.lanes.len() {
            let lane = &mut self.lanes[at];
            if let Some(inner) = &mut lane.closed {
                // The request of a loop arrives at the time when its place became free.
                if let (true, Some(&free)) = (lane.waiting.is_empty(), lane.free.front()) {
                    lane.waiting.extend(inner.ask(free, now)?);
                }
            } else if self.mode == HostMode::ThinkTime && lane.thinks && lane.ready.is_none() {
                let Some(head) = lane.waiting.front().map(|head| head.at) else { continue };
                let gap = head - lane.previous;
                (lane.previous, lane.ready) = (head, Some(now + gap));
                if gap == Dur::ZERO {
                    self.horizon = now;
                }
            }
        }
        Ok(())
    }

    /// When a request of the stream arrives, if its time decides that.
    fn arrival(&self, request: &Request) -> Time {
        if self.mode == HostMode::Shifted { request.at + self.shift } else { request.at }
    }

    /// When the first request of a lane arrives or arrived; `None` if none is known.
    fn head(&self, lane: &Lane, now: Time) -> Option<Time> {
        let first = lane.waiting.front()?;
        if lane.closed.is_some() {
            return lane.free.front().copied();
        }
        match self.mode {
            HostMode::QueueDepth => Some(now),
            HostMode::ThinkTime => lane.ready,
            HostMode::Timestamps | HostMode::Shifted => Some(self.arrival(first)),
        }
    }

    fn is_there(&self, lane: &Lane, now: Time) -> Option<Time> {
        let free = lane.closed.is_some() || self.mode == HostMode::QueueDepth;
        self.head(lane, now).filter(|at| free || *at <= self.horizon)
    }

    /// Whether a request waits for a place: of a flow that has one left, or of any flow.
    fn waits(&self, now: Time, of_any: bool) -> bool {
        let may = |lane: &&Lane| of_any || self.flows[usize::from(lane.flow)].may();
        self.lanes.iter().filter(may).any(|lane| self.is_there(lane, now).is_some())
    }

    /// Lists the first request of each flow that may go in.
    fn line_up(&mut self, now: Time) {
        let (mut heads, mut of) = (std::mem::take(&mut self.heads), std::mem::take(&mut self.of));
        heads.clear();
        of.clear();
        for (lane, number) in self.lanes.iter().zip(0..) {
            let flow = self.flows[usize::from(lane.flow)];
            let Some(arrived) = self.is_there(lane, now).filter(|_| flow.may()) else { continue };
            let first = lane.waiting.front().expect("its arrival is known");
            let FlowState { weight, inside, .. } = flow;
            let arrived = arrived.min(now);
            let (flow, prio, bytes) = (lane.flow, first.prio, first.len);
            let head = HeadView { flow, weight, prio, arrived, bytes, inside };
            let at = heads.partition_point(|other| other.flow < flow);
            match heads.get_mut(at).filter(|other| other.flow == flow) {
                // If a flow comes from several places, the request that came first.
                Some(other) if arrived < other.arrived => (*other, of[at]) = (head, number),
                Some(_) => {}
                None => {
                    heads.insert(at, head);
                    of.insert(at, number);
                }
            }
        }
        (self.heads, self.of) = (heads, of);
    }

    /// The arbiter chooses a request, which goes in.
    fn admit<D: DriveInterface>(&mut self, drive: &mut D, now: Time) {
        self.line_up(now);
        let chosen = self.policy.pick(&self.heads, now);
        let (HeadView { flow, arrived, .. }, token) = (self.heads[chosen], self.of[chosen]);
        let lane = &mut self.lanes[token as usize];
        let request = lane.waiting.pop_front().expect("it was chosen");
        if lane.closed.is_some() {
            lane.free.pop_front();
        } else {
            (lane.ready, lane.thinks) = (None, self.mode != HostMode::ThinkTime);
        }
        let open = lane.closed.is_none();
        self.places -= 1;
        self.flows[usize::from(flow)].inside += 1;
        let arrived = if open && self.mode == HostMode::ThinkTime { now } else { arrived };
        if let Some(backlog) = &mut self.backlog {
            backlog.arrival(arrived, drive.inside(), open && arrived < now);
        }
        let delay = drive.submit_arrived(&request, arrived, token);
        if self.mode == HostMode::Shifted {
            self.shift += delay;
        }
        self.collect(drive);
    }

    /// The time of the next arrival.
    fn next_arrival(
        &mut self,
        source: &mut dyn RequestSource,
    ) -> Result<Option<Time>, Interrupted> {
        let by_time = matches!(self.mode, HostMode::Timestamps | HostMode::Shifted);
        let next = self.inbox.peek(source)?.filter(|_| by_time).map(|next| self.arrival(&next));
        let open = self.lanes.iter().filter(|lane| lane.closed.is_none());
        let known = open.filter_map(|lane| match self.mode {
            HostMode::QueueDepth => None,
            HostMode::ThinkTime => lane.ready,
            HostMode::Timestamps | HostMode::Shifted => {
                lane.waiting.front().map(|first| self.arrival(first))
            }
        });
        Ok(known.chain(next).filter(|at| *at > self.horizon).min())
    }
}

impl Arbiter {
    /// Requests come one by one. `more` is false: no longer.
    pub(crate) fn expect_more(&mut self, more: bool) {
        self.inbox.expect_more(more);
    }

    /// A request has come. If all places are taken, it is read when one is free, as in a run.
    pub(crate) fn come(&mut self, now: Time) {
        if !self.blocked {
            self.wake(now);
        }
    }

    /// Requests that arrive now have arrived.
    pub(crate) fn wake(&mut self, now: Time) {
        self.horizon = now;
    }

    /// Takes note of the requests completed since the last call.
    #[cold]
    pub(crate) fn collect<D: DriveInterface>(&mut self, drive: &mut D) {
        while let Some(done) = drive.take_done() {
            self.answered(done, drive.now());
        }
    }

    /// Pushes requests as long as there is a place and a request for it.
    #[cold]
    #[inline(never)]
    pub(crate) fn push<D: DriveInterface>(
        &mut self,
        drive: &mut D,
        source: &mut dyn RequestSource,
    ) -> Result<(), Interrupted> {
        if std::mem::take(&mut self.blocked) {
            self.horizon = drive.now();
        }
        loop {
            let now = drive.now();
            self.read(source, now)?;
            if self.places == 0 || !self.waits(now, false) {
                break;
            }
            self.horizon = now;
            self.read(source, now)?;
            self.admit(drive, now);
        }
        let now = drive.now();
        let over =
            |l: &Lane| l.closed.as_ref().is_none_or(|c| c.is_over(now) && l.waiting.is_empty());
        if !self.closed
            && self.inbox.is_exhausted()
            && self.lanes.iter().all(|l| l.closed.is_some() || l.waiting.is_empty())
            && self.lanes.iter().all(over)
        {
            self.closed = true;
            drive.close();
        }
        self.blocked = self.places == 0 && self.waits(now, true);
        let next = if self.blocked { None } else { self.next_arrival(source)? };
        if drive.wakes_at() != next {
            drive.wake_at(next);
        }
        Ok(())
    }
}

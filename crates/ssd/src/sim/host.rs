//! The host's side: when requests arrive, how they become page operations, when they are done.

use super::buffer::{Buffer, Parts, Taken};
use super::closed::OPEN;
use super::die::LaneId;
use super::op::{FLUSH, NONE, PageOp, Spent, Work};
use super::{Class, Interrupted, Sim};
use crate::config::{HostMode, UnmappedRead};
use crate::record::Completed;
use ftl::{Access, AccessKind, Kit, Lpn, Throttle};
use kernel::{Dur, Prio, Time};
use nand::{DieId, Source};
use std::cmp::Reverse;
use std::collections::VecDeque;
use workload::{BATCH, Op, Request, Source as Requester, TraceError};

/// One host request inside the drive.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    arrived: Time,
    class: Class,
    prio: Prio,
    offset: u64,
    bytes: u32,
    /// Page operations that are not done.
    left: u32,
    throttle: u64,
    /// Time spent outside before the drive took it in, in ns.
    outside: u64,
    next_free: u32,
    /// The closed loop that waits for it, or [`OPEN`].
    of: u16,
}

/// The requests inside the drive, in a slab.
pub(crate) struct Requests {
    slots: Vec<Inside>,
    free: u32,
    inside: u32,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: NONE, inside: 0 }
    }

    pub(crate) fn inside(&self) -> u32 {
        self.inside
    }

    fn add(&mut self, request: Inside) -> u32 {
        self.inside += 1;
        if self.free == NONE {
            self.slots.push(request);
            return self.slots.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.slots[id as usize].next_free;
        self.slots[id as usize] = request;
        id
    }

    fn remove(&mut self, id: u32) {
        self.inside -= 1;
        self.slots[id as usize].next_free = self.free;
        self.free = id;
    }
}

/// A write that the throttle holds back; the earliest first, then in order of arrival.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    until: Time,
    order: u64,
    id: u32,
    request: Request,
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        Reverse((self.until, self.order)).cmp(&Reverse((other.until, other.order)))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Requests read from the workload but not yet arrived: one batch.
pub(crate) struct Inbox {
    batch: Vec<Request>,
    at: usize,
    exhausted: bool,
    /// Closed loop: free places in the queue. Open loop: places below the limit.
    places: u32,
    /// The next request's time has come (open loop), or its think time is over.
    due: bool,
    /// Throttle delay injected so far.
    shift: Dur,
    /// The recorded time of the previous request, for think times.
    previous: Time,
    /// When the number of requests inside last changed.
    counted_at: Time,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self {
            batch: Vec::with_capacity(BATCH),
            at: 0,
            exhausted: false,
            places: 0,
            due: false,
            shift: Dur::ZERO,
            previous: Time::ZERO,
            counted_at: Time::ZERO,
        }
    }

    #[inline]
    fn peek(&mut self, source: &mut dyn Requester) -> Result<Option<Request>, TraceError> {
        if self.at == self.batch.len() {
            if self.exhausted {
                return Ok(None);
            }
            source.fill(&mut self.batch)?;
            self.at = 0;
            self.exhausted = self.batch.is_empty();
            if self.exhausted {
                return Ok(None);
            }
        }
        Ok(Some(self.batch[self.at]))
    }
}

impl<K: Kit> Sim<K> {
    /// Whether the host has nothing more to ask, everything is answered, and what was written is in
    /// flash.
    pub(crate) fn host_is_done(&self) -> bool {
        let empty = self.buffer.as_ref().is_none_or(Buffer::is_empty);
        self.inbox.exhausted && self.requests.inside == 0 && empty
    }

    pub(crate) fn start(&mut self, source: &mut dyn Requester) -> Result<(), Interrupted> {
        self.inbox.places = match self.settings.mode {
            HostMode::QueueDepth => self.settings.queue_depth,
            HostMode::ThinkTime => 1,
            HostMode::Timestamps | HostMode::Shifted => self.settings.queue_limit,
        };
        self.post_timer();
        self.post_arrival(source)?;
        self.admit(source)
    }

    /// Plans the arrival of the next request.
    fn post_arrival(&mut self, source: &mut dyn Requester) -> Result<(), Interrupted> {
        let host = self.host_actor();
        self.inbox.due = false;
        self.agenda.clear(host);
        let Some(next) = self.inbox.peek(source)? else {
            self.empty_buffer();
            return Ok(());
        };
        let at = match self.settings.mode {
            HostMode::QueueDepth => {
                self.inbox.due = true;
                return Ok(());
            }
            HostMode::Timestamps => self.scaled(next.at),
            HostMode::Shifted => self.scaled(next.at) + self.inbox.shift,
            HostMode::ThinkTime => {
                let gap = self.scaled(next.at) - self.scaled(self.inbox.previous);
                self.inbox.previous = next.at;
                self.now + gap
            }
        };
        if at <= self.now {
            self.inbox.due = true;
        } else {
            self.agenda.set(host, at);
        }
        Ok(())
    }

    /// The next request's time has come; [`Sim::admit`] takes it in.
    pub(crate) fn host_event(&mut self) {
        self.inbox.due = true;
        let host = self.host_actor();
        self.agenda.clear(host);
    }

    /// Takes in every request that is due and has a place.
    #[inline]
    pub(crate) fn admit(&mut self, source: &mut dyn Requester) -> Result<(), Interrupted> {
        if self.closed_due {
            self.admit_closed()?;
        }
        while self.inbox.due && self.inbox.places > 0 {
            let Some(request) = self.inbox.peek(source)? else {
                self.inbox.due = false;
                return Ok(());
            };
            self.inbox.at += 1;
            self.take_in(&request, OPEN);
            if self.settings.mode == HostMode::ThinkTime {
                // The gap runs from the completion: `complete` plans the next arrival.
                self.inbox.due = false;
                if self.inbox.places > 0 {
                    self.post_arrival(source)?;
                }
            } else {
                self.post_arrival(source)?;
            }
        }
        if self.settings.mode == HostMode::ThinkTime
            && self.inbox.places > 0
            && !self.inbox.due
            && self.agenda.at(self.host_actor()).is_none()
        {
            self.post_arrival(source)?;
            if self.inbox.due {
                return self.admit(source);
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn take_in(&mut self, request: &Request, of: u16) {
        self.prefetch_next();
        self.stats.generated += 1;
        self.inbox.places -= u32::from(of == OPEN);
        let arrived = match self.settings.mode {
            _ if of != OPEN => self.now,
            HostMode::QueueDepth | HostMode::ThinkTime => self.now,
            HostMode::Timestamps => self.scaled(request.at),
            // A due request cannot have arrived later than now.
            HostMode::Shifted => (self.scaled(request.at) + self.inbox.shift).min(self.now),
        };
        let outside = self.now - arrived;
        if let Some(backlog) = &mut self.backlog {
            backlog.arrival(arrived, self.requests.inside, outside > Dur::ZERO);
        }
        self.stats.limited += u64::from(outside > Dur::ZERO);
        self.count_inside();
        self.stats.outside_ns += u128::from(outside.as_ns());
        let class = match request.op {
            Op::Read => Class::Read,
            Op::Write => Class::Write,
            Op::Trim => Class::Trim,
        };
        let mut inside = Inside {
            arrived,
            class,
            prio: request.prio,
            offset: request.offset,
            bytes: request.len,
            left: 0,
            throttle: 0,
            outside: outside.as_ns(),
            next_free: NONE,
            of,
        };
        if class == Class::Write && self.ftl.policies.throttle.active() {
            let until = self.ftl.policies.throttle.admit(self.now, request.len.into());
            if until > self.now {
                let delay = until - self.now;
                inside.throttle = delay.as_ns();
                if self.settings.mode == HostMode::Shifted && of == OPEN {
                    self.inbox.shift += delay;
                }
                let id = self.requests.add(inside);
                self.stats.held += 1;
                self.held.push(Held { until, order: self.stats.generated, id, request: *request });
                let gate = self.gate_actor();
                let earliest = self.held.peek().expect("one was just pushed").until;
                self.agenda.set(gate, earliest);
                return;
            }
        }
        let id = self.requests.add(inside);
        self.split(id, request);
    }

    /// The throttle lets its earliest write through.
    pub(crate) fn gate_event(&mut self) {
        let gate = self.gate_actor();
        if let Some(held) = self.held.pop() {
            self.split(held.id, &held.request);
        }
        match self.held.peek() {
            Some(next) => self.agenda.set(gate, next.until),
            None => self.agenda.clear(gate),
        }
    }

    /// Asks for the map entry of the next request while this one is served.
    #[inline]
    fn prefetch_next(&self) {
        if let Some(next) = self.inbox.batch.get(self.inbox.at) {
            let lpn = next.offset / self.page_bytes;
            if lpn < u64::from(self.ftl.map().logical_pages()) {
                self.ftl.map().prefetch(Lpn::from_u32(lpn as u32));
            }
        }
    }

    /// Splits a request into page operations and sends them off.
    fn split(&mut self, id: u32, request: &Request) {
        let size = self.page_bytes;
        let (first, last) = (request.offset / size, (request.end() - 1) / size);
        assert!(
            last < u64::from(self.ftl.map().logical_pages()),
            "a request beyond the capacity reached the drive: {request:?}"
        );
        let class = self.requests.slots[id as usize].class;
        if class == Class::Trim {
            // Only whole pages can be given up.
            let first = request.offset.div_ceil(size);
            let end = request.end() / size;
            for lpn in first..end {
                let lpn = Lpn::from_u32(lpn as u32);
                self.observe(lpn, AccessKind::Trim, request.prio);
                if self.buffer.is_some() {
                    self.trim_buffer(lpn);
                }
                self.ftl.trim(lpn, self.now);
            }
            self.complete(id, &Spent::default());
            self.start_jobs();
            return;
        }
        let pages = (last - first + 1) as u32;
        self.requests.slots[id as usize].left = pages;
        for page in first..=last {
            let lpn = Lpn::from_u32(page as u32);
            let whole = request.offset <= page * size && request.end() >= (page + 1) * size;
            let write = class == Class::Write;
            let kind = if write { AccessKind::Write } else { AccessKind::Read };
            self.observe(lpn, kind, request.prio);
            let op = self.ops.add(PageOp {
                work: if write { Work::Write } else { Work::Read },
                prio: request.prio,
                partial: write && !whole,
                next: NONE,
                request: id,
                lpn: Some(lpn),
                ppn: None,
                seq: 0,
                since: self.now,
                spent: Spent::default(),
            });
            if self.buffer.is_none() {
                self.enter(op);
            } else {
                let from = request.offset.max(page * size) - page * size;
                let to = request.end().min((page + 1) * size) - page * size;
                self.enter_buffer(op, lpn, from, to);
            }
        }
        if self.buffer.is_some() {
            self.flush();
        }
        if self.ftl.has_ready() {
            self.start_jobs();
        }
    }

    #[inline]
    fn observe(&mut self, lpn: Lpn, kind: AccessKind, prio: Prio) {
        self.ftl.host_access(&Access {
            now: self.now,
            kind,
            lpn,
            prio,
            waiting_device: self.waiting_total,
        });
    }

    /// A host page operation reaches the FTL.
    #[inline]
    fn enter(&mut self, op: u32) {
        let lpn = self.ops[op].lpn.expect("a host operation has a page");
        if !self.locks.is_empty()
            && let Some(waiters) = self.locks.get_mut(&lpn)
        {
            self.ops[op].since = self.now;
            self.stats.locked += 1;
            waiters.push_back(op);
            return;
        }
        if self.ops[op].work == Work::Write {
            self.enter_write(op, lpn);
        } else {
            self.enter_read(op, lpn);
        }
    }

    #[inline]
    fn enter_read(&mut self, op: u32, lpn: Lpn) {
        if self.ftl.barred(lpn).is_some() {
            self.stats.barred_reads += 1;
            self.bar(op);
            return;
        }
        let lane = if self.ops[op].prio == Prio::High { LaneId::ReadHigh } else { LaneId::Read };
        if self.ops[op].work == Work::Read {
            self.stats.host_page_reads += 1;
        }
        let Some(ppn) = self.ftl.read(lpn, self.now) else {
            self.stats.unmapped_reads += 1;
            if self.settings.unmapped_read == UnmappedRead::Zero {
                self.page_done(op);
                return;
            }
            self.ops[op].work = Work::ReadUnmapped;
            let die = DieId::from_u32(self.by_dies.rem(lpn.as_u32()));
            self.enqueue(die, lane, op);
            return;
        };
        self.ops[op].ppn = Some(ppn);
        let (block, slot) = self.ftl.geometry().split(ppn);
        if self.unmet.as_ref().is_some_and(|fresh| fresh.has(self.ftl.array(), block, slot)) {
            self.unmet = None;
        }
        let die = self.ftl.geometry().die_of(block);
        if self.ftl.is_written(ppn) {
            self.enqueue(die, lane, op);
        } else {
            self.park(die, op);
        }
    }

    /// A read waits until its block is refreshed, or its page is written elsewhere.
    #[cold]
    #[inline(never)]
    fn bar(&mut self, op: u32) {
        self.ops[op].since = self.now;
        self.barred.push(op);
    }

    /// Lets in the reads that waited for a refresh and need not any more, in order.
    #[cold]
    #[inline(never)]
    pub(crate) fn retry_barred(&mut self) {
        for op in std::mem::take(&mut self.barred) {
            let lpn = self.ops[op].lpn.expect("a host operation has a page");
            if self.ftl.barred(lpn).is_some() {
                self.barred.push(op);
                continue;
            }
            let waited = (self.now - self.ops[op].since).as_ns();
            self.ops[op].spent.queue[Source::Refresh as usize] += waited;
            if self.ops[op].work == Work::ReadModify && self.ftl.map().lookup(lpn).is_none() {
                // The page was trimmed meanwhile: there is nothing left to read.
                self.stats.rmw_reads -= 1;
                self.modify(op);
                continue;
            }
            self.enter_read(op, lpn);
        }
    }

    fn enter_write(&mut self, op: u32, lpn: Lpn) {
        if self.ops[op].partial && self.ftl.map().lookup(lpn).is_some() {
            // Read-modify-write: nobody else touches the page in between.
            self.locks.insert(lpn, VecDeque::new());
            self.ops[op].work = Work::ReadModify;
            self.stats.rmw_reads += 1;
            self.enter_read(op, lpn);
            return;
        }
        self.place_write(op, lpn);
    }

    /// Gives a write its slot, or lets it wait for space behind others that do.
    #[inline]
    pub(crate) fn place_write(&mut self, op: u32, lpn: Lpn) {
        if self.stalled.is_empty() && self.try_place(op, lpn) {
            return;
        }
        self.stats.stalled_writes += 1;
        self.ops[op].since = self.now;
        self.stalled.push_back(op);
    }

    #[inline]
    fn try_place(&mut self, op: u32, lpn: Lpn) -> bool {
        let prio = self.ops[op].prio;
        let Ok(ppn) = self.ftl.write(lpn, prio, &self.waiting, &self.idle, self.now) else {
            return false;
        };
        self.ops[op].ppn = Some(ppn);
        let block = self.ftl.geometry().block_of(ppn);
        let die = self.ftl.geometry().die_of(block);
        let high = self.ftl.is_urgent(self.ftl.blocks().stream(block));
        self.enqueue(die, if high { LaneId::WriteHigh } else { LaneId::Write }, op);
        true
    }

    /// A block has become free: writes that wait for space try again, in order.
    #[cold]
    pub(crate) fn retry_stalled(&mut self) {
        while let Some(&op) = self.stalled.front() {
            let lpn = self.ops[op].lpn.expect("a write has a page");
            let waited = (self.now - self.ops[op].since).as_ns();
            self.ops[op].spent.queue[Source::Gc as usize] += waited;
            self.ops[op].since = self.now;
            if !self.try_place(op, lpn) {
                return;
            }
            self.stalled.pop_front();
        }
    }

    /// The old data of a partly written page has been read: the write goes on, and whoever waited
    /// for the page follows.
    pub(crate) fn modify(&mut self, op: u32) {
        let lpn = self.ops[op].lpn.expect("a host operation has a page");
        self.ops[op].work = Work::Write;
        self.ops[op].ppn = None;
        self.ops[op].partial = false;
        let waiters = self.locks.remove(&lpn).unwrap_or_default();
        self.place_write(op, lpn);
        for waiter in waiters {
            let waited = (self.now - self.ops[waiter].since).as_ns();
            self.ops[waiter].spent.queue[Source::Host as usize] += waited;
            self.enter(waiter);
        }
    }

    // ── The write buffer ────────────────────────────────────────────────────────────────────────

    /// The host reads or writes the bytes `from..to` of a page, and there is a buffer.
    fn enter_buffer(&mut self, op: u32, lpn: Lpn, from: u64, to: u64) {
        let buffer = self.buffer.as_mut().expect("a buffer");
        if self.ops[op].work == Work::Read {
            if buffer.read(lpn, Parts::touched(from, to, self.page_bytes)) {
                self.page_done(op);
            } else {
                self.enter(op);
            }
            return;
        }
        let parts = Parts::within(from, to, self.page_bytes);
        let came_before = !self.roomless.is_empty();
        match buffer.write(lpn, parts, self.ops[op].prio, came_before) {
            Taken::Yes => self.page_done(op),
            Taken::No => {
                buffer.count_wait();
                self.roomless.push_back((op, parts));
            }
        }
    }

    fn trim_buffer(&mut self, lpn: Lpn) {
        let buffer = self.buffer.as_mut().expect("a buffer");
        buffer.trim(lpn);
        let stalled = || self.stalled.iter().any(|&op| self.ops[op].lpn == Some(lpn));
        if self.locks.contains_key(&lpn) || stalled() {
            buffer.bury(lpn);
        }
    }

    /// Sends pages from the buffer to flash, as many as its rule says.
    fn flush(&mut self) {
        while let Some(flush) = self.buffer.as_mut().and_then(|b| b.next_flush(self.roomless.len()))
        {
            let op = self.ops.add(PageOp {
                work: Work::Write,
                prio: flush.prio,
                partial: flush.partial,
                next: NONE,
                request: FLUSH | flush.place,
                lpn: Some(flush.lpn),
                ppn: None,
                seq: 0,
                since: self.now,
                spent: Spent::default(),
            });
            self.enter(op);
        }
    }

    /// The host has nothing more to ask: what the buffer holds, or still takes, is sent to flash.
    #[cold]
    fn empty_buffer(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.keep_nothing();
        self.flush();
        if self.ftl.has_ready() {
            self.start_jobs();
        }
    }

    /// A page of the buffer has reached flash: its place goes to whoever waits for one.
    fn flush_done(&mut self, op: u32) {
        let PageOp { request, lpn, spent, .. } = self.ops[op];
        self.ops.remove(op);
        self.stats.emptied_ns = self.now.as_ns();
        let buffer = self.buffer.as_mut().expect("a page was sent");
        if buffer.flushed(request & !FLUSH) {
            self.ftl.trim(lpn.expect("a write has a page"), self.now);
        }
        while let (Some(&(waiter, parts)), Some(buffer)) = (self.roomless.front(), &mut self.buffer)
        {
            let o = &self.ops[waiter];
            let lpn = o.lpn.expect("a write has a page");
            if buffer.write(lpn, parts, o.prio, false) == Taken::No {
                break;
            }
            self.roomless.pop_front();
            let waited = (self.now - o.since).as_ns();
            self.ops[waiter].spent = behind(&spent, waited);
            self.page_done(waiter);
        }
        self.flush();
    }

    /// A host page operation is done; with the last one its request is.
    #[inline]
    pub(crate) fn page_done(&mut self, op: u32) {
        let id = self.ops[op].request;
        if id & FLUSH != 0 {
            self.flush_done(op);
            return;
        }
        let request = &mut self.requests.slots[id as usize];
        let page = &mut self.stats.pages[request.class as usize];
        page.count += 1;
        page.sum_ns += u128::from((self.now - request.arrived).as_ns());
        request.left -= 1;
        if request.left == 0 {
            let spent = self.ops[op].spent;
            self.complete(id, &spent);
        }
        self.ops.remove(op);
    }

    fn complete(&mut self, id: u32, spent: &Spent) {
        self.count_inside();
        let request = &self.requests.slots[id as usize];
        let latency = self.now - request.arrived;
        let mut spent = *spent;
        spent.queue[Source::Host as usize] += request.outside;
        self.stats.classes[request.class as usize].complete(
            request.bytes.into(),
            latency,
            request.throttle,
            &spent,
        );
        if request.prio == Prio::High {
            self.complete_urgent(id, latency, &spent);
        }
        if self.recorder.is_some() {
            self.record_request(id, latency, &spent);
        }
        self.stats.served += 1;
        self.stats.end_ns = self.now.as_ns();
        let of = self.requests.slots[id as usize].of;
        self.requests.remove(id);
        if of == OPEN {
            self.inbox.places += 1;
        } else {
            self.answered(of);
        }
    }

    /// Counts a request of high priority apart.
    #[cold]
    fn complete_urgent(&mut self, id: u32, latency: Dur, spent: &Spent) {
        let request = &self.requests.slots[id as usize];
        let classes = self.stats.urgent.get_or_insert_default();
        classes[request.class as usize].complete(
            request.bytes.into(),
            latency,
            request.throttle,
            spent,
        );
    }

    #[cold]
    fn record_request(&mut self, id: u32, latency: Dur, spent: &Spent) {
        let Some(recorder) = &mut self.recorder else { return };
        let request = &self.requests.slots[id as usize];
        recorder.complete(&Completed {
            arrived: request.arrived,
            latency,
            class: request.class,
            offset: request.offset,
            bytes: request.bytes,
            prio: request.prio,
            throttle_ns: request.throttle,
            spent,
        });
    }

    /// Brings the integral of the requests inside up to now.
    #[inline]
    fn count_inside(&mut self) {
        self.stats.occupancy_ns = self.inside_ns(self.now);
        self.inbox.counted_at = self.now;
    }

    /// The integral of the requests inside up to `at`, before which nothing happens any more.
    #[inline]
    pub(crate) fn inside_ns(&self, at: Time) -> u128 {
        let since = (at - self.inbox.counted_at).as_ns();
        self.stats.occupancy_ns + u128::from(since) * u128::from(self.requests.inside)
    }
}

/// What a write waited behind for `waited` ns, until a place in the buffer became free: the page
/// sent from there, which took the end of that time, and what that page had waited behind itself,
/// in proportion.
fn behind(sent: &Spent, waited: u64) -> Spent {
    let mut spent = Spent::default();
    let queued: u64 = sent.queue.iter().sum();
    let before = waited.saturating_sub(sent.bus + sent.array + sent.ecc).min(queued);
    if before > 0 {
        for (ours, theirs) in spent.queue.iter_mut().zip(sent.queue) {
            *ours = (u128::from(theirs) * u128::from(before) / u128::from(queued)) as u64;
        }
    }
    let split: u64 = spent.queue.iter().sum();
    spent.queue[Source::Host as usize] += waited - split;
    spent
}

//! The requests inside the drive, from the moment when it takes them in to their completion, and
//! their counts.

use super::{Barrier, ByLatency};
use crate::ops::{Course, NONE, Spent, behind};
use ftl::{HandleSpec, HostTag};
use kernel::{Dur, Hint, Histogram, Prio, Time, TimeSum};
use nand::Each;
use std::collections::VecDeque;
use workload::{Op, Request};

nand::keys! {
    /// The kinds of host request that are counted apart.
    pub enum Class {
        /// Reads.
        Read = "read";
        /// Writes.
        Write = "write";
        /// Trims. Their bytes are the addresses that they discard.
        Trim = "trim";
        /// Flushes: all earlier writes then survive a loss of power.
        Flush = "flush";
    }
}

/// The host requests of one class.
#[derive(Clone, Default, Debug)]
pub struct ClassStats {
    /// Requests completed.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies: completion minus arrival.
    pub latency: Histogram,
    /// The parts of their time.
    pub delays: ByLatency,
}

impl ClassStats {
    #[inline]
    pub(crate) fn complete(&mut self, bytes: u64, latency: Dur, spent: &Spent) {
        self.requests += 1;
        self.bytes += bytes;
        self.latency.record(latency);
        self.delays.add(latency, spent);
    }
}

/// Latency of single page operations of the host: from the request's arrival to the page's end.
#[derive(Copy, Clone, Default, Debug)]
pub struct PageStats {
    /// Operations.
    pub count: u64,
    /// Their total latency.
    pub latency: TimeSum,
}

/// The totals of the host's requests.
#[derive(Clone, Default, Debug)]
pub struct Stats {
    /// Requests by [`Class`].
    pub classes: Each<Class, ClassStats>,
    /// Of these, those of high priority, if there were any.
    pub urgent: Option<Box<Each<Class, ClassStats>>>,
    /// A request had a hint.
    pub hinted: bool,
    /// The same by flow, if there are flows.
    pub flows: Vec<Each<Class, ClassStats>>,
    /// Bytes written through each placement handle, and writes to one that is not there, if the drive
    /// has handles.
    pub handles: Option<Box<ByHandle>>,
    /// Requests taken in.
    pub generated: u64,
    /// Requests completed.
    pub served: u64,
    /// Host page reads and writes; other requests have no pages.
    pub pages: Each<Class, PageStats>,
    /// Reads of read-modify-write.
    pub rmw_reads: u64,
    /// Host reads of pages that the map does not know, answered by flash or not.
    pub unmapped_reads: u64,
    /// The bounds of all writes that change a part of a page, combined by *or*.
    pub partial_bounds: u64,
    /// Host reads of pages on their way to flash that the controller answered from its memory.
    pub pending_reads: u64,
    /// Host page reads in all.
    pub host_page_reads: u64,
    /// Requests that arrived while the drive had `queue-limit` requests inside.
    pub limited: u64,
    /// Requests inside, integrated over time.
    pub occupancy: TimeSum,
    /// Total time that requests waited outside before the drive took them in.
    pub outside: TimeSum,
    /// When the last request completed, in ns.
    pub end_ns: u64,
    /// When the last page of the write buffer was in flash, in ns.
    pub emptied_ns: u64,
    /// Events processed.
    pub events: u64,
}

/// Completed writes by placement handle.
#[derive(Clone, Debug)]
pub struct ByHandle {
    spec: HandleSpec,
    /// Bytes written through each.
    pub bytes: Vec<u64>,
    /// Writes with the number of a handle that is not there, which went to handle 0.
    pub invalid: u64,
}

/// One host request inside the drive.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    pub(crate) arrived: Time,
    pub(crate) class: Class,
    pub(crate) prio: Prio,
    pub(crate) flow: u8,
    pub(crate) hint: Hint,
    /// A write that is done when it survives a loss of power.
    pub(crate) forced: bool,
    /// Some of the data that it read could not be corrected.
    pub(crate) failed: bool,
    /// The epoch of writes that a write belongs to (see [`Barrier`]).
    pub(crate) epoch: u32,
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    /// Page operations that are not done.
    pub(crate) left: u32,
    /// Delay by the throttle, in ns.
    pub(crate) throttle: u64,
    /// Time spent outside before the drive took it in, in ns.
    pub(crate) outside: u64,
    next_free: u32,
    /// The token by which its client knows it.
    pub(crate) token: u32,
}

impl Inside {
    /// The priority, flow and hint of its pages.
    #[inline]
    pub(crate) fn host(&self) -> HostTag {
        HostTag { prio: self.prio, flow: self.flow, hint: self.hint }
    }

    pub(crate) fn new(request: &Request, arrived: Time, now: Time, token: u32) -> Self {
        let class = match request.op {
            Op::Read => Class::Read,
            Op::Write | Op::WriteFua => Class::Write,
            Op::Trim => Class::Trim,
            Op::Flush => Class::Flush,
        };
        Self {
            arrived,
            class,
            prio: request.prio,
            flow: request.flow,
            hint: request.hint,
            forced: request.op == Op::WriteFua,
            failed: false,
            epoch: 0,
            offset: request.offset,
            bytes: request.len,
            left: 0,
            throttle: 0,
            outside: (now - arrived).as_ns(),
            next_free: NONE,
            token,
        }
    }
}

/// A request is done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The token with which it was submitted.
    pub token: u32,
    /// From its arrival until now.
    pub latency: Dur,
    /// The flow that it belongs to.
    pub flow: u8,
    /// Some of the data that it read could not be corrected. Always false unless
    /// [`Sim::report_safe`] was called.
    ///
    /// [`Sim::report_safe`]: crate::sim::Sim::tell_safe
    pub failed: bool,
}

/// The data of a page survive a loss of power from now on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Safe {
    /// The page, counted from the first of the address space.
    pub page: u32,
    /// The token of the write. It is safe, and so are all earlier writes of the page that the drive
    /// took in.
    pub token: u32,
}

/// The requests inside the drive, in a slab, and those that are done and not yet reported.
pub(crate) struct Requests {
    slots: Vec<Inside>,
    free: u32,
    inside: u32,
    /// When the number of requests inside last changed.
    counted_at: Time,
    pub(crate) done: VecDeque<Completion>,
    /// Pages that became safe and were not reported yet. Present if the client wants to know.
    pub(crate) safe: Option<VecDeque<Safe>>,
    /// The writes that flushes wait for.
    pub(crate) barrier: Barrier,
    /// The account of the time outside, by request. The list is as long as the highest such
    /// request.
    lines: Vec<Spent>,
    /// The last request that completed since requests may wait in line.
    last: Course,
    /// Requests inside at most.
    limit: u32,
    /// Requests may wait in line outside: the drive has been full, or one has waited.
    has_line: bool,
    /// Requests may wait in line, or other counts are needed as a request completes.
    apart: bool,
    pub(crate) stats: Stats,
}

impl Requests {
    /// No requests; at most `limit` are going to be inside at once.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            slots: Vec::new(),
            free: NONE,
            inside: 0,
            counted_at: Time::ZERO,
            done: VecDeque::new(),
            safe: None,
            barrier: Barrier::default(),
            lines: Vec::new(),
            last: Course::default(),
            limit,
            has_line: false,
            apart: false,
            stats: Stats::default(),
        }
    }

    /// How many there are.
    #[inline]
    pub(crate) fn inside(&self) -> u32 {
        self.inside
    }

    /// The drive takes a request in.
    #[inline]
    pub(crate) fn add(&mut self, mut request: Inside, now: Time) -> u32 {
        self.count_inside(now);
        if request.class == Class::Write {
            request.epoch = self.barrier.enter();
        }
        self.stats.generated += 1;
        self.inside += 1;
        let outside = request.outside;
        let id = if self.free == NONE {
            self.add_slot(request)
        } else {
            let id = self.free;
            self.free = self.slots[id as usize].next_free;
            self.slots[id as usize] = request;
            id
        };
        if outside > 0 {
            self.end_line(id, Dur::ns(outside));
        }
        id
    }

    /// More requests are inside than ever before.
    #[cold]
    fn add_slot(&mut self, request: Inside) -> u32 {
        self.slots.push(request);
        if self.slots.len() >= self.limit as usize {
            self.form_line();
        }
        self.slots.len() as u32 - 1
    }

    /// From now on requests may wait outside, behind those that complete.
    fn form_line(&mut self) {
        self.has_line = true;
        self.apart = true;
    }

    /// A request waited outside, behind the one that has just completed.
    #[cold]
    fn end_line(&mut self, id: u32, outside: Dur) {
        self.form_line();
        self.stats.limited += 1;
        self.stats.outside += outside;
        let at = id as usize;
        if self.lines.len() <= at {
            self.lines.resize(at + 1, Spent::default());
        }
        self.lines[at] = behind(&self.last, outside);
    }

    /// Further counts are needed as a request completes.
    pub(crate) fn set_apart(&mut self) {
        self.apart = true;
    }

    /// From now on writes are counted by placement handle.
    pub(crate) fn count_by_handle(&mut self, spec: HandleSpec) {
        let bytes = vec![0; spec.count.into()];
        self.stats.handles = Some(Box::new(ByHandle { spec, bytes, invalid: 0 }));
        self.set_apart();
    }

    /// A request is about to be done: the counts of its placement handle, if there are handles.
    pub(crate) fn complete_of_handle(&mut self, id: u32) {
        let &Inside { class, hint, bytes, .. } = self.get(id);
        let Some(by) = self.stats.handles.as_mut().filter(|_| class == Class::Write) else {
            return;
        };
        by.bytes[usize::from(by.spec.of(hint))] += u64::from(bytes);
        by.invalid += u64::from(hint >= by.spec.count);
    }

    /// Whether further counts are needed as a request completes.
    #[inline]
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// A request is about to complete, and others may wait behind it. Adds the time that it waited
    /// outside to the account of its time.
    pub(crate) fn add_line(&mut self, id: u32, spent: &mut Spent) {
        if !self.has_line {
            return;
        }
        let line = match self.get(id).outside {
            0 => Spent::default(),
            _ => self.lines[id as usize],
        };
        self.last = Course { line, spent: *spent };
        *spent += &line;
    }

    /// How the request that has just completed came to its end; `spent` is the account of its time.
    pub(crate) fn last(&self, spent: Spent) -> Course {
        if self.has_line { self.last } else { Course { spent, ..Course::default() } }
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Inside {
        &self.slots[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Inside {
        &mut self.slots[id as usize]
    }

    /// A page of a request is done. Returns whether it was the last.
    #[inline]
    pub(crate) fn page_done(&mut self, id: u32, now: Time) -> bool {
        let request = &mut self.slots[id as usize];
        let page = &mut self.stats.pages[request.class];
        page.count += 1;
        page.latency += now - request.arrived;
        request.left -= 1;
        request.left == 0
    }

    /// A request is done, and leaves. `spent`: the parts of its time.
    #[inline]
    pub(crate) fn complete(&mut self, id: u32, spent: &Spent, now: Time) {
        self.count_inside(now);
        let request = &mut self.slots[id as usize];
        let latency = now - request.arrived;
        let (class, bytes) = (request.class, u64::from(request.bytes));
        self.stats.classes[class].complete(bytes, latency, spent);
        if request.prio == Prio::High {
            let urgent = self.stats.urgent.get_or_insert_default();
            urgent[class].complete(bytes, latency, spent);
        }
        self.stats.hinted |= request.hint > 0;
        self.stats.served += 1;
        self.stats.end_ns = now.as_ns();
        let &mut Inside { token, flow, failed, .. } = request;
        self.done.push_back(Completion { token, latency, flow, failed });
        self.inside -= 1;
        request.next_free = self.free;
        self.free = id;
    }

    /// A request is about to be done: the counts of its flow, if there are flows.
    pub(crate) fn complete_in_flow(&mut self, id: u32, spent: &Spent, now: Time) {
        let &Inside { arrived, class, flow, bytes, .. } = self.get(id);
        if let Some(flow) = self.stats.flows.get_mut(usize::from(flow)) {
            flow[class].complete(bytes.into(), now - arrived, spent);
        }
    }

    /// Brings the integral of the requests inside up to now.
    #[inline]
    fn count_inside(&mut self, now: Time) {
        self.stats.occupancy = self.occupancy_until(now);
        self.counted_at = now;
    }

    /// The integral of the requests inside up to `at`, before which there are no more events.
    #[inline]
    pub(crate) fn occupancy_until(&self, at: Time) -> TimeSum {
        let since = TimeSum::from(at - self.counted_at);
        self.stats.occupancy + since * u64::from(self.inside)
    }
}

//! How a request becomes page operations, and what each goes through until it is on a die: the
//! controller, the link, the buffer, the lock of its page, the map, a slot.
//!
//! The steps from there on are inlined into the loop over a request's pages. Whoever takes one of them
//! elsewhere calls it by its name with `_out_of_line`, which does the same.

use super::Sim;
use super::wait::Condition;
use crate::clock::Actor;
use crate::config::{PendingRead, UnmappedRead};
use crate::device::LaneId;
use crate::host::{
    Arrived, Buffer, COMMAND, Class, Data, Flush, Front, Inside, Parts, Passed, Safe, Transfer,
    Write,
};
use crate::ops::{Course, Owner, PageOp, Spent, behind};
use ftl::{Access, AccessKind, Kit, Lpn};
use kernel::{Bytes, Dur, Prio, Time};
use nand::{Cause, DieId, Ppn, Source, Verb};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl<K: Kit> Sim<K> {
    // ── Requests ────────────────────────────────────────────────────────────────────────────────

    /// The throttle holds a write back until a time. Returns how long that is.
    #[cold]
    pub(super) fn hold_back(&mut self, mut request: Inside, until: Time) -> Dur {
        let delay = until - self.clock.now;
        request.throttle = delay.as_ns();
        let id = self.requests.add(request, self.clock.now);
        let first = self.waits.hold(id, until);
        self.clock.plan(Actor::Gate, first);
        delay
    }

    /// The throttle lets its earliest write through.
    pub(super) fn gate_event(&mut self) {
        let (first, next) = self.waits.release_held();
        if let Some(id) = first {
            self.take_in(id);
        }
        self.clock.plan_or_clear(Actor::Gate, next);
    }

    /// A request comes in: through the controller and the link, where there are such.
    #[inline]
    pub(super) fn take_in(&mut self, id: u32) {
        if self.front.is_some() {
            self.take_command(id);
        } else {
            self.split(id);
        }
    }

    #[cold]
    fn take_command(&mut self, id: u32) {
        let (now, front) = (self.clock.now, self.front.as_mut().expect("a front"));
        if front.has_controller() {
            let &Inside { class, bytes, .. } = self.requests.get(id);
            front.command(id, class, Bytes::new(bytes.into()), now);
            self.plan_port();
        } else {
            self.carry_command(id);
        }
    }

    /// The link carries the command of a request without data.
    fn carry_command(&mut self, id: u32) {
        let bare = matches!(self.requests.get(id).class, Class::Trim | Class::Flush);
        match self.front.as_mut().filter(|front| bare && front.has_link()) {
            Some(front) => {
                front.bare(id, self.clock.now);
                self.plan_port();
            }
            None => self.split(id),
        }
    }

    /// Plans what comes first through the controller, over the link or through the buffer's port.
    fn plan_port(&mut self) {
        let front = self.front.as_ref().and_then(|front| front.next());
        let port = self.buffer.as_ref().and_then(|buffer| buffer.port.next());
        let next = [front, port].into_iter().flatten().min();
        self.clock.plan_or_clear(Actor::Port, next);
    }

    /// Something is through.
    #[cold]
    pub(super) fn port_event(&mut self) {
        let now = Some(self.clock.now);
        if self.front.as_ref().is_some_and(|front| front.next() == now) {
            self.front_event();
        } else {
            self.transfer_event();
        }
    }

    /// The controller or the link is through with something.
    fn front_event(&mut self) {
        let passed = self.front.as_mut().expect("it is on the agenda").pass();
        self.plan_port();
        match passed {
            Passed::Command(id) => self.carry_command(id),
            Passed::Bare(id) => self.split(id),
            Passed::In(op) => {
                self.enter_page(op);
                self.flush();
                self.start_jobs();
            }
            Passed::Out(op) => self.page_carried(op),
        }
    }

    fn has_link(&self) -> bool {
        self.front.as_deref().is_some_and(Front::has_link)
    }

    /// The link carries the data of a host page operation to the drive, or to the host.
    #[cold]
    fn carry(&mut self, op: u32) {
        let (from, to) = self.extent(op);
        let (now, bytes) = (self.clock.now, Bytes::new(to - from));
        let front = self.front.as_mut().expect("a link");
        if self.device.ops[op].programs() {
            front.bring(op, bytes, now);
        } else {
            front.send(op, bytes, now);
        }
        self.plan_port();
    }

    /// Splits a request into page operations and sends them off.
    pub(super) fn split(&mut self, id: u32) {
        let size = self.ftl.geometry().page_size().get();
        let &Inside { class, prio, offset, bytes, .. } = self.requests.get(id);
        if class == Class::Flush {
            self.flush_all(id);
            return;
        }
        let end = offset + u64::from(bytes);
        let (first, last) = (offset / size, (end - 1) / size);
        assert!(
            last < u64::from(self.ftl.map().logical_pages()),
            "a request beyond the capacity reached the drive: {:?}",
            self.requests.get(id),
        );
        if class == Class::Trim {
            // Only whole pages can be given up.
            for lpn in offset.div_ceil(size)..end / size {
                self.trim(Lpn::from_u32(lpn as u32), prio);
            }
            self.answer(id);
            self.start_jobs();
            return;
        }
        let (kind, verb) = match class {
            Class::Write => (AccessKind::Write, Verb::Program),
            _ => (AccessKind::Read, Verb::Read),
        };
        self.requests.get_mut(id).left = (last - first + 1) as u32;
        self.splits = self.parts_of_pages && class == Class::Read;
        let carries = class == Class::Write && self.has_link();
        for page in first..=last {
            let lpn = Lpn::from_u32(page as u32);
            let whole = offset <= page * size && end >= (page + 1) * size;
            self.observe(lpn, kind, prio);
            let new = PageOp::new(Owner::Host(id), verb, prio, Some(lpn), self.clock.now);
            let partial = class == Class::Write && !whole;
            if partial {
                self.requests.stats.partial_bounds |= offset | end;
            }
            let op = self.device.ops.add(PageOp { partial, ..new });
            if carries {
                self.carry(op);
            } else if self.buffer.is_none() {
                self.enter(op, lpn, verb);
            } else {
                self.enter_page(op);
            }
        }
        self.splits = false;
        if !self.readings.is_empty() {
            self.send_reads();
        }
        if self.buffer.is_some() {
            self.flush();
        }
        self.start_jobs();
    }

    /// A page operation of a request goes to the buffer, if there is one, or on to the FTL.
    fn enter_page(&mut self, op: u32) {
        if self.buffer.is_none() {
            self.enter_out_of_line(op);
        } else {
            let (from, to) = self.extent(op);
            self.enter_buffer(op, self.lpn_of(op), from, to);
        }
    }

    /// Which bytes of its page a page operation of a request is about.
    fn extent(&self, op: u32) -> (u64, u64) {
        let size = self.ftl.geometry().page_size().get();
        let Owner::Host(id) = self.device.ops[op].owner else { unreachable!("the host asks") };
        let &Inside { offset, bytes, .. } = self.requests.get(id);
        let page = u64::from(self.lpn_of(op).as_u32()) * size;
        let end = (offset + u64::from(bytes)).min(page + size);
        (offset.max(page) - page, end - page)
    }

    fn trim(&mut self, lpn: Lpn, prio: Prio) {
        self.observe(lpn, AccessKind::Trim, prio);
        if let Some(at) = self.tray_of(lpn) {
            self.trays.drop_page(at, lpn, &mut self.device.ops);
            if self.trays.is_given_up(at) {
                self.trays.seal_at(at, self.clock.now);
                self.press_trays();
            }
        }
        if let Some(buffer) = &mut self.buffer {
            if let Some(stretch) = buffer.trim(lpn)
                && buffer.is_volatile()
            {
                let awaited = self.requests.barrier.leave(stretch);
                assert!(!awaited, "a flush waits for page {lpn}, and it was not sent");
            }
            if self.waits.holds_write(lpn) {
                buffer.bury(lpn);
            }
        }
        self.ftl.trim(lpn, self.clock.now);
    }

    #[inline]
    fn observe(&mut self, lpn: Lpn, kind: AccessKind, prio: Prio) {
        let (now, waiting_device) = (self.clock.now, self.waiting_total);
        self.ftl.host_access(|| Access { now, kind, lpn, prio, waiting_device });
    }

    /// A host page operation is done in the drive; what was read still has to go to the host.
    #[inline(always)] // as `enter`
    pub(super) fn page_done(&mut self, op: u32, owner: Owner) {
        if self.front.is_some() {
            self.page_ready(op);
        } else {
            self.page_answered(op, owner);
        }
    }

    #[inline(never)]
    pub(super) fn page_done_out_of_line(&mut self, op: u32) {
        self.page_done(op, self.device.ops[op].owner);
    }

    #[cold]
    fn page_ready(&mut self, op: u32) {
        if !self.device.ops[op].programs() && self.has_link() {
            self.carry(op);
        } else {
            self.page_carried(op);
        }
    }

    /// What was read has gone to the host.
    fn page_carried(&mut self, op: u32) {
        let owner = self.device.ops[op].owner;
        if let (Owner::Host(id), Some(front)) = (owner, &mut self.front) {
            front.add_data(id, op);
        }
        self.page_answered(op, owner);
    }

    /// A host page operation is done; with the last one its request is.
    #[inline(always)] // into the loop over what a command has done
    fn page_answered(&mut self, op: u32, owner: Owner) {
        let o = &self.device.ops[op];
        // A write that goes through the buffer waits for the programs of others, which are counted themselves.
        if o.programs() && (self.buffer.is_none() || matches!(owner, Owner::Buffer(_))) {
            let longest = &mut self.waits.stats.gc_longest;
            *longest = o.spent.queue[Source::Gc].as_ns().max(*longest);
        }
        match owner {
            Owner::Host(id) => {
                if self.requests.safe.is_some() {
                    self.page_safe(id, op);
                }
                if self.requests.page_done(id, self.clock.now) {
                    let spent = self.device.ops[op].spent;
                    self.complete(id, spent);
                }
                self.device.ops.remove(op);
            }
            Owner::Buffer(place) => self.flush_done(op, place),
            Owner::Job(_) => unreachable!("a job's page is no page of the host"),
        }
    }

    /// A host page operation is done, and somebody wants to know which data are safe: those of a write,
    /// unless they may still be lost from a buffer. And which reads failed.
    #[cold]
    fn page_safe(&mut self, id: u32, op: u32) {
        let &Inside { class, token, .. } = self.requests.get(id);
        if let Some(unread) = &mut self.device.unread
            && unread.remove(&op)
        {
            self.requests.get_mut(id).failed = true;
        }
        if class == Class::Write && !self.buffer.as_ref().is_some_and(Buffer::is_volatile) {
            self.note_safe(self.lpn_of(op), token);
        }
    }

    fn note_safe(&mut self, lpn: Lpn, token: u32) {
        if let Some(safe) = &mut self.requests.safe {
            safe.push_back(Safe { page: lpn.as_u32(), token });
        }
    }

    fn complete(&mut self, id: u32, mut spent: Spent) {
        let request = self.requests.get(id);
        let &Inside { class, stretch, throttle, .. } = request;
        spent.causes[Cause::Throttle] += Dur::ns(throttle);
        let apart = self.apart || self.requests.may_have_line();
        let course = apart.then(|| self.complete_apart(id, &mut spent));
        self.watch.complete(self.requests.get(id), self.clock.now, &spent);
        self.requests.complete(id, &spent, self.clock.now);
        if class == Class::Write && self.requests.barrier.leave(stretch) {
            self.end_flushes(&course.unwrap_or(Course { spent, ..Course::default() }));
        }
    }

    /// A request is about to be done where there are flows, or a controller or a link, or requests that wait
    /// outside. `spent` becomes the account of all its time.
    #[cold]
    fn complete_apart(&mut self, id: u32, spent: &mut Spent) -> Course {
        if let Some(front) = &self.front {
            front.book(id, spent);
        }
        let course = Course { line: self.requests.line(id), spent: *spent };
        *spent += &course.line;
        self.requests.complete_in_flow(id, spent, self.clock.now);
        self.requests.note_last(course);
        course
    }

    /// Flushes that wait for nothing any more are done; the last write that they waited for spent its
    /// time like this.
    #[cold]
    fn end_flushes(&mut self, last: &Course) {
        while let Some(flush) = self.requests.barrier.take_done() {
            let request = self.requests.get(flush);
            let front =
                self.front.as_deref().map_or(Dur::ZERO, |f| f.book(flush, &mut Spent::default()));
            let before = Dur::ns(request.outside) + front;
            let waited = self.clock.now - request.arrived - before;
            self.complete(flush, behind(last, waited));
        }
    }

    // ── Pages ───────────────────────────────────────────────────────────────────────────────────

    fn lpn_of(&self, op: u32) -> Lpn {
        self.device.ops[op].lpn.expect("a host operation has a page")
    }

    fn park(&mut self, op: u32, on: Condition) {
        self.waits.park(&mut self.device.ops, op, on, self.clock.now);
    }

    #[inline(never)]
    fn enter_out_of_line(&mut self, op: u32) {
        self.enter(op, self.lpn_of(op), self.device.ops[op].operation.verb);
    }

    /// A host page operation reaches the FTL.
    #[inline(always)] // into the loop over the pages of a request
    fn enter(&mut self, op: u32, lpn: Lpn, verb: Verb) {
        if self.waits.is_locked(lpn) {
            self.park(op, Condition::Page(lpn));
        } else if verb == Verb::Program {
            self.enter_write(op, lpn);
        } else {
            self.enter_read(op, lpn);
        }
    }

    #[inline(never)]
    fn read_out_of_line(&mut self, op: u32, lpn: Lpn) {
        self.enter_read(op, lpn);
    }

    #[inline(always)] // as `enter`
    fn enter_read(&mut self, op: u32, lpn: Lpn) {
        if (self.parts_of_pages || self.trays.are_used()) && self.read_with_another(op, lpn) {
            return;
        }
        if self.ftl.barred(lpn).is_some() {
            self.await_refresh(op);
            return;
        }
        let PageOp { ref operation, modify, .. } = self.device.ops[op];
        let prio = operation.tag.prio;
        let lane = if prio == Prio::High { LaneId::ReadHigh } else { LaneId::Read };
        self.requests.stats.host_page_reads += u64::from(!modify);
        if self.pending_read == PendingRead::Memory && self.is_on_its_way(lpn) {
            self.read_memory(op);
            return;
        }
        let Some(operation) = self.ftl.read(lpn, prio, self.clock.now) else {
            self.requests.stats.unmapped_reads += 1;
            if self.unmapped_read == UnmappedRead::Zero {
                self.answer_from_memory(op);
                return;
            }
            // Dies by turns, also for those who read one part of each page, or all its parts at once.
            let geometry = self.ftl.geometry();
            let (lpn, parts) = (lpn.as_u32(), geometry.slots_per_page());
            let die = DieId::from_u32((lpn / parts + lpn % parts) % geometry.dies() as u32);
            self.device.ops[op].operation = self.ftl.read_unmapped(prio);
            self.enqueue_out_of_line(die, lane, op);
            return;
        };
        self.device.ops[op].operation = operation;
        let ppn = operation.slot().expect("the page has a place");
        let (block, slot) = self.ftl.geometry().split(ppn);
        if self.watch.unmet.as_ref().is_some_and(|fresh| fresh.has(&self.ftl, block, slot)) {
            self.watch.unmet = None;
        }
        let die = self.ftl.geometry().die_of_slot(ppn);
        let pending = !self.ftl.array().has_written(block, slot);
        if self.splits && !modify {
            self.await_others(op, die, lane, pending);
        } else if pending {
            self.await_program(op, die);
        } else {
            self.enqueue(die, lane, op);
        }
    }

    /// A read waits for the program of its page.
    pub(super) fn await_program(&mut self, op: u32, die: DieId) {
        self.expect(die, op);
        self.device.begin_wait(die, op, self.clock.now);
        self.park(op, Condition::Program(die));
    }

    /// A read waits for the refresh of its block.
    #[cold]
    fn await_refresh(&mut self, op: u32) {
        if !self.waits.awaits_refresh() {
            self.ftl.await_limits(true);
        }
        self.park(op, Condition::Refresh);
    }

    /// Whether a page has its slot and is not there yet.
    fn is_on_its_way(&self, lpn: Lpn) -> bool {
        self.ftl.find(lpn).is_some_and(|ppn| !self.ftl.array().is_written(ppn))
    }

    /// The controller still has the page that is read.
    #[cold]
    pub(super) fn read_memory(&mut self, op: u32) {
        self.requests.stats.pending_reads += 1;
        if self.device.ops[op].modify {
            self.modify(op);
        } else {
            self.answer_from_memory(op);
        }
    }

    /// What is read comes out of the drive's memory.
    fn answer_from_memory(&mut self, op: u32) {
        let (from, to) = self.extent(op);
        self.transfer(op, None, Bytes::new(to - from));
    }

    /// Lets in the reads that waited for a refresh and need not any more, in order. A page that may not be
    /// read stays so for all that wait for it.
    #[cold]
    pub(super) fn retry_barred(&mut self) {
        let next = |sim: &Self, lpn| Some(Reverse((sim.waits.barred.first(lpn)?, lpn)));
        let pages = self.ftl.take_left().into_iter();
        let mut reads: BinaryHeap<_> = pages.filter_map(|lpn| next(self, lpn)).collect();
        while let Some(read @ Reverse((_, lpn))) = reads.pop() {
            // A page may be there twice.
            if next(self, lpn) != Some(read) || self.ftl.barred(lpn).is_some() {
                continue;
            }
            let op = self.waits.barred.take(lpn);
            reads.extend(next(self, lpn));
            let o = &mut self.device.ops[op];
            o.end_wait(Source::Refresh, self.clock.now);
            if o.modify && self.ftl.find(lpn).is_none() {
                // The page was trimmed meanwhile: there is nothing left to read.
                self.requests.stats.rmw_reads -= 1;
                self.modify(op);
                continue;
            }
            self.read_out_of_line(op, lpn);
        }
        if !self.waits.awaits_refresh() {
            self.ftl.await_limits(false);
        }
    }

    #[inline(always)] // as `enter`
    fn enter_write(&mut self, op: u32, lpn: Lpn) {
        let partial = self.device.ops[op].partial && self.ftl.find(lpn).is_some();
        if partial && !(self.trays.are_used() && self.is_loaded(lpn)) {
            // Read-modify-write: nobody else touches the page in between.
            self.waits.lock(lpn);
            let o = &mut self.device.ops[op];
            (o.operation.verb, o.modify) = (Verb::Read, true);
            self.requests.stats.rmw_reads += 1;
            self.read_out_of_line(op, lpn);
            return;
        }
        self.place_write(op, lpn);
    }

    /// The old data of a partly written page has been read: the write goes on, and whoever waited
    /// for the page follows.
    pub(super) fn modify(&mut self, op: u32) {
        let lpn = self.lpn_of(op);
        let o = &mut self.device.ops[op];
        (o.operation.verb, o.operation.slots) = (Verb::Program, None);
        (o.modify, o.partial) = (false, false);
        let read = Course { spent: o.spent, ..Course::default() };
        let mut waiters = self.waits.unlock(lpn);
        self.place_out_of_line(op, lpn);
        while let Some(waiter) = waiters.pop_front() {
            let o = &mut self.device.ops[waiter];
            o.spent += &behind(&read, self.clock.now - o.since);
            self.enter_out_of_line(waiter);
            if !waiters.is_empty() && self.waits.is_locked(lpn) {
                // It reads before it writes: the others go on waiting, where they are.
                self.waits.keep(lpn, waiters);
                return;
            }
        }
    }

    #[inline(never)]
    fn place_out_of_line(&mut self, op: u32, lpn: Lpn) {
        self.place_write(op, lpn);
    }

    /// Gives a write its slot, or lets it wait for space behind others that do.
    #[inline(always)] // as `enter`
    fn place_write(&mut self, op: u32, lpn: Lpn) {
        if self.trays.are_used() {
            self.load(op, lpn);
        } else if self.waits.for_space() > 0 || !self.try_place(op, lpn) {
            self.park(op, Condition::Space);
        }
    }

    #[inline(always)] // as `enter`
    fn try_place(&mut self, op: u32, lpn: Lpn) -> bool {
        if self.trays.are_used() {
            return self.place_group(op);
        }
        let prio = self.device.ops[op].prio();
        let (waiting, idle) = (&self.waiting, &self.device.idle);
        let Some(operation) = self.ftl.write(lpn, prio, waiting, idle, self.clock.now) else {
            return false;
        };
        self.device.ops[op].operation = operation;
        self.send_write(op, operation.slot().expect("a write has its slot"));
        true
    }

    /// A write that has its slot goes to its die.
    #[inline(always)] // every write comes by
    pub(super) fn send_write(&mut self, op: u32, ppn: Ppn) {
        let block = self.ftl.geometry().block_of(ppn);
        let high = self.ftl.is_urgent(self.ftl.blocks().stream(block));
        let lane = if high { LaneId::WriteHigh } else { LaneId::Write };
        self.enqueue(self.ftl.geometry().die_of(block), lane, op);
    }

    /// A block has become free: writes that wait for space try again, in order.
    #[cold]
    pub(super) fn retry_stalled(&mut self) {
        while let Some(op) = self.waits.first_for_space() {
            if !self.try_place(op, self.lpn_of(op)) {
                return;
            }
            self.waits.release_first_for_space(&mut self.device.ops, self.clock.now);
        }
    }

    // ── The write buffer ────────────────────────────────────────────────────────────────────────

    /// The host reads or writes the bytes `from..to` of a page, and there is a buffer.
    fn enter_buffer(&mut self, op: u32, lpn: Lpn, from: u64, to: u64) {
        let page = self.ftl.geometry().page_size().get();
        let bytes = Bytes::new(to - from);
        let buffer = self.buffer.as_mut().expect("a buffer");
        if !self.device.ops[op].programs() {
            if buffer.read(lpn, Parts::touched(from, to, page)) {
                self.transfer(op, None, bytes);
            } else {
                self.enter_out_of_line(op);
            }
            return;
        }
        let data = Data { parts: Parts::within(from, to, page), bytes };
        let came_before = self.waits.for_room() > 0;
        match self.place_in_buffer(op, data, came_before) {
            Some(place) => self.transfer(op, Some(place), bytes),
            None => self.park(op, Condition::Room(data)),
        }
    }

    /// Gives a write its place in the buffer, if there is one.
    fn place_in_buffer(&mut self, op: u32, data: Data, came_before: bool) -> Option<u32> {
        let (lpn, o) = (self.lpn_of(op), &self.device.ops[op]);
        let Owner::Host(id) = o.owner else { unreachable!("the host writes") };
        let &Inside { forced, stretch, token, .. } = self.requests.get(id);
        let write = Write { lpn, parts: data.parts, prio: o.prio(), forced, stretch, token };
        let buffer = self.buffer.as_mut().expect("a buffer");
        let placed = buffer.write(write, came_before)?;
        if placed.new && buffer.is_volatile() {
            self.requests.barrier.join(stretch);
        }
        Some(placed.place)
    }

    /// Data go into the buffer, or out of it.
    fn transfer(&mut self, op: u32, place: Option<u32>, bytes: Bytes) {
        let now = self.clock.now;
        match self.buffer.as_mut().filter(|buffer| buffer.port.takes_time()) {
            None => self.transferred(op, place),
            Some(buffer) => {
                self.device.ops[op].since = now;
                buffer.port.begin(Transfer::Data { op, place }, bytes, now);
                self.plan_port();
            }
        }
    }

    /// Answers a request without data that waits for nothing. What it asks for has been done by then,
    /// so that what comes later finds it done.
    #[inline]
    fn answer(&mut self, id: u32) {
        let since = self.clock.now;
        match self.buffer.as_mut().filter(|buffer| buffer.port.takes_time()) {
            None => self.complete(id, Spent::default()),
            Some(buffer) => {
                buffer.port.begin(Transfer::Command { id, since }, COMMAND, since);
                self.plan_port();
            }
        }
    }

    /// The first transfer is through.
    fn transfer_event(&mut self) {
        let buffer = self.buffer.as_mut().expect("its port is on the agenda");
        let transfer = buffer.port.end();
        self.plan_port();
        match transfer {
            Transfer::Command { id, since } => {
                let mut spent = Spent::default();
                spent.causes[Cause::Buffer] = self.clock.now - since;
                self.complete(id, spent);
            }
            Transfer::Data { op, place } => {
                let o = &mut self.device.ops[op];
                o.spent.causes[Cause::Buffer] += self.clock.now - o.since;
                self.transferred(op, place);
            }
        }
        self.flush();
        self.start_jobs();
    }

    fn transferred(&mut self, op: u32, place: Option<u32>) {
        let Some(place) = place else { return self.page_done_out_of_line(op) };
        let stretch = self.requests.barrier.current();
        let buffer = self.buffer.as_mut().expect("it has a place");
        let volatile = buffer.is_volatile();
        let (done, arrived) = buffer.arrived(place, op, stretch);
        let spent = self.device.ops[op].spent;
        if done {
            self.page_done_out_of_line(op);
        }
        match arrived {
            Arrived::Stays => {}
            Arrived::Sends(flush) => self.send(flush),
            Arrived::Dropped(stretch) => {
                let course = Course { line: self.line_of(place), spent };
                if volatile && self.requests.barrier.leave(stretch) {
                    self.end_flushes(&course);
                }
                self.fill_room(&course);
            }
        }
    }

    /// Sends pages from the buffer to flash, as many as its rule says.
    fn flush(&mut self) {
        while let Some(flush) =
            self.buffer.as_mut().and_then(|b| b.next_flush(self.waits.for_room()))
        {
            self.send(flush);
        }
        if self.trays.are_used() {
            self.press_trays();
        }
    }

    /// Sends a page from the buffer to flash.
    fn send(&mut self, flush: Flush) {
        let owner = Owner::Buffer(flush.place);
        let now = self.clock.now;
        let new = PageOp::new(owner, Verb::Program, flush.prio, Some(flush.lpn), now);
        let op = self.device.ops.add(PageOp { partial: flush.partial, ..new });
        self.enter_out_of_line(op);
    }

    /// The host asks for everything written so far to survive a loss of power.
    #[cold]
    fn flush_all(&mut self, id: u32) {
        if self.requests.barrier.end(id) {
            self.answer(id);
            return;
        }
        if self.buffer.as_ref().is_none_or(Buffer::is_volatile) {
            self.seal_all();
        }
        while let Some(flush) =
            self.buffer.as_mut().filter(|b| b.is_volatile()).and_then(Buffer::next_unsent)
        {
            self.send(flush);
        }
        self.start_jobs();
    }

    /// The host has nothing more to ask: what the buffer holds, or still takes, is sent to flash.
    #[cold]
    pub(super) fn empty_buffer(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.keep_nothing();
        self.flush();
        self.start_jobs();
    }

    /// A page of the buffer has reached flash: its place goes to whoever waits for one.
    fn flush_done(&mut self, op: u32, place: u32) {
        let PageOp { lpn, spent, .. } = self.device.ops[op];
        self.device.ops.remove(op);
        let now = self.clock.now;
        self.requests.stats.emptied_ns = now.as_ns();
        let buffer = self.buffer.as_mut().expect("a page was sent");
        let (volatile, flushed) = (buffer.is_volatile(), buffer.flushed(place));
        let lpn = lpn.expect("a write has a page");
        if volatile {
            self.note_safe(lpn, flushed.token);
        }
        if flushed.dead {
            self.ftl.trim(lpn, now);
        }
        if let Some(write) = flushed.owed {
            self.device.ops[write].spent += &spent;
            self.page_done_out_of_line(write);
        }
        if volatile && self.requests.barrier.leave(flushed.stretch) {
            self.end_flushes(&Course { line: self.line_of(place), spent });
        }
        if self.waits.for_room() > 0 {
            self.fill_room(&Course { line: self.line_of(place), spent });
        }
        self.flush();
    }

    /// How the write that took a place in the buffer had waited for it.
    fn line_of(&self, place: u32) -> Spent {
        self.buffer.as_ref().expect("a buffer").line(place)
    }

    /// Free places go to the writes that wait for them, in order; what made them free spent its time
    /// like this.
    fn fill_room(&mut self, last: &Course) {
        while let Some((op, data)) = self.waits.first_for_room() {
            let Some(place) = self.place_in_buffer(op, data, false) else { return };
            let waited = self.waits.release_first_for_room(&self.device.ops, self.clock.now);
            let line = behind(last, waited);
            self.device.ops[op].spent = line;
            let buffer = self.buffer.as_mut().expect("it has a place");
            buffer.set_line(place, line);
            self.transfer(op, Some(place), data.bytes);
        }
    }
}

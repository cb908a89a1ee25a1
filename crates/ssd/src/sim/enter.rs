//! How a request becomes page operations, and what each goes through until it is on a die: the
//! buffer, the lock of its page, the map, a slot.

use super::wait::Condition;
use super::{Actor, Sim};
use crate::config::UnmappedRead;
use crate::device::{LaneId, Owner, PageOp, Spent, Work};
use crate::host::{Class, Inside, Parts};
use ftl::{Access, AccessKind, Kit, Lpn};
use kernel::{Dur, Prio, Time};
use nand::{DieId, Source};

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
            self.split(id);
        }
        self.clock.plan_or_clear(Actor::Gate, next);
    }

    /// Splits a request into page operations and sends them off.
    pub(super) fn split(&mut self, id: u32) {
        let size = self.ftl.geometry().page_size().get();
        let &Inside { class, prio, offset, bytes, .. } = self.requests.get(id);
        if class == Class::Flush {
            self.complete(id, Spent::default());
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
            self.complete(id, Spent::default());
            self.start_jobs();
            return;
        }
        let (kind, work) = match class {
            Class::Write => (AccessKind::Write, Work::Program),
            _ => (AccessKind::Read, Work::Read),
        };
        self.requests.get_mut(id).left = (last - first + 1) as u32;
        for page in first..=last {
            let lpn = Lpn::from_u32(page as u32);
            let whole = offset <= page * size && end >= (page + 1) * size;
            self.observe(lpn, kind, prio);
            let new = PageOp::new(Owner::Host(id), work, prio, Some(lpn), self.clock.now);
            let partial = class == Class::Write && !whole;
            let op = self.device.ops.add(PageOp { partial, ..new });
            if self.buffer.is_none() {
                self.enter(op);
            } else {
                let from = offset.max(page * size) - page * size;
                let to = end.min((page + 1) * size) - page * size;
                self.enter_buffer(op, lpn, from, to);
            }
        }
        if self.buffer.is_some() {
            self.flush();
        }
        self.start_jobs();
    }

    fn trim(&mut self, lpn: Lpn, prio: Prio) {
        self.observe(lpn, AccessKind::Trim, prio);
        if let Some(buffer) = &mut self.buffer {
            buffer.trim(lpn);
            if self.waits.holds_write(&self.device.ops, lpn) {
                buffer.bury(lpn);
            }
        }
        self.ftl.trim(lpn, self.clock.now);
    }

    #[inline]
    fn observe(&mut self, lpn: Lpn, kind: AccessKind, prio: Prio) {
        let waiting_device = self.device.waiting_total;
        self.ftl.host_access(&Access { now: self.clock.now, kind, lpn, prio, waiting_device });
    }

    /// A host page operation is done; with the last one its request is.
    #[inline]
    pub(super) fn page_done(&mut self, op: u32) {
        match self.device.ops[op].owner {
            Owner::Host(id) => {
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

    fn complete(&mut self, id: u32, mut spent: Spent) {
        let request = self.requests.get(id);
        spent.queue[Source::Host as usize] += request.outside;
        self.watch.complete(request, self.clock.now, &spent);
        self.requests.complete(id, &spent, self.clock.now);
    }

    // ── Pages ───────────────────────────────────────────────────────────────────────────────────

    fn lpn_of(&self, op: u32) -> Lpn {
        self.device.ops[op].lpn.expect("a host operation has a page")
    }

    fn park(&mut self, op: u32, on: Condition) {
        self.waits.park(&mut self.device.ops, op, on, self.clock.now);
    }

    /// A host page operation reaches the FTL.
    #[inline]
    fn enter(&mut self, op: u32) {
        let lpn = self.lpn_of(op);
        if self.waits.is_locked(lpn) {
            self.park(op, Condition::Page(lpn));
        } else if self.device.ops[op].work == Work::Program {
            self.enter_write(op, lpn);
        } else {
            self.enter_read(op, lpn);
        }
    }

    #[inline]
    fn enter_read(&mut self, op: u32, lpn: Lpn) {
        if self.ftl.barred(lpn).is_some() {
            self.park(op, Condition::Refresh);
            return;
        }
        let o = &mut self.device.ops[op];
        let lane = if o.prio == Prio::High { LaneId::ReadHigh } else { LaneId::Read };
        self.requests.stats.host_page_reads += u64::from(!o.modify);
        let Some(ppn) = self.ftl.read(lpn, self.clock.now) else {
            self.requests.stats.unmapped_reads += 1;
            if self.unmapped_read == UnmappedRead::Zero {
                self.page_done(op);
                return;
            }
            let die = DieId::from_u32(lpn.as_u32() % self.ftl.geometry().dies() as u32);
            self.enqueue(die, lane, op);
            return;
        };
        o.ppn = Some(ppn);
        if self.watch.unmet.as_ref().is_some_and(|fresh| fresh.has(&self.ftl, ppn)) {
            self.watch.unmet = None;
        }
        let die = self.ftl.geometry().die_of(self.ftl.geometry().block_of(ppn));
        if self.ftl.array().is_written(ppn) {
            self.enqueue(die, lane, op);
        } else {
            self.device.expect(die, op);
            self.device.begin_wait(die, op, self.clock.now);
            self.park(op, Condition::Program(die));
        }
    }

    /// Lets in the reads that waited for a refresh and need not any more, in order.
    #[cold]
    pub(super) fn retry_barred(&mut self) {
        for op in self.waits.take_for_refresh() {
            let lpn = self.lpn_of(op);
            if self.ftl.barred(lpn).is_some() {
                self.waits.stay_for_refresh(op);
                continue;
            }
            let o = &mut self.device.ops[op];
            o.end_wait(Source::Refresh, self.clock.now);
            if o.modify && self.ftl.find(lpn).is_none() {
                // The page was trimmed meanwhile: there is nothing left to read.
                self.requests.stats.rmw_reads -= 1;
                self.modify(op);
                continue;
            }
            self.enter_read(op, lpn);
        }
    }

    fn enter_write(&mut self, op: u32, lpn: Lpn) {
        if self.device.ops[op].partial && self.ftl.find(lpn).is_some() {
            // Read-modify-write: nobody else touches the page in between.
            self.waits.lock(lpn);
            let o = &mut self.device.ops[op];
            (o.work, o.modify) = (Work::Read, true);
            self.requests.stats.rmw_reads += 1;
            self.enter_read(op, lpn);
            return;
        }
        self.place_write(op, lpn);
    }

    /// The old data of a partly written page has been read: the write goes on, and whoever waited
    /// for the page follows.
    pub(super) fn modify(&mut self, op: u32) {
        let lpn = self.lpn_of(op);
        let o = &mut self.device.ops[op];
        (o.work, o.modify, o.partial, o.ppn) = (Work::Program, false, false, None);
        let waiters = self.waits.unlock(lpn);
        self.place_write(op, lpn);
        for waiter in waiters {
            self.device.ops[waiter].end_wait(Source::Host, self.clock.now);
            self.enter(waiter);
        }
    }

    /// Gives a write its slot, or lets it wait for space behind others that do.
    #[inline]
    fn place_write(&mut self, op: u32, lpn: Lpn) {
        if self.waits.for_space() > 0 || !self.try_place(op, lpn) {
            self.park(op, Condition::Space);
        }
    }

    #[inline]
    fn try_place(&mut self, op: u32, lpn: Lpn) -> bool {
        let prio = self.device.ops[op].prio;
        let (waiting, idle) = (&self.device.waiting, &self.device.idle);
        let Some(ppn) = self.ftl.write(lpn, prio, waiting, idle, self.clock.now) else {
            return false;
        };
        self.device.ops[op].ppn = Some(ppn);
        let block = self.ftl.geometry().block_of(ppn);
        let high = self.ftl.is_urgent(self.ftl.blocks().stream(block));
        let lane = if high { LaneId::WriteHigh } else { LaneId::Write };
        self.enqueue(self.ftl.geometry().die_of(block), lane, op);
        true
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
        let buffer = self.buffer.as_mut().expect("a buffer");
        let o = &self.device.ops[op];
        if o.work == Work::Read {
            if buffer.read(lpn, Parts::touched(from, to, page)) {
                self.page_done(op);
            } else {
                self.enter(op);
            }
            return;
        }
        let parts = Parts::within(from, to, page);
        if buffer.write(lpn, parts, o.prio, self.waits.for_room() > 0) {
            self.page_done(op);
        } else {
            self.park(op, Condition::Room(parts));
        }
    }

    /// Sends pages from the buffer to flash, as many as its rule says.
    fn flush(&mut self) {
        let now = self.clock.now;
        while let Some(flush) =
            self.buffer.as_mut().and_then(|b| b.next_flush(self.waits.for_room()))
        {
            let owner = Owner::Buffer(flush.place);
            let new = PageOp::new(owner, Work::Program, flush.prio, Some(flush.lpn), now);
            let op = self.device.ops.add(PageOp { partial: flush.partial, ..new });
            self.enter(op);
        }
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
        if buffer.flushed(place) {
            self.ftl.trim(lpn.expect("a write has a page"), now);
        }
        while let (Some((waiter, parts)), Some(buffer)) =
            (self.waits.first_for_room(), &mut self.buffer)
        {
            let o = &self.device.ops[waiter];
            let lpn = o.lpn.expect("a write has a page");
            if !buffer.write(lpn, parts, o.prio, false) {
                break;
            }
            let waited = self.waits.release_first_for_room(&self.device.ops, now);
            self.device.ops[waiter].spent = spent.behind(waited);
            self.page_done(waiter);
        }
        self.flush();
    }
}

//! The write buffer: its port, the pages in it, and their way to flash.

use super::Sim;
use super::wait::Condition;
use crate::host::{Arrived, Buffer, Data, Flush, Inside, PageParts, Transfer, Write};
use crate::ops::{Course, Owner, PageOp, Spent, behind};
use ftl::{Lpn, PolicyTypes};
use kernel::Bytes;
use nand::{Cause, Verb};

impl<K: PolicyTypes> Sim<K> {
    /// The host reads or writes the bytes `from..to` of a page, and there is a buffer.
    pub(super) fn enter_buffer(&mut self, op: u32, lpn: Lpn, from: u64, to: u64) {
        let page = self.ftl.geometry().page_size().get();
        let bytes = Bytes::new(to - from);
        let buffer = self.buffer.as_mut().expect("a buffer");
        if !self.device.ops[op].programs() {
            if buffer.read(lpn, PageParts::touched(from, to, page)) {
                self.transfer(op, None, bytes);
            } else {
                self.enter_out_of_line(op);
            }
            return;
        }
        let data = Data { parts: PageParts::within(from, to, page), bytes };
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
        let &Inside { forced, epoch, token, .. } = self.requests.get(id);
        let write = Write { lpn, parts: data.parts, host: o.host(), forced, epoch, token };
        let buffer = self.buffer.as_mut().expect("a buffer");
        let placed = buffer.write(write, came_before)?;
        if placed.new && buffer.is_volatile() {
            self.requests.barrier.join(epoch);
        }
        Some(placed.place)
    }

    /// Data go into the buffer, or out of it.
    pub(super) fn transfer(&mut self, op: u32, place: Option<u32>, bytes: Bytes) {
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

    /// The first transfer is through.
    pub(super) fn transfer_event(&mut self) {
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
                let took = self.clock.now - self.device.ops[op].since;
                self.device.ops.spent_mut(op).causes[Cause::Buffer] += took;
                self.transferred(op, place);
            }
        }
        self.flush();
        self.start_jobs();
    }

    fn transferred(&mut self, op: u32, place: Option<u32>) {
        let Some(place) = place else { return self.page_done_out_of_line(op) };
        let epoch = self.requests.barrier.current();
        let buffer = self.buffer.as_mut().expect("it has a place");
        let volatile = buffer.is_volatile();
        let (done, arrived) = buffer.arrived(place, op, epoch);
        let spent = *self.device.ops.spent(op);
        if done {
            self.page_done_out_of_line(op);
        }
        match arrived {
            Arrived::Stays => {}
            Arrived::Sends(flush) => self.send(flush),
            Arrived::Dropped(epoch) => {
                let course = Course { line: self.line_of(place), spent };
                if volatile && self.requests.barrier.leave(epoch) {
                    self.end_flushes(&course);
                }
                self.fill_room(&course);
            }
        }
    }

    /// Sends pages from the buffer to flash, according to its rule.
    pub(super) fn flush(&mut self) {
        while let Some(flush) =
            self.buffer.as_mut().and_then(|b| b.next_flush(self.waits.for_room()))
        {
            self.send(flush);
        }
        if self.program_buffers.are_used() {
            self.flush_early();
        }
    }

    /// Sends a page from the buffer to flash.
    fn send(&mut self, flush: Flush) {
        let owner = Owner::Buffer(flush.place);
        let now = self.clock.now;
        let new = PageOp::new(owner, Verb::Program, flush.host, Some(flush.lpn), now);
        let op = self.device.ops.add(PageOp { partial: flush.partial, ..new });
        self.enter_out_of_line(op);
    }

    /// The host requests that everything written so far survive a loss of power.
    #[cold]
    pub(super) fn flush_all(&mut self, id: u32) {
        if self.requests.barrier.end(id) {
            self.answer(id);
            return;
        }
        if self.buffer.as_ref().is_none_or(Buffer::is_volatile) {
            self.flush_program_buffers();
        }
        while let Some(flush) =
            self.buffer.as_mut().filter(|b| b.is_volatile()).and_then(Buffer::next_unsent)
        {
            self.send(flush);
        }
        self.start_jobs();
    }

    /// The host has no more requests: all data in the buffer, or on its way in, is sent to flash.
    #[cold]
    pub(super) fn empty_buffer(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        buffer.keep_nothing();
        self.flush();
        self.start_jobs();
    }

    /// A page of the buffer has reached flash. The next waiting write gets its place.
    pub(super) fn flush_done(&mut self, op: u32, place: u32) {
        let (lpn, spent) = (self.device.ops[op].lpn, *self.device.ops.spent(op));
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
        if let Some(write) = flushed.answers {
            *self.device.ops.spent_mut(write) += &spent;
            self.page_done_out_of_line(write);
        }
        if volatile && self.requests.barrier.leave(flushed.epoch) {
            self.end_flushes(&Course { line: self.line_of(place), spent });
        }
        if self.waits.for_room() > 0 {
            self.fill_room(&Course { line: self.line_of(place), spent });
        }
        self.flush();
    }

    /// The wait of the write that took a place in the buffer.
    fn line_of(&self, place: u32) -> Spent {
        self.buffer.as_ref().expect("a buffer").line(place)
    }

    /// Free places go to the writes that wait for them, in order; `last` is the time that the page
    /// which freed the place spent.
    fn fill_room(&mut self, last: &Course) {
        while let Some((op, data)) = self.waits.first_for_room() {
            let Some(place) = self.place_in_buffer(op, data, false) else { return };
            let waited = self.waits.release_first_for_room(&self.device.ops, self.clock.now);
            let line = behind(last, waited);
            *self.device.ops.spent_mut(op) = line;
            self.buffer.as_mut().expect("it has a place").set_line(place, line);
            self.transfer(op, Some(place), data.bytes);
        }
    }
}

//! Writes of the host and of the write buffer: they get their slots, or wait for space. A write of a
//! part of a page reads the page first.

use super::Sim;
use super::wait::Condition;
use crate::device::LaneId;
use crate::ops::{Course, behind};
use ftl::{Lpn, PolicyTypes};
use nand::{Operation, Ppn, Slots, Verb};

impl<K: PolicyTypes> Sim<K> {
    #[inline(always)] // as `enter`
    pub(super) fn enter_write(&mut self, op: u32, lpn: Lpn) {
        let partial = self.device.ops[op].partial && self.ftl.find(lpn).is_some();
        if partial && !(self.program_buffers.are_used() && self.waits_in_memory(lpn)) {
            // Read-modify-write: no other operation uses the page in between.
            self.waits.lock(lpn);
            let o = &mut self.device.ops[op];
            (o.operation.verb, o.modify) = (Verb::Read, true);
            self.requests.stats.rmw_reads += 1;
            self.read_out_of_line(op, lpn);
            return;
        }
        self.place_write(op, lpn);
    }

    /// The old data of a partly written page has been read. The write continues, and then the
    /// operations that waited for the page.
    pub(super) fn modify(&mut self, op: u32) {
        let lpn = self.lpn_of(op);
        let o = &mut self.device.ops[op];
        (o.operation.verb, o.operation.slots) = (Verb::Program, None);
        (o.modify, o.partial) = (false, false);
        let read = Course { spent: *self.device.ops.spent(op), ..Course::default() };
        let mut waiters = self.waits.unlock(lpn);
        self.place_out_of_line(op, lpn);
        while let Some(waiter) = waiters.pop_front() {
            let waited = self.clock.now - self.device.ops[waiter].since;
            *self.device.ops.spent_mut(waiter) += &behind(&read, waited);
            self.enter_out_of_line(waiter);
            if !waiters.is_empty() && self.waits.is_locked(lpn) {
                // It reads before it writes: the others go on waiting in their places.
                self.waits.keep(lpn, waiters);
                return;
            }
        }
    }

    #[inline(never)]
    fn place_out_of_line(&mut self, op: u32, lpn: Lpn) {
        self.place_write(op, lpn);
    }

    /// Gives a write its slot, or lets it wait for space behind other writes.
    #[inline(always)] // as `enter`
    fn place_write(&mut self, op: u32, lpn: Lpn) {
        if self.program_buffers.are_used() {
            self.fill_program_buffer(op, lpn);
        } else if self.waits.for_space() > 0 || !self.try_place(op, lpn) {
            self.park(op, Condition::Space);
        }
    }

    #[inline(always)] // as `enter`
    fn try_place(&mut self, op: u32, lpn: Lpn) -> bool {
        if self.program_buffers.are_used() {
            return self.place_unit(op);
        }
        let host = self.device.ops[op].host();
        let (waiting, idle) = (&self.waiting, &self.device.idle);
        let Some(operation) = self.ftl.write(lpn, host, waiting, idle, self.clock.now) else {
            return false;
        };
        self.device.ops[op].operation = operation;
        self.send_write(op, operation.slot().expect("a write has its slot"));
        true
    }

    /// A write that has its slot goes to its die.
    #[inline(always)] // every write comes by
    fn send_write(&mut self, op: u32, ppn: Ppn) {
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
            let source = self.ftl.makes_space();
            self.waits.release_first_for_space(&mut self.device.ops, source, self.clock.now);
        }
    }

    /// Gives the pages of a program unit their slots; the first operation stands for all from then on.
    pub(super) fn place_unit(&mut self, first: u32) -> bool {
        let ops = &self.device.ops;
        let pages = ops.group(first).map(|op| &ops[op]).filter(|o| !o.superseded);
        self.unit.clear();
        self.unit.extend(pages.filter_map(|o| Some((o.lpn?, o.host()))));
        let (waiting, idle) = (&self.waiting, &self.device.idle);
        let given = self.ftl.write_unit(&self.unit, waiting, idle, self.clock.now);
        let Some(operation) = given else { return false };
        let slots = operation.slots.expect("a write has its slots");
        let mut next = first;
        for slot in slots.iter() {
            self.device.ops[next].operation =
                Operation { slots: Some(Slots::one(slot)), ..operation };
            next = self.device.ops.also(next);
        }
        self.send_write(first, slots.first);
        true
    }
}

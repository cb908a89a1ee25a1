//! A page operation of the host is done, and then its request: it is counted and answered.

use super::Sim;
use crate::host::{Buffer, COMMAND, Class, Inside, Safe, Transfer};
use crate::ops::{Course, Owner, Spent, behind};
use ftl::{Lpn, PolicyTypes};
use kernel::Dur;
use nand::{Cause, Source};

impl<K: PolicyTypes> Sim<K> {
    /// A host page operation is done in the drive; the data of a read still has to go to the host.
    #[inline(always)] // as `enter`
    pub(super) fn page_done(&mut self, op: u32, owner: Owner) {
        if self.host_interface.is_some() {
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

    /// The data of a read has gone to the host.
    pub(super) fn page_carried(&mut self, op: u32) {
        let owner = self.device.ops[op].owner;
        if let (Owner::Host(id), Some(host_interface)) = (owner, &mut self.host_interface) {
            host_interface.add_data(id, op);
        }
        self.page_answered(op, owner);
    }

    /// A host page operation is done; with the last one its request is.
    #[inline(always)] // into the loop over what a command has done
    fn page_answered(&mut self, op: u32, owner: Owner) {
        match owner {
            Owner::Host(id) => {
                // A write through the buffer waits for programs of others, which are counted themselves.
                if self.device.ops[op].programs() && self.buffer.is_none() {
                    self.note_wait_of_program(op);
                }
                if self.requests.safe.is_some() {
                    self.page_safe(id, op);
                }
                if self.requests.page_done(id, self.clock.now) {
                    let spent = *self.device.ops.spent(op);
                    self.complete(id, spent);
                }
                self.device.ops.remove(op);
            }
            Owner::Buffer(place) => {
                self.note_wait_of_program(op);
                self.flush_done(op, place);
            }
            Owner::Job(_) => unreachable!("the host did not ask for a page of a job"),
        }
    }

    /// Keeps the longest wait of a program behind collections.
    #[inline(always)] // as `page_answered`
    fn note_wait_of_program(&mut self, op: u32) {
        let longest = &mut self.waits.stats.gc_longest;
        *longest = self.device.ops.spent(op).queue[Source::Gc].as_ns().max(*longest);
    }

    /// A host page operation is done, and the client wants to know which data are safe and which
    /// reads failed. The data of a write are safe, unless they may still be lost from a buffer.
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

    pub(super) fn note_safe(&mut self, lpn: Lpn, token: u32) {
        if let Some(safe) = &mut self.requests.safe {
            safe.push_back(Safe { page: lpn.as_u32(), token });
        }
    }

    pub(super) fn complete(&mut self, id: u32, mut spent: Spent) {
        let request = self.requests.get(id);
        let &Inside { class, epoch, throttle, .. } = request;
        spent.causes[Cause::Throttle] += Dur::ns(throttle);
        if self.requests.is_apart() {
            self.complete_apart(id, &mut spent);
        }
        self.watch.complete(self.requests.get(id), self.clock.now, &spent);
        self.requests.complete(id, &spent, self.clock.now);
        if class == Class::Write && self.requests.barrier.leave(epoch) {
            self.end_flushes(&self.requests.last(spent));
        }
    }

    /// A request is about to be done on a drive with flows, placement handles, a controller, a link, or requests that
    /// may wait outside. `spent` becomes the account of its whole time.
    #[cold]
    fn complete_apart(&mut self, id: u32, spent: &mut Spent) {
        if let Some(host_interface) = &self.host_interface {
            host_interface.book(id, spent);
        }
        self.requests.add_line(id, spent);
        self.requests.complete_in_flow(id, spent, self.clock.now);
        self.requests.complete_of_handle(id);
    }

    /// Flushes without further writes to wait for are done; `last` is the time of the last write
    /// that they waited for.
    #[cold]
    pub(super) fn end_flushes(&mut self, last: &Course) {
        while let Some(flush) = self.requests.barrier.take_done() {
            let request = self.requests.get(flush);
            let host_interface = self
                .host_interface
                .as_deref()
                .map_or(Dur::ZERO, |f| f.book(flush, &mut Spent::default()));
            let before = Dur::ns(request.outside) + host_interface;
            let waited = self.clock.now - request.arrived - before;
            self.complete(flush, behind(last, waited));
        }
    }

    /// Answers a request without data that waits for nothing. Its work is done by then, so later
    /// requests find it done.
    #[inline]
    pub(super) fn answer(&mut self, id: u32) {
        let since = self.clock.now;
        match self.buffer.as_mut().filter(|buffer| buffer.port.takes_time()) {
            None => self.complete(id, Spent::default()),
            Some(buffer) => {
                buffer.port.begin(Transfer::Command { id, since }, COMMAND, since);
                self.plan_port();
            }
        }
    }
}

//! A request becomes page operations. Each passes the write buffer and the lock of its page, and
//! enters the FTL.
//!
//! The steps from there on are inlined into the loop over a request's pages. Code elsewhere calls a step
//! by its name with `_out_of_line`, which does the same.

use super::Sim;
use super::wait::Condition;
use crate::host::{Class, Inside};
use crate::ops::{Owner, PageOp};
use ftl::{Access, AccessKind, HostTag, Lpn, PolicyTypes};
use nand::Verb;

impl<K: PolicyTypes> Sim<K> {
    /// Splits a request into page operations and sends them off.
    pub(super) fn split(&mut self, id: u32) {
        let size = self.ftl.geometry().page_size().get();
        let request = self.requests.get(id);
        let (&Inside { class, offset, bytes, .. }, host) = (request, request.host());
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
            // Only whole pages can be trimmed.
            for lpn in offset.div_ceil(size)..end / size {
                self.trim(Lpn::from_u32(lpn as u32), host);
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
            self.observe(lpn, kind, host);
            let new = PageOp::new(Owner::Host(id), verb, host, Some(lpn), self.clock.now);
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
        if !self.joined_reads.is_empty() {
            self.send_reads();
        }
        if self.buffer.is_some() {
            self.flush();
        }
        self.start_jobs();
    }

    /// A page operation of a request goes to the buffer, if there is one, or on to the FTL.
    pub(super) fn enter_page(&mut self, op: u32) {
        if self.buffer.is_none() {
            self.enter_out_of_line(op);
        } else {
            let (from, to) = self.extent(op);
            self.enter_buffer(op, self.lpn_of(op), from, to);
        }
    }

    /// The bytes of its page that a page operation of a request covers.
    pub(super) fn extent(&self, op: u32) -> (u64, u64) {
        let size = self.ftl.geometry().page_size().get();
        let Owner::Host(id) = self.device.ops[op].owner else { unreachable!("the host asks") };
        let &Inside { offset, bytes, .. } = self.requests.get(id);
        let page = u64::from(self.lpn_of(op).as_u32()) * size;
        let end = (offset + u64::from(bytes)).min(page + size);
        (offset.max(page) - page, end - page)
    }

    fn trim(&mut self, lpn: Lpn, host: HostTag) {
        self.observe(lpn, AccessKind::Trim, host);
        if let Some(at) = self.program_buffer_of(lpn) {
            self.program_buffers.drop_page(at, lpn, &mut self.device.ops);
            if self.program_buffers.is_given_up(at) {
                self.program_buffers.flush_at(at, self.clock.now);
                self.flush_early();
            }
        }
        if let Some(buffer) = &mut self.buffer {
            if let Some(epoch) = buffer.trim(lpn)
                && buffer.is_volatile()
            {
                let awaited = self.requests.barrier.leave(epoch);
                assert!(!awaited, "a flush waits for page {lpn}, and it was not sent");
            }
            if self.waits.holds_write(lpn) {
                buffer.bury(lpn);
            }
        }
        self.ftl.trim(lpn, self.clock.now);
    }

    #[inline]
    fn observe(&mut self, lpn: Lpn, kind: AccessKind, host: HostTag) {
        let (now, waiting_device) = (self.clock.now, self.waiting_total);
        self.ftl.host_access(|| Access { now, kind, lpn, host, waiting_device });
    }

    pub(super) fn lpn_of(&self, op: u32) -> Lpn {
        self.device.ops[op].lpn.expect("a host operation has a page")
    }

    pub(super) fn park(&mut self, op: u32, on: Condition) {
        self.waits.park(&mut self.device.ops, op, on, self.clock.now);
    }

    #[inline(never)]
    pub(super) fn enter_out_of_line(&mut self, op: u32) {
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
}

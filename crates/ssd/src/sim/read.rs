//! Reads of the host: from flash, from the controller's memory, or after a wait. Units of one physical
//! page that one request reads are read together.

use super::Sim;
use super::wait::Condition;
use crate::config::{PendingRead, UnmappedRead};
use crate::device::LaneId;
use crate::ops::PageOp;
use ftl::{Lpn, PolicyTypes};
use kernel::{Bytes, Prio};
use nand::{DieId, Ppn, Source};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A read that is about to go to its die, where it waits for others of its physical page.
#[derive(Copy, Clone)]
pub(super) struct JoinedRead {
    op: u32,
    die: DieId,
    lane: LaneId,
    /// The program of its page is on its way.
    pending: bool,
}

impl<K: PolicyTypes> Sim<K> {
    #[inline(never)]
    pub(super) fn read_out_of_line(&mut self, op: u32, lpn: Lpn) {
        self.enter_read(op, lpn);
    }

    #[inline(always)] // as `enter`
    pub(super) fn enter_read(&mut self, op: u32, lpn: Lpn) {
        if (self.parts_of_pages || self.program_buffers.are_used())
            && self.read_with_another(op, lpn)
        {
            return;
        }
        if self.ftl.blocked(lpn).is_some() {
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
            // Dies take turns, also for workloads that read one part of each page, or all its parts
            // at once.
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
    fn await_program(&mut self, op: u32, die: DieId) {
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

    /// Whether a page has its slot and is not programmed yet.
    fn is_on_its_way(&self, lpn: Lpn) -> bool {
        self.ftl.find(lpn).is_some_and(|ppn| !self.ftl.array().is_written(ppn))
    }

    /// The controller still has the page that is read.
    #[cold]
    fn read_memory(&mut self, op: u32) {
        self.requests.stats.pending_reads += 1;
        if self.device.ops[op].modify {
            self.modify(op);
        } else {
            self.answer_from_memory(op);
        }
    }

    /// The data of a read comes from the drive's memory.
    fn answer_from_memory(&mut self, op: u32) {
        let (from, to) = self.extent(op);
        self.transfer(op, None, Bytes::new(to - from));
    }

    /// Lets in the reads that waited for a refresh and no longer have to, in order. If a page still
    /// may not be read, all reads of it go on waiting.
    #[cold]
    pub(super) fn retry_blocked(&mut self) {
        let next = |sim: &Self, lpn| Some(Reverse((sim.waits.blocked.first(lpn)?, lpn)));
        let pages = self.ftl.take_left().into_iter();
        let mut reads: BinaryHeap<_> = pages.filter_map(|lpn| next(self, lpn)).collect();
        while let Some(read @ Reverse((_, lpn))) = reads.pop() {
            // A page may be listed twice.
            if next(self, lpn) != Some(read) || self.ftl.blocked(lpn).is_some() {
                continue;
            }
            let op = self.waits.blocked.take(lpn);
            reads.extend(next(self, lpn));
            self.device.ops.end_wait(op, Source::Refresh, self.clock.now);
            let o = &self.device.ops[op];
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

    /// Whether a read finds its page's data in the controller's memory, or joins another read of
    /// its request on the same physical page. It is then on its way.
    fn read_with_another(&mut self, op: u32, lpn: Lpn) -> bool {
        if self.waits_in_memory(lpn) {
            self.read_memory(op);
            return true;
        }
        if self.joined_reads.is_empty() || self.device.ops[op].modify {
            return false;
        }
        let Some(ppn) = self.ftl.find(lpn) else { return false };
        let geometry = self.ftl.geometry();
        let page = |ppn: Ppn| ppn.as_u32() / geometry.units().per_page;
        let ops = &self.device.ops;
        let same = |r: &&JoinedRead| ops[r.op].slot().is_some_and(|other| page(other) == page(ppn));
        let Some(&JoinedRead { op: first, .. }) = self.joined_reads.iter().rev().find(same) else {
            return false;
        };
        let prio = self.device.ops[op].prio();
        let ops = &mut self.device.ops;
        if let Some(operation) = self.ftl.read_along(lpn, prio) {
            ops[op].operation = operation;
        }
        ops.join(first, op);
        true
    }

    /// A read is about to go to its die, and others of its request may join it.
    fn await_others(&mut self, op: u32, die: DieId, lane: LaneId, pending: bool) {
        self.joined_reads.push(JoinedRead { op, die, lane, pending });
    }

    /// All pages of a request have been looked up.
    pub(super) fn send_reads(&mut self) {
        for i in 0..self.joined_reads.len() {
            let JoinedRead { op, die, lane, pending } = self.joined_reads[i];
            if pending {
                self.await_program(op, die);
            } else {
                self.enqueue_out_of_line(die, lane, op);
            }
        }
        self.joined_reads.clear();
    }
}

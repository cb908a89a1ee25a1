//! Groups: pages that one command programs, and units of one physical page that one request reads.
//! What leads into the program buffers and out of them.

use super::Sim;
use super::wait::Condition;
use crate::clock::Actor;
use crate::device::LaneId;
use crate::host::Buffer;
use crate::ops::{NONE, Owner};
use ftl::{Lpn, PolicyTypes};
use kernel::Prio;
use nand::{DieId, Operation, Ppn, Slots, Source};

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
    // ── Writes ──────────────────────────────────────────────────────────────────────────────────

    /// The program buffer that a page waits in, if it does.
    pub(super) fn program_buffer_of(&mut self, lpn: Lpn) -> Option<usize> {
        if self.program_buffers.held() == 0 {
            return None;
        }
        let (at, apart) = (self.ftl.program_buffer_of(lpn), self.ftl.program_buffers());
        self.program_buffers.find(at, apart, lpn)
    }

    /// Whether a page that was written has no slot yet.
    pub(super) fn waits_in_memory(&mut self, lpn: Lpn) -> bool {
        self.program_buffer_of(lpn).is_some()
            || self.waits.for_space() > 0 && self.waits.has_for_space(lpn)
    }

    /// A write joins a program buffer, whose pages are programmed together.
    pub(super) fn fill_program_buffer(&mut self, op: u32, lpn: Lpn) {
        let o = &mut self.device.ops[op];
        o.since = self.clock.now;
        let (owner, high) = (o.owner, o.prio() == Prio::High && self.ftl.separates_urgent());
        let at = self.program_buffer_of(lpn).unwrap_or_else(|| {
            let apart = if high { self.ftl.program_buffers() } else { 0 };
            self.ftl.program_buffer_of(lpn) + apart
        });
        if self.program_buffers.add(at, lpn, op, &mut self.device.ops) {
            self.flush_program_buffer(at);
        } else {
            let urgent = match owner {
                Owner::Host(id) => self.requests.get(id).forced,
                Owner::Buffer(place) => self.buffer.as_ref().is_some_and(|buffer| {
                    buffer.is_volatile()
                        && (buffer.is_awaited(place) || self.requests.barrier.is_awaited())
                }),
                Owner::Job(_) => unreachable!("jobs have program buffers of their own"),
            };
            if urgent {
                self.program_buffers.flush_at(at, self.clock.now);
            } else if !self.buffer.as_ref().is_some_and(Buffer::answers_early) {
                self.program_buffers.flush_at(at, self.clock.now + self.program_wait);
            }
        }
        self.flush_early();
    }

    /// Program buffers are flushed early where nothing else would come: the host has nothing more to ask, or
    /// all of the buffer that is on its way to flash waits in program buffers, and writes wait for room in it.
    pub(super) fn flush_early(&mut self) {
        if self.program_buffers.held() > 0
            && let Some(buffer) = &self.buffer
        {
            let stands = buffer.sent() as usize == self.program_buffers.held();
            if self.waits.for_room() > 0 && stands {
                self.program_buffers.flush_at(self.program_buffers.fullest(), self.clock.now);
            } else if self.closed && buffer.sends_all() && self.waits.for_room() == 0 {
                self.program_buffers.flush_all_at(self.clock.now);
            }
        }
        self.plan_flush();
    }

    /// All that waits in program buffers is to be programmed now.
    pub(super) fn flush_program_buffers(&mut self) {
        self.program_buffers.flush_all_at(self.clock.now);
        self.plan_flush();
    }

    fn plan_flush(&mut self) {
        let next = self.program_buffers.next_due();
        if next != self.clock.planned(Actor::ProgramBuffers) {
            self.clock.plan_or_clear(Actor::ProgramBuffers, next);
        }
    }

    /// Some program buffer is due.
    #[cold]
    pub(super) fn program_buffer_event(&mut self) {
        while let Some(at) = self.program_buffers.take_due(self.clock.now) {
            self.flush_program_buffer(at);
        }
        self.flush_early();
        self.start_jobs();
    }

    /// The pages of a program buffer get their slots, or wait for space behind others that do.
    fn flush_program_buffer(&mut self, at: usize) {
        let given_up = self.program_buffers.is_given_up(at);
        let ops = &mut self.device.ops;
        let Some(first) = self.program_buffers.take(at, ops) else { return };
        let mut next = first;
        while next != NONE {
            ops[next].end_wait(Source::Host, self.clock.now);
            next = ops.also(next);
        }
        if given_up {
            // Nobody wants to have it in flash any more.
            self.device.ops.line_up(first);
            let mut op = first;
            while op != NONE {
                let (done, rest) = self.device.ops.take_done(op);
                self.page_done(op, done.owner);
                op = rest;
            }
        } else if self.waits.for_space() > 0 || !self.place_group(first) {
            self.waits.park(&mut self.device.ops, first, Condition::Space, self.clock.now);
        }
    }

    /// Gives the pages of a group their slots; the first operation stands for all from then on.
    pub(super) fn place_group(&mut self, first: u32) -> bool {
        let ops = &self.device.ops;
        let prio = ops[first].prio();
        let pages = ops.group(first).map(|op| &ops[op]).filter(|o| !o.superseded);
        self.lpns.clear();
        self.lpns.extend(pages.filter_map(|o| o.lpn));
        let (waiting, idle) = (&self.waiting, &self.device.idle);
        let given = self.ftl.write_unit(&self.lpns, prio, waiting, idle, self.clock.now);
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

    // ── Reads ───────────────────────────────────────────────────────────────────────────────────

    /// Whether a read finds its page's data in the controller's memory, or another of its request
    /// reads the same physical page: it is on its way then.
    pub(super) fn read_with_another(&mut self, op: u32, lpn: Lpn) -> bool {
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
    pub(super) fn await_others(&mut self, op: u32, die: DieId, lane: LaneId, pending: bool) {
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

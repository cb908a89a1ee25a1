//! Groups: pages that one command programs, and units of one physical page that one request reads.
//! The steps into program buffers and out of them.

use super::Sim;
use super::wait::Condition;
use crate::clock::Actor;
use crate::device::LaneId;
use crate::host::Buffer;
use crate::ops::{NONE, Owner};
use ftl::{Kit, Lpn};
use kernel::Prio;
use nand::{DieId, Operation, Ppn, Slots, Source};

/// A read that is about to go to its die, where it waits for others of its physical page.
#[derive(Copy, Clone)]
pub(super) struct Reading {
    op: u32,
    die: DieId,
    lane: LaneId,
    /// The program of its page is on its way.
    pending: bool,
}

impl<K: Kit> Sim<K> {
    // ── Writes ──────────────────────────────────────────────────────────────────────────────────

    /// The program buffer in which a page waits, if it does.
    pub(super) fn tray_of(&mut self, lpn: Lpn) -> Option<usize> {
        if self.trays.held() == 0 {
            return None;
        }
        let (at, apart) = (self.ftl.tray_of(lpn), self.ftl.trays());
        self.trays.find(at, apart, lpn)
    }

    /// Whether a page that was written has no slot yet.
    pub(super) fn is_loaded(&mut self, lpn: Lpn) -> bool {
        self.tray_of(lpn).is_some() || self.waits.for_space() > 0 && self.waits.has_for_space(lpn)
    }

    /// A write joins a program buffer, whose pages are programmed together.
    pub(super) fn load(&mut self, op: u32, lpn: Lpn) {
        let o = &mut self.device.ops[op];
        o.since = self.clock.now;
        let (owner, high) = (o.owner, o.prio() == Prio::High && self.ftl.separates_urgent());
        let at = self.tray_of(lpn).unwrap_or_else(|| {
            let apart = if high { self.ftl.trays() } else { 0 };
            self.ftl.tray_of(lpn) + apart
        });
        if self.trays.add(at, lpn, op, &mut self.device.ops) {
            self.seal(at);
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
                self.trays.seal_at(at, self.clock.now);
            } else if !self.buffer.as_ref().is_some_and(Buffer::answers_early) {
                self.trays.seal_at(at, self.clock.now + self.program_wait);
            }
        }
        self.press_trays();
    }

    /// Flushes program buffers early if nothing else would come. Either the host has no more
    /// requests, or all pages of the write buffer that are on their way wait in program buffers,
    /// and writes wait for space in it.
    pub(super) fn press_trays(&mut self) {
        if self.trays.held() > 0
            && let Some(buffer) = &self.buffer
        {
            let stands = buffer.sent() as usize == self.trays.held();
            if self.waits.for_room() > 0 && stands {
                self.trays.seal_at(self.trays.fullest(), self.clock.now);
            } else if self.closed && buffer.sends_all() && self.waits.for_room() == 0 {
                self.trays.seal_all_at(self.clock.now);
            }
        }
        self.plan_trays();
    }

    /// Everything in program buffers is programmed now.
    pub(super) fn seal_all(&mut self) {
        self.trays.seal_all_at(self.clock.now);
        self.plan_trays();
    }

    fn plan_trays(&mut self) {
        let next = self.trays.next_due();
        if next != self.clock.planned(Actor::Trays) {
            self.clock.plan_or_clear(Actor::Trays, next);
        }
    }

    /// Some program buffer is due.
    #[cold]
    pub(super) fn tray_event(&mut self) {
        while let Some(at) = self.trays.take_due(self.clock.now) {
            self.seal(at);
        }
        self.press_trays();
        self.start_jobs();
    }

    /// The pages of a program buffer get their slots, or wait for space behind others that do.
    fn seal(&mut self, at: usize) {
        let given_up = self.trays.is_given_up(at);
        let ops = &mut self.device.ops;
        let Some(first) = self.trays.take(at, ops) else { return };
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
        let pages = ops.group(first).map(|op| &ops[op]).filter(|o| !o.rides);
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
        if self.is_loaded(lpn) {
            self.read_memory(op);
            return true;
        }
        if self.readings.is_empty() || self.device.ops[op].modify {
            return false;
        }
        let Some(ppn) = self.ftl.find(lpn) else { return false };
        let geometry = self.ftl.geometry();
        let page = |ppn: Ppn| ppn.as_u32() / geometry.units().per_page;
        let ops = &self.device.ops;
        let same = |r: &&Reading| ops[r.op].slot().is_some_and(|other| page(other) == page(ppn));
        let Some(&Reading { op: first, .. }) = self.readings.iter().rev().find(same) else {
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
        self.readings.push(Reading { op, die, lane, pending });
    }

    /// All pages of a request have been looked up.
    pub(super) fn send_reads(&mut self) {
        for i in 0..self.readings.len() {
            let Reading { op, die, lane, pending } = self.readings[i];
            if pending {
                self.await_program(op, die);
            } else {
                self.enqueue_out_of_line(die, lane, op);
            }
        }
        self.readings.clear();
    }
}

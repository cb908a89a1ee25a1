//! Program buffers: if one command programs several pages, writes wait there for others.

use super::Sim;
use super::wait::Condition;
use crate::clock::Actor;
use crate::host::Buffer;
use crate::ops::{NONE, Owner};
use ftl::{Lpn, PolicyTypes};
use nand::Source;

impl<K: PolicyTypes> Sim<K> {
    /// The program buffer in which a page waits, if it does.
    pub(super) fn program_buffer_of(&mut self, lpn: Lpn) -> Option<usize> {
        if self.program_buffers.held() == 0 {
            return None;
        }
        let (at, apart) = (self.ftl.program_buffer_of(lpn), self.ftl.program_buffers());
        self.program_buffers.find(at, apart, lpn)
    }

    /// Whether a written page has no slot yet.
    pub(super) fn waits_in_memory(&mut self, lpn: Lpn) -> bool {
        self.program_buffer_of(lpn).is_some()
            || self.waits.for_space() > 0 && self.waits.has_for_space(lpn)
    }

    /// A write joins a program buffer, whose pages are programmed together.
    pub(super) fn fill_program_buffer(&mut self, op: u32, lpn: Lpn) {
        let o = &mut self.device.ops[op];
        o.since = self.clock.now;
        let (owner, host) = (o.owner, o.host());
        let mut waits = self.program_buffer_of(lpn);
        let mut own = None;
        if waits.is_none() || self.ftl.sorts_writes() {
            let kind = self.ftl.kind_of_write(lpn, host, self.clock.now);
            own = Some(self.ftl.program_buffer_of(lpn) + kind * self.ftl.program_buffers());
        }
        if let (Some(at), true) = (waits, own.is_some() && waits != own) {
            // Its new data are of another kind: what waits is written over.
            self.program_buffers.drop_page(at, lpn, &mut self.device.ops);
            if self.program_buffers.is_given_up(at) {
                self.program_buffers.flush_at(at, self.clock.now);
            }
            waits = None;
        }
        let at = waits.or(own).expect("a write has a program buffer");
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

    /// Flushes program buffers early if nothing else would come. Either the host has no more
    /// requests, or all pages of the write buffer that are on their way wait in program buffers,
    /// and writes wait for space in it.
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

    /// Everything in program buffers is programmed now.
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

    /// The pages of a program buffer get their slots, or wait for space behind other writes.
    fn flush_program_buffer(&mut self, at: usize) {
        let given_up = self.program_buffers.is_given_up(at);
        let ops = &mut self.device.ops;
        let Some(first) = self.program_buffers.take(at, ops) else { return };
        let mut next = first;
        while next != NONE {
            ops.end_wait(next, Source::Host, self.clock.now);
            next = ops.also(next);
        }
        if given_up {
            // No write needs it in flash any more.
            self.device.ops.line_up(first);
            let mut op = first;
            while op != NONE {
                let (done, rest) = self.device.ops.take_done(op);
                self.page_done(op, done.owner);
                op = rest;
            }
        } else if self.waits.for_space() > 0 || !self.place_unit(first) {
            self.waits.park(&mut self.device.ops, first, Condition::Space, self.clock.now);
        }
    }
}

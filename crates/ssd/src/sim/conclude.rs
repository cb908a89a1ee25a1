//! The steps after a finished command, in order.

use super::Sim;
use super::jobs::Stepped;
use crate::device::{Finished, LaneId, Turned};
use crate::ops::{DoneOp, NONE, Owner, PageOp};
use ftl::{JobId, PolicyTypes};
use kernel::Prio;
use nand::{DieId, Ppn, Store, Verb};
use std::ops::Range;

impl<K: PolicyTypes> Sim<K> {
    /// A die's time has come.
    #[inline]
    pub(super) fn die_event(&mut self, die: DieId) {
        // 1. The die's account is closed, and so are the operations' accounts of time.
        if let Some(done) = self.device.act(&mut self.clock, die) {
            self.conclude(die, &done);
        } else if self.device.is_choosing(die) {
            self.look_for_work(die);
        }
    }

    /// The time of a die's register has come.
    #[cold]
    pub(super) fn register_event(&mut self, die: DieId) {
        match self.device.act_on_register(&mut self.clock, die) {
            Turned::Nothing => {}
            Turned::Free => self.load_next(die),
            Turned::Sent(done) => {
                self.conclude(die, &done);
                self.device.look_round(&mut self.clock, die);
            }
        }
    }

    /// A command is off its die. Other dies may then act; this one starts nothing before it
    /// chooses, unless a job of its own goes on.
    #[inline(always)] // from two places, of which one is never hot
    fn conclude(&mut self, die: DieId, done: &Finished) {
        let &Finished { verb, first, owner } = done;
        // 2. The cells take note, before the FTL does.
        if self.device.cells.is_some() {
            self.age_cells(first);
        }
        if let Owner::Job(id) = owner {
            self.conclude_step(die, id, first);
        } else {
            self.conclude_operations(die, first);
        }
        // 7. Its next command, if there is one, has asked for the channel: before the data that other
        //    dies have to send, or behind it.
        self.device.pass_channel_on(&mut self.clock, die, verb);
    }

    /// The command was for operations of the host, or of the buffer.
    #[inline(always)] // as `conclude`
    fn conclude_operations(&mut self, die: DieId, mut op: u32) {
        // 3. For one operation after the other: the FTL takes note of it, then its owner.
        while op != NONE {
            let (done, rest) = self.device.ops.take_done(op);
            self.conclude_operation(die, op, done);
            op = rest;
        }
        self.conclude_program(die);
        // 5. Jobs that waited for this start.
        self.start_jobs();
        self.choose_or_rest(die);
    }

    /// The command was one step of a job, whose operation comes alone.
    #[inline(always)] // as `conclude`
    fn conclude_step(&mut self, die: DieId, id: JobId, op: u32) {
        // 3. The FTL takes note, and returns the job's next step.
        let (stepped, awaited) = if self.waits.awaits_slots() {
            self.step_awaited_job(die, id, op)
        } else {
            (self.step_job(die, id, op, true), false)
        };
        self.conclude_program(die);
        // 5. Operations that waited for the job try again.
        self.follow_up(awaited);
        match stepped {
            Stepped::InHand(op) => self.continue_job(die, op),
            Stepped::Began | Stepped::Away => self.choose_or_rest(die),
        }
    }

    /// The same while reads wait for programs or refreshes: whether one waits for this step, too.
    #[cold]
    fn step_awaited_job(&mut self, die: DieId, id: JobId, op: u32) -> (Stepped, bool) {
        let slots = self.programmed_slots(op);
        let awaited = self.waits.awaits_refresh() && self.are_awaited(&slots);
        let stepped = self.step_job_out_of_line(die, id, op, true);
        for slot in slots {
            self.waits.note_programmed(&mut self.device.ops, die, Ppn::from_u32(slot));
        }
        (stepped, awaited)
    }

    /// 4. Reads of a page that was on its way can have it now.
    #[inline(always)] // as `conclude`
    fn conclude_program(&mut self, die: DieId) {
        if self.waits.has_programmed() {
            self.unpark(die);
        }
    }

    /// 6. The die chooses, if there is anything to choose.
    #[inline(always)] // as `conclude`
    fn choose_or_rest(&mut self, die: DieId) {
        if !self.device.is_choosing(die) {
            return;
        }
        if self.device.is_asked(die) || self.ftl.offers_idle_work() {
            self.look_for_work(die);
        } else {
            self.device.rest(&mut self.clock, die);
        }
    }

    /// An operation that does not belong to a job is done.
    #[inline(always)] // from one place
    fn conclude_operation(&mut self, die: DieId, op: u32, done: DoneOp) {
        let DoneOp { owner, operation, outcome, modify, superseded, lpn, seq } = done;
        self.leave(die);
        if !superseded {
            let lpn = lpn.expect("a page");
            let data = || K::Store::stamp(lpn.as_u32(), seq);
            let found = self.ftl.concluded(lpn, data, &operation, outcome, self.clock.now);
            if operation.verb == Verb::Program {
                if self.waits.awaits_programs()
                    && let Some(ppn) = operation.slot()
                {
                    self.waits.note_programmed(&mut self.device.ops, die, ppn);
                }
            } else if modify {
                return self.modify(op);
            } else if let Some(data) = found {
                assert!(
                    K::Store::is_of(data, lpn.as_u32()),
                    "the read of page {lpn} got another page's data from {operation:?}"
                );
            }
        }
        self.page_done(op, owner);
    }

    /// Operations that waited for a job try again. `awaited`: a read waits for the page that it has
    /// programmed.
    #[inline]
    pub(super) fn follow_up(&mut self, awaited: bool) {
        if self.waits.awaits_refresh() && (self.ftl.take_relieved() || awaited) {
            self.retry_blocked();
        }
        self.start_jobs();
        if self.ftl.take_freed() && self.waits.for_space() > 0 {
            self.retry_stalled();
            self.start_jobs();
        }
    }

    /// Puts reads whose pages are programmed into their lanes, at their old places.
    #[cold]
    fn unpark(&mut self, die: DieId) {
        while let Some(op) = self.waits.release_programmed() {
            let high = self.device.ops[op].prio() == Prio::High;
            let lane = if high { LaneId::ReadHigh } else { LaneId::Read };
            self.device.insert(die, lane, op);
        }
    }

    /// The slots that a job's command has programmed.
    fn programmed_slots(&self, op: u32) -> Range<u32> {
        let o = &self.device.ops[op];
        let first = o.slot().filter(|_| o.programs()).map(Ppn::as_u32);
        first.map_or(0..0, |first| first..first + self.ftl.slots_per_program())
    }

    /// Whether a read waits for the refresh of a page that lies in one of these slots now.
    #[cold]
    fn are_awaited(&self, slots: &Range<u32>) -> bool {
        slots.clone().map(Ppn::from_u32).any(|slot| {
            let owner = self.ftl.map().owner(slot);
            owner.is_some_and(|lpn| {
                self.waits.blocked.first(lpn).is_some() && self.ftl.find(lpn) == Some(slot)
            })
        })
    }

    /// The cells take note of the operation, and blocks that could not be read are taken out of
    /// service.
    #[inline(never)]
    fn age_cells(&mut self, mut op: u32) {
        let now = self.clock.now;
        while op != NONE {
            let PageOp { owner, operation, next, .. } = self.device.ops[op];
            op = next;
            let Some(cells) = &mut self.device.cells else { return };
            let Some(first) = operation.slot() else { continue };
            match operation.verb {
                Verb::Program => {
                    // A job's operation stands for all pages that its command programs.
                    let whole = matches!(owner, Owner::Job(_));
                    let slots = if whole { self.ftl.slots_per_program() } else { 1 };
                    cells.programmed(first, slots, now);
                }
                Verb::Erase => {
                    let block = self.ftl.geometry().block_of(first);
                    let array = self.ftl.array();
                    let (erases, wear) = (array.erases()[block] + 1, array.wear_after_erase(block));
                    let healed = cells.erased(block, erases, wear, now);
                    self.ftl.set_healed(healed);
                }
                Verb::Read | Verb::Reprogram => {}
            }
        }
        while let Some(block) = self.device.cells.as_mut().and_then(|cells| cells.take_failed()) {
            self.ftl.mark_bad(block);
        }
    }
}

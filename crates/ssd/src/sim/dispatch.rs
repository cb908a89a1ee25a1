//! A die chooses its next operation, and starts it.

use super::Sim;
use super::jobs::Stepped;
use crate::device::{LANES, LaneId};
use crate::ops::{NONE, Owner, PageOp};
use ftl::{Hold, Lpn, OpView, Order, PolicyTypes, Queues, Waited, WriteCtx};
use kernel::Idx;
use nand::{DieId, Ppn, Slots, Source, Tag};

/// Waiting operations of other requests are counted up to this many.
const COUNTED: usize = 64;

impl<K: PolicyTypes> Sim<K> {
    /// A host operation comes to a die.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, die: DieId, lane: LaneId, op: u32) {
        self.expect(die, op);
        self.join(die, lane, op);
    }

    /// A host operation, and its group, is on its way to a die from now on.
    #[inline(always)]
    pub(super) fn expect(&mut self, die: DieId, op: u32) {
        self.expect_one(die, op);
        let mut at = self.device.ops.also(op);
        while at != NONE {
            self.expect_one(die, at);
            at = self.device.ops.also(at);
        }
    }

    #[inline(always)]
    fn expect_one(&mut self, die: DieId, op: u32) {
        self.waiting.add(die);
        self.waiting_total += 1;
        self.device.ops[op].seq = self.device.ops.next_place();
    }

    /// A host operation is off its die.
    #[inline]
    pub(super) fn leave(&mut self, die: DieId) {
        self.waiting.remove(die);
        self.waiting_total -= 1;
    }

    #[inline(never)]
    pub(super) fn enqueue_out_of_line(&mut self, die: DieId, lane: LaneId, op: u32) {
        self.enqueue(die, lane, op);
    }

    #[inline(never)]
    pub(super) fn join_out_of_line(&mut self, die: DieId, lane: LaneId, op: u32) {
        self.join(die, lane, op);
    }

    /// An operation starts at once if the die is free, and waits otherwise.
    #[inline(always)]
    pub(super) fn join(&mut self, die: DieId, lane: LaneId, op: u32) {
        if self.device.starts_at_once(die) {
            self.begin(die, op);
        } else {
            self.device.queue(&mut self.clock, die, lane, op);
            if self.device.attends() {
                self.attend(die, lane, op);
            }
        }
    }

    /// An operation has come to a die that is busy. A read of the host interrupts the running
    /// command, if that is possible and the order allows it; a program may take in its data.
    #[cold]
    fn attend(&mut self, die: DieId, lane: LaneId, op: u32) {
        if self.device.caches_programs() {
            self.load_next(die);
        }
        if self.device.suspends() && matches!(lane, LaneId::ReadHigh | LaneId::Read) {
            let (now, order) = (self.clock.now, &mut self.ftl.policies.order);
            let may = |running: &OpView, waited, read: &OpView| {
                order.may_suspend(running, waited, read, now)
            };
            self.device.interrupt(&mut self.clock, die, op, may);
        }
    }

    /// A job's next operation starts on the die that chooses, unless another operation must go
    /// before it.
    #[inline(always)] // from one place
    pub(super) fn continue_job(&mut self, die: DieId, op: u32) {
        let operation = &self.device.ops[op].operation;
        let states = self.ftl.array().state();
        if self.device.is_first(die, op) && self.device.is_next(states, operation) {
            self.begin(die, op);
        } else {
            self.device.insert(die, LaneId::Job, op);
            self.look_for_work(die);
        }
    }

    /// A die that chooses takes its next operation, or rests.
    pub(super) fn look_for_work(&mut self, die: DieId) {
        loop {
            let (now, order) = (self.clock.now, &mut self.ftl.policies.order);
            let next = if self.device.chooses_apart() {
                let next = self.next_lane_apart(die);
                if let Some(lane @ LANES..) = next {
                    return self.device.go_on_with(&mut self.clock, die, lane);
                }
                next
            } else {
                self.device.next_lane(die, |heads| order.pick(heads, now))
            };
            let job = match next {
                Some(lane) => {
                    let op = self.device.pop(die, lane);
                    let PageOp { owner: Owner::Job(id), turn: true, .. } = self.device.ops[op]
                    else {
                        return self.begin_from(die, lane, op);
                    };
                    Some((id, op))
                }
                None => self.idle_work(die),
            };
            let Some((id, op)) = job else { return self.device.rest(&mut self.clock, die) };
            match self.step_job_out_of_line(die, id, op, false) {
                Stepped::Began => return,
                Stepped::InHand(op) => self.device.insert(die, LaneId::Job, op),
                Stepped::Away => {}
            }
            self.follow_up(false);
        }
    }

    /// Starts an operation that was taken from a lane of a die.
    #[inline(always)] // from one place
    fn begin_from(&mut self, die: DieId, lane: usize, op: u32) {
        let op = self.device.make_ready(self.ftl.array().state(), die, lane, op);
        self.begin(die, op);
    }

    #[cold]
    fn next_lane_apart(&mut self, die: DieId) -> Option<usize> {
        let (now, order) = (self.clock.now, &mut self.ftl.policies.order);
        let pick = |heads: &[OpView], waits: &[Waited]| order.pick_by_waits(heads, waits, now);
        self.device.next_lane_apart(die, pick)
    }

    /// Starts an operation (and those chained to it) on a die that is free or chooses.
    #[inline(always)]
    pub(super) fn begin(&mut self, die: DieId, op: u32) {
        self.bring_up_to_date(die, op);
        // Two branches instead of one command: that would be assembled in memory and copied from
        // there.
        match self.device.plain_command(op) {
            Some(command) => self.device.start(&mut self.clock, die, op, command),
            None => self.begin_apart(die, op),
        }
    }

    /// The same for more than one page, when the levels of all are decided.
    #[inline(never)]
    fn begin_apart(&mut self, die: DieId, op: u32) {
        let command = self.device.command(self.ftl.array().state(), op, self.clock.now);
        self.device.start(&mut self.clock, die, op, command);
    }

    /// Operations that begin take over decisions made since they were built: modes, and levels,
    /// which are decided now for programs.
    #[inline(always)] // from two places, of which one is never hot
    fn bring_up_to_date(&mut self, die: DieId, op: u32) {
        if !self.ftl.is_uniform() {
            self.bring_chain_up_to_date(die, op);
        }
    }

    #[inline(never)]
    fn bring_chain_up_to_date(&mut self, die: DieId, op: u32) {
        if self.ftl.constant_level().is_none() && self.device.ops[op].programs() {
            self.decide_levels(die, op);
        }
        let mut at = op;
        while at != NONE {
            let PageOp { operation, next, .. } = &mut self.device.ops[at];
            self.ftl.bring_up_to_date(operation);
            at = *next;
        }
    }

    /// The next program of a die that is programming takes in its data, if the register is free. A
    /// job that keeps its die goes first.
    #[cold]
    pub(super) fn load_next(&mut self, die: DieId) {
        let Some(runs) = self.device.programming(die) else { return };
        if let Owner::Job(id) = self.device.ops[runs].owner
            && self.ftl.job(id).hold == Hold::Die
        {
            return;
        }
        let (now, order) = (self.clock.now, &mut self.ftl.policies.order);
        let pick = |heads: &[OpView], waits: &[Waited]| order.pick_by_waits(heads, waits, now);
        let Some(lane) = self.device.next_to_load(die, pick) else { return };
        let op = self.device.pop(die, lane);
        let op = self.device.make_ready(self.ftl.array().state(), die, lane, op);
        self.bring_up_to_date(die, op);
        let command = self.device.command(self.ftl.array().state(), op, self.clock.now);
        self.device.load(&mut self.clock, die, op, command);
    }

    /// Decides the levels of a chain of programs: those of groups page by page, of a job's operation by its
    /// slots.
    fn decide_levels(&mut self, die: DieId, mut op: u32) {
        while op != NONE {
            let PageOp { owner, next, .. } = self.device.ops[op];
            let mut at = op;
            while at != NONE {
                let PageOp { lpn, operation, .. } = self.device.ops[at];
                let slots = operation.slots.into_iter().flat_map(Slots::iter);
                for (slot, nth) in slots.zip(0..) {
                    self.decide_level(die, owner, lpn, slot, nth);
                }
                at = self.device.ops.also(at);
            }
            op = next;
        }
    }

    fn decide_level(&mut self, die: DieId, owner: Owner, lpn: Option<Lpn>, slot: Ppn, nth: u32) {
        let (tag, stored) = match owner {
            Owner::Job(id) => {
                let job = self.ftl.job(id);
                (job.tag, job.copied_from(nth).map(|from| self.ftl.level_of(from)))
            }
            Owner::Host(_) | Owner::Buffer(_) => (Tag::of(Source::Host), None),
        };
        if tag.source == Source::Parity {
            return self.ftl.set_usual_level(slot);
        }
        let lpn = lpn.or_else(|| self.ftl.map().owner(slot));
        let lpn = lpn.expect("what is programmed has an owner");
        let queues = self.queues;
        let (device, waits) = (&self.device, &self.waits);
        // A policy asks for a few at most, so counting stops early.
        let others = |dies: &mut dyn Iterator<Item = usize>| {
            let dies = dies.map(DieId::new);
            let busy = dies
                .filter(|d| device.dies[*d].has_host_operations() || waits.awaits_programs_on(*d));
            let waiting = busy.flat_map(|d| {
                device.dies[d]
                    .host_operations(&device.ops)
                    .chain(waits.for_programs_on(&device.ops, d))
            });
            waiting.filter(|o| o.owner != owner).take(COUNTED).count() as u32
        };
        let geometry = self.ftl.geometry();
        let (dies, channels) = (0..geometry.dies(), geometry.channels());
        let channel = geometry.channel_of(die).index();
        let all = queues == Queues::All;
        let ctx = WriteCtx {
            now: self.clock.now,
            lpn,
            die,
            tag,
            stored,
            waiting_die: if queues == Queues::None {
                0
            } else {
                others(&mut [die.index()].into_iter())
            },
            waiting_channel: if all {
                others(&mut dies.clone().skip(channel).step_by(channels))
            } else {
                0
            },
            waiting_device: if all {
                let stalled = waits.for_space() as u32;
                (others(&mut dies.clone()) + stalled).min(COUNTED as u32)
            } else {
                0
            },
            requests_inside: self.requests.inside() - u32::from(matches!(owner, Owner::Host(_))),
        };
        self.ftl.decide_level(slot, || ctx);
    }
}

//! The FTL's own work on the dies: jobs that start or go on, idle time, timers.

use super::Sim;
use crate::clock::Actor;
use crate::device::LaneId;
use crate::ops::{Owner, PageOp};
use ftl::{Hold, JobId, Next, PolicyTypes};
use kernel::Idx;
use nand::DieId;

/// The result of asking a job for its next action.
pub(super) enum Stepped {
    /// It has begun one on the die that asked.
    Began,
    /// It has one for the die that asked, which goes by arrival and is about to choose: an
    /// operation that came before may go first.
    InHand(u32),
    /// It waits in a lane, is elsewhere, or is over.
    Away,
}

impl<K: PolicyTypes> Sim<K> {
    /// Queues every job that wants to start or to go on.
    #[inline]
    pub(super) fn start_jobs(&mut self) {
        if self.ftl.has_ready() {
            self.start_ready();
        }
    }

    #[inline(never)]
    fn start_ready(&mut self) {
        while let Some(id) = self.ftl.take_ready() {
            let seq = self.device.ops.place_job(id);
            let die = self.ftl.job(id).home;
            let op = self.device.ops.add_job(id, seq, self.clock.now);
            if self.ftl.job(id).is_decided() {
                let operation = self.ftl.job(id).operation();
                self.device.ops.follow(op, Some(operation), seq, self.clock.now);
            }
            self.device.insert(die, self.lane_of(id), op);
            self.device.look_round(&mut self.clock, die);
        }
        while let Some(id) = self.ftl.take_promoted() {
            self.device.promote(Owner::Job(id));
        }
    }

    fn lane_of(&self, id: JobId) -> LaneId {
        lane_of(self.ftl.job(id).background)
    }

    #[inline(never)]
    pub(super) fn step_job_out_of_line(
        &mut self,
        here: DieId,
        id: JobId,
        op: u32,
        done: bool,
    ) -> Stepped {
        self.step_job(here, id, op, done)
    }

    /// Asks a job for its next operation, which takes the place of `op`. The operation may start if
    /// it is on `here`, which chooses; otherwise it is queued on its die. `done`: `op` was an
    /// operation and is over; otherwise it was the job's turn.
    #[inline(always)] // from what follows when a command is done
    pub(super) fn step_job(&mut self, here: DieId, id: JobId, op: u32, done: bool) -> Stepped {
        let job = self.ftl.job(id);
        let (background, hold) = (job.background, job.hold);
        let now = self.clock.now;
        let next = if done {
            let PageOp { operation, outcome, .. } = &self.device.ops[op];
            self.ftl.job_concluded(id, operation, *outcome, now)
        } else {
            self.ftl.next(id, now)
        };
        if next != Next::Start {
            self.pause_job(here, id, op, next);
            return Stepped::Away;
        }
        let lane = lane_of(background);
        let states = self.ftl.array().state();
        let operation = self.ftl.job(id).operation();
        let place = operation.slot().expect("an operation of a job has a place");
        let die = self.ftl.geometry().die_of_slot(place);
        let seq = match hold {
            Hold::Nothing => self.device.ops.place_job(id),
            Hold::Place | Hold::Die => self.device.ops.place_of(id),
        };
        self.device.ops.follow(op, Some(operation), seq, self.clock.now);
        if die != here {
            self.join_out_of_line(die, lane, op);
            return Stepped::Away;
        }
        if self.device.is_choosing(here) {
            let next = || hold == Hold::Die && self.device.is_next(states, operation);
            if !self.device.is_asked(here) || next() {
                self.begin(here, op);
                return Stepped::Began;
            }
            if lane == LaneId::Job && self.device.goes_by_arrival() {
                return Stepped::InHand(op);
            }
        }
        self.device.insert(here, lane, op);
        Stepped::Away
    }

    /// A job has no operation now. A job that yields goes behind everything that waits here now. One
    /// that gives way for a turn keeps its place.
    /// This die is choosing and will find the job, even if it has become work for idle time.
    #[inline(never)]
    fn pause_job(&mut self, here: DieId, id: JobId, op: u32, next: Next) {
        let seq = match next {
            Next::Yield => self.device.ops.place_job(id),
            Next::Turn => self.device.ops.place_of(id),
            Next::Start | Next::Wait | Next::Done => return self.device.ops.remove(op),
        };
        self.device.ops.follow(op, None, seq, self.clock.now);
        self.device.insert(here, self.lane_of(id), op);
    }

    /// The FTL's work for an idle die: a job, and its operation.
    pub(super) fn idle_work(&mut self, die: DieId) -> Option<(JobId, u32)> {
        if !self.ftl.offers_idle_work() || self.host_is_done() {
            return None;
        }
        let id = self.ftl.idle_job(die)?;
        let seq = self.device.ops.place_job(id);
        Some((id, self.device.ops.add_job(id, seq, self.clock.now)))
    }

    pub(super) fn timer_event(&mut self) {
        self.ftl.on_timer(self.clock.now);
        self.start_jobs();
        if self.ftl.offers_idle_work() {
            // A timer may have left work for dies that have nothing else to do.
            for die in (0..self.ftl.geometry().dies()).map(DieId::new) {
                if self.device.wake_idle(&self.clock, die) {
                    self.look_for_work(die);
                }
            }
        }
        self.post_timer();
    }

    /// Posts the next time that a policy asked for; none if nothing else can happen.
    pub(crate) fn post_timer(&mut self) {
        let next = self.ftl.next_timer().filter(|_| !self.host_is_done());
        self.clock.plan_or_clear(Actor::Timer, next.map(|at| at.max(self.clock.now)));
    }
}

/// The lane of a job's operations.
fn lane_of(background: bool) -> LaneId {
    if background { LaneId::Idle } else { LaneId::Job }
}

//! Programs and erases that make way for reads of the host.
//!
//! An interrupted command is a value outside its die: the command with the time that it still
//! needs. The array stops, the die takes `pause` until it can take reads, and `resume` before the
//! array goes on. A die holds one such command, and serves only reads of the host meanwhile. So the
//! order policy picks between that command and the first reads.
//!
//! When a read comes, the operation on the die runs until it may be interrupted:
//!
//! * its data must be in the die,
//! * it must have had `min-progress` in the array since it was resumed,
//! * an erase in loops ends the loop.
//!
//! An operation is not interrupted if it would be done by the time at which the die could read.

use super::Device;
use super::die::{PAUSED, PAUSED_LANE, Phase};
use crate::clock::{Actor, Clock};
use crate::config::Suspend;
use crate::ops::NONE;
use kernel::{Dur, IndexVec, Time, TimeSum};
use nand::{Cause, Command, DieId, Each, OpView, Source, Verb, Waited};

/// How often commands were interrupted, by source.
#[derive(Copy, Clone, Default, Debug)]
pub struct Suspends {
    /// Programs.
    pub program: Each<Source, u64>,
    /// Erases.
    pub erase: Each<Source, u64>,
}

/// An operation that is or was interrupted.
#[derive(Copy, Clone, Debug)]
struct OfDie {
    /// The first of its operations; `NONE`: nothing is interrupted.
    op: u32,
    /// The command with the time that it still needs.
    command: Command,
    /// When it would be done if it were not interrupted.
    end: Time,
    /// How often it was interrupted.
    times: u32,
    /// The time in the array that it takes without interruptions.
    whole: Dur,
    /// When it went on: the running command was interrupted before only if it began then.
    resumed: Option<Time>,
    /// A read has come while it could not be interrupted, and is to interrupt it as soon as it can.
    asked: bool,
    /// The die has chosen at the end of this instant, and no read has come.
    looked: bool,
}

impl OfDie {
    const NONE: Self = Self {
        op: NONE,
        command: Command::new(Verb::Read, Source::Host, Dur::ZERO),
        end: Time::ZERO,
        times: 0,
        whole: Dur::ZERO,
        resumed: None,
        asked: false,
        looked: false,
    };
}

/// The interrupted operations of dies that can be interrupted.
pub(super) struct Suspension {
    settings: Suspend,
    dies: IndexVec<DieId, OfDie>,
}

impl Suspension {
    pub(super) fn new(settings: Suspend, dies: usize) -> Self {
        Self { settings, dies: IndexVec::filled(OfDie::NONE, dies) }
    }

    fn interrupts(&self, verb: Verb) -> bool {
        match verb {
            Verb::Program => self.settings.operations.programs(),
            Verb::Erase => self.settings.operations.erases(),
            Verb::Read | Verb::Reprogram => false,
        }
    }
}

impl Device {
    /// Whether reads can interrupt something.
    #[inline]
    pub(crate) fn suspends(&self) -> bool {
        self.suspension.is_some()
    }

    /// A read has come to a die that is busy: the running command makes way, if it can and `may`.
    /// `may` is given the running operation and the read.
    #[cold]
    pub(crate) fn interrupt(
        &mut self,
        clock: &mut Clock,
        die: DieId,
        read: u32,
        may: impl FnOnce(&OpView, Waited, &OpView) -> bool,
    ) {
        let (Some(s), d) = (&self.suspension, &self.dies[die]) else { return };
        let (of, now) = (&s.dies[die], clock.now);
        let (op, verb) = match d.phase {
            Phase::Resuming => (of.op, of.command.verb),
            Phase::Asking | Phase::Beginning | Phase::Finishing => (d.running, d.command.verb),
            _ => return,
        };
        let resumed = d.phase == Phase::Resuming || of.resumed == Some(d.started);
        if of.asked || !s.interrupts(verb) || resumed && of.times >= s.settings.limit {
            return;
        }
        let at = match d.phase {
            Phase::Finishing => {
                let end = clock.planned(Actor::Die(die)).expect("a command runs");
                let Some(at) = self.interruption(die, end, now) else { return };
                Some((at, end))
            }
            _ => None,
        };
        if !may(&self.view(op), self.waited(die, op), &self.view(read)) {
            return;
        }
        let Some(s) = &mut self.suspension else { unreachable!("there is") };
        match at {
            Some((at, end)) => {
                s.dies[die].end = end;
                self.dies[die].phase = Phase::Pausing;
                clock.plan(Actor::Die(die), at);
            }
            None => s.dies[die].asked = true,
        }
    }

    /// When a command that ends at `end` can be interrupted, from now on; `None` if it is done
    /// before the die could read.
    fn interruption(&self, die: DieId, end: Time, now: Time) -> Option<Time> {
        let (s, command) = (self.suspension.as_ref()?, &self.dies[die].command);
        let from = Time::from_ns(end.as_ns() - command.array.as_ns());
        let resumed = s.dies[die].resumed == Some(self.dies[die].started);
        let mut at = if resumed { now.max(from + s.settings.min_progress) } else { now.max(from) };
        if let (Verb::Erase, Some(loops)) = (command.verb, s.settings.erase_loops) {
            let whole = if resumed { s.dies[die].whole } else { command.array };
            let length = (whole / u64::from(loops)).max(Dur::ns(1));
            let done = whole - command.array;
            let loops = (done + (at - from)).as_ns().div_ceil(length.as_ns());
            at = from + (length * loops - done);
        }
        (at + s.settings.pause < end).then_some(at)
    }

    /// The time has come for a die that interrupts a command or resumes it.
    #[cold]
    pub(super) fn act_on_paused(&mut self, clock: &mut Clock, die: DieId) {
        match self.dies[die].phase {
            Phase::Pausing => self.pause(clock, die),
            Phase::Suspending => {
                self.dies[die].close(clock.now);
                self.dies[die].choose(clock.now);
            }
            _ => self.go_on(clock, die),
        }
    }

    /// The array stops.
    fn pause(&mut self, clock: &mut Clock, die: DieId) {
        let Some(s) = &mut self.suspension else { unreachable!("there is") };
        let (of, d, now) = (&mut s.dies[die], &mut self.dies[die], clock.now);
        let (op, command, left) = (d.running, d.command, of.end - now);
        let resumed = of.resumed == Some(d.started);
        let (before, whole) = if resumed { (of.times, of.whole) } else { (0, command.array) };
        let ran = d.close(now);
        let done = command.array - left;
        *of = OfDie {
            op,
            command: Command::new(command.verb, command.source, left),
            times: before + 1,
            whole,
            ..OfDie::NONE
        };
        d.running = NONE;
        d.phase = Phase::Suspending;
        d.mask |= PAUSED;
        let counts = &mut self.stats.suspends;
        let counts =
            if command.verb == Verb::Erase { &mut counts.erase } else { &mut counts.program };
        counts[command.source] += 1;
        let pause = s.settings.pause;
        self.of_command(op, |device, op| {
            let spent = device.ops.spent_mut(op);
            spent.causes[Cause::Array] += done;
            spent.causes[Cause::Bus] += ran - done;
            device.dies[die].begin_wait(spent, now);
        });
        clock.plan(Actor::Die(die), now + pause);
    }

    /// A die goes on with the operation behind its lanes: the interrupted one, or the one in its
    /// register.
    #[cold]
    pub(crate) fn go_on_with(&mut self, clock: &mut Clock, die: DieId, lane: usize) {
        if lane == PAUSED_LANE { self.resume(clock, die) } else { self.take_loaded(clock, die) }
    }

    /// The interrupted operation is resumed, unless a read comes at this instant: for example one
    /// that follows the last read.
    fn resume(&mut self, clock: &mut Clock, die: DieId) {
        let Some(s) = &mut self.suspension else { unreachable!("there is") };
        let (of, d) = (&mut s.dies[die], &mut self.dies[die]);
        of.looked = !of.looked;
        if of.looked {
            d.phase = Phase::Gathering;
            clock.plan(Actor::Die(die), clock.now);
            return;
        }
        d.mask &= !PAUSED;
        d.phase = Phase::Resuming;
        clock.plan(Actor::Die(die), clock.now + s.settings.resume);
    }

    /// The array goes on.
    fn go_on(&mut self, clock: &mut Clock, die: DieId) {
        let Some(s) = &mut self.suspension else { unreachable!("there is") };
        let (of, d, now) = (&mut s.dies[die], &mut self.dies[die], clock.now);
        let (op, command) = (of.op, of.command);
        d.close(now);
        d.start(op, command, now);
        d.phase = Phase::Finishing;
        (of.op, of.resumed) = (NONE, Some(now));
        self.of_command(op, |device, op| {
            device.dies[die].end_wait(device.ops.spent_mut(op));
        });
        self.array_begins(clock, die, now + command.array);
    }

    /// The array of a die is at work until `end`, unless a read that came before interrupts it.
    pub(super) fn array_begins(&mut self, clock: &mut Clock, die: DieId, end: Time) {
        clock.plan(Actor::Die(die), end);
        let asked =
            self.suspension.as_mut().is_some_and(|s| std::mem::take(&mut s.dies[die].asked));
        if asked && let Some(at) = self.interruption(die, end, clock.now) {
            if let Some(s) = &mut self.suspension {
                s.dies[die].end = end;
            }
            self.dies[die].phase = Phase::Pausing;
            clock.plan(Actor::Die(die), at);
        }
    }

    /// Checks that dies were busy with suspends for at most as long as these took.
    ///
    /// # Panics
    /// They were busy for longer.
    pub(super) fn check_suspended(&self) {
        let most = self.suspension.as_ref().map_or(TimeSum::ZERO, |s| {
            let Suspends { program, erase } = self.stats.suspends;
            let times = program.total() + erase.total();
            TimeSum::from(s.settings.pause + s.settings.resume) * times
        });
        let booked = self.stats.suspending;
        assert!(booked <= most, "{} ns of suspends that took {} ns", booked.as_ns(), most.as_ns());
    }

    /// Each operation of a command that has an account, those of groups included: none if the command
    /// is a job's.
    pub(super) fn of_command(&mut self, first: u32, mut each: impl FnMut(&mut Self, u32)) {
        if self.ops[first].is_of_job() {
            return;
        }
        let mut at = first;
        while at != NONE {
            let mut member = at;
            while member != NONE {
                each(self, member);
                member = self.ops.also(member);
            }
            at = self.ops[at].next;
        }
    }

    /// The first operation of the interrupted command on a die.
    pub(super) fn paused(&self, die: DieId) -> u32 {
        self.suspension.as_ref().map_or(NONE, |s| s.dies[die].op)
    }

    /// A read goes before the interrupted command: the die chooses anew after it.
    pub(super) fn looks_again(&mut self, die: DieId) {
        if let Some(s) = &mut self.suspension {
            s.dies[die].looked = false;
        }
    }
}

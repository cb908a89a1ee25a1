//! A cache register for the pages of a die: it senses one page while it sends another, and takes one in
//! while it programs another.
//!
//! The register is a server beside its die, with an actor of its own on the clock. A sensed read
//! goes there to be sent, and the die continues. While data is there, only reads and erases begin.
//! A waiting program takes its data in while another is in the array. It begins when that is done,
//! before anything else. Work in the array counts as the die's time. A page in the register waits
//! for the channel, or behind the die.

use super::die::{LANES, Phase, READS};
use super::{Device, Finished};
use crate::clock::{Actor, Clock};
use crate::config::Cache;
use crate::ops::{NONE, more};
use kernel::{Dur, IndexVec, Time};
use nand::{Cause, Command, DieId, OpView, Source, Verb, Waited};

/// The place of a program whose data is in the register, behind the lanes.
pub(super) const LOADED_LANE: usize = LANES + 1;
/// Its bit among those of the lanes.
pub(super) const LOADED: u8 = 1 << LOADED_LANE;

/// The activity of a register.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Free,
    /// The die has begun to program, and the register is free once the data is in the array.
    Emptying,
    /// Has a sensed page, and asks for the channel once the die has gone on.
    Sensed,
    /// Waits for its turn on the channel.
    Waiting,
    Sending,
    /// Takes in the data of the next program.
    Loading,
    /// Has it.
    Loaded,
}

#[derive(Copy, Clone, Debug)]
struct Register {
    state: State,
    op: u32,
    command: Command,
    started: Time,
}

impl Register {
    const FREE: Self = Self {
        state: State::Free,
        op: NONE,
        command: Command::new(Verb::Read, Source::Host, Dur::ZERO),
        started: Time::ZERO,
    };
}

/// The registers of all dies.
pub(super) struct Registers {
    cached: Cache,
    dies: IndexVec<DieId, Register>,
}

/// The consequence when the time of a register has come.
pub(crate) enum Turned {
    /// Nothing.
    Nothing,
    /// It may take in the data of the next program.
    Free,
    /// It has sent the data of a read.
    Sent(Finished),
}

impl Registers {
    pub(super) fn new(cached: Cache, dies: usize) -> Self {
        Self { cached, dies: IndexVec::filled(Register::FREE, dies) }
    }

    fn reads(&self) -> bool {
        self.cached != Cache::Programs
    }

    fn programs(&self) -> bool {
        self.cached != Cache::Reads
    }
}

impl Device {
    fn register(&mut self, die: DieId) -> &mut Register {
        &mut self.registers.as_mut().expect("asked only where there are registers").dies[die]
    }

    /// The operation in the register of a die, if any, and whether it is still being taken in.
    pub(super) fn in_register(&self, die: DieId) -> (u32, bool) {
        let Some(registers) = &self.registers else { return (NONE, false) };
        let Register { state, op, .. } = registers.dies[die];
        match state {
            State::Free | State::Emptying => (NONE, false),
            State::Loading => (op, true),
            State::Sensed | State::Waiting | State::Sending | State::Loaded => (op, false),
        }
    }

    /// Whether reads go through registers.
    #[inline]
    pub(super) fn caches_reads(&self) -> bool {
        self.registers.as_ref().is_some_and(|r| r.reads())
    }

    /// Whether programs do.
    #[inline]
    pub(crate) fn caches_programs(&self) -> bool {
        self.registers.as_ref().is_some_and(|r| r.programs())
    }

    // ── Reads ───────────────────────────────────────────────────────────────────────────────────

    /// A die has sensed: the page goes to its register, if the register is free.
    #[cold]
    pub(super) fn sensed(&mut self, clock: &mut Clock, die: DieId) {
        let now = clock.now;
        if self.register(die).state != State::Free {
            self.dies[die].phase = Phase::Sensed;
            return clock.clear(Actor::Die(die));
        }
        let d = &mut self.dies[die];
        let (op, command, started) = (d.running, d.command, d.started);
        d.finish(now);
        d.running = NONE;
        *self.register(die) = Register { state: State::Sensed, op, command, started };
        clock.plan(Actor::Register(die), now);
    }

    /// The turn of a register on the channel has come.
    pub(super) fn send_register(&mut self, clock: &mut Clock, die: DieId) {
        let parts = self.timing.bus.segments(&self.register(die).command);
        let end = self.channel_of(die).take(clock.now, parts.after);
        self.register(die).state = State::Sending;
        clock.plan(Actor::Register(die), end);
    }

    /// The next work of a die needs the register, which still has data to send. So the die waits.
    #[cold]
    pub(super) fn holds_back(&mut self, clock: &mut Clock, die: DieId) -> bool {
        let verb = self.dies[die].command.verb;
        let busy = self.register(die).state != State::Free;
        if !busy || matches!(verb, Verb::Read | Verb::Erase) {
            return false;
        }
        self.dies[die].phase = Phase::Asking;
        clock.clear(Actor::Die(die));
        true
    }

    // ── Programs ────────────────────────────────────────────────────────────────────────────────

    /// A die has begun a program whose data is in the array from a time on.
    #[cold]
    pub(super) fn empties(&mut self, clock: &mut Clock, die: DieId, at: Time) {
        if self.caches_programs() && self.dies[die].command.verb == Verb::Program {
            self.register(die).state = State::Emptying;
            clock.plan(Actor::Register(die), at);
        }
    }

    /// The lane of the program that a die takes in next, if its register is free and no read waits.
    #[cold]
    pub(crate) fn next_to_load(
        &mut self,
        die: DieId,
        pick: impl FnOnce(&[OpView], &[Waited]) -> usize,
    ) -> Option<usize> {
        if self.dies[die].mask & READS != 0 || self.register(die).state != State::Free {
            return None;
        }
        let lane = self.next_lane_apart(die, pick)?;
        let head = self.dies[die].lanes.get(lane)?.head;
        self.ops[head].programs().then_some(lane)
    }

    /// The first operation of the program that a die carries out, if it does.
    pub(crate) fn programming(&self, die: DieId) -> Option<u32> {
        let d = &self.dies[die];
        let programs = d.phase == Phase::Finishing && d.command.verb == Verb::Program;
        programs.then_some(d.running)
    }

    /// A die takes in the data of its next program.
    pub(crate) fn load(&mut self, clock: &mut Clock, die: DieId, op: u32, command: Command) {
        let parts = self.timing.bus.segments(&command);
        let started = clock.now;
        let end = self.channel_of(die).take(started, parts.before);
        *self.register(die) = Register { state: State::Loading, op, command, started };
        let d = &mut self.dies[die];
        d.mask |= LOADED;
        // Its wait has ended, and the running command was part of that wait.
        let (source, ran) = (d.command.source, started - d.started);
        self.of_command(op, |device, op| {
            more(&mut device.ops.spent_mut(op).queue[source], ran);
        });
        clock.plan(Actor::Register(die), end);
    }

    /// The die goes on with the operation in its register, when its data is there.
    pub(super) fn take_loaded(&mut self, clock: &mut Clock, die: DieId) {
        let register = *self.register(die);
        let d = &mut self.dies[die];
        if register.state == State::Loading {
            d.phase = Phase::Asking;
            return clock.clear(Actor::Die(die));
        }
        let now = clock.now;
        d.mask &= !LOADED;
        d.start(register.op, register.command, now);
        d.phase = Phase::Finishing;
        self.of_command(register.op, |device, op| {
            device.dies[die].end_wait(device.ops.spent_mut(op));
        });
        clock.plan(Actor::Die(die), now + register.command.array);
        self.empties(clock, die, now);
    }

    // ── The agenda ──────────────────────────────────────────────────────────────────────────────

    /// The time of a register has come.
    #[cold]
    pub(crate) fn act_on_register(&mut self, clock: &mut Clock, die: DieId) -> Turned {
        clock.clear(Actor::Register(die));
        let now = clock.now;
        let Register { state, op, command, started } = *self.register(die);
        match state {
            State::Sensed => {
                if self.channel_of(die).ask_to_send(die) {
                    self.send_register(clock, die);
                } else {
                    self.register(die).state = State::Waiting;
                }
                Turned::Nothing
            }
            State::Emptying => {
                *self.register(die) = Register::FREE;
                Turned::Free
            }
            State::Loading => {
                self.register(die).state = State::Loaded;
                self.of_command(op, |device, op| {
                    let spent = device.ops.spent_mut(op);
                    spent.causes[Cause::Bus] += now - started;
                    device.dies[die].begin_wait(spent, now);
                });
                if self.dies[die].phase == Phase::Asking {
                    self.dies[die].close(now);
                    self.take_loaded(clock, die);
                }
                Turned::Nothing
            }
            State::Sending => {
                *self.register(die) = Register::FREE;
                let owner = self.book(op, &command, now - started);
                // The work that waited for the register continues.
                match self.dies[die].phase {
                    Phase::Sensed => self.sensed(clock, die),
                    Phase::Asking => self.begin_at_once(clock, die),
                    _ => {}
                }
                Turned::Sent(Finished { verb: command.verb, first: op, owner })
            }
            State::Free | State::Waiting | State::Loaded => {
                unreachable!("a register that waits plans nothing")
            }
        }
    }
}

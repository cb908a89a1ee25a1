//! A command that pauses another: reads interrupt programs. Files outside of this one: none.
//!
//! An interrupted command is a value beside the die: the command with what is left of it. The law
//! is that of the M/G/1 queue with preemptive resume: reads wait as if there were no programs, and a
//! program stays `E₂/(1 − ρ₁) + (λ₁E[S₁²] + λ₂E[S₂²]) / (2 (1 − ρ₁)(1 − ρ₁ − ρ₂))` (Kleinrock, *Queueing
//! Systems* II, 3.5).

use super::{DIE, PROGRAM, READ, device, operation};
use crate::device::die::Phase;
use crate::device::{Device, LaneId, NONE, Work};
use crate::sim::{Actor, Clock};
use kernel::{Dur, Rng, Time};
use nand::{Bus, Command, Source, Verb};

/// What is left of a command that was interrupted.
struct Paused {
    op: u32,
    command: Command,
}

/// One die, and what its operations came to: their stays in all, and how many.
struct OneDie {
    device: Device,
    clock: Clock,
    paused: Option<Paused>,
    interrupted: u32,
    stays: [(u64, u64); 2],
}

const SERVICE: [Dur; 2] = [READ, PROGRAM];
const LANE: [LaneId; 2] = [LaneId::Read, LaneId::Write];
const WORK: [Work; 2] = [Work::Read, Work::Program];

impl OneDie {
    /// A read (0) or a program (1) comes; a read interrupts a program.
    fn arrive(&mut self, class: usize, at: Time) {
        self.clock.now = at;
        let op = operation(&mut self.device, WORK[class], at);
        let runs = self.device.dies[DIE].phase == Phase::Finishing;
        self.device.queue(&mut self.clock, DIE, LANE[class], op);
        if class == 0 && runs && self.device.dies[DIE].command.verb == Verb::Program {
            self.pause();
            self.choose();
        }
    }

    /// Interrupts what runs; its wait begins.
    fn pause(&mut self) {
        let now = self.clock.now;
        let end = self.clock.planned(Actor::Die(DIE)).expect("a command runs");
        let d = &mut self.device.dies[DIE];
        let (op, left, done) = (d.running, end - now, now - d.started);
        let command = Command::new(d.command.verb, d.command.source, left);
        d.command = Command::new(d.command.verb, d.command.source, done);
        self.device.finish(DIE, now);
        self.device.begin_wait(DIE, op, now);
        self.paused = Some(Paused { op, command });
        self.interrupted += 1;
    }

    /// The die's time has come.
    fn act(&mut self, at: Time) {
        self.clock.now = at;
        if self.device.act(&mut self.clock, DIE) {
            let (_, mut op) = self.device.finish(DIE, at);
            while op != NONE {
                let o = &self.device.ops[op];
                let class = usize::from(o.work != Work::Read);
                // Nothing of the time is lost, however often it was interrupted.
                let stay = (at - o.since).as_ns();
                assert_eq!(o.spent.queue.iter().sum::<u64>() + o.spent.array, stay);
                assert_eq!(o.spent.array, SERVICE[class].as_ns());
                self.stays[class].0 += stay;
                self.stays[class].1 += 1;
                let rest = self.device.take_done(op);
                self.device.ops.remove(op);
                op = rest;
            }
        }
        self.choose();
    }

    /// The die goes on: with a read, if one waits; else with what was interrupted; else with a
    /// program.
    fn choose(&mut self) {
        let Self { device, clock, paused, .. } = self;
        let reads = device.dies[DIE].mask & 1 << LaneId::Read as u8 != 0;
        if !reads && let Some(Paused { op, command }) = paused.take() {
            device.dies[DIE].end_wait(&mut device.ops[op].spent);
            return device.start(clock, DIE, op, command);
        }
        let first_read = |heads: &[ftl::OpView]| usize::from(heads[0].op != ftl::Op::Read);
        let Some(lane) = device.next_lane(DIE, first_read) else { return device.rest(clock, DIE) };
        let op = device.pop(DIE, lane);
        device.dies[DIE].end_wait(&mut device.ops[op].spent);
        let (verb, time) = match device.ops[op].work {
            Work::Read => (Verb::Read, READ),
            _ => (Verb::Program, PROGRAM),
        };
        device.start(clock, DIE, op, Command::new(verb, Source::Host, time));
    }
}

#[test]
fn reads_that_interrupt_programs_wait_as_if_there_were_none() {
    for loads in [[0.1, 0.1], [0.2, 0.3], [0.4, 0.2]] {
        let (device, clock) = device(1, Bus::Included);
        let mut die = OneDie { device, clock, paused: None, interrupted: 0, stays: [(0, 0); 2] };
        let mut rng = Rng::named(1, "sketch");
        let mut after = |at: Time, class: usize| {
            let mean = SERVICE[class].as_ns() as f64 / loads[class];
            at + Dur::ns((rng.exponential() * mean) as u64)
        };
        let mut coming = [after(Time::ZERO, 0), after(Time::ZERO, 1)];
        while die.stays[1].1 < 60_000 {
            let class = usize::from(coming[1] < coming[0]);
            if let Some((at, _)) = die.clock.next().filter(|(at, _)| *at <= coming[class]) {
                die.act(at);
            } else {
                die.arrive(class, coming[class]);
                coming[class] = after(coming[class], class);
            }
        }
        assert!(die.interrupted > 1000);
        let (e1, e2) = (READ.as_ns() as f64, PROGRAM.as_ns() as f64);
        let [reads, programs] = loads;
        let read = e1 + reads * e1 / (2.0 * (1.0 - reads));
        let waits = (reads * e1 + programs * e2) / (2.0 * (1.0 - reads) * (1.0 - reads - programs));
        let program = e2 / (1.0 - reads) + waits;
        for (class, law) in [read, program].into_iter().enumerate() {
            let (sum, n) = die.stays[class];
            let mean = sum as f64 / n as f64;
            assert!((mean / law - 1.0).abs() < 0.02, "{loads:?}: {mean} for {law}");
        }
    }
}

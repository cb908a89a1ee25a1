//! Reads that interrupt programs and erases, and reads that do not.
//!
//! Without interruption, reads that go first wait `Σ λᵢE[Sᵢ²] / 2(1 − ρ_r)` (Kleinrock, *Queueing
//! Systems* II, 3.3: the head of the line).
//! If they interrupt in no time, they wait as if nothing else were there. A program or an erase
//! then stays `E[S]/(1 − ρ_r) + Σ λᵢE[Sᵢ²] / 2(1 − ρ_r)(1 − ρ)` (3.5: preemptive resume).
//! If an interruption takes `t`, a read that comes while no other is there finds the array at work
//! with probability `q = ρ_w/p₀`, where `p₀ = 1 − ρ_r − λ_r ρ_w t`. This is a queue whose server
//! needs `D` before each busy period: `t` with probability `q`. It adds
//! `(2E[D] + λ_r E[D²]) / 2(1 + λ_r E[D])` (Welch, *Operations Research* 12, 1964).

use super::*;
use crate::clock::Actor;
use crate::device::LaneId;
use crate::device::die::{PAUSED_LANE, Phase};
use ftl::Order;
use kernel::{Rng, TimeSum};
use nand::{Cause, Command, Each, Source, Verb};
use policies::OrderPolicy;
use serde_json::Map;

const SERVICE: [Dur; 3] = [READ, PROGRAM, ERASE];
const LANE: [LaneId; 3] = [LaneId::Read, LaneId::Write, LaneId::Write];
const VERB: [Verb; 3] = [Verb::Read, Verb::Program, Verb::Erase];

fn class_of(device: &Device, op: u32) -> usize {
    let verb = device.ops[op].operation.verb;
    VERB.iter().position(|v| *v == verb).expect("one of three")
}

/// One operation that is done.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Done {
    class: usize,
    at: Time,
    stay: Dur,
    /// Suspends that its stay was behind.
    suspend: Dur,
}

/// One die with an order policy.
struct OneDie {
    device: Device,
    clock: Clock,
    order: OrderPolicy,
    done: Vec<Done>,
    /// Reads that are yet to come, each when another is done.
    follow: u32,
    /// The time of an operation on the channel.
    channel: Dur,
    /// The source of programs and erases.
    source: Source,
}

impl OneDie {
    fn new(order: &str, suspend: Option<Suspend>) -> Self {
        Self::on(Bus::Included, order, suspend)
    }

    fn on(bus: Bus, order: &str, suspend: Option<Suspend>) -> Self {
        let (mut device, clock) = device(1, bus, suspend);
        let channel = match bus {
            Bus::Included => Dur::ZERO,
            Bus::Modelled { command, .. } => command,
        };
        let named = [("order".to_owned(), order.to_owned(), Map::new())];
        let order = policies::PolicySet::resolve(&named, None).expect("on the list").build().order;
        device.first_come = order.is_first_come();
        Self { device, clock, order, done: Vec::new(), follow: 0, channel, source: Source::Host }
    }

    fn arrive(&mut self, class: usize, at: Time) {
        self.clock.now = at;
        let op = operation(&mut self.device, VERB[class], at);
        let Self { device, clock, order, .. } = self;
        device.ops[op].seq = device.ops.next_place();
        device.queue(clock, DIE, LANE[class], op);
        if class == 0 && device.suspends() {
            device.interrupt(clock, DIE, op, |runs, waited, read| {
                order.may_suspend(runs, waited, read, at)
            });
        }
    }

    /// All that the die does until a time.
    fn run_until(&mut self, until: Time) {
        while let Some((at, Actor::Die(_))) = self.clock.next().filter(|(at, _)| *at <= until) {
            self.clock.now = at;
            if let Some(done) = self.device.act(&mut self.clock, DIE) {
                self.note(done.first, at);
                self.choose();
                if self.follow > 0 && self.done.last().is_some_and(|d| d.class == 0) {
                    self.follow -= 1;
                    self.arrive(0, at);
                }
            } else if self.device.is_choosing(DIE) {
                self.choose();
            }
        }
    }

    fn note(&mut self, op: u32, at: Time) {
        let o = &self.device.ops[op];
        let (class, stay) = (class_of(&self.device, op), at - o.since);
        // Nothing of the time is lost, however often it was interrupted.
        let own = (SERVICE[class], self.channel);
        let spent = self.device.ops.spent(op);
        let of = |cause| spent.causes[cause];
        assert_eq!((of(Cause::Array), of(Cause::Bus)), own);
        assert_eq!(spent.sum::<Dur>(), stay);
        let suspend = of(Cause::Suspend);
        self.done.push(Done { class, at, stay, suspend });
        self.device.ops.remove(op);
    }

    fn choose(&mut self) {
        let Self { device, clock, order, .. } = self;
        let now = clock.now;
        let next = if device.chooses_apart() {
            device.next_lane_apart(DIE, |heads, waits| order.pick_by_waits(heads, waits, now))
        } else {
            device.next_lane(DIE, |heads| order.pick(heads, now))
        };
        match next {
            None => device.rest(clock, DIE),
            Some(PAUSED_LANE) => device.go_on_with(clock, DIE, PAUSED_LANE),
            Some(lane) => {
                let op = device.pop(DIE, lane);
                device.dies[DIE].end_waits(&mut device.ops, op);
                let class = class_of(device, op);
                let source = if class == 0 { Source::Host } else { self.source };
                let command = Command::new(VERB[class], source, SERVICE[class]);
                device.start(clock, DIE, op, command);
            }
        }
    }
}

// ── Queues ──────────────────────────────────────────────────────────────────────────────────────

/// Mean stays by class under Poisson arrivals of these loads.
fn stays(mut die: OneDie, loads: [f64; 3], reads: usize) -> [f64; 3] {
    let mut rng = Rng::named(1, "laws");
    let mut after = |at: Time, class: usize| {
        let mean = SERVICE[class].as_ns() as f64 / loads[class];
        at + Dur::ns((rng.exponential() * mean) as u64)
    };
    let mut coming = [0, 1, 2].map(|class| after(Time::ZERO, class));
    let (mut sums, mut counts) = ([0.0; 3], [0; 3]);
    while counts[0] < reads {
        let class = (0..3).min_by_key(|&class| coming[class]).expect("three classes");
        let at = coming[class];
        die.run_until(at);
        die.arrive(class, at);
        coming[class] = after(at, class);
        for done in die.done.drain(..) {
            sums[done.class] += done.stay.as_ns() as f64;
            counts[done.class] += 1;
        }
    }
    [0, 1, 2].map(|class| sums[class] / f64::from(counts[class] as u32))
}

/// The terms of the laws: arrivals a nanosecond, mean times, loads, `Σ λᵢE[Sᵢ²] / 2`.
struct Terms {
    read_rate: f64,
    read: f64,
    read_load: f64,
    others: f64,
    residual: f64,
    read_residual: f64,
}

fn terms(loads: [f64; 3]) -> Terms {
    let time = SERVICE.map(|s| s.as_ns() as f64);
    let residual = (0..3).map(|i| loads[i] * time[i] / 2.0);
    Terms {
        read_rate: loads[0] / time[0],
        read: time[0],
        read_load: loads[0],
        others: loads[1] + loads[2],
        residual: residual.sum(),
        read_residual: loads[0] * time[0] / 2.0,
    }
}

#[track_caller]
fn near(what: &str, found: f64, law: f64) {
    let off = found / law - 1.0;
    println!("{what}: {found:.0} | {law:.0} | {:+.2} %", off * 100.0);
    assert!(off.abs() < 0.02, "{what}: {found} for {law}");
}

/// Half of the load are reads, the rest programs and erases by halves.
fn mixed(load: f64) -> [f64; 3] {
    [load / 2.0, load / 4.0, load / 4.0]
}

const LOADS: [f64; 3] = [0.2, 0.5, 0.8];
const ENOUGH: usize = 2_500_000;

#[test]
fn reads_that_go_first_wait_for_what_runs() {
    for load in LOADS {
        let loads = mixed(load);
        let t = terms(loads);
        let [read, ..] = stays(OneDie::new("read-first", None), loads, ENOUGH);
        near(&format!("read at {load}"), read - t.read, t.residual / (1.0 - t.read_load));
        // In the order in which they come all wait alike: Pollaczek and Khinchine.
        let [read, program, _] = stays(OneDie::new("fifo", Some(FREE)), loads, ENOUGH);
        let wait = t.residual / (1.0 - load);
        near(&format!("read in turn at {load}"), read - t.read, wait);
        near(&format!("program in turn at {load}"), program - PROGRAM.as_ns() as f64, wait);
    }
}

#[test]
fn reads_that_interrupt_wait_as_if_there_were_nothing_else() {
    for load in LOADS {
        let loads = mixed(load);
        let t = terms(loads);
        let all = stays(OneDie::new("read-first", Some(FREE)), loads, ENOUGH);
        let wait = t.read_residual / (1.0 - t.read_load);
        near(&format!("read at {load}"), all[0] - t.read, wait);
        let wait = t.residual / (1.0 - t.read_load) / (1.0 - load);
        for (class, what) in [(1, "program"), (2, "erase")] {
            let own = SERVICE[class].as_ns() as f64 / (1.0 - t.read_load);
            near(&format!("{what} at {load}"), all[class], own + wait);
        }
    }
}

#[test]
fn reads_that_interrupt_wait_until_the_die_takes_them() {
    let pause = Dur::us(10);
    for load in LOADS {
        let loads = mixed(load);
        let t = terms(loads);
        let die = OneDie::new("read-first", Some(Suspend { pause, ..FREE }));
        let [read, ..] = stays(die, loads, ENOUGH);
        let takes = pause.as_ns() as f64;
        let none = 1.0 - t.read_load - t.read_rate * t.others * takes;
        let mean = t.others / none * takes;
        let square = mean * takes;
        let setup = (2.0 * mean + t.read_rate * square) / (2.0 * (1.0 + t.read_rate * mean));
        let wait = t.read_residual / (1.0 - t.read_load) + setup;
        near(&format!("read at {load}"), read - t.read, wait);
    }
}

// ── By hand ─────────────────────────────────────────────────────────────────────────────────────

fn us(n: u64) -> Time {
    Time::ZERO + Dur::us(n)
}

/// An operation at time zero, and reads at some times in microseconds.
fn with_reads(class: usize, suspend: Suspend, reads: &[u64]) -> Vec<Done> {
    let mut die = OneDie::new("read-first", Some(suspend));
    die.arrive(class, Time::ZERO);
    for &at in reads {
        die.run_until(us(at));
        die.arrive(0, us(at));
    }
    die.run_until(us(100_000));
    assert_eq!(die.device.ops.live(), 0);
    die.done
}

const TIMED: Suspend = Suspend { pause: Dur::us(20), resume: Dur::us(30), ..FREE };

fn done(class: usize, at: u64, stay: u64, suspend: u64) -> Done {
    Done { class, at: us(at), stay: Dur::us(stay), suspend: Dur::us(suspend) }
}

#[test]
fn an_erase_takes_its_time_and_that_of_its_suspends() {
    for n in 0..10 {
        let reads: Vec<u64> = (0..n).map(|i| 100 + i * 200).collect();
        let all = with_reads(2, TIMED, &reads);
        let busy = 3_000 + n * (20 + 30);
        assert_eq!(all.last(), Some(&done(2, busy + n * 50, busy + n * 50, n * 50)));
        for (i, read) in all[..n as usize].iter().enumerate() {
            assert_eq!(*read, done(0, 100 + i as u64 * 200 + 70, 70, 20), "pause and read");
        }
    }
    // Reads that come together share a suspend. One that comes while the array is about to go on waits
    // for that, and for the next.
    let all = with_reads(1, TIMED, &[100, 100, 110, 280]);
    let reads = [(170, 70, 20), (220, 120, 20), (270, 160, 10), (370, 90, 40)];
    let reads = reads.map(|(at, stay, suspend)| done(0, at, stay, suspend));
    let program = 600 + 4 * 50 + 2 * 50;
    assert_eq!(all, [&reads[..], &[done(1, program, program, 100)]].concat());
}

/// It has crossed the channel before its array began, and does so once.
#[test]
fn what_is_interrupted_has_been_on_the_channel_once() {
    let bus = Bus::Modelled { command: Dur::us(1), page: Dur::ZERO };
    let mut die = OneDie::on(bus, "read-first", Some(TIMED));
    die.arrive(1, Time::ZERO);
    for at in [100, 301] {
        die.run_until(us(at));
        die.arrive(0, us(at));
    }
    die.run_until(us(100_000));
    // A pause of 20, 1 on the channel, a read of 50, 30 until the array goes on: at 201, and at 402, after
    // 99 and 100 of its 600.
    let reads = [100, 301].map(|at| done(0, at + 71, 71, 20));
    assert_eq!(die.done, [reads[0], reads[1], done(1, 803, 803, 100)]);
}

/// A client that reads one page after the other does not wait for anything in between.
#[test]
fn a_read_that_follows_upon_the_last_finds_the_die_interrupted() {
    let mut die = OneDie::new("read-first", Some(TIMED));
    die.follow = 4;
    die.arrive(1, Time::ZERO);
    die.run_until(us(100));
    die.arrive(0, us(100));
    die.run_until(us(100_000));
    let stays: Vec<Dur> = die.done.iter().map(|d| d.stay).collect();
    assert_eq!(stays, [70, 50, 50, 50, 50, 600 + 50 + 5 * 50].map(Dur::us));
}

#[test]
fn nothing_is_interrupted_more_often_than_the_limit_says() {
    for limit in [1, 3] {
        let reads: Vec<u64> = (0..10).map(|i| 100 + i * 200).collect();
        let all = with_reads(2, Suspend { limit, ..TIMED }, &reads);
        let end = all.iter().find(|d| d.class == 2).expect("it ends").at;
        assert_eq!(end, us(3_000 + u64::from(limit) * (20 + 30 + 50)));
        let at_once = all.iter().filter(|d| d.class == 0 && d.stay == Dur::us(70)).count();
        assert_eq!(at_once, limit as usize, "the others wait for its end");
    }
}

#[test]
fn the_array_is_at_work_for_a_while_from_one_interruption_to_the_next() {
    let suspend = Suspend { min_progress: Dur::us(200), ..TIMED };
    // The first read interrupts a command that has just begun. The array goes on at 150, and for
    // the second read stops after 200 more; it goes on at 450, and for the third stops at 650.
    let all = with_reads(1, suspend, &[50, 200, 460, 760]);
    let reads = [done(0, 120, 70, 20), done(0, 420, 220, 20), done(0, 720, 260, 20)];
    assert_eq!(all[..3], reads);
    // 150 are left from 750 on: the last read cannot interrupt that before it is done.
    assert_eq!(all[3..], [done(1, 900, 900, 150), done(0, 950, 190, 0)]);
}

#[test]
fn an_erase_in_loops_ends_its_loop() {
    let suspend = Suspend { erase_loops: Some(3), ..TIMED };
    // Loops of 1000: the first ends at 1000, the second 1000 after it goes on at 1100; the third is the
    // last.
    let all = with_reads(2, suspend, &[10, 1_150, 2_300]);
    let reads = [done(0, 1_070, 1_060, 20), done(0, 2_170, 1_020, 20), done(0, 3_250, 950, 0)];
    let erase = done(2, 3_200, 3_200, 100);
    assert_eq!(all, [reads[0], reads[1], erase, reads[2]]);
    // Between two loops it can be interrupted at once.
    assert_eq!(with_reads(2, suspend, &[1_000])[0], done(0, 1_070, 70, 20));
}

#[test]
fn what_is_nearly_done_is_not_interrupted() {
    assert_eq!(with_reads(1, TIMED, &[579])[0], done(0, 649, 70, 20));
    assert_eq!(with_reads(1, TIMED, &[580])[0], done(1, 600, 600, 0));
}

#[test]
fn only_what_is_said_is_interrupted() {
    for (operations, first) in [(Interruptible::Programs, [0, 2]), (Interruptible::Erases, [1, 0])]
    {
        let suspend = Suspend { operations, ..TIMED };
        let ends = [1, 2].map(|class| with_reads(class, suspend, &[100])[0].class);
        assert_eq!(ends, first, "{operations:?}");
    }
}

/// Suspends have an account of their own, for every source of the interrupted command: a program of
/// 600, and a read of the host of 50 that interrupts it.
#[test]
fn the_time_of_suspends_is_no_sources() {
    for source in Source::ALL {
        let mut die = OneDie::new("read-first", Some(TIMED));
        die.source = source;
        die.arrive(1, Time::ZERO);
        die.run_until(us(100));
        die.arrive(0, us(100));
        die.run_until(us(100_000));
        die.device.sum_up(us(700));
        let stats = &die.device.stats;
        let mut busy = Each::<Source, TimeSum>::default();
        busy[source] += Dur::us(600);
        busy[Source::Host] += Dur::us(50);
        assert_eq!(stats.busy, busy);
        assert_eq!(stats.suspending, Dur::us(20 + 30).into());
        assert_eq!((stats.suspends.program[source], stats.suspends.program.total()), (1, 1));
    }
}

/// More time of suspends than they took would be time that somebody lost.
#[test]
#[should_panic(expected = "50000 ns of suspends that took 0 ns")]
fn suspends_take_no_longer_than_is_set() {
    let (mut device, mut clock) = device(1, Bus::Included, None);
    let op = operation(&mut device, Verb::Read, Time::ZERO);
    device.start(&mut clock, DIE, op, Command::new(Verb::Read, Source::Map, READ));
    device.dies[DIE].phase = Phase::Suspending;
    device.sum_up(us(50));
}

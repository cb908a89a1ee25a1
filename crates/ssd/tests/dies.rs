//! The order of operations on a die, and the suspension of operations: each mechanism against its
//! formula.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    self, Class, PAGE, class_of, close, drive, generate, number, policies_of, read, serve,
    try_drive, urgent, write,
};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{ftl_of, generator, precondition};
use ftl::{Cost, Interests, Lpn, Policies, Watch, WriteCtx};
use kernel::{Rng, Time};
use nand::physics::{Cell, STEP_VOLTS};
use nand::{Geometry, Level, Ppn, Source, Tag};
use policies::CostPolicy;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use workload::Request;

/// Times of the array on the drive of the tests, in ns.
const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;

fn both(value: &Value) -> (Class, Class) {
    (class_of(value, "read"), class_of(value, "write"))
}

// ── Reads first, within a bound ─────────────────────────────────────────────────────────────────

/// Between two reads of the flood, in ns: more than the die can serve.
const GAP: u64 = 40_000;
const FLOOD: u64 = 10_000;

/// Reads without a pause, and now and then a write of another page, at no time at which a read comes.
fn flood() -> Vec<Request> {
    let mut all: Vec<Request> = (0..FLOOD).map(|i| read(i * GAP, i % 32)).collect();
    all.extend((0..20).map(|i| write(1_010_000 + i * 17_000_000, 32 + i)));
    all.sort_by_key(|r| r.at);
    all
}

fn under_flood(order: &str) -> (Class, Class) {
    let order = format!("policy order={order}");
    both(&serve(&drive(&[order.as_str(), "precondition.fill=full"]), flood()))
}

#[test]
fn writes_starve_under_a_flood_of_reads_unless_there_is_a_bound() {
    // All reads go first, so the flood is over when a write begins.
    let (_, starved) = under_flood("read-first");
    let last = 1_010_000 + 19 * 17_000_000;
    assert!(starved.min >= FLOOD * READ - last, "{starved:?}");
    assert!(starved.max >= FLOOD * READ - 1_010_000, "{starved:?}");
    // A write waits for the read that runs when its time is up, and then goes.
    for wait in [0, 1_000_000, 5_000_000] {
        let (reads, writes) =
            under_flood(&format!("bounded-read-first:reads=1000000:wait={wait}ns"));
        assert!((wait..wait + READ).contains(&(writes.min - PROGRAM)), "{wait}: {writes:?}");
        assert!((wait..wait + READ).contains(&(writes.max - PROGRAM)), "{wait}: {writes:?}");
        assert!(writes.queue[1..].iter().all(|ns| *ns == 0.0), "all of it behind the host");
        assert!(reads.max < starved.max, "reads wait for 20 programs more, and writes for none");
    }
    // Each count of reads, after the one that runs when they come.
    for reads in [1, 20, 300] {
        let (_, writes) = under_flood(&format!("bounded-read-first:reads={reads}:wait=1h"));
        assert!((reads * READ..(reads + 1) * READ).contains(&(writes.min - PROGRAM)));
        assert!((reads * READ..(reads + 1) * READ).contains(&(writes.max - PROGRAM)));
    }
}

/// Garbage collection is late as writes are. A write that waits for a block has waited when it
/// comes to its die, so only operations that are late too go before it there.
#[test]
fn writes_that_wait_for_a_block_wait_for_its_collection_within_the_bound() {
    let longest = |order: &str| {
        let mut all: Vec<Request> = (0..40_000).map(|i| read(i * GAP, i % 32)).collect();
        all.extend((0..150).map(|i| write(1_010_000 + i * 10_000_000, 32 + i % 32)));
        all.sort_by_key(|r| r.at);
        let value = serve(&drive(&[order, "precondition.fill=full"]), all);
        assert!(value["flash"]["erase"]["gc"].as_u64().unwrap() > 5);
        assert_eq!(value["flash"]["program"]["gc"], 0, "blocks are empty when they are collected");
        both(&value).1.max
    };
    assert!(longest("policy order=read-first") > 400_000_000);
    // Until its time is up an erase waits, with a read on the die then; and then the write goes.
    let wait = 1_000_000;
    let most = wait + READ + ERASE + PROGRAM;
    let bounded = longest("policy order=bounded-read-first:reads=1000000:wait=1ms");
    assert!(bounded <= most, "{bounded} instead of {most}");
}

// ── Suspend ─────────────────────────────────────────────────────────────────────────────────────

const SUSPEND: &str = "timing.suspend={ pause = \"20us\", resume = \"30us\" }";

/// Reads that follow each other slowly, and writes beside that keep collection busy.
fn one_read_at_a_time(gap: u64, others: u64) -> Vec<Request> {
    let mut rng = Rng::named(5, "test/dies");
    let mut all: Vec<Request> =
        (0..20_000).map(|i| read(i * gap + u64::from(rng.below(gap as u32 / 2)), i % 64)).collect();
    let writes = 20_000 * gap / others;
    all.extend((0..writes).map(|i| write(i * others + 77, rng.below(64).into())));
    all.sort_by_key(|r| r.at);
    all
}

#[test]
fn a_read_waits_for_a_suspend_and_no_longer() {
    let serve = |own: &[&str]| {
        let own = [own, &["precondition.fill=full", "ftl.pending-read=memory"]].concat();
        let value = serve(&drive(&own), one_read_at_a_time(400_000, 8_000_000));
        assert!(value["flash"]["erase"]["gc"].as_u64().unwrap() > 100);
        assert!(value["flash"]["program"]["gc"].as_u64().unwrap() > 100);
        value
    };
    let with = |order: &str, suspend: &[&str]| {
        let order = format!("policy order={order}");
        serve(&[&[order.as_str()], suspend].concat())
    };
    // In any order a read waits for a whole erase.
    let plain = class_of(&with("read-first", &[]), "read");
    assert!(plain.max > ERASE && plain.max <= ERASE + READ, "{}", plain.max);
    let value = with("read-first", &[SUSPEND]);
    let (reads, writes) = both(&value);
    // One that comes as the array is about to go on waits for both; one that comes as collection reads,
    // for that read, which takes as long.
    assert!(reads.max > 20_000 + READ && reads.max <= 20_000 + 30_000 + READ, "{}", reads.max);
    assert!(reads.suspend > 0.0 && writes.suspend > 0.0);
    // Reads of collection go on.
    let at_once = with("read-first", &["timing.suspend={ pause = \"20us\", resume = \"0ns\" }"]);
    assert!(class_of(&at_once, "read").max <= READ + READ);
    let of = |verb: &str| value["flash"]["suspends"][verb]["gc"].as_u64().unwrap();
    assert!(of("program") > 100 && of("erase") > 100);
    assert!(value["flash"]["suspends"]["program"]["host"].as_u64().unwrap() > 100);
    // An order changes nothing on a drive without a mechanism that it controls.
    let fifo = [with("fifo", &[]), with("fifo", &[SUSPEND])].map(|v| v["host"].to_string());
    assert_eq!(fifo[0], fifo[1], "first come, first served: nothing is interrupted");
    assert!(with("fifo", &[])["flash"]["suspends"].is_null());
}

/// A write of an urgent flow is not interrupted by reads that are not urgent.
#[test]
fn urgent_reads_interrupt_what_is_not_urgent() {
    let script = vec![
        write(0, 0),
        read(100_000, 1),
        urgent(read(200_000, 2)),
        urgent(write(10_000_000, 3)),
        urgent(read(10_100_000, 4)),
    ];
    let own = ["policy order=priority", SUSPEND, "precondition.fill=full"];
    let value = serve(&drive(&own), script);
    let suspends = &value["flash"]["suspends"];
    assert_eq!(
        (&suspends["program"]["total"], &suspends["erase"]["total"]),
        (&1.into(), &0.into())
    );
    // The urgent read waits for the pause alone, the other for the write and the resume.
    let reads = class_of(&value, "read");
    let (pause, resume) = (20_000, 30_000);
    let plain = PROGRAM - 100_000 + pause + READ + resume + READ;
    let first = pause + READ;
    let last = PROGRAM - 100_000 + READ;
    assert_eq!(reads.mean * 3.0, (plain + first + last) as f64);
    assert_eq!(reads.max, plain);
}

/// A drive that inherits suspends can do without: it is the drive without the section, and its
/// cache register may take programs.
#[test]
fn suspends_of_none_are_no_suspends() {
    let none = SUSPEND.replace("{ ", "{ operations = \"none\", ");
    let (off, without) = (drive(&[&none]), drive::<&str>(&[]));
    assert_eq!(off.resolved, without.resolved);
    assert!(off.suspend.is_none());
    let bus = "timing.bus={ rate = \"1600MT/s\", width-bits = 8, command = \"300ns\" }";
    let cached = ["timing.cache=all", bus, SUSPEND];
    let refused = try_drive(common::BASE, &cached).unwrap_err();
    assert!(refused.contains("`timing.cache`"), "{refused}");
    assert!(try_drive(common::BASE, &["timing.cache=all", bus, &none]).is_ok());
}

/// A suspended operation is overdue after a while, and then resumes before reads.
#[test]
fn what_is_interrupted_goes_on_within_its_bound() {
    let order = "policy order=bounded-read-first:reads=1000000:wait=5ms";
    let own = [order, SUSPEND, "precondition.fill=full"];
    let writes = both(&serve(&drive(&own), flood())).1;
    // It lets reads pass until its time is up, and is not interrupted then.
    let most = 5_000_000 + READ + PROGRAM + 20_000 + 30_000;
    assert!(writes.max > 5_000_000 && writes.max <= most, "{writes:?}");
}

/// A read of a page whose program is interrupted gets it when it is there, or from memory.
#[test]
fn a_page_under_an_interrupted_program_is_never_old() {
    for (pending, stay) in [("wait", PROGRAM - 100_000 + READ), ("memory", 0)] {
        let pending = format!("ftl.pending-read={pending}");
        let own = ["policy order=read-first", SUSPEND, &pending, "precondition.fill=full"];
        // The page is read while its program runs, and while that is interrupted by another read.
        let script = vec![write(0, 0), read(100_000, 0)];
        let alone = both(&serve(&drive(&own), script.clone())).0;
        assert_eq!(alone.max, stay);
        let script = [script, vec![read(110_000, 9), read(120_000, 0)]].concat();
        let (reads, writes) = both(&serve(&drive(&own), script));
        assert_eq!(writes.max, PROGRAM + 20_000 + READ + 30_000);
        let (pause, resume) = (20_000, 30_000);
        // The page's readers come one after the other, when it is there.
        let [first, last] = [100_000, 120_000].map(|at| match stay {
            0 => 0,
            _ => PROGRAM + pause + READ + resume - at + READ,
        });
        let last = if stay == 0 { 0 } else { last + READ };
        assert_eq!(reads.mean * 3.0, (first + (pause + READ) + last) as f64);
    }
}

/// A die that pauses takes the power of the interrupted command, and does not idle.
#[test]
fn a_suspend_takes_the_power_of_what_is_interrupted() {
    let energy =
        "energy={ read = \"5uJ\", program = \"60uJ\", erase = \"90uJ\", idle-power = \"10mW\" }";
    let own = ["policy order=read-first", SUSPEND, energy, "precondition.fill=full"];
    let value = serve(&drive(&own), one_read_at_a_time(400_000, 8_000_000));
    let joules = |key: &str| number(&value["energy_joules"][key]);
    let suspends = |verb: &str| number(&value["flash"]["suspends"][verb]["total"]);
    let total = |verb: &str| number(&value["flash"][verb]["total"]);
    let (program, erase) = (total("program") * 60e-6, total("erase") * 90e-6);
    let each = 50e-6;
    close(
        "program",
        joules("program"),
        program + suspends("program") * each * 60e-6 / 600e-6,
        1e-9,
    );
    close("erase", joules("erase"), erase + suspends("erase") * each * 90e-6 / 3e-3, 1e-9);
    let busy = (total("read") * 50e-6 + total("program") * 600e-6 + total("erase") * 3e-3)
        + (suspends("program") + suspends("erase")) * each;
    let span = number(&value["simulated_seconds"]);
    close("idle", joules("idle"), (span - busy) * 10e-3, 1e-3);
    let sources = value["energy_split"]["source"].as_object().unwrap();
    close("sources", sources.values().map(number).sum(), joules("total") - joules("idle"), 1e-9);
}

// ── The cache register ─────────────────────────────────────────────────────────────────────────

/// A channel that carries a page of 4 KiB in `page_ns` nanoseconds, and commands in no time.
fn bus(page_ns: u64) -> String {
    let rate = PAGE * 1_000_000 / page_ns;
    assert_eq!(rate * page_ns, PAGE * 1_000_000, "whole transfers");
    format!("timing.bus={{ rate = \"{rate}kT/s\", command = \"0ns\" }}")
}

/// Bytes a second of pages in a closed loop, without the first and the last.
fn rate(own: &[&str], dies: u64, op: &str) -> f64 {
    let dies = format!("geometry.chips-per-channel={dies}");
    let share = format!("workload.read-share={}", u8::from(op == "read"));
    let requests = 20_000;
    let all = [
        &[
            dies.as_str(),
            &share,
            "geometry.blocks-per-plane=4096",
            "host.mode=queue-depth",
            "host.queue-depth=64",
            "ftl.unmapped-read=flash",
            "workload.requests=20000",
            "workload.size=4KiB",
        ],
        own,
    ]
    .concat();
    let value = generate(&drive(&all), &format!("sequential-{op}"));
    f64::from(requests) / number(&value["simulated_seconds"])
}

#[test]
fn cached_reads_run_at_the_slower_of_sensing_and_sending() {
    for page_ns in [10_000, 50_000, 80_000] {
        let bus = bus(page_ns);
        let (read, page) = (READ as f64 * 1e-9, page_ns as f64 * 1e-9);
        close("one after the other", rate(&[&bus], 1, "read"), 1.0 / (read + page), 1e-3);
        let cached = [bus.as_str(), "timing.cache=reads"];
        close("cached", rate(&cached, 1, "read"), 1.0 / read.max(page), 1e-3);
        // Dies that share a channel fill it.
        let both = (2.0 / read).min(1.0 / page);
        close("cached, two dies", rate(&cached, 2, "read"), both, 2e-3);
        let programs = [bus.as_str(), "timing.cache=programs"];
        close("cached programs", rate(&programs, 1, "read"), 1.0 / (read + page), 1e-3);
    }
    // The next command goes before the data, and takes its time on the channel.
    let bus = bus(10_000).replace("\"0ns\"", "\"1us\"");
    close("commands", rate(&[&bus, "timing.cache=all"], 1, "read"), 1.0 / 51e-6, 1e-3);
}

#[test]
fn cached_programs_run_at_the_slower_of_programming_and_taking_in() {
    for page_ns in [100_000, 500_000, 800_000] {
        let bus = bus(page_ns);
        let (program, page) = (PROGRAM as f64 * 1e-9, page_ns as f64 * 1e-9);
        close("one after the other", rate(&[&bus], 1, "write"), 1.0 / (program + page), 1e-3);
        for cache in ["timing.cache=programs", "timing.cache=all"] {
            let cached = rate(&[&bus, cache], 1, "write");
            close(cache, cached, 1.0 / program.max(page), 1e-3);
        }
        let reads = rate(&[&bus, "timing.cache=reads"], 1, "write");
        close("cached reads", reads, 1.0 / (program + page), 1e-3);
    }
}

/// Three reads of one die, page by page: the second is sensed while the first is sent.
#[test]
fn a_page_in_the_register_waits_for_the_channel() {
    let own = [&bus(80_000), "timing.cache=reads", "precondition.fill=full"];
    let value = serve(&drive(&own), vec![read(0, 0), read(0, 1), read(0, 2)]);
    let r = class_of(&value, "read");
    // The third is sensed at 150 us, when the second has left the die for the register at 130.
    let ends = [READ + 80_000, READ + 160_000, READ + 240_000];
    assert_eq!(r.mean * 3.0, ends.iter().sum::<u64>() as f64);
    assert_eq!(r.array, READ as f64);
    // The second waits 50 us for the die, the third until the second is in the register.
    assert_eq!(r.queue[0] * 3.0, (READ + READ + 80_000) as f64);
}

/// An operation that overtakes a read once does not do so twice: its data wait outside while a read
/// waits.
#[test]
fn no_program_is_taken_in_while_a_read_waits() {
    let bus = bus(80_000);
    let own = [&bus, "timing.cache=programs", "policy order=priority", "precondition.fill=full"];
    let script = vec![write(0, 0), read(100_000, 9), urgent(write(200_000, 1))];
    let (reads, writes) = both(&serve(&drive(&own), script));
    // The urgent write crosses the channel when the first is done, and the read comes after both.
    let end = 2 * (80_000 + PROGRAM);
    assert_eq!((writes.max, reads.max), (end - 200_000, end + READ + 80_000 - 100_000));
}

/// A program waits until the register is empty, and an erase does not. Programs of a block keep
/// their order, and the data read is the data written.
#[test]
fn collection_goes_through_the_register() {
    for cache in ["reads", "programs", "all"] {
        for order in ["fifo", "read-first", "bounded-read-first"] {
            let (cache, order) = (format!("timing.cache={cache}"), format!("policy order={order}"));
            let own = [&bus(20_000), &cache, &order, "precondition.fill=full"];
            println!("{own:?}");
            let value = serve(&drive(&own), one_read_at_a_time(150_000, 8_000_000));
            assert!(value["flash"]["erase"]["gc"].as_u64().unwrap() > 30);
        }
    }
}

/// Work that keeps its die lets no program of others into the register; work that does not keep it does.
#[test]
fn whoever_keeps_a_die_keeps_its_register() {
    let moves = 8 * (READ + 20_000 + 20_000 + PROGRAM);
    // The data are on the die at 220 us, and the first page is programmed at 690 us.
    let (after, beside) = (moves + ERASE + 20_000 + PROGRAM, 690_000 + PROGRAM);
    for (preemptible, end) in [("no", after), ("yes", beside)] {
        let policy = format!("policy read-disturb=refresh:limit=3:preemptible={preemptible}");
        let own = [&bus(20_000), "timing.cache=programs", &policy, "precondition.fill=full"];
        // The third read brings its block to its limit. A write comes while the first page is programmed.
        let second = 1_000_000_000;
        let begin = 2 * second + READ + 20_000;
        let mut script = vec![read(0, 0), read(second, 0), read(2 * second, 0)];
        script.push(write(begin + 200_000, 9));
        let (_, writes) = both(&serve(&drive(&own), script));
        assert_eq!(writes.max, end - 200_000, "{preemptible}");
    }
}

#[test]
fn a_second_register_needs_a_channel() {
    let refused = |own: &[&str]| try_drive(common::BASE, own).unwrap_err();
    assert!(refused(&["timing.cache=reads"]).contains("needs a channel that is modelled"));
    let data = bus(1_000).replace(" }", ", first = \"data\" }");
    assert!(refused(&[&data, "timing.cache=reads"]).contains("commands go before data"));
    let error = refused(&[&bus(1_000), "timing.cache=all", SUSPEND]);
    assert!(error.contains("while a program is interrupted"), "{error}");
}

// ── Moves inside a plane ────────────────────────────────────────────────────────────────────────

/// Either of two things that each come about so often, and not both.
fn either_wrong(p: f64, q: f64) -> f64 {
    p + q - 2.0 * p * q
}

/// A drive whose collection has much to move, and a bus.
fn mover(own: &[&str]) -> Vec<String> {
    let base = [
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=16",
        "ftl.spare-factor=0.15",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "host.queue-depth=1",
        "workload.requests=6000",
    ];
    base.iter().chain(own).map(|s| (*s).to_owned()).collect()
}

/// The channel carries the data of the host, and of moved pages one in a certain number, out and
/// in.
#[test]
fn the_channel_carries_only_what_is_moved_through_the_controller() {
    let page = 10_000_u64;
    for (limit, share) in [(1, 0.5), (3, 0.25), (255, 0.0)] {
        let copyback = format!("ftl.copyback={limit}");
        let value = generate(&drive(&mover(&[&bus(page), &copyback])), "random-write");
        let moved = number(&value["flash"]["program"]["gc"]);
        let inside = number(&value["flash"]["copybacks"]["gc"]);
        assert!(
            moved > 10_000.0
                && value["flash"]["copybacks"]["total"] == value["flash"]["copybacks"]["gc"]
        );
        // In the long run of a page's moves one in `limit + 1` goes through the controller; the last
        // stretch of each is broken off.
        let through = 1.0 - inside / moved;
        assert!(through <= share + 1e-9, "limit {limit}: {through}");
        assert!(through >= share * 0.5, "limit {limit}: {through}");
        let none = generate(&drive(&mover(&[&bus(page)])), "random-write");
        assert!(none["flash"]["copybacks"].is_null());
        // The same moves, and less time: two transfers for each page that stays in its die.
        assert_eq!(none["flash"]["program"], value["flash"]["program"]);
        let [with, without] = [&value, &none].map(|v| number(&v["simulated_seconds"]));
        // But for the requests under way in the end.
        let left = (without - with) * 1e9 / page as f64 - 2.0 * inside;
        assert!(left.abs() <= 2.0, "{left} transfers too many");
    }
}

/// Counts beside the drive how often the data of each page can have been moved inside their plane.
struct Chains {
    limit: u32,
    times: Vec<u32>,
    counted: Arc<Mutex<(u64, u64)>>,
}

impl Watch for Chains {
    fn interests(&self) -> Interests {
        Interests::PROGRAM.with(Interests::MOVE)
    }

    fn attach(&mut self, _: &Geometry, logical_pages: u32) {
        self.times = vec![0; logical_pages as usize];
    }

    fn on_program(&mut self, lpn: Lpn, _: Ppn, _: Level, tag: Tag, _: Time) {
        if tag.source == Source::Host {
            self.times[lpn.as_u32() as usize] = 0;
        }
    }

    fn on_move(&mut self, lpn: Lpn, _: Ppn, _: Ppn, _: Tag) {
        let (moves, inside) = &mut *self.counted.lock().unwrap();
        let times = &mut self.times[lpn.as_u32() as usize];
        *moves += 1;
        *times = if *times < self.limit { *times + 1 } else { 0 };
        *inside += u64::from(*times > 0);
    }
}

impl Cost for Chains {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::MediumCost
    }
}

/// Every move is inside its plane while the limit allows it, and none beyond.
fn within_its_limit(requests: u32, least: u64) {
    for limit in [1, 3] {
        let (copyback, requests) =
            (format!("ftl.copyback={limit}"), format!("workload.requests={requests}"));
        let drive = drive(&mover(&[&bus(10_000), &copyback, &requests]));
        let counted = Arc::new(Mutex::new((0, 0)));
        let policies = |counted: &Arc<Mutex<_>>| Policies {
            cost: CostPolicy::Custom(Box::new(Chains {
                limit,
                times: Vec::new(),
                counted: counted.clone(),
            })),
            ..policies_of(&drive)
        };
        let workload = generator(&drive, "random-write").unwrap();
        let mut ftl = ftl_of(&drive, policies(&Arc::default()));
        precondition(&drive, &*workload, &mut ftl, &mut |_| true).unwrap();
        ftl.begin_run(policies(&counted));
        let mut sim = Sim::new(&drive, ftl);
        sim.run(&mut *workload.open().unwrap(), None, &mut |_| true).unwrap();
        let (moves, inside) = *counted.lock().unwrap();
        assert!(moves >= least, "{moves} moves");
        assert_eq!(sim.ftl().copied_back(), Some(inside), "of {moves}");
        sim.ftl().check().unwrap();
    }
}

#[test]
fn no_page_is_moved_inside_its_plane_more_often_than_the_limit_says() {
    within_its_limit(40_000, 100_000);
}

#[cfg(feature = "verify")]
#[test]
fn nor_in_ten_million_moves() {
    within_its_limit(4_000_000, 10_000_000);
}

#[test]
fn moves_inside_a_plane_need_a_channel_and_single_pages() {
    let refused = |own: &[&str]| try_drive(common::BASE, own).unwrap_err();
    assert!(refused(&["ftl.copyback=1"]).contains("spares the channel"));
    let wordline =
        ["geometry.bits-per-cell=3", "geometry.pages-per-block=9", "pages.program=wordline"];
    let bus = bus(10_000);
    let own = [&[bus.as_str(), "ftl.copyback=1"], &wordline[..]].concat();
    assert!(refused(&own).contains("moves one page"));
}

/// The worst page of a run. It was programmed a year before, was moved inside its plane as often as
/// is allowed, and has the errors of every block that it was in.
#[test]
fn data_have_the_errors_of_every_block_that_they_lay_in() {
    let worst = |copyback: &[&str]| {
        let cells = [
            "geometry.bits-per-cell=2",
            "reliability.model=on",
            "reliability.endurance=3000",
            "reliability.initial-cycles=2900",
            "reliability.initial-retention=365d",
            "workload.read-share=0.5",
        ];
        let bus = bus(10_000);
        let own = [&[bus.as_str()], &cells[..], copyback].concat();
        let value = generate(&drive(&mover(&own)), "random-write");
        number(&value["lifetime"]["simulated"]["worst_rber"])
    };
    // A move through the controller corrects old errors; a block of the run adds a few.
    let cell = Cell::new(2, 3000.0);
    let fresh = (0..2).map(|t| cell.rber(t, STEP_VOLTS, 2900.0, 0.0)).fold(0.0, f64::max);
    let old = worst(&[]);
    close("once", worst(&["ftl.copyback=1"]), either_wrong(old, fresh), 0.01);
    let thrice = worst(&["ftl.copyback=3"]);
    assert!(thrice > either_wrong(either_wrong(old, fresh), 0.5 * fresh), "{thrice}");
}

/// A page with several mapping units uses copyback only as a whole.
#[test]
fn only_whole_pages_are_moved_inside_their_planes() {
    let units = ["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", "ftl.spare-factor=0.4"];
    let bus = bus(10_000);
    let own = [&[bus.as_str(), "ftl.copyback=2"], &units[..]].concat();
    let cold = generate(
        &drive(&mover(
            &[&own[..], &["workload.hot-data=0.1", "workload.hot-writes=0.95"]].concat(),
        )),
        "hot-cold",
    );
    let moved = number(&cold["flash"]["program"]["gc"]);
    let inside = number(&cold["flash"]["copybacks"]["gc"]);
    assert!(inside > 0.0 && inside % 4.0 == 0.0 && inside < moved, "{inside} of {moved}");
}

//! Garbage collection at the host's pace: the wait of a write, below the sustained rate of the
//! drive.

use crate::common::{
    self, Memory, class_of, count, drive, drive_of, first_of, generate, number, policies_of,
    run_with, try_drive,
};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, ftl_of, generator};
use serde_json::Value;

const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;
const READ: u64 = 50_000;

const PACES: [&str; 2] = ["burst", "per-write"];

/// A full drive of eight dies, worn in, under random writes.
fn settings(own: &[&str]) -> Drive {
    let fixed = [
        "geometry.channels=8",
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=32",
        "ftl.spare-factor=0.2",
        "ftl.gc.stop=3",
        "ftl.gc.background-stop=3",
        "precondition.fill=full",
        "precondition.age=random",
        "workload.requests=60000",
    ];
    drive(&[&fixed[..], own].concat())
}

fn steady(own: &[&str]) -> Value {
    generate(&settings(own), "random-write")
}

/// The longest that a write waited behind collection, in ns.
fn longest(value: &Value) -> u64 {
    let flash = &value["flash"];
    let longest = count(&flash["gc_wait_max_ns"]);
    // The time that a write waits for space is a part of that.
    assert!(flash["space_wait_max_ns"].is_null() || count(&flash["space_wait_max_ns"]) <= longest);
    longest
}

/// Writes per second that the drive sustains, as it collects.
fn sustained(pace: &str) -> f64 {
    let pace = format!("ftl.gc.pace={pace}");
    let value = steady(&[&pace, "host.mode=queue-depth", "host.queue-depth=64"]);
    count(&value["host"]["write"]["requests"]) as f64 / number(&value["simulated_seconds"])
}

/// Writes at this share of a rate, evenly spaced or at random.
fn at(rate: f64, share: f64, arrivals: &str, pace: &str) -> Value {
    let arrivals = format!("workload.arrivals={{ {arrivals} = {{ iops = {} }} }}", share * rate);
    let pace = format!("ftl.gc.pace={pace}");
    steady(&["host.mode=timestamps", &arrivals, &pace])
}

/// At 80 % of the sustained rate no write waits behind collection longer than for one erase and two
/// moves, with even and with random arrivals. The mean write takes less than if blocks are
/// collected as fast as possible.
#[test]
fn below_what_a_drive_sustains_no_write_waits_long_behind_collection() {
    let [burst, paced] = PACES.map(sustained);
    // The pace costs nothing that the drive could sustain.
    assert!(paced > 0.99 * burst, "{paced} of {burst} writes a second");
    for arrivals in ["constant", "poisson"] {
        let [theirs, ours] = PACES.map(|pace| at(paced, 0.8, arrivals, pace));
        let longest = [&theirs, &ours].map(longest);
        let most = ERASE + 2 * (READ + PROGRAM);
        assert!(longest[1] <= most && longest[0] > most, "{arrivals}: {longest:?} ns");
        assert!(theirs["flash"]["space_wait_max_ns"].is_null());
        let mean = |value| class_of(value, "write").mean;
        assert!(mean(&ours) < 0.7 * mean(&theirs), "{arrivals}");
        let [theirs, ours] = [&theirs, &ours].map(|value| number(&value["waf"]));
        assert!(
            ours < 1.01 * theirs,
            "{arrivals}: write amplification {ours}, and {theirs} in bursts"
        );
    }
}

/// Dies like those of `modern-tlc`: its blocks of 384 programs, each of twelve pages on four planes, and
/// its times. Pages of 16 KiB are mapped as a whole, which makes them quick to simulate.
fn modern(dies: u64, own: &[String]) -> Drive {
    let fixed = [
        format!("geometry.channels={dies}"),
        format!("buffer.size={}KiB", 384 * dies),
        "geometry.blocks-per-plane=64".to_owned(),
        "ftl.spare-factor=0.16".to_owned(),
        "ftl.mapping-unit=16KiB".to_owned(),
        "workload.size=16KiB".to_owned(),
        "precondition.fill=full".to_owned(),
        "precondition.age=random".to_owned(),
    ];
    drive_of("base = \"modern-tlc-small\"", &[&fixed[..], own].concat())
}

/// One erase and two moves there: each programs the data of four reads of a physical page of every
/// plane.
fn most_of_modern() -> u64 {
    let carried = |pages: u64| pages * 4 * (16 << 10) * 1_000 / 1_600 + 300;
    let (read, program) = (40_950 + carried(1), 1_913_640 + carried(3));
    10_000_000 + 2 * (4 * read + program)
}

/// Writes spaced evenly at shares of the sustained rate: none waits behind collection for longer
/// than one erase and two moves.
fn keeps_the_law(what: &str, memory: &mut Memory, drive: impl Fn(&[String]) -> Drive, most: u64) {
    let mut run = |own: &[String]| {
        let drive = drive(own);
        let workload = generator(&drive, "random-write").expect("a generator");
        run_with(&drive, workload, memory)
    };
    let closed = ["host.mode=queue-depth", "host.queue-depth=64"].map(str::to_owned);
    let value = run(&closed);
    let writes = count(&value["host"]["write"]["requests"]) as f64;
    let rate = writes / number(&value["simulated_seconds"]);
    for share in [0.3, 0.5, 0.8] {
        let arrivals = format!("workload.arrivals={{ constant = {{ iops = {} }} }}", share * rate);
        let value = run(&["host.mode=timestamps".to_owned(), arrivals]);
        let longest = longest(&value);
        assert!(longest <= most, "{what} at {share} of {rate}/s: {longest} ns, and at most {most}");
        assert!(number(&value["waf"]) > 2.0, "{what}: collection has little to do");
    }
}

fn marks([start, stop, background]: [u32; 3]) -> Vec<String> {
    vec![
        format!("ftl.gc.start={start}"),
        format!("ftl.gc.stop={stop}"),
        format!("ftl.gc.background-stop={background}"),
    ]
}

/// The preset as it comes, and with the least marks that are allowed.
#[test]
fn modern_drives_keep_writes_from_waiting_for_whole_victims() {
    for &(dies, requests) in first_of(&[(1, 60_000), (8, 240_000)], 1) {
        let requests = [format!("workload.requests={requests}")];
        let preset = |own: &[String]| modern(dies, &[&requests[..], own].concat());
        let as_it_comes = preset(&[]).ftl.gc;
        assert_eq!((as_it_comes.start, as_it_comes.stop, as_it_comes.background_stop), (2, 3, 3));
        let mut memory = Memory::default();
        keeps_the_law(&format!("{dies} dies"), &mut memory, preset, most_of_modern());
    }
    let early = |own: &[String]| {
        modern(1, &[&marks([3, 3, 0])[..], &["workload.requests=60000".to_owned()], own].concat())
    };
    keeps_the_law("early", &mut Memory::default(), early, most_of_modern());
}

/// All allowed combinations of marks, of few blocks to spare and of more, on one die and on eight.
/// Pages are those of the preset, and larger ones.
#[test]
#[cfg_attr(not(feature = "verify"), ignore = "slow: run by `make verify`")]
fn every_drive_that_is_allowed_keeps_writes_from_waiting_for_whole_victims() {
    let mut drives = 0;
    for (dies, unit, spare, blocks, requests) in [
        (1, "16KiB", 0.16, 64, 200_000),
        (1, "16KiB", 0.07, 114, 400_000),
        (1, "16KiB", 0.28, 64, 200_000),
        (1, "4KiB", 0.07, 114, 800_000),
        (8, "16KiB", 0.16, 64, 800_000),
        (8, "16KiB", 0.07, 114, 800_000),
    ] {
        let all = [[2, 2, 3], [2, 3, 3], [2, 2, 4], [3, 3, 0], [3, 3, 3], [3, 4, 0], [4, 4, 0]];
        for gc in all {
            let mut memory = Memory::default();
            for foreground in ["all", "one"] {
                let own = [
                    format!("ftl.mapping-unit={unit}"),
                    format!("workload.size={unit}"),
                    format!("ftl.spare-factor={spare}"),
                    format!("geometry.blocks-per-plane={blocks}"),
                    format!("workload.requests={requests}"),
                    format!("ftl.gc.foreground={foreground}"),
                ];
                let what = format!("{dies} dies, {unit}, {spare}, {gc:?}, {foreground}");
                let drive = |more: &[String]| modern(dies, &[&own[..], &marks(gc), more].concat());
                keeps_the_law(&what, &mut memory, drive, most_of_modern());
                drives += 1;
            }
        }
    }
    assert_eq!(drives, 84);
}

/// Collection that begins when the host opens the last block that it may have cannot keep that up.
/// Such drives are refused, with an allowed setting.
#[test]
fn a_pace_that_begins_too_late_is_refused() {
    let (mut refused, mut allowed) = (0, 0);
    for start in 2..=4 {
        for stop in start..=4 {
            for background in [0, 2, 3, 4, 5] {
                if background != 0 && background < stop {
                    continue;
                }
                let gc = marks([start, stop, background]);
                for foreground in ["all", "one"] {
                    let with = |pace| {
                        let more = [
                            format!("ftl.gc.pace={pace}"),
                            format!("ftl.gc.foreground={foreground}"),
                        ];
                        try_drive(common::BASE, &[&gc[..], &more].concat())
                    };
                    assert!(with("burst").is_ok(), "{gc:?}");
                    let Err(errors) = with("per-write") else {
                        allowed += 1;
                        assert!(start.max(background) >= 3, "{gc:?}");
                        continue;
                    };
                    refused += 1;
                    assert!(start.max(background) < 3, "{gc:?}");
                    for part in ["config::conflict", "ftl.gc.pace", "`ftl.gc.background-stop` to 3"]
                    {
                        assert!(errors.contains(part), "{part} is not in\n{errors}");
                    }
                }
            }
        }
    }
    assert!(refused >= 6 && allowed >= 20, "{refused} refused, {allowed} allowed");
}

/// The longest wait is that of the page that waited longest, in the row of its request.
#[test]
fn the_longest_wait_behind_collection_is_that_of_the_slowest_write() {
    for pace in PACES {
        let pace = format!("ftl.gc.pace={pace}");
        let value = steady(&[&pace, "host.mode=queue-depth", "host.queue-depth=1"]);
        let write = &value["host"]["write"];
        let slowest = count(&write["latency_ns"]["max"]);
        // One write at a time waits for nothing but collection, and then is programmed.
        assert_eq!(longest(&value), slowest - PROGRAM, "{pace}");
    }
}

/// The rows of `docs/measured/pace.md`.
#[test]
fn the_page_says_what_comes_out() {
    let page = include_str!("../../../docs/measured/pace.md");
    let rate = sustained("per-write");
    let (mut rows, mut wrong) = (0, Vec::new());
    for share in [0.8, 0.95] {
        for (name, arrivals) in [("even", "constant"), ("at random", "poisson")] {
            for pace in PACES {
                let value = at(rate, share, arrivals, pace);
                let write = &value["host"]["write"];
                let ms = |key: &str| number(&write["latency_ns"][key]) * 1e-6;
                let delays = &write["delay_ns_by_cause"]["queue"];
                let row = format!(
                    "| {:.0} % | {name} | `{pace}` | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.3} |\n",
                    share * 100.0,
                    ms("mean"),
                    number(&delays["gc"]) * 1e-6,
                    ms("p99"),
                    ms("max"),
                    longest(&value) as f64 * 1e-6,
                    number(&value["waf"]),
                );
                rows += 1;
                if !page.contains(&row) {
                    wrong.push(row);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "these came out:\n{}", wrong.join("\n"));
    assert_eq!(page.matches("| `burst` |").count() + page.matches("| `per-write` |").count(), rows);
}

/// A queue as deep as the free space takes all of it before collection has made more: then the pace
/// gives way.
#[test]
fn whoever_waits_for_space_is_not_kept_waiting_by_the_pace() {
    let longest = PACES.map(|pace| {
        let pace = format!("ftl.gc.pace={pace}");
        let own = [&pace, "host.mode=queue-depth", "host.queue-depth=512", "ftl.gc.stop=2"];
        let drive = settings(&own);
        let workload = generator(&drive, "random-write").unwrap();
        let mut ftl = ftl_of(&drive, policies_of(&drive));
        floatgate_ssd::precondition(&drive, &*workload, &mut ftl, &mut |_| true).unwrap();
        ftl.begin_run(policies_of(&drive));
        let mut sim = Sim::new(&drive, ftl);
        sim.run(&mut *workload.open().unwrap(), None, &mut |_| true).unwrap();
        assert!(sim.wait_stats().space > 1000);
        sim.wait_stats().space_longest
    });
    assert!(longest[1] as f64 <= 1.25 * longest[0] as f64, "{longest:?}");
}

/// A plane may lend the host its last free block while the victim fits collection's open block.
/// That stays true if some pages of it wait for others, and the next victim's are moved inside the
/// die.
#[test]
fn a_lent_block_comes_back_whatever_is_moved_inside_the_die() {
    for victim in ["fifo", "random", "greedy", "cost-benefit"] {
        for limit in [1, 3] {
            for (pages, blocks) in [(10, 22), (16, 24), (40, 20)] {
                let own = [
                    format!("policy victim={victim}"),
                    format!("ftl.copyback={limit}"),
                    format!("geometry.pages-per-block={pages}"),
                    format!("geometry.blocks-per-plane={blocks}"),
                ];
                let fixed = [
                    "timing.bus={ rate = \"100MT/s\", command = \"300ns\" }",
                    "geometry.page-size=16KiB",
                    "ftl.mapping-unit=4KiB",
                    "ftl.spare-factor=0.34",
                    "precondition.fill=full",
                    "workload.size=12KiB",
                    "workload.requests=4000",
                ];
                let all: Vec<&str> =
                    fixed.into_iter().chain(own.iter().map(String::as_str)).collect();
                for pattern in ["sequential-write", "random-write", "zipf"] {
                    let value = generate(&drive(&all), pattern);
                    let served = count(&value["host"]["write"]["requests"]);
                    assert!(
                        served > 0 && value["end"]["reason"] != "worn-out",
                        "{all:?}: {pattern}"
                    );
                }
            }
        }
    }
}

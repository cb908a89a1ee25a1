//! Garbage collection at the host's pace: what a write waits for, below what the drive sustains.

mod common;

use common::{class_of, close, count, drive, generate, number};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, ftl_of, generator};
use serde_json::Value;

const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;

const PACES: [&str; 2] = ["burst", "per-write"];

/// A full drive of eight dies, worn in, under random writes.
fn settings(own: &[&str]) -> Drive {
    let fixed = [
        "geometry.channels=8",
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=32",
        "ftl.spare-factor=0.2",
        "ftl.gc.stop=3",
        "precondition.fill=full",
        "precondition.age=random",
        "workload.requests=60000",
    ];
    drive(&[&fixed[..], own].concat())
}

fn steady(own: &[&str]) -> Value {
    generate(&settings(own), "random-write")
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

/// At 80 % of what the drive sustains no write waits for space longer than one erase and two
/// programs, whether writes are spaced evenly or come at random; and the mean write takes less than
/// where blocks are collected as fast as they can be.
#[test]
fn below_what_a_drive_sustains_no_write_waits_long_for_space() {
    let [burst, paced] = PACES.map(sustained);
    // The pace costs nothing that the drive could sustain.
    close("sustained", paced, burst, 0.03);
    for arrivals in ["constant", "poisson"] {
        let [theirs, ours] = PACES.map(|pace| at(paced, 0.8, arrivals, pace));
        let longest = count(&ours["flash"]["space_wait_max_ns"]);
        assert!(longest <= ERASE + 2 * PROGRAM, "{arrivals}: {longest} ns for space");
        assert!(theirs["flash"]["space_wait_max_ns"].is_null());
        let mean = |value| class_of(value, "write").mean;
        assert!(mean(&ours) < 0.7 * mean(&theirs), "{arrivals}");
        // Victims are taken as they were, and later by what the host writes meanwhile.
        close("write amplification", number(&ours["waf"]), number(&theirs["waf"]), 0.02);
    }
}

/// The same where a program takes eight mapping units on two planes, and a buffer fills them.
#[test]
fn below_what_program_units_sustain_no_write_waits_long_for_space() {
    let own = [
        "geometry.page-size=16KiB",
        "geometry.planes-per-die=2",
        "ftl.mapping-unit=4KiB",
        "ftl.program-planes=2",
        "ftl.gc.pace=per-write",
        "buffer.size=1MiB",
        "workload.size=4KiB",
        "workload.requests=400000",
    ];
    let closed = ["host.mode=queue-depth", "host.queue-depth=256"];
    let value = steady(&[&own[..], &closed].concat());
    let rate =
        count(&value["host"]["write"]["requests"]) as f64 / number(&value["simulated_seconds"]);
    let arrivals = format!("workload.arrivals={{ constant = {{ iops = {} }} }}", 0.8 * rate);
    let open = ["host.mode=timestamps", &arrivals];
    let value = steady(&[&own[..], &open].concat());
    let longest = count(&value["flash"]["space_wait_max_ns"]);
    assert!(longest <= ERASE + 2 * PROGRAM, "{longest} ns for space");
    assert!(number(&value["waf"]) > 2.0);
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
                    "| {:.0} % | {name} | `{pace}` | {:.2} | {:.2} | {:.1} | {:.1} | {:.3} |",
                    share * 100.0,
                    ms("mean"),
                    number(&delays["gc"]) * 1e-6,
                    ms("p99"),
                    ms("max"),
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

/// Writes for which the plane is too small wait, and the pace gives way: a queue as deep as what is free
/// takes all of it before collection has made more.
#[test]
fn whoever_waits_for_space_is_not_kept_waiting_by_the_pace() {
    let longest = PACES.map(|pace| {
        let pace = format!("ftl.gc.pace={pace}");
        let own = [&pace, "host.mode=queue-depth", "host.queue-depth=512", "ftl.gc.stop=2"];
        let drive = settings(&own);
        let workload = generator(&drive, "random-write").unwrap();
        let mut ftl = ftl_of(&drive, drive.policies.build());
        floatgate_ssd::precondition(&drive, &*workload, &mut ftl, &mut |_| true).unwrap();
        ftl.begin_run(drive.policies.build());
        let mut sim = Sim::new(&drive, ftl);
        sim.run(&mut *workload.open().unwrap(), None, &mut |_| true).unwrap();
        assert!(sim.wait_stats().space > 1000);
        sim.wait_stats().space_longest
    });
    close("longest", longest[1] as f64, longest[0] as f64, 0.25);
}

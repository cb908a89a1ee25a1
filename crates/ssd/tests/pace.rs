//! Garbage collection at the host's pace: what a write waits for, below what the drive sustains.

mod common;

use common::{Class, class_of, close, count, drive, generate, number};
use serde_json::Value;

const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;

/// A full drive of eight dies, worn in, under random writes.
fn steady(own: &[&str]) -> Value {
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
    generate(&drive(&[&fixed[..], own].concat()), "random-write")
}

/// Writes per second that the drive sustains, as it collects.
fn sustained(pace: &str) -> f64 {
    let value = steady(&[pace, "host.mode=queue-depth", "host.queue-depth=64"]);
    println!(
        "{pace}: waf {} placement {} job {}",
        value["waf"], value["policies"]["placement"], value["host"]["write"]["delay_ns_by_cause"]
    );
    count(&value["host"]["write"]["requests"]) as f64 / number(&value["simulated_seconds"])
}

fn writes(value: &Value) -> Class {
    class_of(value, "write")
}

/// At 80 % of what the drive sustains no write waits for space longer than one erase and two
/// programs, whether writes are spaced evenly or come at random; and the mean wait is less than
/// where blocks are collected as fast as they can be.
#[test]
fn below_what_a_drive_sustains_no_write_waits_long_for_space() {
    let paced = "ftl.gc.pace=per-write";
    let rate = sustained(paced);
    // The pace costs nothing that the drive could sustain.
    close("sustained", rate, sustained("ftl.gc.pace=burst"), 0.03);
    for arrivals in ["constant", "poisson"] {
        let arrivals = format!("workload.arrivals={{ {arrivals} = {{ iops = {} }} }}", 0.8 * rate);
        let open = ["host.mode=timestamps", arrivals.as_str()];
        let value = steady(&[&open[..], &[paced]].concat());
        let longest = count(&value["flash"]["space_wait_max_ns"]);
        assert!(longest <= ERASE + 2 * PROGRAM, "{arrivals}: {longest} ns for space");
        let burst = steady(&open);
        assert!(burst["flash"]["space_wait_max_ns"].is_null());
        let (ours, theirs) = (writes(&value), writes(&burst));

        assert!(ours.mean < theirs.mean, "{arrivals}: {} and {} ns", ours.mean, theirs.mean);
        // Victims are taken as they were: later by what the host writes meanwhile.
        close("write amplification", number(&value["waf"]), number(&burst["waf"]), 0.02);
    }
}

//! Random times of the controller: their percentiles, their streams, and what they leave alone.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{class_of, count, drive, number, read, serve, trim, write};
use serde_json::Value;

const READ: u64 = 50_000;
/// The fixed time of a read: a core, the latency beside it, the array.
const FIXED: f64 = 2_000.0 + 7_000.0 + 50_000.0;
const MEDIAN: f64 = 4_000.0;
const RARE: f64 = 20_000.0;

/// One request at a time. Every request of a page finds its die idle.
const IDLE: [&str; 8] = [
    "geometry.pages-per-block=64",
    "controller.read=2us",
    "controller.write=3us",
    "controller.read-latency=7us",
    "host.mode=queue-depth",
    "host.queue-depth=1",
    "precondition.fill=full",
    "ftl.pending-read=memory",
];
const READS: &str = "controller.read-jitter={ p50 = \"4us\", p99 = \"20us\" }";
const WRITES: &str = "controller.write-jitter={ p50 = \"1us\", p99 = \"3us\" }";

fn idle(own: &[&str], requests: u64) -> Value {
    let drive = drive(&[&IDLE[..], own].concat());
    serve(&drive, (0..requests).map(|page| read(0, page % 200)).collect())
}

/// A percentile of `n` draws of a normal variable has the standard deviation √(p(1−p)/n)/φ(z).
fn spread_of_percentile(p: f64, z: f64, n: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (p * (1.0 - p) / n).sqrt() / density
}

/// Percentiles of the latency are those of the log-normal time, plus the fixed times.
#[test]
fn percentiles_are_those_of_the_distribution() {
    const N: u64 = 40_000;
    let value = idle(&[READS], N);
    let latency = &value["host"]["read"]["latency_ns"];
    let sigma = (RARE / MEDIAN).ln() / 2.326_348;
    let ranks = [
        ("p50", 0.5, 0.0),
        ("p90", 0.9, 1.281_552),
        ("p99", 0.99, 2.326_348),
        ("p99_9", 0.999, 3.090_232),
    ];
    for (key, p, z) in ranks {
        let off = 4.0 * spread_of_percentile(p, z, N as f64);
        let [low, high] = [z - off, z + off].map(|z| FIXED + MEDIAN * (sigma * z).exp());
        let found = number(&latency[key]);
        // The histogram has three digits.
        assert!(low * 0.999 < found && found < high * 1.001, "{key}: {low} < {found} < {high}");
    }
    // The mean of a log-normal variable is its median times exp(σ²/2); it adds to the fixed time.
    let mean = MEDIAN * (sigma * sigma / 2.0).exp();
    let deviation = mean * ((sigma * sigma).exp() - 1.0).sqrt() / (N as f64).sqrt();
    let all = class_of(&value, "read");
    assert!((all.mean - FIXED - mean).abs() < 4.0 * deviation, "{} {mean}", all.mean - FIXED);
    // All of it is the controller's time.
    assert_eq!(all.front[0], 0.0);
    assert!((all.front[1] + READ as f64 - all.mean).abs() < 1e-6);
    assert_eq!(count(&value["end"]["at_ns"]) as f64, (all.mean * N as f64).round());
}

/// Equal percentiles are a fixed time.
#[test]
fn without_a_spread_it_is_a_fixed_time() {
    let fixed = "controller.read-jitter={ p50 = \"4us\", p99 = \"4us\" }";
    let all = class_of(&idle(&[fixed], 100), "read");
    assert_eq!((all.min, all.max), (63_000, 63_000));
}

/// A drive with a jitter of writes reads as one without, and the reverse: trims are as writes.
#[test]
fn each_kind_of_request_has_its_own() {
    let all = class_of(&idle(&[WRITES], 100), "read");
    assert_eq!((all.min, all.max), (59_000, 59_000));
    let with = |own: &[&str]| {
        let drive = drive(&[&IDLE[..], own].concat());
        let mixed = |page: u64| [read(0, page), trim(0, page), write(0, page)];
        serve(&drive, (0..60).flat_map(mixed).collect())
    };
    let (both, reads, none) = (with(&[READS, WRITES]), with(&[READS]), with(&[]));
    let mean = |value: &Value, class: &str| class_of(value, class).mean;
    // The draws of reads do not depend on those of writes.
    let latencies =
        |value: &Value| value["host"]["read"]["delay_ns_by_cause"]["controller"].clone();
    assert_eq!(latencies(&both), latencies(&reads));
    for class in ["write", "trim"] {
        assert_eq!(mean(&reads, class), mean(&none, class));
        assert!(mean(&both, class) > mean(&none, class) + 900.0);
    }
}

/// A request has the same draw on another drive, and another one with another seed.
#[test]
fn a_draw_belongs_to_the_request() {
    let slower = idle(&[READS, "timing.read=60us"], 500);
    let [one, again, other] =
        [&[READS][..], &[READS], &[READS, "run.seed=2"]].map(|own| idle(own, 500));
    let ends = |value: &Value| {
        let all = class_of(value, "read");
        (all.min, all.max, (all.mean * all.requests as f64).round())
    };
    let (min, max, sum) = ends(&one);
    assert_eq!(ends(&again), (min, max, sum));
    assert_eq!(ends(&slower), (min + 10_000, max + 10_000, sum + 5e6));
    assert_ne!(ends(&other), (min, max, sum));
}

/// Requests overtake each other in the controller, and no core is busy meanwhile: a core of 2 us
/// bounds the rate.
#[test]
fn no_core_is_busy_with_it() {
    let own = [
        READS,
        "host.queue-depth=256",
        "geometry.chips-per-channel=16",
        "geometry.channels=8",
        "policy placement=static",
    ];
    let drive = drive(&[&IDLE[..], &own].concat());
    let value = serve(&drive, (0..50_000).map(|i| read(0, i % 2_000)).collect());
    let rate = 50_000.0 / number(&value["simulated_seconds"]);
    assert!((rate * 2e-6 - 1.0).abs() < 0.002, "{rate}");
}

//! Unchanged? A few small runs, whole, against results in the tree.
//!
//! They do not say that a number is right, only that it has not moved by accident. `make golden`
//! rewrites them; review the difference, and say in the CHANGELOG why numbers moved.

#![allow(clippy::disallowed_methods)] // asks whether to rewrite

use crate::common::drive_of;
use floatgate_ssd::{Drive, NoCache, generator, run};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Four dies, a bus, a spare of one fifth: small enough to read, and every mechanism has work.
const SMALL: &str = r#"
[geometry]
channels = 2
chips-per-channel = 2
dies-per-chip = 1
planes-per-die = 2
blocks-per-plane = 24
pages-per-block = 16
page-size = "4KiB"
bits-per-cell = 2
[timing]
bus = { rate = "200MT/s", width-bits = 8, command = "300ns" }
erase = "3ms"
read = ["40us", "60us"]
program = ["300us", "1.2ms"]
[reliability]
endurance = 100000
[ftl]
spare-factor = 0.25
[ftl.gc]
start = 2
stop = 3
[precondition]
fill = "full"
age = "random"
"#;

/// A result without the values that may differ between builds and machines.
fn result(drive: &Drive, pattern: &str) -> Value {
    let workload = generator(drive, pattern).expect("a known generator");
    let report = run(drive, workload, &mut NoCache, &mut |_| true).expect("it runs");
    let mut value = report.value().clone();
    value["timing"] = Value::Null;
    value["provenance"]["version"] = Value::Null;
    value["provenance"]["build"] = Value::Null;
    value
}

fn check(name: &str, pattern: &str, settings: &[&str]) {
    let value = result(&drive_of(SMALL, settings), pattern);
    let text = serde_json::to_string_pretty(&value).expect("JSON prints") + "\n";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    if std::env::var_os("FLOATGATE_BLESS").is_some() {
        fs::write(&path, text).expect("the tree can be written");
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(
        kept == text,
        "the result `{name}` has moved; if it was meant to, `make golden` and tell the CHANGELOG"
    );
}

#[test]
fn a_closed_loop_of_random_writes() {
    check("random-write", "random-write", &["workload.requests=4000", "host.queue-depth=8"]);
}

#[test]
fn the_enterprise_mix_with_reads_first_and_wear_levelling() {
    check(
        "enterprise",
        "jesd219-enterprise",
        &[
            "workload.requests=4000",
            "workload.arrivals={ poisson = { iops = 800 } }",
            "policy order=read-first",
            "policy victim=d-choices:d=4",
            "policy wear=static:threshold=4",
        ],
    );
}

//! Real input? Whole public traces on the AGCR drive: every request served, every law kept.
//!
//! The folder with the traces is named by `FLOATGATE_TRACES`. Nobody has to have them, so these
//! tests are ignored unless asked for: `cargo test -- --ignored`, as `make test` does where that is
//! set. Expected values are those of the folder's README for each trace.

#![allow(clippy::disallowed_methods, reason = "tests may ask where files are")]

use crate::common::{
    self, Class, class_of, count, drive_of, number, run_with, try_drive, warnings,
};
use crate::scale::{DRIVES, SCALES, outside_without_a_warning};
use floatgate_ssd::NoCache;
use floatgate_ssd::fast_forward::{Demand, fast_forward, plan_of};
use serde_json::Value;
use std::path::{Path, PathBuf};
use workload::{ReadOptions, open_trace};

fn trace(name: &str) -> PathBuf {
    let folders = std::env::var_os("FLOATGATE_TRACES").expect("FLOATGATE_TRACES names a folder");
    let found = std::env::split_paths(&folders).map(|dir| dir.join(name)).find(|p| p.is_file());
    found.unwrap_or_else(|| panic!("{name} is in no folder that FLOATGATE_TRACES names"))
}

/// Values of the README: reads, and bytes read and written as printed there.
struct Known {
    requests: u64,
    read_percent: f64,
    read: (f64, f64),
    written: (f64, f64),
    seconds: f64,
}

/// Replays a trace on the AGCR drive; the reads and the writes.
fn replay(name: &str, known: &Known, settings: &[&str]) -> (Value, Class, Class) {
    let path = trace(name);
    let settings = [&["host.out-of-range=compact"], settings].concat();
    let drive = drive_of("base = \"agcr\"\n", &settings);
    let workload = open_trace(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let value = run_with(&drive, workload, &mut NoCache);
    assert_eq!(value["end"]["state"], "completed");
    assert_eq!(count(&value["checks"]["requests_generated"]), known.requests);
    assert_eq!(count(&value["checks"]["requests_served"]), known.requests);
    assert_eq!(count(&value["provenance"]["workload"]["skipped"]), 0);
    assert_eq!(value["provenance"]["workload"]["out_of_range"], "compact");
    let (r, w) = (class_of(&value, "read"), class_of(&value, "write"));
    assert_eq!(r.requests + w.requests, known.requests);
    let about = |ours: f64, (theirs, last): (f64, f64), what: &str| {
        assert!((ours - theirs).abs() <= 0.51 * last, "{name}: {what} {ours}, known {theirs}");
    };
    about(r.requests as f64 * 100.0 / known.requests as f64, (known.read_percent, 0.1), "reads");
    about(r.bytes as f64 * 1e-6, known.read, "MB read");
    about(w.bytes as f64 * 1e-6, known.written, "MB written");
    // The drive keeps up, so the run is as long as the trace (and the last request).
    let seconds = number(&value["simulated_seconds"]);
    assert!((seconds / known.seconds - 1.0).abs() < 0.01, "{seconds} s");
    // AGCR's medium level: no read below 170 us, no write below 600 us.
    assert!(r.min >= 170_000 && w.min >= 600_000);
    println!(
        "{name}: read {:.1} us (p99 {} us), write {:.1} us (p99 {} us), {:.4} WAF. Of the mean \
         read {:.1} us array, {:.1} us behind the host, {:.1} us behind GC; {:?}",
        r.mean / 1e3,
        count(&value["host"]["read"]["latency_ns"]["p99"]) / 1_000,
        w.mean / 1e3,
        count(&value["host"]["write"]["latency_ns"]["p99"]) / 1_000,
        number(&value["waf"]),
        r.array / 1e3,
        r.queue[0] / 1e3,
        r.queue[1] / 1e3,
        warnings(&value),
    );
    (value, r, w)
}

#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn a_development_server_of_eight_hours() {
    let known = Known {
        requests: 127_043,
        read_percent: 89.0,
        read: (6_440.0, 10.0),
        written: (760.8, 0.1),
        seconds: 30_000.0,
    };
    let (value, ..) = replay("msps-dtrs-30000s.trace.zst", &known, &[]);
    assert_eq!(value["provenance"]["workload"]["format"], "ssdsim-ascii");
    assert_eq!(count(&value["flash"]["unmapped_reads"]), 0, "what is read has been there");
}

#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn ten_thousand_requests_of_a_bank() {
    let known = Known {
        requests: 10_000,
        read_percent: 40.8,
        read: (25.4, 0.1),
        written: (29.8, 0.1),
        seconds: 259.6,
    };
    let (value, ..) = replay("umass-financial1-10k.ascii.zst", &known, &[]);
    assert_eq!(value["provenance"]["workload"]["format"], "ssdsim-ascii");
    assert!(count(&value["flash"]["rmw_reads"]) > 0, "its requests are smaller than a page");
}

#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn a_virtual_machine_of_two_hours() {
    let known = Known {
        requests: 113_872,
        read_percent: 41.3,
        read: (1_800.0, 10.0),
        written: (2_410.0, 10.0),
        seconds: 7_200.0,
    };
    let name = "cloudphysics-vm-2h.vscsi.zst";
    let (value, ..) = replay(name, &known, &[]);
    assert_eq!(value["provenance"]["workload"]["format"], "vscsi");
    // Most requests start one 63-sector partition off.
    assert!(warnings(&value).contains(&"misaligned"));
    // On a drive that it fills and that is worn in, garbage is collected.
    let own = [
        "geometry.channels=2",
        "geometry.chips-per-channel=1",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=3100",
        "precondition.fill=full",
        "precondition.age=random",
        "workload.shift=512B",
    ];
    let (value, r, w) = replay(name, &known, &own);
    assert!(!warnings(&value).contains(&"misaligned"));
    assert!(number(&value["waf"]) > 1.2 && count(&value["flash"]["erase"]["gc"]) > 1_000);
    assert!(r.queue[1] > 0.0 && w.queue[1] > 0.0, "and requests wait for that");
}

/// A drive scaled down gets a sample of the trace. Write amplification is that of the whole drive
/// within 1 %, and means and p99 within 5 %, or a warning says why not. The trace nearly fills each of five
/// drives, of which `make test` has one.
#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn a_scaled_drive_is_like_the_whole_one_or_warns() {
    let path = trace("cloudphysics-vm-2h.vscsi.zst");
    let own = [
        "geometry.channels=2",
        "geometry.chips-per-channel=1",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=3100",
    ];
    let mut wrong = Vec::new();
    if cfg!(feature = "verify") {
        wrong.extend(outside(&path, "base = \"agcr\"\n", ("agcr", &own), &[]));
    }
    // The trace touches 2.56 GiB in extents of 1 MiB.
    let sizes = [6400, 4600, 48_000].map(|n| format!("geometry.blocks-per-plane={n}"));
    for (drive, blocks) in common::first_of(&DRIVES, 1).iter().zip(&sizes) {
        wrong.extend(outside(&path, common::BASE, *drive, &[blocks]));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The cases of a drive that are outside the law without a warning.
fn outside(path: &Path, base: &str, (name, own): (&str, &[&str]), size: &[&str]) -> Vec<String> {
    let fixed = [
        "precondition.fill=full",
        "precondition.age=random",
        "workload.shift=512B",
        "host.out-of-range=compact",
    ];
    let run = |scale: &str| {
        let drive = try_drive(base, &[own, size, &fixed[..], &[scale]].concat())?;
        let workload = open_trace(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        Ok(run_with(&drive, workload, &mut NoCache))
    };
    // A part of them in `make test`.
    let scales = if cfg!(feature = "verify") { &SCALES[..] } else { &[3, 4] };
    outside_without_a_warning(&format!("{name}, real trace"), run, scales)
}

/// READY's guarantee under a real demand: a production server's day, over a drive so small that
/// without a throttle it ends in three years.
#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn ready_reaches_its_target_under_a_real_demand() {
    let path = trace("msps-dtrs-30000s.trace.zst");
    let workload = open_trace(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let demand = Demand::of(&*workload, 4096, 1.0).unwrap();
    let per_hour = demand.bytes() / demand.length().as_secs_f64() * 3600.0;
    println!("{:.2} GB/h, peak {:.0} times the mean", per_hour / 1e9, demand.peak_to_mean());
    for (policy, from, to) in [
        ("none", 2.0, 4.0),
        ("static:period=10s", 5.0, 100.0),
        ("dynamic:period=10s", 5.0, 100.0),
        ("ready:enforcement=pessimistic:period=10s", 5.0, 5.10),
        ("ready:period=10s", 5.0, 5.10),
    ] {
        let drive = drive_of("base = \"ready-32g\"\n", &[&format!("policy throttle={policy}")]);
        let mut plan = plan_of(&drive, &demand, 2.0);
        // As much flash as the demand wears by 14,000 cycles in five years.
        let written = 2.0 * per_hour * 5.0 * 8760.0;
        plan.life.raw_bytes = (written / 14_000.0) as u64;
        let o = fast_forward(&plan, &mut |_, _| true).unwrap();
        let cycles = o.programmed / plan.life.raw_bytes as f64;
        let achievable = plan.cells.achievable(5.0 * 8760.0 / cycles);
        let reached = 5.0 * achievable / cycles;
        let years = o.worn_out.map_or(reached, |(s, _)| s / (365.0 * 86_400.0));
        println!("{policy}: {years:.3} years, {:?}", o.tally);
        assert!((from..to).contains(&years), "{policy}: {years} years");
    }
}

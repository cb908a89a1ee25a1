//! Does work grow with what waits? Requests come in batches of 100 and in one of 10,000: there a page
//! operation may take at most twice as many instructions.
//!
//! Every place where something waits has a case. The test starts itself under callgrind, which counts
//! instructions exactly on any machine, and passes with a notice where callgrind is not installed.

#![allow(
    clippy::disallowed_methods,
    reason = "it starts itself, and reads what it was started with"
)]

use crate::common::{BASE, PAGE, bytes, drive_of, flush, read, trim, urgent, write, write_fua};
use floatgate_ssd::{Drive, NoCache, run};
use kernel::Rng;
use serde_json::Value;
use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use workload::{List, Merge, MergedPart, Op, Request, Workload};

/// Requests of a small batch, of some of these, and of the large one.
const SMALL: u64 = 100;
const SEVERAL: u64 = 2_000;
const LARGE: u64 = 10_000;

/// `make test` counts every 64th case, and `make verify` all of them.
const EACH: usize = if cfg!(feature = "verify") { 1 } else { 64 };

/// Instructions of a page operation may grow by this factor.
const MOST: f64 = 2.0;

/// Says to a test that was started by itself which case it runs, and how large its batches are.
const ASKED: &str = "FLOATGATE_BACKLOG";

/// One place where something waits.
struct Case {
    name: &'static str,
    settings: &'static [&'static str],
    /// The `i`-th request, at a time, about a page drawn at random.
    request: fn(u64, u64, u64) -> Request,
}

const fn case(
    name: &'static str,
    settings: &'static [&'static str],
    request: fn(u64, u64, u64) -> Request,
) -> Case {
    Case { name, settings, request }
}

/// Half of them are reads of pages that the other half writes.
fn mixed(i: u64, at: u64, page: u64) -> Request {
    if i.is_multiple_of(2) { write(at, page % 256) } else { read(at, page % 256) }
}

/// The same all over the drive.
fn wide(i: u64, at: u64, page: u64) -> Request {
    if i.is_multiple_of(2) { write(at, page) } else { read(at, page) }
}

fn part(at: u64, page: u64) -> Request {
    bytes(at, Op::Write, page * PAGE + 512, 1024)
}

/// Reads, writes of whole pages and of parts, trims and flushes.
fn all_sorts(i: u64, at: u64, page: u64) -> Request {
    match i % 8 {
        0 | 1 => read(at, page % 512),
        2 => part(at, page % 512),
        3 => trim(at, page % 512),
        4 => write_fua(at, page % 512),
        5 if i.is_multiple_of(5) => flush(at),
        _ => write(at, page % 512),
    }
}

fn wide_writes(_: u64, at: u64, page: u64) -> Request {
    write(at, page)
}

/// Reads of few pages, which reach the limits of their blocks.
fn hammer(i: u64, at: u64, page: u64) -> Request {
    if i.is_multiple_of(16) { write(at, page) } else { read(at, page % 128) }
}

const CASES: &[Case] = &[
    case("reads of what is being programmed", &[], mixed),
    case("reads of one page that is being programmed", &[], |i, at, page| {
        if i.is_multiple_of(16) { write(at, page) } else { read(at, page / 512) }
    }),
    case("reads of what is being programmed, reads first", &["policy order=read-first"], mixed),
    case("reads of what is being programmed, urgent", &["policy order=priority"], |i, at, page| {
        let request = mixed(i, at, page);
        if i.is_multiple_of(3) { urgent(request) } else { request }
    }),
    case(
        "reads of what is being programmed, in a bound",
        &["policy order=bounded-read-first"],
        mixed,
    ),
    case("writes for space", &[], |_, at, page| write(at, page)),
    case("writes and reads for space", &["policy order=collection-first"], wide),
    case("writes for space, several dies", &["geometry.channels=4"], wide),
    case(
        "parts of one page",
        &[],
        |i, at, _| if i.is_multiple_of(4) { read(at, 7) } else { part(at, 7) },
    ),
    case("parts of many pages", &[], |i, at, page| {
        if i.is_multiple_of(4) { read(at, page) } else { part(at, page) }
    }),
    case("a full buffer", &["buffer.size=64KiB"], wide),
    case("a full buffer, of one page", &["buffer.size=64KiB"], |i, at, _| {
        if i.is_multiple_of(4) { read(at, 7) } else { write_fua(at, 7) }
    }),
    case("a large buffer", &["buffer.size=64MiB", "buffer.latency=5us"], wide),
    case(
        "a large buffer that loses its data",
        &["buffer.size=64MiB", "buffer.power-loss-protected=false", "buffer.latency=5us"],
        all_sorts,
    ),
    case(
        "trims of what is in a buffer",
        &["buffer.size=64MiB", "buffer.latency=5us", "buffer.flush-above=0.9"],
        |i, at, page| if i.is_multiple_of(2) { write(at, page) } else { trim(at, page) },
    ),
    case(
        "trims of what was sent from a buffer",
        &["buffer.size=64MiB", "buffer.power-loss-protected=false"],
        |i, at, page| match i % 3 {
            0 => write_fua(at, page % 64),
            1 => trim(at, page % 64),
            _ => write(at, page),
        },
    ),
    case(
        "trims of one page that was sent from a buffer",
        &["buffer.size=64MiB", "buffer.power-loss-protected=false"],
        |i, at, page| match i % 8 {
            0 => trim(at, 5),
            1 => write(at, page),
            _ => write_fua(at, 5),
        },
    ),
    case("the port of a buffer", &["buffer.size=64KiB", "buffer.rate=50MB/s"], wide),
    case(
        "flushes",
        &[],
        |i, at, page| if i.is_multiple_of(2) { write(at, page) } else { flush(at) },
    ),
    case(
        "flushes of a buffer",
        &["buffer.size=1MiB", "buffer.power-loss-protected=false"],
        |i, at, page| if i.is_multiple_of(2) { write(at, page) } else { flush(at) },
    ),
    case("trims behind writes", &[], |i, at, page| {
        if i.is_multiple_of(2) { write(at, page) } else { trim(at, page) }
    }),
    case("link and controller", &["link.rate=20MB/s", "controller.read=20us"], wide),
    case("blocks at their read limit", &["policy read-disturb=refresh:limit=30"], hammer),
    case(
        "blocks at their read limit, all over",
        &["policy read-disturb=refresh:limit=20"],
        |i, at, page| if i.is_multiple_of(16) { write(at, page) } else { read(at, page) },
    ),
    case(
        "reads of one block at its read limit",
        &["policy read-disturb=refresh:limit=30"],
        |i, at, page| if i.is_multiple_of(16) { part(at, page % 4) } else { read(at, page % 4) },
    ),
    case(
        "blocks at their read limit, moved by a policy",
        &["policy read-disturb=redftl:limit=40:pages=4"],
        hammer,
    ),
    case(
        "a throttle",
        &["policy throttle=static:target=1h:period=10ms", "reliability.endurance=400"],
        wide,
    ),
    case("a bus", &["timing.bus={ rate = \"40MT/s\", width-bits = 8, command = \"1us\" }"], wide),
    case(
        "reads that interrupt",
        &["policy order=read-first", "timing.suspend={ pause = \"10us\", resume = \"10us\" }"],
        mixed,
    ),
    case(
        "a cache register",
        &[
            "timing.bus={ rate = \"40MT/s\", width-bits = 8, command = \"1us\" }",
            "timing.cache=all",
        ],
        mixed,
    ),
    case("levels by what waits", &["policy cost=agcr", LEVELS], mixed),
    case("levels by what waits, large requests", &["policy cost=agcr", LEVELS], |i, at, page| {
        let op = if i.is_multiple_of(2) { Op::Write } else { Op::Read };
        bytes(at, op, page % 64 * PAGE, 8 * PAGE)
    }),
    case(
        "writes for space, in units",
        &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB"],
        |i, at, page| if i.is_multiple_of(3) { part(at, page) } else { wide(i, at, page) },
    ),
    case(
        "all sorts, in units, with a buffer",
        &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", "buffer.size=256KiB"],
        all_sorts,
    ),
    case("planes", &["geometry.planes-per-die=4", "ftl.multi-plane=any"], mixed),
    case("all sorts", &[], all_sorts),
    case(FLOWS, &["policy arbitration=weighted", "host.queue-limit=8"], mixed),
    case("idle work", &["ftl.gc.background-stop=6", "policy wear=hot-cold-swap"], all_sorts),
];

/// Writes to an SLC cache of superblocks of eight blocks, and of 256. Folding takes turns with them.
const WIDTHS: [Case; 2] = [
    case(
        "eight blocks in a superblock",
        &[
            CACHE[0],
            CACHE[1],
            CACHE[2],
            CACHE[3],
            "geometry.channels=2",
            "policy slc-cache=static:size=480KiB:fold=pressure:full=wait",
        ],
        wide_writes,
    ),
    case(
        "256 blocks in a superblock",
        &[
            CACHE[0],
            CACHE[1],
            CACHE[2],
            CACHE[3],
            "geometry.channels=64",
            "policy slc-cache=static:size=15MiB:fold=pressure:full=wait",
        ],
        wide_writes,
    ),
];
const CACHE: [&str; 4] = [
    "geometry.bits-per-cell=3",
    "geometry.planes-per-die=4",
    "ftl.superblock=drive",
    "slc={ read = \"25us\", program = \"150us\" }",
];

/// Two flows, whose requests wait outside.
const FLOWS: &str = "two flows and few places";

const LEVELS: &str = "timing.levels={ high = { program = \"800us\", read = \"70us\" }, medium = { \
                      program = \"600us\", read = \"170us\" }, low = { program = \"450us\", read = \
                      \"310us\" } }";

const DRIVE: [&str; 4] = [
    "geometry.blocks-per-plane=128",
    "geometry.pages-per-block=16",
    "ftl.spare-factor=0.4",
    "precondition.fill=full",
];

fn workload(case: &Case, drive: &Drive, size: u64, all: u64) -> Box<dyn Workload> {
    let mut rng = Rng::named(1, "test/backlog");
    let pages = drive.logical_pages - 64;
    let gap = size * 60_000_000;
    let one = |i: u64| (case.request)(i, i / size * gap, u64::from(rng.below(pages)));
    let all: Vec<Request> = (0..all).map(one).collect();
    let list = |requests| Box::new(List::new("batches", requests).expect("they are in order"));
    if case.name != FLOWS {
        return list(all);
    }
    let parts = (0..2).map(|flow| MergedPart {
        flow: Some((format!("flow {flow}"), 1 + flow)),
        ..MergedPart::new(list(all.iter().skip(flow as usize).step_by(2).copied().collect()))
    });
    Box::new(Merge::new("flows", parts.collect()).expect("two flows"))
}

/// Runs a case and prints its page operations.
fn run_case(case: &Case, size: u64, all: u64) {
    let drive = drive_of(BASE, &[&DRIVE[..], case.settings].concat());
    let report = run(&drive, workload(case, &drive, size, all), &mut NoCache, &mut |_| true)
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let value = report.value();
    assert_eq!(value["end"]["state"], "completed", "{}", case.name);
    let number = |of: &Value| of.as_u64().expect("a count");
    let flash = &value["flash"];
    let operations = number(&flash["program"]["total"]) + number(&flash["read"]["total"]);
    println!("{} operations", operations + all);
}

/// Instructions and page operations of a case in a process of its own.
fn count(case: usize, size: u64, all: u64) -> (f64, f64) {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().expect("this test runs"))
        .args(["--exact", "backlog::work_does_not_grow_with_what_waits", "--nocapture"])
        .env(ASKED, format!("{case} {size} {all}"))
        .output()
        .expect("valgrind was there");
    let (out, errors) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let number = |of: &str, before: &str| {
        let line = of.lines().find(|line| line.contains(before))?;
        line.split_whitespace().find_map(|word| word.parse().ok())
    };
    match (number(&errors, "Collected"), number(&out, " operations")) {
        (Some(instructions), Some(operations)) => (instructions, operations),
        _ => panic!("case {case} in batches of {size}:\n{out}{errors}"),
    }
}

#[test]
fn work_does_not_grow_with_what_waits() {
    if let Ok(asked) = env::var(ASKED) {
        let numbers: Vec<u64> = asked.split(' ').map(|n| n.parse().expect("a number")).collect();
        let mut all = CASES.iter().chain(&WIDTHS);
        let case = all.nth(numbers[0] as usize).expect("a case");
        return run_case(case, numbers[1], numbers[2]);
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed, which counts instructions");
        return;
    }
    let next = AtomicUsize::new(0);
    let mut grown = Vec::new();
    let work = || {
        let mut grown = Vec::new();
        while let Some((at, case)) = {
            let at = next.fetch_add(EACH, Ordering::Relaxed);
            CASES.get(at).map(|case| (at, case))
        } {
            // The fixed cost of a run is not part of a page operation.
            let base = count(at, SMALL, SMALL);
            let [few, many] = [(SMALL, SEVERAL), (LARGE, LARGE)].map(|(size, all)| {
                let (instructions, operations) = count(at, size, all);
                (instructions - base.0) / (operations - base.1)
            });
            let line = format!("{:<50} {few:>8.0} {many:>9.0} {:>6.2}", case.name, many / few);
            println!("{line}");
            if many > MOST * few {
                grown.push(line);
            }
        }
        grown
    };
    std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(work));
        for one in both {
            grown.extend(one.join().expect("it counts"));
        }
    });
    assert!(grown.is_empty(), "instructions of a page operation:\n{}", grown.join("\n"));
}

/// The work for each page does not grow with the blocks of a superblock.
#[test]
#[cfg_attr(not(feature = "verify"), ignore = "slow: run by `make verify`")]
fn work_does_not_grow_with_the_blocks_of_a_superblock() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed, which counts instructions");
        return;
    }
    let [narrow, wide] = [0, 1].map(|at| {
        let [few, many] = [SEVERAL, LARGE].map(|all| count(CASES.len() + at, LARGE, all));
        (many.0 - few.0) / (many.1 - few.1)
    });
    println!("{narrow:.0} instructions a page operation, {wide:.0} with wide superblocks");
    assert!(wide < MOST * narrow, "{wide:.0} instructions instead of {narrow:.0}");
}

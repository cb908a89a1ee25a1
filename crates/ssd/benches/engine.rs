//! How fast is the engine? Wall clock, whole runs, page operations per second.
//!
//! `cargo bench -p floatgate-ssd --bench engine` measures the budgets of the design. Each row is
//! the best of three runs of the loop alone, without preconditioning. A shared machine moves all
//! rows together. So compare rows of one call, and calls only by their ratios. First the engine
//! takes turns with a bare loop. Memory comes last: two sizes of a drive, for each slot of their
//! difference.

#![allow(clippy::disallowed_methods)] // a bench reads the clock

use floatgate_ssd::config::{Drive, Layers, load, render};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{ftl_of, generator, precondition};
use policies::Builtin;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::time::Instant;
use workload::{AddressWrap, OutOfRange, Workload};

const ROUNDS: usize = 3;

fn drive(settings: &[&str]) -> Drive {
    drive_like("agcr", settings)
}

fn drive_like(base: &str, settings: &[&str]) -> Drive {
    let set: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let text = format!("base = \"{base}\"\n");
    let file = ("bench.toml", text.as_str());
    let layers = Layers { file, library: &|_| None, set: &set, policy: &[], seed: None };
    load(&layers).unwrap_or_else(|errors| panic!("{}", render(&errors, false)))
}

/// One whole run.
struct Run {
    prepare: f64,
    seconds: f64,
    operations: u64,
    requests: u64,
}

fn run(drive: &Drive, workload: &dyn Workload) -> Run {
    let start = Instant::now();
    let mut ftl = ftl_of::<Builtin>(drive, drive.policies.build());
    precondition(drive, workload, &mut ftl, &mut |_| true).expect("nobody stops it");
    ftl.begin_run(drive.policies.build());
    let prepare = start.elapsed().as_secs_f64();
    let mut sim = Sim::new(drive, ftl);
    let mut source = workload.open().expect("it was opened before");
    let start = Instant::now();
    sim.run(&mut *source, None, &mut |_| true).expect("nobody stops it");
    let seconds = start.elapsed().as_secs_f64();
    let counts = sim.ftl().counts();
    let operations = counts.read.total() + counts.program.total();
    Run { prepare, seconds, operations, requests: sim.stats().served }
}

/// Runs the loop, and prints the best of some rounds against its budget.
fn measure(name: &str, budget: f64, drive: &Drive, workload: &dyn Workload) {
    let mut best = f64::MAX;
    let mut prepare = f64::MAX;
    let (mut operations, mut requests) = (0, 0);
    for _ in 0..ROUNDS {
        let run = run(drive, workload);
        best = best.min(run.seconds);
        prepare = prepare.min(run.prepare);
        (operations, requests) = (run.operations, run.requests);
    }
    let rate = operations as f64 / best / 1e6;
    println!(
        "{name:<44} {rate:>7.2} {budget:>7.1} {:>8.2} {:>9.3} {prepare:>8.2}",
        rate / budget,
        requests as f64 / best / 1e6,
    );
}

fn generated(name: &str, budget: f64, settings: &[&str]) {
    generated_on(&drive(settings), name, budget);
}

fn generated_on(drive: &Drive, name: &str, budget: f64) {
    let workload = generator(drive, "random-write").expect("a known generator");
    measure(name, budget, drive, &*workload);
}

/// The time of a bare loop that does, for each page operation, the work that no simulator can
/// avoid. The earliest completion leaves a binary heap, the page's die is looked up and written
/// anew, the operation begins when that die is free, and its completion enters the heap. The pages
/// are those of the workload's requests, repeated as often as it takes.
fn bare(drive: &Drive, workload: &dyn Workload, depth: u32, operations: u64) -> f64 {
    const PROGRAM: u64 = 600_000;
    let page = drive.geometry.page_size().get();
    let dies = drive.geometry.dies() as u32;
    let mut die_of: Vec<u32> = (0..drive.logical_pages).map(|lpn| lpn % dies).collect();
    let mut busy_until = vec![0_u64; dies as usize];
    let mut pending: BinaryHeap<_> = (0..depth).map(|slot| Reverse((0_u64, slot))).collect();
    let (mut batch, mut next, mut done) = (Vec::new(), 0, 0);
    let start = Instant::now();
    'all: loop {
        let mut source = workload.open().expect("it was opened before");
        loop {
            source.fill(&mut batch).expect("a generator");
            if batch.is_empty() {
                break;
            }
            for request in &batch {
                for lpn in request.offset / page..request.end().div_ceil(page) {
                    if done == operations {
                        break 'all;
                    }
                    let Reverse((now, slot)) = pending.pop().expect("as many enter as leave");
                    let die = std::mem::replace(&mut die_of[lpn as usize], next);
                    next = if next + 1 == dies { 0 } else { next + 1 };
                    let busy = &mut busy_until[die as usize];
                    *busy = now.max(*busy) + PROGRAM;
                    pending.push(Reverse((*busy, slot)));
                    done += 1;
                }
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    std::hint::black_box((die_of, busy_until, pending));
    seconds
}

/// The engine and the bare loop in turns, on the same requests and the same number of page
/// operations. Prints the best of each, and the engine's share of the loop's rate.
fn beside_a_bare_loop(name: &str, settings: &[&str]) {
    let drive = drive(settings);
    let workload = generator(&drive, "random-write").expect("a known generator");
    let (mut engine, mut loops) = (f64::MAX, f64::MAX);
    let mut operations = 0;
    for _ in 0..2 * ROUNDS {
        let run = run(&drive, &*workload);
        operations = run.operations;
        engine = engine.min(run.seconds);
        loops = loops.min(bare(&drive, &*workload, 32, operations));
    }
    let rate = |seconds: f64| operations as f64 / seconds / 1e6;
    println!(
        "{name}: {:.1} M page operations/s, a bare loop with a heap and busy-until {:.1}: {:.0} %",
        rate(engine),
        rate(loops),
        100.0 * loops / engine,
    );
}

/// Resident memory of this process in bytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The memory of drives like `modern-tlc`, filled, by the blocks of a plane.
fn memory() {
    let taken = |blocks: u32| {
        // Its share of the exported capacity with 912 blocks.
        let exported =
            format!("ftl.logical-capacity={}B", 125_000_000 / 912 * u64::from(blocks) * 4096);
        let blocks = format!("geometry.blocks-per-plane={blocks}");
        let drive = drive_like("modern-tlc", &[&blocks, &exported, "precondition.fill=full"]);
        let workload = generator(&drive, "random-write").expect("a known generator");
        let before = resident()?;
        let mut ftl = ftl_of::<Builtin>(&drive, drive.policies.build());
        precondition(&drive, &*workload, &mut ftl, &mut |_| true).expect("nobody stops it");
        let sim = Sim::new(&drive, ftl);
        let taken = resident()? - before;
        Some((sim.ftl().geometry().pages() as f64, taken as f64))
    };
    let (Some(small), Some(large)) = (taken(456), taken(1824)) else {
        println!("memory: skipped, this system does not tell how much a process has");
        return;
    };
    println!(
        "memory: {:.2} bytes for each slot; {:.0} M slots of 4 KiB ({:.2} TiB) take {:.2} GiB",
        (large.1 - small.1) / (large.0 - small.0),
        large.0 / 1e6,
        large.0 * 4096.0 / f64::powi(2.0, 40),
        large.1 / f64::powi(2.0, 30),
    );
}

fn real_traces() {
    match std::env::var_os("FLOATGATE_TRACES") {
        Some(folder) => replays(Path::new(&folder)),
        None => println!("replay of real traces: skipped, FLOATGATE_TRACES is not set"),
    }
}

/// Every real trace of a folder, its reading included, with addresses modulo the capacity.
fn replays(folder: &Path) {
    let drive = drive(&[]);
    let capacity = floatgate_ssd::capacity(&drive);
    let files = std::fs::read_dir(folder).expect("FLOATGATE_TRACES is a folder");
    let mut files: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "zst"));
    files.sort();
    for file in files {
        let name = file.file_name().expect("a file").to_string_lossy();
        let name = format!("replay of {} on agcr", name.split('.').next().unwrap_or(&name));
        let trace = workload::open_trace(&file, &workload::ReadOptions::default());
        let trace = AddressWrap::new(trace.expect("a trace"), OutOfRange::Wrap, 0, capacity);
        measure(&name, 3.0, &drive, &trace.expect("every address wraps"));
    }
}

fn main() {
    // One group of rows by its name: the whole takes minutes.
    if std::env::args().any(|argument| argument == "traces") {
        return real_traces();
    }
    let aged = [
        "workload.requests=1000000",
        "host.mode=queue-depth",
        "precondition.fill=full",
        "precondition.age=random",
    ];
    let with = |more: &[&'static str]| [&aged[..], more].concat();
    beside_a_bare_loop(
        "random write, 16 GiB, 10 % spare",
        &with(&["geometry.blocks-per-plane=256", "ftl.spare-factor=0.10"]),
    );
    println!(
        "{:<44} {:>7} {:>7} {:>8} {:>9} {:>8}",
        "", "Mops/s", "budget", "ratio", "Mreq/s", "prep s"
    );
    let bus = "timing.bus={ rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }";
    generated(
        "random write, 8 GiB, 12.5 % spare",
        5.0,
        &with(&["geometry.blocks-per-plane=128", "ftl.spare-factor=0.125"]),
    );
    generated(
        "the same with the cells modelled, at 60 %",
        3.0,
        &with(&[
            "geometry.blocks-per-plane=128",
            "ftl.spare-factor=0.125",
            "reliability.model=on",
            "reliability.initial-cycles=2000",
            "reliability.initial-retention=180d",
        ]),
    );
    generated(
        "random write, 16 GiB, 10 % spare",
        5.0,
        &with(&["geometry.blocks-per-plane=256", "ftl.spare-factor=0.10"]),
    );
    generated(
        "random write, 16 GiB, 10 % spare, bus modelled",
        5.0,
        &with(&["geometry.blocks-per-plane=256", "ftl.spare-factor=0.10", bus]),
    );
    generated(
        "random write, 64 GiB, 20 % spare (prep ≤ 15 s)",
        2.5,
        &with(&["geometry.blocks-per-plane=1024", "ftl.spare-factor=0.20"]),
    );
    generated(
        "random write, 64 GiB, 7 % spare (prep ≤ 30 s)",
        2.5,
        &with(&["geometry.blocks-per-plane=1024", "ftl.spare-factor=0.07"]),
    );
    generated(
        "random write, 128 GiB, 10 % spare",
        2.5,
        &with(&["geometry.blocks-per-plane=2048", "ftl.spare-factor=0.10"]),
    );
    generated(
        "random write, 64 GiB, filled only (prep ≤ 1 s)",
        2.5,
        &[
            "workload.requests=1000000",
            "host.mode=queue-depth",
            "precondition.fill=full",
            "geometry.blocks-per-plane=1024",
        ],
    );
    let units = ["workload.size=4KiB", "workload.requests=300000", "host.queue-depth=128"];
    let drive = drive_like("modern-tlc-small", &with(&units));
    generated_on(&drive, "random write, program units (modern-tlc-small)", 5.0);
    real_traces();
    memory();
}

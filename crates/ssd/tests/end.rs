//! Counts and time of one interval? Counts of a run against the time of the operations, with any
//! operation under way or left when the run ends.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{count, drive, generate, number, policies_of};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, ftl_of, generator};
use kernel::TimeSum;
use serde_json::Value;

const READ: u128 = 50_000;
const PROGRAM: u128 = 600_000;
const ERASE: u128 = 3_000_000;

/// Drives that collect in every way there is, of the first of these shapes: one die, several, and several
/// units to a program.
fn drives(shapes: usize, own: &[&str]) -> Vec<(String, Drive)> {
    const COLLECTING: [&[&str]; 5] = [
        &["ftl.gc.foreground=all"],
        &["ftl.gc.foreground=one", "ftl.gc.background-stop=0"],
        &["ftl.gc.foreground=one", "ftl.gc.background-stop=6"],
        &["ftl.gc.pace=per-write", "ftl.gc.start=3"],
        &["ftl.gc.pace=per-write", "ftl.gc.foreground=one", "ftl.gc.background-stop=6"],
    ];
    const SHAPES: [&[&str]; 3] = [
        &[],
        &["geometry.channels=2", "geometry.chips-per-channel=2"],
        &[
            "geometry.page-size=16KiB",
            "geometry.planes-per-die=2",
            "ftl.mapping-unit=4KiB",
            "ftl.program-planes=2",
            "buffer.size=256KiB",
            "workload.size=4KiB",
        ],
    ];
    let base = [
        "geometry.blocks-per-plane=48",
        "geometry.pages-per-block=32",
        "ftl.spare-factor=0.3",
        "ftl.gc.stop=4",
        "precondition.fill=full",
        "host.queue-depth=16",
    ];
    let with = |gc: &[&str], shape: &[&str], requests: u32| {
        let requests = format!("workload.requests={requests}");
        let all = [&base[..], gc, shape, &[&requests], own].concat();
        (all[base.len()..].join(" "), drive(&all))
    };
    let mut all = Vec::new();
    for gc in COLLECTING {
        for shape in &SHAPES[..shapes] {
            // Chance decides where a run ends: some end amid a move, some amid an erase.
            all.extend([6_050, 8_401, 11_002, 13_773].map(|requests| with(gc, shape, requests)));
        }
    }
    all
}

/// Half of all drives, with runs of each length: two tests share them. `make verify` has all in both.
fn half(of: usize) -> impl Iterator<Item = (String, Drive)> {
    let all = drives(3, &[]).into_iter().enumerate();
    all.filter(move |(i, _)| cfg!(feature = "verify") || (i + i / 4) % 2 == of).map(|(_, d)| d)
}

/// If every operation has one length and the bus takes no time, the counted commands took all the
/// time that dies were busy. The exception is the operations under way, at most one for each die. A
/// die is busy no longer than the run.
#[test]
fn what_is_counted_took_the_time_that_dies_were_busy() {
    let (mut amid, mut left) = (0, 0);
    for (what, drive) in half(0) {
        let mut ftl = ftl_of(&drive, policies_of(&drive));
        let state = &mut |_| true;
        let work = generator(&drive, "random-write").expect("a known generator");
        floatgate_ssd::precondition(&drive, &*work, &mut ftl, state).expect("it fills");
        ftl.begin_run(policies_of(&drive));
        let mut sim = Sim::new(&drive, ftl);
        let mut source = work.open().expect("it opens");
        sim.run(&mut *source, None, state).expect("it runs");

        // The run ends with the last request, or with the last program of the buffer.
        let stats = sim.stats();
        assert_eq!(sim.end().as_ns(), stats.end_ns.max(stats.emptied_ns), "{what}");
        let (dies, units) = (drive.geometry.dies() as u128, drive.geometry.units());
        let (counts, device) = (sim.ftl().counts(), sim.device_stats());
        let planes = u128::from(units.planes);
        // A command programs a page, or one of each plane that works with it.
        let programs = u128::from(counts.program.total());
        let programs = programs / u128::from(drive.geometry.slots_per_program());
        let erases = u128::from(counts.erase.total().get()) / planes;
        let by_level: u64 = device.program_by_level.total();
        assert_eq!(u128::from(by_level), programs * planes, "{what}: programs by level");
        let moves = counts.host_pages + counts.moved.total() + counts.padding.total();
        assert_eq!(counts.program.total(), moves, "{what}: what is under way counts in neither");

        let busy = (device.busy.sum::<TimeSum>() + device.suspending).as_ns();
        let run = u128::from(sim.end().as_ns());
        assert!(busy <= run * dies, "{what}: {busy} ns busy in {run} of {dies} dies");
        let mut least = programs * PROGRAM + erases * ERASE;
        let mut most = least + dies * ERASE;
        if planes == 1 {
            let reads = u128::from(counts.read.total());
            assert_eq!(device.read_by_level.total(), counts.read.total(), "{what}");
            (least, most) = (least + reads * READ, most + reads * READ);
        } else {
            // Units of a page are read together, as many as there are.
            most += u128::from(counts.read.total()) * READ;
        }
        assert!((least..=most).contains(&busy), "{what}: {busy} ns for {least} to {most}");
        amid += u32::from(busy > least && planes == 1);
        left += u32::from(sim.ftl().running_jobs() > 0);
    }
    assert!(amid > 5 && left > 10, "{amid} runs ended amid a command, {left} amid collection");
}

/// The same by level and by sensings where commands cross a bus, wait in registers, are interrupted, stay in
/// their die, or read as finely as errors demand.
#[test]
fn what_is_under_way_counts_nowhere_whatever_dies_can_do() {
    const BUS: &str = "timing.bus={ rate = \"100MT/s\", command = \"300ns\" }";
    const SUSPEND: &str = "timing.suspend={ pause = \"20us\", resume = \"30us\" }";
    const CELLS: [&str; 5] = [
        "geometry.bits-per-cell=2",
        "reliability.model=on",
        "reliability.endurance=3000",
        "reliability.initial-cycles=2900",
        "reliability.initial-retention=1y",
    ];
    let ways: [&[&str]; 7] = [
        &[BUS],
        &[BUS, "timing.bus.first=data"],
        &[BUS, "timing.cache=all"],
        &[SUSPEND, "policy order=read-first", "workload.read-share=0.4"],
        &[BUS, "timing.cache=reads", SUSPEND, "policy order=read-first", "workload.read-share=0.4"],
        &[BUS, "ftl.copyback=4"],
        &["ftl.multi-plane=any", "geometry.planes-per-die=2", "geometry.blocks-per-plane=24"],
    ];
    let mut finer = 0;
    for way in ways {
        for cells in [&[][..], &CELLS] {
            let own = [way, cells].concat();
            let each = if cfg!(feature = "verify") { 7 } else { 26 };
            for (what, drive) in drives(2, &own).into_iter().step_by(each) {
                let value = generate(&drive, "random-write");
                let flash = &value["flash"];
                for kind in ["read", "program"] {
                    let levels = flash["by_level"][kind].as_object().expect("a table");
                    let sum: u64 = levels.values().map(count).sum();
                    assert_eq!(sum, count(&flash[kind]["total"]), "{what}: {kind} by level");
                }
                if !cells.is_empty() && !way.contains(&"ftl.copyback=4") {
                    let simulated = &value["lifetime"]["simulated"];
                    let sensings =
                        simulated["pages_read_by_sensings"].as_object().expect("a table");
                    let sum: u64 = sensings.values().map(count).sum();
                    assert_eq!(sum, count(&flash["read"]["total"]), "{what}: reads by sensings");
                    finer += u32::from(count(&simulated["failed_attempts"]) > 0);
                }
            }
        }
    }
    assert!(finer > 2, "{finer} runs had reads that errors made finer");
}

/// The work left is a number of its own, with a warning above 1 % of the run, and its effect is
/// given. A run of the same writes that goes on counts it.
#[test]
fn the_work_left_stands_beside_the_result_and_in_a_warning() {
    let (mut warned, mut quiet) = (0, 0);
    for (what, drive) in half(1) {
        let value = generate(&drive, "random-write");
        let (end, left) = (&value["end"], &value["end"]["work_left"]);
        let (seconds, moves) = (number(&left["die_seconds"]), count(&left["moves"]));
        let had = number(&value["simulated_seconds"]) * drive.geometry.dies() as f64;
        assert_eq!(count(&end["at_ns"]) as f64 * 1e-9, number(&value["simulated_seconds"]));
        let codes = value["warnings"].as_array().expect("a list").iter();
        let told = codes.filter(|w| w["code"] == "work-left").count();
        assert_eq!(told, usize::from(seconds > 0.01 * had), "{what}: {seconds} s of {had}");
        // Each move is a program, of which several may be one command.
        let unit = u64::from(drive.geometry.slots_per_program());
        let programs = moves.saturating_sub(2 * unit) / unit;
        let programs = programs as f64 * PROGRAM as f64 * 1e-9;
        assert!(seconds >= programs, "{what}: {seconds} s for {moves} moves");
        if told > 0 { warned += 1 } else { quiet += 1 }
    }
    assert!(warned > 5 && quiet > 0, "{warned} runs warned, {quiet} did not");
}

/// A drive that never collects leaves nothing, and a drive whose life ended has no such number.
#[test]
fn where_nothing_is_left_and_where_nobody_can_say() {
    let value = generate(&drive(&["workload.requests=20"]), "random-write");
    let left = &value["end"]["work_left"];
    assert_eq!((count(&left["moves"]), count(&left["erases"])), (0, 0));
    assert_eq!(number(&left["die_seconds"]), 0.0);
    let worn = drive(&["reliability.endurance=3", "workload.requests=20000"]);
    let value: Value = generate(&worn, "random-write");
    assert_eq!(value["end"]["state"], "worn-out");
    assert!(value["end"]["work_left"].is_null() && value["checks"]["passed"].is_null());
}

/// A throttle that would hold writes back for longer than simulated time lasts ends the run with a
/// result: the requests that are left are counted and named. With a target within simulated time
/// all are served, at the target at the latest.
#[test]
fn where_simulated_time_ends_before_the_requests() {
    const YEAR: u64 = 365 * 24 * 3600 * 1_000_000_000;
    for (target, whole) in [("5y", true), ("100y", true), ("500y", false)] {
        let policy = format!("policy throttle=static:target={target}");
        let worn = drive(&[
            "reliability.endurance=20",
            "workload.requests=1500",
            &policy,
            "workload.read-share=0.2",
            "host.queue-depth=8",
        ]);
        let value: Value = generate(&worn, "random-write");
        let end = &value["end"];
        assert!(count(&end["at_ns"]) < if whole { 101 * YEAR } else { 147 * YEAR }, "{target}");
        let of = |what: &str| count(&value["checks"][what]);
        let (came, served) = (of("requests_generated"), of("requests_served"));
        if whole {
            assert_eq!(end["state"], "completed", "{target}");
            continue;
        }
        assert_eq!(end["state"], "out-of-time", "{target}");
        assert!(end["work_left"].is_null() && value["checks"]["passed"].is_null());
        let reason = end["reason"].as_str().expect("a reason");
        assert!(reason.contains("146 years") && reason.contains("holds 8 of them"), "{reason}");
        assert!(served > 0 && came == served + 8, "{came} came, {served} were served");
    }
}

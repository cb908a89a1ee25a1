//! Pages that are mapped in parts, and programmed together: the wait of a write, the padding of a
//! program, the cost of a read.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    self, PAGE, Remembering, bytes, class_of, close, count, drive, first_of, flush, generate,
    number, policies_of, read, serve, trim, try_drive, urgent, write, write_fua,
};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, ftl_of, generator, precondition};
use ftl::Ftl;
use serde_json::Value;
use workload::Op;

const PROGRAM: u64 = 600_000;
const SENSE: u64 = 50_000;

/// Pages of 16 KiB in units of 4 KiB.
fn quarters<'a>(own: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB"];
    fixed.into_iter().chain(own.iter().copied()).collect()
}

/// `docs/measured/units.md` has all these rows.
fn page_says(rows: &[String]) {
    let page = include_str!("../../../docs/measured/units.md");
    let missing: Vec<_> = rows.iter().filter(|row| !page.contains(*row)).collect();
    assert!(!rows.is_empty() && missing.is_empty(), "{missing:#?}");
}

fn flash(value: &Value, what: &str, source: &str) -> u64 {
    count(&value["flash"][what][source])
}

// ── Writes ──────────────────────────────────────────────────────────────────────────────────────

/// Four writes at once are one program; a fifth alone is one, too, and three parts of its page hold
/// nothing.
#[test]
fn what_comes_at_once_is_programmed_together() {
    let value = serve(&drive(&quarters(&[])), (0..5).map(|page| write(0, page)).collect());
    assert_eq!((flash(&value, "program", "host"), flash(&value, "padding", "host")), (8, 3));
    let latency = &value["host"]["write"]["latency_ns"];
    assert_eq!((count(&latency["min"]), count(&latency["max"])), (PROGRAM, 2 * PROGRAM));
    assert_eq!(number(&value["waf"]), 1.6);
    assert_eq!(number(&value["waf_pages"]), 1.0);
}

/// A write waits for others as long as it is told to, and not longer than it must.
#[test]
fn a_write_waits_for_others_as_long_as_it_is_told() {
    let drive = drive(&quarters(&["ftl.program-wait=1ms"]));
    // Three, one of them late; then four, the last of which completes the page.
    let times = [0, 10, 900_000, 10_000_000, 10_000_001, 10_000_002, 10_200_000];
    let requests = times.into_iter().zip(0..).map(|(at, page)| write(at, page)).collect();
    let value = serve(&drive, requests);
    assert_eq!(flash(&value, "padding", "host"), 1);
    let written = class_of(&value, "write");
    // The first waits for a millisecond, the fourth for 0.2.
    assert_eq!(written.max, 1_000_000 + PROGRAM);
    let waits = 1_000_000 + 999_990 + 100_000 + 200_000 + 199_999 + 199_998;
    assert_eq!(written.totals(), (waits + 7 * PROGRAM, waits, 0, 0, 7 * PROGRAM));
}

/// The unit is full before the wait is over if n - 1 more come in that time. Of a Poisson stream
/// min(n, 1 + X) are programmed together, and X is Poisson with the mean of the arrivals in the
/// wait.
#[test]
fn padding_of_random_arrivals_is_its_formula() {
    let mut rows = Vec::new();
    for (rate, micros, n) in [(2_000.0, 500, 4_u32), (2_000.0, 2_000, 4), (1_000.0, 4_000, 8)] {
        let unit = format!("ftl.mapping-unit={}B", 16_384 / n);
        let size = format!("workload.size={}B", 16_384 / n);
        let own = [
            "geometry.page-size=16KiB".to_owned(),
            "geometry.blocks-per-plane=256".into(),
            "geometry.pages-per-block=64".into(),
            "geometry.chips-per-channel=8".into(),
            unit,
            size,
            format!("ftl.program-wait={micros}us"),
            format!("workload.arrivals={{ poisson = {{ iops = {rate} }} }}"),
            "workload.requests=200000".into(),
        ];
        let value = generate(&drive(&own), "random-write");
        let mean = rate * f64::from(micros) * 1e-6;
        let poisson = |k: u32| (1..=k).fold((-mean).exp(), |p, i| p * mean / f64::from(i));
        let together: f64 = (0..n - 1).map(|k| poisson(k) * f64::from(k + 1)).sum::<f64>()
            + (1.0 - (0..n - 1).map(poisson).sum::<f64>()) * f64::from(n);
        let programs = flash(&value, "program", "host") as f64 / f64::from(n);
        let data = (flash(&value, "program", "host") - flash(&value, "padding", "host")) as f64;
        close(&format!("{n} at {rate}/s in {micros} us"), data / programs, together, 0.01);
        let full = data / programs;
        rows.push(format!("| {n} | {rate} | {micros} us | {together:.3} | {full:.3} |"));
    }
    page_says(&rows);
}

/// A page that is written over before it has a slot, or given up, never reaches flash; it is done with
/// the others, or at once where there are none.
#[test]
fn what_is_written_over_while_it_waits_never_reaches_flash() {
    let drive = drive(&quarters(&["ftl.program-wait=1ms"]));
    let requests = vec![write(0, 1), write(100, 1), write(200, 2), trim(300, 2), write(400, 3)];
    let value = serve(&drive, requests);
    assert_eq!((flash(&value, "program", "host"), flash(&value, "padding", "host")), (4, 2));
    assert_eq!(count(&value["checks"]["mapped"]), 2);
    assert_eq!(class_of(&value, "write").max, 1_000_000 + PROGRAM);
    // Nothing is left to program.
    let value = serve(&drive, vec![write(0, 1), write(100, 1), trim(300, 1)]);
    assert_eq!((flash(&value, "program", "host"), count(&value["checks"]["mapped"])), (0, 0));
    assert_eq!(class_of(&value, "write").max, 300);
}

/// A part of a unit is written over a waiting page: nothing is read for it.
#[test]
fn a_modification_of_what_waits_reads_nothing() {
    let drive = drive(&quarters(&["ftl.program-wait=1ms"]));
    let half = |at| bytes(at, Op::Write, PAGE, PAGE / 2);
    let value = serve(&drive, vec![write(0, 1), half(100), half(10_000_000)]);
    assert_eq!(count(&value["flash"]["rmw_reads"]), 1);
    assert_eq!(flash(&value, "program", "host"), 8);
}

/// A read of a waiting page is answered from memory, while the page waits for others and while it
/// waits for space.
#[test]
fn a_read_of_what_waits_finds_it_in_memory() {
    let drive = drive(&quarters(&["ftl.program-wait=1ms"]));
    let value = serve(&drive, vec![write(0, 1), read(500_000, 1)]);
    assert_eq!((count(&value["flash"]["pending_reads"]), class_of(&value, "read").max), (1, 0));
    assert_eq!(flash(&value, "read", "total"), 0);
}

/// The warning says how many writes had to read first, and with which unit none would have.
#[test]
fn writes_of_parts_are_warned_of_with_the_unit_that_avoids_them() {
    let warning = |value: &Value| {
        let all = value["warnings"].as_array().unwrap();
        let found = all.iter().find(|w| w["code"] == "partial-writes");
        found.map(|w| w["text"].as_str().unwrap().to_owned())
    };
    let run = |unit: &str, size: &str| {
        let own = [
            "geometry.page-size=16KiB",
            "geometry.blocks-per-plane=64",
            "precondition.fill=full",
            "workload.requests=1000",
        ];
        let (unit, size) = (format!("ftl.mapping-unit={unit}"), format!("workload.size={size}"));
        warning(&generate(&drive(&[&own[..], &[&*unit, &*size]].concat()), "random-write"))
    };
    let whole = run("16KiB", "4KiB").expect("each write is one");
    assert!(whole.contains("100.0 % of the page writes were read-modify-writes"), "{whole}");
    assert!(whole.contains("--set ftl.mapping-unit=4KiB"), "{whole}");
    assert_eq!(run("4KiB", "4KiB"), None);
    let half = run("4KiB", "6KiB").expect("one of two pages is written in part");
    // A few of them find the page on its way to flash.
    assert!(half.starts_with('4') && half.contains("--set ftl.mapping-unit=2KiB"), "{half}");
}

/// If urgent writes go first, they have blocks of their own, and share no program with others: two
/// of each at once are two programs, half of each empty. Elsewhere they are one.
#[test]
fn urgent_writes_share_no_program_with_others() {
    let script =
        || (0..4).map(|page| if page < 2 { write(0, page) } else { urgent(write(0, page)) });
    for (order, padding) in [("priority", 4), ("fifo", 0)] {
        let order = format!("policy order={order}");
        let value = serve(&drive(&quarters(&[&order])), script().collect());
        assert_eq!(flash(&value, "padding", "host"), padding, "{order}");
    }
}

// ── The buffer ──────────────────────────────────────────────────────────────────────────────────

fn buffered(protected: bool) -> Drive {
    let protected = format!("buffer.power-loss-protected={protected}");
    drive(&quarters(&["buffer.size=64KiB", "buffer.kind=write-back", &protected]))
}

/// If the host has its answer earlier, no program is partial, until the end of the run, which
/// leaves all written data in flash.
#[test]
fn a_buffer_fills_program_units() {
    let requests = (0..6).map(|n| write(n * 10_000_000, n)).collect();
    let value = serve(&buffered(true), requests);
    assert_eq!((flash(&value, "program", "host"), flash(&value, "padding", "host")), (8, 2));
    assert_eq!(class_of(&value, "write").max, 0);
}

/// A flush, and a write that is done only when it is safe, do not wait for others; they wait for one
/// program. With power-loss protection there is nothing to wait for.
#[test]
fn who_wants_to_be_safe_waits_for_a_program_and_no_longer() {
    for (protected, wait, padding) in [(false, PROGRAM, 3 + 3), (true, 0, 2)] {
        let value =
            serve(&buffered(protected), vec![write(0, 1), flush(1_000), write_fua(2_000_000, 2)]);
        assert_eq!(class_of(&value, "flush").max, wait, "{protected}");
        assert_eq!(class_of(&value, "write").max, wait, "{protected}");
        assert_eq!(flash(&value, "padding", "host"), padding, "{protected}");
    }
}

/// A buffer smaller than a program unit goes on: the waiting pages are programmed as they are.
#[test]
fn a_buffer_that_is_smaller_than_a_program_unit_goes_on() {
    let small = drive(&quarters(&["buffer.size=8KiB", "host.mode=queue-depth"]));
    let value = serve(&small, (0..40).map(|page| write(0, page)).collect());
    assert_eq!(flash(&value, "program", "host"), 80);
    assert_eq!(flash(&value, "padding", "host"), 40);
}

// ── Reads ───────────────────────────────────────────────────────────────────────────────────────

/// One sensing for all that a request reads of a page; the channel carries the requested units. 16
/// KiB take 20.48 us at 800 MB/s, a quarter of that 5.12.
#[test]
fn a_request_reads_a_page_once_and_gets_what_it_asked_for() {
    let own = [
        "precondition.fill=full",
        "timing.bus={ rate = \"800MT/s\", width-bits = 8, command = \"300ns\" }",
        "timing.read-partial=40us",
    ];
    let drive = drive(&quarters(&own));
    let (command, part) = (300, 5_120);
    for (units, sensing) in [(4, SENSE), (3, 40_000), (1, 40_000)] {
        let value = serve(&drive, vec![bytes(0, Op::Read, 4 * PAGE, units * PAGE)]);
        assert_eq!(class_of(&value, "read").max, command + sensing + units * part, "{units}");
        assert_eq!(flash(&value, "read", "host"), units);
        assert_eq!(count(&value["flash"]["by_level"]["read"]["medium"]), 1);
    }
    // Two pages of one die.
    let value = serve(&drive, vec![bytes(0, Op::Read, 6 * PAGE, 4 * PAGE)]);
    assert_eq!(class_of(&value, "read").max, 2 * (command + 40_000 + 2 * part));
}

/// Dies take such reads by turns, also where only one part of each page is read.
#[test]
fn reads_of_what_holds_nothing_use_all_dies() {
    let own = ["geometry.chips-per-channel=4", "ftl.unmapped-read=flash", "precondition.fill=none"];
    let drive = drive(&quarters(&own));
    // One part of each of eight pages, the first or the last, and all parts of two.
    for parts in
        [[0, 4, 8, 12, 16, 20, 24, 28], [3, 7, 11, 15, 19, 23, 27, 31], [0, 1, 2, 3, 4, 5, 6, 7]]
    {
        let value = serve(&drive, parts.map(|part| read(0, part)).to_vec());
        assert_eq!(count(&value["flash"]["unmapped_reads"]), 8);
        assert_eq!(class_of(&value, "read").max, 2 * SENSE, "{parts:?}");
    }
}

/// Collection reads all valid units of a page at once. Of every page one quarter is written over,
/// so each victim's pages have three valid quarters, or none where all was moved.
#[test]
fn collection_senses_a_page_once() {
    let own = [
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.16",
        "precondition.fill=full",
        "policy victim=fifo",
    ];
    let drive = drive(&quarters(&own));
    let pages = u64::from(drive.logical_pages) / 4;
    let requests = (0..pages).map(|n| write(n / 4 * 10_000_000, n * 4)).collect();
    let value = serve(&drive, requests);
    let sensings = count(&value["flash"]["by_level"]["read"]["medium"]);
    let units = flash(&value, "read", "gc");
    assert!(units > 500 && units == 3 * sensings, "{units} units in {sensings} sensings");
    // Three quarters of a block of eight pages: six whole pages.
    assert_eq!(flash(&value, "padding", "gc"), 0);
}

/// Collection that a write starts is in line from the moment when the write gets its slot, also if
/// that is the end of its wait for others. A read that comes a microsecond later waits for all of
/// it. The victim is a block of pages that were programmed for one unit each, and eight units are
/// two pages.
#[test]
fn collection_stands_in_line_from_when_a_wait_for_others_ends() {
    const ERASE: u64 = 3_000_000;
    let own = [
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.16",
        "precondition.fill=full",
        "ftl.program-wait=1ms",
    ];
    let drive = drive(&quarters(&own));
    let pages = u64::from(drive.logical_pages) / 4;
    let requests = (0..pages).flat_map(|n| {
        let at = n * 50_000_000;
        [write(at, n * 4), read(at + 1_001_000, n * 4 + 2)]
    });
    let reads = class_of(&serve(&drive, requests.collect()), "read");
    let alone = PROGRAM - 1_000 + SENSE;
    assert_eq!((reads.min, reads.max), (alone, alone + 8 * SENSE + 2 * PROGRAM + ERASE));
}

/// The sums of a run with pages of several parts: every family's policies, one after the other.
#[test]
fn every_policy_works_on_units() {
    let own = [
        "geometry.channels=2",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=12",
        "geometry.bits-per-cell=3",
        "ftl.spare-factor=0.45",
        "ftl.gc.stop=3",
        "precondition.fill=full",
        "workload.requests=20000",
        "workload.size=4KiB",
        "host.mode=queue-depth",
        "host.queue-depth=32",
        "timing.program=[ \"300us\", \"600us\", \"900us\" ]",
        "slc={ read = \"25us\", program = \"150us\" }",
    ];
    let mut runs = 0;
    for policy in policies::all() {
        let family = policy.family.name();
        let choice = format!("policy {family}={}", policy.name);
        let settings = quarters(&[&own[..], &[&*choice]].concat());
        let drive = match try_drive(common::BASE, &settings) {
            Ok(drive) => drive,
            Err(why) => {
                assert!(family == "coding" && why.contains("mapping unit"), "{choice}: {why}");
                continue;
            }
        };
        for pattern in ["random-write", "jesd219-enterprise"] {
            let value = generate(&drive, pattern);
            let (programs, units) = (flash(&value, "program", "total"), 4);
            assert!(programs > 10_000 && programs.is_multiple_of(units), "{choice}: {programs}");
        }
        runs += 1;
    }
    assert!(runs > 20, "{runs} policies");
}

/// Preconditioning leaves nothing behind, and is not counted; a state from memory is the same.
#[test]
fn what_is_there_before_the_run_is_in_flash() {
    let own = ["precondition.fill=full", "precondition.age=random", "geometry.blocks-per-plane=64"];
    let drive = drive(&quarters(&own));
    let workload = generator(&drive, "random-write").unwrap();
    let mut ftl = ftl_of(&drive, policies_of(&drive));
    precondition(&drive, &*workload, &mut ftl, &mut |_| true).unwrap();
    assert_eq!(ftl.map().mapped(), drive.logical_pages);
    let saved = |ftl: &Ftl<Remembering>| {
        let mut state = Vec::new();
        ftl.save(&mut state).expect("memory takes all");
        state
    };
    let state = saved(&ftl);
    let mut other = ftl_of(&drive, policies_of(&drive));
    other.restore(&mut &state[..]).expect("its own state");
    assert_eq!(saved(&other), state);
    ftl.begin_run(policies_of(&drive));
    assert_eq!(ftl.counts().padding.total(), 0);
    // Half a program unit is not a valid state.
    let sim = Sim::new(&drive, other);
    assert_eq!(sim.ftl().slots_per_program(), 4);
}

// ── Planes and wordlines ────────────────────────────────────────────────────────────────────────

/// Three bits, four planes: one program takes several pages of several planes.
fn large<'a>(own: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "geometry.planes-per-die=4",
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=12",
        "timing.program=[ \"300us\", \"600us\", \"1200us\" ]",
    ];
    quarters(&fixed.into_iter().chain(own.iter().copied()).collect::<Vec<_>>())
}

/// Pages that are written at once take one program, as long as those pages of a block one after the
/// other, for any number of planes.
#[test]
fn one_program_takes_all_its_pages_in_the_time_of_a_block() {
    for (own, units, times) in [
        (vec!["ftl.program-planes=4"], 16, vec![300_000, 600_000, 1_200_000]),
        (vec!["ftl.program-planes=2"], 8, vec![300_000, 300_000, 600_000]),
        (vec!["pages.program=wordline"], 12, vec![2_100_000; 3]),
        (vec!["pages.program=wordline", "ftl.program-planes=4"], 48, vec![2_100_000; 3]),
    ] {
        let drive = drive(&large(&own));
        assert_eq!(drive.geometry.slots_per_program(), units);
        let units = u64::from(units);
        for (n, time) in times.into_iter().enumerate() {
            // The nth program of the block, or of one of the other group.
            let before = n as u64 * units;
            let requests =
                (0..before + units).map(|page| write(page / units * 10_000_000, page)).collect();
            let value = serve(&drive, requests);
            assert_eq!(flash(&value, "padding", "host"), 0);
            assert_eq!(class_of(&value, "write").max, time, "{own:?}, program {n}");
        }
    }
}

/// In two steps half a wordline's pages are programmed at once.
#[test]
fn two_steps_take_half_a_wordline_each() {
    let own = [
        "geometry.bits-per-cell=4",
        "timing.program=[ \"1ms\", \"2ms\", \"3ms\", \"4ms\" ]",
        "pages.program=two-step",
    ];
    let value = serve(&drive(&quarters(&own)), (0..16).map(|page| write(0, page)).collect());
    let latency = &value["host"]["write"]["latency_ns"];
    assert_eq!((count(&latency["min"]), count(&latency["max"])), (3_000_000, 10_000_000));
}

/// Bandwidth: planes x pages x page in the time of a program, while writes of the host keep up.
#[test]
fn program_units_have_the_bandwidth_of_all_they_take() {
    for (own, bytes, time) in [
        (vec!["ftl.program-planes=4"], 4 * 16_384, 700_000),
        (vec!["pages.program=wordline"], 3 * 16_384, 2_100_000),
        (vec!["pages.program=wordline", "ftl.program-planes=4"], 12 * 16_384, 2_100_000),
    ] {
        let fixed = [
            "geometry.blocks-per-plane=256",
            "buffer.size=1MiB",
            "host.mode=queue-depth",
            "workload.size=128KiB",
            "workload.requests=1000",
        ];
        let value = generate(&drive(&large(&[&own[..], &fixed[..]].concat())), "sequential-write");
        let rate =
            count(&value["host"]["write"]["bytes"]) as f64 / number(&value["simulated_seconds"]);
        let law = f64::from(bytes) / f64::from(time) * 1e9;
        close(&format!("{own:?}"), rate, law, 0.01);
    }
}

/// The sustained rate of a drive. A die that is never idle programs all written and moved data,
/// reads moved data page by page of all its planes, and erases. Of a victim with the share v of its
/// units valid a page of m units is read with the probability 1 - (1 - v)^m.
#[test]
fn a_drive_sustains_what_its_operations_leave_time_for() {
    let mut rows = Vec::new();
    for planes in [1, 2, 4] {
        let program = format!("ftl.program-planes={planes}");
        let blocks = format!("geometry.blocks-per-plane={}", 1024 / planes);
        let own = [
            &*program,
            &*blocks,
            "geometry.pages-per-block=60",
            "pages.program=wordline",
            "ftl.spare-factor=0.2",
            "buffer.size=1MiB",
            "host.mode=queue-depth",
            "workload.requests=300000",
            "workload.seed=7",
            "precondition.fill=full",
            "precondition.age=random",
        ];
        // All planes of the die, so that it has one group, or as many as are left.
        let geometry = format!("geometry.planes-per-die={planes}");
        let value = generate(&drive(&large(&[&own[..], &[&*geometry]].concat())), "random-write");
        let waf = number(&value["waf"]);
        let host = count(&value["host"]["write"]["bytes"]) as f64 / 4096.0;
        let (row, unit) = (f64::from(4 * planes), f64::from(12 * planes));
        let victims = flash(&value, "erase", "gc") as f64 / f64::from(planes);
        let valid = 1.0 - 1.0 / waf;
        let reads = victims * 60.0 * (1.0 - (1.0 - valid).powf(row));
        let seconds = host * waf / unit * 2.1e-3 + reads * 50e-6 + victims * 3e-3;
        let what = format!("{planes} planes, WAF {waf:.3}");
        let took = number(&value["simulated_seconds"]);
        close(&what, took, seconds, 0.03);
        let [law, found] = [seconds, took].map(|seconds| host / seconds);
        rows.push(format!("| {planes} | {waf:.3} | {law:.0} | {found:.0} |"));
    }
    page_says(&rows);
}

/// A block of several planes is erased at once, and counts for each; its energy, too.
#[test]
fn planes_are_erased_together() {
    let own = [
        "ftl.program-planes=4",
        "geometry.blocks-per-plane=64",
        "precondition.fill=full",
        "buffer.size=1MiB",
        "workload.requests=12000",
        "energy.read=1uJ",
        "energy.program=10uJ",
        "energy.erase=100uJ",
    ];
    let value = generate(&drive(&large(&own)), "random-write");
    let erases = flash(&value, "erase", "total");
    assert!(erases > 40 && erases.is_multiple_of(4), "{erases}");
    let energy = &value["energy_joules"];
    close("erase", number(&energy["erase"]), erases as f64 * 1e-4, 1e-9);
    // Four pages to a program of sixteen units, padding included.
    let pages = flash(&value, "program", "total") as f64 / 4.0;
    close("program", number(&energy["program"]), pages * 1e-5, 1e-9);
    let total: u64 = flash(&value, "program", "total");
    assert_eq!(
        total,
        count(&value["checks"]["host_plus_moves"]) + count(&value["checks"]["padding"])
    );
}

// ── Refused settings ────────────────────────────────────────────────────────────────────────────

/// A user who wants the model of the cells reads which settings it needs, and these are all.
#[test]
fn what_the_model_of_the_cells_needs_is_said_as_it_is_set() {
    for program in ["wordline", "two-step"] {
        let program = format!("pages.program={program}");
        let own = [
            "geometry.bits-per-cell=4",
            "timing.program=[ \"1ms\", \"2ms\", \"3ms\", \"4ms\" ]",
            "geometry.planes-per-die=4",
            "ftl.program-planes=4",
            "reliability.model=on",
            &program,
        ];
        let refused = try_drive(common::BASE, &quarters(&own)).expect_err("it has no law");
        let (_, rest) = refused.split_once("`--set ").expect(&refused);
        let (said, _) = rest.split_once('`').expect(&refused);
        let value = generate(&drive(&quarters(&[&own[..], &[said]].concat())), "random-write");
        assert!(value["lifetime"]["simulated"].is_object(), "{said}");
    }
}

// ── Units of several planes ─────────────────────────────────────────────────────────────────────

/// Pages of 16 KiB on four planes that are programmed together, in units of `unit` KiB.
fn coarse<'a>(unit: &'a str, own: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "geometry.page-size=16KiB",
        "geometry.planes-per-die=4",
        "ftl.program-planes=4",
        "timing.bus={ rate = \"800MT/s\", width-bits = 8, command = \"300ns\" }",
        unit,
    ];
    fixed.into_iter().chain(own.iter().copied()).collect()
}

/// Bytes of a request from a byte on.
fn part(op: Op, offset: u64, len: u64) -> workload::Request {
    bytes(0, op, offset, len)
}

/// A write of a part of a unit reads all of it, pages of four planes at once, before it programs them.
/// The channel carries the unit both ways: 64 KiB take 81.92 us at 800 MB/s. A whole unit is not read.
#[test]
fn a_write_of_a_part_of_a_unit_waits_for_its_read() {
    const UNIT: u64 = 65_536;
    let drive = drive(&coarse("ftl.mapping-unit=64KiB", &["precondition.fill=full"]));
    let (command, carried) = (300, 81_920);
    let write = command + carried + PROGRAM;
    let read = command + SENSE + carried;
    for (offset, len, reads, latency) in [
        (UNIT, UNIT, 0, write),
        (UNIT, PAGE, 1, read + write),
        (UNIT + 512, UNIT - 512, 1, read + write),
        // The end of one unit and the begin of the next, on one die: reads and programs in turn.
        (2 * UNIT - PAGE, 2 * PAGE, 2, 0),
    ] {
        let value = serve(&drive, vec![part(Op::Write, offset, len)]);
        let units = reads.max(1);
        assert_eq!(count(&value["flash"]["rmw_reads"]), reads);
        assert_eq!(
            (flash(&value, "read", "host"), flash(&value, "program", "host")),
            (reads, units)
        );
        assert_eq!(count(&value["flash"]["by_level"]["read"]["medium"]), 4 * reads);
        assert_eq!(count(&value["flash"]["by_level"]["program"]["medium"]), 4 * units);
        assert_eq!(number(&value["waf"]), (units * UNIT) as f64 / len as f64);
        assert_eq!(number(&value["waf_pages"]), 1.0);
        if latency > 0 {
            assert_eq!(class_of(&value, "write").max, latency, "{offset} {len}");
        }
    }
}

/// Only whole units are given up. The rest of a unit keeps its data, so a later write of a part reads it.
#[test]
fn a_trim_of_a_part_of_a_unit_gives_nothing_up() {
    const UNIT: u64 = 65_536;
    let drive = drive(&coarse("ftl.mapping-unit=64KiB", &["precondition.fill=full"]));
    let units = u64::from(drive.logical_pages);
    for (offset, len, given_up) in
        [(0, UNIT, 1), (0, UNIT - PAGE, 0), (PAGE, UNIT, 0), (PAGE, 2 * UNIT, 1), (0, 3 * UNIT, 3)]
    {
        let value = serve(&drive, vec![part(Op::Trim, offset, len), part(Op::Write, 0, PAGE)]);
        let written_again = u64::from(offset == 0 && len >= UNIT);
        assert_eq!(count(&value["checks"]["mapped"]), units - given_up + written_again);
        assert_eq!(count(&value["flash"]["rmw_reads"]), 1 - written_again, "{offset} {len}");
    }
}

/// Neighbours that meet in the write buffer are one unit: nothing is read for them. Less than a unit is
/// read once, however many writes it had.
#[test]
fn the_buffer_makes_units_of_neighbours() {
    let own = [
        "precondition.fill=full",
        "buffer.size=1MiB",
        "buffer.flush-above=0.5",
        "host.queue-depth=1",
    ];
    let drive = drive(&coarse("ftl.mapping-unit=64KiB", &own));
    for size in [512, 2_048, 4_096] {
        for missing in [0, 1] {
            let writes = 65_536 / size - missing;
            let script = (0..writes).map(|n| part(Op::Write, n * size, size)).collect();
            let value = serve(&drive, script);
            assert_eq!(count(&value["buffer"]["absorbed"]), writes - 1);
            assert_eq!(flash(&value, "program", "host"), 1);
            assert_eq!(count(&value["flash"]["rmw_reads"]), missing, "{size}");
        }
    }
}

/// Units of two planes each: reads of two that lie beside each other are one command of four planes,
/// with one time and the data of both.
#[test]
fn reads_of_units_on_different_planes_go_together() {
    let own = ["precondition.fill=full", "ftl.multi-plane=any"];
    let drive = drive(&coarse("ftl.mapping-unit=32KiB", &own));
    let value = serve(&drive, vec![part(Op::Read, 0, 65_536)]);
    assert_eq!(class_of(&value, "read").max, 300 + SENSE + 81_920);
    assert_eq!(count(&value["flash"]["by_level"]["read"]["medium"]), 4);
    // Two that have the same planes are two commands.
    let value = serve(&drive, vec![part(Op::Read, 0, 32_768), part(Op::Read, 65_536, 32_768)]);
    assert_eq!(class_of(&value, "read").max, 2 * (300 + SENSE + 40_960));
}

/// Random writes of 4 KiB on units of `u`. Flash programs u / 4 KiB times the host's bytes times
/// the write amplification of greedy collection of units. A unit is read for each write that finds
/// none of it in memory.
#[test]
fn small_writes_cost_whole_units() {
    for &(unit, in_page) in first_of(&[(64, 1), (16, 4_u32), (32, 2)], 2) {
        let (blocks, pages) = (1024, 64_u32);
        let slots = in_page * pages;
        // As `waf.rs` counts the blocks that take part: one free block, the host's and half of that
        // of moves do not.
        let taking_part = (f64::from(blocks) - 2.5) * f64::from(slots);
        let logical = (taking_part * 0.85).round();
        let mapping = format!("ftl.mapping-unit={unit}KiB");
        let own = [
            format!("geometry.blocks-per-plane={blocks}"),
            format!("geometry.pages-per-block={pages}"),
            format!("ftl.logical-capacity={}KiB", logical * f64::from(unit)),
            format!("workload.requests={}", 3.0 * logical),
            // Programs of several units wait for all of them.
            format!("buffer.size={}KiB", if in_page == 1 { 0 } else { 4 * unit * in_page }),
            "workload.seed=1000".into(),
            "host.mode=queue-depth".into(),
            "host.queue-depth=4".into(),
            "precondition.fill=full".into(),
            "precondition.age=random".into(),
        ];
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let value = generate(&drive(&coarse(&mapping, &own)), "random-write");
        let greedy = crate::waf::greedy(slots, logical / taking_part);
        let absorbed = value["buffer"]["absorbed"].as_u64().unwrap_or(0);
        let written = count(&value["host"]["write"]["requests"]);
        let law = f64::from(unit) / 4.0 * greedy * (written - absorbed) as f64 / written as f64;
        close(&format!("{unit} KiB, bytes"), number(&value["waf"]), law, 0.01);
        let reads = count(&value["flash"]["rmw_reads"]);
        if in_page == 1 {
            assert_eq!(reads, written);
        } else {
            close(&format!("{unit} KiB, reads"), reads as f64, written as f64, 0.005);
            assert!(reads <= written - absorbed);
        }
        // The same with whole units: no reads, and no more bytes than those of collection.
        let whole = format!("workload.size={unit}KiB");
        let value =
            generate(&drive(&coarse(&mapping, &[&own[..], &[&*whole]].concat())), "random-write");
        assert_eq!(count(&value["flash"]["rmw_reads"]), 0);
        let absorbed = value["buffer"]["absorbed"].as_u64().unwrap_or(0) as f64 / written as f64;
        close(
            &format!("{unit} KiB, whole"),
            number(&value["waf"]),
            greedy * (1.0 - absorbed),
            0.01,
        );
    }
}

const BITS: [&str; 2] = ["geometry.bits-per-cell=2", "geometry.bits-per-cell=3"];

#[test]
fn units_that_do_not_fit_a_page_are_refused() {
    for (setting, why) in [
        ("ftl.mapping-unit=3KiB", "a page, an equal part of one, at least a 64th"),
        ("ftl.mapping-unit=32KiB", "is 2 pages, and one command programs a page of 1 plane"),
        (
            "ftl.mapping-unit=32KiB\ngeometry.planes-per-die=4",
            "`--set ftl.program-planes=2` programs",
        ),
        ("ftl.mapping-unit=48KiB\ngeometry.planes-per-die=4", "their number divides the number of"),
        (
            "ftl.mapping-unit=32KiB\ngeometry.planes-per-die=2\nftl.program-planes=2\nreliability.model=on",
            "`ftl.mapping-unit` of 32KiB has no error model",
        ),
        ("ftl.mapping-unit=24KiB", "a page, an equal part of one, at least a 64th"),
        ("ftl.mapping-unit=128B", "a page, an equal part of one, at least a 64th"),
        ("ftl.mapping-unit=256B", "a mapping unit of 256B is not a multiple of a sector of 512B"),
        ("timing.read-partial=10us", "`ftl.mapping-unit` is a whole page or more"),
        ("ftl.program-planes=3", "is 3, and a die has 1 planes"),
        ("pages.program=two-step", "for cells of two bits or four, and this drive has 1"),
        ("policy page-choice=mango pages.program=wordline", "cannot be passed over"),
        ("policy cost=conflict pages.program=wordline", "have one level"),
        ("policy read-disturb=ipr pages.program=wordline", "pages that are programmed alone"),
        ("reliability.model=on pages.program=wordline", "no error model"),
        ("pages.order=shadow pages.program=wordline", "one after the other"),
        ("policy coding=wom", "mapping unit"),
    ] {
        let setting = setting.replace(" pages", "\npages");
        let mut settings = vec!["geometry.page-size=16KiB"];
        settings.extend(setting.split('\n'));
        if setting.contains("wordline") {
            let bits = if setting.contains("shadow") { "2" } else { "3" };
            settings.extend(["geometry.pages-per-block=12", BITS[usize::from(bits == "3")]]);
        }
        if setting.contains("wom") {
            settings.push("ftl.mapping-unit=4KiB");
        }
        let refused = try_drive(common::BASE, &settings).expect_err(&setting);
        assert!(refused.contains(why), "{refused}");
    }
}

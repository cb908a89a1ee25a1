//! Right number? Latencies, rates and waits, each expectation computed from the configuration.
//!
//! Notation of the comments: tR, tPROG, tBERS are the array times of a read, a program and an
//! erase. c is the command on the bus and x the transfer of one page.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    Class, PAGE, bytes, class_of, close, count, drive, first_of, flush, generate, number,
    policies_of, read, serve, trim, urgent, warnings, write,
};
use floatgate_ssd::sim::{self, Sim};
use floatgate_ssd::{Drive, NoCache, ftl_of, run};
use ftl::{Cost, Watch, WriteCtx};
use nand::Level;
use policies::CostPolicy;
use serde_json::Value;
use workload::{List, Op, Request, Workload};

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;

/// Long enough for anything to have ended.
const LATER: u64 = 1_000_000_000;

/// The reads and the writes of a run of a few requests.
fn both(value: &Value) -> (Class, Class) {
    (class_of(value, "read"), class_of(value, "write"))
}

/// The bus `mega` million transfers a second, `width` bits wide, with 300 ns for a command.
fn bus(mega: u64, width: u64) -> String {
    format!(
        "timing.bus={{ rate = \"{mega}MT/s\", width-bits = {width}, command = \"{COMMAND}ns\" }}"
    )
}

const COMMAND: u64 = 300;

/// The transfer of `bytes` over it, to the nearest nanosecond.
fn transfer(bytes: u64, mega: u64, width: u64) -> u64 {
    let (bits, per_us) = (bytes * 8, mega * width);
    (bits * 1_000 + per_us / 2) / per_us
}

// ── One request in an idle drive ────────────────────────────────────────────────────────────────

#[test]
fn an_idle_read_and_an_idle_write_take_their_array_times() {
    let value = serve(&drive::<&str>(&[]), vec![read(0, 3), write(LATER, 5)]);
    let (r, w) = both(&value);
    assert_eq!((r.requests, r.min, r.max), (1, READ, READ));
    assert_eq!((w.requests, w.min, w.max), (1, PROGRAM, PROGRAM));
    assert_eq!(r.totals(), (READ, 0, 0, 0, READ));
    assert_eq!(w.totals(), (PROGRAM, 0, 0, 0, PROGRAM));
    assert_eq!((r.bytes, w.bytes), (PAGE, PAGE));
    assert_eq!(count(&value["end"]["at_ns"]), LATER + PROGRAM);
}

#[test]
fn a_bus_adds_command_and_transfer() {
    for (mega, width) in [(40, 8), (333, 8), (400, 8), (1_200, 16), (2_400, 64)] {
        let x = transfer(PAGE, mega, width);
        let value = serve(&drive(&[bus(mega, width)]), vec![read(0, 3), write(LATER, 5)]);
        let (r, w) = both(&value);
        assert_eq!(r.totals(), (COMMAND + READ + x, 0, 0, COMMAND + x, READ), "{mega} MT/s");
        assert_eq!(w.totals(), (COMMAND + x + PROGRAM, 0, 0, COMMAND + x, PROGRAM), "{mega} MT/s");
    }
    // A larger page takes as many times longer.
    let large = drive(&[&bus(400, 8)[..], "geometry.page-size=16KiB"]);
    let (r, _) = both(&serve(&large, vec![bytes(0, Op::Read, 0, 16 * 1024)]));
    assert_eq!(r.max, COMMAND + READ + transfer(16 * 1024, 400, 8));
}

#[test]
fn each_page_type_has_its_time() {
    let (reads, programs) = ([40_000, 60_000, 95_000], [500_000, 900_000, 2_100_000]);
    let tlc = drive(&[
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=9",
        "timing.read=[\"40us\", \"60us\", \"95us\"]",
        "timing.program=[\"500us\", \"900us\", \"2100us\"]",
    ]);
    // The first page written lies on the first page of a block, and page i has type i mod 3.
    let mut script: Vec<Request> = (0..9).map(|p| write(p * LATER, p)).collect();
    for page in 0..9 {
        let kind = page as usize % 3;
        script.truncate(9);
        script.push(read(20 * LATER, page));
        let (r, w) = both(&serve(&tlc, script.clone()));
        assert_eq!((r.min, r.max), (reads[kind], reads[kind]), "page {page}");
        assert_eq!((w.min, w.max), (programs[0], programs[2]));
        assert_eq!(w.totals().4, 3 * programs.iter().sum::<u64>());
    }
    for page in 0..9 {
        let (_, before) = both(&serve(&tlc, script[..=page].to_vec()));
        let total: u64 = (0..=page).map(|p| programs[p % 3]).sum();
        assert_eq!(before.totals().4, total, "program {page}");
    }
}

#[test]
fn pages_in_shadow_order_have_the_times_of_their_types() {
    // Types of the eight pages of a block, as Grupp 3.3 and 3.5 have them.
    for (order, types) in
        [("shadow", [0, 0, 1, 0, 1, 0, 1, 1]), ("shadow-pairs", [0, 0, 0, 0, 1, 1, 1, 1])]
    {
        let mlc = drive(&[
            "geometry.bits-per-cell=2",
            "timing.read=[\"40us\", \"60us\"]",
            "timing.program=[\"300us\", \"1400us\"]",
            &format!("pages.order={order}"),
        ]);
        let mut script: Vec<Request> = (0..8).map(|p| write(p * LATER, p)).collect();
        for (page, kind) in types.into_iter().enumerate() {
            script.truncate(8);
            let (_, w) = both(&serve(&mlc, script[..=page].to_vec()));
            let programs: u64 = types[..=page].iter().map(|t| [300_000, 1_400_000][*t]).sum();
            assert_eq!(w.totals().4, programs, "{order}: program {page}");
            script.push(read(20 * LATER, page as u64));
            let (r, _) = both(&serve(&mlc, script.clone()));
            assert_eq!(r.max, [40_000, 60_000][kind], "{order}: read {page}");
        }
    }
}

const LEVELS: &str = "timing.levels={ high = { program = \"800us\", read = \"70us\" }, \
                      medium = { program = \"600us\", read = \"170us\" }, \
                      low = { program = \"450us\", read = \"310us\" } }";

/// AGCR's Table 1: (level, program, read).
const AGCR: [(&str, u64, u64); 3] =
    [("high", 800_000, 70_000), ("medium", 600_000, 170_000), ("low", 450_000, 310_000)];

#[test]
fn each_cost_level_has_its_time() {
    for (level, program, sense) in AGCR {
        let policy = format!("policy cost=fixed:level={level}");
        let value = serve(&drive(&[LEVELS, &policy]), vec![write(0, 0), read(LATER, 0)]);
        let (r, w) = both(&value);
        assert_eq!((w.max, r.max), (program, sense), "{level}");
        for what in ["read", "program"] {
            for (name, ..) in AGCR {
                let expected = u64::from(name == level);
                assert_eq!(count(&value["flash"]["by_level"][what][name]), expected);
            }
        }
    }
}

/// Programs at the level that the page's number says.
struct ByPage;

impl Watch for ByPage {}

impl Cost for ByPage {
    fn initial(&self) -> Level {
        Level::HighCost
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        Level::ALL[w.lpn.as_u32() as usize % 3]
    }
}

#[test]
fn a_page_is_read_at_the_level_at_which_it_was_written() {
    let drive = drive(&[LEVELS]);
    for (page, (level, program, sense)) in AGCR.into_iter().enumerate() {
        let page = page as u64;
        let mut policies = policies_of(&drive);
        policies.cost = CostPolicy::Custom(Box::new(ByPage));
        let list = List::new("levels", vec![write(0, page), read(LATER, page)]).unwrap();
        let mut sim = Sim::new(&drive, ftl_of(&drive, policies));
        sim.run(&mut *list.open().unwrap(), None, &mut |_| true).unwrap();
        let longest = |class: sim::Class| sim.stats().classes[class].latency.percentiles().max;
        assert_eq!(longest(sim::Class::Write), program, "{level}");
        assert_eq!(longest(sim::Class::Read), sense, "{level}");
    }
}

#[test]
fn the_pages_of_a_request_follow_each_other_on_one_die() {
    let x = transfer(PAGE, 400, 8);
    for pages in [1, 2, 7] {
        let script = |op, at| bytes(at, op, 0, pages * PAGE);
        let requests = vec![script(Op::Read, 0), script(Op::Write, LATER)];
        let (r, w) = both(&serve(&drive::<&str>(&[]), requests.clone()));
        assert_eq!((r.max, w.max), (pages * READ, pages * PROGRAM));
        // The split is that of the last page: it waited behind the others.
        assert_eq!(r.totals(), (pages * READ, (pages - 1) * READ, 0, 0, READ));
        let (r, w) = both(&serve(&drive(&[bus(400, 8)]), requests));
        assert_eq!(r.max, pages * (COMMAND + READ + x));
        assert_eq!(w.max, pages * (COMMAND + x + PROGRAM));
    }
}

#[test]
fn the_pages_of_a_request_overlap_on_several_dies() {
    let shaped = |channels, chips, bus: Option<String>| {
        let dies = format!("geometry.chips-per-channel={chips}");
        let mut settings = vec![format!("geometry.channels={channels}"), dies];
        settings.extend(bus);
        drive(&settings)
    };
    let serve = |drive: &Drive, pages| {
        let of = |op, at| bytes(at, op, 0, pages * PAGE);
        both(&serve(drive, vec![of(Op::Read, 0), of(Op::Write, LATER)]))
    };
    // Array times only: as many rounds as the fullest die has pages.
    for (channels, chips, pages) in [(4, 1, 4), (1, 4, 4), (2, 2, 6), (3, 1, 8)] {
        let rounds = u64::div_ceil(pages, channels * chips);
        let (r, w) = serve(&shaped(channels, chips, None), pages);
        assert_eq!((r.max, w.max), (rounds * READ, rounds * PROGRAM));
    }
    // On one channel the dies sense and program together, and take turns on the bus.
    let x = transfer(PAGE, 400, 8);
    for dies in [2, 3, 4] {
        let (r, w) = serve(&shaped(1, dies, Some(bus(400, 8))), dies);
        assert_eq!(r.max, COMMAND + READ + dies * x);
        assert_eq!(w.max, dies * (COMMAND + x) + PROGRAM);
        // Page n of the reads: its command after those before it, then senses; its transfer waits
        // for those before it. All that is not sensing is bus.
        assert_eq!(r.totals(), (r.max, 0, 0, r.max - READ, READ));
        assert_eq!(w.totals(), (w.max, 0, 0, w.max - PROGRAM, PROGRAM));
    }
    // A die that has sent its data gets its next command before the others send theirs, and
    // senses meanwhile: page 3 lies on die 0 again.
    let (r, _) = serve(&shaped(1, 3, Some(bus(400, 8))), 4);
    assert_eq!(r.max, (COMMAND + READ + x) + (COMMAND + READ + x));
    // Channels of their own do not disturb each other.
    let (r, w) = serve(&shaped(4, 1, Some(bus(400, 8))), 4);
    assert_eq!((r.max, w.max), (COMMAND + READ + x, COMMAND + x + PROGRAM));
}

#[test]
fn a_read_of_a_page_in_flight_waits_for_its_program() {
    for after in [1, 250_000, PROGRAM - 1] {
        let value = serve(&drive::<&str>(&[]), vec![write(0, 7), read(after, 7)]);
        let (r, w) = both(&value);
        let wait = PROGRAM - after;
        assert_eq!(r.totals(), (wait + READ, wait, 0, 0, READ));
        assert_eq!(w.max, PROGRAM);
        assert_eq!(count(&value["flash"]["unmapped_reads"]), 0);
    }
    // Behind other writes too: the map points at the new page from the moment it is allocated.
    let script = vec![write(0, 1), write(10, 2), write(20, 7), read(1_000, 7)];
    let (r, _) = both(&serve(&drive::<&str>(&[]), script));
    assert_eq!(r.max, 3 * PROGRAM - 1_000 + READ);
}

#[test]
fn reads_that_wait_for_a_program_are_counted() {
    let script = vec![write(0, 7), read(1, 7), read(2, 7), read(3 * PROGRAM, 7)];
    let workload = Box::new(List::new("list", script).expect("it is in order"));
    let drive = drive::<&str>(&[]);
    let report = run(&drive, workload, &mut NoCache, &mut |_| true).expect("it runs");
    assert_eq!(report.waits().program, 2);
}

#[test]
fn a_partial_write_of_a_mapped_page_reads_it_first() {
    let x = transfer(PAGE, 400, 8);
    let part = |at| bytes(at, Op::Write, 5 * PAGE + 512, 512);
    let value = serve(&drive::<&str>(&[]), vec![part(0)]);
    let (_, w) = both(&value);
    assert_eq!(w.totals(), (READ + PROGRAM, 0, 0, 0, READ + PROGRAM));
    assert_eq!(count(&value["flash"]["rmw_reads"]), 1);
    assert_eq!(count(&value["flash"]["read"]["host"]), 1);
    assert_eq!(number(&value["waf"]), 8.0, "4 KiB programmed for 512 B");
    assert_eq!(number(&value["waf_pages"]), 1.0);
    let (_, w) = both(&serve(&drive(&[bus(400, 8)]), vec![part(0)]));
    assert_eq!(w.max, 2 * (COMMAND + x) + READ + PROGRAM);
    // Nothing there: nothing to read.
    let value = serve(&drive(&["precondition.fill=none"]), vec![part(0)]);
    assert_eq!(both(&value).1.max, PROGRAM);
    assert_eq!(count(&value["flash"]["rmw_reads"]), 0);
    // From the middle of one page to the middle of another, with a whole one in between: on one die
    // the operations follow each other, in any order.
    let three = bytes(0, Op::Write, 5 * PAGE + 2048, 2 * PAGE);
    let value = serve(&drive::<&str>(&[]), vec![three]);
    assert_eq!(both(&value).1.max, 2 * READ + 3 * PROGRAM);
    assert_eq!(count(&value["flash"]["rmw_reads"]), 2);
    // Two partial writes of one page: the second modifies the data of the first.
    let (_, w) = both(&serve(&drive::<&str>(&[]), vec![part(0), part(10_000)]));
    assert_eq!((w.min, w.max), (READ + PROGRAM, 2 * (READ + PROGRAM) - 10_000));
}

#[test]
fn a_trim_takes_no_flash_and_unmaps_whole_pages() {
    let script = |at, offset, len| {
        vec![write(0, 4), write(1, 5), bytes(at, Op::Trim, offset, len), read(2 * LATER, 4)]
    };
    for (unmapped, latency) in [("flash", READ), ("zero", 0)] {
        let drive = drive(&[format!("ftl.unmapped-read={unmapped}")]);
        let value = serve(&drive, script(LATER, 4 * PAGE, 2 * PAGE));
        let t = class_of(&value, "trim");
        assert_eq!((t.requests, t.bytes, t.mean, t.max), (1, 2 * PAGE, 0.0, 0));
        assert_eq!(class_of(&value, "all").bytes, 3 * PAGE, "two writes and a read carry data");
        assert_eq!(count(&value["checks"]["mapped"]), 0);
        assert_eq!(count(&value["flash"]["unmapped_reads"]), 1);
        assert_eq!(both(&value).0.max, latency, "{unmapped}");
        assert_eq!(count(&value["flash"]["read"]["host"]), u64::from(unmapped == "flash"));
    }
    // Page 4 in part, page 5 whole: only the whole one goes.
    let value = serve(&drive::<&str>(&[]), script(LATER, 4 * PAGE + 512, 2 * PAGE - 512));
    assert_eq!(count(&value["checks"]["mapped"]), 1);
    assert_eq!(count(&value["flash"]["unmapped_reads"]), 0);
}

// ── Gates, to the nanosecond ────────────────────────────────────────────────────────────────────

#[test]
fn a_die_is_free_at_the_end_of_its_operation_and_not_before() {
    for (at, wait) in [(PROGRAM - 1, 1), (PROGRAM, 0), (PROGRAM + 1, 0)] {
        let (r, _) = both(&serve(&drive::<&str>(&[]), vec![write(0, 1), read(at, 2)]));
        assert_eq!(r.totals(), (wait + READ, wait, 0, 0, READ), "at {at}");
    }
    for (at, wait) in [(READ - 1, 1), (READ, 0), (READ + 1, 0)] {
        let (_, w) = both(&serve(&drive::<&str>(&[]), vec![read(0, 1), write(at, 2)]));
        assert_eq!(w.totals(), (wait + PROGRAM, wait, 0, 0, PROGRAM), "at {at}");
    }
}

#[test]
fn a_channel_is_free_at_the_end_of_a_transfer_and_not_before() {
    let two = drive(&["geometry.chips-per-channel=2", &bus(400, 8)]);
    let x = transfer(PAGE, 400, 8);
    // A read on die 0 wants the channel from c + tR on. A write on die 1 holds it for c + x: one
    // that begins at tR - x is just out of the way.
    let alone = COMMAND + READ + x;
    for (late, delay) in [(0, 0), (1, 1), (100, 100)] {
        let (r, w) = both(&serve(&two, vec![read(0, 0), write(READ - x + late, 1)]));
        assert_eq!(r.totals(), (alone + delay, 0, 0, COMMAND + x + delay, READ), "late by {late}");
        assert_eq!(w.max, COMMAND + x + PROGRAM);
    }
    // And a write that comes while the read's data is on the bus waits for the rest of it.
    let sensed = COMMAND + READ;
    for (after, wait) in [(1, x - 1), (x - 1, 1), (x, 0), (x + 1, 0)] {
        let (r, w) = both(&serve(&two, vec![read(0, 0), write(sensed + after, 1)]));
        assert_eq!(r.max, alone);
        let all = COMMAND + x + PROGRAM + wait;
        assert_eq!(w.totals(), (all, 0, 0, all - PROGRAM, PROGRAM), "after {after}");
    }
}

// ── Bandwidth ───────────────────────────────────────────────────────────────────────────────────

/// Bytes per nanosecond over the whole run.
fn rate(value: &Value) -> f64 {
    count(&value["host"]["all"]["bytes"]) as f64 / (number(&value["simulated_seconds"]) * 1e9)
}

/// A drive for sequential runs: large enough that writing needs no garbage collection.
fn wide(channels: u64, chips: u64, own: &[&str]) -> Drive {
    let mut settings = vec![
        format!("geometry.channels={channels}"),
        format!("geometry.chips-per-channel={chips}"),
        "geometry.blocks-per-plane=64".into(),
        "geometry.pages-per-block=64".into(),
        "host.mode=queue-depth".into(),
        "precondition.fill=full".into(),
    ];
    settings.extend(own.iter().map(|s| (*s).to_owned()));
    drive(&settings)
}

#[test]
fn sequential_bandwidth_is_the_least_of_bus_dies_and_host() {
    let x = transfer(PAGE, 333, 8) as f64;
    let (c, page) = (COMMAND as f64, PAGE as f64);
    let over = bus(333, 8);
    // (the bottleneck, channels, chips on each, tR in us, tPROG in us, queue depth, request size)
    for (bound, channels, chips, tr, tprog, depth, size) in [
        ("bus", 2, 8, 25, 50, 32, 128),
        ("bus", 1, 16, 50, 100, 64, 64),
        ("dies", 8, 1, 200, 600, 32, 128),
        ("dies", 4, 2, 400, 1_500, 64, 64),
        ("host", 4, 4, 100, 600, 4, 4),
        ("host", 8, 2, 50, 300, 1, 4),
        ("host", 16, 1, 50, 300, 2, 32),
    ] {
        for (op, array) in [("read", tr), ("write", tprog)] {
            let t = f64::from(array) * 1e3;
            // The time that one page takes of each: a channel, a die, a place in the queue.
            let one = c + x + t;
            let channel = channels as f64 / (c + x);
            let dies = (channels * chips) as f64 / one;
            // Pages in flight; those of one request go to as many dies.
            let host = f64::from(depth * (size / 4)) / one;
            let least = channel.min(dies).min(host);
            let named = match bound {
                "bus" => channel,
                "dies" => dies,
                _ => host,
            };
            assert_eq!(least, named, "{bound} is not what bounds this case");
            let drive = wide(
                channels,
                chips,
                &[
                    &over,
                    &format!("timing.read={tr}us"),
                    &format!("timing.program={tprog}us"),
                    &format!("host.queue-depth={depth}"),
                    &format!("workload.size={size}KiB"),
                    &format!("workload.requests={}", 80_000 / size),
                    if op == "read" { "precondition.fill=full" } else { "precondition.fill=none" },
                ],
            );
            let value = generate(&drive, &format!("sequential-{op}"));
            assert_eq!(count(&value["flash"]["erase"]["total"]), 0);
            close(&format!("{op}s bound by the {bound}"), rate(&value), least * page, 0.01);
        }
    }
}

#[test]
fn a_host_that_sends_slowly_is_served_at_its_rate() {
    for op in ["read", "write"] {
        let iops = 3_000.0;
        let drive = wide(
            4,
            2,
            &[
                "host.mode=timestamps",
                "workload.requests=3000",
                &format!("workload.arrivals={{ constant = {{ iops = {iops} }} }}"),
                "workload.size=16KiB",
                if op == "read" { "precondition.fill=full" } else { "precondition.fill=none" },
            ],
        );
        let value = generate(&drive, &format!("sequential-{op}"));
        close(op, rate(&value), iops * 16_384.0 * 1e-9, 0.01);
    }
}

#[test]
fn planes_multiply_the_rate_of_a_die() {
    let x = transfer(PAGE, 333, 8) as f64;
    for planes in [2, 4] {
        for how in ["off", "aligned", "any"] {
            for (op, t) in [("read", 50_000.0), ("write", 600_000.0)] {
                for over in [None, Some(bus(333, 8))] {
                    let mut own = vec![
                        format!("geometry.planes-per-die={planes}"),
                        format!("ftl.multi-plane={how}"),
                        "workload.size=128KiB".to_owned(),
                        "workload.requests=1000".to_owned(),
                    ];
                    own.extend(over.clone());
                    own.extend((op == "write").then(|| "precondition.fill=none".to_owned()));
                    let own: Vec<&str> = own.iter().map(String::as_str).collect();
                    let drive = wide(2, 2, &own);
                    let value = generate(&drive, &format!("sequential-{op}"));
                    let together = if how == "off" { 1.0 } else { f64::from(planes) };
                    // A command, the transfer of every page, the array once.
                    let bus = over.is_some();
                    let one = t + if bus { COMMAND as f64 + together * x } else { 0.0 };
                    let dies = 4.0 * together / one;
                    let channel =
                        if bus { 2.0 * together / (COMMAND as f64 + together * x) } else { dies };
                    let what = format!("{planes} planes {how}, {op}s, bus {bus}");
                    close(&what, rate(&value), dies.min(channel) * PAGE as f64, 0.01);
                }
            }
        }
    }
}

// ── Queues ──────────────────────────────────────────────────────────────────────────────────────

/// One die that does nothing but read, asked at a rate.
fn reader(arrivals: &str, iops: f64, requests: u64, seed: u64) -> Drive {
    drive(&[
        "geometry.blocks-per-plane=64",
        "precondition.fill=full",
        &format!("workload.requests={requests}"),
        &format!("workload.arrivals={{ {arrivals} = {{ iops = {iops} }} }}"),
        &format!("run.seed={seed}"),
    ])
}

#[test]
fn a_die_under_poisson_reads_is_an_m_d_1_queue() {
    let s = READ as f64;
    // Enough requests that the mean scatters by about 0.2 %: the tolerance is ten times that.
    let all = [(0.2, 1_000_000), (0.5, 1_000_000), (0.8, 4_000_000)];
    for &(load, requests) in first_of(&all, 2) {
        let seeds = [1, 2, 3, 4];
        let waits = seeds.map(|seed| {
            let value = generate(&reader("poisson", load / s * 1e9, requests, seed), "random-read");
            let r = class_of(&value, "read");
            assert_eq!((r.requests, r.array), (requests, s));
            assert!((r.queue[0] - (r.mean - s)).abs() < 1e-6 * s, "the wait is behind the host");
            r.mean - s
        });
        let mean = waits.iter().sum::<f64>() / seeds.len() as f64;
        close(&format!("M/D/1 at {load}"), mean, load * s / (2.0 * (1.0 - load)), 0.02);
    }
}

#[test]
fn a_die_under_even_reads_is_a_d_d_1_queue() {
    let n = 20_000;
    // Below its rate nobody waits.
    for gap in [READ, READ + 1, 2 * READ] {
        let value = generate(&reader("constant", 1e9 / gap as f64, n, 1), "random-read");
        let r = class_of(&value, "read");
        assert_eq!((r.min, r.max, r.queue[0]), (READ, READ, 0.0), "a gap of {gap} ns");
    }
    // Above it the k-th request waits k times the deficit, inside the drive or out.
    for limit in [1_000_000, 16, 1] {
        let gap = 40_000;
        let mut drive = reader("constant", 1e9 / gap as f64, n, 1);
        drive.host.queue_limit = limit;
        let value = generate(&drive, "random-read");
        let r = class_of(&value, "read");
        let waits = (READ - gap) * n * (n - 1) / 2;
        assert_eq!(r.totals(), (n * READ + waits, waits, 0, 0, n * READ), "limit {limit}");
        assert_eq!((r.min, r.max), (READ, READ + (n - 1) * (READ - gap)));
        assert_eq!(count(&value["end"]["at_ns"]), n * READ);
        assert_eq!(warnings(&value).contains(&"queue-limit"), limit < 1_000_000);
    }
}

/// Reads of one die, at these instants.
fn reads_at(instants: impl IntoIterator<Item = u64>) -> Vec<Request> {
    instants.into_iter().enumerate().map(|(i, at)| read(at, i as u64 % 60)).collect()
}

fn is_overloaded(value: &Value) -> bool {
    warnings(value).contains(&"overloaded")
}

#[test]
fn more_arrivals_than_service_is_called_so() {
    let s = READ as f64;
    for seed in 1..=10 {
        for load in [0.5, 0.9, 0.97] {
            for requests in [1_000, 10_000] {
                let drive = reader("poisson", load / s * 1e9, requests, seed);
                let value = generate(&drive, "random-read");
                assert!(!is_overloaded(&value), "{requests} at {load}, seed {seed}");
            }
        }
        for load in [1.05, 1.5] {
            for limit in [1_000_000, 64, 1] {
                let mut drive = reader("poisson", load / s * 1e9, 10_000, seed);
                drive.host.queue_limit = limit;
                let value = generate(&drive, "random-read");
                assert!(is_overloaded(&value), "{load}, seed {seed}, limit {limit}");
            }
        }
    }
    // One in ten too many: the backlog at the last arrival is one in eleven of all, whether it
    // waits in the drive or before it.
    for limit in [1_000_000, 64] {
        let mut drive = reader("constant", 1.1 / s * 1e9, 11_000, 1);
        drive.host.queue_limit = limit;
        let value = generate(&drive, "random-read");
        let all = value["warnings"].as_array().unwrap();
        let overloaded = all.iter().find(|w| w["code"] == "overloaded").unwrap();
        let text = overloaded["text"].as_str().unwrap();
        let outstanding: f64 = text
            .split_once(" were outstanding")
            .and_then(|(before, _)| before.rsplit(' ').next())
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{text}"));
        close("outstanding", outstanding, 1000.0, 0.01);
    }
    // A client that waits for completions cannot come too often.
    let settings = ["host.mode=queue-depth", "host.queue-depth=256", "precondition.fill=full"];
    assert!(!is_overloaded(&serve(&drive(&settings), reads_at(std::iter::repeat_n(0, 10_000)))));
}

#[test]
fn bursts_that_the_drive_works_off_are_no_overload() {
    let drive = drive(&["precondition.fill=full"]);
    let ms = 1_000_000;
    // A burst of `size` requests every 100 ms, 50 us each; the last burst is the end of the run.
    for (bursts, size) in [(3, 1_900), (20, 500), (4, 1_000)] {
        let times = (0..bursts).flat_map(|burst| (0..size).map(move |_| burst * 100 * ms));
        let value = serve(&drive, reads_at(times));
        assert!(!is_overloaded(&value), "{bursts} bursts of {size}");
    }
    // Three times the rate of the drive for 0.1 s: amid a quiet trace, and as the end of one that is
    // so long that 0.2 s more are nothing.
    let quiet = |from: u64, n: u64| (0..n).map(move |i| (from + i * 100) * ms);
    let burst = |from: u64, gap: u64| (0..6_000).map(move |i| from * ms + i * gap);
    let amid = quiet(0, 300).chain(burst(30_000, READ / 3)).chain(quiet(31_000, 300));
    assert!(!is_overloaded(&serve(&drive, reads_at(amid))));
    let at_the_end = quiet(0, 300).chain(burst(30_000, READ / 3));
    assert!(!is_overloaded(&serve(&drive, reads_at(at_the_end))));
    // A drive that is never empty because it has much to do at a time keeps up nevertheless.
    let steady = (0..100).flat_map(|i| (0..100).map(move |_| i * 5 * ms));
    assert!(!is_overloaded(&serve(&drive, reads_at(steady))));
    // The rate doubles halfway, to more than the drive can do, and stays there.
    let rising = (0..5_000).map(|i| i * 2 * 40_000);
    let risen = (0..5_000).map(|i| 5_000 * 2 * 40_000 + i * 40_000);
    assert!(is_overloaded(&serve(&drive, reads_at(rising.chain(risen)))));
    // Too few to say anything.
    assert!(!is_overloaded(&serve(&drive, reads_at([0; 999]))));
}

#[test]
fn a_closed_loop_keeps_its_depth() {
    for depth in [1, 7, 64] {
        for (pattern, own) in [
            ("random-read", "workload.read-share=1.0"),
            ("random-write", "workload.read-share=0.0"),
            ("random-write", "workload.read-share=0.4"),
            ("zipf", "workload.trim-share=0.1"),
        ] {
            let drive = drive(&[
                "geometry.channels=2",
                "geometry.chips-per-channel=2",
                "geometry.planes-per-die=2",
                "geometry.blocks-per-plane=64",
                "ftl.spare-factor=0.2",
                "host.mode=queue-depth",
                &format!("host.queue-depth={depth}"),
                "precondition.fill=full",
                "workload.requests=60000",
                own,
                &bus(333, 8),
            ]);
            let value = generate(&drive, pattern);
            let all = class_of(&value, "all");
            let per_ns = all.requests as f64 / (number(&value["simulated_seconds"]) * 1e9);
            let what = format!("{pattern} {own} at depth {depth}");
            close(&what, per_ns * all.mean, f64::from(depth), 0.005);
            assert!(number(&value["checks"]["little_law_error"]).abs() < 1e-9);
        }
    }
}

// ── Where the time went ─────────────────────────────────────────────────────────────────────────

/// Eight blocks of four pages on one die, half of them spare, and 24 writes that fill six of the
/// blocks: the next write opens the last but one. In every block `valid` pages are never written
/// again, while the others hold the same few pages over and over. So the first block is the victim
/// and has `valid` pages to move. They take the last free block, so the second block is reclaimed
/// too ([`reclaimed`]). Also gives a page of the last block, and one that moves.
fn before_collection(own: &[&str], valid: u64) -> (Drive, Vec<Request>, u64, u64) {
    let mut settings = vec![
        "geometry.blocks-per-plane=8",
        "geometry.pages-per-block=4",
        "ftl.logical-capacity=64KiB",
        "precondition.fill=none",
    ];
    settings.extend(own);
    let again = 4 - valid;
    let page = |i: u64| match (i / 4, i % 4) {
        (_, at) if at < again => at,
        (block, at) => again + block * valid + (at - again),
    };
    let script = (0..24).map(|i| write(i * LATER, page(i))).collect();
    (drive(&settings), script, again - 1, again)
}

/// The blocks that are reclaimed then.
fn reclaimed(valid: u64) -> u64 {
    if valid == 0 { 1 } else { 2 }
}

/// How long the first of them takes. A waiting request then goes before the second.
fn collection(valid: u64) -> u64 {
    valid * (READ + PROGRAM) + ERASE
}

#[test]
fn a_read_behind_a_write_behind_an_erase_knows_what_it_waited_for() {
    let t0 = 30 * LATER;
    for valid in [0, 1, 2] {
        let gc = collection(valid);
        // A write that opens the last block but one and so sets off garbage collection, another
        // that comes while the first is on its way, and a read after that.
        let (drive, mut script, quiet, _) = before_collection(&[], valid);
        script.extend([write(t0, 0), write(t0 + 100_000, 0), read(t0 + 150_000, quiet)]);
        script.push(flush(t0 + LATER));
        let value = serve(&drive, script);
        let (r, w) = both(&value);
        assert_eq!(count(&value["flash"]["erase"]["gc"]), reclaimed(valid));
        assert_eq!(count(&value["flash"]["program"]["gc"]), reclaimed(valid) * valid);
        // The read: the rest of the first write, the collection, the second write.
        let host = (PROGRAM - 150_000) + PROGRAM;
        assert_eq!(r.totals(), (host + gc + READ, host, gc, 0, READ), "{valid} pages to move");
        // The writes: 25 that waited for nothing, and one for the first and the collection.
        let host = PROGRAM - 100_000;
        assert_eq!(w.totals(), (host + gc + 26 * PROGRAM, host, gc, 0, 26 * PROGRAM));
        assert_eq!(w.max, host + gc + PROGRAM);
    }
}

#[test]
fn an_erase_waits_for_reads_on_their_way_to_its_block() {
    let t0 = 30 * LATER;
    // The read comes while its page is being moved, and gets the old copy.
    let (drive, mut script, _, moving) = before_collection(&[], 1);
    script.extend([write(t0, 0), read(t0 + PROGRAM + 10_000, moving), flush(t0 + LATER)]);
    let value = serve(&drive, script);
    let gc = READ - 10_000 + PROGRAM;
    assert_eq!(class_of(&value, "read").totals(), (gc + READ, 0, gc, 0, READ));
    assert_eq!(count(&value["flash"]["erase"]["gc"]), reclaimed(1));
}

#[test]
fn reads_overtake_where_the_order_says_so() {
    let t0 = 30 * LATER;
    for valid in [0, 2] {
        let own = ["policy order=read-first"];
        let (drive, mut script, quiet, _) = before_collection(&own, valid);
        script.extend([write(t0, 0), write(t0 + 100_000, 0), read(t0 + 150_000, quiet)]);
        let (r, w) = both(&serve(&drive, script));
        let host = PROGRAM - 150_000;
        assert_eq!(r.totals(), (host + READ, host, 0, 0, READ), "only the running write");
        let (host, gc) = (PROGRAM - 100_000 + READ, collection(valid));
        assert_eq!(w.totals(), (host + gc + 26 * PROGRAM, host, gc, 0, 26 * PROGRAM));
    }
    // A read that comes in the middle of a collection waits for one operation of it, not for all.
    for (order, others) in [("read-first", 0), ("fifo", collection(1) - READ)] {
        let policy = format!("policy order={order}");
        let (drive, mut script, quiet, _) = before_collection(&[&policy], 1);
        script.extend([write(t0, 0), read(t0 + PROGRAM + 10_000, quiet)]);
        let (r, _) = both(&serve(&drive, script));
        let gc = READ - 10_000 + others;
        assert_eq!(r.totals(), (gc + READ, 0, gc, 0, READ), "{order}");
    }
}

#[test]
fn urgent_requests_go_first_where_the_order_says_so() {
    // A write runs; then come a read and a write, and an urgent write and an urgent read.
    let script = vec![
        write(0, 0),
        read(1_000, 1),
        write(2_000, 2),
        urgent(write(3_000, 3)),
        urgent(read(4_000, 4)),
    ];
    let totals = |order: &str| {
        let drive = drive(&[&format!("policy order={order}")]);
        let (r, w) = both(&serve(&drive, script.clone()));
        ((r.min, r.max), (w.min, w.max), w.totals().0)
    };
    // When each ends: fifo in the order of arrival.
    let (r1, w2, w3, r4) =
        (PROGRAM + READ, 2 * PROGRAM + READ, 3 * PROGRAM + READ, 3 * PROGRAM + 2 * READ);
    let writes = PROGRAM + (w2 - 2_000) + (w3 - 3_000);
    assert_eq!(totals("fifo"), ((r1 - 1_000, r4 - 4_000), (PROGRAM, w3 - 3_000), writes));
    // read-first: both reads, then the writes.
    let (r1, r4) = (PROGRAM + READ, PROGRAM + 2 * READ);
    let (w2, w3) = (2 * PROGRAM + 2 * READ, 3 * PROGRAM + 2 * READ);
    let writes = PROGRAM + (w2 - 2_000) + (w3 - 3_000);
    let reads = ((r1 - 1_000).min(r4 - 4_000), (r1 - 1_000).max(r4 - 4_000));
    assert_eq!(totals("read-first"), (reads, (PROGRAM, w3 - 3_000), writes));
    // priority: the urgent read, the urgent write, then the others as they came.
    let (r4, w3) = (PROGRAM + READ, 2 * PROGRAM + READ);
    let (r1, w2) = (2 * PROGRAM + 2 * READ, 3 * PROGRAM + 2 * READ);
    let writes = PROGRAM + (w2 - 2_000) + (w3 - 3_000);
    assert_eq!(totals("priority"), ((r4 - 4_000, r1 - 1_000), (PROGRAM, w2 - 2_000), writes));
}

// ── When requests arrive ────────────────────────────────────────────────────────────────────────

#[test]
fn timestamps_are_divided_by_the_speed() {
    let n = 1_000;
    let script: Vec<Request> = (0..n).map(|i| read(i * 80_000, i % 60)).collect();
    for (speed, gap) in [(1.0, 80_000), (2.0, 40_000), (0.5, 160_000), (4.0, 20_000)] {
        let drive = drive(&[format!("host.speed={speed:?}")]);
        let value = serve(&drive, script.clone());
        let r = class_of(&value, "read");
        let missing = READ.saturating_sub(gap);
        assert_eq!(r.max, READ + (n - 1) * missing, "speed {speed}");
        assert_eq!(r.totals().1, missing * n * (n - 1) / 2);
        assert_eq!(count(&value["end"]["at_ns"]), (n - 1) * gap + READ + (n - 1) * missing);
    }
}

#[test]
fn shifted_without_a_throttle_is_timestamps() {
    let result = |mode: &str| {
        let drive = drive(&[
            &format!("host.mode={mode}")[..],
            "geometry.channels=2",
            "geometry.blocks-per-plane=64",
            "ftl.spare-factor=0.2",
            "precondition.fill=full",
            "workload.requests=20000",
            "workload.read-share=0.3",
            "workload.trim-share=0.05",
            "workload.arrivals={ poisson = { iops = 1500 } }",
            "host.speed=1.3",
            "host.queue-limit=50",
        ]);
        let mut value = generate(&drive, "random-write");
        value["provenance"] = Value::Null;
        value.to_string()
    };
    assert_eq!(result("shifted"), result("timestamps"));
}

#[test]
fn think_time_is_the_gap_after_the_completion_before() {
    // Recorded gaps, far shorter and far longer than the service.
    let gaps = [7_000, 0, 500, 3_000_000, 10];
    let mut at = 0;
    let mut script = vec![read(0, 0)];
    for (i, gap) in gaps.into_iter().enumerate() {
        at += gap;
        let page = i as u64 + 1;
        script.push(if page.is_multiple_of(2) { read(at, page) } else { write(at, page) });
    }
    // A trim takes no time, and its successor's gap still counts.
    script.push(trim(at + 900, 1));
    script.push(read(at + 1_000, 2));
    for speed in [1, 2] {
        let drive = drive(&["host.mode=think-time".to_owned(), format!("host.speed={speed}.0")]);
        let value = serve(&drive, script.clone());
        let (r, w) = both(&value);
        assert_eq!((r.min, r.max, w.min, w.max), (READ, READ, PROGRAM, PROGRAM));
        let thinking = (at + 1_000) / speed;
        let served = 4 * READ + 3 * PROGRAM;
        assert_eq!(count(&value["end"]["at_ns"]), thinking + served, "speed {speed}");
    }
}

#[test]
fn a_closed_loop_does_not_look_at_the_clock() {
    let n = 100;
    for depth in [1, 2, 5] {
        let script: Vec<Request> = (0..n).map(|i| read(i * LATER, i % 60)).collect();
        let settings = ["host.mode=queue-depth".to_owned(), format!("host.queue-depth={depth}")];
        let value = serve(&drive(&settings), script);
        let r = class_of(&value, "read");
        // Request i finds min(i, depth - 1) before it.
        let rounds: u64 = (0..n).map(|i| i.min(depth - 1) + 1).sum();
        assert_eq!((r.min, r.max, r.totals().0), (READ, depth * READ, rounds * READ));
        assert_eq!(count(&value["end"]["at_ns"]), n * READ);
    }
}

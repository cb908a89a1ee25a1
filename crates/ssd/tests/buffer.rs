//! The write buffer: the writes that it saves, the wait of a write while it is full, and that
//! nothing in it is lost.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    PAGE, bytes, class_of, close, count, drive, flush, generate, number, policies_of, read, serve,
    trim, warnings, write, write_fua,
};
use floatgate_ssd::sim::{Sim, Turn};
use floatgate_ssd::{Drive, ftl_of};
use ftl::Lpn;
use kernel::{Dur, Rng};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use workload::{List, Op, Request, Workload};

const PROGRAM: u64 = 600_000;
const READ: u64 = 50_000;
const ERASE: u64 = 3_000_000;

fn buffered(pages: u64, flush_above: f64, own: &[&str]) -> Drive {
    let size = format!("buffer.size={}KiB", 4 * pages);
    let share = format!("buffer.flush-above={flush_above}");
    drive(&[&[size.as_str(), share.as_str(), "precondition.fill=none"], own].concat())
}

fn buffer(value: &Value, what: &str) -> u64 {
    count(&value["buffer"][what])
}

fn programs(value: &Value) -> u64 {
    count(&value["flash"]["program"]["host"])
}

#[test]
fn a_write_waits_for_the_program_that_makes_room() {
    let requests: Vec<Request> = (0..10).map(|page| write(0, page)).collect();
    let value = serve(&buffered(4, 0.0, &[]), requests);
    // One die: programs end at 600 us, 1200 us and so on; four writes need not wait for any.
    let waits: u64 = (1..=6).map(|k| k * PROGRAM).sum();
    let class = class_of(&value, "write");
    assert_eq!(class.mean, waits as f64 / 10.0);
    assert_eq!(class.max, 6 * PROGRAM);
    let delays = &value["host"]["write"]["delay_ns_by_cause"];
    assert_eq!(number(&delays["queue"]["host"]), class.mean, "behind other pages of the host");
    assert_eq!(number(&delays["array"]), 0.0);
    assert_eq!((buffer(&value, "waited"), buffer(&value, "most")), (6, 4));
    assert_eq!((buffer(&value, "flushed"), programs(&value)), (10, 10));
    assert_eq!(buffer(&value, "left"), 0);
    assert!(!warnings(&value).contains(&"buffer-never-filled"));
}

#[test]
fn a_page_written_over_before_it_is_sent_costs_no_flash() {
    let requests: Vec<Request> = (0..400).map(|i| write(i, i % 4)).collect();
    let value = serve(&buffered(8, 1.0, &[]), requests.clone());
    assert_eq!(class_of(&value, "write").max, 0);
    // The last four copies go to flash when the host has nothing more to say, one after the other.
    assert_eq!((buffer(&value, "absorbed"), buffer(&value, "left")), (396, 0));
    assert_eq!((programs(&value), number(&value["waf"])), (4, 0.01));
    assert_eq!(count(&value["end"]["at_ns"]), 399 + 4 * PROGRAM);
    assert!(warnings(&value).contains(&"buffer-never-filled"));
    assert!(text_of(&value, "buffer-never-filled").ends_with("a buffer takes no time of its own"));
    // With room for three of the four, the least recent is sent each time: nothing is absorbed.
    let value = serve(&buffered(3, 1.0, &[]), requests);
    assert_eq!(buffer(&value, "absorbed"), 0);
    assert_eq!(programs(&value), 400);
}

#[test]
fn reads_of_what_is_in_the_buffer_take_no_flash() {
    let value = serve(&buffered(4, 1.0, &[]), vec![write(0, 3), read(1, 3), read(2, 5)]);
    assert_eq!(buffer(&value, "read_hits"), 1);
    assert_eq!(class_of(&value, "read").max, READ, "page 5 is not in the buffer");
    assert_eq!(count(&value["flash"]["read"]["host"]), 1);
    // Half a page answers for that half only.
    let half = |at, op, part| bytes(at, op, 3 * PAGE + part * PAGE / 2, PAGE / 2);
    let list = vec![half(0, Op::Write, 0), half(1, Op::Read, 0), half(2, Op::Read, 1)];
    let value = serve(&buffered(4, 1.0, &[]), list);
    assert_eq!(buffer(&value, "read_hits"), 1);
    // Of 64 parts that a page has, all but the last, which lacks a byte at its end; without the first
    // byte the first.
    for (from, len, hits) in [(0, PAGE - 1, 63), (1, PAGE - 1, 63), (1, PAGE - 2, 62)] {
        let part = |i: u64| bytes(1 + i, Op::Read, 3 * PAGE + i * 64, 64);
        let mut list = vec![bytes(0, Op::Write, 3 * PAGE + from, len)];
        list.extend((0..64).map(part));
        let value = serve(&buffered(4, 1.0, &[]), list);
        assert_eq!(buffer(&value, "read_hits"), hits, "{len} bytes from {from}");
    }
}

#[test]
fn two_halves_are_a_page_and_one_needs_the_old() {
    let half = |at, part| bytes(at, Op::Write, part * PAGE / 2, PAGE / 2);
    let others = |from| (0..4).map(move |page| write(from + page, 10 + page));
    let own = ["precondition.fill=full"];
    let both = [half(0, 0), half(1, 1)].into_iter().chain(others(2)).collect();
    let value = serve(&buffered(4, 1.0, &own), both);
    assert_eq!((count(&value["flash"]["rmw_reads"]), programs(&value)), (0, 5));
    let one = [half(0, 0)].into_iter().chain(others(2)).collect();
    let value = serve(&buffered(4, 1.0, &own), one);
    assert_eq!((count(&value["flash"]["rmw_reads"]), programs(&value)), (1, 5));
}

/// Writes enter in their order: a place that a trim leaves is not for one that comes later.
#[test]
fn a_write_waits_behind_one_that_waits() {
    let script = |waits: bool| {
        let mut script = vec![write(0, 0), write(1, 1), trim(3, 1), write(4, 3)];
        if waits {
            script.insert(2, write(2, 2));
        }
        script
    };
    let waited = |waits| buffer(&serve(&buffered(2, 1.0, &[]), script(waits)), "waited");
    assert_eq!((waited(true), waited(false)), (2, 0));
}

#[test]
fn what_is_trimmed_in_the_buffer_never_reaches_flash() {
    let value = serve(&buffered(4, 1.0, &[]), vec![write(0, 3), write(1, 4), trim(2, 3)]);
    assert_eq!((programs(&value), buffer(&value, "absorbed")), (1, 0));
    let value = serve(&buffered(4, 0.0, &[]), vec![write(0, 3), write(1, 4), trim(2, 3)]);
    // Page 3 was on its way already.
    assert_eq!((programs(&value), count(&value["checks"]["mapped"])), (2, 1));
}

/// A buffer that holds all that a host writes, which waits for nothing else, takes no time: until
/// its pages are in flash the run goes on.
#[test]
fn a_run_counts_to_its_last_program() {
    let closed = ["host.mode=queue-depth", "host.queue-depth=1"];
    for flush_above in [0.0, 0.5, 1.0] {
        let requests: Vec<Request> = (0..10).map(|page| write(0, page)).collect();
        let value = serve(&buffered(16, flush_above, &closed), requests);
        assert_eq!(class_of(&value, "write").max, 0);
        assert_eq!(count(&value["end"]["at_ns"]), 10 * PROGRAM, "flush above {flush_above}");
        assert_eq!(number(&value["simulated_seconds"]), 10.0 * PROGRAM as f64 * 1e-9);
        assert_eq!((programs(&value), buffer(&value, "left")), (10, 0));
        assert_eq!(buffer(&value, "drain_ns"), 10 * PROGRAM);
        let codes = warnings(&value);
        assert!(codes.contains(&"buffer-drained") && codes.contains(&"buffer-never-filled"));
        assert!(!codes.contains(&"no-time"));
    }
    // A host that leaves time: one program after the last of its writes is next to nothing.
    let requests = (0..10).map(|page| write(page * 100 * PROGRAM, page)).collect();
    let value = serve(&buffered(16, 0.0, &[]), requests);
    assert_eq!(count(&value["end"]["at_ns"]), 901 * PROGRAM);
    assert_eq!(buffer(&value, "drain_ns"), PROGRAM);
    assert!(!warnings(&value).contains(&"buffer-drained"));
    // The pages that the buffer kept are programmed on the one die after the last request.
    let value = serve(&buffered(16, 1.0, &[]), vec![write(0, 3), read(2 * PROGRAM, 5)]);
    assert_eq!(count(&value["end"]["at_ns"]), 2 * PROGRAM + READ + PROGRAM);
    assert_eq!(buffer(&value, "drain_ns"), PROGRAM);
    // A program that was sent long ago adds nothing.
    let value = serve(&buffered(16, 0.0, &[]), vec![write(0, 3), read(2 * PROGRAM, 5)]);
    assert_eq!(count(&value["end"]["at_ns"]), 2 * PROGRAM + READ);
    assert_eq!(buffer(&value, "drain_ns"), 0);
}

/// A run without flash operations takes no time, and its result says so.
#[test]
fn a_run_that_needs_no_flash_is_said_to_have_no_rates() {
    let own = ["host.mode=queue-depth", "precondition.fill=none", "ftl.unmapped-read=zero"];
    let value = serve(&drive(&own), (0..10).map(|page| read(0, page)).collect());
    assert_eq!(number(&value["simulated_seconds"]), 0.0);
    assert!(warnings(&value).contains(&"no-time"));
    let value = serve(&drive(&own), vec![write(0, 1)]);
    assert!(!warnings(&value).contains(&"no-time"));
}

/// The host asks one thing at a time, so a plain set knows which pages there are in the end, once
/// everything has been sent. Space is short: pages wait for it after they were sent, are trimmed
/// and written anew meanwhile.
#[test]
fn nothing_is_lost_and_nothing_comes_back() {
    let (mut collected, mut stalled, mut modified) = (0, 0, 0);
    for seed in 0..60 {
        let mut own = vec![
            "host.mode=queue-depth",
            "host.queue-depth=1",
            "geometry.channels=2",
            "ftl.spare-factor=0.3",
        ];
        if seed % 3 == 0 {
            // Space for the remaining pages at the end may have to come from idle time.
            own.extend(["ftl.gc.foreground=one", "ftl.gc.background-stop=3"]);
        }
        let drive = buffered(1 + seed % 12, [0.0, 0.8][(seed % 2) as usize], &own);
        let pages = drive.logical_pages;
        let mut rng = Rng::named(seed, "buffer");
        let mut there = BTreeSet::new();
        let mut requests = Vec::new();
        for _ in 0..3000 {
            let page = rng.below(pages);
            let at = u64::from(page) * PAGE;
            requests.push(match rng.below(10) {
                0..2 => {
                    there.remove(&page);
                    trim(0, page.into())
                }
                2..5 => {
                    there.insert(page);
                    bytes(0, Op::Write, at + u64::from(rng.below(7)) * 512, 512)
                }
                5 => read(0, page.into()),
                _ => {
                    there.insert(page);
                    write(0, page.into())
                }
            });
        }
        let list = List::new("list", requests).unwrap();
        let mut ftl = ftl_of(&drive, policies_of(&drive));
        ftl.begin_run(policies_of(&drive));
        let mut sim = Sim::new(&drive, ftl);
        sim.run(&mut *list.open().unwrap(), None, &mut |_| true).unwrap();
        let map = sim.ftl().map();
        let mapped = (0..pages).filter(|&p| map.lookup(Lpn::from_u32(p)).is_some());
        assert_eq!(mapped.collect::<BTreeSet<u32>>(), there, "seed {seed}");
        sim.ftl().check().unwrap();
        assert_eq!(sim.buffer().unwrap().left, 0);
        collected += sim.ftl().counts().erase.total().get();
        stalled += sim.wait_stats().space;
        modified += sim.stats().rmw_reads;
    }
    assert!(
        collected > 1000 && stalled > 100 && modified > 1000,
        "{collected} {stalled} {modified}"
    );
}

/// Delays are split to the last nanosecond (`run_with` checks the sum), and a full buffer on a drive
/// that collects garbage makes writes wait behind that.
#[test]
fn a_full_buffer_waits_behind_garbage_collection() {
    let own = [
        "geometry.channels=2",
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.2",
        "precondition.fill=full",
        "precondition.age=random",
        "host.mode=queue-depth",
        "host.queue-depth=16",
        "workload.requests=20000",
    ];
    let value = generate(&buffered(32, 0.5, &own), "random-write");
    let queue = &value["host"]["write"]["delay_ns_by_cause"]["queue"];
    assert!(number(&queue["gc"]) > 0.0 && number(&queue["host"]) > 0.0);
    // The dies are the bottleneck with the buffer and without: the absorbed writes are the whole
    // gain.
    let without = generate(&drive(&own), "random-write");
    let each =
        |v: &Value| number(&v["simulated_seconds"]) / number(&v["flash"]["program"]["total"]);
    close("time for each program", each(&value), each(&without), 0.02);
    assert!(buffer(&value, "absorbed") > 500);
}

// ── Time in the buffer ──────────────────────────────────────────────────────────────────────────

/// 4096 bytes at 1.024 GB/s.
const MOVE: u64 = 4_000;
const LATENCY: u64 = 3_000;
const TIMES: [&str; 2] = ["buffer.rate=1.024GB/s", "buffer.latency=3us"];

/// The latency of each request in order of completion, by the events of a run.
fn latencies(drive: &Drive, requests: Vec<Request>) -> Vec<u64> {
    let list = List::new("list", requests).unwrap();
    let mut ftl = ftl_of(drive, policies_of(drive));
    ftl.begin_run(policies_of(drive));
    let mut sim = Sim::new(drive, ftl);
    let (mut source, mut batch) = (list.open().unwrap(), Vec::new());
    let mut of = BTreeMap::new();
    source.fill(&mut batch).unwrap();
    for (token, request) in batch.iter().enumerate() {
        while sim.advance(Some(request.at)) == Turn::Done {
            while let Some(done) = sim.take_done() {
                of.insert(done.token, done.latency.as_ns());
            }
        }
        sim.submit(request, token as u32);
    }
    // Before the host is through: nothing is sent because it is.
    while sim.advance(None) == Turn::Done {
        while let Some(done) = sim.take_done() {
            of.insert(done.token, done.latency.as_ns());
        }
    }
    assert_eq!(of.len(), batch.len(), "every request is answered");
    of.into_values().collect()
}

/// A burst of the buffer's size goes in at the buffer's rate, page after page; further pages go in
/// as programs make room. One die, 600 us a program: page k of the burst is in after k moves.
#[test]
fn a_burst_of_its_size_is_absorbed_at_its_rate_and_no_more() {
    let burst = |pages: u64| (0..pages).map(|page| write(0, page)).collect::<Vec<_>>();
    let drive = buffered(8, 0.0, &TIMES);
    let in_buffer = |k: u64| k * MOVE + LATENCY;
    let expected: Vec<u64> = (1..=8).map(in_buffer).collect();
    assert_eq!(latencies(&drive, burst(8)), expected);
    // The first program begins when its page is in; each end makes room for one page more.
    let room = |k: u64| in_buffer(1) + k * PROGRAM;
    let more: Vec<u64> = (1..=4).map(|k| room(k) + MOVE + LATENCY).collect();
    assert_eq!(latencies(&drive, burst(12)), [expected, more].concat());
    let value = serve(&drive, burst(12));
    let delays = &value["host"]["write"]["delay_ns_by_cause"];
    let own: u64 = (1..=8).map(in_buffer).sum::<u64>() + 4 * (MOVE + LATENCY);
    // The page that made way had been 7 us in the buffer, but that was before the wait began.
    let host: u64 = (1..=4).map(room).sum();
    let both = number(&delays["buffer"]) + number(&delays["queue"]["host"]);
    close("in the buffer and before", both * 12.0, (own + host) as f64, 1e-12);
    assert_eq!(number(&delays["array"]), 0.0);
    close("in the buffer", number(&delays["buffer"]) * 12.0, own as f64, 1e-9);
    assert_eq!(class_of(&value, "write").max, room(4) + MOVE + LATENCY);
}

/// Drives of dies that program several pages at once, and the size of one program.
const SHAPES: [(&[&str], u64); 4] = [
    (&["geometry.channels=4"], 1),
    (&["geometry.channels=8", "geometry.page-size=16KiB", "ftl.mapping-unit=4KiB"], 4),
    (
        &[
            "geometry.channels=4",
            "geometry.planes-per-die=2",
            "geometry.bits-per-cell=3",
            "geometry.pages-per-block=12",
            "ftl.program-planes=2",
            "pages.program=wordline",
            "timing.program=200us",
        ],
        6,
    ),
    (&["geometry.channels=4", "geometry.planes-per-die=4", "ftl.multi-plane=any"], 4),
];

/// A write keeps its place until it is programmed. With fewer places than all dies program at once, a drive
/// programs the share that there are places for; with as many or more, all of it.
#[test]
fn a_buffer_of_less_than_a_unit_of_every_die_is_warned_of() {
    for (shape, pages) in SHAPES {
        let shape = [
            shape,
            &["host.mode=queue-depth", "host.queue-depth=256", "precondition.fill=none"],
            &["geometry.blocks-per-plane=1024", "workload.requests=12000", "workload.size=4KiB"],
        ]
        .concat();
        let rate = |size: &str| {
            let drive = drive(&[&shape[..], &[size]].concat());
            let value = generate(&drive, "sequential-write");
            let warned = warnings(&value).contains(&"small-buffer");
            let before = drive.warnings();
            let small = before.as_array().unwrap().iter().any(|w| w["code"] == "small-buffer");
            assert_eq!(warned, small, "before the run and after it");
            (12_000.0 / number(&value["simulated_seconds"]), warned, drive.buffer.size.unwrap())
        };
        let (most, no, two) = rate("buffer.units-per-die=2");
        let dies = two.get() / (2 * pages * PAGE);
        assert_eq!((no, two.get()), (false, 2 * dies * pages * PAGE));
        for share in [0.5, 0.75] {
            let size = (share * (dies * pages) as f64) as u64 * 4;
            let (some, warned, _) = rate(&format!("buffer.size={size}KiB"));
            assert!(warned);
            close("the share that there are places for", some / most, share, 0.03);
        }
        let (all, warned, _) = rate(&format!("buffer.size={}KiB", dies * pages * 4));
        assert!(!warned, "{shape:?}");
        close("one unit for each die", all / most, 1.0, 0.03);
    }
}

/// The time to reach a place keeps others waiting, as the data do; the latency does not.
#[test]
fn a_transfer_takes_its_access_and_its_data_one_after_the_other() {
    const ACCESS: u64 = 500;
    let burst = |pages: u64| (0..pages).map(|page| write(0, page)).collect::<Vec<_>>();
    let own = [&TIMES[..], &["buffer.access=500ns"]].concat();
    let expected: Vec<u64> = (1..=8).map(|k| k * (ACCESS + MOVE) + LATENCY).collect();
    assert_eq!(latencies(&buffered(8, 0.0, &own), burst(8)), expected);
    // Alone, it is a port of its own.
    let alone: Vec<u64> = (1..=8).map(|k| k * ACCESS).collect();
    assert_eq!(latencies(&buffered(8, 0.0, &["buffer.access=500ns"]), burst(8)), alone);
}

/// Also where a second copy comes in because the first takes no more writes.
#[test]
fn what_is_trimmed_while_it_comes_in_never_reaches_flash() {
    let own = [&TIMES[..], &["buffer.power-loss-protected=false"]].concat();
    for first in [write(0, 3), write_fua(0, 3)] {
        let script = vec![first, write(1, 3), trim(2, 3), write(20_000, 4)];
        let value = serve(&buffered(4, 1.0, &own), script);
        assert_eq!((programs(&value), count(&value["checks"]["mapped"])), (1, 1));
        assert_eq!(class_of(&value, "write").requests, 3);
    }
}

/// Two places: page 0 is in and kept, page 1 comes in, page 2 has no place. Page 0 is sent for it
/// at once, because a page that comes in is not on its way out.
#[test]
fn what_comes_in_makes_no_room() {
    let script = vec![write(0, 0), write(8_000, 1), write(9_000, 2)];
    let expected = [MOVE + LATENCY, MOVE + LATENCY, PROGRAM + MOVE + LATENCY];
    assert_eq!(latencies(&buffered(2, 1.0, &TIMES), script), expected);
}

/// Random sizes and times against a queue with one server, by hand.
#[test]
fn its_port_serves_one_after_the_other() {
    for seed in 0..20 {
        let mut rng = Rng::named(seed, "port");
        let (mut at, mut free, mut requests, mut expected) = (0, 0, Vec::new(), Vec::new());
        for _ in 0..64 {
            at += u64::from(rng.below(8_000));
            let page = u64::from(rng.below(4));
            let sectors = 1 + u64::from(rng.below(8));
            let op = if requests.len() < 8 || rng.below(2) == 0 { Op::Write } else { Op::Read };
            // Whole pages first, so that every read finds data.
            let (page, sectors) =
                if requests.len() < 4 { (requests.len() as u64, 8) } else { (page, sectors) };
            requests.push(bytes(at, op, page * PAGE, sectors * 512));
            free = u64::max(free, at) + sectors * MOVE / 8;
            expected.push(free + LATENCY - at);
        }
        let drive = buffered(8, 1.0, &TIMES);
        assert_eq!(latencies(&drive, requests), expected, "seed {seed}");
    }
}

#[test]
fn a_write_goes_through_where_it_must_survive() {
    let (volatile, through) = ("buffer.power-loss-protected=false", "buffer.kind=write-through");
    let in_buffer = MOVE + LATENCY;
    for (own, op, latency) in [
        (vec![], Op::Write, in_buffer),
        (vec![], Op::WriteFua, in_buffer),
        (vec![volatile], Op::Write, in_buffer),
        (vec![volatile], Op::WriteFua, in_buffer + PROGRAM),
        (vec![through], Op::Write, in_buffer),
        (vec![through, volatile], Op::Write, in_buffer + PROGRAM),
        (vec![through, volatile], Op::WriteFua, in_buffer + PROGRAM),
        (vec!["buffer.kind=none"], Op::Write, PROGRAM),
        (vec!["buffer.kind=none"], Op::WriteFua, PROGRAM),
    ] {
        let drive = buffered(4, 1.0, &[&TIMES[..], &own].concat());
        let value = serve(&drive, vec![bytes(0, op, 0, PAGE)]);
        assert_eq!(class_of(&value, "write").max, latency, "{own:?} {op:?}");
        let delays = &value["host"]["write"]["delay_ns_by_cause"];
        let array = if latency >= PROGRAM { PROGRAM as f64 } else { 0.0 };
        assert_eq!(number(&delays["array"]), array, "{own:?} {op:?}");
    }
}

/// One die: programs follow each other. A flush is done with the last program of the writes before
/// it. Neither waits for later writes nor lets them in between.
#[test]
fn a_flush_waits_for_all_before_it() {
    let script = vec![write(0, 0), write(1, 1), write(2, 2), flush(10_000), write(11_000, 3)];
    let volatile = "buffer.power-loss-protected=false";
    let flush_of = |drive: &Drive| latencies(drive, script.clone())[3];
    // Without a buffer: three programs from time zero on.
    assert_eq!(flush_of(&buffered(4, 1.0, &["buffer.kind=none"])), 3 * PROGRAM - 10_000);
    // Protected, all is safe when it is in: the last page of three, from its arrival on.
    assert_eq!(flush_of(&buffered(4, 1.0, &[])), 0);
    assert_eq!(flush_of(&buffered(4, 1.0, &TIMES)), 3 * MOVE + LATENCY - 10_000);
    // Volatile: nothing is sent before the flush.
    assert_eq!(flush_of(&buffered(4, 1.0, &[volatile])), 3 * PROGRAM);
    // With time: two pages are in at 7 and 11 us, of which the first goes at the flush, 10 us.
    let timed = [&TIMES[..], &[volatile]].concat();
    assert_eq!(flush_of(&buffered(4, 1.0, &timed)), 3 * PROGRAM);
    // Sent at once, as it is in.
    assert_eq!(flush_of(&buffered(4, 0.0, &timed)), MOVE + LATENCY + 3 * PROGRAM - 10_000);
    // A page that somebody waits for takes no more writes while it comes in: neither one before a flush
    // from one behind it, nor one with force unit access.
    let waited = MOVE + LATENCY + PROGRAM;
    let (late, forced) =
        (vec![write(0, 0), flush(1), write(2, 0)], vec![write_fua(0, 0), write(1, 0), write(2, 1)]);
    assert_eq!(latencies(&buffered(4, 1.0, &timed), late.clone())[1], waited - 1);
    assert_eq!(latencies(&buffered(4, 1.0, &timed), forced.clone())[0], waited);
    for script in [late, forced] {
        assert_eq!(buffer(&serve(&buffered(4, 1.0, &timed), script), "absorbed"), 0);
    }
    // A flush does not wait for pages that were trimmed before it.
    let trimmed =
        vec![write(0, 0), write(1, 1), trim(2, 0), flush(3), trim(4, 0), flush(PROGRAM + 3)];
    let value = serve(&buffered(4, 1.0, &[volatile]), trimmed);
    assert_eq!((programs(&value), class_of(&value, "flush").max), (1, PROGRAM));
    assert_eq!(class_of(&value, "flush").mean, PROGRAM as f64 / 2.0);
    // A page that is written again after a flush is programmed twice, even if the buffer could
    // absorb the second write.
    let over = vec![write(0, 0), flush(1), write(2, 0), flush(3), write(4, 0)];
    let value = serve(&buffered(4, 1.0, &[volatile]), over.clone());
    assert_eq!((programs(&value), buffer(&value, "absorbed")), (3, 0));
    let flushes = class_of(&value, "flush");
    assert_eq!((flushes.max, flushes.mean), (2 * PROGRAM - 2, (3 * PROGRAM - 2) as f64 / 2.0));
    let value = serve(&buffered(4, 1.0, &[]), over);
    assert_eq!((programs(&value), buffer(&value, "absorbed")), (1, 2));
}

/// Random requests, several at a time, on a drive that never collects garbage (a page on the move
/// is in two places), with any buffer. When a flush is done, every earlier write is done. Pages
/// written before it, and not written or trimmed after, are in flash unless the buffer survives a
/// loss of power. Pages are trimmed before most writes, so that an old copy cannot stand for the
/// new one.
#[test]
fn no_flush_is_early() {
    let (mut waited, mut looked) = (0, 0);
    for seed in 0..48 {
        let mut own = vec!["geometry.blocks-per-plane=256", "geometry.channels=2"];
        let kind = ["none", "write-back", "write-through"][seed % 3];
        let volatile = seed % 2 == 1;
        let kind = format!("buffer.kind={kind}");
        let protected = format!("buffer.power-loss-protected={}", !volatile);
        own.extend([kind.as_str(), protected.as_str()]);
        if seed % 5 > 1 {
            own.extend(TIMES);
        }
        let drive = buffered(2 + seed as u64 % 9, [0.0, 0.7][seed / 6 % 2], &own);
        let in_flash = volatile || seed % 3 == 0;
        let mut rng = Rng::named(seed as u64, "flushes");
        let mut ftl = ftl_of(&drive, policies_of(&drive));
        ftl.begin_run(policies_of(&drive));
        let mut sim = Sim::new(&drive, ftl);
        let mut open = BTreeSet::new();
        let mut flushes = VecDeque::new();
        // When each page was last written, by the number of the request; trimmed: none.
        let mut written: BTreeMap<u64, u32> = BTreeMap::new();
        let mut number = 0;
        for _ in 0..1500 {
            let until = sim.now() + Dur::ns(u64::from(rng.below(400_000)));
            while sim.advance(Some(until)) == Turn::Done {
                while let Some(done) = sim.take_done() {
                    open.remove(&done.token);
                    if flushes.front() != Some(&done.token) {
                        continue;
                    }
                    flushes.pop_front();
                    waited += u32::from(done.latency > Dur::ZERO);
                    let first = open.first().copied().unwrap_or(u32::MAX);
                    assert!(first > done.token, "seed {seed}: {first} is not done");
                    for (&page, _) in written.iter().filter(|(_, at)| in_flash && **at < done.token)
                    {
                        let ppn = sim.ftl().map().lookup(Lpn::from_u32(page as u32));
                        let there = ppn.is_some_and(|ppn| sim.ftl().array().is_written(ppn));
                        assert!(there, "seed {seed}: page {page} can still be lost");
                        looked += 1;
                    }
                }
            }
            let page = u64::from(rng.below(64));
            let next = number;
            let mut submit = |request: Request| {
                sim.submit(&request, number);
                number += 1;
            };
            match rng.below(10) {
                0 => submit(read(0, page)),
                1 => {
                    flushes.push_back(next);
                    submit(flush(0));
                }
                kind => {
                    let trims = kind > 3;
                    if trims {
                        submit(trim(0, page));
                    }
                    open.insert(next + u32::from(trims));
                    written.insert(page, next + u32::from(trims));
                    submit(if kind % 3 == 0 { write_fua(0, page) } else { write(0, page) });
                }
            }
        }
    }
    assert!(waited > 1000 && looked > 10_000, "{waited} {looked}");
}

/// Page 3 is written at 0 and in flash at 600 us.
#[test]
fn the_controller_has_what_is_on_its_way() {
    let (wait, memory) = ("ftl.pending-read=wait", "ftl.pending-read=memory");
    let half = |at, op| bytes(at, op, 3 * PAGE, PAGE / 2);
    let script = |second| vec![write(0, 3), second];
    let at = 100_000;
    let of = |own: &[&str], second: Request| {
        let value = serve(&drive(&[own, &["precondition.fill=none"]].concat()), script(second));
        let flash = &value["flash"];
        let reads = (count(&flash["pending_reads"]), count(&flash["read"]["host"]));
        (class_of(&value, if second.op.writes() { "write" } else { "read" }).max, reads)
    };
    assert_eq!(of(&[wait], read(at, 3)), (PROGRAM - at + READ, (0, 1)));
    assert_eq!(of(&[memory], read(at, 3)), (0, (1, 0)));
    // In flash it is read there.
    assert_eq!(of(&[memory], read(PROGRAM + 1, 3)), (READ, (0, 1)));
    // A write of half a page needs the other half: it waits for the die, and not for the page.
    assert_eq!(of(&[wait], half(at, Op::Write)), (2 * PROGRAM - at + READ, (0, 1)));
    assert_eq!(of(&[memory], half(at, Op::Write)), (2 * PROGRAM - at, (1, 0)));
    // Through the port of a buffer that takes time: a sent page is there as well, but half of a
    // page that was only half written is not.
    let timed = [&TIMES[..], &["buffer.size=16KiB"]].concat();
    let own = [&timed[..], &[memory]].concat();
    assert_eq!(of(&own, read(at, 3)), (MOVE + LATENCY, (0, 0)));
    // Pages that nobody wrote are made up in memory: the port carries the bytes that the request
    // asks for.
    let own = [&timed[..], &["ftl.unmapped-read=zero"]].concat();
    let second_half = bytes(at, Op::Read, 5 * PAGE + PAGE / 2, PAGE / 2);
    assert_eq!(of(&own, second_half), (MOVE / 2 + LATENCY, (0, 0)));
}

/// A drive that wears out while writes wait for their pages to be in flash: that is the end of its life,
/// and nothing hangs. Pages that may go to one plane only wait for one that has nothing left, on a drive
/// that has.
#[test]
fn a_drive_wears_out_below_a_buffer() {
    let mut ends = 0;
    for kind in ["write-back", "write-through"] {
        for (seed, protected) in (0..12).zip([true, false].into_iter().cycle()) {
            let own = [
                format!("buffer.kind={kind}"),
                format!("buffer.power-loss-protected={protected}"),
                format!("run.seed={seed}"),
                "reliability.endurance=3".into(),
                "geometry.channels=4".into(),
                "ftl.spare-factor=0.4".into(),
                "policy placement=static".into(),
                "host.mode=queue-depth".into(),
                "host.queue-depth=4".into(),
                "workload.requests=100000".into(),
                "precondition.fill=full".into(),
            ];
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let value = generate(&buffered(4, 0.5, &[&own[..], &TIMES].concat()), "random-write");
            ends += u32::from(value["end"]["state"] == "worn-out");
        }
    }
    assert_eq!(ends, 24);
}

/// Sixteen pages are written at once, sent at once, and many of them wait for space. Some are given up a
/// nanosecond later, and stay given up as they get their slots, and only they.
#[test]
fn what_is_given_up_as_it_waits_for_space_stays_given_up() {
    let drive = drive(&["buffer.size=64KiB", "precondition.fill=full"]);
    let pages = u64::from(drive.logical_pages);
    let mut rng = Rng::named(11, "test/given-up");
    let (mut mapped, mut requests) = ((0..pages).collect::<BTreeSet<_>>(), Vec::new());
    for round in 0..200_u64 {
        let at = round * 1_000_000_000;
        let first = u64::from(rng.below(pages as u32));
        let written: Vec<u64> = (0..16).map(|i| (first + i * 3) % pages).collect();
        requests.extend(written.iter().map(|&page| write(at, page)));
        mapped.extend(&written);
        for page in written.into_iter().filter(|_| rng.below(2) == 0) {
            requests.push(trim(at + 1, page));
            mapped.remove(&page);
        }
    }
    let value = serve(&drive, requests);
    assert_eq!(count(&value["checks"]["mapped"]), mapped.len() as u64);
}

/// Blocks of eight pages are written round and round, each by one flush, so that each flush opens a block
/// and has another erased, in which nothing is valid. The erase stands before a read that comes later.
#[test]
fn what_a_flush_sets_off_stands_before_what_comes_later() {
    let drive = buffered(16, 1.0, &["buffer.power-loss-protected=false"]);
    let rounds = 24_u64;
    let mut requests = Vec::new();
    for round in 0..rounds {
        let at = round * 1_000_000_000;
        requests.extend((0..8).map(|i| write(at, (8 * round + i) % 64)));
        requests.push(flush(at + 1));
    }
    let last = requests.last().expect("rounds").at.as_ns();
    requests.push(read(last + 1, 8 * rounds % 64));
    let value = serve(&drive, requests);
    assert_eq!(count(&value["flash"]["program"]["total"]), 8 * rounds);
    let read = class_of(&value, "read");
    assert_eq!(read.totals(), (8 * PROGRAM + ERASE + READ - 1, 8 * PROGRAM - 1, ERASE, 0, READ));
}

/// Nothing is said of writes where there are none, and none took 0 ns that waited for anything:
/// the buffer's own time, the link or a throttle.
#[test]
fn a_buffer_that_never_filled_says_of_writes_what_is_true() {
    let said = |settings: &[&str], requests: Vec<_>| {
        let drive = drive(&[&["buffer.size=64KiB", "ftl.unmapped-read=flash"], settings].concat());
        text_of(&serve(&drive, requests), "buffer-never-filled").to_owned()
    };
    assert_eq!(said(&[], vec![read(0, 1), read(0, 2)]), "");
    assert!(said(&[], vec![write(0, 1)]).contains("every write took 0 ns"));
    for slower in ["buffer.latency=4us", "link.rate=1GB/s", "controller.write=2us"] {
        let text = said(&[slower], vec![write(0, 1)]);
        assert!(!text.is_empty() && !text.contains("0 ns"), "{slower}: {text}");
    }
    let throttled = ["policy throttle=static:target=1y:period=1ms", "reliability.endurance=1"];
    let text = said(&throttled, (0..200).map(|i| write(i * 100_000, i % 4)).collect());
    assert!(!text.is_empty() && !text.contains("0 ns"), "throttled: {text}");
}

/// The text of a warning; empty without it.
fn text_of<'a>(value: &'a Value, code: &str) -> &'a str {
    let all = value["warnings"].as_array().unwrap();
    all.iter().find(|w| w["code"] == code).map_or("", |w| w["text"].as_str().unwrap())
}

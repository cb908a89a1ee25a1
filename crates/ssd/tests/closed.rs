//! Right number? Closed loops of the workload's parts: which loop asks, when, until when, and
//! beside which others.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{class_of, count, drive, read, run_with, serve, urgent, warnings, write};
use floatgate_ssd::NoCache;
use kernel::Dur;
use serde_json::Value;
use workload::{ClosedLoop, List, Merge, MergedPart, Request, Workload};

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;

/// Room for regions of 1 MiB: 8 MiB of flash, 4 MiB of it exported.
const ROOM: &str = "geometry.pages-per-block=128";

fn part(requests: Vec<Request>) -> MergedPart {
    MergedPart::new(Box::new(List::new("list", requests).unwrap()))
}

/// The part as a closed loop.
fn closed(part: MergedPart, depth: u32, until: Option<u64>) -> MergedPart {
    MergedPart { closed: Some(ClosedLoop { depth, until: until.map(Dur::ns) }), ..part }
}

fn merged(parts: Vec<MergedPart>) -> Box<dyn Workload> {
    Box::new(Merge::new("loops", parts).unwrap())
}

fn run(parts: Vec<MergedPart>, settings: &[&str]) -> Value {
    let settings: Vec<&str> = [ROOM].iter().chain(settings).copied().collect();
    run_with(&drive(&settings), merged(parts), &mut NoCache)
}

#[test]
fn each_loop_keeps_its_own_number_outstanding_until_its_end() {
    // One die serves a read every tR, in the order of arrival. Places 1 and 3 to 4 of each four are
    // the loop of three, place 2 that of one, because they begin by turns. Before 40 tR, 39 reads
    // are answered: those of place 2 are 2, 6, …, 38.
    let reads = |n: u64| (0..n).map(|i| read(0, i % 64)).collect::<Vec<_>>();
    let few = reads(500).into_iter().map(urgent).collect();
    let until = Some(40 * READ);
    let parts = vec![closed(part(reads(500)), 3, until), closed(part(few), 1, until)];
    let value = run(parts, &[]);
    let all = class_of(&value, "read");
    assert_eq!(all.requests, 4 + 39);
    assert_eq!(count(&value["host"]["high"]["read"]["requests"]), 1 + 10);
    assert_eq!((all.min, all.max), (READ, 4 * READ));
    assert_eq!(count(&value["end"]["at_ns"]), (4 + 39) * READ);
    assert!(!warnings(&value).contains(&"closed-loop"), "each part says its own depth");
}

#[test]
fn a_loop_without_an_end_serves_all_it_has() {
    // More than are taken from a workload at a time, 4096.
    let reads: Vec<_> = (0..5000).map(|i| read(0, i % 64)).collect();
    // Times say nothing: the list alone, as fast as a queue of 7 takes it, is the same.
    let value = run(vec![closed(part(reads.clone()), 7, None)], &[]);
    let alone = drive(&[ROOM, "host.mode=queue-depth", "host.queue-depth=7"]);
    let alone = serve(&alone, reads);
    assert_eq!(value["host"], alone["host"]);
    assert_eq!(count(&value["host"]["read"]["requests"]), 5000);
}

#[test]
fn loops_go_on_beside_requests_that_come_at_their_times() {
    // A write amid the sixth read starts as that one ends; the seventh read comes then, stands
    // behind it, and ends after the loop does.
    let reads: Vec<_> = (0..100).map(|i| read(0, i % 64)).collect();
    let parts = vec![closed(part(reads), 1, Some(10 * READ)), part(vec![write(5 * READ + 1, 1)])];
    let value = run(parts, &[]);
    let (r, w) = (class_of(&value, "read"), class_of(&value, "write"));
    assert_eq!((r.requests, r.min, r.max), (7, READ, PROGRAM + READ));
    assert_eq!((w.requests, w.max), (1, READ - 1 + PROGRAM));
    assert_eq!(count(&value["end"]["at_ns"]), 6 * READ + PROGRAM + READ);
}

#[test]
fn a_buffer_that_answers_at_once_is_asked_again_at_once() {
    // A buffer of four pages takes four writes at time zero; two more wait for places.
    let writes: Vec<_> = (0..50).map(|i| write(0, i % 64)).collect();
    let value = run(vec![closed(part(writes), 2, None)], &["buffer.size=16KiB"]);
    let w = class_of(&value, "write");
    assert_eq!((w.requests, w.min), (50, 0));
    // Each later one waits for a page to be programmed, behind one that came before.
    assert_eq!(w.max, 2 * PROGRAM);
    // The last of them find places when 46 pages are out; the run ends with the last program.
    assert_eq!(count(&value["end"]["at_ns"]), 50 * PROGRAM);
}

/// A write that a buffer answers at once frees a place at once, for any flow that asks first. A
/// loop of one request and one of three fill four pages in turn, two and two. Two writes of the
/// second are left to wait.
#[test]
fn loops_that_are_answered_at_once_go_by_turns() {
    for own in
        [&["buffer.size=16KiB"][..], &["buffer.size=16KiB", "policy arbitration=round-robin"]]
    {
        let one = (0..2).map(|page| urgent(write(0, page))).collect();
        let three = (0..4).map(|page| write(0, page)).collect();
        let flow = |name: &str, part| MergedPart { flow: Some((name.into(), 1)), ..part };
        let parts = vec![
            flow("one", closed(part(one), 1, None)),
            flow("three", closed(part(three), 3, None)),
        ];
        let value = run(parts, own);
        let first = &value["host"]["high"]["write"];
        assert_eq!(count(&first["requests"]), 2);
        assert_eq!(count(&first["latency_ns"]["max"]), 0, "{own:?}");
        assert_eq!(class_of(&value, "write").max, 2 * PROGRAM, "{own:?}");
    }
}

/// A die that is never idle serves a read every tR. A quarter more than that comes at its times, beside a
/// loop: those of the loop are served, too.
#[test]
fn what_loops_ask_for_is_part_of_an_overload() {
    let reads = |gap: u64| (0..4000).map(|i| read(i * gap, i % 64)).collect::<Vec<_>>();
    let parts = vec![closed(part(reads(0)), 20, Some(2000 * READ)), part(reads(READ * 4 / 5))];
    let value = run(parts, &[]);
    let all = class_of(&value, "read");
    assert!(all.requests > 4100, "the loop has many: {}", all.requests);
    assert_eq!(count(&value["end"]["at_ns"]), all.requests * READ);
    let warnings = value["warnings"].as_array().expect("a list");
    let overloaded = warnings.iter().find(|w| w["code"] == "overloaded").expect("it is one");
    let text = overloaded["text"].as_str().expect("a text");
    let (coming, served) = (all.requests as f64 / (3999.0 * 40e-6), 1e9 / READ as f64);
    let rates = format!("(arrivals: {coming:.1} a second; completions: {served:.1} a second)");
    assert!(text.contains(&rates), "{rates} {text}");
}

/// A loop that has the same number outstanding from the first request to the last is behind by no more at
/// its end than at its beginning.
#[test]
fn a_loop_alone_is_no_overload() {
    let reads: Vec<_> = (0..2000).map(|i| read(0, i % 64)).collect();
    let value = run(vec![closed(part(reads), 200, None), part(vec![read(0, 1)])], &[]);
    assert_eq!(class_of(&value, "read").requests, 2001);
    assert!(!warnings(&value).contains(&"overloaded"), "{:?}", warnings(&value));
}

/// The host is done when its loops are: until then the buffer keeps the pages that it may keep.
#[test]
fn a_buffer_beside_a_loop_keeps_what_it_may_keep() {
    let writes = (0..400).map(|i| write(0, i % 4)).collect();
    let own = ["buffer.size=32KiB", "buffer.flush-above=1.0", "precondition.fill=none"];
    let value = run(vec![closed(part(writes), 1, None)], &own);
    assert_eq!(count(&value["flash"]["program"]["host"]), 4, "the last copy of each page");
    assert_eq!(count(&value["buffer"]["absorbed"]), 396);
}

/// The buffer may answer the last request of the workload at once, long after the loops are over.
/// Nobody asks for anything then, and the pages that wait for others are programmed all the same.
#[test]
fn a_run_ends_though_its_last_request_is_answered_at_once() {
    let own = ["buffer.size=256KiB", "geometry.planes-per-die=2", "ftl.program-planes=2"];
    for mode in ["timestamps", "shifted", "think-time"] {
        for policy in ["", "policy arbitration=round-robin"] {
            let writes = (0..2).map(|page| write(0, page)).collect();
            let looped = closed(part(writes), 1, None);
            let last = part(vec![write(50 * PROGRAM, 2)]);
            let flow = |name: &str, part| MergedPart { flow: Some((name.into(), 1)), ..part };
            let mode = format!("host.mode={mode}");
            let all: Vec<&str> = own.iter().copied().chain([mode.as_str(), policy]).collect();
            let all: Vec<&str> = all.into_iter().filter(|s| !s.is_empty()).collect();
            let value = run(vec![flow("loop", looped), flow("last", last)], &all);
            assert_eq!(class_of(&value, "write").requests, 3, "{all:?}");
            assert_eq!(count(&value["flash"]["program"]["host"]), 4, "{all:?}: with the padding");
            assert_eq!(count(&value["flash"]["padding"]["host"]), 1, "{all:?}");
        }
    }
}

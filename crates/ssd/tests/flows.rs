//! Flows and arbiters: shares, urgency, the slowdown of one flow by another, and that flows make up
//! the whole.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    self, PAGE, bytes, count, drive, forget_idle, number, read, try_drive, urgent, write,
};
use floatgate_ssd::record::{RunTable, Values};
use floatgate_ssd::{Drive, NoCache, run, run_recorded};
use kernel::{Dur, Rng, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use workload::{ClosedLoop, List, Merge, MergedPart, Op, Request, Workload};

const READ: u64 = 50_000;
const ARBITERS: [&str; 4] = ["merge", "round-robin", "weighted", "fair"];

/// Eight dies, and room for regions of 1 MiB.
const ROOM: [&str; 6] = [
    "geometry.channels=8",
    "geometry.pages-per-block=128",
    "ftl.unmapped-read=flash",
    "policy placement=static",
    "precondition.fill=full",
    "host.queue-limit=32",
];

fn on(settings: &[&str]) -> Drive {
    drive(&[&ROOM[..], settings].concat())
}

/// Reads at random of a region of 1 MiB.
fn reads(n: u64, seed: u64) -> Vec<Request> {
    let mut rng = Rng::named(seed, "test/flows");
    (0..n).map(|_| read(0, rng.below(256).into())).collect()
}

fn flow(name: &str, weight: u32, requests: Vec<Request>) -> MergedPart {
    let list: Box<dyn Workload> = Box::new(List::new(name, requests).unwrap());
    MergedPart { flow: Some((name.into(), weight)), ..MergedPart::new(list) }
}

/// A flow that always has `depth` requests outstanding, up to a time.
fn saturated(name: &str, weight: u32, depth: u32, until: Dur, seed: u64) -> MergedPart {
    let closed = Some(ClosedLoop { depth, until: Some(until) });
    MergedPart { closed, ..flow(name, weight, reads(200_000, seed)) }
}

fn serve(drive: &Drive, parts: Vec<MergedPart>) -> Value {
    let workload = Box::new(Merge::new("flows", parts).unwrap());
    let report = run(drive, workload, &mut NoCache, &mut |_| true);
    report.unwrap_or_else(|e| panic!("{e}")).value().clone()
}

fn requests(value: &Value, flow: &str) -> f64 {
    number(&value["host"]["flows"][flow]["all"]["requests"])
}

fn mean(value: &Value, flow: &str) -> f64 {
    number(&value["host"]["flows"][flow]["all"]["latency_ns"]["mean"])
}

const LENGTH: Dur = Dur::secs(1);

#[test]
fn saturated_flows_share_requests_of_one_size_as_their_weights() {
    let parts = || {
        vec![
            saturated("one", 1, 64, LENGTH, 1),
            saturated("two", 2, 64, LENGTH, 2),
            saturated("four", 4, 64, LENGTH, 3),
        ]
    };
    for (policy, shares) in [
        ("round-robin", [1.0, 1.0, 1.0]),
        ("round-robin:burst=4", [1.0, 1.0, 1.0]),
        ("weighted", [1.0, 2.0, 4.0]),
        ("weighted:burst=8", [1.0, 2.0, 4.0]),
        ("fair", [1.0, 2.0, 4.0]),
        ("fair:cost=requests", [1.0, 2.0, 4.0]),
    ] {
        let value = serve(&on(&[&format!("policy arbitration={policy}")]), parts());
        let done = ["one", "two", "four"].map(|name| requests(&value, name));
        // Requests that a flow has outstanding as the time is over are answered, too, for any flow.
        let (all, rest) = (done.iter().sum::<f64>(), 64.0);
        assert!(all > 100_000.0, "{all}");
        let weights: f64 = shares.iter().sum();
        for (done, share) in done.into_iter().zip(shares) {
            let expected = (all - 3.0 * rest) * share / weights + rest;
            let off = done / expected - 1.0;
            assert!(off.abs() < 0.005, "{policy}: {done} of {all}, {expected} expected");
        }
    }
    // Settings of the drive go before those of the workload.
    let own = ["policy arbitration=fair", "host.flow=[{ name = \"one\", weight = 4 }]"];
    let value = serve(&on(&own), parts());
    assert!((requests(&value, "one") / requests(&value, "four") - 1.0).abs() < 0.005);
    assert_eq!(value["host"]["flows"]["one"]["weight"], 4);
    // One line for all knows no weights: who has as many outstanding gets as much.
    let value = serve(&on(&[]), parts());
    assert!((requests(&value, "one") / requests(&value, "four") - 1.0).abs() < 0.02);
}

/// The host is done when all its flows are, and not when one is: until then the buffer keeps the
/// pages that it may keep.
#[test]
fn a_buffer_below_flows_keeps_what_it_may_keep() {
    for policy in ["round-robin", "fair"] {
        let policy = format!("policy arbitration={policy}");
        let own = ["precondition.fill=none", "buffer.size=32KiB", "buffer.flush-above=1.0"];
        let times = ["buffer.rate=1.024GB/s", "buffer.latency=3us", "host.queue-limit=2", &policy];
        let many = flow("many", 1, (0..400).map(|i| write(0, i % 4)).collect());
        let value =
            serve(&on(&[&own[..], &times].concat()), vec![flow("one", 1, vec![write(0, 5)]), many]);
        assert_eq!(count(&value["flash"]["program"]["host"]), 5, "the last copy of each page");
        assert_eq!(count(&value["buffer"]["absorbed"]), 396);
    }
}

/// A flow that asks for less than its share gets all of that, and the others share the rest.
#[test]
fn shares_are_max_min_where_one_wants_less() {
    let alone =
        serve(&on(&[]), vec![saturated("a", 1, 64, LENGTH, 1), saturated("b", 1, 64, LENGTH, 2)]);
    let capacity = number(&alone["host"]["all"]["requests"]);
    // A tenth of the drive's throughput, at even times.
    let wanted = (capacity / 10.0) as u64;
    let gap = LENGTH.as_ns() / wanted;
    let mut modest = reads(wanted, 7);
    modest
        .iter_mut()
        .zip(0..)
        .for_each(|(r, i): (&mut Request, u64)| r.at = Time::from_ns(i * gap));
    for (policy, shares) in
        [("round-robin", [1.0, 1.0]), ("weighted", [1.0, 3.0]), ("fair", [1.0, 3.0])]
    {
        let parts = vec![
            flow("modest", 1, modest.clone()),
            saturated("greedy", 1, 64, LENGTH, 1),
            saturated("more", 3, 64, LENGTH, 2),
        ];
        let value = serve(&on(&[&format!("policy arbitration={policy}")]), parts);
        assert_eq!(requests(&value, "modest"), wanted as f64);
        let rest = number(&value["host"]["all"]["requests"]) - wanted as f64 - 2.0 * 64.0;
        for (name, share) in ["greedy", "more"].into_iter().zip(shares) {
            let expected = rest * share / (shares[0] + shares[1]) + 64.0;
            let off = requests(&value, name) / expected - 1.0;
            assert!(off.abs() < 0.01, "{policy}, {name}: {off}");
        }
        // It waits outside for no more than the places that it shares.
        assert!(mean(&value, "modest") < 34.0 / 8.0 * READ as f64 * 1.3, "{policy}");
    }
}

#[test]
fn urgent_requests_go_first_under_weighted() {
    let own = ["policy arbitration=weighted", "host.queue-limit=8"];
    let high = "host.flow=[{ name = \"urgent\", priority = \"high\" }]";
    let parts =
        || vec![saturated("bulk", 256, 64, LENGTH, 1), saturated("urgent", 1, 16, LENGTH, 2)];
    // Sixteen urgent requests are always there for eight places: the others get none before the end.
    let value = serve(&on(&[&own[..], &[high]].concat()), parts());
    assert_eq!(requests(&value, "bulk"), 64.0);
    assert!(requests(&value, "urgent") > 50_000.0);
    assert_eq!(count(&value["host"]["high"]["all"]["requests"]), requests(&value, "urgent") as u64);
    // Without the word the weight of 256 decides.
    let value = serve(&on(&own), parts());
    assert!(requests(&value, "bulk") > 100.0 * requests(&value, "urgent"));
}

/// A tenant with one request at a time beside one with 256: in one line it waits behind all of them,
/// under an arbiter behind those that have a place.
#[test]
fn fair_bounds_the_slowdown_of_a_light_tenant_and_merge_does_not() {
    let slowdown = |depth: u32, arbiter: &str| {
        let drive = |only: &[&str]| {
            let arbiter = format!("policy arbitration={arbiter}");
            on(&[&["host.queue-limit=16", &*arbiter], only].concat())
        };
        let parts =
            || vec![saturated("light", 1, 1, LENGTH, 1), saturated("heavy", 1, depth, LENGTH, 2)];
        let alone = serve(&drive(&["host.only=light"]), parts());
        assert_eq!(requests(&alone, "heavy"), 0.0);
        assert_eq!(mean(&alone, "light"), READ as f64);
        mean(&serve(&drive(&[]), parts()), "light") / mean(&alone, "light")
    };
    for depth in [64, 256] {
        let [merge, fair] = ["merge", "fair"].map(|arbiter| slowdown(depth, arbiter));
        println!("depth {depth}: slowdown {merge:.2} in one line, {fair:.2} fair");
        // In one line about depth/8 requests stand before it on its die.
        assert!(merge > 0.8 * f64::from(depth) / 8.0, "{depth}: {merge}");
        // Sixteen places over eight dies: two on its die, one of which may be half done, and the wait
        // for the next place, an eighth of a read.
        assert!(fair < 4.5, "{depth}: {fair}");
    }
}

/// Of a flow that comes from two places, the request that arrived first enters first, from either
/// place. This is computed by hand, on a die that takes 50 us for each read and has one place.
#[test]
fn of_a_flow_with_an_open_and_a_closed_part_what_came_first_goes_first() {
    // The other flow takes the place at once; the closed part of `a` asks at 0 and whenever it is
    // answered, the open one at these times.
    let ask = |open: [u64; 2]| {
        let own = ["host.queue-limit=1", "policy arbitration=round-robin"];
        let closed = Some(ClosedLoop { depth: 1, until: None });
        let list = |n: u64| (0..n).map(|_| read(0, 0)).collect::<Vec<_>>();
        let parts = vec![
            flow("a", 1, open.map(|at| read(at, 0)).to_vec()),
            MergedPart { closed, ..flow("a", 1, list(2)) },
            flow("b", 1, vec![read(0, 0), read(0, 0)]),
        ];
        let mut done: Vec<(u64, u64)> = Vec::new();
        rows(&on(&own), parts, &mut |arrival, latency| done.push((arrival, arrival + latency)));
        done.sort_unstable_by_key(|(_, done)| *done);
        done.iter().map(|(arrived, done)| (arrived / 1000, done / 1000)).collect::<Vec<_>>()
    };
    // `a` and `b` by turns, 50 us each. The closed part's first request came at 0, so it goes before the
    // open one of 10 us; its second came when that was answered, at 50 us, behind both open ones.
    let closed_first = [(0, 50), (0, 100), (10, 150), (0, 200), (20, 250), (50, 300)];
    assert_eq!(ask([10_000, 20_000]), closed_first);
    // The open part's second one comes at 60 us, behind the closed part's second.
    let between = [(0, 50), (0, 100), (10, 150), (0, 200), (50, 250), (60, 300)];
    assert_eq!(ask([10_000, 60_000]), between);
}

/// A flow has no more in the drive than its depth, and others pass it: by hand, on eight dies that
/// take 50 us for each read.
#[test]
fn a_flow_has_no_more_inside_than_its_depth() {
    let together = |pages: std::ops::Range<u64>| pages.map(|page| read(0, page)).collect();
    // Eight reads of `a`, one for each die, come at once; `b` comes 10 us later, to any die.
    let done = |depth: Option<u32>, own: &[&str]| {
        let late = (0..8).map(|page| read(10_000, page)).collect();
        let a = MergedPart { depth, ..flow("a", 1, together(0..8)) };
        let own = [&["policy arbitration=round-robin"][..], own].concat();
        let value = serve(&on(&own), vec![a, flow("b", 1, late)]);
        ["a", "b"].map(|name| {
            let all = &value["host"]["flows"][name]["all"]["latency_ns"];
            (mean(&value, name) / 1e3, number(&all["max"]) / 1e3)
        })
    };
    // All of `a` at once, and `b` behind it on every die: 50 + 50 - 10 us.
    assert_eq!(done(None, &[]), [(50.0, 50.0), (90.0, 90.0)]);
    // Two at a time: 50, 100, 150, 200 us, and `b` waits on the two dies that `a` alone keeps busy
    // until 50 us. The next requests of `a` then wait behind those of `b` that come at 10 us, until
    // 60 us.
    let [(a, longest), (b, _)] = done(Some(2), &[]);
    assert_eq!((b, longest), ((6.0 * 50.0 + 2.0 * 90.0) / 8.0, 210.0));
    assert_eq!(a, (2.0 * (50.0 + 110.0 + 160.0 + 210.0)) / 8.0);
    // The drive's word goes before the workload's, and says the same.
    let own = "host.flow=[{ name = \"a\", queue-depth = 2 }]";
    assert_eq!(done(None, &[own]), done(Some(2), &[]));
    assert_eq!(done(Some(7), &[own]), done(Some(2), &[]));
    // Times that nobody took note of while every place was taken: places for two, one for each.
    let narrow = ["host.queue-limit=2"];
    let [(a, _), (b, _)] = done(Some(1), &narrow);
    assert_eq!(a, (1..=8).map(|i| f64::from(i) * 50.0).sum::<f64>() / 8.0);
    assert!(b > 100.0, "{b}");
    // A closed loop, too: of four outstanding two are in the drive. Nineteen pairs are answered, and
    // ask again, before a millisecond is over.
    let own = ["policy arbitration=fair", own];
    let closed = Some(ClosedLoop { depth: 4, until: Some(Dur::ms(1)) });
    let parts = |name| vec![MergedPart { closed, ..flow(name, 1, together(0..200)) }];
    let value = serve(&on(&own), parts("a"));
    assert_eq!(requests(&value, "a"), 4.0 + 2.0 * 19.0);
    // Requests in one line cannot pass each other, and a depth would hold all back.
    let workload = Box::new(Merge::new("it", parts("a")).unwrap());
    let said = run(&on(&own[1..]), workload, &mut NoCache, &mut |_| true).unwrap_err().to_string();
    assert!(said.contains("`a` has a depth") && said.contains("arbitration=round-robin"), "{said}");
}

/// A flow's think time runs from its own answers: by hand, on eight dies that take 50 us for each read.
#[test]
fn each_flow_thinks_for_itself() {
    let own = on(&["host.mode=think-time", "policy arbitration=weighted"]);
    let both =
        |a: [Request; 2], b: [Request; 2]| vec![flow("a", 1, a.into()), flow("b", 1, b.into())];
    // Each is answered at 50 us, thinks for 100 or 300 us, and reads once more.
    let mut seen = Vec::new();
    let parts = both([read(0, 0), read(100_000, 1)], [read(0, 2), read(300_000, 3)]);
    rows(&own, parts, &mut |arrival, latency| seen.push((arrival / 1000, latency / 1000)));
    seen.sort_unstable();
    assert_eq!(seen, [(0, 50), (0, 50), (150, 50), (350, 50)]);
    // Both are answered at 50 us, `a` first, and think for no time. The second request of `a` is on
    // its die before that of `b` comes, which takes 100 us then, although it is urgent.
    let parts = both([read(0, 0), read(0, 4)], [read(0, 2), urgent(read(0, 4))]);
    let value = serve(&own, parts);
    assert_eq!(["a", "b"].map(|name| mean(&value, name) / 1e3), [50.0, 75.0]);
}

/// Lists with every mode of arrival, one flow: with any arbiter the result is the same.
#[test]
fn one_flow_under_any_arbiter_is_as_without() {
    let mut rng = Rng::named(5, "test/one-flow");
    let mut at = 0;
    let mut list: Vec<Request> = (0..3_000)
        .map(|i| {
            // Bursts, some at one instant.
            at += if i % 50 == 0 { 3_000_000 } else { u64::from(rng.below(3)) * 20_000 };
            let page = rng.below(256).into();
            let one = if rng.below(2) == 0 { write(at, page) } else { read(at, page) };
            if rng.below(10) == 0 { urgent(one) } else { one }
        })
        .collect();
    list[7] = bytes(list[7].at.as_ns(), Op::Write, 0, 9 * PAGE);
    let throttled = "policy throttle=static:target=1000s";
    for own in [
        &["host.mode=timestamps"][..],
        &["host.mode=timestamps", "host.queue-limit=3"],
        &["host.mode=timestamps", "host.speed=2.0", "link.rate=300MB/s", "controller.read=10us"],
        &["host.mode=queue-depth", "host.queue-depth=7"],
        &["host.mode=think-time"],
        &["host.mode=think-time", "buffer.size=64KiB"],
        &["host.mode=shifted", "host.queue-limit=5"],
        &["host.mode=shifted", "reliability.endurance=30", throttled],
        &["loop"],
        &["loop", "buffer.size=64KiB", "buffer.flush-above=0.5"],
    ] {
        let looped = own[0] == "loop";
        let own = &own[usize::from(looped)..];
        let result = |arbiter: &str| {
            let arbiter = format!("policy arbitration={arbiter}");
            let drive = on(&[&["host.queue-limit=65536"], own, &[&*arbiter]].concat());
            let until = Some(Dur::ms(100));
            let closed = looped.then_some(ClosedLoop { depth: 5, until });
            let mut value =
                serve(&drive, vec![MergedPart { closed, ..flow("it", 3, list.clone()) }]);
            value["provenance"] = Value::Null;
            value["policies"]["arbitration"] = Value::Null;
            forget_idle(&mut value);
            value
        };
        let without = result("merge");
        assert!(count(&without["host"]["all"]["requests"]) > 300);
        let throttle = number(&without["host"]["write"]["delay_ns_by_cause"]["throttle"]);
        assert_eq!(throttle > 0.0, own.contains(&throttled), "{own:?}");
        for arbiter in &ARBITERS[1..] {
            assert_eq!(result(arbiter), without, "{own:?} under {arbiter}");
        }
    }
}

/// The counts of the flows add up to the whole, and so do the rows of requests; each flow's delays
/// add up to its mean.
#[test]
fn flows_make_up_the_whole() {
    let mut writes: Vec<Request> = (0..2_000).map(|i| write(i * 40_000, i % 250)).collect();
    writes.push(bytes(80_000_000, Op::Trim, 0, 9 * PAGE));
    let parts = [
        flow("writes", 1, writes),
        saturated("reads", 2, 4, Dur::ms(60), 4),
        MergedPart {
            closed: Some(ClosedLoop { depth: 2, until: None }),
            ..flow("few", 1, reads(50, 9))
        },
    ];
    for arbiter in ARBITERS {
        let drive = on(&[
            &format!("policy arbitration={arbiter}"),
            "link.rate=500MB/s",
            "link.duplex=half",
        ]);
        let rows: Arc<Mutex<BTreeMap<String, u64>>> = Arc::default();
        let kept = Arc::clone(&rows);
        let sink = Box::new(move |table, columns: Vec<floatgate_ssd::record::Column>| {
            let flow = columns.iter().find(|c| table == RunTable::Requests && c.name == "flow");
            if let Some(Values::Words(codes, words)) = flow.map(|c| &c.values) {
                for code in codes {
                    *kept.lock().unwrap().entry(words[usize::from(*code)].clone()).or_default() +=
                        1;
                }
            }
            true
        });
        let again = parts.iter().map(|p| MergedPart {
            flow: p.flow.clone(),
            closed: p.closed,
            ..MergedPart::new(Box::new(List::new("list", all(&*p.workload)).unwrap()))
        });
        let workload = Box::new(Merge::new("flows", again.collect()).unwrap());
        let report =
            run_recorded(&drive, workload, &mut NoCache, &mut |_| true, Some(sink)).unwrap();
        let host = &report.value()["host"];
        let flows = host["flows"].as_object().unwrap();
        assert_eq!(flows.keys().collect::<Vec<_>>(), ["writes", "reads", "few"]);
        for class in ["read", "write", "trim", "flush", "all"] {
            for what in ["requests", "bytes"] {
                let sum: u64 = flows.values().map(|flow| count(&flow[class][what])).sum();
                assert_eq!(sum, count(&host[class][what]), "{arbiter}: {class} {what}");
            }
        }
        // Trims name addresses and carry no data: the bytes of all are those of reads and writes.
        assert!(count(&host["trim"]["bytes"]) > 0);
        for of in flows.values().chain([host]) {
            let [read, write, all] =
                ["read", "write", "all"].map(|class| count(&of[class]["bytes"]));
            assert_eq!(all, read + write, "{arbiter}");
        }
        for (name, flow) in flows {
            let all = &flow["all"];
            let delays = &all["delay_ns_by_cause"];
            let queues = delays["queue"].as_object().unwrap().values();
            let others = delays.as_object().unwrap().values().filter(|v| v.is_number());
            let sum: f64 = queues.chain(others).map(number).sum();
            let mean = number(&all["latency_ns"]["mean"]);
            assert!((sum / mean - 1.0).abs() < 1e-12, "{arbiter}, {name}: {sum} and {mean}");
            assert_eq!(
                rows.lock().unwrap()[name],
                count(&all["requests"]),
                "{arbiter}: rows of {name}"
            );
        }
        assert_eq!(flows["reads"]["region_bytes"], json!([1 << 20, 2 << 20]));
    }
}

/// Serves parts and shows arrival and latency of every request.
fn rows(drive: &Drive, parts: Vec<MergedPart>, see: &mut dyn FnMut(u64, u64)) {
    let seen: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let sink = Box::new(move |table, columns: Vec<floatgate_ssd::record::Column>| {
        let of = |name: &str| match &columns.iter().find(|c| c.name == name).unwrap().values {
            Values::U64(values) => values.clone(),
            _ => unreachable!("a time"),
        };
        if table == RunTable::Requests {
            kept.lock().unwrap().extend(of("arrival_ns").into_iter().zip(of("latency_ns")));
        }
        true
    });
    let workload = Box::new(Merge::new("flows", parts).unwrap());
    run_recorded(drive, workload, &mut NoCache, &mut |_| true, Some(sink)).unwrap();
    seen.lock().unwrap().iter().for_each(|&(arrival, latency)| see(arrival, latency));
}

/// All requests of a workload.
fn all(workload: &dyn Workload) -> Vec<Request> {
    let (mut all, mut batch, mut source) = (Vec::new(), Vec::new(), workload.open().unwrap());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            return all;
        }
        all.extend_from_slice(&batch);
    }
}

#[test]
fn a_flow_that_is_not_there_is_named() {
    let refused = |settings: &[&str], parts| {
        let workload = Box::new(Merge::new("both", parts).unwrap());
        run(&on(settings), workload, &mut NoCache, &mut |_| true).unwrap_err().to_string()
    };
    let both = || vec![flow("db", 1, reads(5, 1)), flow("backup", 1, reads(5, 2))];
    let said = refused(&["host.only=dp"], both());
    assert_eq!(
        said,
        "`host.only` names the flow `dp`, and both has db, backup; did you mean `db`?"
    );
    let said = refused(&["host.flow=[{ name = \"x\" }]", "host.only=y"], both());
    assert!(said.contains("`host.flow` names") && said.contains("`host.only` names"), "{said}");
    let said = refused(
        &["host.only=db"],
        vec![MergedPart::new(Box::new(List::new("l", reads(5, 1)).unwrap()))],
    );
    assert!(said.contains("`--flow`"), "{said}");
    for (wrong, said) in [
        ("[{ name = \"a\", weight = 0 }]", "weight"),
        ("[{ name = \"a\", weight = 257 }]", "weight"),
        ("[{ weight = 2 }]", "name"),
        ("[{ name = \"a\" }, { name = \"a\" }]", "`a` twice"),
        ("[{ name = \"a\", priority = \"hihg\" }]", "high"),
        ("4", "a list such as"),
    ] {
        let errors = try_drive(common::BASE, &[format!("host.flow={wrong}")]).unwrap_err();
        assert!(errors.contains(said), "{wrong}: {errors}");
    }
    let many = (0..257).map(|i| flow(&format!("f{i}"), 1, reads(1, 1))).collect();
    let said = Merge::new("many", many).err().unwrap().to_string();
    assert!(said.contains("f256"), "{said}");
}

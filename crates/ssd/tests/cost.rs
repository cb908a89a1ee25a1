//! Family cost: the level of each policy's writes, and the effect on latencies. The times are those
//! of AGCR's Table 1, so that expectations are sums of 70, 170, 310 and 450, 600, 800 us.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    BASE, PAGE, bytes, class_of, count, drive_of, number, read, serve, trim, write,
};
use floatgate_ssd::{Drive, NoCache, run};
use kernel::Rng;
use policies::Family;
use serde_json::Value;
use workload::{List, Op, Request};

const US: u64 = 1_000;
const LATER: u64 = 100_000_000;

/// [`BASE`] with the costs of AGCR's Table 1.
fn priced(own: &[&str]) -> Drive {
    let flat = "read = \"50us\"\nprogram = \"600us\"\n";
    assert!(BASE.contains(flat), "the base has flat times");
    let levels = "[timing.levels]\n\
        high = { program = \"800us\", read = \"70us\" }\n\
        medium = { program = \"600us\", read = \"170us\" }\n\
        low = { program = \"450us\", read = \"310us\" }\n";
    drive_of(&BASE.replace(flat, levels), &[&["precondition.fill=none"], own].concat())
}

/// The latencies of the requests in order, served one after the other with long pauses.
fn one_by_one(drive: &Drive, script: &[(char, u64)]) -> (Vec<u64>, Value) {
    let mut latencies = Vec::new();
    let mut last = Value::Null;
    let request = |(i, &(op, page)): (usize, &(char, u64))| {
        let at = i as u64 * LATER;
        match op {
            'r' => read(at, page),
            'w' => write(at, page),
            _ => trim(at, page),
        }
    };
    let all: Vec<Request> = script.iter().enumerate().map(request).collect();
    // A latency is the growth of the sum with one request more.
    let mut sums = [0.0; 2];
    for n in 1..=all.len() {
        let value = serve(drive, all[..n].to_vec());
        let sum = |class| {
            let c = class_of(&value, class);
            c.mean * c.requests as f64
        };
        let now = [sum("read"), sum("write")];
        latencies.push((now[0] + now[1] - sums[0] - sums[1]).round() as u64 / US);
        (sums, last) = (now, value);
    }
    (latencies, last)
}

fn levels(value: &Value, what: &str) -> [u64; 3] {
    let by_level = &value["flash"]["by_level"][what];
    ["high", "medium", "low"].map(|level| count(&by_level[level]))
}

fn counter(value: &Value, name: &str) -> u64 {
    number(&value["policies"]["cost"]["counters"][name]) as u64
}

// ── AGCR ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn agcr_follows_its_figure() {
    let drive = priced(&["policy cost=agcr"]);
    let script = [('w', 1), ('w', 1), ('r', 1), ('r', 1), ('r', 1), ('w', 1), ('r', 1), ('w', 1)];
    let (latencies, value) = one_by_one(&drive, &script);
    // First write high; second write-only, low; a read of a low copy, interleaved. The next read
    // makes it read-only and asks for a re-write, done in the pause; then reads are quick. A write
    // and a write after a read are interleaved.
    assert_eq!(latencies, [800, 450, 310, 310, 70, 600, 170, 600]);
    assert_eq!(count(&value["flash"]["program"]["rewrite"]), 1);
    assert_eq!(count(&value["flash"]["read"]["rewrite"]), 1);
    assert_eq!((counter(&value, "rewrites_asked"), counter(&value, "rewrites_begun")), (1, 1));
    assert_eq!(levels(&value, "program"), [2, 2, 1]);
}

#[test]
fn data_from_before_the_run_has_the_initial_level() {
    for (level, first, second) in [("high", 70, 70), ("medium", 170, 170), ("low", 310, 310)] {
        let own = format!("policy cost=agcr:initial-level={level}");
        let drive = priced(&[&own, "precondition.fill=full"]);
        let (latencies, value) = one_by_one(&drive, &[('r', 1), ('r', 1), ('r', 1)]);
        // The second read makes the page read-only; a low copy is written anew, others are not.
        let third = if level == "low" { 70 } else { second };
        assert_eq!(latencies, [first, second, third], "{level}");
        assert_eq!(count(&value["flash"]["program"]["rewrite"]), u64::from(level == "low"));
    }
    let drive = priced(&[
        "policy cost=agcr:initial-level=medium:rewrite-from=low-medium",
        "precondition.fill=full",
    ]);
    let (latencies, _) = one_by_one(&drive, &[('r', 1), ('r', 1), ('r', 1)]);
    assert_eq!(latencies, [170, 170, 70]);
}

#[test]
fn windows_of_one_and_three_follow_the_definition() {
    let script = [('w', 1), ('r', 1), ('w', 1), ('w', 1), ('w', 1), ('r', 1), ('r', 1)];
    let (latencies, _) = one_by_one(&priced(&["policy cost=agcr:window=1"]), &script);
    // Every access speaks for itself: writes are low, and any read of a low copy re-writes it.
    assert_eq!(latencies, [800, 70, 450, 450, 450, 310, 70]);
    let (latencies, _) = one_by_one(&priced(&["policy cost=agcr:window=3"]), &script);
    assert_eq!(latencies, [800, 70, 600, 600, 450, 310, 310]);
}

#[test]
fn a_trimmed_page_begins_anew() {
    let drive = priced(&["policy cost=agcr"]);
    let (latencies, _) = one_by_one(&drive, &[('w', 1), ('w', 1), ('t', 1), ('w', 1)]);
    assert_eq!(latencies, [800, 450, 0, 800]);
}

#[test]
fn agcr_on_writes_alone_is_low_after_the_first() {
    let (pages, writes) = (24, 60);
    let own = ["policy cost=agcr", "geometry.blocks-per-plane=64"];
    let requests: Vec<Request> = (0..writes).map(|i| write(i * LATER, i % pages)).collect();
    let agcr = serve(&priced(&own), requests.clone());
    assert_eq!(levels(&agcr, "program"), [pages, 0, writes - pages]);
    let mean = class_of(&agcr, "write").mean;
    assert_eq!(mean, (pages * 800 * US + (writes - pages) * 450 * US) as f64 / writes as f64);
    assert_eq!(count(&agcr["flash"]["program"]["rewrite"]), 0);
}

/// Four parts of a page that one command programs have one level, which is asked for as that begins.
#[test]
fn parts_of_a_page_have_the_level_that_is_asked_for() {
    for (level, takes) in [("high", 800), ("medium", 600), ("low", 450)] {
        let own = format!("policy cost=agcr:first-write={level}");
        let parts = ["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", &own];
        let value = serve(&priced(&parts), (0..4).map(|page| write(0, page)).collect());
        let written = class_of(&value, "write");
        assert_eq!((written.min, written.max), (takes * US, takes * US), "{level}");
    }
}

#[test]
fn the_first_write_of_a_page_may_be_of_another_level() {
    for (level, first) in [("high", 800), ("medium", 600), ("low", 450)] {
        let own = format!("policy cost=agcr:first-write={level}");
        let script = [('w', 1), ('w', 1), ('t', 1), ('w', 1), ('r', 1), ('w', 1)];
        let (latencies, _) = one_by_one(&priced(&[&own]), &script);
        let after = match level {
            "high" => 70,
            "medium" => 170,
            _ => 310,
        };
        assert_eq!(latencies, [first, 450, 0, first, after, 600], "{level}");
    }
}

#[test]
fn without_idle_time_nothing_is_written_anew() {
    let own = [
        "policy cost=agcr:initial-level=low",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "host.queue-depth=4",
    ];
    let requests: Vec<Request> = (0..400).map(|i| read(0, i % 20)).collect();
    let value = serve(&priced(&own), requests.clone());
    assert!(counter(&value, "rewrites_asked") > 0);
    assert_eq!(counter(&value, "rewrites_begun"), 0);
    assert_eq!(levels(&value, "read"), [0, 0, 400]);
    // With time to spare all of them are.
    let apart = (0..).zip(requests).map(|(i, r)| read(i * LATER, r.offset / PAGE)).collect();
    let own = ["policy cost=agcr:initial-level=low", "precondition.fill=full"];
    let value = serve(&priced(&own), apart);
    assert_eq!(counter(&value, "rewrites_begun"), 20);
    assert_eq!(levels(&value, "read"), [400 - 2 * 20, 0, 2 * 20 + 20], "20 reads are re-writes'");
}

#[test]
fn a_re_write_is_forgotten_when_the_page_is_written_first() {
    let own = ["policy cost=agcr:initial-level=low", "precondition.fill=full"];
    // The die is busy when the re-write is asked for, and the page is written before it is free.
    let requests = vec![read(0, 1), read(10, 1), write(20, 1), write(LATER, 2)];
    let value = serve(&priced(&own), requests);
    assert_eq!(counter(&value, "rewrites_asked"), 1);
    assert_eq!(counter(&value, "rewrites_forgotten"), 1);
    assert_eq!(count(&value["flash"]["program"]["rewrite"]), 0);
}

// ── The others ──────────────────────────────────────────────────────────────────────────────────

#[test]
fn conflict_is_quick_while_others_wait() {
    let value = serve(&priced(&["policy cost=conflict"]), (0..3).map(|p| write(0, p)).collect());
    // The first finds nobody waiting, during the second the third waits, the last is alone again.
    let sum = 800 + (800 + 450) + (800 + 450 + 800);
    assert_eq!(class_of(&value, "write").mean, (sum * US) as f64 / 3.0);
    assert_eq!(levels(&value, "program"), [2, 0, 1]);
    let drive = priced(&["policy cost=conflict:queue-min=2"]);
    let value = serve(&drive, (0..4).map(|p| write(0, p)).collect());
    assert_eq!(levels(&value, "program"), [3, 0, 1], "only the second leaves two waiting");
    // The pages of one request do not wait for each other.
    let value = serve(&priced(&["policy cost=conflict"]), vec![bytes(0, Op::Write, 0, 4 * PAGE)]);
    assert_eq!(levels(&value, "program"), [4, 0, 0]);
}

#[test]
fn conflict_looks_where_it_is_told() {
    let two = ["geometry.channels=2", "policy placement=static"];
    // Static placement: pages 0 and 2 on one channel, 1 on the other.
    let requests = || vec![write(0, 0), write(0, 2), write(0, 1), write(0, 3)];
    for (scope, low) in [("device", 2), ("channel", 0), ("die", 0)] {
        let own = format!("policy cost=conflict:scope={scope}");
        let value = serve(&priced(&[&two[..], &[&own]].concat()), requests());
        // 0 starts first and 1 beside it while 2 waits; then 3, while 2 still waits, and 2 at last.
        assert_eq!(levels(&value, "program"), [4 - low, 0, low], "{scope}");
    }
}

/// In the second reading, requests in service stand in the queue still.
#[test]
fn conflict_counts_requests_in_service_if_it_is_told() {
    let low = |scope: &str, requests: Vec<Request>| {
        let own = format!("policy cost=conflict:scope={scope}");
        let drive = priced(&["geometry.channels=2", "policy placement=static", &own]);
        levels(&serve(&drive, requests), "program")[2]
    };
    // Pages 0 and 1 are on dies of their own: nobody waits, and the second meets one in service.
    let apart = || vec![write(0, 0), write(10, 1)];
    assert_eq!([low("device", apart()), low("requests", apart())], [0, 1]);
    // The parts of one request are one request.
    let one = || vec![bytes(0, Op::Write, 0, 4 * PAGE)];
    assert_eq!([low("device", one()), low("requests", one())], [0, 0]);
    // A read counts like any other, and only for as long as it is inside.
    let after = |at| vec![write(0, 0), write(1, 1), read(LATER, 0), write(LATER + at, 1)];
    assert_eq!(low("requests", after(10)), 2);
    assert_eq!(low("requests", after(LATER)), 1);
}

#[test]
fn wu_writes_at_high_cost_when_nobody_is_expected() {
    let value = |gap: u64| {
        let requests = (0..40).map(|i| write(i * gap, i % 8)).collect();
        levels(&serve(&priced(&["policy cost=wu"]), requests), "program")
    };
    assert_eq!(value(10_000_000), [40, 0, 0]);
    let [high, medium, low] = value(100_000);
    assert!(high <= 1 && low == 0 && medium >= 39, "{high} {medium} {low}");
}

#[test]
fn the_oracle_weighs_the_reads_to_come() {
    // Until the next write: none 450; one 450 + 310 = 760; two 600 + 2 * 170 = 940 = 800 + 2 * 70,
    // of equals the quicker write; three 800 + 3 * 70 = 1010.
    for (reads, program) in [(0, 450), (1, 450), (2, 600), (3, 800), (9, 800)] {
        let mut script = vec![('w', 1)];
        script.extend(vec![('r', 1); reads]);
        script.push(('w', 1));
        let (latencies, _) = one_by_one_whole(&priced(&["policy cost=oracle"]), &script);
        assert_eq!(latencies[0], program, "{reads} reads");
    }
}

/// As [`one_by_one`], for a policy that knows the whole list: only the first latency is told apart.
fn one_by_one_whole(drive: &Drive, script: &[(char, u64)]) -> (Vec<u64>, Value) {
    // The last write is never read, and costs 450.
    let request = |(i, &(op, page)): (usize, &(char, u64))| {
        let at = i as u64 * LATER;
        if op == 'r' { read(at, page) } else { write(at, page) }
    };
    let value = serve(drive, script.iter().enumerate().map(request).collect());
    let writes = class_of(&value, "write");
    let first = (writes.mean * writes.requests as f64) as u64 / US - 450;
    (vec![first], value)
}

#[test]
fn ideal_takes_the_best_of_both() {
    let (latencies, _) = one_by_one(&priced(&["policy cost=ideal"]), &[('w', 1), ('r', 1)]);
    assert_eq!(latencies, [450, 70]);
}

// ── All of them ─────────────────────────────────────────────────────────────────────────────────

/// If all levels cost the same, regulating them changes nothing, to the nanosecond.
#[test]
fn equal_costs_make_all_policies_equal() {
    let own = [
        "geometry.channels=2",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=20",
        "ftl.spare-factor=0.3",
        "ftl.gc.stop=3",
        "precondition.fill=full",
        "precondition.age=random",
    ];
    let mut rng = Rng::named(7, "equal costs");
    let mut requests = Vec::new();
    let mut at = 0;
    for i in 0..6_000 {
        // Dies that never rest, and then ones that have time to write pages anew.
        let most = if i % 2_000 < 1_000 { 900 } else { 9_000 };
        at += u64::from(rng.below(most)) * US;
        let page = u64::from(rng.below(300));
        let (op, pages) = (rng.below(10), 1 + u64::from(rng.below(3)));
        let op = if op < 4 {
            Op::Read
        } else if op < 9 {
            Op::Write
        } else {
            Op::Trim
        };
        requests.push(bytes(at, op, page * PAGE, pages * PAGE));
    }
    let served = |drive: fn(&[&str]) -> Drive, cost: &str| {
        let cost = format!("policy cost={cost}");
        let drive = drive(&[&own[..], &[cost.as_str()]].concat());
        let list = List::new("list", requests.clone()).unwrap();
        let report = run(&drive, Box::new(list), &mut NoCache, &mut |_| true).unwrap();
        let value = report.value().clone();
        assert!(count(&value["flash"]["erase"]["gc"]) > 50);
        value
    };
    let outcome = |cost: &str| {
        let value = served(|own| drive_of(BASE, own), cost);
        (value["host"].clone(), value["flash"]["erase"].clone(), value["wear"].clone())
    };
    for cost in ["agcr", "expected:rewrite-gain=0", "oracle"] {
        let rewrites = count(&served(priced, cost)["flash"]["program"]["rewrite"]);
        assert!(rewrites > 50, "{cost}: {rewrites}, where it pays");
    }
    let fixed = outcome("fixed");
    let all = Family::Cost.policies();
    assert!(["fixed", "expected", "oracle"].iter().all(|n| all.iter().any(|p| p.name == *n)));
    for policy in all {
        // A rule sets when AGCR writes a page anew, at any saving.
        let ruled = policy.params.iter().any(|param| param.name == "rewrite-from");
        let own = if ruled { ":rewrite-from=none" } else { "" };
        assert_eq!(outcome(&format!("{}{own}", policy.name)), fixed, "{}", policy.name);
    }
    for cost in ["fixed:level=low", "expected:rewrite-gain=0"] {
        assert_eq!(outcome(cost), fixed, "{cost}");
    }
}

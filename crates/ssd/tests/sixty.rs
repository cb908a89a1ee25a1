//! Unchanged? Sixty random drives, each with policies and a workload of its own, against results in
//! the tree. A change of structure must keep them bit for bit.
//!
//! Equal means: every value of the kept result but `schema`, `provenance` and `timing` is there and
//! the same; keys that have been added since hold zero, nothing or null. The file describes each
//! drive, so it does not depend on how the drives were drawn. `make golden` runs them anew (and
//! draws others if there is no file); see `golden.rs` for the rules.

#![allow(clippy::disallowed_methods)] // asks whether to rewrite

use crate::common::{BASE, try_drive};
use floatgate_ssd::policies::{self, Family};

use floatgate_ssd::{NoCache, RunError, WaitStats, generator, run};
use kernel::{Prio, Rng, Time};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, Once};
use workload::{List, Op, Request, Workload};

const CASES: u32 = 60;

/// Occurrences of each thing that must happen, in as many cases.
const LEAST: usize = 5;

/// One drive and its workload.
struct Case {
    settings: Vec<String>,
    /// A generator, or the seed of a list of requests.
    workload: String,
}

/// The outcome of a run.
struct Outcome {
    result: Value,
    waits: WaitStats,
}

// ── How the cases are drawn ─────────────────────────────────────────────────────────────────────

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u32) as usize]
}

/// A policy of a family with parameters that let it act within a few thousand requests.
fn policy(rng: &mut Rng, family: Family, name: &str) -> String {
    let own = match (family, name) {
        (Family::ReadDisturb, "none") => "",
        (Family::ReadDisturb, "hot-low-density" | "ipr") => ":limit=40:low-limit=300",
        (Family::ReadDisturb, "redftl" | "read-leveling") => ":limit=40:pages=4",
        (Family::ReadDisturb, _) => pick(rng, &[":limit=30", ":limit=40:preemptible=yes"]),
        (Family::Throttle, "static" | "dynamic" | "ready") => {
            pick(rng, &[":target=1d:period=20ms", ":target=1h:period=50ms"])
        }
        (Family::Wear, "static") => ":threshold=3",
        _ => "",
    };
    format!("policy {}={name}{own}", family.name())
}

/// The settings of a random drive that has the policy of this number.
pub(crate) fn draw(rng: &mut Rng, number: u32) -> Vec<String> {
    case(rng, number).settings
}

fn case(rng: &mut Rng, case: u32) -> Case {
    let forced = policies::all().cycle().nth(case as usize).expect("there are policies");
    let mut settings = Vec::new();
    let mut set = |key: &str, value: &str| settings.push(format!("{key}={value}"));
    let bits = if forced.family == Family::ReadDisturb { 3 } else { 1 + rng.below(3) };
    set("geometry.channels", pick(rng, &["1", "2", "3"]));
    set("geometry.chips-per-channel", pick(rng, &["1", "2"]));
    set("geometry.planes-per-die", pick(rng, &["1", "2", "4"]));
    set("geometry.blocks-per-plane", pick(rng, &["24", "32", "45"]));
    set("geometry.pages-per-block", pick(rng, &["12", "24", "36"]));
    set("geometry.bits-per-cell", &bits.to_string());
    set("geometry.page-size", pick(rng, &["4KiB", "8KiB"]));
    set("ftl.spare-factor", pick(rng, &["0.3", "0.4", "0.5"]));
    set("ftl.gc.stop", pick(rng, &["2", "3", "4"]));
    set("ftl.gc.background-stop", pick(rng, &["0", "0", "5"]));
    set("ftl.gc.foreground", pick(rng, &["\"all\"", "\"one\""]));
    set("ftl.unmapped-read", pick(rng, &["\"flash\"", "\"zero\""]));
    set("ftl.multi-plane", pick(rng, &["\"off\"", "\"any\"", "\"any\"", "\"aligned\""]));
    set("timing.erase", pick(rng, &["3ms", "5ms"]));
    if forced.family == Family::Cost || rng.below(4) == 0 {
        set(
            "timing.levels",
            "{ high = { program = \"800us\", read = \"70us\" }, medium = { program = \"600us\", \
             read = \"170us\" }, low = { program = \"450us\", read = \"310us\" } }",
        );
    } else if bits == 2 {
        set("timing.program", "[\"300us\", \"1200us\"]");
    }
    let bus = ["\"included\"", "{ rate = \"333MT/s\", command = \"300ns\" }"];
    set("timing.bus", pick(rng, &bus));
    if forced.family != Family::Cost && rng.below(4) == 0 {
        set("reliability.model", "\"on\"");
        set("reliability.endurance", "3000");
        set("reliability.initial-cycles", pick(rng, &["0", "2000", "2980"]));
    } else if forced.family == Family::Throttle || rng.below(4) == 0 {
        set("reliability.endurance", pick(rng, &["40", "400"]));
    }
    if rng.below(3) == 0 {
        let energies = "{ read = \"4uJ\", program = \"53uJ\", erase = \"825uJ\", transfer-out = \
                        \"337nJ\", transfer-in = \"339nJ\", idle-power = \"16mW\" }";
        set("energy", energies);
    }
    if rng.below(2) == 0 {
        set("buffer.size", pick(rng, &["64KiB", "96KiB"]));
        set("buffer.flush-above", pick(rng, &["0.0", "0.5"]));
    }
    set("host.queue-depth", pick(rng, &["1", "4", "16", "64"]));
    set("host.out-of-range", "\"wrap\"");
    let (fill, age) =
        [("full", "none"), ("full", "random"), ("touched", "none"), ("full", "workload")]
            [rng.below(4) as usize];
    set("precondition.fill", &format!("\"{fill}\""));
    set("precondition.age", &format!("\"{age}\""));
    set("run.seed", &(1 + rng.below(1_000)).to_string());
    for family in Family::ALL {
        let of: Vec<&str> = family.policies().iter().map(|p| p.name).collect();
        let name = match family {
            _ if family == forced.family => forced.name,
            Family::Throttle if rng.below(2) == 0 => pick(rng, &of),
            _ if rng.below(3) == 0 => pick(rng, &of),
            _ => continue,
        };
        let rated = settings.iter().any(|s| s.starts_with("reliability.endurance"));
        if family == Family::Throttle && !rated {
            settings.push("reliability.endurance=40".to_owned());
        }
        settings.push(policy(rng, family, name));
    }
    let mut set = |key: &str, value: &str| settings.push(format!("{key}={value}"));
    let workload = if rng.below(3) == 0 {
        set("host.mode", pick(rng, &["\"timestamps\"", "\"shifted\"", "\"queue-depth\""]));
        format!("list:{}", rng.below(1_000_000))
    } else {
        let modes = ["\"queue-depth\"", "\"timestamps\"", "\"shifted\"", "\"think-time\""];
        set("host.mode", pick(rng, &modes));
        set("workload.requests", "4000");
        set("workload.read-share", pick(rng, &["0.3", "0.5", "0.8"]));
        set("workload.trim-share", pick(rng, &["0.0", "0.05"]));
        let size = "[{ size = \"4KiB\", share = 0.6 }, { size = \"2560B\", share = 0.2 }, { size = \
                    \"24KiB\", share = 0.2 }]";
        set("workload.size", size);
        set("workload.align", "512B");
        let iops = pick(rng, &["400", "1200", "4000"]);
        set("workload.arrivals", &format!("{{ poisson = {{ iops = {iops} }} }}"));
        pick(rng, &["random-write", "zipf", "hot-cold", "jesd219-enterprise"]).to_owned()
    };
    Case { settings, workload }
}

// ── How they are run ────────────────────────────────────────────────────────────────────────────

/// Requests that come together: several at every millisecond, on few pages.
fn list(seed: u64) -> Box<dyn Workload> {
    let mut rng = Rng::named(seed, "sixty/list");
    let mut requests = Vec::new();
    for i in 0..4_000_u64 {
        let op = match rng.below(20) {
            0 => Op::Trim,
            1..=9 => Op::Read,
            _ => Op::Write,
        };
        let near = if rng.below(2) == 0 { 64 } else { 4_096 };
        requests.push(Request {
            at: Time::from_ns(i / 4 * 1_000_000),
            offset: u64::from(rng.below(near)) * 2_048,
            len: [2_048, 4_096, 16_384][rng.below(3) as usize],
            op,
            prio: if rng.below(8) == 0 { Prio::High } else { Prio::Normal },
            flow: 0,
            hint: 0,
        });
    }
    Box::new(List::new("list", requests).expect("the list is in order"))
}

/// Warnings that came after the results were kept.
const SAID_SINCE: [&str; 4] = ["partial-writes", "idle-policy", "small-buffer", "spare-in-reserve"];

fn outcome(case: &Case) -> Result<Outcome, String> {
    let drive = try_drive(BASE, &case.settings)?;
    let workload = match case.workload.strip_prefix("list:") {
        Some(seed) => list(seed.parse().expect("a seed")),
        None => generator(&drive, &case.workload).map_err(|e| e.to_string())?,
    };
    let report = run(&drive, workload, &mut NoCache, &mut |_| true).map_err(|e| match e {
        RunError::Stopped => unreachable!("nobody stops it"),
        other => other.to_string(),
    })?;
    let mut result = report.value().clone();
    for key in ["schema", "provenance", "timing"] {
        result.as_object_mut().expect("an object").remove(key);
    }
    // A message about a result is not the result: a new warning changes no number.
    let warnings = result["warnings"].as_array_mut().expect("a list");
    warnings.retain(|warning| SAID_SINCE.iter().all(|code| warning["code"] != **code));
    Ok(Outcome { result: exact(result), waits: report.waits() })
}

/// A part of the delays that are compared as a whole; `record.rs` has it by hand.
const TOLD_SINCE: &str = "slowest";

/// Fractions as text that gives the same bits again: how JSON is read rounds them.
fn exact(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            Value::String(format!("{:?}", n.as_f64().expect("it is")))
        }
        Value::Array(items) => items.into_iter().map(exact).collect(),
        Value::Object(keys) => {
            let kept = keys.into_iter().filter(|(key, _)| key != TOLD_SINCE);
            kept.map(|(key, v)| (key, exact(v))).collect()
        }
        other => other,
    }
}

// ── The file ────────────────────────────────────────────────────────────────────────────────────

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sixty/results.jsonl")
}

/// The policies that a drive names.
fn policies_of(case: &Case) -> Vec<String> {
    let named = case.settings.iter().filter_map(|s| s.strip_prefix("policy "));
    named.map(|s| s.split(':').next().expect("a name").to_owned()).collect()
}

fn listed() -> impl Iterator<Item = String> {
    policies::all().map(|p| format!("{}={}", p.family.name(), p.name))
}

/// Makes the results anew of the drives that the file has; without a file, drives are drawn.
fn rewrite() {
    let cases: Vec<Case> = match fs::read_to_string(path()) {
        Ok(text) => text.lines().map(|line| read(line).0).collect(),
        Err(_) => (0..CASES).map(drawn).collect(),
    };
    let mut text = String::new();
    for case in cases {
        let result = outcome(&case).expect("the drive is legal").result;
        let (settings, workload) = (case.settings, case.workload);
        let line = json!({ "settings": settings, "workload": workload, "result": result });
        writeln!(text, "{line}").expect("text grows");
    }
    fs::write(path(), text).expect("the tree can be written");
}

/// The first legal drive of a seed.
fn drawn(case: u32) -> Case {
    let mut rng = Rng::named(case.into(), "sixty");
    let mut drives = (0..400).map(|_| self::case(&mut rng, case));
    drives.find(|case| outcome(case).is_ok()).expect("some drive is legal")
}

/// A line of the file: a drive, and its result.
fn read(line: &str) -> (Case, Value) {
    let mut value: Value = serde_json::from_str(line).expect("a line is JSON");
    let settings = value["settings"].as_array().expect("settings").iter();
    let case = Case {
        settings: settings.map(|s| s.as_str().expect("text").to_owned()).collect(),
        workload: value["workload"].as_str().expect("a workload").to_owned(),
    };
    (case, value["result"].take())
}

/// The cases with these numbers, and their results.
fn kept(which: Range<usize>) -> Vec<(Case, Value)> {
    static REWRITTEN: Once = Once::new();
    if std::env::var_os("FLOATGATE_BLESS").is_some() {
        REWRITTEN.call_once(rewrite);
    }
    let text = fs::read_to_string(path()).expect("the results are in the tree");
    assert_eq!(text.lines().count(), CASES as usize);
    text.lines().skip(which.start).take(which.len()).map(read).collect()
}

/// Finds paths at which `new` differs from `old` in a value of `old`, or has added something that
/// is not nothing.
fn differences(at: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                match new.get(key) {
                    Some(now) => differences(&format!("{at}.{key}"), value, now, found),
                    None => found.push(format!("{at}.{key} is gone")),
                }
            }
            let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
            found.extend(
                added
                    .filter(|(key, v)| !(is_nothing(v) || at == ".policies" && is_default(key, v)))
                    .map(|(key, v)| format!("{at}.{key}: new, {v}")),
            );
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                differences(&format!("{at}[{i}]"), old, new, found);
            }
        }
        _ if old == new => {}
        _ => found.push(format!("{at}: {old} is now {new}")),
    }
}

/// The policy of a family that came since, which keeps the behaviour before there was a choice.
fn is_default(family: &str, value: &Value) -> bool {
    let found = Family::ALL.into_iter().find(|f| f.name() == family);
    found.is_some_and(|f| value["name"] == f.default() && is_nothing(&value["counters"]))
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(s) => s.is_empty() || s == "0.0",
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(keys) => keys.values().all(is_nothing),
    }
}

// ── The tests ───────────────────────────────────────────────────────────────────────────────────

/// Drives in parts, so that a change of a few drives is found by these.
macro_rules! parts {
    ($($name:ident $part:literal)*) => { $(
        #[test]
        fn $name() {
            are_as_they_were($part);
        }
    )* };
}

parts! {
    drives_0_to_2 0 drives_3_to_5 1 drives_6_to_8 2 drives_9_to_11 3 drives_12_to_14 4
    drives_15_to_17 5 drives_18_to_20 6 drives_21_to_23 7 drives_24_to_26 8 drives_27_to_29 9
    drives_30_to_32 10 drives_33_to_35 11 drives_36_to_38 12 drives_39_to_41 13
    drives_42_to_44 14 drives_45_to_47 15 drives_48_to_50 16 drives_51_to_53 17
    drives_54_to_56 18 drives_57_to_59 19
}

const PARTS: usize = 20;

/// In how many drives of which parts each thing has happened.
static HAPPENED: Mutex<(BTreeSet<usize>, [usize; 9])> = Mutex::new((BTreeSet::new(), [0; 9]));

fn are_as_they_were(part: usize) {
    let each = CASES as usize / PARTS;
    let mut moved = Vec::new();
    let mut happened = [0; 9];
    for (i, (case, old)) in (part * each..).zip(kept(part * each..(part + 1) * each)) {
        let outcome = outcome(&case).unwrap_or_else(|e| panic!("drive {i}: {e}"));
        let mut found = Vec::new();
        differences("", &old, &outcome.result, &mut found);
        if !found.is_empty() {
            found.truncate(6);
            moved.push(format!(
                "drive {i}, {} {:?}:\n  {}",
                case.workload,
                case.settings,
                found.join("\n  ")
            ));
        }
        let w = outcome.waits;
        let has = |wanted: &str| case.settings.iter().any(|s| s == wanted);
        let buffered = case.settings.iter().any(|s| s.starts_with("buffer.size"));
        // A list's requests come four at a time, and are taken in as they come.
        let together = case.workload.starts_with("list:") && has("host.mode=\"timestamps\"");
        let what = [
            w.space,
            w.refresh,
            w.page,
            w.buffer,
            w.program,
            w.throttle,
            w.job,
            u64::from(buffered && has("ftl.multi-plane=\"any\"")),
            u64::from(together),
        ];
        for (count, times) in happened.iter_mut().zip(what) {
            *count += usize::from(times > 0);
        }
    }
    assert!(moved.is_empty(), "{} of {each} have moved\n{}", moved.len(), moved.join("\n"));
    enough_happened(part, happened);
}

/// The last of all parts checks whether the drives do enough.
fn enough_happened(part: usize, happened: [usize; 9]) {
    let mut all = HAPPENED.lock().expect("no part fails here before the last");
    all.0.insert(part);
    for (count, more) in all.1.iter_mut().zip(happened) {
        *count += more;
    }
    if all.0.len() == PARTS {
        println!(
            "in how many drives something waited for space, refresh, a page, the buffer, a \
             program, the throttle; a job waited; a buffer lay over several planes; requests \
             tied: {:?}",
            all.1
        );
        assert!(all.1.iter().all(|n| *n >= LEAST), "too seldom: {:?}", all.1);
    }
}

#[test]
fn every_policy_of_their_time_is_among_them() {
    let all: BTreeSet<String> = listed().collect();
    let named: BTreeSet<String> =
        kept(0..CASES as usize).iter().flat_map(|(case, _)| policies_of(case)).collect();
    assert!(named.len() >= 35 && named.is_subset(&all), "{named:?}");
}

#[test]
fn a_difference_is_seen() {
    let old = json!({ "a": { "b": 1.5, "c": [1, 2] }, "d": null });
    let of = |new: Value| {
        let mut found = Vec::new();
        differences("", &exact(old.clone()), &exact(new), &mut found);
        found.len()
    };
    assert_eq!(of(json!({ "a": { "b": 1.5, "c": [1, 2], "new": 0.0 }, "d": null, "more": {} })), 0);
    assert_eq!(of(json!({ "a": { "b": 1.500_000_1, "c": [1, 2] }, "d": null })), 1);
    assert_eq!(of(json!({ "a": { "b": 1.5, "c": [1, 3] }, "d": null })), 1);
    assert_eq!(of(json!({ "a": { "b": 1.5, "c": [1, 2, 3] }, "d": null })), 1);
    assert_eq!(of(json!({ "a": { "b": 1.5, "c": [1, 2], "new": 1 }, "d": 0 })), 2);
    assert_eq!(of(json!({ "a": { "b": 1.5 }, "d": null })), 1);
}

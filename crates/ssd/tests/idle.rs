//! Policies that change nothing: on a drive, or under requests, that have nothing for them to choose
//! among. Every listed policy either says so, or changes a result.

use crate::common::{self, drive, read, run_with, urgent, write};
use floatgate_ssd::policies::{self, Family, PolicyInfo};
use floatgate_ssd::{Drive, NoCache};
use kernel::Rng;
use serde_json::Value;
use workload::{List, Merge, MergedPart, Request, Workload};

/// The plainest drive, full, with queues and collection, and few rated cycles.
const PLAIN: [&str; 7] = [
    "geometry.blocks-per-plane=32",
    "geometry.pages-per-block=12",
    "host.mode=timestamps",
    "host.queue-limit=4",
    "precondition.fill=full",
    "reliability.endurance=400",
    "run.seed=7",
];

/// Parts that the plainest drive lacks: units of every kind, cost levels, quick and slow pages.
const WHOLE: [&str; 6] = [
    "slc={ read = \"25us\", program = \"150us\" }",
    "geometry.channels=2",
    "geometry.chips-per-channel=2",
    "geometry.planes-per-die=2",
    "geometry.bits-per-cell=3",
    "timing.levels={ high = { program = [\"400us\", \"800us\", \"1200us\"], read = \"40us\" }, \
     medium = { program = [\"300us\", \"600us\", \"900us\"], read = \"80us\" }, \
     low = { program = [\"200us\", \"400us\", \"600us\"], read = \"160us\" } }",
];

/// A policy with parameters that let it act within a few thousand requests.
fn acting(info: &PolicyInfo) -> String {
    let own = match (info.family, info.name) {
        (Family::ReadDisturb, "hot-low-density" | "ipr") => ":limit=40:low-limit=300",
        (Family::ReadDisturb, "redftl" | "read-leveling") => ":limit=40:pages=4",
        (Family::ReadDisturb, "refresh") => ":limit=40",
        (Family::Throttle, "static") => ":target=1h:period=20ms",
        (Family::Throttle, "dynamic" | "ready") => ":target=1h:period=20ms:window=100ms",
        (Family::Wear, "static") => ":threshold=2",
        (Family::Wear, "hot-cold-swap") => ":remaining=1.0:slack=1",
        (Family::Cost, "fixed") => ":level=low",
        _ => "",
    };
    format!("policy {}={}{own}", info.family.name(), info.name)
}

/// Writes to few of the `pages` pages, reads of these and of others, in bursts; some urgent.
fn requests(pages: u32, seed: u64, with_urgent: bool) -> Vec<Request> {
    let mut rng = Rng::named(seed, "test/idle");
    let one = |i: u64| {
        let (at, hot) = (i / 6 * 3_000_000, u64::from(rng.below(pages / 8)));
        let any = u64::from(rng.below(pages));
        let still = u64::from(pages - 1 - rng.below(8));
        let request = match rng.below(10) {
            0..2 => read(at, hot),
            2..5 => read(at, still),
            5..9 => write(at, hot),
            _ => write(at, any),
        };
        let request =
            Request { hint: u8::from(with_urgent && request.offset < 8 << 16), ..request };
        let is_urgent = with_urgent && rng.below(4) == 0;
        if is_urgent { urgent(request) } else { request }
    };
    (0..6_000).map(one).collect()
}

fn list(requests: Vec<Request>) -> Box<dyn Workload> {
    Box::new(List::new("list", requests).unwrap())
}

/// One flow without urgent requests.
fn plain(drive: &Drive) -> Value {
    run_with(drive, list(requests(drive.logical_pages, 1, false)), &mut NoCache)
}

/// Two flows of different weight, with urgent requests.
fn whole(drive: &Drive) -> Value {
    // Each has whole MiB beside the other.
    let pages = drive.logical_pages / 3;
    let flow = |name: &str, weight, seed| MergedPart {
        flow: Some((name.into(), weight)),
        ..MergedPart::new(list(requests(pages, seed, true)))
    };
    let flows = Merge::new("flows", vec![flow("one", 1, 1), flow("four", 4, 2)]).unwrap();
    run_with(drive, Box::new(flows), &mut NoCache)
}

/// The simulated values, without the names of the choices: levels are names, too.
fn numbers(value: &Value) -> Value {
    let mut value = value.clone();
    let all = value.as_object_mut().unwrap();
    for echo in ["provenance", "policies", "timing", "warnings"] {
        all.remove(echo);
    }
    all["flash"].as_object_mut().unwrap().remove("by_level");
    value
}

/// The warning of a policy that changes nothing, or of a part of one.
fn said(value: &Value, info: &PolicyInfo) -> Option<String> {
    let name = format!("`{}={}`", info.family.name(), info.name);
    let all = value["warnings"].as_array().unwrap().iter();
    let mut texts = all.filter(|w| w["code"] == "idle-policy").map(|w| w["text"].as_str().unwrap());
    texts.find(|text| text.contains(&name)).map(ToOwned::to_owned)
}

fn on(own: &[&str]) -> Result<Drive, String> {
    common::try_drive(common::BASE, &[&PLAIN[..], own].concat())
}

#[test]
fn every_policy_changes_a_result_of_the_plainest_drive_or_says_that_it_does_not() {
    let without = numbers(&plain(&drive(&PLAIN)));
    for info in policies::all().filter(|info| info.name != info.family.default()) {
        let policy = acting(info);
        let Ok(drive) = on(&[&policy]) else {
            // A policy that does not fit is refused, with its reason.
            let why = on(&[&policy]).expect_err("refused");
            assert!(why.contains("does not fit this drive: "), "{policy}: {why}");
            continue;
        };
        // One that must know the requests to come does not, here.
        let value = plain(&drive);
        let changed = numbers(&value) != without;
        match said(&value, info) {
            Some(text) if !text.contains("a part of") => assert!(!changed, "{policy}: {text}"),
            Some(_) => {}
            None => assert!(changed, "{policy} changes nothing, and does not say so"),
        }
    }
}

#[test]
fn no_policy_is_called_idle_where_it_has_all_that_it_needs() {
    let without = numbers(&whole(&on(&WHOLE).unwrap()));
    for info in policies::all().filter(|info| info.name != info.family.default()) {
        let mut policy = acting(info);
        if info.name == "fdp" {
            // The key chooses the policy.
            policy = "ftl.fdp.handles=2".to_owned();
        }
        let drive = on(&[&WHOLE[..], &[&policy]].concat());
        let value = whole(&drive.unwrap_or_else(|why| panic!("{policy}: {why}")));
        let text = said(&value, info);
        // Cells win back no cycles in a run.
        let expected = info.name == "ready";
        assert_eq!(text.is_some(), expected, "{policy}: {text:?}");
        assert!(numbers(&value) != without, "{policy} changes nothing");
    }
}

/// The parameters also decide which part of a policy is idle.
#[test]
fn a_parameter_that_changes_nothing_is_named() {
    let of = |own: &[&str]| -> Vec<String> {
        let drive = on(own).unwrap_or_else(|why| panic!("{own:?}: {why}"));
        let all = drive.warnings();
        let text = |w: &Value| w["text"].as_str().unwrap().to_owned();
        let idle = all.as_array().unwrap().iter().filter(|w| w["code"] == "idle-policy");
        idle.map(text).collect()
    };
    let level = |level: &str| of(&[&format!("policy cost=fixed:level={level}")]).len();
    assert_eq!([level("low"), level("medium"), level("high")], [1, 0, 1]);
    let part = |own: &[&str], what: &str| {
        let all = of(own);
        assert!(all.iter().any(|text| text.contains(what)), "{own:?}: {all:?}");
    };
    part(&["policy cost=agcr"], "still writes pages anew");
    part(&["policy cost=agcr:rewrite-from=none"], "`cost=agcr` changes nothing");
    part(&["policy wear=static:threshold=400"], "tolerates a spread of 400 cycles");
    part(&["policy wear=static:roles=moved"], "gives none");
    part(&["policy wear=hot-cold-swap:slack=400"], "tolerates 400 cycles");
    part(&["policy wear=hot-cold-swap:remaining=0.0"], "a share of 0");
    part(&["policy placement=static", "geometry.planes-per-die=1"], "one plane");
    part(&["policy placement=static:order=pdwc", "geometry.channels=2"], "every `order`");
    let two_bits = "geometry.bits-per-cell=2";
    part(&["policy page-choice=mango", two_bits], "the same time to program");
    let unlike = "timing.program=[\"300us\", \"1200us\"]";
    part(&["policy page-choice=mango:bound=0", two_bits, unlike], "no page is passed over");
    assert_eq!(of(&["policy page-choice=mango", two_bits, unlike]), [""; 0]);
    assert_eq!(of(&["policy wear=static:threshold=399"]), [""; 0]);
    let roles = ["policy wear=static:roles=moved", "policy read-disturb=redftl:limit=40:pages=4"];
    assert_eq!(of(&roles), [""; 0]);
}

//! Does every option of every policy do something? The list of policies has all of them. Here each
//! has a workload on which its values lead to different results. Tests of each policy, and
//! `choices.rs`, check the choices that a value leads to.

use crate::common::{PAGE, bytes, drive, urgent};
use floatgate_ssd::record::{RunTable, Sink};
use floatgate_ssd::{Drive, NoCache, generator, run_recorded};
use kernel::{Dur, Rng};
use policies::{Family, ParamKind, PolicyError, PolicySet};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use workload::{ClosedLoop, List, Merge, MergedPart, Op, Request, Workload};

/// A workload for a drive.
type Work = fn(&Drive) -> Box<dyn Workload>;

/// The settings of a drive, and its work.
type Scene = (&'static [&'static str], Work);

/// An option; values of it, of which each two must give different results on one of some scenes.
struct Row {
    family: Family,
    policy: &'static str,
    option: &'static str,
    values: &'static [&'static str],
    on: Vec<On>,
}

/// A scene, with other options of the policy and other settings of the drive.
#[derive(Copy, Clone)]
struct On {
    scene: Scene,
    with: &'static str,
    own: &'static [&'static str],
}

// ── Scenes ──────────────────────────────────────────────────────────────────────────────────────

fn zipf(drive: &Drive) -> Box<dyn Workload> {
    generator(drive, "zipf").unwrap()
}

fn hot_cold(drive: &Drive) -> Box<dyn Workload> {
    generator(drive, "hot-cold").unwrap()
}

/// Writes that come in bursts, for half a minute.
fn bursts(drive: &Drive) -> Box<dyn Workload> {
    bursts_of(drive, 100_000_000)
}

/// The same for six seconds: some bursts are too quick for programs at full density.
fn quick_bursts(drive: &Drive) -> Box<dyn Workload> {
    bursts_of(drive, 20_000_000)
}

/// The same for days.
fn slow_bursts(drive: &Drive) -> Box<dyn Workload> {
    bursts_of(drive, 1_000_000_000_000)
}

/// Some writes in each `step`, in ns: how many changes every five steps.
fn bursts_of(drive: &Drive, step: u64) -> Box<dyn Workload> {
    let mut rng = Rng::named(7, "test/bursts");
    let mut requests = Vec::new();
    for at in 0..300 {
        let n = [10, 3, 40, 5, 10, 75][at as usize / 5 % 6] + u64::from(rng.below(20));
        for i in 0..n {
            let page = u64::from(rng.below(drive.logical_pages));
            requests.push(bytes(at * step + i * step / n, Op::Write, page * PAGE, PAGE));
        }
    }
    Box::new(List::new("bursts", requests).unwrap())
}

/// Writes of which stretches are urgent.
fn urgent_stretches(drive: &Drive) -> Box<dyn Workload> {
    let mut rng = Rng::named(7, "test/urgent");
    let one = |i: u64| {
        let page = u64::from(rng.below(drive.logical_pages));
        let request = bytes(i * 3_000_000, Op::Write, page * PAGE, PAGE);
        if i / 40 % 3 == 0 { urgent(request) } else { request }
    };
    Box::new(List::new("urgent stretches", (0..6_000).map(one).collect()).unwrap())
}

/// Page 1 once, page 2 twice, page 4 three times, page 8 four times: where they lie tells all about
/// how pages are spread.
fn powers(_: &Drive) -> Box<dyn Workload> {
    let pages = [1, 2, 2, 4, 4, 4, 8, 8, 8, 8];
    let request = |(i, page): (u64, u64)| bytes(i * 1_000_000, Op::Write, page * PAGE, PAGE);
    Box::new(List::new("powers", (0..).zip(pages).map(request).collect()).unwrap())
}

/// Three cost levels on four dies that are idle now and then.
const LEVELS: Scene = (
    &[
        "geometry.channels=2",
        "geometry.chips-per-channel=2",
        "geometry.blocks-per-plane=24",
        "timing.levels={ high = { program = \"800us\", read = \"70us\" }, medium = { program = \
         \"600us\", read = \"170us\" }, low = { program = \"450us\", read = \"310us\" } }",
        "ftl.spare-factor=0.3",
        "precondition.fill=full",
        "workload.requests=4000",
        "workload.read-share=0.5",
        "workload.arrivals={ poisson = { iops = 2500 } }",
    ],
    zipf,
);

/// A drive that stands 60 seconds of about half of the requests.
const SHORT_LIFE: Scene = (
    &[
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=16",
        "reliability.endurance=30",
        "ftl.spare-factor=0.3",
        "host.mode=shifted",
        "precondition.fill=full",
    ],
    bursts,
);

/// Settings with which a dynamic throttle has a few epochs there.
const EPOCHS: &str = "target=60s:period=100ms:window=500ms:history=20s";
/// The same, with epochs that are selected again and again.
const SELECTING: &str = "target=60s:period=100ms:window=500ms:history=20s:misses=1:miss=1";
/// The same, where periods are kept.
const PESSIMISTIC: &str = "target=60s:window=500ms:history=20s:enforcement=pessimistic";

/// Blocks that are read until they reach their limit.
const READ_HOT: Scene = (
    &[
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=24",
        "geometry.blocks-per-plane=40",
        "ftl.spare-factor=0.6",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "host.queue-depth=4",
        "workload.requests=30000",
        "workload.read-share=0.9",
    ],
    zipf,
);

/// Quick and slow pages, and writes for which it matters.
const FAST_AND_SLOW: Scene = (
    &[
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=24",
        "geometry.blocks-per-plane=24",
        "timing.program=[\"300us\", \"900us\", \"2100us\"]",
        "ftl.spare-factor=0.4",
        "precondition.fill=full",
    ],
    urgent_stretches,
);

/// Writes in bursts, more than a small cache holds.
const CACHED: Scene = (
    &[
        "geometry.bits-per-cell=3",
        "geometry.blocks-per-plane=64",
        "geometry.pages-per-block=24",
        "slc={ read = \"25us\", program = \"150us\" }",
        "ftl.spare-factor=0.4",
        "precondition.fill=full",
        "host.mode=shifted",
    ],
    quick_bursts,
);

/// Two bits on three cells.
const WRITE_ONCE: Scene = (
    &[
        "geometry.pages-per-block=9",
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.6",
        "precondition.fill=full",
        "workload.requests=4000",
    ],
    hot_cold,
);

/// Data of which some is written again and again.
const SKEWED: Scene = (
    &[
        "geometry.blocks-per-plane=64",
        "reliability.endurance=1000",
        "ftl.spare-factor=0.2",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.requests=10000",
        "workload.hot-writes=0.95",
    ],
    hot_cold,
);

/// Regions of different heat, each with its hint.
const HINTED: Scene = (
    &[
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.4",
        "precondition.fill=full",
        "host.mode=queue-depth",
    ],
    hinted,
);

fn hinted(drive: &Drive) -> Box<dyn Workload> {
    let mut rng = Rng::named(8, "test/hints");
    let size = drive.logical_pages / 10;
    let one = |i: u64| {
        let hint = [1, 1, 1, 2, 2, 3][rng.below(6) as usize];
        let (first, size) = [(0, size), (size, 3 * size), (4 * size, 6 * size)][hint as usize - 1];
        let page = u64::from(first + rng.below(size));
        Request { hint, ..bytes(i, Op::Write, page * PAGE, PAGE) }
    };
    Box::new(List::new("hints", (0..10_000).map(one).collect()).unwrap())
}

/// Two of everything.
const SIXTEEN_PLANES: Scene = (
    &[
        "geometry.channels=2",
        "geometry.chips-per-channel=2",
        "geometry.dies-per-chip=2",
        "geometry.planes-per-die=2",
        "precondition.fill=none",
    ],
    powers,
);

/// Two tenants, of which one asks for more at once, four dies, and few places.
const TENANTS: Scene = (
    &[
        "geometry.channels=4",
        "geometry.pages-per-block=128",
        "precondition.fill=full",
        "host.queue-limit=4",
        "host.flow=[{ name = \"long\", weight = 20 }, { name = \"short\", weight = 20 }]",
    ],
    tenants,
);

fn tenants(_: &Drive) -> Box<dyn Workload> {
    let tenant = |name: &str, pages: u64| {
        let one = |i: u64| bytes(0, Op::Read, i * 37 % 200 * PAGE, (1 + i % pages) * PAGE);
        let list = List::new(name, (0..2_000).map(one).collect()).unwrap();
        let closed = Some(ClosedLoop { depth: 40, until: Some(Dur::ms(20)) });
        MergedPart { closed, flow: Some((name.into(), 1)), ..MergedPart::new(Box::new(list)) }
    };
    Box::new(Merge::new("tenants", vec![tenant("long", 4), tenant("short", 1)]).unwrap())
}

// ── Options ─────────────────────────────────────────────────────────────────────────────────────

/// A row with one scene.
fn row(
    (family, policy): (Family, &'static str),
    option: &'static str,
    values: &'static [&'static str],
    (scene, with): (Scene, &'static str),
) -> Row {
    Row { family, policy, option, values, on: vec![On { scene, with, own: &[] }] }
}

const ALL_LEVELS: &[&str] = &["high", "medium", "low"];

fn rows() -> Vec<Row> {
    let all = [costs(), throttles(), read_disturbs(), others()];
    all.into_iter().flatten().collect()
}

fn costs() -> Vec<Row> {
    let of =
        |policy, option, values, with| row((Family::Cost, policy), option, values, (LEVELS, with));
    vec![
        of("fixed", "level", ALL_LEVELS, ""),
        of("conflict", "scope", &["device", "channel", "die", "requests"], ""),
        of("conflict", "queue-min", &["1", "2", "5"], ""),
        of("conflict", "initial-level", ALL_LEVELS, ""),
        of("wu", "initial-level", ALL_LEVELS, ""),
        of("agcr", "window", &["1", "2", "3"], ""),
        of("agcr", "initial-level", ALL_LEVELS, ""),
        of("agcr", "first-write", ALL_LEVELS, ""),
        of("agcr", "rewrite-from", &["low", "low-medium", "none"], "initial-level=medium"),
        of("agcr", "moves", &["class", "preserve", "medium"], ""),
        of("expected", "rewrite-gain", &["0", "50"], ""),
        of("expected", "initial-level", ALL_LEVELS, ""),
        of("expected", "bits", &["3", "6"], ""),
        of("oracle", "initial-level", ALL_LEVELS, ""),
    ]
}

fn throttles() -> Vec<Row> {
    let of = |policy, option, values, with| {
        row((Family::Throttle, policy), option, values, (SHORT_LIFE, with))
    };
    let mut all = vec![
        of("static", "target", &["40s", "60s"], ""),
        of("static", "period", &["100ms", "1s"], "target=60s"),
    ];
    for policy in ["dynamic", "ready"] {
        all.extend([
            of(policy, "target", &["40s", "60s"], "period=100ms:window=500ms:history=20s"),
            of(policy, "enforcement", &["optimistic", "pessimistic"], EPOCHS),
            of(policy, "spare", &["0.05", "0.3"], EPOCHS),
            of(policy, "period", &["50ms", "100ms"], PESSIMISTIC),
            of(policy, "epoch", &["selected", "window"], EPOCHS),
            of(policy, "window", &["500ms", "1s"], "target=60s:period=100ms:history=20s"),
            of(policy, "history", &["4s", "20s"], "target=60s:period=100ms:window=500ms"),
            of(policy, "average", &["1", "3"], EPOCHS),
            of(policy, "difference", &["first", "least"], SELECTING),
            of(policy, "miss", &["0.05", "2"], EPOCHS),
            of(policy, "misses", &["1", "10"], EPOCHS),
            of(policy, "pages", &["host", "nand"], EPOCHS),
        ]);
    }
    // Cells recover within hours. The drive's cells are one of the two, so it takes both drives to
    // tell all three apart.
    let slow =
        ((SHORT_LIFE.0, slow_bursts as Work), "target=7d:period=1000s:window=5000s:history=3d");
    let ready = (Family::Throttle, "ready");
    all.push(row(ready, "capacity", &["guarded", "local", "paper"], slow));
    let mut recovery = row(ready, "recovery", &["drive", "printed", "fitted"], slow);
    recovery.on.push(On { own: &["reliability.recovery=fitted"], ..recovery.on[0] });
    all.push(recovery);
    all
}

fn read_disturbs() -> Vec<Row> {
    let of = |policy, option, values, with| {
        row((Family::ReadDisturb, policy), option, values, (READ_HOT, with))
    };
    let mut all = vec![
        of("refresh", "limit", &["100", "200"], ""),
        of("refresh", "preemptible", &["no", "yes"], "limit=100"),
    ];
    for policy in ["redftl", "read-leveling"] {
        all.extend([
            of(policy, "limit", &["100", "200"], ""),
            of(policy, "preemptible", &["no", "yes"], "limit=100"),
            of(policy, "monitors", &["5", "25"], "limit=100"),
            of(policy, "shadows", &["0", "5", "20"], "limit=100"),
            of(policy, "pages", &["4", "12"], "limit=100"),
        ]);
    }
    let few = "limit=100:low-limit=300";
    for policy in ["hot-low-density", "ipr"] {
        all.extend([
            of(policy, "limit", &["100", "200"], "low-limit=500"),
            of(policy, "preemptible", &["no", "yes"], few),
            of(policy, "monitors", &["5", "25"], few),
            of(policy, "low-density", &["0", "5", "20"], few),
        ]);
    }
    let with_own = |policy, option, values, with, own| {
        let row = of(policy, option, values, with);
        Row { on: vec![On { own, ..row.on[0] }], ..row }
    };
    let few_pages: &[&str] = &["workload.theta=1.3"];
    let written: &[&str] = &["ftl.spare-factor=0.45", "workload.read-share=0.6"];
    // Blocks that are reprogrammed once in five cycles or more wear alike: some must be it less often.
    let seldom: &[&str] =
        &["workload.theta=1.0", "workload.read-share=0.7", "workload.requests=40000"];
    all.extend([
        with_own("hot-low-density", "low-limit", &["40", "100"], "limit=50", few_pages),
        with_own("ipr", "low-limit", &["40", "100"], "limit=50", few_pages),
        of("ipr", "pool", &["10", "50"], few),
        with_own(
            "ipr",
            "pool-gain",
            &["0", "50"],
            "limit=40:low-limit=60:pool-reserve=0",
            &["workload.read-share=0.8"],
        ),
        with_own(
            "ipr",
            "pool-reserve",
            &["0", "1", "2", "4"],
            "limit=40:low-limit=60:low-density=5",
            written,
        ),
        with_own("ipr", "wear", &["flat", "rate"], "limit=30:low-limit=60", seldom),
        of("ipr", "keep-reads", &["no", "yes"], few),
    ]);
    all
}

fn others() -> Vec<Row> {
    let mango = (Family::PageChoice, "mango");
    let swap = (Family::Wear, "hot-cold-swap");
    let bounded = (Family::Order, "bounded-read-first");
    // Blocks of low density are worn least, once many reads go to few of them.
    let mut roles =
        row((Family::Wear, "static"), "roles", &["spared", "moved"], (READ_HOT, "threshold=2"));
    roles.on[0].own = &["policy read-disturb=hot-low-density:limit=40:low-limit=400"];
    let mut all = Vec::new();
    for policy in ["static", "dynamic", "hybrid"] {
        let of =
            |option, values, with| row((Family::SlcCache, policy), option, values, (CACHED, with));
        let with = match policy {
            "static" => "size=256KiB",
            "dynamic" => "size=256KiB:minimum=64KiB",
            _ => "static=64KiB:size=128KiB:minimum=64KiB",
        };
        let sizes = &["64KiB", "128KiB", "256KiB"];
        all.push(of("fold", &["idle", "pressure", "both"], with));
        all.push(of("full", &["direct", "wait", "around"], with));
        all.push(of("size", sizes, ""));
        if policy != "static" {
            all.push(of("minimum", &["0B", "64KiB", "192KiB"], ""));
        }
        if policy == "hybrid" {
            all.push(of("static", sizes, "size=64KiB"));
        }
    }
    all.extend([
        roles,
        row(mango, "fast-types", &["1", "2"], (FAST_AND_SLOW, "")),
        row(mango, "bound", &["0", "0.2", "0.9"], (FAST_AND_SLOW, "")),
        row(mango, "gc", &["on-demand", "follow", "slow"], (FAST_AND_SLOW, "gc-fill=0.95")),
        row(mango, "gc-fill", &["0", "0.95"], (FAST_AND_SLOW, "gc=follow")),
        row((Family::Coding, "wom"), "least-gain", &["0.1", "0.9"], (WRITE_ONCE, "")),
        row((Family::Victim, "d-choices"), "d", &["1", "2", "10"], (SKEWED, "")),
        row((Family::Victim, "stable-greedy"), "window", &["50", "100", "10000"], (SKEWED, "")),
        row((Family::Victim, "cost-benefit"), "age", &["time", "sqrt-time"], (SKEWED, "")),
        row((Family::Victim, "windowed"), "window", &["1", "10", "1000"], (SKEWED, "")),
        row((Family::Separation, "hints"), "streams", &["1", "2", "4"], (HINTED, "")),
        row((Family::Separation, "dac"), "regions", &["2", "4", "8"], (HINTED, "")),
        row((Family::Separation, "death-time"), "classes", &["2", "6"], (HINTED, "")),
        row((Family::Separation, "death-time"), "width", &["100", "1000"], (HINTED, "")),
        row((Family::Wear, "static"), "threshold", &["1", "5", "1000"], (SKEWED, "")),
        row(swap, "remaining", &["0.9", "0.99"], (SKEWED, "slack=1")),
        row(swap, "slack", &["1", "4"], (SKEWED, "remaining=1")),
        row((Family::Placement, "static"), "order", ORDERS, (SIXTEEN_PLANES, "")),
        row(bounded, "reads", &["1", "4", "1000000"], (LEVELS, "wait=1h")),
        row(bounded, "wait", &["0ns", "1ms", "1h"], (LEVELS, "reads=1000000")),
        row((Family::Arbitration, "round-robin"), "burst", &["1", "2", "16"], (TENANTS, "")),
        row((Family::Arbitration, "weighted"), "burst", &["1", "2", "16"], (TENANTS, "")),
        row((Family::Arbitration, "fair"), "cost", &["bytes", "requests"], (TENANTS, "")),
    ]);
    all
}

/// All orders of channel, way, die and plane.
const ORDERS: &[&str] = &[
    "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd", "wdcp", "wdpc", "wpcd", "wpdc",
    "dcwp", "dcpw", "dwcp", "dwpc", "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc",
];

// ── Results ─────────────────────────────────────────────────────────────────────────────────────

/// The result without the echoed settings, and the blocks as they are in the end.
fn done(settings: &[String], work: Work) -> String {
    let drive = drive(settings);
    let blocks = Arc::new(Mutex::new(String::new()));
    let kept = blocks.clone();
    let sink: Sink = Box::new(move |table, columns| {
        if table == RunTable::Blocks {
            write!(kept.lock().unwrap(), "{columns:?}").unwrap();
        }
        true
    });
    let report = run_recorded(&drive, work(&drive), &mut NoCache, &mut |_| true, Some(sink));
    let mut value = report.unwrap_or_else(|e| panic!("{settings:?}: {e}")).value().clone();
    let keys = value.as_object_mut().unwrap();
    for echo in ["provenance", "policies", "timing", "warnings"] {
        assert!(keys.remove(echo).is_some());
    }
    assert_ne!(value["host"]["all"]["requests"], Value::from(0));
    let blocks = blocks.lock().unwrap();
    assert!(!blocks.is_empty());
    format!("{value} {blocks}")
}

/// The pairs of values that give equal results in every scene.
fn alike(row: &Row) -> Vec<(&'static str, &'static str)> {
    let values = row.values;
    let mut pairs: Vec<(usize, usize)> =
        (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b))).collect();
    for on in &row.on {
        let (base, work) = on.scene;
        let of = |value: &&str| {
            let (family, policy, option) = (row.family.name(), row.policy, row.option);
            let more = if on.with.is_empty() { "" } else { ":" };
            let mut settings: Vec<String> =
                base.iter().chain(on.own).map(|s| (*s).to_owned()).collect();
            settings.push(format!("policy {family}={policy}:{option}={value}{more}{}", on.with));
            done(&settings, work)
        };
        let results: Vec<String> = values.iter().map(of).collect();
        pairs.retain(|&(a, b)| results[a] == results[b]);
    }
    pairs.into_iter().map(|(a, b)| (values[a], values[b])).collect()
}

fn check(rows: &[Row]) {
    let mut faults = String::new();
    for row in rows {
        for (a, b) in alike(row) {
            let (family, policy, option) = (row.family.name(), row.policy, row.option);
            writeln!(faults, "{family}={policy}: {option}={a} does what {option}={b} does")
                .unwrap();
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn costs_do_what_their_options_say() {
    check(&costs());
}

#[test]
fn throttles_do_what_their_options_say() {
    check(&throttles());
}

#[test]
fn schemes_against_read_disturb_do_what_their_options_say() {
    check(&read_disturbs());
}

#[test]
fn other_policies_do_what_their_options_say() {
    check(&others());
}

/// A new option needs a row above: without one nothing would notice if it did nothing.
#[test]
fn every_option_has_a_row_with_every_word() {
    let mut tried = BTreeSet::new();
    for row in rows() {
        let info = row.family.policies().iter().find(|p| p.name == row.policy);
        let info = info.unwrap_or_else(|| panic!("there is no policy `{}`", row.policy));
        let param = info.params.iter().find(|p| p.name == row.option);
        let param =
            param.unwrap_or_else(|| panic!("`{}` has no option `{}`", row.policy, row.option));
        let of = format!("{}={}:{}", row.family.name(), row.policy, row.option);
        let values: BTreeSet<&str> = row.values.iter().copied().collect();
        assert!(values.len() == row.values.len() && values.len() > 1, "{of}: {values:?}");
        if let ParamKind::Word(words) = param.kind {
            assert_eq!(values, words.iter().copied().collect(), "{of}: all words");
        }
        assert!(tried.insert(of.clone()), "{of} has two rows");
    }
    let options = policies::all().flat_map(|p| {
        p.params.iter().map(|param| format!("{}={}:{}", p.family.name(), p.name, param.name))
    });
    let missing: Vec<String> = options.filter(|of| !tried.contains(of)).collect();
    assert!(missing.is_empty(), "no row for {}", missing.join(", "));
    assert!(tried.len() >= 70, "the list has shrunk to {}", tried.len());
}

/// The ends of a range belong to it, and nothing beyond them does.
#[test]
fn ranges_end_where_they_say() {
    let (mut taken, mut refused) = (0, 0);
    for policy in policies::all() {
        for param in policy.params {
            let errors = |value: &str| {
                let params = Map::from_iter([(param.name.to_owned(), value.into())]);
                let named = [(policy.family.name().to_owned(), policy.name.to_owned(), params)];
                let errors = PolicySet::resolve(&named, None).err().unwrap_or_default();
                let says =
                    |e: &PolicyError| e.message.starts_with(&format!("`{}` must be", param.name));
                errors.iter().filter(|e| says(e)).count()
            };
            let (within, beyond): (Vec<String>, Vec<String>) = match param.kind {
                ParamKind::Int { min, max } => {
                    let beyond = [min.checked_sub(1), max.checked_add(1)].into_iter().flatten();
                    (
                        [min, max].map(|n| n.to_string()).into(),
                        beyond.map(|n| n.to_string()).collect(),
                    )
                }
                ParamKind::Real { min, max } => (
                    [min, max].map(|x| x.to_string()).into(),
                    [min.next_down(), max.next_up()].map(|x| format!("{x:?}")).into(),
                ),
                ParamKind::Dur { min } => {
                    let less = min.as_ns().checked_sub(1).map(Dur::ns);
                    (vec![min.to_string()], less.iter().map(ToString::to_string).collect())
                }
                ParamKind::Bytes => {
                    (vec!["0B".into(), "1TiB".into()], vec!["-1B".into(), "5".into(), "5s".into()])
                }
                ParamKind::Word(words) => {
                    (words.iter().map(ToString::to_string).collect(), vec!["no-word".into()])
                }
            };
            let of = format!("{}={}:{}", policy.family.name(), policy.name, param.name);
            for value in &within {
                assert_eq!(errors(value), 0, "{of}={value}");
                taken += 1;
            }
            for value in &beyond {
                assert_eq!(errors(value), 1, "{of}={value}");
                refused += 1;
            }
        }
    }
    assert!(taken > 150 && refused > 80, "{taken} values taken, {refused} refused");
}

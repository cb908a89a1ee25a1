//! Support for the test files: small drives from a few settings, and requests in one word. Runs
//! check the properties of every run, and numbers of a result have names.

#![allow(dead_code, reason = "each of the three test binaries uses a part of this")]
#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

#[path = "../../../ftl/tests/support/cells.rs"]
pub(crate) mod cells;
pub(crate) mod twin;

pub(crate) use cells::{Cells, Remembering};
use floatgate_ssd::config::{Layers, load, render};
use floatgate_ssd::{Drive, NoCache, StateCache, generator, run};
use ftl::{Lpn, Policies};
use kernel::{Prio, Time};
use nand::Store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use workload::{List, Op, Request, Workload};

/// Bytes of a page of [`BASE`].
pub(crate) const PAGE: u64 = 4096;

/// One die with one plane, round times, no other delays: tests change the settings that they
/// examine.
pub(crate) const BASE: &str = r#"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 16
pages-per-block = 8
page-size = "4KiB"
bits-per-cell = 1
[timing]
bus = "included"
erase = "3ms"
read = "50us"
program = "600us"
[reliability]
endurance = 1000000000
[ftl]
spare-factor = 0.5
[ftl.gc]
start = 2
stop = 2
"#;

/// The policies of a drive, over cells that remember.
pub(crate) fn policies_of(drive: &Drive) -> Policies<Remembering> {
    drive.policies.build_over()
}

/// The data of a page that no request has written.
pub(crate) fn data_of(lpn: Lpn) -> u64 {
    Cells::stamp(lpn.as_u32(), 0)
}

/// The drive of [`BASE`] with these settings on top, such as `ftl.spare-factor=0.2`; one that
/// begins with `policy ` is a policy, such as `policy victim=fifo`.
pub(crate) fn drive<S: AsRef<str>>(settings: &[S]) -> Drive {
    drive_of(BASE, settings)
}

/// A drive file with settings on top.
pub(crate) fn drive_of<S: AsRef<str>>(text: &str, settings: &[S]) -> Drive {
    try_drive(text, settings).unwrap_or_else(|errors| panic!("the drive is refused:\n{errors}"))
}

/// The same, or why it is refused.
pub(crate) fn try_drive<S: AsRef<str>>(text: &str, settings: &[S]) -> Result<Drive, String> {
    let (mut set, mut policy) = (Vec::new(), Vec::new());
    for setting in settings {
        match setting.as_ref().strip_prefix("policy ") {
            Some(choice) => policy.push(choice.to_owned()),
            None => set.push(setting.as_ref().to_owned()),
        }
    }
    let layers = Layers {
        file: ("test.toml", text),
        library: &|_| None,
        set: &set,
        policy: &policy,
        seed: None,
    };
    load(&layers).map_err(|errors| render(&errors, false))
}

// ── Requests ────────────────────────────────────────────────────────────────────────────────────

/// `len` bytes from byte `offset` on, at `ns`.
pub(crate) fn bytes(ns: u64, op: Op, offset: u64, len: u64) -> Request {
    let len = u32::try_from(len).expect("requests are below 4 GiB");
    Request { at: Time::from_ns(ns), offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
}

/// One page is read.
pub(crate) fn read(ns: u64, page: u64) -> Request {
    bytes(ns, Op::Read, page * PAGE, PAGE)
}

/// One page is written.
pub(crate) fn write(ns: u64, page: u64) -> Request {
    bytes(ns, Op::Write, page * PAGE, PAGE)
}

/// One page is given up.
pub(crate) fn trim(ns: u64, page: u64) -> Request {
    bytes(ns, Op::Trim, page * PAGE, PAGE)
}

/// Earlier writes must survive a loss of power.
pub(crate) fn flush(ns: u64) -> Request {
    bytes(ns, Op::Flush, 0, 0)
}

/// One page is written, and the write is done when it survives a loss of power.
pub(crate) fn write_fua(ns: u64, page: u64) -> Request {
    bytes(ns, Op::WriteFua, page * PAGE, PAGE)
}

/// The same request, marked as urgent.
pub(crate) fn urgent(mut request: Request) -> Request {
    request.prio = Prio::High;
    request
}

// ── Runs ────────────────────────────────────────────────────────────────────────────────────────

/// Serves a list of requests.
pub(crate) fn serve(drive: &Drive, requests: Vec<Request>) -> Value {
    let list = List::new("list", requests).expect("the list is in order");
    run_with(drive, Box::new(list), &mut NoCache)
}

/// Serves a generator, with the settings of `[workload]`.
pub(crate) fn generate(drive: &Drive, pattern: &str) -> Value {
    let made = generator(drive, pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    run_with(drive, made, &mut NoCache)
}

/// States in memory, and how often one was asked for, found and kept.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) states: BTreeMap<String, Vec<u8>>,
    pub(crate) found: u32,
    pub(crate) kept: u32,
}

impl StateCache for Memory {
    fn load(&mut self, key: &str) -> Option<Box<dyn Read + '_>> {
        let state = self.states.get(key)?;
        self.found += 1;
        Some(Box::new(&state[..]))
    }

    fn store(&mut self, key: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("memory takes all");
        self.kept += 1;
        self.states.insert(key.into(), bytes);
    }

    fn forget(&mut self, key: &str) {
        self.states.remove(key);
    }
}

/// Runs, and checks the invariants of every run.
pub(crate) fn run_with(
    drive: &Drive,
    workload: Box<dyn Workload>,
    cache: &mut dyn StateCache,
) -> Value {
    let report = run(drive, workload, cache, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    let value = report.value().clone();
    let (checks, completed) = (&value["checks"], value["end"]["state"] == "completed");
    // Of a drive whose life ended amid requests some laws do not hold, and nobody says that they do.
    assert_eq!(checks["passed"].as_bool(), completed.then_some(true));
    assert_eq!(value["end"]["work_left"].is_object(), completed);
    if completed {
        assert_eq!(checks["requests_generated"], checks["requests_served"]);
    }
    assert!(in_order(&value) >= 5, "there are latencies of all classes");
    for class in ["read", "write", "trim", "flush", "all"] {
        let c = class_of(&value, class);
        assert!(
            (c.parts() - c.mean).abs() <= 1e-9 * c.mean,
            "{class}: the parts come to {} of {} ns",
            c.parts(),
            c.mean,
        );
    }
    value
}

/// Checks that every latency of a result lies between the least and the greatest, in order, and the mean
/// among them. Returns how many blocks of latencies there were.
pub(crate) fn in_order(value: &Value) -> usize {
    const ORDER: [&str; 7] = ["min", "p50", "p90", "p99", "p99_9", "p99_99", "max"];
    match value {
        Value::Object(map) if map.contains_key("max") && map.contains_key("p99") => {
            let times: Vec<f64> =
                ORDER.iter().filter_map(|key| map.get(*key)).map(number).collect();
            let mean = number(&map["mean"]);
            assert!(times.is_sorted(), "{value}");
            assert!(times[0] <= mean && mean <= times[times.len() - 1], "{value}");
            1
        }
        Value::Object(map) => map.values().map(in_order).sum(),
        Value::Array(all) => all.iter().map(in_order).sum(),
        _ => 0,
    }
}

// ── Results ─────────────────────────────────────────────────────────────────────────────────────

/// The numbers of one class of requests.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Class {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) mean: f64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) throttle: f64,
    /// Behind the host, garbage collection, wear, refresh, re-writes, the map, parity, folding.
    pub(crate) queue: [f64; 8],
    pub(crate) bus: f64,
    pub(crate) array: f64,
    /// Correcting errors: 0 without the model of the cells.
    pub(crate) ecc: f64,
    /// Into and out of the write buffer: 0 without one that takes time.
    pub(crate) buffer: f64,
    /// On the link and in the controller: 0 where they take no time.
    pub(crate) front: [f64; 2],
    /// While dies paused commands and took them up again: 0 where they do not.
    pub(crate) suspend: f64,
}

impl Class {
    /// The sum of all parts of the mean.
    pub(crate) fn parts(&self) -> f64 {
        let queue = self.queue.iter().sum::<f64>();
        let front = self.front.iter().sum::<f64>();
        self.throttle
            + queue
            + self.bus
            + self.array
            + self.ecc
            + self.buffer
            + front
            + self.suspend
    }

    /// The time of all requests, with the part behind each cause: (latency, behind the host, behind
    /// garbage collection, bus, array). Whole nanoseconds.
    pub(crate) fn totals(&self) -> (u64, u64, u64, u64, u64) {
        let whole = |mean: f64| {
            let sum = mean * self.requests as f64;
            assert!((sum - sum.round()).abs() < 1e-3, "{sum} is not a whole number of ns");
            sum.round() as u64
        };
        let [host, gc, others @ ..] = self.queue;
        assert_eq!(others, [0.0; 6]);
        (whole(self.mean), whole(host), whole(gc), whole(self.bus), whole(self.array))
    }
}

/// The numbers of `read`, `write`, `trim` or `all`.
pub(crate) fn class_of(value: &Value, class: &str) -> Class {
    let c = &value["host"][class];
    let (latency, delay) = (&c["latency_ns"], &c["delay_ns_by_cause"]);
    let modelled = value["provenance"]["config"]["reliability"]["model"] == "on";
    assert!(modelled || number(&delay["ecc"]) == 0.0);
    Class {
        requests: count(&c["requests"]),
        bytes: count(&c["bytes"]),
        mean: number(&latency["mean"]),
        min: count(&latency["min"]),
        max: count(&latency["max"]),
        throttle: number(&delay["throttle"]),
        queue: ["host", "gc", "wear", "refresh", "rewrite", "map", "parity", "fold"]
            .map(|source| number(&delay["queue"][source])),
        bus: number(&delay["bus"]),
        array: number(&delay["array"]),
        ecc: number(&delay["ecc"]),
        buffer: number(&delay["buffer"]),
        front: ["link", "controller"].map(|of| number(&delay[of])),
        suspend: number(&delay["suspend"]),
    }
}

/// A number of a result.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// A whole number of a result.
pub(crate) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a count"))
}

/// The codes of a result's warnings.
pub(crate) fn warnings(value: &Value) -> Vec<&str> {
    let all = value["warnings"].as_array().expect("warnings are a list");
    all.iter().map(|w| w["code"].as_str().expect("a code")).collect()
}

/// A result without the values that may differ between equal runs.
pub(crate) fn without_timing(value: &Value) -> String {
    let mut value = value.clone();
    value["timing"] = Value::Null;
    value.to_string()
}

/// Takes out the warnings about policies that change nothing: where two runs are the same although
/// their policies differ, one of them is such.
pub(crate) fn forget_idle(value: &mut Value) {
    value["warnings"].as_array_mut().expect("a list").retain(|w| w["code"] != "idle-policy");
}

/// The cases of a test that are long: `make test` has the first of them, `make verify` all.
pub(crate) fn first_of<T>(all: &[T], few: usize) -> &[T] {
    if cfg!(feature = "verify") { all } else { &all[..few] }
}

/// Fails unless `ours` lies within `tolerance` (relative) of `theirs`; prints the comparison.
#[track_caller]
pub(crate) fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    let off = ours / theirs - 1.0;
    println!("{what}: {ours:.5} | {theirs:.5} | {:+.3} %", off * 100.0);
    assert!(
        off.abs() <= tolerance,
        "{what}: {ours} instead of {theirs}, {:+.3} % off (allowed: {} %)",
        off * 100.0,
        tolerance * 100.0,
    );
}

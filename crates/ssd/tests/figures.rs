//! Figures of a report, each against its definition on data whose figure is known: percentiles,
//! spreads, means of pages, energies to the femtojoule, and the test of flatness.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    PAGE, bytes, close, count, drive, generate, number, policies_of, serve, write,
};
use floatgate_ssd::{Drive, ftl_of, precondition};
use serde_json::Value;
use std::collections::VecDeque;
use workload::{About, List, Op, Request, RequestSource, TraceError, Workload};

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const LATER: u64 = 10_000_000;

// ── Latencies ───────────────────────────────────────────────────────────────────────────────────

/// A read of n pages on one die takes n times as long as a read of one. Sizes are chosen so that
/// each percentile is another one: as many requests lie below its size as its name says, and some
/// more.
#[test]
fn every_percentile_is_the_latency_below_which_its_share_lies() {
    let sizes = [(1, 60_000), (2, 35_000), (4, 4_500), (8, 450), (16, 45), (32, 5)];
    let all: u64 = sizes.iter().map(|(_, n)| n).sum();
    assert_eq!(all, 100_000);
    let mut script = Vec::new();
    // The rare ones first, last, and in between: order must not matter.
    for (pages, n) in sizes.into_iter().rev() {
        script.extend((0..n).map(|i| (i * all / n, pages)));
    }
    script.sort_unstable();
    let script = (0..).zip(script);
    let script = script.map(|(i, (_, pages))| bytes(i * LATER, Op::Read, 0, pages * PAGE));
    let value = serve(&drive::<&str>(&[]), script.collect());
    for class in ["read", "all"] {
        let latency = &value["host"][class]["latency_ns"];
        let figures = ["p50", "p90", "p99", "p99_9", "p99_99"];
        for (figure, pages) in figures.into_iter().zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
            close(figure, number(&latency[figure]), pages * READ as f64, 1e-3);
        }
        assert_eq!((count(&latency["min"]), count(&latency["max"])), (READ, 32 * READ));
        let pages: u64 = sizes.iter().map(|(pages, n)| pages * n).sum();
        assert_eq!(number(&latency["mean"]), (pages * READ) as f64 / all as f64);
    }
}

/// The pages of a request follow each other on one die: the k-th takes k operations, from the arrival
/// of the request on. The mean is over pages, not over requests.
#[test]
fn page_latencies_are_means_over_pages() {
    let of = |value: &Value| {
        ["read", "write"].map(|op| number(&value["flash"]["page_latency_ns"][op]["mean"]))
    };
    let requests = |kind: Op, sizes: &[u64], from: u64| -> Vec<Request> {
        let at = |i: u64| (from + i) * LATER;
        (0..).zip(sizes).map(|(i, n)| bytes(at(i), kind, 0, n * PAGE)).collect()
    };
    let script = [requests(Op::Read, &[1, 3], 0), requests(Op::Write, &[2, 5, 1], 2)].concat();
    let value = serve(&drive::<&str>(&[]), script.clone());
    let reads = (1 + (1 + 2 + 3)) as f64 / 4.0;
    let writes = ((1 + 2) + (1 + 2 + 3 + 4 + 5) + 1) as f64 / 8.0;
    assert_eq!(of(&value), [reads * READ as f64, writes * PROGRAM as f64]);
    // A write that the buffer takes in takes no time, and a page that it sends to flash is not a
    // page of the host.
    let buffered = drive(&["buffer.size=64KiB", "buffer.flush-above=0.0"]);
    assert_eq!(of(&serve(&buffered, script)), [reads * READ as f64, 0.0]);
    // Trims are neither; nothing has no mean but zero.
    let trims = requests(Op::Trim, &[4], 0);
    assert_eq!(of(&serve(&drive::<&str>(&[]), trims)), [0.0, 0.0]);
}

// ── Wear ────────────────────────────────────────────────────────────────────────────────────────

/// One page again and again: a block dies whole as the next one is full, and is erased as soon as
/// less than two are free. Blocks take turns, so of eight one after the other is erased.
#[test]
fn the_spread_of_erases_is_that_of_all_blocks() {
    let drive = drive(&[
        "geometry.blocks-per-plane=8",
        "geometry.pages-per-block=4",
        "ftl.logical-capacity=64KiB",
        "precondition.fill=none",
        "policy victim=fifo",
    ]);
    for erases in [0, 1, 3, 8, 11, 20] {
        // The first write of a block that leaves one free sets off one erase.
        let writes = 4 * (6 + erases);
        let value = serve(&drive, (0..writes).map(|i| write(i * LATER, 0)).collect());
        assert_eq!(count(&value["flash"]["erase"]["total"]), erases);
        let (least, more) = (erases / 8, (erases % 8) as f64);
        let mean = erases as f64 / 8.0;
        let variance = (more * (least as f64 + 1.0 - mean).powi(2)
            + (8.0 - more) * (least as f64 - mean).powi(2))
            / 8.0;
        let most = least + u64::from(more > 0.0);
        for which in ["erases", "effective"] {
            let spread = &value["wear"][which];
            assert_eq!(number(&spread["min"]), least as f64, "{which}");
            assert_eq!(number(&spread["max"]), most as f64, "{which}");
            assert!((number(&spread["mean"]) - mean).abs() < 1e-12, "{which}");
            let stddev = number(&spread["stddev"]);
            assert!((stddev - variance.sqrt()).abs() < 1e-12, "{which}: {stddev} at {erases}");
        }
    }
}

// ── Energy ──────────────────────────────────────────────────────────────────────────────────────

/// Energies that are a whole number of femtojoules only, and work of every source: each joule is
/// booked to its source, and none is rounded away.
#[test]
fn energies_of_odd_values_are_booked_to_their_sources() {
    let (sense, program, erase, out, into) =
        (1_234.567_891e-9, 17_000.000_013e-9, 190_123.456_789e-9, 0.000_007e-9, 777.777_777e-9);
    let drive = drive(&[
        "geometry.blocks-per-plane=64",
        "ftl.spare-factor=0.3",
        "precondition.fill=full",
        "host.mode=think-time",
        "energy.read=1.234567891uJ",
        "energy.program=17.000000013uJ",
        "energy.erase=190.123456789uJ",
        "energy.transfer-out=7fJ",
        "energy.transfer-in=777.777777nJ",
        "policy cost=agcr",
        "policy wear=static:threshold=2",
        "policy read-disturb=refresh:limit=15",
        "workload.requests=20000",
        "workload.read-share=0.7",
        "workload.arrivals={ poisson = { iops = 500 } }",
    ]);
    let value = generate(&drive, "zipf");
    let flash = |what: &str, source: &str| count(&value["flash"][what][source]) as f64;
    let near = |what: &str, found: &Value, expected: f64| {
        let off = number(found) / expected - 1.0;
        assert!(off.abs() < 1e-12, "{what}: {found} instead of {expected} joules, off by {off:e}");
    };
    for source in ["host", "gc", "wear", "refresh", "rewrite"] {
        let (reads, programs, erases) =
            (flash("read", source), flash("program", source), flash("erase", source));
        assert!(reads > 50.0 && programs > 50.0, "{source} had work: {reads}, {programs}");
        assert_eq!(erases > 10.0, !matches!(source, "host" | "rewrite"), "{source}: {erases}");
        let joules = reads * (sense + out) + programs * (program + into) + erases * erase;
        near(source, &value["energy_split"]["source"][source], joules);
    }
    let all = &value["energy_joules"];
    near("read", &all["read"], flash("read", "total") * sense);
    near("program", &all["program"], flash("program", "total") * program);
    near("erase", &all["erase"], flash("erase", "total") * erase);
    let moved = flash("read", "total") * out + flash("program", "total") * into;
    near("transfer", &all["transfer"], moved);
}

// ── Flat ────────────────────────────────────────────────────────────────────────────────────────

/// A process that goes on with one stretch after the other: ageing takes them in order.
struct Changing {
    about: About,
    stretches: Vec<List>,
}

impl Workload for Changing {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        self.stretches[0].open()
    }

    fn endless(&self) -> Option<Box<dyn RequestSource>> {
        let open = |stretch: &List| stretch.open().expect("a list opens");
        Some(Box::new(OneByOne(self.stretches.iter().map(open).collect())))
    }
}

/// Several sources, one after the other; no batch has requests of two.
struct OneByOne(VecDeque<Box<dyn RequestSource>>);

impl RequestSource for OneByOne {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        while let Some(source) = self.0.front_mut() {
            source.fill(batch)?;
            if !batch.is_empty() {
                return Ok(());
            }
            self.0.pop_front();
        }
        Ok(())
    }

    fn skipped(&self) -> u64 {
        0
    }
}

/// One page again and again moves nothing: blocks die whole, and write amplification is 1. With
/// `COLD` pages that nobody writes, every turn through the blocks moves each of them once.
const COLD: u64 = 16;
/// Ageing takes that many page writes for a stretch.
const STRETCH: u64 = 1 << 17;

fn turning() -> Drive {
    drive(&[
        "geometry.blocks-per-plane=16",
        "geometry.pages-per-block=8",
        "ftl.logical-capacity=128KiB",
        "policy victim=fifo",
        "precondition.fill=none",
        "precondition.age=workload",
    ])
}

/// A stretch of which the last `share` has the cold pages.
fn stretch(share: f64) -> List {
    let page = |op, page: u64, n: u64| bytes(0, op, page * PAGE, n * PAGE);
    let cold = (STRETCH as f64 * share) as u64;
    let mut requests = Vec::new();
    requests.extend((0..STRETCH - cold - COLD).map(|_| page(Op::Write, 0, 1)));
    requests.push(page(Op::Write, 1, COLD));
    requests.extend((0..cold).map(|_| page(Op::Write, 0, 1)));
    requests.push(page(Op::Trim, 1, COLD));
    List::new("stretch", requests).unwrap()
}

/// Ages a drive by stretches with these shares; how many it took, and its write amplification then.
fn age(shares: &[f64]) -> (u64, f64, bool) {
    let stretches: Vec<List> = shares.iter().map(|&share| stretch(share)).collect();
    let about = stretches[0].about().clone();
    let workload = Changing { about, stretches };
    let drive = turning();
    let mut ftl = ftl_of(&drive, policies_of(&drive));
    let state = precondition(&drive, &workload, &mut ftl, &mut |_| true).unwrap();
    assert_eq!(state.aged % STRETCH, 0);
    (state.aged / STRETCH, state.waf, state.steady)
}

/// Write amplification is flat when the last third of all stretches agrees with the third before to
/// half a percent, twice in a row. Here it goes to and fro between two values. From the third
/// stretch to the fifth the thirds are one stretch each, and agree if the two do. At the sixth and
/// seventh they are two each, which always agree.
#[test]
fn flat_is_half_a_percent() {
    // The value of one stretch with cold pages throughout, and so the value of a share of it.
    let whole = age(&[1.0 - 2.0 * COLD as f64 / STRETCH as f64; 8]).1 - 1.0;
    // All of the sixteen blocks but the free and the open ones take part in a turn.
    let slots = 13.0 * 8.0;
    close("cold pages throughout", whole, COLD as f64 / (slots - COLD as f64), 0.1);
    let base = 1.1;
    for (apart, stretches) in [(0.001, 4), (0.0045, 4), (0.0055, 7), (0.02, 7)] {
        for sign in [1.0, -1.0] {
            let shares: Vec<f64> = (0..8)
                .map(|i| {
                    let waf = if i % 2 == 0 { base } else { base * f64::powf(1.0 + apart, sign) };
                    (waf - 1.0) / whole
                })
                .collect();
            let (took, waf, steady) = age(&shares);
            // The last stretch is as it was meant to be, to a tenth of the expected difference.
            let meant = 1.0 + shares[took as usize - 1] * whole;
            close("write amplification", waf, meant, 0.0005);
            assert_eq!((took, steady), (stretches, true), "{apart} apart, {sign}");
        }
    }
}

//! Right number? The SLC cache against closed formulas: three plateaus, the cliff, recovery, and a
//! drive that is all cache first. Sums of bytes and wear, the times of reads, and refused settings.
//!
//! Every rate follows from the times of the flash, its planes and its bus. With one die to a channel
//! nothing overlaps, so a die does one thing after the other and its rate is that of one cycle.

use crate::common::{
    bytes, class_of, close, count, drive_of, generate, number, read, serve, try_drive, write,
};
use floatgate_ssd::record::{Column, RunTable, Values};
use floatgate_ssd::{Drive, NoCache, run_recorded};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use workload::{List, Op, Request};

/// Two dies of three bits, each on a channel of its own.
const BASE: &str = r#"
[geometry]
channels = 2
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 200
pages-per-block = 96
page-size = "4KiB"
bits-per-cell = 3
[timing]
bus = { rate = "400MT/s", width-bits = 8, command = "1us" }
erase = "4ms"
read = "80us"
program = "700us"
[slc]
read = "25us"
program = "150us"
erase = "2ms"
endurance = 30000
[reliability]
endurance = 3000
[ftl]
spare-factor = 0.6
[ftl.gc]
start = 2
stop = 3
[host]
queue-limit = 100000
"#;

const PAGE: u64 = 4096;
const DIES: u64 = 2;
const PAGES: u64 = 96;
const BITS: u64 = 3;

/// The times of [`BASE`] in ns, or of a variant of it.
#[derive(Copy, Clone)]
struct Times {
    planes: u64,
    slc_read: u64,
    slc_program: u64,
    slc_erase: u64,
    program: u64,
    erase: u64,
    copyback: bool,
}

const TIMES: Times = Times {
    planes: 1,
    slc_read: 25_000,
    slc_program: 150_000,
    slc_erase: 2_000_000,
    program: 700_000,
    erase: 4_000_000,
    copyback: false,
};

impl Times {
    const COMMAND: u64 = 1_000;
    /// 4 KiB at 400 MB/s.
    const TRANSFER: u64 = 10_240;

    /// A program for the host with one bit in a cell: commands, data in, array.
    fn cached(self) -> f64 {
        (Self::COMMAND + self.planes * Self::TRANSFER + self.slc_program) as f64
    }

    /// A program for the host at full density.
    fn direct(self) -> f64 {
        (Self::COMMAND + self.planes * Self::TRANSFER + self.program) as f64
    }

    /// Folding the pages of one program, the erase of their part of a block included.
    fn folded(self) -> f64 {
        let over = if self.copyback { 0 } else { self.planes * Self::TRANSFER };
        let read = Self::COMMAND + self.slc_read + over;
        let program = Self::COMMAND + over + self.program;
        let erase = (Self::COMMAND + self.slc_erase) as f64 / (PAGES / BITS) as f64;
        (read + program) as f64 + erase
    }

    /// The erase of a block at full density, for each program of it.
    fn erased(self) -> f64 {
        (Self::COMMAND + self.erase) as f64 / PAGES as f64
    }

    /// Bytes a second of all dies, if each takes this time for a program.
    fn rate(self, each_ns: f64) -> f64 {
        (DIES * self.planes * PAGE) as f64 / each_ns * 1e9
    }

    fn settings(self) -> Vec<String> {
        let mut all = vec![
            format!("geometry.planes-per-die={}", self.planes),
            format!("ftl.program-planes={}", self.planes),
            format!("timing.program={}ns", self.program),
            format!("timing.erase={}ns", self.erase),
            format!("slc.read={}ns", self.slc_read),
            format!("slc.program={}ns", self.slc_program),
            format!("slc.erase={}ns", self.slc_erase),
        ];
        if self.copyback {
            all.push("ftl.copyback=3".into());
        }
        all
    }

    /// Bytes of a superblock of the cache on all dies.
    fn stripe(self) -> u64 {
        DIES * self.planes * PAGES / BITS * PAGE
    }
}

fn slc(times: Times, cache: &str, own: &[&str]) -> Drive {
    let mut settings = times.settings();
    settings.push(format!("policy slc-cache={cache}"));
    settings.extend(own.iter().map(ToString::to_string));
    drive_of(BASE, &settings)
}

/// Writes in order, `count` of the size that all planes of a die program at once.
fn in_order(times: Times, from: u64, count: u64, at: impl Fn(u64) -> u64) -> Vec<Request> {
    let size = times.planes * PAGE;
    (0..count).map(|i| bytes(at(i), Op::Write, (from + i) * size, size)).collect()
}

/// A column of whole numbers of a table.
fn column(tables: &[(RunTable, Vec<Column>)], table: RunTable, name: &str) -> Vec<u64> {
    let parts = tables.iter().filter(|(of, _)| *of == table);
    let numbers = |columns: &Vec<Column>| {
        let found = columns.iter().find(|c| c.name == name);
        match &found.unwrap_or_else(|| panic!("no column {name}")).values {
            Values::U32(v) => v.iter().map(|&n| n.into()).collect(),
            Values::U64(v) => v.clone(),
            Values::Zeros(n) => vec![0; *n],
            _ => panic!("{name} has no whole numbers"),
        }
    };
    parts.flat_map(|(_, columns)| numbers(columns)).collect()
}

type Tables = Vec<(RunTable, Vec<Column>)>;

fn recorded(drive: &Drive, requests: Vec<Request>) -> (Value, Tables) {
    let tables: Arc<Mutex<Tables>> = Arc::default();
    let kept = Arc::clone(&tables);
    let sink = Box::new(move |table, columns| {
        kept.lock().unwrap().push((table, columns));
        true
    });
    let list = Box::new(List::new("list", requests).expect("in order"));
    let report = run_recorded(drive, list, &mut NoCache, &mut |_| true, Some(sink));
    let value = report.unwrap_or_else(|e| panic!("{e}")).value().clone();
    (value, Arc::try_unwrap(tables).expect("the run is over").into_inner().unwrap())
}

/// When the writes of a run were done, in order.
fn done(drive: &Drive, requests: Vec<Request>) -> (Value, Vec<u64>) {
    let (value, tables) = recorded(drive, requests);
    let of = |name| column(&tables, RunTable::Requests, name);
    let mut done: Vec<u64> =
        of("arrival_ns").iter().zip(of("latency_ns")).map(|(at, took)| at + took).collect();
    done.sort_unstable();
    (value, done)
}

/// Bytes a second between two shares of the writes.
fn rate(times: Times, done: &[u64], from: f64, to: f64) -> f64 {
    let at = |share: f64| ((done.len() - 1) as f64 * share) as usize;
    let (from, to) = (at(from), at(to));
    (to - from) as f64 * (times.planes * PAGE) as f64 / (done[to] - done[from]) as f64 * 1e9
}

const CLOSED: [&str; 2] = ["host.mode=queue-depth", "host.queue-depth=1024"];

/// The times that the laws are checked with: planes, quick programs, slow reads, copyback.
fn variants() -> Vec<(&'static str, Times)> {
    vec![
        ("one plane", TIMES),
        ("two planes", Times { planes: 2, ..TIMES }),
        ("four planes", Times { planes: 4, ..TIMES }),
        ("half tPROG", Times { program: TIMES.program / 2, ..TIMES }),
        ("twice tR", Times { slc_read: 2 * TIMES.slc_read, ..TIMES }),
        ("copyback", Times { copyback: true, ..TIMES }),
    ]
}

// ── Plateaus ────────────────────────────────────────────────────────────────────────────────────

/// A host that sends as fast as the drive answers sees the rate of the cache until the cache is full,
/// and then that of programs at full density. The cliff lies where the cache ends.
#[test]
fn writes_are_quick_until_the_cache_is_full() {
    for (what, times) in variants() {
        let stripes = 60;
        let size = stripes * times.stripe();
        for cache in [
            format!("static:size={size}B:fold=idle"),
            format!("dynamic:size={size}B:fold=idle"),
            format!("hybrid:static={}B:size={}B:fold=idle", size / 3, size - size / 3),
        ] {
            let drive = slc(times, &cache, &CLOSED);
            let each = times.planes * PAGE;
            let cached = size / each;
            let (value, done) = done(&drive, in_order(times, 0, 2 * cached, |_| 0));
            let what = format!("{what}, {cache}");
            let quick = rate(times, &done, 0.05, 0.45);
            close(&format!("{what}: cache"), quick, times.rate(times.cached()), 0.01);
            let slow = rate(times, &done, 0.6, 0.95);
            close(&format!("{what}: direct"), slow, times.rate(times.direct()), 0.01);
            let own = &value["slc_cache"];
            let inside = count(&own["cached_bytes"]);
            assert_eq!(inside, size, "{what}: {own}");
            assert_eq!(count(&own["direct_bytes"]), size, "{what}");
            assert_eq!(count(&own["filled"]), 1, "{what}");
            assert_eq!(count(&own["folded_bytes"]), 0, "{what}: dies are never idle");
        }
    }
}

/// A host that waits for folding sees the rate at which data go through the cache. Each page is
/// programmed with one bit in a cell, read, and programmed at full density, and blocks are erased.
#[test]
fn writes_that_wait_for_folding_go_as_fast_as_it() {
    for (what, times) in variants() {
        let size = 6 * times.stripe();
        for cache in [
            format!("static:size={size}B:full=wait"),
            format!("dynamic:size={size}B:minimum={size}B:full=wait:fold=pressure"),
            format!("hybrid:static={}B:size={}B:full=wait", size / 2, size - size / 2),
        ] {
            // A drive that is new, and one whose blocks are erased before they are written again.
            for (state, spare, stripes, erase) in
                [("none", 0.6, 80, 0.0), ("full", 0.1, 240, times.erased())]
            {
                let fill = format!("precondition.fill={state}");
                let spare = format!("ftl.spare-factor={spare}");
                let drive = slc(times, &cache, &[CLOSED[0], CLOSED[1], &fill, &spare]);
                let n = stripes * times.stripe() / (times.planes * PAGE);
                let (value, done) = done(&drive, in_order(times, 0, n, |_| 0));
                let what = format!("{what}, {cache}, {state}");
                let expected = times.rate(times.cached() + times.folded() + erase);
                close(&what, rate(times, &done, 0.5, 0.95), expected, 0.01);
                assert_eq!(count(&value["slc_cache"]["direct_bytes"]), 0, "{what}");
                assert_eq!(count(&value["slc_cache"]["cached_bytes"]), n * times.planes * PAGE);
            }
        }
    }
}

/// Folding takes turns with the writes that wait for it. So the rate is even: over any one and a half
/// superblocks of each die it is that of folding, within 10 %, and on a full drive within 12 %. Whole superblocks would not show a die
/// that folds one after it has written one: each window would have as many of both.
#[test]
fn writes_that_wait_for_folding_have_an_even_rate() {
    let mut uneven = Vec::new();
    for (what, times) in variants() {
        let size = 6 * times.stripe();
        for cache in [
            format!("static:size={size}B:full=wait:fold=pressure"),
            format!("dynamic:size={size}B:minimum={size}B:full=wait:fold=pressure"),
            format!("hybrid:static={}B:size={}B:full=wait", size / 2, size - size / 2),
        ] {
            for (depth, state, spare, stripes, erase) in [
                (4, "none", 0.6, 80, 0.0),
                (64, "none", 0.6, 80, 0.0),
                (1024, "none", 0.6, 80, 0.0),
                (64, "full", 0.1, 240, times.erased()),
            ] {
                let depth = format!("host.queue-depth={depth}");
                let fill = format!("precondition.fill={state}");
                let spare = format!("ftl.spare-factor={spare}");
                let own = [CLOSED[0], &depth, &fill, &spare, "ftl.gc.stop=2"];
                let drive = slc(times, &cache, &own);
                let each = times.planes * PAGE;
                let window = (3 * times.stripe() / 2 / each) as usize;
                let (_, done) =
                    done(&drive, in_order(times, 0, stripes * times.stripe() / each, |_| 0));
                let expected = times.rate(times.cached() + times.folded() + erase);
                let rates = (done.len() / 2..done.len() - window).map(|from| {
                    (window as u64 * each) as f64 / (done[from + window] - done[from]) as f64 * 1e9
                });
                let (least, most) =
                    rates.fold((f64::MAX, 0.0_f64), |(l, m), r| (l.min(r), m.max(r)));
                let what = format!("{what}, {cache}, {depth}, {state}");
                let (least, most) = (least / expected, most / expected);
                println!("{what}: {least:.3} to {most:.3}");
                // A full drive also erases blocks at full density. An erase comes whole: with quick
                // programs that alone is 10 % of the window.
                let within = if state == "full" { 0.12 } else { 0.1 };
                if least < 1.0 - within || most > 1.0 + within {
                    uneven.push(format!("{what}: {least:.3} to {most:.3} of the rate"));
                }
            }
        }
    }
    assert!(uneven.is_empty(), "{}", uneven.join("\n"));
}

/// Below each bound the drive keeps up with the host, and nothing bypasses the cache.
#[test]
fn a_host_below_the_bound_is_served_at_its_own_rate() {
    for (what, times) in variants() {
        let size = 6 * times.stripe();
        let bound = times.cached() + times.folded();
        for (cache, share) in [
            (format!("static:size={size}B:full=wait"), 0.9),
            (format!("static:size={size}B"), 0.8),
            (format!("dynamic:size={size}B:fold=idle"), 0.8),
        ] {
            let drive = slc(times, &cache, &["host.mode=timestamps"]);
            let gap = bound / DIES as f64 / share;
            let n = 60 * times.stripe() / (times.planes * PAGE);
            let at = |i: u64| (i as f64 * gap) as u64;
            let (value, done) = done(&drive, in_order(times, 0, n, at));
            let what = format!("{what}, {cache}");
            close(&what, rate(times, &done, 0.1, 1.0), share * times.rate(bound), 0.01);
            assert_eq!(count(&value["slc_cache"]["direct_bytes"]), 0, "{what}");
        }
    }
}

/// The superblocks of each die that a host fills until a write finds no room, if idle time folds
/// meanwhile. `fill` is the time in which it fills one, `fold` that in which idle time folds one.
///
/// Folding begins when the first is complete, and gives back whole ones. So the cliff lies at the
/// least B = C + k with k = ⌊(B - 1) · fill / fold⌋. Without whole superblocks that is
/// C · w / (w - d), where `fill / fold` is d / w.
fn cliff(size: u64, fill: f64, fold: f64) -> u64 {
    let folded = |filled: u64| ((filled - 1) as f64 * fill / fold) as u64;
    let mut filled = size;
    while size + folded(filled) > filled {
        filled += 1;
    }
    filled
}

/// The host is above the bound of folding and below that of the cache. The cliff lies where the formula puts
/// it, within one superblock of each die. The operation of folding that a write waits for belongs to a
/// later idle time, so it lies no earlier.
#[test]
fn the_cliff_moves_with_the_rate_of_the_host() {
    for (what, times) in variants() {
        for stripes in [20, 60] {
            let size = stripes * times.stripe();
            for cache in [
                format!("static:size={size}B:fold=idle"),
                format!("dynamic:size={size}B:fold=idle"),
                format!("hybrid:static={}B:size={}B:fold=idle", size / 4, size - size / 4),
            ] {
                let drive = slc(times, &cache, &["host.mode=timestamps"]);
                for share in [0.5, 0.7, 0.9] {
                    let host = share * times.rate(times.cached());
                    let fill = times.stripe() as f64 / host * 1e9;
                    let fold = times.folded() * (PAGES / BITS) as f64 / (1.0 - share);
                    let cliff = cliff(stripes, fill, fold);
                    let each = times.planes * PAGE;
                    let at = |i: u64| (i as f64 * each as f64 / host * 1e9) as u64;
                    let direct = |n: u64| {
                        let value = serve(&drive, in_order(times, 0, n, at));
                        count(&value["slc_cache"]["direct_bytes"])
                    };
                    let what = format!("{what}, {cache}, {share} of the cache's rate, at {cliff}");
                    let writes = |superblocks: u64| superblocks * times.stripe() / each;
                    assert_eq!(direct(writes(cliff)), 0, "{what}");
                    assert!(direct(writes(cliff + 1) + 1) > 0, "{what}");
                    // Superblocks bring it forward by at most one of them and one that is folded
                    // late, and the space that these would have given back until then.
                    let most = (1.0 + fill / fold) / (1.0 - fill / fold);
                    let early = stripes as f64 / (1.0 - fill / fold) - cliff as f64;
                    assert!((0.0..=most).contains(&early), "{what}: {early} superblocks early");
                }
            }
        }
    }
}

/// On a drive in use each block that is written directly is erased before.
#[test]
fn direct_writes_to_a_full_drive_wait_for_erases() {
    for (what, times) in variants() {
        let size = 20 * times.stripe();
        let cache = format!("static:size={size}B:fold=idle");
        let own = [CLOSED[0], CLOSED[1], "precondition.fill=full", "ftl.spare-factor=0.2"];
        let drive = slc(times, &cache, &own);
        let n = 200 * times.stripe() / (times.planes * PAGE);
        let (value, done) = done(&drive, in_order(times, 0, n, |_| 0));
        let expected = times.rate(times.direct() + times.erased());
        close(what, rate(times, &done, 0.6, 0.95), expected, 0.01);
        assert_eq!(count(&value["slc_cache"]["cached_bytes"]), size, "{what}");
        assert_eq!(count(&value["flash"]["program"]["gc"]), 0, "{what}: collection moves nothing");
    }
}

/// The three plateaus of drives whose superblocks have the planes of one die, or those of all dies.
/// Dies of a superblock fill and erase it together. A superblock of several dies is erased when its last
/// page has moved, so once in each the dies wait for a program.
#[test]
fn the_plateaus_are_those_of_superblocks_across_dies() {
    let two = Times { planes: 2, ..TIMES };
    let quick = Times { program: TIMES.program / 2, ..TIMES };
    for (superblock, times) in [
        ("plane-group", two),
        ("die", TIMES),
        ("die", two),
        ("drive", TIMES),
        ("drive", two),
        ("2", TIMES),
        ("drive", quick),
    ] {
        let superblock = format!("ftl.superblock={superblock}");
        let each = times.planes * PAGE;
        let (large, small) = (60 * times.stripe(), 6 * times.stripe());
        for (cache, small_cache) in [
            (format!("static:size={large}B"), format!("static:size={small}B:full=wait")),
            (
                format!("dynamic:size={large}B"),
                format!("dynamic:size={small}B:minimum={small}B:full=wait"),
            ),
            (
                format!("hybrid:static={}B:size={}B", large / 3, large - large / 3),
                format!("hybrid:static={}B:size={}B:full=wait", small / 2, small / 2),
            ),
        ] {
            let what = format!("{superblock}, {} planes, {cache}", times.planes);
            let drive = slc(times, &cache, &[CLOSED[0], CLOSED[1], &superblock]);
            let (value, done_at) = done(&drive, in_order(times, 0, 2 * large / each, |_| 0));
            let quick = rate(times, &done_at, 0.05, 0.45);
            close(&format!("{what}: cache"), quick, times.rate(times.cached()), 0.01);
            let slow = rate(times, &done_at, 0.6, 0.95);
            close(&format!("{what}: direct"), slow, times.rate(times.direct()), 0.01);
            assert_eq!(count(&value["slc_cache"]["cached_bytes"]), large, "{what}");
            let drive = slc(times, &small_cache, &[CLOSED[0], CLOSED[1], &superblock]);
            let (_, done_at) = done(&drive, in_order(times, 0, 80 * times.stripe() / each, |_| 0));
            let several = superblock.ends_with("drive") || superblock.ends_with('2');
            let last = if several { times.direct() / (PAGES / BITS) as f64 } else { 0.0 };
            let expected = times.rate(times.cached() + times.folded() + last);
            close(&format!("{what}: folding"), rate(times, &done_at, 0.5, 0.95), expected, 0.01);
        }
    }
}

// ── Recovery ────────────────────────────────────────────────────────────────────────────────────

/// A pause of `t` gives back min(C, t·D), where D is the rate of folding.
#[test]
fn a_pause_gives_back_what_was_folded_in_it() {
    for (what, times) in variants() {
        let size = 250 * times.stripe();
        let settings = ["host.mode=timestamps", "geometry.blocks-per-plane=600"];
        let drive = slc(times, &format!("static:size={size}B:fold=idle"), &settings);
        let each = times.planes * PAGE;
        let n = size / each;
        let filled = size as f64 / times.rate(times.cached()) * 1e9;
        let drain = times.rate(times.folded());
        for share in [0.5, 0.8, 1.5] {
            let pause = share * size as f64 / drain * 1e9;
            let again = (filled + pause) as u64;
            let mut requests = in_order(times, 0, n, |_| 0);
            requests.extend(in_order(times, n, n, |_| again));
            let value = serve(&drive, requests);
            let back = count(&value["slc_cache"]["cached_bytes"]) - size;
            let expected = (share * size as f64).min(size as f64);
            close(&format!("{what}, {share}"), back as f64, expected, 0.01);
        }
    }
}

/// A drive that is all cache first: all free blocks take a third of their pages. Then each block that the host writes
/// directly is won by folding one and a half. So the rate is W·(C − S)/C with
/// S = C/3, less the time of reads and erases.
#[test]
fn a_drive_that_is_all_cache_first_slows_down_to_two_thirds() {
    for (what, times) in variants() {
        let drive =
            slc(times, "dynamic:fold=idle", &[CLOSED[0], CLOSED[1], "ftl.spare-factor=0.1"]);
        let each = times.planes * PAGE;
        let n = u64::from(drive.logical_pages) * PAGE / each * 9 / 10;
        let (value, done) = done(&drive, in_order(times, 0, n, |_| 0));
        let own = &value["slc_cache"];
        // Collection keeps four blocks of each plane.
        let first = (200 - 4) * times.stripe();
        let cached = count(&own["cached_bytes"]);
        close(&format!("{what}: first"), cached as f64, first as f64, 0.01);
        let quick = cached as f64 / (n * each) as f64;
        close(
            &format!("{what}: cache"),
            rate(times, &done, 0.05, quick * 0.95),
            times.rate(times.cached()),
            0.01,
        );
        let expected = times.rate(times.direct() + times.folded() / 2.0);
        close(&format!("{what}: direct"), rate(times, &done, quick + 0.1, 0.95), expected, 0.01);
    }
}

// ── Sums ────────────────────────────────────────────────────────────────────────────────────────

/// Every byte that is programmed is of the host, folded, moved or padding. Parts of the write
/// amplification make up the whole; the wear of a cycle is that of its mode.
#[test]
fn programs_and_wear_add_up() {
    for (planes, cache) in [
        (1, "static:size=4MiB:fold=both"),
        (2, "dynamic:size=4MiB:minimum=1MiB:fold=both"),
        (2, "hybrid:static=2MiB:size=8MiB:full=around:fold=both"),
        (1, "static:size=2MiB:full=wait"),
        (1, "dynamic:minimum=2MiB:fold=pressure"),
    ] {
        let times = Times { planes, ..TIMES };
        let drive = slc(
            times,
            cache,
            &[
                "precondition.fill=full",
                "precondition.age=random",
                "workload.requests=60000",
                "workload.size=8KiB",
                "geometry.blocks-per-plane=60",
                "host.queue-depth=16",
            ],
        );
        let value = generate(&drive, "random-write");
        let (own, flash) = (&value["slc_cache"], &value["flash"]);
        let of = |what: &str, source: &str| count(&flash[what][source]);
        let pages = |key: &str| count(&own[key]) / PAGE;
        let host = pages("cached_bytes") + pages("direct_bytes");
        let padding: u64 = ["host", "fold", "gc"].map(|s| of("padding", s)).iter().sum();
        let moved = of("program", "gc") - of("padding", "gc");
        assert_eq!(
            of("program", "total"),
            host + pages("folded_bytes") + moved + padding,
            "{cache}"
        );
        assert_eq!(host, 2 * 60_000, "{cache}");
        assert!(pages("folded_bytes") > 0 && moved > 0, "{cache}: {own}");
        assert_eq!(count(&own["program"]["total"]), count(&own["program"]["host"]), "{cache}");
        let parts = ["host", "cache", "fold", "other"].map(|key| number(&own["waf"][key]));
        close(cache, parts.iter().sum(), number(&value["waf"]), 1e-12);
        // 3000 cycles at full density, 30000 with one bit in a cell.
        let (all, single) = (of("erase", "total"), count(&own["erase"]["total"]));
        assert!(single > 0 && single < all);
        let blocks = 2.0 * 60.0;
        let wear = number(&value["wear"]["effective"]["mean"]) * blocks;
        // A group of planes wears as one.
        let cycles = (all - single) as f64 + single as f64 / 10.0;
        close(cache, wear, cycles / planes as f64, 1e-9);
    }
}

/// Reads of cached data take the times of one bit in a cell, and after folding those of their page.
#[test]
fn cached_data_is_read_as_fast_as_one_bit_in_a_cell() {
    let cache = "static:size=1MiB:fold=idle";
    let drive = slc(TIMES, cache, &["host.mode=timestamps"]);
    let last = 100_000_000_000;
    // Reads come in the same instant as the program ends, before the die is idle.
    let mut requests = vec![write(0, 0)];
    let programmed = TIMES.cached() as u64;
    requests.push(read(programmed, 0));
    requests.push(read(last, 0));
    let value = serve(&drive, requests);
    let class = class_of(&value, "read");
    let over = Times::COMMAND + Times::TRANSFER;
    // The open block of the cache is not complete, so it is not folded.
    assert_eq!((class.min, class.max), (25_000 + over, 25_000 + over));
    let n = PAGES / BITS * DIES;
    let mut requests: Vec<Request> = (0..n).map(|page| write(0, page)).collect();
    requests.push(read(last, 0));
    let value = serve(&drive, requests);
    assert_eq!(count(&value["slc_cache"]["folded_bytes"]), n * PAGE);
    assert_eq!(class_of(&value, "read").max, 80_000 + over);
}

/// The table of blocks and the series show the cache.
#[test]
fn the_records_show_the_cache() {
    let mut drive = slc(TIMES, "static:size=2MiB:fold=pressure", &["host.mode=timestamps"]);
    drive.recording.snapshots = true;
    let requests = in_order(TIMES, 0, 200, |i| i * 1_000_000);
    let (value, tables) = recorded(&drive, requests);
    let modes =
        tables.iter().filter(|(table, _)| *table == RunTable::Blocks).flat_map(|(_, all)| {
            let mode = all.iter().find(|c| c.name == "mode").expect("a column");
            let Values::Words(codes, words) = &mode.values else { panic!("modes are words") };
            codes.iter().map(|&code| words[code as usize].clone()).collect::<Vec<_>>()
        });
    let single = modes.filter(|mode| mode == "slc").count();
    assert_eq!(single, 2 * 100_usize.div_ceil((PAGES / BITS) as usize));
    let fill = column(&tables, RunTable::Series, "slc_cache_pages");
    assert_eq!(fill.last(), Some(&200));
    assert!(fill.is_sorted() && fill[0] < 200);
    assert_eq!(count(&value["slc_cache"]["used_bytes"]), 200 * PAGE);
    assert_eq!(count(&value["slc_cache"]["valid_bytes"]), 200 * PAGE);
}

// ── Other mechanisms ────────────────────────────────────────────────────────────────────────────

/// A run checks all laws of conservation at its end, so it is enough that it ends.
#[test]
fn the_cache_works_with_other_mechanisms() {
    let mechanisms: [&[&str]; 14] = [
        &[],
        &["ftl.superblock=die", "geometry.planes-per-die=2"],
        &["ftl.superblock=drive", "geometry.blocks-per-plane=90"],
        &["ftl.superblock=drive", "ftl.parity=2", "geometry.blocks-per-plane=90"],
        &["ftl.parity=4"],
        &["pages.program=wordline"],
        &["pages.program=wordline", "ftl.program-planes=2", "geometry.planes-per-die=2"],
        &["ftl.mapping-unit=4KiB", "geometry.page-size=16KiB"],
        &[
            "timing.suspend={ pause = \"20us\", resume = \"30us\" }",
            "policy order=read-first",
            "workload.read-share=0.5",
        ],
        &["ftl.copyback=2"],
        &["ftl.gc.pace=per-write", "ftl.gc.start=3", "ftl.gc.stop=3"],
        &["policy separation=sepbit"],
        &["buffer.size=512KiB", "host.queue-depth=4"],
        &[
            "ftl.multi-plane=any",
            "geometry.planes-per-die=4",
            "policy read-disturb=refresh:limit=60",
            "workload.read-share=0.7",
        ],
    ];
    for mechanism in mechanisms {
        for cache in [
            "static:size=2MiB:fold=both",
            "dynamic:minimum=1MiB:full=wait",
            "hybrid:static=1MiB:size=3MiB:full=around:fold=idle",
        ] {
            let mut settings = vec![
                "geometry.blocks-per-plane=60".to_owned(),
                "precondition.fill=full".to_owned(),
                "workload.requests=20000".to_owned(),
                "workload.trim-share=0.02".to_owned(),
                "host.queue-depth=32".to_owned(),
                "ftl.spare-factor=0.55".to_owned(),
                format!("policy slc-cache={cache}"),
            ];
            settings.extend(mechanism.iter().map(ToString::to_string));
            println!("{settings:?}");
            let value = generate(&drive_of(BASE, &settings), "hot-cold");
            let own = &value["slc_cache"];
            assert!(count(&own["cached_bytes"]) > 0, "{cache} with {mechanism:?}");
            // Dies of which the host always wants more are never idle.
            let folds = !cache.contains("fold=idle");
            let folded = count(&own["folded_bytes"]) > 0;
            assert!(folded || !folds, "{cache} with {mechanism:?}: {own}");
        }
    }
}

/// Settings that do not go with the cache are refused by name, with the reason.
#[test]
fn what_does_not_go_with_the_cache_is_refused() {
    let cache = "policy slc-cache=static:size=1MiB";
    for (own, why) in [
        (&["policy coding=wom"][..], "slots of its own"),
        (&["policy page-choice=mango"], "pages of several types"),
        (&["policy read-disturb=ipr"], "a use of their own"),
        (&["ftl.fdp={ handles = 2 }"], "stay apart"),
        (&["policy order=priority"], "urgent writes"),
        (&["reliability.model=on"], "model of the cells"),
        (&["ftl.gc.trigger={ garbage = 0.2 }"], "collection by garbage"),
        (&["geometry.bits-per-cell=1"], "one bit anyway"),
        (&["policy slc-cache=static:size=0B"], "size of the cache is 0"),
        (&["policy slc-cache=static:size=1TB"], "as many blocks as the drive has"),
        (&["policy slc-cache=dynamic:full=wait"], "needs a `minimum`"),
        (
            &["energy={ read = \"1uJ\", program = \"2uJ\", erase = \"3uJ\" }"],
            "energies of such blocks",
        ),
    ] {
        let settings = [&[cache][..], own].concat();
        let errors = try_drive(BASE, &settings).err();
        let errors = errors.unwrap_or_else(|| panic!("{own:?} is accepted"));
        assert!(errors.replace('\n', " ").contains(why), "{own:?}: {errors}");
    }
    let without = BASE.replace("[slc]", "[slc-of-another]");
    assert!(try_drive(&without, &[cache]).is_err());
    let start = BASE.find("[slc]").expect("it has one");
    let end = BASE.find("[reliability]").expect("it has one");
    let without = format!("{}{}", &BASE[..start], &BASE[end..]);
    let errors = try_drive(&without, &[cache]).expect_err("it has no times");
    assert!(errors.contains("has no `[slc]`"), "{errors}");
    assert!(try_drive(&without, &["policy slc-cache=none"]).is_ok());
}

/// The help for too little spare names a scale that loads. A drive that is scaled less keeps more blocks
/// for its cache.
#[test]
fn the_scale_that_the_help_names_is_enough_for_the_cache() {
    // Of 2,000 blocks of a plane, 200 are spare.
    let size = 100 * TIMES.stripe();
    for cache in [
        "none".to_owned(),
        format!("static:size={size}B"),
        format!("dynamic:minimum={size}B"),
        format!("hybrid:static={}B:minimum={}B", size / 2, size / 2),
    ] {
        let scaled = |of: u64| {
            let own = [
                "geometry.blocks-per-plane=2000".to_owned(),
                "ftl.spare-factor=0.1".to_owned(),
                format!("policy slc-cache={cache}"),
                format!("scale=1/{of}"),
            ];
            try_drive(BASE, &own)
        };
        let mut named = 0;
        for of in (2..=600).step_by(7) {
            let Err(errors) = scaled(of) else { continue };
            let help = errors.split("`scale = \"1/").nth(1);
            let help = help.unwrap_or_else(|| panic!("{cache}, 1/{of}: no scale in {errors}"));
            let most = help.split('"').next().and_then(|of| of.parse().ok()).expect("a number");
            let other = scaled(most).err();
            assert!(most < of && other.is_none(), "{cache}, 1/{of}, 1/{most}: {other:?}");
            named += 1;
        }
        assert!(named > 10, "{cache}: {named}");
    }
}

/// Energies are those of the mode.
#[test]
fn energies_are_those_of_the_mode() {
    let energy = [
        "energy={ read = \"10uJ\", program = \"100uJ\", erase = \"1000uJ\" }",
        "slc.energy={ read = \"1uJ\", program = \"20uJ\", erase = \"300uJ\" }",
        "precondition.fill=full",
        "workload.requests=20000",
        "workload.read-share=0.3",
        "geometry.blocks-per-plane=60",
        "host.queue-depth=8",
    ];
    let value = generate(&slc(TIMES, "static:size=1MiB", &energy), "random-write");
    let (own, flash, joules) = (&value["slc_cache"], &value["flash"], &value["energy_joules"]);
    for (what, full, single) in
        [("read", 10e-6, 1e-6), ("program", 100e-6, 20e-6), ("erase", 1e-3, 0.3e-3)]
    {
        let (all, of) = (count(&flash[what]["total"]) as f64, count(&own[what]["total"]) as f64);
        assert!(of > 0.0 && all > of);
        close(what, number(&joules[what]), (all - of) * full + of * single, 1e-9);
    }
}

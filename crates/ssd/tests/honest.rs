//! Robust? Failures of other simulators on valid input, which must not occur here. Each test is
//! named after the failure.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    BASE, PAGE, bytes, class_of, count, drive, drive_of, generate, number, read, serve, trim,
    warnings, write,
};
use kernel::Rng;
use serde_json::Value;
use std::sync::mpsc;
use std::time::Duration;
use workload::{BATCH, Op, Request};

/// Runs something that takes seconds of a processor at most, and says which it was if it hangs or
/// fails. How long that is on a busy machine nobody knows: the limit is for runs that never end.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let result = work();
        // Nobody waits any more only when the time is up.
        let _ = done.send(());
        result
    });
    let ended = wait.recv_timeout(Duration::from_secs(1200));
    assert!(ended != Err(mpsc::RecvTimeoutError::Timeout), "{what} hangs");
    worker.join().unwrap_or_else(|_| panic!("{what} fails (its message is above)"))
}

/// Values of a result that may be null: those that this version does not compute, and those that do
/// not exist.
const NULLS: [&str; 25] = [
    "/host/high",
    "/end/reason",
    "/end/work_left",
    "/checks/passed",
    "/provenance/workload/sha256",
    "/provenance/workload/reading",
    "/provenance/workload/stand_in",
    "/capacity/parity_bytes",
    "/capacity/superblock_units",
    "/capacity/open_superblocks",
    "/scale",
    "/buffer",
    "/host/flows",
    "/fdp",
    "/flash/space_wait_max_ns",
    "/flash/suspends",
    "/flash/copybacks",
    "/slc_cache",
    "/energy_joules",
    "/energy_split",
    "/lifetime",
    "/checks/little_law_error",
    "/waf",
    "/waf_pages",
    "/timing",
];

/// Every number is finite: infinity and not-a-number become null.
fn assert_finite(value: &Value, path: &str) {
    match value {
        Value::Null => assert!(NULLS.contains(&path), "{path} is null"),
        Value::Object(map) => {
            map.iter().for_each(|(key, v)| assert_finite(v, &format!("{path}/{key}")));
        }
        Value::Array(items) => items.iter().for_each(|v| assert_finite(v, path)),
        _ => {}
    }
}

// ── Requests ────────────────────────────────────────────────────────────────────────────────────

#[test]
#[cfg_attr(not(feature = "verify"), ignore = "slow: run by `make verify`")]
fn not_one_of_five_million_requests_is_lost() {
    let n = 5_000_000;
    let drive = drive(&[
        "geometry.channels=4",
        "geometry.blocks-per-plane=256",
        "ftl.spare-factor=0.1",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.read-share=0.85",
        "workload.trim-share=0.05",
        &format!("workload.requests={n}"),
    ]);
    let value = generate(&drive, "random-write");
    assert_eq!(count(&value["checks"]["requests_generated"]), n);
    assert_eq!(count(&value["checks"]["requests_served"]), n);
    assert_eq!(count(&value["provenance"]["workload"]["requests"]), n);
    let classes = ["read", "write", "trim"].map(|class| class_of(&value, class).requests);
    assert_eq!(classes.iter().sum::<u64>(), n);
    let bytes = ["read", "write", "trim"].map(|class| class_of(&value, class).bytes);
    assert_eq!(bytes.iter().sum::<u64>(), n * PAGE);
    assert_eq!(class_of(&value, "all").bytes, bytes[0] + bytes[1], "trims carry no data");
    assert!(count(&value["flash"]["erase"]["gc"]) > 10_000, "and garbage was collected meanwhile");
}

#[test]
fn fewer_requests_than_the_queue_depth_do_not_crash() {
    for n in 1..=4 {
        for (depth, mode) in [(5, "queue-depth"), (1_000_000, "queue-depth"), (5, "timestamps")] {
            let drive = drive(&[
                format!("host.mode={mode}"),
                format!("host.queue-depth={depth}"),
                format!("workload.requests={n}"),
            ]);
            let value = generate(&drive, "random-write");
            assert_eq!(class_of(&value, "write").requests, n);
        }
    }
}

#[test]
fn the_end_of_a_trace_is_the_end_of_the_run() {
    // Whole batches and not, in every mode; the last requests of every kind.
    let batch = BATCH as u64;
    for n in [1, 2, batch - 1, batch, batch + 1, 3 * batch] {
        for mode in ["timestamps", "shifted", "queue-depth", "think-time"] {
            for last in [Op::Read, Op::Write, Op::Trim] {
                let value = in_time(&format!("{n} requests, {mode}, {last:?} last"), move || {
                    let drive = drive(&[format!("host.mode={mode}")]);
                    let op =
                        |i| if i + 1 == n { last } else { [Op::Write, Op::Read][i as usize % 2] };
                    let at = |i: u64| bytes(i * 300_000, op(i), i % 50 * PAGE, PAGE);
                    serve(&drive, (0..n).map(at).collect())
                });
                assert_eq!(class_of(&value, "all").requests, n);
            }
        }
    }
}

#[test]
fn reads_alone_writes_alone_and_trims_alone_divide_by_nothing() {
    for (op, name) in [(Op::Read, "read"), (Op::Write, "write"), (Op::Trim, "trim")] {
        let requests = (0..100).map(|i| bytes(i * 1_000, op, i % 60 * PAGE, PAGE)).collect();
        let value = serve(&drive::<&str>(&[]), requests);
        assert_finite(&value, "");
        for class in ["read", "write", "trim"] {
            let expected = if class == name { 100 } else { 0 };
            assert_eq!(class_of(&value, class).requests, expected, "{class} of {name}s");
        }
        assert_eq!(value["waf"].is_null(), op != Op::Write, "no writes, no amplification");
        assert_eq!(value["waf_pages"].is_null(), op != Op::Write);
    }
}

// ── Full drives ─────────────────────────────────────────────────────────────────────────────────

fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.below(from.len() as u32) as usize]
}

/// A drive with as little spare space as is legal (mostly), and a workload for it, both drawn at
/// random: the settings and the name of the generator.
fn draw(rng: &mut Rng, requests: u32) -> (Vec<String>, &'static str) {
    let (channels, chips, dies) = (1 + rng.below(3), 1 + rng.below(2), 1 + rng.below(2));
    let planes = *pick(rng, &[1, 1, 2, 3, 4]);
    let pages = *pick(rng, &[1, 2, 3, 4, 5, 6, 7, 9, 12, 16, 21, 32]);
    let start = 2 + rng.below(3);
    let stop = start + rng.below(3);
    let background = *pick(rng, &[0, 0, stop, stop + 1, stop + 4]);
    let blocks = stop + 3 + rng.below(12);
    let all_planes = channels * chips * dies * planes;
    let least = all_planes * (stop + 2) * pages;
    let physical = all_planes * blocks * pages;
    let more = if rng.below(3) == 0 { rng.below(physical - least) } else { 0 };
    let logical = u64::from((physical - least - more).max(all_planes));
    let page = *pick(rng, &[512_u64, 4096, 16_384, 65_536]);
    let size = match rng.below(4) {
        0 => 512 * (1 + rng.below_u64((page / 512).min(8))),
        1 => page * (1 + rng.below_u64(logical.min(4))),
        _ => page,
    };
    let align = *pick(rng, &[512, page]);
    let share = |rng: &mut Rng, of: &[f64]| if rng.below(2) == 0 { 0.0 } else { *pick(rng, of) };
    let (reads, trims) = (share(rng, &[0.2, 0.4, 0.8]), share(rng, &[0.1, 0.2]));
    let iops = *pick(rng, &[20, 500, 20_000]);
    let arrivals = match rng.below(3) {
        0 => "\"as-fast-as-possible\"".to_owned(),
        1 => format!("{{ poisson = {{ iops = {iops} }} }}"),
        _ => format!("{{ constant = {{ iops = {iops} }} }}"),
    };
    let patterns = ["random-write", "random-write", "sequential-write", "zipf", "hot-cold"];
    let pattern = if logical * page / align < 64 { patterns[0] } else { *pick(rng, &patterns) };
    let mut settings = vec![
        format!("geometry.channels={channels}"),
        format!("geometry.chips-per-channel={chips}"),
        format!("geometry.dies-per-chip={dies}"),
        format!("geometry.planes-per-die={planes}"),
        format!("geometry.blocks-per-plane={blocks}"),
        format!("geometry.pages-per-block={pages}"),
        format!("geometry.page-size={page}B"),
        format!("geometry.bits-per-cell={}", 1 + rng.below(4)),
        format!("ftl.logical-capacity={}B", logical * page),
        format!("ftl.gc.start={start}"),
        format!("ftl.gc.stop={stop}"),
        format!("ftl.gc.background-stop={background}"),
        format!("workload.size={size}B"),
        format!("workload.align={align}B"),
        format!("workload.read-share={reads:?}"),
        format!("workload.trim-share={trims:?}"),
        format!("workload.arrivals={arrivals}"),
        format!("workload.requests={requests}"),
        format!("run.seed={}", rng.below(1 << 30)),
    ];
    for (key, values) in [
        ("ftl.multi-plane=", &["off", "aligned", "any"][..]),
        ("ftl.unmapped-read=", &["flash", "zero"]),
        ("policy victim=", &["greedy", "fifo", "random", "d-choices:d=2", "d-choices:d=10"]),
        ("policy placement=", &["dynamic", "dynamic", "static", "static:order=pdwc"]),
        ("policy wear=", &["none", "none", "static:threshold=2", "static:threshold=30"]),
        ("policy order=", &["fifo", "read-first", "priority", "bounded-read-first"]),
        ("host.mode=", &["queue-depth", "queue-depth", "timestamps", "shifted", "think-time"]),
        ("host.queue-depth=", &["1", "2", "7", "32", "300"]),
        ("host.queue-limit=", &["1", "5", "65536"]),
        ("buffer.size=", &["0B", "0B", "256KiB", "4MiB"]),
        ("buffer.flush-above=", &["0", "0.5", "1"]),
        ("precondition.fill=", &["full", "full", "touched", "none"]),
        ("precondition.age=", &["none", "none", "none", "none", "workload"]),
        (
            "timing.bus=",
            &[
                "\"included\"",
                "{ rate = \"333MT/s\", command = \"300ns\" }",
                "{ rate = \"333MT/s\", command = \"300ns\", first = \"data\" }",
            ],
        ),
    ] {
        settings.push(format!("{key}{}", pick(rng, values)));
    }
    if rng.below(2) == 0 {
        let more =
            pick(rng, &["", ", min-progress = \"100us\"", ", limit = 1", ", erase-loops = 3"]);
        let times = "pause = \"20us\", resume = \"30us\"";
        settings.push(format!("timing.suspend={{ {times}{more} }}"));
    } else if settings.iter().any(|s| s.starts_with("timing.bus={") && !s.contains("first")) {
        settings.push(format!("timing.cache={}", pick(rng, &["reads", "programs", "all"])));
    }
    if settings.iter().any(|s| s.starts_with("timing.bus={")) && rng.below(2) == 0 {
        settings.push(format!("ftl.copyback={}", 1 + rng.below(3)));
    }
    (settings, pattern)
}

/// Runs drives drawn at random, some of them with so little endurance that they end.
fn full_drives(cases: std::ops::Range<u64>, requests: u32) {
    let mut worn_out = 0;
    let total = cases.end - cases.start;
    for case in cases {
        let mut rng = Rng::named(case, "legal drives");
        let (mut settings, pattern) = draw(&mut rng, requests);
        let endures = *pick(&mut rng, &[1_000_000_000, 1_000_000_000, 1_000_000_000, 1, 3, 20]);
        settings.push(format!("reliability.endurance={endures}"));
        let what = format!("case {case}: {pattern} with --set {}", settings.join(" --set "));
        let value = in_time(&what, move || generate(&drive(&settings), pattern));
        assert_finite(&value, "");
        worn_out += u64::from(value["end"]["state"] == "worn-out");
        let served = count(&value["checks"]["requests_served"]);
        assert!(served == u64::from(requests) || value["end"]["state"] == "worn-out", "{what}");
    }
    assert!(worn_out * 20 > total && worn_out * 2 < total, "{worn_out} of {total} were worn out");
}

#[test]
fn a_full_drive_under_random_writes_keeps_running_at_every_legal_setting() {
    full_drives(0..50, 2_500);
}

#[cfg(feature = "verify")]
#[test]
fn so_do_ten_thousand_others() {
    full_drives(1_000..11_000, 2_500);
}

/// Garbage collection and wear levelling of several planes may write to one block. The die must
/// program its pages in the order of their allocation, not in that of the jobs. Before it did, the
/// check of flash commands stopped every other one of these runs.
#[test]
fn jobs_that_share_a_block_program_its_pages_in_order() {
    for own in [
        &["geometry.channels=12", "geometry.blocks-per-plane=7", "ftl.spare-factor=0.5715"][..],
        &[
            "geometry.channels=4",
            "geometry.blocks-per-plane=14",
            "workload.size=16KiB",
            "ftl.spare-factor=0.2858",
            "policy victim=random",
        ],
    ] {
        let mut levelled = 0;
        for seed in 0..6 {
            let seed = format!("run.seed={seed}");
            let settings = [
                "geometry.pages-per-block=16",
                "precondition.fill=full",
                "host.mode=queue-depth",
                "host.queue-depth=300",
                "policy wear=static:threshold=1",
                "workload.requests=4000",
                "workload.read-share=0.2",
                &seed,
            ];
            let value = generate(&drive(&[&settings[..], own].concat()), "hot-cold");
            levelled += count(&value["flash"]["program"]["wear"]);
        }
        assert!(levelled > 6, "{own:?}: {levelled}");
    }
}

// ── Shapes ──────────────────────────────────────────────────────────────────────────────────────

/// Writes, reads and trims on a drive, some of them partial, with garbage collection.
fn exercise(settings: &[String]) -> Value {
    let own = [
        "ftl.spare-factor=0.4",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.requests=6000",
        "workload.read-share=0.3",
        "workload.trim-share=0.1",
        "workload.align=512B",
    ];
    let mut all: Vec<String> = own.iter().map(|s| (*s).to_owned()).collect();
    all.extend_from_slice(settings);
    let value = generate(&drive_of(BASE, &all), "random-write");
    assert_finite(&value, "");
    assert_eq!(class_of(&value, "all").requests, 6_000);
    value
}

/// A block that begins its second generation with nothing to move becomes free without a flash
/// operation; writes that wait for space must hear of it all the same.
#[test]
fn space_that_comes_without_an_erase_is_used() {
    let settings = [
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=32",
        "geometry.pages-per-block=12",
        "geometry.bits-per-cell=3",
        "ftl.spare-factor=0.3",
        "precondition.fill=full",
        "host.mode=timestamps",
        "workload.requests=20000",
        "workload.read-share=0.1",
        "workload.arrivals={ poisson = { iops = 1000 } }",
        "policy coding=wom",
    ];
    let value = generate(&drive(&settings), "zipf");
    assert_eq!(value["end"]["state"], "completed");
    assert!(number(&value["policies"]["coding"]["counters"]["generations_ended"]) > 1_000.0);
}

#[test]
fn pages_per_block_need_not_be_a_power_of_two() {
    for pages in [1, 2, 3, 5, 63, 65, 100, 192, 258, 1_152] {
        let value = exercise(&[format!("geometry.pages-per-block={pages}")]);
        assert!(count(&value["flash"]["program"]["host"]) > 3_000, "{pages} pages");
    }
}

#[test]
fn one_of_everything_and_a_thousand_channels_are_drives() {
    for (channels, chips, dies, planes) in [
        (1, 1, 1, 1),
        (1_000, 1, 1, 1),
        (1, 1_000, 1, 1),
        (1, 1, 64, 1),
        (1, 1, 1, 16),
        (3, 5, 7, 2),
        (7, 1, 3, 5),
    ] {
        for bus in [
            "\"included\"",
            "{ rate = \"800MT/s\", command = \"100ns\" }",
            "{ rate = \"800MT/s\", command = \"100ns\", first = \"data\" }",
        ] {
            exercise(&[
                format!("geometry.channels={channels}"),
                format!("geometry.chips-per-channel={chips}"),
                format!("geometry.dies-per-chip={dies}"),
                format!("geometry.planes-per-die={planes}"),
                format!("timing.bus={bus}"),
            ]);
        }
    }
}

#[test]
fn small_pages_and_large_pages_are_pages() {
    for (size, sector) in [(512, 512), (520, 520), (2_048, 512), (8_192, 4_096), (65_536, 512)] {
        let value = exercise(&[
            format!("geometry.page-size={size}B"),
            format!("host.sector={sector}B"),
            format!("workload.align={sector}B"),
            format!("workload.size={size}B"),
        ]);
        let bytes = ["read", "write", "trim"].map(|class| class_of(&value, class).bytes);
        assert_eq!(bytes.iter().sum::<u64>(), 6_000 * size);
    }
}

#[test]
fn flash_bytes_are_host_bytes_where_nothing_else_is_written() {
    for own in ["ftl.multi-plane=off", "ftl.multi-plane=any", "geometry.page-size=16KiB"] {
        let drive = drive(&[
            own,
            "geometry.planes-per-die=2",
            "geometry.blocks-per-plane=512",
            "precondition.fill=none",
            "workload.requests=100",
            "workload.size=64KiB",
        ]);
        let page = drive.geometry.page_size().get();
        let value = generate(&drive, "sequential-write");
        let host = class_of(&value, "write").bytes;
        assert_eq!(host, 100 * 65_536);
        assert_eq!(count(&value["flash"]["program"]["host"]) * page, host, "{own}");
        assert_eq!(number(&value["waf"]), 1.0);
        assert!(warnings(&value).contains(&"gc-never-ran"));
    }
}

#[test]
fn a_run_whose_reads_miss_its_writes_says_so() {
    let warned = |requests: Vec<Request>| {
        let drive = drive(&["precondition.fill=full"]);
        warnings(&serve(&drive, requests)).contains(&"no-read-of-written")
    };
    let (first, later) = (0, 1_000_000_000);
    assert!(warned(vec![write(first, 1), read(later, 2)]));
    assert!(warned(vec![read(first, 1), write(later, 1)]), "the read came before");
    assert!(!warned(vec![write(first, 1), read(later, 1)]));
    assert!(!warned(vec![write(first, 1), read(first, 1)]), "even while it is on its way");
    assert!(!warned(vec![read(first, 1), read(later, 2)]), "nothing was written");
    assert!(!warned(vec![write(first, 1), write(later, 2)]), "nothing was read");
}

// ── Time ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_run_shorter_than_a_second_has_finite_rates() {
    for requests in [vec![read(0, 1)], vec![trim(0, 1)], vec![write(5, 1), read(9, 1)]] {
        let value = serve(&drive::<&str>(&[]), requests);
        assert_finite(&value, "");
        let (seconds, end) = (number(&value["simulated_seconds"]), count(&value["end"]["at_ns"]));
        assert!((seconds - end as f64 * 1e-9).abs() < 1e-18, "{seconds} s are {end} ns");
    }
    // 1.9 seconds are not one.
    let requests = (0..20).map(|i| read(i * 100_000_000, i)).collect();
    let value = serve(&drive::<&str>(&[]), requests);
    assert!((number(&value["simulated_seconds"]) - 1.900_05).abs() < 1e-12);
}

/// More than a year after the first one, a request still arrives at its nanosecond.
#[test]
fn a_late_arrival_is_exact() {
    let at = 40_000_000_000_000_001;
    let value = serve(&drive::<&str>(&[]), vec![read(0, 1), read(at, 2)]);
    assert_eq!(count(&value["end"]["at_ns"]), at + 50_000);
}

/// Writes that wait for space do not end the life of a drive that has lost a block, if it has those
/// that it needs. It has sixteen: 8 for 64 pages of data, two at which garbage collection stops and
/// two that are open.
#[test]
fn a_drive_goes_on_with_the_blocks_that_it_needs() {
    let drive = drive(&[
        "reliability.endurance=20",
        "host.mode=queue-depth",
        "host.queue-depth=16",
        "workload.requests=100000",
        "precondition.fill=full",
    ]);
    assert_eq!(drive.logical_pages, 64);
    let value = generate(&drive, "random-write");
    assert_eq!(value["end"]["state"], "worn-out");
    assert_eq!(count(&value["capacity"]["bad_blocks"]), 5);
}

#[test]
fn arrivals_decades_apart_are_no_trouble() {
    let year = 365 * 86_400 * 1_000_000_000;
    let requests: Vec<Request> = (0..50).map(|i| write(i * year, i % 60)).collect();
    let value = serve(&drive(&["ftl.gc.background-stop=3"]), requests);
    assert_eq!(class_of(&value, "write").max, 600_000);
    assert_eq!(count(&value["end"]["at_ns"]), 49 * year + 600_000);
}

// ── The end of life ─────────────────────────────────────────────────────────────────────────────

#[test]
fn a_worn_out_drive_is_a_result_that_says_why() {
    for own in [
        &[][..],
        &["geometry.channels=2", "geometry.planes-per-die=2", "ftl.multi-plane=any"],
        &["host.queue-depth=1", "policy victim=fifo"],
        &[
            "policy placement=static",
            "geometry.chips-per-channel=3",
            "policy wear=static:threshold=1",
        ],
        &["precondition.age=random", "policy victim=random", "workload.read-share=0.5"],
        &["host.mode=timestamps", "workload.arrivals={ constant = { iops = 900 } }"],
    ] {
        let settings = [
            "geometry.blocks-per-plane=32",
            "reliability.endurance=3",
            "ftl.spare-factor=0.3",
            "precondition.fill=full",
            "host.mode=queue-depth",
            "workload.requests=200000",
        ];
        let drive = drive(&[&settings, own].concat());
        let value = in_time(&format!("{own:?}"), move || generate(&drive, "random-write"));
        assert_finite(&value, "");
        let end = &value["end"];
        assert_eq!(end["state"], "worn-out", "{own:?}");
        let reason = end["reason"].as_str().expect("a reason");
        assert!(reason.contains("3 P/E cycles"), "{reason}");
        let seconds = number(&value["simulated_seconds"]);
        assert!((seconds - count(&end["at_ns"]) as f64 * 1e-9).abs() < 1e-9 && seconds > 0.0);
        assert!(count(&value["capacity"]["bad_blocks"]) > 0);
        // A block that a plane needs as its reserve at the end of its life has another, and under random choice more than one.
        let most = number(&value["wear"]["effective"]["max"]);
        assert!((3.0..8.0).contains(&most), "{most} cycles");
        let served = count(&value["checks"]["requests_served"]);
        let mean = number(&value["wear"]["erases"]["mean"]);
        println!("{own:?}: {served} requests, {mean:.2} of 3 cycles, {most} at most");
        assert!(served > 0 && served < 200_000 && mean > 0.5 && mean <= 3.0);
    }
}

// ── The result ──────────────────────────────────────────────────────────────────────────────────

/// The keys of a value, with those of the values inside, in order.
fn keys(value: &Value) -> Vec<String> {
    let Value::Object(map) = value else { return Vec::new() };
    let mut all = Vec::new();
    for (key, inner) in map {
        all.push(key.clone());
        all.extend(keys(inner).into_iter().map(|k| format!("{key}/{k}")));
    }
    all.sort();
    all
}

#[test]
fn every_key_is_there_whatever_ran() {
    let source = "host gc wear refresh rewrite map fold parity";
    let sources = format!("{source} total");
    let latency = "mean min p50 p90 p99 p99_9 p99_99 max";
    let levels = "high medium low";
    let expected = [
        (
            "",
            "schema provenance end host flash waf waf_pages wear capacity scale buffer energy_joules \
              energy_split fdp slc_cache lifetime policies checks warnings simulated_seconds timing",
        ),
        ("/provenance", "version build config config_hash seed workload"),
        (
            "/provenance/workload",
            "name format sha256 reading requests skipped notes stand_in out_of_range shift_bytes",
        ),
        ("/end", "state at_ns reason work_left"),
        ("/host", "read write trim flush all high flows"),
        ("/host/trim", "requests bytes latency_ns delay_ns_by_cause slowest"),
        ("/host/trim/slowest", "requests from_ns delay_ns_by_cause"),
        ("/host/all/latency_ns", latency),
        (
            "/host/read/delay_ns_by_cause",
            "throttle queue bus array ecc buffer link controller suspend map",
        ),
        ("/host/write/delay_ns_by_cause/queue", source),
        (
            "/flash",
            "read program erase padding reprogram gc_erase_by_demand page_latency_ns unmapped_reads \
                    pending_reads by_level rmw_reads skipped_pages space_wait_max_ns gc_wait_max_ns suspends \
                    copybacks uncorrectable",
        ),
        ("/flash/read", &sources),
        ("/flash/program", &sources),
        ("/flash/erase", &sources),
        ("/flash/reprogram", &sources),
        ("/flash/gc_erase_by_demand", "host wear refresh rewrite map parity fold total"),
        ("/flash/page_latency_ns", "read write"),
        ("/flash/page_latency_ns/read", "mean"),
        ("/flash/by_level", "read program"),
        ("/flash/by_level/program", levels),
        ("/wear", "erases effective"),
        ("/wear/erases", "min mean max stddev"),
        (
            "/capacity",
            "physical_bytes logical_bytes over_provisioning spare_factor free_blocks \
                       low_density_blocks bad_blocks parity_bytes superblock_units open_superblocks",
        ),
        (
            "/policies",
            "cost throttle read-disturb page-choice coding slc-cache victim separation placement wear \
             order arbitration",
        ),
        ("/policies/victim", "name params dram_bytes counters"),
        (
            "/checks",
            "requests_generated requests_served programs padding parity host_plus_moves mapped \
                     valid little_law_error passed",
        ),
        ("/timing", "wall_seconds cpu_seconds page_ops_per_second requests_per_second"),
    ];
    let mut shapes = Vec::new();
    for requests in [vec![read(0, 1)], vec![trim(0, 1)], vec![write(0, 1), read(1, 2)]] {
        let mut value = serve(&drive::<&str>(&[]), requests);
        for (path, names) in expected {
            let Some(Value::Object(map)) = value.pointer(path) else { panic!("{path} is missing") };
            let (mut ours, mut theirs): (Vec<&str>, Vec<&str>) =
                (map.keys().map(String::as_str).collect(), names.split_whitespace().collect());
            ours.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(ours, theirs, "{path}");
        }
        value["provenance"]["config"] = Value::Null;
        shapes.push(keys(&value));
    }
    assert!(shapes[0].len() > 200, "there was something to compare");
    assert!(shapes.iter().all(|shape| *shape == shapes[0]), "keys depend on what ran");
}

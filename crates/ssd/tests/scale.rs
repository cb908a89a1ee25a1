//! Drives scaled down: all dies with a part of the blocks, the numbers of the whole drive, or a warning.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{self, count, drive, generate, number, run_with, try_drive};
use floatgate_ssd::{Drive, NoCache, capacity, generator};
use serde_json::Value;
use workload::{List, Op};

/// Write amplification within 1 %, means and p99 within 5 %.
const LAW: [f64; 2] = [0.01, 0.05];

/// Drives that differ in geometry, program units, pace of collection and buffer.
pub(crate) const DRIVES: [(&str, &[&str]); 3] = [
    (
        "pages",
        &[
            "geometry.channels=2",
            "geometry.chips-per-channel=2",
            "geometry.blocks-per-plane=2048",
            "geometry.pages-per-block=32",
            "ftl.spare-factor=0.15",
            "ftl.gc.stop=3",
        ],
    ),
    (
        "wordlines",
        &[
            "geometry.channels=2",
            "geometry.planes-per-die=2",
            "geometry.blocks-per-plane=1024",
            "geometry.pages-per-block=24",
            "geometry.page-size=8KiB",
            "geometry.bits-per-cell=3",
            "timing.program=300us",
            "ftl.mapping-unit=4KiB",
            "ftl.program-planes=2",
            "pages.program=wordline",
            "ftl.over-provisioning=0.28",
            "ftl.gc.stop=3",
            "ftl.gc.pace=per-write",
            "ftl.gc.background-stop=3",
            "buffer.units-per-die=2",
            "policy order=read-first",
        ],
    ),
    (
        "small blocks",
        &[
            "geometry.blocks-per-plane=8192",
            "geometry.pages-per-block=16",
            "ftl.spare-factor=0.1",
            "ftl.gc.start=4",
            "ftl.gc.stop=6",
            "buffer.size=64KiB",
            "buffer.flush-above=0.5",
        ],
    ),
];

/// Patterns, each with its settings.
const PATTERNS: [(&str, &[&str]); 3] = [
    ("random-write", &["precondition.age=random"]),
    ("zipf", &["precondition.age=workload"]),
    ("hot-cold", &["precondition.age=workload"]),
];

/// Divisors of the grid. At 1 every number is that of the whole drive, to the last digit.
pub(crate) const SCALES: [u32; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];

/// The numbers that the law names, as far as there are any.
fn numbers(value: &Value) -> Vec<(&'static str, f64)> {
    let mut all = vec![("waf", number(&value["waf"]))];
    for (class, mean, p99) in
        [("read", "mean read", "p99 read"), ("write", "mean write", "p99 write")]
    {
        let latency = &value["host"][class]["latency_ns"];
        all.extend([(mean, number(&latency["mean"])), (p99, number(&latency["p99"]))]);
    }
    all
}

/// The warnings of a scaled drive that concern a number, each with the reasons of which its text
/// must have one.
fn warnings_of(what: &str) -> &'static [(&'static str, &'static [&'static str])] {
    const WAF: (&str, &[&str]) = (
        "scaled-too-far",
        &[
            "take no part in garbage collection",
            "too few for as many hits",
            "written more than others",
        ],
    );
    const LATENCIES: (&str, &[&str]) = ("scaled-latencies", &["each plane has fewer pages"]);
    const TRACE: (&str, &[&str]) = (
        "scaled-trace",
        &["waiting behind other operations", "so they queue differently", "times as many bytes"],
    );
    if what == "waf" { &[WAF] } else { &[WAF, LATENCIES, TRACE] }
}

/// Whether a result warns that this number may be off, and says why.
fn is_warned_of(value: &Value, what: &str) -> bool {
    let all = value["warnings"].as_array().expect("a list");
    all.iter().any(|warning| {
        warnings_of(what).iter().any(|(code, reasons)| {
            let text = warning["text"].as_str().unwrap();
            warning["code"] == *code && reasons.iter().any(|reason| text.contains(reason))
        })
    })
}

/// Runs a drive scaled down by each of these divisors. Returns the cases outside the law that gave no
/// warning with the reason. `run` has the result at a scale, or why the drive is refused.
pub(crate) fn outside_without_a_warning(
    name: &str,
    run: impl Fn(&str) -> Result<Value, String>,
    scales: &[u32],
) -> Vec<String> {
    let whole = numbers(&run("scale=1/1").expect("the whole drive is legal"));
    let mut wrong = Vec::new();
    for &of in scales {
        let value = match run(&format!("scale=1/{of}")) {
            Ok(value) => value,
            Err(why) => {
                assert!(of > 1 && why.contains("leaves as many"), "{why}");
                continue;
            }
        };
        for ((what, theirs), (_, ours)) in whole.iter().zip(numbers(&value)) {
            let off = ours / theirs - 1.0;
            let law = if of == 1 { 0.0 } else { LAW[usize::from(*what != "waf")] };
            let warned = is_warned_of(&value, what);
            println!(
                "{name}, 1/{of}, {what}: {ours:.5} | {theirs:.5} | {:+.2} %{}",
                100.0 * off,
                if warned { ", warned" } else { "" },
            );
            assert!(of > 1 || !warned, "{name}: the whole drive warns of its scale");
            if !warned && off.abs() > law {
                wrong.push(format!("{name}, 1/{of}, {what}: {off:+.4}"));
            }
        }
    }
    wrong
}

/// The same for a generator.
fn check(
    (name, own): (&str, &[&str]),
    (pattern, more): (&str, &[&str]),
    requests: u64,
    scales: &[u32],
) -> Vec<String> {
    let requests = format!("workload.requests={requests}");
    let fixed = [
        "workload.read-share=0.3",
        "host.mode=queue-depth",
        "host.queue-depth=4",
        "workload.seed=1000",
        "precondition.fill=full",
        &requests,
    ];
    let settings = [own, more, &fixed[..]].concat();
    let run = |scale: &str| {
        let drive = try_drive(common::BASE, &[&settings[..], &[scale]].concat())?;
        Ok(generate(&drive, pattern))
    };
    outside_without_a_warning(&format!("{name}, {pattern}"), run, scales)
}

/// A part of the grid: drives and patterns at divisors within the law and beyond. `make verify` has all.
#[test]
fn a_scaled_drive_has_the_numbers_of_the_whole_one_or_warns() {
    let mut wrong = check(DRIVES[1], PATTERNS[2], 600_000, &[3, 16]);
    wrong.extend(check(DRIVES[2], PATTERNS[1], 200_000, &[24]));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[cfg_attr(not(feature = "verify"), ignore = "slow: run by `make verify`")]
fn every_scale_has_the_numbers_of_the_whole_drive_or_a_warning() {
    let mut wrong = Vec::new();
    for drive in DRIVES {
        for pattern in PATTERNS {
            wrong.extend(check(drive, pattern, 4_000_000, &SCALES));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// ── Scaled values ───────────────────────────────────────────────────────────────────────────────

/// 1000 blocks in each of four planes, a buffer half of which retains writes.
const PLAIN: [&str; 6] = [
    "geometry.channels=4",
    "geometry.blocks-per-plane=1000",
    "ftl.spare-factor=0.2",
    "buffer.size=1MiB",
    "buffer.flush-above=0.5",
    "host.mode=queue-depth",
];

fn plain(more: &[&str]) -> Drive {
    drive(&[&PLAIN[..], more].concat())
}

/// Blocks, capacity and the retained size of the buffer are divided, and nothing else. Of a plane
/// 2.7 blocks take no part in collection: one free, one open, half of that for moves, and the spare
/// part of it.
#[test]
fn blocks_and_capacity_shrink_and_dies_do_not() {
    let whole = plain(&[]);
    assert_eq!(whole.scale, None);
    for of in [2_u32, 10, 16] {
        let part = plain(&[&format!("scale=1/{of}")]);
        let shape = |d: &Drive| *d.geometry.shape();
        let (ours, theirs) = (shape(&part), shape(&whole));
        assert_eq!(nand::Shape { blocks_per_plane: 1000, ..ours }, theirs);
        let taking_part = f64::from(ours.blocks_per_plane) - 2.7;
        let exact = 997.3 / f64::from(of);
        assert!((exact..exact + 1.0).contains(&taking_part), "{taking_part} of {exact}");
        // The share of data among the blocks that take part.
        let data =
            |d: &Drive| f64::from(d.logical_pages) / (f64::from(shape(d).blocks_per_plane) - 2.7);
        common::close("data", data(&part), data(&whole), 1e-3);
        let retained = |d: &Drive| d.buffer.size.unwrap().get() as f64 * d.buffer.flush_above;
        common::close("retained", retained(&part) / retained(&whole), taking_part / 997.3, 0.01);
        let places = |d: &Drive| d.buffer.size.unwrap().get() as f64 - retained(d);
        assert!((places(&part) - places(&whole)).abs() <= 4096.0);
        assert_eq!((&part.timing, part.ftl.gc), (&whole.timing, whole.ftl.gc));
        let scale = part.scale.as_ref().unwrap();
        assert_eq!(scale.whole_capacity(), capacity(&whole));
        assert_eq!(scale.whole_flash().get(), 4 * 1000 * 8 * 4096);
        // The echo is that of the whole drive with its scale, so it gives this drive again.
        let mut echo = part.resolved.clone();
        assert_eq!(echo.as_object_mut().unwrap().remove("scale"), Some(format!("1/{of}").into()));
        assert_eq!(echo, whole.resolved);
    }
    assert_eq!(plain(&["scale=1/1"]).geometry, whole.geometry);
}

/// A drive that has too many mapping units to be simulated can be, scaled down.
#[test]
fn a_drive_of_more_than_2_to_the_32_units_can_be_scaled() {
    let large = ["geometry.channels=32", "geometry.pages-per-block=8192"];
    let huge = [&PLAIN[..], &large, &["geometry.blocks-per-plane=30000"]].concat();
    let refused = try_drive(common::BASE, &huge).expect_err("it has 7.8e9 units");
    assert!(refused.contains("physical pages"), "{refused}");
    let scaled = drive(&[&huge[..], &["scale=1/8"]].concat());
    let whole = scaled.scale.as_ref().unwrap();
    assert_eq!(whole.whole_flash().get(), 32 * 8192 * 30_000 * 4096);
    assert_eq!(scaled.addresses(), whole.whole_capacity());
}

/// Requests and a span of its own are divided; rate and mix are not.
#[test]
fn a_generator_has_a_part_of_the_requests_in_a_part_of_the_span() {
    let own = [
        "workload.requests=80000",
        "workload.span=64MiB",
        "workload.rate=1000",
        "workload.read-share=0.25",
        "host.mode=timestamps",
    ];
    let [whole, part] = ["scale=1/1", "scale=1/8"].map(|scale| {
        let drive = plain(&[&own[..], &[scale]].concat());
        let about = generator(&drive, "random-write").unwrap().about().clone();
        (generate(&drive, "random-write"), about)
    });
    assert_eq!((whole.1.requests, part.1.requests), (Some(80_000), Some(10_000)));
    common::close("span", part.1.span.unwrap() as f64, (64 << 20) as f64 / 8.0, 0.01);
    let rate =
        |v: &Value| count(&v["host"]["all"]["requests"]) as f64 / number(&v["simulated_seconds"]);
    common::close("rate", rate(&part.0), rate(&whole.0), 0.03);
    assert_eq!(whole.0["scale"], Value::Null);
    let scale = &part.0["scale"];
    assert_eq!((count(&scale["of"]), count(&scale["blocks_per_plane"]["whole"])), (8, 1000));
    assert_eq!(scale["sample"], Value::Null);
    let refused = generator(&plain(&["scale=1/8", "workload.span=1TiB"]), "random-write");
    let refused = refused.err().expect("the whole drive is not as large").to_string();
    assert!(refused.contains("a span of 1TiB"), "{refused}");
}

/// A trace is sampled: one extent of each group. It is faster by the factor by which requests are
/// fewer, and the notes list all changes.
#[test]
fn a_trace_is_sampled() {
    let drive = plain(&["scale=1/8", "host.mode=timestamps", "precondition.fill=full"]);
    let span = drive.addresses().get() / 4096;
    let mut rng = kernel::Rng::named(1, "scaled trace");
    let requests = (0..40_000)
        .map(|n| {
            let op = if n % 2 == 0 { Op::Write } else { Op::Read };
            common::bytes(n * 500_000, op, rng.below_u64(span - 4) * 4096, 4096)
        })
        .collect();
    let list = List::new("list", requests).unwrap();
    let value = run_with(&drive, Box::new(list), &mut NoCache);
    let kept = count(&value["host"]["all"]["requests"]);
    assert!((kept as f64 / 5_000.0 - 1.0).abs() < 0.08, "{kept}");
    let (sample, pair) = (&value["scale"]["sample"], &value["scale"]["requests"]);
    assert_eq!((count(&pair["simulated"]), count(&pair["whole"])), (kept, 40_000));
    common::close("faster", number(&sample["faster"]), 40_000.0 / kept as f64, 1e-9);
    // Each of 2,000 a second.
    common::close("seconds", number(&value["simulated_seconds"]), kept as f64 / 2_000.0, 0.01);
    let notes = value["provenance"]["workload"]["notes"].to_string();
    assert!(notes.contains("extents of 8KiB are simulated"), "{notes}");
}

/// Settings that depend on the hours between two erases of a block are refused, and those that
/// leave too little spare.
#[test]
fn what_cannot_be_scaled_is_refused_with_the_reason() {
    for (settings, why) in [
        ("scale=1/8\nreliability.model=on", "does not go with the model of the cells"),
        ("scale=1/8\npolicy throttle=dynamic", "does not go with throttle="),
        ("scale=2/8", "a fraction such as \"1/16\""),
        ("scale=0.5", "a fraction such as \"1/16\""),
        ("scale=1/0", "at least 1/1048576"),
        ("scale=1/1000", "leaves as many"),
    ] {
        let settings: Vec<&str> = PLAIN.into_iter().chain(settings.split('\n')).collect();
        let refused = try_drive(common::BASE, &settings).expect_err("it is refused");
        assert!(refused.contains(why), "{refused}");
    }
    // The error names the greatest divisor, and one more is refused.
    let refused = try_drive(common::BASE, &[&PLAIN[..], &["scale=1/1000"]].concat()).unwrap_err();
    let most = refused.split("`scale = \"1/").nth(1).expect(&refused);
    let most: u32 = most.split('"').next().unwrap().parse().unwrap();
    assert!(most > 50, "{refused}");
    plain(&[&format!("scale=1/{most}")]);
    let beyond = format!("scale=1/{}", most + 1);
    assert!(try_drive(common::BASE, &[&PLAIN[..], &[&beyond]].concat()).is_err());
}

/// The warning comes where the computed error is above 1 %, and the divisor that it names has none.
#[test]
fn a_scale_that_is_too_small_is_warned_of_with_one_that_is_not() {
    let text = |of: u32| {
        let all = plain(&[&format!("scale=1/{of}")]).warnings();
        let found = all.as_array().unwrap().iter().find(|w| w["code"] == "scaled-too-far");
        found.map(|w| w["text"].as_str().unwrap().to_owned())
    };
    let warned = text(64).expect("17 blocks are few");
    let most = warned.split("--scale 1/").nth(1).expect(&warned);
    let most: u32 = most.split('`').next().unwrap().parse().unwrap();
    assert!((4..64).contains(&most), "{warned}");
    assert_eq!(text(most), None);
    assert!(text(most + 1).is_some());
}

/// Years, bytes and drive writes per day are those of the whole drive, which is written as fast and has more
/// blocks to wear.
#[test]
fn the_years_of_a_scaled_drive_are_those_of_the_whole_one() {
    let own = [
        "geometry.pages-per-block=64",
        "precondition.fill=full",
        "precondition.age=workload",
        "workload.requests=600000",
        "workload.arrivals={ constant = { iops = 400 } }",
        "host.mode=timestamps",
        "reliability.endurance=3000",
    ];
    let [whole, part] = ["scale=1/1", "scale=1/4"].map(|scale| {
        let drive = plain(&[&own[..], &[scale]].concat()).in_parts(usize::MAX, Some("off".into()));
        generate(&drive, "random-write")["lifetime"].clone()
    });
    for path in ["/rated/years", "/rated/tbw_bytes", "/rated/dwpd", "/host_bytes_per_day"] {
        let [ours, theirs] = [&part, &whole].map(|life| number(life.pointer(path).expect(path)));
        common::close(path, ours, theirs, 0.02);
    }
}

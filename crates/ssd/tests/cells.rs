//! What a read costs when errors decide? With the model of the cells on: times, energies, chances
//! and lives against values that each test works out itself.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    self, class_of, close, count, drive_of, generate, number, read, serve, try_drive, warnings,
};
use floatgate_ssd::Drive;
use kernel::Rng;
use nand::Level;
use nand::physics::{Cell, Recovery, STEP_VOLTS};
use serde_json::Value;

/// One plane of MLC with AGCR's table; every page is there before the run, at the end of a life
/// and a year old.
const WORN: &str = r#"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 64
pages-per-block = 16
page-size = "4KiB"
bits-per-cell = 2
[timing]
bus = "included"
erase = "3ms"
[timing.levels]
high   = { program = "800us", read = "70us" }
medium = { program = "600us", read = "170us" }
low    = { program = "450us", read = "310us" }
[energy]
read = "17uJ"
program = "60uJ"
erase = "100uJ"
transfer-out = "1uJ"
[reliability]
model = "on"
endurance = 3000
initial-cycles = 2999
initial-retention = "1y"
[ftl]
spare-factor = 0.25
[precondition]
fill = "full"
"#;

/// The same with one read time and a bus on which a page takes 8192 ns.
const PLAIN: [&str; 3] = [
    "timing.read=50us",
    "timing.program=600us",
    "timing.bus={ rate = \"500MT/s\", command = \"300ns\" }",
];

fn worn(settings: &[&str]) -> Drive {
    drive_of(WORN, settings)
}

/// Reads pages one after the other, 10 ms apart; gives the result.
fn reads(drive: &Drive, pages: &[u64]) -> Value {
    serve(drive, pages.iter().enumerate().map(|(i, p)| read(i as u64 * 10_000_000, *p)).collect())
}

/// Time of a single read in ns: (in all, array, error correction, bus).
fn single(drive: &Drive, page: u64) -> (u64, f64, f64, f64) {
    let all = class_of(&reads(drive, &[page]), "read");
    (all.max, all.array, all.ecc, all.bus)
}

#[test]
fn the_rate_says_how_finely_a_page_is_sensed_to_the_nanosecond() {
    // The needs of each page type follow from the equations. The limits keep away from the rates by
    // more than the possible error of a run's table.
    let cell = Cell::new(2, 3000.0);
    let needed = |page_type: usize, step: f64| {
        let rber = cell.rber(page_type, step, 2999.0, 8760.0);
        [3.5e-3, 7e-3, 1e-2].iter().position(|limit| rber <= *limit).expect("it can be read")
    };
    let times = [70_000_u64, 170_000, 310_000];
    for (level, step) in [("high", 0.75), ("medium", 1.0), ("low", 4.0 / 3.0)] {
        for page_type in [0, 1] {
            let needs = needed(page_type, step * STEP_VOLTS);
            for (start, expected) in [
                ("needed", times[needs]),
                ("lowest", times[..=needs].iter().sum()),
                ("last", times[..=needs].iter().sum()),
            ] {
                let drive = worn(&[
                    &format!("policy cost=fixed:level={level}"),
                    &format!("reliability.read-start={start}"),
                    "reliability.correctable=[3.5e-3, 7e-3, 1e-2]",
                ]);
                let found = single(&drive, page_type as u64);
                let ecc = (expected - 70_000) as f64;
                assert_eq!(found, (expected, 70_000.0, ecc, 0.0), "{level} {page_type} {start}");
            }
        }
    }
    assert_eq!([0.75, 1.0, 4.0 / 3.0].map(|s| needed(1, s * STEP_VOLTS)), [0, 1, 2]);
}

#[test]
fn energy_follows_the_attempts() {
    // 17 uJ are those of 170 us; an attempt sends its page.
    for (start, micro, attempts) in [("needed", 17.0, 1.0), ("lowest", 7.0 + 17.0, 2.0)] {
        let value = reads(&worn(&[&format!("reliability.read-start={start}")]), &[1]);
        let joules = &value["energy_joules"];
        close("sensing", number(&joules["read"]) * 1e6, micro, 1e-9);
        close("sending", number(&joules["transfer"]) * 1e6, attempts, 1e-9);
        // Of a page in four parts an attempt sends the part that is asked for.
        let start = format!("reliability.read-start={start}");
        let parts = worn(&["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", &start]);
        let joules = &reads(&parts, &[4])["energy_joules"];
        close("sending a part", number(&joules["transfer"]) * 1e6, attempts / 4.0, 1e-9);
    }
}

#[test]
fn a_bus_carries_the_bit_planes() {
    // Eq. 2 for an upper page: two boundaries sensed three times take three times as long in the
    // array. Six references need 3 bit planes, and 2 need 2, so one page more crosses the bus.
    let page = 8_192.0;
    let with = |start: &str| {
        let start = format!("reliability.read-start={start}");
        single(&worn(&[&PLAIN[..], &[&start]].concat()), 1)
    };
    let plain = 300.0 + 50_000.0 + page;
    assert_eq!(
        with("needed"),
        ((plain + 100_000.0 + page) as u64, 50_000.0, 100_000.0 + page, 300.0 + page)
    );
    // A plain read that fails first sends its page too.
    let more = 150_000.0 + 2.0 * page;
    assert_eq!(with("lowest"), ((plain + more) as u64, 50_000.0, more, 300.0 + page));
    // Lower pages are read at once.
    assert_eq!(single(&worn(&PLAIN), 0), (plain as u64, 50_000.0, 0.0, 300.0 + page));
}

#[test]
fn a_block_remembers_how_its_page_types_were_read() {
    // Upper pages of one block: the first finds out, the others begin there. Another block does not
    // know, and a lower page is another matter.
    let upper = [1, 3, 5, 16 + 1];
    let value = reads(&worn(&[]), &upper);
    let read = class_of(&value, "read");
    let expected = (240_000 + 170_000 + 170_000 + 240_000) as f64 / 4.0;
    assert_eq!(read.mean, expected);
    let seen = &value["lifetime"]["simulated"];
    assert_eq!(count(&seen["failed_attempts"]), 2);
    assert_eq!(seen["pages_read_by_sensings"], serde_json::json!({ "1": 0, "3": 4, "7": 0 }));
}

#[test]
fn pages_written_in_the_run_are_young() {
    let drive = worn(&["policy cost=fixed:level=medium", "reliability.read-start=needed"]);
    let requests = vec![common::write(0, 1), read(10_000_000, 1), read(20_000_000, 3)];
    let value = serve(&drive, requests);
    // One was written just now, at all those cycles; the other is a year old.
    let cell = Cell::new(2, 3000.0);
    assert!(cell.worst_rber(STEP_VOLTS, 2999.0, 0.0) < 4e-3);
    let read = class_of(&value, "read");
    assert_eq!((read.min, read.max), (70_000, 170_000));
}

#[test]
fn more_of_anything_never_makes_a_read_quicker() {
    let mut rng = Rng::named(1, "cells");
    for case in 0..60 {
        let start = ["lowest", "last", "needed"][case % 3];
        let level = ["high", "medium", "low"][case / 3 % 3];
        let at = |cycles: u64, days: u64, page: u64| {
            let drive = worn(&[
                &format!("policy cost=fixed:level={level}"),
                &format!("reliability.read-start={start}"),
                &format!("reliability.initial-cycles={cycles}"),
                &format!("reliability.initial-retention={days}d"),
            ]);
            single(&drive, page).0
        };
        let (cycles, days) = (rng.below_u64(2_500), rng.below_u64(2_000));
        let page = rng.below_u64(16);
        let least = at(cycles, days, page);
        assert!(at(cycles + rng.below_u64(499), days, page) >= least);
        assert!(at(cycles, days + rng.below_u64(2_000), page) >= least);
    }
}

/// A quarter of a page that holds nothing: a quarter of it crosses the channel.
#[test]
fn of_a_page_without_data_what_is_asked_for_is_sent() {
    for model in ["on", "off"] {
        let model = format!("reliability.model={model}");
        let parts = ["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", "precondition.fill=none"];
        let drive = worn(&[&parts[..], &[&model]].concat());
        let joules = &serve(&drive, vec![read(0, 1)])["energy_joules"];
        close("sent", number(&joules["transfer"]), 0.25e-6, 1e-12);
    }
}

/// Data that was there before the run ages while it goes on: a year before it and a moment in it, or
/// nothing before it and a year in it.
#[test]
fn data_ages_during_a_run_as_before_it() {
    let worst = |days: u64, seconds: u64| {
        let drive = worn(&[&format!("reliability.initial-retention={days}d")]);
        let value = serve(&drive, vec![read(seconds * 1_000_000_000, 1)]);
        number(&value["lifetime"]["simulated"]["worst_rber"])
    };
    let day = 86_400;
    let year = worst(365, 0);
    assert!(year > 1.5 * worst(1, 0), "age counts");
    for days in [1, 100, 365] {
        close("in the run", worst(365 - days, days * day), year, 1e-3);
    }
}

#[test]
fn reading_disturbs_until_a_read_takes_longer() {
    // Upper pages at 2999 cycles, fresh of age: the slope of the equations says after how many
    // reads of the block one sensing is not enough.
    let settings = ["reliability.initial-retention=0s", "reliability.read-start=needed"];
    let correctable = "reliability.correctable=[1e-3, 7e-3, 1e-2]";
    let drive = worn(&[&settings[..], &[correctable]].concat());
    let cell = Cell::new(2, 3000.0);
    let fresh = cell.rber(1, STEP_VOLTS, 2999.0, 0.0);
    let slope = nand::physics::read_slope(&cell, 1, 2999.0);
    let after = (1e-3 - fresh) / slope;
    let n = (after * 1.2) as u64;
    let value = serve(&drive, (0..n).map(|i| read(i * 200_000, 1)).collect());
    let by = &value["lifetime"]["simulated"]["pages_read_by_sensings"];
    // The table of the equations is within 4 %; the age of some seconds counts for little.
    close("reads with one sensing", number(&by["1"]), after, 0.06);
    assert!(count(&by["3"]) > 0 && count(&by["7"]) == 0);
    assert_eq!(class_of(&value, "read").max, 170_000);
}

#[test]
fn coarse_pages_endure_fewer_reads_and_fine_ones_more() {
    // Data of nearly a year at the end of a life, in three bits a cell. A plain read corrects as much
    // as the finest sensing otherwise. The equations say how many reads of its block leave the worst
    // page type correctable. Age and cycles lie on points of the table of a run.
    let hours = f64::from((1_u32 << 13) - 1);
    let cell = Cell::new(3, 3000.0);
    let slope = nand::physics::read_slope(&cell, 2, 2999.0);
    let endured = |step: f64| (1e-2 - cell.rber(2, step * STEP_VOLTS, 2999.0, hours)) / slope;
    let found = |level: &str| {
        let drive = worn(&[
            "geometry.bits-per-cell=3",
            "geometry.pages-per-block=18",
            &format!("reliability.initial-retention={hours}h"),
            "reliability.read-start=needed",
            "reliability.correctable=[1e-2, 2e-2, 3e-2]",
            &format!("policy cost=fixed:level={level}"),
        ]);
        // Some reads more than the most that a block endures.
        let n = (1.1 * endured(0.75)) as u64;
        let value = serve(&drive, (0..n).map(|i| read(i * 400_000, 2)).collect());
        number(&value["lifetime"]["simulated"]["pages_read_by_sensings"]["1"])
    };
    let [high, medium, low] = ["high", "medium", "low"].map(found);
    close("fine", high, endured(0.75), 1e-3);
    close("traditional", medium, endured(1.0), 1e-3);
    close("coarse", low, endured(4.0 / 3.0), 1e-3);
    // After a whole year it would be 1.320 and 0.258 (`physics`).
    close("fine steps", high / medium, 1.311, 2e-3);
    close("coarse steps", low / medium, 0.277, 2e-3);
}

#[test]
fn the_parts_of_latency_add_up_whatever_is_read_again() {
    // `common::run_with` compares, the run itself to the nanosecond.
    for (i, start) in ["lowest", "last", "needed"].into_iter().enumerate() {
        for bus in [true, false] {
            let mut settings = vec![
                "host.mode=queue-depth",
                "host.queue-depth=16",
                "workload.requests=3000",
                "workload.read-share=0.6",
                "workload.size=8KiB",
                "reliability.initial-cycles=2500",
                "reliability.correctable=[1e-4, 2e-3, 1e-2]",
                "geometry.channels=2",
                "geometry.planes-per-die=2",
                ["ftl.multi-plane=off", "ftl.multi-plane=any", "ftl.multi-plane=aligned"][i],
            ];
            if bus {
                settings.extend(PLAIN);
            }
            let start = format!("reliability.read-start={start}");
            settings.push(&start);
            let value = generate(&worn(&settings), "random-write");
            let all = class_of(&value, "all");
            assert!(all.ecc > 0.0 && class_of(&value, "write").ecc == 0.0);
            assert!(count(&value["flash"]["erase"]["gc"]) > 0);
            assert_eq!(count(&value["flash"]["uncorrectable"]), 0);
        }
    }
}

// ── Pages that cannot be read ───────────────────────────────────────────────────────────────────

/// ln of the probability mass of a binomial distribution, from a sum of logarithms.
fn ln_mass(n: u32, j: u32, p: f64) -> f64 {
    let choose: f64 = (0..j).map(|i| (f64::from(n - i) / f64::from(i + 1)).ln()).sum();
    choose + f64::from(j) * p.ln() + f64::from(n - j) * (1.0 - p).ln()
}

fn tail(n: u32, errors: u32, p: f64) -> f64 {
    (errors + 1..(errors + 600).min(n)).map(|j| ln_mass(n, j, p).exp()).sum()
}

#[test]
fn uncorrectable_errors_are_those_of_the_binomial_tail() {
    // 4 KiB of data at a rate of 0.8889 are 36,863 bits; the code keeps 1e-15 up to 4e-3.
    let n = (32_768.0_f64 / 0.8889).round() as u32;
    let errors = (147..2_000).find(|t| tail(n, *t, 4e-3) <= 1e-15 * 32_768.0).expect("some");
    let settings = [
        "reliability.correctable=[1e-3, 2e-3, 4e-3]",
        "reliability.uncorrectable=keep",
        "reliability.initial-retention=2y",
    ];
    let drive = worn(&settings);
    let value = reads(&drive, &[1]);
    let seen = &value["lifetime"]["simulated"];
    let rber = number(&seen["worst_rber"]);
    close("rate", rber, Cell::new(2, 3000.0).rber(1, STEP_VOLTS, 2999.0, 17_520.0), 0.04);
    let one = tail(n, errors, rber);
    close("one read", number(&seen["expected_uncorrectable_codewords"]), one, 1e-4);
    close("uber", number(&seen["uber"]), one / 32_768.0, 1e-4);
    // A page of four codewords is read four times as wrongly, and so are its bits.
    let four = worn(&[&settings[..], &["geometry.page-size=16KiB"]].concat());
    let seen = &reads(&four, &[5])["lifetime"]["simulated"];
    close("four", number(&seen["expected_uncorrectable_codewords"]), 4.0 * one, 1e-4);
    close("uber of four", number(&seen["uber"]), one / 32_768.0, 1e-4);
    assert!(one > 0.01 && one < 0.5, "{one}");
    // Many: the drawn number follows its expectation, within five deviations.
    let pages: Vec<u64> = (0..20_000).map(|i| i * 2 % 768 + 1).collect();
    let value = serve(&drive, pages.iter().map(|p| read(0, *p)).collect());
    let seen = &value["lifetime"]["simulated"];
    let expected = number(&seen["expected_uncorrectable_codewords"]);
    let drawn = number(&seen["uncorrectable_pages"]["total"]);
    assert!(expected > 20_000.0 * one * 0.9, "{expected}");
    assert!((drawn - expected).abs() < 5.0 * expected.sqrt(), "{drawn} of {expected}");
    assert_eq!(value["flash"]["uncorrectable"], seen["uncorrectable_pages"]["total"]);
    assert!(warnings(&value).contains(&"uncorrectable"));
    assert_eq!(count(&value["capacity"]["bad_blocks"]), 0);
}

#[test]
fn blocks_that_cannot_be_read_are_retired_until_the_drive_ends() {
    let mut settings = vec![
        "reliability.correctable=[1e-3, 2e-3, 4e-3]",
        "reliability.initial-retention=2y",
        "host.mode=queue-depth",
        "host.queue-depth=4",
        "workload.read-share=1.0",
        "workload.requests=200",
    ];
    let few = generate(&worn(&settings), "random-write");
    assert_eq!(few["end"]["state"], "completed");
    let bad = count(&few["capacity"]["bad_blocks"]);
    let seen = &few["lifetime"]["simulated"]["blocks_retired"];
    assert!(bad > 0 && bad == count(&seen["unreadable"]), "{bad}");
    assert!(count(&few["flash"]["program"]["refresh"]) > 0, "what could be read was moved");
    settings[5] = "workload.requests=20000";
    let value = generate(&worn(&settings), "random-write");
    assert_eq!(value["end"]["state"], "worn-out");
    let reason = value["end"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("held pages that could not be read and were retired"), "{reason}");
    assert!(count(&value["capacity"]["bad_blocks"]) > bad);
}

#[test]
fn drives_that_lose_blocks_in_any_order_come_to_an_end() {
    for seed in 0..40 {
        let mut rng = Rng::named(seed, "cells/ends");
        let initial = format!("reliability.initial-cycles={}", 2_990 + rng.below(10));
        let kept = format!("reliability.initial-retention={}d", 300 + rng.below(900));
        let share = format!("workload.read-share={:.2}", 0.2 + rng.unit() * 0.6);
        let planes = format!("geometry.planes-per-die={}", 1 + rng.below(3));
        let start = ["lowest", "last", "needed"][seed as usize % 3];
        let start = format!("reliability.read-start={start}");
        let mut pick = |from: [&'static str; 3]| from[rng.below(3) as usize];
        let others = [
            pick(["policy wear=none", "policy wear=static:threshold=2", "policy wear=none"]),
            pick(["policy order=fifo", "policy order=priority", "policy order=read-first"]),
            pick(["policy victim=greedy", "policy victim=random", "policy victim=fifo"]),
            pick(["policy cost=fixed", "policy cost=agcr", "policy cost=conflict"]),
            pick([
                "policy placement=dynamic",
                "policy placement=static",
                "ftl.gc.background-stop=4",
            ]),
            pick(["ftl.multi-plane=off", "ftl.multi-plane=any", "ftl.multi-plane=aligned"]),
            pick(["buffer.size=0B", "buffer.size=64KiB", "buffer.flush-above=0.5"]),
        ];
        let settings = [
            "reliability.correctable=[1e-3, 2e-3, 4e-3]",
            "host.mode=queue-depth",
            "geometry.blocks-per-plane=24",
            "geometry.channels=2",
            "ftl.spare-factor=0.3",
            "workload.requests=20000",
            &initial,
            &kept,
            &share,
            &planes,
            &start,
        ];
        let value = generate(&worn(&[&settings[..], &others].concat()), "random-write");
        let bad = count(&value["capacity"]["bad_blocks"]);
        let retired = &value["lifetime"]["simulated"]["blocks_retired"];
        assert_eq!(bad, count(&retired["worn_out"]) + count(&retired["unreadable"]));
        assert_eq!(value["end"]["state"], "worn-out", "seed {seed}");
    }
}

// ── Lives ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn cycles_before_the_run_count_and_rest_heals_them() {
    let with = |more: &[&str]| {
        let mut settings = vec![
            "host.mode=queue-depth",
            "workload.requests=30000",
            "reliability.initial-retention=0s",
        ];
        settings.extend(more);
        generate(&worn(&settings), "random-write")
    };
    let ended = |value: &Value| count(&value["end"]["at_ns"]);
    let (later, sooner) =
        (with(&["reliability.initial-cycles=2990"]), with(&["reliability.initial-cycles=2998"]));
    assert_eq!(
        (&later["end"]["state"], &sooner["end"]["state"]),
        (&"worn-out".into(), &"worn-out".into())
    );
    assert!(ended(&sooner) < ended(&later));
    // Ten hours between cycles, by READY's Eq. 1 to 3 with its fitted constants: far from the end.
    let rested = with(&[
        "reliability.initial-cycles=2998",
        "reliability.initial-rest=10h",
        "reliability.recovery=fitted",
    ]);
    assert_eq!(rested["end"]["state"], "completed");
    assert!(!warnings(&rested).contains(&"recovery-extrapolated"));
    let seen = &rested["lifetime"]["simulated"];
    let most = number(&seen["cycles"]["max"]);
    assert!(most > 3000.0 && number(&seen["effective_cycles"]["max"]) < 1500.0, "{seen}");
    let mean = number(&seen["effective_cycles"]["mean"]);
    let cycles = number(&seen["cycles"]["mean"]);
    close("healed", mean, Recovery::FITTED.effective_cycles(cycles, 10.0), 0.01);
    let short = with(&["reliability.initial-cycles=2998", "reliability.recovery=fitted"]);
    assert!(warnings(&short).contains(&"recovery-extrapolated"));
}

#[test]
fn a_life_follows_from_rate_and_amplification() {
    let drive = worn(&[
        "reliability.initial-cycles=10",
        "reliability.initial-retention=0s",
        "precondition.age=random",
        "workload.arrivals={ constant = { iops = 50 } }",
        "workload.requests=70000",
        "reliability.target=3y",
    ]);
    let value = generate(&drive, "random-write");
    let life = &value["lifetime"];
    let waf = number(&value["waf"]);
    let (physical, exported) = (64.0 * 16.0 * 4096.0, 768.0 * 4096.0);
    let rate = 70_000.0 * 4096.0 / number(&value["simulated_seconds"]);
    close("waf", number(&life["waf"]), waf, 1e-12);
    let tbw = 3000.0 * physical / waf;
    let rated = &life["rated"];
    close("tbw", number(&rated["tbw_bytes"]), tbw, 1e-9);
    close("dwpd", number(&rated["dwpd"]), tbw / (365.0 * 3.0 * exported), 1e-9);
    // PE · C ÷ (host rate · WAF).
    close("years", number(&rated["years"]), tbw / rate / (365.0 * 86_400.0), 1e-3);
    let hours = physical / (rate * waf) / 3600.0;
    close("hours", number(&life["cycle_hours"]), hours, 1e-3);
    let target = &life["target"];
    close("cycles", number(&target["cycles"]), 10.0 + 3.0 * 8760.0 / hours, 1e-3);
    let recovered = 3000.0 * Recovery::PRINTED.achievable_cycles(hours, 0.65)
        / Recovery::PRINTED.achievable_cycles(0.0, 0.65);
    close("recovered", number(&life["with_recovery"]["cycles"]), recovered, 1e-3);
    assert_eq!(life["simulated"]["waf_steady"], true);
    // The promise of the class is judged at the end of the endurance: the default code keeps it.
    let client = &life["jesd218"]["client"];
    assert_eq!(
        (number(&client["retention_hours"]), number(&client["uber_limit"])),
        (8760.0, 1e-15)
    );
    assert_eq!(client["meets_end_of_life"], number(&client["uber_end_of_life"]) <= 1e-15);
    let enterprise = &life["jesd218"]["enterprise"];
    assert!(number(&enterprise["uber_end_of_life"]) <= number(&client["uber_end_of_life"]));
    let keeps = number(&life["end_of_life"]["retention_hours"]);
    let limit = Cell::new(2, 3000.0).retention_limit_hours(STEP_VOLTS, 3000.0, 1e-2);
    close("retention", keeps, limit, 1e-9);
}

#[test]
fn what_could_not_matter_is_said() {
    let young = worn(&["reliability.initial-cycles=0", "reliability.initial-retention=0s"]);
    let value = serve(&young, vec![common::write(0, 1), read(10_000_000, 1)]);
    let codes = warnings(&value);
    assert!(codes.contains(&"errors-never-mattered") && codes.contains(&"endurance-far"));
    let off = worn(&["reliability.model=off"]);
    let value = reads(&off, &[1]);
    assert!(warnings(&value).contains(&"cells-not-modelled"));
    assert!(value["lifetime"].is_null());
    assert_eq!(class_of(&value, "read").ecc, 0.0);
    assert!(!warnings(&reads(&worn(&[]), &[1])).contains(&"errors-never-mattered"));
}

#[test]
fn a_table_that_falls_is_refused_with_the_model() {
    let falling = "timing.levels.low={ program = \"450us\", read = \"60us\" }";
    let error = try_drive(WORN, &[falling]).expect_err("it is refused");
    assert!(error.contains("fall from one level to the next"), "{error}");
    try_drive(WORN, &[falling, "reliability.model=off"]).expect("without it, it is not");
}

#[test]
fn agcrs_table_comes_from_the_physics() {
    let table = drive_of("base = \"agcr\"", &[] as &[&str]);
    let physics = drive_of("base = \"agcr-physics\"", &[] as &[&str]);
    assert_eq!(table.timing, physics.timing);
    assert!(physics.has_levels);
    assert_eq!(physics.soft_reads, table.soft_reads);
    // Less retention needs less sensing, so all levels read faster; the same from the echo.
    let short = drive_of("base = \"agcr-physics\"", &["timing.physics.retention=1d"]);
    assert!(short.timing.read(Level::LowCost, 0) < table.timing.read(Level::LowCost, 0));
    let echo = toml_of(&short);
    assert_eq!(drive_of(&echo, &[] as &[&str]).timing, short.timing);
    // A table displaces the physics, and the physics a table.
    let back = drive_of(
        "base = \"agcr-physics\"\n[timing]\nread = \"1us\"\nprogram = \"2us\"",
        &[] as &[&str],
    );
    assert!(!back.has_levels);
}

#[test]
fn a_drive_with_cells_is_its_own_echo() {
    for settings in [&[][..], &["reliability.model=off"], &["reliability.uncorrectable=keep"]] {
        let drive = worn(settings);
        let again = drive_of(&toml_of(&drive), &[] as &[&str]);
        assert_eq!(again.reliability, drive.reliability);
        assert_eq!(again.hash(), drive.hash());
    }
}

/// The resolved drive as a drive file.
fn toml_of(drive: &Drive) -> String {
    let mut resolved = drive.resolved.clone();
    resolved["policies"] = serde_json::json!({});
    toml::to_string(&resolved).expect("it is a drive file")
}

/// If every read takes the time of the quickest sensing, errors cost no time.
#[test]
fn an_ideal_drive_senses_once() {
    let needs = ["reliability.correctable=[3.5e-3, 7e-3, 1e-2]", "reliability.read-start=needed"];
    for (cost, expected) in [("fixed:level=medium", 170_000_u32), ("ideal", 70_000)] {
        let policy = format!("policy cost={cost}");
        let ecc = f64::from(expected - 70_000);
        let found = single(&worn(&[&policy[..], needs[0], needs[1]]), 1);
        assert_eq!(found, (u64::from(expected), 70_000.0, ecc, 0.0), "{cost}");
    }
}

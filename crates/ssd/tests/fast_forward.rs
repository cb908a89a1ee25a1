//! The fluid model of a life against the same life in every detail: a small drive that is worn out
//! within minutes.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{PAGE, count, drive_of, number, read, write};
use floatgate_ssd::fast_forward::{Demand, Forecast, ForwardPlan, fast_forward, plan_of};
use floatgate_ssd::{Drive, NoCache, run};
use kernel::{Dur, Rng};
use serde_json::Value;
use workload::{List, Request};

const SMALL: &str = r#"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 2
planes-per-die = 1
blocks-per-plane = 64
pages-per-block = 16
page-size = "4KiB"
bits-per-cell = 2
[timing]
bus = "included"
erase = "2ms"
read = "50us"
program = "600us"
[reliability]
endurance = 60
[ftl]
spare-factor = 0.3
[ftl.gc]
start = 2
stop = 2
[host]
mode = "shifted"
[precondition]
fill = "full"
age = "random"
"#;

/// Pages at random, `busy` in each of ten seconds and a twentieth of that in the ten after it.
fn bursts(drive: &Drive, seconds: u64, busy: u64) -> List {
    let mut rng = Rng::named(7, "test/bursts");
    let mut requests: Vec<Request> = Vec::new();
    for second in 0..seconds {
        let n = if second / 10 % 2 == 0 { busy } else { busy / 20 };
        for i in 0..n {
            let at = second * 1_000_000_000 + i * 1_000_000_000 / n;
            requests.push(write(at, rng.below(drive.logical_pages).into()));
        }
    }
    List::new("bursts", requests).unwrap()
}

fn event(drive: &Drive, list: &List) -> Value {
    run(drive, Box::new(list.clone()), &mut NoCache, &mut |_| true).unwrap().value().clone()
}

fn fluid(drive: &Drive, demand: &Demand, waf: f64, seconds: f64) -> Forecast {
    let target = Dur::from_secs_f64(seconds);
    let plan = ForwardPlan { target, ..plan_of(drive, demand, waf) };
    fast_forward(&plan, &mut |_, _| true).unwrap()
}

fn programmed(value: &Value) -> f64 {
    (count(&value["flash"]["program"]["total"]) * PAGE) as f64
}

#[track_caller]
fn within(found: f64, expected: f64, share: f64, what: &str) {
    let error = found / expected - 1.0;
    println!("{what}: {:+.2} %", error * 100.0);
    assert!(error.abs() <= share, "{what}: {found}, in detail {expected}");
}

/// The model knows one wear, the mean. In detail blocks differ by the slack that levelling leaves
/// them, 4 of 60 cycles here, and a drive ends when the first of them are lost.
#[test]
fn a_drive_without_throttle_wears_out_when_the_model_says() {
    let drive = drive_of(SMALL, &["policy wear=hot-cold-swap:slack=2"]);
    let list = bursts(&drive, 1_500, 150);
    let detailed = event(&drive, &list);
    assert_eq!(detailed["end"]["state"], "worn-out");
    let demand = Demand::of(&list, PAGE, 1.0).unwrap();
    let o = fluid(&drive, &demand, number(&detailed["waf"]), 1_500.0);
    let (died, bytes) = o.worn_out.expect("it wears out");
    within(died, number(&detailed["end"]["at_ns"]) * 1e-9, 0.05, "life");
    within(bytes, programmed(&detailed), 0.05, "bytes of a life");
}

/// A third of the demand has to wait: when all is served, the model must have come as far, with as
/// much programmed. Everything that a source programs reaches the throttle.
#[test]
fn a_throttled_life_is_the_detailed_one() {
    let drive = |policy: &str| {
        let choice = format!("policy throttle={policy}");
        drive_of(SMALL, &["policy wear=hot-cold-swap:slack=2", &choice])
    };
    let list = bursts(&drive("none"), 700, 125);
    let demand = Demand::of(&list, PAGE, 1.0).unwrap();
    for (policy, share) in [
        // In detail collection comes in lumps, and the time that a second leaves unused for that is
        // lost.
        ("static:target=20min", 0.05),
        ("dynamic:target=20min:window=20s", 0.05),
        ("dynamic:target=20min:window=20s:enforcement=pessimistic", 0.02),
        ("ready:target=20min:window=20s", 0.05),
        ("ready:target=20min:window=20s:enforcement=pessimistic", 0.02),
        ("ready:target=20min:epoch=window:window=10s", 0.02),
    ] {
        let drive = drive(policy);
        let detailed = event(&drive, &list);
        assert_eq!(detailed["end"]["state"], "completed");
        let end = number(&detailed["simulated_seconds"]);
        assert!(end > 800.0, "{policy}: nothing was held back");
        let counters = &detailed["policies"]["throttle"]["counters"];
        assert_eq!(number(&counters["programmed_bytes"]), programmed(&detailed));
        assert!(count(&detailed["flash"]["program"]["gc"]) > 0);
        assert!(count(&detailed["flash"]["program"]["wear"]) > 0);
        assert!(count(&detailed["policies"]["throttle"]["dram_bytes"]) > 0);
        // Mode `shifted`: the end is late by all delay of the throttle.
        let delay = number(&counters["delay_seconds"]);
        assert!((delay - (end - 700.0)).abs() < 1.0, "{policy}: {delay} s of {end} s");
        let mean = number(&detailed["host"]["write"]["delay_ns_by_cause"]["throttle"]);
        let writes = count(&detailed["host"]["write"]["requests"]) as f64;
        assert!((mean * writes * 1e-9 / delay - 1.0).abs() < 1e-6, "{policy}");

        let o = fluid(&drive, &demand, number(&detailed["waf"]), end);
        within(o.served_seconds, 700.0, share, &format!("{policy}: served"));
        within(o.programmed, programmed(&detailed), share, &format!("{policy}: bytes"));
    }
}

/// A page that AGCR writes anew in idle time wears the flash, and the throttle counts it.
#[test]
fn rewrites_count() {
    let levels = "[timing.levels]\n\
        high = { program = \"800us\", read = \"70us\" }\n\
        medium = { program = \"600us\", read = \"170us\" }\n\
        low = { program = \"450us\", read = \"310us\" }\n";
    let flat = "read = \"50us\"\nprogram = \"600us\"\n";
    assert!(SMALL.contains(flat));
    let own = ["policy cost=agcr", "policy throttle=ready:target=1h"];
    let drive = drive_of(&SMALL.replace(flat, levels), &own);
    let pages = u64::from(drive.logical_pages);
    let mut requests = Vec::new();
    for i in 0..20_000_u64 {
        // Written, written, read, read: worth a re-write.
        let (at, page) = (i * 5_000_000, i / 4 % pages);
        requests.push(if i % 4 < 2 { write(at, page) } else { read(at, page) });
    }
    let value = event(&drive, &List::new("rewrites", requests).unwrap());
    assert!(count(&value["flash"]["program"]["rewrite"]) > 1_000);
    let counters = &value["policies"]["throttle"]["counters"];
    assert_eq!(number(&counters["programmed_bytes"]), programmed(&value));
}

/// Other ways for requests to arrive: a closed loop waits by itself, an open one piles up.
#[test]
fn a_throttle_holds_back_in_every_mode() {
    let list = |drive: &Drive| bursts(drive, 100, 125);
    for mode in ["timestamps", "queue-depth", "think-time"] {
        let mode = format!("host.mode={mode}");
        let drive = drive_of(SMALL, &[&mode[..], "policy throttle=static:target=20min"]);
        let value = event(&drive, &list(&drive));
        let end = number(&value["simulated_seconds"]);
        let rate = programmed(&value) / end;
        // 60 cycles of 8 MiB in 20 minutes. In the open loop most writes come before the programs
        // of a page are known, and are told then when to enter.
        let limit = 60.0 * f64::from(8 << 20) / 1_200.0;
        assert!(rate < limit * 1.05, "{mode}: {rate} of {limit} bytes per second");
        // Without a throttle it would be half as much again; quiet seconds leave their share unused.
        assert!(rate > limit * 0.6, "{mode}: {rate} of {limit} bytes per second");
    }
}

/// In an open loop nearly all writes of an overload wait at the gate at once. The programs to
/// expect are known from the writes that entered, not from all that came.
#[test]
fn an_open_loop_that_piles_up_keeps_its_rate() {
    let own = ["host.mode=timestamps", "policy throttle=static:target=20min"];
    let drive = drive_of(SMALL, &own);
    let value = event(&drive, &bursts(&drive, 60, 400));
    assert_eq!(value["end"]["state"], "completed");
    let end = number(&value["simulated_seconds"]);
    assert!(end > 180.0, "a demand of several times the rate takes as many times as long: {end} s");
    let limit = 60.0 * f64::from(8 << 20) / 1_200.0;
    within(programmed(&value) / end, limit, 0.03, "bytes per second of the rate");
}

/// Throttles that are asked for little for years pass over the time at once, however short their periods
/// are: else this would not end. Writes wait, as a year has little to give to them.
#[test]
fn years_of_short_periods_are_passed_over() {
    for throttle in [
        "static:period=1ms:target=5y",
        "dynamic:period=1ms:target=5y",
        "ready:period=1ms:target=5y:window=1ms",
        "ready:period=1ms:target=5y:window=1ms:enforcement=pessimistic",
    ] {
        let policy = format!("policy throttle={throttle}");
        let drive = drive_of(SMALL, &["precondition.age=none", &policy, "host.mode=timestamps"]);
        for gap in [1_000_000, YEAR * 5 / 300] {
            let requests: Vec<Request> = (0..300).map(|i| write(i * gap, i % 100)).collect();
            let value = event(&drive, &List::new("writes", requests).unwrap());
            assert_eq!(value["end"]["state"], "completed", "{policy}");
            let end = number(&value["simulated_seconds"]);
            println!("{policy}: {end} s");
            assert!(end * 1e9 >= (299 * gap) as f64, "{policy}: {end} s");
        }
    }
}

const YEAR: u64 = 365 * 86_400_000_000_000;

/// The fluid model of a life with so many short periods that it takes longer ones is, but for them, that
/// of the short ones.
#[test]
fn longer_steps_are_the_same_life() {
    for (policy, share) in [
        // The unused part of a period is lost, and a longer period leaves less.
        ("static:target=20min", 0.05),
        ("dynamic:target=20min:window=20s", 0.01),
        ("ready:target=20min:window=20s", 0.01),
    ] {
        let choice = format!("policy throttle={policy}:period=1ms");
        let drive = drive_of(SMALL, &["policy wear=hot-cold-swap:slack=2", &choice]);
        let list = bursts(&drive, 700, 125);
        let demand = Demand::of(&list, PAGE, 1.0).unwrap();
        let plan = plan_of(&drive, &demand, 3.0);
        let of = |periods| {
            let throttle = plan.throttle.map(|t| t.within(periods, u64::MAX));
            fast_forward(&ForwardPlan { throttle, ..plan.clone() }, &mut |_, _| true).unwrap()
        };
        let (fine, coarse) = (of(u64::MAX), of(1_200));
        assert_eq!((fine.periods, coarse.periods), (1_200_000, 1_200));
        within(coarse.programmed, fine.programmed, share, policy);
        within(coarse.served_seconds, fine.served_seconds, share, policy);
    }
}

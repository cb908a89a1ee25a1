//! The worked examples of the paper, and what must hold whatever comes.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use super::*;
use ftl::{Life, Lpn, Watch};
use kernel::{Dur, Rng, Time};
use nand::physics::Recovery;
use nand::{Level, Ppn, Source, Tag};

const MB: f64 = 1e6;

fn rules(target: u64) -> Rules {
    Rules {
        target,
        period: 1.0,
        enforcement: Enforcement::Optimistic,
        capacity: Capacity::Guarded,
        spare: 0.1,
        average: 1,
        window: 4,
        selects: false,
        history: 100,
        difference: Difference::First,
        miss: 0.25,
        misses: 3,
        nand_pages: false,
    }
}

/// A drive that takes `bytes` in all, whatever the rests between.
fn regulator(rules: Rules, bytes: f64) -> Regulator {
    Regulator::new(rules, RatedCells::new(1.0, None), bytes, 4096.0)
}

/// Gives the periods what they want, as far as they get it; returns what each wrote.
fn serve(r: &mut Regulator, demand: &[f64]) -> Vec<f64> {
    let mut waiting = 0.0;
    let mut at = 0.0;
    let mut period = |wanted: f64| {
        waiting += wanted;
        let written = r.grant().bytes.max(0.0).min(waiting);
        waiting -= written;
        r.spend(written, written / 4096.0);
        at += 1.0;
        r.next(at);
        written
    };
    demand.iter().map(|&wanted| period(wanted)).collect()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

#[track_caller]
fn all_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(f, e)| near(*f, *e));
}

/// Fig. 5: demand above the capacity of an epoch lengthens the delay, below it shortens it.
#[test]
fn equations_4_and_5() {
    // 100 epochs of 4 periods, 4 MB each; one page is 4096 bytes, every page the host's.
    let mut r = regulator(Rules { spare: 0.3, ..rules(400) }, 400.0 * MB);
    near(r.epoch().capacity(), 4.0 * MB);
    assert_eq!(r.epoch().delay, 0.0);
    serve(&mut r, &[2.0 * MB, 2.0 * MB, 1.0 * MB, 1.0 * MB]);
    // Eq. 4 with w = 6 MB and the capacity after the loan, 0.7 of 4 MB.
    let c = r.epoch().capacity();
    near(c, 2.8 * MB);
    let delay = 4.0 * (6.0 / 2.8 - 1.0) / (c / 4096.0);
    near(r.epoch().delay, delay);
    // Eq. 5 with w = 2 MB; nothing was borrowed, so what is left is spread anew.
    serve(&mut r, &[0.5 * MB; 4]);
    let c = r.epoch().capacity();
    near(c, (400.0 - 8.0) * MB / 392.0 * 4.0);
    let less = 4.0 * (c / (2.0 * MB) - 1.0) / (c / 4096.0);
    near(r.epoch().delay, (delay - less).max(0.0));
    assert!(r.epoch().delay > 0.0);
    // Demand that fits changes nothing.
    let before = r.epoch().delay;
    serve(&mut r, &[c / 4.0; 4]);
    near(r.epoch().delay, before);
    // Below it, again and again: never below zero. And silence ends every delay.
    serve(&mut r, &[c / 8.0; 40]);
    assert_eq!(r.epoch().delay, 0.0);
    let mut r = regulator(Rules { spare: 0.3, ..rules(400) }, 400.0 * MB);
    serve(&mut r, &[2.0 * MB, 2.0 * MB, 1.0 * MB, 1.0 * MB, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(r.epoch().delay, 0.0);
}

/// With write amplification fewer pages of the host share the same delay.
#[test]
fn the_pages_of_equation_4_are_the_hosts_unless_asked() {
    for (nand_pages, factor) in [(false, 2.0), (true, 1.0)] {
        let mut r = regulator(Rules { spare: 0.3, nand_pages, ..rules(400) }, 400.0 * MB);
        r.spend(6.0 * MB, 3.0 * MB / 4096.0);
        (1..=4).for_each(|i| r.next(f64::from(i)));
        let pages = 2.8 * MB / 4096.0;
        near(r.epoch().delay, factor * 4.0 * (6.0 / 2.8 - 1.0) / pages);
    }
    // A page of the host that 6 MB were programmed for; without any its bytes are what they are.
    for (pages, share) in [(1.0, 2.8 / 6.0), (0.0, 2.8 * MB / 4096.0)] {
        let mut r = regulator(Rules { spare: 0.3, ..rules(400) }, 400.0 * MB);
        r.spend(6.0 * MB, pages);
        (1..=4).for_each(|i| r.next(f64::from(i)));
        near(r.epoch().delay, 4.0 * (6.0 / 2.8 - 1.0) / share);
    }
}

/// Fig. 6: an epoch of 4 MB and four periods. 4.2 MB are wanted, 4.0 MB are written.
#[test]
fn figure_6_pessimistic() {
    let pessimistic = Rules { enforcement: Enforcement::Pessimistic, ..rules(400) };
    let mut r = regulator(pessimistic, 400.0 * MB);
    // Unused capacity goes to the next period; what exceeds it waits for the next.
    let written = serve(&mut r, &[0.8 * MB, 1.4 * MB, 0.6 * MB, 1.4 * MB]);
    all_near(&written, &[0.8 * MB, 1.2 * MB, 0.8 * MB, 1.2 * MB]);
    near(written.iter().sum(), 4.0 * MB);
}

/// Fig. 7: 4 MB in the first period.
#[test]
fn figure_7_pessimistic_and_optimistic() {
    let burst = [4.0 * MB, 0.0, 0.0, 0.0];
    let pessimistic = Rules { enforcement: Enforcement::Pessimistic, ..rules(400) };
    let mut r = regulator(pessimistic, 400.0 * MB);
    all_near(&serve(&mut r, &burst), &[MB; 4]);

    // Spare capacity of 4 MB: more than the 3 MB that the burst borrows.
    let mut r = regulator(Rules { target: 44, ..rules(44) }, 44.0 * MB);
    near(r.epoch().spare, 4.0 * MB);
    all_near(&serve(&mut r, &burst), &burst);
    // Over the epoch nothing was borrowed, so the next has its whole share.
    assert_eq!(r.tally().borrowed, 0);
    near(r.epoch().capacity(), 4.0 * MB);
}

/// READY 3.4: three epochs share 3 MB. The first writes 1.1 MB.
#[test]
fn the_spare_capacity_of_the_example() {
    for capacity in [Capacity::Guarded, Capacity::Paper] {
        let mut r = regulator(Rules { capacity, ..rules(12) }, 3.0 * MB);
        near(r.epoch().capacity(), MB);
        near(r.epoch().spare, 0.2 * MB);
        serve(&mut r, &[1.1 * MB, 0.0, 0.0, 0.0]);
        near(r.epoch().capacity(), 0.9 * MB);
        near(r.epoch().spare, 0.1 * MB);
        assert_eq!(r.tally().borrowed, 1);

        // Nothing more is borrowed: everything is spread anew.
        let mut next = r.clone();
        serve(&mut next, &[0.9 * MB, 0.0, 0.0, 0.0]);
        near(next.epoch().capacity(), 1.0 * MB);

        // All that is spare: the last epoch is pessimistic with its 0.9 MB.
        serve(&mut r, &[9.0 * MB, 0.0, 0.0, 0.0]);
        near(r.epoch().capacity(), 0.9 * MB);
        near(r.epoch().spare, 0.0);
        let written = serve(&mut r, &[9.0 * MB, 0.0, 0.0, 0.0]);
        near(written.iter().sum(), 0.9 * MB);
        // The target is reached: no more throttling.
        assert_eq!(r.grant(), Grant::FREE);
    }
}

/// "If the spare capacity is used up during the 0-th epoch, the pessimistic policy is used with the
/// reduced epoch capacity, i.e., 0.9 MB, and no spare capacity."
#[test]
fn spare_capacity_that_is_used_up_leaves_nine_tenths() {
    let mut r = regulator(rules(12), 3.0 * MB);
    let written = serve(&mut r, &[9.0 * MB, 0.0, 0.0, 0.0]);
    near(written.iter().sum(), 1.2 * MB);
    near(r.epoch().capacity(), 0.9 * MB);
    near(r.epoch().spare, 0.0);
    all_near(&serve(&mut r, &[9.0 * MB; 4]), &[0.225 * MB; 4]);
}

/// Fig. 8 and 9, and READY 3.5: the epoch is selected from demand without delays, the delay follows
/// from Eq. 4, and the epoch takes longer by w ÷ c. Then written and capacity agree.
#[test]
fn a_selected_epoch_is_stretched_and_then_steady() {
    let rules = Rules { selects: true, spare: 0.1, ..rules(40_000) };
    // Windows of 4 periods, 3 and 6 MB in turn; the drive stands 2/3 of that.
    let bytes = 40_000.0 * 4.5 / 4.0 * MB * 2.0 / 3.0;
    let mut r = regulator(rules, bytes);
    let per_second = |at: f64| if (at / 4.0) as u64 % 2 == 0 { 0.75 * MB } else { 1.5 * MB };
    let mut at = 0.0;
    let mut written = 0.0;
    for second in 0..40_000 {
        let grant = r.grant();
        // Within a second: pages come at the rate of their time, each late by the delay.
        let (mut left, mut room) = (grant.bytes.max(0.0), 1.0);
        while room > 1e-12 && left > 1e-6 {
            let rate = per_second(at);
            let slow = 1.0 + grant.delay * rate / 4096.0;
            let whole = ((at / 4.0).floor() + 1.0) * 4.0 - at;
            let step = whole.max(1e-9).min(room / slow).min(left / rate);
            r.demand(at, step * rate);
            r.spend(step * rate, step * rate / 4096.0);
            written += step * rate;
            at += step;
            room -= step * slow;
            left -= step * rate;
        }
        r.next(at);
        if second == 20_000 {
            // Two windows of natural time, stretched by about 3/2.
            let natural = r.epoch().length as f64 / 1.5;
            let (k, rest) = ((natural / 8.0).round(), natural % 8.0);
            assert!(k >= 1.0 && rest.min(8.0 - rest) < 1.0, "{:?}", r.epoch());
        }
    }
    assert!(r.tally().selections > 0);
    assert!((written / bytes - 1.0).abs() < 0.01, "{written} of {bytes}");
    let held = r.tally().hits as f64 / r.tally().predictions as f64;
    assert!(held > 0.95, "{held}: {:?}", r.tally());
}

/// The first selection needs two windows, and every later one as many misses in a row as the rules
/// say.
#[test]
fn an_epoch_is_selected_at_first_and_after_misses() {
    let mut r = regulator(Rules { selects: true, misses: 2, ..rules(4_000) }, 4_000.0 * MB);
    let mut at = 0.0;
    let mut window = |r: &mut Regulator, each: f64| {
        for _ in 0..4 {
            r.demand(at, each);
            r.spend(each, each / 4096.0);
            at += 1.0;
            r.next(at);
        }
        r.tally().selections
    };
    let mut count = |each: f64| window(&mut r, each);
    // Every window is an epoch. The third is the first that was predicted by an equal one.
    assert_eq!([0.5, 0.5, 0.5, 0.5].map(|mb| count(mb * MB)), [0, 1, 1, 1]);
    // A miss and a hit; a miss, and another.
    assert_eq!([0.9, 0.9, 0.3, 0.3, 0.1, 0.4].map(|mb| count(mb * MB)), [1, 1, 1, 1, 1, 2]);
}

/// READY Eq. 3 takes the mean interval between the cycles so far, from the first byte on: half a cycle
/// in four hours is one in eight. Before that there is none, and the cells rest for ever.
#[test]
fn achievable_cycles_follow_from_the_interval_so_far() {
    let rules = Rules { period: 3600.0, capacity: Capacity::Paper, ..rules(40_000) };
    let cells = RatedCells::new(3000.0, Some(Recovery::FITTED));
    let mut r = Regulator::new(rules, cells, 8.0 * MB, 4096.0);
    near(r.total_bytes(), 8.0 * MB * cells.extrapolated(f64::INFINITY));
    r.spend(4.0 * MB, 1.0);
    (1..=4).for_each(|hour| r.next(3600.0 * f64::from(hour)));
    near(r.total_bytes(), 8.0 * MB * cells.extrapolated(8.0));
    r.spend(12.0 * MB, 1.0);
    near(r.total_bytes(), 8.0 * MB * cells.extrapolated(2.0));
}

/// Capacity `local`, in periods of an hour. Two cycles of new cells cost as much as after the
/// longest rest that counts. A third costs as much as after the rest since the second. Charged
/// bytes are missing from the following periods, and the delay is by bytes at the price of the last
/// epoch.
#[test]
fn local_capacity_charges_by_the_rest_before() {
    let rules = Rules {
        period: 3600.0,
        capacity: Capacity::Local,
        enforcement: Enforcement::Pessimistic,
        window: 24,
        ..rules(24 * 100)
    };
    let cells = RatedCells::new(3000.0, Some(Recovery::FITTED));
    let all = cells.limit(2400.0) * MB;
    let price = |hours: f64| all / MB / cells.achievable(hours);
    let mut r = Regulator::new(rules, cells, MB, 4096.0);
    near(r.total_bytes(), all);
    near(r.epoch().rate, all / 2400.0);
    // The part that is cycled now has its price; those behind it may have had no rest.
    let rate = all / 2400.0;
    near(r.grant().bytes, MB / 128.0 + (rate - MB / 128.0 * price(25.3)) / price(0.0));

    r.spend(MB, 1.0);
    // The last part counts as if cells had been programmed when the first was.
    let first = (127.0 * price(25.3) + price(127.0 / 128.0)) / 128.0;
    assert!((r.epoch().charged() / MB / first - 1.0).abs() < 1e-5);
    r.next(3600.0);
    r.skip(11, 12.0 * 3600.0);
    // Of eighty cycles in an hour the first came after some twelve, the others after none: less than
    // the 46 seconds in which nothing heals.
    r.spend(80.0 * MB, 1.0);
    near(r.epoch().used, 81.0 * MB);
    let charged = r.epoch().charged();
    let expected = MB * (first + price(11.5) + 79.0 * price(0.0));
    assert!((charged / expected - 1.0).abs() < 2e-3, "{charged}, not {expected}");
    // Excess bytes wait, in the unit in which they are owed.
    let left = r.grant().bytes;
    assert!((left * price(0.0) / (13.0 * rate - charged) - 1.0).abs() < 1e-9);
    assert_eq!(r.periods_until_more(left), ((charged - 13.0 * rate) / rate).floor() as u64 + 1);

    // 81 MB in a day, by two pages of the host, cost more than a day has.
    r.skip(12, 24.0 * 3600.0);
    let rate = (all - 24.0 * rate) / (2400.0 - 24.0);
    near(r.epoch().rate, rate);
    near(r.grant().bytes * price(0.0), 25.0 * rate - charged);
    let room = 24.0 * rate * 81.0 * MB / charged;
    near(r.epoch().delay, 24.0 * 3600.0 * (81.0 * MB / room - 1.0) / (2.0 * room / (81.0 * MB)));
    assert_eq!(r.dram_bytes(), 8 * (100 + 32) + 8 * (128 + 256 + 16));
}

/// Windows of eight seconds bring 3 and 6 MB. Each by itself is the length that is selected: four
/// periods for 6 MB, which four periods' share of 400 MB in the 392 that are left does not hold. So they
/// take longer by that much, in whole periods, and every page of that share waits for its part.
#[test]
fn a_selected_epoch_takes_as_long_as_its_demand() {
    let mut r = regulator(Rules { selects: true, period: 2.0, ..rules(400) }, 400.0 * MB);
    for period in 0..8 {
        let at = f64::from(2 * period);
        r.demand(at, if period < 4 { 0.75 * MB } else { 1.5 * MB });
        assert_eq!((r.tally().selections, r.epoch().length), (0, 4));
        r.next(at + 2.0);
    }
    let epoch = r.epoch();
    assert_eq!((r.tally().selections, epoch.start, epoch.length), (1, 8, 6));
    let share = 4.0 * 400.0 / 392.0;
    near(epoch.rate, share / 4.0 * MB);
    near(epoch.predicted.expect("it is not the first"), 6.0 * MB);
    near(epoch.delay, 8.0 * (6.0 / share - 1.0) / (share * MB / 4096.0));
    // Work that a drive can do at once is neither stretched nor delayed.
    let mut r = regulator(Rules { selects: true, ..rules(400) }, 4000.0 * MB);
    for period in 0..8 {
        r.demand(f64::from(period), 1.5 * MB);
        r.next(f64::from(period + 1));
    }
    let epoch = r.epoch();
    assert_eq!((r.tally().selections, epoch.length, epoch.delay), (1, 4, 0.0));
    near(epoch.predicted.expect("it is not the first"), 6.0 * MB);
}

/// 12 MB in 12 periods: one in each.
#[test]
fn debts_are_waited_for_until_the_target_at_most() {
    let pessimistic = Rules { enforcement: Enforcement::Pessimistic, ..rules(12) };
    let mut r = regulator(pessimistic, 12.0 * MB);
    let waits =
        |r: &Regulator| [0.0, -0.5, -1.0, -2.5, -100.0].map(|mb| r.periods_until_more(mb * MB));
    assert_eq!(waits(&r), [1, 1, 2, 3, 12]);
    (1..=5).for_each(|at| r.next(f64::from(at)));
    r.spend(1e-9, 0.0);
    assert_eq!(r.periods_until_more(-100.0 * MB), 7);
    (6..=13).for_each(|at| r.next(f64::from(at)));
    assert_eq!((waits(&r), r.grant()), ([0; 5], Grant::FREE));
    // Cells that take nothing never do.
    let mut r = Regulator::new(pessimistic, RatedCells::new(0.0, None), MB, 4096.0);
    r.next(1.0);
    assert_eq!((r.epoch().rate, waits(&r)), (0.0, [11; 5]));
}

/// 100 MB in 100 periods, of which a tenth is spare. The first epoch borrows 6 MB, and nine tenths of
/// its rate are left: of 90 MB those that follow are given 86.4, and the rest may be lent. The second
/// borrows nothing: what is printed lends a tenth of all later epochs, what is guarded no more than leaves an
/// even spread of nine tenths.
#[test]
fn spare_capacity_after_a_loan() {
    let even = (100.0 - 13.6) / 92.0;
    let left = 100.0 - 0.9 * 88.0 - 13.6 - 4.0 * even;
    for (capacity, spare) in [(Capacity::Paper, 0.1 * even * 88.0), (Capacity::Guarded, left)] {
        let mut r = regulator(Rules { capacity, ..rules(100) }, 100.0 * MB);
        near(r.epoch().spare, 9.6 * MB);
        r.keep_epochs(2);
        serve(&mut r, &[10.0 * MB, 0.0, 0.0, 0.0]);
        near(r.epoch().rate, 0.9 * MB);
        near(r.epoch().spare, 3.6 * MB);
        serve(&mut r, &[3.6 * MB, 0.0, 0.0, 0.0]);
        near(r.epoch().rate, even * MB);
        near(r.epoch().spare, spare * MB);
        // The first two that ended are kept.
        serve(&mut r, &[0.0; 4]);
        let [first, second] = r.ended_epochs() else { panic!("{:?}", r.ended_epochs()) };
        assert_eq!((first.start, first.end(), first.predicted), (0, 4, None));
        assert_eq!((second.start, second.end(), second.predicted), (4, 8, Some(10.0 * MB)));
        near(first.used, 10.0 * MB);
        near(second.used, 3.6 * MB);
        assert_eq!((r.tally().epochs, r.tally().borrowed), (3, 1));
    }
    // A pessimistic throttle does not lend.
    let none = Rules { enforcement: Enforcement::Pessimistic, ..rules(100) };
    let mut r = regulator(none, 100.0 * MB);
    assert_eq!(r.epoch().spare, 0.0);
    r.spend(10.0 * MB, 1.0);
    (1..=4).for_each(|at| r.next(f64::from(at)));
    assert_eq!((r.epoch().spare, r.tally().borrowed), (0.0, 0));
}

/// The prediction is the mean of the last epochs, here of two. Before there are as many, the first
/// one represents the others. A quarter more or less is a hit.
#[test]
fn predictions_are_means_and_hold_or_do_not() {
    let mut r = regulator(Rules { average: 2, ..rules(400) }, 400.0 * MB);
    let mut epoch = |mb: f64| {
        serve(&mut r, &[mb * MB, 0.0, 0.0, 0.0]);
        let tally = r.tally();
        (r.epoch().predicted.map(|bytes| bytes / MB), tally.predictions, tally.hits)
    };
    assert_eq!(epoch(2.0), (Some(2.0), 0, 0));
    assert_eq!(epoch(2.5), (Some(2.25), 1, 1));
    assert_eq!(epoch(1.5), (Some(2.0), 2, 1));
    assert_eq!(epoch(2.5), (Some(2.0), 3, 2));
    assert_eq!(epoch(2.0), (Some(2.25), 4, 3));
}

/// The last epoch ends with the target, however long it was to be.
#[test]
fn the_last_epoch_is_cut_short() {
    let mut r = regulator(rules(10), 10.0 * MB);
    let lengths: Vec<(u64, u64)> = (1..=10)
        .map(|at| {
            let epoch = (r.epoch().start, r.epoch().length);
            r.next(f64::from(at));
            epoch
        })
        .collect();
    assert_eq!(
        lengths,
        [(0, 4), (0, 4), (0, 4), (0, 4), (4, 4), (4, 4), (4, 4), (4, 4), (8, 2), (8, 2)]
    );
    assert_eq!((r.tally().epochs, r.grant()), (3, Grant::FREE));
    // A life shorter than a window is one epoch.
    assert_eq!(regulator(rules(3), MB).epoch().length, 3);
    assert_eq!(regulator(rules(100), MB).dram_bytes(), 8 * (100 + 32));
}

/// Settings are rules: times in periods, rounded, and at least one; at least two windows are remembered.
#[test]
fn settings_become_rules() {
    let of = |name: &str, params: serde_json::Value| {
        let params = params.as_object().expect("a table").clone();
        let named = [("throttle".to_owned(), name.to_owned(), params)];
        let set = crate::PolicySet::resolve(&named, None).expect("settings that are legal");
        *set.build().throttle.settings().expect("a throttle")
    };
    let ready = of(
        "ready",
        serde_json::json!({
            "target": "1000s", "period": "2s", "window": "7s", "history": "100s", "average": 3,
            "spare": 0.2, "epoch": "window", "difference": "least", "miss": 0.5, "misses": 9,
            "pages": "nand", "enforcement": "pessimistic", "capacity": "paper", "recovery": "fitted",
        }),
    );
    let rules = Rules {
        target: 500,
        period: 2.0,
        enforcement: Enforcement::Pessimistic,
        capacity: Capacity::Paper,
        spare: 0.2,
        average: 3,
        window: 4,
        selects: false,
        history: 12,
        difference: Difference::Least,
        miss: 0.5,
        misses: 9,
        nand_pages: true,
    };
    let cells = CountedRecovery::Given(Recovery::FITTED);
    assert_eq!(ready.pace, ThrottlePace::Dynamic { cells, rules });
    assert_eq!((ready.target, ready.period), (Dur::secs(1000), Dur::secs(2)));
    let short =
        serde_json::json!({ "target": "1s", "period": "9s", "window": "3s", "history": "1s" });
    let rules = Rules {
        target: 1,
        period: 9.0,
        enforcement: Enforcement::Optimistic,
        capacity: Capacity::Guarded,
        spare: 0.1,
        average: 1,
        window: 1,
        selects: true,
        history: 2,
        difference: Difference::First,
        miss: 0.25,
        misses: 3,
        nand_pages: false,
    };
    let throttles = [("ready", CountedRecovery::Drive), ("dynamic", CountedRecovery::Rated)];
    for (name, cells) in throttles {
        assert_eq!(of(name, short.clone()).pace, ThrottlePace::Dynamic { cells, rules }, "{name}");
    }
    // Years in milliseconds would be more windows than are worth remembering.
    let long =
        of("ready", serde_json::json!({ "history": "9y", "window": "1ms", "period": "1ms" }));
    let ThrottlePace::Dynamic { rules, .. } = long.pace else { panic!("{long:?}") };
    assert_eq!(rules.history, 1 << 16);
    let fixed = of("static", serde_json::json!({ "target": "100s", "period": "4s" }));
    assert_eq!(fixed.pace, ThrottlePace::Fixed);
    assert!(crate::PolicySet::resolve(&[], None).unwrap().build().throttle.settings().is_none());
}

/// 1000 bytes that take 50 cycles in 100 s: 2000 in each four.
#[test]
fn a_machine_is_what_its_settings_say() {
    let life = Life {
        raw_bytes: 1000,
        page_bytes: 10,
        cycles: 50,
        recovery: Recovery::PRINTED,
        pushes_back: true,
    };
    let settings = |pace| Settings { target: Dur::secs(100), period: Dur::secs(4), pace };
    let mut fixed = settings(ThrottlePace::Fixed).machine(&life);
    let Machine::Fixed(rate) = &fixed else { panic!("{fixed:?}") };
    near(rate.per_period(), 2000.0);
    near(fixed.grant().bytes, 2000.0);
    assert_eq!((fixed.grant().delay, fixed.periods_until_more(-2000.0)), (0.0, 2));
    fixed.demand(0.0, 1e9);
    fixed.spend(9000.0, 1.0);
    near(fixed.grant().bytes, -7000.0);
    // One period pays 2000 of 9000, and each that follows as much.
    fixed.next(4.0);
    near(fixed.grant().bytes, 2000.0 - 7000.0);
    fixed.skip(0, 8.0);
    near(fixed.grant().bytes, 2000.0 - 7000.0);
    fixed.skip(1, 8.0);
    near(fixed.grant().bytes, 2000.0 - 5000.0);
    fixed.skip(2, 16.0);
    near(fixed.grant().bytes, 2000.0 - 1000.0);
    assert!(fixed.regulator().is_none() && fixed.regulator_mut().is_none());

    let rules = Rules { window: 5, ..rules(25) };
    for (cells, all) in [
        (CountedRecovery::Rated, 50.0),
        (
            CountedRecovery::Drive,
            RatedCells::new(50.0, Some(Recovery::PRINTED)).limit(25.0 / 3600.0),
        ),
        (
            CountedRecovery::Given(Recovery::FITTED),
            RatedCells::new(50.0, Some(Recovery::FITTED)).limit(25.0 / 3600.0),
        ),
    ] {
        let mut dynamic = settings(ThrottlePace::Dynamic { cells, rules }).machine(&life);
        near(dynamic.regulator().expect("it is one").epoch().rate, 1000.0 * all / 25.0);
        dynamic.spend(7.0, 1.0);
        dynamic.next(1.0);
        dynamic.skip(4, 5.0);
        let regulator = dynamic.regulator_mut().expect("it is one");
        assert_eq!((regulator.epoch().start, regulator.tally().epochs), (5, 1));
        assert_eq!(regulator.epoch().predicted, Some(7.0));
        assert_eq!(dynamic.periods_until_more(-1e9), 20);
    }
    // The length of epochs is selected from what comes in the first two windows, each five seconds,
    // and so is what is predicted for the next.
    let selects = ThrottlePace::Dynamic {
        cells: CountedRecovery::Rated,
        rules: Rules { selects: true, ..rules },
    };
    for bytes in [0.0, 100.0] {
        let mut dynamic = settings(selects).machine(&life);
        for second in 0..10 {
            dynamic.demand(f64::from(second), bytes);
            dynamic.next(f64::from(second + 1));
        }
        let regulator = dynamic.regulator().expect("it is one");
        assert_eq!((regulator.tally().epochs, regulator.tally().selections), (2, 1));
        assert_eq!(regulator.epoch().predicted, Some(5.0 * bytes));
    }
    let mut free = Machine::Free;
    free.spend(1e9, 1.0);
    free.next(1.0);
    free.skip(3, 4.0);
    assert_eq!((free.grant(), free.periods_until_more(0.0)), (Grant::FREE, 0));
}

#[test]
fn a_fixed_rate_loses_what_is_unused_and_owes_what_is_too_much() {
    let mut m = FixedRate::new(10.0);
    m.next(5);
    near(m.grant().bytes, 10.0);
    m.spend(34.0);
    m.next(0);
    near(m.grant().bytes, -14.0);
    assert_eq!(m.periods_until_more(-14.0), 2);
    assert_eq!(m.periods_until_more(-20.0), 3);
    m.next(0);
    near(m.grant().bytes, -4.0);
    m.next(0);
    near(m.grant().bytes, 6.0);
}

#[test]
fn skipping_periods_is_ending_them_one_by_one() {
    let mut rng = Rng::named(5, "test/skip");
    for _ in 0..50 {
        let rules = Rules { selects: rng.below(2) == 0, window: 7, ..rules(1_000) };
        let cells = RatedCells::new(3000.0, Some(Recovery::FITTED));
        let mut one = Regulator::new(rules, cells, MB, 4096.0);
        let mut two = one.clone();
        let mut at = 0.0;
        while at < 1_100.0 {
            let bytes = rng.unit() * 30.0 * MB;
            for r in [&mut one, &mut two] {
                r.demand(at, bytes);
                r.spend(bytes, bytes / 4096.0);
            }
            let idle = 1 + u64::from(rng.below(40));
            for i in 1..=idle {
                one.next(at + i as f64);
            }
            at += idle as f64;
            two.skip(idle, at);
            assert_eq!(one.epoch(), two.epoch(), "at {at}");
            assert_eq!(one.grant(), two.grant());
        }
    }
}

/// A drive a million million times smaller, with as much less to program, does the same at the same
/// time: what counts is how many times it is written over. By powers of two that is exact.
#[test]
fn a_smaller_drive_with_less_to_do_is_throttled_alike() {
    const SMALL: f64 = 1.0 / (1_u64 << 40) as f64;
    let mut rng = Rng::named(3, "test/scale");
    let mut selections = 0;
    for seed in 0..60_usize {
        let rules = Rules {
            enforcement: [Enforcement::Pessimistic, Enforcement::Optimistic][seed % 2],
            capacity: [Capacity::Paper, Capacity::Guarded, Capacity::Local][seed % 3],
            selects: seed % 4 < 2,
            nand_pages: seed % 5 < 2,
            ..rules(300)
        };
        let cells = RatedCells::new(1.0, Some(Recovery::FITTED));
        let [mut one, mut two] =
            [1.0, SMALL].map(|s| Regulator::new(rules, cells, 256.0 * MB * s, 4096.0 * s));
        for second in 0..300 {
            let wanted = if rng.below(3) == 0 { rng.unit() * 8.0 * MB } else { 0.0 };
            for (r, s) in [(&mut one, 1.0), (&mut two, SMALL)] {
                // Now and then a collection programs what nobody was granted.
                let bytes = if second % 7 == 0 { wanted } else { r.grant().bytes.max(0.0) / s };
                let bytes = bytes.min(wanted) * s;
                r.demand(f64::from(second), wanted * s);
                r.spend(bytes, wanted / 8192.0);
                r.next(f64::from(second + 1));
            }
            let (epoch, small) = (*one.epoch(), *two.epoch());
            let whole = Epoch {
                rate: small.rate / SMALL,
                spare: small.spare / SMALL,
                predicted: small.predicted.map(|bytes| bytes / SMALL),
                used: small.used / SMALL,
                surcharge: small.surcharge / SMALL,
                ..small
            };
            assert_eq!((epoch, one.tally()), (whole, two.tally()), "{rules:?}, {second} s");
            let left = (one.grant().bytes, two.grant().bytes / SMALL);
            assert_eq!(left.0, left.1, "{rules:?}, {second} s");
        }
        selections += one.tally().selections;
    }
    assert!(selections > 0);
}

/// At no time was more programmed than an even spread and a tenth of what that leaves.
#[test]
fn loans_stay_within_the_spare_share_of_an_even_spread() {
    let mut rng = Rng::named(9, "test/loans");
    for seed in 0..200_u64 {
        let rules = Rules { selects: seed % 2 == 0, window: 3, ..rules(600) };
        let cells = RatedCells::new(3000.0, Some(Recovery::PRINTED));
        let mut r = Regulator::new(rules, cells, MB, 4096.0);
        let all = MB * cells.limit(600.0 / 3600.0);
        let mut written = 0.0;
        for second in 0..600 {
            let wanted = if rng.below(3) == 0 { rng.unit() * all } else { 0.0 };
            let bytes = r.grant().bytes.max(0.0).min(wanted);
            written += bytes;
            r.spend(bytes, bytes / 4096.0);
            r.next(f64::from(second + 1));
            let even = all * f64::from(second + 1) / 600.0;
            assert!(written <= even + 0.1 * (all - even) + 1e-6 * all, "{seed}: {second} s");
        }
    }
}

/// Programs of an epoch beyond its grants are missing from the next epochs until they are paid.
/// Nothing of them is spread over the rest of the life.
#[test]
fn an_epoch_pays_what_the_last_one_owes() {
    let rules = Rules { enforcement: Enforcement::Pessimistic, window: 1, ..rules(100) };
    let mut r = regulator(rules, 100.0 * MB);
    r.spend(2.5 * MB, 1.0);
    r.next(1.0);
    near(r.grant().bytes, -0.5 * MB);
    r.next(2.0);
    near(r.grant().bytes, 0.5 * MB);
    r.next(3.0);
    // The half that was not used is spread anew: 97.5 MB over 97 periods.
    near(r.grant().bytes, 97.5 / 97.0 * MB);
}

// ── Idle time ───────────────────────────────────────────────────────────────────────────────────

/// Periods that are passed over at once against the same one by one, to the last digit of the state.
#[test]
fn idle_periods_at_once_are_what_the_single_ones_are() {
    let mut long = 0;
    for seed in 0..300 {
        let mut rng = Rng::named(seed, "test/idle");
        let mut one_of = |n: u32| rng.below(n);
        let rules = Rules {
            enforcement: [Enforcement::Optimistic, Enforcement::Pessimistic][one_of(2) as usize],
            capacity: [Capacity::Guarded, Capacity::Local, Capacity::Paper][one_of(3) as usize],
            average: 1 + one_of(3) as usize,
            window: [1, 4, 7][one_of(3) as usize],
            selects: one_of(3) > 0,
            misses: 1 + one_of(3),
            history: 2 + one_of(20) as usize,
            ..rules(40_000)
        };
        let recovery = [None, Some(Recovery::FITTED)][one_of(2) as usize];
        let mut at_once = Regulator::new(rules, RatedCells::new(1.0, recovery), 400.0 * MB, 4096.0);
        at_once.keep_epochs(one_of(3) as usize * 20);
        let mut singly = at_once.clone();
        // Delays hold the instant without delays back.
        let (mut now, mut held) = (0, 0);
        while now < 45_000 {
            let bytes = f64::from(one_of(5) * one_of(5)) * 4096.0;
            let idle = u64::from([1, 2, 30, 5_000][one_of(4) as usize] + one_of(9));
            for r in [&mut at_once, &mut singly] {
                r.demand((now - held) as f64, bytes);
                r.spend(bytes, bytes / 4096.0);
            }
            held += if one_of(2) > 0 { idle - u64::from(one_of(3)).min(idle) } else { 0 };
            let at = |period: u64| period as f64 - held as f64;
            at_once.skip(idle, at(now + idle));
            (0..idle).for_each(|i| singly.next(at(now + i + 1)));
            now += idle;
            long += u64::from(idle > 1000);
            if now < rules.target {
                assert_eq!(format!("{at_once:?}"), format!("{singly:?}"), "seed {seed}, {now}");
            }
        }
        assert_eq!(at_once.tally(), singly.tally());
    }
    assert!(long > 1000, "{long}");
}

/// Five years in milliseconds are 1.6 * 10^11 epochs: with 2,000 writes among them this ends, also where
/// each write is worth a million epochs.
#[test]
#[ignore = "slow: run by `make verify`"]
fn five_years_of_milliseconds_are_passed_over() {
    const YEARS: u64 = 5 * 365 * 86_400_000;
    for enforcement in [Enforcement::Pessimistic, Enforcement::Optimistic] {
        for (selects, bytes) in [(false, 4e12), (true, 4e12), (true, 5e8)] {
            let rules = Rules { enforcement, selects, period: 1e-3, window: 1, ..rules(YEARS) };
            let mut r = regulator(Rules { history: 65_536, ..rules }, bytes);
            for write in 1..=2_000 {
                r.spend(4096.0, 1.0);
                r.demand((write - 1) as f64 * YEARS as f64 / 2e6, 4096.0);
                r.skip(YEARS / 2_000, write as f64 * YEARS as f64 / 2e6);
            }
            assert_eq!(r.tally().epochs, YEARS);
            assert_eq!(r.grant(), Grant::FREE);
        }
    }
}

/// Delays hold the instant without delays below the end of the first window, or of the second: no
/// length is selected, and the years pass as fast. Once two windows are complete, one is selected.
#[test]
fn years_pass_while_no_window_is_complete() {
    const YEAR: u64 = 365 * 86_400_000;
    for at in [0.5e-3, 1.5e-3] {
        let rules = Rules { selects: true, period: 1e-3, window: 1, ..rules(YEAR) };
        let mut r = regulator(rules, 4e12);
        r.spend(4096.0, 1.0);
        r.demand(0.0, 4096.0);
        r.skip(YEAR / 2, at);
        assert_eq!((r.tally().epochs, r.tally().selections), (YEAR / 2, 0));
        r.skip(10, at + 1e-2);
        assert_eq!(r.tally().selections, 1);
    }
    // Two are complete near the end of years in which delays held the instant back.
    let rules = Rules { selects: true, period: 1e-3, window: 1, ..rules(YEAR) };
    let mut r = regulator(rules, 4e12);
    r.spend(4096.0, 1.0);
    r.demand(0.0, 4096.0);
    r.skip(YEAR / 2, 2.5e-3);
    assert_eq!((r.tally().epochs, r.tally().selections), (YEAR / 2, 1));
}

/// A debt of a million epochs is paid in the same time, whether or not they are counted one by one.
#[test]
fn a_long_debt_is_paid_when_it_would_be() {
    for enforcement in [Enforcement::Pessimistic, Enforcement::Optimistic] {
        for recovery in [None, Some(Recovery::FITTED)] {
            let rules = Rules { enforcement, window: 1, ..rules(4_000_000) };
            let mut at_once = Regulator::new(rules, RatedCells::new(1.0, recovery), 4e12, 4096.0);
            at_once.skip(1_200_000, 1_200_000.0);
            let debt = at_once.epoch().capacity() * 1e6;
            at_once.spend(debt, debt / 4096.0);
            let mut singly = at_once.clone();
            let mut now = 1_200_000;
            let mut paid = false;
            while now < 3_900_000 {
                at_once.skip(100_000, (now + 100_000) as f64);
                (0..100_000).for_each(|i| singly.next((now + i + 1) as f64));
                now += 100_000;
                let (a, b) = (at_once.grant().bytes, singly.grant().bytes);
                let within = |a: f64, b: f64, of: f64| {
                    assert!((a - b).abs() <= 1e-3 * of, "{enforcement:?}, {now}: {a}, not {b}");
                };
                within(a, b, debt);
                within(at_once.epoch().rate, singly.epoch().rate, singly.epoch().rate);
                paid |= b > 0.0;
                assert!(now > 2_000_000 || !paid || enforcement == Enforcement::Optimistic);
            }
            assert!(paid);
            assert_eq!(at_once.tally().epochs, singly.tally().epochs);
        }
    }
}

/// Longer steps spread the same capacity over the same time.
#[test]
fn longer_steps_are_of_the_same_life() {
    let page = Life {
        raw_bytes: 1 << 30,
        page_bytes: 4096,
        cycles: 3000,
        recovery: Recovery::FITTED,
        pushes_back: true,
    };
    let year = Dur::secs(365 * 86_400);
    let rules = Rules { window: 1, history: 65_536, ..rules(year.as_ns() / 1_000_000) };
    let rules = Rules { period: 1e-3, enforcement: Enforcement::Pessimistic, ..rules };
    let pace = ThrottlePace::Dynamic { cells: CountedRecovery::Drive, rules };
    for pace in [pace, ThrottlePace::Fixed] {
        let fine = Settings { target: year, period: Dur::ms(1), pace };
        assert_eq!(fine.within(u64::MAX, u64::MAX), fine);
        let coarse = fine.within(1_000_000, 20_000);
        assert_eq!(coarse.period, Dur::ms(31_536));
        if let ThrottlePace::Dynamic { rules, .. } = coarse.pace {
            assert_eq!((rules.target, rules.window, rules.history), (1_000_000, 50, 2));
            near(rules.period, 31.536);
        }
        let bytes = |s: &Settings| s.machine(&page).grant().bytes / s.period.as_secs_f64();
        near(bytes(&coarse), bytes(&fine));
    }
}

/// A write that arrives after the target is not held back, and none is held back beyond it, for
/// any demand.
#[test]
fn nothing_is_throttled_after_the_target() {
    let life = Life {
        raw_bytes: 64 << 12,
        page_bytes: 4096,
        cycles: 3,
        recovery: Recovery::FITTED,
        pushes_back: true,
    };
    let target = Dur::secs(400);
    let last = Time::ZERO + target;
    for pushes_back in [true, false] {
        let rated = CountedRecovery::Rated;
        for pace in [ThrottlePace::Fixed, ThrottlePace::Dynamic { cells: rated, rules: rules(400) }]
        {
            let mut gate = Gate::new(Settings { target, period: Dur::secs(1), pace });
            gate.learn_life(&Life { pushes_back, ..life });
            // Ten times what the drive endures.
            let (mut held, mut latest) = (0, Time::ZERO);
            let mut outside = std::collections::VecDeque::new();
            for n in 0..1_920_u64 {
                let now = Time::ZERO + Dur::ms(100 * n);
                while let Some(at) = outside.pop_front_if(|at| *at <= now) {
                    let host = Tag::of(Source::Host);
                    gate.on_program(
                        Lpn::from_u32(0),
                        Ppn::from_u32(0),
                        Level::MediumCost,
                        host,
                        at,
                    );
                }
                let entry = gate.admit(now, 4096);
                outside.push_back(entry);
                assert!(entry >= now && entry <= last, "{n}: {entry:?}");
                held += u64::from(entry > now);
                latest = latest.max(entry);
            }
            assert!(held > 1_000 && latest == last, "{held} were held back, until {latest:?}");
            for n in 0..100 {
                let now = last + Dur::ms(n);
                assert_eq!(gate.admit(now, 4096), now);
            }
        }
    }
}

//! Urgent writes, pages passed over, blocks written twice: their effects in a run.

use crate::common::{
    self, class_of, close, count, drive, forget_idle, generate, number, serve, urgent,
    without_timing, write,
};
use nand::physics::program_time_factor;
use serde_json::Value;

const LATER: u64 = 100_000_000;

/// Two bits in a cell, pages by turns quick and slow to program.
const FAST_AND_SLOW: [&str; 5] = [
    "geometry.bits-per-cell=2",
    "geometry.pages-per-block=8",
    "pages.order=shadow",
    "timing.program=[\"300us\", \"1400us\"]",
    "policy page-choice=mango",
];

fn counter(value: &Value, name: &str) -> u64 {
    number(&value["policies"]["page-choice"]["counters"][name]) as u64
}

#[test]
fn urgent_writes_take_fast_pages_only_and_are_counted_apart() {
    let script = |urgent_ones: bool| -> Vec<_> {
        let one = |i: u64| write(i * LATER, i);
        (0..6).map(|i| if urgent_ones { urgent(one(i)) } else { one(i) }).collect()
    };
    // Pages 0, 1, 3, 5 are fast, 2, 4, 6, 7 slow; the drive has one plane.
    let one_plane = ["geometry.channels=1", "geometry.planes-per-die=1", "ftl.spare-factor=0.5"];
    let settings = [&FAST_AND_SLOW[..], &one_plane].concat();
    let calm = serve(&drive(&settings), script(false));
    let hasty = serve(&drive(&settings), script(true));
    assert!(calm["host"]["high"].is_null());
    let latency = |value: &Value| class_of(value, "write").parts();
    // 300, 300, 1400, 300, 1400, 300 us against four fast pages of a block and two of the next.
    close("in order", latency(&calm) / 1e3, 4_000.0 / 6.0, 1e-9);
    close("urgent", latency(&hasty) / 1e3, 300.0, 1e-9);
    let high = &hasty["host"]["high"];
    assert_eq!((count(&high["write"]["requests"]), count(&high["read"]["requests"])), (6, 0));
    assert_eq!(count(&high["all"]["latency_ns"]["max"]), 300_000);
    assert_eq!((counter(&hasty, "host_high_fast"), counter(&hasty, "host_high_slow")), (6, 0));
    // Pages 2 and 4 on the way, 6 and 7 at the end of the block.
    assert_eq!((counter(&hasty, "slow_skipped"), count(&hasty["flash"]["skipped_pages"])), (4, 4));
    assert_eq!((counter(&calm, "host_low_fast"), counter(&calm, "host_low_slow")), (4, 2));
}

/// Of 64 spare pages four may be passed over, then three. Of four a block takes pages 2, 4, 6 and 7; of three the
/// last two do not fit any more together, so page 6 is written, and 7 is the third.
#[test]
fn what_is_passed_over_fills_its_bound_and_no_more() {
    let own = ["geometry.channels=1", "geometry.planes-per-die=1", "ftl.spare-factor=0.5"];
    for (most, fast) in [(4, 6), (3, 5)] {
        let policy = format!("policy page-choice=mango:bound={}", most as f64 / 64.0);
        let settings = [&FAST_AND_SLOW[..4], &own, &[&policy]].concat();
        let value = serve(&drive(&settings), (0..6).map(|i| urgent(write(i * LATER, i))).collect());
        let host = ["host_high_fast", "host_high_slow"].map(|name| counter(&value, name));
        assert_eq!(host, [fast, 6 - fast], "{most}");
        let passed = ["most_standing", "slow_skipped"].map(|name| counter(&value, name));
        assert_eq!(passed, [most; 2]);
    }
}

/// The times of pages decide which are fast, not their numbers.
#[test]
fn urgent_writes_find_the_fast_pages_wherever_they_are() {
    let settings = [
        "geometry.bits-per-cell=2",
        "geometry.pages-per-block=8",
        "geometry.blocks-per-plane=32",
        "pages.order=shadow",
        "timing.program=[\"1400us\", \"300us\"]",
        "policy page-choice=mango",
    ];
    // Pages 2, 4, 6, 7 of each block are fast.
    let script = (0..6).map(|i| urgent(write(i * LATER, i))).collect();
    let value = serve(&drive(&settings), script);
    assert_eq!((counter(&value, "host_high_fast"), counter(&value, "host_high_slow")), (6, 0));
    // Pages 0, 1, 3, 5 of one block, 0, 1, 3 of the next.
    assert_eq!((counter(&value, "slow_skipped"), count(&value["flash"]["skipped_pages"])), (7, 7));
    assert_eq!(count(&value["host"]["high"]["all"]["latency_ns"]["max"]), 300_000);
}

/// A bound of nothing is the order of pages, to the last byte of the result.
#[test]
fn without_room_to_pass_over_mango_is_in_order() {
    let settings = |policy: &str| {
        let own = ["precondition.fill=full", "workload.requests=4000", policy];
        let mut all: Vec<String> = FAST_AND_SLOW[..4].iter().map(ToString::to_string).collect();
        all.extend(own.map(str::to_owned));
        all
    };
    let of = |policy: &str| {
        let mut value = generate(&drive(&settings(policy)), "random-write");
        assert!(count(&value["flash"]["erase"]["total"]) > 100, "it collected garbage");
        forget_idle(&mut value);
        let all = value.as_object_mut().unwrap();
        all.remove("provenance");
        all["policies"].as_object_mut().unwrap().remove("page-choice");
        without_timing(&value)
    };
    assert_eq!(of("policy page-choice=mango:bound=0"), of("policy page-choice=in-order"));
}

#[test]
fn worn_blocks_program_as_much_quicker_as_the_curve_says() {
    for bits in [1, 2] {
        let cells = format!("geometry.bits-per-cell={bits}");
        let settings = [
            cells.as_str(),
            "timing.program=1ms",
            "reliability.endurance=10000",
            "reliability.initial-cycles=5000",
        ];
        let fresh = serve(&drive(&settings), vec![write(0, 1)]);
        close("fresh", number(&fresh["host"]["write"]["latency_ns"]["mean"]), 1e6, 1e-9);
        let by_wear = [&settings[..], &["reliability.program-speed=wear"]].concat();
        let worn = serve(&drive(&by_wear), vec![write(0, 1)]);
        let expected = 1e6 * program_time_factor(bits, 0.5);
        assert!(expected < 0.95e6);
        close("worn", number(&worn["host"]["write"]["latency_ns"]["mean"]), expected, 1e-6);
    }
}

/// Six slots of a first generation on nine pages of one bit, six of a second over them, and reads of
/// cells before they are programmed again.
#[test]
fn a_second_generation_reads_before_it_programs() {
    let settings = [
        "geometry.channels=1",
        "geometry.planes-per-die=1",
        "geometry.bits-per-cell=1",
        "geometry.pages-per-block=9",
        "geometry.blocks-per-plane=24",
        "ftl.spare-factor=0.75",
        "timing.read=50us",
        "timing.program=200us",
        "energy.read=4uJ",
        "energy.program=53uJ",
        "energy.erase=825uJ",
        "policy coding=wom",
    ];
    // The same few pages again and again: blocks are empty when they are reclaimed.
    let script: Vec<_> = (0..2_000).map(|i| write(i * LATER, i % 4)).collect();
    let value = serve(&drive(&settings), script);
    let second = number(&value["policies"]["coding"]["counters"]["second_generations"]);
    let erases = number(&value["flash"]["erase"]["total"]);
    assert!(second > 50.0 && (second - erases).abs() <= 24.0, "{second} {erases}");
    // Of three pages the first slot programs one and the second two: in turns 200 and 400 us, and
    // with the reads of a second generation 250 and 500 us.
    let slowest = count(&value["host"]["write"]["latency_ns"]["max"]);
    let quickest = count(&value["host"]["write"]["latency_ns"]["min"]);
    assert_eq!(quickest, 200_000);
    assert!(slowest >= 500_000);
    let mean = number(&value["host"]["write"]["delay_ns_by_cause"]["array"]);
    // 300 us in the mean of a first generation, 375 us in that of a second.
    close("mean program", mean, 337_500.0, 0.03);
    // Each is a read of the one level that there is, and takes its energy.
    let reads = number(&value["flash"]["by_level"]["read"]["medium"]);
    assert!(reads > 400.0, "{reads}");
    close("energy of reads", number(&value["energy_joules"]["read"]), reads * 4e-6, 1e-9);
}

#[test]
fn a_drive_that_the_code_does_not_fit_is_refused() {
    let tight = ["geometry.bits-per-cell=1", "ftl.spare-factor=0.2", "policy coding=wom"];
    let fault = common::try_drive(common::BASE, &tight).unwrap_err();
    assert!(fault.contains("coding=wom"), "{fault}");
    let both = ["policy coding=wom", "policy page-choice=mango", "ftl.spare-factor=0.6"];
    let fault = common::try_drive(common::BASE, &both).unwrap_err();
    assert!(fault.contains("does not work together"), "{fault}");
    let small = ["geometry.pages-per-block=2", "geometry.bits-per-cell=1", "policy coding=wom"];
    let fault = common::try_drive(common::BASE, &small).unwrap_err();
    assert!(fault.contains("three pages"), "{fault}");
}

/// On cells of one bit urgent writes have blocks of their own, and overtake others if the order
/// allows it. One waits for the program that has begun, and takes its 600 us.
#[test]
fn an_urgent_write_overtakes_on_cells_of_one_bit() {
    for (order, microseconds) in [("priority", 1_200), ("fifo", 7 * 600)] {
        let order = format!("policy order={order}");
        let settings = ["policy page-choice=mango", &order];
        let mut script: Vec<_> = (0..6).map(|i| write(0, i)).collect();
        script.push(urgent(write(0, 6)));
        let value = serve(&drive(&settings), script);
        let max = count(&value["host"]["high"]["all"]["latency_ns"]["max"]);
        assert_eq!(max, microseconds * 1_000, "{order}");
    }
}

/// Grupp 4.1: below the first mark one block in the foreground, the others when the die is idle. A
/// host that never lets it be waits for one erase with each block that it opens. With `all` it
/// waits for six on end, five between the marks and one for the block that it opens meanwhile,
/// and for none while it opens the next four.
#[test]
fn a_busy_host_waits_for_one_block_at_a_time() {
    const BLOCK: u64 = 8;
    const ERASE: f64 = 3e6;
    // Time that requests waited for garbage collection, in erases.
    let waited = |foreground: &str, opened: u64| {
        let foreground = format!("ftl.gc.foreground={foreground}");
        let settings = [
            "geometry.blocks-per-plane=40",
            "ftl.spare-factor=0.4",
            "ftl.gc.start=4",
            "ftl.gc.stop=8",
            "precondition.fill=full",
            "host.mode=queue-depth",
            "host.queue-depth=2",
            &foreground,
        ];
        let drive = drive(&settings);
        // In order, round and round: victims hold nothing, so an erase is a block won.
        let pages = u64::from(drive.logical_pages);
        let writes = (0..opened * BLOCK).map(|i| write(0, i % pages));
        let value = serve(&drive, writes.collect());
        assert_eq!((pages, count(&value["flash"]["program"]["gc"])), (24 * BLOCK, 0));
        let all = &value["host"]["all"];
        let mean = number(&all["delay_ns_by_cause"]["queue"]["gc"]);
        (mean * number(&all["requests"]) / ERASE).round() as u64
    };
    // Of 40 blocks 24 are full: the 13th that is opened leaves three. Two requests wait for each
    // erase.
    for n in 0..16 {
        assert_eq!(waited("one", 12 + n), 2 * n, "{n}");
    }
    let all: Vec<u64> = (0..16).map(|n| waited("all", 12 + n)).collect();
    for n in 0..16 {
        let (rounds, at) = (n as u64 / 6, n % 6);
        let expected = 12 * rounds + if at < 2 { all[at] } else { 12 };
        assert_eq!(all[n], expected, "{all:?}");
    }
}

//! Right number? Read refresh in simulated time: how long it takes, the operations that wait for
//! it, and its erases. Expectations are computed from the times of the drive.

use crate::common::{self, class_of, count, drive_of, flush, generate, number, serve, try_drive};
use floatgate_ssd::Drive;
use serde_json::Value;
use workload::{Op, Request};

const PAGE: u64 = 32 * 1024;
const READ: u64 = 100_000;
const PROGRAM: u64 = 1_600_000;
const ERASE: u64 = 5_000_000;

/// One die of IPR Table I, its times, 192 pages in a block.
const TABLE_1: &str = r#"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 40
pages-per-block = 192
page-size = "32KiB"
bits-per-cell = 3
[timing]
bus = "included"
erase = "5ms"
read = "100us"
program = "1600us"
[reliability]
endurance = 1000000000
[ftl]
spare-factor = 0.4
[ftl.gc]
start = 2
stop = 2
[precondition]
fill = "full"
"#;

/// The page is read.
fn read(ns: u64, page: u64) -> Request {
    common::bytes(ns, Op::Read, page * PAGE, PAGE)
}

fn counter(value: &Value, name: &str) -> f64 {
    number(&value["policies"]["read-disturb"]["counters"][name])
}

/// Reads of page 0, far apart; `limit` of them bring its block to its limit.
fn reads(n: u64) -> Vec<Request> {
    (0..n).map(|i| read(i * 10_000_000_000, 0)).collect()
}

#[test]
fn a_refresh_moves_a_whole_block_and_reads_wait_for_it() {
    let drive = drive_of(TABLE_1, &["policy read-disturb=refresh:limit=3"]);
    // The third read starts the refresh. The fourth comes in the middle of it, for the last page.
    let mut script = reads(3);
    let third = 20_000_000_000;
    script.push(read(third + 50_000_000, 191));
    let value = serve(&drive, script);
    // The third read is on the die when the refresh begins to wait for it.
    let end = READ + 192 * (READ + PROGRAM) + ERASE;
    assert_eq!(192 * (READ + PROGRAM), 326_400_000);
    assert_eq!(counter(&value, "refresh_ns_max") as u64, end);
    let r = class_of(&value, "read");
    assert_eq!(r.max, end - 50_000_000 + READ, "the fourth waits until the refresh is over");
    let behind_refresh = (r.queue[3] * r.requests as f64).round() as u64;
    assert_eq!(behind_refresh, end - 50_000_000);
    assert_eq!(count(&value["flash"]["program"]["refresh"]), 192);
    assert_eq!(count(&value["flash"]["erase"]["refresh"]), 1);
    assert_eq!(counter(&value, "erases_for_refresh") as u64, 1);
    assert_eq!(counter(&value, "waiting_reads") as u64, 1);
}

#[test]
fn others_go_first_when_a_refresh_is_preemptible() {
    let settings = |preemptible: &str| {
        drive_of(
            TABLE_1,
            &[format!("policy read-disturb=refresh:limit=3:preemptible={preemptible}")],
        )
    };
    let mut script = reads(3);
    // Other blocks are not concerned, but for their die.
    script.extend((1..=20).map(|i| read(20_000_000_000 + i * 10_000_000, 192 * (1 + i % 10))));
    script.push(flush(30_000_000_000));
    let (kept, shared) = (serve(&settings("no"), script.clone()), serve(&settings("yes"), script));
    let longest = |v: &Value| class_of(v, "read").max;
    let end = READ + 192 * (READ + PROGRAM) + ERASE;
    // The first of the twenty comes after 10 ms, and nothing goes before the erase's end.
    assert_eq!(longest(&kept), end - 10_000_000 + READ);
    // At worst it waits for one operation.
    assert!(longest(&shared) <= PROGRAM + READ, "{}", longest(&shared));
    let took = |v: &Value| counter(v, "refresh_ns_max") as u64;
    assert_eq!(took(&shared), took(&kept) + 20 * READ, "the twenty reads go in between");
}

/// Thirty pages of a block are read until they are found read-hot and have reached the limit of
/// their new place. Returns how long the next read waits for the refresh, in ns after the one
/// before it.
fn wait_for_hot_pages(policy: &str) -> (u64, Value) {
    const LIMIT: u64 = 60;
    let drive = drive_of(
        TABLE_1,
        &[&format!("policy read-disturb={policy}:limit={LIMIT}")[..], "ftl.spare-factor=0.6"],
    );
    let mut script = Vec::new();
    let mut at = 0;
    // The first refresh has no interval, and the second none to compare with. The third comes
    // sooner, so the fourth finds the pages read more than the average one.
    for gap in [2_000_000_000, 2_000_000_000, 1_000_000_000, 1_000_000_000, 1_000_000_000] {
        for i in 0..LIMIT {
            at += gap;
            script.push(read(at, i % 30));
        }
    }
    // A page that stays where it is when its block is reprogrammed.
    script.push(read(at + 1_000_000, 28));
    let value = serve(&drive, script);
    let moved = count(&value["flash"]["program"]["refresh"]);
    assert!(moved > 4 * 192, "{policy} moved {moved} pages");
    assert_eq!(counter(&value, "waiting_reads") as u64, 1, "{policy}");
    let read = class_of(&value, "read");
    let waited = (read.queue[3] * read.requests as f64).round() as u64;
    assert_eq!(read.max, waited + READ, "{policy}: the last read waits, and no other");
    (waited + 1_000_000 - READ, value)
}

#[test]
fn refreshes_of_read_hot_pages_take_what_their_pages_take() {
    // RedFTL: thirty pages move, and the block is erased.
    let (wait, value) = wait_for_hot_pages("redftl");
    assert_eq!(wait, 30 * (READ + PROGRAM) + ERASE);
    assert_eq!(30 * (READ + PROGRAM), 51_000_000);
    assert_eq!(counter(&value, "hot_pages_admitted") as u64, 30);
    // Read Leveling: they move within the block.
    let (wait, value) = wait_for_hot_pages("read-leveling:pages=30");
    assert_eq!(wait, 30 * (READ + PROGRAM));
    assert_eq!(counter(&value, "shadow_reuses") as u64, 1);
    // IPR: of each of ten wordlines three pages are read, one copied and one reprogrammed.
    let (wait, value) = wait_for_hot_pages("ipr:pool=100");
    let wordline = 3 * READ + 2 * PROGRAM;
    assert_eq!(wait, 10 * wordline);
    assert_eq!(64 * wordline, 224_000_000, "a whole block");
    assert_eq!(count(&value["flash"]["reprogram"]["refresh"]), 10);
    assert_eq!(value["capacity"]["low_density_blocks"], 1);
    // The first of five limits has no interval, and a reprogram is not a refresh.
    assert_eq!(counter(&value, "intervals") as u64, 3);
    // Outside the pool it is a migration, and one.
    let (wait, value) = wait_for_hot_pages("ipr:pool=0");
    assert_eq!(wait, 30 * (READ + PROGRAM) + ERASE);
    assert_eq!(counter(&value, "skipped_outside_pool") as u64, 1);
    assert_eq!(counter(&value, "intervals") as u64, 4);
}

#[test]
fn guard_levels_need_three_bits() {
    for (policy, bits) in [("ipr", 2), ("hot-low-density", 4)] {
        let settings =
            [format!("geometry.bits-per-cell={bits}"), format!("policy read-disturb={policy}")];
        let error = try_drive(TABLE_1, &settings).unwrap_err();
        assert!(error.contains("three bits per cell"), "{error}");
    }
}

#[test]
fn the_spare_of_a_scheme_is_asked_for() {
    let error = try_drive(TABLE_1, &["policy read-disturb=redftl", "ftl.spare-factor=0.2"]);
    let error = error.unwrap_err();
    // Six shadow blocks of 30 pages lack 972 slots; with two open blocks that is 8 blocks, with
    // those of garbage collection 12.
    assert!(error.contains("GC and `read-disturb=redftl` need 12 free blocks"), "{error}");
    assert!(try_drive(TABLE_1, &["policy read-disturb=refresh", "ftl.spare-factor=0.2"]).is_ok());
}

/// Every erase is for a refresh or for something else; `flash` says the same.
#[test]
fn erases_are_for_refresh_or_not() {
    for policy in ["refresh", "redftl", "read-leveling", "hot-low-density", "ipr"] {
        let drive = drive_of(
            TABLE_1,
            &[
                &format!("policy read-disturb={policy}:limit=500")[..],
                "policy victim=stable-greedy",
                "policy wear=static",
                "policy cost=agcr",
                "workload.requests=120000",
                "workload.read-share=0.8",
                "workload.size=32KiB",
                "host.mode=queue-depth",
            ],
        );
        let value = generate(&drive, "zipf");
        let flash = &value["flash"];
        let refresh =
            count(&flash["erase"]["refresh"]) + count(&flash["gc_erase_by_demand"]["refresh"]);
        let other = count(&flash["gc_erase_by_demand"]["total"])
            - count(&flash["gc_erase_by_demand"]["refresh"])
            + count(&flash["erase"]["wear"]);
        assert_eq!(refresh + other, count(&flash["erase"]["total"]), "{policy}");
        assert_eq!(counter(&value, "erases_for_refresh") as u64, refresh, "{policy}");
        assert_eq!(counter(&value, "other_erases") as u64, other, "{policy}");
        assert!(refresh > 20 && other > 20, "{policy}: {refresh} and {other}");
        assert!(counter(&value, "waiting_reads") > 0.0, "{policy}");
    }
}

/// A refresh of a full block takes a block and gives one back, so it needs no space, even if it
/// comes when the drive is just short of it. All erases of garbage collection are for the writes of
/// the host.
#[test]
fn space_is_collected_for_whoever_keeps_it() {
    let drive = drive_of(
        TABLE_1,
        &["policy read-disturb=refresh:limit=20", "policy victim=greedy", "ftl.spare-factor=0.2"],
    );
    // 32 blocks of data. Twenty reads of the first block, then a write that dies at once, and again.
    let writes = 192 * 60;
    let mut script = Vec::new();
    for i in 0..writes {
        let at = i * 1_000_000_000;
        script.push(common::bytes(at, Op::Write, (31 * 192 + i % 192) * PAGE, PAGE));
        script.push(read(at + 10_000_000, i % 192));
    }
    script.push(flush(writes * 1_000_000_000));
    let value = serve(&drive, script);
    let flash = &value["flash"];
    let (refreshes, needed) =
        (count(&flash["erase"]["refresh"]), count(&flash["gc_erase_by_demand"]["refresh"]));
    assert_eq!(refreshes, writes / 20, "every twenty reads of the one block that is read");
    assert_eq!(count(&flash["program"]["refresh"]), refreshes * 192);
    // The host fills sixty blocks; those that were free at first need no collection, but for the
    // drive's reserve. A refresh may have a block open that it has not given back.
    assert_eq!(count(&flash["program"]["gc"]), 0, "blocks of the host die whole");
    let host = count(&flash["gc_erase_by_demand"]["host"]);
    assert!((50..=60).contains(&host), "{host}");
    assert!(needed <= 2, "{needed} of {refreshes} refreshes took space that they did not return");
    assert_eq!(counter(&value, "erases_for_refresh") as u64, refreshes + needed);
}

/// The level of a page follows from what the host did to it: its first write is medium, its next low.
const BY_HISTORY: &str = "agcr:initial-level=medium:first-write=medium:rewrite-from=none";

/// Table I's drive with three levels, in the ratios of AGCR's.
fn with_levels(cost: &str, read_disturb: &str) -> Drive {
    drive_of(
        TABLE_1,
        &[
            "timing.levels={ high = { program = \"2133us\", read = \"60us\" }, medium = { program = \
             \"1600us\", read = \"100us\" }, low = { program = \"1200us\", read = \"200us\" } }",
            &format!("policy cost={cost}"),
            &format!("policy read-disturb=refresh:limit=100{read_disturb}"),
        ],
    )
}

/// The page is written.
fn write(ns: u64, page: u64) -> Request {
    common::bytes(ns, Op::Write, page * PAGE, PAGE)
}

/// Finished refreshes after requests far apart in this order, and a last one to another block.
fn refreshes(drive: &Drive, each: impl IntoIterator<Item = (Of, u64)>) -> u64 {
    let each = each.into_iter().chain([(READS, 4_000)]);
    let script = (0..).zip(each).map(|(i, (of, page))| of(i * 10_000_000_000, page));
    let value = serve(drive, script.collect());
    assert_eq!(value["checks"]["passed"], true);
    counter(&value, "refreshes") as u64
}

/// A request for a page, at a time in ns.
type Of = fn(u64, u64) -> Request;

const READS: Of = read;
const WRITES: Of = write;

#[test]
fn a_block_with_one_coarse_page_endures_its_share_of_reads() {
    // Page 0 is written twice, which makes its copy coarse, and 190 other pages once. They fill a
    // block. Other blocks hold data from before the run.
    let after = |drive: &Drive, reads: usize, page: u64| {
        let block = [0, 0].into_iter().chain(1..191).map(|page| (WRITES, page));
        refreshes(drive, block.chain(vec![(READS, page); reads]))
    };
    let shares = ":fine-more=35:coarse-less=78";
    let drive = with_levels(BY_HISTORY, shares);
    assert_eq!([21, 22].map(|n| after(&drive, n, 5)), [0, 1], "22 % of the limit");
    assert_eq!([99, 100].map(|n| after(&drive, n, 1_000)), [0, 1], "a medium block");
    // Without shares the coarse page makes no difference.
    let plain = with_levels(BY_HISTORY, "");
    assert_eq!([99, 100].map(|n| after(&plain, n, 5)), [0, 1]);
    // One level for all.
    for (level, limit) in [("high", 135), ("medium", 100), ("low", 22)] {
        let drive = with_levels(&format!("fixed:level={level}"), shares);
        for page in [5, 1_000] {
            assert_eq!([limit - 1, limit].map(|n| after(&drive, n, page)), [0, 1], "{level}");
        }
    }
}

/// A block that has had more reads than it endures with a coarse page is refreshed when that page
/// is programmed. No other read of it is needed.
#[test]
fn a_coarse_write_into_a_block_that_was_read_begins_its_refresh() {
    let after = |read_disturb: &str, reads: usize| {
        let before = [(WRITES, 1), (WRITES, 0)].into_iter().chain(vec![(READS, 1); reads]);
        refreshes(&with_levels(BY_HISTORY, read_disturb), before.chain([(WRITES, 0)]))
    };
    assert_eq!([21, 22, 50].map(|n| after(":coarse-less=78", n)), [0, 1, 1]);
    assert_eq!(after("", 50), 0);
}

/// A drive whose levels are alike has blocks of one kind, whatever level its policy chooses.
#[test]
fn shares_of_levels_are_for_drives_with_levels() {
    let of = |read_disturb: &str| {
        let policy = format!("policy read-disturb=refresh:limit=100{read_disturb}");
        let drive = drive_of(TABLE_1, &[&policy[..], "policy cost=fixed:level=low"]);
        let value = serve(&drive, reads(3));
        let idle = value["warnings"].to_string().contains("`fine-more` and `coarse-less`");
        (idle, [22, 99, 100].map(|n| refreshes(&drive, vec![(READS, 5); n])))
    };
    assert_eq!(of(":coarse-less=78"), (true, [0, 0, 1]));
    assert_eq!(of(""), (false, [0, 0, 1]));
}

//! What a die does first, and what may interrupt it: each mechanism against its law.

mod common;

use common::{Class, class_of, drive, read, serve, write};
use serde_json::Value;
use workload::Request;

/// Times of the array on the drive of the tests, in ns.
const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;

fn both(value: &Value) -> (Class, Class) {
    (class_of(value, "read"), class_of(value, "write"))
}

// ── Reads first, within a bound ─────────────────────────────────────────────────────────────────

/// Between two reads of the flood, in ns: more than the die can serve.
const GAP: u64 = 40_000;
const FLOOD: u64 = 10_000;

/// Reads without a pause, and now and then a write of another page, at no time at which a read comes.
fn flood() -> Vec<Request> {
    let mut all: Vec<Request> = (0..FLOOD).map(|i| read(i * GAP, i % 32)).collect();
    all.extend((0..20).map(|i| write(1_010_000 + i * 17_000_000, 32 + i)));
    all.sort_by_key(|r| r.at);
    all
}

fn under_flood(order: &str) -> (Class, Class) {
    let order = format!("policy order={order}");
    both(&serve(&drive(&[order.as_str(), "precondition.fill=full"]), flood()))
}

#[test]
fn writes_starve_under_a_flood_of_reads_unless_there_is_a_bound() {
    // All reads go first, so the flood is over when a write begins.
    let (_, starved) = under_flood("read-first");
    let last = 1_010_000 + 19 * 17_000_000;
    assert!(starved.min >= FLOOD * READ - last, "{starved:?}");
    assert!(starved.max >= FLOOD * READ - 1_010_000, "{starved:?}");
    // A write waits for the read that runs when its time is up, and then goes.
    for wait in [0, 1_000_000, 5_000_000] {
        let (reads, writes) =
            under_flood(&format!("bounded-read-first:reads=1000000:wait={wait}ns"));
        assert!((wait..wait + READ).contains(&(writes.min - PROGRAM)), "{wait}: {writes:?}");
        assert!((wait..wait + READ).contains(&(writes.max - PROGRAM)), "{wait}: {writes:?}");
        assert_eq!(writes.queue[1..], [0.0; 5], "all of it behind the host");
        assert!(reads.max < starved.max, "reads wait for 20 programs more, and writes for none");
    }
    // So many reads, after the one that runs when it comes.
    for reads in [1, 20, 300] {
        let (_, writes) = under_flood(&format!("bounded-read-first:reads={reads}:wait=1h"));
        assert!((reads * READ..(reads + 1) * READ).contains(&(writes.min - PROGRAM)));
        assert!((reads * READ..(reads + 1) * READ).contains(&(writes.max - PROGRAM)));
    }
}

/// Garbage collection is late as writes are. A write that waits for a block has waited when it comes to
/// its die, so nothing goes before it there but what is late too.
#[test]
fn writes_that_wait_for_a_block_wait_for_its_collection_within_the_bound() {
    let longest = |order: &str| {
        let mut all: Vec<Request> = (0..40_000).map(|i| read(i * GAP, i % 32)).collect();
        all.extend((0..150).map(|i| write(1_010_000 + i * 10_000_000, 32 + i % 32)));
        all.sort_by_key(|r| r.at);
        let value = serve(&drive(&[order, "precondition.fill=full"]), all);
        assert!(value["flash"]["erase"]["gc"].as_u64().unwrap() > 5);
        assert_eq!(value["flash"]["program"]["gc"], 0, "blocks are empty when they are collected");
        both(&value).1.max
    };
    assert!(longest("policy order=read-first") > 400_000_000);
    // Until its time is up an erase waits, with a read on the die then; and then the write goes.
    let wait = 1_000_000;
    let most = wait + READ + ERASE + PROGRAM;
    let bounded = longest("policy order=bounded-read-first:reads=1000000:wait=1ms");
    assert!(bounded <= most, "{bounded} instead of {most}");
}

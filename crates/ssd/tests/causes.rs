//! Do waits and erases have the right cause? Waits by the source that they are booked to, and
//! erases by the demand that forced them, each made by hand.

use crate::common::{Class, PAGE, bytes, class_of, count, drive, read, serve, write};
use floatgate_ssd::{Drive, NoCache, run};
use kernel::Rng;
use serde_json::{Value, json};
use workload::{List, Op, Request};

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;
const SECOND: u64 = 1_000_000_000;

/// Long enough for anything to have ended.
const LATER: u64 = SECOND;

/// Eight blocks of four pages on one die, and data of twelve pages. The seventh block that is opened
/// leaves one free, and sets off garbage collection.
fn eight_blocks(own: &[&str]) -> Drive {
    let base = [
        "geometry.blocks-per-plane=8",
        "geometry.pages-per-block=4",
        "ftl.logical-capacity=48KiB",
        "precondition.fill=none",
    ];
    drive(&[&base, own].concat())
}

/// One page after the other, far apart.
fn writes(pages: impl IntoIterator<Item = u64>) -> Vec<Request> {
    (0..).zip(pages).map(|(i, page)| write(i * LATER, page)).collect()
}

// ── Waits ───────────────────────────────────────────────────────────────────────────────────────

/// Writes at once where only four have a place: the fifth to the eighth wait until an erase has
/// made a free block, the ninth for the next erase. All of that is behind garbage collection, for
/// any other work of the die meanwhile.
#[test]
fn the_wait_for_a_free_block_is_behind_garbage_collection() {
    // The first runs, then the erase, which came before the others; no page moves.
    let freed = PROGRAM + ERASE;
    let begins = |k: u64| freed + (k - 2) * PROGRAM;
    // The eight go before the second erase.
    let freed_again = begins(9) + ERASE;
    for n in [4, 5, 7, 8, 9] {
        let mut script = writes((0..24).map(|_| 0));
        script.extend((1..=n).map(|page| write(30 * LATER, page)));
        let value = serve(&eight_blocks(&[]), script);
        let stalled = 5..=n.min(8);
        let (mut host, mut gc) = (0, 0);
        for k in 2..=4 {
            // Behind the first, the erase, and each other.
            host += PROGRAM + begins(k) - freed;
            gc += ERASE;
        }
        for k in stalled.clone() {
            gc += freed;
            host += begins(k) - freed;
        }
        let last = if n == 9 { freed_again } else { begins(n) };
        if n == 9 {
            gc += freed_again;
        }
        let array = (24 + n) * PROGRAM;
        let w = class_of(&value, "write");
        assert_eq!(w.totals(), (host + gc + array, host, gc, 0, array), "{n} writes");
        assert_eq!(w.max, last + PROGRAM, "{n} writes");
        assert_eq!(count(&value["policies"]["placement"]["counters"]["stalled"]), n - 4);
    }
}

/// A page is locked while a partial write reads its old content. A request for the page meanwhile
/// waits for the host, as nobody else locks pages.
#[test]
fn the_wait_for_a_locked_page_is_behind_the_host() {
    let part = |at| bytes(at, Op::Write, 5 * PAGE + 512, 512);
    let modify = READ + PROGRAM;
    // A read: until the old content is there, then until the program is done.
    let value = serve(&drive::<&str>(&[]), vec![part(0), read(10_000, 5)]);
    let (r, w) = (class_of(&value, "read"), class_of(&value, "write"));
    let host = modify - 10_000;
    assert_eq!(r.totals(), (host + READ, host, 0, 0, READ));
    assert_eq!(w.totals(), (modify, 0, 0, 0, modify));
    // A second partial write waits as long before it reads and writes itself; a third waits for both.
    let value = serve(&drive::<&str>(&[]), vec![part(0), part(10_000), part(30_000)]);
    let host = (modify - 10_000) + (2 * modify - 30_000);
    assert_eq!(class_of(&value, "write").totals(), (host + 3 * modify, host, 0, 0, 3 * modify));
    // A whole write needs nothing of the old page, but does not overtake.
    let value = serve(&drive::<&str>(&[]), vec![part(0), write(10_000, 5)]);
    let array = modify + PROGRAM;
    let host = modify - 10_000;
    assert_eq!(class_of(&value, "write").totals(), (host + array, host, 0, 0, array));
}

/// Ways to make writes stand in line: outside a drive that takes one, and before a buffer of one page.
const LINES: [&[&str]; 2] =
    [&["host.queue-limit=1"], &["buffer.kind=write-back", "buffer.size=4KiB"]];

/// Writes at once, on a drive that serves one after the other. Only their programs and erases take
/// time. So each waits for the host's programs of those before it, and for garbage collection's
/// erases before it and its own. That is also so where it stands in line behind a write that waits
/// for space.
#[test]
fn who_stands_in_line_behind_a_wait_for_space_waits_behind_garbage_collection() {
    for line in LINES {
        let shares = |before: u64, n: u64| {
            let mut script = writes((0..before).map(|_| 0));
            script.extend((1..=n).map(|page| write(30 * LATER, page)));
            let w = class_of(&serve(&eight_blocks(line), script), "write");
            let (total, host, gc, others, array) = w.totals();
            assert_eq!((others, total), (0, host + gc + array), "{line:?}");
            (host, gc)
        };
        // The second waits for one program, the third for two, and so on.
        let n = 8;
        let behind = PROGRAM * n * (n - 1) / 2;
        let (host, gc) = shares(24, n);
        assert_eq!(host, behind, "{line:?}");
        assert!(gc > host && gc.is_multiple_of(ERASE), "{line:?}: {gc}");
        // On an empty drive there is no collection to wait for.
        assert_eq!(shares(0, n), (behind, 0), "{line:?}");
    }
}

// ── The throttle ────────────────────────────────────────────────────────────────────────────────

/// 128 pages of flash that stand `cycles` cycles, in 1280 seconds: a tenth of `cycles` pages a second.
fn throttled(pages_per_second: u64) -> Drive {
    drive(&[
        "policy throttle=static:target=1280s",
        &format!("reliability.endurance={}", 10 * pages_per_second),
        "precondition.fill=none",
    ])
}

/// (latency, held back by the throttle) of all writes.
fn held_back(w: &Class) -> (u64, u64) {
    let whole = |mean: f64| (mean * w.requests as f64).round() as u64;
    (whole(w.mean), whole(w.throttle))
}

/// One page a second. A write of less than a page programs one, and one of a page and a half two.
#[test]
fn a_throttle_counts_the_pages_that_a_write_programs() {
    let sizes = [512, 6_144, 4_096, 1, 8_192, 512];
    let script = |sizes: &[u64]| {
        let mut page = 0;
        let next = |&size: &u64| {
            let request = bytes(0, Op::Write, page * PAGE, size);
            page += 2;
            request
        };
        sizes.iter().map(next).collect::<Vec<_>>()
    };
    // Each enters when the operation before it is paid for, and runs alone.
    let enters = [0, 1, 3, 4, 5, 7];
    let programs = [1, 2, 1, 1, 2, 1];
    for n in 1..=sizes.len() {
        let w = class_of(&serve(&throttled(1), script(&sizes[..n])), "write");
        let waited = enters[..n].iter().sum::<u64>() * SECOND;
        let took = programs[..n].iter().sum::<u64>() * PROGRAM;
        assert_eq!(held_back(&w), (waited + took, waited), "{n} writes");
        assert_eq!(w.max, enters[n - 1] * SECOND + programs[n - 1] * PROGRAM);
    }
}

/// Four pages a second. Four writes enter at once, four at the next second, four at the one after
/// that. Those of a second enter in the order in which they came, which is one program apart: so
/// each takes as long as the first of its four.
#[test]
fn held_writes_enter_in_the_order_in_which_they_came() {
    let came = |k: u64| k * PROGRAM;
    for n in 1..=12 {
        let script = (0..n).map(|k| write(came(k), k)).collect();
        let value = serve(&throttled(4), script);
        let w = class_of(&value, "write");
        let enters = |k: u64| if k < 4 { came(k) } else { k / 4 * SECOND };
        let throttle: u64 = (0..n).map(|k| enters(k) - came(k)).sum();
        // The first four come as the die becomes free.
        let queue: u64 = (4..n).map(|k| k % 4 * PROGRAM).sum();
        assert_eq!(held_back(&w), (throttle + queue + n * PROGRAM, throttle), "{n} writes");
        let first = (n - 1) / 4 * 4;
        assert_eq!(w.max, enters(first) - came(first) + PROGRAM, "{n} writes");
    }
}

// ── Demands ─────────────────────────────────────────────────────────────────────────────────────

/// The erases of garbage collection by who needed the space: host, wear, refresh, rewrite, map.
fn demands(value: &Value) -> Value {
    let all = &value["flash"]["gc_erase_by_demand"];
    assert_eq!(all["total"], value["flash"]["erase"]["gc"]);
    json!(["host", "wear", "refresh", "rewrite", "map"].map(|demand| count(&all[demand])))
}

#[test]
fn a_block_that_the_host_opens_is_a_demand_of_the_host() {
    // One page again and again, so that blocks die whole: an erase for each block from the seventh on.
    for blocks in 6..12 {
        let value = serve(&eight_blocks(&[]), writes((0..4 * blocks).map(|_| 0)));
        // The collection of the last block may outlast the last write of it, but not its first.
        assert_eq!(demands(&value), json!([blocks - 6, 0, 0, 0, 0]), "{blocks} blocks");
    }
}

/// A page that was written twice and is then only read is written anew: it opens the seventh block.
#[test]
fn a_block_that_a_re_write_opens_is_a_demand_of_re_writes() {
    let mut script = writes([0, 0].into_iter().chain((2..24).map(|_| 1)));
    // The last read is there so that the run does not end before.
    script.extend([24, 25, 40].map(|i| read(i * LATER, 0)));
    let value = serve(&eight_blocks(&["policy cost=agcr"]), script);
    assert_eq!(count(&value["flash"]["program"]["rewrite"]), 1);
    assert_eq!(demands(&value), json!([0, 0, 0, 1, 0]));
}

/// Two blocks of cold data, and one page again and again in the other six. Blocks are reclaimed by
/// number: the third, fourth, fifth, and the third again as the ninth that the host opens has left
/// one free. Cold data moves to it, and takes a free block until it gives back its own. It cannot at
/// once, as a read is on its way there, so that space is collected for it.
#[test]
fn a_block_that_wear_levelling_opens_is_a_demand_of_wear_levelling() {
    let script = |read_at: Option<u64>| {
        let mut script = writes((0..8).chain((8..37).map(|_| 8)));
        script.extend(read_at.map(|at| read(36 * LATER + at, 3)));
        script.push(read(50 * LATER, 8));
        serve(&eight_blocks(&["policy wear=static:threshold=1"]), script)
    };
    // The wear levelling begins when the write and the erase are over.
    let value = script(Some(PROGRAM + ERASE + 10_000));
    assert_eq!(count(&value["flash"]["program"]["wear"]), 4);
    assert_eq!(count(&value["flash"]["erase"]["wear"]), 1);
    assert_eq!(demands(&value), json!([4, 1, 0, 0, 0]));
    // Without the read it gives back its block before anything needs to be collected.
    let value = script(None);
    assert_eq!(count(&value["flash"]["erase"]["wear"]), 1);
    assert_eq!(demands(&value), json!([4, 0, 0, 0, 0]));
}

/// A block of cold data that is read twice, which is all that it endures. Its refresh opens the
/// seventh block. If others go first after each of its operations, one block is collected for it
/// before it gives back its own. If it keeps its die, nothing needs to be collected any more when
/// it is done.
#[test]
fn a_block_that_a_refresh_opens_is_a_demand_of_refreshes() {
    for (preemptible, needed) in [("yes", 1), ("no", 0)] {
        let policy = format!("policy read-disturb=refresh:limit=2:preemptible={preemptible}");
        let mut script = writes((0..4).chain((4..24).map(|_| 8)));
        script.extend([24, 25, 40].map(|i| read(i * LATER, i / 40 * 8)));
        let value = serve(&eight_blocks(&[&policy]), script);
        assert_eq!(count(&value["flash"]["program"]["refresh"]), 4);
        assert_eq!(count(&value["flash"]["erase"]["refresh"]), 1);
        assert_eq!(demands(&value), json!([0, 0, needed, 0, 0]), "preemptible={preemptible}");
    }
}

/// As many parts of one page as there are, read and written in turn. Each waits once for those
/// before it, and is not asked again whenever one of them ends.
#[test]
fn who_waits_for_a_page_waits_once() {
    for depth in [64, 1024, 4096] {
        let own = [
            "host.mode=queue-depth",
            &format!("host.queue-depth={depth}"),
            "precondition.fill=full",
            "geometry.pages-per-block=64",
        ];
        let drive = drive(&own);
        let mut rng = Rng::named(depth, "test/hot-page");
        let part = |_| {
            let op = if rng.below(2) == 0 { Op::Read } else { Op::Write };
            bytes(0, op, u64::from(rng.below(8)) * 512, 512)
        };
        let requests: Vec<Request> = (0..2 * depth).map(part).collect();
        let workload = Box::new(List::new("one page", requests).unwrap());
        let report = run(&drive, workload, &mut NoCache, &mut |_| true).unwrap();
        let waits = report.waits().page;
        assert!(waits > depth, "{waits} waits at a depth of {depth}");
        assert!(waits <= 2 * depth, "{waits} waits of {} requests", 2 * depth);
        // Everything is served in the order in which it came, one read-modify-write after the other.
        assert_eq!(count(&report.value()["host"]["all"]["requests"]), 2 * depth);
    }
}

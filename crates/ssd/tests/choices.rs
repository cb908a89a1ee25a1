//! The choices of a policy with an option, by hand. That every option does something at all is in
//! `options.rs`.

use crate::common::{class_of, close, count, drive, flush, read, serve, write};
use policies::throttle::Difference;
use serde_json::Value;
use workload::Request;

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;
const LATER: u64 = 1_000_000_000;

/// Eight blocks of four pages on one die, half of them spare. The seventh block that is opened, by
/// write 24, leaves one free, and sets off garbage collection.
const EIGHT_BLOCKS: [&str; 4] = [
    "geometry.blocks-per-plane=8",
    "geometry.pages-per-block=4",
    "ftl.logical-capacity=64KiB",
    "precondition.fill=none",
];

fn writes(pages: &[u64]) -> Vec<Request> {
    (0..).zip(pages).map(|(i, &page)| write(i * LATER, page)).collect()
}

/// Pages moved out of the first victim of those blocks, whose collection one more write starts. A
/// read that comes just after it has begun waits for the rest of it.
fn moved_of(victim: &str, blocks: [[u64; 4]; 6], last: u64) -> u64 {
    let mut script = writes(blocks.as_flattened());
    script.push(write(24 * LATER, last));
    script.push(read(24 * LATER + PROGRAM + 1, 11));
    let settings = [&EIGHT_BLOCKS[..], &[victim]].concat();
    let value = serve(&drive(&settings), script);
    let (latency, host, gc, ..) = class_of(&value, "read").totals();
    assert_eq!((latency, host), (gc + READ, 0));
    let moves = (gc + 1 - ERASE) / (READ + PROGRAM);
    assert_eq!(gc + 1, moves * (READ + PROGRAM) + ERASE, "{victim}");
    moves
}

fn moved_first(victim: &str) -> u64 {
    // The blocks, and after them the write that sets off the collection. By then the drive has lost
    // nine pages. The second block lost the first, the first block three until the fourth, the
    // fifth block the fifth, and the sixth block four until the ninth.
    let pages = [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [4, 8, 9, 10],
        [11, 12, 13, 14],
        [0, 1, 2, 15],
        [15, 15, 15, 15],
    ];
    moved_of(victim, pages, 15)
}

/// Among the blocks that lost nothing during the window, the one that gains most; if there is none,
/// the one that gains most of all.
#[test]
fn stable_greedy_looks_back_as_far_as_its_window() {
    // The window is a percentage of the eight blocks, in pages lost by the drive.
    let choice =
        |percent: u64| moved_first(&format!("policy victim=stable-greedy:window={percent}"));
    // Up to eight the second block is stable: one page lost, three to move. It is the only one from
    // six on.
    assert_eq!(choice(100), 3, "a window of eight");
    assert_eq!(choice(75), 3, "of six");
    // Up to five the first block is, and gains more.
    assert_eq!(choice(74), 1, "of five");
    assert_eq!(choice(50), 1, "of four");
    assert_eq!(choice(13), 1, "of one");
    // In no time the sixth block is stable too, and with nine none is: its pages are all lost.
    assert_eq!(choice(12), 0, "of none");
    assert_eq!(choice(113), 0, "of nine");
    assert_eq!(moved_first("policy victim=greedy"), 0);
}

/// The first block is half valid and the last a quarter. With u = 1/2 a block is worth half its age,
/// with 1/4 one and a half times: the first, of age 6, 3, and the last, of age 1, 1.5. The second, of
/// age 5, is worth 2.5, and the others less.
#[test]
fn cost_benefit_takes_an_old_block_before_an_emptier_one() {
    let blocks = [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
        [12, 13, 14, 15],
        [0, 1, 4, 8],
        [15, 15, 15, 15],
    ];
    assert_eq!(moved_of("policy victim=greedy", blocks, 5), 1);
    assert_eq!(moved_of("policy victim=cost-benefit", blocks, 5), 2);
}

/// The last of six blocks keeps one page of four: worth one and a half times its age, and it is one
/// closing old already. The first is worth a sixth of its six, and the others less.
#[test]
fn a_block_that_was_completed_just_now_has_an_age() {
    let blocks =
        [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [0, 4, 8, 12], [0, 0, 0, 0]];
    assert_eq!(moved_of("policy victim=cost-benefit", blocks, 4), 1);
}

/// Levels of programs: high, medium, low.
fn programs(value: &Value) -> [u64; 3] {
    ["high", "medium", "low"].map(|level| count(&value["flash"]["by_level"]["program"][level]))
}

/// Pages that are written twice are at low cost then. Two of them move, which were read meanwhile: once,
/// and they are interleaved, twice, and they are read-only.
#[test]
fn agcr_moves_pages_at_the_level_that_it_is_told() {
    // In every block a page of its own, twice, and one page twice.
    let pages: Vec<u64> = (1..=6).flat_map(|own| [own, own, 0, 0]).collect();
    let moved = |moves: &str, reads: u64| {
        let policy = format!("policy cost=agcr:rewrite-from=none:moves={moves}");
        let settings = [&EIGHT_BLOCKS[..], &[&policy]].concat();
        let script = |writes_of: &[u64]| {
            let mut script = writes(writes_of);
            for own in 0..6 * reads {
                script.push(read((24 + own) * LATER, 1 + own % 6));
            }
            script
        };
        let before = serve(&drive(&settings), script(&pages));
        // The first write of each of the seven pages is at high cost.
        assert_eq!(programs(&before), [7, 0, 17]);
        let mut script = script(&pages);
        script.extend([write(40 * LATER, 0), flush(50 * LATER)]);
        let value = serve(&drive(&settings), script);
        assert_eq!(count(&value["flash"]["program"]["gc"]), 2);
        let after = programs(&value);
        // The one write more is at low cost.
        [after[0] - 7, after[1], after[2] - 18]
    };
    let (high, medium, low) = ([2, 0, 0], [0, 2, 0], [0, 0, 2]);
    for (moves, levels) in [
        ("class", [low, medium, high]),
        ("preserve", [low, low, low]),
        ("medium", [medium, medium, medium]),
    ] {
        let found = [0, 1, 2].map(|reads| moved(moves, reads));
        assert_eq!(found, levels, "moves={moves}");
    }
}

/// A window of three looks at two accesses before a write, as far as there were any: the second write of
/// a page is write-only for all that is known.
#[test]
fn agcr_looks_back_no_further_than_it_knows() {
    for (window, script, levels) in [
        // High, low, low, low.
        (3, "wwww", [1, 0, 3]),
        (2, "wwww", [1, 0, 3]),
        // High; interleaved while the read is in the window, and low again.
        (2, "wrwww", [1, 1, 2]),
        (3, "wrwww", [1, 2, 1]),
    ] {
        let policy = format!("policy cost=agcr:rewrite-from=none:window={window}");
        let settings = [&EIGHT_BLOCKS[..], &[&policy]].concat();
        let accesses = script.bytes().zip(0..).map(|(what, i)| match what {
            b'w' => write(i * LATER, 0),
            _ => read(i * LATER, 0),
        });
        let value = serve(&drive(&settings), accesses.collect());
        assert_eq!(programs(&value), levels, "window={window}: {script}");
    }
}

/// READY Eq. 6 relates a demand to the one before; from nothing to anything is all of it.
#[test]
fn a_difference_is_relative() {
    for difference in [Difference::First, Difference::Least] {
        close("half as much again", difference.of(4.0, 6.0), 0.5, 1e-12);
        close("nothing at all", 1.0 + difference.of(0.0, 0.0), 1.0, 0.0);
        close("from nothing", difference.of(0.0, 0.5), 1.0, 0.0);
        close("from nothing", difference.of(0.0, 4.0), 1.0, 0.0);
    }
    close("to the first", Difference::First.of(4.0, 1.0), 0.75, 1e-12);
    close("to the lesser", Difference::Least.of(4.0, 1.0), 3.0, 1e-12);
}

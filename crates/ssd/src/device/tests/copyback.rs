//! Data that are moved inside a plane keep their errors: at the end a read has the errors of every
//! block that held them. With the same rate p in each, after k moves it is wrong at `(1 − (1 −
//! 2p)^(k + 1)) / 2`, the parity of k + 1 coins.

use crate::config::{Drive, Layers, load};
use crate::device::Cells;
use crate::device::cells::Target;
use kernel::Time;
use nand::physics::{Cell, read_slope};
use nand::{BlockId, Level};

const DRIVE: &str = r#"
chip = "c-mlc64"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 64
[timing]
bus = { rate = "333MT/s", command = "300ns" }
[reliability]
model = "on"
endurance = 3000
initial-cycles = 2900
initial-retention = "1y"
[ftl]
spare-factor = 0.2
copyback = 7
"#;

fn drive() -> Drive {
    let layers = Layers {
        file: ("test.toml", DRIVE),
        library: &|_| None,
        set: &[],
        policy: &[],
        seed: None,
    };
    load(&layers).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// At four times its rated cycles a block is read so often that half of its bits turn. Its data is
/// then random, and never worse than that. The same is true of data that was moved from it.
#[test]
fn no_more_than_half_of_all_bits_are_wrong() {
    let drive = drive();
    let mut cells = Cells::of(&drive, false).expect("they are modelled");
    let block = BlockId::from_u32(0);
    let (slot, level) = (drive.geometry.ppn(block, 1), Level::MediumCost);
    let target = Target { slot, block, page_type: 1, level, guarded: false, units: 1 };
    let _ = cells.erased(block, 1, 9_100_000, Time::ZERO);
    let reads = 0.6 / read_slope(&Cell::new(2, 3000.0), 1, 12_000.0);
    for _ in 0..reads as u64 {
        cells.sense(&target, Time::ZERO);
    }
    for moved in [0.0, 0.1, 0.5] {
        cells.inherit(slot, 1, moved);
        let rber = cells.sense(&target, Time::ZERO);
        assert!((rber - 0.5).abs() < 1e-6, "{rber} after {moved}");
    }
}

#[test]
fn errors_add_up_from_move_to_move() {
    let drive = drive();
    let mut cells = Cells::of(&drive, false).expect("they are modelled");
    let geometry = drive.geometry;
    let at = |block: u32| {
        let block = BlockId::from_u32(block);
        let (slot, level) = (geometry.ppn(block, 1), Level::MediumCost);
        Target { slot, block, page_type: 1, level, guarded: false, units: 1 }
    };
    // Data from before the run, in blocks that have not been read.
    let p = f64::from(cells.sense(&at(0), Time::ZERO));
    assert!(p > 1e-4, "{p}");
    let mut rber = p as f32;
    for moves in 1..20_i32 {
        let to = at(moves as u32);
        cells.inherit(to.slot, 1, rber);
        rber = cells.sense(&to, Time::ZERO);
        let law = (1.0 - (1.0 - 2.0 * p).powi(moves + 1)) / 2.0;
        assert!((f64::from(rber) / law - 1.0).abs() < 1e-4, "{moves} moves: {rber} for {law}");
    }
    // An erase ends it.
    let last = at(19);
    let _ = cells.erased(last.block, 1, 1_000, Time::ZERO);
    let fresh = f64::from(cells.sense(&last, Time::ZERO));
    assert!(fresh < 1.5 * p, "{fresh}");
}

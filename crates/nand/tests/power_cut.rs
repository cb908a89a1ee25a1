//! A power cut in the middle of a second-generation program.
//!
//! Programming a page turns many cells from 1 to 0, and when power fails some have turned and some
//! have not. What is then read is decoded like any other page, so the page has to say for itself
//! whether it is whole: its checksum lies on it in the same code, and is programmed with it. (That
//! the parity of error correction and the checksum fit beside the data in the code is assumed; the
//! spare area of the chips measured is 3 % of a page, of which two thirds are left.)

use floatgate_nand::cells::wom::{FIRST, Planes, SECOND, over, value};
use kernel::Rng;

/// CRC-32C, bit by bit.
fn checksum(data: u32) -> u32 {
    let mut sum = !data;
    for _ in 0..32 {
        sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    }
    !sum
}

/// A page of 32 bits of data with its checksum.
fn sealed(data: u32) -> u64 {
    u64::from(checksum(data)) << 32 | u64::from(data)
}

/// The data, if the page is whole.
fn opened(page: u64) -> Option<u32> {
    let (data, sum) = (page as u32, (page >> 32) as u32);
    (checksum(data) == sum).then_some(data)
}

/// Cells of a page on its way from `old` to `new`: those in `turned` are there.
fn interrupted(old: Planes, new: Planes, turned: [u32; 3]) -> Planes {
    let cells = [0, 1, 2].map(|i| old.cells[i] & (new.cells[i] | !turned[i]));
    Planes { cells }
}

/// A word cut short can read as a value that was never written: detection is needed.
#[test]
fn half_a_word_may_be_another_value() {
    let (mut whole, mut strange) = (0, 0);
    for old in 0..4_u8 {
        for new in 0..4_u8 {
            let (from, to) = (FIRST[old as usize], over(FIRST[old as usize], new));
            assert!(to == SECOND[new as usize] || old == new);
            for turned in 0..8 {
                let read = value(from & (to | !turned));
                if read == old || read == new {
                    whole += 1;
                } else {
                    strange += 1;
                }
            }
        }
    }
    assert!(strange > 10 && whole > strange, "{whole} {strange}");
}

#[test]
fn a_cut_is_detected_or_leaves_the_old_or_the_new_page() {
    let mut rng = Rng::named(1, "test/power-cut");
    let (mut found, mut still_old, mut already_new) = (0_u32, 0_u32, 0_u32);
    for seed in 0..200_000_u32 {
        let (old, new) = (rng.bits() as u32, rng.bits() as u32);
        let first = Planes::first(sealed(old));
        let second = first.over(sealed(new));
        // From hardly any cell to nearly all of them.
        let share = f64::from(seed % 50) / 49.0;
        let turned = [0, 1, 2].map(|_| {
            (0..32).fold(0_u32, |bits, _| bits << 1 | u32::from(rng.unit() < share * share))
        });
        let cut = interrupted(first, second, turned);
        assert!(first.can_become(cut) && cut.can_become(second));
        match opened(cut.data()) {
            None => found += 1,
            Some(data) if data == old => still_old += 1,
            Some(data) => {
                assert_eq!(data, new, "seed {seed}: a page that nobody wrote");
                already_new += 1;
            }
        }
    }
    assert!(found > 150_000, "{found} {still_old} {already_new}");
    assert!(still_old > 1_000 && already_new > 1_000, "{found} {still_old} {already_new}");
}

//! The write-once code of Grupp's Table 5: two bits in three cells, written twice between erases.
//!
//! Programming turns 1 into 0 only. The first generation has at most one 0 in three, the second at
//! most one 1, so the stored word shows its generation. Of the sixteen overwrites thirteen can be
//! programmed. The other three write the value that is there already: its two words are
//! complements, and each keeps one bit that the other lacks. So the cells are read first, and stay
//! as they are if the value is the same. (In Grupp 4.2 the sentence has 1s and the table 0s.)
//!
//! A logical page of 64 bits is 32 values: bit `i` and bit `i + 32` make value `i`. Its three bit
//! planes, 96 cells, are worked on as words.

/// The word of a value (0 to 3) in the first generation, most significant cell first.
pub const FIRST: [u8; 4] = [0b111, 0b110, 0b101, 0b011];

/// The word of a value in the second generation.
pub const SECOND: [u8; 4] = [0b000, 0b001, 0b010, 0b100];

/// The value of a word of either generation.
pub fn value(word: u8) -> u8 {
    let first = word.count_ones() >= 2;
    let words = if first { FIRST } else { SECOND };
    words.iter().position(|w| *w == word).expect("every word of three cells is in the table") as u8
}

/// The word that stores `new` over `word` in the second generation.
pub fn over(word: u8, new: u8) -> u8 {
    if value(word) == new { word } else { SECOND[new as usize] }
}

/// Three bit planes of 32 values each: the cells of one logical page.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BitPlanes {
    /// The most significant cell of each word first.
    pub cells: [u32; 3],
}

impl BitPlanes {
    /// A logical page in the first generation.
    pub fn first(data: u64) -> Self {
        let (high, low) = ((data >> 32) as u32, data as u32);
        Self { cells: [!(high & low), !(high & !low), !(!high & low)] }
    }

    /// The logical page that is stored, in any generation of its words.
    pub fn data(self) -> u64 {
        let [a, b, c] = self.cells;
        // Two or three cells of a word set: the first generation.
        let first = a & b | a & c | b & c;
        let flip = |cell: u32| cell ^ first;
        let (three, two, one) = (flip(a), flip(b), flip(c));
        u64::from(three | two) << 32 | u64::from(three | one)
    }

    /// The cells once a logical page has been stored over this one.
    #[must_use]
    pub fn over(self, data: u64) -> Self {
        let (new, old) = (Self::first(data), self.data() ^ data);
        let changed = (old >> 32) as u32 | old as u32;
        let pick = |i: usize| self.cells[i] & !changed | !new.cells[i] & changed;
        Self { cells: [pick(0), pick(1), pick(2)] }
    }

    /// Whether programming can turn these cells into those: no 0 becomes 1.
    pub fn can_become(self, other: Self) -> bool {
        self.cells.iter().zip(other.cells).all(|(old, new)| new & !old == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    #[test]
    fn the_table_is_grupps() {
        for (v, (first, second)) in
            [("111", "000"), ("110", "001"), ("101", "010"), ("011", "100")].into_iter().enumerate()
        {
            assert_eq!(format!("{:03b}", FIRST[v]), first);
            assert_eq!(format!("{:03b}", SECOND[v]), second);
            assert_eq!((value(FIRST[v]), value(SECOND[v])), (v as u8, v as u8));
        }
    }

    #[test]
    fn all_pairs_of_writes_read_back_and_thirteen_of_sixteen_can_be_programmed() {
        let mut infeasible = Vec::new();
        for old in 0..4 {
            for new in 0..4 {
                let (from, to) = (FIRST[old as usize], SECOND[new as usize]);
                if to & !from != 0 {
                    infeasible.push((old, new));
                }
                let cells = over(from, new);
                assert_eq!(cells & !from, 0, "{old} then {new}: a cell would have to be lowered");
                assert_eq!(value(cells), new, "{old} then {new}");
            }
        }
        // The exception of the paper: the same value again, but for 00, whose cells are all set.
        assert_eq!(infeasible, [(1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn planes_are_the_table_for_all_pairs_at_every_place() {
        for place in 0..32 {
            let page = |v: u64| (v >> 1) << (place + 32) | (v & 1) << place;
            let word = |p: BitPlanes| {
                p.cells.iter().fold(0, |w, plane| w << 1 | (plane >> place & 1) as u8)
            };
            for old in 0..4_u8 {
                let first = BitPlanes::first(page(old.into()));
                assert_eq!(word(first), FIRST[old as usize]);
                assert_eq!(first.data(), page(old.into()));
                for new in 0..4_u8 {
                    let second = first.over(page(new.into()));
                    assert_eq!(word(second), over(FIRST[old as usize], new));
                    assert_eq!(second.data(), page(new.into()));
                }
            }
        }
    }

    #[test]
    fn random_pages_read_back_in_both_generations() {
        let mut rng = Rng::named(1, "cells/wom");
        for _ in 0..20_000 {
            let (old, new) = (rng.bits(), rng.bits());
            let first = BitPlanes::first(old);
            let second = first.over(new);
            assert_eq!((first.data(), second.data()), (old, new));
            assert!(first.can_become(second));
        }
    }

    /// When power fails, some cells of a word have turned and some have not. A read then may return
    /// a value that was never written, so pages need a checksum of their own.
    #[test]
    fn half_a_word_may_be_another_value() {
        let (mut known, mut strange) = (0, 0);
        for old in 0..4 {
            for new in 0..4 {
                let (from, to) = (FIRST[old as usize], over(FIRST[old as usize], new));
                for turned in 0..8 {
                    let read = value(from & (to | !turned));
                    *if read == old || read == new { &mut known } else { &mut strange } += 1;
                }
            }
        }
        assert!(strange > 10 && known > strange, "{known} {strange}");
    }

    #[test]
    fn a_third_generation_does_not_fit() {
        let (first, second) = (BitPlanes::first(0), BitPlanes::first(0).over(u64::MAX));
        assert!(first.can_become(second) && !second.can_become(second.over(0xffff_ffff)));
    }
}

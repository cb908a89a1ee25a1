//! The code from levels to bits.
//!
//! Level 0 is erased, and programming only raises. A level stands for one bit of each page type;
//! type 0 is the least significant bit. At each boundary between two levels exactly one type
//! changes: 1, 2, 4 and 8 times from type 0 upward. IPR's Fig. 5 has the same (Vr1 to Vr7 flip MSB,
//! CSB, MSB, LSB, MSB, CSB, MSB). Erased cells read 1 everywhere.

/// Levels of the densest cells.
pub const LEVELS: usize = 16;

/// The Gray code of cells of one to four bits, and its consequences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrayMap {
    bits: u32,
    /// Bits of each level, type 0 in bit 0.
    means: [u8; LEVELS],
    /// Bits of each level as they are sensed once guard levels are there.
    guarded: [u8; LEVELS],
    /// The level that reprogramming in place raises each level to.
    in_place: [u8; LEVELS],
}

impl GrayMap {
    /// The code of cells of 1 to 4 bits.
    pub fn new(bits: u32) -> Self {
        assert!((1..=4).contains(&bits), "no such cell");
        let mut map = Self {
            bits,
            means: [0; LEVELS],
            guarded: [0; LEVELS],
            in_place: std::array::from_fn(|level| level as u8),
        };
        for level in 0..map.levels() {
            map.means[level as usize] = map.sensed(level, 0, 0..bits);
            map.guarded[level as usize] = map.sensed(level, 1, 0..bits - 1);
        }
        for level in 0..map.levels() {
            map.in_place[level as usize] = map.find_reprogrammed(level);
        }
        map
    }

    /// Bits of a cell.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Levels of a cell.
    pub fn levels(&self) -> u8 {
        1 << self.bits
    }

    /// The boundaries at which a page type changes, ascending; boundary `k` lies below level `k`.
    pub fn boundaries(&self, page_type: u32) -> impl Iterator<Item = u8> {
        let zeros = self.bits - 1 - page_type;
        (1..self.levels()).filter(move |boundary| boundary.trailing_zeros() == zeros)
    }

    /// The result of sensing each boundary of some types, with references `higher` boundaries up.
    fn sensed(&self, level: u8, higher: u8, types: std::ops::Range<u32>) -> u8 {
        types.fold(0, |bits, page_type| {
            let below = self.boundaries(page_type).filter(|k| k + higher <= level).count();
            bits | u8::from(below % 2 == 0) << page_type
        })
    }

    /// The bits of a level, type 0 in bit 0.
    pub fn means(&self, level: u8) -> u8 {
        self.means[level as usize]
    }

    /// The bits of a level under guard levels. References stand one boundary higher, at the upper
    /// edge of each guard, because reading only raises cells; the last type has none.
    pub fn means_guarded(&self, level: u8) -> u8 {
        self.guarded[level as usize]
    }

    /// The lowest level from `level` upward that a rule allows: the effect of programming.
    pub fn raise(&self, level: u8, allows: impl Fn(u8) -> bool) -> Option<u8> {
        (level..self.levels()).find(|to| allows(*to))
    }

    /// Whether cells stay at this level under guard levels: the level below is empty then. Erased
    /// cells need no guard, and the level above them is as good as they are (IPR III.B).
    pub fn is_guarded(&self, level: u8) -> bool {
        level == 0 || level % 2 == 1
    }

    /// The level after reprogramming in place: the lowest guarded level that, under guard levels,
    /// stands for the present lower bits.
    fn find_reprogrammed(&self, level: u8) -> u8 {
        let lower = self.means(level) & !(1 << (self.bits - 1));
        let same = |to: u8| self.is_guarded(to) && self.means_guarded(to) == lower;
        self.raise(level, same).expect("the pairs of a Gray code keep their lower bits")
    }

    /// The level of a cell at `level` after reprogramming in place (IPR Fig. 5). Each pair of
    /// levels that differs only in the most significant bit is joined at its upper level, which
    /// leaves the lower one empty. The lowest pair stays as it is.
    pub fn reprogrammed(&self, level: u8) -> u8 {
        self.in_place[level as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSB, CSB, LSB as IPR prints them.
    fn printed(bits: u8, n: u32) -> String {
        (0..n).rev().map(|t| char::from(b'0' + (bits >> t & 1))).collect()
    }

    #[test]
    fn three_bits_are_those_of_the_read_disturb_paper() {
        let map = GrayMap::new(3);
        let levels: Vec<String> = (0..8).map(|level| printed(map.means(level), 3)).collect();
        assert_eq!(levels, ["111", "011", "001", "101", "100", "000", "010", "110"]);
        let references = |t| map.boundaries(t).collect::<Vec<_>>();
        assert_eq!((references(0), references(1)), (vec![4], vec![2, 6]));
        assert_eq!(references(2), [1, 3, 5, 7]);
        let two: Vec<String> = (0..4).map(|v| printed(GrayMap::new(2).means(v), 2)).collect();
        assert_eq!(two, ["11", "01", "00", "10"]);
    }

    #[test]
    fn neighbouring_levels_differ_in_one_bit_and_all_levels_differ() {
        for bits in 1..=4 {
            let map = GrayMap::new(bits);
            let mut met = 0_u32;
            for level in 0..map.levels() {
                met |= 1 << map.means(level);
                if level > 0 {
                    assert_eq!((map.means(level) ^ map.means(level - 1)).count_ones(), 1);
                }
            }
            assert_eq!(met.count_ones(), 1 << bits, "{bits} bits");
            assert_eq!(u32::from(map.means(0)), (1 << bits) - 1, "erased cells read 1");
        }
    }

    /// All ways to move levels such that programming can do it (never downward) and the lower bits
    /// do not change. The rule is found among them, not asserted.
    fn legal_moves(map: &GrayMap) -> Vec<Vec<u8>> {
        let lower = (1 << (map.bits() - 1)) - 1;
        let mut found = vec![Vec::new()];
        for level in 0..map.levels() {
            let to =
                (level..map.levels()).filter(|to| (map.means(*to) ^ map.means(level)) & lower == 0);
            let to: Vec<u8> = to.collect();
            found = found
                .iter()
                .flat_map(|moves| to.iter().map(move |t| [&moves[..], &[*t]].concat()))
                .collect();
        }
        found
    }

    /// Whether the lower bits can be sensed at some references although every cell may have risen
    /// by a level since.
    fn withstands_a_level(map: &GrayMap, moves: &[u8]) -> bool {
        (0..map.levels()).all(|a| {
            (0..map.levels()).all(|b| {
                let differ = (map.means(a) ^ map.means(b)) & ((1 << (map.bits() - 1)) - 1) != 0;
                // A reference between two values needs a level that neither ends at.
                !differ || moves[a as usize].abs_diff(moves[b as usize]) >= 2
            })
        })
    }

    #[test]
    fn the_rule_of_in_place_reprogramming_follows_from_the_code() {
        let map = GrayMap::new(3);
        let all = legal_moves(&map);
        assert_eq!(all.len(), 16, "each of four pairs may join at its upper level or stay");
        let fit: Vec<_> = all.into_iter().filter(|moves| withstands_a_level(&map, moves)).collect();
        // Every pair but the lowest must join. The lowest may, and the paper leaves it as it is
        // (ER, P1).
        assert_eq!(fit, [[0, 1, 3, 3, 5, 5, 7, 7], [1, 1, 3, 3, 5, 5, 7, 7]]);
        let ours: Vec<u8> = (0..8).map(|level| map.reprogrammed(level)).collect();
        assert_eq!(ours, fit[0]);
        for bits in 2..=4 {
            let map = GrayMap::new(bits);
            let fit = legal_moves(&map);
            let fit = fit.into_iter().filter(|moves| withstands_a_level(&map, moves));
            let ours: Vec<u8> = (0..map.levels()).map(|level| map.reprogrammed(level)).collect();
            let fit: Vec<_> = fit.collect();
            assert_eq!(fit.len(), 2, "{bits} bits");
            assert!(fit.contains(&ours), "{bits} bits: {ours:?}");
        }
    }

    #[test]
    fn the_new_top_bit_is_the_papers_formula() {
        // New MSB = CSB XOR LSB, except that (1, 1) keeps its own.
        let map = GrayMap::new(3);
        for level in 0..8 {
            let old = map.means(level);
            let (msb, csb, lsb) = (old >> 2, old >> 1 & 1, old & 1);
            let expected = if csb & lsb == 1 { msb } else { csb ^ lsb };
            assert_eq!(map.means(map.reprogrammed(level)), expected << 2 | csb << 1 | lsb);
        }
    }

    #[test]
    fn lower_bits_survive_in_place_reprogramming_in_every_state() {
        for bits in 2..=4 {
            let map = GrayMap::new(bits);
            let lower = (1 << (bits - 1)) - 1;
            for level in 0..map.levels() {
                let to = map.reprogrammed(level);
                assert!(to >= level && to - level <= 1, "{bits} bits: {level} to {to}");
                let before = map.means(level) & lower;
                assert_eq!(map.means(to) & lower, before, "where references stood before");
                assert_eq!(map.means_guarded(to), before, "where they stand now");
                // A level of drift is harmless now, and was an error in one bit before.
                if to + 1 < map.levels() {
                    assert_eq!(map.means_guarded(to + 1), before);
                }
                if level + 1 < map.levels() {
                    assert_eq!((map.means(level + 1) ^ map.means(level)).count_ones(), 1);
                }
            }
        }
    }

    #[test]
    fn guarded_references_are_those_of_the_paper() {
        // LSB by Vr5; then CSB by Vr3 or by Vr7 (IPR III.B).
        let map = GrayMap::new(3);
        for level in 0..8 {
            let lsb = u8::from(level < 5);
            let csb = u8::from(if lsb == 1 { level < 3 } else { level >= 7 });
            assert_eq!(map.means_guarded(level), csb << 1 | lsb, "level {level}");
        }
    }

    #[test]
    fn first_bits_can_be_cleared_later_and_others_cannot() {
        // Grupp 3.5: a page of first bits may be programmed again, a page of second bits not. In
        // levels: clearing a bit while the other bits stay must never need a lower level.
        for bits in 1..=4 {
            let map = GrayMap::new(bits);
            for page_type in 0..bits {
                let set = (0..map.levels()).filter(|v| map.means(*v) >> page_type & 1 == 1);
                let stuck = set
                    .filter(|v| {
                        let cleared = map.means(*v) & !(1 << page_type);
                        map.raise(*v, |to| map.means(to) == cleared).is_none()
                    })
                    .count();
                assert_eq!(stuck == 0, page_type == 0, "{bits} bits, type {page_type}: {stuck}");
            }
        }
    }
}

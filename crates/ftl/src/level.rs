//! The cost level at which each page was programmed: two bits a page, kept only when levels vary.

use kernel::Idx;
use nand::{Level, Ppn};

/// One level for every physical page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Levels {
    packed: Vec<u8>,
}

impl Levels {
    /// `pages` pages, all at `level`.
    pub fn new(pages: usize, level: Level) -> Self {
        Self { packed: vec![0b0101_0101 * level as u8; pages.div_ceil(4)] }
    }

    /// The level of a page.
    #[inline]
    pub fn get(&self, ppn: Ppn) -> Level {
        let i = ppn.index();
        match self.packed[i / 4] >> (i % 4 * 2) & 3 {
            0 => Level::High,
            1 => Level::Medium,
            _ => Level::Low,
        }
    }

    /// Sets the level of a page.
    #[inline]
    pub fn set(&mut self, ppn: Ppn, level: Level) {
        let i = ppn.index();
        let shift = i % 4 * 2;
        let byte = &mut self.packed[i / 4];
        *byte = *byte & !(3 << shift) | (level as u8) << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_do_not_touch() {
        let mut levels = Levels::new(9, Level::Medium);
        let p = Ppn::from_u32;
        levels.set(p(4), Level::Low);
        levels.set(p(5), Level::High);
        let all: Vec<Level> = (0..9).map(|i| levels.get(p(i))).collect();
        let m = Level::Medium;
        assert_eq!(all, [m, m, m, m, Level::Low, Level::High, m, m, m]);
    }
}

//! The cost level at which each page was programmed: two bits a page, kept only when levels vary.

use crate::ask::Cost;
use kernel::Idx;
use nand::{Level, Ppn};

/// One level for every physical page.
pub(crate) struct Levels {
    /// That of all pages, if levels do not vary.
    constant: Option<Level>,
    packed: Vec<u8>,
}

impl Levels {
    /// `pages` pages, all at the policy's first level.
    pub(crate) fn new(pages: usize, cost: &impl Cost) -> Self {
        let constant = cost.constant();
        let bytes = if constant.is_some() { 0 } else { pages.div_ceil(4) };
        Self { constant, packed: vec![0b0101_0101 * cost.initial() as u8; bytes] }
    }

    /// The level of every page, if there is one for all.
    #[inline]
    pub(crate) fn constant(&self) -> Option<Level> {
        self.constant
    }

    /// The level of a page.
    #[inline]
    pub(crate) fn get(&self, ppn: Ppn) -> Level {
        if let Some(level) = self.constant {
            return level;
        }
        let i = ppn.index();
        match self.packed[i / 4] >> (i % 4 * 2) & 3 {
            0 => Level::High,
            1 => Level::Medium,
            _ => Level::Low,
        }
    }

    /// Sets the level of a page; levels vary.
    #[inline]
    pub(crate) fn set(&mut self, ppn: Ppn, level: Level) {
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
        let packed = vec![0b0101_0101; 3];
        let mut levels = Levels { constant: None, packed };
        let p = Ppn::from_u32;
        levels.set(p(4), Level::Low);
        levels.set(p(5), Level::High);
        let all: Vec<Level> = (0..9).map(|i| levels.get(p(i))).collect();
        let m = Level::Medium;
        assert_eq!(all, [m, m, m, m, Level::Low, Level::High, m, m, m]);
    }
}

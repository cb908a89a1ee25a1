//! Columns that only some drives keep: the level at which each page was programmed, the host's
//! reads of each block, and the coarsest level in each block.

use crate::Lpn;
use kernel::{Idx, IndexVec};
use nand::{BlockId, Each, Level, Mode, Packed, Ppn};

/// The cost level at which each page was programmed, kept only when levels vary.
pub(crate) struct PageLevels {
    /// The level of all pages, if levels do not vary.
    pub(crate) constant: Option<Level>,
    /// The level of an operation until it begins.
    pub(crate) usual: Level,
    packed: Packed<Level>,
}

impl PageLevels {
    /// `pages` pages, all at the level `initial`; `constant`: they stay there.
    pub(crate) fn new(pages: usize, constant: Option<Level>, initial: Level) -> Self {
        let pages = if constant.is_some() { 0 } else { pages };
        Self {
            constant,
            usual: constant.unwrap_or(initial),
            packed: Packed::filled(initial, pages),
        }
    }

    #[inline]
    pub(crate) fn get(&self, ppn: Ppn) -> Level {
        if let Some(level) = self.constant {
            return level;
        }
        self.packed.get(ppn.index())
    }

    /// Sets the level of a page; levels vary.
    #[inline]
    pub(crate) fn set(&mut self, ppn: Ppn, level: Level) {
        self.packed.set(ppn.index(), level);
    }
}

/// When the host wrote each page last, kept only for a separation policy that follows it.
pub(crate) struct Ages {
    /// Pages that the host has written.
    clock: u32,
    /// The count at each page's last write; 0: it was not written since counting began.
    last: IndexVec<Lpn, u32>,
}

impl Ages {
    pub(crate) fn new(kept: bool, logical_pages: u32) -> Self {
        let pages = if kept { logical_pages as usize } else { 0 };
        Self { clock: 0, last: IndexVec::filled(0, pages) }
    }

    /// Everything that a saved state does not contain is forgotten.
    pub(crate) fn begin_run(&mut self) {
        self.clock = 0;
        self.last.as_mut_slice().fill(0);
    }

    pub(crate) fn clock(&self) -> u32 {
        self.clock
    }

    /// Pages that the host wrote since it wrote this one; with the one that it writes now, if it does not
    /// move.
    pub(crate) fn of(&self, lpn: Lpn, moves: bool) -> Option<u32> {
        let last = *self.last.as_slice().get(lpn.index())?;
        let since = self.clock.wrapping_sub(last).wrapping_add(u32::from(!moves));
        (last > 0).then_some(since)
    }

    /// The host writes a page.
    pub(crate) fn note(&mut self, lpn: Lpn) {
        self.clock = self.clock.wrapping_add(1).max(1);
        self.last[lpn] = self.clock;
    }
}

/// Host reads that blocks endure. Without levels, or if all levels endure as many, a block's limit
/// is that of its mode. Otherwise it is also that of the coarsest page written into the block since
/// its erase, because this page errs first.
pub struct ReadLimits {
    /// The least limit of any level. Fewer reads need no other test.
    least: Each<Mode, u32>,
    by_level: Option<Box<LevelLimits>>,
}

/// The limits of each level, and the coarsest level in each block.
struct LevelLimits {
    limits: Each<Mode, Each<Level, u32>>,
    coarsest: IndexVec<BlockId, Level>,
}

impl ReadLimits {
    /// One limit for all blocks of a mode; `u32::MAX`: none.
    fn new(limits: Each<Mode, u32>) -> Self {
        Self { least: limits, by_level: None }
    }

    /// From now on blocks endure this percentage of the limit of their mode.
    pub(crate) fn scale(&mut self, percent: u32) {
        self.least = self.least.map(|limit| share(*limit, percent));
    }

    /// From now on a block endures the percentage of its coarsest page. Nothing is written yet.
    pub(crate) fn follow_levels(&mut self, percents: &Each<Level, u32>, blocks: usize) {
        let limits = self.least.map(|limit| percents.map(|percent| share(*limit, *percent)));
        self.least = limits.map(|all| all.values().copied().min().expect("there are levels"));
        let coarsest = IndexVec::filled(FINEST, blocks);
        self.by_level = Some(Box::new(LevelLimits { limits, coarsest }));
    }

    /// The host reads that a block of this mode endures.
    #[cold]
    fn limit(&self, block: BlockId, mode: Mode) -> u32 {
        match &self.by_level {
            Some(all) => all.limits[mode][all.coarsest[block]],
            None => self.least[mode],
        }
    }

    /// Whether so many reads are all that a block of this mode endures.
    #[inline]
    pub(crate) fn are_reached(&self, block: BlockId, mode: Mode, reads: u32) -> bool {
        reads >= self.least[mode] && reads >= self.limit(block, mode)
    }

    /// A block has held pages of a level since its erase, and none that is coarser; `None`: it has
    /// held nothing.
    pub(crate) fn set_coarsest(&mut self, block: BlockId, level: Option<Level>) {
        if let Some(all) = &mut self.by_level {
            all.coarsest[block] = level.unwrap_or(FINEST);
        }
    }

    /// A page of a block is programmed at a level.
    pub(crate) fn add_level(&mut self, block: BlockId, level: Level) {
        if let Some(all) = &mut self.by_level {
            all.coarsest[block] = all.coarsest[block].max(level);
        }
    }

    /// Whether limits follow the levels of pages.
    pub(crate) fn follow(&self) -> bool {
        self.by_level.is_some()
    }
}

/// The level of a block that holds nothing: any page is at least as coarse.
const FINEST: Level = Level::HighCost;

/// A percentage of a limit, in whole reads, at least 1; no limit stays none.
fn share(limit: u32, percent: u32) -> u32 {
    if limit == u32::MAX {
        return limit;
    }
    let part = u64::from(limit) * u64::from(percent) / 100;
    part.clamp(1, u64::from(u32::MAX) - 1) as u32
}

/// Reads let in to each block since its last erase, as far as they are counted.
pub(crate) struct Reads {
    /// Empty when nobody counts.
    pub(crate) each: Vec<u32>,
    pub(crate) limits: ReadLimits,
    /// A block that was at its limit no longer is.
    pub(crate) unblocked: bool,
    /// Operations wait for pages of blocks at their limits.
    pub(crate) awaited: bool,
    /// Pages of such blocks that may be read again, kept while operations wait for them.
    pub(crate) left: Vec<Lpn>,
}

impl Reads {
    /// Columns of `blocks` blocks, with the host reads that they endure in each mode. They are
    /// empty if no policy counts reads.
    pub(crate) fn new(blocks: usize, limits: Each<Mode, u32>) -> Self {
        let each = vec![0; blocks];
        let limits = ReadLimits::new(limits);
        Self { each, limits, unblocked: false, awaited: false, left: Vec::new() }
    }

    #[inline]
    pub(crate) fn are_counted(&self) -> bool {
        !self.each.is_empty()
    }

    pub(crate) fn begin_run(&mut self) {
        self.each.fill(0);
        self.unblocked = false;
    }

    pub(crate) fn is_at_limit(&self, block: BlockId, mode: Mode) -> bool {
        let reads = self.each.get(block.index());
        reads.is_some_and(|reads| self.limits.are_reached(block, mode, *reads))
    }

    /// Lets one more read in. Returns whether it was the last.
    #[inline]
    pub(crate) fn count(&mut self, block: BlockId, mode: Mode) -> bool {
        let count = &mut self.each[block.index()];
        *count += 1;
        *count >= self.limits.least[mode] && self.is_last(block, mode)
    }

    /// Whether the latest read of a block was the last that it endures.
    #[cold]
    fn is_last(&self, block: BlockId, mode: Mode) -> bool {
        let (count, limit) = (self.each[block.index()], self.limits.limit(block, mode));
        assert!(
            count <= limit,
            "block {block} is read although it is at its limit of {limit} reads"
        );
        count == limit
    }

    /// A block's reads count from zero again. Returns their number so far, if they count.
    pub(crate) fn restart(&mut self, block: BlockId) -> Option<u32> {
        let reads = self.each.get_mut(block.index())?;
        self.unblocked = true;
        Some(std::mem::take(reads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u32 = 200;
    const LOW: u32 = 1_000;

    fn reads() -> Reads {
        let limits = Each::from_fn(|mode| match mode {
            Mode::LowDensity => LOW,
            Mode::Wom2 => u32::MAX,
            _ => FULL,
        });
        let mut reads = Reads::new(2, limits);
        let percents = Each::from_fn(|level| match level {
            Level::HighCost => 135,
            Level::MediumCost => 100,
            Level::LowCost => 22,
        });
        reads.limits.follow_levels(&percents, 2);
        reads
    }

    const BLOCK: BlockId = BlockId::from_u32(0);

    /// The number of the read that is the last.
    fn last(reads: &mut Reads, mode: Mode) -> u32 {
        reads.restart(BLOCK);
        let mut number = 1;
        while !reads.count(BLOCK, mode) {
            assert!(!reads.is_at_limit(BLOCK, mode));
            number += 1;
        }
        assert!(reads.is_at_limit(BLOCK, mode));
        number
    }

    #[test]
    fn a_block_endures_what_its_coarsest_page_endures() {
        let mut reads = reads();
        let (high, medium, low) = (Level::HighCost, Level::MediumCost, Level::LowCost);
        for (pages, expected) in [
            (&[high, high][..], 270),
            (&[medium][..], 200),
            (&[high, medium, high][..], 200),
            (&[high, low][..], 44),
            (&[low, high, medium][..], 44),
        ] {
            reads.limits.set_coarsest(BLOCK, None);
            for level in pages {
                reads.limits.add_level(BLOCK, *level);
            }
            assert_eq!(last(&mut reads, Mode::Full), expected, "{pages:?}");
            assert_eq!(last(&mut reads, Mode::LowDensity), expected * LOW / FULL, "{pages:?}");
        }
        // The other block is as fine as before. An erase forgets, and reads that begin anew do not.
        assert!(!reads.limits.are_reached(BlockId::from_u32(1), Mode::Full, 269));
        assert_eq!(last(&mut reads, Mode::Full), 44);
        reads.limits.set_coarsest(BLOCK, None);
        assert_eq!(last(&mut reads, Mode::Full), 270);
    }

    #[test]
    fn a_coarse_page_may_bring_a_block_to_its_limit() {
        let mut reads = reads();
        reads.limits.add_level(BLOCK, Level::MediumCost);
        for _ in 0..50 {
            assert!(!reads.count(BLOCK, Mode::Full));
        }
        assert!(!reads.is_at_limit(BLOCK, Mode::Full));
        reads.limits.add_level(BLOCK, Level::LowCost);
        assert!(reads.is_at_limit(BLOCK, Mode::Full));
        assert!(
            !reads.limits.are_reached(BLOCK, Mode::Wom2, u32::MAX - 1),
            "no limit has no share"
        );
    }

    #[test]
    #[should_panic(expected = "at its limit of 44 reads")]
    fn no_read_enters_beyond_the_limit_of_the_coarsest_page() {
        let mut reads = reads();
        reads.limits.add_level(BLOCK, Level::LowCost);
        for _ in 0..45 {
            reads.count(BLOCK, Mode::Full);
        }
    }

    #[test]
    fn shares_are_whole_reads() {
        assert_eq!([(3, 22), (9, 22), (10, 135)].map(|(of, p)| share(of, p)), [1, 1, 13]);
        assert_eq!(share(u32::MAX, 22), u32::MAX);
        assert_eq!(share(u32::MAX - 1, 400), u32::MAX - 1);
        // One level for all pages is one limit for all blocks.
        let mut reads = Reads::new(1, Each::filled(FULL));
        reads.limits.scale(22);
        assert_eq!(last(&mut reads, Mode::Full), 44);
        assert!(!reads.limits.follow());
    }
}

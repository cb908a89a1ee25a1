//! A twin of the FTL for one pool of superblocks, as plain as can be: every superblock is a list of pages,
//! every choice a scan. It shares nothing with the engine but the idea.

use kernel::Rng;

/// The open superblock that takes the pages which collection moves.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Moves {
    /// One of their own.
    Apart,
    /// That of the host.
    Shared,
}

/// The drive that a twin imitates. With superblocks over `d` dies, `units` counts the mapping units of
/// all of them and `superblocks` those of the `d` dies; a whole drive of them is one pool.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Pool {
    /// Superblocks in all: free, open and closed ones.
    pub(crate) superblocks: u32,
    /// Mapping units in a superblock that may hold data, so without parity.
    pub(crate) units: u32,
    /// Mapping units that the pool exports.
    pub(crate) pages: u64,
    /// `ftl.gc.start`: collection begins with fewer free superblocks than this.
    pub(crate) start: u32,
    pub(crate) moves: Moves,
    /// Superblocks that the victim policy draws; `None`: all, which is greedy.
    pub(crate) choices: Option<u32>,
}

pub(crate) struct Twin {
    pool: Pool,
    /// The pages written to each superblock, and how many of them are valid.
    blocks: Vec<(Vec<u32>, u32)>,
    /// The location of each page: superblock and place.
    at: Vec<Option<(usize, usize)>>,
    free: Vec<usize>,
    /// The open superblock of the host, and that of moved pages: two, or one and the same.
    open: Vec<usize>,
    programs: u64,
    rng: Rng,
}

impl Twin {
    /// A drive whose every page has been written once, in the order of the addresses.
    pub(crate) fn full(pool: Pool) -> Self {
        let blocks = pool.superblocks as usize;
        let mut free: Vec<usize> = (0..blocks).collect();
        let frontiers = if pool.moves == Moves::Shared { 1 } else { 2 };
        let mut twin = Self {
            pool,
            blocks: vec![(Vec::new(), 0); blocks],
            at: vec![None; pool.pages as usize],
            open: (0..frontiers).map(|_| free.pop().expect("many are free")).collect(),
            free,
            programs: 0,
            rng: Rng::named(3, "twin"),
        };
        (0..pool.pages).for_each(|page| twin.write(page));
        twin
    }

    /// Write amplification over `passes` times the exported pages, after `warm` times as many. `next`
    /// gives the page of each write.
    pub(crate) fn waf(&mut self, warm: u64, passes: u64, mut next: impl FnMut() -> u64) -> f64 {
        let pages = self.pool.pages;
        (0..warm * pages).for_each(|_| self.write(next()));
        let before = self.programs;
        (0..passes * pages).for_each(|_| self.write(next()));
        (self.programs - before) as f64 / (passes * pages) as f64
    }

    /// The host writes a page.
    pub(crate) fn write(&mut self, page: u64) {
        self.put(page as u32, 0);
        // The host may open one superblock, and a victim's pages another.
        while self.free.len() < self.pool.start as usize {
            self.collect();
        }
    }

    fn put(&mut self, page: u32, frontier: usize) {
        if self.blocks[self.open[frontier]].0.len() == self.pool.units as usize {
            self.open[frontier] = self.free.pop().expect("the reserve is enough for a victim");
        }
        if let Some((block, _)) = self.at[page as usize] {
            self.blocks[block].1 -= 1;
        }
        let block = self.open[frontier];
        self.at[page as usize] = Some((block, self.blocks[block].0.len()));
        self.blocks[block].0.push(page);
        self.blocks[block].1 += 1;
        self.programs += 1;
    }

    fn is_closed(&self, block: usize) -> bool {
        self.blocks[block].0.len() == self.pool.units as usize && !self.open.contains(&block)
    }

    /// The superblock with the fewest valid pages, of all or of some drawn.
    fn victim(&mut self) -> usize {
        let all = 0..self.blocks.len();
        let drawn: Vec<usize> = match self.pool.choices {
            None => all.filter(|&block| self.is_closed(block)).collect(),
            Some(d) => {
                let mut drawn = Vec::new();
                while drawn.len() < d as usize {
                    let block = self.rng.below(all.end as u32) as usize;
                    drawn.extend(self.is_closed(block).then_some(block));
                }
                drawn
            }
        };
        let fewest = drawn.into_iter().min_by_key(|&block| self.blocks[block].1);
        fewest.expect("most superblocks are closed")
    }

    fn collect(&mut self) {
        let victim = self.victim();
        let pages = std::mem::take(&mut self.blocks[victim].0);
        for (place, page) in pages.into_iter().enumerate() {
            if self.at[page as usize] == Some((victim, place)) {
                self.put(page, self.open.len() - 1);
            }
        }
        assert_eq!(self.blocks[victim].1, 0);
        self.free.insert(0, victim);
    }
}

//! Reads that wait for pages of blocks at their read limit, by page. If pages may be read again,
//! only the reads that wait for these are examined.

use ftl::Lpn;
use std::collections::{BTreeMap, VecDeque};

/// The reads.
#[derive(Default)]
pub(super) struct BlockedReads {
    /// The reads that wait for each page, in order: their arrival number and their operation.
    pages: BTreeMap<Lpn, VecDeque<(u64, u32)>>,
    reads: usize,
    came: u64,
}

impl BlockedReads {
    /// A read waits for its page from now on.
    pub(super) fn add(&mut self, lpn: Lpn, op: u32) {
        self.came += 1;
        self.reads += 1;
        self.pages.entry(lpn).or_default().push_back((self.came, op));
    }

    /// When the first read of a page came, if one waits.
    pub(super) fn first(&self, lpn: Lpn) -> Option<u64> {
        self.pages.get(&lpn)?.front().map(|&(came, _)| came)
    }

    /// Takes out the first read of a page, for which one waits.
    pub(super) fn take(&mut self, lpn: Lpn) -> u32 {
        let reads = self.pages.get_mut(&lpn).expect("a read waits for the page");
        let (_, op) = reads.pop_front().expect("a read waits for the page");
        if reads.is_empty() {
            self.pages.remove(&lpn);
        }
        self.reads -= 1;
        op
    }

    /// How many wait.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.reads
    }
}

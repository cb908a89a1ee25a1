//! The queue of pages to be written anew in idle time, which several cost policies need.

use ftl::{FtlView, Lpn};
use kernel::{BitSet, IndexVec};
use nand::{DieId, Geometry};
use std::collections::VecDeque;

/// Pages that wait for a re-write, each at most once, in order of arrival.
pub(crate) struct Rewrites {
    requested: BitSet,
    /// Pages not yet given to a die, and those of each die. A page that is no longer requested
    /// keeps its place, which then means nothing.
    arrived: Vec<Lpn>,
    waiting: IndexVec<DieId, VecDeque<Lpn>>,
    asked: u64,
    begun: u64,
    forgotten: u64,
}

impl Default for Rewrites {
    fn default() -> Self {
        Self {
            requested: BitSet::new(0),
            arrived: Vec::new(),
            waiting: IndexVec::default(),
            asked: 0,
            begun: 0,
            forgotten: 0,
        }
    }
}

impl Rewrites {
    pub(crate) fn new(geometry: &Geometry, logical_pages: u32) -> Self {
        Self {
            requested: BitSet::new(logical_pages as usize),
            waiting: IndexVec::filled(VecDeque::new(), geometry.dies()),
            ..Self::default()
        }
    }

    /// A page is worth a re-write.
    pub(crate) fn ask(&mut self, lpn: Lpn) {
        let index = lpn.as_u32() as usize;
        if !self.requested.get(index) {
            self.requested.set(index);
            self.arrived.push(lpn);
            self.asked += 1;
        }
    }

    /// It is not any more.
    pub(crate) fn forget(&mut self, lpn: Lpn) {
        let index = lpn.as_u32() as usize;
        if self.requested.get(index) {
            self.requested.clear(index);
            self.forgotten += 1;
        }
    }

    /// The next page on a die.
    pub(crate) fn next(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        let home = |lpn| {
            let at = view.map.lookup(lpn)?;
            Some(view.geometry.die_of(view.geometry.block_of(at)))
        };
        for lpn in self.arrived.drain(..) {
            if let Some(home) = home(lpn) {
                self.waiting[home].push_back(lpn);
            }
        }
        while let Some(lpn) = self.waiting[die].pop_front() {
            let index = lpn.as_u32() as usize;
            if !self.requested.get(index) {
                continue;
            }
            match home(lpn) {
                Some(home) if home == die => {
                    self.requested.clear(index);
                    self.begun += 1;
                    return Some(lpn);
                }
                // It was moved to another die meanwhile.
                Some(home) => self.waiting[home].push_back(lpn),
                None => self.forget(lpn),
            }
        }
        None
    }

    pub(crate) fn counters(&self) -> [(&'static str, f64); 4] {
        let left = self.asked - self.begun - self.forgotten;
        [
            ("rewrites_asked", self.asked as f64),
            ("rewrites_begun", self.begun as f64),
            ("rewrites_forgotten", self.forgotten as f64),
            ("rewrites_left", left as f64),
        ]
    }
}

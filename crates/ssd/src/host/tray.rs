//! Program buffers. If one command programs several pages, writes wait in memory for others to be
//! programmed with.
//!
//! A page that is overwritten there, or given up, never reaches flash. Its operation stays as a
//! superseded write and is done with the others. A buffer is *flushed* when it is full or due.
//! Missing pages are then padding.

use crate::ops::Ops;
use ftl::Lpn;
use kernel::Time;

/// One program buffer.
#[derive(Default)]
struct Tray {
    pages: Vec<Lpn>,
    /// The operation of each page.
    ops: Vec<u32>,
    /// Those whose pages were written over or given up.
    riders: Vec<u32>,
    /// When it is sealed though it is not full.
    due: Option<Time>,
}

/// The program buffers of a drive. Those of urgent writes, if these have blocks of their own, come
/// last.
pub(crate) struct Trays {
    each: Vec<Tray>,
    /// Pages of a full program buffer.
    size: usize,
    /// Operations in all of them.
    held: usize,
}

impl Trays {
    /// Empty program buffers of `size` pages.
    pub(crate) fn new(trays: usize, size: u32) -> Self {
        let each = (0..trays).map(|_| Tray::default()).collect();
        Self { each, size: size as usize, held: 0 }
    }

    /// Whether writes wait for others at all.
    #[inline]
    pub(crate) fn are_used(&self) -> bool {
        self.size > 1
    }

    /// Operations in program buffers.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether a page waits in a program buffer: in `at`, or in that of urgent writes beside it.
    #[inline]
    pub(crate) fn find(&self, at: usize, apart: usize, lpn: Lpn) -> Option<usize> {
        let mut both = [at, at + apart].into_iter().filter(|at| *at < self.each.len());
        both.find(|at| self.each[*at].pages.contains(&lpn))
    }

    /// Puts a write into a program buffer. Returns whether that is full now.
    pub(crate) fn add(&mut self, at: usize, lpn: Lpn, op: u32, ops: &mut Ops) -> bool {
        let tray = &mut self.each[at];
        self.held += 1;
        if let Some(place) = tray.pages.iter().position(|page| *page == lpn) {
            let before = std::mem::replace(&mut tray.ops[place], op);
            ops[before].rides = true;
            tray.riders.push(before);
        } else {
            tray.pages.push(lpn);
            tray.ops.push(op);
        }
        tray.pages.len() == self.size
    }

    /// The host gave a page up.
    pub(crate) fn drop_page(&mut self, at: usize, lpn: Lpn, ops: &mut Ops) {
        let tray = &mut self.each[at];
        let place = tray.pages.iter().position(|page| *page == lpn).expect("it was found there");
        tray.pages.remove(place);
        let op = tray.ops.remove(place);
        ops[op].rides = true;
        tray.riders.push(op);
    }

    /// A program buffer that is not empty is flushed at `due` at the latest.
    pub(crate) fn seal_at(&mut self, at: usize, due: Time) {
        let tray = &mut self.each[at];
        if !tray.ops.is_empty() || !tray.riders.is_empty() {
            tray.due = Some(tray.due.map_or(due, |known| known.min(due)));
        }
    }

    /// The same of all.
    pub(crate) fn seal_all_at(&mut self, due: Time) {
        (0..self.each.len()).for_each(|at| self.seal_at(at, due));
    }

    /// Whether only superseded writes are left in a program buffer.
    pub(crate) fn is_given_up(&self, at: usize) -> bool {
        self.each[at].pages.is_empty()
    }

    /// The program buffer with most pages, the first of several.
    pub(crate) fn fullest(&self) -> usize {
        let most = (0..self.each.len()).rev().max_by_key(|at| self.each[*at].pages.len());
        most.expect("there are trays")
    }

    /// When the next is due.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.each.iter().filter_map(|tray| tray.due).min()
    }

    /// One that is due.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<usize> {
        self.each.iter().position(|tray| tray.due.is_some_and(|due| due <= now))
    }

    /// Empties a program buffer. Returns the first of its operations as a group, those with pages
    /// first, in order.
    pub(crate) fn take(&mut self, at: usize, ops: &mut Ops) -> Option<u32> {
        let tray = &mut self.each[at];
        self.held -= tray.ops.len() + tray.riders.len();
        tray.due = None;
        tray.pages.clear();
        let mut all = tray.ops.drain(..).chain(tray.riders.drain(..));
        let first = all.next()?;
        let mut last = first;
        for op in all {
            ops.set_also(last, op);
            last = op;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Owner, PageOp};
    use kernel::Prio;
    use nand::Verb;

    #[test]
    fn the_fullest_is_the_first_with_most_pages() {
        let (mut trays, mut ops) = (Trays::new(4, 8), Ops::new());
        let mut lay = |trays: &mut Trays, at: usize, page: u32| {
            let lpn = Lpn::from_u32(page);
            let op =
                PageOp::new(Owner::Host(0), Verb::Program, Prio::Normal, Some(lpn), Time::ZERO);
            let op = ops.add(op);
            trays.add(at, lpn, op, &mut ops)
        };
        for (page, at, fullest) in [(0, 2, 2), (1, 1, 1), (2, 3, 1), (3, 3, 3), (4, 2, 2)] {
            assert!(!lay(&mut trays, at, page));
            assert_eq!(trays.fullest(), fullest, "after page {page}");
        }
        // A page that is overwritten takes no more space, and does not count as another page.
        assert!(!lay(&mut trays, 3, 2));
        assert_eq!((trays.fullest(), trays.held()), (2, 6));
    }
}

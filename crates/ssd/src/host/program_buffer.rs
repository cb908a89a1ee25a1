//! The program buffers of the host. If one command programs several pages, a write waits in memory
//! for the others of its program.
//!
//! A page that is overwritten there, or trimmed, never reaches flash. Its operation stays as a
//! superseded write and is done with the others. A buffer is *flushed* when it is full or due.
//! Missing pages are then padding.

use crate::ops::Ops;
use ftl::{Lpn, ProgramBuffer};
use kernel::Time;

/// One of them.
#[derive(Default)]
struct Writes {
    /// The pages, each with its operation.
    pages: ProgramBuffer<Lpn, u32>,
    /// Operations whose pages were overwritten or trimmed.
    superseded: Vec<u32>,
    /// The time at which it is flushed even if it is not full.
    due: Option<Time>,
}

/// The program buffers of a drive. Those of urgent writes, if these have blocks of their own, come
/// last.
pub(crate) struct ProgramBuffers {
    each: Vec<Writes>,
    /// Pages of a full program buffer.
    unit: u32,
    /// Operations in all of them.
    held: usize,
}

impl ProgramBuffers {
    /// Empty program buffers for commands that program `unit` pages.
    pub(crate) fn new(program_buffers: usize, unit: u32) -> Self {
        let each = (0..program_buffers).map(|_| Writes::default()).collect();
        Self { each, unit, held: 0 }
    }

    /// Whether writes wait for others at all.
    #[inline]
    pub(crate) fn are_used(&self) -> bool {
        self.unit > 1
    }

    /// Operations in program buffers.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether a page waits in a program buffer: in `at`, or in those of other kinds of writes, which
    /// are `apart`.
    #[inline]
    pub(crate) fn find(&self, at: usize, apart: usize, lpn: Lpn) -> Option<usize> {
        let mut kinds = (at..self.each.len()).step_by(apart);
        kinds.find(|at| self.each[*at].pages.has(lpn))
    }

    /// Puts a write into a program buffer. Returns whether that is full now.
    pub(crate) fn add(&mut self, at: usize, lpn: Lpn, op: u32, ops: &mut Ops) -> bool {
        self.held += 1;
        let Writes { pages, superseded, .. } = &mut self.each[at];
        if let Some(before) = pages.write(lpn, op) {
            ops[before].superseded = true;
            superseded.push(before);
        }
        pages.fills(self.unit)
    }

    /// The host trimmed a page.
    pub(crate) fn drop_page(&mut self, at: usize, lpn: Lpn, ops: &mut Ops) {
        let Writes { pages, superseded, .. } = &mut self.each[at];
        let op = pages.remove(lpn).expect("it was found there");
        ops[op].superseded = true;
        superseded.push(op);
    }

    /// A program buffer that is not empty is flushed at `due` at the latest.
    pub(crate) fn flush_at(&mut self, at: usize, due: Time) {
        let writes = &mut self.each[at];
        if !writes.pages.is_empty() || !writes.superseded.is_empty() {
            writes.due = Some(writes.due.map_or(due, |known| known.min(due)));
        }
    }

    /// The same of all.
    pub(crate) fn flush_all_at(&mut self, due: Time) {
        (0..self.each.len()).for_each(|at| self.flush_at(at, due));
    }

    /// Whether only superseded writes are left in a program buffer.
    pub(crate) fn is_given_up(&self, at: usize) -> bool {
        self.each[at].pages.is_empty()
    }

    /// The program buffer with the most pages; the first, if there are several.
    pub(crate) fn fullest(&self) -> usize {
        let most = (0..self.each.len()).rev().max_by_key(|at| self.each[*at].pages.len());
        most.expect("there are program buffers")
    }

    /// When the next is due.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.each.iter().filter_map(|writes| writes.due).min()
    }

    /// One that is due.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<usize> {
        self.each.iter().position(|writes| writes.due.is_some_and(|due| due <= now))
    }

    /// Empties a program buffer. Returns the first of its operations as a group, those with pages
    /// first, in order.
    pub(crate) fn take(&mut self, at: usize, ops: &mut Ops) -> Option<u32> {
        let Writes { pages, superseded, due } = &mut self.each[at];
        *due = None;
        self.held -= pages.len() + superseded.len();
        let pages = pages.take(self.unit).map(|(_, op)| op);
        let mut all = pages.chain(superseded.drain(..));
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
    use ftl::HostTag;
    use nand::Verb;

    #[test]
    fn the_fullest_is_the_first_with_most_pages() {
        let (mut program_buffers, mut ops) = (ProgramBuffers::new(4, 8), Ops::new());
        let mut lay = |program_buffers: &mut ProgramBuffers, at: usize, page: u32| {
            let lpn = Lpn::from_u32(page);
            let op = PageOp::new(
                Owner::Host(0),
                Verb::Program,
                HostTag::default(),
                Some(lpn),
                Time::ZERO,
            );
            let op = ops.add(op);
            program_buffers.add(at, lpn, op, &mut ops)
        };
        for (page, at, fullest) in [(0, 2, 2), (1, 1, 1), (2, 3, 1), (3, 3, 3), (4, 2, 2)] {
            assert!(!lay(&mut program_buffers, at, page));
            assert_eq!(program_buffers.fullest(), fullest, "after page {page}");
        }
        // A page that is overwritten takes no more space, and does not count as another page.
        assert!(!lay(&mut program_buffers, 3, 2));
        assert_eq!((program_buffers.fullest(), program_buffers.held()), (2, 6));
    }
}

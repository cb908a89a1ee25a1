//! Requests are split into touches of pages, and every page has a record.

use kernel::Bytes;

use super::Sampling;
use super::characters::{Characters, Footprint, Identification, Sums};
use super::concentration::{Concentration, TouchTally};
use super::page::{Page, SLOTS};
use super::pages::{GROUP_SHIFT, PagesFound, TouchedPages};
use super::recency::Recency;
use super::reuse::{Distances, Reuse};
use crate::{Op, Request};

/// The number of requests by which prefetches of the table and the records run ahead.
const FAR: usize = 16;
const NEAR: usize = 8;

pub(super) struct Touches {
    page_shift: u32,
    pages: TouchedPages,
    recency: Recency,
    distances: Distances,
    /// By reads and by writes, sampled or not.
    by_op: [u64; 2],
}

/// The totals of all pages.
pub(super) struct OfPages {
    pub(super) sampling: Sampling,
    pub(super) footprint: Footprint,
    pub(super) characters: Characters,
    pub(super) identification: Identification,
    pub(super) reuse: Reuse,
    pub(super) reads: Concentration,
    pub(super) writes: Concentration,
}

impl Touches {
    pub(super) fn new(page_size: Bytes, memory: Bytes) -> Self {
        Self::with_slots(page_size, memory, SLOTS)
    }

    /// With space for `slots` touches before they are numbered anew.
    pub(super) fn with_slots(page_size: Bytes, memory: Bytes, slots: u32) -> Self {
        Self {
            page_shift: page_size.get().ilog2(),
            pages: TouchedPages::new(memory.get()),
            recency: Recency::new(slots),
            distances: Distances::default(),
            by_op: [0; 2],
        }
    }

    pub(super) fn observe(&mut self, batch: &[Request]) {
        let group_shift = self.page_shift + GROUP_SHIFT;
        for (i, r) in batch.iter().enumerate() {
            if let Some(ahead) = batch.get(i + FAR) {
                self.pages.prefetch(ahead.offset >> group_shift);
            }
            if let Some(ahead) = batch.get(i + NEAR) {
                self.pages.prefetch_records(ahead.offset >> group_shift);
            }
            if r.op == Op::Trim {
                continue;
            }
            let end = ((r.end() - 1) >> self.page_shift) + 1;
            let mut page = r.offset >> self.page_shift;
            self.by_op[usize::from(r.op == Op::Write)] += end - page;
            while page < end {
                let group = page >> GROUP_SHIFT;
                let stop = end.min((group + 1) << GROUP_SHIFT);
                self.touch(group, (page % (1 << GROUP_SHIFT)) as u32, (stop - page) as u32, r.op);
                page = stop;
            }
        }
    }

    /// Touches `n` pages of a group from its page `first` on.
    #[inline]
    fn touch(&mut self, group: u64, first: u32, n: u32, op: Op) {
        if !self.recency.has_room(n) {
            self.pages.each_mut(|page| page.set_slot(self.recency.rank(page.slot())));
            self.recency.pack();
        }
        let Self { pages, recency, distances, .. } = self;
        loop {
            let weight = pages.weight();
            match pages.get(group, first, n) {
                PagesFound::Unsampled => return,
                PagesFound::Full => pages.make_room(|page| recency.remove(page.slot(), 1)),
                PagesFound::Pages(mut rest) => {
                    while let Some(run) = run(rest) {
                        let (now, later) = rest.split_at_mut(run);
                        rest = later;
                        let len = now.len() as u32;
                        if now[0].is_new() {
                            distances.note_first(u64::from(len) * weight);
                        } else {
                            // The pages of a run were touched one after the other, and are so
                            // again. Between its two touches each of them sees the others, and all
                            // that came after the last of them.
                            let slot = now[0].slot();
                            let others = recency.after(slot + len - 1) + len - 1;
                            distances.note(u64::from(others) * weight, u64::from(len) * weight);
                            recency.remove(slot, len);
                        }
                        let slot = recency.push(len);
                        for (page, slot) in now.iter_mut().zip(slot..) {
                            page.touch(op);
                            page.set_slot(slot);
                        }
                    }
                    return;
                }
            }
        }
    }

    pub(super) fn finish(self) -> OfPages {
        let page_bytes = 1 << self.page_shift;
        let weight = self.pages.weight();
        let (mut sums, mut reads, mut writes) =
            (Sums::default(), TouchTally::new(), TouchTally::new());
        let mut sampled = 0;
        self.pages.each(|number, page| {
            sampled += 1;
            sums.add(*page);
            reads.add(number, page.reads);
            writes.add(number, page.writes);
        });
        let sampling =
            Sampling { rate: 1.0 / weight as f64, pages: sampled, groups: self.pages.groups() };
        let (footprint, characters, identification) = sums.finish(weight, page_bytes, self.by_op);
        OfPages {
            sampling,
            footprint,
            characters,
            identification,
            reuse: self.distances.finish(),
            reads: reads.finish(weight, page_bytes),
            writes: writes.finish(weight, page_bytes),
        }
    }
}

/// The number of pages at the front that are all new, or were touched one after the other.
#[inline]
fn run(pages: &[Page]) -> Option<usize> {
    let first = pages.first()?;
    let new = first.is_new();
    let goes_on = |(page, slot): (&Page, u32)| page.is_new() == new && (new || page.slot() == slot);
    Some(pages.iter().zip(first.slot()..).take_while(|&pair| goes_on(pair)).count())
}

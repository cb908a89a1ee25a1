//! Filling and ageing where one command programs several pages: those that were written wait for
//! others to be programmed with, without time.

use crate::{Ftl, Lpn, PolicyTypes, StreamId};
use kernel::Time;
use nand::{Source, Store, Tag};

/// Pages that were written and are not in flash yet, each with its data. There is one buffer if a
/// page may go to any plane, and otherwise one for each plane.
pub(crate) type BufferedPages<D> = Vec<Vec<(Lpn, D)>>;

type Page<K> = <<K as PolicyTypes>::Store as Store>::Page;

impl<K: PolicyTypes> Ftl<K> {
    /// Takes a page. `false`: its buffer is full, and flash has no space for it.
    pub(crate) fn buffer_page(&mut self, lpn: Lpn, data: Page<K>, now: Time) -> bool {
        let at = self.program_buffer_of(lpn);
        let program_buffer = &mut self.buffered[at];
        // A page is hardly ever there twice: some are compared at once.
        let holds = |some: &[(Lpn, _)]| some.iter().filter(|(page, _)| *page == lpn).count() > 0;
        if program_buffer.chunks(16).any(holds)
            && let Some((_, known)) =
                program_buffer.iter_mut().find(|(buffered, _)| *buffered == lpn)
        {
            *known = data;
            return true;
        }
        program_buffer.push((lpn, data));
        let flushed =
            program_buffer.len() < self.space.unit() as usize || self.flush_buffered(at, now);
        if !flushed {
            self.buffered[at].pop();
        }
        flushed
    }

    /// Forgets a page that was given up; whether it was there.
    pub(crate) fn forget_buffered(&mut self, lpn: Lpn) -> bool {
        let at = self.program_buffer_of(lpn);
        let place = self.buffered[at].iter().position(|(buffered, _)| *buffered == lpn);
        place.map(|place| self.buffered[at].remove(place)).is_some()
    }

    /// Programs the pages that wait when filling or ageing ends. Missing pages are padding.
    ///
    /// # Panics
    ///
    /// If there is no room.
    pub fn flush_buffered_pages(&mut self, now: Time) {
        for at in 0..self.buffered.len() {
            let flushed = self.buffered[at].is_empty() || self.flush_buffered(at, now);
            assert!(flushed, "a legal drive has room for what was written before the run");
        }
    }

    fn flush_buffered(&mut self, at: usize, now: Time) -> bool {
        let first = self.buffered[at][0].0;
        let home = self.spread(first);
        let tag = Tag::of(Source::Host);
        // Their old slots lie anywhere, so one after the other each would miss the caches.
        self.buffered[at]
            .iter()
            .for_each(|(lpn, _)| self.map.prefetch_slot(*lpn, &self.space.geometry));
        for plane in self.planes_from(home) {
            let given = self.allocate(plane, StreamId::HOST, first, tag, now);
            let Some((_, block, slot)) = given else { continue };
            let mut program_buffer = std::mem::take(&mut self.buffered[at]);
            self.space.pad(program_buffer.len() as u32, Source::Host);
            for (slot, (lpn, _)) in (slot..).zip(&program_buffer) {
                self.bind_host(*lpn, self.space.geometry.ppn(block, slot), block, slot, now);
            }
            let first = self.space.geometry.ppn(block, slot);
            self.unit_done(first, program_buffer.drain(..), tag, now);
            self.buffered[at] = program_buffer;
            if self.has_ready() {
                self.settle(now);
            }
            return true;
        }
        false
    }
}

//! Filling and ageing where one command programs several pages: those that were written wait for
//! others to be programmed with, without time.

use crate::{Ftl, Kit, Lpn, Placement, StreamId};
use kernel::Time;
use nand::{Source, Store, Tag};

/// Pages that were written and are not in flash yet, each with its data. There is one buffer if a
/// page may go to any plane, and otherwise one for each plane.
pub(crate) type Staged<D> = Vec<Vec<(Lpn, D)>>;

type Page<K> = <<K as Kit>::Store as Store>::Page;

impl<K: Kit> Ftl<K> {
    /// Takes a page. `false`: its buffer is full, and flash has no space for it.
    pub(crate) fn stage(&mut self, lpn: Lpn, data: Page<K>, now: Time) -> bool {
        let at = self.tray_of(lpn);
        let tray = &mut self.staged[at];
        // A page is hardly ever there twice: some are compared at once.
        let holds = |some: &[(Lpn, _)]| some.iter().filter(|(page, _)| *page == lpn).count() > 0;
        if tray.chunks(16).any(holds)
            && let Some((_, known)) = tray.iter_mut().find(|(staged, _)| *staged == lpn)
        {
            *known = data;
            return true;
        }
        tray.push((lpn, data));
        let sealed = tray.len() < self.space.unit() as usize || self.seal_staged(at, now);
        if !sealed {
            self.staged[at].pop();
        }
        sealed
    }

    /// Forgets a page that was given up; whether it was there.
    pub(crate) fn unstage(&mut self, lpn: Lpn) -> bool {
        let at = self.tray_of(lpn);
        let place = self.staged[at].iter().position(|(staged, _)| *staged == lpn);
        place.map(|place| self.staged[at].remove(place)).is_some()
    }

    /// Programs the pages that wait when filling or ageing ends. Missing pages are padding.
    ///
    /// # Panics
    ///
    /// If there is no room.
    pub fn seal_staged_pages(&mut self, now: Time) {
        for at in 0..self.staged.len() {
            let sealed = self.staged[at].is_empty() || self.seal_staged(at, now);
            assert!(sealed, "a legal drive has room for what was written before the run");
        }
    }

    fn seal_staged(&mut self, at: usize, now: Time) -> bool {
        let first = self.staged[at][0].0;
        let home = self.policies.placement.spread(first);
        let tag = Tag::of(Source::Host);
        // Their old slots lie anywhere, so one after the other each would miss the caches.
        self.staged[at]
            .iter()
            .for_each(|(lpn, _)| self.map.prefetch_slot(*lpn, &self.space.geometry));
        for plane in self.planes_from(home) {
            let given = self.allocate(plane, StreamId::HOST, first, tag, now);
            let Some((_, block, slot)) = given else { continue };
            let mut tray = std::mem::take(&mut self.staged[at]);
            self.space.pad(tray.len() as u32, Source::Host);
            for (slot, (lpn, _)) in (slot..).zip(&tray) {
                self.bind_host(*lpn, self.space.geometry.ppn(block, slot), block, slot, now);
            }
            let first = self.space.geometry.ppn(block, slot);
            self.unit_done(first, tray.drain(..), tag, now);
            self.staged[at] = tray;
            if self.has_ready() {
                self.settle(now);
            }
            return true;
        }
        false
    }
}

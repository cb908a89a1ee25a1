//! Moves that leave the data in the die: a page is read into its plane's register and programmed
//! from there, without the channel.
//!
//! Errors of such a page are not corrected on its way. So it may be moved like this only a limited
//! number of times before it goes through the controller again. A page moves as a whole, and only
//! collection moves it so. The register holds one page: the die does nothing else between read and
//! program.

use super::{JobId, Task};
use crate::{Ftl, Hold, PolicyTypes};
use kernel::IndexVec;
use nand::{BlockId, Ppn};

/// The state of a drive with such moves.
pub(crate) struct Copyback {
    limit: u8,
    /// How often the data in each page were moved without correction, by its first slot.
    times: IndexVec<Ppn, u8>,
    /// Slots whose data were moved so.
    pub(crate) moved: u64,
}

impl<K: PolicyTypes> Ftl<K> {
    /// From now on collection moves pages inside their plane, each at most `limit` times in a row.
    pub fn copy_back(&mut self, limit: u8) {
        let times = IndexVec::filled(0, self.space.geometry.pages());
        self.jobs.copyback = Some(Box::new(Copyback { limit, times, moved: 0 }));
    }

    /// Slots whose data were moved inside their planes; `None` if the drive does not do this.
    pub fn copied_back(&self) -> Option<u64> {
        self.jobs.copyback.as_ref().map(|copyback| copyback.moved)
    }

    /// A job is about to read a page, of which some slots leave. Returns whether the data stays in
    /// the die.
    #[cold]
    pub(super) fn decide_copyback(&mut self, id: JobId, from: Ppn, slots: u32) {
        let Some(copyback) = &self.jobs.copyback else { return };
        let whole = copyback.times[from] < copyback.limit && slots == self.space.unit();
        // The plane has lent its last block, because the rest of the victim before fits the open
        // one. It comes back when that is programmed, so nothing goes ahead of it.
        let job = self.jobs.get(id);
        let behind = job.buffer.has_unfinished() && self.space.free_blocks(job.plane) == 0;
        let allowed = whole && !behind;
        let job = self.jobs.get_mut(id);
        job.copyback = allowed && matches!(job.task, Task::Collect(_));
        if job.copyback {
            job.hold = Hold::Die;
        }
    }

    /// The page that a job has read has its slots. Decides whether its data are programmed from the
    /// register. If not, they must leave the register first.
    #[cold]
    pub(super) fn note_copyback(&mut self, id: JobId, from: Ppn, to: Ppn) {
        let geometry = self.space.geometry;
        let [(old, _), (new, slot)] = [from, to].map(|ppn| geometry.split(ppn));
        let inside = geometry.plane_of(old) == geometry.plane_of(new);
        let next = self.space.array().next_page(new) == slot;
        let unit = self.space.unit();
        let job = self.jobs.get_mut(id);
        job.hold = Hold::Place;
        job.copyback &= inside && next;
        job.data_out = !job.copyback;
        let allowed = job.copyback;
        if let Some(copyback) = &mut self.jobs.copyback
            && allowed
        {
            copyback.times[to] = copyback.times[from] + 1;
            copyback.moved += u64::from(unit);
        }
    }

    /// The page that was read is not moved after all.
    #[cold]
    pub(super) fn note_data_out(&mut self, id: JobId) {
        let job = self.jobs.get_mut(id);
        job.hold = Hold::Place;
        job.copyback = false;
        job.data_out = !job.buffer.is_empty();
    }

    /// A block has been erased: its future pages have not been moved.
    #[cold]
    pub(super) fn forget_copies(&mut self, block: BlockId) {
        let geometry = self.space.geometry;
        let Some(copyback) = &mut self.jobs.copyback else { return };
        for slot in 0..geometry.pages_per_block() {
            copyback.times[geometry.ppn(block, slot)] = 0;
        }
    }
}

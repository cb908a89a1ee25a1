//! Where moved pages go, what a job does when there is no room, and how blocks become free.

use super::{JobId, Kind, Phase, WaitFor};
use crate::State;
use crate::ask::{Interests, Kit, Placement, ReadDisturb};
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::plan::Dest;
use crate::stream::StreamId;
use kernel::{Prio, Time};
use nand::{BlockId, PlaneId, Ppn, Source, Tag};

impl<K: Kit> Ftl<K> {
    /// A slot for a page that a job moves.
    pub(super) fn place_move(
        &mut self,
        id: JobId,
        lpn: Lpn,
        dest: Dest,
        tag: Tag,
        now: Time,
    ) -> Option<Ppn> {
        let plane = self.jobs.get(id).plane;
        let stream = match dest {
            Dest::Block(block) => match self.append(block) {
                Some(ppn) => return Some(ppn),
                None => self.blocks.stream(block),
            },
            Dest::Stream(stream) | Dest::Fresh(stream) => stream,
        };
        if let Some((ppn, ..)) = self.allocate(plane, stream, lpn, tag, now) {
            return Some(ppn);
        }
        if tag.source == Source::Gc && stream != StreamId::GC {
            // A policy's stream has no room, and garbage collection must go on: it has its reserve.
            return self.allocate(plane, StreamId::GC, lpn, tag, now).map(|(ppn, ..)| ppn);
        }
        // The plane is full. Reclaiming always has its reserve; anything else may go elsewhere,
        // unless every plane needs its spare blocks for the pages that must come back to it.
        if !self.policies.placement.is_free() {
            return None;
        }
        let planes = self.geometry.planes() as u32;
        (1..planes).find_map(|d| {
            let other = PlaneId::from_u32((plane.as_u32() + d) % planes);
            self.allocate(other, stream, lpn, tag, now).map(|(ppn, ..)| ppn)
        })
    }

    /// There is no slot for the page that a job has read. While it waits, the block that it empties
    /// must not be out of garbage collection's reach: the space that it waits for may lie there.
    pub(super) fn await_space(&mut self, id: JobId, block: BlockId, slot: u32, plane: PlaneId) {
        self.wait(id, WaitFor::Space(plane));
        let job = self.jobs.get_mut(id);
        if job.kind == Kind::Collect {
            return;
        }
        // The block may be erased meanwhile, so what was read is no longer worth anything.
        job.data = None;
        job.cursor = slot;
        job.phase = Phase::Scan;
        if job.reclaim {
            job.phase = Phase::Retaking;
            self.give_back(block);
        }
    }

    /// A block that a job had taken is a candidate again.
    pub(super) fn give_back(&mut self, block: BlockId) {
        self.blocks.end_move(block);
        if self.starved_planes > 0 {
            self.feed(block);
        }
    }

    /// The next slot of a partly written block that is nobody's frontier.
    fn append(&mut self, block: BlockId) -> Option<Ppn> {
        let plane = self.geometry.plane_of(block);
        if self.blocks.state(block) != State::Open
            || self.planes.frontier(plane, self.blocks.stream(block)) == Some(block)
        {
            return None; // a frontier is written through its stream
        }
        let (slot, last) = self.next_slot(block)?;
        self.blocks.set_written(block, slot + 1);
        if last {
            self.blocks.set_full(block);
        }
        Some(self.geometry.ppn(block, slot))
    }

    /// Makes a partly written block complete. `Some`: what to wait for before it is.
    pub(super) fn seal(&mut self, block: BlockId, now: Time) -> Option<WaitFor> {
        match self.blocks.state(block) {
            State::Open => {}
            State::Full => return Some(WaitFor::Program(block)),
            State::Free | State::Closed | State::Moving | State::Bad => return None,
        }
        let (plane, stream) = (self.geometry.plane_of(block), self.blocks.stream(block));
        if self.planes.frontier(plane, stream) == Some(block) {
            // A victim may be on its way there, and no other place be left for its pages.
            if !self.reserves(plane) {
                return Some(WaitFor::Space(plane));
            }
            self.planes.set_frontier(plane, stream, None);
            self.update_writable(plane);
            if self.is_short(plane, self.config.gc.start) {
                self.request_gc(plane, Source::Refresh, Prio::Normal);
            }
        }
        let mode = self.array.mode(block);
        let given = self.layouts.slots_before(mode, self.blocks.written(block));
        self.counts.sealed += u64::from(self.layouts.slots(mode) - given);
        self.blocks.set_full(block);
        if self.array.next_page(block) < self.blocks.written(block) {
            return Some(WaitFor::Program(block));
        }
        self.close(block, now);
        None
    }

    /// A block that is complete in its first generation begins its second: it joins its plane's
    /// free blocks with what it keeps.
    #[cold]
    pub(super) fn begin_again(&mut self, block: BlockId, why: Tag, now: Time) {
        self.array.begin_second_generation(block);
        self.counts.second_lives += 1;
        if self.blocks.valid(block) == 0 {
            self.set_free(block, why, now);
            return;
        }
        self.counts.kept += u64::from(self.blocks.valid(block));
        let plane = self.geometry.plane_of(block);
        let held = self.held_at(plane, self.blocks.stream(block));
        self.held[held] -= 1;
        self.blocks.set_reusable(block);
        self.planes.get_mut(plane).free.push_back(block);
        self.join_free(plane, block, now);
    }

    /// An emptied block joins its plane's free blocks.
    pub(crate) fn set_free(&mut self, block: BlockId, why: Tag, now: Time) {
        let plane = self.geometry.plane_of(block);
        let held = self.held_at(plane, self.blocks.stream(block));
        self.held[held] -= 1;
        if !self.reads.is_empty() {
            if why.source == Source::Refresh {
                self.owe(plane, -i64::from(self.geometry.pages_per_block()));
            }
            self.begin_count(block, why, now);
        }
        let retired = self.retire(block);
        if !retired {
            self.blocks.set_free(block);
        }
        if !retired {
            self.planes.get_mut(plane).free.push_back(block);
        }
        self.join_free(plane, block, now);
    }

    /// A plane has a free block more: those who wait for it may go on.
    #[inline]
    fn join_free(&mut self, plane: PlaneId, block: BlockId, now: Time) {
        self.update_writable(plane);
        self.freed = true;
        if !self.waiting.is_empty() {
            let anywhere = self.policies.placement.is_free();
            self.wake(|w| matches!(w, WaitFor::Space(p) if anywhere || p == plane));
        }
        if self.interests.all.has(Interests::BLOCK) {
            self.tell(&mut |w| w.on_erase(block, now));
        }
    }

    /// Refreshes take space of a plane, or give it back.
    pub(crate) fn owe(&mut self, plane: PlaneId, pages: i64) {
        if let Some(owed) = self.owed.get_mut(plane.as_u32() as usize) {
            *owed += pages;
        }
    }

    /// For whom a victim is collected. A refresh that gives back the block that it took needs
    /// nothing, even if it came when the plane was just short of space; what it keeps (blocks that
    /// hold less, or are partly written) is collected for it, whoever comes then.
    pub(super) fn needed_by(&mut self, plane: PlaneId, asked: Source, victim: BlockId) -> Source {
        let Some(owed) = self.owed.get_mut(plane.as_u32() as usize) else { return asked };
        if *owed > 0 {
            *owed -= i64::from(self.blocks.gain(victim));
            return Source::Refresh;
        }
        if asked == Source::Refresh { Source::Host } else { asked }
    }

    /// The reads of an erased block count from zero again.
    #[cold]
    fn begin_count(&mut self, block: BlockId, why: Tag, now: Time) {
        let role = self.blocks.role(block);
        let reads = std::mem::take(&mut self.reads[block.as_u32() as usize]);
        self.relieved = true;
        self.policies.read_disturb.on_erased(block, role, reads, why, now);
    }
}

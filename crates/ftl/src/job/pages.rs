//! How pages leave a block, one after the other, and what becomes of the block.

use super::{Action, Condition, Doing, JobId, Task};
use crate::space::Space;
use crate::{Coding, Dest, Ftl, FtlView, Kit, Lpn, Map, NextLife, StreamId};
use kernel::Time;
use nand::{BlockId, Mode, PlaneId, Ppn, Source, Store, Tag};

/// Pages that leave a block.
pub(super) struct Leaving {
    pub(super) block: BlockId,
    /// Those to move, when not all.
    pub(super) list: Option<Vec<u16>>,
    pub(super) cursor: u32,
    pub(super) dest: Dest,
    pub(super) then: Then,
}

/// What becomes of a block when its pages have left.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// It stays as it is: the pages were copied for another reason.
    Stay,
    /// It is erased, for whoever needs the space.
    Erase(Source),
    /// It begins its second generation.
    Again,
}

/// The next of them.
pub(super) enum Next {
    /// It is to be read and written elsewhere.
    Page { block: BlockId, from: Ppn, to: Dest },
    /// It is still on its way to the cells: only blocks that are not closed have such.
    Unwritten(BlockId),
    /// There is none.
    None { block: BlockId, then: Then },
}

impl Leaving {
    #[inline]
    pub(super) fn next<S: Store>(&mut self, map: &Map, space: &Space<S>) -> Next {
        let &mut Self { block, then, dest: to, .. } = self;
        let Some(slot) = self.next_valid(map) else { return Next::None { block, then } };
        let from = space.geometry.ppn(block, slot);
        if !space.array().is_written(from) {
            return Next::Unwritten(block);
        }
        self.cursor = slot + 1;
        Next::Page { block, from, to }
    }

    #[inline]
    fn next_valid(&self, map: &Map) -> Option<u32> {
        let Some(list) = &self.list else { return map.next_valid(self.block, self.cursor) };
        let from = list.partition_point(|&slot| u32::from(slot) < self.cursor);
        let valid = list[from..].iter().find(|&&slot| map.is_valid(self.block, slot.into()));
        valid.map(|&slot| slot.into())
    }
}

impl<K: Kit> Ftl<K> {
    /// Takes a block whose pages are to leave, so that it can be erased, out of the candidates.
    pub(super) fn begin_reclaim(
        &mut self,
        block: BlockId,
        dest: Dest,
        needed_by: Source,
    ) -> Leaving {
        self.space.blocks.begin_move(block);
        self.map.prefetch_owners(block);
        let mut pages =
            Leaving { block, list: None, cursor: 0, dest, then: Then::Erase(needed_by) };
        if !self.answers.coding_plain {
            self.choose_life(&mut pages);
        }
        pages
    }

    /// Decides what a block that is being emptied becomes. For a second generation only those pages
    /// move that it needs the place of.
    #[cold]
    fn choose_life(&mut self, pages: &mut Leaving) {
        let block = pages.block;
        if self.next_life(block) != NextLife::SecondGeneration
            || self.space.condemned.contains(&block)
        {
            return;
        }
        let moves = |slot: &u32| {
            self.map.is_valid(block, *slot) && self.space.layouts.is_slot(Mode::Wom2, *slot)
        };
        let slots = (0..self.space.geometry.pages_per_block()).filter(moves);
        pages.list = Some(slots.map(|slot| slot as u16).collect());
        pages.then = Then::Again;
    }

    pub(crate) fn next_life(&mut self, block: BlockId) -> NextLife {
        if self.answers.coding_plain {
            return NextLife::Erase(Mode::Full);
        }
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        self.policies.coding.next_life(&view, block)
    }

    /// There is no slot for a page that was read. `None`: it is dropped.
    #[cold]
    pub(super) fn without_slot(
        &mut self,
        id: JobId,
        from: Ppn,
        to: Dest,
        data: super::Page<K>,
    ) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        let plane = job.plane;
        job.doing = Doing::Nothing;
        match &mut job.task {
            Task::Collect(_) => job.doing = Doing::Placing { from, to, data },
            // The block may be erased meanwhile, so what was read is no longer worth anything.
            Task::Plan(run) => {
                if let Some(block) = run.put_off(self.space.geometry.split(from).1) {
                    // The space that it waits for may lie in the block that it empties: that must not
                    // be out of garbage collection's reach.
                    self.give_back(block);
                }
            }
            Task::Rewrite(_) => {
                self.jobs.counts.dropped += 1;
                return None;
            }
        }
        Some(self.wait(id, self.space_in(plane)))
    }

    /// A slot for a page that a job moves.
    pub(super) fn place_move(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        dest: Dest,
        tag: Tag,
        now: Time,
    ) -> Option<Ppn> {
        let stream = match dest {
            Dest::Block(block) => match self.space.append(block) {
                Some(ppn) => return Some(ppn),
                None => self.space.blocks.stream(block),
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
        if !self.answers.anywhere {
            return None;
        }
        let planes = self.space.geometry.planes() as u32;
        (1..planes).find_map(|d| {
            let other = PlaneId::from_u32((plane.as_u32() + d) % planes);
            self.allocate(other, stream, lpn, tag, now).map(|(ppn, ..)| ppn)
        })
    }

    /// A block that a job had taken is a candidate again.
    pub(super) fn give_back(&mut self, block: BlockId) {
        self.space.blocks.end_move(block);
        if self.space.any_starves() {
            self.feed(block);
        }
    }

    /// The last page has left a block. `None`: the task goes on at once.
    pub(super) fn emptied(
        &mut self,
        id: JobId,
        block: BlockId,
        then: Then,
        now: Time,
    ) -> Option<Action> {
        if then != Then::Stay && self.space.blocks.pins(block) > 0 {
            return Some(self.wait(id, Condition::Pins(block)));
        }
        let job = self.jobs.get_mut(id);
        job.task.end_pages();
        match then {
            Then::Stay => None,
            Then::Again => {
                let tag = job.tag;
                self.begin_again(block, tag, now);
                None
            }
            Then::Erase(needed_by) => {
                let mode = match self.next_life(block) {
                    NextLife::Erase(mode) => mode,
                    NextLife::SecondGeneration => Mode::Wom1, // it could have had one, and was not to
                };
                self.space.widen_for(mode);
                self.jobs.get_mut(id).doing = Doing::Erasing { block, mode, needed_by };
                Some(Action::Erase(block))
            }
        }
    }
}

//! Placement handles (flexible data placement of NVMe): the data of each, and the events of their
//! reclaim units.
//!
//! The separation policy keeps the writes of handles apart, and decides where moved data go. Here
//! each slot has the handle whose write its data came with, so every program counts for one
//! handle, also where moved data of several share a unit.

use crate::{Ftl, HandleSpec, Interests, PolicyTypes, StreamClass, StreamId};
use kernel::{Idx, Prio, Time};
use nand::{BlockId, Geometry, PlaneId, Ppn, Source, Tag};

/// The work for one handle, in slots.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct HandleCounts {
    /// Slots programmed with its data, and padding of its writes.
    pub programmed: u64,
    /// Of these, the ones that were moved.
    pub moved: u64,
}

/// How often something happened to reclaim units, by the event's name in NVMe.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct HandleEvents {
    /// A handle was updated, and left a unit that was written in part.
    pub not_fully_written: u64,
    /// A unit was erased whose valid data had been moved to another.
    pub reallocated: u64,
    /// The drive closed the open unit of a handle before it was full.
    pub modified: u64,
}

/// The placement handles of a drive.
pub struct Handles {
    spec: HandleSpec,
    /// The handle of the data in each slot.
    owners: Vec<u8>,
    /// Whether data were moved out of a superblock, by its first block.
    left: Vec<bool>,
    counts: Vec<HandleCounts>,
    events: HandleEvents,
    /// Open units to be closed as soon as collection can do without them.
    late: Vec<(PlaneId, StreamId)>,
}

impl Handles {
    fn new(spec: HandleSpec, geometry: &Geometry) -> Self {
        Self {
            spec,
            owners: vec![0; geometry.pages()],
            left: vec![false; geometry.blocks()],
            counts: vec![HandleCounts::default(); spec.count.into()],
            events: HandleEvents::default(),
            late: Vec::new(),
        }
    }

    /// Counts begin anew.
    pub(super) fn begin_run(&mut self) {
        self.counts.fill(HandleCounts::default());
        self.events = HandleEvents::default();
        self.left.fill(false);
        self.late.clear();
    }

    /// The handles as they were declared.
    pub fn spec(&self) -> &HandleSpec {
        &self.spec
    }

    /// The work for each of them.
    pub fn counts(&self) -> &[HandleCounts] {
        &self.counts
    }

    /// The events so far.
    pub fn events(&self) -> HandleEvents {
        self.events
    }

    /// The handle of the data in a slot.
    pub fn owner(&self, slot: Ppn) -> u8 {
        self.owners[slot.index()]
    }

    pub(super) fn owners(&self) -> &[u8] {
        &self.owners
    }

    /// The handle of each slot, and the number of handles.
    pub(super) fn owners_mut(&mut self) -> (&mut [u8], u8) {
        (&mut self.owners, self.spec.count)
    }

    /// A slot was programmed.
    pub(super) fn programmed(&mut self, slot: Ppn, source: Source) {
        let counts = &mut self.counts[usize::from(self.owners[slot.index()])];
        counts.programmed += 1;
        counts.moved += u64::from(source != Source::Host);
    }

    /// A page has another slot.
    pub(super) fn moved(&mut self, from: Ppn, to: Ppn, geometry: &Geometry) {
        self.owners[to.index()] = self.owners[from.index()];
        self.left[geometry.superblock_of(geometry.block_of(from)).index()] = true;
    }

    /// A superblock was erased.
    pub(super) fn erased(&mut self, superblock: BlockId) {
        self.events.reallocated += u64::from(std::mem::take(&mut self.left[superblock.index()]));
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// From now on the drive has placement handles. Its separation policy knows them.
    pub fn count_by_handle(&mut self, spec: HandleSpec) {
        self.handles = Some(Box::new(Handles::new(spec, &self.space.geometry)));
        self.answers.notes_writes = true;
        self.answers.interests = self.answers.interests.with(Interests::HANDLES);
    }

    /// The placement handles, if the drive has some.
    pub fn handles(&self) -> Option<&Handles> {
        self.handles.as_deref()
    }

    /// Superblocks that hold valid data of several handles.
    pub fn mixed_units(&self) -> u64 {
        let (Some(handles), geometry) = (&self.handles, &self.space.geometry) else { return 0 };
        let mixed = |superblock: &BlockId| {
            let mut first = None;
            geometry.superblocks().blocks_of(*superblock).any(|block| {
                let mut slots = (0..geometry.pages_per_block())
                    .filter(|slot| self.map.is_valid(block, *slot))
                    .map(|slot| handles.owner(geometry.ppn(block, slot)));
                slots.any(|owner| *first.get_or_insert(owner) != owner)
            })
        };
        geometry.superblock_ids().filter(mixed).count() as u64
    }

    /// The host wants later writes of a handle in a new reclaim unit: the open one of each set of dies is
    /// closed, if anything was written there. Writes that have no slot yet go to the new one.
    ///
    /// # Panics
    ///
    /// If the drive has no such handle.
    pub fn update_handle(&mut self, handle: u8, now: Time) {
        let known = self.handles.as_ref().is_some_and(|handles| handle < handles.spec.count);
        assert!(known, "the drive has no placement handle {handle}");
        let stream = self.stream_at(handle);
        for set in self.space.geometry.set_ids() {
            self.close_unit(set, stream, now);
        }
    }

    fn close_unit(&mut self, set: PlaneId, stream: StreamId, now: Time) {
        let tag = Tag::gc_for(Source::Host);
        let Some(block) = self.space.frontier(set, stream, tag) else { return };
        if self.space.rest(set, stream) == self.space.blocks.slots() {
            return; // nothing was written there
        }
        let handles = self.handles.as_mut().expect("a handle was updated");
        // A victim's pages may need the slots.
        if self.space.class_of(stream) == StreamClass::Both && !self.space.reserves(set) {
            if !handles.late.contains(&(set, stream)) {
                handles.late.push((set, stream));
            }
            return;
        }
        handles.events.not_fully_written += 1;
        let block = self.space.geometry.superblock_of(block);
        self.space.counts.sealed += self.space.complete(block);
        if self.space.is_programmed(block) {
            self.close(block, now);
        }
        self.collect_if_short(set, Source::Host, Prio::Normal);
        self.plan_pace(set);
    }

    /// A set of dies has another free superblock: closes open units that had to wait for one.
    #[cold]
    pub(super) fn close_late(&mut self, set: PlaneId, now: Time) {
        let handles = self.handles.as_mut().expect("the drive has handles");
        if let Some(at) = handles.late.iter().position(|(of, _)| *of == set) {
            let (_, stream) = handles.late.swap_remove(at);
            self.close_unit(set, stream, now);
        }
    }

    /// The drive has closed an open block for reasons of its own.
    pub(super) fn note_sealed(&mut self, block: BlockId) {
        let stream = self.space.blocks.stream(block);
        let takes_host = self.space.class_of(stream).takes_host();
        if let Some(handles) = self.handles.as_mut().filter(|_| takes_host) {
            handles.events.modified += 1;
        }
    }

    /// Pages of the host have slots of a block, from one on: they belong to the handle of its stream, as
    /// does the padding of their command.
    pub(super) fn own_by_handle(&mut self, block: BlockId, slot: u32, pages: u32) {
        let place = self.answers.separation.place_of(self.space.blocks.stream(block));
        let handle = place.expect("a write of the host goes to the unit of a handle");
        let handles = self.handles.as_mut().expect("the drive has handles");
        for slot in slot..slot + pages {
            handles.owners[self.space.geometry.ppn(block, slot).index()] = handle;
        }
        let padding = self.space.unit() - pages;
        handles.counts[usize::from(handle)].programmed += u64::from(padding);
    }
}

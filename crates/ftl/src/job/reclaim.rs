//! Which block is reclaimed, and what becomes of it.

use super::{Job, JobId, Phase};
use crate::ask::{Balance, Coding, Kit, NextLife, ReadDisturb, Victim, Wear};
use crate::ftl::{Ftl, ftl_view};
use crate::plan::{Dest, Plan};
use crate::stream::{Role, StreamId};
use crate::view::PlaneView;
use kernel::Idx;
use kernel::Time;
use nand::{BlockId, Mode, PlaneId, Source, Tag};

impl<K: Kit> Ftl<K> {
    /// Chooses the next block that a collector empties; whether there is one to empty. `None`:
    /// there may be, but others go first.
    pub(super) fn next_victim(&mut self, id: JobId, now: Time) -> Option<bool> {
        let job = self.jobs.get(id);
        let (plane, tag) = (job.plane, job.tag);
        let gc = self.config.gc;
        let target = if job.background { gc.background_stop.max(gc.stop) } else { gc.stop };
        let chosen = if !self.is_short(plane, target) {
            None
        } else if !std::mem::replace(&mut self.jobs.get_mut(id).yielded, true) {
            if gc.one_by_one && !self.is_short(plane, gc.start) {
                self.jobs.get_mut(id).background = true;
            }
            return None;
        } else {
            let chosen = self.choose_victim(plane, tag, now);
            if chosen.is_none() {
                self.counts.starved += 1;
                let known = std::mem::replace(&mut self.planes.get_mut(plane).starved, true);
                self.starved_planes += u32::from(!known);
            }
            chosen
        };
        let Some(victim) = chosen else {
            self.planes.get_mut(plane).collector = None;
            return Some(false);
        };
        let dest = if self.blocks.role(victim) == Role::REGULAR {
            Dest::Stream(StreamId::GC)
        } else {
            let view = ftl_view!(self);
            self.policies.read_disturb.on_reclaim(&view, victim, tag)
        };
        let needed_by = self.needed_by(plane, tag.demand, victim);
        self.begin_reclaim(id, victim, dest);
        let job = self.jobs.get_mut(id);
        (job.yielded, job.needed_by) = (false, needed_by);
        Some(true)
    }

    fn choose_victim(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        if !self.reads.is_empty()
            && let Some(chosen) = self.choose_unprotected(plane, tag, now)
        {
            return Some(chosen);
        }
        let view = PlaneView { ftl: ftl_view!(self), plane, now, from: 0, excluded: None };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.rng)?;
        assert!(
            self.blocks.is_candidate(chosen) && self.geometry.plane_of(chosen) == plane,
            "the victim policy chose block {chosen} ({:?}), no candidate of plane {plane}",
            self.blocks.state(chosen),
        );
        if self.blocks.gain(chosen) > 0 {
            self.fruitless = 0;
            return Some(chosen);
        }
        // A policy may choose a block that frees nothing (random does, now and then), as long as
        // the plane has something to gain and chance gets round to it.
        let view = PlaneView { ftl: ftl_view!(self), plane, now, from: 0, excluded: None };
        let best = view.most_gain()?;
        if self.blocks.gain(best) == 0 {
            return None;
        }
        self.fruitless += 1;
        if self.fruitless > 4 * self.geometry.blocks_per_plane() as u32 {
            self.fruitless = 0;
            self.counts.overridden += 1;
            return Some(best);
        }
        Some(chosen)
    }

    /// A victim that gains, among the blocks that the read-disturb policy does not protect, if it
    /// protects any.
    #[cold]
    fn choose_unprotected(&mut self, plane: PlaneId, tag: Tag, now: Time) -> Option<BlockId> {
        let mut any = false;
        for (at, b) in self.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
            let view = ftl_view!(self);
            let protected = self.blocks.role(b) != Role::REGULAR
                && self.policies.read_disturb.protects(&view, b);
            self.excluded.put(at, protected);
            any |= protected;
        }
        if !any {
            return None;
        }
        let excluded = Some(&self.excluded);
        let view = PlaneView { ftl: ftl_view!(self), plane, now, from: 0, excluded };
        let chosen = self.policies.victim.choose(&view, tag, &mut self.rng);
        chosen.filter(|b| self.blocks.gain(*b) > 0)
    }

    pub(super) fn begin_reclaim(&mut self, id: JobId, block: BlockId, dest: Dest) {
        self.blocks.begin_move(block);
        self.map.prefetch_owners(block);
        let job = self.jobs.get_mut(id);
        job.block = Some(block);
        job.reclaim = true;
        job.list = None;
        job.cursor = 0;
        job.dest = dest;
        job.phase = Phase::Scan;
        if !self.coding_plain {
            self.choose_life(id, block);
        }
    }

    /// Decides what a block that is being emptied becomes. For a second generation only those pages
    /// move that it needs the place of.
    #[cold]
    pub(super) fn choose_life(&mut self, id: JobId, block: BlockId) {
        let again =
            self.next_life(block) == NextLife::SecondGeneration && !self.condemned.contains(&block);
        let moving = again.then(|| {
            let slots = (0..self.geometry.pages_per_block()).filter(|slot| {
                self.map.is_valid(block, *slot) && self.layouts.is_slot(Mode::Wom2, *slot)
            });
            slots.map(|slot| slot as u16).collect()
        });
        let job = self.jobs.get_mut(id);
        job.again = again;
        job.list = moving;
    }

    pub(super) fn balance(&mut self, erased: BlockId, tag: Tag, now: Time) {
        if !self.wear_active || !matches!(tag.source, Source::Gc | Source::Refresh) {
            return;
        }
        let plane = self.geometry.plane_of(erased);
        // One at a time: the spread that the last answer was about may be gone when it is done.
        let at_work = |j: &Job<_>| j.tag.source == Source::Wear && j.plane == plane;
        if self.jobs.iter().any(at_work) {
            return;
        }
        // Wear levelling is after cold data, and a block to which the read-disturb policy gave a role
        // is worn little because it endures many reads.
        let spares = !self.reads.is_empty();
        if spares {
            for (at, b) in self.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
                self.excluded.put(at, self.blocks.role(b) != Role::REGULAR);
            }
        }
        let mut plan = Plan::of(Source::Wear);
        let excluded = spares.then_some(&self.excluded);
        let plane = PlaneView { ftl: ftl_view!(self), plane, now, from: 0, excluded };
        self.policies.wear.balance(&Balance { plane, erased }, &mut plan);
        self.spawn_plan(plan);
    }

    pub(crate) fn next_life(&mut self, block: BlockId) -> NextLife {
        if self.coding_plain {
            return NextLife::Erase(Mode::Full);
        }
        let view = ftl_view!(self);
        self.policies.coding.next_life(&view, block)
    }
}

//! The state machine: what a job does next.

use super::start::step_block;
use super::{Action, Job, JobId, Kind, Phase, WaitFor};
use crate::State;
use crate::ask::{Kit, NextLife, ReadDisturb};
use crate::ftl::{Ftl, ftl_view};
use crate::plan::{Dest, Pages, Step};
use kernel::Time;
use nand::{BlockId, Mode, Source};

/// Pages of a wordline of a block that can be reprogrammed to low density.
const BITS: u32 = 3;

impl<K: Kit> Ftl<K> {
    /// Takes note that the last action of job `id` is done (or that the job starts, or was woken),
    /// and says what it does next.
    pub fn advance(&mut self, id: JobId, now: Time) -> Action {
        loop {
            match self.jobs.get(id).phase {
                Phase::Next => {
                    let found = match self.jobs.get(id).kind {
                        Kind::Collect => match self.next_victim(id, now) {
                            Some(found) => found,
                            None => return Action::Yield,
                        },
                        Kind::Plan => match self.next_step(id, now) {
                            Some(action) => return action,
                            None => self.jobs.get(id).phase != Phase::Next,
                        },
                        Kind::Rewrite => self.next_rewrite(id),
                    };
                    if !found {
                        self.jobs.remove(id);
                        return Action::Done;
                    }
                }
                Phase::Scan => {
                    let job = self.jobs.get_mut(id);
                    let block = job.block.expect("a job that scans has a block");
                    let Found::Slot(slot) = find(&self.map, job, block) else {
                        job.phase = Phase::Emptied;
                        continue;
                    };
                    job.cursor = slot + 1;
                    let from = self.geometry.ppn(block, slot);
                    if !self.array.is_written(from) {
                        // Still on its way to the cells: only blocks that are not closed have such.
                        job.cursor = slot;
                        self.wait(id, WaitFor::Program(block));
                        return Action::Wait;
                    }
                    job.from = Some(from);
                    job.phase = Phase::Reading;
                    self.blocks.pin(block);
                    return Action::Read(from);
                }
                Phase::Reading => {
                    let job = self.jobs.get_mut(id);
                    let from = job.from.expect("a job that reads has a page");
                    job.data = Some(self.array.read(from));
                    job.phase = Phase::Placing;
                    job.copied += 1;
                    self.counts.read[job.tag.source] += 1;
                    self.unpin(from);
                }
                Phase::Placing => {
                    let job = self.jobs.get(id);
                    let (tag, dest, from) = (job.tag, job.dest, job.from.expect("a page"));
                    let (plane, kind) = (job.plane, job.kind);
                    let (block, slot) = self.geometry.split(from);
                    if !self.map.is_valid(block, slot) {
                        // The host was faster: the copy is stale.
                        self.counts.dropped += 1;
                        self.jobs.get_mut(id).phase = after_page(kind);
                        continue;
                    }
                    let lpn = self.map.owner(from).expect("a valid slot has an owner");
                    let Some(to) = self.place_move(id, lpn, dest, tag, now) else {
                        if kind == Kind::Rewrite {
                            self.counts.dropped += 1;
                            self.jobs.remove(id);
                            return Action::Done;
                        }
                        self.await_space(id, block, slot, plane);
                        return Action::Wait;
                    };
                    self.commit_move(lpn, from, to, tag, now);
                    let job = self.jobs.get_mut(id);
                    job.lpn = Some(lpn);
                    job.to = Some(to);
                    job.phase = Phase::Programming;
                    return Action::Program { ppn: to, lpn };
                }
                Phase::Programming => {
                    let job = self.jobs.get_mut(id);
                    let to = job.to.expect("a job that programs has a slot");
                    let lpn = job.lpn.expect("and a page");
                    let data = job.data.take().expect("and data");
                    let (tag, kind) = (job.tag, job.kind);
                    self.jobs.get_mut(id).phase = after_page(kind);
                    self.program_done(lpn, to, data, tag, now);
                }
                Phase::Retaking => {
                    let block = self.jobs.get(id).block.expect("a job that reclaims has a block");
                    let still_there = self.blocks.state(block) == State::Closed;
                    if still_there {
                        self.blocks.begin_move(block);
                    }
                    let job = self.jobs.get_mut(id);
                    job.cursor = 0;
                    job.phase = if still_there { Phase::Scan } else { Phase::Next };
                    if !self.coding_plain && still_there {
                        self.choose_life(id, block);
                    }
                }
                Phase::Emptied => match self.emptied(id, now) {
                    Some(action) => return action,
                    None => self.jobs.get_mut(id).phase = Phase::Next,
                },
                Phase::Erasing => {
                    let job = self.jobs.get_mut(id);
                    job.phase = Phase::Next;
                    let (block, tag) = (job.block.expect("a block"), job.tag);
                    let needed_by = job.needed_by;
                    self.array.erase(block, job.next_mode);
                    self.counts.erase[tag.source] += 1;
                    if tag.source == Source::Gc {
                        self.counts.gc_erase_by_demand[needed_by] += 1;
                    }
                    self.set_free(block, tag, now);
                    self.balance(block, tag, now);
                }
                Phase::Squeezing => {
                    if let Some(action) = self.squeeze(id) {
                        return action;
                    }
                }
                Phase::Reprogramming => self.reprogrammed(id, now),
            }
        }
    }

    /// The block that is to lose pages in place is ready, or waited for, or kept as it is. Apart
    /// from [`Ftl::advance`], like all that plans do, which plain jobs need not carry.
    #[inline(never)]
    fn squeeze(&mut self, id: JobId) -> Option<Action> {
        let block = self.jobs.get(id).block.expect("a job that squeezes has a block");
        if self.blocks.pins(block) > 0 {
            self.wait(id, WaitFor::Pins(block));
            return Some(Action::Wait);
        }
        let view = ftl_view!(self);
        if self.may_squeeze(block) && self.policies.read_disturb.may_reprogram(&view, block) {
            let wordlines = self.wordlines(block);
            let job = self.jobs.get_mut(id);
            job.phase = Phase::Reprogramming;
            let known = job.copied.min(wordlines);
            return Some(Action::Reprogram { block, wordlines, known });
        }
        self.counts.dropped += 1;
        self.give_back(block);
        self.jobs.get_mut(id).phase = Phase::Next;
        None
    }

    #[inline(never)]
    fn reprogrammed(&mut self, id: JobId, now: Time) {
        let job = self.jobs.get_mut(id);
        job.phase = Phase::Next;
        let (source, copied) = (job.tag.source, job.copied);
        let step = job.steps[job.step - 1].clone();
        self.finish_reprogram(&step, source, copied, now);
    }

    /// Starts the next step of a plan that needs flash operations; `Some` when it starts with one.
    /// Leaves the job in `Next` when the plan is over.
    #[inline(never)]
    fn next_step(&mut self, id: JobId, now: Time) -> Option<Action> {
        loop {
            let job = self.jobs.get_mut(id);
            let step = job.steps.get(job.step)?.clone();
            let life = job.lives[job.step];
            job.step += 1;
            if self.array.erases()[step_block(&step)] != life {
                continue; // it was reclaimed since, and is another block now
            }
            match step {
                Step::Copy { from, pages, to } => {
                    if matches!(self.blocks.state(from), State::Free | State::Bad) {
                        continue;
                    }
                    job.block = Some(from);
                    job.reclaim = false;
                    job.copied = 0;
                    job.list = match pages {
                        Pages::All => None,
                        Pages::Some(list) => Some(list),
                    };
                    job.cursor = 0;
                    job.phase = Phase::Scan;
                    job.dest = to;
                    if let Dest::Fresh(stream) = to {
                        let plane = self.geometry.plane_of(from);
                        let tag = self.jobs.get(id).tag;
                        let fresh = self.open_detached(plane, stream, tag);
                        let job = self.jobs.get_mut(id);
                        job.dest = fresh.map_or(Dest::Stream(stream), Dest::Block);
                    }
                    return None;
                }
                Step::ReclaimAtLimit { block, .. } if !self.is_at_limit(block) => {}
                Step::Reclaim { block, to } | Step::ReclaimAtLimit { block, to } => {
                    if let Some(wait) = self.seal(block, now) {
                        return Some(self.repeat_after(id, wait));
                    }
                    // Another job may have taken it since.
                    if self.blocks.state(block) == State::Closed {
                        self.begin_reclaim(id, block, to);
                        return None;
                    }
                }
                Step::Reprogram { block, .. } => {
                    if self.blocks.state(block) == State::Closed
                        && self.array.mode(block) == Mode::Full
                    {
                        let job = self.jobs.get_mut(id);
                        job.block = Some(block);
                        job.phase = Phase::Squeezing;
                        self.blocks.begin_move(block);
                        return None;
                    }
                }
                Step::SetRole(block, role) => self.blocks.set_role(block, role),
                Step::ResetReads(block) => {
                    if let Some(reads) = self.reads.get_mut(block.as_u32() as usize) {
                        *reads = 0;
                        self.relieved = true;
                        self.policies.read_disturb.on_reset(block, now);
                    }
                }
                Step::Seal(block) => {
                    if let Some(wait) = self.seal(block, now) {
                        return Some(self.repeat_after(id, wait));
                    }
                }
            }
        }
    }

    /// The step that has just begun begins again when a wait is over.
    fn repeat_after(&mut self, id: JobId, wait: WaitFor) -> Action {
        self.jobs.get_mut(id).step -= 1;
        self.wait(id, wait);
        Action::Wait
    }

    fn next_rewrite(&mut self, id: JobId) -> bool {
        let job = self.jobs.get_mut(id);
        if job.from.is_some() {
            return false; // written, or dropped
        }
        let lpn = job.lpn.expect("a re-write has a page");
        let Some(from) = self.map.lookup(lpn) else { return false };
        let (block, slot) = self.geometry.split(from);
        // One page: the scan begins at it and `after_page` ends the job.
        job.block = Some(block);
        job.list = Some(vec![slot as u16]);
        job.cursor = 0;
        job.phase = Phase::Scan;
        true
    }

    /// The last page has moved. `Some`: what happens to the block; `None`: on to the next.
    fn emptied(&mut self, id: JobId, now: Time) -> Option<Action> {
        let job = self.jobs.get_mut(id);
        if !job.reclaim {
            return None;
        }
        let block = job.block.expect("a job that reclaims has a block");
        if self.blocks.pins(block) > 0 {
            self.wait(id, WaitFor::Pins(block));
            return Some(Action::Wait);
        }
        job.reclaim = false;
        if std::mem::take(&mut job.again) {
            let tag = job.tag;
            self.begin_again(block, tag, now);
            return None;
        }
        let mode = match self.next_life(block) {
            NextLife::Erase(mode) => mode,
            NextLife::SecondGeneration => Mode::Wom1, // it could have had one, and was not to
        };
        let job = self.jobs.get_mut(id);
        job.next_mode = mode;
        job.phase = Phase::Erasing;
        if !self.plain {
            self.widest = self.widest.max(self.layouts.slots(mode));
        }
        Some(Action::Erase(block))
    }

    fn finish_reprogram(&mut self, step: &Step, source: Source, copied: u32, now: Time) {
        let &Step::Reprogram { block, surcharge, role, keep_reads } = step else {
            unreachable!("only a Reprogram step enters this phase");
        };
        assert!(self.may_squeeze(block), "block {block} was to lose pages that were not copied");
        let wordlines = self.wordlines(block);
        self.array.reprogram_to_low(block, surcharge);
        self.counts.reprogram += 1;
        self.counts.reprogrammed_pages += u64::from(wordlines);
        let known = copied.min(wordlines);
        self.counts.read[source] += u64::from(BITS * wordlines - known);
        self.plain = false;
        self.blocks.set_role(block, role);
        if let Some(reads) = self.reads.get_mut(block.as_u32() as usize) {
            if !keep_reads {
                *reads = 0;
            }
            self.relieved = true;
        }
        self.close(block, now);
        self.policies.read_disturb.on_reprogrammed(block, now);
    }

    /// Wordlines of a block that hold data.
    fn wordlines(&self, block: BlockId) -> u32 {
        let pages = self.array.next_page(block).min(self.geometry.pages_per_block() / BITS * BITS);
        pages.div_ceil(BITS)
    }

    /// Whether nothing valid lies in the pages that low density loses.
    fn may_squeeze(&self, block: BlockId) -> bool {
        let lost = |slot: &u32| !self.layouts.is_slot(Mode::Low, *slot);
        let mut lost = (0..self.geometry.pages_per_block()).filter(lost);
        !lost.any(|slot| self.map.is_valid(block, slot))
    }
}

/// What a job does when a page has moved or was dropped.
fn after_page(kind: Kind) -> Phase {
    if kind == Kind::Rewrite { Phase::Next } else { Phase::Scan }
}

/// The next page index of a job's list or of the block's valid pages.
enum Found {
    Slot(u32),
    None,
}

#[inline]
fn find<D>(map: &crate::Map, job: &Job<D>, block: BlockId) -> Found {
    let Some(list) = &job.list else {
        return map.next_valid(block, job.cursor).map_or(Found::None, Found::Slot);
    };
    let from = list.partition_point(|&slot| u32::from(slot) < job.cursor);
    let valid = list[from..].iter().find(|&&slot| map.is_valid(block, slot.into()));
    valid.map_or(Found::None, |&slot| Found::Slot(slot.into()))
}

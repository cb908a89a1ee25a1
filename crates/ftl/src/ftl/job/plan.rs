//! Running the steps of a plan.

use super::crew::Lead;
use super::{After, Job, JobCondition, JobId, Leaving, Next, Task, Then};
use crate::{Dest, Ftl, FtlView, Plan, PolicyTypes, ReadDisturb, Role, State, Step};
use kernel::{Prio, Time};
use nand::{BlockId, Level, Mode, Slots, Source, Tag, Verb};

/// Pages of a wordline of a block that can be reprogrammed to low density.
const BITS: u32 = 3;

/// A plan that is being carried out.
#[derive(Default)]
pub(super) struct RunningPlan {
    /// The remaining steps, the next one last. Each has the erase count of its block when the plan
    /// was made.
    steps: Vec<(Step, u32)>,
    pub(super) at: PlanStage,
    /// Pages that have been read since the last copying step began.
    pub(super) copied: u32,
}

/// The position of a plan.
#[derive(Default)]
#[repr(u8)]
pub(super) enum PlanStage {
    /// The next step.
    #[default]
    Next,
    Pages(Leaving),
    /// A crew empties a superblock.
    Lead,
    /// The block was given back while there was no space; the plan is to take it again.
    Retake(BlockId, Dest),
    /// The block is to be reprogrammed when no read of the pages that it loses is on its way.
    Reprogram(ReprogramInPlace),
}

/// The state of a block after it loses pages in place: see [`Step::Reprogram`].
#[derive(Copy, Clone)]
pub(super) struct ReprogramInPlace {
    block: BlockId,
    surcharge: u16,
    role: Role,
    keep_reads: bool,
}

impl<K: PolicyTypes> Ftl<K> {
    pub(crate) fn spawn_plan(&mut self, plan: Plan) {
        let Some(block) = plan.steps.first().map(step_block) else { return };
        let plane = self.space.set_of(block);
        let erases = self.space.array().erases();
        let steps = plan.steps.into_iter().rev().map(|step| {
            let life = erases[step_block(&step)];
            (step, life)
        });
        let run = RunningPlan { steps: steps.collect(), ..RunningPlan::default() };
        let job = self.jobs.job(Task::Plan(run), Tag::of(plan.source), plane);
        self.jobs.start(Job { background: plan.background, hold: plan.hold, ..job });
    }

    /// Goes on with a plan. `None`: pages are to be moved.
    #[inline(never)]
    pub(super) fn follow(&mut self, id: JobId, run: &mut RunningPlan, now: Time) -> Option<Next> {
        loop {
            let wait = match run.at {
                PlanStage::Pages(_) | PlanStage::Lead => return None,
                PlanStage::Reprogram(ReprogramInPlace { block, .. })
                    if self.space.blocks.pins(block) > 0 =>
                {
                    Some(JobCondition::Pins(block))
                }
                PlanStage::Reprogram(reprogram_in_place) => {
                    run.at = PlanStage::Next;
                    if let Some(next) = self.reprogram_in_place(id, reprogram_in_place, run.copied)
                    {
                        return Some(next);
                    }
                    None
                }
                PlanStage::Retake(block, to) => {
                    // Another job may have taken it since.
                    run.at = self.reclaim_closed(id, block, to);
                    None
                }
                PlanStage::Next => {
                    let Some((step, life)) = run.steps.pop() else { return Some(Next::Done) };
                    if self.space.array().erases()[step_block(&step)] != life {
                        continue; // it was reclaimed since, and is another block now
                    }
                    self.begin_step(id, run, step, now)
                }
            };
            if let Some(wait) = wait {
                return Some(self.jobs.park(id, wait));
            }
        }
    }

    /// Begins a step of a plan. `Some`: the step begins again after a wait.
    fn begin_step(
        &mut self,
        id: JobId,
        run: &mut RunningPlan,
        step: Step,
        now: Time,
    ) -> Option<JobCondition> {
        match step {
            Step::Copy { from, pages, to } => {
                if !matches!(self.space.blocks.state(from), State::Free | State::Bad) {
                    // A superblock is written through its stream.
                    let alone = !self.space.striped;
                    let dest = if let (Dest::Fresh(stream), true) = (to, alone) {
                        let (plane, tag) = (self.space.set_of(from), self.jobs.get(id).tag);
                        self.open(plane, stream, tag).map_or(Dest::Stream(stream), Dest::Block)
                    } else {
                        to
                    };
                    let then = Then::Stay;
                    run.at =
                        PlanStage::Pages(Leaving { block: from, pages, cursor: 0, dest, then });
                    run.copied = 0;
                }
            }
            Step::ReclaimAtLimit { block, .. } if !self.is_at_limit(block) => {}
            Step::Reclaim { block, to } | Step::ReclaimAtLimit { block, to } => {
                if let Some(wait) = self.seal(block, now) {
                    run.steps.push((step, self.space.array().erases()[block]));
                    return Some(wait);
                }
                run.at = self.reclaim_closed(id, block, to);
            }
            Step::Reprogram { block, surcharge, role, keep_reads } => {
                let full = self.space.array().mode(block) == Mode::Full;
                if full && !self.space.striped && self.space.blocks.state(block) == State::Closed {
                    run.at = PlanStage::Reprogram(ReprogramInPlace {
                        block,
                        surcharge,
                        role,
                        keep_reads,
                    });
                    self.space.blocks.begin_move(block);
                }
            }
            Step::SetRole(block, role) => {
                let block = self.space.geometry.superblock_of(block);
                self.space.blocks.role[block] = role;
            }
            Step::ResetReads(block) => {
                self.note_relief(block);
                if self.reads.restart(block).is_some() {
                    self.policies.read_disturb.on_reset(block, now);
                }
            }
            Step::Seal(block) => {
                let wait = self.seal(block, now)?;
                run.steps.push((step, self.space.array().erases()[block]));
                return Some(wait);
            }
        }
        None
    }

    /// Begins to reclaim a block, unless another job has taken it.
    fn reclaim_closed(&mut self, id: JobId, block: BlockId, to: Dest) -> PlanStage {
        // Blocks of the cache are folded, and by nobody else.
        if self.space.blocks.state(block) != State::Closed || self.space.is_cached(block) {
            return PlanStage::Next;
        }
        let source = self.jobs.get(id).tag.source;
        let leaving = self.begin_reclaim(block, to, source);
        if !self.jobs.get(id).crew.leads {
            return PlanStage::Pages(leaving);
        }
        let lead = Lead { superblock: leaving.block, dest: to, needed_by: source };
        self.send_crew(id, lead, lead.superblock, 0);
        PlanStage::Lead
    }

    /// Makes a partly written block complete. `Some`: the condition to wait for first.
    fn seal(&mut self, block: BlockId, now: Time) -> Option<JobCondition> {
        let block = self.space.geometry.superblock_of(block);
        match self.space.blocks.state(block) {
            State::Open => {}
            State::Full => return Some(JobCondition::Program(block)),
            State::Free | State::Closed | State::Moving | State::Bad => return None,
        }
        let plane = self.space.set_of(block);
        let frontier = self.space.is_frontier(block);
        // A victim's pages may be on their way there, with no other place left for them.
        if frontier && !self.space.reserves(plane) {
            return Some(self.space_in(plane));
        }
        self.space.counts.sealed += self.space.complete(block);
        if frontier {
            self.note_sealed(block);
            self.collect_if_short(plane, Source::Refresh, Prio::Normal);
        }
        if !self.space.is_programmed(block) {
            return Some(JobCondition::Program(block));
        }
        self.close(block, now);
        None
    }

    /// A block that is to lose pages in place is ready. `None`: the block is kept as it is.
    fn reprogram_in_place(
        &mut self,
        id: JobId,
        reprogram_in_place: ReprogramInPlace,
        copied: u32,
    ) -> Option<Next> {
        let block = reprogram_in_place.block;
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        if self.may_reprogram_in_place(block)
            && self.policies.read_disturb.may_reprogram(&view, block)
        {
            let wordlines = self.wordlines(block);
            let known = copied.min(wordlines);
            let slots = Slots::run(self.space.geometry.ppn(block, 0), wordlines);
            let job = self.jobs.get_mut(id);
            job.after = After::Reprogrammed(reprogram_in_place);
            let next = job.want(Verb::Reprogram, slots, Mode::LowDensity, Level::MediumCost);
            job.operation.known = known as u16;
            return Some(next);
        }
        self.jobs.counts.dropped += 1;
        self.give_back(block);
        None
    }

    #[inline(never)]
    pub(super) fn reprogrammed(
        &mut self,
        done: ReprogramInPlace,
        known: u16,
        source: Source,
        now: Time,
    ) {
        let ReprogramInPlace { block, surcharge, role, keep_reads } = done;
        assert!(
            self.may_reprogram_in_place(block),
            "block {block} was to lose pages that were not copied"
        );
        let wordlines = self.wordlines(block);
        self.space.reprogram(block, surcharge, role, wordlines, source);
        let slots = u64::from(self.space.geometry.slots_per_page());
        self.space.counts.read[source] += u64::from(BITS * wordlines - u32::from(known)) * slots;
        self.note_relief(block);
        if keep_reads {
            self.reads.unblocked |= self.reads.are_counted();
        } else {
            self.reads.restart(block);
        }
        self.close(block, now);
        self.policies.read_disturb.on_reprogrammed(block, now);
    }

    /// Wordlines of a block that hold data.
    fn wordlines(&self, block: BlockId) -> u32 {
        let row = self.space.geometry.slots_per_page();
        let whole = self.space.geometry.pages_per_block() / row / BITS * BITS;
        (self.space.array().next_page(block) / row).min(whole).div_ceil(BITS)
    }

    /// Whether nothing valid lies in the pages that low density loses.
    fn may_reprogram_in_place(&self, block: BlockId) -> bool {
        let stays = |slot| self.space.layouts.is_slot(Mode::LowDensity, slot);
        let mut slots = 0..self.space.geometry.pages_per_block();
        slots.all(|slot| stays(slot) || !self.map.is_valid(block, slot))
    }
}

fn step_block(step: &Step) -> BlockId {
    match step {
        Step::Copy { from: block, .. }
        | Step::Reclaim { block, .. }
        | Step::ReclaimAtLimit { block, .. }
        | Step::Reprogram { block, .. }
        | Step::SetRole(block, _)
        | Step::ResetReads(block)
        | Step::Seal(block) => *block,
    }
}

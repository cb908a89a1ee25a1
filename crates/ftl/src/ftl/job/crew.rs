//! Superblocks of several blocks: the job that empties one leads a crew, so that its dies work in
//! parallel.
//!
//! The leader is a collector, or a plan that reclaims. Each block that holds pages has a *member*
//! that reads them. Pages that were read wait in the leader's program buffer. The member that fills
//! a program unit programs it, at any frontier. Meanwhile a successor goes on reading: otherwise a
//! die would wait for programs of others. When the pages have left, each block is erased by a
//! member of its own, and the last one ends the life of the superblock.
//!
//! Parity is written here, too: its operation needs no pages, and its place is known in advance.

use super::plan::{PlanStage, RunningPlan};
use super::{After, Collect, Job, JobCondition, JobId, Leaving, Next, Page, Task, Then};
use crate::{Dest, Ftl, Pages, PolicyTypes};
use kernel::{Prio, Time};
use nand::{BlockId, Mode, Ppn, Slots, Source, Tag, Verb};

/// Programs that members of a crew have under way for each die.
const PROGRAMS_PER_DIE: u32 = 2;

/// A superblock that a crew empties.
#[derive(Copy, Clone)]
pub(super) struct Lead {
    pub(super) superblock: BlockId,
    pub(super) dest: Dest,
    pub(super) needed_by: Source,
}

/// The part of a job in a crew.
#[derive(Copy, Clone, Default)]
pub(super) struct Crew {
    /// It may lead one.
    pub(super) leads: bool,
    /// The leader of its crew.
    pub(super) of: Option<JobId>,
    /// Members of the crew that it leads.
    members: u32,
    /// Of these, the ones that program the pages they have read.
    programming: u32,
    /// A member of a plan's crew has found no slot: the superblock is given back.
    short: bool,
    /// The superblock that they empty.
    lead: Option<Lead>,
    /// The superblock whose blocks they erase.
    erasing: Option<BlockId>,
    /// The block that this member is to erase, and the source that needs it.
    erases: Option<(BlockId, Source)>,
}

impl Crew {
    /// The part of a job that may lead one.
    pub(super) fn leader() -> Self {
        Self { leads: true, ..Self::default() }
    }

    /// The superblock that the crew of this leader empties, or has emptied last.
    pub(super) fn lead(&self) -> Option<Lead> {
        self.lead
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// A leader begins to empty a superblock: a member for each block that has pages. Those before `cursor`
    /// of block `from`, in stripe order, wait in the leader's buffer already.
    pub(super) fn send_crew(&mut self, id: JobId, lead: Lead, from: BlockId, cursor: u32) {
        let superblocks = *self.space.geometry.superblocks();
        let (dest, then) = (lead.dest, Then::Stay);
        self.jobs.get_mut(id).crew.lead = Some(lead);
        let first = superblocks.position(from) as usize;
        for block in superblocks.blocks_of(lead.superblock).skip(first) {
            let cursor = if block == from { cursor } else { 0 };
            if self.map.next_valid(block, cursor).is_some() {
                let leaving = Leaving { block, pages: Pages::All, cursor, dest, then };
                self.add_member(id, block, Task::Collect(Collect::Empty(leaving)));
            }
        }
    }

    fn add_member(&mut self, leader: JobId, block: BlockId, task: Task) -> JobId {
        let home = self.space.geometry.die_of(block);
        let led = self.jobs.get_mut(leader);
        led.crew.members += 1;
        let &mut Job { tag, plane, background, hold, .. } = led;
        let job = self.jobs.job(task, tag, plane);
        let id = self.jobs.add(Job { home, hold, ..job });
        self.jobs.get_mut(id).crew = Crew { of: Some(leader), ..Crew::default() };
        self.jobs.set_background(id, background);
        self.jobs.ready.push_back(id);
        id
    }

    /// A leader goes on. `None`: as its task specifies.
    #[inline(never)]
    pub(super) fn lead_on(&mut self, id: JobId, now: Time) -> Option<Next> {
        loop {
            let crew = &mut self.jobs.get_mut(id).crew;
            if crew.members > 0 {
                return Some(self.jobs.park(id, JobCondition::Crew(id)));
            }
            if let Some(superblock) = crew.erasing.take() {
                let tag = self.jobs.get(id).tag;
                self.free(superblock, tag, now);
                self.balance(superblock, tag, now);
            }
            let job = self.jobs.get(id);
            match &job.task {
                Task::Collect(Collect::Lead)
                | Task::Plan(RunningPlan { at: PlanStage::Lead, .. }) => {}
                Task::Collect(Collect::Empty(_)) if !job.buffer.has_unfinished() => {
                    if self.sends_crew(id, now) {
                        continue;
                    }
                    return None;
                }
                _ => return None,
            }
            let lead = job.crew.lead.expect("it leads a crew");
            let next = self.moved_all(id, lead, now);
            if next.is_some() {
                return next;
            }
        }
    }

    /// The members have moved all the pages that they could. `None`: the leader consults its task
    /// again.
    fn moved_all(&mut self, id: JobId, lead: Lead, now: Time) -> Option<Next> {
        let Lead { superblock, dest, needed_by } = lead;
        let collects = matches!(self.jobs.get(id).task, Task::Collect(_));
        let crew = &mut self.jobs.get_mut(id).crew;
        if std::mem::take(&mut crew.short) {
            // The space that it waits for may lie in the superblock that it empties.
            let job = self.jobs.get_mut(id);
            job.buffer.forget();
            let plane = job.plane;
            if let Task::Plan(run) = &mut job.task {
                run.at = PlanStage::Retake(superblock, dest);
            }
            self.give_back(superblock);
            return Some(self.jobs.park(id, self.space_in(plane)));
        }
        self.drop_stale(id);
        let needed = self.needs_victim_back(self.jobs.get(id).plane);
        if self.has_waiting(id, superblock) {
            let job = self.jobs.get_mut(id);
            let whole = job.buffer.waiting() >= self.space.unit() as usize;
            if let (Task::Collect(collect), false) = (&mut job.task, whole || needed) {
                // As many as that wait for pages of the next victim.
                *collect = Collect::Choose;
                job.buffer.leave_unfinished(superblock, needed_by);
                return None;
            }
            return self.program_buffered(id, dest, !collects || needed, now);
        }
        let job = self.jobs.get_mut(id);
        match &mut job.task {
            Task::Collect(collect) => *collect = Collect::Yield,
            Task::Plan(run) => run.at = PlanStage::Next,
            _ => unreachable!("collectors and plans lead"),
        }
        Some(self.erase_superblock(id, superblock, needed_by))
    }

    /// Begins to erase the blocks of a superblock that is empty, each by a member of its own.
    pub(super) fn erase_superblock(
        &mut self,
        id: JobId,
        superblock: BlockId,
        needed_by: Source,
    ) -> Next {
        if self.has_pace(id) {
            self.keep_pace(id);
            let (plane, unit) = (self.jobs.get(id).plane, self.space.unit());
            self.jobs.pace.spend(plane, unit);
        }
        self.jobs.get_mut(id).crew.erasing = Some(superblock);
        let superblocks = *self.space.geometry.superblocks();
        for block in superblocks.blocks_of(superblock) {
            let member = self.add_member(id, block, Task::Erase);
            self.jobs.get_mut(member).crew.erases = Some((block, needed_by));
        }
        self.jobs.park(id, JobCondition::Crew(id))
    }

    /// The pages that waited for those of this victim are programmed. Returns whether all of the
    /// victim is emptied now, because that is still needed; otherwise it is given back.
    fn sends_crew(&mut self, id: JobId, now: Time) -> bool {
        let wanted = self.goes_on_with_victim(id);
        let job = self.jobs.get_mut(id);
        let plane = job.plane;
        let Task::Collect(collect) = &mut job.task else { unreachable!("a collector") };
        let Collect::Empty(leaving) = std::mem::replace(collect, Collect::Choose) else {
            unreachable!("it has a victim")
        };
        let Leaving { block, cursor, dest, then, .. } = leaving;
        if let Then::Erase(needed_by) = then
            && wanted
        {
            let superblock = self.space.geometry.superblock_of(block);
            let lead = Lead { superblock, dest, needed_by };
            *collect = Collect::Lead;
            self.send_crew(id, lead, block, cursor);
            return true;
        }
        job.buffer.forget();
        self.give_back(block);
        self.plan_pace(plane);
        self.ask_at_limit(block, now);
        false
    }

    /// The leaving pages of a block have been read. A leader that fills up a program unit takes one
    /// block of its superblock after the other.
    pub(super) fn left_block(
        &mut self,
        id: JobId,
        block: BlockId,
        dest: Dest,
        then: Then,
        now: Time,
    ) -> Option<Next> {
        let superblocks = *self.space.geometry.superblocks();
        let next = superblocks
            .blocks_of(superblocks.first_of(block))
            .skip(superblocks.position(block) as usize + 1)
            .find(|block| self.map.next_valid(*block, 0).is_some());
        let job = self.jobs.get_mut(id);
        if let (Some(block), Some(pages)) = (next, job.task.pages())
            && then != Then::Stay
        {
            (pages.block, pages.cursor) = (block, 0);
            return None;
        }
        if job.buffer.is_empty() {
            self.emptied(id, block, then, now)
        } else {
            self.leave(id, block, dest, then, now)
        }
    }

    // ── Members ─────────────────────────────────────────────────────────────────────────────────

    /// A member has read pages, or had no slot for them before: they wait in the leader's buffer.
    pub(super) fn as_member(
        &mut self,
        id: JobId,
        go_on: impl FnOnce(&mut Self) -> Option<Next>,
    ) -> Option<Next> {
        let leader = self.jobs.get(id).crew.of.expect("it is a member");
        let mut waiting = self.jobs.get_mut(leader).buffer.take_waiting();
        self.jobs.get_mut(id).buffer.put_first(&mut waiting);
        let next = go_on(self);
        let mut left = self.jobs.get_mut(id).buffer.take_waiting();
        self.jobs.get_mut(leader).buffer.put_first(&mut left);
        if next == Some(Next::Start) {
            self.succeed(id, leader);
        }
        next
    }

    /// A member has read slots of a page. They wait in the buffer even if one command could program
    /// them: a page of another member may go first.
    #[inline(never)]
    pub(super) fn member_read(
        &mut self,
        id: JobId,
        slots: Slots,
        to: Dest,
        now: Time,
    ) -> Option<Next> {
        let slot = self.space.geometry.split(slots.first).1;
        if let Some(pages) = self.jobs.get_mut(id).task.pages() {
            pages.cursor = pages.cursor.max(slot + 1);
        }
        self.as_member(id, |ftl| ftl.page_read(id, slots, to, now))
    }

    /// A member programs. Another one goes on reading in its place, unless enough programs are
    /// under way.
    pub(super) fn succeed(&mut self, id: JobId, leader: JobId) {
        let dies = self.space.geometry.superblocks().dies();
        let most = if self.jobs.side_by_side { PROGRAMS_PER_DIE * dies } else { 0 };
        let crew = &mut self.jobs.get_mut(leader).crew;
        if crew.programming >= most {
            return;
        }
        let task = &mut self.jobs.get_mut(id).task;
        if let Task::Collect(Collect::Empty(leaving)) = task
            && leaving.next(&self.map).is_some()
        {
            let block = leaving.block;
            let reading = std::mem::replace(task, Task::Program);
            self.jobs.get_mut(leader).crew.programming += 1;
            self.add_member(leader, block, reading);
        }
    }

    /// There is no slot for the page that a job moves. Returns whether that ends the job. It does
    /// for a member of a plan's crew; the whole superblock is given back when the other members
    /// have ended.
    #[cold]
    pub(super) fn is_short(&mut self, id: JobId) -> bool {
        let Some(leader) = self.jobs.get(id).crew.of else { return false };
        let led = self.jobs.get_mut(leader);
        if matches!(led.task, Task::Collect(_)) {
            return false;
        }
        led.crew.short = true;
        let job = self.jobs.get_mut(id);
        (job.task, job.after) = (Task::Erase, After::Nothing);
        true
    }

    /// A member has nothing more to do.
    pub(super) fn leave_crew(&mut self, id: JobId) -> Next {
        let job = self.jobs.get(id);
        let leader = job.crew.of.expect("it is a member");
        let programmed = matches!(job.task, Task::Program);
        let crew = &mut self.jobs.get_mut(leader).crew;
        crew.members -= 1;
        crew.programming -= u32::from(programmed);
        if crew.members == 0 {
            self.jobs.release(JobCondition::Crew(leader));
        }
        Next::Done
    }

    /// A member erases its block when no read of it is on its way, and then ends.
    pub(super) fn erase_member(&mut self, id: JobId) -> Next {
        let Some((block, needed_by)) = self.jobs.get(id).crew.erases else {
            return self.leave_crew(id);
        };
        if self.space.blocks.pins(block) > 0 {
            return self.jobs.park(id, JobCondition::Pins(block));
        }
        let slots = Slots::one(self.space.geometry.ppn(block, 0));
        let level = self.levels.usual;
        let job = self.jobs.get_mut(id);
        job.crew.erases = None;
        job.after = After::Free { needed_by };
        job.want(Verb::Erase, slots, Mode::Full, level)
    }

    // ── Parity ──────────────────────────────────────────────────────────────────────────────────

    /// The data of a stripe have their slots: its parity is programmed. Before the run, parity is
    /// programmed once the data are ([`Ftl::settle_parity`]).
    #[cold]
    pub(crate) fn send_parity(&mut self, prio: Prio) {
        if self.jobs.side_by_side {
            let mut due = std::mem::take(&mut self.space.parity_due);
            due.drain(..).for_each(|first| self.write_parity(first, prio));
            self.space.parity_due = due;
        }
    }

    /// Before the run: programs the parity of stripes whose data are programmed. A collector can
    /// have given away several units of a block before the first was programmed. The parity that is
    /// next in its block can therefore be any of the list.
    pub(crate) fn settle_parity(&mut self, now: Time) {
        while let Some(at) = self.parity_in_turn() {
            let first = self.space.parity_due.remove(at);
            self.parity_written(first, now);
        }
    }

    /// The place of a parity unit in `parity_due` that is the next of its block.
    fn parity_in_turn(&self) -> Option<usize> {
        self.space.parity_due.iter().position(|first| {
            let (block, slot) = self.space.geometry.split(*first);
            self.space.array().next_page(block) == slot
        })
    }

    fn write_parity(&mut self, first: Ppn, prio: Prio) {
        let block = self.space.geometry.block_of(first);
        let plane = self.space.set_of(block);
        let tag = Tag { prio, ..Tag::of(Source::Parity) };
        let mut job: Job<Page<K>> = self.jobs.job(Task::Parity, tag, plane);
        job.home = self.space.geometry.die_of(block);
        job.after = After::Parity;
        job.want(
            Verb::Program,
            Slots::run(first, self.space.unit()),
            Mode::Full,
            self.levels.usual,
        );
        let id = self.jobs.add(job);
        self.jobs.ready.push_back(id);
    }

    /// The parity of a stripe is programmed.
    pub(super) fn parity_written(&mut self, first: Ppn, now: Time) {
        let superblock = self.space.geometry.superblock_of(self.space.geometry.block_of(first));
        if self.space.program_parity(first) {
            self.close(superblock, now);
        }
        self.jobs.release(JobCondition::Program(superblock));
    }
}

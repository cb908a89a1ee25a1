//! How jobs come about, and how they are run without time.

use super::{Action, Job, JobId, Page, Task};
use crate::{
    Balance, Cost, Dest, Ftl, FtlView, Kit, Plan, PlaneView, Role, State, Step, StreamId, Wear,
};
use kernel::{Idx, Time};
use nand::{BlockId, DieId, Source, Tag};

impl<K: Kit> Ftl<K> {
    /// Asks the wear leveller, now that a block was erased.
    pub(super) fn balance(&mut self, erased: BlockId, tag: Tag, now: Time) {
        if !self.answers.wear || !matches!(tag.source, Source::Gc | Source::Refresh) {
            return;
        }
        let plane = self.space.geometry.plane_of(erased);
        // One at a time: the spread that the last answer was about may be gone when it is done.
        if self.jobs.at_work(plane, Source::Wear) {
            return;
        }
        // Wear levelling is after cold data, and a block to which the read-disturb policy gave a role
        // is worn little because it endures many reads.
        let spares = self.reads.are_counted();
        if spares {
            for (at, b) in self.space.geometry.blocks_of(plane).map(BlockId::new).enumerate() {
                self.victims.excluded.put(at, self.space.blocks.role(b) != Role::REGULAR);
            }
        }
        let mut plan = Plan::of(Source::Wear);
        let excluded = spares.then_some(&self.victims.excluded);
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let plane = PlaneView { ftl, plane, now, from: 0, excluded };
        self.policies.wear.balance(&Balance { plane, erased }, &mut plan);
        self.spawn_plan(plan);
    }

    /// Takes a block out of service because a page of it could not be read: what is valid moves
    /// away, and the block is retired when it is empty. Each plane empties one such block at a
    /// time; the others go when garbage collection or another failure comes to them.
    pub fn condemn(&mut self, block: BlockId) {
        let plane = self.space.geometry.plane_of(block);
        if !self.space.condemn(block)
            || self.space.blocks.state(block) == State::Moving
            || self.jobs.at_work(plane, Source::Refresh)
        {
            return;
        }
        let mut plan = Plan::of(Source::Refresh);
        plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
        self.spawn_plan(plan);
    }

    /// Jobs that are running or waiting.
    pub fn running_jobs(&self) -> usize {
        self.jobs.running.len()
    }

    /// How often a job has waited: for space, for reads on their way, for a program.
    pub fn job_waits(&self) -> u64 {
        self.jobs.parkings
    }

    /// The next job to start or to go on with; the driver asks until there is none.
    #[inline]
    pub fn take_ready(&mut self) -> Option<JobId> {
        self.jobs.ready.pop_front()
    }

    /// Whether a job wants to start, or turned urgent.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.jobs.ready.is_empty() || !self.jobs.promoted.is_empty()
    }

    /// Background jobs that turned urgent since the last call.
    #[inline]
    pub fn take_promoted(&mut self) -> Option<JobId> {
        self.jobs.promoted.pop()
    }

    /// A running job.
    #[inline]
    pub fn job(&self, id: JobId) -> &Job<Page<K>> {
        self.jobs.get(id)
    }

    /// Whether an idle die might find work at all.
    #[inline]
    pub fn offers_idle_work(&self) -> bool {
        self.answers.idle || self.jobs.idle_total > 0
    }

    /// Work for a die that has nothing else to do: re-writes that the cost policy wants, then
    /// background jobs of policies, then garbage collection ahead of need.
    #[inline(never)] // or its registers are saved whenever a die looks for work
    pub fn idle_job(&mut self, die: DieId) -> Option<JobId> {
        if !self.offers_idle_work() {
            return None;
        }
        self.idle_rewrite(die).or_else(|| self.jobs.take_idle(die)).or_else(|| self.idle_gc(die))
    }

    fn idle_rewrite(&mut self, die: DieId) -> Option<JobId> {
        if !self.answers.rewrites {
            return None;
        }
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        let lpn = self.policies.cost.rewrite(die, &view)?;
        let geometry = &self.space.geometry;
        let plane = geometry.plane_of(geometry.block_of(self.find(lpn)?));
        let job = self.jobs.job(Task::Rewrite(Some(lpn)), Tag::of(Source::Rewrite), plane);
        Some(self.jobs.add(Job { background: true, ..job }))
    }

    fn idle_gc(&mut self, die: DieId) -> Option<JobId> {
        let mark = self.config.gc.background_stop;
        if mark == 0 {
            return None;
        }
        let indices = 0..self.space.geometry.planes_per_die() as u32;
        let mut planes = indices.map(|index| self.space.geometry.plane_in(die, index));
        let plane = planes.find(|plane| {
            self.jobs.collectors[*plane].is_none()
                && !self.space.is_starved(*plane)
                && self.space.is_short(*plane, mark)
        })?;
        Some(self.jobs.add_collector(plane, Tag::gc_for(Source::Host), true))
    }

    /// Carries out every ready job at once, without time: for tests and preconditioning.
    pub fn settle(&mut self, now: Time) {
        while let Some(id) = self.take_ready() {
            self.run_job(id, now);
        }
        self.jobs.promoted.clear();
    }

    /// Carries out one job until it ends or waits.
    ///
    /// # Panics
    ///
    /// If there is no end: collection that gains nothing, because of a policy that wastes as many
    /// pages as it wins.
    pub fn run_job(&mut self, id: JobId, now: Time) {
        let limit = 100 * self.space.geometry.pages();
        for _ in 0..limit {
            if matches!(self.advance(id, now), Action::Done | Action::Wait) {
                return;
            }
        }
        let job = self.jobs.get(id);
        let (tag, plane) = (job.tag, job.plane);
        panic!("a job of plane {plane} ({tag:?}) has had {limit} actions, and there is no end");
    }
}

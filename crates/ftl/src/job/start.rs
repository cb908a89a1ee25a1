//! How jobs come about, whose turn it is, and how they are run without time.

use super::{Action, Job, JobId, Kind, WaitFor};
use crate::ask::{Cost, Interests, Kit};
use crate::ftl::{Ftl, ftl_view};
use crate::plan::{Dest, Plan, Step};
use crate::stream::StreamId;
use kernel::{Prio, Time};
use nand::{BlockId, DieId, PlaneId, Source, Store, Tag};

impl<K: Kit> Ftl<K> {
    /// Reclaims blocks of `plane` because `demand` needs space there, and how urgently.
    pub(crate) fn request_gc(&mut self, plane: PlaneId, demand: Source, prio: Prio) {
        if let Some(id) = self.planes.get(plane).collector {
            let job = self.jobs.get_mut(id);
            job.tag.prio = job.tag.prio.max(prio);
            if self.jobs.get(id).background {
                // Idle-time work has become urgent: it goes on as a foreground job.
                self.jobs.get_mut(id).background = false;
                if !self.waiting.iter().any(|(job, _)| *job == id) {
                    self.promoted.push(id);
                }
            }
            return;
        }
        let id = self.spawn_collector(plane, demand, prio);
        self.ready.push_back(id);
    }

    fn spawn_collector(&mut self, plane: PlaneId, demand: Source, prio: Prio) -> JobId {
        let home = self.geometry.die_of_plane(plane);
        let tag = Tag { prio, ..Tag::gc_for(demand) };
        let id = self.jobs.add(Job::new(Kind::Collect, tag, plane, home));
        self.planes.get_mut(plane).collector = Some(id);
        id
    }

    /// Turns a plan into a job.
    pub(crate) fn spawn_plan(&mut self, plan: Plan) {
        let Some(block) = plan.steps.first().map(step_block) else { return };
        let plane = self.geometry.plane_of(block);
        let home = self.geometry.die_of_plane(plane);
        let mut job = Job::new(Kind::Plan, Tag::of(plan.source), plane, home);
        job.background = plan.background;
        job.hold = plan.hold;
        job.steps = plan.steps;
        let erases = self.array.erases();
        job.lives = job.steps.iter().map(|step| erases[step_block(step)]).collect();
        let id = self.jobs.add(job);
        if plan.background {
            self.idle_jobs[home].push_back(id);
            self.idle_jobs_total += 1;
        } else {
            self.ready.push_back(id);
        }
    }

    /// The next job to start or to go on with; the driver asks until there is none.
    #[inline]
    pub fn take_ready(&mut self) -> Option<JobId> {
        self.ready.pop_front()
    }

    /// Whether a job wants to start, or turned urgent.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.promoted.is_empty()
    }

    /// Background jobs that turned urgent since the last call.
    #[inline]
    pub fn take_promoted(&mut self) -> Option<JobId> {
        self.promoted.pop()
    }

    /// A running job.
    #[inline]
    pub fn job(&self, id: JobId) -> &Job<<K::Store as Store>::Page> {
        self.jobs.get(id)
    }

    /// Whether an idle die might find work at all.
    #[inline]
    pub fn offers_idle_work(&self) -> bool {
        self.idle_interest || self.idle_jobs_total > 0
    }

    /// Work for a die that has nothing else to do: re-writes that the cost policy wants, then
    /// background jobs of policies, then garbage collection ahead of need.
    pub fn idle_job(&mut self, die: DieId) -> Option<JobId> {
        if !self.offers_idle_work() {
            return None;
        }
        if self.interests.cost.has(Interests::IDLE) {
            let view = ftl_view!(self);
            if let Some(lpn) = self.policies.cost.rewrite(die, &view)
                && let Some(from) = self.map.lookup(lpn)
            {
                let plane = self.geometry.plane_of(self.geometry.block_of(from));
                let mut job = Job::new(Kind::Rewrite, Tag::of(Source::Rewrite), plane, die);
                job.home = self.geometry.die_of_plane(plane);
                job.background = true;
                job.lpn = Some(lpn);
                job.dest = Dest::Stream(StreamId::HOST);
                return Some(self.jobs.add(job));
            }
        }
        if let Some(id) = self.idle_jobs[die].pop_front() {
            self.idle_jobs_total -= 1;
            return Some(id);
        }
        if self.config.gc.background_stop > 0 {
            for index in 0..self.geometry.planes_per_die() as u32 {
                let plane = self.geometry.plane_in(die, index);
                let state = self.planes.get(plane);
                if state.collector.is_none()
                    && !state.starved
                    && self.is_short(plane, self.config.gc.background_stop)
                {
                    let id = self.spawn_collector(plane, Source::Host, Prio::Normal);
                    self.jobs.get_mut(id).background = true;
                    return Some(id);
                }
            }
        }
        None
    }

    /// A job waits.
    #[cold]
    pub(super) fn wait(&mut self, id: JobId, wait: WaitFor) {
        self.job_waits += 1;
        self.waiting.push((id, wait));
    }

    /// Moves jobs whose wait is over to the ready list, in the order in which they waited.
    #[cold]
    pub(crate) fn wake(&mut self, over: impl Fn(WaitFor) -> bool) {
        let ready = &mut self.ready;
        self.waiting.retain(|(id, wait)| {
            let woken = over(*wait);
            if woken {
                ready.push_back(*id);
            }
            !woken
        });
    }

    /// Carries out every ready job at once, without time: for tests and preconditioning.
    pub fn settle(&mut self, now: Time) {
        while let Some(id) = self.take_ready() {
            self.run_job(id, now);
        }
        self.promoted.clear();
    }

    /// Carries out one job until it ends or waits.
    ///
    /// # Panics
    ///
    /// If there is no end: collection that gains nothing, because of a policy that wastes as many
    /// pages as it wins.
    pub fn run_job(&mut self, id: JobId, now: Time) {
        let limit = 100 * self.geometry.pages();
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

/// The block that a step is about.
pub(super) fn step_block(step: &Step) -> BlockId {
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

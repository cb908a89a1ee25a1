//! The running jobs, those whose turn it is, and those that wait.

use super::collect::Collect;
use super::wait::{Condition, Waits};
use super::{Job, JobId, Task};
use crate::ftl::Counts;
use kernel::{IndexVec, Prio};
use nand::{DieId, Geometry, PlaneId, Source, Tag};
use slab::Slab;
use std::collections::VecDeque;

pub(crate) struct Jobs<D> {
    pub(super) running: Slab<Job<D>>,
    pub(super) ready: VecDeque<JobId>,
    /// Background jobs that turned urgent.
    pub(super) promoted: Vec<JobId>,
    pub(super) waits: Waits,
    /// Background jobs of policies that have not started, by die.
    idle: IndexVec<DieId, VecDeque<JobId>>,
    pub(super) idle_total: usize,
    /// The job that reclaims blocks of each plane, if one runs.
    pub(super) collectors: IndexVec<PlaneId, Option<JobId>>,
    /// Their share of them.
    pub(crate) counts: Counts,
}

impl<D> Jobs<D> {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            running: Slab::new(),
            ready: VecDeque::new(),
            promoted: Vec::new(),
            waits: Waits::default(),
            idle: IndexVec::filled(VecDeque::new(), geometry.dies()),
            idle_total: 0,
            collectors: IndexVec::filled(None, geometry.planes()),
            counts: Counts::default(),
        }
    }

    pub(super) fn add(&mut self, job: Job<D>) -> JobId {
        JobId::from_u32(self.running.insert(job) as u32)
    }

    pub(super) fn remove(&mut self, id: JobId) {
        self.running.remove(id.as_u32() as usize);
    }

    #[inline]
    pub(super) fn get(&self, id: JobId) -> &Job<D> {
        &self.running[id.as_u32() as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: JobId) -> &mut Job<D> {
        &mut self.running[id.as_u32() as usize]
    }

    /// Whether one works in the plane for `source`.
    pub(super) fn at_work(&self, plane: PlaneId, source: Source) -> bool {
        self.running.iter().any(|(_, job)| job.tag.source == source && job.plane == plane)
    }

    // ── Whose turn it is ────────────────────────────────────────────────────────────────────────

    /// A job may start; one for idle time when its die has nothing else to do.
    pub(super) fn start(&mut self, job: Job<D>) {
        let (home, background) = (job.home, job.background);
        let id = self.add(job);
        if background {
            self.idle[home].push_back(id);
            self.idle_total += 1;
        } else {
            self.ready.push_back(id);
        }
    }

    pub(super) fn take_idle(&mut self, die: DieId) -> Option<JobId> {
        let id = self.idle[die].pop_front()?;
        self.idle_total -= 1;
        Some(id)
    }

    /// A condition holds: the jobs that wait for it are ready.
    #[inline]
    pub(crate) fn release(&mut self, now: Condition) {
        if !self.waits.is_empty() {
            self.waits.release(now, &mut self.ready);
        }
    }

    // ── Collectors ──────────────────────────────────────────────────────────────────────────────

    /// Reclaims blocks of `plane` because `demand` needs space there, and how urgently.
    pub(crate) fn collect(&mut self, plane: PlaneId, home: DieId, demand: Source, prio: Prio) {
        let Some(id) = self.collectors[plane] else {
            let id = self.add_collector(plane, home, demand, prio, false);
            self.ready.push_back(id);
            return;
        };
        let job = self.get_mut(id);
        job.tag.prio = job.tag.prio.max(prio);
        // Idle-time work that has become urgent goes on as a foreground job.
        if std::mem::take(&mut job.background) && !self.waits.holds(id) {
            self.promoted.push(id);
        }
    }

    pub(super) fn add_collector(
        &mut self,
        plane: PlaneId,
        home: DieId,
        demand: Source,
        prio: Prio,
        background: bool,
    ) -> JobId {
        let tag = Tag { prio, ..Tag::gc_for(demand) };
        let mut job = Job::new(Task::Collect(Collect::Choose), tag, plane, home);
        job.background = background;
        let id = self.add(job);
        self.collectors[plane] = Some(id);
        id
    }
}

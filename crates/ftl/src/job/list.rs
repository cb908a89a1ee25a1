//! The running jobs, those whose turn it is, and those that wait.

use super::{Collect, Job, JobId, Task};
use crate::Counts;
use kernel::{IndexVec, Prio};
use nand::{BlockId, DieId, Geometry, PlaneId, Source, Tag};
use slab::Slab;
use std::collections::VecDeque;

/// What a job waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// A free block in this plane; `None`: in any, where pages may go to any.
    Space(Option<PlaneId>),
    /// The last read on its way to this block.
    Pins(BlockId),
    /// A program into this block.
    Program(BlockId),
}

/// Jobs that wait, in the order in which they came.
#[derive(Default)]
pub(super) struct Waits {
    parked: Vec<(JobId, Condition)>,
    /// How often a job has waited.
    pub(super) parkings: u64,
}

impl Waits {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parked.is_empty()
    }

    pub(super) fn holds(&self, job: JobId) -> bool {
        self.parked.iter().any(|(parked, _)| *parked == job)
    }

    #[cold]
    pub(super) fn park(&mut self, job: JobId, until: Condition) {
        self.parkings += 1;
        self.parked.push((job, until));
    }

    /// The condition holds: those who wait for it are ready.
    #[cold]
    pub(super) fn release(&mut self, now: Condition, ready: &mut VecDeque<JobId>) {
        self.parked.retain(|(job, until)| {
            if *until == now {
                ready.push_back(*job);
            }
            *until != now
        });
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_for_one_thing_go_on_in_the_order_in_which_they_came() {
        let [plane, other] = [0, 1].map(PlaneId::from_u32);
        let block = BlockId::from_u32(0);
        let (mut waits, mut ready) = (Waits::default(), VecDeque::new());
        let until = [
            Condition::Space(Some(plane)),
            Condition::Pins(block),
            Condition::Space(Some(other)),
            Condition::Program(block),
            Condition::Space(Some(plane)),
        ];
        for (n, until) in until.into_iter().enumerate() {
            waits.park(JobId::from_u32(n as u32), until);
        }
        waits.release(Condition::Space(Some(plane)), &mut ready);
        waits.release(Condition::Pins(block), &mut ready);
        assert_eq!(ready, [0, 4, 1].map(JobId::from_u32));
        assert!(waits.holds(JobId::from_u32(2)) && !waits.holds(JobId::from_u32(4)));
        assert_eq!((waits.parked.len(), waits.parkings), (2, 5));
    }
}

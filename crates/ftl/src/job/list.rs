//! The running jobs, those whose turn it is, and those that wait.

use super::{Collect, Doing, Job, JobId, Task};
use crate::{Counts, Hold};
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

pub(crate) struct Jobs<D> {
    pub(super) running: Slab<Job<D>>,
    pub(super) ready: VecDeque<JobId>,
    /// Background jobs that turned urgent.
    pub(super) promoted: Vec<JobId>,
    /// Those that wait, in the order in which they came.
    parked: Vec<(JobId, Condition)>,
    /// How often a job has waited.
    pub(super) parkings: u64,
    /// Background jobs of policies that have not started, by die.
    idle: IndexVec<DieId, VecDeque<JobId>>,
    pub(super) idle_total: usize,
    /// The job that reclaims blocks of each plane, if one runs.
    pub(super) collectors: IndexVec<PlaneId, Option<JobId>>,
    geometry: Geometry,
    /// Their share of them.
    pub(crate) counts: Counts,
}

impl<D> Jobs<D> {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            running: Slab::new(),
            ready: VecDeque::new(),
            promoted: Vec::new(),
            parked: Vec::new(),
            parkings: 0,
            idle: IndexVec::filled(VecDeque::new(), geometry.dies()),
            idle_total: 0,
            collectors: IndexVec::filled(None, geometry.planes()),
            geometry: *geometry,
            counts: Counts::default(),
        }
    }

    /// A job that has not begun.
    pub(super) fn job(&self, task: Task, tag: Tag, plane: PlaneId) -> Job<D> {
        let (home, doing) = (self.geometry.die_of_plane(plane), Doing::Nothing);
        Job { tag, plane, home, background: false, hold: Hold::Place, doing, task }
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

    #[cold]
    pub(super) fn park(&mut self, job: JobId, until: Condition) {
        self.parkings += 1;
        self.parked.push((job, until));
    }

    /// A condition holds: the jobs that wait for it are ready.
    #[inline]
    pub(crate) fn release(&mut self, now: Condition) {
        if !self.parked.is_empty() {
            self.release_parked(now);
        }
    }

    #[cold]
    fn release_parked(&mut self, now: Condition) {
        self.parked.retain(|(job, until)| {
            if *until == now {
                self.ready.push_back(*job);
            }
            *until != now
        });
    }

    // ── Collectors ──────────────────────────────────────────────────────────────────────────────

    /// Reclaims blocks of `plane` because `demand` needs space there, and how urgently.
    pub(crate) fn collect(&mut self, plane: PlaneId, demand: Source, prio: Prio) {
        let Some(id) = self.collectors[plane] else {
            let id = self.add_collector(plane, Tag { prio, ..Tag::gc_for(demand) }, false);
            self.ready.push_back(id);
            return;
        };
        let known = &mut self.get_mut(id).tag.prio;
        *known = prio.max(*known);
        // Idle-time work that has become urgent goes on as a foreground job.
        let waits = self.parked.iter().any(|(parked, _)| *parked == id);
        if std::mem::take(&mut self.get_mut(id).background) && !waits {
            self.promoted.push(id);
        }
    }

    pub(super) fn add_collector(&mut self, plane: PlaneId, tag: Tag, background: bool) -> JobId {
        let job = self.job(Task::Collect(Collect::Choose), tag, plane);
        let id = self.add(Job { background, ..job });
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
        let mut jobs = Jobs::<()>::new(&Geometry::new(crate::small::SMALL).expect("a drive"));
        let until = [
            Condition::Space(Some(plane)),
            Condition::Pins(block),
            Condition::Space(Some(other)),
            Condition::Program(block),
            Condition::Space(Some(plane)),
        ];
        for (n, until) in until.into_iter().enumerate() {
            jobs.park(JobId::from_u32(n as u32), until);
        }
        jobs.release(Condition::Space(Some(plane)));
        jobs.release(Condition::Pins(block));
        assert_eq!(jobs.ready, [0, 4, 1].map(JobId::from_u32));
        assert_eq!(jobs.parked, [(JobId::from_u32(2), until[2]), (JobId::from_u32(3), until[3])]);
        assert_eq!(jobs.parkings, 5);
    }
}

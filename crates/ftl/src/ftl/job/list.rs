//! The running jobs, those whose turn it is, and those that wait; how they come about, and how they
//! are run without time.

use super::collect::has_role;
use super::crew::Crew;
use super::{After, Collect, Copyback, GcPace, Job, JobBuffer, JobId, Next, Page, Task};
use crate::{
    Balance, Cost, Counts, Dest, Ftl, FtlView, Hold, Interests, Plan, PlaneView, PolicyTypes,
    State, Step, Wear,
};
use kernel::{BitSet, IndexVec, Prio, Time};
use nand::{BlockId, DieId, Each, Geometry, Level, Operation, Outcome, PlaneId, Source, Tag, Verb};
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};

/// The condition that a job waits for.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum JobCondition {
    /// A free block in this plane; `None`: in any plane, if pages may go to any.
    Space(Option<PlaneId>),
    /// The last read on its way to this block.
    Pins(BlockId),
    /// A program into this block, or its superblock.
    Program(BlockId),
    /// The last member of the crew that this job leads.
    Crew(JobId),
}

pub(crate) struct Jobs<D> {
    pub(super) running: Slab<Job<D>>,
    pub(super) ready: VecDeque<JobId>,
    /// Background jobs that turned urgent.
    pub(super) promoted: Vec<JobId>,
    /// Those that wait for each condition, in the order in which they came.
    parked: BTreeMap<JobCondition, Vec<JobId>>,
    /// How many work in each plane for each source.
    working: IndexVec<PlaneId, Each<Source, u32>>,
    /// How often a job has waited.
    pub(super) parkings: u64,
    /// Background jobs of policies that have not started, by die.
    idle: IndexVec<DieId, VecDeque<JobId>>,
    pub(super) idle_total: usize,
    /// The job that reclaims blocks of each plane, if one runs.
    pub(super) collectors: IndexVec<PlaneId, Option<JobId>>,
    /// How fast they go.
    pub(crate) pace: GcPace,
    /// Planes that are to collect one block because of their garbage.
    pub(crate) garbage_due: BitSet,
    /// Members of crews that give way to everything else, some of which have ended or do not any more.
    giving_way: Vec<JobId>,
    /// Dies work at the same time. False while a drive is filled and aged, or jobs are carried out
    /// at once.
    pub(crate) side_by_side: bool,
    /// Present if pages are moved inside their planes.
    pub(crate) copyback: Option<Box<Copyback>>,
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
            parked: BTreeMap::new(),
            working: IndexVec::filled(Each::default(), geometry.planes()),
            parkings: 0,
            idle: IndexVec::filled(VecDeque::new(), geometry.dies()),
            idle_total: 0,
            collectors: IndexVec::filled(None, geometry.planes()),
            pace: GcPace::default(),
            garbage_due: BitSet::new(geometry.planes()),
            giving_way: Vec::new(),
            side_by_side: true,
            copyback: None,
            geometry: *geometry,
            counts: Counts::default(),
        }
    }

    /// A job that has not begun.
    pub(super) fn job(&self, task: Task, tag: Tag, plane: PlaneId) -> Job<D> {
        let (home, after) = (self.geometry.die_of_plane(plane), After::Nothing);
        let buffer = JobBuffer::default();
        let operation = Operation::new(Verb::Read, None, tag, Level::MediumCost);
        let (hold, background) = (Hold::Place, false);
        let (waits, copyback, data_out) = (false, false, false);
        let several = !self.geometry.superblocks().are_blocks();
        let leads = several && matches!(task, Task::Collect(_) | Task::Plan(_));
        let crew = if leads { Crew::leader() } else { Crew::default() };
        Job {
            tag,
            plane,
            home,
            background,
            waits,
            hold,
            copyback,
            data_out,
            operation,
            after,
            task,
            crew,
            buffer,
        }
    }

    pub(super) fn add(&mut self, job: Job<D>) -> JobId {
        self.working[job.plane][job.tag.source] += 1;
        JobId::from_u32(self.running.insert(job) as u32)
    }

    /// A job is over.
    #[inline]
    pub(super) fn remove(&mut self, id: JobId) {
        let job = self.running.remove(id.as_u32() as usize);
        self.working[job.plane][job.tag.source] -= 1;
        // A later job will have this number.
        self.demote(id);
    }

    /// A job that has become urgent no longer is, before anyone was told.
    fn demote(&mut self, id: JobId) {
        if !self.promoted.is_empty() {
            self.promoted.retain(|promoted| *promoted != id);
        }
    }

    /// Whether a job gives way to everything else from now on. The caller holds the job, so no one
    /// has to be told.
    pub(crate) fn set_background(&mut self, id: JobId, background: bool) {
        let job = self.get_mut(id);
        job.background = background;
        if background {
            if job.crew.of.is_some() {
                self.giving_way.push(id);
            }
            self.demote(id);
        }
    }

    #[inline]
    pub(super) fn get(&self, id: JobId) -> &Job<D> {
        &self.running[id.as_u32() as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: JobId) -> &mut Job<D> {
        &mut self.running[id.as_u32() as usize]
    }

    /// A collector turns from collection to folding, or back.
    pub(super) fn set_tag(&mut self, id: JobId, tag: Tag) {
        let job = self.get_mut(id);
        let (plane, before) = (job.plane, std::mem::replace(&mut job.tag, tag));
        self.working[plane][before.source] -= 1;
        self.working[plane][tag.source] += 1;
    }

    /// The collector of a plane, if one runs.
    pub(crate) fn collector_of(&self, plane: PlaneId) -> Option<JobId> {
        self.collectors[plane]
    }

    /// Whether one works in the plane for `source`.
    pub(super) fn at_work(&self, plane: PlaneId, source: Source) -> bool {
        self.working[plane][source] > 0
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

    fn take_idle(&mut self, die: DieId) -> Option<JobId> {
        self.idle[die].pop_front().inspect(|_| self.idle_total -= 1)
    }

    #[cold]
    pub(super) fn park(&mut self, job: JobId, until: JobCondition) -> Next {
        self.parkings += 1;
        if let JobCondition::Space(plane) = until {
            self.await_space(plane);
        }
        self.get_mut(job).waits = true;
        self.parked.entry(until).or_default().push(job);
        Next::Wait
    }

    /// Whether any job waits for a condition.
    #[inline]
    pub(crate) fn any_waits(&self) -> bool {
        !self.parked.is_empty()
    }

    /// A condition holds: the jobs that wait for it are ready.
    #[inline]
    pub(crate) fn release(&mut self, now: JobCondition) {
        if !self.parked.is_empty() {
            self.release_parked(now);
        }
    }

    #[cold]
    fn release_parked(&mut self, now: JobCondition) {
        for job in self.parked.remove(&now).unwrap_or_default() {
            self.get_mut(job).waits = false;
            self.ready.push_back(job);
        }
    }

    /// Operations wait for space in a plane, or in any. Collection has no pace there until it has
    /// made some.
    #[cold]
    pub(crate) fn await_space(&mut self, plane: Option<PlaneId>) {
        if self.pace.is_kept() {
            let all = 0..self.geometry.planes() as u32; // of each set only the first counts
            let planes = plane.map_or(all, |plane| plane.as_u32()..plane.as_u32() + 1);
            for plane in planes {
                let plane = PlaneId::from_u32(plane);
                self.pace.await_space(plane);
                self.put_first(plane);
            }
        }
    }

    /// The host has written pages into a plane, and collection has a pace.
    #[cold]
    pub(crate) fn earn(&mut self, plane: PlaneId, pages: u32) {
        if self.pace.earn(plane, pages) {
            self.put_first(plane);
        }
    }

    /// The collector of a plane is late: it gives way no more.
    pub(crate) fn put_first(&mut self, plane: PlaneId) {
        if let Some(id) = self.collectors[plane]
            && std::mem::take(&mut self.get_mut(id).background)
        {
            self.promoted.push(id);
        }
        self.urge_crew(plane);
    }

    /// The members of a collector's crew that give way to everything else stop doing so.
    fn urge_crew(&mut self, plane: PlaneId) {
        if self.giving_way.is_empty() {
            return;
        }
        let members = std::mem::take(&mut self.giving_way);
        for id in members {
            let Some(job) = self.running.get_mut(id.as_u32() as usize) else { continue };
            let gives_way = job.crew.of.is_some() && job.background;
            if gives_way && job.plane != plane {
                self.giving_way.push(id);
            } else if gives_way && job.tag.reclaims() {
                job.background = false;
                if !job.waits {
                    self.promoted.push(id);
                }
            }
        }
    }

    // ── Collectors ──────────────────────────────────────────────────────────────────────────────

    /// Reclaims blocks of `plane` because `demand` needs space there, and how urgently.
    pub(crate) fn collect(&mut self, plane: PlaneId, demand: Source, prio: Prio) {
        let Some(id) = self.collectors[plane] else {
            let id = self.add_collector(plane, Tag { prio, ..Tag::gc_for(demand) }, false);
            self.ready.push_back(id);
            return;
        };
        let job = self.get_mut(id);
        job.tag.prio = prio.max(job.tag.prio);
        if self.pace.is_kept() {
            if demand != Source::Host {
                self.await_space(Some(plane));
            }
            return;
        }
        let job = self.get_mut(id);
        // Idle-time work that has become urgent goes on as a foreground job.
        if std::mem::take(&mut job.background) && !job.waits {
            self.promoted.push(id);
        }
        self.urge_crew(plane);
    }

    pub(super) fn add_collector(&mut self, plane: PlaneId, tag: Tag, background: bool) -> JobId {
        let job = self.job(Task::Collect(Collect::Choose), tag, plane);
        let id = self.add(Job { background, ..job });
        self.collectors[plane] = Some(id);
        id
    }
}

impl<K: PolicyTypes> Ftl<K> {
    /// Asks the wear leveller, now that a block was erased.
    pub(super) fn balance(&mut self, erased: BlockId, tag: Tag, now: Time) {
        if !self.answers.wear || !matches!(tag.source, Source::Gc | Source::Refresh) {
            return;
        }
        let plane = self.space.set_of(erased);
        // One at a time: the spread on which the last answer was based may be gone when the plan is
        // done.
        if self.jobs.at_work(plane, Source::Wear) {
            return;
        }
        // Wear levelling looks for cold data. A block to which the read-disturb policy gave a role
        // has little wear because it endures many reads.
        let ftl = FtlView::of(&self.space, &self.map, &self.reads);
        let spares =
            self.reads.are_counted() && self.victims.exclude(&ftl, plane, |b| has_role(&ftl, b));
        let excluded = spares.then_some(&self.victims.excluded);
        let mut plan = Plan::of(Source::Wear);
        let plane = PlaneView { ftl, plane, now, from: 0, excluded };
        self.policies.wear.balance(&Balance { plane, erased }, &mut plan);
        self.spawn_plan(plan);
    }

    /// Takes a block out of service because a page of it could not be read. Its valid pages move
    /// away, and the block is retired when it is empty. Each plane empties one such block at a
    /// time; the others go when garbage collection or another failure comes to them.
    pub fn mark_bad(&mut self, block: BlockId) {
        let plane = self.space.set_of(block);
        if !self.space.mark_bad(block)
            || self.space.blocks.state(block) == State::Moving
            || self.jobs.at_work(plane, Source::Refresh)
        {
            return;
        }
        let steps = vec![Step::Reclaim { block, to: Dest::MOVES }];
        self.spawn_plan(Plan { steps, ..Plan::of(Source::Refresh) });
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
        let work = self.idle_rewrite(die).or_else(|| self.jobs.take_idle(die));
        work.or_else(|| self.idle_gc(die)).or_else(|| self.idle_fold(die))
    }

    fn idle_fold(&mut self, die: DieId) -> Option<JobId> {
        if !self.answers.caches {
            return None;
        }
        let geometry = self.space.geometry;
        let planes = (0..geometry.planes_per_die() as u32)
            .map(|index| geometry.superblocks().set_of(geometry.plane_in(die, index)));
        let plane = self.plane_to_fold(planes)?;
        Some(self.jobs.add_collector(plane, Tag::of(Source::Fold), true))
    }

    fn idle_rewrite(&mut self, die: DieId) -> Option<JobId> {
        if !self.answers.interests.has(Interests::IDLE) {
            return None;
        }
        let view = FtlView::of(&self.space, &self.map, &self.reads);
        let lpn = self.policies.cost.rewrite(die, &view)?;
        let geometry = &self.space.geometry;
        let plane = self.space.set_of(geometry.block_of(self.find(lpn)?));
        let job = self.jobs.job(Task::Rewrite(Some(lpn)), Tag::of(Source::Rewrite), plane);
        Some(self.jobs.add(Job { background: true, ..job }))
    }

    fn idle_gc(&mut self, die: DieId) -> Option<JobId> {
        let mark = self.config.gc.background_stop;
        if mark == 0 {
            return None;
        }
        let indices = 0..self.space.geometry.planes_per_die() as u32;
        let geometry = &self.space.geometry;
        let mut planes =
            indices.map(|index| geometry.superblocks().set_of(geometry.plane_in(die, index)));
        let plane = planes.find(|plane| {
            self.jobs.collectors[*plane].is_none()
                && !self.space.has_no_victim(*plane)
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
    /// If it never ends: collection gains nothing, because of a policy that wastes as many pages as
    /// it wins.
    pub fn run_job(&mut self, id: JobId, now: Time) {
        let limit = 100 * self.space.geometry.pages();
        self.jobs.side_by_side = false;
        let mut next = self.next(id, now);
        for _ in 0..limit {
            next = match next {
                Next::Done | Next::Wait => {
                    self.jobs.side_by_side = true;
                    return;
                }
                Next::Yield | Next::Turn => self.next(id, now),
                Next::Start => {
                    let operation = *self.jobs.get(id).operation();
                    let next = self.job_concluded(id, &operation, Outcome::Done, now);
                    if self.space.striped {
                        self.settle_parity(now);
                    }
                    next
                }
            };
        }
        let job = self.jobs.get(id);
        let (tag, plane) = (job.tag, job.plane);
        panic!("a job of plane {plane} ({tag:?}) has had {limit} actions, and there is no end");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::Shape;

    #[test]
    fn those_who_wait_for_one_thing_go_on_in_the_order_in_which_they_came() {
        let [plane, other] = [0, 1].map(PlaneId::from_u32);
        let block = BlockId::from_u32(0);
        let shape = Shape { planes_per_die: 2, ..crate::small::SMALL };
        let mut jobs = Jobs::<()>::new(&Geometry::new(shape).expect("a drive"));
        let until = [
            JobCondition::Space(Some(plane)),
            JobCondition::Pins(block),
            JobCondition::Space(Some(other)),
            JobCondition::Program(block),
            JobCondition::Space(Some(plane)),
        ];
        for until in until {
            let job = jobs.job(Task::Rewrite(None), Tag::of(Source::Rewrite), plane);
            let id = jobs.add(job);
            jobs.park(id, until);
        }
        assert!(jobs.at_work(plane, Source::Rewrite) && !jobs.at_work(other, Source::Rewrite));
        jobs.release(JobCondition::Space(Some(plane)));
        jobs.release(JobCondition::Pins(block));
        assert_eq!(jobs.ready, [0, 4, 1].map(JobId::from_u32));
        let waits: Vec<bool> = jobs.running.iter().map(|(_, job)| job.waits).collect();
        assert_eq!(waits, [false, false, true, true, false]);
        let parked = [until[2], until[3]].into_iter().zip([2, 3].map(|n| vec![JobId::from_u32(n)]));
        assert_eq!(jobs.parked, parked.collect());
        assert_eq!(jobs.parkings, 5);
        (0..5).for_each(|n| jobs.remove(JobId::from_u32(n)));
        assert!(!jobs.at_work(plane, Source::Rewrite));
    }
}

//! The FTL: its parts, and how it begins and ends. What it does lies in `host.rs`, `slots.rs` and
//! `job`.

use crate::ask::{
    Coding, Cost, Interests, Kit, Order, PageChoice, Policies, ReadDisturb, Watch, Wear,
};
use crate::job::{Job, JobId, Jobs, WaitFor};
use crate::map::Map;
use crate::plan::{Dest, Plan, Step};
use crate::plane::Planes;
use crate::stream::{FreePick, Pool, StreamId, StreamSpec};
use crate::{Blocks, Levels, State};
use kernel::{BitSet, Idx, IndexVec, Rng};
use nand::{
    Array, BlockId, BySource, DieId, Geometry, Layouts, Level, Mode, PlaneId, Source, Store,
};
use std::collections::VecDeque;

/// The read-only view of the whole FTL, borrowed field by field so that a policy beside it can be
/// borrowed mutably.
macro_rules! ftl_view {
    ($ftl:expr) => {
        $crate::view::FtlView {
            geometry: &$ftl.geometry,
            layouts: &$ftl.layouts,
            map: &$ftl.map,
            blocks: &$ftl.blocks,
            modes: $ftl.array.modes(),
            erases: $ftl.array.erases(),
            wear: $ftl.array.wear(),
            reads: &$ftl.reads,
        }
    };
}
pub(crate) use ftl_view;

/// When garbage collection starts and stops, in free blocks of a plane.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct GcMarks {
    /// Starts when fewer are free.
    pub start: u32,
    /// Stops when this many are free.
    pub stop: u32,
    /// Goes on in idle time until this many are free; 0: never works in idle time.
    pub background_stop: u32,
    /// One block at a time; the rest in idle time, unless fewer than `start` are free.
    pub one_by_one: bool,
}

/// What a drive's FTL is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The array.
    pub geometry: Geometry,
    /// Where slots lie in each mode.
    pub layouts: Layouts,
    /// Exported pages.
    pub logical_pages: u32,
    /// When garbage collection starts and stops.
    pub gc: GcMarks,
    /// Effective P/E cycles after which a block is retired; 0: never.
    pub endurance: u32,
    /// The seed of the run.
    pub seed: u64,
}

impl Config {
    /// Physical pages that a drive needs beside its data: in each plane the free blocks at which
    /// garbage collection stops, and an open block each for the host and for moved data. With
    /// fewer, reclaiming may find nothing to gain anywhere.
    pub fn spare_needed(&self) -> u64 {
        let blocks = u64::from(self.gc.stop + 2) * self.geometry.planes() as u64;
        blocks * u64::from(self.geometry.pages_per_block())
    }
}

/// No plane that may take the page has room; it must wait until [`Ftl::take_freed`] says so.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NoSpace;

/// What the FTL has done so far. Pages, except erases: blocks.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Slots read, by source.
    pub read: BySource<u64>,
    /// Slots programmed, by source.
    pub program: BySource<u64>,
    /// Blocks erased, by source.
    pub erase: BySource<u64>,
    /// Erases by garbage collection, by who needed the space. Where refreshes take and give back
    /// space, that is not whoever happened to come when there was little: see `Ftl::owed`.
    pub gc_erase_by_demand: BySource<u64>,
    /// Pages moved (map changes that were no host write), by source.
    pub moved: BySource<u64>,
    /// Host pages given a slot.
    pub host_pages: u64,
    /// Blocks reprogrammed in place.
    pub reprogram: u64,
    /// Pages programmed by that, one for each wordline.
    pub reprogrammed_pages: u64,
    /// Slots given up in blocks that were completed before they were full.
    pub sealed: u64,
    /// Blocks that began a second generation instead of being erased.
    pub second_lives: u64,
    /// Valid pages that stayed where they were when their block did.
    pub kept: u64,
    /// Slots passed over by the page-choice policy.
    pub skipped: u64,
    /// Copies dropped because the page had changed meanwhile.
    pub dropped: u64,
    /// Times a plane had to be reclaimed and had nothing to gain.
    pub starved: u64,
    /// Blocks retired at the end of their life.
    pub retired: u64,
    /// Of these, the ones retired because a page of theirs could not be read.
    pub condemned: u64,
    /// Victims chosen in the policy's place, after it found nothing but full blocks.
    pub overridden: u64,
}

/// The interests of each family that is asked apart, and of all together.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Interest {
    pub(crate) all: Interests,
    pub(crate) cost: Interests,
    pub(crate) read_disturb: Interests,
}

/// A flash translation layer with its flash array.
pub struct Ftl<K: Kit> {
    pub(crate) config: Config,
    pub(crate) geometry: Geometry,
    pub(crate) layouts: Layouts,
    pub(crate) map: Map,
    pub(crate) blocks: Blocks,
    pub(crate) planes: Planes,
    pub(crate) streams: Vec<StreamSpec>,
    pub(crate) array: Array<K::Store>,
    /// The policies in charge.
    pub policies: Policies<K>,
    pub(crate) interests: Interest,
    pub(crate) jobs: Jobs<<K::Store as Store>::Page>,
    pub(crate) ready: VecDeque<JobId>,
    pub(crate) promoted: Vec<JobId>,
    pub(crate) waiting: Vec<(JobId, WaitFor)>,
    pub(crate) job_waits: u64,
    pub(crate) idle_jobs: IndexVec<DieId, VecDeque<JobId>>,
    pub(crate) idle_jobs_total: usize,
    pub(crate) idle_interest: bool,
    pub(crate) wear_active: bool,
    /// Every block is in full mode and pages are taken in order: slots are pages.
    pub(crate) plain: bool,
    pub(crate) coding_plain: bool,
    pub(crate) in_order: bool,
    /// High-priority writes have a stream of their own.
    pub(crate) priority: bool,
    /// A stream of the page-choice policy that only urgent writes go to.
    pub(crate) urgent: Option<StreamId>,
    pub(crate) constant: Option<Level>,
    pub(crate) levels: Option<Levels>,
    /// Host reads let in to each block since its last erase; empty when nobody counts.
    pub(crate) reads: Vec<u32>,
    /// Host reads that a block of each mode endures.
    pub(crate) limits: [u32; Mode::ALL.len()],
    /// A block that was at its limit is not any more.
    pub(crate) relieved: bool,
    /// Pages of space of each plane that refreshes took and have not given back; empty when nobody
    /// counts reads.
    pub(crate) owed: Vec<i64>,
    /// See [`ReadDisturb::keeps`].
    pub(crate) keeps: Option<(Pool, u32)>,
    /// Blocks of each plane that hold data of each stream of a policy: `plane * streams + stream`.
    pub(crate) held: Vec<u32>,
    pub(crate) writable: BitSet,
    /// The most slots that a block has or had: what the valid pages of a victim may need.
    pub(crate) widest: u32,
    pub(crate) freed: bool,
    pub(crate) starved_planes: u32,
    pub(crate) fruitless: u32,
    /// The run has begun: wear counts, and blocks retire.
    pub(crate) ages: bool,
    pub(crate) worn_out: bool,
    /// The block that is erased next endures beyond its rated cycles.
    pub(crate) healed: bool,
    /// Blocks to be retired when they are empty, whatever their wear.
    pub(crate) condemned: Vec<BlockId>,
    pub(crate) rng: Rng,
    /// The blocks of a plane that are no victims: memory that is used again and again.
    pub(crate) excluded: BitSet,
    pub(crate) counts: Counts,
}

impl<K: Kit> Ftl<K> {
    /// An empty drive.
    pub fn new(config: Config, mut policies: Policies<K>) -> Self {
        let geometry = config.geometry;
        policies.each(|w| w.attach(&geometry, config.logical_pages));
        let mut regular = StreamSpec::REGULAR;
        let keeps = policies.read_disturb.keeps();
        if let Some((pool, _)) = keeps {
            regular.pick = FreePick::OutsideFirst(pool);
        }
        let mut streams = vec![regular; StreamId::BUILT_IN];
        streams[StreamId::WEAR.index()].pick = FreePick::MostWorn;
        streams[StreamId::HOST_HIGH.index()].fallback = Some(StreamId::HOST);
        streams.extend(policies.read_disturb.streams());
        policies.page_choice.learn_streams(StreamId(streams.len() as u8));
        streams.extend(policies.page_choice.streams());
        let urgent = policies.page_choice.urgent_stream();
        if let Some(pick) = policies.page_choice.gc_pick() {
            streams[StreamId::GC.index()].pick = pick;
        }
        let interests = Interest {
            all: policies.interests(),
            cost: policies.cost.interests(),
            read_disturb: policies.read_disturb.interests(),
        };
        let mut array = Array::new(geometry, config.layouts.clone());
        let coding_plain = policies.coding.plain();
        if !coding_plain {
            for b in (0..geometry.blocks() as u32).map(BlockId::from_u32) {
                array.set_mode(b, policies.coding.first_life(b));
            }
        }
        let plain = coding_plain && streams.iter().all(|s| s.mode == Mode::Full);
        let constant = policies.cost.constant();
        let levels =
            constant.is_none().then(|| Levels::new(geometry.pages(), policies.cost.initial()));
        let counting = interests.read_disturb.has(Interests::READ);
        let widest = array.modes().as_slice().iter().map(|m| config.layouts.slots(*m)).max();
        let limits = Mode::ALL.map(|m| policies.read_disturb.limit(m).unwrap_or(u32::MAX));
        let mut ftl = Self {
            geometry,
            layouts: config.layouts.clone(),
            map: Map::new(&geometry, config.logical_pages),
            blocks: Blocks::new(&geometry),
            planes: Planes::new(&geometry, streams.len()),
            held: vec![0; geometry.planes() * streams.len()],
            streams,
            array,
            interests,
            jobs: Jobs::new(),
            ready: VecDeque::new(),
            promoted: Vec::new(),
            waiting: Vec::new(),
            job_waits: 0,
            idle_jobs: IndexVec::filled(VecDeque::new(), geometry.dies()),
            idle_jobs_total: 0,
            idle_interest: interests.cost.has(Interests::IDLE) || config.gc.background_stop > 0,
            wear_active: policies.wear.active(),
            plain,
            coding_plain,
            in_order: policies.page_choice.in_order(),
            priority: policies.order.uses_priority(),
            urgent,
            constant,
            levels,
            reads: if counting { vec![0; geometry.blocks()] } else { Vec::new() },
            limits,
            relieved: false,
            keeps,
            owed: if counting { vec![0; geometry.planes()] } else { Vec::new() },
            writable: BitSet::new(geometry.planes()),
            widest: widest.expect("a drive has blocks"),
            freed: false,
            starved_planes: 0,
            fruitless: 0,
            ages: false,
            worn_out: false,
            healed: false,
            condemned: Vec::new(),
            rng: Rng::named(config.seed, "ftl/victim"),
            excluded: BitSet::new(geometry.blocks_per_plane()),
            counts: Counts::default(),
            policies,
            config,
        };
        (0..geometry.planes()).for_each(|p| ftl.update_writable(PlaneId::new(p)));
        ftl
    }

    /// The drive's geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What it was built from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The map.
    #[inline]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The block columns.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Host reads let in to each block since its last erase; empty when nobody counts.
    pub fn reads(&self) -> &[u32] {
        &self.reads
    }

    /// The flash array.
    pub fn array(&self) -> &Array<K::Store> {
        &self.array
    }

    /// What has been done so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Free blocks of a plane.
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.planes.get(plane).free.len()
    }

    /// Planes with room for a host write.
    pub fn writable(&self) -> &BitSet {
        &self.writable
    }

    /// Jobs that are running or waiting.
    pub fn running_jobs(&self) -> usize {
        self.jobs.running()
    }

    /// How often a job has waited: for space, for reads on their way, for a program.
    pub fn job_waits(&self) -> u64 {
        self.job_waits
    }

    /// Ends preconditioning: its counts and wear are forgotten, and policies start afresh, so that
    /// a run does not depend on whether its first state was computed or loaded: what a saved state
    /// has no place for ([`Ftl::save`]) begins anew here.
    pub fn begin_run(&mut self, mut policies: Policies<K>) {
        assert!(self.jobs.running() == 0, "preconditioning left jobs behind");
        self.jobs = Jobs::new();
        policies.each(|w| w.attach(&self.geometry, self.config.logical_pages));
        let own = policies.page_choice.streams().len();
        policies.page_choice.learn_streams(StreamId((self.streams.len() - own) as u8));
        self.policies = policies;
        self.rng = Rng::named(self.config.seed, "ftl/victim");
        self.counts = Counts::default();
        self.job_waits = 0;
        self.array.reset_wear();
        self.freed = false;
        self.relieved = false;
        self.reads.fill(0);
        self.owed.fill(0);
        self.condemned.clear();
        self.fruitless = 0;
        self.ages = self.config.endurance > 0;
        if let Some(levels) = &mut self.levels {
            *levels = Levels::new(self.geometry.pages(), self.policies.cost.initial());
        }
    }

    /// Whether the block has reached the end of its life; if so it is retired.
    pub(crate) fn retire(&mut self, block: BlockId) -> bool {
        let limit = self.config.endurance.saturating_mul(1_000);
        let healed = std::mem::take(&mut self.healed);
        let worn = self.array.wear()[block] >= limit && !healed;
        let condemned = self.condemned.iter().position(|b| *b == block);
        if !self.ages || (!worn && condemned.is_none()) {
            return false;
        }
        // Garbage collection may just have used the plane's reserve to empty this block. Then the
        // block takes its place for one more life, or the next victim would have nowhere to go.
        if !self.reserves(self.geometry.plane_of(block)) {
            return false;
        }
        self.blocks.set_bad(block);
        self.counts.retired += 1;
        if let Some(at) = condemned {
            self.condemned.swap_remove(at);
            self.counts.condemned += 1;
        }
        // What a legal drive needs beside its data: see `Config::spare_needed`.
        let good = self.geometry.blocks() as u64 - self.counts.retired;
        let spare = good * u64::from(self.widest);
        let needed = u64::from(self.config.logical_pages) + self.spare_needed();
        self.worn_out = spare < needed;
        true
    }

    /// Says of the block whose erase is done next whether rest between its cycles has healed it: it
    /// then goes on, although it has had the cycles that it is rated for.
    pub fn set_healed(&mut self, healed: bool) {
        self.healed = healed;
    }

    /// Takes a block out of service because a page of it could not be read: what is valid moves
    /// away, and the block is retired when it is empty. Each plane empties one such block at a
    /// time; the others go when garbage collection or another failure comes to them.
    pub fn condemn(&mut self, block: BlockId) {
        let state = self.blocks.state(block);
        if !self.ages || matches!(state, State::Free | State::Bad) {
            return;
        }
        if !self.condemned.contains(&block) {
            self.condemned.push(block);
        }
        let plane = self.geometry.plane_of(block);
        let at_work = |j: &Job<_>| j.tag.source == Source::Refresh && j.plane == plane;
        if state == State::Moving || self.jobs.iter().any(at_work) {
            return;
        }
        let mut plan = Plan::of(Source::Refresh);
        plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
        self.spawn_plan(plan);
    }

    /// Physical pages that this drive needs beside its data: what [`Config::spare_needed`] says, and
    /// what its policies keep from data.
    pub fn spare_needed(&self) -> u64 {
        let kept = self.policies.read_disturb.spare_slots(&self.geometry)
            + self.policies.page_choice.spare_slots(&self.geometry);
        self.config.spare_needed() + kept * self.geometry.planes() as u64
    }

    /// Whether every slot is a page and always was.
    #[inline]
    pub fn slots_are_pages(&self) -> bool {
        self.plain
    }

    /// So many blocks are retired that the drive cannot hold its data and go on.
    #[inline]
    pub fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    /// The pool that a stream's blocks come from.
    pub fn pool(&self, stream: StreamId) -> Pool {
        self.streams[stream.index()].pool
    }
}

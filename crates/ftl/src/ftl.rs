//! The FTL: its parts, its construction and its end. The files of this module have its operations.

mod cache;
mod fill;
mod handles;
mod host;
mod job;
mod lookup;
mod place;
mod separate;

pub use cache::CacheCounts;
pub use handles::{HandleCounts, HandleEvents, Handles};
pub use job::{Job, JobId, Next};
pub use separate::stream_slots;

use crate::columns::{Ages, PageLevels, ReadLimits, Reads};
use crate::space::{CacheDemand, Demands, Space};
use crate::{
    Blocks, Coding, Config, Cost, Counts, Damaged, FreePick, HostTag, Interests, Lpn, Map, Order,
    PageChoice, Placement, Policies, PolicyTypes, ProgramBuffer, RESERVE, ReadDisturb, Separation,
    SlcCache, StreamId, StreamPages, StreamSpec, Watch, Wear,
};
use cache::CacheState;
use job::{GcPace, Jobs, Victims};
use nand::{Array, Each, FlashBlocks, Geometry, Mode, PlaneId, Store};
use separate::Separated;
use std::io::{self, Read, Write};

/// The answers that policies gave once, before the run.
pub(crate) struct Answers {
    /// The interests of all policies together.
    pub(crate) interests: Interests,
    /// An idle die may find work even if no policy has planned any.
    pub(crate) idle: bool,
    pub(crate) wear: bool,
    pub(crate) in_order: bool,
    /// High-priority writes have a stream of their own.
    pub(crate) priority: bool,
    /// A stream of the page-choice policy that only urgent writes go to.
    pub(crate) urgent: Option<StreamId>,
    /// Pages may go to any plane.
    pub(crate) anywhere: bool,
    /// The share of garbage above which a plane collects with each write; 0: never.
    pub(crate) garbage: f64,
    /// Writes open the free block with the least wear.
    pub(crate) least_worn: bool,
    /// Somebody wants to know when a page of the host has its slot.
    pub(crate) notes_writes: bool,
    /// Writes go to the SLC cache.
    pub(crate) caches: bool,
    pub(crate) separation: Separated,
}

/// A flash translation layer with its flash array.
pub struct Ftl<K: PolicyTypes> {
    pub(crate) config: Config,
    pub(crate) space: Space<K::Store>,
    pub(crate) map: Map,
    pub(crate) jobs: Jobs<<K::Store as Store>::Page>,
    /// The policies in charge.
    pub policies: Policies<K>,
    pub(crate) answers: Answers,
    pub(crate) victims: Victims,
    pub(crate) levels: PageLevels,
    pub(crate) reads: Reads,
    pub(crate) host_pages: u64,
    pub(crate) ages: Ages,
    /// The placement handles, if the drive has some.
    pub(crate) handles: Option<Box<Handles>>,
    /// The SLC cache, if there is one.
    pub(crate) cache: Option<Box<CacheState>>,
    /// The pages of each stream, if the separation policy is asked anything.
    by_stream: Vec<StreamPages>,
    /// The pages that were written before the run and are not in flash yet, with their data. There is
    /// one buffer if a page may go to any plane, and otherwise one for each plane.
    pub(crate) buffered: Vec<ProgramBuffer<Lpn, (HostTag, <K::Store as Store>::Page)>>,
}

impl<K: PolicyTypes> Ftl<K> {
    /// An empty drive.
    pub fn new(config: Config, mut policies: Policies<K>) -> Self {
        let geometry = config.geometry;
        policies.each(|w| w.attach(&geometry, config.logical_pages));
        let counting = policies.read_disturb.interests().has(Interests::READ);
        let kept = policies.slc_cache.cache(&geometry).map_or(0, |c| c.spare_slots(&geometry))
            + policies.read_disturb.spare_slots(&geometry)
            + policies.page_choice.spare_slots(&geometry)
            + separate::stream_slots(
                &policies.separation.streams(),
                policies.separation.isolates(),
                &geometry,
            );
        let spare = config.spare_needed() + kept * geometry.sets() as u64;
        let (streams, separation, cache) = streams(&mut policies, &config);
        let takes_host = |s: &StreamId| streams[s.index()].class.takes_host();
        let ids = (0..streams.len() as u8).map(StreamId);
        // Folding blocks of the cache's own takes space before it gives any back.
        let fold = usize::from(cache.is_some_and(|cache| cache.spec.own > 0));
        let more_reserve = separation.more_reserve.max(fold);
        let demands = Demands {
            hosts: ids.filter(takes_host).collect(),
            reserve: RESERVE + more_reserve,
            least: if more_reserve > 0 { RESERVE + 3 } else { 0 },
            isolates: separation.isolates,
            streams,
            keeps: policies.read_disturb.keeps(),
            plain: policies.coding.plain(),
            charged: counting,
            pages: u64::from(config.logical_pages) + spare,
            cache,
        };
        let interests = policies.interests();
        let answers = Answers {
            interests,
            idle: interests.has(Interests::IDLE) || config.gc.background_stop > 0,
            wear: policies.wear.active(),
            in_order: policies.page_choice.in_order(),
            priority: policies.order.uses_priority(),
            urgent: policies.page_choice.urgent_stream(),
            // One set of dies takes all pages, under any names of its planes.
            anywhere: policies.placement.is_free()
                || (geometry.sets() == 1 && !geometry.superblocks().are_blocks()),
            garbage: 0.0,
            least_worn: false,
            notes_writes: separation.counts,
            caches: false,
            separation,
        };
        let mut array = Array::new(geometry, config.layouts.clone());
        if !demands.plain {
            geometry.block_ids().for_each(|b| array.set_mode(b, policies.coding.first_life(b)));
        }
        // Levels of one bit lie so far apart that reads do not disturb them.
        let limit = |mode: Mode| policies.read_disturb.limit(mode).filter(|_| mode != Mode::Slc);
        let limits = Each::from_fn(|mode| limit(mode).unwrap_or(u32::MAX));
        Self {
            space: Space::new(&config, array, demands),
            map: Map::new(&geometry, config.logical_pages),
            jobs: Jobs::new(&geometry),
            victims: Victims::new(&config),
            levels: PageLevels::new(
                geometry.pages(),
                policies.cost.constant(),
                policies.cost.initial(),
            ),
            reads: Reads::new(if counting { geometry.blocks() } else { 0 }, limits),
            host_pages: 0,
            buffered: vec![
                ProgramBuffer::default();
                answers.separation.hosts
                    * if answers.anywhere { 1 } else { geometry.sets() }
            ],
            handles: None,
            cache: cache.map(|demand| Box::new(CacheState::new(demand, config.geometry.planes()))),
            ages: Ages::new(answers.separation.follows, config.logical_pages),
            by_stream: vec![StreamPages::default(); policies.separation.streams().len()],
            answers,
            policies,
            config,
        }
    }

    /// Sets the wear of a cycle in each mode, in thousandths of a cycle at full density.
    pub fn set_cycle_wear(&mut self, wear: Each<Mode, u32>) {
        self.space.set_cycle_wear(wear);
    }

    /// From now on a plane collects a block with each write of the host, while more than this share of its
    /// written slots holds nothing valid.
    pub fn collect_garbage_above(&mut self, share: f64) {
        self.answers.garbage = share;
        self.answers.notes_writes = true;
        self.answers.interests = self.answers.interests.with(Interests::INVALIDATE);
        self.space.count_garbage();
    }

    /// From now on a stream without a choice of its own opens the free block with the least wear.
    pub fn open_least_worn(&mut self) {
        self.answers.least_worn = true;
        for stream in &mut self.space.demands.streams {
            if stream.pick == FreePick::Oldest {
                stream.pick = FreePick::LeastWorn;
            }
        }
    }

    /// From now on a block endures as many reads as its coarsest page
    /// ([`ReadDisturb::limit_share`]): for a drive whose levels differ. Called before the drive is
    /// filled.
    pub fn limit_reads_by_level(&mut self) {
        let percents = Each::from_fn(|level| self.policies.read_disturb.limit_share(level));
        if !self.reads.are_counted() || percents.values().all(|percent| *percent == 100) {
            return;
        }
        let limits = &mut self.reads.limits;
        if let Some(level) = self.levels.constant {
            return limits.scale(percents[level]);
        }
        limits.follow_levels(&percents, self.space.geometry.blocks());
        self.answers.interests = self.answers.interests.with(Interests::LEVELS);
    }

    /// The drive's geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.space.geometry
    }

    /// The block columns.
    pub fn blocks(&self) -> &Blocks {
        &self.space.blocks
    }

    /// Host reads let in to each block since its last erase; empty if no policy counts reads.
    pub fn reads(&self) -> &[u32] {
        &self.reads.each
    }

    /// The host reads that blocks endure.
    pub fn read_limits(&self) -> &ReadLimits {
        &self.reads.limits
    }

    /// The flash array.
    pub fn array(&self) -> &Array<K::Store> {
        self.space.array()
    }

    /// Whether a block was erased since counting began.
    #[inline]
    pub fn has_erased(&self) -> bool {
        self.space.counts.erase.total() > FlashBlocks::ZERO
    }

    /// The counts so far.
    #[inline] // so that who wants one of them takes that one
    pub fn counts(&self) -> Counts {
        let (jobs, host_pages) = (&self.jobs.counts, self.host_pages);
        Counts {
            gc_erase_by_demand: jobs.gc_erase_by_demand,
            moved: jobs.moved,
            dropped: jobs.dropped,
            overridden: self.victims.overridden,
            host_pages,
            ..self.space.counts
        }
    }

    /// Free blocks of a plane.
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self.space.free_blocks(plane)
    }

    /// Slots that one command programs.
    #[inline]
    pub fn slots_per_program(&self) -> u32 {
        self.space.unit()
    }

    /// Whether a block became free since the last call: waiting writes may try again.
    #[inline]
    pub fn take_freed(&mut self) -> bool {
        std::mem::take(&mut self.space.freed)
    }

    /// Ends preconditioning: its counts and wear are forgotten, and policies start afresh.
    /// Everything that a saved state does not contain ([`Ftl::save`]) is reset here. So a run does
    /// not depend on whether its first state was computed or loaded.
    pub fn begin_run(&mut self, policies: Policies<K>) {
        self.restart(policies, true);
    }

    /// The same amid preconditioning, whose cycles wear nothing out: it goes on as from a saved
    /// state.
    pub fn begin_afresh(&mut self, policies: Policies<K>) {
        self.restart(policies, false);
    }

    fn restart(&mut self, mut policies: Policies<K>, ages: bool) {
        assert!(self.running_jobs() == 0, "preconditioning left jobs behind");
        assert!(
            self.buffered.iter().all(ProgramBuffer::is_empty),
            "preconditioning left pages behind"
        );
        let geometry = self.config.geometry;
        policies.each(|w| w.attach(&geometry, self.config.logical_pages));
        self.space.demands.streams = streams(&mut policies, &self.config).0;
        if self.answers.least_worn {
            self.open_least_worn();
        }
        self.ages.begin_run();
        if let Some(handles) = &mut self.handles {
            handles.begin_run();
        }
        if let Some(cache) = &mut self.cache {
            cache.begin_run();
        }
        if ages {
            self.use_cache();
        }
        self.policies = policies;
        self.jobs = Jobs::new(&geometry);
        if self.config.gc.paced {
            self.jobs.pace = GcPace::new(&geometry, self.answers.anywhere);
        }
        self.victims = Victims::new(&self.config);
        self.host_pages = 0;
        self.by_stream.fill(StreamPages::default());
        self.space.restart(ages);
        self.reads.begin_run();
        self.levels = PageLevels::new(
            geometry.pages(),
            self.policies.cost.constant(),
            self.policies.cost.initial(),
        );
        if self.reads.limits.follow() {
            for block in geometry.block_ids() {
                let holds = self.space.blocks.written(block) > 0;
                self.reads.limits.set_coarsest(block, holds.then_some(self.levels.usual));
            }
        }
    }

    /// Checks that L2P and P2L are inverse, that counts equal bits, that every block is in exactly
    /// one place, and that the array agrees. The time grows with the drive, so it is meant for
    /// tests and for the end of a run.
    pub fn check(&self) -> Result<(), String> {
        self.space.check(&self.map)
    }

    /// Checks that nothing is on its way and that every block is plain.
    fn check_quiet(&self) -> Result<(), String> {
        let buffered = self.buffered.iter().any(|buffer| !buffer.is_empty());
        if !self.space.demands.plain || self.running_jobs() > 0 || buffered {
            return Err("blocks may have several lives, jobs run, or pages wait".into());
        }
        // Blocks close when they are full, unless a policy passes pages over or completes blocks.
        let whole = self.answers.in_order && !self.reads.are_counted();
        let in_use = |stream| match stream {
            StreamId::WEAR => self.answers.wear,
            StreamId::HOST_HIGH => self.answers.priority,
            _ => true,
        };
        self.space.check_quiet(whole, in_use, self.config.gc.start)
    }

    /// Whether the state can be saved: nothing is on its way, and blocks are plain.
    pub fn can_be_saved(&self) -> bool {
        self.check_quiet().is_ok()
    }

    /// Writes the state, 8 bytes for each page.
    ///
    /// # Panics
    ///
    /// If it cannot be saved.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.check_quiet().unwrap_or_else(|why| panic!("saved though {why}"));
        let owners = self.handles.as_ref().map_or(&[][..], |handles| handles.owners());
        self.space.save(&self.map, owners, to)
    }

    /// Puts an empty drive into a saved state. After an error the drive must not be used.
    pub fn restore(&mut self, from: &mut dyn Read) -> Result<(), Damaged> {
        if !self.space.demands.plain {
            return Err(Damaged);
        }
        let owners = self.handles.as_mut().map(|handles| handles.owners_mut());
        self.space.restore(from, &mut self.map, owners)?;
        self.check_quiet().and_then(|()| self.space.check_but_map(&self.map)).map_err(|_| Damaged)
    }

    /// Tells whether rest between its cycles has healed the block whose erase is done next. A
    /// healed block stays in use, although it has had its rated cycles.
    pub fn set_healed(&mut self, healed: bool) {
        self.space.healed = healed;
    }

    /// The pages of [`Config::spare_needed`] and those that this drive's policies keep from data.
    pub fn spare_needed(&self) -> u64 {
        self.space.demands.pages - u64::from(self.config.logical_pages)
    }

    /// Whether every slot is a page and always was.
    #[inline]
    pub fn slots_are_pages(&self) -> bool {
        self.space.plain
    }

    /// Whether a block was retired since the run began. Before that no drive is worn out.
    #[inline]
    pub fn has_retired(&self) -> bool {
        self.space.counts.retired > FlashBlocks::ZERO
    }

    /// So many blocks are retired that the drive cannot hold its data and go on.
    #[inline]
    pub fn is_worn_out(&self) -> bool {
        self.space.worn_out
    }
}

/// The built-in streams and those of the policies, which learn the ids of their own.
fn streams<K: PolicyTypes>(
    policies: &mut Policies<K>,
    config: &Config,
) -> (Vec<StreamSpec>, Separated, Option<CacheDemand>) {
    let geometry = &config.geometry;
    let mut regular = StreamSpec::REGULAR;
    if let Some((pool, _)) = policies.read_disturb.keeps() {
        regular.pick = FreePick::OutsideFirst(pool);
    }
    let mut streams = vec![regular; StreamId::BUILT_IN];
    streams[StreamId::WEAR.index()].pick = FreePick::MostWorn;
    streams[StreamId::HOST_HIGH.index()].fallback = Some(StreamId::HOST);
    streams.extend(policies.read_disturb.streams());
    policies.page_choice.learn_streams(StreamId(streams.len() as u8));
    streams.extend(policies.page_choice.streams());
    if let Some(pick) = policies.page_choice.gc_pick() {
        streams[StreamId::GC.index()].pick = pick;
    }
    let separated = Separated::add(&policies.separation, &mut streams, geometry);
    let mark = config.gc.start.max(config.gc.stop).max(RESERVE as u32 + 3);
    let cache = CacheState::add_stream(&policies.slc_cache, &mut streams, geometry, mark);
    (streams, separated, cache)
}

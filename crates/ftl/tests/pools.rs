//! Pools, picks and candidate sets. A stream opens blocks of its pool, in the order of its pick,
//! and falls back; a victim comes from the set that a policy narrows down.

use crate::support::{
    Drive, Fault, Needs, Plain, Remembering, Scenario, Seen, Traditional, builtin, policies_of,
    run, sweep,
};
use ftl::{
    Dest, FreePick, Ftl, FtlView, GcMarks, Interests, Pages, Plan, PlaneView, Policies, Pool,
    ReadDisturb, Role, State, Step, StreamId, StreamSpec, Victim, Watch,
};
use kernel::{BitSet, Idx, Rng, Time};
use nand::{BlockId, Geometry, Layouts, Mode, PlaneId, Shape, Source, Tag};
use policies::VictimPolicy;
use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};

const STREAM: StreamId = StreamId(StreamId::BUILT_IN as u8);

// ── Allocation ──────────────────────────────────────────────────────────────────────────────────

/// Moves some pages of a block to a stream of its own each time that it was read a little.
#[derive(Clone, Debug)]
struct Mover {
    spec: StreamSpec,
    keeps: Option<(Pool, u32)>,
    turn: u32,
}

impl Watch for Mover {
    fn interests(&self) -> Interests {
        Interests::READ
    }
}

impl ReadDisturb for Mover {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(3)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![self.spec]
    }

    fn keeps(&self) -> Option<(Pool, u32)> {
        self.keeps
    }

    fn on_limit(&mut self, _: &FtlView<'_>, block: BlockId, _: Time, plan: &mut Plan) {
        self.turn += 1;
        plan.push(Step::ResetReads(block));
        plan.push(Step::Copy { from: block, pages: Pages::All, to: Dest::Stream(STREAM) });
        // Otherwise the pool would fill with blocks that nobody empties.
        plan.push(Step::Reclaim { block, to: Dest::Stream(STREAM) });
    }
}

/// The test's own account of free blocks: the list of each plane, the one that is free longest
/// first.
struct Free {
    lists: Vec<VecDeque<BlockId>>,
    opened: u64,
    /// Blocks that others opened outside the reserve while it had a free one, and those that they
    /// opened in it.
    spared: u64,
    taken: u64,
}

impl Free {
    fn of(geometry: &Geometry) -> Self {
        let list = |p: usize| geometry.blocks_of(PlaneId::new(p)).map(BlockId::new).collect();
        let lists = (0..geometry.planes()).map(list).collect();
        Self { lists, opened: 0, spared: 0, taken: 0 }
    }

    /// Checks the changes of one step.
    fn follow(
        &mut self,
        ftl: &Ftl<Remembering>,
        spec: &StreamSpec,
        keeps: Option<(Pool, u32)>,
    ) -> Result<(), Fault> {
        let geometry = ftl.geometry();
        let first = spec.pool.first_index(geometry);
        let in_pool = |b: &&BlockId| geometry.index_in_plane(**b) >= first;
        for (p, list) in self.lists.iter_mut().enumerate() {
            let is_free = |b: &BlockId| ftl.blocks().state(*b) == State::Free;
            let opened: Vec<BlockId> = list.iter().copied().filter(|b| !is_free(b)).collect();
            for b in opened.iter().filter(|b| ftl.blocks().stream(**b) == STREAM) {
                self.opened += 1;
                if !in_pool(&b) {
                    return Err(format!("block {b} was opened, outside the pool"));
                }
                if ftl.blocks().role(*b) != spec.role {
                    return Err(format!("block {b} has role {:?}", ftl.blocks().role(*b)));
                }
                let wear = |b: &BlockId| ftl.array().wear()[*b];
                let mut rest = list.iter().filter(in_pool).filter(|b| is_free(b));
                let right = match spec.pick {
                    FreePick::Oldest => list.iter().find(in_pool) == Some(b) || opened.len() > 1,
                    FreePick::LeastWorn => rest.all(|other| wear(b) <= wear(other)),
                    FreePick::MostWorn => rest.all(|other| wear(b) >= wear(other)),
                    FreePick::OutsideFirst(kept) => {
                        let first = kept.first_index(geometry);
                        let outside = |b: &BlockId| geometry.index_in_plane(*b) < first;
                        outside(b) || !rest.any(outside)
                    }
                };
                if !right {
                    return Err(format!("block {b} of {list:?} was opened, by {:?}", spec.pick));
                }
            }
            if let (Some((kept, _)), [b]) = (keeps, &*opened) {
                let inside =
                    |b: &BlockId| geometry.index_in_plane(*b) >= kept.first_index(geometry);
                let stream = ftl.blocks().stream(*b);
                if stream == STREAM || stream == StreamId::WEAR {
                    // May take any.
                } else if !inside(b) {
                    self.spared += u64::from(list.iter().any(inside));
                } else if list.iter().all(inside) {
                    self.taken += 1;
                } else {
                    return Err(format!("block {b} of {list:?} was opened, though it is kept"));
                }
            }
            list.retain(is_free);
            let freed = geometry.blocks_of(PlaneId::new(p)).map(BlockId::new).filter(is_free);
            let new: Vec<BlockId> = freed.filter(|b| !list.contains(b)).collect();
            list.extend(new);
        }
        Ok(())
    }
}

/// Counts over all seeds: blocks that the stream opened, blocks of others while one was kept, and
/// planes that were looked at in the end.
#[derive(Default, Debug)]
struct Shown {
    opened: Cell<u64>,
    spared: Cell<u64>,
    taken: Cell<u64>,
    planes: Cell<u64>,
}

/// Adds to a count.
fn add(to: &Cell<u64>, more: u64) {
    to.set(to.get() + more);
}

/// A stream with a pool and a pick; every step is followed.
fn allocate(s: &Scenario, shown: &Shown) -> Result<Seen, Fault> {
    let kept = FreePick::OutsideFirst(Pool::Highest(150));
    let keeps = (s.seed % 2 == 0).then_some((Pool::Highest(400), 1 + s.seed as u32 % 3));
    let picks = [FreePick::Oldest, FreePick::LeastWorn, FreePick::MostWorn, kept];
    let spec = StreamSpec {
        role: Role(3),
        mode: Mode::Full,
        pool: [Pool::All, Pool::Highest(600), Pool::Highest(300)][s.seed as usize % 3],
        pick: picks[s.seed as usize / 3 % 4],
        fallback: Some(StreamId::GC),
        cap: None,
        ..StreamSpec::REGULAR
    };
    let set = s.set();
    let layouts = Layouts::new(s.shape.pages_per_block);
    let policies = || policies_of(&set, Traditional, Mover { spec, keeps, turn: 0 }, Plain);
    let mut drive: Drive<Remembering> = Drive::new(Ftl::new(s.config(layouts), policies()), s);
    let mut free = Free::of(drive.ftl.geometry());
    let mut rng = Rng::named(s.seed, "test/pools");
    let pages = s.logical_pages;
    for n in 0..s.operations {
        let lpn = ftl::Lpn::from_u32(if n < pages { n } else { rng.below(pages) });
        if n < pages || rng.below(2) == 0 {
            drive.write(lpn, kernel::Prio::Normal);
        } else {
            drive.read(lpn)?;
        }
        drive.settle_down()?;
        free.follow(&drive.ftl, &spec, keeps)?;
        while drive.inside() >= s.queue_depth as usize && drive.step()? {
            free.follow(&drive.ftl, &spec, keeps)?;
        }
    }
    drive.finish_run()?;
    add(&shown.opened, free.opened);
    add(&shown.spared, free.spared);
    add(&shown.taken, free.taken);
    if let Some((pool, most)) = keeps
        && drive.ftl.counts().no_victim == 0
    {
        // A kept block does not count among those that garbage collection keeps free.
        let geometry = drive.ftl.geometry();
        for plane in (0..geometry.planes()).map(PlaneId::new) {
            let is_free = |b: &BlockId| drive.ftl.blocks().state(*b) == State::Free;
            let free = || geometry.blocks_of(plane).map(BlockId::new).filter(is_free);
            let in_pool = |b: &BlockId| geometry.index_in_plane(*b) >= pool.first_index(geometry);
            let kept = free().filter(in_pool).count().min(most as usize);
            if free().count() < s.gc.start as usize + kept {
                return Err(format!("plane {plane} keeps {kept} of {} free", free().count()));
            }
            add(&shown.planes, u64::from(kept > 0));
        }
    }
    Ok(drive.seen)
}

#[test]
fn a_stream_opens_blocks_of_its_pool_in_the_order_of_its_pick() {
    let needs = Needs { blocks: 3, pages: &[4, 6, 9], ..Needs::PLAIN };
    let scenario = |seed| {
        let s = Scenario::random(seed, &needs);
        let logical_pages = if seed % 4 < 2 { s.most_pages(&needs) } else { s.logical_pages };
        // With one mark the number of free blocks says whether garbage collection met it.
        let gc = GcMarks { start: s.gc.stop, ..s.gc };
        Scenario { immediate: false, logical_pages, gc, ..s }
    };
    let shown = Shown::default();
    let Some(_) = sweep(0..120, scenario, |s| allocate(s, &shown)) else { return };
    assert!(shown.opened.get() > 2_000, "{shown:?}");
    assert!(shown.spared.get() > 500 && shown.taken.get() > 100, "{shown:?}");
    assert!(shown.planes.get() > 20, "{shown:?}");
}

#[test]
fn a_pool_is_the_highest_share_of_every_plane() {
    let shape = |blocks_per_plane| Shape {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane,
        pages_per_block: 1,
        page_size: kernel::Bytes::kib(4),
        bits_per_cell: 1,
    };
    let first = |pool: Pool, blocks| pool.first_index(&Geometry::new(shape(blocks)).unwrap());
    assert_eq!(first(Pool::All, 40), 0);
    assert_eq!(first(Pool::Highest(150), 40), 34);
    assert_eq!(first(Pool::Highest(1_000), 40), 0);
    assert_eq!(first(Pool::Highest(0), 40), 40);
    // As many blocks as a plane may have.
    assert_eq!(first(Pool::Highest(500), 1 << 24), 1 << 23);
}

/// Claims blocks that were read a little, and wants their pages in a stream of its own, be it that
/// the stream has no block at all.
#[derive(Clone, Debug)]
struct Greedy {
    pool: Pool,
    turn: u32,
    /// Blocks of its stream.
    own: BTreeSet<BlockId>,
    claimed: u64,
    levelled: u64,
}

impl Watch for Greedy {
    fn interests(&self) -> Interests {
        Interests::READ.with(Interests::BLOCK)
    }

    fn on_open(&mut self, block: BlockId, stream: StreamId, _: Role) {
        if stream == STREAM {
            self.own.insert(block);
        }
    }

    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("claimed", self.claimed as f64), ("levelled", self.levelled as f64)]
    }
}

impl ReadDisturb for Greedy {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(2)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![StreamSpec { role: Role(1), pool: self.pool, ..StreamSpec::REGULAR }]
    }

    fn on_limit(&mut self, _: &FtlView<'_>, block: BlockId, _: Time, plan: &mut Plan) {
        self.turn += 1;
        plan.push(Step::SetRole(block, Role(1)));
        plan.push(Step::ResetReads(block));
        if self.turn % 4 == 0 {
            plan.push(Step::Copy { from: block, pages: Pages::All, to: Dest::Stream(STREAM) });
        }
    }

    /// Wear levelling is after cold data, and leaves blocks with a role alone.
    fn on_erased(&mut self, block: BlockId, _: Role, _: u32, why: Tag, _: Time) {
        let own = self.own.remove(&block);
        if why.source == Source::Wear {
            assert!(!own, "wear levelling took block {block}");
            self.levelled += 1;
        }
    }

    fn on_reclaim(&mut self, _: &FtlView<'_>, _: BlockId, _: Tag) -> Dest {
        self.claimed += 1;
        Dest::Stream(STREAM)
    }
}

#[test]
fn garbage_collection_goes_on_where_a_policy_has_no_block() {
    let (claimed, levelled) = (Cell::new(0.0), Cell::new(0.0));
    let run = |s: &Scenario| -> Result<Seen, Fault> {
        let set = s.set();
        let pool = if s.seed % 2 == 0 { Pool::All } else { Pool::Highest(0) };
        let greedy = Greedy { pool, turn: 0, own: BTreeSet::new(), claimed: 0, levelled: 0 };
        let layouts = Layouts::new(s.shape.pages_per_block);
        let policies = || policies_of(&set, Traditional, greedy.clone(), Plain);
        let drive = run(s, layouts, policies)?;
        for (name, n) in drive.ftl.policies.read_disturb.counters() {
            let sum = if name == "claimed" { &claimed } else { &levelled };
            sum.set(sum.get() + n);
        }
        Ok(drive.seen)
    };
    let needs = Needs { blocks: 1, pages: &[4, 6, 9], ..Needs::PLAIN };
    let scenario = |seed| {
        let s = Scenario::random(seed, &needs);
        Scenario { full: true, trims: 0, reads: 50, jobs_may_wait: true, ..s }
    };
    let Some(_) = sweep(0..200, scenario, run) else { return };
    assert!(claimed.get() > 2_000.0, "{claimed:?} victims were claimed");
    assert!(levelled.get() > 20.0, "wear levelling erased {levelled:?} blocks");
}

// ── Candidates ──────────────────────────────────────────────────────────────────────────────────

/// Narrows the candidates down, and compares the view's answers with a plain search.
#[derive(Clone, Default, Debug)]
struct Narrow {
    asked: u64,
    narrowed: u64,
    empty: u64,
}

impl Watch for Narrow {
    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("asked", self.asked as f64),
            ("narrowed", self.narrowed as f64),
            ("empty", self.empty as f64),
        ]
    }
}

impl Victim for Narrow {
    fn choose(&mut self, whole: &PlaneView<'_>, _: Tag, rng: &mut Rng) -> Option<BlockId> {
        self.asked += 1;
        let v = &whole.ftl;
        let blocks = v.geometry.blocks_per_plane() as u32;
        let from = if rng.below(2) == 0 { 0 } else { rng.below(blocks + 1) };
        let mut excluded = BitSet::new(blocks as usize);
        (0..blocks as usize).for_each(|i| excluded.put(i, rng.below(3) == 0));
        let excluded = (rng.below(2) == 0).then_some(&excluded);
        let some = PlaneView { from, excluded, ..*whole };
        let expected: Vec<BlockId> = (from..blocks)
            .filter(|i| !some.excluded.is_some_and(|set| set.get(*i as usize)))
            .map(|i| v.geometry.block_in(whole.plane, i))
            .filter(|b| v.blocks.state(*b) == State::Closed)
            .collect();
        assert_eq!(some.candidates().collect::<Vec<_>>(), expected);
        assert_eq!((some.len(), some.is_empty()), (blocks - from, blocks == from));
        let gain = |b: &BlockId| v.geometry.pages_per_block() - v.blocks.valid(*b);
        let best = some.most_gain();
        assert_eq!(best.is_some(), !expected.is_empty());
        if let Some(best) = best {
            let most = expected.iter().map(gain).max().expect("there are candidates");
            assert_eq!(
                Some(&best),
                expected.iter().find(|b| gain(b) == most),
                "the first of the best"
            );
        }
        let random = some.random(rng);
        assert_eq!(random.is_some(), !expected.is_empty());
        assert!(random.is_none_or(|b| expected.contains(&b)), "{random:?} of {expected:?}");

        let useful = |b: &BlockId| gain(b) > 0;
        self.empty += u64::from(expected.is_empty());
        if let Some(b) = [random, best].into_iter().flatten().find(useful) {
            self.narrowed += 1;
            return Some(b);
        }
        whole.most_gain()
    }
}

#[test]
fn a_victim_policy_may_narrow_the_candidates() {
    let counts = Cell::new((0.0, 0.0, 0.0));
    let run = |s: &Scenario| -> Result<Seen, Fault> {
        let set = s.set();
        let policies = || {
            let victim = VictimPolicy::Custom(Box::<Narrow>::default());
            Policies { victim, ..builtin(&set) }
        };
        let drive = run(s, Layouts::new(s.shape.pages_per_block), policies)?;
        let more: Vec<f64> = drive.ftl.policies.victim.counters().iter().map(|c| c.1).collect();
        let (a, n, e) = counts.get();
        counts.set((a + more[0], n + more[1], e + more[2]));
        Ok(drive.seen)
    };
    let scenario = |seed| Scenario { full: true, ..Scenario::random(seed, &Needs::PLAIN) };
    let Some(seen) = sweep(0..80, scenario, run) else { return };
    let (asked, narrowed, empty) = counts.get();
    assert!(asked > 5_000.0 && narrowed > asked / 2.0 && empty > 100.0, "{counts:?}, {seen:?}");
}

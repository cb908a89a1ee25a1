//! When policies are asked, and the fate of their plans: by hand, on one plane of eight blocks of
//! four pages.

use crate::support::{
    Mix, Plain, SMALL, Steps, Traditional, host_done, policies_with, small_config,
};
use ftl::{
    Coding, Config, Cost, Dest, Ftl, FtlView, GcMarks, Hold, HostTag, Interests, JobId, Lpn, Next,
    NextLife, Plan, PlaneView, ReadDisturb, Role, State, Step, StreamId, StreamSpec, Waiting,
    Watch, WriteCtx,
};
use kernel::{BitSet, Idx, Prio, Rng, Time};
use nand::{
    BlockId, DieId, Geometry, Layouts, Level, Mode, PlaneId, Ppn, Shape, Source, Tag, UnitSizes,
    Verb,
};
use policies::PolicySet;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// Wakes at a time of the test's choice, with plans of its choice.
#[derive(Default)]
struct Planner {
    at: Option<Time>,
    plan: Vec<Step>,
    background: bool,
    woken: u32,
    closed: Vec<BlockId>,
    erased: Vec<BlockId>,
    /// The blocks for whose pages it was asked for a place.
    asked: Vec<BlockId>,
    protected: Option<BlockId>,
    /// Its stream has none to fall back on.
    alone: bool,
}

/// A role and a stream of its own.
const ROLE: Role = Role(1);
const OWN: StreamId = StreamId(StreamId::BUILT_IN as u8);

impl Watch for Planner {
    fn interests(&self) -> Interests {
        Interests::TIMER.with(Interests::BLOCK).with(Interests::READ)
    }

    fn on_close(&mut self, block: BlockId, _: Time) {
        self.closed.push(block);
    }

    fn on_erase(&mut self, block: BlockId, _: Time) {
        self.erased.push(block);
    }

    fn next_timer(&self) -> Option<Time> {
        self.at
    }

    fn on_timer(&mut self, _: &FtlView<'_>, _: Time, plan: &mut Plan) {
        self.woken += 1;
        plan.background = self.background;
        for step in self.plan.drain(..) {
            plan.push(step);
        }
    }
}

impl ReadDisturb for Planner {
    fn limit(&self, _: Mode) -> Option<u32> {
        Some(1_000)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let fallback = (!self.alone).then_some(StreamId::GC);
        vec![StreamSpec { fallback, ..StreamSpec::REGULAR }]
    }

    fn protects(&self, _: &FtlView<'_>, block: BlockId) -> bool {
        self.protected == Some(block)
    }

    fn on_reclaim(&mut self, _: &FtlView<'_>, block: BlockId, _: Tag) -> Dest {
        self.asked.push(block);
        Dest::Stream(OWN)
    }
}

type Drive = Ftl<Mix<Planner>>;

fn geometry() -> Geometry {
    Geometry::new(SMALL).expect("a drive")
}

fn drive(gc_start: u32) -> Drive {
    drive_of(16, gc_start)
}

fn drive_of(logical_pages: u32, gc_start: u32) -> Drive {
    let config = small_config(SMALL, logical_pages, gc_start);
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    Ftl::new(config, policies_with(&set, Traditional, Planner::default(), Plain))
}

const NOW: Time = Time::ZERO;
const DIE: DieId = DieId::from_u32(0);

/// The version does not matter here, only the owner.
fn data(lpn: u32) -> u64 {
    u64::from(lpn + 1) << 32
}

/// Blocks that hold pages 0 to 3, 4 to 7, and so on.
fn filled(blocks: u32, gc_start: u32) -> (Drive, Vec<BlockId>) {
    let mut ftl = drive_of(16.max(4 * blocks), gc_start);
    for lpn in 0..4 * blocks {
        assert!(ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW));
    }
    let at = |ftl: &Drive, n: u32| {
        let ppn = ftl.map().lookup(Lpn::from_u32(4 * n)).expect("it was written");
        ftl.geometry().block_of(ppn)
    };
    let blocks = (0..blocks).map(|n| at(&ftl, n)).collect();
    (ftl, blocks)
}

fn write(ftl: &mut Drive, lpn: u32, prio: Prio) {
    let (waiting, mut idle) = (Waiting::nothing(1), BitSet::new(1));
    idle.put(0, true);
    let lpn = Lpn::from_u32(lpn);
    let program = ftl.write(lpn, HostTag::of(prio), &waiting, &idle, NOW).expect("there is room");
    host_done(ftl, lpn, data(lpn.as_u32()), &program, NOW);
}

fn reclaim(block: BlockId) -> Step {
    Step::Reclaim { block, to: Dest::Stream(StreamId::GC) }
}

/// Refreshes, folding and wear levelling have a source of their own. All others want data written elsewhere.
#[test]
fn each_family_has_its_source() {
    let mut sources = Vec::new();
    drive(2).policies.each_as(|source, _| sources.push(source));
    let mut expected = [Source::Rewrite; 11];
    // Cost, throttle, read disturb, page choice, coding, SLC cache, victim, separation, placement, wear,
    // order.
    (expected[2], expected[5], expected[9]) = (Source::Refresh, Source::Fold, Source::Wear);
    assert_eq!(sources, expected);
}

/// The block that keeps a single page busy is named too: an open block, with one page in a block.
#[test]
fn whoever_keeps_a_page_is_named() {
    let shape = Shape { pages_per_block: 1, ..*geometry().shape() };
    let geometry = Geometry::new(shape).expect("a drive");
    let named = [("read-disturb".to_owned(), "refresh".to_owned(), Map::new())];
    let set = PolicySet::resolve(&named, None).expect("it exists");
    assert_eq!(set.spare_slots(&geometry), (1, vec!["read-disturb=refresh".to_owned()]));
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    assert_eq!(set.spare_slots(&geometry), (0, vec![]));
}

/// If all pages are alike, the statistics have no column of how each was written.
#[test]
fn costs_of_one_level_say_so() {
    let of = |name: &str, level: &str| {
        let mut params = Map::new();
        if name == "fixed" {
            params.insert("level".into(), level.into());
        }
        let named = [("cost".to_owned(), name.to_owned(), params)];
        PolicySet::resolve(&named, None).expect("it exists").build().cost.constant()
    };
    assert_eq!(of("ideal", ""), Some(Level::MediumCost));
    assert_eq!(of("fixed", "low"), Some(Level::LowCost));
    assert_eq!(of("agcr", ""), None);
}

/// Cells of one bit make blocks differ instead of pages: urgent writes and others then have a block
/// each in every plane.
#[test]
fn mango_keeps_two_blocks_where_blocks_differ() {
    for (bits_per_cell, pages) in [(1, 2 * 4), (2, 0), (3, 0)] {
        let shape = Shape { bits_per_cell, pages_per_block: 12, ..*geometry().shape() };
        let geometry = Geometry::new(shape).expect("a drive");
        let named = [("page-choice".to_owned(), "mango".to_owned(), Map::new())];
        let set = PolicySet::resolve(&named, None).expect("it exists");
        assert_eq!(set.spare_slots(&geometry).0, pages * 3, "{bits_per_cell} bits");
    }
}

#[test]
fn a_policy_is_woken_at_its_time_and_not_before() {
    let (mut ftl, blocks) = filled(2, 2);
    let at = |ns| Time::from_ns(ns);
    ftl.policies.read_disturb.plan = vec![reclaim(blocks[0])];
    ftl.policies.read_disturb.at = Some(at(10));
    assert_eq!(ftl.next_timer(), Some(at(10)));
    ftl.on_timer(at(9));
    assert_eq!((ftl.policies.read_disturb.woken, ftl.has_ready()), (0, false));
    ftl.on_timer(at(10));
    assert_eq!((ftl.policies.read_disturb.woken, ftl.has_ready()), (1, true));
    ftl.settle(at(10));
    assert_eq!(ftl.blocks().state(blocks[0]), State::Free);
    assert_eq!(ftl.counts().erase[Source::Refresh], 1);
    // Without a time there is nothing to wake it for.
    ftl.policies.read_disturb.at = None;
    assert_eq!(ftl.next_timer(), None);
    ftl.on_timer(at(11));
    assert_eq!(ftl.policies.read_disturb.woken, 1);
}

#[test]
fn idle_work_is_done_in_the_order_in_which_it_was_asked_for() {
    let (mut ftl, blocks) = filled(2, 2);
    assert!(!ftl.offers_idle_work());
    for block in [blocks[1], blocks[0]] {
        let policy = &mut ftl.policies.read_disturb;
        (policy.at, policy.background, policy.plan) = (Some(NOW), true, vec![reclaim(block)]);
        ftl.on_timer(NOW);
    }
    assert!(!ftl.has_ready() && ftl.offers_idle_work());
    for (block, left) in [(blocks[1], true), (blocks[0], false)] {
        assert_eq!(ftl.blocks().state(block), State::Closed);
        let id = ftl.idle_job(DIE).expect("there is work");
        assert!(ftl.job(id).background);
        ftl.run_job(id, NOW);
        assert_eq!(ftl.blocks().state(block), State::Free);
        assert_eq!(ftl.offers_idle_work(), left);
    }
    assert_eq!(ftl.idle_job(DIE), None);
}

/// A block that is complete is reported once, when its last page is programmed.
#[test]
fn a_block_is_closed_when_its_last_page_is_programmed() {
    let (mut ftl, blocks) = filled(2, 2);
    assert_eq!(ftl.policies.read_disturb.closed, blocks);
    for lpn in 8..11 {
        write(&mut ftl, lpn, Prio::Normal);
    }
    assert_eq!(ftl.policies.read_disturb.closed.len(), 2);
    write(&mut ftl, 11, Prio::Normal);
    assert_eq!(ftl.policies.read_disturb.closed.len(), 3);
}

/// The job that comes last decides.
#[test]
fn a_collector_is_as_urgent_as_whoever_needs_it_most() {
    use Prio::{High, Normal};
    for (first, second, most) in
        [(Normal, High, High), (High, Normal, High), (Normal, Normal, Normal)]
    {
        // Four blocks are taken. The second that is opened leaves two, and sets off collection; the
        // third leaves one.
        let (mut ftl, _) = filled(4, 3);
        for lpn in 0..4 {
            write(&mut ftl, lpn, Normal);
        }
        assert!(!ftl.has_ready());
        write(&mut ftl, 4, first);
        let id = ftl.take_ready().expect("a collector");
        assert_eq!((ftl.job(id).tag.source, ftl.job(id).tag.prio), (Source::Gc, first));
        for lpn in [5, 6, 7] {
            write(&mut ftl, lpn, Normal);
        }
        write(&mut ftl, 8, second);
        assert_eq!(ftl.job(id).tag.prio, most);
        assert!(!ftl.has_ready(), "one collector at a time");
    }
}

/// A block is not erased as long as reads are on their way to it, to the last of them.
#[test]
fn a_job_waits_for_the_last_read() {
    let (mut ftl, blocks) = filled(2, 2);
    let lpns = [0, 1].map(Lpn::from_u32);
    let reads = lpns.map(|lpn| ftl.read(lpn, Prio::Normal, NOW).expect("it was written"));
    ftl.policies.read_disturb.plan = vec![reclaim(blocks[0])];
    ftl.policies.read_disturb.at = Some(NOW);
    ftl.on_timer(NOW);
    ftl.settle(NOW);
    assert_eq!(ftl.blocks().state(blocks[0]), State::Moving);
    assert_eq!(host_done(&mut ftl, lpns[0], 0, &reads[0], NOW), Some(data(0)));
    assert!(!ftl.has_ready());
    assert_eq!(host_done(&mut ftl, lpns[1], 0, &reads[1], NOW), Some(data(1)));
    assert!(ftl.has_ready());
    ftl.settle(NOW);
    assert_eq!(ftl.blocks().state(blocks[0]), State::Free);
    assert_eq!(ftl.job_waits(), 1);
}

/// Four full blocks, of which the second has lost two pages and the others one: garbage collection is
/// about to begin. The second has a role of the policy's own if it is given one.
fn about_to_collect(role: bool) -> (Drive, Vec<BlockId>) {
    let (mut ftl, blocks) = filled(4, 3);
    if role {
        ftl.policies.read_disturb.plan = vec![Step::SetRole(blocks[1], ROLE)];
        ftl.policies.read_disturb.at = Some(NOW);
        ftl.on_timer(NOW);
        ftl.settle(NOW);
        assert_eq!(ftl.blocks().role(blocks[1]), ROLE);
    }
    for lpn in [4, 5, 8, 12, 0] {
        write(&mut ftl, lpn, Prio::Normal);
    }
    assert!(ftl.has_ready());
    (ftl, blocks)
}

/// The policy that gave a block its role is asked for the place of its pages; a policy is not asked
/// about the roles of others.
#[test]
fn whoever_gave_a_role_says_where_the_pages_go() {
    for role in [false, true] {
        let (mut ftl, blocks) = about_to_collect(role);
        ftl.settle(NOW);
        let policy = &ftl.policies.read_disturb;
        assert_eq!(policy.erased[0], blocks[1], "the one that gains most");
        let expected = if role { vec![blocks[1]] } else { vec![] };
        assert_eq!(policy.asked, expected);
        for lpn in [6, 7] {
            let at = ftl.map().lookup(Lpn::from_u32(lpn)).expect("it has moved");
            let stream = ftl.blocks().stream(ftl.geometry().block_of(at));
            assert_eq!(stream, if role { OWN } else { StreamId::GC }, "page {lpn}");
        }
    }
}

/// A policy may narrow the candidates of a plane down: here those of the second of two, whose seven
/// full blocks have lost 0 to 3 pages, and 0 to 2.
#[test]
fn a_victim_is_sought_among_some_candidates() {
    let shape = Shape { planes_per_die: 2, ..*geometry().shape() };
    let geometry = Geometry::new(shape).expect("a drive");
    let config = Config {
        geometry,
        layouts: Layouts::new(4),
        logical_pages: 64,
        gc: GcMarks { start: 0, stop: 0, background_stop: 0, one_by_one: false, paced: false },
        endurance: 0,
        seed: 1,
    };
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let policies = policies_with(&set, Traditional, Planner::default(), Plain);
    let mut ftl: Drive = Ftl::new(config, policies);
    let mut all = (0..64).map(Lpn::from_u32);
    let written = all.all(|lpn| ftl.write_now(lpn, data(lpn.as_u32()), NOW));
    assert!(!written, "the last block of a plane is for garbage collection");
    let plane = PlaneId::from_u32(1);
    for (at, block) in geometry.blocks_of(plane).map(BlockId::new).take(7).enumerate() {
        assert_eq!(ftl.blocks().state(block), State::Closed);
        for slot in 0..at as u32 % 4 {
            let owner = ftl.map().owner(geometry.ppn(block, slot)).expect("it was written");
            assert!(ftl.trim(owner, NOW));
        }
    }
    let view = PlaneView {
        ftl: FtlView {
            geometry: ftl.geometry(),
            layouts: ftl.array().layouts(),
            map: ftl.map(),
            blocks: ftl.blocks(),
            modes: ftl.array().modes(),
            erases: ftl.array().erases(),
            wear: ftl.array().wear(),
            reads: ftl.reads(),
            limits: ftl.read_limits(),
        },
        plane,
        now: NOW,
        from: 0,
        excluded: None,
    };
    let at = |index: u32| geometry.block_in(plane, index);
    let all = |view: &PlaneView<'_>| -> Vec<BlockId> { view.candidates().collect() };
    assert_eq!((all(&view), view.len()), ((0..7).map(at).collect(), 8));
    assert_eq!((view.most_gain(), view.candidate(7)), (Some(at(3)), None));
    // The last four, of which one is free.
    let some = PlaneView { from: 4, ..view };
    assert_eq!((all(&some), some.len()), (vec![at(4), at(5), at(6)], 4));
    assert_eq!((some.most_gain(), some.candidate(0)), (Some(at(6)), Some(at(4))));
    let mut excluded = BitSet::new(8);
    excluded.set(6);
    let fewer = PlaneView { excluded: Some(&excluded), ..some };
    assert_eq!((all(&fewer), fewer.most_gain()), (vec![at(4), at(5)], Some(at(5))));
    let mut rng = Rng::named(1, "test/random");
    let drawn: BTreeSet<BlockId> = (0..200).filter_map(|_| fewer.random(&mut rng)).collect();
    assert_eq!(drawn, BTreeSet::from([at(4), at(5)]));
    let none = PlaneView { from: 8, ..view };
    assert!(none.is_empty() && none.most_gain().is_none() && none.random(&mut rng).is_none());
    let free = PlaneView { from: 7, ..view };
    assert!(!free.is_empty() && free.most_gain().is_none() && free.random(&mut rng).is_none());
}

#[test]
fn a_protected_block_is_left_alone_as_long_as_others_gain() {
    let (mut ftl, blocks) = about_to_collect(true);
    ftl.policies.read_disturb.protected = Some(blocks[1]);
    ftl.settle(NOW);
    // The first of those that gain one page, and in the end the other.
    let erased = &ftl.policies.read_disturb.erased;
    assert_eq!((erased[0], erased.contains(&blocks[1])), (blocks[0], true));
}

/// Seven blocks of eight are full and nothing can be gained, so the plane has no victim. A job that
/// was to empty a block of these finds no slot for the first page, and gives the block back. One of
/// its pages is gone by then. So garbage collection, which keeps the last block for itself, goes
/// on.
#[test]
fn a_block_that_is_given_back_feeds_a_plane_that_starves() {
    let (mut ftl, blocks) = filled(7, 2);
    assert_eq!((ftl.counts().no_victim, ftl.has_ready()), (1, false));
    let policy = &mut ftl.policies.read_disturb;
    (policy.at, policy.plan) = (Some(NOW), vec![reclaim(blocks[3])]);
    ftl.on_timer(NOW);
    let id = ftl.take_ready().expect("the plan");
    let mut steps = Steps::default();
    assert_eq!(steps.verb(&mut ftl, id, NOW), Verb::Read);
    assert!(ftl.trim(Lpn::from_u32(15), NOW));
    assert!(!ftl.has_ready(), "the block is not a candidate");
    assert_eq!(steps.next(&mut ftl, id, NOW), Next::Wait);
    assert!(ftl.has_ready(), "garbage collection");
    ftl.settle(NOW);
    assert_eq!((ftl.blocks().state(blocks[3]), ftl.running_jobs()), (State::Free, 0));
    assert_eq!(ftl.counts().program[Source::Gc], 3);
    ftl.check().expect("a sound drive");
}

/// A drive of these policies, with the marks of garbage collection and cycles that it endures.
fn drive_with(policies: &[(&str, &str, Value)], gc: GcMarks, endurance: u32) -> Drive {
    let named = policies.iter().map(|(family, name, params)| {
        let params = params.as_object().expect("a table").clone();
        ((*family).to_owned(), (*name).to_owned(), params)
    });
    let set = PolicySet::resolve(&named.collect::<Vec<_>>(), None).expect("they exist");
    let config = Config {
        geometry: geometry(),
        layouts: Layouts::new(4),
        logical_pages: 16,
        gc,
        endurance,
        seed: 1,
    };
    let policies = || policies_with(&set, Traditional, Planner::default(), Plain);
    let mut ftl = Ftl::new(config, policies());
    for lpn in 0..16 {
        assert!(ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW));
    }
    ftl.begin_run(policies());
    ftl
}

const FEW: GcMarks =
    GcMarks { start: 1, stop: 1, background_stop: 0, one_by_one: false, paced: false };

fn carry_out(ftl: &mut Drive, steps: Vec<Step>) {
    let policy = &mut ftl.policies.read_disturb;
    (policy.at, policy.plan) = (Some(NOW), steps);
    ftl.on_timer(NOW);
    ftl.settle(NOW);
    assert_eq!(ftl.running_jobs(), 0);
}

/// Four pages go from block 3 through the free ones and back, by refreshes. With the second erase of block
/// 3 the spread is two cycles, beyond the threshold of one, and the first of the blocks that were never
/// erased moves.
#[test]
fn wear_levelling_is_asked_after_an_erase() {
    let wear = [("wear", "static", json!({ "threshold": 1 }))];
    for (role, moved) in [(None, 0), (Some(0), 1)] {
        let mut ftl = drive_with(&wear, FEW, 0);
        if let Some(n) = role {
            // A block of the read-disturb policy's own is left alone.
            carry_out(&mut ftl, vec![Step::SetRole(BlockId::from_u32(n), ROLE)]);
        }
        let block = BlockId::from_u32;
        let at = |ftl: &Drive| {
            let ppn = ftl.map().lookup(Lpn::from_u32(12)).expect("it was written");
            ftl.geometry().block_of(ppn)
        };
        for expected in [3, 4, 5, 6, 7, 3] {
            assert_eq!(ftl.counts().erase[Source::Wear], 0);
            assert_eq!(at(&ftl), block(expected));
            let from = at(&ftl);
            carry_out(&mut ftl, vec![reclaim(from)]);
        }
        assert_eq!((at(&ftl), ftl.array().erases()[block(3)]), (block(4), 2));
        assert_eq!(ftl.counts().erase[Source::Wear], 1);
        assert_eq!(ftl.array().erases()[block(moved)], 1);
        ftl.check().expect("a sound drive");
    }
}

/// A block with a page that could not be read is emptied and retired; one that is free already, or out of
/// service, is not.
#[test]
fn a_condemned_block_is_emptied_and_retired() {
    let mut ftl = drive_with(&[], FEW, 1_000);
    let block = BlockId::from_u32;
    for free in [4, 7] {
        ftl.mark_bad(block(free));
    }
    assert!(!ftl.has_ready());
    ftl.mark_bad(block(1));
    ftl.mark_bad(block(2));
    let id = ftl.take_ready().expect("it is emptied");
    assert_eq!((ftl.job(id).tag, ftl.has_ready()), (Tag::of(Source::Refresh), false));
    ftl.run_job(id, NOW);
    let states = [1, 2].map(|n| ftl.blocks().state(block(n)));
    assert_eq!(states, [State::Bad, State::Closed], "one at a time");
    ftl.mark_bad(block(1));
    assert!(!ftl.has_ready());
    // The other is retired when somebody else empties it.
    carry_out(&mut ftl, vec![reclaim(block(2))]);
    assert_eq!(ftl.blocks().state(block(2)), State::Bad);
    let counts = ftl.counts();
    assert_eq!((counts.marked_bad.get(), counts.retired.get()), (2, 2));
    assert_eq!(counts.moved[Source::Refresh], 8);
    ftl.check().expect("a sound drive");
    // Nothing is retired if nothing wears out.
    let mut ftl = drive_with(&[], FEW, 0);
    ftl.mark_bad(block(1));
    assert!(!ftl.has_ready());
}

/// Four free blocks are fewer than the six that idle time is for. As soon as a block has something to
/// gain, a die that has nothing else to do collects, one collector at a time.
#[test]
fn idle_time_is_for_collecting_ahead_of_need() {
    let marks = GcMarks { background_stop: 6, ..FEW };
    let mut ftl = drive_with(&[], marks, 0);
    assert!(ftl.offers_idle_work() && !ftl.has_ready());
    let id = ftl.idle_job(DIE).expect("there are too few");
    let job = ftl.job(id);
    assert_eq!((job.background, job.tag.prio, job.home), (true, Prio::Normal, DIE));
    assert_eq!(ftl.idle_job(DIE), None, "there is a collector");
    ftl.run_job(id, NOW);
    // Nothing was to be gained: the plane has no victim until a page dies.
    assert_eq!((ftl.counts().no_victim, ftl.idle_job(DIE)), (1, None));
    for lpn in 0..8 {
        ftl.trim(Lpn::from_u32(lpn), NOW);
    }
    ftl.settle(NOW);
    let id = ftl.idle_job(DIE).expect("two blocks hold nothing");
    ftl.run_job(id, NOW);
    assert_eq!(ftl.free_blocks(PlaneId::from_u32(0)), 6);
    assert_eq!(ftl.idle_job(DIE), None, "that is enough");
    assert_eq!(
        (ftl.counts().gc_erase_by_demand[Source::Host].get(), ftl.counts().program.total()),
        (2, 0)
    );
    let mut without = drive_with(&[], FEW, 0);
    assert!(!without.offers_idle_work() && without.idle_job(DIE).is_none());
}

/// Jobs start in the order in which they were wanted; those that wait for idle time are urgent once the
/// drive is short.
#[test]
fn jobs_start_in_order_and_become_urgent() {
    let mut ftl = drive_with(&[], FEW, 0);
    for n in [2, 0, 1] {
        let policy = &mut ftl.policies.read_disturb;
        (policy.at, policy.plan) = (Some(NOW), vec![reclaim(BlockId::from_u32(n))]);
        ftl.on_timer(NOW);
    }
    for n in [2, 0, 1] {
        let id = ftl.take_ready().expect("one of three");
        assert_eq!(ftl.job(id).hold, Hold::Place, "unless a plan says otherwise");
        ftl.run_job(id, NOW);
        assert_eq!(ftl.blocks().state(BlockId::from_u32(n)), State::Free);
    }
    assert!(!ftl.has_ready());
    assert!(Plan::of(Source::Refresh).is_empty());

    // Four blocks are free, of which garbage collection keeps three, and idle time all.
    let marks = GcMarks { start: 3, stop: 3, background_stop: 4, one_by_one: false, paced: false };
    let mut ftl = drive_with(&[], marks, 0);
    write(&mut ftl, 0, Prio::Normal);
    let id = ftl.idle_job(DIE).expect("three are fewer than four");
    for lpn in [1, 2, 3] {
        write(&mut ftl, lpn, Prio::Normal);
    }
    assert_eq!((ftl.take_promoted(), ftl.job(id).background), (None, true));
    write(&mut ftl, 4, Prio::High);
    assert_eq!((ftl.take_promoted(), ftl.job(id).background), (Some(id), false));
    assert_eq!((ftl.take_promoted(), ftl.take_ready()), (None, None));
    ftl.run_job(id, NOW);
    assert_eq!(ftl.free_blocks(PlaneId::from_u32(0)), 3);
}

/// Seven blocks of eight are full, and a page of one with a role dies. The stream of its policy may not open
/// the last free block, and has no other to fall back on: garbage collection has it to itself.
#[test]
fn collection_goes_on_where_the_stream_of_a_policy_has_no_room() {
    let config = small_config(SMALL, 28, 2);
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let planner = || Planner { alone: true, ..Planner::default() };
    let policies = || policies_with(&set, Traditional, planner(), Plain);
    let mut ftl: Drive = Ftl::new(config, policies());
    for lpn in 0..28 {
        assert!(ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW));
    }
    let block = BlockId::from_u32(2);
    carry_out(&mut ftl, vec![Step::SetRole(block, ROLE)]);
    assert!(ftl.trim(Lpn::from_u32(9), NOW));
    ftl.settle(NOW);
    assert_eq!(ftl.policies.read_disturb.asked, [block]);
    assert_eq!((ftl.blocks().state(block), ftl.running_jobs()), (State::Free, 0));
    for lpn in [8, 10, 11] {
        let ppn = ftl.map().lookup(Lpn::from_u32(lpn)).expect("it was moved");
        assert_eq!(ftl.blocks().stream(ftl.geometry().block_of(ppn)), StreamId::GC);
    }
    ftl.check().expect("a sound drive");
}

/// A collector that is ahead of the host, whose frontier has three slots left.
fn ahead() -> (Drive, JobId) {
    let marks = GcMarks { start: 4, stop: 4, background_stop: 0, one_by_one: false, paced: true };
    let mut ftl = drive_with(&[], marks, 0);
    write(&mut ftl, 0, Prio::Normal);
    for lpn in [1, 2] {
        assert!(ftl.trim(Lpn::from_u32(lpn), NOW));
    }
    let id = ftl.take_ready().expect("three blocks are free");
    assert_eq!((ftl.next(id, NOW), ftl.job(id).background), (Next::Yield, true));
    assert_eq!((ftl.take_promoted(), ftl.take_ready()), (None, None));
    (ftl, id)
}

/// As long as a block can be lent the host goes first. Once the host has the last one, the space is
/// that block's four pages, and the work is the victim's one page and an erase. Each page is worth
/// one move, and the third is one more than the two by which the space is worth more than the work.
#[test]
fn a_collector_goes_before_the_host_when_its_work_is_more_than_the_room_is_worth() {
    let (mut ftl, id) = ahead();
    while ftl.free_blocks(PlaneId::from_u32(0)) > 1 {
        let lpn = 4 + ftl.counts().host_pages as u32;
        write(&mut ftl, lpn, Prio::Normal);
        assert_eq!((ftl.take_promoted(), ftl.job(id).background), (None, true));
    }
    // The page that opened the block was the first.
    write(&mut ftl, 1, Prio::Normal);
    assert_eq!((ftl.take_promoted(), ftl.job(id).background), (None, true));
    write(&mut ftl, 2, Prio::Normal);
    assert_eq!((ftl.take_promoted(), ftl.job(id).background), (Some(id), false));
    assert_eq!(Steps::default().verb(&mut ftl, id, NOW), Verb::Read);
}

/// A collector has opened a block for the last page of its victim, and one is left free. It needs that no
/// more, and gives one back: where it has a pace, the host may have it.
#[test]
fn the_last_block_is_lent_where_collection_does_without_it() {
    for paced in [false, true] {
        let marks = GcMarks { start: 4, stop: 4, background_stop: 0, one_by_one: false, paced };
        let mut ftl = drive_with(&[], marks, 0);
        write(&mut ftl, 0, Prio::Normal);
        for lpn in [1, 2] {
            assert!(ftl.trim(Lpn::from_u32(lpn), NOW));
        }
        for lpn in [4, 5, 6, 8] {
            write(&mut ftl, lpn, Prio::Normal);
        }
        let free = |ftl: &Drive| ftl.free_blocks(PlaneId::from_u32(0));
        let id = ftl.take_ready().expect("two blocks are free");
        let mut steps = Steps::default();
        while !matches!(steps.next(&mut ftl, id, NOW), Next::Start) {}
        assert_eq!(steps.verb(&mut ftl, id, NOW), Verb::Program);
        for lpn in [9, 10, 11] {
            write(&mut ftl, lpn, Prio::Normal);
        }
        assert_eq!(free(&ftl), 1);
        let (waiting, idle) = (Waiting::nothing(1), BitSet::new(1));
        let given = ftl.write(Lpn::from_u32(12), HostTag::default(), &waiting, &idle, NOW);
        assert_eq!((given.is_some(), free(&ftl)), (paced, usize::from(!paced)));
        assert_eq!(steps.verb(&mut ftl, id, NOW), Verb::Erase);
        steps.next(&mut ftl, id, NOW);
        assert_eq!(free(&ftl), if paced { 1 } else { 2 });
    }
}

/// A refresh that takes a block of the same plane does not wait for the host to write, nor for its own end.
#[test]
fn a_collector_has_no_pace_where_others_than_the_host_need_space() {
    let (mut ftl, id) = ahead();
    let policy = &mut ftl.policies.read_disturb;
    (policy.at, policy.plan) = (Some(NOW), vec![reclaim(BlockId::from_u32(3))]);
    ftl.on_timer(NOW);
    let refresh = ftl.take_ready().expect("the plan");
    let mut steps = Steps::default();
    assert_eq!(steps.verb(&mut ftl, refresh, NOW), Verb::Read);
    assert_eq!(steps.verb(&mut ftl, refresh, NOW), Verb::Program);
    assert_eq!((ftl.take_promoted(), ftl.job(id).background), (Some(id), false));
    assert_eq!(Steps::default().verb(&mut ftl, id, NOW), Verb::Read);
}

/// Nothing is urgent if operations take no time: a collector for idle time that became urgent is
/// not left over.
#[test]
fn work_that_is_carried_out_at_once_leaves_nothing_urgent() {
    let marks = GcMarks { start: 3, stop: 3, background_stop: 4, one_by_one: false, paced: false };
    let mut ftl = drive_with(&[], marks, 0);
    write(&mut ftl, 0, Prio::Normal);
    assert!(ftl.idle_job(DIE).is_some());
    for lpn in [1, 2, 3] {
        write(&mut ftl, lpn, Prio::Normal);
    }
    assert!(!ftl.has_ready());
    write(&mut ftl, 4, Prio::High);
    assert!(ftl.has_ready());
    ftl.settle(NOW);
    assert!(!ftl.has_ready());
    assert_eq!(ftl.take_promoted(), None);
}

/// Blocks begin with four slots of six pages. The first is erased to have six.
struct Widening;

impl Watch for Widening {}

impl Coding for Widening {
    fn first_life(&self, _: BlockId) -> Mode {
        Mode::Wom1
    }

    fn next_life(&mut self, _: &FtlView<'_>, block: BlockId) -> NextLife {
        let first = block == BlockId::from_u32(0);
        NextLife::Erase(if first { Mode::Full } else { Mode::Wom1 })
    }
}

/// The free blocks must hold the valid pages of any victim: six, from the first block of six slots
/// on, so that the last free block is one of six.
#[test]
fn what_is_kept_free_grows_with_the_blocks() {
    let shape = Shape { pages_per_block: 6, ..*geometry().shape() };
    let config = Config {
        geometry: Geometry::new(shape).expect("a drive"),
        layouts: Layouts::new(6),
        logical_pages: 40,
        gc: GcMarks { start: 0, stop: 0, background_stop: 0, one_by_one: false, paced: false },
        endurance: 0,
        seed: 1,
    };
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let policies = policies_with(&set, Traditional, Planner::default(), Widening);
    let mut ftl = Ftl::new(config, policies);
    let write = |ftl: &mut Drive, pages: Range<u32>| {
        let mut pages = pages.map(Lpn::from_u32);
        pages.position(|lpn| !ftl.write_now(lpn, data(lpn.as_u32()), NOW))
    };
    assert_eq!(write(&mut ftl, 0..8), None);
    for n in [0, 1] {
        for lpn in 4 * n..4 * n + 4 {
            ftl.trim(Lpn::from_u32(lpn), NOW);
        }
        let policy = &mut ftl.policies.read_disturb;
        (policy.at, policy.plan) = (Some(NOW), vec![reclaim(BlockId::from_u32(n))]);
        ftl.on_timer(NOW);
        ftl.settle(NOW);
    }
    // Blocks 2 to 7, and 1, which has been free for less long than 0.
    assert_eq!(write(&mut ftl, 0..40), Some(7 * 4));
    let states = [0, 1].map(|n| ftl.blocks().state(BlockId::from_u32(n)));
    assert_eq!(states, [State::Free, State::Closed]);
}

// ── Several pages by one command ────────────────────────────────────────────────────────────────

/// The level of each page is the test's choice.
struct Asking([Level; 2]);

impl Watch for Asking {}

impl Cost for Asking {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        self.0[w.lpn.index()]
    }
}

/// Two slots of a page are programmed together.
const HALVES: UnitSizes = UnitSizes { per_page: 2, ..UnitSizes::PAGE };

/// Eight blocks of four pages, each of two slots.
fn halves(logical_pages: u32, cost: impl Cost + 'static) -> Drive {
    of_units(HALVES, &small_config(SMALL, logical_pages, 0), cost)
}

fn of_units(units: UnitSizes, config: &Config, cost: impl Cost + 'static) -> Drive {
    let geometry = config.geometry.with_units(units).expect("they fit");
    let layouts = Layouts::new(geometry.pages_per_block());
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let policies = policies_with(&set, cost, Planner::default(), Plain);
    Ftl::new(Config { geometry, layouts, ..*config }, policies)
}

/// One command programs at one level: the finest requested for any of its pages, in any order of
/// requests.
#[test]
fn what_is_programmed_together_has_the_finest_level_of_all() {
    use Level::{HighCost as High, LowCost as Low, MediumCost as Medium};
    for (asked, finest) in [
        ([Low, High], High),
        ([High, Low], High),
        ([Low, Medium], Medium),
        ([Medium, Low], Medium),
        ([Low, Low], Low),
    ] {
        let mut ftl = halves(8, Asking(asked));
        let lpns = [0, 1].map(Lpn::from_u32);
        let (waiting, idle) = (Waiting::nothing(1), BitSet::new(1));
        let program = ftl
            .write_unit(&lpns.map(|lpn| (lpn, HostTag::default())), &waiting, &idle, NOW)
            .expect("room");
        let slots: Vec<Ppn> = program.slots.expect("slots").iter().collect();
        let slots: [Ppn; 2] = slots.try_into().expect("two slots");
        for (lpn, slot) in lpns.into_iter().zip(slots) {
            let circumstances = || WriteCtx {
                now: NOW,
                lpn,
                die: DIE,
                tag: Tag::of(Source::Host),
                stored: None,
                waiting_die: 0,
                waiting_channel: 0,
                waiting_device: 0,
                requests_inside: 0,
            };
            assert_eq!(ftl.decide_level(slot, circumstances), asked[lpn.index()]);
        }
        assert_eq!(slots.map(|slot| ftl.level_of(slot)), [finest; 2], "{asked:?}");
    }
}

/// A program takes two slots of each of two planes: of a block of sixteen those of the first are 0,
/// 1, 4, 5 and so on. Each plane keeps its own rest.
#[test]
fn what_a_block_holds_is_told_by_plane() {
    let shape = Shape { planes_per_die: 2, ..SMALL };
    let units = UnitSizes { per_page: 2, planes: 2, ..UnitSizes::PAGE };
    let mut ftl = of_units(units, &small_config(shape, 32, 0), Traditional);
    for lpn in 0..16 {
        assert!(ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW));
    }
    for lpn in [0, 2, 3] {
        assert!(ftl.trim(Lpn::from_u32(lpn), NOW));
    }
    let geometry = ftl.geometry();
    let block = geometry.block_of(ftl.map().lookup(Lpn::from_u32(15)).expect("mapped"));
    let valid = [0, 1].map(|plane| ftl.map().count_valid_in(geometry, block, plane));
    assert_eq!((valid, ftl.map().count_valid(block)), ([7, 6], 13));
}

/// Wants pages of the test's choice written anew, and hears of every page that is programmed.
#[derive(Clone, Default)]
struct Again(Arc<Mutex<Wishes>>);

#[derive(Default)]
struct Wishes {
    wants: VecDeque<u32>,
    told: Vec<(u32, u32, Source)>,
}

impl Again {
    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.0.lock().expect("one thread")
    }
}

impl Watch for Again {
    fn interests(&self) -> Interests {
        Interests::PROGRAM.with(Interests::IDLE)
    }

    fn on_program(&mut self, lpn: Lpn, ppn: Ppn, _: Level, tag: Tag, _: Time) {
        self.lock().told.push((lpn.as_u32(), ppn.as_u32(), tag.source));
    }
}

impl Cost for Again {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::MediumCost
    }

    fn rewrite(&mut self, _: DieId, _: &FtlView<'_>) -> Option<Lpn> {
        self.lock().wants.pop_front().map(Lpn::from_u32)
    }
}

/// Four slots are programmed together, so that the policy is asked for four pages; one that it wants again
/// while it waits for the others is written once. It hears of every page.
#[test]
fn pages_are_written_anew_as_many_as_a_command_programs() {
    let units = UnitSizes { per_page: 2, pages: 2, ..UnitSizes::PAGE };
    let policy = Again::default();
    let mut ftl = of_units(units, &small_config(SMALL, 16, 0), policy.clone());
    for lpn in 0..16 {
        assert!(ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW));
    }
    let at = |ftl: &Ftl<_>, lpn| ftl.map().lookup(Lpn::from_u32(lpn)).expect("mapped").as_u32();
    let told = || std::mem::take(&mut policy.lock().told);
    let written: Vec<_> = (0..16).map(|lpn| (lpn, at(&ftl, lpn), Source::Host)).collect();
    assert_eq!(told(), written);

    policy.lock().wants = [3, 5, 3, 8, 5, 9].into();
    let id = ftl.idle_job(DIE).expect("the policy wants pages");
    ftl.run_job(id, NOW);
    let first = at(&ftl, 3);
    let rewritten = [(3, 0), (5, 1), (8, 2), (9, 3)];
    assert_eq!(told(), rewritten.map(|(lpn, n)| (lpn, first + n, Source::Rewrite)));
    assert_eq!(rewritten.map(|(lpn, _)| at(&ftl, lpn)), rewritten.map(|(_, n)| first + n));
    ftl.check().expect("a sound drive");
}

/// The last page of a victim is programmed with the first of the next. That makes enough room here.
/// The next victim keeps its remaining pages, for any limit of collection in idle time.
///
/// Pages 0 to 39 fill blocks 0 to 4. Writing ten of them again leaves one page in the first, five in the
/// second, and one free block: both are emptied, as the collector's own frontier takes the last. Later the
/// third holds one page and the fourth three; the first of these joins the other.
#[test]
fn the_next_victim_is_given_back_where_that_is_enough() {
    use State::{Closed, Free};
    let gc = GcMarks { start: 2, stop: 2, background_stop: 6, one_by_one: false, paced: false };
    let config = Config { gc, ..small_config(SMALL, 40, 0) };
    let mut ftl = of_units(HALVES, &config, Traditional);
    let write = |ftl: &mut Ftl<_>, lpn: u32| ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW);
    let block = |ftl: &Drive, lpn| {
        ftl.geometry().block_of(ftl.map().lookup(Lpn::from_u32(lpn)).expect("mapped"))
    };
    assert!((0..40).all(|lpn| write(&mut ftl, lpn)));
    let blocks: Vec<BlockId> = (0..5).map(|n| block(&ftl, 8 * n)).collect();
    let state = |ftl: &Drive| blocks.iter().map(|b| ftl.blocks().state(*b)).collect();
    let free = |ftl: &Drive| ftl.free_blocks(PlaneId::from_u32(0));
    assert!((0..7).chain(8..11).all(|lpn| write(&mut ftl, lpn)));
    let states: Vec<State> = state(&ftl);
    assert_eq!((free(&ftl), states), (2, vec![Free, Free, Closed, Closed, Closed]));
    assert!((24..28).all(|lpn| ftl.trim(Lpn::from_u32(lpn), NOW)));
    assert!((16..23).chain([28]).all(|lpn| write(&mut ftl, lpn)));
    let states: Vec<State> = state(&ftl);
    assert_eq!((free(&ftl), &states[2..]), (2, &[Free, Closed, Closed][..]));
    assert_eq!(block(&ftl, 31), blocks[3]);
    ftl.check().expect("a sound drive");
}

/// The slots that the host may fill: all blocks but one.
const SLOTS: u32 = 7 * 8;

/// A page that would complete a program for which there is no room is refused, and is nowhere; the one that
/// waits for it stays.
#[test]
fn a_page_that_finds_no_room_is_refused() {
    let mut ftl = halves(SLOTS + 2, Traditional);
    let write = |ftl: &mut Ftl<_>, lpn: u32| ftl.write_now(Lpn::from_u32(lpn), data(lpn), NOW);
    assert!((0..=SLOTS).all(|lpn| write(&mut ftl, lpn)));
    for _ in 0..3 {
        assert!(!write(&mut ftl, SLOTS + 1));
    }
    let there = |lpn: u32| ftl.map().lookup(Lpn::from_u32(lpn)).is_some();
    let found: Vec<bool> = (0..SLOTS + 2).map(there).collect();
    assert!(found[..SLOTS as usize].iter().all(|there| *there));
    assert_eq!(found[SLOTS as usize..], [false, false]);
    assert!(!ftl.trim(Lpn::from_u32(SLOTS + 1), NOW), "it is not in a program buffer");
    assert!(ftl.trim(Lpn::from_u32(SLOTS), NOW), "it is");
}

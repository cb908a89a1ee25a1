//! Tests of the policies of placement, order, victim and wear: their inputs and answers by hand, in
//! a state that the test makes up. For those against read disturb see `plans`.

use crate::support::{NoRefresh, Plain, Remembering, SMALL, builtin, policies_of, small_config};
use ftl::{
    Balance, Cost, Dest, Ftl, FtlView, Life, Load, Lpn, OpKind, OpView, Order, Placement, Plan,
    PlaneView, State, Step, StreamId, Victim, Waiting, Watch, Wear, WriteCtx,
};
use kernel::{BitSet, IndexVec, Prio, Rng, Time};
use nand::{BlockId, DieId, Geometry, Level, PlaneId, Ppn, Shape, Source, Tag};
use policies::PolicySet;
use serde_json::{Value, json};
use std::collections::BTreeSet;

type Drive = Ftl<Remembering>;

fn set_of(family: &str, name: &str, params: &Value) -> PolicySet {
    let params = params.as_object().expect("a table").clone();
    PolicySet::resolve(&[(family.to_owned(), name.to_owned(), params)], None).expect("it exists")
}

fn block(n: u32) -> BlockId {
    BlockId::from_u32(n)
}

/// Seven full blocks of four pages, written one after the other, and one that is free.
fn seven() -> Drive {
    let config = small_config(SMALL, 28, 1);
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let mut ftl = Drive::new(config, builtin(&set));
    for lpn in 0..28 {
        let data = u64::from(lpn + 1) << 32;
        assert!(ftl.write_now(Lpn::from_u32(lpn), data, Time::ZERO));
    }
    assert_eq!(
        [0, 6, 7].map(|n| ftl.blocks().state(block(n))),
        [State::Closed, State::Closed, State::Free]
    );
    ftl
}

fn view<'a>(ftl: &'a Drive, wear: &'a IndexVec<BlockId, u32>) -> PlaneView<'a> {
    let view = FtlView {
        geometry: ftl.geometry(),
        layouts: ftl.array().layouts(),
        map: ftl.map(),
        blocks: ftl.blocks(),
        modes: ftl.array().modes(),
        erases: ftl.array().erases(),
        wear,
        reads: ftl.reads(),
        limits: ftl.read_limits(),
    };
    PlaneView { ftl: view, plane: PlaneId::from_u32(0), now: Time::ZERO, from: 0, excluded: None }
}

// ── Wear ────────────────────────────────────────────────────────────────────────────────────────

/// The block that the policy moves when block 7 was erased, at these thousandths of cycles.
fn moved(policy: &mut impl Wear, wear: [u32; 8]) -> Option<u32> {
    moved_beside(policy, wear, None)
}

/// The same where a block has a role, which wear levelling is told to leave alone.
fn moved_beside(policy: &mut impl Wear, wear: [u32; 8], role: Option<usize>) -> Option<u32> {
    let (ftl, wear) = (seven(), IndexVec::from_raw(wear.to_vec()));
    let mut plan = Plan::of(Source::Wear);
    let mut roles = BitSet::new(8);
    role.inspect(|at| roles.put(*at, true));
    let plane = PlaneView { excluded: role.map(|_| &roles), ..view(&ftl, &wear) };
    policy.balance(&Balance { plane, erased: block(7) }, &mut plan);
    match plan.steps[..] {
        [] => None,
        [Step::Reclaim { block, to: Dest::Stream(StreamId::WEAR) }] => Some(block.as_u32()),
        _ => panic!("{plan:?}"),
    }
}

/// A spread beyond the threshold moves the data of the least worn block onto the most worn free one.
#[test]
fn static_wear_levelling_moves_what_is_least_worn() {
    let set = set_of("wear", "static", &json!({ "threshold": 16 }));
    let mut policy = set.build().wear;
    assert!(policy.active());
    assert_eq!(moved(&mut policy, [5_000, 4_000, 7_000, 4_000, 9_000, 9_000, 9_000, 20_000]), None);
    assert_eq!(
        moved(&mut policy, [5_000, 4_000, 7_000, 4_000, 9_000, 9_000, 9_000, 20_001]),
        Some(1)
    );
    assert_eq!(
        moved(&mut policy, [5_000, 4_000, 7_000, 3_999, 9_000, 9_000, 9_000, 20_000]),
        Some(3)
    );
    // Others that are worn more were erased before.
    assert_eq!(
        moved(&mut policy, [50_000, 4_000, 7_000, 4_000, 9_000, 9_000, 9_000, 20_000]),
        None
    );
    assert_eq!(policy.counters(), [("moves", 2.0)]);
    // A block that holds nothing to move: the one that was erased, and was worn least.
    assert_eq!(moved(&mut policy, [9_000; 8].map(|wear| wear + 1_000)), None);
    let fresh = PolicySet::resolve(&[], None).expect("the default policies").build().wear;
    assert!(!fresh.active());
}

/// Blocks with a role are cold data like others where wear levelling is told so.
#[test]
fn static_wear_levelling_spares_blocks_with_a_role_or_moves_them() {
    let wear = [5_000, 4_000, 7_000, 6_000, 9_000, 9_000, 9_000, 30_000];
    for (params, found) in [
        (json!({ "threshold": 16 }), Some(0)),
        (json!({ "threshold": 16, "roles": "spared" }), Some(0)),
        (json!({ "threshold": 16, "roles": "moved" }), Some(1)),
    ] {
        let mut policy = set_of("wear", "static", &params).build().wear;
        assert_eq!(moved_beside(&mut policy, wear, Some(1)), found, "{params}");
    }
}

/// The mean is 100 cycles of 1000. Three quarters of the 900 that are left: blocks may have 225 more.
/// Of those that have fewer than the mean the one that was written first moves.
#[test]
fn hot_cold_swapping_moves_what_lies_longest() {
    let set = set_of("wear", "hot-cold-swap", &json!({ "remaining": 0.75, "slack": 20 }));
    let rated = |cycles: u32| {
        let mut policy = set.build().wear;
        policy.learn_life(&Life {
            raw_bytes: 8 * 4 * 4096,
            page_bytes: 4096,
            cycles,
            recovery: nand::physics::Recovery::PRINTED,
            pushes_back: true,
        });
        policy
    };
    let mut policy = rated(1000);
    assert!(policy.active());
    // 325 of 800, and the blocks that the others must have for that.
    let spread =
        |worn: u32| [100_000, 100_000, 375_000 - worn, 75_000, 100_000, 25_000, 25_000, worn];
    assert_eq!(moved(&mut policy, spread(325_000)), None);
    assert_eq!(moved(&mut policy, spread(325_001)), Some(2));
    let late = [100_000, 100_000, 100_000, 75_000, 33_333, 33_333, 33_333, 325_001];
    assert_eq!(moved(&mut policy, late), Some(3), "the third has as many as the mean");
    assert_eq!(policy.counters(), [("moves", 2.0)]);
    // Of an old drive's 60 that are left a quarter is less than the slack of 20.
    let mut policy = rated(160);
    let spread =
        |worn: u32| [100_000, 99_000, 221_000 - worn, 100_000, 100_000, 100_000, 80_000, worn];
    assert_eq!(moved(&mut policy, spread(120_000)), None);
    assert_eq!(moved(&mut policy, spread(120_001)), Some(1));
}

// ── Victim ──────────────────────────────────────────────────────────────────────────────────────

/// Blocks 0 to 6 have lost 0, 2, 1, 3, 3, 0 and 1 of their pages.
#[test]
fn victims_are_chosen_by_gain_age_and_chance() {
    let mut ftl = seven();
    for (n, lost) in (0..).zip([0, 2, 1, 3, 3, 0, 1]) {
        (4 * n..4 * n + lost).for_each(|lpn| assert!(ftl.trim(Lpn::from_u32(lpn), Time::ZERO)));
    }
    let wear = IndexVec::filled(0, 8);
    let tag = Tag::of(Source::Host);
    let mut rng = Rng::named(3, "test/victims");
    let mut choose = |name: &str, params: Value| {
        let mut policy = set_of("victim", name, &params).build().victim;
        policy.choose(&view(&ftl, &wear), tag, &mut rng).expect("there are candidates").as_u32()
    };
    assert_eq!(choose("greedy", json!({})), 3, "the first of those that gain most");
    assert_eq!(choose("fifo", json!({})), 0, "the first that was completed");
    // Ages 7 to 1; those that lost one page have a gain of a third, two one, three three.
    assert_eq!(choose("cost-benefit", json!({})), 3);
    assert!([3, 4].contains(&choose("d-choices", json!({ "d": 1000 }))), "of many draws the best");
    let drawn: BTreeSet<u32> = (0..300).map(|_| choose("random", json!({}))).collect();
    assert_eq!(drawn, (0..7).collect());
    let drawn: BTreeSet<u32> = (0..300).map(|_| choose("d-choices", json!({ "d": 1 }))).collect();
    assert_eq!(drawn, (0..7).collect());
}

// ── Placement ───────────────────────────────────────────────────────────────────────────────────

/// The place that a policy chooses on three dies of two planes. Given are the dies that are idle,
/// the planes that have space, and how many operations wait for each die.
fn place(
    policy: &mut impl Placement,
    idle: &[usize],
    room: &[usize],
    waiting: [u32; 3],
) -> Option<u32> {
    place_on(&three_dies(), policy, idle, room, &waiting)
}

fn place_on(
    geometry: &Geometry,
    policy: &mut impl Placement,
    idle: &[usize],
    room: &[usize],
    waiting: &[u32],
) -> Option<u32> {
    let set = |n: usize, of: &[usize]| {
        let mut set = BitSet::new(n);
        for i in of {
            set.set(*i);
        }
        set
    };
    let (writable, idle) = (set(geometry.planes(), room), set(geometry.dies(), idle));
    let waiting = Waiting::of(waiting.to_vec());
    let load = Load { geometry, writable: &writable, waiting: &waiting, idle: &idle };
    policy.place(&load, Lpn::from_u32(4), Prio::Normal).map(PlaneId::as_u32)
}

fn three_dies() -> Geometry {
    Geometry::new(Shape { channels: 3, planes_per_die: 2, ..SMALL }).expect("a drive")
}

const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// Idle dies take turns, and the planes of each; then the one goes for which least waits.
#[test]
fn dynamic_placement_takes_turns() {
    let fresh = || {
        let mut policy = set_of("placement", "dynamic", &json!({})).build().placement;
        policy.attach(&three_dies(), 100);
        assert!(policy.is_free());
        policy
    };
    let mut p = fresh();
    let turns: Vec<u32> = (0..7).filter_map(|_| place(&mut p, &[0, 1, 2], &ALL, [0; 3])).collect();
    assert_eq!(turns, [0, 2, 4, 1, 3, 5, 0]);
    // Die 1 alone is idle.
    let turns: Vec<u32> = (0..3).filter_map(|_| place(&mut p, &[1], &ALL, [0; 3])).collect();
    assert_eq!(turns, [2, 3, 2]);
    // A plane without room is passed over, and so is a die.
    let mut p = fresh();
    assert_eq!(place(&mut p, &[0, 1, 2], &[1, 2, 4], [0; 3]), Some(1));
    assert_eq!(place(&mut p, &[0, 1, 2], &[0, 4], [0; 3]), Some(4));
    assert_eq!(place(&mut p, &[1], &[0, 1, 4], [7, 7, 5]), Some(4), "none that is idle has room");
    assert_eq!(place(&mut p, &[0, 1, 2], &[], [0; 3]), None);
    // No die is idle.
    let mut p = fresh();
    assert_eq!(place(&mut p, &[], &ALL, [2, 1, 3]), Some(2));
    assert_eq!(place(&mut p, &[], &ALL, [2, 1, 3]), Some(3));
    assert_eq!(place(&mut p, &[], &[0, 1, 4, 5], [2, 1, 3]), Some(0));
    assert_eq!(place(&mut p, &[], &ALL, [1, 1, 1]), Some(2), "from the turn on, which is die 1's");
    assert_eq!(place(&mut p, &[], &[], [0; 3]), None);
    // Without load: filling.
    let mut p = fresh();
    let spread: Vec<u32> = (0..7).map(|n| p.spread(Lpn::from_u32(n)).as_u32()).collect();
    assert_eq!(spread, [0, 2, 4, 1, 3, 5, 0]);
}

/// The fourth idle die is tried, and no fifth: then the one goes for which least waits, though it is at
/// work.
#[test]
fn dynamic_placement_tries_four_idle_dies() {
    let shape = Shape { channels: 6, planes_per_die: 1, ..SMALL };
    let six = Geometry::new(shape).expect("a drive");
    for (idle, room, plane) in [(&[0, 1, 2, 4][..], &[3, 4][..], 4), (&[0, 1, 2, 3, 5], &[4, 5], 4)]
    {
        let mut policy = set_of("placement", "dynamic", &json!({})).build().placement;
        policy.attach(&six, 100);
        assert_eq!(place_on(&six, &mut policy, idle, room, &[0; 6]), Some(plane), "{idle:?}");
    }
}

/// The address of a page alone determines its place.
#[test]
fn static_placement_waits_for_its_plane() {
    for (order, plane) in [("cwdp", 3), ("pcwd", 4)] {
        let set = set_of("placement", "static", &json!({ "order": order }));
        let mut policy = set.build().placement;
        policy.attach(&three_dies(), 100);
        assert!(!policy.is_free());
        // Page 4 of 3 channels: the second one in the second plane. Of 2 planes: the first one of the
        // third channel.
        assert_eq!(place(&mut policy, &[], &ALL, [9; 3]), Some(plane), "{order}");
        let others: Vec<usize> = ALL.into_iter().filter(|p| *p != plane as usize).collect();
        assert_eq!(place(&mut policy, &[0, 1, 2], &others, [0; 3]), None, "{order}");
        assert_eq!(policy.spread(Lpn::from_u32(4)).as_u32(), plane, "{order}");
    }
}

// ── Order ───────────────────────────────────────────────────────────────────────────────────────

/// The order in which each policy serves waiting operations, by kind; `!` is urgent. The one that
/// came first is the last entry.
#[test]
fn orders_of_what_waits() {
    let kinds = ["read", "write", "job", "!read", "!write"];
    for (name, served) in [
        ("fifo", ["!write", "!read", "job", "write", "read"]),
        ("read-first", ["!read", "read", "!write", "job", "write"]),
        ("priority", ["!read", "!write", "job", "write", "read"]),
        ("collection-first", ["job", "!read", "read", "!write", "write"]),
    ] {
        let mut policy = set_of("order", name, &json!({})).build().order;
        assert_eq!(policy.uses_priority(), matches!(name, "priority" | "collection-first"));
        let head = |(at, kind): (u64, &str)| {
            let op = match kind.trim_start_matches('!') {
                "read" => OpKind::Read,
                "write" => OpKind::Write,
                _ => OpKind::Job,
            };
            let prio = if kind.starts_with('!') { Prio::High } else { Prio::Normal };
            (kind.to_owned(), OpView { op, prio, seq: 5 - at })
        };
        let mut waiting: Vec<(String, OpView)> = (0..).zip(kinds).map(head).collect();
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let heads: Vec<OpView> = waiting.iter().map(|(_, head)| *head).collect();
            order.push(waiting.remove(policy.pick(&heads, Time::ZERO)).0);
        }
        assert_eq!(order, served, "{name}");
    }
}

// ── What they see ───────────────────────────────────────────────────────────────────────────────

/// Two blocks of 130 pages have been written; of the second seven pages are left, on both sides of
/// the boundaries between words.
#[test]
fn valid_slots_are_found_in_order_across_words() {
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let config = small_config(Shape { pages_per_block: 130, ..SMALL }, 260, 1);
    let mut ftl = Drive::new(config, builtin(&set));
    for lpn in 0..260 {
        assert!(ftl.write_now(Lpn::from_u32(lpn), u64::from(lpn + 1) << 32, Time::ZERO));
    }
    let slots = [0, 5, 63, 64, 127, 128, 129];
    for slot in (0..130).filter(|slot| !slots.contains(slot)) {
        assert!(ftl.trim(Lpn::from_u32(130 + slot), Time::ZERO));
    }
    let map = ftl.map();
    for from in 0..140 {
        let expected = slots.into_iter().find(|slot| *slot >= from);
        assert_eq!(map.next_valid(block(1), from), expected, "from {from}");
    }
    let counts = [0, 1, 2].map(|n| map.count_valid(block(n)));
    assert_eq!(counts, [130, 7, 0]);
    assert_eq!((map.next_valid(block(0), 129), map.next_valid(block(0), 130)), (Some(129), None));
    assert_eq!(map.next_valid(block(2), 0), None);
}

/// Blocks 3 and 4 gain two slots each, block 2 one; block 7 is free.
#[test]
fn the_most_to_gain_is_the_first_among_equals() {
    let mut ftl = seven();
    for lpn in [8, 12, 13, 18, 19] {
        assert!(ftl.trim(Lpn::from_u32(lpn), Time::ZERO));
    }
    let wear = IndexVec::filled(0, 8);
    let from = |from| PlaneView { from, ..view(&ftl, &wear) }.most_gain();
    assert_eq!([0, 3, 4].map(from), [3, 3, 4].map(|n| Some(block(n))));
    assert_eq!([5, 7, 8].map(from), [Some(block(5)), None, None], "free, or no block at all");
}

/// Every program at the level that its page's number says.
struct Levelled;

impl Watch for Levelled {}

impl Cost for Levelled {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        Level::ALL[w.lpn.as_u32() as usize]
    }
}

/// Levels are packed, several to a byte.
#[test]
fn levels_of_neighbours_do_not_touch() {
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let policies = policies_of(&set, Levelled, NoRefresh, Plain);
    let mut ftl = Drive::new(small_config(SMALL, 16, 1), policies);
    let mut decide = |slot: u32, level: Level| {
        let w = WriteCtx {
            now: Time::ZERO,
            lpn: Lpn::from_u32(Level::ALL.iter().position(|l| *l == level).unwrap() as u32),
            die: DieId::from_u32(0),
            tag: Tag::of(Source::Host),
            stored: None,
            waiting_die: 0,
            waiting_channel: 0,
            waiting_device: 0,
            requests_inside: 0,
        };
        assert_eq!(ftl.decide_level(Ppn::from_u32(slot), || w), level);
    };
    decide(4, Level::LowCost);
    decide(5, Level::HighCost);
    let all: Vec<Level> = (0..9).map(|i| ftl.level_of(Ppn::from_u32(i))).collect();
    let m = Level::MediumCost;
    assert_eq!(all, [m, m, m, m, Level::LowCost, Level::HighCost, m, m, m]);
}

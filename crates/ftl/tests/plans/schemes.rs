//! The plans of the schemes, and their memory.

use super::*;

const SCHEMES: [&str; 5] = ["refresh", "redftl", "read-leveling", "hot-low-density", "ipr"];

/// From the last read that a block endures to its erase, or until its counter begins anew.
#[test]
fn how_long_refreshes_take() {
    for scheme in SCHEMES {
        let mut s = Scene::new(scheme, &json!({}), StreamSpec::REGULAR);
        s.write(0..30);
        (1..4).for_each(|n| assert_eq!(s.at_limit(n, at(100)).len(), 1, "{scheme}"));
        s.erased(1, REGULAR, LIMIT, at(150));
        s.erased(2, REGULAR, LIMIT, at(130));
        // This one was erased for the space.
        s.erased(0, REGULAR, 2, at(190));
        let mut expected = [2, 80, 50];
        let anew = match scheme {
            "redftl" | "read-leveling" => Some(ReadDisturbPolicy::on_reset as fn(&mut _, _, _)),
            "ipr" => Some(ReadDisturbPolicy::on_reprogrammed as fn(&mut _, _, _)),
            _ => None,
        };
        if let Some(anew) = anew {
            anew(&mut s.policy, block(3), at(170));
            expected = [3, 150, 70];
        }
        let counters = ["refreshes", "refresh_ns_total", "refresh_ns_max"];
        assert_eq!(counters.map(|name| s.count(name)), expected, "{scheme}");
    }
}

#[test]
fn a_refresh_keeps_its_die_unless_it_is_preemptible() {
    for scheme in SCHEMES {
        for (preemptible, hold) in [("no", Hold::Die), ("yes", Hold::Nothing)] {
            let params = json!({ "preemptible": preemptible });
            let mut s = Scene::new(scheme, &params, StreamSpec::REGULAR);
            s.write(0..6);
            let plan = s.plan(0, at(1));
            assert_eq!(plan.hold, hold, "{scheme}");
            assert_eq!(plan.steps, [reclaim(0, REFRESHED)], "{scheme}");
        }
    }
}

/// The job that empties a block already frees it too.
#[test]
fn a_block_that_is_being_emptied_needs_no_plan() {
    for scheme in SCHEMES {
        let mut s = Scene::new(scheme, &json!({}), StreamSpec::REGULAR);
        s.write(0..6);
        s.ftl.policies.read_disturb.plan = vec![reclaim(0, StreamId::GC)];
        s.ftl.on_timer(Time::ZERO);
        let id = s.ftl.take_ready().expect("the plan");
        assert_eq!(Steps::default().verb(&mut s.ftl, id, Time::ZERO), Verb::Read);
        assert_eq!(s.state(0), State::Moving);
        assert_eq!(s.at_limit(0, at(1)), [], "{scheme}");
    }
}

/// Guard levels endure more, where there are any.
#[test]
fn limits_are_those_of_the_settings() {
    for (scheme, low) in SCHEMES.into_iter().zip([LIMIT, LIMIT, LIMIT, LOW_LIMIT, LOW_LIMIT]) {
        let has_low = matches!(scheme, "hot-low-density" | "ipr");
        let params = if has_low { json!({ "low-limit": LOW_LIMIT }) } else { json!({}) };
        let s = Scene::new(scheme, &params, StreamSpec::REGULAR);
        assert_eq!(s.policy.limit(Mode::Full), Some(LIMIT), "{scheme}");
        assert_eq!(s.policy.limit(Mode::LowDensity), Some(low), "{scheme}");
        assert_eq!(s.policy.limit(Mode::Wom1), Some(LIMIT), "{scheme}");
    }
}

/// Memory of ten blocks of six pages: a word for each block, another for the time of its last
/// refresh if intervals are measured. A third word is for blocks with guard levels. Each page of the
/// two blocks that may be monitored takes two bytes.
#[test]
fn memory_is_counted_by_block_and_page() {
    let bytes = [80, 80 + 80 + 24, 80 + 80 + 24, 160 + 80 + 24, 160 + 80 + 24];
    for (scheme, bytes) in SCHEMES.into_iter().zip(bytes) {
        let params = if scheme == "refresh" { json!({}) } else { json!({ "monitors": 20 }) };
        let s = Scene::new(scheme, &params, StreamSpec::REGULAR);
        assert_eq!(s.policy.dram_bytes(), bytes, "{scheme}");
    }
}

/// The streams of each scheme, and whose blocks count towards a share.
#[test]
fn streams_have_their_shares_and_pools() {
    let refreshed = StreamSpec { fallback: Some(StreamId::GC), ..StreamSpec::REGULAR };
    let monitored = StreamSpec {
        role: MONITOR,
        fallback: Some(REFRESHED),
        cap: Some(2),
        ..StreamSpec::REGULAR
    };
    let shadow =
        StreamSpec { role: SHADOW, fallback: Some(REFRESHED), cap: Some(3), ..StreamSpec::REGULAR };
    let low = StreamSpec { role: LOW, mode: Mode::LowDensity, ..shadow };
    let pool = Pool::Highest(300);
    let anywhere = StreamSpec { role: READ_HOT, ..refreshed };
    let hot = StreamSpec { pool, fallback: Some(stream(3)), ..anywhere };
    let outside = |spec| StreamSpec { pick: FreePick::OutsideFirst(pool), ..spec };
    for (scheme, params, keeps, streams) in [
        ("refresh", json!({}), None, vec![refreshed]),
        ("redftl", json!({ "shadows": 30 }), None, vec![refreshed, monitored, shadow]),
        ("read-leveling", json!({ "shadows": 30 }), None, vec![refreshed, monitored, shadow]),
        ("hot-low-density", json!({ "low-density": 30 }), None, vec![refreshed, monitored, low]),
        (
            "ipr",
            json!({ "pool": 30, "pool-reserve": 0 }),
            None,
            vec![refreshed, monitored, hot, anywhere],
        ),
        (
            "ipr",
            json!({ "pool": 30, "pool-reserve": 1 }),
            Some((pool, 1)),
            vec![outside(refreshed), outside(monitored), hot, outside(anywhere)],
        ),
    ] {
        let mut params = params;
        if scheme != "refresh" {
            params["monitors"] = 20.into();
        }
        let s = Scene::new(scheme, &params, StreamSpec::REGULAR);
        assert_eq!((s.policy.streams(), s.policy.keeps()), (streams, keeps), "{scheme}");
    }
}

/// A stream takes the block that has been free longest of those of its pool.
#[test]
fn a_stream_takes_the_first_free_block_of_its_pool() {
    let hot = StreamSpec { pool: Pool::Highest(300), ..StreamSpec::REGULAR };
    let mut s = Scene::new("ipr", &json!({}), hot);
    s.write(0..6);
    s.carry_out(vec![copy(0, &[0, 1], Dest::Stream(HOT))]);
    s.carry_out(vec![copy(0, &[2], Dest::Fresh(HOT))]);
    assert_eq!([1, 6, 7, 8, 9].map(|n| s.valid(n)), [0, 0, 2, 1, 0]);
}

/// In-place reprogramming is dropped if a page that it would lose is still valid.
#[test]
fn a_block_whose_top_pages_are_valid_is_not_reprogrammed() {
    let step = |n| Step::Reprogram { block: block(n), surcharge: 0, role: LOW, keep_reads: false };
    let mut s = Scene::new("ipr", &json!({}), StreamSpec::REGULAR);
    s.write(0..12);
    s.trim([2]);
    s.carry_out(vec![step(0)]);
    assert_eq!((s.ftl.counts().dropped, s.ftl.counts().reprogram), (1, 0));
    assert_eq!((s.state(0), s.ftl.array().mode(block(0))), (State::Closed, Mode::Full));
    s.trim([5]);
    s.carry_out(vec![step(0)]);
    assert_eq!((s.ftl.counts().dropped, s.ftl.counts().reprogram), (1, 1));
    assert_eq!((s.state(0), s.ftl.array().mode(block(0))), (State::Closed, Mode::LowDensity));
}

// ── Which blocks hold read-hot pages ────────────────────────────────────────────────────────────

/// A block that was refreshed is read-hot if it reaches its limit again sooner than blocks do on
/// average. A block that the host wrote has no interval.
#[test]
fn a_block_is_early_by_the_mean_interval() {
    for scheme in ["redftl", "read-leveling", "hot-low-density", "ipr"] {
        let mut s = Scene::new(scheme, &json!({}), StreamSpec::REGULAR);
        s.write(0..30);
        let to = |s: &mut Scene, n, now| {
            let steps = s.at_limit(n, at(now));
            let [Step::Reclaim { block: of, to: Dest::Stream(to) }] = steps[..] else {
                panic!("{scheme}: {steps:?}");
            };
            assert_eq!(of, block(n));
            to
        };
        s.policy.on_open(block(0), StreamId::HOST, REGULAR);
        s.policy.on_open(block(1), StreamId::GC, REGULAR);
        assert_eq!([to(&mut s, 0, 30), to(&mut s, 1, 40)], [REFRESHED; 2], "{scheme}");
        assert_eq!(s.count("intervals"), 0, "{scheme}");
        // Blocks are opened at the time of the last erase or limit: here 100.
        s.erased(9, REGULAR, 0, at(100));
        (2..5).for_each(|n| s.policy.on_open(block(n), REFRESHED, REGULAR));
        // After 100 ns, of which there is no mean yet; after 100 again; after 99, of 100.
        assert_eq!(to(&mut s, 2, 200), REFRESHED, "{scheme}");
        assert_eq!(to(&mut s, 3, 200), REFRESHED, "{scheme}");
        assert_eq!(to(&mut s, 4, 199), MONITORED, "{scheme}");
        // A block that is opened now counts from 199, the last time that the policy heard of. Of
        // 299 in all a third is 99.67.
        s.policy.on_open(block(2), MONITORED, REGULAR);
        s.policy.on_open(block(3), MONITORED, REGULAR);
        assert_eq!(to(&mut s, 2, 299), REFRESHED, "{scheme}");
        // Of 399 a quarter is 99.75.
        assert_eq!(to(&mut s, 3, 298), MONITORED, "{scheme}");
        assert_eq!(s.count("intervals"), 5, "{scheme}");
        assert_eq!(s.count("short_intervals"), 2, "{scheme}");
        if scheme == "ipr" {
            // From 400 on: 90 ns, of 497 for five.
            s.policy.on_reprogrammed(block(9), at(400));
            s.policy.on_open(block(2), REFRESHED, REGULAR);
            assert_eq!(to(&mut s, 2, 490), MONITORED);
        }
    }
}

/// Blocks with a role have an interval too, and it counts; a reprogram is not a refresh.
#[test]
fn the_interval_of_every_refresh_counts() {
    for (scheme, role, counts) in [
        ("redftl", MONITOR, 1),
        ("redftl", SHADOW, 1),
        ("hot-low-density", MONITOR, 1),
        ("hot-low-density", LOW, 1),
        ("ipr", MONITOR, 1),
        ("ipr", LOW, 1),
        ("ipr", READ_HOT, 0),
    ] {
        let mut s = Scene::new(scheme, &json!({}), StreamSpec::REGULAR);
        s.write(0..30);
        // The last block is in the pool that `ipr` has.
        s.set_role(9, role);
        s.policy.on_open(block(9), HOT, role);
        s.at_limit(9, at(100));
        assert_eq!(s.count("intervals"), counts, "{scheme}: {role:?}");
    }
}

/// Counters of pages are given back with their block.
#[test]
fn monitor_blocks_take_turns() {
    for scheme in ["redftl", "read-leveling", "hot-low-density", "ipr"] {
        let mut s = Scene::new(scheme, &json!({ "monitors": 10 }), StreamSpec::REGULAR);
        s.write(0..30);
        for n in 1..4 {
            s.monitor(n, 0..1);
            s.erased(n, MONITOR, 1, at(1));
        }
        assert_eq!(s.count("monitor_blocks_opened"), 3, "{scheme}");
        assert_eq!(s.count("monitor_blocks_most"), 1, "{scheme}");
    }
}

/// A page is read-hot if it is read more than the average valid page of its monitor block. A block
/// that takes the row of one that was erased starts from nothing.
#[test]
fn pages_are_hot_by_the_mean_of_their_block() {
    let params = json!({ "monitors": 10, "shadows": 50, "pages": 6 });
    let mut s = Scene::new("redftl", &params, StreamSpec::REGULAR);
    s.write(0..30);
    let hot = |s: &mut Scene, n| {
        let steps = s.at_limit(n, at(2));
        if let [Step::Seal(_), Step::Copy { from, pages: Pages::Some(slots), .. }, _] = &steps[..] {
            assert_eq!((*from, &steps[2]), (block(n), &reclaim(n, REFRESHED)));
            return slots.clone();
        }
        assert_eq!(steps, [Step::Seal(block(n)), reclaim(n, REFRESHED)]);
        Vec::new()
    };
    s.monitor(1, 0..4);
    // Eight reads of six pages.
    assert_eq!(hot(&mut s, 1), [0, 1, 2, 3]);
    // Without the two that were not read all are alike.
    s.trim([10, 11]);
    assert!(hot(&mut s, 1).is_empty());
    s.erased(1, MONITOR, 10, at(2));
    s.monitor(2, 0..0);
    assert!(hot(&mut s, 2).is_empty());
    assert_eq!(s.count("hot_pages_found"), 4);
    assert_eq!(s.count("monitor_blocks_opened"), 2);
    assert_eq!(s.count("monitor_blocks_most"), 1);
    assert_eq!(s.count("monitor_blocks_allowed"), 1);
    // Block 0 has no counters.
    s.set_role(0, MONITOR);
    assert!(hot(&mut s, 0).is_empty());

    // Two blocks at a time, each with counters of its own, on any number of planes.
    let params = json!({ "monitors": 20, "shadows": 50, "pages": 6 });
    let mut s = Scene::new("redftl", &params, StreamSpec::REGULAR);
    s.write(0..30);
    s.monitor(1, 0..2);
    s.monitor(2, 3..6);
    assert_eq!((hot(&mut s, 1), hot(&mut s, 2)), (vec![0, 1], vec![3, 4, 5]));
    assert_eq!(s.count("monitor_blocks_most"), 2);
    let two_planes = Shape { planes_per_die: 2, ..*s.ftl.geometry().shape() };
    s.policy.attach(&Geometry::new(two_planes).expect("a drive"), 36);
    assert_eq!(s.count("monitor_blocks_allowed"), 4);
    s.policy.on_open(block(1), MONITORED, MONITOR);
    assert_eq!(s.count("monitor_blocks_most"), 2);
}

// ── Shadow blocks ───────────────────────────────────────────────────────────────────────────────

const SHADOWED: StreamSpec = StreamSpec { role: SHADOW, ..StreamSpec::REGULAR };

/// Read-hot pages fill up shadow blocks that are there, then open others, as far as the share goes;
/// one is kept for pages that must leave another.
#[test]
fn shadow_blocks_are_filled_up_before_others_open() {
    let fresh = Dest::Fresh(HOT);
    let scene = |shadows: u64| {
        let params = json!({ "monitors": 20, "shadows": shadows, "pages": 3 });
        let mut s = Scene::new("redftl", &params, SHADOWED);
        s.write(0..30);
        s.monitor(1, 0..5);
        s
    };
    let admitted = |copies: &[Step]| {
        let mut all = vec![Step::Seal(block(1))];
        all.extend(copies.iter().cloned());
        all.push(reclaim(1, REFRESHED));
        all
    };
    let counts = |s: &Scene| (s.count("hot_pages_admitted"), s.count("hot_pages_refused"));

    // Three of ten blocks are two and one that is kept.
    let mut s = scene(30);
    let all = [copy(1, &[0, 1, 2], fresh), copy(1, &[3, 4], fresh)];
    assert_eq!(s.at_limit(1, at(1)), admitted(&all));
    assert_eq!(counts(&s), (5, 0));
    // One of three is there, so one more.
    s.policy.on_open(block(9), HOT, SHADOW);
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
    assert_eq!(counts(&s), (8, 2));
    s.policy.on_open(block(8), HOT, SHADOW);
    assert_eq!(s.at_limit(1, at(1)), admitted(&[]));
    assert_eq!(counts(&s), (8, 7));
    let blocks = ["shadow_blocks", "shadow_blocks_most", "shadow_blocks_opened"];
    assert_eq!(blocks.map(|name| s.count(name)), [2; 3]);
    s.erased(9, SHADOW, 0, at(1));
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
    assert_eq!(blocks.map(|name| s.count(name)), [1, 2, 2]);
    assert_eq!(s.count("shadow_blocks_erased"), 1);
    // The share is of two: with one there, none opens.
    let mut s = scene(20);
    s.policy.on_open(block(9), HOT, SHADOW);
    assert_eq!(s.at_limit(1, at(1)), admitted(&[]));

    // Block 5 is a shadow block that is there, with one page of three.
    let mut s = scene(30);
    s.carry_out(vec![copy(2, &[0], fresh)]);
    s.policy.on_open(block(5), HOT, SHADOW);
    assert_eq!((s.state(5), s.valid(5)), (State::Open, 1));
    let there = Dest::Block(block(5));
    let both = [copy(1, &[0, 1], there), copy(1, &[2, 3, 4], fresh)];
    assert_eq!(s.at_limit(1, at(1)), admitted(&both));
    // At its limit it takes no more.
    s.reads[5] = LIMIT - 1;
    assert_eq!(s.at_limit(1, at(1)), admitted(&both));
    s.reads[5] = LIMIT;
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
    s.reads[5] = 0;
    // An open block of another role does not count.
    s.set_role(5, REGULAR);
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
    s.set_role(5, SHADOW);
    // Five of its slots are written, of which one is valid: there is one left.
    for slot in 1..5 {
        s.carry_out(vec![copy(2, &[slot], there)]);
    }
    s.trim(13..17);
    assert_eq!((s.state(5), s.valid(5)), (State::Open, 1));
    let one = [copy(1, &[0], there), copy(1, &[1, 2, 3], fresh)];
    assert_eq!(s.at_limit(1, at(1)), admitted(&one));
    // No block: a complete block has no place for more.
    s.carry_out(vec![copy(2, &[5], there)]);
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
    // Six pages, of which three may be in a shadow block: it is full.
    let mut s = scene(30);
    s.carry_out(vec![copy(2, &[0, 1, 2], fresh)]);
    s.policy.on_open(block(5), HOT, SHADOW);
    assert_eq!(s.at_limit(1, at(1)), admitted(&all[..1]));
}

/// At its limit a shadow block moves to another; with Read Leveling within itself, if its unused
/// pages suffice.
#[test]
fn a_shadow_block_at_its_limit_is_emptied_or_levelled() {
    let away = |n| {
        let all = Step::Copy { from: block(n), pages: Pages::All, to: Dest::Fresh(HOT) };
        vec![all, reclaim(n, REFRESHED)]
    };
    for scheme in ["redftl", "read-leveling"] {
        let levels = scheme == "read-leveling";
        let params = json!({ "monitors": 0, "shadows": 50, "pages": 3 });
        let mut s = Scene::new(scheme, &params, SHADOWED);
        s.write(0..24);
        s.carry_out(vec![copy(2, &[0, 1, 2], Dest::Fresh(HOT))]);
        let within = vec![copy(4, &[0, 1, 2], Dest::Block(block(4))), Step::ResetReads(block(4))];
        let expected = if levels { within } else { away(4) };
        assert_eq!(s.at_limit(4, at(1)), expected, "{scheme}");
        // Four of six: two are left for four.
        s.carry_out(vec![copy(2, &[3], Dest::Block(block(4)))]);
        assert_eq!(s.at_limit(4, at(1)), away(4), "{scheme}");
        // Two of them are given up, and two suffice.
        s.trim([12, 13]);
        let within = vec![copy(4, &[2, 3], Dest::Block(block(4))), Step::ResetReads(block(4))];
        let expected = if levels { within } else { away(4) };
        assert_eq!(s.at_limit(4, at(1)), expected, "{scheme}");
        // A complete one has no unused pages.
        s.carry_out(vec![Step::Seal(block(4))]);
        assert_eq!(s.state(4), State::Closed);
        assert_eq!(s.at_limit(4, at(1)), away(4), "{scheme}");
        // Nothing is left to copy.
        s.trim([14, 15]);
        assert_eq!(s.at_limit(4, at(1)), [reclaim(4, REFRESHED)], "{scheme}");
        assert_eq!(s.count("shadow_refreshes"), 5, "{scheme}");
        assert_eq!(s.count("shadow_reuses"), if levels { 2 } else { 0 }, "{scheme}");
    }
}

/// A shadow block is worth keeping as long as half of its pages are valid.
#[test]
fn half_a_shadow_block_is_protected() {
    for (pages, least) in [(3, 2), (4, 2), (6, 3), (9, 3)] {
        let params = json!({ "monitors": 0, "shadows": 20, "pages": pages });
        let mut s = Scene::new("redftl", &params, SHADOWED);
        s.write(0..30);
        s.set_role(1, SHADOW);
        for valid in (0..=6).rev() {
            assert_eq!(s.valid(1), valid);
            assert_eq!(s.protects(1), valid >= least, "{valid} of {pages}");
            if valid > 0 {
                s.trim([5 + valid]);
            }
        }
        s.set_role(2, MONITOR);
        assert!(!s.protects(2) && !s.protects(3));
    }
}

/// Of two times six slots for open blocks, and the slots that shadow blocks leave unused.
#[test]
fn slots_that_schemes_keep_from_data() {
    for (scheme, params, slots) in [
        ("redftl", json!({ "shadows": 30, "pages": 2 }), 2 * 6 + 3 * 4),
        ("read-leveling", json!({ "shadows": 20, "pages": 6 }), 2 * 6),
        // Guard levels take every third page.
        ("hot-low-density", json!({ "low-density": 30 }), 3 * 6 + 3 * 2),
        ("ipr", json!({ "low-density": 20, "pool-reserve": 3 }), (4 + 3) * 6 + 2 * 2),
    ] {
        let s = Scene::new(scheme, &params, StreamSpec::REGULAR);
        assert_eq!(s.policy.spare_slots(s.ftl.geometry()), slots, "{scheme}");
        // A tenth of 990 blocks are 99.
        let tenth = match scheme {
            "redftl" | "read-leveling" => json!({ "shadows": 10, "pages": 5 }),
            _ => json!({ "low-density": 10 }),
        };
        let lost = if tenth.get("shadows").is_some() { 99 } else { 99 * 2 };
        let open = match scheme {
            "hot-low-density" => 3,
            "ipr" => 4 + 1,
            _ => 2,
        };
        let large = Shape { blocks_per_plane: 990, ..*s.ftl.geometry().shape() };
        let large = Geometry::new(large).expect("a drive");
        let s = Scene::new(scheme, &tenth, StreamSpec::REGULAR);
        assert_eq!(s.policy.spare_slots(&large), open * 6 + lost, "{scheme}");
    }
    let s = Scene::new("refresh", &json!({}), StreamSpec::REGULAR);
    assert_eq!(s.policy.spare_slots(s.ftl.geometry()), 6);
}

// ── Guard levels ────────────────────────────────────────────────────────────────────────────────

const GUARDED: StreamSpec = StreamSpec { role: LOW, mode: Mode::LowDensity, ..StreamSpec::REGULAR };

/// Five read-hot pages need two blocks of four slots, and one more is kept for blocks that must
/// move. For each block beyond the share, the one that was read least for its time is given up.
#[test]
fn hot_low_density_gives_up_what_is_read_least() {
    // Blocks that get guard levels, of the three that may have them: 4, 3 and 2 in this order.
    let scene = |low: usize| {
        let params = json!({ "monitors": 20, "low-density": 30, "low-limit": LOW_LIMIT });
        let mut s = Scene::new("hot-low-density", &params, GUARDED);
        s.write(0..30);
        s.monitor(1, 0..5);
        for (n, since) in [(4, 0), (3, 50), (2, 99)].into_iter().take(low) {
            s.set_role(n, LOW);
            s.erased(9, REGULAR, 0, at(since));
            s.policy.on_open(block(n), HOT, LOW);
        }
        // 0.09 reads in a nanosecond, 0.12, and one. A role alone leaves a block the limit of full
        // density.
        (s.reads[4], s.reads[3], s.reads[2]) = (9, 6, 1);
        s
    };
    let planned = |given_up: &[u32]| {
        let mut all: Vec<Step> = given_up.iter().map(|n| reclaim(*n, REFRESHED)).collect();
        all.push(Step::Seal(block(1)));
        all.push(copy(1, &[0, 1, 2, 3, 4], Dest::Stream(HOT)));
        all.push(reclaim(1, REFRESHED));
        all
    };
    assert_eq!(scene(0).at_limit(1, at(100)), planned(&[]));
    // With one of three, the first new block leaves one for others, and the second does not.
    assert_eq!(scene(1).at_limit(1, at(100)), planned(&[4]));
    assert_eq!(scene(3).at_limit(1, at(100)), planned(&[4, 3]));
    let mut s = scene(2);
    assert_eq!(s.at_limit(1, at(100)), planned(&[4, 3]));
    // They are given up once.
    assert_eq!(s.at_limit(1, at(100)), planned(&[]));
    assert_eq!(s.count("low_blocks_given_up"), 2);
    assert_eq!((s.count("low_blocks"), s.count("low_blocks_most")), (2, 2));
    assert_eq!(s.count("low_blocks_allowed"), 3);
    // When they are erased there is room again, and how far they were used is counted.
    s.erased(4, LOW, 20, at(100));
    s.erased(3, LOW, LOW_LIMIT, at(100));
    assert_eq!(s.at_limit(1, at(100)), planned(&[]));
    assert_eq!((s.count("low_blocks"), s.count("low_blocks_most")), (0, 2));
    assert_eq!((s.count("low_used_50"), s.count("low_used_100")), (1, 1));

    // The other order of reads for their time; a block at its limit goes by itself.
    let mut s = scene(2);
    (s.reads[4], s.reads[3]) = (9, 4);
    assert_eq!(s.at_limit(1, at(100)), planned(&[3, 4]));
    let mut s = scene(2);
    s.reads[4] = LOW_LIMIT;
    assert_eq!(s.at_limit(1, at(100)), planned(&[3]));

    // One that has guard levels since a nanosecond, beside one for two; of equals the first.
    for (reads, first) in [((2, 5), 3), ((2, 4), 3), ((3, 5), 4)] {
        let mut s = scene(0);
        for (n, since) in [(4, 99), (3, 100)] {
            s.set_role(n, LOW);
            s.erased(9, REGULAR, 0, at(since));
            s.policy.on_open(block(n), HOT, LOW);
        }
        (s.reads[3], s.reads[4]) = reads;
        let second = 7 - first;
        assert_eq!(s.at_limit(1, at(101)), planned(&[first, second]));
    }
    // A block that is open stays, however seldom it was read.
    let mut s = scene(1);
    s.carry_out(vec![copy(2, &[0], Dest::Fresh(HOT))]);
    s.policy.on_open(block(5), HOT, LOW);
    s.carry_out(vec![copy(2, &[1, 2, 3, 4], Dest::Stream(HOT))]);
    assert_eq!((s.state(5), s.state(6)), (State::Open, State::Closed));
    assert_eq!(s.at_limit(1, at(100)), planned(&[4]));

    // A block of the stream that is open has three slots left of four: one more block is needed, so
    // with one of three there is still one for others.
    let mut s = scene(1);
    s.carry_out(vec![copy(2, &[0], Dest::Stream(HOT))]);
    assert_eq!((s.state(5), s.ftl.array().mode(block(5))), (State::Open, Mode::LowDensity));
    assert_eq!(s.at_limit(1, at(100)), planned(&[]));
    let mut s = scene(2);
    s.carry_out(vec![copy(2, &[0], Dest::Stream(HOT))]);
    assert_eq!(s.at_limit(1, at(100)), planned(&[4]));
    // With three pages in it there is one left: four pages need one more.
    let mut s = scene(2);
    s.carry_out(vec![copy(2, &[0, 1, 2], Dest::Stream(HOT))]);
    assert_eq!((s.state(5), s.valid(5)), (State::Open, 3));
    assert_eq!(s.at_limit(1, at(100)), planned(&[4]));
    // A block that others write has no place for them.
    let mut s = scene(2);
    s.write(30..31);
    assert_eq!((s.state(5), s.valid(5)), (State::Open, 1));
    assert_eq!(s.at_limit(1, at(100)), planned(&[4, 3]));
    // Nothing hot: nothing is given up.
    let mut s = scene(2);
    s.trim([11]);
    assert_eq!(s.at_limit(1, at(100)), [reclaim(1, REFRESHED)]);
    // A block with guard levels moves to another.
    assert_eq!(s.at_limit(4, at(100)), [reclaim(4, HOT)]);
}

/// Worth keeping: three quarters of the pages that it was given are valid.
#[test]
fn a_block_with_guard_levels_is_protected_while_three_quarters_are_valid() {
    for scheme in ["hot-low-density", "ipr"] {
        let mut s = Scene::new(scheme, &json!({}), GUARDED);
        s.write(0..24);
        s.carry_out(vec![copy(2, &[0, 1, 2, 3], Dest::Stream(HOT))]);
        assert_eq!((s.state(4), s.valid(4)), (State::Closed, 4));
        assert!(s.protects(4), "{scheme}");
        s.trim([12]);
        assert!(s.protects(4), "{scheme}: three of four");
        s.trim([13]);
        assert!(!s.protects(4), "{scheme}: two of four");
        // As it fills: two of two, two of three.
        s.carry_out(vec![copy(3, &[0, 1], Dest::Stream(HOT))]);
        assert!(s.protects(5), "{scheme}");
        s.carry_out(vec![copy(3, &[2], Dest::Stream(HOT))]);
        s.trim([18]);
        assert!(!s.protects(5), "{scheme}");
        s.set_role(1, READ_HOT);
        assert!(!s.protects(1), "{scheme}");
    }
}

// ── In-place reprogramming ──────────────────────────────────────────────────────────────────────

/// Blocks 5 to 9 are the pool. Of these 7 is open, for read-hot pages, with four of its six slots
/// left, and the others hold one, two, three and four pages. Block 2 holds five; 0 and 1 are free.
fn pool(gain: u64) -> Scene {
    let params = json!({ "pool": 50, "pool-gain": gain, "monitors": 20, "low-limit": LOW_LIMIT });
    let hot = StreamSpec { role: READ_HOT, pool: Pool::Highest(500), ..StreamSpec::REGULAR };
    let mut s = Scene::new("ipr", &params, hot);
    s.write(0..30);
    for n in [0, 1] {
        s.write(6 * n..6 * n + 6);
        s.carry_out(vec![reclaim(n, StreamId::GC)]);
    }
    s.carry_out(vec![copy(2, &[0], Dest::Stream(HOT)), copy(3, &[0], Dest::Stream(HOT))]);
    s.write(18..30);
    let states = [0, 1, 2, 5, 6, 7, 8, 9].map(|n| s.state(n));
    let (free, closed) = (State::Free, State::Closed);
    assert_eq!(states, [free, free, closed, closed, closed, State::Open, closed, closed]);
    s.trim((1..6).chain(8..12).chain(21..24).chain(28..30));
    assert_eq!([2, 3, 4, 5, 6, 8, 9].map(|n| s.valid(n)), [5, 0, 0, 1, 2, 3, 4]);
    s
}

/// Read-hot pages need room in the pool: an open block, a free one, or one that is reclaimed, the
/// emptiest of those that may be.
#[test]
fn ipr_reclaims_a_block_of_the_pool_when_it_needs_one() {
    // Block 2 moves into the pool; whose place it takes.
    let victim = |s: &mut Scene| {
        s.set_role(2, LOW);
        let steps = s.at_limit(2, at(1));
        let [others @ .., last] = &steps[..] else { panic!("nothing is planned") };
        assert_eq!(*last, reclaim(2, HOT));
        match others {
            [] => None,
            [Step::Reclaim { block, to: Dest::Stream(StreamId::GC) }] => Some(block.as_u32()),
            _ => panic!("{others:?}"),
        }
    };
    let mut s = pool(0);
    assert_eq!(victim(&mut s), Some(5), "the emptiest of the pool, though 3 and 4 are empty");
    s.set_role(5, READ_HOT);
    assert_eq!(victim(&mut s), Some(6), "that holds no read-hot pages");
    s.set_role(6, LOW);
    assert_eq!(victim(&mut s), Some(8), "nor has guard levels");
    s.reads[8] = LIMIT - 1;
    assert_eq!(victim(&mut s), Some(8));
    s.reads[8] = LIMIT;
    assert_eq!(victim(&mut s), Some(9), "nor is at its limit");
    assert_eq!(s.count("pool_blocks_collected"), 5);
    s.set_role(9, LOW);
    assert_eq!(victim(&mut s), None, "there is no other");
    assert_eq!(s.count("pool_without_victim"), 1);
    s.set_role(9, MONITOR);
    assert_eq!(victim(&mut s), Some(9));
    // Block 2 has as many pages as the open one has slots left.
    s.trim([13]);
    assert_eq!(victim(&mut s), None);
    assert_eq!(s.count("pool_without_victim"), 1, "none was looked for");
    // A third slot is written, so that one is missing; and a block of the pool is free.
    s.carry_out(vec![copy(2, &[5], Dest::Stream(HOT))]);
    s.trim([17]);
    assert_eq!(s.valid(2), 3);
    assert_eq!(victim(&mut s), None);
    s.carry_out(vec![copy(6, &[0], Dest::Stream(HOT))]);
    assert_eq!(victim(&mut s), Some(9));
    s.carry_out(vec![reclaim(5, StreamId::GC)]);
    assert_eq!(victim(&mut s), None);
    // Of a block of six, five are 83.3 %.
    assert_eq!(victim(&mut pool(83)), Some(5));
    let mut s = pool(84);
    assert_eq!(victim(&mut s), None);
    assert_eq!((s.count("pool_blocks_collected"), s.count("pool_without_victim")), (0, 1));
    // Of six, three are a half.
    let mut s = pool(50);
    s.trim([7]);
    for n in [5, 6] {
        s.set_role(n, LOW);
    }
    assert_eq!((s.valid(8), victim(&mut s)), (3, Some(8)));
    // One page needs space too if no block is open, and a block that others write does not count.
    let mut s = pool(0);
    s.carry_out(vec![Step::Seal(block(7))]);
    s.trim(14..18);
    assert_eq!((s.state(7), s.valid(2)), (State::Closed, 1));
    assert_eq!(victim(&mut s), Some(5));
    // Of equals the first.
    let mut s = pool(0);
    s.trim([6]);
    assert_eq!((s.valid(5), s.valid(6)), (1, 1));
    assert_eq!(victim(&mut s), Some(5));
}

/// Data that wear levelling wrote into the pool is not moved.
#[test]
fn ipr_leaves_cold_data_in_the_pool() {
    let hot = StreamSpec { role: READ_HOT, pool: Pool::Highest(500), ..StreamSpec::REGULAR };
    let mut s = Scene::new("ipr", &json!({ "pool": 50 }), hot);
    s.write(0..30);
    s.write(0..6);
    // Block 5 is the one that was erased, so it takes cold data; its own pages are in block 6.
    let cold = copy(2, &[0, 1, 2, 3, 4, 5], Dest::Stream(StreamId::WEAR));
    s.carry_out(vec![reclaim(5, StreamId::GC), cold]);
    s.carry_out(vec![reclaim(0, StreamId::GC), reclaim(2, StreamId::GC)]);
    s.write(18..24);
    s.carry_out(vec![copy(6, &[0], Dest::Stream(HOT))]);
    s.write(24..30);
    s.trim(12..18);
    assert_eq!(s.ftl.blocks().stream(block(5)), StreamId::WEAR);
    assert_eq!([5, 6, 7, 8, 9].map(|n| s.valid(n)), [0, 5, 6, 1, 6]);
    // Six pages, where block 8 has five slots left.
    s.set_role(1, LOW);
    assert_eq!(s.at_limit(1, at(1)), [reclaim(6, StreamId::GC), reclaim(1, HOT)]);
}

/// A monitor block: its read-hot pages go to the pool, where room is made for them, and it is
/// completed first.
#[test]
fn ipr_moves_read_hot_pages_to_the_pool() {
    let mut s = pool(0);
    s.monitor(2, 1..4);
    let planned = |victim: Option<u32>| {
        let mut all: Vec<Step> = victim.iter().map(|n| reclaim(*n, StreamId::GC)).collect();
        all.push(Step::Seal(block(2)));
        all.push(copy(2, &[1, 2, 3], Dest::Stream(HOT)));
        all.push(reclaim(2, REFRESHED));
        all
    };
    assert_eq!(s.at_limit(2, at(1)), planned(None));
    s.carry_out(vec![copy(6, &[0, 1], Dest::Stream(HOT))]);
    assert_eq!(s.at_limit(2, at(1)), planned(Some(6)), "two slots are left");
    // Nothing hot.
    let mut s = pool(0);
    s.monitor(2, 1..6);
    assert_eq!(s.at_limit(2, at(1)), [reclaim(2, REFRESHED)]);
}

/// A read-hot block of the pool: room is made for its top pages.
#[test]
fn ipr_makes_room_for_top_pages() {
    let mut s = pool(0);
    s.set_role(9, READ_HOT);
    s.trim([24]);
    // Of block 9 pages 1 to 3 are valid, and of these the third is a top one. Three slots are written
    // beside the two, and one left; then none.
    s.carry_out(vec![copy(8, &[0, 1, 2], Dest::Stream(HOT))]);
    let top = |s: &mut Scene| {
        let steps = s.at_limit(9, at(1));
        assert!(steps.contains(&copy(9, &[2], Dest::Stream(HOT))));
        steps[0].clone()
    };
    assert_eq!(top(&mut s), Step::Seal(block(9)));
    s.carry_out(vec![copy(2, &[1], Dest::Stream(HOT))]);
    assert_eq!(top(&mut s), reclaim(8, StreamId::GC));
}

/// A read-hot block of the pool keeps two pages of each wordline; outside the pool it moves.
#[test]
fn ipr_reprograms_in_the_pool_only() {
    for (pool, in_pool) in [(90, true), (80, false)] {
        let mut s = Scene::new("ipr", &json!({ "pool": pool }), StreamSpec::REGULAR);
        s.write(0..30);
        s.set_role(1, READ_HOT);
        let top = |slots: &[u32]| {
            vec![
                Step::Seal(block(1)),
                copy(1, slots, Dest::Stream(HOT)),
                Step::Reprogram { block: block(1), surcharge: 200, role: LOW, keep_reads: false },
                Step::ReclaimAtLimit { block: block(1), to: Dest::Stream(HOT) },
            ]
        };
        let expected = if in_pool { top(&[2, 5]) } else { vec![reclaim(1, HOT)] };
        assert_eq!(s.at_limit(1, at(1)), expected);
        s.trim([8]);
        let expected = if in_pool { top(&[5]) } else { vec![reclaim(1, HOT)] };
        assert_eq!(s.at_limit(1, at(1)), expected);
        assert_eq!(s.count("read_hot_refreshes"), 2);
        assert_eq!(s.count("skipped_outside_pool"), if in_pool { 0 } else { 2 });
        // Erases are counted in the pool: of one block, the first of it, or none.
        (0..2).for_each(|n| s.erased(n, REGULAR, 0, at(2)));
        assert_eq!(s.count("pool_erases"), u64::from(in_pool));
    }
}

/// The surcharge by how often a block is reprogrammed: of a rate of 1/20 0.8 cycles, of 2/20 0.4, and
/// from 1/5 on 0.2.
#[test]
fn ipr_charges_wear_by_the_rate_of_reprogramming() {
    let params = json!({ "pool": 100, "wear": "rate", "keep-reads": "yes" });
    let mut s = Scene::new("ipr", &params, StreamSpec::REGULAR);
    s.write(0..30);
    s.set_role(1, READ_HOT);
    let surcharge = |s: &mut Scene| {
        let steps = s.at_limit(1, at(1));
        let Some(Step::Reprogram { surcharge, keep_reads: true, .. }) = steps.get(2) else {
            panic!("{steps:?}");
        };
        *surcharge
    };
    assert_eq!(surcharge(&mut s), 200);
    (1..20).for_each(|_| s.erased(1, REGULAR, 0, at(1)));
    assert_eq!(surcharge(&mut s), 800);
    s.policy.on_reprogrammed(block(1), at(1));
    assert_eq!(surcharge(&mut s), 400);
    (0..20).for_each(|_| s.erased(1, REGULAR, 0, at(1)));
    assert_eq!(surcharge(&mut s), 800);
    (0..6).for_each(|_| s.policy.on_reprogrammed(block(1), at(1)));
    assert_eq!(surcharge(&mut s), 200);
}

/// At the share of blocks with guard levels the one that was read least for its time is given up, and
/// where none is, the read-hot block moves.
#[test]
fn ipr_gives_up_what_is_read_least() {
    let params = json!({ "pool": 100, "low-density": 20, "low-limit": LOW_LIMIT });
    let mut s = Scene::new("ipr", &params, StreamSpec::REGULAR);
    s.write(0..30);
    s.set_role(1, READ_HOT);
    let given_up = |s: &mut Scene| {
        let steps = s.at_limit(1, at(100));
        match &steps[..] {
            [Step::Reclaim { block, to: Dest::Stream(REFRESHED) }, Step::Seal(_), ..] => {
                Some(block.as_u32())
            }
            [Step::Seal(_), ..] => None,
            _ => {
                assert_eq!(steps, [reclaim(1, HOT)]);
                Some(1)
            }
        }
    };
    assert_eq!(given_up(&mut s), None);
    // Two may have guard levels, and get them at 0 and at 50.
    for (n, since) in [(2, 0), (3, 50)] {
        assert!(s.may_reprogram(n));
        s.set_role(n, LOW);
        s.policy.on_reprogrammed(block(n), at(since));
    }
    assert!(!s.may_reprogram(4), "two are all");
    assert_eq!((s.count("low_blocks"), s.count("low_blocks_allowed")), (2, 2));
    (s.reads[2], s.reads[3]) = (9, 6);
    assert_eq!(given_up(&mut s), Some(2));
    assert_eq!(given_up(&mut s), Some(3));
    assert_eq!(given_up(&mut s), Some(1), "both are about to go");
    assert_eq!(s.count("skipped_at_cap"), 1);
    s.erased(2, LOW, 39, at(100));
    assert!(s.may_reprogram(4) && !s.may_reprogram(4));
    assert_eq!(s.count("low_used_90"), 1);
    // The block that was given up, with guard levels once more, may be given up once more.
    s.policy.on_reprogrammed(block(2), at(90));
    assert_eq!(given_up(&mut s), Some(2));
}

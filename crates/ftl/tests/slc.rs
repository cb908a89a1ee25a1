//! The SLC cache: any legal drive returns the data written last. Meanwhile blocks change between one
//! bit in a cell and several, and their data is folded, collected and written over.

use crate::support::{
    Cells, Checks, Drive, Fault, Needs, Remembering, Scenario, Seen, builtin, sweep, sweep_until,
    work,
};
use ftl::{Ftl, State};
use kernel::{Bytes, Idx, Rng, Time};
use nand::{BlockId, Layouts, Mode, Source};
use policies::{Family, PolicySet};
use serde_json::{Map, Value, json};
use std::cell::Cell;

thread_local! {
    /// Blocks that were erased from one bit in a cell, and those that were not.
    static ERASED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The cache of a seed, for superblocks of this size at one bit in a cell on all dies.
fn policy(seed: u64, each: Bytes) -> (&'static str, Map<String, Value>) {
    let mut rng = Rng::named(seed, "test/slc");
    let mut size = |most: u32| format!("{}B", u64::from(1 + rng.below(most)) * each.get());
    let [own, most, least] = [size(3), size(6), size(2)];
    let fold = ["idle", "pressure", "both"][seed as usize / 3 % 3];
    let full = ["direct", "wait", "around"][seed as usize / 9 % 3];
    let (name, params) = match seed % 3 {
        0 => ("static", json!({ "size": own, "fold": fold, "full": full })),
        1 if full == "wait" => {
            ("dynamic", json!({ "size": most, "minimum": least, "fold": fold, "full": full }))
        }
        1 => ("dynamic", json!({ "fold": fold, "full": full })),
        _ => (
            "hybrid",
            json!({ "static": own, "size": most, "minimum": least, "fold": fold, "full": full }),
        ),
    };
    (name, params.as_object().expect("an object").clone())
}

/// A drive of the seed with the seed's cache; `None`: it is refused.
fn drawn(seed: u64) -> Option<(Scenario, PolicySet)> {
    let needs = if seed.is_multiple_of(2) { Needs::PLAIN } else { Needs::UNITS };
    let needs = Needs { blocks: 14, ..needs };
    let mut s = Scenario::random(seed, &needs);
    if seed.is_multiple_of(4) {
        s = s.striped();
    }
    s.shape.bits_per_cell = 2 + seed as u32 / 5 % 3;
    // Urgent writes have blocks of their own, and what is done at once bypasses the cache.
    (s.priorities, s.immediate) = (false, false);
    let geometry = s.geometry();
    let each = u64::from(geometry.single_slots_per_superblock()) * geometry.sets() as u64;
    let (name, params) = policy(seed, Bytes::new(each * geometry.page_size().get()));
    let mut named = s.named();
    named.push((Family::SlcCache.name().into(), name.into(), params));
    if seed.is_multiple_of(7) && geometry.superblocks().are_blocks() {
        named.push((Family::Separation.name().into(), "sepbit".into(), Map::new()));
    }
    let set = PolicySet::resolve(&named, None).expect("policies that exist");
    if set.misfit(&geometry).is_some() {
        return None;
    }
    let kept = set.spare_slots(&geometry).0 * geometry.sets() as u64;
    let needed = s.config(Layouts::of(&geometry)).spare_needed() + kept;
    let most = geometry.data_slots().checked_sub(needed).filter(|most| *most > 0)?;
    // Half of the drives have no page more than they need.
    let mut rng = Rng::named(seed, "test/slc/pages");
    let most = (most as u32).min(s.logical_pages);
    s.logical_pages = if rng.below(2) == 0 { most } else { 1 + rng.below(most) };
    Some((s, set))
}

fn checked(s: &Scenario) -> Result<Seen, Fault> {
    let (_, set) = drawn(s.seed).expect("a seed that was drawn");
    let policies = || builtin(&set);
    let config = s.config(Layouts::of(&s.geometry()));
    let mut ftl = Ftl::new(config, policies());
    ftl.use_cache();
    if s.seed % 5 == 3 && s.geometry().slots_per_program() == 1 {
        ftl.copy_back(2);
    }
    let mut drive: Drive<Remembering> = Drive::new(ftl, s);
    drive.look = Some(Box::new(|ftl| {
        // Only data that waits to be folded has one bit in a cell.
        let single = |b: &BlockId| ftl.array().mode(*b) == Mode::Slc;
        let free = ftl.geometry().block_ids().filter(single);
        let free = free.filter(|b| ftl.blocks().state(*b) == State::Free).count();
        if free > 0 { Err(format!("{free} free blocks have one bit in a cell")) } else { Ok(()) }
    }));
    work(s, &mut drive, &policies)?;
    let (cache, single) =
        drive.ftl.cache_counts(Time::from_ns(u64::MAX)).expect("there is a cache");
    let counts = drive.ftl.counts();
    let fold = Source::Fold;
    let equal = [
        (cache.cached + cache.direct, counts.host_pages, "host pages"),
        (counts.program[fold], counts.moved[fold] + counts.padding[fold], "folded pages"),
        (single.erase[fold].get(), counts.erase[fold].get(), "erases of folding"),
        (single.read[fold], counts.read[fold], "reads of folding"),
    ];
    for (ours, theirs, what) in equal {
        if ours != theirs && !drive.is_dead() {
            return Err(format!("{what}: {ours}, counted {theirs}"));
        }
    }
    let (of_single, of_full) = ERASED.get();
    let single = single.erase.total().get();
    ERASED.set((of_single + single, of_full + counts.erase.total().get() - single));
    Ok(drive.seen)
}

fn legal(seeds: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    seeds.filter(|seed| drawn(*seed).is_some())
}

fn scenario(seed: u64) -> Scenario {
    drawn(seed).expect("FLOATGATE_SEED names a drive that is refused").0
}

#[test]
fn every_cache_in_any_legal_drive_returns_what_was_written_last() {
    let Some(seen) = sweep(legal(0..150), scenario, checked) else { return };
    assert!(seen.runs > 100 && seen.program[Source::Fold] > 10_000, "{seen:?}");
    assert!(seen.program[Source::Gc] > 5_000 && seen.padding > 500, "{seen:?}");
    assert!(seen.program[Source::Parity] > 100 && seen.dropped > 50, "{seen:?}");
    assert!(seen.pinned > 20 && seen.stalls > 200 && seen.idle_jobs > 150, "{seen:?}");
    let (single, full) = ERASED.get();
    assert!(single > 1_500 && full > 1_500, "{single} and {full} erases");
}

/// Blocks are retired at the wear of their modes until the drive says that it is worn out.
#[test]
fn a_cached_drive_keeps_writing_until_it_says_that_it_is_worn_out() {
    let worn = |seed: u64| Scenario {
        endurance: 2 + seed as u32 % 4,
        full: true,
        filled_at_once: true,
        trims: 0,
        operations: 100_000,
        ..scenario(seed)
    };
    let Some(seen) = sweep(legal(0..60), worn, checked) else { return };
    assert!(seen.worn_out == seen.runs && seen.retired > 100, "{seen:?}");
}

/// Ten million operations of the host on all drives together, and those of flash that they cause.
/// Every read is compared, and every page at the end of a drive.
#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_with_a_cache_lose_nothing() {
    let seldom = |seed| Scenario { checks: Checks::Seldom, ..scenario(seed) };
    let enough = |seen: &Seen| seen.host_operations() >= 10_000_000;
    let Some(seen) = sweep_until(legal(280..100_000), seldom, checked, enough) else { return };
    println!("{} operations, {seen:?}", seen.host_operations());
    assert!(enough(&seen) && seen.program[Source::Fold] > 1_000_000, "{seen:?}");
    assert!(seen.reads > 2_000_000 && seen.checks > 100_000, "{seen:?}");
}

/// The first page of a cached block is read from it until it is folded.
#[test]
fn blocks_leave_the_cache_when_they_are_folded() {
    let seed = (0..10_000).find(|seed| drawn(*seed).is_some_and(|(s, _)| s.full)).expect("a seed");
    let (s, set) = drawn(seed).expect("it was drawn");
    let mut ftl = Ftl::new(s.config(Layouts::of(&s.geometry())), builtin(&set));
    for page in 0..s.logical_pages {
        let lpn = ftl::Lpn::from_u32(page);
        assert!(ftl.write_now(lpn, <Cells as nand::Store>::stamp(page, 1), Time::ZERO));
    }
    ftl.flush_buffered_pages(Time::ZERO);
    // Before the run nothing is cached.
    let single = ftl.geometry().block_ids().filter(|b| ftl.array().mode(*b) == Mode::Slc);
    assert_eq!(single.count(), 0);
    assert_eq!(ftl.cached_pages(), 0);
    assert!(ftl.geometry().block_ids().map(Idx::index).count() > 0);
}

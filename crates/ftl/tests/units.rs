//! Mapping units below the page and across planes, wordlines and planes that one command programs,
//! with every allowed policy. The FTL is compared with a plain map, as in `model.rs`. A seed names
//! a kind of unit, a policy, and all else that is drawn.

use crate::support::{Checks, Fault, Needs, Scenario, Seen, builtin, run, sweep};
use nand::{Geometry, Layouts, Source, UnitSizes};
use policies::{Family, PolicySet};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Bits of a cell, and pages of a wordline that one command programs. A command programs a page
/// alone, all of a wordline (two bits to four), or half of it, as the two steps of cells of two
/// bits and four do.
const PROGRAMS: [(u32, u32); 6] = [(3, 1), (2, 2), (3, 3), (4, 4), (2, 1), (4, 2)];

/// Every kind of drive, with the bits of its cells.
static KINDS: LazyLock<Vec<(u32, UnitSizes)>> =
    LazyLock::new(|| {
        let mut kinds = Vec::new();
        for per_page in [1, 2, 4, 8] {
            for (bits, pages) in PROGRAMS {
                kinds.extend([1, 2, 4].map(|planes| {
                    (bits, UnitSizes { per_page, pages, planes, ..UnitSizes::PAGE })
                }));
            }
        }
        for (across, planes) in [(2, 2), (2, 4), (4, 4)] {
            kinds.extend(PROGRAMS.map(|(bits, pages)| {
                (bits, UnitSizes { across, pages, planes, ..UnitSizes::PAGE })
            }));
        }
        kinds
    });

/// The policies that the FTL asks, each with the settings that a small drive needs.
fn policies() -> Vec<(Family, &'static str, Map<String, Value>)> {
    let asked = [
        Family::Victim,
        Family::Placement,
        Family::Wear,
        Family::Order,
        Family::PageChoice,
        Family::ReadDisturb,
        Family::Coding,
        Family::Cost,
    ];
    // One that knows the future needs a run that was recorded.
    let all = asked.into_iter().flat_map(|family| {
        let drivable = family.policies().iter().filter(|policy| policy.name != "oracle");
        drivable.map(move |policy| {
            let has = |key: &str| policy.params.iter().any(|param| param.name == key);
            let small = [("limit", json!(9)), ("low-limit", json!(24)), ("threshold", json!(1))];
            let set = small.into_iter().filter(|(key, _)| has(key));
            (family, policy.name, set.map(|(key, value)| (key.to_owned(), value)).collect())
        })
    });
    all.collect()
}

/// A drive of the seed's kind, with the seed's policy beside those that were drawn; `None`: it is
/// refused there.
fn drawn(seed: u64) -> Option<(Scenario, PolicySet)> {
    let all = policies();
    let (bits, units) = &KINDS[seed as usize % KINDS.len()];
    let (family, name, params) = &all[seed as usize / KINDS.len() % all.len()];
    let needs = Needs {
        blocks: 4,
        // Small blocks have too few pages that endure a second program.
        pages: if *name == "wom" { &[8, 12] } else { &[4, 6, 8, 9, 12] },
        units: std::slice::from_ref(units),
        rounds: 4,
        ..Needs::PLAIN
    };
    // Large drives make slow checks: the least of some.
    let some = (8 * seed..8 * seed + 8).map(|seed| Scenario::random(seed, &needs));
    let mut s = some.min_by_key(|s| s.geometry().pages())?;
    s.seed = seed;
    s.shape.bits_per_cell = *bits;
    s.operations = s.operations.min(150);
    let mut named = s.named();
    named.retain(|(known, ..)| known != family.name());
    named.push((family.name().into(), (*name).into(), params.clone()));
    let set = PolicySet::resolve(&named, None).ok()?;
    let geometry = s.geometry();
    if set.misfit(&geometry).is_some() {
        return None;
    }
    s.logical_pages = s.logical_pages.min(most_pages(&s, &set, &geometry)?);
    Some((s, set))
}

/// The most pages that a legal drive with these policies exports.
fn most_pages(s: &Scenario, set: &PolicySet, geometry: &Geometry) -> Option<u32> {
    let own = u64::from(s.gc.stop + 2) * u64::from(geometry.pages_per_block());
    let (kept, _) = set.spare_slots(geometry);
    let unit = u64::from(geometry.slots_per_program());
    let padded = (unit - 1) * geometry.blocks_per_plane() as u64;
    let spare = geometry.planes() as u64 * (own + kept + padded);
    (geometry.pages() as u64).checked_sub(spare).map(|most| most as u32).filter(|most| *most > 0)
}

fn checked(s: &Scenario) -> Result<Seen, Fault> {
    let (_, set) = drawn(s.seed).expect("a seed that was drawn");
    let layouts = set.layouts(&s.geometry());
    Ok(run(s, layouts, || builtin(&set))?.seen)
}

/// The seeds of a range that name a drive.
fn legal(seeds: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    seeds.filter(|seed| drawn(*seed).is_some())
}

fn scenario(seed: u64) -> Scenario {
    drawn(seed).expect("FLOATGATE_SEED names a drive that is refused").0
}

/// How many seeds name each kind with each policy once.
fn all_once() -> u64 {
    (KINDS.len() * policies().len()) as u64
}

/// Whether a kind of drive refuses this policy. A policy that decides from page to page needs pages
/// alone, and modes of other density have their places in wordlines of three bits.
fn is_refused(name: &str, bits: u32, units: UnitSizes) -> bool {
    match name {
        "agcr" | "conflict" | "expected" | "wu" | "mango" => units.pages > 1,
        "ipr" | "hot-low-density" => units.pages > 1 || bits != 3,
        "wom" => units != UnitSizes::PAGE,
        _ => false,
    }
}

#[test]
fn only_what_has_a_reason_is_refused() {
    let (all, kinds) = (policies(), KINDS.len());
    assert!(all.len() > 25 && kinds == 90, "{} policies, {kinds} kinds", all.len());
    for seed in 0..all_once() {
        let (bits, units) = KINDS[seed as usize % kinds];
        let (_, name, _) = &all[seed as usize / kinds];
        let refused = is_refused(name, bits, units);
        assert_eq!(drawn(seed).is_none(), refused, "{name} on {bits} bits, {units:?}");
    }
}

/// Every kind of drive with every policy that it takes, for these rounds: one part of several.
/// `checks`: as in [`Scenario`].
fn part_of(
    rounds: std::ops::Range<u64>,
    (part, parts): (u64, u64),
    checks: Checks,
) -> Option<Seen> {
    let all = all_once();
    let seeds = legal(rounds.start * all..rounds.end * all).filter(|seed| seed % parts == part);
    let scenario = |seed| Scenario { checks, ..scenario(seed) };
    let seen = sweep(seeds, scenario, checked)?;
    assert!(seen.program[Source::Gc] > 10_000 && seen.padding > 10_000, "{seen:?}");
    assert!(seen.absorbed > 1_000 && seen.along > 10_000, "{seen:?}");
    assert!(seen.idle_jobs > 100 && seen.pinned > 100, "{seen:?}");
    Some(seen)
}

#[test]
fn every_unit_with_every_policy_returns_what_was_written_last() {
    println!("{:?}", part_of(0..1, (0, 2), Checks::BySize));
}

#[test]
fn every_other_unit_with_every_policy_returns_what_was_written_last() {
    part_of(0..1, (1, 2), Checks::BySize);
}

/// Ten million checks with the next three, each after an operation.
#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_are_checked_1() {
    millions(0);
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_are_checked_2() {
    millions(1);
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_are_checked_3() {
    millions(2);
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_are_checked_4() {
    millions(3);
}

fn millions(part: u64) {
    if let Some(seen) = part_of(1..6, (part, 4), Checks::EachStep) {
        assert!(seen.checks >= 2_500_000, "{seen:?}");
    }
}

// ── Superblocks ─────────────────────────────────────────────────────────────────────────────────

fn striped(seed: u64) -> Scenario {
    let needs = if seed.is_multiple_of(3) { &Needs::PLAIN } else { &Needs::UNITS };
    Scenario::random(seed, needs).striped()
}

/// Drives with superblocks of some of their dies, or with parity, return the data written last,
/// under any other settings. Half of them have no page more than they need.
fn superblocks(seeds: std::ops::Range<u64>, checks: Checks) -> Option<Seen> {
    let plain = |s: &Scenario| {
        let set = s.set();
        let layouts = Layouts::new(s.shape.pages_per_block);
        Ok(run(s, layouts, || builtin(&set))?.seen)
    };
    sweep(seeds, |seed| Scenario { checks, ..striped(seed) }, plain)
}

#[test]
fn superblocks_and_parity_in_any_legal_drive() {
    let Some(seen) = superblocks(0..130, Checks::BySize) else { return };
    assert!(seen.program[Source::Gc] > 5_000 && seen.program[Source::Wear] > 150, "{seen:?}");
    assert!(seen.program[Source::Parity] > 5_000, "parity was programmed: {seen:?}");
    assert!(seen.pinned > 50 && seen.stalls > 500 && seen.waits > 500, "{seen:?}");
    assert!(seen.dropped > 50 && seen.idle_jobs > 500, "{seen:?}");
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn superblocks_and_parity_in_many_legal_drives() {
    superblocks(130..4_000, Checks::EachStep);
}

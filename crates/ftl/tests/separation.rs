//! Streams: every separation policy in any legal drive returns the data written last, its answers are
//! carried out, and hints never mix.

use crate::support::{
    Checks, Drive, Fault, HintsOf, Needs, Remembering, Scenario, Seen, builtin, sweep, sweep_until,
    work,
};
use ftl::{Ftl, Lpn};
use kernel::{Idx, Rng};
use nand::{Layouts, Source};
use policies::{Family, PolicySet};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// The policy of a seed with its parameters.
fn policy(seed: u64) -> (&'static str, Map<String, Value>) {
    let all = [
        ("shared", json!({})),
        ("hints", json!({ "streams": 3 })),
        ("dac", json!({ "regions": 3 })),
        ("sepbit", json!({})),
        ("hints", json!({ "streams": 2 })),
        ("death-time", json!({ "classes": 3 })),
        ("dac", json!({ "regions": 2 })),
    ];
    let (name, params) = &all[seed as usize % all.len()];
    (name, params.as_object().expect("an object").clone())
}

/// A drive of the seed with the seed's policy; `None`: it is refused.
fn drawn(seed: u64) -> Option<(Scenario, PolicySet)> {
    let needs = if seed.is_multiple_of(3) { Needs::PLAIN } else { Needs::UNITS };
    let needs = Needs { blocks: 12, ..needs };
    let mut s = Scenario::random(seed, &needs).striped();
    let (name, params) = policy(seed);
    // Hints have no urgent streams.
    s.priorities &= name != "hints";
    // Pages that are written at once wait in memory while the map knows their old copies.
    s.immediate &= name != "hints";
    let mut named = s.named();
    named.push((Family::Separation.name().into(), name.into(), params));
    let set = PolicySet::resolve(&named, None).expect("policies that exist");
    let geometry = s.geometry();
    if set.misfit(&geometry).is_some() {
        return None;
    }
    let kept = set.spare_slots(&geometry).0 * geometry.sets() as u64;
    let needed = s.config(Layouts::of(&geometry)).spare_needed() + kept;
    let most = geometry.data_slots().checked_sub(needed).filter(|most| *most > 0)?;
    // Half of the drives have no page more than they need.
    let mut rng = Rng::named(seed, "test/separation");
    let most = (most as u32).min(s.logical_pages);
    s.logical_pages = if rng.below(2) == 0 { most } else { 1 + rng.below(most) };
    s.operations = s.operations.min(600);
    Some((s, set))
}

/// Pages of one superblock have one hint.
fn isolated(ftl: &Ftl<Remembering>, placed: &[u8]) -> Result<(), Fault> {
    let (geometry, map) = (ftl.geometry(), ftl.map());
    let mut of = vec![None; geometry.blocks()];
    for lpn in (0..map.logical_pages()).map(Lpn::from_u32) {
        let Some(ppn) = map.lookup(lpn) else { continue };
        let block = geometry.superblock_of(geometry.block_of(ppn));
        let hint = placed[lpn.index()];
        let known = *of[block.index()].get_or_insert(hint);
        if known != hint {
            let stream = ftl.blocks().stream(block);
            return Err(format!("superblock {block} of {stream:?} has hints {known} and {hint}"));
        }
    }
    Ok(())
}

fn checked(s: &Scenario) -> Result<Seen, Fault> {
    let (_, set) = drawn(s.seed).expect("a seed that was drawn");
    let (name, params) = policy(s.seed);
    let policies = || builtin(&set);
    let config = s.config(Layouts::new(s.shape.pages_per_block));
    let mut ftl = Ftl::new(config, policies());
    if s.seed % 3 == 1 {
        ftl.collect_garbage_above(0.15);
    }
    let mut drive: Drive<Remembering> = Drive::new(ftl, s);
    if name == "hints" {
        let most = params["streams"].as_u64().expect("a number") as u8;
        let placed = vec![0; s.logical_pages as usize];
        let hints = Rc::new(RefCell::new(HintsOf { most, placed }));
        drive.hints = Some(Rc::clone(&hints));
        drive.look = Some(Box::new(move |ftl| isolated(ftl, &hints.borrow().placed)));
    }
    work(s, &mut drive, &policies)?;
    Ok(drive.seen)
}

fn legal(seeds: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    seeds.filter(|seed| drawn(*seed).is_some())
}

fn scenario(seed: u64) -> Scenario {
    drawn(seed).expect("FLOATGATE_SEED names a drive that is refused").0
}

#[test]
fn every_policy_in_any_legal_drive_returns_what_was_written_last() {
    let Some(seen) = sweep(legal(0..210), scenario, checked) else { return };
    assert!(seen.program[Source::Gc] > 10_000 && seen.padding > 1_000, "{seen:?}");
    assert!(seen.program[Source::Wear] > 300 && seen.program[Source::Parity] > 5_000, "{seen:?}");
    assert!(seen.pinned > 50 && seen.stalls > 500 && seen.idle_jobs > 300, "{seen:?}");
}

/// Ten million operations of the host on all drives together, of every policy. Every read is compared,
/// and every page at the end of a drive; hints are looked for in all superblocks now and then.
#[test]
#[ignore = "slow: run by `make verify`"]
fn ten_million_operations_with_hints_never_mix() {
    let seldom = |seed| Scenario { checks: Checks::Seldom, ..scenario(seed) };
    let enough = |seen: &Seen| seen.host_operations() >= 10_000_000;
    let Some(seen) = sweep_until(legal(210..400_000), seldom, checked, enough) else { return };
    println!("{} operations, {seen:?}", seen.host_operations());
    assert!(enough(&seen) && seen.program[Source::Gc] > 1_000_000, "{seen:?}");
    assert!(seen.reads > 2_000_000 && seen.checks > 100_000, "{seen:?}");
}

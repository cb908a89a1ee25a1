//! The FTL against a plain map, in any order in which operations finish. Every read returns the
//! last write, the structure holds after every step, and no write waits for ever.
//!
//! A failure prints the line that replays it. `FLOATGATE_SEED=1000..50000` before that line makes a
//! longer search of it.

use crate::support::{Checks, Fault, Needs, Pattern, Scenario, Seen, builtin, over, run, sweep};
use nand::cells::Bits;
use nand::{Layouts, Source};
use policies::Family;

/// A scenario with the built-in policies over cells that remember.
fn plain(s: &Scenario) -> Result<Seen, Fault> {
    let set = s.set();
    let layouts = Layouts::new(s.shape.pages_per_block);
    let drive = run(s, layouts, || builtin(&set))?;
    // One to collect and one to level wear, for each plane: jobs do not pile up.
    let (jobs, planes) = (drive.most_jobs, drive.ftl.geometry().planes());
    if jobs > 2 * planes {
        return Err(format!("{jobs} jobs at a time, in {planes} planes"));
    }
    Ok(drive.seen)
}

fn random(seed: u64) -> Scenario {
    Scenario::random(seed, &Needs::PLAIN)
}

#[test]
fn any_legal_drive_returns_what_was_written_last() {
    // The last one once found the wear leveller subtracting the greater from the less.
    let Some(seen) = sweep((0..300).chain([447]), random, plain) else { return };
    // The seeds met everything that this is about.
    assert!(seen.program[Source::Gc] > 10_000 && seen.program[Source::Wear] > 1_000, "{seen:?}");
    assert!(seen.pinned > 1_000, "blocks were collected under outstanding reads: {seen:?}");
    assert!(seen.stalls > 1_000 && seen.waits > 100, "writes and jobs waited: {seen:?}");
    assert!(seen.dropped > 100, "pages were overwritten while they moved: {seen:?}");
    assert!(seen.idle_jobs > 1_000 && seen.promoted > 100, "idle work became urgent: {seen:?}");
    assert!(seen.no_victim > 100, "planes had nothing to gain: {seen:?}");
    assert!(seen.trims > 1_000 && seen.unmapped_reads > 1_000, "pages were trimmed: {seen:?}");
    assert!(seen.checks > 100_000 && seen.compared > 1_000_000, "it was looked at: {seen:?}");
}

#[test]
fn bits_are_what_was_written_last_on_every_kind_of_cell() {
    // Bits per cell are drawn with the drive, one to three.
    let on_bits = |s: &Scenario| {
        let set = s.set();
        let layouts = Layouts::new(s.shape.pages_per_block);
        let _cells = over::<Bits>();
        Ok(run(s, layouts, || builtin(&set))?.seen)
    };
    let Some(seen) = sweep(1_000..1_040, random, on_bits) else { return };
    assert!(seen.program[Source::Gc] > 1_000 && seen.compared > 50_000, "{seen:?}");
}

#[test]
fn every_victim_policy_keeps_a_full_drive_writing() {
    let names: Vec<&str> = Family::Victim.policies().iter().map(|p| p.name).collect();
    assert!(names.len() >= 4, "the list has shrunk: {names:?}");
    let scenario = |seed: u64| {
        let victim = names[seed as usize % names.len()];
        Scenario { victim, full: true, trims: 0, ..random(seed) }
    };
    let Some(seen) = sweep(0..60 * names.len() as u64, scenario, plain) else { return };
    assert!(seen.runs >= 240 && seen.erase[Source::Gc] > 10_000, "{seen:?}");
}

#[test]
fn every_static_order_keeps_a_full_drive_writing() {
    let units = ["c", "w", "d", "p"];
    let mut orders = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|b| *b != a) {
            for c in (0..4).filter(|c| *c != a && *c != b) {
                orders.push([units[a], units[b], units[c], units[6 - a - b - c]].concat());
            }
        }
    }
    assert_eq!(orders.len(), 24);
    let scenario = |seed: u64| {
        let order = orders[seed as usize % 24].clone();
        Scenario { placement: order.into(), full: true, ..random(seed) }
    };
    let Some(seen) = sweep(0..192, scenario, plain) else { return };
    assert!(seen.program[Source::Gc] > 10_000 && seen.program[Source::Wear] > 100, "{seen:?}");
}

/// No spare page too many, every frontier in use, and nearly all writes to pages in open blocks.
/// There garbage collection cannot reach the superseded copies.
#[test]
fn the_least_spare_is_enough() {
    let needs = Needs { pages: &[4, 5, 6, 9], ..Needs::PLAIN };
    let scenario = |seed: u64| {
        let s = Scenario::random(seed, &needs);
        let logical_pages = s.most_pages(&needs);
        let gc = ftl::GcMarks { start: 2, stop: 2, ..s.gc };
        let spared = s.gc.stop - gc.stop;
        let mut shape = s.shape;
        shape.blocks_per_plane -= spared;
        Scenario {
            shape,
            gc,
            logical_pages,
            wear: Some(1),
            priorities: seed % 2 == 0,
            placement: if seed % 4 < 2 { "cwdp".into() } else { "dynamic".into() },
            pattern: Pattern::Few,
            full: true,
            trims: 0,
            immediate: false,
            ..s
        }
    };
    let Some(seen) = sweep(0..160, scenario, plain) else { return };
    assert!(seen.stalls > 1_000 && seen.no_victim > 300, "{seen:?}");
}

/// The end of a life is an answer, never a hang: until the drive says that it is worn out, it takes
/// every write.
#[test]
fn a_drive_keeps_writing_until_it_says_that_it_is_worn_out() {
    let scenario = |seed: u64| {
        let s = random(seed);
        let endurance = 2 + seed as u32 % 4;
        // Preconditioning does not wear, so the life begins with the run.
        Scenario { endurance, full: true, filled_at_once: true, trims: 0, operations: 100_000, ..s }
    };
    let Some(seen) = sweep(0..150, scenario, plain) else { return };
    assert!(seen.worn_out == seen.runs && seen.retired > 200, "{seen:?}");
}

#[test]
fn what_is_done_at_once_agrees_too() {
    let scenario = |seed: u64| Scenario { immediate: true, ..random(seed) };
    let Some(seen) = sweep(0..120, scenario, plain) else { return };
    assert!(seen.program[Source::Gc] > 10_000 && seen.idle_jobs > 100, "{seen:?}");
}

/// Mapping units below the page, several pages and several planes to a command.
#[test]
fn pages_that_are_programmed_together_return_what_was_written_last() {
    let scenario = |seed: u64| Scenario::random(seed, &Needs::UNITS);
    let Some(seen) = sweep(0..50, scenario, plain) else { return };
    assert!(seen.program[Source::Gc] > 3_000 && seen.program[Source::Wear] > 300, "{seen:?}");
    assert!(seen.padding > 300 && seen.absorbed > 300 && seen.along > 300, "{seen:?}");
    assert!(seen.pinned > 300 && seen.stalls > 300 && seen.dropped > 30, "{seen:?}");
    assert!(seen.no_victim > 30 && seen.idle_jobs > 300 && seen.trims > 300, "{seen:?}");
}

#[test]
#[ignore = "slow: run by `make verify`"]
fn so_do_those_of_other_drives() {
    let every_step = |s| Scenario { checks: Checks::EachStep, ..s };
    sweep(50..300, |seed| every_step(Scenario::random(seed, &Needs::UNITS)), plain);
    sweep(30..200, |seed| every_step(least_spare_of_units(seed)), plain);
}

/// As `the_least_spare_is_enough`.
#[test]
fn the_least_spare_is_enough_for_program_units() {
    let Some(seen) = sweep(0..30, least_spare_of_units, plain) else { return };
    assert!(seen.stalls > 300 && seen.no_victim > 100, "{seen:?}");
}

fn least_spare_of_units(seed: u64) -> Scenario {
    let s = Scenario::random(seed, &Needs::UNITS);
    let gc = ftl::GcMarks { start: 2, stop: 2, ..s.gc };
    let mut s = Scenario { gc, full: true, trims: 0, immediate: false, ..s };
    s.logical_pages = s.most_pages(&Needs::UNITS);
    Scenario { wear: Some(1), pattern: Pattern::Few, ..s }
}

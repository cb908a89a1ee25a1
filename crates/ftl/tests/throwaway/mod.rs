//! Four policies that exist to be thrown away. Each uses a mechanism that a family of techniques
//! needs, and each, alone and with the others, must keep the answers of the plain map.

mod halved;
mod partly;
mod reprogrammed;
mod rewriter;
mod twice;

use crate::support::{
    Fault, Needs, NoRefresh, Plain, Remembering, Scenario, Seen, Traditional, over, policies_of,
    run, sweep,
};
use ftl::{Coding, Cost, Ftl, Pool, ReadDisturb, State, StreamId, Watch};
use halved::Halved;
use kernel::Idx;
use nand::cells::Bits;
use nand::{BlockId, Layouts, Mode, Source};
use partly::Partly;
use reprogrammed::Reprogrammed;
use rewriter::Rewriter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use twice::Twice;

/// The policies' own counts, summed over all seeds.
#[derive(Default, Debug)]
struct Acts(RefCell<BTreeMap<&'static str, f64>>);

impl Acts {
    fn of(&self, name: &str) -> f64 {
        self.0.borrow().get(name).copied().unwrap_or(0.0)
    }

    /// Runs a scenario with three families of the test's choice, and adds up their acts.
    fn run<C, R, D>(
        &self,
        s: &Scenario,
        layouts: Layouts,
        families: impl Fn() -> (C, R, D),
    ) -> Result<Seen, Fault>
    where
        C: Cost + 'static,
        R: ReadDisturb + 'static,
        D: Coding + 'static,
    {
        self.run_and_look(s, layouts, families, |_| ())
    }

    /// The same, with a last look at the drive.
    fn run_and_look<C, R, D>(
        &self,
        s: &Scenario,
        layouts: Layouts,
        families: impl Fn() -> (C, R, D),
        look: impl Fn(&Ftl<Remembering>),
    ) -> Result<Seen, Fault>
    where
        C: Cost + 'static,
        R: ReadDisturb + 'static,
        D: Coding + 'static,
    {
        let set = s.set();
        let mut drive = run(s, layouts, || {
            let (cost, read_disturb, coding) = families();
            policies_of(&set, cost, read_disturb, coding)
        })?;
        let mut acts = self.0.borrow_mut();
        drive.ftl.policies.each(|w: &mut dyn Watch| {
            for (name, n) in w.counters() {
                *acts.entry(name).or_default() += n;
            }
        });
        *acts.entry("blocks").or_default() += drive.ftl.geometry().blocks() as f64;
        look(&drive.ftl);
        Ok(drive.seen)
    }
}

/// Drives with spare blocks for policies that keep some busy, under hosts that read.
fn drives(blocks: u32, slots_per_cent: u32, pages: &'static [u32]) -> impl Fn(u64) -> Scenario {
    let needs = Needs { blocks, slots_per_cent, pages, ..Needs::PLAIN };
    move |seed| {
        let s = Scenario::random(seed, &needs);
        let (reads, idle) = (s.reads.max(30), s.idle.max(2));
        Scenario { reads, idle, jobs_may_wait: without_fallback(seed), ..s }
    }
}

fn without_fallback(seed: u64) -> bool {
    seed % 3 == 0
}

/// Shadow blocks from the upper half of each plane or from everywhere, with and without a fallback.
fn partly(s: &Scenario, mode: Mode) -> Partly {
    let pool = if s.seed % 2 == 0 { Pool::All } else { Pool::Highest(500) };
    Partly::new(mode, pool, (!without_fallback(s.seed)).then_some(StreamId::GC))
}

fn twice_layouts(s: &Scenario) -> Layouts {
    let pages = s.shape.pages_per_block;
    if s.seed % 4 < 2 { Twice::plain(pages) } else { Twice::two_thirds(pages) }
}

// ── Each alone ──────────────────────────────────────────────────────────────────────────────────

#[test]
fn some_blocks_have_half_the_slots() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let every = 2 + s.seed as u32 % 4;
        let layouts = Halved::layouts(s.shape.pages_per_block);
        let families = || (Traditional, NoRefresh, Halved::every(every));
        // A halved block is worth reclaiming for the slots that it will have, not for its pages.
        acts.run_and_look(s, layouts, families, |ftl| {
            let blocks = (0..ftl.geometry().blocks()).map(BlockId::new);
            for b in blocks.filter(|b| ftl.blocks().state(*b) == State::Closed) {
                let slots = ftl.array().layouts().slots(ftl.array().mode(b));
                assert_eq!(ftl.blocks().gain(b), slots - ftl.blocks().valid(b), "block {b}");
            }
        })
    };
    let scenario = drives(2, 70, &[4, 6, 8, 12, 66]);
    let Some(seen) = sweep(0..200, scenario, run) else { return };
    assert!(acts.of("halved blocks opened") > 5_000.0, "{acts:?}");
    assert!(seen.erase[Source::Gc] > 5_000, "{seen:?}");
}

#[test]
fn every_block_has_a_second_life_before_its_erase() {
    let acts = Acts::default();
    let run =
        |s: &Scenario| acts.run(s, twice_layouts(s), || (Traditional, NoRefresh, Twice::default()));
    let scenario = drives(2, 60, &[3, 6, 7, 8, 9, 12, 66]);
    let Some(seen) = sweep(0..200, scenario, run) else { return };
    let erases = seen.erase.total();
    assert!(seen.second_lives > 5_000, "{seen:?}");
    // Each erase ends a second life; the other blocks are in their first or second.
    assert!(seen.second_lives >= erases, "{} lives, {erases} erases", seen.second_lives);
}

#[test]
fn bits_of_both_generations_read_back() {
    // One bit in a cell: of several, only the first can be written over (`nand::cells`).
    let random = drives(2, 60, &[3, 6, 7, 8, 9, 12, 66]);
    let scenario = |seed| {
        let mut s = random(seed);
        s.shape.bits_per_cell = 1;
        s
    };
    let run = |s: &Scenario| {
        let set = s.set();
        let layouts = Twice::two_thirds(s.shape.pages_per_block);
        let _cells = over::<Bits>();
        let drive =
            run(s, layouts, || policies_of(&set, Traditional, NoRefresh, Twice::default()))?;
        Ok(drive.seen)
    };
    let Some(seen) = sweep(1_000..1_040, scenario, run) else { return };
    assert!(seen.second_lives > 500 && seen.reads > 10_000, "{seen:?}");
}

#[test]
fn pages_are_rewritten_when_their_die_is_idle() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Layouts::new(s.shape.pages_per_block);
        acts.run(s, layouts, || (Rewriter::new(), NoRefresh, Plain))
    };
    let scenario = drives(0, 100, Needs::PLAIN.pages);
    let Some(seen) = sweep(0..200, scenario, run) else { return };
    assert!(seen.program[Source::Rewrite] > 5_000, "{seen:?}");
    assert!(acts.of("levels raised") > 5_000.0, "{acts:?}");
    assert!(acts.of("re-writes asked for") > acts.of("levels raised"), "some were too late");
}

#[test]
fn some_blocks_stay_partly_written_and_are_appended_to() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Layouts::new(s.shape.pages_per_block);
        acts.run(s, layouts, || (Traditional, partly(s, Mode::Full), Plain))
    };
    let scenario = drives(4, 80, &[4, 6, 9, 12, 66]);
    let Some(seen) = sweep(0..200, scenario, run) else { return };
    assert!(seen.program[Source::Refresh] > 5_000, "{seen:?}");
    let share = acts.of("partly written at most") / acts.of("blocks");
    assert!(share > 0.12, "{share} of the blocks were partly written: {acts:?}");
    for act in ["appends", "fresh blocks", "hot blocks", "sealed", "reclaimed for others"] {
        assert!(acts.of(act) > 200.0, "{act}: {acts:?}");
    }
}

#[test]
fn blocks_are_squeezed_in_place() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Layouts::new(s.shape.pages_per_block);
        acts.run(s, layouts, || (Traditional, Reprogrammed::default(), Plain))
    };
    let scenario = drives(1, 75, &[4, 6, 9, 12, 66]);
    let Some(seen) = sweep(0..200, scenario, run) else { return };
    assert!(seen.reprogrammed > 1_000, "{seen:?}");
}

// ── Together ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn rewrites_beside_second_lives() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        acts.run(s, twice_layouts(s), || (Rewriter::new(), NoRefresh, Twice::default()))
    };
    let Some(seen) = sweep(0..80, drives(2, 60, &[3, 6, 8, 9, 66]), run) else { return };
    assert!(seen.program[Source::Rewrite] > 1_000 && seen.second_lives > 1_000, "{seen:?}");
}

#[test]
fn partly_written_blocks_of_low_density() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Layouts::new(s.shape.pages_per_block);
        acts.run(s, layouts, || (Rewriter::new(), partly(s, Mode::LowDensity), Plain))
    };
    let Some(seen) = sweep(0..80, drives(4, 70, &[4, 6, 9, 12, 66]), run) else { return };
    assert!(seen.program[Source::Rewrite] > 1_000, "{seen:?}");
    assert!(acts.of("appends") > 200.0 && acts.of("fresh blocks") > 200.0, "{acts:?}");
}

#[test]
fn partly_written_blocks_among_halved_ones() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Halved::layouts(s.shape.pages_per_block);
        acts.run(s, layouts, || (Traditional, partly(s, Mode::Full), Halved::every(3)))
    };
    let Some(seen) = sweep(0..80, drives(5, 66, &[4, 6, 8, 12, 66]), run) else { return };
    assert!(seen.program[Source::Refresh] > 1_000, "{seen:?}");
    assert!(acts.of("appends") > 200.0 && acts.of("halved blocks opened") > 1_000.0, "{acts:?}");
}

#[test]
fn reprogrammed_blocks_among_halved_ones() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        let layouts = Halved::layouts(s.shape.pages_per_block);
        acts.run(s, layouts, || (Rewriter::new(), Reprogrammed::default(), Halved::every(4)))
    };
    let Some(seen) = sweep(0..80, drives(3, 66, &[4, 6, 8, 12, 66]), run) else { return };
    assert!(seen.reprogrammed > 200 && seen.program[Source::Rewrite] > 500, "{seen:?}");
}

#[test]
fn three_families_at_once() {
    let acts = Acts::default();
    let run = |s: &Scenario| {
        acts.run(s, twice_layouts(s), || (Rewriter::new(), partly(s, Mode::Full), Twice::default()))
    };
    let Some(seen) = sweep(0..120, drives(4, 58, &[3, 6, 8, 9, 12, 66]), run) else { return };
    assert!(seen.program[Source::Rewrite] > 1_000 && seen.second_lives > 1_000, "{seen:?}");
    assert!(seen.program[Source::Refresh] > 1_000 && acts.of("appends") > 200.0, "{acts:?}");
}

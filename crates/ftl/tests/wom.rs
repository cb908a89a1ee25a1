//! The write-once code against a plain map, on cells that remember versions and on cells that hold
//! bits. Data written over a first generation reads back, and data that was not overwritten is
//! unchanged.

use crate::support::{Fault, Needs, Scenario, Seen, builtin, over, run, sweep};
use nand::cells::Bits;
use nand::{Geometry, Layouts, PageOrder, Source};
use policies::{Family, PolicySet};
use serde_json::{Map, json};
use std::cell::Cell;

/// Drives whose blocks have at least three pages that endure a second program, in every order of
/// pages, tight and roomy.
fn coded(seed: u64) -> Scenario {
    let needs =
        Needs { blocks: 2, slots_per_cent: 60, pages: &[8, 9, 12, 16, 64, 66], ..Needs::PLAIN };
    let s = Scenario::random(seed, &needs);
    let mut shape = s.shape;
    let size = shape.pages_per_block;
    let pages = match seed % 3 {
        0 if size % 2 == 0 => PageOrder::Shadow,
        1 if size % 4 == 0 && size > 8 => PageOrder::ShadowPairs,
        _ => PageOrder::Cyclic,
    };
    if pages != PageOrder::Cyclic {
        shape.bits_per_cell = 2;
    }
    Scenario { shape, pages, reads: s.reads.max(20), ..s }
}

/// Pages that were kept in place, over all seeds.
#[derive(Default)]
struct Kept(Cell<u64>);

fn wom(s: &Scenario, kept: &Kept) -> Result<Seen, Fault> {
    let gain = [0.0, 0.3, 0.8][s.seed as usize % 3];
    let params = Map::from_iter([("least-gain".to_owned(), json!(gain))]);
    let mut named = s.named();
    named.push((Family::Coding.name().to_owned(), "wom".to_owned(), params));
    let set = PolicySet::resolve(&named, None).expect("wom takes this setting");
    let geometry = Geometry::new(s.shape).unwrap().with_order(s.pages).unwrap();
    let layouts = Layouts::write_once(&geometry);
    let drive = run(s, layouts, || builtin(&set))?;
    kept.0.set(kept.0.get() + drive.ftl.counts().kept);
    Ok(drive.seen)
}

#[test]
fn what_is_written_twice_reads_back() {
    let kept = Kept::default();
    let Some(seen) = sweep(0..150, coded, |s| wom(s, &kept)) else { return };
    assert!(seen.second_lives > 2_000 && seen.erase.total() > 2_000, "{seen:?}");
    assert!(seen.second_lives <= seen.erase.total() + 10_000 && seen.reads > 10_000, "{seen:?}");
    assert!(kept.0.get() > 2_000, "pages stayed where they were: {}", kept.0.get());
    assert!(seen.program[Source::Wear] > 20 && seen.pinned > 100, "{seen:?}");
}

/// Every bit through cells that can only be raised. `FLOATGATE_SEED=0..5000` makes it longer.
#[test]
fn bits_survive_two_generations() {
    let kept = Kept::default();
    let scenario = |seed: u64| coded(seed + 10_000);
    let Some(seen) = sweep(0..100, scenario, |s| {
        let _cells = over::<Bits>();
        wom(s, &kept)
    }) else {
        return;
    };
    assert!(seen.second_lives > 1_000 && seen.erase.total() > 1_000, "{seen:?}");
    assert!(kept.0.get() > 1_000 && seen.reads > 5_000, "{} {seen:?}", kept.0.get());
}

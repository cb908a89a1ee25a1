//! Mango against a plain map: pages are passed over, and no drive loses a page of its capacity.

use crate::support::{Fault, Needs, Remembering, Scenario, Seen, builtin, run, sweep};
use ftl::{FreePick, PageChoice, Watch};
use kernel::{Dur, Rng};
use nand::{Layouts, PageOrder, Source};
use policies::{Family, PolicySet};
use serde_json::{Map, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The counters of the policies, summed over all seeds.
#[derive(Default, Debug)]
struct Acts(RefCell<BTreeMap<&'static str, f64>>);

impl Acts {
    fn of(&self, name: &str) -> f64 {
        self.0.borrow().get(name).copied().unwrap_or(0.0)
    }
}

/// The settings that pass over most.
fn boldest(seed: u64) -> Map<String, serde_json::Value> {
    let mut rng = Rng::named(seed, "test/mango");
    let collect = ["follow", "on-demand", "slow"][rng.below(3) as usize];
    let fill = [0.95, 0.5][rng.below(2) as usize];
    let settings = json!({
        "bound": 1.0, "gc": collect, "gc-fill": fill, "fast-types": 1 + rng.below(2),
    });
    settings.as_object().expect("a table").clone()
}

fn with_mango(s: &Scenario, params: Map<String, serde_json::Value>) -> PolicySet {
    let mut named = s.named();
    named.push((Family::PageChoice.name().to_owned(), "mango".to_owned(), params));
    PolicySet::resolve(&named, None).expect("mango takes these settings")
}

/// One scenario with Mango: the number of pages passed over never exceeds the policy's bound.
fn mango(s: &Scenario, acts: &Acts, params: Map<String, serde_json::Value>) -> Result<Seen, Fault> {
    let set = with_mango(s, params);
    let times = [Dur::us(300), Dur::us(1_400), Dur::us(2_000), Dur::us(2_000)];
    let policies = || {
        let mut policies: ftl::Policies<Remembering> = builtin(&set);
        policies.page_choice.learn_times(&times);
        policies
    };
    let drive = run(s, Layouts::new(s.shape.pages_per_block), policies)?;
    let counters: BTreeMap<_, _> = drive.ftl.policies.page_choice.counters().into_iter().collect();
    if counters["standing"] > counters["most_standing"] {
        return Err(format!("more lies passed over than may: {counters:?}"));
    }
    if counters["slow_skipped"] as u64 != drive.ftl.counts().skipped {
        // Passed over before the run, when another policy of the same kind was in charge.
        let before = drive.ftl.counts().skipped as f64;
        if counters["slow_skipped"] > before {
            return Err(format!("{before} pages were passed over, counted {counters:?}"));
        }
    }
    let mut acts = acts.0.borrow_mut();
    for (name, n) in counters {
        *acts.entry(name).or_default() += n;
    }
    Ok(drive.seen)
}

/// Drives without a page more than they need, every page written, all writes urgent.
fn tight(seed: u64) -> Scenario {
    let needs = Needs { blocks: 2, pages: &[4, 6, 8, 12, 16, 64, 66], ..Needs::PLAIN };
    let s = Scenario::random(seed, &needs);
    let logical_pages = s.most_pages(&needs);
    let mut shape = s.shape;
    let pages = match seed % 3 {
        0 if shape.pages_per_block % 2 == 0 => PageOrder::Shadow,
        1 if shape.pages_per_block % 4 == 0 => PageOrder::ShadowPairs,
        _ => PageOrder::Cyclic,
    };
    if pages != PageOrder::Cyclic {
        shape.bits_per_cell = 2;
    }
    Scenario { shape, pages, logical_pages, full: true, trims: 0, urgent: Some(100), ..s }
}

#[test]
fn a_full_drive_of_urgent_writes_keeps_its_capacity() {
    let acts = Acts::default();
    let run = |s: &Scenario| mango(s, &acts, boldest(s.seed));
    let Some(seen) = sweep(0..100, tight, run) else { return };
    assert!(acts.of("slow_skipped") > 5_000.0, "{acts:?}");
    assert!(acts.of("gc_high_fast") > 500.0 && acts.of("gc_refused") > 500.0, "{acts:?}");
    assert!(acts.of("host_refused") > 500.0, "the bound was met: {acts:?}");
    assert!(seen.erase[Source::Gc] > 3_000 && seen.compared > 300_000, "{seen:?}");
}

#[test]
fn mixed_priorities_in_any_legal_drive() {
    let acts = Acts::default();
    let needs = Needs { blocks: 2, ..Needs::PLAIN };
    let scenario = |seed: u64| {
        let s = Scenario::random(seed, &needs);
        Scenario { urgent: Some([10, 50][seed as usize % 2]), ..s }
    };
    let run = |s: &Scenario| mango(s, &acts, boldest(s.seed));
    let Some(seen) = sweep(0..50, scenario, run) else { return };
    assert!(acts.of("slow_skipped") > 1_000.0 && acts.of("host_low_slow") > 1_000.0, "{acts:?}");
    assert!(seen.program[Source::Wear] > 20 && seen.reads > 500, "{seen:?}");
}

#[test]
fn without_a_bound_to_spend_nothing_is_passed_over() {
    let acts = Acts::default();
    let none = || Map::from_iter([("bound".to_owned(), json!(0.0))]);
    let run = |s: &Scenario| mango(s, &acts, none());
    let Some(_) = sweep(0..15, tight, run) else { return };
    assert!(acts.of("host_refused") > 200.0 && acts.of("slow_skipped") == 0.0, "{acts:?}");
}

/// Cells of one bit: urgent writes go to the most worn blocks, the others to the least worn.
#[test]
fn single_bit_cells_have_two_write_points() {
    let acts = Acts::default();
    let scenario = |seed: u64| {
        let s = tight(seed);
        let shape = nand::Shape { bits_per_cell: 1, ..s.shape };
        Scenario { shape, pages: PageOrder::Cyclic, urgent: Some(30), ..s }
    };
    let run = |s: &Scenario| mango(s, &acts, Map::new());
    let Some(seen) = sweep(0..20, scenario, run) else { return };
    assert!(acts.of("slow_skipped") == 0.0 && acts.of("host_refused") == 0.0, "{acts:?}");
    assert!(seen.erase[Source::Gc] > 200, "{seen:?}");
}

/// Moved data goes to blocks of little wear if urgent writes choose the worn ones.
#[test]
fn collection_takes_the_least_worn_block_of_single_bit_cells() {
    for (bits_per_cell, pick) in [(1, Some(FreePick::LeastWorn)), (2, None)] {
        let s = tight(0);
        let shape = nand::Shape { bits_per_cell, ..s.shape };
        let geometry = nand::Geometry::new(shape).expect("a drive");
        let set = with_mango(&s, Map::new());
        let mut policies: ftl::Policies<Remembering> = builtin(&set);
        policies.page_choice.attach(&geometry, s.logical_pages);
        assert_eq!(policies.page_choice.gc_pick(), pick, "{bits_per_cell}");
    }
}

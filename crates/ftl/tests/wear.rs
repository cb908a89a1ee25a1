//! Static wear levelling: it bounds the spread of wear where writes are uneven, and costs little.

use crate::support::{Cells, Remembering, builtin};
use ftl::{Config, Ftl, GcMarks, Life, Lpn, Wear};
use kernel::{Bytes, Rng, Time};
use nand::{BlockId, Geometry, Layouts, PlaneId, Shape, Source, Store};
use policies::PolicySet;
use serde_json::Map;

const THRESHOLD: u32 = 16;

/// Rated cycles of the flash, for policies that ask for them.
const RATED: u32 = 1_000;

struct Run {
    /// How far the most worn block of a plane is above its plane's mean at each checkpoint, and
    /// that mean, in cycles.
    above: Vec<(f64, f64)>,
    /// The widest spread of effective cycles within a plane at each checkpoint.
    spreads: Vec<f64>,
    waf: f64,
    /// Programs by the leveller, of all.
    moved_by_wear: f64,
    /// Mean effective cycles at the end.
    mean: f64,
}

fn above(ftl: &Ftl<Remembering>) -> (f64, f64) {
    let planes = (0..ftl.geometry().planes() as u32).map(PlaneId::from_u32);
    let of = |plane: PlaneId| {
        let wear = &ftl.array().wear().as_slice()[ftl.geometry().blocks_of(plane)];
        let mean = wear.iter().map(|&w| f64::from(w)).sum::<f64>() / wear.len() as f64;
        ((f64::from(*wear.iter().max().unwrap()) - mean) / 1e3, mean / 1e3)
    };
    planes.map(of).max_by(|a, b| a.0.total_cmp(&b.0)).expect("a drive has planes")
}

fn spread(ftl: &Ftl<Remembering>) -> f64 {
    let planes = (0..ftl.geometry().planes() as u32).map(PlaneId::from_u32);
    let of = |plane: PlaneId| {
        let wear = &ftl.array().wear().as_slice()[ftl.geometry().blocks_of(plane)];
        (wear.iter().max().unwrap() - wear.iter().min().unwrap()) / 1_000
    };
    f64::from(planes.map(of).max().expect("a drive has planes"))
}

/// A full drive on which nine writes in ten go to a tenth of the pages.
fn hot_cold(wear: &str, seed: u64, checkpoints: u32) -> Run {
    let geometry = Geometry::new(Shape {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 64,
        pages_per_block: 16,
        page_size: Bytes::kib(4),
        bits_per_cell: 1,
    })
    .unwrap();
    let logical_pages = geometry.pages() as u32 * 85 / 100;
    let config = Config {
        geometry,
        layouts: Layouts::new(16),
        logical_pages,
        gc: GcMarks { start: 2, stop: 3, background_stop: 0, one_by_one: false, paced: false },
        endurance: 0,
        seed,
    };
    let mut params = Map::new();
    if wear == "static" {
        params.insert("threshold".into(), THRESHOLD.into());
    }
    let set = PolicySet::resolve(&[("wear".into(), wear.into(), params)], None).unwrap();
    let build = || {
        let mut policies = builtin(&set);
        policies.wear.learn_life(&Life {
            raw_bytes: geometry.pages() as u64 * 4096,
            page_bytes: 4096,
            cycles: RATED,
            recovery: nand::physics::Recovery::PRINTED,
            pushes_back: true,
        });
        policies
    };
    let mut ftl: Ftl<Remembering> = Ftl::new(config, build());
    let write = |ftl: &mut Ftl<_>, lpn: u32| {
        assert!(ftl.write_now(Lpn::from_u32(lpn), Cells::stamp(lpn, 0), Time::ZERO));
    };
    for lpn in 0..logical_pages {
        write(&mut ftl, lpn);
    }
    ftl.begin_run(build());
    let mut rng = Rng::named(seed, "test/hot-cold");
    let (mut spreads, mut over) = (Vec::new(), Vec::new());
    let writes = 60 * geometry.pages() as u32;
    for _ in 0..checkpoints {
        for _ in 0..writes {
            let hot = rng.below(10) > 0;
            let lpn = rng.below(if hot { logical_pages / 10 } else { logical_pages });
            write(&mut ftl, lpn);
        }
        spreads.push(spread(&ftl));
        over.push(above(&ftl));
    }
    ftl.check().unwrap();
    let c = ftl.counts();
    let blocks = (0..geometry.blocks() as u32).map(BlockId::from_u32);
    let cycles: u64 = blocks.map(|b| u64::from(ftl.array().wear()[b])).sum();
    Run {
        spreads,
        above: over,
        waf: c.program.total() as f64 / c.host_pages as f64,
        moved_by_wear: c.program[Source::Wear] as f64 / c.program.total() as f64,
        mean: cycles as f64 / 1_000.0 / geometry.blocks() as f64,
    }
}

#[test]
fn static_wear_levelling_bounds_the_spread_at_small_cost() {
    for seed in 0..4 {
        let (plain, levelled) = (hot_cold("none", seed, 4), hot_cold("static", seed, 4));

        // Without levelling the blocks that hold cold data fall ever further behind.
        assert!(plain.spreads.is_sorted_by(|a, b| a < b), "seed {seed}: {:?}", plain.spreads);
        let threshold = f64::from(THRESHOLD);
        assert!(plain.spreads[3] > 10.0 * threshold, "seed {seed}: {:?}", plain.spreads);

        // With it a spread beyond the threshold ends with the next erases: each moves the data of
        // the block furthest behind. Blocks that fell behind together wait for each other, which
        // lets the others run ahead by a few cycles more.
        for spread in &levelled.spreads {
            assert!(*spread <= 1.5 * threshold, "seed {seed}: {:?}", levelled.spreads);
        }
        assert!(levelled.mean > 20.0 * threshold, "the drive wore for long: {}", levelled.mean);

        // A block's data moves when the block is `THRESHOLD` cycles behind the most worn one. That
        // is at most once in as many cycles of the drive: at most one program in `THRESHOLD`. Moving
        // cold data does not mix it with hot data, so nothing else should cost much more.
        let share = levelled.moved_by_wear;
        assert!(share > 0.0 && share < 1.0 / threshold, "seed {seed}: {share} of all programs");
        let cost = levelled.waf / plain.waf;
        assert!(cost < 1.0 + 1.0 / threshold, "seed {seed}: {} and {}", plain.waf, levelled.waf);
        assert!(plain.moved_by_wear == 0.0);
    }
}

#[test]
fn hot_cold_swapping_tolerates_less_the_older_the_drive_is() {
    for seed in 0..3 {
        let checkpoints = 5;
        let (plain, swapped) =
            (hot_cold("none", seed, checkpoints), hot_cold("hot-cold-swap", seed, checkpoints));
        let mut tightest = f64::INFINITY;
        for (above, mean) in &swapped.above {
            // 85 % of the mean remaining life, or 8 cycles; and as for `static` half as much again,
            // where blocks fell behind together.
            let bound = (0.15 * (f64::from(RATED) - mean)).max(8.0);
            assert!(*above <= 1.5 * bound, "seed {seed}: {:?}", swapped.above);
            tightest = tightest.min(bound);
        }
        // Cold data is moved to worn blocks, so no block lags behind by more than the mean moves
        // while the bound shrinks.
        let last = swapped.spreads[checkpoints as usize - 1];
        assert!(last < 0.5 * plain.spreads[checkpoints as usize - 1], "seed {seed}: {last}");
        assert!(tightest < 0.15 * f64::from(RATED) * 0.8, "the drive did not age: {tightest}");
        let cost = swapped.waf / plain.waf;
        assert!((0.98..1.02).contains(&cost), "seed {seed}: {} and {}", plain.waf, swapped.waf);
        assert!(swapped.moved_by_wear > 0.0);
        println!("{:?} {:?} {:?} {:.4}", swapped.above, swapped.spreads, plain.spreads, cost);
    }
}

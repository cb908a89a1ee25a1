//! Static wear levelling: it bounds the spread of wear where writes are uneven, and costs little.

extern crate floatgate_ftl as ftl;

use ftl::{Config, Ftl, GcMarks, Lpn};
use kernel::{Bytes, Rng, Time};
use nand::{BlockId, Geometry, Layouts, PlaneId, Shape, Source};
use policies::{Builtin, PolicySet};
use serde_json::Map;

const THRESHOLD: u32 = 16;

struct Run {
    /// The widest spread of effective cycles within a plane at each checkpoint.
    spreads: Vec<f64>,
    waf: f64,
    /// Programs by the leveller, of all.
    moved_by_wear: f64,
    /// Mean effective cycles at the end.
    mean: f64,
}

fn spread(ftl: &Ftl<Builtin>) -> f64 {
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
        gc: GcMarks { start: 2, stop: 3, background_stop: 0 },
        endurance: 0,
        seed,
    };
    let mut params = Map::new();
    if wear == "static" {
        params.insert("threshold".into(), THRESHOLD.into());
    }
    let set = PolicySet::resolve(&[("wear".into(), wear.into(), params)], None).unwrap();
    let mut ftl: Ftl<Builtin> = Ftl::new(config, set.build());
    for lpn in 0..logical_pages {
        assert!(ftl.write_now(Lpn::from_u32(lpn), (), Time::ZERO));
    }
    ftl.begin_run(set.build());
    let mut rng = Rng::named(seed, "test/hot-cold");
    let mut spreads = Vec::new();
    let writes = 60 * geometry.pages() as u32;
    for _ in 0..checkpoints {
        for _ in 0..writes {
            let hot = rng.below(10) > 0;
            let lpn = rng.below(if hot { logical_pages / 10 } else { logical_pages });
            assert!(ftl.write_now(Lpn::from_u32(lpn), (), Time::ZERO));
        }
        spreads.push(spread(&ftl));
    }
    ftl.check().unwrap();
    let c = ftl.counts();
    let blocks = (0..geometry.blocks() as u32).map(BlockId::from_u32);
    let cycles: u64 = blocks.map(|b| u64::from(ftl.array().wear()[b])).sum();
    Run {
        spreads,
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

        // A block's data moves when the block is `THRESHOLD` cycles behind the most worn one, so
        // at most once while the drive wears by so much: one program in `THRESHOLD` at the most.
        // Moving cold data does not mix it with hot data, so nothing else should cost much more.
        let share = levelled.moved_by_wear;
        assert!(share > 0.0 && share < 1.0 / threshold, "seed {seed}: {share} of all programs");
        let cost = levelled.waf / plain.waf;
        assert!(cost < 1.0 + 1.0 / threshold, "seed {seed}: {} and {}", plain.waf, levelled.waf);
        assert!(plain.moved_by_wear == 0.0);
    }
}

//! Saved states: of a few small drives. A state that is taken must be sound, and the drive then works.

use ftl::{Config, Ftl, GcMarks, Lpn};
use kernel::{Bytes, Prio, Rng, Time};
use nand::{Geometry, Layouts, Outcome, Shape, Store, Versions};
use policies::{BuiltinWith, Family, PolicySet};
use serde_json::{Map, Value};
use ssd::Preconditioned;

use crate::choice;

type Drive = Ftl<BuiltinWith<Versions>>;

/// Host operations after a state has been taken.
const OPERATIONS: u32 = 300;

/// The drives: planes, blocks of a plane, pages of a block, logical pages, and the policies that
/// differ from the default.
type Small = (u32, u32, u32, u32, &'static [(Family, &'static str, &'static str)]);
const DRIVES: [Small; 5] = [
    (2, 8, 4, 32, &[]),
    (1, 7, 5, 15, &[(Family::Victim, "fifo", "{}")]),
    (
        3,
        7,
        4,
        30,
        &[(Family::Wear, "static", "{\"threshold\": 1}"), (Family::Victim, "random", "{}")],
    ),
    (2, 10, 4, 24, &[(Family::PageChoice, "mango", "{}")]),
    (2, 8, 65, 400, &[(Family::Order, "priority", "{}"), (Family::Placement, "static", "{}")]),
];

fn empty(small: &Small) -> (Drive, PolicySet) {
    let (planes_per_die, blocks_per_plane, pages_per_block, logical_pages, own) = *small;
    let named: Vec<_> = own
        .iter()
        .map(|(family, name, params)| {
            let params: Map<String, Value> = serde_json::from_str(params).expect("parameters");
            (family.name().to_owned(), (*name).to_owned(), params)
        })
        .collect();
    let set = PolicySet::resolve(&named, None).expect("policies that exist");
    let geometry = Geometry::new(Shape {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die,
        blocks_per_plane,
        pages_per_block,
        page_size: Bytes::kib(4),
        bits_per_cell: 1,
    })
    .expect("a small drive");
    let config = Config {
        geometry,
        layouts: Layouts::new(pages_per_block),
        logical_pages,
        gc: GcMarks { start: 2, stop: 2, background_stop: 0, one_by_one: false, paced: false },
        endurance: 0,
        seed: 1,
    };
    (Ftl::new(config, set.build_over()), set)
}

/// Bytes of a state that say which drive it is of.
const HEADER: usize = 44;

fn saved(ftl: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    ftl.save(&mut bytes).expect("memory takes it");
    bytes
}

/// The first byte chooses the drive, the second its later operations. The second also decides whether
/// the words that name the drive are in the input or are put in front. An incomplete word at the end
/// is cut off, and the digest is put right.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let (small, bytes) = choice(bytes);
    let (seed, body) = choice(bytes);
    let (mut ftl, set) = empty(&DRIVES[small % DRIVES.len()]);
    let mut state = Vec::new();
    if seed & 1 == 0 {
        state.extend(&saved(&ftl)[..HEADER]);
    }
    state.extend(body);
    state.truncate(state.len() & !3);
    let words = state.clone();
    ftl::seal(&mut state);
    // In a file, the facts of its making come first.
    if let Some(summary) = body.first_chunk()
        && let Some(known) = Preconditioned::from_bytes(summary)
    {
        assert_eq!(known.to_bytes(), *summary, "nothing was made up");
    }
    if ftl.restore(&mut &state[..]).is_err() {
        return false;
    }
    ftl.check().expect("a state that was taken is sound");
    let again = saved(&ftl);
    assert!(again[..again.len() - 8] == words, "nothing was left out");
    ftl.begin_run(set.build_over());
    work(&mut ftl, seed as u64);
    true
}

/// Writes, reads and trims; every page keeps its last data.
fn work(ftl: &mut Drive, seed: u64) {
    let pages = ftl.map().logical_pages();
    let written = |ftl: &Drive, lpn| ftl.map().lookup(Lpn::from_u32(lpn)).is_some();
    let mut versions: Vec<Option<u32>> = (0..pages).map(|n| written(ftl, n).then_some(0)).collect();
    let mut rng = Rng::named(seed, "fuzz/states");
    let check = |ftl: &mut Drive, versions: &[Option<u32>], n: u32| {
        let (lpn, now) = (Lpn::from_u32(n), Time::ZERO);
        let found = ftl.read(lpn, Prio::Normal, now).and_then(|operation| {
            ftl.concluded(
                lpn,
                || unreachable!("a read writes nothing"),
                &operation,
                Outcome::Done,
                now,
            )
        });
        let expected = versions[n as usize].map(|version| Versions::stamp(n, version.into()));
        assert_eq!(found, expected, "page {n}");
    };
    for i in 1..=OPERATIONS {
        let n = rng.below(pages);
        match rng.below(8) {
            0 => {
                ftl.trim(Lpn::from_u32(n), Time::ZERO);
                ftl.settle(Time::ZERO);
                versions[n as usize] = None;
            }
            1 => check(ftl, &versions, n),
            _ => {
                let data = Versions::stamp(n, i.into());
                assert!(ftl.write_now(Lpn::from_u32(n), data, Time::ZERO), "no room for page {n}");
                versions[n as usize] = Some(i);
            }
        }
        if i % 100 == 0 {
            ftl.check().expect("a sound state stays sound");
        }
    }
    (0..pages).for_each(|n| check(ftl, &versions, n));
}

/// Whole states: filled a little, filled, aged, with holes.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let of = |(i, small): (usize, &Small)| {
        [(8, 0), (100, 0), (100, 10), (100, 137), (60, 50)].map(|(percent, writes)| {
            let (mut ftl, _) = empty(small);
            let pages = small.3 * percent / 100;
            let mut rng = Rng::named(i as u64, "fuzz/age");
            for n in (0..pages).chain((0..writes).map(|_| rng.below(pages.max(1)))) {
                assert!(ftl.write_now(Lpn::from_u32(n), Versions::stamp(n, 0), Time::ZERO));
            }
            if percent == 60 {
                (0..pages / 4).for_each(|n| {
                    ftl.trim(Lpn::from_u32(n * 3), Time::ZERO);
                });
                ftl.settle(Time::ZERO);
            }
            let state = saved(&ftl);
            [&[i as u8, 0], &state[HEADER..state.len() - 8]].concat()
        })
    };
    DRIVES.iter().enumerate().flat_map(of).collect()
}

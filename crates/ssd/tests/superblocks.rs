//! Superblocks across dies, and parity: where units lie; moves, programs and erases; how long they
//! take; and refused settings.

use crate::common::{
    BASE, Memory, Remembering, close, data_of, drive, generate, number, policies_of, read,
    run_with, trim, try_drive, write,
};
use crate::waf::greedy;
use floatgate_ssd::sim::Turn;
use floatgate_ssd::{Client, Drive, NoCache, Session, ftl_of, generator, open_session};
use ftl::{Ftl, Lpn, State};
use kernel::{Dur, Idx, Rng, Time};
use nand::{BlockId, Geometry, Source};
use serde_json::Value;

/// A shape, and the superblocks that it may have, with the number of their blocks.
struct Array {
    name: &'static str,
    settings: &'static [&'static str],
    superblocks: &'static [(&'static str, u32)],
}

/// Dies of one plane, with pages that are programmed alone. Dies of two groups of two planes. Cells of three
/// bits that are programmed at once, with half a page to a map entry.
const ARRAYS: [Array; 3] = [
    Array {
        name: "pages",
        settings: &["geometry.channels=4"],
        superblocks: &[("drive", 4), ("2", 2), ("die", 1)],
    },
    Array {
        name: "groups",
        settings: &[
            "geometry.channels=2",
            "geometry.chips-per-channel=2",
            "geometry.planes-per-die=4",
            "ftl.program-planes=2",
        ],
        superblocks: &[("die", 2), ("2", 4), ("drive", 8)],
    },
    Array {
        name: "wordlines",
        settings: &[
            "geometry.channels=2",
            "geometry.dies-per-chip=2",
            "geometry.bits-per-cell=3",
            "geometry.pages-per-block=12",
            "geometry.page-size=8KiB",
            "ftl.mapping-unit=4KiB",
            "pages.program=wordline",
        ],
        superblocks: &[("2", 2), ("drive", 4)],
    },
];

fn of(array: &Array, superblock: &str, own: &[&str]) -> Drive {
    let superblock = format!("ftl.superblock={superblock}");
    let settings = array.settings.iter().chain(own).copied();
    drive(&settings.chain([&*superblock]).collect::<Vec<_>>())
}

/// The place of a program unit of a superblock: the block, counted over dies first, and the unit there.
fn place(geometry: &Geometry, block: BlockId, slot: u32, dies: u32) -> (u32, u32) {
    let groups = geometry.planes_per_die() as u32;
    let plane = geometry.plane_of(block).as_u32();
    let (die, group) = (plane / groups % dies, plane % groups);
    (group * dies + die, slot / geometry.slots_per_program())
}

// ── Where units lie ─────────────────────────────────────────────────────────────────────────────

/// Pages written in order fill superblocks unit by unit, each on the next die.
#[test]
fn units_lie_on_all_dies_in_stripe_order() {
    for array in &ARRAYS {
        for &(superblock, members) in array.superblocks {
            let drive = of(array, superblock, &["precondition.fill=none"]);
            let what = format!("{} of {superblock}", array.name);
            let geometry = drive.geometry;
            assert_eq!(geometry.superblocks().members(), members, "{what}");
            let dies = members / geometry.planes_per_die() as u32;
            let mut ftl = ftl_of(&drive, policies_of(&drive));
            for page in 0..drive.logical_pages {
                let lpn = Lpn::from_u32(page);
                assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO));
            }
            ftl.flush_buffered_pages(Time::ZERO);
            ftl.check().unwrap();
            // The pages of each superblock, in the order in which they were written.
            let mut filled = std::collections::BTreeMap::<BlockId, Vec<(u32, u32)>>::new();
            let unit = geometry.slots_per_program();
            let mut last = None;
            for page in 0..drive.logical_pages {
                let ppn = ftl.find(Lpn::from_u32(page)).expect("written");
                let (block, slot) = geometry.split(ppn);
                if slot % unit == 0 {
                    let first = geometry.superblock_of(block);
                    filled.entry(first).or_default().push(place(&geometry, block, slot, dies));
                    last = Some(first);
                }
            }
            let units = geometry.pages_per_block() / unit;
            let order: Vec<_> =
                (0..units).flat_map(|row| (0..members).map(move |at| (at, row))).collect();
            assert!(last.is_some() && filled.len() >= 8 / members as usize, "{what}");
            for (first, places) in &filled {
                assert_eq!(places[..], order[..places.len()], "{what}: superblock {first}");
                // The table of blocks says the same.
                for (position, block) in (0..).zip(geometry.superblocks().blocks_of(*first)) {
                    let has = places.iter().filter(|(at, _)| *at == position).count() as u32;
                    assert_eq!(ftl.array().next_page(block), has * unit, "{what}: block {block}");
                }
            }
        }
    }
}

/// A superblock lies on the requested number of dies, and each set of dies has blocks of its own.
#[test]
fn a_superblock_of_one_block_is_a_plane_group() {
    let own = ["geometry.channels=4", "precondition.fill=full", "workload.requests=2000"];
    let results: Vec<Value> = ["plane-group", "die"]
        .map(|superblock| {
            let superblock = format!("ftl.superblock={superblock}");
            let mut settings = own.to_vec();
            settings.push(&superblock);
            generate(&drive(&settings), "random-write")
        })
        .into();
    for key in ["requests", "flash", "waf", "latency_ns", "checks", "end", "policies"] {
        assert_eq!(results[0][key], results[1][key], "{key}");
    }
    assert_eq!(results[1]["capacity"]["superblock_units"], Value::Null);
}

// ── Random drives ───────────────────────────────────────────────────────────────────────────────

/// Any use of any drive with superblocks leaves it sound: in time, with everything that moves data.
#[test]
fn every_mechanism_works_with_superblocks() {
    let mechanisms: [(&str, &[&str]); 11] = [
        ("plain", &[]),
        ("paced", &["ftl.gc.pace=per-write", "ftl.gc.start=3", "ftl.gc.stop=3"]),
        ("idle", &["ftl.gc.background-stop=4", "host.mode=think-time"]),
        ("one by one", &["ftl.gc.foreground=one", "ftl.gc.stop=3", "ftl.gc.background-stop=4"]),
        ("buffer", &["buffer.size=256KiB", "ftl.gc.pace=per-write", "ftl.gc.background-stop=3"]),
        ("volatile", &["buffer.size=64KiB", "buffer.power-loss-protected=false"]),
        ("wear", &["policy wear=static:threshold=1", "policy victim=cost-benefit"]),
        (
            "refresh",
            &[
                "policy read-disturb=refresh:limit=200",
                "workload.read-share=0.9",
                "workload.requests=40000",
            ],
        ),
        ("fixed", &["policy placement=static", "policy victim=fifo"]),
        ("urgent", &["policy order=read-first", "ftl.multi-plane=any", "policy victim=random"]),
        ("worn", &["reliability.endurance=12", "workload.requests=60000"]),
    ];
    let (mut retired, mut moved, mut runs) = (0, 0, 0);
    let kinds = ARRAYS.iter().flat_map(|array| array.superblocks.iter().map(move |of| (array, of)));
    let kinds: Vec<_> = kinds.filter(|(_, (_, members))| *members > 1).collect();
    for (nth, (name, own)) in mechanisms.into_iter().enumerate() {
        for (at, (array, (superblock, members))) in kinds.iter().enumerate() {
            // `make test` runs every third pair: each mechanism, and each kind with a third of them.
            if cfg!(not(feature = "verify")) && (nth + at) % 3 > 0 {
                continue;
            }
            let parity = format!("ftl.parity={}", [0, 2, *members][(nth + at) % 3]);
            let mut all = vec![
                "geometry.blocks-per-plane=40",
                "ftl.spare-factor=0.35",
                "precondition.fill=full",
                "host.mode=queue-depth",
                "host.queue-depth=16",
                "workload.requests=10000",
                &parity,
            ];
            all.retain(|s| !own.iter().any(|o| o.split('=').next() == s.split('=').next()));
            all.extend(own);
            let drive = of(array, superblock, &all);
            let value = generate(&drive, "random-write");
            let what = format!("{name}, {} of {superblock}, {parity}", array.name);
            moved += u32::from(number(&value["flash"]["program"]["gc"]) > 0.0);
            let bad = number(&value["capacity"]["bad_blocks"]);
            retired += u32::from(bad > 0.0);
            let each = drive.geometry.flash_blocks_per_block().get() * u64::from(*members);
            assert!(bad % each as f64 == 0.0, "{what}: superblocks are retired whole");
            runs += 1;
        }
    }
    assert!(moved == runs && retired > 1, "{moved} of {runs} collected, {retired} retired");
}

/// A state that was kept gives the run of a state that is computed.
#[test]
fn a_saved_state_of_superblocks_is_as_good_as_new() {
    let own = ["geometry.blocks-per-plane=64", "ftl.spare-factor=0.3", "precondition.fill=full"];
    let age = ["precondition.age=random", "workload.requests=500", "buffer.size=64KiB"];
    let mut keys = Vec::new();
    for array in &ARRAYS {
        for &(superblock, members) in array.superblocks {
            for parity in [0, members].into_iter().filter(|n| *n != 1) {
                let parity = format!("ftl.parity={parity}");
                let mut all = own.to_vec();
                all.extend(age);
                all.push(&parity);
                let drive = of(array, superblock, &all);
                let mut memory = Memory::default();
                let mut run = || {
                    let made = generator(&drive, "random-write").unwrap();
                    run_with(&drive, made, &mut memory)
                };
                let [mut first, mut again] = [run(), run()];
                assert_eq!((memory.kept, memory.found), (1, 1), "{} of {superblock}", array.name);
                for value in [&mut first, &mut again] {
                    value.as_object_mut().unwrap().remove("provenance");
                }
                assert_eq!(first, again);
                keys.extend(memory.states.into_keys());
            }
        }
    }
    // A state of one kind of superblock is not taken for that of another.
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

// ── Laws ────────────────────────────────────────────────────────────────────────────────────────

/// Slots that take part in collection: as `waf::Array::taking_part`, in superblocks. At the choice of a
/// victim the host's superblock is empty, that of moved pages half full, and one less than `start` is
/// free.
fn taking_part(drive: &Drive) -> f64 {
    let geometry = &drive.geometry;
    let (start, stop) = (drive.ftl.gc.start, drive.ftl.gc.stop);
    let free = f64::from(start - 1 + stop - 1) / 2.0;
    let superblocks = geometry.blocks_per_plane() as f64 - free - 1.0 - 0.5;
    superblocks * geometry.sets() as f64 * f64::from(geometry.data_slots_per_superblock())
}

/// Write amplification of random writes without parity, measured over `passes` of the drive after `warm`.
fn uniform(drive: &Drive, warm: u32, passes: u32) -> (f64, Ftl<Remembering>) {
    let pages = drive.logical_pages;
    let mut ftl = ftl_of(drive, policies_of(drive));
    let put = |ftl: &mut Ftl<_>, page: u32| {
        let lpn = Lpn::from_u32(page);
        assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO), "there is room");
    };
    (0..pages).for_each(|page| put(&mut ftl, page));
    let mut rng = Rng::named(3, "superblocks");
    (0..warm * pages).for_each(|_| put(&mut ftl, rng.below(pages)));
    let before = ftl.counts();
    (0..passes * pages).for_each(|_| put(&mut ftl, rng.below(pages)));
    let after = ftl.counts();
    let data = |counts: &ftl::Counts| counts.program.total() - counts.program[Source::Parity];
    let programs = data(&after) - data(&before);
    let host = after.host_pages - before.host_pages;
    ftl.flush_buffered_pages(Time::ZERO);
    ftl.check().unwrap();
    (programs as f64 / host as f64, ftl)
}

/// Greedy collection of superblocks is greedy's formula for the slots of a superblock and the spare
/// that the reserve leaves. Parity takes capacity, and with the rest the formula is the same.
#[test]
fn write_amplification_is_that_of_the_slots_of_a_superblock() {
    let cases: [(usize, &str, &[&str], f64); 5] = [
        (0, "drive", &["geometry.pages-per-block=16", "geometry.blocks-per-plane=1500"], 0.15),
        (0, "2", &["geometry.pages-per-block=32", "geometry.blocks-per-plane=1500"], 0.2),
        (1, "drive", &["geometry.pages-per-block=16", "geometry.blocks-per-plane=700"], 0.2),
        (2, "drive", &["geometry.pages-per-block=48", "geometry.blocks-per-plane=700"], 0.25),
        (
            0,
            "drive",
            &["geometry.pages-per-block=32", "geometry.blocks-per-plane=1500", "ftl.parity=4"],
            0.15,
        ),
    ];
    for (array, superblock, own, spare) in cases {
        let array = &ARRAYS[array];
        let rough = of(array, superblock, own);
        let logical = (taking_part(&rough) * (1.0 - spare)).round();
        let size = format!("ftl.logical-capacity={}KiB", logical * 4.0);
        let mut all: Vec<&str> = array.settings.iter().chain(own).copied().collect();
        all.push(&size);
        let text = BASE.replace("spare-factor = 0.5\n", "");
        let superblock_setting = format!("ftl.superblock={superblock}");
        all.push(&superblock_setting);
        let drive = crate::common::drive_of(&text, &all);
        let b = drive.geometry.data_slots_per_superblock();
        let rho = f64::from(drive.logical_pages) / taking_part(&drive);
        let (waf, _) = uniform(&drive, 4, 3);
        let what = format!("{} of {superblock}, {b} slots, spare {spare}", array.name);
        close(&what, waf, greedy(b, rho), 0.01);
    }
}

/// Writes in order go at the rate of all dies: a program unit of each at a time.
#[test]
fn sequential_writes_keep_all_dies_busy() {
    for array in &ARRAYS {
        for &(superblock, members) in array.superblocks {
            for parity in [0, members].into_iter().filter(|n| *n != 1) {
                let parity_setting = format!("ftl.parity={parity}");
                let drive = of(
                    array,
                    superblock,
                    &[
                        "geometry.blocks-per-plane=1024",
                        "precondition.fill=none",
                        "host.mode=queue-depth",
                        "host.queue-depth=64",
                        "workload.requests=430",
                        "buffer.size=4MiB",
                        "policy placement=static",
                        &parity_setting,
                    ],
                );
                let value = generate(&drive, "sequential-write");
                let geometry = &drive.geometry;
                let time: f64 = (0..geometry.units().pages).map(|_| 600e-6).sum();
                let unit = f64::from(geometry.slots_per_program());
                let data = if parity == 0 { 1.0 } else { 1.0 - 1.0 / f64::from(parity) };
                // Pages that the drive programs for the host, over the time that its dies needed.
                let programs = number(&value["flash"]["program"]["host"]);
                let rate = programs / number(&value["simulated_seconds"]);
                let what = format!("{} of {superblock}, parity {parity}", array.name);
                close(&what, rate, geometry.dies() as f64 * unit * data / time, 0.01);
            }
        }
    }
}

/// A superblock is emptied by all of its dies at the same time. Each has a share of the reads, of the
/// programs and of the erases.
#[test]
fn the_dies_of_a_superblock_collect_side_by_side() {
    for (array, superblock) in [(0, "drive"), (0, "2"), (1, "drive"), (1, "die"), (2, "drive")] {
        for share in [2, 4] {
            let array = &ARRAYS[array];
            let pages = ["geometry.pages-per-block=256", "geometry.pages-per-block=3072"]
                [usize::from(array.name == "wordlines")];
            let own = [
                pages,
                "geometry.blocks-per-plane=12",
                "ftl.spare-factor=0.5",
                "ftl.gc.background-stop=12",
                "precondition.fill=none",
                "buffer.size=64MiB",
            ];
            let drive = of(array, superblock, &own);
            let geometry = &drive.geometry;
            let (sets, members) = (geometry.sets() as u32, geometry.superblocks().members());
            let slots = geometry.slots_per_superblock();
            let what = format!("{} of {superblock}, one in {share}", array.name);
            // A superblock of each set is written in order. Then all pages are given up but one in
            // `share` rows, on all dies alike, and the rest is collected in idle time.
            let mut session =
                open_session(&drive, Client::Program(&[]), &mut NoCache, &mut |_| true).unwrap();
            let settle = |session: &mut Session| {
                while !matches!(session.advance(None), Turn::Idle | Turn::WornOut) {
                    while session.take_done().is_some() {}
                }
            };
            for page in 0..sets * slots {
                session.arrive(&write(0, u64::from(page)), 0).unwrap();
                settle(&mut session);
            }
            let ftl = session.sim().ftl();
            let places: Vec<_> =
                (0..sets * slots).map(|page| ftl.find(Lpn::from_u32(page)).unwrap()).collect();
            let full = |b: &BlockId| ftl.blocks().state(*b) == State::Closed;
            let victims: Vec<BlockId> = geometry.superblock_ids().filter(full).collect();
            assert_eq!(victims.len(), sets as usize, "{what}");
            let row = geometry.slots_per_page();
            let goes = |page: &u32| {
                let slot = geometry.split(places[*page as usize]).1;
                !(slot / row).is_multiple_of(share)
            };
            let given_up: Vec<u32> = (0..sets * slots).filter(goes).collect();
            let begin = session.sim().now() + Dur::secs(10);
            session.advance(Some(begin));
            for page in given_up {
                session.arrive(&trim(0, u64::from(page)), 0).unwrap();
            }
            // Dies look for work when they have done something.
            let mut asked = vec![false; geometry.dies()];
            for page in (0..sets * slots).filter(|page| !goes(page)) {
                let ppn = session.sim().ftl().find(Lpn::from_u32(page)).unwrap();
                let die = geometry.die_of_slot(ppn).index();
                if !std::mem::replace(&mut asked[die], true) {
                    session.arrive(&read(0, u64::from(page)), 0).unwrap();
                }
            }
            settle(&mut session);
            let end = session.sim().now();
            let counts = session.sim().ftl().counts();
            let (moves, rows) = (sets * slots / share, sets * slots / share / row);
            assert_eq!(counts.moved[Source::Gc], u64::from(moves), "{what}");
            let erases = geometry.flash_blocks_per_block() * u64::from(sets * members);
            assert_eq!(counts.erase[Source::Gc], erases, "{what}: all are erased");
            // A die senses its rows, programs its share of the units, and erases its blocks.
            let units = f64::from(moves) / f64::from(geometry.slots_per_program());
            let program = 600e-6 * f64::from(geometry.units().pages);
            let dies = geometry.dies() as f64;
            let time = 50e-6
                + (f64::from(rows) * 50e-6 + units * program) / dies
                + 3e-3 * f64::from(sets * members) / dies;
            close(&what, (end - begin).as_secs_f64(), time, 0.01);
        }
    }
}

/// One program unit in N holds parity: capacity is (N - 1)/N of that without parity, and each
/// stripe of N - 1 units of data has one of parity.
#[test]
fn parity_is_one_unit_in_so_many() {
    for (array, superblock, one_in) in [
        (0, "drive", 4),
        (0, "drive", 2),
        (0, "2", 2),
        (0, "plane-group", 8),
        (0, "plane-group", 2),
        (1, "drive", 8),
        (1, "die", 2),
        (1, "plane-group", 4),
        (2, "drive", 4),
        (2, "plane-group", 4),
    ] {
        let array = &ARRAYS[array];
        let what = format!("{} of {superblock}, one in {one_in}", array.name);
        let parity = format!("ftl.parity={one_in}");
        let own = ["geometry.blocks-per-plane=64", "ftl.spare-factor=0.4"];
        let without = of(array, superblock, &own);
        let with = of(array, superblock, &[own[0], own[1], &parity]);
        let pages = f64::from(without.logical_pages) * (1.0 - 1.0 / f64::from(one_in));
        close(&what, f64::from(with.logical_pages), pages, 1e-3);
        // A page of the flash is data or parity, and the drive says how much.
        let geometry = &with.geometry;
        assert_eq!(
            geometry.data_slots() * u64::from(one_in),
            geometry.pages() as u64 * u64::from(one_in - 1)
        );
        let stripes = 3 * geometry.slots_per_superblock() / geometry.slots_per_program() / one_in;
        let data = stripes * (one_in - 1) * geometry.slots_per_program();
        let stripe = (one_in - 1) * geometry.slots_per_program();
        for (pages, whole) in
            [(data, stripes), (data - 1, stripes - 1), (stripe, 1), (stripe - 1, 0)]
        {
            let mut ftl = ftl_of(&with, policies_of(&with));
            for page in 0..pages {
                let lpn = Lpn::from_u32(page);
                assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO));
            }
            // A unit that is not full waits in memory, and so does the parity of its stripe.
            let counts = ftl.counts();
            let parity = counts.program[Source::Parity];
            let expected = if geometry.sets() == 1 {
                whole
            } else {
                parity as u32 / geometry.slots_per_program()
            };
            assert_eq!(
                parity,
                u64::from(expected * geometry.slots_per_program()),
                "{what}: {pages}"
            );
            assert!(parity * u64::from(one_in - 1) <= counts.program[Source::Host], "{what}");
            ftl.flush_buffered_pages(Time::ZERO);
            ftl.check().unwrap();
        }
        // Whole stripes have N/(N - 1) programs for each of data, with any moves.
        let (waf, ftl) = uniform(&with, 3, 3);
        let counts = ftl.counts();
        let data = counts.program.total() - counts.program[Source::Parity];
        let open = f64::from(geometry.sets() as u32 * 2 * stripe);
        let off = counts.program[Source::Parity] as f64 * f64::from(one_in - 1) - data as f64;
        assert!(counts.moved[Source::Gc] > 0 && waf > 1.0, "{what}: nothing was moved");
        assert!(off.abs() <= open, "{what}: parity is off by {off} pages of data");
    }
}

/// A collector may give away several units of a block before the first is programmed. Each has its parity, in
/// the order of the block's pages.
#[test]
fn parity_of_units_that_are_given_away_together_is_programmed_in_turn() {
    let mut worn = 0.0;
    for (planes, parity, threshold) in [(4, 2, 1), (4, 3, 4), (2, 2, 1), (1, 2, 1)] {
        let drive = drive(&[
            "geometry.channels=1",
            "geometry.chips-per-channel=1",
            "geometry.pages-per-block=24",
            "geometry.blocks-per-plane=34",
            &format!("geometry.planes-per-die={planes}"),
            &format!("ftl.program-planes={planes}"),
            &format!("ftl.parity={parity}"),
            &format!("policy wear=static:threshold={threshold}"),
            "ftl.over-provisioning=0.8",
            "precondition.fill=full",
            "precondition.age=random",
            "workload.requests=10000",
        ]);
        let value = generate(&drive, "zipf");
        let of = |source: &str| number(&value["flash"]["program"][source]);
        let data = of("host") + of("gc") + of("wear");
        worn += of("wear");
        // A stripe at the begin or at the end of the run may be counted in part.
        let stripes = data / f64::from(parity - 1);
        assert!((of("parity") - stripes).abs() < 0.01 * stripes, "{planes}, {parity}");
    }
    assert!(worn > 0.0);
}

/// The blocks of a superblock wear alike, so dies do too: the difference from the order of
/// superblocks is within one superblock's share.
#[test]
fn dies_wear_alike() {
    for array in &ARRAYS {
        for &(superblock, _) in array.superblocks {
            let own = ["geometry.blocks-per-plane=64", "ftl.spare-factor=0.25"];
            let drive = of(array, superblock, &own);
            let (_, ftl) = uniform(&drive, 0, 6);
            let geometry = &drive.geometry;
            let mut by_die = vec![0_u64; geometry.dies()];
            for block in geometry.block_ids() {
                let erases = ftl.array().erases()[block];
                assert_eq!(erases, ftl.array().erases()[geometry.superblock_of(block)]);
                by_die[geometry.die_of(block).index()] += u64::from(erases);
            }
            let dies = geometry.superblocks().dies() as usize;
            for set in by_die.chunks(dies) {
                assert!(set.iter().all(|n| *n == set[0]) && set[0] > 0, "{by_die:?}");
            }
        }
    }
}

// ── Refused ─────────────────────────────────────────────────────────────────────────────────────

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let four = "geometry.channels=4";
    for (settings, words) in [
        (&[four, "ftl.superblock=3"][..], "`ftl.superblock` is 3 dies, and the drive has 4"),
        (&[four, "ftl.superblock=8"], "a part of them: 1, 2 or 4"),
        (&[four, "ftl.superblock=all"], "is plane-group, die, drive or a number of dies, not"),
        (&[four, "ftl.superblock=0"], "must be at least 1"),
        (&[four, "ftl.superblock=drive", "ftl.parity=3"], "there are 4 blocks of a superblock"),
        (&[four, "ftl.superblock=drive", "ftl.parity=8"], "0, or one of 2, 4"),
        (&[four, "ftl.parity=3"], "there are 8 program units of a block"),
        (&[four, "ftl.parity=1"], "0, or one of 2, 4, 8"),
        (&["ftl.superblock=drive", "ftl.parity=1"], "0, or one of 2, 4, 8"),
        (&[four, "ftl.superblock=drive", "policy read-disturb=redftl"], "`read-disturb=redftl`"),
        (&[four, "ftl.parity=2", "policy page-choice=mango"], "`page-choice=mango` does not fit"),
        (&[four, "ftl.superblock=2", "policy coding=wom"], "`coding=wom` does not fit"),
        (
            &[four, "ftl.superblock=drive", "ftl.spare-factor=0.2"],
            "GC needs 4 free superblocks, this drive has 3.",
        ),
        (&[four, "ftl.superblock=2", "ftl.spare-factor=0.2"], "free superblocks per 2 dies"),
        (
            &[four, "ftl.superblock=drive", "ftl.parity=2", "ftl.spare-factor=0.2"],
            "GC needs 4 free superblocks, this drive has 3.",
        ),
    ] {
        let errors = try_drive(BASE, settings).expect_err(words);
        assert!(errors.contains(words), "{settings:?}: {words:?} is not in\n{errors}");
    }
    let bus = "[timing.bus]\nrate = \"333MT/s\"\nwidth-bits = 8\ncommand = \"300ns\"\n";
    let text = BASE.replace("bus = \"included\"\n", "") + bus;
    let errors = try_drive(&text, &[four, "ftl.copyback=1", "ftl.superblock=drive"]).unwrap_err();
    assert!(errors.contains("`ftl.copyback` moves pages inside a plane"), "{errors}");
    let alone = try_drive(&text, &["ftl.copyback=1", "ftl.superblock=drive"]);
    assert!(alone.is_ok(), "a superblock of one block is one plane group: {alone:?}");
}

//! Superblocks across dies, and parity: where units lie, what is moved, programmed and erased, how long it
//! takes, and what is refused.

use crate::common::{
    BASE, Memory, close, drive, generate, number, run_with, trim, try_drive, warnings, write,
};
use crate::waf::greedy;
use floatgate_ssd::{Drive, NoCache, Session, capacity, ftl_of, generator, open_session};
use ftl::{Ftl, Lpn, State};
use kernel::{Idx, Prio, Rng, Time};
use nand::{BlockId, Geometry, Source};
use serde_json::Value;
use workload::{About, List};

/// A shape, and the superblocks that it may have, with the number of their blocks.
struct Array {
    name: &'static str,
    settings: &'static [&'static str],
    superblocks: &'static [(&'static str, u32)],
}

/// Dies of one plane and pages programmed alone; dies of two groups of planes, programmed two at a time;
/// three bits to a cell, programmed at once, in units of half a page.
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

/// Where a program unit of a superblock lies: the block, counted over dies first, and the unit there.
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
            let mut ftl = ftl_of(&drive, drive.policies.build());
            for page in 0..drive.logical_pages {
                assert!(ftl.write_now(Lpn::from_u32(page), (), Time::ZERO));
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

/// The number of different dies that a superblock lies on is what was asked for, and each set of dies
/// has blocks of its own.
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
    assert_eq!(results[1]["drive"]["superblock_units"], Value::Null);
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
        ("refresh", &["policy read-disturb=refresh:limit=200", "workload.read-share=0.9"]),
        ("fixed", &["policy placement=static", "policy victim=fifo"]),
        ("urgent", &["policy order=read-first", "ftl.multi-plane=any", "policy victim=random"]),
        ("worn", &["reliability.endurance=12", "workload.requests=60000"]),
    ];
    let (mut retired, mut moved, mut runs) = (0, 0, 0);
    for (name, own) in mechanisms {
        for array in &ARRAYS {
            for &(superblock, members) in array.superblocks {
                for parity in [0, members] {
                    if parity == 1 {
                        continue;
                    }
                    let parity = format!("ftl.parity={parity}");
                    let mut all = vec![
                        "geometry.blocks-per-plane=40",
                        "ftl.spare-factor=0.35",
                        "precondition.fill=full",
                        "precondition.age=random",
                        "host.mode=queue-depth",
                        "host.queue-depth=16",
                        "workload.requests=4000",
                        &parity,
                    ];
                    all.retain(|s| !own.iter().any(|o| o.split('=').next() == s.split('=').next()));
                    all.extend(own);
                    let drive = of(array, superblock, &all);
                    let value = generate(&drive, "random-write");
                    let what = format!("{name}, {} of {superblock}, {parity}", array.name);
                    let gc = number(&value["flash"]["program"]["gc"]);
                    moved += u32::from(gc > 0.0);
                    retired += u32::from(number(&value["drive"]["bad_blocks"]) > 0.0);
                    let bad = number(&value["drive"]["bad_blocks"]);
                    let each = f64::from(drive.geometry.superblocks().members())
                        * drive.geometry.flash_blocks_per_block().as_f64();
                    assert_eq!(bad % each, 0.0, "{what}: superblocks are retired whole");
                    runs += 1;
                }
            }
        }
    }
    assert!(moved == runs && retired > 8, "{moved} of {runs} collected, {retired} retired");
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
fn uniform(drive: &Drive, warm: u32, passes: u32) -> (f64, Ftl<floatgate_ssd::Builtin>) {
    let pages = drive.logical_pages;
    let mut ftl = ftl_of(drive, drive.policies.build());
    let mut put = |ftl: &mut Ftl<_>, page: u32| {
        assert!(ftl.write_now(Lpn::from_u32(page), (), Time::ZERO), "there is room");
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

/// Greedy collection of superblocks is greedy's formula for the slots of a superblock and the spare that
/// the reserve leaves. Parity takes capacity, and with what is left the formula is the same.
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
        let mut all = own.to_vec();
        all.push(&size);
        let text = BASE.replace("spare-factor = 0.5\n", "");
        let superblock_setting = format!("ftl.superblock={superblock}");
        all.extend(array.settings);
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
                        "geometry.blocks-per-plane=64",
                        "host.mode=queue-depth",
                        "host.queue-depth=512",
                        "workload.requests=12000",
                        "buffer.size=4MiB",
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
                let rate = programs / number(&value["run"]["simulated_seconds"]);
                let what = format!("{} of {superblock}, parity {parity}", array.name);
                close(&what, rate, geometry.dies() as f64 * unit * data / time, 0.01);
            }
        }
    }
}

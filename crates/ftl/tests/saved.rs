//! A drive that was saved and restored has the future of the one that was saved; damaged bytes are
//! refused.

extern crate floatgate_ftl as ftl;

mod support;

use ftl::{Ftl, Lpn, State};
use kernel::{BitSet, IndexVec, Prio, Rng, Time};
use nand::{BlockId, Layouts, PlaneId, Store, Versions};
use policies::{BuiltinWith, Family, PolicySet};
use serde_json::Map;
use support::{Drive, Fault, Needs, Scenario, Seen, builtin, main_phase, sweep};

type Kit = BuiltinWith<Versions>;

/// Every third drive has cells of one bit and Mango, which writes to streams of its own from the
/// beginning.
fn set_of(s: &Scenario) -> PolicySet {
    let mut named = s.named();
    if s.seed % 3 == 0 {
        named.push((Family::PageChoice.name().to_owned(), "mango".to_owned(), Map::new()));
    }
    PolicySet::resolve(&named, None).expect("policies that exist")
}

fn scenario(seed: u64) -> Scenario {
    let needs = Needs { blocks: if seed % 3 == 0 { 2 } else { 0 }, ..Needs::PLAIN };
    let mut s = Scenario::random(seed, &needs);
    if seed % 3 == 0 {
        s.shape.bits_per_cell = 1;
    }
    s
}

fn empty(s: &Scenario) -> Ftl<Kit> {
    let set = set_of(s);
    Ftl::new(s.config(Layouts::new(s.shape.pages_per_block)), builtin::<Versions>(&set))
}

/// Fills and ages a drive, as preconditioning does, with some holes.
fn aged(s: &Scenario) -> Ftl<Kit> {
    let mut ftl = empty(s);
    let mut rng = Rng::named(s.seed, "test/age");
    let write = |ftl: &mut Ftl<Kit>, lpn: u32| {
        let data = Versions::stamp(lpn, 1);
        assert!(ftl.write_now(Lpn::from_u32(lpn), data, Time::ZERO), "no room for page {lpn}");
    };
    for lpn in 0..s.logical_pages {
        write(&mut ftl, lpn);
    }
    for _ in 0..rng.below(3 * s.logical_pages + 1) {
        let lpn = rng.below(s.logical_pages);
        if rng.below(100) < s.trims {
            ftl.trim(Lpn::from_u32(lpn), Time::ZERO);
        } else {
            write(&mut ftl, lpn);
        }
    }
    ftl.settle(Time::ZERO);
    ftl
}

/// Everything that a later decision may depend on.
fn state(ftl: &Ftl<Kit>) -> impl PartialEq + std::fmt::Debug + use<> {
    let map: Vec<_> =
        (0..ftl.map().logical_pages()).map(|n| ftl.map().lookup(Lpn::from_u32(n))).collect();
    let blocks: Vec<_> = (0..ftl.geometry().blocks() as u32)
        .map(BlockId::from_u32)
        .map(|b| {
            let blocks = ftl.blocks();
            let closed = blocks.state(b) == State::Closed;
            let age = closed.then(|| blocks.closings() - blocks.closed_at(b));
            let (state, next) = (blocks.state(b), ftl.array().next_page(b));
            let writer = (state != State::Free).then(|| (blocks.stream(b), blocks.role(b)));
            (state, blocks.valid(b), blocks.written(b), next, age, writer)
        })
        .collect();
    let free: Vec<_> = (0..ftl.geometry().planes() as u32)
        .map(|p| ftl.free_blocks(PlaneId::from_u32(p)))
        .collect();
    (map, blocks, free, *ftl.counts())
}

#[test]
fn a_restored_drive_has_the_same_future() {
    let scenario = |seed: u64| Scenario { full: true, ..scenario(seed) };
    let run = |s: &Scenario| -> Result<Seen, Fault> {
        let set = set_of(s);
        let original = aged(s);
        let bytes = original.save().expect("a plain and quiet drive can be saved");
        let mut restored = empty(s);
        restored.restore(&bytes).map_err(|e| format!("{e:?}"))?;
        restored.check()?;
        let begun = [original, restored].map(|mut ftl| {
            ftl.begin_run(builtin::<Versions>(&set));
            ftl
        });
        if state(&begun[0]) != state(&begun[1]) {
            return Err("the restored drive is another from the beginning".into());
        }
        let mut drives = begun.map(|ftl| Drive::adopted(ftl, s.taste, s.seed));
        for drive in &mut drives {
            main_phase(s, drive)?;
        }
        let [original, restored] = &drives;
        if state(&original.ftl) == state(&restored.ftl) {
            Ok(original.seen.clone())
        } else {
            Err(format!("{:?}\n{:?}", state(&original.ftl), state(&restored.ftl)))
        }
    };
    // The last one is a drive that was saved while a plane looked in vain for something to gain.
    let Some(seen) = sweep((0..120).chain([691]), scenario, run) else { return };
    assert!(seen.runs == 121 && seen.erase.total() > 10_000, "{seen:?}");
}

#[test]
fn damaged_bytes_are_refused() {
    let mut refused = 0;
    for seed in 0..40 {
        let s = scenario(seed);
        let bytes = aged(&s).save().expect("a plain and quiet drive can be saved");
        let mut rng = Rng::named(seed, "test/damage");
        for kind in 0..60 {
            let mut damaged = bytes.clone();
            match kind % 4 {
                0 => damaged.truncate(rng.below(bytes.len() as u32) as usize),
                1 => damaged[rng.below(bytes.len() as u32) as usize] ^= 1 << rng.below(8),
                2 => {
                    let at = rng.below(bytes.len() as u32 / 4) as usize * 4;
                    damaged[at..at + 4].copy_from_slice(&rng.below(64).to_le_bytes());
                }
                _ => damaged.extend_from_slice(&[rng.below(256) as u8; 4]),
            }
            if damaged == bytes {
                continue;
            }
            let mut ftl = empty(&s);
            match ftl.restore(&damaged) {
                Err(_) => refused += 1,
                Ok(()) => panic!("seed {seed}, damage {kind}: taken for whole; {:?}", ftl.check()),
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

#[test]
fn another_drives_state_is_refused() {
    let s = Scenario::random(1, &Needs::PLAIN);
    let bytes = aged(&s).save().expect("a plain and quiet drive can be saved");
    let mut other = s.clone();
    other.shape.blocks_per_plane += 1;
    assert!(empty(&other).restore(&bytes).is_err());
    other = s.clone();
    other.logical_pages -= 1;
    assert!(empty(&other).restore(&bytes).is_err());
    assert!(empty(&s).restore(&bytes).is_ok());
}

#[test]
fn a_drive_with_work_on_its_way_is_not_saved() {
    let s = Scenario { full: true, ..Scenario::random(3, &Needs::PLAIN) };
    let mut ftl = aged(&s);
    assert!(ftl.save().is_some());
    let dies = ftl.geometry().dies();
    let (waiting, mut idle) = (IndexVec::filled(0, dies), BitSet::new(dies));
    (0..dies).for_each(|d| idle.set(d));
    let lpn = Lpn::from_u32(0);
    let ppn = ftl.write(lpn, Prio::Normal, &waiting, &idle, Time::ZERO).expect("room for a page");
    assert!(ftl.save().is_none(), "a program is on its way");
    let tag = nand::Tag::of(nand::Source::Host);
    ftl.program_done(lpn, ppn, Versions::stamp(0, 2), tag, Time::ZERO);
    ftl.settle(Time::ZERO);
    assert!(ftl.save().is_some());
    let ppn = ftl.read(lpn, Time::ZERO).expect("it was written");
    assert!(ftl.save().is_none(), "a read is on its way");
    ftl.read_done(ppn);
    assert!(ftl.save().is_some());
}

//! A drive that was saved and restored has the future of the one that was saved. Damaged bytes are
//! refused. Forged bytes are refused too, unless a drive can be in the state that they describe.

use crate::support::{
    Cells, Drive, Fault, Needs, Remembering, SMALL, Scenario, Seen, builtin, host_done, main_phase,
    small_config, sweep,
};
use ftl::{Ftl, HostTag, Lpn, State, Waiting, seal};
use kernel::{BitSet, Rng, Time};
use nand::{BlockId, Layouts, PlaneId, Store};
use policies::{Family, PolicySet};
use serde_json::Map;
use std::cell::RefCell;
use std::collections::BTreeMap;

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
    let needs = match seed % 3 {
        0 => Needs { blocks: 2, ..Needs::PLAIN },
        1 => Needs { rounds: 3, ..Needs::UNITS },
        _ => Needs::PLAIN,
    };
    let mut s = Scenario::random(seed, &needs);
    if seed % 3 == 0 {
        s.shape.bits_per_cell = 1;
    }
    s
}

fn empty(s: &Scenario) -> Ftl<Remembering> {
    let set = set_of(s);
    Ftl::new(s.config(Layouts::new(s.shape.pages_per_block)), builtin(&set))
}

/// Fills and ages a drive, as preconditioning does, with some holes.
fn aged(s: &Scenario) -> Ftl<Remembering> {
    let mut ftl = empty(s);
    let mut rng = Rng::named(s.seed, "test/age");
    let write = |ftl: &mut Ftl<Remembering>, lpn: u32| {
        let data = Cells::stamp(lpn, 1);
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
    ftl.flush_buffered_pages(Time::ZERO);
    ftl.settle(Time::ZERO);
    ftl
}

/// The state of a quiet drive.
fn saved(ftl: &Ftl<Remembering>) -> Vec<u8> {
    let mut bytes = Vec::new();
    ftl.save(&mut bytes).expect("memory takes all");
    bytes
}

/// Everything that a later decision may depend on.
fn state(ftl: &Ftl<Remembering>) -> impl PartialEq + std::fmt::Debug + use<> {
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
    (map, blocks, free, ftl.counts())
}

#[test]
fn a_restored_drive_has_the_same_future() {
    let scenario = |seed: u64| Scenario { full: true, ..scenario(seed) };
    let run = |s: &Scenario| -> Result<Seen, Fault> {
        let set = set_of(s);
        let original = aged(s);
        let bytes = saved(&original);
        let mut restored = empty(s);
        restored.restore(&mut &bytes[..]).map_err(|e| format!("{e:?}"))?;
        restored.check()?;
        let begun = [original, restored].map(|mut ftl| {
            ftl.begin_run(builtin(&set));
            ftl
        });
        if state(&begun[0]) != state(&begun[1]) {
            return Err("the restored drive is another from the beginning".into());
        }
        let mut drives = begun.map(|ftl| Drive::adopted(ftl, s));
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

/// The first drives of that search, before they do anything.
#[test]
fn a_restored_drive_begins_where_the_saved_one_was() {
    for s in (0..6).map(|seed| Scenario { full: true, ..scenario(seed) }) {
        let original = aged(&s);
        let mut restored = empty(&s);
        restored.restore(&mut &saved(&original)[..]).expect("its own state");
        let begun = [original, restored].map(|mut ftl| {
            ftl.begin_run(builtin(&set_of(&s)));
            state(&ftl)
        });
        assert_eq!(begun[0], begun[1], "seed {}", s.seed);
    }
}

/// Seven blocks of eight are full, and nothing can be gained: the plane has no victim, until a page dies.
#[test]
fn a_plane_that_starves_does_so_when_it_is_restored() {
    let config = small_config(SMALL, 28, 2);
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let empty = || Ftl::<Remembering>::new(config.clone(), builtin(&set));
    let mut original = empty();
    for lpn in 0..28 {
        let data = Cells::stamp(lpn, 1);
        assert!(original.write_now(Lpn::from_u32(lpn), data, Time::ZERO));
    }
    assert_eq!(original.counts().no_victim, 1);
    let mut restored = empty();
    restored.restore(&mut &saved(&original)[..]).expect("its own state");
    for mut ftl in [original, restored] {
        assert!(!ftl.has_ready());
        ftl.trim(Lpn::from_u32(9), Time::ZERO);
        assert!(ftl.has_ready(), "garbage collection has something to gain");
        ftl.settle(Time::ZERO);
        assert_eq!(ftl.free_blocks(PlaneId::from_u32(0)), 1);
        assert_eq!(ftl.blocks().state(BlockId::from_u32(2)), State::Free);
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let mut refused = 0;
    for seed in 0..40 {
        let s = scenario(seed);
        let bytes = saved(&aged(&s));
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
            match ftl.restore(&mut &damaged[..]) {
                Err(_) => refused += 1,
                Ok(()) => panic!("seed {seed}, damage {kind}: taken for whole; {:?}", ftl.check()),
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

/// The words of a saved state, and where its parts begin.
struct Forger {
    words: Vec<u32>,
    blocks: usize,
    frontiers: usize,
    /// The length of each plane's free list stands there, the blocks after it.
    free: Vec<usize>,
    owners: usize,
    /// The slots of pages.
    places: usize,
}

const HEADER: usize = 15;
/// Words of a block.
const BLOCK: usize = 3;
const NOBODY: u32 = u32::MAX;

impl Forger {
    fn of(s: &Scenario, bytes: &[u8]) -> Self {
        let geometry = s.geometry();
        let (planes, per_plane) = (geometry.planes(), geometry.blocks_per_plane());
        let bytes = &bytes[..bytes.len() - 8];
        let words: Vec<u32> =
            bytes.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
        let blocks = HEADER + 1;
        let frontiers = blocks + BLOCK * planes * per_plane + 1;
        let mut at = frontiers + words[frontiers - 1] as usize * planes;
        let free = (0..planes)
            .map(|_| {
                let here = at;
                at += 1 + (words[at] & 0x7fff_ffff) as usize;
                here
            })
            .collect();
        let places = at + planes * per_plane * geometry.pages_per_block() as usize;
        assert_eq!(words.len() - places, s.logical_pages as usize);
        Self { words, blocks, frontiers, free, owners: at, places }
    }

    /// Lets the slots of pages follow from the owners of slots.
    fn agree(&mut self) {
        let (before, places) = self.words.split_at_mut(self.places);
        let owners = &before[self.owners..];
        places.fill(NOBODY);
        for (slot, owner) in (0..).zip(owners) {
            if let Some(place) = places.get_mut(*owner as usize) {
                *place = slot;
            }
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        seal(&mut bytes);
        bytes
    }

    /// Forges the state in one of the ways of [`FORGERIES`], somewhere.
    fn forge(&mut self, s: &Scenario, way: usize, rng: &mut Rng) {
        let mut any = |from: usize, to: usize| from + rng.below((to - from) as u32) as usize;
        let (len, places) = (self.words.len(), self.places);
        let block = self.blocks + BLOCK * any(0, (self.frontiers - 1 - self.blocks) / BLOCK);
        let frontier = any(self.frontiers, self.free[0].max(self.frontiers + 1));
        let plane = any(0, self.free.len());
        let (free, slot, other) =
            (self.free[plane], any(self.owners, places), any(self.owners, places));
        let listed = (self.words[free] & 0x7fff_ffff) as usize;
        let pages = s.geometry().pages_per_block() as usize;
        let small = any(0, 1 + len) as u32;
        let words = &mut self.words;
        match way {
            0 => words[any(HEADER, len)] = small,
            1 => words[any(HEADER, len)] ^= 1 << any(0, 32),
            2 => words.swap(any(HEADER, len), any(HEADER, len)),
            3 => words.swap(slot, other),
            4 => words[slot] = NOBODY,
            5 => words[slot] = any(0, s.logical_pages as usize) as u32,
            6 => words[free] ^= 1 << 31,
            7 => words[block + 2] = any(0, words[HEADER] as usize + 2) as u32,
            8 => words[block] ^= (1 + any(0, 7) as u32) << 8,
            9 => words[block + 1] = any(0, pages + 1) as u32,
            10 => words[block] = words[block] & !0xff | any(0, 6) as u32,
            11 => words[frontier] = NOBODY,
            12 => words[frontier] = ((block - self.blocks) / BLOCK) as u32,
            13 if listed > 1 => words.swap(free + 1, free + listed),
            14 if listed > 1 => words[free + 1] = words[free + 2],
            15 if listed > 0 => {
                words.remove(free + 1);
                words[free] -= 1;
                self.owners -= 1;
                self.places -= 1;
            }
            16 => words[HEADER] = words[HEADER].wrapping_add(small),
            17 => words.push(small),
            18 => {
                // A block is freed as a thief would: its pages are gone, its words are zero.
                let b = (block - self.blocks) / BLOCK;
                words[block..block + BLOCK].fill(0);
                let first = self.owners + b * pages;
                words[first..first + pages].fill(NOBODY);
                words.insert(free + 1, b as u32);
                words[free] += 1;
                self.owners += 1;
                self.places += 1;
            }
            19 => words.truncate(any(0, len)),
            20 => words.swap(any(places, len), any(places, len)),
            _ => words[any(places, len)] = small,
        }
        // A forged list of owners goes with forged slots of pages.
        if (3..19).contains(&way) {
            self.agree();
        }
    }
}

/// In how many ways [`Forger::forge`] forges.
const FORGERIES: usize = 22;

#[test]
fn a_forged_state_is_refused_or_a_drive_can_be_in_it() {
    // Of each way: how many were refused, and how many taken.
    let ways = RefCell::new(BTreeMap::<usize, [u32; 2]>::new());
    let scenario = |seed: u64| {
        let s = scenario(seed);
        Scenario { full: true, operations: s.operations.min(250), ..s }
    };
    let run = |s: &Scenario| -> Result<Seen, Fault> {
        let bytes = saved(&aged(s));
        let mut rng = Rng::named(s.seed, "test/forge");
        let mut seen = Seen::default();
        assert_eq!(Forger::of(s, &bytes).bytes(), bytes, "nothing is forged");
        for i in 0..3 * FORGERIES {
            let way = i % FORGERIES;
            let mut words = Forger::of(s, &bytes);
            words.forge(s, way, &mut rng);
            let forged = words.bytes();
            if forged == bytes {
                continue;
            }
            let mut ftl = empty(s);
            let taken = ftl.restore(&mut &forged[..]).is_ok();
            ways.borrow_mut().entry(way).or_default()[usize::from(taken)] += 1;
            if !taken {
                continue;
            }
            let what = |e: String| format!("forged in way {way}: {e}");
            ftl.check().map_err(what)?;
            if saved(&ftl) != forged {
                return Err(what("it says more than the drive is in".into()));
            }
            ftl.begin_run(builtin(&set_of(s)));
            let mut drive = Drive::adopted(ftl, s);
            main_phase(s, &mut drive).map_err(what)?;
            seen.add(&drive.seen);
        }
        Ok(seen)
    };
    if sweep((0..60).chain([691]), scenario, run).is_none() {
        return;
    }
    let ways = ways.into_inner();
    let sum = |taken: usize| ways.values().map(|counts| counts[taken]).sum::<u32>();
    assert!(ways.len() == FORGERIES && sum(0) > 1_000 && sum(1) > 300, "{ways:?}");
    // States that a drive cannot be in. Examples: a page in no block, two frontiers in one block,
    // an owner without a slot. Others: a block twice in the list or missing, words beyond the end,
    // and a page with another's slot.
    for way in [10, 11, 14, 15, 17, 19, 20, 21] {
        assert_eq!(ways[&way][1], 0, "way {way}: {ways:?}");
    }
    // States that any drive can be in: pages that changed places, a page that was trimmed, another
    // order.
    for way in [3, 4, 13] {
        assert!(ways[&way][1] > 10, "way {way}: {ways:?}");
    }
}

#[test]
fn another_drives_state_is_refused() {
    let s = Scenario::random(1, &Needs::PLAIN);
    let bytes = saved(&aged(&s));
    let mut other = s.clone();
    other.shape.blocks_per_plane += 1;
    assert!(empty(&other).restore(&mut &bytes[..]).is_err());
    other = s.clone();
    other.logical_pages -= 1;
    assert!(empty(&other).restore(&mut &bytes[..]).is_err());
    assert!(empty(&s).restore(&mut &bytes[..]).is_ok());
}

/// All blocks of a plane may be free.
#[test]
fn an_empty_drive_is_a_state() {
    let s = Scenario::random(1, &Needs::PLAIN);
    let bytes = saved(&empty(&s));
    let mut restored = empty(&s);
    assert!(restored.restore(&mut &bytes[..]).is_ok());
    assert_eq!(state(&restored), state(&empty(&s)));
    assert_eq!(saved(&restored), bytes);
}

#[test]
fn a_drive_with_work_on_its_way_is_not_saved() {
    let s = Scenario { full: true, ..Scenario::random(3, &Needs::PLAIN) };
    let mut ftl = aged(&s);
    assert!(ftl.can_be_saved());
    let dies = ftl.geometry().dies();
    let (waiting, mut idle) = (Waiting::nothing(dies), BitSet::new(dies));
    (0..dies).for_each(|d| idle.set(d));
    let lpn = Lpn::from_u32(0);
    let program = ftl.write(lpn, HostTag::default(), &waiting, &idle, Time::ZERO).expect("room");
    assert!(!ftl.can_be_saved(), "a program is on its way");
    host_done(&mut ftl, lpn, Cells::stamp(0, 2), &program, Time::ZERO);
    ftl.settle(Time::ZERO);
    assert!(ftl.can_be_saved());
    let read = ftl.read(lpn, kernel::Prio::Normal, Time::ZERO).expect("it was written");
    assert!(!ftl.can_be_saved(), "a read is on its way");
    let found = host_done(&mut ftl, lpn, Cells::stamp(0, 3), &read, Time::ZERO);
    assert_eq!(found, Some(Cells::stamp(0, 2)));
    assert!(ftl.can_be_saved());
}

/// Pages are filled plane by plane, and end where they would one after the other.
#[test]
fn filling_many_pages_at_once_is_filling_each() {
    for seed in 0..300 {
        let s = Scenario { full: true, ..scenario(seed) };
        let mut rng = Rng::named(seed, "test/fill");
        let holes = rng.below(3);
        let pages: Vec<_> = (0..s.logical_pages).filter(|_| rng.below(5) >= holes).collect();
        let lpns = || pages.iter().copied().map(Lpn::from_u32);
        let data = |lpn: Lpn| Cells::stamp(lpn.as_u32(), 0);
        let (mut each, mut all) = (empty(&s), empty(&s));
        assert!(lpns().all(|lpn| each.write_now(lpn, data(lpn), Time::ZERO)), "seed {seed}");
        // In two parts, as somebody who tells how far it is does.
        let half = rng.below(s.logical_pages) as usize;
        for part in [lpns().take(half).collect::<Vec<_>>(), lpns().skip(half).collect()] {
            all.write_all_now(part.into_iter(), data, Time::ZERO).expect("there is room");
        }
        let ended = [each, all].map(|mut ftl| {
            ftl.flush_buffered_pages(Time::ZERO);
            ftl.settle(Time::ZERO);
            ftl.check().unwrap();
            ftl
        });
        let [each, all] = ended.each_ref().map(|ftl| (saved(ftl), state(ftl)));
        assert_eq!(each, all, "seed {seed}");
    }
}

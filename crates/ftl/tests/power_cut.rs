//! Power fails in the middle of a second-generation program, in drives at work.
//!
//! A program raises cells, and when power fails some stand where they were to go, some where they
//! were, and cells of several bits somewhere between. What is then read is decoded like any other
//! page, so a page has to say for itself whether it is whole: its checksum lies on it in the same
//! code, and is programmed with it. The mapping and what waits in the controller survive, as the
//! write buffer does.

extern crate floatgate_ftl as ftl;

mod support;

use kernel::{IndexVec, Rng};
use nand::cells::Bits;
use nand::{BlockId, Geometry, Layouts, Mode, PageOrder, Ppn, Store};
use policies::{Family, PolicySet};
use serde_json::{Map, json};
use std::cell::RefCell;
use support::{Needs, Scenario, builtin, run, sweep};

/// What was found after the cuts.
#[derive(Copy, Clone, Default, Debug)]
struct Found {
    cuts: u64,
    /// The page that was being written: as before, as it was to be, or known to be broken.
    old: u64,
    new: u64,
    broken: u64,
    /// Other pages of the block that read as they were written.
    whole: u64,
    /// Others that are known to be broken, and those of them that were the latest of their data.
    lost: u64,
    latest_lost: u64,
}

thread_local! {
    static FOUND: RefCell<Found> = const { RefCell::new(Found {
        cuts: 0, old: 0, new: 0, broken: 0, whole: 0, lost: 0, latest_lost: 0,
    }) };
    /// The latest write of each logical page.
    static LATEST: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// CRC-32C, bit by bit.
fn checksum(data: u32) -> u32 {
    let mut sum = !data;
    for _ in 0..32 {
        sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    }
    !sum
}

/// The data of a page, if it is whole.
fn opened(page: u64) -> Option<u32> {
    let (data, sum) = (page as u32, (page >> 32) as u32);
    (checksum(data) == sum).then_some(data)
}

const ORDER_BITS: u32 = 20;

/// Cells on which every few second-generation programs are tried with a loss of power first, on a
/// copy; the run goes on with the whole one.
struct Cut {
    bits: Bits,
    geometry: Geometry,
    /// What each slot holds.
    written: IndexVec<Ppn, Option<u64>>,
    second: IndexVec<BlockId, bool>,
    rng: Rng,
}

impl Cut {
    fn try_a_cut(&mut self, ppn: Ppn, page: u64) {
        let block = self.geometry.block_of(ppn);
        let after = self.bits.cut_short(ppn, page, &mut self.rng);
        let mut found = FOUND.with_borrow(|f| *f);
        found.cuts += 1;
        for slot in 0..self.geometry.pages_per_block() {
            let at = self.geometry.ppn(block, slot);
            let Some(before) = self.written[at] else { continue };
            let read = after.read(at);
            match opened(read) {
                None if at == ppn => found.broken += 1,
                None => {
                    found.lost += 1;
                    let (owner, data) = (before as u32 >> ORDER_BITS, before as u32);
                    let latest = LATEST.with_borrow(|l| l[owner as usize] as u32);
                    found.latest_lost += u64::from(latest == data);
                }
                Some(_) if at == ppn => {
                    assert!(read == before || read == page, "slot {slot}: nobody wrote this");
                    found.old += u64::from(read == before);
                    found.new += u64::from(read == page);
                }
                Some(_) => {
                    assert_eq!(read, before, "slot {slot}: nobody wrote this");
                    found.whole += 1;
                }
            }
        }
        FOUND.with_borrow_mut(|f| *f = found);
    }
}

impl Store for Cut {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        assert!(owner < 1 << (32 - ORDER_BITS) && order < 1 << ORDER_BITS, "too long for a test");
        let data = owner << ORDER_BITS | order as u32;
        let page = u64::from(checksum(data)) << 32 | u64::from(data);
        LATEST.with_borrow_mut(|latest| latest[owner as usize] = page);
        page
    }

    fn is_of(page: u64, owner: u32) -> bool {
        opened(page).is_some_and(|data| data >> ORDER_BITS == owner)
    }

    fn new(geometry: &Geometry, layouts: &Layouts) -> Self {
        LATEST.with_borrow_mut(|latest| *latest = vec![0; 1 << (32 - ORDER_BITS)]);
        Self {
            bits: Bits::new(geometry, layouts),
            geometry: *geometry,
            written: IndexVec::filled(None, geometry.pages()),
            second: IndexVec::filled(false, geometry.blocks()),
            rng: Rng::named(geometry.pages() as u64, "test/power-cut"),
        }
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        if self.second[self.geometry.block_of(ppn)] && self.rng.below(4) == 0 {
            self.try_a_cut(ppn, page);
        }
        self.bits.write(ppn, page);
        self.written[ppn] = Some(page);
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.bits.read(ppn)
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        for slot in 0..self.geometry.pages_per_block() {
            self.written[self.geometry.ppn(block, slot)] = None;
        }
        self.second[block] = false;
        self.bits.erase(block, mode);
    }

    fn set_mode(&mut self, block: BlockId, mode: Mode) {
        self.bits.set_mode(block, mode);
    }

    fn begin_second_generation(&mut self, block: BlockId) {
        self.second[block] = true;
        self.bits.begin_second_generation(block);
    }
}

fn cut(order: PageOrder, bits: u32, seeds: std::ops::Range<u64>) -> Option<Found> {
    FOUND.with_borrow_mut(|f| *f = Found::default());
    let scenario = |seed: u64| {
        let needs = Needs { blocks: 2, slots_per_cent: 60, pages: &[16, 64], ..Needs::PLAIN };
        let mut s = Scenario::random(seed, &needs);
        s.shape.bits_per_cell = bits;
        Scenario { pages: order, ..s }
    };
    let seen = sweep(seeds, scenario, |s| {
        let named = [(
            Family::Coding.name().to_owned(),
            "wom".to_owned(),
            Map::from_iter([("least-gain".to_owned(), json!(0.3))]),
        )];
        let named: Vec<_> = s.named().into_iter().chain(named).collect();
        let set = PolicySet::resolve(&named, None).expect("wom takes this setting");
        let geometry = Geometry::new(s.shape).unwrap().with_order(s.pages).unwrap();
        let drive = run(s, Layouts::write_once(&geometry), || builtin::<Cut>(&set))?;
        Ok(drive.seen)
    })?;
    assert!(seen.second_lives > 500, "{seen:?}");
    Some(FOUND.with_borrow(|f| *f))
}

/// `FLOATGATE_SEED=0..2000` makes it longer, here and below.
#[test]
fn a_page_of_single_bits_is_old_new_or_broken_and_no_other_is_touched() {
    let Some(found) = cut(PageOrder::Cyclic, 1, 0..24) else { return };
    assert!(found.cuts > 2_000 && found.whole > 20_000, "{found:?}");
    assert!(found.old > 100 && found.new > 20, "{found:?}");
    // Without a checksum these would read as something.
    assert!(found.broken > 1_500, "{found:?}");
    assert_eq!((found.lost, found.latest_lost), (0, 0));
}

/// A first bit on its way from 1 to 0 may pass levels that mean another second bit, and valid pages
/// that are not coded stay where they are: so some are lost, with their host knowing nothing of it
/// until they are read. They are known to be broken then.
#[test]
fn pages_that_share_the_cells_are_whole_or_known_to_be_broken() {
    for order in [PageOrder::Shadow, PageOrder::ShadowPairs] {
        let Some(found) = cut(order, 2, 0..24) else { return };
        assert!(found.cuts > 800 && found.whole > 8_000 && found.broken > 500, "{found:?}");
        let lost = found.latest_lost as f64 / found.cuts as f64;
        assert!(lost > 0.01 && lost < 0.1, "{found:?}");
    }
}

//! Power fails in the middle of a program, in drives at work. They program second generations, and
//! pages that share their cells with others, in the same command or in an earlier one.
//!
//! A program raises cells, and when power fails some stand where they were to go, some where they
//! were, and cells of several bits somewhere between. A page that is read afterwards is decoded
//! like any other, so it must prove itself that it is whole. Its checksum is in the page, in the
//! same code, and is programmed with it. The mapping and the pages that wait in the controller
//! survive, as the write buffer does.

use crate::support::{Needs, Scenario, builtin, over, run, sweep};
use kernel::{IndexVec, Rng};
use nand::cells::Bits;
use nand::{BlockId, Geometry, Layouts, Mode, PageOrder, Ppn, Store, UnitSizes};
use policies::{Family, PolicySet};
use serde_json::{Map, json};
use std::cell::RefCell;

/// Counts of new, old and broken pages after the cuts.
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
    /// The content of each slot.
    written: IndexVec<Ppn, Option<u64>>,
    second: IndexVec<BlockId, bool>,
    rng: Rng,
}

impl Cut {
    fn try_a_cut(&mut self, ppn: Ppn, page: u64) {
        let block = self.geometry.block_of(ppn);
        let after = self.bits.cut_short(block, &[(ppn, page)], &mut self.rng);
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
        let _cells = over::<Cut>();
        let drive = run(s, Layouts::write_once(&geometry), || builtin(&set))?;
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
/// that are not coded are not moved. So some are lost, and their host learns it only when they are
/// read. They are known to be broken then.
#[test]
fn pages_that_share_the_cells_are_whole_or_known_to_be_broken() {
    for order in [PageOrder::Shadow, PageOrder::ShadowPairs] {
        let Some(found) = cut(order, 2, 0..24) else { return };
        assert!(found.cuts > 800 && found.whole > 8_000 && found.broken > 500, "{found:?}");
        let lost = found.latest_lost as f64 / found.cuts as f64;
        assert!(lost > 0.01 && lost < 0.1, "{found:?}");
    }
}

/// Counts of pages after cuts of commands that program several pages of a wordline.
#[derive(Copy, Clone, Default, Debug)]
struct Torn {
    /// Before, amid and after a command.
    cuts: u64,
    /// Pages of the command that was cut: as they were to be, or known to be broken.
    new: u64,
    broken: u64,
    /// Pages of the step before it on the same cells, as they were written or known to be broken.
    first_whole: u64,
    first_broken: u64,
    /// Pages of other wordlines, all as they were written.
    others: u64,
}

thread_local! {
    static TORN: RefCell<Torn> = const { RefCell::new(Torn {
        cuts: 0, new: 0, broken: 0, first_whole: 0, first_broken: 0, others: 0,
    }) };
}

/// Cells on which every few commands are tried with a loss of power before, amid and after them, on
/// copies; the run goes on with the whole ones.
struct Tear {
    cells: Cut,
    /// A command that is tried: the cells before it, and its pages so far.
    command: Option<(Bits, Vec<(Ppn, u64)>)>,
}

impl Tear {
    fn program_of(&self, ppn: Ppn) -> u32 {
        ppn.as_u32() / self.cells.geometry.slots_per_program()
    }

    /// All pages of the command that is tried have come.
    fn try_cuts(&mut self) {
        let Some((before, pages)) = self.command.take() else { return };
        let geometry = self.cells.geometry;
        let (block, first) = geometry.split(pages[0].0);
        let wordline = |slot| geometry.wordline(slot);
        // A page that is not programmed may read as one that shares its cells. A page says whose it is, so
        // it is known to be another's.
        let beside = (0..geometry.pages_per_block()).filter(|s| wordline(*s) == wordline(first));
        let beside: Vec<_> =
            beside.filter_map(|s| self.cells.written[geometry.ppn(block, s)]).collect();
        let is_known = |read| opened(read).is_none() || beside.contains(&read);
        let amid = before.cut_short(block, &pages, &mut self.cells.rng);
        let mut torn = TORN.with_borrow(|t| *t);
        torn.cuts += 1;
        for slot in 0..geometry.pages_per_block() {
            let at = geometry.ppn(block, slot);
            if let Some((_, page)) = pages.iter().find(|(ppn, _)| *ppn == at) {
                assert!(is_known(before.read(at)), "slot {slot}: nobody wrote this");
                assert_eq!(self.cells.bits.read(at), *page);
                let read = amid.read(at);
                assert!(is_known(read), "slot {slot}: nobody wrote this");
                torn.new += u64::from(read == *page);
                torn.broken += u64::from(read != *page);
                continue;
            }
            let Some(written) = self.cells.written[at].filter(|_| slot < first) else { continue };
            // Between two steps, and after both, those of the first are whole.
            assert_eq!((before.read(at), self.cells.bits.read(at)), (written, written));
            let read = amid.read(at);
            if wordline(slot) == wordline(first) {
                assert!(is_known(read), "slot {slot}: nobody wrote this");
                torn.first_whole += u64::from(read == written);
                torn.first_broken += u64::from(read != written);
            } else {
                assert_eq!(read, written, "slot {slot} lies on other cells");
                torn.others += 1;
            }
        }
        TORN.with_borrow_mut(|t| *t = torn);
    }
}

impl Store for Tear {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        Cut::stamp(owner, order)
    }

    fn is_of(page: u64, owner: u32) -> bool {
        Cut::is_of(page, owner)
    }

    fn new(geometry: &Geometry, layouts: &Layouts) -> Self {
        Self { cells: Cut::new(geometry, layouts), command: None }
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        let same = |(first, _): &(Ppn, u64)| self.program_of(*first) == self.program_of(ppn);
        if !self.command.as_ref().is_some_and(|(_, pages)| same(&pages[0])) {
            self.try_cuts();
            let begins = ppn.as_u32().is_multiple_of(self.cells.geometry.slots_per_program());
            if begins && self.cells.rng.below(4) == 0 {
                self.command = Some((self.cells.bits.clone(), Vec::new()));
            }
        }
        if let Some((_, pages)) = &mut self.command {
            pages.push((ppn, page));
        }
        self.cells.write(ppn, page);
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.cells.read(ppn)
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        self.try_cuts();
        self.cells.erase(block, mode);
    }

    fn set_mode(&mut self, block: BlockId, mode: Mode) {
        self.cells.set_mode(block, mode);
    }

    fn begin_second_generation(&mut self, block: BlockId) {
        self.cells.begin_second_generation(block);
    }
}

fn torn(bits: u32, pages: u32) -> Option<Torn> {
    TORN.with_borrow_mut(|t| *t = Torn::default());
    let units = UnitSizes { pages, ..UnitSizes::PAGE };
    let scenario = |seed: u64| {
        let units = vec![units].leak();
        let needs = Needs { pages: &[12, 24], units, rounds: 6, ..Needs::PLAIN };
        let mut s = Scenario::random(seed, &needs);
        s.shape.bits_per_cell = bits;
        s
    };
    let seen = sweep(0..24, scenario, |s| {
        let set = PolicySet::resolve(&s.named(), None).expect("policies that exist");
        let layouts = Layouts::new(s.shape.pages_per_block);
        let _cells = over::<Tear>();
        Ok(run(s, layouts, || builtin(&set))?.seen)
    })?;
    assert!(seen.erase.total() > 500, "{seen:?}");
    Some(TORN.with_borrow(|t| *t))
}

/// A wordline that is programmed at once shares its cells with no other page: safe data stays safe.
#[test]
fn pages_programmed_together_are_new_or_broken_and_no_other_is_touched() {
    for bits in [2, 3, 4] {
        let Some(torn) = torn(bits, bits) else { return };
        assert!(torn.cuts > 500 && torn.others > 5_000, "{torn:?}");
        assert!(torn.new > 100 && torn.broken > 500, "{torn:?}");
        assert_eq!(torn.first_whole + torn.first_broken, 0, "{torn:?}");
    }
}

/// Between two steps the pages of the first are whole, and those of the second are known not to be there.
/// Amid the second they stay whole: no level on its way means other bits of the first.
#[test]
fn between_two_steps_and_amid_the_second_the_first_is_whole() {
    for bits in [2, 4] {
        let Some(torn) = torn(bits, bits / 2) else { return };
        assert!(torn.cuts > 500 && torn.others > 5_000, "{torn:?}");
        assert!(torn.new > 100 && torn.broken > 500, "{torn:?}");
        assert!(torn.first_whole > 5_000 && torn.first_broken == 0, "{torn:?}");
    }
}

//! Canaries: drivers and cells that are broken on purpose. The oracle must find each of them, or a
//! silent model test would mean nothing.

use crate::support::{Drive, Fault, Needs, Sabotage, Scenario, Taste, builtin, over, work};
use ftl::Ftl;
use nand::{BlockId, Geometry, Layouts, Mode, Ppn, Store, Versions};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Full drives with something outstanding, so that every fault has its chance.
fn scenario(seed: u64) -> Scenario {
    let s = Scenario::random(seed, &Needs::PLAIN);
    Scenario { full: true, immediate: false, reads: 30, trims: 2, queue_depth: 8, ..s }
}

fn with(s: &Scenario, sabotage: Sabotage) -> Result<(), Fault> {
    let set = s.set();
    let layouts = Layouts::new(s.shape.pages_per_block);
    let policies = || builtin(&set);
    let mut drive = Drive::new(Ftl::new(s.config(layouts), policies()), s);
    drive.sabotage = sabotage;
    work(s, &mut drive, &policies)
}

/// The answer of the oracle for each of some seeds; a panic of the check of flash commands counts
/// as an answer of its own.
fn verdicts(run: impl Fn(&Scenario) -> Result<(), Fault>) -> Vec<Option<String>> {
    let verdict = |seed| match catch_unwind(AssertUnwindSafe(|| run(&scenario(seed)))) {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => Some(fault),
        Err(panic) => panic.downcast_ref::<String>().cloned().or(Some("a panic".to_owned())),
    };
    let first_line = |s: String| s.lines().next().unwrap_or("").to_owned();
    (0..20).map(|seed| verdict(seed).map(first_line)).collect()
}

/// Asserts that nearly every seed finds the fault, and in the right words.
fn assert_caught(verdicts: &[Option<String>], words: &[&str]) {
    let caught = verdicts.iter().flatten().count();
    assert!(caught >= 15, "only {caught} of {} seeds found it: {verdicts:?}", verdicts.len());
    for word in words {
        let said = verdicts.iter().flatten().any(|v| v.contains(word));
        assert!(said, "nobody said {word:?}: {verdicts:?}");
    }
}

#[test]
fn without_sabotage_the_same_seeds_pass() {
    let all = verdicts(|s| with(s, Sabotage::default()));
    assert!(all.iter().all(Option::is_none), "{all:?}");
}

#[test]
fn an_invalidation_that_is_forgotten_is_found() {
    let sabotage = Sabotage { lost_trim: Some(5), ..Sabotage::default() };
    assert_caught(&verdicts(|s| with(s, sabotage)), &["the plain map has version"]);
}

#[test]
fn reads_that_do_not_hold_their_block_are_found() {
    let sabotage = Sabotage { unpinned_reads: true, ..Sabotage::default() };
    let slow_reads = |s: &Scenario| Scenario { taste: Taste::ReadsLast, ..s.clone() };
    let all = verdicts(|s| with(&slow_reads(s), sabotage));
    assert_caught(&all, &["was written", "an unwritten page was read"]);
}

#[test]
fn programs_out_of_order_are_found_by_the_referee() {
    let sabotage = Sabotage { unordered_programs: true, ..Sabotage::default() };
    assert_caught(&verdicts(|s| with(s, sabotage)), &["programmed again, or out of order"]);
}

/// Cells that complete a relocation wrongly: they point the map to the copy even if the host has
/// written the page since, and the old data hides the new.
struct Late {
    cells: Versions,
    /// For each logical page, its newest data and where that lies.
    newest: Vec<(u64, Option<Ppn>)>,
}

impl Store for Late {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        Versions::stamp(owner, order)
    }

    fn is_of(page: u64, owner: u32) -> bool {
        Versions::is_of(page, owner)
    }

    fn new(geometry: &Geometry, layouts: &Layouts) -> Self {
        Self { cells: Store::new(geometry, layouts), newest: vec![(0, None); geometry.pages()] }
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        self.cells.write(ppn, page);
        let owner = (page >> 32) as usize - 1;
        match self.newest[owner] {
            (data, Some(at)) if data > page && self.cells.read(at) == data => {
                self.cells.write(at, page);
            }
            _ => self.newest[owner] = (page, Some(ppn)),
        }
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.cells.read(ppn)
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        self.cells.erase(block, mode);
    }
}

#[test]
fn a_relocation_that_hides_newer_data_is_found() {
    let _cells = over::<Late>();
    assert_caught(&verdicts(|s| with(s, Sabotage::default())), &["was written"]);
}

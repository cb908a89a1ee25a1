//! Placement handles. A unit of a persistently isolated handle never holds the data of another; initially
//! isolated handles mix only where data were moved. The log is what the result counts itself. A
//! reclaim unit of several superblocks is one of larger blocks.

use crate::common::{
    BASE, Memory, PAGE, Remembering, bytes, data_of, drive, policies_of, run_with, try_drive,
    without_timing,
};
use floatgate_ssd::{Client, Drive, Embedded, NoCache, Submission, ftl_of, open_session};
use ftl::{Access, AccessKind, Ftl, HostTag, Lpn, Waiting};
use kernel::{BitSet, Idx, Prio, Rng, Time};
use nand::{Outcome, Ppn, Source};
use serde_json::Value;
use std::collections::BTreeSet;
use workload::{List, Op, Request};

// ── Isolation ───────────────────────────────────────────────────────────────────────────────────

/// A drive without time, and what its host knows of its data.
struct Host {
    ftl: Ftl<Remembering>,
    handles: u8,
    waiting: Waiting,
    idle: BitSet,
    /// The handle that each page was written through, the slot that it got then, and how often the block of that
    /// slot had been erased.
    written: Vec<Option<(u8, Ppn, u32)>>,
    writes: Vec<u64>,
    rng: Rng,
}

impl Host {
    fn new(drive: &Drive, handles: u8, seed: u64) -> Self {
        let mut idle = BitSet::new(drive.geometry.dies());
        (0..drive.geometry.dies()).for_each(|die| idle.set(die));
        Self {
            ftl: ftl_of(drive, policies_of(drive)),
            handles,
            waiting: Waiting::nothing(drive.geometry.dies()),
            idle,
            written: vec![None; drive.logical_pages as usize],
            writes: vec![0; handles.into()],
            rng: Rng::named(seed, "host"),
        }
    }

    /// Writes pages of one handle by one command. A hint that is too large means handle 0.
    fn write(&mut self, pages: &[u32], hint: u8) {
        let host = HostTag { hint, ..HostTag::default() };
        let pages: Vec<_> = pages.iter().map(|page| (Lpn::from_u32(*page), host)).collect();
        for (lpn, host) in &pages {
            let (kind, lpn, host) = (AccessKind::Write, *lpn, *host);
            self.ftl.host_access(|| Access { now: Time::ZERO, kind, lpn, host, waiting_device: 0 });
        }
        let alone = self.ftl.slots_per_program() == 1;
        let given = if alone {
            self.ftl.write(pages[0].0, host, &self.waiting, &self.idle, Time::ZERO)
        } else {
            self.ftl.write_unit(&pages, &self.waiting, &self.idle, Time::ZERO)
        };
        let operation = given.expect("collection is always done");
        let handle = if hint < self.handles { hint } else { 0 };
        let slots = operation.slots.expect("a program has its slots");
        for ((lpn, _), slot) in pages.iter().zip(slots.iter()) {
            let erases = self.erases(slot);
            self.written[lpn.index()] = Some((handle, slot, erases));
        }
        self.writes[usize::from(handle)] += pages.len() as u64;
        if alone {
            self.ftl.concluded(
                pages[0].0,
                || data_of(pages[0].0),
                &operation,
                Outcome::Done,
                Time::ZERO,
            );
        } else {
            for ((lpn, _), slot) in pages.iter().zip(slots.iter()) {
                let mut one = operation;
                one.slots = Some(nand::Slots::one(slot));
                self.ftl.concluded(*lpn, || data_of(*lpn), &one, Outcome::Done, Time::ZERO);
            }
        }
        self.ftl.settle(Time::ZERO);
    }

    /// How often the block of a slot was erased.
    fn erases(&self, slot: Ppn) -> u32 {
        self.ftl.array().erases()[self.ftl.geometry().block_of(slot)]
    }

    /// Anything that a host does, and idle time.
    fn act(&mut self) {
        let (pages, unit) = (self.written.len() as u32, self.ftl.slots_per_program());
        let page = self.rng.below(pages);
        match self.rng.below(100) {
            0..=9 => {
                self.ftl.trim(Lpn::from_u32(page), Time::ZERO);
                self.written[page as usize] = None;
            }
            10 => {
                let handle = self.rng.below(self.handles.into()) as u8;
                self.ftl.update_handle(handle, Time::ZERO);
                self.ftl.settle(Time::ZERO);
            }
            11..=13 => {
                let die = self.rng.below(self.ftl.geometry().dies() as u32);
                if let Some(job) = self.ftl.idle_job(nand::DieId::from_u32(die)) {
                    self.ftl.run_job(job, Time::ZERO);
                    self.ftl.settle(Time::ZERO);
                }
            }
            _ => {
                // Most writes go to few pages, and each page changes its handle now and then.
                let hot = self.rng.below(3) > 0;
                let first = if hot { page % (pages / 8) } else { page };
                let count = 1 + self.rng.below(unit);
                let first = first.min(pages - count);
                let pages: Vec<u32> = (first..first + count).collect();
                let odd = self.rng.below(16) == 0;
                let hint = if odd { self.rng.below(256) } else { first % u32::from(self.handles) };
                self.write(&pages, hint as u8);
            }
        }
    }

    /// The handles of valid data in each unit. `moved`: moved data count, too.
    fn handles_of_units(&self, moved: bool) -> Vec<BTreeSet<u8>> {
        let geometry = *self.ftl.geometry();
        let of_slot = |ppn: Ppn| {
            let page =
                self.ftl.map().owner(ppn).filter(|page| self.ftl.find(*page) == Some(ppn))?;
            let (handle, slot, erases) = self.written[page.index()].expect("it holds data");
            assert_eq!(self.ftl.handles().unwrap().owner(ppn), handle, "page {page}");
            (moved || slot == ppn && erases == self.erases(ppn)).then_some(handle)
        };
        let units = geometry.superblock_ids().map(|unit| {
            let blocks = geometry.superblocks().blocks_of(unit);
            let slots = blocks.flat_map(|block| {
                (0..geometry.pages_per_block()).map(move |slot| geometry.ppn(block, slot))
            });
            slots.filter_map(of_slot).collect()
        });
        units.collect()
    }
}

/// The kinds of drives: single pages, program units, superblocks, parity, wear levelling, pace.
const SHAPES: [(&str, &[&str]); 6] = [
    ("pages", &[]),
    ("idle", &["ftl.gc.background-stop=5"]),
    ("dies", &["geometry.channels=2", "policy wear=hot-cold-swap"]),
    (
        "units",
        &["geometry.planes-per-die=2", "ftl.program-planes=2", "geometry.pages-per-block=24"],
    ),
    ("superblocks", &["geometry.channels=2", "ftl.superblock=drive", "geometry.pages-per-block=4"]),
    (
        "parity",
        &[
            "geometry.channels=2",
            "ftl.superblock=drive",
            "ftl.parity=2",
            "geometry.pages-per-block=8",
            "ftl.gc.background-stop=4",
        ],
    ),
];

/// Handles, isolation, superblocks of a unit, and further keys.
fn shaped(own: &[&str], handles: u8, fdp: &[&str]) -> Drive {
    let handles = format!("ftl.fdp.handles={handles}");
    let all = [&["ftl.spare-factor=0.5", "reliability.endurance=100000"], own, &[&*handles], fdp];
    drive(&all.concat())
}

fn isolation(operations: u32) {
    for (shape, own) in SHAPES {
        for unit in [1_u64, 2, 3] {
            for (keys, moved) in [
                (&["ftl.fdp.isolation=persistent"][..], true),
                (&["ftl.fdp.isolation=initial"], false),
                (&["ftl.fdp.spill=true"], false),
                (&["ftl.fdp.keep-sequential=true", "ftl.fdp.isolation=persistent"], true),
            ] {
                let unit_key = format!("ftl.fdp.reclaim-unit={unit}");
                let room = ["geometry.blocks-per-plane=48", "ftl.spare-factor=0.7"];
                let fdp = [keys, &[&*unit_key], &room].concat();
                let what = format!("{shape}, {fdp:?}");
                let drive = shaped(own, 3, &fdp);
                let mut host = Host::new(&drive, 3, 7 + unit);
                let mut mixed = 0;
                for n in 0..operations {
                    host.act();
                    if n % (operations / 20) == 0 {
                        let all = host.handles_of_units(moved);
                        let worst = all.iter().find(|handles| handles.len() > 1);
                        assert_eq!(worst, None, "{what}, after {n}");
                        mixed += host.handles_of_units(true).iter().filter(|h| h.len() > 1).count();
                    }
                }
                host.ftl.check().unwrap();
                assert_eq!(moved, mixed == 0, "{what}: moved data of several handles share units");
                assert_eq!(host.ftl.mixed_units() == 0, moved, "{what}");
                let counts = host.ftl.counts();
                let handles = host.ftl.handles().unwrap();
                let events = handles.events();
                assert!(events.not_fully_written > 0 && events.reallocated > 0, "{what}");
                // Data of the host with its padding, and moves.
                let moves: u64 = handles.counts().iter().map(|c| c.moved).sum();
                assert!(moves > 0 && moves == counts.moved.total(), "{what}");
                let own: u64 = handles.counts().iter().map(|c| c.programmed - c.moved).sum();
                assert_eq!(own, host.writes.iter().sum::<u64>() + counts.padding[Source::Host]);
                assert_eq!(counts.diverted, 0, "{what}");
            }
        }
    }
}

/// A hundred thousand operations in all.
#[test]
fn a_unit_holds_two_handles_only_where_isolation_allows_it() {
    isolation(1_400);
}

/// Ten million operations.
#[test]
#[ignore = "minutes: `make verify`"]
fn a_unit_holds_two_handles_only_where_isolation_allows_it_for_long() {
    isolation(140_000);
}

// ── Units of several superblocks ────────────────────────────────────────────────────────────────

/// A unit of four blocks does the work of a block with four times the pages, operation by operation.
#[test]
fn a_unit_of_several_superblocks_is_one_of_larger_blocks() {
    for keys in [&["ftl.fdp.isolation=persistent"][..], &["ftl.fdp.isolation=initial"]] {
        let of = |blocks: u32, pages: u32, unit: u32| {
            let own = [
                format!("geometry.blocks-per-plane={blocks}"),
                format!("geometry.pages-per-block={pages}"),
                format!("ftl.fdp.reclaim-unit={unit}"),
                "ftl.fdp.handles=2".to_owned(),
                "ftl.spare-factor=0.4".to_owned(),
            ];
            let own: Vec<&str> =
                own.iter().map(String::as_str).chain(keys.iter().copied()).collect();
            Host::new(&drive(&own), 2, 11)
        };
        let (mut layers, mut large) = (of(128, 16, 4), of(32, 64, 1));
        assert_eq!(layers.written.len(), large.written.len());
        for _ in 0..30_000 {
            layers.act();
            large.act();
        }
        let (ours, theirs) = (layers.ftl.counts(), large.ftl.counts());
        assert!(theirs.moved.total() > 1_000, "{keys:?}");
        assert_eq!((ours.moved, ours.program), (theirs.moved, theirs.program), "{keys:?}");
        assert_eq!(ours.erase.total(), theirs.erase.total() * 4, "{keys:?}");
        let events = |host: &Host| host.ftl.handles().unwrap().events();
        assert_eq!(events(&layers), events(&large), "{keys:?}");
        let slots = |host: &Host| -> Vec<_> {
            let pages = 0..host.written.len() as u32;
            pages.map(|page| host.ftl.find(Lpn::from_u32(page))).collect()
        };
        assert_eq!(slots(&layers), slots(&large), "{keys:?}");
    }
}

// ── Sequential data ─────────────────────────────────────────────────────────────────────────────

/// Pages moved of a log and of random writes beside it, for each page written.
fn beside_a_log(keep: bool) -> (f64, f64) {
    let keep = format!("ftl.fdp.keep-sequential={keep}");
    let own = [
        "geometry.blocks-per-plane=320",
        "geometry.pages-per-block=64",
        "ftl.spare-factor=0.2",
        "ftl.gc.start=4",
        "ftl.gc.stop=4",
        "ftl.fdp.handles=2",
        "ftl.fdp.isolation=persistent",
        &keep,
    ];
    let mut host = Host::new(&drive(&own), 2, 3);
    let pages = host.written.len() as u32;
    let log = pages / 4;
    (0..pages).for_each(|page| host.write(&[page], u8::from(page < log)));
    let (mut head, mut before) = (0, (Vec::new(), Vec::new()));
    let rounds = 16 * pages;
    for n in 0..rounds {
        if n == rounds / 2 {
            before = (host.ftl.handles().unwrap().counts().to_vec(), host.writes.clone());
        }
        if host.rng.below(2) == 0 {
            host.write(&[head], 1);
            head = (head + 1) % log;
        } else {
            let page = log + host.rng.below(pages - log);
            host.write(&[page], 0);
        }
    }
    let counts = host.ftl.handles().unwrap().counts();
    let of = |handle: usize| {
        let moved = counts[handle].moved - before.0[handle].moved;
        moved as f64 / (host.writes[handle] - before.1[handle]) as f64
    };
    (of(1), of(0))
}

/// Greedy collection takes the block of the log that is dying, before its last pages are overwritten. Firmware
/// that keeps sequential data waits, and the log costs nothing.
#[test]
fn data_written_in_sequence_are_kept_until_they_are_overwritten() {
    let ((log, random), (kept, others)) = (beside_a_log(false), beside_a_log(true));
    println!("the log {log:.3}, kept {kept:.4}; random writes {random:.3}, {others:.3}");
    assert!(log > 0.1, "greedy moves pages of the log: {log}");
    assert!(kept < 0.002, "a log that is kept moves nothing: {kept}");
    assert!(others < log + random, "{others}");
}

// ── The log ─────────────────────────────────────────────────────────────────────────────────────

/// Requests of all sizes through handles that are there and others.
fn requests(pages: u64, count: u32) -> Vec<Request> {
    let mut rng = Rng::named(3, "requests");
    let mut at = 0;
    let all = (0..count).map(|_| {
        at += u64::from(rng.below(2_000_000));
        let op = match rng.below(10) {
            0 => Op::Trim,
            1 => Op::Read,
            2 => Op::WriteFua,
            _ => Op::Write,
        };
        let page = u64::from(rng.below(pages as u32 - 4));
        let (from, len) =
            [(0, PAGE), (0, 3 * PAGE), (512, 1024), (512, PAGE)][rng.below(4) as usize];
        let hint = [0, 1, 2, 3, 200][rng.below(5) as usize];
        Request { hint, ..bytes(at, op, page * PAGE + from, len) }
    });
    all.collect()
}

fn is_write(request: &Request) -> bool {
    matches!(request.op, Op::Write | Op::WriteFua)
}

#[test]
fn the_log_is_what_the_result_counts_to_the_byte() {
    let kinds: [(&str, &[&str]); 5] = [
        ("plain", &[]),
        ("buffer", &["buffer.size=256KiB"]),
        ("units", &["geometry.planes-per-die=2", "ftl.program-planes=2", "buffer.size=64KiB"]),
        (
            "parity",
            &[
                "geometry.channels=4",
                "ftl.superblock=drive",
                "ftl.parity=4",
                "ftl.fdp.reclaim-unit=2",
            ],
        ),
        (
            "halves",
            &[
                "geometry.page-size=8KiB",
                "ftl.mapping-unit=4KiB",
                "geometry.bits-per-cell=3",
                "geometry.pages-per-block=24",
                "pages.program=wordline",
                "buffer.size=256KiB",
            ],
        ),
    ];
    for (kind, own) in kinds {
        for isolation in ["initial", "persistent"] {
            let isolation_key = format!("ftl.fdp.isolation={isolation}");
            let base = ["geometry.blocks-per-plane=64", "precondition.fill=full"];
            let drive = shaped(own, 3, &[&base[..], &[&*isolation_key]].concat());
            let list = requests(drive.logical_pages.into(), 6_000);
            let value =
                run_with(&drive, Box::new(List::new("l", list.clone()).unwrap()), &mut NoCache);
            let (fdp, what) = (&value["fdp"], format!("{kind}, {isolation}"));
            let whole = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{what}: {value}"));
            let page = drive.geometry.page_size().get();
            let flash = drive.geometry.flash();
            let block = u64::from(flash.pages_per_block) * flash.page_size.get();
            let log = &fdp["log"];
            assert_eq!(log["hbmw"], value["host"]["write"]["bytes"], "{what}");
            assert_eq!(
                whole(&log["mbmw"]),
                whole(&value["flash"]["program"]["total"]) * page,
                "{what}"
            );
            assert_eq!(
                whole(&log["mbe"]),
                whole(&value["flash"]["erase"]["total"]) * block,
                "{what}"
            );
            let waf = whole(&log["mbmw"]) as f64 / whole(&log["hbmw"]) as f64;
            assert_eq!(value["waf"].as_f64(), Some(waf), "{what}");
            let of = |handle: u8| {
                let through = |r: &&Request| (if r.hint < 3 { r.hint } else { 0 }) == handle;
                list.iter()
                    .filter(|r| is_write(r))
                    .filter(through)
                    .map(|r| u64::from(r.len))
                    .sum::<u64>()
            };
            let (mut media, mut moved) = (0, 0);
            for handle in 0..3 {
                let own = &fdp["handles"][usize::from(handle)];
                assert_eq!(own["handle"], handle, "{what}");
                assert_eq!(whole(&own["host_bytes"]), of(handle), "{what}: handle {handle}");
                let waf = whole(&own["media_bytes"]) as f64 / of(handle) as f64;
                assert_eq!(own["waf"].as_f64(), Some(waf), "{what}: handle {handle}");
                media += whole(&own["media_bytes"]);
                moved += whole(&own["moved_bytes"]);
            }
            assert_eq!(media + whole(&fdp["unattributed_bytes"]), whole(&log["mbmw"]), "{what}");
            let program = &value["flash"]["program"];
            let other =
                whole(&program["total"]) - whole(&program["host"]) - whole(&program["parity"]);
            let padding = &value["flash"]["padding"];
            let padded = whole(&padding["total"]) - whole(&padding["host"]);
            assert_eq!(moved, (other - padded) * page, "{what}");
            let of_none = whole(&program["parity"]) + padded;
            assert_eq!(whole(&fdp["unattributed_bytes"]), of_none * page, "{what}");
            let invalid = list.iter().filter(|r| is_write(r)).filter(|r| r.hint >= 3).count();
            let events = &log["events"];
            assert_eq!(whole(&events["invalid_placement_identifier"]), invalid as u64, "{what}");
            assert_eq!(events["unit_not_fully_written"], 0, "{what}");
            assert_eq!(fdp["mixed_units"] == 0, isolation == "persistent", "{what}");
            let unit = whole(&fdp["reclaim_unit_bytes"]);
            assert_eq!(unit * whole(&fdp["reclaim_units"]), drive.geometry.pages() as u64 * page);
        }
    }
}

/// Persistent isolation is the scheme `hints`; one initially isolated handle is `sepgc`.
#[test]
fn schemes_of_the_same_rule_give_the_same_programs() {
    for (keys, scheme) in [
        (&["ftl.fdp.handles=3", "ftl.fdp.isolation=persistent"][..], "hints:streams=3"),
        (&["ftl.fdp.handles=1"], "sepgc"),
        (&["ftl.fdp.handles=1", "ftl.fdp.spill=true"], "shared"),
    ] {
        let own =
            ["geometry.blocks-per-plane=64", "ftl.spare-factor=0.5", "precondition.fill=full"];
        let policy = format!("policy separation={scheme}");
        let drives = [drive(&[&own[..], keys].concat()), drive(&[&own[..], &[&*policy]].concat())];
        let [with, without] = drives.map(|drive| {
            let list = requests(drive.logical_pages.into(), 4_000);
            let list = List::new("l", list).unwrap();
            let value = run_with(&drive, Box::new(list), &mut NoCache);
            assert_eq!(value["fdp"].is_null(), drive.ftl.fdp.is_none(), "{scheme}");
            [value["flash"].to_string(), value["host"].to_string(), value["wear"].to_string()]
        });
        assert_eq!(with, without, "{scheme}");
    }
}

/// A state that is loaded has the handles of the data in it.
#[test]
fn a_stored_state_has_the_handles_of_its_data() {
    let own =
        ["geometry.blocks-per-plane=64", "precondition.fill=full", "precondition.age=workload"];
    let drive = shaped(&own, 3, &[]);
    let mut cache = Memory::default();
    let mut result = || {
        let list = List::new("l", requests(drive.logical_pages.into(), 3_000)).unwrap();
        let value = run_with(&drive, Box::new(list), &mut cache);
        assert!(value["fdp"]["handles"][2]["moved_bytes"].as_u64() > Some(0));
        without_timing(&value)
    };
    let cold = result();
    assert_eq!(result(), cold);
    assert!(cache.found > 0 && cache.kept > 0);
}

// ── Updates ─────────────────────────────────────────────────────────────────────────────────────

#[test]
fn an_update_closes_a_unit_that_was_written_in_part() {
    let drive = shaped(
        &["geometry.blocks-per-plane=64", "precondition.fill=none"],
        2,
        &["ftl.fdp.reclaim-unit=2"],
    );
    let session = open_session(&drive, Client::Program(&[]), &mut NoCache, &mut |_| true).unwrap();
    let mut session = Embedded::new(session);
    let write = |session: &mut Embedded, page: u64, hint: u8| {
        let request = Submission {
            op: Op::Write,
            offset: page * PAGE,
            length: PAGE,
            at: None,
            token: page,
            hint,
            flow: 0,
            prio: Prio::Normal,
        };
        session.submit(&request).unwrap();
        session.advance(None, &mut || true).unwrap();
        let ftl = session.session().sim().ftl();
        let slot = ftl.find(Lpn::from_u32(page as u32)).unwrap();
        ftl.geometry().superblock_of(ftl.geometry().block_of(slot))
    };
    let events = |session: &Embedded| session.session().sim().ftl().handles().unwrap().events();
    // Nothing was written: there is nothing to close.
    session.update_handle(1, None).unwrap();
    assert_eq!(events(&session).not_fully_written, 0);
    let first = write(&mut session, 0, 1);
    let other = write(&mut session, 1, 0);
    assert_eq!(write(&mut session, 2, 1), first);
    let now = session.now();
    assert_eq!(session.update_handle(1, Some(now + 5_000)).unwrap(), now + 5_000);
    assert_eq!(events(&session).not_fully_written, 1);
    let second = write(&mut session, 3, 1);
    assert!(second != first && second != other);
    assert_eq!(write(&mut session, 4, 0), other, "another handle goes on in its unit");
    // Twice in a row: the second finds an empty unit, or none.
    session.update_handle(1, None).unwrap();
    session.update_handle(1, None).unwrap();
    assert_eq!(events(&session).not_fully_written, 2);
    // Units that are full do not count: 16 pages.
    let third = write(&mut session, 5, 1);
    (6..21).for_each(|page| assert_eq!(write(&mut session, page, 1), third));
    session.update_handle(1, None).unwrap();
    assert_eq!(events(&session).not_fully_written, 2);
    // Closed units are collected like others: the drive is written many times over.
    let pages = u64::from(drive.logical_pages);
    for n in 0..6 * pages {
        write(&mut session, n * 7 % pages, (n % 2) as u8);
        if n % 5 == 0 {
            session.update_handle(n / 5 % 2, None).unwrap();
        }
    }
    let past = session.update_handle(0, Some(0)).unwrap_err().to_string();
    assert!(past.contains("has passed"), "{past}");
    let wrong = session.update_handle(2, None).unwrap_err().to_string();
    assert_eq!(wrong, "handle 2: the drive has 2 placement handles, counted from 0");
    let report = session.finish("updates").unwrap();
    let log = &report.value()["fdp"]["log"]["events"];
    assert!(log["unit_not_fully_written"].as_u64() > Some(100), "{log}");
}

#[test]
fn a_drive_without_handles_has_none_to_update() {
    let drive = drive(&["precondition.fill=none"]);
    let session = open_session(&drive, Client::Program(&[]), &mut NoCache, &mut |_| true).unwrap();
    let wrong = Embedded::new(session).update_handle(0, None).unwrap_err().to_string();
    assert!(wrong.starts_with("handle 0: the drive has 0 placement handles"), "{wrong}");
    assert!(wrong.contains("ftl.fdp"), "{wrong}");
}

// ── Refusals ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn what_does_not_go_with_handles_is_refused_with_the_reason() {
    let with = |more: &[&str]| {
        let own = ["geometry.blocks-per-plane=96", "ftl.fdp.handles=4"];
        let own: Vec<&str> = own.iter().chain(more).copied().collect();
        try_drive(BASE, &own).err().unwrap_or_default()
    };
    assert_eq!(with(&[]), "");
    assert_eq!(with(&["policy separation=fdp"]), "", "a resolved drive names it");
    for (others, words) in [
        (&["policy separation=hints"][..], "so `separation=hints` cannot choose"),
        (&["policy separation=sepgc"], "so `separation=sepgc` cannot choose"),
        (&["ftl.fdp.spill=true", "ftl.fdp.isolation=persistent"], "excludes that"),
        (&["ftl.fdp.reclaim-unit=5"], "a plane has 96 blocks"),
        (&["ftl.fdp.reclaim-unit=2", "scale=1/2"], "does not go with `scale`"),
        (&["ftl.fdp.reclaim-unit=2", "ftl.copyback=1"], "does not go with `ftl.copyback`"),
        (&["ftl.fdp.handles=0"], "1 to 32"),
        (&["ftl.fdp.handles=33"], "1 to 32"),
        (&["ftl.fdp.isolation=weak"], "is initial or persistent"),
        (&["policy order=priority"], "urgent writes have open blocks"),
        (&["policy coding=wom"], "would mix"),
        (&["policy read-disturb=redftl"], "both choose the blocks that moved pages"),
        (&["ftl.spare-factor=0.05"], "`separation=fdp` need"),
    ] {
        let message = with(others);
        assert!(message.contains(words), "{others:?}: {message}");
    }
    let alone = try_drive(BASE, &["ftl.fdp.isolation=initial"]).unwrap_err();
    assert!(alone.contains("handles"), "{alone}");
}

/// The policy without handles keeps nothing apart, also beside policies that hear of every access.
#[test]
fn the_policy_without_handles_has_one() {
    let settings = ["policy separation=fdp", "policy victim=cat", "workload.requests=500"];
    for more in ["policy cost=wu", "policy order=fifo"] {
        let drive = crate::common::try_drive(BASE, &[&settings[..], &[more]].concat());
        let Ok(drive) = drive else { continue };
        let value = crate::common::generate(&drive, "random-write");
        assert!(value["fdp"].is_null(), "{more}");
        let codes: Vec<_> =
            value["warnings"].as_array().unwrap().iter().map(|w| &w["code"]).collect();
        assert!(codes.iter().any(|code| *code == "idle-policy"), "{more}: {codes:?}");
    }
}

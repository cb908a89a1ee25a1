//! Unchanged? Correct? Equal inputs give equal results bit for bit, with any runs beside them.
//! Every read gets the data written, with every mechanism of the drive at work.

use crate::common::cells::{Over, checked, over};
use crate::common::{
    self, Class, Remembering, class_of, count, drive, generate, policies_of, urgent, without_timing,
};
use floatgate_ssd::sim::{Sim, Turn};
use floatgate_ssd::{Drive, ftl_of, generator, precondition};
use ftl::{Cost, FtlView, Interests, Lpn, Policies, Watch, WriteCtx};
use kernel::{Rng, Time};
use nand::cells::Bits;
use nand::{DieId, Level, Ppn, Source, Store, Versions};
use policies::CostPolicy;
use std::cell::RefCell;
use std::collections::BTreeMap;
use workload::{List, Op, Request, Workload};

/// Drives on which everything happens: the settings that differ, and the workload's pattern.
const BUSY: [(&[&str], &str); 10] = [
    (&[], "random-write"),
    (&["policy victim=random", "policy order=priority", "host.queue-depth=3"], "zipf"),
    (
        &["policy victim=d-choices:d=3", "ftl.multi-plane=any", "policy order=read-first"],
        "hot-cold",
    ),
    (
        &["policy placement=static", "ftl.multi-plane=aligned", "policy wear=static:threshold=3"],
        "random-write",
    ),
    (
        &["host.mode=timestamps", "ftl.gc.background-stop=5", "precondition.age=random"],
        "random-write",
    ),
    (
        &["timing.bus={ rate = \"333MT/s\", command = \"300ns\" }", "host.mode=think-time"],
        "hot-cold",
    ),
    (&["buffer.size=96KiB", "buffer.flush-above=0.5", "ftl.multi-plane=any"], "zipf"),
    (
        &[
            "policy order=read-first",
            "timing.suspend={ pause = \"20us\", resume = \"30us\" }",
            "timing.bus={ rate = \"333MT/s\", command = \"300ns\", first = \"data\" }",
            "ftl.multi-plane=any",
        ],
        "zipf",
    ),
    (
        &[
            "timing.bus={ rate = \"100MT/s\", command = \"300ns\" }",
            "timing.cache=all",
            "ftl.multi-plane=any",
            "policy wear=static:threshold=3",
        ],
        "hot-cold",
    ),
    (
        &[
            "policy order=bounded-read-first",
            "timing.suspend={ pause = \"5us\", resume = \"0ns\", erase-loops = 5 }",
            "ftl.pending-read=memory",
        ],
        "hot-cold",
    ),
];

fn busy(own: &[&str], seed: u64) -> Drive {
    let seed = format!("run.seed={seed}");
    let settings = [
        "geometry.channels=2",
        "geometry.chips-per-channel=2",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=20",
        "ftl.spare-factor=0.25",
        "ftl.gc.stop=3",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.requests=8000",
        "workload.read-share=0.3",
        "workload.trim-share=0.05",
        "workload.size=[{ size = \"4KiB\", share = 0.6 }, { size = \"2560B\", share = 0.2 }, { size = \"24KiB\", share = 0.2 }]",
        "workload.align=512B",
        "workload.arrivals={ poisson = { iops = 1200 } }",
        &seed,
    ];
    drive(&[&settings, own].concat())
}

// ── Determinism ─────────────────────────────────────────────────────────────────────────────────

fn result(case: usize, seed: u64) -> String {
    let (own, pattern) = BUSY[case];
    without_timing(&generate(&busy(own, seed), pattern))
}

#[test]
fn equal_inputs_give_equal_results_and_other_seeds_others() {
    for (case, (own, pattern)) in BUSY.into_iter().enumerate() {
        let value = generate(&busy(own, 1), pattern);
        assert!(count(&value["flash"]["erase"]["gc"]) > 100, "{own:?}: garbage is collected");
        assert!(
            count(&value["flash"]["rmw_reads"]) > 100 && class_of(&value, "trim").requests > 100
        );
        assert_eq!(without_timing(&value), result(case, 1), "{own:?}");
        let numbers = |seed| {
            let value = generate(&busy(own, seed), pattern);
            let classes: Vec<Class> =
                ["read", "write", "trim"].iter().map(|c| class_of(&value, c)).collect();
            (classes, value["flash"].clone())
        };
        assert_ne!(numbers(1), numbers(2), "{own:?}: the seed matters");
    }
}

#[test]
fn a_run_does_not_depend_on_what_runs_beside_it() {
    let alone: Vec<String> = (0..BUSY.len()).map(|case| result(case, 7)).collect();
    // More threads than cores, each going through the cases in an order of its own.
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let alone = &alone;
            scope.spawn(move || {
                for step in 0..BUSY.len() {
                    let case = (step * (1 + thread % 2 * 4) + thread) % BUSY.len();
                    assert_eq!(result(case, 7), alone[case], "case {case} on thread {thread}");
                }
            });
        }
    });
}

// ── Data ────────────────────────────────────────────────────────────────────────────────────────

/// Runs a workload over cells that remember, and checks the FTL's structure in the end. The loop
/// itself checks that every read gets data of the page that it asked for.
fn remember(drive: &Drive, workload: &dyn Workload) -> Sim<Remembering> {
    let mut ftl = ftl_of(drive, policies_of(drive));
    precondition(drive, workload, &mut ftl, &mut |_| true).unwrap();
    ftl.begin_run(policies_of(drive));
    let mut sim = Sim::new(drive, ftl);
    sim.run(&mut *workload.open().unwrap(), None, &mut |_| true).unwrap();
    assert_eq!(sim.stats().served, workload.about().requests.unwrap());
    sim.ftl().check().unwrap_or_else(|fault| panic!("{fault}"));
    sim
}

/// The workload of a busy drive with every fourth request marked as urgent.
fn with_priorities(drive: &Drive, pattern: &str) -> List {
    let made = generator(drive, pattern).unwrap();
    let mut source = made.open().unwrap();
    let (mut batch, mut all) = (Vec::new(), Vec::<Request>::new());
    loop {
        source.fill(&mut batch).unwrap();
        if batch.is_empty() {
            break;
        }
        all.extend_from_slice(&batch);
    }
    let mut rng = Rng::named(drive.seed, "urgent");
    let all = all.into_iter().map(|r| if rng.below(4) == 0 { urgent(r) } else { r });
    List::new(pattern, all.collect()).unwrap()
}

#[test]
fn every_read_gets_data_of_its_page() {
    for (own, pattern) in BUSY {
        for order in ["policy order=fifo", "policy order=priority"] {
            for multi_plane in ["ftl.multi-plane=off", "ftl.multi-plane=any"] {
                let drive = busy(&[own, &[order, multi_plane]].concat(), 3);
                let list = with_priorities(&drive, pattern);
                let sim = remember(&drive, &list);
                let counts = sim.ftl().counts();
                assert!(counts.moved.total() > 500 && sim.stats().rmw_reads > 100);
                let merged = sim.device_stats().merged;
                // A think-time host has one request at a time, and few of them are large.
                assert_eq!(merged > 0, multi_plane.ends_with("any"), "{own:?}");
            }
        }
    }
}

/// Every host read on bits that went through cells, with each scheme against read disturb at work.
#[test]
fn every_read_gets_its_bits_from_cells() {
    let shares = ":monitors=40:low-limit=240:low-density=10";
    for (scheme, own) in [
        ("refresh", String::new()),
        ("redftl", ":monitors=40:shadows=25:pages=8".to_owned()),
        ("read-leveling", ":monitors=40:shadows=25:pages=8".to_owned()),
        ("hot-low-density", shares.to_owned()),
        ("ipr", format!("{shares}:pool=100")),
    ] {
        for (pattern, seed) in [("zipf", 1), ("hot-cold", 2)] {
            let policy = format!("policy read-disturb={scheme}:limit=60{own}");
            let settings = [
                "geometry.channels=1",
                "geometry.chips-per-channel=1",
                "geometry.bits-per-cell=3",
                "geometry.pages-per-block=24",
                "ftl.spare-factor=0.6",
                "workload.read-share=0.85",
                "workload.requests=12000",
                &policy,
            ];
            let drive = busy(&settings, seed);
            let workload = generator(&drive, pattern).unwrap();
            let _cells = over::<Bits>();
            let sim = remember(&drive, &*workload);
            let counts = sim.ftl().counts();
            assert!(counts.read[Source::Host] > 5_000, "{scheme}: {counts:?}");
            assert!(counts.erase[Source::Refresh] > 20, "{scheme}: {counts:?}");
            assert_eq!(counts.reprogram > 0, scheme == "ipr", "{scheme}: {counts:?}");
        }
    }
}

/// Writes any page anew whenever its die is idle.
struct Restless {
    next: u32,
    pages: u32,
}

impl Watch for Restless {
    fn interests(&self) -> Interests {
        Interests::IDLE
    }
}

impl Cost for Restless {
    fn initial(&self) -> Level {
        Level::MediumCost
    }

    fn level(&mut self, w: &WriteCtx) -> Level {
        if w.tag.source == Source::Rewrite { Level::HighCost } else { Level::LowCost }
    }

    fn rewrite(&mut self, die: DieId, view: &FtlView<'_>) -> Option<Lpn> {
        let geometry = view.geometry;
        for _ in 0..self.pages {
            self.next = (self.next + 1) % self.pages;
            let at = view.map.lookup(Lpn::from_u32(self.next));
            if at.is_some_and(|ppn| geometry.die_of(geometry.block_of(ppn)) == die) {
                return Some(Lpn::from_u32(self.next));
            }
        }
        None
    }
}

/// Host writes that share their array time across planes must not overtake a re-write that holds
/// the place before theirs in the same block. The check of flash commands would stop the run.
#[test]
fn writes_on_several_planes_keep_the_order_of_each_block() {
    for (seed, rate) in [(1, 200), (2, 400), (3, 800), (4, 1200)] {
        let arrivals = format!("workload.arrivals={{ poisson = {{ iops = {rate} }} }}");
        let own =
            ["host.mode=timestamps", "ftl.multi-plane=any", "policy victim=greedy", &arrivals];
        let drive = busy(&own, seed);
        let workload = generator(&drive, "random-write").unwrap();
        let policies = || Policies {
            cost: CostPolicy::Custom(Box::new(Restless { next: 0, pages: drive.logical_pages })),
            ..policies_of(&drive)
        };
        let mut ftl = ftl_of(&drive, policies());
        precondition(&drive, &*workload, &mut ftl, &mut |_| true).unwrap();
        ftl.begin_run(policies());
        let mut sim = Sim::new(&drive, ftl);
        sim.run(&mut *workload.open().unwrap(), None, &mut |_| true).unwrap();
        let anew = sim.ftl().counts().program[Source::Rewrite];
        assert!(
            anew > 50 && sim.device_stats().merged > 1000,
            "{anew} anew, {}",
            sim.device_stats().merged
        );
        sim.ftl().check().unwrap_or_else(|fault| panic!("{fault}"));
    }
}

thread_local! {
    /// The latest write of each logical page that has reached the cells.
    static LATEST: RefCell<BTreeMap<u32, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// A mark of a write, which the book notes as the latest.
fn noted(owner: u32, order: u64) -> u64 {
    let page = Versions::stamp(owner, order);
    LATEST.with_borrow_mut(|latest| latest.insert(owner, page));
    page
}

/// Cells of a new drive, beside a book of the latest writes: a read that gets an older one fails. True as
/// long as the host asks one thing at a time, for then no write is on its way while a read is.
fn beside_a_book() -> Over {
    LATEST.with_borrow_mut(BTreeMap::clear);
    checked::<Versions>(noted, |page, owner| {
        Versions::is_of(page, owner) && LATEST.with_borrow(|latest| latest[&owner] == page)
    })
}

#[test]
fn every_read_gets_the_latest_data_of_its_page() {
    for (own, pattern) in BUSY {
        for mode in ["host.mode=think-time", "host.mode=queue-depth"] {
            let one = [mode, "host.queue-depth=1", "workload.requests=12000"];
            // Requests of one page at most: those of several are served in any order.
            let size = ["workload.size=2KiB", "workload.read-share=0.5"];
            let drive = busy(&[own, &one, &size].concat(), 5);
            let list = with_priorities(&drive, pattern);
            let _cells = beside_a_book();
            let sim = remember(&drive, &list);
            assert!(sim.ftl().counts().moved.total() > 500, "{own:?}");
        }
    }
}

/// Power may fail while a program is interrupted. Acknowledged writes are there then, and the half
/// programmed page does not replace an older copy.
#[test]
fn a_loss_of_power_finds_what_was_told_while_programs_are_interrupted() {
    let own = ["policy order=read-first", "timing.suspend={ pause = \"20us\", resume = \"30us\" }"];
    let drive = busy(&own, 4);
    let pages = u64::from(drive.logical_pages);
    let mut rng = Rng::named(4, "test/power");
    let none = List::new("one", vec![common::read(0, 0)]).unwrap();
    let mut ftl = ftl_of(&drive, policies_of(&drive));
    precondition(&drive, &none, &mut ftl, &mut |_| true).unwrap();
    ftl.begin_run(policies_of(&drive));
    let mut sim = Sim::new(&drive, ftl);
    let newest = |sim: &Sim<Remembering>| {
        let mut newest: BTreeMap<u64, u64> = BTreeMap::new();
        let ftl = sim.ftl();
        let written = (0..ftl.geometry().pages() as u32).map(Ppn::from_u32);
        for ppn in written.filter(|ppn| ftl.array().is_written(*ppn)) {
            let data = ftl.array().read(ppn);
            let version = newest.entry((data >> 32) - 1).or_default();
            *version = data.max(*version);
        }
        newest
    };
    let before = newest(&sim);
    assert_eq!(before.len() as u64, pages);
    // Every page is written once, in an order of its own, and others are read meanwhile.
    let (mut told, mut cuts, mut step) = (Vec::new(), 0, 0);
    let interrupted = |sim: &Sim<Remembering>| sim.device_stats().suspends.program.total();
    let mut seen = 0;
    while cuts < 1_500 {
        step += 1;
        let at = Time::from_ns(step * 30_000);
        loop {
            match sim.advance(Some(at)) {
                Turn::Done => {
                    let done = std::iter::from_fn(|| sim.take_done()).map(|c| u64::from(c.token));
                    told.extend(done.filter(|token| *token < pages));
                }
                Turn::Reached => break,
                Turn::Idle | Turn::WornOut => unreachable!("it has an alarm, and a life"),
            }
        }
        if step % 12 == 0 && step / 12 < pages {
            let page = step / 12 * 7 % pages;
            sim.submit(&common::write(at.as_ns(), page), page as u32);
        }
        sim.submit(&common::read(at.as_ns(), rng.below(pages as u32).into()), u32::MAX);
        if interrupted(&sim) > seen {
            seen = interrupted(&sim);
            cuts += 1;
            let now = newest(&sim);
            for page in 0..pages {
                let (old, found) = (before[&page], now[&page]);
                assert!(!told.contains(&page) || found > old, "page {page} was told, and is lost");
            }
        }
        assert!(step < 100_000, "{cuts} cuts");
    }
    assert!(told.len() > 100, "{}", told.len());
}

/// A canary: the book finds a page that is not the latest.
#[test]
#[should_panic(expected = "got another page's data")]
fn an_old_copy_would_be_found() {
    let _cells = beside_a_book();
    let drive = busy(&["host.mode=think-time"], 5);
    let read = Request { op: Op::Read, ..common::read(1_000_000, 3) };
    let list = List::new("canary", vec![common::write(0, 3), read]).unwrap();
    let mut ftl = ftl_of(&drive, policies_of(&drive));
    precondition(&drive, &list, &mut ftl, &mut |_| true).unwrap();
    let mut sim = Sim::new(&drive, ftl);
    // The host believes in a write that the drive has not seen.
    let mut late = Late(list.open().unwrap());
    sim.run(&mut late, None, &mut |_| true).unwrap();
}

/// Passes requests on, and notes a write of page 3 behind the drive's back before the last.
struct Late(Box<dyn workload::RequestSource>);

impl workload::RequestSource for Late {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), workload::TraceError> {
        self.0.fill(batch)?;
        batch.retain(|r| r.op == Op::Read);
        noted(3, u64::MAX);
        Ok(())
    }
}

#[test]
fn the_last_write_of_every_page_is_what_the_drive_holds() {
    for (own, pattern) in BUSY {
        for depth in [4, 100] {
            let depth = format!("host.queue-depth={depth}");
            let drive = busy(&[own, &[&depth, "policy order=priority"]].concat(), 9);
            let list = with_priorities(&drive, pattern);
            let mut sim = remember(&drive, &list);
            // A page that is on its way as the run ends is in no slot yet.
            assert!(sim.work_off().is_some());
            let ftl = sim.ftl();
            // The greatest version of each page that is anywhere in the array: copies of older
            // writes may still lie about, newer ones may not.
            let mut newest: BTreeMap<u32, u64> = BTreeMap::new();
            for n in 0..ftl.geometry().pages() as u32 {
                let ppn = Ppn::from_u32(n);
                if ftl.array().is_written(ppn) {
                    let data = ftl.array().read(ppn);
                    let owner = (data >> 32) as u32 - 1;
                    let version = newest.entry(owner).or_default();
                    *version = data.max(*version);
                }
            }
            let mut mapped = 0;
            for lpn in (0..drive.logical_pages).map(Lpn::from_u32) {
                if let Some(ppn) = ftl.map().lookup(lpn) {
                    mapped += 1;
                    assert_eq!(ftl.array().read(ppn), newest[&lpn.as_u32()], "page {lpn}");
                }
            }
            assert!(mapped > 100);
            assert!(sim.now() > Time::ZERO);
        }
    }
}

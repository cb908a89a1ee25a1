//! Right state? The state after preconditioning: filled, aged until write amplification is flat,
//! kept in a cache.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{
    self, Memory, PAGE, Remembering, bytes, class_of, close, count, data_of, drive, first_of,
    generate, number, policies_of, run_with, serve, trim, warnings, without_timing,
};
use floatgate_ssd::{
    Drive, NoCache, Preconditioned, StateCache, ftl_of, generator, planned, precondition,
};
use ftl::{Ftl, Lpn};
use kernel::{Rng, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read, Write};
use workload::{List, Op, Request, Workload};

/// The drive's FTL after preconditioning, and the report of preconditioning.
fn preconditioned(drive: &Drive, workload: &dyn Workload) -> (Ftl<Remembering>, Preconditioned) {
    let mut ftl = ftl_of(drive, policies_of(drive));
    let state = precondition(drive, workload, &mut ftl, &mut |_| true).unwrap();
    ftl.check().unwrap();
    (ftl, state)
}

fn owned(settings: &[&str]) -> Vec<String> {
    settings.iter().map(|s| (*s).to_owned()).collect()
}

// ── Filling ─────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_full_fill_maps_every_page() {
    for own in [
        &[][..],
        &["geometry.channels=3", "geometry.planes-per-die=2", "geometry.pages-per-block=7"],
        &["geometry.channels=2", "geometry.dies-per-chip=2", "policy placement=static:order=dpcw"],
        // As much data as a drive may hold, and collecting from the first block on.
        &["geometry.channels=2", "ftl.spare-factor=0.25", "policy victim=random"],
        &["geometry.planes-per-die=4", "ftl.spare-factor=0.5", "ftl.gc.start=5", "ftl.gc.stop=6"],
        &["geometry.pages-per-block=1", "geometry.blocks-per-plane=64", "policy victim=fifo"],
    ] {
        let drive = drive(&[&["precondition.fill=full"], own].concat());
        let pages = u64::from(drive.logical_pages);
        let all = (0..pages).map(|p| bytes(p, Op::Read, p * PAGE, PAGE)).collect();
        let value = serve(&drive, all);
        assert_eq!(count(&value["checks"]["mapped"]), pages, "{own:?}");
        assert_eq!(count(&value["flash"]["unmapped_reads"]), 0);
        assert_eq!(count(&value["flash"]["read"]["host"]), pages);
        assert_eq!(count(&value["flash"]["program"]["total"]), 0, "filling is not counted");
        assert_eq!(number(&value["wear"]["erases"]["mean"]), 0.0, "nor does it wear");
    }
}

/// Reads of all pages show which of them exist; a read of a missing page costs nothing.
#[test]
fn a_share_maps_so_many_pages_from_the_first_on() {
    for share in [0.001, 0.5, 0.9, 0.99999] {
        let fill = format!("precondition.fill={share}");
        let drive = drive(&[&fill, "ftl.unmapped-read=zero"]);
        let pages = u64::from(drive.logical_pages);
        let expected = ((pages as f64 * share).round() as u64).max(1);
        let (first, rest): (Vec<_>, Vec<_>) = (0..pages)
            .map(|p| bytes(p, Op::Read, p * PAGE, PAGE))
            .partition(|r| r.offset < expected * PAGE);
        let value = serve(&drive, first);
        assert_eq!(count(&value["checks"]["mapped"]), expected, "{share}");
        assert_eq!(count(&value["flash"]["read"]["host"]), expected, "{share}");
        if !rest.is_empty() {
            let value = serve(&drive, rest);
            assert_eq!(count(&value["flash"]["read"]["host"]), 0, "{share}");
            assert_eq!(count(&value["flash"]["unmapped_reads"]), pages - expected, "{share}");
        }
    }
}

/// Little data on a large drive: the way to the first collection is long, and after it collection
/// moves next to nothing.
#[test]
fn a_drive_with_little_data_ages_to_its_steady_state() {
    for fill in ["precondition.fill=0.02", "precondition.fill=0.3"] {
        let drive = drive(&[
            fill,
            "precondition.age=random",
            "geometry.blocks-per-plane=8192",
            "geometry.pages-per-block=128",
        ]);
        let idle = generator(&drive, "random-write").unwrap();
        let (ftl, state) = preconditioned(&drive, &*idle);
        assert!(state.steady, "{fill}: {state:?}");
        assert!(ftl.counts().erase.total() > 0, "{fill} collected nothing");
        assert_eq!(u64::from(ftl.map().mapped()), state.filled);
        close(fill, state.waf, 1.0, 0.01);
    }
}

#[test]
fn touched_maps_exactly_what_is_read_before_it_is_written() {
    let drive = drive(&["geometry.blocks-per-plane=64"]);
    let end = u64::from(drive.logical_pages) * PAGE;
    for seed in 0..50 {
        let mut rng = Rng::named(seed, "touched");
        let mut requests: Vec<Request> = Vec::new();
        let (mut written, mut needed) = (BTreeSet::new(), BTreeSet::new());
        for at in 0..40 {
            let op =
                [Op::Read, Op::Write, Op::WriteFua, Op::Trim, Op::Flush][rng.below(5) as usize];
            if op == Op::Flush {
                requests.push(bytes(at, op, 0, 0));
                continue;
            }
            let offset = rng.below_u64(end / 512 - 40) * 512;
            let len = 512 * (1 + rng.below_u64(40));
            requests.push(bytes(at, op, offset, len));
            for page in offset / PAGE..=(offset + len - 1) / PAGE {
                let whole = offset <= page * PAGE && offset + len >= (page + 1) * PAGE;
                // A write of a part reads the rest.
                let reads = op == Op::Read || (op.writes() && !whole);
                if reads && !written.contains(&page) {
                    needed.insert(page);
                }
                if op.writes() {
                    written.insert(page);
                }
            }
        }
        let list = List::new("touched", requests).unwrap();
        let (ftl, state) = preconditioned(&drive, &list);
        let mapped: BTreeSet<u64> = (0..drive.logical_pages)
            .filter(|&p| ftl.map().lookup(Lpn::from_u32(p)).is_some())
            .map(u64::from)
            .collect();
        assert_eq!(mapped, needed, "seed {seed}");
        assert_eq!(state.filled, needed.len() as u64);
    }
}

#[test]
fn nothing_is_filled_where_nothing_is_asked() {
    let drive = drive(&["precondition.fill=none"]);
    let value = serve(&drive, vec![bytes(0, Op::Read, 0, 3 * PAGE)]);
    assert_eq!(count(&value["checks"]["mapped"]), 0);
    assert_eq!(count(&value["flash"]["unmapped_reads"]), 3);
    assert!(warnings(&value).contains(&"unmapped-reads"));
}

// ── Ageing ──────────────────────────────────────────────────────────────────────────────────────

/// A drive that is worn in by its workload has no volatile memory then: flushes do nothing, and whether
/// a write bypasses such memory does not tell.
#[test]
fn flushes_and_fua_age_nothing_otherwise() {
    let drive = drive(&["precondition.age=workload", "geometry.blocks-per-plane=64"]);
    let state = |workload: &dyn Workload| {
        let (ftl, state) = preconditioned(&drive, workload);
        let places = (0..drive.logical_pages).map(|p| ftl.map().lookup(Lpn::from_u32(p)));
        (format!("{state:?}"), ftl.counts().erase.total(), places.collect::<Vec<_>>())
    };
    let mut rng = Rng::named(1, "flushes");
    let plain: Vec<_> = (0..400)
        .map(|at| bytes(at, Op::Write, rng.below_u64(drive.logical_pages.into()) * PAGE, PAGE))
        .collect();
    let mut mixed = Vec::new();
    for (i, r) in plain.iter().enumerate() {
        mixed.push(Request { op: if i % 3 == 0 { Op::WriteFua } else { r.op }, ..*r });
        if i % 5 == 0 {
            mixed.push(bytes(r.at.as_ns(), Op::Flush, 0, 0));
        }
    }
    let of = |requests| state(&List::new("l", requests).unwrap());
    let aged = of(plain);
    assert!(aged.1 > 0, "nothing was collected");
    assert_eq!(of(mixed), aged);
    // The same of a generator, whose stream goes on.
    let generated = |own: &[&str]| {
        let settings =
            [&["precondition.age=workload", "geometry.blocks-per-plane=64"], own].concat();
        state(&*generator(&common::drive(&settings), "random-write").unwrap())
    };
    let own = ["workload.flush-every=3", "workload.fua-share=0.4"];
    assert_eq!(generated(&own), generated(&[]));
}

/// A drive of 1024 blocks under random writes of pages.
/// A workload that only reads and trims has nothing to age by. One with few writes among many trims
/// ends.
#[test]
fn ageing_by_hardly_any_writes_ends() {
    let settings = ["precondition.age=workload", "geometry.blocks-per-plane=64"];
    let shares = ["workload.read-share=0.9", "workload.trim-share=0.1"];
    let drive = drive(&[&settings[..], &shares].concat());
    let (_, found) = preconditioned(&drive, &*generator(&drive, "random-read").unwrap());
    assert_eq!((found.aged, found.steady), (0, false));
    // The same as a list, and with one write to a thousand trims.
    for writes in [0, 1] {
        let all = (0..1_000).map(|i| if i < writes { common::write(0, i) } else { trim(0, i % 9) });
        let list = List::new("trims", all.collect()).unwrap();
        let (_, found) = preconditioned(&drive, &list);
        assert_eq!(found.aged > 0, writes > 0, "{writes} writes: {} aged", found.aged);
    }
}

fn written(spare: f64, own: &[&str]) -> Vec<String> {
    let mut settings = owned(&[
        "geometry.pages-per-block=32",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "host.queue-depth=4",
        "workload.seed=2000",
    ]);
    settings.push(format!("ftl.spare-factor={spare}"));
    settings.extend(owned(own));
    settings
}

/// Programs and host pages of a run of `fills` times the drive's capacity.
fn programs(settings: &[String], fills: u64) -> (u64, u64) {
    let mut settings = settings.to_vec();
    let pages = u64::from(drive(&settings).logical_pages);
    settings.push(format!("workload.requests={}", fills * pages));
    let value = generate(&drive(&settings), "random-write");
    assert!(!warnings(&value).contains(&"not-steady"));
    (count(&value["checks"]["programs"]), fills * pages)
}

#[test]
fn an_aged_drive_is_where_brute_force_ends() {
    let one = "geometry.blocks-per-plane=1024";
    let all = [
        (0.20, &[one, "policy victim=random"][..]),
        (0.15, &[one, "policy victim=d-choices:d=2"]),
        (0.15, &["geometry.blocks-per-plane=256", "geometry.channels=4", "policy victim=greedy"]),
        (0.28, &["geometry.blocks-per-plane=512", "geometry.planes-per-die=2", "ftl.gc.stop=4"]),
        (0.07, &[one, "policy victim=greedy"]),
        (0.10, &[one, "policy victim=fifo"]),
    ];
    for &(spare, own) in first_of(&all, 4) {
        let settings = written(spare, own);
        let aged = [settings.clone(), owned(&["precondition.age=random"])].concat();
        let (made, pages) = programs(&aged, 8);
        let aged = made as f64 / pages as f64;
        // From a freshly filled drive through the event loop. A run is the beginning of a longer one,
        // so the difference is the programs of the last eight fills of sixteen.
        let (before, first) = programs(&settings, 8);
        let (after, all) = programs(&settings, 16);
        let brute = (after - before) as f64 / (all - first) as f64;
        close(&format!("aged against brute force, spare {spare}, {own:?}"), aged, brute, 0.01);
    }
}

#[test]
fn an_aged_drive_is_flat() {
    let policies = [(0.25, "d-choices:d=5"), (0.12, "fifo"), (0.07, "greedy")];
    // Larger than the shortest stretch of ageing, so that ageing stops as early as it may.
    for (spare, victim) in first_of(&policies, 1) {
        let own = ["geometry.blocks-per-plane=8192".to_owned(), format!("policy victim={victim}")];
        let aging = owned(&["precondition.age=random"]);
        let drive = drive(&[written(*spare, &[]), own.to_vec(), aging].concat());
        let made = generator(&drive, "random-write").unwrap();
        let (mut ftl, state) = preconditioned(&drive, &*made);
        assert!(state.steady);
        let pages = drive.logical_pages;
        let mut rng = Rng::named(77, "flat");
        let mut stretches = Vec::new();
        for _ in 0..6 {
            let before = ftl.counts().program.total();
            for _ in 0..pages {
                let lpn = Lpn::from_u32(rng.below(pages));
                assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO));
            }
            stretches.push((ftl.counts().program.total() - before) as f64 / f64::from(pages));
        }
        // Brute force is the end of these six fills and those of ageing before.
        let [.., a, b] = stretches[..] else { unreachable!() };
        let end = f64::midpoint(a, b);
        close(&format!("{victim} at {spare}: last stretch of ageing"), state.waf, end, 0.01);
        for (fill, waf) in stretches.into_iter().enumerate() {
            close(&format!("{victim} at {spare}: fill {fill} after ageing"), waf, end, 0.01);
        }
    }
}

#[test]
fn ageing_by_the_workload_ends_where_the_workload_goes_on() {
    for (pattern, own) in [
        ("random-write", &["workload.requests=60000"][..]),
        ("hot-cold", &["workload.requests=40000", "workload.trim-share=0.1"]),
        ("zipf", &["workload.requests=50000", "workload.read-share=0.5", "workload.size=16KiB"]),
    ] {
        let mut settings = written(0.12, &["geometry.blocks-per-plane=512"]);
        settings.push("precondition.age=workload".into());
        settings.extend(owned(own));
        let drive = drive(&settings);
        let made = generator(&drive, pattern).unwrap();
        let (_, state) = preconditioned(&drive, &*made);
        assert!(state.steady, "{pattern}");
        let value = generate(&drive, pattern);
        // Two samples of one process, the smaller of 36,000 writes.
        close(pattern, number(&value["waf_pages"]), state.waf, 0.02);
    }
    // A generator goes on with new requests: few of them again and again would die in the order in
    // which they were written, and no page would ever be moved.
    let aged = |age: &str| {
        let mut settings = written(0.12, &["geometry.blocks-per-plane=512"]);
        settings.extend(owned(&["workload.requests=2000", age]));
        let drive = drive(&settings);
        let made = generator(&drive, "random-write").unwrap();
        let (_, state) = preconditioned(&drive, &*made);
        assert!(state.steady && state.waf > 2.0, "{age}: {}", state.waf);
        assert_eq!(state.pass, (0, 0));
        state.waf
    };
    close("process", aged("precondition.age=workload"), aged("precondition.age=random"), 0.01);
    // A workload that writes nothing ages nothing.
    let idle = drive(&["precondition.fill=full", "precondition.age=workload"]);
    let value = serve(&idle, vec![bytes(0, Op::Read, 0, PAGE)]);
    assert_eq!(class_of(&value, "read").requests, 1);
    assert_eq!(warnings(&value), ["spare-in-reserve", "few-samples"]);
}

/// Flash of ten times the data: many rounds go by before there is anything to reclaim.
#[test]
fn ageing_waits_for_garbage_collection() {
    let drive = drive(&[
        "geometry.blocks-per-plane=4096",
        "geometry.pages-per-block=256",
        "ftl.spare-factor=0.9",
        "precondition.fill=full",
        "precondition.age=workload",
    ]);
    let rounds = (0..4000).map(|n| bytes(n, Op::Write, n % 1000 * PAGE, PAGE));
    let list = List::new("rounds", rounds.collect()).unwrap();
    let (ftl, state) = preconditioned(&drive, &list);
    assert!(ftl.counts().erase.total() > 0, "{state:?}");
    assert!(state.aged + state.filled > drive.geometry.pages() as u64);
    assert!(state.steady);
    close("in order", state.waf, 1.0, 0.05);
    assert_eq!(state.pass, (4000, 1000));
}

/// Collection need not end in one state. Data that stay in the order of filling are never looked
/// at. Once they have holes they are moved among changing data, over and over, and after a new mix
/// it takes long to separate them.
#[test]
fn ageing_does_not_count_on_data_that_were_filled_in_order() {
    let settings = |own: &[&str]| {
        let base = [
            "geometry.blocks-per-plane=256",
            "geometry.pages-per-block=64",
            "ftl.spare-factor=0.15",
            "precondition.fill=full",
            "host.mode=queue-depth",
            "workload.span=1MiB",
            "workload.requests=70000",
        ];
        drive(&[&base[..], own].concat())
    };
    let waf = |age: &str| number(&generate(&settings(&[age]), "random-write")["waf"]);
    let (easy, random) = (waf("precondition.age=none"), waf("precondition.age=random"));
    assert!(easy < 1.01 && random > 2.0, "{easy} {random}");
    // Ageing wrote the 256 pages more than 2,000 times each.
    let used = waf("precondition.age=workload");
    assert!(used > 1.5 && used < random, "{used} after {random}");
}

// ── The cache ───────────────────────────────────────────────────────────────────────────────────

/// A small aged drive.
fn cached(own: &[&str]) -> Drive {
    let settings = [
        "geometry.channels=2",
        "geometry.planes-per-die=2",
        "geometry.blocks-per-plane=32",
        "ftl.spare-factor=0.25",
        "precondition.fill=full",
        "precondition.age=random",
        "host.mode=queue-depth",
        "workload.requests=1500",
        "workload.read-share=0.3",
        "workload.trim-share=0.05",
    ];
    drive(&[&settings, own].concat())
}

fn random_writes(drive: &Drive, cache: &mut dyn StateCache) -> String {
    let made = generator(drive, "random-write").unwrap();
    without_timing(&run_with(drive, made, cache))
}

#[test]
fn a_state_from_the_cache_is_the_computed_one_bit_for_bit() {
    for own in [
        &[][..],
        &["policy victim=fifo", "policy order=priority"],
        &["policy victim=d-choices:d=3", "policy placement=static"],
        &["policy victim=random", "policy wear=static:threshold=3", "ftl.multi-plane=any"],
        &["precondition.age=workload", "precondition.fill=touched", "ftl.gc.stop=3"],
        &["precondition.fill=none"],
        &[
            "ftl.gc.background-stop=5",
            "host.mode=think-time",
            "timing.bus={ rate = \"400MT/s\", command = \"1us\" }",
        ],
    ] {
        let mut memory = Memory::default();
        let drive = cached(own);
        let computed = random_writes(&drive, &mut memory);
        assert_eq!((memory.found, memory.kept), (0, 1), "{own:?}");
        assert_eq!(random_writes(&drive, &mut memory), computed, "{own:?}");
        assert_eq!((memory.found, memory.kept), (1, 1), "{own:?}");
        if own.is_empty() {
            assert_eq!(random_writes(&drive, &mut NoCache), computed);
        }
    }
}

/// A run with a state from the cache gives the result of a run without. A run that found none made its own.
fn as_without(memory: &mut Memory, drive: &Drive, what: &str) {
    let before = memory.found;
    let value = random_writes(drive, memory);
    if memory.found > before {
        assert_eq!(value, random_writes(drive, &mut NoCache), "{what}");
    }
}

#[test]
fn a_cache_never_gives_the_state_of_another_drive() {
    let mut memory = Memory::default();
    random_writes(&cached(&[]), &mut memory);
    for own in [
        "geometry.channels=4",
        "geometry.pages-per-block=9",
        "geometry.page-size=8KiB",
        "ftl.spare-factor=0.3",
        "ftl.gc.stop=3",
        "policy victim=fifo",
        "policy placement=static",
        "policy placement=static:order=pcwd",
        "policy wear=static:threshold=2",
        "run.seed=2",
        "precondition.fill=touched",
        "precondition.fill=0.9",
        "precondition.age=workload",
        // And these are free to share it.
        "timing.read=70us",
        "host.queue-depth=3",
        "policy order=read-first",
        "reliability.endurance=100000",
    ] {
        as_without(&mut memory, &cached(&[own]), own);
    }
    assert_eq!(memory.found, 4, "only what does not matter to the state shares it");
    // By the workload: everything about it matters.
    let base = ["precondition.fill=touched", "precondition.age=workload"];
    random_writes(&cached(&base), &mut memory);
    for own in [
        "workload.requests=1499",
        "workload.read-share=0.31",
        "workload.seed=5",
        "workload.align=512B",
        "workload.size=8KiB",
        "workload.shift=512B",
        "workload.span=512KiB",
        "host.out-of-range=wrap",
        "host.out-of-range=compact",
    ] {
        let mut settings = [&base[..], &[own]].concat();
        if own.ends_with("512B") {
            settings.push("host.out-of-range=wrap");
        }
        as_without(&mut memory, &cached(&settings), own);
    }
    assert_eq!(memory.found, 4, "none is that of another workload");
    // Two lists of one name and length.
    let drive = cached(&base);
    let script = |step: u64| -> Box<dyn Workload> {
        let writes = (0..900).map(|i| bytes(i, Op::Write, i * step % 200 * PAGE, PAGE)).collect();
        Box::new(List::new("script", writes).unwrap())
    };
    let mut memory = Memory::default();
    for step in [1, 7, 1] {
        let fresh = without_timing(&run_with(&drive, script(step), &mut NoCache));
        assert_eq!(without_timing(&run_with(&drive, script(step), &mut memory)), fresh, "{step}");
    }
    assert_eq!(memory.found, 1, "the first list is found again");
}

#[test]
fn runs_share_a_state_exactly_if_its_name_says_so() {
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut runs = 0;
    for own in [
        &[][..],
        &["timing.read=70us", "policy order=read-first"],
        &["workload.requests=1499"],
        &["ftl.spare-factor=0.3"],
        &["run.seed=2"],
        &["policy victim=fifo"],
        &["precondition.age=workload"],
        &["precondition.age=workload", "timing.read=70us"],
        &["precondition.age=workload", "workload.requests=1499"],
        &["precondition.age=workload", "host.out-of-range=compact"],
        &["precondition.age=none"],
    ] {
        let drive = cached(own);
        // Ageing at random does not depend on the workload.
        let either = own.is_empty() || own.contains(&"precondition.age=workload");
        for pattern in &["random-write", "zipf"][..if either { 2 } else { 1 }] {
            let mut memory = Memory::default();
            let workload = generator(&drive, pattern).unwrap();
            let plan = planned(&drive, workload.about());
            let value = run_with(&drive, workload, &mut memory);
            assert_eq!(plan.config, value["provenance"]["config"]);
            let (name, key) = (plan.state, memory.states.into_keys().next());
            assert_eq!(name, key, "{own:?}");
            if let (Some(name), Some(key)) = (name, key) {
                keys.entry(name).or_default().insert(key);
                runs += 1;
            }
        }
    }
    let states: BTreeSet<&String> = keys.values().flatten().collect();
    assert!(keys.values().all(|keys| keys.len() == 1), "one name, one state");
    assert_eq!((keys.len(), states.len(), runs), (10, 10, 15), "one state, one name");
}

/// Gives its entry, damaged.
struct Damaged<'a> {
    state: &'a [u8],
    harm: &'a dyn Fn(&mut Vec<u8>),
}

impl StateCache for Damaged<'_> {
    fn load(&mut self, _: &str) -> Option<Box<dyn Read + '_>> {
        let mut state = self.state.to_vec();
        (self.harm)(&mut state);
        Some(Box::new(Cursor::new(state)))
    }

    fn store(&mut self, _: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        assert_eq!(bytes, self.state, "what was damaged is computed anew");
    }
}

/// A run that writes nothing has no bytes for each page. Ageing collected garbage, whatever the run does.
#[test]
fn a_run_without_writes_names_the_write_amplification_of_its_ageing() {
    let seed = |n: u32| format!("run.seed={n}");
    let once = |n: u32, memory: &mut Memory| {
        let own = ["precondition.age=workload", "workload.requests=1", &seed(n)];
        let drive = cached(&own);
        run_with(&drive, generator(&drive, "random-write").unwrap(), memory)
    };
    let (mut memory, value, n) = (1..20)
        .map(|n| {
            let mut memory = Memory::default();
            let value = once(n, &mut memory);
            (memory, value, n)
        })
        .find(|(_, value, _)| value["waf"].is_null())
        .expect("one of twenty is a read");
    assert_eq!(warning(&value, "not-steady"), None);
    for state in memory.states.values_mut() {
        let summary: &mut [u8; Preconditioned::BYTES] = state.first_chunk_mut().unwrap();
        let found = Preconditioned::from_bytes(summary).expect("sound");
        assert!(found.steady && found.waf > 1.0);
        *summary = Preconditioned { steady: false, waf: 2.5, ..found }.to_bytes();
    }
    let value = once(n, &mut memory);
    let text = warning(&value, "not-steady").expect("the state was not flat");
    assert!(text.contains("it was 2.500 over the last stretch"), "{text}");
}

#[test]
fn a_damaged_state_is_as_good_as_none() {
    let mut memory = Memory::default();
    let drive = cached(&["workload.requests=200", "geometry.channels=1"]);
    let computed = random_writes(&drive, &mut memory);
    let state = memory.states.into_values().next().unwrap();
    let check = |what: &str, harm: &dyn Fn(&mut Vec<u8>)| {
        let mut cache = Damaged { state: &state, harm };
        assert_eq!(random_writes(&drive, &mut cache), computed, "{what}");
    };
    check("whole", &|_| {});
    check("empty", &Vec::clear);
    for keep in [1, 31, 32, 40, state.len() / 2, state.len() - 4, state.len() - 1] {
        check(&format!("cut to {keep}"), &|s| s.truncate(keep));
    }
    check("longer", &|s| s.extend([0; 4]));
    let (bits, swaps) = if cfg!(feature = "verify") { (40, 20) } else { (8, 4) };
    let mut rng = Rng::named(5, "damage");
    for _ in 0..bits {
        let (at, bit) = (rng.below(state.len() as u32) as usize, rng.below(8));
        check(&format!("bit {bit} of byte {at}"), &|s| s[at] ^= 1 << bit);
    }
    // Two words exchanged: sums would not see it.
    for _ in 0..swaps {
        let words = state.len() as u32 / 4;
        let (a, b) = (rng.below(words) as usize * 4, rng.below(words) as usize * 4);
        check(&format!("words at {a} and {b}"), &|s| (0..4).for_each(|i| s.swap(a + i, b + i)));
    }
}

/// A drive that fills up during the run has no one write amplification; an aged one has.
#[test]
fn a_run_whose_write_amplification_moves_says_so() {
    let run = |own: &[&str]| {
        let base = [
            "geometry.blocks-per-plane=256",
            "geometry.pages-per-block=64",
            "ftl.spare-factor=0.15",
            "host.mode=queue-depth",
            "workload.requests=100000",
        ];
        let value = generate(&drive(&[&base[..], own].concat()), "random-write");
        assert!(count(&value["flash"]["erase"]["gc"]) > 100);
        value
    };
    for size in ["4KiB", "2KiB"] {
        let size = format!("workload.size={size}");
        let value = run(&["precondition.fill=none", &size]);
        let text = warning(&value, "waf-not-steady").expect(&size);
        assert!(text.contains("(see precondition.age)"), "{text}");
        // In bytes, as the write amplification of the whole run, which lies between them.
        let (first, second) = halves(text);
        assert!(first < number(&value["waf"]) && number(&value["waf"]) < second, "{text}");
        assert!(close_to(f64::midpoint(first, second), number(&value["waf"]), 0.01), "{text}");
    }
    let value = run(&["precondition.fill=full", "precondition.age=random"]);
    assert_eq!(warning(&value, "waf-not-steady"), None);
}

fn warning<'a>(value: &'a Value, code: &str) -> Option<&'a str> {
    let all = value["warnings"].as_array().unwrap();
    all.iter().find(|w| w["code"] == code).map(|w| w["text"].as_str().unwrap())
}

/// The write amplifications that the warning names.
fn halves(text: &str) -> (f64, f64) {
    let mut numbers = text.split([' ', ':']).filter_map(|word| word.parse::<f64>().ok());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

fn close_to(got: f64, want: f64, share: f64) -> bool {
    (got / want - 1.0).abs() <= share
}

/// A user who has aged the drive is not advised to do so.
#[test]
fn collection_that_never_ran_has_a_hint_for_what_was_not_done() {
    for (own, hint) in [
        (&["precondition.fill=full"][..], "see precondition.age"),
        (&["precondition.fill=full", "precondition.age=random"], "too short"),
        (&["precondition.fill=full", "precondition.age=workload"], "too short"),
        (&["precondition.fill=none", "precondition.age=random"], "see precondition.fill"),
    ] {
        let base = ["geometry.blocks-per-plane=64", "geometry.pages-per-block=64", "ftl.gc.stop=4"];
        // A drive that has room for one page more before it collects.
        let value = (1..50).find_map(|seed| {
            let seed = format!("run.seed={seed}");
            let own = [&base[..], &["workload.requests=1", &seed], own].concat();
            let value = generate(&drive(&own), "random-write");
            (count(&value["flash"]["erase"]["gc"]) == 0).then_some(value)
        });
        let value = value.expect("one of fifty drives");
        let text = warning(&value, "gc-never-ran").unwrap();
        assert!(text.contains(hint), "{own:?}: {text}");
        assert_eq!(text.contains("see precondition.age"), hint.contains("age"), "{text}");
    }
}

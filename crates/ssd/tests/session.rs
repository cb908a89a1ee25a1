//! Requests that come one by one. The run equals that of the list of these requests, to the bit,
//! and the session reports in time which data survive a loss of power.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{BASE, Memory, PAGE, bytes, drive, read, run_with, try_drive, warnings, write};
use crate::sixty::draw;
use floatgate_ssd::sim::Turn;
use floatgate_ssd::{
    Client, Drive, NoCache, Session, StateCache, WornOut, capacity, open_session, policies,
};
use ftl::Lpn;
use kernel::{Idx, Prio, Rng, Time, TimeSum};
use nand::BlockId;
use policies::Family;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use workload::{About, List, Named, Op, Request, Workload};

const VOLATILE: &str = "buffer.power-loss-protected=false";

/// Drives with different events at one instant with an arrival, or after the last one.
const DRIVES: [(&str, &[&str]); 8] = [
    ("plain", &[]),
    ("full", &["precondition.fill=full", "geometry.planes-per-die=2", "geometry.channels=2"]),
    ("volatile", &["buffer.size=32KiB", "buffer.flush-above=0.5", VOLATILE]),
    ("protected", &["buffer.size=32KiB", "buffer.power-loss-protected=true", "buffer.latency=4us"]),
    ("write-through", &["buffer.size=32KiB", "buffer.kind=write-through", VOLATILE]),
    (
        "units",
        &[
            "geometry.page-size=16KiB",
            "ftl.mapping-unit=4KiB",
            "buffer.size=64KiB",
            VOLATILE,
            "geometry.blocks-per-plane=64",
        ],
    ),
    ("in front", &["link.rate=1GB/s", "controller.read=3us", "controller.write=5us"]),
    ("worn out", &["reliability.endurance=3", "precondition.fill=full"]),
];

/// Pages of the drives that are asked for.
const PAGES: u32 = 40;

fn random(rng: &mut Rng) -> Request {
    let (op, len) = match rng.below(20) {
        0..9 => (Op::Read, PAGE),
        9..15 => (Op::Write, PAGE),
        15 => (Op::Write, 512),
        16 => (Op::WriteFua, 2 * PAGE),
        17 => (Op::Trim, 3 * PAGE),
        _ => return bytes(0, Op::Flush, 0, 0),
    };
    bytes(0, op, u64::from(rng.below(PAGES)) * PAGE, len)
}

/// A client that keeps some requests inside, more or fewer, and pauses now and then. Returns the
/// requests, with the times at which they came.
fn serve(session: &mut Session, seed: u64, count: usize) -> Vec<Request> {
    let mut rng = Rng::named(seed, "client");
    let (mut came, mut inside) = (Vec::new(), 0);
    let push = |session: &mut Session, request: Request, came: &mut Vec<Request>| {
        match session.arrive(&request, came.len() as u32) {
            Ok(at) => came.push(Request { at, ..request }),
            Err(WornOut) => return false,
        }
        true
    };
    while came.len() < count {
        let most = 1 + rng.below(8);
        while inside < most {
            let before = came.len();
            if !push(session, random(&mut rng), &mut came) {
                return came;
            }
            inside += (came.len() - before) as u32;
        }
        // Some clients come back after a time of their own.
        let pause = (rng.below(4) == 0).then(|| session.sim().now() + kernel::Dur::us(70));
        let turn = session.advance(pause);
        while session.take_done().is_some() {
            inside -= 1;
        }
        if turn == Turn::WornOut {
            return came;
        }
    }
    push(session, bytes(0, Op::Flush, 0, 0), &mut came);
    came
}

/// A result without the origin of its requests.
fn bare(mut value: Value) -> Value {
    value["provenance"]["workload"] = Value::Null;
    value["timing"] = Value::Null;
    value
}

/// One of [`DRIVES`]; future reads are unknown.
fn fit(settings: &[&str]) -> Drive {
    drive(&[&["precondition.fill=none"], settings].concat())
}

fn session(drive: &Drive) -> Session {
    open_session(drive, Client::Program(&[]), &mut NoCache, &mut |_| true)
        .expect("the drive is fit for it")
}

#[test]
fn a_session_is_the_run_of_what_came() {
    let (mut met, mut ended) = (0, 0);
    for (name, settings) in DRIVES {
        for seed in 0..8 {
            let drive = fit(settings);
            let mut session = session(&drive);
            let came = serve(&mut session, seed, 1500);
            // Several came at one instant, and they were not all at different ones.
            met += came.windows(2).filter(|w| w[0].at == w[1].at).count();
            session.close(&mut |_| {});
            let list = List::new("list", came).expect("they came in order");
            let live = session.report(list.about()).value().clone();
            ended += usize::from(live["end"]["state"] == "worn-out");
            let again = run_with(&drive, Box::new(list), &mut NoCache);
            assert_eq!(bare(live), bare(again), "{name}, seed {seed}");
        }
    }
    assert!(met > 1000, "{met}");
    assert_eq!(ended, 8, "the drives that wear out did");
}

#[test]
fn what_a_flush_or_a_forced_write_answers_for_is_safe() {
    let mut early = 0;
    for (name, settings) in DRIVES {
        let drive = fit(settings);
        let mut session = session(&drive);
        session.report_safe();
        let mut rng = Rng::named(3, "client");
        // The last write of each page that was taken in, and the last that is safe.
        let (mut written, mut safe) = (BTreeMap::new(), BTreeMap::new());
        let mut inside: BTreeMap<u32, (Request, BTreeMap<u64, u32>)> = BTreeMap::new();
        for token in 0..4000 {
            let request = random(&mut rng);
            let request = Request { at: Time::ZERO, prio: Prio::Normal, ..request };
            let pages = request.offset / PAGE..request.end().div_ceil(PAGE);
            if request.op.writes() {
                written.extend(pages.clone().map(|page| (page, token)));
            } else if request.op == Op::Trim {
                pages.for_each(|page| {
                    written.remove(&page);
                });
            }
            if session.arrive(&request, token).is_err() {
                break;
            }
            inside.insert(token, (request, written.clone()));
            while inside.len() > 4 {
                if session.advance(None) == Turn::WornOut {
                    break;
                }
                while let Some(told) = session.take_safe() {
                    let known = safe.entry(u64::from(told.page)).or_insert(told.token);
                    *known = told.token.max(*known);
                }
                while let Some(done) = session.take_done() {
                    let (request, written) = inside.remove(&done.token).expect("it was inside");
                    let mut ours = BTreeMap::new();
                    let answers = match request.op {
                        Op::Flush => &written,
                        Op::WriteFua => {
                            let of = request.offset / PAGE..request.end().div_ceil(PAGE);
                            ours.extend(of.map(|page| (page, done.token)));
                            &ours
                        }
                        Op::Write => {
                            let all = |page| safe.get(&page).is_some_and(|s| *s >= done.token);
                            early += usize::from(!all(request.offset / PAGE));
                            continue;
                        }
                        _ => continue,
                    };
                    for (page, token) in answers {
                        let known = safe.get(page);
                        // A request that was given up meanwhile need not be safe.
                        let trimmed = inside.values().any(|(r, _)| r.op == Op::Trim);
                        assert!(
                            trimmed || known.is_some_and(|known| known >= token),
                            "{name}: page {page}, write {token}, safe {known:?}"
                        );
                    }
                }
            }
            if session.sim().worn_out_at().is_some() {
                break;
            }
        }
    }
    assert!(early > 500, "volatile buffers answer before data are safe: {early}");
}

/// Two commands program a wordline in two steps. A loss of power between them keeps the pages of
/// the first one, and the earlier content of the rest.
#[test]
fn between_two_steps_the_pages_of_the_first_are_safe_and_no_others() {
    let drive = fit(&[
        "geometry.page-size=16KiB",
        "ftl.mapping-unit=4KiB",
        "geometry.bits-per-cell=4",
        "timing.program=[ \"1ms\", \"2ms\", \"3ms\", \"4ms\" ]",
        "pages.program=two-step",
        "ftl.program-wait=1ms",
    ]);
    let mut session = session(&drive);
    session.report_safe();
    for page in 0..16 {
        let request = bytes(0, Op::Write, u64::from(page) * PAGE, PAGE);
        session.arrive(&request, page).expect("the drive is not worn out");
    }
    let mut safe = Vec::new();
    for (us, pages) in [(2_990, 0), (3_010, 8), (9_990, 8), (10_010, 16)] {
        let until = Time::from_ns(us * 1_000);
        while session.advance(Some(until)) == Turn::Done {
            while session.take_done().is_some() {}
        }
        safe.extend(std::iter::from_fn(|| session.take_safe()).map(|told| told.page));
        assert_eq!(safe, (0..pages).collect::<Vec<_>>(), "after {us} us");
    }
}

/// Serves a request alone, and all that it sets off.
fn alone(session: &mut Session, request: &Request) {
    session.arrive(request, 0).expect("the drive lives");
    while session.advance(None) != Turn::Idle {
        while session.take_done().is_some() {}
    }
}

/// Requests at their times in one session are repeated in another, which is as the first was.
#[test]
fn what_came_in_an_earlier_session_can_come_again() {
    for (name, settings) in DRIVES {
        let drive = fit(settings);
        let (mut first, mut second) = (session(&drive), session(&drive));
        let came = serve(&mut first, 1, 1500);
        let lived = came.iter().all(|request| second.repeat(request, 0).is_ok());
        assert!(lived || first.sim().worn_out_at().is_some(), "{name}");
        let list = List::new("list", came).expect("they came in order");
        let told = |mut session: Session| {
            session.close(&mut |_| {});
            bare(session.report(list.about()).value().clone())
        };
        assert_eq!(told(first), told(second), "{name}");
    }
}

/// Reads that come 5 for every 4 that are served: the session says so, as the run of a list does.
#[test]
fn a_session_that_is_asked_for_too_much_says_so() {
    let drive = fit(&["ftl.unmapped-read=flash"]);
    let came: Vec<_> = (0..4000).map(|i| read(i * 20_000, i % 2)).collect();
    let mut session = session(&drive);
    assert!(came.iter().all(|request| session.repeat(request, 0).is_ok()));
    session.close(&mut |_| {});
    let list = List::new("list", came).expect("they are in order");
    let live = session.report(list.about()).value().clone();
    let told = warnings(&live);
    assert!(told.contains(&"overloaded"), "{told:?}");
    let again = run_with(&drive, Box::new(list), &mut NoCache);
    assert_eq!(bare(live), bare(again));
}

#[test]
fn a_session_has_room_for_as_many_as_its_drive() {
    let mut session = session(&fit(&["host.queue-limit=4"]));
    for token in 0..4 {
        assert!(session.has_room(), "{token} are inside");
        session.arrive(&read(0, 3), token).expect("the drive lives");
    }
    assert!(!session.has_room());
    assert_eq!(session.advance(None), Turn::Done);
    assert!(session.has_room());
}

/// Reads of 50 us on two dies: an arrival comes one nanosecond after the last event, or at the next
/// instant without one.
#[test]
fn an_arrival_has_an_instant_of_its_own() {
    let own = ["geometry.channels=2", "precondition.fill=full", "policy placement=static"];
    let mut session = session(&drive(&own));
    let arrive = |session: &mut Session, page| {
        session.arrive(&read(0, page), 0).expect("the drive lives").as_ns()
    };
    assert_eq!(arrive(&mut session, 0), 0);
    assert_eq!(session.advance(Some(Time::ZERO)), Turn::Reached);
    assert_eq!(arrive(&mut session, 1), 1);
    assert_eq!(session.advance(None), Turn::Done);
    // The second read is done at 50,001 ns.
    assert_eq!(session.sim().now(), Time::from_ns(50_000));
    assert_eq!(arrive(&mut session, 0), 50_002);
    let done: Vec<_> = std::iter::from_fn(|| session.take_done()).collect();
    assert_eq!(done.len(), 2);
    // It says how far it is when it closes: the third is still inside.
    let mut seen = Vec::new();
    session.close(&mut |p| seen.push((p.done, p.total, p.now)));
    assert_eq!(seen, [(2, None, Time::from_ns(50_002))]);
}

/// Sixteen blocks of eight pages, of which the host sees half, written round and round: blocks are erased
/// whose pages were all written over.
#[test]
fn a_session_says_how_the_drive_stands() {
    let mut session = session(&fit(&[]));
    for page in 0..4 {
        alone(&mut session, &write(0, page));
    }
    let stands = session.standing();
    assert_eq!((stands.programs, stands.page_bytes, stands.dies), ((4, 4), PAGE, 1));
    assert_eq!((stands.erases, stands.wear, stands.spare_lost), ((0, 0.0, 0), 0.0, 0.0));
    assert_eq!(
        (stands.free_blocks, stands.die_busy, stands.inside),
        (15, TimeSum::ns(4 * 600_000), TimeSum::ns(4 * 600_000))
    );
    for n in 4..136 {
        alone(&mut session, &write(0, n % 64));
    }
    // Seventeen blocks were opened, and as many of the sixteen as are free were erased, and one more.
    let stands = session.standing();
    let erased = 1 + stands.free_blocks as u64;
    assert!((1..16).contains(&erased));
    assert_eq!((stands.programs, stands.erases), ((136, 136), (0, erased as f64 / 16.0, 1)));
    assert!((stands.wear - erased as f64 / 16.0).abs() < 1e-12, "{}", stands.wear);
    assert_eq!(stands.die_busy.as_ns(), 136 * 600_000 + u128::from(erased) * 3_000_000);
}

/// Eight blocks are spare: each that is retired is an eighth of that.
#[test]
fn a_session_says_what_retired_blocks_have_taken() {
    let mut session = session(&fit(&["reliability.endurance=3"]));
    let mut seen = 0;
    for page in (0..64).cycle() {
        if session.arrive(&write(0, page), 0).is_err() {
            break;
        }
        while !matches!(session.advance(None), Turn::Idle | Turn::WornOut) {
            while session.take_done().is_some() {}
        }
        let retired = session.sim().ftl().counts().retired.as_f64();
        assert_eq!(session.standing().spare_lost, (retired / 8.0).min(1.0));
        seen += u32::from(retired > 0.0);
    }
    assert!(seen > 0);
}

/// Marks are set after 1, 65, 129, … requests, as in a run, with any number inside. So a hundred
/// and thirty pages, one by one, have halves to the page.
#[test]
fn a_session_has_halves() {
    let mut session = session(&fit(&[]));
    for n in 0..130 {
        alone(&mut session, &write(0, n % 64));
    }
    assert_eq!(
        session.sim().halves().map(|halves| halves.map(|half| half.host_pages)),
        Some([65; 2])
    );
}

/// A page lies in a block that was full when the session began and was erased once since. A read of
/// it meets a write of the session, and a read of an earlier page of the block does not.
#[test]
fn a_read_meets_what_was_written_since_a_full_block_was_erased() {
    let mut session = session(&drive(&["precondition.fill=full"]));
    let array = session.sim().ftl().array();
    let full: Vec<bool> = (0..16).map(|block| array.next_page(BlockId::new(block)) == 8).collect();
    alone(&mut session, &read(0, 1));
    assert!(full.contains(&true) && !session.sim().read_what_it_wrote());
    let lies_there = |session: &Session, page| {
        let ftl = session.sim().ftl();
        let block = ftl.geometry().block_of(ftl.find(Lpn::new(page)).expect("it was written"));
        full[block.index()] && ftl.array().erases()[block] == 1
    };
    let found = (0..1000).map(|n| n % 64).find(|&page| {
        alone(&mut session, &write(0, page));
        lies_there(&session, page as usize)
    });
    assert!(!session.sim().read_what_it_wrote());
    alone(&mut session, &read(0, found.expect("blocks are erased and written again")));
    assert!(session.sim().read_what_it_wrote());
}

/// A page lies behind others in a block that was partly written when the session began. A read of
/// it meets a write of the session, and a read of the pages before does not.
#[test]
fn a_read_meets_what_was_written_into_a_block_that_was_open() {
    let mut session = session(&drive(&["precondition.fill=0.3"]));
    let array = session.sim().ftl().array();
    let began: Vec<u32> = (0..16).map(|block| array.next_page(BlockId::new(block))).collect();
    let lies = |session: &Session, page: u32| {
        let ftl = session.sim().ftl();
        ftl.find(Lpn::from_u32(page)).map(|slot| ftl.geometry().split(slot))
    };
    let was_open = |block: BlockId| (1..8).contains(&began[block.index()]);
    let is_old = |&page: &u32| lies(&session, page).is_some_and(|(block, _)| was_open(block));
    let old = (0..PAGES).find(is_old).expect("blocks are open");
    alone(&mut session, &write(0, u64::from(PAGES)));
    let (block, slot) = lies(&session, PAGES).expect("it was written");
    assert!(was_open(block) && slot >= began[block.index()]);
    alone(&mut session, &read(0, u64::from(old)));
    assert!(!session.sim().read_what_it_wrote());
    alone(&mut session, &read(0, u64::from(PAGES)));
    assert!(session.sim().read_what_it_wrote());
}

// ── Every policy ────────────────────────────────────────────────────────────────────────────────

/// A random drive that has the policy of this number, as a session takes it, and the names of its flows.
fn drawn(number: u32) -> Option<(Drive, Vec<String>)> {
    const FLOWS: [&str; 3] = ["a", "b", "c"];
    let mut rng = Rng::named(number.into(), "session/drives");
    let forced = policies::all().nth(number as usize).expect("there is such a policy");
    for _ in 0..100 {
        let mut settings = draw(&mut rng, number);
        let knows = ["policy cost=oracle", "policy separation=death-time"];
        settings.retain(|s| !s.starts_with("host.mode") && !knows.iter().any(|k| s.starts_with(k)));
        for setting in &mut settings {
            if setting.starts_with("precondition.fill") {
                *setting = "precondition.fill=full".into();
            } else if setting.starts_with("precondition.age=\"workload") {
                *setting = "precondition.age=none".into();
            }
        }
        settings.push(format!("host.queue-limit={}", [4, 16, 1024][rng.below(3) as usize]));
        if forced.family == Family::SlcCache {
            settings.push("slc={ read = \"25us\", program = \"150us\" }".into());
        }
        let flows = (forced.family == Family::Arbitration || rng.below(3) == 0).then_some(FLOWS);
        if flows.is_some() {
            let depth = if settings.iter().any(|s| {
                s.starts_with("policy arbitration") && !s.starts_with("policy arbitration=merge")
            }) {
                ", queue-depth = 3"
            } else {
                ""
            };
            settings.push(format!(
                "host.flow=[{{ name = \"b\", weight = 3{depth} }}, \
                 {{ name = \"c\", priority = \"high\" }}]"
            ));
        }
        let flows = flows.into_iter().flatten().map(ToOwned::to_owned).collect();
        if let Ok(drive) = try_drive(BASE, &settings) {
            return Some((drive, flows));
        }
    }
    None
}

/// Requests of every kind at times of their own, in bursts and with pauses; between them the client
/// takes completed requests now and then. Returns the requests and how many of them were done.
fn bursts(session: &mut Session, seed: u64, count: u32) -> (Vec<Request>, u32) {
    let mut rng = Rng::named(seed, "session/bursts");
    let (mut came, mut done) = (Vec::new(), 0);
    let end = capacity(session.drive()).get();
    let flows = session.flows().len().max(1) as u32;
    for token in 0..count {
        let (op, len) = match rng.below(20) {
            0..8 => (Op::Read, [512, 4096, 24 << 10][rng.below(3) as usize]),
            8..16 => (Op::Write, [512, 4096, 24 << 10][rng.below(3) as usize]),
            16 => (Op::WriteFua, 8 << 10),
            17 | 18 => (Op::Trim, 32 << 10),
            _ => (Op::Flush, 0),
        };
        let offset = u64::from(rng.below(((end - len) / 512) as u32)) * 512;
        let offset = if op == Op::Flush { 0 } else { offset };
        let prio = if rng.below(8) == 0 { Prio::High } else { Prio::Normal };
        let flow = rng.below(flows) as u8;
        let hint = rng.below(4) as u8;
        let request = Request { prio, flow, hint, ..bytes(0, op, offset, len) };
        let pause = [0, 0, 0, 1_000, 200_000, 3_000_000][rng.below(6) as usize];
        let from = session.sim().now() + kernel::Dur::ns(u64::from(rng.below(pause + 1)));
        match session.arrive_from(from, &request, token) {
            Ok(at) => {
                assert!(at >= from && came.last().is_none_or(|last: &Request| last.at <= at));
                came.push(Request { at, ..request });
            }
            Err(WornOut) => break,
        }
        if rng.below(3) == 0 {
            session.advance(Some(session.sim().now() + kernel::Dur::us(40)));
        }
        while session.take_done().is_some() {
            done += 1;
        }
    }
    (came, done)
}

/// The result of a session that ends here, and of the run of its requests.
fn both(
    drive: &Drive,
    mut session: Session,
    mut came: Vec<Request>,
    cache: &mut dyn StateCache,
) -> (Value, Value) {
    session.end(&mut |flush| came.push(*flush), &mut |_| {});
    let list = List::new("list", came).expect("they came in order");
    let about = About { flows: session.flows().to_vec(), ..list.about().clone() };
    let live = session.report(&about).value().clone();
    let again = run_with(drive, Box::new(Named::new(Box::new(list), about)), cache);
    (live, again)
}

/// The first place at which two results differ, and both values.
fn difference(at: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => one
            .iter()
            .find_map(|(key, value)| difference(&format!("{at}.{key}"), value, other.get(key)?)),
        _ => (one != other).then(|| format!("{at}: {one} and {other}")),
    }
}

/// Each policy of each family that a session takes, among others. The requests are recorded, and
/// the run of the record and a second session over it give the same result, also in the flows'
/// parts.
#[test]
fn every_policy_of_every_family_serves_a_session_as_a_run() {
    let (mut families, mut waited, mut inside) = (BTreeSet::new(), 0, 0);
    // `make test` takes the first of each family and every sixth of all.
    let mut seen = BTreeSet::new();
    for (number, policy) in policies::all().enumerate() {
        if !seen.insert(policy.family.name()) && number % 6 > 0 && cfg!(not(feature = "verify")) {
            continue;
        }
        let name = format!("{}={}", policy.family.name(), policy.name);
        let Some((drive, flows)) = drawn(number as u32) else {
            let knows = ["cost=oracle", "separation=death-time"];
            assert!(knows.contains(&&*name), "{name} is refused");
            continue;
        };
        let mut aged = Memory::default();
        let open = |aged: &mut Memory| {
            let opened = open_session(&drive, Client::Program(&flows), aged, &mut |_| true);
            opened.unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let mut session = open(&mut aged);
        let (came, _) = bursts(&mut session, number as u64, 250);
        inside += session.outstanding();
        let (live, again) = both(&drive, session, came.clone(), &mut aged);
        assert_eq!(difference("", &bare(live.clone()), &bare(again)), None, "{name}");
        families.insert(policy.family.name());
        waited += u32::from(warnings(&live).contains(&"queue-limit"));
        assert_eq!(
            live["host"]["flows"].as_object().map_or(0, serde_json::Map::len),
            flows.len(),
            "{name}"
        );

        // Each arrival had an instant of its own: it gets the same again.
        let mut second = open(&mut aged);
        for request in &came {
            let at = second.arrive_from(request.at.max(second.sim().now()), request, 0);
            assert_eq!(at, Ok(request.at), "{name}");
        }
        let (twice, again) = both(&drive, second, came, &mut aged);
        assert_eq!(difference("", &bare(twice.clone()), &bare(again.clone())), None, "{name}");
    }
    assert_eq!(families.len(), Family::ALL.len(), "{families:?}");
    let least = if cfg!(feature = "verify") { 5 } else { 2 };
    assert!(waited >= least && inside > 0, "{waited} {inside}");
}

/// A drive that does something by itself is told with a flush that no more comes; one that does nothing
/// is not.
#[test]
fn a_session_ends_with_a_flush_only_where_that_matters() {
    for (settings, flushes) in [(&[][..], 0), (&["buffer.size=32KiB"][..], 1)] {
        let drive = fit(settings);
        let mut session = session(&drive);
        let mut came = Vec::new();
        for page in 0..20 {
            let at = session.arrive(&write(0, page), 0).expect("the drive lives");
            came.push(Request { at, ..write(0, page) });
        }
        while session.outstanding() > 0 {
            session.advance(None);
            while session.take_done().is_some() {}
        }
        let (live, again) = both(&drive, session, came, &mut NoCache);
        assert_eq!(live["host"]["flush"]["requests"], flushes);
        assert_eq!(bare(live), bare(again), "{settings:?}");
    }
}

#[test]
fn what_needs_to_know_the_requests_is_refused_all_at_once() {
    let settings = [
        "precondition.fill=touched",
        "precondition.age=workload",
        "host.mode=queue-depth",
        "workload.shift=512B",
        "host.out-of-range=compact",
        "policy cost=oracle",
        "policy separation=death-time",
        "policy arbitration=fair",
    ];
    let words =
        ["touched", "\"workload\"", "host.mode", "shift", "compact", "`oracle`", "`death-time`"];
    for (client, own) in [(Client::BlockDevice, "merge"), (Client::Program(&[]), "")] {
        let refused = open_session(&drive(&settings), client, &mut NoCache, &mut |_| true);
        let said = refused.err().expect("it is refused").to_string();
        for word in words.into_iter().chain([own]) {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert_eq!(said.lines().count(), words.len() + usize::from(!own.is_empty()), "{said}");
    }
}

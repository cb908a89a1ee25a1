//! Requests that come one by one: the run is that of the list of what came, to the bit, and which data
//! survive a loss of power is told in time.

mod common;

use common::{PAGE, bytes, drive, run_with};
use floatgate_ssd::sim::Turn;
use floatgate_ssd::{Drive, NoCache, Session, WornOut, open_session};
use kernel::{Prio, Rng, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use workload::{List, Op, Request, Workload};

const VOLATILE: &str = "buffer.power-loss-protected=false";

/// Drives that differ in what may happen at one instant with an arrival, or after the last one.
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

/// A client that keeps some requests inside, more or fewer, and pauses now and then.
/// What came, with the times at which it did.
fn serve(session: &mut Session, seed: u64, count: usize) -> Vec<Request> {
    let mut rng = Rng::named(seed, "client");
    let (mut came, mut inside) = (Vec::new(), 0);
    let mut push = |session: &mut Session, request: Request, came: &mut Vec<Request>| {
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

/// A result without what says where the requests came from.
fn bare(mut value: Value) -> Value {
    value["provenance"]["workload"] = Value::Null;
    value["timing"] = Value::Null;
    value
}

/// One of [`DRIVES`]; nobody knows what will be read.
fn fit(settings: &[&str]) -> Drive {
    drive(&[&["precondition.fill=none"], settings].concat())
}

fn session(drive: &Drive) -> Session {
    open_session(drive, &mut NoCache, &mut |_| true).expect("the drive is fit for it")
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
        session.tell_safe();
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
                pages.for_each(|page| drop(written.remove(&page)));
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
                        // What was given up meanwhile need not be safe.
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

#[test]
fn what_needs_to_know_the_requests_is_refused_all_at_once() {
    let settings = [
        "precondition.fill=touched",
        "precondition.age=workload",
        "host.mode=queue-depth",
        "workload.shift=512B",
        "policy cost=oracle",
        "policy arbitration=fair",
    ];
    let refused = open_session(&drive(&settings), &mut NoCache, &mut |_| true);
    let said = refused.err().expect("it is refused").to_string();
    for word in ["touched", "workload", "mode=timestamps", "shift=0", "merge"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

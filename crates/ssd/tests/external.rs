//! Policies from outside: found by a supplier, made for a run, kept in the resolved drive.

use crate::common::{
    BASE, Remembering, data_of, drive, forget_idle, policies_of, read, run_with, warnings,
    without_timing,
};
use floatgate_ssd::config::{Layers, load_with, render};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{Drive, NoCache, Progress, Stage, StateCache, ftl_of, generator, run};
use ftl::{Dest, Plan, Step};
use nand::Source;
use policies::external::{
    Balance, BlockId, Cost, External, FtlView, Interests, Level, Lpn, Made, PlaneView, Rng,
    StreamId, Supplier, Tag, Time, Victim, Watch, Wear, WriteCtx,
};
use policies::{Family, PolicyError, VictimPolicy, WearPolicy};
use serde_json::{Map, Value};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use workload::{List, Workload};

/// The built-in greedy and fixed again, under names of their own: `own:greedy`, `own:fixed`.
#[derive(Clone, Default)]
struct Own {
    /// The code of today; a policy of unknown code cannot be found again.
    code: Option<&'static str>,
    /// A greedy that wants blocks that free nothing.
    contrary: bool,
}

impl Watch for Own {
    fn counters(&self) -> Vec<(&'static str, f64)> {
        vec![("mine", 1.0), ("reclaimed", 2.0)]
    }
}

impl Victim for Own {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        let gain = |b: &BlockId| plane.ftl.blocks.gain(*b);
        if self.contrary {
            return plane.candidates().min_by_key(gain);
        }
        plane.candidates().min_by_key(|b| std::cmp::Reverse(gain(b)))
    }
}

impl Cost for Own {
    fn initial(&self) -> Level {
        Level::LowCost
    }

    fn level(&mut self, _: &WriteCtx) -> Level {
        Level::LowCost
    }
}

impl Supplier for Own {
    fn scheme(&self) -> &'static str {
        "own"
    }

    fn find(
        &self,
        family: Family,
        name: &str,
        params: &Map<String, Value>,
    ) -> Result<External, PolicyError> {
        let code = self.code.unwrap_or("unknown");
        let refuse = |key: Option<&str>, message: &str| PolicyError {
            family: family.name().to_owned(),
            name: name.to_owned(),
            key: key.map(ToOwned::to_owned),
            message: message.to_owned(),
            suggestion: None,
        };
        if !["own:greedy", "own:fixed"].contains(&name) {
            return Err(refuse(None, "no such thing"));
        }
        let mut params = params.clone();
        if params.remove("source").is_some_and(|source| source != code) {
            return Err(refuse(Some("source"), "another code"));
        }
        let mut make = self.clone();
        make.contrary |= params.contains_key("contrary");
        let (source, repeatable) = (code.to_owned(), self.code.is_some());
        let make = Arc::new(move || match family {
            Family::Cost => Made::Cost(Box::new(make.clone())),
            _ => Made::Victim(Box::new(make.clone())),
        });
        Ok(External { params, source, repeatable, like: None, make })
    }
}

fn load(own: &Own, text: &str, policies: &[&str]) -> Result<Drive, String> {
    let set = ["precondition.fill=full", "workload.requests=3000", "precondition.age=random"];
    load_set(own, text, policies, &set)
}

fn load_set(own: &Own, text: &str, policies: &[&str], set: &[&str]) -> Result<Drive, String> {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let layers = Layers {
        file: ("test.toml", text),
        library: &|_| None,
        set: &owned(set),
        policy: &owned(policies),
        seed: None,
    };
    load_with(&layers, Some(own)).map_err(|errors| render(&errors, false))
}

const KNOWN: Own = Own { code: Some("one"), contrary: false };

/// Counts the requested keys, and keeps nothing.
#[derive(Default)]
struct Asked(Vec<String>);

impl StateCache for Asked {
    fn load(&mut self, key: &str) -> Option<Box<dyn Read + '_>> {
        self.0.push(key.to_owned());
        None
    }

    fn store(&mut self, _: &str, _: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {}
}

fn result(drive: &Drive) -> (Value, Asked) {
    let mut asked = Asked::default();
    let workload = generator(drive, "random-write").expect("a generator");
    let value = run_with(drive, workload, &mut asked);
    (value, asked)
}

#[test]
fn the_same_answers_from_outside_give_the_same_result() {
    let ours = ["victim=greedy", "cost=fixed:level=low"];
    let theirs = ["victim=own:greedy:x=3", "cost=own:fixed"];
    let [(ours, _), (theirs, _)] = [ours, theirs].map(|policies| {
        let (mut value, asked) = result(&load(&KNOWN, BASE, &policies).unwrap());
        assert!(value["flash"]["erase"]["gc"].as_u64() > Some(100), "garbage is collected");
        value["provenance"] = Value::Null;
        (value, asked)
    });
    let victim = &theirs["policies"]["victim"];
    assert_eq!((&victim["name"], &victim["params"]["x"]), (&"own:greedy".into(), &3.into()));
    assert_eq!(
        (&victim["counters"]["mine"], &victim["counters"]["own_reclaimed"]),
        (&1.0.into(), &2.0.into())
    );
    let without_policies = |mut value: Value| {
        value["policies"] = Value::Null;
        forget_idle(&mut value);
        without_timing(&value)
    };
    assert_eq!(without_policies(ours), without_policies(theirs));
}

#[test]
fn a_resolved_drive_finds_its_policy_again_or_says_why_not() {
    let drive = load(&KNOWN, BASE, &["victim=own:greedy:x=3"]).unwrap();
    let victim = &drive.resolved["policies"]["victim"];
    assert_eq!(*victim, serde_json::json!({ "name": "own:greedy", "x": 3, "source": "one" }));
    let text = toml::to_string(&drive.resolved).unwrap();
    let again = load(&KNOWN, &text, &[]).unwrap();
    assert_eq!((again.hash(), &again.resolved), (drive.hash(), &drive.resolved));
    let changed = Own { code: Some("two"), ..KNOWN };
    let shown = load(&changed, &text, &[]).unwrap_err();
    assert!(shown.contains("another code") && shown.contains("source = \"one\""), "{shown}");
    assert_ne!(load(&changed, BASE, &["victim=own:greedy:x=3"]).unwrap().hash(), drive.hash());
}

#[test]
fn a_state_is_kept_under_the_code_that_made_it() {
    let asked = |code| {
        let own = Own { code, contrary: false };
        let (value, asked) = result(&load(&own, BASE, &["victim=own:greedy"]).unwrap());
        (asked.0, warnings(&value).contains(&"not-repeatable"))
    };
    let (one, warned) = asked(Some("one"));
    // Its state, and the progress of an ageing that was interrupted.
    assert!(one.len() == 2 && !warned);
    assert_eq!(asked(Some("one")).0, one);
    assert_ne!(asked(Some("two")).0, one);
    assert_eq!(asked(None), (Vec::new(), true));
}

#[test]
fn what_a_supplier_cannot_supply_is_refused_with_its_place() {
    let refused = |text: &str, policies: &[&str]| load(&KNOWN, text, policies).unwrap_err();
    let shown = refused(BASE, &["order=own:gredy"]);
    assert!(shown.contains("no such thing"), "{shown}");
    assert!(shown.contains("--policy argument 1"), "{shown}");
    let shown = refused(&format!("{BASE}\n[policies]\nvictim = \"own:gredy\"\n"), &[]);
    assert!(shown.contains("no such thing") && shown.contains("test.toml:25:10"), "{shown}");
    // Without a supplier of that name it is not a name at all.
    let shown = refused(BASE, &["victim=other:greedy"]);
    assert!(shown.contains("takes FAMILY=NAME"), "{shown}");
}

#[test]
fn a_policy_that_gains_nothing_is_told_of() {
    // It would age its drive for seconds, and each write moves thousands of pages.
    let set = ["precondition.fill=full", "workload.requests=300"];
    let drive = load_set(&KNOWN, BASE, &["victim=own:greedy:contrary=true"], &set);
    let (value, _) = result(&drive.unwrap());
    assert!(value["policies"]["victim"]["counters"]["overridden"].as_u64() > Some(0));
    assert!(warnings(&value).contains(&"victim-overridden"));
}

// ── Timers ──────────────────────────────────────────────────────────────────────────────────────

const MS: u64 = 1_000_000;

/// Greedy that wants to be woken every millisecond, and the first time has a block reclaimed, at once or
/// when its die has nothing else to do.
struct Waker {
    next: u64,
    woken: Arc<AtomicU64>,
    reclaims: Option<BlockId>,
    background: bool,
}

impl Watch for Waker {
    fn interests(&self) -> Interests {
        Interests::TIMER
    }

    fn next_timer(&self) -> Option<Time> {
        Some(Time::from_ns(self.next))
    }

    fn on_timer(&mut self, _: &FtlView<'_>, now: Time, plan: &mut Plan) {
        assert_eq!(now, Time::from_ns(self.next), "it is woken in time");
        self.next += MS;
        self.woken.fetch_add(1, Relaxed);
        plan.background = self.background;
        if let Some(block) = self.reclaims.take() {
            plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::GC) });
        }
    }
}

impl Victim for Waker {
    fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
        plane.most_gain()
    }
}

/// Counts how often it is asked, and moves nothing.
struct Asking(Arc<AtomicU64>);

impl Watch for Asking {}

impl Wear for Asking {
    fn active(&self) -> bool {
        true
    }

    fn balance(&mut self, _: &Balance<'_>, _: &mut Plan) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A drive with such a policy that reads page 8 at these times; how often the policy was woken.
fn wake(
    drive: &Drive,
    reclaims: Option<u32>,
    background: bool,
    reads: &[u64],
) -> (Sim<Remembering>, u64) {
    let woken = Arc::new(AtomicU64::new(0));
    let mut policies = policies_of(drive);
    let reclaims = reclaims.map(BlockId::from_u32);
    let waker = Waker { next: MS, woken: Arc::clone(&woken), reclaims, background };
    policies.victim = VictimPolicy::Custom(Box::new(waker));
    let asked = Arc::new(AtomicU64::new(0));
    policies.wear = WearPolicy::Custom(Box::new(Asking(Arc::clone(&asked))));
    let mut ftl = ftl_of(drive, policies);
    for lpn in (0..drive.logical_pages).map(Lpn::from_u32) {
        assert!(ftl.write_now(lpn, data_of(lpn), Time::ZERO));
    }
    let mut sim = Sim::new(drive, ftl);
    let list = List::new("list", reads.iter().map(|at| read(*at, 8)).collect()).unwrap();
    sim.run(&mut *list.open().unwrap(), None, &mut |_| true).unwrap();
    // An erase that a timer asked for is neither collection nor refresh.
    assert_eq!(asked.load(Relaxed), 0, "wear levelling is asked after those");
    (sim, woken.load(Relaxed))
}

/// A page is read at 0 and at 10.5 ms: until then the policy is woken ten times, and the run ends
/// before the next time that it had asked for. An idle die carries out the plan.
#[test]
fn a_policy_is_woken_while_the_host_has_requests() {
    for reclaims in [None, Some(0)] {
        let drive = drive::<&str>(&[]);
        let (sim, woken) = wake(&drive, reclaims, true, &[0, 21 * MS / 2]);
        assert_eq!(woken, 10);
        let counts = sim.ftl().counts();
        assert_eq!(counts.erase.total(), u64::from(reclaims.is_some()));
        assert_eq!(counts.program[Source::Rewrite], if reclaims.is_some() { 8 } else { 0 });
        assert_eq!(sim.stats().end_ns, 21 * MS / 2 + 50_000);
    }
}

/// A plan without a delay starts when the policy is woken. A read that comes a little later waits
/// for eight pages to move, of 650 us each, and for an erase.
#[test]
fn what_a_timer_starts_begins_then() {
    let drive = drive::<&str>(&[]);
    let (sim, _) = wake(&drive, Some(0), false, &[0, MS + 10_000]);
    assert_eq!(sim.stats().end_ns, MS + 8 * 650_000 + 3 * MS + 50_000);
}

// ── Progress ────────────────────────────────────────────────────────────────────────────────────

/// An observer hears of a run every 2^14 requests, once, and may stop it there.
#[test]
fn progress_is_told_every_so_many_requests() {
    let drive = drive(&["workload.requests=40000"]);
    for last in [u64::MAX, 16_384] {
        let mut told = Vec::new();
        let mut progress = |p: Progress| {
            if p.stage == Stage::Running {
                assert_eq!(p.total, Some(40_000));
                told.push(p.done);
            }
            p.stage != Stage::Running || p.done < last
        };
        let workload = generator(&drive, "random-read").expect("a generator");
        let stopped = run(&drive, workload, &mut NoCache, &mut progress).is_err();
        let all = [0, 16_384, 32_768];
        assert_eq!(
            (told.as_slice(), stopped),
            if last == 16_384 { (&all[..2], true) } else { (&all[..], false) }
        );
    }
}

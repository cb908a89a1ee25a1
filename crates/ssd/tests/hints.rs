//! Hints about data on their way through the drive: the stream of a page is chosen by the hint of its
//! last write, whatever keeps the page on its way.

use crate::common::{BASE, PAGE, bytes, flush};
use floatgate_ssd::config::{Layers, load_with, render};
use floatgate_ssd::{Client, Drive, NoCache, open_session, run};
use kernel::{Prio, Rng};
use policies::external::{
    External, Made, PageCtx, Separation, StreamClass, StreamSpec, Supplier, Watch,
};
use policies::{Family, PolicyError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use workload::{About, List, Named, Op, Request, Workload};

/// A page of the host that got a slot: its number, hint and flow, and the stream of its block.
type Placed = (u64, u8, u8, u8);

/// Even hints apart from odd ones. It notes each page of the host in the run.
#[derive(Clone, Default)]
struct Parity(Arc<Mutex<Vec<Placed>>>);

impl Watch for Parity {}

impl Separation for Parity {
    fn streams(&self) -> Vec<StreamSpec> {
        let of = StreamSpec::of;
        let (even, odd) = (of(StreamClass::Host, "even"), of(StreamClass::Host, "odd"));
        vec![even, odd, of(StreamClass::Moves, "moved")]
    }

    fn stream(&mut self, page: &PageCtx) -> u8 {
        if page.moves { 2 } else { page.hint % 2 }
    }

    fn follows(&self) -> bool {
        true
    }

    fn on_placed(&mut self, page: &PageCtx, stream: u8) {
        if !page.moves {
            let placed = (page.lpn.as_u32().into(), page.hint, page.flow, stream);
            self.0.lock().expect("nobody panics").push(placed);
        }
    }
}

impl Supplier for Parity {
    fn scheme(&self) -> &'static str {
        "own"
    }

    fn find(
        &self,
        _: Family,
        _: &str,
        params: &Map<String, Value>,
    ) -> Result<External, PolicyError> {
        let policy = self.clone();
        let make = Arc::new(move || Made::Separation(Box::new(policy.clone())));
        let (params, source) = (params.clone(), "one".to_owned());
        Ok(External { params, source, repeatable: false, like: None, make })
    }
}

fn load(seen: &Parity, settings: &[&str]) -> Drive {
    let set: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    let layers = Layers {
        file: ("test.toml", BASE),
        library: &|_| None,
        set: &set,
        policy: &["separation=own:parity".to_owned()],
        seed: None,
    };
    load_with(&layers, Some(seen)).unwrap_or_else(|errors| panic!("{}", render(&errors, false)))
}

/// Requests of all kinds with hints of all sizes; pages of a small part of the drive are often written
/// again while they are on their way.
fn requests(seed: u64, flows: u32, pages: u64) -> Vec<Request> {
    let mut rng = Rng::named(seed, "hints");
    let mut at = 0;
    (0..2_000)
        .map(|_| {
            at += [0, 1_000, 8_000_000][rng.below(3) as usize];
            if rng.below(30) == 0 {
                return flush(at);
            }
            let op = match rng.below(12) {
                0 => Op::Trim,
                1..=3 => Op::Read,
                4 => Op::WriteFua,
                _ => Op::Write,
            };
            let page = u64::from(rng.below(pages as u32 - 3));
            // Parts of pages, whole pages, and several.
            let (from, len) =
                [(0, PAGE), (0, 3 * PAGE), (512, 1024), (512, PAGE)][rng.below(4) as usize];
            let hint = [0, 1, 2, 255, rng.below(256) as u8][rng.below(5) as usize];
            let prio = if rng.below(9) == 0 { Prio::High } else { Prio::Normal };
            let flow = rng.below(flows) as u8;
            Request { hint, prio, flow, ..bytes(at, op, page * PAGE + from, len) }
        })
        .collect()
}

/// The hint and flow of each write of each page, in order; `None` for a trim.
fn writes(requests: &[Request]) -> BTreeMap<u64, Vec<Option<(u8, u8)>>> {
    let mut all: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    for r in requests {
        let end = r.offset + u64::from(r.len);
        let (pages, said) = match r.op {
            Op::Write | Op::WriteFua => {
                (r.offset / PAGE..end.div_ceil(PAGE), Some((r.hint, r.flow)))
            }
            Op::Trim => (r.offset.div_ceil(PAGE)..end / PAGE, None),
            Op::Read | Op::Flush => continue,
        };
        pages.for_each(|page| all.entry(page).or_default().push(said));
    }
    all
}

/// Pages get slots as they were written: of each page some of its writes, in their order, the last
/// one among them. All lie in the streams of their hints. `all`: no write is lost on the way.
fn check(placed: &[Placed], requests: &[Request], all: bool, what: &str) {
    let mut rest = writes(requests);
    let mut left: BTreeMap<u64, usize> = BTreeMap::new();
    for &(page, hint, flow, stream) in placed {
        assert_eq!(stream, hint % 2, "{what}: page {page} lies in another stream");
        let writes = &rest[&page];
        let from = left.entry(page).or_default();
        let next = writes[*from..].iter().position(|said| *said == Some((hint, flow)));
        let next = next.unwrap_or_else(|| panic!("{what}: page {page} has a hint {hint} unasked"));
        assert!(!all || writes[*from..*from + next].iter().all(Option::is_none), "{what}: {page}");
        *from += next + 1;
    }
    rest.retain(|_, writes| writes.last().is_some_and(Option::is_some));
    for (page, writes) in &rest {
        // Equal writes stand for one another: behind the last that was found are only such.
        let from = left.get(page).copied().unwrap_or(0);
        let last = from.checked_sub(1).map(|at| writes[at]);
        assert_eq!(last, writes.last().copied(), "{what}: page {page} has not its last hint");
    }
}

const DRIVES: [(&str, &[&str]); 9] = [
    ("plain", &[]),
    ("dies", &["geometry.chips-per-channel=4"]),
    ("buffer", &["buffer.size=64KiB", "buffer.flush-above=0.9"]),
    (
        "volatile buffer",
        &["buffer.size=64KiB", "buffer.power-loss-protected=false", "buffer.flush-above=0.9"],
    ),
    ("slow port", &["buffer.size=64KiB", "buffer.flush-above=0.5", "buffer.rate=10MB/s"]),
    ("units", &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", "ftl.program-wait=1ms"]),
    (
        "units behind a buffer",
        &[
            "geometry.page-size=16KiB",
            "ftl.mapping-unit=4KiB",
            "buffer.size=128KiB",
            "buffer.flush-above=0.9",
        ],
    ),
    ("link and controller", &["link.rate=100MB/s", "controller.write=20us", "buffer.size=64KiB"]),
    ("throttled queue", &["host.queue-limit=2", "host.mode=shifted"]),
];

#[test]
fn a_page_has_the_hint_of_its_last_write_wherever_it_waits() {
    for (what, settings) in DRIVES {
        for seed in 0..3 {
            let seen = Parity::default();
            let mut settings = settings.to_vec();
            settings.extend(["geometry.blocks-per-plane=64", "precondition.fill=none"]);
            let drive = load(&seen, &settings);
            let requests = requests(seed, 1, if seed == 0 { 24 } else { 200 });
            let list = List::new("list", requests.clone()).expect("they are in order");
            let result = run(&drive, Box::new(list), &mut NoCache, &mut |_| true);
            result.expect("it runs");
            let placed = std::mem::take(&mut *seen.0.lock().expect("nobody panics"));
            assert!(placed.len() > 10, "{what}: {} pages", placed.len());
            check(&placed, &requests, matches!(what, "plain" | "dies"), what);
        }
    }
}

/// In a session too, with flows; and the setting of a flow gives a hint to requests without one.
#[test]
fn a_session_and_its_flows_have_hints() {
    let seen = Parity::default();
    let settings = [
        "geometry.blocks-per-plane=64",
        "precondition.fill=none",
        "host.flow=[{ name = \"b\", hint = 9 }]",
    ];
    let drive = load(&seen, &settings);
    let flows = ["a".to_owned(), "b".to_owned()];
    let client = Client::Program(&flows);
    let mut session = open_session(&drive, client, &mut NoCache, &mut |_| true).expect("it opens");
    let mut came = requests(7, 2, 100);
    for (token, request) in (0..).zip(&mut came) {
        let from = session.sim().now().max(request.at);
        request.at = session.arrive_from(from, request, token).expect("it lives");
        while session.take_done().is_some() {}
    }
    session.close(&mut |_| {});
    let about = List::new("list", came.clone()).expect("they are in order").about().clone();
    session.report(&about);
    for request in came.iter_mut().filter(|r| r.has_extent() && r.flow == 1 && r.hint == 0) {
        request.hint = 9;
    }
    let live = std::mem::take(&mut *seen.0.lock().expect("nobody panics"));
    check(&live, &came, true, "session");
    // A run of the same requests places the same pages.
    let about = About { flows: drive_flows(), ..about };
    let list = Named::new(Box::new(List::new("list", came).expect("in order")), about);
    run(&drive, Box::new(list), &mut NoCache, &mut |_| true).expect("it runs");
    assert_eq!(*seen.0.lock().expect("nobody panics"), live);
}

fn drive_flows() -> Vec<workload::Flow> {
    let flow = |name: &str| workload::Flow {
        name: name.into(),
        weight: 1,
        depth: None,
        region: (0, u64::MAX),
    };
    vec![flow("a"), flow("b")]
}

/// Ageing by the workload separates what the run separates.
#[test]
fn ageing_by_the_workload_has_hints() {
    for units in [&[][..], &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB"]] {
        let seen = Parity::default();
        let mut settings = vec!["geometry.blocks-per-plane=64", "precondition.age=workload"];
        settings.extend(units);
        let drive = load(&seen, &settings);
        let requests = requests(3, 1, 200);
        let list = List::new("list", requests.clone()).expect("they are in order");
        run(&drive, Box::new(list), &mut NoCache, &mut |_| true).expect("it runs");
        let placed = seen.0.lock().expect("nobody panics");
        let writes = writes(&requests);
        let aged = &placed[..placed.len() / 2];
        let known = |page: &u64, hint: u8| {
            writes.get(page).is_some_and(|all| all.iter().flatten().any(|(h, _)| *h == hint))
        };
        for (page, hint, _, stream) in aged {
            assert!(*hint == 0 || known(page, *hint), "page {page} was aged with the hint {hint}");
            assert_eq!(*stream, hint % 2, "page {page} was told with the hint {hint}");
        }
        let odd = aged.iter().filter(|(_, _, _, stream)| *stream == 1).count();
        assert!(odd * 10 > aged.len(), "{odd} of {} are in the odd stream", aged.len());
    }
}

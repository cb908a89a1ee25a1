//! What does each seam cost a drive that does not use it?
//!
//! The same engine is built without the seams, with each alone, as people run it, recording what it
//! does, and with the model of the cells; all serve the same requests, and an instruction counter (`make bench-count`)
//! compares them: the instructions of a long run minus those of a short one are those of the
//! requests between. Run by itself it prints wall-clock figures. Arguments: one build (`bare`,
//! `slots`, `watch`, `idle`, `levels`, `reads`, `dispatch`, `builtin`, `recorded`, `cells`) and the
//! number of requests.

#![allow(clippy::disallowed_methods)] // a bench reads the clock

use floatgate_ssd::config::{Drive, Layers, load};
use floatgate_ssd::sim::{Settings, Sim};
use floatgate_ssd::{ftl_of, generator, precondition};
use ftl::{InOrder, Kit, NoRefresh, NoThrottle, NoWear, Plain, Policies, Traditional};
use nand::Nothing;
use policies::order::fifo::Fifo;
use policies::placement::dynamic::Dynamic;
use policies::victim::greedy::Greedy;
use policies::{
    Builtin, CodingPolicy, CostPolicy, OrderPolicy, PageChoicePolicy, PlacementPolicy,
    ReadDisturbPolicy, ThrottlePolicy, VictimPolicy, WearPolicy,
};
use std::time::Instant;

/// Fixed answers compiled in, and the seams that the numbers say: 1 slots, 2 watching, 4 idle
/// time, 8 levels, 16 read counts.
struct With<const SEAMS: u8>;

impl<const SEAMS: u8> Kit for With<SEAMS> {
    type Store = Nothing;
    type Cost = Traditional;
    type Throttle = NoThrottle;
    type ReadDisturb = NoRefresh;
    type PageChoice = InOrder;
    type Coding = Plain;
    type Victim = Greedy;
    type Placement = Dynamic;
    type Wear = NoWear;
    type Order = Fifo;
    const SLOTS: bool = SEAMS & 1 != 0;
    const WATCH: bool = SEAMS & 2 != 0;
    const IDLE: bool = SEAMS & 4 != 0;
    const LEVELS: bool = SEAMS & 8 != 0;
    const READS: bool = SEAMS & 16 != 0;
}

/// The built-in policies' dispatch without any seam.
struct Dispatch;

impl Kit for Dispatch {
    type Store = Nothing;
    type Cost = CostPolicy;
    type Throttle = ThrottlePolicy;
    type ReadDisturb = ReadDisturbPolicy;
    type PageChoice = PageChoicePolicy;
    type Coding = CodingPolicy;
    type Victim = VictimPolicy;
    type Placement = PlacementPolicy;
    type Wear = WearPolicy;
    type Order = OrderPolicy;
    const SLOTS: bool = false;
    const WATCH: bool = false;
    const IDLE: bool = false;
    const LEVELS: bool = false;
    const READS: bool = false;
}

fn fixed<const SEAMS: u8>(_: &Drive) -> Policies<With<SEAMS>> {
    Policies {
        cost: Traditional,
        throttle: NoThrottle,
        read_disturb: NoRefresh,
        page_choice: InOrder,
        coding: Plain,
        victim: Greedy,
        placement: Dynamic::default(),
        wear: NoWear,
        order: Fifo,
    }
}

fn dispatched(drive: &Drive) -> Policies<Dispatch> {
    drive.policies.build().into_kit()
}

/// Runs one build of the engine.
type Build = fn(&str, &Drive);

fn builtin(drive: &Drive) -> Policies<Builtin> {
    drive.policies.build()
}

/// What the engine does beside serving.
#[derive(Copy, Clone)]
enum Beside {
    Nothing,
    Recording,
    Cells,
}

fn run<K: Kit>(name: &str, drive: &Drive, policies: fn(&Drive) -> Policies<K>, beside: Beside) {
    let workload = generator(drive, "random-write").expect("a known generator");
    let mut ftl = ftl_of::<K>(drive, policies(drive));
    precondition(drive, &*workload, &mut ftl, &mut |_| true).expect("nobody stops it");
    ftl.begin_run(policies(drive));
    let mut sim = Sim::new(Settings::of(drive), ftl);
    match beside {
        Beside::Nothing => {}
        Beside::Recording => sim.record(drive.recording, Box::new(|_, _| true)),
        Beside::Cells => sim.model_cells(drive),
    }
    let start = Instant::now();
    let mut source = workload.open().expect("a generator opens");
    sim.run(&mut *source, None, &mut |_| true).expect("nobody stops it");
    let seconds = start.elapsed().as_secs_f64();
    let counts = sim.ftl().counts();
    let operations = counts.read.total() + counts.program.total();
    println!(
        "{name:<10} {operations} page operations, {} events, {:.2} Mops/s",
        sim.stats().events,
        operations as f64 / seconds / 1e6
    );
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let requests = asked.iter().find_map(|a| a.parse::<u64>().ok()).unwrap_or(1_000_000);
    let set: Vec<String> = [
        &*format!("workload.requests={requests}"),
        "geometry.blocks-per-plane=32",
        "geometry.chips-per-channel=2",
        "host.mode=queue-depth",
        "precondition.fill=full",
        "precondition.age=random",
        "ftl.spare-factor=0.20",
        "reliability.model=on",
        "reliability.initial-cycles=2000",
        "reliability.initial-retention=180d",
    ]
    .map(ToOwned::to_owned)
    .to_vec();
    // What is said of the cells matters to the build `cells` alone.
    let file = ("bench.toml", "base = \"agcr\"\n");
    let layers = Layers { file, library: &|_| None, set: &set, policy: &[], seed: None };
    let drive = load(&layers).expect("a drive");
    let names: Vec<&String> = asked.iter().filter(|a| a.parse::<u64>().is_err()).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|a| *a == name);
    let all: [(&str, Build); 10] = [
        ("bare", |n, d| run(n, d, fixed::<0>, Beside::Nothing)),
        ("slots", |n, d| run(n, d, fixed::<1>, Beside::Nothing)),
        ("watch", |n, d| run(n, d, fixed::<2>, Beside::Nothing)),
        ("idle", |n, d| run(n, d, fixed::<4>, Beside::Nothing)),
        ("levels", |n, d| run(n, d, fixed::<8>, Beside::Nothing)),
        ("reads", |n, d| run(n, d, fixed::<16>, Beside::Nothing)),
        ("dispatch", |n, d| run(n, d, dispatched, Beside::Nothing)),
        ("builtin", |n, d| run(n, d, builtin, Beside::Nothing)),
        ("recorded", |n, d| run(n, d, builtin, Beside::Recording)),
        ("cells", |n, d| run(n, d, builtin, Beside::Cells)),
    ];
    for (name, run) in all {
        if wanted(name) {
            run(name, &drive);
        }
    }
}

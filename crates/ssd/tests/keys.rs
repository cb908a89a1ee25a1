//! Does every key do something? The keys come from the schema and the parameters from the list of
//! policies, so a new one without an effect fails here. An effect is a change in the shown values
//! of a run: the echoed configuration is left out, and rows are counted.

use crate::common::{PAGE, bytes, read, try_drive, urgent, write};
use floatgate_ssd::config::schema;
use floatgate_ssd::{Drive, NoCache, generator, run_recorded};
use kernel::{Dur, Rng};
use policies::{Family, ParamKind, PolicyInfo};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use workload::{ClosedLoop, List, Merge, MergedPart, Op, Request, Workload};

// ── Situations ──────────────────────────────────────────────────────────────────────────────────

/// A drive and its requests, in which some keys matter.
struct Situation {
    text: String,
    load: Load,
}

#[derive(Copy, Clone)]
enum Load {
    Pattern(&'static str),
    List(fn(&Drive) -> Vec<Request>),
    /// Two tenants, each with a region of its own.
    Tenants,
}

const GEOMETRY: &str = "[geometry]\nchannels = 2\nchips-per-channel = 2\ndies-per-chip = 1\n\
    planes-per-die = 2\nblocks-per-plane = 64\npages-per-block = 16\npage-size = \"4KiB\"\n\
    bits-per-cell = 2\n";
const ONE_PLANE: &str = "[geometry]\nchannels = 1\nchips-per-channel = 1\ndies-per-chip = 1\n\
    planes-per-die = 1\nblocks-per-plane = 64\npages-per-block = 16\npage-size = \"4KiB\"\n\
    bits-per-cell = 2\n";
const TIMES: &str = "[timing]\nbus = \"included\"\nerase = \"3ms\"\nread = \"50us\"\n\
    program = [\"400us\", \"900us\"]\n";
const LEVELS: &str = "[timing]\nbus = \"included\"\nerase = \"3ms\"\n[timing.levels]\n\
    high = { program = \"800us\", read = \"70us\" }\nmedium = { program = \"600us\", read = \
    \"170us\" }\nlow = { program = \"450us\", read = \"310us\" }\n";
const PHYSICS: &str = "[timing]\nbus = \"included\"\nerase = \"3ms\"\n[timing.physics]\n\
    program = \"600us\"\nsteps = [9, 12, 16]\nsense = \"10us\"\ntransfer = \"20us\"\n\
    retention = \"1y\"\n";
const BUS: &str = "[timing]\nerase = \"3ms\"\nread = \"50us\"\nprogram = \"600us\"\n\
    [timing.bus]\nrate = \"333MT/s\"\nwidth-bits = 8\ncommand = \"300ns\"\n";
const ENERGY: &str = "[energy]\nread = \"17uJ\"\nprogram = \"60uJ\"\nerase = \"100uJ\"\n\
    transfer-out = \"1uJ\"\ntransfer-in = \"1uJ\"\nidle-power = \"27mW\"\n";
const SLC: &str = "[slc]\nread = \"25us\"\nprogram = \"150us\"\nerase = \"2ms\"\n\
    endurance = 30000\nenergy = { read = \"3uJ\", program = \"9uJ\", erase = \"50uJ\" }\n";
const FULL: &str = "[ftl]\nspare-factor = 0.25\n[host]\nmode = \"queue-depth\"\n\
    queue-depth = 16\n[precondition]\nfill = \"full\"\n[workload]\nrequests = 3000\n\
    read-share = 0.4\n";
/// Requests come when they come, so that some find the drive busy and some idle.
const OPEN: &str = "[ftl]\nspare-factor = 0.25\n[precondition]\nfill = \"full\"\n[workload]\n\
    requests = 3000\nread-share = 0.4\narrivals = { poisson = { iops = 4000 } }\n";
/// At the end of a life, with data a year old.
const WORN: &str = "[reliability]\nmodel = \"on\"\nendurance = 3000\ninitial-cycles = 2950\n\
    initial-rest = \"1h\"\ninitial-retention = \"1y\"\ncorrectable = [3e-3, 5e-3, 8e-3]\n";

const LIVES: &str = "[ftl]\nspare-factor = 0.3\n[host]\nmode = \"shifted\"\n\
    [precondition]\nfill = \"full\"\n";

fn situation(name: &str) -> Situation {
    let of = |parts: &[&str], load| Situation { text: parts.concat(), load };
    let (random, bursty) = (Load::Pattern("random-write"), Load::List(bursts));
    match name {
        "closed" => of(&[GEOMETRY, TIMES, ENERGY, FULL], random),
        "open" => of(&[GEOMETRY, TIMES, ENERGY, OPEN], random),
        "bus" => of(&[GEOMETRY, BUS, ENERGY, FULL], random),
        "levels" => of(&[GEOMETRY, LEVELS, OPEN], Load::Pattern("zipf")),
        // A cache that is full again and again.
        "cached" => of(
            &[
                &GEOMETRY.replace("cell = 2", "cell = 3").replace("block = 16", "block = 24"),
                &TIMES.replace("\"900us\"", "\"900us\", \"2ms\""),
                ENERGY,
                SLC,
                "[reliability]\nendurance = 3000\n[ftl]\nspare-factor = 0.4\n[host]\nmode = \"queue-depth\"\nqueue-depth = 16\n[workload]\nrequests = 3000\nread-share = 0.4\n[precondition]\n\
                 fill = \"full\"\n[policies]\nslc-cache = { name = \"static\", size = \"1MiB\", fold = \"both\" }\n",
            ],
            random,
        ),
        "physics" => of(&[GEOMETRY, PHYSICS, OPEN], Load::Pattern("zipf")),
        "worn" => of(&[GEOMETRY, TIMES, WORN, OPEN], random),
        "zipf" => of(&[GEOMETRY, TIMES, FULL], Load::Pattern("zipf")),
        "hot-cold" => of(&[GEOMETRY, TIMES, FULL], Load::Pattern("hot-cold")),
        "passes" => of(&[GEOMETRY, TIMES, FULL], Load::Pattern("permutation")),
        "conversations" => of(
            &[
                GEOMETRY,
                TIMES,
                "[ftl]\nspare-factor = 0.4\n[host]\nmode = \"queue-depth\"\nqueue-depth = 16\n\
                 [precondition]\nfill = \"full\"\n[policies]\nseparation = { name = \"hints\", streams \
                 = 3 }\n[workload]\nrequests = 9000\nobject-size = \"64KiB\"\nsize = \"16KiB\"\n\
                 prefix-hits = 0.5\n",
            ],
            Load::Pattern("kv-offload"),
        ),
        "sparse" => of(&[GEOMETRY, TIMES, "[ftl]\nspare-factor = 0.25\n"], Load::List(strangers)),
        "hinted" => of(
            &[
                ONE_PLANE,
                TIMES,
                "[precondition]\nfill = \"full\"\n[ftl]\nspare-factor = 0.4\n",
                "[host]\nmode = \"queue-depth\"\n",
            ],
            Load::List(hinted),
        ),
        "logged" => of(
            &[
                ONE_PLANE,
                TIMES,
                "[precondition]\nfill = \"full\"\n[ftl]\nspare-factor = 0.3\n",
                "[host]\nmode = \"queue-depth\"\n",
            ],
            Load::List(logged),
        ),
        "urgent" => of(
            &[GEOMETRY, TIMES, "[pages]\norder = \"shadow\"\n", OPEN],
            Load::List(by_turns_urgent),
        ),
        "urgent-three" => of(
            &[
                &GEOMETRY.replace("cell = 2", "cell = 3").replace("block = 16", "block = 24"),
                &TIMES.replace("\"900us\"", "\"900us\", \"2ms\""),
                OPEN,
            ],
            Load::List(by_turns_urgent),
        ),
        "aged" => of(
            &[
                ONE_PLANE,
                TIMES,
                "[reliability]\nendurance = 400\n[workload]\nrequests = 40000\nhot-data = 0.1\n\
                 hot-writes = 0.95\n[precondition]\nfill = \"full\"\n[ftl]\nspare-factor = 0.25\n",
            ],
            Load::Pattern("hot-cold"),
        ),
        // Blocks with a role are worn least, once many reads go to few of them.
        "roles" => of(
            &[
                &ONE_PLANE
                    .replace("cell = 2", "cell = 3")
                    .replace("block = 16", "block = 24")
                    .replace("plane = 64", "plane = 40"),
                BUS,
                "[ftl]\nspare-factor = 0.6\n[host]\nmode = \"queue-depth\"\nqueue-depth = 4\n\
                 [precondition]\nfill = \"full\"\n[workload]\nrequests = 30000\nread-share = 0.9\n\
                 [policies]\nread-disturb = { name = \"hot-low-density\", limit = 40, low-limit = 400 }\n",
            ],
            Load::Pattern("zipf"),
        ),
        "one-bit" => of(
            &[&GEOMETRY.replace("cell = 2", "cell = 1"), BUS, &FULL.replace("0.25", "0.5")],
            Load::Pattern("hot-cold"),
        ),
        "three-bits" => of(
            &[
                &ONE_PLANE.replace("cell = 2", "cell = 3").replace("block = 16", "block = 24"),
                BUS,
                "[ftl]\nspare-factor = 0.5\n[precondition]\nfill = \"full\"\n",
            ],
            Load::List(mostly_read),
        ),
        // Blocks that hold pages of several levels.
        "three-bits-levels" => of(
            &[
                &ONE_PLANE.replace("cell = 2", "cell = 3").replace("block = 16", "block = 24"),
                LEVELS,
                "[ftl]\nspare-factor = 0.5\n[precondition]\nfill = \"full\"\n[policies]\n\
                 cost = \"agcr\"\n",
            ],
            Load::List(mostly_read),
        ),
        "tenants" => of(
            &[
                GEOMETRY,
                TIMES,
                "[ftl]\nspare-factor = 0.25\n[host]\nqueue-limit = 4\n[precondition]\n\
                 fill = \"full\"\n[policies]\narbitration = \"weighted\"\n",
            ],
            Load::Tenants,
        ),
        "tight" => of(&[ONE_PLANE, BUS, LIVES, "[reliability]\nendurance = 60\n"], bursty),
        "loose" => of(&[ONE_PLANE, BUS, LIVES, "[reliability]\nendurance = 360\n"], bursty),
        _ => panic!("no situation is called {name}"),
    }
}

/// Reads of unmapped pages, and a request beyond the drive.
fn strangers(drive: &Drive) -> Vec<Request> {
    let pages = u64::from(drive.logical_pages);
    let inside = (0..200).map(|i| read(i * 100_000, i * 7 % pages));
    let mut all: Vec<Request> = inside.chain([read(30_000_000, pages / 2)]).collect();
    all.extend((0..50).map(|i| write(40_000_000 + i * 1_000_000, i)));
    all
}

fn by_turns_urgent(drive: &Drive) -> Vec<Request> {
    let mut rng = Rng::named(3, "test/urgent");
    let one = |i: u64, rng: &mut Rng| {
        let made = write(i * 250_000, rng.below(drive.logical_pages).into());
        if i / 40 % 2 == 0 { urgent(made) } else { made }
    };
    (0..4_000).map(|i| one(i, &mut rng)).collect()
}

/// All is written over some times; then a few pages are read again and again, now these and now
/// those, and some are written.
fn mostly_read(drive: &Drive) -> Vec<Request> {
    const GAP: u64 = 400_000;
    let mut rng = Rng::named(4, "test/read");
    let writes = 10 * u64::from(drive.logical_pages);
    let mut all: Vec<Request> =
        (0..writes).map(|i| write(i * GAP, rng.below(drive.logical_pages).into())).collect();
    let one = |i: u64, rng: &mut Rng| {
        let all = drive.logical_pages;
        let hot = i as u32 / 4000 * 50 % (all - 50) + rng.below(40);
        let page = if rng.below(4) > 0 { hot } else { rng.below(all) };
        let at = (writes + i) * GAP;
        if rng.below(20) == 0 { write(at, page.into()) } else { read(at, page.into()) }
    };
    all.extend((0..24_000).map(|i| one(i, &mut rng)));
    all
}

/// Three regions of different heat, each with its hint.
fn hinted(drive: &Drive) -> Vec<Request> {
    let mut rng = Rng::named(8, "test/hints");
    let one = |i: u64| {
        let hint = [1, 1, 1, 2, 2, 3][rng.below(6) as usize];
        let size = drive.logical_pages / 10;
        let (first, size) = [(0, size), (size, 3 * size), (4 * size, 6 * size)][hint as usize - 1];
        Request { hint, ..write(i, (first + rng.below(size)).into()) }
    };
    (0..20_000).map(one).collect()
}

/// A log that is written in order, round and round, with a hint, beside random writes.
fn logged(drive: &Drive) -> Vec<Request> {
    let mut rng = Rng::named(9, "test/log");
    let log = u64::from(drive.logical_pages) / 4;
    let one = |i: u64| {
        if i.is_multiple_of(2) {
            return Request { hint: 1, ..write(i, i / 2 % log) };
        }
        write(i, log + u64::from(rng.below(drive.logical_pages - log as u32)))
    };
    (0..20_000).map(one).collect()
}

/// A day of lively and quiet times by turns, none like the other.
fn bursts(drive: &Drive) -> Vec<Request> {
    const STRETCH: u64 = 720_000_000_000;
    let mut rng = Rng::named(7, "test/bursts");
    let mut requests = Vec::new();
    for stretch in 0..120_u64 {
        let n = if stretch / 10 % 2 == 0 { 20 + stretch % 7 * 10 } else { 3 };
        for i in 0..n {
            let at = stretch * STRETCH + i * STRETCH / n;
            requests.push(write(at, rng.below(drive.logical_pages).into()));
        }
    }
    requests
}

/// One always has eight requests outstanding, of two sizes, and the other two.
fn tenants() -> Vec<MergedPart> {
    let tenant = |name: &str, depth, pages: u64| {
        let one = |i: u64| bytes(0, Op::Read, i * 37 % 200 * PAGE, (1 + i % pages) * PAGE);
        let list = List::new(name, (0..1_000).map(one).collect()).expect("in order");
        let closed = Some(ClosedLoop { depth, until: Some(Dur::ms(20)) });
        MergedPart { closed, flow: Some((name.into(), 8)), ..MergedPart::new(Box::new(list)) }
    };
    vec![tenant("many", 8, 4), tenant("few", 2, 1)]
}

/// The shown values of a run: the result without the echoed configuration and the clock, and the
/// number of rows of each table.
fn shown(drive: &Drive, load: Load) -> Result<String, String> {
    let made: Box<dyn Workload> = match load {
        Load::Pattern(pattern) => generator(drive, pattern).map_err(|e| e.to_string())?,
        Load::List(list) => Box::new(List::new("list", list(drive)).expect("in order")),
        Load::Tenants => Box::new(Merge::new("tenants", tenants()).expect("they fit")),
    };
    let rows = Arc::new(Mutex::new(BTreeMap::new()));
    let counted = Arc::clone(&rows);
    let sink = Box::new(move |table, columns: Vec<floatgate_ssd::record::Column>| {
        let n = columns[0].values.len();
        *counted.lock().unwrap().entry(table).or_insert(0) += n;
        true
    });
    let report = run_recorded(drive, made, &mut NoCache, &mut |_| true, Some(sink));
    let mut value = report.map_err(|e| e.to_string())?.value().clone();
    let all = value.as_object_mut().expect("an object");
    all.remove("provenance");
    all.remove("timing");
    for policy in all["policies"].as_object_mut().expect("policies").values_mut() {
        let policy = policy.as_object_mut().expect("an object");
        policy.remove("params");
    }
    Ok(format!("{value} {:?}", rows.lock().unwrap()))
}

/// Runs of situations, each made once.
#[derive(Default)]
struct Runs(BTreeMap<String, Result<String, String>>);

impl Runs {
    /// The shown values; for a refused drive, the reason.
    fn of(&mut self, name: &str, settings: &[&str]) -> &Result<String, String> {
        let key = format!("{name} {settings:?}");
        self.0.entry(key).or_insert_with(|| {
            let Situation { text, load } = situation(name);
            let drive = try_drive(&text, settings)?;
            shown(&drive, load)
        })
    }

    /// Whether a setting changes the result; both must run.
    fn differ(&mut self, name: &str, base: &[&str], setting: &str) -> bool {
        let before = self.of(name, base).clone();
        let after = self.of(name, &[base, &[setting]].concat()).clone();
        match (before, after) {
            (Ok(before), Ok(after)) => before != after,
            (before, after) => {
                let refused = before.err().or(after.err()).unwrap_or_default();
                panic!("{name} {base:?} {setting}: {refused}");
            }
        }
    }
}

// ── Keys of drive files ─────────────────────────────────────────────────────────────────────────

/// Keys that no run shows, and why they are there.
const UNSEEN: [(&str, &str); 9] = [
    ("schema", "says which files this version reads; another one is refused"),
    ("name", "what results call the drive: provenance, pages, reports"),
    ("summary", "the line that lists of drives show"),
    ("sources", "`config show --json` has it for each setting; a source for no setting is refused"),
    ("ftl.mapping", "has one value; it is there so that a file says what it means"),
    ("host.sector", "a page must be a multiple of it; addresses are bytes, whatever it is"),
    (
        "workload.duration",
        "ends stand-ins, which `tests/test_stand_ins.py` sees; a generator \
                           refuses it",
    ),
    (
        "workload.created-reads",
        "is a share of a stand-in's reads, which `tests/test_stand_ins.py` sees; a generator \
                           refuses it",
    ),
    ("base", "brings the keys of another file: `config/inherit.rs`"),
];

/// Programs and erases make way for reads.
const SUSPENDS: &[&str] =
    &["policy order=read-first", "timing.suspend.pause=20us", "timing.suspend.resume=30us"];

/// For each other key a situation, its other settings, and a value that must have an effect. A key
/// that displaces another one is there before: else the other's absence would show.
const SEEN: &[(&str, &str, &[&str], &str)] = &[
    ("chip", "closed", &[], "c-mlc64"),
    ("geometry.channels", "closed", &[], "1"),
    ("geometry.chips-per-channel", "closed", &[], "1"),
    ("geometry.dies-per-chip", "closed", &[], "2"),
    ("geometry.planes-per-die", "closed", &[], "1"),
    ("geometry.blocks-per-plane", "closed", &[], "60"),
    ("geometry.pages-per-block", "closed", &[], "14"),
    ("geometry.page-size", "closed", &[], "8KiB"),
    ("geometry.bits-per-cell", "worn", &["timing.program=600us"], "1"),
    ("pages.order", "closed", &[], "shadow"),
    ("timing.bus", "closed", &[], "{ rate = \"333MT/s\", command = \"300ns\" }"),
    ("timing.bus.rate", "bus", &[], "400MT/s"),
    ("timing.bus.width-bits", "bus", &[], "16"),
    ("timing.bus.command", "bus", &[], "400ns"),
    ("timing.bus.first", "bus", &[], "data"),
    ("timing.erase", "closed", &[], "4ms"),
    ("timing.cache", "bus", &[], "reads"),
    ("timing.suspend.operations", "closed", SUSPENDS, "programs"),
    ("timing.suspend.pause", "closed", SUSPENDS, "30us"),
    ("timing.suspend.resume", "closed", SUSPENDS, "40us"),
    ("timing.suspend.limit", "closed", SUSPENDS, "1"),
    ("timing.suspend.min-progress", "closed", SUSPENDS, "300us"),
    ("timing.suspend.erase-loops", "closed", SUSPENDS, "4"),
    ("timing.read", "closed", &[], "60us"),
    ("timing.program", "closed", &[], "700us"),
    ("timing.levels.high.program", "levels", &["policy cost=fixed:level=high"], "900us"),
    ("timing.levels.high.read", "levels", &["policy cost=fixed:level=high"], "90us"),
    ("timing.levels.medium.program", "levels", &[], "700us"),
    ("timing.levels.medium.read", "levels", &[], "180us"),
    ("timing.levels.low.program", "levels", &["policy cost=fixed:level=low"], "500us"),
    ("timing.levels.low.read", "levels", &["policy cost=fixed:level=low"], "400us"),
    ("timing.physics.program", "physics", &[], "700us"),
    ("timing.physics.steps", "physics", &["policy cost=fixed:level=low"], "[9, 12, 15]"),
    ("timing.physics.sense", "physics", &[], "12us"),
    ("timing.physics.transfer", "physics", &[], "25us"),
    ("timing.physics.retention", "physics", &["policy cost=fixed:level=low"], "1d"),
    ("slc.read", "cached", &[], "30us"),
    ("slc.program", "cached", &[], "170us"),
    ("slc.erase", "cached", &[], "3ms"),
    ("slc.endurance", "cached", &[], "3000"),
    ("slc.energy.read", "cached", &[], "4uJ"),
    ("slc.energy.program", "cached", &[], "10uJ"),
    ("slc.energy.erase", "cached", &[], "60uJ"),
    ("energy.read", "closed", &[], "18uJ"),
    ("energy.program", "closed", &[], "61uJ"),
    ("energy.erase", "closed", &[], "101uJ"),
    ("energy.transfer-out", "bus", &[], "2uJ"),
    ("energy.transfer-in", "bus", &[], "2uJ"),
    ("energy.idle-power", "closed", &[], "28mW"),
    ("reliability.model", "worn", &[], "off"),
    ("reliability.endurance", "closed", &[], "1"),
    ("reliability.recovery", "worn", &[], "fitted"),
    ("reliability.correctable", "worn", &[], "[3e-3, 5e-3, 9e-3]"),
    ("reliability.codeword", "worn", &[], "2KiB"),
    ("reliability.code-rate", "worn", &[], "0.9"),
    ("reliability.uber", "worn", &[], "1e-12"),
    ("reliability.read-start", "worn", &[], "lowest"),
    ("reliability.program-speed", "worn", &[], "wear"),
    ("reliability.uncorrectable", "worn", &["reliability.correctable=[3e-4, 4e-4, 5e-4]"], "keep"),
    ("reliability.initial-cycles", "worn", &[], "1000"),
    ("reliability.initial-rest", "worn", &[], "2d"),
    ("reliability.initial-retention", "worn", &[], "1d"),
    ("reliability.target", "worn", &[], "1y"),
    ("scale", "closed", &["geometry.blocks-per-plane=96"], "1/2"),
    ("ftl.over-provisioning", "closed", &["ftl.over-provisioning=0.4"], "0.3"),
    ("ftl.spare-factor", "closed", &[], "0.3"),
    ("ftl.logical-capacity", "closed", &["ftl.logical-capacity=22MiB"], "20MiB"),
    ("ftl.unmapped-read", "sparse", &["precondition.fill=none"], "zero"),
    ("ftl.pending-read", "closed", &["workload.read-share=0.5"], "memory"),
    ("pages.program", "closed", &[], "wordline"),
    ("ftl.program-planes", "closed", &[], "2"),
    ("ftl.superblock", "closed", &[], "drive"),
    ("ftl.parity", "closed", &[], "4"),
    ("ftl.mapping-unit", "closed", &["geometry.page-size=16KiB"], "4KiB"),
    ("ftl.program-wait", "open", &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB"], "1ms"),
    (
        "timing.read-partial",
        "closed",
        &["geometry.page-size=16KiB", "ftl.mapping-unit=4KiB", "workload.read-share=0.5"],
        "20us",
    ),
    ("ftl.multi-plane", "closed", &[], "any"),
    ("ftl.copyback", "bus", &[], "2"),
    ("ftl.fdp.handles", "hinted", &[], "4"),
    ("ftl.fdp.reclaim-unit", "hinted", &["ftl.fdp.handles=4"], "2"),
    ("ftl.fdp.isolation", "hinted", &["ftl.fdp.handles=4"], "persistent"),
    ("ftl.fdp.spill", "hinted", &["ftl.fdp.handles=4"], "true"),
    ("ftl.fdp.keep-sequential", "logged", &["ftl.fdp.handles=2"], "true"),
    ("ftl.gc.start", "closed", &["ftl.gc.stop=5"], "4"),
    ("ftl.gc.stop", "closed", &[], "5"),
    ("ftl.gc.background-stop", "open", &[], "6"),
    ("ftl.gc.foreground", "open", &["ftl.gc.stop=8", "workload.requests=9000"], "one"),
    ("ftl.gc.pace", "closed", &["ftl.gc.background-stop=6"], "per-write"),
    ("host.mode", "open", &[], "think-time"),
    ("host.speed", "open", &[], "2.0"),
    ("host.queue-depth", "closed", &[], "4"),
    ("host.queue-limit", "open", &[], "1"),
    (
        "host.out-of-range",
        "closed",
        &["workload.span=8MiB", "workload.shift=20MiB", "host.out-of-range=wrap"],
        "compact",
    ),
    (
        "buffer.kind",
        "closed",
        &["buffer.size=256KiB", "buffer.power-loss-protected=false"],
        "write-through",
    ),
    ("ftl.free-block", "aged", &[], "least-worn"),
    ("ftl.gc.trigger", "closed", &[], "{ garbage = 0.05 }"),
    ("ftl.gc.trigger.garbage", "closed", &["ftl.gc.trigger={ garbage = 0.05 }"], "0.1"),
    ("host.flow", "tenants", &[], "[{ name = \"few\", weight = 4 }]"),
    ("host.only", "tenants", &[], "few"),
    ("link.rate", "closed", &[], "100MB/s"),
    ("link.latency", "closed", &[], "5us"),
    ("link.duplex", "closed", &["link.rate=50MB/s"], "half"),
    ("controller.read", "closed", &[], "5us"),
    ("controller.write", "closed", &[], "5us"),
    ("controller.rate", "closed", &[], "1GB/s"),
    ("controller.cores", "closed", &["controller.write=200us"], "2"),
    ("controller.read-latency", "closed", &[], "5us"),
    (
        "controller.read-jitter.p50",
        "closed",
        &["controller.read-jitter={ p50 = \"5us\", p99 = \"9us\" }"],
        "6us",
    ),
    (
        "controller.read-jitter.p99",
        "closed",
        &["controller.read-jitter={ p50 = \"5us\", p99 = \"9us\" }"],
        "20us",
    ),
    (
        "controller.write-jitter.p50",
        "closed",
        &["controller.write-jitter={ p50 = \"5us\", p99 = \"9us\" }"],
        "6us",
    ),
    (
        "controller.write-jitter.p99",
        "closed",
        &["controller.write-jitter={ p50 = \"5us\", p99 = \"9us\" }"],
        "20us",
    ),
    ("buffer.size", "closed", &[], "256KiB"),
    (
        "buffer.power-loss-protected",
        "closed",
        &["buffer.size=256KiB", "buffer.kind=write-through"],
        "false",
    ),
    ("buffer.latency", "closed", &["buffer.size=256KiB"], "5us"),
    ("buffer.rate", "closed", &["buffer.size=256KiB"], "1GB/s"),
    ("buffer.units-per-die", "closed", &[], "4"),
    ("buffer.access", "closed", &["buffer.size=256KiB"], "5us"),
    ("buffer.flush-above", "closed", &["buffer.size=256KiB"], "0.5"),
    ("workload.shift", "closed", &["host.out-of-range=wrap"], "2KiB"),
    ("workload.requests", "closed", &[], "2000"),
    ("workload.size", "closed", &[], "8KiB"),
    ("workload.align", "closed", &[], "512B"),
    ("workload.span", "closed", &[], "8MiB"),
    ("workload.read-share", "closed", &[], "0.5"),
    ("workload.trim-share", "closed", &[], "0.1"),
    ("workload.flush-every", "closed", &[], "10"),
    (
        "workload.fua-share",
        "closed",
        &["buffer.size=256KiB", "buffer.power-loss-protected=false"],
        "0.5",
    ),
    ("workload.arrivals", "closed", &["host.mode=timestamps"], "{ constant = { iops = 900 } }"),
    ("workload.rate", "open", &["workload.rate=2000"], "3000"),
    ("workload.theta", "zipf", &[], "0.5"),
    ("workload.hot-data", "hot-cold", &[], "0.3"),
    ("workload.hot-writes", "hot-cold", &[], "0.9"),
    ("workload.order", "passes", &["workload.span=256KiB"], "repeated"),
    ("workload.sessions", "conversations", &[], "3"),
    ("workload.object-size", "conversations", &[], "128KiB"),
    ("workload.prefix-hits", "conversations", &[], "0.7"),
    ("workload.eviction", "conversations", &[], "trim"),
    ("workload.tenants", "conversations", &[], "2"),
    ("workload.seed", "closed", &[], "5"),
    ("precondition.fill", "closed", &[], "0.5"),
    ("precondition.age", "closed", &[], "random"),
    ("policies.cost", "levels", &[], "agcr"),
    ("policies.throttle", "tight", &[], "{ name = \"static\", target = \"10d\" }"),
    ("policies.read-disturb", "three-bits", &[], "{ name = \"refresh\", limit = 50 }"),
    ("policies.page-choice", "urgent", &[], "mango"),
    ("policies.coding", "one-bit", &[], "wom"),
    ("policies.slc-cache", "cached", &[], "none"),
    ("policies.victim", "closed", &[], "fifo"),
    ("policies.separation", "closed", &[], "shared"),
    ("policies.placement", "closed", &[], "static"),
    ("policies.wear", "aged", &[], "{ name = \"static\", threshold = 1 }"),
    ("policies.order", "closed", &[], "read-first"),
    ("policies.arbitration", "tenants", &[], "fair"),
    ("run.seed", "closed", &[], "2"),
    ("run.keep-requests", "closed", &[], "false"),
    ("run.series-interval", "closed", &[], "10ms"),
];

/// Every key that the schema has.
fn keys(section: &Value, path: &str, found: &mut Vec<String>) {
    let Some(properties) = section["properties"].as_object() else { return };
    for (key, schema) in properties {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let choices = schema["anyOf"].as_array().into_iter().flatten();
        // A policy's own keys are its parameters, which the list of policies has.
        let inner = if path.starts_with("policies.") { None } else { Some(choices) };
        let inner: Vec<&Value> = inner.into_iter().flatten().collect();
        if schema["properties"].is_null() {
            found.push(path.clone());
        }
        for section in inner.into_iter().chain([schema]) {
            keys(section, &path, found);
        }
    }
}

#[test]
fn every_key_of_a_drive_file_shows() {
    let mut found = Vec::new();
    keys(&schema(), "", &mut found);
    assert!(found.len() > 80, "only {} keys were looked at", found.len());
    let known: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let listed: Vec<&str> =
        SEEN.iter().map(|(key, ..)| *key).chain(UNSEEN.iter().map(|(key, _)| *key)).collect();
    for key in &listed {
        assert!(known.contains(key), "`{key}` is no longer a key");
    }
    for key in &found {
        assert!(listed.contains(&key.as_str()), "`{key}`: what does it do, and where is it seen?");
    }
    let mut runs = Runs::default();
    let mut silent = Vec::new();
    for (key, situation, base, value) in SEEN {
        if !runs.differ(situation, base, &format!("{key}={value}")) {
            silent.push(format!("`{key} = {value}` changes nothing in {situation} with {base:?}"));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

// ── Parameters of policies ──────────────────────────────────────────────────────────────────────

/// Values of parameters while another one is changed, so that each has an effect.
const BASE: &[(Family, &str, &str)] = &[
    (Family::ReadDisturb, "limit", "60"),
    (Family::ReadDisturb, "low-limit", "120"),
    (Family::ReadDisturb, "pool-reserve", "0"),
    (Family::Throttle, "target", "60d"),
    (Family::Throttle, "period", "12min"),
    (Family::Throttle, "window", "2h"),
    (Family::Throttle, "history", "1d"),
    (Family::SlcCache, "minimum", "64KiB"),
    (Family::SlcCache, "size", "256KiB"),
    (Family::SlcCache, "static", "128KiB"),
    (Family::Wear, "threshold", "4"),
    (Family::Wear, "slack", "4"),
];

fn situations(family: Family) -> &'static [&'static str] {
    match family {
        Family::Cost => &["levels"],
        Family::Throttle => &["tight", "loose"],
        Family::ReadDisturb => &["three-bits", "three-bits-levels"],
        Family::PageChoice => &["urgent", "urgent-three"],
        Family::Coding => &["one-bit"],
        Family::SlcCache => &["cached"],
        Family::Separation => &["hinted"],
        Family::Victim | Family::Placement | Family::Order => &["closed", "bus"],
        Family::Wear => &["aged", "roles"],
        Family::Arbitration => &["tenants"],
    }
}

/// Values to try for a parameter.
fn values(kind: ParamKind, now: &str) -> Vec<String> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    match kind {
        ParamKind::Word(words) => words.iter().map(ToString::to_string).collect(),
        ParamKind::Int { min, max } => {
            let n = number(now) as u64;
            let near = [n / 2, n * 2, n + 1, n.saturating_sub(1), max, min];
            near.into_iter().filter(|n| (min..=max).contains(n)).map(|n| n.to_string()).collect()
        }
        ParamKind::Real { min, max } => {
            [min, max, f64::midpoint(min, max), number(now) / 2.0].map(|x| x.to_string()).into()
        }
        ParamKind::Bytes => ["0B", "128KiB", "512KiB", "2MiB"].map(ToOwned::to_owned).into(),
        ParamKind::Dur { .. } => {
            let now: Dur = now.parse().expect("a time");
            [now / 2, now * 2, now * 5].map(|length| length.to_string()).into()
        }
    }
}

fn choice(policy: &PolicyInfo, changed: Option<(&str, &str)>) -> String {
    let mut params: BTreeMap<&str, &str> = BASE
        .iter()
        .filter(|(family, name, _)| {
            *family == policy.family && policy.params.iter().any(|p| p.name == *name)
        })
        .map(|(_, name, value)| (*name, *value))
        .collect();
    params.extend(changed);
    let params: Vec<String> = params.iter().map(|(k, v)| format!(":{k}={v}")).collect();
    format!("policy {}={}{}", policy.family.name(), policy.name, params.concat())
}

#[test]
fn every_parameter_of_a_policy_shows() {
    let mut runs = Runs::default();
    let (mut looked_at, mut silent) = (0, Vec::new());
    for policy in policies::all() {
        for param in policy.params {
            looked_at += 1;
            let base = choice(policy, None);
            let now = BASE.iter().find(|(f, n, _)| *f == policy.family && *n == param.name);
            let now = now.map_or(param.default, |(.., value)| *value);
            let seen = situations(policy.family).iter().any(|situation| {
                let before = runs.of(situation, &[&base]).clone().expect("it runs");
                values(param.kind, now).iter().any(|value| {
                    let changed = choice(policy, Some((param.name, value)));
                    // A value that others rule out says nothing.
                    matches!(runs.of(situation, &[&changed]), Ok(after) if *after != before)
                })
            });
            if !seen {
                silent.push(format!("{}={}:{}", policy.family.name(), policy.name, param.name));
            }
        }
    }
    assert!(looked_at > 60, "only {looked_at} parameters were looked at");
    assert!(silent.is_empty(), "nothing shows these: {silent:?}");
}

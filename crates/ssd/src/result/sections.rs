//! The parts of a result that only divide what was counted, and what each policy did.

use crate::config::{Drive, Pace, capacity};
use crate::device::Cells;
use crate::host::{ClassStats, Delays, begin_of_cell};
use crate::sim::{Class, DeviceStats, Sim, Stats, WaitStats, WorkLeft};
use ftl::{Cost, Counts, Ftl, Kit, ReadDisturb, State, Throttle};
use kernel::Histogram;
use nand::{Cause, Each, Key, Level, Mode, Part, Source, reserved};
use policies::Family;
use serde_json::{Map, Value, json};
use workload::Flow;

pub(super) fn end<K: Kit>(drive: &Drive, sim: &Sim<K>, end_ns: u64, counts: &Counts) -> Value {
    let Some(at) = sim.worn_out_at() else {
        return json!({
            "state": "completed", "at_ns": end_ns, "reason": null, "work_left": null,
        });
    };
    let planes = u64::from(drive.geometry.units().planes);
    let blocks = drive.geometry.blocks() as u64 * planes;
    let (worn, lost) = ((counts.retired - counts.condemned) * planes, counts.condemned * planes);
    let cycles = drive.reliability.endurance;
    let why = match (worn, lost) {
        (_, 0) => format!("{worn} of {blocks} blocks reached their {cycles} P/E cycles and were"),
        (0, lost) => {
            format!("{lost} of {blocks} blocks held pages that could not be read and were")
        }
        (_, lost) => format!(
            "of {blocks} blocks {worn} reached their {cycles} P/E cycles and {lost} held pages \
             that could not be read; these were"
        ),
    };
    json!({
        "state": "worn-out",
        "at_ns": at.as_ns(),
        "reason": format!(
            "{why} retired; what is left cannot hold the drive's {} and the space that garbage \
             collection needs",
            capacity(drive),
        ),
        "work_left": null,
    })
}

/// What the drive had yet to do when the run was over.
pub(super) fn work_left(left: WorkLeft) -> Value {
    let WorkLeft { moves, erases, die_time } = left;
    json!({ "moves": moves, "erases": erases, "die_seconds": die_time.as_secs_f64() })
}

pub(super) fn host(stats: &Stats, flows: &[Flow]) -> Value {
    let mut all = classes(&stats.classes);
    all["high"] = stats.urgent.as_deref().map_or(Value::Null, classes);
    let of = |(flow, counts): (&Flow, &Each<Class, ClassStats>)| {
        let mut value = classes(counts);
        value["weight"] = flow.weight.into();
        value["queue_depth"] = flow.depth.into();
        value["region_bytes"] = json!([flow.region.0, flow.region.1]);
        (flow.name.clone(), value)
    };
    let by_name: Map<String, Value> = flows.iter().zip(&stats.flows).map(of).collect();
    all["flows"] = if by_name.is_empty() { Value::Null } else { by_name.into() };
    all
}

/// Requests by what they do, and all of them.
fn classes(classes: &Each<Class, ClassStats>) -> Value {
    let mut all = named(|c: Class| class(&[&classes[c]], classes[c].bytes));
    // Trims have addresses and carry no data: their bytes are none of the drive's throughput.
    let data = classes[Class::Read].bytes + classes[Class::Write].bytes;
    all.insert("all".to_owned(), class(&classes.values().collect::<Vec<_>>(), data));
    all.into()
}

/// Requests of some classes together, and their bytes.
fn class(of: &[&ClassStats], bytes: u64) -> Value {
    let mut times = Histogram::new();
    for c in of {
        times.merge(&c.latency);
    }
    let delays = |ns: u64| of.iter().map(|c| c.delays.since(ns)).sum::<Delays>();
    let p99 = times.quantile_ns(0.99);
    let (all, slowest) = (delays(0), delays(p99));
    json!({
        "requests": all.requests,
        "bytes": bytes,
        "latency_ns": latency(&times),
        "delay_ns_by_cause": means(&all),
        "slowest": {
            "requests": slowest.requests,
            "from_ns": begin_of_cell(p99),
            "delay_ns_by_cause": means(&slowest),
        },
    })
}

/// The mean delay of a request, by cause.
fn means(delays: &Delays) -> Value {
    let parts = delays.parts.map(|sum| sum.mean_ns(delays.requests));
    let mut means = Map::new();
    for (name, mean) in named(|cause: Cause| parts.causes[cause]) {
        let before_queue = name == Part::BEFORE_QUEUE.name();
        means.insert(name, mean);
        if before_queue {
            means.insert("queue".to_owned(), named(|source: Source| parts.queue[source]).into());
        }
    }
    means.into()
}

fn latency(h: &Histogram) -> Value {
    let p = h.percentiles();
    json!({
        "mean": p.mean, "min": p.min, "p50": p.p50, "p90": p.p90, "p99": p.p99,
        "p99_9": p.p99_9, "p99_99": p.p99_99, "max": p.max,
    })
}

/// A value of each key, by name; nothing for names that results have a place for and nobody has yet.
pub(super) fn named<K: Key, T: Into<Value> + Default>(
    value: impl Fn(K) -> T,
) -> Map<String, Value> {
    let known = K::ALL.iter().map(|key| (key.name(), value(*key)));
    let to_come = reserved::<K>().map(|name| (name, T::default()));
    known.chain(to_come).map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn by_source(counts: &Each<Source, u64>) -> Value {
    let mut map = named(|source: Source| counts[source]);
    map.insert("total".into(), counts.total().into());
    map.into()
}

fn by_level(counts: &Each<Level, u64>) -> Value {
    named(|level: Level| counts[level]).into()
}

pub(super) fn flash(
    drive: &Drive,
    counts: &Counts,
    stats: &Stats,
    device: &DeviceStats,
    waits: WaitStats,
    cells: Option<&Cells>,
) -> Value {
    let per_page = u64::from(drive.geometry.units().per_page);
    let paced = drive.ftl.gc.pace == Pace::PerWrite;
    let demand = &counts.gc_erase_by_demand;
    // Collection is never what makes collection necessary.
    let who = demand.iter().filter(|(source, _)| *source != Source::Gc);
    let mut demands: Map<String, Value> =
        who.map(|(source, erases)| (source.name().to_owned(), (*erases).into())).collect();
    demands.insert("total".into(), demand.total().into());
    let page = |class: Class| {
        let p = stats.pages[class];
        json!({ "mean": p.latency.mean_ns(p.count) })
    };
    json!({
        "read": by_source(&counts.read),
        "program": by_source(&counts.program),
        "padding": by_source(&counts.padding),
        "erase": by_source(&counts.erase),
        "reprogram": by_source(&counts.reprogrammed_pages),
        "gc_erase_by_demand": demands,
        "page_latency_ns": { "read": page(Class::Read), "write": page(Class::Write) },
        "unmapped_reads": stats.unmapped_reads,
        "pending_reads": stats.pending_reads,
        "by_level": {
            "read": by_level(&device.read_by_level),
            "program": by_level(&device.program_by_level),
        },
        "rmw_reads": stats.rmw_reads,
        "skipped_pages": counts.skipped,
        "space_wait_max_ns": paced.then_some(waits.space_longest),
        "gc_wait_max_ns": waits.gc_longest,
        "suspends": drive.suspend.map(|_| json!({
            "program": by_source(&device.suspends.program),
            "erase": by_source(&device.suspends.erase),
        })),
        "copybacks": drive.ftl.copyback.map(|_| {
            by_source(&device.stayed.map(|pages| pages * per_page))
        }),
        "uncorrectable": cells.map_or(0, |c| c.counts().uncorrectable.total()),
    })
}

pub(super) fn buffer<K: Kit>(sim: &Sim<K>) -> Value {
    sim.buffer().map_or(Value::Null, |b| {
        json!({
            "pages": b.places, "absorbed": b.absorbed, "read_hits": b.read_hits,
            "flushed": b.flushed, "waited": sim.wait_stats().buffer, "most": b.most, "left": b.left,
            "drain_ns": sim.drain().as_ns(),
        })
    })
}

/// Mean and deviation of a column in `unit`, and its ends as `end` has them.
pub(super) fn spread(column: &[u32], unit: f64, end: impl Fn(u32) -> Value) -> Value {
    let n = column.len() as f64;
    let mean = column.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let square = column.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
    let (min, max) = (column.iter().min(), column.iter().max());
    let [min, max] = [min, max].map(|x| x.map(|x| end(*x)));
    json!({ "min": min, "mean": mean * unit, "max": max, "stddev": square.sqrt() * unit })
}

pub(super) fn capacity_of<K: Kit>(drive: &Drive, ftl: &Ftl<K>) -> Value {
    let blocks = || drive.geometry.block_ids();
    // Of a drive that was simulated in part, each of its parts has as many.
    let years = drive.years.as_ref();
    let parts = years.map_or(1, |years| years.of.get() as usize);
    let planes = drive.geometry.units().planes as usize * parts;
    let drive = years.map_or(drive, |years| &years.whole);
    let in_state = |s: State| blocks().filter(|&b| ftl.blocks().state(b) == s).count() * planes;
    let low = blocks().filter(|&b| ftl.array().mode(b) == Mode::Low).count() * planes;
    let physical = drive.geometry.pages() as u64 * drive.geometry.page_size().get();
    json!({
        "physical_bytes": physical,
        "logical_bytes": capacity(drive).get(),
        "over_provisioning": drive.over_provisioning,
        "spare_factor": drive.spare_factor,
        "free_blocks": in_state(State::Free),
        "low_density_blocks": low,
        "bad_blocks": in_state(State::Bad),
    })
}

/// Each policy with what it did. Counts that the mechanism keeps for a policy stand here; the
/// policy adds its own.
// Long for its list of families.
pub(super) fn policies_of<K: Kit>(drive: &Drive, counts: &Counts, sim: &mut Sim<K>) -> Value {
    let (waits, merged) = (sim.wait_stats(), sim.device_stats().merged);
    let arbiter = sim.arbiter_counters();
    let policies = &mut sim.ftl_mut().policies;
    let mut own: Vec<Vec<(&'static str, f64)>> = Vec::new();
    policies.each(|w| own.push(w.counters()));
    own.push(arbiter);
    let programs = counts.program.total();
    let mut all = Map::new();
    for (family, own) in Family::ALL.into_iter().zip(own) {
        let (name, params) = drive.policies.get(family);
        let mut counters = Map::new();
        let mut put = |name: &str, n: u64| counters.insert(name.to_owned(), n.into());
        match family {
            Family::Cost => {
                put("programs", programs);
            }
            Family::Coding => {
                put("programs", programs);
                if name != Family::Coding.default() {
                    put("second_generations", counts.second_lives);
                    put("kept_pages", counts.kept);
                }
            }
            Family::PageChoice => {
                put("pages", programs);
                put("skipped", counts.skipped);
            }
            Family::Victim => {
                put("reclaimed", counts.erase[Source::Gc] + counts.second_lives);
                put("starved", counts.starved);
                put("overridden", counts.overridden);
            }
            Family::Placement => {
                put("placed", counts.host_pages);
                put("stalled", waits.space);
            }
            Family::Order => {
                put("operations", counts.read.total() + programs + counts.erase.total());
                put("merged", merged);
            }
            Family::ReadDisturb if name != Family::ReadDisturb.default() => {
                let needed = counts.gc_erase_by_demand[Source::Refresh];
                let refresh = counts.erase[Source::Refresh] + needed;
                put("erases_for_refresh", refresh);
                put("other_erases", counts.erase.total() - refresh);
                put("waiting_reads", waits.refresh);
                put("reprogrammed_blocks", counts.reprogram);
                put("sealed_slots", counts.sealed);
            }
            Family::Throttle | Family::ReadDisturb | Family::Wear | Family::Arbitration => {}
        }
        for (counter, n) in own {
            // A policy from outside may count what is counted here under the same name.
            let taken = counters.contains_key(counter);
            let key = if taken { format!("own_{counter}") } else { counter.to_owned() };
            counters.insert(key, json!(n));
        }
        let dram = match family {
            Family::Cost => {
                let bits = policies.cost.dram_bits_per_page();
                u64::from(bits) * u64::from(drive.logical_pages) / 8
            }
            Family::Throttle => policies.throttle.dram_bytes(),
            Family::ReadDisturb => policies.read_disturb.dram_bytes(),
            _ => 0,
        };
        all.insert(
            family.name().to_owned(),
            json!({
                "name": name,
                "params": params.as_map(),
                "dram_bytes": dram,
                "counters": counters,
            }),
        );
    }
    Value::Object(all)
}

//! From counts to results: the one place that divides.
//!
//! The shape is that of `floatgate.run/1`; every key is always present, and what was not computed
//! is null.

use crate::config::{Drive, HostMode};
use crate::energy::EnergyUse;
use crate::lifetime::{self, lifetime};
use crate::precondition::Preconditioned;
use crate::run::{Before, capacity, pages_in_use};
use crate::sim::{Cells, Class, ClassStats, Overload, Sim, Stats};
use crate::steady::Steadiness;
use ftl::{Counts, Ftl, Kit, State};
use kernel::{Histogram, IndexVec, Time};
use nand::{BlockId, BySource, Level, Mode, Source};
use policies::Family;
use serde_json::{Map, Value, json};
use workload::{About, Alignment};

/// The result of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    value: Value,
    page_operations: u64,
    waits: Waits,
}

/// How often something waited, by what for.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Waits {
    /// Host writes for a free block.
    pub space: u64,
    /// Host reads for the refresh of their block.
    pub refresh: u64,
    /// Host operations for a read-modify-write of their page.
    pub page: u64,
    /// Host writes for a place in the write buffer.
    pub buffer: u64,
    /// Host reads for a program on its way.
    pub program: u64,
    /// Write requests for the throttle.
    pub throttle: u64,
    /// Jobs for space, for reads on their way, for a program.
    pub job: u64,
}

impl Report {
    /// The result as JSON, in the order of keys that people read it in.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How often something waited, by what for.
    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// Fills in what only the caller can measure: the seconds that all took, and those of them
    /// after preconditioning.
    pub fn set_wall_seconds(&mut self, all: f64, running: f64) {
        let rate = if running > 0.0 { self.page_operations as f64 / running } else { 0.0 };
        self.value["timing"] = json!({ "wall_seconds": all, "page_ops_per_second": rate });
    }
}

/// The run counts to its last program; above this share of it for the write buffer alone, after the
/// last request was done, its rates are no longer what the host saw.
const SHARE_OF_DRAINING: f64 = 0.01;

/// Latency above which percentiles cannot be trusted is one with fewer samples behind it.
const SAMPLES_BEHIND: u64 = 10;

pub(crate) fn report<K: Kit>(
    drive: &Drive,
    about: &About,
    skipped: u64,
    alignment: &Alignment,
    state: &Preconditioned,
    before: Before,
    sim: &mut Sim<K>,
) -> Report {
    let counts = *sim.ftl().counts();
    let stats = sim.stats().clone();
    let checks = check(drive, &counts, &stats, before, sim);
    let steadiness = Steadiness::of(drive, state, &counts, &stats, sim);
    let end_ns = sim.end().as_ns();
    let page_bytes = drive.geometry.page_size().get();
    let written = stats.classes[Class::Write as usize].bytes;
    let programs = counts.program.total();
    let reads = sim.cells().map(Cells::counts);
    let energy = EnergyUse::of(drive, &counts, &stats, reads, sim.now().as_secs_f64());
    let host_bytes = stats.classes[Class::Read as usize].bytes + written;
    let ratio = |n: u64, d: u64| if d == 0 { Value::Null } else { json!(n as f64 / d as f64) };
    let value = json!({
        "schema": "floatgate.run/1",
        "provenance": {
            "version": env!("CARGO_PKG_VERSION"),
            "build": drive.build,
            "config": drive.resolved,
            "config_hash": drive.hash(),
            "seed": drive.seed,
            "workload": {
                "name": about.name,
                "format": about.format,
                "sha256": about.sha256,
                "reading": about.reading,
                "requests": stats.generated,
                "skipped": skipped,
                "notes": about.notes,
                "stand_in": about.stand_in.as_ref().map(|s| json!({
                    "model": s.model, "version": s.version, "fitted_to": s.fitted_to,
                })),
                "out_of_range": drive.host.out_of_range.name(),
                "shift_bytes": drive.workload.shift,
            },
        },
        "end": end(drive, sim, end_ns, &counts),
        "host": host(&stats),
        "flash": flash(&counts, &stats, sim.cells()),
        "waf": ratio(programs * page_bytes, written),
        "waf_pages": ratio(programs, counts.host_pages),
        "wear": {
            "erases": spread(sim.ftl().array().erases(), 1.0),
            "effective": spread_f64(sim.ftl().array().wear(), 1e-3),
        },
        "capacity": capacity_of(drive, sim.ftl()),
        "buffer": buffer(sim),
        "energy_joules": energy.as_ref().map(EnergyUse::by_operation),
        "energy_split": energy.map(|e| e.split(drive.geometry.shape().bits_per_cell, host_bytes)),
        "lifetime": lifetime(drive, &counts, &stats, &steadiness, sim),
        "policies": policies_of(drive, &counts, &stats, sim),
        "checks": checks,
        "warnings": warnings(drive, about, alignment, &steadiness, &counts, &stats, sim),
        "simulated_seconds": end_ns as f64 * 1e-9,
        "timing": { "wall_seconds": 0.0, "page_ops_per_second": 0.0 },
    });
    let waits = Waits {
        space: stats.stalled_writes,
        refresh: stats.barred_reads,
        page: stats.locked,
        buffer: sim.buffer().map_or(0, |b| b.waited),
        program: stats.parked_reads,
        throttle: stats.held,
        job: sim.ftl().job_waits(),
    };
    Report { value, page_operations: counts.read.total() + programs, waits }
}

fn end<K: Kit>(drive: &Drive, sim: &Sim<K>, end_ns: u64, counts: &Counts) -> Value {
    let Some(at) = sim.worn_out_at() else {
        return json!({ "state": "completed", "at_ns": end_ns, "reason": null });
    };
    let blocks = drive.geometry.blocks();
    let worn = counts.retired - counts.condemned;
    let cycles = drive.reliability.endurance;
    let why = match (worn, counts.condemned) {
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
    })
}

fn host(stats: &Stats) -> Value {
    let mut all = classes(&stats.classes);
    all["high"] = stats.urgent.as_deref().map_or(Value::Null, classes);
    all
}

/// Requests by what they do, and all of them.
fn classes(classes: &[ClassStats; 3]) -> Value {
    let mut all = ClassStats::default();
    for class in classes {
        all.requests += class.requests;
        all.bytes += class.bytes;
        all.latency.merge(&class.latency);
        all.throttle_ns += class.throttle_ns;
        for (sum, ns) in all.queue_ns.iter_mut().zip(class.queue_ns) {
            *sum += ns;
        }
        all.bus_ns += class.bus_ns;
        all.array_ns += class.array_ns;
        all.ecc_ns += class.ecc_ns;
    }
    json!({
        "read": class(&classes[Class::Read as usize]),
        "write": class(&classes[Class::Write as usize]),
        "trim": class(&classes[Class::Trim as usize]),
        "all": class(&all),
    })
}

fn class(c: &ClassStats) -> Value {
    let mean = |ns: u128| if c.requests == 0 { 0.0 } else { ns as f64 / c.requests as f64 };
    let queue: Map<String, Value> = Source::ALL
        .into_iter()
        .map(|s| (s.name().to_owned(), json!(mean(c.queue_ns[s as usize]))))
        .collect();
    json!({
        "requests": c.requests,
        "bytes": c.bytes,
        "latency_ns": latency(&c.latency),
        "delay_ns_by_cause": {
            "throttle": mean(c.throttle_ns),
            "queue": queue,
            "bus": mean(c.bus_ns),
            "array": mean(c.array_ns),
            "ecc": mean(c.ecc_ns),
        },
    })
}

fn latency(h: &Histogram) -> Value {
    let p = h.percentiles();
    json!({
        "mean": p.mean, "min": p.min, "p50": p.p50, "p90": p.p90, "p99": p.p99,
        "p99_9": p.p99_9, "p99_99": p.p99_99, "max": p.max,
    })
}

fn by_source(counts: &BySource<u64>) -> Value {
    let mut map: Map<String, Value> =
        Source::ALL.into_iter().map(|s| (s.name().to_owned(), counts[s].into())).collect();
    map.insert("total".into(), counts.total().into());
    Value::Object(map)
}

fn by_level(counts: &[u64; 3]) -> Value {
    Level::ALL.into_iter().map(|l| (l.name().to_owned(), json!(counts[l as usize]))).collect()
}

fn flash(counts: &Counts, stats: &Stats, cells: Option<&Cells>) -> Value {
    let demand = &counts.gc_erase_by_demand;
    let mut demands: Map<String, Value> =
        [Source::Host, Source::Wear, Source::Refresh, Source::Rewrite, Source::Map]
            .into_iter()
            .map(|s| (s.name().to_owned(), demand[s].into()))
            .collect();
    demands.insert("total".into(), demand.total().into());
    let mut reprogram = BySource::default();
    reprogram[Source::Refresh] = counts.reprogrammed_pages;
    let page = |class: Class| {
        let p = stats.pages[class as usize];
        let mean = if p.count == 0 { 0.0 } else { p.sum_ns as f64 / p.count as f64 };
        json!({ "mean": mean })
    };
    json!({
        "read": by_source(&counts.read),
        "program": by_source(&counts.program),
        "erase": by_source(&counts.erase),
        "reprogram": by_source(&reprogram),
        "gc_erase_by_demand": demands,
        "page_latency_ns": { "read": page(Class::Read), "write": page(Class::Write) },
        "unmapped_reads": stats.unmapped_reads,
        "by_level": {
            "read": by_level(&stats.read_by_level),
            "program": by_level(&stats.program_by_level),
        },
        "rmw_reads": stats.rmw_reads,
        "skipped_pages": counts.skipped,
        "uncorrectable": cells.map_or(0, |c| c.counts().uncorrectable.iter().sum::<u64>()),
    })
}

fn buffer<K: Kit>(sim: &Sim<K>) -> Value {
    sim.buffer().map_or(Value::Null, |b| {
        json!({
            "pages": b.places, "absorbed": b.absorbed, "read_hits": b.read_hits,
            "flushed": b.flushed, "waited": b.waited, "most": b.most, "left": b.left,
            "drain_ns": sim.drain().as_ns(),
        })
    })
}

fn moments(column: &IndexVec<BlockId, u32>) -> (f64, f64) {
    let n = column.len() as f64;
    let mean = column.as_slice().iter().map(|&x| f64::from(x)).sum::<f64>() / n;
    let square = column.as_slice().iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
    (mean, square.sqrt())
}

fn spread(column: &IndexVec<BlockId, u32>, unit: f64) -> Value {
    let (mean, stddev) = moments(column);
    let (min, max) = (column.as_slice().iter().min(), column.as_slice().iter().max());
    json!({ "min": min, "mean": mean * unit, "max": max, "stddev": stddev * unit })
}

fn spread_f64(column: &IndexVec<BlockId, u32>, unit: f64) -> Value {
    let (mean, stddev) = moments(column);
    let least = column.as_slice().iter().min().map_or(0.0, |&x| f64::from(x) * unit);
    let most = column.as_slice().iter().max().map_or(0.0, |&x| f64::from(x) * unit);
    json!({ "min": least, "mean": mean * unit, "max": most, "stddev": stddev * unit })
}

fn capacity_of<K: Kit>(drive: &Drive, ftl: &Ftl<K>) -> Value {
    let blocks = || (0..drive.geometry.blocks() as u32).map(BlockId::from_u32);
    let in_state = |s: State| blocks().filter(|&b| ftl.blocks().state(b) == s).count();
    let low = blocks().filter(|&b| ftl.array().mode(b) == Mode::Low).count();
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
fn policies_of<K: Kit>(drive: &Drive, counts: &Counts, stats: &Stats, sim: &mut Sim<K>) -> Value {
    let policies = &mut sim.ftl_mut().policies;
    let mut own: Vec<Vec<(&'static str, f64)>> = Vec::new();
    policies.each(|w| own.push(w.counters()));
    let bits = u64::from(ftl::Cost::dram_bits_per_page(&policies.cost));
    let throttle = ftl::Throttle::dram_bytes(&policies.throttle);
    let counters_memory = ftl::ReadDisturb::dram_bytes(&policies.read_disturb);
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
                put("stalled", stats.stalled_writes);
            }
            Family::Order => {
                put("operations", counts.read.total() + programs + counts.erase.total());
                put("merged", stats.merged);
            }
            Family::ReadDisturb if name != Family::ReadDisturb.default() => {
                let needed = counts.gc_erase_by_demand[Source::Refresh];
                let refresh = counts.erase[Source::Refresh] + needed;
                put("erases_for_refresh", refresh);
                put("other_erases", counts.erase.total() - refresh);
                put("waiting_reads", stats.barred_reads);
                put("reprogrammed_blocks", counts.reprogram);
                put("sealed_slots", counts.sealed);
            }
            Family::Throttle | Family::ReadDisturb | Family::Wear => {}
        }
        for (counter, n) in own {
            // A policy from outside may count what is counted here under the same name.
            let taken = counters.contains_key(counter);
            let key = if taken { format!("own_{counter}") } else { counter.to_owned() };
            counters.insert(key, json!(n));
        }
        let dram = match family {
            Family::Cost => bits * u64::from(drive.logical_pages) / 8,
            Family::Throttle => throttle,
            Family::ReadDisturb => counters_memory,
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

/// The conservation laws. A broken one is a bug of ours and no result.
fn check<K: Kit>(
    drive: &Drive,
    counts: &Counts,
    stats: &Stats,
    before: Before,
    sim: &Sim<K>,
) -> Value {
    let inside = u64::from(sim.inside());
    let ended = sim.worn_out_at().is_some();
    let ftl = sim.ftl();
    let programs = counts.program.total();
    let moves = counts.host_pages + counts.moved.total();
    let mapped = ftl.map().mapped();
    let blocks = || (0..ftl.geometry().blocks() as u32).map(BlockId::from_u32);
    let valid: u32 = blocks().map(|b| ftl.map().count_valid(b)).sum();
    let law = |holds: bool, what: &str| {
        assert!(
            holds,
            "conservation broken: {what} (seed {}, config {}, at {} ns)\n{counts:?}",
            drive.seed,
            drive.hash(),
            sim.now().as_ns(),
        );
    };
    law(stats.generated == stats.served + inside, "requests generated = served");
    law(mapped == valid, "pages mapped = pages valid");
    let plain = ftl.slots_are_pages()
        && counts.second_lives == 0
        && counts.skipped == 0
        && counts.sealed == 0;
    if !ended {
        law(programs == moves, "programs = host pages + moves");
        let erased = counts.erase.total() * u64::from(ftl.geometry().pages_per_block());
        let used = before.pages_in_use + programs;
        law(!plain || used == pages_in_use(ftl) + erased, "pages programmed = in use + erased");
    }
    let latencies: u128 = stats.classes.iter().map(|c| c.latency.sum_ns()).sum();
    let parts: u128 = stats.classes.iter().map(ClassStats::parts_ns).sum();
    law(latencies == parts, "the parts of latency add up");
    // Little's law over the whole run: mean latency x rate = mean number waiting or inside, where
    // the number inside was integrated over time, apart from the latencies.
    let occupancy = stats.occupancy_ns + stats.outside_ns;
    let little =
        (stats.served > 0 && occupancy > 0).then(|| latencies as f64 / occupancy as f64 - 1.0);
    law(ended || little.is_none_or(|e| e.abs() < 1e-9), "Little's law");
    json!({
        "requests_generated": stats.generated,
        "requests_served": stats.served,
        "programs": programs,
        "host_plus_moves": moves,
        "mapped": mapped,
        "valid": valid,
        "little_law_error": little,
        "passed": true,
    })
}

/// What is said of a drive that could not keep up.
fn overloaded(over: &Overload) -> String {
    let (arriving, behind) = (over.arriving.as_secs_f64(), over.behind.as_secs_f64());
    let n = over.arrivals as f64;
    let rate = |seconds: f64| match n / seconds {
        rate if rate.is_infinite() => "all at once".into(),
        rate if rate >= 10.0 => format!("{rate:.1} a second"),
        rate => format!("{rate:.4} a second"),
    };
    format!(
        "requests arrived faster than the drive serves them: {}, and {} were served; {} were \
         outstanding as the last arrived ({:.0} on average over the first quarter), and the drive \
         went on for {behind:.3} s. Latency grew as long as they arrived: it says how long the run \
         was rather than how quick the drive is (see host.speed)",
        rate(arriving),
        rate(arriving + behind),
        over.outstanding,
        over.at_first,
    )
}

fn warnings<K: Kit>(
    drive: &Drive,
    about: &About,
    alignment: &Alignment,
    steadiness: &Steadiness,
    counts: &Counts,
    stats: &Stats,
    sim: &Sim<K>,
) -> Value {
    let mut all = Vec::new();
    let mut warn = |code: &str, text: String| all.push(json!({ "code": code, "text": text }));
    let writes = stats.classes[Class::Write as usize].requests;
    steadiness.warn(&mut warn);
    if writes > 0 && stats.classes[Class::Read as usize].requests > 0 && !sim.read_what_it_wrote() {
        warn(
            "no-read-of-written",
            "no read met a page that was written during the run: where and how pages are written \
             could not matter to a read, other than by waiting"
                .into(),
        );
    }
    if let Some(buffer) = sim.buffer()
        && buffer.most < buffer.places
    {
        warn(
            "buffer-never-filled",
            format!(
                "the write buffer never filled: {} of its {} pages were taken at most, so no \
                 write ever waited for flash, and every write took 0 ns, as a buffer takes no time \
                 of its own",
                buffer.most, buffer.places
            ),
        );
    }
    let (drain, end) = (sim.drain().as_secs_f64(), sim.end().as_secs_f64());
    if drain > SHARE_OF_DRAINING * end {
        warn(
            "buffer-drained",
            format!(
                "the last request was done after {:.3} s, and the write buffer was empty after \
                 {end:.3} s: the run counts to its last program, so requests and bytes per second \
                 are those of the flash below the buffer, not what the host saw",
                end - drain
            ),
        );
    }
    if sim.end() == Time::ZERO && stats.served > 0 {
        warn(
            "no-time",
            "the run took no time, as no request needed flash: it has no rates, and nothing can be \
             said about years (see precondition.fill and ftl.unmapped-read)"
                .into(),
        );
    }
    for (family, name) in drive.policies.unrepeatable() {
        warn(
            "not-repeatable",
            format!(
                "the policy `{}={name}` ran from memory, not from a file as it is now: the \
                 configuration alone cannot make this result again, and the state before the run \
                 was not kept",
                family.name()
            ),
        );
    }
    if counts.overridden > 0 {
        let (name, _) = drive.policies.get(Family::Victim);
        warn(
            "victim-overridden",
            format!(
                "{} times `{name}` chose so many blocks in a row that free nothing that the block \
                 with the most to gain was taken in its place",
                counts.overridden
            ),
        );
    }
    lifetime::warn(drive, stats, sim, &mut warn);
    if stats.host_page_reads > 0 && stats.unmapped_reads * 100 > stats.host_page_reads {
        warn(
            "unmapped-reads",
            format!(
                "{:.1} % of the page reads met pages that hold nothing (see precondition.fill and \
                 ftl.unmapped-read)",
                stats.unmapped_reads as f64 * 100.0 / stats.host_page_reads as f64
            ),
        );
    }
    if stats.limited > 0 {
        warn(
            "queue-limit",
            format!(
                "{} requests arrived while {} were inside the drive, and waited outside",
                stats.limited, drive.host.queue_limit
            ),
        );
    }
    if let Some(over) = sim.overload() {
        warn("overloaded", overloaded(&over));
    }
    if drive.host.mode == HostMode::QueueDepth && !about.timed && about.closed.is_empty() {
        warn(
            "closed-loop",
            format!(
                "the workload has no arrival times: a request arrives as one of the {} places in \
                 the queue becomes free (host.mode = \"queue-depth\")",
                drive.host.queue_depth
            ),
        );
    }
    let (shift, best) = alignment.best_shift();
    let (aligned, total) = (alignment.aligned(), alignment.total());
    if shift > 0 && best * 2 > total && best > aligned {
        warn(
            "misaligned",
            format!(
                "{:.0} % of the requests start {} bytes past a 4 KiB boundary; `--set \
                 workload.shift={shift}B` would align them",
                best as f64 * 100.0 / total as f64,
                4096 - shift,
            ),
        );
    }
    for (name, class) in ["reads", "writes"].into_iter().zip(&stats.classes) {
        let n = class.latency.count();
        if n > 0 && n < SAMPLES_BEHIND * 10_000 {
            let trusted = match n {
                0..100 => "no percentile",
                100..1_000 => "nothing above p90",
                1_000..10_000 => "nothing above p99",
                _ => "nothing above p99.9",
            };
            warn(
                "few-samples",
                format!("{n} {name}: {trusted} has {SAMPLES_BEHIND} samples beyond it"),
            );
        }
        if class.latency.saturated() > 0 {
            warn(
                "saturated",
                format!("{} {name} took longer than 10^13 ns", class.latency.saturated()),
            );
        }
    }
    Value::Array(all)
}

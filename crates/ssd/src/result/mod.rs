//! From counts to results: the one place that divides.
//!
//! The shape is that of `floatgate.run/2`; every key is always present, and what was not computed
//! is null.

mod energy;
mod lifetime;
mod sections;
mod steady;
mod warnings;

use crate::config::{Drive, Word};
use crate::device::Cells;
use crate::host::ClassStats;
use crate::precondition::Preconditioned;
use crate::sim::{Class, Sim, Stats, WaitStats};
use energy::EnergyUse;
use ftl::{Counts, Ftl, Kit};
use kernel::{Histogram, TimeSum};
use lifetime::lifetime;
use sections::{buffer, capacity_of, end, flash, host, policies_of, spread, work_left};
use serde_json::{Value, json};
use steady::Steadiness;
use warnings::{Evidence, add_work_left, warnings};
use workload::{About, Alignment};

/// What a run took, in seconds.
#[derive(Copy, Clone, Default, Debug)]
pub struct Timing {
    /// By the clock on the wall, preconditioning included.
    pub wall: f64,
    /// Of the processor, for the thread that simulated.
    pub cpu: f64,
    /// Those by the clock after preconditioning.
    pub running: f64,
}

/// The result of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    value: Value,
    page_operations: u64,
    served: u64,
    waits: WaitStats,
}

impl Report {
    /// The result as JSON, in the order of keys that people read it in.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How often something waited, by what for.
    pub fn waits(&self) -> WaitStats {
        self.waits
    }

    /// Fills in what only the caller can measure.
    pub fn set_timing(&mut self, took: Timing) {
        let by_second = |n: u64| if took.running > 0.0 { n as f64 / took.running } else { 0.0 };
        self.value["timing"] = json!({
            "wall_seconds": took.wall,
            "cpu_seconds": took.cpu,
            "page_ops_per_second": by_second(self.page_operations),
            "requests_per_second": by_second(self.served),
        });
    }
}

/// The result of a run that is over; `used_before`: the pages that were programmed when it began.
// Long for the keys of a result, which stand here in one place.
pub(crate) fn report<K: Kit>(
    drive: &Drive,
    about: &About,
    skipped: u64,
    alignment: &Alignment,
    state: &Preconditioned,
    used_before: u64,
    sim: &mut Sim<K>,
) -> Report {
    let counts = sim.ftl().counts();
    let stats = sim.stats().clone();
    let checks = check(drive, &counts, &stats, used_before, sim);
    let steadiness = Steadiness::of(drive, state, &counts, &stats, about, sim);
    let asked = drive.years.as_ref().map_or(drive, |years| &years.whole);
    let end_ns = sim.end().as_ns();
    let page_bytes = drive.geometry.page_size().get();
    let written = stats.classes[Class::Write].bytes;
    let programs = counts.program.total();
    let reads = sim.cells().map(Cells::counts);
    let energy = EnergyUse::of(drive, &counts, sim.device_stats(), reads, sim.now().as_secs_f64());
    let host_bytes = stats.classes[Class::Read].bytes + written;
    let ratio = |n: u64, d: u64| if d == 0 { Value::Null } else { json!(n as f64 / d as f64) };
    let mut value = json!({
        "schema": "floatgate.run/2",
        "provenance": {
            "version": env!("CARGO_PKG_VERSION"),
            "build": drive.build,
            "config": asked.resolved,
            "config_hash": asked.hash(),
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
                "out_of_range": drive.host.out_of_range.said(),
                "shift_bytes": drive.workload.shift,
            },
        },
        "end": end(drive, sim, end_ns, &counts),
        "host": host(&stats, &about.flows),
        "flash": flash(drive, &counts, &stats, sim.device_stats(), sim.wait_stats(), sim.cells()),
        "waf": ratio(programs * page_bytes, written),
        "waf_pages": ratio(programs - counts.padding.total(), counts.host_pages),
        "wear": {
            "erases": spread(sim.ftl().array().erases().as_slice(), 1.0, Value::from),
            "effective": spread(sim.ftl().array().wear().as_slice(), 1e-3, |n| (f64::from(n) * 1e-3).into()),
        },
        "capacity": capacity_of(drive, sim.ftl()),
        "buffer": buffer(sim),
        "energy_joules": energy.as_ref().map(EnergyUse::by_operation),
        "energy_split": energy.map(|e| e.split(drive.geometry.shape().bits_per_cell, host_bytes)),
        "lifetime": lifetime(drive, &counts, &stats, &steadiness, sim),
        "policies": policies_of(drive, &counts, sim),
        "checks": checks,
        "warnings": warnings(&Evidence {
            drive,
            about,
            alignment,
            steadiness: &steadiness,
            counts: &counts,
            stats: &stats,
            sim,
        }),
        "simulated_seconds": end_ns as f64 * 1e-9,
        "timing": null,
    });
    if let Some(years) = &drive.years {
        let provenance = &mut value["provenance"];
        provenance["years"] =
            json!({ "part": { "of": years.of }, "not_modelled": years.unmodelled });
    }
    let waits = sim.wait_stats();
    // From here on the drive goes on, and nothing is counted but that.
    if let Some(left) = sim.work_off() {
        value["end"]["work_left"] = work_left(left);
        add_work_left(&mut value["warnings"], left, drive, sim.end());
    }
    let page_operations = counts.read.total() + programs;
    let mut report = Report { value, page_operations, served: stats.served, waits };
    report.set_timing(Timing::default());
    report
}

/// The conservation laws. A broken one is a bug of ours and no result. Some do not hold of a drive whose
/// life ended amid requests, so of that it is not said that they do.
fn check<K: Kit>(
    drive: &Drive,
    counts: &Counts,
    stats: &Stats,
    used_before: u64,
    sim: &Sim<K>,
) -> Value {
    let inside = u64::from(sim.inside());
    let ended = sim.worn_out_at().is_some();
    let ftl = sim.ftl();
    let programs = counts.program.total();
    let moves = counts.host_pages + counts.moved.total();
    let mapped = ftl.map().mapped();
    let valid: u32 = ftl.geometry().block_ids().map(|b| ftl.map().count_valid(b)).sum();
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
        let padding = counts.padding.total();
        law(programs == moves + padding, "programs = host pages + moves + padding");
        let geometry = ftl.geometry();
        let in_block = geometry.pages_per_block() / geometry.units().planes;
        let erased = counts.erase.total() * u64::from(in_block);
        let used = used_before + programs;
        law(!plain || used == pages_in_use(ftl) + erased, "pages programmed = in use + erased");
    }
    let latencies: TimeSum = stats.classes.values().map(|c| c.latency.sum()).sum();
    let parts: TimeSum = stats.classes.values().map(|c| c.delays.all().total()).sum();
    law(latencies == parts, "the parts of latency add up");
    let same = stats.classes.values().all(|c| c.delays.since(0) == c.delays.all());
    law(same, "delays by latency make up the whole");
    for (class, whole) in stats.classes.iter().filter(|_| !stats.flows.is_empty()) {
        let flows = || stats.flows.iter().map(|flow| &flow[class]);
        let mut latency = Histogram::default();
        flows().for_each(|f| latency.merge(&f.latency));
        let [requests, bytes] = [|f: &ClassStats| f.requests, |f: &ClassStats| f.bytes]
            .map(|of| flows().map(of).sum::<u64>());
        let same = (requests, bytes) == (whole.requests, whole.bytes);
        law(same && latency == whole.latency, "flows make up the whole");
        let adds_up = flows().all(|f| f.latency.sum() == f.delays.all().total());
        law(adds_up, "the parts of each flow's latency add up");
    }
    // Little's law over the whole run: mean latency x rate = mean number waiting or inside, where
    // the number inside was integrated over time, apart from the latencies.
    let occupancy = stats.occupancy + stats.outside;
    let little = (stats.served > 0 && occupancy > TimeSum::ZERO)
        .then(|| latencies.as_ns() as f64 / occupancy.as_ns() as f64 - 1.0);
    law(ended || little.is_none_or(|e| e.abs() < 1e-9), "Little's law");
    json!({
        "requests_generated": stats.generated,
        "requests_served": stats.served,
        "programs": programs,
        "host_plus_moves": moves,
        "padding": counts.padding.total(),
        "mapped": mapped,
        "valid": valid,
        "little_law_error": little,
        "passed": (!ended).then_some(true),
    })
}

/// Programmed pages in all blocks.
pub(crate) fn pages_in_use<K: Kit>(ftl: &Ftl<K>) -> u64 {
    ftl.geometry().block_ids().map(|b| u64::from(ftl.array().next_page(b))).sum()
}

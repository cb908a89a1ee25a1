//! How long the drive lasts: from what a run showed of wear, write amplification and errors to
//! bytes, years and chances. `simulated` is what the run did; everything else extrapolates it, at
//! the run's rate of writing and its write amplification.
//!
//! Terms are those of JESD218: TBW in bytes of 10^12 to the terabyte, drive writes per day, UBER,
//! retention at the end of the rated cycles.

use super::sections::named;
use super::steady::{Steadiness, Verdict};
use crate::config::{Drive, HostMode, Recovery, Years, capacity};
use crate::device::{CellCounts, DeviceStats, effective, steps};
use crate::sim::{self, Sim, Stats};
use ftl::{Cost, Counts, Ftl, Kit};
use kernel::IndexVec;
use nand::physics::{Cell, Codeword, YEAR_SECONDS, drive_writes_per_day, programmable_bytes};
use nand::{BlockId, Level, Source};
use serde_json::{Map, Value, json};

const HOUR: f64 = 3600.0;
/// Collection takes reads and erases beside its programs, and bouts of it fall into a short run or not:
/// the pace of a drive that sets it itself is known to the first factor if collection ran in the whole
/// run, else to the second.
const OWN_PACE: [f64; 2] = [1.1, 1.5];

/// A class of drives in JESD218: how long data must keep without power at the end of the rated
/// cycles, and how many uncorrectable errors for each bit read are allowed.
struct Class {
    name: &'static str,
    retention_hours: f64,
    uber: f64,
}

const CLASSES: [Class; 2] = [
    Class { name: "client", retention_hours: 365.0 * 24.0, uber: 1e-15 },
    Class { name: "enterprise", retention_hours: 91.25 * 24.0, uber: 1e-16 },
];

/// What the drive is made of, for the equations.
struct Cells {
    cell: Cell,
    code: Codeword,
    corrected: u32,
    /// Step in volts and share of the programs, for each level.
    written: Vec<(f64, f64)>,
    correctable: f64,
}

impl Cells {
    fn of(drive: &Drive, initial: Level, stats: &DeviceStats) -> Self {
        let r = &drive.reliability;
        let (code, corrected) = r.code();
        let volts = steps(drive);
        let all = stats.program_by_level.total();
        let written = if all == 0 {
            vec![(volts[initial], 1.0)]
        } else {
            let share = |n: u64| n as f64 / all as f64;
            let levels = stats.program_by_level.iter().filter(|(_, n)| **n > 0);
            levels.map(|(level, n)| (volts[level], share(*n))).collect()
        };
        Self {
            cell: r.cell(&drive.geometry),
            code,
            corrected,
            written,
            correctable: r.ldpc().correctable(2),
        }
    }

    /// Uncorrectable errors for each bit read of data kept for so long, over levels as they were
    /// programmed and all page types.
    fn uber(&self, cycles: f64, hours: f64) -> f64 {
        let types = 0..self.cell.bits() as usize;
        let mean = |volts: f64| {
            let all = types.clone().map(|page_type| {
                let rber = self.cell.rber(page_type, volts, cycles, hours);
                self.code.uber(self.corrected, rber)
            });
            all.sum::<f64>() / f64::from(self.cell.bits())
        };
        self.written.iter().map(|(volts, share)| mean(*volts) * share).sum()
    }

    /// Hours for which all data keep; `None`: for ever, as far as the equations go.
    fn retention(&self, cycles: f64) -> Option<f64> {
        let limits = self
            .written
            .iter()
            .map(|(volts, _)| self.cell.retention_limit_hours(*volts, cycles, self.correctable));
        finite(limits.fold(f64::INFINITY, f64::min))
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// The `lifetime` of a result; null where neither the cells are modelled nor years are asked for.
/// Where the run's rate cannot be carried on, all that would follow from it is null, and `range` has
/// the years between which the drive's life ends.
// Long for its numbers: each follows from those before it.
pub(crate) fn lifetime<K: Kit>(
    drive: &Drive,
    counts: &Counts,
    stats: &Stats,
    steadiness: &Steadiness,
    sim: &Sim<K>,
) -> Value {
    let modelled = sim.cells();
    if modelled.is_none() && drive.years.is_none() {
        return Value::Null;
    }
    let r = &drive.reliability;
    let cells =
        modelled.map(|_| Cells::of(drive, sim.ftl().policies.cost.initial(), sim.device_stats()));
    let rated = f64::from(r.endurance);
    let seconds = sim.now().as_secs_f64();
    let written = stats.classes[sim::Class::Write].bytes as f64;
    let programmed = counts.program.total() as f64 * drive.geometry.page_size().get() as f64;
    let waf = (written > 0.0).then(|| programmed / written);
    let all = All::of(drive, written);
    let verdict = steadiness.verdict(seconds);
    let steady = verdict == Verdict::Steady;
    // Hours in which every block has one cycle, at the rate of this run.
    let cycle_hours = steady
        .then(|| programmable_bytes(all.physical, 1.0) * seconds / (programmed * all.times) / HOUR);
    let lasting_waf = waf.filter(|_| steady);
    let target_years = r.target.as_secs_f64() / YEAR_SECONDS;
    let bytes_of = |cycles: f64, waf: f64| programmable_bytes(all.physical, cycles) / waf;
    let dwpd_of = |bytes: f64| drive_writes_per_day(bytes, all.exported, target_years);
    let term = |cycles: Option<f64>| {
        let cycles = cycles.and_then(finite);
        let bytes = cycles.zip(lasting_waf).map(|(cycles, waf)| bytes_of(cycles, waf));
        let years = cycles.zip(cycle_hours).map(|(n, hours)| n * hours * HOUR / YEAR_SECONDS);
        json!({
            "cycles": cycles,
            "tbw_bytes": bytes,
            "dwpd": bytes.map(dwpd_of),
            "years": years,
        })
    };
    let recovery = r.equations();
    // Rest adds the same share to the cycles of every cell (see `physics::Cell`).
    let recovered_by = |hours: f64| {
        let margin = nand::physics::MARGIN_VOLTS;
        let with = recovery.achievable_cycles(hours, margin);
        rated * with / recovery.achievable_cycles(0.0, margin)
    };
    let with_recovery = cells.as_ref().map(|_| {
        let mut term = term(cycle_hours.map(recovered_by));
        term["model"] = r.recovery.name().into();
        term["supported"] = cycle_hours.map(|hours| recovery.supports(hours)).into();
        term
    });

    let initial = f64::from(r.initial_cycles);
    let target_hours = r.target.as_secs_f64() / HOUR;
    let at = |cycle_hours: f64| initial + target_hours / cycle_hours;
    let effective_at = |cells: &Cells, cycles: f64| {
        effective(&recovery, &cells.cell, cycles, target_hours / (cycles - initial).max(1e-9))
    };
    let at_target = cycle_hours.map(at);
    let effective_at_target =
        cells.as_ref().zip(at_target).map(|(cells, cycles)| effective_at(cells, cycles));
    let uses = |cycles: f64| cycles / rated;

    // The same between two write amplifications.
    let asked = drive.years.is_some() && !steady && seconds > 0.0 && all.written > 0.0;
    let bounds = steadiness.range().filter(|_| asked);
    // Of a short run the collection after its last request is a part, and so is the time from its last
    // request to the next, if there were one.
    let served = (stats.end_ns as f64 * 1e-9).min(seconds);
    let n =
        drive.years.as_ref().and_then(|years| years.load).map_or(stats.generated, |l| l.requests);
    let next = seconds * (1.0 + 1.0 / n.saturating_sub(1).max(1) as f64);
    let hours_of = |waf: f64, seconds: f64| all.physical * seconds / (waf * all.written) / HOUR;
    let drive_sets_the_pace = drive.host.mode != HostMode::Timestamps || sim.overload().is_some();
    let cycles_take = bounds.map(|[low, high]| {
        let (least, most) = (hours_of(high, served), hours_of(low, next));
        // A drive that is written as fast as it can programs as much whatever it is for: with more to
        // move, less is written. The run's own rate of programs then counts, too.
        let own = waf.filter(|_| drive_sets_the_pace).map(|waf| hours_of(waf, seconds));
        let known = OWN_PACE[usize::from(!steadiness.collected())];
        own.map_or([least, most], |own| [least.min(own / known), most.max(own * known)])
    });
    let range = bounds.zip(cycles_take).map(|(wafs, [least, most])| {
        let ends = |low: Option<f64>, high: Option<f64>| json!({ "low": low, "high": high });
        let years = |cycles: f64, hours: f64| finite(cycles * hours * HOUR / YEAR_SECONDS);
        let tbw = wafs.map(|waf| bytes_of(rated, waf));
        json!({
            "waf": ends(Some(wafs[0]), Some(wafs[1])),
            "cycle_hours": ends(Some(least), Some(most)),
            "years": ends(years(rated, least), years(rated, most)),
            "tbw_bytes": ends(Some(tbw[1]), Some(tbw[0])),
            "dwpd": ends(Some(dwpd_of(tbw[1])), Some(dwpd_of(tbw[0]))),
            "years_with_recovery": cells.as_ref().map(|_| ends(
                years(recovered_by(least), least),
                years(recovered_by(most), most),
            )),
        })
    });
    // Whether the target is reached is known where both ends of the range agree.
    let reached = |by: &dyn Fn(f64) -> f64| {
        let by_ends = cycles_take.map(|ends| ends.map(|hours| by(at(hours)) <= rated));
        by_ends.and_then(|[one, other]| (one == other).then_some(one))
    };
    let target = json!({
        "years": target_years,
        "cycles": at_target,
        "used": at_target.map(uses),
        "effective_cycles": effective_at_target,
        "used_effective": effective_at_target.map(uses),
        "reached": at_target.map(|n| n <= rated).or_else(|| reached(&|n| n)),
        "reached_with_recovery": effective_at_target
            .map(|n| n <= rated)
            .or_else(|| cells.as_ref().and_then(|cells| reached(&|n| effective_at(cells, n)))),
        "retention_hours":
            cells.as_ref().zip(at_target).and_then(|(cells, n)| cells.retention(n)),
    });
    let mut value = json!({
        "simulated": simulated(drive, counts, stats, &verdict, modelled.map(crate::device::Cells::counts), sim),
        "why": verdict.why().map(|why| {
            let also = if range.is_some() && drive_sets_the_pace {
                ", and a drive that is written as fast as it can is slower the more it collects"
            } else {
                ""
            };
            format!("{why}{also}")
        }),
        "waf": waf,
        "host_bytes_per_day": (seconds > 0.0).then(|| all.written / seconds * 86_400.0),
        "cycle_hours": cycle_hours,
        "rated": term(Some(rated)),
        "with_recovery": with_recovery,
        "target": target,
        "end_of_life": cells.as_ref().map(|c| json!({ "retention_hours": c.retention(rated) })),
        "jesd218": cells.as_ref().map(|cells| classes(cells, rated, at_target)),
    });
    if let Some(years) = &drive.years {
        value["range"] = range.into();
        value["not_modelled"] = years.unmodelled.clone().into();
        value["part"] = (years.of.get() > 1).then(|| part(drive, years)).into();
    }
    value
}

/// What is carried on: the whole drive, where a part of it was simulated.
struct All {
    physical: f64,
    exported: f64,
    /// Bytes that the host wrote.
    written: f64,
    /// How many times what the part programmed the whole drive did.
    times: f64,
}

impl All {
    fn of(drive: &Drive, written: f64) -> Self {
        let years = drive.years.as_ref();
        let whole = years.map_or(drive, |years| &years.whole);
        let physical = whole.geometry.pages() as f64 * whole.geometry.page_size().get() as f64;
        let exported = capacity(whole).get() as f64;
        // The part's share of the writes is an accident of which pages were drawn.
        let all = years.and_then(|years| years.load).map_or(written, |load| load.written as f64);
        Self {
            physical,
            exported,
            written: all,
            times: if written > 0.0 { all / written } else { 1.0 },
        }
    }
}

/// Which part of a drive was simulated.
fn part(drive: &Drive, years: &Years) -> Value {
    json!({
        "of": years.of,
        "dies": drive.geometry.dies(),
        "dies_of_drive": years.whole.geometry.dies(),
        "exported_bytes": capacity(drive).get(),
        "requests": years.load.map(|load| load.requests),
    })
}

/// What JESD218 asks of each class of drive, and whether cells hold it at their rated cycles and at
/// those that they will have at the target.
fn classes(cells: &Cells, rated: f64, at_target: Option<f64>) -> Map<String, Value> {
    let of = |class: &Class| {
        let end_of_life = cells.uber(rated, class.retention_hours);
        let at_target = at_target.map(|n| cells.uber(n, class.retention_hours));
        json!({
            "retention_hours": class.retention_hours,
            "uber_limit": class.uber,
            "uber_end_of_life": end_of_life,
            "meets_end_of_life": end_of_life <= class.uber,
            "uber_at_target": at_target,
            "meets_at_target": at_target.map(|uber| uber <= class.uber),
        })
    };
    CLASSES.iter().map(|class| (class.name.to_owned(), of(class))).collect()
}

/// What the run itself showed.
fn simulated<K: Kit>(
    drive: &Drive,
    counts: &Counts,
    stats: &Stats,
    verdict: &Verdict,
    reads: Option<&CellCounts>,
    sim: &Sim<K>,
) -> Value {
    let r = &drive.reliability;
    let initial = f64::from(r.initial_cycles);
    let wear = sim.ftl().array().wear();
    let blocks = wear.len() as f64;
    let greatest = |column: &IndexVec<BlockId, u32>| column.as_slice().iter().max().copied();
    let mean = wear.as_slice().iter().map(|w| f64::from(*w)).sum::<f64>() * 1e-3 / blocks;
    let most = f64::from(greatest(wear).unwrap_or(0)) * 1e-3;
    let effective = sim.cells().map_or(&[][..], |cells| cells.effective_cycles());
    let effective_mean = effective.iter().map(|n| f64::from(*n)).sum::<f64>() / blocks;
    let effective_most = f64::from(effective.iter().copied().fold(0.0, f32::max));
    let rated = f64::from(r.endurance);
    let planes = u64::from(drive.geometry.units().planes);
    let mut value = json!({
        "seconds": sim.now().as_secs_f64(),
        "waf_steady": verdict.steady(),
        "cycles": { "before": initial, "mean": initial + mean, "max": initial + most },
        "effective_cycles": null,
        "rest_hours": null,
        "used": (initial + mean) / rated,
        "used_max": (initial + most) / rated,
        "used_effective": null,
        "blocks_retired": { "worn_out": (counts.retired - counts.condemned) * planes,
                            "unreadable": counts.condemned * planes },
        "pages_read_by_sensings": null,
        "failed_attempts": null,
        "worst_rber": null,
        "uncorrectable_pages": null,
        "expected_uncorrectable_codewords": null,
        "bits_read": null,
        "uber": null,
        "host_bytes_written": stats.classes[sim::Class::Write].bytes,
    });
    if let Some(reads) = reads {
        let pages: u64 = reads.read_by_step.iter().sum();
        let bits = pages as f64 * drive.geometry.page_size().get() as f64 * 8.0;
        let mut uncorrectable = named(|source: Source| reads.uncorrectable[source]);
        uncorrectable.insert("total".into(), reads.uncorrectable.total().into());
        let by_cells = [
            ("effective_cycles", json!({ "mean": effective_mean, "max": effective_most })),
            ("rest_hours", rest_hours(sim).into()),
            ("used_effective", (effective_mean / rated).into()),
            ("pages_read_by_sensings", sensings(drive, reads)),
            ("failed_attempts", reads.failed_attempts.into()),
            ("worst_rber", reads.worst_rber.into()),
            ("uncorrectable_pages", uncorrectable.into()),
            ("expected_uncorrectable_codewords", reads.expected_failures.into()),
            ("bits_read", bits.into()),
            ("uber", (bits > 0.0).then(|| reads.expected_failures / bits).into()),
        ];
        for (key, found) in by_cells {
            value[key] = found;
        }
    }
    value
}

/// Pages read by how often each boundary was sensed.
fn sensings(drive: &Drive, reads: &CellCounts) -> Value {
    let counts = reads.read_by_step.into_iter().enumerate();
    counts
        .map(|(step, n)| (drive.reliability.ldpc().sensings(step).to_string(), n.into()))
        .collect::<Map<_, _>>()
        .into()
}

/// Mean time between the cycles of a block so far, over all blocks.
pub(crate) fn rest_hours<K: Kit>(sim: &Sim<K>) -> f64 {
    let erases = mean_erases(sim.ftl());
    sim.cells().map_or(0.0, |cells| cells.rest_hours(erases, sim.now()))
}

fn mean_erases<K: Kit>(ftl: &Ftl<K>) -> f64 {
    let erases = ftl.array().erases().as_slice();
    erases.iter().map(|n| f64::from(*n)).sum::<f64>() / erases.len() as f64
}

/// Warnings about the model of the cells: what could not matter, and what must not be trusted.
// Long for its sentences: one warning after the other.
pub(crate) fn warn<K: Kit>(
    drive: &Drive,
    stats: &Stats,
    sim: &Sim<K>,
    put: &mut dyn FnMut(&str, String),
) {
    let r = &drive.reliability;
    let Some(cells) = sim.cells() else {
        let unused = r.initial_cycles > 0 || r.initial_retention.as_ns() > 0;
        if unused || r.initial_rest.as_ns() > 0 {
            put(
                "cells-not-modelled",
                "reliability.initial-cycles, initial-rest and initial-retention could not matter: \
                 reliability.model is \"off\""
                    .into(),
            );
        }
        return;
    };
    let counts = cells.counts();
    let pages: u64 = counts.read_by_step.iter().sum();
    let sensed_more = counts.read_by_step[1] + counts.read_by_step[2] + counts.failed_attempts;
    if pages > 0 && sensed_more == 0 {
        put(
            "errors-never-mattered",
            format!(
                "every page was read with one sensing: the raw bit error rate was {:.2e} at most, \
                 and that corrects {:.2e} (see reliability.initial-cycles and initial-retention)",
                counts.worst_rber,
                r.ldpc().correctable(0)
            ),
        );
    }
    let lost: u64 = counts.uncorrectable.total();
    if lost > 0 {
        put(
            "uncorrectable",
            format!("{lost} page reads could not be corrected: their data were lost"),
        );
    }
    let most = sim.ftl().array().wear().as_slice().iter().max().copied().unwrap_or(0);
    let used = (f64::from(r.initial_cycles) + f64::from(most) * 1e-3) / f64::from(r.endurance);
    if stats.classes[sim::Class::Write].requests > 0 && used < 0.01 {
        put(
            "endurance-far",
            format!(
                "the most worn block has used {:.2} % of its {} cycles: endurance and recovery \
                 could not matter in this run (see reliability.initial-cycles)",
                used * 100.0,
                r.endurance
            ),
        );
    }
    let rest = rest_hours(sim);
    let cycles = f64::from(r.initial_cycles) + mean_erases(sim.ftl());
    let recovery = r.equations();
    if r.recovery == Recovery::Fitted && cycles >= 1.0 && !recovery.supports(rest) {
        let (least, most) = recovery.support_hours;
        put(
            "recovery-extrapolated",
            format!(
                "blocks rested {rest:.3} h between cycles, and recovery = \"fitted\" has support \
                 for {least} to {most} h (see reliability.initial-rest)"
            ),
        );
    }
}

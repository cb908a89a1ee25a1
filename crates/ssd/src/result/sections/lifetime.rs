//! How long the drive lasts: from a run's wear, write amplification and errors to bytes, years and
//! chances. `simulated` has the values of the run; everything else extrapolates them, at the run's
//! rate of writing and its write amplification.
//!
//! Terms are those of JESD218: TBW in bytes of 10^12 to the terabyte, drive writes per day, UBER,
//! retention at the end of the rated cycles.

use super::SectionAbout;
use super::warnings::{Warn, codes};
use crate::config::{Drive, HostMode, RecoveryConstants, Years, capacity};
use crate::device::{CellCounts, DeviceStats, effective, steps};
use crate::result::evidence::Evidence;
use crate::result::names::{SourceNamesAndTotal, by_source};
use crate::result::shape::{
    ByName, Called, EachName, ListOfNames, NameDecl, NameList, Only, table,
};
use crate::result::steady::Verdict;
use crate::sim::{self, Sim, Stats};
use ftl::{Cost, Ftl, PolicyTypes};
use kernel::IndexVec;
use nand::physics::{Cell, Codeword, YEAR_SECONDS, drive_writes_per_day, programmable_bytes};
use nand::{BlockId, CYCLE, Level};

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The life of the drive at the write rate and the write amplification of the run. Null unless \
     `reliability.model` is on, or `floatgate lifetime` made the result.",
);

pub(crate) type Section = Option<Lifetime>;

table! {
    /// The life of a drive. All but `simulated` extrapolates the run.
    struct Lifetime {
        /// Facts of the run itself.
        simulated: FromRun;
        /// The reason why the years are not one number. Null if they are.
        why: Option<String>, later null;
        /// Write amplification in bytes, as in the section `waf`. Null if the host wrote nothing.
        waf: Option<f64>, "x";
        /// The bytes that the host writes in a day. Null for a run that took no time.
        host_bytes_per_day: Option<f64>, "bytes";
        /// The time in which each block has one cycle. Null where `why` has a reason.
        cycle_hours: Option<f64>, "h";
        /// The life at the rated cycles.
        rated: LifeTerm;
        /// The life at the cycles that rest allows. Null without a model of the cells.
        with_recovery: Option<RecoveryTerm>;
        /// The drive after `reliability.target`.
        target: AtTarget;
        /// The drive at the end of its rated cycles. Null without a model of the cells.
        end_of_life: Option<EndOfLife>;
        /// The requirements of JESD218 for each class of drives. Null without a model of the cells.
        jesd218: Option<EachName<JedecClasses, JedecClass>>;
        /// The limits of the life where it is not one number. Null where `why` is null, or if the
        /// host wrote nothing. Present only in results of `floatgate lifetime`.
        range: Only<Option<LifeRange>>;
        /// The reason why the cells have no model. Null if they have one. Present only in results
        /// of `floatgate lifetime`.
        not_modelled: Only<Option<String>>;
        /// The part of the drive that was simulated. Null for the whole drive. Present only in
        /// results of `floatgate lifetime`.
        part: Only<Option<SimulatedPart>>;
    }
}

table! {
    /// Facts of the run. Those that need a model of the cells are null without it.
    struct FromRun {
        /// The time of the run.
        seconds: f64, "s";
        /// Whether the write amplification can be extrapolated. Null if too little happened.
        waf_steady: Option<bool>;
        /// Program/erase cycles of the blocks, those before the run included.
        cycles: CyclesSoFar, "cycles";
        /// Cycles after the recovery of the cells. Null without a model of the cells.
        effective_cycles: Option<EffectiveCycles>, "cycles";
        /// The mean rest of a block between two cycles. Null without a model of the cells.
        rest_hours: Option<f64>, "h";
        /// The mean share of the rated cycles that is used.
        used: f64, "share";
        /// The share of the most worn block.
        used_max: f64, "share";
        /// The mean share after recovery. Null without a model of the cells.
        used_effective: Option<f64>, "share";
        /// Blocks taken out of service.
        blocks_retired: RetiredBlocks, "blocks";
        /// Pages read, by how often each boundary between levels was sensed. Null without a model of
        /// the cells.
        pages_read_by_sensings: Option<ByName<Sensings, u64>>, "pages";
        /// Attempts to read that failed and were repeated. Null without a model of the cells.
        failed_attempts: Option<u64>, "attempts";
        /// The greatest raw bit error rate. Null without a model of the cells.
        worst_rber: Option<f64>;
        /// Pages that could not be corrected. Null without a model of the cells.
        uncorrectable_pages: Option<EachName<SourceNamesAndTotal, u64>>, "pages";
        /// The expected number of codewords that cannot be corrected. Null without a model of the
        /// cells.
        expected_uncorrectable_codewords: Option<f64>, "codewords";
        /// Bits read. Null without a model of the cells.
        bits_read: Option<f64>, "bits";
        /// Uncorrectable errors for each bit read. Null without a model of the cells, or if nothing
        /// was read.
        uber: Option<f64>;
        /// Bytes that the host wrote.
        host_bytes_written: u64, "bytes";
    }
}

/// How often a boundary is sensed: a number as a text.
pub(crate) struct Sensings;

impl Called for Sensings {
    const OF: &'static str = "sensings";
}

table! {
    /// Cycles of the blocks.
    struct CyclesSoFar {
        /// Before the run.
        before: f64;
        /// After the run, on average.
        mean: f64;
        /// After the run, of the most worn block.
        max: f64;
    }
}

table! {
    /// Cycles of the blocks after recovery.
    struct EffectiveCycles {
        /// On average.
        mean: f64;
        /// Of the most worn block.
        max: f64;
    }
}

table! {
    /// Blocks out of service, by reason.
    struct RetiredBlocks {
        /// At the end of their cycles.
        worn_out: u64;
        /// A page could not be read.
        unreadable: u64;
    }
}

table! {
    /// A life in cycles, bytes and years.
    struct LifeTerm {
        /// Program/erase cycles of a block. Null without a limit.
        cycles: Option<f64>, "cycles";
        /// The bytes that the host can write. Null where `why` has a reason.
        tbw_bytes: Option<f64>, "bytes";
        /// Drive writes per day over the target. Null where `why` has a reason.
        dwpd: Option<f64>, "per day";
        /// Years. Null where `why` has a reason.
        years: Option<f64>, "years";
    }
}

table! {
    /// A life with recovery.
    struct RecoveryTerm {
        /// Program/erase cycles of a block. Null where `why` has a reason, or without an end.
        cycles: Option<f64>, "cycles";
        /// The bytes that the host can write. Null like `cycles`.
        tbw_bytes: Option<f64>, "bytes";
        /// Drive writes per day over the target. Null like `cycles`.
        dwpd: Option<f64>, "per day";
        /// Years. Null like `cycles`.
        years: Option<f64>, "years";
        /// The model of recovery.
        model: &'static str;
        /// Whether measurements support the model at this rest. Null where `why` has a reason.
        supported: Option<bool>;
    }
}

table! {
    /// A drive after the time that it should last.
    struct AtTarget {
        /// That time.
        years: f64, "years";
        /// The cycles of a block by then. Null where `why` has a reason.
        cycles: Option<f64>, "cycles";
        /// Their share of the rated cycles. Null where `why` has a reason.
        used: Option<f64>, "share";
        /// The cycles after recovery. Null where `why` has a reason, or without a model of the cells.
        effective_cycles: Option<f64>, "cycles";
        /// Their share of the rated cycles. Null like `effective_cycles`.
        used_effective: Option<f64>, "share";
        /// Whether the drive lasts that long. Null if the target lies within the range.
        reached: Option<bool>;
        /// Whether it does with recovery. Null if the target lies within the range, or without a
        /// model of the cells.
        reached_with_recovery: Option<bool>;
        /// How long data then keep without power. Null where it is not known.
        retention_hours: Option<f64>, "h";
    }
}

table! {
    /// A drive at the end of its rated cycles.
    struct EndOfLife {
        /// How long data keep without power. Null if the model gives no limit.
        retention_hours: Option<f64>, "h";
    }
}

/// The classes of drives in JESD218.
pub(crate) struct JedecClasses;

impl ListOfNames for JedecClasses {
    fn list() -> NameList {
        let name = |class: &JedecSpec| NameDecl::new(class.name, class.about);
        NameList { of: "class", names: CLASSES.iter().map(name).collect() }
    }
}

table! {
/// A class of drives in JESD218. It has the time for which data must be retained without power at
/// the end of the rated cycles, and the uncorrectable errors allowed for each bit read.
    struct JedecClass {
        /// How long data must keep without power.
        retention_hours: f64, "h";
        /// The most uncorrectable errors for each bit read.
        uber_limit: f64;
        /// The errors at the end of life, after that retention.
        uber_end_of_life: f64;
        /// Whether they are within the limit.
        meets_end_of_life: bool;
        /// The errors at the target, after that retention. Null where `why` has a reason.
        uber_at_target: Option<f64>;
        /// Whether they are within the limit. Null where `why` has a reason.
        meets_at_target: Option<bool>;
    }
}

table! {
    /// The limits of a life.
    struct LifeRange {
        /// Write amplification.
        waf: RangeEnds, "x";
        /// The time in which each block has one cycle.
        cycle_hours: RangeEnds, "h";
        /// Years at the rated cycles.
        years: RangeEnds, "years";
        /// The bytes that the host can write.
        tbw_bytes: RangeEnds, "bytes";
        /// Drive writes per day over the target.
        dwpd: RangeEnds, "per day";
        /// Years with recovery. Null without a model of the cells.
        years_with_recovery: Option<RangeEnds>, "years";
    }
}

table! {
    /// Both ends of a range.
    struct RangeEnds {
        /// The least. Null if it has no limit.
        low: Option<f64>;
        /// The most. Null if it has no limit.
        high: Option<f64>;
    }
}

table! {
    /// The part of a drive that was simulated.
    struct SimulatedPart {
        /// The number of equal parts.
        of: u32, "parts";
        /// The dies of this part.
        dies: usize, "dies";
        /// The dies of the drive.
        dies_of_drive: usize, "dies";
        /// The size of this part for the host.
        exported_bytes: u64, "bytes";
        /// The requests of the whole workload. Null if they are not known.
        requests: Option<u64>, "requests";
    }
}

const HOUR: f64 = 3600.0;
/// Collection adds reads and erases to its programs, and a short run may contain more or less of
/// them. If the drive itself sets the pace, that pace is known within the first factor if
/// collection ran in the whole run, otherwise within the second.
const OWN_PACE: [f64; 2] = [1.1, 1.5];

/// A class of drives in JESD218. Data must be retained for `retention_hours` without power at the
/// end of the rated cycles. `uber` uncorrectable errors are allowed for each bit read.
struct JedecSpec {
    name: &'static str,
    about: &'static str,
    retention_hours: f64,
    uber: f64,
}

const CLASSES: [JedecSpec; 2] = [
    JedecSpec {
        name: "client",
        about: "Drives of personal computers.",
        retention_hours: 365.0 * 24.0,
        uber: 1e-15,
    },
    JedecSpec {
        name: "enterprise",
        about: "Drives of servers.",
        retention_hours: 91.25 * 24.0,
        uber: 1e-16,
    },
];

/// The cells of the drive, for the equations.
struct CellModel {
    cell: Cell,
    code: Codeword,
    corrected: u32,
    /// Step in volts and share of the programs, for each level.
    written: Vec<(f64, f64)>,
    correctable: f64,
}

impl CellModel {
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

    /// Uncorrectable errors for each bit read of data kept for `hours`, over levels as they were
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

    /// Hours for which all data are retained; `None`: without limit, according to the equations.
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

/// The wear of the programs of a run, against as many at full density. A block with one bit in a cell
/// has fewer pages, so each takes a larger share of a cycle. Such a cycle wears by the quotient of the
/// endurances.
fn wear_of_programs<K: PolicyTypes>(e: &Evidence<'_, K>) -> f64 {
    let programs = e.counts.program.total();
    let cache = e.sim.ftl().cache_counts(e.sim.now());
    let (Some((_, single)), Some(mode)) = (cache, &e.drive.single) else { return 1.0 };
    if programs == 0 {
        return 1.0;
    }
    let geometry = &e.drive.geometry;
    let pages =
        f64::from(geometry.pages_per_block()) / f64::from(geometry.single_slots_per_block());
    let each = pages * f64::from(mode.wear) / f64::from(CYCLE);
    let single = single.program.total() as f64 / programs as f64;
    1.0 + single * (each - 1.0)
}

// Long because of its numbers: each follows from those before it.
pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (drive, stats, steadiness, sim) = (e.drive, e.stats, e.steadiness, e.sim);
    let modelled = sim.cells();
    if modelled.is_none() && drive.years.is_none() {
        return None;
    }
    let r = &drive.reliability;
    let cells = modelled
        .map(|_| CellModel::of(drive, sim.ftl().policies.cost.initial(), sim.device_stats()));
    let rated = f64::from(r.endurance);
    let seconds = sim.now().as_secs_f64();
    let written = stats.classes[sim::Class::Write].bytes as f64;
    let programmed = e.counts.program.total() as f64 * drive.geometry.page_size().get() as f64;
    let waf = (written > 0.0).then(|| programmed / written);
    let wear = wear_of_programs(e);
    let all = All::of(drive, written);
    let verdict = steadiness.verdict(seconds);
    let steady = verdict == Verdict::Steady;
    // Hours in which every block has one cycle, at the rate of this run.
    let cycle_hours = steady
        .then(|| programmable_bytes(all.physical, 1.0) * seconds / (programmed * all.times) / HOUR)
        .map(|hours| hours / wear);
    let lasting_waf = waf.filter(|_| steady);
    let target_years = r.target.as_secs_f64() / YEAR_SECONDS;
    let bytes_of = |cycles: f64, waf: f64| programmable_bytes(all.physical, cycles) / (waf * wear);
    let dwpd_of = |bytes: f64| drive_writes_per_day(bytes, all.exported, target_years);
    let term = |cycles: Option<f64>| {
        let cycles = cycles.and_then(finite);
        let bytes = cycles.zip(lasting_waf).map(|(cycles, waf)| bytes_of(cycles, waf));
        let years = cycles.zip(cycle_hours).map(|(n, hours)| n * hours * HOUR / YEAR_SECONDS);
        LifeTerm { cycles, tbw_bytes: bytes, dwpd: bytes.map(dwpd_of), years }
    };
    let recovery = r.equations();
    // Rest adds the same share to the cycles of every cell (see `physics::Cell`).
    let recovered_by = |hours: f64| {
        let margin = nand::physics::MARGIN_VOLTS;
        let with = recovery.achievable_cycles(hours, margin);
        rated * with / recovery.achievable_cycles(0.0, margin)
    };
    let with_recovery = cells.as_ref().map(|_| {
        let LifeTerm { cycles, tbw_bytes, dwpd, years } = term(cycle_hours.map(recovered_by));
        let supported = cycle_hours.map(|hours| recovery.supports(hours));
        let model = r.recovery.name();
        RecoveryTerm { cycles, tbw_bytes, dwpd, years, model, supported }
    });

    let initial = f64::from(r.initial_cycles);
    let target_hours = r.target.as_secs_f64() / HOUR;
    let at = |cycle_hours: f64| initial + target_hours / cycle_hours;
    let effective_at = |cells: &CellModel, cycles: f64| {
        effective(&recovery, &cells.cell, cycles, target_hours / (cycles - initial).max(1e-9))
    };
    let at_target = cycle_hours.map(at);
    let effective_at_target =
        cells.as_ref().zip(at_target).map(|(cells, cycles)| effective_at(cells, cycles));
    let uses = |cycles: f64| cycles / rated;

    // The same between two write amplifications.
    let asked = drive.years.is_some() && !steady && seconds > 0.0 && all.written > 0.0;
    let bounds = steadiness.range().filter(|_| asked);
    // For a short run, the collection after its last request counts, and so does the time from its
    // last request to the next, if there were one.
    let served = (stats.end_ns as f64 * 1e-9).min(seconds);
    let n =
        drive.years.as_ref().and_then(|years| years.load).map_or(stats.generated, |l| l.requests);
    let next = seconds * (1.0 + 1.0 / n.saturating_sub(1).max(1) as f64);
    let hours_of =
        |waf: f64, seconds: f64| all.physical * seconds / (waf * wear * all.written) / HOUR;
    let drive_sets_the_pace = drive.host.mode != HostMode::Timestamps || sim.overload().is_some();
    let cycles_take = bounds.map(|[low, high]| {
        let (least, most) = (hours_of(high, served), hours_of(low, next));
        // A drive that is written as fast as it can programs at the same rate for host and moves
        // together: with more to move, less is written. The run's own rate of programs then counts,
        // too.
        let own = waf.filter(|_| drive_sets_the_pace).map(|waf| hours_of(waf, seconds));
        let known = OWN_PACE[usize::from(!steadiness.collected())];
        own.map_or([least, most], |own| [least.min(own / known), most.max(own * known)])
    });
    let range = bounds.zip(cycles_take).map(|(wafs, [least, most])| {
        let ends = |low: Option<f64>, high: Option<f64>| RangeEnds { low, high };
        let years = |cycles: f64, hours: f64| finite(cycles * hours * HOUR / YEAR_SECONDS);
        let tbw = wafs.map(|waf| bytes_of(rated, waf));
        LifeRange {
            waf: ends(Some(wafs[0]), Some(wafs[1])),
            cycle_hours: ends(Some(least), Some(most)),
            years: ends(years(rated, least), years(rated, most)),
            tbw_bytes: ends(Some(tbw[1]), Some(tbw[0])),
            dwpd: ends(Some(dwpd_of(tbw[1])), Some(dwpd_of(tbw[0]))),
            years_with_recovery: cells
                .as_ref()
                .map(|_| ends(years(recovered_by(least), least), years(recovered_by(most), most))),
        }
    });
    // Whether the target is reached is known if both ends of the range agree.
    let reached = |by: &dyn Fn(f64) -> f64| {
        let by_ends = cycles_take.map(|ends| ends.map(|hours| by(at(hours)) <= rated));
        by_ends.and_then(|[one, other]| (one == other).then_some(one))
    };
    let target = AtTarget {
        years: target_years,
        cycles: at_target,
        used: at_target.map(uses),
        effective_cycles: effective_at_target,
        used_effective: effective_at_target.map(uses),
        reached: at_target.map(|n| n <= rated).or_else(|| reached(&|n| n)),
        reached_with_recovery: effective_at_target
            .map(|n| n <= rated)
            .or_else(|| cells.as_ref().and_then(|cells| reached(&|n| effective_at(cells, n)))),
        retention_hours: cells.as_ref().zip(at_target).and_then(|(c, n)| c.retention(n)),
    };
    let counts = modelled.map(crate::device::Cells::counts);
    let why = verdict.why().map(|why| {
        let also = if range.is_some() && drive_sets_the_pace {
            ", and a drive that is written as fast as it can is slower the more it collects"
        } else {
            ""
        };
        format!("{why}{also}")
    });
    let years = drive.years.as_ref();
    Some(Lifetime {
        simulated: from_run(e, &verdict, counts),
        why,
        waf,
        host_bytes_per_day: (seconds > 0.0).then(|| all.written / seconds * 86_400.0),
        cycle_hours,
        rated: term(Some(rated)),
        with_recovery,
        target,
        end_of_life: cells.as_ref().map(|c| EndOfLife { retention_hours: c.retention(rated) }),
        jesd218: cells.as_ref().map(|cells| classes(cells, rated, at_target)),
        range: Only(years.map(|_| range)),
        not_modelled: Only(years.map(|years| years.unmodelled.clone())),
        part: Only(years.map(|years| (years.of.get() > 1).then(|| part(drive, years)))),
    })
}

/// The scaled result: the whole drive, if a part of it was simulated.
struct All {
    physical: f64,
    exported: f64,
    /// Bytes that the host wrote.
    written: f64,
    /// The programs of the whole drive as a multiple of those of the part.
    times: f64,
}

impl All {
    fn of(drive: &Drive, written: f64) -> Self {
        let years = drive.years.as_ref();
        let whole = years.map_or(drive, |years| &years.whole);
        // The whole drive is written as fast as the scaled one, and is larger.
        let physical = whole.scale.as_ref().map_or_else(
            || whole.geometry.pages() as f64 * whole.geometry.page_size().get() as f64,
            |scale| scale.whole_flash().get() as f64,
        );
        let exported = whole.addresses().get() as f64;
        // The part's share of the writes depends on chance: on the pages that were drawn.
        let all = years.and_then(|years| years.load).map_or(written, |load| load.written as f64);
        Self {
            physical,
            exported,
            written: all,
            times: if written > 0.0 { all / written } else { 1.0 },
        }
    }
}

/// The part of a drive that was simulated.
fn part(drive: &Drive, years: &Years) -> SimulatedPart {
    SimulatedPart {
        of: years.of.get(),
        dies: drive.geometry.dies(),
        dies_of_drive: years.whole.geometry.dies(),
        exported_bytes: capacity(drive).get(),
        requests: years.load.map(|load| load.requests),
    }
}

/// The requirements of JESD218 for each class of drive, and whether cells meet them at their rated
/// cycles and at those that they will have at the target.
fn classes(
    cells: &CellModel,
    rated: f64,
    at_target: Option<f64>,
) -> EachName<JedecClasses, JedecClass> {
    EachName::new(CLASSES.iter().map(|class| {
        let end_of_life = cells.uber(rated, class.retention_hours);
        let at_target = at_target.map(|n| cells.uber(n, class.retention_hours));
        JedecClass {
            retention_hours: class.retention_hours,
            uber_limit: class.uber,
            uber_end_of_life: end_of_life,
            meets_end_of_life: end_of_life <= class.uber,
            uber_at_target: at_target,
            meets_at_target: at_target.map(|uber| uber <= class.uber),
        }
    }))
}

/// The measurements of the run itself.
fn from_run<K: PolicyTypes>(
    e: &Evidence<'_, K>,
    verdict: &Verdict,
    reads: Option<&CellCounts>,
) -> FromRun {
    let (drive, counts, sim) = (e.drive, e.counts, e.sim);
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
    let page_bits = drive.geometry.page_size().get() as f64 * 8.0;
    let bits_read = reads.map(|r| r.read_by_step.iter().sum::<u64>() as f64 * page_bits);
    let uber =
        |(reads, bits): (&CellCounts, f64)| (bits > 0.0).then(|| reads.expected_failures / bits);
    FromRun {
        seconds: sim.now().as_secs_f64(),
        waf_steady: verdict.steady(),
        cycles: CyclesSoFar { before: initial, mean: initial + mean, max: initial + most },
        effective_cycles: reads
            .map(|_| EffectiveCycles { mean: effective_mean, max: effective_most }),
        rest_hours: reads.map(|_| rest_hours(sim)),
        used: (initial + mean) / rated,
        used_max: (initial + most) / rated,
        used_effective: reads.map(|_| effective_mean / rated),
        blocks_retired: RetiredBlocks {
            worn_out: (counts.retired - counts.marked_bad).get(),
            unreadable: counts.marked_bad.get(),
        },
        pages_read_by_sensings: reads.map(|reads| sensings(drive, reads)),
        failed_attempts: reads.map(|r| r.failed_attempts),
        worst_rber: reads.map(|r| f64::from(r.worst_rber)),
        uncorrectable_pages: reads.map(|r| by_source(&r.uncorrectable)),
        expected_uncorrectable_codewords: reads.map(|r| r.expected_failures),
        bits_read,
        uber: reads.zip(bits_read).and_then(uber),
        host_bytes_written: e.stats.classes[sim::Class::Write].bytes,
    }
}

/// Pages read by how often each boundary was sensed.
fn sensings(drive: &Drive, reads: &CellCounts) -> ByName<Sensings, u64> {
    let counts = reads.read_by_step.into_iter().enumerate();
    let sensings = |step| drive.reliability.ldpc().sensings(step).to_string();
    ByName::new(counts.map(|(step, n)| (sensings(step), n)))
}

/// Mean time between the cycles of a block so far, over all blocks.
fn rest_hours<K: PolicyTypes>(sim: &Sim<K>) -> f64 {
    let erases = mean_erases(sim.ftl());
    sim.cells().map_or(0.0, |cells| cells.rest_hours(erases, sim.now()))
}

fn mean_erases<K: PolicyTypes>(ftl: &Ftl<K>) -> f64 {
    let erases = ftl.array().erases().as_slice();
    erases.iter().map(|n| f64::from(*n)).sum::<f64>() / erases.len() as f64
}

/// Warnings about the model of the cells: settings that had no effect, and results that must not be
/// trusted. Long because it has one warning after the other.
pub(super) fn warn<K: PolicyTypes>(drive: &Drive, stats: &Stats, sim: &Sim<K>, put: Warn<'_>) {
    let r = &drive.reliability;
    let Some(cells) = sim.cells() else {
        let unused = r.initial_cycles > 0 || r.initial_retention.as_ns() > 0;
        if unused || r.initial_rest.as_ns() > 0 {
            put(
                codes::CELLS_NOT_MODELLED,
                "reliability.initial-cycles, initial-rest and initial-retention had no effect: \
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
            codes::ERRORS_NEVER_MATTERED,
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
            codes::UNCORRECTABLE,
            format!("{lost} page reads could not be corrected: their data were lost"),
        );
    }
    let most = sim.ftl().array().wear().as_slice().iter().max().copied().unwrap_or(0);
    let used = (f64::from(r.initial_cycles) + f64::from(most) * 1e-3) / f64::from(r.endurance);
    if stats.classes[sim::Class::Write].requests > 0 && used < 0.01 {
        put(
            codes::ENDURANCE_FAR,
            format!(
                "the most worn block has used {:.2} % of its {} cycles: endurance and recovery \
                 had no effect in this run (see reliability.initial-cycles)",
                used * 100.0,
                r.endurance
            ),
        );
    }
    let rest = rest_hours(sim);
    let cycles = f64::from(r.initial_cycles) + mean_erases(sim.ftl());
    let recovery = r.equations();
    if r.recovery == RecoveryConstants::Fitted && cycles >= 1.0 && !recovery.supports(rest) {
        let (least, most) = recovery.support_hours;
        put(
            codes::RECOVERY_EXTRAPOLATED,
            format!(
                "blocks rested {rest:.3} h between cycles, and recovery = \"fitted\" has support \
                 for {least} to {most} h (see reliability.initial-rest)"
            ),
        );
    }
}

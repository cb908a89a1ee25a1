//! The conservation laws.

use super::SectionAbout;
use crate::host::ClassStats;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::{Ftl, PolicyTypes};
use kernel::{Histogram, TimeSum};
use nand::Source;

pub(crate) const ABOUT: SectionAbout =
    SectionAbout::section("Both sides of the conservation laws that every run is checked against.");

pub(crate) type Section = Checks;

table! {
    /// Both sides of the conservation laws.
    struct Checks {
        /// Requests that the workload gave.
        requests_generated: u64, "requests";
        /// Requests that the drive completed.
        requests_served: u64, "requests";
        /// Pages programmed.
        programs: u64, "pages";
        /// Pages written by the host and pages moved.
        host_plus_moves: u64, "pages";
        /// Pages programmed without data.
        padding: u64, "pages", later 0;
        /// Pages programmed with parity.
        parity: u64, "pages", later 0;
        /// Logical pages that the map points from.
        mapped: u32, "pages";
        /// Pages that hold valid data.
        valid: u32, "pages";
        /// The deviation from Little's law, which counts waiting requests apart from latencies. Null
        /// for a run without requests that took time.
        little_law_error: Option<f64>, "share";
        /// `true`. Null for a run that ended amid requests, where some laws do not apply.
        passed: Option<bool>;
    }
}

/// The conservation laws. A broken one is a bug of ours, and there is no result. Some laws do not
/// apply to a run that ended amid requests, so its result does not claim them.
pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let (drive, counts, stats, sim) = (e.drive, e.counts, e.stats, e.sim);
    let inside = u64::from(sim.inside());
    let ended = sim.cut_at().is_some();
    let ftl = sim.ftl();
    let programs = counts.program.total();
    let moves = counts.host_pages + counts.moved.total();
    let parity = counts.program[Source::Parity];
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
    let single = ftl.cache_counts(sim.now()).map(|(_, single)| single.erase.total());
    let plain = (ftl.slots_are_pages() || single.is_some())
        && counts.second_lives == 0
        && counts.skipped == 0
        && counts.sealed == 0;
    if !ended {
        let beside = counts.padding.total() + parity;
        law(programs == moves + beside, "programs = host pages + moves + padding + parity");
        let geometry = ftl.geometry();
        let single = single.unwrap_or_default();
        let of_single = single.get() / geometry.flash_blocks_per_block().get()
            * u64::from(geometry.single_slots_per_block());
        let erased = geometry.units_in_blocks(counts.erase.total() - single).get() + of_single;
        let used = e.used_before + programs;
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
    Checks {
        requests_generated: stats.generated,
        requests_served: stats.served,
        programs,
        host_plus_moves: moves,
        padding: counts.padding.total(),
        parity,
        mapped,
        valid,
        little_law_error: little,
        passed: (!ended).then_some(true),
    }
}

/// Programmed pages in all blocks.
pub(crate) fn pages_in_use<K: PolicyTypes>(ftl: &Ftl<K>) -> u64 {
    ftl.geometry().block_ids().map(|b| u64::from(ftl.array().next_page(b))).sum()
}

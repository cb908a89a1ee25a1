//! The conservation laws that every run is held to.

use crate::config::Drive;
use crate::host::ClassStats;
use crate::run::pages_in_use;
use crate::sim::{Sim, Stats};
use ftl::{Counts, Kit};
use nand::BlockId;
use serde_json::{Value, json};

/// The conservation laws. A broken one is a bug of ours and no result.
pub(super) fn check<K: Kit>(
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
        let used = used_before + programs;
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

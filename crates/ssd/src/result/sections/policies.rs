//! The policies of a drive, and their counts.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::names::FamilyNames;
use crate::result::shape::{EachName, table};
use ftl::{Cost, PolicyTypes, ReadDisturb, Separation, StreamPages, Throttle};
use nand::Source;
use policies::Family;
use serde_json::{Map, Value as Json, json};

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The policy of each family, and its counts. A count that the drive keeps for all policies of a \
     family has the same name in all of them.",
);

pub(crate) type Section = EachName<FamilyNames, PolicyInRun>;

table! {
    /// A policy in a run.
    struct PolicyInRun {
        /// The name.
        name: String;
        /// The parameters, by name.
        params: Json;
        /// The memory that it needs in a real drive.
        dram_bytes: u64, "bytes";
        /// Counts, by name.
        counters: Json;
    }
}

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let families = Family::ALL.into_iter().zip(e.counters);
    EachName::new(families.map(|(family, own)| {
        let (name, params) = e.drive.policies.get(family);
        let mut counters = counted(e, family, name);
        for &(counter, n) in own {
            // A policy from outside may have a counter of the same name.
            let taken = counters.contains_key(counter);
            let key = if taken { format!("own_{counter}") } else { counter.to_owned() };
            counters.insert(key, json!(n));
        }
        PolicyInRun {
            name: name.to_owned(),
            params: params.as_map().clone().into(),
            dram_bytes: dram_bytes(e, family),
            counters: counters.into(),
        }
    }))
}

/// The mechanism's own counts for a policy. Long because of its list of families.
fn counted<K: PolicyTypes>(e: &Evidence<'_, K>, family: Family, name: &str) -> Map<String, Json> {
    let (counts, waits) = (e.counts, e.sim.wait_stats());
    let programs = counts.program.total();
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
            put("reclaimed", counts.erase[Source::Gc].get() + counts.second_lives);
            put("starved", counts.no_victim);
            put("overridden", counts.overridden);
        }
        Family::Separation if name != Family::Separation.default() => {
            put("placed", counts.host_pages);
            put("diverted", counts.diverted);
            put("streams", e.sim.ftl().policies.separation.streams().len() as u64);
            for (name, pages) in by_name(e) {
                put(&format!("{name}_host_pages"), pages.host);
                put(&format!("{name}_moved_in"), pages.moved_in);
                put(&format!("{name}_moved_out"), pages.moved_out);
            }
        }
        Family::Placement => {
            put("placed", counts.host_pages);
            put("stalled", waits.space);
        }
        Family::Order => {
            put("operations", counts.read.total() + programs + counts.erase.total().get());
            put("merged", e.sim.device_stats().merged);
        }
        Family::ReadDisturb if name != Family::ReadDisturb.default() => {
            let needed = counts.gc_erase_by_demand[Source::Refresh];
            let refresh = counts.erase[Source::Refresh] + needed;
            put("erases_for_refresh", refresh.get());
            put("other_erases", (counts.erase.total() - refresh).get());
            put("waiting_reads", waits.refresh);
            put("reprogrammed_blocks", counts.reprogram);
            put("sealed_slots", counts.sealed);
        }
        Family::SlcCache => {
            if let Some((cache, _)) = e.sim.ftl().cache_counts(e.sim.now()) {
                put("cached_pages", cache.cached);
                put("direct_pages", cache.direct);
                put("folds", cache.folds);
            }
        }
        Family::Throttle
        | Family::ReadDisturb
        | Family::Separation
        | Family::Wear
        | Family::Arbitration => {}
    }
    counters
}

/// The pages of a separation policy's streams, by name: those of one name, as for a hint, together.
fn by_name<K: PolicyTypes>(e: &Evidence<'_, K>) -> Vec<(String, StreamPages)> {
    let mut all: Vec<(String, StreamPages)> = Vec::new();
    for (spec, pages) in e.sim.ftl().streams() {
        let name = spec.name.replace('-', "_");
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => {
                sum.host += pages.host;
                sum.moved_in += pages.moved_in;
                sum.moved_out += pages.moved_out;
            }
            None => all.push((name, pages)),
        }
    }
    all
}

fn dram_bytes<K: PolicyTypes>(e: &Evidence<'_, K>, family: Family) -> u64 {
    let policies = &e.sim.ftl().policies;
    match family {
        Family::Cost => {
            let bits = policies.cost.dram_bits_per_page();
            u64::from(bits) * u64::from(e.drive.logical_pages) / 8
        }
        Family::Throttle => policies.throttle.dram_bytes(),
        Family::ReadDisturb => policies.read_disturb.dram_bytes(),
        Family::Separation => policies.separation.dram_bytes(),
        _ => 0,
    }
}

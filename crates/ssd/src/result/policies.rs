//! What each policy of a run did.

use crate::config::Drive;
use crate::sim::Sim;
use ftl::{Counts, Kit};
use nand::Source;
use policies::Family;
use serde_json::{Map, Value, json};

/// Each policy with what it did. Counts that the mechanism keeps for a policy stand here; the
/// policy adds its own.
// Long for its list of families.
pub(super) fn policies_of<K: Kit>(drive: &Drive, counts: &Counts, sim: &mut Sim<K>) -> Value {
    let (waits, merged) = (sim.wait_stats(), sim.device_stats().merged);
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

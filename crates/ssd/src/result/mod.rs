//! From counts to results: the one place that divides.
//!
//! The shape is that of `floatgate.run/2`; every key is always present, and a value that was not
//! computed is null.

mod energy;
mod evidence;
mod names;
mod sections;
mod shape;
mod steady;

use crate::config::Drive;
use crate::device::Cells;
use crate::precondition::Preconditioned;
use crate::sim::{Sim, WaitStats};
use energy::EnergyUse;
use evidence::Evidence;
use ftl::PolicyTypes;
pub(crate) use sections::checks::pages_in_use;
use sections::end::LeftToDo;
use sections::timing::Speed;
use sections::warnings::of_work_left;
use serde_json::{Map, Value, json};
use shape::Declared;
use steady::Steadiness;
use workload::{About, Alignment};

/// The schema of results.
const SCHEMA: &str = "floatgate.run/2";

/// The declaration of results as JSON. It has `schema`; `sections`, the keys with their meaning,
/// unit and shape; the `tables` and lists of `names` that shapes refer to. It also has the codes of
/// `warnings`, with the numbers that each puts in doubt.
pub fn result_shape() -> Value {
    let mut value = sections::shape();
    value["schema"] = SCHEMA.into();
    value["warnings"] = sections::warnings::declared();
    value
}

/// The time of a run, in seconds.
#[derive(Copy, Clone, Default, Debug)]
pub struct WallTimes {
    /// Elapsed time, preconditioning included.
    pub wall: f64,
    /// Processor time of the thread that simulated.
    pub cpu: f64,
    /// Elapsed time after preconditioning.
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

    /// How often requests waited, by the reason of the wait.
    pub fn waits(&self) -> WaitStats {
        self.waits
    }

    /// Fills in the wall times, which only the caller can measure.
    pub fn set_timing(&mut self, took: WallTimes) {
        let speed = Speed::of(took, self.page_operations, self.served);
        self.value["timing"] = speed.value();
    }
}

/// The result of a run that is over; `used_before`: the pages that were programmed when it began.
pub(crate) fn report<K: PolicyTypes>(
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
    let mut counters = Vec::new();
    sim.ftl_mut().policies.each(|policy| counters.push(policy.counters()));
    counters.push(sim.arbiter_counters());
    let reads = sim.cells().map(Cells::counts);
    let single = sim.ftl().cache_counts(sim.now()).map(|(_, single)| single.erase);
    let erases = (&counts, &single.unwrap_or_default());
    let energy = EnergyUse::of(drive, erases, sim.device_stats(), reads, sim.now().as_secs_f64());
    let evidence = Evidence {
        drive,
        about,
        skipped,
        alignment,
        used_before,
        steadiness: &Steadiness::of(drive, state, &counts, &stats, about, sim),
        counts: &counts,
        stats: &stats,
        energy: energy.as_ref(),
        counters: &counters,
        sim,
    };
    let mut value = Map::from_iter([("schema".to_owned(), json!(SCHEMA))]);
    value.append(&mut sections::all(&evidence));
    let mut value = Value::Object(value);
    let page_operations = evidence.page_operations();
    let waits = sim.wait_stats();
    // From here on the drive continues, and only this work is counted.
    if let Some(left) = sim.work_off() {
        value["end"]["work_left"] = LeftToDo::of(left).value();
        let Value::Array(warnings) = &mut value["warnings"] else {
            unreachable!("warnings are a list");
        };
        let more = of_work_left(left, drive, sim.end());
        warnings.extend(more.into_iter().map(Declared::value));
    }
    Report { value, page_operations, served: stats.served, waits }
}

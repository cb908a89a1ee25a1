//! Years of a workload that repeats, in seconds of computing: a fluid model with the time steps of
//! the throttles themselves.
//!
//! In each period the throttle grants bytes and a delay per page. The workload's demand proceeds as
//! far as both allow, and the rest comes later (as in mode `shifted`). Wear, recovery and the
//! throttle's state advance with every period. Stretches without writes are skipped at once. Two
//! numbers are given by an event simulation or the caller: bytes programmed for each byte of the
//! host, and the time of a page write without throttle.

mod demand;
mod flow;
mod ledger;
mod value;

pub use demand::{Demand, DemandError};
pub use flow::{Forecast, ForwardPlan, fast_forward, plan_of};
pub use ledger::{Bin, Ledger};
pub use value::value;

use crate::config::Drive;
use crate::progress::Progress;
use crate::run::{RunError, StateCache, run};
use nand::Level;
use policies::Family;
use workload::Workload;

/// The results of one detailed run of the workload.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Measured {
    /// Bytes programmed for each byte of the host; `None` if it wrote nothing.
    pub waf: Option<f64>,
    /// The mean time of a page write, in ns.
    pub page_write_ns: f64,
    /// Simulated seconds.
    pub seconds: f64,
    /// Requests served.
    pub requests: u64,
    /// The number of warnings about the run.
    pub warnings: usize,
}

/// Runs the workload once on a drive in full detail, without its throttle.
pub fn measure(
    drive: &Drive,
    workload: Box<dyn Workload>,
    cache: &mut dyn StateCache,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Measured, RunError> {
    let policies = drive.policies.with_default(Family::Throttle);
    let report = run(&Drive { policies, ..drive.clone() }, workload, cache, progress)?;
    let value = report.value();
    Ok(Measured {
        waf: value["waf"].as_f64(),
        page_write_ns: value["flash"]["page_latency_ns"]["write"]["mean"].as_f64().unwrap_or(0.0),
        seconds: value["simulated_seconds"].as_f64().unwrap_or(0.0),
        requests: value["host"]["all"]["requests"].as_u64().unwrap_or(0),
        warnings: value["warnings"].as_array().map_or(0, Vec::len),
    })
}

/// The time of a page write that waits for nothing, in ns: the mean over the page types, for each page
/// that is programmed at once.
pub fn page_program_ns(drive: &Drive) -> f64 {
    let types = drive.geometry.shape().bits_per_cell as usize;
    let of = |page_type| drive.timing.program(Level::MediumCost, page_type).as_ns() as f64;
    let pages = f64::from(drive.geometry.units().pages);
    pages * (0..types).map(of).sum::<f64>() / types as f64
}

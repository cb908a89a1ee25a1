//! The result as JSON: simulated values, extrapolated values, and conclusions.

use super::Measured;
use super::demand::Demand;
use super::flow::{Forecast, ForwardPlan};
use crate::config::Drive;
use kernel::Dur;
use serde_json::{Value, json};

/// The result of a fast-forward, `floatgate.fast-forward/1`. `workload` names the workload, unless
/// the demand was a list of numbers. `measured` is the event simulation, if there was one. A page
/// write takes `page_write_ns` without throttle. Long because all keys of a result are here.
pub fn value(
    drive: &Drive,
    workload: Option<&str>,
    measured: Option<&Measured>,
    page_write_ns: f64,
    plan: &ForwardPlan<'_>,
    outcome: &Forecast,
) -> Value {
    let target = plan.target.as_secs_f64();
    let raw = plan.life.raw_bytes as f64;
    let cycles = outcome.programmed / raw;
    let interval = target / 3600.0 / cycles;
    let achievable = raw * plan.cells.achievable(interval);
    let total = outcome.ledger.total();
    let delay_ns = outcome.ledger.mean_delay_ns();
    let percentiles = outcome.ledger.delays.percentiles_with(delay_ns);
    let life = outcome.worn_out.map_or(target * achievable / outcome.programmed, |(at, _)| at);
    let (rests, locally) = (&outcome.rests, outcome.worn_out_locally);
    let end = |(at, bytes)| json!({ "seconds": at, "programmed_bytes": bytes });
    let warnings = measured.map_or_else(|| drive.warnings_unsimulated(), |_| json!([]));
    json!({
        "schema": "floatgate.fast-forward/1",
        "version": env!("CARGO_PKG_VERSION"),
        "config": drive.resolved,
        "config_hash": drive.hash(),
        "workload": workload,
        "simulated": measured.map(|m| json!({
            "seconds": m.seconds,
            "requests": m.requests,
            "warnings": m.warnings,
            "gave": ["waf", "page_write_ns"],
        })),
        "extrapolated": {
            "seconds": target,
            "cycles_of_demand": target / plan.demand.length().as_secs_f64(),
            "periods": outcome.periods,
            "periods_with_writes": outcome.computed_periods,
        },
        "warnings": warnings,
        "demand": of_demand(plan.demand),
        "waf": plan.waf,
        "page_write_ns": page_write_ns,
        "target_seconds": target,
        "worn_out": outcome.worn_out.map(end),
        "life_seconds": life,
        "host_bytes": outcome.host_bytes,
        "programmed_bytes": outcome.programmed,
        "rated_bytes": raw * plan.cells.rating(),
        "achievable_bytes": achievable,
        "mean_cycles": cycles,
        "mean_interval_hours": interval,
        "interval_supported": rests.supported() >= 1.0,
        "local_intervals": {
            "worn_out": locally.map(end),
            "life_seconds": locally.map_or(target / rests.used(), |(at, _)| at),
            "used": rests.used(),
            "shortest_hours": rests.range().map(|r| r.0),
            "longest_hours": rests.range().map(|r| r.1),
            "supported_share": rests.supported(),
        },
        "served_seconds": outcome.served_seconds,
        "delay": {
            "pages": total.pages,
            "delay_seconds": total.delay,
            "stop_seconds": total.stop,
            "stops": outcome.ledger.stops,
            "page_delay_ns": {
                "mean": delay_ns,
                "p50": percentiles.p50, "p90": percentiles.p90, "p99": percentiles.p99,
                "p99_9": percentiles.p99_9, "p99_99": percentiles.p99_99, "max": percentiles.max,
                "below": distribution(outcome),
            },
            "page_response_ns": page_write_ns + delay_ns,
        },
        "prediction": outcome.tally.map(|t| json!({
            "epochs": t.epochs,
            "predictions": t.predictions,
            "held": t.hits,
            "held_share": if t.predictions > 0 {
                json!(t.hits as f64 / t.predictions as f64)
            } else {
                Value::Null
            },
            "selections": t.selections,
            "borrowing_epochs": t.borrowed,
        })),
        "series": series(outcome),
        "epochs": epochs(plan, outcome),
        "periods": {
            "first": plan.periods.0,
            "programmed_bytes": outcome.ledger.periods,
        },
    })
}

fn of_demand(demand: &Demand) -> Value {
    json!({
        "cycle_seconds": demand.length().as_secs_f64(),
        "bytes_per_cycle": demand.bytes(),
        "pages_per_cycle": demand.pages(),
        "bytes_per_hour": demand.bytes() / demand.length().as_secs_f64() * 3600.0,
        "peak_to_mean": demand.peak_to_mean(),
    })
}

/// Points of the distribution of page delays: a delay in ns, and the share of pages with at most
/// that.
fn distribution(outcome: &Forecast) -> Vec<(u64, f64)> {
    let shares = (0..100).map(|p| f64::from(p) / 100.0).chain([0.995, 0.999, 0.9999, 1.0]);
    shares.map(|q| (outcome.ledger.delays.quantile_ns(q), q)).collect()
}

fn series(outcome: &Forecast) -> Value {
    let ledger = &outcome.ledger;
    let rates = ledger.bins.iter().map(|b| b.programmed / ledger.bin_seconds);
    let delay = |b: &super::Bin| (b.pages > 0.0).then(|| (b.delay + b.stop) * 1e9 / b.pages);
    let stops = ledger.bins.iter().map(|b| b.stop / ledger.bin_seconds);
    json!({
        "bin_seconds": ledger.bin_seconds,
        "programmed_bytes_per_second": rates.collect::<Vec<f64>>(),
        "page_delay_ns": ledger.bins.iter().map(delay).collect::<Vec<_>>(),
        "stopped_share": stops.collect::<Vec<f64>>(),
    })
}

fn epochs(plan: &ForwardPlan<'_>, outcome: &Forecast) -> Vec<Value> {
    let period = plan.throttle.map_or(Dur::secs(1), |t| t.period).as_secs_f64();
    let row = |e: &policies::throttle::Epoch| {
        json!({
            "start_seconds": e.start as f64 * period,
            "seconds": e.length as f64 * period,
            "capacity_bytes": e.capacity(),
            "spare_bytes": e.spare,
            "predicted_bytes": e.predicted,
            "programmed_bytes": e.used,
            "page_delay_ns": e.delay * 1e9,
        })
    };
    outcome.epochs.iter().map(row).collect()
}

//! Fast-forwards: from Python's arguments to a plan, and its result as JSON.

use pyo3::prelude::*;
use serde_json::Value;
use ssd::fast_forward::{
    Demand, DemandError, ForwardPlan, fast_forward, measure, page_program_ns, plan_of, value,
};
use ssd::kernel::Dur;
use ssd::policies::Family;
use ssd::workload::Workload;
use ssd::{Drive, StateCache};

use crate::error::{InputError, WorkloadError, of_ours, of_run, of_trace};
use crate::open::{self, OpenSpec};
use crate::worker::WorkProgress;

/// The demand.
pub(crate) struct What<'a> {
    pub(crate) workload: Option<&'a str>,
    /// Bytes of each second, and the pages unless they follow from the bytes.
    pub(crate) demand: Option<(Vec<f64>, Option<Vec<f64>>)>,
    pub(crate) spec: OpenSpec,
}

/// The rest of the question, checked.
pub(crate) struct Asked {
    waf: Option<f64>,
    page_write_ns: Option<f64>,
    target: Option<Dur>,
    step: Option<Dur>,
    keep: (usize, usize, u64, usize),
}

impl Asked {
    pub(crate) fn new(
        drive: &Drive,
        waf: Option<f64>,
        page_write: Option<&str>,
        target: Option<&str>,
        step: Option<&str>,
        keep: (usize, usize, u64, usize),
    ) -> PyResult<Self> {
        let wrong = |message: String| Err(InputError::new_err(message));
        if let Some(waf) = waf.filter(|w| !(1e-3..=1e4).contains(w)) {
            return wrong(format!("`waf` is {waf}: it must be a number from 0.001 to 10000"));
        }
        let dur = |name: &str, text: &str| {
            let length: Result<Dur, _> = text.parse();
            length.map_err(|e| InputError::new_err(format!("`{name}` is `{text}`: {e}")))
        };
        let page_write = page_write.map(|text| dur("page_write", text)).transpose()?;
        let target = target.map(|text| dur("target", text)).transpose()?;
        let step = step.map(|text| dur("step", text)).transpose()?;
        if step.is_some_and(|s| s < Dur::secs(1)) {
            return wrong("`step` must be at least 1s".to_owned());
        }
        if drive.policies.is_from_outside(Family::Throttle) {
            let (name, _) = drive.policies.get(Family::Throttle);
            return wrong(format!(
                "`throttle={name}` decides for each write, but years are computed in periods: choose \
                 a built-in throttle"
            ));
        }
        let throttle = drive.policies.build().throttle.settings().copied();
        if let (Some(target), Some(own)) = (target, throttle.map(|t| t.target))
            && target != own
        {
            return wrong(format!(
                "`target` is {target}, and the throttle's own is {own}: give it to the throttle \
                 (`throttle=NAME:target={target}`)"
            ));
        }
        if target.is_some_and(|t| t < Dur::secs(1)) {
            return wrong("`target` must be at least 1s".to_owned());
        }
        let (bins, epochs, _, periods) = keep;
        if bins == 0 || bins.max(epochs).max(periods) > 10_000_000 {
            return wrong("at least one bin, and at most 10 million of anything".to_owned());
        }
        let page_write_ns = page_write.map(|d| d.as_ns() as f64);
        Ok(Self { waf, page_write_ns, target, step, keep })
    }
}

/// The demand of a workload.
pub(crate) fn demand(
    drive: &Drive,
    name: &str,
    spec: &OpenSpec,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Demand> {
    gone_through(drive, &*open::workload(drive, name, spec)?, tick)
}

fn of_demand(error: DemandError) -> PyErr {
    match error {
        DemandError::Workload(e) => of_trace(&e),
        e => WorkloadError::new_err(e.to_string()),
    }
}

fn gone_through(
    drive: &Drive,
    workload: &dyn Workload,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Demand> {
    let total = workload.about().requests;
    let mut watch = |done| tick(WorkProgress { stage: "reading", done, total, now_ns: 0 });
    let page_bytes = drive.geometry.page_size().get();
    let found = Demand::watched(workload, page_bytes, drive.host.speed, &mut watch);
    let found = found.map_err(of_demand)?;
    found.ok_or_else(|| of_ours("stopped by nobody"))
}

pub(crate) fn forward(
    drive: &Drive,
    what: &What<'_>,
    asked: &Asked,
    cache: &mut dyn StateCache,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Value> {
    if drive.scale.is_some() {
        return Err(InputError::new_err(
            "`scale` shortens the life of a block, and a fast-forward computes with it: leave it out",
        ));
    }
    let page_bytes = drive.geometry.page_size().get();
    let workload = what.workload.map(|name| open::workload(drive, name, &what.spec)).transpose()?;
    let demand = match (&what.demand, &workload) {
        (Some((bytes, None)), None) => Demand::of_bytes(bytes, page_bytes).map_err(of_demand)?,
        (Some((bytes, Some(pages))), None) => {
            Demand::of_numbers(bytes, pages).map_err(of_demand)?
        }
        (None, Some(workload)) => gone_through(drive, &**workload, tick)?,
        _ => return Err(InputError::new_err("give either a workload or a demand")),
    };
    let demand = match (asked.step, &workload) {
        (Some(_), Some(_)) => {
            let why = "`step` is for a demand in numbers: a workload has one for each second";
            return Err(InputError::new_err(why));
        }
        (Some(step), None) => demand.with_step(step),
        (None, _) => demand,
    };
    let missing = asked.waf.is_none() || asked.page_write_ns.is_none();
    let measured = match workload {
        Some(workload) if missing => {
            let mut watch = |p: ssd::Progress| tick(p.into());
            Some(measure(drive, workload, cache, &mut watch).map_err(|e| of_run(&e))?)
        }
        _ => None,
    };
    let Some(waf) = asked.waf.or(measured.and_then(|m| m.waf)) else {
        return Err(InputError::new_err(
            "a demand in numbers says nothing of write amplification: give `waf`",
        ));
    };
    // Without a simulation a page waits for nothing.
    let measured_ns = measured.map(|m| m.page_write_ns);
    let service = asked.page_write_ns.or(measured_ns).unwrap_or_else(|| page_program_ns(drive));
    let (bins, epochs, first, periods) = asked.keep;
    let mut plan =
        ForwardPlan { bins, epochs, periods: (first, periods), ..plan_of(drive, &demand, waf) };
    plan.target = asked.target.unwrap_or(plan.target);
    let outcome = fast_forward(&plan, &mut |done, total| {
        let total = Some(total);
        tick(WorkProgress { stage: "fast-forward", done, total, now_ns: 0 })
    });
    let outcome = outcome.ok_or_else(|| of_ours("stopped by nobody"))?;
    Ok(value(drive, what.workload, measured.as_ref(), service, &plan, &outcome))
}

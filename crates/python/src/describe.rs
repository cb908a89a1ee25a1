//! Descriptions of workloads, as JSON.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Value, json};
use ssd::Drive;
use ssd::kernel::{Bytes, Dur};
use ssd::workload::Workload;
use ssd::workload::describe::{Describer, Options};
use ssd::workload::standin::{Fitter, Profile};

use crate::error::{InputError, of_ours, of_trace};
use crate::open;
use crate::outside::Outside;
use crate::worker::WorkProgress;

/// The options as people write them.
pub(crate) fn options(
    page_size: &str,
    epochs: Option<Vec<String>>,
    memory: Option<&str>,
) -> PyResult<Options> {
    let page_size: Bytes = parsed("page size", page_size)?;
    let memory = memory.map_or(Ok(Options::MEMORY), |text| parsed("memory", text))?;
    let epochs = match epochs {
        None => Options::epochs(),
        Some(texts) => {
            let lengths = texts.iter().map(|text| parsed::<Dur>("length of an epoch", text));
            lengths.collect::<PyResult<_>>()?
        }
    };
    Options::new(page_size, memory, epochs).map_err(|e| InputError::new_err(e.to_string()))
}

fn parsed<T: FromStr<Err: Display>>(what: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|e| InputError::new_err(format!("`{text}` is not a {what}: {e}")))
}

/// The drive that lends a generator its capacity and seed. Its other settings have no effect, so
/// setting them is a mistake.
pub(crate) fn lender(drive: &str, set: &[String], outside: &Arc<Outside>) -> PyResult<Drive> {
    if let Some(other) = set.iter().find(|s| !s.trim_start().starts_with("workload.")) {
        return Err(InputError::new_err(format!(
            "`{other}` sets something of a drive, which a description of a workload does not \
             depend on; expected a key that begins with `workload.`"
        )));
    }
    open::drive(drive, set, &[], None, outside)
}

/// Goes through a workload once, whose addresses are already moved by `shift_bytes`.
pub(crate) fn describe(
    workload: &dyn Workload,
    shift_bytes: i64,
    options: &Options,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Value> {
    let fail = |e: ssd::workload::TraceError| of_trace(&e);
    let about = workload.about();
    let mut describer = Describer::new(options);
    let mut source = workload.open().map_err(fail)?;
    let (mut batch, mut done) = (Vec::new(), 0);
    loop {
        source.fill(&mut batch).map_err(fail)?;
        let Some(last) = batch.last() else { break };
        done += batch.len() as u64;
        let now_ns = last.at.as_ns();
        describer.observe(&batch);
        if !tick(WorkProgress { stage: "describing", done, total: about.requests, now_ns }) {
            // The error that stopped it was raised already, and takes precedence.
            return Err(of_ours("stopped by nobody"));
        }
    }
    let mut value = json!({
        "schema": "floatgate.trace/1",
        "version": env!("CARGO_PKG_VERSION"),
        "workload": {
            "name": about.name,
            "format": about.format,
            "sha256": about.sha256,
            "reading": about.reading,
            "requests": done,
            "skipped": source.skipped(),
            "span_bytes": about.span,
            "shift_bytes": shift_bytes,
            "stand_in": about.stand_in.as_ref().map(|s| json!({
                "model": s.model, "version": s.version, "fitted_to": s.fitted_to,
            })),
            "notes": about.notes,
        },
    });
    let description = serde_json::to_value(describer.finish()).map_err(of_ours)?;
    if let (Value::Object(value), Value::Object(description)) = (&mut value, description) {
        value.extend(description);
    }
    Ok(value)
}

/// Fits the model of stand-ins to a workload, in two passes.
pub(crate) fn fit(
    workload: &dyn Workload,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Profile> {
    let fail = |e: ssd::workload::TraceError| of_trace(&e);
    let about = workload.about();
    let mut fitter = Fitter::new();
    for stage in ["looking", "fitting"] {
        let mut source = workload.open().map_err(fail)?;
        let (mut batch, mut done) = (Vec::new(), 0);
        loop {
            source.fill(&mut batch).map_err(fail)?;
            let Some(last) = batch.last() else { break };
            done += batch.len() as u64;
            let now_ns = last.at.as_ns();
            if stage == "looking" {
                fitter.look(&batch);
            } else {
                fitter.observe(&batch);
            }
            if !tick(WorkProgress { stage, done, total: about.requests, now_ns }) {
                return Err(of_ours("stopped by nobody"));
            }
        }
        if stage == "looking" {
            fitter.turn();
        }
    }
    Ok(fitter.finish(&about.name))
}

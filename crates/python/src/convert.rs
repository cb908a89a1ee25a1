//! Workloads on their way into a file: the requests as columns, and their facts.

use pyo3::prelude::*;
use serde_json::Value;
use ssd::record::{ArrivalRows, CHUNK, RunTable, Sink, described};
use ssd::workload::{BATCH, Request, Workload};

use crate::error::{WorkloadError, of_ours, of_trace};
use crate::worker::WorkProgress;

/// Hands every request to `sink`, whose addresses are already moved by `shift_bytes`; returns the
/// facts of the workload.
pub(crate) fn convert(
    workload: &dyn Workload,
    shift_bytes: i64,
    mut sink: Sink,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
) -> PyResult<Value> {
    let fail = |e: ssd::workload::TraceError| of_trace(&e);
    let about = workload.about();
    if !about.closed.is_empty() {
        return Err(WorkloadError::new_err(format!(
            "{}: its parts have queue depths, and a table of requests cannot say that; run it as it \
             is, or convert its parts",
            about.name
        )));
    }
    let mut source = workload.open().map_err(fail)?;
    let (mut batch, mut rows) = (Vec::with_capacity(BATCH), ArrivalRows::default());
    let (mut done, mut end) = (0, 0);
    loop {
        source.fill(&mut batch).map_err(fail)?;
        let Some(last) = batch.last() else { break };
        done += batch.len() as u64;
        end = batch.iter().map(Request::end).max().unwrap_or(0).max(end);
        let now_ns = last.at.as_ns();
        // A batch may cross the edge of a piece: all pieces but the last have equal length.
        let (now, later) = batch.split_at(batch.len().min(CHUNK - rows.len()));
        rows.push(now);
        let mut goes_on = true;
        if rows.len() == CHUNK {
            let full = std::mem::take(&mut rows);
            goes_on = sink(RunTable::Requests, full.columns(&about.flows));
        }
        rows.push(later);
        let progress = WorkProgress { stage: "converting", done, total: about.requests, now_ns };
        if !tick(progress) || !goes_on {
            // The error that stopped it was raised already, and takes precedence.
            return Err(of_ours("stopped by nobody"));
        }
    }
    if rows.len() > 0 && !sink(RunTable::Requests, rows.columns(&about.flows)) {
        return Err(of_ours("stopped by nobody"));
    }
    let skipped = source.skipped();
    Ok(described(about, (done, end), skipped, shift_bytes, workload.origin()))
}

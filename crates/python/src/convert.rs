//! Workloads on their way into a file: the requests as columns, and what is known of them.

use pyo3::prelude::*;
use serde_json::{Value, json};
use ssd::kernel::Prio;
use ssd::record::{CHUNK, Column, RunTable, Sink, Values};
use ssd::workload::{BATCH, Flow, Request, Workload};

use crate::error::{WorkloadError, of_ours, of_trace};
use crate::worker::WorkProgress;

/// The words of the columns that have words, in the order of the numbers that stand for them.
const OPS: [&str; 5] = ["read", "write", "trim", "flush", "write-fua"];
const PRIOS: [&str; 2] = ["normal", "high"];

/// Rows on their way.
#[derive(Default)]
struct Rows {
    time: Vec<u64>,
    op: Vec<u8>,
    offset: Vec<u64>,
    size: Vec<u32>,
    prio: Vec<u8>,
    flow: Vec<u8>,
}

impl Rows {
    fn with_room() -> Self {
        Self {
            time: Vec::with_capacity(CHUNK),
            op: Vec::with_capacity(CHUNK),
            offset: Vec::with_capacity(CHUNK),
            size: Vec::with_capacity(CHUNK),
            prio: Vec::with_capacity(CHUNK),
            flow: Vec::with_capacity(CHUNK),
        }
    }

    fn push(&mut self, batch: &[Request]) {
        self.time.extend(batch.iter().map(|r| r.at.as_ns()));
        self.op.extend(batch.iter().map(|r| r.op as u8));
        self.offset.extend(batch.iter().map(|r| r.offset));
        self.size.extend(batch.iter().map(|r| r.len));
        self.prio.extend(batch.iter().map(|r| u8::from(r.prio == Prio::High)));
        self.flow.extend(batch.iter().map(|r| r.flow));
    }

    /// `flows`: whose requests these are, where they are of several.
    fn columns(self, flows: &[Flow]) -> Vec<Column> {
        let named = |name: &str, values| Column { name: name.into(), values, optional: false };
        let mut columns = vec![
            named("time_ns", Values::U64(self.time)),
            named("op", Values::Words(self.op, OPS.map(Into::into).into())),
            named("offset", Values::U64(self.offset)),
            named("size", Values::U32(self.size)),
            named("prio", Values::Words(self.prio, PRIOS.map(Into::into).into())),
        ];
        if !flows.is_empty() {
            let names = flows.iter().map(|flow| flow.name.clone()).collect();
            columns.push(named("flow", Values::Words(self.flow, names)));
        }
        columns
    }
}

/// Hands every request to `sink`, whose addresses are already moved by `shift_bytes`; returns what
/// is known of the workload.
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
    let (mut batch, mut rows) = (Vec::with_capacity(BATCH), Rows::with_room());
    let (mut done, mut end) = (0, 0);
    loop {
        source.fill(&mut batch).map_err(fail)?;
        let Some(last) = batch.last() else { break };
        done += batch.len() as u64;
        end = batch.iter().map(Request::end).max().unwrap_or(0).max(end);
        let now_ns = last.at.as_ns();
        // A batch may stand across the edge of a piece: all pieces but the last have equal length.
        let (now, later) = batch.split_at(batch.len().min(CHUNK - rows.time.len()));
        rows.push(now);
        let mut goes_on = true;
        if rows.time.len() == CHUNK {
            let full = std::mem::replace(&mut rows, Rows::with_room());
            goes_on = sink(RunTable::Requests, full.columns(&about.flows));
        }
        rows.push(later);
        let progress = WorkProgress { stage: "converting", done, total: about.requests, now_ns };
        if !tick(progress) || !goes_on {
            // The error that stopped it was raised already, and takes precedence.
            return Err(of_ours("stopped by nobody"));
        }
    }
    if !rows.time.is_empty() && !sink(RunTable::Requests, rows.columns(&about.flows)) {
        return Err(of_ours("stopped by nobody"));
    }
    Ok(json!({
        "name": about.name,
        "format": about.format,
        "sha256": about.sha256,
        "reading": about.reading,
        "requests": done,
        "skipped": source.skipped(),
        "span_bytes": about.span.unwrap_or(end),
        "shift_bytes": shift_bytes,
        "timed": about.timed,
        "origin_ns": workload.origin(),
        "stand_in": about.stand_in.as_ref().map(|s| json!({
            "model": s.model, "version": s.version, "fitted_to": s.fitted_to,
        })),
        "flows": about.flows.iter().map(|flow| json!({
            "name": flow.name, "weight": flow.weight, "queue_depth": flow.depth, "region_bytes": [flow.region.0, flow.region.1],
        })).collect::<Vec<_>>(),
        "notes": about.notes,
    }))
}

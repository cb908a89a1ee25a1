//! Requests as columns: a workload that is converted, or the requests of a session.

use super::{CHUNK, Column, Values, hints};
use kernel::{Hint, Prio};
use serde_json::{Value, json};
use workload::{About, Flow, Request};

/// The words of the columns that hold words, in the order of the numbers that stand for them.
const OPS: [&str; 5] = ["read", "write", "trim", "flush", "write-fua"];
const PRIOS: [&str; 2] = ["normal", "high"];

/// Some requests in their order.
pub struct ArrivalRows {
    time: Vec<u64>,
    op: Vec<u8>,
    offset: Vec<u64>,
    size: Vec<u32>,
    prio: Vec<u8>,
    flow: Vec<u8>,
    hint: Vec<Hint>,
}

impl Default for ArrivalRows {
    fn default() -> Self {
        Self {
            time: Vec::with_capacity(CHUNK),
            op: Vec::with_capacity(CHUNK),
            offset: Vec::with_capacity(CHUNK),
            size: Vec::with_capacity(CHUNK),
            prio: Vec::with_capacity(CHUNK),
            flow: Vec::with_capacity(CHUNK),
            hint: Vec::with_capacity(CHUNK),
        }
    }
}

impl ArrivalRows {
    /// The number of requests. At most [`CHUNK`] are handed over at once.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Adds some.
    pub fn push(&mut self, batch: &[Request]) {
        self.time.extend(batch.iter().map(|r| r.at.as_ns()));
        self.op.extend(batch.iter().map(|r| r.op as u8));
        self.offset.extend(batch.iter().map(|r| r.offset));
        self.size.extend(batch.iter().map(|r| r.len));
        self.prio.extend(batch.iter().map(|r| u8::from(r.prio == Prio::High)));
        self.flow.extend(batch.iter().map(|r| r.flow));
        self.hint.extend(batch.iter().map(|r| r.hint));
    }

    /// The requests as columns. `flows`: the names of their flows, if there are several.
    pub fn columns(self, flows: &[Flow]) -> Vec<Column> {
        let named = |name: &str, values| Column { name: name.into(), values, optional: false };
        let mut columns = vec![
            named("time_ns", Values::U64(self.time)),
            named("op", Values::Words(self.op, OPS.map(Into::into).into())),
            named("offset", Values::U64(self.offset)),
            named("size", Values::U32(self.size)),
            named("prio", Values::Words(self.prio, PRIOS.map(Into::into).into())),
            named("hint", hints(self.hint.into_iter())),
        ];
        if !flows.is_empty() {
            let names = flows.iter().map(|flow| flow.name.clone()).collect();
            columns.push(named("flow", Values::Words(self.flow, names)));
        }
        columns
    }
}

/// The description of a table of requests, without its schema and version. `requests` and `span`
/// were counted; `origin` is the recorded time of the first.
pub fn described(
    about: &About,
    (requests, span): (u64, u64),
    skipped: u64,
    shift_bytes: i64,
    origin: Option<u64>,
) -> Value {
    json!({
        "name": about.name,
        "format": about.format,
        "sha256": about.sha256,
        "reading": about.reading,
        "requests": requests,
        "skipped": skipped,
        "span_bytes": about.span.unwrap_or(span),
        "shift_bytes": shift_bytes,
        "timed": about.timed,
        "origin_ns": origin,
        "stand_in": about.stand_in.as_ref().map(|s| json!({
            "model": s.model, "version": s.version, "fitted_to": s.fitted_to,
        })),
        "flows": about.flows.iter().map(|flow| json!({
            "name": flow.name, "weight": flow.weight, "queue_depth": flow.depth, "region_bytes": [flow.region.0, flow.region.1],
        })).collect::<Vec<_>>(),
        "notes": about.notes,
    })
}

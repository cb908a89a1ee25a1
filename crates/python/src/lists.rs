//! What there is to choose from, as JSON.

use serde_json::{Value, json};
use ssd::policies;
use ssd::workload::{Format, Pattern};

use crate::parquet;

/// Every generator of workloads: its name, and what it makes.
pub(crate) fn generators() -> Vec<(&'static str, &'static str)> {
    Pattern::ALL.iter().map(|p| (p.name(), p.summary())).collect()
}

/// Every format of trace: its name, and what it holds.
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    let read_here = Format::ALL.iter().map(|f| (f.name(), f.summary()));
    read_here.chain([(parquet::FORMAT, parquet::SUMMARY)]).collect()
}

/// Every policy, in the order of the list that registers them.
pub(crate) fn policies() -> Value {
    let all = policies::all().map(|p| {
        let params = p.params.iter().map(|param| {
            json!({
                "name": param.name,
                "values": param.kind.describe(),
                "default": param.default,
                "summary": param.doc,
            })
        });
        json!({
            "family": p.family.name(),
            "question": p.family.question(),
            "name": p.name,
            "aliases": p.aliases,
            "summary": p.summary,
            "paper": p.paper,
            "default": p.family.default() == p.name,
            "params": params.collect::<Vec<_>>(),
            "needs": p.needs,
            "forbids": p.forbids,
        })
    });
    all.collect()
}

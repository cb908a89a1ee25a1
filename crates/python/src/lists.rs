//! The available choices, as JSON.

use serde_json::{Value, json};
use ssd::policies;
use ssd::workload::{ColumnPlace, ColumnRole, ColumnUnit, Columns, Format, Pattern};

use crate::open::parquet;

/// Every generator of workloads: its name, and a description.
pub(crate) fn generators() -> Vec<(&'static str, &'static str)> {
    Pattern::ALL.iter().map(|p| (p.name(), p.summary())).collect()
}

/// Every format of trace: its name, and its content.
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    let read_here = Format::ALL.iter().map(|f| (f.name(), f.summary()));
    read_here.chain([(parquet::FORMAT, parquet::SUMMARY)]).collect()
}

/// Its content, its name or number, the unit in nanoseconds or bytes, and words for operations
/// with their numbers.
pub(crate) type NamedColumn = (&'static str, String, Option<u64>, Option<Vec<(String, usize)>>);

/// The meaning of `--columns`.
pub(crate) fn columns(text: &str) -> Result<Vec<NamedColumn>, String> {
    let columns: Columns = text.parse()?;
    let one = |(place, role): &(ColumnPlace, ColumnRole)| {
        let unit = match role {
            ColumnRole::Time(unit) => unit.map(|unit| match unit {
                ColumnUnit::Of(unit) => unit.nanoseconds(),
                ColumnUnit::Iso => 0,
            }),
            ColumnRole::Offset(unit) | ColumnRole::Size(unit) => *unit,
            _ => None,
        };
        let words = match role {
            ColumnRole::Op(Some(spelling)) => Some(spelling.words().collect()),
            _ => None,
        };
        (role.key(), place.to_string(), unit, words)
    };
    Ok(columns.list().iter().map(one).collect())
}

/// Every list of names by which results count.
pub(crate) fn accounts() -> Value {
    ssd::accounts()
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

//! A row for each completed request.

use super::{Column, Values, hints};
use crate::host::{Class, Inside};
use crate::ops::Spent;
use kernel::{Dur, Hint};
use nand::{Each, Key, Part, Parts};

/// The record of a request.
struct Row {
    arrival_ns: u64,
    latency_ns: u64,
    offset_bytes: u64,
    spent: Spent,
    size_bytes: u32,
    class: Class,
    priority: u8,
    flow: u8,
    hint: Hint,
}

/// The rows that were not handed over yet. A request writes one row in one place. Columns are made
/// when there are enough rows.
pub(super) struct RequestRows {
    rows: Vec<Row>,
    /// The names of the flows, at least one.
    flows: Vec<String>,
}

impl RequestRows {
    /// No rows. `flows`: the names of the flows, if there are flows.
    pub(super) fn new(flows: Vec<String>) -> Self {
        let flows = if flows.is_empty() { vec!["all".into()] } else { flows };
        Self { rows: Vec::new(), flows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(super) fn push(&mut self, r: &Inside, latency: Dur, spent: &Spent) {
        self.rows.push(Row {
            arrival_ns: r.arrived.as_ns(),
            latency_ns: latency.as_ns(),
            offset_bytes: r.offset,
            spent: *spent,
            size_bytes: r.bytes,
            class: r.class,
            priority: r.prio as u8,
            flow: r.flow,
            hint: r.hint,
        });
    }

    /// The rows; the same number may follow.
    pub(super) fn take(&mut self) -> Vec<Column> {
        let rows = &self.rows;
        let flows: Vec<&str> = self.flows.iter().map(String::as_str).collect();
        let (operations, names) = nand::words(rows.iter().map(|row| row.class));
        let mut columns = vec![
            Column::u64("arrival_ns", each(rows, |row| row.arrival_ns)),
            Column::u64("latency_ns", each(rows, |row| row.latency_ns)),
            Column::words("operation", operations, &names),
            Column::u64("offset_bytes", each(rows, |row| row.offset_bytes)),
            Column::u32("size_bytes", each(rows, |row| row.size_bytes)),
            Column::words("priority", each(rows, |row| row.priority), &["normal", "high"]),
            Column::words("flow", each(rows, |row| row.flow), &flows),
            Column::new("hint", hints(rows.iter().map(|row| row.hint))),
        ];
        // On most drives most parts are always zero.
        let mut any = Parts::default();
        for row in rows {
            note(&mut any.queue, &row.spent.queue);
            note(&mut any.causes, &row.spent.causes);
        }
        for part in Part::all() {
            let values = match any.of(part) {
                0 => Values::Zeros(rows.len()),
                _ => Values::U64(each(rows, |row| row.spent.of(part).as_ns())),
            };
            columns.push(Column::new(part.column(), values));
        }
        self.rows.clear();
        columns
    }
}

/// Leaves zero for parts that never had any time.
#[inline]
fn note<K: Key>(any: &mut Each<K, u64>, times: &Each<K, Dur>) {
    any.values_mut().zip(times.values()).for_each(|(any, time)| *any |= time.as_ns());
}

/// Something of each row.
fn each<T>(rows: &[Row], of: impl Fn(&Row) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

//! A row for each completed request.

use super::{Column, PARTS, Values, part_names, parts_ns};
use crate::host::{Class, InFront, Inside};
use crate::ops::Spent;
use kernel::Dur;

/// What is kept of a request.
struct Row {
    arrival_ns: u64,
    latency_ns: u64,
    offset_bytes: u64,
    parts_ns: [u64; PARTS],
    size_bytes: u32,
    operation: u8,
    priority: u8,
    flow: u8,
}

/// The rows that were not handed over yet. A request leaves one row in one place; columns are made of
/// them when there are enough.
pub(super) struct Requests {
    rows: Vec<Row>,
    /// The names of the flows, at least one.
    flows: Vec<String>,
}

impl Requests {
    /// No rows. `flows`: their names, where there are flows.
    pub(super) fn new(flows: Vec<String>) -> Self {
        let flows = if flows.is_empty() { vec!["all".into()] } else { flows };
        Self { rows: Vec::new(), flows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(super) fn push(&mut self, r: &Inside, latency: Dur, spent: &Spent, front: InFront) {
        let Spent { bus, array, ecc, buffer, .. } = *spent;
        let [controller, link] = front;
        let [bus, array, ecc, buffer] = [bus, array, ecc, buffer].map(Dur::as_ns);
        let served = [bus, array, ecc, buffer, link, controller];
        self.rows.push(Row {
            arrival_ns: r.arrived.as_ns(),
            latency_ns: latency.as_ns(),
            offset_bytes: r.offset,
            parts_ns: parts_ns(r.throttle, spent.queue, served),
            size_bytes: r.bytes,
            operation: r.class as u8,
            priority: r.prio as u8,
            flow: r.flow,
        });
    }

    /// The rows; as many may follow.
    pub(super) fn take(&mut self) -> Vec<Column> {
        let rows = &self.rows;
        let flows: Vec<&str> = self.flows.iter().map(String::as_str).collect();
        let mut columns = vec![
            Column::u64("arrival_ns", each(rows, |row| row.arrival_ns)),
            Column::u64("latency_ns", each(rows, |row| row.latency_ns)),
            Column::words(
                "operation",
                each(rows, |row| row.operation),
                &Class::ALL.map(Class::name),
            ),
            Column::u64("offset_bytes", each(rows, |row| row.offset_bytes)),
            Column::u32("size_bytes", each(rows, |row| row.size_bytes)),
            Column::words("priority", each(rows, |row| row.priority), &["normal", "high"]),
            Column::words("flow", each(rows, |row| row.flow), &flows),
        ];
        // Most drives have most parts never.
        let mut any = [0; PARTS];
        for row in rows {
            any.iter_mut().zip(row.parts_ns).for_each(|(any, ns)| *any |= ns);
        }
        for (part, name) in part_names().into_iter().enumerate() {
            columns.push(Column::new(
                name,
                match any[part] {
                    0 => Values::Zeros(rows.len()),
                    _ => Values::U64(each(rows, |row| row.parts_ns[part])),
                },
            ));
        }
        self.rows.clear();
        columns
    }
}

/// Something of each row.
fn each<T>(rows: &[Row], of: impl Fn(&Row) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

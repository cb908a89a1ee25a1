//! A row for each completed request.

use super::{CHUNK, Column, PARTS, Values, part_names, parts_ns};
use crate::device::Spent;
use crate::host::{Class, InFront, Inside};
use kernel::Dur;

/// The rows that were not handed over yet.
pub(super) struct Requests {
    arrival_ns: Vec<u64>,
    latency_ns: Vec<u64>,
    operation: Vec<u8>,
    offset_bytes: Vec<u64>,
    size_bytes: Vec<u32>,
    priority: Vec<u8>,
    flow: Vec<u8>,
    /// The names of the flows, at least one.
    flows: Vec<String>,
    /// As far as the last that is not zero: most drives have most of these parts never.
    parts_ns: [Vec<u64>; PARTS],
}

impl Requests {
    /// No rows. `flows`: their names, where there are flows.
    pub(super) fn new(flows: Vec<String>) -> Self {
        let flows = if flows.is_empty() { vec!["all".into()] } else { flows };
        Self::with_room(0, flows)
    }

    /// No rows, and room for some.
    fn with_room(rows: usize, flows: Vec<String>) -> Self {
        Self {
            arrival_ns: Vec::with_capacity(rows),
            latency_ns: Vec::with_capacity(rows),
            operation: Vec::with_capacity(rows),
            offset_bytes: Vec::with_capacity(rows),
            size_bytes: Vec::with_capacity(rows),
            priority: Vec::with_capacity(rows),
            flow: Vec::with_capacity(rows),
            flows,
            parts_ns: Default::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.arrival_ns.len()
    }

    pub(super) fn push(&mut self, r: &Inside, latency: Dur, spent: &Spent, front: InFront) {
        let before = self.len();
        self.arrival_ns.push(r.arrived.as_ns());
        self.latency_ns.push(latency.as_ns());
        self.operation.push(r.class as u8);
        self.offset_bytes.push(r.offset);
        self.size_bytes.push(r.bytes);
        self.priority.push(r.prio as u8);
        self.flow.push(r.flow);
        let Spent { bus, array, ecc, buffer, .. } = *spent;
        let [controller, link] = front;
        let served = [bus, array, ecc, buffer, link, controller];
        let parts = parts_ns(r.throttle, spent.queue, served);
        for (column, part) in self.parts_ns.iter_mut().zip(parts).filter(|&(_, part)| part != 0) {
            if column.is_empty() {
                column.reserve(CHUNK);
            }
            column.resize(before, 0);
            column.push(part);
        }
    }

    /// The rows; as many may follow.
    pub(super) fn take(&mut self) -> Vec<Column> {
        let n = self.len();
        let room = Self::with_room(n, self.flows.clone());
        let rows = std::mem::replace(self, room);
        let flows: Vec<&str> = rows.flows.iter().map(String::as_str).collect();
        let mut columns = vec![
            Column::u64("arrival_ns", rows.arrival_ns),
            Column::u64("latency_ns", rows.latency_ns),
            Column::words("operation", rows.operation, &Class::ALL.map(Class::name)),
            Column::u64("offset_bytes", rows.offset_bytes),
            Column::u32("size_bytes", rows.size_bytes),
            Column::words("priority", rows.priority, &["normal", "high"]),
            Column::words("flow", rows.flow, &flows),
        ];
        let parts = part_names().into_iter().zip(rows.parts_ns);
        columns.extend(parts.map(|(name, mut values)| {
            if values.is_empty() {
                return Column { name, values: Values::Zeros(n), optional: false };
            }
            values.resize(n, 0);
            Column::u64(name, values)
        }));
        columns
    }
}

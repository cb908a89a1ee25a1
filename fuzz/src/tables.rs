//! Tables: columns as a reader of a Parquet file hands them over.

use std::path::Path;

use workload::{ColumnTable, Facts, FlowBy, Pieces, See, TableRows, TraceError, open_table};

use crate::{choice, go_through};

#[derive(Clone)]
struct Columns {
    piece: usize,
    has: usize,
    time: Vec<u64>,
    op: Vec<u8>,
    offset: Vec<u64>,
    size: Vec<u64>,
    prio: Vec<u8>,
    device: Vec<u32>,
}

impl ColumnTable for Columns {
    fn open(&self) -> Result<Box<dyn Pieces>, TraceError> {
        Ok(Box::new(Reading { columns: self.clone(), at: 0 }))
    }
}

struct Reading {
    columns: Columns,
    at: usize,
}

impl Pieces for Reading {
    fn next(&mut self, see: &mut See<'_>) -> Result<Option<()>, TraceError> {
        let c = &self.columns;
        if self.at == c.op.len() {
            return Ok(None);
        }
        let range = self.at..(self.at + c.piece).min(c.op.len());
        self.at = range.end;
        let on = |bit: usize| c.has >> bit & 1 != 0;
        see(&TableRows {
            time: on(0).then(|| &c.time[range.clone()]),
            op: &c.op[range.clone()],
            offset: &c.offset[range.clone()],
            size: &c.size[range.clone()],
            prio: on(1).then(|| &c.prio[range.clone()]),
            // Any byte is a hint.
            hint: on(1).then(|| &c.op[range.clone()]),
            device: on(2).then(|| &c.device[range.clone()]),
            flow: on(5).then(|| &c.device[range.clone()]),
        })?;
        Ok(Some(()))
    }
}

/// Bytes of a row.
const ROW: usize = 30;

/// The first byte says which columns there are, the second how many rows come at a time; then facts,
/// which are believed or not, and rows.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let (has, bytes) = choice(bytes);
    let (piece, bytes) = choice(bytes);
    let Some((facts, rows)) = bytes.split_at_checked(16) else { return false };
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let rows: Vec<&[u8]> = rows.chunks_exact(ROW).collect();
    let column = |at: usize| rows.iter().map(|r| word(&r[at..at + 8])).collect::<Vec<u64>>();
    let table = Columns {
        piece: piece + 1,
        has,
        op: rows.iter().map(|r| r[0]).collect(),
        prio: rows.iter().map(|r| r[1]).collect(),
        device: rows
            .iter()
            .map(|r| u32::from_le_bytes(r[2..6].try_into().expect("four")))
            .collect(),
        time: column(6),
        offset: column(14),
        size: column(22),
    };
    let facts = (has & 8 != 0).then(|| Facts {
        requests: word(&facts[..8]),
        span: word(&facts[8..]),
        timed: has & 1 != 0,
        origin: None,
        stand_in: None,
        flows: Vec::new(),
        notes: Vec::new(),
    });
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let by = [None, Some(FlowBy::Device), Some(FlowBy::Process), None][has >> 6];
    match open_table(path, "parquet", Box::new(table), facts, None, has & 16 != 0, by) {
        Ok(workload) => go_through(&*workload, usize::MAX).1,
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            false
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    (0..16)
        .map(|has| {
            let mut bytes = vec![has, 3];
            bytes.extend(8_u64.to_le_bytes());
            bytes.extend((1_u64 << 20).to_le_bytes());
            for i in 0..8_u64 {
                let op = (i % 5) as u8;
                // Number 3 is a flush.
                let size = if op == 3 { 0 } else { 4096_u64 };
                bytes.extend([op, (i % 2) as u8, (i % 2) as u8, 0, 0, 0]);
                bytes.extend((i * 1_000_000).to_le_bytes());
                bytes.extend((i * 8192).to_le_bytes());
                bytes.extend(size.to_le_bytes());
            }
            bytes
        })
        .collect()
}

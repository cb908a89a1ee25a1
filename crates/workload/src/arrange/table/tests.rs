//! Tables held in memory.

use super::*;
use crate::trace::drain;

/// Columns, cut into pieces of `piece` rows.
#[derive(Clone, Default)]
struct Memory {
    time: Option<Vec<u64>>,
    op: Vec<u8>,
    offset: Vec<u64>,
    size: Vec<u64>,
    prio: Option<Vec<u8>>,
    hint: Option<Vec<u8>>,
    device: Option<Vec<u32>>,
    flow: Option<Vec<u32>>,
    piece: usize,
}

impl ColumnTable for Memory {
    fn open(&self) -> Result<Box<dyn Pieces>, TraceError> {
        Ok(Box::new(Walk { table: self.clone(), done: 0 }))
    }
}

struct Walk {
    table: Memory,
    done: usize,
}

impl Pieces for Walk {
    fn next(&mut self, see: &mut See<'_>) -> Result<Option<()>, TraceError> {
        let t = &self.table;
        if self.done == t.op.len() {
            return Ok(None);
        }
        let range = self.done..t.op.len().min(self.done + t.piece);
        self.done = range.end;
        see(&TableRows {
            time: t.time.as_ref().map(|c| &c[range.clone()]),
            op: &t.op[range.clone()],
            offset: &t.offset[range.clone()],
            size: &t.size[range.clone()],
            prio: t.prio.as_ref().map(|c| &c[range.clone()]),
            hint: t.hint.as_ref().map(|c| &c[range.clone()]),
            device: t.device.as_ref().map(|c| &c[range.clone()]),
            flow: t.flow.as_ref().map(|c| &c[range.clone()]),
        })
        .map(Some)
    }
}

fn op(i: u64) -> u8 {
    (i % 5) as u8
}

fn hint(i: u64) -> u8 {
    (i * 37 % 256) as u8
}

fn rows(n: u64, piece: usize) -> Memory {
    Memory {
        time: Some((0..n).map(|i| 5_000 + i * 10_000).collect()),
        op: (0..n).map(op).collect(),
        // The offset of a flush has no meaning.
        offset: (0..n).map(|i| if op(i) == FLUSH { u64::MAX } else { i * 8192 }).collect(),
        size: (0..n).map(|i| if op(i) == FLUSH { 0 } else { 512 * (1 + i % 9) }).collect(),
        prio: Some((0..n).map(|i| u8::from(i % 5 == 0)).collect()),
        hint: Some((0..n).map(hint).collect()),
        device: None,
        flow: None,
        piece,
    }
}

/// Opens a table as if it stood in a file; its bytes are those of this crate's manifest.
fn open(table: &Memory, facts: Option<Facts>) -> Result<Box<dyn Workload>, TraceError> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    open_table(path, "parquet", Box::new(table.clone()), facts, None, false, None)
}

fn facts(requests: u64, span: u64) -> Facts {
    let (origin, stand_in, notes) = (Some(7), None, Vec::new());
    Facts { requests, span, timed: true, origin, stand_in, flows: Vec::new(), notes }
}

#[test]
fn rows_become_requests_whatever_the_pieces() {
    for piece in [1, 7, 4096, 5000, 100_000] {
        let table = rows(10_000, piece);
        let workload = open(&table, None).unwrap();
        for _ in 0..2 {
            let all = drain(&mut *workload.open().unwrap()).unwrap();
            assert_eq!(all.len(), 10_000);
            for (i, r) in (0..).zip(&all) {
                assert_eq!(r.at.as_ns(), i * 10_000, "the first arrives at zero");
                let known = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];
                assert_eq!(r.op, known[i as usize % 5]);
                let extent = if i % 5 == 3 { (0, 0) } else { (i * 8192, 512 * (1 + i % 9)) };
                assert_eq!((r.offset, u64::from(r.len)), extent);
                assert_eq!(r.prio == Prio::High, i % 5 == 0);
                assert_eq!(r.hint, if i % 5 == 3 { 0 } else { hint(i) });
            }
        }
        let about = workload.about();
        let span = (0..10_000_u64).map(|i| i * 8192 + 512 * (1 + i % 9)).max();
        assert_eq!((about.requests, about.span, about.timed), (Some(10_000), span, true));
        assert_eq!(workload.origin(), Some(5_000));
        assert_eq!(about.sha256.as_ref().map(String::len), Some(64));
    }
}

#[test]
fn devices_lie_side_by_side_and_without_times_nothing_is_timed() {
    let mut table = rows(9, 4);
    table.device = Some((0..9).map(|i| [7, 2, 9][i % 3]).collect());
    table.time = None;
    let workload = open(&table, None).unwrap();
    assert!(!workload.about().timed);
    let all = drain(&mut *workload.open().unwrap()).unwrap();
    for (i, r) in (0..).zip(&all) {
        let region = [1 << 20, 0, 2 << 20][i as usize % 3];
        let offset = if i % 5 == 3 { 0 } else { region + i * 8192 };
        assert_eq!((r.at, r.offset), (Time::ZERO, offset), "row {i}");
    }
    assert!(workload.about().notes[0].contains("3 devices"));
}

#[test]
fn a_device_that_is_only_flushed_takes_no_room() {
    let mut table = rows(10, 4);
    // The flushes are the rows 3 and 8.
    table.device = Some((0..10).map(|i| if i % 5 == 3 { 1 } else { 2 * (i / 5) }).collect());
    let workload = open(&table, None).unwrap();
    assert!(workload.about().notes[0].contains("2 devices"), "{:?}", workload.about().notes);
    assert_eq!(workload.about().span, Some((1 << 20) + 9 * 8192 + 512));
    table.op = vec![FLUSH; 10];
    table.size = vec![0; 10];
    let about = open(&table, None).unwrap().about().clone();
    assert_eq!((about.requests, about.span), (Some(10), Some(0)));
}

#[test]
fn what_a_file_says_of_itself_is_believed_and_held_to() {
    let table = rows(5000, 999);
    let span = open(&table, None).unwrap().about().span.unwrap();
    let read = |facts| {
        let workload = open(&table, Some(facts))?;
        drain(&mut *workload.open()?).map(|all| (workload.origin(), all))
    };
    let (origin, all) = read(facts(5000, span)).unwrap();
    assert_eq!((origin, all.len()), (Some(7), 5000));
    assert_eq!(all[0].at.as_ns(), 5_000, "its times are already those of the workload");
    for (wrong, word) in [
        (facts(4999, span), "5000 rows"),
        (facts(5001, span), "5000 rows"),
        (facts(5000, span - 1), "row "),
        (facts(5000, 8192 * 17), "row 18"),
        (facts(0, span), "no row"),
    ] {
        let e = read(wrong).unwrap_err().to_string();
        assert!(e.contains(word), "{e}");
    }
}

#[test]
fn a_bad_row_is_named_wherever_it_stands() {
    type Break = fn(&mut Memory, usize);
    let breaks: [(Break, &str); 10] = [
        (|t, i| t.op[i] = 5, "the operation 5"),
        (|t, i| (t.op[i], t.size[i]) = (3, 512), "a flush of 512 bytes"),
        (|t, i| t.prio.as_mut().unwrap()[i] = 2, "priority"),
        (|t, i| (t.op[i], t.size[i]) = (4, 0), "size 0"),
        (|t, i| (t.op[i], t.size[i]) = (1, (4 << 30) + 1), "4 GiB"),
        (|t, i| (t.op[i], t.size[i]) = (0, 51 << 30), "4 GiB in one read or write"),
        (|t, i| (t.op[i], t.size[i]) = (2, (1 << 50) + 1), "1 PiB in one trim"),
        (|t, i| (t.op[i], t.size[i], t.offset[i]) = (0, 512, u64::MAX), "1 PiB"),
        (|t, i| t.time.as_mut().unwrap()[i] = 1, "backwards"),
        (|t, i| t.time.as_mut().unwrap()[i] = u64::MAX, "146 years"),
    ];
    for (break_it, word) in breaks {
        for i in [1, 999, 1000, 2500] {
            let mut table = rows(3000, 1000);
            break_it(&mut table, i);
            let e = open(&table, None).err().unwrap().to_string();
            let row = format!("row {}:", i + 1);
            assert!(e.contains(&row) && e.contains(word) && e.contains("expected"), "{e}");
        }
    }
}

#[test]
fn a_clock_that_cannot_be_meant_is_refused() {
    let mut table = rows(3000, 1000);
    table.time = Some((0..3000).collect());
    let e = open(&table, None).err().unwrap().to_string();
    assert!(e.contains("million requests"), "{e}");
}

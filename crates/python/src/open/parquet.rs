//! Parquet files: polars reads them, and hands pieces of some hundred thousand rows over as columns
//! of numpy. `python/floatgate/workloads/parquet.py` is the other side.

use std::path::Path;
use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use ssd::workload::{
    ColumnTable, Detail, Facts, Flow, FlowBy, Pieces, ReadTally, See, Spot, StandIn, TableRows,
    TimeUnit, TraceError, TracePlace, Workload, open_table,
};

use super::OpenSpec;
use crate::error::{InternalError, of_trace};

/// The name of the format.
pub(crate) const FORMAT: &str = "parquet";
pub(crate) const SUMMARY: &str = "columns time_ns, op, offset, size, prio, hint, or others named with --columns (floatgate, polars)";

/// `floatgate.workloads.parquet.open_table`.
#[derive(Clone)]
pub(crate) struct Opener(Arc<Py<PyAny>>);

impl Opener {
    pub(crate) fn new(callable: Py<PyAny>) -> Self {
        Self(Arc::new(callable))
    }
}

/// The same for any object: its content names runs.
impl std::fmt::Debug for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opener")
    }
}

/// Whether a file is one of these, by its name or by its first bytes.
pub(crate) fn is_one(path: &Path) -> bool {
    use std::io::Read;

    let mut head = [0; 4];
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(FORMAT))
        || path.is_file()
            && std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut head)).is_ok()
            && head == *b"PAR1"
}

/// The metadata of the file: requests, span, whether they have times, the recorded time of the
/// first, and notes. A stand-in has model, version and source. Each flow has its name, weight,
/// depth and region.
type Statement = (
    u64,
    u64,
    bool,
    Option<u64>,
    Option<(String, String, String)>,
    Vec<String>,
    Vec<(String, u32, Option<u32>, (u64, u64))>,
);

/// Opens the table, as far as its beginning and end describe it.
fn opened(path: &Path, spec: &OpenSpec) -> PyResult<(File, Option<Facts>)> {
    let name: Arc<str> =
        path.file_name().map_or_else(|| "table".into(), |n| n.to_string_lossy().into());
    let looked = Python::try_attach(|py| {
        let options = spec.options();
        let unit = options.time_unit.map(TimeUnit::name);
        let words = (
            path.to_string_lossy().into_owned(),
            spec.columns(),
            unit,
            options.devices.clone(),
            options.event.is_some(),
            options.process.is_some(),
            options.skip_bad,
            options.flow_by.map(FlowBy::name),
        );
        let opened = spec.opener().0.call1(py, words)?;
        let facts = opened.getattr(py, "facts")?.extract::<Option<Statement>>(py)?;
        Ok((opened, facts))
    });
    let (opened, facts) =
        looked.unwrap_or_else(|| Err(InternalError::new_err("Python has ended")))?;
    let facts = facts.map(|(requests, span, timed, origin, stand_in, notes, flows)| Facts {
        requests,
        span,
        timed,
        origin,
        stand_in: stand_in.map(|(model, version, fitted_to)| StandIn { model, version, fitted_to }),
        flows: flows
            .into_iter()
            .map(|(name, weight, depth, region)| Flow { name, weight, depth, region })
            .collect(),
        notes,
    });
    let tally = spec.tally();
    Ok((File { name, opened: Arc::new(opened), tally }, facts))
}

/// Opens the workload in the file at `path`.
pub(crate) fn open(path: &Path, spec: &OpenSpec) -> PyResult<Box<dyn Workload>> {
    let (file, facts) = opened(path, spec)?;
    let any_clock = spec.options().time_unit.is_some();
    let by = spec.options().flow_by;
    open_table(path, FORMAT, Box::new(file), facts, spec.said(), any_clock, by)
        .map_err(|e| of_trace(&e))
}

/// Finds mistakes of the file as far as its metadata shows them.
pub(crate) fn glance(path: &Path, spec: &OpenSpec) -> PyResult<()> {
    opened(path, spec).map(drop)
}

/// One file. `opened` is a `floatgate.workloads.parquet.Opened`.
struct File {
    name: Arc<str>,
    opened: Arc<Py<PyAny>>,
    tally: ReadTally,
}

impl ColumnTable for File {
    fn open(&self) -> Result<Box<dyn Pieces>, TraceError> {
        let pieces = attached(&self.name, |py| self.opened.call_method0(py, "pieces"))?;
        let tally = self.tally.clone();
        Ok(Box::new(ParquetPieces { name: Arc::clone(&self.name), pieces, tally }))
    }

    fn device(&self, number: u32) -> String {
        self.called("device", number)
    }

    fn process(&self, number: u32) -> String {
        self.called("process", number)
    }
}

impl File {
    /// The name of a device or a process in the file.
    fn called(&self, what: &str, number: u32) -> String {
        let label =
            attached(&self.name, |py| self.opened.call_method1(py, what, (number,))?.extract(py));
        label.unwrap_or_else(|_| number.to_string())
    }
}

/// One way through a file. `pieces` is a `floatgate.workloads.parquet.Pieces`.
struct ParquetPieces {
    name: Arc<str>,
    pieces: Py<PyAny>,
    tally: ReadTally,
}

/// A column of a piece.
type Array<'py, T> = PyReadonlyArray1<'py, T>;
/// Time, operation, offset, size, priority, hint, device, flow or process.
type Piece<'py> = (
    Option<Array<'py, u64>>,
    Array<'py, u8>,
    Array<'py, u64>,
    Array<'py, u64>,
    Option<Array<'py, u8>>,
    Option<Array<'py, u8>>,
    Option<Array<'py, u32>>,
    Option<Array<'py, u32>>,
);

impl Pieces for ParquetPieces {
    fn next(&mut self, see: &mut See<'_>) -> Result<Option<()>, TraceError> {
        attached(&self.name, |py| {
            let piece = self.pieces.call_method0(py, "next")?;
            let Some((time, op, offset, size, prio, hint, device, flow)) =
                piece.extract::<Option<Piece<'_>>>(py)?
            else {
                return Ok(None);
            };
            let rows = TableRows {
                time: time.as_ref().map(Array::as_slice).transpose()?,
                op: op.as_slice()?,
                offset: offset.as_slice()?,
                size: size.as_slice()?,
                prio: prio.as_ref().map(Array::as_slice).transpose()?,
                hint: hint.as_ref().map(Array::as_slice).transpose()?,
                device: device.as_ref().map(Array::as_slice).transpose()?,
                flow: flow.as_ref().map(Array::as_slice).transpose()?,
            };
            self.tally.add(rows.op.len() as u64);
            Ok(Some(see(&rows)))
        })?
        .transpose()
    }
}

/// The rest is not read.
impl Drop for ParquetPieces {
    fn drop(&mut self) {
        let _ = attached(&self.name, |py| self.pieces.call_method0(py, "close"));
    }
}

/// Calls Python; an exception becomes an error with its place.
fn attached<T>(
    name: &Arc<str>,
    call: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>,
) -> Result<T, TraceError> {
    let fail = |spot, found: String, expected: String, hint: String| {
        let place = TracePlace { file: Arc::clone(name), spot };
        TraceError::File(Box::new(Detail { place, found, expected, hint }))
    };
    let ended =
        || fail(Spot::Whole, "Python has ended".into(), "an interpreter".into(), String::new());
    Python::try_attach(|py| {
        call(py).map_err(|e| {
            // A `floatgate.workloads.parquet.TableError`.
            type Said = (Option<u64>, String, String, String);
            let said = e.value(py).getattr("said").and_then(|said| said.extract::<Said>());
            match said {
                Ok((row, found, expected, hint)) => {
                    fail(row.map_or(Spot::Whole, Spot::Row), found, expected, hint)
                }
                Err(_) => fail(
                    Spot::Whole,
                    format!("it cannot be read ({e})"),
                    "a Parquet file".into(),
                    "is it whole?".into(),
                ),
            }
        })
    })
    .unwrap_or_else(|| Err(ended()))
}

//! Rows on their way through Python: from the engine to a file, or to arrays of numpy and back.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use ssd::record::{Column, RunTable, Values};
use tables::Writer;

use crate::error::InternalError;

/// Name, values, the words that the values are positions in, and whether a row may lack its value.
/// A missing value is the greatest number, or not a number.
type Given<'py> = (String, Bound<'py, PyAny>, Option<Vec<String>>, bool);

/// Some rows of a table. They are given away once.
#[pyclass(frozen, module = "floatgate._core")]
pub(crate) struct Rows(Mutex<Vec<Column>>);

#[pymethods]
impl Rows {
    #[new]
    fn new(columns: Vec<Given<'_>>) -> PyResult<Self> {
        let column = |(name, values, words, optional): Given<'_>| {
            Ok(Column { name, values: taken(&values, words)?, optional })
        };
        Ok(Self::of(columns.into_iter().map(column).collect::<PyResult<_>>()?))
    }

    fn __len__(&self) -> usize {
        self.columns().first().map_or(0, |column| column.values.len())
    }

    /// The columns as arrays, which take over the memory as it is, by name.
    fn arrays<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyAny>)> {
        let array = |values| match values {
            Values::Zeros(n) => vec![0_u64; n].into_pyarray(py).into_any(),
            Values::U32(values) => values.into_pyarray(py).into_any(),
            Values::U64(values) => values.into_pyarray(py).into_any(),
            Values::F64(values) => values.into_pyarray(py).into_any(),
            Values::Words(codes, _) => codes.into_pyarray(py).into_any(),
        };
        self.take().into_iter().map(|column| (column.name, array(column.values))).collect()
    }
}

impl Rows {
    fn of(columns: Vec<Column>) -> Self {
        Self(Mutex::new(columns))
    }

    fn columns(&self) -> MutexGuard<'_, Vec<Column>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Column> {
        std::mem::take(&mut self.columns())
    }
}

/// The values of an array of numpy.
fn taken(values: &Bound<'_, PyAny>, words: Option<Vec<String>>) -> PyResult<Values> {
    if let Some(words) = words {
        let codes: PyReadonlyArray1<'_, u8> = values.extract()?;
        return Ok(Values::Words(codes.as_slice()?.to_vec(), words));
    }
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, u64>>() {
        return Ok(Values::U64(values.as_slice()?.to_vec()));
    }
    if let Ok(values) = values.extract::<PyReadonlyArray1<'_, u32>>() {
        return Ok(Values::U32(values.as_slice()?.to_vec()));
    }
    Err(PyTypeError::new_err("a column is an array of uint64 or uint32, or words by uint8"))
}

/// Calls `take` with the name of a table and some rows of it.
pub(crate) fn hand_over(
    py: Python<'_>,
    take: &Py<PyAny>,
    table: RunTable,
    columns: Vec<Column>,
) -> PyResult<()> {
    py.check_signals()?;
    take.call1(py, (table.name(), Rows::of(columns))).map(drop)
}

/// A Parquet file that a thread writes while its rows come in.
#[pyclass(frozen, module = "floatgate._core")]
pub(crate) struct TableFile(Mutex<State>);

enum State {
    Writes(RowWriter),
    /// Or was given up.
    Ended,
}

/// The thread, and the way to it.
struct RowWriter {
    rows: SyncSender<Said>,
    thread: JoinHandle<io::Result<()>>,
}

enum Said {
    Rows(Vec<Column>),
    End(Vec<(String, String)>),
}

#[pymethods]
impl TableFile {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let file = File::create(path).map_err(|e| of_io(&e))?;
        let (rows, received) = sync_channel(1);
        let thread = thread::Builder::new().name("table".into()).spawn(move || {
            let mut writer = Writer::new(BufWriter::new(file));
            loop {
                match received.recv() {
                    Ok(Said::Rows(columns)) => writer.write(&columns)?,
                    Ok(Said::End(metadata)) => return writer.finish(&metadata).map(drop),
                    // It is given up.
                    Err(_) => return Ok(()),
                }
            }
        })?;
        Ok(Self(Mutex::new(State::Writes(RowWriter { rows, thread }))))
    }

    /// Adds rows. Waits while others are being written.
    fn put(&self, py: Python<'_>, rows: &Rows) -> PyResult<()> {
        let columns = rows.take();
        py.detach(|| {
            let mut state = self.state();
            let State::Writes(work) = &*state else { return Err(ended()) };
            match work.rows.send(Said::Rows(columns)) {
                Ok(()) => Ok(()),
                Err(_) => outcome(std::mem::replace(&mut *state, State::Ended), None),
            }
        })
    }

    /// Writes the file's own description, and waits until everything is written.
    fn finish(&self, py: Python<'_>, metadata: Vec<(String, String)>) -> PyResult<()> {
        py.detach(|| outcome(std::mem::replace(&mut *self.state(), State::Ended), Some(metadata)))
    }

    /// Stops writing, unless everything is already written.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| {
            if let State::Writes(RowWriter { rows, thread }) =
                std::mem::replace(&mut *self.state(), State::Ended)
            {
                drop(rows);
                let _ = thread.join();
            }
        });
    }
}

impl TableFile {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of a file, once its thread has ended; `metadata` ends it.
fn outcome(state: State, metadata: Option<Vec<(String, String)>>) -> PyResult<()> {
    let State::Writes(RowWriter { rows, thread }) = state else { return Err(ended()) };
    if let Some(metadata) = metadata {
        // If the thread receives nothing any more, it has failed; the reason follows below.
        let _ = rows.send(Said::End(metadata));
    }
    drop(rows);
    match thread.join() {
        Ok(written) => written.map_err(|e| of_io(&e)),
        Err(_) => Err(InternalError::new_err("a table was not written")),
    }
}

fn ended() -> PyErr {
    InternalError::new_err("rows for a file that has ended")
}

/// As Python's own functions raise it: with the number of the error.
fn of_io(error: &io::Error) -> PyErr {
    let said = error.to_string();
    let words = said.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((error.raw_os_error(), words))
}

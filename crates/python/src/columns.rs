//! Columns on their way to Python: as arrays of numpy, which take over the memory as it is.

use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PySlice;
use ssd::record::{CHUNK, Column, Table, Values};

/// Calls `take` with the name of a table and some rows of it: for each column its name, an array,
/// the words that the array counts through (or none), and whether rows may lack a value.
pub(crate) fn hand_over(
    py: Python<'_>,
    take: &Py<PyAny>,
    table: Table,
    columns: Vec<Column>,
) -> PyResult<()> {
    // Ctrl-C is heard here: numpy's own first steps cannot fail.
    py.check_signals()?;
    let column = |Column { name, values, optional }: Column| {
        let (array, words) = match values {
            Values::Zeros(n) => (zeros(py, n)?, None),
            Values::U32(values) => (values.into_pyarray(py).into_any(), None),
            Values::U64(values) => (values.into_pyarray(py).into_any(), None),
            Values::F64(values) => (values.into_pyarray(py).into_any(), None),
            Values::Words(codes, words) => (codes.into_pyarray(py).into_any(), Some(words)),
        };
        Ok((name, array, words, optional))
    };
    let columns = columns.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
    take.call1(py, (table.name(), columns)).map(drop)
}

/// An array of `n` zeros, at most [`CHUNK`], which nobody can write to: all such lie in one place.
fn zeros(py: Python<'_>, n: usize) -> PyResult<Bound<'_, PyAny>> {
    static ALL: PyOnceLock<Py<PyArray1<u64>>> = PyOnceLock::new();
    let all = ALL.get_or_init(py, || {
        let all = PyArray1::zeros(py, CHUNK, false);
        all.readwrite().make_nonwriteable();
        all.unbind()
    });
    assert!(n <= CHUNK, "{n} rows at once");
    all.bind(py).get_item(PySlice::new(py, 0, n.cast_signed(), 1))
}

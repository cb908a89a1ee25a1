//! Columns on their way to Python: as arrays of numpy, which take over the memory as it is.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use ssd::record::{Column, Table, Values};

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
            Values::U32(values) => (values.into_pyarray(py).into_any(), None),
            Values::U64(values) => (values.into_pyarray(py).into_any(), None),
            Values::F64(values) => (values.into_pyarray(py).into_any(), None),
            Values::Words(codes, words) => (codes.into_pyarray(py).into_any(), Some(words)),
        };
        (name, array, words, optional)
    };
    let columns: Vec<_> = columns.into_iter().map(column).collect();
    take.call1(py, (table.name(), columns)).map(drop)
}

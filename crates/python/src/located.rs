//! TOML with the lines of its keys, for the files that the package reads itself.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Located<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<(usize, String)>);

/// What a text of TOML holds: tables, lists, texts, numbers and truth values as Python has them; the
/// line, from 1, in which each key and each element of a list begins, by the way to it, keys and
/// positions; and what is wrong, by line: then the others are not whole.
#[pyfunction]
pub(crate) fn located<'py>(py: Python<'py>, text: &str) -> PyResult<Located<'py>> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut reader = Reader { py, starts, lines: PyDict::new(py), wrong: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        // What is missing at the end is missing behind the last that is there.
        let at = error.span().map_or(0, |span| span.start).min(text.trim_end().len());
        let line = reader.line(at);
        reader.wrong.push((line, format!("this is not TOML: {}", error.message())));
    }
    // The parser goes on after an error: what is in the text then is guessed.
    let value =
        if errors.is_empty() { reader.table(table.into_inner(), &[])? } else { PyDict::new(py) };
    // A second error on the same line is only an echo of the first.
    reader.wrong.sort_by_key(|(line, _)| *line);
    reader.wrong.dedup_by_key(|(line, _)| *line);
    Ok((value, reader.lines, reader.wrong))
}

struct Reader<'py> {
    py: Python<'py>,
    /// Where each line but the first begins.
    starts: Vec<usize>,
    lines: Bound<'py, PyDict>,
    wrong: Vec<(usize, String)>,
}

impl<'py> Reader<'py> {
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) + 1
    }

    fn table(
        &mut self,
        table: DeTable<'_>,
        path: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let values = PyDict::new(self.py);
        for (key, value) in entries {
            let line = self.line(key.span().start);
            let key = key.into_inner().into_pyobject(self.py)?.into_any();
            values.set_item(&key, self.entry(value, line, path, &key)?)?;
        }
        Ok(values)
    }

    /// A value at a key or a position of what lies at `path`.
    fn entry(
        &mut self,
        value: Spanned<DeValue<'_>>,
        line: usize,
        path: &[Bound<'py, PyAny>],
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut path = path.to_vec();
        path.push(key.clone());
        self.lines.set_item(PyTuple::new(self.py, &path)?, line)?;
        let (py, written) = (self.py, self.line(value.span().start));
        Ok(match value.into_inner() {
            DeValue::String(text) => text.into_pyobject(py)?.into_any(),
            DeValue::Boolean(answer) => answer.into_pyobject(py)?.to_owned().into_any(),
            DeValue::Table(table) => self.table(table, &path)?.into_any(),
            DeValue::Array(items) => {
                let list = PyList::empty(py);
                for (at, item) in items.into_iter().enumerate() {
                    let line = self.line(item.span().start);
                    list.append(self.entry(
                        item,
                        line,
                        &path,
                        &at.into_pyobject(py)?.into_any(),
                    )?)?;
                }
                list.into_any()
            }
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => n.into_pyobject(py)?.into_any(),
                Err(_) => self.refuse(written, "this is no whole number of 64 bits"),
            },
            DeValue::Float(x) => match x.as_str().parse::<f64>() {
                Ok(x) => x.into_pyobject(py)?.into_any(),
                Err(_) => self.refuse(written, "this is no number; text needs quotes"),
            },
            DeValue::Datetime(_) => self.refuse(written, "a date needs quotes, as text"),
        })
    }

    fn refuse(&mut self, line: usize, why: &str) -> Bound<'py, PyAny> {
        self.wrong.push((line, why.to_owned()));
        self.py.None().into_bound(self.py)
    }
}

//! TOML with the lines of its keys, for the files that the package reads itself.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use ssd::config::{self, ConfigErrorKind, Mark, Node, TextPlace, TomlTable, Value};

type Located<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<(usize, String)>);

/// The content of a TOML text: tables, lists, texts, numbers and truth values as Python values.
/// Then the line, from 1, in which each key and each element of a list begins, by its path of keys
/// and positions. Then the mistakes, by line; with mistakes, the others are not complete.
#[pyfunction]
pub(crate) fn located<'py>(py: Python<'py>, text: &str) -> PyResult<Located<'py>> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut reader = Reader { py, starts, lines: PyDict::new(py), wrong: Vec::new() };
    let (table, wrong) = config::located(text);
    for error in wrong {
        let Mark { place, label } = &error.marks[0];
        let (at, why) = match error.kind {
            // A missing end is reported after the last existing part.
            ConfigErrorKind::Syntax => {
                let at = place.start().min(text.trim_end().len());
                (at, format!("{}: {label}", error.message))
            }
            // All else that looks like a value is one.
            _ => (place.start(), "this is not a whole number of 64 bits".to_owned()),
        };
        reader.wrong.push((reader.line(at), why));
    }
    let value = reader.table(table, &[])?;
    // A second error on the same line is only an echo of the first.
    reader.wrong.sort_by_key(|(line, _)| *line);
    reader.wrong.dedup_by_key(|(line, _)| *line);
    Ok((value, reader.lines, reader.wrong))
}

struct Reader<'py> {
    py: Python<'py>,
    /// The beginning of each line but the first.
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
        table: TomlTable,
        path: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut entries: Vec<_> = table.0.into_iter().collect();
        entries.sort_by_key(|(_, entry)| entry.key.start());
        let values = PyDict::new(self.py);
        for (key, entry) in entries {
            let key = key.into_pyobject(self.py)?.into_any();
            values.set_item(&key, self.value(entry.node, &entry.key, path, &key)?)?;
        }
        Ok(values)
    }

    /// A value at a key or a position of the file at `path`, which begins at `place`.
    fn value(
        &mut self,
        node: Node,
        place: &TextPlace,
        path: &[Bound<'py, PyAny>],
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path = [path, std::slice::from_ref(key)].concat();
        self.lines.set_item(PyTuple::new(self.py, &path)?, self.line(place.start()))?;
        let py = self.py;
        Ok(match node.value {
            Value::Text(text) => text.into_pyobject(py)?.into_any(),
            Value::Bool(answer) => answer.into_pyobject(py)?.to_owned().into_any(),
            Value::Int(n) => n.into_pyobject(py)?.into_any(),
            Value::Float(x) => x.into_pyobject(py)?.into_any(),
            Value::Table(table) => self.table(table, &path)?.into_any(),
            Value::List(nodes) => {
                let list = PyList::empty(py);
                for (at, node) in nodes.into_iter().enumerate() {
                    let (place, at) = (node.place.clone(), at.into_pyobject(py)?.into_any());
                    list.append(self.value(node, &place, &path, &at)?)?;
                }
                list.into_any()
            }
            Value::Date(_) => {
                let line = self.line(node.place.start());
                self.wrong.push((line, "a date needs quotes, as text".to_owned()));
                py.None().into_bound(py)
            }
        })
    }
}

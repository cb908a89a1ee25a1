//! A drive file as a tree in which every key and value knows its place.

use super::error::{ConfigError, Kind, Log};
use super::text::{Place, Text};
use std::collections::BTreeMap;
use std::num::IntErrorKind;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A value as TOML has it.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// A table: key, where the key stands, and its value.
#[derive(Clone, Default, Debug)]
pub(crate) struct Table(pub(crate) BTreeMap<String, Entry>);

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Place,
    pub(crate) node: Node,
}

impl Node {
    /// What the value is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "text",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a section",
        }
    }

    /// The value as JSON; dates become text.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(t) | Value::Date(t) => t.as_str().into(),
            Value::Int(n) => (*n).into(),
            Value::Float(x) => (*x).into(),
            Value::Bool(b) => (*b).into(),
            Value::List(nodes) => nodes.iter().map(Self::to_json).collect::<Vec<_>>().into(),
            Value::Table(table) => table.to_json().into(),
        }
    }

    /// The first number within that JSON cannot hold: an infinity, or not a number.
    pub(crate) fn not_finite(&self) -> Option<&Self> {
        match &self.value {
            Value::Float(x) if !x.is_finite() => Some(self),
            Value::List(nodes) => nodes.iter().find_map(Self::not_finite),
            Value::Table(table) => table.0.values().find_map(|e| e.node.not_finite()),
            _ => None,
        }
    }
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(key).map(|entry| &entry.node)
    }

    /// The value at a path such as `ftl.gc.start`.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        match path.split_once('.') {
            None => self.get(path),
            Some((key, rest)) => match &self.get(key)?.value {
                Value::Table(inner) => inner.at(rest),
                _ => None,
            },
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<(&str, &Place)> {
        match self.get(key)? {
            Node { place, value: Value::Text(text) } => Some((text, place)),
            _ => None,
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.iter().map(|(key, entry)| (key.clone(), entry.node.to_json())).collect()
    }

    /// Puts `high` over this table: tables merge, everything else is replaced.
    pub(crate) fn overlay(&mut self, high: Table) {
        for (key, entry) in high.0 {
            match (self.0.get_mut(&key), entry) {
                (
                    Some(Entry { node: Node { value: Value::Table(low), .. }, .. }),
                    Entry { node: Node { value: Value::Table(high), .. }, .. },
                ) => low.overlay(high),
                (_, entry) => {
                    self.0.insert(key, entry);
                }
            }
        }
    }

    /// Every value that is not a table, with its path.
    pub(crate) fn leaves<'a>(&'a self, path: &str, out: &mut Vec<(String, &'a Node)>) {
        for (key, entry) in &self.0 {
            let path = join(path, key);
            match &entry.node.value {
                Value::Table(table) => table.leaves(&path, out),
                _ => out.push((path, &entry.node)),
            }
        }
    }
}

/// `a.b` of `a` and `b`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Reads a text; a text that is not TOML is reported and gives nothing.
pub(crate) fn parse(text: &Arc<Text>, log: &mut Log) -> Option<Table> {
    let (table, errors) = DeTable::parse_recoverable(&text.body);
    let mut lines = Vec::new();
    for error in &errors {
        let place = Place::new(text, error.span().unwrap_or(0..0));
        // The parser goes on after an error; a second one on the same line is only its echo.
        if !lines.contains(&place.line()) {
            lines.push(place.line());
            log.push(
                ConfigError::new(Kind::Syntax, "this is not TOML").at(&place, error.message()),
            );
        }
    }
    if !errors.is_empty() {
        return None;
    }
    let before = log.len();
    let table = convert_table(table.into_inner(), text, 0, log);
    (log.len() == before).then_some(table)
}

/// Reads part of a command-line argument as a value: as TOML where it is that, else as text.
pub(crate) fn parse_value(text: &Arc<Text>, range: std::ops::Range<usize>, log: &mut Log) -> Node {
    let word = &text.body[range.clone()];
    let plain =
        || Node { place: Place::new(text, range.clone()), value: Value::Text(word.to_owned()) };
    if word.contains('\n') {
        return plain();
    }
    // The parser takes `25GiB` for a number that is yet to be looked at.
    match DeValue::parse(word).map(|value| (is_sound(value.get_ref()), value)) {
        Ok((true, value)) => convert(value, text, range.start, log),
        _ => plain(),
    }
}

fn convert_table(table: DeTable<'_>, text: &Arc<Text>, shift: usize, log: &mut Log) -> Table {
    let mut entries = BTreeMap::new();
    for (key, value) in table {
        let place = Place::new(text, moved(key.span(), shift));
        let node = convert(value, text, shift, log);
        entries.insert(key.into_inner().into_owned(), Entry { key: place, node });
    }
    Table(entries)
}

fn convert(value: Spanned<DeValue<'_>>, text: &Arc<Text>, shift: usize, log: &mut Log) -> Node {
    let place = Place::new(text, moved(value.span(), shift));
    let value = match value.into_inner() {
        DeValue::String(s) => Value::Text(s.into_owned()),
        DeValue::Integer(n) => Value::Int(whole(&n).unwrap_or_else(|why| {
            let error = ConfigError::new(Kind::Value, "this is not a whole number");
            let label = match why {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                    format!("whole numbers lie between {} and {}", i64::MIN, i64::MAX)
                }
                _ => "text needs quotes".to_owned(),
            };
            log.push(error.at(&place, label));
            0
        })),
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or_else(|_| {
            let error = ConfigError::new(Kind::Value, "this is not a number");
            log.push(error.at(&place, "text needs quotes"));
            0.0
        })),
        DeValue::Boolean(b) => Value::Bool(b),
        DeValue::Datetime(d) => Value::Date(d.to_string()),
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|v| convert(v, text, shift, log)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(table, text, shift, log)),
    };
    Node { place, value }
}

fn whole(n: &DeInteger<'_>) -> Result<i64, IntErrorKind> {
    i64::from_str_radix(n.as_str(), n.radix()).map_err(|e| *e.kind())
}

/// Whether a value on the command line is what it looks like, and not text.
fn is_sound(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Integer(n) => !matches!(whole(n), Err(IntErrorKind::InvalidDigit)),
        DeValue::Float(x) => x.as_str().parse::<f64>().is_ok(),
        DeValue::Datetime(_) => false,
        _ => true,
    }
}

fn moved(range: std::ops::Range<usize>, by: usize) -> std::ops::Range<usize> {
    range.start + by..range.end + by
}

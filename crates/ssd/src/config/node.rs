//! TOML as a tree in which every key and value knows its place.

use super::error::{ConfigError, ConfigErrorKind, Log};
use super::text::{Origin, Text, TextPlace};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::IntErrorKind;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its place.
    pub place: TextPlace,
    /// Its value.
    pub value: Value,
}

/// A value as TOML has it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(TomlTable),
}

/// A table, by key.
#[derive(Clone, Default, Debug)]
pub struct TomlTable(pub BTreeMap<String, KeyEntry>);

/// One key of a table.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// The place of the key.
    pub key: TextPlace,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The kind of the value, for messages.
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

    pub(crate) fn table(&self) -> Option<&TomlTable> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// A key of a table.
    pub(crate) fn key(&self, key: &str) -> Option<&KeyEntry> {
        self.table()?.0.get(key)
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

impl TomlTable {
    /// A table of one key.
    pub(crate) fn one(key: &str, place: &TextPlace, node: Node) -> Self {
        Self([(key.to_owned(), KeyEntry { key: place.clone(), node })].into())
    }

    /// The key at a path such as `ftl.gc.start`.
    pub(crate) fn entry(&self, path: &str) -> Option<&KeyEntry> {
        match path.split_once('.') {
            None => self.0.get(path),
            Some((key, rest)) => self.0.get(key)?.node.table()?.entry(rest),
        }
    }

    /// The value at a path.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        self.entry(path).map(|entry| &entry.node)
    }

    /// The path and the value of a field of the section at `path`, which this is.
    pub(crate) fn field(&self, path: &str, name: &str) -> (String, Option<&Node>) {
        let key = name.replace('_', "-");
        (join(path, &key), self.0.get(&key).map(|entry| &entry.node))
    }

    /// Takes out the key at a path.
    pub(crate) fn remove(&mut self, path: &str) -> Option<KeyEntry> {
        match path.split_once('.') {
            None => self.0.remove(path),
            Some((key, rest)) => self.section(key)?.remove(rest),
        }
    }

    /// The table under a key.
    pub(crate) fn section(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.0.get_mut(key)?.node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<(&str, &TextPlace)> {
        match self.at(key)? {
            Node { place, value: Value::Text(text) } => Some((text, place)),
            _ => None,
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.iter().map(|(key, entry)| (key.clone(), entry.node.to_json())).collect()
    }

    /// Puts `high` over this table: tables merge, everything else is replaced.
    pub(crate) fn overlay(&mut self, high: Self) {
        for (key, mut entry) in high.0 {
            match (self.section(&key), &mut entry.node.value) {
                (Some(low), Value::Table(high)) => low.overlay(std::mem::take(high)),
                _ => drop(self.0.insert(key, entry)),
            }
        }
    }

    /// Every value that is not a table, with its path.
    pub(crate) fn leaves(&self) -> Vec<(String, &KeyEntry)> {
        let entries = self.0.iter();
        let leaves = entries.flat_map(|(key, entry)| match &entry.node.value {
            Value::Table(table) => {
                table.leaves().into_iter().map(|(path, leaf)| (join(key, &path), leaf)).collect()
            }
            _ => vec![(key.clone(), entry)],
        });
        leaves.collect()
    }
}

/// `a.b` of `a` and `b`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The values of a text of TOML, and its mistakes. If there are mistakes, the values are
/// incomplete.
pub fn located(body: &str) -> (TomlTable, Vec<ConfigError>) {
    parse(&Text::new("", body, Origin::File, 0))
}

/// The most lines shown of a text that is not TOML. In a file of another kind every line is wrong.
const MOST_WRONG_LINES: usize = 10;

pub(crate) fn parse(text: &Arc<Text>) -> (TomlTable, Vec<ConfigError>) {
    let (table, errors) = DeTable::parse_recoverable(&text.body);
    let reading = Reading { text, shift: 0, log: &Log::default() };
    let mut lines = Vec::new();
    for error in &errors {
        let place = reading.place(error.span().unwrap_or(0..0));
        // The parser goes on after an error; a second one on the same line is only its echo.
        if !lines.contains(&place.line()) {
            if lines.len() == MOST_WRONG_LINES {
                break;
            }
            lines.push(place.line());
            let (kind, message) = (ConfigErrorKind::Syntax, "this is not TOML");
            reading.log.push(ConfigError::new(kind, message, &place, error.message()));
        }
    }
    // The values of a text that is not TOML are guesses.
    let guessed = !errors.is_empty();
    let table = if guessed { TomlTable::default() } else { reading.table(table.into_inner()) };
    (table, reading.log.errors())
}

/// The tree of a text that is included in floatgate.
pub(crate) fn built_in(body: &str) -> TomlTable {
    let (table, wrong) = located(body);
    assert!(wrong.is_empty(), "what comes with floatgate is TOML: {wrong:?}");
    table
}

/// Reads part of a command-line argument as a value: as TOML if it is valid TOML, otherwise as
/// text.
pub(crate) fn read_value(place: TextPlace, log: &Log) -> Node {
    let word = place.text();
    // The parser takes `25GiB` for a number that is yet to be parsed.
    match DeValue::parse(word) {
        Ok(value) if is_sound(value.get_ref()) && !word.contains('\n') => {
            Reading { text: &place.text, shift: place.range.start, log }.node(value)
        }
        _ => Node { value: Value::Text(word.to_owned()), place },
    }
}

/// A text, or its rest from `shift` on, on its way into a tree.
struct Reading<'a> {
    text: &'a Arc<Text>,
    shift: usize,
    log: &'a Log,
}

impl Reading<'_> {
    fn place(&self, range: Range<usize>) -> TextPlace {
        TextPlace::new(self.text, range.start + self.shift..range.end + self.shift)
    }

    fn table(&self, table: DeTable<'_>) -> TomlTable {
        let entry = |(key, value): (Spanned<Cow<'_, str>>, _)| {
            let place = self.place(key.span());
            (key.into_inner().into_owned(), KeyEntry { key: place, node: self.node(value) })
        };
        TomlTable(table.into_iter().map(entry).collect())
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span());
        let wrong = |what: &str, label: &str| {
            let message = format!("this is not {what}");
            self.log.push(ConfigError::new(ConfigErrorKind::Value, message, &place, label));
        };
        let value = match value.into_inner() {
            DeValue::String(s) => Value::Text(s.into_owned()),
            DeValue::Integer(n) => Value::Int(whole(&n).unwrap_or_else(|why| {
                let label = match why {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                        &format!("whole numbers lie between {} and {}", i64::MIN, i64::MAX)
                    }
                    _ => "text needs quotes",
                };
                wrong("a whole number", label);
                0
            })),
            DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or_else(|_| {
                wrong("a number", "text needs quotes");
                0.0
            })),
            DeValue::Boolean(b) => Value::Bool(b),
            DeValue::Datetime(d) => Value::Date(d.to_string()),
            DeValue::Array(items) => Value::List(items.into_iter().map(|v| self.node(v)).collect()),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { place, value }
    }
}

fn whole(n: &DeInteger<'_>) -> Result<i64, IntErrorKind> {
    i64::from_str_radix(n.as_str(), n.radix()).map_err(|e| *e.kind())
}

/// Whether a value on the command line has the type that it appears to have, and is not text.
fn is_sound(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Integer(n) => !matches!(whole(n), Err(IntErrorKind::InvalidDigit)),
        DeValue::Float(x) => x.as_str().parse::<f64>().is_ok(),
        DeValue::Datetime(_) => false,
        _ => true,
    }
}

//! How values are read from the tree, described in the schema and written again, by their type.
//!
//! One declaration of a section (see [`keys`](super::keys)) yields the struct, its reader with
//! every error at once, the nearest key for a misspelt one, the echo, and the JSON Schema.

use super::error::{ConfigError, Kind, Log};
use super::keys::DRIVE;
use super::node::{Entry, Node, Table, Value, join};
use super::rate::Rate;
use kernel::{Bytes, Dur, Energy, Power, nearest};
use serde_json::{Map, Value as Json, json};
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

/// A type of value that a key may have.
pub(crate) trait Field {
    /// The value in the resolved drive.
    type Plain;
    /// The keys within, if this is a section.
    const KEYS: &'static [Key] = &[];
    /// Whether a list has a value for each page type.
    const BY_PAGE_TYPE: bool = false;

    /// Reads the value at `path`; reports what is wrong and then gives nothing.
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self::Plain>;

    /// The value where no file says it; reports it where one must.
    fn absent(path: &str, log: &mut Log) -> Option<Self::Plain> {
        log.miss(path);
        None
    }

    /// Its JSON Schema.
    fn schema() -> Json;

    /// The value as a drive file has it; nothing if it is left out.
    fn emit(_: &Self::Plain) -> Option<Json> {
        None
    }
}

/// A key of a section, as it was declared.
pub(crate) struct Key {
    name: &'static str,
    pub(crate) doc: &'static str,
    /// What it can change, where that is less than all.
    pub(crate) reach: Option<Reach>,
    pub(crate) by_page_type: bool,
    check: fn(&Node, &str, &mut Log),
    schema: fn() -> Json,
    within: &'static [Self],
}

/// What a setting can change. One that is declared without this changes the state before the run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// What the policies are, or are told of the drive; a state only through their answers.
    Policies,
    /// Which requests there are; a state only if it is made from them.
    Requests,
    /// The run and its report alone: filling and ageing never ask for it.
    Run,
}

impl Key {
    /// A key whose name is that of a field.
    pub(crate) const fn new<T: Field>(
        name: &'static str,
        doc: &'static str,
        reach: Option<Reach>,
    ) -> Self {
        let check = |node: &Node, path: &str, log: &mut Log| drop(T::read(node, path, log));
        let (by_page_type, schema, within) = (T::BY_PAGE_TYPE, T::schema, T::KEYS);
        Self { name, doc, reach, by_page_type, check, schema, within }
    }

    /// Its name in a file: kebab-case.
    pub(crate) fn name(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The first sentence of what it is, without its full stop.
    pub(crate) fn brief(&self) -> String {
        let doc = paragraph(self.doc);
        doc.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
    }
}

/// Keys and those within them, with their paths.
pub(crate) fn all(keys: &'static [Key]) -> Vec<(String, &'static Key)> {
    let within = |key: &'static Key| {
        let below = all(key.within).into_iter();
        let below = below.map(|(path, inner)| (join(&key.name(), &path), inner));
        [(key.name(), key)].into_iter().chain(below)
    };
    keys.iter().flat_map(within).collect()
}

/// Reports what is wrong within the keys of a table, each for itself.
pub(crate) fn check(table: &Table, keys: &[&Key], log: &mut Log) {
    unknown_keys(table, "", keys, log);
    for key in keys {
        let name = key.name();
        if let Some(node) = table.at(&name) {
            (key.check)(node, &name, log);
        }
    }
}

/// A section's table, after a report of keys that it does not have.
pub(crate) fn section<'a>(
    node: &'a Node,
    path: &str,
    keys: &'static [Key],
    log: &mut Log,
) -> Option<&'a Table> {
    let section = table(node, path, log)?;
    unknown_keys(section, path, &keys.iter().collect::<Vec<_>>(), log);
    Some(section)
}

/// A table, or a report that it is none.
pub(crate) fn table<'a>(node: &'a Node, path: &str, log: &mut Log) -> Option<&'a Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => wrong_type(node, path, "a section", log),
    }
}

/// Reports keys that are no settings of the section at `path`, each with the nearest one.
fn unknown_keys(table: &Table, path: &str, keys: &[&Key], log: &mut Log) {
    let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
    for (key, Entry { key: place, .. }) in table.0.iter().filter(|(key, _)| !names.contains(key)) {
        let message = format!("`{}` is not a setting", join(path, key));
        let error = ConfigError::new(Kind::UnknownKey, message);
        let near = nearest(key, names.iter().map(String::as_str));
        let near = near.and_then(|near| keys.iter().find(|key| key.name() == near));
        let error = if let Some(near) = near {
            let name = near.name();
            log.excuse(&join(path, &name));
            error.at(place, format!("did you mean `{name}`?  ({})", small(&near.brief())))
        } else if let Some(other) = elsewhere(key) {
            let quoted = other == join(path, key);
            let label =
                if quoted { "take the quotes away" } else { &format!("did you mean `{other}`?") };
            error.at(place, label)
        } else {
            let of = if path.is_empty() { "a file".into() } else { format!("`[{path}]`") };
            error.at(place, "").help(format!("{of} may have {}", names.join(", ")))
        };
        log.push(error);
    }
}

/// The setting of another section that a key may have been meant to be.
fn elsewhere(key: &str) -> Option<String> {
    let leaf = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let all: Vec<(String, String)> =
        all(DRIVE).into_iter().map(|(path, _)| (leaf(&path), path)).collect();
    let near = nearest(&leaf(key), all.iter().map(|(leaf, _)| leaf.as_str()))?;
    // What was written in full is not taken for another of the same name.
    let named = all.iter().find(|(_, path)| path == key);
    named.or(all.iter().find(|(leaf, _)| leaf == near)).map(|(_, path)| path.clone())
}

/// Within a sentence: without the capital of a word, but `P - L` stays.
fn small(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// The lines of a doc comment as one paragraph.
fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The schema of a section from those of its keys.
pub(crate) fn section_schema(about: &str, keys: &'static [Key]) -> Json {
    let mut properties = Map::new();
    for key in keys {
        let mut entry = Map::from_iter([("description".into(), paragraph(key.doc).into())]);
        if let Json::Object(schema) = (key.schema)() {
            for (word, value) in schema {
                entry.entry(word).or_insert(value);
            }
        }
        properties.insert(key.name(), entry.into());
    }
    json!({
        "type": "object",
        "description": paragraph(about),
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The echo of a section from that of its keys.
pub(crate) fn section_json<const N: usize>(
    keys: &[Key],
    values: [Option<Json>; N],
) -> Map<String, Json> {
    let given = keys.iter().zip(values).filter_map(|(key, value)| Some((key.name(), value?)));
    let mut given: Vec<_> = given.collect();
    // Results have always begun with the times and energies of reads and programs.
    let first = ["read", "program", "levels"];
    given.sort_by_key(|(key, _)| first.iter().position(|f| f == key).unwrap_or(first.len()));
    given.into_iter().collect()
}

/// The values that a key may have beyond its type: the ends of a range; what is said of others, with
/// `{}` for the value; what stands at the value then, if not the ends.
pub(crate) struct Range<T>(
    pub(crate) T,
    pub(crate) T,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

/// A value with a range, which may not be given.
pub(crate) trait Ranged<T> {
    fn given(&self) -> Option<&T>;
}

impl<T> Ranged<T> for T {
    fn given(&self) -> Option<&T> {
        Some(self)
    }
}

impl<T> Ranged<T> for Option<T> {
    fn given(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl<T: PartialOrd + Display> Range<T> {
    /// Whether a value lies inside; reports one that does not.
    pub(crate) fn holds(
        &self,
        value: &impl Ranged<T>,
        node: Option<&Node>,
        path: &str,
        log: &mut Log,
    ) -> bool {
        let Self(least, most, said, label) = self;
        let (Some(value), Some(node)) = (value.given(), node) else { return true };
        let inside = value >= least && value <= most;
        if !inside {
            let message = format!("`{path}` {}", said.replace("{}", &value.to_string()));
            let ends = format!("{least} to {most}");
            let label = if label.is_empty() { &ends } else { *label };
            wrong_value::<()>(node, path, message, label, log);
        }
        inside
    }
}

/// Declares a list of keys. Those that do not say what they change change everything.
macro_rules! keys {
    ($( $(#[doc = $doc:literal])+ $key:ident: $kind:ty $(=> $reach:ident)?, )*) => {
        &[$( $crate::config::field::Key::new::<$kind>(
            stringify!($key),
            concat!($($doc, "\n"),+),
            $crate::config::field::keys!(@reach $($reach)?),
        ), )*]
    };
    (@reach) => { None };
    (@reach $reach:ident) => { Some($crate::config::field::Reach::$reach) };
}

/// Declares sections, each as a struct of the resolved drive.
///
/// A key is a field, with its name in kebab-case: `name: Type`, with `= value` if it need not be
/// given and the defaults do not have it, `[least, most]` if not every value of the type is allowed
/// (see [`Range`]), and its [`Reach`].
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $kind:ty $(= $default:tt)?
                $([$least:expr, $most:expr $(, $said:literal, $label:literal)?])?
                $(=> $reach:ident)?,
            )*
        }
    )*) => {$(
        $(#[doc = $about])+
        #[allow(private_interfaces)] // only the way to the types of the fields is private
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $( $(#[doc = $doc])+ pub $key: <$kind as $crate::config::field::Field>::Plain, )*
        }

        impl $name {
            /// The section from its table; keys that are not there are absent.
            fn of(table: &Table, path: &str, log: &mut Log) -> Option<Self> {
                $(
                    let (at, node) = table.field(path, stringify!($key));
                    let value = match (node, $crate::config::field::settings!(@or $($default)?)) {
                        (Some(node), _) => <$kind>::read(node, &at, log),
                        (None, None) => <$kind>::absent(&at, log),
                        (None, default) => default,
                    };
                    $(
                        let range = $crate::config::field::settings!(
                            @range $least, $most $(, $said, $label)?
                        );
                        let value = value.filter(|value| range.holds(value, node, &at, log));
                    )?
                    let $key = value;
                )*
                Some(Self { $( $key: $key?, )* })
            }

            /// The section as a drive file has it.
            pub(crate) fn echo(&self) -> Map<String, Json> {
                let values = [$( <$kind>::emit(&self.$key), )*];
                $crate::config::field::section_json(<Self as Field>::KEYS, values)
            }
        }

        impl Field for $name {
            type Plain = Self;
            const KEYS: &'static [Key] = $crate::config::field::keys! {
                $( $(#[doc = $doc])+ $key: $kind $(=> $reach)?, )*
            };

            fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
                let table = $crate::config::field::section(node, path, Self::KEYS, log)?;
                Self::of(table, path, log)
            }

            fn absent(path: &str, log: &mut Log) -> Option<Self> {
                Self::of(&Table::default(), path, log)
            }

            fn schema() -> Json {
                $crate::config::field::section_schema(concat!($($about, "\n"),+), Self::KEYS)
            }

            fn emit(plain: &Self) -> Option<Json> {
                Some(plain.echo().into())
            }
        }
    )*};
    (@or) => { None };
    (@or $value:expr) => { Some($value) };
    (@range $least:expr, $most:expr) => {
        $crate::config::field::Range($least, $most, "is {}", "")
    };
    (@range $least:expr, $most:expr, $said:literal, $label:literal) => {
        $crate::config::field::Range($least, $most, $said, $label)
    };
}

/// Declares an enum whose values have names.
macro_rules! named {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $word:ident = $text:literal, )*
        }
    )*) => {$(
        $(#[doc = $about])+
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        $vis enum $name {
            $( $(#[doc = $doc])+ $word, )*
        }

        impl $name {
            /// The name.
            $vis const fn name(self) -> &'static str {
                match self { $( Self::$word => $text, )* }
            }
        }
    )*};
}

/// Declares choices of words, in the order of the documentation.
macro_rules! words {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $word:ident = $text:literal, )*
        }
    )*) => {$(
        $crate::config::field::named! {
            $(#[doc = $about])+
            $vis enum $name { $( $(#[doc = $doc])+ $word = $text, )* }
        }

        impl $crate::config::field::Field for $name {
            type Plain = Self;

            fn read(
                node: &$crate::config::node::Node,
                path: &str,
                log: &mut $crate::config::error::Log,
            ) -> Option<Self> {
                let words = [$( ($text, Self::$word), )*];
                $crate::config::field::word(node, path, &words, "", log)
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$( $text, )*] })
            }

            fn emit(plain: &Self) -> Option<serde_json::Value> {
                Some(plain.name().into())
            }
        }
    )*};
}

pub(crate) use {keys, named, settings, words};

/// Reads one of some words; `or` is what else the setting may be, which this is not.
pub(crate) fn word<T: Copy>(
    node: &Node,
    path: &str,
    words: &[(&str, T)],
    or: &str,
    log: &mut Log,
) -> Option<T> {
    let either = |quote: &str| {
        let words = words.iter().map(|(word, _)| format!("{quote}{word}{quote}"));
        let or = Some(or.to_owned()).filter(|or| !or.is_empty());
        one_of(&words.chain(or).collect::<Vec<_>>(), "or")
    };
    let Value::Text(text) = &node.value else {
        return wrong_type(node, path, &either("\""), log);
    };
    if let Some((_, found)) = words.iter().find(|(word, _)| word == text) {
        return Some(*found);
    }
    let near = nearest(text, words.iter().map(|(word, _)| *word));
    let label = near.map_or(String::new(), |near| format!("did you mean \"{near}\"?"));
    let message = format!("`{path}` is {}, not \"{text}\"", either(""));
    wrong_value(node, path, message, label, log)
}

/// `a, b or c`.
pub(crate) fn one_of(words: &[String], or: &str) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {or} {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// `a, b and c`, each in backquotes.
pub(crate) fn all_of(words: &[String]) -> String {
    one_of(&words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>(), "and")
}

/// Reports a value of the wrong type.
pub(crate) fn wrong_type<T>(node: &Node, path: &str, expected: &str, log: &mut Log) -> Option<T> {
    let message = format!("`{path}` must be {expected}");
    let found = format!("this is {}", node.kind());
    log.fail(path, ConfigError::new(Kind::Type, message).at(&node.place, found));
    None
}

/// Reports a value that the setting does not allow.
pub(crate) fn wrong_value<T>(
    node: &Node,
    path: &str,
    message: String,
    label: impl Into<String>,
    log: &mut Log,
) -> Option<T> {
    log.fail(path, ConfigError::new(Kind::Value, message).at(&node.place, label));
    None
}

/// A whole number from `least` to `most`.
fn whole(node: &Node, path: &str, least: i64, most: i64, log: &mut Log) -> Option<i64> {
    let (end, limit) = match node.value {
        Value::Int(n) if n < least => ("least", least),
        Value::Int(n) if n > most => ("most", most),
        Value::Int(n) => return Some(n),
        _ => return wrong_type(node, path, "a whole number", log),
    };
    wrong_value(node, path, format!("`{path}` must be at {end} {limit}"), "", log)
}

/// Declares types of values: what they are in the resolved drive, their schema, how they are written
/// and how they are read.
macro_rules! values {
    ($($kind:ty $([$keys:expr])? => $plain:ty, $schema:expr, $emit:expr, $read:expr;)*) => {$(
        impl $crate::config::field::Field for $kind {
            type Plain = $plain;
            $( const KEYS: &'static [Key] = $keys; )?

            fn read(node: &Node, path: &str, log: &mut Log) -> Option<$plain> {
                let read: fn(&Node, &str, &mut Log) -> Option<$plain> = $read;
                read(node, path, log)
            }

            fn schema() -> Json {
                $schema
            }

            fn emit(plain: &$plain) -> Option<Json> {
                let emit: fn(&$plain) -> Json = $emit;
                Some(emit(plain))
            }
        }
    )*};
}
pub(crate) use values;

values! {
    u32 => u32, json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }), |n| json!(n),
        |node, path, log| whole(node, path, 0, u32::MAX.into(), log).map(|n| n as u32);
    NonZeroU32 => u32, json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }), |n| json!(n),
        |node, path, log| whole(node, path, 1, u32::MAX.into(), log).map(|n| n as u32);
    u64 => u64, json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }), |n| json!(n),
        |node, path, log| whole(node, path, 0, i64::MAX, log).map(|n| n as u64);
    NonZeroU64 => u64, json!({ "type": "integer", "minimum": 1, "maximum": i64::MAX }), |n| json!(n),
        |node, path, log| whole(node, path, 1, i64::MAX, log).map(|n| n as u64);
    f64 => f64, json!({ "type": "number" }), |x| json!(x), |node, path, log| match node.value {
        Value::Int(n) => Some(n as f64),
        Value::Float(_) => Any::read(node, path, log)?.as_f64(),
        _ => wrong_type(node, path, "a number", log),
    };
    bool => bool, json!({ "type": "boolean" }), |x| json!(x), |node, path, log| match node.value {
        Value::Bool(answer) => Some(answer),
        _ => wrong_type(node, path, "true or false", log),
    };
    String => String, json!({ "type": "string" }), |x| json!(x), |node, path, log| match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => wrong_type(node, path, "text", log),
    };
    Any => Json, json!(true), Json::clone, |node, path, log| match node.not_finite() {
        Some(number) => wrong_value(number, path, format!("`{path}` must be finite"), "", log),
        None => Some(node.to_json()),
    };
}

/// Any value that JSON can hold; whoever uses it checks it.
pub(crate) struct Any;

/// A key that may be left out.
impl<T: Field> Field for Option<T> {
    type Plain = Option<T::Plain>;
    const KEYS: &'static [Key] = T::KEYS;
    const BY_PAGE_TYPE: bool = T::BY_PAGE_TYPE;

    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self::Plain> {
        T::read(node, path, log).map(Some)
    }

    fn absent(_: &str, _: &mut Log) -> Option<Self::Plain> {
        Some(None)
    }

    fn schema() -> Json {
        T::schema()
    }

    fn emit(plain: &Self::Plain) -> Option<Json> {
        T::emit(plain.as_ref()?)
    }
}

/// One value for all page types, or a list of one for each.
pub(crate) struct ByPageType<T>(std::marker::PhantomData<T>);

impl<T: Field<Plain: PartialEq>> Field for ByPageType<T> {
    type Plain = Vec<T::Plain>;
    const BY_PAGE_TYPE: bool = true;

    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self::Plain> {
        match &node.value {
            Value::List(nodes) if (1..=4).contains(&nodes.len()) => {
                let read: Vec<_> = nodes.iter().map(|n| T::read(n, path, log)).collect();
                read.into_iter().collect()
            }
            Value::List(nodes) => {
                let message = format!("`{path}` has {} values", nodes.len());
                wrong_value(node, path, message, "give one, or one for each page type", log)
            }
            _ => T::read(node, path, log).map(|value| vec![value]),
        }
    }

    fn schema() -> Json {
        let list = json!({ "type": "array", "items": T::schema(), "minItems": 1, "maxItems": 4 });
        json!({ "anyOf": [T::schema(), list] })
    }

    fn emit(plain: &Self::Plain) -> Option<Json> {
        let one = plain.iter().all(|value| *value == plain[0]);
        if one { T::emit(&plain[0]) } else { Some(plain.iter().filter_map(T::emit).collect()) }
    }
}

/// Declares quantities, which are text with a unit: what one is, a unit, and the pattern of a text.
macro_rules! quantities {
    ($($kind:ty: $what:literal, $unit:literal, $pattern:literal;)*) => { values! {$(
        $kind => $kind, json!({ "type": "string", "pattern": concat!(r"^\s*", $pattern, r"\s*$") }),
            |value| value.to_string().into(),
            |node, path, log| quantity(node, path, $what, $unit, log);
    )*} };
}

quantities! {
    Dur: "a time", "us", r"[0-9._]+\s*(ns|us|µs|ms|s|min|h|d|y)";
    Energy: "an energy", "uJ", r"[0-9._]+\s*[munpfµ]?J";
    Power: "a power", "mW", r"[0-9._]+\s*[munµ]?W";
    Bytes: "a size", "KiB", r"[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)";
    Rate: "a rate", "MT/s", r"[0-9._]+\s*[kMG]T/s";
    Offset: "an offset", "B", r"[+-]?[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)";
}

fn quantity<T: FromStr<Err: Display>>(
    node: &Node,
    path: &str,
    what: &str,
    unit: &str,
    log: &mut Log,
) -> Option<T> {
    let (message, label) = match &node.value {
        Value::Text(text) => match text.parse() {
            Ok(value) => return Some(value),
            Err(error) => (format!("`{path}` is not {what}"), format!("{error}")),
        },
        Value::Int(_) | Value::Float(_) => {
            let number = node.place.text();
            let label = format!("write it as text with its unit, such as \"{number}{unit}\"");
            (format!("`{path}` is {what} and needs a unit"), label)
        }
        _ => return wrong_type(node, path, &format!("{what}, as text with a unit"), log),
    };
    log.fail(path, ConfigError::new(Kind::Unit, message).at(&node.place, label));
    None
}

/// Bytes to move by, forward or (with a minus sign) backward: `"-31.5KiB"`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offset(pub(crate) i64);

impl FromStr for Offset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (sign, size) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let size: Bytes = size.parse().map_err(|e: kernel::ParseBytesError| e.to_string())?;
        let size = i64::try_from(size.get()).map_err(|_| "at most 8 EiB".to_owned())?;
        Ok(Self(sign * size))
    }
}

impl Display for Offset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Bytes::new(self.0.unsigned_abs()))
    }
}

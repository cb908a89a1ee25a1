//! How values are read from the tree, and described in the schema, by their type.
//!
//! One declaration of a section (see [`keys`](super::keys)) yields the struct, its reader with
//! every error at once, the nearest key for a misspelt one, and the JSON Schema.

use super::error::{ConfigError, Kind, Log};
use super::node::{Entry, Node, Value, join};
use super::rate::Rate;
use super::text::Place;
use kernel::{Bytes, Dur, Energy, Power, nearest};
use serde_json::{Map, Value as Json, json};
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// A type of value that a key may have.
pub(crate) trait Field: Sized {
    /// Reads the value at `path`; reports what is wrong and then gives nothing.
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self>;

    /// Its JSON Schema.
    fn schema() -> Json;

    /// The settings within, as paths below `path` with what they are.
    fn list(_path: &str, _out: &mut Vec<(String, &'static str)>) {}

    /// The settings within that are declared with less than the whole [`Reach`].
    fn limited(_path: &str, _out: &mut Vec<(String, Reach)>) {}
}

/// A field that is a value of the resolved drive as it stands.
pub(crate) trait Setting: Field {
    /// The value.
    type Plain;

    /// Takes the value; reports it where it must be there and is not.
    fn take(at: Option<At<Self>>, path: &str, log: &mut Log) -> Option<Self::Plain>;

    /// The value as a drive file has it; nothing if it is left out.
    fn emit(plain: &Self::Plain) -> Option<Json>;
}

/// Fields whose value is always there: the type of the value, how it is made, how it is written.
macro_rules! always {
    ($($kind:ty => $plain:ty, $make:expr, $emit:expr;)*) => {$(
        impl $crate::config::field::Setting for $kind {
            type Plain = $plain;

            fn take(
                at: Option<$crate::config::field::At<Self>>,
                path: &str,
                log: &mut $crate::config::error::Log,
            ) -> Option<$plain> {
                let make: fn($kind) -> $plain = $make;
                $crate::config::field::need(at, path, log).map(make)
            }

            fn emit(plain: &$plain) -> Option<serde_json::Value> {
                let emit: fn(&$plain) -> serde_json::Value = $emit;
                Some(emit(plain))
            }
        }
    )*};
}
pub(crate) use always;

always! {
    u32 => u32, |n| n, |n| (*n).into();
    NonZeroU32 => u32, NonZeroU32::get, |n| (*n).into();
    u64 => u64, |n| n, |n| (*n).into();
    f64 => f64, |x| x, |x| (*x).into();
    bool => bool, |x| x, |x| (*x).into();
    Bytes => Bytes, |x| x, |x| x.to_string().into();
    Dur => Dur, |x| x, |x| x.to_string().into();
    Rate => Rate, |x| x, |x| x.to_string().into();
}

/// A key that may be left out.
impl<T: Setting> Field for Option<T> {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        T::read(node, path, log).map(Some)
    }

    fn schema() -> Json {
        T::schema()
    }
}

impl<T: Setting> Setting for Option<T> {
    type Plain = Option<T::Plain>;

    fn take(at: Option<At<Self>>, path: &str, log: &mut Log) -> Option<Self::Plain> {
        match given(at) {
            Some(at) => T::take(Some(at), path, log).map(Some),
            None => (!log.is_broken(path)).then_some(None),
        }
    }

    fn emit(plain: &Self::Plain) -> Option<Json> {
        T::emit(plain.as_ref()?)
    }
}

/// A key that may be left out, if it was not.
pub(crate) fn given<T>(at: Option<At<Option<T>>>) -> Option<At<T>> {
    let At { value, place } = at?;
    Some(At { value: value?, place })
}

/// A setting that must be there.
pub(crate) fn need<T>(at: Option<At<T>>, path: &str, log: &mut Log) -> Option<T> {
    if at.is_none() {
        log.miss(path);
    }
    at.map(|at| at.value)
}

/// The values that a key may have beyond its type: the ends of a range; what is said of others, with
/// `{}` for the value; what stands at the value then.
pub(crate) struct Range<T>(
    pub(crate) T,
    pub(crate) T,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

impl<T: PartialOrd + std::fmt::Display> Range<T> {
    /// Reports a value that lies outside.
    pub(crate) fn check(&self, value: &T, place: &Place, path: &str, log: &mut Log) -> bool {
        let Self(least, most, said, label) = self;
        let inside = value >= least && value <= most;
        if !inside {
            let message = format!("`{path}` {}", said.replace("{}", &value.to_string()));
            let ends = format!("{least} to {most}");
            let label = if label.is_empty() { &ends } else { *label };
            wrong_value::<()>(place, path, message, label, log);
        }
        inside
    }
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

/// Reports a value of the wrong type.
pub(crate) fn wrong_type<T>(node: &Node, path: &str, expected: &str, log: &mut Log) -> Option<T> {
    let message = format!("`{path}` must be {expected}");
    let found = format!("this is {}", node.kind());
    log.fail(path, ConfigError::new(Kind::Type, message).at(&node.place, found));
    None
}

/// Reports a value that the setting does not allow.
pub(crate) fn wrong_value<T>(
    place: &Place,
    path: &str,
    message: String,
    label: impl Into<String>,
    log: &mut Log,
) -> Option<T> {
    log.fail(path, ConfigError::new(Kind::Value, message).at(place, label));
    None
}

fn whole(node: &Node, path: &str, least: i64, most: i64, log: &mut Log) -> Option<i64> {
    match node.value {
        Value::Int(n) if (least..=most).contains(&n) => Some(n),
        Value::Int(n) => {
            let message = if n < least {
                format!("`{path}` must be at least {least}")
            } else {
                format!("`{path}` must be at most {most}")
            };
            wrong_value(&node.place, path, message, "", log)
        }
        _ => wrong_type(node, path, "a whole number", log),
    }
}

impl Field for u32 {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        whole(node, path, 0, u32::MAX.into(), log).map(|n| n as u32)
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
    }
}

impl Field for NonZeroU32 {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        whole(node, path, 1, u32::MAX.into(), log).and_then(|n| Self::new(n as u32))
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }
}

impl Field for u64 {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        whole(node, path, 0, i64::MAX, log).map(|n| n as u64)
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })
    }
}

impl Field for NonZeroU64 {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        whole(node, path, 1, i64::MAX, log).and_then(|n| Self::new(n as u64))
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": i64::MAX })
    }
}

impl Field for f64 {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Int(n) => Some(n as f64),
            Value::Float(x) if x.is_finite() => Some(x),
            Value::Float(_) => {
                wrong_value(&node.place, path, format!("`{path}` must be finite"), "", log)
            }
            _ => wrong_type(node, path, "a number", log),
        }
    }

    fn schema() -> Json {
        json!({ "type": "number" })
    }
}

impl Field for bool {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Bool(answer) => Some(answer),
            _ => wrong_type(node, path, "true or false", log),
        }
    }

    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

impl Field for String {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => wrong_type(node, path, "text", log),
        }
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A quantity written as text with a unit.
pub(crate) trait Quantity: FromStr<Err: std::fmt::Display> {
    /// `a time`.
    const WHAT: &'static str;
    /// A unit that it is often given in.
    const UNIT: &'static str;
    /// What its texts look like.
    const PATTERN: &'static str;
    /// Several of it.
    const MANY: &'static str = "values";
}

impl Quantity for Dur {
    const WHAT: &'static str = "a time";
    const UNIT: &'static str = "us";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*(ns|us|µs|ms|s|min|h|d|y)\s*$";
    const MANY: &'static str = "times";
}

impl Quantity for Energy {
    const WHAT: &'static str = "an energy";
    const UNIT: &'static str = "uJ";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*[munpfµ]?J\s*$";
    const MANY: &'static str = "energies";
}

impl Quantity for Power {
    const WHAT: &'static str = "a power";
    const UNIT: &'static str = "mW";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*[munµ]?W\s*$";
}

impl Quantity for Bytes {
    const WHAT: &'static str = "a size";
    const UNIT: &'static str = "KiB";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)\s*$";
}

impl Quantity for Rate {
    const WHAT: &'static str = "a rate";
    const UNIT: &'static str = "MT/s";
    const PATTERN: &'static str = r"^\s*[0-9._]+\s*[kMG]T/s\s*$";
}

impl<T: Quantity> Field for T {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let (what, unit) = (T::WHAT, T::UNIT);
        let (message, label) = match &node.value {
            Value::Text(text) => match text.parse() {
                Ok(value) => return Some(value),
                Err(error) => (format!("`{path}` is not {what}"), format!("{error}")),
            },
            Value::Int(_) | Value::Float(_) => {
                let number = &node.place.text.body[node.place.range.clone()];
                let label = format!("write it as text with its unit, such as \"{number}{unit}\"");
                (format!("`{path}` is {what} and needs a unit"), label)
            }
            _ => return wrong_type(node, path, &format!("{what}, as text with a unit"), log),
        };
        log.fail(path, ConfigError::new(Kind::Unit, message).at(&node.place, label));
        None
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": T::PATTERN })
    }
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

impl Quantity for Offset {
    const WHAT: &'static str = "an offset";
    const UNIT: &'static str = "B";
    const PATTERN: &'static str = r"^\s*[+-]?[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)\s*$";
}

/// One value for all page types, or a list of one for each.
#[derive(Clone, Debug)]
pub(crate) struct ByPageType<T = Dur>(pub(crate) Vec<T>);

impl<T: Quantity> Field for ByPageType<T> {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::List(nodes) if (1..=4).contains(&nodes.len()) => {
                let read: Vec<_> = nodes.iter().map(|n| T::read(n, path, log)).collect();
                read.into_iter().collect::<Option<_>>().map(Self)
            }
            Value::List(nodes) => {
                let message = format!("`{path}` has {} {}", nodes.len(), T::MANY);
                wrong_value(&node.place, path, message, "give one, or one for each page type", log)
            }
            _ => T::read(node, path, log).map(|value| Self(vec![value])),
        }
    }

    fn schema() -> Json {
        let list = json!({ "type": "array", "items": T::schema(), "minItems": 1, "maxItems": 4 });
        json!({ "anyOf": [T::schema(), list] })
    }
}

/// Any value that JSON can hold; whoever uses it checks it.
#[derive(Clone, Debug)]
pub(crate) struct Any(pub(crate) Json);

impl Field for Any {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        if let Some(number) = node.not_finite() {
            return wrong_value(&number.place, path, format!("`{path}` must be finite"), "", log);
        }
        Some(Self(node.to_json()))
    }

    fn schema() -> Json {
        json!(true)
    }
}

/// A table, or a report that it is none.
pub(crate) fn table<'a>(
    node: &'a Node,
    path: &str,
    log: &mut Log,
) -> Option<&'a super::node::Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => wrong_type(node, path, "a section", log),
    }
}

/// Reports a key that is not a setting of the section at `path`, with the nearest one.
pub(crate) fn unknown_key(
    path: &str,
    key: &str,
    entry: &Entry,
    known: &[(&str, &'static str)],
    log: &mut Log,
) {
    let full = join(path, key);
    let mut error = ConfigError::new(Kind::UnknownKey, format!("`{full}` is not a setting"));
    let mut label = String::new();
    if let Some(near) = nearest(key, known.iter().map(|(name, _)| *name)) {
        let about = known.iter().find(|(name, _)| *name == near).map_or("", |(_, doc)| doc);
        label = format!("did you mean `{near}`?  ({})", small(about));
        log.excuse(&join(path, near));
    } else if let Some(other) = elsewhere(key) {
        label = if other == full {
            "a chip does not say this, a drive does".to_owned()
        } else {
            format!("did you mean `{other}`?")
        };
    } else {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let of = if path.is_empty() { "a file".into() } else { format!("`[{path}]`") };
        error = error.help(format!("{of} may have {}", names.join(", ")));
    }
    log.push(error.at(&entry.key, label));
}

/// The setting of another section that a key may have been meant to be.
fn elsewhere(key: &str) -> Option<String> {
    let mut all = Vec::new();
    super::keys::DriveFile::list("", &mut all);
    let leaf = |path: &str| path.rsplit('.').next().map(str::to_owned).unwrap_or_default();
    let leaves: Vec<String> = all.iter().map(|(path, _)| leaf(path)).collect();
    let near = nearest(key, leaves.iter().map(String::as_str))?;
    let at = leaves.iter().position(|leaf| leaf == near)?;
    Some(all.swap_remove(at).0)
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

/// The first sentence of a doc comment, without its full stop.
pub(crate) fn brief(doc: &'static str) -> &'static str {
    let doc = doc.trim();
    let end = doc.find(". ").or_else(|| doc.find(".\n")).unwrap_or(doc.len());
    doc[..end].trim_end_matches('.')
}

/// The lines of a doc comment as one paragraph.
pub(crate) fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The schema of a section from those of its keys: name, doc comment, schema.
pub(crate) fn section_schema(about: &str, keys: Vec<(String, &str, Json)>) -> Json {
    let mut properties = Map::new();
    for (key, doc, schema) in keys {
        let mut entry = Map::new();
        entry.insert("description".into(), paragraph(doc).into());
        if let Json::Object(schema) = schema {
            for (word, value) in schema {
                entry.entry(word).or_insert(value);
            }
        }
        properties.insert(key, entry.into());
    }
    json!({
        "type": "object",
        "description": paragraph(about),
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Declares sections of the drive file. A key is the field's name in kebab-case.
macro_rules! sections {
    ($(
        $(#[doc = $about:literal])+
        struct $name:ident {
            $( $(#[doc = $doc:literal])+ $key:ident: $kind:ty $(=> $reach:ident)?, )*
        }
    )*) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Default, Debug)]
        pub(crate) struct $name {
            $( $(#[doc = $doc])+ pub(crate) $key: Option<At<$kind>>, )*
        }

        impl Field for $name {
            fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
                let table = table(node, path, log)?;
                let mut section = Self::default();
                for (key, entry) in &table.0 {
                    $(
                        if *key == stringify!($key).replace('_', "-") {
                            section.$key = <$kind>::read(&entry.node, &join(path, key), log)
                                .map(|value| At { value, place: entry.node.place.clone() });
                            continue;
                        }
                    )*
                    let names = [$( stringify!($key).replace('_', "-"), )*];
                    let docs: &[&'static str] = &[$( brief(concat!($($doc, "\n"),+)), )*];
                    let known: Vec<(&str, &'static str)> =
                        names.iter().map(String::as_str).zip(docs.iter().copied()).collect();
                    unknown_key(path, key, entry, &known, log);
                }
                Some(section)
            }

            fn schema() -> Json {
                let keys: Vec<(String, &str, Json)> = vec![$((
                    stringify!($key).replace('_', "-"),
                    concat!($($doc, "\n"),+),
                    <$kind>::schema(),
                ),)*];
                section_schema(concat!($($about, "\n"),+), keys)
            }

            fn list(path: &str, out: &mut Vec<(String, &'static str)>) {
                $(
                    let key = join(path, &stringify!($key).replace('_', "-"));
                    out.push((key.clone(), brief(concat!($($doc, "\n"),+))));
                    <$kind>::list(&key, out);
                )*
            }

            fn limited(path: &str, out: &mut Vec<(String, $crate::config::field::Reach)>) {
                $(
                    let key = join(path, &stringify!($key).replace('_', "-"));
                    <$kind>::limited(&key, out);
                    $( out.push((key, $crate::config::field::Reach::$reach)); )?
                )*
            }
        }
    )*};
}

/// Declares sections whose keys are the fields of a struct of the resolved drive.
///
/// A key is its field: `name: Type`, with `= value` if it need not be given and the defaults do not
/// have it, `[least, most]` if not every value of the type is allowed (see [`Range`]), and its
/// [`Reach`].
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        struct $keys:ident => $vis:vis $plain:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $kind:ty $(= $default:literal)?
                $([$least:expr, $most:expr $(, $said:literal $(, $label:literal)?)?])?
                $(=> $reach:ident)?,
            )*
        }
    )*) => {
        $crate::config::field::sections! {$(
            $(#[doc = $about])+
            struct $keys { $( $(#[doc = $doc])+ $key: $kind $(=> $reach)?, )* }
        )*}
        $(
            $(#[doc = $about])+
            #[allow(private_interfaces)] // only the way to the types of the fields is private
            #[derive(Clone, PartialEq, Debug)]
            $vis struct $plain {
                $( $(#[doc = $doc])+ pub $key: <$kind as $crate::config::field::Setting>::Plain, )*
            }

            impl $crate::config::field::Setting for $keys {
                type Plain = $plain;

                fn take(at: Option<At<Self>>, path: &str, log: &mut Log) -> Option<$plain> {
                    let keys = at.map(|at| at.value).unwrap_or_default();
                    $(
                        let $key = {
                            let path = join(path, &stringify!($key).replace('_', "-"));
                            let at = keys.$key;
                            let place = at.as_ref().map(|at| at.place.clone());
                            let default = $crate::config::field::settings!(@or $($default)?);
                            let value = match default {
                                Some(value) if place.is_none() => {
                                    (!log.is_broken(&path)).then_some(value)
                                }
                                _ => <$kind as $crate::config::field::Setting>::take(at, &path, log),
                            };
                            $(
                                let range = $crate::config::field::settings!(
                                    @range $least, $most $(, $said $(, $label)?)?
                                );
                                let value = value.filter(|value| {
                                    place.is_none_or(|at| range.check(value, &at, &path, log))
                                });
                            )?
                            value
                        };
                    )*
                    Some($plain { $( $key: $key?, )* })
                }

                fn emit(plain: &$plain) -> Option<Json> {
                    let mut section = Map::new();
                    $(
                        let value = <$kind as $crate::config::field::Setting>::emit(&plain.$key);
                        if let Some(value) = value {
                            section.insert(stringify!($key).replace('_', "-"), value);
                        }
                    )*
                    Some(section.into())
                }
            }
        )*
    };
    (@or) => { None };
    (@or $value:literal) => { Some($value) };
    (@range $least:expr, $most:expr) => {
        $crate::config::field::Range($least, $most, "is {}", "")
    };
    (@range $least:expr, $most:expr, $said:literal) => {
        $crate::config::field::Range($least, $most, $said, "")
    };
    (@range $least:expr, $most:expr, $said:literal, $label:literal) => {
        $crate::config::field::Range($least, $most, $said, $label)
    };
}

/// Declares a choice of words.
macro_rules! words {
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
            /// The words, in the order of the documentation.
            $vis const ALL: &'static [Self] = &[$( Self::$word, )*];

            /// The word in the drive file.
            $vis const fn name(self) -> &'static str {
                match self { $( Self::$word => $text, )* }
            }
        }

        impl crate::config::field::Field for $name {
            fn read(
                node: &crate::config::node::Node,
                path: &str,
                log: &mut crate::config::error::Log,
            ) -> Option<Self> {
                crate::config::field::word(node, path, Self::ALL, Self::name, log)
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$( $text, )*] })
            }
        }

        crate::config::field::always! { $name => $name, |word| word, |word| word.name().into(); }
    )*};
}

pub(crate) use {sections, settings, words};

/// Reads one of some words.
pub(crate) fn word<T: Copy>(
    node: &Node,
    path: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    log: &mut Log,
) -> Option<T> {
    let names: Vec<&str> = all.iter().map(|w| name(*w)).collect();
    let Value::Text(text) = &node.value else {
        let quoted: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
        return wrong_type(node, path, &either(&quoted), log);
    };
    if let Some(found) = all.iter().find(|w| name(**w) == text) {
        return Some(*found);
    }
    let label = match nearest(text, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => String::new(),
    };
    let message = format!("`{path}` is {}, not \"{text}\"", either(&names));
    wrong_value(&node.place, path, message, label, log)
}

/// `a, b or c`.
pub(crate) fn either(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// `a, b and c`, each in backquotes.
pub(crate) fn all_of(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

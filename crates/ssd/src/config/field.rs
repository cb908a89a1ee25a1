//! How values are read from the tree, described in the schema and written back, by their type.
//!
//! One declaration of a section (see [`keys`](super::keys)) yields the struct, its reader with
//! every error at once, the nearest key for a misspelt one, the echo, and the JSON Schema.

use super::error::{ConfigError, ConfigErrorKind, Log};
use super::keys::File;
use super::node::{KeyEntry, Node, TomlTable, Value, join};
use kernel::{Bandwidth, Bytes, Dur, Energy, Power, Rate, nearest};
use serde_json::{Map, Value as Json, json};
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroU64};

/// A value on its way into the drive: the text as written, its setting, and the log for errors.
#[derive(Copy, Clone)]
pub(crate) struct At<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: &'a str,
    pub(crate) log: &'a Log,
}

impl<'a> At<'a> {
    /// Reports an error of the value: `problem` goes on after the name of the setting.
    pub(crate) fn refuse<T>(
        self,
        kind: ConfigErrorKind,
        problem: impl Display,
        label: impl Into<String>,
    ) -> Option<T> {
        let message = format!("`{}` {problem}", self.path);
        self.log.fail(self.path, ConfigError::new(kind, message, &self.node.place, label));
        None
    }

    /// Reports a value that the setting does not allow.
    pub(crate) fn wrong_value<T>(
        self,
        problem: impl Display,
        label: impl Into<String>,
    ) -> Option<T> {
        self.refuse(ConfigErrorKind::Value, problem, label)
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong_type<T>(self, expected: &str) -> Option<T> {
        let meant = match &self.node.value {
            Value::Text(text) if expected.ends_with("number") => number_meant(text),
            // 1e6: a whole number in another notation.
            Value::Float(x) if expected == WHOLE => Some(*x),
            _ => None,
        };
        let meant = meant.filter(|x| expected != WHOLE || x.fract() == 0.0);
        let hint = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        let found = format!("this is {}{hint}", self.node.kind());
        self.refuse(ConfigErrorKind::Type, format!("must be {expected}"), found)
    }

    /// A table. Reports an error if the value is not one.
    pub(crate) fn table(self) -> Option<&'a TomlTable> {
        self.node.table().or_else(|| self.wrong_type("a section"))
    }

    /// A section's table. Reports keys that the section does not have.
    pub(crate) fn section(self, keys: &'static [SettingKey]) -> Option<&'a TomlTable> {
        let table = self.table()?;
        unknown_keys(table, self.path, &keys.iter().collect::<Vec<_>>(), self.log);
        Some(table)
    }

    /// One of some words; `or` lists the other kinds of value that the setting may have.
    pub(crate) fn word<T: Copy>(self, words: &[(&str, T)], or: &str) -> Option<T> {
        let either = |quote: &str| {
            let words = words.iter().map(|(word, _)| format!("{quote}{word}{quote}"));
            let or = Some(or.to_owned()).filter(|or| !or.is_empty());
            one_of(&words.chain(or).collect::<Vec<_>>(), "or")
        };
        let Value::Text(text) = &self.node.value else {
            return self.wrong_type(&either("\""));
        };
        if let Some((_, found)) = words.iter().find(|(word, _)| word == text) {
            return Some(*found);
        }
        let near = nearest(text, words.iter().map(|(word, _)| *word));
        let label = near.map_or(String::new(), |near| format!("did you mean \"{near}\"?"));
        self.wrong_value(format!("is {}, not \"{text}\"", either("")), label)
    }

    /// The elements of a list, each of which is read.
    pub(crate) fn each<T: Field>(self, nodes: &[Node]) -> Option<Vec<T::Plain>> {
        let read: Vec<_> = nodes.iter().map(|node| T::read(At { node, ..self })).collect();
        read.into_iter().collect()
    }

    /// A whole number from `least` to `most`.
    fn whole(self, least: i64, most: i64) -> Option<i64> {
        match self.node.value {
            Value::Int(n) if n < least => self.wrong_value(format!("must be at least {least}"), ""),
            Value::Int(n) if n > most => self.wrong_value(format!("must be at most {most}"), ""),
            Value::Int(n) => Some(n),
            _ => self.wrong_type(WHOLE),
        }
    }

    /// A text that begins with a number and ends with a unit.
    pub(crate) fn quantity<T, E: Display>(
        self,
        what: &str,
        unit: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let (problem, label) = match &self.node.value {
            Value::Text(text) => match parse(text) {
                Ok(value) => return Some(value),
                Err(error) => (format!("is not {what}"), error.to_string()),
            },
            Value::Int(_) | Value::Float(_) => {
                let number = self.node.place.text();
                let label = format!("write it as text with its unit, such as \"{number}{unit}\"");
                (format!("is {what} and needs a unit"), label)
            }
            _ => return self.wrong_type(&format!("{what}, as text with a unit")),
        };
        self.refuse(ConfigErrorKind::Unit, problem, label)
    }
}

/// The words for an expected whole number.
const WHOLE: &str = "a whole number";

/// The number that a text such as `1M`, `64k` or `20%` means.
fn number_meant(text: &str) -> Option<f64> {
    let factors = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("%", 0.01), ("", 1.0)];
    factors.iter().find_map(|(suffix, factor)| {
        let number: f64 = text.strip_suffix(suffix)?.trim().parse().ok()?;
        // In decimal, 7 % are 0.07.
        let meant = if *factor < 1.0 { number / 100.0 } else { number * factor };
        meant.is_finite().then_some(meant)
    })
}

/// A type of value that a key may have.
pub(crate) trait Field {
    /// The value in the resolved drive.
    type Plain;
    /// The keys within, if this is a section.
    const KEYS: &'static [SettingKey] = &[];

    /// Reads a value; reports its errors and then gives nothing.
    fn read(at: At<'_>) -> Option<Self::Plain>;

    /// The value if no file has it. Reports an error if one must.
    fn absent(path: &str, log: &Log) -> Option<Self::Plain> {
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
pub(crate) struct SettingKey {
    /// The name of its field.
    pub(crate) field: &'static str,
    pub(crate) doc: &'static str,
    /// The things that it can change, if not all of them.
    pub(crate) reach: Option<Reach>,
    pub(crate) schema: fn() -> Json,
    /// The keys within, if it is a section.
    pub(crate) within: &'static [Self],
}

/// The things that a setting can change. A setting declared without this changes the state before
/// the run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// The policies, or the facts about the drive that they are given. It changes a state only
    /// through their answers.
    Policies,
    /// The requests. It changes a state only if the state is made from them.
    Requests,
    /// The run and its report alone: filling and ageing never use it.
    Run,
}

impl SettingKey {
    /// Its name in a file: kebab-case.
    pub(crate) fn name(&self) -> String {
        self.field.replace('_', "-")
    }

    /// The first sentence of its description, as part of another sentence: without the capital of a
    /// word, but `P - L` stays.
    fn brief(&self) -> String {
        let first = self.doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let mut chars = first.chars();
        match (chars.next(), chars.next()) {
            (Some(capital), Some(second)) if second.is_lowercase() => {
                capital.to_lowercase().chain(first.chars().skip(1)).collect()
            }
            _ => first.to_owned(),
        }
    }
}

/// Keys and those within them, with their paths.
pub(crate) fn all(keys: &'static [SettingKey]) -> Vec<(String, &'static SettingKey)> {
    let within = |key: &'static SettingKey| {
        let below = all(key.within).into_iter();
        let below = below.map(|(path, inner)| (join(&key.name(), &path), inner));
        [(key.name(), key)].into_iter().chain(below)
    };
    keys.iter().flat_map(within).collect()
}

/// Reports keys that are not settings of the section at `path`, each with the nearest one.
pub(crate) fn unknown_keys(table: &TomlTable, path: &str, keys: &[&SettingKey], log: &Log) {
    let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
    for (key, KeyEntry { key: place, .. }) in table.0.iter().filter(|(key, _)| !names.contains(key))
    {
        let full = join(path, key);
        let near = nearest(key, names.iter().map(String::as_str));
        let mut help = None;
        let label = if let Some(near) = near {
            log.excuse(&join(path, near));
            let brief = keys.iter().find(|key| key.name() == near).map(|key| key.brief());
            format!("did you mean `{near}`?  ({})", brief.unwrap_or_default())
        } else if let Some(other) = elsewhere(key) {
            let quoted = other == full;
            if quoted { "take the quotes away".into() } else { format!("did you mean `{other}`?") }
        } else {
            let of = if path.is_empty() { "a file".into() } else { format!("`[{path}]`") };
            help = Some(format!("{of} may have {}", names.join(", ")));
            String::new()
        };
        let message = format!("`{full}` is not a setting");
        let error = ConfigError::new(ConfigErrorKind::UnknownKey, message, place, label);
        log.push(ConfigError { help, ..error });
    }
}

/// The setting of another section that a key may have been meant to be.
fn elsewhere(key: &str) -> Option<String> {
    let leaf = |path| str::rsplit(path, '.').next().unwrap_or_default();
    let paths: Vec<String> = all(File::KEYS).into_iter().map(|(path, _)| path).collect();
    let near = nearest(leaf(key), paths.iter().map(|path| leaf(path)))?;
    // A key written in full is not taken for another of the same name.
    let named = paths.iter().find(|path| *path == key);
    named.or_else(|| paths.iter().find(|path| leaf(path) == near)).cloned()
}

/// The schema of a section from those of its keys.
pub(crate) fn section_schema(about: &str, keys: &'static [SettingKey]) -> Json {
    let mut properties = Map::new();
    for key in keys {
        let mut entry = Map::from_iter([("description".into(), key.doc.into())]);
        if let Json::Object(schema) = (key.schema)() {
            for (word, value) in schema {
                entry.entry(word).or_insert(value);
            }
        }
        properties.insert(key.name(), entry.into());
    }
    json!({
        "type": "object",
        "description": about,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The echo of a section from that of its keys.
pub(crate) fn section_json<const N: usize>(
    keys: &[SettingKey],
    values: [Option<Json>; N],
) -> Map<String, Json> {
    let given = keys.iter().zip(values).filter_map(|(key, value)| Some((key.name(), value?)));
    let mut given: Vec<_> = given.collect();
    // Results have always begun with the times and energies of reads and programs, and ended with
    // settings that only some drives have.
    let order = ["read", "program", "levels", "", "shift", "pages", "energy", "workload"];
    given.sort_by_key(|(key, _)| order.iter().position(|known| known == key).unwrap_or(3));
    given.into_iter().collect()
}

/// Whether a value lies within a range. Reports a given value that does not. The problem is the
/// message, with `{}` for the value, and the remark at the place, if that is not the range itself.
pub(crate) fn is_inside<T: PartialOrd + Display>(
    value: impl Into<Option<T>>,
    (least, most): (T, T),
    (problem, label): (&str, &str),
    at: Option<At<'_>>,
) -> bool {
    let (Some(value), Some(at)) = (value.into(), at) else { return true };
    let inside = value >= least && value <= most;
    if !inside {
        let ends = format!("{least} to {most}");
        let label = if label.is_empty() { &ends } else { label };
        at.wrong_value::<()>(problem.replace("{}", &value.to_string()), label);
    }
    inside
}

/// Declares sections, each as a struct of the resolved drive.
///
/// A key is a field, with its name in kebab-case: `name: Type`. It has `= value` if it may be left
/// out and the defaults do not have it. It has `[least, most]` if not every value of the type is
/// allowed (see [`is_inside`]), and its [`Reach`].
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident $(: $copy:ident)? {
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

        $( impl $copy for $name {} )?

        impl $name {
            /// The section from its table. Keys that the table lacks take their defaults.
            pub(crate) fn of(table: &TomlTable, path: &str, log: &Log) -> Option<Self> {
                $(
                    let (name, node) = table.field(path, stringify!($key));
                    let at = node.map(|node| At { node, path: &name, log });
                    let default = $crate::config::field::settings!(@or $($default)?);
                    let absent = || default.or_else(|| <$kind>::absent(&name, log));
                    let value = at.map_or_else(absent, <$kind>::read);
                    $(
                        let said = $crate::config::field::settings!(@said $($said, $label)?);
                        let value = value.filter(|value| {
                            $crate::config::field::is_inside(*value, ($least, $most), said, at)
                        });
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
            const KEYS: &'static [SettingKey] = &[$( SettingKey {
                field: stringify!($key),
                doc: concat!($($doc),+).trim_ascii(),
                reach: $crate::config::field::settings!(@reach $($reach)?),
                schema: <$kind>::schema,
                within: <$kind>::KEYS,
            }, )*];

            fn read(at: At<'_>) -> Option<Self> {
                Self::of(at.section(Self::KEYS)?, at.path, at.log)
            }

            fn absent(path: &str, log: &Log) -> Option<Self> {
                Self::of(&TomlTable::default(), path, log)
            }

            fn schema() -> Json {
                $crate::config::field::section_schema(concat!($($about),+).trim_ascii(), Self::KEYS)
            }

            fn emit(plain: &Self) -> Option<Json> {
                let echo = plain.echo();
                (!echo.is_empty()).then(|| echo.into())
            }
        }
    )*};
    (@reach) => { None };
    (@reach $reach:ident) => { Some($crate::config::field::Reach::$reach) };
    (@or) => { None };
    (@or $value:expr) => { Some($value) };
    (@said) => { ("is {}", "") };
    (@said $said:literal, $label:literal) => { ($said, $label) };
}

/// A value that a drive file gives as one word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// The words, in the order of the documentation.
    const WORDS: &'static [(&'static str, Self)];

    /// The word of a value.
    fn said(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).expect("every value has its word").0
    }
}

impl<T: Word> Field for T {
    type Plain = Self;

    fn read(at: At<'_>) -> Option<Self> {
        at.word(Self::WORDS, "")
    }

    fn schema() -> Json {
        json!({ "enum": Self::WORDS.iter().map(|(word, _)| word).collect::<Vec<_>>() })
    }

    fn emit(plain: &Self) -> Option<Json> {
        Some(plain.said().into())
    }
}

/// Declares choices of words, in the order of the documentation.
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
            /// The name.
            $vis const fn name(self) -> &'static str {
                match self { $( Self::$word => $text, )* }
            }
        }

        impl $crate::config::field::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$( ($text, Self::$word), )*];
        }
    )*};
}

pub(crate) use {settings, words};

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

/// Declares types of values: their form in the resolved drive, their schema, how they are written
/// and how they are read.
macro_rules! values {
    ($($kind:ty $([$keys:expr])? => $plain:ty, $schema:expr, $emit:expr, $read:expr;)*) => {$(
        impl $crate::config::field::Field for $kind {
            type Plain = $plain;
            $( const KEYS: &'static [SettingKey] = $keys; )?

            fn read(at: At<'_>) -> Option<$plain> {
                let read: fn(At<'_>) -> Option<$plain> = $read;
                read(at)
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
        |at| at.whole(0, u32::MAX.into()).map(|n| n as u32);
    NonZeroU32 => u32, json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }), |n| json!(n),
        |at| at.whole(1, u32::MAX.into()).map(|n| n as u32);
    u64 => u64, json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }), |n| json!(n),
        |at| at.whole(0, i64::MAX).map(|n| n as u64);
    NonZeroU64 => u64, json!({ "type": "integer", "minimum": 1, "maximum": i64::MAX }), |n| json!(n),
        |at| at.whole(1, i64::MAX).map(|n| n as u64);
    f64 => f64, json!({ "type": "number" }), |x| json!(x), |at| match at.node.value {
        Value::Int(n) => Some(n as f64),
        Value::Float(_) => Any::read(at)?.as_f64(),
        _ => at.wrong_type("a number"),
    };
    bool => bool, json!({ "type": "boolean" }), |x| json!(x), |at| match at.node.value {
        Value::Bool(answer) => Some(answer),
        _ => at.wrong_type("true or false"),
    };
    String => String, json!({ "type": "string" }), |x| json!(x), |at| match &at.node.value {
        Value::Text(text) => Some(text.clone()),
        _ => at.wrong_type("text"),
    };
    Any => Json, json!(true), Json::clone, |at| match at.node.not_finite() {
        Some(node) => At { node, ..at }.wrong_value("must be finite", ""),
        None => Some(at.node.to_json()),
    };
}

/// Any value that JSON can hold. Its user checks it.
pub(crate) struct Any;

/// A key that may be left out.
impl<T: Field> Field for Option<T> {
    type Plain = Option<T::Plain>;
    const KEYS: &'static [SettingKey] = T::KEYS;

    fn read(at: At<'_>) -> Option<Self::Plain> {
        T::read(at).map(Some)
    }

    fn absent(_: &str, _: &Log) -> Option<Self::Plain> {
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

    fn read(at: At<'_>) -> Option<Self::Plain> {
        let Value::List(nodes) = &at.node.value else { return Some(vec![T::read(at)?]) };
        let count = nodes.len();
        if !(1..=4).contains(&count) {
            let label = "give one, or one for each page type";
            return at.wrong_value(format!("has {count} values"), label);
        }
        let read = at.each::<T>(nodes)?;
        match at.log.page_types.get() {
            Some(types) if ![1, types].contains(&count) => {
                let types = if types == 1 { "1 page type" } else { &format!("{types} page types") };
                let problem = format!("has {count} values, and the cells have {types}");
                let problem = problem + " (`geometry.bits-per-cell`)";
                at.wrong_value(problem, "give one for all, or one for each")
            }
            _ => Some(read),
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

/// Declares quantities, which are text with a unit: a description of each, a unit, and the pattern
/// of a text.
macro_rules! quantities {
    ($($kind:ty: $what:literal, $unit:literal, $pattern:literal;)*) => { values! {$(
        $kind => $kind, json!({ "type": "string", "pattern": concat!(r"^\s*", $pattern, r"\s*$") }),
            |value| value.to_string().into(),
            |at| at.quantity($what, $unit, str::parse);
    )*} };
}

quantities! {
    Dur: "a time", "us", r"[0-9._]+\s*(ns|us|µs|ms|s|min|h|d|y)";
    Energy: "an energy", "uJ", r"[0-9._]+\s*[munpfµ]?J";
    Power: "a power", "mW", r"[0-9._]+\s*[munµ]?W";
    Bytes: "a size", "KiB", r"[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)";
    Rate: "a rate", "MT/s", r"[0-9._]+\s*[kMG]T/s";
    Bandwidth: "a rate of data", "MB/s", r"[0-9._]+\s*[kMG]B/s";
}

#[cfg(test)]
mod tests {
    use super::number_meant;

    #[test]
    fn a_number_with_a_suffix_is_understood() {
        for (text, meant) in [("1M", 1e6), ("64k", 64e3), ("20%", 0.2), ("7 %", 0.07), ("3", 3.0)] {
            assert_eq!(number_meant(text), Some(meant), "{text}");
        }
        assert_eq!(number_meant("many"), None);
        assert_eq!(number_meant("1e999"), None);
    }
}

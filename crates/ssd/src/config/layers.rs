//! From the drive file, what it inherits and the command line to one tree.
//!
//! From low to high: the defaults; for every file its base, then its chip, then its own keys; a
//! chip set on the command line; `--set`; `--policy`; `--seed`. A higher layer's choice among
//! settings that exclude each other displaces that of the lower ones.

use super::error::{ConfigError, Kind, Log};
use super::field::{Field, Key, check};
use super::keys::{Choices, DRIVE as KEYS, MEASURED, NOT_OF_A_CHIP, Sources};
use super::node::{Entry, Node, Table, Value, parse, parse_value};
use super::text::{Origin, Place, Text};
use crate::presets;
use kernel::nearest;
use policies::external::Supplier;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::de::DeTable;

/// What a configuration is made of. The texts and the lookup come from the caller: nothing here
/// opens a file.
pub struct Layers<'a> {
    /// The drive file: the name to show, and its text.
    pub file: (&'a str, &'a str),
    /// Finds the file that `base` or `chip` names: the name to show, and its text. Names it does
    /// not know are looked up among the built-in presets.
    pub library: &'a dyn Fn(&str) -> Option<(String, String)>,
    /// `--set` arguments: `ftl.spare-factor=0.2`.
    pub set: &'a [String],
    /// `--policy` arguments, without comma lists: `cost=fixed:level=low`.
    pub policy: &'a [String],
    /// The `--seed` argument, at most 2^63 − 1.
    pub seed: Option<u64>,
}

/// All layers as one.
pub(crate) struct Merged {
    /// The settings, and of what files keep to themselves the drive file's name, summary and base.
    pub(crate) tree: Table,
    /// The drive file.
    pub(crate) file: Arc<Text>,
    /// The files: what is said of a setting without a source, and the sources of the others.
    files: Vec<FileSources>,
}

struct FileSources {
    text: Arc<Text>,
    sources: Sources,
    otherwise: String,
}

impl Merged {
    /// Where each setting comes from, in words.
    pub(crate) fn sources(&self) -> BTreeMap<String, String> {
        let mut leaves = Vec::new();
        self.tree.leaves("", &mut leaves);
        leaves.retain(|(path, _)| path.contains('.'));
        let source = |(path, entry): (String, &Entry)| {
            let text = &entry.node.place.text;
            let file = self.files.iter().find(|file| Arc::ptr_eq(&file.text, text));
            let source = match text.origin {
                Origin::Set => "--set",
                Origin::Policy => "--policy",
                Origin::Seed => "--seed",
                _ => file.map_or("", |file| file.sources.of(&path).unwrap_or(&file.otherwise)),
            };
            (path, source.to_owned())
        };
        leaves.into_iter().map(source).collect()
    }
}

const DRIVE: &str = "floatgate.drive/1";
const CHIP: &str = "floatgate.chip/1";

/// A chain of `base` longer than this is refused: no library needs it.
const LONGEST_CHAIN: usize = 16;

/// A key on the command line has at most so many parts; no setting has as many.
const DEEPEST_KEY: usize = 16;

/// Ways of saying one thing: the section, its keys by way, and what to do about several.
type Ways = (&'static str, &'static [&'static [&'static str]], &'static str);

/// How much is exported; how long the array takes; when the requests of a generator arrive.
pub(crate) const WAYS: [Ways; 3] = [
    (
        "ftl",
        &[&["over-provisioning"], &["spare-factor"], &["logical-capacity"]],
        "each says how much the drive exports: give exactly one",
    ),
    (
        "timing",
        &[&["read", "program"], &["levels"], &["physics"]],
        "give `read` and `program`, or `levels` for times by cost level, or `physics` to derive them",
    ),
    (
        "workload",
        &[&["arrivals"], &["rate"]],
        "`rate` is short for { poisson = { iops = … } }: give one of them",
    ),
];

/// Gathers all layers. `None` if a text could not be read at all; `log` says why.
pub(crate) fn merge(
    layers: &Layers<'_>,
    supplier: Option<&dyn Supplier>,
    log: &mut Log,
) -> Option<Merged> {
    let mut loader = Loader {
        library: layers.library,
        log,
        texts: 0,
        unread: false,
        tree: Table::default(),
        files: Vec::new(),
    };
    let file = loader.text(layers.file.0, layers.file.1, Origin::File);
    let set = loader.arguments("--set", layers.set, Origin::Set, Table::overlay, set_argument);
    for key in ["schema", "base", "sources"] {
        if let Some(entry) = set.0.get(key) {
            let message = format!("`{key}` can be given in a drive file only");
            loader.log.push(ConfigError::new(Kind::Argument, message).at(&entry.key, ""));
        }
    }
    let scheme = supplier.map(Supplier::scheme);
    let read = |text: &Arc<Text>, log: &mut Log| policy_argument(text, scheme, log);
    let policy = loader.arguments("--policy", layers.policy, Origin::Policy, put, read);
    let seed = layers.seed.map_or_else(Table::default, |seed| loader.seed(seed));

    let defaults = loader.text("defaults", presets::DEFAULTS, Origin::Default);
    loader.file(&defaults, false, &mut Vec::new());
    loader.file(&file, false, &mut Vec::new());
    loader.chip_of(&set);
    let Loader { mut tree, files, unread, .. } = loader;
    for table in [set, policy, seed] {
        put(&mut tree, table);
    }
    (!unread).then_some(Merged { tree, file, files })
}

/// Puts `high` over `low`. What `high` chooses displaces what excludes it.
fn put(low: &mut Table, mut high: Table) {
    for (name, ways, _) in WAYS {
        let (Some(low), Some(high)) = (low.section(name), high.section(name)) else {
            continue;
        };
        let chosen = |way: &&&[&str]| way.iter().any(|key| high.0.contains_key(*key));
        if ways.iter().any(|way| chosen(&way)) {
            for way in ways.iter().filter(|way| !chosen(way)) {
                low.0.retain(|key, _| !way.contains(&key.as_str()));
            }
        }
    }
    if let Some(high) = high.section("policies") {
        Choices::normalise(high);
        if let Some(low) = low.section("policies") {
            low.0.retain(|family, _| high.at(&format!("{family}.name")).is_none());
        }
    }
    low.overlay(high);
}

struct Loader<'a> {
    library: &'a dyn Fn(&str) -> Option<(String, String)>,
    log: &'a mut Log,
    texts: usize,
    /// Whether some text could not be read, so that what follows would be guesses.
    unread: bool,
    /// The layers so far as one.
    tree: Table,
    files: Vec<FileSources>,
}

/// Sections that another chip replaces even where it does not have them: they are optional, and
/// those of the chip before would be wrong.
const OF_THE_CHIP: [&str; 2] = ["energy", "pages"];

impl Loader<'_> {
    fn text(&mut self, name: &str, body: &str, origin: Origin) -> Arc<Text> {
        let order = self.texts;
        self.texts += 1;
        Arc::new(Text { name: name.to_owned(), body: body.to_owned(), origin, order })
    }

    /// Adds a file upon what it inherits. `trail` has the names that led here, its own last.
    fn file(&mut self, text: &Arc<Text>, chip: bool, trail: &mut Vec<String>) {
        let Some(mut table) = parse(text, self.log) else {
            self.unread = true;
            return;
        };
        self.check_format(&table, chip);
        self.check(&mut table, chip);
        let otherwise = match (text.origin, trail.last()) {
            (Origin::Base, Some(name)) => format!("base {name}"),
            (Origin::Chip, Some(name)) => format!("chip {name}"),
            (Origin::Default, _) => "default".to_owned(),
            _ => "drive file".to_owned(),
        };
        if let Some((base, place)) = table.text("base")
            && let Some(text) = self.find(base, place, chip, trail)
        {
            trail.push(base.to_owned());
            self.file(&text, chip, trail);
        }
        if !chip {
            self.chip_of(&table);
        }
        let sources = table.at("sources").and_then(|at| Sources::read(at, "sources", self.log));
        let (sources, text) = (sources.unwrap_or_default(), Arc::clone(text));
        let own = if text.origin == Origin::File { &HEAD[3..] } else { &HEAD };
        table.0.retain(|key, _| !own.contains(&key.as_str()));
        put(&mut self.tree, table);
        self.files.push(FileSources { text, sources, otherwise });
    }

    /// Adds the chip that a table names, if it names one.
    fn chip_of(&mut self, table: &Table) {
        if let Some((name, place)) = table.text("chip")
            && let Some(text) = self.find(name, place, true, &[])
        {
            self.tree.0.retain(|key, _| !OF_THE_CHIP.contains(&key.as_str()));
            self.file(&text, true, &mut vec![name.to_owned()]);
        }
    }

    fn check_format(&mut self, table: &Table, chip: bool) {
        let (expected, other) = if chip { (CHIP, DRIVE) } else { (DRIVE, CHIP) };
        let Some((found, place)) = table.text("schema").filter(|(found, _)| *found != expected)
        else {
            return;
        };
        let label = if found == other {
            format!("expected \"{expected}\": a drive names its `chip`, a chip is no drive")
        } else {
            format!("this version reads \"{expected}\"")
        };
        let message = format!("\"{found}\" is not the format expected here");
        self.log.fail("schema", ConfigError::new(Kind::Value, message).at(place, label));
    }

    /// Reports what is wrong in a layer, each key for itself.
    fn check(&mut self, table: &mut Table, chip: bool) {
        let mut keys: Vec<&Key> = KEYS.iter().collect();
        if chip {
            for path in NOT_OF_A_CHIP {
                if let Some(entry) = table.remove(path) {
                    let message = format!("`{path}` is not a setting");
                    let error = ConfigError::new(Kind::UnknownKey, message);
                    self.log.push(error.at(&entry.key, "a chip does not say this, a drive does"));
                }
            }
            keys.retain(|key| !NOT_OF_A_CHIP.contains(&&*key.name()));
            keys.extend(MEASURED);
        }
        check(table, &keys, self.log);
    }

    /// Finds the file that `base` or `chip` names.
    fn find(
        &mut self,
        name: &str,
        place: &Place,
        chip: bool,
        trail: &[String],
    ) -> Option<Arc<Text>> {
        let (what, other, all, origin) = if chip {
            ("chip", "drive", presets::chips(), Origin::Chip)
        } else {
            ("drive", "chip", presets::presets(), Origin::Base)
        };
        let fits = |body: &str| is_chip(body).is_none_or(|is| is == chip);
        let (message, label) = if trail.iter().any(|seen| seen == name) {
            let chain = [trail, &[name.to_owned()]].concat().join(" → ");
            (format!("`{name}` inherits from itself"), chain)
        } else if trail.len() >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} files inherit from each other");
            (message, "the chain ends here".to_owned())
        } else {
            match ((self.library)(name), presets::named(all, name)) {
                (Some((shown, body)), _) if fits(&body) => {
                    return Some(self.text(&shown, &body, origin));
                }
                (_, Some(body)) => return Some(self.text(name, body, origin)),
                (Some(_), None) => {
                    (format!("`{name}` is a {other}"), format!("a {what} is needed"))
                }
                (None, None) => {
                    let label = match nearest(name, all.iter().map(|(n, _)| *n)) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("there is no such {what} file, and no preset of this name"),
                    };
                    (format!("no {what} is called `{name}`"), label)
                }
            }
        };
        self.log.push(ConfigError::new(Kind::Inherit, message).at(place, label));
        self.log.without_missing();
        None
    }

    /// All arguments of one kind as one layer: `put` says what the later ones do to those before.
    fn arguments(
        &mut self,
        option: &str,
        arguments: &[String],
        origin: Origin,
        put: fn(&mut Table, Table),
        read: impl Fn(&Arc<Text>, &mut Log) -> Result<Table, ConfigError>,
    ) -> Table {
        let mut layer = Table::default();
        for (i, argument) in arguments.iter().enumerate() {
            let text = self.text(&format!("{option} argument {}", i + 1), argument, origin);
            match read(&text, self.log) {
                Ok(table) => put(&mut layer, table),
                Err(error) => self.log.push(error),
            }
        }
        self.check(&mut layer, false);
        layer
    }

    fn seed(&mut self, seed: u64) -> Table {
        let text = self.text("--seed", &seed.to_string(), Origin::Seed);
        let place = Place::new(&text, 0..text.body.len());
        let number = i64::try_from(seed).unwrap_or_else(|_| {
            let message = format!("a seed is at most {}", i64::MAX);
            self.log.push(ConfigError::new(Kind::Argument, message).at(&place, ""));
            0
        });
        let node = Node { place: place.clone(), value: Value::Int(number) };
        nested(&[("run", place.clone()), ("seed", place)], node)
    }
}

/// Keys that describe the file itself and are not inherited; the first three may name a drive.
const HEAD: [&str; 7] = ["name", "summary", "base", "schema", "chip", "sources", "measured"];

/// Whether a text says that it is a chip; `None` if it does not say.
fn is_chip(body: &str) -> Option<bool> {
    let table = DeTable::parse(body).ok()?;
    let format = table.get_ref().get("schema")?.get_ref().as_str()?;
    match format {
        CHIP => Some(true),
        DRIVE => Some(false),
        _ => None,
    }
}

/// A table with a value under keys within keys.
fn nested(keys: &[(&str, Place)], value: Node) -> Table {
    let Some(((key, place), outer)) = keys.split_last() else { return Table::default() };
    let table = Table::one(key, place, value);
    match outer.last() {
        None => table,
        Some((_, place)) => {
            nested(outer, Node { place: place.clone(), value: Value::Table(table) })
        }
    }
}

fn bad_argument(message: &str, place: &Place, label: &str) -> ConfigError {
    ConfigError::new(Kind::Argument, message).at(place, label)
}

/// `KEY=VALUE`; the value is read as TOML where it is that, else as text.
fn set_argument(text: &Arc<Text>, log: &mut Log) -> Result<Table, ConfigError> {
    let bad =
        |range, label| bad_argument("`--set` takes KEY=VALUE", &Place::new(text, range), label);
    let Some(equals) = text.body.find('=') else {
        return Err(bad(0..text.body.len(), "such as ftl.spare-factor=0.2"));
    };
    let parts = parts(text, 0..equals, '.').into_iter();
    let keys: Vec<_> =
        parts.map(|part| (&text.body[part.clone()], Place::new(text, part))).collect();
    let word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let is_key = |(key, _): &(&str, _)| !key.is_empty() && key.chars().all(word);
    if keys.len() > DEEPEST_KEY || !keys.iter().all(is_key) {
        return Err(bad(0..equals, "this is not a key"));
    }
    Ok(nested(&keys, parse_value(text, trim(text, equals + 1..text.body.len()), log)))
}

/// `FAMILY=NAME[:key=value]…`; the name of a policy from outside begins with a scheme and a colon.
fn policy_argument(
    text: &Arc<Text>,
    scheme: Option<&str>,
    log: &mut Log,
) -> Result<Table, ConfigError> {
    const FORM: &str = "`--policy` takes FAMILY=NAME[:key=value]…";
    let all = 0..text.body.len();
    let word = |range: &Range<usize>| &text.body[range.clone()];
    let place = |range: &Range<usize>| Place::new(text, range.clone());
    let equals = text.body.find('=').unwrap_or(all.end);
    let family = trim(text, 0..equals);
    let mut segments = parts(text, (equals + 1).min(all.end)..all.end, ':').into_iter();
    let mut name = segments.next().unwrap_or(all.end..all.end);
    if Some(word(&name)) == scheme {
        name.end = segments.next().map_or(name.end, |rest| rest.end);
    }
    if family.is_empty() || name.is_empty() {
        return Err(bad_argument(FORM, &place(&all), "such as victim=greedy"));
    }
    if word(&name).contains(',') {
        let label = "comma lists are for comparisons and sweeps";
        return Err(bad_argument("one policy for a family is needed here", &place(&name), label));
    }
    let chosen = Node { place: place(&name), value: Value::Text(word(&name).to_owned()) };
    let mut choice = Table::one("name", &place(&name), chosen);
    for param in segments {
        let Some(equals) = word(&param).find('=') else {
            return Err(bad_argument(FORM, &place(&param), "expected key=value"));
        };
        let key = trim(text, param.start..param.start + equals);
        let node = parse_value(text, trim(text, param.start + equals + 1..param.end), log);
        choice.0.insert(word(&key).to_owned(), Entry { key: place(&key), node });
    }
    let node = Node { place: place(&name), value: Value::Table(choice) };
    Ok(nested(&[("policies", place(&family)), (word(&family), place(&family))], node))
}

/// The parts of a range between separators, without the space around them.
fn parts(text: &Text, range: Range<usize>, separator: char) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for (at, _) in text.body[range.clone()].match_indices(separator) {
        parts.push(trim(text, start..range.start + at));
        start = range.start + at + separator.len_utf8();
    }
    parts.push(trim(text, start..range.end));
    parts
}

fn trim(text: &Text, range: Range<usize>) -> Range<usize> {
    let part = &text.body[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

//! From the drive file, what it inherits and the command line to one tree.
//!
//! From low to high: the defaults; for every file its base, then its chip, then its own keys; a
//! chip set on the command line; `--set`; `--policy`; `--seed`. A higher layer's choice among
//! settings that exclude each other displaces that of the lower ones.

use super::error::{ConfigError, Kind, Log};
use super::field::{At, Field};
use super::keys::{ChipFile, Choices, DriveFile, Sources};
use super::node::{Entry, Node, Table, Value, parse, parse_value};
use super::text::{Origin, Place, Text};
use crate::presets;
use kernel::nearest;
use policies::external::Supplier;
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
    pub(crate) tree: Table,
    /// The file's own name and summary, and what it inherits from.
    pub(crate) head: Head,
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

/// What is not inherited.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) name: Option<(String, Place)>,
    pub(crate) summary: Option<String>,
    pub(crate) base: Option<String>,
}

impl Merged {
    /// Where a setting comes from, in words.
    pub(crate) fn source(&self, path: &str, text: &Arc<Text>) -> String {
        if let Some(file) = self.files.iter().find(|file| Arc::ptr_eq(&file.text, text)) {
            return file.sources.of(path).unwrap_or(&file.otherwise).to_owned();
        }
        match text.origin {
            Origin::Set => "--set",
            Origin::Policy => "--policy",
            _ => "--seed",
        }
        .to_owned()
    }
}

const DRIVE: &str = "floatgate.drive/1";
const CHIP: &str = "floatgate.chip/1";

/// A chain of `base` longer than this is refused: no library needs it.
const LONGEST_CHAIN: usize = 16;

/// A key on the command line has at most so many parts; no setting has as many.
const DEEPEST_KEY: usize = 16;

/// The keys of which a drive gives exactly one.
pub(crate) const CAPACITY: [&str; 3] = ["over-provisioning", "spare-factor", "logical-capacity"];

/// By section the ways of saying one thing, each with its keys: how much is exported; plain times,
/// times by level, and levels from the physics; when the requests of a generator arrive.
const WAYS: [(&str, &[&[&str]]); 3] = [
    ("ftl", &[&[CAPACITY[0]], &[CAPACITY[1]], &[CAPACITY[2]]]),
    ("timing", &[&["read", "program"], &["levels"], &["physics"]]),
    ("workload", &[&["arrivals"], &["rate"]]),
];

/// Gathers all layers. `None` if a text could not be read at all; `log` says why.
pub(crate) fn merge(
    layers: &Layers<'_>,
    supplier: Option<&dyn Supplier>,
    log: &mut Log,
) -> Option<Merged> {
    let mut loader =
        Loader { library: layers.library, log, texts: 0, unread: false, found: Vec::new() };
    let file = loader.text(layers.file.0, layers.file.1, Origin::File);
    let set = loader.set(layers.set);
    let policy = loader.policy(layers.policy, supplier.map(Supplier::scheme));
    let seed = layers.seed.and_then(|seed| loader.seed(seed));

    let defaults = loader.text("defaults", presets::DEFAULTS, Origin::Default);
    loader.drive(&defaults, &mut Vec::new());
    let own = loader.drive(&file, &mut Vec::new());
    loader.chip_of(&set);
    for table in [Some(set), Some(policy), seed].into_iter().flatten() {
        loader.found.push(Layer { file: None, table, is_chip: false });
    }
    if loader.unread {
        return None;
    }

    let mut merged =
        Merged { tree: Table::default(), head: own.unwrap_or_default(), file, files: Vec::new() };
    for layer in loader.found {
        if layer.is_chip {
            merged.tree.0.retain(|key, _| !OF_THE_CHIP.contains(&key.as_str()));
        }
        put(&mut merged.tree, layer.table);
        merged.files.extend(layer.file);
    }
    // Files keep these to themselves; what is in the tree was set on the command line.
    if let Some((name, place)) = merged.tree.text("name") {
        merged.head.name = Some((name.to_owned(), place.clone()));
    }
    if let Some((summary, _)) = merged.tree.text("summary") {
        merged.head.summary = Some(summary.to_owned());
    }
    Some(merged)
}

/// Puts `high` over `low`. What `high` chooses displaces what excludes it.
fn put(low: &mut Table, mut high: Table) {
    for (name, ways) in WAYS {
        let (Some(low), Some(high)) = (section(low, name), section(&mut high, name)) else {
            continue;
        };
        let chosen = |way: &&&[&str]| way.iter().any(|key| high.0.contains_key(*key));
        if ways.iter().any(|way| chosen(&way)) {
            for way in ways.iter().filter(|way| !chosen(way)) {
                low.0.retain(|key, _| !way.contains(&key.as_str()));
            }
        }
    }
    if let Some(high) = section(&mut high, "policies") {
        Choices::normalise(high);
        if let Some(low) = section(low, "policies") {
            let named =
                |e: &Entry| matches!(&e.node.value, Value::Table(t) if t.get("name").is_some());
            low.0.retain(|family, _| !high.0.get(family).is_some_and(named));
        }
    }
    low.overlay(high);
}

fn section<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Table> {
    match &mut table.0.get_mut(key)?.node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

struct Loader<'a> {
    library: &'a dyn Fn(&str) -> Option<(String, String)>,
    log: &'a mut Log,
    texts: usize,
    /// Whether some text could not be read, so that what follows would be guesses.
    unread: bool,
    /// The layers so far, from low to high.
    found: Vec<Layer>,
}

/// The settings of one file, or of the arguments of one kind.
struct Layer {
    file: Option<FileSources>,
    table: Table,
    /// Another chip begins here.
    is_chip: bool,
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

    fn parse(&mut self, text: &Arc<Text>) -> Option<Table> {
        let table = parse(text, self.log);
        self.unread |= table.is_none();
        table
    }

    /// Adds a drive file and what it inherits; gives what is not inherited from it. `trail` has
    /// the names that led here, this file's own last.
    fn drive(&mut self, text: &Arc<Text>, trail: &mut Vec<String>) -> Option<Head> {
        let table = self.parse(text)?;
        self.check_format(&table, DRIVE, CHIP);
        let node = Node { place: Place::new(text, 0..0), value: Value::Table(table.clone()) };
        let written = DriveFile::read(&node, "", self.log)?;
        let own_name = trail.last().cloned();
        if let Some(base) = &written.base
            && let Some(text) = self.find(&base.value, &base.place, Origin::Base, trail)
        {
            trail.push(base.value.clone());
            self.drive(&text, trail);
        }
        self.chip_of(&table);
        self.add(text, own_name, table, written.sources);
        Some(Head {
            name: written.name.map(|at| (at.value, at.place)),
            summary: written.summary.map(|at| at.value),
            base: written.base.map(|at| at.value),
        })
    }

    /// Adds the chip that a table names, if it names one.
    fn chip_of(&mut self, table: &Table) {
        let Some((name, place)) = table.text("chip") else { return };
        if let Some(text) = self.find(name, place, Origin::Chip, &[]) {
            let first = self.found.len();
            self.chip(&text, &mut vec![name.to_owned()]);
            if let Some(layer) = self.found.get_mut(first) {
                layer.is_chip = true;
            }
        }
    }

    /// Adds a chip file and what it inherits.
    fn chip(&mut self, text: &Arc<Text>, trail: &mut Vec<String>) -> Option<()> {
        let table = self.parse(text)?;
        self.check_format(&table, CHIP, DRIVE);
        let node = Node { place: Place::new(text, 0..0), value: Value::Table(table.clone()) };
        let written = ChipFile::read(&node, "", self.log)?;
        let own_name = trail.last().cloned();
        if let Some(base) = &written.base
            && let Some(text) = self.find(&base.value, &base.place, Origin::Chip, trail)
        {
            trail.push(base.value.clone());
            self.chip(&text, trail);
        }
        self.add(text, own_name, table, written.sources);
        Some(())
    }

    /// Adds a file as a layer, without what it keeps to itself.
    fn add(
        &mut self,
        text: &Arc<Text>,
        name: Option<String>,
        mut table: Table,
        sources: Option<At<Sources>>,
    ) {
        table.0.retain(|key, _| !HEAD.contains(&key.as_str()));
        let name = name.unwrap_or_default();
        let otherwise = match text.origin {
            Origin::Base => format!("base {name}"),
            Origin::Chip => format!("chip {name}"),
            Origin::Default => "default".to_owned(),
            _ => "drive file".to_owned(),
        };
        let sources = sources.map(|at| at.value).unwrap_or_default();
        let file = Some(FileSources { text: Arc::clone(text), sources, otherwise });
        self.found.push(Layer { file, table, is_chip: false });
    }

    fn check_format(&mut self, table: &Table, expected: &str, other: &str) {
        let Some((found, place)) = table.text("schema") else { return };
        if found != expected {
            let label = if found == other {
                format!("expected \"{expected}\": a drive names its `chip`, a chip is no drive")
            } else {
                format!("this version reads \"{expected}\"")
            };
            let message = format!("\"{found}\" is not the format expected here");
            self.log.fail("schema", ConfigError::new(Kind::Value, message).at(place, label));
        }
    }

    /// Finds the file that `base` or `chip` names.
    fn find(
        &mut self,
        name: &str,
        place: &Place,
        origin: Origin,
        trail: &[String],
    ) -> Option<Arc<Text>> {
        let chip = origin == Origin::Chip;
        let fail = |loader: &mut Self, message: String, label: String| {
            let error = ConfigError::new(Kind::Inherit, message).at(place, label);
            loader.log.push(error);
            loader.log.without_missing();
            None
        };
        if trail.iter().any(|seen| seen == name) {
            let chain = [trail, &[name.to_owned()]].concat().join(" → ");
            return fail(self, format!("`{name}` inherits from itself"), chain);
        }
        if trail.len() >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} files inherit from each other");
            return fail(self, message, "the chain ends here".into());
        }
        let preset = presets::named(if chip { presets::chips() } else { presets::presets() }, name);
        let own = (self.library)(name);
        let fits = own.as_ref().is_some_and(|(_, body)| is_chip(body).is_none_or(|is| is == chip));
        let (what, other) = if chip { ("chip", "drive") } else { ("drive", "chip") };
        match (own, preset) {
            (Some((shown, body)), _) if fits => Some(self.text(&shown, &body, origin)),
            (_, Some(body)) => Some(self.text(name, body, origin)),
            (Some(_), None) => {
                fail(self, format!("`{name}` is a {other}"), format!("a {what} is needed"))
            }
            (None, None) => {
                let all = if chip { presets::chips() } else { presets::presets() };
                let label = match nearest(name, all.iter().map(|(n, _)| *n)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("there is no such {what} file, and no preset of this name"),
                };
                fail(self, format!("no {what} is called `{name}`"), label)
            }
        }
    }

    /// All `--set` arguments as one layer: the last one for a key wins.
    fn set(&mut self, arguments: &[String]) -> Table {
        let mut layer = Table::default();
        for (i, argument) in arguments.iter().enumerate() {
            let text = self.text(&format!("--set argument {}", i + 1), argument, Origin::Set);
            if let Some(table) = set_argument(&text, self.log) {
                layer.overlay(table);
            }
        }
        for key in ["schema", "base", "sources"] {
            if let Some(entry) = layer.0.remove(key) {
                let message = format!("`{key}` can be given in a drive file only");
                self.log.push(ConfigError::new(Kind::Argument, message).at(&entry.key, ""));
            }
        }
        self.check(&layer);
        layer
    }

    /// All `--policy` arguments as one layer: the last one for a family wins.
    fn policy(&mut self, arguments: &[String], scheme: Option<&str>) -> Table {
        let mut layer = Table::default();
        for (i, argument) in arguments.iter().enumerate() {
            let text = self.text(&format!("--policy argument {}", i + 1), argument, Origin::Policy);
            if let Some(table) = policy_argument(&text, scheme, self.log) {
                put(&mut layer, table);
            }
        }
        self.check(&layer);
        layer
    }

    fn seed(&mut self, seed: u64) -> Option<Table> {
        let text = self.text("--seed", &seed.to_string(), Origin::Seed);
        let place = Place::new(&text, 0..text.body.len());
        let Ok(number) = i64::try_from(seed) else {
            let message = format!("a seed is at most {}", i64::MAX);
            self.log.push(ConfigError::new(Kind::Argument, message).at(&place, ""));
            return None;
        };
        let node = Node { place: place.clone(), value: Value::Int(number) };
        let run = single("seed", &place, node);
        let run = Node { place: place.clone(), value: Value::Table(run) };
        Some(single("run", &place, run))
    }

    /// Reports what is wrong in a layer of arguments.
    fn check(&mut self, layer: &Table) {
        let place = layer.0.values().next().map(|entry| entry.key.clone());
        if let Some(place) = place {
            let node = Node { place, value: Value::Table(layer.clone()) };
            DriveFile::read(&node, "", self.log);
        }
    }
}

/// Keys that describe the file itself and are not inherited.
const HEAD: [&str; 7] = ["schema", "name", "summary", "base", "chip", "sources", "measured"];

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

fn single(key: &str, place: &Place, node: Node) -> Table {
    Table([(key.to_owned(), Entry { key: place.clone(), node })].into())
}

/// `KEY=VALUE`; the value is read as TOML where it is that, else as text.
fn set_argument(text: &Arc<Text>, log: &mut Log) -> Option<Table> {
    let Some(equals) = text.body.find('=') else {
        log.push(bad_argument("`--set` takes KEY=VALUE", text, "such as ftl.spare-factor=0.2"));
        return None;
    };
    let mut keys = Vec::new();
    for part in parts(text, 0..equals, '.') {
        let key = &text.body[part.clone()];
        let word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if key.is_empty() || !key.chars().all(word) || keys.len() == DEEPEST_KEY {
            let place = Place::new(text, 0..equals);
            let error = ConfigError::new(Kind::Argument, "`--set` takes KEY=VALUE");
            log.push(error.at(&place, "this is not a key"));
            return None;
        }
        keys.push((key.to_owned(), Place::new(text, part)));
    }
    let value = parse_value(text, trim(text, equals + 1..text.body.len()), log);
    let mut keys = keys.into_iter().rev();
    let (key, place) = keys.next()?;
    let mut table = single(&key, &place, value);
    for (key, place) in keys {
        let node = Node { place: place.clone(), value: Value::Table(table) };
        table = single(&key, &place, node);
    }
    Some(table)
}

/// `FAMILY=NAME[:key=value]…`; the name of a policy from outside begins with a scheme and a colon.
fn policy_argument(text: &Arc<Text>, scheme: Option<&str>, log: &mut Log) -> Option<Table> {
    const FORM: &str = "`--policy` takes FAMILY=NAME[:key=value]…";
    let Some(equals) = text.body.find('=') else {
        log.push(bad_argument(FORM, text, "such as victim=greedy"));
        return None;
    };
    let family = trim(text, 0..equals);
    let mut segments = parts(text, equals + 1..text.body.len(), ':').into_iter().peekable();
    let mut name = segments.next()?;
    if Some(&text.body[name.clone()]) == scheme {
        name.end = segments.next().map_or(name.end, |rest| rest.end);
    }
    if family.is_empty() || name.is_empty() {
        log.push(bad_argument(FORM, text, "such as victim=greedy"));
        return None;
    }
    let word = |range: &Range<usize>| text.body[range.clone()].to_owned();
    let place = |range: &Range<usize>| Place::new(text, range.clone());
    if word(&name).contains(',') {
        let error = ConfigError::new(Kind::Argument, "one policy for a family is needed here");
        log.push(error.at(&place(&name), "comma lists are for comparisons and sweeps"));
        return None;
    }
    let chosen = Node { place: place(&name), value: Value::Text(word(&name)) };
    let mut choice = single("name", &place(&name), chosen);
    for param in segments {
        let Some(equals) = text.body[param.clone()].find('=') else {
            let error = ConfigError::new(Kind::Argument, FORM);
            log.push(error.at(&place(&param), "expected key=value"));
            return None;
        };
        let key = trim(text, param.start..param.start + equals);
        let value = parse_value(text, trim(text, param.start + equals + 1..param.end), log);
        let entry = Entry { key: place(&key), node: value };
        choice.0.insert(word(&key), entry);
    }
    let node = Node { place: place(&name), value: Value::Table(choice) };
    let families = single(&word(&family), &place(&family), node);
    let node = Node { place: place(&family), value: Value::Table(families) };
    Some(single("policies", &place(&family), node))
}

fn bad_argument(message: &str, text: &Arc<Text>, label: &str) -> ConfigError {
    let all = Place::new(text, 0..text.body.len());
    ConfigError::new(Kind::Argument, message).at(&all, label)
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

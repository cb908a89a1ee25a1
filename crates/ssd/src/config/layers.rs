//! From the drive file, the files it inherits and the command line to one tree.
//!
//! From low to high: the defaults; for every file its base, then its chip, then its own keys; a
//! chip set on the command line; `--set`; `--policy`; `--seed`. A higher layer's choice among
//! settings that exclude each other displaces that of the lower ones.

use super::error::{ConfigError, ConfigErrorKind, Log};
use super::field::{At, Field, SettingKey, unknown_keys};
use super::keys::{ChipFile, File, NOT_OF_A_CHIP, Sources};
use super::node::{KeyEntry, Node, TomlTable, Value, located, parse, read_value};
use super::text::{Origin, Text, TextPlace};
use crate::presets;
use kernel::nearest;
use policies::external::Supplier;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The layers of a configuration. The texts and the lookup come from the caller, because this crate
/// opens no files.
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
#[derive(Clone)]
pub(crate) struct Merged {
    /// The settings. Of the keys that files do not inherit: the drive file's name, summary and
    /// base.
    pub(crate) tree: TomlTable,
    /// The drive file.
    pub(crate) file: Arc<Text>,
    /// Whether everything inherited was found. If not, missing settings are not reported.
    pub(crate) whole: bool,
    /// The source of each setting, in words.
    pub(crate) sources: BTreeMap<String, String>,
}

/// The format of a drive file.
pub(crate) const DRIVE: &str = "floatgate.drive/1";
const CHIP: &str = "floatgate.chip/1";

/// A chain of `base` longer than this is refused: no library needs it.
const LONGEST_CHAIN: usize = 16;

/// The greatest number of parts of a key on the command line. No setting has as many.
const DEEPEST_KEY: usize = 16;

/// Ways of setting one thing: the section, its keys by way, and the advice if there are several.
type Ways = (&'static str, &'static [&'static [&'static str]], &'static str);

/// How much is exported; how long the array takes; how much the buffer holds; when the requests of a
/// generator arrive.
pub(crate) const WAYS: [Ways; 4] = [
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
        "buffer",
        &[&["size"], &["units-per-die"]],
        "`units-per-die` is a size that follows the number of dies: give one of them",
    ),
    (
        "workload",
        &[&["arrivals"], &["rate"]],
        "`rate` is short for { poisson = { iops = … } }: give one of them",
    ),
];

/// Gathers all layers. Returns `None` if a text could not be read at all; the reason is in `log`.
pub(crate) fn merge(
    layers: &Layers<'_>,
    supplier: Option<&dyn Supplier>,
    log: &Log,
) -> Option<Merged> {
    let library = layers.library;
    let (tree, sources) = (TomlTable::default(), BTreeMap::new());
    let mut loader = Loader { library, log, texts: 0, tree, sources, unread: false, whole: true };
    let file = loader.text(layers.file.0, layers.file.1, Origin::File);
    let set = loader.arguments("--set", layers.set, Origin::Set, TomlTable::overlay, set_argument);
    for key in ["schema", "base", "sources"] {
        if let Some(entry) = set.0.get(key) {
            let message = format!("`{key}` can be given in a drive file only");
            log.push(ConfigError::new(ConfigErrorKind::Argument, message, &entry.key, ""));
        }
    }
    let scheme = supplier.map(Supplier::scheme);
    let policy_argument = |all: &TextPlace, log: &Log| policy_argument(all, scheme, log);
    let policy =
        loader.arguments("--policy", layers.policy, Origin::Argument, put, policy_argument);
    let seed = layers.seed.map_or_else(TomlTable::default, |seed| loader.seed(seed));

    let defaults = loader.text("defaults", presets::DEFAULTS, Origin::Default);
    loader.file(&defaults, false, &mut Vec::new());
    loader.file(&file, false, &mut Vec::new());
    loader.chip_of(&set);
    for (option, table) in [("--set", set), ("--policy", policy), ("--seed", seed)] {
        loader.add(table, &Sources::all(option));
    }
    let Loader { tree, mut sources, whole, unread, .. } = loader;
    let leaves: BTreeSet<String> = tree.leaves().into_iter().map(|(path, _)| path).collect();
    sources.retain(|path, _| path.contains('.') && leaves.contains(path));
    (!unread).then_some(Merged { tree, file, whole, sources })
}

/// Puts `high` over `low`. A choice of `high` replaces settings that exclude it.
pub(super) fn put(low: &mut TomlTable, mut high: TomlTable) {
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
    if let (Some(low), Some(high)) = (low.section("policies"), high.section("policies")) {
        low.0.retain(|family, _| high.at(&format!("{family}.name")).is_none());
    }
    low.overlay(high);
}

struct Loader<'a> {
    library: &'a dyn Fn(&str) -> Option<(String, String)>,
    log: &'a Log,
    texts: usize,
    /// The layers so far as one, and the source of each setting.
    tree: TomlTable,
    sources: BTreeMap<String, String>,
    /// Whether some text could not be read, so that later errors would be guesses.
    unread: bool,
    /// Whether there is all that was inherited.
    whole: bool,
}

/// Sections that another chip replaces even if it lacks them: they are optional, and those of the
/// chip before would be wrong.
const OF_THE_CHIP: [&str; 3] = ["energy", "pages", "slc"];

impl Loader<'_> {
    fn text(&mut self, name: &str, body: &str, origin: Origin) -> Arc<Text> {
        self.texts += 1;
        Text::new(name, body, origin, self.texts)
    }

    /// Adds a layer, with the source of its settings.
    fn add(&mut self, layer: TomlTable, sources: &Sources) {
        let from = |(path, _): (String, &KeyEntry)| {
            let source = sources.of(&path).to_owned();
            (path, source)
        };
        self.sources.extend(layer.leaves().into_iter().map(from));
        put(&mut self.tree, layer);
    }

    /// Adds a file on top of the files it inherits. `trail` has the names that led here, the file's
    /// own last.
    fn file(&mut self, text: &Arc<Text>, chip: bool, trail: &mut Vec<String>) {
        let (mut table, wrong) = parse(text);
        if !wrong.is_empty() {
            self.unread = true;
            return wrong.into_iter().for_each(|error| self.log.push(error));
        }
        self.check_format(&table, chip);
        self.check(&mut table, chip);
        let otherwise = match trail.last() {
            Some(name) if chip => format!("chip {name}"),
            Some(name) => format!("base {name}"),
            None if text.origin == Origin::Default => "default".to_owned(),
            None => "drive file".to_owned(),
        };
        let own = if trail.is_empty() { &HEAD[3..] } else { &HEAD };
        if let Some((base, place)) = table.text("base")
            && let Some(text) = self.find(base, place, chip, trail)
        {
            trail.push(base.to_owned());
            self.file(&text, chip, trail);
        }
        if !chip {
            self.chip_of(&table);
        }
        let at = table.at("sources").map(|node| At { node, path: "sources", log: self.log });
        let mut sources = Sources::all(&otherwise);
        sources.0.extend(at.and_then(Sources::read).unwrap_or_default().0);
        table.0.retain(|key, _| !own.contains(&key.as_str()));
        self.add(table, &sources);
    }

    /// Adds the chip that a table names, if it names one.
    fn chip_of(&mut self, table: &TomlTable) {
        if let Some((name, place)) = table.text("chip")
            && let Some(text) = self.find(name, place, true, &[])
        {
            self.tree.0.retain(|key, _| !OF_THE_CHIP.contains(&key.as_str()));
            self.file(&text, true, &mut vec![name.to_owned()]);
        }
    }

    fn check_format(&mut self, table: &TomlTable, chip: bool) {
        let (expected, other) = if chip { (CHIP, DRIVE) } else { (DRIVE, CHIP) };
        let Some((found, place)) = table.text("schema").filter(|(found, _)| *found != expected)
        else {
            return;
        };
        let label = if found == other {
            format!("expected \"{expected}\": a drive file names its `chip`, and is not one")
        } else {
            format!("this version reads \"{expected}\"")
        };
        let message = format!("\"{found}\" is not the format expected here");
        self.log.fail("schema", ConfigError::new(ConfigErrorKind::Value, message, place, label));
    }

    /// Reports the errors of a layer, for each key on its own.
    fn check(&mut self, table: &mut TomlTable, chip: bool) {
        let mut keys: Vec<&SettingKey> = File::KEYS.iter().collect();
        if chip {
            for path in NOT_OF_A_CHIP {
                if let Some(KeyEntry { key, .. }) = table.remove(path) {
                    let message = format!("`{path}` is not a setting");
                    let label = "a chip does not say this, a drive does";
                    self.log.push(ConfigError::new(
                        ConfigErrorKind::UnknownKey,
                        message,
                        &key,
                        label,
                    ));
                }
            }
            keys.retain(|key| !NOT_OF_A_CHIP.contains(&&*key.name()));
            keys.extend(ChipFile::KEYS);
        }
        // `family = "name"` becomes `family = { name = "name" }`, so that layers can be compared.
        for entry in table.section("policies").into_iter().flat_map(|all| all.0.values_mut()) {
            if let Node { place, value: value @ Value::Text(_) } = &mut entry.node {
                let name = Node { place: place.clone(), value: value.clone() };
                *value = Value::Table(TomlTable::one("name", place, name));
            }
        }
        unknown_keys(table, "", &keys, self.log);
        let _ = (File::of(table, "", self.log), chip.then(|| ChipFile::of(table, "", self.log)));
    }

    /// Finds the file that `base` or `chip` names.
    fn find(
        &mut self,
        name: &str,
        place: &TextPlace,
        chip: bool,
        trail: &[String],
    ) -> Option<Arc<Text>> {
        let (what, other, not, all) = if chip {
            ("chip", "drive", DRIVE, presets::chips())
        } else {
            ("drive", "chip", CHIP, presets::presets())
        };
        let fits = |body: &str| located(body).0.text("schema").is_none_or(|(is, _)| is != not);
        let (message, label) = if trail.iter().any(|seen| seen == name) {
            let chain = [trail, &[name.to_owned()]].concat().join(" → ");
            (format!("`{name}` inherits from itself"), chain)
        } else if trail.len() >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} files inherit from each other");
            (message, "the chain ends here".to_owned())
        } else {
            match ((self.library)(name), presets::named(all, name)) {
                (Some((shown, body)), _) if fits(&body) => {
                    return Some(self.text(&shown, &body, Origin::File));
                }
                (_, Some(body)) => return Some(self.text(name, body, Origin::File)),
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
        self.log.push(ConfigError::new(ConfigErrorKind::Inherit, message, place, label));
        self.whole = false;
        None
    }

    /// All arguments of one kind as one layer: `put` specifies the effect of a later argument on
    /// earlier ones.
    fn arguments(
        &mut self,
        option: &str,
        arguments: &[String],
        origin: Origin,
        put: fn(&mut TomlTable, TomlTable),
        read: impl Fn(&TextPlace, &Log) -> Result<TomlTable, ConfigError>,
    ) -> TomlTable {
        let mut layer = TomlTable::default();
        for (i, argument) in arguments.iter().enumerate() {
            let text = self.text(&format!("{option} argument {}", i + 1), argument, origin);
            match read(&TextPlace::of(&text), self.log) {
                Ok(table) => put(&mut layer, table),
                Err(error) => self.log.push(error),
            }
        }
        self.check(&mut layer, false);
        layer
    }

    fn seed(&mut self, seed: u64) -> TomlTable {
        let place = TextPlace::of(&self.text("--seed", &seed.to_string(), Origin::Argument));
        let number = i64::try_from(seed).unwrap_or_else(|_| {
            let message = format!("a seed is at most {}", i64::MAX);
            self.log.push(ConfigError::new(ConfigErrorKind::Argument, message, &place, ""));
            0
        });
        let node = Node { place: place.clone(), value: Value::Int(number) };
        nested(&[("run", place.clone()), ("seed", place)], node)
    }
}

/// Keys that describe the file itself and are not inherited; the first three may name a drive.
const HEAD: [&str; 7] = ["name", "summary", "base", "schema", "chip", "sources", "measured"];

/// A table with a value under keys within keys.
fn nested(keys: &[(&str, TextPlace)], value: Node) -> TomlTable {
    let Some(((key, place), outer)) = keys.split_last() else { return TomlTable::default() };
    outer.iter().rev().fold(TomlTable::one(key, place, value), |table, (key, place)| {
        TomlTable::one(key, place, Node { place: place.clone(), value: Value::Table(table) })
    })
}

/// `KEY=VALUE`. The value is read as TOML if it is valid TOML, otherwise as text.
fn set_argument(all: &TextPlace, log: &Log) -> Result<TomlTable, ConfigError> {
    let bad = |part, label| {
        Err(ConfigError::new(
            ConfigErrorKind::Argument,
            "`--set` takes KEY=VALUE",
            &all.part(part),
            label,
        ))
    };
    let Some((key, value)) = all.text().split_once('=') else {
        return bad(all.text(), "such as ftl.spare-factor=0.2");
    };
    let word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let parts: Vec<_> = key.split('.').map(|part| (part.trim(), all.part(part.trim()))).collect();
    let are_keys = parts.iter().all(|(part, _)| !part.is_empty() && part.chars().all(word));
    if parts.len() > DEEPEST_KEY || !are_keys {
        return bad(key, "this is not a key");
    }
    Ok(nested(&parts, read_value(all.part(value.trim()), log)))
}

/// `FAMILY=NAME[:key=value]…`; the name of a policy from outside begins with a scheme and a colon.
fn policy_argument(
    all: &TextPlace,
    scheme: Option<&str>,
    log: &Log,
) -> Result<TomlTable, ConfigError> {
    let bad = |message, part, label| {
        Err(ConfigError::new(ConfigErrorKind::Argument, message, &all.part(part), label))
    };
    let (form, example) = ("`--policy` takes FAMILY=NAME[:key=value]…", "such as victim=greedy");
    let Some((family, choice)) = all.text().split_once('=') else {
        return bad(form, all.text(), example);
    };
    let (family, mut segments) = (family.trim(), choice.split(':').map(str::trim));
    let mut name = all.part(segments.next().unwrap_or(choice));
    if Some(name.text()) == scheme
        && let Some(rest) = segments.next()
    {
        name.range.end = all.part(rest).range.end;
    }
    if family.is_empty() || name.text().is_empty() {
        return bad(form, all.text(), example);
    }
    if name.text().contains(',') {
        let message = "one policy for a family is needed here";
        return bad(message, name.text(), "comma lists are for comparisons and sweeps");
    }
    let chosen = Node { place: name.clone(), value: Value::Text(name.text().to_owned()) };
    let mut params = TomlTable::one("name", &name, chosen);
    for param in segments {
        let Some((key, value)) = param.split_once('=') else {
            return bad(form, param, "expected key=value");
        };
        let (key, node) = (all.part(key.trim()), read_value(all.part(value.trim()), log));
        params.0.insert(key.text().to_owned(), KeyEntry { key, node });
    }
    let node = Node { place: name, value: Value::Table(params) };
    let place = all.part(family);
    Ok(nested(&[("policies", place.clone()), (family, place)], node))
}

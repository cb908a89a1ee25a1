//! The catalogue's files, read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::names::NamePattern;
use super::statistics::{Citation, CitationKind, Quantity, Statement, size};
use super::{Archive, Catalogue, Entry, Group};

/// One file for each publisher.
const PUBLISHERS: [&str; 5] = [
    include_str!("../../../../presets/traces/msr.toml"),
    include_str!("../../../../presets/traces/msps.toml"),
    include_str!("../../../../presets/traces/umass.toml"),
    include_str!("../../../../presets/traces/fiu.toml"),
    include_str!("../../../../presets/traces/mango.toml"),
];
const GROUPS: &str = include_str!("../../../../presets/traces/groups.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Publisher {
    name: String,
    title: String,
    set: Option<String>,
    page: Option<String>,
    licence: Option<String>,
    format: Option<String>,
    /// Facts of every trace, unless the trace itself has others.
    #[serde(default)]
    statistics: Vec<toml::Table>,
    sources: BTreeMap<String, DataSource>,
    #[serde(default)]
    archives: BTreeMap<String, Stored>,
    trace: Vec<Trace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataSource {
    kind: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    source: String,
    size: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    source: String,
    files: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    title: String,
    set: Option<String>,
    page: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    count: Option<Count>,
    archive: Option<String>,
    packed: Option<Stored>,
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    statistics: Vec<toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    group: Vec<GroupText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupText {
    name: String,
    title: String,
    traces: Vec<String>,
    choice: String,
}

/// The catalogue that comes with floatgate. Its files are part of the program: a mistake in them is
/// ours, and the tests find it.
pub(super) fn built_in() -> Catalogue {
    let mut traces = Vec::new();
    for text in PUBLISHERS {
        let publisher: Publisher = toml::from_str(text).expect("the catalogue is well formed");
        publisher.add_to(&mut traces);
    }
    let groups: Groups = toml::from_str(GROUPS).expect("the groups are well formed");
    let groups = groups.group.into_iter().map(|g| Group {
        name: g.name,
        title: g.title,
        traces: g.traces,
        choice: g.choice.trim().to_owned(),
    });
    Catalogue { traces, groups: groups.collect() }
}

impl Publisher {
    fn add_to(self, traces: &mut Vec<Entry>) {
        for trace in &self.trace {
            let full = |name: &String| {
                if name.contains(':') { name.clone() } else { format!("{}:{name}", self.name) }
            };
            let archive = trace.archive.as_ref().map(|name| {
                let stored = self.archives.get(name);
                Archive { name: name.clone(), bytes: stored.map(|s| self.bytes(s)) }
            });
            let patterns = trace.files.iter().map(|name| NamePattern::new(name)).collect();
            let mut statements: Vec<Statement> =
                trace.statistics.iter().map(|s| self.statement(s)).collect();
            statements.extend(self.statistics.iter().map(|s| self.statement(s)));
            traces.push(Entry {
                name: full(&trace.name),
                aliases: trace.aliases.iter().map(full).collect(),
                title: trace.title.clone(),
                collection: self.title.clone(),
                set: trace.set.clone().or_else(|| self.set.clone()),
                page: trace.page.clone().or_else(|| self.page.clone()),
                licence: self.licence.clone(),
                format: self.format.clone(),
                patterns,
                files: trace.count.as_ref().map_or(1, |count| {
                    self.cite(&count.source);
                    count.files
                }),
                archive,
                packed_bytes: trace.packed.as_ref().map(|s| self.bytes(s)),
                parts: trace.parts.iter().map(full).collect(),
                statements,
            });
        }
    }

    fn cite(&self, key: &str) -> Citation {
        let source = self.sources.get(key).unwrap_or_else(|| panic!("no source `{key}`"));
        let kinds = [
            CitationKind::Paper,
            CitationKind::Found,
            CitationKind::Derived,
            CitationKind::Recalled,
        ];
        let kind = kinds.into_iter().find(|k| k.name() == source.kind);
        Citation { kind: kind.expect("a kind of source"), text: source.text.clone() }
    }

    fn bytes(&self, stored: &Stored) -> u64 {
        self.cite(&stored.source);
        size(&stored.size).expect("a size in bytes") as u64
    }

    fn statement(&self, table: &toml::Table) -> Statement {
        let text = |key| table.get(key).and_then(toml::Value::as_str);
        let figure = |(key, value): (&String, &toml::Value)| {
            if key == "source" || key == "of" {
                return None;
            }
            let quantity = Quantity::ALL.into_iter().find(|q| q.key() == key);
            let quantity = quantity.unwrap_or_else(|| panic!("`{key}` is not a quantity"));
            let figure = quantity.read(value);
            Some((quantity, figure.unwrap_or_else(|| panic!("`{key}` cannot be {value}"))))
        };
        Statement {
            source: self.cite(text("source").expect("every statement has a source")),
            of: text("of").map(ToOwned::to_owned),
            figures: table.iter().filter_map(figure).collect(),
        }
    }
}

/// Keys of sources that nothing cites, as `publisher: key`.
#[cfg(test)]
pub(super) fn idle_sources() -> Vec<String> {
    let mut idle = Vec::new();
    for text in PUBLISHERS {
        let publisher: Publisher = toml::from_str(text).unwrap();
        for key in publisher.sources.keys() {
            let cited = text.matches(&format!("source = \"{key}\"")).count();
            if cited == 0 {
                idle.push(format!("{}: {key}", publisher.name));
            }
        }
    }
    idle
}

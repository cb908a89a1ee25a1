//! The catalogue: published traces by name, the facts about them, and the places of their files.
//!
//! The data is in `presets/traces`. A trace is named by its publisher and itself, `msr:hm_0`;
//! `msr:hm` is the volumes of that server side by side.

mod data;
mod names;
mod open;
pub(crate) mod published;
mod shelf;
mod stand_in;
mod statistics;

use kernel::nearest;

pub use names::NamePattern;
pub use published::{Given, Missing, published};
pub use shelf::{FoundFile, Presence, Shelf};
pub use statistics::{Citation, CitationKind, Known, Quantity, Statement};

/// Every trace that floatgate knows by name, and the groups that papers used.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// In the order of their publishers' lists.
    pub traces: Vec<Entry>,
    /// By paper.
    pub groups: Vec<Group>,
}

/// A published trace.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Publisher and trace, `msr:hm_0`.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// The traced system.
    pub title: String,
    /// Its group.
    pub collection: String,
    /// The number that its repository gives it.
    pub set: Option<String>,
    /// The place of the download; `None`: it is not published.
    pub page: Option<String>,
    /// Its terms, in a few words.
    pub licence: Option<String>,
    /// The name of the format that reads it.
    pub format: Option<String>,
    /// How its files are called. None: it has parts, or is not published.
    pub patterns: Vec<NamePattern>,
    /// How many files it has.
    pub files: u32,
    /// The archive that it is downloaded in.
    pub archive: Option<Archive>,
    /// Size of its one file as published, compressed.
    pub packed_bytes: Option<u64>,
    /// The traces that it consists of, side by side.
    pub parts: Vec<String>,
    /// Statements of sources about it, the most reliable first.
    pub statements: Vec<Statement>,
}

/// An archive with the files of several traces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Archive {
    /// Its file name.
    pub name: String,
    /// Its size, if that is known.
    pub bytes: Option<u64>,
}

/// The traces of a paper.
#[derive(Clone, Debug)]
pub struct Group {
    /// One word.
    pub name: String,
    /// The paper's subject.
    pub title: String,
    /// Names of traces.
    pub traces: Vec<String>,
    /// The question that the paper leaves open, and the choice.
    pub choice: String,
}

impl Entry {
    /// A figure, if a source gives it or it follows from one that does.
    pub fn known(&self, quantity: Quantity) -> Option<Known> {
        statistics::known(&self.statements, quantity)
    }
}

impl Catalogue {
    /// The one that comes with floatgate.
    pub fn built_in() -> Self {
        data::built_in()
    }

    /// The trace with this name, or with this other name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let called = |e: &&Entry| e.name == name || e.aliases.iter().any(|alias| alias == name);
        self.traces.iter().find(called)
    }

    /// The name that was probably meant: the nearest one, or `hm_0` with its publisher.
    pub fn meant(&self, name: &str) -> Option<&str> {
        let short = |full: &str| full.split_once(':').is_some_and(|(_, short)| short == name);
        let names = || self.traces.iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases));
        let complete = names().find(|full| short(full)).map(String::as_str);
        complete.or_else(|| nearest(name, names().map(String::as_str)))
    }

    /// The archive that a trace is downloaded in, or all of its parts are.
    pub fn archive_of<'a>(&'a self, entry: &'a Entry) -> Option<&'a Archive> {
        let of_part = || self.get(entry.parts.first()?)?.archive.as_ref();
        entry.archive.as_ref().or_else(of_part)
    }

    /// The groups that a trace belongs to.
    pub fn groups_of<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a str> {
        let of = move |g: &&Group| g.traces.contains(&entry.name);
        self.groups.iter().filter(of).map(|g| g.name.as_str())
    }
}

#[cfg(test)]
mod tests;

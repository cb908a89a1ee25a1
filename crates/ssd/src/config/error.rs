//! The mistakes of a configuration, and the list that gathers them.

use super::field::words;
use super::text::TextPlace;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use thiserror::Error;

words! {
    /// The kinds of error, each with a stable name for machines.
    pub enum ConfigErrorKind {
        /// The text is not TOML.
        Syntax = "config::syntax",
        /// A command-line argument does not have the expected form.
        Argument = "config::argument",
        /// A key that is not a setting.
        UnknownKey = "config::unknown-key",
        /// A value whose type does not suit the setting.
        Type = "config::type",
        /// A time, size or rate without its unit, or with a wrong one.
        Unit = "config::unit",
        /// A value that the setting does not allow.
        Value = "config::value",
        /// A setting without a default is not given.
        Missing = "config::missing",
        /// Settings that exclude each other.
        Conflict = "config::conflict",
        /// A `base` or `chip` that does not exist, is of the wrong kind, or inherits from itself.
        Inherit = "config::inherit",
        /// Sizes that make no drive.
        Geometry = "config::geometry",
        /// More capacity exported than there is flash.
        OverCapacity = "config::over-capacity",
        /// Too few spare blocks for garbage collection.
        TooFewSpare = "config::too-few-spare",
        /// A policy, or a combination of policies, that does not work.
        Policy = "config::policy",
    }
}

/// A place that belongs to an error, and the remark to print there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The place.
    pub place: TextPlace,
    /// The remark at the place; may be empty.
    pub label: String,
}

/// One thing that is wrong with a configuration. [`render`](super::render) shows it with the
/// lines it is about.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub struct ConfigError {
    /// Its kind.
    pub kind: ConfigErrorKind,
    /// The mistake, in one line.
    pub message: String,
    /// The places. The first one is the cause, and the others belong to it.
    pub marks: Vec<Mark>,
    /// The advice, if the marks do not give enough.
    pub help: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        match self.marks.first() {
            None => f.write_str(message),
            Some(Mark { place, label }) if label.is_empty() => write!(f, "{place}: {message}"),
            Some(Mark { place, label }) => write!(f, "{place}: {message} ({label})"),
        }
    }
}

impl ConfigError {
    /// An error, with the culprit and the remark to print there.
    pub(crate) fn new(
        kind: ConfigErrorKind,
        message: impl Into<String>,
        place: &TextPlace,
        label: impl Into<String>,
    ) -> Self {
        let mark = Mark { place: place.clone(), label: label.into() };
        Self { kind, message: message.into(), marks: vec![mark], help: None }
    }
}

/// Errors as they are found. Settings that were found wrong are remembered, so that no further
/// error is reported about them or their consequences.
#[derive(Default)]
pub(crate) struct Log {
    errors: RefCell<Vec<ConfigError>>,
    broken: RefCell<BTreeSet<String>>,
    missing: RefCell<BTreeMap<String, Vec<String>>>,
    /// Page types of the cells, once they are known. A list of values by page type has this length.
    pub(crate) page_types: Cell<Option<usize>>,
}

impl Log {
    pub(crate) fn push(&self, error: ConfigError) {
        let mut errors = self.errors.borrow_mut();
        if !errors.contains(&error) {
            errors.push(error);
        }
    }

    /// Reports an error in the setting at `path`.
    pub(crate) fn fail(&self, path: &str, error: ConfigError) {
        self.excuse(path);
        self.push(error);
    }

    /// Reports nothing more about the setting at `path`: it is wrong, or another key was meant
    /// instead.
    pub(crate) fn excuse(&self, path: &str) {
        self.broken.borrow_mut().insert(path.to_owned());
    }

    /// Whether this setting, or a section it lies in, is known to be wrong.
    pub(crate) fn is_broken(&self, path: &str) -> bool {
        let broken = self.broken.borrow();
        broken.contains(path)
            || path.match_indices('.').any(|(dot, _)| broken.contains(&path[..dot]))
    }

    /// Whether the setting at `path` has nothing wrong within it.
    pub(crate) fn is_sound(&self, path: &str) -> bool {
        let within = |b: &String| b.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        !self.is_broken(path) && !self.broken.borrow().iter().any(within)
    }

    /// Notes that a setting is not given. Each section with such settings gets one error.
    pub(crate) fn miss(&self, path: &str) {
        if !self.is_broken(path) {
            let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
            self.missing.borrow_mut().entry(section.to_owned()).or_default().push(key.to_owned());
        }
    }

    /// Takes the settings noted as missing: section and keys.
    pub(crate) fn take_missing(&self) -> BTreeMap<String, Vec<String>> {
        self.missing.take()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// All errors, those of the drive file first and each text from top to bottom.
    pub(crate) fn errors(&self) -> Vec<ConfigError> {
        let mut errors = self.errors.take();
        errors.sort_by_key(|e| e.marks.first().map_or((usize::MAX, 0), |m| m.place.order()));
        errors
    }
}

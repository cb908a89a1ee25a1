//! The texts that settings come from, and places in them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The kind of text in which a setting was written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// The drive file, or a drive or a chip that it inherits from.
    File,
    /// A `--set` argument.
    Set,
    /// The argument of another option.
    Argument,
    /// The built-in defaults.
    Default,
}

/// One text, with the name it is shown by.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) body: String,
    pub(crate) origin: Origin,
    /// Position in the order of reports: the drive file first.
    pub(crate) order: usize,
}

impl Text {
    pub(crate) fn new(name: &str, body: &str, origin: Origin, order: usize) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), body: body.to_owned(), origin, order })
    }

    /// Whether this is a command-line argument, which has no lines to speak of.
    pub(crate) fn is_argument(&self) -> bool {
        matches!(self.origin, Origin::Set | Origin::Argument)
    }
}

/// A range of one of the texts: where a setting stands.
#[derive(Clone, PartialEq, Eq)]
pub struct TextPlace {
    pub(crate) text: Arc<Text>,
    pub(crate) range: Range<usize>,
}

impl TextPlace {
    pub(crate) fn new(text: &Arc<Text>, range: Range<usize>) -> Self {
        let end = range.end.min(text.body.len());
        Self { text: Arc::clone(text), range: range.start.min(end)..end }
    }

    /// All of a text.
    pub(crate) fn of(text: &Arc<Text>) -> Self {
        Self::new(text, 0..text.body.len())
    }

    /// The first byte of this place in its text.
    pub fn start(&self) -> usize {
        self.range.start
    }

    /// The place of a part of its text.
    pub(crate) fn part(&self, part: &str) -> Self {
        let start = part.as_ptr().addr() - self.text.body.as_ptr().addr();
        Self::new(&self.text, start..start + part.len())
    }

    /// The name of the file as the user knows it, or `--set argument 2`.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// The line, counted from 1; `None` on the command line.
    pub fn line(&self) -> Option<usize> {
        (!self.text.is_argument()).then(|| self.before().matches('\n').count() + 1)
    }

    /// The column in characters, counted from 1.
    pub fn column(&self) -> usize {
        let before = self.before();
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        before[line..].chars().count() + 1
    }

    /// The text at the place.
    pub(crate) fn text(&self) -> &str {
        &self.text.body[self.range.clone()]
    }

    fn before(&self) -> &str {
        let mut end = self.range.start;
        while !self.text.body.is_char_boundary(end) {
            end -= 1;
        }
        &self.text.body[..end]
    }

    pub(crate) fn order(&self) -> (usize, usize) {
        (self.text.order, self.range.start)
    }
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line() {
            Some(line) => write!(f, "{}:{line}:{}", self.name(), self.column()),
            None => f.write_str(self.name()),
        }
    }
}

impl fmt::Debug for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextPlace({self})")
    }
}

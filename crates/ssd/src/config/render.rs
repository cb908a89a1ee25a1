//! Errors as text for people.

use super::error::{ConfigError, Mark};
use super::text::TextPlace;
use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};
use std::sync::Arc;

/// Shows errors with the lines they are about, one after the other, in the manner of rustc.
pub fn render(errors: &[ConfigError], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<String> = errors.iter().map(|e| one(e, &renderer) + "\n").collect();
    shown.join("\n")
}

fn one(error: &ConfigError, renderer: &Renderer) -> String {
    let group = Level::ERROR.primary_title(error.message.as_str()).id(error.kind.name());
    let mut group = match error.marks.first() {
        // A missing setting has no line, so only the file's name can be shown.
        Some(Mark { place, .. }) if place.range == (0..0) => {
            group.element(Origin::path(place.name()))
        }
        _ => group.elements(snippets(&error.marks)),
    };
    if let Some(help) = &error.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let mut text = renderer.render(&[group]);
    // An argument is one line: its number is enough, and `:1:5` after it would only confuse.
    for place in error.marks.iter().map(|m| &m.place).filter(|p| p.text.is_argument()) {
        let name = place.name();
        text = text.replace(&format!("{name}:1:{}", place.column()), name);
    }
    text
}

/// One snippet for each text, in the order in which the marks name them.
fn snippets(marks: &[Mark]) -> Vec<Snippet<'_, Annotation<'_>>> {
    let mut snippets = Vec::new();
    for (at, Mark { place: TextPlace { text, .. }, .. }) in marks.iter().enumerate() {
        let is_here = |mark: &Mark| Arc::ptr_eq(&mark.place.text, text);
        if marks[..at].iter().any(is_here) {
            continue;
        }
        let annotations = marks.iter().enumerate().filter(|(_, m)| is_here(m)).map(|(i, m)| {
            let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(m.place.range.clone());
            if m.label.is_empty() { annotation } else { annotation.label(m.label.as_str()) }
        });
        let snippet = Snippet::source(text.body.as_str()).path(text.name.as_str());
        snippets.push(snippet.annotations(annotations));
    }
    snippets
}

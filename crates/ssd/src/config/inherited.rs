//! Settings that a drive file inherits, and that change the drive.

use super::error::Log;
use super::layers::{Layers, Merged, merge, put};
use super::node::{Node, TomlTable, Value, built_in};
use super::resolve::resolve;
use super::text::{Origin, TextPlace};
use crate::presets;
use policies::external::Supplier;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The settings that a drive file inherits and that matter, as JSON.
///
/// Each has its `key`, its `value`, its `default` and `from`, the file that gives it. The default
/// is null for a setting that a drive has only if a file gives it. The list is empty for a drive
/// with mistakes. It is also empty for an included drive, whose user chose all of its settings.
///
/// A setting matters if the drive file without it is valid and describes another drive. A setting
/// that every drive must give, such as the size of a page, is not listed: without it, there is an
/// error at once.
pub fn inherited(layers: &Layers<'_>, supplier: Option<&dyn Supplier>) -> Json {
    let log = Log::default();
    let Some(merged) = merge(layers, supplier, &log) else { return json!([]) };
    let included = presets::presets().iter().any(|(_, body)| *body == merged.file.body);
    let known = Search { merged: &merged, supplier, defaults: built_in(presets::DEFAULTS) };
    let Some(as_is) = known.resolved(&merged.tree).filter(|_| !included) else { return json!([]) };
    let mut found: Vec<(String, Json)> = Vec::new();
    for (leaf, _) in merged.tree.leaves() {
        let sections = leaf.rmatch_indices('.').map(|(dot, _)| &leaf[..dot]);
        for path in std::iter::once(&*leaf).chain(sections) {
            let within =
                |section: &str| path.strip_prefix(section).is_some_and(|s| s.starts_with('.'));
            if found.iter().any(|(seen, _)| seen == path || within(seen)) {
                break;
            }
            let Some((value, from)) = known.in_another_file(path) else { break };
            let (value, default) = (value.to_json(), known.defaults.at(path).map(Node::to_json));
            let without = known.resolved(&known.without(path));
            let (alone, open) = (without.is_some(), default.is_none());
            if default.as_ref() != Some(&value) && without.map_or(!open, |other| other != as_is) {
                let fact = json!({ "key": path, "value": value, "default": default, "from": from });
                // A section is listed once, for all settings within.
                found.retain(|(seen, _)| {
                    seen.strip_prefix(path).is_none_or(|s| !s.starts_with('.'))
                });
                found.push((path.to_owned(), fact));
            }
            // A section may be optional as a whole, although each of its settings is required
            // within it.
            let section = path.rsplit_once('.').map(|(section, _)| section);
            if alone || !open || section.is_none_or(|of| known.defaults.at(of).is_some()) {
                break;
            }
        }
    }
    found.into_iter().map(|(_, fact)| fact).collect()
}

struct Search<'a> {
    merged: &'a Merged,
    supplier: Option<&'a dyn Supplier>,
    defaults: TomlTable,
}

impl Search<'_> {
    /// The resolved drive of a tree, if it is one.
    fn resolved(&self, tree: &TomlTable) -> Option<Json> {
        let log = Log::default();
        let merged = Merged { tree: tree.clone(), ..self.merged.clone() };
        let drive = resolve(merged, self.supplier, &log)?;
        log.errors().is_empty().then_some(drive.resolved)
    }

    /// A setting or a section all of whose settings are inherited, and the file that the first comes from.
    fn in_another_file(&self, path: &str) -> Option<(&Node, &str)> {
        let node = self.merged.tree.at(path)?;
        let mut places = Vec::new();
        places_within(node, &mut places);
        let elsewhere = |place: &&TextPlace| {
            place.text.origin == Origin::File && !Arc::ptr_eq(&place.text, &self.merged.file)
        };
        let first = places.first()?;
        places.iter().all(elsewhere).then(|| (node, first.name()))
    }

    /// The tree with the defaults in place of the inherited settings at a path.
    fn without(&self, path: &str) -> TomlTable {
        let (mut tree, mut high) = (self.defaults.clone(), self.merged.tree.clone());
        high.remove(path);
        put(&mut tree, high);
        tree
    }
}

/// Notes the place of a setting, or of each setting in a section.
fn places_within<'a>(node: &'a Node, places: &mut Vec<&'a TextPlace>) {
    match &node.value {
        Value::Table(table) => {
            table.0.values().for_each(|entry| places_within(&entry.node, places));
        }
        _ => places.push(&node.place),
    }
}

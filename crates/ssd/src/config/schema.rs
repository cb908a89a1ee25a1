//! The JSON Schema of drive files.

use super::field::Field;
use super::keys::File;
use super::node::{TomlTable, Value, built_in};
use crate::presets;
use serde_json::{Value as Json, json};

/// The JSON Schema of drive files (draft 2020-12), with the defaults of the keys that have one.
pub fn schema() -> Json {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "floatgate drive file",
    });
    if let (Some(root), Json::Object(rest)) = (schema.as_object_mut(), File::schema()) {
        root.extend(rest);
    }
    add_defaults(&mut schema, &built_in(presets::DEFAULTS));
    schema
}

fn add_defaults(schema: &mut Json, defaults: &TomlTable) {
    for (key, entry) in &defaults.0 {
        let Some(inner) = schema.pointer_mut(&format!("/properties/{key}")) else { continue };
        match &entry.node.value {
            Value::Table(table) => add_defaults(inner, table),
            _ => inner["default"] = entry.node.to_json(),
        }
    }
}

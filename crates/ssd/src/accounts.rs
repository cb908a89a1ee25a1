//! The lists of names by which results are counted, as data for pages and documentation.

use crate::host::Class;
use nand::{Cause, Key, Level, Mode, Part, Source, reserved};
use serde_json::{Value, json};

/// Every list of names, as JSON, in the order of results: `sources`, `causes`, `levels`, `modes`
/// and `operations` (of the host). A list has `known` names, each with a `label` and the time or
/// work booked there (`about`). It also has `reserved` names, for which results have a place and to
/// which nothing books. `parts` are the parts of the time of a request: the `path` of keys, the
/// `column` of tables, `label` and `about`.
pub fn accounts() -> Value {
    let parts = Part::all().map(|part| {
        json!({
            "path": part.path(),
            "column": part.column(),
            "label": part.label(),
            "about": part.about(),
        })
    });
    json!({
        "sources": list::<Source>(),
        "causes": list::<Cause>(),
        "levels": list::<Level>(),
        "modes": list::<Mode>(),
        "operations": list::<Class>(),
        "parts": parts.collect::<Vec<_>>(),
    })
}

fn list<K: Key>() -> Value {
    let known = K::ALL
        .iter()
        .map(|key| json!({ "name": key.name(), "label": key.label(), "about": key.about() }));
    json!({
        "known": known.collect::<Vec<_>>(),
        "reserved": reserved::<K>().collect::<Vec<_>>(),
    })
}

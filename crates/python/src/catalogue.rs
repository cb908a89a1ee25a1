//! The catalogue of traces, and the existing files, as JSON.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use ssd::workload::TraceError;
use ssd::workload::catalogue::{
    Catalogue, Citation, Entry, FoundFile, NamePattern, Presence, Quantity, Shelf,
};

/// Every trace, the groups that papers used, and the other files in the folders.
pub(crate) fn listed(folders: &[PathBuf]) -> Result<Value, TraceError> {
    let catalogue = Catalogue::built_in();
    let shelf = Shelf::look(folders)?;
    let traces = catalogue.traces.iter().map(|entry| trace(&catalogue, &shelf, entry));
    let groups = catalogue.groups.iter().map(|group| {
        json!({
            "name": group.name,
            "title": group.title,
            "traces": group.traces,
            "choice": group.choice,
        })
    });
    let folders = folders.iter().map(|folder| folder.to_string_lossy());
    Ok(json!({
        "folders": folders.collect::<Vec<_>>(),
        "traces": traces.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "also_there": shelf.others(&catalogue).iter().map(file).collect::<Vec<_>>(),
    }))
}

fn trace(catalogue: &Catalogue, shelf: &Shelf, entry: &Entry) -> Value {
    let archive = catalogue.archive_of(entry);
    json!({
        "name": entry.name,
        "aliases": entry.aliases,
        "title": entry.title,
        "collection": entry.collection,
        "groups": catalogue.groups_of(entry).collect::<Vec<_>>(),
        "set": entry.set,
        "page": entry.page,
        "licence": entry.licence,
        "format": entry.format,
        "archive": archive.map(|a| json!({ "name": a.name, "bytes": a.bytes })),
        "file_names": entry.patterns.iter().map(NamePattern::shown).collect::<Vec<_>>(),
        "file_count": (entry.parts.is_empty() && entry.page.is_some()).then_some(entry.files),
        "packed_bytes": entry.packed_bytes,
        "parts": entry.parts,
        "statistics": statistics(entry),
        "stand_in_lacks": catalogue.stand_in_lacks(entry).map(|missing| missing.figures),
        "presence": presence(&shelf.presence(catalogue, entry)),
    })
}

/// The known facts, each figure with its source; unknown ones are left out.
fn statistics(entry: &Entry) -> Value {
    let all = Quantity::ALL.into_iter().filter_map(|quantity| {
        let known = entry.known(quantity)?;
        let figure = |value: f64, source: &Citation| {
            let value = if quantity.is_whole() { json!(value as u64) } else { json!(value) };
            json!({ "value": value, "source": source.text, "kind": source.kind.name() })
        };
        let mut said = figure(known.value, &known.source);
        let otherwise = known.otherwise.iter().map(|(value, source)| figure(*value, source));
        said["otherwise"] = otherwise.collect();
        Some((quantity.result_key(), said))
    });
    Value::Object(all.collect::<Map<_, _>>())
}

fn presence(presence: &Presence) -> Value {
    let (state, files, missing) = match presence {
        Presence::There(files) => ("there", &files[..], &[][..]),
        Presence::Partly(files, missing) => ("partly", &files[..], &missing[..]),
        Presence::Packed(found) => ("packed", std::slice::from_ref(found), &[][..]),
        Presence::Missing => ("missing", &[][..], &[][..]),
        Presence::Unpublished => ("unpublished", &[][..], &[][..]),
    };
    let files: Vec<Value> = files.iter().map(file).collect();
    json!({ "state": state, "files": files, "missing": missing })
}

fn file(found: &FoundFile) -> Value {
    json!({ "path": found.path.to_string_lossy(), "bytes": found.bytes })
}

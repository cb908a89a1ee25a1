//! The resolved drive as a drive file, and where its settings come from.

use super::drive::{Drive, Order};
use super::field::{Field, Offset, Reach, Setting};
use super::keys::{
    BufferKeys, DriveFile, FtlKeys, HostKeys, PreconditionKeys, ReliabilityKeys, Run, RunKeys,
};
use super::layers::Merged;
use super::node::Table;
use super::text::Origin;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Where each setting comes from.
pub(crate) fn sources(merged: &Merged) -> BTreeMap<String, String> {
    let mut leaves = Vec::new();
    merged.tree.leaves("", &mut leaves);
    leaves
        .into_iter()
        .filter(|(path, _)| path.contains('.'))
        .map(|(path, node)| {
            let source = merged.source(&path, &node.place.text);
            (path, source)
        })
        .collect()
}

/// The drive as a drive file.
pub(crate) fn emit(
    drive: &Drive,
    timing: &Map<String, Json>,
    energy: Option<Map<String, Json>>,
    run: &Run,
    tree: &Table,
) -> Json {
    let shape = drive.geometry.shape();
    let mut reliability = ReliabilityKeys::emit(&drive.reliability).unwrap_or_default();
    if let Some(section) = reliability.as_object_mut().filter(|_| !drive.reliability.model_on()) {
        // What only the model of the cells asks for is echoed where somebody gave it.
        let given = |key: &str| {
            let node = tree.at(&format!("reliability.{key}"));
            node.is_some_and(|node| node.place.text.origin != Origin::Default)
        };
        section.retain(|key, _| ALWAYS.contains(&key.as_str()) || given(key));
    }
    let mut resolved = json!({
        "schema": "floatgate.drive/1",
        "name": drive.name,
        "summary": drive.summary,
        "geometry": {
            "channels": shape.channels,
            "chips-per-channel": shape.chips_per_channel,
            "dies-per-chip": shape.dies_per_chip,
            "planes-per-die": shape.planes_per_die,
            "blocks-per-plane": shape.blocks_per_plane,
            "pages-per-block": shape.pages_per_block,
            "page-size": shape.page_size.to_string(),
            "bits-per-cell": shape.bits_per_cell,
        },
        "timing": timing,
        "reliability": reliability,
        "ftl": FtlKeys::emit(&drive.ftl),
        "host": HostKeys::emit(&drive.host),
        "buffer": BufferKeys::emit(&drive.buffer),
        "precondition": PreconditionKeys::emit(&drive.precondition),
        "policies": drive.policies.to_json(),
        "run": RunKeys::emit(run),
    });
    let order = Order::from(drive.geometry.order());
    if order != Order::Cyclic {
        resolved["pages"] = json!({ "order": order.name() });
    }
    if let Some(energy) = energy {
        resolved["energy"] = energy.into();
    }
    let mut workload = drive.workload.generator.clone();
    if let Some(shift) =
        Offset::emit(&Offset(drive.workload.shift)).filter(|_| drive.workload.shift != 0)
    {
        workload.insert("shift".into(), shift);
    }
    if !workload.is_empty() {
        resolved["workload"] = workload.into();
    }
    resolved
}

/// The keys of the cells that every drive asks for.
const ALWAYS: [&str; 3] = ["model", "endurance", "recovery"];

/// What of a resolved drive can shape its state before the run, but for the policies and what they
/// are told; `by_requests`: the state is made from the workload.
pub(crate) fn before_run(resolved: &Json, by_requests: bool) -> Json {
    let mut limited = Vec::new();
    DriveFile::limited("", &mut limited);
    let mut left = resolved.clone();
    for (path, reach) in limited {
        if reach == Reach::Requests && by_requests {
            continue;
        }
        let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
        let section = if section.is_empty() { String::new() } else { format!("/{section}") };
        let section = left.pointer_mut(&section.replace('.', "/")).and_then(Json::as_object_mut);
        section.and_then(|section| section.remove(key));
    }
    left
}

//! The resolved drive as a drive file, and where its settings come from.

use super::drive::{Drive, Model, Order};
use super::field::{Field, Reach};
use super::keys::DriveFile;
use super::layers::Merged;
use kernel::Bytes;
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
) -> Json {
    let shape = drive.geometry.shape();
    let page = shape.page_size;
    let mut workload = drive.workload.generator.clone();
    if drive.workload.shift != 0 {
        workload.insert("shift".into(), offset(drive.workload.shift).into());
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
            "page-size": page.to_string(),
            "bits-per-cell": shape.bits_per_cell,
        },
        "timing": timing,
        "reliability": reliability(drive),
        "ftl": {
            "mapping": "page",
            "logical-capacity": Bytes::new(u64::from(drive.logical_pages) * page.get()).to_string(),
            "unmapped-read": drive.ftl.unmapped_read.name(),
            "multi-plane": drive.ftl.multi_plane.name(),
            "gc": {
                "start": drive.ftl.gc.start,
                "stop": drive.ftl.gc.stop,
                "background-stop": drive.ftl.gc.background_stop,
                "foreground": drive.ftl.gc.foreground.name(),
            },
        },
        "host": {
            "sector": drive.host.sector.to_string(),
            "mode": drive.host.mode.name(),
            "speed": drive.host.speed,
            "queue-depth": drive.host.queue_depth,
            "queue-limit": drive.host.queue_limit,
            "out-of-range": drive.host.out_of_range.name(),
        },
        "buffer": {
            "size": drive.buffer.size.to_string(),
            "flush-above": drive.buffer.flush_above,
        },
        "precondition": {
            "fill": drive.precondition.fill.to_json(),
            "age": drive.precondition.age.name(),
        },
        "policies": drive.policies.to_json(),
        "run": {
            "seed": drive.seed,
            "keep-requests": drive.recording.requests,
            "series-interval":
                drive.recording.series_interval.map_or("auto".into(), |length| length.to_string()),
        },
    });
    let order = Order::from(drive.geometry.order());
    if order != Order::Cyclic {
        resolved["pages"] = json!({ "order": order.name() });
    }
    if let Some(energy) = energy {
        resolved["energy"] = energy.into();
    }
    if !workload.is_empty() {
        resolved["workload"] = workload.into();
    }
    resolved
}

/// What the model of the cells takes is echoed where it is on, or where somebody gave it.
fn reliability(drive: &Drive) -> Json {
    let r = &drive.reliability;
    let mut section = json!({
        "model": if r.model_on { Model::On } else { Model::Off }.name(),
        "endurance": r.endurance,
        "recovery": r.recovery.name(),
    });
    let given = |key: &str| {
        let source = drive.sources.get(&format!("reliability.{key}"));
        source.is_some_and(|source| source != "default")
    };
    for (key, value) in [
        ("correctable", json!([0, 1, 2].map(|step| r.ldpc.correctable(step)))),
        ("codeword", r.codeword.to_string().into()),
        ("code-rate", r.code_rate.into()),
        ("uber", r.uber.into()),
        ("read-start", r.read_start.name().into()),
        ("program-speed", r.program_speed.name().into()),
        ("uncorrectable", r.uncorrectable.name().into()),
        ("initial-cycles", r.initial_cycles.into()),
        ("initial-rest", r.initial_rest.to_string().into()),
        ("initial-retention", r.initial_retention.to_string().into()),
        ("target", r.target.to_string().into()),
    ] {
        if r.model_on || given(key) {
            section[key] = value;
        }
    }
    section
}

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

fn offset(shift: i64) -> String {
    let size = Bytes::new(shift.unsigned_abs());
    if shift < 0 { format!("-{size}") } else { size.to_string() }
}

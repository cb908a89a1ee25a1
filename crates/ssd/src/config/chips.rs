//! The chip library for readers: the facts of a chip, their consequences, and the source of every
//! number.

use super::drive::Drive;
use super::error::Log;
use super::field::{At, Field, Word};
use super::keys::{NOT_OF_A_CHIP, Sources};
use super::layers::Layers;
use super::load;
use super::node::{TomlTable, built_in};
use crate::presets;
use kernel::Dur;
use nand::Level;
use serde_json::{Map, Value as Json, json};

/// Every built-in chip: sizes, times, endurance, and the bandwidth that follows.
pub fn chips() -> Json {
    let about = |name: &str| drive_of(name).map(|drive| Json::Object(about(name, &drive)));
    presets::chips().iter().filter_map(|(name, _)| about(name)).collect()
}

/// One built-in chip: its entry of [`chips`], its pages, and every setting with its source. `None`
/// if there is no such chip.
pub fn chip(name: &str) -> Option<Json> {
    let drive = drive_of(name)?;
    let geometry = &drive.geometry;
    let pages = || 0..geometry.pages_per_block();
    let disturbed = |page| geometry.disturbed_by_reprogram(page).iter().collect::<Vec<_>>();
    let mut chip = about(name, &drive);
    chip.insert("page_types".into(), pages().map(|p| geometry.page_type(p)).collect());
    chip.insert("reprogram_disturbs".into(), pages().map(disturbed).collect());
    chip.insert("settings".into(), settings(&drive, name).into());
    Some(Json::Object(chip))
}

/// A drive of one built-in chip, which reads the chip file as a run would.
pub(crate) fn drive_of(name: &str) -> Option<Drive> {
    presets::named(presets::chips(), name)?;
    let text = format!(
        "chip = \"{name}\"\n\
         [geometry]\nchannels = 1\nchips-per-channel = 1\n\
         [ftl]\nspare-factor = 0.2\n"
    );
    let layers =
        Layers { file: ("chip", &text), library: &|_| None, set: &[], policy: &[], seed: None };
    Some(load(&layers).expect("a built-in chip is sound"))
}

fn about(name: &str, drive: &Drive) -> Map<String, Json> {
    let (geometry, timing) = (&drive.geometry, &drive.timing);
    let shape = geometry.shape();
    let types = shape.bits_per_cell as usize;
    let (command, transfer) = timing.bus.parts();
    // Pages one after the other on one plane, averaged over their types (Grupp Fig. 2).
    let rate = |times: &[Dur]| {
        let mean = times.iter().copied().sum::<Dur>().as_secs_f64() / times.len() as f64;
        let page = (command + transfer).as_secs_f64() + mean;
        shape.page_size.get() as f64 / page / 1e6
    };
    let (read, program) =
        (&timing.read[Level::MediumCost][..types], &timing.program[Level::MediumCost][..types]);
    let ns = |times: &[Dur]| times.iter().map(|t| t.as_ns()).collect::<Vec<_>>();
    let safe =
        (0..shape.pages_per_block).filter(|p| geometry.disturbed_by_reprogram(*p).count == 0);
    let block = u64::from(shape.pages_per_block) * shape.page_size.get();
    let energy = drive.energy.as_ref().map(|energy| {
        let joules = |all: &[kernel::Energy]| all.iter().map(|e| e.as_joules()).collect::<Vec<_>>();
        json!({
            "read": joules(&energy.read[..types]),
            "program": joules(&energy.program[..types]),
            "erase": energy.erase.as_joules(),
            "transfer_out": energy.transfer_out.map(kernel::Energy::as_joules),
            "transfer_in": energy.transfer_in.map(kernel::Energy::as_joules),
        })
    });
    let Json::Object(about) = json!({
        "name": name,
        "summary": file_of(name).text("summary").map_or("", |(summary, _)| summary),
        "bits_per_cell": shape.bits_per_cell,
        "dies_per_chip": shape.dies_per_chip,
        "planes_per_die": shape.planes_per_die,
        "blocks_per_plane": shape.blocks_per_plane,
        "pages_per_block": shape.pages_per_block,
        "page_bytes": shape.page_size.get(),
        "block_bytes": block,
        "chip_bytes": block * geometry.blocks() as u64,
        "page_order": geometry.order().said(),
        "wom_safe_pages": safe.count(),
        "read_ns": ns(read),
        "program_ns": ns(program),
        "erase_ns": timing.erase.as_ns(),
        "command_ns": command.as_ns(),
        "transfer_ns": transfer.as_ns(),
        "read_mb_per_s": rate(read),
        "program_mb_per_s": rate(program),
        "endurance": drive.reliability.endurance,
        "energy_joules": energy,
        "idle_watts": drive.energy.as_ref().and_then(|e| e.idle).map(kernel::Power::as_watts),
    }) else {
        unreachable!("an object was written")
    };
    about
}

/// The file of a built-in chip.
fn file_of(name: &str) -> TomlTable {
    built_in(presets::named(presets::chips(), name).unwrap_or_default())
}

/// Every setting of a chip: its value as written, its source, and whether it is derived or assumed.
fn settings(drive: &Drive, name: &str) -> Map<String, Json> {
    let file = file_of(name);
    let log = &Log::default();
    let at = file.at("sources").map(|node| At { node, path: "", log });
    let sources = at.and_then(Sources::read).unwrap_or_default();
    let leaves = file.leaves();
    let measured = leaves.iter().filter(|(path, _)| path.starts_with("measured."));
    let measured = measured.map(|(path, entry)| (path, entry.node.to_json(), sources.of(path)));
    let of_a_chip = |path: &str| !NOT_OF_A_CHIP.iter().any(|not| path.starts_with(not));
    let own =
        drive.sources.iter().filter(|(path, source)| of_a_chip(path) && *source != "drive file");
    let own = own.filter_map(|(path, source)| {
        let value = drive.resolved.pointer(&format!("/{}", path.replace('.', "/")))?;
        Some((path, value.clone(), source.as_str()))
    });
    let setting = |(path, value, source): (&String, Json, &str)| {
        let setting = json!({
            "value": value,
            "source": source,
            "derived": source.starts_with("derived"),
            "assumed": source.starts_with("assumed"),
        });
        (path.clone(), setting)
    };
    own.chain(measured).map(setting).collect()
}

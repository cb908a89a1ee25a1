//! The drives and chips that come with floatgate.

use super::*;
use floatgate_ssd::config::{TomlTable, Value, located, schema};
use kernel::{Bytes, Dur};
use nand::{Bus, Level};
use std::collections::BTreeMap;

/// The settings of a text, by path; a quoted key may have a path of its own.
fn settings(text: &str) -> BTreeMap<String, Value> {
    fn add(table: &TomlTable, path: &str, found: &mut BTreeMap<String, Value>) {
        for (key, entry) in &table.0 {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match &entry.node.value {
                Value::Table(table) => add(table, &path, found),
                value => drop(found.insert(path, value.clone())),
            }
        }
    }
    let (table, errors) = located(text);
    assert!(errors.is_empty(), "{errors:?}");
    let mut found = BTreeMap::new();
    add(&table, "", &mut found);
    found
}

fn preset(name: &str) -> Drive {
    file(format!("base = \"{name}\"")).drive()
}

#[test]
fn every_preset_loads_and_carries_its_own_name() {
    assert_eq!((presets().len(), chips().len()), (12, 13), "the library has changed");
    for (name, text) in presets() {
        let drive = file(*text).drive();
        assert_eq!(drive.name, *name);
        assert!(!drive.summary.is_empty(), "{name}: describe it");
    }
}

#[test]
fn the_agcr_drive_is_the_papers() {
    let drive = preset("agcr");
    let flash = |d: &Drive| d.geometry.pages() as u64 * d.geometry.page_size().get();
    assert_eq!(flash(&drive), Bytes::gib(32).get());
    assert_eq!((drive.logical_pages, drive.has_levels), (7_549_747, true));
    assert!((drive.spare_factor - 0.1).abs() < 1e-6);
    for (level, program, read) in
        [(Level::HighCost, 800, 70), (Level::MediumCost, 600, 170), (Level::LowCost, 450, 310)]
    {
        assert_eq!(drive.timing.program(level, 1), Dur::us(program));
        assert_eq!(drive.timing.read(level, 1), Dur::us(read));
    }
    assert_eq!((drive.timing.erase, drive.timing.bus), (Dur::ms(3), Bus::Included));
    assert_eq!(flash(&preset("agcr-128g")), Bytes::gib(128).get());
    assert_eq!(flash(&preset("ready-32g")), Bytes::gib(32).get());
    assert_eq!(flash(&preset("ready-128g")), Bytes::gib(128).get());
    assert_eq!(flash(&preset("c-mlc64")), Bytes::gib(8).get());
}

#[test]
fn the_chips_have_their_page_types() {
    let mango = preset("c-mlc64");
    let times = [0, 1].map(|page| mango.timing.program(Level::MediumCost, page));
    assert_eq!(times, [Dur::us(327), Dur::us(1418)]);
    let bus = Bus::Modelled { command: Dur::ns(210), page: Dur::ns(245_760) };
    assert_eq!(mango.timing.bus, bus);
    let qlc = preset("modern-qlc");
    assert_eq!(qlc.timing.read(Level::MediumCost, 3), Dur::ns(228_100));
    // 4 KiB at 1600 MB/s.
    let bus = Bus::Modelled { command: Dur::ns(300), page: Dur::ns(2_560) };
    assert_eq!(qlc.timing.bus, bus);
    assert_eq!(qlc.reliability.endurance, 1000);
    assert_eq!(qlc.logical_pages, 250_000_000);
    // Pages of a wordline, planes, mapping units of a page.
    assert_eq!(qlc.geometry.slots_per_program(), 4 * 4 * 4);
}

/// Sections whose numbers describe a device. The other settings of a preset are a choice of
/// experiment.
const DEVICE: [&str; 11] = [
    "geometry",
    "pages",
    "timing",
    "energy",
    "reliability",
    "measured",
    "ftl",
    "host",
    "link",
    "controller",
    "buffer",
];

#[test]
fn every_number_of_a_preset_has_a_source() {
    let mut seen = 0;
    for (name, text) in presets().iter().chain(chips()) {
        let all = settings(text);
        let sources = all.iter().filter_map(|(path, value)| {
            let key = path.strip_prefix("sources.")?;
            let Value::Text(source) = value else { panic!("{name}: {path} is not a text") };
            assert!(!source.is_empty(), "{name}: `{key}` has an empty source");
            Some(key)
        });
        let sources: Vec<&str> = sources.collect();
        let covers = |key: &str, path: &str| path == key || path.starts_with(&format!("{key}."));
        for path in all.keys() {
            let section = path.split('.').next().unwrap_or_default();
            if DEVICE.contains(&section) {
                let has = sources.iter().any(|key| covers(key, path));
                assert!(has, "{name}: `{path}` has no source");
                seen += 1;
            }
        }
        let used = |key: &str| all.keys().any(|path| covers(key, path));
        let idle: Vec<_> = sources.iter().filter(|key| !used(key)).collect();
        assert!(idle.is_empty(), "{name}: sources of nothing: {idle:?}");
    }
    assert!(seen >= 500, "only {seen} settings were looked at");
    // Seen from a resolved drive: only defaults are left without one.
    for (name, _) in presets() {
        for (key, source) in preset(name).sources {
            let device = DEVICE.iter().any(|section| key.starts_with(section));
            let bare = source.starts_with("base ") || source.starts_with("chip ");
            assert!(!device || !bare, "{name}: `{key}` comes from {source}");
        }
    }
}

#[test]
fn the_defaults_are_settings() {
    let all = settings(include_str!("../../../../presets/defaults.toml"));
    assert!(all.keys().all(|path| path.contains('.')), "every default lies in a section");
    // A drive that gives nothing else has nothing missing.
    let drive = file(GOOD).drive();
    let defaults = drive.sources.values().filter(|s| *s == "default").count();
    assert_eq!(defaults, 44);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the switch of this test, not a setting")]
fn the_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/drive.json");
    let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("FLOATGATE_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == fresh, "schema/drive.json is stale: run with FLOATGATE_BLESS=1");
    let schema = schema();
    assert_eq!(schema["properties"]["host"]["properties"]["queue-limit"]["default"], 65536);
    let words = &schema["properties"]["host"]["properties"]["mode"]["enum"];
    assert_eq!(words[2], "queue-depth");
}

#[test]
fn every_setting_is_documented() {
    /// How many keys there are, in this section and those within.
    fn look(path: &str, schema: &serde_json::Value) -> usize {
        let ways = schema["anyOf"].as_array().into_iter().flatten();
        // A bracket that is not closed does not begin a section: it shows how to write a policy.
        let section = schema["properties"].as_object();
        let section = section.filter(|_| schema["additionalProperties"] == false);
        let keys = section.into_iter().flatten().map(|(key, inner)| {
            let path = format!("{path}.{key}");
            let brief = inner["description"].as_str().and_then(|text| text.split(". ").next());
            assert!(brief.is_some_and(|brief| brief.len() > 5), "`{path}`: describe it");
            1 + look(&path, inner)
        });
        ways.map(|way| look(path, way)).sum::<usize>() + keys.sum::<usize>()
    }
    let seen = look("", &schema());
    assert!(seen > 60, "only {seen} settings were looked at");
}

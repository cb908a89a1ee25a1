//! The resolved configuration: complete, stable, and a drive file again.

use super::*;
use serde_json::json;

fn as_toml(drive: &Drive) -> String {
    toml::to_string(&drive.resolved).expect("a resolved drive is TOML")
}

#[track_caller]
pub(super) fn comes_back(drive: &Drive) {
    let again = file(as_toml(drive)).drive();
    assert_eq!(again.resolved, drive.resolved);
    assert_eq!(again.hash(), drive.hash());
    assert_eq!((&again.timing, again.has_levels), (&drive.timing, drive.has_levels));
    assert_eq!((again.geometry, again.logical_pages), (drive.geometry, drive.logical_pages));
    assert_eq!((&again.host, &again.workload), (&drive.host, &drive.workload));
    assert_eq!((again.ftl, again.seed), (drive.ftl, drive.seed));
    assert_eq!((again.recording, again.energy.as_ref()), (drive.recording, drive.energy.as_ref()));
    assert_eq!(again.precondition, drive.precondition);
    assert_eq!(again.policies.to_json(), drive.policies.to_json());
}

#[test]
fn every_preset_comes_back() {
    for (_, text) in presets() {
        comes_back(&file(*text).drive());
    }
}

#[test]
fn odd_settings_come_back() {
    let set = [
        "timing.read=[\"50us\", \"1.5us\"]",
        "timing.bus={ rate = \"33.333MT/s\", command = \"0ns\" }",
        "ftl.logical-capacity=20_000_001B",
        "ftl.gc.background-stop=7",
        "ftl.multi-plane=aligned",
        "pages.order=shadow-pairs",
        "energy.read=[\"2uJ\", \"2.5uJ\"]",
        "energy.program=11uJ",
        "energy.erase=190uJ",
        "energy.transfer-in=0.25uJ",
        "energy.idle-power=27.3mW",
        "host.speed=12.5",
        "host.mode=think-time",
        "host.flow=[{ name = \"a b\", weight = 256 }, { name = \"c\", priority = \"high\", queue-depth = 3 }]",
        "host.only=c",
        "link.rate=3360MB/s",
        "link.duplex=half",
        "controller.read-latency=21.5us",
        "controller.cores=4",
        "controller.read-jitter.p50=1.25us",
        "controller.read-jitter.p99=3us",
        "workload.shift=-31.5KiB",
        "workload.requests=5",
        "workload.size=[{ size = \"4KiB\", share = 0.5 }, { size = \"8KiB\", share = 0.5 }]",
        "workload.arrivals.poisson.iops=1000",
        "workload.read-share=0",
        "precondition.age=workload",
        "run.keep-requests=false",
        "run.series-interval=1500us",
        "summary=a \"quoted\" one = with = signs",
        "policies.cost.level=low",
        "policies.cost.name=fixed",
    ];
    let case = Case { file: GOOD.into(), set: &set, seed: Some(u64::MAX / 2), ..Case::default() };
    let drive = case.drive();
    assert_eq!(drive.workload.shift, -32_256);
    // Rounded up to whole pages.
    assert_eq!(drive.logical_pages, 4883);
    assert_eq!(drive.resolved["summary"], "a \"quoted\" one = with = signs");
    comes_back(&drive);
}

#[test]
fn shares_and_rates_come_back() {
    for (fill, emitted) in [("0.9", json!(0.9)), ("1", json!("full")), ("none", json!("none"))] {
        let set: &[&str] = &["workload.rate=5000", &format!("precondition.fill={fill}")];
        let drive = Case { file: GOOD.into(), set, ..Case::default() }.drive();
        assert_eq!(drive.resolved["precondition"]["fill"], emitted);
        assert_eq!(drive.resolved["workload"]["rate"], 5000.0);
        comes_back(&drive);
    }
}

#[test]
fn the_hash_is_of_what_is_simulated_not_of_how_it_is_written() {
    let drive = file(GOOD).drive();
    assert!(drive.hash().starts_with("sha256:") && drive.hash().len() == 7 + 64);
    let same = [
        file(with("3ms", "3000us")),
        file(with("spare-factor = 0.25", "logical-capacity = \"24MiB\"\nmapping = \"page\"")),
        file(format!("{GOOD}\n[sources]\ntiming = \"a book\"\n")),
        Case { file: GOOD.into(), set: &["ftl.gc.start=2"], seed: Some(1), ..Case::default() },
        Case { file: GOOD.into(), policy: &["cost=fixed:level=medium"], ..Case::default() },
        file(with("\"50us\"", "[\"50us\", \"50us\"]")),
    ];
    for case in same {
        assert_eq!(case.drive().hash(), drive.hash());
    }
    let other = [
        file(with("3ms", "4ms")),
        Case { file: GOOD.into(), set: &[], seed: Some(2), ..Case::default() },
        Case { file: GOOD.into(), policy: &["victim=fifo"], ..Case::default() },
    ];
    for case in other {
        assert_ne!(case.drive().hash(), drive.hash());
    }
}

#[test]
fn what_goes_first_on_a_channel_is_echoed_where_it_is_not_the_default() {
    let drive = |first: &str| {
        let bus = format!("{{ rate = \"333MT/s\", command = \"300ns\"{first} }}");
        file(with("\"included\"", &bus)).drive()
    };
    let (plain, commands, data) =
        (drive(""), drive(", first = \"commands\""), drive(", first = \"data\""));
    assert_eq!(plain.resolved["timing"]["bus"].as_object().unwrap().len(), 3);
    assert_eq!(plain.hash(), commands.hash());
    assert_eq!(data.resolved["timing"]["bus"]["first"], "data");
    assert_eq!(
        [&plain, &commands, &data].map(|drive| drive.channel_first.name()),
        ["commands", "commands", "data"]
    );
    comes_back(&data);
}

#[test]
fn the_hash_does_not_change_with_the_version() {
    // A change here makes every stored result a stranger: say so in the CHANGELOG.
    let hash = file(GOOD).drive().hash();
    assert_eq!(hash, "sha256:f2e0c97492c8d42c5021387c4bc56f479d5e2883ac94d298b120b27bf09c6e72");
}

#[test]
fn capacity_is_counted_as_the_contract_has_it() {
    let logical = |text: &str| file(with("spare-factor = 0.25", text)).drive();
    // 8192 pages of flash.
    for (text, pages) in [
        ("spare-factor = 0.25", 6144),
        ("spare-factor = 0.1", 7372),
        ("over-provisioning = 0.25", 6553),
        ("over-provisioning = 1", 4096),
        ("logical-capacity = \"24MiB\"", 6144),
        ("logical-capacity = \"24000kB\"", 5860),
    ] {
        let drive = logical(text);
        assert_eq!(drive.logical_pages, pages, "{text}");
        let (p, l) = (8192.0, f64::from(pages));
        assert_eq!((drive.over_provisioning, drive.spare_factor), ((p - l) / l, (p - l) / p));
    }
}

/// Ways to make a drive smaller. The blocks that garbage collection keeps in each plane are a
/// larger share of the spare if planes have fewer blocks, and no larger if there are fewer planes.
#[test]
fn a_drive_whose_reserve_takes_much_of_the_spare_is_told() {
    let said = |name: &str, set: &[&str]| {
        let (_, text) = floatgate_ssd::presets().iter().find(|(of, _)| *of == name).unwrap();
        let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
        let layers =
            Layers { file: (name, text), library: &|_| None, set: &set, policy: &[], seed: None };
        let drive = load(&layers).unwrap_or_else(|errors| panic!("{set:?}: {errors:?}"));
        let warnings = drive.warnings();
        let mut all = warnings.as_array().unwrap().iter();
        all.find(|w| w["code"] == "spare-in-reserve")
            .map(|w| w["text"].as_str().unwrap().to_owned())
    };
    for (name, _) in floatgate_ssd::presets() {
        assert_eq!(said(name, &[]), None, "{name} as it is");
    }
    assert_eq!(said("agcr", &["geometry.channels=1", "geometry.dies-per-chip=1"]), None);
    // Five blocks of 64, of 6.4 spare ones, leave 1.4; of 51.2 they leave 46.2 of 512.
    let text = said("agcr", &["geometry.blocks-per-plane=64"]).expect("a warning");
    for part in ["5 of the 64 blocks", "78 % of the spare", "leaves 2.2 %", "9.0 % with the 512"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The advised spare factor leaves as much, and the advice is no longer needed at a quarter of the spare.
    let spare = text.split("spare-factor = ").nth(1).and_then(|s| s.split('`').next()).unwrap();
    let left = spare.parse::<f64>().unwrap() - 5.0 / 64.0;
    assert!((left - (0.1 - 5.0 / 512.0)).abs() < 0.001, "{text}");
    // A larger reserve does the same as fewer blocks; more spare is the remedy.
    assert!(said("agcr", &["ftl.gc.stop=30"]).is_some());
    assert!(said("agcr", &["geometry.blocks-per-plane=64", "ftl.spare-factor=0.32"]).is_none());
    assert!(said("agcr", &["geometry.blocks-per-plane=64", "ftl.spare-factor=0.31"]).is_some());
}

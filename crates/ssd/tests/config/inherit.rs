//! Bases, chips, and which layer overrides which.

use super::*;
use kernel::{Bytes, Dur};
use nand::{Bus, Level};

const CHIP: &str = r#"
schema = "floatgate.chip/1"
[geometry]
dies-per-chip = 4
page-size = "8KiB"
[timing]
erase = "5ms"
read = "20us"
program = "200us"
[sources]
timing = "a datasheet"
"#;

#[test]
fn a_file_overrides_its_base() {
    let drive = file("base = \"agcr\"\n[ftl.gc]\nstop = 9\n[timing]\nerase = \"4ms\"").drive();
    assert_eq!((drive.ftl.gc.start, drive.ftl.gc.stop), (2, 9));
    assert_eq!(drive.timing.erase, Dur::ms(4));
    assert_eq!(drive.timing.read(Level::LowCost, 0), Dur::us(310));
    // Its name and summary are its own.
    assert_eq!((drive.name.as_str(), drive.summary.as_str()), ("drive", "based on agcr"));
}

#[test]
fn a_chosen_capacity_displaces_the_one_below() {
    for set in ["ftl.over-provisioning=0.28", "ftl.logical-capacity=25GiB"] {
        let drive = Case { file: "base = \"agcr\"".into(), set: &[set], ..Case::default() }.drive();
        assert_eq!(drive.logical_pages, 25 << 18, "{set}");
    }
}

#[test]
fn plain_times_displace_levels_and_the_other_way_round() {
    let plain = file("base = \"agcr\"\n[timing]\nread = \"50us\"\nprogram = \"600us\"").drive();
    assert!(!plain.has_levels);
    assert_eq!(plain.timing.read(Level::LowCost, 1), Dur::us(50));
    let levels = "{ high = { program = \"3us\", read = \"1us\" }, medium = { program = \"2us\", \
                  read = \"2us\" }, low = { program = \"1us\", read = [\"3us\", \"4us\"] } }";
    let set = format!("timing.levels={levels}");
    let drive = Case { file: GOOD.into(), set: &[&set], ..Case::default() }.drive();
    assert!(drive.has_levels);
    assert_eq!(drive.timing.program(Level::HighCost, 0), Dur::us(3));
    assert_eq!(drive.timing.read(Level::LowCost, 1), Dur::us(4));
    // Half of one is not filled from the other.
    let half = file("base = \"agcr\"\n[timing]\nread = \"50us\"");
    assert_eq!(half.errors()[0].message, "`[timing]` does not give `program`");
}

#[test]
fn a_rate_and_arrivals_displace_each_other() {
    let keys = |file: &str, set: &[&str]| {
        let drive = Case { file: format!("{GOOD}\n[workload]\n{file}"), set, ..Case::default() };
        drive.drive().workload.generator.keys().cloned().collect::<Vec<_>>()
    };
    let arrivals = "arrivals = { constant = { iops = 9 } }";
    assert_eq!(keys(arrivals, &["workload.rate=5"]), ["rate"]);
    assert_eq!(keys("rate = 5", &["workload.arrivals.poisson.iops=7"]), ["arrivals"]);
    assert_eq!(keys("rate = 5", &["workload.requests=7"]), ["requests", "rate"]);
}

#[test]
fn a_drive_without_reliability_has_an_assumed_endurance() {
    let text = GOOD.replace("[reliability]\nendurance = 3000\n", "");
    assert!(!text.contains("reliability"));
    let drive = file(text).drive();
    assert_eq!(drive.reliability.endurance, 3000);
    assert!(drive.sources["reliability.endurance"].contains("assumed"));
    assert_eq!(file(GOOD).drive().sources["reliability.endurance"], "drive file");
    assert_eq!(file("base = \"agcr\"").drive().sources["reliability.endurance"], "assumed");
}

#[test]
fn a_chip_lies_below_the_keys_of_its_file_and_above_its_base() {
    let library: &[(&str, &str)] = &[("fast", CHIP)];
    let text = "base = \"agcr\"\nchip = \"fast\"\n[timing]\nerase = \"1ms\"";
    let drive = Case { file: text.into(), library, ..Case::default() }.drive();
    assert_eq!(drive.geometry.shape().dies_per_chip, 4);
    assert_eq!(drive.geometry.page_size(), Bytes::kib(8));
    assert_eq!((drive.timing.erase, drive.has_levels), (Dur::ms(1), false));
    assert_eq!(drive.geometry.channels(), 8);
    let source = |key: &str| drive.sources[key].as_str();
    assert_eq!(source("timing.read"), "a datasheet");
    assert_eq!(source("timing.erase"), "drive file");
    assert_eq!(source("timing.bus"), "AGCR Table 1");
    assert_eq!(source("geometry.page-size"), "chip fast");
    assert_eq!(source("host.queue-limit"), "default");

    // On the command line it lies above the file, but below the other settings there.
    let set: &[&str] = &["chip=fast", "timing.read=9us"];
    let drive = Case { file: GOOD.into(), library, set, ..Case::default() }.drive();
    assert_eq!(
        (drive.timing.erase, drive.timing.read(Level::HighCost, 0)),
        (Dur::ms(5), Dur::us(9))
    );
    assert_eq!(drive.sources["timing.read"], "--set");
}

#[test]
fn a_chip_may_inherit_from_a_chip() {
    let slow = "base = \"fast\"\n[timing]\nerase = \"9ms\"";
    let library: &[(&str, &str)] = &[("fast", CHIP), ("slow", slow)];
    let text = "base = \"agcr\"\nchip = \"slow\"";
    let drive = Case { file: text.into(), library, ..Case::default() }.drive();
    assert_eq!(
        (drive.timing.erase, drive.timing.read(Level::HighCost, 0)),
        (Dur::ms(9), Dur::us(20))
    );
}

#[test]
fn what_a_chip_may_not_say_is_refused_in_its_own_file() {
    let library: &[(&str, &str)] = &[("odd", "[geometry]\nchannels = 3\n[host]\nspeed = 2.0\n")];
    Case { file: format!("chip = \"odd\"\n{GOOD}"), library, ..Case::default() }.shows(
        r"
error[config::unknown-key]: `geometry.channels` is not a setting
 --> odd.toml:2:1
  |
2 | channels = 3
  | ^^^^^^^^ a chip does not say this, a drive does

error[config::unknown-key]: `host` is not a setting
 --> odd.toml:3:2
  |
3 | [host]
  |  ^^^^ a chip does not say this, a drive does
",
    );
}

#[test]
fn cycles_strangers_and_wrong_kinds_are_refused() {
    let library: &[(&str, &str)] = &[
        ("a", "base = \"b\""),
        ("b", "base = \"a\""),
        ("self", "base = \"self\""),
        ("fast", CHIP),
        ("broken", "x = = 3"),
    ];
    let cases = [
        ("base = \"a\"", "`a` inherits from itself", "a → b → a"),
        ("base = \"self\"", "`self` inherits from itself", "self → self"),
        ("base = \"fast\"", "`fast` is a chip", "a drive is needed"),
        ("base = \"agcr128g\"", "no drive is called `agcr128g`", "did you mean \"agcr-128g\"?"),
        (
            "base = \"nothing like it\"",
            "no drive is called `nothing like it`",
            "there is no such drive file, and no preset of this name",
        ),
        (
            "chip = \"agcr\"",
            "no chip is called `agcr`",
            "there is no such chip file, and no preset of this name",
        ),
        ("base = \"broken\"", "this is not TOML", "extra `=`, expected nothing"),
    ];
    for (text, message, label) in cases {
        let errors = Case { file: text.into(), library, ..Case::default() }.errors();
        let found: Vec<_> =
            errors.iter().map(|e| (e.message.as_str(), e.marks[0].label.as_str())).collect();
        assert_eq!(found, [(message, label)], "{text}");
    }
    // A library that always has one more.
    let text = "base = \"1\"";
    let endless = load(&Layers {
        file: ("drive.toml", text),
        library: &|name| {
            let next = name.parse::<u32>().ok()? + 1;
            Some((name.to_owned(), format!("base = \"{next}\"")))
        },
        set: &[],
        policy: &[],
        seed: None,
    });
    assert_eq!(kinds(&endless.unwrap_err()), [ConfigErrorKind::Inherit]);
}

#[test]
fn the_library_comes_before_the_presets_where_the_kind_fits() {
    let own = with("channels = 2", "channels = 3");
    let library: &[(&str, &str)] = &[("agcr", own.as_str()), ("read-disturb", CHIP)];
    let case = |text: &str| Case { file: text.into(), library, ..Case::default() }.drive();
    assert_eq!(case("base = \"agcr\"").geometry.channels(), 3);
    // The library's `read-disturb` is a chip; the drive of that name is the preset.
    assert_eq!(case("base = \"read-disturb\"").geometry.channels(), 8);
}

#[test]
fn the_command_line_overrides_the_file() {
    let case = Case {
        file: format!("{GOOD}\n[policies]\nvictim = {{ name = \"d-choices\", d = 5 }}\n"),
        set: &[
            "ftl.gc.stop=4",
            "host.mode=queue-depth",
            "run.seed=7",
            "name=other",
            "ftl.gc.stop=5",
        ],
        policy: &["cost=fixed:level=low", "order=fifo", "order=read-first"],
        seed: Some(9),
        ..Case::default()
    };
    let drive = case.drive();
    assert_eq!((drive.ftl.gc.stop, drive.seed, drive.name.as_str()), (5, 9, "other"));
    assert_eq!(drive.host.mode.name(), "queue-depth");
    let policies = drive.policies.to_json();
    assert_eq!(policies["cost"]["level"], "low");
    assert_eq!(policies["order"]["name"], "read-first");
    assert_eq!(policies["victim"]["d"], 5);
    let source = |key: &str| drive.sources[key].as_str();
    assert_eq!((source("run.seed"), source("policies.cost.level")), ("--seed", "--policy"));

    // Another policy of a family brings none of the old parameters; a parameter alone keeps it.
    let other = Case { policy: &["victim=fifo"], ..case };
    assert_eq!(other.drive().policies.to_json()["victim"]["name"], "fifo");
    let one = Case { policy: &[], set: &["policies.victim.d=7"], ..other };
    assert_eq!(one.drive().policies.to_json()["victim"]["d"], 7);
}

#[test]
fn a_bus_takes_the_time_of_a_page() {
    let text = with("\"included\"", "{ rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }");
    let bus = Bus::Modelled { command: Dur::ns(300), page: Dur::ns(12_300) };
    assert_eq!(file(text.as_str()).drive().timing.bus, bus);
    let wide = text.replace("width-bits = 8", "width-bits = 16");
    let bus = Bus::Modelled { command: Dur::ns(300), page: Dur::ns(6_150) };
    assert_eq!(file(wide).drive().timing.bus, bus);
    // Eight bits unless said otherwise.
    let plain = text.replace("width-bits = 8, ", "");
    assert_eq!(file(plain).drive().timing, file(text).drive().timing);
}

/// The keys that are listed of a drive file, with the defaults and the files that give them.
fn listed(file: &str, set: &[String]) -> Vec<(String, serde_json::Value, String)> {
    let layers =
        Layers { file: ("mine.toml", file), library: &|_| None, set, policy: &[], seed: None };
    let found = floatgate_ssd::config::inherited(&layers, None);
    let text = |of: &serde_json::Value| of.as_str().expect("text").to_owned();
    let all = found.as_array().expect("a list").iter();
    all.map(|each| (text(&each["key"]), each["default"].clone(), text(&each["from"]))).collect()
}

/// A setting is listed exactly if a drive without it is another drive. Each is tried by a file that
/// repeats all inherited settings but this one.
#[test]
fn what_is_inherited_and_matters_is_listed() {
    let mine =
        "base = \"modern-tlc\"\n[geometry]\nblocks-per-plane = 300\n[ftl]\nspare-factor = 0.1\n";
    let all = listed(mine, &[]);
    let has = |key: &str| all.iter().any(|(of, ..)| of == key);
    let multi = ("ftl.multi-plane".to_owned(), "off".into(), "modern-tlc".to_owned());
    assert!(all.contains(&multi), "{all:?}");
    for key in ["ftl.gc.pace", "ftl.pending-read", "policies.order", "pages.program", "energy"] {
        assert!(has(key), "{key}: {all:?}");
    }
    // Nothing that every drive has to give, that is as the defaults are, or that the file gives.
    for key in ["geometry.page-size", "geometry.blocks-per-plane", "ftl.gc.start", "host.sector"] {
        assert!(!has(key), "{key}: {all:?}");
    }
    // A section stands for the settings within.
    assert!(!all.iter().any(|(key, ..)| key.starts_with("energy.")), "{all:?}");
    let own = format!("{mine}multi-plane = \"any\"\n");
    let here = listed(&own, &[]);
    assert!(here.iter().all(|(key, ..)| key != "ftl.multi-plane"), "{here:?}");
    assert_eq!(here.len() + 1, all.len());
    // On the command line it is the user's own, too.
    assert_eq!(listed(mine, &["ftl.multi-plane=any".to_owned()]), here);
    // An included drive was chosen whole, and a drive without a base inherits nothing.
    let whole = floatgate_ssd::presets().iter().find(|(name, _)| *name == "modern-tlc-small");
    assert_eq!(listed(whole.expect("it is included").1, &[]), []);
    assert_eq!(listed(GOOD, &[]), []);
    // A base of a base is named as the file that gives the setting.
    let further = listed("base = \"modern-tlc-small\"\n", &[]);
    let from = |key: &str| further.iter().find(|(of, ..)| of == key).map(|(.., from)| &**from);
    assert_eq!(from("ftl.multi-plane"), Some("modern-tlc"));
}

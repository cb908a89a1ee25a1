//! Is a part of a drive like the whole? And do the limits of a range hold what more evidence gives?

use crate::common::{close, drive, first_of, number, run_with};
use floatgate_ssd::config::{Layers, load};
use floatgate_ssd::{Drive, NoCache, generator, presets};
use serde_json::Value;

fn preset(name: &str) -> Drive {
    let text = presets().iter().find(|(preset, _)| *preset == name).unwrap().1;
    let layers =
        Layers { file: (name, text), library: &|_| None, set: &[], policy: &[], seed: None };
    load(&layers).unwrap()
}

/// Years of a generator on at most `pages` pages.
fn years(drive: &Drive, pattern: &str, pages: usize) -> Value {
    let made = generator(drive, pattern).unwrap();
    run_with(&drive.clone().in_parts(pages, Some("off".into())), made, &mut NoCache)
}

/// A drive file written by hand as an eighth of a drive, with its share of all else.
#[test]
fn a_part_of_modern_tlc_is_modern_tlc_small() {
    let (part, small) = (preset("modern-tlc").for_years(None), preset("modern-tlc-small"));
    assert_eq!(part.years.as_ref().unwrap().of.get(), 8);
    assert_eq!(part.geometry.flash(), small.geometry.flash());
    assert_eq!(part.geometry.units(), small.geometry.units());
    assert_eq!(part.logical_pages, small.logical_pages);
    assert_eq!(part.buffer.size, small.buffer.size);
    close("spare", part.spare_factor, preset("modern-tlc").spare_factor, 1e-6);
}

/// Every preset is divided down to a size that can be simulated, or to single dies, and stays
/// legal.
#[test]
fn parts_of_presets_are_small_and_have_the_same_spare() {
    for (name, _) in presets() {
        let whole = preset(name);
        let part = whole.clone().for_years(None);
        let dies = part.geometry.dies();
        assert!(part.geometry.pages() <= 1 << 21 || dies == 1, "{name}: {dies} dies");
        close(name, part.spare_factor, whole.spare_factor, 1e-5);
        let of = part.years.as_ref().unwrap().of.get() as usize;
        assert_eq!(dies * of, whole.geometry.dies(), "{name}");
        assert_eq!(part.geometry.order(), whole.geometry.order(), "{name}");
    }
}

const LARGE: [&str; 10] = [
    "geometry.channels=4",
    "geometry.planes-per-die=2",
    "geometry.blocks-per-plane=160",
    "geometry.pages-per-block=64",
    "ftl.spare-factor=0.2",
    "precondition.fill=full",
    "precondition.age=workload",
    "workload.requests=400000",
    "workload.arrivals={ constant = { iops = 100 } }",
    "reliability.endurance=3000",
];

/// The law: under every workload, the part has the write amplification and the years of the whole.
#[test]
fn a_part_has_the_write_amplification_of_the_whole() {
    for (pattern, own) in [
        ("random-write", &["workload.size=2KiB", "workload.align=512B"][..]),
        ("zipf", &["workload.size=8KiB"]),
        ("hot-cold", &["workload.size=16KiB", "workload.read-share=0.5"]),
    ] {
        a_quarter_has_that_of_the_whole(pattern, &[&LARGE[..], own].concat());
    }
}

/// A part of a drive with large superblocks has superblocks of its own die. `make verify` compares its
/// write amplification with that of the whole.
#[test]
fn large_superblocks_are_divided_with_the_drive() {
    for superblock in ["drive", "2", "4"] {
        let superblock = format!("ftl.superblock={superblock}");
        let own = ["geometry.pages-per-block=2048", "geometry.blocks-per-plane=320", &superblock];
        let part = drive(&[&LARGE[..], &own].concat()).in_parts(1, Some("off".into()));
        assert_eq!(part.years.as_ref().unwrap().of.get(), 4, "{superblock}");
        assert_eq!(part.geometry.superblocks().dies(), 1, "{superblock}");
        let echo = &part.resolved["ftl"]["superblock"];
        assert!(echo == "drive" || echo == 1, "{superblock}: {echo}");
    }
}

/// A superblock of few mapping units is not made smaller, nor is one of few spare ones or with
/// parity. The part is half of the drive with two dies in a superblock, and all of it with four.
#[test]
fn superblocks_of_few_units_or_few_spare_ones_or_with_parity_are_not_divided() {
    let few = &["geometry.pages-per-block=32", "geometry.blocks-per-plane=320"][..];
    let spare = &["geometry.pages-per-block=2048", "geometry.blocks-per-plane=240"][..];
    let parity =
        &["geometry.pages-per-block=2048", "geometry.blocks-per-plane=320", "ftl.parity=4"][..];
    for own in [few, spare, parity] {
        for (superblock, of) in [("2", Some(2)), ("drive", None)] {
            let superblock = format!("ftl.superblock={superblock}");
            let fixed = [&LARGE[..], own, &[&superblock, "workload.requests=1000"]].concat();
            let part = drive(&fixed).in_parts(1, Some("off".into()));
            let seen = part.years.as_ref().unwrap().of.get();
            assert_eq!(seen, of.unwrap_or(1), "{own:?} {superblock}");
            let superblocks = *part.geometry.superblocks();
            assert_eq!(superblocks.dies(), drive(&fixed).geometry.superblocks().dies());
        }
    }
}

fn a_quarter_has_that_of_the_whole(pattern: &str, settings: &[&str]) {
    let (drive, own) = (drive(settings), &settings[LARGE.len()..]);
    let whole = years(&drive, pattern, usize::MAX);
    let part = years(&drive, pattern, drive.geometry.pages() / 4);
    let what = format!("{pattern} {own:?}");
    assert_eq!(part["lifetime"]["part"]["of"], 4, "{what}");
    assert_eq!(whole["lifetime"]["part"], Value::Null, "{what}");
    for key in ["provenance/config", "capacity/physical_bytes", "capacity/logical_bytes"] {
        let key = format!("/{key}");
        assert_eq!(part.pointer(&key), whole.pointer(&key), "{what}: {key}");
    }
    // Victims differ by chance: of some thousands, the mean is good to about one in a hundred.
    close(&what, number(&part["waf"]), number(&whole["waf"]), 0.025);
    let per_day = |value: &Value| number(&value["lifetime"]["host_bytes_per_day"]);
    close(&what, per_day(&part), per_day(&whole), 1e-3);
    let ends = |value: &Value| -> [f64; 2] {
        let life = &value["lifetime"];
        if life["why"] == Value::Null {
            [number(&life["rated"]["years"]); 2]
        } else {
            ["low", "high"].map(|end| number(&life["range"]["years"][end]))
        }
    };
    for (one, other) in ends(&part).into_iter().zip(ends(&whole)) {
        close(&what, one, other, 0.03);
    }
}

/// The years of a short run are a value near that of a long one, or a range that has it inside.
#[test]
fn the_years_of_a_long_run_lie_within_those_of_a_short_one() {
    let all = [
        ("random-write", &[][..]),
        ("hot-cold", &["precondition.age=random"]),
        ("zipf", &["ftl.spare-factor=0.1"]),
        ("random-write", &["precondition.age=none"]),
        ("hot-cold", &[]),
        ("random-write", &["workload.span=20MiB"]),
    ];
    for &(pattern, own) in first_of(&all, 2) {
        let settings = [&LARGE[..], &["geometry.channels=1"], own].concat();
        let long = drive(&[&settings[..], &["workload.requests=800000"]].concat());
        let long = years(&long, pattern, usize::MAX);
        // `in_order`: pages that were filled and never aged keep a state of their own.
        let written = number(&long["waf"]) * 4096.0;
        let flash = 2.0 * 160.0 * 64.0 * 4096.0;
        let truth = 3000.0 * flash / (written * 100.0 * 86_400.0 * 365.0);
        for requests in [300, 3_000, 30_000] {
            let short =
                drive(&[&settings[..], &[&format!("workload.requests={requests}")]].concat());
            let life = years(&short, pattern, usize::MAX)["lifetime"].clone();
            let what = format!("{pattern} {own:?} {requests}: {truth} in {life}");
            if life["why"] == Value::Null {
                close(&what, number(&life["rated"]["years"]), truth, 0.06);
                continue;
            }
            let [low, high] = ["low", "high"].map(|end| number(&life["range"]["years"][end]));
            assert!(low <= truth && truth <= high, "{what}");
            if !own.iter().any(|own| own.starts_with("precondition")) {
                assert!(high / low <= 2.0, "{what}");
            }
        }
    }
}

/// The same at the size of drives, where chance is small: to one in a hundred. Plane groups collect
/// on their own, or the part has smaller superblocks.
#[test]
#[cfg_attr(not(feature = "verify"), ignore = "slow: run by `make verify`")]
fn a_part_of_a_large_drive_has_its_write_amplification() {
    for (superblock, pattern, size) in [
        ("plane-group", "random-write", "4KiB"),
        ("drive", "random-write", "4KiB"),
        ("drive", "hot-cold", "16KiB"),
    ] {
        let text = presets().iter().find(|(preset, _)| *preset == "modern-tlc").unwrap().1;
        let set = [
            "precondition.age=workload".to_owned(),
            format!("ftl.superblock={superblock}"),
            format!("workload.size={size}"),
            "workload.requests=16000000".to_owned(),
            "workload.arrivals={ constant = { iops = 20000 } }".to_owned(),
        ];
        let layers = Layers {
            file: ("modern-tlc", text),
            library: &|_| None,
            set: &set,
            policy: &[],
            seed: None,
        };
        let drive = load(&layers).unwrap();
        let whole = years(&drive, pattern, usize::MAX);
        let part = years(&drive, pattern, drive.geometry.pages() / 8);
        close(pattern, number(&part["waf"]), number(&whole["waf"]), 0.01);
    }
}

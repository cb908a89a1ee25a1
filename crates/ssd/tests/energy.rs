//! Right energy? Every joule of a result against counts times the energies of the drive file.

#![allow(clippy::float_cmp, reason = "what must be exact is compared exactly")]

use crate::common::{self, PAGE, count, drive, generate, number, read, serve, try_drive, write};
use serde_json::Value;

const LATER: u64 = 1_000_000_000;

/// Energies of TLC pages, in microjoules.
const READS: [f64; 3] = [2.0, 3.0, 5.0];
const PROGRAMS: [f64; 3] = [11.0, 13.0, 17.0];
const ERASE: f64 = 190.0;

const TLC: [&str; 5] = [
    "geometry.bits-per-cell=3",
    "geometry.pages-per-block=9",
    "energy.read=[\"2uJ\", \"3uJ\", \"5uJ\"]",
    "energy.program=[\"11uJ\", \"13uJ\", \"17uJ\"]",
    "energy.erase=190uJ",
];

#[track_caller]
fn joules(value: &Value, path: &str, micro: f64) {
    let found = number(value.pointer(path).unwrap_or_else(|| panic!("{path} is missing")));
    let expected = micro * 1e-6;
    assert!((found - expected).abs() <= 1e-12 * expected, "{path}: {found}, expected {expected}");
}

/// The sums that hold for the parts of every result.
#[track_caller]
fn adds_up(value: &Value) {
    let (all, split) = (&value["energy_joules"], &value["energy_split"]);
    let sum = |v: &Value| -> f64 {
        v.as_object()
            .unwrap()
            .iter()
            .filter(|(k, _)| *k != "total")
            .map(|(_, v)| v.as_f64().unwrap_or(0.0))
            .sum()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} {b}\n{all}\n{split}");
    let total = number(&all["total"]);
    near(sum(all), total);
    near(sum(&split["source"]) + all["idle"].as_f64().unwrap_or(0.0), total);
    for what in ["read", "program"] {
        let types = split["page_type"][what].as_array().unwrap();
        near(types.iter().map(number).sum(), number(&all[what]));
    }
    let bytes = count(&value["host"]["all"]["bytes"]);
    near(number(&split["per_host_byte"]) * bytes as f64, total);
}

#[test]
fn each_page_type_takes_its_energy() {
    let mut script: Vec<_> = (0..9).map(|p| write(p * LATER, p)).collect();
    for (i, page) in [0, 4, 5, 8, 8].into_iter().enumerate() {
        script.push(read((20 + i as u64) * LATER, page));
    }
    let value = serve(&drive(&TLC), script);
    joules(&value, "/energy_joules/program", 3.0 * PROGRAMS.iter().sum::<f64>());
    // Pages 0, 4, 5, 8, 8 are of types 0, 1, 2, 2, 2.
    joules(&value, "/energy_joules/read", READS[0] + READS[1] + 3.0 * READS[2]);
    joules(&value, "/energy_split/page_type/read/2", 3.0 * READS[2]);
    joules(&value, "/energy_split/page_type/program/1", 3.0 * PROGRAMS[1]);
    joules(&value, "/energy_joules/erase", 0.0);
    assert!(
        value["energy_joules"]["transfer"].is_null() && value["energy_joules"]["idle"].is_null()
    );
    adds_up(&value);
}

#[test]
fn at_another_cost_level_energy_follows_time() {
    let levels = "timing.levels={ high = { program = \"800us\", read = \"70us\" }, \
                  medium = { program = \"600us\", read = \"170us\" }, \
                  low = { program = \"450us\", read = \"310us\" } }";
    let energies = ["energy.read=17uJ", "energy.program=60uJ", "energy.erase=1uJ"];
    for (level, program, sense) in
        [("high", 80.0, 7.0), ("medium", 60.0, 17.0), ("low", 45.0, 31.0)]
    {
        let policy = format!("policy cost=fixed:level={level}");
        let settings: Vec<&str> = [levels, &policy].into_iter().chain(energies).collect();
        let value = serve(&drive(&settings), vec![write(0, 0), read(LATER, 0)]);
        joules(&value, "/energy_joules/program", program);
        joules(&value, "/energy_joules/read", sense);
    }
}

#[test]
fn transfers_and_idle_time_are_counted() {
    let settings = [
        "geometry.dies-per-chip=2",
        "timing.bus={ rate = \"40MT/s\", width-bits = 8, command = \"1us\" }",
        "energy.read=2uJ",
        "energy.program=11uJ",
        "energy.erase=190uJ",
        "energy.transfer-out=0.5uJ",
        "energy.transfer-in=0.25uJ",
        "energy.idle-power=10mW",
    ];
    // Three writes, two of them read again, one after the other: each die is busy for its own.
    let script = vec![
        write(0, 0),
        write(LATER, 1),
        write(2 * LATER, 2),
        read(3 * LATER, 0),
        read(4 * LATER, 2),
    ];
    let value = serve(&drive(&settings), script);
    joules(&value, "/energy_joules/transfer", 2.0 * 0.5 + 3.0 * 0.25);
    joules(&value, "/energy_split/source/host", 2.0 * 2.5 + 3.0 * 11.25);
    let transfer = PAGE as f64 / 40e6;
    let (program, sense) = (1e-6 + transfer + 600e-6, 1e-6 + transfer + 50e-6);
    let span = 4.0 + sense;
    assert!((number(&value["simulated_seconds"]) - span).abs() < 1e-12);
    // One chip of two dies, 10 mW while neither works.
    let idle = 5e-3 * (2.0 * span - 3.0 * program - 2.0 * sense);
    joules(&value, "/energy_joules/idle", idle * 1e6);
    adds_up(&value);
}

#[test]
fn collection_takes_what_its_operations_take() {
    let settings: Vec<&str> = TLC
        .into_iter()
        .chain([
            "geometry.blocks-per-plane=40",
            "energy.read=2uJ",
            "energy.program=13uJ",
            "energy.transfer-out=1uJ",
            "energy.transfer-in=3uJ",
            "precondition.fill=full",
            "workload.requests=3000",
            "workload.read-share=0.3",
        ])
        .collect();
    let value = generate(&drive(&settings), "random-write");
    let flash = |what: &str, source: &str| count(&value["flash"][what][source]) as f64;
    assert!(flash("erase", "gc") > 50.0, "nothing was collected");
    joules(&value, "/energy_joules/read", 2.0 * flash("read", "total"));
    joules(&value, "/energy_joules/program", 13.0 * flash("program", "total"));
    joules(&value, "/energy_joules/erase", ERASE * flash("erase", "total"));
    let moved = 1.0 * flash("read", "total") + 3.0 * flash("program", "total");
    joules(&value, "/energy_joules/transfer", moved);
    for source in ["host", "gc"] {
        let micro = 3.0 * flash("read", source)
            + 16.0 * flash("program", source)
            + ERASE * flash("erase", source);
        joules(&value, &format!("/energy_split/source/{source}"), micro);
    }
    adds_up(&value);
}

#[test]
fn without_energies_there_is_no_energy() {
    let value = serve(&drive::<&str>(&[]), vec![write(0, 0)]);
    assert!(value["energy_joules"].is_null() && value["energy_split"].is_null());
    let errors = try_drive(common::BASE, &["energy.read=3uJ"]).unwrap_err();
    assert!(errors.contains("`[energy]` does not give `program` and `erase`"), "{errors}");
    let errors = try_drive(common::BASE, &["energy.erase=3"]).unwrap_err();
    assert!(errors.contains("`energy.erase` is an energy and needs a unit"), "{errors}");
}

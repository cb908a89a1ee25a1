//! Names of files, and the order that they give.

use crate::catalogue::names::{NamePattern, Start, in_order};

fn start(text: &str) -> Start {
    let pattern = NamePattern::new("T.{start}.csv");
    let name = format!("t.{}.csv", text.to_ascii_lowercase());
    pattern.read(&name).and_then(|n| n.start).unwrap_or_else(|| panic!("{text}"))
}

/// The texts in order, each with its minutes from the first.
fn order(texts: &[&'static str]) -> Option<Vec<(&'static str, u32)>> {
    let starts: Vec<Start> = texts.iter().map(|text| start(text)).collect();
    Some(in_order(&starts)?.into_iter().map(|(i, minutes)| (texts[i], minutes)).collect())
}

#[test]
fn files_are_known_by_the_names_that_publishers_give_them() {
    let readable = |pattern: &str, name: &str| {
        NamePattern::new(pattern).read(&name.to_ascii_lowercase()).map(|name| name.readable)
    };
    for name in ["hm_0.csv", "hm_0.csv.gz", "HM_0.CSV", "hm_0.csv.zst", "hm_0.csv.xz"] {
        assert_eq!(readable("hm_0.csv", name), Some(true), "{name}");
    }
    assert_eq!(readable("Financial1.spc", "Financial1.spc.bz2"), Some(false));
    for name in ["hm_00.csv", "my_hm_0.csv", "hm_0.csv.req", "hm_0.trace", "hm_0"] {
        assert_eq!(readable("hm_0.csv", name), None, "{name}");
    }
    let live = "LiveMapsBE.{start}.trace.csv";
    assert_eq!(readable(live, "LiveMapsBE.02-21-2008.06-31-PM.trace.csv.gz"), Some(true));
    for name in [
        "LiveMapsBE.02-21-2008.06-31-PM.trace.csv.csv",
        "LiveMapsBE.trace.csv",
        "LiveMapsBE.02-21-2008.13-31-PM.trace.csv",
        "LiveMapsBE.02-30x-2008.06-31-PM.trace.csv",
        "LiveMapsBE.13-21-2008.06-31-PM.trace.csv",
        "LiveMapsBE.02-21-2008.06-61.trace.csv",
    ] {
        assert_eq!(readable(live, name), None, "{name}");
    }
}

#[test]
fn am_and_pm_are_heard() {
    let names = [
        "12-13-2007.12-44-AM",
        "12-12-2007.02-39-PM",
        "12-12-2007.11-59-PM",
        "12-13-2007.02-37-PM",
        "12-13-2007.12-05-PM",
    ];
    let want = [
        ("12-12-2007.02-39-PM", 0),
        ("12-12-2007.11-59-PM", 560),
        ("12-13-2007.12-44-AM", 605),
        ("12-13-2007.12-05-PM", 1286),
        ("12-13-2007.02-37-PM", 1438),
    ];
    assert_eq!(order(&names).unwrap(), want);
}

#[test]
fn a_clock_of_twelve_hours_begins_after_its_widest_gap() {
    // The published names of the MSN file server: 12-41 comes first.
    let names = ["2008-03-10.01-01", "2008-03-10.06-35", "2008-03-10.12-41", "2008-03-10.12-51"];
    let between = ["2008-03-10.02-53", "2008-03-10.03-53", "2008-03-10.04-54", "2008-03-10.05-55"];
    let all: Vec<_> = names.into_iter().chain(between).collect();
    let got = order(&all).unwrap();
    assert_eq!((got[0], got[1], got[2]), ((all[2], 0), (all[3], 10), (all[0], 20)));
    assert_eq!(got[7], (all[1], 354));
    // Across noon, and across midnight.
    let noon = ["2008-03-10.01-00", "2008-03-10.11-00", "2008-03-10.12-00", "2008-03-10.10-00"];
    let got: Vec<u32> = order(&noon).unwrap().into_iter().map(|(_, minutes)| minutes).collect();
    assert_eq!(got, [0, 60, 120, 180]);
    let midnight = ["2008-03-11.12-10", "2008-03-10.11-10", "2008-03-10.10-10"];
    let want = [("2008-03-10.10-10", 0), ("2008-03-10.11-10", 60), ("2008-03-11.12-10", 120)];
    assert_eq!(order(&midnight).unwrap(), want);
}

#[test]
fn an_order_that_names_leave_open_is_not_guessed() {
    // Every hour of a day, twice around the dial.
    let twice = ["2008-03-08.08-07", "2008-03-08.10-07", "2008-03-08.12-07", "2008-03-08.02-07"];
    let rest = ["2008-03-08.04-07", "2008-03-08.06-07"];
    let all: Vec<_> = twice.into_iter().chain(rest).collect();
    assert_eq!(order(&all), None);
    assert_eq!(order(&["2008-03-08.08-07", "2008-03-08.08-07"]), None);
    // One hour beyond twelve says that the clock has twenty-four.
    let told: Vec<_> = all.into_iter().chain(["2008-03-08.20-07"]).collect();
    let hours: Vec<u32> = order(&told).unwrap().into_iter().map(|(_, m)| m / 60).collect();
    assert_eq!(hours, [0, 2, 4, 6, 8, 10, 18]);
}

#[test]
fn dates_are_those_of_the_calendar() {
    let minutes = |a: &'static str, b: &'static str| order(&[a, b]).unwrap()[1].1;
    let day = 24 * 60;
    assert_eq!(minutes("2008-02-28.00-00", "2008-03-01.00-00"), 2 * day);
    assert_eq!(minutes("2007-02-28.00-00", "2007-03-01.00-00"), day);
    assert_eq!(minutes("12-31-2007.11-59-PM", "01-01-2008.12-00-AM"), 1);
    assert_eq!(minutes("2007-12-31.13-00", "2008-12-31.13-00"), 366 * day);
}

//! The catalogue's data, the names of files, and real folders with small files in them.

mod files;
mod order;
mod stand_ins;

use std::collections::BTreeSet;

use super::data::idle_sources;
use super::*;

#[test]
fn every_name_is_one_trace() {
    let catalogue = Catalogue::built_in();
    assert_eq!(catalogue.traces.len(), 36 + 13 + 8 + 5 + 3 + 3, "the catalogue has changed");
    let mut names = BTreeSet::new();
    for entry in &catalogue.traces {
        for name in std::iter::once(&entry.name).chain(&entry.aliases) {
            assert!(names.insert(name), "{name} is named twice");
            let well = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
            let (publisher, short) = name.split_once(':').expect("publisher and trace");
            assert!(publisher.chars().chain(short.chars()).all(well), "{name}");
        }
        assert!(!entry.title.is_empty() && !entry.collection.is_empty(), "{}", entry.name);
        let kinds = [!entry.patterns.is_empty(), !entry.parts.is_empty(), entry.page.is_none()];
        assert_eq!(
            kinds.iter().filter(|k| **k).count(),
            1,
            "{}: files, parts or nothing",
            entry.name
        );
        for part in &entry.parts {
            let part = catalogue.get(part).expect("parts are traces");
            assert_eq!((part.files, part.parts.len()), (1, 0), "{}", part.name);
        }
    }
}

#[test]
fn what_is_published_says_where_and_under_which_terms() {
    for entry in Catalogue::built_in().traces.iter().filter(|e| e.page.is_some()) {
        let page = entry.page.as_ref().unwrap();
        assert!(page.starts_with("https://"), "{}: {page}", entry.name);
        assert!(entry.licence.is_some(), "{}", entry.name);
        let format = entry.format.as_deref().unwrap();
        assert!(format.parse::<crate::Format>().is_ok(), "{}: {format}", entry.name);
    }
}

#[test]
fn every_figure_has_a_source_that_stands_and_sources_agree_with_themselves() {
    let catalogue = Catalogue::built_in();
    assert_eq!(idle_sources(), [] as [&str; 0], "sources of nothing");
    let mut figures = 0;
    for entry in &catalogue.traces {
        for statement in &entry.statements {
            assert!(statement.source.text.len() > 10, "{}: say where", entry.name);
            assert!(!statement.figures.is_empty(), "{}: nothing said", entry.name);
            figures += statement.figures.len();
            let get = |q| statement.figures.iter().find(|(p, _)| *p == q).map(|(_, x)| *x);
            if let (Some(requests), Some(writes)) = (get(Quantity::Requests), get(Quantity::Writes))
            {
                assert!(writes < requests, "{}", entry.name);
            }
            if let (Some(all), Some(written)) = (get(Quantity::Pages), get(Quantity::PagesWritten))
            {
                assert!(written <= all, "{}", entry.name);
                assert!(all * 4096.0 <= get(Quantity::Span).unwrap(), "{}", entry.name);
            }
        }
    }
    assert!(figures >= 150, "only {figures} figures were looked at");
}

fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected, "{value} is not {expected}");
}

#[test]
fn what_sources_say_in_several_ways_comes_out_the_same() {
    let catalogue = Catalogue::built_in();
    let known = |name: &str, quantity| catalogue.get(name).unwrap().known(quantity);
    let value = |name: &str, quantity| known(name, quantity).unwrap().value;
    // Counted exactly, and printed as 88.1 % writes.
    let share = known("msr:mds_0", Quantity::ReadShare).unwrap();
    assert_near(share.value, (1_211_034.0 - 1_067_061.0) / 1_211_034.0);
    assert!(share.otherwise.is_empty());
    // GCaR's mean is 14.1 kB where bytes and requests give 9.4 kB.
    let mean = known("msr:mds_0", Quantity::MeanSize).unwrap();
    assert_near(mean.value, (11_403_751_424.0_f64 / 1_211_034.0).round());
    assert_eq!((mean.source.kind, mean.otherwise.len()), (CitationKind::Derived, 1));
    assert_near(mean.otherwise[0].0, 14_100.0);
    // A part of a trace says nothing of the whole, but for shares and sizes.
    assert_eq!(known("msps:exchange", Quantity::Requests), None);
    assert_near(value("msps:exchange", Quantity::ReadShare), 0.24);
    // Its GB are 2^30 bytes, and the figure is given to the nearest byte.
    let written = value("msps:exchange", Quantity::WrittenPerHour);
    assert_near(written, (20.61 * f64::from(1 << 30)).round());
    assert_near(value("msps:msnfs", Quantity::Duration), 6.0 * 3600.0);
    // Mango's column of reads counts bytes: 15.4 % of bytes are 22.65 % of requests of 2.3 and
    // 3.7 kB, where the trace itself has 23.16 %.
    let share = known("mango:financial", Quantity::ReadShare).unwrap();
    assert_near(share.value, 1_235_633.0 / 5_334_987.0);
    assert_near(share.otherwise[0].0, (0.154 / 2.3) / (0.154 / 2.3 + 0.846 / 3.7));
    assert_eq!(
        known("mango:build", Quantity::ReadShare).unwrap().source.kind,
        CitationKind::Derived
    );
    assert_eq!(known("msr:wdev_3", Quantity::Requests), None, "unknown is absent");
}

#[test]
fn the_groups_are_those_of_the_papers() {
    let catalogue = Catalogue::built_in();
    let sizes: Vec<(&str, usize)> =
        catalogue.groups.iter().map(|g| (g.name.as_str(), g.traces.len())).collect();
    assert_eq!(sizes, [("agcr", 12), ("read-disturb", 9), ("ready", 5), ("mango", 4)]);
    for group in &catalogue.groups {
        for name in &group.traces {
            assert_eq!(&catalogue.get(name).expect("a trace").name, name, "{}", group.name);
        }
    }
    // AGCR's twelve span the shares of reads, and have those that the paper names.
    let agcr = &catalogue.groups[0].traces;
    let servers: BTreeSet<&str> =
        agcr.iter().map(|name| name[4..].trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(servers.len(), 12, "one of each kind of server");
    for named in ["proj_", "usr_", "hm_"] {
        assert!(servers.contains(named));
    }
    let share = |name: &String| {
        catalogue.get(name).unwrap().known(Quantity::ReadShare).expect("is known").value
    };
    let mut shares: Vec<f64> = agcr.iter().map(share).collect();
    shares.sort_by(f64::total_cmp);
    assert!(shares[0] < 0.05 && shares[11] > 0.95);
    assert!(shares.windows(2).all(|pair| pair[1] - pair[0] < 0.3), "{shares:?}");
    let exchange = catalogue.get("msps:exchange").unwrap();
    assert_eq!(catalogue.groups_of(exchange).collect::<Vec<_>>(), ["ready"]);
}

#[test]
fn the_read_disturb_rows_fit_their_volumes() {
    // Every request touches at least one page of 32 KiB, and on average not many more.
    let catalogue = Catalogue::built_in();
    let mut seen = 0;
    for name in &catalogue.groups[1].traces {
        let known = |q| catalogue.get(name).unwrap().known(q).map(|known| known.value);
        let (Some(requests), Some(share)) = (known(Quantity::Requests), known(Quantity::ReadShare))
        else {
            continue;
        };
        let pages = |traffic: Option<f64>, of: f64| traffic.map(|bytes| bytes / 32_768.0 / of);
        let read = pages(known(Quantity::PageTrafficRead), requests * share).unwrap();
        assert!((1.0..3.0).contains(&read), "{name}: {read} pages in a read");
        if let Some(written) = pages(known(Quantity::PageTrafficWritten), requests * (1.0 - share))
        {
            assert!((1.0..3.0).contains(&written), "{name}: {written} pages in a write");
        }
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn what_was_meant_is_found() {
    let catalogue = Catalogue::built_in();
    for (name, meant) in [
        ("msr:hm0", Some("msr:hm_0")),
        ("hm_0", Some("msr:hm_0")),
        ("msps:exchang", Some("msps:exchange")),
        ("umass:finacial1", Some("umass:financial1")),
        ("proxy", Some("msr:proxy")),
        ("random-write", None),
    ] {
        assert_eq!(catalogue.meant(name), meant, "{name}");
    }
    assert_eq!(catalogue.get("msr:proxy").unwrap().name, "msr:prxy");
}

//! Names whose files are not there.

use super::files::{Folder, msr, short};
use crate::catalogue::Catalogue;
use crate::standin::Length;
use crate::trace::drain;
use crate::{ReadOptions, TraceError, Workload};

const FIRST: Length = Length { requests: Some(3_000), duration: None, created_reads: None };

fn open(name: &str, folders: &[&Folder], length: Length) -> Result<Box<dyn Workload>, TraceError> {
    let folders: Vec<_> = folders.iter().map(|f| f.0.clone()).collect();
    Catalogue::built_in().open_or_stand_in(name, &folders, &ReadOptions::default(), length, 1)
}

fn refused(name: &str, words: &[&str]) {
    let message = open(name, &[], Length::default()).err().unwrap().to_string();
    for word in words {
        assert!(message.contains(word), "{name}: {word} is not in: {message}");
    }
}

#[test]
fn a_trace_that_is_not_there_has_a_stand_in_that_says_so() {
    let stand_in = open("msr:hm_0", &[], FIRST).unwrap();
    let about = stand_in.about();
    assert_eq!((about.name.as_str(), about.requests), ("msr:hm_0", Some(3_000)));
    let said = about.stand_in.as_ref().unwrap();
    assert!(said.fitted_to.contains("cache-replay"), "{said:?}");
    assert!(about.notes.iter().any(|n| n.contains("3000 of 3993316")), "{:?}", about.notes);
    assert!(about.notes.iter().any(|n| n.contains("assumed")), "{:?}", about.notes);
    assert_eq!(drain(&mut *stand_in.open().unwrap()).unwrap().len(), 3_000);
}

#[test]
fn a_trace_that_is_there_goes_before_its_stand_in() {
    let folder = Folder::new("before");
    folder.write("hm_0.csv", msr("hm", 0, 0, true, 4096, 512));
    let real = open("msr:hm_0", &[&folder], Length::default()).unwrap();
    assert!(real.about().stand_in.is_none());
    assert_eq!(short(&*real), [(0, 4096, 512, true)]);
    // To be unpacked is there.
    folder.write("Financial1.spc.bz2", "BZh9");
    let error = open("umass:financial1", &[&folder], Length::default()).err().unwrap();
    assert!(error.to_string().contains("unpack"), "{error}");
}

#[test]
fn a_server_is_the_stand_ins_of_its_volumes_beside_those_that_are_there() {
    let whole = open("msr:hm", &[], FIRST).unwrap();
    assert!(whole.about().stand_in.is_some());
    assert_eq!(drain(&mut *whole.open().unwrap()).unwrap().len(), 3_000);
    let folder = Folder::new("mixed");
    folder.write("hm_1.csv", msr("hm", 1, 0, true, 4096, 512));
    let mixed = open("msr:hm", &[&folder], FIRST).unwrap();
    assert!(mixed.about().stand_in.is_some());
    let [one, all] = [&mixed, &whole].map(|w| w.about().sha256.clone().unwrap());
    assert_ne!(one, all);
}

/// READY's Table 1: what whole servers write in an hour. Sizes that no source gives follow it.
#[test]
fn servers_write_as_much_as_is_published() {
    let catalogue = Catalogue::built_in();
    for (server, gib) in [("msr:proj", 2.08), ("msr:prxy", 4.94)] {
        let entry = catalogue.get(server).unwrap();
        let size = catalogue.size_of_parts(entry).unwrap();
        let written: f64 = entry
            .parts
            .iter()
            .map(|name| {
                let given = crate::catalogue::Given { mean_size: Some(size), ..Default::default() };
                let part =
                    crate::catalogue::published(catalogue.get(name).unwrap(), given).unwrap();
                part.mean_write() * part.writes as f64 / (part.duration.as_secs_f64() / 3600.0)
            })
            .sum();
        let ratio = written / (gib * (1_u64 << 30) as f64);
        assert!((ratio - 1.0).abs() < 0.02, "{server}: {ratio}");
    }
}

#[test]
fn too_little_published_says_what_is_missing_and_where_the_trace_is() {
    refused("msr:rsrch_1", &["how many requests", "are reads", "iotta", "rsrch_1.csv"]);
    refused("mango:build", &["nobody has published", "workload.requests=N", "workload.duration"]);
    let given = Length {
        requests: Some(2_000),
        duration: Some(kernel::Dur::secs(60)),
        ..Length::default()
    };
    let build = open("mango:build", &[], given).unwrap();
    assert_eq!(drain(&mut *build.open().unwrap()).unwrap().len(), 2_000);
    let options = ReadOptions { devices: vec!["0".into()], ..ReadOptions::default() };
    let catalogue = Catalogue::built_in();
    let error = catalogue.open_or_stand_in("msr:hm_0", &[], &options, FIRST, 1).err().unwrap();
    assert!(error.to_string().contains("device=0"), "{error}");
}

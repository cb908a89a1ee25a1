//! Files of settings that describe a workload: parts, generators, profiles of stand-ins.

use kernel::{Bytes, Prio, Time};
use serde_json::{Map, Value};
use workload::standin::{Length, Profile};
use workload::{Composition, Generator, List, Op, Pattern, Request, Workload};

use crate::go_through;

/// Batches that are looked at; generators have no end.
const BATCHES: usize = 2;

/// A part of a file: a list of timed requests, or a generator.
fn part(name: &str) -> Result<Box<dyn Workload>, String> {
    if let Some(pattern) = Pattern::from_name(name) {
        let generator = Generator { requests: 50, ..Generator::new(pattern) };
        let made = generator.with_span(Bytes::mib(16), 1).map_err(|e| e.to_string())?;
        return Ok(Box::new(made));
    }
    if name.is_empty() {
        return Err("no name".into());
    }
    let request = |i: u64| {
        let at = Time::from_ns(i * 1_000_000_007);
        let op = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua][i as usize % 5];
        let (offset, len) = match op {
            Op::Flush => (0, 0),
            _ => (i * 7919 % 5003 * 512, 512 + i as u32 % 9 * 512),
        };
        Request { at, offset, len, op, prio: Prio::Normal, flow: 0, hint: 0 }
    };
    let list = List::new(name, (0..40).map(request).collect()).map_err(|e| e.to_string())?;
    Ok(Box::new(list))
}

/// A file of parts.
pub(crate) fn parts(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let composition = match Composition::read("some.toml", text) {
        None => return false,
        Some(Ok(composition)) => composition,
        Some(Err(e)) => {
            assert!(e.contains("some.toml"), "no place: {e}");
            return false;
        }
    };
    match composition.open("whole", &mut |p| part(&p.workload)) {
        Ok(whole) => {
            go_through(&*whole, BATCHES);
            true
        }
        Err(e) => {
            assert!(e.contains("some.toml"), "no place: {e}");
            false
        }
    }
}

/// A generator's file.
pub(crate) fn generator(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let generator: Generator = match toml::from_str(text) {
        Ok(generator) => generator,
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            return false;
        }
    };
    // A run takes the settings as a map, on top of which come others.
    let map: Map<String, Value> = toml::from_str(text).expect("what is a generator is a table");
    let again: Generator = serde_json::from_value(map.into()).expect("the same settings");
    assert_eq!(again, generator);
    match generator.with_span(Bytes::mib(64), 1) {
        Ok(made) => {
            go_through(&made, BATCHES);
            true
        }
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            false
        }
    }
}

/// A profile's file.
pub(crate) fn profile(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let profile = match Profile::read(text) {
        Ok(profile) => profile,
        Err(e) => {
            assert!(!e.is_empty(), "an error without words");
            return false;
        }
    };
    assert_eq!(Profile::read(&profile.text()).as_ref(), Ok(&profile), "what is written is read");
    match profile.workload(Length { requests: Some(200), duration: None, created_reads: None }, 1) {
        Ok(made) => {
            go_through(&*made, BATCHES);
            true
        }
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            false
        }
    }
}

pub(crate) fn seeds_of_parts() -> Vec<Vec<u8>> {
    [
        "schema = \"floatgate.workload/1\"\n[[part]]\nworkload = \"a\"\nslice = \"2s..30s\"\n",
        "schema = \"floatgate.workload/1\"\n[[part]]\nworkload = \"a\"\nfirst = 9\nspeed = 2.0\n\
         [[part]]\nworkload = \"zipf\"\npriority = \"high\"\nshare = 0.1\n",
        "schema = \"floatgate.workload/1\"\n[[part]]\nworkload = \"a\"\nrepeat = 3\n\
         footprint = 0.5\npriority = \"switching\"\nstretches = 4\nseed = 7\n",
        "schema = \"floatgate.workload/1\"\n[[part]]\nworkload = \"b\"\nbegins = \"3s\"\n\
         priority = \"normal\"\n[[part]]\nworkload = \"a\"\ndevice = [0, \"1\"]\nprocess = 7\n\
         skip-bad = true\nformat = \"csv\"\ntime-unit = \"us\"\ncolumns = \"time=1\"\nevent = \"issued\"\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(crate) fn seeds_of_generators() -> Vec<Vec<u8>> {
    let more = [
        "requests = 100\nsize = \"8KiB\"\nread-share = 0.5\ntrim-share = 0.1\nalign = \"4KiB\"\n",
        "requests = 100\nread-share = 0.5\nflush-every = 3\nfua-share = 0.25\n",
        "span = \"1MiB\"\nrate = 1000.0\nseed = 3\n",
        "size = [{ size = \"4KiB\", share = 0.5 }, { size = \"512B\", share = 0.5 }]\n",
        "arrivals = { poisson = 500.0 }\n",
        "arrivals = \"back-to-back\"\nduration = \"3s\"\n",
        "theta = 0.9\n",
        "hot-data = 0.1\nhot-writes = 0.9\n",
        "sessions = 3\nobject-size = \"64KiB\"\nprefix-hits = 0.5\neviction = \"trim\"\ntenants = 2\n",
    ];
    let names = Pattern::ALL.map(Pattern::name);
    let all = names.iter().zip(more.iter().cycle());
    let all = all.chain([(&"zipf", &more[6]), (&"hot-cold", &more[7]), (&"kv-offload", &more[8])]);
    all.map(|(name, more)| format!("pattern = \"{name}\"\n{more}").into_bytes()).collect()
}

pub(crate) fn seeds_of_profiles() -> Vec<Vec<u8>> {
    let fitted = |n: u64| {
        let request = |i: u64| Request {
            at: Time::from_ns(i * 3_000_000),
            offset: i * i % 97 * 65536,
            len: 4096,
            op: if i % n == 0 { Op::Read } else { Op::Write },
            prio: Prio::Normal,
            flow: 0,
            hint: 0,
        };
        let list = List::new("some", (0..400).map(request).collect()).expect("a sound list");
        workload::standin::fit(&list).expect("a list of reads and writes").text().into_bytes()
    };
    [1, 2, 3, 1000].map(fitted).to_vec()
}

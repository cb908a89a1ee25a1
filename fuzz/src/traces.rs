//! Traces: by their format, and with the format to be found out.

#[allow(dead_code, reason = "the readers' own tests use the rest")]
#[path = "../../crates/workload/src/trace/samples.rs"]
mod samples;

use std::sync::Arc;

use workload::{Event, FlowBy, Format, ReadOptions, ReadTally, TimeUnit, open_bytes};

use crate::{choice, go_through};

fn options(bits: usize, format: Option<Format>) -> ReadOptions {
    let on = |bit: usize| bits >> bit & 1 != 0;
    ReadOptions {
        format,
        time_unit: on(0).then_some(TimeUnit::Ns),
        columns: (format.is_some_and(|f| f.name() == "csv") || on(6)).then(|| {
            let named = format.is_some() && on(6);
            let columns = if named { samples::NAMED_COLUMNS } else { samples::COLUMNS };
            columns.parse().expect("columns")
        }),
        event: on(1).then_some(Event::Issued),
        devices: if on(2) { vec!["0".into(), "/dev/a".into()] } else { Vec::new() },
        process: on(3).then(|| "13213".into()),
        skip_bad: on(4),
        flow_by: match bits >> 5 & 5 {
            1 => Some(FlowBy::Device),
            4 => Some(FlowBy::Process),
            _ => None,
        },
        tally: ReadTally::NONE,
    }
}

fn read(bytes: &[u8], options: &ReadOptions) -> bool {
    let trace = match open_bytes("some.trace", Arc::from(bytes), options) {
        Ok(trace) => trace,
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            return false;
        }
    };
    // Reading gives the count that opening found.
    let (count, whole) = go_through(&*trace, usize::MAX);
    assert!(whole, "it was read once");
    assert_eq!(trace.about().requests, Some(count));
    true
}

/// The first byte chooses the format, the second the options.
pub(crate) fn said(bytes: &[u8]) -> bool {
    let (format, bytes) = choice(bytes);
    let (bits, bytes) = choice(bytes);
    read(bytes, &options(bits, Some(Format::ALL[format % Format::ALL.len()])))
}

/// The first byte chooses the options; packed files are unpacked.
pub(crate) fn found(bytes: &[u8]) -> bool {
    let (bits, bytes) = choice(bytes);
    read(bytes, &options(bits & !64, None))
}

fn samples() -> impl Iterator<Item = (usize, Vec<u8>)> {
    samples::SAMPLES.into_iter().map(|(name, format)| {
        let number = Format::ALL.iter().position(|f| f.name() == format).expect("a known format");
        (number, samples::write(name, &samples::pieces(name, 6)))
    })
}

pub(crate) fn seeds_said() -> Vec<Vec<u8>> {
    samples().map(|(format, text)| [vec![format as u8, 0], text].concat()).collect()
}

pub(crate) fn seeds_found() -> Vec<Vec<u8>> {
    let plain = samples().map(|(_, text)| text);
    let packed = samples().map(|(_, text)| zstd::encode_all(&text[..], 1).expect("in memory"));
    plain.chain(packed).map(|text| [vec![0], text].concat()).collect()
}

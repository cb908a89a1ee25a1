//! The real traces, where they are at hand: what their page says of them.

use super::*;

/// A trace as its page describes it; figures as printed there, with the last printed place.
struct Known {
    name: &'static str,
    format: Format,
    requests: usize,
    trims: usize,
    /// Lines of the queue with a flush before their data, which all bypass the cache; counted with awk:
    /// `$6 == "Q" && $7 ~ /^F/`.
    flushes: usize,
    /// Percent of the requests.
    reads: f64,
    seconds: f64,
    read: (f64, f64),
    written: (f64, f64),
    /// Distinct 4 KiB pages, in bytes: touched, written.
    footprint: (f64, f64),
    footprint_written: (f64, f64),
    /// The end of the last address; `None`: there are several devices.
    highest: Option<(f64, f64)>,
}

const KNOWN: [Known; 5] = [
    Known {
        name: "msps-dtrs-30000s.trace.zst",
        format: Format::Ssdsim,
        requests: 127_043,
        trims: 0,
        flushes: 0,
        reads: 89.0,
        seconds: 30_000.0,
        read: (6.44e9, 1e7),
        written: (760.8e6, 1e5),
        footprint: (5.21e9, 1e7),
        footprint_written: (753.9e6, 1e5),
        highest: Some((164.51e9, 1e7)),
    },
    Known {
        name: "cloudphysics-vm-2h.vscsi.zst",
        format: Format::Vscsi,
        requests: 113_872,
        trims: 0,
        flushes: 0,
        reads: 41.3,
        seconds: 7_200.0,
        read: (1.80e9, 1e7),
        written: (2.41e9, 1e7),
        footprint: (1.10e9, 1e7),
        footprint_written: (854.8e6, 1e5),
        highest: Some((33.58e9, 1e7)),
    },
    Known {
        name: "umass-financial1-10k.ascii.zst",
        format: Format::Ssdsim,
        requests: 10_000,
        trims: 0,
        flushes: 0,
        reads: 40.8,
        seconds: 259.6,
        read: (25.4e6, 1e5),
        written: (29.8e6, 1e5),
        footprint: (30.0e6, 1e5),
        footprint_written: (15.3e6, 1e5),
        highest: None,
    },
    Known {
        name: "wiscsee-sqlite-wal-ext4.txt.zst",
        format: Format::Wiscsee,
        requests: 5_008,
        trims: 1,
        flushes: 0,
        reads: 0.1,
        seconds: 1.413,
        read: (16e3, 1e3),
        written: (69.1e6, 1e5),
        footprint: (8.9e6, 1e5),
        footprint_written: (8.9e6, 1e5),
        highest: Some((542.1e6, 1e5)),
    },
    Known {
        name: "hadoop-eternity10.blkparse.txt.zst",
        format: Format::Blkparse,
        requests: 137_309,
        trims: 0,
        flushes: 46,
        reads: 98.6,
        seconds: 169.3,
        read: (40.68e9, 1e7),
        written: (28.1e6, 1e5),
        footprint: (40.71e9, 1e7),
        footprint_written: (25.7e6, 1e5),
        highest: Some((426.86e9, 1e7)),
    },
];

/// The bytes of all distinct 4 KiB pages that these requests touch. Devices begin at multiples of
/// 1 MiB, so no page belongs to two of them.
fn footprint<'a>(requests: impl Iterator<Item = &'a Request>) -> f64 {
    let mut pages: Vec<u64> =
        requests.flat_map(|r| r.offset >> 12..r.end().div_ceil(4096)).collect();
    pages.sort_unstable();
    pages.dedup();
    pages.len() as f64 * 4096.0
}

/// Nobody has to have the traces, so these tests are ignored unless asked for, as `make test` does.
#[expect(clippy::disallowed_methods, reason = "a test's input, not a run's")]
fn real(name: &str) -> std::path::PathBuf {
    let folders = std::env::var_os("FLOATGATE_TRACES").expect("FLOATGATE_TRACES names a folder");
    let found = std::env::split_paths(&folders).map(|dir| dir.join(name)).find(|p| p.is_file());
    found.unwrap_or_else(|| panic!("{name} is in no folder that FLOATGATE_TRACES names"))
}

#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn real_traces_have_their_published_figures() {
    for known in KNOWN {
        let Known { name, .. } = known;
        let path = real(name);
        let trace = open_trace(&path, &NO_OPTIONS).unwrap_or_else(|e| panic!("{e}"));
        let all = drain(&mut *trace.open().unwrap()).unwrap();
        assert_eq!(trace.about().format, known.format.name(), "{name}");
        assert_eq!(trace.about().requests, Some(all.len() as u64), "{name}");
        let of = |op| all.iter().filter(move |r| r.op == op);
        assert_eq!(of(Op::Trim).count(), known.trims, "{name}");
        assert_eq!(of(Op::Flush).count(), known.flushes, "{name}");
        assert_eq!(of(Op::WriteFua).count(), known.flushes, "{name}");
        // The page counts what carries data.
        let plain =
            |r: &Request| Request { op: if r.op.writes() { Op::Write } else { r.op }, ..*r };
        let all: Vec<_> = all.iter().filter(|r| r.has_extent()).map(plain).collect();
        let of = |op| all.iter().filter(move |r| r.op == op);
        assert_eq!(all.len(), known.requests, "{name}");
        let close = |ours: f64, (theirs, place): (f64, f64), what: &str| {
            assert!((ours - theirs).abs() <= 0.51 * place, "{name}: {what} {ours}, not {theirs}");
        };
        let share = of(Op::Read).count() as f64 * 100.0 / all.len() as f64;
        close(share, (known.reads, 0.1), "percent read");
        let length = all[all.len() - 1].at.as_secs_f64();
        assert!((length / known.seconds - 1.0).abs() < 0.001, "{name}: {length} s");
        let bytes = |op| of(op).map(|r| f64::from(r.len)).sum::<f64>();
        close(bytes(Op::Read), known.read, "bytes read");
        close(bytes(Op::Write), known.written, "bytes written");
        close(footprint(all.iter().filter(|r| r.op != Op::Trim)), known.footprint, "footprint");
        close(footprint(of(Op::Write)), known.footprint_written, "footprint written");
        if let Some(highest) = known.highest {
            close(trace.about().span.unwrap() as f64, highest, "highest address");
        }
        if known.format == Format::Vscsi {
            let mut alignment = crate::Alignment::new();
            alignment.observe(&all);
            assert_eq!(alignment.best_shift(), (512, 90_572), "a partition 63 sectors in");
        }
    }
}

/// The stream that the kernel merged: the trace's page counts the queued requests only.
#[test]
#[ignore = "needs the real traces that FLOATGATE_TRACES names"]
fn a_real_trace_has_a_stream_for_every_event() {
    let name = "hadoop-eternity10.blkparse.txt.zst";
    let count = |options: ReadOptions| open_trace(&real(name), &options).unwrap().about().requests;
    // Counted with awk: `$6 == "D" && $9 == "+"`, and so on.
    for (event, requests) in [(Event::Issued, 137_358), (Event::Completed, 81_386)] {
        let options = ReadOptions { event: Some(event), ..NO_OPTIONS };
        assert_eq!(count(options), Some(requests), "{event}");
    }
    let options = ReadOptions { process: Some("DataXceiver for".into()), ..NO_OPTIONS };
    assert_eq!(count(options), Some(106_160));
}

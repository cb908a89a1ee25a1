//! Honest? The memory of a run is the memory that it writes to, and does not grow with the number
//! of requests. Alone in its binary: the memory of a process says something only where nothing else
//! runs in it.

mod common;

use common::{drive, drive_of};
use floatgate_ssd::record::{CHUNK, RunTable, Sink, Values};
use floatgate_ssd::{NoCache, Progress, Stage, generator, run_recorded};

/// Resident memory of this process in bytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Requests of a long run: `make test` has fewer than `make verify`.
const MILLIONS: u64 = if cfg!(feature = "verify") { 10 } else { 3 };

/// Resident memory after the first million requests, and the most after that.
fn from_the_first_million(sink: Option<Sink>) -> (u64, u64) {
    let drive = drive(&[
        "geometry.channels=4",
        "geometry.blocks-per-plane=256",
        "ftl.spare-factor=0.2",
        "precondition.fill=full",
        "host.mode=queue-depth",
        &format!("workload.requests={MILLIONS}000000"),
        "workload.read-share=0.85",
        "workload.trim-share=0.05",
        "workload.align=512B",
    ]);
    let requests = generator(&drive, "random-write").unwrap();
    let mut seen = Vec::new();
    let mut watch = |progress: Progress| {
        if progress.stage == Stage::Running && progress.done >= 1_000_000 {
            seen.extend(resident());
        }
        true
    };
    run_recorded(&drive, requests, &mut NoCache, &mut watch, sink).unwrap();
    let (first, most) = (seen[0], *seen.iter().max().unwrap());
    println!("{} KiB after a million requests, then up to {}", first >> 10, most >> 10);
    assert!(seen.len() > 100, "memory was looked at {} times", seen.len());
    (first, most)
}

/// How much memory a drive of 32 GiB has taken after 16,384 requests within 64 MiB. Its map alone has columns of
/// 68 MB, which writes to all of its planes touch here and there.
fn of_a_short_run() -> u64 {
    let drive = drive_of("base = \"agcr\"\n", &["workload.requests=20000", "workload.span=64MiB"]);
    let requests = generator(&drive, "random-write").unwrap();
    let (before, mut most) = (resident().unwrap(), 0);
    let mut watch = |_: Progress| {
        most = most.max(resident().unwrap());
        true
    };
    run_recorded(&drive, requests, &mut NoCache, &mut watch, None).unwrap();
    println!("{} KiB of a short run", (most - before) >> 10);
    most - before
}

/// Whether the system hands out large pages to programs that did not ask.
fn only_large_pages() -> bool {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    setting.is_ok_and(|setting| setting.contains("[always]"))
}

#[test]
fn memory_is_what_is_written_to_and_does_not_grow_with_requests() {
    if resident().is_none() {
        println!("skipped: this system does not tell how much memory a process has");
        return;
    }
    let (first, most) = from_the_first_million(None);
    // A byte for each of the requests in between would be at least two million bytes.
    assert!(most < first + (1 << 20), "{first} bytes became {most}");
    // Recorded, 150 bytes for each request wait until there is a part, and become columns of up to 110; the
    // series has up to 2,049 samples of at most a KiB.
    let mut rows = 0;
    let sink: Sink = Box::new(move |table, columns| {
        let Values::U64(first) = &columns[0].values else { return true };
        rows += if table == RunTable::Requests { first.len() } else { 0 };
        assert!(table != RunTable::Series || rows == MILLIONS as usize * 1_000_000, "{rows} rows");
        true
    });
    let part = (150 + 110) * CHUNK as u64;
    let (_, most) = from_the_first_million(Some(sink));
    assert!(most < first + part + (3 << 20), "{first} bytes became {most}");
    let short = of_a_short_run();
    assert!(short < 24 << 20 || only_large_pages(), "a short run took {short} bytes");
}

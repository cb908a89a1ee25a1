//! Honest? Memory does not grow with the number of requests. Alone in its file: the memory of a
//! process says something only where nothing else runs in it.

mod common;

use common::drive;
use floatgate_ssd::{NoCache, Stage, generator, run};

/// Resident memory of this process in bytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    if resident().is_none() {
        println!("skipped: this system does not tell how much memory a process has");
        return;
    }
    let drive = drive(&[
        "geometry.channels=4",
        "geometry.blocks-per-plane=256",
        "ftl.spare-factor=0.2",
        "precondition.fill=full",
        "host.mode=queue-depth",
        "workload.requests=10000000",
        "workload.read-share=0.85",
        "workload.trim-share=0.05",
        "workload.align=512B",
    ]);
    let requests = generator(&drive, "random-write").unwrap();
    let mut seen = Vec::new();
    let report = run(&drive, requests, &mut NoCache, &mut |progress| {
        if progress.stage == Stage::Running && progress.done >= 1_000_000 {
            seen.extend(resident());
        }
        true
    });
    report.unwrap();
    let (first, last) = (seen[0], *seen.last().unwrap());
    println!("{} KiB after a million requests, {} after ten", first >> 10, last >> 10);
    assert!(seen.len() > 500, "memory was looked at {} times", seen.len());
    // A byte for each of the nine million requests in between would be nine times as much.
    assert!(last < first + (1 << 20), "{first} bytes became {last}");
}

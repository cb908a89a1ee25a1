//! Damaged traces, for a bounded time: whatever comes in, a message or requests come out, never a
//! panic.
//!
//! `cargo run --profile fast -p floatgate-workload --example fuzz_traces -- SECONDS [SEED]` damages a small
//! sample of every format and has that format's reader read it; the sniffer has its turn, and so
//! have slices and compression. A failure prints the seed that repeats it; with a SEED only that
//! one input runs. `make fuzz` runs it.

#![allow(clippy::disallowed_methods)] // a bounded time needs a clock, a command its arguments

#[path = "../src/trace/samples.rs"]
mod samples;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use floatgate_workload::{Event, ReadOptions, Tally, TimeUnit, open_bytes};
use kernel::{Rng, Time};
use samples::{COLUMNS, SAMPLES, pieces, write};

/// What is put in the way of a parser.
const NASTY: [&[u8]; 16] = [
    b"-",
    b"99999999999999999999",
    b"18446744073709551615",
    b"\n",
    b"\r\n",
    b"\0",
    b"1e400",
    b".",
    b"\"",
    b"[",
    b"(",
    b",",
    b";",
    b"\t",
    b"0x",
    b"\xff\xfe",
];

/// One to a few small damages.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u32) as usize;
        let to = (at + 1 + rng.below(40) as usize).min(bytes.len());
        match rng.below(8) {
            0 => bytes[at] = rng.bits() as u8,
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..to)),
            4 => {
                let piece = bytes[at..to].to_vec();
                bytes.splice(at..at, piece);
            }
            // Digits become other digits, so that the line still reads.
            5 => bytes[at..to].iter_mut().filter(|b| b.is_ascii_digit()).for_each(|b| *b = b'9'),
            6 => {
                let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
                let count = lines.len() as u32;
                lines.swap(rng.below(count) as usize, rng.below(count) as usize);
                *bytes = lines.join(&b'\n');
            }
            _ => {
                let nasty = NASTY[rng.below(NASTY.len() as u32) as usize];
                bytes.splice(at..at, nasty.iter().copied());
            }
        }
    }
}

fn options(format: &str, rng: &mut Rng) -> ReadOptions {
    let mut maybe = |n| rng.below(n) == 0;
    ReadOptions {
        format: (!maybe(3)).then(|| format.parse().expect("a format")),
        time_unit: maybe(8).then_some(TimeUnit::Ns),
        columns: (format == "csv").then(|| COLUMNS.parse().expect("columns")),
        event: maybe(6).then_some(Event::Issued),
        devices: if maybe(6) { vec!["0".into(), "/dev/a".into()] } else { Vec::new() },
        process: maybe(6).then(|| "13213".into()),
        skip_bad: maybe(2),
        tally: Tally::NONE,
    }
}

/// Reads one damaged sample; whether there was anything to read.
fn one(seed: u64) -> bool {
    let mut rng = Rng::named(seed, "fuzz");
    let (name, format) = SAMPLES[rng.below(SAMPLES.len() as u32) as usize];
    let mut bytes = write(name, &pieces(name, 40));
    let options = options(format, &mut rng);
    let packs = rng.below(10) == 0;
    if packs && rng.below(2) == 0 {
        bytes = zstd::encode_all(&bytes[..], 1).expect("memory does not fail");
        damage(&mut bytes, &mut rng);
    } else {
        damage(&mut bytes, &mut rng);
        if packs {
            bytes = zstd::encode_all(&bytes[..], 1).expect("memory does not fail");
        }
    }
    let trace = match open_bytes(name, Arc::from(bytes), &options) {
        Ok(trace) => trace,
        Err(e) => {
            assert!(!e.to_string().is_empty(), "an error without words");
            return false;
        }
    };
    // What opening found is what reading gives.
    let mut source = trace.open().expect("it was read once");
    let (mut batch, mut count, mut last) = (Vec::new(), 0, Time::ZERO);
    loop {
        source.fill(&mut batch).expect("it was read once");
        if batch.is_empty() {
            break;
        }
        for r in &batch {
            assert!(r.len > 0 && r.at >= last && Some(r.end()) <= trace.about().span);
            last = r.at;
        }
        count += batch.len() as u64;
    }
    assert_eq!(trace.about().requests, Some(count));
    true
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(60);
    if let Some(seed) = arguments.next().and_then(|a| a.parse().ok()) {
        one(seed);
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let (mut seed, mut read) = (0, 0_u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let Ok(some) = catch_unwind(AssertUnwindSafe(|| one(seed))) else {
            println!("input {seed} made the reader panic; `-- {seconds} {seed}` repeats it");
            return ExitCode::FAILURE;
        };
        read += u64::from(some);
        seed += 1;
    }
    println!(
        "{seed} damaged traces in {seconds} s: {read} read, the others refused with a message"
    );
    ExitCode::SUCCESS
}

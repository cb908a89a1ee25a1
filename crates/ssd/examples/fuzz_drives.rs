//! Damaged drive files, for a bounded time: whatever comes in, a message or a drive comes out, never
//! a panic.
//!
//! `cargo run --profile fast -p floatgate-ssd --example fuzz_drives -- SECONDS [SEED]` mutates every drive
//! preset. A failure prints the seed that repeats it; with a SEED only that one input runs.
//! `make fuzz` runs it, and the same for traces in `crates/workload/examples/fuzz_traces.rs`.

#![allow(clippy::disallowed_methods)] // a bounded time needs a clock, a command its arguments

use floatgate_ssd::config::{Layers, load, render};
use kernel::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What is put in the way of a parser.
const NASTY: [&[u8]; 8] =
    [b"-", b"99999999999999999999", b"\n", b"\0", b"1e400", b"\"", b"[", b"\xff\xfe"];

/// One to a few small damages.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u32) as usize;
        match rng.below(6) {
            0 => bytes[at] = rng.bits() as u8,
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes.truncate(at),
            3 => {
                bytes.remove(at);
            }
            4 => {
                let piece: Vec<u8> = bytes[at..].iter().take(40).copied().collect();
                bytes.splice(at..at, piece);
            }
            _ => {
                bytes.splice(at..at, NASTY[rng.below(8) as usize].iter().copied());
            }
        }
    }
}

fn read_drive(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let file = ("fuzz.toml", text);
    let layers = Layers { file, library: &|_| None, set: &[], policy: &[], seed: None };
    if let Err(errors) = load(&layers) {
        assert!(!errors.is_empty(), "refused without a reason");
        assert!(!render(&errors, false).is_empty(), "an error without words");
    }
}

fn one(seed: u64) {
    let mut rng = Rng::named(seed, "fuzz");
    let presets = floatgate_ssd::presets();
    let (_, text) = presets[rng.below(presets.len() as u32) as usize];
    let mut bytes = text.as_bytes().to_vec();
    damage(&mut bytes, &mut rng);
    read_drive(&bytes);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(60);
    if let Some(seed) = arguments.next().and_then(|a| a.parse().ok()) {
        one(seed);
        return;
    }
    let start = Instant::now();
    let mut seed = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        if catch_unwind(AssertUnwindSafe(|| one(seed))).is_err() {
            println!("input {seed} made the reader panic; `-- {seconds} {seed}` repeats it");
            std::process::exit(1);
        }
        seed += 1;
    }
    println!("{seed} damaged drive files in {seconds} s: a message or a drive each time");
}

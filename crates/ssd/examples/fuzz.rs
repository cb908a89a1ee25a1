//! Damaged traces and drive files, for a bounded time: whatever comes in, a message or a result
//! comes out, never a panic.
//!
//! `cargo run --profile fast -p floatgate-ssd --example fuzz -- SECONDS [SEED]` mutates small valid
//! inputs of every format and every drive preset. A failure prints the seed that repeats it; with a
//! SEED only that one input runs. `make fuzz` runs it for a minute.

#![allow(clippy::disallowed_methods)] // a bounded time needs a clock, a command its arguments

use floatgate_ssd::config::{Layers, load, render};
use kernel::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workload::{ReadOptions, open_bytes};

/// Requests read from one damaged trace: enough to reach every part of it.
const REQUESTS: usize = 100_000;

/// What is put in the way of a parser.
const NASTY: [&[u8]; 8] =
    [b"-", b"99999999999999999999", b"\n", b"\0", b"1e400", b"\"", b"[", b"\xff\xfe"];

fn lines(line: impl Fn(u64) -> String) -> Vec<u8> {
    (0..40).map(line).collect::<String>().into_bytes()
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let mut vscsi = Vec::new();
    for i in 0..40_u64 {
        vscsi.extend_from_slice(&(i as u32).to_le_bytes());
        vscsi.extend_from_slice(&4096_u32.to_le_bytes());
        vscsi.extend_from_slice(&1_u32.to_le_bytes());
        vscsi.extend_from_slice(&0x28_u16.to_le_bytes());
        vscsi.extend_from_slice(&1_u16.to_le_bytes());
        vscsi.extend_from_slice(&(i * 8).to_le_bytes());
        vscsi.extend_from_slice(&(i * 1000).to_le_bytes());
    }
    let ssdsim = lines(|i| format!("{} {} {} 8 {}\n", i * 100_000, i % 3, i * 64, i % 2));
    let packed = zstd::encode_all(&ssdsim[..], 3).expect("memory does not fail");
    let msr = lines(|i| {
        let at = 128_166_372_003_061_629 + i * 10_000;
        format!("{at},hm,0,{},{},4096,500\n", ["Read", "Write"][i as usize % 2], i * 4096)
    });
    let spc = lines(|i| format!("{},{},4096,{},{i}.5\n", i % 3, i * 8, ["r", "W"][i as usize % 2]));
    vec![
        ("ssdsim", ssdsim),
        ("ssdsim.zst", packed),
        ("disksim", lines(|i| format!("{}.250000 0 {} 8 {}\n", i * 3, i * 64, i % 2))),
        ("msr.csv", msr),
        ("spc", spc),
        ("vscsi", vscsi),
    ]
}

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

fn read_trace(name: &str, bytes: Vec<u8>, skip_bad: bool) {
    let options = ReadOptions { skip_bad, ..ReadOptions::default() };
    let Ok(trace) = open_bytes(name, Arc::from(bytes), &options) else { return };
    let Ok(mut source) = trace.open() else { return };
    let (mut batch, mut seen) = (Vec::new(), 0);
    while source.fill(&mut batch).is_ok() && !batch.is_empty() && seen < REQUESTS {
        seen += batch.len();
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
    let (samples, presets) = (samples(), floatgate_ssd::presets());
    let which = rng.below((samples.len() + presets.len()) as u32) as usize;
    if let Some((name, mut bytes)) = samples.into_iter().nth(which) {
        damage(&mut bytes, &mut rng);
        read_trace(name, bytes, rng.below(2) == 0);
    } else {
        let (_, text) = presets[rng.below(presets.len() as u32) as usize];
        let mut bytes = text.as_bytes().to_vec();
        damage(&mut bytes, &mut rng);
        read_drive(&bytes);
    }
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
    println!("{seed} damaged inputs in {seconds} s: a message or a result each time");
}

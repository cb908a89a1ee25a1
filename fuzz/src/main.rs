//! Damage drawn from a seed, for a bounded number of inputs or time, on any Rust.
//!
//! * `seeded SECONDS [TARGET [SEED]]` damages whole inputs and those of `corpus`. A failure prints the
//!   seed that repeats it and leaves the input in `fuzz-failures`; with a SEED only that one runs.
//! * `seeded --count N TARGET` does so for N inputs.
//! * `seeded --seeds FOLDER` writes the whole inputs of each target into a folder of its name.
//! * `seeded --read TARGET FILE…` reads files.

#![expect(clippy::disallowed_methods, reason = "a program of its own, with a limit on the clock")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use floatgate_fuzz::{TARGETS, Target};
use kernel::Rng;

/// Pieces that are hard for a parser.
const NASTY: [&[u8]; 20] = [
    b"-",
    b"99999999999999999999",
    b"18446744073709551615",
    b"9223372036854775807",
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
    b"nan",
    b"\xff\xff\xff\xff",
    b"=",
];

/// One to a few small damages.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u32) as usize;
        let to = (at + 1 + rng.below(40) as usize).min(bytes.len());
        match rng.below(9) {
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
            // Two pieces of one length change places.
            7 => {
                let other = rng.below(bytes.len() as u32) as usize;
                for i in 0..4.min(bytes.len() - at.max(other)) {
                    bytes.swap(at + i, other + i);
                }
            }
            _ => {
                let nasty = NASTY[rng.below(NASTY.len() as u32) as usize];
                bytes.splice(at..at, nasty.iter().copied());
            }
        }
    }
}

/// The whole inputs of a target, and those that reached something once.
fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let mut all = (target.seeds)();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    all.extend(files.iter().filter_map(|file| fs::read(file.path()).ok()));
    all
}

/// Makes `bytes` the input of a seed.
fn draw(inputs: &[Vec<u8>], seed: u64, bytes: &mut Vec<u8>) {
    let mut rng = Rng::named(seed, "fuzz");
    bytes.clone_from(&inputs[rng.below(inputs.len() as u32) as usize]);
    damage(bytes, &mut rng);
}

/// Feeds a target up to `limit`, or `most` inputs; whether it answered everything.
fn feed(target: &Target, limit: Duration, most: u64) -> bool {
    let (inputs, start) = (inputs(target), Instant::now());
    let (mut seed, mut taken, mut bytes) = (0, 0_u64, Vec::new());
    while seed < most && start.elapsed() < limit {
        draw(&inputs, seed, &mut bytes);
        let Ok(took) = catch_unwind(AssertUnwindSafe(|| (target.read)(&bytes))) else {
            let name = target.name;
            let kept = format!("fuzz-failures/{name}-{seed}");
            let _ = fs::create_dir_all("fuzz-failures").and_then(|()| fs::write(&kept, &bytes));
            println!("{name}: {kept} makes the reader panic; `seeded 1 {name} {seed}` repeats it");
            return false;
        };
        taken += u64::from(took);
        seed += 1;
    }
    println!("{}: {seed} damaged inputs, {taken} taken, the others refused", target.name);
    true
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let named = |name: &str| TARGETS.iter().find(|t| t.name == name).expect("a target");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--seeds", folder] => {
            for target in &TARGETS {
                let folder = Path::new(folder).join(target.name);
                fs::create_dir_all(&folder).expect("a folder");
                for (i, bytes) in (target.seeds)().iter().enumerate() {
                    fs::write(folder.join(format!("seed-{i}")), bytes).expect("a file");
                }
            }
        }
        ["--read", target, ref files @ ..] => {
            for file in files {
                println!("{file}: {}", (named(target).read)(&fs::read(file).expect("a file")));
            }
        }
        ["--count", count, target] => {
            let count = count.parse().expect("a number of inputs");
            if !feed(named(target), Duration::MAX, count) {
                return ExitCode::FAILURE;
            }
        }
        [_, target, seed] => {
            let (target, mut bytes) = (named(target), Vec::new());
            draw(&inputs(target), seed.parse().expect("a seed"), &mut bytes);
            let taken = (target.read)(&bytes);
            println!("{}: {seed} is {}", target.name, if taken { "taken" } else { "refused" });
        }
        _ => {
            let seconds = &arguments;
            let limit = seconds.first().and_then(|s| s.parse().ok()).unwrap_or(60);
            let limit = Duration::from_secs(limit) / TARGETS.len() as u32;
            let mut wanted = TARGETS.iter().filter(|t| seconds.get(1).is_none_or(|n| n == t.name));
            if !wanted.all(|target| feed(target, limit, u64::MAX)) {
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

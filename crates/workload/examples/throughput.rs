//! Prints how fast this build reads each file named, or, without one, how fast each generator makes
//! requests.
//!
//! `cargo run --release -p floatgate-workload --example throughput -- trace.csv trace.csv.zst`
//!
//! A word such as `time=1:us,op=2,offset=3,size=4` names the columns of the tables after it. Opening (hash, survey, checks) and reading are shown apart; each figure is the best of three.

#![expect(clippy::disallowed_methods, reason = "a program that measures real time")]

use std::path::Path;
use std::time::Instant;

use floatgate_workload::{
    Generator, Pattern, ReadOptions, RequestSource, TraceError, Workload, open_trace,
};
use kernel::Bytes;

/// Reads to the end: the number of requests, and a sum that keeps the work from being left out.
fn drain(source: &mut dyn RequestSource) -> Result<(u64, u64), TraceError> {
    let mut batch = Vec::new();
    let (mut count, mut sum) = (0, 0_u64);
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok((count, sum));
        }
        count += batch.len() as u64;
        sum = batch.iter().fold(sum, |sum, r| sum.wrapping_add(r.offset ^ r.at.as_ns()));
    }
}

/// Seconds that `work` takes, the best of three, and its last answer.
fn best<T>(mut work: impl FnMut() -> Result<T, TraceError>) -> Result<(f64, T), TraceError> {
    let mut least = f64::INFINITY;
    let mut answer = None;
    for _ in 0..3 {
        let start = Instant::now();
        answer = Some(work()?);
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok((least, answer.expect("there were three runs")))
}

fn generators() -> Result<(), TraceError> {
    for pattern in Pattern::ALL {
        let generator = Generator { requests: 20_000_000, ..Generator::new(pattern) };
        let made = generator.with_span(Bytes::gib(16), 1)?;
        let (seconds, (count, _)) = best(|| drain(&mut *made.open()?))?;
        println!("{}: {:.1} M/s", pattern.name(), count as f64 / seconds * 1e-6);
    }
    Ok(())
}

fn main() -> Result<(), TraceError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        return generators();
    }
    let mut options = ReadOptions::default();
    for word in words {
        if let Ok(columns) = word.parse() {
            options.columns = Some(columns);
            continue;
        }
        let (opening, trace) = best(|| open_trace(Path::new(&word), &options))?;
        let (reading, (count, _)) = best(|| drain(&mut *trace.open()?))?;
        println!(
            "{word}: {} {count} requests; open {:.2} M/s, read {:.2} M/s",
            trace.about().format,
            count as f64 / opening * 1e-6,
            count as f64 / reading * 1e-6,
        );
        for note in &trace.about().notes {
            println!("  {note}");
        }
    }
    Ok(())
}

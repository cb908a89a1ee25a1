//! Prints how long this build takes to describe a workload, and the memory that it takes at most.
//!
//! `cargo run --release -p floatgate-workload --example describe -- trace.csv.zst`
//! `cargo run --release -p floatgate-workload --example describe -- random-write 64KiB 16TiB`
//!
//! A generator makes ten million requests of a size over a span. Opening a trace is included, as
//! a user would have it.

#![expect(clippy::disallowed_methods, reason = "a program that measures real time")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use floatgate_workload::describe::{Options, describe};
use floatgate_workload::{Arrivals, Generator, Pattern, ReadOptions, Size, Workload, open_trace};
use kernel::Bytes;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().ok_or("name a trace, or a generator, a size and a span")?;
    let start = Instant::now();
    let workload: Box<dyn Workload> = match Pattern::from_name(name) {
        None => open_trace(Path::new(name), &ReadOptions::default())?,
        Some(pattern) => {
            let [size, span] =
                [(1, "4KiB"), (2, "1TiB")].map(|(i, usual)| words.get(i).map_or(usual, |w| w));
            let generator = Generator {
                requests: 10_000_000,
                size: Some(Size::One(size.parse()?)),
                read_share: Some(0.3),
                arrivals: Some(Arrivals::Poisson { iops: 100.0 }),
                ..Generator::new(pattern)
            };
            let span: Bytes = span.parse()?;
            Box::new(generator.with_span(span, 1)?)
        }
    };
    let opened = start.elapsed().as_secs_f64();
    let description = describe(&mut *workload.open()?, &Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("");
    println!(
        "{name}: {} requests, {} pages touched {} times (sampled: {}) in {seconds:.2} s, of which \
         {opened:.2} s to open; {peak}",
        description.requests.all.requests,
        description.footprint.pages,
        description.footprint.read_touches + description.footprint.write_touches,
        description.sampling.rate,
    );
    Ok(())
}

//! Damaged files.

use kernel::Rng;

use super::*;

/// Bytes flipped, cut, doubled, swapped for telling ones: whatever the file, the answer is
/// requests that keep their promises, or an error with a message; never a panic.
#[test]
fn mutated_files_never_break_a_promise() {
    let telling = b"0123456789 \t,.\n\r-+eExX#\0\xff";
    let (mut errors, mut fine) = (0, 0);
    let samples = SAMPLES.map(|(name, format)| (write(name, &pieces(name, 60)), format));
    for seed in 0..10_000 {
        let mut rng = Rng::named(seed, "mutate");
        let (sample, format) = &samples[rng.below(samples.len() as u32) as usize];
        let mut bytes = if rng.below(8) == 0 { zstd(sample) } else { sample.clone() };
        for _ in 0..=rng.below(6) {
            let n = bytes.len().max(1);
            let at = rng.below(n as u32) as usize;
            let to = (at + 1 + rng.below(40) as usize).min(bytes.len());
            match rng.below(6) {
                0 if at < to => bytes[at] = rng.bits() as u8,
                1 if at < to => bytes[at] = telling[rng.below(telling.len() as u32) as usize],
                2 if at < to => drop(bytes.drain(at..to)),
                3 if at < to => {
                    let piece = bytes[at..to].to_vec();
                    bytes.splice(at..at, piece);
                }
                4 => bytes.truncate(at),
                _ => bytes.insert(at.min(bytes.len()), b'9'),
            }
        }
        // Mostly read as what it was, sometimes as something else.
        let pick = rng.below(4 * Format::ALL.len() as u32) as usize;
        let options = ReadOptions {
            format: Format::ALL.get(pick).copied().filter(|f| *f != Format::Csv),
            time_unit: (rng.below(8) == 0).then_some(TimeUnit::S),
            skip_bad: rng.below(2) == 0,
            ..options_of(if pick < Format::ALL.len() { "" } else { format })
        };
        match trace(&bytes, options) {
            Err(e) => {
                assert!(e.to_string().len() < 1500, "{e}");
                errors += 1;
            }
            Ok(trace) => {
                let all = drain(&mut *trace.open().unwrap()).unwrap();
                assert_eq!(trace.about().requests, Some(all.len() as u64), "seed {seed}");
                let span = trace.about().span.unwrap();
                let sound = |r: &Request| match r.op {
                    Op::Flush => r.end() == 0,
                    _ => r.len > 0 && r.end() <= span,
                };
                assert!(all.iter().all(sound), "seed {seed}");
                assert!(all.windows(2).all(|w| w[0].at <= w[1].at), "seed {seed}");
                assert_eq!(all[0].at, kernel::Time::ZERO, "seed {seed}");
                fine += 1;
            }
        }
    }
    assert!(errors > 1000 && fine > 1000, "the mutations must reach both: {errors}, {fine}");
}

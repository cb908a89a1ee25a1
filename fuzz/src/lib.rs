//! The readers of files, as functions of bytes: each answers with a message or with something sound,
//! and panics otherwise. Two programs feed them: `readers` (libFuzzer: inputs are kept that reach new
//! code) and `seeded` (damage drawn from a seed, on any Rust). `docs/verification.md` has the results.

mod drives;
mod live;
mod states;
mod tables;
mod traces;
mod workloads;

/// A reader under test.
pub struct Target {
    /// Its name, and that of its folder in `corpus`.
    pub name: &'static str,
    /// Reads; whether it took the input for whole.
    pub read: fn(&[u8]) -> bool,
    /// Inputs to begin with: whole ones.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 10] = [
    Target { name: "traces", read: traces::said, seeds: traces::seeds_said },
    Target { name: "sniffing", read: traces::found, seeds: traces::seeds_found },
    Target { name: "tables", read: tables::read, seeds: tables::seeds },
    Target { name: "parts", read: workloads::parts, seeds: workloads::seeds_of_parts },
    Target {
        name: "generators",
        read: workloads::generator,
        seeds: workloads::seeds_of_generators,
    },
    Target { name: "profiles", read: workloads::profile, seeds: workloads::seeds_of_profiles },
    Target { name: "drives", read: drives::read, seeds: drives::seeds },
    Target { name: "states", read: states::read, seeds: states::seeds },
    Target { name: "handshakes", read: live::handshake, seeds: live::seeds_of_handshakes },
    Target { name: "commands", read: live::commands, seeds: live::seeds_of_commands },
];

/// Takes the first byte, which chooses; 0 of nothing.
fn choice(bytes: &[u8]) -> (usize, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest))
}

/// Goes through the beginning of a workload, which must be sound; how many requests there were, and
/// whether that was all.
fn go_through(workload: &dyn workload::Workload, batches: usize) -> (u64, bool) {
    let (mut batch, mut count, mut last) = (Vec::new(), 0, kernel::Time::ZERO);
    let Ok(mut source) = workload.open() else { return (0, false) };
    for _ in 0..batches {
        match source.fill(&mut batch) {
            Ok(()) if batch.is_empty() => return (count, true),
            Ok(()) => {}
            Err(e) => {
                assert!(!e.to_string().is_empty(), "an error without words");
                return (count, false);
            }
        }
        for r in &batch {
            assert!(r.at >= last, "{r:?} after {last:?}");
            assert!(if r.has_extent() { r.len > 0 } else { r.end() == 0 }, "{r:?}");
            assert!(
                workload.about().span.is_none_or(|span| r.end() <= span),
                "{r:?} ends beyond {:?}",
                workload.about().span
            );
            last = r.at;
        }
        count += batch.len() as u64;
    }
    (count, false)
}

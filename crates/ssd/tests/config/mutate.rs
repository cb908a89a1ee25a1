//! Drive files that went wrong by accident: never a panic, always a place.

use super::*;
use kernel::Rng;

/// Pieces that accidents put into files.
const BITS: [&str; 24] = [
    "=",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\n",
    ",",
    ".",
    "#",
    "-",
    "0",
    "9",
    "99999999999",
    "us",
    "KiB",
    "1e400",
    "nan",
    "true",
    "é",
    "\t",
    "[[x]]",
    "base = \"agcr\"\n",
    "'''",
];

const NUMBERS: [&str; 8] =
    ["0", "1", "-1", "4294967295", "4294967296", "9223372036854775807", "0.5", "3"];

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.below(from.len() as u32) as usize]
}

/// One accident: a piece lost, cut off, moved, or something strange put in.
fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut at = rng.below(text.len() as u32 + 1) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = text.split_at(at);
    let mut lines: Vec<&str> = text.lines().collect();
    let mut line = || rng.below(lines.len().max(1) as u32) as usize;
    let (one, other) = (line(), line());
    match rng.below(6) {
        0 => format!("{before}{}{after}", pick(rng, &BITS)),
        1 => before.chars().chain(after.chars().skip(3)).collect(),
        2 => before.to_owned(),
        3 if !lines.is_empty() => {
            lines.swap(one, other);
            lines.join("\n")
        }
        4 if !lines.is_empty() => {
            lines.remove(one);
            lines.join("\n")
        }
        _ => {
            // Another number where a number was.
            let digit = |c: char| c.is_ascii_digit();
            let start = after.find(digit).unwrap_or(0);
            let rest = after[start..].trim_start_matches(digit);
            format!("{before}{}{}{rest}", &after[..start], pick(rng, &NUMBERS))
        }
    }
}

#[test]
fn mutated_files_are_taken_or_refused_with_a_place_and_never_panic() {
    let mut rng = Rng::named(7, "config/mutate");
    let (mut good, mut bad) = (0, 0);
    let all: Vec<&str> =
        presets().iter().chain(chips()).map(|(_, text)| *text).chain([GOOD]).collect();
    for round in 0..if cfg!(feature = "verify") { 4_000 } else { 2_000 } {
        let mut text = pick(&mut rng, &all).to_owned();
        for _ in 0..=rng.below(3) {
            text = mutate(&text, &mut rng);
        }
        // As the file itself, or as the base of another one.
        let library = [("mutant", text.as_str())];
        let case = match round % 3 {
            0 | 1 => file(text.as_str()),
            _ if text.contains("floatgate.chip") => Case {
                file: "base = \"agcr\"\nchip = \"mutant\"".into(),
                library: &library,
                ..Case::default()
            },
            _ => Case { file: "base = \"mutant\"".into(), library: &library, ..Case::default() },
        };
        match case.load() {
            Ok(drive) => {
                good += 1;
                resolved::comes_back(&drive);
            }
            Err(errors) => {
                bad += 1;
                assert!(!errors.is_empty(), "refused without a word:\n{text}");
                for error in &errors {
                    assert!(!error.marks.is_empty(), "no place: {error}\n{text}");
                    assert!(!error.marks[0].place.name().contains("defaults"), "{error}\n{text}");
                }
                assert!(!render(&errors, round % 2 == 0).is_empty());
            }
        }
    }
    assert!(good > 300 && bad > 1_500, "the accidents are one-sided: {good} good, {bad} bad");
}

#[test]
fn mutated_arguments_never_panic() {
    let mut rng = Rng::named(8, "config/mutate");
    let sets = [
        "ftl.spare-factor=0.2",
        "timing.bus={ rate = \"333MT/s\", command = \"1us\" }",
        "host.mode=shifted",
    ];
    let policies = ["cost=fixed:level=low", "victim=d-choices:d=3", "victim=from:outside:x=1"];
    let (mut good, mut bad) = (0, 0);
    for _ in 0..2_000 {
        let set = {
            let set = pick(&mut rng, &sets);
            mutate(set, &mut rng)
        };
        let policy = {
            let policy = pick(&mut rng, &policies);
            mutate(policy, &mut rng)
        };
        let case = Case { file: GOOD.into(), set: &[&set], policy: &[&policy], ..Case::default() };
        match case.load() {
            Ok(_) => good += 1,
            Err(errors) => {
                bad += 1;
                assert!(!render(&errors, false).is_empty(), "{set} {policy}");
            }
        }
    }
    assert!(good > 30 && bad > 800, "the accidents are one-sided: {good} good, {bad} bad");
}

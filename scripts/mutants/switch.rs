//! Mutants of this build, all switched off: `FLOATGATE_MUTANT=K` switches one on. With
//! `FLOATGATE_REACHED=FILE` the number of each that is reached is appended to the file once.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const COUNT: usize = 0; // how many there are

const UNREAD: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; COUNT + 1] = [const { AtomicBool::new(false) }; COUNT + 1];

/// Whether mutant `k` is on.
#[inline]
pub fn on(k: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    if active < RECORD { active == k } else { first(k, active) }
}

#[cold]
#[inline(never)]
fn first(k: u32, active: u32) -> bool {
    let reached = std::env::var("FLOATGATE_REACHED").ok();
    if active == UNREAD {
        let chosen = std::env::var("FLOATGATE_MUTANT").ok();
        let chosen = chosen.map_or(0, |k| k.parse().expect("FLOATGATE_MUTANT is a number"));
        ACTIVE.store(if reached.is_some() { RECORD } else { chosen }, Relaxed);
        return on(k);
    }
    if !REACHED[k as usize].swap(true, Relaxed) {
        let path = reached.expect("FLOATGATE_REACHED names a file");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let line = format!("{k}\n");
        file.and_then(|mut f| f.write_all(line.as_bytes())).expect("the file takes a line");
    }
    false
}

//! The latest requests of a stream, for those that go where earlier ones went.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Requests further back are forgotten: 32 MiB a stream at most.
pub(super) const CAPACITY: u64 = 1 << 22;
/// Set where a later request began at the same address.
const OUTDATED: u32 = 1 << 31;
/// The number of neighbours that are tried for one that is not outdated.
const TRIES: u64 = 16;

/// The last requests, by their number: first sector, sectors, and whether it is the latest of its
/// address.
#[derive(Default, Debug)]
pub(super) struct Ring {
    starts: Vec<u32>,
    lens: Vec<u32>,
    pushed: u64,
}

impl Ring {
    pub(super) fn len(&self) -> u64 {
        self.pushed
    }

    fn oldest(&self) -> u64 {
        self.pushed.saturating_sub(CAPACITY)
    }

    #[inline]
    pub(super) fn push(&mut self, start: u64, len: u64) -> u64 {
        let (start, len) = (start as u32, len as u32);
        if self.pushed < CAPACITY {
            self.starts.push(start);
            self.lens.push(len);
        } else {
            let at = (self.pushed % CAPACITY) as usize;
            (self.starts[at], self.lens[at]) = (start, len);
        }
        self.pushed += 1;
        self.pushed - 1
    }

    /// First sector and sectors of a request, if it is remembered.
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<(u64, u64)> {
        if number < self.oldest() || number >= self.pushed {
            return None;
        }
        let at = (number % CAPACITY) as usize;
        Some((u64::from(self.starts[at]), u64::from(self.lens[at] & !OUTDATED)))
    }

    #[inline]
    pub(super) fn outdate(&mut self, number: u64) {
        if number >= self.oldest() && number < self.pushed {
            self.lens[(number % CAPACITY) as usize] |= OUTDATED;
        }
    }

    /// The request nearest to `number` that has `len` sectors and to whose address none has gone
    /// since; if none is near, one of another size; else `number` itself.
    #[inline]
    pub(super) fn latest_near(&self, number: u64, len: u64) -> u64 {
        let (oldest, end) = (self.oldest(), self.pushed);
        let mut other = None;
        for away in 0..TRIES {
            let older = number.checked_sub(away).filter(|&n| n >= oldest);
            let newer = Some(number + away).filter(|&n| n < end);
            for near in [older, newer].into_iter().flatten() {
                let found = self.lens[(near % CAPACITY) as usize];
                if u64::from(found) == len {
                    return near;
                }
                if found & OUTDATED == 0 {
                    other.get_or_insert(near);
                }
            }
        }
        other.unwrap_or_else(|| number.clamp(oldest, end - 1))
    }
}

/// The class of an age: 1, 2 to 3, 4 to 7, …
pub(super) fn class_of(age: u64) -> usize {
    age.max(1).ilog2() as usize
}

/// The place of a class's latest request that began at a sector: its stream and number.
#[derive(Default, Debug)]
pub(super) struct Starts(HashMap<u32, u64, BuildHasherDefault<Spread>>);

impl Starts {
    /// Notes a request. Returns the one that it replaces.
    #[inline]
    pub(super) fn note(&mut self, at: u64, stream: usize, number: u64) -> Option<(usize, u64)> {
        let before = self.0.insert(at as u32, 2 * number + stream as u64)?;
        Some(((before & 1) as usize, before >> 1))
    }
}

/// Multiplies by an odd number, because sectors are not random at all.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, n: u32) {
        let mixed = (self.0 ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

//! Reuse distance: how many other pages are touched between two touches of a page.
//!
//! The distribution is the hit ratio of caches that keep the pages touched last (LRU): a cache of
//! `n` pages has those whose distance is below `n`.

use serde::Serialize;

use super::share;

/// Reuse distances of all touches, reads and writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reuse {
    /// Touches of pages that were touched before.
    pub again: u64,
    /// First touches of pages, which have no distance.
    pub first: u64,
    /// Half of the distances are below this many pages: the smallest bound of the distribution
    /// for which that holds.
    pub median_below_pages: Option<u64>,
    /// Bounds of distances in pages, ascending: 1, 2, … 8, then four to each power of two.
    pub below_pages: Vec<u64>,
    /// The share of all touches, first ones included, whose distance is below the bound: the hit
    /// ratio of an LRU cache of that many pages.
    pub share: Vec<f64>,
}

/// Bounds to each power of two, as a shift.
const FINE: u32 = 2;

/// Distances so far.
#[derive(Default)]
pub(super) struct Distances {
    /// By bucket, weighted.
    counts: Vec<u64>,
    first: u64,
}

/// Distances below 8 have a bucket each, larger ones share four to a power of two.
fn bucket(distance: u64) -> usize {
    if distance < 1 << FINE {
        return distance as usize;
    }
    let power = distance.ilog2();
    let within = (distance >> (power - FINE)) - (1 << FINE);
    ((u64::from(power - FINE + 1) << FINE) + within) as usize
}

/// The least distance beyond a bucket.
fn bound(bucket: usize) -> u64 {
    let next = bucket as u64 + 1;
    let octave = next >> FINE;
    if octave == 0 { next } else { ((1 << FINE) + next % (1 << FINE)) << (octave - 1) }
}

impl Distances {
    #[inline]
    pub(super) fn note(&mut self, distance: u64, touches: u64) {
        let bucket = bucket(distance);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += touches;
    }

    #[inline]
    pub(super) fn note_first(&mut self, touches: u64) {
        self.first += touches;
    }

    pub(super) fn finish(self) -> Reuse {
        let again: u64 = self.counts.iter().sum();
        let mut below = 0;
        let mut median_below_pages = None;
        let (mut below_pages, mut shares) = (Vec::new(), Vec::new());
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            if 2 * below >= again {
                median_below_pages.get_or_insert(bound(bucket));
            }
            below_pages.push(bound(bucket));
            shares.extend(share(below, again + self.first));
        }
        Reuse { again, first: self.first, median_below_pages, below_pages, share: shares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_lies_in_its_bucket() {
        let bounds: Vec<u64> = (0..14).map(bound).collect();
        assert_eq!(bounds, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]);
        for distance in (0..5000).chain([(1 << 40) - 1, 1 << 40, u64::MAX >> 2]) {
            let bucket = bucket(distance);
            assert!(distance < bound(bucket), "{distance}");
            assert!(bucket == 0 || distance >= bound(bucket - 1), "{distance}");
        }
    }
}

//! The pages that were touched after a given touch: a bit for every touch, set as long as it is the
//! latest of its page. Sums over blocks of bits are kept at three levels.

/// Bits of a block, and blocks of the next level's block, as shifts of the slot.
const LEVELS: [u32; 3] = [9, 15, 21];

/// The latest touch of every page, in order of time.
pub(super) struct Recency {
    bits: Vec<u64>,
    sums: [Vec<u32>; LEVELS.len()],
    next: u32,
    live: u32,
}

impl Recency {
    /// Space for `slots` touches before slots must be numbered anew; a multiple of 2^21 is best.
    pub(super) fn new(slots: u32) -> Self {
        let sums = LEVELS.map(|shift| vec![0; (slots >> shift) as usize + 1]);
        Self { bits: vec![0; slots as usize / 64 + 1], sums, next: 0, live: 0 }
    }

    /// Whether `n` more touches fit.
    #[inline]
    pub(super) fn has_room(&self, n: u32) -> bool {
        (self.next + n) as usize <= 64 * (self.bits.len() - 1)
    }

    /// Takes the next `n` slots, at most 16, and returns the first of them.
    #[inline]
    pub(super) fn push(&mut self, n: u32) -> u32 {
        let first = self.next;
        self.next += n;
        self.live += n;
        self.mark(first, n, |word, mask| *word |= mask, u32::wrapping_add);
        first
    }

    /// Gives up `n` slots, at most 16, all of them live.
    #[inline]
    pub(super) fn remove(&mut self, first: u32, n: u32) {
        self.live -= n;
        self.mark(first, n, |word, mask| *word &= !mask, u32::wrapping_sub);
    }

    /// Changes neighbouring bits, word by word, with the sums over them.
    #[inline(always)]
    fn mark(&mut self, first: u32, n: u32, set: fn(&mut u64, u64), sum: fn(u32, u32) -> u32) {
        let end = first + n;
        let mut at = first;
        while at < end {
            let stop = end.min((at | 63) + 1);
            let mask = (u64::MAX >> (64 - (stop - at))) << (at % 64);
            set(&mut self.bits[at as usize / 64], mask);
            for (sums, shift) in self.sums.iter_mut().zip(LEVELS) {
                let block = &mut sums[(at >> shift) as usize];
                *block = sum(*block, stop - at);
            }
            at = stop;
        }
    }

    /// The number of live slots after `slot`.
    #[inline]
    pub(super) fn after(&self, slot: u32) -> u32 {
        let at = slot as usize;
        let word = at / 64;
        let first_block = 1 << (LEVELS[0] - 6);
        let in_word = (self.bits[word] >> (at % 64) >> 1).count_ones();
        let rest = word + 1..((word | (first_block - 1)) + 1).min(self.bits.len());
        let mut count = in_word + self.bits[rest].iter().map(|w| w.count_ones()).sum::<u32>();
        for (level, sums) in self.sums.iter().enumerate() {
            let block = at >> LEVELS[level];
            let end = match LEVELS.get(level + 1) {
                Some(above) => ((block | ((1 << (above - LEVELS[level])) - 1)) + 1).min(sums.len()),
                None => sums.len(),
            };
            count += sums[block + 1..end].iter().sum::<u32>();
        }
        count
    }

    /// The number of live slots before `slot`, which is live itself: its number once
    /// [`Recency::pack`] has numbered them anew.
    pub(super) fn rank(&self, slot: u32) -> u32 {
        self.live - 1 - self.after(slot)
    }

    /// Numbers the live slots from zero, in their order.
    pub(super) fn pack(&mut self) {
        let live = self.live;
        self.bits.fill(0);
        for sums in &mut self.sums {
            sums.fill(0);
        }
        (self.next, self.live) = (0, 0);
        while self.next < live {
            self.push((live - self.next).min(16));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    /// Against a plain list, across all levels and a packing now and then.
    #[test]
    fn counts_what_comes_after_like_a_plain_list() {
        for (slots, steps) in [(1 << 10, 3000), (1 << 22, 20_000)] {
            let mut rng = Rng::named(u64::from(slots), "test/recency");
            let mut recency = Recency::new(slots);
            let mut plain: Vec<u32> = Vec::new();
            let mut packs = 0;
            for _ in 0..steps {
                let n = 1 + rng.below(16);
                // Far jumps, so that few steps reach the upper levels.
                let gap = if slots > 1 << 20 { rng.below(40) } else { 0 };
                for _ in 0..gap {
                    if recency.has_room(16) {
                        let first = recency.push(16);
                        recency.remove(first, 16);
                    }
                }
                if !recency.has_room(n) {
                    let ranks: Vec<u32> = plain.iter().map(|&slot| recency.rank(slot)).collect();
                    recency.pack();
                    assert_eq!(ranks, (0..plain.len() as u32).collect::<Vec<_>>());
                    plain = ranks;
                    packs += 1;
                }
                let first = recency.push(n);
                plain.extend(first..first + n);
                while plain.len() > 500 {
                    let gone = plain.remove(rng.below(plain.len() as u32) as usize);
                    recency.remove(gone, 1);
                }
                let i = rng.below(plain.len() as u32) as usize;
                assert_eq!(recency.after(plain[i]) as usize, plain.len() - 1 - i);
            }
            assert!(packs >= 1, "{slots} slots were never numbered anew");
        }
    }
}

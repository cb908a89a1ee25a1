//! A plain set of bits.

use std::ops::Range;

/// A fixed number of bits, all clear at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitSet {
    words: Vec<u64>,
    len: usize,
}

impl BitSet {
    /// `len` clear bits.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// The number of bits, set or clear.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether bit `i` is set.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        debug_assert!(i < self.len);
        self.words[i / 64] >> (i % 64) & 1 != 0
    }

    /// Sets bit `i`.
    #[inline]
    pub fn set(&mut self, i: usize) {
        debug_assert!(i < self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Clears bit `i`.
    #[inline]
    pub fn clear(&mut self, i: usize) {
        debug_assert!(i < self.len);
        self.words[i / 64] &= !(1 << (i % 64));
    }

    /// Sets bit `i` to `on`.
    #[inline]
    pub fn put(&mut self, i: usize, on: bool) {
        if on { self.set(i) } else { self.clear(i) }
    }

    /// Sets the bits of a range.
    #[inline]
    pub fn set_all(&mut self, range: Range<usize>) {
        debug_assert!(range.end <= self.len);
        for (word, bits) in words(range) {
            self.words[word] |= bits;
        }
    }

    /// Sets those bits of a range that another set of as many does not have.
    #[inline]
    pub fn set_missing(&mut self, range: Range<usize>, other: &Self) {
        debug_assert!(range.end <= self.len && other.len == self.len);
        for (word, bits) in words(range) {
            self.words[word] |= bits & !other.words[word];
        }
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The first set bit at or after `from`, going round once; `None` when no bit is set.
    #[inline]
    pub fn next_cyclic(&self, from: usize) -> Option<usize> {
        self.next_from(from).or_else(|| self.next_from(0))
    }

    /// The first set bit at or after `from`.
    #[inline]
    pub fn next_from(&self, from: usize) -> Option<usize> {
        if from >= self.len {
            return None;
        }
        let mut at = from / 64;
        let mut word = self.words[at] & (u64::MAX << (from % 64));
        loop {
            if word != 0 {
                return Some(at * 64 + word.trailing_zeros() as usize);
            }
            at += 1;
            word = *self.words.get(at)?;
        }
    }

    /// The set bits in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let found = self.next_from(at)?;
            at = found + 1;
            Some(found)
        })
    }
}

/// The words that have bits of a range, and which bits.
#[inline]
fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    let words = if start >= end { 0..0 } else { start / 64..end.div_ceil(64) };
    words.map(move |word| {
        let (from, to) = (start.max(word * 64), end.min(word * 64 + 64));
        (word, u64::MAX >> (64 - (to - from)) << (from % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_bit_across_words_and_round_the_end() {
        let mut bits = BitSet::new(130);
        for i in [3, 64, 129] {
            bits.set(i);
        }
        assert_eq!(bits.iter().collect::<Vec<_>>(), [3, 64, 129]);
        assert_eq!(bits.next_cyclic(65), Some(129));
        assert_eq!(bits.next_cyclic(130), Some(3));
        bits.clear(3);
        assert_eq!(bits.next_cyclic(130), Some(64));
        assert_eq!(bits.count(), 2);
        assert_eq!(BitSet::new(5).next_cyclic(2), None);
    }

    #[test]
    fn ranges_are_set_as_bit_by_bit() {
        let len = 200;
        let mut other = BitSet::new(len);
        (0..len).step_by(3).for_each(|i| other.set(i));
        for start in [0, 1, 63, 64, 65, 127, 130] {
            for end in [0, 1, 63, 64, 65, 128, 191, 192, 193, 200] {
                let (mut all, mut missing) = (BitSet::new(len), BitSet::new(len));
                all.set_all(start..end);
                missing.set_missing(start..end, &other);
                for i in 0..len {
                    let inside = start <= i && i < end;
                    assert_eq!(all.get(i), inside, "{i} of {start}..{end}");
                    assert_eq!(missing.get(i), inside && !other.get(i), "{i} of {start}..{end}");
                }
            }
        }
    }
}

//! Counting failures: random pages, encoded, read over a channel, decoded.

use kernel::Rng;
use nand::physics::Codeword;

use crate::{Channel, Code, Decoder, Outcome, Reader, Reference, Settings};

/// How a controller turns ranges into numbers for the decoder.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Quantised {
    /// One step, as a natural logarithm of a ratio of probabilities.
    pub unit: f64,
    /// The largest number.
    pub largest: i8,
}

impl Quantised {
    /// Steps of ¼ up to 31: six bits with sign.
    pub const DEFAULT: Self = Self { unit: 0.25, largest: 31 };
}

/// The outcome of a number of frames.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Codewords read.
    pub frames: u64,
    /// Of them, those whose data did not come back.
    pub failed: u64,
    /// Of these, those of which the decoder said that they were right.
    pub undetected: u64,
    /// Bits on the wrong side before decoding.
    pub raw_errors: u64,
    /// Rounds of the decoder, over all frames.
    pub rounds: u64,
}

impl Counts {
    /// The sum of two parts.
    pub fn and(self, other: Self) -> Self {
        Self {
            frames: self.frames + other.frames,
            failed: self.failed + other.failed,
            undetected: self.undetected + other.undetected,
            raw_errors: self.raw_errors + other.raw_errors,
            rounds: self.rounds + other.rounds,
        }
    }
}

/// The exact interval of 95 % for a share of which `hits` of `trials` were seen (Clopper and
/// Pearson, 1934). At its ends this few, or this many, hits have a probability of 2.5 %.
pub fn interval(hits: u64, trials: u64) -> (f64, f64) {
    let law = Codeword::new(trials as u32, 1.0);
    let (k, n) = (hits as u32, trials as u32);
    // More hits than `least` are the likelier the larger the share; the tail is computed for up
    // to a half, beyond which hits and misses change places.
    let solve = |least: u32, target: f64| {
        let more = |share: f64| {
            if share <= 0.5 {
                law.failure(least, share)
            } else if least >= n {
                0.0
            } else {
                1.0 - law.failure(n - least - 1, 1.0 - share)
            }
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if more(middle) < target { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    };
    let low = if k == 0 { 0.0 } else { solve(k - 1, 0.025) };
    let high = if k == n { 1.0 } else { solve(k, 0.975) };
    (low, high)
}

/// Frames of one code over one channel. Frame `i` of a seed and a name is the same on every thread,
/// so work can be split anywhere.
pub struct Trial<'a> {
    code: &'a Code,
    decoder: Decoder<'a>,
    reader: Reader,
    table: Vec<i8>,
    ratios: Vec<f64>,
    wrong: [Vec<u8>; 2],
    word: Vec<u8>,
    ranges: Vec<u8>,
    read: Vec<i8>,
}

impl<'a> Trial<'a> {
    /// The decoder is told of `known`, which need not be the channel itself, as a controller does
    /// not know the state of its cells.
    pub fn new(
        code: &'a Code,
        settings: Settings,
        channel: &Channel,
        known: &Channel,
        quantised: Quantised,
    ) -> Self {
        assert_eq!(channel.ranges(), known.ranges(), "what is known has other ranges");
        let wrong = [0, 1].map(|bit| {
            let towards_one = channel.ratios().into_iter().map(|r| u8::from(r < 0.0));
            towards_one.map(|likelier| u8::from(likelier != bit)).collect()
        });
        Self {
            code,
            decoder: Decoder::new(code, settings),
            reader: Reader::new(channel),
            table: known.table(quantised.unit, quantised.largest),
            ratios: known.ratios(),
            wrong,
            word: vec![0; code.bits()],
            ranges: vec![0; code.bits()],
            read: vec![0; code.bits()],
        }
    }

    /// The frames of these numbers.
    pub fn run(&mut self, seed: u64, name: &str, frames: std::ops::Range<u64>) -> Counts {
        let mut counts = Counts::default();
        for frame in frames {
            self.draw(&mut Rng::named(seed, &format!("ldpc/{name}/{frame}")));
            let outcome = self.decoder.decode(&self.read);
            let right = self.decoder.data_are(&self.word[..self.code.data_bits()]);
            counts = counts.and(self.count(right, outcome));
        }
        counts
    }

    /// The same frames, decoded by a plain decoder that is given the exact ratios.
    pub fn run_plain(
        &mut self,
        plain: &mut Reference,
        seed: u64,
        name: &str,
        frames: std::ops::Range<u64>,
    ) -> Counts {
        let mut counts = Counts::default();
        for frame in frames {
            self.draw(&mut Rng::named(seed, &format!("ldpc/{name}/{frame}")));
            let read: Vec<f64> = self.ranges.iter().map(|r| self.ratios[*r as usize]).collect();
            let outcome = plain.decode(&read);
            let right = (0..self.code.data_bits()).all(|i| plain.bit(i) == self.word[i]);
            counts = counts.and(self.count(right, outcome));
        }
        counts
    }

    fn count(&self, right: bool, outcome: Outcome) -> Counts {
        Counts {
            frames: 1,
            failed: u64::from(!right),
            undetected: u64::from(!right && outcome.holds),
            raw_errors: self.raw_errors(),
            rounds: u64::from(outcome.rounds),
        }
    }

    /// A random page, encoded and read.
    pub fn draw(&mut self, rng: &mut Rng) {
        for bits in self.word[..self.code.data_bits()].chunks_mut(64) {
            let mut random = rng.bits();
            for bit in bits {
                *bit = (random & 1) as u8;
                random >>= 1;
            }
        }
        self.code.encode(&mut self.word);
        self.reader.read(&self.word, rng, &mut self.ranges);
        for (read, range) in self.read.iter_mut().zip(&self.ranges) {
            *read = self.table[*range as usize];
        }
    }

    /// The word that was drawn, and the range that each of its bits was read as.
    pub fn drawn(&self) -> (&[u8], &[u8]) {
        (&self.word, &self.ranges)
    }

    /// The input of the decoder.
    pub fn read(&self) -> &[i8] {
        &self.read
    }

    fn raw_errors(&self) -> u64 {
        let wrong =
            |(bit, range): (&u8, &u8)| u64::from(self.wrong[*bit as usize][*range as usize]);
        self.word.iter().zip(&self.ranges).map(wrong).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, Spacing};

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Exact limits as printed for binomial shares.
        for (hits, trials, low, high) in [
            (0, 10, 0.0, 0.3085),
            (1, 10, 0.0025, 0.4450),
            (5, 10, 0.1871, 0.8129),
            (10, 10, 0.6915, 1.0),
            (10, 100, 0.0490, 0.1762),
        ] {
            let found = interval(hits, trials);
            assert!((found.0 - low).abs() < 1e-4 && (found.1 - high).abs() < 1e-4, "{found:?}");
        }
    }

    #[test]
    fn frames_do_not_depend_on_who_counts_them() {
        let code = Code::build(Shape { z: 32, data: 24, parity: 8, weight: 3 }, 1);
        let channel = Channel::boundary(0.03, 3, Spacing::Even);
        let new = || Trial::new(&code, Settings::DEFAULT, &channel, &channel, Quantised::DEFAULT);
        let whole = new().run(1, "x", 0..60);
        let mut second = new();
        let parts = second.run(1, "x", 40..60).and(new().run(1, "x", 0..40));
        assert_eq!(whole, parts);
        assert!(whole.failed > 0 && whole.failed < 60, "{whole:?}");
        assert_ne!(new().run(2, "x", 0..60), whole);
        // The errors are as many as the channel makes.
        let expected = channel.error_rate() * 60.0 * code.bits() as f64;
        assert!((whole.raw_errors as f64 - expected).abs() < 5.0 * expected.sqrt(), "{whole:?}");
    }
}

//! The decoder: layered normalised min-sum on bytes, one lane for each row of a circulant.
//!
//! Layered: a row of circulants at once takes in the results of the rows before it (Hocevar 2004).
//! Normalised: the least magnitude stands in for the sum-product rule and is scaled down, because
//! it overrates (Chen and Fossorier, 2002).

use crate::Code;

/// How a decoder computes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Rounds over all checks before it gives up.
    pub rounds: u32,
    /// The factor of the least magnitude, in sixteenths.
    pub sixteenths: u8,
    /// The largest magnitude that a check sends.
    pub largest: u8,
}

impl Settings {
    /// 20 rounds, and ¾.
    pub const DEFAULT: Self = Self { rounds: 20, sixteenths: 12, largest: 31 };
}

/// How a decoding ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Whether the word keeps every check now.
    pub holds: bool,
    /// Rounds that it took; 0 if the word was right as it was read.
    pub rounds: u32,
}

/// Lanes that are worked on together, a few registers wide.
const LANES: usize = 64;

/// A decoder of one code, with room for its messages.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    code: &'a Code,
    settings: Settings,
    /// The last message of every check to each of its bits: row after row, circulant after
    /// circulant.
    said: Vec<i8>,
    /// The belief of every bit, positive for 0.
    belief: Vec<i8>,
    /// Of one row of circulants: the messages of its bits, without its own share.
    heard: Vec<i8>,
    /// Odd parity, in the sign.
    parity: Vec<i8>,
}

impl<'a> Decoder<'a> {
    /// A decoder with these settings.
    pub fn new(code: &'a Code, settings: Settings) -> Self {
        let z = code.z();
        let widest = code.rows().iter().map(Vec::len).max().unwrap_or(0);
        let circulants: usize = code.rows().iter().map(Vec::len).sum();
        Self {
            code,
            settings,
            said: vec![0; circulants * z],
            belief: vec![0; code.bits()],
            heard: vec![0; widest * z],
            parity: vec![0; z],
        }
    }

    /// Decodes a word of log-likelihood ratios, positive for 0, in any unit; the result is in
    /// [`bit`](Self::bit).
    pub fn decode(&mut self, read: &[i8]) -> Outcome {
        self.belief.copy_from_slice(read);
        self.said.fill(0);
        for rounds in 0..=self.settings.rounds {
            if rounds > 0 {
                self.round();
            }
            if self.holds() {
                return Outcome { holds: true, rounds };
            }
        }
        Outcome { holds: false, rounds: self.settings.rounds }
    }

    /// A bit of the word.
    pub fn bit(&self, i: usize) -> u8 {
        u8::from(self.belief[i] < 0)
    }

    /// Whether the data are these.
    pub fn data_are(&self, data: &[u8]) -> bool {
        self.belief.iter().zip(data).all(|(belief, bit)| u8::from(*belief < 0) == *bit)
    }

    fn round(&mut self) {
        let (code, z) = (self.code, self.code.z());
        let mut from = 0;
        for row in code.rows() {
            let said = &mut self.said[from..from + row.len() * z];
            let heard = &mut self.heard[..row.len() * z];
            from += said.len();
            for ((one, heard), said) in row.iter().zip(heard.chunks_mut(z)).zip(said.chunks(z)) {
                let belief = &self.belief[one.column as usize * z..][..z];
                let (head, tail) = belief.split_at(one.shift as usize);
                let (said_left, said_right) = said.split_at(tail.len());
                let (left, right) = heard.split_at_mut(tail.len());
                less(left, tail, said_left);
                less(right, head, said_right);
            }
            let whole = z - z % LANES;
            for lane in (0..whole).step_by(LANES) {
                check::<LANES>(heard, said, z, lane, &self.settings);
            }
            for lane in whole..z {
                check::<1>(heard, said, z, lane, &self.settings);
            }
            for (one, heard) in row.iter().zip(heard.chunks(z)) {
                let belief = &mut self.belief[one.column as usize * z..][..z];
                let (left, right) = heard.split_at(z - one.shift as usize);
                let (head, tail) = belief.split_at_mut(one.shift as usize);
                tail.copy_from_slice(left);
                head.copy_from_slice(right);
            }
        }
    }

    /// Whether the word as it is believed keeps every check. Looks no further than the first row
    /// that it does not keep.
    fn holds(&mut self) -> bool {
        let z = self.code.z();
        self.code.rows().iter().all(|row| {
            self.parity.fill(0);
            for one in row {
                let belief = &self.belief[one.column as usize * z..][..z];
                let (head, tail) = belief.split_at(one.shift as usize);
                let (left, right) = self.parity.split_at_mut(tail.len());
                left.iter_mut().zip(tail).for_each(|(p, b)| *p ^= b);
                right.iter_mut().zip(head).for_each(|(p, b)| *p ^= b);
            }
            self.parity.iter().fold(0, |any, p| any | p) >= 0
        })
    }
}

/// The messages of bits: their belief without the last message of the check itself.
fn less(heard: &mut [i8], belief: &[i8], said: &[i8]) {
    for ((heard, belief), said) in heard.iter_mut().zip(belief).zip(said) {
        *heard = belief.saturating_sub(*said);
    }
}

/// `N` checks that lie side by side: from the messages of their bits to the answers. Afterwards
/// `heard` has the new beliefs.
#[inline(always)]
fn check<const N: usize>(heard: &mut [i8], said: &mut [i8], z: usize, lane: usize, how: &Settings) {
    let mut sign = [0_i8; N];
    let (mut least, mut second) = ([u8::MAX; N], [u8::MAX; N]);
    for heard in heard.chunks_exact(z) {
        let heard: &[i8; N] = heard[lane..lane + N].try_into().expect("N lanes");
        for i in 0..N {
            let size = heard[i].unsigned_abs();
            sign[i] ^= heard[i];
            second[i] = second[i].min(least[i].max(size));
            least[i] = least[i].min(size);
        }
    }
    let (mut to_all, mut to_least) = ([0_i8; N], [0_i8; N]);
    let factor = u16::from(how.sixteenths);
    for (answer, size) in [(&mut to_all, &least), (&mut to_least, &second)] {
        for i in 0..N {
            let scaled = u16::from(size[i]).wrapping_mul(factor).wrapping_add(8) >> 4;
            answer[i] = scaled.min(u16::from(how.largest)) as i8;
        }
    }
    for (heard, said) in heard.chunks_exact_mut(z).zip(said.chunks_exact_mut(z)) {
        let heard: &mut [i8; N] = (&mut heard[lane..lane + N]).try_into().expect("N lanes");
        let said: &mut [i8; N] = (&mut said[lane..lane + N]).try_into().expect("N lanes");
        for i in 0..N {
            // If two bits are least, the second least is as small. A mask, for a choice would
            // become two places to load from.
            let is_least = i8::from(heard[i].unsigned_abs() == least[i]).wrapping_neg();
            let size = (to_least[i] & is_least) | (to_all[i] & !is_least);
            let flip = (sign[i] ^ heard[i]) >> 7;
            let answer = (size ^ flip).wrapping_sub(flip);
            said[i] = answer;
            heard[i] = heard[i].saturating_add(answer);
        }
    }
}

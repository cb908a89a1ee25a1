//! Parquet's `DELTA_BINARY_PACKED`: whole numbers by their differences, packed in as few bits as
//! the block of differences needs. Times that ascend, addresses and latencies take a third to a
//! half of their eight bytes, and constant values nothing.

use crate::thrift::{varint, zigzag};

/// Steps in a block, and in each of the parts that have a width of their own.
const BLOCK: usize = 128;
const PART: usize = 32;

/// A whole number of 32 or 64 bits, and its arithmetic modulo its size.
pub(crate) trait Whole: Copy + Eq {
    fn signed(self) -> i64;
    /// From `before` to this, in the range of signed numbers of this size.
    fn step(self, before: Self) -> i64;
    /// How far a step is above another, as a number of this size.
    fn above(step: i64, least: i64) -> u64;
}

impl Whole for u32 {
    fn signed(self) -> i64 {
        self.cast_signed().into()
    }

    fn step(self, before: Self) -> i64 {
        self.wrapping_sub(before).cast_signed().into()
    }

    fn above(step: i64, least: i64) -> u64 {
        // Both are of 32 bits, so their difference is below 2^32.
        step.wrapping_sub(least).cast_unsigned()
    }
}

impl Whole for u64 {
    fn signed(self) -> i64 {
        self.cast_signed()
    }

    fn step(self, before: Self) -> i64 {
        self.wrapping_sub(before).cast_signed()
    }

    fn above(step: i64, least: i64) -> u64 {
        step.wrapping_sub(least).cast_unsigned()
    }
}

/// Appends numbers.
pub(crate) fn pack<T: Whole>(out: &mut Vec<u8>, values: &[T]) {
    let Some((&first, rest)) = values.split_first() else {
        return header(out, BLOCK, BLOCK / PART, 0, 0);
    };
    let same = rest.first().map_or(0, |&second| second.step(first));
    if values.windows(2).all(|pair| pair[1].step(pair[0]) == same) {
        return even(out, values.len(), first.signed(), same);
    }
    header(out, BLOCK, BLOCK / PART, values.len(), first.signed());
    let mut before = first;
    for block in rest.chunks(BLOCK) {
        let mut steps = [0; BLOCK];
        let mut least = i64::MAX;
        for (step, &value) in steps.iter_mut().zip(block) {
            *step = value.step(before);
            least = least.min(*step);
            before = value;
        }
        zigzag(out, least);
        // Zeros follow the last number, and a part of zeros takes no bits.
        let mut above = [0; BLOCK];
        for (above, &step) in above.iter_mut().zip(&steps[..block.len()]) {
            *above = T::above(step, least);
        }
        let widths = out.len();
        out.extend_from_slice(&[0; BLOCK / PART]);
        for (part, values) in above.chunks_exact(PART).enumerate() {
            let width = u64::BITS - values.iter().fold(0, |all, v| all | v).leading_zeros();
            out[widths + part] = width as u8;
            bits(out, values, width);
        }
    }
}

/// Appends `count` numbers, of which each adds `step` to the one before: a single block without
/// bits.
pub(crate) fn even(out: &mut Vec<u8>, count: usize, first: i64, step: i64) {
    let steps = count.saturating_sub(1);
    header(out, steps.next_multiple_of(BLOCK).max(BLOCK), 1, count, first);
    if steps > 0 {
        zigzag(out, step);
        out.push(0);
    }
}

fn header(out: &mut Vec<u8>, block: usize, parts: usize, count: usize, first: i64) {
    varint(out, block as u64);
    varint(out, parts as u64);
    varint(out, count as u64);
    zigzag(out, first);
}

/// Appends the lowest `width` bits of each value; together they are whole words of 32 bits.
fn bits(out: &mut Vec<u8>, values: &[u64], width: u32) {
    let (mut word, mut filled) = (0_u64, 0);
    for &value in values {
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            // The part of the value that had no place: none if it ended with the word.
            word = value.checked_shr(width - filled).unwrap_or(0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled as usize / 8]);
}

#[cfg(test)]
mod tests;

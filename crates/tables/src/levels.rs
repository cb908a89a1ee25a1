//! Parquet's hybrid of runs and packed bits, in which it keeps positions in dictionaries and which values are there.

use crate::thrift::varint;

/// Appends numbers below 2^`width`, of at most eight bits: one run where all are equal, else packed, the first
/// in the lowest bits.
pub(crate) fn hybrid(out: &mut Vec<u8>, values: &[u8], width: u32) {
    debug_assert!((1..=8).contains(&width), "{width} bits");
    let Some(&first) = values.first() else { return };
    if values.iter().all(|&value| value == first) {
        varint(out, (values.len() as u64) << 1);
        out.push(first);
        return;
    }
    varint(out, (values.len().div_ceil(8) as u64) << 1 | 1);
    for eight in values.chunks(8) {
        let packed = eight.iter().rev().fold(0_u64, |bits, &v| bits << width | u64::from(v));
        out.extend_from_slice(&packed.to_le_bytes()[..width as usize]);
    }
}

/// How many bits the numbers below `count` need, at least one.
pub(crate) fn width(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_run() {
        let mut out = Vec::new();
        hybrid(&mut out, &[3; 100], 2);
        assert_eq!(out, [0xc8, 1, 3]);
    }

    #[test]
    fn others_are_packed_in_eights() {
        // The example of the format's page: 0 to 7 in three bits.
        let mut out = Vec::new();
        hybrid(&mut out, &[0, 1, 2, 3, 4, 5, 6, 7], 3);
        assert_eq!(out, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        hybrid(&mut out, &[1, 0, 1, 1, 0, 0, 0, 0, 1], 1);
        assert_eq!(out, [5, 0b0000_1101, 1]);
    }

    #[test]
    fn widths_hold_the_greatest() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 256].map(width), [1, 1, 2, 2, 3, 3, 4, 8]);
    }
}

//! Is the number right? Packed data is read back by a reader of the format's page, bit by bit.

use super::*;

/// A reader that takes one bit after the other.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn byte(&mut self) -> u8 {
        assert_eq!(self.at % 8, 0, "a whole byte");
        self.at += 8;
        self.bytes[self.at / 8 - 1]
    }

    fn varint(&mut self) -> u64 {
        let byte = self.byte();
        let low = u64::from(byte & 0x7f);
        if byte < 0x80 { low } else { low | self.varint() << 7 }
    }

    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    fn packed(&mut self, width: u8) -> u64 {
        (0..width).fold(0, |value, nth| {
            let bit = self.bytes[self.at / 8] >> (self.at % 8) & 1;
            self.at += 1;
            value | u64::from(bit) << nth
        })
    }
}

/// All numbers, as signed ones of 64 bits, and the rest of the bytes.
fn unpack(bytes: &[u8]) -> (Vec<i64>, usize) {
    let mut bits = Bits { bytes, at: 0 };
    let (block, parts) = (bits.varint() as usize, bits.varint() as usize);
    let (count, first) = (bits.varint() as usize, bits.zigzag());
    assert_eq!((block % 128, block / parts % 32), (0, 0), "blocks of {block} in {parts} parts");
    let mut values = if count == 0 { vec![] } else { vec![first] };
    while values.len() < count {
        let least = bits.zigzag();
        let widths: Vec<u8> = (0..parts).map(|_| bits.byte()).collect();
        for width in widths {
            if values.len() == count {
                continue; // parts without numbers have no bits
            }
            for _ in 0..block / parts {
                let step = bits.packed(width).cast_signed().wrapping_add(least);
                if values.len() < count {
                    values.push(values[values.len() - 1].wrapping_add(step));
                } else {
                    assert_eq!(step, least, "padding is zero");
                    if width == 0 {
                        break;
                    }
                }
            }
        }
    }
    (values, bytes.len() - bits.at / 8)
}

/// Numbers that look like chance.
fn mixed(seed: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |n: u64| {
        let mut z = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ z >> 27
    })
}

#[test]
fn what_is_packed_is_read_back() {
    for width in 0..=64_u32 {
        for count in [0, 1, 2, 31, 32, 33, 34, 127, 128, 129, 130, 257, 1000] {
            let cut = |v: u64| v.checked_shr(64 - width).unwrap_or(0);
            let values: Vec<u64> = mixed(width.into()).map(cut).take(count).collect();
            let mut out = Vec::new();
            pack(&mut out, &values);
            let (read, left) = unpack(&out);
            let read: Vec<u64> = read.into_iter().map(i64::cast_unsigned).collect();
            assert_eq!((read, left), (values, 0), "{count} numbers of {width} bits");
        }
    }
}

#[test]
fn small_numbers_stay_within_their_size() {
    for count in [0, 1, 2, 33, 129, 1000] {
        let ends = [0, u32::MAX, 1 << 31, (1 << 31) - 1];
        let values: Vec<u32> = mixed(9)
            .enumerate()
            .map(|(n, v)| if n % 3 == 0 { v as u32 } else { ends[n % 4] })
            .take(count)
            .collect();
        let mut out = Vec::new();
        pack(&mut out, &values);
        let (read, left) = unpack(&out);
        // A reader of 32 bits adds modulo 2^32; each step has to fit it.
        let read: Vec<u32> = read.into_iter().map(|v| v as u32).collect();
        assert_eq!((read, left), (values, 0));
    }
}

#[test]
fn equal_steps_take_no_bits() {
    for (first, step) in [(7_u64, 0), (0, 4096), (1 << 40, 3_u64.wrapping_neg())] {
        let values: Vec<u64> =
            (0..10_000).map(|n| first.wrapping_add(step.wrapping_mul(n))).collect();
        let mut out = Vec::new();
        pack(&mut out, &values);
        assert!(out.len() < 20, "{} bytes", out.len());
        assert_eq!(unpack(&out).0, values.iter().map(|v| v.cast_signed()).collect::<Vec<_>>());
    }
}

#[test]
fn the_examples_of_the_format() {
    // 1 to 5: the first is 1, each step 1.
    let mut out = Vec::new();
    pack(&mut out, &[1_u64, 2, 3, 4, 5]);
    assert_eq!(out, [0x80, 1, 1, 5, 2, 2, 0]);
    // 7, 5, 3, 1, 2, 3, 4, 5: steps of at least -2, so 0, 0, 0, 3, 3, 3, 3 in two bits.
    out.clear();
    pack(&mut out, &[7_u64, 5, 3, 1, 2, 3, 4, 5]);
    assert_eq!(out, [0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0]);
}

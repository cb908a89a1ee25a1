//! The effects of reading and programming on neighbouring pages.

use super::Cell;

/// Errors that a read adds to each bit of a block of the reference MLC at its rated cycles, and how
/// that grows with cycles: 1.69e-9·(N/3000)^1.47.
///
/// Least squares, in logarithms, over seven slopes of Cai et al., "Read Disturb Errors in MLC NAND
/// Flash Memory", DSN 2015, Fig. 3. The chips are 2y-nm MLC at 2000 to 15,000 cycles, and the
/// values are as recalled. The largest residual is 8.3 %, and a test repeats the fit. In the
/// figure, errors grow in proportion to the reads up to some 100,000.
const SLOPE: (f64, f64) = (1.69e-9, 1.47);

/// Reads that a block endures before its data must move: 1 M, 100 K and 10 K for one to three bits.
/// Four bits have 1 K, by the same ratio (assumed). The source is I and II.A of IPR: Wu et al.,
/// "Flash Read Disturb Management Using Adaptive Cell Bit-Density with In-Place Reprogramming".
pub fn read_limit(bits: u32) -> u32 {
    10_u32.pow(7 - bits)
}

/// Reads that a block of three-bit cells endures once guard levels have been programmed into it
/// (IPR III.C).
pub const GUARDED_READ_LIMIT: u32 = 100_000;

/// The raw bit error rate that one read of a block adds to its pages of a type, at `cycles`.
///
/// Kinds of cell differ as their read limits do (assumed), and a page type errs in proportion to
/// its boundaries. A block with guard levels errs a tenth as much, because its limit is
/// ten times as high.
pub fn read_slope(cell: &Cell, page_type: usize, cycles: f64) -> f64 {
    let (at_rating, power) = SLOPE;
    let kind = f64::from(read_limit(2)) / f64::from(read_limit(cell.bits()));
    let share = cell.boundaries(page_type).count() as f64 * f64::from(cell.bits())
        / f64::from((1_u32 << cell.bits()) - 1);
    at_rating * kind * share * (cell.reference_cycles(cycles) / 3000.0).powf(power)
}

/// Programs over a written page of an SLC block that disturb nothing (Grupp et al.,
/// "Characterizing Flash Memory: Anomalies, Observations, and Applications", MICRO 2009, called
/// Grupp here, 3.5).
pub const HARMLESS_REPROGRAMS: u32 = 100;

/// The raw bit error rate of the page that shares cells with one that is programmed `times` more
/// over its data (Grupp 3.5). Cells of several bits lose nearly all of it at the first time. Cells
/// of one bit lose nothing in the first hundred. The paper only plots the rest; here the page
/// counts as lost.
pub fn reprogrammed_partner(bits: u32, times: u32) -> f64 {
    let harmless = if bits == 1 { HARMLESS_REPROGRAMS } else { 0 };
    if times > harmless { 0.5 } else { 0.0 }
}

/// The raw bit error rate of a page of several-bit cells that has itself been programmed again: 32
/// bits of the 8 KB page of chip C-MLC64 (Grupp 3.5).
pub const REPROGRAMMED_PAGE: f64 = 32.0 / 65_536.0;

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    #[test]
    fn the_slope_is_the_least_squares_fit() {
        let points = [
            (2.0, 1.00_f64),
            (3.0, 1.63),
            (4.0, 2.37),
            (5.0, 3.74),
            (8.0, 7.50),
            (10.0, 9.10),
            (15.0, 19.0),
        ]
        .map(|(cycles, slope): (f64, f64)| ((cycles / 3.0).ln(), (slope * 1e-9).ln()));
        let n = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
        let power = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
            / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
        assert!((power - SLOPE.1).abs() < 0.005, "{power}");
        assert!(((y - power * x).exp() / SLOPE.0 - 1.0).abs() < 0.005);
        let worst = points.iter().map(|p| ((p.1 - y) - power * (p.0 - x)).exp_m1().abs());
        assert!((worst.fold(0.0, f64::max) - 0.083).abs() < 0.008);
    }

    #[test]
    fn page_types_average_to_the_slope_of_the_block() {
        for bits in 1..=4 {
            let cell = Cell::new(bits, 3000.0);
            let types = 0..bits as usize;
            let mean = types.map(|t| read_slope(&cell, t, 3000.0)).sum::<f64>() / f64::from(bits);
            let expected = 1.69e-9 * 10_f64.powi(bits.cast_signed() - 2);
            assert!((mean / expected - 1.0).abs() < 1e-12, "{bits} bits: {mean}");
        }
    }

    #[test]
    fn reads_hurt_more_as_blocks_wear() {
        let mut rng = Rng::named(1, "physics/disturb");
        for _ in 0..1_000 {
            let bits = 1 + rng.below(4);
            let cell = Cell::new(bits, 1000.0 + rng.unit() * 1e5);
            let (page, n) = (rng.below(bits) as usize, rng.unit() * 1e5);
            assert!(read_slope(&cell, page, n + 10.0) > read_slope(&cell, page, n));
        }
        assert_eq!([1, 2, 3].map(read_limit), [1_000_000, 100_000, 10_000]);
    }

    #[test]
    fn programming_again_spares_single_bits_for_a_hundred_times() {
        assert_eq!([1, 100, 101].map(|n| reprogrammed_partner(1, n) > 0.0), [false, false, true]);
        assert_eq!([0, 1].map(|n| reprogrammed_partner(2, n) > 0.0), [false, true]);
    }
}

//! Programming gets quicker as cells wear (Grupp 3.3, Fig. 5).

use super::Recovery;

/// The share of their new program time that cells lose over their rated life: nearly half with one
/// bit, 10 to 15 % with two (Grupp 3.3). Cells of more bits are assumed to be like those of two.
pub fn speed_up_at_rating(bits: u32) -> f64 {
    if bits == 1 { 0.5 } else { 0.125 }
}

/// Program time at a share of the rated cycles, as a multiple of the fresh time.
///
/// The paper names the cause, charge trapped in the oxide, and the ends of the curve; the curve
/// itself is lost. It is taken to follow the trapped charge of READY's Eq. 1 (assumed), from 1 at
/// no cycles to the factor of [`speed_up_at_rating`] at the rated ones, and constant from there.
pub fn program_time_factor(bits: u32, share_of_rating: f64) -> f64 {
    let trapped = |share: f64| Recovery::PRINTED.trapped_volts(3000.0 * share);
    1.0 - speed_up_at_rating(bits) * trapped(share_of_rating.clamp(0.0, 1.0)) / trapped(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_time_falls_from_fresh_to_rated_and_no_further() {
        for (bits, rated) in [(1, 0.5), (2, 0.875), (3, 0.875)] {
            let at = |share: f64| program_time_factor(bits, share);
            assert!((at(0.0) - 1.0).abs() < 1e-12 && (at(1.0) - rated).abs() < 1e-12);
            assert!((at(3.0) - rated).abs() < 1e-12);
            for i in 0..100 {
                let share = f64::from(i) / 100.0;
                assert!(at(share + 0.01) < at(share));
            }
        }
        // "10-15 %" for MLC, "nearly 50 %" for SLC.
        assert!((0.10..=0.15).contains(&speed_up_at_rating(2)));
    }
}

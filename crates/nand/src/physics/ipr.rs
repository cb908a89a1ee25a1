//! Wear of in-place reprogramming (IPR III.D, Fig. 7).

/// Wear of a program–reprogram–erase cycle in plain cycles, from a test to destruction (IPR III.D):
/// (X0 − Xr) ÷ (Xr·r) + 1. A block endures X0 cycles without reprograms, and Xr with `rate`
/// reprograms per cycle.
pub fn measured_wear(plain_cycles: f64, cycles_with: f64, rate: f64) -> f64 {
    (plain_cycles - cycles_with) / (cycles_with * rate) + 1.0
}

/// The rate from which Fig. 7 is flat, and the wear there: 1.2 for 0.2 and above (IPR III.D).
pub const FLAT: (f64, f64) = (0.2, 1.2);

/// Wear of a program–reprogram–erase cycle, in plain cycles, on a block that is reprogrammed in
/// the share `rate` of its cycles (0 to 1).
///
/// Of Fig. 7 only the sentence survives: falling with the rate, 1.2 from 0.2 upward. Below 0.2 this
/// is the steepest curve that the sentence allows. More reprogramming never prolongs a block's
/// life, so rate·(wear − 1) cannot fall. One reprogram without an erase wears no more than a whole
/// cycle, so wear is at most 2 (assumed). The truth lies between this curve and 1.2.
pub fn wear(rate: f64) -> f64 {
    let (flat_from, flat) = FLAT;
    if rate >= flat_from { flat } else { (1.0 + flat_from * (flat - 1.0) / rate).min(2.0) }
}

/// The surcharge of [`wear`] on a plain cycle, in thousandths of a cycle, for
/// [`Array::reprogram_to_low`](crate::Array::reprogram_to_low).
pub fn surcharge(rate: f64) -> u16 {
    ((wear(rate) - 1.0) * 1000.0).round() as u16
}

/// Cycles that a block endures if the share `rate` of them has a reprogram.
pub fn endured_cycles(plain_cycles: f64, rate: f64) -> f64 {
    plain_cycles / (1.0 - rate + rate * wear(rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    #[test]
    fn the_sentence_about_figure_7_holds() {
        for rate in [0.2, 0.21, 0.34, 0.5, 0.78, 0.95, 1.0] {
            assert!((wear(rate) - 1.2).abs() < 1e-12);
            assert_eq!(surcharge(rate), 200);
        }
        assert!((wear(0.2 - 1e-12) - 1.2).abs() < 1e-9, "no jump at the corner");
        assert_eq!(surcharge(0.0), 1000);
    }

    #[test]
    fn more_reprogramming_wears_less_each_time_and_more_in_all() {
        let mut rng = Rng::named(1, "physics/ipr");
        for _ in 0..2_000 {
            let rate = 1e-6 + rng.unit() * 0.99;
            let more = (rate + rng.unit() * 0.1).min(1.0);
            assert!(wear(more) <= wear(rate) + 1e-12 && (1.2 - 1e-12..=2.0).contains(&wear(rate)));
            let (endured, fewer) = (endured_cycles(3000.0, rate), endured_cycles(3000.0, more));
            assert!(fewer <= endured + 1e-9 && endured < 3000.0);
            // The paper's formula gives back its input.
            let measured = measured_wear(3000.0, endured, rate);
            assert!((measured / wear(rate) - 1.0).abs() < 1e-6, "{rate}: {measured}");
        }
    }
}

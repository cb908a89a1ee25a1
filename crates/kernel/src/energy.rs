//! Energy and power.

use crate::quantity::{QuantityKind, quantity};

/// An energy, in femtojoules: up to 18 kJ.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Energy(u64);

/// A power, in nanowatts: up to 18 GW.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Power(u64);

quantity! {
    Energy,
    QuantityKind {
        units: &[
            ("J", 1_000_000_000_000_000),
            ("mJ", 1_000_000_000_000),
            ("uJ", 1_000_000_000),
            ("nJ", 1_000_000),
            ("pJ", 1_000),
            ("fJ", 1),
        ],
        decimal: true,
        otherwise: ("fJ", 1),
        slip: 0.0,
        range: (0, u64::MAX),
        such: "",
        no_unit: "a unit is needed: J, mJ, uJ, nJ, pJ, fJ",
        not_a_unit: "is not one of the units J, mJ, uJ, nJ, pJ, fJ",
        not_whole: "this is not a whole number of fJ below 2^64",
    }
}

quantity! {
    Power,
    QuantityKind {
        units: &[("W", 1_000_000_000), ("mW", 1_000_000), ("uW", 1_000), ("nW", 1)],
        otherwise: ("nW", 1),
        no_unit: "a unit is needed: W, mW, uW, nW",
        not_a_unit: "is not one of the units W, mW, uW, nW",
        not_whole: "this is not a whole number of nW below 2^64",
        ..Energy::KIND
    }
}

impl Energy {
    /// The energy in joules.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e15
    }
}

impl Power {
    /// The power in watts.
    pub fn as_watts(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_quantity_round_trip() {
        for text in ["58uJ", "12.45184uJ", "0.0056nJ", "1fJ", "2.5 mJ", "3J", "0fJ"] {
            let energy: Energy = text.parse().unwrap();
            assert_eq!(energy.to_string().parse::<Energy>().unwrap(), energy, "{text}");
        }
        let shown = |text: &str| text.parse::<Energy>().unwrap().to_string();
        assert_eq!(shown("12451.84nJ"), "12.45184uJ");
        assert_eq!(shown("0.0056nJ"), "5.6pJ");
        assert_eq!(shown("0fJ"), "0fJ");
        assert_eq!(shown("4294.967296547840512J"), "4294.967296547840512J");
        assert_eq!(
            (shown(".5uJ"), shown("5.uJ"), shown("1_000.50nJ")),
            ("500nJ".into(), "5uJ".into(), "1.0005uJ".into())
        );
        assert_eq!("27.3mW".parse::<Power>().unwrap().to_string(), "27.3mW");
        assert_eq!("30 µW".parse::<Power>().unwrap().to_string(), "30uW");
        assert!(("27.3mW".parse::<Power>().unwrap().as_watts() - 0.0273).abs() < 1e-12);
        assert!(("58uJ".parse::<Energy>().unwrap().as_joules() - 58e-6).abs() < 1e-18);
    }

    #[test]
    fn bad_texts_say_why() {
        let energy = |text: &str| text.parse::<Energy>().unwrap_err().to_string();
        assert_eq!(energy("58"), "a unit is needed: J, mJ, uJ, nJ, pJ, fJ");
        for text in ["-58uJ", "uJ", ".uJ", "1.2.3uJ"] {
            assert_eq!(energy(text), "expected a number and a unit", "{text}");
        }
        assert_eq!(energy("58kcal"), "`kcal` is not one of the units J, mJ, uJ, nJ, pJ, fJ");
        for text in ["0.5fJ", "99999J", "1.00000000000000000000000001J"] {
            assert_eq!(energy(text), "this is not a whole number of fJ below 2^64", "{text}");
        }
        assert!("3uJ".parse::<Power>().is_err());
    }
}

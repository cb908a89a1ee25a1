//! Energy and power.

use std::fmt;
use std::str::FromStr;

/// Why a text is not an energy or a power.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseEnergyError {
    /// There is no number, or it is negative or malformed.
    Number,
    /// A number without a unit; these there are.
    NoUnit(&'static str),
    /// A unit that is none of these.
    Unit(String, &'static str),
    /// Finer than the least unit that counts, or beyond 64 bits of it.
    Range(&'static str),
}

impl fmt::Display for ParseEnergyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("expected a number and a unit"),
            Self::NoUnit(all) => write!(f, "a unit is needed: {all}"),
            Self::Unit(unit, all) => write!(f, "`{unit}` is not one of the units {all}"),
            Self::Range(least) => write!(f, "this is no whole number of {least} below 2^64"),
        }
    }
}

impl std::error::Error for ParseEnergyError {}

/// Declares a quantity as a whole number of its least unit; units from large to small.
macro_rules! quantity {
    ($(#[doc = $about:literal])+ $name:ident, $all:literal, $least:literal,
     [$(($unit:literal, $scale:literal)),+ $(,)?]) => {
        $(#[doc = $about])+
        #[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(u64);

        impl FromStr for $name {
            type Err = ParseEnergyError;

            /// Reads a number and a unit; a bare number is an error.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let text = text.trim();
                let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
                let (number, unit) = text.split_at(split.unwrap_or(text.len()));
                let number = number.replace('_', "");
                let (whole, rest) = number.split_once('.').unwrap_or((&number, ""));
                if number.trim_matches('.').is_empty() || rest.contains('.') {
                    return Err(ParseEnergyError::Number);
                }
                let unit = unit.trim().replace('µ', "u");
                if unit.is_empty() {
                    return Err(ParseEnergyError::NoUnit($all));
                }
                let scale: u64 = match unit.as_str() {
                    $($unit => $scale,)+
                    _ => return Err(ParseEnergyError::Unit(unit, $all)),
                };
                // In whole numbers throughout: a binary fraction would lose digits.
                let places = scale.ilog10() as usize;
                let finer = rest.get(places..).unwrap_or("").trim_matches('0');
                let digits = format!("{whole}{:0<places$}", &rest[..rest.len().min(places)]);
                match digits.parse() {
                    Ok(count) if finer.is_empty() => Ok(Self(count)),
                    _ => Err(ParseEnergyError::Range($least)),
                }
            }
        }

        impl fmt::Display for $name {
            /// In the largest unit of which it is at least one, exactly.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let units: &[(&str, u64)] = &[$(($unit, $scale)),+];
                let fits = units.iter().find(|(_, scale)| self.0 >= *scale);
                let (unit, scale) = *fits.unwrap_or(&($least, 1));
                let digits = scale.ilog10() as usize;
                let rest = format!("{:0digits$}", self.0 % scale);
                let rest = rest.trim_end_matches('0');
                let point = if rest.is_empty() { "" } else { "." };
                write!(f, "{}{point}{rest}{unit}", self.0 / scale)
            }
        }
    };
}

quantity! {
    /// An energy, in femtojoules: up to 18 kJ.
    Energy, "J, mJ, uJ, nJ, pJ, fJ", "fJ", [
        ("J", 1_000_000_000_000_000),
        ("mJ", 1_000_000_000_000),
        ("uJ", 1_000_000_000),
        ("nJ", 1_000_000),
        ("pJ", 1_000),
        ("fJ", 1),
    ]
}

quantity! {
    /// A power, in nanowatts: up to 18 GW.
    Power, "W, mW, uW, nW", "nW", [
        ("W", 1_000_000_000),
        ("mW", 1_000_000),
        ("uW", 1_000),
        ("nW", 1),
    ]
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
        let energy = |text: &str| text.parse::<Energy>().unwrap_err();
        assert_eq!(energy("58"), ParseEnergyError::NoUnit("J, mJ, uJ, nJ, pJ, fJ"));
        assert_eq!(energy("-58uJ"), ParseEnergyError::Number);
        for text in ["uJ", ".uJ", "1.2.3uJ"] {
            assert_eq!(energy(text), ParseEnergyError::Number, "{text}");
        }
        assert!(matches!(energy("58kcal"), ParseEnergyError::Unit(u, _) if u == "kcal"));
        assert_eq!(energy("0.5fJ"), ParseEnergyError::Range("fJ"));
        assert_eq!(energy("99999J"), ParseEnergyError::Range("fJ"));
        assert!(matches!("3uJ".parse::<Power>(), Err(ParseEnergyError::Unit(..))));
    }
}

//! Rates of a bus.

use std::fmt;
use std::str::FromStr;

/// A bus rate in transfers per second: `"333MT/s"`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(u64);

impl Rate {
    /// Transfers per second; each moves as many bits as the bus is wide.
    pub const fn per_second(self) -> u64 {
        self.0
    }
}

const UNITS: [(&str, u64); 3] = [("GT/s", 1_000_000_000), ("MT/s", 1_000_000), ("kT/s", 1_000)];

impl FromStr for Rate {
    /// Why a text is not a rate.
    type Err = String;

    /// Reads `"333MT/s"`, `"1.6 GT/s"`; a bare number is an error.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let unit = unit.trim();
        let value: Result<f64, _> = number.replace('_', "").parse();
        let value = value.map_err(|_| "expected a number and a unit, such as \"333MT/s\"")?;
        let scale = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(|| match unit {
            "" => "a rate needs a unit: kT/s, MT/s or GT/s".to_owned(),
            _ => format!("`{unit}` is not a unit of bus rate (kT/s, MT/s, GT/s)"),
        })?;
        let rate = value * scale.1 as f64;
        let whole = rate.round();
        if !(1.0..=1e12).contains(&whole) || (rate - whole).abs() > 1e-6 * rate {
            return Err(
                "a rate must be a whole number of transfers per second, up to 1000GT/s".into()
            );
        }
        Ok(Self(whole as u64))
    }
}

impl fmt::Display for Rate {
    /// The shortest form that reads back to the same rate: `333MT/s`, `33.333333MT/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, scale)) = UNITS.iter().find(|(_, scale)| self.0.is_multiple_of(*scale)) {
            return write!(f, "{}{name}", self.0 / scale);
        }
        let decimals = format!("{:06}", self.0 % 1_000_000);
        write!(f, "{}.{}MT/s", self.0 / 1_000_000, decimals.trim_end_matches('0'))
    }
}

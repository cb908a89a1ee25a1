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

/// Why a text is not a rate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseRateError {
    /// There is no number, or it is negative or malformed.
    Number,
    /// A number without a unit.
    NoUnit,
    /// A unit that is not one of kT/s, MT/s, GT/s.
    Unit(String),
    /// Not a whole number of transfers per second, zero, or beyond 1000 GT/s.
    Range,
}

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("expected a number and a unit, such as \"333MT/s\""),
            Self::NoUnit => f.write_str("a rate needs a unit: kT/s, MT/s or GT/s"),
            Self::Unit(u) => write!(f, "`{u}` is not a unit of bus rate (kT/s, MT/s, GT/s)"),
            Self::Range => {
                f.write_str("a rate must be a whole number of transfers per second, up to 1000GT/s")
            }
        }
    }
}

impl std::error::Error for ParseRateError {}

impl FromStr for Rate {
    type Err = ParseRateError;

    /// Reads `"333MT/s"`, `"1.6 GT/s"`; a bare number is an error.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let unit = unit.trim();
        let value: f64 = number.replace('_', "").parse().map_err(|_| ParseRateError::Number)?;
        if unit.is_empty() {
            return Err(ParseRateError::NoUnit);
        }
        let scale = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, n)| *n)
            .ok_or_else(|| ParseRateError::Unit(unit.to_owned()))?;
        let rate = value * scale as f64;
        let whole = rate.round();
        if !(1.0..=1e12).contains(&whole) || (rate - whole).abs() > 1e-6 * rate {
            return Err(ParseRateError::Range);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_rate_round_trip() {
        for text in ["333MT/s", "33.333333MT/s", "2400 MT/s", "1.6GT/s", "0.5kT/s", "0.000001MT/s"]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate, "{text}");
        }
        assert_eq!("1.6GT/s".parse::<Rate>().unwrap().to_string(), "1600MT/s");
    }

    #[test]
    fn bad_texts_say_why() {
        assert_eq!("333".parse::<Rate>(), Err(ParseRateError::NoUnit));
        assert_eq!("333MB/s".parse::<Rate>(), Err(ParseRateError::Unit("MB/s".into())));
        assert_eq!("0MT/s".parse::<Rate>(), Err(ParseRateError::Range));
        assert_eq!("fast".parse::<Rate>(), Err(ParseRateError::Number));
    }
}

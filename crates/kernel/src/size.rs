//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

/// A size or an offset in bytes.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// `n` kibibytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` mebibytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` gibibytes.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// For people: three digits and a binary unit, `4.81 GiB`. It does not read back to the same
    /// size; `to_string` does.
    pub fn rounded(self) -> String {
        let unit = UNITS[..4].iter().rev().take_while(|(_, scale)| self.0 >= *scale).last();
        let Some((name, scale)) = unit else { return format!("{} B", self.0) };
        let value = self.0 as f64 / *scale as f64;
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        format!("{value:.digits$} {name}")
    }
}

/// Binary units first, so that `Display` prefers them.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Why a text is not a size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseBytesError {
    /// There is no number, or it is negative or malformed.
    Number,
    /// A number without a unit.
    NoUnit,
    /// A unit that is not one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB.
    Unit(String),
    /// Not a whole number of bytes, or beyond 2^64.
    Range,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("expected a number and a unit, such as \"4KiB\""),
            Self::NoUnit => {
                f.write_str("a size needs a unit: B, KiB, MiB, GiB, TiB, kB, MB, GB or TB")
            }
            Self::Unit(u) => write!(
                f,
                "`{u}` is not a unit of size (B, KiB, MiB, GiB, TiB; kB, MB, GB, TB are decimal)"
            ),
            Self::Range => f.write_str("a size must be a whole number of bytes below 2^64"),
        }
    }
}

impl std::error::Error for ParseBytesError {}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Reads `"4KiB"`, `"1.5 GiB"`, `"512B"`; a bare number is an error.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let unit = unit.trim();
        let number = number.replace('_', "");
        let value: f64 = number.parse().map_err(|_| ParseBytesError::Number)?;
        if unit.is_empty() {
            return Err(ParseBytesError::NoUnit);
        }
        let scale = UNITS
            .iter()
            .find(|(name, _)| *name == unit || (unit == "KB" && *name == "kB"))
            .map(|(_, n)| *n)
            .ok_or_else(|| ParseBytesError::Unit(unit.to_owned()))?;
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(scale).map(Self).ok_or(ParseBytesError::Range);
        }
        let bytes = value * scale as f64;
        if !bytes.is_finite() || bytes >= u64::MAX as f64 || bytes.fract() != 0.0 {
            return Err(ParseBytesError::Range);
        }
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    /// The shortest exact form that reads back to the same size: `4KiB`, `1000B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit =
            UNITS.iter().filter(|_| self.0 > 0).find(|(_, scale)| self.0.is_multiple_of(*scale));
        let (name, scale) = unit.unwrap_or(&("B", 1));
        write!(f, "{}{name}", self.0 / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_size_round_trip() {
        for text in ["512B", "4KiB", "32GiB", "1GB", "0B", "1000B"] {
            let b: Bytes = text.parse().unwrap();
            assert_eq!(b.to_string().parse::<Bytes>().unwrap(), b, "{text}");
        }
        assert_eq!("1.5KiB".parse::<Bytes>().unwrap(), Bytes::new(1536));
    }

    #[test]
    fn people_read_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (5_041_624 << 10, "4.81 GiB"),
            (100 << 20, "100 MiB"),
            (1 << 50, "1024 TiB"),
            (99 << 10, "99.0 KiB"),
        ] {
            assert_eq!(Bytes::new(bytes).rounded(), text);
        }
    }

    #[test]
    fn bad_texts_say_why() {
        assert_eq!("4096".parse::<Bytes>(), Err(ParseBytesError::NoUnit));
        assert_eq!("4 pages".parse::<Bytes>(), Err(ParseBytesError::Unit("pages".into())));
        assert_eq!("0.3B".parse::<Bytes>(), Err(ParseBytesError::Range));
        assert_eq!("KiB".parse::<Bytes>(), Err(ParseBytesError::Number));
    }
}

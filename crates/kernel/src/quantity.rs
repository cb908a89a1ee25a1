//! Quantities as people write them: a number and a unit.

use std::fmt;

/// Why a text is not such a quantity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityError(String);

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

/// How quantities of one kind are written. Each is a whole number of the kind's least unit.
pub(crate) struct QuantityKind {
    /// Every unit and its size. The first that suits a quantity is the one that it is shown in.
    pub(crate) units: &'static [(&'static str, u64)],
    /// Whether quantities are shown with decimals, in a unit that they are at least one of. If not,
    /// they are shown in a unit that divides them.
    pub(crate) decimal: bool,
    /// The unit, with its size, of values that no unit suits.
    pub(crate) otherwise: (&'static str, u64),
    /// The greatest distance to a whole number, as a share of it: numbers that people computed are
    /// not exact.
    pub(crate) slip: f64,
    /// The least and the greatest.
    pub(crate) range: (u64, u64),
    /// The explanation after "expected a number and a unit".
    pub(crate) such: &'static str,
    /// The explanation if the unit is missing.
    pub(crate) no_unit: &'static str,
    /// The explanation after an unknown unit.
    pub(crate) not_a_unit: &'static str,
    /// The explanation for a number that is not whole, or is out of range.
    pub(crate) not_whole: &'static str,
}

impl QuantityKind {
    /// Reads a number and a unit.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let (number, unit) = (number.replace('_', ""), unit.trim());
        let (whole, decimals) = number.split_once('.').unwrap_or((&number, ""));
        if number.trim_matches('.').is_empty() || decimals.contains('.') {
            return Err(QuantityError(format!("expected a number and a unit{}", self.such)));
        }
        if unit.is_empty() {
            return Err(QuantityError(self.no_unit.to_owned()));
        }
        let name = unit.replace('µ', "u");
        let Some((_, scale)) = self.units.iter().find(|(unit, _)| *unit == name) else {
            let hint = self.meant(&name).map_or(String::new(), |meant| {
                format!("; did you mean `{}{meant}`?", text[..split.unwrap_or(0)].trim())
            });
            return Err(QuantityError(format!("`{unit}` {}{hint}", self.not_a_unit)));
        };
        self.count(whole, decimals.trim_end_matches('0'), *scale)
            .filter(|count| (self.range.0..=self.range.1).contains(count))
            .ok_or_else(|| QuantityError(self.not_whole.to_owned()))
    }

    /// The unit that another word for one means: `y` for `yr` and `years`, `KiB` for `k`.
    fn meant(&self, word: &str) -> Option<&'static str> {
        let lower = word.to_lowercase();
        let names = || self.units.iter().map(|(name, _)| *name);
        // If several match, the first is meant: binary sizes come before decimal ones.
        let begins = names().rev().filter(|name| lower.starts_with(&name.to_lowercase()));
        let whole = begins.max_by_key(|name| name.len());
        let begun = || names().find(|name| name.to_lowercase().starts_with(&lower));
        // One letter is near to every unit of one letter.
        let near = || crate::nearest(word, names()).filter(|_| word.len() > 1);
        whole.or_else(begun).or_else(near)
    }

    /// The nearest whole number, if it is near enough. A binary fraction would lose digits.
    fn count(&self, whole: &str, decimals: &str, scale: u64) -> Option<u64> {
        let digits: u128 = format!("0{whole}{decimals}").parse().ok()?;
        let parts = 10_u128.checked_pow(decimals.len().try_into().ok()?)?;
        let scaled = digits.checked_mul(scale.into())?;
        let count = scaled.checked_add(parts / 2)? / parts;
        let off = scaled.abs_diff(count * parts) as f64 / parts as f64;
        let near = off <= self.slip * (count as f64).max(1.0);
        u64::try_from(count).ok().filter(|_| near)
    }

    /// Writes the shortest exact form that reads back to the same.
    pub(crate) fn show(&self, count: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divides = |scale| count > 0 && count.is_multiple_of(scale);
        let suits = |scale| if self.decimal { count >= scale } else { divides(scale) };
        let found = self.units.iter().find(|(_, scale)| suits(*scale));
        let (unit, scale) = *found.unwrap_or(&self.otherwise);
        let digits = scale.ilog10() as usize;
        let rest = format!("{:0digits$}", count % scale);
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        write!(f, "{}{point}{rest}{unit}", count / scale)
    }
}

/// Declares how a quantity is read and shown.
macro_rules! quantity {
    ($name:ident, $kind:expr) => {
        impl $name {
            const KIND: crate::quantity::QuantityKind = $kind;
        }

        impl std::str::FromStr for $name {
            type Err = crate::QuantityError;

            /// Reads a number and a unit; a bare number is an error.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::KIND.parse(text).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            /// The shortest exact form that reads back to the same.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                Self::KIND.show(self.0, f)
            }
        }
    };
}

pub(crate) use quantity;

#[cfg(test)]
mod tests {
    use crate::{Bandwidth, Bytes, Dur, Energy, Power, Rate};
    use std::fmt::Display;
    use std::str::FromStr;

    /// The quantity that a malformed text probably meant, if there is one.
    fn meant<Q: FromStr<Err = super::QuantityError> + Display>(text: &str) -> Option<String> {
        let said = text.parse::<Q>().err().expect("no such quantity").to_string();
        let meant = said.split("did you mean `").nth(1)?.trim_end_matches("`?").to_owned();
        assert!(meant.parse::<Q>().is_ok(), "`{text}`: `{meant}` is not one either");
        Some(meant)
    }

    #[test]
    fn each_kind_of_quantity_says_what_was_meant() {
        for (text, unit) in [
            ("4k", "4KiB"),
            ("4K", "4KiB"),
            ("1m", "1MiB"),
            ("1Mi", "1MiB"),
            ("2g", "2GiB"),
            ("1T", "1TiB"),
            ("4kib", "4KiB"),
            ("4kb", "4kB"),
            ("4kbyte", "4kB"),
            ("512bytes", "512B"),
        ] {
            assert_eq!(meant::<Bytes>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [
            ("5yr", "5y"),
            ("5years", "5y"),
            ("3days", "3d"),
            ("2hours", "2h"),
            ("5minutes", "5min"),
            ("10sec", "10s"),
            ("40u", "40us"),
            ("40usec", "40us"),
            ("7msec", "7ms"),
            ("9NS", "9ns"),
        ] {
            assert_eq!(meant::<Dur>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [("400M", "400MT/s"), ("1.2gt/s", "1.2GT/s"), ("333MB/s", "333MT/s")] {
            assert_eq!(meant::<Rate>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [("3G", "3GB/s"), ("3GB", "3GB/s"), ("560mb/s", "560MB/s")] {
            assert_eq!(meant::<Bandwidth>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [("5n", "5nJ"), ("5NJ", "5nJ"), ("2ujoule", "2uJ"), ("1joule", "1J")] {
            assert_eq!(meant::<Energy>(text).as_deref(), Some(unit), "{text}");
        }
        for (text, unit) in [("16m", "16mW"), ("2watt", "2W"), ("3uw", "3uW")] {
            assert_eq!(meant::<Power>(text).as_deref(), Some(unit), "{text}");
        }
        // Nothing is near to these.
        for text in ["1w", "5 %", "3 weeks", "5months"] {
            assert_eq!(meant::<Dur>(text), None, "{text}");
        }
        for text in ["4 pages", "50%"] {
            assert_eq!(meant::<Bytes>(text), None, "{text}");
        }
    }
}

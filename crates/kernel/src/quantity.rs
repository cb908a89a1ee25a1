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
pub(crate) struct Kind {
    /// Every unit and its size. The first that suits a quantity is the one that it is shown in.
    pub(crate) units: &'static [(&'static str, u64)],
    /// Shown with decimals, in a unit that it is at least one of; else in one that divides it.
    pub(crate) decimal: bool,
    /// The unit, with its size, of what none suits.
    pub(crate) otherwise: (&'static str, u64),
    /// How far from a whole number one may be, as a share of it: what people computed is not exact.
    pub(crate) slip: f64,
    /// The least and the greatest.
    pub(crate) range: (u64, u64),
    /// What to say behind "expected a number and a unit".
    pub(crate) such: &'static str,
    /// What to say where there is no unit,
    pub(crate) no_unit: &'static str,
    /// behind a unit that is none,
    pub(crate) not_a_unit: &'static str,
    /// and of what is no whole number, or out of range.
    pub(crate) not_whole: &'static str,
}

impl Kind {
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

    /// The unit that another word for one means: `y` for `yr` and `years`, `KiB` for `KB`.
    fn meant(&self, word: &str) -> Option<&'static str> {
        let lower = word.to_lowercase();
        let names = || self.units.iter().map(|(name, _)| *name);
        let begins = names().filter(|name| lower.starts_with(&name.to_lowercase()));
        begins.max_by_key(|name| name.len()).or_else(|| crate::nearest(word, names()))
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
            const KIND: crate::quantity::Kind = $kind;
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

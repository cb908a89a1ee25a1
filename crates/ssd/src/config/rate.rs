//! Rates of a bus, and of data.

use kernel::{Bytes, Dur};
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

/// How rates of one kind are written: their units, the greatest first, what those are units of, what
/// is counted, and an example.
struct Kind {
    units: [(&'static str, u64); 3],
    what: &'static str,
    counted: &'static str,
    such: &'static str,
}

const BUS: Kind = Kind {
    units: [("GT/s", 1_000_000_000), ("MT/s", 1_000_000), ("kT/s", 1_000)],
    what: "bus rate",
    counted: "transfers",
    such: "333MT/s",
};

const DATA: Kind = Kind {
    units: [("GB/s", 1_000_000_000), ("MB/s", 1_000_000), ("kB/s", 1_000)],
    what: "data rate",
    counted: "bytes",
    such: "560MB/s",
};

impl Kind {
    /// A number and a unit, as a whole number a second, 1 to 10^12.
    fn parse(&self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let unit = unit.trim();
        let [giga, mega, kilo] = self.units.map(|(name, _)| name);
        let value: Result<f64, _> = number.replace('_', "").parse();
        let such = self.such;
        let value =
            value.map_err(|_| format!("expected a number and a unit, such as \"{such}\""))?;
        let scale =
            self.units.iter().find(|(name, _)| *name == unit).ok_or_else(|| match unit {
                "" => format!("a rate needs a unit: {kilo}, {mega} or {giga}"),
                _ => format!("`{unit}` is not a unit of {} ({kilo}, {mega}, {giga})", self.what),
            })?;
        let rate = value * scale.1 as f64;
        let whole = rate.round();
        if !(1.0..=1e12).contains(&whole) || (rate - whole).abs() > 1e-6 * rate {
            let counted = self.counted;
            return Err(format!(
                "a rate must be a whole number of {counted} per second, up to 1000{giga}"
            ));
        }
        Ok(whole as u64)
    }

    /// In the greatest of the units that it is a multiple of, or else in millions.
    fn show(&self, f: &mut fmt::Formatter<'_>, rate: u64) -> fmt::Result {
        let mut units = self.units.iter();
        if let Some((name, scale)) = units.find(|(_, scale)| rate.is_multiple_of(*scale)) {
            return write!(f, "{}{name}", rate / scale);
        }
        let decimals = format!("{:06}", rate % 1_000_000);
        let (mega, decimals) = (self.units[1].0, decimals.trim_end_matches('0'));
        write!(f, "{}.{decimals}{mega}", rate / 1_000_000)
    }
}

impl FromStr for Rate {
    /// Why a text is not a rate.
    type Err = String;

    /// Reads `"333MT/s"`, `"1.6 GT/s"`; a bare number is an error.
    fn from_str(text: &str) -> Result<Self, String> {
        BUS.parse(text).map(Self)
    }
}

impl fmt::Display for Rate {
    /// The shortest form that reads back to the same rate: `333MT/s`, `33.333333MT/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BUS.show(f, self.0)
    }
}

/// A rate of data in bytes per second: `"3.2GB/s"`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// How long so many bytes take, to the nearest nanosecond.
    pub fn time(self, bytes: Bytes) -> Dur {
        let rate = u128::from(self.0);
        let ns = (u128::from(bytes.get()) * 1_000_000_000 + rate / 2) / rate;
        Dur::ns(ns as u64)
    }
}

impl FromStr for Bandwidth {
    /// Why a text is not a rate of data.
    type Err = String;

    /// Reads `"3.2GB/s"`, `"560 MB/s"`; a bare number is an error.
    fn from_str(text: &str) -> Result<Self, String> {
        DATA.parse(text).map(Self)
    }
}

impl fmt::Display for Bandwidth {
    /// The shortest form that reads back to the same rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        DATA.show(f, self.0)
    }
}

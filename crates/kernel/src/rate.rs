//! Rates of a bus, and of data.

use crate::quantity::{QuantityKind, quantity};
use crate::{Bytes, Dur};
use std::num::NonZeroU32;

/// A bus rate in transfers per second: `"333MT/s"`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(u64);

/// A rate of data in bytes per second: `"3.2GB/s"`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bandwidth(u64);

quantity! {
    Rate,
    QuantityKind {
        units: &[("GT/s", 1_000_000_000), ("MT/s", 1_000_000), ("kT/s", 1_000)],
        decimal: false,
        otherwise: ("MT/s", 1_000_000),
        slip: 1e-6,
        range: (1, 1_000_000_000_000),
        such: ", such as \"333MT/s\"",
        no_unit: "a rate needs a unit: kT/s, MT/s or GT/s",
        not_a_unit: "is not a unit of bus rate (kT/s, MT/s, GT/s)",
        not_whole: "a rate must be a whole number of transfers per second, up to 1000GT/s",
    }
}

quantity! {
    Bandwidth,
    QuantityKind {
        units: &[("GB/s", 1_000_000_000), ("MB/s", 1_000_000), ("kB/s", 1_000)],
        otherwise: ("MB/s", 1_000_000),
        such: ", such as \"560MB/s\"",
        no_unit: "a rate needs a unit: kB/s, MB/s or GB/s",
        not_a_unit: "is not a unit of data rate (kB/s, MB/s, GB/s)",
        not_whole: "a rate must be a whole number of bytes per second, up to 1000GB/s",
        ..Rate::KIND
    }
}

impl Rate {
    /// Transfers per second; each moves as many bits as the bus is wide.
    pub const fn per_second(self) -> u64 {
        self.0
    }
}

impl Bandwidth {
    /// The time that `bytes` take, to the nearest nanosecond.
    pub fn time(self, bytes: Bytes) -> Dur {
        let rate = u128::from(self.0);
        let ns = (u128::from(bytes.get()) * 1_000_000_000 + rate / 2) / rate;
        Dur::ns(ns as u64)
    }

    /// The share of each of `of` equal parts, and at least one byte a second.
    pub fn part(self, of: NonZeroU32) -> Self {
        Self((self.0 / u64::from(of.get())).max(1))
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
        let why = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert_eq!(why("333"), "a rate needs a unit: kT/s, MT/s or GT/s");
        let unit = "`MB/s` is not a unit of bus rate (kT/s, MT/s, GT/s); did you mean `333MT/s`?";
        assert_eq!(why("333MB/s"), unit);
        for text in ["0MT/s", "1001GT/s"] {
            assert!(why(text).contains("up to 1000GT/s"), "{text}");
        }
        assert_eq!(why("fast"), "expected a number and a unit, such as \"333MT/s\"");
    }
}

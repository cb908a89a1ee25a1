//! Instants and lengths of simulated time, in nanoseconds.
//!
//! `Time` and `Dur` are different types, so that two instants cannot be added by accident. Both
//! hold a `u64`: 584 years of nanoseconds, far beyond any run. Overflow is a bug and is caught in
//! every build with overflow checks.

use crate::quantity::{QuantityKind, quantity};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant of simulated time, in nanoseconds since the start of the run.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Time(u64);

/// A length of simulated time, in nanoseconds.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Dur(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// The last instant of simulated time, 146 years after its start. It is so far from the end of
    /// the numbers that nothing added to it overflows.
    pub const LAST: Self = Self((1 << 62) - 1);

    /// The instant `ns` nanoseconds after the start.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The time since `earlier`, zero if `earlier` is in fact later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `n` nanoseconds.
    #[inline]
    pub const fn ns(n: u64) -> Self {
        Self(n)
    }

    /// `n` microseconds.
    #[inline]
    pub const fn us(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// `n` milliseconds.
    #[inline]
    pub const fn ms(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` seconds.
    #[inline]
    pub const fn secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// `s` seconds, rounded to the nearest nanosecond; negative and absurd values saturate.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    /// The length in nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// `self - other`, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sub for Time {
    type Output = Dur;
    #[inline]
    fn sub(self, earlier: Self) -> Dur {
        Dur(self.0 - earlier.0)
    }
}

impl Add<Dur> for Time {
    type Output = Self;
    #[inline]
    fn add(self, d: Dur) -> Self {
        Self(self.0 + d.0)
    }
}

impl AddAssign<Dur> for Time {
    #[inline]
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}

impl Add for Dur {
    type Output = Self;
    #[inline]
    fn add(self, d: Self) -> Self {
        Self(self.0 + d.0)
    }
}

impl AddAssign for Dur {
    #[inline]
    fn add_assign(&mut self, d: Self) {
        self.0 += d.0;
    }
}

impl Sub for Dur {
    type Output = Self;
    #[inline]
    fn sub(self, d: Self) -> Self {
        Self(self.0 - d.0)
    }
}

impl SubAssign for Dur {
    #[inline]
    fn sub_assign(&mut self, d: Self) {
        self.0 -= d.0;
    }
}

impl Mul<u64> for Dur {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl Div<u64> for Dur {
    type Output = Self;
    #[inline]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

/// A sum of lengths of time, in nanoseconds.
///
/// Any number of [`Dur`] fits: 2^64 of the longest do. A counter that adds up times over requests,
/// dies or pages is one of these. 64 bits are full after 584 years, and 30,000 requests that wait a
/// week each add up to that.
///
/// ```compile_fail
/// let mut sum: u64 = 0;
/// sum += floatgate_kernel::Dur::secs(1);
/// ```
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct TimeSum(u128);

impl TimeSum {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `n` nanoseconds.
    #[inline]
    pub const fn ns(n: u128) -> Self {
        Self(n)
    }

    /// The sum in nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u128 {
        self.0
    }

    /// The sum in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The sum divided by `n`, in nanoseconds; zero if `n` is zero.
    pub fn mean_ns(self, n: u64) -> f64 {
        if n == 0 { 0.0 } else { self.0 as f64 / n as f64 }
    }
}

impl From<Dur> for TimeSum {
    #[inline]
    fn from(d: Dur) -> Self {
        Self(u128::from(d.0))
    }
}

impl Add for TimeSum {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for TimeSum {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl AddAssign<Dur> for TimeSum {
    #[inline]
    fn add_assign(&mut self, d: Dur) {
        self.0 += u128::from(d.0);
    }
}

impl Sub for TimeSum {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// So often as much.
impl Mul<u64> for TimeSum {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * u128::from(n))
    }
}

impl Sum for TimeSum {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Sum<Dur> for TimeSum {
    fn sum<I: Iterator<Item = Dur>>(iter: I) -> Self {
        iter.map(Self::from).sum()
    }
}

impl Sum for Dur {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

quantity! {
    Dur,
    QuantityKind {
        // A month or a leap year has no fixed length, so neither is here; a year is 365 days, as
        // READY counts it (5 years = 1.5768e8 s).
        units: &[
            ("y", 365 * 86_400 * 1_000_000_000),
            ("d", 86_400 * 1_000_000_000),
            ("h", 3_600 * 1_000_000_000),
            ("min", 60 * 1_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ],
        decimal: false,
        otherwise: ("ns", 1),
        slip: 1e-6,
        range: (0, u64::MAX),
        such: ", such as \"600us\"",
        no_unit: "a time needs a unit: ns, us, ms, s, min, h, d or y",
        not_a_unit: "is not a unit of time (ns, us, ms, s, min, h, d, y)",
        not_whole: "a time must be a whole number of ns below 584 years",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_length_round_trip() {
        for text in ["1ns", "600us", "3ms", "5y", "90min", "1500ns", "0ns"] {
            let d: Dur = text.parse().unwrap();
            assert_eq!(d.to_string().parse::<Dur>().unwrap(), d, "{text}");
        }
        assert_eq!("2.5ms".parse::<Dur>().unwrap(), Dur::us(2_500));
        assert_eq!("5y".parse::<Dur>().unwrap(), Dur::secs(157_680_000));
        assert_eq!("70 µs".parse::<Dur>().unwrap(), Dur::us(70));
        // A program may compute 17 digits, of which the last are rounding errors.
        assert_eq!("0.30000000000000004ms".parse::<Dur>().unwrap(), Dur::us(300));
    }

    #[test]
    fn bad_texts_say_why() {
        let time = |text: &str| text.parse::<Dur>().unwrap_err().to_string();
        assert_eq!(time("600"), "a time needs a unit: ns, us, ms, s, min, h, d or y");
        for text in ["us", "-3ms"] {
            assert_eq!(time(text), "expected a number and a unit, such as \"600us\"", "{text}");
        }
        let unit = "`weeks` is not a unit of time (ns, us, ms, s, min, h, d, y)";
        assert_eq!(time("3 weeks"), unit);
        for text in ["0.5ns", "999999y"] {
            assert_eq!(time(text), "a time must be a whole number of ns below 584 years", "{text}");
        }
    }
}

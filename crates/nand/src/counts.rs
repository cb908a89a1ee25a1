//! Counts of flash. A block of the layers above is a group of blocks of the flash, and its page a
//! mapping unit ([`UnitSizes`](crate::UnitSizes)). So numbers of the two kinds have types of their
//! own, and [`Geometry`](crate::Geometry) alone converts between them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

macro_rules! counts {
    ($($(#[$meta:meta])* $Count:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $Count(u64);

        impl $Count {
            /// None.
            pub const ZERO: Self = Self(0);

            /// This number of them.
            #[inline]
            pub const fn new(n: u64) -> Self {
                Self(n)
            }

            /// The number.
            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The number as a float, for ratios.
            #[inline]
            pub const fn as_f64(self) -> f64 {
                self.0 as f64
            }
        }

        impl Add for $Count {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $Count {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<u64> for $Count {
            type Output = Self;
            #[inline]
            fn mul(self, n: u64) -> Self {
                Self(self.0 * n)
            }
        }

        impl AddAssign for $Count {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $Count {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl Sum for $Count {
            fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
                counts.fold(Self::ZERO, Add::add)
            }
        }

        impl From<$Count> for u64 {
            #[inline]
            fn from(count: $Count) -> Self {
                count.0
            }
        }

        impl PartialEq<u64> for $Count {
            fn eq(&self, n: &u64) -> bool {
                self.0 == *n
            }
        }

        impl PartialOrd<u64> for $Count {
            fn partial_cmp(&self, n: &u64) -> Option<std::cmp::Ordering> {
                self.0.partial_cmp(n)
            }
        }

        impl fmt::Display for $Count {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

counts! {
    /// Pages of the flash: one sensing or one program reads or writes one in a plane.
    FlashPages;
    /// Blocks of the flash: one plane erases one.
    FlashBlocks;
    /// Mapping units: a map entry points to one, and a slot holds one.
    Units;
}

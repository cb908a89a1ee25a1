//! Typed indices, and vectors that know which index they take.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A dense index: converts to and from `usize` and nothing else.
pub trait Idx: Copy + Eq + Ord {
    /// The index with this number. Panics beyond `u32::MAX - 1`.
    fn new(i: usize) -> Self;
    /// The number of this index.
    fn index(self) -> usize;
}

/// Declares `u32` index types with a niche, so that an `Option` of one takes four bytes.
#[macro_export]
macro_rules! newtype_index {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(::std::num::NonZeroU32);

        impl $name {
            /// The index with this number. Panics at `u32::MAX`, the niche.
            #[inline(always)]
            #[allow(dead_code)]
            pub const fn from_u32(i: u32) -> Self {
                match ::std::num::NonZeroU32::new(i.wrapping_add(1)) {
                    Some(n) => Self(n),
                    None => panic!("index out of its u32 range"),
                }
            }

            /// The number of this index.
            #[inline(always)]
            pub const fn as_u32(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl $crate::Idx for $name {
            #[inline(always)]
            fn new(i: usize) -> Self {
                Self::from_u32(i as u32)
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.as_u32() as usize
            }
        }

        impl From<::std::num::NonZeroU32> for $name {
            #[inline(always)]
            fn from(raw: ::std::num::NonZeroU32) -> Self {
                Self(raw)
            }
        }

        impl From<$name> for ::std::num::NonZeroU32 {
            #[inline(always)]
            fn from(index: $name) -> Self {
                index.0
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.as_u32())
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}", self.as_u32())
            }
        }
    )+};
}

/// A column: a vector that only its own index type can address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    index: PhantomData<fn(I) -> T>,
}

impl<I, T> Default for IndexVec<I, T> {
    /// No entries: a column before its size is known.
    fn default() -> Self {
        Self { raw: Vec::new(), index: PhantomData }
    }
}

impl<I: Idx, T> IndexVec<I, T> {
    /// `n` copies of `value`.
    pub fn filled(value: T, n: usize) -> Self
    where
        T: Clone,
    {
        Self { raw: vec![value; n], index: PhantomData }
    }

    /// Wraps a vector whose positions are the indices.
    pub fn from_raw(raw: Vec<T>) -> Self {
        Self { raw, index: PhantomData }
    }

    /// The number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// All entries in index order.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }

    /// All entries in index order.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.raw
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: I) -> &T {
        &self.raw[i.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, i: I) -> &mut T {
        &mut self.raw[i.index()]
    }
}

/// A column in which each index stands for another one, or for none: at first all for none.
///
/// Its memory comes zeroed from the system, which gives out a page when something is set there. A
/// `vec![None; n]` of our own index types would write all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionVec<I, V> {
    raw: Vec<Option<NonZeroU32>>,
    types: PhantomData<fn(I) -> V>,
}

impl<I: Idx, V: From<NonZeroU32> + Into<NonZeroU32>> OptionVec<I, V> {
    /// `n` entries, each none.
    pub fn none(n: usize) -> Self {
        Self { raw: vec![None; n], types: PhantomData }
    }

    /// Asks the system for large pages behind the column ([`ask_for_large_pages`](crate::ask_for_large_pages)).
    pub fn ask_for_large_pages(&self) {
        crate::ask_for_large_pages(&self.raw);
    }

    /// The number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The number that `i` stands for.
    #[inline(always)]
    pub fn get(&self, i: I) -> Option<V> {
        self.raw[i.index()].map(V::from)
    }

    /// Lets `i` stand for something else, or for nothing. Returns the value that it stood for.
    #[inline(always)]
    pub fn replace(&mut self, i: I, value: Option<V>) -> Option<V> {
        std::mem::replace(&mut self.raw[i.index()], value.map(V::into)).map(V::from)
    }

    /// Asks for an entry that is looked up soon.
    #[inline(always)]
    pub fn prefetch(&self, i: I) {
        crate::prefetch(&self.raw[i.index()]);
    }
}

/// Division of `u32` by a number known only at run time: one multiplication instead of a divide.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Divisor {
    by: u32,
    /// floor((2^64 - 1) / by) = (2^64 - 1 - r) / by with r < by.
    reciprocal: u64,
}

impl Divisor {
    /// Division by `by`, which must not be zero.
    pub const fn new(by: u32) -> Self {
        assert!(by > 0, "division by zero");
        Self { by, reciprocal: u64::MAX / by as u64 }
    }

    /// The divisor.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.by
    }

    /// `n / by`.
    ///
    /// `(n + 1) * reciprocal / 2^64` falls short of `(n + 1) / by` by
    /// `(n + 1) * (1 + r) / (by * 2^64)`. That is more than 0, so nothing is rounded up. It is at
    /// most `1 / by`, because `n + 1` and `1 + r` are at most 2^32, so nothing is rounded down.
    #[inline(always)]
    pub const fn div(self, n: u32) -> u32 {
        ((self.reciprocal as u128 * (n as u128 + 1)) >> 64) as u32
    }

    /// `n % by`.
    #[inline(always)]
    pub const fn rem(self, n: u32) -> u32 {
        n - self.div(n) * self.by
    }
}

#[cfg(test)]
#[allow(unreachable_pub)] // the macro declares public types, here inside a private module
mod tests {
    use super::*;

    newtype_index! {
        /// A test index.
        Thing;
    }

    #[test]
    fn an_optional_index_takes_four_bytes() {
        assert_eq!(size_of::<Option<Thing>>(), 4);
        assert_eq!(Thing::from_u32(0).index(), 0);
        assert_eq!(Thing::from_u32(u32::MAX - 1).as_u32(), u32::MAX - 1);
    }

    #[test]
    fn what_was_set_is_there_and_nothing_else() {
        let [a, b] = [0, 1].map(Thing::from_u32);
        let mut column = OptionVec::<Thing, Thing>::none(2);
        assert_eq!((column.get(a), column.get(b), column.len()), (None, None, 2));
        assert_eq!(column.replace(b, Some(a)), None);
        assert_eq!((column.get(a), column.get(b)), (None, Some(a)));
        assert_eq!(column.replace(b, None), Some(a));
        assert_eq!(column.get(b), None);
    }

    #[test]
    #[should_panic(expected = "index out of its u32 range")]
    fn the_niche_is_no_index() {
        let _ = Thing::from_u32(u32::MAX);
    }

    #[test]
    fn division_is_exact() {
        for by in [1, 2, 3, 5, 7, 63, 64, 192, 1152, 65_537, u32::MAX - 1, u32::MAX] {
            let d = Divisor::new(by);
            for n in [0, 1, by - 1, by, by.wrapping_add(1), 12_345_678, u32::MAX - 1, u32::MAX] {
                assert_eq!((d.div(n), d.rem(n)), (n / by, n % by), "{n} / {by}");
            }
        }
    }
}

//! Values by name: closed lists of names ([`Key`]), and one value for each name ([`Each`]).
//!
//! [`keys!`](crate::keys) declares a list once. From it come the enum, the names in results, the
//! labels and descriptions for people, and the length of every array that is counted by it. Only
//! this file turns a key into an index, so a new key has a place everywhere. Nobody can write an
//! array with another length, or compute an index.
//!
//! ```compile_fail,E0605
//! let place = floatgate_nand::Source::Gc as usize; // non-primitive cast
//! ```
//! ```compile_fail,E0605
//! let place = floatgate_nand::Level::LowCost as u8;
//! ```
//! ```compile_fail,E0605
//! let place = floatgate_nand::Mode::Full as usize;
//! ```
//! ```compile_fail,E0605
//! let place = floatgate_nand::Cause::Array as usize;
//! ```
//! ```
//! use floatgate_nand::{Each, Source};
//! let mut erases = Each::<Source, u64>::default();
//! erases[Source::Gc] += 2;
//! assert_eq!((erases[Source::Gc], erases.sum()), (2, 2));
//! ```

use std::fmt::{Debug, Formatter, Result};
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{AddAssign, Index, IndexMut};

/// A name out of a closed list, which [`keys!`](crate::keys) declares.
pub trait Key: Copy + Eq + Debug + 'static {
    /// As many values as the list has names.
    #[doc(hidden)]
    type Array<T>: AsRef<[T]> + AsMut<[T]> + IntoIterator<Item = T>;

    /// All of them, in the order of results.
    const ALL: &'static [Self];

    /// Names for which results have a place and that nothing books to yet.
    const RESERVED: &'static [&'static str];

    /// The name in results: keys of JSON and columns of tables.
    fn name(self) -> &'static str;

    /// A word or two for people, as in "time by source: gc".
    fn label(self) -> &'static str;

    /// One sentence about the entries that are booked here.
    fn about(self) -> &'static str;

    /// The place of a key; only this file can make a [`KeyPlace`].
    #[doc(hidden)]
    fn place(self, _: KeyPlace) -> usize;

    /// A value for each key, in their order.
    #[doc(hidden)]
    fn array<T>(of: impl FnMut(Self) -> T) -> Self::Array<T>;
}

/// A token: only its owner can turn a key into an index.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct KeyPlace(());

/// Nothing has this type. Every list has a key that holds it, which nobody can make or has to match:
/// Rust casts no enum to a number of which a key holds something.
#[doc(hidden)]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Never {}

/// Declares a list of names, in the order of results.
///
/// The description of a key is its documentation, one sentence. Its name is the one in results, and a
/// label follows where people read another word. `default` names the key of a value that nobody set;
/// `reserved` has names for which results have a place already.
///
/// ```
/// floatgate_nand::keys! {
///     /// What weather it is.
///     pub enum Weather {
///         /// The sun shines.
///         Fair = "fair";
///         /// It rains.
///         Wet = "rain", "raining";
///     }
///     default Fair;
///     reserved "snow";
/// }
/// use floatgate_nand::Key;
/// assert_eq!(Weather::ALL.map(Weather::name), ["fair", "rain"]);
/// assert_eq!((Weather::Wet.label(), Weather::Wet.about()), ("raining", "It rains."));
/// assert_eq!((Weather::default(), <Weather as Key>::RESERVED), (Weather::Fair, &["snow"][..]));
/// ```
#[macro_export]
macro_rules! keys {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Keys:ident {
            $($(#[doc = $about:literal])+ $Key:ident = $name:literal $(, $label:literal)?;)+
        }
        $(default $default:ident;)?
        $(reserved $($reserved:literal),+;)?
    ) => {
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis enum $Keys {
            $($(#[doc = $about])+ $Key,)+
            #[doc(hidden)]
            #[allow(dead_code, reason = "nobody can make one")]
            Never($crate::Never),
        }

        $(impl Default for $Keys {
            fn default() -> Self {
                Self::$default
            }
        })?

        impl $Keys {
            /// How many there are.
            $vis const COUNT: usize = [$(stringify!($Key)),+].len();

            /// All of them, in the order of results.
            $vis const ALL: [Self; Self::COUNT] = [$(Self::$Key),+];

            /// The name in results.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Key => $name,)+
                }
            }
        }

        impl $crate::Key for $Keys {
            type Array<T> = [T; $Keys::COUNT];

            const ALL: &'static [Self] = &$Keys::ALL;

            const RESERVED: &'static [&'static str] = &[$($($reserved),+)?];

            fn name(self) -> &'static str {
                $Keys::name(self)
            }

            fn label(self) -> &'static str {
                match self {
                    $(Self::$Key => $crate::keys!(@label $name $($label)?),)+
                }
            }

            fn about(self) -> &'static str {
                match self {
                    $(Self::$Key => concat!($($about),+).trim_ascii(),)+
                }
            }

            #[inline(always)]
            fn place(self, _: $crate::KeyPlace) -> usize {
                #[allow(clippy::enum_variant_names, reason = "they are those of the keys")]
                enum Place { $($Key),+ }
                // The number of the key, as a cast: the compiler then knows that it is a place of the
                // array.
                let place = match self {
                    $(Self::$Key => Place::$Key,)+
                };
                place as usize
            }

            #[inline(always)]
            fn array<T>(of: impl FnMut(Self) -> T) -> [T; $Keys::COUNT] {
                $Keys::ALL.map(of)
            }
        }
    };
    (@label $name:literal) => { $name };
    (@label $name:literal $label:literal) => { $label };
}

/// One value for each key of a list.
pub struct Each<K: Key, T>(K::Array<T>);

impl<K: Key, T> Each<K, T> {
    /// The values that a function gives, in the order of the keys.
    #[inline]
    pub fn from_fn(of: impl FnMut(K) -> T) -> Self {
        Self(K::array(of))
    }

    /// The same value for every key.
    #[inline]
    pub fn filled(value: T) -> Self
    where
        T: Clone,
    {
        Self::from_fn(|_| value.clone())
    }

    /// The values, in the order of the keys.
    #[inline(always)]
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator + Clone {
        self.0.as_ref().iter()
    }

    /// The values, to be changed.
    #[inline(always)]
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut T> {
        self.0.as_mut().iter_mut()
    }

    /// Each key with its value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K, &T)> {
        K::ALL.iter().copied().zip(self.values())
    }

    /// Each key with its value, to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (K, &mut T)> {
        K::ALL.iter().copied().zip(self.values_mut())
    }

    /// Something of each value.
    #[inline]
    pub fn map<U>(&self, mut of: impl FnMut(&T) -> U) -> Each<K, U> {
        Each::from_fn(|key| of(&self[key]))
    }

    /// Combines the two values of each key.
    #[inline]
    pub fn zip<U, V>(&self, other: &Each<K, U>, mut of: impl FnMut(&T, &U) -> V) -> Each<K, V> {
        Each::from_fn(|key| of(&self[key], &other[key]))
    }

    /// The sum over all keys.
    #[inline]
    pub fn sum<S: Sum<T>>(&self) -> S
    where
        T: Copy,
    {
        self.values().copied().sum()
    }
}

impl<K: Key, N: Copy + Sum> Each<K, N> {
    /// The sum over all keys.
    #[inline]
    pub fn total(&self) -> N {
        self.sum()
    }
}

impl<K: Key, T> Index<K> for Each<K, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, key: K) -> &T {
        &self.0.as_ref()[key.place(KeyPlace(()))]
    }
}

impl<K: Key, T> IndexMut<K> for Each<K, T> {
    #[inline(always)]
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.0.as_mut()[key.place(KeyPlace(()))]
    }
}

impl<K: Key, T: AddAssign + Copy> AddAssign<&Self> for Each<K, T> {
    #[inline]
    fn add_assign(&mut self, other: &Self) {
        self.values_mut().zip(other.values()).for_each(|(sum, more)| *sum += *more);
    }
}

impl<K: Key, T> IntoIterator for Each<K, T> {
    type Item = (K, T);
    type IntoIter = std::iter::Zip<
        std::iter::Copied<std::slice::Iter<'static, K>>,
        <K::Array<T> as IntoIterator>::IntoIter,
    >;

    fn into_iter(self) -> Self::IntoIter {
        K::ALL.iter().copied().zip(self.0)
    }
}

impl<K: Key, T: Copy> Copy for Each<K, T> where K::Array<T>: Copy {}

#[expect(clippy::expl_impl_clone_on_copy, reason = "only some values can be copied")]
impl<K: Key, T: Clone> Clone for Each<K, T>
where
    K::Array<T>: Clone,
{
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Key, T: Default> Default for Each<K, T> {
    #[inline]
    fn default() -> Self {
        Self::from_fn(|_| T::default())
    }
}

impl<K: Key, T: PartialEq> PartialEq for Each<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref() == other.0.as_ref()
    }
}

impl<K: Key, T: Eq> Eq for Each<K, T> {}

impl<K: Key, T: Debug> Debug for Each<K, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A column of keys. Each key takes 1, 2, 4 or 8 bits, as few as the list needs.
#[derive(Clone, Debug)]
pub struct Packed<K> {
    bytes: Vec<u8>,
    of: PhantomData<K>,
}

impl<K: Key> Packed<K> {
    const BITS: usize =
        (usize::BITS - (K::ALL.len() - 1).leading_zeros()).next_power_of_two() as usize;
    const IN_A_BYTE: usize = 8 / Self::BITS;
    const MASK: u8 = u8::MAX >> (8 - Self::BITS);

    /// `len` equal keys.
    pub fn filled(key: K, len: usize) -> Self {
        let code = key.place(KeyPlace(())) as u8;
        let byte = (0..Self::IN_A_BYTE).fold(0, |byte, at| byte | code << (at * Self::BITS));
        Self { bytes: vec![byte; len.div_ceil(Self::IN_A_BYTE)], of: PhantomData }
    }

    /// The key at a place.
    #[inline]
    pub fn get(&self, at: usize) -> K {
        let byte = self.bytes[at / Self::IN_A_BYTE];
        K::ALL[usize::from(byte >> (at % Self::IN_A_BYTE * Self::BITS) & Self::MASK)]
    }

    /// Changes the key at a place.
    #[inline]
    pub fn set(&mut self, at: usize, key: K) {
        let shift = at % Self::IN_A_BYTE * Self::BITS;
        let byte = &mut self.bytes[at / Self::IN_A_BYTE];
        *byte = *byte & !(Self::MASK << shift) | (key.place(KeyPlace(())) as u8) << shift;
    }
}

/// Keys as a column of words: the code of each key, and the words for the codes.
pub fn words<K: Key>(keys: impl Iterator<Item = K>) -> (Vec<u8>, Vec<&'static str>) {
    let codes = keys.map(|key| key.place(KeyPlace(())) as u8).collect();
    (codes, K::ALL.iter().map(|key| key.name()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Mode, Source};
    use kernel::Rng;

    /// In every list, places follow the order, each once, and names differ.
    fn in_order<K: Key>() {
        let mut each = Each::<K, usize>::default();
        for (place, key) in K::ALL.iter().enumerate() {
            each[*key] += place + 1;
        }
        let values: Vec<_> = each.values().copied().collect();
        assert_eq!(values, (1..=K::ALL.len()).collect::<Vec<_>>());
        assert!(each.iter().map(|(key, _)| key).eq(K::ALL.iter().copied()));
        let sum = each.sum::<usize>();
        assert_eq!(each.into_iter().map(|(_, n)| n).sum::<usize>(), sum);
        let mut names: Vec<_> = K::ALL.iter().map(|key| key.name()).collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for key in K::ALL {
            assert!(!key.label().is_empty() && key.about().ends_with('.'), "{key:?}");
        }
    }

    #[test]
    fn every_list_has_places_in_its_order() {
        in_order::<Source>();
        in_order::<crate::Cause>();
        in_order::<Level>();
        in_order::<Mode>();
    }

    #[test]
    fn two_are_added_and_zipped_by_key() {
        let mut sum =
            Each::<Level, u64>::from_fn(|level| if level == Level::LowCost { 5 } else { 1 });
        let other = Each::filled(10);
        sum += &other;
        assert_eq!((sum[Level::LowCost], sum[Level::HighCost], sum.sum::<u64>()), (15, 11, 37));
        let less = sum.zip(&other, |a, b| a - b);
        assert_eq!((less[Level::LowCost], less[Level::MediumCost]), (5, 1));
        assert_eq!(format!("{less:?}"), "{HighCost: 1, MediumCost: 1, LowCost: 5}");
    }

    /// Columns of lists that need one, two and four bits, against a plain column.
    fn packs<K: Key>() {
        let mut rng = Rng::named(1, "test/packed");
        let mut plain = [K::ALL[0]; 77];
        let mut packed = Packed::filled(K::ALL[0], plain.len());
        for _ in 0..2_000 {
            let (at, key) = (rng.below(77) as usize, rng.below(K::ALL.len() as u32));
            plain[at] = K::ALL[key as usize];
            packed.set(at, plain[at]);
            assert!((0..77).all(|at| packed.get(at) == plain[at]));
        }
        assert!((0..9).all(|at| Packed::filled(plain[at], 9).get(8) == plain[at]));
    }

    crate::keys! {
        /// Two.
        enum Two {
            /// One of them.
            First = "first";
            /// The other.
            Second = "second";
        }
    }

    #[test]
    fn a_column_holds_what_was_put_there() {
        assert_eq!([Packed::<Two>::BITS, Packed::<Level>::BITS, Packed::<Source>::BITS], [1, 2, 4]);
        packs::<Two>();
        packs::<Level>();
        packs::<Source>();
        let (codes, names) = words([Two::Second, Two::First].into_iter());
        assert_eq!((codes, names), (vec![1, 0], vec!["first", "second"]));
    }
}

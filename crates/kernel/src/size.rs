//! Sizes in bytes.

use crate::quantity::{QuantityKind, quantity};

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

/// Binary units first, so that `Display` prefers them; some people write `KB`.
const UNITS: [(&str, u64); 10] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("KB", 1_000),
];

quantity! {
    Bytes,
    QuantityKind {
        units: &UNITS,
        decimal: false,
        otherwise: ("B", 1),
        slip: 0.0,
        range: (0, u64::MAX),
        such: ", such as \"4KiB\"",
        no_unit: "a size needs a unit: B, KiB, MiB, GiB, TiB, kB, MB, GB or TB",
        not_a_unit: "is not a unit of size (B, KiB, MiB, GiB, TiB; kB, MB, GB, TB are decimal)",
        not_whole: "a size must be a whole number of bytes below 2^64",
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
        for (text, bytes) in
            [("1.5KiB", 1536), ("4KB", 4000), ("4.1 MB", 4_100_000), (".5KiB", 512)]
        {
            assert_eq!(text.parse::<Bytes>().unwrap(), Bytes::new(bytes), "{text}");
        }
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
        let size = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert!(size("4096").starts_with("a size needs a unit: B, KiB"));
        assert!(size("4 pages").starts_with("`pages` is not a unit of size (B, KiB"));
        assert_eq!(size("KiB"), "expected a number and a unit, such as \"4KiB\"");
        for text in ["0.3B", "1.1GiB", "20000000TiB"] {
            assert_eq!(size(text), "a size must be a whole number of bytes below 2^64", "{text}");
        }
    }
}

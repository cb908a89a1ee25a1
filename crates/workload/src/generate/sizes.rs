//! How large requests are.

use std::fmt;

use kernel::{Bytes, Rng};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The size of requests: always the same, or a mix.
#[derive(Clone, PartialEq, Debug)]
pub enum Size {
    /// One size, written `"4KiB"`.
    One(Bytes),
    /// Sizes with their shares, written `[{ size = "4KiB", share = 0.7 }, …]`.
    Mix(Vec<MixShare>),
}

/// One size of a mix.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MixShare {
    /// The size.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub size: Bytes,
    /// The share of the requests that have it, 0 to 1.
    pub share: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn as_text<S: Serializer>(size: &Bytes, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(size)
}

fn from_text<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from)?.parse().map_err(de::Error::custom)
}

impl Size {
    /// Random addresses are multiples of this unless the user sets another value. It is the size
    /// itself, so requests never overlap in part, and 4 KiB for a mix, as in fio's JESD219 job.
    pub(super) fn alignment(&self) -> u64 {
        match self {
            Self::One(size) => size.get(),
            Self::Mix(_) => 4096,
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(size) => out.collect_str(size),
            Self::Mix(shares) => shares.serialize(out),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"4KiB\", or a list of { size, share }")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                text.parse().map(Size::One).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Size, A::Error> {
                let mut shares = Vec::new();
                while let Some(share) = list.next_element()? {
                    shares.push(share);
                }
                Ok(Size::Mix(shares))
            }
        }

        from.deserialize_any(Either)
    }
}

/// Draws sizes.
#[derive(Debug)]
pub(super) struct SizePicker {
    /// The size and the bound below which a draw of 64 bits means it, ascending; the last bound
    /// is open.
    bounds: Vec<(u64, u32)>,
}

/// As in traces: more in one request is a mistake.
pub(super) const LARGEST: u64 = 1 << 30;

impl SizePicker {
    /// Checks the sizes; an error names the mistake.
    pub(super) fn new(size: &Size) -> Result<Self, String> {
        let shares = match size {
            Size::One(size) => &[MixShare { size: *size, share: 1.0 }][..],
            Size::Mix(shares) => shares,
        };
        let mut bounds = Vec::with_capacity(shares.len());
        let mut sum = 0.0;
        for &MixShare { size, share } in shares {
            if !(1..=LARGEST).contains(&size.get()) {
                return Err(format!("a size of {size}"));
            }
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("a share of {share} for {size}"));
            }
            sum += share;
            bounds.push((super::below(sum), size.get() as u32));
        }
        if (sum - 1.0).abs() > 1e-6 {
            return Err(format!("shares that add up to {sum}"));
        }
        // A last entry of share 0 must not take the remainder of rounding.
        let last = shares.iter().rposition(|s| s.share > 0.0).unwrap_or(0);
        bounds.truncate(last + 1);
        Ok(Self { bounds })
    }

    #[inline(always)]
    pub(super) fn draw(&self, rng: &mut Rng) -> u32 {
        let [(_, only)] = self.bounds[..] else { return self.draw_mix(rng.bits()) };
        only
    }

    #[inline]
    fn draw_mix(&self, bits: u64) -> u32 {
        let (rest, last) = self.bounds.split_at(self.bounds.len() - 1);
        rest.iter().find(|(bound, _)| bits < *bound).unwrap_or(&last[0]).1
    }

    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.bounds.iter().map(|b| b.1)
    }

    /// The mean, in bytes.
    pub(super) fn mean(&self) -> f64 {
        let mut below = 0;
        let mut sum = 0.0;
        for (bound, size) in &self.bounds {
            sum += (bound - below) as f64 * f64::from(*size);
            below = *bound;
        }
        sum / below as f64
    }

    pub(super) fn largest(&self) -> u32 {
        self.all().max().unwrap_or(0)
    }
}

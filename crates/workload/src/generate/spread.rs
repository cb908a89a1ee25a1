//! The addresses of requests.

use kernel::Rng;

use super::conversations::Offload;
use super::permutation::Passes;
use super::zipf::Zipf;

/// How requests spread over the aligned places ("slots") of the address space.
#[derive(Debug)]
pub(super) enum SlotSpread {
    Uniform { slots: u64 },
    Sequential,
    Zones(Zones),
    Zipf(Zipf),
    Passes(Passes),
    Offload(Offload),
}

/// Consecutive zones, uniform inside, each with its share of the accesses.
#[derive(Debug)]
pub(super) struct Zones {
    /// Draws of 64 bits below the bound go to the zone from `first` on with `count` slots.
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    below: u64,
    first: u64,
    count: u64,
}

impl Zones {
    /// Splits `slots` by pairs of (share of the slots, share of the accesses); `None` if a zone
    /// would be left without a slot.
    pub(super) fn new(slots: u64, shares: &[(f64, f64)]) -> Option<Self> {
        let mut zones = Vec::with_capacity(shares.len());
        let (mut first, mut data, mut accesses) = (0, 0.0, 0.0);
        for (i, (data_share, access_share)) in shares.iter().enumerate() {
            data += data_share;
            accesses += access_share;
            let end =
                if i + 1 == shares.len() { slots } else { (data * slots as f64).round() as u64 };
            if end <= first {
                return None;
            }
            zones.push(Zone { below: super::below(accesses), first, count: end - first });
            first = end;
        }
        Some(Self { zones })
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let bits = rng.bits();
        let last = self.zones.len() - 1;
        let zone = self.zones[..last].iter().find(|z| bits < z.below).unwrap_or(&self.zones[last]);
        zone.first + rng.below_u64(zone.count)
    }
}

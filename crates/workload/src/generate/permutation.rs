//! Random passes: each pass goes once over every place, in random order.
//!
//! A Feistel network over at least as many numbers as there are places is a permutation of them. A
//! number beyond the last place goes through it again until it names a place ("cycle walking":
//! J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). This needs no
//! table, so a drive of any size takes a few bytes.

use serde::{Deserialize, Serialize};

/// Whether each pass of `permutation` has an order of its own.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassOrder {
    /// Each pass draws a new order.
    #[default]
    Redrawn,
    /// Every pass has the order of the first.
    Repeated,
}

/// Rounds of the network. Four make it a pseudo-random permutation (Luby and Rackoff, 1988); two
/// more cost little and let halves of few bits mix.
const ROUNDS: u64 = 6;

/// The passes over all places.
#[derive(Debug)]
pub(super) struct Passes {
    places: u64,
    order: PassOrder,
    key: u64,
    /// Bits of the left and of the right half.
    halves: (u32, u32),
}

impl Passes {
    /// `places` at least 1; `key` says which orders are drawn.
    pub(super) fn new(places: u64, order: PassOrder, key: u64) -> Self {
        let bits = (u64::BITS - (places - 1).leading_zeros()).max(2);
        Self { places, order, key, halves: (bits / 2, bits - bits / 2) }
    }

    /// The place of the `n`-th request, counted from 0.
    #[inline]
    pub(super) fn place(&self, n: u64) -> u64 {
        let pass = match self.order {
            PassOrder::Redrawn => n / self.places,
            PassOrder::Repeated => 0,
        };
        let key = mixed(self.key ^ mixed(pass));
        let mut place = n % self.places;
        loop {
            place = self.network(place, key);
            if place < self.places {
                return place;
            }
        }
    }

    /// The first request of the pass that begins after this number of requests.
    pub(super) fn first_after(&self, requests: u64) -> u64 {
        requests.div_ceil(self.places).saturating_mul(self.places)
    }

    /// One step of the network. The halves change places in each round, and their number is even.
    #[inline]
    fn network(&self, number: u64, key: u64) -> u64 {
        let (mut left_bits, mut right_bits) = self.halves;
        let (mut left, mut right) = (number >> right_bits, number & mask(right_bits));
        for round in 0..ROUNDS {
            let next = left ^ mixed(right ^ key.wrapping_add(round)) & mask(left_bits);
            (left, right) = (right, next);
            (left_bits, right_bits) = (right_bits, left_bits);
        }
        left << right_bits | right
    }
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
#[inline]
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(passes: &Passes, number: u64) -> Vec<u64> {
        (0..passes.places).map(|n| passes.place(number * passes.places + n)).collect()
    }

    fn sorted(mut places: Vec<u64>) -> Vec<u64> {
        places.sort_unstable();
        places
    }

    #[test]
    fn each_pass_goes_once_over_every_place() {
        for places in (1..=40).chain([1_000, 1_024, 4_097, 100_003]) {
            for order in [PassOrder::Redrawn, PassOrder::Repeated] {
                let passes = Passes::new(places, order, 7);
                for number in 0..3 {
                    assert!(sorted(pass(&passes, number)).into_iter().eq(0..places), "{places}");
                }
            }
        }
    }

    #[test]
    fn orders_are_drawn_again_or_repeated() {
        let of = |order, key| Passes::new(5_000, order, key);
        let redrawn = of(PassOrder::Redrawn, 1);
        let same = |a: &[u64], b: &[u64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        // Two random orders have one place in common on average, and Poisson's law bounds the rest.
        assert!(same(&pass(&redrawn, 0), &pass(&redrawn, 1)) < 10);
        assert!(same(&pass(&redrawn, 0), &pass(&of(PassOrder::Redrawn, 2), 0)) < 10);
        let repeated = of(PassOrder::Repeated, 1);
        assert_eq!(pass(&repeated, 0), pass(&repeated, 9));
        assert_eq!(pass(&repeated, 0), pass(&redrawn, 0));
    }

    /// The laws of a random order: its mean step is a third of the places, and one triple in six
    /// ascends. A place that depended on its neighbour or its turn would break them.
    #[test]
    fn an_order_is_as_uneven_as_a_random_one() {
        let places = 100_000_u64;
        let order = pass(&Passes::new(places, PassOrder::Redrawn, 3), 0);
        let steps: f64 = order.windows(2).map(|w| w[0].abs_diff(w[1]) as f64).sum();
        let mean = steps / (places - 1) as f64 / places as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.005, "{mean}");
        let ascends = order.windows(3).filter(|w| w[0] < w[1] && w[1] < w[2]).count() as f64;
        assert!((ascends / places as f64 - 1.0 / 6.0).abs() < 0.005, "{ascends}");
        // Places by turn: 16 x 16 cells of equal size, each with 1/256 of all. Chi-squared with
        // some 225 degrees of freedom lies below 310 but for one in 10,000.
        let mut cells = [[0_u32; 16]; 16];
        for (turn, &place) in (0_u64..).zip(&order) {
            cells[(turn * 16 / places) as usize][(place * 16 / places) as usize] += 1;
        }
        let expected = places as f64 / 256.0;
        let squares: f64 =
            cells.iter().flatten().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(squares < 310.0, "{squares}");
    }
}

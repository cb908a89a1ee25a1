//! Drawing from shares.

use kernel::Rng;

/// Items with their shares, drawn in constant time (Walker's alias method as Vose makes the table:
/// IEEE TSE 17(9), 1991).
#[derive(Clone, Debug)]
pub(super) struct Draw<T> {
    /// An item, the other item of its place, and the bound of draws below which the former is
    /// meant.
    places: Vec<(T, T, u32)>,
}

impl<T: Copy> Draw<T> {
    /// At least one item. Shares need not add up to 1.
    pub(super) fn new(items: &[(T, f64)]) -> Self {
        let n = items.len() as f64;
        let sum: f64 = items.iter().map(|i| i.1).sum();
        let even = |share: f64| if sum > 0.0 { share * n / sum } else { 1.0 };
        let mut parts: Vec<f64> = items.iter().map(|i| even(i.1)).collect();
        let mut places: Vec<(T, T, u32)> = items.iter().map(|i| (i.0, i.0, u32::MAX)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..items.len()).partition(|&i| parts[i] < 1.0);
        while let (Some(&little), Some(&much)) = (small.last(), large.last()) {
            small.pop();
            places[little].1 = items[much].0;
            places[little].2 = (parts[little] * 2.0_f64.powi(32)) as u32;
            parts[much] -= 1.0 - parts[little];
            if parts[much] < 1.0 {
                large.pop();
                small.push(much);
            }
        }
        Self { places }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> T {
        if let [(only, ..)] = self.places[..] {
            return only;
        }
        let bits = rng.bits();
        let place = (((bits >> 32) * self.places.len() as u64) >> 32) as usize;
        let (item, other, below) = self.places[place];
        if (bits as u32) < below { item } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_as_often_as_their_shares_say() {
        let shares = [0.5, 0.0, 0.3, 0.15, 0.05];
        let items: Vec<(usize, f64)> = shares.into_iter().enumerate().collect();
        let draw = Draw::new(&items);
        let mut rng = Rng::named(1, "draw");
        let mut seen = [0_u32; 5];
        for _ in 0..200_000 {
            seen[draw.draw(&mut rng)] += 1;
        }
        for (seen, share) in seen.into_iter().zip(shares) {
            let deviation = (2e5 * share * (1.0 - share)).sqrt();
            assert!((f64::from(seen) - 2e5 * share).abs() <= 4.5 * deviation, "{seen}: {share}");
        }
    }
}

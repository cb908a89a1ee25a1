//! The operations that wait for each die, and the die with the fewest.

use kernel::{Idx, IndexVec};
use nand::DieId;
use std::cell::Cell;

/// Dies of a group, whose least number is kept. A group has as many dies as a word has bits.
const GROUP: usize = u64::BITS as usize;

/// Page operations waiting for or running on each die.
///
/// To find the die with the fewest waiting operations, not all dies are compared. Each group of
/// dies keeps its least number and the dies that have it. It is computed again only when no die of
/// the group has it any more.
#[derive(Clone, Debug)]
pub struct Waiting {
    counts: IndexVec<DieId, u32>,
    least: Vec<Cell<Least>>,
    /// Counts and groups that were examined.
    #[cfg(test)]
    looked: Cell<u64>,
}

/// The least of a group of dies.
#[derive(Copy, Clone, Debug)]
struct Least {
    /// It is too low if no die has it.
    count: u32,
    /// A bit for each die that has it.
    dies: u64,
}

impl Waiting {
    /// Counts of `dies` dies, for which nothing waits.
    pub fn nothing(dies: usize) -> Self {
        Self::of(vec![0; dies])
    }

    /// The number of waiting operations for each die.
    pub fn of(counts: Vec<u32>) -> Self {
        let groups = counts.chunks(GROUP).map(|group| Cell::new(Least::of(group)));
        Self {
            least: groups.collect(),
            counts: IndexVec::from_raw(counts),
            #[cfg(test)]
            looked: Cell::new(0),
        }
    }

    /// One more waits for a die.
    #[inline]
    pub fn add(&mut self, die: DieId) {
        self.counts[die] += 1;
        let (group, bit) = Self::place(die);
        self.least[group].get_mut().dies &= !bit;
    }

    /// One less waits for a die.
    #[inline]
    pub fn remove(&mut self, die: DieId) {
        let count = &mut self.counts[die];
        *count -= 1;
        let (group, bit) = Self::place(die);
        let least = self.least[group].get_mut();
        if *count < least.count {
            *least = Least { count: *count, dies: bit };
        } else if *count == least.count {
            least.dies |= bit;
        }
    }

    /// The group of a die, and its bit there.
    #[inline(always)]
    fn place(die: DieId) -> (usize, u64) {
        (die.index() / GROUP, 1 << (die.index() % GROUP))
    }

    /// By die.
    pub fn as_slice(&self) -> &[u32] {
        self.counts.as_slice()
    }

    /// The number of dies.
    #[expect(clippy::len_without_is_empty, reason = "a drive has a die")]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The die with the least waiting among those that `takes` accepts, the first from `turn` on,
    /// round and round.
    pub fn least(&self, turn: usize, takes: impl Fn(usize) -> bool) -> Option<usize> {
        let least = (0..self.least.len()).map(|group| self.least_of(group).count).min()?;
        let first = turn / GROUP;
        // The first group is scanned twice: from `turn` on, and at the end up to it.
        let (from_turn, groups) = (u64::MAX << (turn % GROUP), self.least.len());
        let others = (first + 1..groups).chain(0..first).map(|group| (group, u64::MAX));
        let parts = [(first, from_turn)].into_iter().chain(others).chain([(first, !from_turn)]);
        for (group, part) in parts {
            let Least { count, dies } = self.least[group].get();
            let mut dies = if count == least { dies & part } else { 0 };
            while dies != 0 {
                let die = group * GROUP + dies.trailing_zeros() as usize;
                if takes(die) {
                    return Some(die);
                }
                dies &= dies - 1;
            }
        }
        self.least_of_all(turn, takes)
    }

    /// The least of a group.
    fn least_of(&self, group: usize) -> Least {
        self.look(1);
        let mut least = self.least[group].get();
        if least.dies == 0 {
            let dies = group * GROUP..self.counts.len().min((group + 1) * GROUP);
            self.look(dies.len());
            least = Least::of(&self.counts.as_slice()[dies]);
            self.least[group].set(least);
        }
        least
    }

    /// The same if no die with the least number is accepted: all dies are examined.
    #[cold]
    fn least_of_all(&self, turn: usize, takes: impl Fn(usize) -> bool) -> Option<usize> {
        let counts = self.counts.as_slice();
        let in_turn = (turn..counts.len()).chain(0..turn);
        in_turn.filter(|&die| takes(die)).min_by_key(|&die| counts[die])
    }

    #[cfg(test)]
    fn look(&self, at: usize) {
        self.looked.set(self.looked.get() + at as u64);
    }

    #[cfg(not(test))]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "only tests count")]
    fn look(&self, _: usize) {}
}

impl Least {
    /// Of the dies with these counts. As `i32`, whose minimum processors have in vector form: counts are
    /// far below.
    fn of(counts: &[u32]) -> Self {
        let least = counts.iter().fold(i32::MAX, |least, count| least.min(count.cast_signed()));
        let count = least.cast_unsigned();
        let bits = counts.iter().enumerate().map(|(at, &other)| u64::from(other == count) << at);
        Self { count, dies: bits.fold(0, |dies, bit| dies | bit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    /// The result of a scan of all dies.
    fn scanned(counts: &[u32], turn: usize, takes: impl Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<(u32, usize)> = None;
        for die in (turn..counts.len()).chain(0..turn) {
            if takes(die) && best.is_none_or(|(least, _)| counts[die] < least) {
                best = Some((counts[die], die));
            }
        }
        best.map(|(_, die)| die)
    }

    #[test]
    fn the_least_is_that_of_a_scan() {
        let mut rng = Rng::named(1, "test/waiting");
        for dies in [1_u32, 2, 63, 64, 65, 200, 1000] {
            let mut waiting = Waiting::nothing(dies as usize);
            let mut plain = vec![0_u32; dies as usize];
            for step in 0..4_000 {
                let die = DieId::from_u32(rng.below(dies));
                if rng.below(5) < 2 && plain[die.index()] > 0 {
                    waiting.remove(die);
                    plain[die.index()] -= 1;
                } else {
                    waiting.add(die);
                    plain[die.index()] += 1;
                }
                let turn = rng.below(dies) as usize;
                // Now and then most dies accept nothing, or none does.
                let takes = |die: usize| match step % 7 {
                    0 => die % 5 == 0,
                    1 => step % 2 == 0,
                    _ => true,
                };
                assert_eq!(waiting.least(turn, takes), scanned(&plain, turn, takes), "{dies}");
                assert_eq!(waiting.as_slice(), plain);
            }
        }
    }

    /// Writes go to the least loaded die as other operations end: the entries examined for each
    /// hardly grow.
    #[test]
    fn sixty_four_times_the_dies_are_not_looked_at() {
        let looked = |dies: u32| {
            let mut rng = Rng::named(2, "test/waiting");
            let mut waiting = Waiting::nothing(dies as usize);
            let mut turn = 0;
            let writes = 20 * u64::from(dies);
            for i in 0..writes {
                let die = waiting.least(turn, |_| true).unwrap();
                waiting.add(DieId::from_u32(die as u32));
                turn = (die + 1) % dies as usize;
                // Four for each die on average; from then on as many end as come.
                if i >= 4 * u64::from(dies) {
                    let done = (0..).map(|_| DieId::from_u32(rng.below(dies)));
                    let mut busy = done.filter(|die| waiting.as_slice()[die.index()] > 0);
                    let die = busy.next().unwrap();
                    waiting.remove(die);
                }
            }
            waiting.looked.get() as f64 / writes as f64
        };
        let [few, many] = [64, 4096].map(looked);
        // The leasts of 64 groups, and now and then those of one group computed anew.
        assert!(few < 10.0 && many < 200.0, "{few:.1} became {many:.1}");
    }
}

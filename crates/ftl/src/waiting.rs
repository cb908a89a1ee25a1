//! How much waits for each die, and which die has the least.

use kernel::{Idx, IndexVec};
use nand::DieId;
use std::cell::Cell;

/// Dies of a group, whose least is kept; groups of a word of `stale`.
const GROUP: usize = 64;

/// Page operations waiting for or running on each die.
///
/// Whoever looks for the die with the least does not look at all of them: the least of each group of
/// dies is kept, and looked up anew only where it may have risen since.
#[derive(Clone, Debug)]
pub struct Waiting {
    counts: IndexVec<DieId, u32>,
    /// Of each group the least; it may be too low where the group is stale.
    least: Vec<Cell<u32>>,
    /// A bit for each group.
    stale: Vec<Cell<u64>>,
    /// Counts and groups that were looked at.
    #[cfg(test)]
    looked: Cell<u64>,
}

impl Waiting {
    /// Nothing waits for any of so many dies.
    pub fn nothing(dies: usize) -> Self {
        Self::of(vec![0; dies])
    }

    /// So many operations wait for each die.
    pub fn of(counts: Vec<u32>) -> Self {
        let groups = counts.len().div_ceil(GROUP);
        Self {
            counts: IndexVec::from_raw(counts),
            least: vec![Cell::new(0); groups],
            stale: (0..groups.div_ceil(GROUP)).map(|_| Cell::new(u64::MAX)).collect(),
            #[cfg(test)]
            looked: Cell::new(0),
        }
    }

    /// One more waits for a die.
    #[inline]
    pub fn add(&mut self, die: DieId) {
        let group = die.index() / GROUP;
        let count = &mut self.counts[die];
        // It may have been the only one with the least.
        if *count == self.least[group].get() {
            let stale = &self.stale[group / GROUP];
            stale.set(stale.get() | 1 << (group % GROUP));
        }
        *count += 1;
    }

    /// One less waits for a die.
    #[inline]
    pub fn remove(&mut self, die: DieId) {
        let group = die.index() / GROUP;
        let count = &mut self.counts[die];
        *count -= 1;
        if *count < self.least[group].get() {
            self.least[group].set(*count);
            let stale = &self.stale[group / GROUP];
            stale.set(stale.get() & !(1 << (group % GROUP)));
        }
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
        self.refresh();
        let least = least(self.least.iter().map(Cell::get));
        self.look(self.least.len());
        let (first, dies) = (turn / GROUP, self.counts.len());
        let groups = (first..self.least.len()).chain(0..=first);
        for (i, group) in groups.enumerate() {
            if self.least[group].get() != least {
                continue;
            }
            let (from, to) = (group * GROUP, dies.min((group + 1) * GROUP));
            // The group of the turn comes twice: from the turn on, and in the end up to it.
            let (from, to) = match (group == first, i) {
                (false, _) => (from, to),
                (true, 0) => (turn, to),
                (true, _) => (from, turn),
            };
            self.look(to - from);
            let found = self.counts.as_slice()[from..to].iter().zip(from..);
            let mut found = found.filter(|&(&count, die)| count == least && takes(die));
            if let Some((_, die)) = found.next() {
                return Some(die);
            }
        }
        self.least_of_all(turn, takes)
    }

    /// The same where no die with the least of all is accepted: all are looked at.
    #[cold]
    fn least_of_all(&self, turn: usize, takes: impl Fn(usize) -> bool) -> Option<usize> {
        let counts = self.counts.as_slice();
        let in_turn = (turn..counts.len()).chain(0..turn);
        in_turn.filter(|&die| takes(die)).min_by_key(|&die| counts[die])
    }

    fn refresh(&self) {
        for (at, stale) in self.stale.iter().enumerate() {
            let mut groups = stale.take();
            while groups != 0 {
                let group = at * GROUP + groups.trailing_zeros() as usize;
                groups &= groups - 1;
                let Some(counts) = self.counts.as_slice().chunks(GROUP).nth(group) else { break };
                self.look(counts.len());
                self.least[group].set(least(counts.iter().copied()));
            }
        }
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

/// The least of some counts. As `i32`, whose minimum processors have in vector form: counts are far below.
#[inline]
fn least(counts: impl Iterator<Item = u32>) -> u32 {
    counts.fold(i32::MAX, |least, count| least.min(count.cast_signed())).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    /// What a scan of all dies finds.
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
                // Now and then most dies take nothing, or none does.
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

    /// Writes go to the least loaded die as others are done: what is looked at for each hardly grows.
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
                // Four for each die on average, then as many are done as come.
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
        assert!(many < 300.0 && many < 4.0 * few, "{few:.1} became {many:.1}");
    }
}

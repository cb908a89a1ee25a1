//! The record of one page: 24 bytes, enough for its class, for every window's
//! identifications and for its place in the order of last touches.

use crate::Op;

/// The record of a page.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Page {
    pub(super) reads: u32,
    pub(super) writes: u32,
    /// Touches of another kind than the one before.
    changes: u32,
    /// Reads after exactly one read: the touch before was a read, the one before that a write.
    second_reads: u32,
    /// Writes after exactly one write, likewise.
    second_writes: u32,
    /// The slot of the last touch, and three bits.
    last: u32,
}

const _: () = assert!(size_of::<Page>() == 24);

const FIRST_READ: u32 = 1 << 29;
const BEFORE_READ: u32 = 1 << 30;
const LATEST_READ: u32 = 1 << 31;
/// Slots are below this.
pub(super) const SLOTS: u32 = FIRST_READ;

/// The class of a page by its touches (AGCR, Section 3.1).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum PageClass {
    /// More than 95 % reads.
    ReadOnly,
    /// More than 95 % writes.
    WriteOnly,
    /// Neither.
    Interleaved,
}

impl Page {
    #[inline]
    pub(super) fn is_new(self) -> bool {
        self.reads | self.writes == 0
    }

    #[inline]
    pub(super) fn slot(self) -> u32 {
        self.last & (SLOTS - 1)
    }

    #[inline]
    pub(super) fn set_slot(&mut self, slot: u32) {
        debug_assert!(slot < SLOTS);
        self.last = self.last & !(SLOTS - 1) | slot;
    }

    /// Notes a touch; trims touch nothing.
    #[inline]
    pub(super) fn touch(&mut self, op: Op) {
        let read = op == Op::Read;
        let touches = u64::from(self.reads) + u64::from(self.writes);
        let latest_read = self.last & LATEST_READ != 0;
        let before_read = self.last & BEFORE_READ != 0;
        if touches > 0 {
            if read != latest_read {
                self.changes = self.changes.saturating_add(1);
            } else if touches > 1 && before_read != read {
                let seconds = if read { &mut self.second_reads } else { &mut self.second_writes };
                *seconds = seconds.saturating_add(1);
            }
        }
        let count = if read { &mut self.reads } else { &mut self.writes };
        *count = count.saturating_add(1);
        let first = if touches == 0 && read { FIRST_READ } else { 0 };
        self.last = self.last & ((SLOTS - 1) | FIRST_READ)
            | first
            | if latest_read { BEFORE_READ } else { 0 }
            | if read { LATEST_READ } else { 0 };
    }

    pub(super) fn touches(self) -> u64 {
        u64::from(self.reads) + u64::from(self.writes)
    }

    pub(super) fn first_was_read(self) -> bool {
        self.last & FIRST_READ != 0
    }

    /// Strictly more than 95 % of the touches decide.
    pub(super) fn class(self) -> PageClass {
        let most = |part: u32| 20 * u64::from(part) > 19 * self.touches();
        if most(self.reads) {
            PageClass::ReadOnly
        } else if most(self.writes) {
            PageClass::WriteOnly
        } else {
            PageClass::Interleaved
        }
    }

    /// Of the touches with a history (all but the first), those whose page is judged correctly by a
    /// window of 1, 2 and 3.
    pub(super) fn identified(self) -> [u64; 3] {
        let (reads, writes) = (u64::from(self.reads), u64::from(self.writes));
        let changes = u64::from(self.changes);
        let (seconds_r, seconds_w) = (u64::from(self.second_reads), u64::from(self.second_writes));
        let first_read = u64::from(self.first_was_read());
        // Changes alternate, beginning with one away from the first operation.
        let to_read = (changes + 1 - first_read) / 2;
        let to_write = changes - to_read;
        match self.class() {
            PageClass::ReadOnly => {
                let later = reads - first_read;
                [later, later - to_read, later - to_read - seconds_r]
            }
            PageClass::WriteOnly => {
                let later = writes - (1 - first_read);
                [later, later - to_write, later - to_write - seconds_w]
            }
            PageClass::Interleaved => [0, changes, changes + seconds_r + seconds_w],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Rng;

    fn page(ops: &[Op]) -> Page {
        let mut page = Page::default();
        for &op in ops {
            page.touch(op);
        }
        page
    }

    /// The prediction of a window, from the definition: the touch and up to `window - 1` before
    /// it, all of one kind or not.
    fn called(ops: &[Op], at: usize, window: usize) -> PageClass {
        let seen = &ops[(at + 1).saturating_sub(window)..=at];
        if seen.iter().all(|&op| op == Op::Read) {
            PageClass::ReadOnly
        } else if seen.iter().all(|&op| op == Op::Write) {
            PageClass::WriteOnly
        } else {
            PageClass::Interleaved
        }
    }

    #[test]
    fn counters_identify_as_the_definition_does() {
        let mut rng = Rng::named(1, "test/page");
        let mut classes = [0; 3];
        for round in 0..20_000 {
            let rare = [2, 3, 30, 60][round % 4];
            let (usual, other) =
                if rng.below(2) == 0 { (Op::Read, Op::Write) } else { (Op::Write, Op::Read) };
            let ops: Vec<Op> = (0..=rng.below(90))
                .map(|_| if rng.below(rare) == 0 { other } else { usual })
                .collect();
            let page = page(&ops);
            let reads = ops.iter().filter(|&&op| op == Op::Read).count();
            let part = reads as f64 / ops.len() as f64;
            let class = match part {
                p if p > 0.95 => PageClass::ReadOnly,
                p if 1.0 - p > 0.95 => PageClass::WriteOnly,
                _ => PageClass::Interleaved,
            };
            // Exactly 95 % is not enough, with any rounding.
            if reads * 20 != ops.len() * 19 && (ops.len() - reads) * 20 != ops.len() * 19 {
                assert_eq!(page.class(), class, "{ops:?}");
            }
            classes[page.class() as usize] += 1;
            for window in 1..=3 {
                let right = (1..ops.len()).filter(|&i| called(&ops, i, window) == page.class());
                assert_eq!(page.identified()[window - 1], right.count() as u64, "{window} {ops:?}");
            }
        }
        assert!(classes.iter().all(|&n| n > 2000), "{classes:?}");
    }

    #[test]
    fn ninety_five_percent_is_not_enough() {
        let nineteen = [[Op::Read; 19].as_slice(), &[Op::Write]].concat();
        assert_eq!(page(&nineteen).class(), PageClass::Interleaved);
        let twenty = [nineteen, vec![Op::Read]].concat();
        assert_eq!(page(&twenty).class(), PageClass::ReadOnly);
    }
}

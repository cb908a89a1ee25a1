//! How a run went, in its two halves.

use ftl::Counts;
use nand::Source;

/// Part of a run, as the FTL counts it.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Stretch {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages programmed, whatever for.
    pub programs: u64,
    /// Blocks that garbage collection made writable again.
    pub reclaimed: u64,
}

impl Stretch {
    /// From the beginning of the run until now.
    pub(crate) fn of(counts: &Counts) -> Self {
        Self {
            host_pages: counts.host_pages,
            programs: counts.program.total(),
            reclaimed: counts.erase[Source::Gc] + counts.second_lives,
        }
    }

    /// Pages programmed for each page of the host.
    pub fn waf_pages(&self) -> f64 {
        self.programs as f64 / self.host_pages as f64
    }

    fn without(self, first: Self) -> Self {
        Self {
            host_pages: self.host_pages - first.host_pages,
            programs: self.programs - first.programs,
            reclaimed: self.reclaimed - first.reclaimed,
        }
    }
}

/// Marks that are kept, at most.
const MOST: usize = 4096;
/// Requests between the first of them.
const FIRST: u64 = 64;

/// Marks along a run, in memory that does not grow with it.
pub(crate) struct Course {
    marks: Vec<Stretch>,
    step: u64,
}

impl Course {
    pub(crate) fn new() -> Self {
        Self { marks: Vec::with_capacity(MOST), step: FIRST }
    }

    /// Sets a mark, and says after how many requests the next is due.
    pub(crate) fn mark(&mut self, counts: &Counts) -> u64 {
        if self.marks.len() == MOST {
            // Every second one goes, the first of them; what stays is twice as far apart.
            let mut odd = true;
            self.marks.retain(|_| {
                odd = !odd;
                odd
            });
            self.step *= 2;
        }
        self.marks.push(Stretch::of(counts));
        self.step
    }

    /// The halves of `whole`, by pages of the host.
    pub(crate) fn halves(&self, whole: Stretch) -> Option<[Stretch; 2]> {
        let first = *self.marks.iter().find(|mark| mark.host_pages * 2 >= whole.host_pages)?;
        let second = whole.without(first);
        (first.host_pages > 0 && second.host_pages > 0).then_some([first, second])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of a million requests, a page each, every other one moving a page.
    #[test]
    fn halves_are_halves_however_long_the_run() {
        for requests in [200_u64, 5_000, 1_000_000] {
            let mut course = Course::new();
            let mut counts = Counts::default();
            let mut due = FIRST;
            for n in 1..=requests {
                counts.host_pages = n;
                counts.program[Source::Host] = n;
                counts.program[Source::Gc] = n / 2;
                counts.erase[Source::Gc] = n / 10;
                if n >= due {
                    due = n + course.mark(&counts);
                }
            }
            assert!(course.marks.len() <= MOST);
            // They are as far apart as they are said to be, and nearer only where the distance grew.
            let gaps = course.marks.windows(2).map(|m| m[1].host_pages - m[0].host_pages);
            gaps.for_each(|gap| assert!((course.step / 2..=course.step).contains(&gap), "{gap}"));
            let [first, second] = course.halves(Stretch::of(&counts)).unwrap();
            assert_eq!(first.host_pages + second.host_pages, requests);
            let off = first.host_pages.abs_diff(requests / 2);
            assert!(off <= FIRST.max(requests / MOST as u64 * 4), "{requests}: {off}");
            assert!((first.waf_pages() - 1.5).abs() < 0.01, "{requests}");
            assert!(first.reclaimed.abs_diff(second.reclaimed) <= off / 5 + 1);
        }
        assert_eq!(Course::new().halves(Stretch::default()), None, "nothing happened");
    }
}

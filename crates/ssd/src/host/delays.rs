//! The parts of requests' time by latency, so that the slowest requests can be separated from the
//! rest.
//!
//! Latencies are sorted into cells, 32 for each factor of two. The counts of a request belong to
//! its cell. The causes of the slowest requests are a sum over the last cells.

use kernel::{Dur, TimeSum};
use nand::Parts;
use std::iter::Sum;

/// Cells for each factor of two, as a power of two: a cell is 3 % wide at most.
const FINE: u32 = 5;
/// This number of cells holds every possible latency.
const CELLS: usize = ((64 - FINE as usize) + 1) << FINE;

/// One cell: the number of requests, the sum of their latencies in ns, and the parts of their time.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
struct Cell {
    requests: u64,
    latency: u64,
    parts: Parts<Dur>,
}

/// Requests, and the parts of their time.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Delays {
    /// How many requests.
    pub requests: u64,
    /// Their time by part.
    pub parts: Parts<TimeSum>,
}

impl Delays {
    /// The sum of the parts, which must equal the sum of the latencies.
    pub fn total(&self) -> TimeSum {
        self.parts.sum()
    }
}

impl From<Cell> for Delays {
    fn from(cell: Cell) -> Self {
        Self { requests: cell.requests, parts: cell.parts.map(|time| TimeSum::from(*time)) }
    }
}

impl Sum for Delays {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, each| {
            sum.requests += each.requests;
            sum.parts += &each.parts;
            sum
        })
    }
}

/// Delays by the latency of the request, and all together.
#[derive(Clone, Debug)]
pub struct ByLatency {
    total: Cell,
    cells: Vec<Cell>,
    /// The sums that were set aside when the latencies reached 2^64 ns, which are 584 years.
    before: Delays,
    full: Vec<(usize, Delays)>,
}

impl Default for ByLatency {
    fn default() -> Self {
        let (before, full) = (Delays::default(), Vec::new());
        Self { total: Cell::default(), cells: vec![Cell::default(); CELLS], before, full }
    }
}

impl ByLatency {
    #[inline]
    pub(super) fn add(&mut self, latency: Dur, spent: &Parts<Dur>) {
        let latency = latency.as_ns();
        self.make_room(latency);
        for cell in [&mut self.total, &mut self.cells[cell_of(latency)]] {
            cell.requests += 1;
            cell.latency += latency;
            cell.parts += spent;
        }
    }

    /// The parts of latencies add up to the latencies. So if the sum of all latencies fits, each
    /// part fits.
    #[inline]
    fn make_room(&mut self, latency: u64) {
        if self.total.latency.checked_add(latency).is_none() {
            self.put_away();
        }
    }

    #[cold]
    fn put_away(&mut self) {
        let sum = [self.before, std::mem::take(&mut self.total).into()];
        self.before = sum.into_iter().sum();
        for (at, cell) in self.cells.iter_mut().enumerate().filter(|(_, cell)| cell.requests > 0) {
            self.full.push((at, std::mem::take(cell).into()));
        }
    }

    /// All requests.
    pub fn all(&self) -> Delays {
        [self.before, self.total.into()].into_iter().sum()
    }

    /// The requests whose latency is in the cell of `ns` or in a later one.
    pub fn since(&self, ns: u64) -> Delays {
        let first = cell_of(ns);
        let cells = self.cells[first..].iter().filter(|cell| cell.requests > 0);
        let full = self.full.iter().filter(|(at, _)| *at >= first).map(|(_, delays)| *delays);
        cells.map(|cell| Delays::from(*cell)).chain(full).sum()
    }
}

/// The cell of a latency in ns.
#[inline]
fn cell_of(ns: u64) -> usize {
    let coarse = (ns | 1 << FINE).ilog2() - FINE;
    ((coarse as usize) << FINE) + (ns >> coarse) as usize
}

/// The least latency in the cell of `ns`.
pub(crate) fn begin_of_cell(ns: u64) -> u64 {
    let coarse = (ns | 1 << FINE).ilog2() - FINE;
    ns >> coarse << coarse
}

#[cfg(test)]
mod tests {
    use super::*;
    use nand::{Cause, Part, Source};

    #[test]
    fn cells_follow_each_other_and_begin_where_they_say() {
        let mut last = 0;
        for ns in (0..100_000).chain((17..64).flat_map(|n| [(1 << n) - 1, 1 << n, 3 << (n - 1)])) {
            let (cell, begin) = (cell_of(ns), begin_of_cell(ns));
            assert!(cell == last || cell == last + 1 || ns > 65_536, "{ns}: {cell} after {last}");
            assert_eq!(cell_of(begin), cell);
            assert!(begin == 0 || cell_of(begin - 1) + 1 == cell, "{ns} is in a cell from {begin}");
            // A 32nd of the least factor of two that has it.
            assert!(ns - begin <= ns / 32, "{ns} and {begin}");
            last = cell;
        }
        assert_eq!(cell_of(u64::MAX), CELLS - 1);
    }

    /// An account of time that belongs to one request.
    fn spent(of: &[(Part, u64)]) -> Parts<Dur> {
        let mut spent = Parts::default();
        for (part, ns) in of {
            match *part {
                Part::Queue(source) => spent.queue[source] += Dur::ns(*ns),
                Part::Cause(cause) => spent.causes[cause] += Dur::ns(*ns),
            }
        }
        spent
    }

    const GC: Part = Part::Queue(Source::Gc);
    const ARRAY: Part = Part::Cause(Cause::Array);
    const THROTTLE: Part = Part::Cause(Cause::Throttle);
    const LINK: Part = Part::Cause(Cause::Link);
    const CONTROLLER: Part = Part::Cause(Cause::Controller);

    #[test]
    fn the_slowest_are_summed_apart_and_all_together() {
        let mut by = ByLatency::default();
        for (latency, gc, array) in
            [(100, 0, 100), (101, 60, 41), (1_000, 900, 100), (5_000, 0, 5_000)]
        {
            by.add(Dur::ns(latency), &spent(&[(GC, gc), (ARRAY, array)]));
        }
        by.add(Dur::ns(2_000), &spent(&[(THROTTLE, 1_900), (CONTROLLER, 30), (LINK, 70)]));
        let slow = by.since(1_000);
        let of = |delays: &Delays, parts: &[Part]| -> Vec<u128> {
            parts.iter().map(|part| delays.parts.of(*part).as_ns()).collect()
        };
        assert_eq!((slow.requests, of(&slow, &[GC, ARRAY])), (3, vec![900, 5_100]));
        assert_eq!(of(&slow, &[THROTTLE, CONTROLLER, LINK]), [1_900, 30, 70]);
        let all = by.all();
        assert_eq!((all.requests, of(&all, &[GC, ARRAY])), (5, vec![960, 5_241]));
        assert_eq!(all.total(), TimeSum::ns(100 + 101 + 1_000 + 5_000 + 2_000));
        assert_eq!(by.since(0), all);
    }

    #[test]
    fn what_is_full_goes_on() {
        let mut by = ByLatency::default();
        let long = u64::MAX / 3;
        for _ in 0..7 {
            by.add(Dur::ns(long), &spent(&[(CONTROLLER, long - 5), (LINK, 5)]));
        }
        let all = by.all();
        assert_eq!(all.total(), TimeSum::from(Dur::ns(long)) * 7);
        let requests = [all, by.since(long), by.since(u64::MAX)].map(|delays| delays.requests);
        assert_eq!(requests, [7, 7, 0]);
        assert_eq!((*all.parts.of(LINK), by.since(0)), (TimeSum::ns(35), all));
    }
}

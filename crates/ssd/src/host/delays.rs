//! Where the time of requests went, by how long they took: so that the slowest can be told from the rest.
//!
//! Latencies are sorted into cells, 32 for each factor of two, and what is counted of a request is counted
//! in its cell: what made the slowest slow is a sum over the last cells.

use super::InFront;
use crate::ops::Spent;
use kernel::{Dur, TimeSum};
use std::iter::Sum;
use std::ops::AddAssign;

/// Cells for each factor of two, as a power of two: a cell is 3 % wide at most.
const FINE: u32 = 5;
/// So many cells hold every latency there is.
const CELLS: usize = ((64 - FINE as usize) + 1) << FINE;

/// One cell: its requests, then nanoseconds by cause, then the latencies together.
type Row = [u64; 16];
const REQUESTS: usize = 0;
const QUEUE: usize = 1;
const BUS: usize = 7;
const ARRAY: usize = 8;
const ECC: usize = 9;
const BUFFER: usize = 10;
const THROTTLE: usize = 11;
const CONTROLLER: usize = 12;
const LINK: usize = 13;
const LATENCY: usize = 14;

/// Requests, and where their time went.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Delays {
    /// How many requests.
    pub requests: u64,
    /// Delay by the throttle.
    pub throttle: TimeSum,
    /// Wait behind each source, in the order of `Source::ALL`.
    pub queue: [TimeSum; 6],
    /// Time on or waiting for the channel.
    pub bus: TimeSum,
    /// Time in the array.
    pub array: TimeSum,
    /// Time of correcting errors: what sensing and sending took beyond a plain read.
    pub ecc: TimeSum,
    /// Time on the way into or out of the write buffer, or waiting for it.
    pub buffer: TimeSum,
    /// Time on the link to the host, or waiting for it.
    pub link: TimeSum,
    /// Time in the controller, or waiting for one of its cores.
    pub controller: TimeSum,
}

impl Delays {
    /// The sum of the parts, which must equal the sum of the latencies.
    pub fn total(&self) -> TimeSum {
        let waits = self.throttle + self.queue.into_iter().sum::<TimeSum>();
        let host = self.buffer + self.link + self.controller;
        waits + self.bus + self.array + self.ecc + host
    }

    fn of(row: &Row) -> Self {
        let ns = |at: usize| TimeSum::ns(row[at].into());
        Self {
            requests: row[REQUESTS],
            throttle: ns(THROTTLE),
            queue: std::array::from_fn(|source| ns(QUEUE + source)),
            bus: ns(BUS),
            array: ns(ARRAY),
            ecc: ns(ECC),
            buffer: ns(BUFFER),
            link: ns(LINK),
            controller: ns(CONTROLLER),
        }
    }
}

impl AddAssign for Delays {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.throttle += other.throttle;
        for (sum, ns) in self.queue.iter_mut().zip(other.queue) {
            *sum += ns;
        }
        self.bus += other.bus;
        self.array += other.array;
        self.ecc += other.ecc;
        self.buffer += other.buffer;
        self.link += other.link;
        self.controller += other.controller;
    }
}

impl Sum for Delays {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        all.for_each(|each| sum += each);
        sum
    }
}

/// Delays by the latency of the request, and all together.
#[derive(Clone, Debug)]
pub struct ByLatency {
    total: Row,
    cells: Vec<Row>,
    /// What was put away when the latencies came to 2^64 ns, which are 584 years.
    before: Delays,
    full: Vec<(usize, Delays)>,
}

impl Default for ByLatency {
    fn default() -> Self {
        let (before, full) = (Delays::default(), Vec::new());
        Self { total: [0; 16], cells: vec![[0; 16]; CELLS], before, full }
    }
}

impl ByLatency {
    #[inline]
    pub(super) fn add(&mut self, latency: Dur, throttle: u64, spent: &Spent) {
        let latency = latency.as_ns();
        self.make_room(latency);
        for row in [&mut self.total, &mut self.cells[cell_of(latency)]] {
            row[REQUESTS] += 1;
            for (sum, ns) in row[QUEUE..].iter_mut().zip(spent.queue) {
                *sum += ns;
            }
            row[BUS] += spent.bus.as_ns();
            row[ARRAY] += spent.array.as_ns();
            row[ECC] += spent.ecc.as_ns();
            row[BUFFER] += spent.buffer.as_ns();
            row[THROTTLE] += throttle;
            row[LATENCY] += latency;
        }
    }

    /// What a request of that latency spent before the drive began on it; the rest is added apart.
    pub(super) fn add_in_front(&mut self, latency: Dur, [controller, link]: InFront) {
        let latency = latency.as_ns();
        self.make_room(latency);
        for row in [&mut self.total, &mut self.cells[cell_of(latency)]] {
            row[CONTROLLER] += controller;
            row[LINK] += link;
        }
    }

    /// The parts of latencies add up to them: where all latencies together have room, each sum has.
    #[inline]
    fn make_room(&mut self, latency: u64) {
        if self.total[LATENCY].checked_add(latency).is_none() {
            self.put_away();
        }
    }

    #[cold]
    fn put_away(&mut self) {
        self.before += Delays::of(&std::mem::take(&mut self.total));
        for (cell, row) in self.cells.iter_mut().enumerate().filter(|(_, row)| **row != [0; 16]) {
            self.full.push((cell, Delays::of(&std::mem::take(row))));
        }
    }

    /// All requests.
    pub fn all(&self) -> Delays {
        [self.before, Delays::of(&self.total)].into_iter().sum()
    }

    /// The requests whose latency is in the cell of `ns` or in a later one.
    pub fn since(&self, ns: u64) -> Delays {
        let first = cell_of(ns);
        let rows = self.cells[first..].iter().filter(|row| row[REQUESTS] > 0).map(Delays::of);
        let full = self.full.iter().filter(|(cell, _)| *cell >= first).map(|(_, delays)| *delays);
        rows.chain(full).sum()
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

    #[test]
    fn the_slowest_are_summed_apart_and_all_together() {
        let mut by = ByLatency::default();
        for (latency, gc, array) in
            [(100, 0, 100), (101, 60, 41), (1_000, 900, 100), (5_000, 0, 5_000)]
        {
            let mut spent = Spent { array: Dur::ns(array), ..Spent::default() };
            spent.queue[1] = gc;
            by.add(Dur::ns(latency), 0, &spent);
        }
        by.add_in_front(Dur::ns(2_000), [30, 70]);
        by.add(Dur::ns(2_000), 1_900, &Spent::default());
        let slow = by.since(1_000);
        let ns = TimeSum::ns;
        assert_eq!((slow.requests, slow.queue[1], slow.array), (3, ns(900), ns(5_100)));
        assert_eq!((slow.throttle, slow.controller, slow.link), (ns(1_900), ns(30), ns(70)));
        let all = by.all();
        assert_eq!((all.requests, all.queue[1], all.array), (5, ns(960), ns(5_241)));
        assert_eq!(all.total(), ns(100 + 101 + 1_000 + 5_000 + 2_000));
        assert_eq!(by.since(0), all);
    }

    #[test]
    fn what_is_full_goes_on() {
        let mut by = ByLatency::default();
        let long = u64::MAX / 3;
        for _ in 0..7 {
            by.add_in_front(Dur::ns(long), [long - 5, 5]);
            by.add(Dur::ns(long), 0, &Spent::default());
        }
        assert_eq!(by.all().total(), TimeSum::from(Dur::ns(long)) * 7);
        assert_eq!(
            (by.all().requests, by.since(long).requests, by.since(u64::MAX).requests),
            (7, 7, 0)
        );
        assert_eq!((by.all().link, by.since(0)), (TimeSum::ns(35), by.all()));
    }
}

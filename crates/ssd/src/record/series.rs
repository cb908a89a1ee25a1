//! The counts, over time.
//!
//! Nothing is counted twice: at the end of each row the counters of the run are copied, and a row
//! is the difference of two copies. So every sum over rows is the total of the run. Without a fixed
//! interval rows begin short. When there are [`ROWS`], every second copy is removed, and rows are
//! twice as long. A run of any length has between half this number and all of it.

use super::{Column, DriveView};
use crate::host::{Class, Delays};
use ftl::{Ftl, PolicyTypes};
use kernel::{Dur, Time, TimeSum};
use nand::{Each, Part, Parts, Source};

/// The most rows that are kept.
const ROWS: usize = 2048;

/// Rows of a fixed length in which nothing happens are one row if there are more of them. Otherwise
/// a drive that waits for years would have a row for each of its milliseconds.
const QUIET_ROWS: u64 = 10_000;

/// The first length of a row without a fixed interval: short runs have fine rows.
const FIRST: Dur = Dur::us(1);

/// The totals of one class of requests since the run began.
#[derive(Copy, Clone, Default)]
struct ClassCounts {
    requests: u64,
    bytes: u64,
    latency: TimeSum,
}

/// The counters at one instant, since the run began, and the greatest latencies since the sample
/// before.
#[derive(Clone, Default)]
struct Sample {
    at: Time,
    classes: Each<Class, ClassCounts>,
    greatest_ns: Each<Class, u64>,
    parts: Parts<TimeSum>,
    inside: TimeSum,
    read: Each<Source, u64>,
    program: Each<Source, u64>,
    erase: Each<Source, u64>,
    gc_for_refresh: u64,
    reprogrammed: u64,
    stalled: u64,
    free_blocks: u64,
    /// Pages of the SLC cache that were written; `u64::MAX` without one.
    cached: u64,
}

/// The series so far.
pub(super) struct SeriesRows {
    length: Dur,
    fixed: bool,
    row_end: Time,
    /// The ends of the complete rows, after the beginning of the first.
    samples: Vec<Sample>,
    /// The greatest latencies of the current row.
    greatest_ns: Each<Class, u64>,
}

impl SeriesRows {
    pub(super) fn new(interval: Option<Dur>) -> Self {
        let length = interval.unwrap_or(FIRST);
        Self {
            length,
            fixed: interval.is_some(),
            row_end: Time::ZERO + length,
            samples: vec![Sample::default()],
            greatest_ns: Each::default(),
        }
    }

    /// The last instant of the current row.
    pub(super) fn row_end(&self) -> Time {
        self.row_end
    }

    pub(super) fn complete(&mut self, class: Class, latency: Dur) {
        let greatest = &mut self.greatest_ns[class];
        *greatest = latency.as_ns().max(*greatest);
    }

    /// Ends the current row at an instant.
    pub(super) fn sample<K: PolicyTypes>(&mut self, drive_view: &DriveView<'_>, ftl: &Ftl<K>) {
        let &DriveView { at, stats, stalled, inside, .. } = drive_view;
        let counts = ftl.counts();
        let classes = stats.classes.map(|class| ClassCounts {
            requests: class.requests,
            bytes: class.bytes,
            latency: class.latency.sum(),
        });
        let parts = stats.classes.values().map(|class| class.delays.all()).sum::<Delays>().parts;
        self.samples.push(Sample {
            at,
            classes,
            greatest_ns: std::mem::take(&mut self.greatest_ns),
            parts,
            inside,
            read: counts.read,
            program: counts.program,
            erase: counts.erase.map(|blocks| blocks.get()),
            gc_for_refresh: counts.gc_erase_by_demand[Source::Refresh].get(),
            reprogrammed: counts.reprogrammed_pages.total().get(),
            stalled,
            free_blocks: ftl
                .geometry()
                .plane_ids()
                .map(|plane| ftl.free_blocks(plane) as u64)
                .sum(),
            cached: ftl.cache_fill().map_or(u64::MAX, |(used, _)| used),
        });
    }

    /// Begins the next row. If there is no space for it, neighbours become one row, or the rows of
    /// a fixed length are handed over.
    pub(super) fn next_row(&mut self) -> Option<Vec<Column>> {
        let full = self.samples.len() > ROWS;
        let mut out = None;
        if full && self.fixed {
            out = Some(self.columns());
            self.samples.drain(..ROWS);
        } else if full {
            self.merge();
        }
        self.row_end += self.length;
        out
    }

    /// Makes the current row as long as the whole rows until `now`, if nothing happens in many.
    pub(super) fn pass_quiet(&mut self, now: Time) {
        if !self.fixed || now <= self.row_end {
            return;
        }
        let rows = (now - self.row_end).as_ns() / self.length.as_ns();
        if rows > QUIET_ROWS {
            self.row_end += self.length * rows;
        }
    }

    /// Puts every two rows together.
    fn merge(&mut self) {
        for row in (2..=ROWS).step_by(2) {
            let first = self.samples[row - 1].greatest_ns;
            let mut end = std::mem::take(&mut self.samples[row]);
            end.greatest_ns = end.greatest_ns.zip(&first, |end, first| *end.max(first));
            self.samples[row / 2] = end;
        }
        self.samples.truncate(ROWS / 2 + 1);
        self.length = self.length * 2;
    }

    /// The rows so far.
    pub(super) fn columns(&self) -> Vec<Column> {
        let rows = Rows(&self.samples);
        let mut columns =
            vec![rows.u64("start_ns", |from, _| from.at.as_ns()), rows.u64("width_ns", width)];
        for class in Class::ALL {
            let operation = class.name();
            let mean = move |from: &Sample, to: &Sample| {
                let (from, to) = (&from.classes[class], &to.classes[class]);
                (to.latency - from.latency).as_ns() as f64 / (to.requests - from.requests) as f64
            };
            let greatest = move |from: &Sample, to: &Sample| {
                let any = to.classes[class].requests > from.classes[class].requests;
                if any { to.greatest_ns[class] } else { u64::MAX }
            };
            columns.extend([
                rows.count(format!("{operation}_requests"), |s| s.classes[class].requests),
                rows.count(format!("{operation}_bytes"), |s| s.classes[class].bytes),
                rows.sum_ns(format!("{operation}_latency_sum_ns"), |s| s.classes[class].latency),
                rows.f64(format!("{operation}_latency_mean_ns"), mean).optional(),
                rows.u64(format!("{operation}_latency_max_ns"), greatest).optional(),
            ]);
        }
        for part in Part::all() {
            columns.push(rows.sum_ns(part.column(), |s| *s.parts.of(part)));
        }
        let mean_inside =
            |from: &Sample, to: &Sample| (to.inside - from.inside).mean_ns(width(from, to).max(1));
        columns.push(rows.f64("requests_inside", mean_inside));
        for source in Source::ALL {
            let name = |what, unit| format!("flash_{what}_{}_{unit}", source.name());
            columns.extend([
                rows.count(name("read", "pages"), |s| s.read[source]),
                rows.count(name("program", "pages"), |s| s.program[source]),
                rows.count(name("erase", "blocks"), |s| s.erase[source]),
            ]);
        }
        columns.extend([
            rows.count("gc_erase_blocks_for_refresh", |s| s.gc_for_refresh),
            rows.count("flash_reprogram_pages", |s| s.reprogrammed),
            rows.count("stalled_writes", |s| s.stalled),
            rows.u64("free_blocks", |_, to| to.free_blocks),
            rows.u64("slc_cache_pages", |_, to| to.cached).optional(),
        ]);
        columns
    }
}

/// How much time lies between two samples, in ns.
fn width(from: &Sample, to: &Sample) -> u64 {
    (to.at - from.at).as_ns()
}

/// The rows that lie between samples.
struct Rows<'a>(&'a [Sample]);

impl Rows<'_> {
    fn map<T>(&self, value: impl Fn(&Sample, &Sample) -> T) -> Vec<T> {
        self.0.windows(2).map(|pair| value(&pair[0], &pair[1])).collect()
    }

    fn u64(&self, name: impl Into<String>, value: impl Fn(&Sample, &Sample) -> u64) -> Column {
        Column::u64(name, self.map(value))
    }

    fn f64(&self, name: impl Into<String>, value: impl Fn(&Sample, &Sample) -> f64) -> Column {
        Column::f64(name, self.map(value))
    }

    /// The increase of a counter.
    fn count(&self, name: impl Into<String>, counter: impl Fn(&Sample) -> u64) -> Column {
        self.u64(name, |from, to| counter(to) - counter(from))
    }

    /// The increase of a sum of times. A row has at most 585 years of them.
    fn sum_ns(&self, name: impl Into<String>, sum: impl Fn(&Sample) -> TimeSum) -> Column {
        self.u64(name, |from, to| u64::try_from((sum(to) - sum(from)).as_ns()).unwrap_or(u64::MAX))
    }
}

//! The records of a run beside its report: a row for each request, a series over time, and a row
//! for each block. They are columns of plain numbers, and the caller stores them. `docs/results.md`
//! explains each column.
//!
//! Recording is off unless the caller asks for it, and changes nothing in the run. A drive that
//! does not record pays one comparison for each event and one test for each request.

mod arrivals;
mod requests;
mod series;
mod snapshots;

use crate::config::Recording;
use crate::device::{Channel, Die};
use crate::host::{Inside, Stats};
use crate::ops::Spent;
use ftl::{Ftl, PolicyTypes};
use kernel::{Dur, Hint, Time, TimeSum};
use requests::RequestRows;
use series::SeriesRows;
use snapshots::Snapshots;

pub use arrivals::{ArrivalRows, described};
pub use tables::{Column, Values};

/// The hints of some requests; most workloads have none.
fn hints(of: impl Iterator<Item = Hint> + Clone) -> Values {
    if of.clone().all(|hint| hint == 0) {
        Values::Zeros(of.count())
    } else {
        Values::U64(of.map(u64::from).collect())
    }
}

/// The tables of a run.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RunTable {
    /// Completed requests, in order of completion; in parts of up to [`CHUNK`] rows.
    Requests,
    /// The counts, by consecutive stretches of time.
    Series,
    /// The blocks as the run left them.
    Blocks,
    /// The blocks that changed, at instants of the run.
    Snapshots,
    /// How long dies and channels were busy between these instants.
    Occupancy,
}

impl RunTable {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Series => "series",
            Self::Blocks => "blocks",
            Self::Snapshots => "snapshots",
            Self::Occupancy => "occupancy",
        }
    }
}

/// Rows of [`RunTable::Requests`] that are handed over at once: several such parts are on their way at any
/// time, and together they should stay in the caches.
pub const CHUNK: usize = 1 << 12;

/// Takes some rows of a table, whose columns are the same every time. It is called at least once
/// for each table that is kept. If it returns `false`, the run stops.
pub type Sink = Box<dyn FnMut(RunTable, Vec<Column>) -> bool + Send>;

/// The sources of a row at its end, besides the FTL.
pub(crate) struct DriveView<'a> {
    /// The instant. No event came after it.
    pub(crate) at: Time,
    pub(crate) stats: &'a Stats,
    /// Host page writes that waited for a free block.
    pub(crate) stalled: u64,
    /// The integral of the requests inside up to this instant.
    pub(crate) inside: TimeSum,
    pub(crate) dies: &'a [Die],
    pub(crate) channels: &'a [Channel],
}

/// Records a run.
pub(crate) struct Recorder {
    requests: Option<RequestRows>,
    series: SeriesRows,
    snapshots: Option<Snapshots>,
    sink: Sink,
    /// The sink has had enough.
    stopped: bool,
}

impl Recorder {
    /// Records from time zero on.
    pub(crate) fn new(recording: Recording, sink: Sink, flows: Vec<String>) -> Self {
        Self {
            requests: recording.requests.then(|| RequestRows::new(flows)),
            series: SeriesRows::new(recording.series_interval),
            snapshots: recording.snapshots.then(Snapshots::new),
            sink,
            stopped: false,
        }
    }

    fn hand_over(&mut self, table: RunTable, columns: Vec<Column>) {
        self.stopped = self.stopped || !(self.sink)(table, columns);
    }

    /// Whether the sink has asked for the end of the run.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// A request is done.
    pub(crate) fn complete(&mut self, request: &Inside, latency: Dur, spent: &Spent) {
        self.series.complete(request.class, latency);
        let Some(requests) = &mut self.requests else { return };
        let full = (requests.len() == CHUNK).then(|| requests.take());
        requests.push(request, latency, spent);
        if let Some(columns) = full {
            self.hand_over(RunTable::Requests, columns);
        }
    }

    /// The run begins.
    pub(crate) fn begin<K: PolicyTypes>(&mut self, drive_view: &DriveView<'_>, ftl: &Ftl<K>) {
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.take(drive_view, ftl);
        }
    }

    /// The last instant of the current row of a table.
    pub(crate) fn row_end(&self) -> Time {
        if self.stopped {
            return Time::MAX;
        }
        let shot = self.snapshots.as_ref().map_or(Time::MAX, Snapshots::next);
        self.series.row_end().min(shot)
    }

    /// The current row of a table is over, at the instant of [`Recorder::row_end`].
    pub(crate) fn end_row<K: PolicyTypes>(&mut self, drive_view: &DriveView<'_>, ftl: &Ftl<K>) {
        if let Some(snapshots) = &mut self.snapshots
            && drive_view.at == snapshots.next()
        {
            snapshots.take(drive_view, ftl);
            snapshots.advance();
        }
        if drive_view.at == self.series.row_end() {
            self.series.sample(drive_view, ftl);
            if let Some(columns) = self.series.next_row() {
                self.hand_over(RunTable::Series, columns);
            }
        }
    }

    /// Nothing happens between the beginning of the current row and `now`.
    pub(crate) fn pass_quiet(&mut self, now: Time) {
        self.series.pass_quiet(now);
    }

    /// The run is over: hands over the rest.
    pub(crate) fn finish<K: PolicyTypes>(
        mut self,
        drive_view: &DriveView<'_>,
        ftl: &Ftl<K>,
    ) -> bool {
        if let Some(mut requests) = self.requests.take() {
            self.hand_over(RunTable::Requests, requests.take());
        }
        self.series.sample(drive_view, ftl);
        let columns = self.series.columns();
        self.hand_over(RunTable::Series, columns);
        self.hand_over(RunTable::Blocks, snapshots::columns(ftl));
        if let Some(mut snapshots) = self.snapshots.take() {
            snapshots.take(drive_view, ftl);
            let columns = snapshots.blocks(&snapshots::words(ftl));
            self.hand_over(RunTable::Snapshots, columns);
            self.hand_over(RunTable::Occupancy, snapshots.occupancy());
        }
        !self.stopped
    }
}

//! How far a run has come, and why it may stop before its end.

use kernel::Time;
use workload::TraceError;

/// The progress of a run, or of another task with stages of its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Progress<S = Stage> {
    /// The present stage.
    pub stage: S,
    /// Requests (or, when preconditioning, page writes) done.
    pub done: u64,
    /// The total number, if it is known.
    pub total: Option<u64>,
    /// The simulated time.
    pub now: Time,
}

/// The stages of a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The workload is read to find the pages that must be there before the run.
    Reading,
    /// These pages are written.
    Filling,
    /// The drive is written until its write amplification is flat. The number of writes is not
    /// known before.
    Ageing,
    /// Requests are served.
    Running,
}

/// Why the loop stopped before its end.
#[derive(Debug)]
pub enum Interrupted {
    /// The caller asked for it.
    Stopped,
    /// The workload could not be read.
    Workload(TraceError),
}

impl From<TraceError> for Interrupted {
    fn from(e: TraceError) -> Self {
        Self::Workload(e)
    }
}

//! Closed loops of the workload: each asks again when one of its own requests is answered.

use kernel::Time;
use workload::{Alignment, BATCH, Loop, Request, TraceError};

/// One closed loop in a run.
pub(crate) struct ClosedLoop {
    inner: Loop,
    batch: Vec<Request>,
    next: usize,
    /// Requests that may come at once.
    places: u32,
    alignment: Alignment,
}

impl ClosedLoop {
    pub(super) fn new(inner: Loop) -> Self {
        let places = inner.depth;
        let batch = Vec::with_capacity(BATCH);
        Self { inner, batch, next: 0, places, alignment: Alignment::new() }
    }

    /// The next request, if there is a place for it, and one before the end.
    pub(super) fn take(&mut self, now: Time) -> Result<Option<Request>, TraceError> {
        if self.places == 0 || now >= self.inner.until {
            return Ok(None);
        }
        if self.next == self.batch.len() {
            self.inner.source.fill(&mut self.batch)?;
            self.alignment.observe(&self.batch);
            self.next = 0;
            if self.batch.is_empty() {
                self.inner.until = now;
                return Ok(None);
            }
        }
        self.places -= 1;
        self.next += 1;
        Ok(Some(self.batch[self.next - 1]))
    }

    /// One of its requests is answered.
    pub(super) fn answered(&mut self) {
        self.places += 1;
    }

    /// How its requests lie.
    pub(crate) fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// Records that it passed over.
    pub(crate) fn skipped(&self) -> u64 {
        self.inner.source.skipped()
    }
}

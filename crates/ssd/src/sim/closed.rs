//! Closed loops of the workload: each asks again when one of its own requests is answered.

use super::{Interrupted, Sim};
use ftl::Kit;
use kernel::Time;
use workload::{Alignment, BATCH, Loop, Request, TraceError};

/// Of a request: it belongs to no closed loop.
pub(crate) const OPEN: u16 = u16::MAX;

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
    fn new(inner: Loop) -> Self {
        let places = inner.depth;
        let batch = Vec::with_capacity(BATCH);
        Self { inner, batch, next: 0, places, alignment: Alignment::new() }
    }

    /// The next request, if there is a place for it, and one before the end.
    fn take(&mut self, now: Time) -> Result<Option<Request>, TraceError> {
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

    /// How its requests lie.
    pub(crate) fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// Records that it passed over.
    pub(crate) fn skipped(&self) -> u64 {
        self.inner.source.skipped()
    }
}

impl<K: Kit> Sim<K> {
    /// Adds closed loops to the run that follows.
    pub fn close_loops(&mut self, loops: Vec<Loop>) {
        self.closed = loops.into_iter().map(ClosedLoop::new).collect();
        self.closed_due = !self.closed.is_empty();
    }

    /// The closed loops.
    pub(crate) fn closed_loops(&self) -> &[ClosedLoop] {
        &self.closed
    }

    /// A request of a closed loop is answered: the loop may ask again.
    #[cold]
    #[inline(never)]
    pub(crate) fn answered(&mut self, of: u16) {
        self.closed[usize::from(of)].places += 1;
        self.closed_due = true;
    }

    /// Takes in what the closed loops ask for, one request of each by turns.
    #[cold]
    #[inline(never)]
    pub(crate) fn admit_closed(&mut self) -> Result<(), Interrupted> {
        // What a buffer answers at once makes a place at once.
        while std::mem::take(&mut self.closed_due) {
            for of in 0..self.closed.len() {
                if let Some(request) = self.closed[of].take(self.now)? {
                    self.closed_due = true;
                    self.take_in(&request, of as u16);
                }
            }
        }
        Ok(())
    }
}

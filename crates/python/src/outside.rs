//! A run with policies written in Python: whether it goes on, and the exception of such a policy.
//! `finder.rs` finds the policies, and `policy.rs` asks them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use crate::error;

/// The state that one run and its policies share.
pub(crate) struct Outside {
    pub(crate) finder: Py<PyAny>,
    pub(crate) used: AtomicBool,
    /// Whether the run is to end, without further questions.
    stop: AtomicBool,
    /// The thread that a policy runs on just now; 0: none.
    busy: AtomicU64,
    raised: Mutex<Option<PyErr>>,
    /// The policies whose answers, each of them allowed, may leave a drive unable to go on.
    pub(crate) trusted: Mutex<Vec<String>>,
}

impl Outside {
    /// `finder` is a `floatgate.policy.finder.Finder`.
    pub(crate) fn new(finder: Py<PyAny>) -> Arc<Self> {
        let (used, stop, busy, raised, trusted) = Default::default();
        Arc::new(Self { finder, used, stop, busy, raised, trusted })
    }

    /// Whether a policy was found.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether the run is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Ends the run with the first exception.
    pub(crate) fn fail(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop();
    }

    /// The exception of a policy, if there is one.
    pub(crate) fn verdict(&self) -> PyResult<()> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
    }

    /// The author of the mistake behind a failed check of the engine, if it may be a policy's.
    /// `message` is the report of the check.
    pub(crate) fn blame(&self, message: &str) -> PyResult<()> {
        self.verdict()?;
        let trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        if trusted.is_empty() {
            return Ok(());
        }
        Err(error::PolicyError::new_err(format!(
            "with the answers of {} the drive cannot go on: {message}",
            trusted.join(" and ")
        )))
    }

    /// Runs Python code of a policy on `thread`; `None` if the run is over or Python shuts down.
    pub(crate) fn enter<T>(
        &self,
        thread: u64,
        call: impl for<'py> FnOnce(Python<'py>) -> T,
    ) -> Option<T> {
        // In this order, so that `interrupt` stops the call or knows of it.
        self.busy.store(thread, Ordering::SeqCst);
        let answer = if self.is_stopped() { None } else { Python::try_attach(call) };
        self.busy.store(0, Ordering::SeqCst);
        answer
    }

    /// Ends the run.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Interrupts the policy that is at work, if one is.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        match self.busy.load(Ordering::SeqCst) {
            0 => Ok(()),
            thread => self.finder.call_method1(py, "interrupt", (thread,)).map(drop),
        }
    }
}

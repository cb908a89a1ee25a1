//! Policies written in Python: found before a run, made for it, and asked during it.
//!
//! The Python side of finding is `python/floatgate/policy/finder.py`; asking is in `policy.rs`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use serde_json::{Map, Value};
use ssd::policies::external::{External, Level, Made, Supplier};
use ssd::policies::{Family, PolicyError};

use crate::policy::Policy;

/// What one run and its policies share.
pub(crate) struct Outside {
    finder: Py<PyAny>,
    used: AtomicBool,
    /// Nothing more is to be asked, and the run is to end.
    stop: AtomicBool,
    /// The thread that a policy runs on just now; 0: none.
    busy: AtomicU64,
    raised: Mutex<Option<PyErr>>,
}

impl Outside {
    /// `finder` is a `floatgate.policy.finder.Finder`.
    pub(crate) fn new(finder: Py<PyAny>) -> Arc<Self> {
        let (used, stop, busy, raised) = Default::default();
        Arc::new(Self { finder, used, stop, busy, raised })
    }

    /// Whether a policy was found.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether the run is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Ends the run with what was raised first.
    pub(crate) fn fail(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop();
    }

    /// What a policy raised, if one did.
    pub(crate) fn verdict(&self) -> PyResult<()> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(Ok(()), Err)
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

/// Finds policies in Python.
pub(crate) struct Finder(pub(crate) Arc<Outside>);

/// `floatgate.policy.finder.Found`.
#[derive(FromPyObject)]
struct Found {
    make: Py<PyAny>,
    params: String,
    source: String,
    repeatable: bool,
    initial: Option<String>,
    dram_bits_per_page: u32,
}

impl Supplier for Finder {
    fn scheme(&self) -> &'static str {
        "py"
    }

    fn find(
        &self,
        family: Family,
        name: &str,
        params: &Map<String, Value>,
    ) -> Result<External, PolicyError> {
        let refuse = |(message, key, suggestion)| PolicyError {
            family: family.name().to_owned(),
            name: name.to_owned(),
            key,
            message,
            suggestion,
        };
        let found = Python::attach(|py| {
            let params = Value::Object(params.clone()).to_string();
            let answer = self.0.finder.bind(py).call1((family.name(), name, params))?;
            if let Ok(refusal) = answer.extract::<(String, Option<String>, Option<String>)>() {
                return Ok(Err(refuse(refusal)));
            }
            answer.extract::<Found>().map(Ok)
        });
        // Ctrl-C, or a mistake of ours: heard before the errors of the drive.
        let found = found.unwrap_or_else(|e| {
            self.0.fail(e);
            Err(refuse(("it was not found".into(), None, None)))
        })?;
        let params =
            serde_json::from_str(&found.params).map_err(|e| refuse((e.to_string(), None, None)))?;
        let make = Maker {
            outside: Arc::clone(&self.0),
            name: format!("{}={name}", family.name()),
            make: found.make,
            initial: found.initial.and_then(|word| level(&word)).unwrap_or_default(),
            dram_bits_per_page: found.dram_bits_per_page,
        };
        self.0.used.store(true, Ordering::Relaxed);
        let (source, repeatable) = (found.source, found.repeatable);
        let make = Arc::new(move || match family {
            Family::Cost => Made::Cost(Box::new(make.policy())),
            _ => Made::Victim(Box::new(make.policy())),
        });
        Ok(External { params, source, repeatable, make })
    }
}

/// The level that a word names.
pub(crate) fn level(word: &str) -> Option<Level> {
    Level::ALL.into_iter().find(|level| level.name() == word)
}

/// Makes policies of one class.
struct Maker {
    outside: Arc<Outside>,
    name: String,
    make: Py<PyAny>,
    initial: Level,
    dram_bits_per_page: u32,
}

impl Maker {
    fn policy(&self) -> Policy {
        let (outside, name) = (Arc::clone(&self.outside), self.name.clone());
        let mut policy = Policy::new(outside, name, self.initial, self.dram_bits_per_page);
        policy.begin(&self.make);
        policy
    }
}

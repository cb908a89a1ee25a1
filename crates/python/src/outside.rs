//! Policies written in Python: found before a run, made for it, and asked during it.
//!
//! The Python side of finding is `python/floatgate/policy/finder.py`; asking is in `policy.rs`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use ssd::policies::external::{External, Made, Supplier};
use ssd::policies::{Family, PolicyError, PolicyInfo};

use crate::error;
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
    /// The policies whose answers, each of them allowed, may leave a drive no way on.
    trusted: Mutex<Vec<String>>,
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

    /// Whose mistake it is that a check of the engine failed, if it may be a policy's: `said` is
    /// what the check said.
    pub(crate) fn blame(&self, said: &str) -> PyResult<()> {
        self.verdict()?;
        let trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        if trusted.is_empty() {
            return Ok(());
        }
        Err(error::PolicyError::new_err(format!(
            "with the answers of {} the drive cannot go on: {said}",
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

/// Finds policies in Python.
pub(crate) struct Finder(pub(crate) Arc<Outside>);

/// `floatgate.policy.finder.Found`.
#[derive(FromPyObject)]
struct Found {
    make: Py<PyAny>,
    params: String,
    source: String,
    repeatable: bool,
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
        let maker = Maker { family, name: format!("{}={name}", family.name()), make: found.make };
        let like = self.like(&maker).map_err(|message| refuse((message, None, None)))?;
        self.0.used.store(true, Ordering::Relaxed);
        if matches!(
            family,
            Family::Placement | Family::ReadDisturb | Family::PageChoice | Family::Coding
        ) {
            let mut trusted = self.0.trusted.lock().unwrap_or_else(PoisonError::into_inner);
            trusted.push(format!("`{}`", maker.name));
        }
        let (source, repeatable) = (found.source, found.repeatable);
        let outside = Arc::clone(&self.0);
        let make = Arc::new(move || maker.made(&outside));
        Ok(External { params, source, repeatable, like, make })
    }
}

impl Finder {
    /// Asks a policy what can be asked before there is a drive; returns the policy on the list that
    /// it is like. The error says what is wrong with an answer.
    fn like(&self, maker: &Maker) -> Result<Option<&'static PolicyInfo>, String> {
        // The run is not to end for what goes wrong here.
        let trial = Outside::new(Python::attach(|py| self.0.finder.clone_ref(py)));
        let policy = maker.policy(&trial);
        policy.introduce();
        if let Err(error) = trial.verdict() {
            return Err(Python::attach(|py| {
                let cause = error.cause(py);
                if let Some(cause) = cause.filter(|e| e.is_instance_of::<PyKeyboardInterrupt>(py)) {
                    self.0.fail(cause);
                }
                error.value(py).to_string()
            }));
        }
        // What their conditions are for, such a policy does too: it passes pages over, or writes
        // blocks twice.
        let name = match maker.family {
            Family::PageChoice => "mango",
            Family::Coding if policy.is_write_once() => "wom",
            _ => return Ok(None),
        };
        let entry = maker.family.policies().iter().find(|info| info.name == name);
        Ok(Some(entry.expect("it is on the list")))
    }
}

/// Makes policies of one class.
struct Maker {
    family: Family,
    name: String,
    make: Py<PyAny>,
}

impl Maker {
    fn policy(&self, outside: &Arc<Outside>) -> Policy {
        Policy::new(Arc::clone(outside), self.family, self.name.clone(), &self.make)
    }

    fn made(&self, outside: &Arc<Outside>) -> Made {
        macro_rules! made {
            ($($family:ident)+) => {
                match self.family {
                    $(Family::$family => Made::$family(Box::new(self.policy(outside))),)+
                }
            };
        }
        made!(Cost Throttle ReadDisturb PageChoice Coding Victim Placement Wear Order Arbitration)
    }
}

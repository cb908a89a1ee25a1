//! Finds policies written in Python before a run, and makes them for it.
//!
//! The Python side is `python/floatgate/policy/finder.py`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use ssd::policies::external::{External, Made, Supplier};
use ssd::policies::{Family, PolicyError, PolicyInfo};

use crate::outside::Outside;
use crate::policy::Policy;

/// Finds policies in Python.
pub(crate) struct Finder(pub(crate) Arc<Outside>);

/// `floatgate.policy.finder.FoundFile`.
#[derive(FromPyObject)]
struct FoundFile {
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
            answer.extract::<FoundFile>().map(Ok)
        });
        // Ctrl-C, or a mistake of ours: reported before the errors of the drive.
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
    /// Asks a policy the questions that need no drive; returns the policy on the list that it is
    /// like. The error gives the mistake in an answer.
    fn like(&self, maker: &Maker) -> Result<Option<&'static PolicyInfo>, String> {
        // A mistake here does not end the run.
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
        // Such a policy also does the work of these conditions: it passes pages over, or writes
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
        made!(Cost Throttle ReadDisturb PageChoice Coding SlcCache Victim Separation Placement Wear Order Arbitration)
    }
}

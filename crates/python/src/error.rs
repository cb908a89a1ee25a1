//! Which error becomes which exception: the user's input (exit code 2) or ours (exit code 1).

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use ssd::RunError;
use ssd::workload::TraceError;

create_exception!(
    floatgate._core,
    InputError,
    PyException,
    "The input is wrong: the message says where, and what would help."
);
create_exception!(
    floatgate._core,
    ConfigError,
    InputError,
    "A drive, a setting or a policy is wrong; every mistake is listed."
);
create_exception!(
    floatgate._core,
    PolicyError,
    InputError,
    "A policy written in Python went wrong during a run; what it raised is the cause."
);
create_exception!(
    floatgate._core,
    WorkloadError,
    InputError,
    "A trace or a generator is wrong, or cannot be read."
);
create_exception!(
    floatgate._core,
    InternalError,
    PyException,
    "A check of the simulator failed: a bug of floatgate, not of the input."
);

/// All mistakes of a drive, with the lines they are about: together, and one by one as `errors`.
pub(crate) fn of_drive(errors: &[ssd::ConfigError]) -> PyErr {
    let text = |errors| ssd::config::render(errors, false).trim_end().to_owned();
    let each: Vec<String> = errors.chunks(1).map(text).collect();
    let error = ConfigError::new_err(text(errors));
    Python::attach(|py| error.value(py).setattr("errors", each)).map_or_else(|e| e, |()| error)
}

/// Why a trace cannot be read.
pub(crate) fn of_trace(error: &TraceError) -> PyErr {
    WorkloadError::new_err(error.to_string())
}

/// Why a run gave no result.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    match error {
        RunError::Workload(_) | RunError::Generator(_) => WorkloadError::new_err(error.to_string()),
        // Whoever stopped it has raised already, and is heard first.
        RunError::Stopped => InternalError::new_err("stopped by nobody"),
    }
}

/// What cannot happen.
pub(crate) fn of_ours(error: impl std::fmt::Display) -> PyErr {
    InternalError::new_err(error.to_string())
}

//! The exception of each error: the user's input (exit code 2) or ours (exit code 1).

use std::io;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use ssd::RunError;
use ssd::workload::TraceError;

create_exception!(
    floatgate._core,
    InputError,
    PyException,
    "The input is wrong: the message gives the place and the remedy."
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
    "A policy written in Python failed during a run; the exception that it raised is the cause."
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

/// Stable names of the kinds of error, for machines and for `floatgate explain`. The names for
/// drives and traces are defined where those are read.
pub(crate) mod code {
    /// Not of the requested form, kind or range.
    pub(crate) const VALUE: &str = "input::value";
    /// An unknown name.
    pub(crate) const UNKNOWN_NAME: &str = "input::unknown-name";
    /// A file that does not exist.
    pub(crate) const NO_FILE: &str = "file::missing";
    /// A file that cannot be used.
    pub(crate) const FILE: &str = "file::unusable";
    /// An address at which the server cannot listen.
    pub(crate) const ADDRESS: &str = "service::address";
    /// Less memory than a drive needs.
    pub(crate) const MEMORY: &str = "system::memory";
    /// A policy in Python that went wrong.
    pub(crate) const POLICY: &str = "policy::failed";
    /// An option that does not fit a workload.
    pub(crate) const WORKLOAD: &str = "workload::parameter";
}

/// Gives every kind of exception the code of errors that name no other.
pub(crate) fn name_codes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.get_type::<InputError>().setattr("code", code::VALUE)?;
    py.get_type::<PolicyError>().setattr("code", code::POLICY)?;
    py.get_type::<WorkloadError>().setattr("code", code::WORKLOAD)
}

/// Wrong input, with its code.
pub(crate) fn input(code: &str, message: impl Into<String>) -> PyErr {
    coded(InputError::new_err(message.into()), code)
}

/// A wrong workload, with its code.
pub(crate) fn workload(code: &str, message: impl Into<String>) -> PyErr {
    coded(WorkloadError::new_err(message.into()), code)
}

/// A file or socket that the system refuses.
pub(crate) fn of_place(error: &io::Error, message: impl Into<String>) -> PyErr {
    input(code_of_io(error), message)
}

/// The code of a refusal by the system.
pub(crate) fn code_of_io(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound { code::NO_FILE } else { code::FILE }
}

/// The code of an error of ours.
pub(crate) fn code_of(error: &PyErr) -> Option<String> {
    Python::attach(|py| error.value(py).getattr("code").ok()?.extract().ok())
}

fn coded(error: PyErr, code: &str) -> PyErr {
    Python::attach(|py| error.value(py).setattr("code", code)).map_or_else(|e| e, |()| error)
}

/// All mistakes of a drive, with the lines they are about: together, and one by one as `errors`.
pub(crate) fn of_drive(errors: &[ssd::ConfigError]) -> PyErr {
    let text = |errors| ssd::config::render(errors, false).trim_end().to_owned();
    let each: Vec<String> = errors.chunks(1).map(text).collect();
    let error = ConfigError::new_err(text(errors));
    Python::attach(|py| error.value(py).setattr("errors", each)).map_or_else(|e| e, |()| error)
}

/// Why a trace cannot be read.
pub(crate) fn of_trace(error: &TraceError) -> PyErr {
    workload(error.code(), error.to_string())
}

/// Why a run gave no result.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    match error {
        RunError::Workload(e) => of_trace(e),
        RunError::Unknown(said) => workload(code::UNKNOWN_NAME, said),
        RunError::Generator(said) => workload(code::WORKLOAD, said),
        // The code that stopped it has raised already, and its exception is reported first.
        RunError::Stopped => InternalError::new_err("stopped by nobody"),
    }
}

/// An impossible case.
pub(crate) fn of_ours(error: impl std::fmt::Display) -> PyErr {
    InternalError::new_err(error.to_string())
}

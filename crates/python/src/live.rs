//! Drives that programs can mount.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use live::{Address, Options, Ready, TimePace};
use pyo3::prelude::*;
use serde_json::Value;
use ssd::record::Sink;
use ssd::{Drive, Report, RunError, Stage};

use crate::cache::StateFolder;
use crate::error::{InputError, code, input, of_ours, of_place, of_run};
use crate::worker::WorkProgress;

/// Tells a server to end: it answers the commands that it has, and gives its result.
#[pyclass(frozen, module = "floatgate._core")]
#[derive(Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Sets it.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop {
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// Settings under which each request arrives when it is submitted.
pub(crate) fn settings(mut set: Vec<String>) -> Vec<String> {
    set.extend(["host.mode=timestamps".to_owned(), "host.speed=1.0".to_owned()]);
    set
}

pub(crate) fn address(unix: Option<PathBuf>, listen: Option<String>) -> PyResult<Address> {
    match (unix, listen) {
        (Some(path), None) => Ok(Address::Unix(path)),
        (None, Some(address)) => Ok(Address::Tcp(address)),
        _ => Err(InputError::new_err(
            "a drive is served at one place: the path of a Unix socket, or an address to listen at",
        )),
    }
}

pub(crate) fn pace(slowdown: Option<f64>) -> PyResult<TimePace> {
    match slowdown {
        None => Ok(TimePace::Fast),
        Some(slowdown) if (1e-3..=1e6).contains(&slowdown) => Ok(TimePace::Real { slowdown }),
        Some(slowdown) => Err(InputError::new_err(format!(
            "a slowdown of {slowdown} is not between 0.001 and 1,000,000"
        ))),
    }
}

/// Serves a drive. Returns the time after preconditioning, and the facts of the service. `opened`
/// is called with the address for clients and the path of the control socket, before clients are
/// served.
pub(crate) fn serve(
    drive: &Drive,
    options: &Options,
    cache: &mut StateFolder,
    stop: &AtomicBool,
    opened: &Py<PyAny>,
    tick: &mut dyn FnMut(WorkProgress) -> bool,
    sink: Option<Sink>,
) -> PyResult<(Report, Duration, Value)> {
    let not_open = |e: &RunError| match e {
        RunError::Stopped => InputError::new_err("it was stopped before clients could connect"),
        e => of_run(e),
    };
    let failed = |e: live::ServeError| match e {
        live::ServeError::Drive(e) => not_open(&e),
        live::ServeError::Socket(_) => of_ours(e),
        live::ServeError::Place { ref source, .. } => of_place(source, e.to_string()),
        live::ServeError::Address { .. } => input(code::ADDRESS, e.to_string()),
    };
    let ready = Ready::new(drive, options).map_err(failed)?;
    let control = ready.control().display().to_string();
    Python::attach(|py| opened.call1(py, (ready.uri(), control)))?;
    let watch = &mut |p: ssd::Progress| {
        let go_on = p.stage == Stage::Running || tick(p.into());
        go_on && !stop.load(Ordering::Relaxed)
    };
    let mut session = ssd::open_session(drive, ssd::Client::BlockDevice, cache, watch)
        .map_err(|e| not_open(&e))?;
    if let Some(sink) = sink {
        session.record(sink);
    }
    let start = Instant::now();
    let look = &mut |p: live::Progress| {
        let stage = match p.stage {
            live::Stage::Recovering => "recovering",
            live::Stage::Serving => "serving",
        };
        tick(WorkProgress { stage, done: p.done, total: p.total, now_ns: p.now.as_ns() })
    };
    let (report, how) = ready.serve(session, stop, look).map_err(failed)?;
    Ok((report, start.elapsed(), how))
}

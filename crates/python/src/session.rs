//! A drive inside a program in Python: `floatgate.Session` is this class with a friendlier constructor.

use std::fs::{self, File};
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, TryLockError};

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssd::kernel::{Hint, Prio};
use ssd::workload::{Op, ReadTally};
use ssd::{Client, Embedded, Refusal, Submission, WallTimes};

use crate::cache::{CacheOptions, StateFolder};
use crate::error::{InputError, InternalError, code, input, of_place, of_run};
use crate::outside::Outside;
use crate::stopwatch::Stopwatch;
use crate::{memory, open, worker};

/// The words of operations, and their meaning.
const OPS: [(&str, Op); 5] = [
    ("read", Op::Read),
    ("write", Op::Write),
    ("trim", Op::Trim),
    ("flush", Op::Flush),
    ("write-fua", Op::WriteFua),
];

/// The table of the requests, until it is whole.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

enum State {
    Open(Box<Embedded>),
    /// The result as JSON.
    Ended(String),
    /// Closed without a result, or after a mistake of ours.
    Gone(&'static str),
}

/// A drive to which a program submits requests one by one.
#[pyclass(subclass, frozen, module = "floatgate._core", name = "SessionBase")]
pub(crate) struct PySession {
    state: Mutex<State>,
    outside: Arc<Outside>,
    capacity: u64,
    flows: Vec<String>,
    name: String,
    record: Mutex<Option<Unfinished>>,
    clock: Stopwatch,
    ready: Stopwatch,
}

/// A flow as a program names it.
#[derive(FromPyObject)]
enum FlowName {
    Number(u64),
    Name(String),
}

#[pymethods]
impl PySession {
    #[new]
    #[pyo3(signature = (drive, *, build, set, policy, seed, flows, cache, record, name, finder))]
    #[expect(clippy::too_many_arguments, reason = "named, and given by one caller")]
    fn new(
        py: Python<'_>,
        drive: &str,
        build: String,
        set: Vec<String>,
        policy: Vec<String>,
        seed: Option<open::WholeNumber>,
        flows: Vec<String>,
        cache: Option<CacheOptions>,
        record: Option<PathBuf>,
        name: String,
        finder: Py<PyAny>,
    ) -> PyResult<Self> {
        let clock = Stopwatch::start();
        let mut cache = StateFolder::open(cache)?;
        let outside = Outside::new(finder);
        let mut drive = open::drive(drive, &set, &policy, seed, &outside)?;
        drive.build = build;
        drive.recording.requests = false;
        memory::check(&drive)?;
        let (names, used) = (flows.clone(), Arc::clone(&outside));
        let work = move |tick: &mut dyn FnMut(worker::WorkProgress) -> bool, _| {
            let client = Client::Program(&names);
            let look = &mut |p: ssd::Progress| tick(p.into());
            let session = ssd::open_session(&drive, client, &mut cache, look);
            used.verdict()?;
            Ok(Embedded::new(session.map_err(|e| of_run(&e))?))
        };
        let mut embedded =
            worker::run(py, Arc::clone(&outside), None, None, ReadTally::NONE, work)?;
        let record = record.map(Unfinished);
        if let Some(Unfinished(path)) = &record {
            let file =
                File::create(path).map_err(|e| of_place(&e, format!("{}: {e}", path.display())))?;
            embedded.record(Box::new(BufWriter::new(file)));
        }
        Ok(Self {
            capacity: embedded.capacity(),
            state: Mutex::new(State::Open(Box::new(embedded))),
            outside,
            flows,
            name,
            record: Mutex::new(record),
            clock,
            ready: Stopwatch::start(),
        })
    }

    /// Submits a request.
    #[pyo3(signature = (op, offset=0, length=0, *, at=None, token=0, hint=0, flow=None, prio=false))]
    #[expect(clippy::too_many_arguments, reason = "what a request has")]
    fn submit(
        &self,
        op: &str,
        offset: u64,
        length: u64,
        at: Option<u64>,
        token: u64,
        hint: i64,
        flow: Option<FlowName>,
        prio: bool,
    ) -> PyResult<u64> {
        let Some((_, op)) = OPS.iter().find(|(word, _)| *word == op) else {
            let hint = ssd::kernel::hint(op, OPS.iter().map(|(word, _)| *word));
            return Err(input(code::UNKNOWN_NAME, format!("`{op}` is not an operation; {hint}")));
        };
        let flow = self.flow(flow)?;
        let prio = if prio { Prio::High } else { Prio::Normal };
        let hint = Hint::try_from(hint)
            .map_err(|_| InputError::new_err(format!("hint {hint}: expected 0 (none) to 255")))?;
        let request = Submission { op: *op, offset, length, at, token, hint, flow, prio };
        self.with(|embedded| embedded.submit(&request).map_err(of_refused))
    }

    /// Updates a placement handle.
    #[pyo3(signature = (handle, *, at=None))]
    fn update_handle(&self, handle: u64, at: Option<u64>) -> PyResult<u64> {
        self.with(|embedded| embedded.update_handle(handle, at).map_err(of_refused))
    }

    /// When something happens next.
    fn next_at(&self) -> PyResult<Option<u64>> {
        self.with(|embedded| Ok(embedded.next_at()))
    }

    /// Lets simulated time pass.
    #[pyo3(signature = (until=None))]
    fn advance<'py>(&self, py: Python<'py>, until: Option<u64>) -> PyResult<Bound<'py, PyDict>> {
        let mut raised = None;
        let columns = py.detach(|| {
            self.with(|embedded| {
                let look = &mut || {
                    #[expect(
                        clippy::redundant_closure_for_method_calls,
                        reason = "the method is not general enough"
                    )]
                    let checked = Python::attach(|py| py.check_signals());
                    raised = checked.err();
                    raised.is_none() && !self.outside.is_stopped()
                };
                embedded.advance(until, look).map_err(of_refused)?;
                let done = embedded.done();
                let mut columns: [Vec<u64>; 3] = Default::default();
                for column in &mut columns {
                    column.reserve_exact(done.len());
                }
                for one in done.drain(..) {
                    columns[0].push(one.token);
                    columns[1].push(one.at.as_ns());
                    columns[2].push(one.latency.as_ns());
                }
                Ok(columns)
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let answer = PyDict::new(py);
        for (name, column) in ["token", "at_ns", "latency_ns"].into_iter().zip(columns?) {
            let column: Bound<'py, PyArray1<u64>> = column.into_pyarray(py);
            answer.set_item(name, column)?;
        }
        Ok(answer)
    }

    /// Ends the session; its result as JSON.
    fn end(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut state = self.lock()?;
            if let State::Ended(text) = &*state {
                return Ok(text.clone());
            }
            let gone = State::Gone("the session failed");
            let State::Open(embedded) = std::mem::replace(&mut *state, gone) else {
                return Err(ended("the session is closed, and has no result"));
            };
            let report = self.guarded(|| embedded.finish(&self.name).map_err(of_refused))?;
            let mut report = report?;
            let running = self.ready.wall();
            report.set_timing(WallTimes {
                wall: self.clock.wall(),
                cpu: self.clock.cpu(),
                running,
            });
            let text = report.value().to_string();
            // The table is complete now, and the caller moves it into its place.
            if let Ok(mut record) = self.record.lock() {
                record.take().map(std::mem::forget).unwrap_or_default();
            }
            *state = State::Ended(text.clone());
            Ok(text)
        })
    }

    /// Closes the session without a result, unless it has one.
    fn close(&self) -> PyResult<()> {
        let mut state = self.lock()?;
        if let State::Open(_) = *state {
            *state = State::Gone("the session is closed");
        }
        if let Ok(mut record) = self.record.lock() {
            record.take();
        }
        Ok(())
    }

    /// Whether it takes no more requests: it has its result, or was closed without.
    #[getter]
    fn is_closed(&self) -> PyResult<bool> {
        Ok(!matches!(*self.lock()?, State::Open(_)))
    }

    /// The simulated time in ns.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.with(|embedded| Ok(embedded.now()))
    }

    /// Bytes of the drive.
    #[getter]
    fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Requests that are not done.
    #[getter]
    fn outstanding(&self) -> PyResult<usize> {
        self.with(|embedded| Ok(embedded.outstanding()))
    }

    /// When the drive wore out, in ns.
    #[getter]
    fn worn_out_at_ns(&self) -> PyResult<Option<u64>> {
        self.with(|embedded| Ok(embedded.worn_out_at()))
    }
}

fn ended(what: &str) -> PyErr {
    InputError::new_err(what.to_owned())
}

fn of_refused(refused: Refusal) -> PyErr {
    match refused {
        Refusal::Record(e) => of_place(&e, format!("the requests cannot be recorded ({e})")),
        refused => InputError::new_err(refused.to_string()),
    }
}

impl PySession {
    fn flow(&self, flow: Option<FlowName>) -> PyResult<u8> {
        let number = match flow {
            None => return Ok(0),
            Some(FlowName::Number(number)) => number,
            Some(FlowName::Name(name)) => {
                let found = self.flows.iter().position(|known| *known == name);
                found.map(|n| n as u64).ok_or_else(|| {
                    if self.flows.is_empty() {
                        let what = format!("flow `{name}`: the session was opened without `flows`");
                        return input(code::UNKNOWN_NAME, what);
                    }
                    let hint = ssd::kernel::hint(&name, self.flows.iter().map(String::as_str));
                    input(code::UNKNOWN_NAME, format!("`{name}` is not a flow; {hint}"))
                })?
            }
        };
        u8::try_from(number)
            .map_err(|_| PyOverflowError::new_err(format!("flow {number} is beyond 255")))
    }

    /// No other call is under way: one that waited for it would wait for the interpreter as well.
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(ended("a call of this session is under way, on another thread or in a policy"))
            }
        }
    }

    /// Does something with the drive.
    fn with<T>(&self, work: impl FnOnce(&mut Embedded) -> PyResult<T>) -> PyResult<T> {
        let mut state = self.lock()?;
        let embedded = match &mut *state {
            State::Open(embedded) => embedded,
            State::Ended(_) => return Err(ended("the session has ended with its result")),
            State::Gone(what) => return Err(ended(what)),
        };
        match self.guarded(|| work(embedded)) {
            Ok(Ok(answer)) if !self.outside.is_used() => Ok(answer),
            Ok(answer) => self.outside.verdict().and(answer),
            Err(error) => {
                *state = State::Gone("the session failed");
                Err(error)
            }
        }
    }

    /// A failed check of the engine as an exception.
    fn guarded<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
            let said = worker::message(&*panic);
            match self.outside.blame(&said) {
                Err(error) => error,
                Ok(()) => InternalError::new_err(said),
            }
        })
    }
}

//! Runs the engine on a thread of its own, with the interpreter released. The calling thread checks
//! it about ten times a second, reacts to Ctrl-C at once, and reports the progress of the run. Rows
//! of the run's tables go through a channel with one place, so a slow receiver holds the engine
//! back.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use ssd::Stage;
use ssd::record::{Column, RunTable, Sink};
use ssd::workload::ReadTally;

use crate::columns::hand_over;
use crate::error::InternalError;
use crate::outside::Outside;

/// The interval at which the calling thread checks.
const PERIOD: Duration = Duration::from_millis(100);
/// The time that an engine with policies in Python has to end when it is stopped, in periods.
const PATIENCE: u32 = 25;
const SHORT_PERIOD: Duration = Duration::from_millis(20);

/// How far some work has come.
#[derive(Copy, Clone)]
pub(crate) struct WorkProgress {
    /// The current activity, in a word.
    pub(crate) stage: &'static str,
    pub(crate) done: u64,
    /// The total, if it is known.
    pub(crate) total: Option<u64>,
    /// The time of the drive or of the workload.
    pub(crate) now_ns: u64,
}

impl From<ssd::Progress> for WorkProgress {
    fn from(p: ssd::Progress) -> Self {
        let stage = match p.stage {
            Stage::Reading => "reading",
            Stage::Filling => "filling",
            Stage::Ageing => "ageing",
            Stage::Running => "running",
        };
        Self { stage, done: p.done, total: p.total, now_ns: p.now.as_ns() }
    }
}

/// The shared state of the two threads.
struct Shared {
    outside: Arc<Outside>,
    latest: Mutex<Option<WorkProgress>>,
}

impl Shared {
    fn latest(&self) -> std::sync::MutexGuard<'_, Option<WorkProgress>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of the engine's thread.
enum Said<T> {
    Rows(RunTable, Vec<Column>),
    Done(thread::Result<PyResult<T>>),
}

/// Runs `work` with the interpreter released. `work` calls its first argument with its progress and
/// stops when the answer is `false`. Its second takes the rows of the run's tables, if `rows` wants
/// them. Before its first call, `read` gives the number of records read.
///
/// An exception in Python, from Ctrl-C, `progress` or `rows`, is raised here without waiting for
/// `work`, whose result is dropped. Only policies in Python are interrupted, and get a moment: they
/// should not outlive the run.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    outside: Arc<Outside>,
    progress: Option<Py<PyAny>>,
    rows: Option<Py<PyAny>>,
    read: ReadTally,
    work: impl FnOnce(&mut dyn FnMut(WorkProgress) -> bool, Option<Sink>) -> PyResult<T>
    + Send
    + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared { outside, latest: Mutex::default() });
    let (send, mut receive) = sync_channel(1);
    let engine = Arc::clone(&shared);
    let wants_rows = rows.is_some();
    let has_policies = shared.outside.is_used();
    thread::Builder::new().name("floatgate".into()).spawn(move || {
        let mut tick = |progress| {
            *engine.latest() = Some(progress);
            !engine.outside.is_stopped()
        };
        let say = send.clone();
        let work = || {
            let sink = move |table, columns| say.send(Said::Rows(table, columns)).is_ok();
            let sink = wants_rows.then(|| Box::new(sink) as Sink);
            catch_unwind(AssertUnwindSafe(|| work(&mut tick, sink)))
        };
        // A thread that stays known to Python enters it thirty times as fast.
        let result = if has_policies { Python::attach(|py| py.detach(work)) } else { work() };
        // The receiver may be gone.
        let _ = send.send(Said::Done(result));
    })?;
    let mut looked = Instant::now();
    loop {
        let wait = PERIOD.saturating_sub(looked.elapsed());
        let heard;
        (receive, heard) = listen(py, receive, wait);
        let mut raised = match heard {
            Ok(Said::Done(Ok(result))) => return result,
            Ok(Said::Done(Err(panic))) => {
                let said = message(&*panic);
                shared.outside.blame(&said)?;
                return Err(InternalError::new_err(said));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(InternalError::new_err("the engine ended without an answer"));
            }
            Ok(Said::Rows(table, columns)) => match &rows {
                Some(take) => hand_over(py, take, table, columns),
                None => Ok(()),
            },
            Err(RecvTimeoutError::Timeout) => Ok(()),
        };
        if looked.elapsed() >= PERIOD {
            let latest = shared.latest().or_else(|| opening(&read));
            raised = raised.and_then(|()| look(py, progress.as_ref(), latest));
            looked = Instant::now();
        }
        if let Err(e) = raised {
            shared.outside.stop();
            for _ in 0..if has_policies { PATIENCE } else { 0 } {
                shared.outside.interrupt(py)?;
                let heard;
                (receive, heard) = listen(py, receive, SHORT_PERIOD);
                if matches!(heard, Ok(Said::Done(_)) | Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
            }
            return Err(e);
        }
    }
}

/// The activity before `work` reports one: a workload is read through before it is used.
fn opening(read: &ReadTally) -> Option<WorkProgress> {
    let done = read.records();
    (done > 0).then_some(WorkProgress { stage: "opening", done, total: None, now_ns: 0 })
}

/// Waits for a message with the interpreter released. The receiver goes there and back.
fn listen<T: Send>(
    py: Python<'_>,
    receive: Receiver<T>,
    period: Duration,
) -> (Receiver<T>, Result<T, RecvTimeoutError>) {
    py.detach(move || {
        let heard = receive.recv_timeout(period);
        (receive, heard)
    })
}

/// Lets Python act on signals, and tells it how far the work has come.
fn look(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    latest: Option<WorkProgress>,
) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(f), Some(p)) = (progress, latest) {
        f.call1(py, (p.stage, p.done, p.total, p.now_ns))?;
    }
    Ok(())
}

/// The message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a check failed").to_owned()
}

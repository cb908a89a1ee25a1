//! What a policy written in Python sees: small, read-only values, made for one call. They hold what
//! was true when they were made, so a policy may keep them. `python/floatgate/_core.pyi` describes
//! them.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use ssd::policies::external as core;

/// The drive that a policy works for.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Drive {
    /// Channels.
    channels: usize,
    /// Dies of all channels.
    dies: usize,
    /// Planes of all dies.
    planes: usize,
    /// Blocks of all planes.
    blocks: usize,
    /// Blocks of one plane.
    blocks_per_plane: usize,
    /// Pages of one block.
    pages_per_block: u32,
    /// Bytes of one page.
    page_bytes: u64,
    /// Pages that the drive exports.
    logical_pages: u32,
}

impl Drive {
    pub(crate) fn new(geometry: &core::Geometry, logical_pages: u32) -> Self {
        Self {
            channels: geometry.channels(),
            dies: geometry.dies(),
            planes: geometry.planes(),
            blocks: geometry.blocks(),
            blocks_per_plane: geometry.blocks_per_plane(),
            pages_per_block: geometry.pages_per_block(),
            page_bytes: geometry.page_size().get(),
            logical_pages,
        }
    }
}

/// One host access to one logical page.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Access {
    /// When it arrived, in simulated ns.
    now_ns: u64,
    /// `read`, `write` or `trim`.
    kind: &'static str,
    /// The logical page.
    lpn: u32,
    /// Whether the request is urgent.
    high_priority: bool,
    /// Page operations of the host in the drive, waiting or running.
    waiting: u32,
}

impl Access {
    pub(crate) fn new(access: &core::Access) -> Self {
        Self {
            now_ns: access.now.as_ns(),
            kind: match access.kind {
                core::AccessKind::Read => "read",
                core::AccessKind::Write => "write",
                core::AccessKind::Trim => "trim",
            },
            lpn: access.lpn.as_u32(),
            high_priority: access.prio == core::Prio::High,
            waiting: access.waiting_device,
        }
    }
}

/// The circumstances of one page program, as it is dispatched.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Write {
    /// The simulated time in ns.
    now_ns: u64,
    /// The logical page.
    lpn: u32,
    /// Who writes: `host`, `gc`, `wear`, `refresh`, `rewrite` or `map`.
    source: &'static str,
    /// Who made it necessary: for `gc`, whose write needed the space; else the source.
    demand: &'static str,
    /// Whether the request is urgent.
    high_priority: bool,
    /// For a move, the level of the copy that it is made from; None for host writes.
    stored: Option<&'static str>,
    /// Page operations of other requests that wait for the same die, at most 64.
    waiting_die: u32,
    /// The same for the channel.
    waiting_channel: u32,
    /// The same for the whole drive.
    waiting_device: u32,
}

impl Write {
    pub(crate) fn new(w: &core::WriteCtx) -> Self {
        Self {
            now_ns: w.now.as_ns(),
            lpn: w.lpn.as_u32(),
            source: w.tag.source.name(),
            demand: w.tag.demand.name(),
            high_priority: w.tag.prio == core::Prio::High,
            stored: w.stored.map(core::Level::name),
            waiting_die: w.waiting_die,
            waiting_channel: w.waiting_channel,
            waiting_device: w.waiting_device,
        }
    }
}

/// One block that may be reclaimed.
pub(crate) struct Candidate {
    pub(crate) block: u32,
    valid: u32,
    gain: u32,
    erases: u32,
    wear: u32,
    closed_at: u32,
}

/// The blocks of one plane that may be reclaimed, in order of address.
///
/// Each property of the blocks is a read-only numpy array with one entry for each. It is made when
/// it is first asked for, and does not change any more.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Plane {
    /// The number of the plane.
    #[pyo3(get)]
    index: u32,
    /// The simulated time in ns; 0 while the drive is preconditioned.
    #[pyo3(get)]
    now_ns: u64,
    /// Pages of one block.
    #[pyo3(get)]
    pages_per_block: u32,
    closings: u32,
    candidates: Vec<Candidate>,
    columns: [PyOnceLock<Py<PyAny>>; 6],
}

impl Plane {
    pub(crate) fn new(plane: &core::PlaneView<'_>) -> Self {
        let ftl = &plane.ftl;
        let candidate = |b: core::BlockId| Candidate {
            block: b.as_u32(),
            valid: ftl.blocks.valid(b),
            gain: ftl.blocks.gain(b),
            erases: ftl.erases[b],
            wear: ftl.wear[b],
            closed_at: ftl.blocks.closed_at(b),
        };
        let mut candidates = Vec::with_capacity(plane.len() as usize);
        candidates.extend(plane.candidates().map(candidate));
        Self {
            index: plane.plane.as_u32(),
            now_ns: plane.now.as_ns(),
            pages_per_block: ftl.geometry.pages_per_block(),
            closings: ftl.blocks.closings(),
            candidates,
            columns: [const { PyOnceLock::new() }; 6],
        }
    }

    /// The candidates in order of address.
    pub(crate) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// A column, made when it is first asked for.
    fn column<'py, const N: usize>(
        &self,
        py: Python<'py>,
        number: usize,
        dtype: &str,
        of: impl Fn(&Candidate) -> [u8; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let made = self.columns[number].get_or_try_init(py, || {
            let bytes = PyBytes::new_with(py, self.candidates.len() * N, |bytes| {
                for (to, candidate) in bytes.chunks_exact_mut(N).zip(&self.candidates) {
                    to.copy_from_slice(&of(candidate));
                }
                Ok(())
            })?;
            let from_buffer = FROM_BUFFER.import(py, "numpy", "frombuffer")?;
            Ok::<_, PyErr>(from_buffer.call1((bytes, dtype))?.unbind())
        });
        Ok(made?.bind(py).clone())
    }

    fn whole<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        of: impl Fn(&Candidate) -> u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, number, "int64", |c| i64::from(of(c)).to_ne_bytes())
    }
}

#[pymethods]
impl Plane {
    fn __len__(&self) -> usize {
        self.candidates.len()
    }

    /// The number of each block: what `choose` returns one of.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py, 0, |c| c.block)
    }

    /// Pages that hold data, and would have to move.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py, 1, |c| c.valid)
    }

    /// Pages won by reclaiming the block.
    #[getter]
    fn gain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py, 2, |c| c.gain)
    }

    /// Erases since the run began.
    #[getter]
    fn erases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py, 3, |c| c.erases)
    }

    /// Effective program/erase cycles since the run began.
    #[getter]
    fn wear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, 4, "float64", |c| (f64::from(c.wear) * 1e-3).to_ne_bytes())
    }

    /// Blocks of the whole drive that were written to their end after this one.
    #[getter]
    fn age<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py, 5, |c| self.closings.wrapping_sub(c.closed_at))
    }
}

/// A random stream of the run: equal seeds give equal numbers.
///
/// It can be used while the method that was given it runs.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Random(Mutex<Option<core::Rng>>);

impl Random {
    pub(crate) fn empty() -> Self {
        Self(Mutex::new(None))
    }

    /// Runs `call` with the stream lent to Python, which draws from it.
    pub(crate) fn lend<T>(&self, rng: &mut core::Rng, call: impl FnOnce() -> T) -> T {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(rng.clone());
        let answer = call();
        if let Some(after) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            *rng = after;
        }
        answer
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut core::Rng) -> T) -> PyResult<T> {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rng = rng.as_mut().ok_or_else(|| {
            PyRuntimeError::new_err("this random stream can be used in `choose` only")
        })?;
        Ok(draw(rng))
    }
}

#[pymethods]
impl Random {
    /// Returns a whole number from 0 to n - 1, each with the same chance; 1 <= n < 2^32.
    #[pyo3(signature = (n, /))]
    fn below(&self, n: u32) -> PyResult<u32> {
        if n == 0 {
            return Err(PyValueError::new_err("no number lies below 0"));
        }
        self.draw(|rng| rng.below(n))
    }

    /// Returns a number in [0, 1).
    fn unit(&self) -> PyResult<f64> {
        self.draw(core::Rng::unit)
    }

    /// Returns 64 random bits: a seed for numpy's generators, for example.
    fn bits(&self) -> PyResult<u64> {
        self.draw(core::Rng::bits)
    }
}

//! The view of a Python policy: small, read-only values, made for one call. They hold the values at
//! the time when they were made, so a policy may keep them. `python/floatgate/_core.pyi` describes
//! them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use ssd::physics::Recovery;
use ssd::policies::external::{self as core, Idx};

/// A read-only numpy array, made when it is first asked for.
struct Column(PyOnceLock<Py<PyAny>>);

impl Column {
    const fn new() -> Self {
        Self(PyOnceLock::new())
    }

    fn get<'py, T, const N: usize>(
        &self,
        py: Python<'py>,
        dtype: &str,
        rows: &[T],
        of: impl Fn(&T) -> [u8; N],
    ) -> PyResult<Bound<'py, PyAny>> {
        static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let made = self.0.get_or_try_init(py, || {
            let bytes = PyBytes::new_with(py, rows.len() * N, |bytes| {
                for (to, row) in bytes.chunks_exact_mut(N).zip(rows) {
                    to.copy_from_slice(&of(row));
                }
                Ok(())
            })?;
            let from_buffer = FROM_BUFFER.import(py, "numpy", "frombuffer")?;
            Ok::<_, PyErr>(from_buffer.call1((bytes, dtype))?.unbind())
        });
        Ok(made?.bind(py).clone())
    }

    fn whole<'py, T>(
        &self,
        py: Python<'py>,
        rows: &[T],
        of: impl Fn(&T) -> u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.get(py, "int64", rows, |row| i64::from(of(row)).to_ne_bytes())
    }

    /// Words of at most six letters, as numpy keeps them.
    fn words<'py, T>(
        &self,
        py: Python<'py>,
        rows: &[T],
        of: impl Fn(&T) -> &'static str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.get(py, "U6", rows, |row| {
            let mut all = [0_u8; 24];
            for (to, letter) in all.chunks_exact_mut(4).zip(of(row).chars()) {
                to.copy_from_slice(&u32::from(letter).to_ne_bytes());
            }
            all
        })
    }

    fn flags<'py>(&self, py: Python<'py>, rows: &[bool]) -> PyResult<Bound<'py, PyAny>> {
        self.get(py, "bool", rows, |row| [u8::from(*row)])
    }
}

/// The drive that a policy works for.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Drive {
    /// Channels.
    channels: usize,
    /// Chips of one channel.
    chips_per_channel: u32,
    /// Dies of one chip.
    dies_per_chip: u32,
    /// Planes of one die.
    planes_per_die: u32,
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
    /// Mapping units of a physical page, at least 1. Policies call a mapping unit a page.
    units_per_page: u32,
    /// Planes in which each mapping unit has a physical page, or a part of one.
    planes_per_unit: u32,
    /// Pages that one program command takes, one after the other in their block.
    units_per_program: u32,
    /// Planes of the flash that one block covers.
    planes_per_block: u32,
    /// The page type of each page of a block, from 0 on: the bit of its cells that it holds.
    page_types: Vec<u32>,
    /// Pages that the drive exports; 0 in `streams` and `spare_slots`: not known yet.
    logical_pages: u32,
}

impl Drive {
    pub(crate) fn new(geometry: &core::Geometry, logical_pages: u32) -> Self {
        let shape = geometry.shape();
        let pages = 0..geometry.pages_per_block();
        Self {
            channels: geometry.channels(),
            chips_per_channel: shape.chips_per_channel,
            dies_per_chip: shape.dies_per_chip,
            planes_per_die: shape.planes_per_die,
            dies: geometry.dies(),
            planes: geometry.planes(),
            blocks: geometry.blocks(),
            blocks_per_plane: geometry.blocks_per_plane(),
            pages_per_block: geometry.pages_per_block(),
            page_bytes: geometry.page_size().get(),
            units_per_page: geometry.units().per_page,
            planes_per_unit: geometry.units().across,
            units_per_program: geometry.slots_per_program(),
            planes_per_block: geometry.units().planes,
            page_types: pages.map(|page| geometry.page_type(page) as u32).collect(),
            logical_pages,
        }
    }
}

/// One host access to one logical page.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Access {
    /// The time of arrival, in simulated ns.
    now_ns: u64,
    /// `read`, `write` or `trim`.
    kind: &'static str,
    /// The logical page.
    lpn: u32,
    /// Whether the request is urgent.
    high_priority: bool,
    /// The number of the request's flow; 0 where there are none.
    flow: u8,
    /// The hint of the request about its data, 1 to 255; 0 without one.
    hint: u8,
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
            high_priority: access.host.prio == core::Prio::High,
            flow: access.host.flow,
            hint: access.host.hint,
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
    /// The die to which it is written.
    die: u32,
    /// The source of the write, by its name in results, such as `host` or `gc`.
    source: &'static str,
    /// The source that needed it.
    ///
    /// For `gc` it is the source of the write that needs space, otherwise the source itself.
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
    /// Requests of the host inside the drive besides this one's, waiting or in service.
    requests_inside: u32,
}

impl Write {
    pub(crate) fn new(w: &core::WriteCtx) -> Self {
        Self {
            now_ns: w.now.as_ns(),
            lpn: w.lpn.as_u32(),
            die: w.die.as_u32(),
            source: w.tag.source.name(),
            demand: w.tag.demand.name(),
            high_priority: w.tag.prio == core::Prio::High,
            stored: w.stored.map(core::Level::name),
            waiting_die: w.waiting_die,
            waiting_channel: w.waiting_channel,
            waiting_device: w.waiting_device,
            requests_inside: w.requests_inside,
        }
    }
}

/// The facts of one block.
pub(crate) struct Row {
    pub(crate) block: u32,
    valid: u32,
    gain: u32,
    erases: u32,
    wear: u32,
    closed_at: u32,
    reads: u32,
    written: u32,
    role: u8,
    mode: core::Mode,
    state: core::State,
}

impl Row {
    fn of(ftl: &core::FtlView<'_>, b: core::BlockId) -> Self {
        Self {
            block: b.as_u32(),
            valid: ftl.blocks.valid(b),
            gain: ftl.blocks.gain(b),
            erases: ftl.erases[b],
            wear: ftl.wear[b],
            closed_at: ftl.blocks.closed_at(b),
            reads: ftl.reads.get(b.index()).copied().unwrap_or(0),
            written: ftl.blocks.written(b),
            role: ftl.blocks.role(b).0,
            mode: ftl.modes[b],
            state: ftl.blocks.state(b),
        }
    }

    fn cycles(&self) -> f64 {
        f64::from(self.wear) * 1e-3
    }
}

/// Blocks of one plane, in order of address: those that may be reclaimed, or all.
///
/// Each property of the blocks is a read-only numpy array with one entry for each block. It is made
/// at the first access, and does not change afterwards.
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
    rows: Vec<Row>,
    columns: [Column; 11],
}

impl Plane {
    /// Those that may be reclaimed.
    pub(crate) fn candidates(plane: &core::PlaneView<'_>) -> Self {
        let most = plane.len() as usize;
        Self::of(&plane.ftl, plane.plane, plane.now, most, plane.candidates())
    }

    /// All of them.
    pub(crate) fn all(ftl: &core::FtlView<'_>, plane: core::PlaneId, now: core::Time) -> Self {
        let all = ftl.geometry.blocks_of(plane);
        Self::of(ftl, plane, now, all.len(), all.map(core::BlockId::new))
    }

    fn of(
        ftl: &core::FtlView<'_>,
        plane: core::PlaneId,
        now: core::Time,
        most: usize,
        blocks: impl Iterator<Item = core::BlockId>,
    ) -> Self {
        let mut rows = Vec::with_capacity(most);
        rows.extend(blocks.map(|b| Row::of(ftl, b)));
        Self {
            index: plane.as_u32(),
            now_ns: now.as_ns(),
            pages_per_block: ftl.geometry.pages_per_block(),
            closings: ftl.blocks.closings(),
            rows,
            columns: [const { Column::new() }; 11],
        }
    }

    /// Its blocks in order of address.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

#[pymethods]
impl Plane {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The number of each block, by which answers name it.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[0].whole(py, &self.rows, |row| row.block)
    }

    /// Pages that hold data, and would have to move.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[1].whole(py, &self.rows, |row| row.valid)
    }

    /// Pages won by reclaiming the block.
    #[getter]
    fn gain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[2].whole(py, &self.rows, |row| row.gain)
    }

    /// Erases since the run began.
    #[getter]
    fn erases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[3].whole(py, &self.rows, |row| row.erases)
    }

    /// Effective program/erase cycles since the run began.
    #[getter]
    fn wear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[4].get(py, "float64", &self.rows, |row| row.cycles().to_ne_bytes())
    }

    /// Blocks of the whole drive that were written to their end after this one.
    #[getter]
    fn age<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let age = |row: &Row| self.closings.wrapping_sub(row.closed_at);
        self.columns[5].whole(py, &self.rows, age)
    }

    /// Host reads since the last erase, if a read-disturb policy counts them; otherwise 0.
    #[getter]
    fn reads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[6].whole(py, &self.rows, |row| row.reads)
    }

    /// The first page from which on nothing is written.
    #[getter]
    fn written<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[7].whole(py, &self.rows, |row| row.written)
    }

    /// The number of the block's role; 0: an ordinary block.
    #[getter]
    fn role<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[8].whole(py, &self.rows, |row| row.role.into())
    }

    /// The block's mode: `full`, `low`, `wom1` or `wom2`.
    #[getter]
    fn mode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[9].words(py, &self.rows, |row| row.mode.name())
    }

    /// The block's state: `free`, `open`, `full`, `closed`, `moving` or `bad`.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[10].words(py, &self.rows, |row| row.state.name())
    }
}

/// One block and its pages.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Block {
    /// The number of the block.
    #[pyo3(get)]
    number: u32,
    /// The number of its plane.
    #[pyo3(get)]
    plane: u32,
    row: Row,
    /// Slots of a second generation of a write-once code; 0 if the block cannot have one.
    #[pyo3(get)]
    second_slots: u32,
    /// Of these, the slots that hold data, which would have to move.
    #[pyo3(get)]
    second_valid: u32,
    owners: Vec<Option<core::Lpn>>,
    column: Column,
}

impl Block {
    pub(crate) fn new(ftl: &core::FtlView<'_>, block: core::BlockId) -> Self {
        let owner = |slot| {
            let valid = ftl.map.is_valid(block, slot);
            valid.then(|| ftl.map.owner(ftl.geometry.ppn(block, slot))).flatten()
        };
        let owners = (0..ftl.geometry.pages_per_block()).map(owner).collect();
        let row = Row::of(ftl, block);
        let (mut second_slots, mut second_valid) = (0, 0);
        if Self::may_be_written_again(ftl, block) {
            let again = |from| ftl.layouts.slot_from(core::Mode::Wom2, from);
            for slot in std::iter::successors(again(0), |slot| again(slot + 1)) {
                second_slots += 1;
                second_valid += u32::from(ftl.map.is_valid(block, slot));
            }
        }
        let plane = ftl.geometry.plane_of(block).as_u32();
        let (number, column) = (row.block, Column::new());
        Self { number, plane, row, second_slots, second_valid, owners, column }
    }

    /// Whether a block is complete in the first generation of a write-once code.
    pub(crate) fn may_be_written_again(ftl: &core::FtlView<'_>, block: core::BlockId) -> bool {
        let (mode, written) = (ftl.modes[block], ftl.blocks.written(block));
        mode == core::Mode::Wom1 && ftl.layouts.slot_from(mode, written).is_none()
    }
}

#[pymethods]
impl Block {
    /// Its state: `free`, `open`, `full`, `closed`, `moving` or `bad`.
    #[getter]
    fn state(&self) -> &'static str {
        self.row.state.name()
    }

    /// Its mode: `full`, `low`, `wom1` or `wom2`.
    #[getter]
    fn mode(&self) -> &'static str {
        self.row.mode.name()
    }

    /// The number of its role; 0: an ordinary block.
    #[getter]
    fn role(&self) -> u8 {
        self.row.role
    }

    /// Pages that hold data.
    #[getter]
    fn valid(&self) -> u32 {
        self.row.valid
    }

    /// Erases since the run began.
    #[getter]
    fn erases(&self) -> u32 {
        self.row.erases
    }

    /// Effective program/erase cycles since the run began.
    #[getter]
    fn wear(&self) -> f64 {
        self.row.cycles()
    }

    /// Host reads since the last erase, if a read-disturb policy counts them; otherwise 0.
    #[getter]
    fn reads(&self) -> u32 {
        self.row.reads
    }

    /// The first page from which on nothing is written.
    #[getter]
    fn written(&self) -> u32 {
        self.row.written
    }

    /// The logical page that each of its pages holds; -1: none. A read-only numpy array.
    #[getter]
    fn lpns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let lpn = |owner: &Option<core::Lpn>| owner.map_or(-1, |lpn| i64::from(lpn.as_u32()));
        self.column.get(py, "int64", &self.owners, |owner| lpn(owner).to_ne_bytes())
    }
}

/// The load of the planes and dies of a drive.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Load {
    writable: Vec<bool>,
    waiting: Vec<u32>,
    idle: Vec<bool>,
    columns: [Column; 3],
}

impl Load {
    pub(crate) fn new(load: &core::Load<'_>) -> Self {
        let dies = load.waiting.len();
        Self {
            writable: (0..load.geometry.planes()).map(|plane| load.writable.get(plane)).collect(),
            waiting: load.waiting.as_slice().to_vec(),
            idle: (0..dies).map(|die| load.idle.get(die)).collect(),
            columns: [const { Column::new() }; 3],
        }
    }
}

#[pymethods]
impl Load {
    /// Whether each plane has space for a host write: a read-only numpy array.
    #[getter]
    fn writable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[0].flags(py, &self.writable)
    }

    /// Page operations that wait for or run on each die: a read-only numpy array.
    #[getter]
    fn waiting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[1].whole(py, &self.waiting, |n| *n)
    }

    /// Whether each die has nothing to do: a read-only numpy array.
    #[getter]
    fn idle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.columns[2].flags(py, &self.idle)
    }
}

/// The first operation of a lane: one kind of operation that waits for a die.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Waiting {
    /// `read` or `write` of the host, or `job`: garbage collection, wear levelling, refresh.
    kind: &'static str,
    /// Whether the request is urgent.
    high_priority: bool,
    /// The order of arrival at the die, smallest first. A job keeps its number.
    order: u64,
    /// When it began to wait, for the die or for an earlier need such as a block.
    ///
    /// An operation of a job: when the job asked for it.
    since_ns: u64,
    /// Host reads that the die has begun since this became its oldest operation but reads.
    ///
    /// 0 for reads, and for operations behind another one that is not a read.
    passed: u32,
}

impl Waiting {
    pub(crate) fn new((head, waited): (&core::OpView, &core::Waited)) -> Self {
        Self {
            kind: match head.op {
                core::OpKind::Read => "read",
                core::OpKind::Write => "write",
                core::OpKind::Job => "job",
            },
            high_priority: head.prio == core::Prio::High,
            order: head.seq,
            since_ns: waited.since.as_ns(),
            passed: waited.passed,
        }
    }
}

/// The request of a flow that has waited longest for a place in the drive.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Head {
    /// The flow, counted from 0.
    flow: u8,
    /// Its weight, from 1.
    weight: u32,
    /// Whether the request is urgent.
    high_priority: bool,
    /// When it arrived.
    arrived_ns: u64,
    /// The number of its bytes.
    bytes: u32,
    /// Requests of the flow inside the drive.
    inside: u32,
}

impl Head {
    pub(crate) fn new(head: &core::HeadView) -> Self {
        Self {
            flow: head.flow,
            weight: head.weight,
            high_priority: head.prio == core::Prio::High,
            arrived_ns: head.arrived.as_ns(),
            bytes: head.bytes,
            inside: head.inside,
        }
    }
}

/// The plane of a host write, unless another is chosen.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Point {
    /// The open block.
    block: u32,
    /// Its next page.
    page: u32,
    /// Whether another block may be opened in its place.
    may_open: bool,
    /// The number of the plane's pages that may still be passed over.
    may_pass: u32,
}

impl Point {
    pub(crate) fn new(at: &core::WritePoint, may_pass: u32) -> Self {
        Self { block: at.block.as_u32(), page: at.next, may_open: at.may_open, may_pass }
    }
}

/// The facts to plan a drive's life with.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct Life {
    /// The number of bytes that one program/erase cycle of every block programs.
    raw_bytes: u64,
    /// Bytes of one page.
    page_bytes: u64,
    /// The program/erase cycles that the flash is rated for.
    cycles: u32,
    /// The recovery between cycles, as `floatgate.physics.Recovery` takes it.
    recovery: &'static str,
    /// Whether the host sends later requests later when the throttle delays earlier ones.
    pushes_back: bool,
}

impl Life {
    pub(crate) fn new(life: &core::Life) -> Self {
        let core::Life { raw_bytes, page_bytes, cycles, pushes_back, .. } = *life;
        let recovery = if life.recovery == Recovery::PRINTED { "printed" } else { "fitted" };
        Self { raw_bytes, page_bytes, cycles, recovery, pushes_back }
    }
}

/// A page that is about to be written, as a separation policy sees it.
#[pyclass(frozen, get_all, module = "floatgate.policy")]
pub(crate) struct NewPage {
    /// The simulated time in ns; 0 before the run.
    now_ns: u64,
    /// The logical page.
    lpn: u32,
    /// Whether it moves; False: the host writes it.
    moves: bool,
    /// The source of the write, by its name in results, such as `host` or `gc`.
    source: &'static str,
    /// Whether the request is urgent.
    high_priority: bool,
    /// The number of the request's flow; 0 where there are none, and for moves.
    flow: u8,
    /// The hint of the request about its data; 0 is none, as for moves.
    hint: u8,
    /// The stream that its copy lies in, by its place in `streams`; None: in none of them.
    stream: Option<u8>,
    /// Pages that the host wrote since it wrote this one last; None: not known.
    age: Option<u32>,
    /// Pages that the host has written.
    clock: u32,
}

impl NewPage {
    pub(crate) fn new(page: &core::PageCtx) -> Self {
        Self {
            now_ns: page.now.as_ns(),
            lpn: page.lpn.as_u32(),
            moves: page.moves,
            source: page.tag.source.name(),
            high_priority: page.tag.prio == core::Prio::High,
            flow: page.flow,
            hint: page.hint,
            stream: page.from,
            age: page.age,
            clock: page.clock,
        }
    }
}

/// When each copy of a page ends: what no drive can know.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Deaths(pub(crate) Arc<core::Deaths>);

#[pymethods]
impl Deaths {
    /// Returns when a page is written over or given up that was so this number of times.
    ///
    /// In pages that the host has written until then; None: never.
    fn end(&self, lpn: u32, changes: u32) -> PyResult<Option<u32>> {
        if lpn as usize + 1 >= self.0.first.len() {
            return Err(PyIndexError::new_err(format!("the drive has no page {lpn}")));
        }
        let changes = changes.min(self.0.at.len() as u32);
        let at = self.0.of(core::Lpn::from_u32(lpn), changes);
        Ok(Some(at).filter(|at| *at < u32::MAX))
    }
}

/// The reads of each page between two writes, which a real drive cannot know in advance.
#[pyclass(frozen, module = "floatgate.policy")]
pub(crate) struct Future(pub(crate) Arc<core::Future>);

#[pymethods]
impl Future {
    /// Returns the reads of a page after this number of writes; 255 stands for 255 or more.
    fn reads(&self, lpn: u32, writes: u32) -> PyResult<u8> {
        if lpn as usize + 1 >= self.0.first.len() {
            return Err(PyIndexError::new_err(format!("the drive has no page {lpn}")));
        }
        let writes = writes.min(self.0.reads.len() as u32);
        Ok(self.0.reads(core::Lpn::from_u32(lpn), writes))
    }
}

/// A random stream of the run: equal seeds give equal numbers.
///
/// It is valid only during the call of the method that receives it.
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

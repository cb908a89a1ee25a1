"""The compiled engine. Text goes in, JSON comes out; people call `floatgate.run`."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self, TypedDict, final, type_check_only

from numpy import bool_, float64, int64, str_, uint64
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from floatgate.policy.finder import Finder

__all__ = [
    "Access",
    "Block",
    "Cell",
    "ConfigError",
    "Deaths",
    "Drive",
    "Future",
    "Head",
    "InputError",
    "InternalError",
    "Life",
    "Load",
    "NewPage",
    "Plane",
    "Point",
    "PolicyError",
    "Random",
    "Recovery",
    "Rows",
    "SessionBase",
    "Stop",
    "TableFile",
    "Waiting",
    "WorkloadError",
    "Write",
    "accounts",
    "bench",
    "chips",
    "columns",
    "content_of",
    "convert",
    "correctable",
    "demand",
    "describe",
    "fast_forward",
    "fit",
    "formats",
    "generators",
    "inherited",
    "ldpc_facts",
    "ldpc_frames",
    "ldpc_interval",
    "ldpc_levels",
    "located",
    "plan",
    "policies",
    "presets",
    "program_us",
    "published",
    "read_us",
    "reprogram_wear",
    "resolve",
    "result_shape",
    "run",
    "schema",
    "serve",
    "settings_of",
    "sha256",
    "sources",
    "suggested_columns",
    "text_of",
    "traces",
    "version",
]

@type_check_only
class Reading(TypedDict):
    """How a trace is to be read, and the changes made to it."""

    format: str | None
    time_unit: str | None
    columns: str | None
    event: str | None
    devices: Sequence[str]
    process: str | None
    flow_by: str | None
    skip_bad: bool
    traces: Sequence[str]
    slice: str | None
    first: int | None
    footprint: float | None
    speed: float | None
    repeat: int | None
    tables: Callable[[str, str | None, str | None, list[str], bool, bool, bool], object]

class InputError(Exception):
    """The input is wrong: the message gives the place and the remedy.

    `code` is the kind of mistake, for `floatgate explain`.
    """

    code: str

class ConfigError(InputError):
    """A drive, a setting or a policy is wrong; every mistake is listed."""

    errors: list[str]

class PolicyError(InputError):
    """A policy written in Python failed during a run; the exception that it raised is the cause."""

class WorkloadError(InputError):
    """A trace or a generator is wrong, or cannot be read."""

class InternalError(Exception):
    """A check of the simulator failed: a bug of floatgate, not of the input."""

@final
class Rows:
    """Some rows of a table. They are given away once, to a file or as arrays.

    Args:
        columns: For each column: its name, the values, the words that the values count through (or
            None), and whether a row may lack its value. A missing value is the greatest number, or
            not a number.
    """

    def __new__(
        cls, columns: Sequence[tuple[str, NDArray[Any], Sequence[str] | None, bool]]
    ) -> Rows: ...
    def __len__(self) -> int: ...
    def arrays(self) -> list[tuple[str, NDArray[Any]]]:
        """The columns by name. A column of words has positions in the list of words."""

@final
class TableFile:
    """A Parquet file that a thread writes while its rows come in.

    All methods raise `OSError` if the file cannot be written.
    """

    def __new__(cls, path: str | PathLike[str]) -> TableFile: ...
    def put(self, rows: Rows) -> None:
        """Adds rows. Waits while others are being written."""
    def finish(self, metadata: Sequence[tuple[str, str]]) -> None:
        """Writes the file's own description, and waits until everything is written."""
    def abandon(self) -> None:
        """Stops writing, unless everything is already written."""

@final
class Stop:
    """Tells a server to end: it answers the commands that it has, and gives its result."""

    def __new__(cls) -> Stop: ...
    def set(self) -> None:
        """Sets it."""

@final
class Drive:
    """The drive that a policy works for."""

    @property
    def channels(self) -> int:
        """Channels."""
    @property
    def chips_per_channel(self) -> int:
        """Chips of one channel."""
    @property
    def dies_per_chip(self) -> int:
        """Dies of one chip."""
    @property
    def planes_per_die(self) -> int:
        """Planes of one die."""
    @property
    def dies(self) -> int:
        """Dies of all channels."""
    @property
    def planes(self) -> int:
        """Planes of all dies."""
    @property
    def blocks(self) -> int:
        """Blocks of all planes."""
    @property
    def blocks_per_plane(self) -> int:
        """Blocks of one plane."""
    @property
    def pages_per_block(self) -> int:
        """Pages of one block."""
    @property
    def page_bytes(self) -> int:
        """Bytes of one page."""
    @property
    def units_per_page(self) -> int:
        """Mapping units of a physical page, at least 1. Policies call a mapping unit a page."""
    @property
    def planes_per_unit(self) -> int:
        """Planes in which each mapping unit has a physical page, or a part of one."""
    @property
    def units_per_program(self) -> int:
        """Pages that one program command takes, one after the other in their block."""
    @property
    def planes_per_block(self) -> int:
        """Planes of the flash that one block covers."""
    @property
    def page_types(self) -> list[int]:
        """The page type of each page of a block, from 0 on: the bit of its cells that it holds."""
    @property
    def logical_pages(self) -> int:
        """Pages that the drive exports; 0 in `streams` and `spare_slots`: not known yet."""

@final
class Access:
    """One host access to one logical page."""

    @property
    def now_ns(self) -> int:
        """The time of arrival, in simulated ns."""
    @property
    def kind(self) -> str:
        """`read`, `write` or `trim`."""
    @property
    def lpn(self) -> int:
        """The logical page."""
    @property
    def high_priority(self) -> bool:
        """Whether the request is urgent."""
    @property
    def flow(self) -> int:
        """The number of the request's flow; 0 where there are none."""
    @property
    def hint(self) -> int:
        """The hint of the request about its data, 1 to 255; 0 without one."""
    @property
    def waiting(self) -> int:
        """Page operations of the host in the drive, waiting or running."""

@final
class Write:
    """The circumstances of one page program, as it is dispatched."""

    @property
    def now_ns(self) -> int:
        """The simulated time in ns."""
    @property
    def lpn(self) -> int:
        """The logical page."""
    @property
    def die(self) -> int:
        """The die to which it is written."""
    @property
    def source(self) -> str:
        """The source of the write, by its name in results, such as `host` or `gc`."""
    @property
    def demand(self) -> str:
        """The source that needed it.

        For `gc` it is the source of the write that needs space, otherwise the source itself.
        """
    @property
    def high_priority(self) -> bool:
        """Whether the request is urgent."""
    @property
    def stored(self) -> str | None:
        """For a move, the level of the copy that it is made from; None for host writes."""
    @property
    def waiting_die(self) -> int:
        """Page operations of other requests that wait for the same die, at most 64."""
    @property
    def waiting_channel(self) -> int:
        """The same for the channel."""
    @property
    def waiting_device(self) -> int:
        """The same for the whole drive."""
    @property
    def requests_inside(self) -> int:
        """Requests of the host inside the drive besides this one's, waiting or in service."""

@final
class Plane:
    """Blocks of one plane, in order of address: those that may be reclaimed, or all.

    Each property of the blocks is a read-only numpy array with one entry for each block. It is made
    at the first access, and does not change afterwards.
    """

    @property
    def index(self) -> int:
        """The number of the plane."""
    @property
    def now_ns(self) -> int:
        """The simulated time in ns; 0 while the drive is preconditioned."""
    @property
    def pages_per_block(self) -> int:
        """Pages of one block."""
    @property
    def blocks(self) -> NDArray[int64]:
        """The number of each block, by which answers name it."""
    @property
    def valid(self) -> NDArray[int64]:
        """Pages that hold data, and would have to move."""
    @property
    def gain(self) -> NDArray[int64]:
        """Pages won by reclaiming the block."""
    @property
    def erases(self) -> NDArray[int64]:
        """Erases since the run began."""
    @property
    def wear(self) -> NDArray[float64]:
        """Effective program/erase cycles since the run began."""
    @property
    def age(self) -> NDArray[int64]:
        """Blocks of the whole drive that were written to their end after this one."""
    @property
    def reads(self) -> NDArray[int64]:
        """Host reads since the last erase, if a read-disturb policy counts them; otherwise 0."""
    @property
    def written(self) -> NDArray[int64]:
        """The first page from which on nothing is written."""
    @property
    def role(self) -> NDArray[int64]:
        """The number of the block's role; 0: an ordinary block."""
    @property
    def mode(self) -> NDArray[str_]:
        """The block's mode: `full`, `low`, `wom1` or `wom2`."""
    @property
    def state(self) -> NDArray[str_]:
        """The block's state: `free`, `open`, `full`, `closed`, `moving` or `bad`."""
    def __len__(self) -> int:
        """How many blocks there are."""

@final
class Block:
    """One block and its pages."""

    @property
    def number(self) -> int:
        """The number of the block."""
    @property
    def plane(self) -> int:
        """The number of its plane."""
    @property
    def second_slots(self) -> int:
        """Slots of a second generation of a write-once code; 0 if the block cannot have one."""
    @property
    def second_valid(self) -> int:
        """Of these, the slots that hold data, which would have to move."""
    @property
    def state(self) -> str:
        """Its state: `free`, `open`, `full`, `closed`, `moving` or `bad`."""
    @property
    def mode(self) -> str:
        """Its mode: `full`, `low`, `wom1` or `wom2`."""
    @property
    def role(self) -> int:
        """The number of its role; 0: an ordinary block."""
    @property
    def valid(self) -> int:
        """Pages that hold data."""
    @property
    def erases(self) -> int:
        """Erases since the run began."""
    @property
    def wear(self) -> float:
        """Effective program/erase cycles since the run began."""
    @property
    def reads(self) -> int:
        """Host reads since the last erase, if a read-disturb policy counts them; otherwise 0."""
    @property
    def written(self) -> int:
        """The first page from which on nothing is written."""
    @property
    def lpns(self) -> NDArray[int64]:
        """The logical page that each of its pages holds; -1: none. A read-only numpy array."""

@final
class Load:
    """The load of the planes and dies of a drive."""

    @property
    def writable(self) -> NDArray[bool_]:
        """Whether each plane has space for a host write: a read-only numpy array."""
    @property
    def waiting(self) -> NDArray[int64]:
        """Page operations that wait for or run on each die: a read-only numpy array."""
    @property
    def idle(self) -> NDArray[bool_]:
        """Whether each die has nothing to do: a read-only numpy array."""

@final
class Waiting:
    """The first operation of a lane: one kind of operation that waits for a die."""

    @property
    def kind(self) -> str:
        """`read` or `write` of the host, or `job`: garbage collection, wear levelling, refresh."""
    @property
    def high_priority(self) -> bool:
        """Whether the request is urgent."""
    @property
    def order(self) -> int:
        """The order of arrival at the die, smallest first. A job keeps its number."""
    @property
    def since_ns(self) -> int:
        """When it began to wait, for the die or for an earlier need such as a block.

        An operation of a job: when the job asked for it.
        """
    @property
    def passed(self) -> int:
        """Host reads that the die has begun since this became its oldest operation but reads.

        0 for reads, and for operations behind another one that is not a read.
        """

@final
class Head:
    """The request of a flow that has waited longest for a place in the drive."""

    @property
    def flow(self) -> int:
        """The flow, counted from 0."""
    @property
    def weight(self) -> int:
        """Its weight, from 1."""
    @property
    def high_priority(self) -> bool:
        """Whether the request is urgent."""
    @property
    def arrived_ns(self) -> int:
        """When it arrived."""
    @property
    def bytes(self) -> int:
        """The number of its bytes."""
    @property
    def inside(self) -> int:
        """Requests of the flow inside the drive."""

@final
class Point:
    """The plane of a host write, unless another is chosen."""

    @property
    def block(self) -> int:
        """The open block."""
    @property
    def page(self) -> int:
        """Its next page."""
    @property
    def may_open(self) -> bool:
        """Whether another block may be opened in its place."""
    @property
    def may_pass(self) -> int:
        """The number of the plane's pages that may still be passed over."""

@final
class Life:
    """The facts to plan a drive's life with."""

    @property
    def raw_bytes(self) -> int:
        """The number of bytes that one program/erase cycle of every block programs."""
    @property
    def page_bytes(self) -> int:
        """Bytes of one page."""
    @property
    def cycles(self) -> int:
        """The program/erase cycles that the flash is rated for."""
    @property
    def recovery(self) -> str:
        """The recovery between cycles, as `floatgate.physics.Recovery` takes it."""
    @property
    def pushes_back(self) -> bool:
        """Whether the host sends later requests later when the throttle delays earlier ones."""

@final
class NewPage:
    """A page that is about to be written, as a separation policy sees it."""

    @property
    def now_ns(self) -> int:
        """The simulated time in ns; 0 before the run."""
    @property
    def lpn(self) -> int:
        """The logical page."""
    @property
    def moves(self) -> bool:
        """Whether it moves; False: the host writes it."""
    @property
    def source(self) -> str:
        """The source of the write, by its name in results, such as `host` or `gc`."""
    @property
    def high_priority(self) -> bool:
        """Whether the request is urgent."""
    @property
    def flow(self) -> int:
        """The number of the request's flow; 0 where there are none, and for moves."""
    @property
    def hint(self) -> int:
        """The hint of the request about its data; 0 is none, as for moves."""
    @property
    def stream(self) -> int | None:
        """The stream that its copy lies in, by its place in `streams`; None: in none of them."""
    @property
    def age(self) -> int | None:
        """Pages that the host wrote since it wrote this one last; None: not known."""
    @property
    def clock(self) -> int:
        """Pages that the host has written."""

@final
class Deaths:
    """When each copy of a page ends: what no drive can know."""

    def end(self, lpn: int, changes: int) -> int | None:
        """Returns when a page is written over or given up that was so this number of times.

        In pages that the host has written until then; None: never.
        """

@final
class Future:
    """The reads of each page between two writes, which a real drive cannot know in advance."""

    def reads(self, lpn: int, writes: int) -> int:
        """Returns the reads of a page after this number of writes; 255 stands for 255 or more."""

@final
class Random:
    """A random stream of the run: equal seeds give equal numbers.

    It is valid only during the call of the method that receives it.
    """

    def below(self, n: int, /) -> int:
        """Returns a whole number from 0 to n - 1, each with the same chance; 1 <= n < 2^32."""
    def unit(self) -> float:
        """Returns a number in [0, 1)."""
    def bits(self) -> int:
        """Returns 64 random bits: a seed for numpy's generators, for example."""

def version() -> str: ...
def sources() -> str: ...
def sha256(data: bytes) -> str: ...
def text_of(path: str | PathLike[str], expected: str, most: int, lossy: bool = False) -> str: ...
def settings_of(path: str | PathLike[str], expected: str, kind: str) -> str: ...
def content_of(path: str | PathLike[str], expected: str, most: int) -> bytes: ...
def located(
    text: str,
) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int], list[tuple[int, str]]]: ...
def presets() -> list[tuple[str, str]]: ...
def published() -> list[tuple[str, str]]: ...
def generators() -> list[tuple[str, str]]: ...
def formats() -> list[tuple[str, str]]: ...
def columns(
    text: str,
) -> list[tuple[str, str, int | None, list[tuple[str, int]] | None]]: ...
def suggested_columns(names: Sequence[str], values: Sequence[Sequence[str]]) -> str | None: ...
def policies() -> str: ...
def accounts() -> str: ...
def chips(name: str | None) -> str | None: ...
def bench(
    name: str,
    *,
    samples: int,
    blocks: int,
    seed: int,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> str | None: ...
def schema() -> str: ...
def result_shape() -> str: ...
def traces(folders: Sequence[str]) -> str: ...
def resolve(
    drive: str, *, set: Sequence[str], policy: Sequence[str], seed: int | None, finder: Finder
) -> tuple[str, str]: ...
def inherited(drive: str, *, set: Sequence[str], policy: Sequence[str], finder: Finder) -> str: ...
def describe(
    workload: str,
    *,
    page_size: str,
    epochs: Sequence[str] | None,
    memory: str | None,
    drive: str,
    set: Sequence[str],
    reading: Reading,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> str: ...
def fit(
    trace: str,
    *,
    reading: Reading,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> str: ...
def convert(
    workload: str,
    *,
    drive: str,
    set: Sequence[str],
    reading: Reading,
    progress: Callable[[str, int, int | None, int], object] | None,
    rows: Callable[[str, Rows], object],
    finder: Finder,
) -> str: ...
def plan(
    drive: str,
    workload: str,
    *,
    build: str,
    set: Sequence[str],
    policy: Sequence[str],
    seed: int | None,
    reading: Reading,
    cache: tuple[str, str] | None,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> str: ...
def run(
    drive: str,
    workload: str,
    *,
    build: str,
    set: Sequence[str],
    policy: Sequence[str],
    seed: int | None,
    reading: Reading,
    cache: tuple[str, str] | None,
    progress: Callable[[str, int, int | None, int], object] | None,
    rows: Callable[[str, Rows], object] | None,
    tables: Sequence[str],
    finder: Finder,
    years: str | None = None,
) -> str: ...
def serve(
    drive: str,
    *,
    build: str,
    set: Sequence[str],
    policy: Sequence[str],
    seed: int | None,
    cache: tuple[str, str] | None,
    unix: str | None,
    listen: str | None,
    insecure: bool,
    control: str | None,
    store: str | None,
    record: str | None,
    slowdown: float | None,
    stop: Stop,
    opened: Callable[[str, str], object],
    progress: Callable[[str, int, int | None, int], object] | None,
    rows: Callable[[str, Rows], object] | None,
    tables: Sequence[str],
    finder: Finder,
) -> str: ...
def demand(
    drive: str,
    workload: str,
    *,
    set: Sequence[str],
    seed: int | None,
    reading: Reading,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> list[NDArray[float64]]: ...
def fast_forward(
    drive: str,
    workload: str | None,
    *,
    build: str,
    demand: tuple[Sequence[float], Sequence[float] | None] | None,
    waf: float | None,
    page_write: str | None,
    target: str | None,
    step: str | None,
    keep: tuple[int, int, int, int],
    set: Sequence[str],
    policy: Sequence[str],
    seed: int | None,
    reading: Reading,
    cache: tuple[str, str] | None,
    progress: Callable[[str, int, int | None, int], object] | None,
    finder: Finder,
) -> str: ...

@disjoint_base
class SessionBase:
    """A drive to which a program submits requests one by one; `floatgate.Session` opens it."""

    def __new__(
        cls,
        drive: str,
        *,
        build: str,
        set: Sequence[str],
        policy: Sequence[str],
        seed: int | None,
        flows: Sequence[str],
        cache: tuple[str, str] | None,
        record: str | None,
        name: str,
        finder: Finder,
    ) -> Self: ...
    def submit(
        self,
        op: str,
        offset: int = 0,
        length: int = 0,
        *,
        at: int | None = None,
        token: int = 0,
        hint: int = 0,
        flow: int | str | None = None,
        prio: bool = False,
    ) -> int:
        """Submits a request, and returns its arrival in ns.

        It arrives at the first instant, from `at` on, at which nothing else happens. Simulated time
        passes until then.

        Args:
            op: `read`, `write`, `trim`, `flush` or `write-fua`, a write that is done when its data
                survive a loss of power.
            offset: The first byte; 0 for a flush.
            length: Bytes: at most 1 GiB, of a trim less than 4 GiB; 0 for a flush.
            at: The earliest arrival in ns; None: as soon as possible.
            token: The completion has it; 0 to 2^64 - 1.
            hint: A hint about the data of a write, 1 to 255; 0 without one.
            flow: The number or the name of its flow; None: the first.
            prio: Whether it has high priority.

        Raises:
            InputError: An argument is wrong, `at` has passed, or the drive is worn out.
        """
    def update_handle(self, handle: int, *, at: int | None = None) -> int:
        """Updates a placement handle of a drive with `ftl.fdp`, and returns the time in ns.

        Its open reclaim unit is closed. Later writes with this hint go to a new unit, and so do
        earlier ones that have no place in flash yet. A recording has no updates.

        Args:
            handle: The handle: 0 to the number of handles less 1.
            at: The time in ns to which the drive goes first, events at that time included. None:
                now.

        Raises:
            InputError: There is no such handle, `at` has passed, or the drive is worn out.
        """
    def next_at(self) -> int | None:
        """The time in ns of the next event in the drive; None if no event will come by itself.

        No request is done earlier. A request submitted before that time may change it.
        """
    def advance(self, until: int | None = None) -> dict[str, NDArray[uint64]]:
        """Lets simulated time pass, and returns the requests that were done since the last call.

        Args:
            until: The time in ns to which the drive goes, events at that time included. None: until
                every submitted request is done, or the drive is worn out.

        Returns:
            Columns of equal length, in order of completion: `token`, `at_ns` (the completion) and
            `latency_ns` (from the arrival until then).

        Raises:
            InputError: `until` has passed.
        """
    def end(self) -> str: ...
    def close(self) -> None:
        """Closes the drive without a result, unless it has one. A second call does nothing."""
    @property
    def is_closed(self) -> bool:
        """Whether it takes no more requests."""
    @property
    def now_ns(self) -> int:
        """The simulated time in ns."""
    @property
    def capacity(self) -> int:
        """Bytes of the drive."""
    @property
    def outstanding(self) -> int:
        """Requests that were submitted and are not done."""
    @property
    def worn_out_at_ns(self) -> int | None:
        """The time at which the drive's life ended, in ns; None if it has not ended."""

@final
class Recovery:
    """Charge that cycling traps, and its loss by rest at 25 C: READY (FAST 2012), Eq. 1 to 3.

    `printed` are the constants below READY's Eq. 2, `fitted` those behind its Table 2; the paper
    contradicts itself, and docs/physics.md says how. All cycles count as having had the mean rest.

    >>> from floatgate.physics import Recovery
    >>> rested, hurried = (Recovery("fitted").achievable_cycles(hours) for hours in (10, 0))
    >>> round(hurried), round(rested)
    (3036, 10107)
    """

    def __new__(cls, constants: str) -> Recovery:
        """The constants `printed` or `fitted`; ValueError for any other."""
    def trapped_volts(self, cycles: float) -> float:
        """The shift of the threshold voltage by trapped charge, without rest, in V (Eq. 1)."""
    def remaining(self, idle_hours: float) -> float:
        """The share of that shift that remains with this rest between cycles, 0 to 1 (Eq. 2, 3)."""
    def achievable_cycles(self, idle_hours: float) -> float:
        """Cycles until the shift is 0.65 V, with this rest between them (Fig. 1).

        Infinite where rest heals everything.
        """
    def sustainable_cycles(self, life_hours: float) -> float:
        """The cycles of a block if they are spread evenly over a life."""
    def supports(self, idle_hours: float) -> bool:
        """Whether measurements support the constants at this idle time, or they extrapolate."""

@final
class Cell:
    """Cells of 1 to 4 `bits`, rated for a number of cycles, and the raw bit errors of their pages.

    >>> from floatgate.physics import Cell
    >>> f"{Cell(2, 3000).rber(1, cycles=3000, hours=8760):.1e}"
    '4.9e-03'
    """

    def __new__(cls, bits: int, rated_cycles: float) -> Cell:
        """Raises ValueError if there are no such cells."""
    def rber(
        self,
        page_type: int,
        *,
        step_volts: float = 0.25,
        cycles: float = 0.0,
        hours: float = 0.0,
        reads: float = 0.0,
    ) -> float:
        """The raw bit error rate of a page, 0 to 0.5.

        Args:
            page_type: 0 for the least significant bit.
            step_volts: The step with which it was programmed (ISPP).
            cycles: Program/erase cycles of its block, without rest.
            hours: Time since it was programmed.
            reads: Reads of its block since then.
        """
    def retention_limit_hours(
        self, *, correctable: float, step_volts: float = 0.25, cycles: float = 0.0
    ) -> float:
        """Retention: hours until the worse page type has more errors than are correctable."""
    def program_time_factor(self, cycles: float) -> float:
        """Program time after `cycles`, as a share of that of new cells (Grupp, Fig. 5)."""

def program_us(step_volts: float, *, gamma: float = 150.0) -> float:
    """Time of programming with steps of `volts`, in us; AGCR Eq. 1, gamma in us V."""

def read_us(sensings: int) -> float:
    """Time of a read of AGCR's drive with `sensings` at each boundary, in us; its Eq. 2."""

def correctable() -> list[tuple[int, float]]:
    """The number of sensings at each boundary, and the raw bit error rate that they correct."""

def reprogram_wear(rate: float) -> float:
    """Wear of a cycle, in cycles, if this share of a block's cycles reprograms it in place.

    Wu et al., Fig. 7, falling from 2 to 1.2.
    """

def ldpc_frames(request: str, first: int, count: int) -> str: ...
def ldpc_facts(request: str) -> str: ...
def ldpc_interval(hits: int, trials: int) -> tuple[float, float]: ...
def ldpc_levels(limits: Sequence[float]) -> str: ...

"""The folder of a run: its tables as Parquet files, written while the run goes on, and its result.

Each file is written by polars in a thread of its own, so memory does not grow with the run.
Everything lies in a hidden folder beside its place until all is there.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import queue
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray

    from floatgate.result.run import Result

Column = tuple[str, "NDArray[Any]", Sequence[str] | None, bool]
"""Name, values, the words that the values count through, and whether a row may lack its value: then
the greatest number stands there, or not a number."""

RESULT = "result.json"
"""The file that stands in a run's folder when all the others do."""

TABLES = ("requests", "series", "blocks")
"""What stands beside it unless somebody says otherwise, each as NAME.parquet."""

SNAPSHOTS = ("snapshots", "occupancy")
"""What stands beside it where `snapshots` are asked for: the picture of the drive over time."""

CHOICES = (*TABLES, "snapshots")
"""What can be asked for."""

SEAL = "stored"
"""The key of `result.json` that says what was stored: see `sealed`."""

ROW_GROUP = 1 << 18
"""Rows in a row group: as many as the engine hands over at once."""


class Recording:
    """Keeps a run in `FOLDER/RUN-ID`; what is not in its place when the context ends is removed.

    Raises:
        InputError: The folder cannot be written to. All methods raise it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._files: dict[str, ParquetFile] = {}
        self._made = prepare_folder(self._folder)
        try:
            prefix = unfinished("")
            self._unfinished = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
            self._lock = _locked(self._unfinished)
        except OSError as error:
            self._remove_made()
            message = f"{folder}: no result can be stored here ({_reason(error)})"
            raise InputError(message) from error

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.abandon()
        shutil.rmtree(self._unfinished, ignore_errors=True)
        os.close(self._lock)
        self._remove_made()

    def take(self, table: str, columns: Sequence[Column]) -> None:
        """Adds rows to a table."""
        try:
            if table not in self._files:
                self._files[table] = ParquetFile(self._unfinished / f"{table}.parquet")
            self._files[table].put(columns)
        except OSError as error:
            raise self._failure(error) from error

    def keep(self, result: Result) -> Path:
        """Puts everything in its place, `result.json` last; returns the run's folder."""

        def finish() -> None:
            for file in self._files.values():
                file.finish()

        return self._placed(result, finish)

    def adopt(self, result: Result, files: Mapping[str, bytes]) -> Path:
        """As `keep`, of a run that was recorded elsewhere: its files by name."""

        def finish() -> None:
            for name, data in files.items():
                if name != RESULT:
                    _write(self._unfinished / name, data)

        return self._placed(result, finish)

    def _placed(self, result: Result, finish: Callable[[], None]) -> Path:
        """Moves the tables that `finish` leaves into the run's folder, then `result.json`.

        That is the mark of a whole run, also after a power cut: whatever it speaks of is on the
        disk before it has its name.
        """
        place = self._folder / result.run_id
        was_there = place.exists()
        try:
            finish()
            tables = sorted(self._unfinished.iterdir())
            lengths = {path.stem: path.stat().st_size for path in tables}
            # An earlier recording of the same run may have left others.
            lengths = _whole(place) | lengths
            text = json.dumps(sealed(result.data, lengths, _names(place)), indent=1) + "\n"
            last = self._unfinished / RESULT
            _write(last, text.encode())
            place.mkdir(exist_ok=True)
            for path in tables:
                path.replace(place / path.name)
            _settle(place)
            last.replace(place / RESULT)
            _settle(place)
            _settle(self._folder)
        except BaseException as error:
            if not was_there:
                shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, OSError):
                raise self._failure(error) from error
            raise
        return place

    def _failure(self, error: OSError) -> InputError:
        return InputError(f"{self._folder}: the result cannot be stored ({_reason(error)})")

    def _remove_made(self) -> None:
        """Removes the folders that were made for this one, if they are empty."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()


def sealed(
    value: Mapping[str, Any], lengths: Mapping[str, int], also: Iterable[str] = ()
) -> dict[str, Any]:
    """A result as it is stored: with its own digest, and the lengths of the tables beside it.

    `also` has other names under which its workload was run: a trace that has the same bytes is the
    same run.
    """
    in_order = {name: lengths[name] for name in sorted(lengths)}
    others = sorted({*also} - {value["provenance"]["workload"]["name"]})
    seal = {"sha256": _digest(value), "table_bytes": in_order}
    return {**value, SEAL: seal | ({"also_named": others} if others else {})}


def call_also(folder: Path, names: Iterable[str]) -> None:
    """Notes in a stored run under which other names its workload is known.

    Raises:
        OSError: It cannot be written.
    """
    value = json.loads(content(folder / RESULT))
    seal = value.pop(SEAL, None)
    if seal is None:
        return
    others = {*names, *seal.get("also_named", ())}
    new = sealed(value, seal["table_bytes"], others)
    if new[SEAL] != seal:
        replace(folder / RESULT, json.dumps(new, indent=1) + "\n")


def _digest(value: Mapping[str, Any]) -> str:
    """The digest of a result, whatever the form of its text; of wall-clock figures, the names."""
    what = {**value, "timing": sorted(value.get("timing") or ())}
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def flaw(result: Result, tables: Iterable[str] | None = None) -> str | None:
    """What is wrong with a stored run, in words; None if it is whole.

    Args:
        result: The run as it was read.
        tables: The tables that it must have; by default those that it says it has.
    """
    if result.seal is None:
        if tables is None:
            return None  # Stored before there were seals: nothing is known of it.
        return f"{RESULT} does not say how long its tables are"
    try:
        if result.seal["sha256"] != _digest(result.data):
            return f"{RESULT} is not what was stored"
        lengths = dict(result.seal["table_bytes"])
    except (LookupError, TypeError, ValueError):
        return f"{RESULT} is damaged"
    assert result.folder is not None
    for name in lengths if tables is None else tables:
        if name not in lengths:
            return f"{name}.parquet was not recorded"
        found = length(result.folder / f"{name}.parquet")
        if found is None:
            return f"{name}.parquet is not there"
        if found != lengths[name]:
            return f"{name}.parquet has {found:,} of {lengths[name]:,} bytes"
    return None


def length(path: Path) -> int | None:
    """The bytes of a file; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def content(path: Path) -> bytes:
    """What is in a file of results.

    Raises:
        OSError: It cannot be read, or is no file: a pipe would be waited for, a device has no end.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        what = "is a folder" if stat.S_ISDIR(mode) else "is a pipe or a device"
        raise OSError(errno.EINVAL, f"it {what}")
    return path.read_bytes()


def replace(path: Path, text: str) -> None:
    """Writes a file, which appears whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    new = path.with_name(unfinished(path.name.replace("-", "_")))
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _whole(place: Path) -> dict[str, int]:
    """The tables in the folder of a run that its next `result.json` can go on to speak of."""
    try:
        seal = json.loads(content(place / RESULT)).get(SEAL)
        known = {} if seal is None else dict(seal["table_bytes"])
    except (OSError, LookupError, TypeError, ValueError, AttributeError):
        return {}
    found = {name: length(place / f"{name}.parquet") for name in (*TABLES, *SNAPSHOTS)}
    # What was stored before there were seals is taken as it is.
    return {
        name: size
        for name, size in found.items()
        if size is not None and (seal is None or known.get(name) == size)
    }


def _names(place: Path) -> set[str]:
    """Under which names the workload of the run in a folder was run."""
    try:
        value = json.loads(content(place / RESULT))
        name = value["provenance"]["workload"]["name"]
        names = [name, *value.get(SEAL, {}).get("also_named", ())]
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return set()
    return {name for name in names if isinstance(name, str)}


def _write(path: Path, data: bytes) -> None:
    """Writes a file, which is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Waits until the names in a folder are on the disk, where the file system can tell."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


class ParquetFile:
    """A Parquet file that is written by a thread while its rows come in.

    `metadata` is written into the file with what comes last: until then it may change.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, str] = {}
        self._out = _Out(path)
        self._rows: queue.Queue[Sequence[Column] | None] = queue.Queue(maxsize=1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=path.name, daemon=True)
        self._thread.start()

    def put(self, columns: Sequence[Column] | None) -> None:
        """Adds rows, and waits while others are being written. None ends the file."""
        while self._thread.is_alive():
            with suppress(queue.Full):
                self._rows.put(columns, timeout=0.1)
                break
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Waits until everything is written."""
        self.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Stops writing, unless everything is written."""
        self._out.error = self._out.error or InterruptedError()
        with suppress(BaseException):
            self.finish()

    def _work(self) -> None:
        try:
            with self._out:
                self._write()
                self._out.flush()
                os.fsync(self._out.fileno())
        except BaseException as error:
            # What polars raises does not always say what happened to the file.
            self._error = self._out.error or error

    def _write(self) -> None:
        from polars.io.plugins import register_io_source

        frames = self._frames()
        first = next(frames, None)
        if first is None:
            return

        def source(*_: object) -> Iterator[pl.DataFrame]:
            yield first
            yield from frames

        rows = register_io_source(source, schema=first.schema)
        rows.sink_parquet(
            self._out, row_group_size=ROW_GROUP, metadata=lambda _context: self.metadata
        )

    def _frames(self) -> Iterator[pl.DataFrame]:
        while (columns := self._rows.get()) is not None:
            if self._out.error is not None:
                raise self._out.error  # polars would go on to the end
            yield _frame(columns)


class _Out(io.BufferedWriter):
    """A file that remembers why it could not be written; then all that follows fails."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "w"))
        self.error: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes all of the data."""
        if self.error is not None:
            raise self.error
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            raise


def _frame(columns: Sequence[Column]) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    def series(
        name: str, values: NDArray[Any], words: Sequence[str] | None, optional: bool
    ) -> pl.Series:
        column = pl.Series(name, values)
        if words is not None:
            return column.cat.to(pl.Enum(words))
        if not optional:
            return column
        if column.dtype.is_float():
            return column.fill_nan(None)
        return column.replace(np.iinfo(values.dtype).max, None)

    return pl.DataFrame([series(*column) for column in columns])


_UNFINISHED = ".unfinished-"
"""Begins the name of what is there only while a process is at work; see `unfinished`."""


def unfinished(name: str) -> str:
    """The name of a file or a folder that `tidy` removes when this process is gone.

    The machine and the process stand in it; `name`, which tells those of one process apart, has no
    dash.
    """
    return f"{_UNFINISHED}{os.uname().nodename}-{os.getpid()}-{name}"


def tidy(folder: Path) -> None:
    """Removes what processes of this machine that were killed have left in a folder of results."""
    for left in folder.glob(f"{_UNFINISHED}*"):
        host, _, rest = left.name.removeprefix(_UNFINISHED).rpartition("-")[0].rpartition("-")
        if host != os.uname().nodename or not rest.isdigit() or _is_alive(int(rest)):
            continue
        if left.is_symlink() or not left.is_dir():
            with suppress(OSError):
                left.unlink()
            continue
        # Processes of a container have numbers of their own, and locks that others see.
        with suppress(OSError):
            lock = _locked(left)
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path) -> int:
    """A handle that keeps a folder locked until it is closed.

    Raises:
        BlockingIOError: Somebody else has locked it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        pass  # Some network file systems lock no folders: then the process alone counts.
    return handle


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is somebody else's.
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True  # No Linux, or it ends just now.
    # A zombie does nothing more. Some stay: process 1 of many containers waits for no orphan.
    return state not in "ZX"


def _first_that_exists(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    return there


def prepare_folder(folder: Path) -> list[Path]:
    """As `make_folder`, for results; what killed processes have left in the folder goes.

    Raises:
        InputError: None can be stored there.
    """
    there = _first_that_exists(folder)
    if not there.is_dir():
        raise InputError(f"{folder}: no result can be stored here, `{there}` is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: no result can be stored here, `{there}` is not writable")
    try:
        made = make_folder(folder)
    except OSError as error:
        message = f"{folder}: no result can be stored here ({_reason(error)})"
        raise InputError(message) from error
    if not made:
        tidy(folder)
    return made


def make_folder(folder: Path) -> list[Path]:
    """Makes a folder and those above it; returns the ones that were not there, innermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
    return missing


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()

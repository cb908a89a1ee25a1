"""The folder of a run: its tables as Parquet files, written while the run goes on, and its result.

Each file is written by polars in a thread of its own, so memory does not grow with the run.
Everything lies in a hidden folder beside its place until all is there.
"""

from __future__ import annotations

import io
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray

    from floatgate.result import Result

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
            prefix = f"{_UNFINISHED}{os.uname().nodename}-{os.getpid()}-"
            self._unfinished = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
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

        def finish() -> list[Path]:
            files = self._files.values()
            for file in files:
                file.finish()
            last = self._unfinished / RESULT
            last.write_text(result.to_json() + "\n", encoding="utf-8")
            return [*(file.path for file in files), last]

        return self._placed(result, finish)

    def adopt(self, result: Result, files: Mapping[str, bytes]) -> Path:
        """As `keep`, of a run that was recorded elsewhere: its files by name."""

        def finish() -> list[Path]:
            for name, content in files.items():
                (self._unfinished / name).write_bytes(content)
            names = sorted(files, key=lambda name: name == RESULT)
            return [self._unfinished / name for name in names]

        return self._placed(result, finish)

    def _placed(self, result: Result, finish: Callable[[], list[Path]]) -> Path:
        """Moves what `finish` returns, in its order, into the run's folder."""
        place = self._folder / result.run_id
        was_there = place.exists()
        try:
            paths = finish()
            place.mkdir(exist_ok=True)
            for path in paths:
                path.replace(place / path.name)
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
"""Begins the name of a folder whose run goes on; the machine and the process follow."""


def tidy(folder: str | os.PathLike[str]) -> None:
    """Removes what processes of this machine that were killed have left in a folder of results."""
    for left in Path(folder).glob(f"{_UNFINISHED}*"):
        host, _, rest = left.name.removeprefix(_UNFINISHED).rpartition("-")[0].rpartition("-")
        if host == os.uname().nodename and rest.isdigit() and not _is_alive(int(rest)):
            shutil.rmtree(left, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is somebody else's.
    return True


def _first_that_exists(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    return there


def prepare_folder(folder: Path) -> list[Path]:
    """As `make_folder`, for results.

    Raises:
        InputError: None can be stored there.
    """
    there = _first_that_exists(folder)
    if not there.is_dir():
        raise InputError(f"{folder}: no result can be stored here, `{there}` is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: no result can be stored here, `{there}` is not writable")
    try:
        return make_folder(folder)
    except OSError as error:
        message = f"{folder}: no result can be stored here ({_reason(error)})"
        raise InputError(message) from error


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

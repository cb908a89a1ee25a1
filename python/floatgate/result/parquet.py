"""A Parquet file that is written while its rows come in."""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray


Column = tuple[str, "NDArray[Any]", Sequence[str] | None, bool]
"""Name, values, the words that the values count through, and whether a row may lack its value: then
the greatest number stands there, or not a number."""

ROW_GROUP = 1 << 16
"""Rows in a row group: more take memory, and make neither less nor quicker files."""


COMPRESSION: Literal["lz4"] = "lz4"
"""Half of zstd's processor time for rows, in files that are half as large again."""


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
            self._out,
            compression=COMPRESSION,
            row_group_size=ROW_GROUP,
            # The least and greatest of each row group are a third of the work, and no reader of
            # these files passes over row groups.
            statistics=False,
            metadata=lambda _context: self.metadata,
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

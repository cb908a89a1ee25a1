"""A run that is stored while it runs.

Each table is written by a thread of its own, so memory does not grow with the run. All files are in
a hidden folder next to their place until they are complete.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from floatgate.engine import InputError, Rows, TableFile
from floatgate.result.files import (
    locked,
    prepare_folder,
    reason,
    settle,
    unfinished,
    write,
)
from floatgate.result.folder import RESULT, names_in, sealed, whole
from floatgate.result.values import run_id_of


class Recording:
    """Keeps a run in `FOLDER/RUN-ID`; unfinished files are removed when the context ends.

    Raises:
        InputError: The folder cannot be written to. All methods raise it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._files: dict[str, TableFile] = {}
        self._made = prepare_folder(self._folder)
        try:
            prefix = unfinished("")
            self._unfinished = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
            try:
                self._lock = locked(self._unfinished)
            except OSError:
                self._unfinished.rmdir()
                raise
        except OSError as error:
            self._remove_made()
            message = f"{folder}: no result can be stored here ({reason(error)})"
            raise InputError(message) from error

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.abandon()
        shutil.rmtree(self._unfinished, ignore_errors=True)
        os.close(self._lock)
        self._remove_made()

    def take(self, table: str, rows: Rows) -> None:
        """Adds rows to a table."""
        try:
            if table not in self._files:
                self._files[table] = TableFile(self._unfinished / f"{table}.parquet")
            self._files[table].put(rows)
        except OSError as error:
            raise self._failure(error) from error

    def keep(self, value: Mapping[str, Any]) -> Path:
        """Moves all files to their place, `result.json` with this value last.

        Returns the folder.
        """

        def finish() -> None:
            for file in self._files.values():
                file.finish([])

        return self._placed(value, finish)

    def adopt(self, value: Mapping[str, Any], files: Mapping[str, bytes]) -> Path:
        """As `keep`, for a run that was recorded elsewhere: its files by name."""

        def finish() -> None:
            for name, data in files.items():
                if name != RESULT:
                    (self._unfinished / name).write_bytes(data)

        return self._placed(value, finish)

    def _placed(self, value: Mapping[str, Any], finish: Callable[[], None]) -> Path:
        """Moves the tables that `finish` leaves into the run's folder, then `result.json`.

        That file marks a complete run, also after a power cut: all files that it lists are on the
        disk before it has its name.
        """
        place = self._folder / run_id_of(value)
        was_there = place.exists()
        try:
            finish()
            tables = sorted(self._unfinished.iterdir())
            for path in tables:
                settle(path)
            lengths = {path.stem: path.stat().st_size for path in tables}
            # An earlier recording of the same run may have left others.
            lengths = whole(place) | lengths
            text = json.dumps(sealed(value, lengths, names_in(place)), indent=1) + "\n"
            last = self._unfinished / RESULT
            write(last, text.encode())
            place.mkdir(exist_ok=True)
            for path in tables:
                path.replace(place / path.name)
            settle(place)
            last.replace(place / RESULT)
            settle(place)
            settle(self._folder)
        except BaseException as error:
            if not was_there:
                shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, OSError):
                raise self._failure(error) from error
            raise
        return place

    def _failure(self, error: OSError) -> InputError:
        return InputError(f"{self._folder}: the result cannot be stored ({reason(error)})")

    def _remove_made(self) -> None:
        """Removes the folders that were made for this one, if they are empty."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()

"""The folder of a run: its tables as Parquet files, written while the run goes on, and its result.

Each file is written by polars in a thread of its own, so memory does not grow with the run.
Everything lies in a hidden folder beside its place until all is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from floatgate.engine import InputError
from floatgate.result.files import (
    content,
    length,
    locked,
    prepare_folder,
    reason,
    replace,
    settle,
    unfinished,
    write,
)
from floatgate.result.parquet import Column, ParquetFile
from floatgate.result.values import run_id_of

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
            self._lock = locked(self._unfinished)
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

    def take(self, table: str, columns: Sequence[Column]) -> None:
        """Adds rows to a table."""
        try:
            if table not in self._files:
                self._files[table] = ParquetFile(self._unfinished / f"{table}.parquet")
            self._files[table].put(columns)
        except OSError as error:
            raise self._failure(error) from error

    def keep(self, value: Mapping[str, Any]) -> Path:
        """Puts all in its place, `result.json` of this value last; returns the run's folder."""

        def finish() -> None:
            for file in self._files.values():
                file.finish()

        return self._placed(value, finish)

    def adopt(self, value: Mapping[str, Any], files: Mapping[str, bytes]) -> Path:
        """As `keep`, of a run that was recorded elsewhere: its files by name."""

        def finish() -> None:
            for name, data in files.items():
                if name != RESULT:
                    write(self._unfinished / name, data)

        return self._placed(value, finish)

    def _placed(self, value: Mapping[str, Any], finish: Callable[[], None]) -> Path:
        """Moves the tables that `finish` leaves into the run's folder, then `result.json`.

        That is the mark of a whole run, also after a power cut: whatever it speaks of is on the
        disk before it has its name.
        """
        place = self._folder / run_id_of(value)
        was_there = place.exists()
        try:
            finish()
            tables = sorted(self._unfinished.iterdir())
            lengths = {path.stem: path.stat().st_size for path in tables}
            # An earlier recording of the same run may have left others.
            lengths = _whole(place) | lengths
            text = json.dumps(sealed(value, lengths, _names(place)), indent=1) + "\n"
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


def altered(value: Mapping[str, Any], seal: Mapping[str, Any] | None) -> str | None:
    """Why a result is not the one that was stored, in words; None if it is.

    Args:
        value: The result as it stands in its file, without what later versions add to it.
        seal: What its file says of what was stored; None says nothing of it.
    """
    if seal is None:
        return None
    try:
        dict(seal["table_bytes"])
        same = seal["sha256"] == _digest(value)
    except (LookupError, TypeError, ValueError):
        return f"{RESULT} is damaged"
    return None if same else f"{RESULT} is not what was stored"


def flaw(
    seal: Mapping[str, Any] | None,
    folder: Path,
    tables: Iterable[str] | None = None,
) -> str | None:
    """What is wrong with the tables of a stored run, in words; None if they are whole.

    Args:
        seal: What its file says of what was stored.
        folder: Where it lies.
        tables: The tables that it must have; by default those that it says it has.
    """
    if seal is None:
        if tables is None:
            return None  # Stored before there were seals: nothing is known of it.
        return f"{RESULT} does not say how long its tables are"
    try:
        lengths = dict(seal["table_bytes"])
    except (LookupError, TypeError, ValueError):
        return f"{RESULT} is damaged"
    for name in lengths if tables is None else tables:
        if name not in lengths:
            return f"{name}.parquet was not recorded"
        found = length(folder / f"{name}.parquet")
        if found is None:
            return f"{name}.parquet is not there"
        if found != lengths[name]:
            return f"{name}.parquet has {found:,} of {lengths[name]:,} bytes"
    return None


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

"""Writing workloads as Parquet files, which are read back faster than anything else."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from floatgate import engine
from floatgate.engine import InputError, TableFile
from floatgate.mistakes import FileError, NoFileError
from floatgate.policy.finder import Finder
from floatgate.result.files import in_the_way, reason, settle
from floatgate.settings import Settings, pairs
from floatgate.workloads.parquet import METADATA, SCHEMA
from floatgate.workloads.reading import Reading, how_to_read, takes_reading

if TYPE_CHECKING:
    from os import PathLike


@takes_reading
def convert(
    workload: str | PathLike[str],
    out: str | PathLike[str],
    *,
    force: bool = False,
    drive: str | PathLike[str] = "agcr",
    set: Settings = (),
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Writes a workload as a Parquet file, which every function here takes as a workload.

    The columns are `time_ns` (since the first request), `op` (read, write, trim, flush, write-fua),
    `offset` and `size` in bytes, `prio` (normal, high), and `hint` (0: none). `flow` follows if the
    workload has flows. Rows are in the order of time, and the file names their source. It appears
    whole or not at all, and memory does not grow with it.

    Args:
        workload: Any workload that `floatgate.run` takes.
        out: The file, whose name ends in `.parquet`.
        force: Replace an existing file.
        drive: A generator without a `workload.span` covers this drive.
        set: Settings of the workload by key, `{"workload.requests": 1000}`.
        progress: Called some ten times a second with the stage (`converting`), the requests done,
            their total (None if unknown) and the workload's time in ns.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The facts in the file: `requests`, `span_bytes`, `timed`, `origin_ns`, `stand_in`,
        `flows` and the source's `name`, `format`, `sha256` and `reading`.

    Raises:
        InputError: The workload or an option is wrong, or the file cannot be written or is there.
    """
    place = Path(out)
    _check(place, force=force)
    try:
        handle, name = tempfile.mkstemp(prefix=".unfinished-", suffix=".parquet", dir=place.parent)
    except OSError as error:
        raise _failure(place, error) from error
    os.close(handle)
    unfinished = Path(name)
    try:
        file = TableFile(unfinished)
        try:
            text = engine.convert(
                str(workload),
                drive=str(drive),
                set=pairs(set),
                reading=how_to_read(**reading),
                progress=progress,
                rows=lambda _table, rows: file.put(rows),
                finder=Finder(),
            )
            said = {"schema": SCHEMA, "version": engine.version(), **json.loads(text)}
            file.finish([(METADATA, json.dumps(said))])
            settle(unfinished)
        finally:
            file.abandon()
        _check(place, force=force)
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(place)
    except OSError as error:
        raise _failure(place, error) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return said


def _check(place: Path, *, force: bool) -> None:
    if place.suffix != ".parquet":
        raise InputError(f"{place}: expected a name that ends in .parquet")
    if (what := in_the_way(place)) is not None:
        raise FileError(f"{place}: this is {what}; expected the name of a file")
    if place.exists() and not force:
        raise FileError(f"{place}: there is such a file already; `--force` replaces it")
    if not place.parent.is_dir():
        raise NoFileError(f"{place}: there is no folder `{place.parent}`")


def _failure(place: Path, error: OSError) -> InputError:
    return FileError(f"{place}: it cannot be written ({reason(error)})")


def _umask() -> int:
    """The permissions that a new file must not have. They can only be read by setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

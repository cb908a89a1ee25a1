"""What a stored result must look like before anything is made of it: as one of this version does.

Files are damaged, edited, and written by other versions. What is missing or of another type is
said once, in words, and not found out by whoever draws a plot.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from floatgate.engine import InputError
from floatgate.result.folder import content, flaw
from floatgate.result.run import Result

SHAPES_RESULTS = False

SCHEMA = "floatgate.run/1"


def load(path: Path) -> Result:
    """Reads a `result.json`, and looks whether all is there that this version knows.

    Raises:
        InputError: It cannot be read, or is no result of this version.
    """
    try:
        value = json.loads(content(path), parse_constant=_no_number)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: this cannot be read ({reason})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: this is no JSON ({error}); expected a stored result") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: this is no result of a run; expected a JSON object")
    schema = value.get("schema")
    if not isinstance(schema, str):
        raise InputError(f"{path}: this is no result of a run; expected `schema` to be `{SCHEMA}`")
    if schema != SCHEMA:
        raise InputError(
            f"{path}: this is a `{schema}`, and this version reads `{SCHEMA}`; "
            "run it again with one version of floatgate"
        )
    result = Result.read(value, path.parent)
    if result.seal is not None and (why := flaw(result, ())) is not None:
        raise InputError(f"{path.parent}: {why}; make the run again")
    misfit = next(_misfits(result.data, _sample(), ""), None)
    if misfit is not None:
        raise InputError(
            f"{path}: `{misfit[0]}` {misfit[1]}; the file is damaged or of another version, make "
            "the run again"
        )
    return result


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What is done with a table of a run. What is in it may be anything: its length alone is known.

    Raises:
        InputError: It cannot be done.
    """
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        lines = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
        raise InputError(
            f"{path}: this table is damaged or of another version ({reason}); make the run again"
        ) from error


@functools.cache
def _sample() -> Mapping[str, Any]:
    """A result of this version: that of a moment on a tiny drive."""
    from floatgate.runs.run import run

    tiny = {"geometry.channels": 1, "geometry.blocks-per-plane": 64, "workload.requests": 100}
    data = run("agcr", "random-write", set=tiny).data
    config = data["provenance"]["config"]
    # Of a drive, what every drive has.
    known = {key: config[key] for key in ("geometry", "run", "policies")}
    del data["provenance"]["build"]  # the first results had none
    data["provenance"]["config"] = known
    return data


def _misfits(value: Any, known: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a value is not like the known one, and how; what is null there may be anything."""
    if known is None:
        return
    if isinstance(known, dict):
        if value is None and path.endswith("delay_ns_by_cause"):
            return
        if not isinstance(value, dict):
            yield path, "is no table"
            return
        for key, inside in known.items():
            below = f"{path}.{key}" if path else key
            if key not in value:
                yield below, "is not there"
            elif path == "policies":
                yield from _misfits(value[key], {**inside, "params": {}, "counters": {}}, below)
            elif path == "provenance.config.policies":
                name = value[key].get("name") if isinstance(value[key], dict) else value[key]
                if not isinstance(name, str):
                    yield below, "names no policy"
            else:
                yield from _misfits(value[key], inside, below)
    elif isinstance(known, list):
        if not isinstance(value, list):
            yield path, "is no list"
        elif path == "warnings":
            for each in value:
                yield from _misfits(each, {"code": "", "text": ""}, path)
        elif not all(isinstance(each, str) for each in value):
            yield path, "has something else than texts"
    elif isinstance(known, bool | str):
        if not isinstance(value, type(known)):
            yield path, "is no text" if isinstance(known, str) else "is neither true nor false"
    elif value is None and isinstance(known, float):
        return  # What cannot be told is null.
    elif isinstance(value, bool) or not isinstance(value, int | float) or not _is_sane(value):
        yield path, "is no number that a result has"


def _is_sane(number: int | float) -> bool:
    """Whether it is one that a run could have counted or measured."""
    return abs(number) < 2**64 if isinstance(number, int) else abs(number) < 1e30


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")

"""What a stored result must look like before anything is made of it: as one of this version does.

Files are damaged, edited, and written by other versions. What is missing or of another type is
said once, in words, and not found out by whoever draws a plot.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from floatgate import engine
from floatgate.engine import InputError
from floatgate.result.files import json_of
from floatgate.result.values import TO_COME, flat

SHAPES_RESULTS = False

SCHEMA = "floatgate.run/2"

EARLIER = "floatgate.run/1"
"""What this version reads as well: it lacks the places for what drives learned since."""

ARBITRATION = "arbitration"
"""The family of policies that drives of the first versions lack.

Their settings stay as they were, because the name of a run is a digest of them.
"""


def value_of(path: Path) -> dict[str, Any]:
    """The value of a `result.json` that says that it is a result, as it was stored.

    Raises:
        InputError: It cannot be read, or says something else.
    """
    value = json_of(path, "a stored result", parse_constant=_no_number)
    if not isinstance(value, dict):
        raise InputError(f"{path}: this is no result of a run; expected a JSON object")
    schema = value.get("schema")
    if not isinstance(schema, str):
        raise InputError(f"{path}: this is no result of a run; expected `schema` to be `{SCHEMA}`")
    if schema not in (SCHEMA, EARLIER):
        raise InputError(
            f"{path}: this is a `{schema}`, and this version reads `{SCHEMA}`; "
            "run it again with one version of floatgate"
        )
    return value


NULLABLE = {"checks.passed", "flash.gc_wait_max_ns"}
"""Null at the end of a drive's life, where not every law applies, and in earlier results."""


def of_now(value: dict[str, Any]) -> dict[str, Any]:
    """A stored result with all the keys of this version: what it could not have is nothing."""
    return _of_now(_brought_up(value) if value["schema"] == EARLIER else value)


def _of_now(value: dict[str, Any]) -> dict[str, Any]:
    """A result of a version before padding, flows, suspends, processor time and work left."""
    end, flash, checks, host, policies, timing = (
        value.get(key) for key in ("end", "flash", "checks", "host", "policies", "timing")
    )
    if isinstance(end, dict):
        end.setdefault("work_left", None)
    if isinstance(flash, dict):
        flash.setdefault("padding", dict(sample()["flash"]["padding"]))
        flash.setdefault("gc_wait_max_ns", None)
        flash.setdefault("suspends", None)
        flash.setdefault("copybacks", None)
    if isinstance(checks, dict):
        checks.setdefault("padding", 0)
    if isinstance(host, dict):
        host.setdefault("flows", None)
        flows = host["flows"].values() if isinstance(host["flows"], dict) else ()
        for part in (host, host.get("high"), *flows):
            for one in part.values() if isinstance(part, dict) else ():
                if isinstance(one, dict) and "latency_ns" in one:
                    one.setdefault("slowest", None)
    if isinstance(policies, dict):
        policies.setdefault(ARBITRATION, copy.deepcopy(sample()["policies"][ARBITRATION]))
    if isinstance(timing, dict):
        timing.setdefault("cpu_seconds", None)
        timing.setdefault("requests_per_second", None)
    return value


def _brought_up(value: dict[str, Any]) -> dict[str, Any]:
    """A result of the schema before with the keys that came since, as it would have had them."""
    host, flash, split = (value.get(key) for key in ("host", "flash", "energy_split"))
    none = sample()["host"]["flush"]
    if isinstance(host, dict):
        for part in (host, host.get("high")):
            if isinstance(part, dict):
                for one in part.values():
                    _fill(one, "delay_ns_by_cause", none["delay_ns_by_cause"])
                part.setdefault("flush", copy.deepcopy(none))
    if isinstance(flash, dict):
        flash.setdefault("pending_reads", 0)
        flash.setdefault("space_wait_max_ns", None)
        for kind in ("read", "program", "erase", "reprogram"):
            _fill(flash, kind, dict.fromkeys(TO_COME, 0))
    if isinstance(split, dict):
        _fill(split, "source", dict.fromkeys(TO_COME, 0.0))
    return value


def _fill(of: Any, key: str, missing: Mapping[str, Any]) -> None:
    """Gives a table inside of another what it lacks, also in tables of its own."""
    inner = of.get(key) if isinstance(of, dict) else None
    if isinstance(inner, dict):
        for name, value in missing.items():
            if isinstance(value, dict) and name in inner:
                _fill(inner, name, value)
            else:
                inner.setdefault(name, value)


def check(value: Mapping[str, Any], path: Path) -> None:
    """Looks whether all is there that this version knows.

    Raises:
        InputError: Something is missing, of another type, or a number that no run can have.
    """
    misfits = chain(_misfits(value, _known(), ""), _beyond(value), _out_of_order(value))
    misfit = next(misfits, None)
    if misfit is not None:
        raise InputError(
            f"{path}: `{misfit[0]}` {misfit[1]}; the file is damaged or of another version, make "
            "the run again"
        )


@functools.cache
def sample() -> dict[str, Any]:
    """A result of this version: that of a moment on a tiny drive."""
    return engine.tried(
        "geometry.channels=1", "geometry.blocks-per-plane=64", "workload.requests=100"
    )


@functools.cache
def _known() -> Mapping[str, Any]:
    """What every result has."""
    provenance = sample()["provenance"]
    config = provenance["config"]
    # Of a drive, what every drive has; the first results had no build.
    known = {key: config[key] for key in ("geometry", "run", "policies")}
    families = known["policies"].items()
    known["policies"] = {family: each for family, each in families if family != ARBITRATION}
    others = {key: value for key, value in provenance.items() if key != "build"}
    return sample() | {"provenance": others | {"config": known}}


def _misfits(value: Any, known: Any, path: str) -> Iterator[tuple[str, str]]:
    """Where a value is not like the known one, and how; what is null there may be anything."""
    if known is None:
        return
    if isinstance(known, dict):
        if value is None and path.endswith(("delay_ns_by_cause", "slowest", "end.work_left")):
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
    elif value is None and path in NULLABLE:
        return
    elif isinstance(known, bool | str):
        if not isinstance(value, type(known)):
            yield path, "is no text" if isinstance(known, str) else "is neither true nor false"
    elif value is None and isinstance(known, float):
        return  # What cannot be told is null.
    elif isinstance(value, bool) or not isinstance(value, int | float) or not _is_sane(value):
        yield path, "is no number that a result has"


def _beyond(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Whole numbers that fit in no table, wherever they stand: counters have any name."""
    for path, number in flat(value):
        if isinstance(number, int) and not _is_sane(number):
            yield path, "is no number that a result has"


def _out_of_order(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Blocks of latencies that are not in order, or whose mean is not among them."""
    if not isinstance(value, Mapping):
        return
    if {"mean", "p50", "max"} <= value.keys():
        keys = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")
        times = [value[key] for key in keys if key in value]
        # The mean is rounded.
        least, most = times[0] * (1 - 1e-9), times[-1] * (1 + 1e-9)
        if times != sorted(times) or not least <= value["mean"] <= most:
            yield path, "has latencies that are not in order"
    for key, inside in value.items():
        yield from _out_of_order(inside, f"{path}.{key}" if path else key)


def _is_sane(number: int | float) -> bool:
    """Whether it is one that a run could have counted or measured."""
    return abs(number) < 2**64 if isinstance(number, int) else abs(number) < 1e30


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")

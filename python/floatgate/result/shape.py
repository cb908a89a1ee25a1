"""The shape of a stored result, checked before use: that of this version.

Files are damaged, edited, and written by other versions. A value that is missing or of another type
is named once, in words, before a page is made of it. The shape is the one that the engine declares.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

from floatgate import engine
from floatgate.engine import InputError
from floatgate.result.declared import Field, Shape, schema, sections, zero
from floatgate.result.files import json_of
from floatgate.result.values import flat

SHAPES_RESULTS = False

EARLIER = "floatgate.run/1"
"""This version reads that format as well. It lacks the keys of later versions."""

LATER_FAMILIES = {"arbitration": "merge", "separation": "sepgc", "slc-cache": "none"}
"""Families of policies that drives of earlier versions lack, with the policy that those drives had.

Their settings stay unchanged, because the name of a run is a digest of them.
"""


def value_of(path: Path) -> dict[str, Any]:
    """The value of a `result.json` that is a result by its schema, as it was stored.

    Raises:
        InputError: It cannot be read, or is something else.
    """
    value = json_of(path, "a stored result", parse_constant=_no_number)
    if not isinstance(value, dict):
        raise InputError(f"{path}: this is not the result of a run; expected a JSON object")
    found = value.get("schema")
    if not isinstance(found, str):
        raise InputError(
            f"{path}: this is not the result of a run; expected `schema` to be `{schema()}`"
        )
    if found not in (schema(), EARLIER):
        raise InputError(
            f"{path}: this is a `{found}`, and this version reads `{schema()}`; "
            "run it again with one version of floatgate"
        )
    return value


def of_now(value: dict[str, Any]) -> dict[str, Any]:
    """A stored result with all keys of this version.

    Those that it could not have are zero or null.
    """
    policies = value.get("policies")
    if isinstance(policies, dict):
        (of,) = (each.shape.inside for each in sections() if each.name == "policies")
        assert of is not None
        for family, name in LATER_FAMILIES.items():
            policies.setdefault(family, zero(of) | {"name": name})
    _fill(value, sections())
    return value


def _fill(value: Any, fields: Sequence[Field]) -> None:
    """Gives a table the keys that came later, also in tables below it."""
    if not isinstance(value, dict):
        return
    for each in fields:
        if each.name in value:
            _fill_inside(value[each.name], each.shape)
        elif each.since != "start":
            value[each.name] = each.before()


def _fill_inside(value: Any, shape: Shape) -> None:
    if shape.kind == "named" and isinstance(value, dict):
        assert shape.inside is not None
        for inner in value.values():
            _fill_inside(inner, shape.inside)
    else:
        _fill(value, shape.fields)


def check(value: Mapping[str, Any], path: Path) -> None:
    """Checks whether all keys of this version are there.

    Raises:
        InputError: Something is missing, of another type, or a number that no run can have.
    """
    misfits = chain(_missing(value, sections(), ""), _beyond(value), _out_of_order(value))
    misfit = next(misfits, None)
    if misfit is not None:
        raise InputError(
            f"{path}: `{misfit[0]}` {misfit[1]}; the file is damaged or of another version, make "
            "the run again"
        )


def _missing(value: Any, fields: Sequence[Field], path: str) -> Iterator[tuple[str, str]]:
    """The first place where a table differs from its declaration, and the difference."""
    if not isinstance(value, Mapping):
        yield path, "is not a table"
        return
    for each in fields:
        below = f"{path}.{each.name}" if path else each.name
        if each.name not in value:
            if not each.optional:
                yield below, "is not there"
        elif value[each.name] is None and (each.nullable or each.since == "later, null"):
            continue
        elif below == "provenance.config":
            yield from _unlike(value[each.name], _settings(), below)
        else:
            yield from _misfits(value[each.name], each.shape, below)


def _misfits(value: Any, shape: Shape, path: str) -> Iterator[tuple[str, str]]:
    """How a value that is not null differs from its declaration."""
    if shape.kind in ("table", "each"):
        yield from _missing(value, shape.fields, path)
    elif shape.kind == "named":
        assert shape.inside is not None
        if not isinstance(value, Mapping):
            yield path, "is not a table"
            return
        for name, inner in value.items():
            yield from _misfits(inner, shape.inside, f"{path}.{name}")
    elif shape.kind == "list":
        assert shape.inside is not None
        if not isinstance(value, list):
            yield path, "is not a list"
            return
        for inner in value:
            yield from _misfits(inner, shape.inside, path)
    elif shape.kind == "text":
        if not isinstance(value, str):
            yield path, "is not a text"
    elif shape.kind == "flag":
        if not isinstance(value, bool):
            yield path, "is neither true nor false"
    elif shape.kind != "free" and not _is_number(value):
        yield path, "is not a number that a result has"


@functools.cache
def _settings() -> Mapping[str, Any]:
    """The settings of a drive that pages use, with values of their types."""
    # No policy is searched for: all are built in.
    _, text = engine.resolve("agcr", set=(), policy=(), seed=None, finder=cast(Any, None))
    config = json.loads(text)["config"]
    known = {key: config[key] for key in ("geometry", "run", "policies")}
    families = known["policies"]
    known["policies"] = {family: None for family in families if family not in LATER_FAMILIES}
    return known


def _unlike(value: Any, known: Any, path: str) -> Iterator[tuple[str, str]]:
    """Places at which settings differ from the known ones in type; null stands for a policy."""
    if known is None:
        name = value.get("name") if isinstance(value, dict) else value
        if not isinstance(name, str):
            yield path, "does not name a policy"
    elif isinstance(known, Mapping):
        if not isinstance(value, Mapping):
            yield path, "is not a table"
            return
        for key, inside in known.items():
            if key in value:
                yield from _unlike(value[key], inside, f"{path}.{key}")
            else:
                yield f"{path}.{key}", "is not there"
    elif isinstance(known, bool | str):
        yield from _misfits(value, Shape("flag" if isinstance(known, bool) else "text"), path)
    else:
        yield from _misfits(value, Shape("number"), path)


def _beyond(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Whole numbers that fit in no table, at any place, because counters may have any name."""
    for path, number in flat(value):
        if isinstance(number, int) and not _is_sane(number):
            yield path, "is not a number that a result has"


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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_sane(value)


def _is_sane(number: int | float) -> bool:
    """Whether a run could have counted or measured this number."""
    return abs(number) < 2**64 if isinstance(number, int) else abs(number) < 1e30


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number")

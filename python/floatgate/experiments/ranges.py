"""Ranges of values: `{ from = 0.07, to = 0.28, steps = 4 }`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

MOST = 10_000
"""A range with more values is a mistake."""

KEYS = ("from", "to", "steps", "by", "factor", "scale")


class RangeError(Exception):
    """A mistake in a range, and its key if it has one."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class _Number(NamedTuple):
    value: Decimal
    unit: str


def is_range(value: object) -> bool:
    """Whether a value is written as a range."""
    return isinstance(value, Mapping) and "from" in value


def expand(given: Mapping[str, Any]) -> list[int | float | str]:
    """The values of a range, both ends included.

    `steps` is the number of values. They are evenly spaced or, with `scale = "log"`, each is the
    same multiple of the one before. `by` is their distance, and `factor` the multiple. Without any
    of these, they are consecutive whole numbers. Ends may have a unit.

    >>> expand({"from": 0.07, "to": 0.28, "steps": 4})
    [0.07, 0.14, 0.21, 0.28]
    >>> expand({"from": 1, "to": 10, "by": 4}), expand({"from": 1, "to": 3})
    ([1, 5, 9], [1, 2, 3])
    >>> expand({"from": "1MiB", "to": "16MiB", "factor": 4})
    ['1MiB', '4MiB', '16MiB']
    >>> expand({"from": 1, "to": 1000, "steps": 4, "scale": "log"})
    [1, 10, 100, 1000]

    Raises:
        RangeError: The range is malformed, or has too many values.
    """
    for key in given:
        if key not in KEYS:
            raise RangeError(f"`{key}` is not a part of a range (these are {', '.join(KEYS)})", key)
    if "to" not in given:
        raise RangeError("a range needs `to`, where it ends")
    first, last = _number("from", given["from"]), _number("to", given["to"])
    if first.unit != last.unit:
        raise RangeError("both ends of a range must have the same unit", "to")
    if last.value < first.value:
        raise RangeError("a range must not end below its beginning", "to")
    how = [key for key in ("steps", "by", "factor") if key in given]
    if len(how) > 1:
        raise RangeError(f"a range has only one of {', '.join(how)}", how[1])
    if "scale" in given and ("steps" not in given or given["scale"] not in ("linear", "log")):
        raise RangeError('`scale` says how `steps` lie, "linear" or "log"', "scale")
    # Twenty digits before the point, and more than twelve after it.
    with localcontext(prec=50):
        values = _values(first.value, last.value, how[0] if how else None, given)
        return [_plain(value, first.unit) for value in values]


def _values(
    first: Decimal, last: Decimal, how: str | None, given: Mapping[str, Any]
) -> list[Decimal]:
    if how == "steps":
        steps = given["steps"]
        if isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= MOST:
            raise RangeError(f"`steps` must be a whole number from 2 to {MOST}", "steps")
        if given.get("scale") == "log":
            if first <= 0:
                raise RangeError('with `scale = "log"` a range must begin above 0', "from")
            ratio = float(last / first)
            inner = [first * Decimal(ratio ** (i / (steps - 1))) for i in range(1, steps - 1)]
            return [first, *(_rounded(value) for value in inner), last]
        return [first + (last - first) * i / (steps - 1) for i in range(steps)]
    if how == "factor":
        factor = _number("factor", given["factor"]).value
        if factor <= 1 or first <= 0:
            raise RangeError("`factor` must be above 1, and the range begin above 0", "factor")
        return _until(last, first, lambda value: value * factor)
    if how is None and (first % 1 or last % 1):
        raise RangeError("a range needs `steps`, `by` or `factor`, unless its ends are whole")
    by = _number("by", given.get("by", 1)).value
    if by <= 0:
        raise RangeError("`by` must be above 0", "by")
    return _until(last, first, lambda value: value + by)


def _until(last: Decimal, value: Decimal, step: Any) -> list[Decimal]:
    values = []
    while value <= last:
        values.append(value)
        if len(values) > MOST:
            raise RangeError(f"a range has at most {MOST} values")
        value = step(value)
    return values


def _rounded(value: Decimal) -> Decimal:
    """Six digits, or a whole number if that is as near."""
    digits = 5 - math.floor(math.log10(value))
    return round(value, digits) if digits > 0 else Decimal(round(value))


def _number(key: str, given: object) -> _Number:
    finite = isinstance(given, int) or (isinstance(given, float) and math.isfinite(given))
    if finite and not isinstance(given, bool):
        return _Number(_in_reach(key, Decimal(str(given))), "")
    match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*([^\d\s.].*?)\s*", str(given))
    if isinstance(given, str) and match:
        return _Number(_in_reach(key, Decimal(match[1])), match[2])
    raise RangeError(f"`{key}` must be a number, with or without a unit, not {given!r}", key)


def _in_reach(key: str, value: Decimal) -> Decimal:
    """A number in the range of settings; none is greater, or finer."""
    if value and not Decimal("1e-12") <= abs(value) < 2**64:
        raise RangeError(f"`{key}` must be 0, or from 1e-12 to 2^64, not {value}", key)
    return value


def _plain(value: Decimal, unit: str) -> int | float | str:
    """The number as a person would write it.

    >>> _plain(Decimal("0.140"), ""), _plain(Decimal("4.0"), "MiB")
    (0.14, '4MiB')
    """
    number: int | float = int(value) if value % 1 == 0 else float(round(value, 12))
    return f"{number}{unit}" if unit else number

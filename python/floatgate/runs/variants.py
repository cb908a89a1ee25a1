"""The runs of a comparison: lists of values, and every combination of them."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from floatgate.engine import InputError
from floatgate.mistakes import ConflictError
from floatgate.result.names import brief
from floatgate.settings import setting, too_many

Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One drive or workload, or several: `"agcr"`, `"agcr,modern-tlc"`, `["agcr", "mine.toml"]`."""

Lists = Mapping[str, object] | Iterable[str]
"""`{"ftl.spare-factor": [0.07, 0.2]}` or `["ftl.spare-factor=0.07,0.2"]`."""

Seeds = int | str | Iterable[int] | None
"""`1`, `"1,2,3"` or `[1, 2, 3]`."""


class Axis(NamedTuple):
    """One part of a run, and the values that it takes in turn.

    `name` is its name for people: `drive`, `workload`, a policy's family, a setting's key, `seed`.
    """

    kind: str
    name: str
    values: tuple[str, ...]

    def argument(self, value: str) -> str:
        """The text of one value for the engine."""
        return f"{self.name}={value}" if self.kind in ("policy", "set") else value


class Variant(NamedTuple):
    """The parts of one run of a comparison. `varied` has its differences from the other runs."""

    drive: str
    workload: str
    policy: tuple[str, ...]
    set: tuple[str, ...]
    seed: int | None
    varied: Mapping[str, str]


def expand(drive: Names, workload: Names, policy: Lists, set: Lists, seed: Seeds) -> list[Variant]:
    """Every combination of the values given; the one named first varies slowest.

    Raises:
        InputError: A list has an empty place, something is given twice, or a seed is not valid.
    """
    axes = [_named("drive", drive), _named("workload", workload)]
    axes += _settings("policy", policy)
    axes += _settings("set", set)
    axes += _seeds(seed)
    _check(axes)
    many = too_many(len(axis.values) for axis in axes)
    if many is not None:
        raise InputError(f"{many}; leave values out, or compare in several commands")
    combinations = itertools.product(*(axis.values for axis in axes))
    return [_variant(axes, values) for values in combinations]


def split(text: str) -> list[str]:
    """The values of a comma list. A comma within quotes or brackets is part of its value.

    >>> split("0.07, 0.2")
    ['0.07', '0.2']
    >>> split('{ rate = "333MT/s", width-bits = 8 }, included')
    ['{ rate = "333MT/s", width-bits = 8 }', 'included']
    >>> split('["50us", "70us"]')
    ['["50us", "70us"]']
    """
    parts, start, depth, quote = [], 0, 0, ""
    escaped = False
    for at, char in enumerate(text):
        if quote:
            # Only a basic string has escapes with a backslash, as in TOML.
            ends = char == quote and not escaped
            escaped = char == "\\" and quote == '"' and not escaped
            quote = "" if ends else quote
        elif char in "\"'":
            quote = char
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    if quote or depth:
        return [text.strip()]  # Not a list: the reader of the value reports its mistakes.
    return [part.strip() for part in [*parts, text[start:]]]


def folder_name(variants: Sequence[Variant]) -> str:
    """A folder name for the results: the compared values, and the setting that varies.

    >>> folder_name(expand("agcr", "traces/hm_0.csv.gz", "victim=greedy,fifo", (), None))
    'compare-agcr-hm_0-by-victim'
    """
    parts = ["compare"]
    for several in ({v.drive: 0 for v in variants}, {v.workload: 0 for v in variants}):
        # Neither the path of a file nor its suffixes count.
        parts.append("+".join(re.sub(r"(?<=.)\..*", "", os.path.basename(n)) for n in several))
    names = [name for name in variants[0].varied if name not in ("drive", "workload")]
    if names:
        parts += ["by", *(brief(name, names) for name in names)]
    return re.sub(r"[^A-Za-z0-9_.+-]", "-", "-".join(parts))[:100]


def _named(name: str, given: Names) -> Axis:
    if isinstance(given, str):
        # A file whose name has a comma is one file.
        values = [given] if os.path.exists(given) else split(given)
    else:
        values = [str(each) for each in ([given] if isinstance(given, os.PathLike) else given)]
    return Axis(name, name, tuple(values))


def _settings(kind: str, given: Lists) -> Iterator[Axis]:
    if isinstance(given, Mapping):
        for name, value in given.items():
            if isinstance(value, list | tuple):
                yield Axis(kind, name, tuple(map(setting, value)))
            else:
                yield Axis(kind, name, tuple(split(setting(value))))
        return
    for text in [given] if isinstance(given, str) else given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--{kind} {text}: expected {_FORM[kind]}")
        yield Axis(kind, name.strip(), tuple(split(value)))


GREATEST = 2**63 - 1
"""No seed is greater."""

_FORM = {
    "policy": "FAMILY=NAME[:KEY=VALUE]..., such as victim=greedy,fifo",
    "set": "KEY=VALUE, such as ftl.spare-factor=0.07,0.2",
}


def _seeds(given: Seeds) -> Iterator[Axis]:
    if given is None:
        return
    if isinstance(given, str):
        values = split(given)
    else:
        values = [str(seed) for seed in ([given] if isinstance(given, int) else given)]
    for value in filter(None, values):
        if not (value.isascii() and value.isdigit()):
            raise InputError(f"--seed: `{value}` is not a seed; expected whole numbers from 0 on")
        if int(value) > GREATEST:
            raise InputError(f"--seed: a seed is at most {GREATEST}, not {value}")
    yield Axis("seed", "seed", tuple(values))


def _check(axes: Sequence[Axis]) -> None:
    seen: dict[tuple[str, str], Axis] = {}
    for axis in axes:
        if not axis.values or "" in axis.values:
            raise InputError(f"{_shown(axis)}: a list has no empty places")
        twice = seen.setdefault((axis.kind, axis.name), axis)
        if twice is not axis:
            values = ",".join(twice.values + axis.values)
            raise ConflictError(
                f"--{axis.kind} {axis.name} is given twice; "
                f"one list names all values: --{axis.kind} {axis.name}={values}"
            )


def _shown(axis: Axis) -> str:
    """The axis as on the command line."""
    values = ",".join(axis.values)
    if axis.kind in ("policy", "set"):
        return f"--{axis.kind} {axis.name}={values}"
    return f"--seed {values}" if axis.kind == "seed" else f"{axis.name.upper()} {values}"


def _variant(axes: Sequence[Axis], values: Sequence[str]) -> Variant:
    def of(kind: str) -> tuple[str, ...]:
        return tuple(a.argument(v) for a, v in zip(axes, values, strict=True) if a.kind == kind)

    seeds = of("seed")
    return Variant(
        drive=of("drive")[0],
        workload=of("workload")[0],
        policy=of("policy"),
        set=of("set"),
        seed=int(seeds[0]) if seeds else None,
        varied={a.name: v for a, v in zip(axes, values, strict=True) if len(a.values) > 1},
    )

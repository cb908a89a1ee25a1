"""Several workloads side by side, each a flow of its own, as one workload."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from floatgate.engine import InputError
from floatgate.hints import hint
from floatgate.mistakes import ConflictError, IncompleteError, UnknownNameError

KEYS = (
    "format",
    "time-unit",
    "columns",
    "event",
    "device",
    "process",
    "skip-bad",
    "slice",
    "first",
    "footprint",
    "speed",
    "repeat",
    "wrap",
    "queue-depth",
    "until",
    "begins",
    "priority",
    "hint",
    "stretches",
    "seed",
    "share",
    "weight",
    "depth",
)
"""The keys of a flow: those of a part of a workload file."""

_NUMBER = re.compile(r"\d+|\d*\.\d+")


def flows(named: Mapping[str, str] | Iterable[str]) -> str:
    """Returns a workload of several flows, each in a region of its own.

    You can use the returned value as a workload. A flow without times, such as that of a
    generator, always has `queue-depth` requests outstanding, by default `host.queue-depth`.

    >>> print(flows({"db": "random-read:weight=4", "log": "sequential-write:queue-depth=1"}))
    schema = "floatgate.workload/1"
    <BLANKLINE>
    [[part]]
    flow = "db"
    workload = "random-read"
    weight = 4
    <BLANKLINE>
    [[part]]
    flow = "log"
    workload = "sequential-write"
    queue-depth = 1

    Args:
        named: Workloads by the names of their flows, `{"db": "trace.csv:weight=4"}` or
            `["db=trace.csv:weight=4"]`. After each colon is a key of a part of a workload file
            with its value (docs/flows.md).

    Raises:
        InputError: A flow has no name, no workload, or something that no part has.
    """
    pairs = named.items() if isinstance(named, Mapping) else map(_pair, named)
    parts, known = [], set[str]()
    for name, text in pairs:
        if name in known:
            raise ConflictError(
                f"two flows are called `{name}`; expected a name of its own for each"
            )
        known.add(name)
        parts.append(_part(name, text))
    if not parts:
        raise IncompleteError("no flow; expected at least one NAME=WORKLOAD")
    return "\n\n".join(['schema = "floatgate.workload/1"', *parts])


def _pair(text: str) -> tuple[str, str]:
    name, is_one, workload = text.partition("=")
    if not is_one or not name.strip() or not workload:
        raise InputError(f"`{text}` is not a flow; expected NAME=WORKLOAD[:KEY=VALUE]...")
    return name, workload


def cut(text: str) -> list[str]:
    """A workload, whose name may have colons, and its options."""
    return re.split(r":(?=[a-z][a-z-]*=)", text)


def _part(name: str, text: str) -> str:
    """A part of a workload file."""
    workload, *more = cut(text)
    lines = ["[[part]]", f"flow = {_said(name)}", f"workload = {_said(workload)}"]
    for each in more:
        key, _, value = each.partition("=")
        if key not in KEYS:
            raise UnknownNameError(
                f"the flow `{name}`: `{key}` is nothing that a flow has; {hint(key, KEYS)}"
            )
        plain = _NUMBER.fullmatch(value) or value in ("true", "false")
        lines.append(f"{key} = {value if plain else _said(value)}")
    return "\n".join(lines)


def _said(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

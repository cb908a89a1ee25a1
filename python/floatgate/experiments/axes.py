"""From the keys of a block to its axes, and the settings of each choice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from floatgate.engine import InputError
from floatgate.experiments import ranges
from floatgate.experiments.errors import Mistake
from floatgate.experiments.toml import inline
from floatgate.settings import STEADY, too_many
from floatgate.workloads.flows import cut, flows


class MistakeError(Exception):
    """Carries a mistake."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake


class Part(NamedTuple):
    """The settings of a choice: all that a run needs, or some of them."""

    drive: str | None = None
    workload: str | None = None
    policy: Mapping[str, str] = {}
    set: Mapping[str, str] = {}
    seed: int | None = None
    flow: Mapping[str, str] = {}

    def with_(self, other: Part) -> Part:
        """These settings, with others on top."""
        return Part(
            other.drive or self.drive,
            other.workload or self.workload,
            {**self.policy, **other.policy},
            {**self.set, **other.set},
            self.seed if other.seed is None else other.seed,
            {**self.flow, **other.flow},
        )

    def of_flows(self) -> Part:
        """The same, with its flows as its workload, if it has flows."""
        return self._replace(workload=flows(self.flow), flow={}) if self.flow else self


class Choice(NamedTuple):
    """One value of an axis, and its name."""

    label: str
    part: Part


class Axis(NamedTuple):
    """One part of a run, and the choices for it."""

    name: str
    choices: tuple[Choice, ...]


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A block's keys over those of another one. Tables are merged key by key, one level deep."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        both = isinstance(value, Mapping) and isinstance(old, Mapping)
        result[key] = {**(old or {}), **value} if both and key in _TABLES else value
    return result


_TABLES = ("flow", "policy", "set", "cases", "reading", "quick")


def axes_of(block: Mapping[str, Any], folder: Path) -> list[Axis]:
    """The axes of a block; the one named first varies slowest.

    Raises:
        MistakeError: A list is empty, a range none, or the drive or workload is missing.
    """
    axes = []
    for kind in ("drive", "workload"):
        if kind in block:
            axes.append(_named(kind, block[kind], folder))
    for name, value in block.get("flow", {}).items():
        told = _choices(("flow", name), value, labelled=True)
        parts = ((k, Part(flow={name: _flow(name, v, ("flow", name), folder)})) for k, v in told)
        axes.append(Axis(f"flow.{name}", tuple(Choice(k, part) for k, part in parts)))
    for family, value in block.get("policy", {}).items():
        choices = _choices(("policy", family), value, labelled=True)
        axes.append(
            Axis(family, tuple(Choice(k, Part(policy={family: _text(v)})) for k, v in choices))
        )
    steady = STEADY if block.get("steady") else {}
    for key, value in {**steady, **block.get("set", {})}.items():
        choices = _choices(("set", key), value, labelled=False)
        axes.append(Axis(key, tuple(Choice(k, Part(set={key: _text(v)})) for k, v in choices)))
    if "scale" in block:
        choices = _choices(("scale",), block["scale"], labelled=False)
        axes.append(
            Axis("scale", tuple(Choice(k, Part(set={"scale": _text(v)})) for k, v in choices))
        )
    for name, cases in block.get("cases", {}).items():
        if not cases:
            raise MistakeError(Mistake(("cases", name), f"`{name}` has no cases"))
        parts = ((k, _case(case, ("cases", name, k), folder)) for k, case in cases.items())
        axes.append(Axis(name, tuple(Choice(k, part) for k, part in parts)))
    if "seed" in block:
        choices = _choices(("seed",), block["seed"], labelled=False)
        axes.append(Axis("seed", tuple(Choice(k, Part(seed=_seed(v))) for k, v in choices)))
    _check_names(axes)
    many = too_many(len(axis.choices) for axis in axes)
    if many is not None:
        longest = max(axes, key=lambda axis: len(axis.choices))
        where = next(_places(longest.name))
        raise MistakeError(Mistake(where, many, "leave values out, or split the experiment"))
    by_cases = [
        [choice.part for choice in axis.choices]
        for axis in axes
        if axis.name in block.get("cases", {})
    ]
    if "drive" not in block and not any(all(part.drive for part in axis) for axis in by_cases):
        raise MistakeError(Mistake((), "these runs have no `drive`"))
    named = any(all(part.workload or part.flow for part in axis) for axis in by_cases)
    if not {"workload", "flow"} & block.keys() and not named:
        raise MistakeError(Mistake((), "these runs have no `workload`"))
    all_cases = [part for axis in by_cases for part in axis]
    flowing = "flow" in block or any(part.flow for part in all_cases)
    if flowing and ("workload" in block or any(part.workload for part in all_cases)):
        where = ("flow",) if "flow" in block else ("workload",)
        message = "flows are the workload, and there is a `workload` beside them"
        raise MistakeError(Mistake(where, message, "a workload is a flow, too: [flow] NAME = it"))
    return axes


def _check_names(axes: list[Axis]) -> None:
    names = Counter(axis.name for axis in axes)
    for axis in axes:
        if names[axis.name] > 1:
            raise MistakeError(Mistake(("cases", axis.name), f"`{axis.name}` is named twice"))
        for label, times in Counter(choice.label for choice in axis.choices).items():
            if times > 1:
                kind = next(k for k in _places(axis.name))
                raise MistakeError(Mistake(kind, f"`{axis.name}` has `{label}` twice"))


def _places(name: str) -> Iterator[tuple[str, ...]]:
    if name in ("drive", "workload", "seed"):
        yield (name,)
    elif name.startswith("flow."):
        yield ("flow", name.removeprefix("flow."))
    elif "." in name:
        yield ("set", name)
    yield ("policy", name)


def _named(kind: str, value: Any, folder: Path) -> Axis:
    choices = []
    for label, given in _choices((kind,), value, labelled=True):
        text = _found(str(given), folder)
        part = Part(drive=text) if kind == "drive" else Part(workload=text)
        choices.append(Choice(label, part))
    return Axis(kind, tuple(choices))


def _found(name: str, folder: Path) -> str:
    """A path as seen from the experiment's folder if it is a file; anything else unchanged."""
    if any(mark in name for mark in "/\\.") and not os.path.isabs(name):
        path = folder / name
        return str(path) if path.exists() else name
    return name


def _flow(name: str, text: Any, path: tuple[str, ...], folder: Path) -> str:
    """A flow; its file is relative to the experiment's folder."""
    try:
        flows({name: str(text)})
    except InputError as error:
        raise MistakeError(Mistake(path, str(error))) from None
    workload, *more = cut(str(text))
    return ":".join([_found(workload, folder), *more])


def _case(case: Mapping[str, Any], path: tuple[str, ...], folder: Path) -> Part:
    return Part(
        drive=_found(case["drive"], folder) if "drive" in case else None,
        workload=_found(case["workload"], folder) if "workload" in case else None,
        policy={key: _text(value) for key, value in case.get("policy", {}).items()},
        set={key: _text(value) for key, value in case.get("set", {}).items()},
        seed=case.get("seed"),
        flow={
            key: _flow(key, value, (*path, "flow", key), folder)
            for key, value in case.get("flow", {}).items()
        },
    )


def _choices(path: tuple[str, ...], value: Any, *, labelled: bool) -> list[tuple[str, Any]]:
    """Labels and values: of one value, a list, a range, or a table of labels."""
    if ranges.is_range(value):
        try:
            values: list[Any] = ranges.expand(value)
        except ranges.RangeError as error:
            where = (*path, error.key) if error.key else path
            raise MistakeError(Mistake(where, f"{path[-1]}: {error}")) from None
    elif labelled and isinstance(value, Mapping):
        if not value:
            raise MistakeError(Mistake(path, f"`{path[-1]}` has no values"))
        return [(label, each) for label, each in value.items()]
    else:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise MistakeError(Mistake(path, f"the list of `{path[-1]}` is empty"))
    return [(_text(each), each) for each in values]


def _text(value: Any) -> str:
    """A value as the engine reads it after `KEY=`."""
    return value if isinstance(value, str) else inline(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"a seed must be a whole number from 0 on, not {inline(value)}"
        raise MistakeError(Mistake(("seed",), message))
    return value

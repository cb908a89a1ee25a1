"""The load at which a drive shows a meter of the abstract, found by bisection."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from floatgate.engine import InputError
from floatgate.reproduce.study import Evidence, Experiment, Published, Result
from floatgate.runs.sweep import sweep
from floatgate.text.comparison import failures
from floatgate.workloads.catalogue import Folders

READ = "host.read.latency_ns.mean"
AGE, RATE = "precondition.age", "workload.rate"
RPS, FIFO, SUSPEND = ({"scheduling": name} for name in ("RPS", "FIFO", "suspend"))

STEPS = 9
"""Loads tried for each meter: they halve eight octaves to a 64th of an octave."""


def beside_alone(run: Result) -> float | None:
    """Mean latency of reads over what they take in the array and on the channel."""
    delay = run.host.read.delay_ns_by_cause
    alone = delay.array + delay.bus
    return float(run.host.read.latency_ns.mean / alone) if alone else None


class Meter(NamedTuple):
    """A number of the abstract that the load decides, without any suspend.

    More load takes `reading`, a claim about runs of RPS, away from 1 and past `value`.
    """

    name: str
    value: float
    reading: Published

    def reached(self, reading: float) -> bool:
        """Whether a drive with this reading has at least the load of the meter."""
        return reading >= self.value if self.value > 1 else reading <= self.value


METERS = (
    Meter(
        "RPS / FIFO = 0.497",
        0.497,
        Published("", READ, where=RPS, against=FIFO, form="ratio", unit="x"),
    ),
    Meter("RPS = 2 x alone", 2.0, Published("", beside_alone, where=RPS, unit="x")),
)
BY_NAME = {meter.name: meter for meter in METERS}


class Search:
    """Halves the interval of loads, in octaves, that holds the least one with the meter's reading.

    >>> search = Search(BY_NAME["RPS = 2 x alone"], 1000, 16_000)
    >>> while search.low * 1.01 < search.high:
    ...     search.learn(search.next / 3000)  # reads double at 6,000 requests a second
    >>> 6000 <= search.found <= 6060
    True
    """

    def __init__(self, meter: Meter, low: int, high: int) -> None:
        self.meter, self.low, self.high = meter, low, high
        self._bounds = low, high

    @property
    def next(self) -> int:
        """The load to try, in whole requests a second."""
        return round(sqrt(self.low * self.high))

    def learn(self, reading: float) -> None:
        """Takes the reading at the load that was tried."""
        if self.meter.reached(reading):
            self.high = self.next
        else:
            self.low = self.next

    @property
    def found(self) -> int | None:
        """The least load tried that reached the meter.

        None if none did, or if all did: the meter may then lie outside the bounds.
        """
        low, high = self._bounds
        return self.high if self.low != low and self.high != high else None


def prepare(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment with the load of each meter in the place of the bounds of its search.

    A drive that reaches a meter at none or at all of the loads tried has no runs for it. The
    searches of a step are a sweep, so a folder that has their runs already needs no new ones.

    Raises:
        InputError: A run of a search failed.
    """
    data = deepcopy(experiment.data)
    searches = [
        (Search(BY_NAME[meter], *block["set"][RATE]), _of(block, meter, age))
        for block in data["runs"]
        if _is_template(block)
        for meter in block["cases"]["workload"]
        for age in _several(block["set"][AGE])
    ]
    keys = {key.replace("-", "_"): value for key, value in data.items() if key != "schema"}
    for _ in range(STEPS):
        blocks = [_tried(block, search.next) for search, block in searches]
        step = Experiment(folder=experiment.folder, **{**keys, "runs": blocks})
        comparison = sweep(step, out=folder / "load", traces=traces)
        if comparison.failed:
            raise InputError(failures(comparison))
        evidence = Evidence(step, comparison)
        for search, block in searches:
            search.learn(*evidence.values(_reading(search, block)))
    kept = [block for block in data["runs"] if not _is_template(block)]
    kept += [_at(block, search.found) for search, block in searches if search.found]
    return Experiment(folder=experiment.folder, **{**keys, "runs": kept})


def _is_template(block: Mapping[str, Any]) -> bool:
    return not block["cases"].get("workload", {"": None}).keys() - BY_NAME.keys()


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _of(block: Mapping[str, Any], meter: str, age: str) -> dict[str, Any]:
    """The runs of one search."""
    own = {meter: block["cases"]["workload"][meter]}
    cases = {**block["cases"], "workload": own}
    return {**block, "cases": cases, "set": block["set"] | {AGE: age}}


def _at(block: Mapping[str, Any], load: int) -> dict[str, Any]:
    return {**block, "set": block["set"] | {RATE: load}}


def _tried(block: Mapping[str, Any], load: int) -> dict[str, Any]:
    """The runs that a meter reads: without suspends."""
    orders = {k: v for k, v in block["cases"]["scheduling"].items() if k != SUSPEND["scheduling"]}
    return {**_at(block, load), "cases": {**block["cases"], "scheduling": orders}}


def _reading(search: Search, block: Mapping[str, Any]) -> Published:
    (drive,), (workload,) = block["drive"], block["cases"]["workload"]
    where = {"drive": drive, "workload": workload, AGE: block["set"][AGE], RATE: search.next}
    return search.meter.reading._replace(where={**where, **search.meter.reading.where})

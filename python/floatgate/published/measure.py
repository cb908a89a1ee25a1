"""The engine's value for a published number, from one short run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from floatgate.published import CACHED, Cache, Model
from floatgate.published.drive import TAKING_PART, sizes_of, text
from floatgate.published.rules import Rule
from floatgate.result.run import Result
from floatgate.runs.run import run as simulate

SEED = 1

READS = {"p99.9": 60_000, "p99.99": 400_000}
"""Requests of a run of reads, by the statistic; others take `FEW`."""
FEW = 20_000
IN_ORDER = 8_000
WRITES = 1.0
"""Steady writes: requests as a multiple of the units of the drive, after ageing."""

SLICE = 8
"""Dies of the part of a drive that takes steady writes in a run, or those that fill it."""
BRIEF = 2
"""Dies of that part where only the change by an assumed number is of interest."""

BRIEF_BLOCKS = 96
"""Blocks of a plane of that part. The error of few blocks is alike in both runs of a change."""

CACHED_RUNS = {"in": "cached", "end": "cached", "after": "after", "filling": "filled"}
"""The run of the drive file by the place of writes."""
IN_CACHE = 0.8
"""Writes in the cache fill this share of it."""
SETTLED = (0.4, 0.95)
"""Shares of all written bytes between which the rate after the cache is measured."""

BY = 0.25
"""Every assumed number is changed by this share, one at a time."""
DOUBLED = ("die", "planes", "page", "channels", "cores")
"""Numbers that exist in few sizes only: they are halved and doubled."""
FROM_ZERO = 1.0
"""Microseconds that a command takes where the assumed time is zero."""


class Run(NamedTuple):
    """A run as plain values: equal ones have equal results, so that one is enough."""

    file: str
    workload: str
    settings: tuple[tuple[str, Any], ...]
    over_time: bool = False
    """Whether the outcome has the written bytes over time."""


class Outcome(NamedTuple):
    """The numbers of a run. `latency` has nanoseconds by the name of the statistic.

    `written` has seconds since the begin and the bytes written until then, in order.
    """

    requests: int
    bytes: int
    seconds: float
    waf: float
    latency: Mapping[str, float]
    written: Sequence[tuple[float, float]] = ()


def value(model: Model, rule: Rule) -> float:
    """Runs a model with the workload of a rule; returns the statistic.

    IOPS, MB/s and GB (10^6 and 10^9 bytes), microseconds or write amplification. A slice of a
    drive counts for the whole.
    """
    return statistic(outcome(run_of(model, rule)), model, rule)


def run_of(model: Model, rule: Rule, *, brief: bool = False) -> Run:
    """The run that gives the statistic of a rule; with `brief`, of a smaller slice."""
    share = _share(model, rule, brief)
    own: dict[str, Any] = {
        "host.mode": "queue-depth",
        "host.queue-depth": max(1, round(rule.depth * share)),
        "workload.size": f"{rule.size}B",
        "precondition.fill": "none" if rule.fill == "none" else "full",
        "precondition.age": "none",
        "run.keep-requests": False,
    }
    workload = ("random-" if rule.random else "sequential-") + (
        "read" if rule.read_share == 1 else "write"
    )
    if rule.passes:
        workload = "permutation"
        own["workload.order"] = "redrawn"
    if rule.steady:
        own["precondition.age"] = "workload" if rule.passes else "random"
    if 0 < rule.read_share < 1:
        own["workload.read-share"] = rule.read_share
    if rule.random:
        own["workload.align"] = f"{rule.size}B"
    if rule.place:
        own["workload.requests"] = _requests(model, rule, share)
        path = text(model, run=CACHED_RUNS[rule.place], part=share)
        return Run(path, workload, tuple(own.items()), rule.place in ("after", "end"))
    blocks = BRIEF_BLOCKS if brief else TAKING_PART
    run = "spare" if rule.steady else "speed"
    file = text(model, run=run, part=share, taking_part=blocks)
    scale = 1
    for line in file.splitlines():
        if line.startswith("scale"):
            scale = int(line.split("/")[1].strip('"'))
    if rule.steady:
        units = round(model.capacity * share / scale / rule.size)
        own["workload.requests"] = round(units * WRITES / (1 - rule.read_share)) * scale
    elif rule.random or rule.depth == 1:
        own["workload.requests"] = READS.get(rule.statistic, FEW)
    else:
        own["workload.requests"] = IN_ORDER
    return Run(file, workload, tuple(own.items()))


def _requests(model: Model, rule: Rule, share: float) -> int:
    """The requests of a run on a drive with a cache."""
    sizes = sizes_of(model, CACHED_RUNS[rule.place], share)
    if rule.place != "in":
        return sizes.written // rule.size
    room = round(IN_CACHE * sizes.cached) // rule.size
    return min(room, FEW) if rule.random else room


def outcome(run: Run) -> Outcome:
    """Carries out a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(run.file, encoding="utf-8")
        result = simulate(
            path,
            run.workload,
            set=dict(run.settings),
            seed=SEED,
            out=folder if run.over_time else None,
            record=["series"],
        )
        written = _written(result) if run.over_time else ()
    host = result.data["host"]["all"]
    latency = {key: each for key, each in host["latency_ns"].items() if each is not None}
    return Outcome(
        host["requests"],
        host["bytes"],
        result.simulated_seconds,
        float(result.waf or 0),
        latency,
        written,
    )


def _written(result: Result) -> list[tuple[float, float]]:
    """Seconds since the begin of a run, and the bytes written until then."""
    series = result.series()
    ends = (series["start_ns"] + series["width_ns"]).to_list()
    sums = series["write_bytes"].cum_sum().to_list()
    return [(0.0, 0.0), *zip([each / 1e9 for each in ends], map(float, sums), strict=True)]


def knee(curve: Sequence[tuple[float, float]]) -> float:
    """The height at which a curve that becomes flatter bends: its point farthest above its chord.

    >>> knee([(0, 0), (1, 10), (2, 20), (3, 22), (4, 24)])
    20
    """
    (begin, low), (end, high) = curve[0], curve[-1]
    slope = (high - low) / (end - begin)
    return max(curve, key=lambda point: point[1] - low - slope * (point[0] - begin))[1]


def slope(curve: Sequence[tuple[float, float]], first: float, last: float) -> float:
    """The mean slope between two shares of the greatest height.

    >>> slope([(0, 0), (1, 10), (2, 12), (3, 14), (4, 16)], 0.6, 1)
    2.0
    """
    top = curve[-1][1]
    part = [point for point in curve if first * top <= point[1] <= last * top]
    (begin, low), (end, high) = part[0], part[-1]
    return (high - low) / (end - begin)


def statistic(found: Outcome, model: Model, rule: Rule, *, brief: bool = False) -> float:
    """The statistic of a rule, for the whole drive."""
    share = _share(model, rule, brief)
    if rule.place == "end" and model.cache is not None:
        sizes = sizes_of(model, CACHED_RUNS["end"])
        return knee(found.written) * model.cache.size / sizes.cached / 1e9
    if rule.place == "after":
        return slope(found.written, *SETTLED) / 1e6
    if rule.statistic == "iops":
        return found.requests / found.seconds / share
    if rule.statistic == "mb":
        return found.bytes / found.seconds / 1e6 / share
    if rule.statistic == "waf":
        return found.waf
    return found.latency[rule.statistic.replace(".", "_")] / 1000


def _share(model: Model, rule: Rule, brief: bool) -> float:
    """The part of the dies that runs."""
    return min(1.0, (BRIEF if brief else SLICE) / model.dies) if rule.sliced else 1.0


def changes(model: Model, key: str) -> list[Model]:
    """The model with one assumed number changed: `BY` less and more where that exists.

    `DOUBLED` are halved and doubled. More cores take so much longer for a command that all of them
    serve as many requests a second as before: that rate is what is fitted. Planes that read apart
    read together, and the reverse. A command of zero takes `FROM_ZERO`.
    """
    old = model.flash.get(key, model.controller.get(key))
    if key == "command" and old == 0:
        return [_with(model, key, FROM_ZERO)]
    if isinstance(old, bool):
        return [_with(model, key, not old)]
    if key in DOUBLED:
        return [changed(model, key, factor) for factor in (0.5, 2.0) if old * factor >= 1]
    return [changed(model, key, factor) for factor in (1 - BY, 1 + BY)]


def changed(model: Model, key: str, factor: float) -> Model:
    """The model with one number multiplied; `spare` is its over-provisioning."""
    if key == "spare":
        raw = round(model.capacity * (1 + model.over_provisioning * factor))
        # The same dies, each with more flash or less.
        flash = {**model.flash, "die": model.flash["die"] * raw / model.raw}
        return replace(model, raw=raw, flash=flash)
    if key == "write-limit" and model.write_limit is not None:
        return replace(model, write_limit=model.write_limit * factor)
    if key == "slc-cache" and model.cache is not None:
        sizes = (round(each * factor) for each in (model.cache.fixed, model.cache.dynamic))
        return replace(model, cache=Cache(*sizes))
    old = model.flash[key] if key in model.flash else model.controller[key]
    if key == "cores":
        model = _with(model, "command", model.controller["command"] * factor)
    if key == "pages-per-block":
        bits = model.flash["bits"]
        return _with(model, key, round(old * factor / bits) * bits)
    if isinstance(old, list):
        return _with(model, key, [each * factor for each in old])
    whole = key in (*DOUBLED, "endurance", "slc-endurance")
    return _with(model, key, round(old * factor) if whole else old * factor)


def _with(model: Model, key: str, new: object) -> Model:
    """The model with one value replaced."""
    if key in model.flash:
        return replace(model, flash={**model.flash, key: new})
    return replace(model, controller={**model.controller, key: new})


WITHOUT = {
    1.0: ("program", "erase", "buffer-latency", "spare", "write-limit"),
    0.0: ("read-latency",),
}
"""Numbers without influence, by the share of reads: reads alone neither write nor erase."""


WITHOUT_PLACE = {
    "": (*CACHED, "slc-cache"),
    "in": (
        "read", "program", "erase", "spare", "pages-per-block", "slc-read", "slc-erase",
        "slc-endurance", "endurance", "slc-cache",
    ),
    "end": ("spare", "slc-endurance", "endurance"),
    "after": ("spare", "slc-endurance", "endurance", "slc-cache"),
    "filling": ("slc-endurance", "endurance"),
}  # fmt: skip
"""Numbers without influence, by the place of writes: those in the cache are not folded."""


def depends(model: Model, rule: Rule) -> list[str]:
    """The assumed numbers on which a row can depend."""
    without = (*WITHOUT.get(rule.read_share, ()), *WITHOUT_PLACE[rule.place])
    return sorted(key for key in model.assumed if key not in without)

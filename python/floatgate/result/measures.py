"""The numbers of a run by name: the title of each, its unit, its format, and its better direction.

A name is a short one of `MEASURES`, such as `write.p99`, or the path of a number in the result with
dots between its keys: `host.write.latency_ns.p99`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple, NoReturn

from floatgate.hints import hint, nearest
from floatgate.mistakes import UnknownNameError
from floatgate.result import declared
from floatgate.result.comparison import Comparison
from floatgate.result.doubts import doubts
from floatgate.result.run import Result
from floatgate.result.units import UNITS, is_number, unit_of, within
from floatgate.result.values import flat
from floatgate.words import short


class Measure(NamedTuple):
    """One number of a run: its name, its title, its path, its unit."""

    key: str
    title: str
    of: Callable[[Result], float | None]
    unit: str = ""
    more_is_better: bool | None = False
    """None if neither direction is better, or if it is not known."""
    about: str = ""

    def show(self, value: float) -> str:
        """The number as people read it."""
        return UNITS[self.unit].show(value)


def _latency(op: str, key: str) -> Callable[[Result], float | None]:
    return lambda run: run.host[op].latency_ns[key] if run.host[op].requests else None


def _rate(run: Result) -> float | None:
    """Requests per second, if they depend on the drive; in an open loop they follow their times."""
    closed = run.provenance.config.host.mode in ("queue-depth", "think-time")
    seconds = run.simulated_seconds
    return run.host.all.requests / seconds if closed and seconds else None


def _moved(run: Result) -> float:
    program = run.flash.program
    return float(program.total - program.host)


def _worn_out(run: Result) -> float | None:
    return None if run.end.state != "worn-out" else float(run.end.at_ns)


HOST = (
    Measure("read.mean", "read mean", _latency("read", "mean"), "ns", about="mean read latency"),
    Measure("read.p99", "read p99", _latency("read", "p99"), "ns", about="read latency, p99"),
    Measure(
        "read.p99.9", "read p99.9", _latency("read", "p99_9"), "ns", about="read latency, p99.9"
    ),
    Measure(
        "write.mean", "write mean", _latency("write", "mean"), "ns", about="mean write latency"
    ),
    Measure("write.p99", "write p99", _latency("write", "p99"), "ns", about="write latency, p99"),
    Measure(
        "write.p99.9", "write p99.9", _latency("write", "p99_9"), "ns", about="write latency, p99.9"
    ),
    Measure("trim.mean", "trim mean", _latency("trim", "mean"), "ns", about="mean trim latency"),
    Measure(
        "flush.mean", "flush mean", _latency("flush", "mean"), "ns", about="mean flush latency"
    ),
    Measure("iops", "IOPS", _rate, "per s", more_is_better=True, about="requests"),
)
FLASH = (
    Measure("waf", "WAF", lambda run: run.waf, "x", about="write amplification"),
    Measure("erases", "erases", lambda run: float(run.flash.erase.total), "count"),
    Measure("moved", "moved pages", _moved, "count"),
    Measure(
        "wear.max",
        "max erases",
        lambda run: float(run.wear.erases.max),
        about="most erases of a block",
    ),
    Measure(
        "wear.spread",
        "erases, std",
        lambda run: run.wear.erases.stddev,
        about="standard deviation of erases",
    ),
    Measure(
        "energy",
        "energy",
        lambda run: run.energy_joules.total if run.energy_joules else None,
        "J",
    ),
    Measure(
        "uncorrectable",
        "lost reads",
        lambda run: float(run.flash.uncorrectable),
        "count",
        about="uncorrectable reads",
    ),
    Measure("end", "drive ended", _worn_out, "ns", more_is_better=True, about="end of the drive"),
)
MEASURES = {measure.key: measure for measure in (*HOST, *FLASH)}
"""The measures that pages of comparisons show, by their short names."""


def could_be(names: Sequence[str]) -> None:
    """Refuses names that cannot be measures of any result, before there are results.

    Raises:
        InputError: A name is not a short one, and no path of a result begins like that.
    """
    known = {each.name for each in declared.sections()}
    for name in names:
        if name not in MEASURES and name.partition(".")[0] not in known:
            _refuse(name, declared.numbers())


def _refuse(name: str, paths: Iterable[str]) -> NoReturn:
    near = nearest(name, [*MEASURES, *paths])
    said = hint(name, near or MEASURES)
    raise UnknownNameError(f"`{name}` is not a measure, nor a number of these results; {said}")


def find(name: str, runs: Sequence[Result] = ()) -> Measure:
    """The measure of that name, short or a path into the result.

    >>> find("write.p99").unit, find("host.write.latency_ns.p99_9").unit
    ('ns', 'ns')

    Raises:
        InputError: No short name is like that, and none of `runs` has a number there.
    """
    if name in MEASURES:
        return MEASURES[name]
    if runs and all(lookup(run, name) is None for run in runs):
        _refuse(name, _paths(runs[0].data))
    unit = unit_of(name)
    waits = unit == "ns" and name.startswith(("host.", "flash."))
    return Measure(name, name, lambda run: lookup(run, name), unit, False if waits else None)


def tables(first: Sequence[str] = ()) -> list[tuple[str, list[Measure]]]:
    """The tables of a page about runs: the first measures, by name, then those that all have.

    >>> [(title, len(measures)) for title, measures in tables(["waf", "flash.rmw_reads"])]
    [('Chosen measures', 2), ('Host requests: latency from arrival to completion', 9), \
('Flash: reclaiming and wear', 7)]
    """
    wanted = dict.fromkeys(first)
    every = (
        ("Chosen measures", [find(name) for name in wanted]),
        (
            "Host requests: latency from arrival to completion",
            [measure for measure in HOST if measure.key not in wanted],
        ),
        (
            "Flash: reclaiming and wear",
            [measure for measure in FLASH if measure.key not in wanted],
        ),
    )
    return [(title, measures) for title, measures in every if measures]


def lookup(run: Result, path: str) -> float | None:
    """The number at a path of the result; None if there is none."""
    value: object = run.data
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return float(value) if is_number(value) else None  # type: ignore[arg-type]


def _paths(value: Mapping[str, object]) -> list[str]:
    return [path for path, found in flat(value) if is_number(found)]


def peers(comparison: Comparison) -> list[list[int]]:
    """The runs with one workload: only within these can drives be compared."""
    groups: dict[str | None, list[int]] = {}
    for i, variant in enumerate(comparison.variants):
        groups.setdefault(variant.get("workload"), []).append(i)
    return list(groups.values())


def combinations(comparison: Comparison) -> list[list[int]]:
    """The runs that differ in their seed alone, in the order of the first of them.

    If nothing else varies, every run is a combination of its own.
    """
    if not [n for n, of in comparison.varied.items() if n != "seed" and len(of) > 1]:
        return [[i] for i in range(len(comparison.runs))]
    groups: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for i, variant in enumerate(comparison.variants):
        key = tuple((name, value) for name, value in variant.items() if name != "seed")
        groups.setdefault(key, []).append(i)
    return list(groups.values())


_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Quantiles of Student's t for a two-sided 95 % interval, for 1 to 9 degrees of freedom."""


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % confidence interval of a mean, by Student's t (Student 1908).

    From 10 degrees of freedom on, the quantile is the expansion of Fisher and Cornish (1960). Its
    relative error is below 1e-4 there.

    >>> half_width([1.0, 2.0, 3.0])  # 4.303 / sqrt(3)
    2.484...
    >>> half_width([5.0])
    0.0
    """
    if len(values) < 2:
        return 0.0
    free = len(values) - 1
    if free <= len(_T):
        t = _T[free - 1]
    else:
        z = 1.959964
        first, second = z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z
        third = 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z
        t = z + first / (4 * free) + second / (96 * free**2) + third / (384 * free**3)
    return t * stdev(values) / sqrt(len(values))


def best(measure: Measure, values: Mapping[int, float | None]) -> list[int]:
    """The best runs. Values that print alike are equal.

    None is best if all values are equal, or if one is missing.
    """
    if measure.more_is_better is None:
        return []
    known = {i: value for i, value in values.items() if value is not None}
    if len(known) < len(values):
        return []
    shown = {i: measure.show(value) for i, value in known.items()}
    first = measure.show((max if measure.more_is_better else min)(known.values()))
    return [i for i in shown if shown[i] == first] if len({*shown.values()}) > 1 else []


def change(first: float | None, value: float | None) -> str:
    """The difference to the first in percent; large ones as a factor.

    >>> change(10.0, 9.0), change(10.0, 10.04), change(10.0, 13.5), change(10.0, 123.0)
    ('-10 %', '+0.4 %', '+35 %', 'x 12.3')
    >>> change(10.0, 10.0), change(0.0, 3.0), change(None, 3.0)
    ('=', '', '')
    """
    if not first or value is None:
        return ""
    if value == first:
        return "="
    share = value / first - 1
    if share >= 9:
        return f"x {short(float(f'{value / first:.3g}'))}"
    percent = f"{100 * share:+.{1 if abs(share) < 0.0995 else 0}f}"
    return "=" if float(percent) == 0 else f"{percent} %"


def warnings(comparison: Comparison) -> Iterator[tuple[str, str, list[Mapping[str, str]], str]]:
    """Each warning once: its text in the first run, code, runs, and whether their numbers differ.

    Warnings are the same if their texts differ only in numbers.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    concerned: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for variant, run in zip(comparison.variants, comparison.runs, strict=True):
        for warning in run.warnings:
            key = warning["code"], re.sub(r"\d[\d.,]*", "0", warning["text"])
            texts.setdefault(key, []).append(warning["text"])
            concerned.setdefault(key, []).append(variant)
    for key, each in texts.items():
        others = "" if len({*each}) == 1 else " (the numbers are those of the first)"
        yield each[0], key[0], concerned[key], others


class Cell(NamedTuple):
    """A measure of one run, or of the runs of one combination, as a page shows it."""

    shown: str
    """The number; for several runs their mean, and the half-width of its 95 % interval."""
    value: float | None
    change: str
    """The difference to the first one with the same workload."""
    best: bool


def columns(
    comparison: Comparison, first: Sequence[str] = (), groups: Sequence[Sequence[int]] = ()
) -> Iterator[tuple[str, list[tuple[Measure, list[Cell]]]]]:
    """The tables of a page: a title, and by measure a cell for each group of runs.

    A measure that no run has is left out, unless it is among those in `first`.

    Args:
        comparison: The runs.
        first: Names of the measures that stand ahead of the others.
        groups: The runs of each row, by their numbers; by default each run has a row of its own.
    """
    rows = groups or [[i] for i in range(len(comparison.runs))]
    for title, measures in [*tables(first), *_flows(comparison.runs), *_others(comparison.runs)]:
        shown = [(m, _cells(m, comparison, rows)) for m in measures]
        kept = [(m, cells) for m, cells in shown if m.key in first or any(c.value for c in cells)]
        if kept:
            yield title, kept


def _flows(runs: Sequence[Result]) -> list[tuple[str, list[Measure]]]:
    """A table of the flows of the runs, if there are any."""
    names = dict.fromkeys(name for run in runs for name in run.data["host"].get("flows") or ())
    wanted = (("mean", "mean"), ("p99", "p99"))
    measures = [
        Measure(f"flow.{name}.{key}", f"{name} {said}", _of_flow(name, key), "ns")
        for name in names
        for key, said in wanted
    ]
    return [("Flows: latency from arrival to completion", measures)] if measures else []


def _others(runs: Sequence[Result]) -> list[tuple[str, list[Measure]]]:
    """A table of the numbers of each section that has no form of its own."""
    found = []
    for section in declared.others():
        every = (flat(run.data.get(section.name), section.name) for run in runs)
        paths = dict.fromkeys(path for each in every for path, value in each if is_number(value))
        measures = [find(path)._replace(title=within(path)) for path in paths]
        if measures:
            found.append((section.name, measures))
    return found


def _of_flow(name: str, key: str) -> Callable[[Result], float | None]:
    def of(run: Result) -> float | None:
        flow = (run.data["host"].get("flows") or {}).get(name)
        return flow["all"]["latency_ns"][key] if flow and flow["all"]["requests"] else None

    return of


def _cells(measure: Measure, comparison: Comparison, groups: Sequence[Sequence[int]]) -> list[Cell]:
    values = [mean_of(measure, [comparison.runs[i] for i in group]) for group in groups]
    changes, marked = [""] * len(values), set[int]()
    workloads: dict[str | None, list[int]] = {}
    for at, group in enumerate(groups):
        workloads.setdefault(comparison.variants[group[0]].get("workload"), []).append(at)
    for first, *others in workloads.values():
        for at in others:
            changes[at] = change(values[first], values[at])
        beside = [i for at in (first, *others) for i in groups[at]]
        if not any(doubts(measure.key, comparison.runs[i]) for i in beside):
            marked |= {*best(measure, {at: values[at] for at in (first, *others)})}
    cells = []
    for at, (group, value) in enumerate(zip(groups, values, strict=True)):
        shown = "-" if value is None else measure.show(value)
        if len(group) > 1 and value is not None:
            each = [number for i in group if (number := measure.of(comparison.runs[i])) is not None]
            shown += f" ±{measure.show(float(f'{half_width(each):.2g}'))}"
        cells.append(Cell(shown, value, changes[at], at in marked))
    return cells


def mean_of(measure: Measure, runs: Sequence[Result]) -> float | None:
    """The mean over runs; None if one of them has no such number."""
    values = [measure.of(run) for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None

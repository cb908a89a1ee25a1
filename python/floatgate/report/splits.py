"""Plots of the parts of a whole: a bar for each run, its parts stacked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from floatgate.report.drawing import (
    BARS,
    Drawn,
    asked,
    axis_title,
    bars_height,
    chart,
    chosen,
    color,
    drawn,
    faded,
    left_out,
    sentence,
)
from floatgate.report.model import Plot
from floatgate.report.names import Names
from floatgate.result.run import Result
from floatgate.result.units import UNITS
from floatgate.result.values import LEVELS, OPERATIONS, PARTS, SOURCES, called, delays
from floatgate.words import several


def causes(plot: Plot, names: Names) -> Iterator[Drawn]:
    """The mean latency by cause, a plot for each operation."""
    one = asked(plot, OPERATIONS, "host.")
    used = {
        called(part)
        for run in names.runs
        for op in OPERATIONS
        for part, mean in delays(run.data["host"][op]).items()
        if mean
    }
    for op in [one] if one else ["read", "write"]:
        if not one and not any(run.host[op].requests for run in names.runs):
            continue

        def parts(run: Result, op: str = op) -> Mapping[str, float]:
            return {called(part): mean for part, mean in delays(run.data["host"][op]).items()}

        yield _stacked(
            "causes",
            plot.title or f"Time of {several(op)} by cause",
            f"Mean latency of a {op} by cause; gc is garbage collection.",
            (f"mean {op} latency", "ns"),
            list(PARTS.values()),
            parts,
            names,
            used,
        )


_OFTEN = tuple(called(part) for part in ("queue.host", "queue.gc", "array", "bus"))
"""These take the first colours, which are easiest to tell apart."""

_OPERATIONS = {
    "program": "pages programmed",
    "read": "pages read",
    "erase": "blocks erased",
}


def sources(plot: Plot, names: Names) -> Iterator[Drawn]:
    """Flash operations by source."""
    for kind in [asked(plot, _OPERATIONS, "flash.") or "program"]:
        words = _OPERATIONS[kind]

        def parts(run: Result, kind: str = kind) -> Mapping[str, float]:
            counts = run.data["flash"][kind].items()
            return {source: count for source, count in counts if source != "total"}

        yield _stacked(
            "sources",
            plot.title or f"{words[0].upper()}{words[1:]} by source",
            "The source of each operation: the host, garbage collection, wear levelling and so on.",
            (words, "count"),
            list(SOURCES),
            parts,
            names,
        )


def levels(plot: Plot, names: Names) -> Iterator[Drawn]:
    """Flash operations by the cost level at which they were done."""
    one = asked(plot, ("program", "read"), "flash.by_level.")
    for kind in [one] if one else ["program", "read"]:
        words = _OPERATIONS[kind]

        def parts(run: Result, kind: str = kind) -> Mapping[str, float]:
            return dict(run.data["flash"]["by_level"][kind])

        used = {level for run in names.runs for level, n in parts(run).items() if n}
        if not used:
            continue
        yield _stacked(
            "levels",
            plot.title or f"{words[0].upper()}{words[1:]} by cost level",
            "The level that the cost policy chose for each page.",
            (words, "count"),
            list(reversed(LEVELS)),
            parts,
            names,
        )


def mixes_levels(names: Names) -> bool:
    """Whether some run has more than one cost level, or the runs have different ones."""
    used = {
        (kind, level)
        for run in names.runs
        for kind in ("read", "program")
        for level, count in run.data["flash"]["by_level"][kind].items()
        if count
    }
    return any(sum(of == kind for of, _ in used) > 1 for kind in ("read", "program"))


def _stacked(
    kind: str,
    title: str,
    says: str,
    axis: tuple[str, str],
    stacked: Sequence[str],
    parts: Callable[[Result], Mapping[str, float]],
    names: Names,
    used: Collection[str] = (),
) -> Drawn:
    """Bars of parts.

    There are fewer colours than parts, so those in `used`, by any plot of the page, have the first.
    """
    import altair as alt

    words, unit_name = axis
    found = {
        label: {part: n for part, n in parts(names.runs[group[0]]).items() if n}
        for label, group in names.places().items()
    }
    # A result of another version may have parts that this one does not know.
    stacked = list(dict.fromkeys(chain(stacked, *found.values())))
    order = sorted(
        stacked, key=lambda part: (part not in _OFTEN, part not in used, stacked.index(part))
    )
    if kind == "causes":
        found = {label: of for label, of in found.items() if of}
    seeds = (
        ""
        if len(names.places()) == len(names.runs)
        else "Of runs that differ in the seed alone, the first."
    )
    cut = ""
    if len(found) > BARS:
        cut = f"The {BARS} shortest of {len(found)}; the tables below have all."
        best = sorted(found, key=lambda label: sum(found[label].values()))[:BARS]
        found = {label: found[label] for label in best}
    present = [part for part in stacked if any(part in of for of in found.values())]
    if not present:
        return left_out(kind, title, f"Left out: these runs have no {words}.")
    unit, one = UNITS[unit_name].step([sum(of.values()) for of in found.values()])
    show = UNITS[unit_name].show
    rows: list[dict[str, Any]] = [
        {
            "run": label,
            "part": part,
            "value": of[part] / one,
            "place": present.index(part),
            "shown": show(of[part]),
            "share": of[part] / sum(of.values()),
        }
        for label, of in found.items()
        for part in present
        if part in of
    ]
    param = chosen("part")
    several = len(names.runs) > 1
    made = (
        chart(rows, bars_height(len(found)))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=axis_title(words, unit)),
            y=alt.Y("run:N", title=None, sort=list(found))
            .scale(domain=list(found))
            .axis(ticks=False, domain=False, labels=several),
            # A part has one colour in all plots.
            color=color("part", order).legend(title=None, values=present),
            order="place:O",
            opacity=faded(param),
            tooltip=[
                "run:N",
                "part:N",
                alt.Tooltip("shown:N", title=words),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .add_params(param)
    )
    return drawn(kind, title, sentence(says, cut, seeds), made, present, list(found))

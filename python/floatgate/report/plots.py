"""The plots of a report: those that it names, or those that suit its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from floatgate.hints import hint
from floatgate.mistakes import UnknownNameError
from floatgate.report import curves, measured, own, splits
from floatgate.report.drawing import Drawn
from floatgate.report.model import KINDS, Plot, Report
from floatgate.report.names import Names
from floatgate.result.measures import MEASURES

_DRAW: Mapping[str, Callable[[Plot, Names], Iterator[Drawn]]] = {
    "bars": measured.bars,
    "lines": measured.lines,
    "cdf": curves.cdf,
    "percentiles": curves.percentiles,
    "time": curves.time,
    "wear": curves.wear,
    "causes": splits.causes,
    "sources": splits.sources,
    "levels": splits.levels,
    "values": measured.values,
    "curves": own.curves,
}

_MEASURES = 4
"""Plots of measures that every report has."""


def draw(report: Report, names: Names) -> list[Drawn]:
    """Every plot, or its replacement if the runs do not have it.

    Raises:
        InputError: There is no such kind of plot, or a plot names a measure or setting that does
            not exist.
    """
    for plot in report.plots:
        if plot.kind not in _DRAW:
            raise UnknownNameError(f"`{plot.kind}` is not a kind of plot; {hint(plot.kind, KINDS)}")
    wanted = report.plots or usual(names)
    return [drawn for plot in wanted for drawn in _DRAW[plot.kind](plot, names)]


def usual(names: Names) -> list[Plot]:
    """The default plots of these runs.

    One run: its causes, its latencies, its course. Some runs: their measures as bars, or as lines
    along a setting with numbers, then the same plots. Many runs: few of them as curves.
    """
    plots: list[Plot] = []
    if len(names.runs) > 1:
        kind = "lines" if measured.default_axis(names) else "bars"
        plots += [Plot(kind, measure=key) for key in _telling(names)]
    plots += [Plot("causes"), Plot("cdf"), Plot("sources")]
    if splits.mixes_levels(names):
        plots += [Plot("levels")]
    return [*plots, Plot("time"), Plot("wear")]


def _telling(names: Names) -> list[str]:
    """The measures that differ between the runs most, in their usual order."""
    spread: dict[str, float] = {}
    for key, measure in MEASURES.items():
        values = [v for run in names.runs if (v := measure.of(run)) is not None]
        if (
            len(values) > 1
            and max(values) > 0
            and measure.show(min(values)) != measure.show(max(values))
        ):
            spread[key] = (max(values) - min(values)) / max(values)
    first = [key for key in ("waf", "write.p99", "read.p99", "iops", "energy") if key in spread]
    others = sorted((key for key in spread if key not in first), key=lambda k: -spread[k])
    return [*first, *others][:_MEASURES]

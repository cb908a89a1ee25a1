"""Plots with a line for each run: distributions, percentiles, and events over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floatgate.report import tables
from floatgate.report.drawing import (
    LINES,
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
    log_ticks,
    number_axis,
    places_of,
    sentence,
    unity,
    wide,
)
from floatgate.report.model import Plot
from floatgate.report.names import Names
from floatgate.result.units import UNITS
from floatgate.result.values import OPERATIONS
from floatgate.words import several

_UNRECORDED = "To have it, store the run with `--out DIR`, a sweep with `record`"
_PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99")
_BEYOND = {
    1: "all",
    0.5: "p50",
    0.1: "p90",
    0.01: "p99",
    1e-3: "p99.9",
    1e-4: "p99.99",
    1e-5: "1e-5",
}
"""Shares of the requests that took longer, and the percentile that each stands for."""
_NAMED = (
    "".join(
        f"abs(datum.value / {share} - 1) < 0.01 ? '{name}' : " for share, name in _BEYOND.items()
    )
    + "''"
)


def cdf(plot: Plot, names: Names) -> Iterator[Drawn]:
    """The share of requests that took longer, a plot for each operation.

    Both axes are logarithmic, so that the percentiles are lines at equal distances.
    """
    import altair as alt

    shown, few, labels = _lines(names)
    for op in _operations(plot, names, shown):
        title = plot.title or f"Latency of {several(op)}"
        there = [i for i in shown if names.runs[i].host[op].requests]
        if not there:
            yield left_out("cdf", title, f"Left out: there was no {op} in these runs.")
            continue
        curves = {i: tables.latencies(names.runs[i], op) for i in there}
        unit, one = UNITS["ns"].step(
            [_middle([v for curve in curves.values() for v in curve.values])]
        )
        rows: list[dict[str, Any]] = [
            {"run": labels[i], "value": value / one, "share": share, "beyond": 1 - share}
            for i, curve in curves.items()
            for value, share in zip(curve.values, curve.shares, strict=True)
            if value > 0
        ]
        least = _least([row["beyond"] for row in rows])
        for row in rows:
            row["beyond"] = max(row["beyond"], least)  # Nothing took longer than the last.
        domain = [labels[i] for i in there]
        rough = [labels[i] for i, curve in curves.items() if not curve.recorded]
        how = ""
        if rough:
            of = "" if len(rough) == len(there) else f" for {places_of(rough)}"
            how = f"Drawn from the percentiles of the result, as no requests were recorded{of}."
        # A narrow axis reaches to the next powers of ten, so that it has ticks at all.
        values = [row["value"] for row in rows]
        spread = wide(values, 5)
        ticks = [t for t in log_ticks(values) if not spread or min(values) <= t <= max(values)]
        param = chosen("run")
        made = (
            chart(rows)
            .mark_line(interpolate="step-after" if not rough else "linear", strokeWidth=1.75)
            .encode(
                x=alt.X("value:Q", title=axis_title(f"{op} latency", unit))
                .scale(type="log", nice=not spread)
                .axis(format=".6~r", labelOverlap=True, values=ticks),
                y=alt.Y("beyond:Q", title="share that took longer")
                .axis(
                    values=[share for share in _BEYOND if share >= least],
                    labelExpr=_NAMED,
                    grid=True,
                )
                .scale(type="log", domain=[least, 1]),
                color=color("run", domain, names.place_title),
                opacity=faded(param),
                tooltip=[
                    "run:N",
                    alt.Tooltip("value:Q", title=f"latency ({unit})", format=".4g"),
                    alt.Tooltip("beyond:Q", title="took longer", format=".3~%"),
                ],
            )
            .add_params(param)
        )
        says = (
            f"Share of the {several(op)} that took longer; "
            "where a curve meets a line is a percentile."
        )
        yield drawn("cdf", title, sentence(says, how, few), made, domain)


def _least(beyond: Sequence[float]) -> float:
    """The end of the axis of shares: at the decade below the last, and no further than 1e-5.

    >>> _least([1.0, 0.003, 0.0]), _least([1e-9]), _least([1.0, 0.0])
    (0.001, 1e-05, 0.1)
    """
    last = min((share for share in beyond if share > 1e-12), default=0.1)
    return float(f"1e{min(max(math.floor(math.log10(last) + 1e-9), -5), -1)}")


def percentiles(plot: Plot, names: Names) -> Iterator[Drawn]:
    """The tail: p50 to p99.99, each a tenth of the rest that the one before leaves."""
    import altair as alt

    shown, few, labels = _lines(names)
    for op in _operations(plot, names, shown):
        title = plot.title or f"Tail of {several(op)}"
        there = [i for i in shown if names.runs[i].host[op].requests]
        if not there:
            yield left_out("percentiles", title, f"Left out: there was no {op} in these runs.")
            continue
        keys = tables.PERCENTILES
        found = {i: [names.runs[i].host[op].latency_ns[key] for key in keys] for i in there}
        every = [value for values in found.values() for value in values if value]
        unit, one = UNITS["ns"].step([_middle(every)])
        rows = [
            {"run": labels[i], "percentile": name, "value": value / one}
            for i, values in found.items()
            for name, value in zip(_PERCENTILES, values, strict=True)
            if value
        ]
        domain = [labels[i] for i in there]
        param = chosen("run")
        y = number_axis(
            "value:Q", axis_title(f"{op} latency", unit), [v / one for v in every], log=True
        )
        made = (
            chart(rows)
            .mark_line(strokeWidth=1.75, point={"filled": True, "size": 30})
            .encode(
                x=alt.X("percentile:N", title="percentile", sort=list(_PERCENTILES))
                .axis(labelAngle=0)
                .scale(padding=0.3),
                y=y,
                color=color("run", domain, names.place_title),
                opacity=faded(param),
                tooltip=[
                    "run:N",
                    "percentile:N",
                    alt.Tooltip("value:Q", title=f"latency ({unit})", format=".4g"),
                ],
            )
            .add_params(param)
        )
        weak = [
            w["text"] for i in there for w in names.runs[i].warnings if w["code"] == "few-samples"
        ]
        doubt = "Few requests lie beyond the last points: see the warnings." if weak else ""
        says = f"Latency that a share of the {several(op)} does not exceed."
        yield drawn("percentiles", title, sentence(says, doubt, few), made, domain)


_OVER_TIME = {
    "throughput": ("Throughput over time", "data read and written", "bytes"),
    "iops": ("Requests over time", "requests", "per s"),
    "waf": ("Write amplification over time", "WAF", "x"),
    "delay": ("Latency over time", "mean latency", "ns"),
    "slc-cache": ("SLC cache over time", "written in the SLC cache", "bytes"),
}


def time(plot: Plot, names: Names) -> Iterator[Drawn]:
    """Throughput, write amplification and mean latency over the drive's time."""
    one = asked(plot, _OVER_TIME)
    wanted = [one] if one else ["throughput", "waf", "delay"]
    if not one and any(run.data.get("slc_cache") for run in names.runs):
        wanted.append("slc-cache")
    shown, few, labels = _lines(names)
    found = {i: s for i in shown if (s := tables.series(names.runs[i])) is not None}
    missing = [labels[i] for i in shown if i not in found]
    if not found:
        says = f"Left out: no series over time was recorded. {_UNRECORDED}."
        yield left_out("time", plot.title or "Over time", says)
        return
    without = f"Not recorded for {places_of(missing)}." if missing else ""
    for name in wanted:
        yield _over_time(name, plot, names, found, labels, sentence(without, few))


def _over_time(
    name: str,
    plot: Plot,
    names: Names,
    found: Mapping[int, tables.Series],
    labels: Mapping[int, str],
    says: str,
) -> Drawn:
    import altair as alt

    title, words, kind = _OVER_TIME[name]
    one_run = len(found) == 1
    columns = ["delay.read", "delay.write"] if name == "delay" and one_run else [name]
    lines = {
        (several(column.partition(".")[2]) if len(columns) > 1 else labels[i]): (
            series,
            series.values[column],
        )
        for i, series in found.items()
        for column in columns
        if any(v is not None for v in series.values.get(column, ()))
    }
    if not lines:
        return left_out(
            "time", plot.title or title, f"Left out: there is no {words} in these runs."
        )
    every = [v for _, values in lines.values() for v in values if v is not None]
    unit, one = UNITS[kind].step([sorted(every)[len(every) * 9 // 10]])
    ends = [s.start[-1] + s.width[-1] for s in found.values()]
    time_unit, second = UNITS["ns"].step([max(ends) * 1e9])
    second *= 1e-9
    rows = [
        {"run": label, "time": t / second, "value": None if v is None else v / one}
        for label, (series, values) in lines.items()
        for t, v in zip(
            [*series.start, series.start[-1] + series.width[-1]], [*values, values[-1]], strict=True
        )
    ]
    unit = f"{unit}/s" if name == "throughput" else unit
    log = name in ("waf", "delay") and wide([v for v in every if v > 0], 300)
    y = number_axis("value:Q", axis_title(words, unit), [v / one for v in every], log=log)
    param = chosen("run")
    made = (
        chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.25)
        .encode(
            x=alt.X("time:Q", title=axis_title("drive time", time_unit)).scale(nice=False),
            y=y if log else y.scale(zero=True),
            color=color("run", list(lines), names.place_title if len(columns) == 1 else None),
            opacity=faded(param),
            tooltip=[
                "run:N",
                alt.Tooltip("time:Q", title=f"time ({time_unit})", format=".4g"),
                alt.Tooltip("value:Q", title=axis_title(words, unit), format=".4g"),
            ],
        )
        .add_params(param)
    )
    if name == "waf":
        made = alt.layer(made, unity("y"))
    width = max(w for s in found.values() for w in s.width) * 1e9
    mean = f"Over stretches of {UNITS['ns'].show(width)} at most."
    return drawn("time", plot.title or title, sentence(mean, says), made, list(lines))


def wear(plot: Plot, names: Names) -> Iterator[Drawn]:
    """How the erases are spread over the blocks."""
    import altair as alt

    title = plot.title or "Wear of the blocks"
    shown, few, labels = _lines(names)
    curves = {i: c for i in shown if (c := tables.erases(names.runs[i])) is not None}
    if len(curves) < len(shown):
        yield _wear_range(title, names)
        return
    if not any(curve.values and curve.values[-1] for curve in curves.values()):
        yield left_out("wear", title, "Left out: no block was erased.")
        return
    domain = [labels[i] for i in curves]
    rows = [
        {"run": labels[i], "erases": value, "share": share}
        for i, curve in curves.items()
        for value, share in zip(curve.values, curve.shares, strict=True)
    ]
    param = chosen("run")
    made = (
        chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.75)
        .encode(
            x=alt.X("erases:Q", title="erases of a block")
            .scale(nice=False, zero=False)
            .axis(tickMinStep=1),
            y=alt.Y("share:Q", title="share of the blocks").axis(format="%").scale(domain=[0, 1]),
            color=color("run", domain, names.place_title),
            opacity=faded(param),
            tooltip=["run:N", "erases:Q", alt.Tooltip("share:Q", format=".2%")],
        )
        .add_params(param)
    )
    says = "Share of the blocks that were erased so often at most."
    yield drawn("wear", title, sentence(says, few), made, domain)


def _wear_range(title: str, names: Names) -> Drawn:
    """Without the blocks: from the least to the most worn one, and the mean."""
    import altair as alt

    places = list(names.places().items())
    cut = f"The first {2 * LINES} of {len(places)}." if len(places) > 2 * LINES else ""
    rows = []
    for label, group in places[: 2 * LINES]:
        spread = names.runs[group[0]].data["wear"]["erases"]
        rows.append({"run": label, **{key: spread[key] for key in ("min", "mean", "max")}})
    if not any(row["max"] for row in rows):
        return left_out("wear", title, "Left out: no block was erased.")
    base = chart(rows, bars_height(len(rows))).encode(
        y=alt.Y("run:N", title=None, sort=[row["run"] for row in rows]),
        tooltip=["run:N", "min:Q", alt.Tooltip("mean:Q", format=".4g"), "max:Q"],
    )
    made = alt.layer(
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("min:Q", title="erases of a block").scale(zero=False), x2="max:Q"
        ),
        base.mark_point(filled=True, size=60).encode(x="mean:Q"),
    )
    says = (
        "From the least to the most worn block, and the mean: the blocks themselves were not "
        f"recorded. {_UNRECORDED}."
    )
    return drawn("wear", title, sentence(says, cut), made, places=[row["run"] for row in rows])


def _lines(names: Names) -> tuple[list[int], str, dict[int, str]]:
    """The runs to draw, a sentence if these are not all, and their names.

    Some of many, evenly from the first to the last: the axis that comes first varies slowest.
    """
    labels = {group[0]: label for label, group in names.places().items()}
    firsts = list(labels)
    seeds = "Of runs that differ in the seed alone, the first."
    seeds = seeds if len(firsts) < len(names.runs) else ""
    if len(firsts) <= LINES:
        return firsts, seeds, labels
    some = [firsts[i * (len(firsts) - 1) // (LINES - 1)] for i in range(LINES)]
    return (
        some,
        sentence(f"{LINES} of {len(firsts)} runs, from the first to the last.", seeds),
        labels,
    )


def _operations(plot: Plot, names: Names, shown: Sequence[int]) -> list[str]:
    """The operations that occur, or the one that the plot's measure begins with."""
    ops = [o for o in OPERATIONS[:-1] if any(names.runs[i].host[o].requests for i in shown)]
    one = asked(plot, OPERATIONS, "host.")
    if one:
        return [one]
    return [op for op in ops if op != "trim"] or ops


def _middle(values: Sequence[float]) -> float:
    """The middle of a logarithmic axis that has these values."""
    positive = [value for value in values if value > 0]
    return (min(positive) * max(positive)) ** 0.5 if positive else 0.0

"""Lines of a report's own numbers, which are in no run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floatgate.engine import InputError
from floatgate.report.drawing import (
    Drawn,
    chart,
    chosen,
    color,
    drawn,
    faded,
    log_ticks,
    number_axis,
)
from floatgate.report.model import Plot
from floatgate.report.names import Names


def curves(plot: Plot, _names: Names) -> Iterator[Drawn]:
    """The plot's own lines."""
    import altair as alt

    if plot.x is None or not plot.curves:
        raise InputError(f"the plot `{plot.title or plot.kind}` has no curves along an `x`")
    by_log = {axis: axis in plot.log for axis in "xy"}
    rows: list[dict[str, Any]] = [
        {"by": curve.name, "x": x, "value": y}
        for curve in plot.curves
        for x, y in zip(curve.xs, curve.ys, strict=True)
        if (x > 0 or not by_log["x"]) and (y > 0 or not by_log["y"])
    ]
    if not rows:
        raise InputError(f"the plot `{plot.title}` has no point that its axes can show")
    names = [curve.name for curve in plot.curves]
    xs, ys = ([float(row[key]) for row in rows] for key in ("x", "value"))
    x = alt.X("x:Q", title=plot.x)
    if by_log["x"]:
        x = x.scale(type="log").axis(format=".6~r", labelOverlap=True, values=log_ticks(xs))
    else:
        x = x.scale(nice=False)
    y = number_axis("value:Q", plot.measure or "", ys, log=by_log["y"])
    param = chosen("by")
    made = (
        chart(rows)
        .mark_line(strokeWidth=1.75)
        .encode(
            x=x,
            y=y if by_log["y"] else y.scale(zero=True),
            color=color("by", names),
            opacity=faded(param),
            tooltip=[
                "by:N",
                alt.Tooltip("x:Q", title=plot.x, format=".4g"),
                alt.Tooltip("value:Q", title=plot.measure or "value", format=".4g"),
            ],
        )
        .add_params(param)
    )
    yield drawn("curves", plot.title, "", made, names)

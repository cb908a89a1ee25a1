"""The basis of all plots of a report: a chart of altair, or the sentence that stands for it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.mistakes import UnknownNameError
from floatgate.report.model import Plot

if TYPE_CHECKING:
    import altair as alt

# A chart of altair, whose `encode` has no type of its own.
Chart = Any

HEIGHT = 240
"""Of plots over an axis of numbers, in pixels of the page."""

STEP = 24
"""Of one bar and its gap."""

LINES = 6
"""Runs that a plot of lines can tell apart."""

BARS = 12
"""Places of a plot of bars; more are left to the tables."""


class Drawn(NamedTuple):
    """A plot and its description; if it is left out, `spec` is None and `says` the reason."""

    kind: str
    title: str
    says: str
    spec: dict[str, Any] | None


def drawn(
    kind: str,
    title: str,
    says: str,
    chart: Chart,
    labels: Sequence[str] = (),
    places: Sequence[str] = (),
) -> Drawn:
    """A plot; `labels` are the words of its legend, `places` those beside its bars."""
    spec: dict[str, Any] = chart.to_dict()
    # Legends begin where the axis ends. The words beside it are measured where they are drawn.
    spec["usermeta"] = {"labels": list(labels), "places": list(places)}
    return Drawn(kind, title, says, spec)


def left_out(kind: str, title: str, says: str) -> Drawn:
    """A plot that is left out, and the reason."""
    return Drawn(kind, title, says, None)


def chart(rows: Sequence[Mapping[str, Any]], height: object = HEIGHT) -> Chart:
    """A chart of these rows, as wide as its place."""
    import altair as alt

    # Inline data as plain values: altair limits the rows only of data that it converts itself.
    made: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    return made.properties(width="container", height=height)


def color(field: str, domain: Sequence[str], title: str | None = None) -> Chart:
    """One colour for each word of the domain, and no legend if there is only one."""
    import altair as alt

    made = alt.Color(f"{field}:N", title=title or None).scale(domain=list(domain))
    return made if len(domain) > 1 else made.legend(None)


def unity(axis: str, height: object = HEIGHT) -> Chart:
    """The line at which a ratio shows equality."""
    import altair as alt

    rule = chart([{"one": 1}], height).mark_rule(strokeDash=[4, 3], strokeWidth=1, style="unity")
    at = alt.X("one:Q") if axis == "x" else alt.Y("one:Q")
    return rule.encode(**{axis: at})


def chosen(field: str) -> Chart:
    """The effect of a click on the legend."""
    import altair as alt

    return alt.selection_point(name="chosen", fields=[field], bind="legend")


def faded(param: Chart) -> Chart:
    """The opacity of the chosen marks, and of the rest."""
    import altair as alt

    return alt.when(param).then(alt.value(1)).otherwise(alt.value(0.15))


def axis_title(words: str, unit: str) -> str:
    """`write latency, p99 (ms)`; the words alone if there is no unit."""
    return f"{words} ({unit})" if unit else words


def bars_height(places: int, each: int = 1) -> int:
    """The height of a chart with `places` of `bars` each."""
    return places * (STEP if each == 1 else 14 * each + 8)


def wide(values: Sequence[float], factor: float) -> bool:
    """Whether values above zero span so much that only a logarithmic axis shows them all."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= factor


def log_ticks(values: Sequence[float]) -> list[float]:
    """The lines of a logarithmic axis: at powers of ten, and in between if these are few.

    >>> log_ticks([3, 4_000]), log_ticks([0.9, 30])
    ([1.0, 10.0, 100.0, 1000.0, 10000.0], [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0])
    """
    positive = [value for value in values if value > 0]
    if not positive:
        return []
    low = math.floor(math.log10(min(positive)))
    high = math.ceil(math.log10(max(positive)))
    steps = (1, 2, 5) if math.log10(max(positive) / min(positive)) < 2.5 else (1,)
    ticks = [float(f"{step}e{power}") for power in range(low, high) for step in steps]
    return [*ticks, float(f"1e{high}")]


def number_axis(field: str, title: str, values: Sequence[float], *, log: bool) -> Chart:
    """The upright axis of a plot of lines."""
    import altair as alt

    y = alt.Y(field, title=title).axis(format=".6~r", labelOverlap=True)
    if log:
        ticks = log_ticks(values)
        return y.scale(type="log").axis(format=".6~r", labelOverlap=True, values=ticks)
    return y.scale(zero=False)


def asked(plot: Plot, known: Collection[str], above: str = "") -> str | None:
    """The word that the plot's measure is or begins with; None if it names no measure.

    Raises:
        InputError: It names another one.
    """
    if plot.measure is None:
        return None
    word = plot.measure.removeprefix(above)
    if word not in known:
        word = word.partition(".")[0]
    if word not in known:
        raise UnknownNameError(
            f"the plot `{plot.title or plot.kind}`: `{plot.measure}` is not a measure of "
            f"`{plot.kind}`; there are {', '.join(known)}"
        )
    return word


def file_name(number: int, plot: Drawn) -> str:
    """The name of a figure's file: `03-latency-of-writes`."""
    words = re.sub(r"[^a-z0-9]+", "-", plot.title.lower()).strip("-")
    return f"{number:02}-{words}"[:60].rstrip("-")


def sentence(*parts: str) -> str:
    """Sentences behind one another; empty ones are left out."""
    return " ".join(part for part in parts if part)


def places_of(names: Sequence[str]) -> str:
    """Some words, in a list of which a reader sees only a few.

    >>> places_of(["a", "b"]), places_of(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown

"""Plots of one measure: bars by varied setting, and lines along a setting that has numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from floatgate.engine import InputError
from floatgate.mistakes import UnknownNameError
from floatgate.report.drawing import (
    BARS,
    LINES,
    Chart,
    Drawn,
    axis_title,
    bars_height,
    chart,
    chosen,
    color,
    drawn,
    faded,
    left_out,
    number_axis,
    sentence,
    unity,
    wide,
)
from floatgate.report.model import Plot
from floatgate.report.names import SEED, Names, as_number
from floatgate.result.measures import MEASURES, Measure, find
from floatgate.result.names import brief
from floatgate.result.units import UNITS


def bars(plot: Plot, names: Names) -> Iterator[Drawn]:
    """A bar for each run, or for each value of `x`, in the colours of `by`."""
    measure = _measure(plot, names)
    if plot.x is None and plot.by is None:
        places = {label: ([label], group) for label, group in names.places().items()}
        x_name, by = names.place_title, list[str]()
    else:
        _known(plot, names)
        main, other = (plot.x, plot.by) if plot.x else (plot.by, None)
        keys = [name for name in (main, other) if name]
        places = {
            label: ([names.variants[group[0]][key] for key in keys], group)
            for label, group in names.groups(keys).items()
        }
        x_name = brief(keys[0], names.varied)
        by = list(dict.fromkeys(words[1] for words, _ in places.values())) if other else []
    values = {
        label: (words, known)
        for label, (words, group) in places.items()
        if (known := [v for i in group if (v := measure.of(names.runs[i])) is not None])
    }
    title = plot.title or _title(measure)
    if not values:
        yield left_out("bars", title, f"No run has a number for `{measure.key}`.")
        return
    order = list(dict.fromkeys(words[0] for words, _ in values.values()))
    cut = ""
    if len(order) > BARS:
        sign = -1 if measure.more_is_better else 1  # where neither is better: the least
        of = {o: min(sign * fmean(k) for w, k in values.values() if w[0] == o) for o in order}
        best = sorted(order, key=lambda o: (of[o], order.index(o)))[:BARS]
        cut = f"The best {BARS} of {len(order)}; the table below has all."
        order = best
    points = [
        point | {"place": _place(point, plot, names, order)} for point in _points(plot, names)
    ]
    unit, one = UNITS[measure.unit].step(
        [v for _, known in values.values() for v in known] + [p["value"] for p in points]
    )
    rows = [
        {
            "place": words[0],
            "by": words[-1],
            "value": fmean(known) / one,
            "low": min(known) / one,
            "high": max(known) / one,
            "shown": measure.show(fmean(known)),
        }
        for words, known in values.values()
        if words[0] in order
    ]
    yield drawn(
        "bars",
        title,
        sentence(cut, _spread(rows), _sources(points), *_without(names, measure)),
        _bar_chart(
            rows,
            points,
            order,
            by,
            (x_name, axis_title(_words(measure), unit), one),
            ratio=measure.unit == "x",
        ),
        by + list(dict.fromkeys(p["source"] for p in points)),
        order,
    )


def values(plot: Plot, names: Names) -> Iterator[Drawn]:
    """The plot's own numbers, a bar for each."""
    if plot.x is None or not plot.values:
        raise InputError(f"the plot `{plot.title or plot.kind}` has no values along an `x`")
    rows = [
        {
            "place": at[plot.x],
            "by": at[plot.by] if plot.by else at[plot.x],
            "value": value,
            "low": value,
            "high": value,
            "shown": f"{value:.3g}",
        }
        for at, value in plot.values
    ]
    order = list(dict.fromkeys(str(row["place"]) for row in rows))
    by = list(dict.fromkeys(str(row["by"]) for row in rows)) if plot.by else []
    titles = (brief(plot.x, names.varied), plot.measure or "", 1.0)
    made = _bar_chart(rows, [], order, by, titles, ratio=plot.ratio)
    yield drawn("values", plot.title, "", made, by, order)


def _bar_chart(
    rows: list[dict[str, Any]],
    points: list[dict[str, Any]],
    order: list[str],
    by: list[str],
    titles: tuple[str, str, float],
    *,
    ratio: bool,
) -> Chart:
    """Bars with their values: inside at the axis, beside where a bar is too short for that."""
    import altair as alt

    place, words, one = titles
    y = alt.Y("place:N", title=place or None, sort=order).axis(
        titleAngle=0, titleAlign="left", titleAnchor="start", titleX=0, titleY=-8,
        titleBaseline="bottom", ticks=False, domain=False,
    )  # fmt: skip
    # Text beside a bar begins behind the range of its runs, and beyond zero.
    largest = max([abs(row["high"]) for row in rows] + [abs(p["value"] / one) for p in points])
    for row in rows:
        row["words"] = "inside" if not by and row["low"] >= _ROOM * largest else "beside"
        row["end"] = max(row["high"], 0.0)
    reach = max((row["end"] for row in rows if row["words"] == "beside"), default=0.0)
    x = alt.X("value:Q", title=words).scale(zero=True)
    end = max(reach * (1 + _ROOM), 1.05 if ratio else 0.0)
    if end > largest or largest == 0:
        x = x.scale(zero=True, domainMax=end or 1)
    tip = ["place:N", *(["by:N"] if by else []), alt.Tooltip("shown:N", title=words)]
    height = bars_height(len(order), max(len(by), 1))
    base = chart(rows, height)
    beside = {"yOffset": alt.YOffset("by:N", sort=by)} if by else {}
    shade = {"color": color("by", by)} if by else {}
    layers = [base.mark_bar().encode(x=x, y=y, tooltip=tip, **beside, **shade)]
    if by:
        param = chosen("by")
        layers = [layers[0].encode(opacity=faded(param)).add_params(param)]
    if any(row["low"] != row["high"] for row in rows):
        layers.append(
            base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q", y=y, **beside)
        )
    layers += _values_on(base, rows, by, y, beside)
    if ratio:
        layers.insert(0, unity("x", height))  # Behind the bars and their words.
    if points:
        given = [p | {"value": p["value"] / one} for p in points]
        marks = chart(given, height).mark_point(
            filled=False, size=70, color="#888888", strokeWidth=1.75
        )
        layers.append(
            marks.encode(x=x, y=y, shape=_shape(points), tooltip=["source:N", "value:Q"], **beside)
        )
    return layers[0] if len(layers) == 1 else alt.layer(*layers)


_ROOM = 0.3
"""Of the longest bar: the width that a value needs on a narrow screen."""


def _values_on(
    base: Chart, rows: list[dict[str, Any]], by: list[str], y: Chart, beside: dict[str, Any]
) -> Iterator[Chart]:
    """The layers of words: those inside bars, and those beside them."""
    import altair as alt

    for place in dict.fromkeys(row["words"] for row in rows):
        at = {"x": alt.datum(0)} if place == "inside" else {"x": alt.X("end:Q")}
        yield (
            base.transform_filter(f"datum.words === '{place}'")
            .mark_text(
                align="left", dx=5, baseline="middle", style=place, fontSize=10 if by else 12
            )
            .encode(y=y, text="shown:N", **at, **beside)
        )


def lines(plot: Plot, names: Names) -> Iterator[Drawn]:
    """The measure along `x`, a line for each value of `by`; published points as hollow marks."""
    measure = _measure(plot, names)
    _known(plot, names)
    x_name = plot.x or default_axis(names)
    title = plot.title or _title(measure)
    if x_name is None:
        yield left_out("lines", title, "Nothing that varies here has numbers to draw a line along.")
        return
    numbers = names.numbers(x_name)
    if numbers is None:
        places = dict.fromkeys(v[x_name] for v in names.variants if x_name in v)
        yield left_out(
            "lines",
            title,
            f"`{x_name}` has no two numbers to draw a line along: {', '.join(places)}.",
        )
        return
    by_names = [plot.by] if plot.by else default_series(names, x_name)
    series: dict[str, dict[float, list[float]]] = {}
    for variant, run in zip(names.variants, names.runs, strict=True):
        value = measure.of(run)
        if value is not None:
            at = numbers[variant[x_name]]
            label = names.joined(variant, by_names) or "here"
            series.setdefault(label, {}).setdefault(at, []).append(value)
    if not series:
        yield left_out("lines", title, f"No run has a number for `{measure.key}`.")
        return
    points: list[dict[str, Any]] = []
    for point in _points(plot, names):
        x = as_number(point["at"][x_name]) if x_name in point["at"] else None
        if x is None:
            raise InputError(
                f"the plot `{title}`: the point of {point['source']} has no number for `{x_name}`"
            )
        by = names.joined(point["at"], by_names)
        points.append({"x": x, "by": by or point["source"]} | point)
    values = [v for line in series.values() for known in line.values() for v in known]
    unit, one = UNITS[measure.unit].step(values + [p["value"] for p in points])
    rows = [
        {
            "x": x,
            "by": label,
            "value": fmean(known) / one,
            "low": min(known) / one,
            "high": max(known) / one,
            "shown": measure.show(fmean(known)),
        }
        for label, line in series.items()
        for x, known in sorted(line.items())
    ]
    domain = list(dict.fromkeys([*series, *(p["by"] for p in points)]))
    says = sentence(
        _spread(rows),
        _sources(points),
        f"By {', '.join(brief(n, names.varied) for n in by_names)}." if by_names else "",
        *_without(names, measure),
    )
    titles = (brief(x_name, names.varied), axis_title(_words(measure), unit), one)
    made = _line_chart(rows, points, domain, titles, ratio=measure.unit == "x")
    sources = list(dict.fromkeys(p["source"] for p in points))
    yield drawn("lines", title, says, made, domain * (len(domain) > 1) + sources)


def _line_chart(
    rows: list[dict[str, Any]],
    points: list[dict[str, Any]],
    domain: list[str],
    titles: tuple[str, str, float],
    *,
    ratio: bool,
) -> Chart:
    import altair as alt

    x_title, y_title, one = titles
    values = [row["value"] for row in rows] + [p["value"] / one for p in points]
    x_log = wide([row["x"] for row in rows], 30)
    x_scale: dict[str, Any] = {"type": "log"} if x_log else {"zero": False}
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(nice=False, padding=12, **x_scale))
    x = x.axis(format="~s" if x_log else ".6~r", labelOverlap=True)
    y = number_axis("value:Q", y_title, values, log=wide(values, 100))
    param = chosen("by")
    base = chart(rows)
    shade = color("by", domain)
    tip = ["by:N", alt.Tooltip("x:Q", title=x_title), alt.Tooltip("shown:N", title=y_title)]
    layers = [
        base.mark_line(strokeWidth=2, point={"filled": True, "size": 30})
        .encode(x=x, y=y, color=shade, tooltip=tip, opacity=faded(param))
        .add_params(param)
    ]
    if any(row["low"] != row["high"] for row in rows):
        layers.append(
            base.mark_rule(strokeWidth=1.25).encode(
                x=x, y=alt.Y("low:Q"), y2="high:Q", color=shade, opacity=faded(param)
            )
        )
    if ratio:
        layers.append(unity("y"))
    if points:
        given: list[dict[str, Any]] = [
            {k: p[k] for k in ("x", "by", "source")} | {"value": p["value"] / one} for p in points
        ]
        layers.append(
            chart(given)
            .mark_point(filled=False, size=80, strokeWidth=1.75)
            .encode(
                x=x,
                y=y,
                color=shade,
                shape=_shape(points),
                opacity=faded(param),
                tooltip=[
                    "source:N",
                    "by:N",
                    alt.Tooltip("x:Q", title=x_title),
                    alt.Tooltip("value:Q", title=y_title),
                ],
            )
        )
    return layers[0] if len(layers) == 1 else alt.layer(*layers)


def default_axis(names: Names) -> str | None:
    """The setting along a line: of those that vary, the one with the most numbers."""
    known = {n: len(names.numbers(n) or ()) for n in names.varied if n != SEED}
    best = max(known, key=lambda name: known[name], default=None)
    return best if best is not None and known[best] >= 3 else None


def default_series(names: Names, x_name: str) -> list[str]:
    """The names that distinguish lines: all others, if readable, or the one with fewest values."""
    others = [name for name in names.varied if name not in (x_name, SEED)]
    if len(names.groups(others)) <= LINES:
        return others
    counts = {name: len({v.get(name) for v in names.variants}) for name in others}
    return [min(counts, key=lambda name: counts[name])]


def _shape(points: Sequence[dict[str, Any]]) -> Chart:
    import altair as alt

    sources = list(dict.fromkeys(p["source"] for p in points))
    shapes = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"]
    scale = alt.Scale(domain=sources, range=[shapes[i % len(shapes)] for i in range(len(sources))])
    return alt.Shape("source:N", title=None, scale=scale)


def _measure(plot: Plot, names: Names) -> Measure:
    if plot.measure is not None:
        return find(plot.measure, names.runs)
    return next(
        (m for m in MEASURES.values() if any(m.of(run) for run in names.runs)), MEASURES["waf"]
    )


def _known(plot: Plot, names: Names) -> None:
    """Checks that `x` and `by` name varied settings."""
    for name in (plot.x, plot.by):
        if name is not None and any(name not in variant for variant in names.variants):
            varied = ", ".join(names.varied) or "nothing"
            raise UnknownNameError(
                f"the plot `{plot.title or plot.kind}`: `{name}` does not vary in these runs; "
                f"what does: {varied}"
            )


def _points(plot: Plot, names: Names) -> Iterator[dict[str, Any]]:
    for point in plot.points:
        by = point.at.get(plot.by, "") if plot.by else ""
        yield {"at": dict(point.at), "value": point.value, "source": point.source, "by": by}


def _place(point: dict[str, Any], plot: Plot, names: Names, order: Sequence[str]) -> str:
    """The bar that a published number belongs to."""
    at = point["at"]
    main = plot.x or plot.by
    if main is not None:
        place = str(at.get(main, ""))
    else:
        fitting = [
            label
            for label, group in names.places().items()
            if all(names.variants[group[0]].get(key) == value for key, value in at.items())
        ]
        place = fitting[0] if len(fitting) == 1 else ""
    if place not in order:
        where = " ".join(f"{key}={value}" for key, value in at.items()) or "nowhere"
        raise InputError(
            f"the plot `{plot.title or plot.kind}`: the point of {point['source']} is at {where}, "
            "where there is no bar"
        )
    return place


def _title(measure: Measure) -> str:
    words = measure.about or measure.title
    return words[0].upper() + words[1:] if measure.key in MEASURES else words


def _words(measure: Measure) -> str:
    if measure.key == "waf":
        return "WAF"
    return measure.about or measure.title


def _spread(rows: Sequence[dict[str, Any]]) -> str:
    spread = any(row["low"] != row["high"] for row in rows)
    return "Means; the thin lines reach from the least to the largest run." if spread else ""


def _sources(points: Sequence[dict[str, Any]]) -> str:
    sources = list(dict.fromkeys(p["source"] for p in points))
    return f"Hollow marks: {', '.join(sources)}." if sources else ""


def _without(names: Names, measure: Measure) -> Iterator[str]:
    """How many runs have no such number."""
    count = sum(measure.of(run) is None for run in names.runs)
    if count:
        yield f"{count} of {len(names.runs)} runs have no such number."

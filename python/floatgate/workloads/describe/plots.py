"""The description as one HTML file: plots and numbers, light and dark, without a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import pages
from floatgate.words import duration, number, short, size
from floatgate.workloads.describe.text import exact, length, page, percent

if TYPE_CHECKING:
    import altair as alt

SHAPES_RESULTS = False

# A chart of altair, whose `encode` has no type of its own.
Plot = Any

_HEIGHT = 240


def save(name: str, data: Mapping[str, Any], path: Path) -> Path:
    """Writes the page; the file appears whole or not at all."""
    pages.check(path)
    return pages.write(path, html(name, data))


def html(name: str, data: Mapping[str, Any]) -> str:
    """The page as text."""
    shown = sections(data)
    return pages.render(
        "workloads/describe/page.html",
        name=name,
        facts=facts(data),
        sections=[(title, says) for title, says, _ in shown],
        specs=[chart.to_dict() for _, _, chart in shown],
        text=page(name, data),
        version=data["version"],
    )


def facts(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first."""
    requests, footprint = data["requests"], data["footprint"]
    found = [
        ("requests", number(requests["all"]["requests"])),
        ("reads", percent(requests["read"]["requests_share"])),
        ("mean size", "-" if (mean := requests["all"]["mean_bytes"]) is None else size(mean)),
        ("footprint", size(footprint["bytes"])),
        ("overwrites", percent(footprint["overwrites"])),
        ("in streams", percent(data["sequence"]["in_stream"])),
    ]
    if flushes := requests["flushes"]:
        found[3:3] = [("flushes", number(flushes))]
    if rate := data["rate"]:
        found[1:1] = [
            ("span", duration(data["span_ns"])),
            ("requests/s", short(float(f"{rate['requests_per_second']:.3g}"))),
        ]
    if data["sampling"]["rate"] < 1:
        found.append(("sample of pages", f"1 in {round(1 / data['sampling']['rate'])}"))
    return found


def sections(data: Mapping[str, Any]) -> list[tuple[str, str, Plot]]:
    """Title, description, and the plot; parts that the workload does not have are left out."""
    each = exact(data["page_bytes"])
    found: list[tuple[str, str, Plot]] = []
    if data["rate"]:
        width = duration(data["rate"]["series"]["width_ns"])
        says = f"Requests per second, in stretches of {width}."
        found.append(("Rate over time", says, _rate(data)))
        if data["rate"]["hours"]:
            says = "Requests per second by hour of the day. Hour 0 begins with the first request."
            found.append(("The day", says, _day(data)))
    if data["requests"]["all"]["requests"]:
        says = "Requests by size, in powers of two."
        found.append(("Sizes", says, _sizes(data)))
    if data["footprint"]["pages"]:
        says = (
            f"Pages of {each}, and the reads and writes on them, by the character of the page:"
            " more than 95 % reads, more than 95 % writes, or interleaved (AGCR, Figure 2)."
        )
        found.append(("Page characters", says, _characters(data)))
    if data["requests"]["write"]["requests"] and any(e["pairs"] for e in data["epochs"]):
        says = (
            "Share of the epochs whose write demand differs from that of the epoch before by at"
            " most a given percentage, by length of epoch (READY, Figure 4)."
        )
        found.append(("Write demand of consecutive epochs", says, _epochs(data)))
    if data["reuse"]["again"]:
        says = f"Share of the touches that an LRU cache of pages of {each} would hit, by its size."
        found.append(("Reuse distance", says, _reuse(data)))
    if data["footprint"]["pages"]:
        says = "Share of the touches on the hottest part of the pages that have such touches."
        found.append(("Concentration", says, _concentration(data)))
    return found


def _chart(rows: list[dict[str, Any]]) -> alt.Chart:
    import altair as alt

    # Inline data as plain values: altair limits the rows only of data that it converts itself.
    chart: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    return chart.properties(width="container", height=_HEIGHT)


def _color(field: str, domain: list[str]) -> Any:
    import altair as alt

    return alt.Color(f"{field}:N", title=None).scale(domain=domain)


def _share(field: str, title: str, axis: Any) -> Any:
    return axis(f"{field}:Q", title=title).axis(format="%").scale(domain=[0, 1])


def _ops(data: Mapping[str, Any]) -> list[str]:
    return [op for op in ("read", "write", "trim") if data["requests"][op]["requests"]]


def _rate(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    series = data["rate"]["series"]
    seconds = series["width_ns"] * 1e-9
    unit, one = next(u for u in _UNITS if data["span_ns"] >= 2 * u[1] or u[1] == 1)
    rows = [
        {"time": i * series["width_ns"] / one, "operation": op, "rate": count / seconds}
        for op in _ops(data)
        for i, count in enumerate(series[f"{op}s"])
    ]
    chart = _chart(rows).mark_line(interpolate="step-after", strokeWidth=1.25)
    return chart.encode(
        x=alt.X("time:Q", title=f"time ({unit})").scale(nice=False),
        y=alt.Y("rate:Q", title="requests per second"),
        color=_color("operation", _ops(data)),
        tooltip=[
            "operation:N",
            alt.Tooltip("time:Q", format=".4s"),
            alt.Tooltip("rate:Q", format=".3s"),
        ],
    )


_UNITS = (
    ("days", 86_400 * 10**9),
    ("hours", 3_600 * 10**9),
    ("minutes", 60 * 10**9),
    ("seconds", 10**9),
    ("milliseconds", 10**6),
    ("nanoseconds", 1),
)


def _day(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    rows = [
        {"hour": hour["hour"], "operation": op, "rate": hour[f"{op}s_per_second"]}
        for op in ("read", "write")
        for hour in data["rate"]["hours"]
    ]
    return (
        _chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("hour:Q", title="hour").scale(domain=[0, 23]),
            y=alt.Y("rate:Q", title="requests per second"),
            color=_color("operation", ["read", "write"]),
            tooltip=["operation:N", "hour:Q", alt.Tooltip("rate:Q", format=".3s")],
        )
    )


def _sizes(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    classes = data["sizes"]["histogram"]
    total = data["requests"]["all"]["requests"]
    rows = [
        {"size": exact(row["from_bytes"]), "operation": op, "share": row[op] / total}
        for row in classes
        for op in _ops(data)
    ]
    order = [exact(row["from_bytes"]) for row in classes]
    return (
        _chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("size:N", title="size, from", sort=order).axis(
                labelAngle=-45, labelOverlap=True
            ),
            y=alt.Y("share:Q", title="share of the requests").axis(format="%"),
            color=_color("operation", _ops(data)),
            tooltip=["operation:N", "size:N", alt.Tooltip("share:Q", format=".2%")],
        )
    )


def _characters(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    names = {"read_only": "read-only", "interleaved": "interleaved", "write_only": "write-only"}
    rows = []
    for of in ("pages", "reads", "writes"):
        counts = data["characters"][of]
        for place, (key, name) in enumerate(names.items()):
            whole = sum(counts.values())
            if whole:
                share = counts[key] / whole
                rows.append({"of": of, "character": name, "share": share, "place": place})
    chart = _chart(rows).mark_bar(height={"band": 0.7}).properties(height=150)
    return chart.encode(
        x=_share("share", "share", alt.X),
        y=alt.Y("of:N", title=None, sort=["pages", "reads", "writes"]),
        color=_color("character", ["read-only", "write-only", "interleaved"]),
        order="place:O",
        tooltip=["of:N", "character:N", alt.Tooltip("share:Q", format=".2%")],
    )


def _epochs(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    epochs = [e for e in data["epochs"] if e["pairs"]]
    order = [length(e["length_ns"]) for e in epochs]
    rows = [
        {"percent": at / 100, "epoch": length(e["length_ns"]), "share": share}
        for e in epochs
        for at, share in enumerate(e["within_percent"])
    ]
    return (
        _chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=1.75)
        .encode(
            x=alt.X("percent:Q", title="difference from the epoch before").axis(format="%"),
            y=_share("share", "share of the epochs", alt.Y),
            color=alt.Color("epoch:O", title=None, sort=order).legend(columns=3),
            tooltip=[
                "epoch:O",
                alt.Tooltip("percent:Q", format=".0%"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )


def _reuse(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    page = data["page_bytes"]
    rows = [
        {"bytes": below * page, "cache": size(below * page), "share": share}
        for below, share in zip(data["reuse"]["below_pages"], data["reuse"]["share"], strict=True)
    ]
    ticks = [2**shift for shift in range(page.bit_length() - 1, 60, 4)]
    largest = rows[-1]["bytes"]
    named = "{" + ",".join(f"'{tick}':'{exact(tick)}'" for tick in ticks) + "}[datum.value]"
    axis = alt.Axis(values=[t for t in ticks if t <= largest], labelExpr=named, labelOverlap=True)
    return (
        _chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("bytes:Q", title="size of the cache", axis=axis).scale(
                type="log", base=2, nice=False
            ),
            y=_share("share", "touches that hit", alt.Y),
            tooltip=["cache:N", alt.Tooltip("share:Q", format=".2%")],
        )
    )


def _concentration(data: Mapping[str, Any]) -> Plot:
    import altair as alt

    rows = [
        {"operation": op, "pages": pages, "touches": touches}
        for op in ("read", "write")
        for pages, touches in zip(*data[f"{op}s"]["curve"].values(), strict=True)
    ]
    ops = [op for op in ("read", "write") if data[f"{op}s"]["most"]]
    return (
        _chart(rows)
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X("pages:Q", title="hottest part of the pages")
            .scale(type="log", nice=False)
            .axis(format="~%", labelOverlap=True, values=[10.0**-power for power in range(12)]),
            y=_share("touches", "share of the touches", alt.Y),
            color=_color("operation", ops),
            tooltip=[
                "operation:N",
                alt.Tooltip("pages:Q", format="~%"),
                alt.Tooltip("touches:Q", format=".2%"),
            ],
        )
    )

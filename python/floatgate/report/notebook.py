"""The display of a result in notebooks: a piece of HTML that needs no script and no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from floatgate.pages import PALETTES
from floatgate.result.answers import answer
from floatgate.result.comparison import Comparison
from floatgate.result.conclusions import conclusions
from floatgate.result.measures import columns
from floatgate.result.names import label
from floatgate.result.run import Result
from floatgate.result.values import OPERATIONS, called, data, delays
from floatgate.words import duration, short

_COLOURS = PALETTES["light"][:6]
"""Colours that colour-blind readers can tell apart. The bars have words, too."""

MOST_ROWS = 50
"""Runs of a comparison that are shown."""


def of_run(run: Result) -> str:
    """The answer, the latencies, and where the time goes as bars."""
    rows = [["", "requests", "data", "mean", "p50", "p99", "p99.9"]]
    ops = [op for op in OPERATIONS[:-1] if run.host[op].requests]
    for op in ops:
        host, latency = run.host[op], run.host[op].latency_ns
        times = [duration(latency[key]) for key in ("mean", "p50", "p99", "p99_9")]
        rows.append([op, short(host.requests), data(op, host.bytes), *times])
    told = [f"<b>{escape(run.name)}</b>", escape(" ".join(answer(run)))]
    told += [f"&#9888; {escape(w['text'])} <code>{escape(w['code'])}</code>" for w in run.warnings]
    return _block([*map(_paragraph, told), _table(rows), *(_split(run, op) for op in ops)])


def of_comparison(comparison: Comparison) -> str:
    """The conclusions in words, and a table of the runs with the first measures."""
    names = list(comparison.varied)
    shown = [column for _, some in columns(comparison) for column in some]
    rows = [[*names, *(measure.title for measure, _ in shown)]]
    for i, variant in enumerate(comparison.variants[:MOST_ROWS]):
        cells = [f"{cells[i].shown} {cells[i].change}".strip() for _, cells in shown]
        rows.append([*(variant[name] for name in names), *cells])
    told = [escape(said) for said in conclusions(comparison)]
    told += [
        f"&#9888; {escape(label(failure['variant']))}: {escape(failure['message'])}"
        for failure in comparison.failed
    ]
    left = len(comparison.variants) - MOST_ROWS
    more = [f"and {left} more: <code>frame()</code> has all"] if left > 0 else []
    return _block([*map(_paragraph, told), _table(rows), *map(_paragraph, more)])


def _split(run: Result, op: str) -> str:
    """The mean latency of an operation by cause, as one bar with its legend."""
    split = {cause: mean for cause, mean in delays(run.host[op]).items() if mean > 0}
    whole = sum(split.values())
    if not whole:
        return ""
    parts = sorted(split.items(), key=lambda item: -item[1])
    bars = "".join(
        f'<span style="display:inline-block;height:1em;width:{100 * mean / whole:.2f}%;'
        f'background:{_COLOURS[min(i, len(_COLOURS) - 1)]}" title="{escape(called(cause))}"></span>'
        for i, (cause, mean) in enumerate(parts)
    )
    legend = ", ".join(
        f'<span style="color:{_COLOURS[min(i, len(_COLOURS) - 1)]}">&#9632;</span> '
        f"{escape(called(cause))} {duration(mean)}"
        for i, (cause, mean) in enumerate(parts)
    )
    bar = f'<div style="white-space:nowrap;font-size:0">{bars}</div>'
    return f'<div style="max-width:40em;margin:.5em 0">{op}: {legend}{bar}</div>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    header, *others = rows
    lines = [_line(header, "th"), *(_line(row, "td") for row in others)]
    return f"<table>{''.join(lines)}</table>"


def _line(cells: Iterable[str], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"


def _paragraph(html: str) -> str:
    return f'<p style="margin:.25em 0">{html}</p>'


def _block(parts: Iterable[str]) -> str:
    return f"<div>{''.join(parts)}</div>"

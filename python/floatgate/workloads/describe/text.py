"""The description as a page to read: at most 80 columns, section by section."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from floatgate.result.values import data as data_of
from floatgate.words import (
    BOLD,
    YELLOW,
    Style,
    duration,
    number,
    short,
    size,
    table,
    wrapped,
)

SHAPES_RESULTS = False

# Rates from none to the highest, and the columns in which they are drawn: no page has fewer.
_LEVELS = " .:-=+*#%@"
_COLUMNS = 56
_BAR = 32
_CACHES = [1 << shift for shift in range(20, 50, 4)]


def page(name: str, data: Mapping[str, Any], *, colour: bool = False) -> str:
    """The whole description; parts that the workload does not have are left out."""
    style = Style(colour)
    parts = [_head(name, data, style)]
    for title, body in (
        _requests(data),
        _sizes(data),
        _order(data),
        _rate(data),
        _footprint(data),
        _characters(data),
        _epochs(data),
        _reuse(data),
        _concentration(data),
    ):
        if body:
            parts.append(f"{style(BOLD, title)}\n{textwrap.indent(body, '  ')}")
    parts.append(_notes(data, style))
    return "\n\n".join(part for part in parts if part)


def percent(share: float | None) -> str:
    """A share of 1.

    >>> percent(0.8912), percent(1.0), percent(0.00001), percent(None)
    ('89.1 %', '100.0 %', '0.0 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def exact(count: int) -> str:
    """A size that somebody chose, with no more digits than it has.

    >>> exact(4096), exact(3584), exact(700), exact(1 << 20)
    ('4 KiB', '3.5 KiB', '700 B', '1 MiB')
    """
    value: float = count
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.5g} {unit}"
        value /= 1024
    return f"{value:.5g} GiB"


def length(ns: int) -> str:
    """A length of time that somebody chose, in whole units.

    >>> length(60 * 10**9), length(7_200 * 10**9), length(1_500_000)
    ('1 min', '2 h', '1500 us')
    """
    units = (("h", 3_600 * 10**9), ("min", 60 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 10**3))
    return next((f"{ns // one} {unit}" for unit, one in units if ns % one == 0), f"{ns} ns")


def _head(name: str, data: Mapping[str, Any], style: Style) -> str:
    workload = data["workload"]
    generated = workload["format"] == workload["name"]
    title = style(BOLD, name) + ("" if generated else f"  ({workload['format']})")
    line = f"{number(workload['requests'])} requests"
    line += f" in {duration(data['span_ns'])}" if data["rate"] else ""
    line += f" over {size(workload['span_bytes'])} of addresses" if workload["span_bytes"] else ""
    return f"{title}\n{line}"


def _requests(data: Mapping[str, Any]) -> tuple[str, str]:
    rows = [["", "requests", "share", "data", "share", "mean size"]]
    for op in ("read", "write", "trim", "all"):
        counts = data["requests"][op]
        if counts["requests"]:
            rows.append(
                [
                    op,
                    number(counts["requests"]),
                    percent(counts["requests_share"]),
                    data_of(op, counts["bytes"]),
                    percent(counts["bytes_share"]),
                    "-" if counts["mean_bytes"] is None else size(counts["mean_bytes"]),
                ]
            )
    parts = [table(rows[:-1] if len(rows) == 3 else rows)] if rows[1:] else []
    if trimmed := data["requests"]["trim"]["bytes"]:
        parts.append(f"trims discard {size(trimmed)} of addresses; they carry no data")
    flushes, bypassing = data["requests"]["flushes"], data["requests"]["fua_writes"]
    apart = [f"{number(flushes)} flushes"] if flushes else []
    if bypassing:
        apart.append(f"{number(bypassing)} of the writes bypass volatile memory (FUA)")
    return "Requests", "\n".join([*parts, wrapped("; ".join(apart))] if apart else parts)


def _sizes(data: Mapping[str, Any]) -> tuple[str, str]:
    sizes = data["sizes"]
    least, most, distinct = sizes["least_bytes"], sizes["most_bytes"], sizes["distinct"]
    if not distinct:
        return "", ""
    if distinct <= 1:
        return "Sizes", f"all {exact(most)}"
    frequent = [f"{exact(s['bytes'])} {percent(s['share'])}" for s in sizes["frequent"][:5]]
    body = wrapped(f"most frequent: {', '.join(frequent)}")
    total = data["requests"]["all"]["requests"]
    ops = [op for op in ("read", "write", "trim") if data["requests"][op]["requests"]]
    rows = [["from", *(f"{op}s" for op in ops), ""]]
    for row in sizes["histogram"]:
        share = sum(row[op] for op in ops) / total
        cells = [short(row[op]) if row[op] else "" for op in ops]
        bar = "#" * round(_BAR * share) or ("." if share else "")
        rows.append([exact(row["from_bytes"]), *cells, f"{bar:<{_BAR}}"])
    return (
        f"Sizes: {number(distinct)} different ones from {exact(least)} to {exact(most)}",
        f"{body}\n{table(rows)}",
    )


def _order(data: Mapping[str, Any]) -> tuple[str, str]:
    sequence, alignment = data["sequence"], data["alignment"]
    if not data["requests"]["all"]["requests"]:
        return "", ""
    lines = [
        f"{percent(sequence['after_previous'])} of the requests start where the one before ended",
        f"{percent(sequence['in_stream'])} continue one of the {sequence['streams']} latest streams"
        f" (reads {percent(sequence['reads_in_stream'])},"
        f" writes {percent(sequence['writes_in_stream'])})",
        f"sequential runs in the mean: {number(_three(sequence['mean_requests']))} requests,"
        f" {size(sequence['mean_bytes'])}; the longest {size(sequence['longest_bytes'])}",
        f"{percent(alignment['at_4k'])} start on a multiple of 4 KiB,"
        f" {percent(alignment['whole_pages'])} cover whole pages of {exact(data['page_bytes'])}",
    ]
    if best := alignment["best_shift_bytes"]:
        lines.append(
            f"moved by {exact(best)},"
            f" {percent(alignment['at_4k_shifted'])} would start on a multiple of 4 KiB"
            f" (--set workload.shift={data['workload']['shift_bytes'] + best}B)"
        )
    return "Order of addresses", "\n".join(map(wrapped, lines))


def _rate(data: Mapping[str, Any]) -> tuple[str, str]:
    rate = data["rate"]
    if rate is None:
        return "", ""
    title = (
        f"Rate: {short(_three(rate['requests_per_second']))} requests/s,"
        f" {size(rate['read_bytes_per_second'])}/s read,"
        f" {size(rate['written_bytes_per_second'])}/s written"
    )
    lines = [_strip(rate["series"])]
    rows = [["busiest", "requests", "data", "times the mean", "dispersion"]]
    for peak in rate["peaks"]:
        if peak["window_ns"] <= data["span_ns"]:
            rows.append(
                [
                    length(peak["window_ns"]),
                    number(peak["most_requests"]),
                    size(peak["most_bytes"]),
                    number(_three(peak["peak_to_mean"])),
                    "-" if peak["dispersion"] is None else number(_three(peak["dispersion"])),
                ]
            )
    if rows[1:]:
        lines.append(table(rows))
    gaps = rate["gaps"]
    lines.append(
        wrapped(
            f"between requests: mean {duration(gaps['mean_ns'])},"
            f" median {duration(gaps['p50_ns'])}, p99 {duration(gaps['p99_ns'])},"
            f" longest {duration(gaps['max_ns'])}; variation {number(_three(gaps['variation']))}"
        )
    )
    return title, "\n".join(lines)


def _strip(series: dict[str, Any]) -> str:
    """The rate over time in one line."""
    rows = zip(series["reads"], series["writes"], series["trims"], strict=True)
    counts = [sum(row) for row in rows]
    each = -(-len(counts) // _COLUMNS)
    columns = [sum(counts[i : i + each]) for i in range(0, len(counts), each)]
    highest = max(columns)
    levels = [-(-(len(_LEVELS) - 1) * column // highest) for column in columns]
    strip = "".join(_LEVELS[level] for level in levels)
    width = duration(each * series["width_ns"])
    return f"|{strip}|\none column is {width}, `@` up to {short(highest)} requests"


def _three(value: float) -> float:
    return float(f"{value:.3g}")


def _footprint(data: Mapping[str, Any]) -> tuple[str, str]:
    footprint = data["footprint"]
    title = f"Footprint: {size(footprint['bytes'])} in pages of {exact(data['page_bytes'])}"
    if not footprint["pages"]:
        return title, "nothing is read or written"
    read, written = footprint["read_pages"], footprint["written_pages"]
    both, first = footprint["both_pages"], footprint["read_first_pages"]
    lines = [
        f"{number(footprint['pages'])} pages: {number(read)} are read, {number(written)} written,"
        f" {number(both)} both; {number(first)} are read before anything writes them",
    ]
    if written:
        lines.append(
            f"{percent(footprint['overwrites'])} of the page writes overwrite an earlier one:"
            f" {number(footprint['writes_per_written_page'])} writes to a written page in the mean"
        )
    return title, "\n".join(map(wrapped, lines))


def _characters(data: Mapping[str, Any]) -> tuple[str, str]:
    if not data["footprint"]["pages"]:
        return "", ""
    characters, identification = data["characters"], data["identification"]
    rows = [["pages that are", "pages", "reads", "", "writes", ""]]
    for name in ("read_only", "write_only", "interleaved"):
        row = [name.replace("_", "-"), number(characters["pages"][name])]
        for of in ("reads", "writes"):
            whole = sum(characters[of].values())
            count = characters[of][name]
            row += [short(count), percent(count / whole if whole else None)]
        rows.append(row)
    windows = (f"{w['window']}: {percent(w['accuracy'])}" for w in identification["windows"])
    line = (
        f"identified by a history window of {', '.join(windows)}"
        f" of the touches with a history (all but {percent(identification['without_history'])})"
    )
    return "Page characters at 95 % (AGCR, Figures 2 and 6)", f"{table(rows)}\n{wrapped(line)}"


def _epochs(data: Mapping[str, Any]) -> tuple[str, str]:
    marks = (10, 25, 30, 50, 100)
    rows = [["epoch", "pairs", "mean", *(f"<= {mark} %" for mark in marks)]]
    for epochs in data["epochs"]:
        if epochs["pairs"] and data["requests"]["write"]["requests"]:
            within = epochs["within_percent"]
            mean = epochs["mean_percent"]
            rows.append(
                [
                    length(epochs["length_ns"]),
                    number(epochs["pairs"]),
                    "-" if mean is None else f"{mean:,.0f} %",
                    *(percent(within[mark]) for mark in marks),
                ]
            )
    if not rows[1:]:
        return "", ""
    return "Write demand, change from epoch to epoch (READY, Figure 4)", table(rows)


def _reuse(data: Mapping[str, Any]) -> tuple[str, str]:
    reuse, page_bytes = data["reuse"], data["page_bytes"]
    touches = reuse["first"] + reuse["again"]
    if not touches:
        return "", ""
    lines = [f"{percent(reuse['first'] / touches)} of the touches are the first of their page"]
    if reuse["again"]:
        median = reuse["median_below_pages"]
        lines[0] += (
            f"; half of the others come before {number(median)} other pages"
            f" ({exact(median * page_bytes)}) were touched"
        )
        hits = [
            f"{exact(cache)} {percent(_hits(reuse, cache // page_bytes))}"
            for cache in _CACHES
            if page_bytes <= cache <= data["footprint"]["bytes"]
        ]
        if hits:
            lines.append(f"an LRU cache would hit: {', '.join(hits)}")
    return "Reuse of pages", "\n".join(map(wrapped, lines))


def _hits(reuse: dict[str, Any], pages: int) -> float:
    """The hit ratio of an LRU cache; every power of two is a bound, up to the largest distance."""
    below = [s for b, s in zip(reuse["below_pages"], reuse["share"], strict=True) if b <= pages]
    return float(below[-1]) if below else 0.0


def _concentration(data: Mapping[str, Any]) -> tuple[str, str]:
    rows = [["", "mean", "most", "on top 1 %", "10 %", "20 % of the pages"]]
    for of in ("reads", "writes"):
        gathered = data[of]
        if gathered["most"]:
            tops = [gathered[f"on_top_{part}_percent"] for part in (1, 10, 20)]
            mean = number(gathered["mean"])
            rows.append([of, mean, number(gathered["most"]), *map(percent, tops)])
    return "Concentration: touches per page", table(rows) if rows[1:] else ""


def _notes(data: Mapping[str, Any], style: Style) -> str:
    notes = list(data["workload"]["notes"])
    sampling = data["sampling"]
    if sampling["rate"] < 1:
        notes.insert(
            0,
            f"what is said of pages rests on a sample, one in {round(1 / sampling['rate'])}:"
            f" {number(sampling['pages'])} pages in {number(sampling['groups'])} groups of 16;"
            " the rest is exact",
        )
    lines = [wrapped(f"- {note}") for note in notes]
    return f"{style(YELLOW, 'Notes')}\n" + textwrap.indent("\n".join(lines), "  ") if lines else ""

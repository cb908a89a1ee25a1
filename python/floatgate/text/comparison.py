"""A comparison as a page to read: the runs below each other, their measures side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from floatgate.result.answers import because
from floatgate.result.comparison import Comparison
from floatgate.result.conclusions import conclusions
from floatgate.result.measures import (
    Cell,
    Measure,
    columns,
    combinations,
    mean_of,
    peers,
    tables,
    warnings,
)
from floatgate.result.names import brief, label, parted, where
from floatgate.result.run import Result
from floatgate.result.scaled import in_words
from floatgate.result.units import UNITS
from floatgate.result.values import largest, slowest
from floatgate.text import explained
from floatgate.text.result import prepared
from floatgate.words import (
    BOLD,
    RED,
    YELLOW,
    Style,
    duration,
    filled,
    hanging,
    number,
    page_width,
    section,
)


def page(
    comparison: Comparison,
    *,
    colour: bool = False,
    bars: str | None = None,
    first: Sequence[str] = (),
) -> str:
    """The whole comparison; measures that no run has are left out.

    Args:
        comparison: The comparison to show.
        colour: Whether to use the colours of a terminal.
        bars: The measure drawn as bars; by default the first that there is.
        first: Measures that come before the usual ones.
    """
    style = Style(colour)
    sections = [_head(comparison, style)]
    if comparison.runs:
        lines = [hanging("- ", said) for said in conclusions(comparison, first)]
        sections.append(section("Conclusions", "\n".join(lines), style) if lines else "")
        sections.append(_warnings(comparison, style, changing=True))
        groups = combinations(comparison)
        labels = _labels(comparison, groups)
        longest = max(map(len, first), default=0)
        # Labels may take up to half of a line; wider ones are numbers with a legend.
        if _width(labels) > min(page_width() // 2, page_width() - 4 - longest):
            title = "Runs" if len(groups) == len(comparison.runs) else "Combinations"
            sections.append(section(title, _legend(labels), style))
            labels = [[""], *([str(i)] for i in range(1, len(labels)))]
        for title, shown in columns(comparison, first, groups):
            blocks = _blocks(labels, [_column(*each) for each in shown], style)
            sections.append(section(title, "\n\n".join(blocks), style))
        rows = [[comparison.runs[i] for i in group] for group in groups]
        sections.append(_slowest(labels, rows, style))
        sections.append(_bars(labels, rows, bars, first, style))
        sections.append(_ends(comparison, style))
        sections.append(_warnings(comparison, style, changing=False))
        sections.append(_checks(comparison, style))
    sections.append(failures(comparison, style))
    return "\n\n".join(section for section in sections if section)


def rows(comparison: Comparison, asked: Sequence[str] = ()) -> list[list[str]]:
    """The comparison for a table: a header, and for each run its varied settings and its measures.

    Numbers are as they are stored, in the unit that their column names.
    """
    shown = [measure for _, measures in tables(asked) for measure in measures]
    there = [m for m in shown if m.key in asked or any(m.of(run) for run in comparison.runs)]
    if asked:
        there = [m for m in there if m.key in asked]
    units = [UNITS[m.unit].name if m.unit in _STORED else "" for m in there]
    header = [f"{m.key} ({unit})" if unit else m.key for m, unit in zip(there, units, strict=True)]
    variants = parted(comparison.variants)
    varied = list(variants[0]) if variants else []
    lines = [[*varied, "run_id", *header]]
    for variant, run in zip(variants, comparison.runs, strict=True):
        values = [m.of(run) for m in there]
        cells = ["" if value is None else f"{value:.12g}" for value in values]
        lines.append([*(variant[name] for name in varied), run.run_id, *cells])
    return lines


_STORED = ("ns", "s", "bytes", "J", "per s")
"""The units in which numbers are stored; shares and counts have none."""


def failures(comparison: Comparison, style: Style | None = None) -> str:
    """The runs that failed, each reason once."""
    every = [*comparison.variants, *(failure["variant"] for failure in comparison.failed)]
    reasons: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for failure in comparison.failed:
        reasons.setdefault((failure["kind"], failure["message"]), []).append(failure["variant"])
    lines = []
    for (kind, message), some in reasons.items():
        bug = "floatgate has a bug, please report it: " if kind == "internal" else ""
        # A message of several lines has its own form.
        text = message if "\n" in message else hanging("- ", f"{bug}{message}")
        lines += [text, hanging("  in: ", where(some, every))]
    if not lines:
        return ""
    style = style or Style(False)
    count = len(comparison.failed)
    title = f"{count} run{'s' if count > 1 else ''} failed"
    return section(style(RED, title), "\n".join(lines), style)


def _head(comparison: Comparison, style: Style) -> str:
    runs, by = comparison.runs, ", ".join(comparison.varied)
    count = len(runs) + len(comparison.failed)
    drives = _several(run.provenance.config.get("name", "drive") for run in runs)
    workloads = _several(run.workload for run in runs)
    what = f"{count} runs by {by}" if by else "one run, as nothing varies"
    title = f"{drives}, {workloads}: {what}" if runs else what
    lines = [style(BOLD, line) for line in filled(title, page_width(), later="  ").splitlines()]
    if runs:
        facts = [f"{_several(number(run.checks.requests_served) for run in runs)} requests each"]
        if "seed" not in comparison.varied:
            facts.append(f"seed {_several(run.provenance.seed for run in runs)}")
        facts.append(f"simulated in {duration(1e9 * sum(r.timing.wall_seconds for r in runs))}")
        lines.append("; ".join(facts))
        if "scale" not in comparison.varied and (scaled := in_words(runs[0].data)):
            lines += filled(f"drives {scaled}", page_width()).splitlines()
        if "precondition.age" not in comparison.varied:
            lines += filled(f"drives {_several(map(prepared, runs))}", page_width()).splitlines()
    if len(runs) > 1:
        of = " with the same workload" if len(peers(comparison)) > 1 else ""
        groups = combinations(comparison)
        row = "run" if len(groups) == len(runs) else "combination"
        said = f"In %: the difference to the first {row}{of}. With =: none. With *: the best."
        if len(groups) < len(runs):
            said += " With ±: half of the 95 % confidence interval of the mean over the seeds."
        lines += filled(said, page_width()).splitlines()
    return "\n".join(lines)


def _labels(comparison: Comparison, groups: Sequence[Sequence[int]]) -> list[list[str]]:
    """A header, and the settings that distinguish each row; every row marks a stand-in."""
    together = len(groups) < len(comparison.runs)
    variants = parted(
        [
            {k: v for k, v in comparison.variants[group[0]].items() if k != "seed" or not together}
            for group in groups
        ]
    )
    runs = [comparison.runs[group[0]] for group in groups]
    names = list(variants[0]) if variants else []
    stand_in = any(run.provenance.workload.stand_in for run in runs)
    rows = [[brief(name, names) for name in names]]
    for variant, run in zip(variants, runs, strict=True):
        # A workload has its name in the result, not the path that led to it.
        known = variant | ({"workload": run.workload} if "workload" in variant else {})
        rows.append([known[name] or "-" for name in names])
    if stand_in and "workload" not in names:
        for row, cell in zip(rows, ["workload", *(run.workload for run in runs)], strict=True):
            row.append(cell)
    if not rows[0]:
        return [["", *row] for row in rows]
    return rows


def _legend(labels: Sequence[Sequence[str]]) -> str:
    """The differences of the runs, by number: as columns, or in words if these are too wide."""
    header, *rows = labels
    width = len(str(len(rows)))
    table = _aligned([["", *header], *([str(i), *row] for i, row in enumerate(rows, 1))])
    if len(table[0]) <= page_width() - 2:
        return "\n".join(line.rstrip() for line in table)
    return "\n".join(
        hanging(f"{i:>{width}}  ", label({name: of for name, of in pairs if of != "-"}))
        for i, pairs in enumerate((list(zip(header, row, strict=True)) for row in rows), 1)
    )


def _blocks(
    labels: Sequence[Sequence[str]], columns: Iterable[Sequence[str]], style: Style
) -> list[str]:
    """As many columns side by side as fit a line, then the next ones below."""
    left = _aligned(labels)
    blocks: list[list[str]] = []
    room = 0
    for cells in columns:
        width = max(map(len, cells)) + 2
        if width > room:
            blocks.append(list(left))
            room = page_width() - 2 - len(left[0])
        room -= width
        for i, cell in enumerate(cells):
            shown = style(BOLD, cell) if "*" in cell else cell
            blocks[-1][i] += f"  {shown}{' ' * (width - 2 - len(cell))}"
    return ["\n".join(line.rstrip() for line in block) for block in blocks]


def _column(measure: Measure, cells: Sequence[Cell]) -> list[str]:
    """A header, and a cell for each run."""
    width = max(len(cell.shown) for cell in cells)
    beside = max(len(cell.change) for cell in cells)
    lines = [
        f"{cell.shown:>{width}}{'*' if cell.best else '':1} {cell.change:>{beside}}".rstrip()
        for cell in cells
    ]
    return [measure.title, *lines]


def _slowest(
    labels: Sequence[Sequence[str]], rows: Sequence[Sequence[Result]], style: Style
) -> str:
    """The largest cause of the slowest reads and writes of most runs of a row, if known."""

    def cause(op: str, runs: Sequence[Result]) -> str:
        found = [largest(slowest(run.host[op])) for run in runs]
        if not (causes := Counter(each[0] for each in found if each)):
            return ""
        ((most, _),) = causes.most_common(1)
        return because(most, fmean(each[1] for each in found if each and each[0] == most))

    found = {op: [cause(op, runs) for runs in rows] for op in ("read", "write")}
    shown = [[op, *(cause or "-" for cause in some)] for op, some in found.items() if any(some)]
    if not shown:
        return ""
    title = "Why p99 is high: the largest cause of the slowest 1 %"
    return section(title, "\n\n".join(_blocks(labels, shown, style)), style)


def _bars(
    labels: Sequence[Sequence[str]],
    rows: Sequence[Sequence[Result]],
    key: str | None,
    first: Sequence[str],
    style: Style,
) -> str:
    """One measure as bars from zero on."""
    if len(rows) < 2:
        return ""
    runs = [run for row in rows for run in row]
    every = (measure for _, measures in tables(first) for measure in measures)
    there = [measure for measure in every if any(measure.of(run) for run in runs)]
    measure = next((m for m in there if key in (None, m.key)), None)
    if measure is None:
        return f"No bars: no run has a number for `{key}`" if key else ""
    values = [mean_of(measure, row) or 0.0 for row in rows]
    shown = [measure.show(value) for value in values]
    left = _aligned(labels)[1:]
    room = page_width() - 2 - len(left[0]) - 2 - 2 - max(map(len, shown))
    lines = [
        f"{start}  {'#' * max(round(room * value / max(values)), 1 if value else 0)}  {words}"
        for start, value, words in zip(left, values, shown, strict=True)
    ]
    # A path of the result stays as it is.
    is_path = "." in measure.title
    title = measure.title if is_path else measure.title[0].upper() + measure.title[1:]
    return section(title, "\n".join(lines), style)


def _ends(comparison: Comparison, style: Style) -> str:
    lines = []
    for variant, run in zip(comparison.variants, comparison.runs, strict=True):
        end = run.end
        if end.state != "completed":
            reason = f": {end.reason}" if end.reason else ""
            text = f"{end.state} at {duration(end.at_ns)}{reason}"
            lines.append(hanging("- ", f"{label(variant)}: {text}"))
    return section(style(YELLOW, "Ended early"), "\n".join(lines), style) if lines else ""


def _checks(comparison: Comparison, style: Style) -> str:
    pairs = zip(comparison.variants, comparison.runs, strict=True)
    some = [variant for variant, run in pairs if run.checks.passed is False]
    if not some:
        return "Checks passed in every run"
    title = style(RED, "CHECKS FAILED: do not trust these results")
    return section(title, hanging("in: ", where(some, comparison.variants)), style)


def _warnings(comparison: Comparison, style: Style, *, changing: bool) -> str:
    lines = []
    for text, code, some, others in warnings(comparison):
        if explained.changes_the_answer(code) != changing:
            continue
        lines.append(hanging("- ", f"{text} [{code}]"))
        lines.append(hanging("  in: ", where(some, comparison.variants) + others))
    title = style(YELLOW, explained.title(changing))
    return section(title, "\n".join(lines), style) if lines else ""


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns to the left, all lines of one width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return len(_aligned(rows)[0])


def _several(values: Iterable[object]) -> str:
    """The features of the runs, each once; if there are many, the first and the last.

    >>> _several([1, 2, 1]), _several("abcdef")
    ('1 | 2', 'a .. f')
    """
    known = list(dict.fromkeys(map(str, values)))
    return " | ".join(known) if len(known) <= 3 else f"{known[0]} .. {known[-1]}"

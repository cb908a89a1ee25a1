"""A report as one HTML file."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from floatgate import pages
from floatgate.engine import version as engine_version
from floatgate.mistakes import IncompleteError, UnknownNameError
from floatgate.pictures import ROWS, has_snapshots, picture
from floatgate.report import verdicts
from floatgate.report.drawing import HEIGHT, Drawn
from floatgate.report.model import Finding, Report
from floatgate.report.names import Names
from floatgate.report.plots import draw
from floatgate.report.toml import as_toml, common, without
from floatgate.result import declared
from floatgate.result.answers import answer
from floatgate.result.comparison import Comparison
from floatgate.result.conclusions import conclusions
from floatgate.result.measures import change, columns, warnings
from floatgate.result.names import brief, label, where
from floatgate.result.run import Result
from floatgate.result.scaled import in_words
from floatgate.result.units import UNITS, is_number, within
from floatgate.result.values import flat
from floatgate.words import duration, number


def html(report: Report, *, nonce: str | None = None) -> str:
    """The page as text; its scripts and styles have the `nonce`, where it is served.

    Raises:
        InputError: There are no runs, or a plot names a measure or setting that does not exist.
    """
    return pages.render("report/page.html", nonce=nonce, **parts(report))


def parts(report: Report) -> dict[str, Any]:
    """The values that the templates of a report need.

    Raises:
        InputError: There are no runs, or a plot names a measure or setting that does not exist.
    """
    if not report.runs.runs:
        raise IncompleteError("there is no run to report on")
    names = Names(report.runs)
    drawn = draw(report, names)
    origins, digests = _provenance(names)
    return {
        "title": report.title,
        "facts": _facts(report.runs, names),
        "failed_checks": _failed_checks(report.runs),
        "headline": verdicts.headline(report),
        "answers": _answers(report),
        "doubt": report.doubt,
        "rule": verdicts.RULE,
        "prose": list(report.prose),
        "tables": [(t.title, t.text, [_row(f) for f in t.rows]) for t in report.tables],
        "sheets": report.sheets,
        "stand_ins": any(f.stand_in for t in report.tables for f in t.rows),
        "plots": _placed([plot for plot in drawn if plot.spec is not None]),
        "specs": [plot.spec for plot in drawn if plot.spec is not None],
        "left_out": [(plot.title, plot.says) for plot in drawn if plot.spec is None],
        "parameters": _parameters(names)[0],
        "measures": _measures(report, names),
        "ids": [run.run_id for run in names.runs],
        "ends": _ends(report.runs, names),
        "words": _words(names),
        "warnings": [
            (text, code, where(some, report.runs.variants) + more)
            for text, code, some, more in warnings(report.runs)
        ],
        "failures": [(label(f["variant"]), f["message"]) for f in report.runs.failed],
        "differing": _differing(names, [dict(_config(run)) for run in names.runs]),
        "provenance": origins,
        "digests": digests,
        "config": as_toml(common([run.data["provenance"]["config"] for run in names.runs])),
        "several": len(names.runs) > 1,
        "runs_first": not report.tables and len(names.runs) <= FEW,
        "FIRST": FIRST,
        "commands": _commands(names),
        "pictures": _pictures(names),
        "data": data(names),
        "version": engine_version(),
    }


def _answers(report: Report) -> list[str]:
    """The results, or the verdicts if there are published numbers."""
    runs = report.runs
    if report.tables:
        return []
    return answer(runs.runs[0]) if len(runs.runs) == 1 else [*conclusions(runs, report.measures)]


def _placed(plots: Sequence[Drawn]) -> list[tuple[str, str, bool]]:
    """Title, text, and whether the row belongs to the plot alone.

    It does if no other plot is left for the row, or if that plot is so much higher that a part of
    the frame would be empty. The overview and the details begin a row each.
    """
    heights = [(plot.spec or {}).get("height", HEIGHT) for plot in plots]
    alone = set()
    for begin, end in ((0, FIRST["plots"]), (FIRST["plots"], len(plots))):
        at, end = begin, min(end, len(plots))
        while at < end:
            pair = at + 1 < end and abs(heights[at] - heights[at + 1]) <= UNEVEN
            alone |= set() if pair else {at}
            at += 2 if pair else 1
    return [(plot.title, plot.says, i in alone) for i, plot in enumerate(plots)]


UNEVEN = 60
"""The greatest difference in height of neighbours, in pixels."""

FIRST = {"prose": 1, "tables": 6, "plots": 8}
"""The parts ahead of the details: an overview of at most five screens."""

FEW = 12
"""Runs whose numbers belong to the overview."""

PICTURES = 4
"""The most runs whose drives are shown as pictures."""


def _pictures(names: Names) -> list[tuple[str, dict[str, Any]]]:
    """The drive over time for the first runs that have snapshots."""
    some = [
        (label if len(names.runs) > 1 else "", run)
        for label, run in zip(names.labels, names.runs, strict=True)
        if has_snapshots(run)
    ][:PICTURES]
    return [(label, picture(run, ROWS // len(some))) for label, run in some]


def usual_title(comparison: Comparison) -> str:
    """Drive, workload and varied settings; `A stored run` would say nothing."""
    runs = comparison.runs
    if not runs:
        return "No runs"
    drives = _several(run.data["provenance"]["config"].get("name", "drive") for run in runs)
    what = f"{drives}, {_several(run.workload for run in runs)}"
    by = ", ".join(comparison.varied)
    return f"{what}: {len(runs)} runs by {by}" if by else what


def data(names: Names) -> dict[str, Any]:
    """The data of the page: every number of every run, and every setting.

    Values that all runs share are shown once. `timing` is left out, because only it differs between
    equal runs.
    """
    numbers = [
        {
            path: value
            for path, value in flat(run.data)
            if path.partition(".")[0] not in ("schema", "timing", "provenance")
            and not (isinstance(value, float) and not math.isfinite(value))
        }
        for run in names.runs
    ]
    return {
        "runs": [
            {"label": name, "variant": label(variant), "id": run.run_id}
            for name, variant, run in zip(names.labels, names.variants, names.runs, strict=True)
        ],
        "numbers": _columns(numbers),
        "settings": _columns([dict(_config(run)) for run in names.runs]),
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values that all rows share, by path, and a list of the own values of each row."""
    paths = list(dict.fromkeys(path for row in rows for path in row))
    table = {path: [row.get(path) for row in rows] for path in paths}
    shared = {path: values[0] for path, values in table.items() if _all_equal(values)}
    return {"same": shared, "own": {p: values for p, values in table.items() if p not in shared}}


def _all_equal(values: Sequence[Any]) -> bool:
    return all(type(value) is type(values[0]) and value == values[0] for value in values)


def _config(run: Result) -> Iterable[tuple[str, str]]:
    """Every setting of a run as a word."""
    for path, value in flat(run.data["provenance"]["config"], lists=True):
        yield path, value if isinstance(value, str) else json.dumps(value)


class _Row(NamedTuple):
    what: str
    where: str
    published: str
    ours: str
    difference: str
    verdict: str
    stand_in: bool
    note: str
    values: tuple[float | str | None, float | str | None]


def _row(finding: Finding) -> _Row:
    if finding.unit not in UNITS:
        raise UnknownNameError(
            f"`{finding.what}`: `{finding.unit}` is not a unit; there are "
            + ", ".join(f"`{unit}`" for unit in UNITS)
        )

    def shown(value: float | str | None) -> str:
        if value is None or isinstance(value, str):
            return value or "-"
        return UNITS[finding.unit].show(value)

    return _Row(
        finding.what,
        finding.where,
        shown(finding.published),
        shown(finding.ours),
        difference(finding),
        verdicts.judged(finding),
        finding.stand_in,
        finding.note,
        (finding.published, finding.ours),
    )


def difference(finding: Finding) -> str:
    """Our number relative to the published one: in percent or points, texts as equal or not.

    >>> difference(Finding("WAF", "Fig. 7", 2.0, 2.1)), difference(Finding("WAF", "", None, 2.1))
    ('+5.0 %', '')
    >>> difference(Finding("reads", "Table 2", 0.85, 0.8, unit="share"))
    '-5.0 points'
    """
    published, ours = finding.published, finding.ours
    if published is None or ours is None:
        return ""
    if isinstance(published, str) or isinstance(ours, str):
        return "=" if published == ours else "differs" if type(published) is type(ours) else ""
    if finding.unit == "share":
        points = f"{100 * (ours - published):+.1f}"
        return "=" if float(points) == 0 else f"{points} points"
    if published < 0:
        return f"{ours - published:+.4g}"
    return change(published, ours) or f"{ours - published:+.4g}"


def _facts(comparison: Comparison, names: Names) -> list[tuple[str, str]]:
    runs = names.runs
    facts = [("runs", number(len(runs)))]
    if comparison.failed:
        facts.append(("failed", number(len(comparison.failed))))
    if names.varied:
        facts.append(("varied", names.title.replace(" · ", ", ")))
    facts += [
        ("drive", _several(run.data["provenance"]["config"].get("name", "drive") for run in runs)),
        ("workload", _several(run.workload for run in runs)),
        (
            "requests each" if len(runs) > 1 else "requests",
            _range([run.checks.requests_served for run in runs], number),
        ),
        ("drive time", _range([run.simulated_seconds * 1e9 for run in runs], duration)),
    ]
    return facts


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def _several(values: Iterable[object]) -> str:
    known = list(dict.fromkeys(map(str, values)))
    return ", ".join(known) if len(known) <= 2 else f"{known[0]} … {known[-1]}"


def _failed_checks(comparison: Comparison) -> str:
    pairs = zip(comparison.variants, comparison.runs, strict=True)
    some = [variant for variant, run in pairs if run.checks.passed is False]
    return where(some, comparison.variants) if some else ""


COLUMNS = 6
"""Parameters that have a column each in the tables of runs; of more, the last ones share one."""


def _parameters(names: Names) -> tuple[list[str], list[list[str]]]:
    """The varied settings as columns: their headings, and for each run its values."""
    own, shared = names.varied, list[str]()
    if len(own) > COLUMNS:
        own, shared = own[: COLUMNS - 1], own[COLUMNS - 1 :]
    headings = [brief(name, names.varied) for name in own] + ["and"] * bool(shared)
    rows = [
        [variant.get(name, "-") for name in own]
        + [label({name: variant.get(name, "-") for name in shared})] * bool(shared)
        for variant in names.variants
    ]
    return headings, rows


def _measures(report: Report, names: Names) -> list[tuple[str, list[str], list[Any]]]:
    """Tables: title, headers, and for each run its number, its parameters and its cells.

    Measures that do not fit a page of 1,200 pixels are continued in another table.
    """
    _, parameters = _parameters(names)
    found = []
    for title, shown in columns(report.runs, report.measures):
        words = [max(_CELL, *map(len, measure.title.split())) + 2 for measure, _ in shown]
        parts = -(-sum(words) // _ROW)
        size = -(-len(shown) // parts)
        for part in (shown[at : at + size] for at in range(0, len(shown), size)):
            rows = [
                (i + 1, values, [cells[i] for _, cells in part])
                for i, values in enumerate(parameters)
            ]
            more = "" if part[0] is shown[0] else ", continued"
            found.append((title + more, [measure.title for measure, _ in part], rows))
    return found


_CELL = 13
"""Characters of a number with its unit and its change, such as `175 ms +0.1 %`."""

_ROW = 120
"""Characters of the measures in a row, which has its parameters too."""


def _ends(comparison: Comparison, names: Names) -> list[tuple[str, str]]:
    ends = []
    for variant, run in zip(names.variants, names.runs, strict=True):
        end = run.end
        if end.state != "completed":
            reason = f": {end.reason}" if end.reason else ""
            ends.append((label(variant), f"{end.state} at {duration(end.at_ns)}{reason}"))
    return ends


def _words(names: Names) -> list[tuple[str, list[tuple[str, str]]]]:
    """The values besides numbers of sections without a form of their own, by section and run."""
    found = []
    for section in declared.others():
        lines = []
        for name, run in zip(names.labels, names.runs, strict=True):
            fields = flat(run.data.get(section.name), section.name, lists=True)
            told = [f"{within(path)} {json.dumps(v)}" for path, v in fields if not is_number(v)]
            if told and run.data.get(section.name) is not None:
                lines.append((name, "; ".join(told)))
        if lines:
            found.append((section.name, lines))
    return found


def _differing(names: Names, rows: Sequence[Mapping[str, str]]) -> list[tuple[str, list[Any]]]:
    """Each value by key, with the runs that have it, if not all have the same."""
    keys = dict.fromkeys(key for row in rows for key in row)
    differing = []
    for key in keys:
        of: dict[str, list[int]] = {}
        for i, row in enumerate(rows, 1):
            of.setdefault(row.get(key, "-"), []).append(i)
        if len(of) > 1:
            differing.append((key, [(value, ranges(runs)) for value, runs in of.items()]))
    return differing


def ranges(numbers: Sequence[int]) -> str:
    """Numbers of runs in short.

    >>> ranges([1, 2, 3, 7]), ranges([4])
    ('runs 1-3, 7', 'run 4')
    """
    parts: list[list[int]] = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    words = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
    return f"run {words}" if len(numbers) == 1 else f"runs {words}"


_Origins = list[tuple[str, list[tuple[str, str]]]]

_DIGESTS = ("build", "SHA-256 of the trace", "configuration", "run")
"""These identify a run; the names for people are separate."""


def _provenance(names: Names) -> tuple[_Origins, _Origins]:
    """The provenance of the numbers by name, each value with its runs: in words, and as digests."""
    rows = []
    for run in names.runs:
        provenance = run.data["provenance"]
        workload = provenance["workload"]
        stand_in = workload["stand_in"]
        rows.append(
            {
                "version": str(provenance["version"]),
                "build": str(provenance.get("build") or "- (older than builds)"),
                "seed": str(provenance["seed"]),
                "workload": run.workload,
                "stand-in": "no, as published or generated as asked"
                if not stand_in
                else ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in flat(stand_in)),
                "format": workload["format"] or "-",
                "requests": number(workload["requests"]),
                "SHA-256 of the trace": workload["sha256"] or "- (generated from the seed)",
                "scaled": in_words(run.data) or "no: the whole drive was simulated",
                "found on reading": "; ".join(workload["notes"]) or "nothing to note",
                "configuration": provenance["config_hash"],
                "run": run.run_id,
            }
        )
    found: tuple[_Origins, _Origins] = [], []
    for key in rows[0]:
        of: dict[str, list[int]] = {}
        for i, row in enumerate(rows, 1):
            of.setdefault(row[key], []).append(i)
        shown = [(value, ranges(runs) if len(of) > 1 else "") for value, runs in of.items()]
        found[key in _DIGESTS].append((key, shown))
    return found


def _commands(names: Names) -> list[tuple[str, str]]:
    """The command that repeats each run, from the shared settings and its own."""
    configs = [run.data["provenance"]["config"] for run in names.runs]
    shared = common(configs)
    commands = []
    for i, (run, config) in enumerate(zip(names.runs, configs, strict=True), 1):
        workload = run.data["provenance"]["workload"]
        words = ["floatgate", "run", "drive.toml"]
        words.append("TRACE" if workload["sha256"] else workload["format"] or workload["name"])
        for path, value in without(config, shared):
            words += ["--set", f"{path}={value}"]
        commands.append((f"run {i}", shlex.join(words)))
    return commands

"""What was published beside what came out: the tables and plots of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from floatgate.experiments import Experiment, Published
from floatgate.report.model import Finding, Plot, Point, Report, Sheet, Table
from floatgate.report.verdicts import verdict
from floatgate.result import measures
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.settings import same_value
from floatgate.words import number

UNITS: Mapping[str, tuple[float, str]] = {"share": (100.0, " %"), "x": (1.0, "")}


def report_of(
    experiment: Experiment,
    comparison: Comparison,
    tables: Sequence[Table] = (),
    plots: Sequence[Plot] = (),
    sheets: Sequence[Sheet] = (),
) -> Report:
    """The report of an experiment: what it publishes, then what an analysis has found."""
    rows = list(findings(experiment, comparison))
    own = [Table("Published and found", rows)] if rows else []
    drawn = list(_plots(experiment, comparison))
    return Report(
        experiment.title,
        comparison,
        experiment.prose,
        [*own, *tables],
        [*drawn, *plots],
        sheets,
        experiment.measures,
    )


def findings(experiment: Experiment, comparison: Comparison) -> Iterator[Finding]:
    """A row for each number and statement that was published; `ours` is None without its runs."""
    for published in experiment.published:
        if published.text:
            yield Finding(
                published.what, published.source, published.text, None, note=published.note
            )
            continue
        found, stand_in = _ours(published, comparison)
        note = published.note
        if published.tolerance is not None:
            within = f"to lie within {100 * published.tolerance:g} %"
            note = f"{note}; {within}" if note else within
        yield Finding(
            published.what,
            published.source,
            published.value,
            found,
            published.unit or ("share" if published.against else ""),
            stand_in,
            note,
            band=published.tolerance,
        )


def misses(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Published numbers with a tolerance that ours do not keep, in words."""
    missed = []
    for published in experiment.published:
        if published.tolerance is None or published.value is None:
            continue
        found, _ = _ours(published, comparison)
        if found is not None and abs(found - published.value) > published.tolerance * abs(
            published.value
        ):
            missed.append(f"{published.what}: {number(found)}, published {number(published.value)}")
    return missed


def _ours(published: Published, comparison: Comparison) -> tuple[float | None, bool]:
    """Our number, the mean over the runs that it is about, and whether a stand-in is in it."""
    values, stand_in = [], False
    pairs = list(zip(comparison.variants, comparison.runs, strict=True))
    for variant, run in pairs:
        if not _is_of(variant, run, published.where):
            continue
        value = measures.find(published.measure, [run]).of(run)
        if value is None:
            continue
        if published.against:
            other = _partner(variant, published.against, pairs)
            base = None if other is None else measures.find(published.measure, [other]).of(other)
            if not base:
                continue
            value = value / base - 1
        values.append(value)
        stand_in = stand_in or bool(run.provenance.workload.stand_in)
    return (sum(values) / len(values) if values else None), stand_in


def _is_of(variant: Mapping[str, str], run: Result, where: Mapping[str, Any]) -> bool:
    """Whether a run is one of those; what does not vary is the same in all."""
    for name, values in where.items():
        if name in variant:
            several = values if isinstance(values, list) else [values]
            if not any(same_value(variant[name], value) for value in several):
                return False
    return True


def _partner(
    variant: Mapping[str, str],
    against: Mapping[str, Any],
    pairs: Sequence[tuple[Mapping[str, str], Result]],
) -> Result | None:
    """The run that differs only in what it is compared against."""
    for other, run in pairs:
        same = all(other[name] == value for name, value in variant.items() if name not in against)
        if same and all(same_value(other.get(name, ""), value) for name, value in against.items()):
            return run
    return None


def _plots(experiment: Experiment, comparison: Comparison) -> Iterator[Plot]:
    """The plots of the file, each with the numbers that were published of its measure."""
    varied = comparison.varied
    for plot, keys in zip(experiment.plots, experiment.data.get("plots", ()), strict=True):
        points = []
        if keys.get("published", True):
            for published in experiment.published:
                of_it = published.measure == plot.measure and not published.against
                at = {name: str(value) for name, value in published.where.items() if name in varied}
                if of_it and published.value is not None and at:
                    points.append(Point(at, published.value, published.source or published.what))
        yield plot._replace(points=points)


def save(report: Report, page: Path) -> None:
    """Writes the report as a page."""
    from floatgate import report as pages

    pages.save(report, page)


def table_text(table: Table) -> str:
    """A table as text: what | paper | ours | difference | verdict, and below it what rows note.

    >>> rows = [Finding("greedy", "", 2.6, 2.613), Finding("x", "", "y", 1, note="by eye")]
    >>> print(table_text(Table("WAF", rows)))
    WAF
               paper    ours   difference      verdict
      greedy   2.600   2.613       +0.5 %   reproduced
      x (1)        y       1
      (1) by eye
    """
    rows = [("", "paper", "ours", "difference", "verdict")]
    notes: dict[str, int] = {}
    for row in table.rows:
        mark = " [stand-in]" if row.stand_in else ""
        if row.note:
            mark += f" ({notes.setdefault(row.note, len(notes) + 1)})"
        rows.append(
            (
                row.what + mark,
                _shown(row.published, row.unit),
                _shown(row.ours, row.unit),
                _difference(row),
                verdict(row),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = [
        f"  {row[0]:<{widths[0]}}  "
        + "  ".join(f"{cell:>{width + 1}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    below = [
        line
        for note, i in notes.items()
        for line in wrap(f"({i}) {note}", 78, initial_indent="  ", subsequent_indent="      ")
    ]
    return "\n".join([table.title, *(line.rstrip() for line in lines), *below])


def _shown(value: float | str | None, unit: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    factor, words = UNITS.get(unit, (1.0, f" {unit}" if unit else ""))
    scaled = value * factor
    text = f"{scaled:.3f}" if abs(scaled) < 10 and scaled % 1 else number(scaled)
    return f"{text}{words}"


def _difference(row: Finding) -> str:
    if not isinstance(row.published, int | float) or not isinstance(row.ours, int | float):
        return ""
    if row.unit == "share":
        return f"{100 * (row.ours - row.published):+.1f} points"
    if not row.published:
        return ""
    return f"{100 * (row.ours / row.published - 1):+.1f} %"

"""What was published beside what came out: the tables and plots of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from statistics import fmean, median
from textwrap import wrap
from typing import Any, NamedTuple

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
    rows = findings(experiment, comparison)
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


class Taken(NamedTuple):
    """A run that a claim takes, with all that it carries: every axis of its experiment."""

    names: Mapping[str, str]
    run: Result

    @property
    def stand_in(self) -> bool:
        """Whether a stand-in of a trace, or assumed numbers, are in its workload."""
        workload = self.run.provenance.workload
        return bool(workload.stand_in) or any("assumed" in note for note in workload.notes)


class Evidence:
    """The runs of an experiment by what they carry, never by what they lack."""

    def __init__(self, experiment: Experiment, comparison: Comparison) -> None:
        # A comparison leaves out what is the same for all of its runs.
        common: dict[str, str] = {}
        for planned in experiment.planned():
            for name, value in planned.names.items():
                if name not in comparison.varied:
                    common.setdefault(name, value)
        pairs = zip(comparison.variants, comparison.runs, strict=True)
        self.runs = [Taken(common | names, run) for names, run in pairs]

    def of(self, where: Mapping[str, Any]) -> list[Taken]:
        """The runs that carry all of it; a value may be a list of those to take."""
        return [taken for taken in self.runs if _carries(taken.names, where)]

    def beside(self, taken: Taken, against: Mapping[str, Any]) -> Taken | None:
        """The run that differs in this alone."""
        same = {name: value for name, value in taken.names.items() if name not in against}
        return next(
            (other for other in self.of(against) if same.items() <= other.names.items()), None
        )

    def findings(self, claims: Iterable[Published]) -> list[Finding]:
        """The rows of several claims."""
        return [row for claim in claims for row in self.finding(claim)]

    def finding(self, claim: Published) -> Iterator[Finding]:
        """Rows for a claim: one, or one for real traces and one for stand-ins if it takes both."""
        if claim.text:
            yield Finding(claim.what, claim.source, claim.text, None, note=claim.note)
            return
        taken = self.of(claim.where)
        both = {each.stand_in for each in taken}
        for doubt in sorted(both) or [False]:
            group = f", {'stand-ins' if doubt else 'real traces'}" if len(both) > 1 else ""
            ours, used, notes = self._ours(claim, [t for t in taken if t.stand_in == doubt])
            yield Finding(
                claim.what + group,
                claim.source,
                claim.value,
                ours,
                claim.unit or _unit(claim),
                doubt and bool(used),
                "; ".join(note for note in (claim.note, *notes) if note),
                claim.kind,
                claim.tolerance,
                [each.names for each in used],
            )

    def sheet(
        self,
        title: str,
        where: Mapping[str, Any],
        axes: Sequence[str],
        columns: Mapping[str, Published],
        text: str = "",
        base: Mapping[str, Any] | None = None,
    ) -> Sheet:
        """A row for each setting of the axes, and in each column a claim over its runs.

        A column's own `where` stands above that of its row; runs that carry `base` have no row.
        """
        rows = {}
        for taken in self.of(where):
            if base and base.items() <= taken.names.items():
                continue
            key = tuple(taken.names[axis] for axis in axes)
            mark = " [stand-in]" * (axes[0] == "workload" and taken.stand_in)
            here = {**where, **{axis: taken.names[axis].split(" = ") for axis in axes}}
            cells = (self._cell(claim, {**here, **claim.where}) for claim in columns.values())
            rows[key] = [key[0] + mark, *key[1:], *cells]
        heads = [axis.rpartition(".")[2] for axis in axes]
        return Sheet(title, [*heads, *columns], list(rows.values()), text)

    def _cell(self, claim: Published, where: Mapping[str, Any]) -> str:
        """Our number in words; of real traces and of stand-ins if both are there."""
        found = self.finding(claim._replace(where=where))
        return ", ".join(
            percent(row.ours) if claim.against else measures.UNITS[row.unit].show(row.ours)
            for row in found
            if isinstance(row.ours, float)
        )

    def _ours(
        self, claim: Published, taken: Sequence[Taken]
    ) -> tuple[float | None, list[Taken], list[str]]:
        """Our number, the runs that it rests on, and what is to be said of it."""
        values: list[float] = []
        used: list[Taken] = []
        few = 0
        for each in taken:
            other = self.beside(each, claim.against) if claim.against else None
            if claim.against and other is None:
                continue
            both = [run for run in (each, other) if run is not None]
            if any(_lacks(run, claim.least) for run in both):
                few += 1
                continue
            numbers = [_number(claim, run.run) for run in both]
            value = _formed(claim, numbers)
            if value is not None:
                values.append(value)
                used += both
        notes = (
            [f"to lie within {100 * claim.tolerance:g} %"] if claim.tolerance is not None else []
        )
        if few:
            of = " and ".join(f"{number(n)} of {path}" for path, n in claim.least.items())
            notes.append(f"{few} of {len(taken)} runs have less than {of} and are left out")
        if not values:
            return None, [], notes
        ours = OVER[claim.over](values)
        if claim.span and not claim.span[0] <= ours <= claim.span[1]:
            bounds = f"{number(claim.span[0])} to {number(claim.span[1])}"
            notes.append(f"{number(ours)} came out, which is impossible: it lies within {bounds}")
            return None, [], notes
        return ours, used, notes


OVER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "least": min,
    "most": max,
    "sum": fsum,
}


def _lacks(taken: Taken, least: Mapping[str, float]) -> bool:
    """Whether a run has too little of something."""
    return any((measures.lookup(taken.run, path) or 0) < n for path, n in least.items())


def _number(claim: Published, run: Result) -> float | None:
    if callable(claim.measure):
        return claim.measure(run)
    return measures.find(claim.measure, [run]).of(run)


def _formed(claim: Published, numbers: Sequence[float | None]) -> float | None:
    """The number of a run, or what it is to the other's."""
    ours, *others = numbers
    if ours is None or not others:
        return ours
    (base,) = others
    below = ours if claim.form == "speed-up" else base
    if base is None or not below:
        return None
    if claim.form == "speed-up":
        return base / ours - 1
    return ours / base - (claim.form != "ratio")


def _unit(claim: Published) -> str:
    if not claim.against:
        return ""
    return "x" if claim.form == "ratio" else "share"


def findings(experiment: Experiment, comparison: Comparison) -> list[Finding]:
    """The rows of what an experiment says was published; `ours` is None without its runs."""
    return Evidence(experiment, comparison).findings(experiment.published)


def percent(change: float | None) -> str:
    """A change in words; empty if there is none to tell."""
    return "" if change is None else f"{100 * change:+.1f} %"


def misses(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Published numbers with a tolerance that ours do not keep, in words."""
    return [
        f"{row.what}: {number(row.ours)}, published {number(row.published)}"
        for row in findings(experiment, comparison)
        if row.band is not None
        and isinstance(row.ours, int | float)
        and isinstance(row.published, int | float)
        and abs(row.ours - row.published) > row.band * abs(row.published)
    ]


def _carries(names: Mapping[str, str], where: Mapping[str, Any]) -> bool:
    """Whether a run carries this; one that stands for two equal ones has the names of both."""
    for name, values in where.items():
        labels = names[name].split(" = ") if name in names else []
        several = values if isinstance(values, list | tuple) else [values]
        if not any(same_value(label, value) for label in labels for value in several):
            return False
    return True


def _plots(experiment: Experiment, comparison: Comparison) -> Iterator[Plot]:
    """The plots of the file, each with the numbers that were published of its measure."""
    varied = comparison.varied
    for plot, keys in zip(experiment.plots, experiment.data.get("plots", ()), strict=True):
        points = []
        if keys.get("published", True):
            for published in experiment.published:
                of_it = published.measure == plot.measure and not published.against
                at = {name: str(value) for name, value in published.where.items() if name in varied}
                if of_it and isinstance(published.value, int | float) and at:
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
                shown(row.published, row.unit),
                shown(row.ours, row.unit),
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


def shown(value: float | str | None, unit: str) -> str:
    """A number of a finding as people read it; empty if there is none."""
    if value is None or isinstance(value, str):
        return value or ""
    factor, words = UNITS.get(unit, (1.0, f" {unit}" if unit else ""))
    scaled = value * factor
    text = f"{scaled:.3f}" if 1e-3 <= abs(scaled) < 10 and scaled % 1 else number(scaled)
    return f"{text}{words}"


def _difference(row: Finding) -> str:
    if not isinstance(row.published, int | float) or not isinstance(row.ours, int | float):
        return ""
    if row.unit == "share":
        return f"{100 * (row.ours - row.published):+.1f} points"
    if not row.published:
        return ""
    return f"{100 * (row.ours / row.published - 1):+.1f} %"

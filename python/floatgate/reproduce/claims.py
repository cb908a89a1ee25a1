"""Published numbers beside ours: the tables and plots of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import fsum
from pathlib import Path
from statistics import fmean, median
from textwrap import wrap
from typing import Any, NamedTuple

from floatgate.experiments import Experiment, Published
from floatgate.report.model import Curve, Finding, Plot, Point, Report, Sheet, Table
from floatgate.report.verdicts import judged
from floatgate.result import measures, units
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
    """The report of an experiment: its published numbers, then the findings of an analysis."""
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
    """A run that a claim uses, with its values on every axis of its experiment."""

    names: Mapping[str, str]
    run: Any
    """Its result; None for a run that is only planned."""

    @property
    def stand_in(self) -> bool:
        """Whether its workload contains a stand-in of a trace, or assumed numbers."""
        workload = self.run.provenance.workload
        return bool(workload.stand_in) or any("assumed" in note for note in workload.notes)

    def among(self, comparison: Comparison) -> Mapping[str, str]:
        """Its names except those that are the same for all runs."""
        varied = comparison.varied
        return {name: value for name, value in self.names.items() if name in varied}

    @property
    def marked(self) -> str:
        """The name of its workload, a stand-in marked as one."""
        return self.names["workload"] + " [stand-in]" * self.stand_in


Column = Published | Sequence[Published] | Callable[[Taken], str]
"""A column of a sheet: a claim, claims whose numbers stand side by side, or words of a run."""


class Evidence:
    """The runs of an experiment, found by settings that they have, never by absent ones.

    Without a comparison they are the planned ones, which have no result yet.
    """

    def __init__(self, experiment: Experiment, comparison: Comparison | None) -> None:
        self.comparison = comparison or Comparison([], [], [])
        self.failed: list[Mapping[str, str]] = []
        """The names and values of the runs without a result."""
        planned = [run.names for run in experiment.planned()]
        if comparison is None:
            self.runs = [Taken(names, None) for names in planned]
        else:
            plan = _plan(planned, comparison.varied)
            pairs = zip(comparison.variants, comparison.runs, strict=True)
            self.runs = [Taken(_carried(names, plan), run) for names, run in pairs]
            self.failed = [_carried(each["variant"], plan) for each in comparison.failed]
        self._by: dict[str, dict[str, set[int]]] = {}
        for i, taken in enumerate(self.runs):
            for name, label in taken.names.items():
                for each in _labels(label):
                    self._by.setdefault(name, {}).setdefault(each, set()).add(i)

    def of(self, where: Mapping[str, Any]) -> list[Taken]:
        """The runs with all of these values; a value may be a list of possible ones."""
        found = set(range(len(self.runs)))
        for name, values in where.items():
            several = values if isinstance(values, list | tuple) else [values]
            found &= {
                i
                for label, having in self._by.get(name, {}).items()
                if any(same_value(label, value) for value in several)
                for i in having
            }
        return [self.runs[i] for i in sorted(found)]

    def labels(self, name: str, where: Mapping[str, Any] | None = None) -> list[str]:
        """The values of a numeric setting in some runs, the least first."""
        found = {taken.names[name] for taken in self.of(where or {}) if name in taken.names}
        return sorted(found, key=float)

    def beside(self, taken: Taken, against: Mapping[str, Any]) -> Taken | None:
        """The run that differs only in this."""
        return next(iter(self.of({**taken.names, **against})), None)

    def pairs(self, claim: Published) -> list[tuple[Taken, ...]]:
        """The runs that a claim takes, each with the one that it is compared with."""
        taken = self.of(claim.where)
        if not claim.against:
            return [(each,) for each in taken]
        both = ((each, self.beside(each, claim.against)) for each in taken)
        return [(each, other) for each, other in both if other is not None]

    def groups(self, where: Mapping[str, Any]) -> list[tuple[str, list[str], bool]]:
        """The workloads of such runs, real traces and stand-ins apart: name, workloads, which."""
        found: dict[bool, dict[str, None]] = {False: {}, True: {}}
        for taken in self.of(where):
            found[taken.stand_in][taken.names["workload"]] = None
        names = ((False, "real traces"), (True, "stand-ins"))
        return [(name, list(found[doubt]), doubt) for doubt, name in names if found[doubt]]

    def shown(self, where: Mapping[str, Any], kept: Sequence[str]) -> Comparison:
        """The runs of the comparison with these values, by the remaining names."""
        taken = self.of(where)
        variants = [{name: each.names[name] for name in kept} for each in taken]
        return Comparison([each.run for each in taken], variants, self.comparison.failed)

    def table(self, title: str, claims: Iterable[Published], text: str = "") -> Table:
        """The rows of several claims under a title."""
        return Table(title, self.findings(claims), text)

    def findings(self, claims: Iterable[Published]) -> list[Finding]:
        """The rows of several claims."""
        return [row for claim in claims for row in self.finding(claim)]

    def finding(self, claim: Published) -> Iterator[Finding]:
        """Rows for a claim: one, or one for real traces and one for stand-ins if it takes both."""
        if claim.text:
            yield Finding(
                claim.what, claim.source, claim.text, None, note=claim.note, fact=claim.fact
            )
            return
        pairs = self.pairs(claim)
        both = {taken.stand_in for taken, *_ in pairs}
        for doubt in sorted(both) or [False]:
            group = f", {'stand-ins' if doubt else 'real traces'}" if len(both) > 1 else ""
            ours, used, notes = self._ours(claim, [p for p in pairs if p[0].stand_in == doubt])
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
                fact=claim.fact,
            )

    def values(self, claim: Published) -> list[float]:
        """The number of each run that has one, before they are combined."""
        return [value for value, _ in _each(claim, self.pairs(claim))]

    def sheet(
        self,
        title: str,
        where: Mapping[str, Any],
        axes: Sequence[str] | Mapping[str, str],
        columns: Mapping[str, Column],
        text: str = "",
        base: Mapping[str, Any] | None = None,
    ) -> Sheet:
        """A row for each setting of the axes, and in each column a claim over its runs.

        A column's own `where` overrides that of its row. Runs with the values of `base` have no
        row. Axes may come with the titles of their columns.
        """
        heads = axes if isinstance(axes, Mapping) else {a: a.rpartition(".")[2] for a in axes}
        rows = {}
        for taken in self.of(where):
            if base and base.items() <= taken.names.items():
                continue
            key = tuple(taken.names[axis] for axis in heads)
            if key in rows:
                continue
            mark = " [stand-in]" * (next(iter(heads)) == "workload" and taken.stand_in)
            here = {**where, **{axis: _labels(taken.names[axis]) for axis in heads}}
            cells = (self._cell(column, here, taken) for column in columns.values())
            rows[key] = [key[0] + mark, *key[1:], *cells]
        return Sheet(title, [*heads.values(), *columns], list(rows.values()), text)

    def bars(
        self,
        title: str,
        workloads: Iterable[str],
        by: str,
        claims: Mapping[str, Published],
        *,
        ratio: bool = False,
    ) -> Plot:
        """The measure of claims on each workload, real or marked as a stand-in, as bars."""
        values = []
        for workload, (name, claim) in product(workloads, claims.items()):
            pairs = self.pairs(claim._replace(where={**claim.where, "workload": workload}))
            values += [({"workload": taken.marked, by: name}, value)
                       for value, (taken, *_) in _each(claim, pairs)]  # fmt: skip
        return Plot("values", title, x="workload", by=by, values=values, ratio=ratio)

    def _cell(self, column: Column, where: Mapping[str, Any], taken: Taken) -> str:
        """Our number in words; of real traces and of stand-ins separately if there are both."""
        if isinstance(column, Published):
            found = self.finding(column._replace(where={**where, **column.where}))
            return ", ".join(
                percent(row.ours)
                if column.against and column.form != "ratio"
                else units.UNITS[row.unit].show(row.ours)
                for row in found
                if isinstance(row.ours, float)
            )
        if callable(column):
            return column(taken)
        return " / ".join(filter(None, (self._cell(each, where, taken) for each in column)))

    def _ours(
        self, claim: Published, pairs: Sequence[tuple[Taken, ...]]
    ) -> tuple[float | None, list[Taken], list[str]]:
        """Our number, the runs behind it, and the note about it."""
        found = _each(claim, pairs)
        values = [value for value, _ in found]
        notes = (
            [f"to lie within {100 * claim.tolerance:g} %"] if claim.tolerance is not None else []
        )
        if few := sum(_lacks(each, claim.least) for each in pairs):
            of = " and ".join(f"{number(n)} of {path}" for path, n in claim.least.items())
            notes.append(f"{few} of {len(pairs)} runs have less than {of} and are left out")
        if lost := sum(_is_of(names, claim) for names in self.failed):
            notes.append(f"{lost} of its runs failed and are left out")
        if not values:
            return None, [], notes
        ours = OVER[claim.over](values)
        if claim.span and not claim.span[0] <= ours <= claim.span[1]:
            bounds = f"{number(claim.span[0])} to {number(claim.span[1])}"
            notes.append(
                f"{number(ours)} was simulated, which is impossible: it lies within {bounds}"
            )
            return None, [], notes
        return ours, [taken for _, each in found for taken in each], notes


OVER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "least": min,
    "most": max,
    "sum": fsum,
}


_Plan = Mapping[tuple[str, ...], Mapping[tuple[str, ...], Mapping[str, str]]]


def _plan(planned: Iterable[Mapping[str, str]], varied: Iterable[str]) -> _Plan:
    """Planned runs by their varied settings, and the values of these."""
    plan: dict[tuple[str, ...], dict[tuple[str, ...], Mapping[str, str]]] = {}
    for names in planned:
        keys = tuple(name for name in varied if name in names)
        plan.setdefault(keys, {}).setdefault(tuple(names[key] for key in keys), names)
    return plan


def _carried(variant: Mapping[str, str], plan: _Plan) -> Mapping[str, str]:
    """All values of a run by its plan. If it stands for two equal runs, it has the names of both.

    A comparison leaves out settings that are the same for all of its runs. It shows settings that
    only some runs have for every run.
    """
    for keys, of in plan.items():
        if names := of.get(tuple(variant.get(key, "") for key in keys)):
            return names
    for keys, of in plan.items():
        own = {key: variant.get(key, "") for key in keys}
        for values, names in of.items():
            if all(v in _labels(label) for v, label in zip(values, own.values(), strict=True)):
                return {**names, **own}
    return variant


def _labels(label: str) -> Sequence[str]:
    """A run that stands for two equal ones has the names of both.

    Other names may contain the same sign.
    """
    return label, *label.split(" = ")


def _is_of(names: Mapping[str, str], claim: Published) -> bool:
    """Whether a claim uses runs with these names, or compares with them."""
    return any(
        all(
            any(same_value(label, one) for label in _labels(names.get(name, "")) for one in several)
            for name, value in where.items()
            for several in [value if isinstance(value, list | tuple) else [value]]
        )
        for where in (claim.where, {**claim.where, **claim.against})
    )


def _each(
    claim: Published, pairs: Iterable[tuple[Taken, ...]]
) -> list[tuple[float, tuple[Taken, ...]]]:
    """The measure of the claim in each run that has enough requests for it."""
    enough = (each for each in pairs if not _lacks(each, claim.least))
    formed = ((_formed(claim, [_number(claim, t.run) for t in each]), each) for each in enough)
    return [(value, each) for value, each in formed if value is not None]


def _lacks(taken: Iterable[Taken], least: Mapping[str, float]) -> bool:
    """Whether one of these runs is below a minimum of the claim."""
    return any(
        (measures.lookup(each.run, path) or 0) < n for each in taken for path, n in least.items()
    )


def _number(claim: Published, run: Result) -> float | None:
    if callable(claim.measure):
        return claim.measure(run)
    return measures.find(claim.measure, [run]).of(run)


def _formed(claim: Published, numbers: Sequence[float | None]) -> float | None:
    """The number of a run, or its ratio or difference to the other's."""
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
    """The rows of the published numbers of an experiment; `ours` is None without its runs."""
    return Evidence(experiment, comparison).findings(experiment.published)


def numbers(tables: Iterable[Table], begins: str = "") -> dict[str, float]:
    """Our numbers, by their subject."""
    rows = (row for table in tables for row in table.rows if row.what.startswith(begins))
    return {row.what: float(row.ours) for row in rows if isinstance(row.ours, int | float)}


Measure = Callable[[Result], float | None]


def column(measure: str | Measure, unit: str = "", **more: Any) -> Published:
    """The value of a column of a sheet for its runs: a claim without words."""
    return Published("", measure, unit=unit, **more)


def quotient(above: str | Measure, below: str | Measure) -> Measure:
    """A measure divided by another (paths or measures); None if there is no divisor."""

    def of(run: Result) -> float | None:
        up, down = (m(run) if callable(m) else measures.lookup(run, m) for m in (above, below))
        return float(up / down) if up is not None and down else None

    return of


def curve(name: str, xs: Sequence[float], of: Callable[[Any], float]) -> Curve:
    """A line through the values of a function."""
    return Curve(name, xs, [of(x) for x in xs])


def percent(change: float | None) -> str:
    """A change in words; empty if there is none."""
    return "" if change is None else f"{100 * change:+.1f} %"


def misses(experiment: Experiment, comparison: Comparison) -> list[str]:
    """Published numbers with a tolerance that ours exceed, in words."""
    return beyond(findings(experiment, comparison))


def beyond(rows: Iterable[Finding]) -> list[str]:
    """The rows with a band that our number exceeds, in words."""
    return [
        miss(row)
        for row in rows
        if row.band is not None
        and isinstance(row.ours, int | float)
        and isinstance(row.published, int | float)
        and abs(row.ours - row.published) > row.band * abs(row.published)
    ]


def miss(row: Finding) -> str:
    """A number outside its expected range, in words."""
    return f"{row.what}: {shown(row.ours, row.unit)}, published {shown(row.published, row.unit)}"


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
    """A table as text: what | paper | ours | difference | verdict, and below it the notes of rows.

    >>> rows = [Finding("greedy", "", 2.6, 2.613), Finding("x", "", "y", 1, note="by eye")]
    >>> print(table_text(Table("WAF", rows)))
    WAF
               paper    ours   difference      verdict
      greedy   2.600   2.613       +0.5 %   reproduced
      x (1)        y       1                  in words
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
                judged(row),
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

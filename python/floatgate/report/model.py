"""The content of a report, before it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from floatgate.result.comparison import Comparison


class Finding(NamedTuple):
    """One row of a table that compares published numbers with ours.

    `where` is the place in the publication (`Table 2`, `Fig. 7`). A statement that is not a number
    is a text. `unit` is one of the units of `floatgate.result.measures`, and empty for plain
    numbers. `stand_in` marks results from stand-ins of traces that are not at hand. `kind` is one
    of `floatgate.report.verdicts.KINDS`. `band` is the greatest difference between ours and the
    published number, as a share of it: see `floatgate.report.verdicts`.

    Rows of one `fact` show one number or relation of the publication under several readings.
    Without a fact a row is one. `change` names the change of policy that turns the row to
    `differs`. `runs` are the names of the runs that ours was measured by. `by` names other sources,
    and its first name is their kind: a life, a bench, a chip of the library, the description of a
    workload, its demand, or a formula.
    """

    what: str
    where: str
    published: float | str | None
    ours: float | str | None
    unit: str = ""
    stand_in: bool = False
    note: str = ""
    kind: str = "output"
    band: float | None = None
    runs: Sequence[Mapping[str, str]] = ()
    by: Sequence[Mapping[str, str]] = ()
    fact: str = ""
    change: str = ""


class Table(NamedTuple):
    """Findings under one title, with some sentences ahead of them."""

    title: str
    rows: Sequence[Finding]
    text: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table of a report's own: a row for each thing, in words as they are to be read.

    Every row has a cell for each column, which may be empty.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), f"{self.title}: {row} under {self.columns}"

    def without_empty_columns(self) -> Sheet:
        """The same without columns that are empty in every row."""
        kept = [i for i in range(len(self.columns)) if i == 0 or any(row[i] for row in self.rows)]
        rows = [[row[i] for i in kept] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in kept], rows=rows)


class Point(NamedTuple):
    """A published number, and its place in a plot: the varied values, as in a comparison."""

    at: Mapping[str, str]
    value: float
    source: str


class Curve(NamedTuple):
    """A line of a report's own: its name, and its points."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]


class Plot(NamedTuple):
    """A plot of the runs of a report.

    `kind` is one of `floatgate.report.KINDS`. `measure` names a number of a result: a measure by
    its short name, or the path to it with dots. `x` and `by` are names of varied settings: along
    the axis, and by colour. `points` are drawn next to ours. A plot of the kind `values` has its
    own numbers in place of a measure of the runs, and `measure` is the title of its axis. The same
    holds for the kind `curves`. There `x` is the title of the other axis, and `log` names the axes
    that are logarithmic: `"x"`, `"y"` or `"xy"`. `ratio` marks own numbers as factors. A line then
    shows equality, as for measures that are factors.
    """

    kind: str
    title: str = ""
    measure: str | None = None
    x: str | None = None
    by: str | None = None
    points: Sequence[Point] = ()
    values: Sequence[tuple[Mapping[str, str], float]] = ()
    curves: Sequence[Curve] = ()
    log: str = ""
    ratio: bool = False


class Report(NamedTuple):
    """A page: prose, tables, plots and sheets over the runs of a comparison, then these runs.

    `measures` names numbers of the runs that come before the usual ones: by a short name, or the
    path in the result with dots. `says` is the main result, in a sentence or two; it comes first.
    `doubt` is the greatest expected error of stand-ins.
    """

    title: str
    runs: Comparison
    prose: Sequence[str] = ()
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    sheets: Sequence[Sheet] = ()
    measures: Sequence[str] = ()
    says: str = ""
    doubt: str = ""


KINDS = {
    "bars": "a measure as bars: for each run, or by `x` in the colours of `by`",
    "lines": "a measure along `x`, which has numbers, a line for each value of `by`",
    "cdf": "the tail of latencies",
    "percentiles": "latency from p50 to p99.99",
    "time": "throughput, write amplification and latency over the drive's time",
    "wear": "how erases are spread over the blocks",
    "causes": "mean latency by cause",
    "sources": "flash operations by source",
    "levels": "flash operations by cost level",
    "values": "numbers of the report's own, as bars by `x` in the colours of `by`",
    "curves": "numbers of the report's own, as lines",
}
"""The kinds of plots, each with its content in words."""

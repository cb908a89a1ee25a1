"""Pages of results: what was published beside what came out here, plots, and the runs.

    >>> from floatgate import report
    >>> print(*report.KINDS)
    bars lines cdf percentiles time wear causes sources levels values curves

`load` reads stored runs, `save` writes a `Report` about them as one HTML file, and `save_figures`
its plots as files for a publication.
"""

from __future__ import annotations

import os
from pathlib import Path

from floatgate.report.load import load
from floatgate.report.model import Finding, Plot, Point, Report, Sheet, Table
from floatgate.result.comparison import Comparison

SHAPES_RESULTS = False

KINDS = {
    "bars": "a measure as bars: for each run, or by `x` in the colours of `by`",
    "lines": "a measure along `x`, which has numbers, a line for each value of `by`",
    "cdf": "the distribution of latencies",
    "percentiles": "latency from p50 to p99.99",
    "time": "throughput, write amplification and latency over the drive's time",
    "wear": "how erases are spread over the blocks",
    "causes": "mean latency by cause",
    "sources": "flash operations by who wanted them",
    "levels": "flash operations by cost level",
    "values": "numbers of the report's own, as bars by `x` in the colours of `by`",
    "curves": "numbers of the report's own, as lines",
}
"""The kinds of plots, each with what it shows."""

FORMATS = ("svg", "pdf")
"""What figures can be."""


def of(comparison: Comparison, title: str | None = None) -> Report:
    """The report of a comparison that says no more than its runs do."""
    from floatgate.report.page import usual_title

    return Report(title or usual_title(comparison), comparison)


def save(report: Report, path: str | os.PathLike[str]) -> Path:
    """Writes the page; the file appears whole or not at all. Equal reports give equal bytes.

    Raises:
        InputError: A package of the extra `report` is missing, the place is no file's, there are
            no runs, or a plot names what is not there.
    """
    from floatgate import pages
    from floatgate.report.page import html

    path = Path(path)
    pages.check(path)
    return pages.write(path, html(report))


def save_figures(report: Report, folder: str | os.PathLike[str], format: str = "svg") -> list[Path]:
    """Writes each plot as a file of its own, for a column of 3.3 inches, and returns the files.

    Args:
        report: What has the plots.
        folder: Where they go; it is made if it is not there.
        format: `svg` or `pdf`.

    Raises:
        InputError: As for `save`, or the format is none of them.
    """
    from floatgate.report import figures

    return figures.save(report, Path(folder), format)


__all__ = [
    "FORMATS",
    "KINDS",
    "Comparison",
    "Finding",
    "Plot",
    "Point",
    "Report",
    "Sheet",
    "Table",
    "load",
    "of",
    "save",
    "save_figures",
]

"""Pages of results: published and simulated values, plots, and the runs.

    >>> from floatgate import report
    >>> print(*report.KINDS)
    bars lines cdf percentiles time wear causes sources levels values curves

`load` reads stored runs, `save` writes a `Report` about them as one HTML file, and `save_figures`
its plots as files for a publication.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from floatgate import pages
from floatgate.pages.server import Server
from floatgate.report import figures, live
from floatgate.report.figures import FORMATS
from floatgate.report.model import KINDS, Finding, Plot, Point, Report, Sheet, Table
from floatgate.report.page import html, usual_title
from floatgate.result.comparison import Comparison
from floatgate.result.load import load

SHAPES_RESULTS = False


def of(comparison: Comparison, title: str | None = None) -> Report:
    """The report of a comparison, without any text of its own."""
    return Report(title or usual_title(comparison), comparison)


def save(report: Report, path: str | os.PathLike[str]) -> Path:
    """Writes the page. The file appears whole or not at all. Equal reports give equal bytes.

    Raises:
        InputError: A package of the extra `report` is missing, the path cannot be a file, there are
            no runs, or a plot names an unknown value.
    """
    path = Path(path)
    pages.check(path)
    return pages.write(path, html(report))


def save_figures(
    report: Report,
    folder: str | os.PathLike[str],
    format: str = "svg",
    *,
    only: Sequence[str] = (),
    columns: int = 1,
) -> list[Path]:
    """Writes plots as files of their own for a publication, and returns the files.

    Args:
        report: The report with the plots.
        folder: The folder of the files; it is made if necessary.
        format: `svg` or `pdf`.
        only: Which ones, as their files are called without number and format
            (`write-amplification`); by default all.
        columns: How wide they are, 1 for 3.5 inches and 2 for 7.2 inches.

    Raises:
        InputError: As for `save`, or the format is unknown, or a name is not that of a plot.
    """
    return figures.save(report, Path(folder), format, only, columns)


def serve(folders: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Server:
    """Serves a page of the results in or below folders, including those that come while it is open.

    Only this machine can open it, at the `address` of the returned page; it ends with `with
    serve(...) as page:` or `page.close()`.

    Raises:
        InputError: A package of the extra `report` is missing.
    """
    given = [folders] if isinstance(folders, str | os.PathLike) else folders
    return live.Live([Path(folder) for folder in given]).serve()


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
    "serve",
]

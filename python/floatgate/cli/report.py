"""`floatgate report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from floatgate.cli.declare import Argument, option
from floatgate.hints import hint
from floatgate.mistakes import IncompleteError, UnknownNameError


def report(
    results: Annotated[
        list[Path],
        Argument(
            metavar="RESULT...",
            help="The folder of a run, a folder of runs as `compare` leaves it, or a result.json; "
            "or several of them.",
        ),
    ],
    out: Annotated[Path, option("--out", "-o", metavar="FILE", help="The page (HTML).")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None,
        option(metavar="TEXT", help="By default the drive, the workload and the varied settings."),
    ] = None,
    figures: Annotated[
        Path | None,
        option(metavar="DIR", help="Also write each plot as a file for a publication."),
    ] = None,
    figure: Annotated[
        list[str] | None,
        option(
            "--figure",
            metavar="NAME",
            help="Only this plot, as its file is called without number: write-amplification. "
            "Repeatable.",
        ),
    ] = None,
    columns: Annotated[
        int | None,
        option(metavar="N", help="The width of these files: 1 column (3.5 in) or 2 (7.2 in)."),
    ] = None,
    format: Annotated[
        str | None, option(metavar="NAME", help="The format of these files: svg or pdf.")
    ] = None,
) -> None:
    """Write stored results as one page that needs no network: plots, tables, configuration.

    Any two runs can be compared in the page.
    """
    from floatgate import pages
    from floatgate import report as reports

    pages.check(out)
    if figures is None and (figure or columns is not None or format is not None):
        raise IncompleteError("--figure, --columns and --format are for files: add --figures DIR")
    if format is not None and format not in reports.FORMATS:
        said = hint(format, reports.FORMATS)
        raise UnknownNameError(f"--format: `{format}` is not a format of figures; {said}")
    made = reports.of(reports.load(results), title)
    files = []
    if figures is not None:
        files = reports.save_figures(
            made,
            figures,
            format or "svg",
            only=figure or (),
            columns=1 if columns is None else columns,
        )
    print(f"Page: {reports.save(made, out)}")
    if figures is not None:
        print(f"Figures: {len(files)} in {figures}")

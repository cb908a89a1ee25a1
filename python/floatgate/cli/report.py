"""`floatgate report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from floatgate import InputError
from floatgate.cli.declare import Argument, option


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
        option(metavar="TEXT", help="By default the drive, the workload and what varied."),
    ] = None,
    figures: Annotated[
        Path | None,
        option(metavar="DIR", help="Also write each plot as a file for a publication."),
    ] = None,
    format: Annotated[
        str, option(metavar="NAME", help="What these files are: svg or pdf.")
    ] = "svg",
) -> None:
    """Write stored results as one page that needs no network: plots, tables, configuration.

    Any two runs can be compared in the page.
    """
    from floatgate import pages
    from floatgate import report as reports

    pages.check(out)
    if format not in reports.FORMATS:
        known = " and ".join(reports.FORMATS)
        raise InputError(f"--format: `{format}` is no format of figures; there are {known}")
    made = reports.of(reports.load(results), title)
    files = reports.save_figures(made, figures, format) if figures is not None else []
    print(f"Page: {reports.save(made, out)}")
    if figures is not None:
        print(f"Figures: {len(files)} in {figures}")

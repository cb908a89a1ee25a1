"""`floatgate view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from floatgate.cli.declare import Argument, option


def view(
    result: Annotated[
        Path,
        Argument(metavar="RESULT", help="The folder of a run that was stored with `--snapshots`."),
    ],
    out: Annotated[Path, option("--out", "-o", metavar="FILE", help="The page (HTML).")] = Path(
        "view.html"
    ),
) -> None:
    """Write the picture of a run's drive over time as one page that needs no network.

    It shows every block (valid, invalid and free pages, wear, reads, mode), and how busy dies and
    channels were, at every instant that was stored.
    """
    from floatgate.pictures import view as write

    print(f"Page: {write(result, out)}")

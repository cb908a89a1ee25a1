"""What the tests of single reproductions share."""

import pytest

from floatgate.report.model import Finding, Sheet
from floatgate.reproduce.runner import Reproduction, reproduce


def quick(name: str, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The quick form without any trace at hand."""
    nothing = tmp_path_factory.mktemp("no-traces")
    return reproduce(name, quick=True, traces=nothing, out=nothing / "out", workers=2)


def rows(made: Reproduction, title: str) -> dict[str, Finding]:
    """The rows of the one table whose title begins so, by what they are about."""
    (table,) = (table for table in made.report.tables if table.title.startswith(title))
    assert table.rows
    return {row.what: row for row in table.rows}


def row(made: Reproduction, title: str, what: str) -> Finding:
    """The one row of such a table that begins so."""
    (found,) = (row for name, row in rows(made, title).items() if name.startswith(what))
    return found


def sheet(made: Reproduction, title: str) -> Sheet:
    """The one sheet whose title begins so."""
    (found,) = (sheet for sheet in made.report.sheets if sheet.title.startswith(title))
    return found

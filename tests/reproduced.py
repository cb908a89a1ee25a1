"""Checks that the tests of single reproductions share."""

import json
import sys
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from floatgate.report.model import Finding, Sheet
from floatgate.report.verdicts import counts, headline
from floatgate.reproduce.runner import MEASURED, Reproduction, known, prepared, reproduce, verdicts
from walk import not_carried

sys.path.append(str(Path(__file__).parent.parent / "scripts"))

import papers

__all__ = ["not_carried", "papers", "quick", "recorded", "redirected", "row", "rows", "sheet"]


def quick(name: str, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The quick form without any trace at hand; its claims rest on the runs they name."""
    nothing = tmp_path_factory.mktemp("no-traces")
    # Apart from it: a study may make traces, which would be found there.
    out = tmp_path_factory.mktemp("made") / "out"
    made = reproduce(name, quick=True, traces=nothing, out=out, workers=2)
    came_out = counts(made.report.tables)
    stored_ = verdicts()[name]["quick"]
    assert came_out == stored_, f"`make papers` renews what is stored: {came_out}"
    stored = papers.kept().get(name)
    if stored:
        known_ = {(row["table"], row["where"], row["what"]) for row in map(_whole, stored["rows"])}
        here = {(row["table"], row["where"], row["what"])
                for row in map(_whole, papers.rows(made.report.tables))}  # fmt: skip
        new = [*here - known_]
        assert not new, f"run `python scripts/papers.py --full {name}`: {new}"
    first = headline(made.report)
    page = " ".join(unescape(made.page.read_text()).split())
    assert all(first), "the page begins with its verdicts and what matters"
    assert f"<b>{first[0]}</b> {first[1]}" in page
    plan = prepared(known()[name].quick(), nothing, out)
    assert list(not_carried(made, plan)) == []
    return made


def _whole(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored row with the usual values of absent keys."""
    return {"where": "", "what": ""} | dict(row)


def recorded(made: Reproduction) -> list[dict[str, Any]]:
    """The measurements of the claims besides runs, as they are on the disk."""
    found: list[dict[str, Any]] = json.loads((made.page.parent / MEASURED).read_text())
    return found


def redirected(
    name: str, made: Reproduction, one: Mapping[str, str], other: Mapping[str, str]
) -> list[str]:
    """The complaints about claims if two measurements have changed their places."""
    place = {json.dumps(one): other, json.dumps(other): one}
    swapped = [
        each | {"names": place.get(json.dumps(each["names"]), each["names"])}
        for each in recorded(made)
    ]
    file = made.page.parent / MEASURED
    text = file.read_text()
    try:
        file.write_text(json.dumps(swapped))
        return list(not_carried(made, known()[name].quick()))
    finally:
        file.write_text(text)


def rows(made: Reproduction, title: str) -> dict[str, Finding]:
    """The rows of the one table whose title begins so, by their subjects."""
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

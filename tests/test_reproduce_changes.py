"""Each change of policy that a study lists turns the rows that name it to `differs`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import floatgate.report
from floatgate.report.model import Finding, Report
from floatgate.report.verdicts import DIFFERS, DIRECTION, REPRODUCED, verdict
from floatgate.reproduce.changes import Change, changes_of
from floatgate.reproduce.runner import Reproduction, known, reproduce

CHANGES = [(name, change) for name, each in known().items() for change in changes_of(each.folder)]
"""Of all studies."""

MUST = ("agcr", "mango", "read-disturb", "ready", "wom")
"""Studies in which some change undoes what is reproduced."""


@pytest.fixture
def no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are not drawn: only rows count."""

    def save(report: Report, path: Path) -> None:
        path.write_text(report.title)

    monkeypatch.setattr(floatgate.report, "save", save, raising=False)


def rows(made: Reproduction) -> dict[tuple[str, str], Finding]:
    """Rows by table and name."""
    return {(table.title, row.what): row for table in made.report.tables for row in table.rows}


def unturned(
    name: str, change: Change, tmp_path: Path, *, quick: bool
) -> Iterator[tuple[str, str, float | str | None]]:
    """Rows that name the change and agree with the paper all the same."""
    nothing = tmp_path / "no-traces"
    nothing.mkdir()
    # Runs that the change leaves alone are made once.
    out = tmp_path / "out"
    plain = rows(reproduce(name, quick=quick, traces=nothing, out=out, workers=2))
    other = rows(
        reproduce(name, quick=quick, traces=nothing, out=out, workers=2, policies=change.policies)
    )
    mine = {key: row for key, row in plain.items() if row.change == change.name}
    assert mine or (quick and not change.turns), f"{change.name} turns nothing"
    for key, row in mine.items():
        assert verdict(row) in (REPRODUCED, DIRECTION)
        if verdict(other[key]) != DIFFERS:
            yield *key, other[key].ours


@pytest.mark.parametrize(
    ("name", "change"),
    [case for case in CHANGES if case[1].turns],
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "-"),
)
@pytest.mark.usefixtures("no_pages")
def test_a_change_turns_the_rows_of_the_quick_form(
    name: str, change: Change, tmp_path: Path
) -> None:
    assert list(unturned(name, change, tmp_path, quick=True)) == []


@pytest.mark.verify
@pytest.mark.parametrize(
    ("name", "change"),
    CHANGES,
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "-"),
)
@pytest.mark.usefixtures("no_pages")
def test_a_change_turns_the_rows_of_the_full_form(
    name: str, change: Change, tmp_path: Path
) -> None:
    assert list(unturned(name, change, tmp_path, quick=False)) == []


def test_policies_of_five_studies_are_changed_and_named_rows_exist() -> None:
    assert {name for name, change in CHANGES if change.turns} >= set(MUST)
    for name, change in CHANGES:
        own = [c for n, c in CHANGES if n == name and c is not change]
        assert change.name not in {c.name for c in own}, "a name says which change"
        assert change.turns or change.turns_full

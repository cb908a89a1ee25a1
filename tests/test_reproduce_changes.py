"""Each change of policy that a study lists turns the rows that name it to `differs`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import floatgate.report
from floatgate.report.model import Finding, Report
from floatgate.report.verdicts import DIFFERS, DIRECTION, REPRODUCED, verdict
from floatgate.reproduce.changes import Change, changes_of
from floatgate.reproduce.runner import known, reproduce

CHANGES = [(name, change) for name, each in known().items() for change in changes_of(each.folder)]
"""Of all studies."""

Rows = Mapping[tuple[str, str], Finding]
Plain = Callable[[str, bool], tuple[Path, Rows]]

MUST = ("agcr", "mango", "read-disturb", "ready", "wom")
"""Studies in which some change undoes the reproduced result."""


@pytest.fixture
def no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are not drawn: only rows count."""

    def save(report: Report, path: Path) -> None:
        path.write_text(report.title)

    monkeypatch.setattr(floatgate.report, "save", save, raising=False)
    monkeypatch.delenv("FLOATGATE_TRACES", raising=False)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Makes a form of a study once, without a change: its folder and its rows."""
    made: dict[tuple[str, bool], tuple[Path, Rows]] = {}

    def of(name: str, quick: bool) -> tuple[Path, Rows]:
        if (name, quick) not in made:
            folder = tmp_path_factory.mktemp(name)
            (folder / "no-traces").mkdir()
            made[name, quick] = folder, rows_of(name, folder, quick=quick)
        return made[name, quick]

    return of


def rows_of(
    name: str, folder: Path, policies: Mapping[str, str] | None = None, *, quick: bool
) -> Rows:
    """Rows by table and name. Runs that a change leaves alone are made once in a folder."""
    made = reproduce(name, quick=quick, traces=folder / "no-traces", out=folder / "out", workers=2,
                     policies=policies)  # fmt: skip
    return {(table.title, row.what): row for table in made.report.tables for row in table.rows}


def unturned(
    plain: Plain, name: str, change: Change, *, quick: bool
) -> Iterator[tuple[str, str, float | str | None]]:
    """Rows that name the change and agree with the paper all the same."""
    folder, before = plain(name, quick)
    after = rows_of(name, folder, change.policies, quick=quick)
    mine = {key: row for key, row in before.items() if row.change == change.name}
    assert mine, f"{change.name} turns nothing"
    for key, row in mine.items():
        assert verdict(row) in (REPRODUCED, DIRECTION)
        if verdict(after[key]) != DIFFERS:
            yield *key, after[key].ours


@pytest.mark.verify
@pytest.mark.parametrize(
    ("name", "change"),
    [case for case in CHANGES if case[1].turns],
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "-"),
)
@pytest.mark.usefixtures("no_pages")
def test_a_change_turns_the_rows_of_the_quick_form(plain: Plain, name: str, change: Change) -> None:
    assert list(unturned(plain, name, change, quick=True)) == []


@pytest.mark.verify
@pytest.mark.parametrize(
    ("name", "change"),
    CHANGES,
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "-"),
)
@pytest.mark.usefixtures("no_pages")
def test_a_change_turns_the_rows_of_the_full_form(plain: Plain, name: str, change: Change) -> None:
    assert list(unturned(plain, name, change, quick=False)) == []


def test_policies_of_five_studies_are_changed_and_named_rows_exist() -> None:
    assert {name for name, change in CHANGES if change.turns} >= set(MUST)
    for name, change in CHANGES:
        own = [c for n, c in CHANGES if n == name and c is not change]
        assert change.name not in {c.name for c in own}, "a name says which change"
        assert change.turns or change.turns_full

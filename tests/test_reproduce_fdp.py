"""The quick form of `reproduce fdp`."""

import json

import pytest

from floatgate.report.verdicts import DIFFERS, verdict
from floatgate.reproduce.claims import Evidence
from floatgate.reproduce.runner import Reproduction, known
from floatgate.reproduce.studies import fdp
from reproduced import quick, rows, sheet

pytestmark = pytest.mark.verify
"""Its quick form takes 12 s of processor time."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("fdp", tmp_path_factory)


def test_signs_and_bounds_hold(made: Reproduction) -> None:
    checks = [row for table in made.report.tables for row in table.rows if row.kind == "check"]
    assert len(checks) == 10
    assert [row.what for row in checks if verdict(row) == DIFFERS] == []
    assert made.missed == []
    log = [row for row in rows(made, "With FDP").values() if row.what.endswith("the log's handle")]
    assert [row.ours for row in log] == [pytest.approx(1.0, abs=0.005)] * 3


def test_a_relation_that_does_not_hold_is_missed(made: Reproduction) -> None:
    """The runs with FDP and those without change their places."""
    evidence = Evidence(known()["fdp"].quick(), made.report.runs)
    names = {fdp.FDP: fdp.WITHOUT[0], fdp.WITHOUT[0]: fdp.FDP}
    swapped = [
        taken._replace(names={**taken.names, "placement": names.get(p, p)})
        for taken in evidence.runs
        for p in [taken.names.get("placement", "")]
    ]
    evidence.runs = swapped
    evidence._by = {}
    for i, taken in enumerate(swapped):
        for name, label in taken.names.items():
            evidence._by.setdefault(name, {}).setdefault(label, set()).add(i)
    found = [verdict(row) for row in fdp._against_none(evidence).rows]
    assert DIFFERS in found


def test_the_order_of_writes_and_the_firmware_decide_a_number(made: Reproduction) -> None:
    """At one spare: a repeated order costs nothing, and moves apart gain only if passes differ."""
    table = sheet(made, "Random writes")
    spare = table.columns.index("spare 0.127")
    found = {(row[0], row[1]): float(row[spare]) for row in table.rows}
    assert found["shared", "repeated"] == found["sepgc", "repeated"] == 1.0
    assert found["sepgc", "redrawn"] < 0.75 * found["shared", "redrawn"]
    assert found["sepgc", "uniform"] == pytest.approx(found["shared", "uniform"], rel=0.05)


def test_curves_over_drive_writes_add_up_to_the_whole_run(made: Reproduction) -> None:
    folder = made.page.parent
    listed = json.loads((folder / "sweep.json").read_text())["runs"]
    assert listed
    for each in made.report.runs.runs:
        xs, ys = fdp.along(each, steps=8)
        assert sum(ys) / len(ys) == pytest.approx(each.waf, rel=0.002)
        assert xs[-1] > 1
        assert each.folder is not None

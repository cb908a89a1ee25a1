"""`floatgate.physics` against the equations, and `reproduce physics`."""

import math
from typing import Any

import pytest

import floatgate.report
from floatgate.physics import Cell, Recovery, correctable, program_us, read_us, reprogram_wear
from floatgate.report.model import Finding
from floatgate.reproduce.runner import Reproduction, reproduce

CONSTANTS = {"printed": (5.63e-2, 1.0), "fitted": (0.0702, 0.0128)}


@pytest.mark.parametrize("name", CONSTANTS)
def test_cycles_are_where_ready_has_them(name: str) -> None:
    efficiency, onset = CONSTANTS[name]
    for hours in (0.0, 0.5, 2.8, 10.0, 25.0):
        cycles = Recovery(name).achievable_cycles(hours)
        trapped = 2.97e-3 * cycles**0.62 + 2.0e-2 * cycles**0.3
        healed = efficiency * math.log(hours / onset) if hours > onset else 0.0
        assert trapped * (1 - healed) == pytest.approx(0.65, rel=1e-6)


def test_cycles_spread_over_a_life_rest_as_long_as_it_allows() -> None:
    recovery, life = Recovery("fitted"), 5 * 8760.0
    cycles = recovery.sustainable_cycles(life)
    assert recovery.achievable_cycles(life / cycles) == pytest.approx(cycles, rel=1e-6)
    assert recovery.supports(life / cycles)
    assert not recovery.supports(100.0)


def test_costs_are_those_of_agcr() -> None:
    assert [read_us(sensings) for sensings, _ in correctable()] == [70, 170, 310]
    steps = (0.1875, 0.25, 1 / 3)
    assert [round(program_us(step), 9) for step in steps] == [800, 600, 450]


def test_errors_rise_with_all_that_wears() -> None:
    cell = Cell(3, 3000)
    usual: dict[str, Any] = {"cycles": 1000.0, "hours": 100.0, "reads": 1000.0, "step_volts": 0.25}
    rber = cell.rber(2, **usual)
    for what in usual:
        assert cell.rber(2, **usual | {what: 2 * usual[what]}) > rber
    assert cell.rber(0, **usual) < rber < 0.5


def test_data_keep_until_they_have_the_errors_that_are_correctable() -> None:
    cell = Cell(2, 3000)
    hours = cell.retention_limit_hours(correctable=7e-3, cycles=3000)
    worse = max(cell.rber(page, cycles=3000, hours=hours) for page in (0, 1))
    assert worse == pytest.approx(7e-3, rel=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Recovery("both"),
        lambda: Recovery("printed").achievable_cycles(-1.0),
        lambda: Cell(5, 100),
        lambda: Cell(2, 0),
        lambda: Cell(2, 3000).rber(2),
        lambda: Cell(2, 3000).rber(0, cycles=math.nan),
        lambda: Cell(2, 3000).rber(0, step_volts=0.0),
        lambda: reprogram_wear(1.5),
    ],
)
def test_what_no_cell_has_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        wrong()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(floatgate.report, "save", lambda report, path: path.write_text(report.title))
        return reproduce("physics", quick=True, out=tmp_path_factory.mktemp("physics"))


def test_the_equations_and_the_runs_agree(made: Reproduction) -> None:
    assert len(made.report.runs.runs) == 18
    assert made.missed == []


def rows(made: Reproduction, title: str) -> list[Finding]:
    [found] = [list(table.rows) for table in made.report.tables if title in table.title]
    assert found
    return found


def test_every_row_is_given_or_checked(made: Reproduction) -> None:
    kinds = {row.kind for table in made.report.tables for row in table.rows}
    assert kinds == {"input", "check"}
    assert not any("output" in row.note for table in made.report.tables for row in table.rows)


def test_levels_of_agcr_come_out(made: Reproduction) -> None:
    found = rows(made, "AGCR: three cost levels")
    assert len(found) == 6
    for row in found:
        assert row.ours == pytest.approx(row.published), row


def test_a_page_is_drawn(made: Reproduction) -> None:
    text = reproduce("physics", quick=True, out=made.page.parent).page.read_text()
    assert "READY Fig. 1" in text
    assert "raw bit error rate" in text

"""The quick forms of `reproduce mango` and `reproduce wom`, without any trace at hand."""

import json
from pathlib import Path

import pytest

from floatgate.reproduce.runner import Reproduction
from floatgate.reproduce.studies.mango.battery import battery_joules, quantity
from floatgate.reproduce.studies.wom.chips import measured_chips
from floatgate.reproduce.studies.wom.pairs import turned
from floatgate.result.run import Result
from reproduced import quick, row


@pytest.fixture(scope="module")
def mango(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("mango", tmp_path_factory)


@pytest.fixture(scope="module")
def wom(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("wom", tmp_path_factory)


def results(made: Reproduction) -> list[Result]:
    return [
        Result(json.loads(path.read_text())) for path in made.page.parent.glob("[!.]*/result.json")
    ]


def test_urgent_writes_are_quicker_and_at_most_as_much_as_pages_are(mango: Reproduction) -> None:
    found = row(mango, "Figure 12", "swap writes, times")
    # 1.12 ms in the mean and 0.57 ms on a fast page, transfers included.
    assert isinstance(found.ours, float)
    assert 1.1 < found.ours < 1.95
    assert found.published == 1.5
    assert found.stand_in


def test_passing_pages_over_wears(mango: Reproduction) -> None:
    wear = row(mango, "Figure 13", "wear").ours
    assert isinstance(wear, float)
    assert 0 < wear < 1


def test_the_two_states_of_a_netbook_add_up(mango: Reproduction) -> None:
    checked = 0
    for run in results(mango):
        if "switching" not in str(run.provenance.workload.notes) and not any(
            "stretches" in note for note in run.provenance.workload.notes
        ):
            continue
        joules = battery_joules(run)
        # Operations are counted when they are decided, and copies that were dropped are not.
        assert joules.high + joules.low == pytest.approx(run.energy_joules.total, rel=0.02)
        counters = run.policies["page-choice"].counters
        assert 0 < counters["seconds_high"] < counters["seconds"]
        checked += 1
    assert checked >= 8


def test_quantities_have_units() -> None:
    assert quantity("43.25376uJ") == pytest.approx(43.25376e-6)
    assert quantity("2.85ms") == pytest.approx(2.85e-3)
    assert quantity("27.3mW") == pytest.approx(27.3e-3)
    with pytest.raises(ValueError, match="no energy"):
        quantity("12 apples")


def test_the_code_gains_what_the_paper_says(wom: Reproduction) -> None:
    for kind, published in (("MLC", 1.16), ("SLC", 1.33)):
        for what in ("if threes", "the layout"):
            found = row(wom, "Bytes", f"{kind}, {what}")
            assert found.published == published
            assert found.ours == pytest.approx(published, abs=0.008)
    # Every block in its second generation gives the layout's gain; some are erased before.
    runs = [row.ours for row in wom.report.tables[1].rows if row.what.startswith("in a run")]
    assert len(runs) >= 4
    assert all(isinstance(gain, float) and 0.6 < gain < 1.34 for gain in runs)


def test_both_accounts_of_energy(wom: Reproduction) -> None:
    # Half of the cells of plain data turn; of coded data three of twelve, then 4.5 of twelve.
    assert turned() == (0.25, 0.375)
    constant = row(wom, "Figure 14", "mean, constant")
    assert isinstance(constant.ours, float)
    assert constant.ours > 0.05, "with constant energies the code costs"
    for what in ("mean, in proportion", "the same, without"):
        found = row(wom, "Figure 14", what)
        assert isinstance(found.ours, float)
        assert -0.12 < found.ours < 0, "by cells that turn it saves"
    slc = next(chip for chip in measured_chips() if chip.name == "a-slc2")
    # By hand: 63 pages twice and one once, an erase; 0.72 and 0.06 nJ a bit, reads 0.052.
    ours = slc.energy()
    assert ours.plain == pytest.approx((0.72 + 0.06) * 16384e-9, rel=1e-9)
    coded = (127 * 0.72 + 63 * 0.052 + 64 * 0.06) / 85
    assert ours.constant == pytest.approx(coded * 16384e-9, rel=1e-9)


def test_stand_ins_are_marked(mango: Reproduction, wom: Reproduction) -> None:
    rows = [row for table in mango.report.tables for row in table.rows]
    assert len(rows) > 8
    assert all(row.stand_in for row in rows)
    assert "[stand-in]" in Path(mango.page).read_text()
    assert not any(row.stand_in for table in wom.report.tables for row in table.rows)

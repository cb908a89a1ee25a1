"""The quick forms of `reproduce mango` and `reproduce wom`, without any trace at hand."""

import json
from pathlib import Path

import pytest

from floatgate.physics import Cell
from floatgate.reproduce.runner import Reproduction, known
from floatgate.reproduce.studies.gc_laws import fifo, greedy
from floatgate.reproduce.studies.mango.battery import battery_joules, quantity
from floatgate.reproduce.studies.wom.chips import FIRST, measured_chips, turned
from floatgate.result.run import Result
from reproduced import not_carried, quick, row, rows, sheet

of_its_runs = pytest.mark.verify
"""For tests of Mango's runs: its quick form takes 11 s of processor time. The pages that Mango
passes over are tested in `crates/ssd/tests/mango.rs`."""


@pytest.fixture(scope="module")
def mango(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("mango", tmp_path_factory)


@pytest.fixture(scope="module")
def wom(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("wom", tmp_path_factory)


@of_its_runs
def test_claims_rest_on_the_runs_that_they_name(mango: Reproduction, wom: Reproduction) -> None:
    for name, each in (("mango", mango), ("wom", wom)):
        assert list(not_carried(each, known()[name].quick())) == []
        assert any(row.runs for table in each.report.tables for row in table.rows)


def results(made: Reproduction) -> list[Result]:
    return [
        Result(json.loads(path.read_text())) for path in made.page.parent.glob("[!.]*/result.json")
    ]


@of_its_runs
def test_no_mean_takes_a_handful_of_urgent_writes(mango: Reproduction) -> None:
    # DesktopDev is a day of 33 requests a second: its first 10,000 here.
    desktop = [run for run in results(mango) if "desktop-dev" in str(run.provenance.workload.notes)]
    assert len(desktop) > 12
    assert {run.host.all.requests for run in desktop} == {10_000}
    assert min(run.host.high.write.requests for run in desktop) >= 100
    found = rows(mango, "Figure 12")
    assert not any("left out" in row.note for row in found.values())
    best = found["swap writes, latency, best"]
    assert "swap 10 % in desktop" in {name["workload"] for name in best.runs}


@of_its_runs
def test_what_is_said_of_a_netbook_is_set_beside_its_own_joules(mango: Reproduction) -> None:
    """The paper's 3 % is of the whole trace, its 13 % of the battery's share."""
    figure = rows(mango, "Figure 13")
    netbook = [run for run in results(mango) if "stretches" in str(run.provenance.workload.notes)]
    for fill, words in (
        ("full", "full"),
        (0.9, "90 % full"),
        (0.75, "75 % full"),
        (0.5, "50 % full"),
    ):
        pairs: dict[str, dict[str, Result]] = {}
        for run in netbook:
            if run.provenance.config.precondition.fill == fill:
                of_policy = pairs.setdefault(run.provenance.workload.sha256, {})
                params = run.policies["page-choice"].params
                of_policy["baseline" if params["bound"] == 0 else params["gc"]] = run
        assert len(pairs) == 4
        whole, battery = (
            [of(pair["follow"]) / of(pair["baseline"]) - 1 for pair in pairs.values()]
            for of in (lambda run: run.energy_joules.total, lambda run: battery_joules(run).high)
        )
        for what, published, ours in (
            ("energy of the whole trace, mean", -0.03, sum(whole) / 4),
            ("energy on battery, mean", "below 0", sum(battery) / 4),
            ("energy on battery, best", -0.13, min(battery)),
        ):
            found = figure[f"{what}, {words}"]
            assert found.published == published
            assert found.ours == pytest.approx(ours, rel=1e-12)


@of_its_runs
def test_no_fill_has_all_three_published_numbers(mango: Reproduction) -> None:
    """The sheet of load and fill counts what Figure 13 says of the same point."""
    figure = rows(mango, "Figure 13")
    found = sheet(mango, "Netbook: load and fill")
    assert [row[:2] for row in found.rows] == [
        ["full", "1"], ["0.9", "1"], ["0.75", "1"], ["0.5", "1"],
    ]  # fmt: skip
    for point in found.rows:
        words = point[0] if point[0] == "full" else f"{100 * float(point[0]):g} % full"
        near = 0
        for what, published, points, shown in (
            ("energy of the whole trace, mean", -0.03, 0.03, point[2]),
            ("energy on battery, best", -0.13, 0.05, point[3]),
            ("wear, mean", 0.55, 0.05, point[4]),
        ):
            ours = figure[f"{what}, {words}"].ours
            assert isinstance(ours, float)
            assert shown == f"{100 * ours:+.1f} %"
            near += abs(ours - published) <= points
        assert point[5] == str(near)
        assert near < 3


@of_its_runs
def test_urgent_writes_are_quicker_and_at_most_as_much_as_pages_are(mango: Reproduction) -> None:
    found = row(mango, "Figure 12", "swap writes, speed-up")
    # 1.12 ms in the mean and 0.57 ms on a fast page, transfers included.
    assert isinstance(found.ours, float)
    assert 0.1 < found.ours < 0.95
    assert found.published == 0.5
    assert found.stand_in


@of_its_runs
def test_passing_pages_over_wears(mango: Reproduction) -> None:
    wear = [row.ours for what, row in rows(mango, "Figure 13").items() if what.startswith("wear")]
    assert len(wear) == 4
    assert all(isinstance(more, float) and 0 < more < 1 for more in wear)


@of_its_runs
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
    with pytest.raises(ValueError, match="not an energy"):
        quantity("12 apples")


@of_its_runs
def test_the_code_gains_what_the_paper_says(wom: Reproduction) -> None:
    for kind, published in (("MLC", 1.16), ("SLC", 1.33)):
        for what in ("if threes", "the layout"):
            found = row(wom, "Bytes", f"{kind}, {what}")
            assert found.published == published
            assert found.ours == pytest.approx(published, abs=0.008)
    # Every block in its second generation gives the layout's gain; some are erased before.
    drives = rows(wom, "Bytes")
    runs = {what: row.ours for what, row in drives.items() if what.startswith("more in a drive")}
    made = [gain for gain in runs.values() if gain is not None]
    assert (len(runs), len(made)) == (8, 4)
    assert all(isinstance(gain, float) and -0.4 < gain < 0.34 for gain in made)
    assert all(drives[what].kind == "beyond" for what in runs), "the paper claims nothing of drives"
    # Blocks that are written in order are empty when they are reclaimed, as on the paper's chips.
    for name, gain in (("MLC", 0.164), ("SLC", 0.328)):
        found = drives[f"{name}, blocks written in order"]
        assert found.kind == "output"
        assert found.ours == pytest.approx(gain, abs=0.03)
    # A quick drive is as large as a full one: a third of it would give 0.15 less at 0.4 spare.
    assert all(run.provenance.config.geometry["blocks-per-plane"] == 96 for run in results(wom))


@of_its_runs
def test_coded_drives_obey_the_laws_of_plain_ones(wom: Reproduction) -> None:
    """Write amplification and erases of one bit in a cell, and the bound of the storage rate."""
    found = rows(wom, "Laws")

    def of(what: str) -> tuple[float, float]:
        row = found[what]
        assert isinstance(row.published, float)
        assert isinstance(row.ours, float)
        return row.published, row.ours

    for spare in (0.55, 0.65):
        for what in ("WAF", "erases against plain"):
            law, ours = of(f"{what}, spare {spare}")
            assert ours == pytest.approx(law, rel=0.02)
    # By hand: 2150 pages in 43 slots of 93 blocks; 64 pages of a plain block, 85 for each erase.
    coded = greedy(2150 / (43 * 93), 43)
    assert of("WAF, spare 0.65")[0] == pytest.approx(coded, rel=1e-6)
    erases = coded / greedy(2150 / (64 * 93), 64) * 64 / 85
    assert of("erases against plain, spare 0.65")[0] == pytest.approx(erases, rel=1e-6)
    bounds = [row.ours for what, row in found.items() if what.startswith("storage rate")]
    for rate, bound in zip((2 / 3, 0.7729), bounds, strict=True):
        assert isinstance(bound, float)
        assert fifo(bound / rate) / (2 * rate) == pytest.approx(fifo(bound), rel=1e-6)
        assert bound <= 0.6442
    # The storage rates 0.45 and 0.35 lie on both sides of the first bound, 0.405.
    (_, more), (_, fewer) = (of(f"erases against plain, spare {each}") for each in (0.55, 0.65))
    assert fewer < 1 < more


@of_its_runs
def test_every_account_of_energy(wom: Reproduction) -> None:
    # Half of the cells of plain data turn; of coded data three of twelve, then 4.5 of twelve.
    assert turned() == (0.25, 0.375)
    figure = rows(wom, "Figure 14")
    ours = [row.ours for row in figure.values()]
    # By hand from Table 3, in nJ for a bit: programs (fast and slow), erases.
    slc = [(0.72, 0.06), (0.61, 0.067), (0.97, 0.093), (0.47, 0.011), (0.41, 0.025), (1.01, 0.031)]
    mlc = [
        (1.09, 3.31, 0.070), (0.96, 3.30, 0.056), (0.66, 2.86, 0.038), (0.79, 2.84, 0.051),
        (0.46, 2.07, 0.0057),
    ]  # fmt: skip
    printed = [(p + 0.75 * e) / (p + e) for p, e in slc]
    printed += [((2 * f + s) / 3 + e * 6 / 7) / ((f + s) / 2 + e) for f, s, e in mlc]
    dense = [(1.5 * p + 0.75 * e) / (p + e) for p, e in slc]
    dense += [((2 * f + s) * 3 / 7 + e * 6 / 7) / ((f + s) / 2 + e) for f, s, e in mlc]
    for account, changes in zip(ours, (printed, dense), strict=False):
        assert account == pytest.approx(sum(changes) / 11 - 1, abs=1e-9)
    assert ours[0] == pytest.approx(-0.095, abs=5e-4), "as published"
    constant, turning, without = ours[2:]
    assert isinstance(constant, float)
    assert constant > 0.05, "with constant energies the code costs"
    for each in (turning, without):
        assert isinstance(each, float)
        assert -0.12 < each < 0, "by cells that turn it saves"
    chip = next(chip for chip in measured_chips() if chip.name == "a-slc2")
    # By hand: 63 pages twice and one once, an erase; 0.72 and 0.06 nJ a bit, reads 0.052.
    coded = (127 * 0.72 + 63 * 0.052 + 64 * 0.06) / 85
    assert chip.energy()["constant energies"] == pytest.approx(coded / (0.72 + 0.06) - 1, rel=1e-9)


@of_its_runs
def test_levels_alone_make_no_life_of_five_times(wom: Reproduction) -> None:
    found = row(wom, "Figure 15", "MLC chips, measured")
    chip = next(chip for chip in measured_chips() if chip.name == "c-mlc64")
    assert isinstance(found.ours, float)
    longer = found.ours / chip.gain
    cell = Cell(2, 10_000)

    def errors(cycles: float) -> float:
        return cell.rber(0, cycles=cycles) + cell.rber(1, cycles=cycles)

    assert errors(10_000 * longer) == pytest.approx(2 * errors(10_000), rel=1e-3)
    # Levels of both generations, by enumeration, beside random data: none is rarer than half.
    for ones in (sum(w.bit_count() for w in FIRST.values()) / 12, 1 - sum(turned())):
        assert min(ones, 1 - ones) / 0.5 >= 0.5


@of_its_runs
def test_stand_ins_are_marked(mango: Reproduction, wom: Reproduction) -> None:
    rows = [row for table in mango.report.tables for row in table.rows]
    assert len(rows) > 8
    assert all(row.stand_in for row in rows)
    assert "[stand-in]" in Path(mango.page).read_text()
    assert not any(row.stand_in for table in wom.report.tables for row in table.rows)

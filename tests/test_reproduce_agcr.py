"""The quick form of `reproduce agcr`, without any trace at hand."""

import json
from pathlib import Path
from typing import Any

import pytest

import sample
from floatgate import Comparison, Result
from floatgate.reproduce.runner import Reproduction
from floatgate.reproduce.studies.agcr.beyond import beyond
from floatgate.reproduce.studies.agcr.grid import HEADLINE, Runs
from reproduced import quick, row


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("agcr", tmp_path_factory)


def test_idle_drives_show_the_ratios_of_the_costs(made: Reproduction) -> None:
    # Without queues latency is service time: 70 and 310 against 170 us, 450 and 800 against 600.
    reads, writes = row(made, "Figure 1", "reads with"), row(made, "Figure 1", "writes with")
    assert (reads.published, writes.published) == (-0.54, -0.26)
    assert reads.ours == pytest.approx(70 / 170 - 1, abs=0.02)
    assert writes.ours == pytest.approx(450 / 600 - 1, abs=0.02)
    apart = row(made, "Figure 1", "reads, HCW/LCR")
    assert apart.ours == pytest.approx((310 - 70) / 170, abs=0.04)


def test_history_takes_two_bits_a_page(made: Reproduction) -> None:
    found = row(made, "Figure 9", "history and tags")
    assert found.published == 4 * 2**20
    # Rounded down to a byte on the smaller drive.
    assert found.ours == pytest.approx(4 * 2**20, rel=1e-6)


def test_every_number_of_a_stand_in_is_marked(made: Reproduction) -> None:
    rows = [row for table in made.report.tables for row in table.rows]
    assert len(rows) > 20
    alone = [row for row in rows if not row.stand_in]
    assert [row.where for row in alone] == ["3.4"], "all workloads are stand-ins here"
    measured = [row for row in rows if row.where in ("Fig. 1", "Fig. 7", "slides")]
    assert measured
    assert all("may be off by" in row.note for row in measured)
    assert "[stand-in]" in made.page.read_text()


def test_wins_are_what_the_results_say(made: Reproduction, tmp_path: Path) -> None:
    results = {}
    for path in made.page.parent.glob("[!.]*/result.json"):
        run = json.loads(path.read_text())
        cost = run["policies"]["cost"]
        name = run["provenance"]["workload"]["name"].partition(" ")[0]
        if cost["name"] == "conflict" or cost["params"].get("first-write") == "high":
            results[name, cost["name"]] = run["host"]["all"]["latency_ns"]["mean"]
    (sheet,) = (s for s in made.report.sheets if s.title.startswith("Where AGCR wins"))
    assert len(sheet.rows) == 3
    for workload, *cells in sheet.rows:
        name = workload.partition(" ")[0]
        change = results[name, "agcr"] / results[name, "conflict"] - 1
        assert cells[2] == f"{100 * change:+.1f} %"
        assert cells[3] == ("wins" if change < -0.005 else "loses" if change > 0.005 else "even")


def test_what_did_not_run_has_neither_sheet_nor_column(made: Reproduction) -> None:
    drives = {
        json.loads(path.read_text())["provenance"]["config"]["name"]
        for path in made.page.parent.glob("[!.]*/result.json")
    }
    assert drives == {"agcr"}, "the quick form has the smaller drive alone"
    assert "128 GiB" not in made.page.read_text()
    assert len(made.report.sheets) > 3
    for sheet in made.report.sheets:
        for i, column in enumerate(sheet.columns):
            assert any(row[i] for row in sheet.rows), f"{sheet.title}: {column} is empty"


def _run(drive: str, mean: float, workload: str | None = None) -> Result:
    """A made-up run on a drive: of a stand-in, or else of a generator."""
    data: dict[str, Any] = sample.result()
    data["provenance"]["config"] |= {"name": drive, "host": {"mode": "timestamps", "speed": 1.0}}
    data["host"]["all"]["latency_ns"]["mean"] = mean
    if workload is not None:
        data["provenance"]["workload"] |= {"name": workload, "sha256": None, "stand_in": None}
    return Result(data)


def test_runs_are_told_apart_by_what_they_are_and_not_by_names_they_lack() -> None:
    means = {HEADLINE: 200.0, "AGCR": 100.0}
    small = [_run("agcr", mean) for mean in means.values()]
    large = [_run("agcr-128g", 2 * mean + 100) for mean in means.values()]
    names = [{"workload": "msr:hm_0", "cost": cost} for cost in means]
    for drive, runs, other in (("agcr", small, "agcr-128g"), ("agcr-128g", large, "agcr")):
        # All runs are on one drive, which their names therefore leave out.
        alone = Comparison(runs, names)
        assert Runs(alone, drive).workloads == ["msr:hm_0"]
        assert Runs(alone, other).workloads == []
    both = Comparison(
        small + large,
        [{**n, "drive": d} for d in ("agcr", "agcr-128g") for n in names],
    )
    grid = Runs(both)
    assert grid.change("msr:hm_0", "AGCR", HEADLINE, "all") == 100 / 200 - 1
    (sheet,) = (s for s in beyond(both, grid) if s.title == "The drive read the other way")
    assert [row[:3] for row in sheet.rows] == [["msr:hm_0 [stand-in]", "-50.0 %", "-40.0 %"]]
    generated = Comparison([_run("agcr", 1.0, "zipf")], [{"workload": "zipf", "cost": "AGCR"}])
    assert Runs(generated).workloads == []


def test_every_column_of_a_full_drive_is_measured() -> None:
    names = {"workload": "zipf full drive", "cost": "AGCR", "ftl.spare-factor": "0.15"}
    comparison = Comparison([_run("agcr", 1e6, "zipf")], [names])
    (sheet,) = (s for s in beyond(comparison, Runs(comparison)) if s.title.startswith("A full"))
    assert [len(row) for row in sheet.rows] == [len(sheet.columns)]
    assert all(cell for row in sheet.rows for cell in row)

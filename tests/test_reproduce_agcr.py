"""The quick form of `reproduce agcr`, without any trace at hand."""

import json
from pathlib import Path

import pytest

from floatgate.reproduce import Reproduction
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
    for path in made.page.parent.glob("*/result.json"):
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

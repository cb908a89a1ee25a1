"""The virtual test bench: `floatgate chips NAME --bench`, and what the reproduction makes of it."""

import json
import re
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.reproduce.runner import known
from floatgate.reproduce.studies import chips
from floatgate.reproduce.studies.chips.published import NAMES, chip
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.text import bench as bench_text


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return fg.bench("b-mlc32", blocks=1, samples=2)


def test_a_bench_has_times_power_errors_and_disturb(found: dict[str, Any]) -> None:
    assert found["plan"] == {"chips": 2, "blocks": 1, "cycles": 10, "stress": 1000, "seed": 1}
    operations = found["operations"]
    # The page of 4096 bytes at 30 ns a byte, seven cycles for the command, 47.5 us to sense.
    assert operations["read_mb_per_s"] == pytest.approx(4096 / (47.5 + 0.03 * (4096 + 7)), rel=1e-3)
    # Energy over time while the bus is always busy: sensing and sending.
    energy = 0.11e-9 * 32_768 + 41.1e-3 * 4096 * 30e-9
    seconds = 47.5e-6 + 30e-9 * (4096 + 7)
    assert operations["average_read_mw"] == pytest.approx(1e3 * energy / seconds, rel=1e-3)
    assert len(found["wear"]["cycles"]) == 100
    assert found["wear"]["rber_of_chips"][0][-1] > 100 * found["wear"]["rber_of_chips"][0][0] > 0
    assert found["program_disturb"]["first_reprogram_with_errors"] == 1


def test_the_seed_decides(found: dict[str, Any]) -> None:
    def of(seed: int) -> Any:
        return fg.bench("b-mlc32", blocks=1, seed=seed)["wear"]["rber_of_chips"]

    assert of(1) == found["wear"]["rber_of_chips"] != of(2)


def test_mistakes_are_explained(floatgate: Floatgate) -> None:
    for arguments, words in (
        (("chips", "--bench"), "needs the NAME"),
        (("chips", "c-mlc65", "--bench"), "`c-mlc65` is not a chip; there are a-slc2"),
        (("chips", "c-mlc64", "--seed", "2"), "add `--bench`"),
        (("chips", "c-mlc64", "--bench", "--blocks", "0"), "must be from 1 to 256"),
        (("chips", "c-mlc64", "--bench", "--seed", "-1"), "must be from 0"),
    ):
        done = floatgate(*arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert not done.stdout


def test_the_page_marks_what_was_given(floatgate: Floatgate, found: dict[str, Any]) -> None:
    page = floatgate("chips", "b-mlc32", "--bench", "--blocks", "1").stdout
    assert page.strip() == bench_text.page(found).strip()
    assert max(map(len, page.splitlines())) <= 80
    assert re.search(r"read, us +47.5 =", page)
    value = json.loads(floatgate("chips", "b-mlc32", "--bench", "--blocks", "1", "--json").stdout)
    assert value["schema"] == "floatgate.bench/1"
    assert value["operations"] == found["operations"]


def test_chips_without_energy_have_a_page() -> None:
    for name in ("modern-tlc", "modern-qlc"):
        page = bench_text.page(fg.bench(name, blocks=1, samples=1))
        assert "Program disturb" in page
        assert max(map(len, page.splitlines())) <= 80


# ── The reproduction ────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    experiment = known()["chips"].quick()
    return chips.analyse(Comparison([], [], []), Study(experiment, None, quick=True))


def test_every_number_says_what_it_is_worth(analysis: Analysis) -> None:
    rows = [row for table in analysis.tables for row in table.rows]
    assert len(rows) > 40
    kinds = [row.what.rsplit("[", 1)[-1] for row in rows]
    assert set(kinds) == {"input]", "output]"}
    assert all(row.where for row in rows)


def test_ratios_are_those_of_the_printed_table(analysis: Analysis) -> None:
    """By hand from Table 3: means of six SLC and five MLC chips."""
    read = (0.15, 0.11, 0.19, 0.093, 0.002), (0.052, 0.069, 0.088, 0.046, 0.042, 0.0056)
    erase = (0.070, 0.056, 0.038, 0.051), (0.06, 0.067, 0.093, 0.011, 0.025, 0.031)
    idle = (12.7, 8.5, 27.3, 11.2, 10.2), (2.7, 7.1, 17.0, 2.9, 2.9, 13.3)
    by_hand = [sum(m) / len(m) / (sum(s) / len(s)) for m, s in (read, erase, idle)]
    energy = {row.what: row for row in analysis.tables[0].rows}
    ours = [
        energy[f"MLC over SLC, {what} [output]"].ours
        for what in ("read", "erase, without E-MLC8", "idle power")
    ]
    assert ours == pytest.approx(by_hand, rel=1e-3)
    assert not analysis.missed


def test_statements_of_the_paper(analysis: Analysis) -> None:
    rows = {row.what: row for table in analysis.tables for row in table.rows}

    def ours(what: str) -> Any:
        return rows[what].ours

    assert ours("B-MLC32, slow over fast programs [input]") == pytest.approx(3.30 / 0.96, rel=5e-3)
    assert ours("SLC, program time at the rated cycles [input]") == pytest.approx(-0.5, abs=0.01)
    assert -0.15 < ours("MLC, program time at the rated cycles [input]") < -0.10
    assert ours("SLC, RBER at the rated 100,000 [output]") == "no error"
    assert float(ours("MLC, RBER fresh [output]")) > 1e-5
    assert ours("MLC, pages that may be programmed again [output]") == pytest.approx(0.5)
    for name in NAMES:
        if not chip(name).slc:
            what = f"{name.upper()}, pages whose partners are those of the text [input]"
            assert ours(what) == pytest.approx(1.0)

"""The study of separation: its workloads, its traces, its sheets, and its quick form."""

from pathlib import Path

import numpy as np
import pytest

import floatgate as fg
from floatgate.reproduce.runner import Reproduction, known, prepared
from floatgate.reproduce.studies import separation
from floatgate.reproduce.studies.separation import workloads
from floatgate.reproduce.study import Taken
from reproduced import quick, rows, sheet

SHARES = {
    "uniform": [1 / 8] * 8,
    "two classes": [0.2, 0.8],
    "eight classes": [rate / 255 for rate in (1, 128, 64, 32, 16, 8, 4, 2)],
    "zipf": [1 / 8] * 8,
    "log and tables": [1 / 2] * 2,
    "eight tenants": [rate / 36 for rate in (1, 8, 7, 6, 5, 4, 3, 2)],
    "moving hot spot": [0.1, 0.9],
}
"""The share of the writes of each hint, from the words of the study."""


@pytest.mark.parametrize("name", sorted(SHARES))
def test_hints_have_their_share_of_the_writes_and_the_span_is_whole(name: str) -> None:
    pages, hints = workloads.made(name)
    assert hints is not None
    counts = np.bincount(hints, minlength=len(SHARES[name])) / len(hints)
    # The first page of zipf alone has 8.4 % of the writes, so an eighth is not whole pages.
    off = 0.042 if name == "zipf" else 0.02
    assert counts.tolist() == pytest.approx(SHARES[name], abs=off)
    assert (pages.min(), pages.max() < workloads.SPAN) == (pytest.approx(0, abs=9), True)
    passes = len(pages) / workloads.SPAN
    assert passes == pytest.approx(workloads.PASSES, rel=0.02)


def test_every_workload_of_the_study_is_made() -> None:
    (block,) = known()["separation"].data["runs"]
    assert set(block["cases"]["workload"]) == set(workloads.SYNTHETIC) == set(SHARES)


def test_the_hottest_classes_have_the_first_hints() -> None:
    for name in ("eight classes", "zipf"):
        pages, hints = workloads.made(name)
        assert hints is not None
        # Writes of each page of a class: from hint 1 on less and less, and least of all for 0.
        rates = [
            (hints == hint).sum() / len(np.unique(pages[hints == hint]))
            for hint in (1, 2, 3, 4, 5, 6, 7, 0)
        ]
        assert rates == sorted(rates, reverse=True)


def test_logs_and_tenants_are_in_order_also_where_the_workload_begins_again() -> None:
    for name, logs in (("log and tables", [1]), ("eight tenants", range(8))):
        pages, hints = workloads.made(name)
        assert hints is not None
        for log in logs:
            own = pages[hints == log]
            first, size = own.min(), own.max() - own.min() + 1
            assert (np.diff(own - first) % size == 1).all()
            assert (own[0] - own[-1]) % size == 1, "the next pass goes on"


def trace(folder: Path, name: str, pages: list[int]) -> None:
    """A trace of writes of two pages each."""
    lines = (f"{128166372003061629 + 1000 * at},own,0,Write,{page * 4096},8192,10\n"
             for at, page in enumerate(pages))  # fmt: skip
    (folder / f"{name}.csv").write_text("".join(lines))


def test_traces_run_on_drives_of_their_size_or_are_left_out_with_the_reason(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    # 12,000 different pages, far apart: five pages in a block of 600 superblocks of 4 blocks.
    trace(folder, "large", [100 * page for page in range(6000)])
    trace(folder, "small", [*range(0, 40, 2)])
    found = workloads.traces((str(folder),))
    assert list(found.writes) == ["large"]
    assert "it writes 40 different pages, and 9,600 are needed" in found.left_out["small"]
    pages = found.writes["large"].pages
    assert np.unique(pages).tolist() == [*range(12_000)]
    assert len(pages) == workloads.PASSES * 12_000
    made = prepared(known()["separation"].quick(), folder, tmp_path / "out")
    runs = [run for run in made.planned() if run.names["workload"] == "trace large"]
    assert {run.part.set["geometry.pages-per-block"] for run in runs} == {"5"}
    assert {run.part.set["ftl.logical-capacity"] for run in runs} == {f"{12_000 * 4096}B"}
    schemes = {run.names["separation"] for run in runs}
    assert "sepbit" in schemes
    assert not any(scheme.startswith("hints") for scheme in schemes), "a trace has none"


class _Run:
    """A run with a spare."""

    def __init__(self, spare: float) -> None:
        self.capacity = fg.Result({"spare_factor": spare})


def test_worth_is_between_the_spares_that_were_run() -> None:
    known_ = [(0.1, 8.0), (0.2, 2.0)]
    here = Taken({}, _Run(0.1))
    # Halfway in the logarithm: 4 is the geometric mean.
    assert separation._points(known_, here, 4.0) == "+5.0"
    assert separation._points(known_, here, 8.0) == "0"
    assert separation._points(known_, here, 9.0) == "below +0.0"
    assert separation._points(known_, here, 1.5) == "over +10.0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("separation", tmp_path_factory)


@pytest.mark.verify
def test_the_quick_form_obeys_its_laws(made: Reproduction) -> None:
    assert made.missed == []
    claims = rows(made, "Claims of papers")
    # A sequential tenant's superblocks empty whole.
    assert claims["tenants, a stream each"].ours == 1.0
    assert claims["one stream of hints is moves apart"].ours == 0.0
    costs = {each[0]: each[1] for each in sheet(made, "Cost: open superblocks").rows}
    open_ = {"shared": "1", "sepgc": "2", "dac": "4", "sepbit": "6", "death time": "6"}
    assert costs == open_ | {f"hints, {n} streams": str(2 * n) for n in (2, 8)} | {
        "hints, 1 stream": "2"
    }
    tables = {each[0]: each[2] for each in sheet(made, "Cost: memory").rows}
    # 4 bytes for each mapping unit of 4 KiB and for each of 698 superblocks' 4 blocks.
    table = 4 * (1 + 4 * 698 / workloads.SPAN) * 7.68e12 / 4096
    assert tables["sepbit"] == f"{table / 2**30:.1f} GiB"
    streams = {(row[0], row[1]): row[2:] for row in sheet(made, "Hints").rows}
    assert all(row[-1].startswith("+") for key, row in streams.items() if key[0] == "uniform")
    (none,) = sheet(made, "Traces").rows
    assert none[0] == "none"

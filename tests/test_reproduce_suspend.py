"""The quick form of `reproduce suspend`, without any trace, and the search for its loads."""

import re

import pytest

import floatgate
from floatgate.reproduce.runner import Reproduction, known
from floatgate.reproduce.studies.suspend.load import METERS, STEPS, Meter, Search
from reproduced import quick, rows

RATIO, DOUBLE = METERS


@pytest.fixture(scope="module")
def suspend(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("suspend", tmp_path_factory)


@pytest.mark.parametrize("at", [1001, 1700, 4000, 9000, 15_999])
@pytest.mark.parametrize(("meter", "end"), [(RATIO, 0.2), (DOUBLE, 5.0)])
def test_a_search_finds_the_load_of_any_meter(at: int, meter: Meter, end: float) -> None:
    """A reading that is 1 without load, the meter's value at one load, and beyond it afterwards."""
    search = Search(meter, 1000, 16_000)
    for _ in range(STEPS):
        beyond = search.next >= at
        search.learn(end if beyond else (1 + meter.value) / 2)
    step = 2 ** (4 / 2**STEPS)
    assert search.found is None or at <= search.found <= at * step + 1
    # Neither bound is tried, so a meter within the first or the last step is out of reach.
    assert (search.found is None) == (at < 1000 * step or at > 16_000 / step)


@pytest.mark.parametrize("meter", METERS)
@pytest.mark.parametrize("reached", [False, True])
def test_a_meter_outside_the_bounds_has_no_load(meter: Meter, reached: bool) -> None:
    search = Search(meter, 1000, 16_000)
    for _ in range(STEPS):
        search.learn(meter.value if reached else 1.0)
    assert search.found is None


@pytest.mark.verify
def test_a_meter_is_reached_at_its_load_and_not_below(suspend: Reproduction) -> None:
    """Runs of the drive itself at a load a tenth lower: there the meter shows less."""
    for meter in METERS:
        found = rows(suspend, f"The load where {meter.name}")
        shown = {what: row for what, row in found.items() if what.startswith(f"{meter.name},")}
        assert len(shown) == 2, "both chips, new"
        for what, row in shown.items():
            assert row.kind == "input"
            assert isinstance(row.ours, float)
            assert meter.reached(row.ours)
            (load,) = re.findall(r"at ([\d,]+) requests a second", row.note)
            chip = what.split(", ")[1]
            reads, alone = below(chip, round(0.9 * int(load.replace(",", ""))))
            reading = reads["read-first"] / (alone if meter == DOUBLE else reads["fifo"])
            assert not meter.reached(reading), (what, load)


def below(chip: str, rate: int) -> tuple[dict[str, float], float]:
    """Mean latencies of reads by order, in ns, and what a lone read of `read-first` takes."""
    folder = known()["suspend"].folder
    size = {"SLC": "2KiB", "MLC": "8KiB"}[chip]
    runs = {
        order: floatgate.run(
            folder / f"{chip.lower()}.toml",
            "random-write",
            policy={"order": order},
            set={
                "workload.rate": rate, "workload.read-share": 0.7, "workload.requests": 8000,
                "workload.size": size, "workload.align": size, "workload.seed": 1002,
                "precondition.fill": "full", "precondition.age": "none",
            },
        )
        for order in ("fifo", "read-first")
    }  # fmt: skip
    delay = runs["read-first"].host.read.delay_ns_by_cause
    latencies = {order: run.host.read.latency_ns.mean for order, run in runs.items()}
    return latencies, delay.array + delay.bus


@pytest.mark.verify
def test_every_load_of_the_quick_grid_has_a_row(suspend: Reproduction) -> None:
    (found,) = (s for s in suspend.report.sheets if s.title.startswith("Arrivals at random"))
    loads = {(row[0], int(row[2])) for row in found.rows}
    slc = [16_000, 22_627, 32_000, 45_255]
    mlc = [4000, 5657, 8000, 11_314]
    assert loads == {("SLC", n) for n in slc} | {("MLC", n) for n in mlc}
    # A ratio of two latencies is a number, not a change in percent.
    assert all("%" not in row[3] for row in found.rows)

"""Two techniques on one drive: the time of a refresh whose moves AGCR writes at high cost."""

import pytest

import floatgate
from floatgate.result.run import Result

PAGES = 64
READ_US, HIGH_US, MEDIUM_US, ERASE_US = 170, 800, 600, 3000
"""Table 1 of AGCR: a read at medium cost, programs, and an erase."""


def refreshed(cost: str) -> Result:
    """A drive full of data of medium cost that is only read, so rarely that nothing waits long."""
    return floatgate.run(
        "agcr",
        "random-read",
        policy={"cost": cost, "read-disturb": "refresh:limit=200"},
        set={
            "geometry.channels": 1, "geometry.chips-per-channel": 1, "geometry.planes-per-die": 1,
            "geometry.blocks-per-plane": 32, "geometry.pages-per-block": PAGES,
            "ftl.spare-factor": 0.25, "precondition.fill": "full",
            "workload.requests": 10_000, "workload.rate": 20,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cost", "level", "program_us"),
    [
        ("fixed:level=medium", "medium", MEDIUM_US),
        ("agcr:initial-level=medium:rewrite-from=none", "high", HIGH_US),
        ("agcr:initial-level=medium:rewrite-from=none:moves=preserve", "medium", MEDIUM_US),
    ],
)
def test_a_refresh_takes_as_long_as_its_moves(cost: str, level: str, program_us: int) -> None:
    run = refreshed(cost)
    counters = run.policies["read-disturb"].counters
    flash = run.flash
    assert counters["refreshes"] >= 20
    moved = flash.program.refresh
    # A block is refreshed whole.
    assert moved == flash.program.total == counters["refreshes"] * PAGES
    assert flash.by_level.program[level] == moved
    mean_us = counters["refresh_ns_total"] / 1000 / counters["refreshes"]
    whole_us = PAGES * (READ_US + program_us) + ERASE_US
    assert mean_us == pytest.approx(whole_us, rel=0.05)

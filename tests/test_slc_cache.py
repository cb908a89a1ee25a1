"""Right words? The SLC cache on the page of a run, in reports, over time, and in lifetimes."""

from pathlib import Path

import polars as pl
import pytest

import floatgate
from floatgate import Result
from floatgate.report import of, tables
from floatgate.report.names import Names
from floatgate.report.page import html
from floatgate.report.plots import draw
from floatgate.result.load import load
from floatgate.text.result import page

SETTINGS = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 2,
    "geometry.planes-per-die": 1,
    "geometry.blocks-per-plane": 100,
    "geometry.pages-per-block": 96,
    "geometry.bits-per-cell": 3,
    "ftl.spare-factor": 0.4,
    "slc.read": "25us",
    "slc.program": "150us",
    "slc.endurance": 30_000,
    "reliability.endurance": 3_000,
    "workload.requests": 4_000,
    "host.mode": "queue-depth",
    "precondition.fill": "none",
}
"""Two dies; a block holds 32 pages of 4 KiB at one bit in a cell."""
CACHE = 4 << 20
COLOURS = 10


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """16 MiB written in order, past a cache of 4 MiB that is not folded."""
    return floatgate.run(
        "agcr",
        "sequential-write",
        set=SETTINGS | {"workload.size": "4KiB"},
        policy={"slc-cache": "static:size=4MiB:fold=idle"},
        out=tmp_path_factory.mktemp("cached"),
        record=("series", "blocks", "requests", "snapshots"),
    )


def test_the_page_has_what_the_cache_took(cached: Result) -> None:
    own = cached.data["slc_cache"]
    assert own["cached_bytes"] == own["used_bytes"] == own["room_bytes"] == CACHE
    assert own["direct_bytes"] == 4_000 * 4096 - CACHE
    line = next(line for line in page(cached).splitlines() if "SLC cache" in line)
    assert "taken 4.00 MiB" in line
    assert "written past it 11.6 MiB" in line


def test_a_report_has_the_cache_over_time(cached: Result) -> None:
    series = tables.series(cached)
    assert series is not None
    inside = [value for value in series.values["slc-cache"] if value is not None]
    assert inside == sorted(inside)
    assert inside[0] < CACHE == inside[-1]
    assert cached.folder is not None
    assert "SLC cache over time" in html(of(load([cached.folder])))


def test_a_drive_without_a_cache_has_no_such_picture(tmp_path: Path) -> None:
    plain = floatgate.run("agcr", "random-write", out=tmp_path, set=SETTINGS, record=["series"])
    assert plain.data["slc_cache"] is None
    assert "SLC cache" not in page(plain)
    assert plain.folder is not None
    assert "SLC cache over time" not in html(of(load([plain.folder])))


def test_blocks_over_time_have_their_mode(cached: Result) -> None:
    """32 blocks of 32 pages hold 4 MiB, and the rest is at full density."""
    assert cached.folder is not None
    blocks = pl.read_parquet(cached.folder / "blocks.parquet")
    written = blocks.filter(pl.col("written_slots") > 0)
    found = dict(written.group_by("mode").len().rows())
    assert found["slc"] == CACHE // (32 * 4096)
    assert found["full"] == -(-(4_000 * 4096 - CACHE) // (96 * 4096) // 2) * 2


@pytest.mark.parametrize("endurance", [3_000, 30_000])
def test_a_life_counts_cycles_of_both_modes(endurance: int) -> None:
    """A cycle at one bit in a cell wears by the quotient of the two endurances."""
    found = floatgate.lifetime(
        "agcr",
        "random-write",
        set=SETTINGS
        | {"slc.endurance": endurance, "workload.rate": 200, "workload.requests": 60_000},
        policy={"slc-cache": "static:size=1MiB"},
    )
    life, single = found.data["lifetime"], found.data["slc_cache"]["erase"]["total"]
    assert "no constants for blocks whose cells hold one bit" in life["not_modelled"]
    assert 0 < single < found.data["flash"]["erase"]["total"]
    full = found.data["flash"]["erase"]["total"] - single
    worn = (full + single * 3_000 / endurance) / 200
    assert life["simulated"]["cycles"]["mean"] == pytest.approx(worn)
    # By programs: a page of the cache takes three times the share of a cycle.
    programs = found.data["flash"]["program"]["total"]
    cached = found.data["slc_cache"]["program"]["total"]
    each = (96 / 32) * 3_000 / endurance
    cycles = (programs - cached + cached * each) / (200 * 96)
    years = 3_000 / cycles * life["simulated"]["seconds"] / (365 * 86_400)
    assert life["rated"]["years"] == pytest.approx(years)
    assert cycles == pytest.approx(worn, rel=0.05)


TIGHT = SETTINGS | {
    "geometry.blocks-per-plane": 60,
    "ftl.spare-factor": 0.25,
    "workload.arrivals": "{ constant = { iops = 20 } }",
    "workload.requests": 30_000,
    "host.mode": "timestamps",
    "precondition.fill": "full",
}
"""A small drive in use, written in random order at a steady rate."""
FOLDED = {"slc-cache": "static:size=1MiB"}


def test_advice_counts_cycles_of_both_modes() -> None:
    """The target is half as long again as the drive lasts."""

    def years(spare: float) -> float:
        own = TIGHT | {"ftl.spare-factor": spare}
        found = floatgate.lifetime("agcr", "random-write", set=own, policy=FOLDED)
        assert found.data["slc_cache"]["cached_bytes"] > 0
        return float(found.lifetime.rated.years)

    target = f"{round(years(0.25) * 365 * 24 * 1.5)}h"
    settings = TIGHT | {"reliability.target": target}
    tight = floatgate.lifetime("agcr", "random-write", target=target, set=TIGHT, policy=FOLDED)
    advice = floatgate.advise(tight, "agcr", "random-write", set=settings, policy=FOLDED)
    assert not advice.reached
    rated, wanted = tight.lifetime.rated.years, tight.lifetime.target.years
    assert rated == pytest.approx(wanted / 1.5, rel=0.01)
    # A throttle serves the writes that wear the drive in the target's years. Cached pages wear it
    # less.
    assert len(advice.throttles) == 2
    for each in advice.throttles:
        assert each["served_share"] == pytest.approx(rated / wanted, rel=0.02)
    # More spare of the same flash: it is enough, and a little less is not.
    spare = advice.over_provisioning.found["spare_factor"]
    assert years(spare) >= wanted > years(spare - 0.02)
    # More flash below the same exported capacity.
    more = advice.capacity.found
    assert more["exported_bytes"] == pytest.approx(tight.capacity.logical_bytes, rel=1e-2)
    assert wanted <= more["years"] < 1.3 * wanted


def test_waits_behind_folding_have_a_colour_of_their_own(tmp_path: Path) -> None:
    """There are more causes than colours."""
    run = floatgate.run(
        "agcr",
        "random-write",
        set=SETTINGS
        | {"workload.rate": 400, "host.mode": "timestamps", "workload.read-share": 0.5},
        policy={"slc-cache": "static:size=1MiB"},
        out=tmp_path,
    )
    assert run.folder is not None
    report = of(load([run.folder]))
    seen = 0
    for plot in draw(report, Names(report.runs)):
        if plot.kind == "causes" and plot.spec is not None:
            colour = plot.spec["encoding"]["color"]
            places = [colour["scale"]["domain"].index(part) for part in colour["legend"]["values"]]
            assert len({place % COLOURS for place in places}) == len(places)
            seen += "waiting behind fold" in colour["legend"]["values"]
    assert seen > 0

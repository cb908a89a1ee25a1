"""The quick form of `reproduce ready`, without any trace at hand."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import floatgate
from browser import Browser
from floatgate.reproduce.runner import Reproduction, reproduce
from floatgate.reproduce.studies.ready import cells, demand, lives, paper
from reproduced import quick, rows, sheet

HOURS = 43_800
"""Five years."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("ready", tmp_path_factory)


def numbers(made: Reproduction, title: str) -> dict[str, float]:
    found = rows(made, title)
    return {what: row.ours for what, row in found.items() if isinstance(row.ours, int | float)}


def ours(made: Reproduction, title: str, what: str) -> float:
    return numbers(made, title)[what]


def test_throttled_lives_end_at_five_years_and_the_others_on_the_papers_side(
    made: Reproduction,
) -> None:
    life = numbers(made, "Figure 10")
    assert len(life) == 15
    for trace in ("exchange", "map"):
        assert life[f"{trace}, NT"] < 5 < 15 < life[f"{trace}, DT"] <= life[f"{trace}, ST"]
        for name in ("PES", "OPT"):
            assert 5 - 1e-9 <= life[f"{trace}, {name}"] <= 5.1
    # The demand of proj lets it live without a throttle, so READY leaves it alone.
    for name in ("PES", "OPT"):
        assert life[f"proj, {name}"] > 5
        free, kept = (ours(made, "Table 2", f"proj, {n}, W") for n in ("NT", name))
        assert kept == pytest.approx(free, rel=0.03)
    assert made.missed == []
    assert all("NOT" not in row.note for row in rows(made, "Figure 10").values())


def test_without_a_throttle_what_is_written_is_demand_times_write_amplification(
    made: Reproduction,
) -> None:
    for trace, rate, waf in (("proj", 2.08, 1.62), ("exchange", 20.61, 2.24)):
        found = ours(made, "Table 2", f"{trace}, NT, W")
        assert found == pytest.approx(rate * waf * HOURS / 1024, rel=1e-3)


def test_table_2_comes_back(made: Reproduction) -> None:
    found = rows(made, "Table 2")
    assert len(found) == 20
    for what, row in found.items():
        _, name, which = what.split(", ")
        # What a static rate writes depends on the trace's bursts.
        if name != "ST":
            tolerance = 0.05 if which == "W" else 0.01
            assert row.ours == pytest.approx(row.published, rel=tolerance), what


def test_responses_follow_from_the_bytes(made: Reproduction) -> None:
    # All time that is not served is delay, shared by the pages of what is.
    table = sheet(made, "Figure 11 in numbers")
    names = [column.partition(",")[0] for column in table.columns[1:6]]
    shown = {row[0].partition(" ")[0]: row[1:6] for row in table.rows}
    for trace, pages in (("proj", 2.08), ("exchange", 20.61)):
        a_second = pages * 2**30 / 3600 / 4096
        free = ours(made, "Table 2", f"{trace}, NT, W")
        for name, cell in zip(names, shown[trace], strict=True):
            less = free / ours(made, "Table 2", f"{trace}, {name}, W") - 1
            expected = 600 + max(less, 0) / a_second * 1e6
            assert float(cell.replace(",", "")) == pytest.approx(expected, rel=5e-3), name
    # The same of the paper's own bytes: 1918.8 against 374.4 and the mean of READY's two.
    (of_paper,) = (
        row for row in sheet(made, "What Table 2").rows if row[0].startswith("exchange, per host")
    )
    us = {
        w: 600 + (1918.8 / w - 1) * 4096 * 3600 / (20.61 * 2**30) * 1e6
        for w in (374.4, 1077.2, 1065.6)
    }
    ratio = us[374.4] / ((us[1077.2] + us[1065.6]) / 2)
    assert float(of_paper[6]) == pytest.approx(ratio, abs=0.006)
    assert ratio > 2.9


def test_the_equations_are_the_engines() -> None:
    without_rest, printed, fitted = 3036, 4020, 8616
    assert cells.achievable(0, "printed") == pytest.approx(without_rest, abs=1)
    assert cells.sustainable(HOURS, "printed") == pytest.approx(printed, abs=1)
    assert cells.sustainable(HOURS, "fitted") == pytest.approx(fitted, abs=10)
    for recovery in cells.RECOVERY:
        life = floatgate.fast_forward(
            "ready-128g", demand=20.61 * 2**30, waf=1.0, step="1h",
            set={"reliability.recovery": recovery},
        )  # fmt: skip
        cycles = life.achievable_bytes / (128 * 2**30)
        expected = cells.achievable(life.mean_interval_hours, recovery)
        assert cycles == pytest.approx(expected, rel=1e-6)


def test_bursts_are_what_a_static_rate_loses_by(made: Reproduction) -> None:
    table = [row for row in sheet(made, "Why ST differs").rows if row[1] != "published"]
    for trace, gib, free in (("proj", 32, 2.08 * 1.62), ("exchange", 128, 20.61 * 2.24)):
        budget = gib * 3000 / 1024
        over = free * HOURS / 1024 / budget
        found = {row[1]: [float(cell) for cell in row[2:]] for row in table if row[0] == trace}
        for every in (1, 8, 64):
            # A burst takes as many seconds as it is above the rate, and then others are silent. At
            # most the second that it begins in is used by two.
            busy, silent = every * over, every - 1
            static, dynamic, _ = found[f"1 in {every}"]
            least = busy / (busy + silent)
            most = busy / (busy + max(silent - 1, 0))
            assert least * 0.999 <= static / budget <= most * 1.001
            assert dynamic == pytest.approx(budget, rel=0.02)
        # The limit, from W + W / W0 * C = C, in bytes.
        assert found["any"][0] == pytest.approx(budget * over / (1 + over), abs=0.1)
        ratios = [ratio for *_, ratio in found.values()]
        assert ratios == sorted(ratios)
        assert ratios[0] == pytest.approx(1, abs=0.02)


def test_the_promise_as_printed_is_broken_and_the_guarded_one_kept(made: Reproduction) -> None:
    ends = {(row[0], row[1]): row[3] for row in sheet(made, "A demand that breaks").rows}
    assert len(ends) == 4
    for (capacity, _), end in ends.items():
        if capacity == "guarded":
            assert end == "five years reached"
        else:
            when = float(end.removeprefix("worn out after ").removesuffix(" years"))
            assert 2.5 < when < 3.0
    assert "A demand that breaks the capacity as printed" in made.page.read_text()


def test_who_trusts_the_wrong_constants(made: Reproduction) -> None:
    found = {(row[0], row[1]): row for row in sheet(made, "Both sets").rows}
    # Printed cells take 4,020 cycles in five years, fitted ones 8,616.
    w = {key: float(row[2].replace(",", "")) for key, row in found.items()}
    assert w["printed", "fitted"] == pytest.approx(4020 / 8, rel=0.01)
    assert float(found["printed", "fitted"][3]) > 11
    assert found["fitted", "printed"][4] == "worn out"
    assert float(found["fitted", "printed"][3]) < 3
    assert found["printed", "printed"][4] == found["fitted", "fitted"][4] == "reached"


def test_a_static_rate_is_its_rate_and_bursts_pass_an_optimistic_one(made: Reproduction) -> None:
    found = numbers(made, "Figure 14")
    mebi = 128 * 2**30 * 3000 / (5 * 365 * 86_400) / 2**20
    assert found["ST, highest"] == pytest.approx(mebi, rel=1e-3) == pytest.approx(2.494, abs=1e-3)
    assert found["OPT, mean"] >= found["PES, mean"] > found["ST, mean"]


def test_every_number_of_a_stand_in_is_marked(made: Reproduction) -> None:
    alone = [table.title for table in made.report.tables for row in table.rows if not row.stand_in]
    assert set(alone) == {"Figure 1: cycles that rest makes achievable"}
    plots = [plot.title for plot in made.report.plots]
    assert len(plots) >= 10
    # All but those of equations, and bars whose places have the mark.
    assert sum("[stand-in]" in title for title in plots) == len(plots) - 3


def test_the_page_draws_everything(browser: Browser, made: Reproduction) -> None:
    opened = browser.open(made.page, 1280, dark=False)
    assert opened.errors == []
    assert browser.problems() == []
    drawn = browser.run("document.querySelectorAll('.plot svg.marks').length")
    assert drawn == browser.run("specs.length") >= 10


def test_epochs_that_are_alike_do_not_differ() -> None:
    import polars as pl

    # Ten minutes of 3, ten of 6, in turn: alike over twenty.
    bytes_ = [3.0 if second // 600 % 2 == 0 else 6.0 for second in range(7200)]
    found = demand.Found({"proxy": pl.DataFrame({"bytes": bytes_, "pages": bytes_})}, set())
    assert list(found.differences("proxy", 10)) == [0.5] * 5 + [1.0] * 6
    assert list(found.differences("proxy", 60)) == [0.0]
    assert demand.within(found.differences("proxy", 10), 0.6) == pytest.approx(5 / 11)


@pytest.mark.verify
def test_five_years_of_a_trace_take_ten_seconds_at_most() -> None:
    trace = next(each for each in paper.TRACES if each.name == "exchange")
    # Nearly every second of a day has writes: as much work as a trace of a day can be.
    frame = floatgate.demand_per_second(trace.drive, trace.workload, traces=[], slice="0s..2h")
    made = lives.Lives({trace.name: frame}, minutes=False, workers=1)
    for name in paper.CONFIGURATIONS:
        start = time.process_time()
        life = made.of(trace, name)
        assert time.process_time() - start < 10, name
        # The bound that does not depend on the machine: a period is looked at once, and beside
        # it only the ends of seconds of demand.
        assert life.extrapolated.periods_with_writes <= 5 * 365 * 86_400


@pytest.mark.verify
def test_the_quick_form_takes_at_most_a_minute(tmp_path: Path) -> None:
    start = time.perf_counter()
    reproduce("ready", quick=True, traces=tmp_path, out=tmp_path / "out", workers=2)
    assert time.perf_counter() - start < 60

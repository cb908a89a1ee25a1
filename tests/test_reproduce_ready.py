"""The quick form of `reproduce ready`, without any trace at hand."""

import math
import time
from pathlib import Path

import polars as pl
import pytest

import floatgate
from browser import Browser
from floatgate.report.model import Table
from floatgate.report.verdicts import MISSING, REPRODUCED, verdict
from floatgate.reproduce.runner import Reproduction, reproduce
from floatgate.reproduce.studies.ready import life, lives, paper, speed
from reproduced import quick, redirected, rows, sheet
from walk import unlike

of_its_runs = pytest.mark.verify
"""For tests of the study's runs: its quick form takes 20 s of processor time. The equations and
Table 2 are tested in `crates/ssd/tests/fluid.rs`."""

HOURS = 43_800
"""Five years."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("ready", tmp_path_factory)


@of_its_runs
def test_claims_rest_on_the_lives_that_they_name(made: Reproduction) -> None:
    rows = [row for table in made.report.tables for row in table.rows]
    assert sum("life" in names for row in rows for names in row.by) > 20
    # One claim is redirected: its life is another one than it names.
    one, other = (
        {"life": "exchange", "throttle": policy, "waf": "2.24", "recovery": "fitted"}
        for policy in ("none", "ready")
    )
    lacking = redirected("ready", made, one, other)
    assert any("not the throttle" in lack for lack in lacking)


def measured(table: Table) -> dict[str, float]:
    return {row.what: row.ours for row in table.rows if isinstance(row.ours, int | float)}


def numbers(made: Reproduction, title: str) -> dict[str, float]:
    (table,) = (table for table in made.report.tables if table.title.startswith(title))
    return measured(table)


def ours(made: Reproduction, title: str, what: str) -> float:
    return numbers(made, title)[what]


@of_its_runs
def test_throttled_lives_end_at_five_years_and_the_others_on_the_papers_side(
    made: Reproduction,
) -> None:
    life = numbers(made, "Figure 10")
    # Two traces by lives, and of the others the derived values; none under ST, which lives by
    # seconds.
    assert len(life) == 21
    assert life["lives of runs beside what follows: most apart"] < 1e-3
    for trace in ("exchange", "map"):
        assert life[f"{trace}, NT"] < 5 < 15 < life[f"{trace}, DT"]
        for name in ("PES", "OPT"):
            assert 5 - 1e-9 <= life[f"{trace}, {name}"] <= 5.1
    # The demand of proj lets it live without a throttle, so READY leaves it alone.
    for name in ("PES", "OPT"):
        assert life[f"proj, {name}"] > 5
        free, kept = (ours(made, "Table 2", f"proj, {n}, W") for n in ("NT", name))
        assert kept == pytest.approx(free, rel=0.03)
    assert made.missed == []
    judged = [row for row in rows(made, "Figure 10").values() if row.ours and row.kind != "input"]
    assert all(verdict(row) == REPRODUCED for row in judged)
    kinds = {what: row.kind for what, row in rows(made, "Figure 10").items()}
    # A value that follows from Table 1 and the fit alone is not the result of a run.
    for trace in ("proxy", "map", "msnfs"):
        assert {kinds[f"{trace}, {name}"] for name in ("NT", "DT", "PES", "OPT")} == {"follows"}
    assert kinds["exchange, DT"] == "output"


def test_what_follows_is_what_the_equations_say() -> None:
    # Apart from the study: cycles in five years, and how many are achievable at that rate.
    for trace, gib in (("proxy", 32), ("proj", 32), ("exchange", 128), ("map", 128)):
        table = paper.BY_NAME[trace]
        free = table.gib_per_hour * table.waf * HOURS / gib
        for name, most in (("NT", math.inf), ("DT", 3000), ("OPT", 8616)):
            cycles = min(free, most)
            expected = 5 * achievable(HOURS / cycles, "fitted") / cycles
            assert life.follows(table, name) == pytest.approx(expected, rel=2e-3), (trace, name)


@of_its_runs
def test_what_throttling_relies_on_is_measured(made: Reproduction) -> None:
    found = rows(made, "Sections 3.3 and 3.4")
    # The paper lends 10 %, of 100 rated cycles in 60 days here.
    assert found["capacity of an epoch lost once all spare is used"].ours == pytest.approx(0.1)
    idle = found["idle times of blocks, deviation by mean"]
    assert isinstance(idle.ours, float)
    assert 0 < idle.ours < 0.1
    assert idle.runs[0]["wear"] == "hot-cold-swap"


@of_its_runs
def test_every_figure_and_table_has_rows_and_what_is_not_measured_says_why(
    made: Reproduction,
) -> None:
    places = {row.where for table in made.report.tables for row in table.rows}
    assert {f"Fig. {n}" for n in (1, 2, 4, 10, 11, 13, 14)} <= places
    assert {"Table 1", "Table 2", "Table 3", "4.3", "4.4"} <= places
    bars = {f"{trace}, {name}" for trace in paper.BY_NAME for name in paper.CONFIGURATIONS}
    assert {what for what in rows(made, "Figure 10") if what.count(", ") == 1} == bars
    for table in made.report.tables:
        for row in table.rows:
            # A rule can judge each claim, and a claim without a number has a reason.
            assert row.ours is None or not isinstance(row.ours, str), row
            assert row.published is None or verdict(row) or row.kind == "input", row
            assert row.ours is not None or row.note, row


@of_its_runs
def test_an_hour_of_a_trace_in_minutes_claims_nothing_of_bursts(made: Reproduction) -> None:
    for title in ("Table 3", "Figure 4", "Figure 12", "Figure 13", "Figure 14"):
        judged = [row for row in rows(made, title).values() if row.published is not None]
        judged = [row for row in judged if row.kind != "follows" and "30 %" not in row.what]
        assert judged
        assert all(verdict(row) == MISSING for row in judged), title
    table = rows(made, "Table 1")
    assert all(table[f"{trace}, GiB written an hour"].ours is None for trace in paper.BY_NAME)
    for row in [*rows(made, "Figure 10").values(), *rows(made, "Table 2").values()]:
        assert ", ST" not in row.what or row.ours is None, row
    titles = [plot.title for plot in made.report.plots]
    assert not any(title.startswith(f"Figure {n}") for n in (12, 13, 14) for title in titles)


@of_its_runs
def test_without_a_throttle_what_is_written_is_demand_times_write_amplification(
    made: Reproduction,
) -> None:
    for trace, rate, waf in (("proj", 2.08, 1.62), ("exchange", 20.61, 2.24)):
        found = ours(made, "Table 2", f"{trace}, NT, W")
        assert found == pytest.approx(rate * waf * HOURS / 1024, rel=1e-3)


@of_its_runs
def test_table_2_comes_back(made: Reproduction) -> None:
    compared = 0
    for what, row in rows(made, "Table 2").items():
        which = what.rpartition(", ")[2]
        # The bytes of a static rate depend on the trace's bursts.
        if which in ("W", "C'") and row.ours is not None:
            assert row.ours == pytest.approx(row.published, rel=0.05 if which == "W" else 0.01), (
                what
            )
            compared += 1
    assert compared == 16
    # A row that follows from Table 1, or was fitted to this table, is not a test.
    kinds = {what: row.kind for what, row in rows(made, "Table 2").items()}
    assert {kinds[f"exchange, {name}, C'"] for name in paper.CONFIGURATIONS} == {"input"}
    assert kinds["exchange, NT, W"] == "follows"
    assert kinds["exchange, DT, W"] == "output"
    # A life, its bytes and their ratio are one number.
    of_dt = [row for title in ("Figure 10", "Table 2") for row in rows(made, title).values()
             if row.what.startswith("exchange, DT") and row.kind == "output"]  # fmt: skip
    assert len(of_dt) == 3
    facts = {row.fact for row in of_dt}
    assert facts == {"exchange, DT, W"}


@of_its_runs
def test_responses_follow_from_the_bytes(made: Reproduction) -> None:
    # All time that is not served is delay, shared by the served pages.
    table = sheet(made, "Figure 11 in numbers")
    names = [column.partition(",")[0] for column in table.columns[1:6]]
    assert names == list(paper.CONFIGURATIONS)
    shown = {row[0].partition(" ")[0]: row[1:6] for row in table.rows if "host page" in row[0]}
    for trace, pages in (("proj", 2.08), ("exchange", 20.61)):
        a_second = pages * 2**30 / 3600 / 4096
        free = ours(made, "Table 2", f"{trace}, NT, W")
        for name, cell in zip(names, shown[trace], strict=True):
            if name == "ST":
                continue
            less = free / ours(made, "Table 2", f"{trace}, {name}, W") - 1
            expected = 600 + max(less, 0) / a_second * 1e6
            assert float(cell.replace(",", "")) == pytest.approx(expected, rel=5e-3), name
    # The same of the paper's own bytes: 1918.8 against 374.4 and the mean of READY's two.
    (of_paper,) = (
        row
        for row in sheet(made, "Figure 11 as it follows").rows
        if row[0].startswith("exchange, per host")
    )
    us = {
        w: 600 + (1918.8 / w - 1) * 4096 * 3600 / (20.61 * 2**30) * 1e6
        for w in (374.4, 1077.2, 1065.6)
    }
    ratio = us[374.4] / ((us[1077.2] + us[1065.6]) / 2)
    assert float(of_paper[6]) == pytest.approx(ratio, abs=0.006)
    assert ratio > 2.9
    # The text above the table has the same number.
    (figure,) = (table for table in made.report.tables if table.title.startswith("Figure 11"))
    assert f"gives: {of_paper[6]} for DT over READY" in figure.text.replace("\n", " ")


def achievable(idle_hours: float, recovery: str) -> float:
    """READY's Eq. 1 to 3, apart from the engine's own: cycles with this many hours between two."""
    efficiency, onset = {"printed": (5.63e-2, 1.0), "fitted": (0.0702, 0.0128)}[recovery]
    rest = 1.0 - efficiency * math.log(idle_hours / onset) if idle_hours > onset else 1.0
    low, high = 0.0, 1e9
    for _ in range(100):
        n = (low + high) / 2
        if (2.97e-3 * n**0.62 + 2.0e-2 * n**0.3) * rest < 0.65:
            low = n
        else:
            high = n
    return low


@of_its_runs
def test_the_equations_are_the_engines(made: Reproduction) -> None:
    # As many cycles as their rest leaves time for.
    fitted, printed = 8616, 4020
    assert achievable(0, "printed") == pytest.approx(3036, abs=1)
    assert achievable(HOURS / printed, "printed") == pytest.approx(printed, abs=1)
    assert achievable(HOURS / fitted, "fitted") == pytest.approx(fitted, abs=10)
    found = numbers(made, "Figure 1: ")
    assert found["cycles spread over five years, fitted recovery"] == pytest.approx(fitted, abs=10)
    assert found["cycles spread over five years, printed recovery"] == printed
    for recovery in ("printed", "fitted"):
        life = floatgate.fast_forward(
            "ready-128g", demand=20.61 * 2**30, waf=1.0, step="1h",
            set={"reliability.recovery": recovery},
        )  # fmt: skip
        cycles = life.achievable_bytes / (128 * 2**30)
        expected = achievable(life.mean_interval_hours, recovery)
        assert cycles == pytest.approx(expected, rel=1e-6)


@of_its_runs
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


@of_its_runs
def test_promises_are_broken_and_kept_each_by_its_own_measure(made: Reproduction) -> None:
    ends = {tuple(row[:4]): row[5:] for row in sheet(made, "Demands that break").rows}
    assert len(ends) == 8
    after = "worn out after "
    for (idle, capacity, _, epochs), (mean, local) in ends.items():
        if capacity == "paper":
            assert epochs == "90 days"
            assert 2.5 < float(mean.removeprefix(after).removesuffix(" years")) < 3.0
        else:
            assert mean == "five years reached"
        if capacity == "local":
            assert local == "five years reached"
        else:
            # Half, nine tenths and nearly all of five years are idle before.
            begin = 5 * float(idle.removesuffix(" %")) / 100
            assert begin < float(local.removeprefix(after).removesuffix(" years")) < 4.96
    assert "Demands that break a promise" in made.page.read_text()


@of_its_runs
def test_what_each_cycles_own_rest_costs(made: Reproduction) -> None:
    found = {(row[0].partition(" ")[0], row[1]): row for row in sheet(made, "Rest when").rows}
    assert len(found) == 6
    for trace in ("proj", "exchange", "map"):
        (guarded, local) = (found[trace, capacity] for capacity in ("guarded", "local"))
        assert float(local[5]) >= 5.0 - 0.005
        assert float(guarded[2].replace(",", "")) >= float(local[2].replace(",", ""))
        assert float(guarded[3].replace(",", "")) <= float(local[3].replace(",", ""))


@of_its_runs
def test_who_trusts_the_wrong_constants(made: Reproduction) -> None:
    found = {(row[0], row[1]): row for row in sheet(made, "Both sets").rows}
    # Printed cells take 4,020 cycles in five years, fitted ones 8,616.
    w = {key: float(row[2].replace(",", "")) for key, row in found.items()}
    assert w["printed", "fitted"] == pytest.approx(4020 / 8, rel=0.01)
    assert float(found["printed", "fitted"][3]) > 11
    assert found["fitted", "printed"][4] == "worn out"
    assert float(found["fitted", "printed"][3]) < 3
    assert found["printed", "printed"][4] == found["fitted", "fitted"][4] == "reached"


def hour(name: str) -> pl.DataFrame:
    """A minute at forty times the mean, and little before the next hour."""
    rate = paper.BY_NAME[name].rate / (40 / 60 + 0.3 * 59 / 60)
    seconds = [rate * (40 if second < 60 else 0.3) for second in range(3600)]
    return pl.DataFrame({"bytes": seconds, "pages": [each / 4096 for each in seconds]})


class Short(lives.Lives):
    """Lives of 40 days, with cycles reduced in proportion."""

    def _live(self, question: lives.Question, progress: lives.Progress) -> floatgate.FastForward:
        throttled = question.policy != "none"
        return floatgate.fast_forward(
            question.trace.drive, demand=self.demands[question.trace.name], waf=question.waf,
            target=None if throttled else "40d", bins=1, epochs=0, periods=question.periods,
            policy={"throttle": question.policy + ":target=40d" * throttled},
            set={"reliability.endurance": 3000 * 40 // (365 * 5)}, progress=progress,
        )  # fmt: skip


def test_what_needs_whole_traces_is_measured_on_them() -> None:
    frames = {name: hour(name) for name in ("exchange", "map")}
    whole = Short(frames, whole=True, workers=2)
    found = measured(speed.figure_14(whole))
    # Rated bytes over five years. A life has its cycles over the target, here 65 in 40 days.
    rate = 128 * 1024 * 3000 / (5 * 365 * 86_400)
    assert found["ST, highest, MiB/s"] == pytest.approx(rate, rel=1e-9)
    own = 128 * 2**30 * 65 / (40 * 86_400) / 2**20
    assert max(speed.busiest(whole, "ST")) == pytest.approx(own, rel=1e-3)
    assert found["OPT / PES, mean"] > 1
    assert found["DT / ST, mean"] > 1
    # Writes that stop in bursts vary more than writes that are delayed evenly.
    found = measured(speed.figure_12(whole))
    assert found["exchange, deviation of ST / that of OPT"] > 2
    assert "proj, deviation of ST / that of OPT" not in found
    titles = [plot.title.partition(":")[0] for plot in speed.plots(whole)]
    assert [titles.count(f"Figure {n}") for n in (12, 14)] == [2, 1]
    assert set(measured(speed.table_3(whole))) == {"exchange", "map"}


def test_every_claim_of_the_full_form_names_the_lives_that_measure_it() -> None:
    frames = {name: pl.concat([hour(name)] * 6) for name in paper.BY_NAME}
    whole = Short(frames, whole=True, workers=2)
    tables = [
        speed.figure_4(whole), life.figure_10(whole), life.table_2(whole), speed.figure_11(whole),
        speed.figure_12(whole), speed.table_3(whole), speed.figure_14(whole),
    ]  # fmt: skip
    found = list(whole.measured())
    for row in (row for table in tables for row in table.rows if row.kind == "output"):
        assert row.ours is not None, f"{row.what}: all five traces are whole"
        assert row.by, f"{row.what}: nobody knows what measured it"
        assert list(unlike(row, found)) == []
        traces = {names.get("life", names.get("demand")) for names in row.by}
        named = {name for name in paper.BY_NAME if name in row.what}
        assert traces == (named or traces), f"{row.what} rests on {traces}"


@pytest.mark.verify
def test_a_chosen_epoch_ends_what_a_fixed_one_keeps_varying() -> None:
    # An hour that repeats is an epoch that DYNAMIC finds.
    whole = lives.Lives({"exchange": hour("exchange")}, whole=True, workers=2)
    assert measured(speed.figure_13(whole))["DYNAMIC / FIXED, fifth week"] < 0.1
    assert sum(plot.title.startswith("Figure 13") for plot in speed.plots(whole)) == 1


def test_the_deviation_of_delays_is_that_of_their_distribution() -> None:
    # Half of the pages at once and half after a second: half a second.
    points = [[0, 0.0], [0, 0.5], [10**9, 0.5], [10**9, 1.0]]
    life = floatgate.FastForward({"delay": {"page_delay_ns": {"below": points}}})
    assert speed.deviation(life) == pytest.approx(5e8)


@of_its_runs
def test_every_number_of_a_stand_in_is_marked(made: Reproduction) -> None:
    found = [
        row for table in made.report.tables for row in table.rows
        # Sections 3.3 and 3.4 rest on generated writes and on the fluid model.
        if row.ours is not None and row.kind == "output" and row.where not in ("3.3", "3.4")
    ]  # fmt: skip
    assert found
    assert all(row.stand_in for row in found)
    plots = [plot.title for plot in made.report.plots]
    assert len(plots) >= 5
    # All but those of equations, and bars whose places have the mark.
    assert sum("[stand-in]" in title for title in plots) == len(plots) - 3


@of_its_runs
def test_the_page_draws_everything(browser: Browser, made: Reproduction) -> None:
    opened = browser.open(made.page, 1280, dark=False)
    assert opened.errors == []
    assert browser.problems() == []
    drawn = browser.run("document.querySelectorAll('.plot svg.marks').length")
    assert drawn == browser.run("specs.length") >= 5


def test_epochs_that_are_alike_do_not_differ() -> None:
    # Ten minutes of 3, ten of 6, in turn: alike over twenty.
    bytes_ = [3.0 if second // 600 % 2 == 0 else 6.0 for second in range(7200)]
    frame = pl.DataFrame({"bytes": bytes_, "pages": bytes_})
    assert list(speed.differences(frame, 10)) == [0.5] * 5 + [1.0] * 6
    assert list(speed.differences(frame, 60)) == [0.0]
    assert speed.within(speed.differences(frame, 10), 0.6) == pytest.approx(5 / 11)
    # Three tens differ from the next three by a quarter or a fifth.
    whole = lives.Lives({"proxy": pl.concat([frame] * 4)}, whole=True, workers=1)
    (row,) = (row for row in speed.figure_4(whole).rows if row.what.startswith("proxy"))
    assert row.ours == 0.0


@pytest.mark.verify
def test_five_years_of_a_trace_take_ten_seconds_at_most() -> None:
    trace = next(each for each in paper.TRACES if each.name == "exchange")
    # Nearly every second of a day has writes: as much work as a trace of a day can be.
    frame = floatgate.demand_per_second(trace.drive, "msps:exchange", traces=[], slice="0s..2h")
    made = lives.Lives({trace.name: frame}, whole=True, workers=1)
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

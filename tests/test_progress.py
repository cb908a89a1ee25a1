"""How far a command has come: on a terminal, in a script, and not at all for programs."""

import io
import os
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest

import floatgate
from floatgate.cli import ageing
from floatgate.cli import progress as module
from floatgate.cli.progress import Progress, RunsProgress, stages
from floatgate.runs.batch import Standing
from processes import LONG
from test_cli import endless


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def screen(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> Screen:
    shown = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_each_stage_has_one_line_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    shown = screen(monkeypatch, terminal=False)
    with Progress() as progress:
        for done in range(1, 100):
            clock.now += 0.1
            progress("filling", done * 1000, 100_000, 0)
        for done in range(1, 100):
            clock.now += 0.1
            progress("running", done, 100, 5 * 10**8)
    first, second = shown.getvalue().splitlines()
    # After five seconds half is done, and five are left.
    assert re.fullmatch(r"filling  5[01] %  10\.\d k pages/s  0:05 left", first), first
    assert second.startswith("running   4 %  ")
    assert "drive at 500 ms" in second
    assert "\033" not in shown.getvalue()


def test_quick_commands_programs_and_the_quiet_are_told_nothing(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    shown = screen(monkeypatch, terminal=False)
    with Progress() as progress:
        progress("running", 1, 2, 0)
        clock.now += module.QUICK - 0.1
        progress("running", 2, 2, 0)
    for how in ({"as_json": True}, {"quiet": True}):
        with Progress(**how) as progress, RunsProgress(**how) as runs:
            for _ in range(3):
                clock.now += 60
                progress("running", 1, 2, 0)
                progress.candidate(1, 2, "a drive")
                runs(Standing(2, 1, 0, 0.5, 10 * module.MANY))
    assert shown.getvalue() == ""
    with Progress(quiet=True) as progress:
        screen(monkeypatch, terminal=True)
        progress("running", 1, 2, 0)
    assert shown.getvalue() == ""


def test_a_program_that_is_watched_on_a_terminal_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    shown = screen(monkeypatch, terminal=True)
    with Progress(as_json=True) as progress:
        clock.now += 1
        progress("running", 1, 2, 0)
    assert "running  50 % [##########          ]" in shown.getvalue()
    assert "\n" not in shown.getvalue()
    assert shown.getvalue().endswith("\r\033[K"), "and nothing is left of it"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_ageing_begins_with_what_it_takes_and_what_is_cheaper(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, terminal: bool
) -> None:
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(ageing, "time", clock)
    config: dict[str, object] = {
        "precondition": {"age": "random"},
        "geometry": {"blocks-per-plane": 512},
        "ftl": {"logical-capacity": "512GB"},
    }

    def filling(config: dict[str, object], rate: int) -> str:
        screen.truncate(0)
        told = ageing.Foretold(lambda *_: None, "modern-tlc", lambda: config)
        for second in range(4):
            told("filling", second * rate, 125_000_000, 0)
            clock.now += 1.0
        told("ageing", 126_000_000, None, 0)
        return screen.getvalue()

    # 125 million pages at 10 million a second take 12.5 s; ageing writes two to four times as many,
    # each of which takes seven times as long: 187.5 to 362.5 s.
    said = filling(config, 10_000_000)
    assert "ageing 477 GiB takes about 3 to 6 minutes" in said
    assert "modern-tlc-small" in said
    assert "--scale 1/4" in said
    assert "resumed" in said
    assert said.count("takes about") == 1
    assert filling(config, 125_000_000) == "", "it is quick"
    assert filling(config | {"precondition": {"age": "none"}}, 10_000_000) == "", "nothing is aged"


def test_several_runs_are_told_by_tenths(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    shown = screen(monkeypatch, terminal=False)
    with RunsProgress() as progress:
        for checked in range(1, 9):
            clock.now += 1
            progress(Standing(8, 0, 0, 0.0, 0, checking=checked, read=400_000 * checked))
        for step in range(1, 101):
            clock.now += 1
            progress(Standing(8, step // 13, 0, step / 100, 10_000 + step * 10**6))
    first, *others = shown.getvalue().splitlines()
    assert first == "checking run 3 of 8  1.20 M records read"
    shares = [int(match[1]) for match in re.finditer(r" (\d+) %", "\n".join(others))]
    assert len(others) == 11, "0.0 to 1.0"
    assert shares == sorted(shares)
    assert all(line.endswith("left") for line in others)


def test_the_stages_are_numbered_and_none_is_whole_before_the_next(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """The count of a stage may reach its total, or pass it, long before the stage ends."""
    shown = screen(monkeypatch, terminal=True)
    plan = stages({"precondition": {"fill": "full", "age": "random"}})
    assert plan == ["filling", "ageing", "running"]
    assert stages({"precondition": {"fill": "none", "age": "none"}}) == ["running"]
    with Progress() as progress:
        progress.plan(lambda: [*plan, "advice"])
        for stage, total in (("filling", 1_000), ("ageing", None), ("running", 1_000)):
            for done in range(0, 1_500, 50):
                clock.now += 0.1
                progress(stage, done, total, 0)
        progress.candidate(2, 9, "a drive")
        progress("running", 500, 1_000, 0)
    lines = [line for line in shown.getvalue().split("\r\033[K") if line]
    numbered = {line.partition(" ")[0] for line in lines}
    assert numbered == {"1/4", "2/4", "3/4", "4/4"}
    assert lines[-1].startswith("4/4 advice 2 of at most 9: a drive  running  50 %")
    assert "2/4 ageing  1.45 k pages" in "".join(lines)
    assert "100 %" not in "".join(lines)
    assert "0:00 left" not in "".join(lines)
    over = [line for line in lines if line.startswith("1/4") and line.endswith("ending")]
    assert len(over) == 10
    assert all(" 99 % " in line for line in over)


def test_no_rate_is_told_of_the_first_moment(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """The work that was done before a stage was first seen has taken an unknown time."""
    shown = screen(monkeypatch, terminal=True)
    with Progress() as progress, RunsProgress() as runs:
        for done in (1_640_000, 1_640_000, 1_641_000):
            progress("running", done, 10**7, 0)
            runs(Standing(2, 0, 0, 0.1, done))
            clock.now += 1e-6
    assert "/s" not in shown.getvalue()
    with Progress() as progress:
        progress("running", 5_000_000, 10**7, 0)
        clock.now += 2
        progress("running", 5_000_500, 10**7, 0)
    assert "  250 requests/s" in shown.getvalue()


def test_several_runs_say_at_once_what_they_do_and_end_when_they_do(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    shown = screen(monkeypatch, terminal=True)
    with RunsProgress() as runs:
        assert shown.getvalue().endswith("checking the runs")
        clock.now += 1
        runs(Standing(2, 0, 0, 0.0, 0, doing="2 ageing", pages=10))
        assert shown.getvalue().endswith(
            "0 of 2 runs   0 % [            ]  2 ageing, 10 pages written"
        )
        runs(Standing(2, 1, 0, 0.999, 10))
        assert "100 %" not in shown.getvalue()
        runs(Standing(2, 2, 0, 1.0, 10))
    assert "2 of 2 runs 100 % [############]" in shown.getvalue()
    assert "0:00 left" not in shown.getvalue()
    script = screen(monkeypatch, terminal=False)
    with RunsProgress() as runs:
        for pages in range(0, 60 * module.MANY, module.MANY):
            clock.now += 1
            runs(Standing(2, 0, 0, 0.0, 0, doing="2 ageing", pages=pages))
    assert script.getvalue() == "0 of 2 runs   0 %  2 ageing, 20.0 M pages written\n"


@pytest.mark.verify
def test_a_comparison_tells_which_drives_are_still_made_ready() -> None:
    heard: list[Standing] = []
    big = {"geometry.blocks-per-plane": 128, "workload.requests": 2_000}
    floatgate.compare(
        "agcr", "zipf", seed=[1, 2], workers=1, set=big, steady=True, progress=heard.append
    )
    assert any("filling" in each.doing or "ageing" in each.doing for each in heard)
    assert max(each.pages for each in heard) > 10**6
    assert heard[-1].doing == ""
    assert heard[-1].share == 1


@pytest.mark.verify
def test_a_run_in_a_script_says_where_it_is(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    run = endless(tmp_path, stderr=writes)
    os.close(writes)
    told = b""
    deadline = time.monotonic() + LONG
    while b"\n" not in told and time.monotonic() < deadline:
        if select.select([reads], [], [], 0.5)[0]:
            told += os.read(reads, 4096)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=LONG)
    os.close(reads)
    assert re.match(rb"running +\d+ %  .* requests/s  drive at .* left\n", told), told

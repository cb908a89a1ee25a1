"""The progress of one run or several: a line on standard error that is drawn anew on a terminal."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from floatgate.cli import interrupt
from floatgate.engine import InputError
from floatgate.terminal import control
from floatgate.words import duration, short, terminal_width

if TYPE_CHECKING:
    from floatgate.runs.batch import Standing

SHAPES_RESULTS = False


QUICK = 5.0
"""Seconds of processor time: without a terminal, a shorter stage prints nothing."""

MANY = 1_000_000
"""Requests, and records that are checked. Fewer are quick, even of several runs. Workers carry them
out, so the processor time of this process shows little."""


PAGES = 20
"""Pages written before a run that take the time of one request."""

SOON = 0.2
"""Seconds of a stage after which its rate is known."""


def stages(config: Mapping[str, Any]) -> list[str]:
    """The stages that a run of this resolved drive may have, in order.

    >>> stages({"precondition": {"fill": "full", "age": "random"}})
    ['filling', 'ageing', 'running']
    """
    before = config["precondition"]
    found = {"reading": before["fill"] == "touched", "filling": before["fill"] != "none"}
    found |= {"ageing": before["age"] != "none", "running": True}
    return [stage for stage, occurs in found.items() if occurs]


class _Line:
    """One line that is drawn anew. As a context, it is removed at the end.

    If standard error is not a terminal, each stage is printed once, on a line of its own, as soon
    as the command takes a while. With `as_json` a program reads the output, and no stage is
    printed.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        terminal = sys.stderr.isatty()
        self._on = not quiet and terminal
        self._lines = not (quiet or as_json or terminal)
        self._start, self._begun = time.monotonic(), time.process_time()
        self._told: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on:
            self._draw("")

    def _draw(self, line: str) -> None:
        sys.stderr.write(control("\r\033[K") + line)
        sys.stderr.flush()

    def _tell(self, stage: str, line: str) -> None:
        """A line of its own, if the stage has none."""
        if self._lines and stage not in self._told:
            self._told.add(stage)
            sys.stderr.write(f"{_without_bar(line)}\n")
            sys.stderr.flush()


class Progress(_Line):
    """Call it with the state of a run."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        super().__init__(quiet=quiet, as_json=as_json)
        self._plan: list[str] = []
        self._stage = ""
        self._first = 0
        self._candidate = ""

    def plan(self, find: Callable[[], Sequence[str]]) -> None:
        """The stages to come. Each line then gives the number of its stage, `2/3 ageing`.

        Args:
            find: Gives the stages; it is not called if nothing is shown. The run itself reports
                mistakes of the input.
        """
        if self._on or self._lines:
            with suppress(InputError):
                self._plan = list(find())

    def candidate(self, run: int, most: int, what: str) -> None:
        """The run that begins now, and its number among all; a line if there is no terminal."""
        number = self._number("advice")
        said = f"{number}advice {run} of at most {most}: {what}"
        if self._lines:
            sys.stderr.write(f"{said}\n")
            sys.stderr.flush()
        self._candidate, self._stage = f"{said}  ", ""

    def __call__(self, stage: str, done: int, total: int | None, now_ns: int) -> None:
        """Draws the line anew."""
        interrupt.check()
        if not (self._on or self._lines):
            return
        if stage != self._stage:
            # It has a rate of its own: work before the first call has taken an unknown time.
            self._stage, self._first, self._start = stage, done, time.monotonic()
        elapsed = time.monotonic() - self._start
        state = line(stage, done, total, now_ns, elapsed, self._first)
        if not self._candidate:
            state = self._number(stage) + state
        if not self._on:
            slow = time.process_time() - self._begun >= QUICK
            if done and slow and elapsed >= SOON and not self._candidate:
                self._tell(stage, state)
            return
        # One line of a terminal, because more could not be drawn over; the bar is dropped first.
        room = terminal_width() - 1
        drawn = self._candidate + state
        self._draw((drawn if len(drawn) <= room else _without_bar(drawn))[:room])

    def _number(self, stage: str) -> str:
        """The number of a stage among several; empty if the plan does not have it."""
        plan = self._plan
        shown = stage in plan and len(plan) > 1
        return f"{plan.index(stage) + 1}/{len(plan)} " if shown else ""


def _without_bar(line: str) -> str:
    return re.sub(r" \[[# ]*\]", "", line)


class RunsProgress(_Line):
    """Call it with the standing of a comparison. It first lists the runs that are repeated."""

    _remade_told = False

    def __enter__(self) -> Self:
        """Prints at once the stage that comes first."""
        if self._on:
            self._draw("checking the runs")
        return self

    def __call__(self, standing: Standing) -> None:
        """Draws the line anew."""
        interrupt.check()
        if not self._remade_told and not standing.checking:
            self._remade_told = True
            if self._on and standing.remade:
                self._draw("")
            sys.stderr.write("".join(f"{line}\n" for line in standing.remade))
            sys.stderr.flush()
        if not (self._on or self._lines):
            return
        state = runs_line(standing, time.monotonic() - self._start)
        if self._on:
            self._draw(state)
        elif max(standing.requests, standing.read, standing.pages // PAGES) >= MANY:
            # Several runs may take hours: each tenth of them is a stage.
            stage = "checking" if standing.checking else f"{standing.share:.1f}"
            self._tell(stage if standing.requests else f"{stage} {standing.doing}", state)


class FramesProgress(_Line):
    """Call it with the number of codewords read, and their total."""

    def __call__(self, done: int, total: int) -> None:
        """Draws the line anew."""
        interrupt.check()
        state = f"{short(done)} of {short(total)} codewords"
        if self._on:
            self._draw(state)
        elif done:
            self._tell("codewords", state)


def line(
    stage: str, done: int, total: int | None, now_ns: int, elapsed: float, first: int = 0
) -> str:
    """The state of a run in words; `first` is the work done when the stage was first seen.

    A stage ends with the next one: until then it has at most 99 %.

    >>> line("running", 250_000, 1_000_000, 3 * 10**9, 2.0)
    'running  25 % [#####               ]  125 k requests/s  drive at 3.00 s  0:06 left'
    >>> line("running", 250_000, None, 3 * 10**9, 2.0)
    'running  250 k requests  125 k requests/s  drive at 3.00 s'
    >>> line("filling", 250_000, 500_000, 0, 0.5)
    'filling  50 % [##########          ]  500 k pages/s  0:01 left'
    >>> line("running", 1_000_000, 1_000_000, 3 * 10**9, 2.0)
    'running  99 % [################### ]  500 k requests/s  drive at 3.00 s  ending'
    >>> line("ageing", 250_000, None, 0, 0.0001)
    'ageing  250 k pages'
    >>> line("describing", 250_000, None, 3 * 10**9, 2.0)
    'describing  250 k requests  125 k requests/s'
    >>> line("opening", 250_000, None, 0, 2.0)
    'opening  250 k records  125 k records/s'
    """
    units = {"filling": "pages", "ageing": "pages", "opening": "records"}
    what = units.get(stage, "requests")
    rate = (done - first) / elapsed if elapsed >= SOON else 0.0
    so_far = f"{short(done)} {what}"
    parts = [f"{stage} {_percent(done / total, 20)}"] if total else [stage, so_far]
    if rate > 0:
        parts.append(f"{short(round(rate))} {what}/s")
    if stage == "running":
        parts.append(f"drive at {duration(now_ns)}")
    if total and done >= total:
        parts.append("ending")
    elif total and rate > 0:
        parts.append(_left((total - done) / rate))
    return "  ".join(parts)


def runs_line(standing: Standing, elapsed: float) -> str:
    """The state of several runs in words.

    >>> from floatgate.runs.batch import Standing
    >>> runs_line(Standing(runs=24, finished=5, failed=1, share=0.25, requests=900_000), 30.0)
    '5 of 24 runs  25 % [###         ]  30.0 k requests/s  1:30 left  1 failed'
    >>> runs_line(Standing(runs=24, finished=19, failed=0, share=0.5, requests=0, reused=14), 30.0)
    '19 of 24 runs  50 % [######      ]  0:30 left  14 were there'
    >>> runs_line(Standing(24, 0, 0, 0.0, 0, doing="2 ageing", pages=3_000_000), 30.0)
    '0 of 24 runs   0 % [            ]  2 ageing, 3.00 M pages written'
    >>> runs_line(Standing(24, 0, 0, 0.0, 0, checking=2, read=1_500_000), 30.0)
    'checking run 2 of 24  1.50 M records read'
    """
    if standing.checking:
        checked = f"checking run {standing.checking} of {standing.runs}"
        return f"{checked}  {short(standing.read)} records read"
    share = standing.share
    ended = standing.finished == standing.runs
    bar = _percent(share, 12, ended=ended)
    parts = [f"{standing.finished} of {standing.runs} runs {bar}"]
    if standing.doing:
        written = f", {short(standing.pages)} pages written" if standing.pages else ""
        parts.append(standing.doing + written)
    if standing.requests and elapsed >= SOON:
        parts.append(f"{short(round(standing.requests / elapsed))} requests/s")
    if 0 < share < 1 and elapsed >= SOON:
        parts.append(_left(elapsed * (1 - share) / share))
    if standing.reused:
        parts.append(f"{standing.reused} were there")
    if standing.failed:
        parts.append(f"{standing.failed} failed")
    return "  ".join(parts)


def _percent(share: float, width: int, *, ended: bool = False) -> str:
    """A share and its bar; a stage that has not ended is never whole."""
    most = 1.0 if ended else 0.99
    share = min(share, most)
    # 0.29 times 100 is a little less than 29.
    return f"{int(100 * share + 1e-9):3} % [{'#' * int(width * share):<{width}}]"


def _left(seconds: float) -> str:
    minutes, rest = divmod(max(round(seconds), 1), 60)
    return f"{minutes}:{rest:02} left"

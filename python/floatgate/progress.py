"""How far a run has come: one line on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from floatgate import text


class Progress:
    """Call it with the state of a run; use it as a context to have the line cleared."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._on = not quiet and sys.stderr.isatty()
        self._stage = ""
        self._start = time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None, now_ns: int) -> None:
        """Draws the line anew."""
        if not self._on:
            return
        if stage != self._stage:
            # Its rate is its own: what was done before the first call is little.
            self._stage, self._start = stage, time.monotonic()
        self._draw(line(stage, done, total, now_ns, time.monotonic() - self._start))

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._on:
            self._draw("")

    def _draw(self, line: str) -> None:
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()


def line(stage: str, done: int, total: int | None, now_ns: int, elapsed: float) -> str:
    """The state of a run in words.

    >>> line("running", 250_000, 1_000_000, 3 * 10**9, 2.0)
    'running  25 % [#####               ]  125 k requests/s  drive at 3.00 s  0:06 left'
    >>> line("running", 250_000, None, 3 * 10**9, 2.0)
    'running  250 k requests  125 k requests/s  drive at 3.00 s'
    >>> line("preconditioning", 250_000, 500_000, 0, 0.1)
    'preconditioning  50 % [##########          ]  2.50 M pages/s  0:00 left'
    >>> line("describing", 250_000, None, 3 * 10**9, 2.0)
    'describing  250 k requests  125 k requests/s'
    """
    what = "pages" if stage == "preconditioning" else "requests"
    rate = done / elapsed if elapsed > 0 else 0.0
    if total:
        share = min(done / total, 1.0)
        parts = [f"{stage}{100 * share:4.0f} % [{'#' * int(20 * share):<20}]"]
    else:
        parts = [stage, f"{text.short(done)} {what}"]
    if rate > 0:
        parts.append(f"{text.short(round(rate))} {what}/s")
    if stage == "running":
        parts.append(f"drive at {text.duration(now_ns)}")
    if total and rate > 0:
        left = round(max(total - done, 0) / rate)
        parts.append(f"{left // 60}:{left % 60:02} left")
    return "  ".join(parts)

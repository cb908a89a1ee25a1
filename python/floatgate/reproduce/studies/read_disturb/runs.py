"""Sums of a run once it was steady: in its second half, by the series that it stored."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from floatgate.reproduce.study import Measure, Result, quotient

MS = 10**6


class Sums(NamedTuple):
    """Of a part of a run: blocks erased, and reads with their time in ns.

    `own` are erased by refreshes alone; `refresh` (rrGC) has the erases of collection, too, that
    refreshes are charged for.
    """

    own: float
    refresh: float
    wear: float
    all: float
    reads: float
    read_ns: float


def between(run: Result, begin: float = 0.5, end: float = 1.0) -> Sums:
    """Events from one part of the run's time to another, by default in its second half."""
    ends, sums = _rising(run.folder)
    at = np.array([begin, end]) * ends[-1]
    # A row of the series across the border counts as far as it lies on this side.
    return Sums(*(float(np.diff(np.interp(at, ends, column))[0]) for column in sums))


@lru_cache(maxsize=512)
def _rising(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the rows of a run's series, and what was counted until then."""
    refreshes = pl.col("flash_erase_refresh_blocks")
    rows = (
        Result.load(folder)
        .series()
        .select(
            own=refreshes,
            refresh=refreshes + pl.col("gc_erase_blocks_for_refresh"),
            wear=pl.col("flash_erase_wear_blocks"),
            all=pl.sum_horizontal(pl.col("^flash_erase_.*_blocks$")),
            reads=pl.col("read_requests"),
            read_ns=pl.col("read_latency_sum_ns"),
            end=pl.col("start_ns") + pl.col("width_ns"),
        )
    )
    *sums, ends = rows.to_numpy().astype(np.float64).T
    return np.append(0, ends), np.array([np.append(0, np.cumsum(column)) for column in sums])


# ── Measures ────────────────────────────────────────────────────────────────────────────────────


def _of(key: str) -> Callable[[Result], float]:
    return lambda run: float(getattr(between(run), key))


own, refresh, every = _of("own"), _of("refresh"), _of("all")
"""Erases by refreshes alone, for refresh (rrGC), and all of them."""


def other(run: Result) -> float:
    """Erases for anything else than refresh (wGC)."""
    return every(run) - refresh(run)


def share(run: Result, begin: float = 0.5, end: float = 1.0) -> float | None:
    """The share of refresh among all erases."""
    sums = between(run, begin, end)
    return _over(sums.refresh, sums.all)


wear = quotient(_of("wear"), every)
"""The share of wear levelling among all erases."""


def moved(run: Result) -> float | None:
    """By how much the share of refresh moved from the third quarter of the run to the fourth."""
    third, fourth = share(run, 0.5, 0.75), share(run, 0.75)
    return None if third is None or fourth is None else fourth - third


read_ns = quotient(_of("read_ns"), _of("reads"))
"""Mean response time of reads."""


def waited(low: int = 0, high: int = MS) -> Measure:
    """The measure: of a million reads, those that met a refresh and took `low` to `high` ms.

    None for runs that have kept no requests.
    """

    def of(run: Result) -> float | None:
        times = _waits(run.folder)
        if times is None:
            return None
        met = times.is_between(low * MS, high * MS, closed="left").sum()
        return 1e6 * float(met) / between(run).reads

    return of


@lru_cache(maxsize=64)
def _waits(folder: Path) -> pl.Series | None:
    """Response times in ns of the reads that met a refresh."""
    file = Result.load(folder).table_file("requests")
    if file is None:
        return None
    is_read, met = pl.col("operation") == "read", pl.col("queue_refresh_ns") > 0
    second = pl.col("arrival_ns") >= int(_rising(folder)[0][-1]) // 2
    return pl.scan_parquet(file).filter(is_read & met & second).collect()["latency_ns"]


def counter(run: Result, name: str) -> float:
    """The scheme's own count, over the whole run."""
    return float(run.policies["read-disturb"].counters.get(name, 0))


def counters(above: str, below: str) -> Measure:
    """The measure that is one of these counters by another."""
    return quotient(lambda run: counter(run, above), lambda run: counter(run, below))


USED = (*(f"low_used_{10 * n}" if n else "low_used_0" for n in range(10)), "low_used_100")
"""Counters of erased low-density blocks, by the tenths of their reads that they had used."""


def used(begin: int, end: int) -> Measure:
    """The measure: of erased low-density blocks, those that had used such tenths of their reads.

    From `begin` to below `end`; 10 is all of their reads.
    """
    return quotient(lambda run: sum(_used(run)[begin:end]), lambda run: sum(_used(run)))


def _used(run: Result) -> list[float]:
    return [counter(run, name) for name in USED]


def taken(run: Result) -> float | None:
    """The share of the reads that low-density blocks had served when they were erased."""
    low = sum(blocks * min(n + 0.5, 10) for n, blocks in enumerate(_used(run)))
    # A tenth of what low density endures is a limit.
    return _over(low * run.policies["read-disturb"].params.limit, run.host.read.requests)


def cycle_wear(run: Result) -> float | None:
    """Wear of a cycle with a reprogram. A cycle ends, and wears, with its erase."""
    extra = (run.wear.effective.mean - run.wear.erases.mean) * run.blocks().height
    found = _over(extra, sum(_used(run)))
    return None if found is None else 1 + found


spread = quotient("wear.effective.stddev", "wear.effective.mean")
"""The standard deviation of the effective cycles of all blocks, by their mean."""


def _over(above: float, below: float) -> float | None:
    """A ratio; None by nothing."""
    return above / below if below else None

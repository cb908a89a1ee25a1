"""The tables of a stored run, reduced to the points that a plot can show.

Every number is one of the table, or a sum or mean over its rows. The number of points does not
depend on the length of the run.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from floatgate.result.files import reading
from floatgate.result.run import Result
from floatgate.result.scaled import blocks_per_plane
from floatgate.result.values import OPERATIONS

if TYPE_CHECKING:
    import polars as pl

CURVE = 400
"""Points of a distribution."""

STRETCHES = 240
"""Points over time."""

CACHE = "slc_cache_pages"
"""The column with the pages in the SLC cache at the end of a row; others count events of a row."""

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}


class Curve(NamedTuple):
    """A distribution: the share of values up to each value.

    `recorded`: whether it is from all rows.
    """

    values: list[float]
    shares: list[float]
    recorded: bool


def table(run: Result, name: str) -> Path | None:
    """The file of a table, if it was stored."""
    return run.table_file(name)


def latencies(run: Result, op: str) -> Curve:
    """The distribution of an operation's latencies, in ns.

    If the requests were recorded, each point is exact, because it is at the greatest latency of its
    bin. Bins are 1/512 of an octave wide, so memory does not grow with the run. Otherwise the
    distribution comes from the percentiles of the result.
    """
    path = table(run, "requests")
    if path is None:
        latency = run.data["host"][op]["latency_ns"]
        known = {0.0: latency["min"]} | {s: latency[key] for key, s in PERCENTILES.items()}
        pairs = [(value, s) for s, value in (known | {1.0: latency["max"]}).items() if value]
        return Curve([float(value) for value, _ in pairs], [s for _, s in pairs], recorded=False)
    with reading(path):
        return _recorded(path, path.stat().st_mtime_ns, op)


@functools.lru_cache(64)
def _recorded(path: Path, _of: int, op: str) -> Curve:
    """Kept in memory, because a page that follows a sweep draws the same runs repeatedly."""
    import polars as pl

    rows = pl.scan_parquet(path, glob=False)
    if op != "all":
        rows = rows.filter(pl.col("operation") == op)
    latency = pl.col("latency_ns")
    octave = (latency.cast(pl.Float64).clip(1.0).log(2) * 512).floor().cast(pl.Int32)
    bins = (
        rows.select(octave.alias("bin"), latency)
        .group_by("bin")
        .agg(
            pl.len().alias("count"),
            pl.col("latency_ns").max(),
            pl.col("latency_ns").min().alias("least"),
        )
        .sort("bin")
        .collect(engine="streaming")
    )
    return thinned(bins["latency_ns"].to_list(), bins["count"].to_list(), bins["least"].to_list())


def thinned(values: Sequence[float], counts: Sequence[int], least: Sequence[float] = ()) -> Curve:
    """At most `CURVE` points of a distribution: evenly by share, and by decades in the tail.

    >>> thinned([10, 20, 30], [1, 2, 1]).shares
    [0.0, 0.25, 0.75, 1.0]
    """
    total = sum(counts)
    if not total:
        return Curve([], [], recorded=True)
    grid = [i / 200 for i in range(201)]
    grid += [1 - 10 ** (-i / 30) for i in range(30, 181)]
    wanted = sorted({*grid, *PERCENTILES.values()})
    points = [(float(least[0] if least else values[0]), 0.0)]
    below, at = 0, 0
    for value, count in zip(values, counts, strict=True):
        below += count
        share = below / total
        # A point at which a requested share is reached, so that none is lost between two.
        if share >= wanted[at] or below == total:
            points.append((float(value), share))
            while at < len(wanted) - 1 and wanted[at] <= share:
                at += 1
    return Curve([value for value, _ in points], [share for _, share in points], recorded=True)


class Series(NamedTuple):
    """Over time, in intervals: the begin of each (s), and by name its events."""

    start: list[float]
    width: list[float]
    values: dict[str, list[float | None]]


def series(run: Result) -> Series | None:
    """The run over time; None if it was not stored, or has no rows.

    By name `iops`, `throughput` (bytes a second), `waf`, `delay` and `delay.read` and so on (mean
    latency, ns). Each is computed from sums over the rows of a stretch. `slc-cache` has the bytes
    in the SLC cache at the end of a stretch; None for a drive without one.
    """
    import polars as pl

    path = table(run, "series")
    if path is None:
        return None
    with reading(path):
        return _series(run, pl.read_parquet(path, glob=False))


def _series(run: Result, rows: pl.DataFrame) -> Series | None:
    import polars as pl

    if rows.is_empty():
        return None
    together = -(-len(rows) // STRETCHES)
    counted = [c for c in rows.columns if c.endswith(("_requests", "_bytes", "_pages"))]
    cache = CACHE in counted and run.data.get("slc_cache")
    # These may come to more than 64 bits hold.
    times = pl.col([c for c in rows.columns if c.endswith("_sum_ns")]).cast(pl.Float64)
    sums = (
        rows.with_row_index("row")
        .group_by(pl.col("row") // together, maintain_order=True)
        .agg(
            pl.col("start_ns").first(),
            pl.col("width_ns").sum(),
            *(pl.col(c).last() if c == CACHE else pl.col(c).sum() for c in counted),
            times.sum(),
        )
    )
    ops = [op for op in OPERATIONS[:-1] if f"{op}_requests" in sums.columns]
    seconds = pl.col("width_ns") * 1e-9
    requests = pl.sum_horizontal(f"{op}_requests" for op in ops)
    latency = pl.sum_horizontal(f"{op}_latency_sum_ns" for op in ops)
    moved = pl.sum_horizontal(f"{op}_bytes" for op in ("read", "write"))
    programs = pl.sum_horizontal(pl.col("^flash_program_.*_pages$"))
    found = sums.select(
        start=pl.col("start_ns") * 1e-9,
        width=seconds,
        iops=_ratio(requests, seconds),
        throughput=_ratio(moved, seconds),
        waf=_ratio(programs * page_bytes(run), pl.col("write_bytes")),
        delay=_ratio(latency, requests),
        **{
            f"delay.{op}": _ratio(pl.col(f"{op}_latency_sum_ns"), pl.col(f"{op}_requests"))
            for op in ops
        },
        **({"slc-cache": pl.col(CACHE) * page_bytes(run)} if cache else {}),
    )
    columns = found.to_dict(as_series=False)
    return Series(columns.pop("start"), columns.pop("width"), columns)


def _ratio(above: pl.Expr, below: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(below > 0).then(above / below)


def page_bytes(run: Result) -> float:
    """The bytes of a page: those of the flash by the pages that it has."""
    geometry = run.data["provenance"]["config"]["geometry"]
    pages = 1
    for key in (
        "channels",
        "chips-per-channel",
        "dies-per-chip",
        "planes-per-die",
        "pages-per-block",
    ):
        pages *= int(geometry[key])
    pages *= blocks_per_plane(run.data)
    return float(run.data["capacity"]["physical_bytes"]) / pages


def erases(run: Result) -> Curve | None:
    """The distribution of erases over the blocks; None if they were not stored."""
    import polars as pl

    path = table(run, "blocks")
    if path is None:
        return None
    with reading(path):
        rows = pl.scan_parquet(path, glob=False)
        counts = rows.group_by("erases").len().sort("erases").collect()
        return thinned(counts["erases"].to_list(), counts["len"].to_list())

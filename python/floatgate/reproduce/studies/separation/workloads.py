"""The workloads: synthetic ones, and the page writes of traces, each as a file of one-page writes.

Writes of a class have a hint. Class 0 is the coldest, 1 the hottest, 2 the second hottest and so
on: a drive with n streams keeps the hottest n - 1 apart, and all others share stream 0.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from floatgate.engine import InputError
from floatgate.workloads.catalogue import traces as known_traces
from floatgate.workloads.convert import convert

Pages = NDArray[np.int64]

PAGE = 4096
SUPERBLOCKS = 600
"""Superblocks of data."""
BLOCKS = 4
"""Blocks of a superblock."""
SPAN = SUPERBLOCKS * BLOCKS * 32
"""Pages of the synthetic workloads."""
PASSES = 4
"""How often a workload writes as many pages as it touches."""
SEED = 1


class Writes(NamedTuple):
    """Writes of one page each: the pages, and the hints if there are any."""

    pages: Pages
    hints: Pages | None = None


def uniform(draw: Generator) -> Writes:
    """Every page alike. Hints are eighths of the addresses, and mean nothing."""
    pages = draw.integers(0, SPAN, PASSES * SPAN)
    return Writes(pages, pages * 8 // SPAN)


def two_classes(draw: Generator) -> Writes:
    """A fifth of the pages has four fifths of the writes."""
    return _classes(draw, [0.8, 0.2], [0.2, 0.8])


def eight_classes(draw: Generator) -> Writes:
    """Classes of equal size, each written twice as often as the one before."""
    rates = [2.0**k for k in (0, 7, 6, 5, 4, 3, 2, 1)]
    return _classes(draw, [1 / 8] * 8, [rate / sum(rates) for rate in rates])


def zipf(draw: Generator) -> Writes:
    """Zipf 1.0 over all pages in random order. Each class has about an eighth of the writes."""
    weights = 1 / np.arange(1, SPAN + 1)
    below = np.cumsum(weights) / weights.sum()
    ranks = np.searchsorted(below, draw.random(PASSES * SPAN))
    eighth = np.minimum(below[ranks] * 8, 7).astype(np.int64)
    return Writes(draw.permutation(SPAN)[ranks], (eighth + 1) % 8)


def log_and_tables(draw: Generator) -> Writes:
    """Half of the pages is written in order, round and round, between random writes of the rest."""
    half = SPAN // 2
    is_log = draw.permutation(PASSES * SPAN) % 2 == 0
    pages = draw.integers(half, SPAN, PASSES * SPAN)
    pages[is_log] = np.arange(is_log.sum()) % half
    return Writes(pages, is_log.astype(np.int64))


def eight_tenants(draw: Generator) -> Writes:
    """Tenants write their eighths in order, 16 pages at a time, the fastest 8 times as often."""
    part, together = SPAN // 8, 16
    rates = np.array([1, 8, 7, 6, 5, 4, 3, 2]) / 36
    turns = PASSES * SPAN // together
    # Each ends where it began, so the workload can be repeated.
    rounds = np.maximum(1, np.rint(rates * turns * together / part)).astype(np.int64)
    tenant = draw.permutation(np.repeat(np.arange(8), rounds * (part // together)))
    hints = np.repeat(tenant, together)
    pages = np.empty(len(hints), dtype=np.int64)
    for each in range(8):
        own = hints == each
        pages[own] = each * part + np.arange(own.sum()) % part
    return Writes(pages, hints)


def moving_hot_spot(draw: Generator) -> Writes:
    """Nine tenths of the writes go to a tenth of the pages, which moves through all of them."""
    count = PASSES * SPAN
    first = np.arange(count) * SPAN // count
    is_hot = draw.random(count) < 0.9
    hot = (first + draw.integers(0, SPAN // 10, count)) % SPAN
    return Writes(np.where(is_hot, hot, draw.integers(0, SPAN, count)), is_hot.astype(np.int64))


SYNTHETIC: Mapping[str, Callable[[Generator], Writes]] = {
    "uniform": uniform,
    "two classes": two_classes,
    "eight classes": eight_classes,
    "zipf": zipf,
    "log and tables": log_and_tables,
    "eight tenants": eight_tenants,
    "moving hot spot": moving_hot_spot,
}


def _classes(draw: Generator, sizes: list[float], rates: list[float]) -> Writes:
    """Random writes in classes of these shares of the pages and of the writes."""
    ends = np.rint(np.cumsum(sizes) * SPAN).astype(np.int64)
    first = np.concatenate([[0], ends[:-1]])
    of = draw.choice(len(sizes), PASSES * SPAN, p=rates)
    return Writes(draw.integers(first[of], ends[of]), of)


def made(name: str) -> Writes:
    """A synthetic workload."""
    return SYNTHETIC[name](np.random.default_rng(SEED))


# ── Traces ──────────────────────────────────────────────────────────────────────────────────────


class Traces(NamedTuple):
    """The page writes of the traces that can be used, and the reasons for leaving out others."""

    writes: Mapping[str, Writes]
    left_out: Mapping[str, str]


@cache
def traces(folders: tuple[str, ...]) -> Traces:
    """The traces in some folders: those of the catalogue, and files by their names."""
    writes, left_out = {}, {}
    listed = known_traces(list(folders))
    of = {each["name"]: each["name"] for each in listed["traces"]
          if each["presence"]["state"] == "there"}  # fmt: skip
    of |= {Path(each["path"]).name.partition(".")[0]: each["path"] for each in listed["also_there"]}
    for name, workload in of.items():
        try:
            writes[name] = Writes(_page_writes(workload, folders))
        except InputError as error:
            left_out[name] = str(error).splitlines()[0]
    return Traces(writes, left_out)


def span_of(writes: Writes) -> int:
    """The pages of a drive for these writes: whole blocks of its superblocks of data."""
    pages = int(writes.pages.max()) + 1
    return pages // (SUPERBLOCKS * BLOCKS) * SUPERBLOCKS * BLOCKS


def _page_writes(workload: str, folders: tuple[str, ...]) -> Pages:
    """The pages that a trace writes, in order and numbered without gaps, often enough.

    Raises:
        InputError: It cannot be read, or it writes too little.
    """
    import polars as pl

    with tempfile.TemporaryDirectory(prefix="floatgate-separation-") as scratch:
        table = Path(scratch) / "trace.parquet"
        convert(workload, table, traces=folders)
        writes = pl.read_parquet(table).filter(pl.col("op").cast(pl.String).str.contains("write"))
    first = (writes["offset"] // PAGE).to_numpy().astype(np.int64)
    end = ((writes["offset"] + writes["size"] + PAGE - 1) // PAGE).to_numpy().astype(np.int64)
    counts = end - first
    # Each request is a run of pages: its first one, and how far each page lies behind that.
    behind = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    touched, pages = np.unique(np.repeat(first, counts) + behind, return_inverse=True)
    least = 4 * SUPERBLOCKS * BLOCKS
    if len(touched) < least:
        raise InputError(f"it writes {len(touched):,} different pages, and {least:,} are needed")
    # Pages beyond the last whole block would have no place.
    whole = len(touched) // (SUPERBLOCKS * BLOCKS) * SUPERBLOCKS * BLOCKS
    pages = pages[pages < whole].astype(np.int64)
    return np.tile(pages, max(1, round(PASSES * whole / len(pages))))


# ── Files ───────────────────────────────────────────────────────────────────────────────────────


def write(writes: Writes, path: Path) -> None:
    """Writes as a file, all at once at time 0: the drive takes them as fast as it can."""
    import polars as pl

    columns = {"time_ns": np.zeros(len(writes.pages), dtype=np.uint64),
               "offset": writes.pages.astype(np.uint64) * PAGE}  # fmt: skip
    if writes.hints is not None:
        columns["hint"] = writes.hints.astype(np.uint8)
    table = pl.DataFrame(columns).with_columns(op=pl.lit("write"), size=pl.lit(PAGE))
    table.write_parquet(path)

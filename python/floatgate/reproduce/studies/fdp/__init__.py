"""Flexible data placement: signs and bounds of caches, and what two published numbers identify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from floatgate.report.verdicts import DIFFERS, verdict
from floatgate.reproduce.claims import miss
from floatgate.reproduce.study import (
    Analysis,
    Curve,
    Evidence,
    Finding,
    Plot,
    Result,
    Sheet,
    Study,
    Table,
    Taken,
)

PUBLISHED = {"Samsung PM9D3a": 2.04, "the drive of another maker": 3.61}
"""Write amplification under random writes of 128 KiB to all addresses (WARP, FAST 2026)."""
NOMINAL = 0.127
"""Spare of 7.68 TB on 8192 GiB of flash, the nominal spare of both drives."""

FIRMWARE, ORDERS = ("shared", "sepgc"), ("uniform", "redrawn", "repeated")
SPARE = "ftl.spare-factor"
FDP, WITHOUT = "FDP", ("no FDP, shared", "no FDP, sepgc")
SMALL, LOG = 1, 2
"""The handles of the cache's parts."""
UNIT, HANDLES = "ftl.fdp.reclaim-unit", "ftl.fdp.handles"
SHORT = 0.01
"""Allowed difference of relations between runs, which are short, as a share."""


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """The tables, curves and sheets, and the relations that do not hold."""
    numbers, orders = _numbers(evidence), _orders(evidence)
    tables = [numbers, _against_none(evidence), _with_handles(evidence)]
    missed = [miss(row) for table in tables for row in table.rows if verdict(row) == DIFFERS]
    return Analysis(
        tables,
        [*_curves(evidence), *_spare_curves(evidence)],
        missed,
        sheets=[orders, _units(evidence)],
        says=_says(numbers.rows, tables[1].rows),
    )


# ── Random writes ───────────────────────────────────────────────────────────────────────────────


def _numbers(evidence: Evidence) -> Table:
    """How many combinations give each published number, and the spare that two of them need."""
    lines = dict(_lines(evidence))
    rows = []
    for (drive, number), firmware in zip(PUBLISHED.items(), ("sepgc", "shared"), strict=True):
        fits = [line for line in lines.values() if implied(line, number) is not None]
        rows.append(_row(f"{number}: combinations that can give it", drive, float(len(fits)), fits))
        line = lines[firmware, "redrawn"]
        what = f"{number}: spare that `{firmware}` needs, order redrawn"
        rows.append(_row(what, drive, implied(line, number), [line]))
    return Table("Does a number identify a drive?", rows, _IDENTIFIED)


def _row(what: str, drive: str, ours: float | None, lines: Sequence[Sequence[Taken]]) -> Finding:
    runs = [taken.names for line in lines for taken in line]
    return Finding(what, f"WARP, {drive}", None, ours, kind="beyond", runs=runs)


_IDENTIFIED = f"""
A combination is firmware and an order of writes, and its spare is free within the grid. A number \
that several combinations give identifies none of them. The nominal spare of both drives is \
{NOMINAL}. So nothing in this study is fitted to these numbers."""


def _lines(evidence: Evidence) -> Iterator[tuple[tuple[str, str], list[Taken]]]:
    """The runs along the spare, for each firmware and order."""
    for firmware, order in product(FIRMWARE, ORDERS):
        found = evidence.of({"separation": firmware, "order": order})
        if found:
            yield (firmware, order), sorted(found, key=lambda taken: float(taken.names[SPARE]))


def implied(line: Sequence[Taken], number: float) -> float | None:
    """The spare at which a line has this write amplification; None if that is beyond the grid."""
    for low, high in pairwise(line):
        (x, y), (x2, y2) = ((float(each.names[SPARE]), late_waf(each.run)) for each in (low, high))
        if min(y, y2) <= number <= max(y, y2) and y != y2:
            return x + (x2 - x) * (number - y) / (y2 - y)
    return None


def _orders(evidence: Evidence) -> Sheet:
    spares = evidence.labels(SPARE, {"order": list(ORDERS)})
    rows = []
    for (firmware, order), line in _lines(evidence):
        by = {taken.names[SPARE]: f"{late_waf(taken.run):.2f}" for taken in line}
        needed = [implied(line, number) for number in PUBLISHED.values()]
        words = ["none" if spare is None else f"{spare:.3f}" for spare in needed]
        rows.append([firmware, order, *(by.get(spare, "") for spare in spares), *words])
    columns = ["firmware", "order", *(f"spare {spare}" for spare in spares),
               *(f"spare for {number}" for number in PUBLISHED.values())]  # fmt: skip
    return Sheet("Random writes: firmware, order and spare", columns, rows, _ORDERS)


_ORDERS = f"""
Write amplification in the last third of the writes. The nominal spare of both drives is \
{NOMINAL}. The last two columns have the spare at which a combination has the published number, by \
straight lines between the spares."""


def _spare_curves(evidence: Evidence) -> list[Plot]:
    curves = [
        Curve(f"{firmware}, {order}", [float(each.names[SPARE]) for each in line],
              [late_waf(each.run) for each in line])
        for (firmware, order), line in _lines(evidence)
    ]  # fmt: skip
    title = "Write amplification under random writes"
    return [Plot("curves", title, "write amplification", "spare factor", curves=curves)]


# ── A cache ─────────────────────────────────────────────────────────────────────────────────────


def shares(cache: str) -> tuple[int, int]:
    """The shares of space and of bytes in a label, in percent.

    >>> shares("space 4 %, bytes 20 %")
    (4, 20)
    """
    words = cache.split()
    return int(words[1]), int(words[4])


def _caches(evidence: Evidence) -> list[str]:
    found = {taken.names["cache"] for taken in evidence.of({"placement": FDP})}
    return sorted(found, key=shares)


def _one(evidence: Evidence, placement: str, cache: str) -> Taken:
    (taken,) = evidence.of({"placement": placement, "cache": cache})
    return taken


def _against_none(evidence: Evidence) -> Table:
    rows = []
    for cache in _caches(evidence):
        ours = _one(evidence, FDP, cache)
        for other in WITHOUT:
            base = _one(evidence, other, cache)
            ratio = late_waf(ours.run) / late_waf(base.run)
            rows.append(
                Finding(
                    f"{cache}: FDP against {other}",
                    "WARP, CacheLib",
                    f"at most {1 + SHORT}",
                    ratio,
                    "x",
                    kind="check",
                    runs=[ours.names, base.names],
                )
            )
    return Table("FDP is not worse at any point", rows, "Write amplification, in the last third.")


def _with_handles(evidence: Evidence) -> Table:
    """The log's own write amplification, and the order of the points along the share of bytes."""
    rows = []
    for cache in _caches(evidence):
        taken = _one(evidence, FDP, cache)
        log = handle_waf(taken.run, LOG)
        rows.append(Finding(f"{cache}: the log's handle", "", 1.0, log, "x", kind="check",
                            band=0.005, runs=[taken.names]))  # fmt: skip
    for low, high in pairwise(_caches(evidence)):
        if shares(low)[0] == shares(high)[0]:
            one, two = (_one(evidence, FDP, cache) for cache in (low, high))
            ratio = late_waf(two.run) / late_waf(one.run)
            rows.append(Finding(f"{high} against {low.split(', ')[1]}", "WARP, CacheLib", "above 1",
                                ratio, "x", kind="check", runs=[one.names, two.names]))  # fmt: skip
    return Table("With FDP: the log costs nothing, small objects decide", rows, _HANDLES)


_HANDLES = """
The log's handle: media bytes over host bytes in the whole run. With a larger share of small \
objects among the written bytes, write amplification rises."""


def _curves(evidence: Evidence) -> Iterator[Plot]:
    for space in sorted({shares(cache)[0] for cache in _caches(evidence)}):
        curves = []
        for cache in (cache for cache in _caches(evidence) if shares(cache)[0] == space):
            for placement in (FDP, *WITHOUT):
                taken = _one(evidence, placement, cache)
                xs, ys = along(taken.run)
                curves.append(Curve(f"{placement}, bytes {shares(cache)[1]} %", xs, ys))
        title = f"A cache with {space} % of its space for small objects"
        yield Plot("curves", title, "write amplification", "drive writes", curves=curves)


def _units(evidence: Evidence) -> Sheet:
    """Write amplification by the size of reclaim units and the number of handles."""
    sizes, handles = (evidence.labels(name, {"workload": "cache-20-20.toml"})
                      for name in (UNIT, HANDLES))  # fmt: skip
    rows = []
    for size in sizes:
        found = [evidence.of({UNIT: size, HANDLES: count}) for count in handles]
        cells = [f"{late_waf(one[0].run):.3f}" if one else "" for one in found]
        rows.append([str(64 * int(size)), *cells])
    columns = ["reclaim unit, KiB", *(f"handles: {count}" for count in handles)]
    return Sheet("The size of reclaim units and the number of handles", columns, rows, _UNITS)


_UNITS = """
No drive can show this: its reclaim units have one size. Small objects have 20 % of the space and \
of the bytes. With one handle, all writes go to it. With two, the log's handle does not exist, so \
the log goes to the default handle. Handles beyond three are not used."""


def _says(numbers: Sequence[Finding], against: Sequence[Finding]) -> str:
    said = []
    ratios = [row.ours for row in against if isinstance(row.ours, float)]
    if ratios:
        span = f"{min(ratios):.2f} to {max(ratios):.2f}"
        said.append(f"With FDP write amplification is {span} of that without.")
    found = [row.ours for row in numbers if isinstance(row.ours, float)]
    if len(found) == len(numbers) == 4:
        spares = f"at spares of {found[1]:.3f} and {found[3]:.3f}"
        said.append(f"Two firmwares give 2.04 and 3.61 {spares}, and one order of writes.")
    return " ".join(said)


# ── Measures ────────────────────────────────────────────────────────────────────────────────────


def handle_waf(run: Result, handle: int) -> float | None:
    """Media bytes over host bytes of a placement handle."""
    waf = next(each["waf"] for each in run.data["fdp"]["handles"] if each["handle"] == handle)
    return None if waf is None else float(waf)


def late_waf(run: Result) -> float:
    """Write amplification in the last third of the host's writes."""
    host, flash = _rising(run.folder)
    at = np.interp(host[-1] * 2 / 3, host, flash)
    return float((flash[-1] - at) / (host[-1] / 3))


def along(run: Result, steps: int = 24) -> tuple[list[float], list[float]]:
    """Drive writes so far, and write amplification since the last step."""
    host, flash = _rising(run.folder)
    ends = np.linspace(0, host[-1], steps + 1)
    wafs = np.diff(np.interp(ends, host, flash)) / np.diff(ends)
    page = run.provenance.config.geometry["page-size"]
    pages = run.capacity.logical_bytes / _bytes(page)
    return [float(end / pages) for end in ends[1:]], [float(waf) for waf in wafs]


def _bytes(size: str) -> int:
    """A size in KiB as bytes.

    >>> _bytes("4KiB")
    4096
    """
    return int(size.removesuffix("KiB")) * 1024


@lru_cache(maxsize=512)
def _rising(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pages written by the host and programmed until the end of each row of the series."""
    rows = (
        Result.load(folder)
        .series()
        .select(
            host=pl.col("write_bytes"),
            flash=pl.sum_horizontal(pl.col("^flash_program_.*_pages$")),
        )
    )
    host, flash = rows.to_numpy().astype(np.float64).T
    return np.append(0, np.cumsum(host)) / 4096, np.append(0, np.cumsum(flash))

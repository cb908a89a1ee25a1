"""Reads of pages that the run itself creates: the cause that Li et al.'s cheap writes slow reads.

A policy for writes decides the cost of a read only if the page is written in the run. In most
stand-ins no read-only page is, and no source says how many are in the traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from floatgate.reproduce.studies.agcr.grid import AT_LOAD, READINGS, latency, share_at
from floatgate.reproduce.study import Evidence, Experiment, Published, Sheet, percent
from floatgate.result.files import make_folder
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.catalogue import traces as known_traces

KEY = "workload.created-reads"
DRIVE = "agcr, pages created"
"""The name of the drive in runs with this setting, so that no claim about traces takes them."""

SHARES = (0.0, 0.1, 0.2, 0.3)
"""Of all reads, those on pages that the run creates."""
SEEDS = (1, 2, 3)
LI = READINGS[1].conflicts["high"]


class Request(NamedTuple):
    """One access to a page of 4 KiB."""

    at_ns: int
    page: int
    is_read: bool


REQUESTS, READ_SHARE, INTERLEAVED = 40_000, 0.45, 0.06
BURSTS_PER_SECOND = 1200
PIECES, READS, LIVE = (8, 24), (20, 40), 64
"""Pages that a burst of writes creates, reads of each of them, and how many may still be read."""
TOGETHER = (1, 4)
"""Requests of any other burst."""
READ_ONLY, WRITE_ONLY, BOTH = 16_384, 1024, 384
"""Pages that are there before, by what is done to them. No description gives `TOGETHER` and `BOTH`:
both are set so that the row without created pages comes out as it did before, an input of that
row."""


def requests(share: float, seed: int) -> Iterator[Request]:
    """A workload of which a share of the reads goes to pages that it creates.

    Bursts come at random times, and all requests of a burst at one instant.
    """
    rng = np.random.default_rng(seed)
    # As many writes as reads go to interleaved pages.
    written = INTERLEAVED * READ_SHARE / (1 - READ_SHARE)
    fresh, now, made = READ_ONLY + WRITE_ONLY + BOTH, 0.0, 0
    live: list[list[int]] = []
    while made < REQUESTS:
        now += rng.exponential(1e9 / BURSTS_PER_SECOND)
        pieces = int(rng.integers(PIECES[0], PIECES[1] + 1))
        if share > 0 and len(live) + pieces <= LIVE:
            for page in range(fresh, fresh + pieces):
                live.append([page, int(rng.integers(READS[0], READS[1] + 1))])
                yield Request(int(now), page, False)
            fresh, made = fresh + pieces, made + pieces
            continue
        for _ in range(int(rng.integers(TOGETHER[0], TOGETHER[1] + 1))):
            is_read, which = bool(rng.random() < READ_SHARE), rng.random()
            if is_read and which < share and live:
                i = int(rng.integers(len(live)))
                page = live[i][0]
                live[i][1] -= 1
                if not live[i][1]:
                    live.pop(i)
            elif which >= 1 - (INTERLEAVED if is_read else written):
                page = READ_ONLY + WRITE_ONLY + int(rng.integers(BOTH))
            elif is_read:
                page = int(rng.integers(READ_ONLY))
            else:
                page = READ_ONLY + int(rng.integers(WRITE_ONLY))
            yield Request(int(now), page, is_read)
            made += 1


@cache
def _trace(share: float, seed: int) -> str:
    """The same as the text of a trace; the checks of a study take it again."""
    return "".join(
        f"{each.at_ns} 0 {8 * each.page} 8 {int(each.is_read)}\n" for each in requests(share, seed)
    )


def label(share: float, seed: int) -> str:
    """The name of such a workload in its runs."""
    return f"generator, q = {share:g}, seed {seed}"


def prepare(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment with the generated workloads, and the setting on stand-ins alone."""
    data = deepcopy(experiment.data)
    place = folder / "workloads"
    make_folder(place)
    missing = {each["name"] for each in known_traces(traces)["traces"]
               if each["presence"]["state"] == "missing"}  # fmt: skip
    cases = {label(share, seed): (share, seed) for share in SHARES for seed in SEEDS}
    kept = []
    for block in data["runs"]:
        workloads = block.get("workload")
        for name in cases.keys() & set(workloads or ()):
            share, seed = cases[name]
            path = place / f"created-{share:g}-{seed}.trace"
            path.write_text(_trace(share, seed))
            workloads[name] = str(path.resolve())
        if KEY in block.get("set", {}):
            own = [
                name for name in block.get("workload", data.get("workload", ())) if name in missing
            ]
            if not own:
                continue
            block["workload"] = own
        kept.append(block)
    keys = {key.replace("-", "_"): value for key, value in data.items() if key != "schema"}
    return Experiment(folder=experiment.folder, **{**keys, "runs": kept})


def sheet(evidence: Evidence) -> Sheet:
    """AGCR against Li et al. by the share of the reads that created pages take."""
    rows = []
    for name, where in _groups(evidence):
        means = (values(evidence, where, op) for op in ("all", "read", "write"))
        lows = (
            evidence.values(
                Published("", partial(share_at, verb="read", level="high"),
                          where={**where, "cost": cost})
            )
            for cost in ("AGCR", LI)
        )  # fmt: skip
        cells = [percent(fmean(each)) if each else "" for each in means]
        both = " / ".join(f"{100 * fmean(each):.0f} %" if each else "" for each in lows)
        rows.append([*name, *cells, both])
    return Sheet(
        "Why reads differ: pages that are created in the run",
        ("workloads", "of the reads, on created pages", "overall", "reads", "writes",
         "low-cost reads, AGCR / Li"),
        rows, _TEXT,
    )  # fmt: skip


def values(evidence: Evidence, where: Mapping[str, Any], op: str) -> list[float]:
    """How AGCR changes a mean latency of Li et al. (in service) on each workload."""
    return evidence.values(latency(op, {**where, "cost": "AGCR"}, LI))


def _groups(evidence: Evidence) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """The rows: what they are called, and what their runs carry."""
    for share in SHARES:
        runs = {"workload": [label(share, seed) for seed in SEEDS]}
        if evidence.of(runs):
            yield [f"generator, mean of {len(SEEDS)}", f"{100 * share:g} %"], {**runs}
    for group, workloads, stand_in in evidence.groups(AT_LOAD):
        shown = f"{group}{' [stand-in]' * stand_in}"
        yield [shown, "as they are"], {**AT_LOAD, "workload": workloads}
        for asked in evidence.labels(KEY, {"drive": DRIVE}) if stand_in else ():
            own = {"drive": DRIVE, KEY: asked, "workload": workloads}
            yield [shown, f"{100 * float(asked):g} %, asked for"], own


_TEXT = f"""
AGCR against Li et al. (in service), both on data of high cost. A page that is only read has the \
cost of its last write. So Li et al.'s cheap writes can slow only reads of pages that are written \
in the run. The headline is the row without any: no source says how many there are in the traces. \
Larger shares would suffice for what is published of reads (-24 % in the mean, -48.3 % at best); \
that the paper's volumes have them is unproven. The generator has {REQUESTS:,} requests, \
{READ_SHARE:.0%} of them reads, and {INTERLEAVED:.0%} of these on interleaved pages. \
{BURSTS_PER_SECOND:,} bursts come each second. Created pages are written once in bursts of \
{PIECES[0]} to {PIECES[1]} and then read {READS[0]} to {READS[1]} times, with at most {LIVE} to be \
read. Other bursts have {TOGETHER[0]} to {TOGETHER[1]} requests, and {BOTH:,} pages are \
interleaved. Both were set by the row without created pages of an earlier experiment, so that row \
is an input."""

"""The workloads, made smaller: a part of the space, a part of the reads, many rounds.

Everything is divided by one factor. *Space*: of a fixed number of extents of 1 MiB one is kept,
with all requests that begin in it. Kept extents lie side by side, and the drive is as large as they
are. *Limits*: the policies divide them. Refreshes and writes keep their proportion, as each read
that is kept stands for as many: in every round others, until each had its turn. *Time* runs faster,
so that a die is as busy with refreshes as it would be, and as many reads meet one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from floatgate import engine
from floatgate.policy.finder import Finder
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.parquet import METADATA, OPERATIONS, SCHEMA
from floatgate.workloads.reading import how_to_read

EXTENT = 1 << 20
PAGE = 32 << 10
"""Of Table I."""

BLOCK = 192
"""Pages in a block, likewise."""

TOGETHER = 1 << 16
"""The least number of requests that go into the file at once."""

_READ, _FLUSH = OPERATIONS.index("read"), OPERATIONS.index("flush")


class Requests(NamedTuple):
    """Requests in the order of time: ns, the operation's number, first byte, bytes."""

    time: NDArray[np.uint64]
    op: NDArray[np.uint8]
    offset: NDArray[np.uint64]
    size: NDArray[np.uint32]

    def at(self, chosen: NDArray[Any]) -> Requests:
        """Some of them."""
        return Requests(*(column[chosen] for column in self))

    @property
    def pages(self) -> NDArray[np.uint64]:
        """How many pages of the drive each touches."""
        last = self.offset + np.maximum(self.size, 1) - np.uint64(1)
        return last // np.uint64(PAGE) - self.offset // np.uint64(PAGE) + np.uint64(1)


class Sample(NamedTuple):
    """The rest of a workload, once through, and the facts of the whole.

    `volume` has the bytes of the volume that is left.
    """

    requests: Requests
    length_ns: int
    volume: int
    said: dict[str, Any]


def sampled(
    workload: str, factor: int, settings: Mapping[str, str], traces: Folders, *, gather: bool = True
) -> Sample:
    """One extent of `factor` of a workload of any kind, moved together; gathered if a stand-in is.

    Of the ways to choose every n-th extent it is that whose pages read and written are nearest to
    their share of the whole.

    Raises:
        InputError: It cannot be read.
    """
    parts: list[Requests] = []

    def rows(_table: str, part: engine.Rows) -> None:
        by_name = dict(part.arrays())
        # A flush is in no extent.
        some = by_name["op"] != _FLUSH
        time, op, offset, size = (by_name[n][some] for n in ("time_ns", "op", "offset", "size"))
        parts.append(Requests(time.astype(np.uint64), op.astype(np.uint8),
                              offset.astype(np.uint64), size.astype(np.uint32)))  # fmt: skip

    text = engine.convert(
        workload, drive="agcr", set=[f"{key}={value}" for key, value in settings.items()],
        reading=how_to_read(traces=traces), progress=None, rows=rows, finder=Finder(),
    )  # fmt: skip
    by_phase = sum((_traffic(part, factor) for part in parts), np.zeros((2, factor)))
    chosen = _nearest(by_phase)
    some = [part.at(_phase(part, factor) == chosen) for part in parts]
    requests = Requests(*(np.concatenate(columns) for columns in zip(*some, strict=True)))
    place = requests.offset // np.uint64(EXTENT * factor) * np.uint64(EXTENT)
    requests = requests._replace(offset=place + requests.offset % np.uint64(EXTENT))
    said = json.loads(text)
    if said["stand_in"] and gather:
        requests = gathered(requests)
    end = max((int(part.time[-1]) for part in parts if len(part.time)), default=0)
    length = end + end // max(int(said["requests"]), 1)
    last = int((requests.offset + requests.size).max(initial=0))
    volume = max(int(said["span_bytes"]) // factor, last)
    return Sample(requests, length, volume, said)


def _phase(requests: Requests, factor: int) -> NDArray[np.int64]:
    return (requests.offset // np.uint64(EXTENT) % np.uint64(factor)).astype(np.int64)


def _traffic(requests: Requests, factor: int) -> NDArray[np.float64]:
    """Pages read, and pages written, in each phase."""
    phase, pages = _phase(requests, factor), requests.pages
    reads = requests.op == _READ
    return np.array(
        [np.bincount(phase[some], pages[some], factor) for some in (reads, ~reads)], np.float64
    )


def _nearest(by_phase: NDArray[np.float64]) -> int:
    """The phase with the most even part of both; one page more makes an empty part harmless."""
    off = np.log((by_phase + 1.0) / (by_phase.mean(axis=1, keepdims=True) + 1.0))
    return int(np.abs(off).sum(axis=0).argmin())


def gathered(requests: Requests) -> Requests:
    """Extents side by side in the order in which they are first touched.

    The paper says that reads were focused on a few small regions. A stand-in, of which nobody knows
    where its data lie, scatters them over the whole span, so that every block has some.
    """
    extent = requests.offset // np.uint64(EXTENT)
    known, first, of = np.unique(extent, return_index=True, return_inverse=True)
    rank = np.empty(len(known), np.uint64)
    rank[np.argsort(first)] = np.arange(len(known), dtype=np.uint64)
    inside = requests.offset % np.uint64(EXTENT)
    return requests._replace(offset=rank[of] * np.uint64(EXTENT) + inside)


def rounds(
    sample: Sample, factor: int, faster: int, count: int, seed: int, *, even: bool = False
) -> Iterator[Requests]:
    """The sample again and again until there are enough requests; thinned, and faster.

    Every round has all writes, and of the reads one in `factor`, drawn anew. Requests come when the
    sample has them, or in the same order as evenly as a round allows.
    """
    requests = sample.requests
    reads = np.flatnonzero(requests.op == _READ)
    others = np.flatnonzero(requests.op != _READ)
    rng = np.random.default_rng(seed)
    done, turn = 0, 0
    while done < count and len(requests.op):
        # In `factor` rounds each read has its turn once.
        group = rng.integers(0, factor, len(reads))
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group, minlength=factor))
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            chosen = np.sort(np.concatenate([reads[order[begin:end]], others]))
            part = requests.at(chosen)
            time = part.time
            if even:
                steps = np.arange(len(chosen), dtype=np.uint64) * np.uint64(sample.length_ns)
                time = steps // np.uint64(len(chosen))
            time = (time + np.uint64(turn * sample.length_ns)) // np.uint64(faster)
            yield part._replace(time=time)
            done += len(chosen)
            turn += 1
            if done >= count:
                return


def concentrated(sample: Sample, share: float, part: float, region: int, seed: int) -> Sample:
    """The same, with a share of the reads on a part of the volume: regions of `region` bytes each.

    All other requests stay as they are; within the regions reads are even.
    """
    requests = sample.requests
    rng = np.random.default_rng(seed)
    regions = max(sample.volume // region, 1)
    hot = rng.permutation(regions)[: max(round(part * regions), 1)]
    moved = np.flatnonzero((requests.op == _READ) & (rng.random(len(requests.op)) < share))
    offset = requests.offset.copy()
    pages = rng.integers(0, region // PAGE, len(moved), dtype=np.uint64)
    offset[moved] = rng.choice(hot, len(moved)).astype(np.uint64) * np.uint64(region)
    offset[moved] += pages * np.uint64(PAGE)
    size = requests.size.copy()
    size[moved] = PAGE
    return sample._replace(requests=requests._replace(offset=offset, size=size))


def write(made: Iterable[Requests], sample: Sample, factor: int, path: Path) -> None:
    """Rounds of a sample as a Parquet file, which is a stand-in if the sample was made from one."""
    file = engine.TableFile(path)
    written, span = 0, 0
    try:
        waiting: list[Requests] = []
        for part in made:
            waiting.append(part)
            written += len(part.op)
            span = max(span, int((part.offset + part.size).max(initial=0)))
            if sum(len(each.op) for each in waiting) >= TOGETHER:
                file.put(_rows(waiting))
                waiting = []
        if waiting:
            file.put(_rows(waiting))
        notes = [*sample.said.get("notes", ()),
                 f"a part of it: 1/{factor} of the space and of the reads"]  # fmt: skip
        own = {"schema": SCHEMA, "version": engine.version(), "requests": written}
        said = {**sample.said, "notes": notes, **own, "span_bytes": span, "timed": True}
        file.finish([(METADATA, json.dumps(said))])
    finally:
        file.abandon()


def _rows(parts: list[Requests]) -> engine.Rows:
    time, op, offset, size = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return engine.Rows([
        ("time_ns", time.astype(np.uint64), None, False),
        ("op", op, OPERATIONS, False),
        ("offset", offset, None, False),
        ("size", size, None, False),
    ])  # fmt: skip

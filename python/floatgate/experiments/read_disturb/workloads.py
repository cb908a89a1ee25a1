"""The workloads, made smaller: a part of the space, a part of the reads, many rounds.

Everything is divided by one factor. *Space*: of every so many extents of 1 MiB one is kept, with all
requests that begin in it, and kept extents lie side by side; the drive is as large as that. *Limits*:
they are divided by the policies, and so that refreshes and writes keep their proportion, each read
that is kept stands for as many: in every round others, drawn anew. *Time*: it runs faster, so that
a die is as busy with refreshes as it would be, and as many reads meet one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from floatgate import engine
from floatgate.catalogue import Folders
from floatgate.finder import Finder
from floatgate.parquet import METADATA, OPERATIONS, SCHEMA
from floatgate.recording import ROW_GROUP, ParquetFile
from floatgate.run import how_to_read

EXTENT = 1 << 20
PAGE = 32 << 10
"""Of Table I."""

BLOCK = 192
"""Pages in a block, likewise."""

_READ = OPERATIONS.index("read")


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
    """What is left of a workload, once through, and what is known of the whole.

    `traffic` has the pages of the whole that are read and written, `span` its bytes.
    """

    requests: Requests
    length_ns: int
    span: int
    traffic: tuple[int, int]
    said: dict[str, Any]


def sampled(workload: str, factor: int, settings: dict[str, str], traces: Folders) -> Sample:
    """One of so many extents of a workload of any kind, moved together.

    Raises:
        InputError: It cannot be read.
    """
    kept: list[Requests] = []
    traffic = [0, 0]
    end = 0

    def rows(_table: str, columns: Any) -> None:
        nonlocal end
        by_name = {name: values for name, values, *_ in columns}
        all_of_them = Requests(
            by_name["time_ns"],
            by_name["op"].astype(np.uint8),
            by_name["offset"].astype(np.uint64),
            by_name["size"],
        )
        pages = all_of_them.pages
        reads = all_of_them.op == _READ
        traffic[0] += int(pages[reads].sum())
        traffic[1] += int(pages[~reads].sum())
        if len(all_of_them.time):
            end = int(all_of_them.time[-1])
        extent = all_of_them.offset // np.uint64(EXTENT)
        some = all_of_them.at(extent % np.uint64(factor) == factor // 2)
        place = some.offset // np.uint64(EXTENT * factor) * np.uint64(EXTENT)
        kept.append(some._replace(offset=place + some.offset % np.uint64(EXTENT)))

    text = engine.convert(
        workload,
        drive="agcr",
        set=[f"{key}={value}" for key, value in settings.items()],
        reading=how_to_read(traces=traces),
        progress=None,
        rows=rows,
        finder=Finder(),
    )
    requests = Requests(*(np.concatenate(columns) for columns in zip(*kept, strict=True)))
    said = json.loads(text)
    if said["stand_in"]:
        requests = gathered(requests)
    count = max(int(said["requests"]), 1)
    return Sample(
        requests, end + end // count, int(said["span_bytes"]), (traffic[0], traffic[1]), said
    )


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


def rounds(sample: Sample, factor: int, operations: int, seed: int) -> Iterator[Requests]:
    """The sample again and again until there are so many page operations; thinned, and faster.

    Every round has all writes, and of the reads one in `factor`, drawn anew.
    """
    requests, pages = sample.requests, sample.requests.pages
    reads = requests.op == _READ
    rng = np.random.default_rng(seed)
    done, turn = 0, 0
    while done < operations and len(reads):
        chosen = np.flatnonzero(~reads | (rng.random(len(reads)) * factor < 1.0))
        part = requests.at(chosen)
        time = (part.time + np.uint64(turn * sample.length_ns)) // np.uint64(factor)
        yield part._replace(time=time)
        done += int(pages[chosen].sum())
        turn += 1


def write(sample: Sample, factor: int, operations: int, seed: int, path: Path) -> None:
    """The workload of a run as a Parquet file, which is a stand-in if it was made from one."""
    file = ParquetFile(path)
    count, span = 0, 0
    try:
        waiting: list[Requests] = []
        for part in rounds(sample, factor, operations, seed):
            waiting.append(part)
            count += len(part.op)
            span = max(span, int((part.offset + part.size).max(initial=0)))
            if sum(len(each.op) for each in waiting) >= ROW_GROUP:
                file.put(_columns(waiting))
                waiting = []
        if waiting:
            file.put(_columns(waiting))
        said = {
            "notes": [],
            **sample.said,
            "schema": SCHEMA,
            "version": engine.version(),
            "requests": count,
            "span_bytes": span,
            "timed": True,
        }
        said["notes"] = [*said["notes"], f"a part of it: 1/{factor} of the space and of the reads"]
        file.metadata[METADATA] = json.dumps(said)
        file.finish()
    finally:
        file.abandon()


def _columns(parts: list[Requests]) -> list[tuple[str, NDArray[Any], list[str] | None, bool]]:
    time, op, offset, size = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return [
        ("time_ns", time.astype(np.uint64), None, False),
        ("op", op, list(OPERATIONS), False),
        ("offset", offset, None, False),
        ("size", size, None, False),
    ]
